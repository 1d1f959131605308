"""The CUDA driver of tests (tests/cuda_driver/), where LD_LIBRARY_PATH has its folder.

UNISONO_TEST_CUDA_DEVICES is set, too: how many devices it has.
"""

import ctypes
import functools
import importlib.util
import os
from pathlib import Path


class Driver:
    """What the driver counts, and what can be set."""

    def __init__(self, library):
        self._count, self._violation = library.unisonoDriverCount, library.unisonoDriverViolation
        self._set = library.unisonoDriverSet
        self._count.argtypes, self._count.restype = [ctypes.c_char_p], ctypes.c_uint64
        self._violation.restype = ctypes.c_char_p
        self._set.argtypes = [ctypes.c_char_p, ctypes.c_int64]
        self.library = library

    def count(self, what):
        """Of "violations", "launches", "memory", "allocations", "calls", a function of the driver."""
        return self._count(what.encode())

    def last_violation(self):
        """What the last one was."""
        return self._violation().decode()

    def set(self, what, value):
        """See unisonoDriverSet."""
        self._set(what.encode(), value)


@functools.cache
def find():
    """The driver; None where there is none, or a real one."""
    if "UNISONO_TEST_CUDA_DEVICES" not in os.environ:
        return None
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    if not hasattr(library, "unisonoDriverCount"):
        return None
    # cuSOLVER of tests is LAPACK.
    wheel = importlib.util.find_spec("scipy_openblas64")
    if wheel is not None:
        file = Path(wheel.origin).parent / "lib/libscipy_openblas64_.so"
        os.environ.setdefault("UNISONO_TEST_LAPACK", str(file))
    return Driver(library)
