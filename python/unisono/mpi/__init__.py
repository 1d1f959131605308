"""Messages, collective calls and one-sided memory between the ranks of an MPI job.

The names are mpi4py's: upper-case methods move the memory of arrays (of any device) and other buffers, lower-case ones
take any object. Reading an array that has not been computed computes what it needs. Importing this module starts
nothing; the first use of `COMM_WORLD` or `COMM_SELF` starts MPI, unless another library has.

Examples
--------
>>> import unisono as un
>>> comm = un.mpi.COMM_WORLD
>>> x, y = un.arange(3.0) * 2, un.empty(3)
>>> comm.Allreduce(x, y)  # of one rank, here
>>> y.tolist()
[0.0, 2.0, 4.0]
>>> comm.allgather({"rank": comm.rank})
[{'rank': 0}]
"""

from ._communicator import ANY_SOURCE, ANY_TAG, IN_PLACE, PROC_NULL, Comm
from ._objects import UNDEFINED, ObjectRequest, Request, Status
from ._operations import (
    BAND,
    BOR,
    BXOR,
    LAND,
    LOR,
    LXOR,
    MAX,
    MAXLOC,
    MIN,
    MINLOC,
    NO_OP,
    PROD,
    REPLACE,
    SUM,
    Op,
)
from ._windows import Window, window

__all__ = [
    "ANY_SOURCE",
    "ANY_TAG",
    "BAND",
    "BOR",
    "BXOR",
    "IN_PLACE",
    "LAND",
    "LOR",
    "LXOR",
    "MAX",
    "MAXLOC",
    "MIN",
    "MINLOC",
    "NO_OP",
    "PROC_NULL",
    "PROD",
    "REPLACE",
    "SUM",
    "UNDEFINED",
    "Comm",
    "ObjectRequest",
    "Op",
    "Request",
    "Status",
    "Window",
    "Wtime",
    "library_version",
    "window",
]


COMM_WORLD: Comm
COMM_SELF: Comm


def __getattr__(name):
    """Start MPI at the first use of a communicator."""
    if name not in ("COMM_WORLD", "COMM_SELF"):
        raise AttributeError(
            f"module 'unisono.mpi' has no attribute '{name}'; dir(un.mpi) lists what it has"
        )
    from ._job import connect

    state = connect()
    return state["world" if name == "COMM_WORLD" else "self"]


def __dir__():
    return sorted(__all__)  # without what starts MPI


def Wtime():
    """Seconds since some time in the past, by MPI's clock.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Wtime() <= un.mpi.Wtime()
    True
    """
    from ._job import connect

    return connect()["job"].wall_time()


def library_version():
    """Name and version of the MPI in use.

    Examples
    --------
    >>> import unisono as un
    >>> "MPI" in un.mpi.library_version()
    True
    """
    from ._job import connect

    return connect()["job"].library()
