"""How arrays print: as NumPy's, with options that hold for NumPy's arrays too.

`array2string` takes the corners of an array that will show to the host and lays them out (`_text_layout`). Digits of
single numbers come from `_digits`.
"""

import contextlib
import math
import operator
from contextvars import ContextVar

from .. import _engine
from .._arrays.exchange.numpys_elements import by_numpy, is_numpys
from .._loaded import loaded
from . import digits as _digits
from . import text_layout as _text_layout

_defaults = {
    "edgeitems": 3, "threshold": 1000, "precision": 8, "linewidth": 75, "suppress": False, "nanstr": "nan", "infstr": "inf",
    "sign": "-", "formatter": None, "floatmode": "maxprec", "legacy": False, "override_repr": None,
}  # fmt: skip
_current = ContextVar("print options of unisono", default=_defaults)
_modes = ("fixed", "unique", "maxprec", "maxprec_equal")


def set_printoptions(
    precision=None,
    threshold=None,
    edgeitems=None,
    linewidth=None,
    suppress=None,
    nanstr=None,
    infstr=None,
    formatter=None,
    sign=None,
    floatmode=None,
    *,
    legacy=None,
    override_repr=None,
):
    """Change how arrays print, in this thread or task; NumPy's arrays too, where NumPy is loaded.

    Parameters
    ----------
    precision : int
        Most digits of a fraction.
    threshold : int
        Arrays of more elements show their corners only.
    edgeitems : int
        Elements at each end of an axis that a corner shows.
    linewidth : int
        Characters in a line.
    suppress : bool
        Never use exponents for small numbers.
    nanstr, infstr : str
    sign : {'-', '+', ' '}
        Sign printed before positive numbers.
    floatmode : {'maxprec', 'fixed', 'unique', 'maxprec_equal'}
    formatter : dict
        Functions from a value to its text: under ``"bool"``, ``"int"``, ``"float"``, ``"complexfloat"``,
        ``"int_kind"``, ``"float_kind"``, ``"complex_kind"`` or ``"all"``. Dropped by each call that gives none.
    legacy : str or False
        A version of NumPy, as ``"1.13"``: NumPy prints the arrays as that one did.
    override_repr : callable
        Takes an array, returns its `repr`. Dropped by each call that gives none.

    Raises
    ------
    ValueError, TypeError
        If an option is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> with un.printoptions(precision=2):
    ...     print(un.asarray([1 / 3]))
    [0.33]
    """
    given = _checked({k: v for k, v in locals().items() if v is not None})
    given |= {"formatter": formatter, "override_repr": override_repr}
    _current.set({**_current.get(), **given})
    if numpy := loaded("numpy"):
        numpy.set_printoptions(**(_current.get() if given.get("legacy") else given))


def _checked(given):
    """The options, or the error that NumPy raises for them."""
    if given.get("floatmode", "fixed") not in _modes:
        raise ValueError(
            "floatmode option must be one of " + ", ".join(f'"{mode}"' for mode in _modes)
        )
    if given.get("sign", "-") not in ("-", "+", " "):
        raise ValueError("sign option must be one of ' ', '+', or '-'")
    if given.get("legacy") not in (None, False):
        import numpy  # which prints as its old versions did

        with numpy.printoptions(legacy=given["legacy"]):
            pass
    if "precision" in given:
        try:
            given["precision"] = operator.index(given["precision"])
        except TypeError as e:
            raise TypeError("precision must be an integer") from e
    for name in ("threshold", "edgeitems", "linewidth"):
        if name in given and not isinstance(given[name], (int, float)):
            raise TypeError(f"{name} must be numeric; got {type(given[name]).__name__}")
    if given.get("threshold") != given.get("threshold"):
        raise ValueError(
            "threshold must be non-NAN, try sys.maxsize for untruncated representation"
        )
    return given


def get_printoptions():
    """Return the options with which arrays print, as a dict; `set_printoptions` explains them.

    Returns
    -------
    dict

    Examples
    --------
    >>> import unisono as un
    >>> un.get_printoptions()["precision"]
    8
    """
    return dict(_current.get())


