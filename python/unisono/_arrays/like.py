"""Functions that make arrays like another one."""

from .. import _engine
from .axes import as_operand, byte_strides, several
from .axes import of_class_of as _of_class_of
from .creation import _full, _in_columns, _place_of, empty


def _layout_like(order, like, shape):
    """'C', 'F', or the axes from the farthest elements to the nearest, for an array made like another one."""
    if order not in ("K", "k") or like.ndim < 2:
        return "F" if _in_columns(order, like) else "C"
    rank = len(several(shape))
    if rank != like.ndim:
        return "C"
    strides = [abs(s) for s in byte_strides(like)]
    if strides == sorted(strides, reverse=True):
        return "C"
    axes = sorted(range(rank), key=lambda k: -strides[k])
    return "F" if axes[::-1] == list(range(rank)) else axes


def _by_axes(make, shape, axes):
    """An array of that shape whose axes lie in memory in that order, the farthest first."""
    shape = several(shape)
    back = sorted(range(len(axes)), key=axes.__getitem__)
    return make(tuple(shape[k] for k in axes)).transpose(back)


@_engine._FastPath
def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None, mesh=None):
    """Array of the shape, dtype and device of `prototype`, elements not set.

    Parameters
    ----------
    prototype : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}, optional
        'A' and 'K' keep the layout of `prototype`: 'K' the order of its axes in memory.
    subok : bool, optional
        Whether the result is of the class of the argument where that derives from the array.
    shape : int or tuple of ints, optional
        Overrides that of `prototype`.
    device : str or Device, optional
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.empty_like([1.0, 2.0]).shape
    (2,)
    """
    source = prototype
    prototype = prototype if isinstance(prototype, _engine._Array) else as_operand(prototype)
    dtype = prototype.dtype if dtype is None else dtype
    shape = prototype.shape if shape is None else shape
    device = prototype if device is mesh is None else _place_of(device, mesh)
    order = _layout_like(order, prototype, shape)
    if type(order) is list:
        made = _by_axes(lambda s: empty(s, dtype, device=device), shape, order)
    else:
        made = empty(shape, dtype, order, device=device)
    return _of_class_of(source, made, subok)


@_engine._FastPath
def full_like(
    a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None, mesh=None
):
    """Array of the shape, dtype and device of `a`, all elements equal to `fill_value`; see `empty_like`.

    Parameters
    ----------
    a, fill_value : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.
    subok : bool
        Whether the result is of the class of the argument where that derives from the array.
    shape : int or tuple of int
    device : str or Device, optional
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.full_like([1, 2], 7).tolist()
    [7, 7]
    """
    source = a
    a = a if isinstance(a, _engine._Array) else as_operand(a)
    dtype = a.dtype if dtype is None else dtype
    shape = a.shape if shape is None else shape
    device = a if device is mesh is None else _place_of(device, mesh)
    order = _layout_like(order, a, shape)
    if type(order) is list:
        made = _by_axes(lambda s: empty(s, dtype, device=device), shape, order)
        made[...] = fill_value
    else:
        made = _full(shape, fill_value, dtype, order, device=device)
    return _of_class_of(source, made, subok)


@_engine._FastPath
def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None, mesh=None):
    """Array of zeros of the shape, dtype and device of `a`; see `empty_like`.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.
    subok : bool
        Whether the result is of the class of the argument where that derives from the array.
    shape : int or tuple of int
    device : str or Device, optional
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.zeros_like([1.5, 2]).tolist()
    [0.0, 0.0]
    """
    return _full_like(a, 0, dtype, order, subok, shape, device=device, mesh=mesh)


@_engine._FastPath
def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None, mesh=None):
    """Array of ones of the shape, dtype and device of `a`; see `empty_like`.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.
    subok : bool
        Whether the result is of the class of the argument where that derives from the array.
    shape : int or tuple of int
    device : str or Device, optional
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.ones_like([1.5, 2]).tolist()
    [1.0, 1.0]
    """
    return _full_like(a, 1, dtype, order, subok, shape, device=device, mesh=mesh)


_full_like = full_like.__wrapped__
