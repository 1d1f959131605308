"""cpp_module: classes and functions of C++, in memory and of shared libraries."""

import gc
import shutil
import subprocess

import numpy as np
import pytest
import unisono as un

SHAPES = """
#include <cmath>
#include <cstdint>
#include <cstring>

enum Kind { ROUND = 3, FLAT };
int alive = 0;
int living() { return alive; }

namespace geometry {

class Shape {
public:
    double scale = 1.0;
    Shape() { ++alive; }
    Shape(const Shape& other) : scale(other.scale) { ++alive; }
    virtual ~Shape() { --alive; }
    virtual double area() const = 0;
    double scaled() const { return area() * scale; }
    Shape& set(double s) { scale = s; return *this; }
};

class Circle : public Shape {
    double r;
public:
    explicit Circle(double r) : r(r) {}
    double area() const override { return 3.0 * r * r; }
    static int count() { return alive; }
    Circle bigger(double by = 1.0) const { return Circle(r + by); }
    bool operator==(const Circle& other) const { return r == other.r; }
    double operator()(int n) const { return r * n; }
};

class Square final : public Shape {
public:
    std::int32_t side;
    Square(int side) : side(side) {}
    Square(int a, int b) : side(a * b) {}
    double area() const override { return side * side; }
};

double total(const Shape& a, const Shape* b) { return a.area() + (b ? b->area() : 0); }
inline double root(double x) { return std::sqrt(x); }
}

const char* name(int x) { return "int"; }
const char* name(double x) { return "double"; }
const char* name(bool x) { return "bool"; }
const char* name(const double* x, int n) { return "array"; }
int length(const char* text) { return (int) std::strlen(text); }
void fill(double* x, int n, double v) { for (int i = 0; i < n; ++i) x[i] = v; }
void twice(double& x) { x *= 2; }
double plain(const double& x) { return x; }
"""


@pytest.fixture(scope="module")
def m():
    return un.cpp_module(SHAPES)


def test_objects_live_as_long_as_pythons(m):
    before = m.living()
    c = m.Circle(2.0)
    s = m.Square(3)
    assert m.living() == before + 2 == m.Circle.count()
    assert (c.area(), s.area(), s.side) == (12.0, 9.0, 3)
    s.side = 4
    assert s.area() == 16.0
    assert isinstance(c, m.Shape)
    assert c.scaled() == 12.0
    assert c.set(0.5) is c and c.scaled() == 6.0 and c.scale == 0.5
    big = c.bigger()
    assert big.area() == 27.0 and c.bigger(2.0).area() == 48.0
    assert big == m.Circle(3.0) and not big == c
    assert c(5) == 10.0
    del big, c, s
    gc.collect()
    assert m.living() == before


def test_overloads(m):
    assert (m.name(1), m.name(1.0), m.name(True)) == ("int", "double", "bool")
    assert m.name(np.ones(2), 2) == "array"
    assert (m.name(np.int64(3)), m.name(np.float32(3))) == ("int", "double")
    assert m.Square(2, 3).side == 6
    assert m.total(m.Circle(1.0), m.Square(2)) == 7.0
    assert m.total(m.Circle(1.0), None) == 3.0
    with pytest.raises(
        TypeError, match="no overload takes these arguments; got \\(str\\).*it has .*name\\(int"
    ):
        m.name("text")
    with pytest.raises(TypeError, match="no overload takes these.*got \\(float, float\\)"):
        m.total(1.0, 2.0)
    with pytest.raises(TypeError, match="Shape: cannot be constructed: it is abstract"):
        m.Shape()


def test_numbers_text_and_arrays(m):
    assert m.root(9.0) == 3.0 and m.plain(4) == 4.0
    assert m.length("three") == 5
    x = np.zeros(4)
    m.fill(x, 3, 2.5)
    assert x.tolist() == [2.5, 2.5, 2.5, 0.0]
    m.twice(x)
    assert x[0] == 5.0
    assert (m.ROUND, m.FLAT) == (3, 4)
    with pytest.raises(TypeError, match="fill: argument 'x' is a pointer .*float32"):
        m.fill(np.zeros(3, "float32"), 3, 1.0)
    with pytest.raises(OverflowError, match="does not fit in C's int"):
        m.Square(2**40)


def test_in_compiled_functions(m):
    @un.jit
    def f(x):
        return m.root(x) + m.interface.root(16.0)

    assert f(9.0) == 7.0
    c = m.Circle(2.0)

    @un.jit
    def areas(address, n):
        total = 0.0
        for i in range(n):
            m.interface.Shape_set(address, float(i))
            total += m.interface.Circle_scaled(address)
        return total

    assert areas(int(c), 4) == 12.0 * 6 and c.scale == 3.0


