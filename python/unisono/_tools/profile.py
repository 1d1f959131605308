"""``with un.profile("trace.json")``: what ran when, on the host's threads and on devices' queues.

The engine keeps the spans (engine/backends/timeline.h). Here they become a trace file, a table, a picture and rows for ``pstats``.
"""

import contextlib
import json
import os
import threading
from collections import namedtuple
from html import escape

from .. import _engine
from .explain import _bytes

__all__ = ["Profile", "Span", "profile"]

_colors = {
    "kernel": "#4c78a8", "call": "#59a14f", "launch": "#b07aa1", "copy": "#f28e2b", "compile": "#e15759",
    "flush": "#d4d4d4", "submit": "#bab0ac",
}  # fmt: skip
# What contains other spans, or stands for one of a device's queue: no work of its own.
_around = frozenset({"flush", "submit"})

Span = namedtuple("Span", "kind name device lane file line begin duration bytes")
Span.__doc__ = """One span of a profile.

Attributes
----------
kind : str
    ``kernel`` (fused statements), ``launch`` (a compiled function or kernel of yours), ``call`` (of the library), ``copy``,
    ``compile``; ``flush`` contains those of one evaluation, ``submit`` is the host's part of what a device's queue took.
name : str
device : str
    Empty: the host.
lane : str
    The thread's name, or the queue's number.
file, line : str, int
    The statement's, or the compiled function's; line 0 where it is not known.
begin, duration : float
    Seconds; `begin` counts from the start of the profile.
bytes : int
    Read and written, or copied; 0 where it is not known.
"""


