"""An engine: an IPython kernel on one rank of the MPI job that a cluster started, and what runs in it for the client."""

import contextlib
import os
import shutil
import signal
import socket
import sys
import threading

_held = {}  # distributed arrays that the client has handles of, by number


def main():
    """Connect to the controller by the environment's description, under the rank as id, and serve."""
    from ipyparallel.engine.app import IPEngine

    names = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
    rank = next((os.environ[name] for name in names if name in os.environ), "0")
    host, client, controller, folder = os.environ["UNISONO_CLUSTER"].split(" ", 3)
    is_remote = host != socket.gethostname()
    if rank == "0":
        left = None if is_remote else (int(client), int(controller), folder)
        threading.Thread(target=_end_with_client, args=(left,), daemon=True).start()
    if is_remote:
        import tempfile

        folder = tempfile.mkdtemp(prefix="unisono-engine-")
    options = {
        "ProfileDir.location": folder,
        "IPEngine.id": rank,
        "IPEngine.enable_nanny": str(is_remote),  # passes signals on to engines of other machines
        "IPEngine.timeout": "60",
        "IPEngine.log_level": "40",
    }
    IPEngine.launch_instance(argv=[f"--{key}={value}" for key, value in options.items()])


def _end_with_client(left):
    """Wait for the end of the input, which is that of the job or of the client, and end what a dead client has left."""
    while os.read(0, 4096):
        pass
    if left is not None:
        client, controller, folder = left
        try:
            os.kill(client, 0)
        except ProcessLookupError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(controller, signal.SIGTERM)
            shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def prepare(paths):
    """Start MPI; returns rank, size, host and process id. `paths` are the client's folders of modules."""
    import unisono as un

    from . import debugger

    sys.path.extend(p for p in paths if p not in sys.path)
    shell = _shell()
    shell.user_ns.setdefault("un", un)
    for kind in ("text/plain", "text/html"):
        formatter = shell.display_formatter.formatters[kind]
        formatter.for_type(un.ndarray, _show if kind == "text/plain" else _show_html)
    sys.breakpointhook = debugger.breakpoint_hook
    world = un.mpi.COMM_WORLD
    return world.rank, world.size, socket.gethostname(), os.getpid()


def _shell():
    from IPython import get_ipython

    return get_ipython()


def describe(x):
    """What a handle of a distributed array shows: shape, dtype, layout, and the part of this rank."""
    part = x.global_index
    return tuple(x.shape), x.dtype.name, x.layout, part


def is_distributed(x):
    """Whether an object is a distributed array."""
    import unisono as un

    return isinstance(x, un._engine._Array) and x.mesh is not None


def _show(x, printer, cycle):
    if not is_distributed(x):
        printer.text(repr(x))
        return
    from .remote import text_of_part

    printer.text(text_of_part(*describe(x), x.mesh.rank, x.mesh.size))


def _show_html(x):
    return None if is_distributed(x) else x._repr_html_()


def fetch(names, first, dropped):
    """Values of names; of distributed arrays (number, description), kept under numbers from `first` on."""
    for number in dropped:
        _held.pop(number, None)
    namespace, out = _shell().user_ns, []
    for k, name in enumerate(names):
        if name not in namespace:
            raise NameError(f"pull: there is no name {name!r} on this rank")
        value = namespace[name]
        if is_distributed(value):
            _held[first + k] = value
            out.append((first + k, describe(value)))
        else:
            out.append((None, value))
    return out


def part(number):
    """This rank's part of an array that is kept under a number, for NumPy."""
    import numpy as np

    return np.array(_held[number].local)


def total(number, name):
    """The value of a reduction of an array that is kept, which all ranks compute together."""
    return getattr(_held[number], name)().item()