def test_text_that_does_not_compile():
    with pytest.raises(un.CompileError, match="<cpp_module>:2:.*use of undeclared"):
        un.cpp_module("int f() {\n return y; }")
    with pytest.raises(un.CompileError, match="the text declares no class and no function"):
        un.cpp_module("// nothing")
    with pytest.raises(un.CompileError, match="objects of classes, which are made before"):
        un.cpp_module("int g(); struct A { int x; A() : x(g()) {} }; A a; int g() { return a.x; }")
    with pytest.raises(TypeError, match="takes C\\+\\+ text or a path"):
        un.cpp_module(3)


HEADER = """
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace bank {
class Account {
    std::vector<double> history;
public:
    Account(double start);
    ~Account();
    void pay(double amount);
    double balance() const noexcept;
    double at(int k) const;
    std::size_t size() const { return history.size(); }
    std::string owner() const;
    void rename(const std::string& name);
    void odd() const;
};
int open();
}
"""

LIBRARY = """
#include "bank.hpp"
static int live = 0;
namespace bank {
Account::Account(double start) { if (start < 0) throw std::invalid_argument("a debt"); history.push_back(start); ++live; }
Account::~Account() { --live; }
void Account::pay(double amount) {
    if (amount > history.back()) throw std::runtime_error("not enough");
    history.push_back(history.back() - amount);
}
double Account::balance() const noexcept { return history.back(); }
double Account::at(int k) const { return history.at(k); }
std::string Account::owner() const { return "me"; }
void Account::rename(const std::string&) {}
void Account::odd() const { throw 7; }
int open() { return live; }
}
"""


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    compiler = shutil.which("g++")
    if not compiler:
        pytest.skip("no g++")
    folder = tmp_path_factory.mktemp("bank")
    (folder / "bank.hpp").write_text(HEADER)
    (folder / "bank.cpp").write_text(LIBRARY)
    library = folder / "libbank.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "bank.cpp"], check=True)
    return un.cpp_module(folder / "bank.hpp", libraries=[library])


def test_a_library_and_its_header(bank):
    a = bank.Account(10.0)
    a.pay(3.0)
    assert (a.balance(), a.at(0), a.size(), bank.open()) == (7.0, 10.0, 2, 1)
    del a
    gc.collect()
    assert bank.open() == 0


def test_exceptions_of_a_library(bank):
    with pytest.raises(ValueError, match="^a debt"):
        bank.Account(-1.0)
    a = bank.Account(1.0)
    with pytest.raises(RuntimeError, match="std::runtime_error: not enough"):
        a.pay(5.0)
    with pytest.raises(IndexError):
        a.at(9)
    with pytest.raises(RuntimeError, match="threw an object of type int"):
        a.odd()
    assert a.balance() == 1.0

    @un.jit
    def paid(address, amount):
        try:
            bank.interface.Account_pay(address, amount)
        except RuntimeError:
            return -1.0
        return bank.interface.Account_balance(address)

    assert paid(int(a), 5.0) == -1.0 and paid(int(a), 0.25) == 0.75

    @un.jit
    def fails(address):
        bank.interface.Account_at(address, 40)

    with pytest.raises(IndexError):
        fails(int(a))


def test_texts_of_a_library(bank):
    a = bank.Account(1.0)
    a.rename("x")
    assert a.owner() == "me"


def test_containers_that_are_not_carried_are_refused():
    m = un.cpp_module(
        "#include <map>\n#include <vector>\n"
        "int size(const std::map<int, int>& m) { return m.size(); } void fill(std::vector<double>& v) { v.clear(); }"
    )
    with pytest.raises(TypeError, match="takes const std::map<.*write a C\\+\\+ function around"):
        m.size({})
    with pytest.raises(TypeError, match="which it may change"):
        m.fill(np.zeros(2))


def test_functions_of_float():
    m = un.cpp_module(
        "#include <cmath>\nfloat f(float x) { return std::sqrt(x) + std::pow(x, 2.0f); }"
    )
    assert m.f(4.0) == 18.0


def test_constants_and_headers_that_ask_for_gcc():
    m = un.cpp_module("""
        #include <functional>
        #include <memory>
        constexpr int limit = 7;
        namespace physics { const double c = 2.5; constexpr float h = 0.5f; const char* const unit = "m/s"; }
        static const int primes[] = {2, 3, 5};
        double apply(double x) { auto p = std::make_unique<double>(x); std::function<double(double)> f = [](double v) { return 2 * v; }; return f(*p); }
    """)
    assert (m.limit, m.c, m.h, m.unit, m.primes.tolist()) == (7, 2.5, 0.5, "m/s", [2, 3, 5])
    assert m.apply(1.5) == 3.0
    assert un.jit(lambda i: m.primes[i] * m.c + m.limit)(1) == 14.5
