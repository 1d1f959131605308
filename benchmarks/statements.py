"""Small statements, each on arrays of some tens of elements: what a call costs, not what it computes.

`python benchmarks/statements.py` prints a table beside NumPy; `run.py statements` takes the geometric mean.
"""

import math
import sys
import time

# Each statement runs in a loop over i from 1 to n - 2; the set-up makes its names.
SETUP = """
n = 40
a = xp.asarray(numpy.linspace(1.0, 2.0, n * n).reshape(n, n))
b = xp.asarray(numpy.linspace(2.0, 3.0, n * n).reshape(n, n))
u, v, w = (xp.asarray(numpy.linspace(k + 1.0, k + 2.0, n)) for k in range(3))
p, q = xp.asarray(numpy.arange(n) % 7), xp.asarray(numpy.arange(n) % 5 + 1)
s, m = xp.asarray(numpy.arange(9.0).reshape(3, 3)), xp.asarray(numpy.ones((3, 3)))
a, b, u, v, w, p, q, s, m = (x.copy() for x in (a, b, u, v, w, p, q, s, m))
"""
STATEMENTS = {
    "slices added": "u[1:-1] = v[2:] + w[:-2]",
    "stencil": "u[1:-1] = 0.25 * (v[:-2] + 2.0 * v[1:-1] + v[2:])",
    "row minus scaled row": "a[i, :i] -= 0.001 * b[i - 1, :i]",
    "row times column": "u[i] = a[i, :] @ b[:, i]",
    "part of a row times part of a column": "a[i, i] -= 1e-6 * (a[i, :i] @ b[:i, i])",
    "dot of rows": "u[i] = xp.dot(a[i, :i], b[i, :i])",
    "row into a matrix": "a[i, :] = v",
    "column from a column": "a[:, i] = b[:, i - 1]",
    "column of an expression": "a[:, i] = b[:, i - 1] * 0.5 + v",
    "whole array added": "u += v",
    "number times array": "u *= 1.0",
    "element over number": "u[i] = v[i] / 3.0",
    "element from elements": "a[i, i] = a[i, i - 1] + 1.0",
    "element in place": "u[i] += v[i - 1]",
    "sum of a row": "u[i] = a[i, :].sum()",
    "sum of a product": "u[i] = (a[i, :] * v).sum()",
    "matrix times vector": "u[:] = a @ v",
    "vector of a vector": "u[:] = v * w + u",
    "fresh vector": "t = v * w + u * 0.5",
    "integers": "p[1:] += q[:-1]",
    "masked": "u[u > 100.0] = 1.0",
    "choice": "u[:] = xp.where(v > w, v, w)",
    "largest": "t = float(xp.max(v))",
    "outer": "a -= 1e-6 * xp.outer(v, w)",
    "3x3 matrices": "t = s @ m + s.T",
    "five operations on 3x3": "t = float((((s * m + s) * 2.0 - m) * s)[1, 1])",
}

ELEMENTS = {
    "element-read": ("t = v[i]", "t = a[i, i]"),
    "element-write": ("v[i] = 1.5", "a[i, i] = 1.5"),
}


def spent(xp, statement, seconds=0.02):
    """Seconds of one statement: the least of several loops."""
    import numpy

    names = {"xp": xp, "numpy": numpy}
    exec(SETUP, names)
    local = ", ".join(f"{x}={x}" for x in ("xp", "n", *"abuvwpqsm"))
    code = f"""def loop(rounds, {local}):
    for _ in range(rounds):
        for i in range(1, n - 1):
            {statement}
"""
    exec(code, names)
    loop, settle = names["loop"], getattr(xp, "eval", lambda: None)
    rounds, best = 1, float("inf")
    for _ in range(7):
        settle()
        begin = time.perf_counter()
        loop(rounds)
        settle()
        took = time.perf_counter() - begin
        best = min(best, took / (rounds * (names["n"] - 2)))
        rounds = max(1, int(seconds / (best * (names["n"] - 2))))
    return best


def measure(name, who):
    if who == "unisono":
        import unisono as xp
    else:
        import numpy as xp
    times = [spent(xp, text, 0.01) for text in ELEMENTS.get(name, STATEMENTS.values())]
    return math.exp(sum(map(math.log, times)) / len(times))


def main():
    import numpy
    import unisono

    ratios = []
    for name, text in STATEMENTS.items():
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        theirs, ours = spent(numpy, text), spent(unisono, text)
        ratios.append(theirs / ours)
        print(
            f"{name:38} numpy {theirs * 1e9:6.0f} ns   unisono {ours * 1e9:6.0f} ns   {theirs / ours:5.2f} times"
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(
        f"geometric mean of {len(ratios)}: {mean:.2f} times NumPy's speed; least {min(ratios):.2f}"
    )


if __name__ == "__main__":
    main()
