"""Numba's and CUDA's names of vector types."""

import numpy as np
import pytest
from unisono import cuda, vectors


def test_names_of_vector_types():
    assert cuda.float32x4 is cuda.float4 is vectors.float4
    assert cuda.int64x2 is vectors.long2 and cuda.uint8x3 is cuda.uchar3
    with pytest.raises(AttributeError, match="float32x5"):
        cuda.float32x5  # noqa: B018


def test_vectors_in_kernels():
    @cuda.jit
    def f(a, out):
        i = cuda.grid(1)
        v = cuda.float32x4(a[i], 2, 3, 4)
        v = v + cuda.float4(1)
        out[i] = v.x + v.w

    a, out = np.arange(4, dtype="f4"), np.zeros(4, "f4")
    f[1, 4](a, out)
    assert np.array_equal(out, a + 6)
