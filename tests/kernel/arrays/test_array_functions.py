"""NumPy's functions of whole arrays in compiled functions, against NumPy: values, dtypes, shapes, exceptions."""

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())

V = np.arange(9.0) ** 1.5 - 3
M = np.arange(12.0).reshape(3, 4) % 5 - 1.5
T = (np.arange(60.0).reshape(3, 4, 5) * 7) % 11
N = np.array([[3, -1, 4], [1, 5, -9]])
B = np.array([[True, False, True], [True, True, True]])
E = np.zeros((0, 3))
F = M.astype(np.float32)
NAN = np.array([1.0, np.nan, 3.0, np.nan])


def sums(x):
    return x.sum(), np.sum(x), np.sum(x, axis=0), x.sum(axis=-1), np.sum(x, keepdims=True)


def sums_of_axes(x):
    return np.sum(x, axis=(0, 2)), np.sum(x, axis=(1, 2), keepdims=True), x.prod(axis=1)


def extremes(x):
    return x.max(), np.min(x), np.max(x, axis=0), np.amin(x, 1), np.max(x, axis=-1, keepdims=True)


def means(x):
    return (
        np.mean(x),
        x.mean(axis=0),
        np.std(x),
        np.var(x, axis=1),
        np.std(x, axis=0, keepdims=True),
    )


def variance_with_ddof(x):
    return np.var(x, ddof=1), x.std(axis=0, ddof=1)


def truths(x):
    return np.any(x), np.all(x), x.any(axis=0), np.all(x, axis=1), np.count_nonzero(x)


def truths_of(x):
    return (x > 1).any(), (x > 1).all(axis=1), np.count_nonzero(x > 0, axis=0)


def places_of_extremes(x):
    return np.argmax(x), x.argmin(), np.argmax(x, axis=0), x.argmin(axis=1)


def argmax_of_vector(x):
    return x.argmax(), np.argmin(x, axis=0)


def running(x):
    return np.cumsum(x), x.cumsum(axis=0), np.cumsum(x, axis=1), np.cumprod(x, axis=-1)


def fused(x, y):
    return np.sum(x * y + 1), np.max(abs(x - y), axis=0), (x * y).mean(axis=1)


def fused_broadcast(x):
    return np.sum(x[:, None, :] * x[None, :, :], axis=2), np.sum(x - x.mean(axis=0), axis=0)


def with_out(x, out):
    np.sum(x, axis=0, out=out)
    np.add(out, 1.0, out)
    return np.sqrt(abs(out), out)


def spread(x):
    return np.ptp(x), np.ptp(x, axis=0), np.linalg.norm(x), np.linalg.norm(x, axis=1)


def ranges(n):
    return (
        np.arange(n),
        np.arange(1.0, 2.0, 0.25),
        np.arange(n, 0, -2),
        np.arange(0),
        np.linspace(0.0, 1.0, n),
        np.linspace(-1, 1, 5, dtype=np.float32),
        np.linspace(0, 10, n, endpoint=False),
        np.linspace(3.0, 3.0, 1),
        np.arange(3, dtype=np.float32) * 2,
    )


def matrices(x):
    return (
        np.eye(3),
        np.eye(2, 3, k=1, dtype=np.int32),
        np.identity(2),
        np.triu(x),
        np.tril(x, -1),
        np.triu(x, k=1),
        np.diag(x),
        np.diag(np.diag(x), 1),
        np.trace(x),
        x.trace(),
    )


def shapes(x):
    return (
        x.reshape(4, 3),
        np.reshape(x, (2, -1)),
        x.reshape(-1),
        x.T.reshape(12),
        x[:, ::2].reshape((-1,)),
        x.ravel(),
        x.T.ravel(),
        x.flatten(),
        np.ravel(x + 1),
        x.reshape((2, 3, 2)),
    )


def shape_errors(x):
    return x.reshape(5, 3)


def views_of_reshape(x):
    y = x.reshape(-1)
    y[0] = 50.0
    z = x.T.reshape(-1)
    z[1] = 70.0
    return y, z


