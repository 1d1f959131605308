"""Random functions of sub-arrays by `guvectorize`, against the Python function run for each place of the loop axes.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import os
import random

import numpy as np
import pytest
import unisono as un
from functions_of_text import function_of

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:60").split(":"))
DTYPES = ("float64", "float32", "int64", "int32")


class Writer:
    """A layout, a function with that layout, and arguments whose loop axes broadcast."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        axes = [(), ("n",), ("n",), ("m",), ("n", "m"), ("m", "n")]
        self.inputs = [pick(axes) for _ in range(pick((1, 2, 2, 3)))]
        if not any("n" in axes for axes in self.inputs):
            self.inputs[0] = ("n",)
        known = {a for axes in self.inputs for a in axes}
        self.output = pick(
            [axes for axes in ((), ("n",), ("n",), ("m",), ("n", "m")) if set(axes) <= known]
        )
        self.dtypes = [pick(DTYPES) for _ in self.inputs]
        self.result = "float64" if pick((True, True, False)) else pick(DTYPES)
        if self.result.startswith("int"):
            self.dtypes = [t if t.startswith("int") else "int32" for t in self.dtypes]
        self.sizes = {"n": self.random.randint(0, 5), "m": self.random.randint(1, 4)}
        self.names = "xyz"[: len(self.inputs)]

    def layout(self):
        text = lambda axes: f"({','.join(axes)})"  # noqa: E731
        return f"{','.join(map(text, self.inputs))}->{text(self.output)}"

    def signature(self):
        def type_of(name, axes):
            return f"{name}[{','.join(':' * len(axes))}]" if axes else name

        inputs = [type_of(t, axes) for t, axes in zip(self.dtypes, self.inputs, strict=True)]
        output = type_of(self.result, self.output or ("one",))
        return f"void({', '.join([*inputs, output])})"

    def item(self, indices):
        """A number that may be read where the axes have these indices."""
        name, axes = self.random.choice(list(zip(self.names, self.inputs, strict=True)))
        if not set(axes) <= set(indices):
            return str(self.random.randint(1, 3))
        return name + (f"[{', '.join(indices[a] for a in axes)}]" if axes else "")

    def expression(self, indices, depth=2):
        if depth == 0:
            return self.item(indices)
        x, y = (
            self.expression(indices, depth - 1),
            self.expression(indices, self.random.randint(0, depth - 1)),
        )
        return self.random.choice(
            [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} + 2 * {y})"]
        )

    def loops(self, axes, body, indent=1):
        """Loops over the axes around a statement, as lines."""
        lines = [
            "    " * (indent + k) + f"for {a}_ in range({self.extent(a)}):"
            for k, a in enumerate(axes)
        ]
        return [*lines, "    " * (indent + len(axes)) + body]

    def extent(self, axis):
        for name, axes in zip(self.names, self.inputs, strict=True):
            if axis in axes:
                return f"{name}.shape[{axes.index(axis)}]"
        raise AssertionError

    def text(self):
        known = sorted({a for axes in self.inputs for a in axes})
        inner = [a for a in known if a not in self.output]
        outer = {a: f"{a}_" for a in self.output}
        every = {a: f"{a}_" for a in known}
        target = f"out[{', '.join(outer.values()) or '0'}]"
        lines = [f"def f({', '.join([*self.names, 'out'])}):"]
        depth = 1 + len(self.output)
        lines += self.loops(self.output, f"{target} = {self.expression(outer)}")
        if inner and self.random.random() < 0.8:
            lines += self.loops(inner, f"{target} += {self.expression(every)}", depth)
        if self.random.random() < 0.4:
            pad = "    " * depth
            lines += [
                f"{pad}if {target} > {self.random.randint(0, 9)}:",
                f"{pad}    {target} -= {self.expression(outer)}",
            ]
        return "\n".join(lines) + "\n"

    def arguments(self):
        rng = np.random.default_rng(self.random.randint(0, 999))
        loop = tuple(self.random.randint(1, 3) for _ in range(self.random.randint(0, 2)))
        given = []
        for axes, t in zip(self.inputs, self.dtypes, strict=True):
            own = loop[self.random.randint(0, len(loop)) :]
            own = tuple(1 if self.random.random() < 0.3 else n for n in own)
            shape = (*own, *(self.sizes[a] for a in axes))
            array = rng.integers(-3, 6, shape).astype(t)
            given.append(
                np.ascontiguousarray(array[..., ::-1])[..., ::-1]
                if axes and rng.random() < 0.3
                else array
            )
        return given


def _reference(function, writer, given):
    loops = [a.shape[: a.ndim - len(axes)] for a, axes in zip(given, writer.inputs, strict=True)]
    shape = np.broadcast_shapes(*loops)
    core = tuple(writer.sizes[a] for a in writer.output)
    out = np.zeros(shape + core, writer.result)
    wide = [
        np.broadcast_to(a, shape + a.shape[a.ndim - len(axes) :])
        for a, axes in zip(given, writer.inputs, strict=True)
    ]
    for place in np.ndindex(shape):
        held = np.zeros(core or (1,), writer.result)
        with np.errstate(all="ignore"):
            function(*(w[place] for w in wide), held)
        out[place] = held if core else held[0]
    return out


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_functions_of_subarrays(seed):
    writer = Writer(seed)
    text = writer.text()
    function = function_of(text, "f", f"<guvectorize {seed}>")
    shown = f"{writer.layout()} {writer.signature()}\n{text}"
    made = [
        un.guvectorize([writer.signature()], writer.layout())(function),
        un.guvectorize([writer.signature()], writer.layout(), target="parallel")(function),
    ]
    for _ in range(3):
        given = writer.arguments()
        expected = _reference(function, writer, given)
        for f in made:
            got = f(*given)
            case = f"{[a.shape for a in given]}\n{shown}"
            np.testing.assert_allclose(
                np.asarray(got), expected, rtol=1e-6, atol=1e-6, err_msg=case
            )
            assert np.asarray(got).dtype == expected.dtype and np.shape(got) == expected.shape, case
