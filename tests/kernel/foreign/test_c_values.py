"""Compiled functions that call C functions of structs and of functions."""

import dataclasses
import linecache
import subprocess
import sys
import typing

import numpy as np
import pytest
import unisono as un

POINT = """
typedef struct { double x, y; } Point;
struct Box { Point low, high; int tag[3]; signed char kind; struct Box* next; };
typedef struct { float m[2][2]; _Bool is_set; unsigned char c; } Matrix;
union Word { unsigned whole; float number; };
double norm2(Point p) { return p.x * p.x + p.y * p.y; }
Point add(Point a, Point b) { Point s = {a.x + b.x, a.y + b.y}; return s; }
void move(Point* p, int n, double by) { for (int i = 0; i < n; ++i) p[i].x += by; }
double total(const Point* p, int n) { double s = 0; for (int i = 0; i < n; ++i) s += p[i].x + p[i].y; return s; }
struct Box box(Point low, double size, int tag) {
    struct Box b = {low, {low.x + size, low.y + size}, {tag, tag + 1, tag + 2}, -4, 0};
    return b;
}
int tags(struct Box b) { return b.tag[0] * b.tag[1] * b.tag[2] * b.kind + (b.next != 0); }
Matrix transposed(Matrix a) {
    Matrix t = {{{a.m[0][0], a.m[1][0]}, {a.m[0][1], a.m[1][1]}}, !a.is_set, a.c + 1};
    return t;
}
unsigned flag(union Word f) { return f.whole; }
Point* first(Point* p) { return p; }
"""


@dataclasses.dataclass(frozen=True)
class Pair:
    y: float
    x: float


class Named(typing.NamedTuple):
    x: float
    y: float


@pytest.fixture(scope="module")
def c():
    return un.c_module(POINT)


def test_structs_by_value(c):
    @un.jit
    def norm(p):
        return c.norm2(p)

    assert norm((3.0, 4)) == 25.0
    assert norm(Pair(x=3.0, y=4.0)) == 25.0 == norm(Named(3.0, 4.0))

    @un.jit
    def added(p, q):
        s = c.add(p, q)
        return s, s.x - s[1], c.norm2(s)

    made = added(Pair(x=1.0, y=2.0), (10.0, 20.0))
    assert made == ((11.0, 22.0), -11.0, 605.0)
    assert type(made[0]).__name__ == "Point" and made[0]._fields == ("x", "y")
    assert c.norm2(made[0]) == 605.0 == added(made[0], (0, 0))[2]

    @un.jit
    def walk(n):
        p = c.add((0.0, 0.0), (0.0, 1.0))
        for i in range(n):
            p = c.add(p, (i, 0.5))
        return p

    assert walk(5) == (10.0, 3.5)


def test_structs_in_structs(c):
    @un.jit
    def boxed(p, size):
        b = c.box(p, size, 5)
        return b, c.tags(b), b.high.y

    made, tags, y = boxed((1.0, 2.0), 3.0)
    assert made == ((1.0, 2.0), (4.0, 5.0), (5, 6, 7), -4, 0)
    assert made.high.x == 4.0 and tags == -4 * 5 * 6 * 7 and y == 5.0
    boxes = np.zeros(2, c.Box)
    boxes[1] = c.box((1.0, 2.0), 3.0, 5)

    @un.jit
    def of_element(a, i):
        return c.tags(a[i]), c.norm2(a[i].high)

    assert of_element(boxes, 1) == (tags, 41.0) and of_element(boxes, 0) == (0, 0.0)
    boxes["next"][0] = 1
    assert of_element(boxes, 0)[0] == 1

    @un.jit
    def turned(m, is_set):
        return c.transposed((m, is_set, 7))

    assert turned(((1.0, 2.0), (3.0, 4.0)), False) == (((1.0, 3.0), (2.0, 4.0)), True, 8)
    assert turned(np.array([[1.0, 2.0], [3.0, 4.0]], "float32"), True)[0] == (
        (1.0, 3.0),
        (2.0, 4.0),
    )
    with pytest.raises(ValueError, match="got 3 items in place of 2"):
        turned(np.ones((2, 3), "float32"), True)


