"""Axes in another order."""

from .. import exceptions
from .ufunc import as_array
from .views import _axes, _axis


def moveaxis(a, source, destination):
    """View with axes moved to other places; the others keep their order.

    Parameters
    ----------
    a : array_like
    source, destination : int or sequence of int

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        If `source` and `destination` have different lengths.

    Examples
    --------
    >>> import unisono as un
    >>> un.moveaxis(un.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = as_array(a)
    source = _axes(source, x.ndim, "moveaxis: source")
    destination = _axes(destination, x.ndim, "moveaxis: destination")
    if len(source) != len(destination):
        raise ValueError("moveaxis: source and destination must have the same number of elements")
    order = [k for k in range(x.ndim) if k not in source]
    for to, k in sorted(zip(destination, source, strict=True)):
        order.insert(to, k)
    return x.transpose(order)


def rollaxis(a, axis, start=0):
    """View with one axis rolled back to lie before `start`.

    Parameters
    ----------
    a : array_like
    axis : int
        The axis to move.
    start : number

    Returns
    -------
    ndarray, a view

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.rollaxis(un.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = as_array(a)
    k = _axis(axis, x.ndim, "rollaxis")
    if not -x.ndim <= start <= x.ndim:
        raise exceptions.AxisError(
            f"rollaxis: 'start' arg requires {-x.ndim} <= start < {x.ndim + 1}; got {start}"
        )
    start = start + x.ndim if start < 0 else start
    order = [n for n in range(x.ndim) if n != k]
    order.insert(start - 1 if k < start else start, k)
    return x.transpose(order)


def swapaxes(a, axis1, axis2):
    """View with two axes exchanged.

    Parameters
    ----------
    a : array_like
    axis1, axis2 : int

    Returns
    -------
    ndarray, a view

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.swapaxes(un.zeros((2, 3)), 0, 1).shape
    (3, 2)
    """
    x = as_array(a)
    order = list(range(x.ndim))
    one, two = _axis(axis1, x.ndim, "swapaxes"), _axis(axis2, x.ndim, "swapaxes")
    order[one], order[two] = two, one
    return x.transpose(order)


def matrix_transpose(x, /):
    """View with the last two axes exchanged.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        If the array has fewer than two dimensions.

    Examples
    --------
    >>> import unisono as un
    >>> un.matrix_transpose([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    x = as_array(x)
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: needs at least two axes; got shape {tuple(x.shape)}")
    return swapaxes(x, -1, -2)
