"""Numba's settings that programs ask for or set, by Numba's names; all others are in docs/settings.md.

``DISABLE_JIT``, assigned, counts for what is decorated from then on; ``NUMBA_NUM_THREADS`` is `get_num_threads` and
`set_num_threads`; ``CACHE_DIR``, ``THREADING_LAYER`` and ``THREADING_LAYER_PRIORITY`` are told.

Examples
--------
>>> import unisono as un
>>> un.config.DISABLE_JIT, un.config.NUMBA_NUM_THREADS == un.get_num_threads()
(False, True)
"""

import os
import sys
import types

from ._jit import options
from ._jit.numba_words import threading_layer as _threading_layer

__all__ = (
    "CACHE_DIR DISABLE_JIT NUMBA_DEFAULT_NUM_THREADS NUMBA_NUM_THREADS THREADING_LAYER "
    "THREADING_LAYER_PRIORITY".split()
)
_LAYERS = ("default", "tbb", "omp", "workqueue", "safe", "threadsafe", "forksafe")


class _Config(types.ModuleType):  # whose names are computed, also in compiled functions
    @property
    def DISABLE_JIT(self):
        return options.is_disabled()

    @DISABLE_JIT.setter
    def DISABLE_JIT(self, value):
        options.disabled = bool(value)

    @property
    def NUMBA_NUM_THREADS(self):
        from . import get_num_threads

        return get_num_threads()

    @NUMBA_NUM_THREADS.setter
    def NUMBA_NUM_THREADS(self, n):
        from . import set_num_threads

        set_num_threads(n)

    @property
    def NUMBA_DEFAULT_NUM_THREADS(self):
        return len(os.sched_getaffinity(0))

    @property
    def CACHE_DIR(self):
        from . import _engine

        return _engine._setting("cache_dir")

    @property
    def THREADING_LAYER(self):
        return _threading_layer()

    @THREADING_LAYER.setter
    def THREADING_LAYER(self, name):
        if name not in _LAYERS:
            raise ValueError(
                f"config.THREADING_LAYER: expected one of {', '.join(_LAYERS)}; got {name!r}; "
                "threads are oneTBB's in any case"
            )

    @property
    def THREADING_LAYER_PRIORITY(self):
        return [_threading_layer()]

    @THREADING_LAYER_PRIORITY.setter
    def THREADING_LAYER_PRIORITY(self, names):
        for name in names:
            self.THREADING_LAYER = name

    def __getattr__(self, name):
        raise AttributeError(
            f"config: Numba's setting {name!r} has no meaning here; docs/settings.md lists the settings, "
            "un.jit's keywords say the rest"
        )

    def __setattr__(self, name, value):
        if not hasattr(type(self), name):
            getattr(self, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Config
