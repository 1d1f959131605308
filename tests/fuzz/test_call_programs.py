"""Random programs of library calls, views and in-place statements give NumPy's values.

Arrays are too long for statements to run eagerly and values are read seldom, so that whole programs are recorded:
calls with several operands and results, results that alias, operands that are overwritten while a call waits,
errors half-way, several threads, and forks. UNISONO_FUZZ_PROGRAMS sets how many programs a test runs.
"""

import os
import threading

import numpy as np
import pytest
import unisono as un

COUNT = int(os.environ.get("UNISONO_FUZZ_PROGRAMS", 60))
FIRST = int(os.environ.get("UNISONO_FUZZ_SEED", 1))
LENGTH = 6000  # elements of an array: more than small calls have
BOUND = 1 << 40  # values stay below, so that no sum overflows


class Pair:
    """An array of NumPy's and ours, to which the same happens."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.kinds = LAZY if self.rng.integers(2) else STATEMENTS
        self.arrays = []
        self.loose = []  # pairs of results whose last bits may differ
        for _ in range(3):
            a = self.rng.integers(-50, 50, LENGTH)
            self.arrays.append((a, un.asarray(a.copy())))

    def pick(self):
        """Return an array or a view of one."""
        a, x = self.arrays[self.rng.integers(len(self.arrays))]
        how = self.rng.integers(6)
        if how == 0:
            return a[::-1], x[::-1]
        if how == 1 and len(a) > 10:
            k = int(self.rng.integers(1, 5))
            return a[k:], x[k:]
        if how == 2 and len(a) > 10:
            return a[::2], x[::2]
        return a, x

    def equal_pick(self):
        """Return two arrays or views of equal lengths, which may overlap."""
        (a, x), (b, y) = self.pick(), self.pick()
        n = min(len(a), len(b))
        k = min(int(self.rng.integers(3)), n - 1)
        return (a[: n - k], x[: n - k]), (b[k:n], y[k:n])

    def keep(self, a, x):
        if len(a) == 0:
            return
        if len(self.arrays) > 5:
            del self.arrays[self.rng.integers(len(self.arrays))]
        self.arrays.append((a, x))

    def positions(self, n, count):
        at = self.rng.integers(-n, n, count)
        return at, un.asarray(at.copy())

    def step(self):
        self.kinds[self.rng.integers(len(self.kinds))](self)

    def check(self):
        if self.rng.integers(4):  # all that is pending is one segment then
            un.synchronize()
        for a, x in self.arrays:
            np.testing.assert_array_equal(np.asarray(x), a)
        for a, x in self.loose:
            np.testing.assert_allclose(np.asarray(x), a, rtol=1e-6, atol=1e-6)


def add(p):
    (a, x), (b, y) = p.equal_pick()
    p.keep((a + b) % BOUND, (x + y) % BOUND)


def scale(p):
    a, x = p.pick()
    a[...] = (a * 3 + 1) % 1000
    x[...] = (x * 3 + 1) % 1000


def assign_overlapping(p):
    (a, x), (b, y) = p.equal_pick()
    a[...] = b - 1
    x[...] = y - 1


def sort(p):
    a, x = p.pick()
    p.keep(np.sort(a), un.sort(x))


def sort_in_place(p):
    a, x = p.pick()
    a.sort()
    x.sort()


def argsort(p):
    a, x = p.pick()
    p.keep(np.argsort(a, kind="stable"), un.argsort(x, kind="stable"))


def scan(p):
    a, x = p.pick()
    p.keep(np.cumsum(a % 100), un.cumsum(x % 100))


def take(p):
    a, x = p.pick()
    at, places = p.positions(len(a), LENGTH)
    p.keep(a[at], x[places])


def put(p):
    (a, x), (b, y) = p.equal_pick()
    at = p.rng.permutation(len(a))
    a[at] = b
    x[un.asarray(at.copy())] = y


def combine_at(p):
    a, x = p.pick()
    at, places = p.positions(len(a), 200)
    np.add.at(a, at, 5)
    un.add.at(x, places, 5)


def select(p):
    a, x = p.pick()
    p.keep(a[a % 3 == 0], x[x % 3 == 0])


def places(p):
    """Keep where elements are, and read them there."""
    a, x = p.pick()
    (at,), (where,) = (a % 5 == 0).nonzero(), (x % 5 == 0).nonzero()
    p.keep(at, where)
    p.keep(a[at], x[where])


def repeat(p):
    (a, x), (b, y) = p.equal_pick()
    p.keep(np.repeat(a, b % 3)[:LENGTH], un.repeat(x, y % 3)[:LENGTH])


def join(p):
    """Many parts become one call, into new memory or over what is there, which parts may lie in."""
    picked = [p.pick() for _ in range(20)]
    parts, ours = [a[:500] for a, x in picked], [x[:500] for a, x in picked]
    made = np.concatenate(parts)
    if p.rng.integers(2):
        p.keep(made, un.concatenate(ours))
        return
    b, y = p.arrays[p.rng.integers(len(p.arrays))]
    if len(b) >= len(made):
        b[: len(made)] = made
        un.concatenate(ours, out=y[: len(made)])


def fill(p):
    a, x = p.pick()
    chosen, under = a > 7, x > 7
    values = np.arange(int(chosen.sum()))
    a[chosen] = values
    x[under] = un.asarray(values.copy())


def top_k(p):
    a, x = p.pick()
    k = int(p.rng.integers(1, len(a) + 1))
    values, places = un.top_k(x, k)
    order = np.argsort(-a, kind="stable")[:k]
    if p.rng.integers(2):
        p.keep(order, places)
    if p.rng.integers(2):
        p.keep(a[order], values)
        if p.rng.integers(2):  # a result that is overwritten while the call may wait
            values += places
            p.arrays[-1][0][...] += order


def search(p):
    (a, x), (b, y) = p.equal_pick()
    p.keep(np.searchsorted(np.sort(a), b), un.searchsorted(un.sort(x), y))


def count(p):
    a, x = p.pick()
    p.keep(np.bincount(a % 97), un.bincount(x % 97))


def product(p):
    a, x = p.pick()
    n = len(a) // 50
    if n:
        m, w = (a[: n * 50] % 10).reshape(n, 50), (x[: n * 50] % 10).reshape(n, 50)
        p.keep(m @ m[0], w @ w[0])


def square(p):
    """Return a well-conditioned matrix of each, of some elements of an array."""
    a, x = p.pick()
    n = 70  # more elements than small calls have
    if len(a) < n * n:
        a, x = np.resize(a, n * n), un.resize(x, n * n)
    m = (a[: n * n] % 13).reshape(n, n) + 200.0 * np.eye(n)
    w = (x[: n * n] % 13).reshape(n, n) + 200.0 * un.eye(n)
    return m, w


def factor(p):
    """Keep what factors give back; the factors or the matrix may be overwritten before they are read."""
    m, w = square(p)
    kind = int(p.rng.integers(5))
    if kind == 0:
        q, r = un.linalg.qr(w)
        product = q @ r
        expected = m
    elif kind == 1:
        u, s, vh = un.linalg.svd(w)
        product = (u * s) @ vh
        expected = m
    elif kind == 2:
        values, vectors = un.linalg.eigh(w + w.T)
        product = (vectors * values) @ vectors.T
        expected = m + m.T
    elif kind == 3:
        product = un.linalg.inv(w) @ w
        expected = np.eye(len(m))
    else:
        product = w @ un.linalg.solve(w, w + 1)
        expected = m + 1
    if p.rng.integers(2):
        w *= 0  # after the factors were taken
    if kind == 0 and p.rng.integers(2):
        r[...] = 7  # after the product was
    p.loose.append((expected, product))


def determinant(p):
    m, w = square(p)
    sign, log = un.linalg.slogdet(w)
    w[...] = 1
    expected = np.linalg.slogdet(m)
    p.loose.append((expected[0], sign))
    p.loose.append((expected[1], log))


def distinct(p):
    """Keep all that unique gives; results may be overwritten at once."""
    a, x = p.pick()
    expected = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    made = un.unique(x, return_index=True, return_inverse=True, return_counts=True)
    for k in p.rng.permutation(4)[:2]:
        p.keep(expected[k], made[k])
        if p.rng.integers(2):
            made[k][...] += 1
            p.arrays[-1][0][...] += 1


def fail_to_factor(p):
    """Singular matrices raise at their line, and leave their operands as they were."""
    a, x = p.pick()
    twice = (x + x) % 1000
    with pytest.raises(np.linalg.LinAlgError):
        un.linalg.inv(un.zeros((80, 80)) + twice[0])
    if p.rng.integers(2):
        with pytest.raises(np.linalg.LinAlgError):
            un.linalg.cholesky(-un.eye(80))
    p.keep((a + a) % 1000, twice)


def read_one(p):
    a, x = p.pick()
    k = int(p.rng.integers(len(a)))
    assert int(x[k]) == a[k]


def settle(p):
    un.synchronize()


def fail(p):
    a, x = p.pick()
    with pytest.raises(IndexError):
        x[un.asarray([len(a)] * 3000)]


LAZY = [
    add,
    add,
    scale,
    scale,
    assign_overlapping,
    sort,
    argsort,
    scan,
    top_k,
    search,
    join,
    factor,
    determinant,
]  # none reads a value
STATEMENTS = [
    *LAZY,
    sort_in_place,
    take,
    put,
    combine_at,
    select,
    fill,
    places,
    repeat,
    count,
    product,
    read_one,
    settle,
    fail,
    factor,
    determinant,
    distinct,
    fail_to_factor,
]


def run(seed, length=25):
    p = Pair(seed)
    for _ in range(length):
        p.step()
    p.check()


def test_programs():
    for seed in range(FIRST, FIRST + COUNT):
        run(seed)


def test_programs_on_threads():
    failures = []

    def work(first):
        try:
            for seed in range(first, first + max(1, COUNT // 6)):
                run(seed)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(FIRST + 10_000 * k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures[0]


def test_programs_with_forks():
    for seed in range(FIRST, FIRST + max(1, COUNT // 10)):
        p = Pair(seed)
        for k in range(20):
            p.step()
            if k % 7 != 3:
                continue
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    p.step()
                    p.check()
                    status = 0
                finally:
                    os._exit(status)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, seed
        p.check()
