"""Lists of texts, tuples, arrays, objects and lists in compiled functions, against the Python functions."""

import gc

import numpy as np
import pytest
import unisono as un
from differential import effects
from jit_devices import host_devices
from unisono import _engine

pytestmark = pytest.mark.parametrize("on", host_devices())


def compiled(on, function):
    return un.jit(function, device=on)


def texts():
    xs = ["b", "a"]
    xs.append("c")
    xs.sort()
    return xs, len(xs), xs[0], xs[-1], ",".join(xs), "a" in xs, xs.index("c"), xs[::-1]


def rows(n):
    made = []
    for i in range(n):
        row = []
        for j in range(i):
            row.append(i * j)
        made.append(row)
    made[2][1] = 99
    return made, sum(made[3]), made[3] + made[2], made == [[], [0], [0, 2]]


def changed(xs):
    xs.append("new")
    xs[0] = "first"
    return len(xs)


def words(s):
    counts = {}
    for w in s.split():
        counts[w] = counts.get(w, 0) + 1
    return [f"{w}:{counts[w]}" for w in sorted(counts)]


def turned(pairs):
    out = []
    for a, b in pairs:
        out.append((b, a))
    out.sort()
    return out, [p[0] for p in out]


def groups():
    d = {}
    for i in range(10):
        d.setdefault(i % 3, []).append(i)
    return d, [len(v) for v in d.values()], sum(d[1])


def grid(m):
    g = [[0] * m for _ in range(m)]
    for i in range(m):
        for j in range(m):
            g[i][j] = i * j
    t = 0
    for row in g:
        for x in row:
            t += x
    return g, t, [r[0] for r in g], max(g[2])


def search(n):
    stack = [(0, 0)]
    seen = {(0, 0)}
    while stack:
        x, y = stack.pop()
        for dx, dy in ((1, 0), (0, 1)):
            p = (x + dx, y + dy)
            if p[0] < n and p[1] < n and p not in seen:
                seen.add(p)
                stack.append(p)
    return len(seen)


def by_key(xs):
    longest = max(len(x) for x in xs)
    return (
        sorted(xs, key=lambda s: len(s)),
        sorted(xs, reverse=True),
        longest,
        [x.upper() for x in xs],
    )


def entries(d):
    return list(d), list(d.items()), list(d.values())


def methods():
    a = ["x"]
    b = a
    b.append("y")
    del a[0]
    a.insert(0, "z")
    a.extend(["q", "r"])
    a += ["s"]
    a.reverse()
    c = a.copy()
    c.pop()
    c.remove("q")
    return a, c, a == b, a < c, a.count("s"), a * 2, a[1:3], a[-9:9:2], "s" not in a


def nested(rows):
    rows[0].append(5)
    rows.append([1])
    return rows, rows[0]


def same_row():
    row = [1]
    twice = [row, row]
    row.append(2)
    return twice, len(twice[1])


def shown_list(n):
    xs = [""] * n
    for i in range(n):
        xs[i] = str(i)
    return f"{xs}"


def outside():
    return ["a"][3]


def empty_pop():
    xs = ["a"]
    xs.pop()
    return xs.pop()


def absent(xs):
    xs.remove("nothing")


@pytest.mark.parametrize(
    "function, args",
    [
        (texts, ()),
        (rows, (4,)),
        (changed, (["x", "y"],)),
        (words, ("the cat the dog",)),
        (turned, ([(1, "a"), (2, "0")],)),
        (groups, ()),
        (grid, (4,)),
        (search, (4,)),
        (by_key, (["bb", "a", "ccc"],)),
        (entries, ({"a": 1.5, "b": 2.0},)),
        (methods, ()),
        (nested, ([[1], [2]],)),
        (same_row, ()),
        (shown_list, (3,)),
        (outside, ()),
        (empty_pop, ()),
        (absent, (["a"],)),
    ],
)
def test_as_python(on, function, args):
    assert effects(compiled(on, function), args) == effects(function, args)
    gc.collect()
    assert _engine._live_tables() == 0


def test_the_same_list_comes_back(on):
    def give(xs):
        xs.append("b")
        return xs

    given = ["a"]
    assert compiled(on, give)(given) is given
    assert given == ["a", "b"]


def test_shared_inner_lists_stay_shared(on):
    def touch(xs):
        xs[0].append(7)
        return len(xs[1])

    row = [1, 2]
    given = [row, row]
    assert compiled(on, touch)(given) == 3
    assert row == [1, 2, 7]
    assert given[0] is given[1]


