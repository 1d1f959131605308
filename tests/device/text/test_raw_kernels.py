"""Kernels of CUDA C and OpenCL C text, on every device."""

import gc
import linecache
import re

import numpy as np
import pytest
import unisono as un
from unisono import cuda


@pytest.fixture(params=[*map(str, un.devices()), "interp"])
def chosen(request):
    cuda.select_device(request.param)
    yield request.param
    cuda.close()


def there(device, *arrays):
    return [un.array(a, device=device) for a in arrays]


MULTIPLY = r"""
extern "C"{
__global__
void mymul(int n, const double* x1, const double* x2, double* y){
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid < n){
        y[tid] = x1[tid] * x2[tid];
    }
}
}"""

TEXT = r"""
#define TILE 16
#define SQUARE(x) ((x) * (x))
typedef unsigned int word;
__constant__ float factors[4] = {1, 2, 3};  // the last one is 0
__device__ int launches[1];

__device__ float weighted(float a, const float* p, int n) {
    float s = 0;
    for (int i = 0; i < n; ++i) s += a * p[i];
    return s;
}
template <typename T> __device__ T larger(T a, T b) { return a > b ? a : b; }
template <typename T, int N> __global__ void scaled(T* x, T least, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < N; k++) x[i] = larger(x[i], least) * (T)2;
}

extern "C" __global__ void product(const float* A, const float* B, float* C, int n) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (n + TILE - 1) / TILE; ++t) {
        int k = t * TILE;
        a[ty][tx] = (row < n && k + tx < n) ? A[row * n + k + tx] : 0.0f;
        b[ty][tx] = (col < n && k + ty < n) ? B[(k + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int j = 0; j < TILE; ++j) sum += a[ty][j] * b[j][tx];
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}

extern "C" __global__ void histogram(const unsigned char* data, int n, int* bins, int* order, word* counter) {
    __shared__ int own[8];
    __shared__ int total;
    if (threadIdx.x < 8) own[threadIdx.x] = 0;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&own[data[i] % 8], 1);
        atomicAdd(&total, 1);
    }
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(bins + threadIdx.x, own[threadIdx.x]);
    if (threadIdx.x == 0) { int at = atomicAdd(counter, 1u); order[at] = total; atomicAdd(launches, 1); }
}

extern "C" __global__ void language(const int* a, int* out, const float* f, float* g, long long* w) {
    word i = threadIdx.x + blockIdx.x * blockDim.x;
    int x = a[i], y = 0, k = 0;
    while (x != 0 && k < 40) {
        if (x & 1) { ++y; x >>= 1; k++; continue; }
        x = x / 2;
        k++;
    }
    do { y += 2; } while (y < 5);
    switch (i % 4) {
    case 0: y += 100; break;
    case 1:
    case 2: { y -= 7; break; }
    default: y *= -3;
    }
    int three[3] = {1, 2};
    three[2] = y;
    int p = 0;
    y = three[p++] + three[p++] + three[p];
    const float* q = f + i;
    g[i] = SQUARE(*q) + weighted(2.0f, factors, 4) + sqrtf(fabsf(q[0])) + (i > 3u ? 1.5f : -0.5f) + roundf(q[0] * 4);
    out[i] = (a[i] * 1103515245 + 12345) % 1000 / 7 - (a[i] >> 1) + y;
    w[i] = (long long)a[i] * a[i] + (unsigned char)(a[i] * 3) + sizeof(double) - i;
}

extern "C" __global__ void reversed(int* a) {
    extern __shared__ int kept[];
    kept[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}
"""
module = un.RawModule(code=TEXT, name_expressions=["scaled<float, 2>"])


def test_the_lecture_s_program(chosen):
    x1 = np.array([1, 3, 5, 7, 9], dtype=np.float64)
    x2 = np.array([2, 4, 6, 8, 10], dtype=np.float64)
    x1_dev, x2_dev = there(chosen, x1, x2)
    y_dev = un.zeros_like(x1_dev)
    mymul_kernel = un.RawModule(code=MULTIPLY).get_function("mymul")
    blocksize = 2
    n_blocks = int(np.ceil(len(x1) / blocksize))
    mymul_kernel(
        grid=(n_blocks,), block=(blocksize,), args=(np.int32(len(x1)), x1_dev, x2_dev, y_dev)
    )
    assert str(y_dev) == "[ 2. 12. 30. 56. 90.]"
    np.testing.assert_array_equal(y_dev.get(), x1 * x2)


def test_shared_tiles(chosen):
    rng = np.random.default_rng(2)
    a, b = (rng.random((37, 37)).astype(np.float32) for _ in range(2))
    x, y, z = there(chosen, a, b, np.zeros_like(a))
    module.get_function("product")((3, 3), (16, 16), (x, y, z, 37))
    want = np.zeros_like(a)
    for k in range(37):
        want += a[:, k : k + 1] * b[k]
    np.testing.assert_array_equal(z.get(), want)


