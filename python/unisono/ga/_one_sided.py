"""Reading and writing global arrays from any rank, and the memory that a rank holds."""

from builtins import zip as _zip
from itertools import product
from math import prod

import numpy as np

import unisono as un

from ..mpi._one_sided.exposed import Pending
from . import _handles
from ._handles import allocated, bounds, collective, extents, inside, ints, statistics


def zip(lo, hi):
    """An index of slices, from lo to hi."""
    return tuple(slice(int(a), int(b)) for a, b in _zip(lo, hi, strict=True))


def _values(array, buffer, shape):
    """What is put, as an array of the patch's shape."""
    if array.native:
        values = un.asarray(buffer, dtype=array.dtype, device="cpu")
    else:
        values = np.asarray(buffer, dtype=array.dtype)
    if list(values.shape) == shape:
        return values
    if values.ndim <= 1:
        if values.size != prod(shape):
            raise ValueError(
                f"buffer size does not match shape; got {values.size} elements; expected {prod(shape)}"
            )
        return values.reshape(tuple(shape))
    raise ValueError(
        f"buffer shape does not match request shape; got {tuple(values.shape)}; expected {tuple(shape)}"
    )


def _target(array, buffer, shape):
    """Where a patch is read into: what is returned, and an array of the patch's shape on its memory."""
    if buffer is None:
        made = un.empty if array.native else np.empty
        out = made(tuple(shape), dtype=array.dtype)
        return out, out
    if buffer.dtype != array.dtype:
        raise ValueError(f"buffer is wrong type; got {buffer.dtype}; expected {array.dtype}")
    if list(buffer.shape) == shape:
        return buffer, buffer
    if buffer.ndim == 1 and buffer.size == prod(shape):
        view = buffer.reshape(tuple(shape))
        if view.size and not un.shares_memory(view, buffer):
            raise ValueError("buffer is not contiguous; give one of the patch's shape")
        return buffer, view
    raise ValueError(
        f"buffer shape does not match request shape; got {tuple(buffer.shape)}; expected {tuple(shape)}"
    )


def _patch(g_a, lo, hi, skip=None):
    array = allocated(g_a)
    lo, hi = bounds(array, lo, hi)
    inside(array, lo, hi)
    step = None if skip is None else ints(skip)
    return array, lo, hi, step


def _scaled(array, values, alpha):
    if alpha is None:
        return values
    alpha = array.convert(alpha)
    return values if alpha == 1 else values * alpha


def put(g_a, buffer, lo=None, hi=None):
    """Copy a buffer into a patch."""
    strided_put(g_a, buffer, lo, hi)


def get(g_a, lo=None, hi=None, buffer=None):
    """Copy a patch into a buffer, or a new array; returns it."""
    return strided_get(g_a, lo, hi, None, buffer)


def acc(g_a, buffer, lo=None, hi=None, alpha=None):
    """Add alpha * buffer to a patch, each element atomically."""
    strided_acc(g_a, buffer, lo, hi, None, alpha)


def strided_put(g_a, buffer, lo=None, hi=None, skip=None):
    """Copy a buffer into every `skip`-th element of a patch."""
    array, lo, hi, step = _patch(g_a, lo, hi, skip)
    array.write(_values(array, buffer, extents(lo, hi, step)), lo, hi, step)


def strided_get(g_a, lo=None, hi=None, skip=None, buffer=None):
    """Copy every `skip`-th element of a patch into a buffer, or a new array; returns it."""
    array, lo, hi, step = _patch(g_a, lo, hi, skip)
    given, view = _target(array, buffer, extents(lo, hi, step))
    array.read_into(view, lo, hi, step)
    return given


def strided_acc(g_a, buffer, lo=None, hi=None, skip=None, alpha=None):
    """Add alpha * buffer to every `skip`-th element of a patch, each atomically."""
    array, lo, hi, step = _patch(g_a, lo, hi, skip)
    values = _values(array, buffer, extents(lo, hi, step))
    array.add(_scaled(array, values, alpha), lo, hi, step)


# Without waiting.


