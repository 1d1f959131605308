"""vectorize: bits of NumPy's scalars, fusion with neighbours, NumPy's ufunc methods, errors."""

import contextlib
import math
import warnings

import numpy as np
import pytest
import unisono as un


def clamp(x, low, high):
    """Between low and high."""
    if x < low:
        return low
    return high if x > high else x


def steps(x, y):
    n = 0
    while x > 1.0 and n < 50:
        x = x / (y + 1.5)
        n += 1
    return x * y - n


def mixed(a, b):
    return a * a - b / 3


def by_scalars(f, *arrays):
    """What NumPy's scalars give, element by element."""
    arrays = np.broadcast_arrays(*arrays)
    made = [f(*row) for row in zip(*(a.ravel() for a in arrays), strict=True)]
    return np.array(made).reshape(arrays[0].shape)


def data(dtype, shape, seed=0):
    values = np.random.default_rng(seed).normal(0, 20, shape)
    return (abs(values) if np.dtype(dtype).kind == "u" else values).astype(dtype)


def same(ours, wanted):
    assert tuple(ours.shape) == wanted.shape
    assert ours.dtype == wanted.dtype
    np.testing.assert_array_equal(np.asarray(ours), wanted)


@contextlib.contextmanager
def executor_set(name):
    un._engine._set_setting("executor", name)
    try:
        yield
    finally:
        un._engine._set_setting("executor", "auto")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16", "float32", "float64"])
def test_bits_are_those_of_scalars(dtype):
    a, b = data(dtype, (7, 5)), data(dtype, (5,), 1)
    for f in (mixed, larger):
        same(un.vectorize(f)(a, b), by_scalars(f, a, b))


def larger(a, b):
    return a if a > b else b


def test_loops_and_branches():
    x, y = abs(data("float64", 1000)), abs(data("float64", 1000, 1))
    same(un.vectorize(steps)(x, y), by_scalars(steps, x, y))


def test_python_scalars_adapt():
    x = data("float32", 20)
    f = un.vectorize(clamp)
    same(f(x, -1.0, 2), by_scalars(lambda v: np.float32(clamp(v, -1.0, 2)), x))
    assert f(0.5, 0.0, 1.0).item() == 0.5
    assert f.types == ["ddd->d"]  # numbers beside arrays have no dtype of their own


def test_strided_and_broadcast():
    a = data("float64", (6, 8))
    f = un.vectorize(["float64(float64, float64)"])(mixed)
    u = un.asarray(a)
    same(f(u[::2, ::-1], u[1::2, 3:4].copy()), by_scalars(mixed, a[::2, ::-1], a[1::2, 3:4]))
    same(f(u.T, 2.5), by_scalars(lambda x: mixed(x, 2.5), a.T))
    same(f(un.zeros((0, 3)), 1.0), np.zeros((0, 3)))


def test_fuses_with_its_neighbours():
    f = un.vectorize(["float64(float64, float64)"])(mixed)
    a = data("float64", 5000)
    u = un.asarray(a).copy()
    un.eval(u)
    f(u, u).sum().item()  # compiles
    before = un.stats()
    made = (f(u + 1.0, u) * 2.0 - u).sum()
    text = un.explain(made)
    made.item()
    after = un.stats()
    assert after["kernels_launched"] - before["kernels_launched"] == 1
    assert "mixed" in text
    whole = f(u + 1.0, u) * 2.0 - u
    same(whole, by_scalars(mixed, a + 1.0, a) * 2.0 - a)


def test_overlapping_targets():
    f = un.vectorize(["float64(float64, float64)"])(mixed)
    a = data("float64", 50)
    u = un.asarray(a.copy()).copy()
    u[1:] = f(u[:-1], u[1:])
    wanted = a.copy()
    wanted[1:] = by_scalars(mixed, a[:-1], a[1:])
    same(u, wanted)


@pytest.mark.parametrize("executor", ["auto", "block", "cpu", "interp"])
def test_executors_agree(executor):
    with executor_set(executor):
        f = un.vectorize(["float64(float64, float64)"])(steps)
        a, b = abs(data("float64", (40, 30))), abs(data("float64", 30, 1))
        u = un.asarray(a).copy()
        same(f(u, b) + 1, by_scalars(steps, a, b) + 1)
        same(f(u.T, 0.5), by_scalars(lambda x: steps(x, 0.5), a.T))


