"""``cupy.random``: `unisono.random`, with what is drawn on the current device."""

from __future__ import annotations

import unisono as _un

from . import _placing


def __getattr__(name):
    value = getattr(_un.random, "Philox" if name == "Philox4x3210" else name)
    if name in ("Generator", "RandomState"):
        value = _placing.class_of_draws(value, __name__)
    elif not isinstance(value, type) and callable(value) and name not in _placing.states:
        value = _placing.drawing(_un.random, name)
        value = _placing.of_dtype(value) if name in _placing.typed | {"random"} else value
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *dir(_un.random), "Philox4x3210"})


def default_rng(seed=None):
    """A generator of the bits of ``unisono.random.default_rng``, whose draws lie on the current device.

    Parameters
    ----------
    seed : int, SeedSequence, BitGenerator or Generator, optional

    Returns
    -------
    Generator

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> cp.random.default_rng(3).integers(0, 2, 4).shape
    (4,)
    """
    made = _un.random.default_rng(seed)
    return made if made is seed else __getattr__("Generator")(made.bit_generator)