def test_pointers_to_structs(c):
    points = np.zeros(4, c.Point)
    points["x"] = [1, 2, 3, 4]

    @un.jit
    def f(a, i):
        before = a[i].x
        c.move(a, len(a), 10.0)
        c.move(a[i], 1, 100.0)
        return before, a[i].x, c.total(a, len(a)), c.total(c.first(a[i]), 1)

    assert f(points, 1) == (2.0, 112.0, 150.0, 112.0)
    assert points["x"].tolist() == [11.0, 112.0, 13.0, 14.0]
    with pytest.raises(ValueError, match="'p' must be contiguous"):
        f(points[::2], 1)
    frozen = points.copy()
    frozen.flags.writeable = False
    with pytest.raises(un.CompileError, match="read-only and C writes through the pointer"):
        f(frozen, 0)
    with pytest.raises(un.CompileError, match="whose field 'z' is not C's"):
        f(np.zeros(2, [("x", "f8"), ("y", "f8"), ("z", "f8")]), 0)
    with pytest.raises(un.CompileError, match="whose field 'y' is not C's"):
        f(np.zeros(2, [("y", "f8"), ("x", "f8")]), 0)
    with pytest.raises(un.CompileError, match="other sizes than C's"):
        f(np.zeros(2, [("x", "f8"), ("y", "f8"), ("rest", "S8")]), 0)

    @un.jit
    def none(p):
        return c.total(p, 0) + c.total(None, 0)

    assert none(points.view(np.uint8)) == 0.0 == none(points.ctypes.data)


def _message(call, *args):
    with pytest.raises((un.CompileError, TypeError)) as caught:
        call(*args)
    return str(caught.value)


def test_what_does_not_fit_is_refused(c):
    @un.jit
    def norm(p):
        return c.norm2(p)

    for wrong in ((1.0,), 3.0, (1.0, 2.0, 3.0), np.zeros(2)):
        text = _message(norm, wrong)
        assert "norm2: argument 'p' is Point; got" in text and "return c.norm2(p)" in text
        assert "what to do: pass a tuple, a frozen dataclass" in text
    assert "pass one of its elements, a[i]" in _message(norm, np.zeros(2, c.Point))
    assert "argument 'p.y' is a number (float64); got complex" in _message(norm, (1.0, 2j))

    @un.jit
    def moved(p):
        c.move(p, 1, 2.0)

    assert "pass an array of structs, one of its elements" in _message(moved, (1.0, 2.0))

    @un.jit
    def flags(f):
        return c.flag(f)

    assert "flag: cannot be called in compiled code: union Word is or has a union" in _message(
        flags, (1,)
    )


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
double half(double x) { return x / 2; }
"""


@un.jit
def square(x):
    return x * x


@un.jit
def joined(a, b):
    return a * 10 + b


def test_functions_as_callbacks():
    c = un.c_module(CALLS)

    @un.cfunc("float64(float64)")
    def cube(x):
        return x * x * x

    @un.jit
    def inside(n):
        return c.integrate(square, 0.0, 3.0, n), c.integrate(cube, 0.0, 2.0, n)

    assert inside(1000) == (c.integrate(square, 0.0, 3.0, 1000), c.integrate(cube, 0.0, 2.0, 1000))

    @un.jit
    def given(f, n):
        return c.integrate(f, 0.0, 3.0, n)

    assert given(square, 10) == c.integrate(square, 0.0, 3.0, 10)
    assert given(c.half, 10) == pytest.approx(2.25)

    @un.jit
    def kept():
        c.keep(joined)
        made = c.use(4, 2)
        c.keep(None)
        return made, c.use(4, 2)

    assert kept() == (42, -1)

    @un.cfunc("float64(CPointer(float64), int32)")
    def last(v, n):
        return v[n - 1]

    @un.jit
    def of_array(v):
        return c.each(v, len(v), last)

    assert of_array(np.arange(5.0)) == 4.0

    @un.jit
    def wrong(x):
        return c.integrate(lambda v: v * x, 0.0, 1.0, 3)

    assert "defined inside of another function" in _message(wrong, 1.0)

    @un.jit
    def number(x):
        return c.integrate(x, 0.0, 1.0, 3)

    assert "pass a function made by un.jit or un.cfunc" in _message(number, 1.0)

    @un.jit
    def other():
        return c.integrate(joined, 0.0, 1.0, 3)

    text = _message(other)
    assert "the signature has 1 arguments; expected 2" in text and "c.integrate(joined" in text


def test_exceptions_of_callbacks_go_where_those_of_destructors_go():
    c = un.c_module(CALLS)
    seen = []

    @un.jit
    def failing(x):
        if x > 1.0:
            raise ValueError("too large")
        return x

    @un.jit
    def inside():
        return c.integrate(failing, 0.0, 2.0, 2)

    before, sys.unraisablehook = sys.unraisablehook, lambda note: seen.append(note.exc_value)
    try:
        assert inside() == 0.5
    finally:
        sys.unraisablehook = before
    assert [str(e) for e in seen] == ["too large"]


def test_callbacks_follow_what_they_captured():
    c = un.c_module(CALLS)
    text = "def scaled(x):\n    return x * factor\n"
    linecache.cache["scaled.py"] = (0, None, text.splitlines(True), "scaled.py")
    scope = {"factor": 2.0}
    exec(compile(text, "scaled.py", "exec"), scope)
    scaled = un.jit(scope["scaled"])

    @un.jit
    def inside():
        return c.integrate(scaled, 0.0, 1.0, 1)

    assert inside() == 1.0
    scope["factor"] = 6.0
    assert inside() == 3.0


def test_built_ahead_of_time(tmp_path):
    (tmp_path / "kernels.py").write_text(
        """
