"""Numba's and CUDA's names of vector types."""

import numpy as np
import pytest
import unisono as un
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


LANES = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float32",
    "float64",
]


@pytest.mark.parametrize("lane", LANES)
def test_vectors_of_numbers_and_vectors(lane, device):
    one, two, three, four = (getattr(cuda, f"{lane}x{n}") for n in (1, 2, 3, 4))

    def made():
        a, b = one(1), two(2, 3)
        c = three(a, b)
        return (
            four(a, b, 4),
            four(b, b),
            four(5, c),
            four(c, a),
            four(a, a, a, 6),
            four(four(a, 7, b)),
        )

    @un.kernel(device=device)
    def f(out):
        for v in made():
            k = un.global_id(0)
            out[k] = out[k] * 3 + v.x + v.y * 5 + v.z * 7 + v.w * 11
        out[0] += one(one(9)).x + two(one(1), 3).y

    made_here = [(v.x, v.y, v.z, v.w) for v in made()]
    assert made_here == [
        (1, 2, 3, 4),
        (2, 3, 2, 3),
        (5, 1, 2, 3),
        (1, 2, 3, 1),
        (1, 1, 1, 6),
        (1, 7, 2, 3),
    ]
    expected = 0
    for v in made_here:
        expected = expected * 3 + np.dot(v, (1, 5, 7, 11))
    out = un.zeros(1, device=device)
    f[1](out)
    assert float(out[0]) == expected + 12


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: cuda.int4(cuda.int3(1, 2, 3), cuda.int2(1, 2)), "4 numbers.*got 5"),
        (lambda: cuda.int4(1, 2, 3), "4 numbers.*got 3"),
        (lambda: cuda.int4(1, 2, 3, 4, 5), "4 numbers.*got 5"),
        (lambda: cuda.int4(cuda.float2(1, 2), 1, 2), "vectors of int32; got a float2"),
    ],
)
def test_vectors_refuse_wrong_parts(given, message):
    with pytest.raises(TypeError, match=message):
        given()
    f = un.jit(given)
    with pytest.raises((un.CompileError, TypeError)):
        f()
