"""Functions inside that assign names of the function around them: one body, with CPython and compiled."""

import functools

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def counts(n):
    count = 0

    def more(k):
        nonlocal count
        count += k
        return count

    made = [more(i) for i in range(n)]
    total = count + more(1) + count * more(2)
    while more(1) < 40 and more(3) > 0:
        pass
    return count, made, total


def searches(n):
    seen = 0
    best = None
    total = 0

    def visit(u, depth):
        nonlocal seen, best, total
        seen += 1
        if best is None or depth > best:
            best = depth
        total += depth * 0.5
        if u < n:
            visit(u + 1, depth + 1)
            visit(u + 2, depth + 3)

    visit(0, 0)
    return seen, best, total


def through_another(n):
    x = 1.0
    name = "a"

    def set_x(v):
        nonlocal x, name
        x = v
        name += "b"

    def show():
        return x * 10

    def both(v):
        set_x(v)
        before = show()
        set_x(v * 2)
        return before, x, show()

    seen = both(n)
    return x, seen, name, show()


def two_deep(n):
    x = 0

    def middle():
        def inner(k):
            nonlocal x
            x += k

        for i in range(n):
            inner(i)
        return x * 2

    return middle(), x, middle()


def grows(n):
    a = np.zeros(3)

    def grow():
        nonlocal a
        a = np.concatenate((a, a + 1))
        if n > 100:
            return
        a = a * 2

    grow()
    grow()
    return float(a.sum()), len(a)


def conditions(n):
    x = 0

    def f(k):
        nonlocal x
        x += k
        return x > 3

    def reads(k):
        return x * 100 + k

    a = [k for k in range(n) if f(k)]
    b = f(1) or f(2)
    c = f(2) if f(1) else f(3)
    return a, b, c, x, sum(1 for k in range(n) if f(k)), any(f(i) for i in range(3)), reads(f(1))


def not_evaluated(n):
    x = 0

    def f(k):
        nonlocal x
        x += k
        return x > 3

    a = n > 3 or f(2)
    b = n > 4 and f(20)
    c = f(300) if n > 100 else n > 2
    while n > 0 and not f(1):
        n -= 1
    return x, a, b, c


@pytest.mark.parametrize(
    "f",
    [
        counts,
        pytest.param(searches, marks=pytest.mark.host_only("recursion")),
        through_another,
        two_deep,
        grows,
        conditions,
        not_evaluated,
    ],
    ids=lambda f: f.__name__,
)
def test_nonlocal(f):
    compiled = un.jit(f)
    for n in (5, 3, 0):
        assert compiled(n) == f(n)


def named_in_operands(n):
    x = s = 0
    for i in range(n):
        s += x + (x := x + i) + x
        t = (x, (x := x + 1), x)
        s += t[0] * 100 + t[2]
    return s, x


def test_an_operand_keeps_the_value_from_before():
    assert un.jit(named_in_operands)(5) == named_in_operands(5)


def tried(n):
    x = None

    def f(k):
        nonlocal x
        x = k

    try:
        f(n)
    except ValueError:
        pass
    return x


def passed(n):
    x = 0

    def f(k):
        nonlocal x
        x += k

    def apply(g):
        g(1)

    apply(f)
    return x + n


def in_a_lambda(n):
    x = 0

    def f(k):
        nonlocal x
        x += k
        return x

    h = lambda z: f(z)  # noqa: E731
    return h(n)


def in_a_chain(n):
    x = 0

    def f(k):
        nonlocal x
        x += k
        return x

    return 0 < n < f(n), x


def around():
    x = 0

    def inside(n):
        nonlocal x
        x += n
        return x

    return inside


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (tried, "called in a try"),
        (passed, "as a value"),
        (in_a_lambda, "called in a lambda"),
        (in_a_chain, "in a chain"),
        (around(), "of a function that is not compiled"),
    ],
    ids=["try", "value", "lambda", "chain", "around"],
)
def test_refused(f, text):
    with pytest.raises(un.CompileError, match=text) as e:
        un.jit(f)(3)
    assert "what to do" in str(e.value)


def shared_out(n):
    x = 0

    def f(k):
        nonlocal x
        x += k

    for i in un.prange(n):
        f(i)
    return x


def test_iterations_do_not_wait_for_each_other():
    with pytest.raises(un.CompileError, match="from another iteration"):
        un.jit(shared_out)(4)


def test_what_is_read_before_a_call_assigns_it(n=5):
    def added_to():
        x = 1

        def f(k):
            nonlocal x
            x += k
            return k

        for _ in range(5):
            x += f(3)
        return x

    def element():
        a, i = np.zeros(9), 1

        def f(k):
            nonlocal i
            i += k
            return 2

        a[i] += f(3)
        a[f(1)] = i
        return a

    def argument():
        x = 1

        def w(k):
            nonlocal x
            x = k
            return 1

        def r(k):
            return x + k

        return r(w(5)), r(x := 7)

    for f in (added_to, element, argument):
        np.testing.assert_array_equal(un.jit(f)(), f())


def test_other_variables_of_the_same_name_are_refused():
    @un.jit
    def shadowed():
        x = 0

        def inc():
            nonlocal x
            x += 1

        def g(x):
            inc()
            return x

        return g(10), x

    with pytest.raises(un.CompileError, match="where the name means another variable"):
        shadowed()


def test_functions_that_are_not_plain_are_refused_above_their_definitions():
    @un.jit
    def later():
        x = 1

        def a(k):
            nonlocal x
            x = k
            return b() * 10

        if x == 1:

            def b():
                return x
        else:

            def b():
                return -x

        return a(5)

    @un.jit
    def circle(n):
        @functools.cache
        def even(k):
            return True if k == 0 else odd(k - 1)

        def odd(k):
            return False if k == 0 else even(k - 1)

        return even(n)

    with pytest.raises(un.CompileError, match="called above its definition"):
        later()
    with pytest.raises(un.CompileError, match="call each other in a circle"):
        circle(3)


def parses_in_a_try(s):
    pos = 0

    def expression():
        nonlocal pos
        if pos >= len(s):
            raise IndexError("end")
        if s[pos] == "(":
            pos += 1
            return inside()
        if s[pos] == "x":
            return 10
        raise ValueError(f"at {pos}")

    def inside():
        return expression() + 1

    try:
        return expression(), pos
    except ValueError:
        return -1, pos
    except IndexError:
        return -2, pos


def counts_in_tries(n):
    count, seen = 0, [0]
    total = 0.5
    name = ""

    def f(k):
        nonlocal count, total, name
        count += 1
        total += k
        if k % 3 == 0:
            raise KeyError("three")
        name += "abc"[k % 3]
        return k

    def g(count):
        f(2 * count)
        return count

    def h():
        count = 10

        def inner():
            nonlocal count
            count += 1

        inner()
        return count

    for i in range(n):
        try:
            seen[0] += f(i) + g(i)
        except KeyError:
            seen[0] -= 1
        finally:
            count += 100
    return seen, count, total, name, h()


@pytest.mark.host_only("a new array inside of try")
def test_what_was_assigned_before_an_exception_stays():
    parses = un.jit(parses_in_a_try)
    for text in ("((x", "((y", "(((", ""):
        assert parses(text) == parses_in_a_try(text)
    counted = un.jit(counts_in_tries)
    for n in (7, 0):
        assert counted(n) == counts_in_tries(n)
