"""How arrays print: as NumPy's, with our own options, without NumPy for values."""

import contextlib

_options = {
    "edgeitems": 3, "threshold": 1000, "precision": 8, "linewidth": 75, "suppress": False, "nanstr": "nan", "infstr": "inf",
    "sign": "-", "formatter": None, "floatmode": "maxprec", "legacy": False, "override_repr": None,
}  # fmt: skip


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
    """Change how arrays print; see NumPy's function for the options.

    Examples
    --------
    >>> import unisono as un
    >>> with un.printoptions(precision=2):
    ...     print(un.asarray([1 / 3]))
    [0.33]
    """
    given = {k: v for k, v in locals().items() if v is not None}
    given["formatter"] = formatter
    _check(given)
    _options.update(given)


def _check(given):
    if given.get("floatmode", "fixed") not in ("fixed", "unique", "maxprec", "maxprec_equal"):
        raise ValueError("floatmode option must be one of fixed, unique, maxprec, maxprec_equal")
    if given.get("sign", "-") not in ("-", "+", " "):
        raise ValueError("sign option must be one of ' ', '+', or '-'")
    for name in ("precision", "threshold", "edgeitems", "linewidth"):
        if name in given and not isinstance(given[name], (int, float)):
            raise TypeError(f"{name} must be a number")


def get_printoptions():
    """Return the options with which arrays print."""
    return dict(_options)


@contextlib.contextmanager
def printoptions(*args, **kwargs):
    """Change how arrays print inside a ``with`` block."""
    before = get_printoptions()
    try:
        set_printoptions(*args, **kwargs)
        yield get_printoptions()
    finally:
        _options.update(before)


def _host(x):
    """NumPy's view of the array, or of its corners where only those are printed."""
    import numpy

    return numpy.asarray(x.to_device("cpu"))


def _numpy_options(**given):
    """NumPy's context with our options and what a call overrides."""
    import numpy

    made = {**_options, **{k: v for k, v in given.items() if v is not None}}
    return numpy.printoptions(**{k: v for k, v in made.items() if k != "override_repr"})


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
    """Text of an array; see NumPy's function for the options."""
    import numpy

    given = {
        "threshold": threshold, "edgeitems": edgeitems, "sign": sign, "floatmode": floatmode, "precision": precision,
        "suppress": suppress_small, "formatter": formatter, "linewidth": max_line_width,
    }  # fmt: skip
    with _numpy_options(**given):
        return numpy.array2string(
            _host(_array(a)), separator=separator, prefix=prefix, suffix=suffix
        )


def _array(a):
    from ._ufunc import as_array

    return as_array(a)


def _number(x):
    """Text of a value: a Python number, but float16 and float32 with their own digits."""
    v = x.item()
    if x.dtype.name in ("float16", "float32", "complex64"):
        import numpy

        return str(getattr(numpy, x.dtype.name)(v))
    return str(v)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """Text of an array as NumPy's repr; values print as their dtype's name and number."""
    x = _array(arr)
    if x.ndim == 0 and _options["override_repr"] is None:
        return f"un.{x.dtype.name}({_number(x)})"
    if _options["override_repr"] is not None:
        return _options["override_repr"](x)
    import numpy

    device = "" if x.device == "cpu" else f", device='{x.device}'"
    with _numpy_options():
        text = numpy.array_repr(_host(x), max_line_width, precision, suppress_small)
    return text[:-1] + device + ")"


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """Text of an array as NumPy's str; a value prints as its number."""
    x = _array(a)
    if x.ndim == 0:
        return _number(x)
    import numpy

    with _numpy_options():
        return numpy.array_str(_host(x), max_line_width, precision, suppress_small)


def format_float_positional(x, precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=None, pad_right=None, min_digits=None):  # fmt: skip
    """Text of a number without exponent; see NumPy's function."""
    import numpy

    x = numpy.asarray(x)[()] if hasattr(x, "dtype") else x
    return numpy.format_float_positional(
        x, precision, unique, fractional, trim, sign, pad_left, pad_right, min_digits
    )


def format_float_scientific(x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None):  # fmt: skip
    """Text of a number with exponent; see NumPy's function."""
    import numpy

    x = numpy.asarray(x)[()] if hasattr(x, "dtype") else x
    return numpy.format_float_scientific(
        x, precision, unique, trim, sign, pad_left, exp_digits, min_digits
    )


def binary_repr(num, width=None):
    """Binary digits of an integer, in two's complement where a width is given."""
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
    """Digits of an integer in a base from 2 to 36."""
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