def test_atomics_and_variables_of_the_module(chosen):
    data = np.random.default_rng(3).integers(0, 256, 5000).astype(np.uint8)
    bins, order, counter = np.zeros(8, np.int32), np.zeros(4, np.int32), np.zeros(1, np.uint32)
    launches = module.get_global("launches")
    launches[...] = 10
    module.get_function("histogram")(4, 64, (data, 5000, bins, order, counter))
    np.testing.assert_array_equal(bins, np.bincount(data % 8, minlength=8))
    assert order.sum() == 5000 and (order > 0).all() and counter[0] == 4
    assert launches.get().tolist() == [14]


def _language(a, f):
    """What the kernel `language` computes, in exact integers that are cut as C's."""
    cut = lambda v: (int(v) + 2**31) % 2**32 - 2**31  # noqa: E731
    quotient = lambda u, v: abs(u) // abs(v) * (1 if (u < 0) == (v < 0) else -1)  # noqa: E731
    out, g, w = [], [], []
    for i in range(len(a)):
        value, y, k = int(a[i]), 0, 0
        x = value
        while x != 0 and k < 40:
            if x & 1:
                y, x = y + 1, x >> 1
            else:
                x = quotient(x, 2)
            k += 1
        while True:
            y += 2
            if y >= 5:
                break
        y = [y + 100, y - 7, y - 7, y * -3][i % 4] + 3
        u = cut(value * 1103515245 + 12345)
        u -= quotient(u, 1000) * 1000
        out.append(cut(quotient(u, 7) - (value >> 1) + y))
        w.append(value * value + (value * 3) % 256 + 8 - i)
        one = np.float32(f[i])
        r = one * one + np.float32(12) + np.sqrt(abs(one)) + np.float32(1.5 if i > 3 else -0.5)
        four = one * np.float32(4)
        g.append(r + np.copysign(np.floor(abs(four) + np.float32(0.5)), four))
    return np.array(out, np.int32), np.array(g, np.float32), np.array(w, np.int64)


def test_numbers_and_control_flow_are_c_s(chosen):
    a = np.random.default_rng(0).integers(-(2**30), 2**30, 16).astype(np.int32)
    f = np.linspace(-1, 1, 16, dtype=np.float32)
    out, g, w = np.zeros(16, np.int32), np.zeros(16, np.float32), np.zeros(16, np.int64)
    module.get_function("language")(4, 4, (a, out, f, g, w))
    for got, want in zip((out, g, w), _language(a, f), strict=True):
        np.testing.assert_array_equal(got, want)


def test_templates_call_templates_of_numbers(chosen):
    text = """
    template<typename T, int N> __device__ T sum(T x) {
        for (int i = 0; i < N; i++) x += i;
        return x;
    }
    template<typename T, int N> __global__ void add(T* x) { x[threadIdx.x] = sum<T, N>(x[threadIdx.x]); }"""
    module = un.RawModule(code=text, name_expressions=["add<float, 3>", "add<double, 4>"])
    for name, dtype, added in (("add<float, 3>", "float32", 3), ("add<double, 4>", "float64", 6)):
        (x,) = there(chosen, np.ones(4, dtype))
        module.get_function(name)((1,), (4,), (x,))
        assert x.tolist() == [1 + added] * 4


def test_templates_and_shared_memory_of_the_launch(chosen):
    (z,) = there(chosen, np.arange(5, dtype=np.float32))
    module.get_function("scaled<float, 2>")(2, 4, (z, 1.5, 5))
    assert z.get().tolist() == [6, 6, 8, 12, 16]
    (a,) = there(chosen, np.arange(8, dtype=np.int32))
    module.get_function("reversed")((1,), (8,), (a,), shared_mem=32)
    assert a.get().tolist() == list(range(7, -1, -1))


OPENCL = """
__kernel void sums(__global const float *a, __global float *out, const int n)
{
    __local float part[8];
    int l = get_local_id(0);
    size_t i = get_global_id(0);
    part[l] = i < n ? a[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = get_local_size(0) / 2; k > 0; k /= 2) {
        if (l < k) part[l] += part[l + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}
"""


def test_opencl_c(chosen):
    a = np.arange(20, dtype=np.float32)
    out = np.zeros(3, np.float32)
    un.RawKernel(OPENCL, "sums")(3, 8, (a, out, 20))
    assert out.tolist() == [a[:8].sum(), a[8:16].sum(), a[16:].sum()]


def test_the_interpreter_finds_races_and_indices():
    racing = un.RawKernel('extern "C" __global__ void race(int* a) { a[0] = threadIdx.x; }', "race")
    cuda.select_device("interp")
    try:
        with pytest.raises(Exception, match="race|conflict|another"):
            racing(1, 4, (np.zeros(4, np.int32),))
    finally:
        cuda.close()
    beyond = un.RawKernel(
        'extern "C" __global__ void beyond(int* a) {\n    a[threadIdx.x + 2] = 1;\n}', "beyond"
    )
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        beyond(1, 4, (un.zeros(4, np.int32),))


