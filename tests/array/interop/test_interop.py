"""Exchange with NumPy and with Python's own protocols."""

import copy
import fractions
import operator
import pickle

import numpy as np
import pytest
import unisono as un


@pytest.mark.parametrize("number", [2.5, 7, 1 + 2j])
def test_parts_and_conjugates_of_numbers_are_numbers(number):
    x = un.asarray([number])[0]
    for made, expected in (
        (x.real, number.real),
        (x.imag, number.imag),
        (x.conj(), number.conjugate()),
        (x.conjugate(), number.conjugate()),
    ):
        assert isinstance(made, type(expected)) and made == expected
    whole = un.asarray([number.real, 1])
    assert whole.real is whole and whole.conj() is whole


@pytest.mark.parametrize(
    "dtype", ["uint8", "int16", "int64", "uint64", "bool", "float32", "float64"]
)
def test_integers_are_rational_numbers(dtype):
    ours, theirs = un.asarray([1, 3], dtype=dtype)[1], np.asarray([1, 3], dtype=dtype)[1]
    for name in ("numerator", "denominator"):
        assert getattr(ours, name, None) == getattr(theirs, name, None)
    if theirs.dtype.kind in "iu":
        assert fractions.Fraction(ours) == 3
    assert not hasattr(un.asarray([1, 3], dtype=dtype), "numerator")


def test_values_of_little_are_numbers_whatever_else_is_pending():
    other = un.zeros(100000)
    other += 1
    x, z = un.asarray([3.0, 1.0]), un.asarray([1 + 2j])[0]
    for made, expected in ((x.mean(), 2.0), (x @ x, 10.0), (x.std(), 1.0), (z.conj(), 1 - 2j)):
        assert isinstance(made, type(expected)) and made == expected
    assert "pending" in un.explain(other)
    assert type((other * 2).sum()) is un.ndarray  # it may be fused with what makes its operand


@pytest.mark.parametrize("unit", ["m8[Y]", "M8[D]"])
def test_isnat_of_numpys_times(unit):
    times = np.array(["NaT", 1], unit)
    assert un.isnat(times).tolist() == [True, False] and un.isnat(times).dtype == "bool"
    assert bool(un.isnat(times[0])) and not bool(un.isnat(times[1]))


def test_numpys_functions_and_operands_give_our_arrays():
    a = un.arange(4.0)
    x = np.arange(4.0)
    results = [x + a, a + x, np.sqrt(a), np.add(x, a), np.float64(2) * a, np.power(a, 2), np.sum(a)]
    for got, expected in zip(
        results, [x + x, x + x, np.sqrt(x), x + x, 2 * x, x**2, np.sum(x)], strict=True
    ):
        assert isinstance(got, (un._engine._Array, *un._engine._values))
        assert np.array_equal(np.asarray(got), expected)
    with pytest.raises(TypeError, match="isnat: only defined for dates"):
        np.isnat(a)
    assert (
        isinstance(np.add.reduce(a), (un._engine._Array, *un._engine._values))
        and float(np.add.reduce(a)) == 6
    )
    assert np.add.outer(a, x).shape == (4, 4)
    assert np.subtract(a, x, where=x > 1, out=un.ones(4)).tolist() == [1, 1, 0, 0]


def test_numpys_array_is_updated_in_place():
    x = np.ones(4)
    y = x
    x += un.arange(4.0)
    assert y.tolist() == [1, 2, 3, 4]
    z = np.ones(4, dtype="int64")
    with pytest.raises(TypeError, match="cannot cast"):
        z += un.arange(4.0)


@pytest.mark.parametrize("assign", [operator.setitem, None])
def test_overlap_through_two_borrowings_of_one_memory(assign):
    x, expected = np.arange(50.0), np.arange(50.0)
    a, b = un.asarray(x, copy=False), un.asarray(x, copy=False)
    if assign:
        a[1:] = b[:-1]
        expected[1:] = expected[:-1].copy()
    else:
        a[1:] += x[:-1]
        expected[1:] += expected[:-1].copy()
    assert np.array_equal(x, expected)


def test_overlap_of_our_memory_with_its_export():
    a = un.arange(50.0)
    x = np.asarray(a)
    un.asarray(x)[1:] -= a[:-1]
    assert np.array_equal(x, [0] + [1] * 49)


def test_copies_and_pickles():
    for a in (un.arange(6).reshape(2, 3)[:, ::-1], un.zeros((0, 3)), un.ones(2, dtype=bool)):
        for made in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
            assert made.shape == a.shape and made.dtype == a.dtype
            assert made.tolist() == a.tolist()
    a = un.zeros(2)
    b = copy.copy(a)
    b += 1
    assert a.tolist() == [0, 0]


