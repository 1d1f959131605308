"""c_module: the lecture's C sources, types, errors, C inside of compiled functions and kernels."""

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest
import unisono as un

PI = """
# include <stdlib.h>
# include <math.h>

/* Returns a very crude approximation of Pi given a int: a number of iteration */
float pi_approx(int n){
    double i,x,y,sum=0;
    for(i=0;i<n;i++){
        x=rand();
        y=rand();
        if (sqrt(x*x+y*y) < sqrt((double)RAND_MAX*RAND_MAX))
            sum++;}
    return 4*(float)sum/(float)n;}
"""

SUM = """
double sumVec(double* v, int n){
    double sum = 0.0;
    for (int i=0; i<n; i++){
        sum += v[i];
    }
    return sum;
}
"""


def test_the_lectures_sources():
    c = un.c_module(PI, "float pi_approx(int n);")
    assert abs(c.pi_approx(100_000) - math.pi) < 0.05
    lib = un.c_module(SUM)
    x = np.random.default_rng(0).random(10)
    wanted = 0.0
    for v in x:
        wanted += v
    assert lib.sumVec(x, len(x)) == wanted
    assert lib.sumVec(un.asarray(x), 10) == wanted
    assert lib.sumVec.declaration == "double sumVec(double * v, int n)"


def test_types_of_numbers():
    c = un.c_module(
        """
        #include <stdint.h>
        #include <stdbool.h>
        int8_t i8(int8_t x) { return x; }
        uint8_t u8(uint8_t x) { return x; }
        int16_t i16(int16_t x) { return x; }
        unsigned u32(unsigned x) { return x; }
        uint64_t u64(uint64_t x) { return x; }
        bool negate(bool x) { return !x; }
        float f32(float x) { return x; }
        enum shade { dark = 3, light };
        enum shade next(enum shade s) { return s + 1; }
        void nothing(void) {}
        """
    )
    assert (c.i8(-128), c.u8(255), c.i16(-5), c.u32(2**32 - 1)) == (-128, 255, -5, 2**32 - 1)
    assert c.u64(np.uint64(2**64 - 1)) == 2**64 - 1
    assert c.negate(False) is True
    assert c.f32(0.1) == float(np.float32(0.1))
    assert (c.light, c.next(c.dark)) == (4, 4)
    assert c.nothing() is None
    with pytest.raises(OverflowError, match="argument 'x' does not fit in C's int8_t; got 128"):
        c.i8(128)
    with pytest.raises(OverflowError, match="got -1"):
        c.u32(-1)
    with pytest.raises(TypeError, match="argument 'x' is an integer"):
        c.i16(1.5)
    with pytest.raises(TypeError, match="takes 1 arguments|missing"):
        c.i16()


def test_pointers():
    c = un.c_module(
        """
        #include <string.h>
        void fill(float* x, long n, float v) { for (long i = 0; i < n; ++i) x[i] = v; }
        long first(const long* x) { return x[0]; }
        void clear(void* memory, size_t bytes) { memset(memory, 0, bytes); }
        """
    )
    x = np.ones((2, 3), "float32")
    c.fill(x, x.size, 2.5)
    assert x.tolist() == [[2.5] * 3] * 2
    u = un.zeros(4, "float32")
    c.fill(u, 4, 1.0)
    assert u.sum().item() == 4.0
    frozen = np.arange(3)
    frozen.flags.writeable = False
    assert c.first(frozen) == 0
    raw = np.ones(3, "uint8")
    c.clear(raw, 2)
    assert raw.tolist() == [0, 0, 1]
    with pytest.raises(TypeError, match="is a pointer \\(float \\*\\); got float64 array"):
        c.fill(np.zeros(3), 3, 1.0)
    with pytest.raises(ValueError, match="argument 'x' must be contiguous"):
        c.fill(np.zeros(6, "float32")[::2], 3, 1.0)
    with pytest.raises(TypeError, match="read-only"):
        readonly = np.zeros(3, "float32")
        readonly.flags.writeable = False
        c.fill(readonly, 3, 1.0)
    with pytest.raises(TypeError, match="is a pointer.*got float"):
        c.fill(1.0, 3, 1.0)


def test_c_in_compiled_functions_and_kernels():
    c = un.c_module("double axpy(double a, double x, double y) { return a * x + y; }\n" + SUM)

    @un.jit
    def rows(a, out):
        for i in range(a.shape[0]):
            out[i] = c.sumVec(a[i], a.shape[1]) + c.axpy(2.0, out[i], 1.0)

    a, out = np.arange(12.0).reshape(3, 4), np.ones(3)
    rows(a, out)
    np.testing.assert_array_equal(out, a.sum(1) + 3.0)

    @un.vectorize(["float64(float64, float64)"])
    def f(x, y):
        return c.axpy(3.0, x, y)

    x = un.arange(5.0)
    assert (f(x, x) + 1).tolist() == (np.arange(5.0) * 4 + 1).tolist()
    assert "native" in rows.inspect_ir()
    direct = un.vectorize(c.axpy)
    assert (direct(3.0, x, x) - x).tolist() == (np.arange(5.0) * 3).tolist()
    assert direct.nin == 3


