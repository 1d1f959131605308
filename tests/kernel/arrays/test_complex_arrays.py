"""Arrays of complex numbers in compiled functions: one body for NumPy and for us."""

import cmath
import itertools

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())
DTYPES = ["complex64", "complex128"]
SPECIAL = [0.0, -0.0, 1.0, -2.5, 3e-5, float("inf"), float("-inf"), float("nan")]


def numbers(dtype, shape=(5, 7), seed=1):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def special(dtype):
    """Every pair of special parts, twice: as left and as right operands."""
    z = np.array([complex(x, y) for x, y in itertools.product(SPECIAL, SPECIAL)], dtype)
    return np.repeat(z, len(z)), np.tile(z, len(z))


def own(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def bits(x):
    """Parts with their signs; any NaN is one."""
    x = np.ascontiguousarray(x)
    if x.dtype.kind == "c":
        x = x.reshape(-1).view(x.real.dtype)
    if x.dtype.kind == "f":
        return np.where(np.isnan(x), "nan", np.where(np.signbit(x), "-", "+")), np.abs(x)
    return x, x


def same(got, want, exact=True, factor=4):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, exact, factor)
        return
    if not isinstance(want, np.ndarray):
        want, got = np.asarray(want), np.asarray(got)
        got = got.astype(want.dtype)
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    if exact:
        for g, w in zip(bits(got), bits(want), strict=True):
            np.testing.assert_array_equal(g, w)
    else:
        eps = np.finfo(want.dtype).eps if want.dtype.kind in "cf" else 0
        np.testing.assert_allclose(got, want, rtol=factor * eps, atol=factor * eps)


def check(function, on, args, exact=True, factor=4):
    """Results and arguments afterwards."""
    theirs, ours = own(args), own(args)
    with np.errstate(all="ignore"):
        want = function(*theirs)
    got = un.jit(function, device=on)(*ours)
    if want is not None:
        same(got, want, exact, factor)
    for o, t in zip(ours, theirs, strict=True):
        if isinstance(t, np.ndarray):
            same(o, t, exact, factor)


# ---- Elements


def elements(z, w):
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            w[i, j] = z[i, j] * z[i, -j] + w[i, j] - 2j
            w[i, j] *= 0.5
    z[0, 0] = 3
    z[-1, 1] = w[0, 0].real
    z[1, 1] = z[1, 1].conjugate()


def parallel(z, w):
    for i in un.prange(z.shape[0]):
        for j in range(z.shape[1]):
            w[i, j] = z[i, j] - w[i, j] * 1j


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [elements, parallel], ids=lambda f: f.__name__)
def test_elements(function, dtype, on):
    check(function, on, (numbers(dtype), numbers(dtype, seed=2)))
    check(function, on, (numbers(dtype)[::2, ::-1], numbers(dtype, (7, 3), 2).T))


def test_arrays_of_ours(on):
    z, w = un.asarray(numbers("complex128")) * 1, un.asarray(numbers("complex128", seed=2)) * 1
    wanted = np.array(w)
    elements(np.array(z), wanted)
    un.jit(elements, device=on)(z, w)
    np.testing.assert_array_equal(np.array(w), wanted)


def test_indices_are_tested(on):
    def f(z, i):
        z[1] = 2j
        return z[i]

    z = np.zeros(3, complex)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        un.jit(f, device=on)(z, 3)
    assert z[1] == 2j


# ---- Expressions


def arithmetic(z, w):
    return z + w, z - w, -z, +z, z == w, z != w, z.real, w.imag, z.conj(), np.conjugate(z)


def products(z, w):
    return z * w


def parts_of_products(z, w):
    """NumPy's vector code contracts products; they are its scalar code's."""
    a, b, c, d = z.real, z.imag, w.real, w.imag
    result = np.empty(z.shape, z.dtype)
    result.real, result.imag = a * c - b * d, a * d + b * c
    return result


