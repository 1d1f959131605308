"""Types of compiled functions by Numba's names: ``types.float64``, ``types.ListType(types.int64)``, ``types.Array``..."""

from __future__ import annotations

from typing import Any

from ._dtype import objects as _dtypes
from ._dtype.spelling import _names, parse_type, spell

__all__ = [
    "Array", "BaseTuple", "Boolean", "CPointer", "Complex", "DictType", "Float", "FunctionType", "Integer", "List",
    "ListType", "NoneType", "Number", "Optional", "Record", "Set", "Signature", "StructRef", "Tuple", "Type", "UniTuple", "UnicodeType",
    "WrapperAddressProtocol", "deferred_type", "from_dtype", "none", "string", "typeof", "unicode_type", "void", "voidptr",
]  # fmt: skip


class _IsType(type):
    """Of `Type`: numbers' types, which are dtypes, count as types."""

    def __instancecheck__(cls, x):
        return super().__instancecheck__(x) or (cls is Type and isinstance(x, _dtypes.dtype))


class Type(str, metaclass=_IsType):
    """A type as signatures take it, which is also the text of its spelling.

    Called with types it writes a signature, indexed the type of arrays.

    Examples
    --------
    >>> import unisono as un
    >>> from unisono import types
    >>> types.UniTuple(types.int64, 2)
    Tuple((int64, int64))
    >>> @un.jit(types.unicode_type(types.ListType(types.unicode_type)))
    ... def first(words):
    ...     return words[0]
    >>> first(["a", "b"])
    'a'
    """

    _parsed: Any

    def __new__(cls, parsed: Any) -> Type:
        made = super().__new__(cls, spell(parsed))
        made._parsed = parsed
        return made

    def __call__(self, *args: Any) -> Signature:
        return Signature(self, args)

    def __getitem__(self, axes: Any) -> Any:
        if isinstance(axes, int):  # a letter of its text, which is what typing.Union reads
            return str(self)[axes]
        kind, name, *_ = (*self._parsed, None)
        if kind == "record":
            return Type(("record", name, len(axes) if isinstance(axes, tuple) else 1))
        raise TypeError(
            f"{self}[...]: arrays hold numbers and records; got {self}; write un.float64[:]"
        )

    def __repr__(self) -> str:
        return str(self)

    @property
    def dtype(self) -> Any:
        """The type of an array's elements."""
        return _dtypes._table[self._parsed[1]]

    @property
    def ndim(self) -> int:
        """An array's number of axes."""
        return self._parsed[2]

    @property
    def layout(self) -> str:
        """An array's order: "C", "F", or "A" for any strides."""
        return self._parsed[3]


class Signature(str):
    """A signature as `un.float64(un.int64)` writes it, which is also its text.

    Attributes
    ----------
    return_type : type
    args : tuple of types

    Examples
    --------
    >>> import unisono as un
    >>> un.types.float64(un.types.unicode_type, un.int64).args
    (unicode_type, dtype('int64'))
    """

    return_type: Any
    args: tuple[Any, ...]

    def __new__(cls, result: Any, args: Any) -> Signature:
        made = super().__new__(cls, f"{_spelled(result)}({', '.join(map(_spelled, args))})")
        made.return_type, made.args = result, tuple(args)
        return made


class WrapperAddressProtocol:
    """Base of objects that tell the address and the types of a C function, for compiled code to call.

    Their method ``__wrapper_address__`` gives the address, ``signature`` the types, as in
    ``un.float64(un.float64, un.int64)``.

    Examples
    --------
    >>> import ctypes
    >>> import unisono as un
    >>> class Root(un.types.WrapperAddressProtocol):
    ...     def __wrapper_address__(self) -> int:
    ...         return ctypes.cast(ctypes.CDLL("libm.so.6").sqrt, ctypes.c_void_p).value
    ...
    ...     def signature(self):
    ...         return un.float64(un.float64)
    >>> root = Root()
    >>> root(16.0), un.jit(lambda x: root(x) + 1)(9.0)
    (4.0, 4.0)
    """

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        from ._jit.foreign import function_of

        return function_of(self)(*args)

    def __wrapper_address__(self) -> int:
        """Return the address of the function."""
        raise NotImplementedError(f"{type(self).__name__}: define __wrapper_address__")

    def signature(self) -> Signature:
        """Return the types of the function, as in ``un.float64(un.int64)``."""
        raise NotImplementedError(f"{type(self).__name__}: define signature")


