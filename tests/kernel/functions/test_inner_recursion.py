"""Functions inside that call each other in a circle: one body, with CPython and compiled."""

import copy

import pytest
import unisono as un


def calculates(s):
    tokens = [s[i] for i in range(len(s)) if s[i] != " "] + ["$"]
    pos = 0

    def peek():
        return tokens[pos]

    def advance():
        nonlocal pos
        t = tokens[pos]
        pos += 1
        return t

    def expression():
        v = term()
        while peek() in ("+", "-"):
            op = advance()
            right = term()
            v = v + right if op == "+" else v - right
        return v

    def term():
        v = factor()
        while peek() in ("*", "/"):
            if advance() == "*":
                v = v * factor()
            else:
                v = v / factor()
        return v

    def factor():
        t = advance()
        if t == "(":
            v = expression()
            if advance() != ")":
                raise ValueError("expected )")
            return v
        return -factor() if t == "-" else float(t)

    v = expression()
    if peek() != "$":
        raise ValueError(f"unexpected {peek()}")
    return v


def reads_what_is_defined_below(s):
    pos = 0
    out = []

    def value(depth):
        if s[pos] == "[":
            array(depth + 1)
        else:
            number(depth)

    def array(depth):
        skip()
        while s[pos] != "]":
            value(depth)
            if s[pos] == ",":
                skip()
        skip()

    def number(depth):
        start = pos
        while pos < len(s) and s[pos].isdigit():
            skip()
        out.append((int(s[start:pos]), depth))

    def skip():
        nonlocal pos
        pos += 1

    value(0)
    return out, pos


def own_variables_of_the_same_names(n, log):
    def a(k):
        log.append(k)
        if k > 0:
            return b(k - 1) + n
        return 0

    def b(n):
        log = n * 2
        if n > 0:
            return a(n - 1) + log
        return 1

    return a(n), b(n), log


def changes_lists_behind_own_names(n):
    out = []

    def a(k):
        if k > 0:
            b(k - 1)
        out.append(k)

    def b(out):
        if out > 0:
            a(out - 1)

    a(n)
    b(n)
    return out


def circles_inside_of_functions(n):
    total = 0

    def outer(m):
        count = 0

        def p(k):
            nonlocal count, total
            count += 1
            total += k
            if k > 0:
                q(k - 1)

        def q(k):
            nonlocal count
            count += 10
            if k > 0:
                p(k - 1)

        p(m)
        return count

    return [outer(i) for i in range(n)], total


def two_circles(n):
    def a(k):
        return 1 if k <= 0 else b(k - 1) + x(k - 2)

    def b(k):
        return 2 if k <= 0 else a(k - 1)

    def x(k):
        return 3 if k <= 0 else y(k - 1)

    def y(k):
        return 4 if k <= 0 else x(k - 2)

    return a(n)


def too_deep(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), odd(n)


@pytest.mark.parametrize(
    ("f", "calls"),
    [
        (calculates, [("2 * (3 + 4) - 8 / -(1 + 1)",), ("2 * (3",), ("1 + 2)",), ("1 / 0",)]),
        (reads_what_is_defined_below, [("[1,[22,[3]],44]",), ("7",)]),
        (own_variables_of_the_same_names, [(7, [0]), (0, [])]),
        (changes_lists_behind_own_names, [(6,)]),
        (circles_inside_of_functions, [(6,)]),
        (two_circles, [(12,)]),
        (too_deep, [(10,), (-1,)]),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_circles_inside(f, calls):
    compiled = un.jit(f)
    for args in calls:
        try:
            expected = f(*copy.deepcopy(args))
        except Exception as error:
            with pytest.raises(type(error)) as e:
                compiled(*copy.deepcopy(args))
            assert isinstance(error, RecursionError) or str(e.value) == str(error)
        else:
            assert compiled(*copy.deepcopy(args)) == expected


def used_as_a_value(n):
    count = 0

    def a(k):
        nonlocal count
        count += 1
        return k if k <= 0 else b(k - 1)

    def b(k):
        f = a
        return f(k)

    return a(n), count


def test_refused():
    with pytest.raises(un.CompileError, match="as a value") as e:
        un.jit(used_as_a_value)(3)
    assert "what to do" in str(e.value)
