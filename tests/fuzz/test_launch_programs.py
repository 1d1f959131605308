"""Random programs that mix array statements and launches of compiled functions give NumPy's values.

Values are read seldom, so that statements are pending when a launch takes their arrays, views of them, or arrays that they read.
UNISONO_FUZZ_PROGRAMS sets how many programs a test runs, UNISONO_FUZZ_SEED the first one.
"""

import os
import threading

import numpy as np
import pytest
import unisono as un
from launch_functions import compiled

COUNT = int(os.environ.get("UNISONO_FUZZ_PROGRAMS", 60))
FIRST = int(os.environ.get("UNISONO_FUZZ_SEED", 1))
LENGTH = 2000  # elements of an array: more than small statements have
FUNCTIONS = compiled()


class Pair:
    """Arrays of NumPy's and ours, to which the same happens."""

    def __init__(self, seed, functions=FUNCTIONS, kinds=None, device=None):
        self.rng = np.random.default_rng(seed)
        self.functions, self.kinds = functions, kinds or KINDS
        self.arrays = []
        for _ in range(4):
            a = self.rng.integers(-9, 9, LENGTH).astype(float)
            self.arrays.append((a, un.asarray(a.copy(), device=device)))

    def pick(self, views=True):
        a, x = self.arrays[self.rng.integers(len(self.arrays))]
        how = self.rng.integers(5 if views else 1)
        if how == 1:
            return a[::-1], x[::-1]
        if how == 2:
            k = int(self.rng.integers(1, 5))
            return a[k:], x[k:]
        if how == 3:
            return a[::2], x[::2]
        return a, x

    def two(self):
        """Two arrays or views of one length, which may overlap."""
        (a, x), (b, y) = self.pick(), self.pick()
        n = min(len(a), len(b))
        return (a[:n], x[:n]), (b[len(b) - n :], y[len(y) - n :])

    def keep(self, a, x):
        if len(a) < LENGTH:
            return
        self.arrays[self.rng.integers(len(self.arrays))] = (a, x)

    def step(self):
        kind = self.rng.choice(self.kinds)
        kind(self)

    def check(self):
        for a, x in self.arrays:
            np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), a)


def statement(p):
    (a, x), (b, y) = p.two()
    p.keep(a * 0.5 + b, x * 0.5 + y)


def in_place(p):
    (a, x), (b, y) = p.two()
    if np.shares_memory(a, b):
        b, y = b.copy(), y.copy()
    a[...] = np.minimum(b * 0.5 + 1, 50)
    x[...] = un.minimum(y * 0.5 + 1, 50)


def assign(p):
    a, x = p.pick()
    k = int(p.rng.integers(len(a) // 2))
    a[k : k + 7] = 3
    x[k : k + 7] = 3


def sort(p):
    a, x = p.pick(views=False)
    p.keep(np.sort(a), un.sort(x))


def launch(p):
    (a, x), (b, y) = p.two()
    f, g = p.functions[p.rng.integers(len(p.functions))]
    if np.shares_memory(a, b) and f.__name__ in ORDERED:
        b, y = b.copy(), y.copy()
    if f.__name__ in PACKED:
        a, x = a.copy(), x.copy()
    before = error = None
    try:
        before = f(a, b)
    except ValueError as e:
        error = str(e)
    if error:
        with pytest.raises(ValueError, match=error):
            g(x, y)
        return
    got = g(x, y)
    assert before is None if got is None else got == pytest.approx(before, rel=1e-9, nan_ok=True)


ORDERED = {"add_in_parallel"}  # the order of their loops is not fixed
PACKED = {"reshaped"}  # NumPy's view of a strided vector is a copy in compiled functions


def number(p):
    a, x = p.pick()
    k = int(p.rng.integers(len(a)))
    assert float(x[k].to_device("cpu") if p.kinds is ON_DEVICES else x[k]) == a[k]


def settle(p):
    un.synchronize()


KINDS = [statement] * 4 + [in_place] * 3 + [assign] * 2 + [sort] + [launch] * 8 + [number, settle]


ON_DEVICES = [k for k in KINDS if k is not sort]


def run(seed, length=30, **where):
    p = Pair(seed, **where)
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


# What devices take in every case: loops over elements, which need no memory of their own.
PLAIN = """add_elements add_in_parallel negate_the_second only_read only_sizes one_element through_a_slice
    through_a_reversed_slice through_another_name of_a_tuple swap_ends maximum_so_far through_a_call inner_function""".split()


@pytest.mark.parametrize(
    "queue", [d.name for d in un.devices() if d.name.startswith(("opencl", "cuda"))]
)
def test_programs_on_devices(queue):
    functions = [(f, g) for f, g in FUNCTIONS if f.__name__ in PLAIN]
    for seed in range(FIRST, FIRST + max(1, COUNT // 3)):
        run(seed, functions=functions, kinds=ON_DEVICES, device=queue)
