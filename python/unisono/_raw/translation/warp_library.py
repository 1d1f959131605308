"""What warp functions are made of on every place: values that the work-items of a group exchange through its memory.

Each function is executed by all work-items of the group; `active` says whether one takes part. `me` is its linear index and
`size` the group's. A warp, or sub-group, is 32 work-items that follow each other.
"""

from __future__ import annotations

import functools

import numpy as np

WARP = 32
MOST = 1024  # work-items of a group


def source_idx(me, lane, width):
    return me - me % width + lane % width


def source_up(me, delta, width):
    return me - delta if me % width >= delta else me


def source_down(me, delta, width):
    return me + delta if me % width + delta < width else me


def source_xor(me, mask, width):
    first = me - me % 32
    lane = (me % 32) ^ mask
    return first + lane if lane < me % 32 - me % width + width else me


@functools.cache
def source(kind):
    """The compiled function (me, lane or distance, width) that says whose value a work-item gets."""
    import unisono as un

    functions = {"idx": source_idx, "up": source_up, "down": source_down, "xor": source_xor}
    return un.njit(functions[kind])


@functools.cache
def shuffle(dtype):
    """The compiled function (value, me, source, size, active): the value of the work-item `source`."""
    import unisono as un

    kind = getattr(np, dtype)

    def shuffled(value, me, source, size, active):
        places = un.local_array(1024, kind)
        if active:
            places[me & 1023] = value
        un.barrier()
        got = value
        if active and source >= 0 and source < size:
            got = places[source & 1023]
        un.barrier()
        return got

    return un.njit(shuffled)


@functools.cache
def ballot():
    """The compiled function (is_true, me, size, active): a bit for each work-item of the warp that says yes."""
    import unisono as un

    def voted(is_true, me, size, active):
        votes = un.local_array(1024, np.uint32)
        votes[me & 1023] = np.uint32(1) if active and is_true else np.uint32(0)
        un.barrier()
        first = me - me % 32
        bits = np.uint32(0)
        for k in range(min(32, size - first)):
            bits = np.uint32(bits | np.uint32(votes[(first + k) & 1023] << np.uint32(k)))
        un.barrier()
        return bits

    return un.njit(voted)


@functools.cache
def match(dtype):
    """The compiled function (value, me, size, active): a bit for each work-item of the warp that has the same value."""
    import unisono as un

    kind = getattr(np, dtype)

    def matched(value, me, size, active):
        places = un.local_array(1024, kind)
        takes_part = un.local_array(1024, np.uint32)
        places[me & 1023] = value
        takes_part[me & 1023] = np.uint32(1) if active else np.uint32(0)
        un.barrier()
        first = me - me % 32
        bits = np.uint32(0)
        for k in range(min(32, size - first)):
            if takes_part[(first + k) & 1023] > 0 and places[(first + k) & 1023] == value:
                bits = np.uint32(bits | np.uint32(np.uint32(1) << np.uint32(k)))
        un.barrier()
        return bits

    return un.njit(matched)


_COMBINE = {
    "add": lambda a, b: a + b, "min": lambda a, b: a if a < b else b, "max": lambda a, b: a if a > b else b,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
}  # fmt: skip


@functools.cache
def collective(kind, op, dtype):
    """The compiled function (value, me, size, width, active) of `width` work-items that follow each other.

    `kind` is "reduce", "inclusive" or "exclusive"; the first work-item computes for all, in order.
    """
    import unisono as un

    number, combine = getattr(np, dtype), un.njit(_COMBINE[op])
    is_reduction, is_inclusive = kind == "reduce", kind == "inclusive"
    none = _identity(op, dtype)

    def collected(value, me, size, width, active):
        places = un.local_array(1024, number)
        places[me & 1023] = value if active else number(none)
        un.barrier()
        first = me - me % width
        if me == first:
            total = number(none)
            for k in range(first, min(first + width, size)):
                one = places[k & 1023]
                if not is_reduction and not is_inclusive:
                    places[k & 1023] = total
                total = number(combine(total, one))
                if is_inclusive:
                    places[k & 1023] = total
            if is_reduction:
                places[first & 1023] = total
        un.barrier()
        got = places[first & 1023] if is_reduction else places[me & 1023]
        un.barrier()
        return got

    return un.njit(collected)


def _identity(op, dtype):
    if op in ("add", "or", "xor"):
        return 0
    if op == "and":
        return -1 if dtype.startswith("int") else np.iinfo(dtype).max
    if dtype.startswith("float"):
        return np.inf if op == "min" else -np.inf
    info = np.iinfo(dtype)
    return info.max if op == "min" else info.min
