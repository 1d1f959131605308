"""Functions that look at the same elements in another shape: no element moves."""

import math
import operator

from .. import _engine, exceptions
from .axes import arrays_together, as_operand
from .axes import of_class_of as _of_class_of
from .ufunc import as_array
from .ufunc import broadcast_shapes as _broadcast_shapes


def _axis(axis, ndim, what):
    """The axis counted from the front."""
    try:
        k = axis.__index__()
    except AttributeError:
        raise TypeError(f"{what}: axis must be an integer; got {type(axis).__name__}") from None
    if not -ndim <= k < ndim:
        raise exceptions.AxisError(
            f"{what}: axis {k} is out of bounds for array of dimension {ndim}"
        )
    return k % ndim


def _axes(axis, ndim, what):
    """Axes counted from the front, each once, in the given order."""
    whole = hasattr(axis, "__index__") and getattr(axis, "ndim", 0) == 0
    axes = (axis,) if whole else tuple(axis)
    made = tuple(_axis(a, ndim, what) for a in axes)
    if len(set(made)) != len(made):
        raise ValueError(f"{what}: repeated axis in {axes}")
    return made


def ndim(a):
    """Number of axes.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.ndim([[1, 2]])
    2
    """
    return a.ndim if hasattr(a, "ndim") else as_array(a).ndim


def shape(a):
    """Extents of the axes.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    tuple of int

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.shape([[1, 2]])
    (1, 2)
    """
    return tuple(a.shape if hasattr(a, "shape") else as_array(a).shape)


def size(a, axis=None):
    """Number of elements, in all or along one axis (or a tuple of axes).

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.

    Returns
    -------
    int

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.size([[1, 2], [3, 4]], 1)
    2
    """
    x = a if hasattr(a, "shape") else as_array(a)
    if axis is None:
        return math.prod(x.shape)
    n = 1
    for k in _axes(axis, len(x.shape), "size"):
        n *= x.shape[k]
    return n


def ravel(a, order="C"):
    """One-dimensional: a view where the array is packed, else a copy.

    Parameters
    ----------
    a : array_like
    order : {'C', 'F', 'A', 'K'}
        Order in which the elements are read.

    Returns
    -------
    ndarray
        A view if the array is contiguous, else a copy.

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.ravel([[1, 2], [3, 4]]).tolist()
    [1, 2, 3, 4]
    """
    x = as_array(a)
    return x.ravel(order)


def expand_dims(a, axis=0):
    """View with new axes of extent 1 at the positions `axis`.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int
        Positions of the new axes in the result.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.expand_dims(un.zeros((2, 3)), 1).shape
    (2, 1, 3)
    """
    x = as_array(a)
    many = len(axis) if isinstance(axis, (tuple, list)) else 1
    new = _axes(axis, x.ndim + many, "expand_dims")
    key = tuple(None if k in new else slice(None) for k in range(x.ndim + many))
    return x[key]


def squeeze(a, axis=None):
    """View without axes of extent 1: all of them, or those in `axis`.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        By default all axes of extent 1.

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        If the extent of a given axis is not 1.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.squeeze([[[1], [2]]]).tolist()
    [1, 2]
    """
    x = as_array(a)
    if x.ndim == 0 and (x._is_value() or axis in (0, -1)):
        _axes(() if axis in (None, 0, -1) else axis, 0, "squeeze")
        return x[()] if x._is_value() else x
    if axis is None:
        gone = tuple(k for k, n in enumerate(x.shape) if n == 1)
    else:
        gone = _axes(axis, x.ndim, "squeeze")
        for k in gone:
            if x.shape[k] != 1:
                raise ValueError(
                    f"squeeze: cannot select an axis to squeeze out which has size not equal to one; axis {k} of "
                    f"shape {tuple(x.shape)}"
                )
    return x.reshape(tuple(n for k, n in enumerate(x.shape) if k not in gone))


