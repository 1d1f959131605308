"""Medians and quantiles: lanes are sorted, then two neighbours of a virtual index are joined.

The methods are those of Hyndman and Fan, "Sample quantiles in statistical packages", 1996, and NumPy's.
"""

import math

import unisono

from .. import _engine
from .._arrays.axes import as_array as _as
from .._arrays.axes import as_array_beside, axes_last, axes_tuple, flat, store
from .nan import warn_where


def _is_inexact(dtype):
    return dtype.kind in "fc"


def lanes_of(x, axis, what):
    """The reduced axes joined and last; and the shapes without and with kept axes."""
    axes = axes_tuple(axis, x.ndim, what)
    if axis is None:
        lanes = flat(x)
    else:
        lanes = axes_last(x, axes) if axes != (x.ndim - 1,) else x
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    reduced = tuple(n for k, n in enumerate(x.shape) if k not in axes)
    return lanes, reduced, kept


def sorted_lanes(x, axis, what):
    """As `lanes_of`, sorted."""
    lanes, reduced, kept = lanes_of(x, axis, what)
    return _engine._sort(lanes, lanes.ndim - 1, False), reduced, kept


def _middle(lanes, n):
    """Elements n // 2 - 1 and n // 2 of the sorted lanes, and one that is NaN if any of the lane is."""
    if n < _long_lane or lanes.dtype.kind == "c":
        lanes = _engine._sort(lanes, lanes.ndim - 1, False)
        return lanes[..., (n - 1) // 2], lanes[..., n // 2], lanes[..., -1]
    lanes = _engine._partition(lanes, lanes.ndim - 1, n // 2, False)
    return lanes[..., : n // 2].max(axis=-1), lanes[..., n // 2], lanes[..., n // 2 :].max(axis=-1)


_long_lane = 1 << 14  # from here on selecting is faster than sorting


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """Middle of the sorted elements over `axis`; the mean of the two middle ones where their number is even.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of ints, optional
    out : ndarray, optional
    overwrite_input : bool
        Accepted for compatibility; the input is never changed.
    keepdims : bool

    Returns
    -------
    ndarray
        NaN where any element is NaN; float64 for integers.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> float(un.median([1, 7, 3, 4]))
    3.5
    """
    a = _as(a)
    lanes, reduced, kept = lanes_of(a, axis, "median")
    n = lanes.shape[-1]
    if n == 0:
        made = unisono.mean(lanes, -1)  # NaN, with NumPy's warning
    else:
        low, high, top = _middle(lanes, n)
        if not _is_inexact(a.dtype):
            low, high = low.astype("float64"), high.astype("float64")
        made = (low + high) / 2 if n % 2 == 0 else high
        if _is_inexact(a.dtype):
            made = unisono.where(top != top, top, made)
    return store("median", made.reshape(kept) if keepdims else made, out)


def _virtual_index(method, n, q):
    """Virtual index of quantile q in n sorted elements, and the weight of the upper neighbour."""
    whole = (n - 1) * q
    if method == "linear":
        return whole, None
    if method in ("lower", "higher", "nearest", "midpoint"):
        rounds = {"lower": unisono.floor, "higher": unisono.ceil, "nearest": unisono.rint}
        if method == "midpoint":
            middle = 0.5 * (unisono.floor(whole) + unisono.ceil(whole))
            return middle, lambda gamma, index: unisono.where(index % 1 == 0, 0.0, 0.5)
        return rounds[method](whole), "whole"
    if method in ("inverted_cdf", "closest_observation"):
        index = n * q - 1 if method == "inverted_cdf" else n * q - 1 - 0.5
        lower = unisono.floor(index)
        exact = index == lower
        if method == "closest_observation":
            exact = exact & (lower % 2 == 1)
        return unisono.maximum(unisono.where(exact, lower, lower + 1), 0.0), "whole"
    if method == "averaged_inverted_cdf":
        return n * q - 1, lambda gamma, index: unisono.where(gamma == 0, 0.5, 1.0)
    alpha, beta = _plotting[method]
    return n * q + (alpha + q * (1 - alpha - beta)) - 1, None


_plotting = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
_methods = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear "
    "median_unbiased normal_unbiased lower higher midpoint nearest"
).split()


def _pick(lanes, index):
    """Elements of each sorted lane at an index per quantile (first axis) and lane."""
    if index.ndim == 1:  # the same for all lanes
        moved = lanes.transpose((lanes.ndim - 1, *range(lanes.ndim - 1)))
        return moved[index]
    last = index.transpose((*range(1, index.ndim), 0))
    return unisono.take_along_axis(lanes, last, -1).transpose(
        (lanes.ndim - 1, *range(lanes.ndim - 1))
    )


def _join(lower, upper, gamma):
    """NumPy's interpolation, from the nearer end."""
    difference = upper - lower
    made = unisono.where(gamma >= 0.5, upper - difference * (1 - gamma), lower + difference * gamma)
    return unisono.where(difference == 0, lower, made)


def _has_float64(x):
    return getattr(x.device, "has_float64", True)


def _beside(x, lanes):
    """What was found on the host, if it had to be."""
    return x if _has_float64(lanes) else x.to_device(lanes.device)


def quantiles_of(lanes, q, method, count=None, weak=False):
    """Quantiles q (1-d) of sorted lanes; `count`, an array, tells how many elements of each lane count."""
    n = lanes.shape[-1]
    if method not in _methods:
        raise ValueError(
            f"quantile: {method!r} is not a valid method; use one of {', '.join(_methods)}"
        )
    if count is not None:
        q = q.reshape((-1,) + (1,) * count.ndim)
        n = count.astype(q.dtype)
    index, fix = _virtual_index(method, n, q)
    top = n - 1 if count is None else unisono.maximum(n - 1, 0.0)
    if fix == "whole":
        whole = unisono.minimum(index, top).astype("int64")
        return _pick(lanes, _beside(whole, lanes))
    lower = unisono.floor(index)
    gamma = index - lower if fix is None else fix(index - lower, index)
    upper = lower + 1
    above, below = index >= top, index < 0
    lower = unisono.where(above, top, unisono.where(below, 0.0, lower)).astype("int64")
    upper = unisono.where(above, top, unisono.where(below, 0.0, upper)).astype("int64")
    if lanes.dtype == "bool":
        raise TypeError(
            "quantile: bools cannot be subtracted; choose a method without interpolation"
        )
    low, high = _pick(lanes, _beside(lower, lanes)), _pick(lanes, _beside(upper, lanes))
    kind = unisono.promote_types(low.dtype, q.dtype)
    if weak and low.dtype.kind == "f":
        kind = low.dtype
    gamma = _beside(gamma.astype(kind if weak else q.dtype, copy=False), lanes)
    low, high = low.astype(kind, copy=False), high.astype(kind, copy=False)
    if count is None:
        gamma = gamma.reshape((-1,) + (1,) * (low.ndim - 1))
    return _join(low, high, gamma)


def _checked_quantiles(q, what, x, scale=None, on_host=False):
    """The quantiles as a 1-d array of floats beside `x`, or on the host, their shape, and whether results keep its dtype."""
    weak = type(q) in (int, float)
    q = unisono.asarray(q, device="cpu") if on_host and weak else as_array_beside(q, x)
    weak = weak or q.dtype is x.dtype
    if q.dtype.kind not in "biuf":
        raise TypeError(f"{what}: quantiles must be real numbers; got dtype {q.dtype}")
    if q.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    shape = q.shape
    q = q.reshape(q.size)
    if scale:
        q = q / scale
    if q.dtype.kind != "f":
        q = q.astype("float64")
    if not all(0 <= v <= 1 for v in q.tolist()):
        limits = "[0, 100]" if scale else "[0, 1]"
        name = "Percentiles" if scale else "Quantiles"
        raise ValueError(f"{what}: {name} must be in the range {limits}")
    return q, shape, weak


def _quantile(what, x, q, scale, axis, out, method, keepdims, weights):
    x = as_array_beside(x, q)
    if x.dtype.kind == "c":
        raise TypeError(f"{what}: x must be an array of real numbers")
    if method == "linear" and not scale and _as(q).dtype.kind in "iu":
        method = "lower"  # integers name elements
    # Where the device has no float64, places between its elements are found on the host.
    on_host = weights is None and x.dtype.kind == "f" and not _has_float64(x)
    q, shape, weak = _checked_quantiles(q, what, x, scale, on_host)
    if weights is not None:
        made, reduced, kept = _weighted(what, x, q, axis, method, weights)
    else:
        lanes, reduced, kept = sorted_lanes(x, axis, what)
        if lanes.shape[-1] == 0:
            raise IndexError(f"{what}: no quantile of an empty axis; got shape {x.shape}")
        made = quantiles_of(lanes, q, method, weak=weak)
        if x.dtype.kind == "f":
            last = lanes[..., -1]
            made = unisono.where(last != last, last, made)
    return store(what, made.reshape(shape + (kept if keepdims else reduced)), out, broader=True)


def _weighted(what, x, q, axis, method, weights):
    """Weighted inverted_cdf: the first element whose share of the summed weights reaches the quantile."""
    if method != "inverted_cdf":
        raise ValueError(f"{what}: only method 'inverted_cdf' supports weights; got {method!r}")
    from .covariance import _weights_like

    weights = _weights_like(x, _as(weights), axis)
    if bool((weights < 0).any()):
        raise ValueError("Weights must be non-negative.")
    axes = axes_tuple(axis, x.ndim, what)
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    reduced = tuple(n for k, n in enumerate(x.shape) if k not in axes)
    lanes, weights = axes_last(x, axes), axes_last(weights, axes)
    order = _engine._argsort(lanes, lanes.ndim - 1, False)
    lanes = unisono.take_along_axis(lanes, order, -1)
    share = _engine._scan(
        "add", unisono.take_along_axis(weights, order, -1), lanes.ndim - 1, unisono.float64
    )
    share = share / share[..., -1:]
    if bool((share[..., -1] != share[..., -1]).any()):
        raise ValueError("Weights included NaN, inf or were all zero.")
    share = unisono.where(share == 0, -1.0, share)
    made = []
    for v in q.tolist():
        index = unisono.minimum((share < v).astype("int64").sum(-1), lanes.shape[-1] - 1)
        made.append(unisono.take_along_axis(lanes, index[..., None], -1)[..., 0])
    made = unisono.stack(made)
    if x.dtype.kind == "f":
        last = lanes[..., -1]
        made = unisono.where(last != last, last, made)
    return made, reduced, kept


def quantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """Quantiles of the elements over `axis`.

    Parameters
    ----------
    a : array_like of real numbers
    q : array_like of numbers in [0, 1]
    axis : int or tuple of ints, optional
    out : ndarray, optional
    overwrite_input : bool
        Accepted for compatibility; the input is never changed.
    method : str
        One of NumPy's thirteen methods; 'linear' by default.
    keepdims : bool
    weights : array_like, optional
        Weights of the elements, for ``method="inverted_cdf"`` only.

    Returns
    -------
    ndarray
        The axes of `q` come first. NaN where any element is NaN.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.quantile([1.0, 2.0, 3.0, 4.0], [0.5, 1.0]).tolist()
    [2.5, 4.0]
    """
    return _quantile("quantile", a, q, None, axis, out, method, keepdims, weights)


def percentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """Percentiles of the elements over `axis`, see `quantile`.

    Parameters
    ----------
    a : array_like
    q : array_like
        Which of them; fractions, or percentages.
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    overwrite_input : bool
        Accepted for compatibility; the input is never changed.
    method : str
        Interpolation method, as in `quantile`.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    weights : array_like, optional

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
    >>> float(un.percentile([1.0, 2.0, 3.0, 5.0], 50))
    2.5
    """
    return _quantile("percentile", a, q, 100, axis, out, method, keepdims, weights)


# Those that leave NaN out.


def _nan_quantile(what, x, q, scale, axis, out, method, keepdims, weights):
    x = as_array_beside(x, q)
    if x.size == 0 and x.dtype.kind != "c":
        return unisono.nanmean(x, axis, None, out, keepdims)  # NaN, with NumPy's warning
    if x.dtype.kind != "f":
        return _quantile(what, x, q, scale, axis, out, method, keepdims, weights)
    if method == "linear" and not scale and _as(q).dtype.kind in "iu":
        method = "lower"  # integers name elements
    if weights is not None:
        weights = unisono.broadcast_to(_as(weights), x.shape)
        weights, x = unisono.where(x != x, 0.0, weights), unisono.where(x != x, math.inf, x)
        return _quantile(what, x, q, scale, axis, out, method, keepdims, weights)
    q, shape, weak = _checked_quantiles(q, what, x, scale)
    lanes, reduced, kept = sorted_lanes(x, axis, what)
    count = (lanes == lanes).sum(-1)
    warn_where(count == 0, "All-NaN slice encountered")
    made = quantiles_of(lanes, q, method, count, weak)
    made = unisono.where(count == 0, math.nan, made)
    return store(what, made.reshape(shape + (kept if keepdims else reduced)), out, broader=True)


def nanquantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """Quantiles over `axis`, ignoring NaN; NaN if no element is left.

    Parameters
    ----------
    a : array_like
    q : array_like
        Which of them; fractions, or percentages.
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    overwrite_input : bool
        Accepted for compatibility; the input is never changed.
    method : str
        Interpolation method, as in `quantile`.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    weights : array_like, optional

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If a fraction is outside of [0, 1].
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.nanquantile([1, un.nan, 3], 0.5).item()
    2.0
    """
    return _nan_quantile("nanquantile", a, q, None, axis, out, method, keepdims, weights)


def nanpercentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """Percentiles over `axis`, ignoring NaN; NaN if no element is left.

    Parameters
    ----------
    a : array_like
    q : array_like
        Which of them; fractions, or percentages.
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    overwrite_input : bool
        Accepted for compatibility; the input is never changed.
    method : str
        Interpolation method, as in `quantile`.
    keepdims : bool
        Keep the reduced axes, with extent 1.
    weights : array_like, optional

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If a percentage is outside of [0, 100].
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.nanpercentile([1, un.nan, 3], 50).item()
    2.0
    """
    return _nan_quantile("nanpercentile", a, q, 100, axis, out, method, keepdims, weights)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """Median over `axis`, ignoring NaN; NaN if no element is left.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        None, the default, means all axes.
    out : ndarray, optional
        Array into which the result is written; it must have the shape of the result.
    overwrite_input : bool
        Accepted for compatibility; the input is never changed.
    keepdims : bool
        Keep the reduced axes, with extent 1.

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
    >>> float(un.nanmedian([1.0, un.nan, 3.0]))
    2.0
    """
    a = _as(a)
    if a.size == 0:
        return unisono.nanmean(a, axis, None, out, keepdims)  # NaN, with NumPy's warning
    if a.dtype.kind not in "fc":
        return median(a, axis, out, overwrite_input, keepdims)
    lanes, reduced, kept = sorted_lanes(a, axis, "nanmedian")
    count = (lanes == lanes).sum(-1)
    warn_where(count == 0, "All-NaN slice encountered", 1)
    half = unisono.maximum(count - 1, 0)
    pair = [
        unisono.take_along_axis(lanes, k[..., None], -1)[..., 0]
        for k in (half // 2, (half + 1) // 2)
    ]
    made = (pair[0] + pair[1]) / 2
    made = unisono.where(pair[0] == pair[1], pair[0], made)
    return store("nanmedian", made.reshape(kept) if keepdims else made, out)
