"""Cutting arrays into parts, which are views."""

from .ufunc import as_array
from .views import _axis


def _are_indices(indices_or_sections):
    """Whether it is a sequence; a number of ours has a method for its length, too."""
    return hasattr(indices_or_sections, "__len__") and getattr(indices_or_sections, "ndim", 1) > 0


def array_split(ary, indices_or_sections, axis=0):
    """Views of parts along an axis: of about equal length, or cut at the given indices.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        Number of parts, or the indices at which to split.
    axis : int, optional
        The first by default.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> [part.tolist() for part in un.array_split([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    x = as_array(ary)
    k = _axis(axis, x.ndim, "array_split")
    n = x.shape[k]
    if _are_indices(indices_or_sections):
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
    """Split an array into parts of equal length, see `array_split`.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        Number of parts, or the indices at which to split.
    axis : int, optional
        The first by default.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    ValueError
        If the parts would not have equal lengths.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> [part.tolist() for part in un.split([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    """
    x = as_array(ary)
    if not _are_indices(indices_or_sections):
        if x.shape[_axis(axis, x.ndim, "split")] % int(indices_or_sections):
            raise ValueError("array split does not result in an equal division")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """Split along axis 1, or along axis 0 if there is only one.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        Number of parts, or the indices at which to split.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    ValueError
        If the array is 0-dimensional.

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
        Number of parts, or the indices at which to split.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    ValueError
        If the array has fewer than two dimensions.

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
        Number of parts, or the indices at which to split.

    Returns
    -------
    list of ndarray, views

    Raises
    ------
    ValueError
        If the array has fewer than three dimensions.

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
    axis : int, optional
        The first by default.

    Returns
    -------
    tuple of ndarray, views

    Raises
    ------
    ValueError
        If the array is 0-dimensional.
    AxisError
        If `axis` is out of bounds.

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
    more = (...,) if x.ndim > 1 else ()  # without it an element is a number
    return tuple(x[(*before, n, *more)] for n in range(x.shape[k]))
