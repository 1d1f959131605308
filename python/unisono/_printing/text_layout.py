"""How the numbers of an array share columns, and how its rows become lines.

`formatter` finds one layout for all numbers that show; `Rows` writes them, wraps lines, and puts dots where `corners` cut.
"""

import math

from . import digits as _digits


class Floats:
    """Layout that all numbers of an array share: with exponents or without, the same columns."""

    def __init__(self, values, dtype, options, sign=None):
        self.dtype, self.options, self.sign = dtype, options, sign or options["sign"]
        self.plus = self.sign == "+"
        mode = options["floatmode"]
        precision = None if mode == "unique" else options["precision"]
        if precision is not None and precision < 0:
            raise ValueError("precision must be >= 0")
        finite = [v for v in values if math.isfinite(v)]
        self.exponents = self._needs_exponents([abs(v) for v in finite if v])
        self.left = self.right = 0
        self.format = None
        self.texts = {}  # what measuring wrote, where it is what shows: whole part and fraction by number
        if finite:
            first = {"precision": precision, "unique": mode != "fixed", "sign": self.plus}
            first["trim"] = "." if mode != "fixed" else "k"
            (self._scientific if self.exponents else self._positional)(finite, first, mode)
        if self.sign == " " and not any(math.copysign(1, v) < 0 for v in finite):
            self.left += 1
        if len(finite) != len(values):
            signed = self.sign != "-" or any(v == -math.inf for v in values)
            taken = self.right + 1
            self.left = max(
                self.left, len(options["nanstr"]) - taken, len(options["infstr"]) + signed - taken
            )

    def _needs_exponents(self, sizes):
        if not sizes:
            return False
        large = 10.0 ** min(8, {"float16": 3, "float32": 6}.get(self.dtype, 15))
        if max(sizes) >= large:
            return True
        ratio = self._rounded(max(sizes) / min(sizes))
        small = min(sizes) < self._rounded(0.0001) or ratio > 1000
        return small and not self.options["suppress"]

    def _rounded(self, x):
        """In the format of the array's numbers."""
        import struct

        letter = {"float16": "e", "float32": "f"}.get(self.dtype)
        try:
            return struct.unpack(letter, struct.pack(letter, x))[0] if letter else x
        except OverflowError:
            return math.inf

    def _scientific(self, finite, first, mode):
        parts = [_digits.scientific(v, self.dtype, **first).partition("e") for v in finite]
        wholes, _, fractions = zip(*(p[0].partition(".") for p in parts), strict=True)
        exponent = max(len(p[2]) for p in parts) - 1
        precision = max(map(len, fractions))
        self.left, self.right = max(map(len, wholes)), exponent + 2 + precision
        self.format = {
            **first,
            "trim": "k",
            "precision": precision,
            "min_digits": precision,
            "exp_digits": exponent,
        }

    def _positional(self, finite, first, mode):
        texts = {}
        for v in finite:
            key = v or math.copysign(math.inf, v)
            if key not in texts:
                texts[key] = _digits.positional(v, self.dtype, **first).partition(".")
        self.left = max(len(t[0]) for t in texts.values())
        self.right = max(len(t[2]) for t in texts.values())
        self.format = {**first, "trim": ".", "min_digits": 0, "pad_right": self.right}
        if mode in ("fixed", "maxprec_equal"):
            self.format.update(precision=self.right, min_digits=self.right, trim="k")
        else:
            self.texts = texts

    def __call__(self, x):
        if math.isfinite(x):
            if text := self.texts.get(x or math.copysign(math.inf, x)):
                return text[0].rjust(self.left) + "." + text[2].ljust(self.right)
            write = _digits.scientific if self.exponents else _digits.positional
            return write(x, self.dtype, pad_left=self.left, **self.format)
        if x != x:
            text = "+" * self.plus + self.options["nanstr"]
        else:
            text = ("-" if x < 0 else "+" * self.plus) + self.options["infstr"]
        return text.rjust(self.left + self.right + 1)


