"""Python classes for those of C++: objects that own or borrow one of C++, methods that choose among overloads."""

from __future__ import annotations

import numbers

from . import cpp_standard

_operators = {
    "operator+": "__add__", "operator-": "__sub__", "operator*": "__mul__", "operator/": "__truediv__",
    "operator%": "__mod__", "operator==": "__eq__", "operator!=": "__ne__", "operator<": "__lt__",
    "operator<=": "__le__", "operator>": "__gt__", "operator>=": "__ge__", "operator+=": "__iadd__",
    "operator-=": "__isub__", "operator*=": "__imul__", "operator/=": "__itruediv__", "operator()": "__call__",
    "operator[]": "__getitem__",
}  # fmt: skip


class CppObject:
    """An object of C++; ``int(object)`` is its address."""

    _delete = None

    def __init__(self, *args):
        self._address, self._owns, self._keeps = 0, False, ()
        new = type(self)._new
        if new is None:
            raise TypeError(
                f"{type(self).__name__}: cannot be constructed: it is abstract, or has no public constructor; "
                f"got {len(args)} arguments; take an object from a function that returns one"
            )
        made = new(*args)
        self._address, self._owns, made._owns = made._address, True, False
        self._keeps = tuple(a for a in args if isinstance(a, CppObject))

    @classmethod
    def _wrap(cls, address, owns, keeps=()):
        made = cls.__new__(cls)
        made._address, made._owns, made._keeps = address, owns, keeps
        return made

    def __int__(self):
        return self._address

    __index__ = __int__

    def __del__(self):
        if getattr(self, "_owns", False) and self._delete is not None:
            self._owns = False
            self._delete.function(self._address)

    def __repr__(self):
        return f"<C++ {type(self).__name__} at {self._address:#x}>"


def make_class(row, by_owner, known):
    """The Python class of a row of `_engine._cpp_text`; derived from that of its base where that is known."""
    name, base, makers, methods, fields, can_delete = row
    last = name.rsplit("::", 1)[-1]
    about = {"__doc__": f"The C++ class {name}.", "_new": None, "__module__": __name__}
    if makers:
        about["_new"] = Overloads(last, by_owner[name, "new"], known)
    if can_delete:
        about["_delete"] = by_owner[name, "delete"][0]
    for symbol in {m[0] for m in methods}:
        entries = by_owner[name, symbol]
        found = Overloads(f"{last}.{symbol}", entries, known)
        if symbol == "operator-" and any(not e.params for e in entries):
            about["__neg__"] = found
        about[_operators.get(symbol, symbol)] = found
    if "__eq__" in about:
        about["__hash__"] = CppObject.__hash__
    for field, _ in fields:
        getter, setter = (by_owner.get((name, f"{verb} {field}")) for verb in ("get", "set"))
        if getter:
            about[field] = _field(f"{last}.{field}", getter, setter, known)
    return type(last, (known.get(base, CppObject),), about)


def _field(name, getter, setter, known):
    get = Overloads(name, getter, known)
    put = Overloads(name, setter, known) if setter else None
    return property(
        lambda self: get._call(self, ()),
        (lambda self, value: put._call(self, (value,))) if put else None,
    )


