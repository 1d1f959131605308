"""Functions that look at the same elements in another shape: no element moves."""

from . import _engine
from ._creation import asarray
from ._ufunc import AxisError, as_array
from ._ufunc import broadcast_shapes as _broadcast_shapes


def _axis(axis, ndim, what):
    """The axis counted from the front."""
    try:
        k = axis.__index__()
    except AttributeError:
        raise TypeError(f"{what}: axis must be an integer; got {type(axis).__name__}") from None
    if not -ndim <= k < ndim:
        raise AxisError(f"{what}: axis {k} is out of bounds for array of dimension {ndim}")
    return k % ndim


def _axes(axis, ndim, what):
    """Axes counted from the front, each once, in the given order."""
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.ndim([[1, 2]])
    2
    """
    return as_array(a).ndim


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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.shape([[1, 2]])
    (1, 2)
    """
    return tuple(as_array(a).shape)


def size(a, axis=None):
    """Number of elements, in all or along one axis (or a tuple of axes).

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    int

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.size([[1, 2], [3, 4]], 1)
    2
    """
    x = as_array(a)
    if axis is None:
        return x.size
    n = 1
    for k in _axes(axis, x.ndim, "size"):
        n *= x.shape[k]
    return n


def ravel(a, order="C"):
    """One-dimensional: a view where the array is packed, else a copy.

    Parameters
    ----------
    a : array_like
    order : {'C', 'F', 'A', 'K'}
        Order of elements, or of memory.

    Returns
    -------
    ndarray
        A view where the array is packed.

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.ravel([[1, 2], [3, 4]]).tolist()
    [1, 2, 3, 4]
    """
    x = as_array(a)
    if order == "F" or (order == "A" and x.flags.fnc):
        return x.T.ravel()
    if order not in ("C", "A", "K"):
        raise ValueError(f"ravel: order must be 'C', 'F', 'A' or 'K'; got {order!r}")
    return x.ravel()


