"""tuple(list) and frozenset(list) of which nothing but the items is read, against CPython."""

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
