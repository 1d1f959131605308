"""Vectors of OpenCL's and CUDA's names in Python kernels, on every place, and from Python."""

import numpy as np
import pytest
import unisono as un
from unisono import vectors
from unisono.vectors import float4, int2, uchar8


@pytest.fixture(params=[*map(str, un.devices()), "interp"])
def place(request):
    return request.param


def ramps(n, kind):
    made = np.zeros(n, kind.dtype)
    for k, f in enumerate(kind.fields):
        made[f] = np.arange(n) + k
    return made


@pytest.mark.parametrize("n", [1, 5])
def test_arrays_of_vectors(place, n):
    @un.kernel(device=place)
    def scale(a, out):
        i = un.global_id(0)
        out[i] = 2 * float4(a[i]) * a[i].x + float4(0, 0, 0, 1)

    a, out = ramps(n, float4), np.zeros(n, float4.dtype)
    scale[n](a, out)
    for f in "xyzw":
        assert out[f].tolist() == (2 * a[f] * a["x"] + (f == "w")).tolist()


def test_components_and_parts(place):
    @un.kernel(device=place)
    def parts(out):
        v = un.vectors.float4(1, 2, 3, 4)
        w = v.lo + v.hi
        out[0], out[1] = w.x, w.y
        out[2], out[3] = v.s3, v.xyz.z
        w = v.even - v.odd.x
        out[4], out[5] = w.s0, w.s1
        out[6], out[7] = vectors.float4(7).w, (-v / 2).y

    out = np.zeros(8, np.float32)
    parts[1](out)
    assert out.tolist() == [4, 6, 4, 3, -1, 1, 7, -1]


def test_integers_keep_their_type(place):
    @un.kernel(device=place)
    def wrap(out, sums):
        i = un.global_id(0)
        v = uchar8(250)
        for _ in range(i):
            v = v + 3
        out[i] = v
        w = (int2(i, 2 * i) << 1) | 1
        for _ in range(3):
            w = w + int2(w.y, w.x)
        sums[i] = (w % 1000 // 2 ^ 1).x

    out, sums = np.zeros(4, uchar8.dtype), np.zeros(4, np.int32)
    wrap[4](out, sums)
    assert out["s7"].tolist() == [250, 253, 0, 3]
    for i in range(4):
        x, y = 2 * i | 1, 4 * i | 1
        for _ in range(3):
            x, y = x + y, y + x
        assert sums[i] == x % 1000 // 2 ^ 1


def test_arguments_and_functions(place):
    @un.jit
    def turned(v, by):
        return float4(v.y, v.z, v.w, v.x) + by

    @un.kernel(device=place)
    def take(v, out):
        out[un.global_id(0)] = turned(v, v).x

    out = np.zeros(2, np.float32)
    take[2](float4(1, 2, 3, 4), out)
    assert out.tolist() == [3, 3]


def test_from_python():
    v = float4(1, 2, 3, 4)
    assert (
        v + 1 == float4(2, 3, 4, 5)
        and 10 - v == float4(9, 8, 7, 6)
        and v * v == float4(1, 4, 9, 16)
    )
    assert isinstance(v, float4) and isinstance(v.zw, vectors.float2) and v.x.dtype == np.float32
    assert float4(np.array([(1, 2, 3, 4)], float4.dtype)[0]) == v
    assert (
        float4.dtype.itemsize == 16
        and vectors.int3.dtype.itemsize == 12
        and "half16" in dir(vectors)
    )
    with pytest.raises(TypeError, match=r"float4: takes 4 numbers, or one for all; got 3"):
        float4(1, 2, 3)
    with pytest.raises(AttributeError, match=r"no attribute 'float5'; there are char"):
        _ = vectors.float5
