"""``cupyx.profiler``: `benchmark`, and ranges that a profiler would show."""

from __future__ import annotations

import contextlib

from ..profiler import PerfCaseResult, benchmark

__all__ = ["PerfCaseResult", "benchmark", "profile", "time_range"]


@contextlib.contextmanager
def profile():
    """A block that CUDA's profiler would look at; it runs as it is."""
    yield


class time_range(contextlib.ContextDecorator):
    """A named block or function; it runs as it is, and waits for its work where `sync` says so.

    Parameters
    ----------
    message : str, optional
    color_id, argb_color : int, optional
        CuPy's, without effect.
    sync : bool
    """

    def __init__(self, message=None, color_id=None, argb_color=None, sync=False):
        self.message, self._sync = message, sync

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._sync:
            import unisono

            unisono.synchronize()
