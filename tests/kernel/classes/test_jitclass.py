"""Compiled classes: one program run with the plain class by CPython, and compiled."""

import gc
import math
import re

import numpy as np
import pytest
import unisono as un
from unisono import _engine


class Vec:
    x: float
    y: float

    def __init__(self, x, y=0.0):
        self.x = x
        self.y = y

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def scale(self, k):
        self.x *= k
        self.y *= k

    def plus(self, other):
        return type(self)(self.x + other.x, self.y + other.y)

    @property
    def total(self):
        return self.x + self.y

    @total.setter
    def total(self, value):
        self.x = value - self.y

    @staticmethod
    def twice(k):
        return 2 * k

    def __repr__(self):
        return f"Vec({self.x}, {self.y})"


class Bag:
    count: int
    last: un.float32
    flag: bool
    values: un.float64[:]

    def __init__(self, values):
        self.count = len(values)
        self.values = values
        self.last = 0.0
        self.flag = False

    def add(self, k, by):
        self.values[k] += by
        self.last = by
        self.flag = by > 1

    def __len__(self):
        return self.count

    def __getitem__(self, k):
        return self.values[k]

    def __setitem__(self, k, v):
        self.values[k] = v

    def __call__(self, x):
        s = 0.0
        for k in range(self.count):
            s = s * x + self.values[k]
        return s

    def __eq__(self, other):
        return self.count == other.count and self.values[0] == other.values[0]

    def __lt__(self, other):
        return self.values[0] < other.values[0]


