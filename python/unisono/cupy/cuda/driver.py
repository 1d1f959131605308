"""``cupy.cuda.driver``: the error of modules and kernels that are not there."""

from ..._raw.kernels import DriverError as CUDADriverError

__all__ = ["CUDADriverError"]