def moved(x):
    return (
        np.transpose(x),
        np.transpose(x, (1, 0, 2)),
        x.transpose(2, 0, 1),
        np.swapaxes(x, 0, 2),
        np.moveaxis(x, 0, -1),
        np.flip(x),
        np.flip(x, axis=1),
        np.flipud(x),
        np.expand_dims(x, 1),
        np.squeeze(x[:, :1], axis=1),
        np.roll(x, 2, axis=1),
        np.repeat(x, 2, axis=0),
    )


def flipped(x):
    return np.flip(x), np.flip(x[1:4]) * 2, np.roll(x, 3), np.roll(x, -1), np.repeat(x, 3)


def joined(x, y):
    return (
        np.concatenate((x, y)),
        np.concatenate((x, y[:, :2]), axis=1),
        np.stack((x, y)),
        np.stack([x, y], axis=-1),
        np.hstack((x, y)),
        np.vstack([x, y, x]),
    )


def joined_vectors(x, y):
    return np.hstack((x, y)), np.vstack((x, y)), np.column_stack((x, y)), np.concatenate([x, y, x])


def joined_dtypes(x, y):
    z = np.ones(2, np.float16)
    return np.concatenate((x, y, z)), np.hstack([z, x, y]), np.stack((x[:2], z, y[:2]))


def chosen(x, i):
    return x[i], x[i, 1:], x[1:, i], x[:, i], x[i[:2], i[:2]], x[i, 0], np.take(x, i, axis=1), x[-i]


def chosen_of_vector(x, i):
    return x[i] * 2 + 1, x[i[::-1]], np.take(x, i), x[i][1:]


def chosen_of_block(x, i):
    return x[0, :, i], x[:, i, i], x[i, :, 1:3], x[..., i], x[i[:, None], i], x[:, i[:, None], 0]


def out_of_range(x, i):
    return x[i + 3]


def stored_at(x, i):
    x[i] = 7.0
    x[i[:2]] += 1.0
    x[:, i[1:]] = x[:, i[:-1]] * 2
    x[i, i] = np.arange(3.0)
    return x


def masked(x):
    m = x > 0
    return x[m], x[x < 0], x[m] * 2, x[m].sum(), x[~m], m[m]


def masked_rows(x, m):
    return x[m], x[m, 1], x[:, 1:][m], x[m].shape


def stored_under_mask(x):
    x[x > 1] = 9.0
    x[x < 0] = x[x < 0] * -2
    x[x == 9] += 0.5
    x[x == 0.5] = x[x == 0.5] ** 2 - 1
    return x


def mask_of_other_shape(x, m):
    return x[m[:-1]]


def too_many_values(x):
    x[x > 0] = np.arange(3.0)


def places(x):
    return np.nonzero(x), np.flatnonzero(x), np.where(x > 0), np.where(x > 0, x, -x)


def products(x, y, v):
    return (
        x @ y,
        x @ v,
        v @ y,
        v @ v,
        np.dot(x, y),
        np.dot(v, v * 2),
        np.matmul(x, y.copy()),
        np.outer(v, v),
        np.inner(v, v),
        x.T @ y.T,
        x[:, ::2] @ y[::2],
        x.dot(v),
        np.add.outer(v, v),
        np.vdot(v, v),
    )


def stacks(a, b, c):
    return a @ b, a @ c, c @ b, a[0] @ b


def product_error(x):
    return x @ x


def dot_error(x):
    return np.dot(x, x[1:])


def decomposed(a, b):
    return (
        np.linalg.cholesky(a),
        np.linalg.inv(a),
        np.linalg.solve(a, b),
        np.linalg.solve(a, b[:, 0]),
        np.linalg.det(a),
    )


def covariances(x):
    return np.cov(x), np.cov(x, rowvar=False), np.cov(x, bias=True), np.cov(np.transpose(x), ddof=0)


def reshaped_in_place(x):
    y = x + 1
    y.shape = (x.size,)
    return y * 2


def not_positive(a):
    return np.linalg.cholesky(-a)


