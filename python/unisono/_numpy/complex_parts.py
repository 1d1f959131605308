"""Real and imaginary parts, and whether there are any."""

import math

import unisono as un

from .._arrays.exchange.numpys_elements import results
from .._arrays.ufunc import as_array, is_python_number
from .._loaded import loaded


def real(val):
    """Real part.

    Parameters
    ----------
    val : array_like

    Returns
    -------
    ndarray
        A view of a complex array, else the array.

    Raises
    ------
    TypeError
        If `val` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.real([1 + 2j]).tolist()
    [1.0]
    """
    return val.real if is_python_number(val) else as_array(val).real


def imag(val):
    """Imaginary part.

    Parameters
    ----------
    val : array_like

    Returns
    -------
    ndarray
        A view of a complex array, else zeros.

    Raises
    ------
    TypeError
        If `val` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.imag([1 + 2j]).tolist()
    [2.0]
    """
    return val.imag if is_python_number(val) else as_array(val).imag


def angle(z, deg=False):
    """Angle of complex numbers, in radians or degrees.

    Parameters
    ----------
    z : array_like
    deg : int or bool

    Returns
    -------
    ndarray of a floating-point dtype

    Raises
    ------
    TypeError
        If `z` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.angle([1, 1j], deg=True).tolist()
    [0.0, 90.0]
    """
    z = as_array(z)
    if z.dtype.kind == "c":
        made = un.arctan2(z.imag, z.real)
    else:
        z = z.astype("float64") if z.dtype == "bool" else z
        made = un.arctan2(un.zeros_like(z), z)
    return made * (180 / math.pi) if deg else made


def isreal(x):
    """Whether the imaginary part is zero.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray of bool

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.isreal([1, 1j]).tolist()
    [True, False]
    """
    return results(imag(x) == 0)


def iscomplex(x):
    """Whether the imaginary part is not zero.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray of bool

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.iscomplex([1, 1j]).tolist()
    [False, True]
    """
    made = imag(x)
    is_text = isinstance(made, str) or getattr(made, "dtype", un.float64).kind in "SUT"
    return results(made != ("" if is_text else 0))


def isrealobj(x):
    """Whether the dtype is not complex.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.isrealobj([1, 1j])
    False
    """
    return not iscomplexobj(x)


def iscomplexobj(x):
    """Whether the dtype is complex.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.iscomplexobj([1, 1j])
    True
    """
    numpys_dtype = getattr(loaded("numpy"), "dtype", un.dtype)
    if isinstance(x, (type, un.dtype, numpys_dtype)):
        return False
    kind = getattr(
        getattr(x, "dtype", None), "kind", None
    )  # also of operators, which are no arrays
    return (as_array(x).dtype.kind if kind is None else kind) == "c"


def real_if_close(a, tol=100):
    """Real part, if all imaginary parts are within `tol` (in units of the machine's precision, above 1) of zero.

    Parameters
    ----------
    a : array_like
    tol : float

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.real_if_close([1 + 1e-16j]).tolist()
    [1.0]
    """
    x = as_array(a)
    if x.dtype.kind != "c":
        return x
    limit = tol * un.finfo(x.real.dtype).eps if tol > 1 else tol
    return x.real if bool((abs(x.imag) < limit).all()) else x