import unisono as un

c = un.c_module('''
typedef struct { double x, y; } Point;
Point add(Point a, Point b) { Point s = {a.x + b.x, a.y + b.y}; return s; }
double twice(double (*f)(double), double x) { return f(f(x)); }
''')

@un.jit("float64(float64)")
def square(x):
    return x * x

@un.jit("float64(float64, float64)")
def f(x, y):
    p = c.add((x, y), (1.0, 2.0))
    return p.x * p.y + c.twice(square, x)
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
            "import kernels_compiled as k\n"
            "print(k.f(2.0, 3.0))\n"
            "loaded = open('/proc/self/maps').read()\n"
            "print('libunisono_llvm' in loaded, 'libunisono_clang' in loaded)",
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["31.0", "False", "False"]


POINTERS = """
#include <stdlib.h>
int missing(const double *p, int *q) { return (p == 0) + 2 * (q == 0); }
double *counted(int n) { double *p = malloc(n * sizeof *p); for (int i = 0; i < n; i++) p[i] = i; return p; }
double at(double *p, int i) { return p[i]; }
void give_back(double *p) { free(p); }
"""


def test_pointers_to_numbers_take_none_and_addresses():
    c = un.c_module(POINTERS)

    @un.jit
    def total(n):
        p = c.counted(n)
        s = 0.0
        for i in range(n):
            s += c.at(p, i)
        c.give_back(p)
        return s, c.missing(None, None), c.missing(None, np.zeros(1, np.int32))

    assert total(5) == (10.0, 3, 1)
    p = c.counted(3)
    assert c.at(p, 2) == 2.0 and c.missing(np.ones(1), None) == 2
    c.give_back(p)
    with pytest.raises(ValueError, match="got 3, which is not an address"):
        c.at(3, 2)


def test_arrays_for_untyped_memory():
    c = un.c_module(
        "#include <string.h>\n"
        "void fill(void* p, int c, size_t n) { memset(p, c, n); }\n"
        "void copy(void* to, const void* from, size_t n) { memcpy(to, from, n); }\n"
        "double first(const void* p) { return *(const double*)p; }\n"
    )

    @un.jit
    def moved(a):
        b = np.empty_like(a)
        c.copy(b, a, a.nbytes)
        return b, c.first(a + 1.0), c.first(a[1:])

    @un.jit
    def cleared(a, n):
        s = 0.0
        for i in range(n):
            s += a[1]
            c.fill(a, 0, 16)
            s += a[1] * 10
            a[1] = i
        return s

    @un.jit
    def first(a):
        return c.first(a)

    a = np.arange(4.0).reshape(2, 2)
    copied, x, y = moved(a)
    assert np.asarray(copied).tolist() == a.tolist() and (x, y) == (1.0, 2.0)
    assert cleared(np.ones(4), 5) == 7.0
    with pytest.raises(ValueError, match="must be contiguous"):
        first(np.arange(6.0)[::2])
    with pytest.raises(un.CompileError, match="is const void \\*; got str"):
        first("text")
