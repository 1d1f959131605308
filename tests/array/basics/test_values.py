"""Values are numbers: what Python, its library and other packages do with a float they do with a value."""

import collections.abc
import copy
import datetime
import fractions
import json
import math
import numbers
import operator
import pickle
import statistics
import time

import numpy as np
import pytest
import unisono as un


def values():
    x = un.asarray([1.5, 2.5, 4.0])
    return {
        "float64": (x[0], 1.5),
        "int64": (un.arange(5)[3], 3),
        "complex128": (un.asarray([1 + 2j])[0], 1 + 2j),
        "sum": (x.sum(), 8.0),
        "mean": (x.mean(), 8 / 3),
        "dot": (un.dot(x, x), 24.5),
    }


@pytest.mark.parametrize("name", values())
def test_a_value_is_a_python_number(name):
    value, number = values()[name]
    kind = type(number)
    assert isinstance(value, kind) and value == number and hash(value) == hash(number)
    assert value.dtype == {float: "float64", int: "int64", complex: "complex128"}[kind]
    assert value.shape == () and value.ndim == 0 and value.item() == number
    assert type(value.item()) is kind and np.isscalar(value)
    assert isinstance(value, numbers.Number)


def test_python_takes_values_as_numbers():
    v, n = un.asarray([0.25])[0], un.arange(5)[2]
    assert json.dumps({"v": v, "n": n}) == '{"v": 0.25, "n": 2}'
    assert time.sleep(v * 0) is None
    assert fractions.Fraction(v) == fractions.Fraction(1, 4)
    assert datetime.timedelta(seconds=v) == datetime.timedelta(seconds=0.25)
    assert math.sqrt(v) == 0.5 and round(v) == 0 and f"{v:.3f} {n:d}" == "0.250 2"
    assert list(range(n)) == [0, 1] and [1, 2, 3][n] == 3 and [7] * n == [7, 7]
    x = un.asarray([1.0, 2.0, 6.0])
    assert statistics.mean(x) == 3 and statistics.mean(list(x)) == 3 and max(x) == 6


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "complex64"])
def test_other_dtypes_register_as_numbers(dtype):
    x = un.ones(3, dtype=dtype)
    abstract = {"f": numbers.Real, "c": numbers.Complex}.get(x.dtype.kind, numbers.Integral)
    for value in (x[0], x.sum()):
        assert isinstance(value, abstract) and np.isscalar(value)
    assert not isinstance(x, numbers.Number) and not isinstance(un.asarray(1.0), numbers.Number)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "complex64", "bool"])
def test_other_dtypes_have_classes(dtype):
    of = {}
    for xp in (np, un):
        x = xp.asarray([1, 0, 1], dtype=dtype)
        v, kind = x[0], type(x[0])
        of[xp] = [
            (kind.__name__, type(v * v).__name__, v.__class__ is kind),
            [isinstance(v, c) for c in (xp.ndarray, xp.generic, xp.floating, xp.integer)],
            [issubclass(kind, c) for c in (xp.generic, xp.inexact, numbers.Real, numbers.Integral)],
            [isinstance(v, c) for c in (numbers.Complex, collections.abc.Iterable)],
            (kind(1) == v, type(kind(1)) is kind, kind(0).dtype.name, hasattr(v, "__len__")),
            (hash(v) == hash(1), {1: "one"}[v], {v: "v"}[1], xp.dtype(kind) == xp.dtype(dtype)),
            (kind == getattr(xp, dtype), {getattr(xp, dtype): 1}.get(kind)),
            (type(xp.asarray(v)).__name__, np.asarray([v, v]).dtype.name, xp.asarray(v).shape),
            (type(x.max()).__name__, x[:1].sum().dtype.name, type(x.any()).__name__),
            (hasattr(v, "__index__"), str(v), f"{v}", v.tolist(), v.item()),
        ]
    assert of[np] == of[un]


def test_numbers_of_other_dtypes_in_the_standard_library():
    for dtype in ("float32", "int32"):
        x, a = un.asarray([3, 1, 4], dtype=dtype), np.asarray([3, 1, 4], dtype=dtype)
        for f in (statistics.mean, statistics.variance, statistics.median, statistics.mode, sorted):
            assert f(x) == f(a) and type(f(x)).__name__ == type(f(a)).__name__
        total = kept = x[0]
        total += x[1]
        assert (total, kept) == (4, 3) and type(total) is type(x[0])
        with pytest.raises(TypeError):
            x[0][...] = 3
        with pytest.raises(TypeError, match="not iterable"):
            iter(x[0])


def test_a_subclass_computes_beside_numbers_of_other_dtypes():
    class Named(un.ndarray):
        pass

    b = un.ones(3).view(Named)
    v = un.float32(2)
    assert type(v * b) is Named and type(b * v) is Named and type(v > b) is Named


def test_truth_values_are_scalars():
    x = un.asarray([1.0, -1.0])
    for value in ((x > 0)[0], (x > 0).any(), (x > 0).all()):
        assert np.isscalar(value) and isinstance(value, numbers.Number)
        assert not isinstance(value, numbers.Integral)
    assert not np.isscalar(x > 0) and not np.isscalar(un.asarray(True))


def test_what_is_pending_registers_as_a_number():
    x = un.ones(1 << 17) * 2
    total = x.sum()
    assert not isinstance(total, float) and isinstance(total, numbers.Real)
    assert float(total) == 2 << 17