def singular(a):
    return np.linalg.inv(a * 0)


def sorted_parts(x):
    y = x.copy()
    y.sort()
    return np.sort(x), np.sort(x, axis=0), np.argsort(x), x.argsort(axis=0), y


def clipped(x):
    return np.clip(x, -1, 1), x.clip(0, 2), np.clip(x, 0.5, None)


def logic(x, y):
    return (
        np.logical_and(x, y),
        np.logical_or(x > 1, y),
        np.logical_not(x),
        np.logical_xor(x, y),
        np.isnan(x),
        np.less(x, y),
    )


def counted_in_bins(x, w):
    return (
        np.histogram(x, 4),
        np.histogram(x, 3, weights=w)[0],
        np.histogram(x, 5, range=(0.0, 4.0)),
    )


def made_and_filled(x):
    y = np.empty([2, x.shape[0]], dtype=x.dtype)
    y[:] = np.array([[1.0], [2.0]])
    z = np.ndarray((2, 2), dtype=np.int64)
    z.fill(3)
    return y, z, np.array([1, 2, 3]), np.array((1, 2.5)), np.asarray(x), np.ascontiguousarray(x)


def grids(n):
    a, b = np.mgrid[0:n, 1:4]
    return a, b, a * b


def chained(x):
    x[0] = x[1] = x[0] + 1
    return x


def shape_functions(x):
    return np.shape(x), np.size(x), np.ndim(x)


def in_a_loop(x):
    total = 0.0
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[i].sum() + np.dot(x[i], x[0]) + x[:, 0].max()
        total += np.mean(x[: i + 1])
    return out, total


def in_prange(x, out):
    for i in un.prange(x.shape[0]):
        y = x[i] - x[i].mean()
        out[i] = np.sum(y * y) + y.max()


def empty_max(x):
    return x.max()


def empty_argmax(x):
    return np.argmax(x)


def of_nothing(x):
    return x.sum(), x.sum(axis=0), np.prod(x), x.sum(axis=1), np.any(x)


pairs = np.array([2, 0, 1])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
R = np.linspace(0, 1, 6).reshape(3, 2)
CASES = [
    *((f, x) for f in (sums, extremes, means, truths, places_of_extremes) for x in (M, N, M.T, F)),
    *((f, B) for f in (sums, extremes, truths)),
    (sums_of_axes, T),
    (sums, T[::-1, ::2]),
    (extremes, NAN.reshape(2, 2)),
    (places_of_extremes, NAN.reshape(2, 2)),
    (argmax_of_vector, V),
    (argmax_of_vector, np.zeros(4)),
    (variance_with_ddof, M),
    (truths_of, M),
    (running, M),
    (running, N),
    (fused, M, M[::-1]),
    (fused, M, M[:1]),
    (fused_broadcast, M),
    (with_out, M, np.zeros(4)),
    (spread, M),
    (ranges, 7),
    (matrices, S),
    (matrices, N[:, :2]),
    (shapes, M),
    (shape_errors, M),
    (views_of_reshape, M),
    (moved, T),
    (flipped, V),
    (joined, M, M + 1),
    (joined, M, N.repeat(2, axis=1)[:, :4]),
    (joined_vectors, V, V + 1),
    (joined_vectors, V, V[1:]),
    (joined_dtypes, np.arange(3, dtype="int8"), np.arange(3, dtype="uint8")),
    (chosen, np.arange(16.0).reshape(4, 4), pairs),
    (chosen_of_vector, V, pairs),
    (chosen_of_vector, V, pairs.astype(np.int32)),
    (chosen_of_block, T[:, :3, :3], pairs),
    (out_of_range, V[:4], pairs),
    (stored_at, np.arange(16.0).reshape(4, 4), pairs),
    (masked, M),
    (masked, V),
    (masked_rows, M, np.array([True, False, True])),
    (stored_under_mask, M),
    (mask_of_other_shape, V, V > 0),
    (too_many_values, V),
    (places, V),
    (products, np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3) + 1, np.arange(3.0)),
    (products, np.arange(9).reshape(3, 3), np.arange(9.0).reshape(3, 3) + 1, np.arange(3)),
    (stacks, T[:, :3, :3], T[:, :3, 2:] + 1, S),
    (product_error, M),
    (dot_error, V),
    (decomposed, S, R),
    (covariances, M),
    (covariances, N),
    (reshaped_in_place, M),
    (not_positive, S),
    (singular, S),
    (sorted_parts, T[0]),
    (sorted_parts, N),
    (clipped, M),
    (clipped, N),
    (logic, M, M[::-1]),
    (counted_in_bins, V, V + 4),
    (made_and_filled, np.array([1.0])),
    (grids, 3),
    (chained, M),
    (shape_functions, M),
    (in_a_loop, M),
    (in_prange, M, np.zeros(3)),
    (empty_max, E),
    (empty_argmax, E),
    (of_nothing, E),
]


