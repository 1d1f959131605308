"""First calls of small compiled loops; run alone, it prints a table: first_calls.py [--peers PYTHON] [--processes N]."""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

prange = range  # the compiler's own word takes its place before anything is compiled


def dot(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


def saxpy(a, x, y):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


def sum_above(x, y):
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            total += x[i] * y[i]
    return total


def sum2d(grid):
    rows, columns = grid.shape
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            total += grid[i, j]
    return total


def laplace(grid, other):
    for y in range(1, grid.shape[0] - 1):
        for x in range(1, grid.shape[1] - 1):
            other[y, x] = (grid[y + 1, x] + grid[y - 1, x] + grid[y, x + 1] + grid[y, x - 1]) / 4


def stencil_with_if(grid, other):
    rows, columns = grid.shape
    for i in range(rows):
        for j in range(columns):
            if i == 0 or j == 0 or i == rows - 1 or j == columns - 1:
                other[i, j] = grid[i, j]
            else:
                other[i, j] = 0.2 * (
                    grid[i, j] + grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1]
                )


def parallel_sum(x):
    total = 0.0
    for i in prange(x.shape[0]):
        total += x[i] * x[i]
    return total


def parallel_laplace(grid, other):
    for y in prange(1, grid.shape[0] - 1):
        for x in range(1, grid.shape[1] - 1):
            other[y, x] = (grid[y + 1, x] + grid[y - 1, x] + grid[y, x + 1] + grid[y, x - 1]) / 4


def collatz(limit):
    longest = 0
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > longest:
            longest = steps
    return longest


def waves(x, y):
    for i in range(x.shape[0]):
        y[i] = math.sin(x[i]) * math.exp(-x[i])


def counts(values, table):
    for i in range(values.shape[0]):
        table[values[i] % table.shape[0]] += 1


def bubble_sort(values):
    for i in range(values.shape[0]):
        for j in range(values.shape[0] - 1 - i):
            if values[j] > values[j + 1]:
                kept = values[j]
                values[j] = values[j + 1]
                values[j + 1] = kept


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def mandelbrot(counts, limit):
    for i in prange(counts.shape[0]):
        for j in range(counts.shape[1]):
            x = y = 0.0
            n = 0
            while n < limit and x * x + y * y <= 4.0:
                x, y = x * x - y * y + j / 16.0 - 2.0, 2.0 * x * y + i / 16.0 - 1.0
                n += 1
            counts[i, j] = n


def warm(x):
    total = 0.0
    for i in range(x.shape[0]):
        total -= x[i]
    return total


def cases():
    """Pairs of a loop and its arguments, made anew by each call."""
    import numpy as np

    x = np.linspace(0.0, 1.0, 64)
    y = np.linspace(1.0, 2.0, 64)
    grid = np.outer(x[:16], y[:16])
    whole = np.arange(64)[::-1].copy()
    square = np.zeros((16, 16))
    return [
        (dot, (x, y)),
        (saxpy, (2.0, x, y.copy())),
        (sum_above, (x, y)),
        (sum2d, (grid,)),
        (laplace, (grid, square.copy())),
        (stencil_with_if, (grid, square.copy())),
        (parallel_sum, (whole.astype(float),)),
        (parallel_laplace, (grid, square.copy())),
        (collatz, (100,)),
        (waves, (x, y.copy())),
        (counts, (whole, np.zeros(10, np.int64))),
        (bubble_sort, (whole.copy(),)),
        (product, (grid, grid, square.copy())),
        (mandelbrot, (np.zeros((16, 16), np.int64), 20)),
    ]


def check(loop, compiled, expected):
    """Compare results and changed arrays with plain Python's; functions are within an ULP."""
    import numpy as np

    for ours, theirs in zip(compiled, expected, strict=True):
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-15, err_msg=loop.__name__)


def first_calls(who):
    """Seconds of the first call of each loop in a process that has compiled another one before."""
    global prange
    import numpy as np

    if who == "unisono":
        import unisono as un

        compiler, parallel = un.jit, un.prange
    else:
        import numba

        def compiler(function):
            return numba.njit(function, parallel=function in (parallel_sum, parallel_laplace))

        parallel = numba.prange
    expected = []
    for loop, args in cases():
        expected.append((loop(*args), *args))
    prange = parallel
    compiler(warm)(np.ones(8))
    spent = {}
    for (loop, args), wanted in zip(cases(), expected, strict=True):
        function = compiler(loop)
        begin = time.perf_counter()
        value = function(*args)
        spent[loop.__name__] = time.perf_counter() - begin
        check(loop, (value, *args), wanted)
    return spent


