"""The namespace of the array API standard: results without axes are arrays that libraries can write into."""

import operator
import os
import subprocess
import sys

import numpy as np
import pytest
import unisono as un

xp = un.zeros(1).__array_namespace__()
arithmetic = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv]
arithmetic += [operator.mod, operator.pow, operator.lt, operator.ge, operator.eq, operator.ne]
bitwise = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


def is_array(x, expected):
    """Of the standard's class, writeable, and with NumPy's value."""
    assert type(x) is xp.Array and x.flags.writeable
    np.testing.assert_array_equal(np.asarray(x), expected)
    return True


def test_the_namespace_has_the_packages_names():
    assert xp is un.array_api and xp.__name__ == "unisono.array_api"
    assert set(dir(un)) <= set(dir(xp)) and xp.float32 is un.float32 and xp.pi == un.pi
    assert xp.isdtype(xp.float32, "real floating") is True
    assert xp.__array_namespace_info__().capabilities()["boolean indexing"]
    assert xp.sin.__doc__ == un.sin.__doc__


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex128"])
def test_reductions_give_arrays(dtype):
    h = np.array([1, 0, 1], dtype)
    for name in ("sum", "prod", "max", "any", "argmax", "count_nonzero"):
        if dtype.startswith("complex") and "max" in name:
            continue
        made = getattr(xp, name)(un.asarray(h))
        assert is_array(made, getattr(np, name)(h))
        assert made.dtype == getattr(np, name)(h).dtype


@pytest.mark.parametrize("op", arithmetic)
def test_operators_of_arrays_without_axes_give_arrays(op):
    s = xp.sum(xp.asarray([1.0, 2.0]))
    for x, y in (
        (s, s),
        (s, 2.0),
        (2.0, s),
        (s, un.float64(2)),
        (un.float64(2), s),
        (un.float32(2), s),
        (un.asarray(2.0), s),
        (un.ones(3), s),
        (s, un.ones(3)),
    ):
        assert is_array(op(x, y), op(np.asarray(x), np.asarray(y)))


@pytest.mark.parametrize("op", bitwise)
def test_bitwise_operators_of_arrays_without_axes_give_arrays(op):
    s = xp.sum(xp.asarray([1, 2]))
    for x, y in ((s, 2), (2, s), (un.int64(2), s), (s, s)):
        assert is_array(op(x, y), op(int(x), int(y)))


def test_elements_and_unary_operators_are_arrays():
    a = xp.asarray([[1.0, -2.0], [3.0, 4.0]])
    assert is_array(a[0, 1], -2) and is_array(a[0], [1, -2]) and is_array(a.T[0, 1], 3)
    assert is_array(-a[0, 1], 2) and is_array(abs(a[0, 1]), 2) and is_array(+a[0, 1], -2)
    assert is_array(~xp.asarray(5), ~5) and is_array(a[1, 1][()], 4)
    assert [float(v) for row in a for v in row] == [1, -2, 3, 4]


def test_an_array_without_axes_is_written_in_place():
    s = same = xp.mean(xp.asarray([1.0, 3.0]))
    s += 1
    s *= un.float64(2)
    assert s is same and is_array(s, 6)
    s[...] = 3
    s[()] = s[()] + 1
    assert is_array(same, 4)
    with pytest.raises(TypeError, match="unhashable"):
        hash(s)


def test_results_in_tuples_are_arrays():
    sign, logarithm = xp.linalg.slogdet(xp.eye(2))
    assert is_array(sign, 1) and is_array(logarithm, 0)
    assert xp.linalg.svd(xp.eye(2)).S.ndim == 1
    assert is_array(xp.linalg.vector_norm(xp.asarray([3.0, 4.0])), 5)
    assert all(type(x) is xp.Array for x in xp.meshgrid(xp.ones(2), xp.ones(3)))
    assert is_array(xp.fft.fft(xp.ones(4)), [4, 0, 0, 0])


def test_the_packages_own_functions_go_on_giving_numbers():
    a = xp.asarray([1.0, 2.0])
    assert isinstance(un.sum(a), float) and isinstance(un.ones(2)[0], float)
    assert type(un.asarray(a)) is un.ndarray and un.isscalar(a.sum())


def test_memory_is_shared_as_by_the_packages_functions():
    x = un.zeros(3)
    xp.asarray(x)[0] = 1
    assert x.tolist() == [1, 0, 0]
    value = un.ones(1)[0]
    made = xp.asarray(value)
    made[...] = 5
    assert value == 1


def test_values_leave_operators_to_subclasses_that_have_their_own():
    class Named(un.ndarray):
        def __radd__(self, other):
            return "radd"

        def __gt__(self, other):
            return "gt"

    x = un.ones(2).view(Named)
    assert un.float64(1) + x == "radd" and (un.float64(1) < x) == "gt"
    assert (un.float64(2) * x).tolist() == [2, 2]


program = """
import numpy as np
import unisono as un
from scipy import stats
try:
    from scipy._lib.array_api_extra import at
except ImportError:  # since SciPy 1.18
    from scipy._external.array_api_extra import at

r = np.random.default_rng(0)
x, z, few = r.random(40), r.random(40), r.integers(0, 4, 40)
calls = [
    lambda a: stats.pearsonr(a(x), a(z)), lambda a: stats.f_oneway(a(x), a(z)),
    lambda a: stats.ttest_ind(a(x), a(z)), lambda a: stats.ttest_rel(a(x), a(z)),
    lambda a: stats.ttest_1samp(a(x), 0.5), lambda a: stats.linregress(a(x), a(z)),
    lambda a: stats.spearmanr(a(x), a(z)), lambda a: stats.normaltest(a(x)),
    lambda a: stats.kruskal(a(x), a(z)), lambda a: stats.bartlett(a(x), a(z)),
    lambda a: stats.describe(a(x)), lambda a: stats.mode(a(few)), lambda a: stats.tmean(a(x), (0.2, 0.8)),
    lambda a: stats.permutation_test(
        (a(x), a(z)), lambda p, q, axis: p.mean(axis) - q.mean(axis), rng=1, n_resamples=20),
]

def numbers(result):
    names = ("statistic", "pvalue", "slope", "intercept")
    found = [getattr(result, n) for n in names if hasattr(result, n)]
    return [np.asarray(v) for v in found or (result if isinstance(result, tuple) else [result])]

for k, call in enumerate(calls):
    for got, expected in zip(numbers(call(un.asarray)), numbers(call(np.asarray)), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, err_msg=str(k))
s = at(un.array_api.sum(un.ones(3)))[...].set(2.0)
assert s == 2 and at(s)[...].add(1.0) == 3
"""


@pytest.mark.slow
def test_scipys_functions_of_the_standard_compute_with_ours():
    pytest.importorskip("scipy")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
