"""Numba's structures with fields of any types, which are dataclasses here."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..types import StructRef

__all__ = [
    "StructRefProxy",
    "define_attributes",
    "define_boxing",
    "define_constructor",
    "define_proxy",
    "register",
]


class StructRefProxy:
    """Base of the classes of structures; `define_proxy` gives them their fields.

    Parameters
    ----------
    *args
        The values of the fields, in their order.

    Raises
    ------
    TypeError
        The class has no fields yet, or another number of them.

    Examples
    --------
    >>> from unisono import types
    >>> from unisono.experimental import structref
    >>> @structref.register
    ... class SpanType(types.StructRef):
    ...     pass
    >>> class Span(structref.StructRefProxy):
    ...     pass
    >>> structref.define_proxy(Span, SpanType, ["first", "last"])
    >>> Span(2, 5.5).last
    5.5
    """

    def __new__(cls, *args):
        fields = getattr(cls, "__dataclass_fields__", None)
        if fields is None or len(fields) != len(args):
            wanted = "define_proxy first" if fields is None else f"its fields {', '.join(fields)}"
            raise TypeError(f"{cls.__name__}: got {len(args)} values; expected {wanted}")
        made = object.__new__(cls)
        for name, value in zip(fields, args, strict=True):
            setattr(made, name, value)
        return made

    def __init__(self, *args, **kwargs):
        pass  # a subclass's __new__ may take other arguments


def register(struct_type):
    """Make a class of types known as the type of structures.

    Parameters
    ----------
    struct_type : type
        A subclass of ``types.StructRef``; `overload_method`, `overload_attribute` and ``isinstance`` in
        implementations take it as they take ``types.Array``.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    TypeError
        Of another class, and of ``types.StructRef`` itself.

    Examples
    --------
    >>> from unisono import types
    >>> from unisono.experimental import structref
    >>> @structref.register
    ... class SpanType(types.StructRef):
    ...     pass
    """
    is_type = isinstance(struct_type, type) and issubclass(struct_type, StructRef)
    if not is_type or struct_type is StructRef:
        raise TypeError(
            f"register: structures have types of their own; got {struct_type!r}; derive one from types.StructRef"
        )
    struct_type.python = []  # classes whose objects are of this type
    return struct_type


def define_proxy(py_class, struct_type, fields):
    """Give a class of structures its fields, and compiled functions its constructor.

    Parameters
    ----------
    py_class : type
        A subclass of `StructRefProxy`, whose objects Python and compiled functions share.
    struct_type : type
        Their type, which `register` knows.
    fields : sequence of str
        Names of the fields, in the order of the constructor.

    Raises
    ------
    TypeError
        `py_class` is no such class, or `struct_type` is not registered.

    Notes
    -----
    The class becomes a dataclass: each field has the type of its value, compiled functions make, change and
    return objects, and copy them in and back at each call from Python. Attributes are read and assigned
    without a function; a property with the name of a field is removed.

    Examples
    --------
    >>> import unisono as un
    >>> from unisono import types
    >>> from unisono.experimental import structref
    >>> @structref.register
    ... class SpanType(types.StructRef):
    ...     pass
    >>> class Span(structref.StructRefProxy):
    ...     pass
    >>> structref.define_proxy(Span, SpanType, ["first", "last"])
    >>> @un.overload_method(SpanType, "length")
    ... def length(self):
    ...     return lambda self: self.last - self.first
    >>> @un.njit
    ... def both(n):
    ...     return Span(0, n).length() + Span(0.5, 2).length()
    >>> both(3)
    4.5
    """
    if not isinstance(py_class, type) or not issubclass(py_class, StructRefProxy):
        raise TypeError(
            f"define_proxy: objects are of a subclass of StructRefProxy; got {py_class!r}; derive it"
        )
    if not isinstance(getattr(struct_type, "python", None), list):
        raise TypeError(
            f"define_proxy: {struct_type!r} is not a type of structures; decorate it with structref.register"
        )
    for name in fields:
        if isinstance(vars(py_class).get(name), property):
            delattr(py_class, name)
    py_class.__annotations__ = dict.fromkeys(fields, Any)
    dataclasses.dataclass(init=False, repr=False, eq=False)(py_class)
    struct_type.python.append(py_class)


def define_constructor(py_class, struct_type, fields):
    """Give a class of structures its fields: `define_proxy` in two parts, of which the other does nothing here.

    Parameters
    ----------
    py_class, struct_type, fields
        As of `define_proxy`.

    Examples
    --------
    >>> from unisono import types
    >>> from unisono.experimental import structref
    >>> @structref.register
    ... class SpanType(types.StructRef):
    ...     pass
    >>> class Span(structref.StructRefProxy):
    ...     pass
    >>> structref.define_constructor(Span, SpanType, ["first", "last"])
    """
    define_proxy(py_class, struct_type, fields)


def define_boxing(struct_type, py_class):
    """Do nothing: objects of every class that has its fields go from Python to compiled functions and back.

    Parameters
    ----------
    struct_type, py_class : type
        As of `define_proxy`.

    Examples
    --------
    >>> from unisono.experimental import structref
    >>> structref.define_boxing(None, None)
    """


def define_attributes(struct_type):
    """Do nothing: compiled functions know the fields of every class that has them.

    Parameters
    ----------
    struct_type : type
        As of `define_proxy`.

    Examples
    --------
    >>> from unisono.experimental import structref
    >>> structref.define_attributes(None)
    """
