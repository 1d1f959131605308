"""Whether two arrays share memory."""

from .. import _engine
from .axes import byte_strides
from .ufunc import as_array


class _Addresses:
    """The addresses of an array's elements on a device, counted from the start of its memory."""

    def __init__(self, x, offset):
        # Not at 0, which NumPy takes for no memory.
        self.__array_interface__ = {
            "version": 3,
            "data": (offset + 4096, True),
            "shape": x.shape,
            "strides": byte_strides(x),
            "typestr": f"|V{x.dtype.itemsize}",
        }


def _addresses(x):
    """The memory that holds `x`, and an array of NumPy's at its addresses, which may not be read."""
    import numpy

    place = _engine._place_on_device(x)
    if place is None:
        return None, numpy.asarray(x)
    return place[0], numpy.asarray(_Addresses(x, place[1]))


def _same_memory(a, b):
    """Arrays of NumPy's at the addresses of both, or None where they cannot share any."""
    if a.size == 0 or b.size == 0:
        return None
    (where, a), (also, b) = _addresses(a), _addresses(b)
    return (a, b) if where == also else None


def may_share_memory(a, b, /, max_work=0):
    """Whether the memory between the first and the last element of both overlaps, or the arrays do, searched so far.

    Parameters
    ----------
    a, b : array_like
    max_work : int, optional
        How far to search.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `a` or `b` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.arange(4)
    >>> un.may_share_memory(x, x[1:])
    True
    """
    pair = _same_memory(as_array(a), as_array(b))
    if pair is None:
        return False
    import numpy

    return numpy.may_share_memory(*pair, max_work)


def shares_memory(a, b, /, max_work=-1):
    """Whether the arrays have an element in common.

    Parameters
    ----------
    a, b : array_like
    max_work : int, optional
        How far to search.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `a` or `b` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.arange(4)
    >>> un.shares_memory(x[::2], x[1::2])
    False
    """
    pair = _same_memory(as_array(a), as_array(b))
    if pair is None:
        return False
    import numpy

    return numpy.shares_memory(*pair, max_work)
