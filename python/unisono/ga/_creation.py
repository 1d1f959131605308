"""Making, describing and destroying global arrays."""

import numpy as np

from ._groups import group_of, pgroup_get_default
from ._handles import (
    GlobalArray,
    allocated,
    array_of,
    bytes_in_use,
    collective,
    dirty,
    handles,
    ints,
    new_handle,
    state,
    statistics,
    to_dtype,
)


def _text(name):
    return name.decode() if isinstance(name, bytes) else str(name)


def _made(gtype, dims, name, pgroup, **more):
    array = GlobalArray()
    array.gtype, array.dims, array.name = _type(gtype), ints(dims), _text(name)
    array.pgroup = pgroup_get_default() if pgroup < 0 else pgroup
    for key, value in more.items():
        setattr(array, key, value)
    return new_handle(array) if array.allocate() else 0


def _type(gtype):
    if gtype not in to_dtype:
        raise ValueError(f"ga: {gtype} was not a recognized GA type; use ga.C_DBL and the like")
    return gtype


def create(gtype, dims, name="", chunk=None, pgroup=-1):
    """Make an array in blocks of about equal size, at least `chunk` elements along each axis (less than 1: any)."""
    chunk = None if chunk is None else ints(chunk)
    return _made(gtype, dims, name, pgroup, chunk=chunk)


def create_ghosts(gtype, dims, width, name="", chunk=None, pgroup=-1):
    """Make an array whose blocks have `width` ghost elements around them."""
    chunk = None if chunk is None else ints(chunk)
    return _made(gtype, dims, name, pgroup, chunk=chunk, width=ints(width))


def create_irreg(gtype, dims, block, map, name="", pgroup=-1):
    """Make an array of `block` blocks along each axis, which start at the indices in `map`."""
    return _made(gtype, dims, name, pgroup, irregular=(ints(block), ints(map)))


def create_ghosts_irreg(gtype, dims, width, block, map, name="", pgroup=-1):
    """As `create_irreg`, with ghost elements around the blocks."""
    return _made(gtype, dims, name, pgroup, irregular=(ints(block), ints(map)), width=ints(width))


def create_handle():
    """A handle to describe by the ``set_`` functions; `allocate` makes the array."""
    return new_handle(GlobalArray())


def allocate(g_a):
    """Make the memory of an array that was described; returns whether there is enough."""
    array = array_of(g_a)
    if array.dims is None:
        raise ValueError(f"ga: array {g_a} has no dims and type; call set_data first")
    return array.allocate()


def duplicate(g_a, name=""):
    """Make an array with the properties of another; its elements are zero."""
    a, made = allocated(g_a), GlobalArray()
    for key in "gtype dims chunk irregular cyclic proc_grid restricted width pgroup".split():
        setattr(made, key, getattr(a, key))
    made.name = _text(name)
    return new_handle(made) if made.allocate() else 0


def destroy(g_a):
    """Give the memory of an array back; what `access` returned may not be used any more."""
    array = array_of(g_a)
    del handles[int(g_a)]
    dirty.discard(array)
    if array.window is not None:
        array.window.free()
        array.window = None
        statistics["destroy"] += 1


def set_data(g_a, dims, type):
    """Dims and type of an array that is being described."""
    array = array_of(g_a)
    array.dims, array.gtype = ints(dims), _type(type)


def set_array_name(g_a, name):
    """Its name."""
    array_of(g_a).name = _text(name)


def set_chunk(g_a, chunk):
    """The least number of elements of a block along each axis."""
    array_of(g_a).chunk = ints(chunk)


def set_irreg_distr(g_a, mapc, nblock):
    """Blocks between given first indices: `mapc` lists those of the first axis, then of the next."""
    array_of(g_a).irregular = (ints(nblock), ints(mapc))


def set_block_cyclic(g_a, dims):
    """Blocks of that size, dealt out to ranks in turn."""
    array_of(g_a).cyclic = ints(dims)


def set_block_cyclic_proc_grid(g_a, block, proc_grid):
    """Blocks of that size, dealt out along each axis of a grid of ranks."""
    array = array_of(g_a)
    array.cyclic, array.proc_grid = ints(block), ints(proc_grid)


def set_ghosts(g_a, width):
    """Widths of the ghosts around each block."""
    array_of(g_a).width = ints(width)


def set_pgroup(g_a, pgroup):
    """The group whose ranks hold the array."""
    group_of(pgroup)
    array_of(g_a).pgroup = pgroup


def set_restricted(g_a, list):
    """The ranks that hold the array's blocks, in their order."""
    array_of(g_a).restricted = ints(list)


def set_restricted_range(g_a, lo_proc, hi_proc):
    """The ranks that hold the array's blocks: from one to another, both included."""
    array_of(g_a).restricted = list(range(lo_proc, hi_proc + 1))


# Questions.


def dtype(gatype):
    """NumPy's dtype of a type of GA's."""
    return to_dtype[_type(gatype)]


def inquire(g_a):
    """Type and dims."""
    array = array_of(g_a)
    return array.gtype, np.array(array.dims, dtype=np.int64)


def inquire_type(g_a):
    """Type, as GA's number."""
    return array_of(g_a).gtype


def inquire_dtype(g_a):
    """Type, as NumPy's dtype."""
    return dtype(array_of(g_a).gtype)


def inquire_dims(g_a):
    """Dims, as an array of int64."""
    return inquire(g_a)[1]


def inquire_name(g_a):
    """Name."""
    return array_of(g_a).name


def inquire_memory():
    """Bytes of all arrays on this rank."""
    return bytes_in_use()


