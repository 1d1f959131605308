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

import sys as _sys

if getattr(_sys, "argv", None) and _sys.argv[0] == "-m":  # a module is being located: this package?
    from ._launch import receive_modules as _receive_modules

    _receive_modules()  # those below as well

from ._buffers.datatypes import (
    DISTRIBUTE_BLOCK,
    DISTRIBUTE_CYCLIC,
    DISTRIBUTE_DFLT_DARG,
    DISTRIBUTE_NONE,
    ORDER_C,
    ORDER_F,
    Datatype,
)
from ._buffers.datatypes import named as _named
from ._buffers.shares import IN_PLACE
from ._communicator import (
    ANY_SOURCE,
    ANY_TAG,
    CART,
    COMM_NULL,
    COMM_TYPE_SHARED,
    DIST_GRAPH,
    GRAPH,
    PROC_NULL,
    Comm,
)
from ._environment import (
    BSEND_OVERHEAD,
    THREAD_FUNNELED,
    THREAD_MULTIPLE,
    THREAD_SERIALIZED,
    THREAD_SINGLE,
    Aint_add,
    Aint_diff,
    Attach_buffer,
    Detach_buffer,
    Exception,
    Finalize,
    Flush_buffer,
    Get_abi_version,
    Get_error_class,
    Get_error_string,
    Get_library_version,
    Get_processor_name,
    Get_version,
    Init,
    Init_thread,
    Is_finalized,
    Is_initialized,
    Is_thread_main,
    Pcontrol,
    Query_thread,
    Wtick,
    get_vendor,
)
from ._errors import Errhandler
from ._errors import named as _numbers
from ._files import (
    FILE_NULL,
    MODE_APPEND,
    MODE_CREATE,
    MODE_DELETE_ON_CLOSE,
    MODE_EXCL,
    MODE_RDONLY,
    MODE_RDWR,
    MODE_SEQUENTIAL,
    MODE_UNIQUE_OPEN,
    MODE_WRONLY,
    SEEK_CUR,
    SEEK_END,
    SEEK_SET,
    File,
)
from ._groups import CONGRUENT, GROUP_EMPTY, GROUP_NULL, IDENT, SIMILAR, UNEQUAL, Group
from ._info import INFO_ENV, INFO_NULL, Info
from ._intercomm import ROOT, Intercomm
from ._kept_values import HOST, IO, TAG_UB, WTIME_IS_GLOBAL
from ._matched import MESSAGE_NO_PROC, MESSAGE_NULL, Message
from ._objects import ObjectRequest
from ._one_sided.exposed import expose
from ._one_sided.memory import BOTTOM, Alloc_mem, Free_mem, Get_address, buffer
from ._one_sided.win import (
    LOCK_EXCLUSIVE,
    LOCK_SHARED,
    MODE_NOCHECK,
    MODE_NOPRECEDE,
    MODE_NOPUT,
    MODE_NOSTORE,
    MODE_NOSUCCEED,
    WIN_BASE,
    WIN_CREATE_FLAVOR,
    WIN_DISP_UNIT,
    WIN_FLAVOR_ALLOCATE,
    WIN_FLAVOR_CREATE,
    WIN_FLAVOR_DYNAMIC,
    WIN_FLAVOR_SHARED,
    WIN_MODEL,
    WIN_NULL,
    WIN_SEPARATE,
    WIN_SIZE,
    WIN_UNIFIED,
    Win,
)
from ._one_sided.windows import Window, window
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
from ._pickles import Pickle, pickle
from ._processes import Close_port, Lookup_name, Open_port, Publish_name, Unpublish_name
from ._processes import was_spawned as _was_spawned
from ._requests import REQUEST_NULL, Grequest, Prequest, Request
from ._status import UNDEFINED, Status
from ._topology import Compute_dims

Cartcomm = Distgraphcomm = Graphcomm = Intracomm = Topocomm = Comm
memory = buffer
ORDER_FORTRAN = ORDER_F
UNWEIGHTED, WEIGHTS_EMPTY = None, ()  # of the edges of graphs
OP_NULL = Op("OP_NULL", None, None)
globals().update(_named, **_numbers)

