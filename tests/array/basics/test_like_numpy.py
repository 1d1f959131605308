"""Calls whose outcome is NumPy's: value, dtype, shape, class of the exception, and what is warned of."""

import warnings

import numpy as np
import pytest
import unisono as un
from differential import equal

pytestmark = pytest.mark.everywhere


def outcome(xp, call):
    """What the call gives, or the exception; and the texts of warnings, but those of floating-point errors."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = eval(call, {"xp": xp, "np": np})
        except Exception as error:
            value = error
    return value, [
        str(w.message).rstrip(".") for w in seen if "encountered in" not in str(w.message)
    ]


def parts(value):
    return [p for v in value for p in parts(v)] if isinstance(value, (tuple, list)) else [value]


def check(call):
    (expected, said), (got, says) = outcome(np, call), outcome(un, call)
    if isinstance(expected, Exception) or isinstance(got, Exception):
        kinds = (IndexError, ValueError, TypeError, OverflowError, MemoryError)
        kind = next((k for k in kinds if isinstance(expected, k)), None)
        assert kind and isinstance(got, kind), f"{call}: {got!r} instead of {expected!r}"
        return
    assert sorted(set(says)) == sorted(set(said)), call
    expected, got = parts(expected), parts(got)
    assert len(expected) == len(got), call
    for e, g in zip(expected, got, strict=True):
        if isinstance(e, str):
            assert g == e, call
            continue
        equal(e, g, call, exact=np.asarray(e).dtype.kind not in "fc")
        if np.asarray(e).dtype.kind == "f":
            assert np.array_equal(np.signbit(e), np.signbit(g)) or np.isnan(e).any(), call


@pytest.mark.parametrize(
    "call",
    [
        "xp.mean(a=[1.0, 2])",
        "xp.sum(a=[1, 2])",
        "xp.max(a=[1, 2])",
        "xp.argsort(a=[2, 1])",
        "xp.percentile(a=[1, 2.0], q=30)",
        "xp.unique(ar=[2, 1, 2])",
        "xp.intersect1d(ar1=[1, 2], ar2=[2, 3])",
        "xp.array(object=[1])",
        "xp.asarray(a=[1], dtype='int8')",
        "xp.zeros_like(a=[1.5])",
        "xp.clip(a=[1, 5], a_min=0, a_max=3)",
        "xp.can_cast(from_=xp.int32, to=xp.int64)",
    ],
)
def test_names_of_parameters(call):
    check(call)


@pytest.mark.parametrize(
    "call",
    [
        "xp.mean([])",
        "xp.zeros((0, 3)).mean(axis=0)",
        "xp.zeros((0, 3)).mean(axis=1)",
        "xp.mean([1.0, 2], where=[False, False])",
        "xp.zeros(0).var()",
        "xp.std(xp.zeros(1), ddof=1)",
        "xp.median([])",
        "xp.average([])",
        "xp.nanmedian(xp.zeros((3, 0)), axis=1)",
        "xp.nanpercentile(xp.zeros((0, 3), dtype='int8'), 50, axis=0)",
        "xp.nanmean([xp.nan])",
        "xp.nanvar(xp.asarray([xp.nan, 1]), ddof=1)",
        "xp.nanmean(xp.asarray([1.0, 2]), dtype=int)",
        "xp.nanstd(xp.asarray([1.0, 2]), dtype=int)",
    ],
)
def test_statistics_of_nothing(call):
    check(call)


@pytest.mark.parametrize(
    "call",
    [
        # Where the order counts, the start comes first and what is masked changes nothing.
        "xp.subtract.reduce([3, 1], initial=10)",
        "xp.divide.reduce(xp.asarray([4.0, 2, 5]), initial=100, where=[True, True, False])",
        "xp.subtract.reduce(xp.ones((1, 3), dtype=int), initial=2, where=[True, False, True])",
        "xp.subtract.reduce(xp.asarray(3), initial=10, axis=None)",
        "xp.subtract.reduce([3, 1], where=[True, False])",
        "xp.floor_divide.reduce(xp.zeros((2, 0), dtype=int), axis=1, initial=3)",
        "xp.multiply.reduce(xp.asarray(9, dtype='uint8'), initial=1.5, dtype='int64')",
        "xp.minimum.reduce([True, True], initial=0)",
        "xp.logaddexp.reduce(xp.asarray([1, 2, 3], dtype='int16'), where=[True, False, True])",
        # Results of one element have the dtype of two.
        "xp.hypot.reduce(xp.asarray([[-3]], dtype='int16'), axis=0)",
        "xp.gcd.reduce([-4])",
        "xp.logaddexp.reduce(xp.asarray(-3, dtype='int16'), axis=None)",
        "xp.hypot.reduceat([-3, 4], [0, 1])",
        "xp.divide.reduceat(xp.asarray([1, 2], dtype='int16'), [])",
        "xp.multiply.reduceat(xp.asarray([[True]]), [], axis=1)",
        "xp.add.reduceat(xp.asarray(1), [0])",
        "xp.logical_and.accumulate(xp.zeros(0))",
        "xp.power.accumulate([-1, 2, 3])",
        "xp.equal.reduce(xp.arange(3))",
        "xp.less.accumulate(xp.arange(3))",
        "xp.equal.reduce(xp.asarray([True, False]))",
    ],
)
def test_methods_of_functions(call):
    check(call)


@pytest.mark.parametrize(
    "call",
    [
        "xp.square([True, False])",
        "xp.reciprocal([True, False])",
        "xp.conjugate([True, False])",
        "xp.bitwise_count(xp.asarray([2**64 - 1], dtype='uint64'), dtype='uint8')",
        "xp.arctan2(xp.asarray([3], dtype='int8'), xp.asarray([5], dtype='uint8'))",
        "xp.hypot(xp.asarray([3], dtype='int8'), xp.asarray([5], dtype='uint16'))",
        "xp.hypot(xp.asarray([3], dtype='int8'), 2.5)",
        "xp.copysign(xp.asarray([3], dtype='int16'), xp.asarray([5], dtype='uint16'))",
        "xp.nextafter(xp.asarray([3], dtype='int8'), xp.asarray([5], dtype='uint8'))",
        "xp.logaddexp(xp.asarray([3], dtype='int16'), 1e300)",
        "xp.heaviside([True, False], 5)",
        "xp.rad2deg(xp.asarray([-3.7, 0.1], dtype='float16'))",
        "xp.deg2rad(xp.asarray([-3.7, 100], dtype='float16'))",
        *(f"xp.reciprocal(xp.arange(-2, 3).astype('{t}'))" for t in "bBhHiIlL"),
        *(
            f"xp.spacing(xp.asarray([-1, -0.0, 0, 1, -3, 65504, -65504, xp.inf, xp.nan, 1e-5], dtype='{t}'))"
            for t in "efd"
        ),
    ],
)
def test_functions(call):
    check(call)


@pytest.mark.parametrize(
    "call",
    [
        "xp.zeros(True)",
        "xp.zeros(3).reshape((3, True))",
        "xp.resize(xp.arange(3), xp.int64(5))",
        "xp.resize(xp.arange(3), xp.asarray([5]))",
        "xp.arange(1, 3, 0.5, dtype=int)",
        "xp.arange(0.5, 5, 1.5, dtype='int8')",
        "xp.arange(0, 1, xp.inf)",
        "xp.arange(0, 1, -xp.inf)",
        "xp.arange(xp.inf)",
        "xp.arange(0, xp.nan)",
        "xp.logspace(0, 2, num=3, base=xp.asarray([1.0, 2]))",
        "xp.logspace(0, [1, 2], num=3, base=xp.asarray([1.0, 2]), axis=-1)",
        "xp.geomspace(-3, 3, num=4)",
        "xp.geomspace(-1, 1, num=3, dtype=complex)",
        "xp.geomspace(1j, -1j, num=5)",
        "xp.unravel_index([], (10, 3))",
        "xp.unravel_index(xp.zeros(0, dtype=int), (10, 3))",
        "xp.ravel_multi_index(([], []), (10, 3))",
        "xp.ravel_multi_index(([0, 1],) * 3, (2**40,) * 3)",
        "xp.ravel_multi_index([[0], [0]], (2, 0), mode='clip')",
        "xp.ravel_multi_index(xp.zeros((2, 0), dtype=int), (2, 0), mode='wrap')",
        "xp.roll(xp.arange(5), 2**100)",
        "xp.cross(0, [1, 2, 3])",
        "xp.vecdot(1, [1, 2, 3])",
        "xp.convolve([1, 2, 3], [1, 2], mode=2)",
        "xp.convolve([1, 2, 3], [1, 2], mode=1)",
        "xp.unpackbits(xp.asarray([3], dtype='uint8'), bitorder='b')",
        "xp.unpackbits(xp.zeros((2, 0, 3), dtype='uint8'), axis=-1)",
        "xp.vectorize(lambda **k: k['a'] + k['b'])(a=[1, 2], b=[3, 4])",
        "xp.isclose(1.0, 1.0, rtol=xp.nan)",
        "xp.allclose(1.0, 1.0, atol=xp.inf)",
        "xp.einsum(xp.ones(2), [60], [60])",
        "xp.einsum_path('ij,jk,kl->il', *[xp.ones((2, 2))] * 3, optimize=False)[0][1]",
        "xp.einsum_path('ij,jk,kl', *[xp.ones((2, 2))] * 3, optimize=['einsum_path', (0, 2), (0, 1)])[0][1]",
        "xp.add.reduce([], initial=None)",
        "xp.sort([3, 1], kind='heap')",
        "xp.argsort([3, 1], kind='Merge')",
        "xp.sort([3, 1], kind='x')",
        "xp.diff(5, n=0)",
        "xp.nanquantile([1, xp.inf, xp.inf], 1)",
        "xp.nanquantile(xp.zeros(0, dtype=complex), 0.5)",
        "xp.quantile([True, False], 0.5)",
        "xp.quantile([True, False], 0.5, method='nearest')",
        "xp.gradient([True, False, True])",
        "xp.interp(2 + 1j, [0.0, 1], [1, 2])",
        "xp.place(xp.zeros(2, dtype='f4'), [True, False], xp.asarray([1.5]))",
        "xp.putmask(xp.zeros(2, dtype='f4'), [True, False], xp.asarray([1.5]))",
        "[a := xp.zeros(2, dtype=int), xp.putmask(a, [True, False], [1.5])][0]",
        "[a := xp.zeros(2, dtype=int), xp.place(a, [True, False], [1.5])][0]",
        "xp.place(xp.broadcast_to(xp.zeros(2), (2, 2)), xp.zeros((2, 2), dtype=bool), [1])",
        "xp.dot(xp.ones((2, 2)), xp.ones((2, 2)), out=xp.zeros((2, 2), dtype='f4'))",
        "xp.dot(xp.ones(2), 2, out=xp.zeros(2))",
        "xp.float64(3).is_integer()",
        "xp.float64(0.1).as_integer_ratio()",
        "xp.int64(-5).bit_count()",
    ],
)
def test_arguments_at_their_limits(call):
    check(call)


@pytest.mark.parametrize(
    "call",
    [
        "integers([0], [2**64], dtype='uint64').dtype.name",
        "integers([0, 5], [[2**64]], dtype='uint64').shape",
        "integers([0], [2**64])",
        "multivariate_normal([0j, 0], [[1, 0], [0, 1]])",
        "negative_binomial(2**62, 1e-20)",
        "standard_gamma(1.0, dtype='int32')",
    ],
)
def test_arguments_of_generators(call):
    check(f"xp.random.default_rng(1).{call}")


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("xp.cumsum(xp.asarray([1e308, 1e308]))", "overflow encountered in accumulate"),
        (
            "xp.nextafter(xp.asarray([1.7976931348623157e308]), xp.inf)",
            "overflow encountered in nextafter",
        ),
        ("xp.nextafter(xp.asarray([xp.inf, 1.0]), xp.inf)", None),
        ("xp.reciprocal(xp.asarray([0, 1]))", "divide by zero"),
        ("xp.spacing(xp.asarray([xp.inf]))", None),
    ],
)
def test_floating_point_errors(call, names):
    for xp in (np, un):
        with xp.errstate(all="raise"):
            if names is None:
                eval(call, {"xp": xp})
                continue
            with pytest.raises(FloatingPointError, match=names):
                eval(call, {"xp": xp})
