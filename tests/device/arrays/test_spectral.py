"""Singular values, eigenvalues and least squares of matrices of any size on every device, which keeps their data."""

import numpy as np
import pytest
import unisono as un
from device_arrays import both

DTYPES = ["float32", "float64", "complex64", "complex128"]
SIZES = [1, 2, 3, 17, 64, 130, 200]


def random_matrix(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    return a.astype(dtype)


def of_values(m, n, values, dtype):
    """A matrix with given singular values."""
    k = len(values)
    u, v = (np.linalg.qr(random_matrix((e, k), "complex128", e))[0] for e in (m, n + 1))
    if dtype[0] == "f":
        u, v = (np.linalg.qr(random_matrix((e, k), "float64", e))[0] for e in (m, n + 1))
    return ((u * values) @ np.linalg.qr(v[:n])[0].conj().T).astype(dtype)


def kinds(n, dtype):
    """Hermitian matrices that are hard in some way."""
    q = np.linalg.qr(random_matrix((n, n), "complex128" if dtype[0] == "c" else "float64"))[0]
    middle = {
        "random": None,
        "zeros": np.zeros(n),
        "identity": np.ones(n),
        "repeated": np.arange(n) // 5 - 2.0,
        "low rank": np.where(np.arange(n) < max(1, n // 4), np.arange(n) + 1.0, 0.0),
        "graded": 10.0 ** -np.linspace(0, 20, n),
        "large": np.linspace(-1e18, 2e18, n),
        "small": np.linspace(-1e-18, 2e-18, n),
    }
    for name, values in middle.items():
        if name == "random":
            a = random_matrix((n, n), dtype, 3)
            yield name, ((a + a.conj().T) / 2).astype(dtype)
        elif name in ("zeros", "identity"):
            yield name, np.diag(values).astype(dtype)
        else:
            a = (q * values) @ q.conj().T
            yield name, ((a + a.conj().T) / 2).astype(dtype)
    yield "diagonal", np.diag(np.arange(n)[::-1] % 7).astype(dtype)
    yield "tridiagonal", (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)).astype(dtype)
    yield "ones", np.ones((n, n), dtype)


class Copies:
    """Counts what is copied between host and device inside of a block, which ends when all is done."""

    def __enter__(self):
        un.eval()
        self.before = un.stats()["bytes_copied"]
        return self

    def __exit__(self, *fault):
        self.bytes = un.stats()["bytes_copied"] - self.before


def computed(f, *given):
    """What f gives, and the bytes copied for it."""
    un.eval(*(x for x in given if isinstance(x, un.ndarray)))
    with Copies() as copies:
        made = f(*given)
        un.eval(*(x for x in (made if isinstance(made, tuple) else (made,))))
    return made, copies.bytes


def on(device, *arrays):
    return both(device, *arrays)


def wide(*arrays):
    return [
        np.asarray(x).astype("complex128" if x.dtype.kind == "c" else "float64") for x in arrays
    ]


def bound(a, n):
    """A few roundings of each of n elements, beside the largest one."""
    return 4 * max(n, 8) * np.finfo(a.dtype).eps


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigh(device, dtype, n):
    for name, a in kinds(n, dtype):
        (x,) = on(device, a)
        (w, v), copied = computed(un.linalg.eigh, x)
        assert copied == 0
        assert w.device == v.device == device and v.dtype == a.dtype
        assert w.dtype == np.linalg.eigvalsh(a).dtype
        size = float(np.linalg.norm(a.astype("complex128"), 2))
        w, v, known = wide(w, v, a)
        assert (np.diff(w) >= 0).all(), name
        assert abs(v.conj().T @ v - np.eye(n)).max() <= bound(a, n), name
        assert abs(known @ v - v * w).max() <= bound(a, n) * size, name
        assert abs(w - np.linalg.eigvalsh(known)).max() <= bound(a, n) * size, name
        alone, copied = computed(un.linalg.eigvalsh, x)
        assert copied == 0 and abs(wide(alone)[0] - w).max() <= bound(a, n) * size, name
        (upper,) = on(device, np.triu(a) + 9 * np.tril(np.ones((n, n), dtype), -1))
        upper, copied = computed(lambda y: un.linalg.eigvalsh(y, "U"), upper)
        assert copied == 0 and abs(wide(upper)[0] - w).max() <= bound(a, n) * size, name


def rectangles(n, dtype):
    yield from ((f"square {name}", a) for name, a in kinds(n, dtype))
    yield "not symmetric", random_matrix((n, n), dtype, 5)
    yield "tall", random_matrix((2 * n + 3, n), dtype, 6)
    yield "wide", random_matrix((n, n + 9), dtype, 7)
    yield "row", random_matrix((1, 5 * n), dtype, 8)
    yield "column", random_matrix((4 * n, 1), dtype, 9)
    if n > 3:
        yield "tall of low rank", of_values(n + 50, n, np.arange(1.0, n // 3 + 1), dtype)
        yield "wide of low rank", of_values(n, n + 50, np.arange(1.0, n // 3 + 1), dtype)
        yield "shifted", np.eye(n, k=2, dtype=dtype)
        yield "bidiagonal with a zero", np.diag(np.arange(n) % 4).astype(dtype) + np.eye(n, k=1, dtype=dtype)  # fmt: skip


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_svd(device, dtype, n):
    for name, a in rectangles(n, dtype):
        (x,) = on(device, a)
        size = float(np.linalg.norm(a.astype("complex128"), 2))
        limit = bound(a, max(a.shape))
        (known,) = wide(a)
        values = np.linalg.svd(known, compute_uv=False)
        for full in (False, True):
            (u, s, vh), copied = computed(
                lambda y, full=full: un.linalg.svd(y, full_matrices=full), x
            )
            assert copied == 0
            expected = np.linalg.svd(a, full_matrices=full)
            assert [(y.shape, y.dtype) for y in (u, s, vh)] == [
                (y.shape, y.dtype) for y in expected
            ]
            assert all(y.device == device for y in (u, s, vh))
            u, s, vh = wide(u, s, vh)
            k = s.size
            assert (s >= 0).all() and (np.diff(s) <= 0).all(), name
            assert abs(s - values).max() <= limit * size, name
            assert abs((u[:, :k] * s) @ vh[:k] - known).max() <= limit * size, name
            assert abs(u.conj().T @ u - np.eye(u.shape[1])).max() <= limit, name
            assert abs(vh @ vh.conj().T - np.eye(vh.shape[0])).max() <= limit, name
        alone, copied = computed(un.linalg.svdvals, x)
        assert copied == 0 and abs(wide(alone)[0] - values).max() <= limit * size, name


@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks(device, dtype):
    a = random_matrix((2, 3, 41, 37), dtype)
    a[1, 0] = 0
    a[0, 2, :, 20:] = 0
    (x,) = on(device, a)
    (u, s, vh), copied = computed(lambda y: un.linalg.svd(y, full_matrices=False), x)
    assert copied == 0
    u, s, vh = wide(u, s, vh)
    np.testing.assert_allclose((u * s[..., None, :]) @ vh, a, atol=20 * bound(a, 41))
    np.testing.assert_allclose(s, np.linalg.svd(a)[1], atol=20 * bound(a, 41))
    h = a[..., :37, :] + a[..., :37, :].conj().swapaxes(-1, -2)
    (x,) = on(device, h)
    (w, v), copied = computed(un.linalg.eigh, x)
    assert copied == 0
    w, v = wide(w, v)
    np.testing.assert_allclose(h @ v, v * w[..., None, :], atol=20 * bound(a, 41))
    np.testing.assert_allclose(w, np.linalg.eigvalsh(h), atol=20 * bound(a, 41))


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_several_pieces(device, dtype):
    """Of matrices so large that several work-items multiply by each reflection."""
    n = 290
    a = random_matrix((n, n), dtype)
    (x, y) = on(device, a, a + a.conj().T)
    (u, s, vh), (w, v) = un.linalg.svd(x), un.linalg.eigh(y)
    u, s, vh, w, v = wide(u, s, vh, w, v)
    limit = bound(a, n) * float(s[0])
    assert abs((u * s) @ vh - a).max() <= limit
    assert abs((a + a.conj().T) @ v - v * w).max() <= 2 * limit


def test_empty(device):
    for shape in ((0, 40, 40), (0, 0), (3, 0, 0)):
        (x,) = on(device, np.zeros(shape))
        w, v = un.linalg.eigh(x)
        assert w.shape == shape[:-1] and v.shape == shape
    for shape in ((0, 40, 40), (0, 5), (5, 0), (2, 50, 0)):
        a = np.zeros(shape)
        (x,) = on(device, a)
        for full in (False, True):
            got, expected = (xp.linalg.svd(y, full_matrices=full) for xp, y in ((un, x), (np, a)))
            assert [y.shape for y in got] == [y.shape for y in expected]
        assert un.linalg.svdvals(x).shape == np.linalg.svdvals(a).shape


@pytest.mark.parametrize("n", [3, 70])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite(device, n, value):
    """The errors of the host; infinity has no values on any device."""
    a = np.eye(n) + 1
    a[n // 2, n // 3] = a[n // 3, n // 2] = value
    stack = np.stack([np.eye(n), a, np.eye(n)])
    for given, more in ((a, ""), (stack, "; matrix 1 of the stack")):
        (x,) = on(device, given)
        for f, message in (
            (un.linalg.eigh, "eigh: Eigenvalues did not converge"),
            (un.linalg.eigvalsh, "eigh: Eigenvalues did not converge"),
            (un.linalg.svd, "svd: SVD did not converge"),
            (un.linalg.svdvals, "svd: SVD did not converge"),
        ):
            if device == "cpu" and value == np.inf:
                continue
            if device == "cpu" and f is un.linalg.eigh:
                continue  # LAPACK gives NaN for some
            with pytest.raises(un.linalg.LinAlgError) as fault:
                f(x)
            assert str(fault.value) == message + more
    (x, y) = on(device, a, np.ones(n))
    if device != "cpu" or np.isnan(value):
        with pytest.raises(un.linalg.LinAlgError, match="lstsq: SVD did not converge"):
            un.linalg.lstsq(x, y)


@pytest.mark.parametrize("n", [3, 40, 70])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_matrices_at_the_ends_of_the_range(device, dtype, n):
    """What they are divided by may have no inverse of full precision."""
    limits = np.finfo(dtype)
    for size in (256 * limits.smallest_subnormal, limits.tiny / 8, limits.max / (8 * n)):
        a = (random_matrix((n, n), "complex128") * 0.1 * float(size)).astype(dtype)
        h = np.tril(a) + np.tril(a, -1).conj().T
        np.fill_diagonal(h, h.diagonal().real)
        x, y = on(device, a, h)
        known, known_h = wide(a, h)
        least = float(limits.smallest_subnormal)
        norm = float(np.linalg.svd(known, compute_uv=False)[0])
        near = 4 * bound(a, n) * norm + 2 * n * least
        values = np.asarray(un.linalg.eigvals(x)).astype("complex128")
        assert abs(values.sum() - np.trace(known)) <= n * near
        values = np.asarray(un.linalg.svdvals(x)).astype("float64")
        assert abs(values - np.linalg.svd(known, compute_uv=False)).max() <= near
        values = np.asarray(un.linalg.eigvalsh(y)).astype("float64")
        assert abs(values - np.linalg.eigvalsh(known_h)).max() <= near


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 2), (17, 17), (130, 64), (64, 130), (200, 200), (300, 5)]
)
def test_least_squares(device, dtype, shape):
    """Of full and of lower rank; the rank alone comes to the host."""
    m, n = shape
    small = max(1, min(m, n) // 2)
    for a in (random_matrix(shape, dtype), of_values(m, n, np.linspace(1, 2, small), dtype)):
        for b in (random_matrix((m, 3), dtype, 1), random_matrix((m,), dtype, 2)):
            x, y = on(device, a, b)
            (got, residuals, rank, s), copied = computed(
                lambda x, y: un.linalg.lstsq(x, y, 1e-4), x, y
            )
            assert copied <= 16
            expected = np.linalg.lstsq(a, b, 1e-4)
            assert got.device == s.device == device and got.dtype == expected[0].dtype
            assert int(rank) == expected[2]
            scale = (
                max(1, float(abs(expected[0]).max())) * expected[3][0] / expected[3][int(rank) - 1]
            )
            np.testing.assert_allclose(np.asarray(got), expected[0], atol=bound(a, m) * scale * 4)
            np.testing.assert_allclose(
                np.asarray(s), expected[3], atol=bound(a, m) * expected[3][0]
            )
            assert residuals.shape == expected[1].shape
            least = bound(a, m) * float(np.linalg.norm(b)) ** 2
            np.testing.assert_allclose(
                np.asarray(residuals), expected[1], rtol=bound(a, m), atol=least
            )


def test_what_is_made_of_them(device):
    a = of_values(90, 70, np.linspace(1, 2, 60), "float64")
    x, grid, values = on(device, a, np.linspace(-1, 1, 500), np.linspace(-1, 1, 500) ** 3)
    for f in (
        lambda xp, x: xp.linalg.pinv(x, 1e-9),
        lambda xp, x: xp.linalg.matrix_rank(x),
        lambda xp, x: xp.linalg.norm(x, 2),
        lambda xp, x: xp.linalg.norm(x, "nuc"),
        lambda xp, x: xp.linalg.cond(x[:, :50]),
    ):
        made, copied = computed(lambda y, f=f: f(un, y), x)
        assert copied == 0
        np.testing.assert_allclose(np.asarray(made), f(np, a), rtol=1e-10, atol=1e-12)
    made, copied = computed(lambda x, y: un.polyfit(x, y, 5), grid, values)
    assert copied <= 16
    np.testing.assert_allclose(np.asarray(made), [0, 0, 1, 0, 0, 0], atol=1e-13)


def general(n, dtype):
    """Matrices without symmetry, of which some have no n vectors."""
    rng = np.random.default_rng(n)
    yield "random", random_matrix((n, n), dtype, 3)
    yield "sparse", random_matrix((n, n), dtype, 4) * (rng.random((n, n)) < 0.15)
    yield "zeros", np.zeros((n, n), dtype)
    yield "ones", np.ones((n, n), dtype)
    yield "nilpotent", np.eye(n, k=1, dtype=dtype)
    yield "permutation", np.eye(n, dtype=dtype)[rng.permutation(n)]
    yield "upper", np.triu(random_matrix((n, n), dtype, 5))
    yield "symmetric", random_matrix((n, n), dtype, 6) + random_matrix((n, n), dtype, 6).T
    yield "repeated", (np.diag(np.arange(n) % 3) + np.eye(n, k=1)).astype(dtype)
    yield "large", random_matrix((n, n), dtype, 7) * np.asarray(1e18, dtype)
    yield "small", random_matrix((n, n), dtype, 8) * np.asarray(1e-18, dtype)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 17, 32, 50, 65, 130, 200])
@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(device, dtype, n):
    for name, a in general(n, dtype):
        a = a.astype(dtype)
        (x,) = on(device, a)
        (w, v), copied = computed(un.linalg.eig, x)
        # Whether all values are real is asked where `a` is.
        assert copied <= 1
        assert w.device == v.device == device
        if name in ("random", "upper", "symmetric", "permutation"):
            expected = np.linalg.eig(a)
            assert (w.dtype, v.dtype) == tuple(y.dtype for y in expected)
        (known,) = wide(a)
        w, v = (np.asarray(y).astype("complex128") for y in (w, v))
        size = float(np.linalg.norm(known, 2))
        assert abs(known @ v - v * w).max() <= 2 * bound(a, n) * size, name
        assert abs(np.linalg.norm(v, axis=0) - 1).max() <= bound(a, n), name
        values, copied = computed(un.linalg.eigvals, x)
        assert copied <= 1
        gaps = abs(np.asarray(values) - w)
        if device == "cpu":  # its library finds the values alone in another way, and order
            gaps = abs(np.asarray(values)[:, None] - w).min(axis=0)
        assert gaps.max() <= bound(a, n) * max(size, 1), name


@pytest.mark.parametrize("n", [9, 70])
def test_eig_of_stacks(device, n):
    for dtype in ("float64", "complex64"):
        a = random_matrix((3, 4, n, n), dtype)
        a[1, 2] = np.triu(a[1, 2])
        a[0, 1] = 0
        (x,) = on(device, a)
        (w, v), copied = computed(un.linalg.eig, x)
        assert copied <= 1
        w, v = (np.asarray(y).astype("complex128") for y in (w, v))
        np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=100 * bound(a, n))
        # Conjugate values come one after the other, that above the axis first.
        if dtype == "float64":
            first = np.nonzero(w.imag > 0)
            np.testing.assert_array_equal(w[first].conj(), w[(*first[:-1], first[-1] + 1)])
    a[2, 2, 0, 0] = np.nan
    (x,) = on(device, a)
    with pytest.raises(un.linalg.LinAlgError, match="eig: Array must not contain infs or NaNs"):
        un.linalg.eig(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig_of_badly_scaled_matrices(device, dtype):
    """Rows and columns of different sizes: values are those of the matrix whose sizes are alike."""
    n = 90
    a = random_matrix((n, n), dtype)
    sizes = (10.0 ** (np.arange(n) % 7 - 3)).astype(dtype)
    (x,) = on(device, a / sizes[:, None] * sizes)
    w, v = (np.asarray(y).astype("complex128") for y in un.linalg.eig(x))
    expected = np.linalg.eigvals(*wide(a))
    gaps = abs(w[:, None] - expected).min(axis=0)
    assert gaps.max() <= 50 * bound(a, n) * abs(expected).max()
    v = v * sizes.astype("complex128")[:, None]
    assert (abs(a @ v - v * w).max(axis=0) <= bound(a, n) * 50 * abs(v).max(axis=0)).all()


@pytest.mark.parametrize("n", [1, 4, 20, 70])
@pytest.mark.parametrize("dtype", DTYPES)
def test_eig_of_matrices_that_are_triangular_in_some_order(device, dtype, n):
    """Rounding would move values of such matrices far; also where a block in the middle is left."""
    order = np.random.default_rng(n).permutation(n)
    a = np.tril(random_matrix((n, n), dtype, n))
    for given in (a, a.T, a[order][:, order]):
        (x,) = on(device, given)
        values, vectors = (np.asarray(v) for v in un.linalg.eig(x))
        np.testing.assert_array_equal(np.sort_complex(values), np.sort_complex(np.diag(a)))
        assert abs(given @ vectors - vectors * values).max() <= 10 * bound(a, n)
    if n < 20:
        return
    a[5:9, 5:9] = random_matrix((4, 4), dtype, 1)
    (x,) = on(device, a[order][:, order])
    found = np.asarray(un.linalg.eigvals(x))
    alone = np.delete(np.diag(a), range(5, 9))
    assert np.isin(alone, found).all()
    np.testing.assert_allclose(
        np.sort_complex(found[~np.isin(found, alone)]),
        np.sort_complex(np.linalg.eigvals(a[5:9, 5:9])),
        rtol=1000 * bound(a, 1),
    )


def test_what_is_made_of_general_eigenvalues(device):
    p = np.poly(np.linspace(-1, 1, 9))
    p = np.concatenate([p, random_matrix(70, "float64", 2)])
    (x,) = on(device, p)
    made, copied = computed(un.roots, x)
    assert copied <= 40
    got = np.asarray(made)
    assert abs(np.polyval(p, got) / np.polyval(abs(p), abs(got))).max() <= 1e-11


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig_of_graded_matrices(device, dtype):
    """Frank's matrix, whose vectors had large residuals with rows and columns of like sums."""
    n = 150
    a = np.triu(np.ones((n, 1)) * np.arange(n, 0, -1)) + np.diag(np.arange(n - 1, 0, -1), -1)
    a = a.astype(dtype)
    (x,) = on(device, a)
    w, v = (np.asarray(y).astype("complex128") for y in un.linalg.eig(x))
    (known,) = wide(a)
    size = float(np.linalg.norm(known, 2))
    assert abs(known @ v - v * w).max() <= 2 * bound(a, n) * size
