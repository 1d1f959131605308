"""C text beyond numbers: structs, callbacks, constants, state, built ahead of time; intrinsics."""

import ctypes
import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import unisono as un

POINT = """
#define LIMIT 12
#define HALF_LIMIT (LIMIT / 5)
#define RATIO (1.5f * 2)
#define MASK (1u << 4 | 0x3)
#define GREETING "hi\\n"
#define TWICE(x) (2 * (x))
#define NOTHING
#define CALL f(1)
enum color { RED, GREEN = 7 };
typedef struct { double x, y; } Point;
struct Box { Point low, high; int tag[3]; signed char kind; struct Box* next; };
struct Flags { unsigned a : 3; };
double norm2(Point p) { return p.x * p.x + p.y * p.y; }
Point add(Point a, Point b) { Point s = {a.x + b.x, a.y + b.y}; return s; }
void move(Point* p, int n, double by) { for (int i = 0; i < n; ++i) p[i].x += by; }
double total(const Point* p, int n) { double s = 0; for (int i = 0; i < n; ++i) s += p[i].x + p[i].y; return s; }
struct Box box(Point low, double size, int tag) {
    struct Box b = {low, {low.x + size, low.y + size}, {tag, tag + 1, tag + 2}, -4, 0};
    return b;
}
int tags(struct Box b) { return b.tag[0] * b.tag[1] * b.tag[2] * b.kind; }
"""


@dataclasses.dataclass
class Pair:
    x: float
    y: float


def test_structs_by_value_and_by_address():
    c = un.c_module(POINT)
    assert c.Point.names == ("x", "y") and c.Point.itemsize == 16
    assert c.norm2((3.0, 4.0)) == 25.0 == c.norm2(Pair(3.0, 4.0)) == c.norm2({"y": 4.0, "x": 3.0})
    made = c.add((1.0, 2.0), Pair(10.0, 20.0))
    assert made.dtype == c.Point and made.tolist() == (11.0, 22.0)
    assert c.norm2(made) == 605.0
    points = np.zeros(3, c.Point)
    c.move(points, 3, 2.0)
    assert points["x"].tolist() == [2.0] * 3
    assert c.total(points, 3) == 6.0 == c.total(points.ctypes.data, 3)
    assert c.total((1.0, 2.0), 1) == 3.0
    assert c.norm2(points[1]) == 4.0
    b = c.box(points[0], 3.0, 5)
    assert b["high"].tolist() == (5.0, 3.0) and b["tag"].tolist() == [5, 6, 7] and b["kind"] == -4
    assert b["next"] == 0
    assert c.tags(b) == -4 * 5 * 6 * 7
    assert c.Flags.itemsize == 4 and np.zeros(1, c.Flags)[0]["a"] == 0


def test_arrays_pass_as_addresses_without_conversion(monkeypatch):
    c = un.c_module(
        POINT
        + "void fill(void* p, int n, int v) { for (int k = 0; k < n; ++k) ((char*) p)[k] = v; }"
        "int first(const void* p) { return p ? *(const char*) p : -1; }"
        "Point* next(Point* p) { return p + 1; }"
    )
    text, points = bytearray(3), np.zeros(2, c.Point)
    points["x"] = 3.0, 4.0
    c.fill(text, 2, 65)
    assert text == b"AA\0" and c.first(b"xy") == 120 and c.first(p=text) == 65 and c.first(b"") == 0
    with pytest.raises(TypeError, match="fill: argument 'p' is void \\*; got a read-only array"):
        c.fill(b"xy", 1, 1)
    with pytest.raises(TypeError, match="fill: argument 'n' is an integer .int.; got float"):
        c.fill(text, 1.5, 1)
    with pytest.raises(TypeError, match="first: keyword argument 'q' names no parameter"):
        c.first(q=1)
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    for wrong in (frozen, np.zeros(4)[::2], 1.5):
        with pytest.raises(TypeError, match="fill: argument 'p' is void"):
            c.fill(wrong, 1, 1)

    def refuse(self, *args):
        raise AssertionError(args)

    monkeypatch.setattr(type(c.fill), "_convert_and_call", refuse)
    x = np.zeros((2, 2), np.int16)
    c.fill(x, 3, 1)
    assert x.tolist() == [[257, 1], [0, 0]] and c.first(x.ctypes.data) == 1 and c.first(None) == -1
    assert c.first(frozen) == 0
    assert c.total(points, 2) == 7.0 == c.total(c.next(points), 1) + c.total(points[0], 1)
    assert c.norm2(points[1]) == 16.0 == c.norm2(points[1:])
    for converted in (np.zeros(4)[::2], np.float64(1.5), (1.0, 2.0)):
        with pytest.raises(AssertionError):
            c.first(converted)
    for converted in ((1.0, 2.0), points, np.zeros(1), x):
        with pytest.raises(AssertionError):
            c.norm2(converted)


