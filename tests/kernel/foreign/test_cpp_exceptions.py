"""Exceptions of C++ text: caught in it, or Python's; objects on the way are destroyed."""

from pathlib import Path

import numpy as np
import pytest
import unisono as un

TEXT = """
struct Odd { int code; };
struct Worse : Odd { Worse() : Odd{7} {} };

int alive = 0;
int living() { return alive; }
struct Guard { Guard() { ++alive; } ~Guard() { --alive; } };

int checked(int x) {
    Guard outer;
    if (x < 0) throw x;
    return x;
}
double deep(double x, int depth) {
    Guard one;
    if (depth > 0) return deep(x, depth - 1) + 1;
    if (x > 100) throw Worse();
    if (x > 10) throw Odd{3};
    return x;
}
int handled(double x) noexcept {
    try {
        return static_cast<int>(deep(x, 3));
    } catch (const Worse&) {
        return -2;
    } catch (Odd& o) {
        return -o.code;
    } catch (...) {
        return -100;
    }
}
int again(int x) {
    try {
        return checked(x);
    } catch (int code) {
        if (code < -10) throw;
        throw Odd{code};
    }
}
class Account {
    double money;
public:
    explicit Account(double start) : money(start) { if (start < 0) throw 1.5; }
    double take(double some) { if (some > money) throw Odd{1}; money -= some; return money; }
};
"""


@pytest.fixture(scope="module")
def text():
    return un.cpp_module(TEXT)


def test_thrown_and_caught(text):
    for _ in range(3):
        assert text.checked(4) == 4 and text.living() == 0
        with pytest.raises(RuntimeError, match="C.. threw an object of type int"):
            text.checked(-1)
        with pytest.raises(RuntimeError, match="type Odd"):
            text.deep(11.0, 4)
        with pytest.raises(RuntimeError, match="type Worse"):
            text.deep(101.0, 4)
        assert [text.handled(x) for x in (5.0, 50.0, 500.0)] == [8, -3, -2]
        with pytest.raises(RuntimeError, match="type int"):
            text.again(-11)
        with pytest.raises(RuntimeError, match="type Odd"):
            text.again(-1)
        assert text.living() == 0 and text.again(3) == 3


def test_objects(text):
    with pytest.raises(RuntimeError, match="type double"):
        text.Account(-1.0)
    account = text.Account(5.0)
    assert account.take(2.0) == 3.0
    with pytest.raises(RuntimeError, match="type Odd"):
        account.take(4.0)
    assert account.take(3.0) == 0.0


def test_in_compiled_functions(text):
    checked, handled = text.checked, text.handled

    @un.jit
    def total(x):
        s = 0
        for i in range(x.shape[0]):
            s += checked(x[i])
        return s

    @un.jit
    def tried(x):
        bad = 0
        for i in range(x.shape[0]):
            try:
                checked(x[i])
            except RuntimeError:
                bad += 1
        return bad

    @un.jit
    def everywhere(x, y):
        for i in un.prange(x.shape[0]):
            y[i] = handled(x[i])

    x = np.array([1, 2, -3, 4, -5], np.int32)
    assert total(x[:2]) == 3 and tried(x) == 2
    with pytest.raises(RuntimeError, match="type int"):
        total(x)
    assert total(x[:2]) == 3
    given = np.tile([5.0, 50.0, 500.0], 2000)
    got = np.zeros(6000, np.int64)
    everywhere(given, got)
    assert np.array_equal(got, np.tile([8, -3, -2], 2000)) and text.living() == 0


@pytest.mark.skipif(not Path("/usr/include/c++").exists(), reason="no headers of a C++ library")
def test_classes_of_the_library():
    c = un.cpp_module("""
#include <stdexcept>
#include <string>
#include <vector>
struct Mine : std::runtime_error { Mine() : std::runtime_error("of mine") {} };
double root(double x) {
    std::vector<double> some(8, x);
    if (x < 0) throw std::invalid_argument("negative: " + std::to_string(some.at(7)));
    if (x > 100) throw std::out_of_range("too large");
    if (x == 1) throw Mine();
    return some[3];
}
int length(int n) {
    try {
        root(n);
    } catch (const std::exception& e) {
        return static_cast<int>(std::string(e.what()).size());
    }
    return 0;
}
""")
    assert c.root(4.0) == 4.0
    with pytest.raises(ValueError, match="^negative: -2.000000"):
        c.root(-2.0)
    with pytest.raises(IndexError, match="^too large"):
        c.root(101.0)
    with pytest.raises(RuntimeError, match="^Mine: of mine"):
        c.root(1.0)
    assert [c.length(n) for n in (4, 101, 1)] == [0, 9, 7]
    with pytest.raises(un.CompileError) as refused:
        un.cpp_module("#include <vector>\nint f(int x) {\n    return y;\n}\n")
    assert "<cpp_module>:3:12: error: use of undeclared identifier 'y'" in str(refused.value)
    assert "warning" not in str(refused.value)
