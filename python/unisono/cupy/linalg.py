"""``cupy.linalg``: `unisono.linalg`."""

from __future__ import annotations

import unisono as _un


def __getattr__(name):
    return getattr(_un.linalg, name)


def __dir__():
    return dir(_un.linalg)
