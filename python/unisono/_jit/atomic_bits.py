"""Atomic operations on the bits of numbers that are taken for numbers of another dtype of their size.

C text casts pointers for them: ``atomicMax((int *)&x, __float_as_int(v))``, and sums of doubles by
``atomicCAS((unsigned long long *)&x, ...)``. Each goes by compare and swap of the numbers that the memory has.
"""

from __future__ import annotations

import functools

import numpy as np

from .. import atomic
from . import jit

_changes = {
    "add": jit(lambda was, value: was + value),
    "sub": jit(lambda was, value: was - value),
    "min": jit(lambda was, value: min(was, value)),
    "max": jit(lambda was, value: max(was, value)),
    "and_": jit(lambda was, value: was & value),
    "or_": jit(lambda was, value: was | value),
    "xor": jit(lambda was, value: was ^ value),
    "inc": jit(lambda was, value: was + 1 if was < value else was - was),
    "dec": jit(lambda was, value: value if was == 0 or was > value else was - 1),
}


@functools.cache
def function(word, stored, taken):
    """The function (array, index, values) that does what `atomic.<word>` does, and gives the number before.

    The memory is of dtype `stored`, the values and what is given are of dtype `taken`.
    """
    stored, taken = getattr(np, stored), getattr(np, taken)
    if word == "cas":

        @jit
        def swapped(array, index, expected, value):
            return atomic.cas(array, index, expected.view(stored), value.view(stored)).view(taken)

        return swapped
    if word == "exch":

        @jit
        def exchanged(array, index, value):
            return atomic.exch(array, index, value.view(stored)).view(taken)

        return exchanged
    change = _changes[word]
    least = stored(-np.inf if issubclass(stored, np.floating) else np.iinfo(stored).min)

    @jit
    def changed(array, index, value):
        before = atomic.max(array, index, least)  # reads it, as others may be changing it
        was = before.view(taken)
        while True:
            new = taken(change(was, value))
            found = atomic.cas(array, index, before, new.view(stored))
            seen = found.view(taken)
            if seen == was:
                return was
            before = found
            was = seen

    return changed