class deferred_type(Type):
    """A type that is defined later, for classes whose fields hold objects of the class itself.

    Examples
    --------
    >>> import unisono as un
    >>> node_type = un.deferred_type()
    >>> @un.jitclass([("value", un.int64), ("next", un.optional(node_type))])
    ... class Node:
    ...     def __init__(self, value, next):
    ...         self.value = value
    ...         self.next = next
    >>> node_type.define(Node.class_type.instance_type)
    >>> Node(1, Node(2, None)).next.value
    2
    """

    def __new__(cls) -> deferred_type:
        made = str.__new__(cls, "deferred_type()")
        made._parsed = None
        return made

    def define(self, type_: Any) -> None:
        """Define the type."""
        self._parsed = _parsed_of(type_)


def _parsed_of(type_):
    if isinstance(type_, deferred_type) and type_._parsed is None:
        return type_
    return type_._parsed if hasattr(type_, "_parsed") else parse_type(type_, "types")


def _spelled(type_):
    return str(type_) if hasattr(type_, "_parsed") else spell(parse_type(type_, "types"))


class _Kind(type):
    """Of classes whose instances are the types of one kind, and that make them."""

    kinds: str
    python: tuple[str, ...] = ()

    def __instancecheck__(cls, x):
        try:
            parsed = _parsed_of(x)
        except TypeError:
            return False
        if parsed[0] == "scalar":
            return "scalar" in cls.kinds.split() and _dtypes._table[parsed[1]].kind in cls.letters
        return parsed[0] in cls.kinds.split()


class _Scalar(metaclass=_Kind):
    kinds, letters = "scalar", ""


class Integer(_Scalar):
    """Types of integers, for ``isinstance(x, types.Integer)`` in implementations of `un.overload`."""

    letters, python = "iu", ("int", "np.integer")


class Float(_Scalar):
    """Types of real floating-point numbers."""

    letters, python = "f", ("float", "np.floating")


class Complex(_Scalar):
    """Types of complex numbers."""

    letters, python = "c", ("complex", "dtype:complex64", "dtype:complex128")


class Boolean(_Scalar):
    """The type of truth values."""

    letters, python = "b", ("bool", "dtype:bool")


class Number(_Scalar):
    """Types of integers, real and complex numbers."""

    letters, python = "iufc", Integer.python + Float.python + Complex.python


class Array(metaclass=_Kind):
    """The type of arrays: of a dtype, a number of axes and an order.

    Examples
    --------
    >>> from unisono import types
    >>> types.Array(types.float32, 2, "C")
    float32[:, ::1]
    """

    kinds, python = "array", ("np.ndarray",)

    def __new__(
        cls, dtype: Any, ndim: int, layout: str = "A", readonly: bool = False, aligned: bool = True
    ) -> Any:
        parsed = _parsed_of(dtype)
        if parsed[0] == "record":
            return Type(("record", parsed[1], ndim))
        return Type(("array", parsed[1], ndim, layout, readonly))


class BaseTuple(metaclass=_Kind):
    """Types of tuples."""

    kinds, python = "tuple", ("tuple",)


class Tuple(BaseTuple):
    """The type of tuples of the given types."""

    def __new__(cls, items: Any) -> Any:
        return Type(("tuple", tuple(_parsed_of(t) for t in items)))


class UniTuple(BaseTuple):
    """The type of tuples of so many items of one type."""

    def __new__(cls, item: Any, count: int) -> Any:
        return Type(("tuple", (_parsed_of(item),) * count))


class List(metaclass=_Kind):
    """The type of lists of one type of items."""

    kinds, python = "list", ("list",)

    def __new__(cls, item: Any, reflected: bool = False) -> Any:
        return Type(("list", _parsed_of(item)))


class ListType(List):
    """The type of lists of one type of items: Numba's typed lists are Python's."""


class DictType(metaclass=_Kind):
    """The type of dicts of one type of keys and one of values."""

    kinds, python = "dict", ("dict",)

    def __new__(cls, key: Any, value: Any) -> Any:
        return Type(("dict", _parsed_of(key), _parsed_of(value)))


class Set(metaclass=_Kind):
    """The type of sets of one type of items."""

    kinds, python = "set", ("set",)

    def __new__(cls, item: Any, reflected: bool = False) -> Any:
        return Type(("set", _parsed_of(item)))


class UnicodeType(metaclass=_Kind):
    """The type of text."""

    kinds, python = "text", ("str",)


class NoneType(metaclass=_Kind):
    """The type of None."""

    kinds, python = "void", ("None",)


class Record(metaclass=_Kind):
    """Types of structured arrays and of their elements; `from_dtype` makes them."""

    kinds = "record"


class StructRef:
    """Base of the types of structures, see `experimental.structref.register`."""

    kinds = ""

    def preprocess_fields(self, fields: Any) -> Any:
        """Return the pairs of a field's name and type as they are; Numba calls it to change them."""
        return fields


class Optional(metaclass=_Kind):
    """The type of values that may be None."""

    kinds = "optional"

    def __new__(cls, type_: Any) -> Any:
        return Type(("optional", _parsed_of(type_)))


