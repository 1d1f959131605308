"""Numerical functions that are composed of elementwise ones and reductions."""

import math

import unisono as un

from ._ufunc import as_array
from ._views import _axes, _axis, moveaxis


def _into(result, out):
    """The result, or its target after it was written there."""
    if out is None:
        return result
    target = out[0] if isinstance(out, tuple) else out
    return (
        un.add(result, 0, out=target, casting="same_kind")
        if result.dtype != "bool"
        else _assign(target, result)
    )


def _assign(target, result):
    target[...] = result
    return target


def _inexact(x):
    """`x` in a floating-point dtype."""
    x = as_array(x)
    return x if x.dtype.kind in "fc" else x.astype("float64")


_missing = object()


def clip(a, /, min=_missing, max=_missing, out=None, *, a_min=_missing, a_max=_missing, **options):
    """Elements limited to a range.

    Parameters
    ----------
    a : array_like
    min, max : array_like or None
        Limits, broadcast with `a`; None: no limit. Also as ``a_min`` and ``a_max``.
    out : ndarray, optional

    Returns
    -------
    ndarray
        In the dtype of `a` and the limits; NaN where any is NaN.

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.clip(un.arange(6), 1, 4).tolist()
    [1, 1, 2, 3, 4, 4]
    """
    limits = []
    for name, one, other in (("min", min, a_min), ("max", max, a_max)):
        if one is not _missing and other is not _missing:
            raise ValueError(f"clip: {name}= and a_{name}= are one limit; give it once")
        given = other if one is _missing else one
        limits.append(None if given is _missing else given)
    low, high = limits
    x = as_array(a)
    low, high = (_reachable(x, limit, lower) for limit, lower in ((low, True), (high, False)))
    if low is None and high is None:
        result = x.copy()
        return _into(result, out)
    if low is None:
        return un.minimum(x, high, out=out, **options)
    if high is None:
        return un.maximum(x, low, out=out, **options)
    return un.minimum(un.maximum(x, low), high, out=out, **options)


