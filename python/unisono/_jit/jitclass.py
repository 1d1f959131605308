"""Classes whose objects compiled code makes, changes and passes on."""

from __future__ import annotations

import dataclasses
import sys
import types
import typing

from .. import _engine
from .._dtype.spelling import parse_type
from ..types import _ClassType
from . import JitFunction
from .options import is_disabled
from .signatures import spec_of

__all__ = ["jitclass"]

# What CPython's own machinery asks for as text or hash stays Python.
_INTERPRETED = {"__repr__", "__str__", "__format__", "__hash__", "__doc__", "__del__"}
_REFLECTED = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
_BINARY = {f"__{p}{n}__" for n in _REFLECTED for p in ("", "r", "i")}
_BINARY |= {f"__{n}__" for n in ("eq", "ne", "lt", "le", "gt", "ge")}
_NOT_THERE = {
    "__getattr__",
    "__setattr__",
    "__getattribute__",
    "__delattr__",
    "__new__",
    "__slots__",
}


class _Object(_engine._Instance):
    """What objects of compiled classes have in common."""

    __slots__ = ()

    def __init__(self, *args, **kwargs):
        pass  # the compiled __init__ has run

    def __eq__(self, other):
        return self._address() == other._address() if isinstance(other, _Object) else NotImplemented

    def __hash__(self):
        return hash(self._address())

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__}: objects of compiled classes cannot be pickled")


class _Method(JitFunction):
    """A compiled method: gets the object that it is called through."""

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)


class _Written(_Method):
    """A method that no source text stands for."""

    def __init__(self, function, flatten, name, owner):
        JitFunction.__init__(self, function, False, None, {}, flatten=flatten)
        self.__name__, self.__qualname__ = name, f"{owner}.{name}"


def jitclass(cls_or_spec=None, spec=None):
    """Compile a class: its fields have types, its methods are compiled functions.

    Parameters
    ----------
    cls_or_spec : class, list or dict, optional
        The class, whose annotations declare the fields; or, as a decorator with arguments, pairs of
        name and type that declare them (and go before annotations).
    spec : list or dict, optional
        The fields where the class is given first.

    Returns
    -------
    class
        Called as before. Its objects have the fields as attributes, and no others.

    Raises
    ------
    TypeError
        For a field whose type is unknown, and for what a compiled class cannot have.

    Notes
    -----
    Types are those of signatures: ``un.float64``, ``int``, ``"float64[:]"``, ``un.int32[:, ::1]``,
    another compiled class, and ``"Node | None"``. Objects are shared as in Python, inside of
    compiled functions and outside, and live as long as anything refers to them. A cycle of objects
    that refer to each other is not freed. Methods compile when they are first called;
    ``__repr__``, ``__str__``, ``__format__`` and ``__hash__`` stay Python.

    Examples
    --------
    >>> import unisono as un
    >>> @un.jitclass
    ... class Counter:
    ...     n: int
    ...
    ...     def __init__(self):
    ...         self.n = 0
    ...
    ...     def add(self, by):
    ...         self.n += by
    >>> c = Counter()
    >>> c.add(3)
    >>> c.n
    3
    """
    if isinstance(cls_or_spec, type):
        return _compiled(cls_or_spec, spec)
    given = spec if cls_or_spec is None else cls_or_spec
    return lambda cls: _compiled(cls, given)


# What Python itself puts into a class; annotations are functions since 3.14.
_OF_THE_CLASS = frozenset(
    "__dict__ __weakref__ __annotations__ __annotate__ __annotate_func__ __annotations_cache__".split()
)


def _annotations(owner):
    """The annotations of a class itself; names that are not defined yet are strings."""
    if sys.version_info < (3, 14):
        return vars(owner).get("__annotations__", {})
    import annotationlib

    found = annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF)
    reference = annotationlib.ForwardRef
    return {n: t.__forward_arg__ if isinstance(t, reference) else t for n, t in found.items()}


