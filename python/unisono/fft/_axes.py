"""Fourier transforms along several axes, and where their frequencies lie."""

import operator

from .._arrays.axes import as_operand, several
from .._arrays.creation import arange, empty, zeros
from .._numpy.products import _into
from ._transform import _axis_of, _input, _transform, _transform_together


def _shape_and_axes(x, s, axes, what, spectrum=False):
    given = s is not None
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = [_axis_of(x, k, what) for k in axes]
    s = [x.shape[k] for k in axes] if s is None else list(s)
    if len(s) != len(axes):
        raise ValueError(
            f"{what}: Shape and axes have different lengths; got {len(s)} and {len(axes)}"
        )
    s = [x.shape[k] if n == -1 else operator.index(n) for n, k in zip(s, axes, strict=True)]
    if spectrum and s and not given:
        s[-1] = 2 * (x.shape[axes[-1]] - 1)
    return s, axes


def _each_axis(x, s, axes, norm, forward, what, kind=0):
    """From the last axis on, whose transform is of that kind."""
    made = _transform_together(x, s, axes, norm, forward, kind, what)
    if made is not None:
        return made
    for n, axis in reversed(list(zip(s, axes, strict=True))):
        x = _transform(x, n, axis, norm, forward, kind, what)
        kind = 0
    return x


