"""Counting: NumPy's bincount and histograms."""

import builtins
import math
import operator

import unisono

from .. import _engine
from .._arrays import fronts
from .._arrays.axes import as_array as _as
from .._arrays.axes import as_array_beside, flat


@_engine._FastPath
def bincount(x, /, weights=None, minlength=0):
    """Number of occurrences of each integer 0, 1, 2...

    Parameters
    ----------
    x : array_like of non-negative ints, 1-d
    weights : array_like, 1-d, optional
        Weight of each element; 1 by default.
    minlength : int
        Minimum length of the result.

    Returns
    -------
    ndarray of int64 (float64 with weights)

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.bincount([0, 1, 1, 3]).tolist()
    [1, 2, 0, 1]
    """
    x = _as(x)
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError(f"bincount: minlength must not be negative; got {minlength}")
    if x.ndim != 1:
        raise ValueError(f"bincount: expected a 1-d array; got shape {x.shape}")
    if x.size == 0:
        return unisono.zeros(minlength, "int64", device=x.device)
    if x.dtype.kind not in "biu":
        raise TypeError(
            f"bincount: cannot cast {x.dtype} to int64 by the rule 'safe'; convert with .astype"
        )
    x = x.astype("int64", copy=False)
    if int(x.min()) < 0:
        raise ValueError("bincount: elements must not be negative")
    bins = builtins.max(int(x.max()) + 1, minlength)
    if weights is not None:
        weights = as_array_beside(weights, x)
        if weights.shape != x.shape:
            raise ValueError(
                f"bincount: the weights and list don't have the same length; got {weights.shape} and {x.shape}"
            )
        if weights.dtype.kind == "c":
            raise TypeError("bincount: weights may not be complex")
        weights = weights.astype("float64", copy=False)
    return fronts.count_numbers(x, weights, bins)


# Bins.


