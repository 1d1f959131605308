"""C as scientists have it: matrices, texts, complex numbers, lists, tables of functions."""

import numpy as np
import pytest
import unisono as un


def test_matrices():
    c = un.c_module("""
double trace(int n, double a[n][n]) { double s = 0; for (int i = 0; i < n; i++) s += a[i][i]; return s; }
double corner(const double a[3][3]) { return a[2][0]; }
void fill(int n, int m, float (*a)[m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = i * 10 + j; }
double of_rows(int n, double **a) { double s = 0; for (int i = 0; i < n; i++) s += a[i][i]; return s; }
""")
    a = np.arange(9.0).reshape(3, 3)
    assert c.trace(3, a) == 12.0 and c.corner(a) == 6.0
    b = np.zeros((2, 4), np.float32)
    c.fill(2, 4, b)
    assert b.tolist() == [[0, 1, 2, 3], [10, 11, 12, 13]]
    with pytest.raises(ValueError, match="must be contiguous"):
        c.trace(3, a.T)
    with pytest.raises(TypeError, match="float32 array.*astype"):
        c.trace(2, b)
    with pytest.raises(TypeError, match="pass the addresses of the rows"):
        c.of_rows(3, a)
    assert c.of_rows(3, np.array([r.ctypes.data for r in a]).view("uint8")) == 12.0

    @un.jit
    def twice(a):
        return 2 * c_trace(a.shape[0], a)

    c_trace = c.trace
    assert twice(a) == 24.0


def test_texts():
    c = un.c_module("""
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
int words(const char *s) {
    int n = 0, in = 0;
    for (; *s; s++) { if (isspace((unsigned char)*s)) in = 0; else if (!in) { in = 1; n++; } }
    return n;
}
int length(const unsigned char *s) { return strlen((const char *)s); }
int numbers(char *line, double *out, int most) {
    int n = 0;
    for (char *p = strtok(line, " ,"); p && n < most; p = strtok(NULL, " ,")) out[n++] = strtod(p, NULL);
    return n;
}
""")
    for _ in range(3):
        assert [c.words("one two  three"), c.words(b"a b"), c.words("")] == [3, 2, 0]
        assert c.length("h\u00e9") == 3 and c.length(b"ab\0cd") == 2
        assert c.words(np.frombuffer(b"x y z\0", np.uint8)) == 3
        assert c.words(np.frombuffer(b"x y z\0", np.int8)) == 3
    line, out = np.frombuffer(bytearray(b"1.5, 2.5 3e2\0"), np.uint8), np.zeros(5)
    assert c.numbers(line, out, 5) == 3 and out.tolist() == [1.5, 2.5, 300.0, 0.0, 0.0]
    for fixed in (b"1 2", "1 2"):
        with pytest.raises(TypeError, match="written through; got a read-only array"):
            c.numbers(fixed, out, 5)
    with pytest.raises(TypeError, match="float64 array"):
        c.words(out)


def test_complex_numbers():
    c = un.c_module("""
#include <complex.h>
void turn(int n, double complex *z) { for (int i = 0; i < n; i++) z[i] *= I; }
float first(const float complex z[]) { return cabsf(conjf(z[0])); }
void wave(int n, const double x[], double _Complex out[n]) { for (int i = 0; i < n; i++) out[i] = cexp(I * x[i]); }
double complex twice(double complex z) { return 2 * z; }
""")
    z = np.array([1 + 2j, 3.0])
    c.turn(2, z)
    assert z.tolist() == [-2 + 1j, 3j]
    assert c.first(np.array([3 + 4j], np.complex64)) == 5.0
    x = np.linspace(0.0, 3.0, 7)
    out = np.zeros(7, complex)
    c.wave(7, x, out)
    np.testing.assert_allclose(out, np.exp(1j * x), rtol=1e-15)
    assert c.twice(1j) == 2j
    with pytest.raises(TypeError, match="complex64 array"):
        c.turn(1, np.zeros(1, np.complex64))


def test_lists_tables_and_sorts():
    c = un.c_module("""
#include <math.h>
#include <stdlib.h>
struct node { double v; struct node *next; };
static struct node *head = NULL;
void push(double v) { struct node *n = malloc(sizeof *n); n->v = v; n->next = head; head = n; }
double pop(void) { if (!head) return -1; struct node *n = head; double v = n->v; head = n->next; free(n); return v; }
static double one(double x) { return x + 1; }
static double two(double x) { return x * 2; }
static double (*table[])(double) = {one, two};
static char *names[] = {"zero", "one"};
double through(int i, double x) { return table[i](x); }
int letter(int i, int k) { return names[i][k]; }
static int compare(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }
void sort(double *x, int n) { qsort(x, n, sizeof *x, compare); }
double bessel(double x) { return jn(1, x); }
""")
    for v in (1.0, 2.5, 4.0):
        c.push(v)
    assert [c.pop() for _ in range(4)] == [4.0, 2.5, 1.0, -1.0]
    assert [c.through(0, 3.0), c.through(1, 3.0)] == [4.0, 6.0]
    assert chr(c.letter(0, 0)) + chr(c.letter(1, 2)) == "ze"
    x = np.random.default_rng(0).random(50)
    expected = np.sort(x)
    c.sort(x, 50)
    assert np.array_equal(x, expected)
    assert abs(c.bessel(1.5) - 0.5579365079100996) < 1e-15


def test_what_nobody_defines():
    c = un.c_module(
        "double nowhere_defined(double); double f(double x) { return nowhere_defined(x); }"
    )
    with pytest.raises(un.CompileError, match="uses 'nowhere_defined', which neither it nor"):
        c.f(1.0)