def test_lists_of_structs_and_numbers_of_all_bits():
    c = un.c_module(
        "typedef struct { char kind; double x; } Item;"
        "double total(const Item* p, int n) { double s = 0; for (int k = 0; k < n; ++k) s += p[k].x; return s; }"
        "Item made(double x) { Item i = {1, x}; return i; }"
        "unsigned long long hash(unsigned long long h, unsigned char c) { return (h ^ c) * 1099511628211ull; }"
    )
    items = [c.made(1.5), c.made(2.0)]
    assert np.array(items).dtype != c.Item  # NumPy packs them
    assert (
        c.total(items, 2) == 3.5 == c.total(np.array(items), 2) == c.total([(1, 1.5), items[1]], 2)
    )
    wanted = (0xCBF29CE484222325 ^ 97) * 1099511628211 % 2**64
    assert c.hash(0xCBF29CE484222325, 97) == wanted and c.hash(1, 1) == 0
    with pytest.raises(OverflowError, match="argument 'h' does not fit in 64 bits"):
        c.hash(2**64, 1)
    with pytest.raises(
        OverflowError,
        match="'h' does not fit in C's .*; got -1; expected 0 to 18446744073709551615",
    ):
        c.hash(-1, 1)
    with pytest.raises(
        OverflowError, match="C's unsigned char; got 256; expected 0 to 255; pass such a number"
    ):
        c.hash(1, 256)


def test_memory_and_numbers_of_ctypes_and_cffi():
    ffi = pytest.importorskip("cffi").FFI()
    ffi.cdef("typedef struct { double x; } One; struct Two { double x; };")
    c = un.c_module(
        "typedef struct { double x; } One; double by(One s) { return s.x; } double at(const One* s) { return s->x; }"
        "double sum(const double* x, int n) { double s = 0; for (int k = 0; k < n; ++k) s += x[k]; return s; }"
        "void fill(void* p, int n) { for (int k = 0; k < n; ++k) ((char*) p)[k] = 1; }"
    )

    class Same(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double)]

    class Longer(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]

    three = ffi.new("double[3]", [1, 2, 3])
    assert (
        c.sum(three, 3)
        == 6.0
        == c.sum(three + 0, ctypes.c_int(3))
        == c.sum(np.frombuffer(ffi.buffer(three)), 3)
    )
    assert c.sum((ctypes.c_double * 2)(1, 2), ctypes.c_long(2)) == 3.0
    two = ffi.new("char[2]")
    c.fill(two, 2)
    assert bytes(ffi.buffer(two)) == b"\1\1"
    one = ffi.new("One*", [2.5])
    assert c.by(one[0]) == 2.5 == c.at(one) == c.by(Same(2.5)) == c.at(Same(2.5))
    with pytest.raises(
        TypeError,
        match="sum: argument 'x' is a pointer .const double ..; got cffi's float.; pass an array",
    ):
        c.sum(ffi.new("float[3]"), 3)
    for wrong in (Longer(), ffi.new("struct Two*")[0], ffi.new("double*")):
        with pytest.raises(TypeError, match="by: argument 's' is One; got"):
            c.by(wrong)


