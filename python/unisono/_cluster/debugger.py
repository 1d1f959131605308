"""pdb on an engine, with commands from the client over a socket."""

import hmac
import linecache
import pdb
import secrets
import socket
import sys

_PROMPT = "(Pdb) "
_attached = []  # on an engine: the debugger of the code that runs; None where another rank is debugged


class _Pdb(pdb.Pdb):
    """pdb that reads from, and writes to, a connection."""

    def __init__(self, address, token):
        self._connection = socket.create_connection(address, timeout=30)
        self._connection.settimeout(None)
        self._connection.sendall(token.encode() + b"\n")
        file = self._connection.makefile("rw", encoding="utf-8")
        super().__init__(stdin=file, stdout=file, nosigint=True, readrc=False)
        self.prompt = _PROMPT

    def close(self):
        """Say goodbye; the client then goes on."""
        self.stdout.flush()
        self._connection.close()
        self.stdout.close()


def breakpoint_hook(*args, **kwargs):
    """What ``breakpoint()`` does on an engine."""
    if not _attached:
        raise RuntimeError(
            "breakpoint: no debugger is attached to this rank; run the code by debug(rank, code) of the cluster"
        )
    if _attached[-1] is not None:
        _attached[-1].set_trace(sys._getframe(1))


def post_mortem(address, token):
    """Look at the last exception of this rank."""
    trace = getattr(sys, "last_traceback", None)
    if trace is None:
        raise RuntimeError(
            "debug: nothing has raised on this rank; give the code to run: debug(rank, code)"
        )
    debugger = _Pdb(address, token)
    try:
        debugger.reset()
        debugger.interaction(None, trace)
    finally:
        debugger.close()


def run(code, name, is_debugged, address, token):
    """Run code in the engine's namespace; where it is debugged under pdb, which stops at its first line."""
    from .engine import _shell

    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    program, namespace = compile(code, name, "exec"), _shell().user_ns
    debugger = _Pdb(address, token) if is_debugged else None
    _attached.append(debugger)
    try:
        if debugger is None:
            exec(program, namespace)
        else:
            debugger.run(program, namespace)
    finally:
        _attached.pop()
        if debugger is not None:
            debugger.close()


class Listener:
    """The client's end: waits for the engine, then passes commands to it and its answers on."""

    def __init__(self, host):
        self.token = secrets.token_hex(16)
        self._server = socket.create_server((host, 0))
        self.address = self._server.getsockname()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self._server.close()

    def accept(self, is_over):
        """The connection of the engine, or None once `is_over()`."""
        self._server.settimeout(0.1)
        while True:
            try:
                connection, _ = self._server.accept()
            except TimeoutError:
                if is_over():
                    return None
                continue
            connection.settimeout(30)
            with connection.makefile("rb", buffering=0) as file:
                said = file.readline(256).strip()
            if hmac.compare_digest(said, self.token.encode()):
                connection.settimeout(None)
                return connection
            connection.close()


def converse(connection, ask, tell):
    """Until the debugger ends: what it says to `tell`, and an answer of `ask` at each prompt (None: quit)."""
    text = ""
    with connection:
        while data := connection.recv(65536):
            text += data.decode("utf-8", "replace")
            if not text.endswith(_PROMPT):
                continue
            tell(text.removesuffix(_PROMPT))
            text = ""
            answer = ask()
            connection.sendall(("quit" if answer is None else answer).encode() + b"\n")
    if text:
        tell(text)