def _complex_formatter(values, dtype, options):
    part = {"complex64": "float32"}.get(dtype, "float64")
    real = Floats([v.real for v in values], part, options)
    imag = Floats([v.imag for v in values], part, options, sign="+")

    def write(x):
        text = imag(x.imag)
        digits = text.rstrip()
        return real(x.real) + digits + "j" + text[len(digits) :]

    return write


def _integer_formatter(values, options):
    sign = options["sign"]
    if sign == " " and min(values) < 0:
        sign = "-"
    width = max(len(str(max(values))) + (max(values) >= 0 and sign in "+ "), len(str(min(values))))
    return f"{{:{sign}{width}d}}".format


_keys = {
    "b": ("bool",),
    "i": ("int", "int_kind"),
    "f": ("float", "float_kind"),
    "c": ("complexfloat", "complex_kind"),
}


def formatter(values, x, options):
    """From a value to its text; and whether values are to be of our type, as a user's function expects."""
    kind = x.dtype.kind.replace("u", "i")
    own = options["formatter"] or {}
    for key in (*_keys[kind], "all"):
        if own.get(key) is not None:
            return own[key], True
    if kind == "b":
        width = 5 if x.ndim else 0
        return (lambda v: str(v).rjust(width)), False
    if kind == "i":
        return _integer_formatter(values, options), False
    if kind == "c":
        return _complex_formatter(values, x.dtype.name, options), False
    return Floats(values, x.dtype.name, options), False


class Rows:
    """Writes nested lists of values: a line per row, wrapped, long axes with dots in the middle."""

    def __init__(self, shape, write, options, separator, shortened):
        self.shape, self.write, self.separator = shape, write, separator
        self.edge, self.shortened = options["edgeitems"], shortened

    def text(self, rows, indent, width, axis=0):
        """Lines of a sub-array; all lines but the first are indented by `indent`."""
        if axis == len(self.shape):
            return self.write(rows)
        last = axis + 1 == len(self.shape)
        n = self.shape[axis]
        short = self.shortened and 2 * self.edge < n
        before, after = (self.edge, self.edge) if short else (0, n)
        items = [rows[i] for i in range(before)]
        items += ["..."] if short else []
        items += [rows[-i] for i in range(after, 1, -1)] + [rows[-1]]
        below = [
            item
            if isinstance(item, str)
            else self.write(item)
            if last
            else self.text(item, indent + " ", width - 1, axis + 1)
            for item in items
        ]
        if last:
            made = self._line(below, indent, width)
        else:
            gap = self.separator.rstrip() + "\n" * (len(self.shape) - axis - 1)
            made = gap.join(indent + text for text in below)
        return "[" + made[len(indent) :] + "]"

    def _line(self, words, indent, width):
        room = width - max(len(self.separator.rstrip()), 1)
        whole = indent + self.separator.join(words)
        if len(whole) <= room and len(whole.splitlines()) <= 1:
            return whole
        done, line = "", indent
        for k, word in enumerate(words):
            lines = word.splitlines() or [""]
            widest = max(map(len, lines))
            hang = " " * len(line)
            if len(line) + widest > room and len(line) > len(indent):
                done += line.rstrip() + "\n"
                line = hang = indent
            for more in lines[:-1]:
                done += (line + more).rstrip() + "\n"
                line = hang
            line += lines[-1] if len(lines) == 1 else lines[-1].ljust(widest)
            if k + 1 < len(words):
                line += self.separator
        return done + line


def corners(x, edge):
    """What shows of a long array: the ends of its axes."""
    from .._arrays.joining import concatenate

    for axis, n in enumerate(x.shape):
        if edge and n > 2 * edge:
            before = (slice(None),) * axis
            ends = (x[(*before, slice(edge))], x[(*before, slice(n - edge, n))])
            x = concatenate(ends, axis=axis)
    return x


def flat(rows, depth):
    """The values in nested lists."""
    if depth == 0:
        return [rows]
    for _ in range(depth - 1):
        rows = [v for row in rows for v in row]
    return rows
