"""Locks, tasks, reductions by functions of the program, and methods with their object as values."""

from dataclasses import dataclass

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def compiled(on, function):
    return un.jit(function, device=on)


# ---- locks
def largest(a, found):
    for i in un.prange(len(a)):
        with un.lock():
            if a[i] > found[0]:
                found[0] = a[i]
                found[1] = i


def test_a_lock_guards_what_iterations_share(on):
    a = np.random.default_rng(1).permutation(20_000).astype(float)
    found = np.full(2, -1.0)
    f = compiled(on, largest)
    f(a, found)
    assert found.tolist() == [a.max(), a.argmax()]
    assert "under a lock: found" in f.parallel_report()


GUARD = un.lock(3)


def largest_by_names(a, found):
    guard = un.lock()
    for i in un.prange(len(a)):
        with guard:
            if a[i] > found[0]:
                found[0] = a[i]
    for i in un.prange(len(a)):
        with GUARD:
            if a[i] == found[0]:
                found[1] = i


def test_names_hold_locks(on):
    a = np.random.default_rng(1).permutation(20_000).astype(float)
    found, expected = np.full(2, -1.0), np.full(2, -1.0)
    compiled(on, largest_by_names)(a, found)
    largest_by_names(a, expected)
    assert found.tolist() == expected.tolist() == [a.max(), a.argmax()]


def test_without_the_lock_it_is_refused(on):
    def unguarded(a, found):
        for i in un.prange(len(a)):
            if a[i] > found[0]:
                found[0] = a[i]

    with pytest.raises(
        un.CompileError, match="write the same element of 'found'|reads what another"
    ):
        compiled(on, unguarded)(np.ones(4), np.zeros(2))


def test_an_access_outside_of_the_lock_is_refused(on):
    def half_guarded(a, found):
        for i in un.prange(len(a)):
            with un.lock():
                found[0] = found[0] + a[i]
            a[i] = found[0]

    with pytest.raises(un.CompileError, match="'found'"):
        compiled(on, half_guarded)(np.ones(4), np.zeros(2))


def test_locks_by_number(on):
    def spread(keys, sums, counts):
        for i in un.prange(len(keys)):
            k = keys[i]
            with un.lock(k):
                old = sums[k]
                counts[k] = counts[k] + 1
                sums[k] = old + i

    keys = np.random.default_rng(2).integers(0, 7, 5000)
    sums, counts = np.zeros(7, np.int64), np.zeros(7, np.int64)
    compiled(on, spread)(keys, sums, counts)
    assert counts.tolist() == np.bincount(keys, minlength=7).tolist()
    assert sums.tolist() == np.bincount(keys, weights=np.arange(5000), minlength=7).tolist()


def test_a_lock_is_given_back_when_its_block_fails(on):
    def fails(a, n):
        with un.lock():
            with un.lock():
                a[n] = 1.0
        return a[0]

    f = compiled(on, fails)
    with pytest.raises(IndexError):
        f(np.zeros(3), 5)

    def others(a):
        for i in un.prange(len(a)):
            with un.lock():
                a[i] = 2.0

    a = np.zeros(1000)
    compiled(on, others)(a)
    assert a.min() == 2.0


def test_locks_in_regions(on):
    def region(total):
        with un.parallel(num_threads=4):
            for i in un.prange(1000):
                with un.lock():
                    total[0] = total[0] + i

    total = np.zeros(1)
    compiled(on, region)(total)
    assert total[0] == 499500.0


def test_a_lock_in_python(on):
    with un.lock(3), un.lock(3):
        largest(np.ones(2), np.zeros(2))


# ---- reductions by functions
@un.jit
def better(a, b):
    return a if a[0] >= b[0] else b


@un.jit
def joined(a, b):
    return a * b % 1000003


def best_of(a):
    best = (-1.0, -1)
    for i in un.prange(len(a)):
        best = better(best, (a[i], i))
    return best


def products(n):
    p = 1
    q = 1
    for i in un.prange(1, n, 2):
        x = i * i + 1
        p = joined(p, x)
        if i % 3 == 0:
            q = joined(q, i)
    return p, q


def test_reductions_by_functions(on):
    a = np.random.default_rng(3).permutation(10_001).astype(float)
    f = compiled(on, best_of)
    assert f(a) == (a.max(), a.argmax())
    assert f(np.empty(0)) == (-1.0, -1)
    assert "best (by better)" in f.parallel_report()
    assert compiled(on, products)(1000) == products(1000)
    assert compiled(on, products)(0) == (1, 1)


