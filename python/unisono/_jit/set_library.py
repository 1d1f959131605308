"""What compiled code makes of the items that methods of sets are given, written in Python itself."""

from __future__ import annotations

from . import jit


@jit
def as_set(items):
    if isinstance(items, set):
        return items
    else:
        return set(items)
