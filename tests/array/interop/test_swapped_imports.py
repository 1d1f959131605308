"""What libraries asked of our arrays when only their imports were changed from NumPy's."""

import operator
import subprocess
import sys

import numpy as np
import pytest
import unisono as un


@pytest.mark.parametrize("name", ["float64", "int64", "complex128"])
def test_tables_that_are_made_with_dtypes_are_asked_with_types_of_values(name):
    dtype = getattr(un, name)
    kind = type(un.asarray([1], dtype)[0])
    assert {dtype: "found"}[kind] == "found" and {kind: "found"}[dtype] == "found"
    assert kind in {un.float32, dtype} and kind not in {un.float32, un.bool_}
    assert hash(kind) == hash(dtype) and kind == dtype


NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("name", NAMES.split())
def test_tables_of_dtypes_find_what_is_equal(name):
    dtype, theirs, x = getattr(un, name), np.dtype(name).type, un.ones(3, name)
    asked = (dtype, un.dtype(name), un.dtype(theirs), x.dtype, x.dtype.type, theirs, type(x[0]))
    for key in (dtype, x.dtype.type, theirs, type(x[0])):
        for other in asked:
            if key == other:
                assert hash(key) == hash(other) and {key: 1}[other] == 1 and other in {key}
    assert all(dtype == other for other in asked)
    assert x.dtype.type is dtype and x.dtype.type in (un.uint8, dtype)
    value = x.dtype.type(1)
    assert value.dtype is dtype and isinstance(value, x.dtype.type)
    assert issubclass(x.dtype.type, (theirs, np.generic)) and issubclass(x.dtype.type, un.generic)
    assert not issubclass(x.dtype.type, np.character) and np.dtype(x.dtype.type) is np.dtype(name)


def test_dtypes_hash_alike_before_and_after_numpy_is_imported():
    program = """
import numbers, sys
import unisono as un
x = un.ones(2, "uint8")
assert isinstance(x, un.ndarray) and "numpy" not in sys.modules
table, kinds = {un.uint8: 1}, {type(x[0])}
assert isinstance(x[0], numbers.Integral) and not isinstance(un.ones(1, "bool")[0], numbers.Complex)
import numpy
assert table[numpy.uint8] == table[x.dtype.type] == 1 and un.uint8 in kinds
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class OfFunctions:
    """A class that knows elementwise functions by the names that its module imports."""

    __array_priority__ = 100.0

    def __array_ufunc__(self, function, method, *inputs, **options):
        known = {un.divide: "divided", un.sin: "sine"}
        return known.get(function, NotImplemented)


def test_classes_know_functions_by_our_names():
    x = OfFunctions()
    assert un.sin(x) == "sine"
    for other in (2.0, un.asarray([1.0, 2.0]), un.asarray([1.0])[0]):
        assert un.divide(x, other) == "divided" and un.divide(other, x) == "divided"
    for other in (2.0, un.asarray([1.0])[0]):
        with pytest.raises(TypeError, match="NotImplemented"):
            un.multiply(x, other)


class Meters(np.ndarray):
    """A class that derives from NumPy's array, as quantities with a unit do."""


@pytest.mark.parametrize("dtype", ["float64", "int64", "float32"])
def test_numbers_beside_arrays_of_numpys_classes_without_axes(dtype):
    v, d = un.asarray([2], dtype)[0], np.array(3.0).view(Meters)
    w = np.asarray(v)[()]
    for name in "add sub mul truediv floordiv mod pow lt le eq ne ge gt".split():
        op = getattr(operator, name)
        assert op(v, d) == op(w, d) and type(op(v, d)) is type(op(w, d))
        assert op(d, v) == op(d, w) and type(op(d, v)) is type(op(d, w))


class Wrapping:
    """A class with the interface of a sequence, of which some objects have no length."""

    def __init__(self, value):
        self.value = value

    def __len__(self):
        return len(self.value)

    def __getitem__(self, key):
        return Wrapping(self.value[key])


@pytest.mark.parametrize("xp", [np, un])
def test_elements_that_have_items_but_no_length_are_objects(xp):
    made = xp.array([Wrapping(xp.ones(2)), Wrapping(xp.ones(2))])
    assert made.shape == (2, 2) and made.dtype == object and made[1, 0].value == 1
    assert xp.array([Wrapping(1.0), Wrapping(2.0)]).shape == (2,)
    assert xp.concatenate([Wrapping(xp.ones(2)), xp.ones(3)]).shape == (5,)
    assert xp.r_[Wrapping(xp.ones((2, 2))), xp.ones((3, 2))].shape == (5, 2)


class Interrupted:
    def __len__(self):
        raise KeyboardInterrupt

    __getitem__ = None


def test_what_a_length_raises_is_not_lost():
    Interrupted.__getitem__ = lambda self, k: 1.0
    with pytest.raises(KeyboardInterrupt):
        un.array([Interrupted()])


def test_nothing_is_an_object():
    made = un.array(None)
    assert made.dtype == object and made.shape == () and made[()] is None
    for given in ({}, object()):
        with pytest.raises(TypeError):
            un.array(given)