def _outer_edges(x, range):
    """First and last edge: of `range`, or of the data."""
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError("histogram: max must be larger than min in range parameter")
        if not (math.isfinite(first) and math.isfinite(last)):
            raise ValueError(f"histogram: supplied range of [{first}, {last}] is not finite")
    elif x.size == 0:
        first, last = 0, 1
    else:
        first, last = x.min().item(), x.max().item()
        if not (math.isfinite(first) and math.isfinite(last)):
            raise ValueError(f"histogram: autodetected range of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _spread(x):
    return x.max().item() - x.min().item()


def _iqr_width(x):
    low, high = unisono.percentile(x, [25, 75]).tolist()
    return 2.0 * (high - low) / x.size ** (1.0 / 3.0)


def _sturges_width(x):
    return _spread(x) / (math.log2(x.size) + 1.0)


def _doane_width(x):
    if x.size <= 2:
        return 0.0
    sigma = float(unisono.std(x))
    if sigma <= 0:
        return 0.0
    scaled = (x - unisono.mean(x)) / sigma
    g1 = float(unisono.mean(scaled * scaled * scaled))
    sg1 = math.sqrt(6.0 * (x.size - 2) / ((x.size + 1.0) * (x.size + 3)))
    return _spread(x) / (1.0 + math.log2(x.size) + math.log2(1.0 + abs(g1) / sg1))


def _stone_width(x, range):
    n, spread = x.size, _spread(x)
    if n <= 1 or spread == 0:
        return 0

    def loss(bins):
        p = (histogram(x, bins=bins, range=range)[0] / n).tolist()
        return (2 - (n + 1) * builtins.sum(v * v for v in p)) / (spread / bins)

    bound = builtins.max(100, int(math.sqrt(n)))
    best = builtins.min(builtins.range(1, bound + 1), key=loss)
    return spread / best


def _auto_width(x):
    # Half of the square root's width bounds the number of bins where the quartiles are close.
    return builtins.min(
        builtins.max(_iqr_width(x), _spread(x) / math.sqrt(x.size) / 2), _sturges_width(x)
    )


_widths = {
    "sqrt": lambda x: _spread(x) / math.sqrt(x.size),
    "sturges": _sturges_width,
    "rice": lambda x: _spread(x) / (2.0 * x.size ** (1.0 / 3)),
    "scott": lambda x: (24.0 * math.pi**0.5 / x.size) ** (1.0 / 3.0) * float(unisono.std(x)),
    "doane": _doane_width,
    "fd": _iqr_width,
    "auto": _auto_width,
}


def _estimated_bins(name, x, range, weights):
    if name not in _widths and name != "stone":
        raise ValueError(f"histogram: {name!r} is not a valid estimator for `bins`")
    if weights is not None:
        raise TypeError(
            "histogram: automated estimation of the number of bins is not supported for weighted data"
        )
    first, last = _outer_edges(x, range)
    if range is not None:
        x = x[(x >= first) & (x <= last)]
    if x.size == 0:
        return first, last, 1
    width = _stone_width(x, (first, last)) if name == "stone" else _widths[name](x)
    if not width:
        return first, last, 1
    if x.dtype.kind in "iu" and width < 1:
        width = 1
    return first, last, math.ceil((last - first) / width)


def _bin_edges(x, bins, range, weights):
    """The edges, and whether they are evenly spaced."""
    if isinstance(bins, str):
        first, last, count = _estimated_bins(bins, x, range, weights)
    elif _as(bins).ndim == 0:
        try:
            count = operator.index(bins if isinstance(bins, int) else _as(bins).item())
        except TypeError:
            raise TypeError("histogram: `bins` must be an integer, a string, or an array") from None
        if count < 1:
            raise ValueError("histogram: `bins` must be positive, when an integer")
        first, last = _outer_edges(x, range)
    elif _as(bins).ndim == 1:
        edges = as_array_beside(bins, x)
        if bool((edges[:-1] > edges[1:]).any()):
            raise ValueError("histogram: `bins` must increase monotonically, when an array")
        return edges, False
    else:
        raise ValueError("histogram: `bins` must be 1d, when an array")
    dtype = x.dtype if x.dtype.kind == "f" else "float64"
    if range is None and x.dtype.kind == "f" and x.size:
        # NumPy's bits: edges of narrow floats are computed in their own dtype.
        first, last = (unisono.full((), v, dtype) for v in (first, last))
    edges = unisono.linspace(first, last, count + 1, dtype=dtype)
    if bool((edges[:-1] >= edges[1:]).any()):
        raise ValueError(
            f"histogram: too many bins for the range of the data; it has no {count} finite-sized bins"
        )
    return edges.to_device(x.device), True


def _data(x, weights):
    x = _as(x)
    if x.dtype.kind == "b":
        x = x.astype("uint8")
    if weights is not None:
        weights = as_array_beside(weights, x)
        if weights.shape != x.shape:
            raise ValueError(
                f"histogram: weights should have the same shape as a; got {weights.shape} and {x.shape}"
            )
        weights = flat(weights)
    return flat(x), weights


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """Edges of the bins that `histogram` uses; see there for the parameters.

    Parameters
    ----------
    a : array_like
    bins : int or array_like
    range : tuple, optional
    weights : array_like, optional

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` or `bins` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.histogram_bin_edges([0, 1, 4], bins=2).tolist()
    [0.0, 2.0, 4.0]
    """
    a, weights = _data(a, weights)
    return _bin_edges(a, bins, range, weights)[0]


def histogram(a, bins=10, range=None, density=None, weights=None):
    """Number of elements in each bin; the last bin includes its right edge.

    Parameters
    ----------
    a : array_like
    bins : int, 1-d array_like or str
        Number of bins of one width, edges, or how to choose the width: 'auto', 'fd', 'doane', 'scott',
        'stone', 'rice', 'sturges' or 'sqrt'.
    range : (number, number), optional
        First and last edge; by default the minimum and maximum of the data.
    density : bool
        Normalize the histogram so that its integral is 1.
    weights : array_like, optional
        Weight of each element; 1 by default.

    Returns
    -------
    counts, edges : ndarray

    Raises
    ------
    TypeError
        If `a` or `bins` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> counts, edges = un.histogram([1, 2, 1, 4], bins=3)
    >>> counts.tolist(), edges.tolist()
    ([2, 1, 1], [1.0, 2.0, 3.0, 4.0])
    """
    a, weights = _data(a, weights)
    edges, even = _bin_edges(a, bins, range, weights)
    if edges.size < 2:
        counts = unisono.zeros(0, "int64", device=a.device)
    else:
        if getattr(a.device, "has_float64", True) or a.dtype.kind != "f" or weights is not None:
            a, edges_compared = a.astype("float64", copy=False), edges.astype("float64", copy=False)
        else:  # comparisons alone, which are exact in float32
            edges_compared, even = edges, False
        counts = _counts(a, edges_compared, weights, even)
    if density:
        width = (edges[1:] - edges[:-1]).astype("float64")
        return counts / width / counts.sum(), edges
    return counts, edges


def _counts(x, edges, weights, even):
    if weights is None:
        return _engine._count_in_bins(x, edges, None, even)
    if weights.dtype.kind == "c":
        made = unisono.empty(edges.size - 1, weights.dtype, device=x.device)
        made.real = _counts(x, edges, weights.real, even)
        made.imag = _counts(x, edges, weights.imag, even)
        return made
    made = _engine._count_in_bins(x, edges, weights.astype("float64", copy=False), even)
    return made.astype(weights.dtype, copy=False)


def _sample(sample):
    """A sample as one array per dimension, float64."""
    given = sample if isinstance(sample, (list, tuple)) else _as(sample)
    if isinstance(given, _engine._Array):
        if given.ndim == 1:
            given = given[:, None]
        if given.ndim != 2:
            raise ValueError(
                f"histogramdd: the sample must be an (N, D) array; got shape {given.shape}"
            )
        return [given[:, k] for k in range(given.shape[1])]
    columns = [flat(as_array_beside(c, *given)) for c in given]
    if len({c.size for c in columns}) > 1:
        raise ValueError("histogramdd: all dimensions need the same number of samples")
    return columns


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Histogram in several dimensions.

    Parameters
    ----------
    sample : (N, D) array_like, or a sequence of D arrays of N coordinates
    bins : int, or a sequence of D ints or arrays of edges
    range : sequence of D pairs (or None), optional
    density : bool
    weights : (N,) array_like, optional

    Returns
    -------
    counts : ndarray of float64 with D axes
    edges : list of D ndarrays

    Raises
    ------
    TypeError
        If `sample` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> counts, edges = un.histogramdd(un.array([[0, 1], [1, 0], [1, 1]]), bins=2)
    >>> counts.tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    columns = _sample(sample)
    d = len(columns)
    if isinstance(bins, int):
        bins = [bins] * d
    elif len(bins) != d:
        raise ValueError(
            f"histogramdd: the dimension of bins must be equal to that of the sample; got {len(bins)}, expected {d}"
        )
    if range is None:
        range = (None,) * d
    elif len(range) != d:
        raise ValueError(
            f"histogramdd: range must have one entry per dimension; got {len(range)}, expected {d}"
        )
    edges = [_edges_along(c, b, r) for c, b, r in zip(columns, bins, range, strict=True)]
    shape = tuple(e.size - 1 for e in edges)
    place, inside = 0, None
    for column, e, n in zip(columns, edges, shape, strict=True):
        bin_of = unisono.searchsorted(e, column, side="right")
        bin_of = bin_of - (column == e[-1]).astype("int64") - 1
        fits = (bin_of >= 0) & (bin_of < n)
        inside = fits if inside is None else inside & fits
        place = place * n + bin_of
    total = math.prod(shape)
    place = unisono.where(inside, place, total)
    counts = bincount(place, weights, total + 1)[:total].astype("float64").reshape(shape)
    if density:
        for k, e in enumerate(edges):
            width = (e[1:] - e[:-1]).astype("float64")
            counts = counts / width.reshape(tuple(-1 if j == k else 1 for j in builtins.range(d)))
        counts = counts / (bincount(place, weights, total + 1)[:total].sum())
    return counts, edges


def _edges_along(column, bins, range):
    b = _as(bins) if isinstance(bins, int) else as_array_beside(bins, column)
    if b.ndim == 0:
        if int(b) < 1:
            raise ValueError("histogramdd: `bins` must be positive, when an integer")
        first, last = _outer_edges(column, range)
        if range is None and column.dtype.kind == "f":
            first, last = (unisono.asarray(v, column.dtype) for v in (first, last))
        return unisono.linspace(first, last, int(b) + 1).to_device(column.device)
    if b.ndim == 1:
        if bool((b[:-1] > b[1:]).any()):
            raise ValueError("histogramdd: `bins` must be monotonically increasing, when an array")
        return b
    raise ValueError("histogramdd: `bins` must be a scalar or 1d array")


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Histogram in two dimensions; `bins` is one for both or a pair.

    Parameters
    ----------
    x, y : array_like
    bins : int or array_like
    range : tuple, optional
    density : bool
    weights : array_like, optional

    Returns
    -------
    counts : ndarray of float64, shape (nx, ny)
    xedges, yedges : ndarray

    Raises
    ------
    TypeError
        If `x`, `y` or `bins` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.histogram2d([0, 1, 1], [1, 0, 1], bins=2)[0].tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    if len(_as(x)) != len(_as(y)):
        raise ValueError("histogram2d: x and y must have the same length.")
    try:
        count = len(bins)
    except TypeError:
        count = 1
    if count not in (1, 2):
        bins = [as_array_beside(bins, x)] * 2
    elif count == 1 and not isinstance(bins, int):
        bins = [bins[0], bins[0]]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