@contextlib.contextmanager
def printoptions(*args, **kwargs):
    """Change how arrays print inside a ``with`` block.

    Parameters
    ----------
    *args, **kwargs
        The options of `set_printoptions`.

    Yields
    ------
    dict
        The options inside of the block.

    Raises
    ------
    ValueError, TypeError
        If an option is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> with un.printoptions(threshold=4, edgeitems=1) as options:
    ...     print(un.arange(9))
    [0 ... 8]
    """
    before = _current.get()
    if kwargs.get("legacy"):
        import numpy  # its options are to be restored, too
    numpy = loaded("numpy")
    with numpy.printoptions() if numpy else contextlib.nullcontext():
        try:
            set_printoptions(*args, **kwargs)
            yield get_printoptions()
        finally:
            _current.set(before)


def array2string(
    a,
    max_line_width=None,
    precision=None,
    suppress_small=None,
    separator=" ",
    prefix="",
    *,
    formatter=None,
    threshold=None,
    edgeitems=None,
    sign=None,
    floatmode=None,
    suffix="",
    legacy=None,
):
    """Text of an array.

    Parameters
    ----------
    a : array_like
    separator : str
        Separator of the elements.
    prefix, suffix : str
        What stands before and after: lines are indented and wrapped so that all fits.
    max_line_width, precision, suppress_small, formatter, threshold, edgeitems, sign, floatmode, legacy
        As in `set_printoptions`, for this call only.

    Returns
    -------
    str

    Raises
    ------
    ValueError, TypeError
        If an option is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.array2string(un.asarray([0.125, 2.0]), precision=2, separator=", ")
    '[0.12, 2.  ]'
    """
    given = {
        "threshold": threshold, "edgeitems": edgeitems, "sign": sign, "floatmode": floatmode, "precision": precision,
        "suppress": suppress_small, "formatter": formatter, "linewidth": max_line_width, "legacy": legacy,
    }  # fmt: skip
    if is_numpys(a):
        names = {"suppress": "suppress_small", "linewidth": "max_line_width"}
        wanted = {names.get(k, k): v for k, v in given.items() if v is not None}
        return by_numpy(
            "array2string", a, separator=separator, prefix=prefix, suffix=suffix, **wanted
        )
    options = {**_current.get(), **_checked({k: v for k, v in given.items() if v is not None})}
    x = _array(a)
    if options["legacy"]:
        names = {"suppress": "suppress_small", "linewidth": "max_line_width"}
        wanted = {names.get(k, k): v for k, v in given.items() if v is not None}
        return _by_numpys(
            "array2string", x, separator=separator, prefix=prefix, suffix=suffix, **wanted
        )
    if x.size == 0:
        return "[]"
    shortened = x.size > options["threshold"]
    shown = (_text_layout.corners(x, options["edgeitems"]) if shortened else x).to_device("cpu")
    rows = shown.tolist()
    write, of_ours = _text_layout.formatter(_text_layout.flat(rows, shown.ndim), shown, options)
    if of_ours:
        rows = _own_values(shown)
    lines = _text_layout.Rows(x.shape, write, options, separator, shortened)
    return lines.text(rows, " " * (len(prefix) + 1), options["linewidth"] - len(suffix))


def _by_numpys(name, x, *args, **options):
    """Text of an array of ours from NumPy's function, for ways of printing that NumPy alone knows."""
    import numpy

    numpys = numpy.asarray(x.to_device("cpu"))
    if x.ndim == 0 and x._is_value():
        return {"array_repr": repr, "array_str": str}.get(name, numpy.array2string)(numpys[()])
    return getattr(numpy, name)(numpys, *args, **options)


def _own_values(x):
    return [_own_values(row) for row in x] if x.ndim else x


def _array(a):
    from .._arrays.ufunc import as_array

    return as_array(a)


def _number(x):
    """Text of a value: a Python number, but float16, float32 and complex64 with their own digits."""
    v, name = x.item(), x.dtype.name
    if name in ("float16", "float32"):
        return _digits.shortest(v, name)
    if name == "complex64":
        return _complex_number(v)
    return str(v)


