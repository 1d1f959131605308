"""``cupyx.scipy``: SciPy's sub-packages for arrays of ours.

`linalg` and `fft` take functions that `unisono` has from it, which run where the arrays lie. Other functions are SciPy's
own: they take arrays of the host, which share their memory with NumPy, and their results are arrays of ours again.
"""

from __future__ import annotations

import functools
import importlib
import sys
import types

import unisono as _un

_parts = (
    "fft fftpack interpolate linalg ndimage signal spatial special stats integrate optimize sparse"
).split()
__all__ = ["get_array_module", *_parts]

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


def _of_host(function, name):
    def given(x):
        if isinstance(x, _un._engine._Array):
            if x.device.name != "cpu":
                raise TypeError(
                    f"{name}: SciPy computes on the host; got an array on {x.device.name}; move it with "
                    f'.to_device("cpu")'
                )
            return x.to_numpy()
        if isinstance(x, (tuple, list)):
            return type(x)(map(given, x)) if type(x) in (tuple, list) else x
        return x

    def made(x):
        import numpy

        if isinstance(x, (numpy.ndarray, numpy.generic)):
            return _un.asarray(x) if x.dtype.kind in "biufc" else x
        return type(x)(map(made, x)) if type(x) in (tuple, list) else x

    @functools.wraps(function, updated=())
    def called(*args, **options):
        options.pop("plan", None)
        result = function(*map(given, args), **{k: given(v) for k, v in options.items()})
        return made(result)

    return called


def _sub_package(part):
    name = f"{__name__}.{part}"
    if name not in sys.modules:
        sys.modules[name] = _SubPackage(name, f"``scipy.{part}`` for arrays of ours.")
    return sys.modules[name]


for _part in _parts:
    globals()[_part] = _sub_package(_part)
__path__ = []  # so that ``import unisono.cupyx.scipy.fft`` finds them


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
