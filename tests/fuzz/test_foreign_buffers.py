"""Random memory of others: odd strides, offsets, byte orders, read-only, empty; read, shared and written as NumPy does.

Each memory comes as NumPy's array, as a memoryview, and by ``__array_interface__`` alone. Addresses are always those of
live memory: what lies is for the tests of malformed input. ``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds.
"""

import os
import random

import numpy as np
import pytest
import unisono as un

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:300").split(":"))
DTYPES = "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16".split()


class Interface:
    """Memory that only ``__array_interface__`` describes."""

    def __init__(self, array, pick):
        self.held = array
        described = dict(array.__array_interface__)
        described.pop("descr", None)
        if pick.random() < 0.3 and array.flags.c_contiguous:
            described["strides"] = None
        self.__array_interface__ = described


def random_memory(pick):
    """NumPy's array of random layout, with its elements set."""
    dtype = np.dtype(pick.choice(DTYPES))
    if pick.random() < 0.25:
        dtype = dtype.newbyteorder(">")
    shape = tuple(pick.choice([0, 1, 1, 2, 3, 4]) for _ in range(pick.randint(0, 4)))
    room = [n * pick.randint(1, 3) + pick.randint(0, 2) for n in shape]
    shift = pick.choice([0, 0, 0, 1, 3]) if pick.random() < 0.4 else 0
    count = int(np.prod(room, dtype=int))
    raw = np.zeros(count * dtype.itemsize + shift, np.uint8)
    whole = raw[shift:].view(dtype).reshape(room)
    values = np.arange(count).reshape(room) - 2 if count else np.zeros(room)
    whole[...] = (values % 2 if dtype.kind == "b" else values).astype(dtype, casting="unsafe")
    part = whole
    for axis, n in enumerate(shape):
        step = pick.randint(1, max(1, whole.shape[axis] // max(n, 1)))
        first = pick.randint(0, max(0, whole.shape[axis] - step * max(n - 1, 0) - 1))
        key = [slice(None)] * len(shape)
        key[axis] = slice(first, None, step)
        part = part[tuple(key)]
        key[axis] = slice(0, n)
        part = part[tuple(key)]
        if pick.random() < 0.3:
            key[axis] = slice(None, None, -1)
            part = part[tuple(key)]
    if pick.random() < 0.3:
        part = part.transpose(pick.sample(range(part.ndim), part.ndim))
    if pick.random() < 0.2:
        part = np.broadcast_to(part, (2, *part.shape))
    if pick.random() < 0.25:
        part = part.view()
        part.flags.writeable = False
    return part


def same(ours, theirs):
    assert ours.dtype == theirs.dtype.newbyteorder("=") and tuple(ours.shape) == theirs.shape
    np.testing.assert_array_equal(np.asarray(ours), theirs)


def shared(source, theirs):
    """An array of ours over the same memory; None where it cannot be shared, which is an error that says so."""
    try:
        return un.asarray(source, copy=False)
    except ValueError as error:
        assert "without a copy" in str(error)
        aligned = theirs.flags.aligned and theirs.dtype.isnative
        whole = all(s % theirs.dtype.itemsize == 0 for s in theirs.strides)
        # One number, or none, is copied: there is nothing to share.
        assert not (aligned and whole and theirs.ndim and theirs.size), (
            theirs.strides,
            theirs.dtype,
        )
        return None


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_memory_of_others(seed):
    pick = random.Random(seed)
    theirs = random_memory(pick)
    form = pick.choice(["array", "memoryview", "interface"])
    source = {
        "array": lambda: theirs,
        "memoryview": lambda: memoryview(theirs),
        "interface": lambda: Interface(theirs, pick),
    }[form]()
    for made in (un.asarray(source), un.array(source)):
        same(made, theirs)
        if theirs.dtype.kind != "b" and theirs.size:
            np.testing.assert_array_equal(np.asarray(made + made), theirs + theirs)
    x = shared(source, theirs)
    if x is None:
        return
    same(x, theirs)
    if not theirs.flags.writeable or theirs.size == 0:
        if not theirs.flags.writeable:
            with pytest.raises(ValueError, match="read-only"):
                x[...] = 1
        return
    before = theirs.copy()
    x[...] = before[..., ::-1] if theirs.ndim else 1
    expected = before[..., ::-1] if theirs.ndim else np.ones((), theirs.dtype)
    np.testing.assert_array_equal(theirs, expected)
    theirs[...] = before
    same(x, before)
