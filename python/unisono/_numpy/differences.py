"""Differences, derivatives, integrals and interpolation along axes."""

import math

import unisono as un

from .. import _engine
from .._arrays.axes import as_array, as_array_beside
from .._arrays.transposes import moveaxis
from .._arrays.views import _axes, _axis
from .convolution import _inexact, _missing


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    """Differences along an axis brought into half a period, by adding whole periods.

    Parameters
    ----------
    p : array_like
        Values, usually angles in radians.
    discont : float, optional
        Largest difference that is kept; half a period by default.
    axis : int, optional
        The last by default.
    period : float, optional

    Returns
    -------
    ndarray

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.unwrap([0.0, 6.0]).round(6).tolist()
    [0.0, -0.283185]
    """
    p = as_array(p)
    dtype = (un.zeros(1, p.dtype) * period).dtype
    k = _axis(axis, p.ndim, "unwrap")
    steps = un.diff(p, axis=k)  # of unsigned integers they wrap, as NumPy's
    p = p.astype(dtype)
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
    axis : int, optional
        The last by default.
    prepend : array_like, optional
        Values to prepend along the axis.
    append : array_like, optional
        Values to append along the axis.

    Returns
    -------
    ndarray, shorter by `n` along the axis

    Raises
    ------
    ValueError
        If `n` is negative, or the array is 0-dimensional.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.diff([1, 4, 9]).tolist()
    [3, 5]
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = as_array(a)
    if n == 0:
        return x
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    k = _axis(axis, x.ndim, "diff")
    parts = []
    for part in (prepend, x, append):
        if part is _missing:
            continue
        part = as_array_beside(part, x)
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
        If `ary` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.ediff1d([1, 4, 9], to_begin=0).tolist()
    [0, 3, 5]
    """
    x = as_array_beside(ary, to_begin, to_end).ravel()
    parts = [x[1:] - x[:-1]]
    for extra, place in ((to_begin, 0), (to_end, len(parts) + 1)):
        if extra is None:
            continue
        extra = as_array_beside(extra, x)
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
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.gradient(un.asarray([1.0, 2, 4, 7])).tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    f = as_array(f)
    if not all(isinstance(as_array(x), _engine._Array) for x in (f, *varargs)):
        raise TypeError("gradient: dates and objects are NumPy's to compute with")
    if f.dtype == "bool":
        raise TypeError("gradient: bools cannot be subtracted; convert with .astype(float)")
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
    h = _steps(spacing, f, axis)
    y = moveaxis(f, axis, 0)
    made = un.empty(f.shape, f.dtype, device=f.device)
    d = moveaxis(made, axis, 0)
    if un.ndim(h) == 0:
        d[1:-1] = (y[2:] - y[:-2]) / (2.0 * h)
        if edge_order == 1:
            d[0], d[-1] = (y[1] - y[0]) / h, (y[-1] - y[-2]) / h
        else:
            d[0] = (-1.5 / h) * y[0] + (2.0 / h) * y[1] + (-0.5 / h) * y[2]
            d[-1] = (0.5 / h) * y[-3] + (-2.0 / h) * y[-2] + (1.5 / h) * y[-1]
        return made
    a, b = (x.reshape((-1,) + (1,) * (y.ndim - 1)) for x in (h[:-1], h[1:]))
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
    return made


def _steps(spacing, f, axis):
    """Distances between the n points of an axis: one number where all are equal, as NumPy takes them."""
    if un.ndim(spacing) == 0:
        return spacing
    places, n = as_array_beside(spacing, f), f.shape[axis]
    if places.ndim > 1:
        raise ValueError("distances must be either scalars or 1d")
    if places.shape[0] != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    steps = diff(places.astype("float64") if places.dtype.kind in "iu" else places)
    return steps[0] if (steps == steps[0]).all() else steps


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y, x : array_like
    dx : float
        Between points.
    axis : int, optional
        The last by default.

    Returns
    -------
    ndarray, without the axis

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

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
        x = as_array_beside(x, y)
        steps = diff(x, axis=0 if x.ndim == 1 else k)
        if x.ndim == 1:
            steps = steps.reshape(tuple(-1 if j == k else 1 for j in range(y.ndim)))
    before = (slice(None),) * k
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    return (steps * pairs / 2.0).sum(axis=k)


def _on_line(slope, after, before, y0, y1):
    """Points of the lines between neighbours; where infinities give none, from the right, or what both ends are."""
    made = slope * after + y0
    again = slope * before + y1
    again = un.where((again != again) & (y0 == y1), y0, again)
    return un.where(made != made, again, made)


@_engine._FastPath
def interp(x, xp, fp, left=None, right=None, period=None):
    """Values at `x` of the line through the points (xp, fp), whose xp increase.

    Parameters
    ----------
    x : array_like
    xp, fp : array_like, one-dimensional
    left, right : number, optional
        Values returned beyond the ends; by default those of the end points.
    period : number, optional
        Period of the coordinates, which are then sorted; `left` and `right` are ignored.

    Returns
    -------
    ndarray, the shape of `x`

    Raises
    ------
    ValueError
        If `xp` and `fp` have different lengths, or are empty.

    Examples
    --------
    >>> import unisono as un
    >>> un.interp(1.5, [1, 2, 3], [10, 20, 30]).item()
    15.0
    """
    x = as_array_beside(x, xp, fp)
    xp, fp = as_array_beside(xp, x, fp), as_array_beside(fp, x, xp)
    fp = fp.astype("complex128" if fp.dtype.kind == "c" else "float64")
    if "c" in (x.dtype.kind, xp.dtype.kind):
        raise TypeError("interp: x and xp must be real; take .real first")
    x, xp = x.astype("float64"), xp.astype("float64")
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
    if fp.dtype.kind == "c":
        sides = [None if v is None else as_array_beside(v, fp) for v in (left, right)]
        real = interp(x, xp, un.real(fp), *(None if v is None else un.real(v) for v in sides))
        imag = interp(x, xp, un.imag(fp), *(None if v is None else un.imag(v) for v in sides))
        imag = un.where(un.isnan(x), 0.0, imag)
        return un.stack([real, imag], -1).view(fp.dtype).reshape(x.shape)
    n = xp.shape[0]
    low = un.clip(un.searchsorted(xp, x, side="right") - 1, 0, max(n - 2, 0))
    high = un.minimum(low + 1, n - 1)
    x0, y0, y1 = xp[low], fp[low], fp[high]
    slope = (y1 - y0) / un.where(high > low, xp[high] - x0, 1.0)
    made = _on_line(slope, x - x0, x - xp[high], y0, y1)
    made = un.where(x == x0, y0, un.where(x == xp[high], y1, made))
    made = un.where(x < xp[0], fp[0] if left is None else left, made)
    made = un.where(x > xp[-1], fp[-1] if right is None else right, made)
    return made if n == 1 else un.where(un.isnan(x), x, made)
