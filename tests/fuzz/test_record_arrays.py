"""Random statements on arrays of random structured dtypes: NumPy and we hold the same records after each program.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import os
import random

import numpy as np
import pytest
import unisono as un

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:120").split(":"))
NUMBERS = ("f8", "f4", "f2", "i8", "i4", "i2", "u1", "u4", "c8", "c16", "?")


def random_dtype(pick, depth=2):
    fields = []
    for k in range(pick.randint(1, 4)):
        name = "abcdef"[k]
        form = pick.random()
        if form < 0.2 and depth:
            fields.append((name, random_dtype(pick, depth - 1)))
        elif form < 0.35:
            fields.append((name, pick.choice(NUMBERS), (pick.randint(1, 3),) * pick.randint(1, 2)))
        elif form < 0.42:
            fields.append((name, pick.choice(("S3", "U2", ">i4", "M8[D]"))))
        else:
            fields.append((name, pick.choice(NUMBERS)))
    return np.dtype(fields, align=pick.random() < 0.4)


class Program:
    """One statement at a time, on both arrays and on views of them that stay alive."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        dtype = random_dtype(self.pick)
        shape = self.pick.choice([(), (1,), (5,), (7,), (3, 4), (0,)])
        made = np.zeros(shape, dtype)
        self.views = [(made, self.ours(made))]
        self.held = []

    def ours(self, made):
        how = self.pick.randrange(4)
        if how == 0:
            return un.zeros(made.shape, dtype=made.dtype)
        if how == 1:
            return un.asarray(made)
        if how == 2:
            return un.asarray(made.copy(), copy=False)
        room = np.zeros(made.nbytes + 16, "u1")[self.pick.randrange(16) :][: made.nbytes]
        return un.asarray(room.view(made.dtype).reshape(made.shape), copy=False)

    def run(self, steps):
        for _ in range(steps):
            theirs, mine = self.pick.choice(self.views)
            if theirs.dtype.names is not None:
                self.records(theirs, mine)
            elif theirs.dtype.kind in "iufcb" and theirs.dtype.isnative:
                self.numbers(theirs, mine)
            if self.pick.random() < 0.3:
                self.compare()
        self.compare()

    def key(self, shape):
        if not shape:
            return ...
        n, kinds = shape[0], ["slice", "slice", "reversed", "ellipsis", "new"]
        kind = self.pick.choice([*kinds, "index"] if len(shape) > 1 and n else kinds)
        if kind == "index":
            return self.pick.randrange(-n, n)
        a, b = sorted(self.pick.randrange(-n, n + 1) if n else 0 for _ in range(2))
        return {
            "slice": slice(a, b),
            "reversed": slice(None, None, -self.pick.randint(1, 2)),
            "ellipsis": (..., slice(self.pick.randrange(2), None)),
            "new": (None, slice(0, n)),
        }[kind]

    def records(self, theirs, mine):
        name = self.pick.choice(theirs.dtype.names)
        step = self.pick.randrange(7)
        if step < 2 and len(self.views) < 12:
            self.views.append((theirs[name], mine[name]))
        elif step == 2 and len(self.views) < 12:
            key = self.key(theirs.shape)
            self.views.append((theirs[key], mine[key]))
        elif step == 3 and theirs.size:
            at = tuple(self.pick.randrange(n) for n in theirs.shape)
            to = tuple(self.pick.randrange(n) for n in theirs.shape)
            theirs[to], mine[to] = theirs[at], mine[at]
        elif step == 4 and theirs.ndim and len(theirs):
            index = [self.pick.randrange(len(theirs)) for _ in range(3)]
            assert repr(mine[index].tolist()) == repr(theirs[index].tolist())
            mask = np.arange(len(theirs)) % 2 == 0
            theirs[mask], mine[mask] = theirs[0], mine[0]
        elif step == 5:
            if self.pick.random() < 0.5:
                self.held.append(np.asarray(mine))
            else:
                self.held.clear()
        elif theirs.dtype[name].kind in "iuf" and theirs.dtype[name].isnative:
            value = self.pick.randrange(100)
            theirs[name] = value
            mine[name] = value

    def numbers(self, theirs, mine):
        step, kind, value = self.pick.randrange(6), theirs.dtype.kind, self.pick.randrange(1, 4)
        if step == 0 and len(self.views) < 12:
            key = self.key(theirs.shape)
            self.views.append((theirs[key], mine[key]))
        elif step == 1 and theirs.ndim:
            theirs[::2] = theirs[::-1][::2].copy()
            mine[::2] = mine[::-1][::2].copy()
        elif step == 2:
            mask = theirs == theirs.dtype.type(0)
            assert (np.asarray(mine == 0) == mask).all()
            if theirs.ndim:
                theirs[mask] = value
                mine[un.asarray(mask)] = value
        elif step == 3 and kind != "b" and theirs.ndim:
            theirs += theirs.dtype.type(value)
            mine += value
        elif step == 4 and kind != "b" and theirs.ndim:
            theirs *= theirs.dtype.type(2)
            mine *= 2
        else:
            theirs[...] = value
            mine[...] = value

    def compare(self):
        for theirs, mine in self.views:
            assert tuple(mine.shape) == theirs.shape and mine.dtype == theirs.dtype
            assert mine.strides == theirs.strides or theirs.size <= 1 or 1 in theirs.shape
            assert repr(mine.tolist()) == repr(theirs.tolist())


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_statements_on_records(seed):
    with np.errstate(all="ignore"):
        Program(seed).run(25)
