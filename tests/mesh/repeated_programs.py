"""Random loops: each body is made once and run several times, on distributed arrays and with NumPy, on virtual ranks.

Run as a script: ``python tests/mesh/repeated_programs.py loops [first seed]``.
"""

import random
import sys
import time

import numpy as np
import unisono as un

_most = 5  # values stay below, so that sums are exact in any order


class Body:
    """The text of a loop's body, over arrays a0, a1, a2 of one shape, a vector r, an array h that all ranks hold alike,
    the loop's counter k and numbers."""

    def __init__(self, choose, shape):
        self.choose, self.shape, self.lines, self.made = choose, shape, [], 0
        for _ in range(choose.randint(2, 9)):
            getattr(self, "add_" + choose.choice(["set"] * 4 + ["update"] * 3 + ["temporary", "sum", "axis_sum", "where", "host", "row"]))()  # fmt: skip
        for name in ("a0", "a1", "a2"):
            self.lines.append(f"{name}[...] = {name} % {_most}")

    def array(self):
        return self.choose.choice(["a0", "a1", "a2"])

    def slices(self, count=2):
        """Texts of keys that show parts of one shape."""
        keys = [[] for _ in range(count)]
        for extent in self.shape:
            size = self.choose.choice([extent, max(extent - 2, 0), extent // 2, max(extent - 1, 0)])
            step = self.choose.choice([1, 1, 1, 1, -1])
            for key in keys:
                begin = self.choose.randint(0, extent - size)
                if step == 1:
                    key.append(f"{begin}:{begin + size}")
                else:
                    end = begin - 1 if begin else ""
                    key.append(f"{begin + size - 1}:{end}:-1" if size else "0:0")
        return ["[" + ", ".join(key) + "]" for key in keys]

    def number(self):
        return self.choose.choice(["2", "1", "k", "(k % 3)", "s", "-1"])

    def operation(self):
        return self.choose.choice(["+", "-", "*", "+", "-"])

    def add_set(self):
        to, one, other, third = self.slices(4)
        text = f"{self.array()}{one} {self.operation()} {self.array()}{other}"
        if self.choose.random() < 0.5:
            text = f"({text}) {self.operation()} {self.array()}{third}"
        if self.choose.random() < 0.4:
            text = f"({text}) {self.operation()} {self.number()}"
        self.lines.append(f"{self.array()}{to} = {text}")

    def add_update(self):
        to, one = self.slices()
        how = self.choose.choice(["+=", "-=", "*="])
        right = self.choose.choice(
            [self.number(), f"{self.array()}{one}", f"{self.array()}{one} * {self.number()}"]
        )
        name = self.array()
        self.lines += [f"{name}{to} {how} {right}", f"{name}[...] = {name} % {_most}"]

    def add_temporary(self):
        one, other, to = self.slices(3)
        name, self.made = f"t{self.made}", self.made + 1
        self.lines.append(f"{name} = {self.array()}{one} - {self.array()}{other}")
        if self.choose.random() < 0.4:
            self.lines.append(
                f"kept.append({name}) if k % {self.choose.choice([2, 3])} == 0 else None"
            )
        if self.choose.random() < 0.4:
            self.lines.append(f"{name} += {self.number()}")
        self.lines.append(f"{self.array()}{to} = {name} * 2")
        if self.choose.random() < 0.5:
            self.lines.append(f"del {name}")

    def add_sum(self):
        one, other = self.slices()
        what = self.choose.choice(["sum", "max", "min"]) if 0 not in self.shape else "sum"
        self.lines.append(f"s = xp.{what}({self.array()}{one}[:1] * {self.array()}{other}[:1]) % 3" if what == "sum" else f"s = {self.array()}.{what}() % 3")  # fmt: skip
        if self.choose.random() < 0.3:
            self.lines.append("s = float(s)")
        if self.choose.random() < 0.3:
            self.lines.append(f"s = xp.sum({self.array()} * {self.array()}) % 3")

    def add_axis_sum(self):
        axis = self.choose.randrange(len(self.shape))
        name = self.array()
        self.lines.append(f"v = {name}.sum(axis={axis}, keepdims=True) % {_most}")
        self.lines.append(f"{self.array()}[...] = v + {name}")

    def add_where(self):
        to, one, other = self.slices(3)
        a, b = self.array(), self.array()
        self.lines.append(f"{self.array()}{to} = xp.where({a}{one} > {self.number()}, {b}{other}, {self.number()})")  # fmt: skip

    def add_host(self):
        self.lines.append(f"{self.array()}[...] = {self.array()} + h")
        if self.choose.random() < 0.5:
            self.lines.append("h[...] = h + 1")
            self.lines.append(f"h[...] = h % {_most}")

    def add_row(self):
        row = self.choose.randrange(self.shape[0]) if self.shape[0] else None
        if row is not None:
            self.lines.append(f"{self.array()}[{row}] = {self.array()}[{row}] + {self.number()}")


def same(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, (ours, theirs)
    assert np.array_equal(ours, theirs), (ours, theirs)


def run_program(mesh, seed, rounds=8):
    """Runs the loop of that seed; returns how many windows were recorded as before."""
    choose, rng = random.Random(seed), np.random.default_rng(seed)
    p = un.mesh().size
    shape = [choose.choice([1, p, p + 1, 2 * p + 1, 13, 31, 0])] + [
        choose.choice([1, 3, 5, 8]) for _ in range(choose.choice([0, 1, 1, 1, 2]))
    ]
    if choose.random() < 0.2:
        choose.shuffle(shape)
    body = Body(choose, shape)
    code = compile("\n".join(body.lines), f"body_{seed}.py", "exec")
    spaces = []
    for xp in (np, un):
        spaces.append({"xp": xp, "s": 1.0, "kept": [], "k": 0})
    for name in ("a0", "a1", "a2"):
        x = rng.integers(0, _most, shape).astype("float64")
        axis = choose.randrange(len(shape))
        kind = choose.choice(["block", "block", "block", "cyclic", ("cyclic", 2)])
        layout = choose.choice(
            [
                None,
                None,
                "replicated",
                tuple(kind if k == axis else None for k in range(len(shape))),
            ]
        )
        if len(shape) == 2 and p % 2 == 0 and choose.random() < 0.3:
            layout = (2, p // 2)
        spaces[0][name], spaces[1][name] = x, un.asarray(x, mesh=mesh, layout=layout)
    h = rng.integers(0, _most, shape).astype("float64")
    spaces[0]["h"], spaces[1]["h"] = h, un.asarray(h)
    for k in range(rounds):
        for space in spaces:
            space["k"] = k
            exec(code, space)
        if choose.random() < 0.2:
            same(spaces[1]["a0"], spaces[0]["a0"])
    for name in ("a0", "a1", "a2", "s"):
        same(spaces[1][name], spaces[0][name])
    for ours, theirs in zip(spaces[1]["kept"], spaces[0]["kept"], strict=True):
        same(ours, theirs)
    return un.mesh()._repeated_windows


def run_seed(ranks, seed):
    """On so many virtual ranks; what failed says its statements."""
    m = un.mesh("virtual", ranks)
    try:
        return m.run(run_program, m, seed)[0]
    except Exception as error:
        raise AssertionError(
            f"{ranks} ranks, seed {seed}: {type(error).__name__}: {error}"
        ) from error


def main(loops, first=0):
    """Runs so many loops on 2 to 8 ranks; says at which seed it failed."""
    start, failed, repeated = time.perf_counter(), 0, 0
    for seed in range(first, first + loops):
        try:
            repeated += run_seed((2, 3, 4, 5, 2, 7, 8)[seed % 7], seed)
        except Exception as error:
            failed += 1
            print(str(error)[:1500], flush=True)
            if failed == 10:
                break
    print(f"{loops} loops from seed {first}, {failed} failed, {repeated} windows repeated, {time.perf_counter() - start:.0f} s")  # fmt: skip
    return failed


if __name__ == "__main__":
    sys.exit(main(*(int(text) for text in sys.argv[1:])) != 0)
