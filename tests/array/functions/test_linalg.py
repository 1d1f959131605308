"""Linear algebra against NumPy: values, dtypes, shapes, errors, stacks, and bits for any thread count."""

import os

import numpy as np
import pytest
import unisono as un

TYPES = ["float64", "float32", "complex128", "complex64"]
SINGLE = ("float32", "complex64")
EXACT = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-3, "complex64": 2e-3}


def matrix(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def definite(shape, dtype="float64"):
    a = matrix(shape, dtype)
    return (a @ np.conj(a.swapaxes(-1, -2)) + np.eye(shape[-1])).astype(dtype)


def check(got, expected, tolerance=None):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    tolerance = tolerance or EXACT.get(expected.dtype.name, 1e-9)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


SQUARE = [(1, 1), (3, 3), (2, 3, 3), (2, 1, 4, 4), (0, 0), (0, 3, 3), (40, 40), (300, 2, 2)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_square(shape, dtype):
    a = definite(shape, dtype)
    x = un.asarray(a)
    check(un.linalg.inv(x), np.linalg.inv(a))
    # Beyond the format the parts' signs follow from rounding, which BLAS libraries do differently.
    det, expected = np.asarray(un.linalg.det(x)), np.linalg.det(a)
    held = np.isfinite(expected)
    assert det.dtype == expected.dtype and (np.isfinite(det) == held).all()
    check(np.where(held, det, 0), np.where(held, expected, 0), 1e-3 if dtype in SINGLE else None)
    sign, log = un.linalg.slogdet(x)
    check(sign, np.linalg.slogdet(a)[0])
    check(log, np.linalg.slogdet(a)[1])
    check(un.linalg.cholesky(x), np.linalg.cholesky(a))
    check(un.linalg.cholesky(x, upper=True), np.linalg.cholesky(a, upper=True))
    b = matrix((*shape[:-1], 2), dtype, 1)
    check(un.linalg.solve(x, un.asarray(b)), np.linalg.solve(a, b))
    values, vectors = un.linalg.eigh(x)
    check(values, np.linalg.eigh(a)[0])
    v = np.asarray(vectors)
    np.testing.assert_allclose(a @ v, v * np.asarray(values)[..., None, :], atol=EXACT[dtype] * 100)
    check(un.linalg.eigvalsh(x, UPLO="U"), np.linalg.eigvalsh(a, UPLO="U"))


def test_cholesky_and_eigh_read_one_triangle():
    a = definite((4, 4))
    low, high = np.tril(a), np.triu(a)
    check(un.linalg.cholesky(low), np.linalg.cholesky(a))
    check(un.linalg.cholesky(high, upper=True), np.linalg.cholesky(a, upper=True))
    check(un.linalg.eigvalsh(low), np.linalg.eigvalsh(a))
    check(un.linalg.eigvalsh(high, "U"), np.linalg.eigvalsh(a))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shape", [(3, 3), (5, 3), (3, 5), (2, 5, 3), (2, 3, 5), (4, 0), (0, 4), (60, 40)], ids=str
)
def test_rectangular(shape, dtype):
    a = matrix(shape, dtype)
    x = un.asarray(a)
    m, n = shape[-2:]
    near = {"rtol": EXACT[dtype], "atol": EXACT[dtype]}
    for mode in ("reduced", "complete"):
        q, r = (np.asarray(y) for y in un.linalg.qr(x, mode))
        expected = np.linalg.qr(a, mode)
        assert q.shape == expected[0].shape and r.shape == expected[1].shape and q.dtype == a.dtype
        np.testing.assert_allclose(q @ r, a, **near)
        np.testing.assert_allclose(
            adjoint(q) @ q,
            np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], q.shape[-1], q.shape[-1])),
            **near,
        )
        np.testing.assert_allclose(np.tril(r, -1), 0)
    check(un.linalg.qr(x, "r"), np.linalg.qr(a, "r"))
    for got, expected in zip(un.linalg.qr(x, "raw"), np.linalg.qr(a, "raw"), strict=True):
        check(got, expected)
    for full in (True, False):
        u, s, vh = (np.asarray(y) for y in un.linalg.svd(x, full_matrices=full))
        expected = np.linalg.svd(a, full_matrices=full)
        assert u.shape == expected[0].shape and vh.shape == expected[2].shape
        check(s, expected[1])
        k = min(m, n)
        np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a, **near)
    check(un.linalg.svdvals(x), np.linalg.svdvals(a))
    check(un.linalg.pinv(x), np.linalg.pinv(a))
    check(un.linalg.matrix_rank(x), np.linalg.matrix_rank(a))


