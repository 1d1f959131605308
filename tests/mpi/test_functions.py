"""Functions of distributed arrays against NumPy, whatever their layouts and however many ranks there are."""

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
p = mesh.size
lengths = sorted({0, 1, max(p - 1, 0), p, p + 1, 13, 37})
_rng = np.random.default_rng(3)


def vector(n):
    return _rng.integers(-9, 9, n).astype(float)


def table(n, m=5):
    return _rng.integers(-9, 9, (n, m)).astype(float)


def check(function, *arrays, exact=True, ours=un):
    """`function(package, *arrays)` of ours and of NumPy."""
    want = function(np, *(a.copy() for a in arrays))
    got = function(ours, *(un.asarray(a, mesh=mesh) for a in arrays))
    if not isinstance(want, tuple):
        want, got = (want,), (got,)
    for w, g in zip(want, got, strict=True):
        w, g = np.asarray(w), np.asarray(g)
        assert g.shape == w.shape
        if exact:
            assert g.dtype == w.dtype
            np.testing.assert_array_equal(g, w)
        else:
            np.testing.assert_allclose(g, w, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n", lengths)
def test_order_of_vectors(n):
    x = vector(n)
    x[n // 2 :: 3] = np.nan
    check(lambda np, x: np.sort(x), x)
    check(lambda np, x: np.argsort(x, stable=True), x)
    check(lambda np, x: np.sort(x[::2]), x)
    check(lambda np, x: np.unique(x), x)
    # NumPy's inverse of several NaN is the first of them, too.
    y = vector(n)
    check(lambda np, y: tuple(np.unique(y, True, True, True)), y)
    if n > 0:
        check(lambda np, y: (np.argmax(y), np.argmin(y), np.argmax(y[::-1])), y)
        assert int(un.argmax(un.asarray(x, mesh=mesh))) == np.argmax(x)
    ours = un.sort(un.asarray(y, mesh=mesh), descending=True)
    np.testing.assert_array_equal(np.asarray(ours), np.sort(y)[::-1])
    order = np.asarray(un.argsort(un.asarray(y, mesh=mesh), descending=True, stable=True))
    np.testing.assert_array_equal(order, np.argsort(-y, stable=True))
    i = y.astype("int32") % 3
    check(lambda np, i: np.sort(i), i)
    check(lambda np, i: np.argsort(i, stable=True), i)


@pytest.mark.parametrize("kind", ["random", "equal", "few", "sorted", "skewed"])
def test_order_of_long_vectors(kind):
    """Of which each rank has several ranges."""
    n = 70_001 * p + 3
    x = _rng.random(n)
    x = {"equal": x * 0, "few": np.floor(x * 4), "sorted": np.sort(x), "skewed": x**40}.get(kind, x)
    for t in ("float64", "float32", "int16", "bool"):
        y = (x * (1 if t[0] == "f" else 300)).astype(t)
        check(lambda np, y: np.sort(y), y)
        check(lambda np, y: np.argsort(y, stable=True), y)
        check(lambda np, y: np.unique(y), y)
    # What was sorted is used like other arrays, halos included; NaN and signed zeros have one rank's bits.
    check(lambda np, x: np.diff(np.sort(x)), x)
    x[::3], x[1::7], x[2::7] = np.nan, 0.0, -0.0
    ours, alone = un.sort(un.asarray(x, mesh=mesh)), un.sort(un.asarray(x))
    assert np.asarray(ours).tobytes() == np.asarray(alone).tobytes()
    assert ours.local.shape[0] == (mesh.rank + 1) * n // p - mesh.rank * n // p


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int8", "uint64", "bool"])
def test_products_of_panels(dtype):
    a, b = (
        _rng.integers(-9, 9, s).astype(dtype) for s in ((4 * p + 3, 5 * p + 1), (5 * p + 1, 70))
    )
    check(lambda np, a, b: a @ b, a, b)  # of small whole numbers: exactly
    check(lambda np, a, b: a @ b[:, ::2], a, b)
    ours = un.asarray(b, mesh=mesh)
    np.testing.assert_array_equal(np.asarray(un.asarray(a, mesh=mesh) @ ours), a @ b)
    np.testing.assert_array_equal(np.asarray(ours), b)  # it was sent from where it lies


@pytest.mark.parametrize("n", lengths)
def test_order_of_tables(n):
    x = table(n)
    check(lambda np, x: (np.sort(x, axis=0), np.sort(x, axis=1)), x)
    check(lambda np, x: np.argsort(x, axis=0, stable=True), x)
    check(lambda np, x: (np.cumsum(x, axis=0), np.cumsum(x, axis=1), np.cumsum(x)), x)
    check(lambda np, x: np.sort(x.T, axis=1), x)
    if n > 0:
        check(lambda np, x: (np.argmax(x, axis=0), np.argmin(x, axis=1), np.argmax(x)), x)
        check(lambda np, x: (np.median(x, axis=0), np.median(x)), x, exact=False)


@pytest.mark.parametrize("n", lengths)
def test_masks(n):
    v, x = vector(n), table(n)
    check(lambda np, v: v[v > 0], v)
    check(lambda np, x: x[x > 0], x)
    check(lambda np, x: x[x[:, 0] > 0], x)
    check(lambda np, x: x[:, np.asarray([True, False, True, True, False])], x)
    check(lambda np, x: tuple(np.nonzero(x > 2)), x)
    check(lambda np, x: (x[True], x[False], x[..., True, :2]), x)
    check(lambda np, v: np.nonzero(v[::-1] > 2)[0], v)

    def fill(np, v, x):
        a, b, c = v.copy(), x.copy(), x.T.copy()
        a[a > 0] = 0
        b[b < 0] = np.arange(50.0 * 13)[: int((b < 0).sum())]
        c[c > 3] += 1
        return a, b, c

    check(fill, v, x)


@pytest.mark.parametrize("n", [k for k in lengths if k])
def test_positions(n):
    v, x = vector(n), table(n)
    i = _rng.integers(-n, n, 2 * n + 3)
    j = _rng.integers(-5, 5, 2 * n + 3)
    check(lambda np, v, i: v[i], v, i)
    check(lambda np, x, i: x[i], x, i)
    check(lambda np, x, j: x[:, j], x, j)
    check(lambda np, x, i, j: x[i, j], x, i, j)
    check(lambda np, x, i: x[i[:6].reshape(2, 3)], x, np.resize(i, 6))
    check(lambda np, x, i: x[i[:, None], np.arange(3)], x, i)
    check(lambda np, x, i: np.take(x.T, i, axis=1), x, i)
    assert np.array_equal(np.asarray(un.asarray(x, mesh=mesh)[i.tolist()]), x[i])

    def put(np, v, x, i, j):
        a, b, c, d = v.copy(), x.copy(), x.copy(), x.copy()
        a[i] = np.arange(len(i)) * 1.0  # the last of several wins
        b[i] = 7
        c[:, j] = np.arange(len(j)) * 1.0
        d[i, j] = np.arange(len(i)) * 1.0
        return a, b, c, d

    check(put, v, x, i, j)
    with pytest.raises(IndexError, match=f"index {n} is out of bounds for axis 0 with size {n}"):
        un.asarray(v, mesh=mesh)[un.asarray([0, n], mesh=mesh)]


@pytest.mark.parametrize("n", lengths)
def test_joins_and_shifts(n):
    v, x = vector(n), table(n)
    check(lambda np, x: np.concatenate([x, x[: n // 2], x.T[:5, :5].T[:0]]), x)
    check(lambda np, x: np.concatenate([x, x * 2], axis=1), x)
    check(lambda np, v: np.concatenate([v, np.arange(3.0), v[:1]]), v)
    check(lambda np, v: np.concatenate([v[k : k + 2] for k in range(40)]), v)
    check(lambda np, v: (np.stack([v, v + 1]), np.vstack([v, v]), np.tile(v, 3)), v)
    check(lambda np, v: (np.roll(v, 3), np.roll(v, -1), np.flip(v), np.repeat(v, 2)), v)
    check(lambda np, x: (np.roll(x, 2, axis=0), np.roll(x, 1, axis=1), np.rot90(x)), x)
    check(lambda np, x: (np.diff(x, axis=0), np.pad(x, 1), np.swapaxes(x, 0, 1) + 1), x)
    check(lambda np, x: np.broadcast_to(x[:, :1], x.shape) * 1, x)


@pytest.mark.parametrize("n", lengths)
def test_counts(n):
    v = vector(n)
    i = _rng.integers(0, 6, n)
    check(lambda np, i: np.bincount(i, minlength=8), i)
    check(lambda np, i, v: np.bincount(i, v, minlength=8), i, v)
    check(lambda np, v: np.histogram(v, bins=5, range=(-9.0, 9.0))[0], v)
    check(lambda np, v: np.searchsorted(np.arange(-4.0, 4), v), v)
    check(lambda np, v: np.isin(v, [1, 2, 3]), v)
    check(lambda np, v: np.count_nonzero(v > 0), v)


@pytest.mark.parametrize("n", [k for k in lengths if k])
def test_statistics(n):
    x = table(n)
    check(lambda np, x: (np.mean(x), np.mean(x, axis=0), np.std(x, axis=1)), x, exact=False)
    check(lambda np, x: (np.var(x, axis=0), np.ptp(x, axis=0), np.nansum(x)), x, exact=False)
    check(lambda np, x: (np.average(x, axis=0), np.quantile(x, 0.3, axis=1)), x, exact=False)
    check(lambda np, x: (np.cov(x), np.linalg.norm(x), np.logaddexp(x, 1)), x, exact=False)
    check(lambda np, x: (np.maximum.reduce(x), np.add.accumulate(x)), x)


@pytest.mark.parametrize("n", [k for k in lengths if k])
def test_products(n):
    x, y, v = table(n), table(5, n), vector(n)
    check(lambda np, x, y: (x @ y, y @ x), x, y, exact=False)
    check(lambda np, x, y: np.matmul(x, y, out=np.zeros_like(x @ y)), x, y, exact=False)
    check(lambda np, x: (x @ x.T, x.T @ x, x @ x[0], x[:, 0] @ x), x, exact=False)
    check(lambda np, v: (v @ v, np.outer(v, v), np.vdot(v, v)), v, exact=False)
    check(lambda np, x: np.einsum("ij,kj->ik", x, x), x, exact=False)
    check(lambda np, x, y: np.tensordot(x, y, 1), x, y, exact=False)
    t = _rng.standard_normal((n, 3, 3))
    check(lambda np, t: t @ t, t, exact=False)


@pytest.mark.parametrize("n", lengths)
def test_diagonals(n):
    x = table(n)
    check(lambda np, x: (np.diagonal(x), np.diagonal(x, 1), np.diagonal(x[::-1], -1)), x)
    check(lambda np, x: (np.trace(x), np.tril(x), np.diag(x[:, 0]), x + np.eye(n, 5)), x)

    def fill(np, x):
        y = x.copy()
        np.fill_diagonal(y, 3)
        return y

    if n > 0:
        check(fill, x)
    with un.device(mesh):
        np.testing.assert_array_equal(np.asarray(un.eye(n)), np.eye(n))


@pytest.mark.parametrize("n", [1, 5, 12])
def test_linear_algebra(n):
    s = _rng.standard_normal((n, n))
    s = s @ s.T + n * np.eye(n)
    b, t = _rng.standard_normal((n, 3)), _rng.standard_normal((p + 1, 4, 4))
    check(lambda np, s, b: np.linalg.solve(s, b), s, b, exact=False)
    check(lambda np, s: (np.linalg.inv(s), np.linalg.det(s)), s, exact=False)
    check(lambda np, s: np.linalg.cholesky(s), s, exact=False)
    check(lambda np, s: (np.linalg.eigvalsh(s), np.linalg.svd(s)[1]), s, exact=False)
    check(lambda np, s: np.sort(np.linalg.eigvals(s)), s, exact=False)
    check(lambda np, b: np.abs(np.linalg.qr(b)[1]), b, exact=False)
    check(lambda np, t: np.linalg.inv(t), t, exact=False)
    with pytest.raises(np.linalg.LinAlgError):
        un.linalg.inv(un.zeros((3, 3), mesh=mesh))
    t[-1] = 0  # of the last rank only; all raise
    with pytest.raises(np.linalg.LinAlgError):
        un.linalg.inv(un.asarray(t, mesh=mesh))
    check(lambda np, s: np.linalg.inv(s), s, exact=False)


@pytest.fixture
def small_blocks(monkeypatch):
    """Matrices are factored by blocks of three rows or columns, from 64 bytes on."""
    from unisono.linalg import _bands, _bidiagonal, _blocks, _hessenberg, _tridiagonal

    monkeypatch.setattr(_blocks, "block_of", lambda n: 3)
    monkeypatch.setattr(_bands, "_width", 3)
    monkeypatch.setattr(_tridiagonal, "_width", 3)
    monkeypatch.setattr(_hessenberg, "_width", 3)
    monkeypatch.setattr(_bidiagonal, "_width", 3)
    monkeypatch.setattr(un._engine, "_alike_rotated_bytes", 63)
    monkeypatch.setattr(un._engine, "_alike_bytes", 63)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [4, 6, 23])
def test_matrices_are_factored_by_blocks(n, dtype, small_blocks):
    a = _rng.standard_normal((n, n)) + (1j * _rng.standard_normal((n, n)) if dtype[0] == "c" else 0)
    a[0] = 0.5 * a[-1]  # rows change places
    a[0, 0] += 1
    s, b = a @ a.conj().T + n * np.eye(n), _rng.standard_normal((n, 2))
    a, s, b = a.astype(dtype), s.astype(dtype), b.astype(dtype)
    limit = {"rtol": 1e-3, "atol": 1e-3} if dtype in ("float32", "complex64") else {"rtol": 1e-9}
    gathered = un.stats()["bytes_gathered"]
    for layout in ("block", (None, "block"), ("cyclic", None)):
        spread = un.asarray(s, mesh=mesh).to_layout(layout)
        lower = un.linalg.cholesky(un.tril(spread))
        np.testing.assert_allclose(np.asarray(lower), np.linalg.cholesky(s), **limit)
        upper = un.linalg.cholesky(un.triu(spread), upper=True)
        np.testing.assert_allclose(np.asarray(upper), np.linalg.cholesky(s).conj().T, **limit)
        spread = un.asarray(a, mesh=mesh).to_layout(layout)
        for right in (b, b[:, 0]):
            want = np.linalg.solve(a, right)
            for given in (un.asarray(right, mesh=mesh), un.asarray(right)):
                found = un.linalg.solve(spread, given)
                assert found.mesh == mesh and found.dtype == dtype
                np.testing.assert_allclose(np.asarray(found), want, **limit)
        np.testing.assert_array_equal(np.asarray(spread), a)  # not written to
    assert p == 1 or un.stats()["bytes_gathered"] > gathered


def test_refused_matrices_are_refused_by_blocks_on_all_ranks(small_blocks):
    s = np.eye(11)
    s[7, 7] = -1
    with pytest.raises(np.linalg.LinAlgError, match="cholesky: Matrix is not positive definite"):
        un.linalg.cholesky(un.asarray(s, mesh=mesh))
    s[7, 7] = 0
    with pytest.raises(np.linalg.LinAlgError, match="solve: Singular matrix"):
        un.linalg.solve(un.asarray(s, mesh=mesh), un.ones(11, mesh=mesh))
    assert float(un.ones(11, mesh=mesh).sum()) == 11


class Ungathered:
    """Fails where ranks got all of an array, outside of NumPy's view of it."""

    def __enter__(self):
        un.synchronize()
        self.before = un.stats()["bytes_gathered"]

    def __exit__(self, *_):
        un.synchronize()
        assert un.stats()["bytes_gathered"] == self.before


# More than ranks may get all of.
many = 9001


def ungathered(function, *arrays):
    """`function(package, *arrays)` of NumPy and of ours, which sends no array to all ranks."""
    want = function(np, *(a.copy() for a in arrays))
    given = [un.asarray(a, mesh=mesh) for a in arrays]
    with Ungathered():
        got = function(un, *given)
        un.synchronize()
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_in_long_vectors(side):
    v = np.sort(vector(many) * 3)
    v[-7:] = np.nan
    x = np.concatenate([vector(many) * 2, [np.nan, -1e9, 1e9]])
    ungathered(lambda np, v, x: np.searchsorted(v, x, side), v, x)
    ungathered(lambda np, v, x: np.searchsorted(v, x[::-2].reshape(-1, 2), side), v, x)
    ungathered(lambda np, v: np.searchsorted(v, v[3], side), v)
    z = v[: many - 7] + 1j
    ungathered(lambda np, z: np.searchsorted(z, z[::-1], side), z)
    small = un.asarray(x[:11], mesh=mesh)
    want = np.searchsorted(v, x[:11], side)
    np.testing.assert_array_equal(un.searchsorted(un.asarray(v, mesh=mesh), small, side), want)


@pytest.mark.parametrize("k", [0, 1, 500, 6000, many])
@pytest.mark.parametrize("largest", [True, False])
def test_the_best_of_long_vectors(k, largest):
    v = vector(many)
    v[::1000] = np.nan
    order = np.argsort(v, stable=True)
    if largest:
        order = many - 1 - np.argsort(v[::-1], stable=True)[::-1]
    x = un.asarray(v, mesh=mesh)
    with Ungathered():
        values, places = un.top_k(x, k, largest=largest)
        un.eval(values, places)
    np.testing.assert_array_equal(np.asarray(places), order[:k])
    np.testing.assert_array_equal(np.asarray(values), v[order[:k]])


def test_partitions_of_long_vectors():
    v = vector(many)
    x = un.asarray(v, mesh=mesh)
    for k in (0, 77, [5, many - 1]):
        with Ungathered():
            values, places = un.partition(x, k), un.argpartition(x, k)
            un.synchronize()
        values, places = np.asarray(values), np.asarray(places)
        np.testing.assert_array_equal(values[k], np.sort(v)[k])
        np.testing.assert_array_equal(v[places][k], np.sort(v)[k])
        np.testing.assert_array_equal(np.sort(places), np.arange(many))
    ungathered(lambda np, v: np.median(v) + np.percentile(v, 30), v)


def test_segments_of_long_vectors():
    v = vector(many)
    for begins in (
        np.arange(0, many, 7),
        np.sort(_rng.integers(0, many, 50)),
        np.array([many - 1]),
        np.array([3, 3, 5, 5, many - 1, many - 1]),
    ):
        ungathered(lambda np, v, b: np.add.reduceat(v, b), v, begins)
        ungathered(lambda np, v, b: np.maximum.reduceat(v, b), v, begins)
    x = un.asarray(_rng.standard_normal(many))
    begins = un.asarray([0, 5, 4000, 4001])
    ours = un.add.reduceat(x.to_device(mesh), begins.to_device(mesh))
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(un.add.reduceat(x, begins)))
    check(lambda np, v, b: np.add.reduceat(v, b), v, np.array([5, 2, 8000, 0]))


def test_long_vectors_are_rearranged_where_they_are():
    v, i = vector(many), _rng.integers(0, many, many)
    ungathered(lambda np, v, i: np.repeat(v, i % 3), v, i)
    ungathered(lambda np, v: np.extract(v > 0, v), v)
    ungathered(lambda np, v: v[np.nonzero(v > 3)], v)
    ungathered(lambda np, v: np.stack([v, 2 * v]), v)
    ungathered(lambda np, v: np.stack([v, 2 * v], -1), v)
    x = un.stack([un.asarray(v, mesh=mesh)] * 2)
    assert p == 1 or x.layout == (None, "block")
    steps = np.linspace(-9, 9, 50)
    ungathered(lambda np, v: np.interp(v, steps, np.cos(steps)), v)


def test_a_table_of_the_host_is_taken_from_at_spread_positions():
    table, i = vector(50), _rng.integers(-50, 50, many)
    ours, want = un.asarray(table), table[i]
    with Ungathered():
        made = ours[un.asarray(i, mesh=mesh)]
    ours[:] = 0  # what was taken stays
    assert made.mesh == mesh
    np.testing.assert_array_equal(np.asarray(made), want)
    rows = un.asarray(table.reshape(10, 5))
    made = rows[un.asarray(i % 10, mesh=mesh), 1:]
    np.testing.assert_array_equal(np.asarray(made), table.reshape(10, 5)[i % 10, 1:])


@pytest.mark.parametrize("n", [1, 4, 13])
def test_transforms(n):
    x, v = table(n, 6), vector(n)
    check(lambda np, v: np.fft.fft(v), v, exact=False)
    check(lambda np, x: (np.fft.fft(x), np.fft.fft(x, axis=0)), x, exact=False)
    check(lambda np, x: (np.fft.fft2(x), np.fft.rfft(x)), x, exact=False)


def test_rows_that_go_to_their_next_reader_as_they_are_computed():
    """What is computed in runs of rows has the bits of the whole, and lies as who reads it first wants it."""
    x = _rng.standard_normal((2403, 1021))  # uneven, and of several runs on each of four ranks
    g, z = un.asarray(x, mesh=mesh), x + 1j * x[::-1]
    rows = un.fft.fft(g + 1j * g[::-1])
    both = un.fft.fft(rows, axis=0)
    un.eval(both)
    assert p == 1 or rows.layout == both.layout == (None, "block")
    want = un.fft.fft(un.asarray(z))
    np.testing.assert_array_equal(np.asarray(rows), np.asarray(want))
    np.testing.assert_array_equal(np.asarray(both), np.asarray(un.fft.fft(want, axis=0)))
    check(lambda np, x: np.sort(np.sort(x, axis=1), axis=0), x)
    x = np.rint(9 * x[::4, ::4])
    check(lambda np, x: np.sort(x) + np.cumsum(np.sort(x), axis=0), x)

    def between(np, x):
        s = np.sort(x)
        s[3:5] = 1
        t = np.sort(s[::-2, 5:], axis=0)
        return s, t

    check(between, x)


@pytest.mark.parametrize("n", [16, 36, 7 * 9, 31, 2 * 37, 64 * 25])
def test_a_long_vector_is_transformed_by_parts(n, monkeypatch):
    monkeypatch.setattr(un._engine, "_alike_bytes", 63)
    x = _rng.standard_normal(n)
    for norm in ("backward", "ortho", "forward"):
        check(lambda np, x: np.fft.fft(x, norm=norm), x + 1j * x[::-1], exact=False)  # noqa: B023
        check(lambda np, x: np.fft.ifft(x, norm=norm), x + 1j * x[::-1], exact=False)  # noqa: B023
    check(lambda np, x: (np.fft.fft(x), np.fft.rfft(x), np.fft.ihfft(x)), x, exact=False)
    check(lambda np, x: (np.fft.fft(x[::2], n), np.fft.rfft(x[::-1])), x, exact=False)
    check(lambda np, x: (np.fft.irfft(x), np.fft.hfft(x + 1j * x[::-1])), x, exact=False)
    check(lambda np, x: (np.fft.irfft(x[:9] * 1j, n), np.fft.ifft(x, n + 5)), x, exact=False)
    small = un.asarray(x.astype("float32"), mesh=mesh)
    made, want = un.fft.fft(small), np.fft.fft(x)
    assert made.dtype == "complex64" and made.mesh == mesh
    np.testing.assert_allclose(np.asarray(made), want, atol=1e-5 * abs(want).max())
    np.testing.assert_array_equal(np.asarray(small), x.astype("float32"))


def test_ufuncs_at_positions_of_a_column_on_one_rank():
    x = vector(7).reshape(7, 1)
    ours = un.asarray(x, mesh=mesh, layout=(None, "block"))  # whose rows lie apart
    for a in (x, ours):
        (np if a is x else un).add.at(a, [2, 3, 3], -1)
    np.testing.assert_array_equal(np.asarray(ours), x)


@pytest.mark.parametrize("n", [k for k in lengths if k])
def test_ufuncs_at_positions(n):
    v, x = vector(n), table(n)
    i = _rng.integers(-n, n, 3 * n + 1)

    def at(np, v, x, i):
        a, b, c = v.copy(), x.copy(), v.copy()
        np.add.at(a, i, np.arange(len(i)) * 0.1)
        np.multiply.at(b, i, 2.0)
        np.maximum.at(c, i[:4], 3)
        np.add.at(b, (i, 1), 1)
        return a, b, c

    check(at, v, x, i)


@pytest.mark.parametrize("n", lengths)
def test_random_numbers_are_those_of_one_rank(n):
    def draw(device):
        rng = un.random.Generator(un.random.Philox(5))
        return [
            rng.random((n, 3), device=device),
            rng.standard_normal(n, device=device),
            rng.integers(0, 100, (n, 2), device=device),
            rng.random(n, dtype="float32", device=device),
        ]

    for ours, theirs in zip(draw(mesh), draw("cpu"), strict=True):
        assert ours.device == mesh
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def test_what_cannot_be_computed_is_named():
    a = un.zeros((4, 4), mesh=mesh)

    @un.kernel
    def fill(x):
        x[un.global_id(0)] = 1.0

    with pytest.raises(un.UnsupportedError, match="compiled function|mesh"):
        fill[4](a[0])
    assert float((a + 1).sum()) == 16


@pytest.mark.parametrize("n", [1, 511, 512, 513, 1500, 20011])
def test_scans_of_vectors_have_the_bits_of_one_rank(n):
    x = np.random.default_rng(n).normal(size=n)
    for dtype in ("f8", "f4", "f2", "c16", "i4"):
        host = x.astype(dtype) if dtype != "i4" else (x * 100).astype(dtype)
        given = un.asarray(host, mesh=mesh)
        before = un.stats()["bytes_gathered"]
        running = un.cumsum(given)
        float(un.sum(running).real)
        assert un.stats()["bytes_gathered"] == before
        want = np.asarray(un.cumsum(un.asarray(host)))
        got = np.asarray(running)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    for scan in (un.cumulative_prod, un.maximum.accumulate):
        want = scan(un.asarray(x[::-1]))
        np.testing.assert_array_equal(
            np.asarray(scan(un.asarray(x, mesh=mesh)[::-1])), np.asarray(want)
        )


@pytest.mark.parametrize("shape", [(8 * p + 3, 5), (p, 1), (40 * p, 12), (2 * p, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_factors_of_tall_matrices(shape, dtype):
    x = np.random.default_rng(2).normal(size=shape).astype(dtype)
    tolerance = 1e-11 if dtype == "f8" else 1e-4
    g = un.asarray(x, mesh=mesh)
    before = un.stats()["bytes_gathered"]
    q, r = un.linalg.qr(g)
    alone = un.linalg.qr(g, mode="r")
    u, s, v = un.linalg.svd(g, full_matrices=False)
    values = un.linalg.svdvals(g)
    un.eval(q, r, alone, u, s, v, values)
    if shape[0] // p >= shape[1]:
        assert un.stats()["bytes_gathered"] == before
    # Signs, too, are LAPACK's.
    want_q, want_r = np.linalg.qr(x)
    np.testing.assert_allclose(np.asarray(q), want_q, atol=tolerance)
    for ours in (r, alone):
        np.testing.assert_allclose(np.asarray(ours), want_r, atol=tolerance * shape[0])
    for ours in (s, values):
        np.testing.assert_allclose(
            np.asarray(ours), np.linalg.svd(x, compute_uv=False), atol=tolerance * shape[0]
        )
    np.testing.assert_allclose(np.asarray((u * s) @ v), x, atol=tolerance * 10)
    np.testing.assert_allclose(np.asarray(u.T @ u), np.eye(min(shape)), atol=tolerance)
    assert q.dtype == r.dtype == u.dtype == s.dtype == x.dtype


@pytest.mark.parametrize("shape", [(8 * p + 3, 5), (p, 1), (40 * p, 12), (2 * p, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("is_deficient", [False, True])
def test_least_squares_of_tall_matrices(shape, dtype, is_deficient):
    random = np.random.default_rng(3)
    x, y = random.normal(size=shape).astype(dtype), random.normal(size=(shape[0], 2)).astype(dtype)
    if is_deficient:
        x[:, -1] = x[:, 0] * 2 if shape[1] > 1 else 0
    tolerance = 1e-10 if dtype == "f8" else 2e-3
    a, b = un.asarray(x, mesh=mesh), un.asarray(y, mesh=mesh)
    before = un.stats()["bytes_gathered"]
    for right, want_right in ((b, y), (b[:, 0], y[:, 0])):
        ours = un.linalg.lstsq(a, right)
        want = np.linalg.lstsq(x, want_right, rcond=None)
        if shape[0] // p >= shape[1]:
            assert un.stats()["bytes_gathered"] - before <= 64 * p  # the rank is a Python number
        assert int(ours[2]) == want[2] and ours[1].shape == want[1].shape
        for k in (0, 1, 3):
            np.testing.assert_allclose(np.asarray(ours[k]), want[k], atol=tolerance)
        before = un.stats()["bytes_gathered"]


def unitary(q):
    np.testing.assert_allclose(q.conj().T @ q, np.eye(q.shape[1]), atol=1e-10)


@pytest.fixture(params=["f8-31", "c16-40"])
def matrix(request, small_blocks):
    dtype, n = request.param.split("-")
    x = np.random.default_rng(11).normal(size=(int(n), int(n), 2))
    return x[..., 0] if dtype == "f8" else x @ [1, 1j]


@pytest.mark.parametrize("lacking", [0, 4])
def test_factors_of_matrices_by_blocks(matrix, lacking):
    rows, n = len(matrix) - lacking, len(matrix)
    host = matrix[:rows]
    x = un.asarray(host, mesh=mesh)
    with Ungathered():
        made = [un.linalg.qr(y) for y in (x, x.T)]
        un.eval(*[z for pair in made for z in pair], alone := un.linalg.qr(x, mode="r"))
    for (q, r), want in zip(made, (np.linalg.qr(host), np.linalg.qr(host.T)), strict=True):
        np.testing.assert_allclose(np.asarray(q), want[0], atol=1e-10)
        np.testing.assert_allclose(np.asarray(r), want[1], atol=1e-10)
    np.testing.assert_allclose(np.asarray(alone), np.linalg.qr(host, mode="r"), atol=1e-10)
    q, r = un.linalg.qr(x.T, mode="complete")
    assert q.shape == (n, n) and r.shape == (n, rows)
    np.testing.assert_allclose(np.asarray(q @ r), host.T, atol=1e-10)
    unitary(np.asarray(q))


def test_determinants_and_inverses_of_matrices_by_blocks(matrix):
    x = un.asarray(matrix / 4, mesh=mesh)
    with Ungathered():
        made = un.linalg.det(x), *un.linalg.slogdet(x), un.linalg.inv(x)
        un.eval(*made)
    wants = np.linalg.det(matrix / 4), *np.linalg.slogdet(matrix / 4), np.linalg.inv(matrix / 4)
    for ours, want in zip(made, wants, strict=True):
        np.testing.assert_allclose(np.asarray(ours), want, rtol=1e-9, atol=1e-9)
    x[7] = 0
    assert np.asarray(un.linalg.det(x)) == 0
    assert [np.asarray(y).item() for y in un.linalg.slogdet(x)] == [0, -np.inf]
    with pytest.raises(un.linalg.LinAlgError, match="inv: Singular matrix"):
        un.linalg.inv(x)


@pytest.mark.parametrize(("lacking", "rank"), [(0, None), (4, None), (4, 3)])
def test_singular_values_of_matrices_by_blocks(matrix, lacking, rank):
    rows = len(matrix) - lacking
    host = matrix[:rows] if rank is None else matrix[:rows, :rank] @ matrix[:rank] / 20
    want = np.linalg.svd(host, compute_uv=False)
    x, tolerance = un.asarray(host, mesh=mesh), 1e-13 * len(matrix) * want[0]
    for given, is_full in ((x, False), (x.T, True)):
        with Ungathered():
            u, s, vh = un.linalg.svd(given, full_matrices=is_full)
            un.eval(u, s, vh, values := un.linalg.svdvals(given))
        u, s, vh = np.asarray(u), np.asarray(s), np.asarray(vh)
        np.testing.assert_allclose(s, want, atol=tolerance)
        np.testing.assert_allclose(np.asarray(values), want, atol=tolerance)
        np.testing.assert_allclose((u[:, :rows] * s) @ vh[:rows], np.asarray(given), atol=tolerance)  # fmt: skip
        unitary(u)
        unitary(vh.conj().T)
        assert u.shape[1] == (len(u) if is_full else rows)
    assert int(un.linalg.matrix_rank(x)) == np.linalg.matrix_rank(host)
    np.testing.assert_allclose(np.asarray(un.linalg.norm(x, 2)), want[0])


def test_least_squares_and_pseudo_inverses_of_matrices_by_blocks(matrix):
    right = matrix[:, :2].real.copy() + matrix[:, 2:4]
    low = matrix[:3].T @ matrix[:3, 2:]
    for a in (matrix, low, matrix[:, 5:], matrix[5:]):
        b = right[: len(a)]
        given, y = un.asarray(a, mesh=mesh), un.asarray(b, mesh=mesh)
        want = np.linalg.lstsq(a, b, rcond=1e-12)
        with Ungathered():
            ours = un.linalg.lstsq(given, y, 1e-12)
            un.eval(ours[0], ours[1], ours[3], inverse := un.linalg.pinv(given, 1e-12))
        assert ours[2] == want[2] and ours[1].shape == want[1].shape
        for k in (0, 1, 3):
            np.testing.assert_allclose(np.asarray(ours[k]), want[k], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(np.asarray(inverse), np.linalg.pinv(a, 1e-12), atol=1e-8)


@pytest.mark.parametrize("uplo", "LU")
def test_eigenvectors_of_matrices_by_blocks(matrix, uplo):
    halves = {"L": np.tril(matrix), "U": np.triu(matrix)}
    x = un.asarray(matrix, mesh=mesh)  # one triangle is read
    half = halves[uplo]
    host = half + np.tril(half, -1).conj().T if uplo == "L" else half + np.triu(half, 1).conj().T
    if matrix.dtype == "c16":
        host[np.diag_indices(len(host))] = host.diagonal().real
    with Ungathered():
        w, v = un.linalg.eigh(x, uplo)
        un.eval(w, v, alone := un.linalg.eigvalsh(x, uplo))
    v = np.asarray(v)
    for ours in (w, alone):
        np.testing.assert_allclose(np.asarray(ours), np.linalg.eigvalsh(host), atol=1e-10)
    np.testing.assert_allclose(host @ v, v * np.asarray(w), atol=1e-8)
    unitary(v)
    zeros = un.linalg.eigh(un.zeros((13, 13), mesh=mesh))
    assert not np.asarray(zeros.eigenvalues).any()
    unitary(np.asarray(zeros.eigenvectors))


_left, _right = (np.linalg.qr(np.random.default_rng(k).normal(size=(71, 71)))[0] for k in (1, 2))
_spectra = {
    "graded": np.geomspace(1, 1e-20, 71),
    "clusters": np.repeat([3, 1e-5, 0], [30, 20, 21]),
    "almost one": 1 + 1e-15 * np.arange(71),
    "one": np.ones(71),
    "none": np.zeros(71),
}


@pytest.mark.parametrize("kind", _spectra)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_vectors_of_any_spectrum_are_accurate(kind, dtype, small_blocks):
    s, few = _spectra[kind], 71 * np.finfo(dtype).eps
    turn = np.exp(1j * np.arange(71)) if dtype[0] == "c" else 1
    for other in (_right, _left):  # the second is Hermitian
        one, two = (turn * x.T for x in (_left, other))  # rows
        host = (one.conj().T * s @ two).astype(dtype)
        u, s_found, vh = (np.asarray(y) for y in un.linalg.svd(un.asarray(host, mesh=mesh)))
        np.testing.assert_allclose(s_found, s, atol=few * 3)
        np.testing.assert_allclose((u * s_found) @ vh, host, atol=few * 3)
        for q in (u, vh):
            np.testing.assert_allclose(q.conj().T @ q, np.eye(71), atol=few)
    w, v = (np.asarray(y) for y in un.linalg.eigh(un.asarray(host, mesh=mesh)))
    np.testing.assert_allclose(w, np.sort(s), atol=few * 3)
    np.testing.assert_allclose((v * w) @ v.conj().T, host, atol=few * 3)
    np.testing.assert_allclose(v.conj().T @ v, np.eye(71), atol=few)


def test_eigenvectors_of_clusters_by_blocks(matrix):
    n = len(matrix)
    wilkinson = np.diag(abs(np.arange(n) - n // 2) * 1.0) + np.eye(n, k=1) + np.eye(n, k=-1)
    for host in (matrix[:, :3] @ matrix[:, :3].conj().T, wilkinson, np.eye(n)):
        w, v = (np.asarray(y) for y in un.linalg.eigh(un.asarray(host, mesh=mesh)))
        np.testing.assert_allclose(w, np.linalg.eigvalsh(host), atol=1e-10)
        np.testing.assert_allclose(host @ v, v * w, atol=1e-8)
        unitary(v)


def check_eigenvectors(host, w, v, wanted=None):
    """Pairs of eigenvalues, in any order, and vectors, with NumPy's dtypes, lengths and phases."""
    wanted = np.linalg.eigvals(host) if wanted is None else wanted
    assert w.dtype == v.dtype == wanted.dtype
    size, left = np.abs(wanted).max(), list(wanted)
    for value in w:
        left.sort(key=lambda other: -abs(other - value))
        assert abs(left.pop() - value) <= 1e-9 * size
    np.testing.assert_allclose(host @ v, v * w, atol=1e-12 * np.abs(host).max() * len(host))
    np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1, rtol=1e-12)
    largest = v[np.argmax(np.abs(v), axis=0), np.arange(len(v))]
    np.testing.assert_allclose(np.imag(largest), 0, atol=1e-14)


@pytest.mark.parametrize("kind", ["general", "triangular", "hermitian", "zero", "huge"])
def test_eigenvectors_of_matrices_without_symmetry_by_blocks(matrix, kind):
    host = {
        "general": matrix,
        "triangular": np.triu(matrix),
        "hermitian": matrix + matrix.conj().T,
        "zero": 0 * matrix,
        "huge": matrix * 1e120,
    }[kind]
    x, before = un.asarray(host, mesh=mesh), un.stats()
    un.eval(*(made := un.linalg.eig(x)))
    gathered = un.stats()["bytes_gathered"] - before["bytes_gathered"]
    # All ranks get the Hessenberg form; of the matrix itself each block of columns for a while.
    assert abs(gathered - host.nbytes * (1 - 1 / mesh.size)) <= 64 * len(host) * mesh.size
    in_panels = un.stats()["bytes_in_panels"] - before["bytes_in_panels"]
    assert (in_panels > gathered) == (mesh.size > 1)
    w, v = map(np.asarray, made)
    check_eigenvectors(host, w, v)
    alone = np.asarray(un.linalg.eigvals(x))
    assert alone.dtype == w.dtype
    np.testing.assert_allclose(np.sort(abs(alone)), np.sort(abs(w)), atol=1e-9 * abs(host).max())


def test_eigenvectors_of_matrices_with_rows_of_different_size_by_blocks(matrix):
    scales = 2.0 ** np.linspace(-30, 30, len(matrix)).round()
    host = matrix * scales[:, None] / scales
    w, v = map(np.asarray, un.linalg.eig(un.asarray(host, mesh=mesh)))
    check_eigenvectors(host, w, v, np.linalg.eigvals(matrix))  # without balancing they are lost


def test_eigenvectors_of_equal_pairs_by_blocks(small_blocks):
    host = np.kron(np.eye(8), [[0, 1], [-1, 0]])
    x = un.asarray(host, mesh=mesh)
    check_eigenvectors(host, *map(np.asarray, un.linalg.eig(x)))
    x[3, 2] = np.nan
    for f in (un.linalg.eig, un.linalg.eigvals):
        with pytest.raises(un.linalg.LinAlgError, match="infs or NaNs"):
            f(x)


def test_eigenvectors_of_small_matrices_are_found_alike_and_counted():
    host = np.random.default_rng(3).normal(size=(20, 20))
    before = un.stats()["bytes_gathered"]
    check_eigenvectors(host, *map(np.asarray, un.linalg.eig(un.asarray(host, mesh=mesh))))
    assert mesh.size == 1 or un.stats()["bytes_gathered"] - before >= host.nbytes // mesh.size


def test_matrices_of_nan_have_no_singular_values(small_blocks):
    x = un.zeros((13, 13), mesh=mesh)
    x[7, 5] = np.nan
    for f in (un.linalg.svd, un.linalg.svdvals, un.linalg.eigh):
        with pytest.raises(un.linalg.LinAlgError, match="converge"):
            f(x)


@pytest.mark.parametrize("layout", ["block", "cyclic", "replicated", (None, "block")], ids=str)
def test_windows_that_slide_over_parts(layout):
    x = np.arange(13 * 9.0).reshape(13, 9)
    given, slide = un.asarray(x, mesh=mesh).to_layout(layout), un.lib.stride_tricks.sliding_window_view  # fmt: skip
    want = np.lib.stride_tricks.sliding_window_view
    for window, axis in ((3, 0), (4, 1), ((2, 3), None), ((2, 5, 2), (0, 1, 0)), (13, 0), (1, 1), (0, 0)):  # fmt: skip
        made = slide(given, window, axis)
        assert made.mesh == mesh
        np.testing.assert_array_equal(np.asarray(made), want(x, window, axis))
    np.testing.assert_array_equal(np.asarray(slide(given.T[::-1], 3, 1)), want(x.T[::-1], 3, 1))
    with pytest.raises(un.UnsupportedError, match="writeable"):
        slide(given, 2, 0, writeable=True)


def test_windows_that_slide_over_a_long_vector_send_what_lies_behind_parts():
    slide = {np: np.lib.stride_tricks.sliding_window_view, un: un.lib.stride_tricks.sliding_window_view}  # fmt: skip
    ungathered(lambda np, v: slide[np](v, 40).max(axis=1), vector(many))


def test_permutations_of_distributed_arrays_are_numpys():
    x = vector(many + 2).reshape(-1, 3)
    for draw in (
        lambda rng, x: rng.permutation(x),
        lambda rng, x: rng.permutation(x, axis=1),
        lambda rng, x: rng.choice(x, 7),
        lambda rng, x: rng.choice(x, (3, 2), replace=False),
        lambda rng, x: rng.choice(x, 2, axis=1, p=[0.2, 0.5, 0.3]),
        lambda rng, x: rng.choice(x),
        lambda rng, x: rng.permuted(x, axis=0),
        lambda rng, x: rng.shuffle(x) or x,
    ):
        given = un.asarray(x, mesh=mesh)
        before = un.stats()["bytes_gathered"]
        made = draw(un.random.default_rng(5), given)
        un.synchronize()
        assert un.stats()["bytes_gathered"] - before <= 64  # a few indices
        assert made.mesh == mesh
        np.testing.assert_array_equal(np.asarray(made), draw(np.random.default_rng(5), x.copy()))
    drawn = un.random.default_rng(5).permutation(11, device=mesh)
    assert drawn.mesh == mesh and drawn.tolist() == np.random.default_rng(5).permutation(11).tolist()  # fmt: skip


@pytest.mark.parametrize("n", [70000, 65537])
def test_transforms_of_long_vectors_gather_nothing(n):
    x = vector(n)
    given = un.asarray(x, mesh=mesh)
    with Ungathered():
        spectrum = un.fft.fft(given)
        half = un.fft.rfft(given)
        un.eval(spectrum, half, back := un.fft.irfft(half, n))
    want = np.fft.fft(x)
    tolerance = 1e-14 * n * abs(want).max()
    np.testing.assert_allclose(np.asarray(spectrum), want, atol=tolerance)
    np.testing.assert_allclose(np.asarray(half), np.fft.rfft(x), atol=tolerance)
    np.testing.assert_allclose(np.asarray(back), x, atol=tolerance)


@pytest.mark.parametrize("dtype", ["f8", "i8", "c16"])
def test_convolutions_with_long_sequences_gather_nothing(dtype):
    a, v = (vector(n).astype(dtype) * 8 for n in (20011, 577))
    for mode in ("full", "same", "valid"):
        ours = [un.asarray(x, mesh=mesh) for x in (a, v)]
        with Ungathered():
            made = un.convolve(*ours, mode), un.convolve(*ours[::-1], mode), un.correlate(*ours, mode)  # fmt: skip
            un.eval(*made)
        wants = np.convolve(a, v, mode), np.convolve(v, a, mode), np.correlate(a, v, mode)
        for one, want in zip(made, wants, strict=True):
            assert one.mesh == mesh and one.dtype == want.dtype
            np.testing.assert_allclose(np.asarray(one), want, rtol=1e-12, atol=1e-9)
    short = un.convolve(un.asarray(v[:40], mesh=mesh), v[:35])
    np.testing.assert_allclose(np.asarray(short), np.convolve(v[:40], v[:35]), atol=1e-9)


@pytest.mark.parametrize("layout", ["replicated", "block"])
def test_memory_of_few_elements_is_shared_by_dlpack(layout):
    for shape in ((), (0,), (1,), (2,), (p + 1, 3)):
        x = un.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) / 2.0, mesh=mesh)
        x = x.to_layout("replicated") if layout == "replicated" else x
        assert x.__dlpack_device__() == (1, 0)
        for device in (None, (1, 0)):  # all that the standard's consumers may ask for
            for version in (None, (1, 0)):
                x.__dlpack__(copy=False, dl_device=device, max_version=version)
        seen = np.from_dlpack(x, copy=False)
        expected = np.asarray(x).copy()
        np.testing.assert_array_equal(seen, expected)
        if x.size:
            x += 1  # recorded after it was shared
            un.synchronize()
            np.testing.assert_array_equal(seen, expected + 1)
            seen[...] = 4  # on all ranks alike
            assert float(x.sum()) == 4 * x.size
        assert x.mesh == mesh and (p == 1 or not x.shape or x.layout == "replicated")


def test_memory_of_many_elements_is_copied_by_dlpack():
    x = un.arange(5000.0, mesh=mesh)
    before = un.stats()["bytes_gathered"]
    for view in (x, x[:2]):
        if p > 1:
            with pytest.raises(BufferError, match="no rank has all elements"):
                view.__dlpack__(copy=False)
        assert un.stats()["bytes_gathered"] == before
    copied = np.from_dlpack(x)
    assert copied[-1] == 4999 and (p == 1 or un.stats()["bytes_gathered"] > before)
    assert p == 1 or x.layout != "replicated"
    same = un.from_dlpack(x, copy=False)
    same[1] = 7
    assert float(x[1]) == 7 and same.mesh == mesh
    copied = np.from_dlpack(x, copy=True)
    copied[...] = 0
    assert float(x[1]) == 7
    un.eval(whole := x.to_layout("replicated"))
    before = un.stats()["bytes_gathered"]
    seen = np.from_dlpack(whole[::2], copy=False)
    whole[0] = -1
    un.synchronize()
    assert seen[0] == -1 and un.stats()["bytes_gathered"] == before


@pytest.mark.skipif(p > 1, reason="memory of a rank alone")
def test_memory_of_one_rank_is_shared_by_dlpack():
    x = un.zeros((3, 4), mesh=mesh)
    y = np.from_dlpack(x[1:])
    x[2, 3] = 5
    un.synchronize()
    assert y[1, 3] == 5
    assert x.__dlpack_device__() == (1, 0)
    x.__dlpack__(copy=False, dl_device=(1, 0), max_version=(1, 0))
    same = un.from_dlpack(x, copy=False)
    same[0, 0] = 7
    assert same.mesh == mesh and float(x[0, 0]) == 7
