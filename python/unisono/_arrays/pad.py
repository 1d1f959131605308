"""Pad arrays: each axis in turn is continued by a rule, and corners by what the axes before made."""

import operator

import unisono as un

from .axes import as_array

_options = {
    "constant": {"constant_values": 0},
    "edge": {},
    "empty": {},
    "linear_ramp": {"end_values": 0},
    "maximum": {"stat_length": None},
    "mean": {"stat_length": None},
    "median": {"stat_length": None},
    "minimum": {"stat_length": None},
    "reflect": {"reflect_type": "even"},
    "symmetric": {"reflect_type": "even"},
    "wrap": {},
}


def _pairs(value, ndim, what, whole=False):
    """One pair (before, after) per axis, from a number, a pair, or a pair per axis."""
    if isinstance(value, dict):
        given = {k % ndim: v for k, v in value.items()}
        return [_pairs(given.get(k, 0), 1, what, whole)[0] for k in range(ndim)]
    x = as_array(value)
    if whole and x.size and x.dtype.kind not in "iu":
        raise TypeError(f"pad: {what} must be integers; got dtype {x.dtype}")
    if x.ndim > 2 or (x.ndim == 2 and x.shape[0] not in (1, ndim)):
        raise ValueError(f"pad: {what} does not fit {ndim} axes; got shape {x.shape}")
    if x.shape[-1:] not in ((), (1,), (2,)):
        raise ValueError(f"pad: {what} must be numbers or pairs of them; got shape {x.shape}")
    pairs = un.broadcast_to(x, (ndim, 2)).tolist()
    if whole and any(n < 0 for pair in pairs for n in pair):
        raise ValueError(f"pad: {what} must not be negative; got {value}")
    return [tuple(p) for p in pairs]


def pad(array, pad_width, mode="constant", **kwargs):
    """Larger array that holds `array`, with elements around it by a rule.

    Parameters
    ----------
    array : array_like
    pad_width : int, pair, sequence of pairs or dict
        Number of elements before and after, for all axes or for each.
    mode : str or function
        "constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect",
        "symmetric", "wrap", or ``f(vector, (before, after), axis, options)``, which writes the ends of
        `vector`.
    constant_values, end_values, stat_length, reflect_type :
        Options of the modes, as in NumPy.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `array` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.pad([1, 2, 3], (1, 2), "reflect").tolist()
    [2, 1, 2, 3, 2, 1]
    """
    x = as_array(array)
    widths = _pairs(pad_width, x.ndim, "pad_width", whole=True) if x.ndim else []
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, widths, strict=True))
    if callable(mode):
        return _by_function(x, widths, shape, mode, kwargs)
    if mode not in _options:
        raise ValueError(f"pad: unknown mode; got {mode!r}, expected one of {', '.join(_options)}")
    for key in kwargs:
        if key not in _options[mode]:
            raise ValueError(f"pad: mode '{mode}' takes no '{key}'")
    option = {**_options[mode], **kwargs}
    made = un.empty(shape, x.dtype, device=x.device)
    center = tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True))
    made[center] = x
    if mode == "empty":
        return made
    values = [None] * x.ndim
    if mode in ("constant", "linear_ramp"):
        key = "constant_values" if mode == "constant" else "end_values"
        values = _pairs(option[key], x.ndim, key) if x.ndim else []
    elif "stat_length" in option and option["stat_length"] is not None:
        values = _pairs(option["stat_length"], x.ndim, "stat_length", whole=True)
    if mode not in ("constant", "linear_ramp"):
        for k, (n, width) in enumerate(zip(x.shape, widths, strict=True)):
            if n == 0 and any(width):
                raise ValueError(f"pad: mode '{mode}' cannot extend empty axis {k}")
    for k in range(x.ndim):
        # Axes before this one are whole already; those behind it are filled at their centre only.
        around = (slice(None),) * k, center[k + 1 :]
        _extend(made, around, center[k], widths[k], mode, values[k], option)
    return made