@pytest.mark.parametrize("place", ["x[i - 1] = 1", "put(x, i)", "p[-1] = 1"])
def test_no_index_of_c_counts_from_the_end(device, place):
    text = """
    __device__ void put(int* x, int i) { x[i - 1] = 1; }
    extern "C" __global__ void f(int* x, int first) {
        int i = threadIdx.x + first; int* p = x + i; PLACE; }"""
    kernel = un.RawKernel(text.replace("PLACE", place), "f")
    x = un.zeros(4, "int32", device=device)
    kernel((1,), (4,), (x, 1))
    assert np.asarray(x).tolist() == [1] * 4
    with pytest.raises(IndexError, match="index -1 is out of bounds for axis 0 with size 4"):
        kernel((1,), (3,), (x, 0))
        np.asarray(x)


@pytest.mark.parametrize(
    "args, error, what",
    [
        ((1, 2), TypeError, r"takes 4 arguments; got 2; give int32 n, float64 \*x1"),
        ((1, 2, 3, 4), TypeError, "'x1' is a pointer to float64; got int; give an array"),
        ((1.5, "x", "x", "x"), TypeError, r"'n' is int32; got the float 1.5; convert it with int"),
        ((2**40, "x", "x", "x"), OverflowError, "'n' is int32; got 1099511627776"),
        ((1, "f", "x", "x"), TypeError, "'x1' is a pointer to float64; got an array of float32"),
        (
            (1, "s", "x", "x"),
            ValueError,
            "'x1' is a pointer; got an array whose elements do not follow",
        ),
        (("x", "x", "x", "x"), TypeError, "'n' is int32; got ndarray; give a number"),
    ],
)
def test_arguments_are_those_that_the_text_declares(args, error, what):
    arrays = {"x": un.zeros(4), "f": un.zeros(4, un.float32), "s": un.zeros(8)[::2]}
    given = tuple(arrays.get(a, a) if isinstance(a, str) else a for a in args)
    with pytest.raises(error, match=what):
        un.RawKernel(MULTIPLY, "mymul")(1, 4, given)


@pytest.mark.parametrize(
    "body, what",
    [
        ("y[0] = z;", "'z' is not declared"),
        ("y[0] = 1", "expected ';'; got '}'"),
        ("y[0] = sin2(1.0);", "the function 'sin2' is not known"),
        ("vec4 v;", "expected ';'; got 'v'"),
        ("float4 v = make_float4(1, 2, 3);", "'float4' has 4 numbers; got 3"),
        ("float4 v = {1}; v.q = 1;", "'float4' has no member 'q'"),
        ("float4 v = {1}; float2 w = {2}; v = w;", "'float2' becomes 'float4'"),
        ("int k = 3; y[0] = k.x;", r"'\.x' of a number"),
        ("struct P { int a; }; struct P p; y[0] = p;", "a number is needed; got a value of 'P'"),
        ("struct P { float *a; };", "a member is a pointer"),
        ("struct P { int a; double b; } __attribute__((packed));", "'P' is packed"),
        ("union U { int a; float b; } u = {1, 2};", "'U' takes 1 values"),
        ('printf("%d");', "'%d' has no value"),
        ('printf("%p", x);', "a number is needed"),
        ('printf("%d", 1.5);', "'%d' shows an integer; got float64"),
        ('printf("%n", 1);', "'%n' is not translated"),
        ('printf("x", 1);', "1 values for 0 fields"),
        ("printf(1);", "printf begins with its format"),
        ("assert(1, 2);", "assert takes a condition; got 2"),
        ("goto end;", "goto is not translated"),
        ("x[0] = 1;", "'x' is const"),
        ("y[1.5] = 1;", "an index is an integer; got float64"),
        ("int k = 3; k.x = 1;", "cannot be assigned"),
        ("y[0] = 1 % 2.0;", "% needs integers; got float64"),
        ("float *p = y; p = x;", "would point into another array"),
        ("for (;;) { if (threadIdx.x) break; __syncthreads(); }", "barrier"),
        ("int s[threadIdx.x];", "the extent of an array is a positive constant"),
    ],
)
def test_errors_show_the_line_of_the_text(body, what):
    text = f'extern "C" __global__ void f(const float* x, float* y) {{\n    {body}\n}}'
    with pytest.raises(un.CompileError, match=what) as caught:
        un.RawKernel(text, "f")(1, 4, (un.zeros(4, un.float32), un.zeros(4, un.float32)))
    assert ".cu:2" in str(caught.value) or "expected ';'" in str(caught.value)


def test_a_kernel_that_the_text_lacks():
    with pytest.raises(un.CompileError, match=r"no kernel 'other'; got \['mymul'\]"):
        un.RawModule(code=MULTIPLY).get_function("other")
    with pytest.raises(un.CompileError, match="the template 'scaled' has 2 parameters; got 1"):
        un.RawModule(code=TEXT, name_expressions=["scaled<float>"]).get_function("scaled<float>")
    with pytest.raises(TypeError, match="give either code= or path="):
        un.RawModule()
    with pytest.raises(ValueError, match="no variable 'x'; got"):
        module.get_global("x")


