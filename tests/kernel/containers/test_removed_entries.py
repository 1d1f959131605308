"""Loops over dicts and sets from which entries were removed, against Python."""

import pytest
import unisono as un


def loops(n, every):
    d = {k: k * k for k in range(n)}
    s = set(range(n))
    for k in range(0, n, every):
        del d[k]
        s.discard(k)
    d[1] = d.pop(1) + 1 if 1 in d else 7
    keys = [k for k in d]
    nested = 0
    for a in d:
        for b in d.values():
            nested = (nested * 31 + a * b) % 1000003
    pairs = [(a, b) for a, b in zip(d, d.items(), strict=False)]
    backwards = [k for k in reversed(d)]
    first = next(iter(d))
    return keys, nested, pairs, backwards, first, sorted(s), sum(s), list(d.values())


def least_recent(requests, capacity):
    cache = {}
    hits = 0
    for k in requests:
        if k in cache:
            hits += 1
            cache[k] = cache.pop(k)
        else:
            if len(cache) >= capacity:
                del cache[next(iter(cache))]
            cache[k] = -k
    return hits, list(cache.items())


def changed():
    d = {k: k for k in range(9)}
    del d[3]
    for k in d:
        del d[k]


@pytest.mark.parametrize("every", [1000, 2, 3, 7])
@pytest.mark.parametrize("n", [5, 60])
def test_like_python(n, every):
    assert un.jit(loops)(n, every) == loops(n, every)


def test_least_recently_used():
    requests = [k * k % 41 % 23 for k in range(500)]
    assert un.jit(least_recent)(requests, 7) == least_recent(requests, 7)


def test_changes_are_noticed():
    with pytest.raises(RuntimeError, match="changed size during iteration"):
        un.jit(changed)()
