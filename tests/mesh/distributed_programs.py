"""Random array programs over distributed arrays: NumPy's values, dtypes, shapes and exceptions on every rank.

Arrays lie in random layouts, beside some that each rank holds alike, and `to_layout` moves them on the way. Run as a
script: ``python tests/mesh/distributed_programs.py programs [first seed]``.
"""

import ast
import sys
import time

import numpy as np
import unisono as un
from fuzz.array_programs import SMALL, Program, numbers


def _poked(x, key, value, *_):
    made = x.copy()
    made[key] = value
    return made


class DistributedProgram(Program):
    """A program whose arrays are distributed over `mesh`; all ranks make the same choices."""

    def __init__(self, seed, mesh, length=30, exposes=False):
        super().__init__(seed, length=length)
        self.mesh, self.exposes = mesh, exposes
        p = mesh.size
        self.extents = [*SMALL, p - 1, p, p + 1, 2 * p + 1, 11, 13]
        self.ours["new"] = self.made
        for space in (self.theirs, self.ours):
            space.update(lay=lambda x, layout: x.copy(), spread=np.asarray)
        self.ours.update(lay=self.laid, spread=lambda x: un.asarray(x, mesh=mesh))
        self.theirs.update(
            poked=_poked, added=self.added_in_turn, read=lambda x, key: np.array(x[key])
        )
        self.ours.update(poked=self.poked_by_one, added=self.added_by_all, read=self.read_by_all)

    def made(self, shape, dtype, seed):
        host = numbers(shape, dtype, seed)
        if seed == 8:
            return un.asarray(host)  # each rank's own, and the same
        layout = self.layout(host.shape, seed) if host.ndim else None
        return un.asarray(host, mesh=self.mesh, layout=layout)

    def laid(self, x, seed):
        """Moved to another layout, where it is distributed; comparisons of Python's numbers are bools."""
        if isinstance(x, bool):
            return x
        if not isinstance(x, un.ndarray) or x.device != self.mesh or not x.ndim:
            return x.copy()
        return x.to_layout(self.layout(x.shape, seed) or "block").copy()

    # One-sided, by indices of the whole.

    def exposable(self, x):
        """The array in parts that one rank each has."""
        return x.copy() if x.layout != "replicated" else x.to_layout("block")

    def poked_by_one(self, x, key, value, rank):
        x = self.exposable(x)
        with un.mpi.expose(x) as g:
            if self.mesh.rank == rank % self.mesh.size:
                g.put(key, value)
        return x

    def added_by_all(self, x, key, value):
        x = self.exposable(x)
        with un.mpi.expose(x) as g:
            g.accumulate(key, value)
        return x

    def added_in_turn(self, x, key, value):
        return _poked(x, key, x[key] + self.mesh.size * value)

    def read_by_all(self, x, key):
        with un.mpi.expose(self.exposable(x)) as g:
            return un.asarray(np.array(g.get(key)), mesh=self.mesh)

    def exposed(self):
        n = self.vector(lambda x: x.dtype.name in ("int32", "int64", "float64") and x.size > 0)
        if not n or not self.exact(self.theirs[n], "sum"):
            return None
        x = self.theirs[n]
        keys = []
        for extent in x.shape[: int(self.rng.integers(1, x.ndim + 1))]:
            a, b = (int(k) for k in self.rng.integers(-extent - 1, extent + 2, 2))
            step = self.pick(["1", "1", "2", "-1", "-2", "None"])
            keys.append(self.pick([f"slice({a}, {b}, {step})"] * 3 + [str(a % extent)]))
        key, value = f"({', '.join(keys)},)", int(self.rng.integers(5))
        text = self.pick([f"poked({n}, {key}, {value}, {value})", f"added({n}, {key}, {value})", f"read({n}, {key})"])  # fmt: skip
        return f"{self.target()} = {text}"

    def layout(self, shape, seed):
        """Drawn by the seed alone: a statement's text tells it."""
        draw = np.random.default_rng(1000 + seed + 31 * len(shape))
        p, axis = self.mesh.size, int(draw.integers(len(shape)))
        kind = int(draw.integers(8))

        def along(one):
            return tuple(one if k == axis else None for k in range(len(shape)))

        def parts(extent, count):  # of any sizes, some of them empty
            cuts = sorted(int(k) for k in draw.integers(0, extent + 1, count - 1))
            return tuple(b - a for a, b in zip([0, *cuts], [*cuts, extent], strict=True))

        if kind == 1:
            return "replicated"
        if kind == 2:
            return along("block")
        if kind == 3:
            return along("cyclic")
        if kind == 4:
            return along(("cyclic", int(draw.integers(1, 4))))
        if kind == 5:
            return along(parts(shape[axis], p))
        if kind in (6, 7) and len(shape) > 1:
            sides = [k for k in range(1, p + 1) if p % k == 0]
            side = sides[int(draw.integers(len(sides)))]
            grid = (side, p // side)
            if kind == 7:
                grid = tuple(parts(n, k) for n, k in zip(shape, grid, strict=False))
            return (*grid, *[None] * (len(shape) - 2))
        return None

    def shape(self):
        return tuple(self.pick(self.extents) for _ in range(self.pick([0, 1, 1, 2, 2, 2, 3])))

    def statement(self):
        more = [self.ordered, self.scanned, self.moved_to, self.number, self.product, self.axes, self.found, self.joined, self.collected, self.transformed, self.summed, self.changed]  # fmt: skip
        if self.exposes:
            more.append(self.exposed)
        if len(self.names()) > 1 and self.chance(0.35):
            return self.pick(more)()
        return super().statement()

    def make(self):
        text = super().make().replace(", 8)", ", 7)")
        x = eval(text.split(" = ", 1)[1], self.theirs)
        return text if x.size <= 3000 else None

    def step(self):
        super().step()
        for n in (
            self.names()
        ):  # what came of numbers alone is each rank's, and takes nothing distributed
            ours = self.ours[n]
            if type(ours) in (bool, int, float, complex):  # what Python made of its own and a value
                assert ours == self.theirs[n], f"{n}: {ours}, NumPy {self.theirs[n]}"
                del self.theirs[n], self.ours[n]
                continue
            if isinstance(ours, un.ndarray) and ours.ndim and ours.device != self.mesh:
                del self.theirs[n], self.ours[n]

    def binary(self):
        text = super().binary()
        # Python's bool is what answers there: our numbers are its int's.
        return (
            None
            if " True " in text or " False " in text or text.endswith((" True", " False"))
            else text
        )

    def view(self):
        """As any program's, but for reshapes: those of distributed arrays are copies."""
        text = super().view()
        if text and (".reshape(" in text or ".ravel(" in text):
            to, _, value = text.partition(" = ")
            return f"{to} = xp.array({value})"
        return text

    def operand_for(self, shape):
        text = super().operand_for(shape)
        return f"spread({text})" if text.startswith("new((),") else text

    def vector(self, test=lambda x: True):
        return self.name(lambda x: isinstance(x, np.ndarray) and x.ndim > 0 and test(x))

    def axis(self, x):
        return int(self.rng.integers(-x.ndim, x.ndim))

    def ordered(self):
        n = self.vector()
        if not n or self.has_negative_zero(n):
            return None
        axis = self.axis(self.theirs[n])
        text = self.pick(
            [
                f"xp.sort({n}, axis={axis})",
                f"xp.argsort({n}, axis={axis}, stable=True)",
                f"xp.unique({n})",
                f"xp.unique({n}, return_inverse=True, return_counts=True)[{self.pick([0, 1, 2])}]",
                f"xp.searchsorted(xp.sort({n}.ravel()), {n}, side='{self.pick(['left', 'right'])}')",
                f"xp.flip({n}, axis={axis})",
                f"xp.partition({n}, 0, axis={axis}).min(axis={axis})"
                if self.theirs[n].size
                else f"xp.sort({n})",
            ]
        )
        return f"{self.target()} = {text}"

    def scanned(self):
        n = self.vector()
        if not n:
            return None
        x, axis = self.theirs[n], self.axis(self.theirs[n])
        whole = x.dtype.kind != "f" or self.exact(x, "sum")
        texts = [f"xp.diff({n}, axis={axis})"] if x.dtype != bool and whole else []
        if whole:
            texts += [f"xp.cumsum({n}, axis={axis})", f"xp.cumsum({n})"]
        if x.dtype.kind in "iu":
            texts += [f"xp.cumprod({n}, axis={axis})"]
        if not self.has_negative_zero(n):
            texts += [f"xp.maximum.accumulate({n}, axis={axis})"]
        if x.dtype.kind == "u" and x.size < 2000 and int(x.max(initial=0)) < 1000:
            texts += [f"xp.bincount({n}.ravel().astype('int64'))"]
        return f"{self.target()} = {self.pick(texts)}" if texts else None

    def moved_to(self):
        n = self.name()
        return (
            f"{self.target() if self.chance(0.5) else n} = lay({n}, {int(self.rng.integers(99))})"
        )

    def number(self):
        """A scalar taken on the way, used in what follows."""
        n = self.vector(lambda x: x.size > 0 and x.dtype.kind != "f")
        if not n:
            return None
        x = self.theirs[n]
        key = ", ".join(str(int(self.rng.integers(-e, e))) for e in x.shape)
        text = self.pick(
            [
                f"int({n}[{key}]) % 5",
                f"int({n}.max()) % 7",
                f"int((xp.count_nonzero({n}) + {n}.size) % 3)",
                f"len({n})",
            ]
        )
        to = self.vector(lambda y: y.dtype.name in ("int64", "float64"))
        return f"{to}[...] = {to} + {text}" if to else None

    def product(self):
        n = self.vector(lambda x: x.ndim < 3 and x.dtype.name in ("float64", "int64", "float32"))
        if not n or not self.small(n):
            return None
        x = self.theirs[n]
        other = self.vector(
            lambda y: y.ndim < 3 and y.dtype == x.dtype and y.shape[0] == x.shape[-1]
        )
        if other and self.small(other) and self.chance(0.7):
            return f"{self.target()} = {n} @ {other}"
        return f"{self.target()} = " + self.pick(
            [f"{n}.T @ {n}", f"xp.outer({n}, {n})", f"xp.tensordot({n}, {n}, axes={x.ndim})"]
        )

    def small(self, n):
        x = self.theirs[n]
        return self.exact(x, "sum") and np.abs(x.astype("float64")).max(initial=0) < 1000 and x.size < 500  # fmt: skip

    def axes(self):
        n = self.vector()
        if not n:
            return None
        x = self.theirs[n]
        a, b = self.axis(x), self.axis(x)
        text = self.pick(
            [
                f"xp.moveaxis({n}, {a}, {b})",
                f"xp.swapaxes({n}, {a}, {b})",
                f"xp.expand_dims({n}, {a})",
                f"xp.squeeze({n})",
                f"xp.broadcast_to({n}, {(2, *x.shape)}) + 0",
                f"xp.array_split({n}, {self.pick([1, 2, 3])}, axis={a})[0]",
                f"xp.flipud({n})",
                f"xp.atleast_2d({n})",
                f"xp.diagonal({n})" if x.ndim > 1 else f"xp.diag({n})",
                f"xp.tril({n})" if x.ndim > 1 else f"xp.array(xp.ravel({n}))",
            ]
        )
        return f"{self.target()} = {text}" if "diag(" not in text or x.size < 50 else None

    def found(self):
        n = self.vector()
        if not n or self.has_negative_zero(n):
            return None
        x, axis = self.theirs[n], self.axis(self.theirs[n])
        texts = [
            f"xp.nonzero({n})[{self.pick([0, -1])}].copy()",
            f"xp.argwhere({n} > 1)",
            f"xp.count_nonzero({n}, axis={axis})",
            f"xp.isin({n}, [0, 1, 2])",
            f"xp.clip({n}, 0, 3)",
            f"xp.flatnonzero({n})",
            f"xp.extract({n} > 1, {n})",
            f"xp.take_along_axis({n}, xp.argsort({n}, axis={axis}, stable=True), axis={axis})",
            f"xp.ptp({n}, axis={axis})" if x.shape[axis] and x.dtype != bool else f"{n} > 0",
        ]
        if x.shape[axis]:
            texts += [f"{n}.argmax(axis={axis})", f"{n}.argmin(axis={axis})"]
        if x.size:
            texts += [f"{n}.argmax() + {n}.argmin()"]
        return f"{self.target()} = {self.pick(texts)}"

    def internal_gap(self, text):
        """Calls that write in place cannot be tried before."""
        writes = isinstance(ast.parse(text).body[0], ast.Expr)
        return not writes and super().internal_gap(text)

    def joined(self):
        """Shapes that grow and shrink, and elements that go elsewhere."""
        n = self.vector(lambda x: x.size < 200)
        if not n:
            return None
        x, axis = self.theirs[n], self.axis(self.theirs[n])
        extent = x.shape[axis]
        at = [int(k) for k in self.rng.integers(-extent, extent, 2)] if extent else []
        shift = int(self.rng.integers(-4, 5))
        texts = [
            f"xp.repeat({n}, {self.pick([0, 2, 3])}, axis={axis})",
            f"xp.tile({n}, {self.pick([(2,), (2, 1), (1, 3)])})",
            f"xp.roll({n}, {shift}, axis={axis})",
            f"xp.roll({n}, {shift})",
            f"xp.pad({n}, {self.pick([1, 2, (0, 3)])}, mode='{self.pick(['constant', 'edge'])}')"
            if x.size
            else f"xp.stack([{n}, {n}])",
            f"xp.append({n}, {n}[:1], axis=0)",
            f"xp.stack([{n}, {n}], axis={axis})",
            f"xp.concatenate([{n}, {n}], axis={axis})",
            f"xp.hstack([{n}, {n}])",
            f"xp.dstack([{n}, {n}])",
            f"xp.kron({n}, xp.asarray([1, 2]))" if x.ndim == 1 else f"xp.vstack([{n}, {n}])",
            f"xp.rot90({n}, {shift})" if x.ndim > 1 else f"xp.trim_zeros({n})",
            f"xp.resize({n}, (3, 5))",
        ]
        if at:
            texts += [
                f"xp.delete({n}, {at}, axis={axis})",
                f"xp.insert({n}, {at[0]}, 3, axis={axis})",
                f"xp.take({n}, {at}, axis={axis})",
                f"xp.compress([True, False, True][:{extent}], {n}, axis={axis})",
            ]
        return f"{self.target()} = {self.pick(texts)}"

    def collected(self):
        """Sets of values, and where they lie in an order."""
        n = self.vector(lambda x: x.dtype.kind in "iu" and x.size < 2000)
        other = n and self.vector(lambda x: x.dtype == self.theirs[n].dtype)
        if not n:
            return None
        x, axis = self.theirs[n], self.axis(self.theirs[n])
        texts = [
            f"xp.union1d({n}, {other})",
            f"xp.intersect1d({n}, {other})",
            f"xp.setdiff1d({n}, {other})",
            f"xp.digitize({n}, [-2, 0, 3])",
            f"xp.histogram({n}, bins=[-5, -1, 0, 2, 6])[0]",
            f"xp.lexsort(({n}.ravel(), {n}.ravel() % 3))",
            f"xp.where({n} > 1, {n}, 0)",
            f"xp.select([{n} > 2, {n} < 0], [{n}, {n} % 3], {n})",
            f"xp.choose(({n} % 2).astype('int64'), [{n}, {n} + 5])",
            f"xp.unique({n}, return_index=True)[1]",
            f"xp.sort({n}.ravel())[::-3].copy()",
            f"xp.fmin.accumulate({n}, axis={axis})",
            f"xp.array_equal({n}, {other}) + {n}",
        ]
        if x.shape[axis] > 1:
            texts += [f"xp.argpartition({n}, 1, axis={axis}).max(axis={axis})"]
        if x.shape[axis]:
            texts += [f"xp.median({n}, axis={axis})", f"xp.add.reduceat({n}, [0], axis={axis})"]
        return f"{self.target()} = {self.pick(texts)}"

    def transformed(self):
        """There and back: of small integers what comes back rounds to them."""
        n = self.vector(lambda x: x.dtype.name in ("int32", "int64", "float64") and x.size > 0)
        if not n or not self.small(n):
            return None
        axis, extent = self.axis(self.theirs[n]), self.theirs[n].shape
        extent = extent[axis]
        there, back = self.pick([("fft", "ifft"), ("ifft", "fft"), ("rfft", "irfft")])
        of = f"xp.fft.{there}({n}, axis={axis})"
        length = f", {extent}" if there == "rfft" else ""
        text = f"xp.fft.{back}({of}{length}, axis={axis})"
        if self.theirs[n].ndim > 1 and self.chance(0.3):
            text = f"xp.fft.ifft2(xp.fft.fft2({n}))"
        return f"{self.target()} = xp.rint({text}.real) + 0"

    def summed(self):
        n = self.vector(lambda x: x.ndim < 3 and x.dtype.name in ("float64", "int64", "int32"))
        if not n or not self.small(n):
            return None
        x = self.theirs[n]
        one = ["i->", "i,i->", "i,j->ij", "i,i->i"]
        two = ["ij->ji", "ij->j", "ij->", "ij,kj->ik", "ij,ij->i", "ij,ij->ij", "ij,ik->jk", "ij,ij->"]  # fmt: skip
        if x.ndim == 2 and x.shape[0] == x.shape[1]:
            two += ["ii->i", "ii->", "ij,jk->ik", "ij,ji->i"]
        form = self.pick(one if x.ndim == 1 else two)
        text = f"xp.einsum('{form}', {', '.join([n] * (form.count(',') + 1))})"
        if self.chance(0.3):
            text = self.pick(
                [f"xp.trace({n})", f"xp.vdot({n}, {n})", f"xp.inner({n}, {n})"]
                if x.ndim == 2
                else [f"xp.convolve({n}, [1, -1])", f"xp.correlate({n}, [2, 1])"]
                if x.size > 1
                else [f"xp.inner({n}, {n})"]
            )
        return f"{self.target()} = {text} + xp.asarray([0])"

    def changed(self):
        """In place: at steps, by ufuncs that write to a view, at positions along an axis, in masks."""
        # NumPy's `add.at` writes into read-only arrays.
        n = self.vector(
            lambda x: x.dtype.name in ("int32", "int64", "float64") and x.size and x.flags.writeable
        )
        if not n or not self.small(n):
            return None
        x, axis = self.theirs[n], self.axis(self.theirs[n])
        a, step = int(self.rng.integers(3)), self.pick([1, 2, 3, -1, -2, -3])
        key = [":"] * x.ndim
        key[axis] = self.pick([f"{a}::{step}", f":-{a + 1}:{step}", f"::{step}"])
        view = f"{n}[{', '.join(key)}]"
        at = [int(k) for k in self.rng.integers(0, x.shape[0], 3)]
        value = int(self.rng.integers(-3, 4))
        return self.pick(
            [
                f"{view} += {value}",
                f"{view} *= {value}",
                f"xp.add({view}, {value}, out={view})",
                f"xp.maximum({view}, {value}, out={view})",
                # NumPy 2.4 writes nothing where `negative` goes over one column in place.
                f"xp.multiply({view}, -1, out={view}); {n} += 0",
                f"{view}[...] = xp.flip({view}, axis={axis})",
                f"{n}[{n} > {value}] = {value}",
                f"{n}[{n} < {value}] += 1",
                f"{n}[{at}] = {value}",
                f"xp.add.at({n}, {at}, {value})",
                f"xp.putmask({n}, {n} == {value}, {value + 1})",
                f"xp.copyto({n}, {value}, where={n} > 2)",
                f"xp.put_along_axis({n}, xp.argsort({n}, axis={axis}, stable=True)[{', '.join([':'] * (axis % x.ndim) + [':1'])}], {value}, axis={axis})",
                f"{n}.sort(axis={axis})",
                f"xp.place({n}, {n} > 1, [{value}, 0])",
                f"xp.fill_diagonal({n}, {value})" if x.ndim == 2 else f"{n}.fill({value})",
            ]
        )


def run_seed(mesh, seed, length=30):
    """On virtual ranks: the program of that seed."""
    DistributedProgram(seed, mesh, length).run()


def main(count, first=1):
    """Runs so many programs on 1 to 7 ranks; says which failed, and how."""
    start, failed = time.perf_counter(), 0
    for seed in range(first, first + count):
        ranks = (2, 3, 4, 5, 1, 6, 7)[seed % 7]
        m = un.mesh("virtual", ranks)
        try:
            m.run(run_seed, m, seed)
        except Exception as error:
            failed += 1
            print(f"{ranks} ranks, {error}", flush=True)
            if failed == 10:
                break
    print(
        f"{count} programs from seed {first}, {failed} failed, {time.perf_counter() - start:.0f} s"
    )
    return failed


if __name__ == "__main__":
    sys.exit(main(*(int(text) for text in sys.argv[1:])) != 0)
