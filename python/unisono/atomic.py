"""Atomic operations on elements of arrays, for loops over ``prange`` and for kernels.

Each changes one element as a whole, whichever threads do so at the same time, and gives what it was before. The order
in which threads come is not fixed: sums of floats may differ in their last bits from run to run. A reduction
(``a[i] += x`` in ``prange``) does the same in a fixed order.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "add",
    "and_",
    "cas",
    "compare_and_swap",
    "dec",
    "exch",
    "inc",
    "max",
    "min",
    "nanmax",
    "nanmin",
    "or_",
    "sub",
    "xor",
]

_min, _max = min, max


def _held(array: Any, index: Any) -> Any:
    """The element as a value of its own, which later changes of the array do not reach."""
    return array.dtype.type(array[index])


def add(array: Any, index: Any, value: Any) -> Any:
    """Add `value` to ``array[index]``.

    Parameters
    ----------
    array : array
        Of integers or floats.
    index : int or tuple of ints
    value : number

    Returns
    -------
    number
        The element before.

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
    before = _held(array, index)
    array[index] += value
    return before


def sub(array: Any, index: Any, value: Any) -> Any:
    """Subtract `value` from ``array[index]``, as `add`."""
    before = _held(array, index)
    array[index] -= value
    return before


def min(array: Any, index: Any, value: Any) -> Any:
    """Make ``array[index]`` the smaller one of it and `value`, as `add`."""
    before = _held(array, index)
    array[index] = _min(before, value)
    return before


def max(array: Any, index: Any, value: Any) -> Any:
    """Make ``array[index]`` the larger one of it and `value`, as `add`."""
    before = _held(array, index)
    array[index] = _max(before, value)
    return before


def nanmin(array: Any, index: Any, value: Any) -> Any:
    """As `min`, where a number is smaller than NaN."""
    before = _held(array, index)
    array[index] = value if before != before else before if value != value else _min(before, value)
    return before


def nanmax(array: Any, index: Any, value: Any) -> Any:
    """As `max`, where a number is larger than NaN."""
    before = _held(array, index)
    array[index] = value if before != before else before if value != value else _max(before, value)
    return before


def and_(array: Any, index: Any, value: Any) -> Any:
    """Combine ``array[index]`` of integers with `value` by ``&``, as `add`."""
    before = _held(array, index)
    array[index] &= value
    return before


def or_(array: Any, index: Any, value: Any) -> Any:
    """Combine ``array[index]`` of integers with `value` by ``|``, as `add`."""
    before = _held(array, index)
    array[index] |= value
    return before


def xor(array: Any, index: Any, value: Any) -> Any:
    """Combine ``array[index]`` of integers with `value` by ``^``, as `add`."""
    before = _held(array, index)
    array[index] ^= value
    return before


def exch(array: Any, index: Any, value: Any) -> Any:
    """Make ``array[index]``, of 32 or 64 bits, `value`, as `add`."""
    before = _held(array, index)
    array[index] = value
    return before


def cas(array: Any, index: Any, expected: Any, value: Any) -> Any:
    """Make ``array[index]``, of 32 or 64 bits, `value` where it is `expected`, as `add`."""
    before = _held(array, index)
    if before == expected:
        array[index] = value
    return before


def compare_and_swap(array: Any, expected: Any, value: Any) -> Any:
    """`cas` of the first element."""
    return cas(array, 0, expected, value)


def inc(array: Any, index: Any, value: Any) -> Any:
    """Count ``array[index]``, of uint32 or uint64, up: behind `value` comes 0; as `add`."""
    before = _held(array, index)
    array[index] = 0 if before >= value else before + 1
    return before


def dec(array: Any, index: Any, value: Any) -> Any:
    """Count ``array[index]``, of uint32 or uint64, down: behind 0, and from above `value`, comes `value`; as `add`."""
    before = _held(array, index)
    array[index] = value if before == 0 or before > value else before - 1
    return before
