"""The methods of slices and ranges, written in Python and compiled."""

from __future__ import annotations

from . import jit
from .library import in_range


@jit
def indices(self, length):
    """``slice.indices``: what range takes for the items of a sequence of that length."""
    if length < 0:
        raise ValueError("length should not be negative")
    step = 1
    if self.step is not None:
        step = self.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, length) if step > 0 else (-1, length - 1)
    start, stop = (low, high) if step > 0 else (high, low)
    if self.start is not None:
        start = self.start
        start = max(start + length, low) if start < 0 else min(start, high)
    if self.stop is not None:
        stop = self.stop
        stop = max(stop + length, low) if stop < 0 else min(stop, high)
    return start, stop, step


@jit
def whole_step(step):
    """The step of a range, which must not be zero."""
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return step


@jit
def _length(self):
    if self.step > 0:
        return max((self.stop - self.start + self.step - 1) // self.step, 0)
    return max((self.start - self.stop - self.step - 1) // -self.step, 0)


@jit
def _item(self, index):
    length = _length(self)
    if index < 0:
        index += length
    if index < 0 or index >= length:
        raise IndexError("range object index out of range")
    return self.start + index * self.step


@jit
def _listed(self):
    return [x for x in range(self.start, self.stop, self.step)]


@jit
def _contains(self, x):
    return in_range(x, self.start, self.stop, self.step)


@jit
def _index(self, x):
    if not in_range(x, self.start, self.stop, self.step):
        raise ValueError(f"{x} is not in range")
    return (x - self.start) // self.step


@jit
def _count(self, x):
    return int(in_range(x, self.start, self.stop, self.step))


@jit
def _equal(self, other):
    if not isinstance(other, range):
        return False
    length = _length(self)
    if length != _length(other):
        return False
    if length == 0:
        return True
    return self.start == other.start and (length == 1 or self.step == other.step)


methods = {
    slice: {"indices": indices},
    range: {
        "__len__": _length,
        "__getitem__": _item,
        "__contains__": _contains,
        "__eq__": _equal,
        "=list": _listed,  # for builtins that take a row's items
        "index": _index,
        "count": _count,
    },
}
