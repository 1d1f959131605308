"""deque, defaultdict, Counter and OrderedDict that compiled functions make, and members of Enum."""

import collections
import copy
import enum
from collections import Counter, OrderedDict, defaultdict, deque

import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


class Color(enum.Enum):
    RED = 1
    GREEN = 2


class Unit(enum.Enum):
    METRE = "m"
    SECOND = "s"


class Op(enum.IntEnum):
    ADD = enum.auto()
    MULTIPLY = enum.auto()


def outcome(function, args):
    try:
        return repr(function(*copy.deepcopy(args)))
    except Exception as error:
        return type(error).__name__, str(error)


def breadth_first(graph, start):
    queue = deque([start])
    distance = {start: 0}
    while queue:
        node = queue.popleft()
        for other in graph[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def on_a_grid(rows):
    height, width = len(rows), len(rows[0])
    queue: collections.deque = collections.deque()
    queue.append((0, 0, 0))
    seen = {(0, 0)}
    while len(queue) > 0:
        r, c, steps = queue.popleft()
        if r == height - 1 and c == width - 1:
            return steps
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            to = (r + dr, c + dc)
            if 0 <= to[0] < height and 0 <= to[1] < width and not rows[to[0]][to[1]]:
                if to not in seen:
                    seen.add(to)
                    queue.append((to[0], to[1], steps + 1))
    return -1


def deques(n):
    d = deque(range(n))
    d.rotate(2)
    d.rotate(-3)
    d.appendleft(9)
    x = d.pop()
    y = d.popleft()
    d.extend([7, 8])
    d.extendleft((1, 2))
    d[0] += 5
    d.remove(7)
    d.insert(1, 40)
    d.reverse()
    return (
        list(d),
        x,
        y,
        d[0],
        d[-1],
        len(d),
        8 in d,
        77 in d,
        d.count(1),
        not d,
        [2 * v for v in d],
    )


def bounded(xs, k):
    window = deque(maxlen=k)
    made = []
    for x in xs:
        window.append(x)
        made.append(sum(window) / len(window))
    last = deque(xs, maxlen=2)
    last.appendleft(0.5)
    last.extend([1.0, 2.0, 3.0])
    return made, list(window), list(last), window.maxlen


def from_nothing(n):
    d = deque([n])
    d.popleft()
    return d.popleft()


def words(text):
    count = defaultdict(int)
    places = defaultdict(list)
    lengths = defaultdict(set)
    weight = defaultdict(float)
    for i, w in enumerate(text.split()):
        count[w] += 1
        places[w].append(i)
        lengths[len(w)].add(w)
        weight[w[0]] += len(w) / 2
        places["all"] += [i]
    missing = count["missing"]
    firsts = {w: places[w][0] for w in sorted(places)}
    return missing, dict(count), firsts, sorted(lengths[3]), "missing" in count, dict(weight)


def nested(pairs):
    table = defaultdict(lambda: defaultdict(int))
    least = defaultdict(lambda: 1e9)
    for a, b, n in pairs:
        table[a][b] += n
        least[a] = min(least[a], n * 0.5)
    return [(a, sorted(table[a].items())) for a in sorted(table)], sorted(least.items())


def counted(text):
    c = Counter(text)
    c["e"] += 2
    c.update("zzz")
    c.subtract("he")
    d = Counter()
    for w in text.split():
        d[w] += 1
    return (
        c.most_common(3),
        c["e"],
        c["?"],
        len(c),
        "?" in c,
        c.total(),
        d.most_common(),
        sorted(d.elements()),
    )


def inside(n):
    seen = defaultdict(int)

    def visit(k):
        seen[k % 3] += 1
        if k > 0:
            visit(k - 1)

    visit(n)
    return sorted(seen.items())


def in_order(n):
    d = OrderedDict()
    for k in range(n):
        d[k] = k * k
    d.move_to_end(1)
    d.move_to_end(2, last=False)
    first = d.popitem(last=False)
    return list(d.items()), first, d.popitem()


def operated(op, a, b):
    if op == Op.ADD:
        return a + b
    if op == Op.MULTIPLY:
        return a * b
    return Op.ADD + Op.MULTIPLY.value


def coloured(n):
    c = Color.RED
    if n > 2:
        c = Color.GREEN
    counts = {Color.RED: 0, Color.GREEN: 0}
    for other in Color:
        counts[other] += other.value
    return c == Color.GREEN, c is Color.RED, c is not Color.RED, c.value, Color.RED.name, c, counts


def units(u):
    return u is Unit.METRE, u == Unit.SECOND, u.value + "!", u


GRAPH = {0: [1, 2], 1: [3], 2: [3, 4], 3: [5], 4: [5], 5: []}
TEXT = "the quick brown fox jumps over the lazy dog the fox"
CASES = [
    (breadth_first, GRAPH, 0),
    (on_a_grid, [[0, 1, 0], [0, 0, 0], [1, 1, 0]]),
    (on_a_grid, [[0, 1], [1, 0]]),
    (deques, 5),
    (bounded, [1.0, 2.0, 3.0, 5.0], 3),
    (from_nothing, 3),
    (words, TEXT),
    (nested, [(1, 2, 3), (1, 2, 4), (0, 5, 6)]),
    (counted, TEXT),
    (inside, 10),
    (in_order, 4),
    *[(operated, k, 3, 4) for k in (1, 2, 3)],
    (coloured, 1),
    (coloured, 3),
    *[(units, u) for u in Unit],
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__}-{c[1:]!r}"[:40])
def test_as_python(on, case):
    function, *args = case
    assert outcome(un.jit(function, device=on), args) == outcome(function, args)


def given_away(n):
    d = deque([n])
    return d


def copied(n):
    c = Counter()
    c[n] += 1
    e = c
    return e[n]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            given_away,
            r"a deque as a value of its own is not supported[^$]*give a copy, as in list\(x\)",
        ),
        (copied, r"a Counter as a value of its own is not supported[^$]*dict\(x\)"),
    ],
)
def test_refused(on, function, text):
    with pytest.raises(un.CompileError, match=text):
        un.jit(function, device=on)(1)
