"""Random statements on overlapping parts of a few matrices, all pending together: what the groups of a plan may join,
move and copy. Values are whole numbers, so that every order of additions gives NumPy's bits.

UNISONO_FUZZ_PROGRAMS sets how many programs run, UNISONO_FUZZ_SEED the first seed.
"""

import os
import random

import numpy as np
import pytest
import unisono as un

COUNT = 5 * int(os.environ.get("UNISONO_FUZZ_PROGRAMS", 60))
FIRST = int(os.environ.get("UNISONO_FUZZ_SEED", 1))
ROWS, COLUMNS = 50, 130  # several blocks of the block executor

# Parts of a matrix m, by what they broadcast to; t and u hold results of the first two kinds.
PARTS = {
    "whole": [
        "m",
        "m[::-1]",
        "m[:, ::-1]",
        "t",
        "m[i]",
        "m[i, ::-1]",
        "m[:, j][:, None]",
        "m[::-1, j][:, None]",
    ],
    "inner": [f"m[{r}, {c}]" for r in ("1:-1", ":-2", "2:") for c in ("1:-1", ":-2", "2:")]
    + ["u", "m[i, 2:]"],
    "row": ["m[i]", "m[i, ::-1]"],
    "column": ["m[:, j]", "m[::-1, j]"],
}
TARGETS = {
    "whole": ["m[:]", "m[::-1]"],
    "inner": ["m[1:-1, 1:-1]", "m[2:, 2:]", "m[:-2, 1:-1]"],
    "row": ["m[i]"],
    "column": ["m[:, j]"],
}
FORMS = ["({} + {})", "({} - {})", "np.minimum({}, {})", "np.where({} > 0, 2, {})", "(2 * {} - {})"]


class Program:
    """Lines of Python over matrices a, b and c."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = ["t = a + b", "u = a[1:-1, 1:-1] - c[2:, 2:]"]
        for number in range(self.random.randint(3, 14)):
            self.lines.append(self.statement(number))

    def part(self, table, kind):
        text = self.random.choice(table[kind]).replace("m", self.random.choice("abc"), 1)
        row, column = self.random.randrange(ROWS), self.random.randrange(COLUMNS)
        return text.replace("[i", f"[{row}").replace(", j", f", {column}")

    def expression(self, kind, depth):
        if depth == 0 or self.random.random() < 0.2:
            return self.part(PARTS, kind)
        x, y = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
        return self.random.choice(FORMS).format(x, y)

    def statement(self, number):
        depth, choice = self.random.randint(1, 3), self.random.random()
        if choice < 0.1:
            return f"t = {self.expression('whole', depth)} + a"
        if choice < 0.2:
            return f"u = {self.expression('inner', depth)} + c[1:-1, 1:-1]"
        if choice < 0.3:
            return f"s{number} = ({self.expression('whole', depth)} + a).sum(axis={self.random.randrange(2)})"
        kind = self.random.choice(["whole", "whole", "inner", "inner", "row", "column"])
        assign = self.random.choice(["=", "=", "+=", "-="])
        value = self.expression(kind, depth)
        if kind in ("row", "column") and self.random.random() < 0.4:
            value = f"({self.expression('whole', depth)} + b).sum(axis={int(kind == 'column')})"
        return f"{self.part(TARGETS, kind)} {assign} {value}"

    def run(self, module):
        numbers = np.random.default_rng(1)
        names = {
            n: module.array(numbers.integers(-9, 9, (ROWS, COLUMNS)).astype("f8")) for n in "abc"
        }
        exec("\n".join(self.lines), {"np": module}, names)
        return {name: np.asarray(value) for name, value in names.items()}


@pytest.fixture(params=["block", "interp", "cpu"])
def executor(request):
    un._engine._set_setting("executor", request.param)
    yield request.param
    un._engine._set_setting("executor", "auto")


def test_groups(executor):
    for seed in range(FIRST, FIRST + (COUNT if executor == "block" else max(1, COUNT // 10))):
        program = Program(seed)
        expected, made = program.run(np), program.run(un)
        for name, value in expected.items():
            assert np.array_equal(made[name], value), (
                f"seed {seed}: {name} differs after\n" + "\n".join(program.lines)
            )
