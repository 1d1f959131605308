"""Random stencils against their kernels, which Python runs element by element on padded arrays.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import os
import random

import numpy as np
import pytest
import unisono as un
from functions_of_text import function_of

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:60").split(":"))
MODES = ("constant", "edge", "wrap", "reflect", "symmetric")
DTYPES = ("float64", "float32", "int64", "int32")


class Around:
    """A padded array that kernels index relatively to one place."""

    def __init__(self, padded, reach, place):
        self.padded, self.reach, self.place = padded, reach, place

    def __getitem__(self, offset):
        offset = offset if isinstance(offset, tuple) else (offset,)
        low = [max(0, -r[0]) for r in self.reach]
        return self.padded[
            tuple(p + o + k for p, o, k in zip(self.place, offset, low, strict=True))
        ]


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.rank, self.mode = pick((1, 1, 2, 2, 3)), pick(MODES)
        self.arrays = ["a", "b"][: pick((1, 1, 2))]
        self.dtypes = {n: pick(DTYPES) for n in self.arrays}
        self.has_scalar, self.cval = pick((True, False)), pick((0, 1, -2.5))
        self.most = pick((1, 2))
        self.is_table = self.rank == 1 and pick((True, False, False))

    def read(self):
        offsets = [self.random.randint(-self.most, self.most) for _ in range(self.rank)]
        return f"{self.random.choice(self.arrays)}[{', '.join(map(str, offsets))}]"

    def expression(self, depth):
        pick = self.random.choice
        if depth == 0:
            leaves = [self.read()] * 5 + ["2", "0.5", "s" if self.has_scalar else "3"]
            return pick([*leaves, "w[1]"] if self.is_table else leaves)
        x, y = self.expression(depth - 1), self.expression(self.random.randint(0, depth - 1))
        forms = [f"({x} {pick('+-*')} {y})"] * 4
        forms += [f"min({x}, {y})", f"max({x}, {y})", f"abs({x} + 0)"]
        return pick([*forms, f"({x} if {y} > 1 else {self.read()} + 0 * {x})"])

    def text(self):
        names = [
            *self.arrays,
            *(["w"] if self.is_table else []),
            *(["s"] if self.has_scalar else []),
        ]
        anchor = f"{self.arrays[0]}[{', '.join(['0'] * self.rank)}]"
        lines = [
            f"def kernel({', '.join(names)}):",
            f"    t = {self.expression(2)} + 0.0 * {anchor}",
        ]
        if self.random.random() < 0.4:
            lines += [f"    if {self.read()} > 1:", f"        t += {self.expression(1)}"]
        return "\n".join([*lines, f"    return t * 1.0 + {self.expression(1)}"]) + "\n"

    def arguments(self, shape):
        rng = np.random.default_rng(self.random.randint(0, 999))
        given = {n: rng.integers(0, 5, shape).astype(t) for n, t in self.dtypes.items()}
        if self.is_table:
            given["w"] = np.array([1.0, 2.0, 4.0])
        return {**given, **({"s": 1.5} if self.has_scalar else {})}


def _reference(kernel, made, writer, given, shape):
    """The kernel at each place; None where the border reaches beyond the array, as numpy.pad refuses too."""
    reach, mode = made.neighborhood, writer.mode
    widths = [(max(0, -low), max(0, high)) for low, high in reach]
    padded = {}
    for n in writer.arrays:
        how = "edge" if mode == "constant" else mode
        padded[n] = np.pad(given[n], widths, mode=how)
    out = np.empty(shape)
    for place in np.ndindex(shape):
        is_inside = all(
            0 <= p + low and p + high < n
            for p, (low, high), n in zip(place, reach, shape, strict=True)
        )
        if mode == "constant" and not is_inside:
            out[place] = writer.cval
            continue
        args = [Around(padded[n], reach, place) if n in padded else v for n, v in given.items()]
        with np.errstate(all="ignore"):
            out[place] = kernel(*args)
    return out


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_stencils(seed):
    writer = Writer(seed)
    text = writer.text()
    kernel = function_of(text, "kernel", f"<stencil {seed}>")
    made = un.stencil(
        writer.mode, cval=writer.cval, standard_indexing=("w",) if writer.is_table else ()
    )(kernel)
    for _ in range(2):
        shape = tuple(writer.random.randint(3, 9) for _ in range(writer.rank))
        given = writer.arguments(shape)
        expected = _reference(kernel, made, writer, given, shape)
        shown = f"{writer.mode}, cval {writer.cval}, shape {shape}, {writer.dtypes}\n{text}"
        try:
            got = np.asarray(made(*given.values()))
        except un.CompileError as error:  # elements of two dtypes in one name
            assert "which no variable can hold" in str(error), shown
            return
        is_single = (
            "float32" in writer.dtypes.values()
        )  # which one of min's operands gives is not known
        close = {"rtol": 1e-5, "atol": 1e-5} if is_single else {"rtol": 0, "atol": 0}
        np.testing.assert_allclose(got, expected, err_msg=shown, **close)
        into = np.zeros(shape)
        made(*given.values(), out=into)
        np.testing.assert_allclose(into, expected, err_msg=shown, **close)