def quotients(z, w):
    return z / w, 1 / w, z / 2, z / 2j


def mixed(z, x):
    return z * x, x + z, z - 1, 2 * z, z * 1j, x * 1j, z == x, x / z


def orders(z, w):
    return z < w, z >= w, np.minimum(z, w), np.maximum(z, w)


def powers(z):
    return z**2, z**1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [arithmetic, quotients, orders], ids=lambda f: f.__name__)
def test_special_values(function, dtype, on):
    """Bit for bit."""
    z, w = special(dtype)
    if function is quotients:
        keep = np.isfinite(z) & np.isfinite(w) & (w != 0)
        check(function, on, (z[keep], w[keep]))
    check(function, on, (z, w))
    if function is arithmetic:
        with np.errstate(all="ignore"):
            want = parts_of_products(z, w)
        same(un.jit(products, device=on)(z, w), want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_other_operands(dtype, on):
    part = numbers(dtype).real.copy()
    check(mixed, on, (numbers(dtype), part), exact=False)
    check(mixed, on, (numbers(dtype), np.arange(35).reshape(5, 7) + 1), exact=False)
    check(powers, on, (numbers(dtype),), exact=False)


def other_powers(z, n):
    return z**3, z**-2, z**0.5, z**n, z ** (0.3 - 1j), np.power(z, n)


def sizes(z):
    return abs(z), np.abs(z), np.absolute(z), np.angle(z)


def functions(z):
    return np.exp(z), np.log(z), np.sqrt(z), np.sin(z), np.cos(z), np.sinh(z), np.cosh(z)


def more_functions(z):
    return np.tan(z), np.tanh(z), np.log10(z), np.log2(z), np.exp2(z), np.sign(z), np.rint(z)


def asked(z):
    return np.isnan(z), np.isinf(z), np.isfinite(z), np.logical_not(z)


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions(dtype, on):
    for function in (sizes, functions, more_functions, asked):
        check(function, on, (numbers(dtype),), exact=False, factor=8)
    for n in (3, -2, 0, 0.5, 2.5):
        check(other_powers, on, (numbers(dtype), n), exact=False, factor=32)


def test_functions_of_special_values(on):
    z = np.unique(special("complex128")[0].astype("S"))
    z = np.array([complex(x, y) for x, y in itertools.product(SPECIAL, SPECIAL)])
    got = un.jit(lambda z: (np.exp(z), np.log(z), np.sqrt(z)), device=on)(z)
    with np.errstate(all="ignore"):
        want = np.exp(z), np.log(z), np.sqrt(z)
    for g, w in zip(got, want, strict=True):
        for part in ("real", "imag"):
            a, b = getattr(np.asarray(g), part), getattr(w, part)
            # Which infinity or zero an angle without a value takes is left open.
            settled = np.isfinite(z.imag) & np.isfinite(z.real)
            np.testing.assert_allclose(a[settled], b[settled], rtol=1e-15)
            np.testing.assert_array_equal(np.signbit(a[settled]), np.signbit(b[settled]))
            np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    check(asked, on, (z,))


# ---- Arrays made, viewed and chosen


def created(n, z):
    a, b = np.zeros(n, dtype=np.complex128), np.ones((n, 2), dtype=np.complex64)
    c, d = np.full(n, 1 - 2j), np.zeros_like(z)
    e, f = np.empty((2, n), np.complex128), np.array([1 + 1j, 2, 3.5])
    e[:] = 3j
    e[0] = np.arange(n)
    return a, b, c, d, e, f, np.eye(3, dtype=np.complex128), z.copy(), z.astype(np.complex64)


def viewed(z, w):
    r, i = z.real, z.imag
    z[0, 0] = 7
    r[1, 1] = 9
    z.imag[2] = 5
    z.real += 1
    z.imag = w.real
    w[1:, :2] = z[1:, 2:4]
    w[0] += 1j
    return r, i, z.T, z[::-1, 1], z.reshape(-1)[:4], w.real.sum(), np.real(w), np.imag(w)


def overlapping(z):
    z[0, 1:] = z[0, :-1]
    z[1].real[1:] = z[1].imag[:-1]
    z[2] = z[2].imag + z[2, ::-1]


def chosen(z, w, i):
    m = abs(z) > 1
    w[m] = z[m] ** 2 + w[m]
    z[i] = w[i] * 2
    z[~m] = 1j
    return z[i], z[i, 1], w[m], np.where(m, z, w.real), z[m].sum() == w[m].sum()


def reduced(z):
    return z.sum(), z.sum(axis=0), z.sum(axis=1), np.prod(z[0]), np.cumsum(z[1])


def averaged(z):
    return z.mean(), z.mean(axis=1), z.var(), z.std(axis=0), np.linalg.norm(z), np.trace(z[:5, :5])


def multiplied(z, w):
    p = z @ w.T
    return p, z[0] @ w[0], np.dot(z, w[0]), np.vdot(z, w), np.outer(z[0], w[1]), z[0] @ w.T


def solved(z, b):
    a = z + 4 * np.eye(5)
    return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.solve(a, b[:, 0])


def joined(z, w):
    return np.concatenate((z, w)), np.stack((z, w)), np.repeat(z, 2, axis=1), np.roll(z, 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays(dtype, on):
    z, w = numbers(dtype), numbers(dtype, seed=2)
    check(created, on, (4, z), exact=False)
    check(viewed, on, (z, w), exact=False, factor=16)
    check(overlapping, on, (z,))
    check(chosen, on, (z, w, np.array([2, 0, -1])), exact=False)
    check(joined, on, (z, w))
    check(reduced, on, (z,), exact=False, factor=32)
    check(averaged, on, (z,), exact=False, factor=32)
    check(multiplied, on, (z, w), exact=False, factor=64)
    check(solved, on, (numbers(dtype, (5, 5)), w[:, :3]), exact=False, factor=256)


def test_sums_have_the_bits_of_arrays(on):
    """The order of additions is the array's own."""
    for dtype, shape in itertools.product(DTYPES, [(3000,), (40, 70), (1, 1), (0,)]):
        z = numbers(dtype, shape)
        got = un.jit(lambda z: z.sum(), device=on)(z)
        assert got == complex(un.asarray(z).sum())
    z = numbers("complex128", (900, 50))
    got = np.asarray(un.jit(lambda z: z.sum(axis=0), device=on)(z))
    np.testing.assert_array_equal(got, np.asarray(un.asarray(z).sum(axis=0)))


def test_parallel_sums(on):
    def f(z):
        s, t = 0j, np.zeros(2, dtype=np.complex128)
        for i in un.prange(z.shape[0]):
            s += z[i] * z[i]
            t[:] += z[i]
        return s, t

    z = numbers("complex128", (1000,))
    s, t = un.jit(f, device=on)(z)
    np.testing.assert_allclose(s, np.sum(z * z), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(t), [z.sum()] * 2, rtol=1e-12)
    with pytest.raises(un.CompileError, match="combines complex numbers by \\+= only"):

        @un.jit(device=on)
        def product(z):
            p = 1 + 0j
            for i in un.prange(z.shape[0]):
                p *= z[i]
            return p

        product(z)


# ---- Scalars


def of_numbers(z, x):
    return np.exp(z), np.sqrt(z), np.conj(z), np.real(z), np.abs(z), np.power(z, x), np.sin(z) * x


def of_cmath(z, x):
    return (
        (cmath.exp(z), cmath.sqrt(z), cmath.log(z), cmath.log10(z), cmath.log(z, 3))
        + (cmath.sin(z), cmath.cos(z), cmath.tan(z), cmath.sinh(z), cmath.cosh(z), cmath.tanh(z))
        + (cmath.phase(z), cmath.polar(z)[0], cmath.rect(x, 2.0), cmath.isnan(z), z**x, z**0.5)
    )


def test_scalars(on):
    for z, x in [(1 + 2j, 1.5), (-0.25 - 3j, 2), (0.9 + 0.1j, -1), (2 + 0j, 0.5), (-4 - 0j, 3)]:
        for function in (of_numbers, of_cmath):
            check(function, on, (z, x), exact=False, factor=16)
    f = un.jit(lambda z: cmath.log(z), device=on)
    with pytest.raises(ValueError, match="math domain error"):
        f(0j)
    with pytest.raises(OverflowError, match="math range error"):
        un.jit(lambda z: cmath.exp(z), device=on)(1000 + 1j)
    with pytest.raises(ZeroDivisionError):
        un.jit(lambda z, x: z**x, device=on)(0j, -1.5)
    got = un.jit(lambda z: (z + 1, abs(z)), device=on)(np.complex64(0.1 + 0.2j))
    assert got == (complex(np.complex64(0.1 + 0.2j) + 1), abs(np.complex64(0.1 + 0.2j)))


def test_what_does_not_fit(on):
    def to_real(x, z):
        x[0] = z[0]

    def in_place(x, z):
        x *= z

    def ordered(z):
        return min(z[0], z[1])

    x, z = np.zeros(2), np.zeros(2, complex)
    with pytest.raises(un.CompileError, match="a complex number does not fit float64"):
        un.jit(to_real, device=on)(x, z)
    with pytest.raises(un.CompileError, match="does not take in place"):
        un.jit(in_place, device=on)(x, z)
    with pytest.raises(un.CompileError, match="must be a number; got complex128"):
        un.jit(ordered, device=on)(z)


def test_variables_and_calls(on):
    @un.jit(device=on)
    def half(z, c):
        return z / 2 + c, c * 2

    @un.jit(device=on)
    def f(z, n):
        w = z
        c = 0
        for i in range(n):
            z, c = half(z, c + 1j * i)
            if i % 2:
                w, z = z, w
        items = [c, 2, 1j]
        items.append(z[0])
        return w, z, c, items

    z = numbers("complex128", (3,))
    w, v, c, items = f(z, 3)
    a, b, k = z, z, 0
    for i in range(3):
        b, k = b / 2 + (k + 1j * i), (k + 1j * i) * 2
        if i % 2:
            a, b = b, a
    np.testing.assert_array_equal(np.asarray(w), a)
    np.testing.assert_array_equal(np.asarray(v), b)
    assert c == k and items == [k, 2, 1j, b[0]]


def test_printed(on, capsys):
    def f(z, c):
        print(z, c, c * 2j, [c, 1j])

    z = np.array([1 + 2j, -0.5j])
    f(z, 3 - 1j)
    wanted = capsys.readouterr().out
    un.jit(f, device=on)(z, 3 - 1j)
    assert capsys.readouterr().out == wanted


def test_captured_numbers(on):
    c, d = np.complex64(1 + 2j), 2j

    def f(z):
        return z * c, z * d

    check(f, on, (numbers("complex64"),), exact=False)


EDGES = [0.0, -0.0, 1.0, -1.0, -3.5, np.pi, np.inf, -np.inf, np.nan]


def test_edges_of_cmath(on):
    def given(f, *args):
        try:
            return f(*args)
        except (ValueError, ZeroDivisionError) as error:
            return type(error)

    rect = un.jit(lambda r, phi: cmath.rect(r, phi), device=on)
    log = un.jit(lambda z, base: cmath.log(z, base), device=on)
    for x in EDGES:
        for y in EDGES:
            a, b = given(cmath.rect, x, y), given(rect, x, y)
            assert repr(a) == repr(b) or np.allclose([a], [b], equal_nan=True, rtol=1e-14), (x, y)
    for base in (2 + 1j, -3.5 - 0j, 0j):
        a, b = given(cmath.log, 0j, base), given(log, 0j, base)
        assert repr(a) == repr(b), base
