"""Functions of C text in loops that run on the device of their arrays."""

import numpy as np
import pytest
import unisono as un


@pytest.fixture(autouse=True)
def translated(request):
    if str(
        request.getfixturevalue("device") if "device" in request.fixturenames else ""
    ).startswith("cuda"):
        pytest.skip("functions of C text are not compiled for CUDA devices")


c = un.c_module("""
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define STEPS 20
typedef struct { double low, high; } Range;

static double clamp(double x, Range r) { return x < r.low ? r.low : x > r.high ? r.high : x; }
double between(double x, double low, double high) { Range r = {low, high}; return clamp(x, r); }

double horner(const double* factors, int n, double x) {
    double s = 0;
    for (int k = n - 1; k >= 0; --k) s = s * x + factors[k];
    return s;
}

void scale(double* row, long n, double by) {
    for (long k = 0; k < n; ++k) row[k] *= by;
}

static const int32_t primes[] = {2, 3, 5, 7, 11, 13};
uint32_t mixed(uint32_t x, int8_t shift) {
    switch (shift & 3) {
    case 0: x ^= x << 13; break;
    case 1: x = (x >> 7) | (x << 25); break;
    case 2: x += (uint32_t)primes[x % 6];
    default: x = (uint32_t)((int32_t)x / 3);
    }
    return x;
}

int64_t sorted_middle(const int64_t* x) {
    int64_t t[5];
    memcpy(t, x, sizeof t);
    for (int i = 1; i < 5; ++i)
        for (int j = i; j > 0 && t[j - 1] > t[j]; --j) { int64_t s = t[j]; t[j] = t[j - 1]; t[j - 1] = s; }
    return t[2];
}

int escapes(double re, double im) {
    double x = 0, y = 0;
    int n = 0;
    do {
        double t = x * x - y * y + re;
        y = 2 * x * y + im;
        x = t;
    } while (++n < STEPS && x * x + y * y < 4);
    return n;
}

float root(float x) { return sqrtf(fabsf(x)); }
double allocated(int n) { double* p = malloc(8 * n); p[0] = n; double s = p[0]; free(p); return s; }
static int64_t calls;
int64_t counted(int64_t x) { return x + ++calls; }
int64_t depth(int64_t n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
""")


@un.jit
def elements(x, k, out, ints):
    for i in un.prange(len(x)):
        out[i] = c.between(x[i], 0.2, 0.8) + c.escapes(x[i], 0.3)
        ints[i] = c.mixed(k[i], np.int8(i % 4))


@un.jit
def polynomial(factors, x, out):
    for i in un.prange(len(x)):
        out[i] = c.horner(factors, len(factors), x[i]) + c.root(np.float32(x[i]))


@un.jit
def rows(a, by):
    for i in un.prange(a.shape[0]):
        c.scale(a[i], a.shape[1], by + i)


@un.jit
def medians(a, out):
    for i in un.prange(len(out)):
        t = np.zeros(5, np.int64)
        for j in range(5):
            t[j] = a[i + j]
        out[i] = c.sorted_middle(t) + c.sorted_middle(a[i : i + 5])


def test_c_functions_have_the_host_s_bits(device):
    rng = np.random.default_rng(3)
    x, k = rng.random(100) * 2 - 0.5, rng.integers(0, 2**32, 100, dtype=np.uint32)
    calls = [
        (elements, x, k, np.zeros(100), np.zeros(100, np.uint32)),
        (polynomial, rng.random(5), x, np.zeros(100)),
        (rows, rng.random((6, 7)), 1.5),
        (medians, rng.integers(-50, 50, 104), np.zeros(100, np.int64)),
    ]
    for f, *arguments in calls:
        there = [
            un.asarray(a.copy(), device=device) if isinstance(a, np.ndarray) else a
            for a in arguments
        ]
        f(*there)
        f(*arguments)
        for a, b in zip(arguments, there, strict=True):
            if isinstance(a, np.ndarray):
                np.testing.assert_array_equal(np.asarray(b.to_device("cpu")), a)


bar = un.declare_device("bar", "int32(int32, int32)")


@un.jit(link=["int bar(int *result, int a, int b) { *result = a * b; return a > 90; }"])
def declared(out):
    for i in un.prange(len(out)):
        out[i] = bar(i, 2)


def test_declared_functions(device):
    there = un.zeros(50, np.int32, device=device)
    declared(there)
    assert np.asarray(there.to_device("cpu")).tolist() == list(range(0, 100, 2))


@pytest.mark.parametrize(
    "name, what",
    [
        ("allocated", "allocated: .* calls '(malloc|free)', which devices do not have"),
        ("counted", "counted: .*(converts an address|makes one of a number|variable)"),
        ("depth", "depth: .* calls itself"),
    ],
)
def test_the_host_runs_c_functions_that_devices_lack(device, name, what):
    f = getattr(c, name)

    @un.jit
    def work(out):
        for i in un.prange(len(out)):
            out[i] = f(i)

    out, expected = un.zeros(4, device=device), un.zeros(4)
    if str(device) == "cpu" and name == "counted":
        return
    if str(device) != "cpu":
        with pytest.warns(RuntimeWarning, match=f"(?s)runs on the host.*{what}"):
            work(out)
    if name == "counted":
        return
    work(out)
    work(expected)
    assert out.tolist() == expected.tolist()
