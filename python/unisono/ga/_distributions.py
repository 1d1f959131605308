"""Which rank holds which elements: grids of blocks, and blocks dealt out in turn.

A distribution is a grid of blocks along every axis, numbered with the first axis fastest, and an owner of each.
"""

from bisect import bisect_right
from itertools import product
from math import prod


def even_starts(n, parts):
    """First index of each of as many parts of n, which differ by at most one; larger ones come first."""
    size, rest = divmod(n, parts)
    return [i * size + min(i, rest) for i in range(parts)]


def choose_grid(dims, chunk, ranks):
    """Number of blocks along each axis, at most one for each rank, with the least surface between them."""
    limits = [
        1 if c >= n else n if c < 1 else max(1, n // c) for n, c in zip(dims, chunk, strict=True)
    ]
    for total in range(ranks, 0, -1):
        found = [
            grid
            for grid in _factorings(total, len(dims))
            if all(g <= m for g, m in zip(grid, limits, strict=True))
        ]
        if found:
            return min(
                found,
                key=lambda g: (
                    sum(k / max(n, 1) for k, n in zip(g, dims, strict=True)),
                    tuple(-k for k in g),
                ),
            )
    return [1] * len(dims)


def _factorings(n, axes):
    if axes == 1:
        yield (n,)
        return
    for k in range(1, n + 1):
        if n % k == 0:
            for rest in _factorings(n // k, axes - 1):
                yield (k, *rest)


class Distribution:
    """Blocks between the given starts along each axis.

    Parameters
    ----------
    dims : list of int
    starts : list of lists of int
        First index of each block, along each axis.
    ranks : int
    owner : callable, optional
        Of a block's number and grid position its rank; by default the block's number is its rank.
    cyclic : tuple of ints, optional
        Extents of the blocks that are dealt out in turn.
    """

    def __init__(self, dims, starts, ranks, owner=None, cyclic=None, proc_grid=None):
        self.dims = list(dims)
        self.starts = starts
        self.grid = [len(s) for s in starts]
        self.ranks = ranks
        self.cyclic = cyclic
        self.proc_grid = proc_grid
        self.restricted = None
        self._owner = owner
        self.count = prod(self.grid)
        self._offsets = {}

    def position(self, block):
        """Of a block its place along each axis."""
        place = []
        for n in self.grid:
            block, i = divmod(block, n)
            place.append(i)
        return place

    def number(self, place):
        """The number of the block at that place."""
        number, stride = 0, 1
        for i, n in zip(place, self.grid, strict=True):
            number += i * stride
            stride *= n
        return number

    def bounds(self, block):
        """First and last (excluded) index along each axis."""
        lo, hi = [], []
        for i, starts, n in zip(self.position(block), self.starts, self.dims, strict=True):
            lo.append(starts[i])
            hi.append(starts[i + 1] if i + 1 < len(starts) else n)
        return lo, hi

    def owner(self, block):
        """The rank that holds a block."""
        if self._owner is not None:
            return self._owner(block, self.position(block))
        return self.restricted[block] if self.restricted else block

    def blocks_of(self, rank):
        """Numbers of the blocks that a rank holds."""
        if self.cyclic:
            return [b for b in range(self.count) if self.owner(b) == rank]
        if self.restricted:
            return [b for b in range(self.count) if self.restricted[b] == rank]
        return [rank] if rank < self.count else []

    def touched(self, lo, hi):
        """The blocks that have elements between lo and hi."""
        ranges = []
        for a, b, starts in zip(lo, hi, self.starts, strict=True):
            ranges.append(range(max(bisect_right(starts, a) - 1, 0), bisect_right(starts, b - 1)))
        for place in product(*ranges):
            yield self.number(place)

    def size_of(self, block):
        """Number of elements of a block."""
        lo, hi = self.bounds(block)
        return prod(max(b - a, 0) for a, b in zip(lo, hi, strict=True))

    def offset(self, block):
        """Elements before a block in its rank's memory."""
        if not self.cyclic:
            return 0
        if not self._offsets:
            filled = [0] * self.ranks
            for b in range(self.count):
                owner = self.owner(b)
                self._offsets[b] = filled[owner]
                filled[owner] += self.size_of(b)
        return self._offsets[block]

    def same_as(self, other):
        """Whether every element lies on the same rank."""
        return (
            self.dims == other.dims
            and self.starts == other.starts
            and self.restricted == other.restricted
            and (self.cyclic, self.proc_grid) == (other.cyclic, other.proc_grid)
        )


def regular(dims, chunk, ranks):
    """Blocks of about equal size, of at least `chunk` elements along each axis."""
    chunk = [0] * len(dims) if chunk is None else chunk
    grid = choose_grid(dims, chunk, ranks)
    return Distribution(dims, [even_starts(n, g) for n, g in zip(dims, grid, strict=True)], ranks)


def irregular(dims, block, starts, ranks):
    """Blocks between given starts; `starts` lists those of the first axis, then of the next."""
    if prod(block) > ranks:
        raise ValueError(
            f"ga: more blocks than ranks; got {prod(block)} blocks for {ranks}; give fewer, or start more ranks"
        )
    split, at = [], 0
    for count in block:
        split.append([int(s) for s in starts[at : at + count]])
        at += count
    return Distribution(dims, split, ranks)


def cyclic(dims, block, ranks, proc_grid=None):
    """Blocks of that size dealt out to ranks in turn, or along each axis of a grid of ranks."""
    starts = [list(range(0, n, b)) for n, b in zip(dims, block, strict=True)]

    def in_turn(number, place):
        return number % ranks

    def on_grid(number, place):
        rank, stride = 0, 1
        for i, n in zip(place, proc_grid, strict=True):
            rank += i % n * stride
            stride *= n
        return rank

    if proc_grid is not None and prod(proc_grid) != ranks:
        raise ValueError(
            f"ga: the grid of ranks has {prod(proc_grid)} places; expected {ranks}, one for each rank"
        )
    grid = tuple(proc_grid) if proc_grid is not None else None
    owner = in_turn if proc_grid is None else on_grid
    return Distribution(dims, starts, ranks, owner, tuple(block), grid)
