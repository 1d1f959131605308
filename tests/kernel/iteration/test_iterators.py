"""Iterators of itertools, functions of heapq and operator in compiled functions, compared with CPython."""

import functools
import heapq
import itertools
import operator
from dataclasses import dataclass

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())


@dataclass(order=True)
class Event:
    time: float
    kind: str


@un.jit
def multiples(n):
    value = 0
    while True:
        yield value
        value += n


def chosen(xs):
    pairs = []
    for number, (x, y) in enumerate(itertools.combinations(xs, 2)):
        if number == 1:
            continue
        if number > 4:
            break
        pairs.append(x * y)
    else:
        pairs.append(-1)
    again = [a * b for a, b in itertools.combinations_with_replacement(xs, 2)]
    orders = list(itertools.permutations((1, 2, 3)))
    triples = sum(1 for _ in itertools.permutations(xs, 3))
    return pairs, again, orders, triples, list(itertools.permutations(range(4), 1))


def accumulated(xs):
    plain = list(itertools.accumulate(xs))
    product = list(itertools.accumulate(xs, operator.mul))
    least = list(itertools.accumulate(xs, lambda a, b: min(a, b), initial=2))
    return plain, product, least


def selected(xs):
    taken = list(itertools.takewhile(lambda x: x < 3, xs))
    left = list(itertools.dropwhile(lambda x: x < 3, xs))
    odd = list(itertools.filterfalse(lambda x: x % 2 == 0, xs))
    falsy = list(itertools.filterfalse(None, xs))
    return taken, left, odd, falsy, list(itertools.compress(xs, [True, False, True]))


def joined(xs, rows):
    several = list(itertools.starmap(lambda a, b: a - b, zip(xs, xs[::-1], strict=False)))
    longest = list(itertools.zip_longest(xs, rows[0], fillvalue=-1))
    flat = list(itertools.chain.from_iterable(rows))
    groups = [(key, len(list(group))) for key, group in itertools.groupby("aaabcc")]
    by_parity = [(key, sum(group)) for key, group in itertools.groupby(xs, lambda x: x % 2)]
    return several, longest, flat, groups, by_parity


def endless(xs):
    out = []
    for letter, x in zip(itertools.cycle("ab"), xs):
        out.append(f"{letter}{x}")
    for i, x in zip(itertools.count(1), xs):
        out.append(str(i * x))
    for t in itertools.count(0.5, 0.1):
        if t > 1.0:
            break
        out.append(str(t))
    for x in itertools.cycle(xs[:0]):
        out.append(str(x))
    return out


def lazy(n):
    first = [x for x in itertools.islice(multiples(n), 3)]
    middle = list(itertools.islice(multiples(n), 2, 9, 3))
    small = sum(itertools.takewhile(lambda x: x < 20, multiples(n)))
    return first, middle, small, sum(itertools.islice(multiples(n), 0))


def operators(xs):
    pairs = list(zip(xs, xs[::-1], strict=False))
    events = [Event(float(x), "abc"[x % 3]) for x in xs]
    events.sort(key=lambda e: -e.time)
    return (
        functools.reduce(operator.mul, xs),
        sorted(pairs, key=operator.itemgetter(1)),
        max(pairs, key=operator.itemgetter(1, 0)),
        [e.kind for e in sorted(events, key=operator.attrgetter("kind", "time"))],
        operator.truediv(xs[0], 2),
        operator.contains(xs, 3),
        list(map(operator.neg, xs)),
    )


def heaps(xs):
    heap = list(xs)
    heapq.heapify(heap)
    order = list(heap)
    heapq.heappush(heap, 2)
    seen = [heapq.heappushpop(heap, 1), heapq.heapreplace(heap, 9), heapq.heappushpop(heap, -5)]
    while heap:
        seen.append(heapq.heappop(heap))
    return order, seen, heapq.nlargest(2, xs), heapq.nsmallest(2, xs, key=lambda x: -x)