class Profile(contextlib.ContextDecorator):
    """What ran while a ``with`` block did; made by `profile`.

    Attributes
    ----------
    spans : list of Span
        In the order of their beginnings; complete once the block has ended.
    """

    def __init__(self, path=None):
        self.path, self.spans = None if path is None else os.fspath(path), []

    def __enter__(self):
        _engine._start_profile()
        self.spans = []
        return self

    def __exit__(self, *exc):
        threads = {t.native_id: t.name for t in threading.enumerate()}
        try:
            if exc[0] is None:
                _engine._synchronize()
        finally:
            rows = _engine._stop_profile()
        self.spans = [
            Span(
                kind, name, device,
                f"queue {lane}" if device else threads.get(lane, f"thread {lane}"),
                file, line, begin * 1e-9, (end - begin) * 1e-9, size,
            )
            for kind, name, device, lane, file, line, begin, end, size in rows
        ]  # fmt: skip
        if self.path is not None:
            self.save(self.path)
        return False

    def _work(self):
        return [s for s in self.spans if s.kind not in _around]

    def rows(self):
        """Work of one name and line together, the longest first.

        Returns
        -------
        list of tuple
            (kind, name, device, file, line, calls, seconds, bytes).

        Examples
        --------
        >>> import unisono as un
        >>> with un.profile() as p:
        ...     x = un.sqrt(un.arange(1000.0)).sum()
        >>> sorted({kind for kind, *_ in p.rows()} - {"compile"})
        ['kernel']
        """
        sums = {}
        for s in self._work():
            key = (s.kind, s.name, s.device, s.file, s.line)
            calls, seconds, size = sums.get(key, (0, 0.0, 0))
            sums[key] = calls + 1, seconds + s.duration, size + s.bytes
        return sorted((key + total for key, total in sums.items()), key=lambda row: -row[6])

    def __str__(self):
        rows = self.rows()
        whole = sum(row[6] for row in rows) or 1.0
        lines = [f"{'ms':>10} {'%':>5} {'calls':>7} {'GB/s':>7}  work"]
        for kind, name, device, file, line, calls, seconds, size in rows:
            rate = f"{size / seconds * 1e-9:7.1f}" if size and seconds > 0 else " " * 7
            place = f", {os.path.basename(file)}:{line}" if line else ""
            where = f" on {device}" if device else ""
            lines.append(
                f"{seconds * 1e3:10.3f} {100 * seconds / whole:5.1f} {calls:7} {rate}  {kind} {name}{where}{place}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def to_trace(self):
        """The spans in the trace-event format of Chrome, which Perfetto reads.

        Returns
        -------
        dict
            ``traceEvents``, with a lane for each thread and each queue; times in microseconds, as the format asks.
        """
        rank = _rank()[0]
        lanes, events = {}, []
        for s in self.spans:
            lane = f"{s.device} {s.lane}" if s.device else f"host {s.lane}"
            event = {
                "name": s.name, "cat": s.kind, "ph": "X", "pid": rank, "tid": lanes.setdefault(lane, len(lanes)),
                "ts": round(s.begin * 1e6, 3), "dur": round(s.duration * 1e6, 3), "args": {},
            }  # fmt: skip
            if s.bytes:
                event["args"]["bytes"] = s.bytes
                if s.duration > 0 and s.kind not in _around:
                    event["args"]["GB/s"] = round(s.bytes / s.duration * 1e-9, 3)
            if s.line:
                event["args"]["line"] = f"{s.file}:{s.line}"
            events.append(event)
        names = [{"name": "process_name", "ph": "M", "pid": rank, "args": {"name": f"rank {rank}"}}]
        for lane, number in lanes.items():
            names.append({"name": "thread_name", "ph": "M", "pid": rank, "tid": number, "args": {"name": lane}})  # fmt: skip
        return {"traceEvents": names + events, "displayTimeUnit": "ms"}

    def save(self, path):
        """Write the trace, for https://ui.perfetto.dev or chrome://tracing.

        Parameters
        ----------
        path : path-like
            On several ranks each writes its own: ``trace.json`` becomes ``trace.1.json`` on rank 1.
        """
        rank, size = _rank()
        if size > 1:
            root, end = os.path.splitext(os.fspath(path))
            path = f"{root}.{rank}{end}"
        with open(path, "w") as file:
            json.dump(self.to_trace(), file)

    # What pstats.Stats takes: pstats.Stats(cprofile, p) shows the engine's work beside Python's functions.
    def create_stats(self):
        """Make `stats`, for ``pstats.Stats(p)``, or ``pstats.Stats(c, p)`` beside what ``cProfile`` measured.

        `stats` has rows as ``cProfile`` keeps them: (file, line, name) to (calls, calls, own time, whole time, callers).
        """
        self.stats = rows = {}
        for kind, name, device, file, line, calls, seconds, _ in self.rows():
            key = (file or "~", line, f"<{kind} {name}{' on ' + device if device else ''}>")
            rows[key] = (calls, calls, seconds, seconds, {})

    def _repr_html_(self):
        """A picture: time to the right, a row for each thread and queue, what is inside of a span below it."""
        end = max((s.begin + s.duration for s in self.spans), default=0.0) or 1.0
        lanes = {}
        for s in self.spans:
            lanes.setdefault((s.device, s.lane), []).append(s)
        width, left, row, y, parts = 900, 170, 16, 8, []
        for (device, lane), spans in lanes.items():
            name = f"{device} {lane}" if device else lane
            parts.append(f'<text x="4" y="{y + 12}" font-size="11">{escape(name[:26])}</text>')
            open_ends, deepest = [], 0
            for s in spans:
                while open_ends and open_ends[-1] <= s.begin:
                    open_ends.pop()
                open_ends.append(s.begin + s.duration)
                depth = len(open_ends) - 1
                deepest = max(deepest, depth)
                x, w = left + s.begin / end * width, max(s.duration / end * width, 0.5)
                title = f"{s.kind} {s.name}: {s.duration * 1e3:.3f} ms" + (
                    f", {_bytes(s.bytes)}" if s.bytes else ""
                )
                parts.append(
                    f'<rect x="{x:.1f}" y="{y + depth * row}" width="{w:.1f}" height="{row - 2}" '
                    f'fill="{_colors[s.kind]}"><title>{escape(title)}</title></rect>'
                )
            y += (deepest + 1) * row + 8
        parts.append(f'<text x="{left}" y="{y + 12}" font-size="11">0</text>')
        parts.append(
            f'<text x="{left + width}" y="{y + 12}" font-size="11" text-anchor="end">{end * 1e3:.3f} ms</text>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 10}" height="{y + 20}" '
            f'font-family="sans-serif">{"".join(parts)}</svg><pre>{escape(str(self))}</pre>'
        )


def _rank():
    """This process's number among those that mpirun started, and how many these are."""

    def number(names, default):
        return next((int(os.environ[n]) for n in names if n in os.environ), default)

    return (
        number(("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"), 0),
        number(("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"), 1),
    )


def profile(path=None):
    """Note what runs in a ``with`` block: kernels, library calls, launches, copies and compilations, with your lines.

    Statements that wait are evaluated when the block begins and when it ends, so that the block's own work is seen whole.
    Small statements, which otherwise run without a plan, get one here: each costs some microseconds more.

    Parameters
    ----------
    path : path-like, optional
        Where a trace is written at the end, in Chrome's format, with a lane for each thread and each device's queue: open it
        at https://ui.perfetto.dev. Each rank of an MPI job writes its own (``trace.0.json``, ``trace.1.json``).

    Returns
    -------
    Profile
        Prints as a table, and shows as a picture in a notebook. ``pstats.Stats(p)`` and ``pstats.Stats(c, p)`` put it beside
        what ``cProfile`` measured. Times of devices are those at which the host saw the work end.

    Raises
    ------
    ValueError
        If a profile is running already.

    Examples
    --------
    >>> import unisono as un
    >>> a = un.ones((500, 500))
    >>> with un.profile() as p:
    ...     b = un.tanh(a * 2 + 1)
    >>> [(s.kind, s.name) for s in p.spans if s.kind == "kernel"]
    [('kernel', 'mul add tanh (500, 500)')]
    """
    return Profile(path)
