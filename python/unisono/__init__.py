"""One array program, every processor: NumPy's names on a lazy engine for CPUs, devices and clusters."""

from ._engine import (
    CommError as CommError,
    CompileError as CompileError,
    DeviceError as DeviceError,
    InternalError as InternalError,
    UnsupportedError as UnsupportedError,
    __version__ as __version__,
)
