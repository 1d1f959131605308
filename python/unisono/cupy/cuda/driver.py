"""``cupy.cuda.driver``: the error of modules and kernels that are not there, and of impossible launches."""

from ...cuda.launches import DriverError as CUDADriverError

__all__ = ["CUDADriverError"]
