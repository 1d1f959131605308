"""``cupy.cuda.compiler``: the error that a kernel's text raises."""

from ..._engine import CompileError as CompileException

__all__ = ["CompileException", "JitifyException"]

JitifyException = CompileException