class Overloads:
    """A function of C++ with its overloads; as an attribute of a class, a method."""

    def __init__(self, name, entries, classes):
        self.__name__ = self.__qualname__ = name
        self._entries, self._classes = entries, classes
        self._callbacks = {}
        self.__doc__ = "\n".join(e.declaration for e in entries)

    def __get__(self, instance, owner=None):
        if instance is None or self._entries[0].name.endswith("::new"):
            return self
        return _Bound(self, instance)

    @property
    def _in_compiled_code(self):
        """What compiled functions call: the function, where there is one of this name."""
        has_objects = any(
            t[1].startswith("record") or cpp_standard.kind_of(t)
            for e in self._entries
            for t in (e.result, *(t for _, t in e.params))
        )
        return None if has_objects or len(self._entries) > 1 else self._entries[0].function

    def __call__(self, *args):
        """Call the overload that the arguments fit best."""
        if all(e.is_static for e in self._entries):
            return self._call(None, args)
        if not args or not isinstance(args[0], CppObject):
            raise TypeError(
                f"{self.__name__}: is a method; got no object; call it of one, as in x.{self.__name__.split('.')[-1]}()"
            )
        return self._call(args[0], args[1:])

    def _call(self, instance, args):
        entry = self._choose(args)
        given = [] if entry.is_static else [instance._address]
        kept = []
        for value, (name, type_) in zip(args, entry.params, strict=True):
            kind = cpp_standard.kind_of(type_)
            if kind:
                what = f"{self.__name__}: argument '{name}'"
                given += cpp_standard.given(kind, value, what, self._callbacks)
            else:
                given.append(self._converted(value, name, type_, entry, kept))
        made = entry.function(*given)
        return self._result(made, entry.result, instance, args)

    def _choose(self, args):
        best, most, refused = None, -1, None
        for entry in self._entries:
            if len(entry.params) != len(args):
                continue
            if entry.refused:
                refused = entry
                continue
            scores = [
                _score(a, t, self._classes) for a, (_, t) in zip(args, entry.params, strict=True)
            ]
            if None not in scores and sum(scores) > most:
                best, most = entry, sum(scores)
        if best is not None:
            return best
        if refused is not None:
            raise TypeError(
                f"{self.__name__}: cannot be called from Python: {refused.refused}; the declaration is "
                f"{refused.declaration}; write a C++ function around it that takes numbers, pointers and objects"
            )
        kinds = ", ".join(_kind(a) for a in args)
        raise TypeError(
            f"{self.__name__}: no overload takes these arguments; got ({kinds}); it has "
            f"{'; '.join(e.declaration for e in self._entries)}; pass what one of them takes"
        )

    def _converted(self, value, name, type_, entry, kept):
        spelling, form, _, _, dtype = type_
        if form.startswith("record"):
            return 0 if value is None else value._address
        if form == "number*" and isinstance(value, (str, bytes)):
            import numpy as np

            text = value.encode() if isinstance(value, str) else value
            kept.append(np.frombuffer(text + b"\0", np.int8).copy())
            return kept[-1]
        return value

    def _result(self, made, type_, instance, args):
        spelling, form, record, is_const, dtype = type_
        kind = cpp_standard.kind_of(type_)
        if kind:
            return cpp_standard.read(kind, made)
        if not form.startswith("record"):
            if form == "number*" and is_const and dtype == "int8" and made:
                import ctypes

                return ctypes.string_at(made).decode()
            return made
        if form == "record*" and not made:
            return None
        cls = self._classes[record]
        if form == "record":
            return cls._wrap(made, True)
        for known in (instance, *args):  # *this, or what was passed
            if isinstance(known, CppObject) and known._address == made and isinstance(known, cls):
                return known
        return cls._wrap(
            made, False, tuple(a for a in (instance, *args) if isinstance(a, CppObject))
        )

    def __repr__(self):
        return f"<C++ function {'; '.join(e.declaration for e in self._entries)}>"


class _Bound:
    """A method of one object."""

    def __init__(self, overloads, instance):
        self._overloads, self._instance = overloads, instance
        self.__name__, self.__doc__ = overloads.__name__, overloads.__doc__

    def __call__(self, *args):
        return self._overloads._call(self._instance, args)

    def __repr__(self):
        return f"<method {self.__name__} of {self._instance!r}>"


def _kind(value):
    dtype = getattr(value, "dtype", None)
    return (
        f"array of {dtype}"
        if dtype is not None and getattr(value, "ndim", 0)
        else type(value).__name__
    )


def _score(value, type_, classes):
    """How well the value fits, or None."""
    _, form, record, is_const, dtype = type_
    kind = cpp_standard.kind_of(type_)
    if kind:
        return cpp_standard.score(kind, value)
    if form.startswith("record"):
        cls = classes.get(record)
        if value is None:
            return 0 if form == "record*" else None
        if cls is None or not isinstance(value, cls):
            return None
        return 4 if type(value) is cls else 3
    is_array = getattr(value, "dtype", None) is not None and getattr(value, "ndim", 0) > 0
    if form == "number" or (form == "number&" and is_const):
        if (
            is_array
            or not isinstance(value, (numbers.Number, bool))
            and not hasattr(value, "__index__")
        ):
            return None
        return _number_score(value, dtype)
    if form in ("number*", "number&"):
        if isinstance(value, (str, bytes)):
            return 3 if dtype == "int8" and is_const and form == "number*" else None
        if not is_array:
            return None
        return 4 if str(value.dtype).rsplit(".", 1)[-1] == dtype else 0
    return 1 if isinstance(value, int) else None


def _number_score(value, dtype):
    is_bool = isinstance(value, bool)
    is_int = isinstance(value, numbers.Integral) and not is_bool
    if isinstance(value, CppObject) or isinstance(value, complex):
        return None
    if dtype == "bool":
        return 4 if is_bool else None
    if dtype.startswith("float"):
        exact = not is_int and not is_bool
        return (4 if dtype == "float64" else 3) if exact else 1
    if not (is_int or is_bool):
        return None
    return 1 if is_bool else 4 if dtype in ("int32", "int64") else 3
