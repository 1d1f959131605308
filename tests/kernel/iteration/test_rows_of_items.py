"""permutations and combinations of numbers of items that are not known when compiling, against Python."""

import itertools

import pytest
import unisono as un


def digits(xs):
    out = []
    for p in itertools.permutations(xs):
        s = 0
        for i in range(len(p)):
            s = s * 10 + p[i]
        out.append(s)
    return out


def sums(xs, r):
    return [sum(c) + c[0] * 100 for c in itertools.combinations(xs, r) if c[0] > 1]


def repeated(xs, r):
    return [[x for x in c] for c in itertools.combinations_with_replacement(xs, r)]


def products(xs, r):
    n = 0
    for p in itertools.permutations(xs, r):
        if p[0] > 2:
            continue
        if len(p) > 3:
            break
        n += sum(p)
        for u, v in zip(p, p[1:], strict=False):
            n += u * v
    return n


def unpacked(xs):
    return sum(1 for x, y, z in itertools.permutations(xs) if x < y)


def least(xs):
    return min(sum(i * x for i, x in enumerate(p)) for p in itertools.permutations(xs))


def counts(r):
    n = 0
    for _ in itertools.combinations(range(4), r):
        n += 1
    return n


CASES = [
    *((digits, (xs,)) for xs in ([1, 2, 3], [1], [4, 2, 3, 1])),
    *((sums, ([1, 2, 3, 4, 5], r)) for r in (1, 2, 3, 5, 6)),
    *((repeated, ([1, 2, 3], r)) for r in (0, 1, 2, 4)),
    *((products, ([1, 2, 3, 4], r)) for r in (1, 2, 3, 4)),
    (unpacked, ([3, 1, 2],)),
    (least, ([3, 1, 2, 5],)),
    (counts, (0,)),
    (counts, (3,)),
]


@pytest.mark.parametrize(("f", "args"), CASES)
def test_like_python(f, args):
    assert un.jit(f)(*args) == f(*args)


def test_negative_counts_raise():
    with pytest.raises(ValueError, match="r must be non-negative"):
        un.jit(counts)(-1)


def kept(xs, r):
    return [c for c in itertools.combinations(xs, r)]


def test_tuples_of_unknown_length_are_refused():
    with pytest.raises(un.CompileError, match="read the items of what it gives only"):
        un.jit(kept)([1, 2, 3], 2)


@pytest.mark.parametrize("step", [3, -3, 1, 7])
def test_length_of_a_range_with_a_step(step):
    @un.jit
    def f(n, m, s):
        return len(range(n, m, s)), len(range(n, m + 5, s))

    assert f(10, 0, step) == (len(range(10, 0, step)), len(range(10, 5, step)))
