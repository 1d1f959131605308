"""Grids of coordinates."""

from functools import reduce

import unisono as un

from .._arrays.axes import arrays_together
from .._arrays.diagonals import broadcast
from .._arrays.ufunc import promoted


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of a grid from the coordinates along each axis.

    Parameters
    ----------
    *xi : array_like
    copy : bool, optional
    sparse : bool
    indexing : {'xy', 'ij'}

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        If `xi` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> x, y = un.meshgrid([1, 2, 3], [10, 20])
    >>> (x + y).tolist()
    [[11, 12, 13], [21, 22, 23]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij'; got {indexing!r}")
    n = len(xi)
    made = []
    for k, x in enumerate(arrays_together(*xi)):
        at = 1 - k if indexing == "xy" and n > 1 and k < 2 else k
        made.append(x.reshape((1,) * at + (x.size,) + (1,) * (n - at - 1)))
    if not sparse:
        made = broadcast(made)
    return tuple(x.copy() for x in made) if copy else tuple(made)


class _Grid:
    """Grids by slices: ``mgrid[0:3, 0:1:5j]``; a complex step counts points, the end included."""

    def __init__(self, sparse):
        self._sparse = sparse

    def __getitem__(self, key):
        if isinstance(key, slice):
            return self._line(key, 0)
        n = len(key)
        lines = [self._line(s, 0 if self._sparse else n - k - 1) for k, s in enumerate(key)]
        common = reduce(promoted, [x.dtype for x in lines])
        lines = [x.astype(common, copy=False) for x in lines]
        if self._sparse:
            return tuple(
                x[(None,) * k + (slice(None),) + (None,) * (n - k - 1)] for k, x in enumerate(lines)
            )
        return un.stack(broadcast(lines))

    @staticmethod
    def _line(s, behind):
        """The points of a slice, along an axis in front of that many others; its limits may be arrays."""
        start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
        shape = (-1,) + (1,) * behind
        if isinstance(step, complex) or getattr(getattr(step, "dtype", None), "kind", "") == "c":
            count = int(abs(step))
            gap = (s.stop - start) / (count - 1) if count > 1 else 1.0
            gap = gap if getattr(gap, "ndim", 0) else float(gap)
            return un.arange(count).reshape(shape) * gap + start
        return un.arange(start, s.stop, step).reshape(shape)


mgrid = _Grid(sparse=False)


ogrid = _Grid(sparse=True)
