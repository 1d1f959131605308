"""What functions of sub-groups (warps) and work-groups are made of on every place: values exchanged through local memory.

A sub-group is 32 work-items of a group that follow each other. The first functions are what C text uses, too: all
work-items of the group call them; `active` says whether one takes part, `me` is its linear index and `size` the group's.
`implementations` are those of the words in group_words.py, `of_cuda` those of Numba's in cuda/words.py, in which all take
part.
"""

from __future__ import annotations

import functools

import numpy as np

from . import jit as _jit
from .text import compile_text
from .words import barrier, local_array, local_linear_id, local_linear_size

WARP = 32


def jit(function):
    """Compiled without tests: indices lie in the arrays, and widths are no zeros."""
    return _jit(boundscheck=False, cdivision=True)(function)


@jit
def plain(value):
    """A number of Python, as indices and constants are, as one of NumPy."""
    if isinstance(value, (bool, np.bool_)):
        return value
    if isinstance(value, int):
        return np.int64(value)
    if isinstance(value, float) and not isinstance(value, np.floating):
        return np.float64(value)
    return value


@jit
def number_or(value, end):
    """A number, where it is NaN `end`."""
    if isinstance(value, (float, np.floating)):
        return value if value == value else end
    return value


# ---- whose value a work-item gets; `width` is a power of 2
@jit
def source_idx(me, lane, width):
    return (me & ~(width - 1)) + (lane & (width - 1))


@jit
def source_up(me, delta, width):
    return me - delta if 0 <= delta <= me & (width - 1) else me


@jit
def source_down(me, delta, width):
    return me + delta if 0 <= delta < width - (me & (width - 1)) else me


@jit
def source_xor(me, mask, width):
    first = me & ~31
    lane = (me & 31) ^ mask
    return first + lane if lane < (me & 31 & ~(width - 1)) + width else me


sources = {"idx": source_idx, "up": source_up, "down": source_down, "xor": source_xor}


@jit
def require_places(size):
    """Of the local arrays in which a group exchanges values."""
    if size > 1024:
        raise ValueError(
            "functions of sub-groups and work-groups take groups of at most 1024 work-items; launch smaller groups"
        )


# ---- what all work-items of a group call
@jit
def shuffle(value, me, source, size, active):
    """The value of the work-item `source`."""
    require_places(size)
    places = local_array(1024, value.dtype)
    if active:
        places[me & 1023] = value
    barrier()
    got = value
    if active and source >= 0 and source < size:
        got = places[source & 1023]
    barrier()
    return got


@jit
def ballot(is_true, me, size, active):
    """A bit for each work-item of the warp that says yes."""
    require_places(size)
    votes = local_array(1024, np.uint32)
    votes[me & 1023] = np.uint32(1) if active and is_true else np.uint32(0)
    barrier()
    first = me & ~31
    bits = np.uint32(0)
    for k in range(min(32, size - first)):
        bits = np.uint32(bits | np.uint32(votes[(first + k) & 1023] << np.uint32(k)))
    barrier()
    return bits


@jit
def match(value, me, size, active):
    """A bit for each work-item of the warp that has the same value."""
    require_places(size)
    places = local_array(1024, value.dtype)
    takes_part = local_array(1024, np.uint32)
    places[me & 1023] = value
    takes_part[me & 1023] = np.uint32(1) if active else np.uint32(0)
    barrier()
    first = me & ~31
    bits = np.uint32(0)
    for k in range(min(32, size - first)):
        if takes_part[(first + k) & 1023] > 0 and places[(first + k) & 1023] == value:
            bits = np.uint32(bits | np.uint32(np.uint32(1) << np.uint32(k)))
    barrier()
    return bits


@jit
def _zero(value):
    number = value.dtype
    return number(0)


@jit
def _ones(value):
    number = value.dtype
    return ~number(0)


@jit
def _lowest(value):
    number = value.dtype
    if isinstance(value, np.floating):
        return number(-np.inf)
    bits = 8 * value.dtype.itemsize
    return number(0) if ~number(0) > number(0) else number(number(1) << number(bits - 1))


