"""Unions in C text, and pointers to numbers of another dtype: bits of one number read as another, on every place."""

import numpy as np
import pytest
import unisono as un

UNIONS = r"""
typedef union { float f; unsigned u; unsigned char b[4]; short h[2]; uchar4 v; } Bits;
union Wide { double d; unsigned long long w; struct { unsigned low, high; } parts; };
__device__ unsigned bits_of(float x) { Bits s; s.f = x; return s.u; }
__device__ void negate(Bits *p) { p->u ^= 0x80000000u; }
__device__ Bits made(unsigned u) { Bits s = {.u = u}; return s; }
__device__ float half_of(Bits s) { s.f /= 2; return s.f; }
extern "C" __global__ void k(const float *x, unsigned *w, Bits *m, union Wide q) {
    int i = threadIdx.x;
    w[8 * i] = bits_of(x[i]);
    m[i].f = x[i];
    m[i].b[3] = m[i].b[3] | 0x80;
    w[8 * i + 1] = m[i].u;
    negate(&m[i]);
    w[8 * i + 2] = m[i].b[i % 4] + 1000 * m[i].v.y;
    m[i].h[1] = -2;
    w[8 * i + 3] = m[i].u;
    Bits local = {x[i]};
    Bits copied = local;
    copied.v.x = 7;
    w[8 * i + 4] = copied.u - local.u;
    w[8 * i + 5] = made(0x3F800000u + i).u + (unsigned)half_of(local);
    union Wide d;
    d.d = q.d + i;
    w[8 * i + 6] = d.parts.high;
    w[8 * i + 7] = (unsigned)(d.w >> 20) ^ d.parts.low;
}"""


def test_members_of_a_union_share_memory(device):
    x = np.array([1.5, 0.1, 2.0, 300.25, 5.0], "f4")
    wide = np.array([(1234.5)], "f8").view("u8")
    given = un.array(x, device=device)
    w, m = un.zeros(40, "u4", device=device), un.zeros(5, "u4", device=device)
    un.RawKernel(UNIONS, "k")((1,), (5,), (given, w, m, (int(wide[0]),)))
    u, i = x.view("u4"), np.arange(5)
    got = np.asarray(w).reshape(5, 8)
    b = x.view("u1").reshape(5, 4)
    assert got[:, 0].tolist() == u.tolist()
    assert got[:, 1].tolist() == (u | 0x80000000).tolist()
    assert got[:, 2].tolist() == (b[i, i % 4] + 1000 * b[:, 1].astype("u4")).tolist()
    assert got[:, 3].tolist() == (u & 0xFFFF | 0xFFFE0000).tolist()
    assert got[:, 4].tolist() == ((u & 0xFFFFFF00 | 7) - u).tolist()
    assert got[:, 5].tolist() == (0x3F800000 + i + (x / 2).astype("u4")).tolist()
    d = (1234.5 + i).view("u8")
    assert got[:, 6].tolist() == (d >> 32).tolist()
    assert got[:, 7].tolist() == ((d >> 20 & 0xFFFFFFFF) ^ (d & 0xFFFFFFFF)).tolist()


TAGGED = r"""
typedef struct { int kind; union { int i; float f; }; double scale; } Value;
extern "C" __global__ void k(Value *v, float *out) {
    int i = threadIdx.x;
    Value own = {1, {2}, 3.0};
    own.f = 0.5f;
    own.kind = v[i].kind;
    if (v[i].kind == 0) own.i = v[i].i; else own = v[i];
    out[i] = (own.kind ? own.f : (float)own.i) * own.scale;
    v[i].f = out[i];
}"""


def test_a_union_without_a_name_in_a_struct(device):
    dtype = np.dtype({"names": ["kind", "i", "f", "scale"], "formats": ["i4", "i4", "f4", "f8"],
                      "offsets": [0, 4, 4, 8], "itemsize": 16})  # fmt: skip
    v = np.zeros(3, dtype)
    v["kind"], v["scale"] = [0, 1, 0], 2
    v["i"][[0, 2]], v["f"][1] = [7, -3], 1.25
    out = un.zeros(3, "f4", device=device)
    un.RawKernel(TAGGED, "k")((1,), (3,), (v, out))
    assert out.tolist() == [21, 2.5, -9]
    assert v["f"].tolist() == [21, 2.5, -9]