def test_a_function_inside_combines(on):
    def longest(a):
        def longer(x, y):
            return x if x > y else y

        best = 0.0
        for i in un.prange(len(a)):
            best = longer(best, a[i] * 2)
        return best

    a = np.arange(777.0)
    assert compiled(on, longest)(a) == 1552.0


def test_a_reduction_of_another_type_is_refused(on):
    def widens(a):
        best = 0
        for i in un.prange(len(a)):
            best = joined(best, a[i])
        return best

    with pytest.raises(un.CompileError, match="reduction variable becomes"):
        compiled(on, widens)(np.ones(4))


# ---- tasks
def both(a, out):
    with un.tasks():
        with un.task():
            out[0] = a.min()
        with un.task():
            out[1] = a.max()


def blocks(a, begins, out):
    with un.tasks():
        k = 0
        while k + 1 < len(begins):
            begin, end = begins[k], begins[k + 1]
            if end > begin:
                with un.task():
                    total = 0.0
                    for j in range(begin, end):
                        total += a[j]
                    out[k] = total
            k += 1
    return k


def nested_loops(n, out):
    with un.tasks():
        for i in range(n):
            for j in range(i):
                with un.task():
                    out[i, j] = i * 10 + j
            with un.task():
                out[i, i] = -1


def arrays_of_tasks(a):
    out = np.zeros(2)
    with un.tasks():
        for i in range(2):
            part = a[3 * i : 3 * i + 3]
            with un.task():
                out[i] = part.sum()
    return out


def test_tasks(on):
    out = np.zeros(2)
    compiled(on, both)(np.arange(5.0), out)
    assert out.tolist() == [0.0, 4.0]
    a, begins = np.arange(100.0), np.array([0, 10, 10, 60, 100])
    out, expected = np.zeros(4), np.zeros(4)
    assert compiled(on, blocks)(a, begins, out) == blocks(a, begins, expected)
    assert out.tolist() == expected.tolist()
    out, expected = np.zeros((6, 6)), np.zeros((6, 6))
    compiled(on, nested_loops)(6, out)
    nested_loops(6, expected)
    assert out.tolist() == expected.tolist()
    assert np.asarray(compiled(on, arrays_of_tasks)(np.arange(6.0))).tolist() == [3.0, 12.0]


def test_what_a_task_cannot_do_is_refused(on):
    def leaves(a):
        with un.tasks():
            with un.task():
                return 1
        return 0

    with pytest.raises(un.CompileError, match="return in a task"):
        compiled(on, leaves)(np.ones(2))

    def alone(a):
        with un.task():
            a[0] = 1.0

    with pytest.raises(un.CompileError, match="put with un.tasks"):
        compiled(on, alone)(np.ones(2))

    def inside(a):
        with un.tasks():
            with un.task():
                with un.task():
                    a[0] = 1.0

    with pytest.raises(un.CompileError, match="a task inside of a task"):
        compiled(on, inside)(np.ones(2))

    def changes(a):
        total = 0.0
        with un.tasks():
            with un.task():
                total += a[0]
        return total

    with pytest.raises(un.CompileError, match="changing 'total' of the function around"):
        compiled(on, changes)(np.ones(2))


# ---- methods with their object
@dataclass
class Scale:
    by: float
    calls: int = 0

    def apply(self, x):
        self.calls += 1
        return self.by * x

    @un.jit
    def twice(self, x):
        return 2 * self.by * x


def apply_to(f, x):
    return f(x) + f(1.0)


def picked(s, x):
    f = s.apply
    return f(x)


def test_methods_are_values(on):
    s = Scale(3.0)
    assert compiled(on, apply_to)(s.apply, 2.0) == 9.0
    assert s.calls == 2
    assert compiled(on, apply_to)(s.twice, 2.0) == 18.0
    assert compiled(on, picked)(s, 2.0) == 6.0
    assert s.calls == 3
    assert s.twice(2.0) == 12.0


def test_methods_of_other_objects_are_refused(on):
    class Plain:
        def __init__(self):
            self.x = 1.0

    def read(p):
        return p.x

    with pytest.raises(TypeError, match="make the class a dataclass"):
        compiled(on, read)(Plain())
