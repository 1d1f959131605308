"""Methods of texts, tuples and numbers that compiled code calls and that are written in Python themselves."""

from __future__ import annotations

import numpy as np

from . import bytes_library, jit, set_library


@jit
def index_in_list(items, item, start=0, stop=2**63 - 1):
    n = len(items)
    begin = start if start >= 0 else max(start + n, 0)
    end = min(stop, n) if stop >= 0 else stop + n
    for k in range(begin, end):
        if items[k] == item:
            return k
    raise ValueError(f"{item!r} is not in list")


@jit
def index(whole, item, *bounds):
    if isinstance(whole, str):
        place = whole.find(item, *bounds)
        if place < 0:
            raise ValueError("substring not found")
        return place
    if isinstance(whole, bytes) or isinstance(whole, bytearray):
        place = bytes_library.find(whole, item, *bounds)
        if place < 0:
            raise ValueError("subsection not found")
        return place
    if isinstance(whole, list):
        return index_in_list(whole, item, *bounds)
    begin = 0
    end = len(whole)
    if len(bounds) > 0:
        begin = bounds[0] if bounds[0] >= 0 else max(bounds[0] + len(whole), 0)
    if len(bounds) > 1:
        end = bounds[1] if bounds[1] >= 0 else bounds[1] + len(whole)
    found = -1
    k = 0
    for x in whole:
        if found < 0 and begin <= k < end and x == item:
            found = k
        k += 1
    if found < 0:
        raise ValueError("tuple.index(x): x not in tuple")
    return found


@jit
def rindex(text, part, *bounds):
    if not isinstance(text, str):
        place = bytes_library.rfind(text, part, *bounds)
        if place < 0:
            raise ValueError("subsection not found")
        return place
    place = text.rfind(part, *bounds)
    if place < 0:
        raise ValueError("substring not found")
    return place


@jit
def count(items, item):
    if isinstance(items, bytes) or isinstance(items, bytearray):
        return bytes_library.count(items, item)
    n = 0
    for x in items:
        if x == item:
            n += 1
    return n


@jit
def _parted(text, sep, k, otherwise):
    """What stands in front of a separator at k, it, and what stands behind it; where there is none, two are empty."""
    if len(sep) == 0:
        raise ValueError("empty separator")
    size = len(sep) if k >= 0 else 0
    begin = k if k >= 0 else otherwise
    whole = text if isinstance(text, str) else bytes(text)
    return whole[:begin], whole[begin : begin + size], whole[begin + size :]


@jit
def partition(text, sep):
    return _parted(text, sep, text.find(sep), len(text))


@jit
def rpartition(text, sep):
    return _parted(text, sep, text.rfind(sep), 0)


@jit
def translate(text, table):
    made = ""
    for c in text:
        k = ord(c)
        if k in table:
            other = table[k]
            if isinstance(other, str):
                made += other
            elif isinstance(other, int):
                made += chr(other)
        else:
            made += c
    return made


@jit
def maketrans(x, *others):
    if len(others) == 0:
        return {ord(k): v for k, v in x.items()}
    y = others[0]
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {}
    for i in range(len(x)):
        table[ord(x[i])] = y[i]
    if len(others) > 1:
        for c in others[1]:
            table[ord(c)] = ""
    return table


@jit
def expandtabs(text, tabsize=8):
    made = ""
    column = 0
    for c in text:
        if c == "\t":
            step = tabsize - column % tabsize if tabsize > 0 else 0
            made += " " * step
            column += step
        else:
            made += c
            column = 0 if c == "\n" or c == "\r" else column + 1
    return made


@jit
def is_integer(x):
    if isinstance(x, int):
        return True
    return x - x == 0.0 and x % 1.0 == 0.0


@jit
def bit_count(n):
    rest = n | 0
    found = 0
    if rest == -(2**63):
        return 1
    rest = abs(rest)
    while rest:
        rest &= rest - 1
        found += 1
    return found


@jit
def tolist(a):
    """Of arrays of up to four axes, and of numbers."""
    if not isinstance(a, np.ndarray):
        return a.item()
    elif a.ndim == 1:
        return [x.item() for x in a]
    else:
        return [tolist(row) for row in a]


methods = {
    f.__name__: f
    for f in (
        bit_count,
        count,
        expandtabs,
        index,
        is_integer,
        partition,
        rindex,
        rpartition,
        tolist,
        translate,
    )
}
methods |= {n: getattr(bytes_library, n) for n in ("decode", "encode", "to_bytes")}
methods |= {f.__name__: f for f in bytes_library.searches}
methods |= {f.__name__: f for f in set_library.methods}
methods["hex"] = bytes_library.to_hex
