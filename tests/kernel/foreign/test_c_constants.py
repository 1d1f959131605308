"""C text: constants, text, any number of arguments, unions, and a cdef that repeats the text."""

import ctypes

import numpy as np
import pytest
import unisono as un
from unisono import _engine

CONSTANTS = r"""
static const double k = 3;
const float half = 0.5f;
const int table[4] = {1, 2, [3] = 4};
static const double matrix[2][2] = {{1, 2}, {3, 4}};
const char title[] = "h\xc3\xa9llo";
const char *const names[] = {"one", "two", 0};
struct pair { int n; double x; };
static const struct pair first = {1, 2.5};
static const struct pair both[] = {{1, 2.5}, {3, 4.5}};
enum color { RED, GREEN = 5 };
const enum color paint = GREEN;
const unsigned long long large = 1ull << 63;
const _Bool is_set = 1;
const char* heading = "abc";
const char* headings[2] = {"x"};
volatile const int device = 7;
long size_of_heading(void) { return heading ? __builtin_strlen(heading) : -1; }
"""


def test_constants_of_the_text():
    c = un.c_module(CONSTANTS)
    assert (c.k, c.half, c.paint, c.large, c.is_set) == (3.0, 0.5, 5, 1 << 63, True)
    assert (c.title, c.names) == ("h\u00e9llo", ("one", "two", None))
    assert c.table.tolist() == [1, 2, 0, 4] and c.table.dtype == np.int32
    assert c.matrix.tolist() == [[1, 2], [3, 4]] and not c.matrix.flags.writeable
    assert (c.first["n"], c.first["x"], c.both["x"].tolist()) == (1, 2.5, [2.5, 4.5])
    assert not hasattr(c, "device")
    with pytest.raises(AttributeError, match="'k' is a constant of the text; got 4.0"):
        c.k = 4.0

    @un.jit
    def f(i):
        return c.k * i + c.table[i] + c.matrix[1, 0] + c.GREEN

    assert f(3) == 21.0
    declared = un.c_module(CONSTANTS, "extern const int table[4]; long size_of_heading(void);")
    assert declared.table.tolist() == [1, 2, 0, 4] and not hasattr(declared, "k")


def test_variables_that_point_to_text():
    c = un.c_module(CONSTANTS)
    assert (c.heading, c.headings, c.size_of_heading()) == ("abc", ("x", None), 3)
    c.heading = "longer"
    assert (c.heading, c.size_of_heading()) == ("longer", 6)
    c.heading = None
    assert (c.heading, c.size_of_heading()) == (None, -1)
    c.heading = b""
    assert (c.heading, c.size_of_heading()) == ("", 0)
    with pytest.raises(TypeError, match="heading: the C variable points to text; got 3"):
        c.heading = 3


VARIADIC = """
#include <stdarg.h>
#include <stdio.h>
static int calls;
int total(int n, ...) {
    va_list a; va_start(a, n); int s = 0;
    for (int i = 0; i < n; ++i) s += va_arg(a, int);
    va_end(a); ++calls; return s;
}
int count(void) { return calls; }
int format(char* to, size_t n, const char* how, ...) {
    va_list a; va_start(a, how); int r = vsnprintf(to, n, how, a); va_end(a); return r;
}
const char* last(int n, ...) {
    va_list a; va_start(a, n); const char* s = 0;
    for (int i = 0; i < n; ++i) s = va_arg(a, const char*);
    va_end(a); return s;
}
double first_of(int n, ...) { va_list a; va_start(a, n); double* p = va_arg(a, double*); return p ? p[0] : -1; }
"""


def test_any_number_of_arguments():
    c = un.c_module(VARIADIC)
    assert c.total(0) == 0 and c.total(3, 1, np.int16(2), True) == 4 and c.total(9, *range(9)) == 36
    assert c.count() == 3  # it is the text's own function
    to = np.zeros(60, np.int8)
    n = c.format(to, 60, "%d %s %.2f %ld %s", -3, "x\u00e9", 1.5, 1 << 40, b"end")
    assert bytes(to[:n]).decode() == "-3 x\u00e9 1.50 1099511627776 end"
    assert (c.last(2, "a", "b"), c.last(0)) == ("b", None)
    assert c.first_of(1, np.array([2.5])) == 2.5 and c.first_of(1, None) == -1
    libc = un.c_module(
        "#include <stdio.h>", "int snprintf(char* to, size_t n, const char* how, ...);"
    )
    assert libc.snprintf(to, 60, "%g|%c", 0.5, 65) == 5 and bytes(to[:5]) == b"0.5|A"
    with pytest.raises(TypeError, match="total: takes at least 1 arguments; got 0"):
        c.total()
    with pytest.raises(TypeError, match="in place of '...'; got list"):
        c.total(1, [1])
    with pytest.raises(un.CompileError, match="'total' takes any number of arguments"):
        un.jit(lambda x: c.total(1, x))(1)


