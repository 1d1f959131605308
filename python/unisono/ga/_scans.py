"""Scans over vectors: segmented sums and copies, packing and unpacking, enumeration.

A patch is shared out over the ranks; what one rank's part gives to the next is exchanged as numbers.
"""

import numpy as np

import unisono as un

from ._handles import allocated, collective


def _range(a, lo, hi):
    if a.ndim != 1:
        raise ValueError(f"ga: scans are of vectors; got an array of {a.ndim} axes")
    lo = 0 if lo is None else int(np.asarray(lo).item())
    hi = a.dims[0] if hi is None else int(np.asarray(hi).item())
    return lo, min(hi, a.dims[0])


def _share(a, lo, hi):
    """This rank's part of a range."""
    n, p, r = hi - lo, a.comm.size, a.comm.rank
    return lo + n * r // p, lo + n * (r + 1) // p


@un.jit
def _segmented_sum(source, mask, out, carry, exclusive):
    total = carry
    for i in range(source.shape[0]):
        if mask[i] != 0:
            total = carry - carry
        if exclusive:
            out[i] = total
            total = total + source[i]
        else:
            total = total + source[i]
            out[i] = total
    return total


@un.jit
def _segmented_copy(source, mask, out, carry):
    value = carry
    for i in range(source.shape[0]):
        if mask[i] != 0:
            value = source[i]
        out[i] = value
    return value


def _number(a, value):
    """A number of the array's dtype, for compiled functions."""
    return a.dtype.type(value)


def _with_carry(src, dst, msk, lo, hi, run):
    """dst = run(source, mask, out, carry) over each rank's part; the carry goes on from rank to rank."""
    source, target, mask = allocated(src), allocated(dst), allocated(msk)
    lo, hi = _range(source, lo, hi)
    with collective(source):
        first, last = _share(source, lo, hi)
        carry = _number(source, 0)
        if last > first:
            values = np.asarray(source.read([first], [last]))
            flags = np.asarray(mask.read([first], [last]))
            out = np.empty_like(values)
            end = run(values, flags, out, carry)
            ends = (bool(flags.any()), end)
        else:
            ends = (False, carry)
        every = source.comm.allgather(ends)
        for starts_anew, end in every[: source.comm.rank]:
            carry = end if starts_anew else run.joined(carry, end)
        if last > first:
            run(values, flags, out, _number(source, carry))
            target.write(un.asarray(out), [first], [last])


class _Sum:
    def __init__(self, exclusive):
        self.exclusive = exclusive

    def __call__(self, values, flags, out, carry):
        return _segmented_sum(values, flags, out, carry, self.exclusive)

    def joined(self, carry, end):
        return carry + end


class _Copy:
    def __call__(self, values, flags, out, carry):
        return _segmented_copy(values, flags, out, carry)

    def joined(self, carry, end):
        return carry


def scan_add(g_src, g_dst, g_msk, lo=None, hi=None, excl=False):
    """Sums of the elements so far, anew at each nonzero of the mask; `excl`: without the element itself."""
    _with_carry(g_src, g_dst, g_msk, lo, hi, _Sum(bool(excl)))


def scan_copy(g_src, g_dst, g_msk, lo=None, hi=None):
    """The element at the last nonzero of the mask, at each place."""
    _with_carry(g_src, g_dst, g_msk, lo, hi, _Copy())


def _places(a, flags):
    """How many nonzeros of the mask the ranks before have, and all."""
    counts = a.comm.allgather(int(np.count_nonzero(flags)))
    return sum(counts[: a.comm.rank]), sum(counts)


def pack(g_src, g_dst, g_msk, lo=None, hi=None):
    """Copy the elements at nonzeros of the mask to the start of another vector; returns their number."""
    source, target, mask = allocated(g_src), allocated(g_dst), allocated(g_msk)
    lo, hi = _range(source, lo, hi)
    with collective(source):
        first, last = _share(source, lo, hi)
        flags = np.asarray(mask.read([first], [last])) != 0
        before, total = _places(source, flags)
        if total > target.dims[0]:
            raise ValueError(f"pack: {total} elements do not fit; g_dst has {target.dims[0]}")
        chosen = np.asarray(source.read([first], [last]))[flags]
        if len(chosen):
            target.write(un.asarray(chosen), [before], [before + len(chosen)])
    return total


def unpack(g_src, g_dst, g_msk, lo=None, hi=None):
    """Copy the first elements of a vector to the nonzeros of the mask in another; returns their number."""
    source, target, mask = allocated(g_src), allocated(g_dst), allocated(g_msk)
    lo, hi = _range(mask, lo, hi)
    with collective(source):
        first, last = _share(target, lo, hi)
        flags = np.asarray(mask.read([first], [last])) != 0
        before, total = _places(target, flags)
        if total > source.dims[0]:
            raise ValueError(f"unpack: {total} elements are needed; g_src has {source.dims[0]}")
        n = int(np.count_nonzero(flags))
        if n:
            values = np.asarray(target.read([first], [last])).copy()
            values[flags] = np.asarray(source.read([before], [before + n]))
            target.write(un.asarray(values), [first], [last])
    return total


def enum(g_a, lo=None, hi=None, start=None, inc=None):
    """start, start + inc, ... in the elements of a vector."""
    a = allocated(g_a)
    lo, hi = _range(a, lo, hi)
    start = a.convert(1 if start is None else start)
    inc = a.convert(1 if inc is None else inc)
    with collective(a):
        for number, first, last in a.own([lo], [hi]):
            steps = un.arange(first[0] - lo, last[0] - lo).astype(a.dtype)
            a.here(number, first, last)[...] = start + inc * steps
