"""Bits packed into bytes, and unpacked."""

import unisono as un

from .._arrays.ufunc import as_array
from .._arrays.views import _axis


def packbits(a, /, axis=None, bitorder="big"):
    """Bits of booleans packed into uint8, filled up with zeros.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        By default the array is flattened in row-major order.
    bitorder : {'big', 'little'}

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError
        If the array holds floating-point numbers.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.packbits([1, 0, 1]).tolist()
    [160]
    """
    x = as_array(a)
    if x.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    weights = _bit_weights(bitorder, x)
    x = (x != 0).astype("uint8")
    x, k = (x.reshape(-1), 0) if axis is None else (x, _axis(axis, x.ndim, "packbits"))
    x = un.moveaxis(x, k, -1)
    n = x.shape[-1]
    padded = un.zeros((*x.shape[:-1], -(-n // 8) * 8), "uint8", device=x.device)
    padded[..., :n] = x
    made = (padded.reshape((*x.shape[:-1], -(-n // 8), 8)) * weights).sum(axis=-1, dtype="uint8")
    return un.moveaxis(made, -1, k)


def _bit_weights(bitorder, x):
    if not isinstance(bitorder, str):
        raise TypeError(f"bitorder must be str, not {type(bitorder).__name__}")
    if bitorder[:1] not in ("b", "l"):
        raise ValueError("'order' must be either 'little' or 'big'")
    weights = un.asarray([128, 64, 32, 16, 8, 4, 2, 1], dtype="uint8", device=x.device)
    return weights if bitorder[0] == "b" else weights[::-1]


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """Bits of uint8 as an array of zeros and ones.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        By default the array is flattened in row-major order.
    count : int
        Number of elements; -1 means all.
    bitorder : {'big', 'little'}

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError
        If the dtype is not uint8.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.unpackbits(un.asarray([5], dtype="uint8")).tolist()
    [0, 0, 0, 0, 0, 1, 0, 1]
    """
    x = as_array(a)
    if x.dtype != "uint8":
        raise TypeError("Expected an input array of unsigned byte data type")
    x, k = (x.reshape(-1), 0) if axis is None else (x, _axis(axis, x.ndim, "unpackbits"))
    x = un.moveaxis(x, k, -1)
    bits = ((x[..., None] & _bit_weights(bitorder, x)) != 0).astype("uint8")
    bits = bits.reshape((*x.shape[:-1], 8 * x.shape[-1]))
    if count is not None:
        n = bits.shape[-1]
        if count < 0:
            count += n
        if count > n:
            more = un.zeros((*bits.shape[:-1], count - n), "uint8", device=x.device)
            bits = un.concatenate([bits, more], axis=-1)
        bits = bits[..., :count]
    return un.moveaxis(bits, -1, k)
