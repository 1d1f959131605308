"""Types of ``unisono.mpi``, written by scripts/stubs.py."""

from collections.abc import Sequence
from typing import Any

from .._engine import ArrayLike, DTypeLike

ANY_SOURCE: int
ANY_TAG: int
BAND: Any
BOR: Any
BXOR: Any
IN_PLACE: Any
LAND: Any
LOR: Any
LXOR: Any
MAX: Any
MAXLOC: Any
MIN: Any
MINLOC: Any
NO_OP: Any

class ObjectRequest:
    @staticmethod
    def Waitall(requests: Any) -> Any: ...
    def __init__(self, comm: Any, source: Any, tag: Any) -> None: ...
    def test(self, status: Any = ...) -> Any: ...
    def wait(self, status: Any = ...) -> Any: ...
    @staticmethod
    def waitall(requests: Any) -> Any: ...

class Op:
    def __call__(self, x: ArrayLike, y: ArrayLike) -> Any: ...
    def __init__(self, name: Any, code: Any, function: Any) -> None: ...

PROC_NULL: int
PROD: Any
REPLACE: Any
SUM: Any

class Status:
    def Get_count(self, dtype: DTypeLike = ...) -> Any: ...
    def Get_source(self) -> Any: ...
    def Get_tag(self) -> Any: ...
    def __init__(self, source: Any = ..., tag: Any = ..., bytes: Any = ...) -> None: ...
    @property
    def bytes(self) -> Any: ...
    @property
    def source(self) -> Any: ...
    @property
    def tag(self) -> Any: ...

UNDEFINED: int

def Wtime() -> Any: ...
def library_version() -> Any: ...
def window(
    shape: int | Sequence[int], dtype: DTypeLike = ..., comm: Any = ..., *, share: bool = ...
) -> Any: ...

COMM_WORLD: Any
COMM_SELF: Any
