"""What annotations of functions that take arrays are made of."""

from collections.abc import Sequence
from typing import Any, Protocol

from ..._engine import ndarray


class SupportsArray(Protocol):
    """Arrays of other libraries."""

    def __array__(self) -> Any: ...


# What `asarray` takes.
ArrayLike = (
    ndarray
    | SupportsArray
    | bool
    | int
    | float
    | complex
    | bytes
    | bytearray
    | memoryview
    | Sequence[Any]
)