def test_lists_are_operands():
    a = un.arange(3)
    assert (a + [1, 2, 3]).tolist() == [1, 3, 5]
    assert ([1, 2, 3] - a).tolist() == [1, 1, 1]
    a += (1, 1, 1)
    assert a.tolist() == [1, 2, 3]


def test_membership_and_iteration():
    a = un.arange(4).reshape(2, 2)
    assert 3 in a and 7 not in a
    assert [row.tolist() for row in a] == [[0, 1], [2, 3]]
    with pytest.raises(TypeError, match="0-d"):
        list(un.asarray(3.0))


def test_power_in_place_writes_through_views():
    a = un.arange(4.0)
    view = a[1:]
    view **= 2
    assert a.tolist() == [0, 1, 4, 9]
    n = un.arange(3)
    with pytest.raises(TypeError, match="cannot cast"):
        n **= 0.5


def test_an_array_made_of_a_value_does_not_alias_it():
    total = un.arange(4.0).sum()
    reshaped = total.reshape(1)
    reshaped[0] = 99
    assert float(total) == 6


def test_what_is_no_index():
    a = un.arange(3)
    for key in ("x", 1.0, 2**70):
        with pytest.raises(IndexError):
            a[key]
    for key in ({}, [0.5], [None]):
        with pytest.raises((IndexError, TypeError)):
            a[key]


def test_devices_and_dtypes_compare_with_anything():
    for thing in (un.devices()[0], un.float32):
        for other in (None, 3, object(), [], np.float64, np.zeros(1).dtype):
            assert (thing == other) is False and (thing != other) is True
    assert hash(un.devices()[0]) == hash(un.devices()[0].name)


def test_plus_of_bools_is_refused():
    with pytest.raises(TypeError, match="positive: not defined for dtype bool"):
        +un.ones(2, dtype=bool)


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "pow", "mod", "matmul", "lt", "ge", "eq", "ne"]
)
def test_operators_of_numpy_meet_our_arrays(name):
    """As NumPy's own, whether the operator stands in the program or is called as a function."""
    written = {"add": "a + b", "sub": "a - b", "mul": "a * b", "truediv": "a / b", "pow": "a ** b"}
    written |= {
        "mod": "a % b",
        "matmul": "a @ b",
        "lt": "a < b",
        "ge": "a >= b",
        "eq": "a == b",
        "ne": "a != b",
    }
    function = eval(f"lambda a, b: {written[name]}")
    lefts = [
        np.float64(2.5),
        np.float32(2),
        np.int64(3),
        np.uint8(200),
        np.bool_(True),
        np.array([4.0, 5.0, 7.0]),
    ]
    lefts += [np.arange(3), np.arange(9.0).reshape(3, 3)]
    for left in lefts:
        for right in [np.array([1.0, 2.5, 5.0]), np.array([1, 2, 5]), np.float64(2.5), np.int32(3)]:
            ours = un.array(right) if right.ndim else un.array(right)[()]
            for run in (function, getattr(operator, name)):
                for _ in range(20):  # the interpreter rewrites instructions that run often
                    try:
                        wanted = run(left, right)
                    except (TypeError, ValueError) as e:
                        with pytest.raises((TypeError, ValueError)):
                            run(left, ours)
                        assert isinstance(e, ValueError | TypeError)
                        continue
                    made = run(left, ours)
                    assert isinstance(made, (un.ndarray, un._engine._Array, *un._engine._values))
                    assert made.dtype == wanted.dtype and made.shape == wanted.shape
                    # The last bit of powers and products of matrices is ours.
                    inexact = name in ("pow", "matmul")
                    np.testing.assert_allclose(
                        np.asarray(made), wanted, rtol=1e-14 if inexact else 0
                    )


def test_functions_and_in_place_operators_of_numpy_take_our_arrays():
    a, b = np.array([1.0, 2.0, 3.0]), un.array([4.0, 5.0, 6.0])
    for _ in range(20):
        assert isinstance(np.add(a, b), un.ndarray) and isinstance(
            np.multiply(np.float64(2), b), un.ndarray
        )
        assert (np.sqrt(b) == un.sqrt(b)).all()
        total = a.copy()
        total += b
        assert type(total) is np.ndarray and total.tolist() == [5.0, 7.0, 9.0]
        number = np.float64(2)
        number *= b[0]
        assert number == 8.0
    assert callable(un.ndarray.__array_ufunc__) and callable(b.__array_ufunc__)
