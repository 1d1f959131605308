"""Classes that derive from the array and compute functions, or methods of elementwise functions, themselves.

The protocols are NumPy's: ``__array_function__`` (NEP 18, https://numpy.org/neps/nep-0018-array-function-protocol.html)
and, for ``add.reduce`` and the like, ``__array_ufunc__`` (NEP 13).
"""

from __future__ import annotations

import functools
import operator

import unisono as un

from .. import _engine

_reduction = ("axis", "dtype", "out", "keepdims", "initial", "where")
# Parameters of a ufunc's methods behind the operands: classes get them by name, as NumPy passes them on.
_named = {
    "reduce": (1, _reduction),
    "accumulate": (1, _reduction[:3]),
    "reduceat": (2, _reduction[:3]),
}
_elsewhere = ("axis", "out", "keepdims", "initial", "where")
# Reductions that are methods of arrays: the function that reduces, and their parameters.
reducing = {
    "sum": ("add", _reduction), "prod": ("multiply", _reduction), "max": ("maximum", _elsewhere),
    "min": ("minimum", _elsewhere), "any": ("logical_or", _elsewhere), "all": ("logical_and", _elsewhere),
}  # fmt: skip

_type_of_values = type(
    _engine._values[0]
)  # whose classes are not looked up: their hashes import NumPy


@functools.lru_cache(256)
def computes_functions(kind):
    """Whether a class that derives from the array has its own ``__array_function__``."""
    if not issubclass(kind, _engine._Array) or kind.__module__.partition(".")[0] == "unisono":
        return False
    return kind.__array_function__ is not _engine.ndarray.__array_function__


@functools.lru_cache(512)
def _asks(name):
    """Whether NumPy's function of that name, as ``linalg.solve``, asks the classes of its arguments."""
    import numpy

    try:
        return hasattr(operator.attrgetter(name)(numpy), "_implementation")
    except AttributeError:
        return False


def _parts(values):
    for x in values:
        if isinstance(x, (list, tuple)):
            yield from x
        else:
            yield x


def by_function(function, implementation, args, options):
    """Return what the classes of the arguments give for a call of a function.

    Subclasses are asked before their bases, else the first argument first. Where all decline, the function itself runs if
    an array of no such class is among the arguments, as in NumPy.

    Parameters
    ----------
    function : callable
        The public function, which the classes see.
    implementation : callable
        Called with ``(args, options)`` where the array's own class is asked.

    Returns
    -------
    object
        NotImplemented where no class computes functions itself.

    Raises
    ------
    TypeError
        If all classes decline.
    """
    asked, kinds, has_plain = [], [], False
    for x in _parts((*args, *options.values())):
        kind = type(x)
        has_plain = has_plain or kind is _engine.ndarray
        if type(kind) is _type_of_values or kind in kinds or not computes_functions(kind):
            continue
        at = next((k for k, known in enumerate(kinds) if issubclass(kind, known)), len(kinds))
        asked.insert(at, x)
        kinds.insert(at, kind)
    if not asked or not _asks(getattr(function, "_numpys_name", function.__name__)):
        return NotImplemented
    types = (*kinds, _engine.ndarray) if has_plain else tuple(kinds)
    for x in asked:
        made = x.__array_function__(function, types, args, options)
        if made is not NotImplemented:
            return made
    if has_plain:
        return implementation(args, options)
    raise TypeError(
        f"no implementation found for '{function.__name__}' on types that implement __array_function__: {kinds}"
    )


def by_method(function, method, others, args, options):
    """Return what the first class with an answer gives for ``function.method(*args, **options)``.

    Raises
    ------
    TypeError
        If all of `others`, the operands whose classes compute elementwise functions, decline.
    """
    if method in _named:
        operands, names = _named[method]
        options = {**dict(zip(names, args[operands:], strict=False)), **options}
        args = args[:operands]
    out = options.pop("out", None)
    if out is not None:
        options["out"] = out if isinstance(out, tuple) else (out,)
    for x in others:
        made = x.__array_ufunc__(function, method, *args, **options)
        if made is not NotImplemented:
            return made
    kinds = ", ".join(dict.fromkeys(type(x).__name__ for x in args))
    raise TypeError(
        f"{function.__name__}.{method}: operand type(s) all returned NotImplemented from __array_ufunc__; got {kinds}"
    )


def reduction(name, lifted, computes):
    """The method `name` of arrays for classes that derive from them: by the class's ``__array_ufunc__`` where it has one.

    Parameters
    ----------
    name : str
        A key of `reducing`.
    lifted : function
        The method of other classes.
    computes : function
        Whether a class computes elementwise functions itself.
    """
    function, parameters = reducing[name]

    def method(self, *args, **options):
        if not computes(type(self)):
            return lifted(self, *args, **options)
        given = {"axis": None, "dtype": None, "keepdims": False, "where": True}
        given.update(zip(parameters, args, strict=False), **options)
        return by_method(getattr(un, function), "reduce", (self,), (self,), given)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = lifted.__doc__
    return method
