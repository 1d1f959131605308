"""``cupy.fft``: `unisono.fft`, with frequencies on the current device."""

from __future__ import annotations

import unisono as _un

from ._placing import placed as _placed


def __getattr__(name):
    value = getattr(_un.fft, name)
    if name in ("fftfreq", "rfftfreq"):
        value = _placed(value)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_un.fft)})
