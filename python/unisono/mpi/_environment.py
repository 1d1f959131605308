"""Names of MPI's that programs ask about the job, the host and the library."""

from .._engine import CommError

THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE = range(4)
BSEND_OVERHEAD = 0
SUCCESS = 0
ERR_BUFFER, ERR_COUNT, ERR_TYPE, ERR_TAG, ERR_COMM, ERR_RANK, ERR_REQUEST, ERR_ROOT = range(1, 9)
ERR_ARG, ERR_TRUNCATE, ERR_OTHER = 13, 15, 16
Exception = CommError


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


def Detach_buffer():
    """The memory for `Bsend`: none is kept.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Detach_buffer()
    """
