"""Functions that are no primitives: a Python body each, and the row of the engine that stands in front of it.

`fronts` holds them by name. The bodies use the package's own operations alone, so that they work wherever those do; a
row computes the same faster where the operands' memory allows it. ``f.row`` and ``f.body`` are the two.
"""

import unisono as un

from .. import _engine

fronts = {}


def behind(row, *ids):
    """A decorator of a body that gives what `row` gives, by the primitives `ids`."""

    def decorate(body):
        front = fronts[body.__name__] = _engine._RowInFront(row, body, ids)
        return front

    return decorate


@behind(_engine._nonzero, "count_true", "nonzero")
def nonzero(x):
    """The indices of the elements that are not zero, one array per axis."""
    if x.ndim == 0:
        return _engine._nonzero(x)  # refused
    flat = x.reshape(-1) != 0
    ends = _engine._scan("add", flat.astype("int64"), 0, None)
    total = int(ends[-1]) if flat.size else 0
    which = un.arange(1, total + 1, device=x.device)
    at = un.searchsorted(ends, which) if total else which
    made = []
    for extent in reversed(x.shape[1:]):
        made.append(at % extent)
        at = at // extent
    return (at, *reversed(made))


@behind(_engine._repeated_positions, "count_repeats", "repeat")
def repeated_positions(counts):
    """0 counts[0] times, then 1 counts[1] times, and so on."""
    counts = counts.astype("int64", copy=False)
    negative = counts < 0
    if bool(negative.any()):
        k = int(un.argmax(negative))
        raise ValueError(
            f"repeat: counts must not be negative; got {int(counts[k])} at position {k}"
        )
    ends = _engine._scan("add", counts, 0, None)
    total = int(ends[-1]) if counts.size else 0
    which = un.arange(total, device=counts.device)
    return un.searchsorted(ends, which, side="right") if total else which


@behind(_engine._unique, "unique")
def unique(x, places, equal_nan):
    """Values in order; with `places` also index, inverse and counts."""
    x = x.reshape(-1)
    n = x.size
    order = un.argsort(x, stable=True) if places else None
    ordered = x[order] if places else un.sort(x)
    first = un.ones(n, "bool", device=x.device)
    if n > 1:
        a, b = ordered[:-1], ordered[1:]
        differ = a != b
        if equal_nan and x.dtype.kind in "fc":
            differ = differ & ~((a != a) & (b != b))
        first[1:] = differ
    (starts,) = nonzero(first)
    if not places:
        return (ordered[starts],)
    ends = un.full(starts.shape, n, "int64", device=x.device)
    ends[:-1] = starts[1:]
    inverse = un.empty(n, "int64", device=x.device)
    inverse[order] = _engine._scan("add", first.astype("int64"), 0, None) - 1
    return ordered[starts], order[starts], inverse, ends - starts


@behind(_engine._count_numbers, "count_numbers")
def count_numbers(x, weights, bins):
    """How often 0, 1, ... bins - 1 occur in a vector of such numbers."""
    if weights is not None:
        # A sum in the order of the elements: no other operation adds in it.
        return _engine._count_numbers(x, weights, bins)
    ordered, which = un.sort(x), un.arange(bins, device=x.device)
    return un.searchsorted(ordered, which, side="right") - un.searchsorted(ordered, which)
