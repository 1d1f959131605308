"""Indices: where elements are, grids of them, and between flat and full ones."""

import math
import operator

import unisono as un

from .. import _engine
from . import fronts
from .axes import as_array
from .creation import _beside, _mesh_of
from .indexing import _bounded, _integers


def nonzero(a):
    """Indices of the elements that are not zero, one array per axis.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> [i.tolist() for i in un.nonzero(un.asarray([[0, 5], [6, 0]]))]
    [[0, 1], [1, 0]]
    """
    return fronts.nonzero(a if type(a) is _engine.ndarray else as_array(a))


def flatnonzero(a):
    """Indices of the elements that are not zero, in row-major order.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray of int64

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.flatnonzero([0, 3, 4]).tolist()
    [1, 2]
    """
    return nonzero(as_array(a).ravel())[0]


def argwhere(a):
    """Indices of the elements that are not zero, one row per element.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray of int64, shape (found, axes)

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.argwhere([[0, 5], [7, 0]]).tolist()
    [[0, 1], [1, 0]]
    """
    x = as_array(a)
    if x.ndim == 0:
        return argwhere(x.reshape(1))[:, :0]
    return un.stack(nonzero(x), axis=1)


def ix_(*args):
    """Index that takes the given rows, columns... of an array: an open grid of index arrays.

    Parameters
    ----------
    *args
        Passed on.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        If an argument does not have exactly one axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.arange(6).reshape(2, 3)[un.ix_([0, 1], [0, 2])].tolist()
    [[0, 2], [3, 5]]
    """
    made = []
    for k, x in enumerate(args):
        given, x = x, as_array(x)
        if x.ndim != 1:
            raise ValueError(f"ix_: every argument must have one axis; got {x.ndim}")
        if x.size == 0 and given is not x:  # a list, of no dtype
            x = x.astype("int64")
        if x.dtype == "bool":
            x = nonzero(x)[0]
        made.append(x.reshape((1,) * k + (x.size,) + (1,) * (len(args) - k - 1)))
    return tuple(made)


def indices(dimensions, dtype=int, sparse=False, *, mesh=None):
    """Index arrays of a grid of that shape: stacked, or open with ``sparse``.

    Parameters
    ----------
    dimensions : sequence of int
    dtype : dtype, optional
    sparse : bool
    mesh : Mesh, optional
        Ranks over which the rows of the grid are distributed.

    Returns
    -------
    ndarray, or a tuple of them if `sparse`

    Raises
    ------
    TypeError
        If an extent is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> un.indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    shape = tuple(dimensions)
    n = len(shape)
    place = _mesh_of(None, mesh)
    if n and max(shape) > 2 and un.dtype(dtype) == "bool":
        raise TypeError(
            f"indices: bools count to 1; got extents {shape}; expected a dtype of numbers"
        )
    lines = [
        un.arange(extent, device=place if k == 0 or sparse else _beside(place))
        .astype(dtype, copy=False)
        .reshape((1,) * k + (extent,) + (1,) * (n - k - 1))
        for k, extent in enumerate(shape)
    ]
    if sparse:
        return tuple(lines)
    layout = (None, "block", *(None,) * (n - 1)) if mesh is not None and n > 0 else None
    made = un.empty((n, *shape), dtype, mesh=mesh, layout=layout)
    for k, line in enumerate(lines):
        made[k] = line
    return made


def unravel_index(indices, shape, order="C"):
    """Indices per axis of places counted in row-major (or with "F" column-major) order.

    Parameters
    ----------
    indices : array_like of int
    shape : int or tuple of int
    order : {'C', 'F'}
        Row-major or column-major order.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative.

    Examples
    --------
    >>> import unisono as un
    >>> [int(i) for i in un.unravel_index(7, (2, 5))]
    [1, 2]
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    x = as_array(indices)
    if x.dtype.kind not in "biu":
        raise TypeError(f"unravel_index: expected integers; got dtype {x.dtype}")
    x = x.astype("int64", copy=False)
    if order not in ("C", "F", None):
        raise ValueError(f"unravel_index: order must be 'C' or 'F'; got {order!r}")
    size = math.prod(shape)
    if size >= 2**63:
        raise ValueError(f"unravel_index: an array of shape {shape} has too many elements")
    if x.size and ((x < 0) | (x >= size)).any():
        raise ValueError(
            f"unravel_index: an index is out of bounds for an array of shape {shape} with size {size}"
        )
    if not shape and x.ndim:
        raise ValueError("unravel_index: multiple indices are not supported for 0-d arrays")
    made = []
    for extent in shape if order == "F" else reversed(shape):
        made.append(x % max(extent, 1))
        x = x // max(extent, 1)
    return tuple(made if order == "F" else reversed(made))


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Places in row-major (or with "F" column-major) order of indices per axis.

    Parameters
    ----------
    multi_index : tuple of array_like of int
    dims : tuple of int
    mode : str
    order : {'C', 'F'}
        Row-major or column-major order.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `multi_index` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> int(un.ravel_multi_index((1, 2), (2, 5)))
    7
    """
    dims = tuple(map(operator.index, (dims,) if isinstance(dims, int) else dims))
    multi_index = [as_array(i) for i in multi_index]
    if any(i.dtype.kind not in "biu" for i in multi_index):
        raise TypeError("ravel_multi_index: expected integers; convert with .astype(int)")
    parts = [_integers("ravel_multi_index", i) for i in multi_index]
    if len(parts) != len(dims):
        raise ValueError(
            f"ravel_multi_index: as many index arrays as extents are needed; got {len(parts)} and {len(dims)}"
        )
    if order not in ("C", "F", None):
        raise ValueError(f"ravel_multi_index: order must be 'C' or 'F'; got {order!r}")
    if math.prod(dims) >= 2**63:
        raise ValueError(
            f"ravel_multi_index: an array of extents {dims} is larger than the maximum possible size"
        )
    if 0 in dims and any(part.size for part in parts):
        raise ValueError(f"ravel_multi_index: extents {dims} leave no element to index")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    bounded = []
    for part, extent, how in zip(parts, dims, modes, strict=True):
        if how == "raise":
            if ((part < 0) | (part >= extent)).any():
                raise ValueError("ravel_multi_index: an index is out of range; use mode='wrap'")
            bounded.append(part)
        else:
            bounded.append(_bounded("ravel_multi_index", part, extent, how))
    pairs = list(zip(bounded, dims, strict=True))
    total = un.asarray(0)
    for part, extent in reversed(pairs) if order == "F" else pairs:
        total = total * extent + part
    return total
