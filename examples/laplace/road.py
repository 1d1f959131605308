"""What a road offers to the solver, and the solver's loop, the same for all of them."""

import time
from dataclasses import dataclass, field

import numpy as np

from . import problem


class Road:
    """One way to compute a sweep.

    A subclass gives `place` (a field to where the road works) and `step` (one sweep from one field into the other);
    the rest is shared.
    """

    name = ""
    order = "slices"  # or "loops": the listing whose additions it makes in that order
    sweeps_cheaply = True  # False: too slow to be run to convergence

    def place(self, u):
        """Return a copy of the NumPy array `u` where this road computes."""
        raise NotImplementedError

    def step(self, u, u_new):
        """One sweep: the inner points of `u_new` from `u`."""
        raise NotImplementedError

    def wait(self):
        """Return when all sweeps asked for are computed."""

    def start(self, u):
        """Begin with the NumPy array `u`."""
        self.u, self.u_new = self.place(u), self.place(u)
        self.wait()

    def sweep(self, count):
        """Make `count` sweeps; they are complete on return."""
        for _ in range(count):
            self.step(self.u, self.u_new)
            self.u, self.u_new = self.u_new, self.u
        self.wait()

    def change(self):
        """Largest growth of a point in the last sweep."""
        return float((self.u - self.u_new).max())

    def field(self):
        """Return the newest field as a NumPy array."""
        return np.array(self.u)

    def close(self):
        """Let go of the fields."""
        self.u = self.u_new = None


@dataclass
class Outcome:
    """What became of a road."""

    name: str
    order: str = "slices"
    missing: str = ""  # why the road does not exist here
    field: np.ndarray | None = field(default=None, repr=False)
    sweeps: int = 0
    seconds: float = 0.0  # in sweeps, to convergence
    large: float = 0.0  # seconds per sweep of the large field
    speed: float = 0.0  # against NumPy, on the large field
    same_bits: bool | None = None


def solve(road, u, progress):
    """Sweep until no point grows by more than EPS; return an Outcome.

    `progress` is called with the sweeps made and the change after each test.
    """
    road.start(u)
    seconds, sweeps = 0.0, 0
    while True:
        begin = time.perf_counter()
        road.sweep(problem.CHECK_EVERY)
        seconds += time.perf_counter() - begin
        sweeps += problem.CHECK_EVERY
        change = road.change()
        progress(sweeps, change)
        if not change > problem.EPS:
            break
    outcome = Outcome(road.name, road.order, field=road.field(), sweeps=sweeps, seconds=seconds)
    road.close()
    return outcome


def try_out(road):
    """Make two sweeps of a small field by the road; raise if it cannot, or computes something else."""
    u = problem.make_field(12, np.float64)
    wanted, other = u.copy(), u.copy()
    for _ in range(2):
        problem.sweep_in_loop_order(wanted, other)
        wanted, other = other, wanted
    road.start(u)
    road.sweep(2)
    if not np.allclose(road.field(), wanted):
        raise RuntimeError("it computes a wrong field")
    road.close()


def seconds_per_sweep(road, count):
    """Time `count` sweeps of a road that was started."""
    begin = time.perf_counter()
    road.sweep(count)
    return (time.perf_counter() - begin) / count
