"""Statements under one mask in compiled functions, against NumPy: bits, layouts, overlap, faults."""

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def steps(z, c, n):
    m = np.less(abs(z), 2.0)
    n[m] = 7
    z[m] = z[m] ** 2 + c[m]


def of_itself(x):
    x[x > 0] = 1.0 / x[x > 0]


def augmented(x, y, m):
    x[m] *= 2
    x[m] -= y[m] * x[m]


def by_function(x, y, m, s):
    x[m] = np.where(y[m] > s, np.sqrt(abs(y[m])), -x[m]) + np.pi * s


def copied(x, y, m):
    x[m] = y[m]


def of_shifted(x, m):
    x[1:][m[1:]] = x[:-1][m[1:]] + 1
    y, z = x[1:], x[:-1]
    k = m[1:]
    y[k] = z[k] * 2 + y[k]


def mask_of_result(m):
    m[m] = ~m[m]


def divided(i, j, m):
    i[m] = i[m] // j[m] + i[m] % j[m]


def powers(i, j, m):
    i[m] = i[m] ** j[m]


def narrowed(i, x, m):
    i[m] = x[m] * 1.5


def of_two_masks(x, m, k):
    x[m] = x[m] + x[k]


def of_whole(x, m):
    x[m] = x[m] - x.max()


def replaced(x, m):
    x[m] = x[m][::-1]


def of_parts(z, m):
    z[m] = z[m].real - 1j * np.imag(z[m])


def wrong_shape(x, y, m):
    x[m] = x[m] + y[m]


def in_loops(x, m):
    for i in range(3):
        x[m] = x[m] * 0.5 + i
        m = x > 0.1
    return x.sum()


rng = np.random.default_rng(5)
X = rng.standard_normal((6, 7))
Y = rng.standard_normal((6, 7))
M = X > 0.3
Z = X + 1j * Y
Z[2, 3] = complex(np.nan, 1)
INTS = rng.integers(-9, 9, (6, 7))
J = np.where(M, rng.integers(1, 4, (6, 7)), 0)
L = rng.standard_normal(20_000)
G = L.reshape(100, 200)
NONE = np.zeros((6, 7), bool)
CUBE = rng.standard_normal((3, 4, 5))
CASES = [
    (steps, Z, Z * 0.1, INTS),
    (steps, Z.astype(np.complex64), (Z * 0.1).astype(np.complex64), INTS),
    (steps, np.asfortranarray(Z), Z[::-1], INTS.astype(np.int8)),
    (steps, np.repeat(Z.ravel(), 40)[::2], np.repeat(Z.ravel(), 20) * 0.2, np.zeros(840, int)),
    (of_itself, X),
    (of_itself, X.astype(np.float32).T),
    (of_itself, CUBE[:, ::-1, 1:4]),
    (of_itself, np.zeros((0, 4))),
    (of_itself, -abs(X)),
    (of_itself, G),
    (augmented, X, Y, M),
    (augmented, X.T, Y.T, np.asfortranarray(M.T)),
    (augmented, X, Y, NONE),
    (by_function, X, Y, M, 0.25),
    (by_function, X.astype(np.float32), Y.astype(np.float32), ~M, np.float32(0.25)),
    (copied, X, Y[::-1], M),
    (copied, INTS, J, M),
    (of_shifted, L, L > 0),
    (of_shifted, X[0], M[0]),
    (mask_of_result, M),
    (divided, INTS, J, M),
    (powers, INTS, np.where(M, 3, -1), M),
    (powers, INTS, np.where(M, -1, 2), M),
    (narrowed, INTS, X * 9, M),
    (of_two_masks, X, M, M[:, ::-1]),
    (of_whole, X, M),
    (replaced, X, M),
    (of_parts, Z, M),
    (wrong_shape, X, Y[:3], M),
    (in_loops, X, M),
]


def run(function, args):
    """Results and arguments; overlapping arguments are not what these cases are about."""
    args = [x.copy(order="K") if isinstance(x, np.ndarray) else x for x in args]
    try:
        with np.errstate(all="ignore"):
            return function(*args), args
    except Exception as error:
        return next(t for t in type(error).__mro__ if t.__module__ == "builtins"), args


