"""What a message means: a buffer, and which of its elements belong to which rank."""

from itertools import accumulate

from .datatypes import Datatype, is_message, memory_of, specified, type_of


class _InPlace:
    def __repr__(self):
        return "unisono.mpi.IN_PLACE"

    @property
    def _in_compiled_code(self):
        from ..._jit import mpi_library

        return mpi_library.IN_PLACE


IN_PLACE = _InPlace()


def _split(spec, blocks=1, varies=False):
    """The buffer of ``buf``, ``[buf, counts]``, ``[buf, (counts, starts)]`` or ``[buf, counts, starts]``, and both.

    Where a buffer has a block for each of `blocks` ranks, one count is that of each block. `varies`: the call takes
    counts, and one count, or a distance of blocks, holds for all ranks.
    """
    if spec is None or spec is IN_PLACE:
        return None, None
    if not isinstance(spec, list | tuple) or not spec:
        return spec, None
    buffer, *rest = spec
    kind = rest.pop() if rest and isinstance(rest[-1], str | Datatype) else None
    counts, starts = (*rest, None, None)[:2]
    if len(rest) == 1 and isinstance(counts, list | tuple) and len(counts) == 2:
        first, second = counts
        if not _is_number(first) or second is None or (varies and isinstance(counts, tuple)):
            counts, starts = first, second
    if not varies or (counts is None and starts is None):
        if (counts is None or _is_number(counts)) and (starts is None or _is_number(starts)):
            if counts is not None and blocks != 1:
                spec = [buffer, (int(counts) * blocks, starts), *([] if kind is None else [kind])]
            return (spec if is_message(spec) else buffer), None
    if counts is not None and not _is_number(counts) and not len(counts):
        return (spec if is_message(spec) else buffer), None
    if buffer is None:
        return None, None
    width = 1
    if isinstance(kind, Datatype) and kind._places is not None:
        width = len(kind._places)  # elements of one, packed
    if type_of(kind) is not None:
        buffer = specified((buffer, kind), True)
    if counts is None:
        counts = (
            len(memoryview(buffer).cast("B")) // (memoryview(buffer).itemsize * width) // blocks
        )
    counts = [int(counts)] * blocks if _is_number(counts) else [int(c) for c in counts]
    if starts is None:
        starts = [0, *accumulate(counts)][: len(counts)]
    elif _is_number(starts):
        starts = [k * int(starts) for k in range(len(counts))]
    return buffer, ([c * width for c in counts], [int(s) * width for s in starts])


def _is_number(x):
    return isinstance(x, int) or (hasattr(x, "__index__") and not getattr(x, "ndim", 0))


def _copied(buf):
    """The bytes of a buffer, which may be one of ``[buffer, count, type]``."""
    memory = specified(buf, False) if buf is None or isinstance(buf, list | tuple) else None
    memory = memory_of(buf) if memory is None else memory
    if hasattr(memory, "copy"):
        return memory.copy()
    import numpy

    return numpy.array(memoryview(memory))  # of the same kind of elements


def _first(buf, count):
    """So many elements of a buffer, which may be one of ``[buffer, count, type]``."""
    if isinstance(buf, list | tuple):
        kind = [buf[-1]] if isinstance(buf[-1], str | Datatype) else []
        return [buf[0], count, *kind]
    return [buf, count]


def none_of(memory):
    """No elements, of the kind of those in a memory; not at its address, which MPI would take for the call in place."""
    import numpy

    dtype = getattr(memory, "dtype", None)
    return numpy.empty(0, numpy.asarray(memory).dtype if dtype is None else str(dtype))


def memory_and_count(buffer):
    """What a buffer, or ``[buffer, count, type]``, means, and how many elements it has."""
    listed = buffer is None or isinstance(buffer, list | tuple)
    memory = specified(buffer, True) if listed else memory_of(buffer)
    size = getattr(memory, "size", None)
    return memory, len(memoryview(memory).cast("B")) // memoryview(
        memory
    ).itemsize if size is None else size


def parts_of(buffer, ranks, root):
    """Memory and the elements of each of so many ranks; or of one alone, all."""
    if ranks is None:
        memory, count = memory_and_count(buffer)
        return memory, {root: (count, 0)}
    kind = [buffer[-1]] if isinstance(buffer, list | tuple) and not _are_numbers(buffer[-1]) else []
    counts = starts = None
    if isinstance(buffer, list | tuple):
        given = list(buffer[1 : len(buffer) - len(kind)])
        if len(given) == 1 and isinstance(given[0], tuple) and not _is_number(given[0][0]):
            given = list(given[0])
        counts, starts = (*given, None, None)[:2]
        buffer = buffer[0]
    memory, size = memory_and_count([buffer, *kind] if kind else buffer)
    if counts is None:
        counts = size // ranks
    counts = [int(counts)] * ranks if _is_number(counts) else [int(c) for c in counts]
    if starts is None:
        starts = [sum(counts[:k]) for k in range(ranks)]
    return memory, {k: (counts[k], int(starts[k])) for k in range(ranks)}


def _are_numbers(x):
    return x is None or _is_number(x) or hasattr(x, "__len__") and not isinstance(x, str)
