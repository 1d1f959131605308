"""Diagonals, triangles, and their indices."""

import operator

import unisono as un

from .. import _engine
from .axes import as_array, as_array_within, axis_index, byte_strides
from .creation import _beside, _mesh_of
from .indexing import _cycled, _target
from .positions import nonzero
from .ufunc import broadcast_shapes


def diagonal(a, offset=0, axis1=0, axis2=1):
    """View of a diagonal of two axes, as the last axis of the result; read-only.

    Parameters
    ----------
    a : array_like
    offset, axis1, axis2 : int

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
    >>> un.diagonal(un.arange(9).reshape(3, 3), 1).tolist()
    [1, 5]
    """
    view = _diagonal(as_array(a), offset, axis1, axis2)
    return un.broadcast_to(view, view.shape)


def broadcast(arrays):
    """Views of the arrays in their common shape."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [un.broadcast_to(x, shape) for x in arrays]


def _diagonal(x, offset, axis1, axis2):
    """The same view, as writable as `x`."""
    if x.ndim < 2:
        raise ValueError(f"diagonal: needs an array of at least two axes; got {x.ndim}")
    first, second = (axis_index(k, x.ndim, "diagonal") for k in (axis1, axis2))
    if first == second:
        raise ValueError(f"diagonal: axis1 and axis2 must differ; got {axis1} and {axis2}")
    offset = operator.index(offset)
    rows, columns = x.shape[first], x.shape[second]
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    steps = [s // x.itemsize for s in byte_strides(x)]
    start = 0
    if count:
        start = offset * steps[second] if offset >= 0 else -offset * steps[first]
    rest = [k for k in range(x.ndim) if k not in (first, second)]
    return _engine._strided(
        x,
        (*(x.shape[k] for k in rest), count),
        (*(steps[k] for k in rest), steps[first] + steps[second]),
        start,
    )


@_engine._FastPath
def diag(v, k=0):
    """Diagonal of a matrix, or the matrix with that diagonal.

    Parameters
    ----------
    v : array_like
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.

    Returns
    -------
    ndarray
        A view of a diagonal, or a matrix with that one.

    Raises
    ------
    ValueError
        If the array is not 1- or 2-dimensional.

    Examples
    --------
    >>> import unisono as un
    >>> un.diag([1, 2]).tolist()
    [[1, 0], [0, 2]]
    """
    x = as_array(v)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError(f"diag: needs one or two axes; got {x.ndim}")
    n = x.size + abs(k)
    made = un.zeros((n, n), x.dtype, device=x.device)
    _diagonal(made, k, 0, 1)[...] = x
    return made


def diagflat(v, k=0):
    """Matrix whose diagonal holds the elements of `v` in row-major order.

    Parameters
    ----------
    v : array_like
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.

    Returns
    -------
    ndarray of two axes

    Raises
    ------
    TypeError
        If `v` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.diagflat([1, 2], 1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return diag(as_array(v).ravel(), k)


def fill_diagonal(a, val, wrap=False):
    """Set the main diagonal of an array, in place; values repeat if they are fewer.

    Parameters
    ----------
    a, val : array_like
    wrap

    Returns
    -------
    None
        `a` is changed.

    Raises
    ------
    ValueError
        If the array has fewer than two axes, or more than two of different extents.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.zeros((2, 2))
    >>> un.fill_diagonal(x, 5)
    >>> x.tolist()
    [[5.0, 0.0], [0.0, 5.0]]
    """
    x = _target("fill_diagonal", a)
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal: needs at least two axes; got {x.ndim}")
    steps = [s // x.itemsize for s in byte_strides(x)]
    count = min(x.shape)
    if x.ndim > 2:
        if len(set(x.shape)) > 1:
            raise ValueError("fill_diagonal: beyond two axes all extents must be equal")
    elif wrap and x.shape[0] > x.shape[1]:
        # Beyond its end the diagonal starts again, one row further down.
        columns = x.shape[1]
        places = un.arange(0, x.size, columns + 1, device=x.device)
        x[places // columns, places % columns] = _cycled(
            as_array_within(val, x).ravel(), places.size
        )
        return
    line = _engine._strided(x, (count,), (sum(steps),), 0)
    line[...] = _cycled(as_array_within(val, x).ravel(), count)


def diag_indices(n, ndim=2):
    """Index of the main diagonal of an array of `ndim` axes of extent `n`.

    Parameters
    ----------
    n : int, optional
    ndim : int
        Axes of the index arrays.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        If an extent is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    return (un.arange(n),) * ndim


def diag_indices_from(arr):
    """Index of the main diagonal of `arr`, whose extents are equal.

    Parameters
    ----------
    arr : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        If the axes are equal, or the array has fewer than two.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.diag_indices_from(un.eye(2))]
    [[0, 1], [0, 1]]
    """
    if arr.ndim < 2 or len(set(arr.shape)) > 1:
        raise ValueError(
            f"diag_indices_from: needs two or more axes of equal extent; got {arr.shape}"
        )
    return (un.arange(arr.shape[0], device=getattr(arr, "device", None)),) * arr.ndim


def tri(N, M=None, k=0, dtype=None, *, mesh=None, like=None):
    """Matrix of ones at and below a diagonal, zeros elsewhere.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int
        Number of points.
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.
    dtype : dtype, optional
    mesh : Mesh, optional
        Ranks over which it is distributed.
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray, shape (N, M)

    Raises
    ------
    TypeError
        If an extent is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> un.tri(2, 3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    lower = _lower(N, N if M is None else M, k, _mesh_of(None, mesh))
    return lower.astype("float64" if dtype is None else dtype)


def _lower(rows, columns, k, device=None):
    if device is None:
        return un.arange(rows).reshape(-1, 1) + k >= un.arange(columns)
    return _engine._iota(rows, device).reshape(-1, 1) + k >= _engine._iota(columns, _beside(device))


def tril(m, k=0):
    """Lower triangle of the last two axes; zeros above.

    Parameters
    ----------
    m : array_like
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the array is 0-dimensional.

    Examples
    --------
    >>> import unisono as un
    >>> un.tril(un.ones((2, 2), int)).tolist()
    [[1, 0], [1, 1]]
    """
    x = as_array(m)
    return un.where(_triangle("tril", x, k), x, un.zeros((), x.dtype, device=x.device))


def triu(m, k=0):
    """Upper triangle of the last two axes; zeros below.

    Parameters
    ----------
    m : array_like
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the array is 0-dimensional.

    Examples
    --------
    >>> import unisono as un
    >>> un.triu([[1, 2], [3, 4]]).tolist()
    [[1, 2], [0, 4]]
    """
    x = as_array(m)
    return un.where(_triangle("triu", x, k - 1), un.zeros((), x.dtype, device=x.device), x)


def _triangle(what, x, k):
    if x.ndim == 0:
        raise ValueError(f"{what}: needs an array of at least one axis")
    return _lower(x.shape[-2] if x.ndim > 1 else x.shape[0], x.shape[-1], k, x.device)


def tril_indices(n, k=0, m=None):
    """Index of the lower triangle of an array of shape (n, m).

    Parameters
    ----------
    n : int, optional
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.
    m : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        If `m` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return nonzero(_lower(n, n if m is None else m, k))


def triu_indices(n, k=0, m=None):
    """Index of the upper triangle of an array of shape (n, m).

    Parameters
    ----------
    n : int, optional
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.
    m : array_like

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        If `m` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(~_lower(n, n if m is None else m, k - 1))


def tril_indices_from(arr, k=0):
    """Index of the lower triangle of `arr`.

    Parameters
    ----------
    arr : array_like
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        If the array is not 2-dimensional.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.tril_indices_from(un.eye(2))]
    [[0, 1, 1], [0, 0, 1]]
    """
    rows, k, columns = _matrix("tril_indices_from", arr, k)
    return nonzero(_lower(rows, columns, k, getattr(arr, "device", None)))


def triu_indices_from(arr, k=0):
    """Index of the upper triangle of `arr`.

    Parameters
    ----------
    arr : array_like
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    ValueError
        If the array is not 2-dimensional.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.triu_indices_from(un.eye(2))]
    [[0, 0, 1], [0, 1, 1]]
    """
    rows, k, columns = _matrix("triu_indices_from", arr, k)
    return nonzero(~_lower(rows, columns, k - 1, getattr(arr, "device", None)))


def _matrix(what, arr, k):
    if arr.ndim != 2:
        raise ValueError(f"{what}: needs two axes; got {arr.ndim}")
    return arr.shape[0], k, arr.shape[1]


def mask_indices(n, mask_func, k=0):
    """Index of the elements that ``mask_func(ones((n, n)), k)`` leaves.

    Parameters
    ----------
    n : int, optional
    mask_func : callable
        Takes a matrix and `k`, as `triu`.
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.

    Returns
    -------
    tuple of ndarray

    Raises
    ------
    TypeError
        If an extent is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> [k.tolist() for k in un.mask_indices(2, un.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(mask_func(un.ones((n, n), "int64"), k) != 0)