def test_elementwise_kernels(chosen):
    squared = un.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared")
    a, b = np.random.default_rng(4).random((2, 5, 7)).astype(np.float32)
    x, y = there(chosen, a, b)
    np.testing.assert_array_equal(squared(x, y).get(), (a - b) * (a - b))
    np.testing.assert_array_equal(squared(x, y[0]).get(), (a - b[0]) * (a - b[0]))
    np.testing.assert_array_equal(squared(x, 2).get(), (a - 2) * (a - 2))
    z = un.zeros_like(x)
    assert squared(x.T, y.T, z.T) is not None
    np.testing.assert_array_equal(z.get(), (a - b) * (a - b))
    shifted = un.ElementwiseKernel("raw T x, int32 k", "T z", "z = x[(i + k) % n]", "shifted")
    assert shifted(there(chosen, np.arange(4.0))[0], 1, size=4).get().tolist() == [1, 2, 3, 0]
    both = un.ElementwiseKernel(
        "float64 x", "float64 s, int64 k", "s = x + 1; k = (long long)x", "both"
    )
    s, k = both(there(chosen, np.arange(3.0))[0])
    assert s.get().tolist() == [1, 2, 3] and k.get().tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="T is float32 and float64; got both in one call"):
        squared(x, there(chosen, np.zeros((5, 7)))[0])
    with pytest.raises(TypeError, match="takes 2 arguments, and 1 results"):
        squared(x)
    with pytest.raises(ValueError, match="a parameter is a type and a name; got 'x'"):
        un.ElementwiseKernel("x", "T z", "z = x", "wrong")


def test_complex_numbers(chosen):
    z = np.array([1 + 2j, 3 - 1j, 2j, -1], np.complex64)
    (x,) = there(chosen, z)
    turned = un.ElementwiseKernel(
        "T x, T y", "T z", "z = x * y + T(1, 2); if (z.real() > 3) z = conj(z)", "turned"
    )
    w = z * z[::-1] + np.complex64(1 + 2j)
    got = turned(x, z[::-1].copy()).get()
    np.testing.assert_allclose(got, np.where(w.real > 3, w.conj(), w), rtol=1e-6)
    total = un.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "total")
    np.testing.assert_allclose(complex(total(x)), (z * z).sum(), rtol=1e-6)
    both = un.ElementwiseKernel("T x, T y", "complex64 z", "z = complex<float>(x, y)", "both")
    parts = np.array([np.inf, 0, -0.0], np.float32)
    got = both(*there(chosen, parts, parts[::-1].copy())).get()
    assert got.real.tolist() == parts.tolist() and got.imag.tolist() == parts[::-1].tolist()
    module = un.RawModule(
        code="""
        #include <cuComplex.h>
        namespace mine {
        template<typename T> __global__ void square(T* p) { p[threadIdx.x] *= p[threadIdx.x]; }
        }
        extern "C" __global__ void parts(cuDoubleComplex* z, double* size, cuDoubleComplex by, void* more) {
            int i = threadIdx.x;
            double* m = (double*)(more);
            cuDoubleComplex t = make_cuDoubleComplex(1.8, 2.9);
            z[i] = cuCadd(make_cuDoubleComplex(cuCreal(t), -3. * cuCimag(t)), by);
            size[i] = cuCabs(z[i]) + m[i] + z[i].x + norm(z[i]) - arg(z[i]);
        }""",
        name_expressions=["square<complex<double>>"],
    )
    p, size, more = there(chosen, np.array([1j, 2]), np.zeros(2), np.ones(2))
    module.get_function("square<complex<double>>")(1, 2, (p,))
    assert p.get().tolist() == [-1, 4]
    module.get_function("parts")(1, 2, (p, size, 1 + 1j, more))
    w = complex(1.8, -3 * 2.9) + (1 + 1j)
    assert p.get().tolist() == [w, w]
    expected = abs(w) + 1 + w.real + abs(w) ** 2 - np.angle(w)
    np.testing.assert_allclose(size.get(), [expected] * 2, rtol=1e-13)
    with pytest.raises(un.CompileError, match="a complex number becomes float"):
        un.ElementwiseKernel("complex64 x", "float32 y", "y = x", "wrong")(x)
    with pytest.raises(un.CompileError, match="complex numbers are of float or double"):
        un.RawKernel('extern "C" __global__ void f(complex<int>* x) {}', "f")(1, 1, (x,))


def test_branches_of_the_preprocessor(chosen):
    text = """
        #if P == 2
            #define T double
        #elif P == 1
            #define T float
        #elif P > 0
            #define T int
        #else
            #error precision not supported
        #endif
        extern "C" __global__ void size(int* x) { x[0] = sizeof(T) + 100 * P; }"""
    (x,) = there(chosen, np.zeros(1, np.int32))
    for given, size in ((1, 104), (2, 208), (3, 304)):
        un.RawKernel(text, "size", options=(f"-DP={given}",))(1, 1, (x,))
        assert x.get().tolist() == [size]
    with pytest.raises(un.CompileError, match="#error precision not supported"):
        un.RawKernel(text, "size", options=("-DP=0",))(1, 1, (x,))