def same(got, want):
    """Bits; products of complex numbers within a rounding, as NumPy contracts some of them."""
    if np.iscomplexobj(want):
        tolerance = 4 * np.finfo(want.dtype).eps
        return np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_like_numpy(on, case):
    function, *args = case
    want, theirs = run(function, args)
    got, ours = run(un.jit(function, device=on), args)
    assert got is want if isinstance(want, type) else not isinstance(got, type)
    for x, y in zip(ours, theirs, strict=True):
        same(x, y)


def test_overlapping_arguments(on):
    """The same memory under two names, in other places."""

    def f(x, y, m):
        x[m] = y[m] + x[m]

    a, b = np.arange(40.0), np.arange(40.0)
    m = np.arange(38) % 3 != 0
    f(a[2:], a[:-2], m)
    un.jit(f, device=on)(b[2:], b[:-2], m)
    np.testing.assert_array_equal(a, b)


def test_mask_is_read_before_elements_are_written(on):
    def f(m):
        a, b = m[1:], m[:-1]
        a[b] = True

    m = np.arange(5000) % 3 == 0
    want = m | np.roll(m, 1)
    want[0] = m[0]
    un.jit(f, device=on)(m)
    np.testing.assert_array_equal(m, want)


@pytest.mark.parametrize("function", [steps, of_itself, augmented, divided])
def test_no_elements_are_packed(on, function):
    args = next(c for c in CASES if c[0] is function)[1:]
    compiled = un.jit(function, device=on)
    compiled(*(x.copy() for x in args))
    text = compiled.inspect_ir()
    assert "if " in text and "count" not in text


def test_elements_outside_of_the_mask_are_not_written(on):
    x = np.arange(24.0).reshape(4, 6)
    m = x % 3 == 0
    read_only = x.copy()
    read_only.flags.writeable = False

    @un.jit(device=on)
    def f(x, y, m):
        x[m] = y[m] / 0.0

    f(x, read_only, m)
    assert np.array_equal(x[~m], read_only[~m]) and not np.isfinite(x[m]).any()


def test_like_arrays_on_any_number_of_threads(on):
    z = np.random.default_rng(3).standard_normal((300, 400)) * (1 + 0.5j)
    n = np.zeros(z.shape, np.int64)
    want, places = un.array(z), un.array(n)
    compiled = un.jit(steps, device=on)
    for _ in range(3 if on == "cpu" else 1):
        m = abs(want) < 2
        places[m] = 7
        want[m] = want[m] ** 2 + want[m]
        compiled(z, z, n)
    assert z.tobytes() == np.asarray(want).tobytes()
    assert n.tobytes() == np.asarray(places).tobytes()


def chosen(x, y, m):
    return x[m], x[y > 0.5], x[m].sum(), y[m].mean()


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(9,), (5000,), (70, 90), (300, 301), (3, 40, 50), (0, 8)])
def test_elements_under_masks(on, shape, dtype):
    """Few elements are walked, many are packed by the library; of any layout."""
    if on == "interp" and np.prod(shape) > 10_000:
        pytest.skip("slow there")
    r = np.random.default_rng(7)
    x = (r.random(shape) * 9).astype(dtype)
    y = r.random(shape)
    sparse = r.random(shape) < 0.01
    compiled = un.jit(chosen, device=on)
    for a, b, m in [
        (x, y, sparse),
        (x[::-1], y, ~sparse),
        (x, y, y > 0.3),
        (np.asfortranarray(x), y, np.asfortranarray(sparse)),
        (x, y, np.zeros(shape, bool)),
        (x, y, np.ones(shape, bool)),
    ]:
        with np.errstate(all="ignore"):
            got, want = compiled(a, b, m), chosen(a, b, m)
        for g, w in zip(got[:2], want[:2], strict=True):
            assert g.dtype == w.dtype and g.shape == w.shape
            assert np.asarray(g).tobytes() == w.tobytes()
        np.testing.assert_allclose(got[2:], want[2:], rtol=1e-5)