def test_two_texts_with_one_name():
    one = un.c_module("static int k(void) { return 1; } int value(void) { return k(); }")
    two = un.c_module("static int k(void) { return 2; } int value(void) { return k(); }")

    @un.jit
    def both():
        return one.value() * 10 + two.value()

    assert both() == 12


def test_files_headers_and_macros(tmp_path):
    (tmp_path / "shape.h").write_text("#define SIDES 4\ndouble area(double side);\n")
    (tmp_path / "shape.c").write_text(
        '#include "shape.h"\ndouble area(double side) { return side * side * SIDES / SCALE; }\n'
    )
    c = un.c_module(tmp_path / "shape.c", define=["SCALE=2"])
    assert c.area(3.0) == 18.0
    text = '#include "shape.h"\nint sides(void) { return SIDES; }'
    assert un.c_module(text, include_dirs=[str(tmp_path)]).sides() == 4


def test_the_c_librarys_functions():
    c = un.c_module(
        "#include <math.h>\n#include <stdlib.h>",
        "double hypot(double x, double y); int abs(int j);",
    )
    assert c.hypot(3.0, 4.0) == 5.0
    assert c.abs(-3) == 3
    own = un.c_module(
        """
        #include <stdlib.h>
        #include <string.h>
        #include <stdio.h>
        int digits(int n) {
            char* text = malloc(32);
            snprintf(text, 32, "%d", n);
            int made = (int)strlen(text);
            free(text);
            return made;
        }
        """
    )
    assert own.digits(-1234) == 5


COUNTER = """
static int counter = 40;
int next(void) { static int calls; ++calls; return ++counter + 0 * calls; }
int calls_of(void) { static int calls = 7; return calls++; }
double scale = 1.5;
float table[2][3] = {{1, 2, 3}, {4, 5, 6}};
struct point { int tag; double x; } origin = {3, 2.5};
double scaled(double x) { return scale * x + table[1][2]; }
double moved(double by) { origin.x += by; return origin.x + origin.tag; }
"""


def test_variables_outlive_a_call_and_are_shared():
    c = un.c_module(COUNTER)
    assert [c.next(), c.next()] == [41, 42]
    assert [c.calls_of(), c.calls_of()] == [7, 8]

    @un.jit
    def several(n):
        last = 0
        for _ in range(n):
            last = c.next()
        return last

    assert several(5) == 47
    assert c.next() == 48
    assert [c.moved(1.0), c.moved(1.0)] == [6.5, 7.5]


def test_each_text_has_variables_of_its_own():
    one, two = un.c_module(COUNTER), un.c_module(COUNTER)
    assert [one.next(), one.next(), two.next()] == [41, 42, 41]


def test_variables_are_read_and_assigned_from_python():
    c = un.c_module(COUNTER)
    assert c.scale == 1.5 and c.scaled(2.0) == 9.0
    c.scale = 2
    c.table[1, 2] = 0.5
    assert c.scaled(2.0) == 4.5
    assert c.table.dtype == np.float32 and c.table.tolist() == [[1, 2, 3], [4, 5, 0.5]]
    c.table = np.zeros((2, 3))
    assert c.scaled(2.0) == 4.0
    assert c.origin.dtype == np.uint8 and c.origin.view(np.int32)[0] == 3
    assert not hasattr(c, "counter")
    with pytest.raises(TypeError, match="scale: the C variable is float64; got 'a'"):
        c.scale = "a"
    small = un.c_module(
        "signed char level; int f(void) { return level; }", "extern signed char level; int f(void);"
    )
    small.level = -5
    assert small.f() == -5
    with pytest.raises(OverflowError, match="level: 200 does not fit"):
        small.level = 200


def test_compiled_functions_do_not_take_a_variables_value():
    c = un.c_module(COUNTER)

    @un.jit
    def read():
        return c.scale + 1.0

    with pytest.raises(un.CompileError, match="scale"):
        read()


def test_libraries_that_ctypes_has_opened():
    c = un.c_module("", "double cbrt(double x);", libraries=[ctypes.CDLL("libm.so.6")])
    assert c.cbrt(27.0) == math.cbrt(27.0)  # the same function


def test_errors_of_c():
    with pytest.raises(un.CompileError, match="<c_module>:2:.*undeclared identifier 'y'"):
        un.c_module("double f(double x) {\n return y; }")
    with pytest.raises(un.CompileError, match="cdef:1:.*conflicting types for 'f'"):
        un.c_module("double f(double x) { return x; }", "int f(int x);")
    with pytest.raises(un.CompileError, match="the text defines no function"):
        un.c_module("static int f(void) { return 1; }")
    with pytest.raises(un.CompileError, match="thread-local.*; got own"):
        un.c_module("static _Thread_local int own; int f(void) { return ++own; }")
    c = un.c_module(
        "typedef int v4 __attribute__((vector_size(16))); v4 f(v4 x) { return x; } int g(void) { return 1; }"
    )
    with pytest.raises(TypeError, match="f: cannot be called from Python: it takes v4 by value"):
        c.f(1)
    with pytest.raises(AttributeError, match="has no 'h'; it has g"):
        _ = c.h
    with pytest.raises(TypeError, match="takes C text or a path; got int"):
        un.c_module(3)