__all__ = [
    "ANY_SOURCE",
    "ANY_TAG",
    "Aint_add",
    "Aint_diff",
    "Alloc_mem",
    "Attach_buffer",
    "BAND",
    "BOR",
    "BOTTOM",
    "BSEND_OVERHEAD",
    "BXOR",
    "CART",
    "COMM_NULL",
    "COMM_TYPE_SHARED",
    "CONGRUENT",
    "Cartcomm",
    "Close_port",
    "Comm",
    "Compute_dims",
    "DIST_GRAPH",
    "Datatype",
    "Detach_buffer",
    "DISTRIBUTE_BLOCK",
    "DISTRIBUTE_CYCLIC",
    "DISTRIBUTE_DFLT_DARG",
    "DISTRIBUTE_NONE",
    "Distgraphcomm",
    "Errhandler",
    "Exception",
    "FILE_NULL",
    "File",
    "Flush_buffer",
    "Finalize",
    "Free_mem",
    "GRAPH",
    "GROUP_EMPTY",
    "GROUP_NULL",
    "Get_abi_version",
    "Get_address",
    "Get_error_class",
    "Get_error_string",
    "Get_library_version",
    "Get_processor_name",
    "Get_version",
    "Graphcomm",
    "Grequest",
    "Group",
    "HOST",
    "IDENT",
    "INFO_ENV",
    "INFO_NULL",
    "IN_PLACE",
    "IO",
    "Info",
    "Init",
    "Init_thread",
    "Intercomm",
    "Intracomm",
    "Is_finalized",
    "Is_initialized",
    "Is_thread_main",
    "LAND",
    "LOCK_EXCLUSIVE",
    "LOCK_SHARED",
    "LOR",
    "LXOR",
    "MAX",
    "MAXLOC",
    "MESSAGE_NO_PROC",
    "MESSAGE_NULL",
    "MIN",
    "MINLOC",
    "MODE_APPEND",
    "MODE_CREATE",
    "MODE_DELETE_ON_CLOSE",
    "MODE_EXCL",
    "MODE_NOCHECK",
    "MODE_NOPRECEDE",
    "MODE_NOPUT",
    "MODE_NOSTORE",
    "MODE_NOSUCCEED",
    "MODE_RDONLY",
    "MODE_RDWR",
    "MODE_SEQUENTIAL",
    "MODE_UNIQUE_OPEN",
    "MODE_WRONLY",
    "Lookup_name",
    "Message",
    "NO_OP",
    "OP_NULL",
    "ORDER_C",
    "ORDER_F",
    "ORDER_FORTRAN",
    "ObjectRequest",
    "Op",
    "Open_port",
    "PROC_NULL",
    "PROD",
    "Pcontrol",
    "Pickle",
    "Publish_name",
    "Prequest",
    "Query_thread",
    "REPLACE",
    "REQUEST_NULL",
    "Request",
    "ROOT",
    "SEEK_CUR",
    "SEEK_END",
    "SEEK_SET",
    "SIMILAR",
    "SUM",
    "Status",
    "TAG_UB",
    "THREAD_FUNNELED",
    "THREAD_MULTIPLE",
    "THREAD_SERIALIZED",
    "THREAD_SINGLE",
    "Topocomm",
    "UNDEFINED",
    "UNEQUAL",
    "UNWEIGHTED",
    "Unpublish_name",
    "WEIGHTS_EMPTY",
    "WIN_BASE",
    "WIN_CREATE_FLAVOR",
    "WIN_DISP_UNIT",
    "WIN_FLAVOR_ALLOCATE",
    "WIN_FLAVOR_CREATE",
    "WIN_FLAVOR_DYNAMIC",
    "WIN_FLAVOR_SHARED",
    "WIN_MODEL",
    "WIN_NULL",
    "WIN_SEPARATE",
    "WIN_SIZE",
    "WIN_UNIFIED",
    "WTIME_IS_GLOBAL",
    "Win",
    "Window",
    "Wtick",
    "Wtime",
    "buffer",
    "get_vendor",
    "library_version",
    "memory",
    "pickle",
    "expose",
    "window",
    *_named,
    *_numbers,
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


if _was_spawned():  # those that started this process wait for it
    Wtime()
