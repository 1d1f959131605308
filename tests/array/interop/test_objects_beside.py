"""Objects of a program's own classes beside our arrays, and what counts as an array or a number of ours."""

import abc
import functools
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import unisono as un


class Quantity:
    """A number with a unit, as libraries of uncertainties and units have them: it knows plain numbers only."""

    def __init__(self, x):
        self.x = x

    def _with(self, other, f):
        if isinstance(other, Quantity):
            other = other.x
        return f(self.x, other) if isinstance(other, (int, float)) else NotImplemented

    def __add__(self, other):
        made = self._with(other, lambda a, b: a + b)
        return made if made is NotImplemented else Quantity(made)

    __radd__ = __add__

    def __mul__(self, other):
        made = self._with(other, lambda a, b: a * b)
        return made if made is NotImplemented else Quantity(made)

    __rmul__ = __mul__

    def __eq__(self, other):
        return self._with(other, lambda a, b: a == b)

    def __lt__(self, other):
        return self._with(other, lambda a, b: a < b)

    __hash__ = None

    def __repr__(self):
        return f"Quantity({self.x})"


programs = """
P.arange(3) * Q(2)
Q(2) * P.arange(3)
P.arange(3.0) + Q(2)
Q(2) + P.arange(3)
Q(2) == P.arange(3)
P.arange(3) == Q(2)
P.arange(3) != Q(2)
P.arange(3) > Q(2)
Q(1) < P.arange(3)
P.arange(3) * Fraction(1, 2)
Fraction(1, 2) - P.arange(3)
P.arange(3) ** Fraction(2)
P.arange(3) * Decimal("0.5")
P.arange(3) < Decimal("0.5")
P.arange(3) == Decimal(1)
P.arange(3) - Q(1)
P.arange(2) * [Q(1), Q(2)]
P.multiply(P.arange(3), Q(2))
P.add(P.arange(3), Fraction(1, 3))
P.arange(2) * P.array([Q(1), Q(2)])
P.sum(P.arange(3) * Q(2))
P.vectorize(lambda v: v.x)(P.array([Q(1), Q(2)]))
P.vectorize(lambda v: v.x)([Q(1), Q(2)])
P.vectorize(lambda v: v.x, otypes=[float])(P.array([Q(1), Q(2)]))
P.vectorize(lambda v: Q(v))(P.array([1, 2]))
P.vectorize(lambda v: Q(v), otypes=[object])(P.array([1, 2]))
P.vectorize(lambda v, w: v.x + w)(P.array([Q(1), Q(2)]), P.arange(2.0))
P.vectorize(len)(P.array(["a", "bcd"]))
P.apply_along_axis(lambda v: v[0], 0, P.array([[Q(1), Q(2)]]))
P.apply_over_axes(P.sum, P.array([[Q(1), Q(2)]]), 0)
P.atleast_1d(Q)
P.atleast_1d(None)
P.atleast_2d(len)
P.int32(2) * Fraction(1, 2)
P.float32(2) == Q(2)
""".strip().splitlines()


@pytest.mark.parametrize("program", programs)
def test_operators_and_functions_beside_objects(program):
    names = {"Q": Quantity, "Fraction": Fraction, "Decimal": Decimal}
    results = []
    for P in (np, un):
        try:
            made = eval(program, names | {"P": P})
            results.append((np.asarray(made).dtype, repr(np.asarray(made)), np.shape(made)))
        except Exception as error:
            results.append(type(error))
    assert results[0] == results[1]


def test_classes_keep_operators_that_they_claim():
    class Claims(Quantity):
        __array_priority__ = 10

        def __rmul__(self, other):
            return type(other).__name__

    class Forbids(Claims):
        __array_ufunc__ = None

    assert un.arange(3) * Claims(2) == un.arange(3) * Forbids(2) == "ndarray"


@pytest.mark.parametrize("made_by", [np, un])
def test_objects_stand_for_the_arrays_that_they_make(made_by):
    """As parameters of fits, which have operators, too; what they make may be an array of ours."""

    class Parameter(Quantity):
        def __array__(self, dtype=None, copy=None):
            return made_by.array(self.x)

    x, p = un.arange(3.0), Parameter(2.0)
    for made, expected in [
        (x * p, [0, 2, 4]),
        (x + p, [2, 3, 4]),
        (x < p, [True, True, False]),
        (x == p, [0, 0, 1]),
    ]:
        assert type(made) is un.ndarray and made.tolist() == expected
    assert (p * x).tolist() == [0, 2, 4] and (p > x).tolist() == [True, True, False]


