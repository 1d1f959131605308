"""Measures unisono beside its peers: benchmarks/run.py [NAME...] [--device cuda] [--peers PYTHON] [--pairs N] [--out FOLDER]."""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import on_cuda

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# Each benchmark: what it measures, ours, the peers, and what ours shall reach: (peer, largest ratio of our time to theirs)
# or (None, largest time in seconds). Workers are functions of the modules worker_*.py.
BENCHMARKS = {
    "jacobi-slices": (
        "Jacobi sweep 4000x4000 float64 by slices",
        "unisono",
        ["numba", "numpy", "jax", "taichi"],
        ("numba", 0.8),
    ),
    "jacobi-slices-2000": (
        "Jacobi sweep 2000x2000 float64 by slices",
        "unisono",
        ["numba", "numpy"],
        ("numba", 0.7),
    ),
    "jacobi-in-place-4000": (
        "Jacobi sweep 4000x4000 float64 by slices, in place",
        "unisono",
        ["numba", "numpy"],
        ("numba", 0.5),
    ),
    "jacobi-in-place-2000": (
        "Jacobi sweep 2000x2000 float64 by slices, in place",
        "unisono",
        ["numba", "numpy"],
        ("numba", 0.5),
    ),
    "line-3000": (
        "Jacobi sweep of 3000 points in a row by slices",
        "unisono",
        ["numpy"],
        ("numpy", 0.5),
    ),
    "loops-1000": (
        "sweep 1000x1000 by loops, serial",
        "unisono",
        ["gcc", "gfortran"],
        ("gcc", 1 / 0.95),
    ),
    "loops-4000": (
        "sweep 4000x4000 by loops, serial",
        "unisono",
        ["gcc", "gfortran"],
        ("gcc", 1 / 0.95),
    ),
    "prange-1000": (
        "sweep 1000x1000 by parallel loops",
        "unisono",
        ["gcc", "gfortran"],
        ("gcc", 1 / 0.95),
    ),
    "prange-4000": (
        "sweep 4000x4000 by parallel loops",
        "unisono",
        ["gcc", "gfortran"],
        ("gcc", 1 / 0.95),
    ),
    "mask": (
        "points of 1024x1024 inside a polygon of 24 edges by parallel loops",
        "unisono",
        ["gcc"],
        ("gcc", 1.0),
    ),
    "expression": (
        "a*b + c*2 - a/3 on 1e7 float64",
        "unisono",
        ["drjit", "gcc", "numba", "numpy", "jax", "taichi"],
        ("drjit", 1.1),
    ),
    "asarray": (
        "un.asarray of three arrays of 1e7 float64, copies and all, then a*b + c*2 - a/3",
        "unisono",
        ["numpy"],
        ("numpy", 1.0),
    ),
    "functions": (
        "sin(a)*2 + exp(-b*b) - sqrt(abs(c)) on 1e7 float64",
        "unisono",
        ["drjit", "numba", "numpy", "jax", "taichi"],
        ("drjit", 1.0),
    ),
    "vectorize": (
        "a*x + y of 1e7 float32 by @un.vectorize",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "vectorize-fused": (
        "(sqrt(saxpy(2, x, y)) + x).sum() of 1e7 float32, saxpy by @un.vectorize",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "vectorize-loop": (
        "a loop of up to 50 steps at 1e6 points by @un.vectorize",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "stencil": (
        "five-point @un.stencil of 4000x4000 float64",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "c-call": (
        "call of C's sumVec on 10 float64 by un.c_module",
        "unisono",
        ["cffi"],
        ("cffi", 1.0),
    ),
    "c-call-bound": (
        "the same with the array bound, as CFFI's pointer is",
        "unisono",
        ["cffi"],
        ("cffi", 1.0),
    ),
    "small": ("five operations on 10 elements, value read", "unisono", ["numpy"], ("numpy", 0.25)),
    "record": (
        "a statement on 1e5 elements recorded, without the loop around it",
        "unisono",
        [],
        (None, 30e-9),
    ),
    "jit-call": (
        "call of a @un.jit function of a vector and a number, without the loop around it",
        "unisono",
        ["numba"],
        (None, 50e-9),
    ),
    "statements": (
        "a small statement, mean of 26",
        "unisono",
        ["numpy"],
        ("numpy", 1 / 3),
    ),
    "element-read": (
        "one element of a vector or matrix read from Python",
        "unisono",
        ["numpy"],
        ("numpy", 0.7),
    ),
    "element-write": (
        "one element of a vector or matrix written from Python",
        "unisono",
        ["numpy"],
        ("numpy", 0.7),
    ),
    "exercises": (
        "a hundred small exercises as one script, import included",
        "unisono",
        ["numpy"],
        ("numpy", 1.0),
    ),
    "import": ("import beyond bare Python", "unisono", ["numpy"], (None, 0.025)),
    "first-result-empty-cache": (
        "import to first fused result, empty cache",
        "unisono",
        [],
        (None, 0.060),
    ),
    "first-result-warm-cache": (
        "import to first fused result, warm cache",
        "unisono",
        [],
        (None, 0.060),
    ),
    "new-expression": ("a new expression on 1000 elements", "unisono", ["numpy"], (None, 50e-6)),
    "first-call": (
        "first call of small @un.jit loops, the slowest of 14",
        "unisono",
        ["numba"],
        (None, 0.010),
    ),
    "first-call-cached": (
        "first call of small @un.jit loops from the disk cache, the slowest of 14",
        "unisono",
        [],
        (None, 0.001),
    ),
    "compile-per-line": (
        "compile time per line of a function of 2000 lines over that of one of 250",
        "unisono",
        [],
        (None, 1.25),
    ),
    "compile-arrays": (
        "compile time of a statement on arrays, mean of 40 in a function",
        "unisono",
        [],
        (None, 0.010),
    ),
    "sum": ("sum of 1e7 float64", "unisono", ["numpy"], ("numpy", 1.0)),
    "argmax": ("argmax of 1e7 float64", "unisono", ["numpy"], ("numpy", 1.0)),
    "cumsum": ("running sum of 1e7 float64", "unisono", ["numpy"], ("numpy", 1.0)),
    "sort": ("sort of 1e7 float64", "unisono", ["numpy"], ("numpy", 1.0)),
    "argsort": ("argsort of 1e7 float64", "unisono", ["numpy"], ("numpy", 1.0)),
    "top-100": ("the 100 largest of 1e7 float64, sorted", "unisono", ["numpy"], ("numpy", 1.0)),
    "unique": ("distinct values of 1e7 int32 below 1000", "unisono", ["numpy"], ("numpy", 1.0)),
    "unique-distinct": (
        "distinct values of a permutation of 1e7 int32",
        "unisono",
        ["numpy"],
        ("numpy", 1.0),
    ),
    "histogram": ("histogram of 1e7 float64, 100 bins", "unisono", ["numpy"], ("numpy", 1.0)),
    "matmul": ("product of 2048x2048 float64 matrices", "unisono", ["numpy"], ("numpy", 1 / 0.95)),
    "norm": ("norm of 1e7 float64", "unisono", ["numpy"], ("numpy", 1.0)),
    "fft": ("Fourier transform of 1e7 complex128", "unisono", ["numpy"], ("numpy", 1.0)),
    "rfft": ("Fourier transform of 1e7 float64", "unisono", ["numpy"], ("numpy", 1.0)),
    "random": ("1e7 uniform random numbers", "unisono", ["numpy"], ("numpy", 1 / 1.5)),
    "normal": ("1e7 normal random numbers", "unisono", ["numpy"], ("numpy", 1.0)),
    "suite-cubes": ("s += x[i] ** 3 over 1e5 float64", "unisono", ["numba"], ("numba", 1.0)),
    "suite-sixth-powers": ("s += x[i] ** 6 over 1e5 float64", "unisono", ["numba"], ("numba", 1.0)),
    "suite-inverse-cubes": (
        "out[i] = 1 / x[i] ** 3 over 1e5 float64",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-fractional-powers": (
        "s += x[i] ** 1.7 over 1e5 float64",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-array-cubes": ("a ** 3 of 1e5 float64", "unisono", ["numba"], ("numba", 1.0)),
    "suite-around": (
        "the sum of three neighbours by an inner loop, at 1e5 float64",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-life": (
        "a step of the game of life on 300x300 bytes, by inner loops",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-ndindex": ("250x400 float64 by np.ndindex", "unisono", ["numba"], ("numba", 1.0)),
    "suite-nditer": ("sum of 250x400 float64 by np.nditer", "unisono", ["numba"], ("numba", 1.0)),
    "suite-nditer-columns": (
        "the same of an array in Fortran order",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-nditer-pairs": (
        "sum of products of 250x400 float64 by np.nditer of both",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-sets": ("1e5 integers into a set, and looked up", "unisono", ["numba"], ("numba", 1.0)),
    "suite-getrandbits": ("1e5 calls of random.getrandbits", "unisono", ["numba"], ("numba", 1.0)),
    "suite-kernel-density": (
        "temporaries of three elements in a loop of 1e5",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-tanh": (
        "sum of math.tanh of 1e5 float64, mostly saturated",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-options": (
        "Black and Scholes' prices of 1e5 options",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-potentials": (
        "sums over all pairs of 1000 points",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-slopes": (
        "slopes of densities in an ocean of 64x64x16, by array statements",
        "unisono",
        ["numba"],
        ("numba", 0.9),
    ),
    "suite-small-vectorize": (
        "a call of @vectorize on 10 float64",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "suite-small-guvectorize": (
        "a call of @guvectorize on 10 float64",
        "unisono",
        ["numba"],
        ("numba", 1.0),
    ),
    "device-sort": (
        "un.sort of 1e7 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-scan": (
        "un.cumsum of 1e7 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-histogram": (
        "un.histogram of 1e7 float64 in 100 bins on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-compaction": (
        "x[mask] of 1e7 float64, 30 % set on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-unique": (
        "un.unique of 1e7 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-argsort": (
        "un.argsort of 1e7 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-argmax": (
        "un.argmax of 1e7 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-bincount": (
        "un.bincount of 1e7 int64 below 100 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-unique-integers": (
        "un.unique of 1e7 int64 below 1000 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-median": (
        "un.median of 1e7 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-partition": (
        "un.partition of 1e7 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-sum-rows": (
        "sums of 1000 rows of 1e4 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 2.0),
    ),
    "device-sum-columns": (
        "sums of 1e4 columns of 1000 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 2.0),
    ),
    "device-take": (
        "un.take of 1e7 float64 at random positions on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-fft": (
        "un.fft.fft of 1e7 complex128 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 3.0),
    ),
    "device-matmul": (
        "un.matmul of 1024x1024 float64 on an OpenCL device, beside the host",
        "unisono",
        ["host"],
        ("host", 5.0),
    ),
    "opencl-elementwise": (
        "a*b + c*2 - a/3 of 1e7 float64 on an OpenCL device, beside an ElementwiseKernel",
        "unisono",
        ["pyopencl", "host"],
        ("pyopencl", 0.67),
    ),
    "opencl-sum": (
        "a sum of 1e7 float64 on an OpenCL device, beside a ReductionKernel",
        "unisono",
        ["pyopencl", "host"],
        ("pyopencl", 0.67),
    ),
    "opencl-jacobi": (
        "20 sweeps of Jacobi's method on 2000x2000 float64 on an OpenCL device, beside a kernel by hand",
        "unisono",
        ["pyopencl", "host"],
        ("pyopencl", 0.67),
    ),
    "queue-submit": (
        "a launch of a kernel of 4096 work-items, given to an OpenCL queue and not awaited",
        "unisono",
        ["pyopencl"],
        (None, 20e-6),
    ),
    "queue-launch": (
        "the same launch, awaited",
        "unisono",
        ["pyopencl"],
        ("pyopencl", 1.0),
    ),
    "queue-statements": (
        "one of 1000 statements on 4096 float64 on an OpenCL device, each of which needs the one before",
        "unisono",
        ["pyopencl"],
        ("pyopencl", 1.2),
    ),
    "start-device-kernel": (
        "the first kernel of a process on an open OpenCL device, warm disk cache, beside a program's kept binary",
        "unisono",
        ["pyopencl"],
        (None, 0.050),
    ),
    "start-device-statement": (
        "the first statement of a process on an open OpenCL device",
        "unisono",
        [],
        (None, 0.005),
    ),
    "ranks-laplace-4000": (
        "Laplace by slices 4000x4000 on two MPI ranks, beside our threads",
        "unisono",
        ["mpi4py", "threads"],
        ("mpi4py", 0.25),
    ),
    "ranks-laplace-1000": (
        "Laplace by slices 1000x1000 on two MPI ranks, beside our threads",
        "unisono",
        ["mpi4py", "threads"],
        ("mpi4py", 0.25),
    ),
    "ranks-halos": (
        "Laplace by slices 1000x1000 on two MPI ranks with halos for several sweeps, beside one exchange a sweep",
        "unisono",
        ["each-sweep"],
        ("each-sweep", 0.9),
    ),
    "ranks-conjugate-gradient": (
        "a step of conjugate gradients 2000x2000 on two MPI ranks, beside our threads",
        "unisono",
        ["mpi4py", "threads"],
        ("mpi4py", 0.5),
    ),
    "ranks-wave": (
        "a step of the wave equation 2000x2000 on two MPI ranks, beside our threads",
        "unisono",
        ["mpi4py", "threads"],
        ("mpi4py", 0.5),
    ),
    "ranks-sort": (
        "sort of 1e7 float64 on two MPI ranks, beside our threads",
        "unisono",
        ["mpi4py", "threads"],
        ("mpi4py", 0.5),
    ),
    "ranks-fft": (
        "fft2 of 2048x2048 on two MPI ranks, beside our threads",
        "unisono",
        ["mpi4py", "threads"],
        ("mpi4py", 1 / 1.2),
    ),
    "ranks-matmul": (
        "product 2048x2048 on two MPI ranks, beside our threads",
        "unisono",
        ["mpi4py", "threads"],
        ("mpi4py", 1.0),
    ),
}

ON_CUDA = on_cuda.benchmarks()
EVERY = BENCHMARKS | ON_CUDA

# What a peer is made of where it is more than a module of its name: PyOpenCL writes its kernels of elements and
# reductions by Mako.
MODULES = {"pyopencl": ("pyopencl", "mako")}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(EVERY)}")
    parser.add_argument(
        "--device",
        choices=["cpu", "cuda"],
        default="cpu",
        help="without names: all benchmarks of arrays on a CUDA device, or all others (cpu)",
    )
    parser.add_argument(
        "--pairs", type=int, default=7, help="pairs of processes that alternate (7)"
    )
    parser.add_argument(
        "--peers", default="", help="a Python that has the peers (.venv-bench/bin/python)"
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "out/benchmarks", help="folder of JSON and plot"
    )
    options = parser.parse_args()
    unknown = [n for n in options.names if n not in EVERY]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; expected {', '.join(EVERY)}")
    if options.pairs < 1:
        parser.error(f"--pairs: expected at least 1; got {options.pairs}")
    return options


def peer_python(given):
    """The Python that has the peers: the one given, .venv-bench, else this one."""
    local = ROOT / ".venv-bench/bin/python"
    return given or (str(local) if local.exists() else sys.executable)


def why_missing(peer, python):
    """Say why a peer cannot be measured, or return an empty text."""
    if peer in ("gcc", "gfortran"):
        return "" if shutil.which(peer) else f"{peer} is not installed (Debian: {peer})"
    if peer in ("host", "threads", "each-sweep"):  # our own implementation there
        return ""
    here = sys.executable if peer == "unisono" else python
    modules = MODULES.get(peer, (peer,))
    done = subprocess.run([here, "-c", f"import {', '.join(modules)}"], capture_output=True)
    if done.returncode != 0:
        install = f"{python} -m pip install {' '.join(modules)}"
        how = "run scripts/setup.sh" if peer == "unisono" else install
        return f"{' and '.join(modules)} cannot be imported; {how}"
    if peer == "pyopencl" and not has_platform(here):
        return (
            "pyopencl finds no OpenCL driver; install one (Debian: pocl-opencl-icd), and set "
            "OCL_ICD_VENDORS to the folder of its .icd file where that is not /etc/OpenCL/vendors"
        )
    return ""


def has_platform(python):
    """Whether PyOpenCL there finds an OpenCL driver."""
    asked = "import pyopencl, sys; sys.exit(not pyopencl.get_platforms())"
    return subprocess.run([python, "-c", asked], capture_output=True).returncode == 0


def run_once(name, who, python):
    """Seconds that one process of `who` reports for the benchmark."""
    here = (
        python
        if who in ("numba", "cupy", "jax", "drjit", "taichi", "pyopencl", "mpi4py")
        else sys.executable
    )
    environment = {**os.environ, "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0)))}
    done = subprocess.run(
        [here, str(HERE / "worker.py"), name, who],
        capture_output=True,
        text=True,
        env=environment,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "it failed")
    return json.loads(done.stdout.splitlines()[-1])


def measure(name, python, pairs):
    """Alternate processes of ours and of each peer; return the record."""
    what, ours, peers, goal = EVERY[name]
    record = {"name": name, "what": what, "goal": goal, "peers": {}, "missing": {}, "ours": []}
    present = []
    for peer in peers:
        reason = why_missing(peer, python)
        if reason:
            record["missing"][peer] = reason
        else:
            present.append(peer)
    times = {peer: [] for peer in present}
    for _ in range(pairs):
        record["ours"].append(run_once(name, ours, python))
        for peer in list(times):
            try:
                times[peer].append(run_once(name, peer, python))
            except RuntimeError as error:
                record["missing"][peer] = str(error)
                del times[peer]
    record["median"] = statistics.median(record["ours"])
    if moved := on_cuda.bytes_of(name):
        record["bytes"] = moved
    for peer, spent in times.items():
        ratios = [a / b for a, b in zip(record["ours"], spent, strict=True)]
        record["peers"][peer] = {
            "times": spent,
            "median": statistics.median(spent),
            "ratio": statistics.median(ratios),
        }
    peer, limit = goal
    if peer is None:
        record["reached"] = record["median"] <= limit
    elif peer in record["peers"]:
        record["reached"] = record["peers"][peer]["ratio"] <= limit
    return record


def text_of(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def show(record):
    peer, limit = record["goal"]
    goal = f"at most {limit:.3g} of {peer}" if peer else f"at most {text_of(limit)}"
    reached = {True: "reached", False: "NOT reached", None: "not known"}[record.get("reached")]
    speed = f", {record['bytes'] / record['median'] / 1e9:.0f} GB/s" if "bytes" in record else ""
    print(
        f"{record['name']}: {record['what']}: {text_of(record['median'])}{speed}; goal {goal}: {reached}"
    )
    for name, p in record["peers"].items():
        print(f"    {name}: {text_of(p['median'])}, ours takes {p['ratio']:.3g} of its time")
    for name, reason in record["missing"].items():
        print(f"    {name}: missing: {reason}")
    sys.stdout.flush()


def plot(records, path):
    """Bars of our time over each peer's; return what to tell the user."""
    try:
        import matplotlib
    except ImportError:
        return "no plot: matplotlib is not installed"
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [(f"{r['name']} / {p}", v["ratio"]) for r in records for p, v in r["peers"].items()]
    if not rows:
        return "no plot: no peer was measured"
    figure, axes = plt.subplots(figsize=(7, 0.3 * len(rows) + 1), layout="constrained")
    axes.barh([name for name, _ in rows], [ratio for _, ratio in rows], color="tab:blue")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="our time over the peer's (left of 1: faster)")
    axes.invert_yaxis()
    figure.savefig(path, dpi=100)
    return f"plot: {path}"


def main():
    options = parse_arguments()
    # Starts are measured as an installed package's are, whose bytecode is kept: every process of a tree without it would
    # compile the sources again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    python = peer_python(options.peers)
    reason = why_missing("unisono", python)
    if reason:
        sys.exit(f"benchmarks: {reason}")
    options.out.mkdir(parents=True, exist_ok=True)
    records = []
    for name in options.names or (ON_CUDA if options.device == "cuda" else BENCHMARKS):
        try:
            records.append(measure(name, python, options.pairs))
        except RuntimeError as error:
            print(f"{name}: failed: {error}", flush=True)
            continue
        show(records[-1])
    machine = {
        "processor": platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": python,
    }
    path = options.out / "results.json"
    path.write_text(json.dumps({"machine": machine, "results": records}, indent=1))
    print(f"results: {path}\n{plot(records, options.out / 'ratios.png')}")


if __name__ == "__main__":
    main()
