"""Functions of dtypes: limits of their values, promotion, casting rules, kinds."""

import functools
import math

import unisono as un

from .. import _engine
from .._arrays.ufunc import as_array, is_python_number, resolve
from .._loaded import loaded
from . import objects as _dtypes

_kinds = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}
_weak = (None, bool, int, float, complex)  # in the order in which the engine counts them
_castings = ("no", "equiv", "safe", "same_kind", "unsafe")
# kind: its dtypes' letters, for isdtype.
_groups = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
# NumPy's abstract scalar types, for issubdtype.
_abstract = {
    "generic": "biufc",
    "number": "iufc",
    "integer": "iu",
    "signedinteger": "i",
    "unsignedinteger": "u",
    "inexact": "fc",
    "floating": "f",
    "complexfloating": "c",
}


def _dtype_of(x):
    """Dtype of an array, or dtype that an object names."""
    if isinstance(x, _dtypes.dtype):
        return x
    if isinstance(x, (str, type)):
        return _engine._dtype_of(x)
    own = getattr(x, "dtype", None)
    return _engine._dtype_of(x if own is None else own)


@_engine._FastPath
def promote_types(type1, type2):
    """Smallest dtype to which both can be cast without loss, as NumPy's.

    Parameters
    ----------
    type1, type2 : dtype

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        If an argument does not describe a dtype.

    Examples
    --------
    >>> import unisono as un
    >>> un.promote_types("int8", "uint8"), un.promote_types("int64", "uint64")
    (dtype('int16'), dtype('float64'))
    """
    return _engine._promote(_engine._dtype_of(type1), _engine._dtype_of(type2))


def result_type(*arrays_and_dtypes):
    """Dtype of the result of an operation on the arguments; Python numbers adapt to the others.

    Parameters
    ----------
    *arrays_and_dtypes : array, dtype or number

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        If an argument does not describe a dtype.

    Examples
    --------
    >>> import unisono as un
    >>> un.result_type(un.zeros(3, "float32"), 2.5, "int16")
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is needed")
    typed, weak = [], 0
    for x in arrays_and_dtypes:
        if type(x) in _weak:
            weak = max(weak, _weak.index(type(x)))
        else:
            typed.append(_dtype_of(x))
    # Integers beside floats do not add to each other's size.
    typed.sort(key=lambda t: t.kind not in "fc")
    common = functools.reduce(_engine._promote, typed) if typed else None
    return _engine._promote(common, weak) if weak else common


def can_cast(from_, to, casting="safe"):
    """Whether a cast between dtypes follows a rule.

    Parameters
    ----------
    from_ : dtype or array
    to : dtype
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
        ``"safe"``: no value is lost; ``"same_kind"``: also to a narrower dtype of the same kind.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If an argument does not describe a dtype.

    Examples
    --------
    >>> import unisono as un
    >>> un.can_cast("int32", "float64"), un.can_cast("int32", "float32")
    (True, False)
    """
    if casting not in _castings:
        raise ValueError(
            f"can_cast: casting must be one of {', '.join(_castings)}; got {casting!r}"
        )
    import numbers

    if not hasattr(from_, "dtype") and isinstance(from_, numbers.Number):
        raise TypeError(
            "can_cast: Python numbers have no dtype; got "
            f"{type(from_).__name__}; expected a dtype or an array; use result_type"
        )
    source, target = _dtype_of(from_), _engine._dtype_of(to)
    if source is target or casting == "unsafe":
        return True
    if casting in ("no", "equiv"):
        return False
    if casting == "same_kind" and _kinds[source.kind] <= _kinds[target.kind]:
        return True
    return _engine._promote(source, target) is target


def isdtype(dtype, kind):
    """Whether a dtype is of a kind, as the array API standard has it.

    Parameters
    ----------
    dtype : dtype
    kind : str, dtype, or tuple of them
        ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``,
        ``"real floating"``, ``"complex floating"``, ``"numeric"``.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If an argument does not describe a dtype.

    Examples
    --------
    >>> import unisono as un
    >>> un.isdtype(un.uint8, "integral"), un.isdtype(un.uint8, (un.int8, "bool"))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    t = _engine._dtype_of(dtype)
    if isinstance(kind, str) and kind in _groups:
        return t.kind in _groups[kind]
    if isinstance(kind, str):
        raise ValueError(
            f"isdtype: kind must be one of {', '.join(_groups)}, or a dtype; got {kind!r}"
        )
    return t is _engine._dtype_of(kind)


