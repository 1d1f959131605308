"""matmul, matvec, vecmat and vecdot along chosen axes: axes=, axis=, keepdims=, dtype=."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

rng = np.random.default_rng(1)
A, B = rng.random((2, 3, 4)), rng.random((3, 4, 2))
C = A + 1j * rng.random((2, 3, 4))

CALLS = {
    "matmul axes": lambda xp, a: xp.matmul(a(A), a(B), axes=[(0, 1), (0, 2), (2, 0)]),
    "matmul last": lambda xp, a: xp.matmul(a(A), a(A), axes=[(-2, -1), (-1, -2), (1, 2)]),
    "matmul vector": lambda xp, a: xp.matmul(a(A), a(A[0, 0]), axes=[(0, 2), (0,), (1,)]),
    "matmul vectors": lambda xp, a: xp.matmul(a(A[0, 0]), a(A[0, 1]), axes=[(0,), (0,), ()]),
    "matmul integer": lambda xp, a: xp.matmul(a(A[0, 0]), a(A), axes=[0, (2, 1), 0]),
    "matmul dtype": lambda xp, a: xp.matmul(a([[1, 2]]), a([[3], [4]]), dtype="float32"),
    "matvec axes": lambda xp, a: xp.matvec(a(A), a(A[:, 0, 0]), axes=[(2, 0), (0,), (1,)]),
    "vecmat axes": lambda xp, a: xp.vecmat(a(C[0, 0]), a(B), axes=[0, (1, 0), 1]),
    "vecdot axes": lambda xp, a: xp.vecdot(a(C), a(A), axes=[(1,), (1,)]),
    "vecdot axis": lambda xp, a: xp.vecdot(a(C), a(A), axis=1),
    "vecdot kept": lambda xp, a: xp.vecdot(a(C), a(A), axis=1, keepdims=True),
    "vecdot kept by axes": lambda xp, a: xp.vecdot(a(A), a(C), axes=[1, 1, 0], keepdims=True),
    "vecdot kept at the end": lambda xp, a: xp.vecdot(a(A), a(C), axes=[1, 1], keepdims=True),
    "vecdot kept last": lambda xp, a: xp.vecdot(a(A), a(A), keepdims=True),
}


@pytest.mark.parametrize("call", CALLS)
def test_products_along_axes(call):
    expected, got = CALLS[call](np, np.asarray), CALLS[call](un, un.asarray)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: un.matmul(A, B, axes=((0, 1), (2, 0), (2, 0))), TypeError, "must be a list"),
        (lambda: un.matmul(A, B, axes=[(0, 1), (2, 0)]), ValueError, "an entry for each"),
        (lambda: un.matmul(A, B, axes=[(0, 1), (2,), (2, 0)]), ValueError, "expected 2 axes"),
        (lambda: un.matmul(A, B, axes=[0, (2, 0), (2, 0)]), IndexError, "expected 2 axes"),
        (
            lambda: un.matmul(A, B, axes=[1.0, (2, 0), (2, 0)]),
            TypeError,
            "interpreted as an integer",
        ),
        (lambda: un.vecdot(A, A, axes=[-1, -1, -1]), IndexError, "expected 0 axes"),
        (lambda: un.matmul(A, B, axes=[(0, 7), (2, 0), (2, 0)]), ValueError, "out of bounds"),
        (lambda: un.matmul(A, B, axis=1), TypeError, "unexpected keyword 'axis'"),
        (lambda: un.vecdot(A, A, axis=1, axes=[1, 1]), TypeError, "give only one"),
    ],
)
def test_axes_that_do_not_fit_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_results_along_axes_are_written():
    out, expected = un.zeros((4, 2, 2)), np.zeros((4, 2, 2))
    axes = [(0, 1), (0, 2), (1, 2)]
    assert un.matmul(un.asarray(A), un.asarray(B), out=out, axes=axes) is out
    np.matmul(A, B, out=expected, axes=axes)
    np.testing.assert_allclose(np.asarray(out), expected)