def test_arrays_as_items(on):
    def total(arrays):
        s = 0.0
        for a in arrays:
            a[0] += 1
            s += a.sum()
        arrays.append(arrays[0] * 2)
        return s

    a, b = np.ones(2), np.arange(3.0)
    given = [a, b]
    assert compiled(on, total)(given) == 7.0
    assert given[0] is a
    assert given[1] is b
    assert a.tolist() == [2.0, 1.0]
    assert np.asarray(given[2]).tolist() == [4.0, 2.0]


def test_items_of_two_types_are_refused(on):
    with pytest.raises(TypeError, match="entries of several types"):
        compiled(on, changed)(["a", 1])


def test_a_list_of_numbers_takes_no_text(on):
    def mixed():
        xs = [1]
        xs.append("a")
        return xs

    with pytest.raises(un.CompileError, match="list of int cannot take str"):
        compiled(on, mixed)()


def doubled(xs):
    for i in range(len(xs)):
        xs[i] *= 2
    xs.append(7)
    return sum(xs)


def ordered(xs):
    xs.sort()
    del xs[0]
    xs[0], xs[1] = xs[1], xs[0]
    return max(xs), len(xs), float(np.array(xs).sum())


def filled(xs, n):
    for i in range(n):
        xs.append(i * 0.5)
    return len(xs)


def only_read(xs):
    return xs[0] + sum(xs)


@pytest.mark.parametrize(
    "function, args",
    [
        (doubled, ([1, 2],)),
        (ordered, ([3.5, 1.5, 2.5],)),
        (filled, ([], 3)),
        (filled, ([1.0], 2)),
        (only_read, ([1, 2],)),
    ],
)
def test_lists_of_numbers_that_change(on, function, args):
    assert effects(compiled(on, function), args) == effects(function, args)


def test_tables_on_threads(on):
    @un.jit
    def size(n):
        return len({n: 1})

    def each(a):
        for i in un.prange(len(a)):
            a[i] = size(i)

    a = np.zeros(5000)
    try:
        compiled(on, each)(a)
    except RuntimeError as error:
        assert "cannot be made by the threads of a parallel loop" in str(error)
    else:
        assert a.min() == 1.0


def test_tables_in_elementwise_functions(on):
    @un.vectorize
    def size(n):
        return len({n: 1}) + n

    try:
        got = np.asarray(size(np.arange(3)))
    except (un.CompileError, RuntimeError) as error:
        assert "dict" in str(error)
    else:
        assert got.tolist() == [1, 2, 3]


def complex_items(xs, d):
    s = 0j
    for x in xs:
        s += x * x
    xs[0] = s
    d["z"] = xs[1] * 1j
    return (
        s,
        xs,
        abs(xs[1]),
        d["a"] / xs[1],
        {1: 2j},
        3j in xs,
        xs == [s, 3j],
        [c.real for c in d.values()],
    )


def test_complex_numbers_in_lists_and_dicts_that_are_passed(on):
    ours, theirs = ([1 + 2j, 3j], {"a": 1 + 1j}), ([1 + 2j, 3j], {"a": 1 + 1j})
    assert compiled(on, complex_items)(*ours) == complex_items(*theirs)
    assert ours == theirs
    with pytest.raises(ZeroDivisionError):
        compiled(on, complex_items)([1j, 0j], {"a": 1j})


def sorted_tuples(a, b, c):
    pairs = [(a[i], b[i]) for i in range(a.size)]
    floats = [(b[i], a[i]) for i in range(a.size)]
    triples = [(a[i], b[i], c[i]) for i in range(a.size)]
    texts = [(a[i], str(c[i])) for i in range(a.size)]
    pairs.sort()
    floats.sort(reverse=True)
    triples.sort()
    texts.sort(reverse=True)
    return pairs, floats, triples, sorted(triples, reverse=True), texts


def test_tuples_are_sorted_by_all_their_items(on):
    rng = np.random.default_rng(0)
    a, c = rng.integers(-3, 3, (2, 400))
    b = rng.choice([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf], 400)
    found = compiled(on, sorted_tuples)(a, b, c)
    for made, expected in zip(found, sorted_tuples(a, b, c), strict=True):
        plain = [tuple(getattr(x, "item", lambda x=x: x)() for x in row) for row in expected]
        assert repr(made) == repr(plain)
