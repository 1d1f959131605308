"""Every dtype against NumPy: values, dtypes and errors of arithmetic, casts, reductions, promotion and views."""

import operator

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

NAMES = [row[0] for row in un._engine._dtypes]
NUMBERS = [n for n in NAMES if n != "bool"]
INTEGERS = [n for n in NAMES if np.dtype(n).kind in "iu"]
INEXACT = [n for n in NAMES if np.dtype(n).kind in "fc"]
BINARY = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "maximum",
    "minimum",
)
COMPARE = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")


def values(name, count=40, seed=0):
    """Array of NumPy with the ends of the range, zeros, and random numbers."""
    t = np.dtype(name)
    random = np.random.default_rng(seed)
    if t.kind == "b":
        return random.integers(0, 2, count).astype(t)
    if t.kind in "iu":
        limits = np.iinfo(t)
        ends = np.array([limits.min, limits.max, 0, 1, limits.max - 1], dtype=t)
        return np.concatenate([ends, random.integers(0, 100, count - 5).astype(t)])
    whole = random.integers(-50, 50, count) / 4
    if t.kind == "c":
        whole = whole + 1j * random.integers(-50, 50, count) / 2
    return whole.astype(t)


def same(ours, theirs):
    """Compare dtype, shape and bits; NaN of any sign equals NaN."""
    theirs = np.asarray(theirs)
    host = np.asarray(ours)
    assert host.dtype == theirs.dtype
    assert host.shape == theirs.shape
    np.testing.assert_array_equal(host, theirs)


def both(f, *arrays):
    """Run f(namespace, arrays) with NumPy and with us: equal results, or errors of one class."""
    with np.errstate(all="ignore"):
        try:
            expected = f(np, *arrays)
        except (TypeError, ValueError, OverflowError) as error:
            built_in = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
            with pytest.raises(built_in):
                f(un, *map(un.asarray, arrays))
            return
        same(f(un, *map(un.asarray, arrays)), expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("op", BINARY + COMPARE + BITS)
def test_operations_of_one_dtype(name, op):
    a, b = values(name, seed=1), values(name, seed=2)
    if op.endswith("shift"):
        b = (b % 8).astype(b.dtype) if np.dtype(name).kind in "iu" else b
    both(lambda xp, x, y: getattr(xp, op)(x, y), a, b)


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
def test_mixed_operands(first, second):
    a, b = values(first, seed=3), values(second, seed=4)
    assert un.promote_types(first, second) == np.promote_types(first, second)
    both(lambda xp, x, y: x + y, a, b)
    both(lambda xp, x, y: x * y, a, b)
    both(lambda xp, x, y: x < y, a, b)
    both(lambda xp, x, y: xp.where(x != 0, x, y), a, b)


@pytest.mark.parametrize("first", NAMES)
@pytest.mark.parametrize("second", NAMES)
@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("count", [3, 5000])
def test_casts(first, second, count):
    a = values(first, max(count, 6))
    if np.dtype(first).kind == "c" and np.dtype(second).kind not in "cb":
        with pytest.warns(un.exceptions.ComplexWarning):
            un.asarray(a).astype(second)
        a = np.abs(a.real).astype(first)
    if np.dtype(first).kind == "f" and np.dtype(second).kind in "iu":
        a = np.abs(a)
    expected = a.astype(second)
    same(un.asarray(a).astype(second), expected)
    same(un.asarray(a)[0].astype(second), expected[0])


@pytest.mark.parametrize("name", [n for n in INEXACT if np.dtype(n).kind == "f"])
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_out_of_range_become_what_numpy_makes_of_them(name, target):
    with np.errstate(all="ignore"):
        a = np.array(
            [
                1e3,
                -1e3,
                -1.5,
                7e4,
                2.0**31,
                2.0**32 + 5,
                -(2.0**40),
                2.0**63,
                2.0**64,
                np.nan,
                np.inf,
            ]
            * 3
        )
        a = a.astype(name)
        same(un.asarray(a).astype(target), a.astype(target))


@pytest.mark.parametrize("name", NAMES)
def test_unary(name):
    a = values(name)
    if np.dtype(name).kind == "c":
        np.testing.assert_allclose(
            abs(un.asarray(a)), abs(a), rtol=3e-7 if name == "complex64" else 1e-15
        )
    else:
        both(lambda xp, x: abs(x), a)
    both(lambda xp, x: -x, a)
    both(lambda xp, x: ~x, a)
    both(lambda xp, x: x[::-2], a)
    both(lambda xp, x: x.reshape(5, -1).T, a)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["sum", "prod", "max", "min"])
