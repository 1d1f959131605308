"""Ranges that are objects: arguments, results, items of tuples, members, against Python."""

import pytest
import unisono as un

_DAYS = range(3, 30, 7)


def members(r, i):
    total = 0
    for x in r:
        total = 3 * total + x
    for x in r:
        total -= x
    return total, len(r), r.start, r.stop, r.step, i in r, r.count(i), r == range(0, 9, 2), bool(r)


def made(n, step):
    r = range(1, n, step)
    pair = (r, range(n))
    s = 0
    for part in pair:
        s += len(part)
        for x in part:
            s += x
    return r, pair[1], s, [n in part for part in (r, range(n + 1))], range(n)[-1], r[0]


def captured(i):
    return _DAYS[i], _DAYS, sum(_DAYS), list(_DAYS), i in _DAYS


def item(r, i):
    return r[i]


def place(r, i):
    return r.index(i)


def stepped(r, i):
    return range(0, len(r), i)


def grid(r, q):
    out = []
    for i, x in enumerate(r):
        for y in reversed(q):
            out.append(i * x - y)
    return out, [a * q[k] for k, a in enumerate(r)], list(r), max(r), sorted(q)


@pytest.mark.parametrize(
    "r", [range(9), range(0), range(2, 20, 3), range(9, -3, -2), range(0, 10, 2), range(5, 2)]
)
def test_members(r):
    for i in (0, 2, 7):
        assert un.jit(members)(r, i) == members(r, i)
    assert un.jit(lambda r: r)(r) == r
    if len(r):
        assert un.jit(grid)(r, r) == grid(r, r)


def test_made_and_captured():
    for n, step in ((7, 2), (12, 1)):
        assert un.jit(made)(n, step) == made(n, step)
    for i in (0, -1, 3):
        assert un.jit(captured)(i) == captured(i)


@pytest.mark.parametrize(
    ("function", "i"), [(item, 5), (item, -6), (item, 4), (place, 1), (place, 2), (stepped, 0)]
)
def test_exceptions(function, i):
    r = range(0, 10, 2)
    try:
        want = function(r, i)
    except Exception as error:
        with pytest.raises(type(error)) as got:
            un.jit(function)(r, i)
        assert str(got.value).splitlines()[0] == str(error)
    else:
        assert un.jit(function)(r, i) == want
