"""What programs on global arrays share: beginning and end, synchronisation, messages, mutexes, printing."""

import sys
import time
from math import prod

import numpy as np

import unisono as un

from .. import mpi
from ._groups import group_of, nodeid, world
from ._handles import (
    allocated,
    bounds,
    bytes_in_use,
    collective,
    dirty,
    flush,
    handles,
    inside,
    state,
    statistics,
    synchronize,
)


def initialize():
    """Begin; importing `unisono.ga` and using it does so by itself."""
    world()
    state["initialized"] = True


def initialize_ltd(limit):
    """Begin, with a limit of memory on each rank in bytes; 0: none."""
    initialize()
    state["limit"] = int(limit)


def initialized():
    """Whether the program has begun, and not ended, to use global arrays."""
    return state["initialized"] or bool(handles)


def terminate():
    """Destroy all arrays; all ranks call."""
    from ._creation import destroy

    for g_a in list(handles):
        destroy(g_a)
    state["initialized"] = False


def sync():
    """Wait for all ranks of the default group; everything that they wrote is there."""
    synchronize(group_of())


def pgroup_sync(pgroup=-1):
    """Wait for all ranks of a group; everything that they wrote is there."""
    synchronize(group_of(pgroup))


def mask_sync(first, last):
    """Whether the next collective operation synchronises before and after it."""
    state["mask"] = (bool(first), bool(last))


_fences = [0]


def init_fence():
    """Begin to watch for the completion of writes."""
    _fences[0] += 1


def fence():
    """Wait until what was written since `init_fence` is there."""
    if not _fences[0]:
        raise ValueError("fence: no fence was begun; call init_fence first")
    _fences[0] -= 1
    flush()


