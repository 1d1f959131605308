"""Structs and vector types in kernels of C text, beside NumPy."""

import numpy as np
import pytest
import unisono as un

TYPES = {"float": "f4", "int": "i4", "uint": "u4", "uchar": "u1", "short": "i2", "double": "f8"}
A, B = np.array([1, 2, 3, 4], "f4"), np.array([4, -1, 0.5, 2], "f4")
WORDS = "float4 a = (float4)(1, 2, 3, 4), b = (float4)(4, -1, 0.5f, 2); int4 m = (int4)(-1, 0, -1, 0); float s = 3;"


def vectors(expressions, ctype, lanes, device, words=WORDS):
    """What each of the expressions gives as a vector, by one kernel; x is 0, 1, ... 15."""
    stores = "".join(
        f"v = ({ctype}{lanes})({e}); vstore{lanes}(v, {k}, o);\n" for k, e in enumerate(expressions)
    )
    code = f"__kernel void k(__global {ctype} *o, __global const float *x) {{ {words} {ctype}{lanes} v; {stores} }}"
    o = un.zeros(lanes * len(expressions), TYPES[ctype], device=device)
    x = un.arange(16, dtype="f4", device=device)
    un.RawKernel(code, "k")((1,), (1,), (o, x))
    return np.asarray(o).reshape(-1, lanes)


FLOATS = {
    "a + b": A + B,
    "a * s": A * 3,
    "s - a": 3 - A,
    "a / b": A / B,
    "-a": -A,
    "a.wzyx": A[::-1],
    "a.s3210": A[::-1],
    "(float4)(a.lo, b.hi)": [1, 2, 0.5, 2],
    "a.even, b.odd": [1, 3, -1, 2],
    "fma(a, b, a)": A * B + A,
    "clamp(a, 1.5f, 3.0f)": np.clip(A, 1.5, 3),
    "max(a, b)": np.maximum(A, B),
    "fmin(a, 2.0f)": np.minimum(A, 2),
    "mix(a, b, 0.5f)": (A + B) / 2,
    "sqrt(a)": np.sqrt(A),
    "ldexp(a, 1)": 2 * A,
    "step(a, b)": B >= A,
    "select(a, b, m)": [4, 2, 0.5, 4],
    "m ? a : b": [1, -1, 3, 2],
    "cross(a, b)": [*np.cross(A[:3], B[:3]), 0],
    "normalize(a)": A / np.linalg.norm(A),
    "dot(a, b)": [A @ B] * 4,
    "distance(a, b)": [np.linalg.norm(A - B)] * 4,
    "length(-3.0f)": [3] * 4,
    "shuffle(a, (uint4)(3, 0, 1, 2))": [4, 1, 2, 3],
    "shuffle2(a, b, (uint4)(4, 0, 7, 2))": [4, 1, 2, 3],
    "bitselect(a, b, (float4)(0))": A,
    "vload4(1, x)": [4, 5, 6, 7],
    "vload3(1, x), 9": [3, 4, 5, 9],
    "vload8(0, x).hi": [4, 5, 6, 7],
    "vload16(0, x).s0aF3": [0, 10, 15, 3],
    "*(__global const float4 *)(x + 8)": [8, 9, 10, 11],
    "(a * 2.0f).x, (a + b).yw, 1": [2, 1, 6, 1],
}
INTEGERS = {
    "a < b": [-1, 0, 0, 0],
    "isgreater(a, b)": [0, -1, -1, -1],
    "a == a && b == b": [-1] * 4,
    "!m": [0, -1, 0, -1],
    "~m": [0, -1, 0, -1],
    "m >> 1": [-1, 0, -1, 0],
    "any(m), all(m), any(a > b), all(a == a)": [1, 0, 1, 1],
    "convert_int4(b)": [4, -1, 0, 2],
    "convert_int4_rte(a * 1.5f)": [2, 3, 4, 6],
    "as_int4(a)": A.view("i4"),
    "as_int2(as_double((ulong)0x3ff0000000000000)), 1, 2": [0, 0x3FF00000, 1, 2],
    "sizeof(float3), sizeof(a), sizeof(char2), sizeof(int8)": [16, 16, 2, 32],
}
BYTES = {
    "convert_uchar4_sat(b * 100.0f)": [255, 0, 50, 200],
    "as_uchar4(0x04030201u)": [1, 2, 3, 4],
    "(uchar4)(200) + (uchar4)(100)": [44] * 4,
}


