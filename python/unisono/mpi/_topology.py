"""Grids of ranks: their shapes, and communicators whose ranks have coordinates."""

from math import prod

from ._status import UNDEFINED

_NOBODY = -2  # PROC_NULL


def Compute_dims(nnodes, dims):
    """The extents of a grid of that many ranks, as even as can be; those of `dims` that are not 0 stay.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Compute_dims(12, 2)
    [4, 3]
    >>> un.mpi.Compute_dims(12, [0, 2, 0])
    [3, 2, 2]
    """
    given = [0] * dims if hasattr(dims, "__index__") else [int(d) for d in dims]
    rest, fixed = nnodes, prod(d for d in given if d)
    if (
        min(given, default=0) < 0
        or nnodes < 1
        or nnodes % fixed
        or (0 not in given and fixed != nnodes)
    ):
        raise ValueError(
            f"Compute_dims: no grid of {nnodes} ranks has these extents; got {dims}; "
            "expected 0 where they are free, and else divisors of the number of ranks"
        )
    rest //= fixed
    factors, k = [], 2
    while rest > 1:
        while rest % k == 0:
            factors.append(k)
            rest //= k
        k += 1
    free = [1] * given.count(0)
    for factor in reversed(factors):
        free[free.index(min(free))] *= factor
    found = iter(sorted(free, reverse=True))
    return [d or next(found) for d in given]


def _grid_of(comm, call):
    if comm._grid is None:
        raise TypeError(
            f"{call}: the ranks of this communicator are in no grid; make one by Create_cart"
        )
    return comm._grid


class Grids:
    """Methods of communicators: mpi4py's of Cartcomm."""

    dims = property(
        lambda self: self.Get_topo()[0] if self._whole_graph is None else self.Get_dims(),
        doc="Extents of the grid; of a graph the numbers of ranks and edges.",
    )
    periods = property(lambda self: self.Get_topo()[1], doc="Which axes are periodic.")
    coords = property(lambda self: self.Get_topo()[2], doc="Where this rank is in the grid.")
    topo = property(
        lambda self: self.Get_topo(), doc="Extents, periods, and this rank's coordinates."
    )
    dim = ndim = property(lambda self: self.Get_dim(), doc="Number of axes of the grid.")

    def Create_cart(self, dims, periods=None, reorder=False):
        """A communicator of the first ranks, as a grid with these extents; COMM_NULL on the others.

        Ranks keep their order, the last coordinate running fastest. Along axes with a true value in
        `periods` the last ranks are neighbours of the first.
        """
        dims = [int(d) for d in ([dims] if hasattr(dims, "__index__") else dims)]
        if periods is None or isinstance(periods, bool | int):
            periods = [bool(periods)] * len(dims)
        periods = [bool(p) for p in periods]
        if len(periods) != len(dims) or min(dims, default=1) < 1 or prod(dims) > self.size:
            raise ValueError(
                f"Create_cart: no grid of {self.size} ranks; got dims={dims} and periods={periods}; "
                "expected extents whose product is not more than the ranks, and a period for each"
            )
        made = self.Split(0 if self.rank < prod(dims) else UNDEFINED, self.rank)
        if made:
            made._grid = dims, periods
        return made

    def Cart_map(self, dims, periods=None):
        """The rank that this one would have in such a grid; UNDEFINED where it would be in none."""
        return self.rank if self.rank < prod(dims) else UNDEFINED

    def Get_dim(self):
        """Number of axes of the grid."""
        return len(_grid_of(self, "Get_dim")[0])

    def Get_topo(self):
        """Extents and periods of the grid, and this rank's coordinates; of a graph its index and edges."""
        if self._whole_graph is not None:
            return tuple(map(list, self._whole_graph))
        dims, periods = _grid_of(self, "Get_topo")
        return list(dims), [int(p) for p in periods], self.Get_coords(self.rank)

    def Get_coords(self, rank):
        """Where a rank is in the grid."""
        coords = []
        for extent in reversed(_grid_of(self, "Get_coords")[0]):
            rank, at = divmod(rank, extent)
            coords.insert(0, at)
        return coords

    def Get_cart_rank(self, coords):
        """The rank at these coordinates, which may be outside of the grid along axes with a period."""
        dims, periods = _grid_of(self, "Get_cart_rank")
        rank = 0
        for at, extent, is_periodic in zip(coords, dims, periods, strict=True):
            if not is_periodic and not 0 <= at < extent:
                raise ValueError(f"Get_cart_rank: outside of the grid {dims}; got {list(coords)}")
            rank = rank * extent + at % extent
        return rank

    def Shift(self, direction, disp):
        """The ranks `disp` before and behind this one along an axis: whom to receive from, and send to."""
        dims, periods = _grid_of(self, "Shift")
        here = self.Get_coords(self.rank)

        def neighbour(distance):
            at = here[direction] + distance
            if not periods[direction] and not 0 <= at < dims[direction]:
                return _NOBODY
            return self.Get_cart_rank(
                [*here[:direction], at % dims[direction], *here[direction + 1 :]]
            )

        return neighbour(-disp), neighbour(disp)

    def Sub(self, remain_dims):
        """The part of the grid that has this rank and keeps the axes with a true value."""
        dims, periods = _grid_of(self, "Sub")
        color = key = 0
        for at, extent, stays in zip(self.Get_coords(self.rank), dims, remain_dims, strict=True):
            if stays:
                key = key * extent + at
            else:
                color = color * extent + at
        made = self.Split(color, key)
        made._grid = tuple(
            [x for x, stays in zip(all_, remain_dims, strict=True) if stays]
            for all_ in (dims, periods)
        )
        return made