def test_reductions(name, how):
    a = values(name, 12)
    if how == "prod":
        a = (
            (a.astype("float64") % 3).astype(name)
            if np.dtype(name).kind != "c"
            else (a.real % 3).astype(name)
        )
    both(lambda xp, x: getattr(x, how)(), a)
    both(lambda xp, x: getattr(x.reshape(3, 4), how)(axis=0), a)
    both(lambda xp, x: getattr(x.reshape(3, 4), how)(axis=(1,), keepdims=True), a)
    if np.dtype(name).kind in "biu" and how in ("sum", "prod"):
        for t in INTEGERS:
            both(lambda xp, x, t=t: getattr(xp, how)(x, dtype=t), a)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "number",
    [
        True,
        0,
        1,
        -1,
        3,
        200,
        -200,
        40000,
        70000,
        2**31,
        2**40,
        2**63,
        2**64,
        -(2**70),
        0.5,
        -1e300,
        1 - 2j,
    ],
)
def test_python_numbers_adapt_or_do_not_fit(name, number):
    a = values(name)
    huge = isinstance(number, int) and not -(2**63) <= number < 2**64
    if huge and np.dtype(name).kind == "b":
        return  # NumPy makes objects of these
    both(lambda xp, x: x + number, a)
    both(lambda xp, x: number * x, a)
    for compare in ("__lt__", "__ge__", "__eq__", "__ne__"):
        if np.dtype(name).kind in "iu" and not isinstance(number, complex):
            both(lambda xp, x, compare=compare: getattr(x, compare)(number), a)
            both(lambda xp, x: number > x, a)
            both(lambda xp, x: number <= x, a)

    def store(xp, x):
        x = x.copy()
        x[1] = number
        return x

    if not isinstance(number, (float, complex)):
        both(store, a)


@pytest.mark.parametrize("name", NAMES)
def test_lists_take_a_dtype_that_holds_them(name):
    kind = np.dtype(name).kind
    for data in ([1, 2], [[True], [False]], [1.5, 2], [300], [-1], [2**63], [70000, -70000]):
        if kind in "iu" or not any(isinstance(v, list) for v in data):
            both(lambda xp, data=data: xp.asarray(data, dtype=name))


@pytest.mark.parametrize(
    "data",
    [
        [1, 2],
        [1, 2.5],
        [True, 1],
        [2**63],
        [-1, 2**63],
        [True, False],
        [np.int8(1), 2],
        [np.float32(1), 2.0],
        [],
    ],
)
def test_dtype_of_lists(data):
    both(lambda xp: xp.asarray(data))


@pytest.mark.parametrize("bad", [[float("nan")], [float("inf")]])
def test_lists_of_what_no_integer_is(bad):
    both(lambda xp: xp.asarray(bad, dtype="int16"))


@pytest.mark.host_only("shares memory with NumPy")
@pytest.mark.parametrize("name", NAMES)
def test_memory_is_shared_with_numpy(name):
    a = values(name)
    x = un.asarray(a, copy=False)
    back = np.asarray(x)
    assert back.dtype == name
    assert np.shares_memory(a, back)
    same(un.from_dlpack(a), a)
    if hasattr(x, "__dlpack__"):
        same(np.from_dlpack(x), a)
    same(x.copy(), a)
    assert x.tolist() == a.tolist()
    assert x[3].item() == a[3].item()


@pytest.mark.parametrize("name", INTEGERS)
def test_in_place(name):
    a = values(name)

    def step(xp, x):
        x = x.copy()
        x += 1
        x *= x
        x[1:] -= x[:-1]
        x //= 3
        return x

    both(step, a)

    def refused(xp, x):
        x = x.copy()
        x += xp.asarray([0.5])
        return x

    both(refused, a)


def test_dtype_objects():
    for name in NAMES:
        t, theirs = un.dtype(name), np.dtype(name)
        assert t == theirs
        assert theirs == t
        assert t == theirs.type
        assert t == name
        assert t == theirs.str
        assert {t: 1}[un.dtype(theirs)] == 1
        for attribute in ("name", "kind", "itemsize", "char", "str", "num", "alignment"):
            if attribute != "alignment" or theirs.kind != "c":
                assert getattr(t, attribute) == getattr(theirs, attribute), attribute
        assert np.zeros(2, t).dtype == theirs
        assert np.zeros(2, "?").astype(t).dtype == theirs
        assert t(1).dtype is t
        assert t() == 0
        for other in (
            None,
            3,
            "no such",
            object(),
            [],
            un,
            np.dtype("M8[s]"),
            np.dtype([("a", "i4")]),
            lambda: 0,
        ):
            assert t != other
            assert not (t == other)
    assert un.dtype(None) is un.float64
    assert un.dtype(float) is un.float64
    with pytest.raises(TypeError, match="is not a dtype"):
        un.dtype("float31")


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_casting_rules(casting):
    for a in NAMES:
        for b in NAMES:
            assert un.can_cast(a, b, casting) == np.can_cast(a, b, casting), (a, b)
    with pytest.raises(TypeError):
        un.can_cast(3, "int8")


