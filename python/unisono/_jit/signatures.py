"""Types of compiled functions as users write them: ``float64[:, :]``, ``"f8(f8[:], i4)"``, annotations.

The engine takes a type as a plain tuple: ``("scalar", dtype name, weak)`` where `weak` is
``"int"``, ``"float"`` or ``"bool"`` for Python's own scalars and ``""`` for NumPy's;
``("array", dtype name, rank, layout)`` with layout ``"A"``, ``"C"`` or ``"F"``;
``("tuple", types)``; ``("table", 0 for a dict, 1 for a set, 5 for a list, types)``; ``("text",)``; ``("optional", type)``; ``("none",)``.
"""

from __future__ import annotations

from .._dtype import objects as _dtypes
from .._dtype.spelling import parse_signature, parse_type

_WEAK = {"int64": "int", "float64": "float", "bool": "bool"}
_TABLES = {"dict": 0, "set": 1, "list": 5}  # the engine's kinds
_EXAMPLE = 'write a type such as "float64[:, :]" or un.float64[:, ::1]'


def _scalar(name):
    return ("scalar", name, _WEAK.get(name, ""))


def _for_engine(type_, where):
    """The engine's tuple of one that _dtype/spelling.py reads from text; None where the call tells the type."""
    type_ = getattr(type_, "_parsed", type_)
    kind = type_[0] if type_ else "deferred"
    if kind == "scalar":
        return _scalar(type_[1])
    if kind == "array":  # of Fortran's order code knows nothing, it reads the strides
        return (*type_[:3], "A" if type_[3] == "F" and type_[2] > 1 else type_[3])
    if kind == "tuple":
        return ("tuple", tuple(_for_engine(t, where) for t in type_[1]))
    if kind in _TABLES:
        return ("table", _TABLES[kind], tuple(_for_engine(t, where) for t in type_[1:]))
    if kind == "object":
        return ("instance", type_[1])
    if kind == "optional":
        return ("optional", _for_engine(type_[1], where))
    if kind in ("record", "function"):
        return None
    if kind == "void":
        return ("none",)
    if kind == "text":
        return ("text",)
    if kind == "deferred":
        raise TypeError(
            f"{where}: the type is not told yet; got deferred_type(); call its define()"
        )
    raise TypeError(f"{where}: compiled functions take no pointers; got one; {_EXAMPLE}")


def spec_of(type_, where):
    """The engine's tuple of a type given as dtype, Python type, text or NumPy's dtype."""
    if type_ is None or type_ is type(None):
        return ("none",)
    if isinstance(type_, str):
        return _for_engine(parse_type(type_, where), where)
    if type_ is str:
        return ("text",)
    if isinstance(type_, _dtypes.dtype):
        return _scalar(type_.name)
    if type_ in (int, float, bool, complex):
        return _scalar({int: "int64", float: "float64", bool: "bool"}.get(type_, "complex128"))
    spec = _generic(type_, where)
    if spec is not None:
        return spec
    if isinstance(type_, (tuple, list)):
        return ("tuple", tuple(spec_of(t, where) for t in type_))
    # Numba's own type objects print as the text that we read.
    if type(type_).__module__.split(".")[0] == "numba":
        return spec_of(_numba_text(type_), where)
    try:
        made = _dtypes.dtype(type_)
    except (TypeError, ValueError):  # the latter of NumPy, for its annotations: NDArray[np.float64]
        made = None
    if not isinstance(made, _dtypes.dtype):  # NumPy's, of objects and text
        raise TypeError(f"{where}: not a type: got {type_!r}; {_EXAMPLE}")
    name = made.name
    is_numpy = getattr(type_, "__module__", "") == "numpy"
    return ("scalar", name, "") if is_numpy else _scalar(name)


