"""Random programs of slices, in-place writes and reductions: distributed arrays against NumPy."""

import random

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")


class Program:
    """The same statements on NumPy arrays and on distributed ones; small integers, so every order is exact."""

    def __init__(self, seed, with_layouts=False):
        self.choose = random.Random(seed)  # the same on every rank
        rng = np.random.default_rng(seed)
        self.pairs = []
        self.log = []
        self.columns = self.choose.choice([None, 1, 4])
        for _ in range(3):
            n = self.choose.choice([1, 2, 5, 9, 14])
            shape = (n,) if self.columns is None else (n, self.columns)
            x = rng.integers(-4, 5, shape).astype(self.choose.choice(["float64", "int64"]))
            layout = self.layout(shape) if with_layouts else None
            self.pairs.append((x, un.asarray(x, mesh=mesh, layout=layout)))
            self.log.append(f"{x.dtype} {shape} as {layout}")

    def sizes(self, extent, parts):
        cuts = sorted(self.choose.randint(0, extent) for _ in range(parts - 1))
        return tuple(b - a for a, b in zip([0, *cuts], [*cuts, extent], strict=True))

    def layout(self, shape):
        """Rows, columns, a grid of ranks, or all on every rank; even parts or any, or dealt out."""
        if self.choose.random() < 0.3:
            dealt = ["cyclic", ("cyclic", 2), "block", None]
            kinds = [self.choose.choice(dealt[:2]), *self.choose.choices(dealt, k=len(shape) - 1)]
            return tuple(self.choose.sample(kinds, k=len(kinds)))
        sides = [k for k in range(1, mesh.size + 1) if mesh.size % k == 0]
        rows = self.choose.choice(sides) if len(shape) == 2 else mesh.size
        layout = (rows, mesh.size // rows)[: len(shape)]
        if self.choose.random() < 0.5:
            layout = tuple(self.sizes(n, k) for n, k in zip(shape, layout, strict=True))
        return self.choose.choice(["block", "replicated", layout, layout, layout])

    def slice_of(self, extent, count=None):
        step = self.choose.choice([1, 1, 1, 2, 3, -1, -2])
        if count is None:
            a = self.choose.randint(0, extent)
            b = self.choose.randint(a, extent)
            return slice(a, b, step) if step > 0 else slice(b - 1 if b else None, None, step)
        # A slice of exactly `count` elements, if there is one.
        most = 1 + (extent - 1) // abs(step) if extent else 0
        if count > most or count == 0:
            return slice(0, count)
        span = (count - 1) * abs(step)
        a = self.choose.randint(0, extent - 1 - span)
        if step > 0:
            return slice(a, a + span + 1, step)
        return slice(a + span, a - 1 if a else None, step)

    def view(self, count=None):
        """A random view, of `count` rows where possible; NumPy's and ours."""
        x, a = self.choose.choice(self.pairs)
        key = self.slice_of(x.shape[0], count)
        if self.choose.random() < 0.2 and count is None and x.ndim == 2 and x.shape[0]:
            key = self.choose.randrange(x.shape[0])
        self.log.append(f"view of {x.shape} {x.dtype} by {key}")
        if x.ndim == 2 and self.choose.random() < 0.3 and not isinstance(key, int):
            key = (key, self.slice_of(x.shape[1], x.shape[1]))
        return x[key], a[key]

    def expression(self, count, levels):
        if levels == 0 or self.choose.random() < 0.3:
            if self.choose.random() < 0.2:
                number = self.choose.randint(-3, 3)
                return number, number
            return self.view(count)
        (x, a), (y, b) = (
            self.expression(count, levels - 1),
            self.expression(count, levels - 1),
        )
        how = self.choose.choice(["+", "-", "*", "where"])
        self.log.append(how)
        if how == "where":
            if isinstance(a, int) or np.ndim(x) == 0:
                return x, a
            return np.where(x > 0, x, y), un.where(a > 0, a, b)
        operation = {
            "+": lambda p, q: p + q,
            "-": lambda p, q: p - q,
            "*": lambda p, q: p * q,
        }[how]
        return operation(x, y), operation(a, b)

    def statement(self):
        x, a = self.view()
        count = x.shape[0] if x.ndim else None
        y, b = self.expression(count, 2)
        kind = self.choose.choice(["=", "=", "+=", "new", "sum"])
        self.log.append(kind)
        if kind == "sum":
            axis = self.choose.choice([None, 0, -1])
            ours, theirs = a.sum(axis=axis), x.sum(axis=axis)
            assert np.array_equal(np.asarray(ours), theirs)
        elif kind == "new":
            if np.ndim(y) == len(self.pairs[0][0].shape) and np.max(np.abs(y), initial=0) < 1000:
                self.pairs[self.choose.randrange(3)] = (np.array(y), b + 0)
        elif np.max(np.abs(y), initial=0) < 1000:
            if kind == "+=":
                x += np.asarray(y).astype(x.dtype)
                a += b if isinstance(b, int) else b.astype(x.dtype.name)
            else:
                # A copy: NumPy 2.4 overwrites what x[1:9:3] = x[2:5] is still to read.
                x[...] = np.array(y)
                a[...] = b

    def compare(self):
        for x, a in self.pairs:
            ours = np.asarray(a)
            assert ours.shape == x.shape and ours.dtype == x.dtype
            assert np.array_equal(ours, x)


@pytest.mark.parametrize("with_layouts", [False, True])
@pytest.mark.parametrize("seed", range(60))
def test(seed, with_layouts):
    program = Program(seed, with_layouts)
    for _ in range(12):
        start = len(program.log)
        try:
            program.statement()
        except ValueError as error:
            # NumPy's exception comes first in each pair; the statement has changed nothing.
            assert "broadcast" in str(error), (error, program.log[start:])
        if program.choose.random() < 0.3:
            program.compare()
    program.compare()