def test_result_types():
    for name in NAMES:
        for number in (True, 1, 1.0, 1j):
            assert un.result_type(name, number) == np.result_type(name, number)
    assert un.result_type(un.zeros(2, "int8"), np.zeros(2, "uint8"), "float32") == "float32"
    with pytest.raises(ValueError, match="at least one"):
        un.result_type()


MIXED = [
    ("int8", "uint8", "float16"),
    ("float16", "uint8", "int8"),
    ("int16", "uint16", "complex64"),
    ("uint16", "float16", "int16", "uint8"),
    ("int8", "uint64", "int64"),
    ("bool", "int8", "int32"),
]
JOINED = [
    lambda m, a: m.result_type(*a),
    lambda m, a: m.concatenate(a),
    lambda m, a: m.concatenate(a * 8),
    lambda m, a: m.hstack(a),
    lambda m, a: m.vstack(a),
    lambda m, a: m.stack(a),
    lambda m, a: m.dstack(a),
    lambda m, a: m.column_stack(a),
    lambda m, a: m.block([a, a]),
    lambda m, a: m.r_[tuple(a)],
    lambda m, a: m.choose([0, 1, 2], a),
    lambda m, a: m.select([m.asarray([True, False, False])] * 2, a[:2], a[2]),
    lambda m, a: m.select([m.asarray([True, False, False])] * len(a), a, [1, 2, 3]),
    lambda m, a: m.einsum("i,i,i->i", *a[:3]),
    lambda m, a: m.einsum("i,j,k->i", *a[:3]),
]


@pytest.mark.parametrize("join", JOINED)
@pytest.mark.parametrize("dtypes", MIXED)
def test_several_dtypes_promote_together(join, dtypes):
    """Not pair by pair: int8 and uint8 make no int16 beside a float16."""
    want, got = (join(m, [m.asarray([70, 1, 99], dtype=t) for t in dtypes]) for m in (np, un))
    assert str(getattr(got, "dtype", got)) == str(getattr(want, "dtype", want))
    if isinstance(want, np.ndarray):
        assert np.asarray(got).tolist() == want.tolist()


def test_limits_promote_with_what_they_limit():
    for dtypes in MIXED:
        want, got = (m.clip(*(m.ones(3, t) for t in dtypes[:3])) for m in (np, un))
        assert got.dtype == want.dtype, dtypes


def test_operands_of_einsum_are_converted_before_they_are_summed():
    for m in (np, un):
        many = m.full((50, 4), 100, dtype="int8")
        assert m.einsum("ij,k->k", many, m.ones(2, "int64")).tolist() == [20000, 20000]


@pytest.mark.parametrize("name", NUMBERS)
def test_limits(name):
    if name in INTEGERS:
        mine, theirs = un.iinfo(name), np.iinfo(name)
        assert (mine.min, mine.max, mine.bits, mine.dtype) == (
            theirs.min,
            theirs.max,
            theirs.bits,
            theirs.dtype,
        )
        assert (repr(mine), str(mine)) == (repr(theirs), str(theirs))
        with pytest.raises(ValueError, match="finfo"):
            un.finfo(name)
        return
    mine, theirs = un.finfo(name), np.finfo(name)
    for what in (
        "bits",
        "nmant",
        "nexp",
        "minexp",
        "maxexp",
        "machep",
        "negep",
        "precision",
        "iexp",
        "dtype",
    ):
        assert getattr(mine, what) == getattr(theirs, what), what
    of_the_standard = un.ones(1).__array_namespace__().finfo(name)
    for what in "eps epsneg max min tiny smallest_normal smallest_subnormal resolution".split():
        value, expected = getattr(mine, what), getattr(theirs, what)
        assert value == expected and value.dtype == expected.dtype, what
        assert type(getattr(of_the_standard, what)) is float, what
        assert getattr(of_the_standard, what) == float(expected), what
    assert (repr(mine), str(mine)) == (repr(theirs), str(theirs))