def test_long_doubles_pass_as_doubles():
    c = un.c_module("long double half(long double x, int n) { return x / (2 * n); }")
    assert c.half(3.0, 1) == 1.5 and c.half(3, 1) == 1.5
    assert un.jit(lambda x: c.half(x, 2) + 1)(6.0) == 2.5


def test_unions_and_structs_without_a_name():
    c = un.c_module("""
        union both { int i; float f; unsigned char b[4]; };
        union both of_int(int i) { union both v; v.i = i; return v; }
        float as_float(union both v) { return v.f; }
        struct event { int kind; union { int key; float x; }; struct { short a, b; } c; };
        int key(const struct event* e) { return e->key + e->c.b; }
        struct flags { unsigned a : 3, b : 5; int rest; };
        struct flags make(int a, int b) { struct flags f = {a, b, 1}; return f; }
        int sum(struct flags f) { return f.a + f.b + f.rest; }
    """)
    made = c.of_int(0x3F800000)
    assert made["f"] == 1.0 and made["b"].tolist() == [0, 0, 128, 63] and c.as_float(made) == 1.0
    assert c.as_float({"f": 2.5}) == 2.5
    e = np.zeros(1, c.event)
    e["key"], e["kind"] = 40, 1
    assert c.key(e) == 40 and e["x"][0] != 0
    flags = c.make(3, 4)
    assert flags["rest"] == 1 and c.sum(flags) == 8


def test_functions_and_text_in_tuples_of_a_struct():
    c = un.c_module("""
        struct op { double (*f)(double); double x; char name[8]; };
        double run(struct op o) { return o.f ? o.f(o.x) + o.name[1] : -1; }
    """)
    twice = un.cfunc("float64(float64)")(lambda x: 2 * x)
    assert c.run((twice, 3.0, "ab")) == 6 + ord("b") and c.run((None, 3.0, b"")) == -1


def test_text_from_compiled_functions():
    c = un.c_module("""
        long size(const char* s) { long n = 0; while (s[n]) ++n; return n; }
        int at(const char* s, int i) { return (unsigned char) s[i]; }
        void fill(char* s) { s[0] = 'x'; }
    """)

    @un.jit
    def f(s, k):
        t = s + "\u00e9\u20ac\U0001f600"
        return c.size("abc") + 10 * c.size(t) + 1000 * c.at(t, k), c.size(str(k) + "-")

    assert f("xy", 3) == (3 + 10 * 11 + 1000 * 0xA9, 2)

    @un.jit
    def everywhere(n):
        total = 0
        for i in un.prange(n):
            total += c.size("four") + i
        return total

    assert everywhere(1000) == 4000 + 499500
    with pytest.raises(TypeError, match="'s' is a pointer .char .*; got str"):
        un.jit(lambda: c.fill("abc"))()


def test_inline_and_static_functions():
    text = """
        inline int twice(int x) { return 2 * x; }
        static inline int thrice(int x) { return 3 * x; }
        static double norm(const double* v) { return v[0] * v[0]; }
    """
    assert un.c_module(text).twice(4) == 8
    c = un.c_module(text, "int thrice(int x); static double norm(const double* v);")
    assert c.thrice(4) == 12 and c.norm(np.array([3.0])) == 9.0
    assert un.jit(lambda x: c.thrice(x) + 1)(2) == 7


def test_a_cdef_may_repeat_the_text():
    text = """
        #define LIMIT 20
        typedef struct { double x, y; } point;
        enum kind { A, B };
        typedef struct tree tree;
        struct tree { tree* left; int v; };
        double norm(point p) { return p.x + p.y; }
        int value(const tree* t, enum kind k) { return t->v + k; }
        const char* text(void) { return ";{"; }
    """
    cdef = """
        #define LIMIT ...
        /* a point; { */ typedef struct { double x, y; ...; } point;
        enum kind { A, B };
        typedef ... other;
        struct tree { struct tree* left; int v; };  // as above;
        double norm(point p);
        int value(const struct tree* t, enum kind k);
        double missing(point p, oops q);
    """
    with pytest.raises(un.CompileError, match="cdef:9:.*unknown type name 'oops'"):
        un.c_module(text, cdef)
    c = un.c_module(text, cdef.replace("double missing(point p, oops q);", ""))
    t = np.zeros(1, c.tree)
    t["v"] = 7
    assert (c.norm((1, 2)), c.value(t, c.B), c.LIMIT) == (3.0, 8, 20)
    assert not hasattr(c, "text")