def ndim(g_a):
    """Number of axes."""
    return array_of(g_a).ndim


def check_handle(g_a, message=""):
    """Call `error` with the message if there is no such array."""
    if int(g_a) not in handles:
        from ._program import error

        error(f"{_text(message)}: no such array handle: {g_a}")


def has_ghosts(g_a):
    """Whether blocks have ghosts along any axis."""
    return any(allocated(g_a).width)


def is_mirrored(g_a):
    """Whether each node has a copy."""
    return allocated(g_a).mirrored


def compare_distr(g_a, g_b):
    """Whether two arrays are distributed alike."""
    return allocated(g_a).distribution.same_as(allocated(g_b).distribution)


def distribution(g_a, proc=-1):
    """lo and hi of the elements that a rank holds; -1 and -1 if none (hi is one more than GA's -2).

    Of block-cyclic arrays: of the block of that number.
    """
    array = allocated(g_a)
    d = array.distribution
    proc = array.rank if proc < 0 else proc
    blocks = [proc] if d.cyclic and proc < d.count else [] if d.cyclic else d.blocks_of(proc)
    if blocks:
        lo, hi = (np.array(x, dtype=np.int64) for x in d.bounds(blocks[0]))
        if (lo < hi).all():
            return lo, hi
    none = np.full(array.ndim, -1, dtype=np.int64)
    return none, none.copy()


def nblock(g_a):
    """Number of blocks along each axis."""
    return np.array(allocated(g_a).distribution.grid, dtype=np.int32)


def total_blocks(g_a):
    """Number of blocks of a block-cyclic array."""
    return allocated(g_a).distribution.count


def get_block_info(g_a):
    """Number of blocks along each axis, and their extents, of a block-cyclic array."""
    d = allocated(g_a).distribution
    extents = d.cyclic or [
        max(b - a for a, b in zip(s, [*s[1:], n], strict=True))
        for s, n in zip(d.starts, d.dims, strict=True)
    ]
    return np.array(d.grid, dtype=np.int32), np.array(extents, dtype=np.int32)


def proc_topology(g_a, proc):
    """Place of a rank in the grid of ranks; -1 where it holds no elements."""
    d = allocated(g_a).distribution
    if d.proc_grid:
        place = []
        for n in d.proc_grid:
            proc, i = divmod(proc, n)
            place.append(i)
    elif d.cyclic or not d.blocks_of(proc):
        place = [-1] * len(d.dims)
    else:
        place = d.position(d.blocks_of(proc)[0])
    return np.array(place, dtype=np.int32)


def locate(g_a, subscript):
    """The rank that holds an element; -1 outside of the array."""
    array = allocated(g_a)
    at = ints(subscript)
    if any(not 0 <= i < n for i, n in zip(at, array.dims, strict=True)):
        return -1
    d = array.distribution
    return d.owner(next(iter(d.touched(at, [i + 1 for i in at]))))


def locate_nnodes(g_a, lo, hi):
    """Number of parts of a patch on different ranks."""
    return len(locate_region(g_a, lo, hi)[1])


def locate_region(g_a, lo, hi):
    """Parts of a patch, as an array of (lo, hi) of each, and the ranks that hold them."""
    array = allocated(g_a)
    lo, hi = ints(lo), ints(hi)
    d, parts, owners = array.distribution, [], []
    for number in d.touched(lo, hi):
        first, last = d.bounds(number)
        a = [max(x, y) for x, y in zip(lo, first, strict=True)]
        b = [min(x, y) for x, y in zip(hi, last, strict=True)]
        if all(x < y for x, y in zip(a, b, strict=True)):
            parts.append([a, b])
            owners.append(d.owner(number))
    shaped = np.array(parts, dtype=np.int64).reshape(len(parts), 2, array.ndim)
    return shaped, np.array(owners, dtype=np.int32)


def memory_avail():
    """Bytes left below the limit, or -1 without one."""
    return state["limit"] - bytes_in_use() if state["limit"] else -1


def memory_limited():
    """Whether memory is limited."""
    return state["limit"] > 0


def set_memory_limit(limit):
    """Bytes that arrays may take on each rank; 0: no limit."""
    state["limit"] = int(limit)


def uses_ma():
    """Whether memory comes from GA's own allocator: it never does."""
    return False


def merge_mirrored(g_a):
    """Add the copies that nodes hold of a mirrored array; each gets the sum."""
    from ._groups import cluster_nodeid, cluster_nprocs, world

    a = allocated(g_a)
    if not a.mirrored:
        raise ValueError("merge_mirrored: the array is not mirrored")
    with collective(a):
        across = world().comm.Split(a.rank, cluster_nodeid())
        if across.size > 1:
            if len(set(across.allgather(cluster_nprocs(-1)))) > 1:
                raise ValueError("merge_mirrored: nodes have different numbers of ranks")
            from .. import mpi

            across.Allreduce(mpi.IN_PLACE, a.memory(a.rank))
        across.Free()


def merge_distr_patch(g_a, alo, ahi, g_b, blo, bhi):
    """Add the copies that nodes hold of a patch of a mirrored array into a patch of another array."""
    from ._elementwise import fill

    a, b = allocated(g_a), allocated(g_b)
    alo, blo = ints(alo), ints(blo)
    fill(g_b, 0, blo, bhi)
    with collective(b):
        shift = [y - x for x, y in zip(alo, blo, strict=True)]
        for number, lo, hi in a.own(alo, ints(ahi)):
            target = [[x + s for x, s in zip(bound, shift, strict=True)] for bound in (lo, hi)]
            b.add(a.here(number, lo, hi), *target)