def issubdtype(arg1, arg2):
    """Whether a dtype belongs to another or to one of NumPy's abstract types (``np.floating``).

    Parameters
    ----------
    arg1 : dtype
    arg2 : dtype, abstract type of NumPy, or its name

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If an argument does not describe a dtype.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype(un.int8, "integer"), un.issubdtype(un.int8, float)
    (True, False)
    """
    name = arg2 if isinstance(arg2, str) else getattr(arg2, "__name__", None)
    try:
        t = _engine._dtype_of(arg1)
    except TypeError:
        if name not in _abstract:
            raise
        import numpy  # which knows its own dtypes, and not our abstract types

        return numpy.issubdtype(arg1, getattr(numpy, name))
    if name in _abstract:
        return t.kind in _abstract[name]
    return t is _engine._dtype_of(arg2)


def _titled(dtype, lines):
    """The text of a dtype's limits."""
    ruler = "-" * 63
    return "\n".join([f"Machine parameters for {dtype}", ruler, *lines, ruler, ""])


class iinfo:
    """Limits of an integer dtype.

    Parameters
    ----------
    type : dtype, or array

    Attributes
    ----------
    bits : int
    min, max : int
    dtype : dtype

    Examples
    --------
    >>> import unisono as un
    >>> un.iinfo(un.int8).max, un.iinfo("uint64").max
    (127, 18446744073709551615)
    """

    __slots__ = ("bits", "dtype", "kind", "max", "min")

    def __init__(self, type):
        t = _engine._dtype_of(int) if isinstance(type, int) else _dtype_of(type)
        if t.kind not in "iu":
            raise ValueError(f"iinfo: expected an integer dtype; got {t}; use finfo for floats")
        self.dtype, self.kind, self.bits = t, t.kind, 8 * t.itemsize
        self.min = -(2 ** (self.bits - 1)) if t.kind == "i" else 0
        self.max = 2 ** (self.bits - (t.kind == "i")) - 1

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __str__(self):
        return _titled(self.dtype, [f"min = {self.min}", f"max = {self.max}"])

    def __eq__(self, other):
        return type(self) is type(other) and self.dtype is other.dtype

    def __hash__(self):
        return hash(self.dtype)


class finfo:
    """Limits of a floating-point dtype; of a complex one, those of its parts.

    Of `longdouble` and `clongdouble` it is NumPy's own.

    Parameters
    ----------
    dtype : dtype, or array

    Attributes
    ----------
    bits : int
    eps, epsneg : value of that dtype
        Distance from 1 to the next larger and to the next smaller number.
    max, min, smallest_normal, tiny, smallest_subnormal, resolution : value of that dtype
    precision, nmant, nexp, minexp, maxexp, machep, negep, iexp : int
    dtype : dtype

    Examples
    --------
    >>> import unisono as un
    >>> un.finfo(un.float32).eps, un.finfo("float64").bits
    (un.float32(1.1920929e-07), 64)
    """

    def __new__(cls, dtype):
        if numpy := loaded("numpy"):
            scalar = getattr(getattr(dtype, "dtype", dtype), "type", dtype)
            if scalar in (numpy.longdouble, numpy.clongdouble):
                return numpy.finfo(scalar)
        return super().__new__(cls)

    def __init__(self, dtype):
        t = _engine._dtype_of(float) if isinstance(dtype, float) else _dtype_of(dtype)
        if t.kind not in "fc":
            raise ValueError(
                f"finfo: expected a floating-point dtype; got {t}; use iinfo for integers"
            )
        self.bits = 8 * t.itemsize // (2 if t.kind == "c" else 1)
        self.dtype = _dtypes._table[f"float{self.bits}"]
        self.nmant = {16: 10, 32: 23, 64: 52}[self.bits]
        self.iexp = self.nexp = self.bits - 1 - self.nmant
        self.maxexp = 2 ** (self.nexp - 1)
        self.minexp = 2 - self.maxexp
        self.machep, self.negep = -self.nmant, -self.nmant - 1
        self.precision = int(self.nmant * math.log10(2))
        number = self.dtype
        self.eps, self.epsneg = number(2.0**self.machep), number(2.0**self.negep)
        largest = math.ldexp(2 - 2.0**self.machep, self.maxexp - 1)
        self.max, self.min = number(largest), number(-largest)
        self.smallest_normal = self.tiny = number(2.0**self.minexp)
        self.smallest_subnormal = number(math.ldexp(1.0, self.minexp - self.nmant))
        self.resolution = number(10.0**-self.precision)

    def __repr__(self):
        largest = f"{self.max:.{ {16: 5, 32: 7, 64: 16}[self.bits] }e}"
        return f"finfo(resolution={self.resolution!s}, min=-{largest}, max={largest}, dtype={self.dtype})"

    def __str__(self):
        lines = [
            "precision = {precision}   resolution = {resolution}",
            "machep = {machep}   eps =        {eps}",
            "negep =  {negep}   epsneg =     {epsneg}",
            "minexp = {minexp}   tiny =       {tiny}",
            "maxexp = {maxexp}   max =        {max}",
            "nexp =   {nexp}   min =        -max",
            "smallest_normal = {smallest_normal}   smallest_subnormal = {smallest_subnormal}",
        ]
        shown = {name: str(value) for name, value in vars(self).items()}
        return _titled(self.dtype, [line.format(**shown) for line in lines])

    __eq__, __hash__ = iinfo.__eq__, iinfo.__hash__


