"""The connection of this process to its job: made at the first use, ended with the program."""

import sys
from threading import Lock

from .. import _engine

_state = {}
_begun = []
_starting = Lock()  # several threads may be the first


class _Ending:
    """What ends a job, in the form that meshes have."""

    def __init__(self, job, world):
        self._job = job
        self.rank, self.size = world.rank, world.size

    def _finish(self):
        left = self._job.finish()
        if left:
            print(left, end="", file=sys.stderr, flush=True)

    def _abort(self, status, grace):
        self._job.abort(status)


def begin():
    """Start MPI unless another library has; returns the connection and the engine's communicator of all ranks."""
    if not _begun:
        job = _engine._mpi_job()
        _begun[:] = job, job.world()
    return _begun


def connect():
    """Start MPI unless another library has, and return the connection and the communicator of all ranks.

    For a virtual rank: its own, which end with its run.
    """
    from .._runtime.mesh import own_mesh

    if own_mesh() is not None:
        from .._runtime.virtual import connect_rank

        return connect_rank()
    if not _state:
        with _starting:
            if not _state:
                _start()
    return _state


def _start():
    from .._runtime.mesh import _end_together

    job, world = begin()
    _state.update(job=job, world=world, self=job.self())
    if both := job.parent():
        from ._intercomm import Intercomm
        from ._links import Linked

        _state["parent"] = Intercomm._of(world.Dup(), Linked(both))
    _end_together(_Ending(job, world))