def test_elementwise_calls_that_are_known_need_no_plan(chosen, monkeypatch):
    scaled = un.ElementwiseKernel(
        "float32 a, T x", "T z, float32 w", "z = a * x; w = x - a", "scaled"
    )
    x, y, longer = there(chosen, *(np.arange(n, dtype="f4") for n in (7, 7, 9)))
    z, w = un.zeros_like(x), un.zeros_like(x)
    want = 1.5 * np.arange(7), np.arange(7) - 1.5

    def check(made, want=want):
        for m, v in zip(made, want, strict=True):
            np.testing.assert_array_equal(np.asarray(m.to_device("cpu")), v)

    scaled(1.5, x)
    scaled(1.5, x, z, w)
    kept = un._raw.elementwise._Plan.run
    if chosen not in ("cpu", "interp"):
        monkeypatch.delattr(un._raw.elementwise._Plan, "run")
    made = scaled(1.5, y)
    assert made[0] is not made[1]
    check(made)
    assert scaled(1.5, y, w, z)[0] is w
    check((w, z))
    scaled(2.5, x, z, w)
    check((z, w), (2.5 * np.arange(7), np.arange(7) - 2.5))
    monkeypatch.setattr(un._raw.elementwise._Plan, "run", kept, raising=False)
    check(scaled(2, x), (2 * np.arange(7), np.arange(7) - 2))  # other arguments
    check(scaled(1.5, longer), (1.5 * np.arange(9), np.arange(9) - 1.5))
    check(scaled(1.5, longer[::2]), (1.5 * np.arange(9)[::2], np.arange(9)[::2] - 1.5))
    check(scaled(1.5, longer.reshape(3, 3))[:1], (1.5 * np.arange(9.0).reshape(3, 3),))
    check(scaled(1.5, x.astype("f8"))[:1], want[:1])
    check(scaled(1.5, x, block_size=64))
    check(scaled(1.5, x))
    with pytest.raises(TypeError, match="takes 2 arguments, and 2 results"):
        scaled(1.5, x, z)
    with pytest.raises(ValueError, match="shape mismatch"):
        scaled(1.5, longer, z, w)


def test_calls_of_one_elementwise_kernel_with_other_arguments(chosen):
    add = un.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    a = np.arange(6.0).reshape(2, 3)
    (x,) = there(chosen, a)
    for _ in range(2):  # the second call of a kind is the known one
        assert add(x, 2).get().tolist() == (a + 2).tolist()
        assert add(x, 2.5).get().tolist() == (a + 2.5).tolist()
        assert add(x, np.float64(3)).get().tolist() == (a + 3).tolist()
        assert add(x, x[1:, 2:]).get().tolist() == (a + 5).tolist()
        assert add(x, a).get().tolist() == (a + a).tolist()
        assert add(a, a).get().tolist() == (a + a).tolist()
        assert add(x.T, [1.0, 2.0]).get().tolist() == (a.T + [1, 2]).tolist()
        assert add(x.T, [3.0, 4.0]).get().tolist() == (a.T + [3, 4]).tolist()
        assert add(x[:, 1], x[:, 0]).get().tolist() == [1, 7]
        assert add(x[0].astype("int8"), 1).get().tolist() == [1, 2, 3]
        assert add(x[:0], 1).shape == (0, 3)
    assert add.nin == 2 and add.nargs == 3 and len(add.cached_codes) > 1
    with pytest.raises(OverflowError, match="'y' is int8; got 300"):
        add(x[0].astype("int8"), 300)
    with pytest.raises(ValueError, match="Specified 'size' can be used only .* got size=2"):
        add(x, x, size=2)
    with pytest.raises(ValueError, match="Loop size is undecided"):
        add(1.0, 2.0)
    with pytest.raises(ValueError, match="block_size is the number of threads"):
        add(x, 1, block_size=0)
    with pytest.raises(
        ValueError, match=r"the result 'z' is float64 of shape \(2, 3\); got float64"
    ):
        add(x, x, un.zeros(3, device=chosen))
    np.testing.assert_array_equal(add(x + 1j, 2 - 3j).get(), a + 1j + (2 - 3j))
    times = un.ElementwiseKernel("T x, int32 n", "T z", "z = x * n", "times_n")
    assert times(x, 3).get().tolist() == (a * 3).tolist()
    with pytest.raises(ValueError, match="Invalid kernel name: ElementwiseKernel got ''"):
        un.ElementwiseKernel("T x", "T z", "z = x", "")
    with pytest.raises(ValueError, match="got the parameter '_x'; rename it"):
        un.ElementwiseKernel("T _x", "T z", "z = _x", "taken")


def test_reduction_kernels(chosen):
    norm = un.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = sqrt(a)", "0", "norm")
    a = np.random.default_rng(5).random((6, 3000))
    (x,) = there(chosen, a)
    np.testing.assert_allclose(float(norm(x, x)), np.sqrt((a * a).sum()), rtol=1e-13)
    np.testing.assert_allclose(norm(x, x, axis=1).get(), np.sqrt((a * a).sum(1)), rtol=1e-13)
    np.testing.assert_allclose(
        norm(x, 2.0, axis=0, keepdims=True).get(),
        np.sqrt((2 * a).sum(0, keepdims=True)),
        rtol=1e-13,
    )
    largest = un.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", "-INFINITY", "largest")
    assert float(largest(x)) == a.max()
    with pytest.raises(ValueError, match="axis 2 is out of range"):
        largest(x, axis=2)
    with pytest.raises(ValueError, match="a reduction needs its identity"):
        un.ReductionKernel("T x", "T y", "x", "a + b", "y = a", None, "wrong")


