"""Functions that make arrays, with NumPy's keywords, against NumPy."""

import array
import collections
import fractions

import numpy as np
import pytest
import unisono as un

from tests.differential import compare

pytestmark = pytest.mark.everywhere

MADE = [
    ("empty", lambda m, **k: m.empty((3, 4), **k)),
    ("zeros", lambda m, **k: m.zeros((3, 4), **k)),
    ("ones", lambda m, **k: m.ones((3, 4), **k)),
    ("full", lambda m, **k: m.full((3, 4), 2.5, **k)),
    ("full of a row", lambda m, **k: m.full((3, 4), [1, 2, 3, 4], **k)),
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [None, "int32", "float32", "bool"])
@pytest.mark.parametrize("name, make", MADE)
def test_order_and_dtype(name, make, dtype, order):
    ours, numpys = make(un, dtype=dtype, order=order), make(np, dtype=dtype, order=order)
    assert ours.strides == numpys.strides and ours.dtype == numpys.dtype
    if name != "empty":
        assert (np.asarray(ours) == numpys).all()


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[:, ::2].swapaxes(0, 1),
        lambda a: a.transpose(1, 2, 0)[::-1],
        lambda a: a.swapaxes(1, 2)[:, :3],
        lambda a: a.T,
    ],
)
@pytest.mark.parametrize("shape", [None, (3, 5, 7), (4, 2)])
def test_like_another_in_the_order_of_its_axes(view, shape):
    ours, numpys = (view(m.ones((2, 3, 4))) for m in (un, np))
    for name, more in (("empty_like", ()), ("zeros_like", ()), ("full_like", (2.5,))):
        a, b = (
            getattr(un, name)(ours, *more, shape=shape),
            getattr(np, name)(numpys, *more, shape=shape),
        )
        extents = [n > 1 for n in a.shape]
        assert a.shape == b.shape
        assert all(
            x == y or not far for x, y, far in zip(a.strides, b.strides, extents, strict=True)
        )
        assert name == "empty_like" or (np.asarray(a) == b).all()


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [None, (2, 5), 3])
@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "ones_like"])
def test_like_another(name, shape, transposed, order):
    made = []
    for m in (un, np):
        x = m.ones((3, 4), dtype="float32")
        made.append(getattr(m, name)(x.T if transposed else x, order=order, shape=shape))
    assert made[0].strides == made[1].strides and made[0].dtype == made[1].dtype
    if name != "empty_like":
        assert (np.asarray(made[0]) == made[1]).all()


def test_like_a_list():
    assert un.zeros_like([1, 2, 3]).tolist() == [0, 0, 0]
    assert un.full_like([1.5], 2).tolist() == [2.0]


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("function", ["array", "asarray"])
def test_array_in_an_order(function, order):
    x = np.arange(12.0).reshape(3, 4)
    ours, numpys = getattr(un, function)(x, order=order), getattr(np, function)(x, order=order)
    assert ours.strides == numpys.strides and (np.asarray(ours) == x).all()


@pytest.mark.host_only("shares memory with the host")
def test_asarray_in_its_own_order_shares():
    x = np.asfortranarray(np.ones((3, 4)))
    a = un.asarray(x, order="F", copy=False)
    a[0, 0] = 5
    assert x[0, 0] == 5


def test_least_number_of_axes():
    for value, ndmin in ((3.0, 2), ([1, 2], 3), ([[1]], 1)):
        assert un.array(value, ndmin=ndmin).shape == np.array(value, ndmin=ndmin).shape


def test_wrong_orders_and_libraries():
    with pytest.raises(ValueError, match="order: expected 'C', 'F', 'A' or 'K'; got 'Z'"):
        un.zeros(3, order="Z")
    with pytest.raises(TypeError, match="zeros|full.*like="):
        un.zeros(3, like=np.ones(3))


@pytest.mark.parametrize("dtype", ["float64", "bool", "complex128"])
@pytest.mark.parametrize("function", [un.array, un.asarray])
def test_a_value_becomes_an_array_that_can_be_written_to(function, dtype):
    value = un.ones(3, dtype)[0]
    a = function(value)
    a[()] = 0
    assert a.shape == () and a.dtype == dtype and not a and value == 1


class Numbers:
    """A sequence that is neither list nor tuple."""

    def __len__(self):
        return 3

    def __getitem__(self, k):
        return [1, 2.5, 3][k]