def test_what_is_no_struct_of_that_kind_is_refused():
    c = un.c_module(POINT)
    for wrong in ((1.0,), 3.0, "text", np.zeros(2, c.Point), {"x": 1.0}, np.zeros(1, c.Box)):
        with pytest.raises(TypeError, match="argument 'p' is Point.*pass a tuple or dataclass"):
            c.norm2(wrong)
    with pytest.raises(TypeError, match="pass an array of structs"):
        c.move((1.0, 2.0), 1, 1.0)
    with pytest.raises(TypeError, match="pass a contiguous one"):
        c.move(np.zeros(4, c.Point)[::2], 2, 1.0)
    with pytest.raises(TypeError, match="pass a contiguous one"):
        c.move(np.zeros(4), 2, 1.0)
    points = np.zeros(2, c.Point)
    points.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        c.move(points, 2, 1.0)
    assert c.total(points, 2) == 0.0
    with pytest.raises(TypeError, match="takes 1 arguments; got 2"):
        c.norm2(points[0], 1)


def test_constants():
    c = un.c_module(POINT)
    assert (c.LIMIT, c.HALF_LIMIT, c.RATIO, c.MASK, c.GREETING) == (12, 2, 3.0, 19, "hi\n")
    assert (c.RED, c.GREEN) == (0, 7)
    for name in ("TWICE", "NOTHING", "CALL"):
        assert not hasattr(c, name)

    @un.jit
    def scaled(x):
        return x * c.LIMIT + c.GREEN

    assert scaled(2) == 31


CALLS = """
typedef double (*function)(double);
double integrate(function f, double a, double b, int n) {
    double s = 0;
    for (int i = 0; i < n; ++i) s += f(a + (i + 0.5) * (b - a) / n);
    return s * (b - a) / n;
}
static int (*kept)(int, int);
void keep(int (*f)(int, int)) { kept = f; }
int use(int a, int b) { return kept ? kept(a, b) : -1; }
double each(const double* v, int n, double (*f)(const double*, int)) { return f(v, n); }
"""


def test_functions_as_arguments():
    c = un.c_module(CALLS)

    @un.cfunc("float64(float64)")
    def square(x):
        return x * x

    @un.jit
    def cube(x):
        return x * x * x

    assert c.integrate(square, 0.0, 3.0, 1000) == pytest.approx(9, rel=1e-5)
    assert c.integrate(cube, 0.0, 2.0, 1000) == pytest.approx(4, rel=1e-5)
    assert c.integrate(square.ctypes, 0.0, 3.0, 10) == c.integrate(square.address, 0.0, 3.0, 10)
    c.keep(un.jit(lambda a, b: a * 10 + b))
    assert c.use(4, 2) == 42
    c.keep(None)
    assert c.use(4, 2) == -1

    @un.jit
    def inside(address, n):
        return c.integrate(address, 0.0, 3.0, n)

    assert inside(square.address, 10) == c.integrate(square, 0.0, 3.0, 10)

    @un.cfunc("float64(CPointer(float64), int32)")
    def last(v, n):
        return v[n - 1]

    assert c.each(np.arange(5.0), 5, last) == 4.0
    with pytest.raises(
        TypeError, match="argument 'f' is double .*got a callback .*float64\\(float64,float64"
    ):
        c.integrate(un.cfunc("float64(float64, float64)")(lambda a, b: a), 0.0, 1.0, 2)
    with pytest.raises(TypeError, match="got function; pass a function made by un.cfunc or un.jit"):
        c.integrate(lambda x: x, 0.0, 1.0, 2)


def test_handles_whose_struct_c_alone_knows():
    """As libraries, and C++ behind a C interface, give them."""
    c = un.c_module(
        """
        #include <stdlib.h>
        struct counter;
        struct counter { int n; };
        struct counter* counter_new(int n) { struct counter* c = malloc(sizeof *c); c->n = n; return c; }
        int counter_next(struct counter* c) { return ++c->n; }
        void counter_delete(struct counter* c) { free(c); }
        """
    )
    one, two = c.counter_new(3), c.counter_new(10)
    assert [c.counter_next(one), c.counter_next(two), c.counter_next(one)] == [4, 11, 5]
    c.counter_delete(one)
    c.counter_delete(two)


