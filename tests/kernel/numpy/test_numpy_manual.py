"""Functions of NumPy's manual inside of compiled functions, argument by argument: NumPy's values and dtypes."""

import numpy as np
import pytest
import unisono as un

V = np.array([3.0, -4.0, 1.0, 2.0])
A = np.arange(12.0).reshape(4, 3) - 5
C = A[:3] * (1 + 2j)
I = np.array([2, 0])  # noqa: E741


def same(got, wanted):
    if isinstance(wanted, tuple):
        assert isinstance(got, tuple)
        for g, w in zip(got, wanted, strict=True):
            same(g, w)
        return
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-13)


CALLS = {
    "norms": (
        lambda a: (
            np.linalg.norm(a, np.inf),
            np.linalg.norm(a, -np.inf),
            np.linalg.norm(a, 1),
            np.linalg.norm(a, ord="fro"),
            np.linalg.norm(a, ord=np.inf, axis=0),
            np.linalg.norm(a, 2),
        ),
        (A,),
    ),
    "norms of complex": (lambda a: (np.linalg.norm(a, np.inf), np.linalg.norm(a, -1)), (C,)),
    "indices that calls make": (
        lambda a: (a[np.array([1, 0])], a[np.arange(2)], a[:, np.arange(2)]),
        (A,),
    ),
    "two indices that calls make": (lambda a: a[np.arange(2), np.arange(2)], (A,)),
    "joined flat": (lambda a: np.concatenate((a, a[:1]), axis=None), (A,)),
    "complex numbers": (lambda c: (np.trace(c, 1), np.linalg.slogdet(c + np.eye(3))[0]), (C,)),
    "windows": (
        lambda v: (
            np.lib.stride_tricks.sliding_window_view(v, 2),
            np.lib.stride_tricks.sliding_window_view(v[::-1], 3).sum(axis=1),
        ),
        (V,),
    ),
    "windows of planes": (
        lambda a: (
            np.lib.stride_tricks.sliding_window_view(a, (2, 2)),
            np.lib.stride_tricks.sliding_window_view(a, 2, axis=1),
        ),
        (A,),
    ),
    "strides": (
        lambda a: (
            np.lib.stride_tricks.as_strided(a, (2, 2), (8, 8)),
            np.lib.stride_tricks.as_strided(a, shape=(3, 4), strides=(a.strides[1], a.strides[0])),
        ),
        (A,),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name):
    function, args = CALLS[name]
    same(un.jit(function)(*args), function(*args))


SPLITS = [
    lambda a: np.split(a, 2),
    lambda a: np.split(a * 2, 3, 1),
    lambda a: np.array_split(a, 2, axis=-1),
    lambda a: np.array_split(a + 1, [1], axis=0),
    lambda a: np.array_split(a.ravel() + 1, 5),
    lambda a: np.vsplit(np.outer(a[0], a[1])[:2], 2),
    lambda a: np.hsplit(a - 1, 3),
    lambda a: np.split(a.reshape(2, 3, 2) + 1, 3, axis=1),
    lambda a: np.array_split(a.reshape(2, 3, 2), 2, axis=2),
]


@pytest.mark.parametrize("number", range(len(SPLITS)))
def test_parts_along_axes(number):
    got, wanted = un.jit(SPLITS[number])(A), SPLITS[number](A)
    same(tuple(got), tuple(wanted))


def test_parts_own_what_their_function_was_given():
    @un.jit
    def halves(v):
        return [v[:2], v[2:]]

    @un.jit
    def handed_on(v):
        return halves(v)

    @un.jit
    def of_what_it_made(v):
        made = v + 1
        first = halves(made)
        made = v * 100  # the parts keep the memory of the first
        return first, handed_on(made)

    first, second = of_what_it_made(V)
    same(tuple(first), (V[:2] + 1, V[2:] + 1))
    same(tuple(second), (V[:2] * 100, V[2:] * 100))


def test_limits_of_an_array_s_dtype():
    @un.jit
    def of_floats(x):
        return np.finfo(x.dtype).eps, np.finfo(x.dtype).max, np.finfo(x.dtype).bits

    @un.jit
    def of_integers(x):
        return np.iinfo(x.dtype).min, np.iinfo(x.dtype).max

    for dtype in (np.float32, np.float64):
        assert of_floats(np.zeros(1, dtype)) == of_floats.py_func(np.zeros(1, dtype))
    for dtype in (np.int64, np.uint32, np.int16, np.uint8):
        assert of_integers(np.zeros(1, dtype)) == of_integers.py_func(np.zeros(1, dtype))
    with pytest.raises(un.CompileError, match="dtype has no attribute 'finfo.eps'"):
        of_floats(np.zeros(1, np.int64))


def test_what_is_a_scalar():
    @un.jit
    def kinds(a, x):
        return (
            np.isscalar(a),
            np.isscalar(a[0]),
            np.isscalar(x),
            np.isscalar("x"),
            np.isscalar((1, 2)),
            np.isscalar(None),
        )

    assert kinds(V, 2.5) == (False, True, True, True, False, False)


def test_what_is_stored_at_indices_that_calls_make():
    @un.jit
    def stores(a):
        a[np.array([3, 1])] = 5
        a[np.arange(1)] += 1

    ours, theirs = A.copy(), A.copy()
    stores(ours)
    stores.py_func(theirs)
    np.testing.assert_array_equal(ours, theirs)


def test_views_stay_in_their_memory():
    @un.jit
    def strided(v, n):
        return np.lib.stride_tricks.as_strided(v, (n, 2), (8, 8))

    @un.jit
    def windows(v, n):
        return np.lib.stride_tricks.sliding_window_view(v, n)

    @un.jit
    def written(v):
        np.lib.stride_tricks.sliding_window_view(v, 2)[0] = 1.0

    assert strided(V, 3).shape == (3, 2)
    with pytest.raises(ValueError, match="leaves the memory of the array"):
        strided(V, 4)
    with pytest.raises(ValueError, match="window shape cannot be larger"):
        windows(V, 5)
    with pytest.raises((un.CompileError, ValueError), match="read-only"):
        written(V.copy())


def in_fortran_order(a):
    return (
        np.asfortranarray(a),
        a.copy(order="F"),
        np.copy(a, order="F"),
        np.array(a, order="F"),
        a.astype(np.float32, order="F"),
        np.zeros((2, 3), order="F"),
        np.full((2, 3), 7, order="F"),
        np.zeros(shape=(2, 3), order="F"),
        np.ones(a.shape, np.int32, order="F"),
        np.empty_like(a, order="F"),
        a.reshape((6, 2), order="F"),
        np.reshape(a, (2, -1), order="F"),
    )


def test_arrays_in_fortran_order():
    for got, wanted in zip(un.jit(in_fortran_order)(A), in_fortran_order(A), strict=True):
        got = np.asarray(got)
        assert got.flags.f_contiguous and not got.flags.c_contiguous
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
    same(
        un.jit(
            lambda a: (
                a.ravel("F"),
                a.flatten(order="F"),
                np.ravel(a, "F"),
                a.reshape(6, 2, order="F"),
            )
        )(A),
        (A.ravel("F"), A.flatten("F"), A.ravel("F"), A.reshape(6, 2, order="F")),
    )
    assert un.jit(lambda a: np.asfortranarray(a).flags.f_contiguous)(A)


def test_squeeze_drops_what_is_known():
    same(
        un.jit(lambda a: (np.squeeze(a[None]), a.squeeze(), a[:, None, :1].squeeze(2)))(A),
        (A, A, A[:, None, 0]),
    )
    with pytest.raises(
        ValueError, match="squeeze: axis 2 has extent 1, which was not known when compiling"
    ):
        un.jit(lambda a: np.squeeze(a[None, :, :1]))(A)


def test_blocks():
    def made(a, v):
        return (
            np.block([v, v, 2.5]),
            np.block([[a, np.zeros((4, 1))], [np.ones((2, 3)), np.eye(2, 1)]]),
            np.block([[1, 2], [3, 4]]),
            np.block([[v], [v]]),
        )

    same(un.jit(made)(A, V), made(A, V))


def test_dtypes_as_results():
    def kinds(a):
        return a.dtype, a.shape, np.dtype("float32"), (a * 1j).dtype

    assert un.jit(kinds)(A) == kinds(A)
    assert isinstance(un.jit(lambda a: a.dtype)(A), un.dtype)
    kind = un.jit(lambda a: a.dtype)
    assert un.jit(lambda a: np.zeros(2, kind(a)) + 1)(I).dtype == np.int64
