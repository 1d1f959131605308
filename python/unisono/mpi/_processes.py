"""Processes that a program starts or meets while it runs, with mpi4py's names; they are the other group of an `Intercomm`."""

import os
import shutil

from .._engine import CommError
from ._info import INFO_NULL, Info
from ._intercomm import Intercomm
from ._job import connect
from ._links import Linked
from ._types import _Comm

_OF_PLACES = {"host", "hostfile", "add-host", "add-hostfile", "path"}  # hints where programs lie

_LAUNCHERS = set(
    "orted orterun mpirun mpiexec prted prte prterun mpiexec.hydra hydra_pmi_proxy slurmstepd".split()
)


def was_spawned():
    """Whether another program started this process, which waits until it uses MPI.

    Processes that this one starts by other means have the same environment, but their parent is no launcher.
    """
    if not {"OMPI_PARENT_PORT", "PMI_SPAWNED"} & set(os.environ):
        return False
    with open(f"/proc/{os.getppid()}/comm") as file:
        return file.read().strip() in _LAUNCHERS


def _hints(info):
    return [(str(key), str(value)) for key, value in (info or {}).items()]


def _find(command, hints):
    """The command as text; CommError where it is no program: MPI would wait for it."""
    command, folder = os.fspath(command), dict(hints).get("wdir", "")
    if _OF_PLACES & set(dict(hints)):
        return command
    is_path = os.sep in command
    if not shutil.which(os.path.join(folder, command) if is_path else command):
        place = "an executable file" if is_path else "an executable file in a folder of PATH"
        raise CommError(
            f"Spawn: no such program; got {command!r}; expected {place} (MPI_ERR_SPAWN)"
        )
    return command


def _launch(command, args, maxprocs, info):
    if isinstance(args, str):
        raise ValueError(f"Spawn: a sequence of arguments; got the str {args!r}; expected a list")
    if maxprocs < 1:
        raise ValueError(f"Spawn: at least one process; got maxprocs={maxprocs}")
    hints = _hints(info)
    arguments = [os.fspath(a) for a in args or ()]
    return _find(command, hints), arguments, int(maxprocs), hints


def _of_each(name, given, count, single):
    """One for each command: a list as it is, one for all repeated."""
    if given is None or isinstance(given, single):
        return [given] * count
    if isinstance(given, str) or len(given) != count:
        raise ValueError(
            f"Spawn_multiple: one of {name} for each of {count} commands; got {given!r}"
        )
    return list(given)


def _launches(command, args, maxprocs, info):
    if isinstance(command, str | os.PathLike):
        raise ValueError(f"Spawn_multiple: a sequence of commands; got {command!r}")
    count = len(command)
    if args is not None and any(isinstance(a, str) for a in args):
        raise ValueError(f"Spawn_multiple: a sequence of arguments for each command; got {args!r}")
    counts = _of_each("maxprocs", 1 if maxprocs is None else maxprocs, count, int)
    parts = _of_each("args", args, count, ()), counts, _of_each("info", info, count, Info | dict)
    return [_launch(*one) for one in zip(command, *parts, strict=True)]


def _spawn(comm, root, plan):
    """Start what the root's plan gives; all ranks get its error where it fails."""
    launches = wrong = None
    if comm.rank == root:
        try:
            launches = plan()
        except Exception as error:
            wrong = error
    launches, wrong = comm.bcast((launches, wrong), root)
    if wrong is not None:
        raise wrong
    local = comm.Dup()
    both = connect()["job"].spawn(local, launches, root)
    return Intercomm._of(local, Linked(both)), [[0] * count for _, _, count, _ in launches]