def test_elementwise_functions_with_variables_run_in_order():
    c = un.c_module(
        """
        #include <math.h>
        static double sum;
        double running(double x) { sum += x; return sum; }
        static double table[2] = {2.0, 3.0};
        double pure(double x) { double part[2] = {x, 1.0}; return sin(part[0]) + part[1]; }
        """
    )
    x = np.ones(20000)
    got = np.asarray(un.vectorize(["float64(float64)"])(c.running)(un.asarray(x)))
    assert got.tolist() == np.cumsum(x).tolist()

    @un.vectorize
    def shifted(x):
        return c.running(x) + 0.5

    start = c.running(0.0)
    got = np.asarray(shifted(un.asarray(x)))
    assert got.tolist() == (np.cumsum(x) + start + 0.5).tolist()
    plain = un.vectorize(["float64(float64)"])(c.pure)
    assert plain._compiled._element(("float64",))[1:] == (True, False)  # it fuses
    assert plain(0.0) == 1.0


def test_built_ahead_of_time(tmp_path):
    (tmp_path / "kernels.py").write_text(
        """
import unisono as un

c = un.c_module(
    '''static int calls = 5;
    int counted(int x) { return x + ++calls; }
    double sum(const double* v, int n) { double s = 0; for (int i = 0; i < n; ++i) s += v[i]; return s; }'''
)


@un.jit("float64(float64[::1])")
def twice(v):
    return 2 * c.sum(v, len(v))


@un.jit("int64(int64)")
def count(k):
    return c.counted(k) * 100 + c.counted(k)
"""
    )
    subprocess.run(
        [sys.executable, "-m", "unisono", "build", "kernels.py"], cwd=tmp_path, check=True
    )
    (tmp_path / "kernels.py").unlink()
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import numpy as np, kernels_compiled as k\n"
            "print(k.twice(np.arange(4.0)), k.count(1), k.count(1))\n"
            "loaded = open('/proc/self/maps').read()\n"
            "print('libunisono_llvm' in loaded, 'libunisono_clang' in loaded)",
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["12.0", "708", "910", "False", "False"]


def test_intrinsics():
    @un.intrinsic("int32(uint64)")
    def ones(x):
        return f"__builtin_popcountll({x})"

    @un.intrinsic("void(float64*, int64, float64)")
    def put(where, k, x):
        "Stores a number."
        return f"{where}[{k}] = {x}"

    @un.intrinsic("float64(float64, float64)")
    def first_below(x, y):
        return f"if ({x} < {y}) return {x};\nreturn floor({y});"

    @un.jit
    def f(a, n):
        put(a, 1, first_below(9.0, 2.5))
        return ones(n)

    a = np.zeros(3)
    assert f(a, 7) == 3 and a.tolist() == [0.0, 2.0, 0.0]
    assert ones(255) == 8 and ones.__name__ == "ones" and put.__doc__ == "Stores a number."
    with pytest.raises(un.CompileError, match="undeclared"):
        un.intrinsic("int32(int32)")(lambda x: "y")
    with pytest.raises(TypeError, match="1 parameters; got 2 types"):
        un.intrinsic("int32(int32, int32)")(lambda x: x)
    with pytest.raises(TypeError, match="gives C text; got int"):
        un.intrinsic("int32(int32)")(lambda x: 3)
    with pytest.raises(TypeError, match="takes|take numbers and pointers"):
        un.intrinsic("int32(float64[:])")(lambda x: x)
    with pytest.raises(TypeError, match="needs to know the types"):
        un.intrinsic(len)


def test_an_intrinsic_of_llvm_is_refused_where_it_is_called():
    """Numba's form, which modules define that seldom call it."""

    @un.intrinsic
    def popcount(typingctx, x):
        return x(x), lambda context, builder, signature, args: builder.ctpop(args[0])

    with pytest.raises(TypeError, match="popcount: C needs to know the types"):
        popcount(3)
    with pytest.raises(
        un.CompileError, match="it is an intrinsic without types; write @un.intrinsic"
    ):
        un.jit(lambda x: popcount(x))(3)
