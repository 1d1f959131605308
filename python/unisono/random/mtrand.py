"""NumPy's module of the old interface: ``mtrand._rand`` is the generator that the module's functions share."""

from ._legacy import *  # noqa: F403
from ._legacy import RandomState as RandomState
from ._legacy import _names, _state

__all__ = ["RandomState", *_names]


def __getattr__(name):
    if name == "_rand":  # made at its first use; libraries take it where no seed is given
        return _state()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
