"""Functions of NumPy's main namespace that are methods of the array."""

from .. import _engine
from .._engine import _FastPath
from .axes import as_array as _as
from .axes import of_class_of as _of_class_of
from .creation import array

# The options that only some calls have are passed on where they are given. Most calls have none: those go the short
# way, which matters where elements are few.


@_FastPath
def sum(a, axis=None, dtype=None, out=None, keepdims=False, **options):
    """Sum over `axis`; options are ``initial=`` and ``where=``; see ``ndarray.sum``.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    **options
        ``initial=`` and ``where=``, as in NumPy.

    Returns
    -------
    ndarray
        A value where no axis is left; integers are added in int64 or uint64.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.sum([[1, 2], [3, 4]], axis=0).tolist()
    [4, 6]
    """
    if out is not None:
        options["out"] = out
    return _as(a).sum(axis, dtype, keepdims=keepdims, **options)


@_FastPath
def prod(a, axis=None, dtype=None, out=None, keepdims=False, **options):
    """Product over `axis`; options are ``initial=`` and ``where=``; see ``ndarray.prod``.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    **options
        ``initial=`` and ``where=``, as in NumPy.

    Returns
    -------
    ndarray
        A value where no axis is left; integers are multiplied in int64 or uint64.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.prod([[1, 2], [3, 4]], axis=0).tolist()
    [3, 8]
    """
    if out is not None:
        options["out"] = out
    return _as(a).prod(axis, dtype, keepdims=keepdims, **options)


@_FastPath
def max(a, axis=None, out=None, keepdims=False, **options):
    """Maximum over `axis`; NaN where any is NaN; options are ``initial=`` and ``where=``.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    **options
        ``initial=`` and ``where=``, as in NumPy.

    Returns
    -------
    ndarray of the array's dtype
        A scalar if all axes are reduced.

    Raises
    ------
    ValueError
        If the axis is empty and `initial` is not given.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.max([[1, 5], [7, 2]], axis=1).tolist()
    [5, 7]
    """
    if out is not None:
        options["out"] = out
    return _as(a).max(axis=axis, keepdims=keepdims, **options)


@_FastPath
def min(a, axis=None, out=None, keepdims=False, **options):
    """Minimum over `axis`; NaN where any is NaN; options are ``initial=`` and ``where=``.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    **options
        ``initial=`` and ``where=``, as in NumPy.

    Returns
    -------
    ndarray of the array's dtype
        A scalar if all axes are reduced.

    Raises
    ------
    ValueError
        If the axis is empty and `initial` is not given.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.min([[1, 5], [7, 2]], axis=1).tolist()
    [1, 2]
    """
    if out is not None:
        options["out"] = out
    return _as(a).min(axis=axis, keepdims=keepdims, **options)


@_FastPath
def any(a, axis=None, out=None, keepdims=False, **options):
    """Whether any element is true; an option is ``where=``.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    **options
        ``initial=`` and ``where=``, as in NumPy.

    Returns
    -------
    ndarray of bool
        A scalar if all axes are reduced.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.any([[True, False], [False, False]], axis=0).tolist()
    [True, False]
    """
    if out is not None:
        options["out"] = out
    return _as(a).any(axis=axis, keepdims=keepdims, **options)


@_FastPath
def all(a, axis=None, out=None, keepdims=False, **options):
    """Whether all elements are true; an option is ``where=``.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    **options
        ``initial=`` and ``where=``, as in NumPy.

    Returns
    -------
    ndarray of bool
        A scalar if all axes are reduced.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.all([[True, False], [True, True]], axis=0).tolist()
    [True, False]
    """
    if out is not None:
        options["out"] = out
    return _as(a).all(axis=axis, keepdims=keepdims, **options)


def copy(a, order="K", subok=False):
    """Packed copy of `a`, in row-major order or, with ``order="F"``, in column-major order.

    Parameters
    ----------
    a : array_like
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.
    subok : bool
        Whether the result is of the class of the argument where that derives from the array.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.copy([1, 2]).tolist()
    [1, 2]
    """
    if isinstance(a, _engine._Array) and a.ndim > 1:
        made = _engine.ndarray.copy(a, order=order)
    else:
        made = array(a)
        made = made.T.copy().T if order == "F" and made.ndim > 1 else made
    return _of_class_of(a, made, subok)


def astype(x, dtype, /, *, copy=True, device=None):
    """`x` converted to `dtype`, on another device where one is given; `x` itself if it is that and ``copy=False``.

    Parameters
    ----------
    x : array_like
    dtype : dtype, optional
    copy : bool, optional
    device : str or Device, optional

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If the dtype does not exist.

    Examples
    --------
    >>> import unisono as un
    >>> un.astype(un.asarray([1.5, -1.5]), un.int8).tolist()
    [1, -1]
    """
    x = _as(x)
    made = x if not copy and x.dtype == dtype else x.astype(dtype, copy=copy)
    return made if device is None else made.to_device(device)


def reshape(x, /, shape, order="C", *, copy=None):
    """The elements of `x` in another shape: a view where strides allow it, else a copy.

    Parameters
    ----------
    x : array_like
    shape : int or tuple of ints
        One extent may be -1.
    order : {"C", "F", "A"}
        In which order elements are taken and placed.
    copy : bool, optional
        True always copies, False never does (ValueError where it would have to).

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the number of elements differs, or a view was required and is not possible.

    Examples
    --------
    >>> import unisono as un
    >>> un.reshape([1, 2, 3, 4], (2, -1)).tolist()
    [[1, 2], [3, 4]]
    """
    if order == "C" and copy is None:
        return _as(x).reshape(shape)
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    return _as(x).reshape(shape, order=order, copy=copy)


def broadcast_to(array, shape, subok=False):
    """View of the array in that shape, read-only: axes of extent 1, and new ones in front, are repeated.

    Parameters
    ----------
    array : array_like
    shape : int or tuple of int
    subok : bool
        Whether the result is of the class of the argument where that derives from the array.

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        If the array cannot be broadcast to the shape.

    Examples
    --------
    >>> import unisono as un
    >>> un.broadcast_to([1, 2], (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return _of_class_of(array, _engine.broadcast_to(array, shape), subok)


@_FastPath
def transpose(a, axes=None):
    """View of `a` with permuted axes, reversed by default.

    Parameters
    ----------
    a : array_like
    axes : tuple of int, optional

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        If `axes` is not a permutation of the axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.transpose([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    return _as(a).transpose(axes)


def _renamed(function, name):
    """A function of its own that does the same: tables of libraries have entries for both, as of NumPy's."""
    f = function
    made = type(f)(f.__code__, f.__globals__, name, f.__defaults__, f.__closure__)
    made.__kwdefaults__, made.__doc__, made.__qualname__ = f.__kwdefaults__, f.__doc__, name
    return made


amax = _FastPath(_renamed(max.__wrapped__, "amax"))
amin = _FastPath(_renamed(min.__wrapped__, "amin"))
# Of arrays of classes that derive from NumPy's, NumPy computes, as beside the functions that other modules hold.
reshape, copy, astype, broadcast_to = map(_FastPath, (reshape, copy, astype, broadcast_to))
