"""Several targets take lists, arrays, texts and dicts apart: one body, with CPython and compiled."""

import numpy as np
import pytest
import unisono as un

points = np.arange(10.0).reshape(5, 2)
table = np.arange(12.0).reshape(3, 4)


def pairs_of_text(n):
    out = {}
    for part in "a=1,b=2,c=3".split(",")[:n]:
        key, value = part.split("=")
        out[key] = int(value)
    first, second = "xy"
    return out, first + second


def rows(n):
    x, y, z, w = table[1]
    height, width = table.shape
    total = x + y * z - w + height * width
    for i, (a, b) in enumerate(points):
        total += i * a - b
    for a, b in points[:n]:
        total += a * b
    for (a, b), c in zip(points, [1, 2, 3], strict=False):
        total -= c * a * b
    for u, v in [(1, 2.5), (3, 4.5)]:
        total += u * v
    for u, v in [[1, 2], [3, 4]]:
        total += u * v
    return float(total), [float(a + b) for a, b in points]


def stars(n):
    items = [1, 2, 3, 4][:n]
    first, *rest = items
    *before, last = items
    one, *middle, other = items
    a, *b = points[n % 3]
    word, *_ = "hello world foo".split()
    return first, rest, before, last, one, middle, other, float(a), len(b), word


def exactly(n):
    x, y = [1, 2, 3][:n]
    return x + y


def elements_in_place(n):
    a = np.arange(4.0)
    a[0], a[1] = a[1:3]
    (c, d), e = [1, 2], n
    keys = {1: 2.0, 3: 4.0}
    p, q = keys
    low, high = (1, 2) if n > 2 else (3, 4)
    return list(map(float, a)), c, d, e, p, q, low, high


def or_none(n):
    x, y = None if n > 3 else (1, 2)
    return x + y


def in_parallel(n):
    out = np.zeros(5)
    for i in un.prange(5):
        x, y = points[i]
        out[i] = x * y + n
    return float(out.sum())


cases = [pairs_of_text, rows, stars, exactly, elements_in_place, or_none, in_parallel]


@pytest.mark.parametrize("f", cases, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [4, 3, 2, 1])
def test_unpacking(f, n):
    try:
        wanted = f(n)
    except (TypeError, ValueError) as e:
        with pytest.raises(type(e)) as raised:
            un.jit(f)(n)
        assert str(raised.value) == str(e)
        return
    assert un.jit(f)(n) == wanted


def a_number(n):
    x, y = n
    return x + y


def test_a_number_has_no_items():
    with pytest.raises(un.CompileError, match="cannot unpack a value of type int") as e:
        un.jit(a_number)(3)
    assert "x, y = n\n    ^^^^" in str(e.value)


def test_names_exchange_their_objects():
    def tables():
        x, y = {1: 1}, {2: 2}
        x, y = y, x
        return 2 in x, 1 in x, 2 in y, 1 in y

    def texts(n):
        s, t = "a", "b"
        for _ in range(n):
            s, t = t, s
        return s + t

    def lists():
        x, y = [1.0], [2.0]
        x.append(3.0)
        x, y = y, x
        return len(x), len(y)

    assert un.jit(tables)() == tables()
    assert un.jit(texts)(3) == texts(3)
    assert un.jit(lists)() == lists()


def test_targets_of_inner_loops_keep_their_last_value():
    def f(n):
        s, j = 0, -1
        for _ in range(n):
            s += j
            for j in range(4):  # noqa: B007
                pass
        return s, j

    assert un.jit(f)(5) == f(5) == (11, 3)
    assert un.jit(f)(0) == f(0) == (0, -1)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_ranges(n):
    def taken(n):
        a, b, c = range(n)
        return a + 10 * b + 100 * c

    def starred(n):
        first, *rest = range(n, 2 * n)
        return first, sum(rest, start=100)

    assert un.jit(starred)(n) == starred(n)
    if n == 3:
        assert un.jit(taken)(n) == taken(n)
    else:
        words = "too many values to unpack" if n > 3 else "not enough values to unpack"
        with pytest.raises(ValueError, match=words):
            un.jit(taken)(n)