def _start(array, kind, values, lo, hi):
    pending = Pending()
    for owner, start, shape, strides, slices in array.pieces(lo, hi):
        place = array.section(start, shape, strides)
        if kind == "get":
            made = un.empty if array.native else np.empty
            part = made(tuple(shape), dtype=array.dtype)
            request = array.window.iget(array.raw(part), owner, *place)
            pending.requests.append((request, part, values, slices))
            continue
        part = values[slices].copy()
        if kind == "put":
            request = array.window.iput(array.raw(part), owner, *place)
        else:
            request = array.window.iaccumulate(part, owner, place[0], _sum(), *place[1:])
        pending.requests.append((request, part, None, None))
        _handles.dirty.add(array)
    return pending


def _sum():
    from ..mpi import SUM

    return SUM


def nbput(g_a, buffer, lo=None, hi=None):
    """Start a `put`; returns what `nbwait` takes."""
    array, lo, hi, _ = _patch(g_a, lo, hi)
    return _start(array, "put", _values(array, buffer, extents(lo, hi)), lo, hi)


def nbget(g_a, lo=None, hi=None, buffer=None):
    """Start a `get`; returns the buffer and what `nbwait` takes."""
    array, lo, hi, _ = _patch(g_a, lo, hi)
    given, view = _target(array, buffer, extents(lo, hi))
    return given, _start(array, "get", view, lo, hi)


def nbacc(g_a, buffer, lo=None, hi=None, alpha=None):
    """Start an `acc`; returns what `nbwait` takes."""
    array, lo, hi, _ = _patch(g_a, lo, hi)
    values = _scaled(array, _values(array, buffer, extents(lo, hi)), alpha)
    if not array.native:
        array.add(values, lo, hi)
        return Pending()
    return _start(array, "acc", values, lo, hi)


def nbwait(nbhandle):
    """Complete a call that was started: its buffer may be used again."""
    nbhandle.wait()


# Around the ends.


def _wrapped(array, lo, hi):
    """A patch that may reach beyond the array: parts inside it, and the slices of a buffer."""
    cuts = []
    for a, b, n in _zip(lo, hi, array.dims, strict=True):
        axis, at = [], a
        while at < b:
            inside_at = at % n
            length = min(n - inside_at, b - at)
            axis.append((inside_at, inside_at + length, slice(at - a, at - a + length)))
            at += length
        cuts.append(axis)
    for parts in product(*cuts):
        yield [p[0] for p in parts], [p[1] for p in parts], tuple(p[2] for p in parts)


def periodic_get(g_a, lo=None, hi=None, buffer=None):
    """As `get`; indices beyond an end go on at the other."""
    array = allocated(g_a)
    lo, hi = bounds(array, lo, hi)
    given, view = _target(array, buffer, extents(lo, hi))
    for a, b, slices in _wrapped(array, lo, hi):
        view[slices] = array.read(a, b)
    return given


def periodic_put(g_a, buffer, lo=None, hi=None):
    """As `put`; indices beyond an end go on at the other."""
    array = allocated(g_a)
    lo, hi = bounds(array, lo, hi)
    values = _values(array, buffer, extents(lo, hi))
    for a, b, slices in _wrapped(array, lo, hi):
        array.write(values[slices], a, b)


def periodic_acc(g_a, buffer, lo=None, hi=None, alpha=None):
    """As `acc`; indices beyond an end go on at the other."""
    array = allocated(g_a)
    lo, hi = bounds(array, lo, hi)
    values = _scaled(array, _values(array, buffer, extents(lo, hi)), alpha)
    for a, b, slices in _wrapped(array, lo, hi):
        array.add(values[slices], a, b)


# Single elements.


def _subscripts(array, subsarray):
    at = np.asarray(subsarray, dtype=np.int64)
    if at.ndim not in (1, 2):
        raise ValueError(f"subsarray must be either 1- or 2-dimensional; got {at.ndim} axes")
    at = at.reshape(-1, array.ndim)
    if len(at) and ((at < 0) | (at >= np.array(array.dims))).any():
        raise ValueError(f"ga: a subscript outside of the array; expected 0 to {array.dims}")
    return at