def test_objects_are_not_written_into_arrays_of_numbers():
    for P in (np, un):
        a = P.arange(3.0)
        with pytest.raises(TypeError):
            a *= Fraction(1, 2)
        assert a.tolist() == [0, 1, 2]


def test_numpys_arrays_are_arrays():
    class Ours(un.ndarray):
        pass

    class Theirs(np.ndarray):
        pass

    for x in (un.ones(3), np.ones(3), np.array(["a"]), np.array([None]), np.ones(2).view(Theirs)):
        assert isinstance(x, un.ndarray) and issubclass(type(x), un.ndarray)
    for x in (1.0, [1.0], np.float64(1), "a", None, un.float64(1)):
        assert not isinstance(x, un.ndarray)
    assert isinstance(un.ones(3)[:1].view(Ours), Ours)
    assert not isinstance(np.ones(3), Ours) and not isinstance(un.ones(3), Ours)
    assert type(un.ones(3)) is un.ndarray


def test_arrays_of_users_derive_from_abstract_classes():
    class Named(abc.ABC):
        @property
        @abc.abstractmethod
        def label(self): ...

    class Both(un.ndarray, Named):
        label = "x"

    made = un.ones(3).view(Both)
    assert isinstance(made + 1, Both) and isinstance(made, Named) and made.label == "x"


def test_functions_by_class_take_numpys_arrays():
    @functools.singledispatch
    def kind(x):
        return "other"

    @kind.register(un.ndarray)
    def _(x):
        return "array"

    assert [kind(x) for x in (un.ones(2), np.ones(2), 1.0)] == ["array", "array", "other"]


@pytest.mark.parametrize(
    "x",
    [np.float64(1), np.float32(1), np.int64(1), np.uint8(1), np.bool_(True), np.complex64(1j), np.str_("a")],
    ids=repr,
)  # fmt: skip
def test_numpys_scalars_are_values(x):
    for (
        name
    ) in """generic number integer signedinteger unsignedinteger inexact floating complexfloating
            float64 float32 int64 uint8 bool_ complex64""".split():
        assert isinstance(x, getattr(un, name)) is isinstance(x, getattr(np, name)), name


