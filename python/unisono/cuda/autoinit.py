"""``pycuda.autoinit``: makes a context of the device of ``CUDA_DEVICE``, else of the current one."""

from . import _contexts

device = _contexts.default_device()
context = device.make_context()