@pytest.mark.parametrize(
    "ctype, expected", [("float", FLOATS), ("int", INTEGERS), ("uchar", BYTES)]
)
def test_expressions_of_vectors(ctype, expected, device):
    got = vectors(expected, ctype, 4, device)
    for values, (expression, wanted) in zip(got, expected.items(), strict=True):
        wanted = np.asarray(wanted, TYPES[ctype])
        np.testing.assert_allclose(values, wanted, rtol=3e-7, err_msg=expression)


def test_parts_of_vectors_are_assigned_to(device):
    words = "float4 a = (float4)(1, 2, 3, 4); a.xy = a.yx; a.w += 2; a *= 2.0f; a.s1++;"
    assert vectors(["a"], "float", 4, device, words).tolist() == [[4, 3, 6, 12]]
    words = """float4 q[3];
        for (int i = 0; i < 3; i++) q[i] = (float4)(i, i + 1, i + 2, i + 3);
        q[1].xy = q[2].zw;
        float4 a = q[1] + q[0];
        float4 *p = q + 2;
        a.x += p->w; a.y += (*p).x; a.z += ((float *)q)[11];"""
    assert vectors(["a"], "float", 4, device, words).tolist() == [[9, 8, 10, 7]]


PARTICLES = r"""
struct Particle { float x, y; int id; double m; };
typedef struct { float4 pos; struct Particle p[2]; } Cell;
__device__ struct Particle moved(struct Particle p, float dx) { p.x += dx; p.id++; return p; }
__device__ void twice(struct Particle *p) { p->m *= 2; }
__device__ void add(float &a, float b) { a += b; }
extern "C" __global__ void k(Cell *c, float4 v, struct Particle q) {
    int i = threadIdx.x;
    c[i].pos = v; c[i].pos.y *= 10;
    c[i].p[1] = moved(q, 3.0f);
    c[i].p[0].id = i;
    twice(&c[i].p[1]);
    Cell copied = c[i];
    copied.p[0].m = 7;
    float t = 1; add(t, 4);
    copied.p[0].y = t;
    c[i] = copied;
}"""
PARTICLE = np.dtype([("x", "f4"), ("y", "f4"), ("id", "i4"), ("m", "f8")], align=True)
CELL = np.dtype([("pos", "f4", 4), ("p", PARTICLE, 2)], align=True)


@pytest.mark.parametrize("is_structured", [True, False])
def test_structs_are_structured_arrays_or_bytes(is_structured, device):
    kernel = un.RawKernel(PARTICLES, "k")
    q = np.zeros((), PARTICLE)
    q["x"], q["y"], q["id"], q["m"] = 1, 2, 5, 6
    if is_structured:
        cells = np.zeros(2, CELL)
        kernel((1,), (2,), (cells, (1, 2, 3, 4), q))
        if device != "cpu":
            return  # it ran on the current device
    else:
        memory = un.zeros(2 * CELL.itemsize, "u1", device=device)
        kernel((1,), (2,), (memory, np.float32([1, 2, 3, 4]), q[()]))
        cells = np.asarray(memory).view(CELL)
    assert cells["pos"].tolist() == [[1, 20, 3, 4]] * 2
    assert cells["p"][:, 1].tolist() == [(4, 2, 6, 12)] * 2
    assert cells["p"][:, 0].tolist() == [(0, 5, 0, 7), (0, 5, 1, 7)]


def test_memory_of_the_host_is_copied_to_the_device_and_back(device):
    kernel = un.RawKernel(PARTICLES, "k")
    cells = np.zeros(2, CELL)
    from unisono._raw.arguments import arguments_of

    kernel._translated(0)
    back = []
    given = arguments_of("k", kernel._declared, (cells, (1, 2, 3, 4), (1, 2, 5, 6)), device, back)
    assert len(given) == 3 + 4 + 4 and len(back) == (device != "cpu")


