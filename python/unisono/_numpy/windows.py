"""Windows of signal processing, and the special functions that they are made of."""

import math

import unisono as un

from .._arrays.ufunc import as_array
from .convolution import _I0_LARGE, _I0_SMALL, _inexact


def sinc(x):
    """sin(pi x) / (pi x), 1 at 0.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.sinc([0, 0.5]).round(6).tolist()
    [1.0, 0.63662]
    """
    x = _inexact(x)
    y = un.where(x == 0, 1.0, x) * math.pi
    return un.where(x == 0, 1.0, un.sin(y) / y).astype(x.dtype, copy=False)


def _chebyshev(x, coefficients):
    b0, b1, b2 = coefficients[0], 0.0, 0.0
    for c in coefficients[1:]:
        b0, b1, b2 = x * b0 - b1 + c, b0, b1
    return 0.5 * (b0 - b2)


def i0(x):
    """Modified Bessel function of the first kind, order 0 (Clenshaw's Chebyshev expansions).

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.i0(0).item()
    1.0
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    dtype = x.dtype if x.dtype.kind == "f" else un.float64
    x = abs(x.astype("float64"))
    small = un.minimum(x, 8.0)
    large = un.maximum(x, 8.0)
    return un.where(
        x <= 8,
        un.exp(small) * _chebyshev(small / 2 - 2, _I0_SMALL),
        un.exp(large) * _chebyshev(32 / large - 2, _I0_LARGE) / un.sqrt(large),
    ).astype(dtype, copy=False)


def _window(M, mesh, f):
    """f(n, M) of the odd or even numbers n from 1 - M to M - 1, which are as many as M."""
    M = M if isinstance(M, (int, float)) else un.asarray(M).astype("float64").item()
    if M < 1:
        return un.empty(0, mesh=mesh)
    if M == 1:
        return un.ones(1, mesh=mesh)
    return f(un.arange(1 - M, M, 2, mesh=mesh).astype("float64"), M)


def bartlett(M, *, mesh=None):
    """Triangular window of M points.

    Parameters
    ----------
    M : int
        Number of points.
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If `M` is not a number.

    Examples
    --------
    >>> import unisono as un
    >>> un.bartlett(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _window(M, mesh, lambda n, M: un.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1)))


def blackman(M, *, mesh=None):
    """Blackman's window of M points.

    Parameters
    ----------
    M : int
        Number of points.
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If `M` is not a number.

    Examples
    --------
    >>> import unisono as un
    >>> un.blackman(3).round(3).tolist()
    [-0.0, 1.0, -0.0]
    """
    return _window(
        M,
        mesh,
        lambda n, M: (
            0.42 + 0.5 * un.cos(math.pi * n / (M - 1)) + 0.08 * un.cos(2.0 * math.pi * n / (M - 1))
        ),
    )


def hamming(M, *, mesh=None):
    """Hamming's window of M points.

    Parameters
    ----------
    M : int
        Number of points.
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If `M` is not a number.

    Examples
    --------
    >>> import unisono as un
    >>> un.hamming(3).round(3).tolist()
    [0.08, 1.0, 0.08]
    """
    return _window(M, mesh, lambda n, M: 0.54 + 0.46 * un.cos(math.pi * n / (M - 1)))


def hanning(M, *, mesh=None):
    """von Hann's window of M points.

    Parameters
    ----------
    M : int
        Number of points.
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If `M` is not a number.

    Examples
    --------
    >>> import unisono as un
    >>> un.hanning(3).round(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _window(M, mesh, lambda n, M: 0.5 + 0.5 * un.cos(math.pi * n / (M - 1)))


def kaiser(M, beta, *, mesh=None):
    """Kaiser's window of M points.

    Parameters
    ----------
    M : int
        Number of points.
    beta : float
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        If `M` is not a number.

    Examples
    --------
    >>> import unisono as un
    >>> un.kaiser(3, 14).round(6).tolist()
    [8e-06, 1.0, 8e-06]
    """
    if M == 1:
        return un.ones(1, mesh=mesh)
    n = un.arange(M, mesh=mesh).astype("float64")
    alpha = (M - 1) / 2.0
    return i0(beta * un.sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / i0(float(beta))
