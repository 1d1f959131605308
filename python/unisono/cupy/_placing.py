"""What makes new arrays makes them on the current device of `unisono.cuda`, as CuPy's functions do."""

from __future__ import annotations

import contextlib
import functools
import threading

import unisono as un

from .._engine import _Array
from ..cuda import devices

_mine = threading.local()


@contextlib.contextmanager
def _outermost():
    """A block in which methods that call each other do not place what they draw."""
    _mine.is_inside = True
    try:
        yield
    finally:
        _mine.is_inside = False


def placed(function):
    """The function, whose results lie on the current device.

    It runs in a block of that device; what it makes on the host nevertheless, such as numbers drawn one after the
    other, is copied.
    """

    @functools.wraps(function)
    def made(*args, **options):
        device = devices.current_device()
        if device.name == "cpu" or getattr(_mine, "is_inside", False):
            return function(*args, **options)
        with _outermost(), un.device(device):
            return moved(function(*args, **options), device)

    return made


def moved(result, device):
    """The result, with its arrays of the host on the device."""
    if isinstance(result, _Array) and type(result) is un.ndarray:
        return result.to_device(device) if result.device.name == "cpu" else result
    if type(result) in (tuple, list):
        return type(result)([moved(r, device) for r in result])
    return result


class PlacedIndex:
    """An object such as `r_`, whose arrays lie on the current device."""

    def __init__(self, index):
        self._index = index

    def __getitem__(self, key):
        return placed(self._index.__getitem__)(key)


def drawing(owner, name):
    """A function of `unisono.random`, or a method of a generator's class, whose draws lie on the current device.

    Arrays of devices are permuted by an order and chosen from by indices, which may be drawn on the host.
    """
    function = getattr(owner, name)
    if name not in ("choice", "permutation", "shuffle"):
        return placed(function)
    permute, here = placed(owner.permutation), function if name == "shuffle" else placed(function)
    first = int(isinstance(owner, type))  # behind self

    @functools.wraps(function)
    def drawn(*args, **options):
        front, (x, *more) = args[:first], args[first:] or (None,)
        if not (isinstance(x, _Array) and x.ndim and x.device.name != "cpu"):
            return here(*args, **options)
        if name == "choice":
            axis = options.pop("axis", 0)
            options = {key: _on_host(value) for key, value in options.items()}
            with _outermost():
                index = function(*front, x.shape[axis], *map(_on_host, more), **options)
            return un.take(x, un.asarray(index, device=x.device), axis)
        axis = more[0] if more else options.get("axis", 0)
        made = un.take(x, permute(*front, x.shape[axis]), axis)
        if name == "permutation":
            return made
        x[...] = made
        return None

    return drawn


def _on_host(value):
    return value.to_device("cpu") if isinstance(value, _Array) else value


def class_of_draws(cls, module):
    """A class derived from a generator's, whose draws lie on the current device."""
    members = {"__module__": module, "__doc__": cls.__doc__, "__slots__": ()}
    for name in dir(cls):
        method = getattr(cls, name)
        if name[0] != "_" and callable(method) and name not in states:
            drawn = drawing(cls, name)
            is_typed = cls is un.random.RandomState and name in typed
            members[name] = of_dtype(drawn) if is_typed else drawn
    return type(cls.__name__, (cls,), members)


def of_dtype(function):
    """A function of draws that takes ``dtype=``, to which they are rounded."""

    @functools.wraps(function)
    def made(*args, dtype=None, **options):
        found = function(*args, **options)
        return found if dtype is None else un.asarray(found).astype(dtype, copy=False)

    return made


typed = frozenset(
    """beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic lognormal
    logseries multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto poisson power rand
    randn random_sample ranf rayleigh sample standard_cauchy standard_exponential standard_gamma standard_normal
    standard_t triangular uniform vonmises wald weibull zipf""".split()
)  # of the module and of RandomState: NumPy's have no dtype=
states = frozenset("get_state set_state seed spawn bytes".split())  # what draws no arrays
