"""``pycuda.compiler``: kernels of CUDA C text."""

from .._engine import CompileError
from ._functions import SourceModule

__all__ = ["DEFAULT_NVCC_FLAGS", "CompileError", "SourceModule", "compile"]

DEFAULT_NVCC_FLAGS = []


def compile(source, *args, **options):
    """Compiled code is not given out.

    Raises
    ------
    CompileError
        Always: `SourceModule` takes texts.
    """
    raise CompileError(
        "compile: compiled code is not given out, since each device has its own; got a text; use SourceModule(text)"
    )


def __getattr__(name):
    if name in ("DynamicSourceModule", "DynamicModule"):
        raise AttributeError(
            f"module 'unisono.cuda.compiler' has no attribute '{name}': kernels do not launch kernels; use SourceModule"
        )
    raise AttributeError(f"module 'unisono.cuda.compiler' has no attribute '{name}'")
