"""Slices, Ellipsis and None that are values: in names, arguments, tuples and results, against Python."""

import dataclasses

import numpy as np
import pytest
import unisono as un

_WHERE = (None, slice(1, 3), ..., 0)


def item(a, index):
    return a[index]


def store(a, index, value):
    a[index] = value
    return a


def add(a, index, value):
    a[index] += value
    return a


def array():
    return np.arange(60.0).reshape(3, 4, 5)


@pytest.mark.parametrize(
    "index",
    [
        slice(1, 3),
        slice(None),
        slice(None, None, -1),
        slice(-1, None),
        slice(2, 0, -1),
        (slice(None), 0),
        (1, slice(1, 3), 2),
        (slice(None), slice(0, 2), slice(None, None, 2)),
        ...,
        (..., 0),
        (0, ...),
        (slice(1, None), ..., slice(None, -1)),
        (None, slice(1, 2), ..., None),
        (slice(None), np.array([0, 2])),
        (np.array([2, 0]), slice(1, 3)),
        (np.int64(1), slice(None)),
        (1,),
        (0, 1, 2),
        (),
    ],
)
@pytest.mark.parametrize("function", [item, store, add])
def test_arguments_index_arrays(function, index):
    more = () if function is item else (7.0,)
    want = function(array(), index, *more)
    got = un.jit(function)(array(), index, *more)
    assert np.shape(got) == np.shape(want)
    np.testing.assert_array_equal(np.asarray(got), want)


def in_names(a, i, n):
    s = slice(i, n)
    rows = s, 0
    every = slice(None, None, 2)
    t = (every, s)
    x = a[s].sum() + a[rows].sum() + a[t].sum() + a[s, 1].sum() + a[1, every, ...].sum()
    a[rows] = 1.0
    a[t] *= 2
    a[(..., every)][0, 0] = 5.0
    for cut in (slice(0, 1), slice(1, 2), s):
        x += a[cut].sum()
    return a, x, a[_WHERE]


def windows(a, k):
    def around(i):
        return slice(max(i - k, 0), i + k + 1)

    sums = np.zeros(len(a))
    for i in range(len(a)):
        sums[i] = a[around(i)].sum()
    parts = [slice(0, k), slice(k, len(a))]
    total = 0.0
    for p in parts:
        total += a[p].mean() * (p.stop - p.start)
    return sums, total


def members(s, n):
    return s.start, s.stop, s.step, s.indices(n)


def chosen(a, backwards):
    s = slice(None, None, -1) if backwards else slice(None, None, 2)
    return a[s], s


def one_of(a, i):
    s = slice(i, 4)
    if i > 2:
        s = slice(None, i)
    return a[s], s.start is None


@dataclasses.dataclass(frozen=True)
class Window:
    rows: slice
    columns: slice


def of_object(a, w):
    return a[w.rows, w.columns, 0], Window(w.columns, w.rows)


def of_other_sequences(s):
    text, numbers, names = "abcdefgh", [1, 2, 3, 4, 5, 6], ["a", "b", "c", "d"]
    numbers[slice(0, 2)] = [7, 8, 9]
    kept = numbers[s]
    numbers[s] = [0]
    names[s] = ["x"]
    return text[s], kept, numbers, names, (1, 2.0, "c", 4)[slice(1, 3)]


def compared(s, t):
    return s == t, s != t, s == slice(1, 4), s == 3, isinstance(s, slice), isinstance(t, tuple)


def test_names_tuples_and_results():
    for f, args in [(in_names, (1, 3)), (windows, (1,))]:
        given = array() if f is in_names else np.arange(6.0)
        want, got = f(given.copy(), *args), un.jit(f)(given.copy(), *args)
        for w, g in zip(want, got, strict=True):
            np.testing.assert_array_equal(np.asarray(g), w)
    for backwards in (True, False):
        want, got = chosen(np.arange(5), backwards), un.jit(chosen)(np.arange(5), backwards)
        assert got[1] == want[1] and np.array_equal(got[0], want[0])
    for i in (1, 3):
        want, got = one_of(np.arange(5), i), un.jit(one_of)(np.arange(5), i)
        assert got[1] == want[1] and np.array_equal(got[0], want[0])
    given = Window(slice(0, 2), slice(1, None))
    want, got = of_object(array(), given), un.jit(of_object)(array(), given)
    assert got[1] == want[1] and np.array_equal(got[0], want[0])


@pytest.mark.parametrize(
    "s", [slice(1, 4), slice(None), slice(None, None, -1), slice(-3, 100, 2), slice(9, -9, -3)]
)
def test_members(s):
    for n in (0, 1, 7):
        assert un.jit(members)(s, n) == members(s, n)
    assert un.jit(lambda s: s)(s) == s
    assert un.jit(lambda s: (s, 1, ...))(s) == (s, 1, ...)
    assert un.jit(compared)(s, slice(1, 4)) == compared(s, slice(1, 4))


@pytest.mark.parametrize("s", [slice(1, 3), slice(None, 2), slice(-2, None)])
def test_other_sequences(s):
    assert un.jit(of_other_sequences)(s) == of_other_sequences(s)


def test_errors():
    with pytest.raises(ValueError, match="length should not be negative"):
        un.jit(lambda s, n: s.indices(n))(slice(1, 2), -1)
    for f in (lambda s, n: s.indices(n)[0] + n, lambda s, n: np.arange(5)[s][0] + n):
        with pytest.raises(ValueError, match="slice step cannot be zero"):
            un.jit(f)(slice(None, None, 0), 4)
    with pytest.raises(IndexError, match="out of bounds"):
        un.jit(item)(array(), (slice(None), 4))
    with pytest.raises(un.CompileError, match="too many indices"):
        un.jit(item)(array(), (slice(None),) * 4)
    with pytest.raises(un.CompileError, match="must be an integer; got float"):
        un.jit(item)(array(), slice(1.0, 2.0))


def test_captured_tuples_with_arrays():
    index = (slice(1, None), np.array([0, 2]), ...)

    def chosen(a):
        return a[index], index[1].sum()

    compiled = un.jit(chosen)
    for _ in range(2):
        want, got = chosen(array()), compiled(array())
        np.testing.assert_array_equal(np.asarray(got[0]), want[0])
        assert got[1] == want[1]
        index = (slice(None, -1), np.array([1, 1, 3]), 2)
