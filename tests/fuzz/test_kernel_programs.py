"""Random kernels: without groups against Python, work-item by work-item; with groups on each device against the
interpreter, which checks them.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import os
import random
import types

import numpy as np
import pytest
import unisono as un
from functions_of_text import function_of

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:40").split(":"))
DTYPES = ("float64", "float32", "int64", "int32")


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dtypes = {n: self.random.choice(DTYPES) for n in "ab"}
        self.is_wide = self.random.random() < 0.4
        self.names = 0

    def number(self, depth=2):
        pick = self.random.choice
        if depth == 0:
            i = "(i + j)" if self.is_wide else "i"
            places = [i, f"len(a) - 1 - {i}", "0", f"({i} * 3) % len(a)"]
            return pick([f"a[{pick(places)}]", f"b[{pick(places)}]", "s", "i", "2", "t", "1.5"])
        x, y = self.number(depth - 1), self.number(self.random.randint(0, depth - 1))
        return pick(
            [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"min({x}, {y}, 9)", f"abs({x} + 0)"]
        )

    def statement(self, indent, depth):
        pad, pick = "    " * indent, self.random.choice
        form = pick(["t", "t", "if", "for", "while"]) if depth else "t"
        if form == "t":
            return [f"{pad}t {pick(['=', '+=', '-='])} {self.number()} + 0.0"]
        inner = [
            line
            for _ in range(self.random.randint(1, 2))
            for line in self.statement(indent + 1, depth - 1)
        ]
        if form == "if":
            lines = [f"{pad}if {self.number(1)} > {self.random.randint(-1, 4)}:", *inner]
            return (
                [*lines, f"{pad}else:", *self.statement(indent + 1, 0)] if pick((0, 1)) else lines
            )
        self.names += 1
        k = f"k{self.names}"
        if form == "for":
            more = [f"{pad}    if t > 50:", f"{pad}        {pick(['break', 'continue'])}"]
            return [
                f"{pad}for {k} in range({self.random.randint(0, 4)}):",
                *inner,
                *(more if pick((0, 1)) else []),
            ]
        return [f"{pad}{k} = 0", f"{pad}while {k} < 3:", f"{pad}    {k} += 1", *inner]

    def text(self):
        lines = ["def f(a, b, out, s):", "    i = un.global_id(0)"]
        lines += ["    j = un.global_id(1)"] if self.is_wide else []
        lines += ["    t = 0.0"]
        for _ in range(self.random.randint(1, 4)):
            lines += self.statement(1, 2)
        place = "i, j" if self.is_wide else "i"
        return "\n".join([*lines, f"    out[{place}] = t + {self.number(1)}"]) + "\n"

    def arguments(self):
        rng = np.random.default_rng(self.random.randint(0, 999))
        n, m = self.random.randint(1, 7), self.random.randint(1, 5)
        given = [rng.integers(0, 5, n + m).astype(self.dtypes[name]) for name in "ab"]
        shape = (n, m) if self.is_wide else (n,)
        return shape, [*given, np.zeros(shape), 1.5]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_kernels_without_groups(seed):
    writer = Writer(seed)
    text = writer.text()
    place = [0, 0]
    words = types.SimpleNamespace(global_id=lambda axis: place[axis])
    plain = function_of(text, "f", f"<plain kernel {seed}>", un=words)
    function = function_of(text, "f", f"<kernel {seed}>", un=un)
    kernels = [un.kernel(function, device=d) for d in ("interp", "cpu")]
    for _ in range(2):
        shape, given = writer.arguments()
        expected = [np.copy(v) for v in given]
        with np.errstate(all="ignore"):
            for index in np.ndindex(shape):
                place[: len(index)] = index
                plain(*expected[:3], given[3])
        for kernel in kernels:
            made = [np.copy(v) for v in given[:3]]
            try:
                kernel[shape](*made, given[3])
            except un.CompileError as error:  # elements of two dtypes in one name
                assert "on one path and" in str(error) or "which no variable" in str(error), text
                return
            np.testing.assert_allclose(made[2], expected[2], rtol=1e-4, err_msg=f"{shape}\n{text}")


class GroupWriter(Writer):
    """Work-items of a group exchange numbers through local memory between barriers."""

    def text(self):
        self.is_wide = False
        size = 4
        lines = [
            "def f(a, b, out, s):",
            "    i = un.global_id(0)",
            "    l = un.local_id(0)",
            f"    held = un.local_array({size}, {self.random.choice(['un.float64', 'un.int64'])})",
            "    t = 0.0",
        ]
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(1, 1)
            other = self.random.choice([f"(l + 1) % {size}", f"{size} - 1 - l", "0", "l // 2"])
            lines += [
                "    held[l] = int(t) % 97 + l",
                "    un.barrier()",
                f"    t += held[{other}]",
                "    un.barrier()",
            ]
        if self.random.random() < 0.5:
            lines += [
                "    d = 2",
                "    held[l] = l + int(s)",
                "    un.barrier()",
                "    while d > 0:",
            ]
            lines += ["        if l < d:", "            held[l] += held[l + d]"]
            lines += ["        d = d // 2", "        un.barrier()", "    t += held[0]"]
        return "\n".join([*lines, "    out[i] = t + un.group_id(0)"]) + "\n"

    def arguments(self):
        rng = np.random.default_rng(self.random.randint(0, 999))
        n = 4 * self.random.randint(1, 4)
        given = [rng.integers(0, 5, n).astype(self.dtypes[name]) for name in "ab"]
        return n, [*given, np.zeros(n), 1.5]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_kernels_of_groups(seed):
    writer = GroupWriter(seed)
    text = writer.text()
    function = function_of(text, "f", f"<group kernel {seed}>", un=un)
    reference, other = un.kernel(function, device="interp"), un.kernel(function, device="cpu")
    for _ in range(2):
        n, given = writer.arguments()
        made = [[np.copy(v) for v in given[:3]] for _ in range(2)]
        try:
            reference[n, 4](*made[0], given[3])
        except un.CompileError as error:
            assert "on one path and" in str(error) or "which no variable" in str(error), text
            return
        other[n, 4](*made[1], given[3])
        np.testing.assert_array_equal(made[1][2], made[0][2], err_msg=text)
