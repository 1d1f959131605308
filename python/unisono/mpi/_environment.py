"""Names of MPI's that programs ask about the job, the host and the library."""

import re

from .._engine import CommError
from ._errors import named as _errors

THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE = range(4)
BSEND_OVERHEAD = 0


def _code_of(error):
    """The number of an error of MPI's: what it was made with, or what its message names."""
    if error.args and isinstance(error.args[0], int):
        return error.args[0]
    # MPICH tells it in words.
    told = re.search(r"\bMPI_(ERR_\w+)|\bInvalid (rank|tag|root)\b", str(error))
    name = told[1] or f"ERR_{told[2].upper()}" if told else ""
    return _errors.get(name, _errors["ERR_OTHER"])


# Errors of MPI's; wrong arguments are ValueError, TypeError and IndexError. Programs that catch them ask for a number.
Exception = CommError
Exception.Get_error_code = Exception.Get_error_class = _code_of
Exception.Get_error_string = lambda error: Get_error_string(_code_of(error))
Exception.error_code = Exception.error_class = property(_code_of)
Exception.error_string = property(Exception.Get_error_string)


def Get_processor_name():
    """Name of this host.

    Examples
    --------
    >>> import unisono as un
    >>> len(un.mpi.Get_processor_name()) > 0
    True
    """
    import socket

    return socket.gethostname()


def Get_version():
    """Version of the MPI standard whose calls are here: (3, 1).

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Get_version()
    (3, 1)
    """
    return 3, 1


def Get_library_version():
    """Name and version of the MPI in use.

    Examples
    --------
    >>> import unisono as un
    >>> "MPI" in un.mpi.Get_library_version()
    True
    """
    from ._job import connect

    return connect()["job"].library()


def Wtick():
    """Seconds between two ticks of `Wtime`, at most.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Wtick() < 1
    True
    """
    return 1e-6


def Query_thread():
    """Which threads may call: all.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Query_thread() == un.mpi.THREAD_MULTIPLE
    True
    """
    return THREAD_MULTIPLE


def Is_initialized():
    """Whether calls can be made: always, since the first one starts MPI.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Is_initialized()
    True
    """
    return True


def Is_finalized():
    """Whether no calls can be made any more.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Is_finalized()
    False
    """
    return False


def Attach_buffer(buf):
    """Memory for `Bsend`, which needs none.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Attach_buffer(bytearray(100))
    """
    _attached[:] = [buf]


_attached = []


def Detach_buffer():
    """The memory that was given for `Bsend`; None where none was.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Attach_buffer(bytearray(100))
    >>> len(un.mpi.Detach_buffer())
    100
    """
    return _attached.pop() if _attached else None


def Init():
    """Start MPI: the first call that needs it does so.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Init()
    """


def Init_thread(required=THREAD_MULTIPLE):
    """The same; which threads may call: all.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Init_thread() == un.mpi.THREAD_MULTIPLE
    True
    """
    return THREAD_MULTIPLE


def Finalize():
    """End MPI: the end of the program does so.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Finalize()
    """


def Is_thread_main():
    """Whether this is the thread that runs the program.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Is_thread_main()
    True
    """
    import threading

    return threading.current_thread() is threading.main_thread()


def Pcontrol(level):
    """Tell profilers: there are none.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Pcontrol(1)
    """


def get_vendor():
    """The name and the version of the MPI in use.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.get_vendor()[0] in ("Open MPI", "MPICH")
    True
    """
    import re

    text = Get_library_version()
    name = "Open MPI" if "Open MPI" in text else "MPICH" if "MPICH" in text else "unknown"
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return name, tuple(int(n or 0) for n in found.groups()) if found else (0, 0, 0)


def Aint_add(base, disp):
    """An address so many bytes on.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Aint_add(100, 8)
    108
    """
    return base + disp


def Aint_diff(addr1, addr2):
    """The bytes between two addresses.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Aint_diff(108, 100)
    8
    """
    return addr1 - addr2


def Flush_buffer():
    """Wait until what `Bsend` sent has left the memory: it needs none.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Flush_buffer()
    """


def Get_abi_version():
    """Version of MPI's binary interface: (-1, -1), there is none that callers could rely on.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Get_abi_version()
    (-1, -1)
    """
    return -1, -1


def Get_error_class(errorcode):
    """The class of an error's number: it is one.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Get_error_class(un.mpi.ERR_RANK) == un.mpi.ERR_RANK
    True
    """
    return errorcode


def Get_error_string(errorcode):
    """The name of an error's number.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Get_error_string(un.mpi.ERR_RANK)
    'MPI_ERR_RANK'
    """
    for name, number in _errors.items():
        if name.startswith(("ERR_", "SUCCESS")) and number == errorcode:
            return f"MPI_{name}"
    raise ValueError(f"Get_error_string: no number of an error; got {errorcode!r}")
