"""What a method offers to the solver, and the solver's loop, the same for all of them."""

import time
from dataclasses import dataclass, field

import numpy as np

from . import problem


class Method:
    """One way to compute a sweep.

    A subclass gives `place` (a field to where the method works) and `step` (one sweep from one field into the other);
    the rest is shared.
    """

    name = ""
    order = "slices"  # or "loops": the listing whose additions it makes in that order
    sweeps_cheaply = True  # False: too slow to be run to convergence

    def place(self, u):
        """Return a copy of the NumPy array `u` where this method computes."""
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
    """What became of a method."""

    name: str
    order: str = "slices"
    missing: str = ""  # why the method does not exist here
    field: np.ndarray | None = field(default=None, repr=False)
    sweeps: int = 0
    seconds: float = 0.0  # in sweeps, to convergence
    large: float = 0.0  # seconds per sweep of the large field
    speed: float = 0.0  # against NumPy, on the large field
    same_bits: bool | None = None


def solve(method, u, progress):
    """Sweep until no point grows by more than EPS; return an Outcome.

    `progress` is called with the sweeps made and the change after each test.
    """
    method.start(u)
    seconds, sweeps = 0.0, 0
    while True:
        begin = time.perf_counter()
        method.sweep(problem.CHECK_EVERY)
        seconds += time.perf_counter() - begin
        sweeps += problem.CHECK_EVERY
        change = method.change()
        progress(sweeps, change)
        if not change > problem.EPS:
            break
    outcome = Outcome(
        method.name, method.order, field=method.field(), sweeps=sweeps, seconds=seconds
    )
    method.close()
    return outcome


def try_out(method):
    """Make two sweeps of a small field by the method; raise if it cannot, or computes something else."""
    u = problem.make_field(12, np.float64)
    wanted, other = u.copy(), u.copy()
    for _ in range(2):
        problem.sweep_in_loop_order(wanted, other)
        wanted, other = other, wanted
    method.start(u)
    method.sweep(2)
    if not np.allclose(method.field(), wanted):
        raise RuntimeError("it computes a wrong field")
    method.close()


def seconds_per_sweep(method, count):
    """Time `count` sweeps of a method that was started."""
    begin = time.perf_counter()
    method.sweep(count)
    return (time.perf_counter() - begin) / count
