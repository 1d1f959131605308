"""What a statement costs before it computes anything, and what a call of a compiled function costs."""

import time

# Statements recorded before the clock stops: fewer than the tape runs by itself (docs/tape.md).
STATEMENTS = 500
ROUNDS = 2000


def least(loop, settle=lambda: None):
    """Seconds of one step of the loop, the least of many short runs: longer ones meet other processes."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        loop()
        best = min(best, time.perf_counter() - begin)
        settle()
    return best / STATEMENTS


def record():
    """One statement on arrays too large to be computed at once, less the loop around it."""
    import numpy
    import unisono as un

    a, b, s = un.asarray(numpy.ones(100_000)), un.asarray(numpy.ones(100_000)), 1.5

    def empty():
        for _ in range(STATEMENTS):
            pass

    def pairs():
        for _ in range(STATEMENTS):
            a + b

    def scaled():
        for _ in range(STATEMENTS):
            a * s

    times = [least(f, un.synchronize) for f in (pairs, scaled)]
    return sum(times) / len(times) - least(empty)


def call(who):
    """One call of a compiled function of a vector and a number, less the loop around it."""
    import numpy

    if who == "unisono":
        import unisono as un

        x, jit = un.asarray(numpy.ones(10)), un.jit
    else:
        import numba

        x, jit = numpy.ones(10), numba.njit

    @jit
    def f(x, s):
        return x[0] * s

    def empty():
        for _ in range(STATEMENTS):
            pass

    def loop():
        for _ in range(STATEMENTS):
            f(x, 1.5)

    loop()
    return least(loop) - least(empty)


def measure(name, who):
    return record() if name == "record" else call(who)