def expand_dims(a, axis=0):
    """View with new axes of extent 1 where `axis` says.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

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
    """View without axes of extent 1: all of them, or those that `axis` names.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        An axis of another extent than 1.
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.squeeze([[[1], [2]]]).tolist()
    [1, 2]
    """
    x = as_array(a)
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
        As many sources as destinations are needed.

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
    axis : int or tuple of int, optional
        All axes where it is None.
    start : number

    Returns
    -------
    ndarray, a view

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.rollaxis(un.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = as_array(a)
    k = _axis(axis, x.ndim, "rollaxis")
    if not -x.ndim <= start <= x.ndim:
        raise AxisError(
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
        The array has no such axis.

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


def permute_dims(a, axes=None):
    """View with permuted axes, reversed by default.

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
        No permutation of the axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.permute_dims(un.zeros((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return as_array(a).transpose(axes)


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
        Fewer than two axes.

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


_backwards = (slice(None, None, -1),)


def flip(m, axis=None):
    """View in reverse order along the axes (all by default).

    Parameters
    ----------
    m : array_like
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray, a view

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.flip([[1, 2], [3, 4]], axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    x = as_array(m)
    if axis is None:
        return x[_backwards * x.ndim] if x.ndim != 1 else x[::-1]
    turned = _axes(axis, x.ndim, "flip")
    return x[tuple(slice(None, None, -1) if k in turned else slice(None) for k in range(x.ndim))]


def fliplr(m):
    """View in reverse order along axis 1.

    Parameters
    ----------
    m : array_like

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        Fewer than two axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.fliplr([[1, 2], [3, 4]]).tolist()
    [[2, 1], [4, 3]]
    """
    if as_array(m).ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


def flipud(m):
    """View in reverse order along axis 0.

    Parameters
    ----------
    m : array_like

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        An array without axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.flipud([[1, 2], [3, 4]]).tolist()
    [[3, 4], [1, 2]]
    """
    if as_array(m).ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    """View turned by k right angles in the plane of two axes.

    Parameters
    ----------
    m : array_like
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.
    axes : tuple of int, optional

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        Two axes that differ are needed.

    Examples
    --------
    >>> import unisono as un
    >>> un.rot90([[1, 2], [3, 4]]).tolist()
    [[2, 4], [1, 3]]
    """
    x = as_array(m)
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    one, two = (_axis(a, x.ndim, "rot90") for a in axes)
    if one == two:
        raise ValueError("Axes must be different.")
    k %= 4
    if k == 2:
        return flip(x, (one, two))
    if k == 1:
        x = flip(x, two)
    turned = swapaxes(x, one, two) if k else x[...]
    return flip(turned, two) if k == 3 else turned


def broadcast_shapes(*shapes):
    """Shape to which arrays of those shapes broadcast.

    Parameters
    ----------
    *shapes : tuple of int

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.broadcast_shapes((2, 1), (3,), 1)
    (2, 3)
    """
    return _broadcast_shapes(*((s,) if isinstance(s, int) else tuple(s) for s in shapes))


def broadcast_arrays(*arrays, subok=False):
    """Read-only views of all arrays in their common shape, as a tuple.

    Parameters
    ----------
    *arrays : sequence of array_like
    subok : bool
        There are no subclasses.

    Returns
    -------
    tuple of ndarray, views

    Raises
    ------
    ValueError
        Shapes that do not broadcast.

    Examples
    --------
    >>> import unisono as un
    >>> [x.tolist() for x in un.broadcast_arrays([1, 2], 5)]
    [[1, 2], [5, 5]]
    """
    made = [as_array(a) for a in arrays]
    common = _broadcast_shapes(*(tuple(a.shape) for a in made))
    return tuple(a if tuple(a.shape) == common else _engine.broadcast_to(a, common) for a in made)


def _at_least(arrays, grow):
    made = tuple(grow(asarray(a)) for a in arrays)
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys):
    """Arrays with at least one axis: 0-d ones get one of extent 1.

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    ndarray, or a tuple of them

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.atleast_1d(3).tolist()
    [3]
    """
    return _at_least(arys, lambda a: a.reshape(1) if a.ndim == 0 else a)


def atleast_2d(*arys):
    """Arrays with at least two axes; new ones come first.

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    ndarray, or a tuple of them

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

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
    """Arrays with at least three axes: of n elements 1 x n x 1, of m x n m x n x 1.

    Parameters
    ----------
    *arys : array_like

    Returns
    -------
    ndarray, or a tuple of them

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

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


def array_split(ary, indices_or_sections, axis=0):
    """Views of parts along an axis: of about equal length, or cut at the given indices.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        How many parts, or where each begins.
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> [part.tolist() for part in un.array_split([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    x = as_array(ary)
    k = _axis(axis, x.ndim, "array_split")
    n = x.shape[k]
    if hasattr(indices_or_sections, "__len__"):
        cuts = [0, *(int(c) for c in indices_or_sections), n]
    else:
        parts = int(indices_or_sections)
        if parts <= 0:
            raise ValueError("array_split: number sections must be larger than 0")
        each, more = divmod(n, parts)
        cuts = [0]
        for p in range(parts):
            cuts.append(cuts[-1] + each + (p < more))
    before = (slice(None),) * k
    return [x[(*before, slice(first, end))] for first, end in zip(cuts, cuts[1:], strict=False)]


def split(ary, indices_or_sections, axis=0):
    """As `array_split`; a number of parts must divide the extent.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        How many parts, or where each begins.
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    ValueError
        The parts would not be of equal length.
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> [part.tolist() for part in un.split([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    """
    x = as_array(ary)
    if not hasattr(indices_or_sections, "__len__"):
        if x.shape[_axis(axis, x.ndim, "split")] % int(indices_or_sections):
            raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """Split along axis 1, or along axis 0 if there is only one.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        How many parts, or where each begins.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    ValueError
        An array without axes.

    Examples
    --------
    >>> import unisono as un
    >>> [part.tolist() for part in un.hsplit([[1, 2], [3, 4]], 2)]
    [[[1], [3]], [[2], [4]]]
    """
    x = as_array(ary)
    if x.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Split along axis 0.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        How many parts, or where each begins.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    ValueError
        Fewer than two axes.

    Examples
    --------
    >>> import unisono as un
    >>> [part.tolist() for part in un.vsplit([[1, 2], [3, 4]], 2)]
    [[[1, 2]], [[3, 4]]]
    """
    if as_array(ary).ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Split along axis 2.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        How many parts, or where each begins.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    ValueError
        Fewer than three axes.

    Examples
    --------
    >>> import unisono as un
    >>> [part.shape for part in un.dsplit(un.zeros((1, 1, 4)), 2)]
    [(1, 1, 2), (1, 1, 2)]
    """
    if as_array(ary).ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def unstack(x, /, *, axis=0):
    """Tuple of views, one for each index along an axis.

    Parameters
    ----------
    x : array_like
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    tuple of ndarray, views

    Raises
    ------
    ValueError
        An array without axes.
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> [x.tolist() for x in un.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x = as_array(x)
    if x.ndim == 0:
        raise ValueError("unstack: the array must be at least 1-d")
    k = _axis(axis, x.ndim, "unstack")
    before = (slice(None),) * k
    return tuple(x[(*before, n, ...)] for n in range(x.shape[k]))


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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.isfortran(un.zeros((2, 3)).T)
    True
    """
    return as_array(a).flags.fnc


def iterable(y):
    """Whether one can iterate over it.

    Parameters
    ----------
    y : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

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
    """Whether it is a number or a text, not an array; a value of ours is one.

    Parameters
    ----------
    element : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.isscalar(3.5), un.isscalar([3.5])
    (True, False)
    """
    if isinstance(element, _engine.ndarray):
        return element.ndim == 0 and not element.flags.writeable
    import numbers

    return isinstance(element, (numbers.Number, str, bytes)) or (
        type(element).__module__ == "numpy"
        and hasattr(element, "item")
        and not hasattr(element, "__len__")
    )