@pytest.mark.parametrize("shape", [(5, 5), (40, 3), (3, 40), (7, 6), (2, 4, 3)], ids=str)
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors_have_numpys_signs(shape, full):
    for dtype in ("float64", "complex128"):
        a = matrix(shape, dtype)
        for got, expected in zip(
            un.linalg.svd(un.asarray(a), full), np.linalg.svd(a, full), strict=True
        ):
            check(got, expected)


def eig(a):
    """NumPy's, real where the eigenvalues of a real matrix are: it gives that up to version 2.4."""
    w, v = np.linalg.eig(a)
    is_real = a.dtype.kind != "c" and not w.imag.any()
    return (w.real, v.real) if is_real else (w, v)


@pytest.mark.parametrize("dtype", TYPES)
def test_eig(dtype):
    symmetric = np.linalg.eigvals(definite((4, 4), dtype))
    x = definite((4, 4), dtype)
    check(np.sort(np.asarray(un.linalg.eigvals(un.asarray(x))).real), np.sort(symmetric.real))
    for a in (
        matrix((5, 5), dtype),
        matrix((3, 4, 4), dtype),
        np.triu(matrix((4, 4), dtype)),
        np.zeros((0, 0), dtype),
    ):
        w, v = (np.asarray(y) for y in un.linalg.eig(un.asarray(a)))
        assert (w.dtype, v.dtype) == tuple(y.dtype for y in eig(a)) and v.shape == a.shape
        np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=EXACT[dtype] * 10)
        check(un.linalg.eigvals(un.asarray(a)), eig(a)[0])


def test_eigenvalues_are_real_where_no_imaginary_part_is_left():
    turned = np.array([[0.0, 1.0], [-1.0, 0.0]])
    for a in (
        np.eye(3),
        np.array([[1, 2], [3, 4]]),
        turned,
        np.stack([np.eye(2), turned]),
        np.eye(2, dtype="F"),
        np.array([[1.0, 2.0], [0.0, 3.0]], "f"),
    ):
        w, v = un.linalg.eig(un.asarray(a))
        expected = eig(a)
        check(w, expected[0])
        check(v, expected[1])
        check(un.linalg.eigvals(un.asarray(a)), expected[0])


def test_solve_takes_vectors_and_broadcasts():
    a, b = matrix((4, 4)), matrix((4,), seed=2)
    check(un.linalg.solve(a, b), np.linalg.solve(a, b))
    stack = matrix((5, 4, 4))
    check(un.linalg.solve(stack, matrix((4, 3))), np.linalg.solve(stack, matrix((4, 3))))
    check(un.linalg.solve(a, matrix((6, 4, 3))), np.linalg.solve(a, matrix((6, 4, 3))))
    check(un.linalg.solve(stack, b), np.linalg.solve(stack, b))
    check(un.linalg.solve(a.astype("float32"), b), np.linalg.solve(a.astype("float32"), b))
    check(un.linalg.solve([[2, 0], [0, 4]], [1, 1]), np.array([0.5, 0.25]))
    check(un.linalg.inv(un.asarray(a).T[::-1]), np.linalg.inv(a.T[::-1]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 3, 5, 8, 18, 33, 66])
def test_small_systems_with_many_right_sides(dtype, n):
    for k in (8, 13, 32, 47, 90):
        a, b = matrix((n, n), seed=n), matrix((n, k), seed=k)
        if dtype.startswith("complex"):
            a, b = a + 1j * matrix((n, n), seed=n + 1), b - 2j * matrix((n, k), seed=k + 1)
        a, b = a.astype(dtype), b.astype(dtype)
        x = np.asarray(un.linalg.solve(a, b))
        assert x.dtype == dtype
        scale = np.abs(a).sum(axis=1).max() * np.abs(x).max()
        assert np.abs(a @ x - b).max() < 8 * np.finfo(dtype).eps * scale
        # Columns are solved by themselves: their bits do not depend on their neighbours.
        some = np.asarray(un.linalg.solve(a, b[:, 3 : k - 2].copy()))
        if k > 13:
            assert (some == x[:, 3 : k - 2]).all()