@pytest.mark.parametrize(
    "columns, most_blocks", [(1, 64), (3, 64), (16, 64), (17, 250), (1025, 2000), (5000, 2000)]
)
def test_reductions_of_many_short_rows_share_blocks(chosen, columns, most_blocks, monkeypatch):
    from unisono._raw import kernels

    total = un.ReductionKernel("T x", "T y", "x", "a + b", "y = a * 2", "0", "total")
    a = np.random.default_rng(columns).integers(-9, 9, (2000, columns)).astype(np.float32)
    (x,) = there(chosen, a)
    blocks, call = [], kernels.RawKernel.__call__

    def counting(kernel, grid, *more, **others):
        blocks.append(*grid)
        return call(kernel, grid, *more, **others)

    monkeypatch.setattr(kernels.RawKernel, "__call__", counting)
    assert total(x, axis=1).get().tolist() == (2 * a.sum(1)).tolist()
    assert sum(blocks) <= most_blocks and len(blocks) == 1
    assert float(total(x[:7])) == 2 * a[:7].sum()
    assert total(x[:, :0], axis=1).get().tolist() == [0] * 2000


@pytest.mark.parametrize(
    "shape", [(5, 16), (5, 17), (3, 31), (3, 1000), (300, 2050), (1, 70_001), (2, 100_000)]
)
def test_reductions_have_the_bits_of_other_places(chosen, shape):
    a = np.random.default_rng(8).standard_normal(shape).astype(np.float32)
    dot = un.ReductionKernel("T x, T by", "T y", "x * by", "a + b", "y = a", "0", "dot")
    (x,) = there(chosen, a)
    got = dot(x, np.float32(3), axis=1).get()
    np.testing.assert_array_equal(got, dot(un.array(a), np.float32(3), axis=1).get())
    np.testing.assert_allclose(got, 3 * a.sum(1, dtype=float), rtol=1e-5, atol=1e-2)


def test_reductions_that_repeat_are_launches_alone(chosen, monkeypatch):
    from unisono._raw import kernels

    if chosen in ("cpu", "interp"):
        pytest.skip("launches on the host are Python's")
    kernels.RawKernel._call_quickly()  # tests may have given the class another __call__
    total = un.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    a = np.arange(6000.0).reshape(3, 2000)
    x, out = there(chosen, a, np.zeros(3))
    for _ in range(2):
        assert total(x, axis=1).get().tolist() == a.sum(1).tolist()
        total(x, out, axis=1)
    monkeypatch.setattr(kernels, "arguments_of", None)  # the engine knows these launches
    x += 1
    assert total(x, axis=1).get().tolist() == (a + 1).sum(1).tolist()
    assert total(x, out, axis=1) is out and out.get().tolist() == (a + 1).sum(1).tolist()


def test_a_reduction_may_end_in_its_own_argument(chosen):
    total = un.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    a = np.arange(12.0).reshape(3, 4)
    (x,) = there(chosen, a)
    total(x, x[0], axis=0)
    assert x.get().tolist() == [a.sum(0).tolist(), *a[1:].tolist()]
    total(x, x[:, 1], axis=1)
    after = np.vstack([a.sum(0), a[1:]])
    after[:, 1] = after.sum(1)
    assert x.get().tolist() == after.tolist()


def test_parts_of_rows_are_read_as_vectors():
    total = un.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    with un.device("cpu"):
        assert float(total(un.ones(1 << 16, "float32"))) == 1 << 16
    parts = next(k for (_, stage, *_), k in total._texts.items() if stage == "parts")
    kernel = next(iter(parts._launches.values()))[0]
    assert re.search(r"fadd <\d+ x float>", kernel.inspect_llvm())


def test_scan_kernels(chosen):
    rng = np.random.default_rng(6)
    for n in (1, 16, 17, 1000, 40_000):
        a = rng.integers(-5, 9, n)
        (x,) = there(chosen, a)
        total = un.ScanKernel(
            "T x, T by", "T y, T z", "x * by", "a + b", "y = item; z = prev_item", "0"
        )
        y, z = total(x, 3)
        np.testing.assert_array_equal(y.get(), np.cumsum(3 * a))
        np.testing.assert_array_equal(z.get(), np.cumsum(3 * a) - 3 * a)
    largest = un.ScanKernel(
        "float64 x", "float64 y", "x", "max(a, b)", "y = item", "-INFINITY", "largest"
    )
    (f,) = there(chosen, rng.random(500))
    out = un.zeros(1000, device=chosen)[::2]
    assert largest(f, out) is out
    np.testing.assert_array_equal(out.get(), np.maximum.accumulate(f.get()))
    taken = un.ScanKernel(
        "raw int64 x, T k", "int64 y", "x[k] + (i == N - 1)", "a + b", "y = item", 0
    )
    np.testing.assert_array_equal(
        taken(x, there(chosen, np.arange(n)[::-1].copy())[0]).get()[:-1], np.cumsum(a[::-1])[:-1]
    )
    assert largest(f[:0]).shape == (0,)
    with pytest.raises(ValueError, match="a scan goes along one axis; got shape"):
        largest(f.reshape(2, -1))
    with pytest.raises(TypeError, match=r"the result 'y' is float64 of shape \(500,\); got"):
        largest(f, out[:1])
    with pytest.raises(ValueError, match="'a' is a word of scans"):
        un.ScanKernel("T a", "T y", "a", "a + b", "y = item", "0")
    with pytest.raises(ValueError, match="a scan has results"):
        un.ScanKernel("T x", "raw T y", "x", "a + b", "y = item", "0")


