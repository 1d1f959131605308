"""NumPy's ``emath``: functions that answer with complex numbers where a real result does not exist."""

import unisono as _un

from ._arrays.axes import as_array as _array


def _complex_where(x, condition):
    """`x` as a complex array where the condition holds for an element."""
    return x.astype(_un.result_type(x.dtype, "complex64")) if bool(condition.any()) else x


def _real_or_complex(x, outside):
    x = _array(x)
    return x if x.dtype.kind == "c" else _complex_where(x, outside(x))


def sqrt(x):
    """Square root, complex where an element is negative.

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
    >>> un.emath.sqrt([-1, 4]).tolist()
    [1j, (2+0j)]
    """
    return _un.sqrt(_real_or_complex(x, lambda v: v < 0))


def _logarithm(name):
    def function(x):
        return getattr(_un, name)(_real_or_complex(x, lambda v: v < 0))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""``{name}``, complex where an element is negative.

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
    >>> un.emath.{name}([1.0, -1.0]).real.tolist()
    [0.0, 0.0]
    """
    return function


log, log2, log10 = map(_logarithm, ("log", "log2", "log10"))


def logn(n, x):
    """Logarithm to the base `n`, complex where `n` or an element is negative.

    Parameters
    ----------
    n, x : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast together.

    Examples
    --------
    >>> import unisono as un
    >>> un.emath.logn(2, [4, 8]).round(6).tolist()
    [2.0, 3.0]
    """
    return log(x) / log(n)


def power(x, p):
    """``x ** p``, complex where an element of `x` is negative; integers to negative powers are fractions.

    Parameters
    ----------
    x, p : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast together.

    Examples
    --------
    >>> import unisono as un
    >>> un.emath.power([2, 4], -1).tolist()
    [0.5, 0.25]
    """
    x, p = _real_or_complex(x, lambda v: v < 0), _array(p)
    if p.dtype.kind in "biu" and bool((p < 0).any()):
        p = p.astype("float64")
    return _un.power(x, p)


def _inverse(name, place):
    def function(x):
        return getattr(_un, name)(_real_or_complex(x, lambda v: abs(v) > 1))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""``{name}``, complex where an element lies outside [-1, 1].

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
    >>> un.emath.{name}([{place}]).tolist(), un.emath.{name}([2.0]).dtype.kind
    ([0.0], 'c')
    """
    return function


arccos, arcsin, arctanh = _inverse("arccos", 1.0), _inverse("arcsin", 0.0), _inverse("arctanh", 0.0)

__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]
