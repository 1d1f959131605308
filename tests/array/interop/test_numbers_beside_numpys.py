"""Numbers of ours beside NumPy's arrays, and our arrays where libraries ask for NumPy's class or for an address."""

import ctypes
import operator
import sys

import numpy as np
import pytest
import unisono as un

OPERATORS = "add sub mul truediv floordiv mod pow lt le eq ne ge gt".split()


def numbers(value):
    """A computed number, one of a dtype without a class of Python's, and one that is not computed yet."""
    x = un.asarray([0.0, value])
    return [x[1], x.astype("float32")[1], x.astype("int64")[1], (x + 0).sum()]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("k", range(4))
def test_operators_leave_numpys_arrays_numpys(name, k):
    a, op = np.array([[1.0, 2.0], [3.0, 4.0]], "float32"), getattr(operator, name)
    ours = numbers(2)[k]
    theirs = np.asarray(ours)[()]
    for made, expected in ((op(a, ours), op(a, theirs)), (op(ours, a), op(theirs, a))):
        assert type(made) is np.ndarray and made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("k", range(4))
def test_functions_of_numpys_arrays_and_our_numbers_are_numpys(k):
    a, v = np.arange(3.0), numbers(2)[k]
    for made in (
        np.maximum(a, v),
        np.where(a > 1, v, a),
        np.clip(a, v, None),
        np.linspace(0, v, 3),
        np.add.outer(a, v),
        np.concatenate([a, [v]]),
    ):
        assert type(made) is np.ndarray
    # A number beside numbers is ours, and so is all beside an array of ours.
    assert un.isscalar(np.add(v, 1)) and type(np.maximum(a, un.arange(3))) is un.ndarray
    assert type(np.where(un.arange(3) > 1, v, a)) is un.ndarray


def test_a_library_computes_with_our_number_and_hands_it_to_compiled_code():
    pd = pytest.importorskip("pandas")
    width = un.asarray([3])[0]
    series = pd.Series(np.arange(6.0))
    made = series.rolling(window=width, center=True, min_periods=1).mean()
    assert made.equals(series.rolling(window=3, center=True, min_periods=1).mean())


def test_functions_hand_numpys_arrays_to_classes_that_know_these_alone():
    pd = pytest.importorskip("pandas")
    series = pd.Series([1.0, 5.0])
    for other in (un.asarray([0.0, 2.0])[1], un.asarray([2.0, 2.0])):
        for made in (un.maximum(series, other), un.maximum(other, series)):
            assert type(made) is pd.Series and made.tolist() == [2, 5]
    made = un.logical_and(un.asarray([True, False]), series > 0)
    assert type(made) is pd.Series and made.tolist() == [True, False]


def test_a_class_that_refuses_is_not_asked_for_numpys_arrays():
    class Refusing:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return NotImplemented

    with pytest.raises(TypeError, match="returned NotImplemented"):
        un.add(Refusing(), un.ones(2))


@pytest.mark.parametrize("name", ["assert_equal", "assert_almost_equal"])
def test_numpys_assertions_take_our_arrays(name):
    check = getattr(np.testing, name)
    x = un.asarray([1.0, un.nan, 3.0])
    for same in (x, np.asarray(x), x.tolist()):
        check(x, same)
        check(same, x)
    for other in (un.asarray([1.0, un.nan, 4.0]), un.ones(2)):
        with pytest.raises(AssertionError):
            check(x, other)
    if name == "assert_equal":
        check({"a": [x, 1]}, {"a": [x, 1]})
        with pytest.raises(AssertionError, match="item=1"):
            check((1, x), (1, x + 1))


def test_addresses_of_the_array_interface():
    x = un.arange(6.0).reshape(2, 3) + 0
    for view in (x, x.T, x[::-1, 1:], x[0]):
        interface = view.__array_interface__
        address, is_read_only = interface["data"]
        assert address == view.ctypes.data == np.asarray(view).__array_interface__["data"][0]
        assert is_read_only is False
        assert interface["strides"] == np.asarray(view).__array_interface__["strides"]
    x.flags.writeable = False
    assert x.__array_interface__["data"][1] is True
    y = un.zeros(3)
    held = y.__array_interface__
    pointer = ctypes.cast(held["data"][0], ctypes.POINTER(ctypes.c_double))
    y += 2  # completes at once, since the address is held
    assert pointer[2] == 2


def test_ctypeslib_takes_our_arrays():
    x = un.arange(3.0) + 0
    made = np.ctypeslib.as_ctypes(x)
    x += 1
    made[0] = 7
    assert list(made) == [7, 2, 3] and x.tolist() == [7, 2, 3]
    if not sys.platform.startswith("linux"):
        return
    move = ctypes.CDLL(None).memcpy
    of_floats = np.ctypeslib.ndpointer(dtype="float64", ndim=1, flags="C_CONTIGUOUS")
    move.argtypes = [of_floats, of_floats, ctypes.c_size_t]
    target = un.zeros(3)
    move(target, x, 24)
    assert target.tolist() == [7, 2, 3]
    with pytest.raises(ctypes.ArgumentError, match="data type"):
        move(un.zeros(3, "float32"), x, 12)


WRITING = """
    fill_diagonal(A, 7); copyto(A, 7); copyto(A, X); place(A, A > 3, [7]); put(A, [1], 7); putmask(A, A > 3, 7)
    put_along_axis(A, I, 7, 1); sum(X, axis=0, out=A[0]); sum(A, 0, None, A[0]); cumsum(A, axis=0, out=A)
    take(X, [0], axis=0, out=A[:1]); dot(X, X, out=A); dot(X, X, A); matmul(X, X, out=A); mean(X, axis=0, out=A[0])
    concatenate([X[:1], X[1:]], out=A); stack([X[0], X[1], X[2]], out=A); choose(I, [X, X], out=A)
    compress([True], X, axis=0, out=A[:1]); median(X, axis=0, out=A[0]); percentile(X, 50, axis=0, out=A[0])
    std(X, axis=0, out=A[0]); max(X, axis=0, out=A[0]); nanmean(X, axis=0, out=A[0]); add(X, 1, out=A); clip(X, 1, 2, A)
    einsum("ij,jk", X, X, out=A)
"""


@pytest.mark.parametrize(
    "call", [c.strip() for c in WRITING.replace("\n", ";").split(";") if c.strip()]
)
def test_functions_write_into_numpys_arrays(call):
    written = []
    for xp in (np, un):
        names = {
            "A": np.arange(9.0).reshape(3, 3),
            "X": xp.arange(9.0).reshape(3, 3) + 1,
            "I": xp.asarray([[0], [1], [0]]),
        }
        made = eval(f"xp.{call}", {"xp": xp}, names)
        assert made is None or np.shares_memory(made, names["A"])
        written.append(names["A"])
    np.testing.assert_allclose(*written)


def test_names_that_are_numpys():
    assert un.sctypeDict is np.sctypeDict and un.ScalarType is np.ScalarType
    assert isinstance(un.arange(3)[0], un.ScalarType)