def test_cupy_s_names(chosen):
    import unisono.cupy as cp

    x = cp.arange(6, dtype=cp.float32).reshape(2, 3)
    assert x.device == chosen and cp.get_array_module(x) is cp
    assert cp.get_array_module(np.zeros(2)) is np
    assert isinstance(cp.asnumpy(x), np.ndarray)
    stream = cp.cuda.Stream(non_blocking=True)
    start, end = cp.cuda.Event(), cp.cuda.Event()
    with stream:
        start.record(stream)
        y = cp.sqrt(x) + cp.ones_like(x)
        end.record(stream)
    stream.synchronize()
    assert cp.cuda.get_elapsed_time(start, end) >= 0
    np.testing.assert_array_equal(y.get(), np.sqrt(x.get()) + np.float32(1))
    kernel = cp.RawKernel('extern "C" __global__ void one(float* x) { x[threadIdx.x] = 1; }', "one")
    kernel((1,), (6,), (x,))
    assert x.get().tolist() == [[1, 1, 1], [1, 1, 1]]
    assert cp.cuda.runtime.getDeviceCount() >= 1
    times = un.profiler.benchmark(kernel, ((1,), (6,), (x,)), n_repeat=3)
    assert times.cpu_times.shape == (3,) and times.gpu_times.shape == (1, 3)
    assert str(times).startswith("one                 :    CPU: ") and "us     GPU-0: " in str(
        times
    )


def test_numbers_in_other_bases(chosen):
    text = """extern "C" __global__ void f(long long *x) {
        x[0] = 0x1F; x[1] = 0b1011; x[2] = 017; x[3] = 0B11u; x[4] = 0;
    }"""
    x = np.zeros(5, np.int64)
    un.RawKernel(text, "f")((1,), (1,), (x,))
    assert x.tolist() == [31, 11, 15, 3, 0]


def test_device_functions_share_memory_and_meet_at_barriers(chosen):
    text = """
    __device__ float sum(float *part, float x) {
        part[threadIdx.x] = x;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
            __syncthreads();
        }
        float total = part[0];
        __syncthreads();
        return total;
    }
    __device__ float mean(float x) {
        __shared__ float part[32];
        return sum(part, x) / blockDim.x;
    }
    extern "C" __global__ void centred(const float *x, float *y, float *sums) {
        __shared__ float part[32];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        y[i] = x[i] - mean(x[i]);
        for (int k = 0; k < 3; ++k) sums[i] += sum(part, x[i] + k);
    }
    """
    x = np.arange(64, dtype=np.float32) ** 2
    y, sums = np.zeros_like(x), np.zeros_like(x)
    un.RawKernel(text, "centred")((2,), (32,), (x, y, sums))
    groups = x.reshape(2, 32)
    assert (y == (groups - groups.mean(axis=1, keepdims=True)).ravel()).all()
    assert (sums == np.repeat(3 * groups.sum(axis=1) + 96, 32)).all()


def test_pickled_kernels_and_names_with_spaces():
    import pickle

    text = "template<typename T> __global__ void add(T* x, T y) { x[threadIdx.x] += y; }"
    kernel = un.RawKernel(text, "add < unsigned  int >", ("-DNOTHING",))
    x = un.zeros(3, un.uint32)
    kernel((1,), (3,), (x, 2))
    again = pickle.loads(pickle.dumps(kernel))
    again((1,), (3,), (x, 3))
    assert x.tolist() == [5, 5, 5] and again.options == kernel.options
    module = pickle.loads(pickle.dumps(un.RawModule(code=text, name_expressions=["add<float>"])))
    module.get_function("add<float>")((1,), (3,), (un.zeros(3, un.float32), 1))
    assert kernel.attributes["max_threads_per_block"] > 0


def test_texts_stay_until_the_next_one():
    """A module that is collected while linecache walks over its texts does not take its own away."""
    module = un.RawModule(code=MULTIPLY)
    module.compile()
    name = module._name
    assert name in linecache.cache
    del module
    gc.collect()
    assert name in linecache.cache
    un.RawModule(code=MULTIPLY).compile()
    assert name not in linecache.cache


SHARED = r"""
extern "C" __global__ void turned(float* x) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}"""


def test_more_shared_memory_than_there_is(device):
    if device.name == "cpu":
        pytest.skip("the host has what it asks for")
    x = un.arange(32, dtype=un.float32, device=device)
    kernel = un.RawKernel(SHARED, "turned")
    with pytest.raises(un.UnsupportedError, match="local memory|an array made in a kernel must be"):
        kernel((1,), (32,), (x,), shared_mem=1 << 30)
    kernel((1,), (32,), (x,), shared_mem=128)
    assert x.tolist() == list(range(32))[::-1]


