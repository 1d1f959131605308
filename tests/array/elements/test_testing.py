"""Assertions of `un.testing` beside NumPy's: which values they refuse, what they give and say."""

import itertools

import numpy as np
import pytest
import unisono as un

numbers = [
    0.0,
    -0.0,
    1.0,
    1 + 2**-52,
    -1.0,
    1e-300,
    np.nan,
    np.inf,
    -np.inf,
    1.5,
    2.0,
    1e16,
    5e-324,
]


def outcome(function, *operands):
    with np.errstate(all="ignore"):
        try:
            made = function(*operands)
        except Exception as error:
            return type(error).__name__, str(error)
    return made if made is None else np.asarray(made).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["assert_array_max_ulp", "assert_array_almost_equal_nulp"])
def test_distances_in_units_of_the_last_place(name, dtype):
    theirs, ours = getattr(np.testing, name), getattr(un.testing, name)
    for x, y in itertools.product(numbers, repeat=2):
        with np.errstate(over="ignore"):
            a, b = np.array([x, 1], dtype), np.array([y, 1], dtype)
        expected, made = outcome(theirs, a, b), outcome(ours, un.asarray(a), un.asarray(b))
        assert repr(made) == repr(expected), (x, y)


def test_distances_of_integers_and_complex_numbers():
    assert un.testing.assert_array_max_ulp([1, 2], [1, 2]).tolist() == [[0, 0]]
    with pytest.raises(NotImplementedError, match="complex"):
        un.testing.assert_array_max_ulp(1j, 1j)
    un.testing.assert_array_almost_equal_nulp(un.asarray([1j]), un.asarray([1j]))
    with pytest.raises(ValueError, match="same shape"):
        un.testing.assert_array_max_ulp([1.0], [1.0, 2.0])


def test_significant_digits():
    for x, y in itertools.product(numbers[:-1] + [1.0000001, 1.000001, 1.0000005e16], repeat=2):
        theirs, ours = np.testing.assert_approx_equal, un.testing.assert_approx_equal
        expected, made = outcome(theirs, x, y), outcome(ours, x, y)
        assert (expected is None) == (made is None), (x, y)
    with pytest.raises(AssertionError, match="not equal to 3 significant digits"):
        un.testing.assert_approx_equal(1.23, 1.25, significant=3)


def test_what_looks_at_no_array_is_numpys_own():
    assert un.testing.assert_raises is np.testing.assert_raises
    assert un.testing.suppress_warnings is np.testing.suppress_warnings
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        un.testing.nothing  # noqa: B018


@pytest.mark.parametrize("name", ["assert_almost_equal", "assert_array_almost_equal"])
def test_digits_by_default_are_numpys(name):
    for difference in (3e-7, 3e-8, 3e-6):
        outcomes = []
        for testing in (np.testing, un.testing):
            try:
                getattr(testing, name)([1.0, 2.0 + difference], [1.0, 2.0])
                outcomes.append("equal")
            except AssertionError:
                outcomes.append("differs")
        assert outcomes[0] == outcomes[1], difference


def test_the_rest_of_numpys_testing_is_numpys():
    assert un.testing.TestCase is np.testing.TestCase and un.testing.IS_PYPY is np.testing.IS_PYPY
    with pytest.raises(AttributeError):
        un.testing.no_such_name  # noqa: B018


MISMATCHES = {
    "one element": ("assert_array_equal", ([1, 2, 3.5], [1, 2, 4.0]), {}),
    "many elements": ("assert_allclose", (np.arange(8.0), np.arange(8.0)[::-1]), {}),
    "two axes": ("assert_array_equal", ([[1, 2], [3, 4]], [[1, 2], [0, 0]]), {}),
    "numbers": ("assert_array_equal", (1, 2), {}),
    "order": ("assert_array_less", (np.arange(3), np.int64(5)), {"strict": True}),
    "shapes": ("assert_array_equal", (np.ones((2, 2)), 3), {"strict": True}),
    "dtypes": ("assert_allclose", (np.float32([1, 2]), np.array([1.0, 2.0])), {"strict": True}),
    "decimals": ("assert_array_almost_equal", ([1.0, 2.33333], [1.0, 2.33339], 5), {}),
    "no arrays": ("assert_array_equal", ([1, 2], [1, 3]), {"verbose": False, "err_msg": "here"}),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_messages_are_numpys(name):
    function, operands, options = MISMATCHES[name]
    kind, expected = outcome(lambda: getattr(np.testing, function)(*operands, **options))
    ours = [un.asarray(x) if isinstance(x, np.ndarray) else x for x in operands]
    assert outcome(lambda: getattr(un.testing, function)(*ours, **options)) == (kind, expected)
    assert kind == "AssertionError"
