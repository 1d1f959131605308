"""Operands are read before those behind them change what they stand for: one body, with CPython and compiled."""

import dataclasses

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def shown(v):
    if isinstance(v, (tuple, list)):
        return type(v), [shown(x) for x in v]
    if isinstance(v, dict):
        return dict, [(shown(k), shown(x)) for k, x in v.items()]
    if hasattr(v, "__array__") and np.ndim(v):
        a = np.asarray(v)
        return a.dtype, a.shape, a.tolist()
    v = v.item() if isinstance(v, np.generic) else v
    return type(v), v


def agrees(body, *makers):
    results = []
    for f in (body, un.jit(body)):
        args = [make() for make in makers]
        results.append((shown(f(*args)), shown(args)))
    assert results[1] == results[0]


def rebinds(n):
    a = np.arange(3.0)
    t, d, xs = "ab", {1: 2}, [1, 2]
    x = 1

    def f(k):
        nonlocal a, t, d, xs, x
        a = a * 10 + k
        t = t + "c"
        d = {5: k}
        xs = [k, k, k]
        x += k
        return k

    s = a + f(1)
    shown_text = f"{t} {x} {f(2)} {t} {x}"
    u = t + str(f(1)) + t
    same = d == {5: f(7)}
    pair = (a, t, f(3), a, t)
    items = [x, f(1), x]
    both = x + f(2) * x
    lists = xs + [f(9)] + xs
    return s, shown_text, u, same, pair, items, both, lists, len(xs) + f(n), xs[f(0)], t[f(1)]


def in_place(n):
    a = np.arange(3.0)
    b, xs, d = a, [1, 2], {1: 2}
    ys, e = xs, d

    def f(k):
        nonlocal a, xs, d
        a = np.ones(3)
        xs = [7]
        d = {1: 5}
        return k

    a += f(5)
    xs += [f(1), n]
    d[1] += f(3)
    return a, b, xs, ys, d, e


@un.jit
def bump(a):
    a[0] += 10
    return a[0]


@un.jit
def set0(a):
    a[0] = 2
    return 1


@un.jit
def scaled(a, k):
    a *= k
    return k


def elements(a, b):
    a[0] += bump(a)
    a[set0(b)] = b[0]
    a[1:] += bump(a)
    c = a * 2 + scaled(a, 3.0)
    return a, b, c, (a + 1, bump(a), a[0], a.copy())


def lengths(n):
    xs = [1, 2, 3]
    a = len(xs) + xs.pop() * 10
    b = xs.pop() + len(xs) * 10
    ys = [xs]
    c = len(ys[0]) + ys[0].pop() * 10
    text = f"{ys} {ys.pop()} {ys}"
    zs = [n]
    d = [len(zs), zs.append(2), len(zs)]
    return a, b, c, text, d[0], d[2]


def keys_first(n):
    log = []

    def note(k):
        log.append(k)
        return k

    d = {note(k): note(k * 10) for k in range(n)}
    e = {note(7): note(8)}
    return d, e, log


def test_operands_that_are_assigned_behind():
    agrees(rebinds, lambda: 4)


def test_augmented_names():
    agrees(in_place, lambda: 4)


def test_elements_that_change():
    agrees(elements, lambda: np.arange(3.0), lambda: np.ones(3))


def test_lengths():
    agrees(lengths, lambda: 4)


def test_dict_comprehensions():
    agrees(keys_first, lambda: 3)


def printed(n):
    x = 1
    xs = [1]

    def f():
        nonlocal x
        x += 1
        xs.append(x)
        return x

    print(x, f"{x}{f()}", xs, x, f(), xs)
    return x


def test_print(capfd):
    printed(1)
    want = capfd.readouterr().out
    un.jit(printed)(1)
    assert capfd.readouterr().out == want


def indices_that_rebind(n):
    a = b = np.arange(6.0)

    def f():
        nonlocal b
        b = b[1:] + n
        return 1

    b[f()] = 50
    return a[f()], b[f()], b[f() : 3], b


def test_indices_that_rebind_arrays():
    agrees(indices_that_rebind, lambda: 2)


# ---- lists that others hold, and that loops go over


def repeats(n):
    xs = [1, 2]
    ys = xs
    xs *= n
    zs = [[1], [2]]
    us = zs
    zs *= 2
    zs *= n - 3
    ws = ["a"]
    vs = ws
    ws *= 0
    return xs, ys, us, vs


def grows(n):
    xs = [3]
    seen = []
    for x in xs:
        seen.append(x)
        if x > 0:
            xs.append(x - 1)
            xs += [0]
    ys = xs
    for k, _x in enumerate(xs):
        if k < n:
            ys.append(k)
    for _x in xs:
        xs.pop()
    else:
        seen.append(-1)
    names = ["a"]
    for a, b in zip(names, range(5), strict=False):
        names.append(a + str(b))
    rows = [[1]]
    for row in rows:
        if len(rows) < n:
            rows.append([len(row), 2])
        row.append(5)
    return xs, ys, seen, names, rows, [x for x in xs if len(xs) > 1]


@un.jit
def more(xs, k):
    if len(xs) < k:
        xs.append(k)


def grows_in_calls(xs, k):
    total = 0
    for x in xs:
        more(xs, k)
        total += x
        if x == 2:
            continue
        if total > 100:
            break
    return total


def two_names(a, b, k):
    a.append(k)
    b[0] += 1
    return a[0], len(b)


def two_names_swapped(b, a, k):
    return two_names_of(a, b, k)