def test_operators_keep_the_dtype():
    v = un.asarray([1.5])[0]
    for made in (v + 1, 1 + v, 2.0 * v, np.float64(2) * v, -v, abs(v), v**2, v // 1, v % 1):
        assert made.dtype == "float64" and isinstance(made, float)
    # A value has a dtype, a Python number has none.
    single = un.ones(2, dtype="float32")
    assert (single * v).dtype == "float64" and (single * 1.5).dtype == "float32"
    assert un.sqrt(v).dtype == "float64" and np.sqrt(v) == un.sqrt(v)
    assert un.stack([v, v]).dtype == "float64" and un.sum(v) == 1.5


def test_values_are_snapshots_and_immutable():
    x = un.asarray([1.0, 2.0])
    x[0], x[1] = x[1], x[0]
    assert x.tolist() == [2, 1]
    v = x[0]
    x[0] = 9
    assert v == 2
    with pytest.raises(TypeError):
        v[()] = 1
    v += 1
    assert v == 3 and x[0] == 9


@pytest.mark.parametrize("value", [0, 1, -1, 2**30, -(2**30), 2**31, 2**62, -(2**63), 2**63 - 1])
def test_integers_of_any_size(value):
    got = un.asarray([value])[0]
    assert got == value and int(got) == value and operator.index(got) == value
    assert got + 0 == value and str(got) == str(value) and hash(got) == hash(value)


@pytest.mark.parametrize(
    "dtype", ["float64", "int64", "complex128", "float32", "complex64", "float16", "bool"]
)
def test_copies_and_pickles(dtype):
    x = un.ones(3, dtype=dtype)
    for back in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert back.dtype == dtype and back.tolist() == x.tolist()
    for back in (pickle.loads(pickle.dumps(x[0])), copy.copy(x[0]), copy.deepcopy(x[0])):
        assert back.dtype == dtype and back == x[0] and back.shape == ()
        assert type(back) is type(x[0])


def test_many_values_leave_no_memory():
    x = un.arange(1000)
    un.eval(x)
    before = un.stats()["bytes_in_use"]
    kept = [v * 2 for _ in range(20) for v in x]
    assert sum(kept) == 20 * 999 * 1000
    del kept
    assert un.stats()["bytes_in_use"] == before


def test_views_have_the_array_as_their_base():
    x = un.arange(12.0).reshape(3, 4).copy()
    views = [
        x.T, x[1:], x[...], x.view(), x.reshape(4, 3), x.view(un.int64), x.ravel(), x[1:][:1], x.swapaxes(0, 1),
        un.einsum("ij->ji", x), un.einsum("ij->ij", x), un.moveaxis(x, 0, 1), un.broadcast_to(x, (2, 3, 4)), un.diagonal(x),
        un.einsum("ii->i", x[:, :3]),
    ]  # fmt: skip
    for view in views:
        assert view.base is x and not view.flags.owndata
    z = x + 1j
    assert z.real.base is z and z.base is None
    assert x.base is None and x.flags.owndata and x.copy().base is None
    whole, part, view = views[3], views[1], None
    del views, x
    assert whole.base is None and whole.flags.owndata
    assert part.base.shape == (12,) and whole[1:].base.shape == (12,)


def test_the_base_of_what_took_other_memory():
    x = un.arange(6.0)
    before = x[1:]
    x.resize(8, refcheck=False)
    assert before.base is not x and before.tolist() == [1, 2, 3, 4, 5]


def test_subclasses_views_and_bases():
    class Named(un.ndarray):
        name = "none"

        def __array_finalize__(self, other):
            self.name = "made"

    a = Named((2, 3))
    assert type(a) is Named and a.shape == (2, 3)
    x = un.zeros(3)
    b = x.view(Named)
    b[0] = 5
    assert b.name == "made" and x[0] == 5 and type(b + 1) is Named
    assert x.base is None and x[1:].base is x and b.base is x
    assert issubclass(x.dtype.type, np.floating) and x.dtype.type == np.float64


@pytest.mark.parametrize(
    "f",
    [
        lambda xp, x: xp.vecdot(x, x),
        lambda xp, x: xp.linalg.vecdot(x, x),
        lambda xp, x: xp.inner(x, x),
        lambda xp, x: xp.einsum("i,i->", x, x),
        lambda xp, x: xp.einsum("i->", x),
        lambda xp, x: xp.percentile(x, 25),
        lambda xp, x: xp.quantile(x, 0.5),
        lambda xp, x: xp.nanpercentile(x, 75),
    ],
)
def test_results_without_axes_are_numbers_where_numpys_are(f):
    host = np.array([1.0, 4.0, 2.0])
    mine, theirs = f(un, un.asarray(host)), f(np, host)
    assert isinstance(theirs, float) and isinstance(mine, float)
    assert (mine, type(mine).__name__) == (theirs, type(theirs).__name__)


def test_insert_at_a_float_is_a_type_error():
    for xp in (np, un):
        with pytest.raises(TypeError):
            xp.insert(xp.asarray([1, 2, 3]), 1.5, 9)


def test_powers_of_integers_with_a_modulus():
    for x in (un.int64(3), un.array([3, 1])[0], 3):
        assert pow(x, un.int64(4), un.int64(5)) == pow(x, 4, un.int64(5)) == 1
        assert pow(x, un.int64(-1), 5) == 2
    with pytest.raises(TypeError):
        pow(un.float64(3), un.int64(4), un.int64(5))
    with pytest.raises(TypeError):
        pow(un.array([3]), 4, 5)