def run(function, args):
    args = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        with np.errstate(all="ignore"):
            result = function(*args)
    except Exception as error:
        result = next(t for t in type(error).__mro__ if t.__module__ == "builtins")
    return result, args


def same(got, want):
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    elif isinstance(want, type) or want is None:
        assert got is want
    elif isinstance(got, (bool, int, float)):
        # Compiled functions return Python scalars.
        assert np.ndim(want) == 0 and type(got) is type(np.asarray(want).item())
        np.testing.assert_allclose(got, want, rtol=1e-6)
    else:
        got, want = np.asarray(got), np.asarray(want)
        assert got.dtype == want.dtype and got.shape == want.shape
        tolerance = 1e-5 if want.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_like_numpy(on, case):
    function, *args = case
    want, theirs = run(function, args)
    got, ours = run(un.jit(function, device=on), args)
    same(got, want)
    for x, y in zip(ours, theirs, strict=True):
        same(x, y)


def all_reductions(x):
    return (
        np.sum(x),
        np.sum(x, axis=0),
        np.sum(x, axis=1),
        np.mean(x, axis=0),
        np.prod(x, axis=0),
        np.std(x, axis=1),
        np.cumsum(x, axis=1),
    )


@pytest.mark.parametrize("shape", [(3, 5), (40, 70), (2, 1200), (1100, 3), (1, 33), (9, 129)])
def test_bits_are_those_of_arrays(on, shape):
    x = np.random.default_rng(1).random(shape) + 0.5
    a = un.asarray(x)
    got = un.jit(all_reductions, device=on)(x)
    want = (
        a.sum(),
        a.sum(axis=0),
        a.sum(axis=1),
        a.mean(axis=0),
        a.prod(axis=0),
        un.std(a, axis=1),
        un.cumsum(a, axis=1),
    )
    for g, w in zip(got, want, strict=True):
        assert np.asarray(g).tobytes() == np.asarray(w).tobytes()


def small_products(a, b, u, v):
    return a @ b, u @ b, a @ v, b.T @ a.T


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize(
    "sizes", [(3, 3, 3), (1, 4, 5), (4, 8, 8), (5, 8, 8), (2, 0, 3), (0, 2, 1)]
)
def test_bits_of_small_products(on, sizes, dtype):
    """Up to 256 multiplications are loops in place: the bits are those of arrays."""
    m, k, n = sizes
    r = np.random.default_rng(4)
    a, b, u, v = ((r.random(shape) * 7 - 3).astype(dtype) for shape in [(m, k), (k, n), (k,), (k,)])
    if dtype == "complex128":
        a, b = a * (1 - 2j), b + 1j
    got = un.jit(small_products, device=on)(a, b, u, v)
    want = small_products(*(un.asarray(x) for x in (a, b, u, v)))
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape and g.dtype == w.dtype
        assert np.asarray(g).tobytes() == np.asarray(w).tobytes()


