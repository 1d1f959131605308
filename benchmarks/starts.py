"""Imports, first results, and new expressions."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

FIRST_RESULT = """
import time
begin = time.perf_counter()
import unisono as un
a = un.arange(1000) * 1.0
value = float(((a * 2 + 1) / 3).sum())
spent = time.perf_counter() - begin
assert value == 333333.33333333337 or abs(value - 333333.3333333333) < 1e-6, value
with open("/proc/self/maps") as f:
    assert "libLLVM" not in f.read(), "LLVM was loaded"
print(spent)
"""


def measure(name, who):
    if name == "import":
        return import_time(who)
    if name.startswith("first-result"):
        return first_result(warm=name.endswith("warm-cache"))
    return new_expression(who)


def wall(code):
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begin


def import_time(who):
    """Process with the import less process without, in turn."""
    wall(f"import {who}")
    return statistics.median(wall(f"import {who}") - wall("pass") for _ in range(7))


def first_result(warm):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        environment = {**os.environ, "UNISONO_CACHE_DIR": folder}
        for _ in range(2 if warm else 1):
            done = subprocess.run(
                [sys.executable, "-c", FIRST_RESULT],
                check=True,
                capture_output=True,
                text=True,
                env=environment,
            )
    return json.loads(done.stdout)


def new_expression(who):
    """Time of an expression whose structure this process has not seen, the median of many."""
    if who == "unisono":
        import unisono as module
    else:
        import numpy as module
    import itertools
    import operator

    a, b = module.arange(1000) * 1.0, module.arange(1000) + 2.0
    float((a + b).sum())
    operations = (operator.add, operator.sub, operator.mul, operator.truediv)
    times = []
    for choice in itertools.islice(itertools.product(operations, repeat=6), 0, 4000, 40):
        begin = time.perf_counter()
        r = a
        for f in choice:
            r = f(r, b)
        value = float(r[7])
        times.append(time.perf_counter() - begin)
        wanted = 7.0
        for f in choice:
            wanted = f(wanted, 9.0)
        assert value == wanted
    return statistics.median(times)
