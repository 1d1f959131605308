"""Types of ``unisono.lib.stride_tricks``, written by scripts/stubs.py."""

from collections.abc import Sequence
from typing import Any

from .._engine import ArrayLike, Axis, ndarray

def as_strided(
    x: ArrayLike,
    shape: int | Sequence[int] | None = ...,
    strides: Any = ...,
    subok: bool = ...,
    writeable: bool = ...,
) -> ndarray: ...
def sliding_window_view(
    x: ArrayLike, window_shape: Any, axis: Axis = ..., *, subok: bool = ..., writeable: bool = ...
) -> ndarray: ...