def test_numbers_of_extended_precision_are_numpys():
    a = np.arange(3, dtype=np.longdouble)
    assert un.asarray(a) is a and un.array(a).dtype == a.dtype
    assert type(un.array([a[0], a[1]])) is np.ndarray and un.array([a[0], 1.0]).dtype == a.dtype
    un.testing.assert_allclose(a, [0, 1, 2])
    un.testing.assert_equal(a[1], 1)
    un.testing.assert_array_equal(a, un.arange(3))
    with pytest.raises(AssertionError):
        un.testing.assert_allclose(a, [0, 1, 3])
    with pytest.raises(AssertionError):
        un.testing.assert_array_less(a, a)


@pytest.mark.parametrize(
    "name",
    "generic number integer signedinteger unsignedinteger inexact floating complexfloating".split(),
)
def test_numpys_own_dtypes_are_of_abstract_types(name):
    for own in ("g", "G", "U3", "M8[s]", "m8[s]", "O", ">f4", np.longdouble, object, np.void):
        for spec in (own, np.dtype(own)):
            expected = np.issubdtype(spec, getattr(np, name))
            assert un.issubdtype(spec, getattr(un, name)) is expected, own
            assert un.issubdtype(spec, getattr(np, name)) is expected, own
    with pytest.raises(TypeError):
        un.issubdtype("no dtype", getattr(un, name))


def test_dtypes_and_classes_are_no_complex_objects():
    for xp in (np, un):
        for x in (xp.complex64, xp.float32, complex, np.dtype("complex64")):
            assert not xp.iscomplexobj(x) and xp.isrealobj(x)


@pytest.mark.parametrize("testing", [np.testing, un.testing])
def test_numbers_are_equal_with_the_signs_of_zeros(testing):
    for one, other in ((0.0, -0.0), (complex(1, 0.0), complex(1, -0.0)), (-0.0, 0)):
        with pytest.raises(AssertionError):
            testing.assert_equal(one, other)
    with pytest.raises(AssertionError):
        testing.assert_equal([1.0, 0.0], [1.0, -0.0])
    testing.assert_equal(-0.0, -0.0)
    testing.assert_equal(0, 0.0)
    testing.assert_equal(np.array([0.0]), np.array([-0.0]))
    testing.assert_array_equal(0.0, -0.0)


def test_numbers_of_ours_are_equal_with_the_signs_of_zeros():
    x = un.asarray([0.0, -0.0])
    un.testing.assert_equal(x[0], x[0])
    un.testing.assert_equal(x, x[::-1])
    for y in (x, x.astype("float32")):
        with pytest.raises(AssertionError, match="signs of zeros differ"):
            un.testing.assert_equal(y[0], y[1])


@pytest.mark.parametrize("xp", [np, un])
def test_parts_of_elements(xp):
    z = xp.asarray([[1 + 2j, 3 + 4j], [5 + 6j, 7 + 8j]])
    assert z.getfield("float64").tolist() == z.real.tolist()
    assert z.T.getfield(xp.float64, 8).tolist() == z.imag.T.tolist()
    z[:, 1].setfield([-1, -2], "float64", offset=8)
    assert z[:, 1].imag.tolist() == [-1, -2] and z.real.tolist() == [[1, 3], [5, 7]]
    assert xp.asarray([258], dtype="uint32").getfield("uint8", 1).tolist() == [1]
    assert z[0, 0].getfield("float64", 8) == 2
    for offset in (-1, 9):
        with pytest.raises(ValueError):
            z.getfield("float64", offset)


@pytest.mark.parametrize("xp", [np, un])
def test_axes_to_sum_over_are_arrays(xp):
    a, b = xp.ones((2, 3)), xp.ones((3, 4))
    assert xp.tensordot(a, b, [xp.asarray([1]), xp.asarray([0])]).shape == (2, 4)
    nothing = xp.asarray([], dtype="int64")
    assert xp.tensordot(a, b, [nothing, nothing]).shape == (2, 3, 3, 4)
    assert xp.tensordot(a, b, xp.asarray([[1], [0]])).shape == (2, 4)
    assert xp.tensordot(a, b, xp.asarray([1, 0])).shape == (2, 4)


def test_factors_of_scipy_take_our_right_hand_sides():
    sparse = pytest.importorskip("scipy.sparse")
    from scipy.sparse import linalg

    a, b = sparse.csc_matrix(np.diag([2.0, 4.0])), un.asarray([2.0, 4.0])
    factors = linalg.splu(a)
    assert isinstance(factors, linalg.SuperLU) and factors.shape == (2, 2)
    for solve in (factors.solve, linalg.factorized(a), linalg.spilu(a).solve):
        assert solve(b).tolist() == [1, 1] and solve(np.asarray(b)).tolist() == [1, 1]
    assert factors.solve(b, "T").tolist() == [1, 1]
    with pytest.raises(ValueError):
        factors.solve(un.ones(3))


def test_distances_are_written_into_our_array():
    distance = pytest.importorskip("scipy.spatial.distance")
    x = un.asarray([[0.0, 0.0], [3.0, 4.0]])
    for function, shape in (
        (lambda out=None: distance.cdist(x, x, out=out), (2, 2)),
        (
            lambda out=None: distance.pdist(x, out=out),
            (1,),
        ),
    ):
        out = un.zeros(shape)
        assert function(out) is out
        assert un.array_equal(out, function()) and type(function()) is np.ndarray
