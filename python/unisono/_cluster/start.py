"""Starts and ends the processes of a cluster: ipyparallel's controller, and an MPI job of engines."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .. import _engine

# What an MPI process finds in its environment; a launcher that finds it takes itself for a rank.
_OF_A_RANK = re.compile(
    r"(OMPI_(?!MCA_|ALLOW_)|PMIX?_|PRTE_|ORTE_|HYDI?_|MPIR?_LOCAL|OMPI_MCA_(ess|orte|pmix))"
)


def need_ipyparallel():
    """The module ipyparallel."""
    try:
        import ipyparallel
    except ImportError as error:
        raise ImportError(
            f"cluster: ipyparallel, which starts and drives the engines, could not be imported ({error}); install it: "
            "pip install ipyparallel, or unisono[cluster]"
        ) from None
    return ipyparallel


def command_of(launcher):
    """The launcher's command as a list, checked."""
    command = shlex.split(launcher) if isinstance(launcher, str) else [*map(os.fspath, launcher)]
    if not command or not shutil.which(command[0]):
        raise FileNotFoundError(
            f"cluster: the engines are started by {' '.join(command) or 'nothing'!r}, and there is no such program; "
            "install Open MPI or MPICH (Debian: apt install openmpi-bin), or give another: launcher='srun'"
        )
    return command


class Processes:
    """The processes of one cluster: `client` is connected to the engines, whose ids are their ranks."""

    def __init__(self, n, launcher, timeout, address):
        ipyparallel = need_ipyparallel()
        command = command_of(launcher)
        self.deadline = time.monotonic() + timeout
        self.timeout, self.n = timeout, n
        self.job = self.client = None
        self.places = []  # host and process id of each rank, once it has told them
        self._folder = tempfile.TemporaryDirectory(prefix="unisono-cluster-")
        self.log = Path(self._folder.name, "engines.log")
        self._controller = ipyparallel.Cluster(
            n=n,
            profile_dir=self._folder.name,
            load_profile=False,
            controller_ip=address,
            shutdown_atexit=False,
            log_level=50,
        )
        try:
            self._controller.start_controller_sync()
            self.client = self._controller.connect_client_sync()
            self._start_job(command)
            self._wait_for_engines()
        except BaseException:
            self.end()
            raise

    def _start_job(self, command):
        controller = self._controller.controller.process.pid
        described = f"ipcontroller-{self._controller.cluster_id}-engine.json"
        environment = {k: v for k, v in os.environ.items() if not _OF_A_RANK.match(k)}
        # More engines than processors are what was asked for.
        environment.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
        environment.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
        environment.setdefault("EVENT_NOEPOLL", "1")  # for mpirun: see docs/messages.md
        environment["IPP_CONNECTION_INFO"] = Path(
            self._folder.name, "security", described
        ).read_text()
        environment["UNISONO_CLUSTER"] = (
            f"{socket.gethostname()} {os.getpid()} {controller} {self._folder.name}"
        )
        engine = [sys.executable, "-m", "unisono._cluster"]
        with open(self.log, "wb") as log:
            self.job = subprocess.Popen(
                [*command, "-n", str(self.n), *engine],
                env=environment,
                stdin=subprocess.PIPE,  # its end tells the engines that this process has gone
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in a terminal is for this process alone
            )

    def _wait_for_engines(self):
        while len(self.client.ids) < self.n:
            try:
                status = self.job.wait(0.05)
            except subprocess.TimeoutExpired:
                status = None
            if status is not None:
                raise _engine.CommError(
                    f"cluster: the engines did not start: {self.job.args[0]} ended with status {status}\n{self.tail()}"
                )
            if time.monotonic() > self.deadline:
                raise _engine.CommError(
                    f"cluster: {len(self.client.ids)} of {self.n} engines were there after {self.timeout:g} seconds; "
                    f"timeout= sets how long to wait\n{self.tail()}"
                )

    def tail(self, lines=20):
        """The end of what the engines' processes and their launcher wrote."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def interrupt(self):
        """Raise KeyboardInterrupt in the engines that are running something."""
        here, away = socket.gethostname(), []
        for rank, (host, pid) in enumerate(self.places):
            if host != here:
                away.append(rank)
            elif self.job.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGINT)
        if away:
            self.client.send_signal(signal.SIGINT, targets=away, block=False)

    def end(self, patience=10.0):
        """End all processes: the engines by themselves within `patience` seconds, else by signals."""
        if self.job is not None:
            if self.job.poll() is None and self.client is not None and patience > 0:
                try:
                    self.interrupt()
                    self.client.shutdown(targets="all", block=False)
                except Exception:
                    patience = 0.0
            self._end_job(patience)
        if self.client is not None:
            self.client.close(linger=0)
        self._controller.stop_controller_sync()
        self._folder.cleanup()

    def _end_job(self, patience):
        for seconds, act in ((patience, self.job.terminate), (5.0, self.job.kill), (None, None)):
            try:
                self.job.wait(seconds)
                break
            except subprocess.TimeoutExpired:
                act()
        self.job.stdin.close()