@un.jit
def two_names_of(a, b, k):
    a.append(k)
    return a[0], len(b), sum(b)


def test_lists_repeated_in_place():
    agrees(repeats, lambda: 3)


def test_lists_that_grow_in_their_loop():
    agrees(grows, lambda: 4)
    for f in (grows_in_calls, un.jit(grows_in_calls)):
        xs = [1, 2]
        assert (f(xs, 6), xs) == (27, [1, 2, 6, 6, 6, 6])


@pytest.mark.parametrize("body", [two_names, two_names_swapped])
def test_one_list_given_twice(body):
    compiled = un.jit(body)
    for given in ({}, {"k": 2}):
        out = []
        for f in (body, compiled):
            xs = [1, 2]
            args = (xs, xs) if given else (xs, xs, 2)
            out.append((f(*args, **given), xs))
        assert out[0] == out[1]


# ---- views of arrays that the caller made


@un.jit
def tail(a):
    return a[1:]


@un.jit
def parts(a, b, first):
    c = a[::-1] if first else b[:1]
    return c, a[:0]


def view_of_made(n):
    a = np.arange(n) * 1.5
    return tail(a)


def views_of_made(n):
    a, b = np.arange(n) * 1.5, np.zeros(n)
    c, d = parts(a, b, n > 3)
    c[0] = 7
    return c, d, tail(tail(b)), a, b


@pytest.mark.parametrize("n", [1, 3, 5])
def test_views_that_callees_give(n):
    agrees(view_of_made, lambda: n)
    if n > 1:
        agrees(views_of_made, lambda: n)


# ---- dicts that change in the loop over them


def last_adds(d):
    for k in d:
        d[k + 10] = 1
    return 0


def last_pops(d):
    return sum([d.pop(k) for k in d])


def same_size(d):
    total = 0
    for k in d:
        d[k] = k
        total += d[k]
        if k == 2:
            d[7] = 7
            break
    else:
        total = -1
    return total


def first_adds(d):
    for k in d:
        d[9] = k
    return 0


def list_ends_first(d):
    total = 0
    for x, v in zip([5], d.values(), strict=False):
        total += x + v
        d[9] = 9
    return total


def dict_is_asked_first(d):
    total = 0
    for v, x in zip(d.values(), [5], strict=False):
        total += x + v
        d[9] = 9
    return total


@pytest.mark.parametrize(
    "body", [last_adds, last_pops, same_size, first_adds, list_ends_first, dict_is_asked_first]
)
@pytest.mark.parametrize("given", [{1: 2}, {1: 2, 2: 3}, {}])
def test_dicts_that_change_in_their_loop(body, given):
    results = []
    for f in (body, un.jit(body)):
        d = given.copy()
        try:
            results.append((f(d), d))
        except RuntimeError as e:
            results.append((str(e), d))
    assert results[1] == results[0]


def in_finally(n):
    total = 0
    for k in range(n):
        try:
            total += 10 // k
        except ZeroDivisionError:
            total += 100
        finally:
            xs = [k]
            if k > 1:
                xs = xs.copy()
            try:
                total += xs.pop() + len(xs)
            except ValueError:
                for _ in range(n):
                    xs = xs.copy()
        if k > 2:
            break
    return total


@pytest.mark.host_only("exceptions are caught on the host")
def test_lists_in_finally():
    agrees(in_finally, lambda: 5)


def element(a, i, n, m):
    a[i] += n // m


def element_of_rows(a, i, n, m):
    a[i, 0] -= n % m


def element_of_list(n, m):
    xs = [1, 2]
    xs[5] += n // m
    return xs


def field(a, i, n, m):
    a[i]["f"] += n // m


PACKED = np.dtype([("p", "i1"), ("f", float)])


@pytest.mark.host_only("the kinds of two faults are compared")
@pytest.mark.parametrize(
    "body, make",
    [
        (element, lambda: (np.zeros(3), 7, 3, 0)),
        (element, lambda: (np.zeros(3), 1, 3, 0)),
        (element, lambda: (np.zeros(3, complex), 7, 3, 0)),
        (element_of_rows, lambda: (np.zeros((3, 3)), 7, 3, 0)),
        (element_of_list, lambda: (3, 0)),
        (field, lambda: (np.zeros(3, [("f", float), ("g", int)]), 7, 3, 0)),
        (field, lambda: (np.zeros(3, PACKED), 7, 3, 0)),
    ],
)
def test_elements_are_read_before_what_they_change_by(body, make):
    kinds = []
    for f in (body, un.jit(body)):
        with pytest.raises((IndexError, ZeroDivisionError)) as error:
            f(*make())
        kinds.append(error.type)
    assert kinds[1] is kinds[0]


@dataclasses.dataclass
class Count:
    n: int


def changed_behind(n):
    p, z, d = Count(1), np.zeros(2, complex), {1: [1]}
    x, mask = np.zeros(2), np.array([True, False])
    old = p, z, d[1], x

    def f(k):
        nonlocal p, z, x, mask
        p = Count(5)
        z = np.ones(2) + 0j
        d[1] = [7]
        x = np.ones(2)
        mask = np.array([False, True])
        return k

    p.n += f(n)
    z.real += f(n)
    d[1] += [f(n)]
    x[mask] += f(n)
    return p.n, old[0].n, z, old[1], d, old[2], x, old[3]


@pytest.mark.host_only("objects are made on the host")
def test_what_is_changed_is_found_before_what_it_changes_by():
    agrees(changed_behind, lambda: 3)
