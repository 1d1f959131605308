"""Decimal digits of floating-point numbers, as NumPy prints them: the shortest that tell a value from others of its dtype,
or correctly rounded ones.

`digits` yields significant digits and the exponent of the first; `positional` and `scientific` lay them out. Numbers come
as Python floats with the name of the dtype that they belong to, since float32's 0.1 has fewer digits than float64's.
"""

import math

# Bits of the significand, and the exponent of the smallest subnormal.
_formats = {"float16": (11, -24), "float32": (24, -149), "float64": (53, -1074)}


def digits(x, dtype="float64", unique=True, cutoff=None, fractional=False, least=None):
    """Significant digits of a positive number, and the decimal exponent of the first.

    Parameters
    ----------
    x : float
        Finite, at least 0.
    dtype : str
        Floating-point dtype whose neighbours must print otherwise.
    unique : bool
        Stop where the digits tell `x` from its neighbours; else only at the cutoff, or where they are exact.
    cutoff, least : int, optional
        The most digits, and the fewest: of the fraction if `fractional`, else in all. The last one is rounded to the
        nearest, ties to even.

    References
    ----------
    Guy L. Steele and Jon L. White, "How to Print Floating-Point Numbers Accurately", 1990.

    Examples
    --------
    >>> digits(0.10000000149011612, "float32")
    ([1], -1)
    >>> digits(2 / 3, cutoff=3, fractional=True)
    ([6, 6, 7], -1)
    """
    if x == 0:
        return [0], 0
    bits, lowest = _formats[dtype]
    exponent = max(math.frexp(x)[1] - bits, lowest)
    mantissa = int(math.ldexp(x, -exponent))
    # x = value / scale; half the way to the neighbours = low / scale below and high / scale above.
    value, scale, high = mantissa << 2, 4, 2
    low = 1 if mantissa == 1 << bits - 1 and exponent > lowest else 2
    if exponent >= 0:
        value, low, high = value << exponent, low << exponent, high << exponent
    else:
        scale <<= -exponent
    place = _exponent(value, scale)
    if cutoff is not None and fractional:
        place = max(place, -cutoff)  # rounds to 0 or 1 there
    if place >= 0:
        scale *= 10**place
    else:
        value, low, high = (v * 10**-place for v in (value, low, high))
    first, even = place, mantissa % 2 == 0
    start = 0 if fractional else place + 1
    last = None if cutoff is None else start - cutoff
    enough = math.inf if least is None else start - least
    made = []
    while True:
        digit, value = divmod(value, scale)
        below = above = False
        if unique:
            below = value <= low if even else value < low
            above = value + high >= scale if even else value + high > scale
            done = (below or above) and place <= enough
        else:
            done = value == 0
        if done or (last is not None and place <= last):
            break
        made.append(digit)
        value, low, high, place = value * 10, low * 10, high * 10, place - 1
    up = above if below != above else (2 * value, digit % 2) > (scale, 0)
    return _rounded(made, digit, up, first)


def _exponent(value, scale):
    """Exponent of the first digit of a quotient."""

    def reaches(k):
        return value >= scale * 10**k if k >= 0 else value * 10**-k >= scale

    k = math.floor((value.bit_length() - scale.bit_length() - 1) * math.log10(2))
    while reaches(k + 1):
        k += 1
    return k


def _rounded(made, digit, up, first):
    """The digits with the last one added, or rounded up, carries included."""
    made.append(digit + up)
    while made[-1] == 10:
        made.pop()
        if not made:
            return [1], first + 1
        made[-1] += 1
    return made, first


def _found(x, dtype, unique, cutoff, fractional, least):
    """As `digits`; float64 by Python's own conversions where they answer the same question."""
    if dtype != "float64" or not unique or not 0 < x < 1e15 or least or (cutoff or 0) > 40:
        return digits(x, dtype, unique, cutoff, fractional, least)
    text, _, exponent = repr(x).partition("e")
    whole, _, fraction = text.partition(".")
    found = (whole + fraction).lstrip("0")
    if exponent or whole != "0":
        first = int(exponent or 0) + len(whole) - 1
    else:
        first = len(found) - len(fraction) - 1
    found = found.rstrip("0")
    if cutoff is None or len(found) <= (cutoff + first + 1 if fractional else cutoff):
        return found, first
    if fractional:
        text = f"{x:.{cutoff}f}"
        found = text.replace(".", "").lstrip("0")
        first = len(found) - cutoff - 1
    else:
        text = f"{x:.{cutoff - 1}e}"
        found, _, exponent = text.replace(".", "").partition("e")
        first = int(exponent)
    if float(text) > x:  # zeros at the end come from nines: they are no digits
        found = found.rstrip("0")
    return (found, first) if found else ("0", -cutoff)


def _special(x, sign):
    if math.isnan(x):
        return "nan"
    return "-inf" if x < 0 else "+inf" if sign else "inf"


def _signed(x, sign):
    return "-" if math.copysign(1, x) < 0 else "+" if sign else ""


def _trimmed(fraction, trim, wanted):
    """The point and the fraction, with zeros as `trim` has it."""
    if trim == "k":
        return "." + fraction.ljust(wanted, "0")
    fraction = fraction.rstrip("0")
    if not fraction and trim in "0-":
        return ".0" if trim == "0" else ""
    return "." + fraction


def positional(
    x, dtype="float64", *, precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=None,
    pad_right=None, min_digits=None,
):  # fmt: skip
    """Text of a number without exponent; the options are those of `format_float_positional`."""
    if not math.isfinite(x):
        return _special(x, sign)
    found, first = _found(abs(x), dtype, unique, precision, fractional, min_digits)
    text = "".join(map(str, found))
    if first >= 0:
        whole, fraction = text[: first + 1].ljust(first + 1, "0"), text[first + 1 :]
    else:
        whole, fraction = "0", "0" * (-first - 1) + text
    wanted = (min_digits if unique else precision) or 0
    whole = _signed(x, sign) + whole
    if not fractional:
        wanted -= max(first, 0) + 1
    fraction = _trimmed(fraction, trim, wanted)
    if pad_right is not None:
        fraction = fraction.ljust(pad_right + 1)
    return whole.rjust(pad_left or 0) + fraction


def scientific(
    x, dtype="float64", *, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None,
    min_digits=None,
):  # fmt: skip
    """Text of a number with exponent; the options are those of `format_float_scientific`."""
    if not math.isfinite(x):
        return _special(x, sign)
    cutoff = None if precision is None else precision + 1
    least = None if min_digits is None else min_digits + 1
    found, first = _found(abs(x), dtype, unique, cutoff, False, least)
    text = "".join(map(str, found))
    fraction = _trimmed(text[1:], trim, (min_digits if unique else precision) or 0)
    if text[1:] and not fraction:
        fraction = "."  # NumPy keeps the point of zeros that it trims
    exponent = str(abs(first)).rjust(2 if exp_digits is None else min(exp_digits, 5), "0")
    whole = (_signed(x, sign) + text[0]).rjust(pad_left or 0)
    return f"{whole}{fraction}e{'-' if first < 0 else '+'}{exponent}"


def shortest(x, dtype="float64"):
    """Text of a number as its dtype's scalars print: without exponent where it is neither large nor small.

    Examples
    --------
    >>> shortest(0.10000000149011612, "float32"), shortest(1e20)
    ('0.1', '1e+20')
    """
    large = {"float16": 1e3, "float32": 1e6}.get(dtype, 1e16)
    if x == 0 or not math.isfinite(x) or 1e-4 <= abs(x) < large:
        return positional(x, dtype, trim="0")
    return scientific(x, dtype, trim="-")