def several_axes(x, y):
    return (
        np.sum(x * y, axis=(0, 1)),
        np.sum(x * y, axis=(0, 1, 2)),
        np.sum(x - y, axis=(1, 2)),
        np.prod(x, axis=(0, 2), keepdims=True),
        np.max(x * y, axis=(0, 2)),
        np.min(x, axis=(0, 3)),
        np.sum(-0.0 * abs(x), axis=(0, 1)),
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape",
    [
        (2, 3, 4, 5),
        (9, 1, 17, 6),
        (3, 20, 2, 16),
        (1, 2, 40, 71),
        (2, 8, 9, 2),
        (5, 7, 1, 6),
        (4, 1, 1, 23),
        (0, 3, 2, 7),
    ],
)
def test_bits_of_several_axes(on, shape, dtype):
    """Sums inside of sums: more than one leaf in each, strips of every width."""
    x = (np.random.default_rng(3).random(shape) + 0.5).astype(dtype)
    y = x[..., ::-1] if shape[1] > 1 else x[:1, :, :, :]
    compiled = un.jit(several_axes, device=on)
    if 0 in shape:
        with pytest.raises(ValueError, match="no identity"):
            compiled(x, y)
        return
    got = compiled(x, y)
    want = several_axes(un.asarray(x), un.asarray(y))
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape and g.dtype == w.dtype
        assert np.asarray(g).tobytes() == np.asarray(w).tobytes()


def sums_of_nothing(x):
    return np.sum(x, axis=(0, 1)), np.sum(x, axis=0), np.prod(x, axis=(0, 2))


def test_sums_over_empty_axes(on):
    x = np.zeros((0, 3, 2, 7))
    got = un.jit(sums_of_nothing, device=on)(x)
    for g, w in zip(got, sums_of_nothing(x), strict=True):
        assert np.asarray(g).tobytes() == w.tobytes()


def long_sum(x):
    return x.sum(), (x * x).sum(), x.max()


def test_bits_of_long_sums(on):
    x = np.random.default_rng(2).random(70_000)
    a = un.asarray(x)
    got = un.jit(long_sum, device=on)(x)
    assert got == (float(a.sum()), float((a * a).sum()), float(a.max()))


def own_names(x, i):
    return (
        un.sum(x, axis=0),
        un.zeros((2, 3)),
        un.maximum(x, 0),
        un.concat((x, x)),
        un.take(x, i, axis=0),
    )


def test_our_names_compile_as_well(on):
    got = un.jit(own_names, device=on)(M, pairs)
    want = own_names(un.asarray(M), un.asarray(pairs))
    for g, w in zip(got, want, strict=True):
        assert g.tolist() == w.tolist() and g.dtype == w.dtype


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cholesky_of_a_large_matrix_has_the_bits_of_arrays(dtype, on):
    """Both factor in tiles."""
    rows = np.random.default_rng(5).standard_normal((450, 450)).astype(dtype)
    a = rows @ rows.T / 450 + np.eye(450, dtype=dtype)

    @un.jit(device=on)
    def factor(a):
        return np.linalg.cholesky(a)

    assert np.asarray(factor(a)).tobytes() == np.asarray(un.linalg.cholesky(un.array(a))).tobytes()


def transposed(x, i, j, k):
    y = x.transpose((i, j, k))
    z = np.transpose(x, (i, j, k))
    z[0, 0, 0] = 7
    return (
        y,
        y.shape,
        x.transpose(i, j, k)[0],
        np.transpose(x[0], (j % 2, (j + 1) % 2)),
        y.sum(axis=1),
    )


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 0, 2), (-1, 1, 0), (-2, -1, -3)])
def test_axes_of_transpose_that_are_known_when_the_program_runs(on, axes):
    x, y = T.copy(), T.copy()
    found, expected = un.jit(transposed, device=on)(x, *axes), transposed(y, *axes)
    assert found[1] == expected[1]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-15)
    assert x.tolist() == y.tolist()


@pytest.mark.parametrize("axes", [(0, 1, 1), (0, 1, 3), (-4, 1, 2), (0, 1, -2)])
def test_such_axes_are_checked(on, axes):
    for function in (transposed, un.jit(transposed, device=on)):
        with pytest.raises(ValueError, match="out of bounds|repeated axis"):
            function(T.copy(), *axes)