def test_many_right_sides_of_singular_matrices():
    a = matrix((20, 20))
    a[:, 7] = 0
    with pytest.raises(un.linalg.LinAlgError, match="Singular matrix"):
        un.linalg.solve(a, matrix((20, 30)))
    with pytest.raises(un.linalg.LinAlgError, match="Singular matrix"):
        un.linalg.inv(a)
    a[4, 7] = np.nan
    assert np.isnan(np.asarray(un.linalg.solve(a, matrix((20, 30))))).any()


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4), (0, 3), (3, 0)], ids=str)
@pytest.mark.parametrize("right", [(), (2,)], ids=str)
def test_lstsq(shape, right):
    a, b = matrix(shape), matrix((shape[0], *right), seed=3)
    got, expected = un.linalg.lstsq(a, b), np.linalg.lstsq(a, b)
    for k, (one, two) in enumerate(zip(got, expected, strict=True)):
        if k == 2:
            assert one == two
        else:
            check(one, two)
    a[:, :1] = 0
    got, expected = un.linalg.lstsq(a, b), np.linalg.lstsq(a, b)
    for k, (one, two) in enumerate(zip(got, expected, strict=True)):
        if k == 2:
            assert one == two
        else:
            check(one, two)


NORMS = [None, 0, 1, 2, 3, 0.5, -1, -2, np.inf, -np.inf]


@pytest.mark.parametrize("dtype", [*TYPES, "int64"])
@pytest.mark.parametrize("order", NORMS, ids=str)
def test_vector_norms(order, dtype):
    a = (matrix((4, 5), dtype if dtype != "int64" else "float64") * 3 + 1).astype(dtype)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-9
    for axis in (0, -1):
        for keep in (False, True):
            check(
                un.linalg.norm(a, order, axis, keep),
                np.linalg.norm(a, order, axis, keep),
                tolerance,
            )
    if dtype != "int64" and order is not None:
        for axis in (None, 0, (0, 1)):
            expected = np.linalg.vector_norm(a, axis=axis, ord=order)
            check(un.linalg.vector_norm(un.asarray(a), axis=axis, ord=order), expected, tolerance)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf], ids=str)
def test_matrix_norms(order, dtype):
    a = matrix((3, 4, 5), dtype)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-9
    check(un.linalg.norm(a[0], order), np.linalg.norm(a[0], order), tolerance)
    for keep in (False, True):
        check(
            un.linalg.norm(a, order, (0, 2), keep),
            np.linalg.norm(a, order, (0, 2), keep),
            tolerance,
        )
        if order is not None:
            expected = np.linalg.matrix_norm(a, ord=order, keepdims=keep)
            check(un.linalg.matrix_norm(a, ord=order, keepdims=keep), expected, tolerance)
    square = matrix((3, 4, 4), dtype)
    if order != "nuc":
        check(
            un.linalg.cond(square, order),
            np.linalg.cond(square, order),
            1e-2 if tolerance == 1e-4 else None,
        )


def test_products_of_matrices():
    a = matrix((3, 3))
    for n in (0, 1, 2, 3, 7, -2):
        check(un.linalg.matrix_power(a, n), np.linalg.matrix_power(a, n))
    whole = np.arange(8).reshape(2, 2, 2)
    check(un.linalg.matrix_power(whole, 3), np.linalg.matrix_power(whole, 3))
    chain = [matrix(s) for s in ((3, 10), (10, 2), (2, 8), (8, 4))]
    check(un.linalg.multi_dot(chain), np.linalg.multi_dot(chain))
    chain[0], chain[-1] = matrix((10,)), matrix((8,))
    check(un.linalg.multi_dot(chain), np.linalg.multi_dot(chain))
    a = matrix((6, 4, 2, 3, 4))
    check(un.linalg.tensorsolve(a, matrix((6, 4))), np.linalg.tensorsolve(a, matrix((6, 4))))
    check(un.linalg.tensorinv(a, 2), np.linalg.tensorinv(a, 2))
    assert un.linalg.tensordot is un.tensordot and un.linalg.matmul is un.matmul


