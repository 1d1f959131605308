"""Random programs of slices, in-place writes, reductions and sorts: distributed arrays against NumPy, on virtual ranks.

Run as a script: ``python tests/mesh/slice_programs.py statements [first seed]``.
"""

import random
import sys
import time

import numpy as np
import unisono as un

_most = 1000  # values stay small integers, so that sums are exact in any order
_limit = 3  # arrays at once


class Program:
    """The same statements on NumPy's arrays and on distributed ones. All ranks make the same choices."""

    def __init__(self, seed, mesh):
        self.mesh, self.choose, self.log = mesh, random.Random(seed), []
        self.numbers = np.random.default_rng(seed)
        p = mesh.size
        self.sizes = [0, 1, p - 1, p, p + 1, 2 * p + 1, 3, 7, 13, 31]
        self.rank = self.choose.choice([1, 2, 2, 3])
        self.pairs = [self.fresh() for _ in range(_limit)]

    def fresh(self):
        rest = [self.choose.choice([1, 2, 3, 5]) for _ in range(self.rank - 1)]
        shape = [self.choose.choice(self.sizes), *rest]
        if self.choose.random() < 0.3:
            self.choose.shuffle(shape)
        x = self.numbers.integers(-5, 6, shape).astype(
            self.choose.choice(["float64", "float64", "int64", "float32"])
        )
        kwargs = {}
        if self.choose.random() < 0.2:
            axis = self.choose.randrange(self.rank)
            kwargs["layout"] = tuple("block" if k == axis else None for k in range(self.rank))
        elif self.choose.random() < 0.1:
            kwargs["layout"] = "replicated"
        elif self.choose.random() < 0.15:
            axis = self.choose.randrange(self.rank)
            kind = self.choose.choice(["cyclic", ("cyclic", 2)])
            kwargs["layout"] = tuple(kind if k == axis else None for k in range(self.rank))
        self.log.append(f"new {x.shape} {x.dtype} {kwargs}")
        return x, un.asarray(x, mesh=self.mesh, **kwargs)

    def note(self, text):
        self.log.append(text)

    def slice_of(self, extent, count=None):
        step = self.choose.choice([1, 1, 1, 1, 2, 3, -1, -2])
        if count is None:
            a = self.choose.randint(0, extent)
            b = self.choose.randint(a, extent)
            if self.choose.random() < 0.5:
                a, b = min(a, 2), max(min(a, 2), extent - self.choose.randint(0, 2))
            return (
                slice(a, b, step)
                if step > 0
                else slice(b - 1 if b else None, a - 1 if a and b else None, step)
            )
        most = 1 + (extent - 1) // abs(step) if extent else 0
        if count > most:
            step, most = 1, extent
        if count > most or count == 0:
            return slice(0, count)
        span = (count - 1) * abs(step)
        a = self.choose.randint(0, extent - 1 - span)
        return (
            slice(a, a + span + 1, step)
            if step > 0
            else slice(a + span, a - 1 if a else None, step)
        )

    def view(self, counts=None):
        """A view of that shape where possible, and as NumPy has it: both."""
        x, a = self.choose.choice(self.pairs)
        how = "x"
        if x.ndim > 1 and self.choose.random() < 0.15:
            x, a, how = x.T, a.T, "x.T"
        key = tuple(
            self.slice_of(n, None if counts is None else c)
            for n, c in zip(x.shape, counts or x.shape, strict=True)
        )
        if self.choose.random() < 0.3 and counts is None:
            key = key[:1]
        self.note(f"{how} of {x.shape} {x.dtype} [{key}]")
        return x[key], a[key]

    def operand(self, shape, levels):
        if levels == 0 or self.choose.random() < 0.3:
            kind = self.choose.random()
            if kind < 0.15:
                number = self.choose.randint(-3, 3)
                return number, number
            if kind < 0.25:  # what all ranks hold alike
                x = self.numbers.integers(-3, 4, shape).astype("float64")
                return x, un.asarray(x)
            x, a = self.view(shape)
            return x, a
        (x, a), (y, b) = self.operand(shape, levels - 1), self.operand(shape, levels - 1)
        how = self.choose.choice(["+", "-", "*", "maximum", "where"])
        self.note(how)
        if how == "where":
            return np.where(np.asarray(x) > 0, x, y), un.where(un.asarray(a) > 0, a, b)
        functions = {
            "+": (lambda p, q: p + q, lambda p, q: p + q),
            "-": (lambda p, q: p - q, lambda p, q: p - q),
            "*": (lambda p, q: p * q, lambda p, q: p * q),
            "maximum": (np.maximum, un.maximum),
        }
        theirs, ours = functions[how]
        return theirs(x, y), ours(a, b)

    def check(self, ours, theirs):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
        assert ours.dtype == theirs.dtype, (ours.dtype, theirs.dtype)
        assert np.array_equal(ours, theirs), (ours, theirs)

    def statement(self):
        kind = self.choose.choice(
            ["set"] * 6
            + ["update"] * 3
            + ["new"] * 2
            + ["reduce"] * 2
            + ["function"] * 2
            + ["fresh"]
        )
        self.note(kind)
        getattr(self, "do_" + kind)()

    def do_fresh(self):
        self.pairs[self.choose.randrange(_limit)] = self.fresh()

    def small(self, y):
        return np.max(np.abs(y), initial=0) < _most

    def do_set(self):
        x, a = self.view()
        y, b = self.operand(x.shape, 2)
        if self.small(y):
            # NumPy first: where it refuses shapes, nothing has changed.
            x[...] = np.array(
                y
            )  # NumPy overwrites what it reads where two steps of a vector differ
            a[...] = b

    def do_update(self):
        x, a = self.view()
        y, b = self.operand(x.shape, 1)
        how = self.choose.choice(["+=", "-=", "*="])
        result = {"+=": x + y, "-=": x - y, "*=": x * y}[how]
        if (
            not self.small(result)
            or result.shape != x.shape
            or not np.can_cast(result.dtype, x.dtype, "same_kind")
        ):
            return
        if how == "+=":
            x += y
            a += b
        elif how == "-=":
            x -= y
            a -= b
        else:
            x *= y
            a *= b

    def do_new(self):
        shape = self.choose.choice(self.pairs)[0].shape
        y, b = self.operand(shape, 2)
        if (
            np.ndim(y) == self.rank
            and self.small(y)
            and isinstance(b, un.ndarray)
            and b.device == self.mesh
        ):
            self.pairs[self.choose.randrange(_limit)] = (
                np.array(y),
                b + 0 if b.device == self.mesh else b,
            )
            self.pairs = [(x, a) for x, a in self.pairs]

    def do_reduce(self):
        x, a = self.view()
        axes = [None, *range(x.ndim), tuple(range(x.ndim))]
        axis = self.choose.choice(axes)
        name = self.choose.choice(["sum", "max", "min", "any", "all"])
        keep = self.choose.random() < 0.3
        self.note(f"{name} axis={axis} keepdims={keep}")
        try:
            expected = getattr(x, name)(axis=axis, keepdims=keep)
        except ValueError:  # of no elements
            try:
                np.asarray(getattr(a, name)(axis=axis, keepdims=keep))
            except ValueError:
                return
            raise AssertionError(f"{name} of no elements was not refused") from None
        self.check(getattr(a, name)(axis=axis, keepdims=keep), expected)

    def do_function(self):
        x, a = self.view()
        axis = self.choose.randrange(x.ndim)
        name = self.choose.choice(
            ["sort", "argsort", "cumsum", "roll", "flip", "concatenate", "mask", "take", "reshape"]
        )
        self.note(f"{name} axis={axis}")
        if name == "sort":
            self.check(un.sort(a, axis=axis), np.sort(x, axis=axis))
        elif name == "argsort":
            self.check(un.argsort(a, axis=axis, stable=True), np.argsort(x, axis=axis, stable=True))
        elif name == "cumsum":
            self.check(un.cumsum(a, axis=axis), np.cumsum(x, axis=axis))
        elif name == "roll":
            by = self.choose.randint(-4, 4)
            self.check(un.roll(a, by, axis=axis), np.roll(x, by, axis=axis))
        elif name == "flip":
            self.check(un.flip(a, axis=axis) * 2, np.flip(x, axis=axis) * 2)
        elif name == "concatenate":
            self.check(un.concatenate([a, a * 2], axis=axis), np.concatenate([x, x * 2], axis=axis))
        elif name == "mask":
            self.check(a[a > 0], x[x > 0])
        elif name == "take" and x.shape[0]:
            index = self.numbers.integers(-x.shape[0], x.shape[0], 4)
            self.check(a[un.asarray(index)], x[index])
        elif name == "reshape":
            self.check(a.reshape(-1), x.reshape(-1))

    def compare(self):
        for x, a in self.pairs:
            self.check(a, x)


