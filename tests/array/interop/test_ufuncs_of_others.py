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
    with pytest.raises(TypeError, match=f"{name}: not supported for arrays of unisono"):
        f(x)
    assert np.allclose(f(np.asarray(x)), f(np.array([0.5, 1.5])))


def test_functions_of_users_are_not_ours():
    add = np.frompyfunc(lambda a, b: 100, 2, 1)
    assert add.__name__ != "add"
    with pytest.raises(TypeError, match="not supported for arrays of unisono"):
        add(un.ones(2), 1)
    assert np.add(un.ones(2), 1).tolist() == [2, 2] and np.divide(un.ones(2), 2).tolist() == [
        0.5,
        0.5,
    ]
    assert np.abs(un.asarray([-1.0])).tolist() == [1] and np.conj(un.asarray([1j])).tolist() == [
        -1j
    ]
