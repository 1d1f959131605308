"""Lists that go by several names, and empty ones whose items show later or elsewhere."""

import copy

import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def lev(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


def lev2(a, b):
    prev = [j for j in range(len(b) + 1)]
    cur = [0] * (len(b) + 1)
    for i in range(len(a)):
        cur[0] = i + 1
        for j in range(len(b)):
            cur[j + 1] = min(prev[j + 1] + 1, cur[j] + 1, prev[j] + (a[i] != b[j]))
        prev, cur = cur, prev
    return prev[-1]


def alias(n):
    a = [1, 2, 3]
    b = a
    for i in range(n):
        b.append(i)
        if i == 2:
            b = [9]
    return a, b


def alias2(n):
    a = list(range(3))
    b = a
    if n > 3:
        b = list(range(2))
    b.append(7)
    a.append(8)
    return a, b


def alias3(xs):
    a = sorted(xs)
    best = a
    for k in range(3):
        c = [x + k for x in best]
        if sum(c) % 2:
            best = c
    best.append(0)
    return a, best


def alias4(xs):
    a = xs[:]
    best = a
    if len(xs) > 1:
        best = xs[1:]
    best.append(0)
    return a, best


def primes(n):
    cur = [2]
    while len(cur) < n:
        new = cur.copy()
        new.append(cur[-1] * 2)
        cur = new
    return cur


def empty_passed(n):
    out = []
    helper_fill(out, n)
    return out


@un.jit
def helper_fill(out, n):
    for i in range(n):
        out.append(i * 1.5)


def empty_nested(n):
    rows = [[] for _ in range(n)]
    for i in range(n):
        for j in range(i):
            rows[i].append(j * 0.5)
    return rows


def empty_nested2(n):
    rows = [[] for _ in range(n)]
    for i in range(n):
        for j in range(i):
            rows[i].append((j, str(i)))
    return rows


def empty_nested3(n):
    d = {}
    for i in range(n):
        if i % 2 not in d:
            d[i % 2] = []
        d[i % 2].append(i * 0.5)
    return d


def empty_max(n):
    a = []
    b = []
    for i in range(n):
        (a if i % 2 else b).append(i)
    return a, b


def perms(n):
    out = []
    go(list(range(n)), [], out)
    return out


@un.jit
def go(rest, acc, out):
    if not rest:
        out.append(acc[:])
        return
    for i in range(len(rest)):
        go(rest[:i] + rest[i + 1 :], acc + [rest[i]], out)


def empty_lists_in_list(n):
    groups = [[], []]
    for i in range(n):
        groups[i % 2].append(i * 0.25)
    return groups


def empty_in_tuple(n):
    lo, hi = [], []
    for i in range(n):
        if i > 1:
            hi.append(i * 0.25)
        else:
            lo.append(str(i))
    return lo, hi


def empty_later(n):
    res = []
    if n > 5:
        return res
    for i in range(n):
        res.append({"a": i})
    return res


def buckets(n):
    b = [None] * n
    for i in range(n):
        b[i] = [i * 0.5]
    return b


def stack_of_lists(n):
    st = [[0]]
    out = []
    while st:
        path = st.pop()
        if len(path) == n:
            out.append(path)
            continue
        for k in range(2):
            st.append(path + [k])
    return out


def kept(n):
    xs = [n]
    ys = list(range(n))
    both = [xs, ys]
    xs.append(5)
    both[1].append(6)
    return xs, ys, both


def extended(n):
    xs = []
    seen = 0
    for k in range(3):
        seen += n in xs
        xs.extend([k, n])
    both = [xs]
    return n in xs, seen, xs.count(n), both


def of_floats(xs):
    a = []
    a.extend(xs)
    b = [1, 2]
    b.extend(xs)
    b.extend([3])
    c = []
    c.extend([1])
    c.append(0.5)
    return a, len(b), b[-1] + 0.5, b[2], len(c), c[1]


CASES = [
    (kept, 3),
    (of_floats, [0.5, 1.5]),
    (extended, 7),
    (lev, "kitten", "sitting"),
    (lev2, "kitten", "sitting"),
    (alias, 5),
    (alias2, 5),
    (alias3, [3, 1, 2]),
    (alias4, [3, 1, 2]),
    (primes, 5),
    (empty_passed, 4),
    (empty_nested, 4),
    (empty_nested2, 4),
    (empty_nested3, 4),
    (empty_max, 5),
    (perms, 3),
    (empty_lists_in_list, 3),
    (empty_in_tuple, 3),
    (empty_later, 3),
    (buckets, 3),
    (stack_of_lists, 3),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_as_python(on, case):
    function, *args = case
    got = un.jit(function, device=on)(*copy.deepcopy(args))
    assert repr(got) == repr(function(*copy.deepcopy(args)))
