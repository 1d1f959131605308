"""Tuples of unknown length and frozensets of which nothing but the items is read, against CPython."""

import pytest
import unisono as un


def of_a_list(xs):
    p = tuple(xs)
    xs.append(9)
    s = 0
    for x in p:
        s += x
    return s, p[0], p[-1], len(p), 2 in p, sorted(p), max(p)


def of_a_generator(xs):
    p = tuple(x * 2 for x in xs)
    return sum(p), [x for x in reversed(p)], tuple(xs)[1]


def of_a_text(xs):
    vowels = frozenset("aeiou")
    return sum(1 for c in "hello world" if c in vowels), len(vowels), len(xs)


def members(xs):
    known = frozenset(xs)
    return 2 in known, len(known), sorted(known), len(frozenset((1, 1, 2)))


@pytest.mark.parametrize(
    "f", [of_a_list, of_a_generator, of_a_text, members], ids=lambda f: f.__name__
)
def test_items(f):
    assert un.jit(f)([3, 2, 3]) == f([3, 2, 3])


def columns(rows):
    xs, ys = zip(*rows)  # noqa: B905
    return sum(xs), ys[0], list(ys), max(ys), len(xs)


def sorted_columns(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    keys, values = zip(*sorted(counts.items()), strict=False)
    return [k for k in keys], sum(values)


def test_columns():
    compiled = un.jit(columns)
    for rows in ([(1, 2), (3, 4), (5, 6)], [(1, 2.5)], [[1, 2], [3, 4]]):
        assert compiled(rows) == columns(rows)
    for rows in ([[1, 2, 3], [3, 4, 5]], [[1], [3, 4]]):
        with pytest.raises(ValueError) as expected:
            columns(rows)
        with pytest.raises(ValueError) as e:
            compiled(rows)
        assert str(e.value) == str(expected.value)
    assert un.jit(sorted_columns)([2, 1, 2]) == sorted_columns([2, 1, 2])


def given_back(xs):
    return tuple(xs)


def kept(xs):
    return {frozenset(xs): 1}


@pytest.mark.parametrize(
    ("f", "text"),
    [(given_back, "how many items"), (kept, "only reads")],
    ids=["tuple", "frozenset"],
)
def test_refused(f, text):
    with pytest.raises(un.CompileError, match=text):
        un.jit(f)([1, 2])
