"""The methods of slices, written in Python and compiled."""

from __future__ import annotations

from . import jit


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
