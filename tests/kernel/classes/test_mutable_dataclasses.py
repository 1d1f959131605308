"""Dataclasses whose fields change in compiled functions, against the Python functions."""

import dataclasses
import gc
from dataclasses import dataclass, field

import numpy as np
import pytest
import unisono as un
from differential import effects
from jit_devices import host_devices
from unisono import _engine

pytestmark = pytest.mark.parametrize("on", host_devices())


@dataclass
class Particle:
    x: float
    v: float = 1.0
    hits: int = 0

    def step(self, dt):
        self.x += self.v * dt
        if self.x > 10.0:
            self.bounce()

    def bounce(self):
        self.v = -self.v
        self.hits += 1

    @property
    def energy(self):
        return 0.5 * self.v**2


@dataclass
class Account:
    owner: str
    entries: list[float] = field(default_factory=list)
    limits: dict[str, int] = field(default_factory=dict)


@dataclass
class Grid:
    data: np.ndarray
    name: str = "grid"
    origin: tuple = (0, 0)


@dataclass
class Node:
    value: int
    next: "Node | None" = None


@dataclass
class Pair:
    left: Particle
    right: Particle


@dataclass(order=True)
class Version:
    major: int
    minor: int = 0


@dataclass
class Circle:
    r: float
    area: float = 0.0

    def __post_init__(self):
        self.area = 3.0 * self.r**2


def compiled(on, function):
    return un.jit(function, device=on)


def move(p, n):
    for _ in range(n):
        p.step(0.5)
    return p.energy


def assign(p):
    p.x = 7.5
    p.hits += 3
    return p.x


def alias(p):
    q = p
    q.x = -1.0
    return p.x, q is p, p == q


def make(n):
    made = [Particle(float(i)) for i in range(n)]
    for p in made:
        p.step(1.0)
    first = made[0]
    first.hits = 9
    return made, first


def swap(pair):
    pair.left, pair.right = pair.right, pair.left
    pair.left.x += 100.0
    return pair.left.x


def pay(a, x):
    a.entries.append(x)
    a.limits["last"] = len(a.entries)
    a.owner = a.owner + "!"
    return sum(a.entries)


def open_account(name):
    a = Account(name)
    a.entries.append(1.5)
    a.limits["k"] = 2
    b = Account("other")
    return a, b, len(b.entries)


def fill(g):
    g.data[0, 0] = 5.0
    g.origin = (g.origin[1] + 1, g.origin[0])
    return float(g.data.sum()) + len(g.name)


def other_array(g, a):
    g.data = a
    g.data[0, 0] += 1.0
    return g.data.shape[0]


def chain(n):
    head = None
    for i in range(n):
        head = Node(i, head)
    total = 0
    node = head
    while node is not None:
        total += node.value
        node = node.next
    return total, head


def reverse(head):
    before = None
    node = head
    while node is not None:
        after = node.next
        node.next = before
        before = node
        node = after
    return before


def compare(a, b):
    return a < b, a == b, a >= b, a != b, Version(1, 2) == Version(1, 2), max(a.major, b.major)


def changed_copy(p):
    q = dataclasses.replace(p, x=1.0)
    q.hits = 4
    return q, p.hits


def fails(p):
    p.x = 3.0
    raise ValueError("late")


def chosen(a, b, first):
    p = a if first else b
    p.x = 50.0
    return p


def in_dict(names):
    d = {}
    for n in names:
        if n not in d:
            d[n] = Particle(0.0)
        d[n].hits += 1
    return d


def round_area(r):
    c = Circle(r)
    return c.area, isinstance(c, Circle)


@pytest.mark.parametrize(
    "function, args",
    [
        (move, (Particle(1.0), 30)),
        (assign, (Particle(1.0),)),
        (alias, (Particle(1.0),)),
        (make, (3,)),
        (swap, (Pair(Particle(1.0), Particle(2.0)),)),
        (pay, (Account("ann"), 2.5)),
        (open_account, ("bob",)),
        (fill, (Grid(np.zeros((2, 3))),)),
        (chain, (4,)),
        (reverse, (Node(1, Node(2, Node(3))),)),
        (compare, (Version(1), Version(1, 3))),
        (changed_copy, (Particle(2.0, hits=1),)),
        (fails, (Particle(1.0),)),
        (chosen, (Particle(1.0), Particle(2.0), False)),
        (in_dict, (["a", "b", "a"],)),
        (round_area, (2.0,)),
    ],
)
def test_as_python(on, function, args):
    gc.collect()
    before = _engine._live_objects()
    assert effects(compiled(on, function), args) == effects(function, args)
    gc.collect()
    assert _engine._live_objects() <= before


def test_objects_keep_their_identity(on):
    def give(pair):
        pair.left = pair.right
        return pair.right

    right = Particle(2.0)
    pair = Pair(Particle(1.0), right)
    assert compiled(on, give)(pair) is right
    assert pair.left is right


def test_one_object_twice(on):
    def both(a, b):
        a.x = 5.0
        b.x += 1.0
        return a is b

    p = Particle(0.0)
    assert compiled(on, both)(p, p)
    assert p.x == 6.0


def test_arrays_of_fields_stay_the_same(on):
    a = np.zeros((2, 2))
    g = Grid(np.ones((1, 2)))
    assert compiled(on, other_array)(g, a) == 2
    assert g.data is a
    assert a[0, 0] == 1.0


def test_a_list_of_objects_given(on):
    def push(particles, dt):
        for p in particles:
            p.step(dt)
        particles.append(Particle(0.25))

    given = [Particle(1.0), Particle(2.0)]
    first = given[0]
    compiled(on, push)(given, 2.0)
    assert given == [Particle(3.0), Particle(4.0), Particle(0.25)]
    assert given[0] is first


def test_only_what_changed_is_assigned(on):
    seen = []

    @dataclass
    class Watched:
        a: float
        b: float

        def __setattr__(self, name, value):
            seen.append(name)
            object.__setattr__(self, name, value)

    def touch(w):
        w.b = w.a + 1.0

    w = Watched(1.0, 0.0)
    seen.clear()
    compiled(on, touch)(w)
    assert seen == ["b"]
    assert w.b == 2.0


def test_parallel_reads(on):
    def total(p, a):
        for i in un.prange(len(a)):
            a[i] = p.v * i
        p.hits = len(a)

    p, a = Particle(0.0, 2.0), np.zeros(100)
    compiled(on, total)(p, a)
    assert p.hits == 100
    assert a[50] == 100.0


def test_a_field_without_a_type_is_refused(on):
    @dataclass
    class Odd:
        what: object

    with pytest.raises(TypeError, match="in its field 'what'"):
        compiled(on, assign)(Odd(object()))


def test_captured_objects(on):
    p = Particle(1.0)

    def move():
        p.x += 1
        return p.x

    f = compiled(on, move)
    assert f() == 2.0
    p.x = 5.0
    assert f() == 6.0 and p.x == 6.0


def test_a_value_of_another_type_is_refused(on):
    def spoil(p):
        p.hits = 1.5

    with pytest.raises(un.CompileError, match="attribute 'hits' of Particle"):
        compiled(on, spoil)(Particle(1.0))