def test_diagonals():
    a = matrix((2, 3, 4))
    for offset in range(-4, 6):
        check(un.linalg.diagonal(a, offset=offset), np.linalg.diagonal(a, offset=offset))
        check(un.linalg.trace(a, offset=offset), np.linalg.trace(a, offset=offset))
    x = un.zeros((3, 3))
    un.linalg.diagonal(x, offset=1)[...] = 7
    assert x.tolist() == [[0, 7, 0], [0, 0, 7], [0, 0, 0]]


SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
REFUSED = {
    "inv of a singular matrix": (lambda la, xp: la.inv(xp.asarray(SINGULAR)), "inv: Singular matrix"),
    "solve": (lambda la, xp: la.solve(xp.asarray(SINGULAR), xp.ones(2)), "solve: Singular matrix"),
    "a matrix of a stack": (lambda la, xp: la.inv(xp.asarray([[[1.0, 0.0], [0.0, 1.0]], SINGULAR])), "inv: Singular matrix; matrix 1 of the stack"),
    "not square": (lambda la, xp: la.det(xp.ones((2, 3))), r"det: Last 2 dimensions .* must be square; got shape \(2, 3\)"),
    "not a matrix": (lambda la, xp: la.inv(xp.ones(3)), "inv: 1-dimensional array given"),
    "not definite": (lambda la, xp: la.cholesky(-xp.ones((2, 2))), "cholesky: Matrix is not positive definite"),
    "NaN in svd": (lambda la, xp: la.svd(xp.full((3, 3), np.nan)), "svd: SVD did not converge"),
    "infinity in eig": (lambda la, xp: la.eig(xp.full((3, 3), np.inf)), "eig: Array must not contain infs or NaNs"),
    "power of no square": (lambda la, xp: la.matrix_power(xp.ones((2, 3)), 2), "matrix_power: Last 2 dimensions"),
    "cond of nothing": (lambda la, xp: la.cond(xp.zeros((0, 0))), "cond is not defined on empty arrays"),
}  # fmt: skip


@pytest.mark.parametrize("call, message", REFUSED.values(), ids=REFUSED.keys())
def test_refuses(call, message):
    with pytest.raises(np.linalg.LinAlgError):
        call(np.linalg, np)
    with pytest.raises(un.linalg.LinAlgError, match=message):
        call(un.linalg, un)
    assert issubclass(un.linalg.LinAlgError, ValueError)


def test_refuses_arguments():
    for la, xp in ((np.linalg, np), (un.linalg, un)):
        with pytest.raises(ValueError, match="UPLO"):
            la.eigh(xp.ones((2, 2)), UPLO="X")
        with pytest.raises(ValueError, match="mode"):
            la.qr(xp.ones((2, 2)), mode="fast")
        with pytest.raises(ValueError):
            la.norm(xp.ones((2, 2)), 3)
        with pytest.raises(TypeError, match="exponent must be an integer"):
            la.matrix_power(xp.ones((2, 2)), 1.5)
        with pytest.raises(ValueError):
            la.solve(xp.ones((2, 2)), xp.ones(3))


def test_bits_do_not_depend_on_threads():
    stack, large = un.asarray(definite((50, 20, 20))), un.asarray(definite((150, 150)))
    results = []
    for threads in (1, 2, 3):
        un.set_num_threads(threads)
        try:
            made = [
                f(a)
                for a in (stack, large)
                for f in (un.linalg.inv, un.linalg.svdvals, un.linalg.eigvalsh)
            ]
            results.append([np.asarray(x).tobytes() for x in made])
        finally:
            un.set_num_threads(len(os.sched_getaffinity(0)))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [384, 577])
