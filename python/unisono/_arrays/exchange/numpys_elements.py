"""Calls with what NumPy alone computes: text, dates, objects, numbers of extended precision or of the other byte order.

A function that refused its arguments asks here (bindings/functions/by_numpy.cpp). NumPy's function of the name then runs
on NumPy's arrays of all arguments; arrays of numbers among its results are ours again, the others are NumPy's own.
"""

import functools
import operator
import sys

import unisono as un

from ... import _engine
from ..._dtype.objects import dtype as _DType
from ..._loaded import loaded
from ..._records import holds_records

# Kinds of elements that are NumPy's own; of the other kinds those with these characters.
_kinds, _chars = "OSUMmVT", "gG"
# Functions that convert: arrays of objects are made where their dtype is given, or of lists with an element that is no
# number; a lone object is a mistake.
_makers = frozenset("array asarray asanyarray ascontiguousarray asfortranarray copy".split())
# Functions that write into their first argument.
writes_first = frozenset(("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))
# Functions that give an array without axes one: any object is an element.
growing = frozenset(("atleast_1d", "atleast_2d", "atleast_3d"))


class _Elsewhere(Exception):
    """An array of a device or mesh: nothing is copied from there in silence."""


def retried(name, args, options, arrays_only=False):
    """Return NumPy's result of a call that our function refused, or NotImplemented.

    Parameters
    ----------
    name : str
        A function of NumPy's, a method of its arrays (``".astype"``), an operator (``"operator.add"``), or
        ``"assignment"`` of values to an array of a dtype.
    args : tuple
    options : dict or None
    arrays_only : bool
        Whether only arrays and scalars of NumPy's are a reason to try, no text and no lists.
    """
    options = options or {}
    if name == "assignment":
        return _assigned(*args)
    if (
        name in _makers
        and len(args) == 1
        and "dtype" not in options
        and not _holds_objects(args[0])
        and not _is_extended(args[0])
        and not _is_beyond(args[0])
        and not (name == "array" and args[0] is None)  # an argument that was not given
    ):
        return NotImplemented
    if not arrays_only and _writes_numpys(name, args, options):
        return _written(name, args, options)
    if arrays_only and not any(map(_has_array_of_numpys, args)):
        return NotImplemented
    if not arrays_only and holds_records(args):
        return _of_numpys(name, args, options)
    is_grown = name in growing and all(map(is_object, args))
    if not (is_grown or any(map(is_numpys, args))) and not any(
        v is not None and is_numpys(v) for v in options.values()
    ):
        return NotImplemented
    if name not in growing and any(callable(x) and not isinstance(x, (type, _DType)) for x in args):
        return NotImplemented  # it may have been called already
    return _of_numpys(name, args, options)


def _of_numpys(name, args, options):
    """NumPy's result with arrays of numbers as ours; NotImplemented where it fails: our own message says what is wrong."""
    try:
        return by_numpy(name, *args, **options)
    except Exception:
        return NotImplemented


def _writes_numpys(name, args, options):
    """Whether the call is to write into an array of NumPy's: by ``out=``, its place among the parameters, or as the first."""
    import inspect

    import numpy

    if name in writes_first:
        target = args[0] if args else options.get("a", options.get("dst"))
    elif len(args) > 1 and "out" not in options and not name.startswith((".", "operator.")):
        try:
            parameters = inspect.signature(getattr(un, name)).bind_partial(*args).arguments
        except (AttributeError, TypeError, ValueError):
            return False
        target = parameters.get("out")
    else:
        target = options.get("out")
    return isinstance(target[0] if isinstance(target, tuple) and target else target, numpy.ndarray)


def _written(name, args, options):
    """What NumPy's function gives that writes into its own array, which is no array of ours afterwards."""
    try:
        args, options = _converted(args, options)
        return _function(name, args)(*args, **options)
    except Exception:  # our own message says what is wrong
        return NotImplemented


@functools.lru_cache(256)
def has_functions(kind):
    """Whether a class of another library computes NumPy's functions itself, as quantities with units do."""
    theirs = getattr(kind, "__array_function__", None)
    if theirs is None or issubclass(kind, (_engine._Array, *_engine._values)):
        return False
    import numpy

    is_ours = kind.__module__.partition(".")[0] == "unisono"
    return not is_ours and not issubclass(kind, numpy.ndarray)


def by_numpy(name, *args, **options):
    """Return what NumPy's function of that name gives; NotImplemented of arrays on devices, or where it has none.

    For functions that call others this comes first, since nothing may be called twice.
    """
    try:
        args, options = _converted(args, options)
        function = _function(name, args)
    except (_Elsewhere, AttributeError):
        return NotImplemented
    return results(function(*args, **options))


def _assigned(values, dtype):
    """Values of NumPy's own kinds of elements as numbers of a dtype: assignments convert them."""
    import numpy

    try:
        made = numpy.asarray(values)
        if made.dtype.kind in _kinds or made.dtype.char in _chars:
            return un.asarray(made.astype(dtype.name))
    except Exception:  # our own message says what is wrong
        pass
    return NotImplemented


_swapped = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def operated(name, a, b):
    """Return NumPy's result of an operator between an array of ours and an object whose class has the operator.

    A class with ``__array_priority__`` is asked with our array first, as Python's order has it. Where it declines, as
    scipy.sparse does what is no array of NumPy's, NumPy's operator gets NumPy's array; so it does beside classes that
    derive from NumPy's array, and beside all others, of which it makes an array of objects. What an object's ``__array__``
    makes, an array of ours perhaps, stands for it.
    """
    short = name[9:].strip("_")
    is_first = isinstance(a, (_engine._Array, *_engine._values))
    other = b if is_first else a
    if is_first and hasattr(type(b), "__array_priority__") and not _engine._is_of_numpys(b):
        theirs = getattr(type(b), f"__{_swapped.get(short, 'r' + short)}__", None)
        made = NotImplemented if theirs is None else theirs(b, a)
        if made is not NotImplemented:
            return made
    elif not _engine._is_of_numpys(other) and hasattr(type(other), "__array__"):
        made = other.__array__()
        made = made if isinstance(made, (_engine._Array, *_engine._values)) else un.asarray(made)
        return getattr(operator, name[9:])(*((a, made) if other is b else (made, b)))
    try:
        a, b = _converted_one(a), _converted_one(b)
    except _Elsewhere:
        return NotImplemented
    return results(getattr(operator, name[9:])(a, b))


def as_numpys_number(x):
    """A number of ours as NumPy's scalar of its dtype; all else as it is."""
    scalar = _scalars.get(type(x))
    if scalar:
        return scalar(x)
    if not is_number(x):
        return x
    import numpy

    if type(x) in _engine._values:
        _scalars[type(x)] = numpy.asarray(x).dtype.type
    return numpy.asarray(x)[()]


_scalars = {}  # NumPy's classes of numbers by ours that are Python's


def is_number(x):
    """Whether it is a number of ours, computed already or not."""
    return isinstance(x, _engine._values) or (isinstance(x, _engine._Array) and x._is_value())


def computed(function, args, options):
    """Return what a function of another library computes of our arrays, as NumPy's; NotImplemented where they are on devices."""
    out = options.get("out")
    try:
        converted, named = _converted(args, options)
    except _Elsewhere:
        return NotImplemented
    made = function(*converted, **named)
    if isinstance(out, tuple):
        return out[0] if len(out) == 1 else out
    return made if out is None else out


def _converted(args, options):
    return tuple(map(_converted_one, args)), {k: _converted_one(v) for k, v in options.items()}


def _converted_one(x):
    import numpy

    if type(x) in (list, tuple):
        return type(x)(map(_converted_one, x))
    if type(x) is _DType:
        return numpy.dtype(x.name)
    if isinstance(x, _engine._values):
        return as_numpys_number(x)
    if isinstance(x, _engine._Array):
        if x.device != "cpu" or getattr(x, "mesh", None) is not None:
            raise _Elsewhere
        return numpy.asarray(x)
    return numpy.asarray(x) if _is_column(x) else x


def _function(name, args):
    import numpy

    if name.startswith("operator."):
        return getattr(operator, name[9:])
    found = type(args[0]) if name.startswith(".") else numpy
    for part in name.strip(".").split("."):
        found = getattr(found, part)
    return found


def results(made):
    """NumPy's results, with arrays and scalars of our dtypes as ours."""
    if isinstance(made, (_engine._Array, bool)):
        return made
    import numpy

    if isinstance(made, (tuple, list)):
        parts = map(results, made)
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)
    if not isinstance(made, (numpy.ndarray, numpy.generic)):
        return made
    dtype = made.dtype
    numbers_of_ours = dtype.kind in "biufc" and dtype.char not in _chars and dtype.isnative
    if numbers_of_ours and type(made) is not numpy.ndarray:
        return un.asarray(made, device="cpu")[()] if isinstance(made, numpy.generic) else made
    records = dtype.names is not None and not dtype.hasobject
    return un.asarray(made, device="cpu") if numbers_of_ours or records else made


def _is_column(x):
    """Whether it is an array of another library that NumPy's functions convert, as pandas' columns are."""
    import numpy

    return (
        hasattr(x, "__array__")
        and hasattr(x, "dtype")
        and not hasattr(type(x), "__array_function__")
        and not isinstance(x, (type, numpy.ndarray, numpy.generic, _engine._Array))
    )


def is_numpys(x):
    """Whether an argument is, holds, or names elements that NumPy alone computes."""
    if isinstance(x, (_engine._Array, *_engine._values)):
        return False
    import numpy

    if isinstance(x, (list, tuple)):
        return any(map(_is_element_of_numpys, x))
    if _engine._is_of_numpys(x):
        return True
    if isinstance(x, (str, type)):
        return not _names_our_dtype(x)
    if x is None or isinstance(x, bytes) or _is_date(x):
        return True
    if type(x) is _DType:
        return False
    kind = x if isinstance(x, numpy.dtype) else getattr(x, "dtype", None)
    if not isinstance(kind, numpy.dtype) and _is_column(x):
        kind = numpy.asarray(x).dtype
    if isinstance(kind, numpy.dtype):
        return kind.kind in _kinds or kind.char in _chars or (kind is x and not kind.isnative)
    if isinstance(x, (int, float, complex)):
        return _is_beyond(x)
    return _is_number(x) or hasattr(type(x), "__mul__")


def _is_number(x):
    """Whether it is of a class that says so; of Python's own classes only while `numbers` is loaded."""
    numbers = loaded("numbers")
    return numbers is not None and isinstance(x, numbers.Number)


def _is_date(x):
    datetime = loaded("datetime")
    return datetime is not None and isinstance(x, (datetime.date, datetime.timedelta))


def _holds_objects(x):
    """Whether a sequence holds an element that is no number, as text, None, or an instance of a program's class."""
    if not isinstance(x, (list, tuple)) or not x:
        return False
    return any(map(is_object, x)) or _holds_numbers_of_others(x)


def _is_extended(x):
    """Whether it is, or a sequence holds, numbers of extended precision."""
    if isinstance(x, (list, tuple)):
        return any(map(_is_extended, x))
    return getattr(getattr(x, "dtype", None), "char", None) in tuple(_chars)


def _is_beyond(x):
    """Whether it is, or a sequence holds, an integer that fits in no dtype of 64 bits."""
    if isinstance(x, (list, tuple)):
        return any(map(_is_beyond, x))
    return isinstance(x, int) and not -(1 << 63) <= x < 1 << 64


def _holds_numbers_of_others(x):
    """Whether a sequence holds numbers, some of them of classes that are not elements of ours, as Fraction."""
    others = [v for v in x if not isinstance(v, (int, float, complex)) and not hasattr(v, "dtype")]
    is_number = all(_is_number(v) or hasattr(type(v), "__rmul__") for v in others)
    return (
        bool(others)
        and is_number
        and not any(isinstance(v, (str, bytes, list, tuple)) for v in others)
    )


def is_object(x):
    """Whether an element is neither a number nor an array."""
    if isinstance(x, (list, tuple)):
        return _holds_objects(x)
    if hasattr(x, "__array__"):
        return getattr(x, "dtype", None) == object  # noqa: E721
    return not isinstance(x, (int, float, complex))


def _has_array_of_numpys(x):
    if isinstance(x, (list, tuple)):
        return any(map(_has_array_of_numpys, x[:2]))
    return hasattr(x, "dtype") and is_numpys(x)


def _names_our_dtype(x):
    try:
        return _engine._dtype_of(x) is not None
    except (TypeError, ValueError):
        return False


def _is_element_of_numpys(x):
    """Whether an element of a sequence is no number: any object may be one of NumPy's elements."""
    import numpy

    if isinstance(x, (int, float, complex)):
        return _is_beyond(x)
    if isinstance(x, (list, tuple, numpy.ndarray, numpy.generic)):
        return is_numpys(x)
    return not isinstance(x, _engine._Array)


def stand_beside(package, names):
    """Let NumPy compute what a package's functions refuse since elements are no numbers, and arrays of its own classes."""
    scope = vars(package)
    for name in names:
        function = scope.get(name)
        if type(function) is not type(stand_beside):
            continue
        both = _engine._FastPath(function, f"{package.__name__.rpartition('.')[2]}.{name}")
        scope[name] = vars(sys.modules[function.__module__])[name] = both  # pickles name the home
