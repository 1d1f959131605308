"""Functions of C declared by name and linked beside their callers, as Numba's ``declare_device``."""

import numpy as np
import pytest
import unisono as un
from device_arrays import with_queues
from unisono import cuda

STATUS = """
#include <stdint.h>
int bar(int32_t *result, int32_t a, int32_t b) {
    if (a > 6) return 3;
    *result = a * b;
    return 0;
}
"""
bar = un.declare_device("bar", "int32(int32, int32)")


@un.jit(link=[STATUS])
def total(n):
    s = 0
    for i in range(n):
        s += bar(i, 2)
    return s


def test_the_result_goes_through_a_pointer():
    assert total(5) == 20


def test_a_status_raises():
    with pytest.raises(RuntimeError, match="bar: returned the status 3"):
        total(9)


def test_listing_of_numba(tmp_path):
    path = tmp_path / "jitlink.c"
    path.write_text("int bar(int a, int b) { return a - b; }\n")

    @un.jit("void(int32[:], int32[:])", link=[path])
    def foo(x, y):
        for i in un.prange(x.shape[0]):
            x[i] += bar(i, y[i])

    x, y = np.arange(5, dtype=np.int32), np.arange(5, 10, dtype=np.int32)
    foo(x, y)
    np.testing.assert_array_equal(x, [-5, -4, -3, -2, -1])


def test_arrays_and_calls_from_python():
    text = """
    double mean(const double *x, long n) {
        double s = 0;
        for (long i = 0; i < n; i++) s += x[i];
        return s / n;
    }"""
    mean = un.declare_device("mean", "float64(float64[:], int64)", link=un.c_module(text))

    @un.jit
    def doubled(x):
        return 2 * mean(x, x.size)

    assert mean(np.arange(4.0), 4) == 1.5
    assert doubled(np.arange(4.0)) == 3.0


def test_another_declaration_under_the_name_is_seen():
    global other
    other = un.declare_device("one", "int64(int64)", link="long one(long x) { return x + 1; }")

    @un.jit
    def f(x):
        return other(x)

    assert f(1) == 2
    other = un.declare_device("two", "int64(int64)", link="long two(long x) { return x + 2; }")
    assert f(1) == 3


def test_nothing_that_is_linked_defines_it():
    missing = un.declare_device("missing", "int32(int32)")

    @un.jit(link="int found(int x) { return x; }")
    def f(x):
        return missing(x)

    with pytest.raises(un.CompileError, match=r"f: .*nothing that is linked .*'missing'.*\.py:\d+"):
        f(1)
    with pytest.raises(un.CompileError, match=r"link=\['missing\.c'\]"):
        missing(1)


def test_other_parameters_than_declared():
    @un.jit(link="int bar(int a) { return a; }")
    def f(x):
        return bar(x, 1)

    with pytest.raises(
        un.CompileError, match=r"declared as int32\(int32, int32\); got 'int bar\(int a\)'"
    ):
        f(1)


def test_a_signature_needs_a_result():
    with pytest.raises(TypeError, match="returns a number, a tuple of numbers or nothing"):
        un.declare_device("bar", "(int32, int32)")


TEXTS = {
    "CUDA C": """
    #define FACTOR 2
    __device__ static int twice(int a) { return FACTOR * a; }
    extern "C" __device__ int bar(int *result, int a, int b) {
        if (a > 6) return 3;
        *result = twice(a) * b / 2;
        return 0;
    }""",
    "OpenCL C": """
    int bar(__private int *result, int a, int b) {
        if (a > 6) return 3;
        *result = mad24(a, b, 0);
        return 0;
    }""",
    "C": STATUS,
}


@pytest.mark.parametrize("place", ["cpu", "interp", *with_queues()])
@pytest.mark.parametrize("language", TEXTS)
def test_texts_of_devices_are_linked(language, place):
    if (language, place) == ("C", "interp"):
        pytest.skip("host code is not interpreted")
    text = TEXTS[language]

    @cuda.jit(link=[text])
    def launched(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = bar(x[i], y[i])

    @un.jit(link=[text])
    def called(x, y, out):
        for i in range(x.size):
            out[i] = bar(x[i], y[i])

    x = np.arange(5, dtype=np.int32)
    for f in (launched[1, 8], called):
        given, out = un.array(x, device=place), un.zeros(5, np.int32, device=place)
        f(given, given, out)
        np.testing.assert_array_equal(np.asarray(out), x * x)
    too_large = un.array(x + 5, device=place)
    with pytest.raises(RuntimeError, match="bar"):
        launched[1, 8](too_large, too_large, un.zeros(5, np.int32, device=place))
        un.synchronize()


def test_plain_functions_and_files_of_devices(tmp_path):
    path = tmp_path / "sums.cu"
    path.write_text(
        """
        template <typename T> __device__ T half_of(T a) { return a / 2; }
        extern "C" __device__ double sum(const double *x, int n) {
            double s = 0;
            for (int i = 0; i < n; i++) s += half_of<double>(x[i]);
            return s;
        }"""
    )
    total = un.declare_device("sum", "float64(float64[::1], int32)", link=path)

    @un.jit
    def f(x):
        return total(x, x.size)

    assert f(np.arange(5.0)) == 5.0
    assert total(np.arange(5.0), 5) == 5.0


def test_what_only_kernels_have_is_refused():
    where = un.declare_device(
        "where", "int32()", link='extern "C" __device__ int where() { return threadIdx.x; }'
    )

    @un.jit
    def f():
        return where()

    with pytest.raises(un.errors.CompileError, match="where.*only kernels"):
        f()


STRUCTS = """
typedef struct { float x, y; int n; } Point;
__device__ Point moved(Point p, float dx) { p.x += dx; p.n++; return p; }
__device__ float area(float2 a, Point p) { return a.x * a.y + p.x * p.y; }
"""
moved = un.declare_device(
    "moved",
    "Tuple((float32, float32, int32))(Tuple((float32, float32, int32)), float32)",
    link=STRUCTS,
)
area = un.declare_device(
    "area", "float32(UniTuple(float32, 2), Tuple((float32, float32, int32)))", link=STRUCTS
)


@un.jit
def of_structs(x):
    p = moved((x, 2.0, 7), 0.5)
    return p[0], p[2], area((3.0, 4.0), p)


def test_structs_pass_by_value():
    assert of_structs(1.0) == (1.5, 8, 15.0)


def test_structs_of_other_members():
    wrong = un.declare_device("area", "float32(UniTuple(float32, 3), float32)", link=STRUCTS)
    with pytest.raises(un.CompileError, match="got 2 numbers in"):
        wrong((1.0, 2.0, 3.0), 1.0)


@un.kernel
def of_structs_in_a_kernel(out):
    i = un.global_id(0)
    out[i] = area((np.float32(i), 2.0), moved((1.0, 2.0, 3), 1.0))


@pytest.mark.parametrize("name", with_queues())
def test_kernels_pass_structs(name):
    out = un.zeros(4, "f4", device=name)
    of_structs_in_a_kernel[4](out)
    assert out.tolist() == [4, 6, 8, 10]
