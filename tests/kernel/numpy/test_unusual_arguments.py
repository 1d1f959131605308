"""NumPy's functions in compiled code for arguments that are less common: NaNs, falling bins, lists, other sizes."""

import numpy as np
import pytest
import unisono as un

NAN = np.nan
VALUES = np.array([0, 5, NAN, 2, 2.5, 4, 6, 7, 1, np.inf, -np.inf])


def agree(function, *args):
    compiled = un.jit(nopython=True)(function)
    try:
        expected = function(*args)
    except (ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            compiled(*args)
        return
    got = compiled(*args)
    for e, g in zip(*((x if isinstance(x, tuple) else (x,)) for x in (expected, got)), strict=True):
        assert np.shape(e) == np.shape(g)
        assert np.asarray(e).dtype == np.asarray(g).dtype
        np.testing.assert_allclose(g, e, rtol=1e-14)


@pytest.mark.parametrize(
    "bins",
    [[2.0, 4, 5, 6], [6.0, 5, 3, 2], [1.0, 1, 2, NAN], [], [3.0], [3.0, 3, 3], [1.0, 3, 2]],
)
@pytest.mark.parametrize("right", [False, True])
def test_digitize(bins, right):
    def binned(x, bins, right):
        return np.digitize(x, bins, right), np.digitize(x.reshape(1, -1), bins, right)

    agree(binned, VALUES, np.array(bins), right)
    agree(lambda x, bins: np.digitize(x, bins), 3.5, np.array([1.0, 2, 4]))


def test_searchsorted_of_nan():
    def places(a, v):
        return np.searchsorted(a, v), np.searchsorted(a, v, side="right")

    agree(places, np.array([1.0, 2, NAN, NAN]), VALUES)
    agree(places, np.array([1.0, 2]), NAN)


def test_arrays_of_lists_are_copies():
    def views(x):
        a, b, c, d = np.asarray(x), np.asarray(x)[::-1], np.flipud(x), np.reshape(x, (1, -1))
        for i in range(2000):
            x.append(i)
        x[0] = 100
        return a, b, c, d, len(x)

    agree(lambda n: views(list(range(n))), 3)
    made = un.jit(nopython=True)(lambda x: np.asarray(x)[1:])([1, 2, 3, 4])
    others = [np.full(4, 9) for _ in range(50)]  # take the memory of what ended
    assert np.asarray(made).tolist() == [2, 3, 4], others
    assert isinstance(un.jit(lambda x: np.asarray(x))([1, 2]), np.ndarray | un.ndarray)


def test_extract():
    def taken(c, a):
        return np.extract(c, a)

    agree(taken, np.array([1, 0, 1, 0]), np.arange(6.0))
    agree(taken, np.array([True] * 4), np.arange(6).reshape(2, 3))
    agree(taken, np.array([False] * 6), np.arange(3))
    agree(taken, np.array([True] * 6), np.arange(3))
    agree(taken, np.array([], dtype=bool), np.arange(3))


@pytest.mark.parametrize("n, m", [(3, 3), (2, 3), (3, 2), (4, 4), (3, 1)])
def test_cross(n, m):
    a, b = np.arange(1.0, n + 1), np.arange(4, m + 4)
    if {n, m} == {
        2,
        3,
    }:  # a vector of two has a third component of zero; NumPy refuses it since 2.5
        whole = [np.pad(x, (0, 3 - len(x))) for x in (a, b)]
        np.testing.assert_array_equal(un.jit(lambda a, b: np.cross(a, b))(a, b), np.cross(*whole))
        return
    agree(lambda a, b: np.cross(a, b), a, b)


def test_cov():
    m = np.array([[1.0, 2, 4, 7], [2.0, 1, 5, 3], [2, 3, 4, 1]])
    agree(lambda a, b: np.cov(a, b), m[0], m[1])
    agree(lambda a, b: np.cov(a, b, bias=True), m, m[1])
    agree(lambda a: np.cov(a, None, False), m)
    agree(lambda a: np.cov(a, None, True, True), m)
    agree(lambda a, b: np.cov(a, b, True, False, 0), m[0], m[1])


def test_diff_and_geomspace():
    agree(lambda a, n: np.diff(a, n), np.arange(5.0), -1)
    agree(lambda a, b: np.geomspace(a, b, 4), -1.0, -1000)
    agree(lambda a, b: np.geomspace(a, b, 4), np.float32(1), np.float32(8))


@pytest.mark.parametrize(
    "places", [1, -1, 7, [1, 3], np.array([True, False, False, True, False]), slice(1, 3)]
)
def test_delete(places):
    agree(lambda a, k: np.delete(a, k), np.arange(5.0), places)


@pytest.mark.parametrize(
    "function, error",
    [
        (lambda x: np.linalg.eigh(x, 3), ValueError),  # of which a function behind always raises
        (lambda x: np.linalg.eigvalsh(x, x), ValueError),
        (lambda x: np.clip(x, "a"), un.CompileError),
        (lambda x: np.clip(x, None, "a"), un.CompileError),
        (lambda x: np.linalg.solve(x, None), un.CompileError),
        (lambda x: sum(x[0], x), un.CompileError),
    ],
)
def test_arguments_of_another_kind_are_refused(function, error):
    with pytest.raises(error):
        un.jit(function)(np.arange(1.0, 5).reshape(2, 2))


def test_types_that_do_not_settle_are_an_error():
    with pytest.raises(un.CompileError, match="its types cannot be inferred"):
        un.jit(lambda: [None, [1, 2]])()
