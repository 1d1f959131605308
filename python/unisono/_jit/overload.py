"""Implementations for compiled code of functions that are written elsewhere."""

from __future__ import annotations

import builtins
import importlib
import math
import sys

from .. import _engine
from . import JitFunction

__all__ = ["overload"]

_known = {}

# What numpy_library.py and random_library.py have, which are loaded when one of them is first named.
_of_numpy = frozenset(
    "allclose append argwhere array_equal array_split bincount convolve corrcoef cross deg2rad degrees delete diff digitize "
    "ediff1d fill_diagonal interp isclose isin isneginf isposinf kron median nanmax nanmean nanmin nansum percentile "
    "polyval quantile rad2deg radians searchsorted split square tile trapezoid unique".split()
)
_of_math = frozenset(("comb", "factorial", "gcd", "isqrt", "lcm", "perm"))
_of_bisect = frozenset(("bisect_left", "bisect_right"))
_of_operator = frozenset(
    "add and_ concat contains eq floordiv ge getitem gt inv le lshift lt matmul mod mul ne neg not_ "
    "or_ pos pow rshift sub truediv xor".split()
)
_of_heapq = frozenset("heapify heappop heappush heappushpop heapreplace nlargest nsmallest".split())
_modules = (
    ("bisect", _of_bisect, ".library"),
    ("heapq", _of_heapq, ".heap_library"),
    ("operator", _of_operator, ".operator_library"),
)
_of_random = frozenset(
    "choice exponential gumbel laplace logistic lognormal normal pareto permutation rand randint randn "
    "random random_sample ranf rayleigh seed shuffle standard_exponential standard_normal uniform "
    "weibull".split()
)


def overload(function, **options):
    """Give a function an implementation that compiled functions call in its place.

    Parameters
    ----------
    function : callable
        What compiled code names: of any module, or of your own.
    **options
        As of `jit`, for the implementation.

    Returns
    -------
    decorator
        Takes the implementation, a Python function with the same parameters, and returns it.

    Raises
    ------
    TypeError
        `function` cannot be called, or the implementation is no Python function.

    Notes
    -----
    Python goes on to call the function itself. ``isinstance(x, float)`` and ``x is None`` in an
    implementation are decided by the types of the call when it is compiled, so that one
    implementation may serve several types. Functions that were compiled before keep what they had.
    For machine-level operations, see `intrinsic`.

    Examples
    --------
    >>> import statistics, unisono as un
    >>> @un.overload(statistics.fmean)
    ... def fmean(values):
    ...     s = 0.0
    ...     for v in values:
    ...         s += v
    ...     return s / len(values)
    >>> @un.jit
    ... def spread(a, b):
    ...     return statistics.fmean((a, b)) - a
    >>> spread(1.0, 4.0)
    1.5
    """
    if not callable(function):
        raise TypeError(
            f"overload: only functions have implementations; got {type(function).__name__}; "
            f"name the function that compiled code calls"
        )

    def register(implementation):
        made = implementation
        if not isinstance(made, _engine.Dispatcher):
            from .options import checked

            made = JitFunction(implementation, False, None, checked(options, "overload"))
        _known[id(function)] = (function, made)
        return implementation

    return register


def implementation_of(value):
    """The compiled function that stands for a value, or None."""
    found = _known.get(id(value))
    if found:
        return found[1]
    name = getattr(value, "__name__", None)
    owner = builtins if name in ("bin", "hex", "oct") else math if name in _of_math else None
    if owner and getattr(owner, name) is value:
        from .math_library import implementations

        return implementations[name]
    for home, names, library in _modules:
        module = sys.modules.get(home) if name in names else None
        if module and getattr(module, name) is value:
            return importlib.import_module(library, __package__).implementations[name]
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if name in _of_random and getattr(numpy.random, name, None) == value:
        from . import random_library

        return random_library.implementations[name]
    home = (getattr(value, "__module__", None) or "").split(".")[0]
    if name not in _of_numpy or home not in ("numpy", "unisono"):
        return None
    from .numpy_library import implementations

    return implementations[name]
