"""Lists that a function returns as it got them, and whose length then changes: with CPython and compiled."""

import pytest
import unisono as un


@un.jit
def sorts_by_pops(xs):
    if len(xs) <= 1:
        return xs
    middle = len(xs) // 2
    a = sorts_by_pops(xs[:middle])
    b = sorts_by_pops(xs[middle:])
    out = []
    while a and b:
        if a[-1] >= b[-1]:
            out.append(a.pop())
        else:
            out.append(b.pop())
    rest = a or b
    out.reverse()
    return rest + out


@un.jit
def sorts_into_a_list(xs):
    if len(xs) <= 1:
        return xs
    middle = len(xs) // 2
    a = sorts_into_a_list(xs[:middle])
    b = sorts_into_a_list(xs[middle:])
    out = []
    while a and b:
        out.append(a.pop(0) if a[0] <= b[0] else b.pop(0))
    out.extend(a)
    out.extend(b)
    return out


@un.jit
def sorts_inside(xs):
    def sort(a):
        if len(a) < 2:
            return a
        middle = len(a) // 2
        return merge(sort(a[:middle]), sort(a[middle:]))

    def merge(a, b):
        r = []
        while len(a) > 0 and len(b) > 0:
            r.append(a.pop(0) if a[0] < b[0] else b.pop(0))
        return r + a + b

    return sort(xs)


@un.jit
def merge(a, b):
    r = []
    while a and b:
        r.append(a.pop(0) if a[0] < b[0] else b.pop(0))
    return r + a + b


@un.jit
def sorts_by_another(a):
    if len(a) < 2:
        return a
    middle = len(a) // 2
    return merge(sorts_by_another(a[:middle]), sorts_by_another(a[middle:]))


@pytest.mark.parametrize(
    "f",
    [sorts_by_pops, sorts_into_a_list, sorts_inside, sorts_by_another],
    ids=lambda f: f.__name__,
)
def test_merge_sorts(f):
    for items in ([5, 2, 9, 1, 5, 6], [5.5, 1.0, 2.5], [3], []):
        given = list(items)
        assert f(given) == sorted(items)
        assert given == items


def test_what_is_returned_is_what_was_passed():
    def longer(xs):
        if len(xs) > 3:
            return xs
        more = longer(xs + [0])
        more.append(7)
        return more

    compiled = un.jit(longer)
    given = [1, 2, 3, 4]
    assert compiled(given) is given
    assert compiled([1]) == longer([1])
