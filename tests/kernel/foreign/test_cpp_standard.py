"""cpp_module: texts, vectors, complex numbers and callbacks, which pass by value."""

import ctypes
import os

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.skipif(
    not os.path.isdir("/usr/include/c++"), reason="no headers of C++ here"
)

TEXT = """
#include <complex>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

std::string joined(const std::vector<std::string>& parts, std::string by) {
    std::string all;
    for (std::size_t k = 0; k < parts.size(); ++k) all += (k ? by : "") + parts[k];
    return all;
}
std::vector<std::string> letters(const std::string& s) {
    std::vector<std::string> made;
    for (char c : s) made.push_back(std::string(1, c));
    return made;
}
double sum(const std::vector<double>& v) { double s = 0; for (double x : v) s += x; return s; }
std::vector<int> upto(int n) {
    if (n < 0) throw std::invalid_argument("negative");
    std::vector<int> made;
    for (int k = 0; k < n; ++k) made.push_back(k);
    return made;
}
const char* kind(const std::vector<float>&) { return "floats"; }
const char* kind(const std::vector<long>&) { return "longs"; }
std::complex<double> square(std::complex<double> z) { return z * z; }
std::complex<float> half(const std::complex<float>& z) { return z / 2.0f; }
double applied(double (*f)(double), double x) { return f(x); }
double wrapped(const std::function<double(double)>& f, double x) { return f(x); }

class Tag {
    std::string hidden;
public:
    std::string name;
    std::vector<double> values;
    const int id = 7;
    Tag(std::string name) : hidden(name), name(name) {}
    const std::string& first() const { return hidden; }
};
"""


@pytest.fixture(scope="module")
def m():
    return un.cpp_module(TEXT)


def test_texts(m):
    assert m.joined(["a", "bcd", ""], "--") == "a--bcd--"
    assert m.joined([], "x") == ""
    assert m.letters("abc") == ["a", "b", "c"]
    assert m.joined(["e\u0301\0z"], b"") == "e\u0301\0z"
    with pytest.raises(TypeError, match="no overload takes these arguments"):
        m.joined("abc", "x")


def test_vectors(m):
    assert m.sum(np.arange(5.0)) == 10.0
    assert m.sum(un.arange(5.0)) == 10.0
    assert m.sum([1, 2.5]) == 3.5
    assert m.sum([]) == 0.0
    assert m.sum(np.arange(10)[::2]) == 20.0
    made = m.upto(3)
    assert made.tolist() == [0, 1, 2] and made.dtype == np.int32
    assert m.upto(0).tolist() == []
    assert m.kind(np.zeros(1, np.float32)) == "floats"
    assert m.kind(np.zeros(1, np.int64)) == "longs"
    with pytest.raises(ValueError, match="negative"):
        m.upto(-1)
    with pytest.raises(TypeError, match="no overload takes these arguments"):
        m.sum(np.zeros((2, 2)))


def test_complex_numbers(m):
    assert m.square(1 + 2j) == (1 + 2j) ** 2
    assert m.square(3) == 9
    assert m.half(2 + 4j) == 1 + 2j


def test_callbacks(m):
    @un.jit
    def tripled(x):
        return 3 * x

    assert m.applied(tripled, 2.0) == 6.0
    assert m.wrapped(un.cfunc("float64(float64)")(lambda x: x + 1), 2.0) == 3.0
    plain = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: -x)
    assert m.applied(plain, 2.0) == -2.0
    with pytest.raises(TypeError, match="pass a function made by un.cfunc or un.jit"):
        m.applied(lambda x: x, 1.0)


def test_members(m):
    t = m.Tag("first")
    t.name = "second"
    t.values = [1.0, 2.0]
    assert (t.first(), t.name, t.values.tolist(), t.id) == ("first", "second", [1.0, 2.0], 7)
    with pytest.raises(AttributeError):
        t.id = 8


def test_vectors_in_compiled_functions(m):
    @un.jit
    def total(a):
        return m.interface.sum(a, len(a))

    assert total(np.arange(4.0)) == 6.0