def fftn(a, s=None, axes=None, norm=None, out=None):
    """Transform along several axes, all by default.

    Parameters
    ----------
    a : array_like
    s : sequence of ints, optional
        Lengths; -1 keeps an axis as it is.
    axes : sequence of ints, optional
    norm : {'backward', 'ortho', 'forward'}, optional
    out : ndarray, optional

    Returns
    -------
    ndarray of a complex dtype

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths, or the norm is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.fftn([[1, 0], [0, 0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    x = _input(a)
    return _into(_each_axis(x, *_shape_and_axes(x, s, axes, "fftn"), norm, True, "fftn"), out)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """Inverse of `fftn`.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Number of points along each axis; the input is cut or padded with zeros.
    axes : tuple of int, optional
    norm : {'backward', 'ortho', 'forward'}
        The direction of the transform that is divided by the number of points.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of a complex dtype

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths, or the norm is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.ifftn([[4, 0], [0, 0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    x = _input(a)
    return _into(_each_axis(x, *_shape_and_axes(x, s, axes, "ifftn"), norm, False, "ifftn"), out)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Transform along two axes.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Number of points along each axis; the input is cut or padded with zeros.
    axes : tuple of int, optional
    norm : {'backward', 'ortho', 'forward'}
        The direction of the transform that is divided by the number of points.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of a complex dtype

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths, or the norm is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.fft2([[1, 0], [0, 0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    return fftn(a, s, axes, norm, out)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Inverse of `fft2`.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Number of points along each axis; the input is cut or padded with zeros.
    axes : tuple of int, optional
    norm : {'backward', 'ortho', 'forward'}
        The direction of the transform that is divided by the number of points.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of a complex dtype

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths, or the norm is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.ifft2([[4, 0], [0, 0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    return ifftn(a, s, axes, norm, out)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """Transform of real numbers along several axes: `rfft` along the last of them.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Number of points along each axis; the input is cut or padded with zeros.
    axes : tuple of int, optional
    norm : {'backward', 'ortho', 'forward'}
        The direction of the transform that is divided by the number of points.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of a complex dtype

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths, or the norm is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.rfftn([[1, 0], [0, 0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    x = _input(a)
    s, axes = _shape_and_axes(x, s, axes, "rfftn")
    if not axes:
        raise IndexError("rfftn: expected at least one axis; got none")
    return _into(_each_axis(x, s, axes, norm, True, "rfftn", 1), out)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """Inverse of `rfftn`.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Number of points along each axis; the input is cut or padded with zeros.
    axes : tuple of int, optional
    norm : {'backward', 'ortho', 'forward'}
        The direction of the transform that is divided by the number of points.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of a floating-point dtype

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths, or the norm is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.irfftn([[4, 0], [0, 0]]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    x = _input(a)
    s, axes = _shape_and_axes(x, s, axes, "irfftn", spectrum=True)
    for n, axis in zip(s[:-1], axes[:-1], strict=True):
        x = _transform(x, n, axis, norm, False, 0, "irfftn")
    return _into(_transform(x, s[-1], axes[-1], norm, False, 2, "irfftn"), out)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Transform of real numbers along two axes.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Number of points along each axis; the input is cut or padded with zeros.
    axes : tuple of int, optional
    norm : {'backward', 'ortho', 'forward'}
        The direction of the transform that is divided by the number of points.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of a complex dtype

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths, or the norm is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.rfft2([[1, 0], [0, 0]]).tolist()
    [[(1+0j), (1+0j)], [(1+0j), (1+0j)]]
    """
    return rfftn(a, s, axes, norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """Inverse of `rfft2`.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Number of points along each axis; the input is cut or padded with zeros.
    axes : tuple of int, optional
    norm : {'backward', 'ortho', 'forward'}
        The direction of the transform that is divided by the number of points.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.

    Returns
    -------
    ndarray of a floating-point dtype

    Raises
    ------
    ValueError
        If `s` and `axes` have different lengths, or the norm is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.irfft2([[4, 0], [0, 0]]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return irfftn(a, s, axes, norm, out)


def fftfreq(n, d=1.0, device=None, *, dtype=None):
    """Frequencies of the values of a transform of length `n` with sample spacing `d`.

    Parameters
    ----------
    n : int, optional
    d : float
        Between samples.
    device : str or Device, optional
    dtype : dtype, optional

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `n` is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    n = _length(n, "fftfreq")
    made = empty(n, "float64", device=device)
    middle = (n - 1) // 2 + 1
    made[:middle] = arange(0, middle, device=device) * (1.0 / (n * d))
    made[middle:] = arange(-(n // 2), 0, device=device) * (1.0 / (n * d))
    return made if dtype is None else made.astype(dtype)


def rfftfreq(n, d=1.0, device=None, *, dtype=None):
    """Frequencies of the values of `rfft`.

    Parameters
    ----------
    n : int, optional
    d : float
        Between samples.
    device : str or Device, optional
    dtype : dtype, optional

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `n` is not an integer.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    n = _length(n, "rfftfreq")
    made = arange(0, n // 2 + 1, device=device) * (1.0 / (n * d))
    return made if dtype is None else made.astype(dtype)


def _length(n, what):
    if not hasattr(n, "__index__"):
        raise ValueError(f"{what}: n should be an integer; got {n!r}")
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"{what}: expected at least one value; got n = {n}")
    return n


def _rolled(x, axes, by):
    x = as_operand(x)
    if axes is None:
        axes = range(x.ndim)
    for axis in several(axes):
        k = _axis_of(x, axis, "fftshift")
        n = x.shape[k]
        cut = by(n)
        if n == 0 or cut in (0, n):
            continue
        made = zeros(x.shape, x.dtype, device=x.device)
        lead = (slice(None),) * k
        made[(*lead, slice(0, n - cut))] = x[(*lead, slice(cut, None))]
        made[(*lead, slice(n - cut, None))] = x[(*lead, slice(0, cut))]
        x = made
    return x


def fftshift(x, axes=None):
    """Frequency 0 moved to the middle.

    Parameters
    ----------
    x : array_like
    axes : tuple of int, optional

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
    >>> un.fft.fftshift(un.fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    return _rolled(x, axes, lambda n: n - n // 2)


def ifftshift(x, axes=None):
    """Inverse of `fftshift`.

    Parameters
    ----------
    x : array_like
    axes : tuple of int, optional

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
    >>> un.fft.ifftshift(un.fft.fftshift(un.arange(5))).tolist()
    [0, 1, 2, 3, 4]
    """
    return _rolled(x, axes, lambda n: n // 2)
