"""Version of PyOpenCL whose names are offered."""

VERSION = (2026, 1, 4)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(map(str, VERSION))