def broadcast_shapes(*shapes):
    """Shape to which arrays of those shapes broadcast.

    Parameters
    ----------
    *shapes : tuple of int

    Returns
    -------
    tuple of int

    Raises
    ------
    TypeError
        If an extent is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> un.broadcast_shapes((2, 1), (3,), 1)
    (2, 3)
    """
    shapes = ((s,) if isinstance(s, int) else s for s in shapes)
    return _broadcast_shapes(*(tuple(map(operator.index, s)) for s in shapes))


def broadcast_arrays(*arrays, subok=False):
    """Read-only views of all arrays in their common shape, as a tuple.

    Parameters
    ----------
    *arrays : sequence of array_like
    subok : bool
        Whether the result is of the class of the argument where that derives from the array.

    Returns
    -------
    tuple of ndarray, views

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast together.

    Examples
    --------
    >>> import unisono as un
    >>> [x.tolist() for x in un.broadcast_arrays([1, 2], 5)]
    [[1, 2], [5, 5]]
    """
    made = arrays_together(*arrays)
    common = _broadcast_shapes(*(tuple(a.shape) for a in made))
    views = (a if tuple(a.shape) == common else _engine.broadcast_to(a, common) for a in made)
    return tuple(_of_class_of(a, v, subok) for a, v in zip(arrays, views, strict=True))


def _at_least(arrays, grow):
    if len(arrays) == 1:
        return grow(as_operand(arrays[0]))
    given = [as_operand(a) for a in arrays]
    place = next((a.device for a in arrays if isinstance(a, _engine._Array)), None)
    if place is not None and not isinstance(place, _engine.Mesh):
        given = [
            x if isinstance(a, _engine._Array) else x.to_device(place)
            for a, x in zip(arrays, given, strict=True)
        ]
    return tuple(map(grow, given))


def atleast_1d(*arys):
    """Convert the inputs to arrays with at least one axis.

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    ndarray, or a tuple of them

    Raises
    ------
    TypeError
        If `arys` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.atleast_1d(3).tolist()
    [3]
    """
    return _at_least(arys, lambda a: a.reshape(1) if a.ndim == 0 else a)


def atleast_2d(*arys):
    """Convert the inputs to arrays with at least two axes; new axes are added in front.

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    ndarray, or a tuple of them

    Raises
    ------
    TypeError
        If `arys` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.atleast_2d([1, 2]).tolist()
    [[1, 2]]
    """
    return _at_least(
        arys, lambda a: a.reshape((1,) * (2 - a.ndim) + tuple(a.shape)) if a.ndim < 2 else a
    )


def atleast_3d(*arys):
    """Convert the inputs to arrays with at least three axes: (n,) becomes (1, n, 1), (m, n) (m, n, 1).

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    ndarray, or a tuple of them

    Raises
    ------
    TypeError
        If `arys` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """

    def grow(a):
        if a.ndim == 0:
            return a.reshape(1, 1, 1)
        return a[None, :, None] if a.ndim == 1 else a[:, :, None] if a.ndim == 2 else a

    return _at_least(arys, grow)


def isfortran(a):
    """Whether the array is packed in column-major order and not in row-major order.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.isfortran(un.zeros((2, 3)).T)
    True
    """
    return as_array(a).flags.fnc


def iterable(y):
    """Whether the object can be iterated over.

    Parameters
    ----------
    y : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `y` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.iterable([1]), un.iterable(1)
    (True, False)
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True


def isscalar(element):
    """Whether the object is a scalar (a number or a string) and not an array.

    Parameters
    ----------
    element : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `element` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.isscalar(3.5), un.isscalar([3.5])
    (True, False)
    """
    if isinstance(element, _engine._Array):
        return element.ndim == 0 and not element.flags.writeable
    import numbers

    return isinstance(element, (numbers.Number, str, bytes)) or (
        type(element).__module__ == "numpy"
        and hasattr(element, "item")
        and not hasattr(element, "__len__")
    )
