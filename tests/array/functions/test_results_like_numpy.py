"""Dtypes, values and refusals that NumPy has at the edges of functions: one expression, both libraries."""

import warnings

import numpy as np
import pytest
import unisono as un

NUMBERS = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()


def outcome(expression, m):
    """Dtype and values, or the type of the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = eval(expression, {"m": m, "np": np})
        except Exception as error:
            return type(error).__name__
    return str(made.dtype), np.asarray(made).tolist()


def check(expression):
    ours, theirs = outcome(expression, un), outcome(expression, np)
    assert repr(ours) == repr(theirs), f"{expression}: ours {ours}, NumPy's {theirs}"


@pytest.mark.parametrize("dtype", NUMBERS)
def test_dtypes_follow_the_operand(dtype):
    for call in (
        "angle(m.asarray([0, 1, 2]).astype(D))",
        "sort_complex(m.asarray([2, 1]).astype(D))",
    ):
        check("m." + call.replace("D", repr(dtype)))
    ours, theirs = (np.asarray(m.i0(m.asarray([0.5, 9, 0]).astype(dtype))) for m in (un, np))
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=4 * np.finfo(theirs.dtype).eps)


@pytest.mark.parametrize("dtype", NUMBERS[1:9])
@pytest.mark.parametrize(
    "call", ["ldexp(1, N)", "ldexp(1.5, N)", "ldexp(True, N)", "ldexp(N, 1)", "ldexp(1, N[0])"]
)
def test_ldexp_of_python_numbers(dtype, call):
    check("m." + call.replace("N", f"m.asarray([1], dtype={dtype!r})"))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("function", ["percentile", "nanpercentile", "quantile", "nanquantile"])
@pytest.mark.parametrize(
    "q",
    [".3", "m.float32(.3)", "m.float16(.3)", "m.asarray([.3, .7], dtype='float32')", "[.3, .7]"],
)
def test_quantiles_are_computed_in_the_dtype_of_q(dtype, function, q):
    for method in ("linear", "hazen", "nearest", "midpoint", "averaged_inverted_cdf"):
        x = f"m.asarray([5, 1, 2, 9, 7]).astype({dtype!r})"
        check(f"m.{function}({x}, {q}, method={method!r})")


@pytest.mark.parametrize(
    "dtype", ["complex64", "complex128", "float32", "int32", "bool", "float64"]
)
@pytest.mark.parametrize("function", ["std", "var", "mean", "sum", "prod"])
@pytest.mark.parametrize("x", ["[1., 2.]", "[1 + 1j, 2.]", "[3, 1, 2]", "[[1, 0], [2, 5]]"])
def test_reductions_give_the_dtype_asked_for(dtype, function, x):
    check(f"m.{function}(m.asarray({x}), dtype={dtype!r})")


@pytest.mark.parametrize("x", ["[1, 2]", "[1, 0]", "[0., .5]", "[]", "[[1, 0], [0, 0]]"])
@pytest.mark.parametrize(
    "call",
    [
        *("sum mean prod cumsum cumprod nansum nanprod add.reduce multiply.reduce".split()),
        *("add.accumulate multiply.accumulate".split()),
    ],
)
def test_sums_and_products_of_truth(x, call):
    check(f"m.{call}(m.asarray({x}), dtype=bool)")
    check(f"m.{call}(m.asarray({x}), axis=0, dtype='bool')")


@pytest.mark.parametrize(
    "expression",
    [
        "m.cumulative_sum(X)",
        "m.cumulative_sum(X, axis=0)",
        "m.cumulative_sum(X, axis=0, include_initial=True)",
        "m.cumulative_sum(X, axis=1)",
        "m.cumulative_prod(X, axis=-1)",
        "m.cumsum(X, axis=0)",
        "m.take(X, [0, 0], axis=0)",
        "m.take(X, [0], axis=-1)",
        "m.take(X, 0, axis=0)",
        "m.take(X, [0], axis=1)",
        "X.take([0], axis=0)",
        "m.compress([True], X, axis=0)",
        "m.repeat(X, 2, axis=0)",
    ],
)
def test_arrays_without_axes_are_lanes_of_one(expression):
    check(expression.replace("X", "m.asarray(2.)"))


@pytest.mark.parametrize("p", ["None", "1", "2", "'fro'"])
@pytest.mark.parametrize("shape", ["(0, 2, 2)", "(2, 0, 0)", "(0, 2, 3)", "(0, 0)", "(3, 0, 2, 2)"])
def test_condition_numbers_of_no_matrices(p, shape):
    check(f"m.linalg.cond(m.ones({shape}), {p})")


@pytest.mark.parametrize(
    "arguments",
    [
        "m.asarray([1, 2], dtype='uint32'), [[True, False]], [-1]",
        "m.asarray([1, 2], dtype='uint8'), [[True, False]], [300]",
        "m.asarray([1, 2], dtype='uint8'), [[False, False]], [-1]",
        "m.asarray([1, 2], dtype='uint8'), [[True, False]], [1.5]",
        "m.asarray([1, 2], dtype='uint8'), [[True, False]], [7, 9]",
    ],
)
def test_values_of_pieces_fit_the_dtype(arguments):
    check(f"m.piecewise({arguments})")


@pytest.mark.parametrize("dtype", [*NUMBERS, "complex64"])
@pytest.mark.parametrize("number", ["1 + 2j", "1 + 0j", "[1, 2j]", "[[1j]]"])
def test_complex_numbers_are_not_made_real(dtype, number):
    check(f"m.asarray({number}, dtype={dtype!r})")


@pytest.mark.parametrize(
    "numbers",
    [
        *("[2**63]", "2**63", "[2**63, 2**63 + 1]", "[1, 2**63]", "[2**63, 1]", "[0, 2**63]"),
        *("[-1, 2**63]", "[[1], [2**63]]", "[2**63 - 1, 2**63]", "[True, 2**63]", "[2**63, 1.5]"),
        *("[m.uint8(1), 2**63]", "[m.uint64(2**63), 2**63]", "[2**63, 1j]"),
    ],
)
def test_integers_beyond_int64(numbers):
    check(f"m.asarray({numbers})")


@pytest.mark.parametrize(
    "expression",
    [
        "m.{}(m.ones(1), where=np.ones(3, bool))",
        "m.{}(m.ones((1, 3)), where=np.ones((2, 3), bool))",
        "m.{}(m.ones((3, 1)), axis=0, where=np.ones((3, 3), bool))",
        "m.{}(m.ones(3), axis=0, where=np.ones((3, 3), bool))",
        "m.{}(m.ones(3), where=np.ones(2, bool))",
        "m.{}(m.ones((2, 2)), axis=(0, 1), where=np.ones((2, 1), bool))",
        "m.{}(m.ones((2, 2)), axis=0, where=[True, False])",
    ],
)
@pytest.mark.parametrize("function", "sum prod any all mean var std nansum add.reduce".split())
def test_masks_are_no_broader_than_the_array(expression, function):
    check(expression.format(function))


FUNCTIONS = [n for n in dir(np) if isinstance(getattr(np, n), np.ufunc) and hasattr(un, n)]


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if not getattr(np, n).signature])
def test_functions_refuse_the_dtypes_that_numpy_refuses(name):
    def result(m, given, **options):
        function = getattr(m, name)
        try:
            with np.errstate(all="ignore"):
                made = function(*[m.asarray(given)] * function.nin, **options)
        except TypeError:
            return "TypeError"
        return str((made[0] if isinstance(made, tuple) else made).dtype)

    assert result(un, [1 + 2j]) == result(np, [1 + 2j])
    if name in ("frexp", "ldexp"):  # of two dtypes, whose `dtype=` NumPy takes for both
        return
    for dtype in ("uint16", "float32", "bool", "int64", "complex128"):
        if name.startswith("logical") and dtype == "uint16":
            continue  # NumPy has a rule of its own
        assert result(un, [1], dtype=dtype) == result(np, [1], dtype=dtype), dtype


def test_refusals_of_indices_and_sequences():
    for expression in (
        "m.correlate(m.zeros((5, 2)), m.zeros(3))",
        "m.correlate(m.zeros(5), m.asarray(2.0))",
        "m.ravel_multi_index([m.asarray([1]), m.asarray([2])], (4.0, 4))",
        "m.indices((2, 3), dtype=bool)",
        "m.indices((2, 2), dtype=bool)",
        "m.packbits(m.asarray([1, 2]), bitorder=10.5)",
        "m.unpackbits(m.asarray([1], dtype='uint8'), bitorder=1)",
        "m.ravel_multi_index([m.asarray([1, 3]), m.asarray([2, 0])], (4, 4), order=None)",
        "m.asarray(m.unravel_index(m.asarray([5, 7]), (3, 4), order=None))",
        "m.asarray(m.unravel_index(m.asarray([True, False]), (3, 4)))",
        "m.cov(m.ones((0, 3), dtype='float32'), dtype='float32')",
    ):
        check(expression)
    for m in (np, un):
        with pytest.raises(TypeError):
            m.cov(m.asarray([[1, 2, 4], [3, 5, 1]]), dtype="int16")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_of_complex_numbers_are_rounded_apart(dtype):
    parts = [np.inf, -np.inf, np.nan, 2.5, -0.0]
    z = np.array([complex(a, b) for a in parts for b in parts]).astype(dtype)
    for decimals in (0, 1):
        np.testing.assert_array_equal(
            un.round(un.asarray(z), decimals).get(), np.round(z, decimals)
        )
        assert un.round(un.asarray(z), decimals).dtype == dtype
    for options in ({}, {"posinf": np.inf, "nan": np.nan}):
        np.testing.assert_array_equal(
            un.nan_to_num(un.asarray(z), **options).get(), np.nan_to_num(z, **options)
        )
    assert un.round(3.25 + 1.75j) == np.round(3.25 + 1.75j)