class optional(Optional):
    """`Optional` by its other name.

    Examples
    --------
    >>> import unisono as un
    >>> un.optional(un.int64)
    Optional(int64)
    """


class CPointer(metaclass=_Kind):
    """The type of pointers, of functions of `un.cfunc`."""

    kinds = "pointer"

    def __new__(cls, type_: Any) -> Any:
        parsed = _parsed_of(type_)
        if (
            parsed[0] == "record"
        ):  # a struct of C: memory of which `carray` makes an array of records
            return Type(("pointer", None, parsed[1]))
        return Type(("pointer", parsed[1] if parsed[0] == "scalar" else None))


class FunctionType(metaclass=_Kind):
    """The type of compiled functions; each has a specialisation of its own, whatever its signature."""

    kinds = "function"

    def __new__(cls, signature: Any = None) -> Any:
        return Type(("function", str(signature or "")))


def from_dtype(dtype: Any) -> Any:
    """The type of values of a NumPy dtype.

    Parameters
    ----------
    dtype : numpy.dtype

    Returns
    -------
    Type or dtype
        Of structured dtypes the type of a record, which ``[:]`` makes one of structured arrays.

    Raises
    ------
    TypeError
        If arrays do not support the dtype.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> un.from_dtype(np.dtype("f4"))
    dtype('float32')
    >>> un.from_dtype(np.dtype([("x", "f8")]))[:].ndim
    1
    """
    if getattr(dtype, "names", None):
        return Type(("record", dtype, 0))
    return _dtypes.dtype(dtype)


def typeof(value: Any) -> Any:
    """The type that compiled functions take a value as.

    Parameters
    ----------
    value : object
        A number, text, array, tuple, list, dict, set, None, or an object of a compiled class.

    Returns
    -------
    Type or dtype

    Raises
    ------
    TypeError
        If compiled functions do not accept the value, or it is an empty list, dict or set.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> un.typeof(np.ones((2, 3)))
    float64[:, ::1]
    >>> un.typeof({"a": [1, 2]})
    DictType(unicode_type, ListType(int64))
    """
    plain = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}.get(type(value))
    if plain:
        return _dtypes._table[plain]
    if value is None:
        return void
    if isinstance(value, str):
        return unicode_type
    if isinstance(value, tuple):
        return Tuple(tuple(map(typeof, value)))
    if isinstance(value, (list, set, dict)) and value:
        first = typeof(next(iter(value)))
        if isinstance(value, dict):
            return DictType(first, typeof(next(iter(value.values()))))
        return (List if isinstance(value, list) else Set)(first)
    if hasattr(type(value), "class_type"):
        return type(value).class_type.instance_type
    dtype = getattr(value, "dtype", None)
    if dtype is not None and hasattr(value, "ndim"):
        return _typeof_array(value, dtype)
    raise TypeError(
        f"typeof: compiled functions take no such value; got {value!r} of type {type(value).__name__}; "
        f"give a number, text, an array, or a tuple, list, dict or set that is not empty"
    )


def _typeof_array(value, dtype):
    if getattr(dtype, "names", None):
        return Type(("record", dtype, value.ndim))
    if not value.ndim:
        return _dtypes.dtype(dtype)
    import numpy

    flags = numpy.asarray(value).flags
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return Array(_dtypes.dtype(dtype), value.ndim, layout)


class _ClassType:
    """What ``Class.class_type`` of a compiled class is."""

    def __init__(self, cls):
        self.instance_type = Type(("object", cls))


class _Void(Type):
    """Numba's type of no result, and NumPy's class of records' values: to `isinstance`, and called with a value."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        if options or any(isinstance(a, (int, bytes, bytearray, memoryview)) for a in args):
            import numpy

            return numpy.void(*args, **options)
        return super().__call__(*args)

    def __instancecheck__(self, x: Any) -> bool:
        import numpy

        return isinstance(x, numpy.void)

    def __subclasscheck__(self, kind: Any) -> bool:
        import numpy

        return issubclass(kind, numpy.void)


void = none = _Void(("void",))
unicode_type = string = Type(("text",))
voidptr = Type(("pointer", None))
_ABSENT = {
    "Literal": "there are no types of constants; test the value, as in n == 2",
    "misc": "deferred_type and Optional are in un.types itself",
    "pyobject": "there is no object mode; call Python in `with un.python():`",
    "NPDatetime": 'compiled code has no dates; pass a.view("int64")',
}


def __getattr__(name: str) -> Any:
    if name in _names:
        return _dtypes._table[_names[name]]
    why = _ABSENT.get(
        name.replace("Integer", "").replace("String", ""), "dir(un.types) lists what is there"
    )
    raise AttributeError(f"module 'unisono.types' has no attribute '{name}'; {why}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_names})
