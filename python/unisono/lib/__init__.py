"""NumPy's ``lib``: views by strides; the rest is NumPy's own."""

from . import stride_tricks

__all__ = ["stride_tricks"]


def __getattr__(name):
    if not name.startswith("_"):
        import importlib

        numpys = importlib.import_module("numpy.lib")
        if hasattr(numpys, name):
            return getattr(numpys, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
