"""Random operations on three streams and two CUDA devices: values, illegal calls, leaks.

UNISONO_CUDA_OPERATIONS: how many (3000); UNISONO_CUDA_SEED: which (0). A million take some minutes:

    UNISONO_CUDA_OPERATIONS=1000000 python -m pytest -s tests/device/cuda/test_cuda_operations.py
"""

import gc
import os

import driver_of_tests
import numpy as np
import pytest
import unisono as un

driver = driver_of_tests.find()
NAMES = [d.name for d in un.devices("cuda")]
pytestmark = pytest.mark.skipif(
    driver is None or len(NAMES) < 2, reason="two devices of the CUDA driver of tests are needed"
)
COUNT = int(os.environ.get("UNISONO_CUDA_OPERATIONS", "3000"))
SEED = int(os.environ.get("UNISONO_CUDA_SEED", "0"))
SIZES = (24, 700, 5000)
RESOURCES = ("allocations", "pinned", "events", "streams")
MOST_GRAPHS = 2 * 32 * 4 * 7  # of a few queues


@un.kernel
def scale_and_add(a, x, y):
    i = un.global_id(0)
    y[i] = a * x[i] + y[i]


class Pair:
    """An array of a device, and NumPy's with the same elements."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours, theirs


class Program:
    """Arrays by device and size, and what may be done with them; a method is one or some operations."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.queues = [
            (NAMES[0], un.Queue(NAMES[0])),
            (NAMES[0], un.Queue(NAMES[0], order="out")),
            (NAMES[1], un.Queue(NAMES[1])),
        ]
        self.events = []
        self.arrays = {
            (d, n): [self.fresh(d, n) for _ in range(4)] for d in NAMES[:2] for n in SIZES
        }

    def fresh(self, device, n):
        values = self.rng.integers(-50, 50, n).astype("float64")
        return Pair(un.asarray(values, device=device), values.copy())

    def several(self, device, count):
        n = SIZES[self.rng.integers(len(SIZES))]
        places = self.arrays[device, n]
        return places, n, [places[k] for k in self.rng.permutation(len(places))[:count]]

    def new_result(self, device):
        places, _, (x, y) = self.several(device, 2)
        places[self.rng.integers(len(places))] = Pair(
            x.ours - y.ours * 0.5, x.theirs - y.theirs * 0.5
        )
        return 1

    def in_place(self, device):
        _, _, (x, y) = self.several(device, 2)
        x.ours *= 0.25
        x.theirs *= 0.25
        x.ours += y.ours
        x.theirs += y.theirs
        return 2

    def slices(self, device):
        _, n, (x, y) = self.several(device, 2)
        x.ours[: n // 2] = y.ours[n - n // 2 :]
        x.theirs[: n // 2] = y.theirs[n - n // 2 :]
        x.ours[::2] = 1.0
        x.theirs[::2] = 1.0
        return 2

    def sweeps(self, device):
        """A segment that repeats."""
        _, _, (x, y) = self.several(device, 2)
        for _ in range(4):
            for u, v in ((x.ours, y.ours), (x.theirs, y.theirs)):
                v[1:-1] = 0.5 * (u[:-2] + u[2:])
                u[1:-1] = v[1:-1]
        return 8

    def kernel(self, device):
        _, n, (x, y) = self.several(device, 2)
        scale_and_add[n](0.5, x.ours, y.ours)
        y.theirs[:] = 0.5 * x.theirs + y.theirs
        return 1

    def maximum(self, device):
        _, _, (x,) = self.several(device, 1)
        x.ours[:1] = x.ours.max()
        x.theirs[:1] = x.theirs.max()
        return 2

    def to_the_other(self, device):
        other = NAMES[1] if device == NAMES[0] else NAMES[0]
        places, n, (x,) = self.several(device, 1)
        target = self.arrays[other, n]
        target[self.rng.integers(len(target))] = Pair(x.ours.to_device(other), x.theirs.copy())
        return 1

    def from_the_host(self, device):
        places, n, _ = self.several(device, 1)
        places[self.rng.integers(len(places))] = self.fresh(device, n)
        return 1

    def read(self, device):
        _, _, (x,) = self.several(device, 1)
        np.testing.assert_array_equal(np.asarray(x.ours.to_device("cpu")), x.theirs)
        # Values stay small, and not all alike.
        x.ours %= 64.0
        x.theirs %= 64.0
        return 2

    def wait(self, device):
        _, queue = self.queues[self.rng.integers(3)]
        if len(self.events) > 2:
            queue.wait_for(self.events.pop(0))
        self.events.append(queue.record())
        return 1

    def run(self, count):
        steps = [getattr(self, name) for name in STEPS for _ in range(STEPS[name])]
        done = 0
        while done < count:
            device, queue = self.queues[self.rng.integers(3)]
            with un.device(device, queue=queue):
                done += steps[self.rng.integers(len(steps))](device)
                un.eval(*[p.ours for n in SIZES for p in self.arrays[device, n]])
        return done

    def check(self):
        for places in self.arrays.values():
            for p in places:
                np.testing.assert_array_equal(np.asarray(p.ours.to_device("cpu")), p.theirs)


STEPS = {
    "new_result": 4, "in_place": 3, "slices": 3, "sweeps": 2, "kernel": 3, "maximum": 1, "to_the_other": 2,
    "from_the_host": 1, "read": 1, "wait": 2,
}  # fmt: skip


def held():
    """What the driver holds for us once nothing is kept for reuse."""
    gc.collect()
    un.synchronize()
    for name in NAMES:
        un.memory.trim(name)
    un.synchronize()
    return {name: driver.count(name) for name in RESOURCES}


def test_random_operations():
    before = driver.count("violations")
    program = Program(SEED)
    done = program.run(COUNT // 2)
    program.check()
    middle = held()
    done += program.run(COUNT - COUNT // 2)
    program.check()
    end = held()
    print(f"{done} operations, {driver.count('launches')} kernels; held {middle}, then {end}")
    assert driver.count("violations") == before, driver.last_violation()
    for name in RESOURCES:
        assert end[name] <= middle[name] + 40, (name, middle, end)
    assert driver.count("graphs") <= MOST_GRAPHS
