"""Atomic operations with the names of Numba's CUDA: those of `unisono.atomic`, `max` and `min` as Python compares.

A NaN that is given changes nothing, and one that is held stays; `nanmax` and `nanmin` replace it.
"""

from __future__ import annotations

from .. import atomic as _all
from ..atomic import *  # noqa: F403

__all__ = _all.__all__


def max(array, index, value):
    """Make ``array[index]`` the larger one of it and `value`; a `value` of NaN changes nothing.

    Returns
    -------
    number
        What the element was before.
    """
    return _all.max(array, index, value) if value == value else _all.add(array, index, 0)


def min(array, index, value):
    """Make ``array[index]`` the smaller one of it and `value`, as `max`."""
    return _all.min(array, index, value) if value == value else _all.add(array, index, 0)