def _complex_number(v):
    """As Python's complex, with float32's digits."""

    def part(x):
        text = _digits.shortest(x, "float32")
        return text.removesuffix(".0")

    if v.real == 0 and math.copysign(1, v.real) > 0:
        return part(v.imag) + "j"
    imag = part(v.imag)
    return f"({part(v.real)}{'' if imag[0] == '-' else '+'}{imag}j)"


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """Text of an array as its `repr`: elements, and dtype, shape and device where they are not plain from them.

    Parameters
    ----------
    arr : array_like
        A value prints as its dtype's name and number.
    max_line_width, precision, suppress_small
        As in `set_printoptions`, for this call only.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If `arr` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.array_repr(un.arange(3, dtype="int8"))
    'array([0, 1, 2], dtype=int8)'
    """
    if is_numpys(arr):
        return by_numpy("array_repr", arr, max_line_width, precision, suppress_small)
    x = _array(arr)
    options = _current.get()
    if options["override_repr"] is not None:
        return options["override_repr"](x)
    if options["legacy"]:
        return _by_numpys("array_repr", x, max_line_width, precision, suppress_small)
    if x.ndim == 0 and x._is_value():
        return (
            f"un.{x.dtype.name}({_number(x).strip('()')})"  # complex numbers stand in parentheses
        )
    width = options["linewidth"] if max_line_width is None else max_line_width
    kind = type(arr)
    is_users = isinstance(arr, _engine._Array) and kind.__module__.partition(".")[0] != "unisono"
    name = kind.__name__ if is_users else "array"
    text = array2string(x, width, precision, suppress_small, ", ", f"{name}(", suffix=")")
    more = []
    if (x.size == 0 and x.shape != (0,)) or x.size > options["threshold"]:
        more.append(f"shape={tuple(x.shape)}")
    if x.dtype.name not in ("int64", "float64", "complex128", "bool") or x.size == 0:
        more.append(f"dtype={x.dtype.name}")
    if x.device != "cpu":
        is_mesh = isinstance(x.device, _engine.Mesh)
        more.append(f"mesh={x.device!r}" if is_mesh else f"device='{x.device}'")
    if not more:
        return f"{name}({text})"
    text = f"{name}({text},"
    extra = ", ".join(more) + ")"
    last = len(text) - (text.rfind("\n") + 1)
    return text + (" " if last + len(extra) + 1 <= width else "\n" + " " * (len(name) + 1)) + extra


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """Text of an array as its `str`: elements only; a value prints as its number.

    Parameters
    ----------
    a : array_like
    max_line_width, precision, suppress_small
        As in `set_printoptions`, for this call only.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> print(un.array_str(un.eye(2)))
    [[1. 0.]
     [0. 1.]]
    """
    if is_numpys(a):
        return by_numpy("array_str", a, max_line_width, precision, suppress_small)
    x = _array(a)
    if _current.get()["legacy"]:
        return _by_numpys("array_str", x, max_line_width, precision, suppress_small)
    if x.ndim == 0:
        return _number(x)
    return array2string(x, max_line_width, precision, suppress_small, " ", "")


def _format_arguments(x, options):
    """Number and dtype name of an argument, and options that are in order."""
    for name in ("precision", "pad_left", "pad_right", "exp_digits", "min_digits"):
        if options.get(name) is not None and options[name] < 0:
            raise ValueError(f"{name} must be >= 0")
    if options["precision"] is None and not options["unique"]:
        raise TypeError("in non-unique mode `precision` must be supplied")
    least, most = options["min_digits"], options["precision"]
    if least and most and least > most:
        raise ValueError("min_digits must be less than or equal to precision")
    if options["trim"] not in ("k", ".", "0", "-"):
        raise TypeError(f"if supplied, trim must be 'k', '.', '0' or '-' found `{options['trim']}'")
    v = _array(x)
    if v.ndim or v.dtype.kind == "c":
        raise TypeError(
            f"expected a real number; got an array of shape {tuple(v.shape)}, {v.dtype}"
        )
    return float(v), v.dtype.name if v.dtype.kind == "f" else "float64"


