"""The exception that stands for those of engines."""

import re

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


_OURS = re.compile(r"\s*File (<string>:1$|.*/(ipyparallel/engine|unisono/_cluster)/)")


class RemoteError(RuntimeError):
    """Raised by `cluster`'s methods when code on engines has raised.

    Attributes
    ----------
    errors : dict
        By rank: the exception's name, its text, and the traceback on the engine.
    rank : int
        The lowest rank that raised something else than an interrupt.

    Examples
    --------
    >>> import unisono as un
    >>> error = un.RemoteError(2, {1: ("KeyError", "'a'", "line 1")})
    >>> print(error)
    rank 1 of 2: KeyError: 'a'
    line 1
    """

    def __init__(self, size, errors, note=""):
        self.size, self.errors, self.note = size, dict(sorted(errors.items())), note
        raised = [rank for rank, e in self.errors.items() if e[0] != "KeyboardInterrupt"]
        self.rank = (raised or list(self.errors))[0]
        super().__init__(size, errors, note)

    def __str__(self):
        name, text, trace = self.errors[self.rank]
        lines = [f"rank {self.rank} of {self.size}: {name}: {text}", trace.rstrip()]
        for rank, (name, text, _) in self.errors.items():
            if rank != self.rank:
                lines.append(f"rank {rank}: {name}: {text}".rstrip(": "))
        return "\n".join([*lines, self.note] if self.note else lines)


RemoteError.__module__ = "unisono"


def plain(text):
    """Text without the colours of terminals."""
    return _COLOURS.sub("", text or "")


def _users(trace):
    """A traceback of IPython without the frames of what called the user's code."""
    kept, skips = [], False
    for line in plain(trace).splitlines():
        if _OURS.match(line):
            skips = True
        elif not skips:
            kept.append(line)
        elif not line:  # the end of a frame
            skips = False
    return "\n".join(kept)


def collect(results, ranks):
    """The exceptions among the results of ranks: by rank, name, text and traceback."""
    return {
        rank: _told(result)
        for rank, result in zip(ranks, results, strict=False)
        if isinstance(result, Exception)
    }


def _told(error):
    if hasattr(error, "ename"):
        return error.ename, plain(error.evalue), _users(error.traceback)
    # The engine dropped what was waiting behind code that raised, or did not answer.
    return type(error).__name__, f"{plain(str(error))}; the code did not run; run it again", ""
