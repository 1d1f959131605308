"""Selections between scalars on processors with AVX-512: by masked moves, not by way of a general register."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import unisono as un


def has_avx512():
    info = Path("/proc/cpuinfo")
    return info.exists() and " avx512f " in info.read_text()


def logarithms(x, out):
    for i in range(x.shape[0]):
        out[i] = math.log(x[i])


def both(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        a = x[i] - s if x[i] < y else y
        b = s if x[i] < y else x[i] * 3.0
        s = a * b + (x[i] if x[i] < y else 0.5)
    return s


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (logarithms, (np.array([0.5, 3.0, 5e-324, 1e-310, np.inf]), np.zeros(5))),
        (both, (np.array([0.5, 0.25, 3.0, np.nan]), 1.0)),
    ],
)
def test_shared_comparisons(function, args):
    f = un.njit(function)
    got = f(*args)
    if function is both:
        assert np.array_equal(got, function(*args), equal_nan=True)
    else:
        assert np.allclose(args[1], [math.log(v) for v in args[0]], rtol=3e-16)
    if has_avx512():
        text = "\n".join(f.inspect_asm().values())
        assert "vcmp" in text
        assert not re.search(r"kmov[bwdq]\s+%[a-z0-9]+, %k", text)