def test_names_of_the_package_are_all_there():
    """Before they are used, in a process of their own."""
    text = """
import unisono as un
names = vars(un)
assert callable(names["mean"]) and callable(names["jit"]) and names["linalg"] is un.linalg
from unisono import *
assert mean is un.mean and arctan2 is un.arctan2 and linalg is un.linalg and degrees is un.degrees
import numpy, sys
assert not [n for n in numpy.__all__ if n not in un.__all__ and hasattr(un, n) and not n.startswith("_")]
assert "unisono.opencl" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", text], check=True, timeout=120)


masked_calls = """
P.mean(M)
P.mean(M, axis=0)
P.sum(M, axis=1)
P.median(M)
P.std(M)
P.sqrt(M)
P.add(M, 1)
P.multiply(P.arange(3.0), M)
P.arange(3.0) * M
M + P.arange(3.0)
P.arange(3.0) == M
P.dot(P.arange(2.0), M)
P.matmul(P.arange(2.0), M)
P.arange(2.0) @ M
P.cumsum(M)
P.diff(M)
P.transpose(M)
P.atleast_1d(M)
P.clip(M, 2, 4)
P.round(M)
P.percentile(M, 50)
P.isnan(M)
P.logical_and(M, True)
P.zeros_like(M)
P.array_repr(M)
P.unique(M)
P.linalg.norm(M)
P.linalg.svd(M)[1]
P.linalg.solve(P.eye(2), M)
P.linalg.pinv(M)
P.asarray(M)
P.array(M)
P.asanyarray(M)
""".strip().splitlines()


@pytest.mark.parametrize("program", masked_calls)
@pytest.mark.parametrize("kind", ["masked", "matrix", "class", "memmap"])
def test_classes_of_numpys_keep_their_meaning(program, kind, tmp_path):
    """Masked elements do not count, a matrix stays one; only what is plain numbers may be ours."""

    class Named(np.ndarray):
        pass

    values = np.array([[1.0, 2, 3], [4, 5, 6]])
    if kind == "masked":
        M = np.ma.masked_array(values, mask=[[0, 0, 1], [0, 1, 0]])
    elif kind == "memmap":
        M = np.memmap(tmp_path / "x", float, "w+", shape=(2, 3))
        M[...] = values
    else:
        M = values.view(np.matrix if kind == "matrix" else Named)
    results = []
    for P in (np, un):
        try:
            results.append(eval(program, {"P": P, "M": M}))
        except Exception as error:
            results.append(type(error))
    expected, got = results
    if isinstance(expected, (type, str)):
        assert got == expected or kind == "memmap"  # whose name shows
        return
    if isinstance(expected, (np.ma.MaskedArray, np.matrix, Named)):
        assert type(got) is type(expected) and got.dtype == expected.dtype
        assert np.array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(expected))
    assert np.shape(got) == np.shape(expected)
    assert np.ma.allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "program",
    """
    P.reciprocal(x)
    P.logical_and(x, 1)
    P.logical_or(1, x)
    P.matmul(x, x)
    P.linalg.matmul(x, P.arange(3))
    P.linalg.trace(P.diag(x))
    P.linalg.diagonal(P.diag(x))
    P.linalg.matrix_transpose(P.diag(x))
    P.linalg.multi_dot([x, x, 2 * x][:2])
    P.array2string(x, separator=',')
    P.array_repr(x)
    P.array_str(x)
    P.asarray([x, x])
    P.asarray([Fraction(1, 2), 3])
    P.array([Fraction(1, 2), Fraction(1)])
    P.array([Decimal(1), 2.5])
    P.copy([x, x])
    P.roots(P.array([1, 3, 2], dtype=object))
    """.strip().splitlines(),
)
def test_functions_of_objects(program):
    expected, got = (
        eval(program.strip(), {"P": P, "Fraction": Fraction, "Decimal": Decimal}
             | {"x": np.array([Fraction(1, 2), Fraction(3), Fraction(2)])})
        for P in (np, un)
    )  # fmt: skip
    assert np.asarray(got).dtype == np.asarray(expected).dtype
    if np.asarray(expected).dtype == float:
        return np.testing.assert_allclose(got, expected)
    assert repr(np.asarray(got)) == repr(np.asarray(expected))


def test_names_of_their_own_are_objects_of_their_own():
    """Libraries keep tables by function: what NumPy has twice is there twice, what it has once is there once."""
    for a, b in [
        ("amax", "max"),
        ("amin", "min"),
        ("around", "round"),
        ("degrees", "rad2deg"),
        ("radians", "deg2rad"),
    ]:
        assert getattr(un, a) is not getattr(un, b)
        assert (getattr(un, a).__name__, getattr(un, b).__name__) == (a, b)
        x = un.asarray([[1.25, -2.5], [0.5, 90.0]])
        assert np.array_equal(getattr(un, a)(x), getattr(np, a)(np.asarray(x)))
        assert pickle.loads(pickle.dumps(getattr(un, a))) is getattr(un, a)
    assert un.permute_dims is un.transpose and np.permute_dims is np.transpose
    assert un._NoValue is np._NoValue


def test_copies_of_the_namespace_have_names_of_their_own():
    """A module that copies all functions of ours, as autograd.numpy does, exports its names and not ours."""
    with pytest.raises(AttributeError, match="__all__"):
        vars(un)["__getattr__"]("__all__")
    assert "sqrt" in un.__all__


def test_views_of_numpys_classes():
    x = un.arange(4.0).reshape(2, 2)
    m = x.view(np.matrix)
    assert type(m) is np.matrix and (m * m).tolist() == [[2, 3], [6, 11]]
    m[0, 0] = 9
    assert x[0, 0] == 9
    assert type(x.view(np.ndarray)) is np.ndarray and type(x.view(type=np.matrix)) is np.matrix
    assert type(x.view(un.ndarray)) is un.ndarray


class Tagged(np.ndarray):
    """A class of NumPy's whose functions decide by its own protocol, as of quantities with units."""

    def __array_function__(self, function, types, args, options):
        made = super().__array_function__(function, types, args, options)
        return made.view(Tagged) if type(made) is np.ndarray else made