def _places(array, at):
    """Of each subscript the rank, and the element in its memory."""
    d = array.distribution
    place = [
        np.searchsorted(starts, at[:, k], side="right") - 1 for k, starts in enumerate(d.starts)
    ]
    number, stride = np.zeros(len(at), np.int64), 1
    for k, n in enumerate(d.grid):
        number += place[k] * stride
        stride *= n
    owners, offsets = np.empty(len(at), np.int64), np.empty(len(at), np.int64)
    for block in np.unique(number):
        chosen = number == block
        lo, _ = d.bounds(int(block))
        padded, offset = array.padded(int(block)), 0
        for k in range(array.ndim):
            offset = offset * padded[k] + (at[chosen, k] - lo[k] + array.width[k])
        owners[chosen] = d.owner(int(block))
        offsets[chosen] = offset + d.offset(int(block))
    return owners, offsets


def gather(g_a, subsarray, values=None):
    """The elements at an (n, ndim) array of subscripts, or at one after another."""
    array = allocated(g_a)
    at = _subscripts(array, subsarray)
    if values is None:
        values = (un.empty if array.native else np.empty)(len(at), dtype=array.dtype)
    elif values.ndim != 1 or len(values) < len(at):
        raise ValueError(
            f"values must be one-dimensional and of {len(at)} elements or more; got shape {tuple(values.shape)}"
        )
    out = np.empty(len(at), array.dtype)
    owners, offsets = _places(array, at)
    for owner in np.unique(owners):
        chosen = np.flatnonzero(owners == owner)
        if array.window.is_shared:
            out[chosen] = np.asarray(array.memory(int(owner)))[offsets[chosen]]
            continue
        for i in chosen:
            place = array.section(int(offsets[i]), [1], [1])
            array.window.get(array.raw(out[i : i + 1]), int(owner), *place)
    values[: len(at)] = out
    statistics["gather"] += 1
    return values


def _given(array, values, n):
    values = np.asarray(values, dtype=array.dtype)
    if values.ndim != 1 or len(values) < n:
        raise ValueError(
            f"values must be one-dimensional and of {n} elements or more; got shape {values.shape}"
        )
    return values


def scatter(g_a, values, subsarray):
    """Set the elements at an (n, ndim) array of subscripts, or at one after another."""
    array = allocated(g_a)
    at = _subscripts(array, subsarray)
    values = _given(array, values, len(at))
    owners, offsets = _places(array, at)
    for owner in np.unique(owners):
        chosen = np.flatnonzero(owners == owner)
        if array.window.is_shared:
            np.asarray(array.memory(int(owner)))[offsets[chosen]] = values[chosen]
            continue
        for i in chosen:
            place = array.section(int(offsets[i]), [1], [1])
            array.window.put(array.raw(values[i : i + 1].copy()), int(owner), *place)
    _handles.dirty.add(array)
    statistics["scatter"] += 1


def scatter_acc(g_a, values, subsarray, alpha=None):
    """Add alpha * values to the elements at subscripts, each atomically."""
    array = allocated(g_a)
    at = _subscripts(array, subsarray)
    values = _given(array, values, len(at))
    if alpha is not None:
        values = values * array.dtype.type(array.convert(alpha))
    for value, index in _zip(values[: len(at)], at, strict=True):
        lo = [int(i) for i in index]
        array.add(np.full([1] * array.ndim, value, array.dtype), lo, [i + 1 for i in lo])


def read_inc(g_a, subscript, inc=1):
    """Add to an element of an array of integers and return what it was, in one step."""
    array = allocated(g_a)
    if array.dtype.kind not in "iu":
        raise TypeError(f"read_inc: the array must be of integers; got {array.dtype}")
    at = ints(subscript)
    inside(array, at, [i + 1 for i in at])
    owner, start, *_ = next(iter(array.pieces(at, [i + 1 for i in at])))
    statistics["read_inc"] += 1
    return int(array.window.read_inc(owner, start, int(inc)))


# The memory of a rank.


