"""C text: complex numbers, text that comes back, memory of any kind, variables that begin as addresses, headers."""

import ctypes

import numpy as np
import pytest
import unisono as un

COMPLEX = """
#include <complex.h>
double complex square(double complex z) { return z * z; }
float complex half(float complex z, int n) { return z / (n * 2.0f); }
double size(double complex z) { return cabs(z); }
void scale(double complex* z, int n, double complex k) { for (int i = 0; i < n; ++i) z[i] *= k; }
"""


def test_complex_numbers_by_value():
    c = un.c_module(COMPLEX)
    assert c.square(1 + 2j) == -3 + 4j and c.square(3) == 9
    assert c.half(np.complex64(2 + 4j), 1) == 1 + 2j
    assert c.size(3 - 4j) == 5.0
    z = np.array([1 + 2j, 3j])
    c.scale(z, 2, 1j)
    assert z.tolist() == [-2 + 1j, -3]
    with pytest.raises(TypeError, match="argument 'z' is a complex number; got str; pass a number"):
        c.square("x")

    @un.jit
    def f(z, a):
        total = 0j
        for i in range(len(a)):
            total += c.square(a[i])
        return total + c.square(z) * c.size(z) + c.half(1.0, 2)

    a = np.array([1 + 1j, 2 - 1j])
    assert f(3 + 4j, a) == (a * a).sum() + (3 + 4j) ** 2 * 5 + 0.25


def test_text_comes_back_as_str():
    c = un.c_module(
        'const char* name(int k) { return k == 2 ? 0 : k ? "one" : "z\\xc3\\xa9ro"; }'
        "long length(const char* s) { long n = 0; while (s[n]) ++n; return n; }"
    )
    assert [c.name(k) for k in range(3)] == ["z\u00e9ro", "one", None]
    assert c.length("abc") == 3


def test_memory_of_any_kind_for_callbacks():
    c = un.c_module("double run(double (*f)(double), const void* data, double x) {"
                    " return f(x) + (data ? *(const double*) data : 100.0); }")  # fmt: skip
    f = un.cfunc("float64(float64)")(lambda x: 2 * x)
    data = np.array([0.5])
    assert c.run(f, None, 1.0) == 102.0
    assert c.run(f, data, 1.0) == 2.5
    assert c.run(f, data.ctypes.data, 1.0) == 2.5
    assert c.run(f, un.asarray([1.5]), 1.0) == 3.5
    with pytest.raises(TypeError, match="pass a contiguous array, an address or None"):
        c.run(f, np.zeros((4, 4))[:, 1], 1.0)


def test_variables_that_begin_as_addresses():
    c = un.c_module("""
        static int x = 5;
        int *p = &x;
        char* title = "abc";
        const char* names[] = {"one", "two", 0};
        static double twice(double v) { return 2 * v; }
        static double thrice(double v) { return 3 * v; }
        double (*operation)(double) = twice;
        struct { int n; const char* what; } both = {4, "four"};
        int read(void) { return *p; }
        void point(int* to) { p = to; }
        const char* name(int k) { return names[k]; }
        const char* heading(void) { return title; }
        void retitle(void) { title = names[1]; operation = thrice; }
        double apply(double v) { return operation(v) + both.n + both.what[0]; }
    """)
    assert (c.read(), c.name(0), c.name(1), c.name(2), c.heading()) == (
        5,
        "one",
        "two",
        None,
        "abc",
    )
    assert c.apply(2.0) == 8.0 + ord("f")
    c.retitle()
    other = np.array([7], np.int32)
    c.point(other)
    assert (c.read(), c.heading(), c.apply(2.0)) == (7, "two", 10.0 + ord("f"))

    @un.jit
    def f(v):
        return c.apply(v) + c.read()

    assert f(2.0) == 17.0 + ord("f")
    address = np.frombuffer(c.p, np.uint64)[0]
    assert ctypes.c_int.from_address(int(address)).value == 7


def test_such_text_is_not_built_ahead(tmp_path):
    c = un.c_module("static int x = 5; int *p = &x; int read(void) { return *p; }")

    @un.jit("int64()")
    def f():
        return c.read()

    with pytest.raises(TypeError, match="begin as addresses, which other processes do not have"):
        un.compile_module("kept", [f], tmp_path)


HEADERS = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale malloc math memory setjmp signal stdalign stdarg "
    "stdbool stddef stdint stdio stdlib stdnoreturn string strings sys/time sys/types tgmath time unistd wchar wctype"
).split()


def test_headers_together():
    text = "".join(f"#include <{h}.h>\n" for h in HEADERS if h != "tgmath")
    assert un.c_module(text + "int f(void) { return SIGINT + LC_ALL; }").f() == 8


def test_functions_of_float():
    c = un.c_module(
        "#include <math.h>\nfloat f(float x) { return sqrtf(x) + fmaxf(x, cosf(0.0f)); }"
    )
    assert c.f(4.0) == 6.0


def test_headers_are_used():
    c = un.c_module("""
        #include <fenv.h>
        #include <setjmp.h>
        #include <strings.h>
        #include <tgmath.h>
        #include <wchar.h>
        static jmp_buf back;
        static void fails(int k) { longjmp(back, k); }
        int caught(int k) { int found = setjmp(back); if (found) return found * 10; fails(k); return -1; }
        double root(double x) { return sqrt(x) + pow(x, 2.0); }
        float rootf(float x) { return sqrt(x); }
        double size(double complex z) { return fabs(z); }
        int same(const char* a, const char* b) { return strcasecmp(a, b) == 0; }
        long wide(void) { return wcslen(L"abc"); }
        int rounding(void) { return fegetround() == FE_TONEAREST; }
    """)
    assert c.caught(3) == 30
    assert c.root(4.0) == 18.0 and c.rootf(np.float32(2)) == np.sqrt(np.float32(2))
    assert c.size(3 + 4j) == 5.0
    assert (c.same("aBc", "AbC"), c.wide(), c.rounding()) == (1, 3, 1)


def test_messages_of_compiled_functions_name_what_c_has():
    c = un.c_module("int seen = 0; int touch(void) { return ++seen; }")
    with pytest.raises(
        un.CompileError,
        match="the variable 'seen' of C text is not supported.*\n.*\n.*\n.*\n.*in a C function",
    ):
        un.jit(lambda: c.seen)()
    with pytest.raises(
        un.CompileError, match="<C module <c_module>> has no function 'tuoch'; is it spelled right"
    ):
        un.jit(lambda: c.tuoch())()
    m = ctypes.CDLL("libm.so.6")
    with pytest.raises(
        un.CompileError,
        match="what to do: declare it with types of numbers and pointers, or write C",
    ):
        un.jit(lambda x: m.cbrt(x))(8.0)
    m.cbrt.argtypes, m.cbrt.restype = [ctypes.c_double], ctypes.c_double
    with pytest.raises(
        TypeError,
        match="^cbrt: argument 'p0' is a number .* the declaration is double cbrt.double p0",
    ):
        un.jit(lambda x: m.cbrt(x))("a")
