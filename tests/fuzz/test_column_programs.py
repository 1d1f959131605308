"""Random loops over columns (products, updates, assignments in any order) leave what Python's leave, faults included.

All numbers are small integers, so that sums have the same bits in any order.
UNISONO_FUZZ_PROGRAMS sets how many programs the test runs, UNISONO_FUZZ_SEED the first seed.
"""

import importlib.util
import os
import random

import numpy as np
import pytest
import unisono as un

COUNT = int(os.environ.get("UNISONO_FUZZ_PROGRAMS", 15))
FIRST = int(os.environ.get("UNISONO_FUZZ_SEED", 1))

HEAD = """
import numpy as np
def program(A, B, D, w, x, n, c):
    {start}
    for i in range(n):
        for j in {columns}:
            {body}
    return {result}
"""


class Writer:
    """Writes the lines of a body, and knows the variables that they assign."""

    def __init__(self, r):
        self.r, self.names = r, []
        self.rows = r.choice([":i", ":i", ":n", "1:n", "i:n", ":i + 1"])
        self.lines = [self.line(k) for k in range(r.randint(1, 5))]

    def column(self):
        return self.r.choice(["j"] * 8 + ["j - 1", "j + 1", "0", "i"])

    def part(self):
        return f"{self.r.choice('AB')}[{self.rows}, {self.column()}]"

    def vector(self):
        return self.r.choice([self.part(), f"D[i, {self.rows}]", f"w[{self.rows}]"])

    def element(self):
        return self.r.choice(
            [f"{self.r.choice('AB')}[i, {self.column()}]", "x[j]", f"x[{self.column()}]"]
        )

    def value(self):
        return self.r.choice(["2.0", *self.names, *self.names, self.element()])

    def line(self, k):
        if (kind := self.r.random()) < 0.35:
            update = f"{self.vector()} - {self.value()} * {self.vector()}"
            right = self.r.choice([f"{self.value()} * {self.vector()}", self.vector(), update])
            return f"{self.part()} {self.r.choice(['+=', '-=', '='])} {right}"
        if kind < 0.8:
            product = f"{self.vector()} @ {self.vector()}"
            line = f"t{k} = " + self.r.choice(
                [product, product, f"{self.value()} - {self.value()}"]
            )
            self.names.append(f"t{k}")
            return line
        return f"{self.element()} {self.r.choice(['=', '+='])} {self.value()}"


def source(r):
    writer = Writer(r)
    names = writer.names
    lives = r.random() < 0.4
    return HEAD.format(
        start="; ".join(f"{name} = 0.0" for name in names) if lives and names else "pass",
        columns=r.choice(["range(c)"] * 5 + ["range(1, c)", "range(i, c)", "range(c + 2)"]),
        body="\n            ".join(writer.lines),
        result=names[-1] if lives and names else 0,
    )


def arguments(seed, n, c, kind):
    draw = np.random.default_rng(seed)

    def make(*shape):
        return draw.integers(-1, 2, shape).astype(float)

    a, b, d, w, x = make(n + 1, c + 1), make(n + 1, c + 1), make(n + 1, n), make(n), make(c + 1)
    if kind < 2:
        b = (a, np.asfortranarray(b))[kind]
    elif kind == 2:
        memory = make(2 * n + 3, c + 2)
        a, b = memory[: n + 1, : c + 1], memory[1 : n + 2, 1:]
    elif kind == 3:
        x = b[0]
    elif kind == 4:
        b = b[:, :c]
    elif kind == 5:
        d = d[:, : n - 1]
    return a, b, d, w, x, n, c


@pytest.mark.slow
def test_programs_of_columns(tmp_path):
    for seed in range(FIRST, FIRST + COUNT):
        r = random.Random(seed)
        text = source(r)
        path = tmp_path / f"columns{seed}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        compiled = un.jit(module.program)
        for _ in range(4):
            n, c, kind = r.choice([1, 2, 4]), r.choice([1, 7, 8, 17, 40, 75]), r.randint(0, 12)
            seen = []
            for function in (module.program, compiled):
                made = arguments(seed, n, c, kind)
                try:
                    result = function(*made)
                except (IndexError, ValueError) as fault:
                    result = type(fault)
                seen.append((result, [m.tolist() for m in made[:5]]))
            largest = max(np.abs(m).max(initial=0) for m in made[:5])
            if largest < 2.0**50:  # integers still
                assert seen[0] == seen[1], f"seed {seed}, n {n}, c {c}, kind {kind}:\n{text}"