def test_large_matrices_are_factored_in_tiles(n, dtype):
    random = np.random.default_rng(n)
    a = random.standard_normal((n, n)).astype(dtype)
    if a.dtype.kind == "c":
        a += 1j * random.standard_normal((n, n)).astype(a.real.dtype)
    eps = float(np.finfo(dtype).eps)
    u = un.array(a)
    product = a @ a.conj().T / n + np.eye(n, dtype=dtype)
    for upper in (False, True):
        factor = np.asarray(un.linalg.cholesky(un.array(product), upper=upper))
        assert factor.dtype == a.dtype
        assert not np.tril(factor, -1).any() if upper else not np.triu(factor, 1).any()
        back = factor.conj().T @ factor if upper else factor @ factor.conj().T
        np.testing.assert_allclose(back, product, atol=100 * eps)
    right = random.standard_normal((n, 150)).astype(dtype)
    x = np.asarray(un.linalg.solve(u, un.array(right)))
    bound = 1e2 * n * eps * np.abs(x).max()
    assert np.abs(a @ x - right).max() < bound
    inverse = np.asarray(un.linalg.inv(u))
    assert np.abs(a @ inverse - np.eye(n)).max() < 1e2 * n * eps * np.abs(inverse).max()
    sign, logarithm = un.linalg.slogdet(u)
    expected = np.linalg.slogdet(a.astype("complex128" if a.dtype.kind == "c" else "float64"))
    np.testing.assert_allclose(complex(sign), expected[0], atol=1e4 * eps)
    np.testing.assert_allclose(float(logarithm), expected[1], rtol=1e4 * eps)


def test_large_matrices_without_a_factor():
    n = 500
    a = np.random.default_rng(1).standard_normal((n, n))
    a[:, 400] = 0
    for refused in (un.linalg.inv, lambda x: un.linalg.solve(x, un.ones(n))):
        with pytest.raises(un.linalg.LinAlgError, match="ingular"):
            refused(un.array(a))
    assert float(un.linalg.det(un.array(a))) == 0
    with pytest.raises(un.linalg.LinAlgError, match="positive"):
        un.linalg.cholesky(un.array(np.eye(n) - np.diag(np.arange(n) == 450) * 2.0))


def test_tiles_have_the_same_bits_for_any_threads():
    a = np.random.default_rng(2).standard_normal((600, 600))
    results = []
    for threads in (1, 2, 3, 7):
        un.set_num_threads(threads)
        try:
            u = un.array(a)
            parts = [un.linalg.cholesky(u @ u.T + un.eye(600)), un.linalg.inv(u)]
            results.append([np.asarray(p).tobytes() for p in parts])
        finally:
            un.set_num_threads(len(os.sched_getaffinity(0)))
    assert all(r == results[0] for r in results)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(("n", "k"), [(3, 1), (50, 150), (40, 333), (200, 33)])
def test_many_right_sides(n, k, dtype):
    """Right sides are solved in tiles: those of a tile's end and of the last one."""
    r = np.random.default_rng(n)
    a = (r.random((n, n)) + np.eye(n) * n).astype(dtype)
    b = r.random((n, k)).astype(dtype)
    x = np.asarray(un.linalg.solve(un.asarray(a), un.asarray(b)))
    np.testing.assert_allclose(a @ x, b, rtol=0, atol=50 * n * np.finfo(dtype).eps)
    compiled = un.jit(lambda a, b: (np.linalg.solve(a, b), np.linalg.inv(a)))(a, b)
    assert np.asarray(compiled[0]).tobytes() == x.tobytes()
    np.testing.assert_allclose(
        a @ np.asarray(compiled[1]), np.eye(n), atol=50 * n * np.finfo(dtype).eps
    )


@pytest.mark.parametrize("n", [3, 4, 5, 7])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_not_finite_stays_in_its_unknowns(n, dtype):
    """As NumPy: unknowns behind an infinite right side are lost, those in front of it are not."""
    right = np.zeros((n, 9), dtype=dtype)
    right[n - 1] = np.inf
    for k in (7, 9):
        got = np.asarray(un.linalg.solve(un.eye(n, dtype=dtype), un.array(right[:, :k])))
        assert np.all(np.isinf(got[n - 1]))
