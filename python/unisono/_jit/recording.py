"""How compiled functions show in profiles: as Python functions of their name, file and line."""

from __future__ import annotations


def recorded(call, function):
    """A Python function that profilers take for `function`, and that runs `call`.

    Parameters
    ----------
    call : callable
    function : function
        Whose name, file and first line it shows.
    """

    def run(*args, **kwargs):
        return call(*args, **kwargs)

    code = function.__code__
    run.__code__ = run.__code__.replace(
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )
    return run