def _extend(made, around, core, width, mode, value, option):
    """Fill both ends of one axis; `core` is the range that is there."""
    before, behind = around

    def part(s):
        return made[(*before, s, *behind)]

    n = core.stop - core.start
    axis = len(before)
    ends = (slice(0, core.start), slice(core.stop, core.stop + width[1]))
    for side, (end, length) in enumerate(zip(ends, width, strict=True)):
        if length == 0:
            continue
        target = part(end)
        if mode == "constant":
            target[...] = value[side]
        elif mode == "edge":
            at = core.start if side == 0 else core.stop - 1
            target[...] = part(slice(at, at + 1))
        elif mode == "linear_ramp":
            if n == 0:
                raise ValueError(
                    f"pad: can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
                )
            at = core.start if side == 0 else core.stop - 1
            target[...] = _ramp(value[side], part(slice(at, at + 1)), length, axis, side)
        elif mode in ("reflect", "symmetric", "wrap"):
            # Positions relative to the core, carried back into it.
            begin, end = (-length, 0) if side == 0 else (n, n + length)
            steps = un.arange(begin, end, device=target.device)
            target[...] = _mirrored(part(core), steps, n, axis, mode, option)
        else:
            count = n if value is None else min(value[side], n)
            target[...] = _statistic(part(core), count, axis, side, mode)


def _mirrored(core, steps, n, axis, mode, option):
    before = (slice(None),) * axis
    if mode == "wrap":
        return core[(*before, steps % n)]
    odd = option["reflect_type"]
    if odd not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type must be 'even' or 'odd'; got {odd!r}")
    period = 2 * n if mode == "symmetric" else max(2 * (n - 1), 1)
    place = steps % period
    mirrored = place >= n
    place = un.where(mirrored, (period - 1 if mode == "symmetric" else period) - place, place)
    inside = core[(*before, place)]
    if odd == "even" or (mode == "reflect" and n == 1):
        return inside
    # Each reflection at an end turns the difference from its value around.
    first, last = core[(*before, slice(0, 1))], core[(*before, slice(n - 1, n))]
    rounds = steps // period
    shape = (-1,) + (1,) * (core.ndim - axis - 1)
    turns = 2 * (last - first) * rounds.reshape(shape).astype(core.dtype)
    return turns + un.where(mirrored.reshape(shape), 2 * last - inside, inside)


def _ramp(end, edge, length, axis, side):
    kind = edge.dtype.kind
    count = un.arange(length, device=edge.device).reshape((-1,) + (1,) * (edge.ndim - axis - 1))
    start = edge.astype("float64") if kind != "c" else edge
    step = (start - end) / length
    # NumPy's order of operations, which differs where an element has nowhere to go.
    still = bool((step == 0).any())
    values = (count / length * (start - end) if still else count * step) + end
    if kind in "iu":
        values = un.floor(values)
    values = values.astype(edge.dtype)
    return values if side == 0 else values[(slice(None),) * axis + (slice(None, None, -1),)]


def _statistic(core, count, axis, side, mode):
    n = core.shape[axis]
    if count == 0:
        if mode in ("maximum", "minimum"):
            raise ValueError("pad: stat_length of 0 yields no value for padding")
        count_slice = slice(0, 0)
    else:
        count_slice = slice(0, count) if side == 0 else slice(n - count, n)
    part = core[(slice(None),) * axis + (count_slice,)]
    function = {"maximum": un.max, "minimum": un.min}.get(mode) or getattr(un, mode)
    value = function(part, axis=axis, keepdims=True)
    return un.rint(value) if mode in ("mean", "median") and core.dtype.kind in "iu" else value


def _by_function(x, widths, shape, function, options):
    made = un.zeros(shape, x.dtype, device=x.device)
    made[tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True))] = x
    for axis in range(x.ndim):
        lines = made.transpose((*(k for k in range(x.ndim) if k != axis), axis))
        width = tuple(map(operator.index, widths[axis]))
        for at in _places(lines.shape[:-1]):
            line = lines[at]
            result = function(line, width, axis, options)
            if result is not None:
                line[...] = result
    return made


def _places(shape):
    from itertools import product

    return product(*map(range, shape))