def measure(name, who):
    """The slowest loop's first call, compiled or from the disk cache; or what long functions take."""
    if name == "compile-per-line":
        few, many = [], []  # in turn: the machine may be slower for a while
        for _ in range(3):
            few += [time_of_lines(250) / 250 for _ in range(4)]
            many.append(time_of_lines(2000) / 2000)
        return min(many) / min(few)
    if name == "compile-arrays":
        return min(time_of_lines(43, "arrays") for _ in range(3)) / 40
    return max(in_processes(who, 1, cached=name.endswith("cached"))[0].values())


LINES = {
    "mixed": """
    for i{k} in range(n):
        s += x[i{k}] * 0.{k}
    if s > {k}.25:
        s = s / 2 - n + {k}
    x[{i}] = s * 0.01 + x[{j}] / 2""",
    "straight": """
    s = s * 0.5 + x[{i}] / {k}.5""",
    "loops": """
    for i in range(n):
        s += x[i] * 0.{k}""",
    "ifs": """
    if s > {k}.25:
        s = s / 2 - n + {k}""",
    "elements": """
    x[{i}] = x[{j}] * 0.5 + {k}""",
    "arrays": """
    x[1:] = x[:-1] * 0.5 + {k}""",
}


def time_of_lines(count, kind="mixed"):
    """Seconds of the first call of a function with this many lines of a kind."""
    import importlib.util

    import numpy as np

    os.environ["UNISONO_CACHE_DIR"] = os.devnull  # read at import: nothing is found or kept
    import unisono as un

    un.jit(warm)(np.ones(8))
    lines = ["def long(x, n):", "    s = 0.0"]
    for k in range((count - 3) // (len(LINES[kind].splitlines()) - 1)):
        lines += LINES[kind].format(k=k + 1, i=k % 8, j=(k + 3) % 8).splitlines()[1:]
    lines.append("    return s")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "long.py")
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        spec = importlib.util.spec_from_file_location("long", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        x = np.ones(8)
        begin = time.perf_counter()
        value = un.jit(module.long)(x, 8)
        spent = time.perf_counter() - begin
        assert value == module.long(np.ones(8), 8)
    return spent


def in_processes(who, count, cached, python=sys.executable):
    """What `count` processes report; `cached`: each with a cache that a process before it filled."""
    reports = []
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o700)
            environment = {**os.environ, "UNISONO_CACHE_DIR": folder}
            for _ in range(2 if cached else 1):
                done = subprocess.run(
                    [python, __file__, "--one", who],
                    check=True,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=environment,
                )
        reports.append(json.loads(done.stdout))
    return reports


def medians(reports):
    return {name: statistics.median(r[name] for r in reports) for name in reports[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", default="", help="a Python that has Numba")
    parser.add_argument("--processes", type=int, default=3, help="per column (3)")
    parser.add_argument(
        "--lines",
        nargs=2,
        metavar=("KIND", "COUNT"),
        help=f"the first call of one long function instead, of lines of a kind: {', '.join(LINES)}",
    )
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.lines:
        kind, count = options.lines
        print(f"{min(time_of_lines(int(count), kind) for _ in range(3)) * 1e3:.1f} ms")
        return
    if options.one:
        print(json.dumps(first_calls(options.one)))
        return
    columns = {
        "compiled": medians(in_processes("unisono", options.processes, cached=False)),
        "from disk": medians(in_processes("unisono", options.processes, cached=True)),
    }
    if options.peers:
        columns["numba"] = medians(in_processes("numba", 1, False, options.peers))
    print(f"{'milliseconds':18}" + "".join(f"{c:>12}" for c in columns))
    for name in columns["compiled"]:
        print(f"{name:18}" + "".join(f"{c[name] * 1e3:12.2f}" for c in columns.values()))
    print(f"{'slowest':18}" + "".join(f"{max(c.values()) * 1e3:12.2f}" for c in columns.values()))


if __name__ == "__main__":
    main()
