"""Discrete Fourier transforms with NumPy's and the array API's names.

Lines are transformed several at once, on all threads; any length is fast. float32 and complex64 stay
single precision. The bits do not depend on the number of threads.
"""

import sys

from .._arrays.exchange.numpys_elements import stand_beside as _stand_beside
from .._numpy.products import _into
from ._axes import (
    fft2,
    fftfreq,
    fftn,
    fftshift,
    ifft2,
    ifftn,
    ifftshift,
    irfft2,
    irfftn,
    rfft2,
    rfftfreq,
    rfftn,
)
from ._transform import _transform


def fft(a, n=None, axis=-1, norm=None, out=None):
    """Discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array_like
    n : int, optional
        Length: shorter input is continued by zeros, longer is cut.
    axis : int
    norm : {'backward', 'ortho', 'forward'}, optional
        Which direction is scaled by 1/n; 'ortho' scales both by its root.
    out : ndarray, optional

    Returns
    -------
    ndarray of complex64 or complex128

    Raises
    ------
    ValueError
        If the number of points is less than one, or the norm is unknown.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.fft([1, 0, 0, 0]).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _into(_transform(a, n, axis, norm, True, 0, "fft"), out)


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """Inverse of `fft`.

    Parameters
    ----------
    a : array_like
    n : int, optional
    axis : int, optional
        The last by default.
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
        If the number of points is less than one, or the norm is unknown.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.ifft([4, 0, 0, 0]).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _into(_transform(a, n, axis, norm, False, 0, "ifft"), out)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """Transform of real numbers: the first ``n // 2 + 1`` values, of which the others are mirror images.

    Parameters
    ----------
    a : array_like
    n : int, optional
    axis : int, optional
        The last by default.
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
        If the number of points is less than one, or the norm is unknown.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.rfft([1, 0, 0, 0]).tolist()
    [(1+0j), (1+0j), (1+0j)]
    """
    return _into(_transform(a, n, axis, norm, True, 1, "rfft"), out)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """Inverse of `rfft`: `n` real numbers, by default ``2 * (m - 1)`` of m values.

    Parameters
    ----------
    a : array_like
    n : int, optional
    axis : int, optional
        The last by default.
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
        If the number of points is less than one, or the norm is unknown.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.irfft([4.0, 0.0, 0.0]).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _into(_transform(a, n, axis, norm, False, 2, "irfft"), out)


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """Transform of numbers whose spectrum is real: `a` is the first half of a Hermitian line.

    Parameters
    ----------
    a : array_like
    n : int, optional
    axis : int, optional
        The last by default.
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
        If the number of points is less than one, or the norm is unknown.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.hfft([1.0, 0.0, 0.0]).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _into(_transform(a, n, axis, norm, True, 2, "hfft"), out)


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """Inverse of `hfft`.

    Parameters
    ----------
    a : array_like
    n : int, optional
    axis : int, optional
        The last by default.
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
        If the number of points is less than one, or the norm is unknown.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.fft.ihfft([1, 1]).tolist()
    [(1-0j), -2.508278806334166e-20j]
    """
    return _into(_transform(a, n, axis, norm, False, 1, "ihfft"), out)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_stand_beside(sys.modules[__name__], __all__)