class Processes:
    """Methods of communicators that start and meet processes."""

    def Spawn(self, command, args=None, maxprocs=1, info=INFO_NULL, root=0, errcodes=None):
        """Start so many processes of a program, which must use MPI; all ranks call, and get the `Intercomm` with them.

        The program, its arguments, the number and the hints are those of the root. `errcodes`: a list that gets SUCCESS
        for each process. CommError where they cannot be started.
        """
        made, codes = _spawn(self, root, lambda: [_launch(command, args, maxprocs, info)])
        if errcodes is not None:
            errcodes[:] = codes[0]
        return made

    def Spawn_multiple(
        self, command, args=None, maxprocs=None, info=INFO_NULL, root=0, errcodes=None
    ):
        """The same of several programs, of each one process by default: sequences of what `Spawn` takes."""
        made, codes = _spawn(self, root, lambda: _launches(command, args, maxprocs, info))
        if errcodes is not None:
            errcodes[:] = codes
        return made

    @classmethod
    def Get_parent(cls):
        """The `Intercomm` with the processes that started this one by `Spawn`; equal to COMM_NULL where there are none."""
        return connect().get("parent") or Intercomm()

    def Accept(self, port_name, info=INFO_NULL, root=0):
        """Wait for ranks that connect to a port of the root; all ranks call, and get the `Intercomm` with them."""
        return _met(self, "accept", port_name, info, root)

    def Connect(self, port_name, info=INFO_NULL, root=0):
        """Connect to ranks that accept at a port; all ranks call, and get the `Intercomm` with them."""
        return _met(self, "connect", port_name, info, root)

    @classmethod
    def Join(cls, fd):
        """The `Intercomm` with the process at the other end of a socket, which makes the same call."""
        return _linked(connect()["self"].Dup(), connect()["job"].join(fd))


def _met(comm, how, port, info, root):
    local = comm.Dup()
    given = port if comm.rank == root else ""
    return _linked(local, getattr(connect()["job"], how)(local, given, _hints(info), root))


def _linked(local, both):
    return Intercomm._of(local, Linked(both)) if both else Intercomm()


def Open_port(info=INFO_NULL):
    """Open a port at which others `Connect` while this rank and those beside it `Accept`.

    Parameters
    ----------
    info : Info
        Hints for MPI.

    Returns
    -------
    str
        The name of the port.

    Examples
    --------
    >>> import unisono as un
    >>> port = un.mpi.Open_port()
    >>> un.mpi.Close_port(port)
    """
    return connect()["job"].open_port(_hints(info))


def Close_port(port_name):
    """Close a port that `Open_port` opened.

    Parameters
    ----------
    port_name : str

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Close_port(un.mpi.Open_port())
    """
    connect()["job"].close_port(port_name)


def _swapped(info, port_name):
    """Both, where they are given as in MPI's C calls: the hints before the port."""
    return (info, port_name) if isinstance(port_name, str) else (port_name, info)


def Publish_name(service_name, port_name, info=INFO_NULL):
    """Let other programs of the same launcher find a port by a name.

    Parameters
    ----------
    service_name, port_name : str
    info : Info
        Hints for MPI.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Publish_name("weather", un.mpi.Open_port())  # doctest: +SKIP
    """
    info, port_name = _swapped(info, port_name)
    connect()["job"].publish(service_name, port_name, _hints(info))


def Unpublish_name(service_name, port_name, info=INFO_NULL):
    """Take a name back.

    Parameters
    ----------
    service_name, port_name : str
        As they were given to `Publish_name`.
    info : Info
        Hints for MPI.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Unpublish_name("weather", "port")  # doctest: +SKIP
    """
    info, port_name = _swapped(info, port_name)
    connect()["job"].unpublish(service_name, port_name, _hints(info))


def Lookup_name(service_name, info=INFO_NULL):
    """The port of a name.

    Parameters
    ----------
    service_name : str
        As it was given to `Publish_name`.
    info : Info
        Hints for MPI.

    Returns
    -------
    str

    Raises
    ------
    CommError
        If no program that runs published it.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.Lookup_name("nobody's")  # doctest: +SKIP
    """
    return connect()["job"].lookup(service_name, _hints(info))


for _name, _method in vars(Processes).items():
    if not _name.startswith("__"):
        setattr(_Comm, _name, _method)
