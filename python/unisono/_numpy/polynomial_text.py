"""Polynomials as text: a line of exponents above the terms."""

WIDTH = 70  # columns after which the terms go on in another pair of lines


def _number(c):
    """A coefficient, and whether it is zero."""
    if isinstance(c, complex) and c.imag != 0:
        text = f"{c.imag:.4g}j" if c.real == 0 else f"({c.real:.4g} + {c.imag:.4g}j)"
        return text, False
    text = f"{c.real:.4g}"
    return text, text == "0"


def terms(coefficients, variable):
    """Terms as (sign, text below, exponent above), the highest power first."""
    coefficients = list(coefficients)
    while coefficients and coefficients[0] == 0:
        coefficients.pop(0)
    made = []
    for k, c in enumerate(coefficients):
        power = len(coefficients) - 1 - k
        text, zero = _number(c)
        if zero:
            continue
        sign = "+"
        if made and text.startswith("-"):
            sign, text = "-", text[1:]
        if power:
            text += f" {variable}"
        made.append((sign, text, str(power) if power > 1 else ""))
    return made


def text_of(coefficients, variable):
    """What str() of a poly1d shows, as NumPy's."""
    above, below, lines, tail = "", "", " ", ""
    for k, (sign, text, power) in enumerate(terms(coefficients, variable)):
        tail += f" {sign} {text}" if k else text
        if not power:
            continue
        pad_above, pad_below = " " * (len(tail) - 1) + power, tail + " " * (len(power) - 1)
        if len(below) + len(pad_below) > WIDTH or len(above) + len(pad_above) > WIDTH:
            lines += above + "\n" + below + "\n "
            above, below = pad_above, pad_below
        else:
            above += pad_above
            below += pad_below
        tail = ""
    return lines + above + "\n" + below + (tail or ("" if below else "0"))