ROOT = r"""
float rsqrt_of(float x) {
    int i = *(int *)&x;
    i = 0x5f3759df - (i >> 1);
    float y = *(float *)&i;
    return y * (1.5f - 0.5f * x * y * y);
}
__kernel void k(__global const float *x, __global float *y, __global unsigned short *h) {
    int i = get_global_id(0);
    y[i] = rsqrt_of(x[i]);
    __global const ushort *p = (__global const ushort *)x;
    h[2 * i] = p[2 * i]; h[2 * i + 1] = *(p + 2 * i + 1);
}"""


def test_pointers_to_numbers_of_another_type(device):
    x = np.array([1, 4, 0.25, 3], "f4")
    y, h = un.zeros(4, "f4", device=device), un.zeros(8, "u2", device=device)
    un.RawKernel(ROOT, "k")((1,), (4,), (un.array(x, device=device), y, h))
    i = np.int32(0x5F3759DF) - (x.view("i4") >> 1)
    first = i.view("f4")
    expected = first * (np.float32(1.5) - np.float32(0.5) * x * first * first)
    np.testing.assert_allclose(np.asarray(y), expected, rtol=1e-6)
    assert np.asarray(h).tolist() == x.view("u2").tolist()


ATOMICS = r"""
__device__ double add(double *address, double value) {  // of CUDA's guide
    unsigned long long *word = (unsigned long long *)address;
    unsigned long long old = atomicCAS(word, 0ull, 0ull), assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
extern "C" __global__ void k(const double *x, double *sums, float *most, unsigned *counts) {
    int i = threadIdx.x;
    add(&sums[i % 2], x[i]);
    atomicMax((int *)most, __float_as_int((float)x[i]));
    atomicAdd((int *)counts, -1);
    atomicMin((int *)&counts[1], i - 7);
    atomicXor((unsigned *)&most[1], 1u << i % 4);
    atomicExch((int *)&counts[2], -5);
    atomicOr((int *)&counts[3], 1 << i % 8);
}"""


def test_atomics_take_memory_for_another_dtype(device):
    x = np.arange(32) * 1.5
    sums, most = un.zeros(2, device=device), un.zeros(2, "f4", device=device)
    counts = un.array([100, 3, 0, 0], "u4", device=device)
    un.RawKernel(ATOMICS, "k")((1,), (32,), (un.array(x, device=device), sums, most, counts))
    assert sums.tolist() == [x[::2].sum(), x[1::2].sum()]
    assert most.tolist() == [46.5, 0]
    assert np.asarray(counts).view("i4").tolist() == [68, -7, -5, 255]


@pytest.mark.parametrize(
    "statements, what",
    [
        ("Bits s; s.g = 1;", "'Bits' has no member 'g'"),
        ("w[0] = bits((Bits){1.0f});", "a list of values of 'Bits', which has a union"),
        ("Bits s; atomicAdd(&s.h[0], 1);", "atomicAdd of int16 in memory of uint32"),
        ("Bits s; set(&s.f);", "got float32 in memory of uint32"),
        ("w[0] = *(double *)w;", "becomes one to float64"),
        ("((unsigned char *)w)[1] = 7;", "becomes one to uint8, which is narrower"),
    ],
)
def test_errors_name_the_union(statements, what):
    code = f"""union Bits {{ float f; int i; short h[2]; }}; typedef union Bits Bits;
    __device__ int bits(Bits s) {{ return s.i; }}
    __device__ void set(float *p) {{ *p = 1; }}
    extern "C" __global__ void k(int *w) {{ {statements} }}"""
    with pytest.raises(un.CompileError, match=what.replace("(", r"\(")):
        un.RawKernel(code, "k")((1,), (1,), (un.zeros(4, "i4"),))
