"""Meshes: ranks over which arrays are distributed."""

import atexit
import os
import sys
import time

import unisono as un

from .. import _engine
from .._loaded import loaded
from . import layouts, parts

_engine.Mesh.scatter, _engine.Mesh.gather = parts.scatter, parts.gather

_meshes = {}


def mesh(kind="mpi", ranks=None, *, latency=1e-6, bandwidth=10e9, sample=None):
    """The mesh of all ranks of this job, or one of ranks that live in this process.

    Parameters
    ----------
    kind : str
        ``"mpi"``: the ranks of the job. The first call is collective, and starts MPI unless another library has done
        so; importing unisono does not. From then on an exception that nobody catches on one rank ends all ranks.
        ``"virtual"``: `ranks` ranks in this process, whose `run` calls a function on each. In functions that run there,
        either kind gives the rank's own mesh.
    ranks : int, optional
        Number of virtual ranks.
    latency, bandwidth : float
        What messages between virtual ranks take: seconds, and bytes a second.
    sample : sequence of int, optional
        Only these virtual ranks run. What they send goes nowhere, and what they receive is 0: for what a rank of a large
        job costs.

    Returns
    -------
    Mesh or VirtualMesh
        A mesh has ``rank``, ``size`` and ``barrier()``, and is accepted as ``mesh=`` by `zeros` and others. A virtual one
        has ``size``, ``run(f, *args)`` and ``report()``.

    Raises
    ------
    TypeError
        If `kind` is not a string, or `ranks` no int.
    ValueError
        If there is no such kind; if `ranks` is missing for virtual ones, or less than 1.

    Examples
    --------
    >>> import unisono as un
    >>> m = un.mesh("mpi")
    >>> un.zeros((4, 3), mesh=m).sum().item()
    0.0
    >>> un.mesh("virtual", 3).run(lambda: un.ones(10, mesh=un.mesh()).local.size)
    [3, 3, 4]
    """
    own = own_mesh()
    if own is not None and ranks is None and kind in ("mpi", "virtual"):
        return own
    if kind == "virtual":
        from .virtual import make

        return make(ranks, latency, bandwidth, sample)
    if ranks is not None:
        raise ValueError(
            f"mesh: the launcher says how many ranks a mesh of kind {kind!r} has; got {ranks}; expected none"
        )
    if kind not in _meshes:
        made = _engine._mesh(kind)
        _meshes[kind] = made
        _share_processors()
        _end_together(made)
    return _meshes[kind]


def own_mesh():
    """The mesh of the virtual rank that the calling thread is; None elsewhere."""
    virtual = loaded("unisono._runtime.virtual")
    return virtual and virtual.own_mesh()


def _share_processors():
    """Give each rank of a node its share of the threads, where the launcher did not bind ranks to processors."""
    local = os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") or os.environ.get("MPI_LOCALNRANKS") or "1"
    mine = len(os.sched_getaffinity(0))
    is_bound = mine < (os.cpu_count() or 1)
    if local.isdigit() and not is_bound and "UNISONO_NUM_THREADS" not in os.environ:
        un.set_num_threads(max(1, min(un.get_num_threads(), mine // int(local))))


def meshes():
    """The meshes that were made."""
    own = own_mesh()
    return tuple(_meshes.values()) if own is None else (own,)


def _end_together(m):
    """Make an uncaught exception or the end of the program an event of all ranks."""
    before = sys.excepthook

    def hook(kind, value, trace):
        before(kind, value, trace)
        if m.size > 1:
            print(
                f"unisono: rank {m.rank} of {m.size} ended by {kind.__name__}; all ranks end",
                file=sys.stderr,
                flush=True,
            )
        # What the launcher has not passed on when the job is aborted is lost.
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(0.2)
        # A divergence is raised on all ranks: each may say so.
        m._abort(1, 5.0 if issubclass(kind, _engine.CommError) else 0.0)

    def finish():
        try:
            m._finish()
        except Exception as error:
            print(f"unisono: rank {m.rank} of {m.size}: {error}", file=sys.stderr, flush=True)
            sys.stdout.flush()
            m._abort(1, 5.0)

    sys.excepthook = hook
    atexit.register(finish)


def empty(m, shape, dtype, layout=None):
    """Distributed array whose elements are not set."""
    if layout is None:
        return m.empty(shape, dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return m.empty(shape, dtype, layouts.parse(layout, shape, m.size))


def full(m, shape, fill_value, dtype, layout=None):
    """Distributed array filled with a number."""
    if dtype is None:
        dtype = _engine._full((), fill_value, None, "cpu").dtype
    out = empty(m, shape, dtype, layout)
    out[...] = fill_value
    return out


def spread(m, x, dtype, layout=None):
    """Distribute an array that is equal on all ranks."""
    if isinstance(x, _engine._Array) and x.device == m:
        made = x if dtype is None or x.dtype == dtype else x.astype(dtype)
        return made if layout is None else to_layout(made, layout)
    host = x if isinstance(x, _engine._Array) else _engine._array(x, None, "cpu", None)
    if layout is None:
        return m._spread(host, dtype)
    out = empty(m, host.shape, host.dtype if dtype is None else dtype, layout)
    out[...] = host
    return out


def to_layout(x, layout):
    """`x` in another layout: itself where it has that."""
    m = x.device
    if not isinstance(m, _engine.Mesh):
        raise ValueError(f"to_layout: expected a distributed array; got one on {m}")
    wanted = layouts.parse("block" if layout is None else layout, x.shape, m.size)
    entries, ascends, owner, is_grid = _engine._mesh_split(x)
    is_whole = not entries and owner < 0 and not is_grid
    even = ((0, m.size, None),) if x.ndim else ()
    if ascends and (entries or is_whole) and entries == (even if wanted is None else wanted):
        return x
    out = m.empty(x.shape, x.dtype, wanted)
    out[...] = x
    return out