@pytest.mark.parametrize(
    "kind",
    [
        "bool",
        "signed integer",
        "unsigned integer",
        "integral",
        "real floating",
        "complex floating",
        "numeric",
    ],
)
def test_kinds(kind):
    for name in NAMES:
        assert un.isdtype(un.dtype(name), kind) == np.isdtype(np.dtype(name), kind)
        for abstract in (
            np.floating,
            np.integer,
            np.number,
            np.generic,
            np.complexfloating,
            np.signedinteger,
        ):
            assert un.issubdtype(name, abstract) == np.issubdtype(name, abstract)
    with pytest.raises(ValueError, match="kind must be one of"):
        un.isdtype(un.int8, "whole")


COMPLEX = [n for n in NAMES if np.dtype(n).kind == "c"]


@pytest.mark.host_only("shares memory with NumPy")
@pytest.mark.parametrize("name", COMPLEX)
def test_parts_are_views(name):
    a = values(name)
    x = un.asarray(a.copy(), copy=False)
    for part in ("real", "imag"):
        both(lambda xp, x, part=part: getattr(x, part), a)
        both(lambda xp, x, part=part: getattr(x[::-3], part), a)
        both(lambda xp, x, part=part: getattr(x[2], part), a)
    x.imag[1:] += x.real[:-1]
    a.imag[1:] += a.real[:-1]
    same(x, a)
    x.real = 7
    x[::2].imag = x[1::2].imag
    a.real = 7
    a[::2].imag = a[1::2].imag
    same(x, a)
    same(un.conj(x), np.conj(a))
    same(x.conj(), a.conj())
    assert complex(x[3]) == complex(a[3])
    with pytest.raises(TypeError):
        float(x[3])
    with pytest.raises(ValueError):
        un.broadcast_to(x, (2, x.size)).real[0] = 1


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize(
    "f",
    "sqrt exp log sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh expm1 log1p log2 log10 exp2 "
    "sign isnan isinf isfinite square reciprocal angle".split(),
)
def test_complex_functions(name, f):
    a = (values(name) / 20 + (0.11 - 0.07j)).astype(name)
    ours, theirs = np.asarray(getattr(un, f)(un.asarray(a))), getattr(np, f)(a)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=2e-6 if name == "complex64" else 1e-14)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_specials(name):
    parts = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e30]
    a = np.array([complex(p, q) for p in parts for q in parts], dtype=name)
    x, y = np.meshgrid(a, a)
    for op in COMPARE + ("add", "subtract", "maximum", "minimum", "fmax", "fmin"):
        both(lambda xp, x, y, op=op: getattr(xp, op)(x, y), x.copy(), y.copy())
    np.testing.assert_allclose(
        abs(un.asarray(a)), abs(a), rtol=3e-7 if name == "complex64" else 1e-15
    )
    both(lambda xp, x: -x, a)
    both(lambda xp, x: x.astype(bool), a)
    finite = a[np.isfinite(a)]
    both(lambda xp, x, y: x / y, finite, finite[::-1].copy())
    same(
        un.asarray(finite) * un.asarray(finite[::-1].copy()),
        [x * y for x, y in zip(finite, finite[::-1], strict=True)],
    )


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("shape", [(7,), (2000,), (3, 700), (700, 3), (0, 4), (5, 0)])
def test_complex_reductions(name, shape):
    random = np.random.default_rng(5)
    a = (random.integers(-9, 9, shape) + 1j * random.integers(-9, 9, shape)).astype(name)
    both(lambda xp, x: x.sum(), a)
    for axis in range(len(shape)):
        both(lambda xp, x, axis=axis: x.sum(axis=axis), a)
        both(lambda xp, x, axis=axis: x.max(axis=axis), a)
        both(
            lambda xp, x, axis=axis: (
                x[:9, :3].prod(axis=axis) if x.ndim > 1 else x[:5].prod(axis=axis)
            ),
            a,
        )
    if a.size:
        np.testing.assert_allclose(complex(un.asarray(a).mean()), complex(a.mean()), rtol=1e-5)


