"""Random programs whose names hold numbers, text and tuples one after the other: refused, or the interpreter's results."""

import importlib.util
import random

import pytest
import unisono as un

NAMES = ["a", "b", "c"]
VALUES = ["k", "2.5", '"xy"', "(k, 1)", "(2.0, k)", '("q", k)', "True", *NAMES, *NAMES]


def block(rng, depth, indent):
    lines, space = [], "    " * indent
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if kind < 0.4 or not depth:
            lines.append(f"{space}{rng.choice(NAMES)} = {rng.choice(VALUES)}")
        elif kind < 0.5:
            x, y = rng.sample(NAMES, 2)
            lines.append(f"{space}{x}, {y} = {y}, {rng.choice(VALUES)}")
        elif kind < 0.6:
            lines.append(f"{space}k += {rng.randint(1, 3)}")
        elif kind < 0.8:
            lines.append(f"{space}if k % {rng.randint(2, 3)} == {rng.randint(0, 1)}:")
            lines += block(rng, depth - 1, indent + 1)
            if rng.random() < 0.6:
                lines += [f"{space}else:", *block(rng, depth - 1, indent + 1)]
        else:
            lines.append(f"{space}for i{indent} in range({rng.randint(1, 3)}):")
            lines += block(rng, depth - 1, indent + 1)
            if rng.random() < 0.4:
                lines.append(f"{space}    if k % 3 == 1: {rng.choice(['break', 'continue'])}")
            lines.append(f"{space}    {rng.choice(NAMES)} = {rng.choice(VALUES)}")
    return lines


def program(rng):
    first = [
        f"    {v} = {rng.choice(['k', '1.5', '(k, 2)', chr(34) + 's' + chr(34)])}" for v in NAMES
    ]
    body = [*block(rng, 3, 1), *block(rng, 2, 1)]
    return "\n".join(
        ["def f(n):", "    k = n", *first, *body, f"    return {rng.choice(NAMES)}, k", ""]
    )


@pytest.mark.parametrize("part", range(6))
def test_programs(part, tmp_path):
    ran = 0
    for seed in range(40 * part, 40 * part + 40):
        path = tmp_path / f"program_{seed}.py"
        path.write_text(program(random.Random(seed)))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        compiled = un.jit(module.f)
        for n in (0, 1, 5):
            try:
                found = compiled(n)
            except un.CompileError:
                break
            assert found == module.f(n), f"seed={seed}, n={n}\n{path.read_text()}"
            ran += 1
    assert ran > 0
