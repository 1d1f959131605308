"""``gpuarray.vec``: PyCUDA's dtypes of vector types."""

import numpy as np
import pytest
from unisono.cuda import driver, gpuarray
from unisono.cuda.compiler import SourceModule
from unisono.cuda.gpuarray import vec


def test_dtypes():
    assert vec.float3 == np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])
    assert vec.uchar4.itemsize == 4 and vec.double2.names == ("x", "y")
    assert vec.types["int1"] is vec.int1 and not hasattr(vec, "double3")
    v = vec.make_short2(3, -4)
    assert v.shape == () and v.dtype == vec.short2 and v["y"] == -4
    with pytest.raises(
        TypeError, match="make_float3: expected 3 numbers; got 2; give one for each of x, y, z"
    ):
        vec.make_float3(1, 2)


def test_kernels_take_them(chosen):
    import unisono.cuda.autoinit  # noqa: F401

    text = """__global__ void k(float3 v, const float4 *in, float4 *out) {
        int i = threadIdx.x;
        out[i] = make_float4(v.x + in[i].x, v.y * in[i].y, v.z, in[i].w);
    }"""
    given = np.zeros(4, vec.float4)
    given["x"], given["y"], given["w"] = np.arange(4), 2, 7
    out = np.zeros_like(given)
    f = SourceModule(text).get_function("k")
    f(gpuarray.vec.make_float3(1, 2, 3), driver.In(given), driver.Out(out), block=(4, 1, 1))
    assert out.tolist() == [(1.0 + k, 4.0, 3.0, 7.0) for k in range(4)]
