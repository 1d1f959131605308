"""Laplace's equation by every method that this machine has: a table, and the field as a picture."""

import argparse
import sys
from pathlib import Path

import numpy as np
from laplace import bandwidth, fortran, numpy_slices, on_ranks, problem, python_loops, show
from laplace.method import Outcome, seconds_per_sweep, solve, try_out


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--size", type=size, default=200, help="points along an edge of the solved field (200)"
    )
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float64")
    parser.add_argument(
        "--large",
        type=size,
        default=2000,
        help="points along an edge where sweeps are timed (2000)",
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the picture (out)")
    return parser.parse_args()


def size(text):
    if not text.isdecimal() or not 3 <= int(text) <= 30000:
        raise argparse.ArgumentTypeError(f"expected an integer from 3 to 30000; got {text!r}")
    return int(text)


def candidates():
    """Yield every method, or an Outcome that says why it is missing."""
    yield from numpy_slices.methods()
    yield from python_loops.methods()
    yield from fortran.methods()
    try:
        import unisono as un
        from laplace import c_text, compiled_loops, kernels, stencils, unisono_slices
    except ImportError as error:
        yield Outcome("unisono", missing=f"it cannot be imported: {error}")
        return
    cpu = "cpu"
    devices = [cpu, *(str(d) for d in un.devices() if not str(d).startswith(cpu))]
    yield from unisono_slices.methods(devices)
    for name, module, arguments in (
        ("jit", compiled_loops, ()),
        ("stencil", stencils, ()),
        ("c_module", c_text, ()),
        ("kernel", kernels, (devices,)),
    ):
        if hasattr(un, name):
            yield from module.methods(*arguments)
        else:
            yield Outcome(f"un.{name}", missing=f"this version of unisono has no un.{name}")
    for kind in ("opencl", "cuda"):
        if not any(d.startswith(kind) for d in devices):
            report = un._engine._backend_reports().get(kind, ["this version has no such back end"])
            yield Outcome(f"devices of {kind}", missing="; ".join(report))


def present(candidate):
    """The method if it works on a small field, else an Outcome with the reason."""
    if isinstance(candidate, Outcome):
        return candidate
    try:
        try_out(candidate)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        return Outcome(candidate.name, missing=reason)
    return candidate


def solve_all(methods, u):
    """Solve by each method, showing progress."""
    outcomes = []
    for method in methods:
        if isinstance(method, Outcome):
            outcomes.append(method)
        elif not method.sweeps_cheaply:
            outcomes.append(Outcome(method.name, method.order))
        else:
            progress = show.Progress(method.name)
            outcome = solve(method, u, progress)
            progress.close()
            show.say(f"  {method.name}: {outcome.sweeps} sweeps in {outcome.seconds:.2f} s")
            outcomes.append(outcome)
    return outcomes


def sweeps_to_time(u):
    """How many sweeps of a field are timed at once."""
    return max(1, min(16_000_000 // u.size, 1000))


def time_all(methods, outcomes, u):
    """Time sweeps of the field `u`: the methods take turns, so that a busy moment of the machine hits all alike."""
    reference = next(r for r in methods if isinstance(r, numpy_slices.NumPySlices))
    count = sweeps_to_time(u)
    for method, outcome in zip(methods, outcomes, strict=True):
        if isinstance(method, Outcome):
            continue
        if not method.sweeps_cheaply:
            few = u[: max(3, 200_000 // u.shape[1])]
            method.start(few)
            outcome.large = seconds_per_sweep(method, 1) * u.size / few.size
            method.close()
            continue
        for r in (reference, method):
            r.start(u)
            r.sweep(2)  # whatever is compiled or allocated at first use
        times, ratios = [], []
        for _ in range(7):
            numpy_time = seconds_per_sweep(reference, count)
            times.append(seconds_per_sweep(method, count))
            ratios.append(numpy_time / times[-1])
        outcome.large = float(np.median(times))
        outcome.speed = float(np.median(ratios)) if method is not reference else 1.0
        for r in (reference, method):
            r.close()
    numpy_large = outcomes[methods.index(reference)].large
    for outcome in outcomes:
        if outcome.large and not outcome.speed:
            outcome.speed = numpy_large / outcome.large


def compare_bits(outcomes, u):
    """Compare each solution with NumPy's after as many sweeps, in the same order of additions."""
    wanted = {}
    for o in outcomes:
        if o.field is None:
            continue
        step = problem.sweep_in_loop_order if o.order == "loops" else numpy_slices.solve
        if (o.order, o.sweeps) not in wanted:
            if isinstance(o.field, np.ndarray) and o.name == numpy_slices.NumPySlices.name:
                wanted[o.order, o.sweeps] = o.field
            else:
                wanted[o.order, o.sweeps] = sweep_with_numpy(step, u, o.sweeps)
        o.same_bits = problem.same_bits(o.field, wanted[o.order, o.sweeps])


def sweep_with_numpy(step, u, count):
    a, b = u.copy(), u.copy()
    for _ in range(count):
        step(a, b)
        a, b = b, a
    return a


def main():
    options = parse_arguments()
    u = problem.make_field(options.size, options.dtype)
    large = problem.make_field(options.large, options.dtype)
    show.say(
        f"Laplace's equation, {options.size} x {options.size} {options.dtype}, "
        f"until no point grows by more than {problem.EPS} in a sweep"
    )
    methods = [present(c) for c in candidates()]
    outcomes = solve_all(methods, u)
    count = sweeps_to_time(large)
    on_mpi = on_ranks.solve_on_ranks(options.size, options.dtype, options.large, count)
    show.say(f"timing sweeps of {options.large} x {options.large}")
    copy = bandwidth.copy_bandwidth()
    time_all(methods, [*outcomes], large)
    for ranks in on_mpi:
        if ranks.large:
            ranks.speed = outcomes[0].large / ranks.large
    outcomes += on_mpi
    compare_bits(outcomes, u)
    show.say()
    show.table(outcomes, options.size, options.large, u.itemsize, copy)
    show.say()
    show.say(show.picture(outcomes[0].field, options.out / "laplace.png"))
    return 1 if any(o.same_bits is False for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
