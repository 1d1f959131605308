"""Atomic operations on elements of arrays, for loops over ``prange`` and for kernels.

Each changes one element as a whole, whichever threads do so at the same time. The order in which
threads come is not fixed: sums of floats may differ in their last bits from run to run. A reduction
(``a[i] += x`` in ``prange``) does the same in a fixed order.
"""

from __future__ import annotations

from typing import Any

__all__ = ["add", "and_", "max", "min", "or_", "sub", "xor"]

_min, _max = min, max


def add(array: Any, index: Any, value: Any) -> None:
    """Add `value` to ``array[index]``.

    Parameters
    ----------
    array : array
        Of integers or floats.
    index : int or tuple of ints
    value : number

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> @un.jit
    ... def count(keys, out):
    ...     for i in un.prange(keys.shape[0]):
    ...         un.atomic.add(out, keys[i], 1)
    >>> out = np.zeros(3, np.int64)
    >>> count(np.array([0, 2, 2]), out)
    >>> out.tolist()
    [1, 0, 2]
    """
    array[index] += value


def sub(array: Any, index: Any, value: Any) -> None:
    """Subtract `value` from ``array[index]``, as `add`."""
    array[index] -= value


def min(array: Any, index: Any, value: Any) -> None:
    """Make ``array[index]`` the smaller one of it and `value`, as `add`."""
    array[index] = _min(array[index], value)


def max(array: Any, index: Any, value: Any) -> None:
    """Make ``array[index]`` the larger one of it and `value`, as `add`."""
    array[index] = _max(array[index], value)


def and_(array: Any, index: Any, value: Any) -> None:
    """Combine ``array[index]`` of integers with `value` by ``&``, as `add`."""
    array[index] &= value


def or_(array: Any, index: Any, value: Any) -> None:
    """Combine ``array[index]`` of integers with `value` by ``|``, as `add`."""
    array[index] |= value


def xor(array: Any, index: Any, value: Any) -> None:
    """Combine ``array[index]`` of integers with `value` by ``^``, as `add`."""
    array[index] ^= value
