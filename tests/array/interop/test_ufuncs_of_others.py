"""NumPy's functions are matched by identity: SciPy has ufuncs of the same names as dtypes and functions of ours."""

import numpy as np
import pytest
import unisono as un

special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("name", ["i1", "i0", "i0e", "exp2", "cbrt", "log1p", "erf", "gamma"])
def test_functions_of_scipy_are_not_ours(name):
    """`i1` is also a dtype; `i0` of ours takes NumPy's function of that name only."""
    f = getattr(special, name)
    x = un.asarray([0.5, 1.5])
    made = f(x)
    assert type(made) is un.ndarray and np.array_equal(made, f(np.array([0.5, 1.5])))


def test_results_and_operands_of_other_functions():
    """On the arrays' own memory, written ones included; several results are each ours."""
    x, out = un.asarray([0.5, 1.5]), un.zeros(2)
    assert special.gamma(x, out=out) is out and out.tolist() == special.gamma([0.5, 1.5]).tolist()
    both = special.sici(x)
    assert [type(v) for v in both] == [un.ndarray] * 2 and type(special.expit(x[0])) is not type(x)
    assert np.array_equal(special.jv(un.arange(2), x), special.jv([0, 1], [0.5, 1.5]))
    assert np.spacing.__name__ and np.array_equal(
        special.logsumexp(x), special.logsumexp([0.5, 1.5])
    )


def test_functions_of_users_are_not_ours():
    add = np.frompyfunc(lambda a, b: 100, 2, 1)
    assert add.__name__ != "add"
    assert add(un.ones(2), 1).tolist() == [100, 100]
    assert np.add(un.ones(2), 1).tolist() == [2, 2] and np.divide(un.ones(2), 2).tolist() == [
        0.5,
        0.5,
    ]
    assert np.abs(un.asarray([-1.0])).tolist() == [1] and np.conj(un.asarray([1j])).tolist() == [
        -1j
    ]