@pytest.mark.parametrize(
    "call",
    [
        "reshape(Q, (2, 1))", "copy(Q)", "array(Q, subok=True)", "broadcast_to(Q, (2, 2), subok=True)", "astype(Q, 'f4')",
        "concatenate([Q, Q])", "concat((Q, X))", "stack([X, Q])", "vstack([Q, Q])", "hstack([Q, Q])", "dstack([Q, Q])",
        "column_stack([Q, Q])", "block([Q, Q])", "where([True, False], Q, X)", "where([True, False], X, Q)",
        "choose([0, 1], [Q, Q])", "select([[True, False]], [Q])", "add.reduce(Q)", "add.accumulate(Q)", "fft.fft(Q)",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "q", [np.array([1.0, 2.0]).view(Tagged), np.ma.masked_array([1.0, 2.0], [0, 1])]
)
def test_functions_keep_classes_of_numpys_that_they_find_in_lists(q, call):
    def result(xp):
        names = {"xp": xp, "Q": q, "X": xp.asarray([3.0, 4.0])}
        try:
            return eval("xp." + call, names)
        except Exception as error:
            return type(error)

    ours, theirs = result(un), result(np)
    assert type(ours) is (un.ndarray if type(theirs) is np.ndarray else type(theirs))
    if not isinstance(theirs, type):
        np.testing.assert_array_equal(np.ma.getmaskarray(ours), np.ma.getmaskarray(theirs))
        np.testing.assert_array_equal(np.ma.filled(ours, 0), np.ma.filled(theirs, 0))


def test_objects_of_extended_precision_in_transforms():
    x = np.arange(4, dtype=np.longdouble)
    made = un.fft.fft(x)
    assert type(made) is np.ndarray and made.dtype == np.fft.fft(x).dtype


def test_text_of_others_columns_is_compared():
    pd = pytest.importorskip("pandas")
    names = pd.Series(["a", "b"])
    assert un.array_equal(names, ["a", "b"]) and un.array_equiv(names, ["a", "b"])
    assert not un.array_equal(names, ["a", "c"]) and not un.array_equal([object()], un.ones(1))


class Operator:
    """What has elements and a shape but is no array, as a linear operator."""

    dtype, shape, name = np.dtype("complex64"), (2, 2), "C"


def test_dtypes_of_what_is_no_array():
    assert un.dtype(Operator()) == "complex64" and un.ones(2, dtype=Operator()).dtype == "complex64"
    assert un.iscomplexobj(Operator()) and not un.isrealobj(Operator())
    with pytest.raises((TypeError, ValueError)):
        un.dtype(un.ones(2))


def test_sets_and_searches_of_records():
    records = [(1, 2), (3, 4), (1, 2)]
    x, a = (xp.array(records, dtype=[("x", "i8"), ("y", "i8")]) for xp in (un, np))
    for call in (
        lambda xp, v: xp.isin(v, v[:1]),
        lambda xp, v: xp.setdiff1d(v, v[:1]),
        lambda xp, v: xp.union1d(v, v),
        lambda xp, v: xp.intersect1d(v, v[1:]),
        lambda xp, v: xp.searchsorted(xp.sort(v), v),
        lambda xp, v: xp.where(xp.asarray([True, False, True]), v, v[1]),
        lambda xp, v: xp.broadcast_to(v, (2, 3)),
    ):
        assert call(un, x).tolist() == call(np, a).tolist()
    with pytest.raises(TypeError, match="records"):
        x < x  # noqa: B015


def test_subclasses_call_the_wrapping_of_the_base():
    class Plain(un.ndarray):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            return un.ndarray.__array_wrap__(self, array, context, return_scalar)

    x = un.arange(3.0).view(Plain)
    assert type(x + 1) is Plain and (x + 1).tolist() == [1, 2, 3]
    assert type(un.ndarray.__array_wrap__(un.ones(2), un.ones(2))) is un.ndarray


def test_attributes_of_functions_are_set_as_of_numpys():
    before = un.max.__name__
    try:
        un.max.__name__, un.max.mark = "other", 1
        assert un.max.__name__ == "other" and un.max.mark == 1
        assert un.max(un.arange(3)) == 2 and un.max(np.ma.masked_array([1, 2], [0, 1])) == 1
    finally:
        un.max.__name__ = before
        del un.max.mark
