"""Errors of functions that are composed of others are reported under the function's own name."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

reported = [
    ("divmod", [1e308], [1e-10]),
    ("divmod", [1.0], [0.0]),
    ("divmod", [1], [0]),
    ("divmod", [-(2**63)], [-1]),
    ("square", [1e200]),
    ("reciprocal", [0.0]),
    ("ldexp", [1.0], [2000]),
    ("float_power", [1e200], [2.0]),
    ("rad2deg", [1e308]),
    ("modf", [np.inf]),
    ("frexp", [np.inf]),
]


@pytest.mark.parametrize("name, operands", [(n, x) for n, *x in reported])
def test_names(name, operands):
    outcomes = []
    for package in (np, un):
        try:
            with package.errstate(all="raise"):
                getattr(package, name)(*map(package.asarray, operands))
            outcomes.append(None)
        except FloatingPointError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
