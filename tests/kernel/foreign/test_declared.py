"""Functions of C declared by name and linked beside their callers, as Numba's ``declare_device``."""

import numpy as np
import pytest
import unisono as un

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
    with pytest.raises(TypeError, match="returns a number or nothing"):
        un.declare_device("bar", "(int32, int32)")