FORTRAN = """
double precision function dot(n, x, y)
  integer, intent(in) :: n
  double precision, intent(in) :: x(n), y(n)
end function

subroutine scale(n, a, x, largest)   ! in place
  integer :: n
  real(8) :: a, x(n)
  real(8), intent(out) :: largest
end subroutine

subroutine twice(k, y) bind(C)
  integer(c_int), value :: k
  real(kind=4), dimension(2, 2), intent(inout) :: &
      y
end subroutine
"""
# What a Fortran compiler makes of such procedures.
PROCEDURES = """
double dot_(const int* n, const double* x, const double* y) {
    double s = 0; for (int i = 0; i < *n; ++i) s += x[i] * y[i]; return s; }
void scale_(const int* n, const double* a, double* x, double* largest) {
    *largest = 0; for (int i = 0; i < *n; ++i) { x[i] *= *a; if (x[i] > *largest) *largest = x[i]; } }
void twice(int k, float* y) { for (int i = 0; i < 4; ++i) y[i] *= k; }
"""


def test_fortran_and_shared_libraries(tmp_path):
    compiler = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if not compiler:
        pytest.skip("there is no C compiler to make a shared library")
    (tmp_path / "p.c").write_text(PROCEDURES)
    library = tmp_path / "libp.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "p.c"], check=True)
    f = un.fortran(FORTRAN, [library])
    x, largest = np.arange(4.0), np.zeros(1)
    assert f.dot(4, x, x) == 14.0
    f.scale(4, 2.0, x, largest)
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0]
    assert largest[0] == 6.0
    y = np.ones((2, 2), "float32")
    f.twice(3, y)
    assert y.tolist() == [[3.0, 3.0], [3.0, 3.0]]

    @un.jit
    def norm(x):
        return f.dot(len(x), x, x) ** 0.5

    assert norm(np.array([3.0, 4.0])) == 5.0
    c = un.c_module("", "void twice(int k, float* y);", libraries=[library])
    c.twice(2, y)
    assert y[0, 0] == 6.0
    with pytest.raises(ValueError, match="the library cannot be opened"):
        un.c_module("int f(void) { return 1; }", libraries=[tmp_path / "none.so"])


def test_declarations_of_fortran_that_cannot_be_read():
    for text, message in [
        ("subroutine f(x)\nend", "argument 'x' of f has no type"),
        ("function f(n)\ninteger n\nend", "the result of f has no type"),
        ("real x", "begin with 'subroutine"),
        (
            "subroutine f(x)\ncharacter(5) :: x\nend",
            "the type cannot be used; got 'character\\(5\\)'",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            un.fortran(text)


def test_bound_arguments():
    c = un.c_module(
        SUM
        + "double mixed(const double* x, int i, double y, _Bool z) { return z ? x[i] * y : -1; }"
        "void put(float* x, int i, float v) { x[i] = v; }"
    )
    x = np.arange(5.0)
    of_x = c.sumVec.bind(x)
    for _ in range(3):
        assert [of_x(n) for n in (5, 3, 0)] == [10.0, 3.0, 0.0]
    x[0] = 7.0
    assert of_x(5) == 17.0 and c.sumVec.bind(x, 5)() == 17.0 == c.sumVec.bind()(x, 5)
    f = c.mixed.bind(x, 2)
    assert [f(2.0, True), f(2, True), f(np.float64(2), True), f(2.0, False)] == [
        4.0,
        4.0,
        4.0,
        -1.0,
    ]
    assert f(y=3.0, z=True) == 6.0
    with pytest.raises(TypeError, match="missing|too many"):
        f(2.0)
    with pytest.raises(TypeError, match="too many arguments"):
        f(2.0, True, 1)
    with pytest.raises(OverflowError, match="argument 'n' does not fit in C's int; got 2147483648"):
        of_x(2**31)
    with pytest.raises(OverflowError, match="64 bits"):
        of_x(2**70)
    with pytest.raises(TypeError, match="too many arguments; got 3"):
        c.sumVec.bind(x, 5, 1)
    with pytest.raises(TypeError, match="float32"):
        c.sumVec.bind(np.zeros(3, "float32"))(3)
    with pytest.raises(ValueError, match="contiguous"):
        c.sumVec.bind(np.zeros(6)[::2])(3)

    u = un.zeros(4, "float32")
    put = c.put.bind(u)
    put(1, 2.5)
    u += 1
    put(2, 4.0)
    assert u.tolist() == [1.0, 3.5, 4.0, 1.0]
    del x
    assert of_x(5) == 17.0
    assert of_x.function is c.sumVec and len(of_x.arguments) == 1
