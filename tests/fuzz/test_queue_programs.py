"""Random programs of one list or deque that changes at both ends and in the middle, against CPython.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import importlib.util
import os
import random

import pytest
import unisono as un

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:30").split(":"))

ITEMS = ["k * 3", "str(k)", "k * 0.5", "np.full(2, k * 1.0)", "(k, str(k))", "[k] * 2"]


def program(seed):
    """Text of a function of the number of items that it begins with."""
    r = random.Random(seed)
    item = r.choice(ITEMS)
    is_deque = "np." not in item and r.random() < 0.5
    lines = ["import numpy as np", "from collections import deque", "def f(n):", "    sizes = []"]
    lines.append("    xs = deque()" if is_deque else "    xs = []")
    lines += ["    for k in range(n + 1):", f"        xs.append({item})"]
    forms = [
        [f"xs.append({item})"],
        [f"xs.appendleft({item})" if is_deque else f"xs.insert(0, {item})"],
        ["if len(xs) > 0:", "    xs.popleft()" if is_deque else "    xs.pop(0)"],
        ["if len(xs) > 2:", "    xs.pop()"],
        [f"xs.insert(k, {item})"],
        ["if len(xs) > k:", f"    xs[k] = {item}"],
        ["xs.reverse()"],
        ["xs.rotate(k)" if is_deque else f"xs[k:{r.randint(0, 9)}] = [{item}] * {r.randint(0, 3)}"],
        ["xs.rotate(-2)" if is_deque else f"del xs[{r.randint(0, 3)}:k:{r.randint(1, 3)}]"],
    ]
    for _ in range(r.randint(6, 14)):
        lines.append(f"    for k in range({r.randint(1, 9)}):")
        lines += [f"        {line}" for line in r.choice(forms)]
        lines.append("    sizes.append(len(xs))")
    shown = "float(x[0])" if "np." in item else "x"
    return "\n".join([*lines, f"    return sizes, [{shown} for x in xs]", ""])


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_as_python(seed, tmp_path):
    path = tmp_path / f"queue_{seed}.py"
    path.write_text(program(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for n in (0, 5):
        assert repr(un.jit(module.f)(n)) == repr(module.f(n)), path.read_text()
