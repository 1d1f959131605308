"""What the engine asks of classes and structured dtypes: fields, methods, where numbers lie."""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import sys
import types

from .._loaded import loaded
from .text import compile_text

_SIZES = {"b1": "bool", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128"}
_SIZES |= {f"{k}{n}": f"{'u' * (k == 'u')}int{8 * n}" for k in "iu" for n in (1, 2, 4, 8)}
_ALIGN = "make the dtype with align=True"
# What every class inherits says nothing about it.
_INHERITED = {object, tuple}
# Classes of Python whose objects are values of these fields.
_VALUES = {slice: ("start", "stop", "step"), range: ("start", "stop", "step"), type(...): ()}


def describe(cls):
    """What compiled code needs to know of a class, or None where it knows nothing of such classes.

    Returns
    -------
    dict
        form ("data", "address" for one whose field leads to an address, "named", "object" for a dataclass whose fields change, "instance" for a
        compiled class), name, fields, positional (how many fields a call takes by
        position), no_call (why compiled code cannot make one, or ""), compares, orders.
    """
    if field := _field_to_address(cls):
        return {
            "form": "address",
            "name": cls.__name__.lstrip("_"),
            "fields": [field],
            "positional": 0,
            "no_call": "pass one as an argument",
            "compares": False,
            "orders": False,
        }
    if _is_compiled(cls):
        return {
            "form": "instance",
            "name": cls.__name__,
            "fields": [],
            "positional": 0,
            "no_call": "",
            "compares": False,
            "orders": False,
        }
    if cls in _VALUES:
        return {
            "form": "data",
            "name": cls.__name__,
            "fields": list(_VALUES[cls]),
            "positional": len(_VALUES[cls]),
            "no_call": "",
            "compares": cls is not range,
            "orders": cls is slice,
        }
    if "__del__" in dir(cls):  # nothing would call it
        return None
    if dataclasses.is_dataclass(cls):
        params = cls.__dataclass_params__
        fields = dataclasses.fields(cls)
        by_name = [f for f in fields if f.kw_only]
        odd = ""
        if params.frozen and not _is_generated(cls.__init__):
            odd = "it has an __init__ of its own"
        elif params.frozen and hasattr(cls, "__post_init__"):
            odd = "it has a __post_init__"
        elif any("InitVar" in str(f._field_type) for f in cls.__dataclass_fields__.values()):
            odd = "it has an InitVar"
        elif not all(f.init for f in fields):
            odd = "it has a field that its __init__ does not take"
        ordered = [f for f in fields if not f.kw_only] + by_name
        return {
            "form": "data" if params.frozen else "object",
            "name": cls.__name__,
            "fields": [f.name for f in ordered],
            "positional": len(fields) - len(by_name),
            "no_call": odd,
            "compares": bool(params.eq) and all(f.compare for f in fields),
            "orders": bool(params.order) and all(f.compare for f in fields),
        }
    if issubclass(cls, enum.Enum):
        if issubclass(cls, (int, float, str, enum.Flag)) or not cls.__members__:
            return None
        return {
            "form": "data",
            "name": cls.__name__,
            "fields": ["value"],
            "positional": 1,
            "no_call": "",
            "compares": True,
            "orders": False,
        }
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_field_defaults"):
        own_new = any("__new__" in vars(c) and not hasattr(c, "_fields") for c in cls.__mro__[:-2])
        return {
            "form": "named",
            "name": cls.__name__,
            "fields": list(cls._fields),
            "positional": len(cls._fields),
            "no_call": "it has a __new__ of its own" if own_new else "",
            "compares": True,
            "orders": True,
        }
    return None


def _is_communicator(cls):
    from .. import _engine

    return cls is getattr(_engine, "_Comm", None)  # there once unisono.mpi is


def _field_to_address(cls):
    return "_address" if _is_communicator(cls) else _field_to_bits(cls)


def _field_to_bits(cls):
    """On the way from a Generator of NumPy or ours to the address of its bit generator: the next field."""
    for where in ("numpy.random", "unisono.random"):
        module = loaded(where)
        if module is None:
            continue
        if cls is module.Generator:
            return "bit_generator"
        if issubclass(cls, module.BitGenerator):
            return "ctypes"
    if cls.__name__ == "interface" and "bit_generator" in getattr(cls, "_fields", ()):
        return "bit_generator"
    ctypes = loaded("ctypes")
    return "value" if ctypes and cls is ctypes.c_void_p else ""


def _is_generated(init):
    return getattr(init, "__code__", None) is None or init.__code__.co_filename == "<string>"


def _is_compiled(cls):
    from .. import _engine

    return issubclass(cls, _engine._Instance) and "_declared" in vars(cls)


def typed_fields(cls):
    """Name and type of the fields of a compiled class; of a dataclass also what makes a value, or ""."""
    from .jitclass import fields_of

    if _is_compiled(cls):
        return fields_of(cls)
    held = cls.__dataclass_fields__
    makers = {list: "list", dict: "dict", set: "set"}
    return [
        (name, _field_type(cls, held[name].type), makers.get(held[name].default_factory, ""))
        for name in describe(cls)["fields"]
    ]


def _field_type(cls, given):
    """The engine's tuple of an annotation, or None where it names no type that compiled code has."""
    from .signatures import item_spec

    if isinstance(given, str) and not hasattr(given, "_parsed"):
        import typing

        scope = getattr(sys.modules.get(cls.__module__), "__dict__", {})
        try:
            given = eval(given, {**scope, "typing": typing}, {cls.__name__: cls})
        except Exception:  # a type's own spelling, such as "float64[:]"
            pass
    try:
        return item_spec(given, cls)
    except TypeError:
        return None


def changed(cls):
    """Names of the attributes that methods assign, but for those of the object in __init__."""
    found = set()
    for owner in cls.__mro__:
        values = [*vars(owner).values(), *vars(owner).get("_compiled", {}).values()]
        for value in values:
            parts = (value.fget, value.fset) if isinstance(value, property) else (value,)
            for part in parts:
                function = getattr(part, "py_func", part)
                function = getattr(function, "__func__", function)
                if isinstance(function, types.FunctionType):
                    found |= _stored(function.__code__)
    return sorted(found)


def _stored(code):
    names, last = set(), None
    own = code.co_varnames[0] if code.co_name == "__init__" and code.co_varnames else None
    for step in dis.get_instructions(code):
        of_self = last is not None and _loaded(last) == own
        if step.opname == "STORE_ATTR" and not of_self:
            names.add(step.argval)
        last = step
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names |= _stored(inner)
    return names


def _loaded(step):
    """The local variable that an instruction leaves on the stack; since 3.13 one may load two of them."""
    if "LOAD_FAST" not in step.opname:
        return ""
    return step.argval[-1] if isinstance(step.argval, tuple) else step.argval


def defaults(cls):
    """Values by the index of the field as describe orders them."""
    if not isinstance(cls, type) or cls in _VALUES:  # the former is a structured dtype
        return {}
    if _is_compiled(cls) or issubclass(cls, enum.Enum) or _field_to_address(cls):
        return {}
    names = describe(cls)["fields"]
    if dataclasses.is_dataclass(cls):
        held = {f.name: f.default for f in dataclasses.fields(cls)}
        held = {n: d for n, d in held.items() if d is not dataclasses.MISSING}
    else:
        held = cls._field_defaults
    return {names.index(n): value for n, value in held.items()}


@functools.cache
def method(cls, name):
    """(kind, compiled function) of a method written in Python, or None."""
    from . import JitFunction

    if cls in _VALUES:
        from .slice_library import methods

        found = methods.get(cls, {}).get(name)
        return found and ("method", found)
    if name.startswith("="):
        found = vars(cls).get(name[1:])
        return ("method", found.fset) if isinstance(found, property) and found.fset else None
    if _field_to_bits(cls) == "bit_generator":
        from .generator_library import methods

        return ("method", methods[name]) if name in methods else None
    if _is_communicator(cls):
        from .mpi_library import member

        return member(name)
    if _is_compiled(cls) and name in cls._compiled:
        return "method", cls._compiled[name]
    if name == "name" and issubclass(cls, enum.Enum):
        from .enum_library import name_of

        made = name_of(cls)
        return made and ("property", made)
    if name in ("__repr__", "__hash__") and _is_made(getattr(cls, name, None)):
        return _made(cls, name)
    for owner in cls.__mro__:
        if owner.__module__.startswith("unisono._") or owner in _INHERITED:
            continue
        if name not in vars(owner):
            continue
        kind, function = "method", vars(owner)[name]
        if isinstance(function, property):
            kind, function = "property", function.fget
        elif isinstance(function, staticmethod):
            kind, function = "static", function.__func__
        elif isinstance(function, functools.cached_property):
            kind, function = "property", function.func
        if isinstance(function, JitFunction):
            return kind, function
        if not isinstance(function, types.FunctionType) or _is_made(function):
            return None
        return kind, JitFunction(function, False, None, {})
    return None


def _is_made(function):
    """Written by dataclasses or namedtuple, not by the class's author."""
    function = getattr(
        function, "__wrapped__", function
    )  # repr of dataclasses guards against cycles
    code = getattr(function, "__code__", None)
    return code is not None and (
        code.co_filename.startswith("<string") or function.__module__ == "collections"
    )


@functools.cache
def _made(cls, name):
    """As `method`: what dataclasses and namedtuple write, over the fields that they take."""
    if dataclasses.is_dataclass(cls):
        fields = [
            f.name
            for f in dataclasses.fields(cls)
            if (f.repr if name == "__repr__" else f.compare if f.hash is None else f.hash)
        ]
        owner = cls.__qualname__
    else:
        fields, owner = cls._fields, cls.__name__
    if name == "__repr__":
        shown = ", ".join(f"{f}={{self.{f}!r}}" for f in fields)
        result = f'f"{owner}({shown})"'
    else:
        result = f"hash(({''.join(f'self.{f}, ' for f in fields)}))"
    return "method", compile_text(f"def {name}(self):\n    return {result}\n", name, {})


def places(dtype):
    """Where the fields of a structured dtype lie.

    Returns
    -------
    list of tuple
        (name, dtype name or None, offset, size of an element, pieces, shape, strides, why compiled
        code cannot read it, inner list or None). A number that is not aligned comes as `pieces`
        unsigned integers of that size.
    """
    return _places(dtype, dtype.itemsize, 0)


def _places(dtype, itemsize, start):
    found = []
    for name in dtype.names:
        inner, offset = dtype.fields[name][:2]
        base, shape = inner.subdtype if inner.subdtype else (inner, ())
        offset += start
        strides, step = [], base.itemsize
        for n in reversed(shape):
            strides.insert(0, step)
            step *= n
        if base.names and not shape:
            found.append((name, None, 0, 0, 0, (), (), "", _places(base, itemsize, offset)))
            continue
        text = _SIZES.get(f"{base.kind}{base.itemsize}")
        odd = ""
        if text is None or base.names:
            odd = f"its elements are of the dtype {base}"
        elif not base.isnative:
            odd = f"its byte order is not the machine's ({base.str})"
        size = base.itemsize
        unit = size
        while not odd and (offset % unit or itemsize % unit):
            unit //= 2
        if odd:
            found.append((name, None, 0, 0, 0, (), (), odd, None))
        elif unit == size:
            found.append((name, text, offset, size, 0, tuple(shape), tuple(strides), "", None))
        elif shape:
            odd = f"its numbers are not aligned in the dtype; {_ALIGN}"
            found.append((name, None, 0, 0, 0, (), (), odd, None))
        else:
            found.append((name, text, offset, unit, size // unit, (), (), "", None))
    return found
