"""One array program, every processor: NumPy's names on a lazy engine for CPUs, devices and clusters."""

import sys as _sys

try:
    # RTLD_LAZY for RTLD_NOW: few of the engine's functions are called in a process.
    _dlopen_flags = _sys.getdlopenflags()
    _sys.setdlopenflags(_dlopen_flags & ~2 | 1)
    from . import _engine as _engine
except ImportError as error:
    from ._runtime.processor import error_of_import

    raise error_of_import(error) from None
finally:
    _sys.setdlopenflags(_dlopen_flags)
# The order counts: of two functions of one name the later one stays.
# isort: off
from ._arrays.creation import *
from ._dtype import objects as _dtypes
from ._dtype.objects import *
from ._engine import *
from ._engine import __version__ as __version__
from ._engine import absolute as abs
from ._arrays.functions import *

# isort: on
from ._imports import install as _watch_imports

pi = 3.141592653589793
e = 2.718281828459045
inf = float("inf")
nan = float("nan")
euler_gamma = 0.5772156649015329
little_endian = True
newaxis = None
__array_api_version__ = "2025.12"
_watch_imports()
_engine._note_texts()  # that `exec` runs: functions in them may be compiled later


def __getattr__(name):
    """Load modules that are seldom needed, or slow to import, at their first use."""
    import importlib

    from ._lazy import aliases, computes, homes, modules, numpys, way_out

    if name in homes:
        home = importlib.import_module(homes[name], __name__)
        value = getattr(home, name)
        if homes[name].startswith(computes) and type(value) is type(__getattr__):
            function, value = value, _engine._FastPath(value)
            for module in {home, importlib.import_module(function.__module__)}:  # pickles name it
                for other, same in list(vars(module).items()):
                    if same is function:
                        setattr(module, other, value)
    elif name in aliases:
        value = getattr(importlib.import_module(__name__), aliases[name])
    elif name in modules.split():
        value = importlib.import_module("." + name, __name__)
    elif name in numpys:
        value = getattr(importlib.import_module("numpy"), name)
    else:
        raise AttributeError(f"module 'unisono' has no attribute '{name}'; {way_out(name)}")
    globals()[name] = value
    return value


def __dir__():
    from ._lazy import aliases, homes, modules, numpys

    return sorted({*globals(), *homes, *aliases, *modules.split()} - numpys)


class _Package(type(_engine)):
    """The package: ``vars(un)`` holds what ``from unisono import *`` binds, as with modules that load everything."""

    @property
    def __all__(self):
        from ._lazy import numpys, other_modules

        return sorted(n for n in {*dir(self), *numpys} - other_modules if not n.startswith("_"))

    @property
    def __dict__(self):
        names = type(_engine).__dict__["__dict__"].__get__(self)
        if "_is_loading" not in names:
            names["_is_loading"] = True
            try:
                for name in self.__all__:
                    getattr(self, name)
            finally:
                del names["_is_loading"]
        return names


_sys.modules[__name__].__class__ = _Package