def access(g_a, lo=None, hi=None, proc=-1):
    """The elements that a rank of this node holds, as an array that shares the memory; None if it holds none."""
    array = allocated(g_a)
    proc = array.rank if proc < 0 else proc
    blocks = array.distribution.blocks_of(proc)
    if not blocks or not array.distribution.size_of(blocks[0]):
        return None
    part = array.block(blocks[0])
    if lo is None and hi is None:
        return part
    first, last = array.distribution.bounds(blocks[0])
    lo = first if lo is None else ints(lo)
    hi = last if hi is None else ints(hi)
    if any(a < f or b > e or a > b for a, b, f, e in _zip(lo, hi, first, last, strict=True)):
        raise ValueError(
            f"access: the patch is not on rank {proc}; got {lo} to {hi}; expected {first} to {last} or less"
        )
    return part[tuple(slice(a - f, b - f) for a, b, f in _zip(lo, hi, first, strict=True))]


def access_block(g_a, idx):
    """A block of a block-cyclic array, by its number."""
    return allocated(g_a).block(int(idx))


def access_block_grid(g_a, subscript):
    """A block of a block-cyclic array, by its place in the grid of blocks."""
    array = allocated(g_a)
    return array.block(array.distribution.number(ints(subscript)))


def access_block_segment(g_a, proc):
    """All elements that a rank holds of a block-cyclic array, block after block."""
    return allocated(g_a).memory(proc)


def access_ghosts(g_a):
    """This rank's block with its ghosts; None if it holds no elements."""
    array = allocated(g_a)
    blocks = array.distribution.blocks_of(array.rank)
    if not blocks or not array.distribution.size_of(blocks[0]):
        return None
    return array.block(blocks[0], ghosts=True)


def access_ghost_element(g_a, subscript):
    """One element of this rank's block with its ghosts, as an array without axes that shares the memory."""
    whole = access_ghosts(g_a)
    return whole[tuple(slice(i, i + 1) for i in ints(subscript))].reshape(())


def _release(g_a, *where):
    """End of an access: what was written is there at the next synchronisation."""
    allocated(g_a)


def release(g_a, lo=None, hi=None):
    """End of an access that only read."""
    _release(g_a)


def release_update(g_a, lo=None, hi=None):
    """End of an access that wrote."""
    _release(g_a)


release_block = release_block_grid = release_block_segment = release_ghost_element = _release
release_update_block = release_update_block_grid = release_update_block_segment = _release
release_update_ghost_element = release_ghosts = release_update_ghosts = _release


def update_ghosts(g_a):
    """Copy the neighbours' elements into the ghosts of all blocks; the array goes on at its other end."""
    _refresh(g_a, lambda array, first, last: [(None, None)])


def update_ghost_dir(g_a, dimension, dir, flag):
    """Copy the neighbours' elements into the ghosts on one side along an axis; `flag`: corners, too."""
    _refresh(g_a, None, dimension, dir, flag)


def _refresh(g_a, everywhere, dimension=0, side=0, corners=True):
    array = allocated(g_a)
    with collective(array):
        found = []
        for number in array.distribution.blocks_of(array.rank):
            if not array.distribution.size_of(number):
                continue
            first, last = array.distribution.bounds(number)
            wide = [w if corners or k == dimension else 0 for k, w in enumerate(array.width)]
            lo = [a - w for a, w in _zip(first, wide, strict=True)]
            hi = [b + w for b, w in _zip(last, wide, strict=True)]
            if everywhere is None and side > 0:
                lo[dimension] = last[dimension]
            elif everywhere is None:
                hi[dimension] = first[dimension]
            values = un.empty(tuple(extents(lo, hi)), dtype=array.dtype)
            for a, b, slices in _wrapped(array, lo, hi):
                values[slices] = array.read(a, b)
            cut = tuple(
                slice(a - f + w, b - f + w)
                for a, b, f, w in _zip(lo, hi, first, array.width, strict=True)
            )
            found.append((array.block(number, ghosts=True)[cut], values))
        _handles.synchronize(array.group)
        for target, values in found:
            target[...] = values