def _compiled(cls, spec):
    if is_disabled():
        return cls
    name = cls.__name__
    if issubclass(cls, _Object) or isinstance(cls, type) and type(cls) is not type:
        raise TypeError(
            f"jitclass: '{name}' derives from a compiled class or has a metaclass; "
            f"got {cls.__mro__[1].__name__}; hold the other object in a field instead"
        )
    declared = {}
    members = {}
    for owner in reversed(cls.__mro__[:-1]):
        declared.update(_annotations(owner))
        members.update(vars(owner))
    declared.update(dict(spec or {}))
    scope = getattr(sys.modules.get(cls.__module__), "__dict__", {})
    if any(_is_container(t, scope) for t in declared.values()):
        return _with_containers(cls, declared, members)
    namespace = {"__slots__": (), "__doc__": cls.__doc__, "__module__": cls.__module__}
    namespace["__qualname__"] = cls.__qualname__
    init = None
    for key, value in members.items():
        if key in declared:
            raise TypeError(
                f"jitclass: '{name}.{key}' is a field and cannot have a value in the class; "
                f"got {value!r}; assign it in __init__"
            )
        if key in _NOT_THERE:
            raise TypeError(
                f"jitclass: '{name}' has {key}, which compiled classes do not have; "
                f"got a method of that name; leave it out"
            )
        if key == "__init__":
            init = _method(value, name)
        elif key in _OF_THE_CLASS or key in ("__module__", "__qualname__"):
            continue
        elif key in _INTERPRETED or not isinstance(
            value, (types.FunctionType, JitFunction, property, staticmethod)
        ):
            namespace[key] = value
        elif isinstance(value, property):
            parts = [_method(f, name) if f else None for f in (value.fget, value.fset)]
            namespace[key] = property(*parts, doc=value.__doc__)
        elif isinstance(value, staticmethod):
            namespace[key] = staticmethod(JitFunction(value.__func__, False, None, {}))
        else:
            namespace[key] = _method(value, name)
    compiled = {k: m for k, m in namespace.items() if isinstance(m, _Method) and k in _BINARY}
    for key, method in compiled.items():
        namespace[key] = _or_not_implemented(method)
    if "__eq__" in namespace and "__hash__" not in namespace:
        namespace["__hash__"] = None
    for field in declared:
        namespace[field] = _field(field, name, cls)
    made = type(_Object)(name, (_Object,), namespace)
    made._compiled = {**compiled, "__init__": init} if init else compiled
    made._declared = declared
    made._around = sys.modules.get(cls.__module__).__dict__ if cls.__module__ in sys.modules else {}
    construct = _constructor(made, cls, members.get("__init__"))
    made.__new__ = lambda c, *args, **kwargs: construct(*args, **kwargs)
    made._fields_of_engine = None
    made.class_type = _ClassType(made)
    return made


def _is_container(given, scope):
    """Whether a field's type is text, a list, dict, set or tuple, or an object with such fields."""
    if isinstance(given, typing.ForwardRef):
        given = given.__forward_arg__
    if isinstance(given, str) and not hasattr(given, "_parsed"):
        try:
            given = eval(given, {**scope, "typing": typing})
        except Exception:  # a type's own spelling, such as "float64[:]"
            pass
    if typing.get_origin(given) in (list, dict, set, tuple):
        return True
    if isinstance(given, type):
        return given is str or hasattr(given, "_holds_containers")
    try:
        kind, *about = parse_type(given, "jitclass") if isinstance(given, str) else ("",)
    except TypeError:
        return False
    if kind == "object":
        return hasattr(about[0], "_holds_containers")
    return kind in ("list", "dict", "set", "tuple", "text")


def _with_containers(cls, declared, members):
    """A class whose fields are Python's own: a dataclass, copied in and back where compiled code uses its objects."""
    namespace = {"__annotations__": declared, "_holds_containers": True}
    for key, value in members.items():
        if key in _OF_THE_CLASS:
            continue
        is_method = isinstance(value, types.FunctionType) and not key.startswith("__")
        namespace[key] = _method(value, cls.__name__) if is_method else value
    made = type(cls.__name__, (), namespace)
    made.__qualname__ = cls.__qualname__
    made = dataclasses.dataclass(init="__init__" not in members, eq=False, repr=False)(made)
    made.class_type = _ClassType(made)
    return made


def _method(function, owner):
    if isinstance(function, JitFunction):
        function = function.py_func
    return _Method(function, False, None, {})


def _or_not_implemented(method):
    """An operator that leaves operands that it cannot take to the other one's class."""

    def call(self, other):
        try:
            return method(self, other)
        except (_engine.CompileError, TypeError):
            if isinstance(other, (_Object, int, float)):
                raise
            return NotImplemented

    call.__name__ = method.__name__
    return call


