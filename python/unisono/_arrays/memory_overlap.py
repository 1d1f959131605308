"""Whether two arrays share memory."""

from .ufunc import as_array


def _span(x):
    """First and end address of an array's elements on the host, or None if it has none."""
    if x.size == 0 or x.device != "cpu":
        return None
    import numpy
    from numpy.lib.array_utils import byte_bounds

    return byte_bounds(numpy.asarray(x))


def may_share_memory(a, b, /, max_work=0):
    """Whether the memory between the first and the last element of both overlaps.

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
    one, two = _span(as_array(a)), _span(as_array(b))
    return one is not None and two is not None and one[0] < two[1] and two[0] < one[1]


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
    a, b = as_array(a), as_array(b)
    if not may_share_memory(a, b):
        return False
    import numpy

    return numpy.shares_memory(numpy.asarray(a), numpy.asarray(b), max_work)