def events(until):
    queue = [Event(0.0, "start")]
    log = []
    while queue:
        event = heapq.heappop(queue)
        log.append((event.time, event.kind))
        if event.time < until:
            heapq.heappush(queue, Event(event.time + 1.0, "step"))
            heapq.heappush(queue, Event(event.time + 1.5, "end" if event.time > 1 else "half"))
    return log


def shortest(weights):
    n = len(weights)
    distances = [float("inf")] * n
    distances[0] = 0.0
    queue = [(0.0, 0)]
    while queue:
        distance, u = heapq.heappop(queue)
        if distance > distances[u]:
            continue
        for v, weight in enumerate(weights[u]):
            if weight > 0 and distance + weight < distances[v]:
                distances[v] = distance + weight
                heapq.heappush(queue, (distances[v], v))
    return distances


def pop_of_nothing():
    heap = [1.5]
    heapq.heappop(heap)
    return heapq.heappop(heap)


XS = [3, 1, 2, 4, 0, 5]
WEIGHTS = [[0.0, 4.0, 1.0, 0.0], [4.0, 0.0, 2.0, 5.0], [1.0, 2.0, 0.0, 8.0], [0.0, 5.0, 8.0, 0.0]]
CASES = [
    (chosen, [(XS,), ([2, 3],), ([],)]),
    (accumulated, [(XS,), ([1.5, 2.5],)]),
    (selected, [(XS,), ([4, 1, 1],)]),
    (joined, [(XS, [[1, 2], [], [3]])]),
    (endless, [(XS,)]),
    (operators, [(XS,)]),
    (heaps, [(XS,), ([2, 2, 1],)]),
    (events, [(2.5,)]),
    (shortest, [(WEIGHTS,)]),
]


@pytest.mark.parametrize("function, calls", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_as_python(function, calls, on):
    compiled = un.jit(function, device=on)
    assert [compiled(*args) for args in calls] == [function(*args) for args in calls]


def test_generators_that_never_end_give_what_is_asked_for(on):
    expected = [0, 3, 6], [6, 15, 24], 0 + 3 + 6 + 9 + 12 + 15 + 18, 0
    assert un.jit(lazy, device=on)(3) == expected


def test_a_heap_of_the_caller(on):
    @un.jit(device=on)
    def settle(heap):
        heapq.heapify(heap)
        heapq.heappush(heap, heap[0] + heap[1])

    for given in ([3, 1, 2, 0], ["d", "b", "c"], [2.5, -1.0]):
        expected = list(given)
        settle.py_func(expected)
        settle(given)
        assert given == expected


def test_a_heap_of_elements_of_an_array(on):
    @un.jit(device=on)
    def tree(weights):
        queue = [(0.0, 0)]
        seen = np.zeros(weights.shape[0], dtype=np.bool_)
        total = 0.0
        while queue:
            weight, u = heapq.heappop(queue)
            if not seen[u]:
                seen[u] = True
                total += weight
                for v in range(weights.shape[0]):
                    if weights[u, v] > 0 and not seen[v]:
                        heapq.heappush(queue, (weights[u, v], v))
        return total

    assert tree(np.array(WEIGHTS)) == tree.py_func(np.array(WEIGHTS)) == 8.0


def test_pop_of_an_empty_heap(on):
    with pytest.raises(IndexError) as expected:
        pop_of_nothing()
    with pytest.raises(IndexError, match=f"^{expected.value}"):
        un.jit(pop_of_nothing, device=on)()


def test_orders_of_unknown_length_are_refused(on):
    @un.jit(device=on)
    def orders(xs):
        return [p for p in itertools.permutations(xs)]

    with pytest.raises(un.CompileError, match="constant number of items"):
        orders(XS)

    @un.jit(device=on)
    def kept(xs):
        pairs = itertools.combinations(xs, 2)
        return len(pairs)

    with pytest.raises(un.CompileError, match="an iterator as a value of its own"):
        kept(XS)
