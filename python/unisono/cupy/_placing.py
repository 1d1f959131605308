"""What makes new arrays makes them on the current device of `unisono.cuda`, as CuPy's functions do."""

from __future__ import annotations

import contextlib
import functools
import inspect
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
    first = int(isinstance(owner, type))  # behind self
    if name not in ("choice", "permutation", "shuffle"):
        return _drawn(function, first)
    permute, here = (
        placed(owner.permutation),
        function if name == "shuffle" else _drawn(function, first),
    )

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


def _drawn(function, first):
    """As `placed`; parameters may be arrays of devices, and one number is an array without axes, as CuPy's draws are."""
    there = placed(function)

    @functools.wraps(function)
    def drawn(*args, **options):
        if getattr(_mine, "is_inside", False):
            return function(*args, **options)
        if not first or args[0].bit_generator._stream is not None:  # it draws on the host
            args, options = _with_host_parameters(function, args, options)
        made = there(*args, **options)
        return (
            un.asarray(made, device=devices.current_device())
            if type(made) in (int, float)
            else made
        )

    return drawn


def _with_host_parameters(function, args, options):
    """The arguments, with copies on the host of the arrays that are read: not of that which is written."""
    if not any(isinstance(a, _Array) for a in (*args, *options.values())):
        return args, options
    names = list(inspect.signature(function).parameters)
    args = [
        a if name == "out" else _on_host(a) for name, a in zip(names, args, strict=False)
    ] + list(args[len(names) :])
    return args, {name: a if name == "out" else _on_host(a) for name, a in options.items()}


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
    """A function of draws that takes ``dtype=``, to which they are rounded; behind ``size`` without its name, too."""

    @functools.wraps(function)
    def made(*args, dtype=None, **options):
        place = _place_behind_size(function) if dtype is None else None
        if place is not None and len(args) == place + 1:
            args, dtype = args[:place], args[place]
        found = function(*args, **options)
        return found if dtype is None else un.asarray(found).astype(dtype, copy=False)

    return made


@functools.cache
def _place_behind_size(function):
    """Where CuPy's functions have their dtype and NumPy's nothing; None: NumPy's have more there."""
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name for p in parameters]
    place = names.index("size") + 1 if "size" in names else 0
    is_free = place and all(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters[place:])
    return place if is_free else None


typed = frozenset(
    """beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic lognormal
    logseries multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto poisson power rand
    randn random_sample ranf rayleigh sample standard_cauchy standard_exponential standard_gamma standard_normal
    standard_t triangular uniform vonmises wald weibull zipf""".split()
)  # of the module and of RandomState: NumPy's have no dtype=
states = frozenset("get_state set_state seed spawn bytes".split())  # what draws no arrays