def test_signatures_choose_a_loop():
    @un.vectorize([un.int32(un.int32, un.int32), "float64(float64, float64)"])
    def f(a, b):
        return a + b

    i = np.arange(5, dtype="int32")
    assert f(i, i).dtype == "int32"
    assert f(i, 0.5).dtype == "float64"
    assert f(i.astype("int64"), i).dtype == "float64"
    assert f(i, 2**40).dtype == "float64"
    assert f.types == ["ii->i", "dd->d"]
    assert (f.nin, f.nout, f.nargs, f.ntypes) == (2, 1, 3, 2)
    assert f.__name__ == "f"


def test_declared_results_are_casts():
    f = un.vectorize(["int32(float64)"])(half)
    same(f([1.0, 5.0, -7.0]), np.array([0, 2, -3], "int32"))
    assert un.vectorize(["float32(float64)"])(half)(np.arange(3.0)).dtype == "float32"


def half(x):
    return x / 2


def test_out_where_dtype():
    f = un.vectorize(["float64(float64, float64)", "float32(float32, float32)"])(mixed)
    a, b = data("float64", 9), data("float64", 9, 1)
    wanted = by_scalars(mixed, a, b)
    out = np.full(9, 7.0)
    assert f(a, b, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    target = un.full(9, 7.0)
    mask = np.arange(9) % 2 == 0
    assert f(a, b, out=target, where=mask) is target
    same(target, np.where(mask, wanted, 7.0))
    assert f(a, b, target) is target
    same(target, wanted)
    u = un.asarray(a).copy()
    assert f(u, u, out=u) is u
    same(u, by_scalars(mixed, a, a))
    assert f(a, b, dtype="float32").dtype == "float32"
    with pytest.raises(ValueError, match="could not be broadcast|non-broadcastable output"):
        f(a, b, out=un.zeros(3))
    with pytest.raises(TypeError, match="cannot cast the result from float64 to int64"):
        f(a, b, out=un.zeros(9, "int64"))


def test_methods_follow_numpy():
    f = un.vectorize(["float64(float64, float64)"])(mixed)
    wanted = np.frompyfunc(mixed, 2, 1)
    a = data("float64", (5, 4)) / 20
    same(f.reduce(a), wanted.reduce(a).astype(float))
    same(f.reduce(a, axis=1, keepdims=True), wanted.reduce(a, axis=1, keepdims=True).astype(float))
    same(f.accumulate(a, axis=1), wanted.accumulate(a, axis=1).astype(float))
    same(f.outer(a[0], a[1]), wanted.outer(a[0], a[1]).astype(float))
    x, y = a[:, 0].copy(), a[:, 0].copy()
    u = un.asarray(x.copy()).copy()
    f.at(u, [0, 2, 0], 2.0)
    for k in (0, 2, 0):
        y[k] = mixed(y[k], 2.0)
    same(u, y)
    out = np.zeros(4)
    f.reduce(a, out=out)
    np.testing.assert_array_equal(out, wanted.reduce(a).astype(float))
    with pytest.raises(ValueError, match="not reorderable"):
        f.reduce(a, axis=None)
    with pytest.raises(ValueError, match="zero-size array"):
        f.reduce(a[:0])
    with pytest.raises(ValueError, match="only supported for binary functions"):
        un.vectorize(half).reduce(a)


def test_reductions_of_several_axes():
    @un.vectorize(["int64(int64, int64)"], identity=0)
    def plus(a, b):
        return a + b

    x = np.arange(24).reshape(2, 3, 4)
    assert plus.identity == 0
    assert plus.reduce(x, axis=None).item() == x.sum()
    same(plus.reduce(x, axis=(0, 2)), x.sum((0, 2)))
    same(plus.reduce(x, axis=1, where=x % 2 == 0), x.sum(1, where=x % 2 == 0))
    same(plus.reduce(x[:, :0], axis=1), x[:, :0].sum(1))
    same(plus.reduce(x, initial=100), x.sum(0, initial=100))


def test_a_function_that_can_fail_raises_at_the_call():
    @un.vectorize(["float64(float64)"], target="parallel")
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return math.sqrt(x)

    same(root(np.arange(5.0)), np.sqrt(np.arange(5.0)))
    with pytest.raises(ValueError, match="negative"):
        root(un.asarray([4.0, -1.0]))


def test_elements_whose_order_tells_come_one_after_the_other():
    c = un.c_module("static int calls = 0; double next(double x) { return x + ++calls; }")
    count = c.next

    @un.vectorize
    def numbered(x):
        return count(x)

    @un.vectorize
    def noisy(x):
        return x + np.random.random()

    @un.jit
    def inside(a):
        return numbered(a)

    @un.jit
    def fused(a):
        np.random.seed(3)
        return np.sum(noisy(a) * 2) - np.sum(noisy(a))

    @un.jit
    def seeded(a, begin):
        np.random.seed(3)
        return noisy(a) if begin else a

    zeros = np.zeros(2_000_000)
    order = np.arange(1.0, 2_000_001)
    same(inside(zeros), order)
    same(inside(zeros), order + len(zeros))
    same(numbered(zeros), order + 2 * len(zeros))
    drawn = np.random.RandomState(3).random_sample(2 * len(zeros))
    same(seeded(zeros, True), drawn[: len(zeros)])
    seeded(zeros, False)
    same(noisy(zeros), drawn[: len(zeros)])
    both = np.split(drawn, 2)
    assert fused(zeros) == pytest.approx(2 * both[0].sum() - both[1].sum(), rel=1e-12)


def test_many_operands_and_defaults():
    @un.vectorize
    def poly(x, a, b, c=1.0):
        return (a * x + b) * x + c

    x = data("float64", (4, 3))
    same(poly(x, 2.0, x[0]), by_scalars(lambda v, w: (2.0 * v + w) * v + 1.0, x, x[0]))
    same(poly(x, 2.0, 3.0, c=-1.0), (2.0 * x + 3.0) * x - 1.0)


def test_complex_arithmetic():
    @un.vectorize(["complex64(complex64, complex64)"])
    def vmult(a, b):
        return a * b

    rng = np.random.default_rng(0)
    a, b = ((rng.normal(size=8) + 1j * rng.normal(size=8)).astype("complex64") for _ in range(2))
    # NumPy's vector code contracts products.
    wanted = np.empty(8, np.complex64)
    wanted.real = a.real * b.real - a.imag * b.imag
    wanted.imag = a.real * b.imag + a.imag * b.real
    same(vmult(a, b), wanted)
    u = un.asarray(a).copy()
    vmult(u, b, out=u)
    same(u, wanted)


def phasor(x):
    return np.cos(x) + 1j * np.sin(x)


def test_complex_results_of_real_operands():
    x = np.linspace(-3, 3, 50)
    signatures = ["complex64(float32)", "complex128(float64)"]
    for made in (un.vectorize(signatures, identity=1)(phasor), un.vectorize(phasor)):
        for dtype in ("float32", "float64"):
            got = made(x.astype(dtype))
            assert got.dtype == phasor(x.astype(dtype)).dtype
            np.testing.assert_allclose(got, phasor(x), rtol=1e-6 if dtype == "float32" else 1e-15)
        assert made.types == ["f->F", "d->D"]
        assert made(0.0) == 1 and made(0.0).dtype == "complex128"
    both = un.vectorize(lambda a, b: complex(a, b))
    same(both(x[:, None], x), x[:, None] + 1j * x)
    same(both(x[:3], 2), x[:3] + 2j)
    out = np.zeros(50, "complex128")
    assert made(x, out=out) is out and out[0] == phasor(x)[0]
    with pytest.raises(TypeError, match="cannot cast the result from complex128 to float64"):
        made(x, out=np.zeros(50))
    squares = un.vectorize(["float32(complex64)", "float64(complex128)"])(
        lambda z: z.real**2 + z.imag**2
    )
    assert squares(3 + 4j) == 25 and squares(np.complex64(3 + 4j)).dtype == "float32"


def test_complex_elements_that_choose():
    @un.vectorize(["complex64(complex64)", "complex128(complex128)"])
    def clamped(z):
        return z if z.real > 0 else -z

    @un.vectorize
    def raised(z, k):  # a number on one path, a complex one on the other
        if k > 1:
            return z**k
        return z.real

    z = np.array([1 - 2j, -1 + 3j, 0.5j])
    for dtype in ("complex64", "complex128"):
        same(clamped(z.astype(dtype)), np.where(z.real > 0, z, -z).astype(dtype))
    same(raised(z, np.array([1, 2, 2])), np.array([1, z[1] ** 2, z[2] ** 2]))


def test_complex_elements_combined():
    @un.vectorize(["complex128(complex128, complex128)"], identity=1)
    def product(a, b):
        return a * b

    z = np.array([[1 - 2j, -1 + 3j, 0.5j], [2, 1j, 1 + 1j]])
    same(product.reduce(z), z[0] * z[1])
    same(product.accumulate(z), np.array([z[0], z[0] * z[1]]))
    same(product.outer(z[0], z[1]), z[0][:, None] * z[1])
    at = z[0].copy()
    product.at(at, [0, 0, 2], z[1])
    same(at, np.array([z[0, 0] * z[1, 0] * z[1, 1], z[0, 1], z[0, 2] * z[1, 2]]))


def test_numbers_alone_take_the_signature_of_their_own_dtypes():
    twice = un.vectorize(["int32(int32)", "int64(int64)", "float32(float32)", "float64(float64)"])(
        lambda x: x * 2
    )
    assert [twice(x).dtype for x in (3, 0.5, True)] == ["int64", "float64", "int32"]
    assert twice(np.float32(0.5)).dtype == "float32"
    assert un.vectorize(["float32(float32)"])(lambda x: x * 2)(0.5).dtype == "float32"


def test_captured_values_and_callees():
    scale = 3.0

    @un.jit
    def inner(x):
        return x * scale

    @un.vectorize
    def f(x):
        return inner(x) + 1

    same(f(np.arange(3.0)), np.arange(3.0) * 3 + 1)
    scale = 5.0
    same(f(np.arange(3.0)), np.arange(3.0) * 5 + 1)


def test_numpys_own_meaning_stays():
    f = un.vectorize(lambda a, b: a - b if a > b else a + b)
    assert f([1, 2, 3, 4], 2).tolist() == [3, 4, 1, 2]
    seen = []

    def note(x):
        seen.append(x)
        return x + 1

    with pytest.warns(RuntimeWarning, match="note runs in the interpreter"):
        g = un.vectorize(note)
        assert g([1, 2]).tolist() == [2, 3]
    assert seen == [1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert g([3]).tolist() == [4]


TABLE = np.arange(5.0)


def test_numbas_options_beside_cache():
    @un.vectorize(fastmath=True, cache=True)
    def fused(a, b):
        return a * b + 1

    @un.vectorize(nopython=True, cache=True)
    def doubled(a):
        return 2 * a

    assert fused.nin == 2 and doubled.nin == 1  # compiled, no NumPy vectorize
    same(fused(un.arange(3.0), 2.0), np.arange(3.0) * 2 + 1)
    same(doubled([1, 2]), np.array([2, 4]))


def test_what_is_read_around_is_left_to_the_interpreter():
    def look(i):
        return TABLE[i]

    with pytest.warns(RuntimeWarning, match="look runs in the interpreter"):
        assert un.vectorize(look)([1, 3]).tolist() == [1.0, 3.0]
    with pytest.raises(
        un.CompileError, match="cannot read variables of an enclosing scope; got 'TABLE'"
    ):
        un.vectorize(["float64(int64)"])(look)


def test_refusals():
    with pytest.raises(TypeError, match="the signature has 1 arguments.*expected 2"):
        un.vectorize(["float64(float64)"])(mixed)
    with pytest.raises(TypeError, match="where the name of a type should be"):
        un.vectorize(["float(double, flaot)"])
    with pytest.raises(TypeError, match="takes and gives numbers; got float64\\[:\\]"):
        un.vectorize(["float64(float64[:])"])
    with pytest.raises(ValueError, match="no such target; got 'tpu'"):
        un.vectorize(["float64(float64)"], target="tpu")
    with pytest.raises(TypeError, match="unknown argument; got colour="):
        un.vectorize(["float64(float64)"], colour=1)
    f = un.vectorize(["int32(int32, int32)"])(mixed)
    with pytest.raises(
        TypeError, match="no signature takes the operands; got \\(float64, int64\\)"
    ):
        f(np.zeros(2), np.zeros(2, int))
    with pytest.raises(TypeError, match="takes from 2 to 3 positional arguments; got 1"):
        f(1)
    with pytest.raises(un.CompileError, match="an elementwise function must return one number"):
        un.vectorize(["float64(float64)"])(pair)
    with pytest.raises(un.CompileError, match="this import is not supported"):
        un.vectorize(["float64(float64)"])(importing)


def pair(x):
    return x, x


def importing(x):
    import a_module_that_nobody_has as math

    return math.sqrt(x)


def test_functions_with_choices_take_arrays_in_compiled_code():
    @un.vectorize
    def capped(x, limit=1.0):
        if x > limit:
            return limit
        while x < -limit:
            x += limit
        return x

    @un.jit
    def f(a, b):
        out = np.empty_like(a)
        out[:] = capped(a, b) + 1
        s = capped(a, b).sum() + (capped(a, 2.0) * 2).max()
        for i in range(len(a)):
            s += capped(a[i], 0.5)
        twice = capped(a)
        return s, out, twice + twice, capped(a[:, None], b), capped(a[:0])

    a, b = np.array([-4.5, 0.25, 3.0]), np.array([2.0, 1.0, 9.0])
    for got, expected in zip(f(a, b), f.py_func(a, b), strict=True):
        assert np.array_equal(got, expected)


def test_errors_of_elements_come_from_compiled_code():
    @un.vectorize
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return x**0.5

    f = un.jit(lambda a: root(a))
    assert f(np.array([4.0, 9.0])).tolist() == [2, 3]
    with pytest.raises(ValueError, match="negative"):
        f(np.array([4.0, -9.0]))


def test_short_vectors_of_numpy():
    """They run at once, with the results, refusals and overlaps of other calls."""

    @un.vectorize
    def f(a, b):
        return a * 2 + b

    @un.vectorize(["float64(float64, float64)"])
    def g(a, b):
        if b == 7:
            raise ValueError("seven")
        return a / b

    rng = np.random.default_rng(0)
    for dtype in ("int32", "float32", "float64"):
        a, b = (rng.uniform(1, 5, 11).astype(dtype) for _ in range(2))
        want = a * 2 + b
        for x, y in ((a, b), (a[::-1][::-1], b), (np.resize(a, 2000)[:11], b)):
            got = f(x, y)
            assert isinstance(got, un.ndarray) and got.dtype == want.dtype
            assert np.array_equal(np.asarray(got), want)
        long = f(np.resize(a, 3000), np.resize(b, 3000))
        assert np.array_equal(np.asarray(long)[:11], want)
        out = np.empty_like(a)
        assert f(a, b, out) is out and np.array_equal(out, want)
        assert f(a, b, out=out) is out
        with pytest.raises(TypeError):
            f(a, b, np.empty(11, "bool"))
        assert np.array_equal(np.asarray(g(a, b)), a.astype("float64") / b.astype("float64"))
        ours = un.empty(11, dtype)
        assert f(un.array(a), un.array(b), out=ours) is ours
        assert np.array_equal(np.asarray(ours), want)
    both = np.arange(12.0)
    f(both[:11], np.zeros(11), both[1:])
    assert np.array_equal(both, [0, *(2.0 * np.arange(11))])
    with pytest.raises(ValueError, match="seven"):
        g(np.ones(3), np.array([1.0, 7, 2]))
    frozen = np.empty(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(np.ones(3), np.ones(3), frozen)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones(3), np.ones(2))