def check_cast(source, target, rule):
    """Raise NumPy's error where a rule does not allow a conversion."""
    if not can_cast(source, target, rule):
        raise TypeError(
            f"Cannot cast array data from dtype('{source}') to dtype('{target}') according to the rule '{rule}'"
        )


def min_scalar_type(a, /):
    """Smallest dtype that holds a number; of an array its own.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.min_scalar_type(300)
    dtype('uint16')
    """
    if isinstance(a, bool):
        return resolve("bool")
    x = None if is_python_number(a) else as_array(a)
    if x is not None and x.ndim:
        return x.dtype
    value = a if x is None else x.item()
    if isinstance(value, bool):
        return resolve("bool")
    if isinstance(value, int):
        kinds = (
            ("uint8", "uint16", "uint32", "uint64")
            if value >= 0
            else ("int8", "int16", "int32", "int64")
        )
        for kind in kinds:
            if un.iinfo(kind).min <= value <= un.iinfo(kind).max:
                return resolve(kind)
        raise OverflowError(
            f"min_scalar_type: no integer dtype holds {value}; expected -2**63 to 2**64-1"
        )
    import numpy

    return resolve(numpy.min_scalar_type(value).name)


def common_type(*arrays):
    """Floating-point dtype that holds all arrays; integers count as float64.

    Parameters
    ----------
    *arrays : sequence of array_like

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        If an array has dtype bool.

    Examples
    --------
    >>> import unisono as un
    >>> un.common_type([1], un.ones(1, dtype="float32"))
    dtype('float64')
    """
    made = resolve("float16") if hasattr(un, "float16") else resolve("float32")
    for a in arrays:
        dtype = as_array(a).dtype
        if dtype.kind == "b":
            raise TypeError("can't get common type for non-numeric array")
        made = un.result_type(made, resolve("float64") if dtype.kind in "iu" else dtype)
    return made


typecodes = {
    "Character": "c", "Integer": "bhilqnp", "UnsignedInteger": "BHILQNP", "Float": "efdg", "Complex": "FDG",
    "AllInteger": "bBhHiIlLqQnNpP", "AllFloat": "efdgFDG", "Datetime": "Mm", "All": "?bhilqnpBHILQNPefdgFDGSUVOMm",
}  # fmt: skip


_names = {
    "?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short", "i": "integer",
    "I": "unsigned integer", "l": "long integer", "L": "unsigned long integer", "q": "long long integer",
    "Q": "unsigned long long integer", "f": "single precision", "d": "double precision",
    "F": "complex single precision", "D": "complex double precision", "e": "half precision",
    "g": "long precision", "G": "complex long double precision", "S1": "character", "S": "string", "U": "unicode",
    "V": "void", "O": "object",
}  # fmt: skip


def typename(char):
    """Description of a type code letter.

    Parameters
    ----------
    char : str

    Returns
    -------
    str

    Raises
    ------
    KeyError
        If no dtype has that letter.

    Examples
    --------
    >>> import unisono as un
    >>> un.typename("d")
    'double precision'
    """
    return _names[char]


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    """Letter of the smallest of some dtypes to which those of other letters convert safely.

    Parameters
    ----------
    typechars : str, or sequence of letters or arrays
    typeset : str
        Letters to choose among.
    default : str
        Where none of them is in the set.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If an item is neither a letter nor an array.

    Examples
    --------
    >>> import unisono as un
    >>> un.mintypecode("fd")
    'd'
    """
    given = [t if isinstance(t, str) else as_array(t).dtype.char for t in typechars]
    found = [t for t in given if t in typeset]
    if not found:
        return default
    if "F" in found and "d" in found:
        return "D"
    return min(found, key="GDFgdf".index)
