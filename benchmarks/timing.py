"""How every benchmark takes its time."""

import time


def best_of(function, count=1, repeats=7):
    """Least time of a call of `function`, which makes `count` steps; per step."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best / count