def format_float_positional(x, precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=None, pad_right=None, min_digits=None):  # fmt: skip
    """Text of a number without exponent.

    Parameters
    ----------
    x : float or value
        float16 and float32 print the digits that they need.
    precision, min_digits : int, optional
        The most and the fewest digits: of the fraction, or in all where `fractional` is false.
    unique : bool
        Stop at the shortest text that tells the number from others of its dtype.
    trim : {'k', '.', '0', '-'}
        Zeros at the end: kept; dropped; all but the one after the point dropped; dropped with the point.
    sign : bool
        A ``+`` before positive numbers.
    pad_left, pad_right : int, optional
        Fill up with blanks to so many characters before the point, and after it.

    Returns
    -------
    str

    Raises
    ------
    ValueError, TypeError
        If a number of digits is negative, or `unique` is false and no precision is given.

    Examples
    --------
    >>> import unisono as un
    >>> un.format_float_positional(1e-5 / 3, precision=8)
    '0.00000333'
    """
    if not fractional and precision == 0:
        raise ValueError("precision must be greater than 0 if fractional=False")
    options = dict(
        precision=precision, unique=unique, trim=trim, sign=sign, pad_left=pad_left, min_digits=min_digits,
        fractional=fractional, pad_right=pad_right,
    )  # fmt: skip
    return _digits.positional(*_format_arguments(x, options), **options)


def format_float_scientific(x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None):  # fmt: skip
    """Text of a number with exponent.

    Parameters
    ----------
    x : float or value
        float16 and float32 print the digits that they need.
    precision, min_digits : int, optional
        The most and the fewest digits after the point.
    exp_digits : int, optional
        The fewest digits of the exponent: 2 where it is not given.
    unique, trim, sign, pad_left
        As in `format_float_positional`.

    Returns
    -------
    str

    Raises
    ------
    ValueError, TypeError
        If a number of digits is negative, or `unique` is false and no precision is given.

    Examples
    --------
    >>> import unisono as un
    >>> un.format_float_scientific(299792458, precision=3)
    '2.998e+08'
    """
    options = dict(
        precision=precision, unique=unique, trim=trim, sign=sign, pad_left=pad_left, min_digits=min_digits,
        exp_digits=exp_digits,
    )  # fmt: skip
    return _digits.scientific(*_format_arguments(x, options), **options)


def binary_repr(num, width=None):
    """Binary digits of an integer, in two's complement where a width is given.

    Parameters
    ----------
    num : int
        How many.
    width : int, optional
        Minimum number of digits.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the number needs more digits than `width`.

    Examples
    --------
    >>> import unisono as un
    >>> un.binary_repr(-3, width=4)
    '1101'
    """
    num = num.__index__()
    digits = format(abs(num), "b")
    if num >= 0:
        made = digits if width is None else digits.zfill(width)
    elif width is None:
        return "-" + digits
    else:
        needed = len(format(-num - 1, "b")) + 1 if num != -1 else 1
        made = format(num & ((1 << max(width, needed)) - 1), "b")
    if width is not None and len(made) > width:
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={len(made)}")
    return made


def base_repr(number, base=2, padding=0):
    """Digits of an integer in a base from 2 to 36.

    Parameters
    ----------
    number : int
    base : number
    padding : int
        Number of zeros added in front.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the base is below 2 or above 36.

    Examples
    --------
    >>> import unisono as un
    >>> un.base_repr(255, 16)
    'FF'
    """
    if not 2 <= base <= 36:
        raise ValueError(
            f"Bases {'greater than 36' if base > 36 else 'less than 2'} not handled in base_repr."
        )
    n, digits = abs(int(number)), []
    while n:
        n, k = divmod(n, base)
        digits.append("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[k])
    text = "0" * padding + "".join(reversed(digits)) if digits else "0" * (padding or 1)
    return "-" + text if number < 0 else text
