"""Modules that nothing is imported for: only where one is loaded can a value be of its classes."""

import sys


def loaded(name):
    """The module of that name if its import has ended, else None: another thread may be in the middle of it."""
    module = sys.modules.get(name)
    if module is None:
        return None
    spec = getattr(module, "__spec__", None)
    return None if getattr(spec, "_initializing", False) else module