@jit
def _highest(value):
    if isinstance(value, np.floating):
        number = value.dtype
        return number(np.inf)
    return ~_lowest(value)


_COMBINE = {
    "add": lambda a, b: a + b, "min": lambda a, b: a if a < b else b, "max": lambda a, b: a if a > b else b,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
}  # fmt: skip
_IDENTITY = {"add": _zero, "or": _zero, "xor": _zero, "and": _ones, "min": _highest, "max": _lowest}


@functools.cache
def collective(kind, op):
    """The compiled function (value, me, size, width, active) of `width` work-items that follow each other, 32 or all.

    `kind` is "reduce", "inclusive" or "exclusive"; the first work-item computes for all, in order.
    """
    combine, identity = jit(_COMBINE[op]), _IDENTITY[op]
    is_reduction, is_inclusive = kind == "reduce", kind == "inclusive"

    def collected(value, me, size, width, active):
        require_places(size)
        places = local_array(1024, value.dtype)
        number = value.dtype
        places[me & 1023] = value if active else identity(value)
        barrier()
        first = 0 if width >= size else me & ~(width - 1)
        if me == first:
            total = identity(value)
            for k in range(first, min(first + width, size)):
                one = places[k & 1023]
                if not is_reduction and not is_inclusive:
                    places[k & 1023] = total
                total = number(combine(total, one))
                if is_inclusive:
                    places[k & 1023] = total
            if is_reduction:
                places[first & 1023] = total
        barrier()
        got = places[first & 1023] if is_reduction else places[me & 1023]
        barrier()
        return got

    return jit(collected)


# ---- OpenCL's words
def _one_line(name, parameters, result, **scope):
    """A compiled function of one line, under the name that messages have."""
    text = f"def {name}({parameters}):\n    return {result}\n"
    scope |= {"shuffle": shuffle, "plain": plain, "me": local_linear_id, "size": local_linear_size}
    return compile_text(text, name, scope)


def _shuffling(name, source, first=""):
    result = "shuffle(plain(value), me(), source(me(), lane, 32), size(), True)"
    return _one_line(name, f"{first}value, lane", result, source=source)


def _collecting(name, kind, op, is_group):
    width = "size()" if is_group else "32"
    result = f"work(plain(value), me(), size(), {width}, True)"
    return _one_line(name, "value", result, work=collective(kind, op))


@jit
def sub_group_local_id():
    return local_linear_id() % 32


@jit
def sub_group_id():
    return local_linear_id() // 32


@jit
def num_sub_groups():
    return (local_linear_size() + 31) // 32


@jit
def sub_group_size():
    me = local_linear_id()
    return min(32, local_linear_size() - me + me % 32)


@jit
def sub_group_barrier():
    barrier()


@jit
def sub_group_ballot(predicate):
    return ballot(predicate, local_linear_id(), local_linear_size(), True)


@jit
def sub_group_any(predicate):
    return ballot(predicate, local_linear_id(), local_linear_size(), True) != 0


@jit
def sub_group_all(predicate):
    return ballot(not predicate, local_linear_id(), local_linear_size(), True) == 0


@jit
def _of_group(count, size):
    """The number of work-items of the group for which `count` is 1."""
    return _sum(count, local_linear_id(), size, size, True)


_sum = collective("reduce", "add")


@jit
def work_group_any(predicate):
    return _of_group(np.int32(1) if predicate else np.int32(0), local_linear_size()) > 0


@jit
def work_group_all(predicate):
    size = local_linear_size()
    return _of_group(np.int32(1) if predicate else np.int32(0), size) == size


@jit
def work_group_broadcast(value, index):
    return shuffle(plain(value), local_linear_id(), index, local_linear_size(), True)


implementations = {
    f.__name__: f
    for f in (
        sub_group_local_id, sub_group_id, num_sub_groups, sub_group_size, sub_group_barrier, sub_group_ballot, sub_group_any,
        sub_group_all, work_group_any, work_group_all, work_group_broadcast,
    )
}  # fmt: skip
for _name, _source in (("", "idx"), ("_up", "up"), ("_down", "down"), ("_xor", "xor")):
    implementations["sub_group_shuffle" + _name] = _shuffling(
        "sub_group_shuffle" + _name, sources[_source]
    )
