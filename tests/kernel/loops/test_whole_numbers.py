"""`int(x)` of a float in loops: its limits, and one instruction and one test for each conversion."""

import math
import platform
import re

import numpy as np
import pytest
import unisono as un


def positions(x, scale, counts):
    for i in range(x.shape[0]):
        counts[int(x[i] * scale)] += 1


def whole(x, out):
    for i in range(x.shape[0]):
        out[i] = int(x[i])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_limits(dtype):
    x = np.array([-(2.0**63), 2.0**62, -0.75, 0.75, -(2.0**31), 2.0**31, 1e9 + 0.5], dtype)
    out = np.zeros(x.size, "int64")
    un.njit(whole)(x, out)
    assert out.tolist() == [int(v) for v in x]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (math.nan, ValueError),
        (math.inf, OverflowError),
        (-math.inf, OverflowError),
        (2.0**63, OverflowError),
        (np.nextafter(-(2.0**63), -np.inf), OverflowError),
    ],
)
def test_beyond_limits(value, error):
    out = np.zeros(3, "int64")
    with pytest.raises(error):
        un.njit(whole)(np.array([1.5, value, 2.5]), out)
    assert out.tolist() == [1, 0, 0]


@pytest.mark.parametrize("source", ["float64", "float32"])
@pytest.mark.parametrize("target", ["int64", "int32", "int16", "uint64"])
def test_conversions_of_elements(source, target):
    @un.njit(device="cpu")
    def convert(x, out):
        for i in range(x.shape[0]):
            if i != 3:
                out[i] = x[i]

    x = np.array(
        [-3.75, 0.0, 7.5, 1.0, 2.0**30, -(2.0**31), np.inf, -np.inf, np.nan, 2.0**63], source
    )
    made, want = np.zeros(x.size, target), np.zeros(x.size, target)
    convert(x, made)
    un.njit(device="interp")(convert.py_func)(x, want)
    assert made.tolist() == want.tolist()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instruction is x86's")
def test_generated_code():
    f = un.njit(positions)
    counts = np.zeros(4)
    f(np.array([0.1, 0.9, 0.3, 0.6]), 4.0, counts)
    assert counts.tolist() == [1, 1, 1, 1]
    iterations = f.inspect_llvm().count("call i64 @llvm.x86.sse2.cvttsd2si64")
    assert iterations > 0
    # Comparisons of floats stand where the conversion has failed; an index takes one of integers.
    assert len(re.findall(r"fcmp ", f.inspect_llvm())) == 2 * iterations
    assert "icmp sge" not in f.inspect_llvm()