OF_CUDA = r"""
struct S { int a; float b; };
inline __host__ __device__ float4 operator+(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
inline __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline __device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__device__ S operator*(S s, int k) { s.a *= k; return s; }
template <typename T> __device__ T twice(T x) { return x + x; }
__device__ void swap(int &a, int &b) { int t = a; a = b; b = t; }
enum Mode { ADD, MUL = 5 };
__constant__ float4 table[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__device__ S state = {3, 2.5f};
extern "C" __global__ void k(float *out, const float *x, int2 *pairs, const float3 *v, S *s) {
    __shared__ float4 tile[4];
    __shared__ S many[4];
    int i = threadIdx.x;
    tile[i] = reinterpret_cast<const float4*>(x)[i];
    many[i].a = i; many[i].b = 2 * i;
    __syncthreads();
    float4 u = tile[3 - i] + table[1];
    float4 w = twice(u);
    S q = (S)many[3 - i] * 3;
    int2 p = pairs[i];
    swap(p.x, p.y);
    pairs[i] = p;
    dim3 d(2, 3);
    out[i] = w.x + dot(v[i], v[i]) + q.a + q.b + (MUL == 5 ? 1 : 0) + state.b + d.y * d.z;
    s[i + 1] = S{i, 1.5f};
    atomicAdd(&s[0].a, 10);
}"""


def test_structs_and_vectors_of_cuda(device):
    module = un.RawModule(code=OF_CUDA)
    x = un.arange(16, dtype="f4", device=device)
    out, v = un.zeros(4, "f4", device=device), un.ones((4, 3), "f4", device=device)
    pairs = un.arange(8, dtype="i4", device=device).reshape(4, 2)
    s = un.zeros(5 * 8, "u1", device=device)
    module.get_function("k")((1,), (4,), (out, x, pairs, v, s))
    i = np.arange(4)
    expected = 2 * ((3 - i) * 4 + 5) + 3 + (3 - i) * 3 + 2 * (3 - i) + 1 + 2.5 + 3
    assert np.asarray(out).tolist() == expected.tolist()
    assert pairs.tolist() == [[1, 0], [3, 2], [5, 4], [7, 6]]
    records = np.asarray(s).view([("a", "i4"), ("b", "f4")])
    assert records.tolist() == [(40, 0), (0, 1.5), (1, 1.5), (2, 1.5), (3, 1.5)]


def test_variables_of_the_text_are_structs():
    module = un.RawModule(code=OF_CUDA)
    assert module.get_global("table").tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    state = np.asarray(module.get_global("state"))
    assert state.view([("a", "i4"), ("b", "f4")]).tolist() == [(3, 2.5)]


@pytest.mark.parametrize(
    "args, error, what",
    [
        ((np.zeros(2, [("x", "f4")]), (1, 2, 3, 4), (1, 2, 3, 4)), TypeError, "'c' is a 'Cell' of 64 bytes"),
        ((np.zeros(4, "f4"), (1, 2, 3, 4), (1, 2, 3, 4)), TypeError, "got an array of float32; give a structured"),
        ((np.zeros(81, "u1"), (1, 2, 3, 4), (1, 2, 3, 4)), ValueError, "got 81 bytes; give whole ones"),
        ((np.zeros(2, CELL)[::2], (1, 2, 3), (1, 2, 3, 4)), TypeError, "'v' is a 'float4' of 4 numbers; got 3"),
        ((np.zeros(4, CELL)[::2], (1, 2, 3, 4), (1, 2, 3, 4)), ValueError, "do not follow each other"),
        ((np.zeros(2, CELL), (1, 2, 3, 4), (1, 2, 3.5, 4)), TypeError, r"'q\[2\]' is int32; got the float 3.5"),
        ((3, (1, 2, 3, 4), (1, 2, 3, 4)), TypeError, "'c' is a pointer to 'Cell'; got int"),
    ],
)  # fmt: skip
def test_arguments_are_records_that_the_text_declares(args, error, what):
    with pytest.raises(error, match=what):
        un.RawKernel(PARTICLES, "k")((1,), (1,), args)


