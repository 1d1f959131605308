"""Axes read backwards or turned."""

from .._engine import _FastPath
from .transposes import swapaxes
from .ufunc import as_array
from .views import _axes, _axis

_backwards = (slice(None, None, -1),)


@_FastPath
def flip(m, axis=None):
    """View in reverse order along the axes (all by default).

    Parameters
    ----------
    m : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.

    Returns
    -------
    ndarray, a view

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.flip([[1, 2], [3, 4]], axis=1).tolist()
    [[2, 1], [4, 3]]
    """
    x = as_array(m)
    if x.ndim == 0 and axis in (None, ()):
        return x[()]
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
        If the array has fewer than two dimensions.

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
        If the array is 0-dimensional.

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
        Number of rotations by 90 degrees.
    axes : tuple of int, optional

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        If `axis1` and `axis2` are equal.

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