@pytest.mark.host_only("shares memory with NumPy")
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_values_and_text(name):
    a = values(name)
    x = un.asarray(a, copy=False)
    v = x[3]
    x[3] = 99
    assert v.item() == values(name)[3]
    assert x[3] == 99
    assert {x[4]: 1}[complex(a[4])] == 1
    assert str(x) == str(a)
    assert repr(x) == repr(a)
    v += 1j
    assert x[3] == 99
    assert bool(v)
    with pytest.raises(TypeError):
        un.zeros(3)[0] = 1j
    with pytest.raises(TypeError):
        x //= 2
    y = un.zeros(3)
    with pytest.raises(TypeError):
        y += 1j


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("count", [1, 6, 3000])
def test_complex_numbers_are_ordered_as_numpy_orders_them(name, count):
    random = np.random.default_rng(count)
    x = (random.integers(-3, 4, count) + 1j * random.integers(-3, 4, count)).astype(name)
    n = x.copy()
    n[::5] = np.nan
    n[2:4] = complex(1, np.nan)
    for f in ("argmax", "argmin", "nanmax", "nanmin", "nanmedian"):
        for a in (x, n) if count > 1 else (x,):
            same(getattr(un, f)(un.asarray(a)), getattr(np, f)(a))
    s, kth = np.sort(n), count // 2
    for side in ("left", "right"):
        same(un.searchsorted(un.asarray(s), un.asarray(x), side), np.searchsorted(s, x, side))
        same(un.searchsorted(un.asarray(s), 1 + 1j, side), np.searchsorted(s, 1 + 1j, side))
    part = np.asarray(un.partition(un.asarray(x), kth))
    assert part[kth] == np.sort(x)[kth]
    assert x[np.asarray(un.argpartition(un.asarray(x), kth))[kth]] == np.sort(x)[kth]
    values, places = un.top_k(un.asarray(x), kth)
    same(values, np.sort(x)[::-1][:kth])
    same(x[np.asarray(places)], np.sort(x)[::-1][:kth])
    same(un.sort(un.asarray(x), descending=True), np.sort(x)[::-1])


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_products_and_running_sums(name):
    a = values(name, 12).reshape(3, 4)
    same(un.asarray(a) @ un.asarray(a.T.copy()), a @ a.T)
    same(un.cumsum(un.asarray(a), axis=1), np.cumsum(a, axis=1))
    same(un.cumprod(un.asarray(a), axis=0), np.cumprod(a, axis=0))


@pytest.mark.parametrize("name", INTEGERS)
def test_numbers_that_do_not_fit_are_refused_where_numpy_refuses_them(name):
    numbers = [np.int64(2**40), np.int64(300), np.int64(-1), np.uint64(2**63), np.float64(1e30)]
    numbers += [np.float64(300.7), np.float32(np.nan), np.float64(np.inf), np.int8(-1), np.True_]

    def stores(number):
        def at_index(xp, x):
            x = xp.array(x)
            x[1] = number
            return x

        def in_slice(xp, x):
            x = xp.array(x)
            x[1:] = number
            return x

        def filled(xp, x):
            x = xp.array(x)
            x.fill(number)
            return x

        return at_index, in_slice, filled

    zeros = np.zeros(3, name)
    for number in numbers:
        if np.dtype(name).kind == "u" and not abs(float(number)) < 2**62:
            continue  # NumPy converts these by platform
        for f in stores(number):
            both(f, zeros)

    def computed(xp, x):
        x = xp.array(x)
        x[0] = xp.asarray([2**40]).sum()
        return x

    both(computed, zeros)

    def listed(xp, x):
        x = xp.array(x)
        x[1:] = [1, 2**40]
        return x

    both(listed, zeros)


@pytest.mark.parametrize("name", ["uint8", "int16", "float32"])
def test_where_refuses_python_integers_that_do_not_fit(name):
    refuses = np.lib.NumpyVersion(np.__version__) >= "2.5.0"  # before, it took their low bits
    for numbers in ([], [1, 2, 3]):
        for value in (-2, 3, 300, 2**40):
            x = np.array(numbers, name)
            fits = name == "float32" or np.iinfo(name).min <= value <= np.iinfo(name).max
            if fits or refuses:
                both(lambda xp, x, value=value: xp.where(x > 1, value, x), x)
            else:
                with pytest.raises(OverflowError, match=f"integer {value} out of bounds for"):
                    un.where(un.asarray(x) > 1, value, un.asarray(x))


@pytest.mark.parametrize("name", NUMBERS)
def test_dtypes_are_ordered_by_what_they_hold(name):
    for other in [*NUMBERS, float, "datetime64[s]", "U8"]:
        for compare in (operator.lt, operator.le, operator.gt, operator.ge):
            expected = compare(np.dtype(name), np.dtype(other))
            assert compare(un.dtype(name), un.dtype(other)) is expected, (compare, other)
            assert compare(un.dtype(name), other) is expected, (compare, other)
    assert max(un.dtype("float32"), un.dtype("float64")) is un.float64
    with pytest.raises(TypeError):
        un.dtype(name) < "nothing"  # noqa: B015