REFERENCES = r"""
struct Q { int a, b; };
struct M { float m[2][2]; };
__constant__ float tab[] = {1, 2, 3, 4};
__device__ float first(const float3 &a) { return a.x; }
__device__ float scaled(const float &s, const Q &q) { return s * q.b; }
__device__ float3 operator*(float s, const float3 &a) { return make_float3(s * a.x, s * a.y, s * a.z); }
__device__ float corner(const M &m, int k) { return m.m[k][k]; }
extern "C" __global__ void k(float *o, float4 *p) {
    Q n[8];
    int lut[] = {3, 1, 2};
    Q q[] = {{1, 2}, {3, 4}};
    M m = {{{1, 2}, {3, 7}}};
    o[0] = (float)(&n[5] - &n[2]);
    o[1] = (float)((p + 3) - p);
    o[2] = first(make_float3(9, 8, 7));
    o[3] = scaled(2.5f, q[1]);
    o[4] = first(2.0f * make_float3(5, 6, 7));
    o[5] = lut[0] * 10 + lut[2] + q[1].a;
    o[6] = tab[3];
    o[7] = corner(m, 1);
}"""


def test_constant_references_and_distances(device):
    out, p = un.zeros(8, "f4", device=device), un.zeros((4, 4), "f4", device=device)
    un.RawKernel(REFERENCES, "k")((1,), (1,), (out, p))
    assert out.tolist() == [3, 3, 9, 10, 10, 35, 4, 7]


def test_records_of_the_other_byte_order_are_refused():
    text = 'struct P { float x; int n; }; extern "C" __global__ void k(P *p) { p[0].x += 1; }'
    foreign = np.dtype("f4").newbyteorder()
    with pytest.raises(TypeError, match="'p'"):
        un.RawKernel(text, "k")((1,), (1,), (np.zeros(4, [("x", foreign), ("n", "i4")]),))


def test_lanes_that_a_vector_has_not_are_refused():
    with pytest.raises(un.CompileError):
        un.RawKernel("__kernel void k(__global float *o) { float2 v; o[0] = v.xyw.x; }", "k")(
            (1,), (1,), (un.zeros(1, "f4"),)
        )


def test_layouts_are_known_of_types(device):
    """Sizes of what a null pointer would point to, offsets of its members, and offsetof."""
    code = r"""
    struct Inner { short s; double d[2]; };
    struct Whole { int4 a; char b; double c[2]; Inner in[3]; Inner one; };
    extern "C" __global__ void k(unsigned long long* out) {
        const Whole* p = nullptr;
        out[0] = sizeof(Whole); out[1] = sizeof(p->a); out[2] = sizeof(p->b); out[3] = sizeof(p->c);
        out[4] = sizeof(p->in); out[5] = sizeof(p->one.d);
        out[6] = (unsigned long long)&p->b; out[7] = (size_t)&p->in; out[8] = (size_t)&(p->one.d);
        out[9] = (size_t)&((Whole*)0)->c; out[10] = offsetof(Whole, one); out[11] = offsetof(Whole, one.d);
    }"""
    inner = np.dtype([("s", "i2"), ("d", "f8", 2)], align=True)
    # int4 begins at multiples of 16 bytes, and so does what holds it
    offsets = {"b": 16, "c": 24, "in": 40, "one": 40 + 3 * inner.itemsize}
    out = un.zeros(12, "u8", device=device)
    un.RawKernel(code, "k")((1,), (1,), (out,))
    assert out.tolist() == [
        144, 16, 1, 16, 3 * inner.itemsize, 16,
        offsets["b"], offsets["in"], offsets["one"] + 8, offsets["c"], offsets["one"], offsets["one"] + 8,
    ]  # fmt: skip


def test_a_null_pointer_has_no_member_of_another_name():
    code = 'struct S { int a; }; extern "C" __global__ void k(int* o) { S* p = 0; o[0] = sizeof(p->b); }'
    with pytest.raises(un.CompileError, match="'S' has no member 'b'"):
        un.RawKernel(code, "k")((1,), (1,), (un.zeros(1, "i4"),))
