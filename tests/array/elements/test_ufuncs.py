"""Elementwise functions as objects: attributes, call options and methods, compared with NumPy's."""

import pickle

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

# Where both give the same bits: small whole numbers.
BINARY = ["add", "subtract", "multiply", "maximum", "minimum"]


def same(got, expected):
    """Value, dtype and shape."""
    assert isinstance(got, (un._engine._Array, *un._engine._values))
    assert str(got.dtype) == str(expected.dtype), (got.dtype, expected.dtype)
    np.testing.assert_array_equal(np.asarray(got), expected)
    assert tuple(got.shape) == np.shape(expected)


def test_attributes_are_numpys():
    for name in ("add", "sqrt", "less", "bitwise_and", "maximum", "divmod"):
        ours, theirs = getattr(un, name), getattr(np, name)
        assert isinstance(ours, un.ufunc)
        for attribute in ("__name__", "nin", "nout", "nargs", "identity", "signature"):
            assert getattr(ours, attribute) == getattr(theirs, attribute), (name, attribute)
        assert ours.ntypes == len(ours.types)
    assert "dd->d" in un.add.types and "dd->?" in un.less.types
    assert repr(un.add) == "<ufunc 'add'>" and "where=True" in un.add.__doc__
    assert pickle.loads(pickle.dumps(un.add)) is un.add
    with pytest.raises(TypeError, match="frompyfunc"):
        un.ufunc()


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
def test_options(xp):
    a, b = xp.arange(4.0), xp.arange(4.0) + 1
    out = xp.zeros(4)
    assert xp.add(a, b, out) is out and out.tolist() == [1, 3, 5, 7]
    assert xp.add(a, b, out=(out,)) is out
    mask = xp.asarray([True, False, True, False])
    out = xp.full(4, 9.0)
    xp.multiply(a, b, out=out, where=mask)
    assert out.tolist() == [0, 9, 6, 9]
    assert str(xp.add(a, 1, dtype="float32").dtype) == "float32"
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' input"):
        xp.add(a, 1, dtype="int64")
    assert xp.add(a, 1, dtype="int64", casting="unsafe").tolist() == [1, 2, 3, 4]
    whole = xp.zeros(4, dtype="int64")
    assert xp.add(a, b, out=whole, casting="unsafe").tolist() == [1, 3, 5, 7]
    with pytest.raises(TypeError, match="[cC]annot cast"):
        xp.add(a, b, out=whole)
    with pytest.raises(TypeError, match="cannot specify 'out' as both"):
        xp.add(a, b, out, out=out)
    with pytest.raises(TypeError, match="unexpected keyword"):
        xp.add(a, b, nothing=1)
    with pytest.raises(TypeError, match="from 2 to 3 positional arguments"):
        xp.add(a)
    with pytest.raises(ValueError, match="exactly one entry"):
        xp.add(a, b, out=(out, out))
    with pytest.raises(ValueError, match="non-broadcastable output"):
        xp.add(a, b, out=xp.zeros(3)[:1], where=mask)
    with pytest.raises(TypeError, match="Cannot cast array data"):
        xp.add(a, b, out=out, where=a)


def test_order_and_numpys_memory_as_target():
    a = un.arange(6.0).reshape(2, 3)
    assert un.add(a, 1, order="F").strides == (8, 16)
    target = np.zeros((2, 3))
    assert un.add(a, 1, out=target) is target and target[1, 2] == 6