def run_program(mesh, seed, statements):
    """Makes the statements of that seed, and returns how many."""
    program = Program(seed, mesh)
    for made in range(statements):
        start = len(program.log)
        try:
            program.statement()
            if program.choose.random() < 0.2:
                program.compare()
        except un.CommError:
            raise
        except ValueError as error:
            if "broadcast" in str(error) and "virtual" not in str(error):
                continue  # NumPy's refusal, which comes before ours
            raise AssertionError(f"seed {seed}, statement {made}: {program.log[start:]}") from error
        except Exception as error:
            raise AssertionError(f"seed {seed}, statement {made}: {program.log[start:]}") from error
    program.compare()
    return statements


def run_seeds(ranks, seeds, statements):
    """On so many virtual ranks; returns the number of statements."""
    m = un.mesh("virtual", ranks)
    return sum(m.run(run_program, m, seed, statements)[0] for seed in seeds)


def main(wanted, first=0):
    """Runs at least so many statements, on 1 to 8 ranks; says at which seed it failed."""
    start, made, failed, seed = time.perf_counter(), 0, 0, first
    while made < wanted:
        ranks = (2, 3, 1, 5, 4, 7, 8)[seed % 7]
        try:
            made += run_seeds(ranks, [seed], 100)
        except Exception as error:
            failed += 1
            print(
                f"{ranks} ranks, seed {seed}: {type(error).__name__}: {error}; {error.__cause__!r}"[
                    :900
                ],
                flush=True,
            )
            if failed == 20:
                break
        seed += 1
    seconds = time.perf_counter() - start
    print(
        f"{made} statements of seeds {first} to {seed - 1}, {failed} programs failed, {seconds:.0f} s"
    )
    return failed


if __name__ == "__main__":
    sys.exit(main(*(int(text) for text in sys.argv[1:])) != 0)
