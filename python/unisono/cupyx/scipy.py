"""``cupyx.scipy``: SciPy's sub-packages for arrays of ours.

`linalg` and `fft` take functions that `unisono` has from it, which run where the arrays lie. Other functions are SciPy's
own: they compute on the host, where arrays share their memory with NumPy, and their results are arrays of ours again.
Arrays of devices are copied there and results back, with a `PerformanceWarning`.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import inspect
import sys
import types
import warnings

import unisono as _un

_parts = (
    "fft fftpack interpolate linalg ndimage signal spatial special stats integrate optimize sparse"
).split()
__all__ = ["PerformanceWarning", "get_array_module", *_parts]

_numpy_s = {"fft": frozenset(
    "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift".split()
), "linalg": frozenset("inv det norm pinv".split())}  # fmt: skip
_options = {
    "overwrite_x",
    "workers",
    "plan",
    "overwrite_a",
    "check_finite",
}  # which change no result
_results = ("out", "output")  # names of parameters that are written


class PerformanceWarning(RuntimeWarning):
    """A function works on copies that a device would not need."""


class _SubPackage(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        part = self.__name__.removeprefix(__name__ + ".")
        if name in _numpy_s.get(part, ()):
            value = _own(getattr(getattr(_un, part), name))
        else:
            value = getattr(importlib.import_module(f"scipy.{part}"), name)
            if isinstance(value, types.ModuleType):
                value = _sub_package(f"{part}.{name}")
            elif callable(value) and not isinstance(value, type):
                value = _of_host(value, f"scipy.{part}.{name}")
        setattr(self, name, value)
        return value

    def __dir__(self):
        return dir(importlib.import_module("scipy" + self.__name__.removeprefix(__name__)))


def _own(function):
    """A function of ours that takes SciPy's options which change no result."""

    @functools.wraps(function)
    def called(*args, **options):
        return function(*args, **{k: v for k, v in options.items() if k not in _options})

    return called


class _Call:
    """One call of a function of SciPy's: its arguments on the host, and what it gives as arrays of ours."""

    def __init__(self, name):
        self._name, self._device, self._copies = name, None, []

    def given(self, x):
        """The argument for SciPy."""
        if isinstance(x, _un._engine._Array):
            if x.device.name == "cpu":
                return x.to_numpy()
            if self._device is None:
                warnings.warn(
                    f"{self._name}: SciPy computes on the host; got an array on {x.device.name}, which is copied "
                    f'there, and results back; move what it works on by .to_device("cpu") once',
                    PerformanceWarning,
                    stacklevel=4,
                )
            self._device = x.device
            copy = x.to_device("cpu").to_numpy()
            self._copies.append((copy, x))
            return copy
        if isinstance(x, (tuple, list)):
            return type(x)(map(self.given, x)) if type(x) in (tuple, list) else x
        return x

    def write_back(self, x):
        """Copy what the function wrote into a copy to where the array is."""
        for copy, array in self._copies:
            if copy is x:
                array[...] = copy

    def made(self, x):
        """The result as ours."""
        import numpy

        if isinstance(x, (numpy.ndarray, numpy.generic)):
            for copy, array in self._copies:
                if copy is x:
                    return array
            return _un.asarray(x, device=self._device) if x.dtype.kind in "biufc" else x
        return type(x)(map(self.made, x)) if type(x) in (tuple, list) else x


def _written(function, args):
    """Those of the arguments by position that the function writes."""
    inputs = getattr(function, "nin", None)
    if inputs is not None:  # a ufunc
        return args[inputs:]
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()
    return [a for name, a in zip(names, args, strict=False) if name in _results]


def _of_host(function, name):
    @functools.wraps(function, updated=())
    def called(*args, **options):
        options.pop("plan", None)
        call = _Call(name)
        args = [call.given(a) for a in args]
        options = {k: call.given(v) for k, v in options.items()}
        result = function(*args, **options)
        for x in (*_written(function, args), *(options.get(k) for k in _results)):
            for one in x if isinstance(x, tuple) else (x,):
                call.write_back(one)
        return call.made(result)

    return called


def _sub_package(part):
    name = f"{__name__}.{part}"
    if name not in sys.modules:
        sys.modules[name] = _SubPackage(name, f"``scipy.{part}`` for arrays of ours.")
        sys.modules[name].__path__ = []
    return sys.modules[name]


for _part in _parts:
    globals()[_part] = _sub_package(_part)
__path__ = []  # so that ``import unisono.cupyx.scipy.fft`` finds them


class _Finder:
    """Finds ``unisono.cupyx.scipy.sparse.linalg`` where SciPy has a module of that name."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        part = name.removeprefix(__name__ + ".")
        if part == name or importlib.util.find_spec("scipy." + part) is None:
            return None
        return importlib.machinery.ModuleSpec(name, _Finder, is_package=True)

    @staticmethod
    def create_module(spec):
        return _sub_package(spec.name.removeprefix(__name__ + "."))

    @staticmethod
    def exec_module(module):
        """Nothing: names are looked up when they are asked for."""


sys.meta_path.append(_Finder)


def get_array_module(*args):
    """This module where an argument is an array of ours, else SciPy.

    Parameters
    ----------
    *args : object

    Returns
    -------
    module
    """
    if any(isinstance(a, _un._engine._Array) for a in args):
        return sys.modules[__name__]
    return importlib.import_module("scipy")