implementations["sub_group_broadcast"] = _shuffling("sub_group_broadcast", source_idx)
for _scope in ("sub", "work"):
    for _op in ("add", "min", "max"):
        for _kind, _word in (
            ("reduce", "reduce"),
            ("inclusive", "scan_inclusive"),
            ("exclusive", "scan_exclusive"),
        ):
            _name = f"{_scope}_group_{_word}_{_op}"
            implementations[_name] = _collecting(_name, _kind, _op, _scope == "work")


# ---- Numba's words; masks are not looked at
@jit
def ballot_sync(mask, predicate):
    return sub_group_ballot(predicate)


@jit
def any_sync(mask, predicate):
    return sub_group_any(predicate)


@jit
def all_sync(mask, predicate):
    return sub_group_all(predicate)


@jit
def eq_sync(mask, predicate):
    bits, all_of_them = sub_group_ballot(predicate), activemask()
    return bits == 0 or bits == all_of_them


@jit
def activemask():
    return sub_group_ballot(True)


@jit
def lanemask_lt():
    return np.uint32((np.uint32(1) << np.uint32(local_linear_id() % 32)) - np.uint32(1))


@jit
def match_any_sync(mask, value):
    return match(plain(value), local_linear_id(), local_linear_size(), True)


@jit
def match_all_sync(mask, value):
    bits = match(plain(value), local_linear_id(), local_linear_size(), True)
    all_of_them = activemask()
    is_same = bits == all_of_them
    return (all_of_them if is_same else np.uint32(0)), is_same


@jit
def syncwarp(mask=0xFFFFFFFF):
    barrier()


@jit
def syncthreads_count(predicate):
    return _of_group(np.int32(1) if predicate else np.int32(0), local_linear_size())


@jit
def syncthreads_and(predicate):
    return np.int32(work_group_all(predicate))


@jit
def syncthreads_or(predicate):
    return np.int32(work_group_any(predicate))


@jit
def _bits(x):
    """The bits of an integer in the lowest ones of a uint64."""
    if isinstance(x, int):
        return np.uint64(x)
    mask = ~np.uint64(0) >> np.uint64(64 - 8 * x.itemsize)
    return np.uint64(np.uint64(np.int64(x)) & mask)


@jit
def _count(x):
    one, two, four = np.uint64(1), np.uint64(2), np.uint64(4)
    n = x - ((x >> one) & np.uint64(0x5555555555555555))
    n = (n & np.uint64(0x3333333333333333)) + ((n >> two) & np.uint64(0x3333333333333333))
    n = (n + (n >> four)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((n * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit
def popc(x):
    return _count(_bits(x))


@jit
def clz(x):
    bits = _bits(x)
    for k in (1, 2, 4, 8, 16, 32):
        bits = bits | (bits >> np.uint64(k))
    return np.int32(8 * plain(x).itemsize - _count(bits))


@jit
def ffs(x):
    bits = _bits(x)
    lowest = bits & (~bits + np.uint64(1))
    return np.int32(0) if bits == 0 else np.int32(_count(lowest - np.uint64(1)) + 1)


@jit
def brev(x):
    given = plain(x)
    bits = _bits(given)
    turned = np.uint64(0)
    for _ in range(8 * given.itemsize):
        turned = (turned << np.uint64(1)) | (bits & np.uint64(1))
        bits = bits >> np.uint64(1)
    number = given.dtype
    return number(turned)


of_cuda = {
    f.__name__: f
    for f in (
        activemask, all_sync, any_sync, ballot_sync, brev, clz, eq_sync, ffs, lanemask_lt, match_all_sync, match_any_sync,
        popc, syncthreads_and, syncthreads_count, syncthreads_or, syncwarp,
    )
}  # fmt: skip
for _name, _source in sources.items():
    _name = f"shfl_{_name}_sync".replace("_idx", "")
    of_cuda[_name] = _shuffling(_name, _source, "mask, ")