def fields_of(cls):
    """Pairs of name and type for the engine; names in annotations are looked up when first needed."""
    if cls._fields_of_engine is None:
        cls._fields_of_engine = [
            (name, _field_type(cls, name, given)) for name, given in cls._declared.items()
        ]
    return cls._fields_of_engine


def _field_type(cls, name, given):
    where = f"jitclass: field '{name}' of '{cls.__name__}'"
    value = given
    if isinstance(given, typing.ForwardRef):
        given = value = given.__forward_arg__
    if isinstance(given, str) and not hasattr(given, "_parsed"):
        try:
            value = eval(given, {**cls._around, "typing": typing}, {cls.__name__: cls})
        except Exception:  # a type's own spelling, such as "float64[:]"
            value = given
    spec = _class_spec(value) or spec_of(value, where)
    kind = spec[1][0] if spec[0] == "optional" else spec[0]
    is_complex = kind == "scalar" and spec[1].startswith("complex")
    is_odd = (spec[0] == "optional" and kind != "instance") or is_complex
    if is_odd or kind not in ("scalar", "array", "instance"):
        raise TypeError(
            f"{where}: objects hold numbers, arrays and objects of compiled classes; got {given!r}; "
            f'write a type such as float, "float64[:]" or "Node | None"'
        )
    return spec


def _class_spec(value):
    if isinstance(value, type) and issubclass(value, _Object):
        return ("instance", value)
    args = typing.get_args(value)
    if typing.get_origin(value) in (typing.Union, types.UnionType) and len(args) == 2:
        rest = [a for a in args if a is not type(None)]
        rest = [a.__forward_arg__ if isinstance(a, typing.ForwardRef) else a for a in rest]
        inner = _class_spec(rest[0]) if len(rest) == 1 else None
        return inner and ("optional", inner)
    return None


# ---- functions without a source text
def _node(kind, children=(), text="", value=None):
    return (kind, 1, 0, 1, 1, text, value, tuple(children))


def _flat(name, cls, params, body, **more):
    flat = {
        "name": name,
        "file": getattr(sys.modules.get(cls.__module__), "__file__", None) or "<class>",
        "first_line": 1,
        "lines": [],
        "params": params,
        "positional": len(params),
        "vararg": -1,
        "defaults": [None] * len(params),
        "declared": [None] * len(params),
        "result": None,
        "locals": {},
        "signatures": (),
        "body": _node("Block", [body]),
        "nested": [],
        "captures": 0,
        "is_kernel": False,
        "callees": [],
        "classes": [],
        "arrays": [],
        "guards": [],
        "options": {},
    }
    return {**flat, **more}


def _field(name, owner, cls):
    def get(self):
        pass

    def put(self, value):
        pass

    member = _node("Attribute", [_node("Name", text="self")], name)
    read = lambda: _flat(name, cls, ["self"], _node("Return", [member]))  # noqa: E731
    store = _node("Assign", [member, _node("Name", text="value")])
    write = lambda: _flat(name, cls, ["self", "value"], store)  # noqa: E731
    return property(_Written(get, read, name, owner), _Written(put, write, name, owner))


def _constructor(made, cls, init):
    """The function that Python's call of the class runs."""

    def nothing():
        pass

    def flatten():
        from .flatten import flatten_function

        if init is None:
            call = _node("Call", [_node("Class", text=made.__name__, value=0)])
            return _flat(made.__name__, cls, [], _node("Return", [call]), classes=[(made, {})])
        own = flatten_function(init, False, {"is_method": True})
        names, positional = own["params"], own["positional"]
        args = []
        for k, name in enumerate(names[1:], 1):
            here = _node("Name", text=name)
            if k == own["vararg"]:
                here = _node("Starred", [here])
            elif k >= positional:
                here = _node("Keyword", [here], name)
            args.append(here)
        # A default may name what __init__ captured: it lies in the tables of __init__.
        classes = [*own["classes"], (made, {})]
        call = _node("Call", [_node("Class", text=made.__name__, value=len(classes) - 1), *args])
        return _flat(
            made.__name__,
            cls,
            names[1:],
            _node("Return", [call]),
            classes=classes,
            callees=own["callees"],
            defaults=own["defaults"][1:],
            declared=own["declared"][1:],
            positional=positional - 1,
            vararg=own["vararg"] - 1 if own["vararg"] > 0 else -1,
        )

    return _Written(init or nothing, flatten, made.__name__, made.__qualname__)
