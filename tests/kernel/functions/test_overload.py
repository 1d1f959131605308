"""Implementations that compiled code calls in place of functions that it does not know."""

import statistics

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def slow_norm(values, p=2):
    return float(np.sum(np.abs(values) ** p) ** (1 / p))


@un.overload(slow_norm)
def norm_implementation(values, p=2):
    if isinstance(values, float):
        return abs(values)
    s = 0.0
    for i in range(len(values)):
        s += abs(values[i]) ** p
    return s ** (1 / p)


def test_called_in_compiled_code():
    @un.jit
    def f(a):
        return slow_norm(a) + slow_norm(a, p=1) + slow_norm(-2.0)

    a = np.array([3.0, -4.0])
    assert f(a) == 5.0 + 7.0 + 2.0
    assert slow_norm(a) == 5.0  # Python's stays what it was


def test_of_other_modules_and_by_attribute():
    @un.overload(statistics.median_low, fastmath=False)
    def median_low(values):
        return values[0]

    @un.jit
    def f(t):
        return statistics.median_low(t)

    assert f((4.0, 5.0)) == 4.0


def test_refused():
    with pytest.raises(TypeError, match="only functions have implementations"):
        un.overload(3)
    with pytest.raises(TypeError):
        un.overload(slow_norm)(3)
    with pytest.raises(TypeError, match="unknown keyword 'fast'"):
        un.overload(slow_norm, fast=True)(norm_implementation)


def test_an_implementation_may_return_the_function_that_works():
    def halved(x, by=2):
        raise NotImplementedError

    @un.overload(halved)
    def implementation(x, by=2):
        if isinstance(x, (int, np.integer)):
            return lambda x, by=2: x // by
        if isinstance(x, float):

            def divided(x, by=2):
                return x / by

            return divided
        return None

    @un.jit
    def f(x):
        return halved(x)

    @un.jit
    def g(x):
        return halved(x, 4)

    assert (f(5), f(5.0), g(9), f("text")) == (2, 2.5, 2, None)


def test_where_no_implementation_is_chosen_the_next_is_called():
    def shown(x):
        return "Python's"

    @un.overload(shown)
    def of_integers(x):
        if isinstance(x, int):
            return lambda x: x + 1

    @un.overload(shown)
    def of_floats(x):
        if isinstance(x, float):

            def double(x):
                return x * 2

            return double

    @un.jit
    def f(x):
        return shown(x)

    assert (f(3), f(2.5)) == (4, 5.0)
    with pytest.raises(
        un.CompileError, match="'shown' cannot be called .* implementations return none"
    ):
        f(np.ones(2))


def test_what_the_compiler_knows_itself_stays_known(monkeypatch):
    from unisono._jit import overload as state

    monkeypatch.setattr(state, "_known", dict(state._known))

    @un.overload(len)
    def length(x):
        if isinstance(x, float):
            return lambda x: 42

    @un.overload(np.cumsum)
    def sums(x):
        if isinstance(x, float):
            return lambda x: -x

    @un.jit
    def f(x, y):
        return len(x), len(y), np.cumsum(x), np.cumsum(y)

    got = f(2.0, np.arange(3.0))
    assert got[:3] == (42, 3, -2.0) and got[3].tolist() == [0, 1, 3]


def test_options_in_numbas_spelling():
    def quarter(x):
        return x / 4

    @un.overload(quarter, jit_options={"error_model": "numpy"}, strict=False, inline="never")
    def quarter_compiled(x):
        return lambda x: 1 / (x - x)

    @un.jit
    def f(x):
        return quarter(x)

    assert f(2.0) == np.inf
    with pytest.raises(TypeError, match="overload: unknown keyword 'speed'"):
        un.overload(quarter, jit_options={"speed": 1})(lambda x: x)


def sum_of_squares(a):
    s = 0.0
    for x in a.flat:
        s += x * x
    return s


def test_functions_beside_an_implementation_are_chosen():
    def squares(a):
        raise NotImplementedError

    by_rows = un.jit(lambda a: (a * a).sum())

    @un.overload(squares)
    def squares_compiled(a):
        if isinstance(a, float):
            return lambda a: a * a
        if isinstance(a, un.types.Array) and a.ndim == 1:
            return sum_of_squares
        elif isinstance(a, un.types.Array):
            return by_rows

    @un.jit
    def f(a):
        return squares(a) + 1

    assert (f(3.0), f(np.arange(3.0)), f(np.ones((2, 2)))) == (10.0, 6.0, 5.0)