class Convertible:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.5, 2.5, 3.5], np.float32)


NESTED = [
    lambda m: [m.zeros((2, 3)), m.ones((2, 3))],
    lambda m: [m.arange(3), m.arange(3) * 1.5],
    lambda m: (m.arange(3, dtype="f4"), m.arange(3, dtype="i1")),
    lambda m: [[m.arange(3), [4, 5, 6.5]], [range(3), (1, 2, 3)]],
    lambda m: [[[1, 2], m.arange(2)], m.ones((2, 2))],
    lambda m: [m.arange(10)[::2], m.arange(10)[::-2]],
    lambda m: [m.arange(6).reshape(2, 3).T] * 3,
    lambda m: [m.arange(5) + k for k in range(50)],
    lambda m: [m.zeros((3, 0)), m.zeros((3, 0))],
    lambda m: [np.arange(3), m.arange(3)],
    lambda m: [m.arange(3).sum(), m.arange(3.0).sum()],
    lambda m: range(4),
    lambda m: [range(3), Numbers(), Convertible(), collections.deque([1, 2, 3])],
    lambda m: Convertible(),
    lambda m: bytearray(b"abc"),
    lambda m: [array.array("d", [1, 2]), [3, 4]],
    lambda m: [m.arange(3), m.arange(4)],
    lambda m: [m.arange(3), 1],
    lambda m: [1, m.arange(3)],
]


@pytest.mark.host_only("mixes places")
@pytest.mark.parametrize("nested", NESTED)
def test_sequences_of_arrays(nested):
    def make(m):
        return m.array(nested(m))

    compare(lambda: make(np), lambda: make(un))


@pytest.mark.parametrize(
    "given, dtype",
    [
        (["1.5", " 2e3"], float),
        ([["1", "2"], ["3", "4"]], "int32"),
        (["1+2j", "3"], complex),
        ("1.5", float),
        ([b"1.5"], float),
        (["x"], float),
        (["1.5"], int),
        ([fractions.Fraction(1, 2), 1], float),
        ([None, 1.0], float),
        ([None], int),
        ([np.ones(2), [3, 4]], "int8"),
    ],
)
def test_conversion_to_a_given_dtype(given, dtype):
    compare(np.array, un.array, given, dtype=dtype)


def test_rows_are_copied():
    row = un.arange(3)
    made = un.array([row, row])
    row[0] = 7
    assert made.tolist() == [[0, 1, 2], [0, 1, 2]]


def test_dates_are_not_numbers():
    with pytest.raises(TypeError, match="must be numbers"):
        un.array([1, np.datetime64("2001-01-01")])


WIDE = 2**63 - 1


@pytest.mark.parametrize(
    "ends",
    [
        (WIDE, WIDE + 4),
        (WIDE + 2, WIDE + 5),
        (WIDE + 5, WIDE + 1, -2),
        (WIDE - 3, WIDE),
        (-WIDE - 1, 2 - WIDE),
    ],
    ids=str,
)
def test_ranges_at_the_ends_of_int64(ends):
    ours, theirs = un.arange(*ends), np.arange(*ends)
    assert ours.dtype == theirs.dtype and ours.tolist() == theirs.tolist()
    if ends[0] > 0:
        assert un.arange(*ends, dtype="uint64").tolist() == list(range(*ends))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "bool", "float32"])
@pytest.mark.parametrize(
    "number", [np.nan, np.inf, -np.inf, 1e30, -1e30, 300.0, -1.0, 2.7, 9.3e18], ids=str
)
@pytest.mark.parametrize("function", ["array", "asarray"])
def test_floats_that_do_not_fit_integers_are_refused_as_numpys(function, number, dtype):
    def made(xp):
        try:
            return np.asarray(getattr(xp, function)(number, dtype=dtype))
        except (ValueError, OverflowError) as error:
            return type(error)

    ours, theirs = made(un), made(np)
    assert isinstance(ours, type) == isinstance(theirs, type)
    assert ours is theirs if isinstance(theirs, type) else np.array_equal(ours, theirs, True)


def test_assigned_numbers_that_do_not_fit_are_shown_as_python_shows_them():
    with pytest.raises(OverflowError, match=r"Python number 1e\+30 out of bounds for int8"):
        un.full(2, 1e30, dtype="int8")