def test_calls_of_one_kernel_with_other_arguments(chosen):
    """Calls whose arguments pass as they are take a short way: each of these leaves it, or comes back to it."""
    add = un.RawKernel(
        r"""extern "C" __global__ void add(const float* x, int n, float* z) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < 8) z[i] += x[i] + n;
        }""",
        "add",
    )
    place = "cpu" if chosen == "interp" else chosen
    x, y, z = there(place, *(np.arange(k, k + 8, dtype=np.float32) for k in (0, 10, 20)))
    wanted = np.arange(20, 28, dtype=np.float32)

    def call(x, n, z=z, grid=(2,), block=(4,)):
        nonlocal wanted
        add(grid, block, (x, n, z))
        wanted = wanted + np.asarray(x.to_device("cpu")).reshape(-1) + int(n)

    for n in (1, 2, -(2**20), np.int32(7), True, 3):
        call(x, n)
        call(y, n)
    call(x.reshape(2, 4), 1)
    call(x, 1, grid=1, block=8)
    call(x, 1, grid=(1,), block=(8,))
    with pytest.raises(OverflowError, match="'n' is int32; got 2147483648"):
        add((2,), (4,), (x, 2**31, z))
    with pytest.raises(OverflowError, match="'n' is int32; got 18446744073709551616"):
        add((2,), (4,), (x, 2**64, z))
    with pytest.raises(TypeError, match="'n' is int32; got the float 1.0"):
        add((2,), (4,), (x, 1.0, z))
    with pytest.raises(TypeError, match="'x' is a pointer to float32; got an array of float64"):
        add((2,), (4,), (x.astype(np.float64), 1, z))
    with pytest.raises(ValueError, match="do not follow each other"):
        add((2,), (4,), (un.zeros(16, np.float32, device=place)[::2], 1, z))
    with pytest.raises(TypeError, match="takes 3 arguments; got 2"):
        add((2,), (4,), (x, 1))
    with pytest.raises(TypeError):
        add(([2],), (4,), (x, 1, z))
    call(y, 5)
    np.testing.assert_array_equal(np.asarray(z.to_device("cpu")), wanted)


def test_calls_that_repeat_come_to_no_python_but_in_subclasses(chosen, monkeypatch):
    """Sizes and bytes of shared memory that take turns; classes whose calls are others."""
    text = r"""extern "C" __global__ void count(int* z) {
            extern __shared__ int room[];
            int me = threadIdx.x + threadIdx.y;
            room[me] = 1;
            if (blockIdx.x == 0) atomicAdd(z, room[me]);
        }"""
    (z,) = there("cpu" if chosen == "interp" else chosen, np.zeros(1, np.int32))
    calls = []

    class Noted(un.RawKernel):
        def __call__(self, grid, block, args, **others):
            calls.append(block)
            return super().__call__(grid, block, args, **others)

    kernel, noted = un.RawKernel(text, "count"), Noted(text, "count")
    wanted = 0
    for turn in range(6):
        block = 2 + turn % 2
        (kernel if turn < 4 else noted)((turn % 3 + 1,), (block,), (z,), shared_mem=16)
        kernel((1,), (1, block), (z,), shared_mem=16 * (1 + turn % 2))
        wanted += 2 * block
    assert z.tolist() == [wanted] and calls == [(2,), (3,)]

    def refused(self, *args, **others):
        raise RuntimeError("another call")

    monkeypatch.setattr(un.RawKernel, "__call__", refused)
    with pytest.raises(RuntimeError, match="another call"):
        kernel((1,), (2,), (z,), shared_mem=16)
    monkeypatch.undo()
    kernel((1,), (2,), (z,), shared_mem=16)
    assert z.tolist() == [wanted + 2]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'args'"):
        kernel((1,), (2,))


def test_launches_whose_arguments_change_in_turn(chosen):
    """What stays from launch to launch is not set again: buffers and numbers of all sizes, and memory used anew."""
    mix = un.RawKernel(
        r"""extern "C" __global__ void mix(const double* x, double* z, char c, short s, long long l, float f, bool b,
                                         unsigned char u) {
            int i = threadIdx.x;
            z[i] = x[i] + 2.0 * c + 4.0 * s + 8.0 * l + 16.0 * f + (b ? 1000.0 : 0.0) + 32.0 * u;
        }""",
        "mix",
    )
    place = "cpu" if chosen == "interp" else chosen
    numbers = [-3, 300, 2**40, 0.5, True, 200]
    others = [5, -2, -7, 1.5, False, 3]
    for turn in range(40):
        changed = list(numbers)
        changed[turn % 6] = others[turn % 6]
        x = un.full(4, float(turn), device=place)  # of a new buffer, which may lie where one was
        z = un.zeros(4, device=place)
        mix((1,), (4,), (x, z, *changed))
        c, s, wide, f, b, u = changed
        wanted = turn + 2.0 * c + 4.0 * s + 8.0 * wide + 16.0 * f + 1000.0 * b + 32.0 * u
        assert z.tolist() == [wanted] * 4
        del x, z
