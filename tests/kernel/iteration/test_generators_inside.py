"""Generators that are defined inside, call themselves, or are held in names: with CPython and compiled."""

import itertools

import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def inside(n):
    scale = 3

    def multiples(m, first=1):
        for i in range(first, m):
            yield i * scale

    scale = 4
    return list(multiples(n)), sum(x for x in multiples(n, 2)), max(multiples(first=0, m=n))


def chained(n):
    def numbers(k):
        yield from range(k)

    def odd(k):
        for i in numbers(k):
            if i % 2:
                yield i

    def squares(k):
        for i in odd(k):
            yield i * i

    return [(k, x) for k, x in enumerate(squares(n))]


def with_finally(n):
    log = []

    def items(k):
        try:
            for i in range(k):
                log.append(i)
                yield i
        finally:
            log.append(-1)

    total = 0
    for x in items(n):
        if x == 3:
            break
        total += x
    log.append(-2)
    try:
        for x in items(2):
            total += 10 // (x - 1)
    except ZeroDivisionError:
        log.append(-3)
    return total, log


def with_handlers(n):
    def items(k):
        for i in range(k):
            try:
                yield 12 // (i - 1)
            except ZeroDivisionError:
                yield -1

    made = []
    try:
        for x in items(n):
            made.append(6 // (x - 6))
    except ZeroDivisionError:
        made.append(100)
    return made


def left_in_a_handler(n):
    def pairs(k):
        for i in range(k):
            for j in range(3):
                yield 10 * i + j

    made = []
    for x in pairs(n):
        try:
            made.append(100 // (x - 11))
        except ZeroDivisionError:
            break
    return made


def counts_around(n):
    count = 0

    def items(k):
        nonlocal count
        for i in range(k):
            count += 1
            yield i

    total = 0
    for x in items(n):
        total += x * count
    return total, count


# ---- that call themselves


def tower(n, a, b, c):
    if n > 0:
        yield from tower(n - 1, a, c, b)
        print("from", a, "to", c)
        yield a, c
        yield from tower(n - 1, b, a, c)


def moves(n):
    count = 0
    last = "none"
    for a, c in tower(n, "A", "B", "C"):
        count += 1
        if count == 2:
            continue
        print(count, a, c)
        last = a
        if count == 5:
            break
    return count, last


def walks(n):
    left, right = [1, 3, -1, -1], [2, -1, -1, -1]

    def walk(i):
        if i >= 0:
            yield from walk(left[i])
            yield i
            yield from walk(right[i])

    most = 0
    for k in walk(0):
        most = max(most, k + n)
    return most, list(walk(0)), any(k == 2 for k in walk(0))


def permutations(n):
    def orders(xs):
        if len(xs) <= 1:
            yield xs
        else:
            for i in range(len(xs)):
                for rest in orders(xs[:i] + xs[i + 1 :]):
                    yield [xs[i], *rest]

    return list(orders([k for k in range(n)]))


def queens(n):
    def place(row, columns):
        if row == n:
            yield columns
            return
        for c in range(n):
            if all(columns[r] != c and abs(columns[r] - c) != row - r for r in range(row)):
                yield from place(row + 1, [*columns, c])

    found = []
    for columns in place(0, []):
        found.append(columns)
    return len(found), found[0]


# ---- held in names


def comes_late(n):
    log = [0]

    def items(k):
        for i in range(k):
            log.append(i)
            yield 10 * i

    made = items(n)
    log.append(-1)
    first = next(made)
    log.append(-2)
    rest = [x for x in made]
    return first, rest, next(made, -5), log


def prints(n):
    def items(k):
        print("begins")
        while k > 0:
            yield k
            print("after", k)
            k -= 1

    made = items(n)
    print("made")
    total = next(made)
    for x in made:
        print("got", x)
        if x == 2:
            break
        total += x
    else:
        print("all")
    return total, sum(made)


def endless(n):
    def primes():
        found = []
        k = 2
        while True:
            if all(k % p for p in found):
                found.append(k)
                yield k
            k += 1

    made = primes()
    even = (k for k in itertools.count() if k % 2 == 0)
    colours = itertools.cycle([1, 2, 3])
    return [next(made) + next(even) * next(colours) for _ in range(n)]


def sees_changes(n):
    items = [1, 2]
    scale = 2
    made = (x * scale for x in items)
    items.append(n)
    scale = 3
    both = zip(items, items[1:], strict=False)
    items[0] = 7
    return list(made), next(both), list(both)


@un.jit
def adds(items):
    items.append(99)


def changed_by_a_function(n):
    items = [1, n]
    made = (x + 1 for x in items)
    adds(items)
    others = [0]
    others.append(3) if n > 2 else others.append(4)
    return list(made), others


def ends(n):
    made = (x for x in range(n))
    next(made)
    try:
        next(made)
    except StopIteration:
        return "stopped"
    return "there"


CASES = [
    (inside, [5, 1]),
    (chained, [7]),
    (with_finally, [5, 2]),
    (with_handlers, [2, 4]),
    (left_in_a_handler, [4, 1]),
    (counts_around, [4]),
    (moves, [0, 2, 3]),
    (walks, [1]),
    (permutations, [3]),
    (queens, [4, 5]),
    (comes_late, [3, 1]),
    (prints, [1, 4]),
    (endless, [5]),
    (sees_changes, [4]),
    (changed_by_a_function, [1, 5]),
    (ends, [1, 2]),
]


_TRIES = pytest.mark.host_only("exceptions are caught on the host")
_RECURSION = pytest.mark.host_only("recursion")
HOST_ONLY = {
    **dict.fromkeys(("with_finally", "with_handlers", "left_in_a_handler", "ends"), _TRIES),
    **dict.fromkeys(("moves", "walks", "permutations", "queens"), _RECURSION),
}


@pytest.mark.parametrize(
    ("function", "n"),
    [pytest.param(f, n, marks=HOST_ONLY.get(f.__name__, ())) for f, ns in CASES for n in ns],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_as_python(function, n, capsys):
    def outcome(f):
        try:
            return f(n), capsys.readouterr().out
        except ValueError as error:
            return str(error), capsys.readouterr().out

    assert outcome(un.jit(function)) == outcome(function)