def error(message, code=1):
    """Print a message and end all ranks."""
    text = message.decode() if isinstance(message, bytes) else message
    print(f"{world().rank}: {text}: {code}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    mpi.COMM_WORLD.Abort(int(code) & 0x7F or 1)


def set_debug(debug):
    """Set a flag that programs may ask for."""
    state["debug"] = bool(debug)


def get_debug():
    """The flag that `set_debug` set."""
    return state["debug"]


def wtime():
    """Seconds since some time in the past."""
    return time.perf_counter()


# Messages.


def pgroup_brdcst(pgroup, buffer, root=0):
    """Send an array of one rank to all of a group; returns it."""
    values = np.asarray(buffer)
    if not values.flags.c_contiguous:
        raise ValueError("brdcst: the buffer must be contiguous")
    if not values.flags.writeable:
        values = values.copy()
    group_of(pgroup).comm.Bcast(values.view(np.uint8) if values.ndim else values.reshape(1), root)
    return values


def brdcst(buffer, root=0):
    """Send an array of one rank to all; returns it."""
    return pgroup_brdcst(-1, buffer, root)


def _abs(choose):
    def larger(x, y):
        return choose(np.abs(x), np.abs(y))

    return larger


_operations = {
    "+": np.add,
    "*": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "absmax": _abs(np.maximum),
    "absmin": _abs(np.minimum),
}


def pgroup_gop(pgroup, X, op):
    """Combine the arrays of all ranks of a group: '+', '*', 'max', 'min', 'absmax', 'absmin'. Returns the result."""
    op = op.decode() if isinstance(op, bytes) else op
    if op not in _operations:
        raise ValueError(f"gop: no such operation; got {op!r}; expected one of {list(_operations)}")
    values = np.asarray(X)
    if not values.flags.c_contiguous:
        raise ValueError("gop: X must be contiguous")
    if values.dtype.kind not in "iufc":
        raise TypeError(f"gop: type not supported; got {values.dtype}")
    if op.startswith("abs"):
        values = np.abs(values)
    result = np.asarray(group_of(pgroup).comm.allreduce(values, _operations[op]))
    if isinstance(X, np.ndarray | un._engine._Array) and X.ndim:
        X[...] = result
        return X
    return result.astype(values.dtype)


def pgroup_gop_add(pgroup, X):
    """Sum over the ranks of a group."""
    return pgroup_gop(pgroup, X, "+")


def pgroup_gop_multiply(pgroup, X):
    """Product over the ranks of a group."""
    return pgroup_gop(pgroup, X, "*")


def pgroup_gop_max(pgroup, X):
    """Maximum over the ranks of a group."""
    return pgroup_gop(pgroup, X, "max")


def pgroup_gop_min(pgroup, X):
    """Minimum over the ranks of a group."""
    return pgroup_gop(pgroup, X, "min")


def pgroup_gop_absmax(pgroup, X):
    """Maximum of absolute values over the ranks of a group."""
    return pgroup_gop(pgroup, X, "absmax")


def pgroup_gop_absmin(pgroup, X):
    """Minimum of absolute values over the ranks of a group."""
    return pgroup_gop(pgroup, X, "absmin")


def gop(X, op):
    """Combine the arrays of all ranks: '+', '*', 'max', 'min', 'absmax', 'absmin'. Returns the result."""
    return pgroup_gop(-1, X, op)


def gop_add(X):
    """Sum over all ranks."""
    return gop(X, "+")


def gop_multiply(X):
    """Product over all ranks."""
    return gop(X, "*")


def gop_max(X):
    """Maximum over all ranks."""
    return gop(X, "max")


def gop_min(X):
    """Minimum over all ranks."""
    return gop(X, "min")


def gop_absmax(X):
    """Maximum of absolute values over all ranks."""
    return gop(X, "absmax")


def gop_absmin(X):
    """Minimum of absolute values over all ranks."""
    return gop(X, "absmin")


# Mutexes: numbers of the rank that holds each, dealt out to ranks in turn.

_mutexes = {}


def create_mutexes(number):
    """Make mutexes 0 to number - 1; False if there are some already."""
    if _mutexes:
        return False
    comm = world().comm
    window = mpi.window(-(-int(number) // comm.size), "int32", comm)
    _mutexes.update(number=int(number), window=window, held=set())
    return True


def destroy_mutexes():
    """Give the mutexes back; False if there are none."""
    if not _mutexes:
        return False
    _mutexes["window"].free()
    _mutexes.clear()
    return True


def _mutex(mutex):
    if not _mutexes or not 0 <= mutex < _mutexes["number"]:
        raise ValueError(f"ga: no such mutex; got {mutex}; create_mutexes makes them")
    owner, place = mutex % world().size, mutex // world().size
    return _mutexes["window"], owner, place


def lock(mutex):
    """Wait for a mutex and take it."""
    window, owner, place = _mutex(mutex)
    if mutex in _mutexes["held"]:
        raise ValueError(f"lock: this rank holds mutex {mutex} already")
    limit = _timeout()
    start = time.monotonic()
    while window.compare_and_swap(0, world().rank + 1, owner, place) != 0:
        world().comm.Iprobe()  # lets others' one-sided calls advance
        time.sleep(0)
        if 0 < limit < time.monotonic() - start:
            raise un.CommError(
                f"lock: waited {limit:.0f} seconds for mutex {mutex}; UNISONO_COMM_TIMEOUT sets how long to wait"
            )
    _mutexes["held"].add(mutex)


def _timeout():
    """Seconds; longer than other waits, which end only where no rank works."""
    import os

    return 10 * float(os.environ.get("UNISONO_COMM_TIMEOUT", "60"))


def unlock(mutex):
    """Give a mutex up; what was written before is there."""
    window, owner, place = _mutex(mutex)
    if mutex not in _mutexes["held"]:
        raise ValueError(f"unlock: this rank does not hold mutex {mutex}; lock it first")
    flush()
    _mutexes["held"].remove(mutex)
    window.compare_and_swap(world().rank + 1, 0, owner, place)


# Printing: rank 0 of the group speaks.


def print_stdout(g_a):
    """Print an array."""
    print_patch(g_a)


def print_file(g_a, file):
    """Print an array into a file, or one of that name."""
    print_patch(g_a, file=file)


def print_patch(g_a, lo=None, hi=None, pretty=True, *, file=None):
    """Print a patch; `pretty`: with numbers of rows and columns."""
    a = allocated(g_a)
    lo, hi = bounds(a, lo, hi)
    inside(a, lo, hi)
    with collective(a):
        if a.rank != 0:
            return
        text = _text(a, lo, hi, pretty)
        if isinstance(file, str):
            with open(file, "w") as opened:
                opened.write(text)
        else:
            print(text, end="", file=file or sys.stdout, flush=True)


def _text(a, lo, hi, pretty):
    values = np.asarray(a.read(lo, hi))
    patch = ",".join(f"{x}:{y}" for x, y in zip(lo, hi, strict=True))
    lines = [f" global array: {a.name}[{patch}], {a.dtype}"]

    def shown(value):
        return f"{value:12.5f}" if a.dtype.kind == "f" else f"{value!s:>12}"

    for index in np.ndindex(values.shape[:-2]):
        if index:
            place = ",".join(str(i + o) for i, o in zip(index, lo, strict=False))
            lines.append(f" -- patch: {place}, ...")
        block = np.atleast_2d(values[index])
        for at in range(0, block.shape[1], 6):
            if pretty:
                columns = range(at + lo[-1], min(at + 6, block.shape[1]) + lo[-1])
                lines.append(" " * 5 + "".join(f"{c:12d}" for c in columns))
            for i, row in enumerate(block[:, at : at + 6]):
                row_number = i + (lo[-2] if len(lo) > 1 else 0)
                number = f"{row_number:5d}" if pretty else ""
                lines.append(number + "".join(map(shown, row)))
    return "\n".join(lines) + "\n"


def print_distribution(g_a):
    """Print which rank holds what."""
    a = allocated(g_a)
    with collective(a):
        if a.rank == 0:
            print(f"Array Handle={int(g_a)} Name:'{a.name}' Data Type:{a.dtype}")
            print("Array Dimensions:" + "x".join(map(str, a.dims)))
            for block in range(a.distribution.count):
                lo, hi = a.distribution.bounds(block)
                patch = ",".join(f"{x}:{y}" for x, y in zip(lo, hi, strict=True))
                print(f"Process={a.distribution.owner(block)}\t owns array section: [{patch}]")
            sys.stdout.flush()


def print_stats():
    """Print how often this rank called what, and the bytes that it moved."""
    s = statistics
    print(f"GA Statistics for process {nodeid():4d}")
    print(
        "calls: "
        + " ".join(
            f"{name} {s[name]}"
            for name in "create destroy get put acc scatter gather read_inc".split()
        )
    )
    print(f"bytes total: get {s['bytes_get']} put {s['bytes_put']} acc {s['bytes_acc']}")
    print(f"Max memory consumed for GA by this process: {s['peak']} bytes", flush=True)


def summarize(verbose):
    """Print the arrays there are; `verbose`: and which rank holds what."""
    print(f"{nodeid()}: {len(handles)} arrays, {bytes_in_use()} bytes, {len(dirty)} written")
    for g_a, a in handles.items():
        dims = "x".join(map(str, a.dims or []))
        print(f"{nodeid()}: array {g_a} => {a.name}, {prod(a.dims or [0])} elements of {dims}")
        if verbose and a.window is not None:
            for block in range(a.distribution.count):
                owner, (lo, hi) = a.distribution.owner(block), a.distribution.bounds(block)
                print(f"  (process {owner} holds {lo} to {hi})")
    sys.stdout.flush()
