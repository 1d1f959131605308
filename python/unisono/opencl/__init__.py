"""OpenCL with PyOpenCL's names: platforms, contexts, queues, programs, kernels and memory.

A program written for PyOpenCL runs with ``import unisono.opencl as cl``. Devices, queues and memory are the engine's own:
arrays of unisono on a device are arguments of kernels, and kernels run between statements on them.

`context`, `queue`, `to_pyopencl` and `from_pyopencl` go together with an installed pyopencl.
"""

from collections.abc import Callable, Sequence

from ._objects.constants import *
from ._objects.copies import enqueue_copy, enqueue_fill
from ._objects.driver import Error, LogicError, MemoryError, RuntimeError
from ._objects.handles import NameVersion
from ._objects.images import (
    DTYPE_TO_CHANNEL_TYPE,
    DTYPE_TO_CHANNEL_TYPE_NORM,
    Image,
    ImageDescriptor,
    ImageFormat,
    Sampler,
    create_image,
    enqueue_fill_image,
    enqueue_map_image,
    get_supported_image_formats,
    image_from_array,
)
from ._objects.kernels import Kernel, enqueue_nd_range_kernel, enqueue_task
from ._objects.memory import (
    Buffer,
    LocalMemory,
    MemoryMap,
    MemoryObject,
    MemoryObjectHolder,
    enqueue_fill_buffer,
    enqueue_map_buffer,
    enqueue_migrate_mem_objects,
)
from ._objects.platforms import (
    Context,
    Device,
    DeviceTopologyAmd,
    Platform,
    choose_devices,
    create_some_context,
    get_platforms,
    unload_platform_compiler,
)
from ._objects.programs import (
    CompilerWarning,
    Program,
    RepeatedKernelRetrieval,
    create_program_with_built_in_kernels,
    link_program,
)
from ._objects.queues import (
    CommandQueue,
    CommandQueueUsedAfterExit,
    Event,
    NannyEvent,
    UserEvent,
    enqueue_barrier,
    enqueue_marker,
    wait_for_events,
)
from ._objects.svm import (
    SVM,
    SVMAllocation,
    SVMMap,
    SVMPointer,
    csvm_empty,
    csvm_empty_like,
    enqueue_svm_memfill,
    enqueue_svm_migrate_mem,
    fsvm_empty,
    fsvm_empty_like,
    svm_empty,
    svm_empty_like,
)
from .version import VERSION, VERSION_STATUS, VERSION_TEXT

_modules = "algorithm array bitonic_sort characterize clmath clrandom cltypes elementwise reduction scan tools version".split()
_beside_pyopencl = ("context", "queue", "to_pyopencl", "from_pyopencl", "_of_pyopencl")


CtxFactory = Callable[[], Context]
WaitList = Sequence[Event] | None


_PYPY = False


def have_gl():
    """Whether memory can be shared with OpenGL: no."""
    return False


def get_cl_header_version():
    """Version of OpenCL whose functions are known."""
    return (2, 2)


def __getattr__(name):
    from importlib import import_module

    if name in _beside_pyopencl:
        return getattr(import_module("._objects.beside", __name__), name)
    if name in _modules:
        return import_module("." + name, __name__)
    raise AttributeError(
        f"module 'unisono.opencl' has no attribute {name!r}; see docs/opencl.md for what there is"
    )


def __dir__():
    return sorted({*globals(), *_modules, *_beside_pyopencl})
