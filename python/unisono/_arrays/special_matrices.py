"""Identity and Vandermonde matrices, and traces."""

import operator

import unisono as un

from .. import _engine
from .creation import _beside, _ordered, _place_of, refuse_like
from .ufunc import as_array


@_engine._FastPath
def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, mesh=None, like=None):
    """Ones on a diagonal, zeros elsewhere.

    Parameters
    ----------
    N, M : int
        Rows and columns (as many as rows by default).
    k : int
        Diagonal: 0 is the main diagonal, positive numbers are above it.
    dtype : dtype
    order : {'C', 'F'}
    device : str or Device, optional
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray, shape (N, M)

    Raises
    ------
    TypeError
        If the number of rows or columns is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> un.eye(2, 3, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    refuse_like("eye", like)
    N = operator.index(N)
    M = N if M is None else operator.index(M)
    if N < 0 or M < 0:
        raise ValueError(f"eye: negative dimensions are not allowed; got shape ({N}, {M})")
    dtype = float if dtype is None else dtype
    device = _place_of(device, mesh)
    made = _engine._iota(M, _beside(device)) - _engine._iota(N, device).reshape(
        N, 1
    ) == operator.index(k)
    return _ordered(made.astype(dtype), order)


@_engine._FastPath
def identity(n, dtype=None, *, mesh=None, like=None):
    """Square array with ones on the main diagonal.

    Parameters
    ----------
    n : int, optional
    dtype : dtype, optional
    mesh : Mesh, optional
        Ranks over which it is distributed.
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray, shape (n, n)

    Raises
    ------
    TypeError
        If the number of rows or columns is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> un.identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    refuse_like("identity", like)
    return eye(n, dtype=dtype, mesh=mesh)


def vander(x, N=None, increasing=False):
    """Matrix of powers of a vector: columns x**(N-1) to x**0.

    Parameters
    ----------
    x : array_like
    N : int
        Number of rows.
    increasing : bool

    Returns
    -------
    ndarray of two axes

    Raises
    ------
    ValueError
        If `x` is not 1-dimensional.

    Examples
    --------
    >>> import unisono as un
    >>> un.vander([1, 2, 3], 2).tolist()
    [[1, 1], [2, 1], [3, 1]]
    """
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    N = x.shape[0] if N is None else N
    made = un.empty((x.shape[0], N), un.result_type(x.dtype, int), device=x.device)
    columns = made if increasing else made[:, ::-1]
    if N > 0:
        columns[:, 0] = 1
    for k in range(1, N):
        columns[:, k] = columns[:, k - 1] * x
    return made


@_engine._FastPath
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum of the diagonals of two axes.

    Parameters
    ----------
    a : array_like
    offset, axis1, axis2 : int
    dtype : dtype, optional
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray
        A value of a matrix.

    Raises
    ------
    ValueError
        If the array has fewer than two dimensions.

    Examples
    --------
    >>> import unisono as un
    >>> un.trace([[1, 2], [3, 4]]).item()
    5
    """
    made = un.diagonal(a, offset, axis1, axis2).sum(axis=-1, dtype=dtype)
    if out is None:
        return made
    out[...] = made
    return out
