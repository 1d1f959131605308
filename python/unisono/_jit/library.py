"""Functions of Python that compiled code calls and that are written in Python themselves."""

from __future__ import annotations

from . import jit


@jit
def sorted_list(items, reverse=False):
    """As ``sorted``: stable, by merging ever longer runs."""
    if isinstance(items, str):
        a = [c for c in items]
    else:
        a = list(items)
    n = len(a)
    b = list(a)
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = min(begin + width, n)
            end = min(begin + 2 * width, n)
            i = begin
            j = middle
            for k in range(begin, end):
                take = j >= end
                if i < middle and j < end:
                    take = not a[i] < a[j] if reverse else not a[j] < a[i]
                elif i >= middle:
                    take = False
                if take:
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
        for k in range(n):
            a[k] = b[k]
        width *= 2
    return a


@jit
def sorted_by(items, key, reverse=False):
    """As ``sorted`` with a key: the keys are sorted, and the items with them."""
    if key is None:
        return sorted_list(items, reverse)
    a = list(items)
    n = len(a)
    keys = [key(x) for x in a]
    b = list(a)
    other = list(keys)
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = min(begin + width, n)
            end = min(begin + 2 * width, n)
            i = begin
            j = middle
            for k in range(begin, end):
                take = j >= end
                if i < middle and j < end:
                    take = not keys[i] < keys[j] if reverse else not keys[j] < keys[i]
                elif i >= middle:
                    take = False
                if take:
                    b[k] = a[i]
                    other[k] = keys[i]
                    i += 1
                else:
                    b[k] = a[j]
                    other[k] = keys[j]
                    j += 1
        for k in range(n):
            a[k] = b[k]
            keys[k] = other[k]
        width *= 2
    return a


@jit
def sort_by(items, key, reverse=False):
    """As ``list.sort`` with a key."""
    made = sorted_by(items, key, reverse)
    for k in range(len(made)):
        items[k] = made[k]


@jit
def sort_objects(items, reverse=False):
    """As ``list.sort`` of objects with a method `__lt__`."""
    made = sorted_list(items, reverse)
    for k in range(len(made)):
        items[k] = made[k]


@jit
def max_by(items, key):
    """As ``max`` with a key: the first of the largest."""
    given = list(items) if isinstance(items, (dict, set)) else items
    n = len(given)
    if n == 0:
        raise ValueError("max() iterable argument is empty")
    best = given[0]
    most = key(best)
    for i in range(1, n):
        k = key(given[i])
        if k > most:
            most = k
            best = given[i]
    return best


@jit
def min_by(items, key):
    """As ``min`` with a key: the first of the smallest."""
    given = list(items) if isinstance(items, (dict, set)) else items
    n = len(given)
    if n == 0:
        raise ValueError("min() iterable argument is empty")
    best = given[0]
    least = key(best)
    for i in range(1, n):
        k = key(given[i])
        if k < least:
            least = k
            best = given[i]
    return best


@jit
def in_range(x, start, stop, step=1):
    if step > 0:
        return start <= x < stop and (x - start) % step == 0
    if step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return stop < x <= start and (start - x) % -step == 0


@jit
def want_columns(widths, wanted):
    """Tests that rows of these widths have so many columns to unpack."""
    columns = min(widths) if len(widths) > 0 else 0
    if columns > wanted:
        raise ValueError(f"too many values to unpack (expected {wanted})")
    if columns < wanted:
        raise ValueError(f"not enough values to unpack (expected {wanted}, got {columns})")


@jit
def max_of(items):
    """As ``max`` of what are no numbers: the first of the largest."""
    given = list(items)
    if len(given) == 0:
        raise ValueError("max() iterable argument is empty")
    best = given[0]
    for x in given:
        if x > best:
            best = x
    return best


@jit
def min_of(items):
    """As ``min`` of what are no numbers: the first of the smallest."""
    given = list(items)
    if len(given) == 0:
        raise ValueError("min() iterable argument is empty")
    best = given[0]
    for x in given:
        if x < best:
            best = x
    return best


@jit
def bisect_right(a, x, lo=0, hi=None):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if x < a[middle]:
            end = middle
        else:
            lo = middle + 1
    return lo


@jit
def bisect_left(a, x, lo=0, hi=None):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        if a[middle] < x:
            lo = middle + 1
        else:
            end = middle
    return lo


@jit
def insort_right(a, x, lo=0, hi=None):
    a.insert(bisect_right(a, x, lo, hi), x)


@jit
def insort_left(a, x, lo=0, hi=None):
    a.insert(bisect_left(a, x, lo, hi), x)


implementations = {f.__name__: f for f in (bisect_left, bisect_right, insort_left, insort_right)}