def _generic(type_, where):
    """tuple[int, float], int | None, Optional[int]; None for anything else."""
    import types
    import typing

    origin, args = typing.get_origin(type_), typing.get_args(type_)
    if origin is list and args and args[0] not in (int, float, bool, complex):
        return ("table", 5, (_item(args[0], where),))
    if origin in (dict, set):
        return ("table", int(origin is set), tuple(_item(t, where) for t in args))
    if origin is tuple:
        return ("tuple", tuple(spec_of(t, where) for t in args))
    if origin in (typing.Union, types.UnionType):
        rest = [t for t in args if t is not type(None)]
        if len(rest) == 1 and len(args) == 2:
            return ("optional", spec_of(rest[0], where))
    return None


def _item(type_, where):
    """The type of a key or a value of a dict: text, too."""
    import typing

    if type_ is str:
        return ("text",)
    if typing.get_origin(type_) is list and typing.get_args(type_):
        return ("table", 5, (_item(typing.get_args(type_)[0], where),))
    if typing.get_origin(type_) is tuple:
        return ("tuple", tuple(_item(t, where) for t in typing.get_args(type_)))
    return spec_of(type_, where)


def item_spec(type_, cls):
    """The type of a field of a dataclass: text, lists and objects, too."""
    import dataclasses
    import types
    import typing

    from .. import _engine

    origin, args = typing.get_origin(type_), typing.get_args(type_)
    if isinstance(type_, type) and origin is None:
        is_object = dataclasses.is_dataclass(type_) and not type_.__dataclass_params__.frozen
        if is_object or (issubclass(type_, _engine._Instance) and "_declared" in vars(type_)):
            return ("instance", type_)
    if type_ is str:
        return ("text",)
    if origin is list and args:
        return ("table", 5, (item_spec(args[0], cls),))
    if origin in (dict, set) and args:
        return ("table", int(origin is set), tuple(item_spec(t, cls) for t in args))
    if origin is tuple:
        return ("tuple", tuple(item_spec(t, cls) for t in args))
    if origin in (typing.Union, types.UnionType):
        rest = [t for t in args if t is not type(None)]
        rest = [cls if _names(t, cls) else t for t in rest]
        inner = item_spec(rest[0], cls) if len(rest) == 1 and len(args) == 2 else None
        if inner is None or inner[0] in ("array", "table", "tuple"):
            raise TypeError("a union")
        return ("optional", inner)
    if type_ is None or type_ is type(None):
        raise TypeError("None")
    return spec_of(type_, "")


def _names(type_, cls):
    import typing

    name = type_.__forward_arg__ if isinstance(type_, typing.ForwardRef) else type_
    return name == cls.__name__


def _numba_text(type_):
    if type(type_).__name__ == "Array":
        axes = [":"] * type_.ndim
        if type_.layout in "CF":
            axes[-1 if type_.layout == "C" else 0] = "::1"
        return f"{type_.dtype}[{', '.join(axes)}]"
    return str(type_)


def signature_of(given, where):
    """(result or None, arguments) of one eager signature, as tuples for the engine."""
    if hasattr(given, "_parsed"):  # a single type
        return None, (spec_of(given, where),)
    if isinstance(given, str) and not hasattr(given, "args"):
        result, args = parse_signature(given, where)
        args = tuple(_for_engine(a, where) for a in args)
        return None if result is None else _for_engine(result, where), args
    if isinstance(given, tuple):
        return None, tuple(spec_of(a, where) for a in given)
    if hasattr(given, "return_type") and hasattr(given, "args"):  # Numba's
        result = None if given.return_type is None else spec_of(given.return_type, where)
        return result, tuple(spec_of(a, where) for a in given.args)
    return None, (spec_of(given, where),)


def signatures_of(given, where):
    """A list of signatures from one of them or a list."""
    return [signature_of(g, where) for g in (given if isinstance(given, list) else [given])]


def is_signature(value):
    """Whether what a decorator got is a signature or a list of them, and no function."""
    if isinstance(value, (str, tuple, list, _dtypes.dtype)):
        return True
    return hasattr(value, "return_type") and hasattr(value, "args")