class Fixed:
    """Its methods name the class, as methods in files do."""

    x: float

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Money(self.x + other.x)

    def __mul__(self, k):
        return Money(self.x * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Money(-self.x)

    def __bool__(self):
        return self.x != 0

    def changed(self):
        self.x += 1
        return self


Money = un.jitclass(Fixed)
CVec, CBag = un.jitclass(Vec), un.jitclass(Bag)


@un.jitclass
class Node:
    value: int
    next: "Node | None"

    def __init__(self, value, next):
        self.value = value
        self.next = next


@un.jitclass
class Walk:
    where: CVec
    steps: int

    def __init__(self, where):
        self.where = where
        self.steps = 0

    def go(self, dx):
        self.where.x += dx
        self.steps += 1
        return self.where


@pytest.fixture(autouse=True)
def no_leaks():
    gc.collect()
    before = _engine._live_objects()
    yield
    gc.collect()
    assert _engine._live_objects() <= before


class TestFromPython:
    def test_attributes_and_methods(self):
        for cls in (Vec, CVec):
            v = cls(3.0, y=4)
            assert (v.x, v.y, v.norm(), v.total) == (3.0, 4.0, 5.0, 7.0)
            v.scale(2.0)
            v.x = v.x + 1
            v.total = 20.0
            assert repr(v) == "Vec(12.0, 8.0)"
            assert v.twice(4) == cls.twice(4) == 8
            assert cls(1.5).y == 0.0

    def test_special_methods(self):
        for cls in (Bag, CBag):
            values = np.arange(4.0)
            b = cls(values)
            b.add(1, by=2.5)
            b[2] = 9
            assert (len(b), b[1], b.last, b.flag, b(2.0)) == (4, 3.5, 2.5, True, 35.0)
            assert values[2] == 9.0
            assert b == cls(np.zeros(4)) and b != cls(np.ones(4))
            assert b < cls(np.ones(1)) and not b > cls(np.ones(1))

    def test_operators(self):
        m = 2 * (Money(1.0) + Money(2.0)) * 1.5
        assert (-m).x == -9.0 and m and not Money(0.0)
        m += Money(1.0)
        assert m.x == 10.0
        with pytest.raises(TypeError):
            m + "a"

    def test_arrays_are_shared_and_kept(self):
        a = np.arange(5.0)
        b = CBag(a)
        b.values[1] = 100
        assert a[1] == 100
        a[2] = 50
        assert b[2] == 50 and b.values[2] == 50
        held = b.values
        del a, b
        gc.collect()
        assert held[1] == 100
        u = un.arange(3.0)
        b = CBag(u)
        b[0] = 7
        assert float(u[0]) == 7
        u += 1
        assert b[0] == 8

    def test_errors_are_pythons(self):
        v = CVec(1.0)
        with pytest.raises(AttributeError):
            v.z + 1
        with pytest.raises(AttributeError):
            v.z = 1
        with pytest.raises(TypeError, match="argument 'x' is missing"):
            CVec()
        with pytest.raises(TypeError):
            CVec(1.0, 2.0, 3.0)
        with pytest.raises(IndexError):
            CBag(np.zeros(2))[2]
        with pytest.raises((TypeError, un.CompileError)):
            v.x = "text"
        with pytest.raises(TypeError):
            hash(CBag(np.zeros(2)))
        assert CVec(1.0) != CVec(1.0) and v == v and len({v, v}) == 1

    def test_identity(self):
        w = Walk(CVec(1.0))
        assert w.where == w.where
        v = w.go(2.0)
        assert v.x == 3.0 and w.steps == 1
        m = Money(1.0)
        assert m.changed() is m


class TestInside:
    def test_made_passed_returned(self):
        @un.jit
        def f(n):
            total = CVec(0.0, 0.0)
            for i in range(n):
                v = CVec(i, y=1.0)
                v.scale(2.0)
                total.x += v.x
                total.y += v.norm()
            return total

        t = f(10)
        assert t.x == 90.0
        assert t.y == sum(math.hypot(2.0 * i, 2.0) for i in range(10))

    def test_callers_see_changes(self):
        @un.jit
        def shift(v, dx):
            w = v
            w.x += dx
            v.total = v.total + 1

        v = CVec(1.0, 2.0)
        shift(v, 5.0)
        assert v.x == 7.0

    def test_one_object_twice(self):
        @un.jit
        def both(a, b):
            a.x = 1.0
            b.x += 1.0
            return a.x, a is b, a == b

        v, w = CVec(0.0), CVec(0.0)
        assert both(v, v) == (2.0, True, True)
        assert both(v, w) == (1.0, False, False)

    def test_arrays_of_objects(self):
        @un.jit
        def fill(b, n):
            for i in range(n):
                b.values[i] = 2 * i
                b[i] += 1
            return b.values.sum() + len(b) + b(0.5)

        plain, compiled = Bag(np.zeros(6)), CBag(np.zeros(6))
        assert fill.py_func(plain, 6) == fill(compiled, 6)
        np.testing.assert_array_equal(plain.values, compiled.values)

        @un.jit
        def alias(b, a):
            b.values[0] = 5.0
            a[0] += 1.0
            return b.values[0]

        a = np.zeros(3)
        assert alias(CBag(a), a) == 6.0

        @un.jit
        def own(a):
            b = CBag(a)
            b.values[0] = 5.0
            a[0] += 1.0
            return b.values[0]

        assert own(np.zeros(3)) == 6.0

    def test_new_arrays_in_objects(self):
        @un.jit
        def make(n):
            b = CBag(np.ones(n))
            b.values[0] = 3.0
            return b

        b = make(4)
        assert b.values.tolist() == [3.0, 1.0, 1.0, 1.0]

        @un.jit
        def swap(b, n):
            old = b.values
            b.values = np.zeros(n)
            b.count = n
            b.values[0] = old[0] + 1
            return old

        old = swap(b, 2)
        assert old.tolist() == [3.0, 1.0, 1.0, 1.0] and b.values.tolist() == [4.0, 0.0]

    def test_linked_list(self):
        @un.jit
        def build(n):
            first = None
            for i in range(n):
                first = Node(i, first)
            return first

        @un.jit
        def total(node):
            s = 0
            while node is not None:
                s += node.value
                node = node.next
            return s

        assert total(build(1000)) == 999 * 500
        assert build(3).next.next.value == 0 and build(1).next is None
        assert build(0) is None
        big = build(300_000)
        del big  # one after the other, not one inside of the other

        @un.jit
        def beyond(node):
            return node.next.next.value

        with pytest.raises(TypeError, match="'NoneType' object has no attribute 'value'"):
            beyond(build(2))

    def test_reversed_list(self):
        @un.jit
        def turned(node):
            done = None
            while node is not None:
                rest = node.next
                node.next = done
                done = node
                node = rest
            return done

        n = turned(Node(1, Node(2, Node(3, None))))
        assert [n.value, n.next.value, n.next.next.value] == [3, 2, 1]

    def test_swapped_and_in_tuples(self):
        @un.jit
        def f(a, b):
            a, b = b, a
            t = (a, b, 3)
            for _ in range(3):
                t = (t[1], t[0], t[2])
            t[0].x += 10
            return t

        v, w = CVec(1.0), CVec(2.0)
        t = f(v, w)
        assert t[0] is v and t[1] is w and v.x == 11.0

    def test_paths(self):
        @un.jit
        def pick(a, b, first):
            if first:
                c = a
            else:
                c = b
            c.x += 1
            return c

        v, w = CVec(1.0), CVec(2.0)
        assert pick(v, w, True) is v and pick(v, w, False) is w
        assert (v.x, w.x) == (2.0, 3.0)

    def test_fields_that_change_under_a_name(self):
        @un.jit
        def f(w, v):
            first = w.where
            w.where = v
            w.where.x += 1
            return first, w.where.x, v.x

        old, new = CVec(1.0), CVec(5.0)
        first, a, b = f(Walk(old), new)
        assert first.x == 1.0 and (a, b) == (6.0, 6.0)

    def test_prange(self):
        @un.jit
        def f(b):
            s = 0.0
            for i in un.prange(len(b)):
                b.values[i] = i
                v = CVec(i, 1.0)
                s += v.total
            return s

        b = CBag(np.zeros(1000))
        assert f(b) == 999 * 500 + 1000
        np.testing.assert_array_equal(b.values, np.arange(1000.0))

        @un.jit
        def race(b):
            for _ in un.prange(10):
                b.count += 1

        with pytest.raises(un.CompileError, match=r"write the same element of 'b\.count'"):
            race(b)

    def test_after_an_error(self):
        @un.jit
        def f(b, k):
            v = CVec(1.0)
            w = Walk(v)
            return b[k] + w.where.x

        b = CBag(np.zeros(2))
        for _ in range(5):
            with pytest.raises(IndexError):
                f(b, 7)

    def test_interpreted(self):
        @un.jit(device="interp")
        def f(a, n):
            b = CBag(a)
            first = None
            for i in range(n):
                b.values[i] *= 2
                first = Node(i, first)
            return b[1] + first.value + len(b), b

        a = np.arange(4.0)
        total, b = f(a, 3)
        assert total == 2.0 + 2 + 4 and a.tolist() == [0.0, 2.0, 4.0, 3.0]
        assert b.values[2] == 4.0

    def test_a_field_that_keeps_its_array_is_read_once(self):
        bag = CBag(np.ones(5))

        @un.jit
        def f(b, n):
            for i in range(n):
                b.values[i] *= 3

        f(bag, 5)
        loop = f.inspect_ir().partition("for i")[2]
        assert "block_keep" not in loop and bag.values.tolist() == [3.0] * 5


class TestDeclared:
    def test_spec(self):
        @un.jitclass([("n", un.int32), ("data", un.float32[:, ::1])])
        class Grid:
            def __init__(self, n):
                self.n = n
                self.data = np.zeros((n, n), dtype=np.float32)

            def set(self, i, j, v):
                self.data[i, j] = v

        g = Grid(3)
        g.set(1, 2, 5)
        assert g.data[1, 2] == 5 and g.n == 3 and np.asarray(g.data).dtype == np.float32

    def test_numbers_are_converted(self):
        v = CVec(1, 2)
        assert type(v.x) is float
        b = CBag(np.zeros(2))
        b.last = 0.1
        assert b.last == np.float32(0.1)

    def test_refused(self):
        with pytest.raises(TypeError, match="'A.n' is a field and cannot have a value"):

            @un.jitclass
            class A:
                n: int = 3

        @un.jitclass
        class B:
            n: int

            def __init__(self):
                self.m = 1

        with pytest.raises(un.CompileError, match="B has no attribute 'm'"):
            B()

        @un.jitclass
        class C:
            n: dict

            def __init__(self):
                self.n = 1

        with pytest.raises(TypeError, match="field 'n' of 'C'"):
            C()

        @un.jitclass
        class D:
            n: int

            def __init__(self, x):
                self.n = x

        with pytest.raises(un.CompileError, match="attribute 'n' of D is declared as int"):
            D(1.5)


def test_memory_does_not_grow():
    @un.jit
    def churn(b, n):
        for i in range(n):
            b.values = np.ones(100) * i
            w = Walk(CVec(i))
            w.where = CVec(2.0)
        return b

    b = CBag(np.zeros(100))
    churn(b, 10)
    before = un.stats()["bytes_in_use"]
    churn(b, 1000)
    assert un.stats()["bytes_in_use"] == before
    for _ in range(1000):
        CBag(np.zeros(10)).add(1, 2.0)
    assert un.stats()["bytes_in_use"] == before


@un.jitclass
class Level:
    height: float

    def __init__(self, height):
        self.height = height

    def __abs__(self):
        return abs(self.height)

    def __float__(self):
        return self.height

    def __int__(self):
        return int(self.height)

    def __complex__(self):
        return complex(self.height, 1.0)

    def __round__(self):
        return round(self.height)

    def __contains__(self, x):
        return x == self.height


def level_conversions(v):
    return abs(v), float(v), int(v), complex(v), round(v), 3.0 in v, -2.5 in v, 1.0 not in v


def test_conversions_of_objects():
    level = Level(-2.5)
    want = (2.5, -2.5, -2, -2.5 + 1j, -2, False, True, True)
    assert level_conversions(level) == want
    assert un.jit(level_conversions)(level) == want


@un.jitclass
class Sample:
    x: float

    def __init__(self, x):
        self.x = x


@un.jitclass(
    [
        ("name", un.types.unicode_type),
        ("rows", un.types.ListType(un.types.float64[:])),
        ("seen", un.types.DictType(un.types.int64, un.types.unicode_type)),
        ("pair", un.types.UniTuple(un.types.int64, 2)),
        ("best", un.float64),
    ]
)
class Store:
    scores: "list[float]"
    sample: Sample

    def __init__(self, name):
        self.name = name
        self.rows = [np.zeros(2)]
        self.seen = un.typed.Dict.empty(un.types.int64, un.types.unicode_type)
        self.pair = (1, 2)
        self.best = 0
        self.scores = un.typed.List.empty_list(un.types.float64)
        self.sample = Sample(0.5)

    def add(self, row):
        self.rows.append(row)
        self.scores.append(row.max())
        self.seen[len(self.rows)] = self.name
        self.best = max(self.best, row.max() + self.sample.x)
        return len(self.rows)

    @property
    def total(self):
        s = 0.0
        for r in self.rows:
            s += r.sum()
        return s


@un.jitclass([("store", Store.class_type.instance_type), ("k", un.int32)])
class Around:
    def __init__(self, store):
        self.store = store
        self.k = 3

    def count(self):
        return self.store.add(np.ones(2)) + self.k


def test_fields_that_are_containers_and_text():
    store = Store("a")
    assert hasattr(Store.add, "py_func")
    assert store.add(np.ones(3)) == 2 and store.best == 1.5
    assert store.seen == {2: "a"} and store.scores == [1.0] and store.total == 3.0

    @un.jit
    def use(s, k):
        for i in range(k):
            s.add(np.full(2, float(i)))
        return s.name + str(s.pair[1]), s.total

    assert use(store, 3) == ("a2", 9.0)
    assert len(store.rows) == 5 and store.best == 2.5 and store.seen[5] == "a"

    @un.jit
    def make():
        made = Store("made")
        made.add(np.ones(1))
        return made

    made = make()
    assert made.name == "made" and len(made.rows) == 2 and made.scores == [1.0]
    assert Around(made).count() == 6 and len(made.rows) == 3


def test_containers_of_given_values_are_fields():
    d, items = {1: "apple"}, [123.0]

    @un.jitclass([("d", un.typeof(d)), ("items", un.typeof(items))])
    class Holder:
        def __init__(self, d, items):
            self.d = d
            self.items = items

        def both(self):
            return self.d[1] + str(self.items[0])

    held = Holder(d, items)
    assert held.both() == "apple123.0" and held.d is d


class Shelf:
    values: un.float64[:]
    spare: un.float64[:]

    def __init__(self, n):
        self.values = np.zeros(n)
        self.spare = np.ones(n)

    def put(self, i, v):
        self.values[i] = v

    def get(self, i):
        return self.values[i]

    def all_values(self):
        return self.values

    def tail(self):
        return self.values[1:]

    def swap(self):
        old = self.values
        self.values = self.spare
        self.spare = old

    def replace(self, v):
        old = self.values
        self.values = np.full(len(old), v)
        old[0] = v
        return old[0] + old[1]

    def share(self):
        self.spare = self.values

    def first_or_last(self, first):
        return self.values[0] if first else self.spare[-1]


CShelf = un.jitclass(Shelf)


def test_methods_called_in_loops_do_not_count_who_holds_an_array():
    @un.jit
    def fill(s, n):
        t = 0.0
        for i in range(n):
            s.put(i, i * 0.5)
            t += s.get(i)
        return t

    shelf = CShelf(100)
    assert fill(shelf, 100) == sum(i * 0.5 for i in range(100))
    text = "\n".join(fill.inspect_llvm().values())
    assert not re.search(r"call .*block_(keep|release)", text)
    with pytest.raises(IndexError):
        fill(shelf, 101)


def shelved(s, n):
    s.put(1, 3.0)
    kept = s.all_values()
    tail = s.tail()
    t = 0.0
    for i in range(n):
        t += s.replace(i + 1.0) + s.first_or_last(i % 2 == 0)
        s.swap()
        s.put(0, 7.0 + i)
        s.share()
        s.replace(2.0)
    return t + kept[1] + tail[0], kept


def test_arrays_outlive_their_attribute():
    run = un.jit(shelved)
    want, kept = shelved(Shelf(50), 9)
    got, made = run(CShelf(50), 9)
    assert got == want and np.array_equal(np.asarray(made), kept)
    del made
    gc.collect()
    before = un.stats()["bytes_in_use"]
    for _ in range(50):
        assert run(CShelf(50), 9)[0] == want
    gc.collect()
    assert un.stats()["bytes_in_use"] == before
