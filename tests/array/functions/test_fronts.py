"""A row that stands in front of a Python body gives what the body gives: dtype, shape and bits."""

import numpy as np
import pytest
import unisono as un
from unisono._arrays.fronts import fronts

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
SIZES = (0, 1, 2, 9, 300, 7000)


def numbers(n, dtype, below=23):
    """Whole numbers from 0 up without an order, NaN among them where the dtype has one."""
    k = np.arange(n)
    a = ((k * k * 7 + k * 31) % below).astype(dtype)
    if a.dtype.kind in "fc" and n > 5:
        a[::5] = np.nan
    return a


def layouts(a):
    """The same elements in one piece, backwards, apart and in columns; also not yet computed."""
    x = un.asarray(a)
    wide = un.zeros((a.size, 3), a.dtype)
    wide[:, 1] = x
    yield x
    yield x[::-1]
    yield wide[:, 1]
    if a.size % 3 == 0:
        yield x.reshape(3, -1).T
    yield un.where(x == x, x, x)


def of_any(*options):
    return [
        (x, *option)
        for dtype in DTYPES
        for n in SIZES
        for x in layouts(numbers(n, dtype))
        for option in options
    ]


def of_integers(*options):
    return [
        (x.reshape(-1), *option)
        for n in SIZES
        for x in layouts(numbers(n, "int64"))
        for option in options
    ]


EXAMPLES = {
    "nonzero": lambda: of_any(()),
    "unique": lambda: of_any(
        *[(places, equal) for places in (False, True) for equal in (False, True)]
    ),
    "repeated_positions": lambda: of_integers(()),
    "count_numbers": lambda: of_integers((None, 23), (None, 40)),
}


def parts(made):
    return made if isinstance(made, tuple) else (made,)


def test_each_front_has_examples():
    assert sorted(EXAMPLES) == sorted(fronts)


@pytest.mark.parametrize("name", EXAMPLES)
def test_row_and_body_give_the_same(name):
    front = fronts[name]
    for args in EXAMPLES[name]():
        rows, bodies = parts(front.row(*args)), parts(front.body(*args))
        assert len(rows) == len(bodies)
        for r, b in zip(rows, bodies, strict=True):
            told = (name, args[0].dtype, args[0].shape, args[1:])
            assert (r.dtype, r.shape) == (b.dtype, b.shape), told
            assert np.asarray(r).tobytes() == np.asarray(b).tobytes(), told


@pytest.mark.parametrize("body", ["row", "body"])
def test_negative_counts_are_refused_alike(body):
    with pytest.raises(
        ValueError, match="repeat: counts must not be negative; got -4 at position 1"
    ):
        getattr(fronts["repeated_positions"], body)(un.asarray([2, -4, -1]))
