"""Slices in names, columns of rows, sums of lists, frozensets and the like: with CPython and compiled."""

import collections
import copy
import dataclasses
import itertools
from collections import namedtuple

import numpy as np
import pytest
import unisono as un

Point = namedtuple("Point", "x y")
VOWELS = frozenset("aeiou")


def one_slice(n):
    part = slice(1, n)
    back = slice(None, None, -1)
    return [1, 2, 3, 4][part], "hello"[back], part.stop


def columns(n):
    rows = [[1, 2, n], [4, 5, 6]]
    made = [sum(c) for c in zip(*rows, strict=False)] + [
        c[0] * c[1] for c in zip(*rows, strict=False)
    ]
    turned = list(map(list, zip(*rows[::-1], strict=False)))
    words = ["".join(c) for c in zip(*["abc", "de"], strict=False)]
    for c in zip(*rows, strict=False):
        made.append(max(c) - min(c))
    return made, turned, words


def sums_of_lists(n):
    lists = [[1], [2, n], []]
    return sum(lists, []), sum(lists, [9])


def bounds_in_order(n):
    x = 1
    items = [1, 2, 3, 4, 5, 6]

    def move():
        nonlocal x
        x = 3
        return n

    return items[x : move()], x


def formats(spec):
    try:
        return format(3.5, spec) + format(7, "05d")
    except ValueError as e:
        return str(e)


def members(text):
    found = 0
    for c in text:
        if c in VOWELS:
            found += 1
    return found, len(VOWELS), Point._fields, Point(1, 2)._fields


def endless_sums(n):
    made = []
    for x in itertools.accumulate(itertools.count()):
        if x > n:
            break
        made.append(x)
    first = list(itertools.islice(itertools.accumulate(itertools.count(1)), 5))
    return (
        made,
        first,
        list(itertools.islice(itertools.accumulate(itertools.count(2), initial=7), 3)),
    )


def cut(n):
    return list(itertools.islice([1, 2, 3], n))


def cut_count(n):
    return list(itertools.islice(itertools.accumulate(itertools.count()), n))


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (one_slice, 3),
        (columns, 3),
        (sums_of_lists, 3),
        (bounds_in_order, 5),
        (formats, ".2f"),
        (formats, "q"),
        (members, "hello"),
        (endless_sums, 40),
        (cut, 2),
        (cut, -1),
        (cut_count, 3),
        (cut_count, -1),
    ],
)
def test_as_python(function, argument):
    def outcome(f):
        try:
            return f(argument)
        except ValueError as error:
            return str(error)

    assert outcome(un.jit(function)) == outcome(function)


def test_frozensets_are_passed():
    @un.jit
    def common(a, b):
        return sorted(a & b), 3 in a

    assert common(frozenset([1, 2, 3]), frozenset([2, 3, 4])) == ([2, 3], True)
    assert common(frozenset([1, 2]), {2}) == ([2], False)

    @un.jit
    def changed(a):
        a.add(1)

    with pytest.raises(AttributeError, match="frozenset"):
        changed(frozenset([2]))


def test_a_field_by_a_name_that_stays():
    @un.jit
    def total(a):
        key = "x"
        return a[key].sum() + a[0][key]

    a = np.zeros(3, dtype=[("x", "f8"), ("y", "i8")])
    a["x"] = [1, 2, 3]
    assert total(a) == 7.0


@dataclasses.dataclass
class Closes:
    x: int

    def __del__(self):
        pass


def test_classes_that_end_with_effects_are_refused():
    @un.jit
    def makes():
        return Closes(3).x

    with pytest.raises(un.CompileError, match="a class with __del__"):
        makes()


@pytest.mark.parametrize("op", ["<", "==", "in"])
def test_comparisons_of_tuples_with_arrays_are_refused(op):
    bodies = {
        "<": lambda a, n: (a, n) <= (n, 2),
        "==": lambda a, n: (a, n) == (n, 2),
        "in": lambda a, n: n in (a, n),
    }
    with pytest.raises(un.CompileError, match="a condition must be a number; got bool array"):
        un.jit(bodies[op])(np.ones(5), 3)


def chosen_slices(xs, c):
    ys = xs[:2] if c else xs
    zs = xs[1:] if c else xs[::-1]
    return sum(ys), len(ys), zs, max(xs if c else xs[:1])


def shortest(d, k):
    total = 0
    for j in range(5):
        if 4 < d.get(j, float("inf")):
            total += j
    return total, d.get(k, float("inf")), d.pop(k, 0.5) > 1


def rotated(n):
    q = collections.deque(range(n))
    out = []
    for k in [1, -1, 4, -4, 7, -9, 0]:
        q.rotate(k)
        out.append(list(q))
    return out


def spliced(words):
    xs = [w + "!" for w in words]
    ys = xs[::-1]
    xs[1:3] = ys
    xs[::2] = xs[1::2][::-1] if len(xs) % 2 == 0 else xs[::2][::-1]
    del ys[2:]
    ys[0:0] = xs[:1]
    ys[5:1] = ["end"]
    xs[-1:] = ys
    ys += ys
    return xs, ys, ys * 2, xs[7:1:-3]


def test_slices_chosen_and_lists_spliced_as_in_python():
    for c in (True, False):
        assert un.jit(chosen_slices)([3, 1, 2], c) == chosen_slices([3, 1, 2], c)
    for k in (1, 3):
        assert un.jit(shortest)({1: 5, 2: 2}, k) == shortest({1: 5, 2: 2}, k)
    assert un.jit(rotated)(5) == rotated(5)
    words = ["a", "b", "c", "d"]
    assert un.jit(spliced)(words) == spliced(words)
    assert un.jit(spliced)(words[:3]) == spliced(words[:3])


def total_of_links(links):
    total = 0
    for i, items in enumerate(links):
        for x in items:
            total += x * i
    links[0].append(7)
    return total


def total_of_graph(graph):
    total = 0
    for k, edges in graph.items():
        for v, w in edges:
            total += k * v + w
    graph[0].append((1, 1))
    return total


@pytest.mark.parametrize(
    "body, given",
    [
        (total_of_links, [[], [1], [2, 3]]),
        (total_of_links, [[1], [], []]),
        (total_of_graph, {0: [], 1: [(1, 2)], 2: []}),
    ],
)
def test_lists_some_of_which_are_empty_are_passed(body, given):
    results = []
    for f in (body, un.jit(body)):
        own = copy.deepcopy(given)
        results.append((f(own), own))
    assert results[1] == results[0]