@pytest.mark.parametrize(
    "name", BINARY + ["bitwise_xor", "logical_and", "logical_or", "logical_xor"]
)
@pytest.mark.parametrize("axis", [0, 1, -1, None, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduce(name, axis, keepdims):
    x = np.arange(24).reshape(2, 3, 4) % 7
    if name == "subtract" and not isinstance(axis, int):
        with pytest.raises(ValueError, match="not reorderable"):
            un.subtract.reduce(un.asarray(x), axis=axis)
        return
    expected = getattr(np, name).reduce(x, axis=axis, keepdims=keepdims)
    same(getattr(un, name).reduce(un.asarray(x), axis=axis, keepdims=keepdims), expected)


def test_reduce_initial_where_out():
    x = np.arange(12.0).reshape(3, 4)
    a = un.asarray(x.copy())
    mask = x % 2 == 0
    same(un.add.reduce(a, initial=5), np.add.reduce(x, initial=5))
    same(un.add.reduce(a, axis=1, where=mask), np.add.reduce(x, axis=1, where=mask))
    same(un.maximum.reduce(a, where=mask, initial=-1), np.maximum.reduce(x, where=mask, initial=-1))
    same(
        un.maximum.reduce(un.zeros((0, 2)), initial=3),
        np.maximum.reduce(np.zeros((0, 2)), initial=3),
    )
    out = un.zeros(4)
    assert un.add.reduce(a, out=out) is out
    same(out, np.add.reduce(x))
    same(un.add.reduce(a, dtype="float32"), np.add.reduce(x, dtype="float32"))
    for f in (un.maximum, np.maximum):
        with pytest.raises(ValueError, match="does not have an identity"):
            f.reduce(x, where=mask)
        with pytest.raises(ValueError):
            f.reduce(np.zeros(0))
        with pytest.raises((ValueError, IndexError), match="out of bounds"):
            f.reduce(x, axis=2)
    with pytest.raises(ValueError, match="binary functions"):
        un.sqrt.reduce(a)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("axis", [0, 1])
def test_accumulate(name, axis):
    x = (np.arange(35) * 11 % 13).reshape(5, 7).astype("float64")
    same(getattr(un, name).accumulate(un.asarray(x), axis), getattr(np, name).accumulate(x, axis))
    with pytest.raises(TypeError, match="cannot accumulate on a scalar"):
        getattr(un, name).accumulate(3)


def test_outer_and_reduceat():
    x, y = np.arange(3), np.arange(4.0)
    same(un.subtract.outer(x, y), np.subtract.outer(x, y))
    same(un.less.outer(x, 1), np.less.outer(x, 1))
    z = np.arange(16.0).reshape(2, 8)
    for axis, where in ((1, [0, 4, 1, 7]), (0, [1, 0])):
        made = un.add.reduceat(un.asarray(z), where, axis)
        same(made, np.add.reduceat(z, where, axis))
        assert made.flags.c_contiguous
    with pytest.raises(IndexError, match="out-of-bounds in add.reduceat"):
        un.add.reduceat(z, [16])


def test_two_results():
    x = np.array([-2.5, -0.0, 0.25, 3.0, 7.75])
    for got, expected in zip(un.divmod(x, 2.0), np.divmod(x, 2.0), strict=True):
        same(got, expected)
    q, r = un.zeros(5), un.zeros(5)
    made = un.divmod(x, 2.0, out=(q, r))
    assert made[0] is q and made[1] is r
    same(r, np.divmod(x, 2.0)[1])


def test_exponents_and_fractions_are_exact():
    x = np.array(
        [
            1.5,
            -0.0,
            0.3,
            1e-310,
            np.inf,
            np.nan,
            -7.25,
            2.0**1000,
            5e-324,
            0.5,
            1.0,
            0.49999999999999994,
        ]
    )
    a = un.array(x)
    for name in ("frexp", "modf"):
        for got, expected in zip(getattr(un, name)(a), getattr(np, name)(x), strict=True):
            same(got, expected)
    for n in (3, -1030, 1100):
        same(un.ldexp(a, n), np.ldexp(x, n))


@pytest.mark.parametrize("name", ["add", "maximum", "subtract", "power"])
def test_at_writes_repeated_indices_once_each(name):
    x = np.arange(12.0).reshape(3, 4)
    where, values = ([1, 1, 2, 1], [0, 0, 3, 0]), [1.0, 2, 3, 4]
    a = un.array(x)
    getattr(un, name).at(a, where, values)
    getattr(np, name).at(x, where, values)
    same(a, x)
    getattr(un, name).at(a.T, 2, 2.0)
    getattr(np, name).at(x.T, 2, 2.0)
    same(a, x)
    un.negative.at(a, (slice(None), 1))
    np.negative.at(x, (slice(None), 1))
    same(a, x)
    with pytest.raises(ValueError, match="second operand needed"):
        getattr(un, name).at(a, 0)


@pytest.mark.parametrize("target", ["int8", "uint64", "float32", "float64", "bool", "complex128"])
@pytest.mark.parametrize("values", ["int64", "float64", "bool"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "hypot", "logical_or", "less"])
def test_at_computes_in_the_common_dtype_and_casts_back(target, values, name):
    if target == "complex128" and name == "hypot":
        pytest.skip("not defined")
    rng = np.random.default_rng(3)
    x = rng.integers(0, 3, (4, 6)).astype(target)
    i, j = rng.integers(0, 4, 500), rng.integers(-3, 3, 500)
    v = rng.integers(0, 3, 500).astype(values)
    a = un.array(x)
    getattr(un, name).at(a[:, ::2], (un.array(i), un.array(j)), un.array(v))
    with np.errstate(all="ignore"):
        getattr(np, name).at(x[:, ::2], (i, j), v)
    assert np.allclose(a, x, equal_nan=True), (a, x)


def test_loops_of_dtypes():
    assert un.add.resolve_dtypes(("float32", "float64")) == (un.float64,) * 3
    assert un.less.resolve_dtypes(("int32", "int32"))[2] == un.bool
    assert un.sqrt.resolve_dtypes(("int64",))[0] == un.float64


@pytest.mark.parametrize("dtype", ["float64", "int8", "float16", "complex128", "bool"])
@pytest.mark.parametrize(
    "name", ["add", "multiply", "maximum", "minimum", "bitwise_xor", "logical_or"]
)
def test_reduceat_of_many_segments(dtype, name):
    if name == "bitwise_xor" and dtype in ("float64", "float16", "complex128"):
        pytest.skip("not defined")
    rng = np.random.default_rng(6)
    x = (rng.standard_normal(3000) * 1.5).astype(dtype)
    for begins in (np.sort(rng.integers(0, 3000, 200)), rng.integers(0, 3000, 90), np.array([5])):
        with np.errstate(all="ignore"):
            expected = getattr(np, name).reduceat(x, begins)
        made = getattr(un, name).reduceat(un.array(x), un.array(begins))
        assert made.dtype == expected.dtype
        if not np.isfinite(expected).all():
            continue
        assert np.allclose(made, expected, rtol=1e-2 if dtype == "float16" else 1e-9, atol=1e-1)
    with pytest.raises(IndexError, match="index 3000 out-of-bounds"):
        getattr(un, name).reduceat(un.array(x), [0, 3000])


def test_segments_have_the_bits_of_reductions():
    x = un.array(np.random.default_rng(7).standard_normal(5000))
    begins = [0, 10, 700, 4000, 5000]
    made = un.add.reduceat(x, begins[:-1])
    assert made.tolist() == [float(x[a:b].sum()) for a, b in zip(begins, begins[1:], strict=False)]


@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (300, 1), (20, 30, 10)])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_segments_of_rows_have_the_bits_of_reductions(shape, axis):
    x = np.random.default_rng(8).standard_normal(shape)
    n = shape[axis]
    for begins in (np.arange(0, n, 7), np.array([0, n - 1] * 3), np.array([0, n // 2, n // 3])):
        made = np.moveaxis(np.asarray(un.add.reduceat(un.array(x), begins, axis)), axis, 0)
        moved = un.array(np.moveaxis(x, axis, 0))
        for k, (first, end) in enumerate(zip(begins, [*begins[1:], n], strict=True)):
            row = moved[first:end].sum(axis=0) if end > first else moved[first]
            np.testing.assert_array_equal(made[k], np.asarray(row))


def test_segments_of_one_length_are_reduced_together():
    x = un.ones((700, 30))
    expected = un.asarray([[7.0] * 30] * 100)
    launched = un.stats()["kernels_launched"]
    made = un.add.reduceat(x, un.arange(0, 700, 7), 0)
    assert (made == expected).all()
    assert un.stats()["kernels_launched"] - launched < 30


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize(
    "name",
    [
        "add",
        "subtract",
        "multiply",
        "maximum",
        "minimum",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
    ],
)
def test_at_of_each_operation(name, dtype):
    if name.startswith("bitwise") and dtype.startswith("float"):
        pytest.skip("not defined")
    rng = np.random.default_rng(9)
    table = rng.integers(0, 100, 20).astype(dtype)
    values = rng.integers(0, 100, 400).astype(dtype)
    if dtype == "float64":
        table[3], values[7] = np.nan, np.nan
        table[5], values[9] = -0.0, 0.0
    places = rng.integers(-20, 20, 400)
    ours = un.array(table)
    getattr(un, name).at(ours, un.array(places), un.array(values))
    with np.errstate(all="ignore"):
        getattr(np, name).at(table, places, values)
    same(ours, table)


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
def test_out_of_methods(xp):
    a, rows = xp.arange(4.0), xp.ones((2, 4))
    for made in (
        xp.add.reduce(a, out=...),
        xp.add.reduce(rows, axis=0, out=...),
        xp.add.accumulate(a, out=...),
        xp.add.reduceat(a, [0, 2], out=...),
    ):
        assert isinstance(made, xp.ndarray)
    assert xp.add.reduce(a, out=...).shape == ()
    for method in (xp.add.reduce, xp.add.accumulate):
        with pytest.raises(TypeError):
            method(a, 0, None, "no array")
    with pytest.raises(ValueError):
        xp.add.reduce(rows, out=(xp.zeros(4), xp.zeros(4)))


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
def test_errors_of_methods_are_reported(xp):
    a = xp.asarray([np.inf, 0, -np.inf])
    for method in (xp.add.reduce, xp.add.accumulate, lambda x: xp.add.reduceat(x, [0])):
        with xp.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value"):
            method(a)


def test_dtypes_of_loops_beside_pythons_numbers():
    for kinds in (("f4", int), ("f4", float), ("i2", int), ("i4", float), ("f4", complex)):
        first, number = kinds
        ours = un.add.resolve_dtypes((un.dtype(first), number, None))
        assert [str(d) for d in ours] == [
            str(d) for d in np.add.resolve_dtypes((np.dtype(first), number, None))
        ]


def places(xp, *values, dtype="int64"):
    return xp.asarray(np.array(values, dtype))


AT = {
    "an array of itself": lambda xp, a, w: (xp.add.at(w, w, 1), w),
    "values within": lambda xp, a, w: (xp.add.at(w, w[::-1], w[1:2]), w),
    "two axes": lambda xp, a, w: (
        xp.add.at(a, (places(xp, 0, -4, 3, 0), places(xp, 1, 1, -5, 1)), 2.5),
        a,
    ),
    "crossed": lambda xp, a, w: (
        xp.multiply.at(a, (places(xp, 0, 2, 0)[:, None], places(xp, 1, -1)), 2),
        a,
    ),
    "a transpose": lambda xp, a, w: (xp.maximum.at(a.T, (w[:3], places(xp, 0, 1, -1)), 7), a),
    "short dtypes": lambda xp, a, w: (
        xp.add.at(a, (places(xp, 1, dtype="u1"), places(xp, 3, dtype="i2")), [9]),
        a,
    ),
    "every second": lambda xp, a, w: (xp.subtract.at(w[::2], places(xp, 0, -1, -1), 1), w),
    "no value": lambda xp, a, w: (xp.negative.at(w, places(xp, 0, 0, 1)), w),
    "one place": lambda xp, a, w: (xp.add.at(w, xp.asarray(3), 5), w),
    "places of two axes": lambda xp, a, w: (
        xp.add.at(w, places(xp, 1, 2, 2, 1).reshape(2, 2), [[1, 2], [3, 4]]),
        w,
    ),
    "nowhere": lambda xp, a, w: (xp.add.at(w, places(xp), 1), w),
    "a row": lambda xp, a, w: (xp.add.at(a, places(xp, 1, -1, 1), 1), a),
    "a mask": lambda xp, a, w: (xp.add.at(w, w > 2, 1), w),
}


@pytest.mark.parametrize("case", AT)
def test_at_places(case):
    results = []
    for xp in (np, un):
        a, w = xp.arange(20.0).reshape(4, 5) % 7, xp.asarray([3, 1, 4, 1, 5, 0])
        results.append(AT[case](xp, a, w)[1])
    same(results[1], results[0])
    for wrong in (places(un, 6), places(un, 0, -7)):
        with pytest.raises(IndexError):
            un.add.at(w, wrong, 1)


def test_at_takes_no_memory_by_the_size_of_its_target():
    x, where = un.zeros(100_000), un.asarray([1, 2, 2])
    un.add.at(x, where, 1.0)
    assert float(x[2]) == 2
    before = un.stats()["bytes_allocated"]
    un.add.at(x, where, 1.0)
    assert float(x[2]) == 4 and un.stats()["bytes_allocated"] - before < 10_000