def test_what_calls_do_is_read_from_the_code():
    c = un.c_module("""
        #include <math.h>
        #include <stdlib.h>
        static int helper(int x) { return x + 1; }
        double line(double x) { return helper(3) * sin(x); }
        double loop(double x) { for (int i = 0; i < 9; ++i) x += i; return x; }
        int again(int x) { return x ? again(x - 1) : 0; }
        int outside(int x) { return abs(x) + rand(); }
        double sum(const double* v) { return v[0] + v[1]; }
    """)
    is_short = {
        f: _engine._native_state(getattr(c, f)._native)[9]
        for f in ("line", "loop", "again", "outside", "sum")
    }
    assert is_short == {"line": 1, "loop": 0, "again": 0, "outside": 0, "sum": 1}


def test_bound_calls_with_numbers_of_other_kinds():
    c = un.c_module("double add(const double* v, double x) { return v[0] + x; }")
    f = c.add.bind(np.array([1.0]))
    assert [f(2.0), f(3), f(True), f(2.5), f(-4), f(1 << 40)] == [
        3.0,
        4.0,
        2.0,
        3.5,
        -3.0,
        1.0 + (1 << 40),
    ]


def test_memory_of_ctypes():
    c = un.c_module("""
        int divide(int a, int b, int* q, int* r) { *q = a / b; *r = a % b; return 0; }
        double total(const double* a, int n) { double s = 0; for (int i = 0; i < n; ++i) s += a[i]; return s; }
        void upper(char* s) { for (; *s; ++s) if (*s >= 'a' && *s <= 'z') *s -= 32; }
        struct pair { int n; double x; };
        double weigh(const struct pair* p) { return p->n * p->x; }
        long first(const void* p) { return p ? *(const int*) p : -1; }
        double corner(double m[2][3]) { return m[1][2]; }
    """)
    q, r = ctypes.c_int(), ctypes.c_int()
    assert c.divide(17, 5, ctypes.byref(q), ctypes.pointer(r)) == 0 and (q.value, r.value) == (3, 2)
    assert c.total((ctypes.c_double * 3)(1, 2, 3), 3) == 6.0
    assert c.corner((ctypes.c_double * 3 * 2)((1, 2, 3), (4, 5, 6))) == 6.0
    text = ctypes.create_string_buffer(b"hello")
    c.upper(text)
    assert text.value == b"HELLO"

    class Pair(ctypes.Structure):
        _fields_ = [("n", ctypes.c_int), ("x", ctypes.c_double)]

    p = Pair(3, 2.5)
    assert c.weigh(p) == c.weigh(ctypes.byref(p)) == c.weigh(ctypes.pointer(p)) == 7.5
    assert c.first(p) == c.first(ctypes.cast(ctypes.pointer(p), ctypes.c_void_p)) == 3
    assert c.first(ctypes.c_void_p()) == -1
    with pytest.raises(
        TypeError, match="'p' is const struct pair .*; got c_int_Array_3 of 12 bytes"
    ):
        c.weigh((ctypes.c_int * 3)())
    with pytest.raises(TypeError, match="'q' is a pointer .int .*float64 array"):
        c.divide(1, 1, (ctypes.c_double * 1)(), r)


def test_names_that_the_code_around_functions_uses():
    c = un.c_module("""
        double _Complex z(double _Complex p0) { return p0 * p0; }
        struct v { double x; };
        struct v r(struct v a0) { return a0; }
        struct v result(struct v p0) { p0.x *= 2; return p0; }
        double p0(struct v p0) { return p0.x; }
    """)
    assert (
        c.z(1 + 1j) == 2j
        and c.r((2.0,))["x"] == 2
        and c.result((2.0,))["x"] == 4
        and c.p0((3.0,)) == 3
    )
    assert un.jit(lambda x: c.r((x,)).x + c.result((x,)).x + c.p0((x,)))(1.0) == 4.0


def test_arrays_for_the_pointers_of_a_struct():
    c = un.c_module("""
        typedef struct { int n; double* data; } vector;
        double sum(vector v) { double s = 0; for (int i = 0; i < v.n; ++i) s += v.data[i]; return s; }
        double first(const vector* v) { return v->data ? v->data[0] : -1; }
    """)
    a = np.arange(1.0, 4.0)
    assert c.sum((3, a)) == 6.0 and c.first((3, a)) == 1.0 and c.first((0, None)) == -1
    with pytest.raises(TypeError, match="argument 'v' is vector; got tuple"):
        c.sum((2, a[::2]))