def _reachable(x, limit, lower):
    """A Python integer beyond the range of an integer dtype limits nothing, or everything."""
    if type(limit) is not int or x.dtype.kind not in "iu":
        return limit
    bits = 8 * x.dtype.itemsize
    lowest, highest = (
        (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if x.dtype.kind == "i" else (0, 2**bits - 1)
    )
    if lower:
        return None if limit < lowest else limit
    return None if limit > highest else limit


def round(a, decimals=0, out=None):
    """Round to a number of decimals; halves go to the even neighbour.

    Parameters
    ----------
    a : array_like
    decimals : int
        Digits to keep; negative ones before the point.
    out : ndarray, optional
        Written to and returned; of the shape of the result.

    Returns
    -------
    ndarray of the array's dtype

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.around([1.25, 17.0], 1).tolist()
    [1.2, 17.0]
    """
    x = as_array(a)
    decimals = int(decimals)
    if x.dtype.kind == "b":
        result = x.astype("float16" if hasattr(un, "float16") else "float64")
    elif x.dtype.kind == "c":
        result = round(x.real, decimals) + round(x.imag, decimals) * 1j
    elif x.dtype.kind in "iu":
        step = 10**-decimals if decimals < 0 else 1
        result = x.copy() if step == 1 else (un.rint(x / float(step)) * float(step)).astype(x.dtype)
    elif decimals == 0:
        return un.rint(x, out=out)
    else:
        scale = float(10 ** abs(decimals))
        result = un.rint(x * scale) / scale if decimals > 0 else un.rint(x / scale) * scale
    return _into(result, out)


around = round


def fix(x, out=None):
    """Round towards zero.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        Written to and returned; of the shape of the result.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.fix([1.7, -1.7]).tolist()
    [1.0, -1.0]
    """
    return un.trunc(x, out=out)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers (the largest of the dtype by default).

    Parameters
    ----------
    x : array_like
    copy : bool, optional
    nan : float
    posinf, neginf : float, optional

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.nan_to_num([un.nan, 1.0], nan=0.0).tolist()
    [0.0, 1.0]
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        parts = [nan_to_num(p, True, nan, posinf, neginf) for p in (x.real, x.imag)]
        result = (parts[0] + parts[1] * 1j).astype(x.dtype)
    elif x.dtype.kind != "f":
        return x.copy() if copy else x
    else:
        largest = {2: 65504.0, 4: 2.0**128 - 2.0**104, 8: 1.7976931348623157e308}[x.dtype.itemsize]
        high = largest if posinf is None else posinf
        low = -largest if neginf is None else neginf
        result = un.where(
            un.isnan(x), nan, un.where(x == un.inf, high, un.where(x == -un.inf, low, x))
        )
        result = result.astype(x.dtype, copy=False)
    if not copy and x.ndim:
        x[...] = result
        return x
    return result


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements agree within ``atol + rtol * abs(b)``.

    Parameters
    ----------
    a, b : array_like
    rtol : float
        Relative to `b`.
    atol : float
    equal_nan : bool
        Count NaN as equal to NaN.

    Returns
    -------
    ndarray of bool

    Raises
    ------
    ValueError
        Shapes that do not broadcast.

    Examples
    --------
    >>> import unisono as un
    >>> un.isclose([1.0, 2.0], [1.0, 2.1]).tolist()
    [True, False]
    """
    x, y = as_array(a), as_array(b)
    if y.dtype.kind not in "fc":
        y = y.astype("float64")
    close = un.less_equal(abs(x - y), atol + rtol * abs(y)) & un.isfinite(y) | (x == y)
    if equal_nan:
        close = close | (un.isnan(_inexact(x)) & un.isnan(y))
    return close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements agree within the tolerance of `isclose`.

    Parameters
    ----------
    a, b : array_like
    rtol : float
        Relative to `b`.
    atol : float
    equal_nan : bool
        Count NaN as equal to NaN.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        Shapes that do not broadcast.

    Examples
    --------
    >>> import unisono as un
    >>> un.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
    True
    """
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal.

    Parameters
    ----------
    a1, a2 : array_like
    equal_nan : bool
        Count NaN as equal to NaN.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.array_equal([1, 2], [1, 2])
    True
    """
    try:
        x, y = as_array(a1), as_array(a2)
    except (TypeError, ValueError):
        return False
    if tuple(x.shape) != tuple(y.shape):
        return False
    equal = x == y
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        equal = equal | (un.isnan(x) & un.isnan(y))
    return bool(equal.all())


def array_equiv(a1, a2):
    """Whether shapes broadcast and elements are equal.

    Parameters
    ----------
    a1, a2 : array_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.array_equiv([1, 1], 1)
    True
    """
    try:
        return bool((as_array(a1) == as_array(a2)).all())
    except (TypeError, ValueError):
        return False


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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.real([1 + 2j]).tolist()
    [1.0]
    """
    return as_array(val).real


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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.imag([1 + 2j]).tolist()
    [2.0]
    """
    return as_array(val).imag


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
        What is given is no array of numbers, nor makes one.

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
        made = un.arctan2(un.zeros_like(_inexact(z)), _inexact(z))
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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.isreal([1, 1j]).tolist()
    [True, False]
    """
    return imag(x) == 0


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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.iscomplex([1, 1j]).tolist()
    [False, True]
    """
    return imag(x) != 0


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
        What is given is no array of numbers, nor makes one.

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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.iscomplexobj([1, 1j])
    True
    """
    return as_array(x).dtype.kind == "c"


def isposinf(x, out=None):
    """Whether elements are positive infinity.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        Written to and returned; of the shape of the result.

    Returns
    -------
    ndarray of bool

    Raises
    ------
    TypeError
        A complex array.

    Examples
    --------
    >>> import unisono as un
    >>> un.isposinf([-un.inf, 1, un.inf]).tolist()
    [False, False, True]
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise TypeError("isposinf: not defined for complex dtypes, where it would be ambiguous")
    return un.equal(x, un.inf, out=out)


def isneginf(x, out=None):
    """Whether elements are negative infinity.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        Written to and returned; of the shape of the result.

    Returns
    -------
    ndarray of bool

    Raises
    ------
    TypeError
        A complex array.

    Examples
    --------
    >>> import unisono as un
    >>> un.isneginf([-un.inf, 1, un.inf]).tolist()
    [True, False, False]
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise TypeError("isneginf: not defined for complex dtypes, where it would be ambiguous")
    return un.equal(x, -un.inf, out=out)


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
        What is given is no array of numbers, nor makes one.

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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.sinc([0, 0.5]).round(6).tolist()
    [1.0, 0.63662]
    """
    x = _inexact(x)
    y = un.where(x == 0, 1.0, x) * math.pi
    return un.where(x == 0, 1.0, un.sin(y) / y).astype(x.dtype, copy=False)


# Chebyshev coefficients of exp(-x) I0(x) on [0, 8] and of exp(-x) sqrt(x) I0(x) beyond, from the Cephes library.
_I0_SMALL = (
    -4.41534164647933937950e-18, 3.33079451882223809783e-17, -2.43127984654795469359e-16, 1.71539128555513303061e-15,
    -1.16853328779934516808e-14, 7.67618549860493561688e-14, -4.85644678311192946090e-13, 2.95505266312963983461e-12,
    -1.72682629144155570723e-11, 9.67580903537323691224e-11, -5.18979560163526290666e-10, 2.65982372468238665035e-9,
    -1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7, 1.11738753912010371815e-6,
    -4.41673835845875056359e-6, 1.64484480707288970893e-5, -5.75419501008210370398e-5, 1.88502885095841655729e-4,
    -5.76375574538582365885e-4, 1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
    -2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2, 1.71620901522208775349e-1,
    -3.04682672343198398683e-1, 6.76795274409476084995e-1,
)  # fmt: skip
_I0_LARGE = (
    -7.23318048787475395456e-18, -4.83050448594418207126e-18, 4.46562142029675999901e-17, 3.46122286769746109310e-17,
    -2.82762398051658348494e-16, -3.42548561967721913462e-16, 1.77256013305652638360e-15, 3.81168066935262242075e-15,
    -9.55484669882830764870e-15, -4.15056934728722208663e-14, 1.54008621752140982691e-14, 3.85277838274214270114e-13,
    7.18012445138366623367e-13, -1.79417853150680611778e-12, -1.32158118404477131188e-11, -3.14991652796324136454e-11,
    1.18891471078464383424e-11, 4.94060238822496958910e-10, 3.39623202570838634515e-9, 2.26666899049817806459e-8,
    2.04891858946906374183e-7, 2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
    8.04490411014108831608e-1,
)  # fmt: skip


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
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.i0(0).item()
    1.0
    """
    x = as_array(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    x = abs(x.astype("float64"))
    small = un.minimum(x, 8.0)
    large = un.maximum(x, 8.0)
    return un.where(
        x <= 8,
        un.exp(small) * _chebyshev(small / 2 - 2, _I0_SMALL),
        un.exp(large) * _chebyshev(32 / large - 2, _I0_LARGE) / un.sqrt(large),
    )


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    """Differences along an axis brought into half a period, by adding whole periods.

    Parameters
    ----------
    p : array_like
        Coefficients, the highest first.
    discont : float, optional
    axis : int or tuple of int, optional
        All axes where it is None.
    period : float, optional

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.unwrap([0.0, 6.0]).round(6).tolist()
    [0.0, -0.283185]
    """
    p = as_array(p)
    dtype = (un.zeros(1, p.dtype) * period).dtype
    p = p.astype(dtype)
    k = _axis(axis, p.ndim, "unwrap")
    steps = un.diff(p, axis=k)
    discont = period / 2 if discont is None else discont
    whole = dtype.kind in "iu"
    half = period // 2 if whole else period / 2
    exact = whole and period % 2 == 0 or not whole
    low = -half
    wrapped = un.remainder(steps - low, period) + low
    if exact:
        wrapped = un.where((wrapped == low) & (steps > 0), half, wrapped)
    correction = un.where(abs(steps) < discont, 0, wrapped - steps)
    made = p.copy()
    rest = (slice(None),) * k + (slice(1, None),)
    made[rest] = p[rest] + un.add.accumulate(correction, k)
    return made


def diff(a, n=1, axis=-1, prepend=_missing, append=_missing):
    """Differences of neighbours along an axis, taken n times.

    Parameters
    ----------
    a : array_like
    n : int, optional
    axis : int or tuple of int, optional
        All axes where it is None.
    prepend : array_like, optional
        Joined in front, along the axis.
    append : array_like, optional
        Joined behind, along the axis.

    Returns
    -------
    ndarray, shorter by `n` along the axis

    Raises
    ------
    ValueError
        A negative `n`, or an array without axes.
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.diff([1, 4, 9]).tolist()
    [3, 5]
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = as_array(a)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    k = _axis(axis, x.ndim, "diff")
    parts = []
    for part in (prepend, x, append):
        if part is _missing:
            continue
        part = as_array(part)
        if part.ndim == 0:
            part = un.broadcast_to(part, tuple(1 if j == k else m for j, m in enumerate(x.shape)))
        parts.append(part)
    if n == 0:
        return a
    if len(parts) > 1:
        x = un.concatenate(parts, axis=k)
    before = (slice(None),) * k
    op = un.not_equal if x.dtype == "bool" else un.subtract
    for _ in range(n):
        x = op(x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbouring elements of the flattened array, with numbers before and after.

    Parameters
    ----------
    ary : array_like
    to_end, to_begin : array_like, optional

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.ediff1d([1, 4, 9], to_begin=0).tolist()
    [0, 3, 5]
    """
    x = as_array(ary).ravel()
    parts = [x[1:] - x[:-1]]
    for extra, place in ((to_begin, 0), (to_end, len(parts) + 1)):
        if extra is None:
            continue
        extra = as_array(extra)
        if not un.can_cast(extra.dtype, x.dtype, "same_kind"):
            name = "to_begin" if place == 0 else "to_end"
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        parts.insert(place, extra.ravel().astype(x.dtype))
    return un.concatenate(parts) if len(parts) > 1 else parts[0]


def gradient(f, *varargs, axis=None, edge_order=1):
    """Derivatives by central differences inside and one-sided ones at the ends.

    Parameters
    ----------
    f : array_like
    *varargs : number or one-dimensional array_like
        Spacing: one for all axes, or one for each; an array gives the coordinates along the axis.
    axis : int or tuple of ints, optional
    edge_order : 1 or 2
        Order of accuracy at the ends.

    Returns
    -------
    ndarray or tuple of ndarray
        One array for each axis.

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.gradient(un.asarray([1.0, 2, 4, 7])).tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    f = as_array(f)
    axes = tuple(range(f.ndim)) if axis is None else _axes(axis, f.ndim, "gradient")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    if len(varargs) == 1 and as_array(varargs[0]).ndim == 0:
        varargs = varargs * len(axes)
    elif len(varargs) == 1 and len(axes) != 1:
        raise TypeError("invalid number of arguments")
    spacings = varargs or (1.0,) * len(axes)
    f = _inexact(f)
    made = tuple(_derivative(f, k, h, edge_order) for k, h in zip(axes, spacings, strict=True))
    return made[0] if len(made) == 1 else made


def _derivative(f, axis, spacing, edge_order):
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
        )
    spacing = as_array(spacing)
    y = moveaxis(f, axis, 0)
    d = un.empty(y.shape, f.dtype)
    if spacing.ndim > 1:
        raise ValueError("distances must be either scalars or 1d")
    if spacing.ndim == 0:
        h = spacing.item()
        d[1:-1] = (y[2:] - y[:-2]) / (2.0 * h)
        if edge_order == 1:
            d[0], d[-1] = (y[1] - y[0]) / h, (y[-1] - y[-2]) / h
        else:
            d[0] = (-1.5 / h) * y[0] + (2.0 / h) * y[1] + (-0.5 / h) * y[2]
            d[-1] = (0.5 / h) * y[-3] + (-2.0 / h) * y[-2] + (1.5 / h) * y[-1]
        return moveaxis(d, 0, axis)
    if spacing.shape[0] != y.shape[0]:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    h = diff(spacing.astype("float64")).reshape((-1,) + (1,) * (y.ndim - 1))
    a, b = h[:-1], h[1:]
    d[1:-1] = -b / (a * (a + b)) * y[:-2] + (b - a) / (a * b) * y[1:-1] + a / (b * (a + b)) * y[2:]
    if edge_order == 1:
        d[0], d[-1] = (y[1] - y[0]) / h[0], (y[-1] - y[-2]) / h[-1]
    else:
        p, q = h[0], h[1]
        d[0] = (
            -(2 * p + q) / (p * (p + q)) * y[0]
            + (p + q) / (p * q) * y[1]
            - p / (q * (p + q)) * y[2]
        )
        p, q = h[-2], h[-1]
        d[-1] = (
            q / (p * (p + q)) * y[-3]
            - (q + p) / (p * q) * y[-2]
            + (2 * q + p) / (q * (p + q)) * y[-1]
        )
    return moveaxis(d, 0, axis)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y, x : array_like
    dx : float
        Between points.
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray, without the axis

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.trapezoid([1, 2, 3], dx=2).item()
    8.0
    """
    y = as_array(y)
    k = _axis(axis, y.ndim, "trapezoid")
    if x is None:
        steps = dx
    else:
        x = as_array(x)
        steps = diff(x, axis=0 if x.ndim == 1 else k)
        if x.ndim == 1:
            steps = steps.reshape(tuple(-1 if j == k else 1 for j in range(y.ndim)))
    before = (slice(None),) * k
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    return (steps * pairs / 2.0).sum(axis=k)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Values at `x` of the line through the points (xp, fp), whose xp increase.

    Parameters
    ----------
    x : array_like
    xp, fp : array_like, one-dimensional
    left, right : number, optional
        Values beyond the ends; those of the end points by default.
    period : number, optional
        Of the coordinates, which are then sorted; `left` and `right` do not count.

    Returns
    -------
    ndarray, the shape of `x`

    Raises
    ------
    ValueError
        `xp` and `fp` of different lengths, or without elements.

    Examples
    --------
    >>> import unisono as un
    >>> un.interp(1.5, [1, 2, 3], [10, 20, 30]).item()
    15.0
    """
    x, xp, fp = as_array(x).astype("float64"), as_array(xp).astype("float64"), _inexact(fp)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    if xp.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period = abs(period)
        x, xp = x % period, xp % period
        order = un.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = un.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = un.concatenate([fp[-1:], fp, fp[:1]])
        left = right = None
    n = xp.shape[0]
    low = un.clip(un.searchsorted(xp, x, side="right") - 1, 0, max(n - 2, 0))
    high = un.minimum(low + 1, n - 1)
    x0, y0, y1 = xp[low], fp[low], fp[high]
    slope = (y1 - y0) / un.where(high > low, xp[high] - x0, 1.0)
    made = un.where(x == x0, y0, un.where(x == xp[high], y1, slope * (x - x0) + y0))
    made = un.where(x < xp[0], fp[0] if left is None else left, made)
    made = un.where(x > xp[-1], fp[-1] if right is None else right, made)
    return un.where(un.isnan(x), x, made) if made.dtype.kind == "f" else made


def convolve(a, v, mode="full"):
    """Discrete convolution of two sequences: by products and sums of shifted slices.

    Parameters
    ----------
    a, v : array_like
    mode : str

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    ValueError
        An operand without elements or of several axes, or an unknown mode.

    Examples
    --------
    >>> import unisono as un
    >>> un.convolve([1, 2, 3], [1, 1]).tolist()
    [1, 3, 5, 3]
    """
    a, v = un.atleast_1d(as_array(a), as_array(v))
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    if a.shape[0] == 0 or v.shape[0] == 0:
        raise ValueError(f"{'a' if a.shape[0] == 0 else 'v'} cannot be empty")
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    return _slide(a, v[::-1], mode)


def correlate(a, v, mode="valid"):
    """Cross-correlation of two sequences; the second is conjugated.

    Parameters
    ----------
    a, v : array_like
    mode : str

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    ValueError
        An operand without elements or of several axes, or an unknown mode.

    Examples
    --------
    >>> import unisono as un
    >>> un.correlate([1, 2, 3], [0, 1, 0.5], "same").tolist()
    [2.0, 3.5, 3.0]
    """
    a, v = un.atleast_1d(as_array(a), as_array(v))
    if a.shape[0] == 0 or v.shape[0] == 0:
        raise ValueError(f"{'a' if a.shape[0] == 0 else 'v'} cannot be empty")
    v = v.conj()
    if v.shape[0] > a.shape[0]:
        return _slide(v, a, mode)[::-1].copy()
    return _slide(a, v, mode)


def _slide(a, v, mode):
    """sum_k a[i + k] v[k], i from 1 - len(v) on; len(v) <= len(a)."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    n, m = a.shape[0], v.shape[0]
    dtype = un.result_type(a.dtype, v.dtype)
    lead = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    count = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    padded = un.zeros(count + m - 1, dtype)
    width = min(n, count + m - 1 - lead)
    padded[lead : lead + width] = a[:width]
    if m <= 32:
        made = padded[:count] * v[0]
        for k in range(1, m):
            made = made + padded[k : k + count] * v[k]
        return made.astype(dtype, copy=False)
    from ._products import _view

    windows = _view(padded, (count, m), (1, 1))
    return un.matmul(windows, v.astype(dtype, copy=False))


def _window(M, f):
    if M < 1:
        return un.asarray([], dtype="float64")
    if M == 1:
        return un.ones(1)
    return f(un.arange(1 - M, M, 2).astype("float64"))


def bartlett(M):
    """Triangular window of M points.

    Parameters
    ----------
    M : int
        Number of points.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.bartlett(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _window(M, lambda n: un.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1)))


def blackman(M):
    """Blackman's window of M points.

    Parameters
    ----------
    M : int
        Number of points.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.blackman(3).round(3).tolist()
    [-0.0, 1.0, -0.0]
    """
    return _window(
        M,
        lambda n: (
            0.42 + 0.5 * un.cos(math.pi * n / (M - 1)) + 0.08 * un.cos(2.0 * math.pi * n / (M - 1))
        ),
    )


def hamming(M):
    """Hamming's window of M points.

    Parameters
    ----------
    M : int
        Number of points.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.hamming(3).round(3).tolist()
    [0.08, 1.0, 0.08]
    """
    return _window(M, lambda n: 0.54 + 0.46 * un.cos(math.pi * n / (M - 1)))


def hanning(M):
    """von Hann's window of M points.

    Parameters
    ----------
    M : int
        Number of points.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.hanning(3).round(3).tolist()
    [0.0, 1.0, 0.0]
    """
    return _window(M, lambda n: 0.5 + 0.5 * un.cos(math.pi * n / (M - 1)))


def kaiser(M, beta):
    """Kaiser's window of M points.

    Parameters
    ----------
    M : int
        Number of points.
    beta : float

    Returns
    -------
    ndarray of float64

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.kaiser(3, 14).round(6).tolist()
    [8e-06, 1.0, 8e-06]
    """
    if M == 1:
        return un.ones(1)
    n = un.arange(M).astype("float64")
    alpha = (M - 1) / 2.0
    return i0(beta * un.sqrt(1 - ((n - alpha) / alpha) ** 2.0)) / i0(float(beta))
