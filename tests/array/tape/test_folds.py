"""Reductions in which no one sees the order (min, max, any, all, integer sums, counts), over packed memory."""

import numpy as np
import pytest
import unisono as un

DTYPES = "float64 float32 int64 uint64 int32 uint32 int16 uint16 int8 uint8 bool".split()
SHAPES = [(70,), (1025,), (3, 131), (7, 9, 11), (2, 300007)]
NAMES = ["max", "min", "any", "all", "count_nonzero", "sum"]


@pytest.fixture(params=[1, 2])
def threads(request):
    before = un.get_num_threads()
    un.set_num_threads(request.param)
    yield request.param
    un.set_num_threads(before)


def numbers(shape, dtype, kind):
    random = np.random.default_rng(5)
    if kind == "zeros":
        return np.zeros(shape, dtype)
    if kind == "ones":
        return np.ones(shape, dtype)
    if kind == "one":  # and zeros
        x = np.zeros(shape, dtype)
        x.flat[x.size * 2 // 3] = 1
        return x
    if dtype == "bool":
        return random.random(shape) > 0.5
    if dtype.startswith("float"):
        x = random.standard_normal(shape).astype(dtype)
        if kind == "nan":
            x.flat[x.size * 2 // 3] = np.nan
        return x
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["any", "nan", "zeros", "ones", "one"])
def test_folds(threads, dtype, kind):
    for shape in SHAPES:
        host = numbers(shape, dtype, kind)
        x = un.array(host)
        views = (lambda a: a, lambda a: a.T, lambda a: a[1:], lambda a: a[..., ::-1])
        for of in views[: 4 if host.size < 10_000 else 1]:
            for name in NAMES:
                if name == "sum" and dtype.startswith("float"):
                    continue
                for axis in (None, -1, 0):
                    expected = np.asarray(getattr(np, name)(of(host), axis=axis))
                    made = np.asarray(getattr(un, name)(of(x), axis=axis))
                    assert made.dtype == expected.dtype
                    np.testing.assert_array_equal(made, expected, f"{name} {shape} {axis}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_first_zero_stays(dtype, sign):
    for n in (65, 700, 200_000):
        for turned in (0, 1, n // 2, n - 1):
            host = np.zeros(n, dtype) * sign
            host[turned] *= -1
            x = un.array(host)
            # Through an operation that changes nothing the leaves and the tree decide.
            assert np.signbit(float(x.max())) == np.signbit(float((x * 1).max()))
            assert np.signbit(float(x.min())) == np.signbit(float((x * 1).min()))
        same = un.array(np.zeros(n, dtype) * sign)
        assert np.signbit(float(same.max())) == np.signbit(float(same.min())) == (sign < 0)
        rest = un.array(np.where(np.arange(n) == 7, -1, 0).astype(dtype) * sign)
        assert float(rest.max()) == max(0.0, -sign)


def test_folds_of_nan_in_rows():
    host = np.random.default_rng(1).standard_normal((40, 300))
    host[3, 0] = host[7, 299] = host[9, 128] = np.nan
    x = un.array(host)
    np.testing.assert_array_equal(np.asarray(x.max(axis=1)), host.max(axis=1))
    np.testing.assert_array_equal(np.asarray(x.min(axis=1)), host.min(axis=1))
    assert np.isnan(float(x.max()))
    host[9, 5] = -np.inf
    np.testing.assert_array_equal(np.asarray(un.array(host).any(axis=1)), host.any(axis=1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["any", "nan", "zeros", "one"])
def test_places_of_extremes(threads, dtype, kind):
    for shape in SHAPES:
        host = numbers(shape, dtype, kind)
        if kind == "zeros" and dtype.startswith("float"):
            host.flat[host.size // 2] = -0.0
        x = un.array(host)
        for name in ("argmax", "argmin"):
            for axis in (None, -1, 0):
                expected = getattr(np, name)(host, axis=axis)
                np.testing.assert_array_equal(np.asarray(getattr(un, name)(x, axis=axis)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["auto", "block", "cpu", "interp"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore:All-NaN")
def test_extremes_of_numbers_alone(executor, dtype):
    host = np.random.default_rng(3).standard_normal((30, 211)).astype(dtype)
    host[5] = host[:, 3] = host[7, 8] = np.nan
    host[9] = -np.inf
    host[10] = np.inf
    host[11] = np.nan
    host[11, 100] = -np.inf
    un._engine._set_setting("executor", executor)
    try:
        for of in (lambda a: a, lambda a: a.T, lambda a: a[::2, 1:], lambda a: a[5:6]):
            x, y = of(host), of(un.array(host))
            for axis in (None, 0, 1, (0, 1)):
                for nan, ufunc in (("nanmax", "fmax"), ("nanmin", "fmin")):
                    expected = getattr(np, nan)(x, axis=axis)
                    np.testing.assert_array_equal(
                        np.asarray(getattr(un, nan)(y, axis=axis)), expected
                    )
                    made = getattr(un, ufunc).reduce(y, axis=axis, keepdims=True)
                    np.testing.assert_array_equal(
                        np.asarray(made), getattr(np, ufunc).reduce(x, axis=axis, keepdims=True)
                    )
    finally:
        un._engine._set_setting("executor", "auto")


@pytest.mark.parametrize("executor", ["auto", "block", "cpu", "interp"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ldexp_rounds_once(executor, dtype):
    random = np.random.default_rng(4)
    info, word = np.finfo(dtype), np.dtype(dtype.replace("float", "uint"))
    some = random.integers(0, np.iinfo(word).max, 4000, word, endpoint=True).view(dtype)
    least = info.smallest_subnormal
    host = np.array(
        [0, -0.0, np.inf, -np.inf, np.nan, info.max, info.tiny, least, -least, 1], dtype
    )
    host = np.concatenate(
        [some, np.repeat(host, 40), random.random(1000).astype(dtype) * info.tiny]
    )
    un._engine._set_setting("executor", executor)
    try:
        for most in (5, 60, 1100, 2200, 20_000):
            n = random.integers(-most, most, host.size).astype("int32")
            with np.errstate(all="ignore"):
                expected = np.ldexp(host, n)
            made = np.asarray(un.ldexp(un.array(host), un.array(n)))
            assert made.dtype == expected.dtype
            wrong = (made.view(word) != expected.view(word)) & ~(
                np.isnan(made) & np.isnan(expected)
            )
            assert not wrong.any(), (host[wrong][0], n[wrong][0])
    finally:
        un._engine._set_setting("executor", "auto")


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float32"])
def test_questions_that_integers_answer_at_once(dtype):
    host = numbers((3, 50), dtype, "nan")
    for name in ("isnan", "isinf", "isfinite"):
        for of in (lambda a: a, lambda a: a[0, 0], lambda a: a[:0], lambda a: a[:, ::2]):
            made, expected = getattr(un, name)(of(un.array(host))), getattr(np, name)(of(host))
            assert made.dtype == expected.dtype
            np.testing.assert_array_equal(np.asarray(made), expected)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float32", "complex128"])
@pytest.mark.parametrize("tests", [1, 2, 15, 40])
def test_isin_of_few_tests(dtype, tests):
    host = np.random.default_rng(6).integers(0, 100, (70, 90)).astype(dtype)
    few = host[3, :tests].copy()
    if dtype in ("float32", "complex128"):
        host[5, 5] = few[0] = np.nan
    for invert in (False, True):
        made = un.isin(un.array(host), un.array(few), invert=invert)
        np.testing.assert_array_equal(np.asarray(made), np.isin(host, few, invert=invert))
