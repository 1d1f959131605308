"""Random programs over structured arrays: compiled, they leave the values that NumPy's arrays get from Python.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import os
import random

import numpy as np
import pytest
import unisono as un
from functions_of_text import function_of

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:60").split(":"))
NUMBERS = ("f8", "f4", "i8", "i4", "i2", "u1", "u4")


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.dtype = self.record(2)
        self.is_plain = self.random.random() < 0.5  # how fields of elements are written

    def record(self, depth):
        pick, fields = self.random.choice, []
        for k in range(self.random.randint(2, 5)):
            name = "abcdefg"[k] + ("" if depth == 2 else "n")
            form = self.random.random()
            if form < 0.2 and depth == 2:
                fields.append((name, self.record(1)))
            elif form < 0.4:
                fields.append((name, pick(NUMBERS), (self.random.randint(1, 3),)))
            elif form < 0.5:
                fields.append((name, "?"))
            else:
                fields.append((name, pick(NUMBERS)))
        fields.append(("last" + "n" * (2 - depth), "f8"))
        return np.dtype(fields, align=pick((True, False)))

    def leaves(self, dtype=None, before=""):
        """(path, extent or None, kind) of each field that holds numbers."""
        dtype = dtype or self.dtype
        found = []
        for name in dtype.names:
            base, shape = dtype[name].base, dtype[name].shape
            path = f'{before}["{name}"]'
            if base.names:
                found += self.leaves(base, path)
            else:
                found.append((path, shape[0] if shape else None, base.kind))
        return found

    def place(self, kinds="fiu?b"):
        """A number of an element, to be read or written."""
        found = [leaf for leaf in self.leaves() if leaf[2] in kinds] or [('["last"]', None, "f")]
        path, extent, kind = self.random.choice(found)
        index = self.random.choice(["i", "i", "0", "-1", "n - 1 - i"])
        inner = f"[{self.random.randrange(extent)}]" if extent else ""
        name = self.random.choice(["r", "r", "q"])
        if self.random.random() < 0.5:
            return f"{name}[{index}]{path}{inner}"
        return f"{name}{path}[{index}]{inner}"

    def value(self, depth=1):
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice([self.place("fiu"), "i", "2", "0.5"])
        x, y = self.value(depth - 1), self.value(depth - 1)
        return f"({x} {self.random.choice('+-*')} {y})"

    def statement(self, indent):
        pad = "    " * indent
        form = self.random.randrange(7)
        if form == 0:
            lines = [f"{pad}if {self.place('fiu')} > {self.random.randint(-2, 4)}:"]
            return [*lines, *self.statement(indent + 1)]
        if form == 1:
            return [f"{pad}total += {self.value()}"]
        if form == 2:
            return [f"{pad}r[i] = q[{self.random.choice(['i', '0', 'n - 1 - i'])}]"]
        if form == 3:
            return [
                f"{pad}{self.place('f')} += {self.random.choice(['i', '0.25', self.place('iub')])}"
            ]
        if form == 4 and any(leaf[2] == "b" for leaf in self.leaves()):
            return [f"{pad}{self.place('b')} = {self.value(0)} > 1"]
        if form == 5:
            path = self.random.choice(self.scalars() or ['["last"]'])
            return [f"{pad}v = r[i]", f"{pad}total += v{path}"]
        return [f"{pad}{self.place('f')} = {self.value()}"]

    def scalars(self):
        return [path for path, extent, kind in self.leaves() if extent is None and kind in "fiu"]

    def text(self):
        lines = ["def f(r, q):", "    n = len(r)", "    total = 0.0"]
        lines += ["    for i in range(n):"]
        for _ in range(self.random.randint(1, 5)):
            lines += self.statement(2)
        columns = [path for path, extent, kind in self.leaves() if kind == "f" and extent is None]
        column = self.random.choice(columns)
        lines += self.random.choice(
            [
                [],
                [f"    r{column} *= 2"],
                [f"    total += r{column}.sum()"],
                [f"    r{column}[1:] = q{column}[:-1]"],
            ]
        )
        return "\n".join([*lines, "    return total"]) + "\n"

    def array(self, n):
        rng = np.random.default_rng(self.random.randint(0, 999))
        made = np.zeros(n, self.dtype)
        self.fill(made, rng)
        return made

    def fill(self, array, rng):
        for name in array.dtype.names:
            if array[name].dtype.names:
                self.fill(array[name], rng)
            else:
                array[name] = rng.integers(0, 5, array[name].shape)


def _is_same(a, b):
    if a.dtype.names:
        return all(_is_same(a[n], b[n]) for n in a.dtype.names)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_structured_arrays(seed):
    writer = Writer(seed)
    text = writer.text()
    function = function_of(text, "f", f"<records {seed}>")
    compiled = un.jit(function, device="interp" if seed % 3 == 0 else "cpu")
    for n in (1, 2, 5):
        given = [writer.array(n), writer.array(n)]
        plain = [a.copy() for a in given]
        shown = f"n={n} {writer.dtype}\n{text}"
        with np.errstate(all="ignore"):
            expected = function(*plain)
        try:
            got = compiled(*given)
        except un.CompileError as error:  # which is said of some uses of such fields
            assert "aligned" in str(error), f"{error}\n{shown}"
            return
        except ValueError as error:
            assert "is a read-only copy" in str(error), f"{error}\n{shown}"
            return
        np.testing.assert_allclose(got, expected, rtol=1e-5, err_msg=shown)
        for a, b in zip(given, plain, strict=True):
            assert _is_same(a, b), shown
