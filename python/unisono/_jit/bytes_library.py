"""Bytes that compiled code makes of texts and numbers, and the other way round, written in Python themselves."""

from __future__ import annotations

from . import jit


@jit
def of_latin(text):
    made = bytearray()
    for c in text:
        made.append(ord(c))
    return bytes(made)


@jit
def width_of(encoding):
    """Whether points may take several bytes, and the largest that takes one."""
    if encoding == "utf-8" or encoding == "utf8" or encoding == "UTF-8":
        return True, 127
    if encoding == "latin-1" or encoding == "latin1" or encoding == "iso-8859-1":
        return False, 255
    if encoding != "ascii":
        raise LookupError(f"unknown encoding: {encoding}")
    return False, 127


@jit
def encode(text, encoding="utf-8", errors="strict"):
    made = bytearray()
    is_wide, most = width_of(encoding)
    place = 0
    for c in text:
        point = ord(c)
        if point <= most:
            made.append(point)
        elif not is_wide:
            if errors == "strict":
                raise ValueError(
                    f"'{encoding}' codec can't encode character in position {place}: "
                    f"ordinal not in range({most + 1})"
                )
            elif errors == "replace":
                made.append(63)
        elif 0xD800 <= point < 0xE000:
            raise ValueError(
                f"'utf-8' codec can't encode character in position {place}: surrogates not allowed"
            )
        elif point < 0x800:
            made.append(0xC0 | point >> 6)
            made.append(0x80 | point & 0x3F)
        elif point < 0x10000:
            made.append(0xE0 | point >> 12)
            made.append(0x80 | point >> 6 & 0x3F)
            made.append(0x80 | point & 0x3F)
        else:
            made.append(0xF0 | point >> 18)
            made.append(0x80 | point >> 12 & 0x3F)
            made.append(0x80 | point >> 6 & 0x3F)
            made.append(0x80 | point & 0x3F)
        place += 1
    return bytes(made)


@jit
def decode(data, encoding="utf-8", errors="strict"):
    is_wide, most = width_of(encoding)
    parts = [""]
    k = 0
    n = len(data)
    while k < n:
        byte = data[k]
        k += 1
        if byte <= most:
            parts.append(chr(byte))
            continue
        more = 0
        point = 0
        least = 0
        if is_wide:
            if 0xC2 <= byte < 0xE0:
                more, point, least = 1, byte & 0x1F, 0x80
            elif 0xE0 <= byte < 0xF0:
                more, point, least = 2, byte & 0x0F, 0x800
            elif 0xF0 <= byte < 0xF5:
                more, point, least = 3, byte & 0x07, 0x10000
        fits = more > 0 and k + more <= n
        if fits:
            for j in range(more):
                fits = fits and data[k + j] & 0xC0 == 0x80
                point = point << 6 | data[k + j] & 0x3F
            fits = fits and least <= point <= 0x10FFFF and not 0xD800 <= point < 0xE000
        if fits:
            parts.append(chr(point))
            k += more
        elif errors == "strict":
            raise ValueError(
                f"'{encoding}' codec can't decode byte {hex(byte)} in position {k - 1}"
            )
        elif errors == "replace":
            parts.append("\ufffd")
    return "".join(parts)


@jit
def to_hex(data):
    digits = "0123456789abcdef"
    parts = [""]
    for byte in data:
        parts.append(digits[byte >> 4])
        parts.append(digits[byte & 15])
    return "".join(parts)


@jit
def to_bytes(n, length=1, byteorder="big", *, signed=False):
    if length < 0:
        raise ValueError("length argument must be non-negative")
    if byteorder != "big" and byteorder != "little":
        raise ValueError("byteorder must be either 'little' or 'big'")
    if n < 0 and not signed:
        raise OverflowError("can't convert negative int to unsigned")
    if length < 8:
        bits = 8 * length - (1 if signed and length > 0 else 0)
        if n >= 1 << bits or n < -(1 << bits):
            raise OverflowError("int too big to convert")
    made = bytearray(length)
    rest = n
    for k in range(length):
        made[k if byteorder == "little" else length - 1 - k] = rest & 255
        rest >>= 8
    return bytes(made)


@jit
def from_bytes(data, byteorder="big", *, signed=False):
    if byteorder != "big" and byteorder != "little":
        raise ValueError("byteorder must be either 'little' or 'big'")
    n = len(data)
    made = 0
    for k in range(n):
        byte = data[k if byteorder == "big" else n - 1 - k]
        if (made < 0 or made >= 1 << 55) and not (signed and n <= 8):
            raise OverflowError("integers are 64 bits wide in compiled functions")
        made = made << 8 | byte
    if signed and n > 0:
        last = data[0 if byteorder == "big" else n - 1]
        if last >= 128 and n < 8:
            made -= 1 << (8 * n)
    return made


@jit
def bounds_of(data, start, stop):
    n = len(data)
    begin = start if start >= 0 else max(start + n, 0)
    end = min(stop, n) if stop >= 0 else stop + n
    return begin, end


@jit
def stands_at(data, place, part):
    for j in range(len(part)):
        if data[place + j] != part[j]:
            return False
    return True


@jit
def part_of(given):
    """What is looked for: bytes, or one by its number."""
    if isinstance(given, int):
        if given < 0 or given > 255:
            raise ValueError("byte must be in range(0, 256)")
        made = bytearray(1)
        made[0] = given
        return bytes(made)
    else:
        return given


@jit
def find(data, sub, start=0, stop=2**63 - 1):
    part = part_of(sub)
    begin, end = bounds_of(data, start, stop)
    for k in range(begin, end - len(part) + 1):
        if stands_at(data, k, part):
            return k
    return -1


@jit
def rfind(data, sub, start=0, stop=2**63 - 1):
    part = part_of(sub)
    begin, end = bounds_of(data, start, stop)
    for k in range(end - len(part), begin - 1, -1):
        if stands_at(data, k, part):
            return k
    return -1


@jit
def count(data, sub, start=0, stop=2**63 - 1):
    part = part_of(sub)
    begin, end = bounds_of(data, start, stop)
    if len(part) == 0:
        return max(end - begin + 1, 0)
    found = 0
    k = begin
    while k + len(part) <= end:
        if stands_at(data, k, part):
            found += 1
            k += len(part)
        else:
            k += 1
    return found


@jit
def startswith(data, prefix, start=0, stop=2**63 - 1):
    begin, end = bounds_of(data, start, stop)
    return begin + len(prefix) <= end and stands_at(data, begin, prefix)


@jit
def endswith(data, suffix, start=0, stop=2**63 - 1):
    begin, end = bounds_of(data, start, stop)
    return begin + len(suffix) <= end and stands_at(data, end - len(suffix), suffix)


@jit
def replace(data, old, new, count=-1):
    made = bytearray()
    k = 0
    left = count if count >= 0 else len(data) + 1
    while k + len(old) <= len(data):
        if left > 0 and stands_at(data, k, old):
            for x in new:
                made.append(x)
            left -= 1
            k += len(old)
            if len(old) > 0:
                continue
        if k < len(data):
            made.append(data[k])
        k += 1
    while k < len(data):
        made.append(data[k])
        k += 1
    return bytes(made)


@jit
def upper(data):
    made = bytearray(len(data))
    for k in range(len(data)):
        made[k] = data[k] - 32 if 97 <= data[k] <= 122 else data[k]
    return bytes(made)


@jit
def lower(data):
    made = bytearray(len(data))
    for k in range(len(data)):
        made[k] = data[k] + 32 if 65 <= data[k] <= 90 else data[k]
    return bytes(made)


@jit
def is_stripped(byte, chars):
    if chars is None:
        return byte == 32 or 9 <= byte <= 13
    else:
        return byte in chars


@jit
def lstrip(data, chars=None):
    begin = 0
    while begin < len(data) and is_stripped(data[begin], chars):
        begin += 1
    return bytes(data[begin:])


@jit
def rstrip(data, chars=None):
    end = len(data)
    while end > 0 and is_stripped(data[end - 1], chars):
        end -= 1
    return bytes(data[:end])


@jit
def strip(data, chars=None):
    return rstrip(lstrip(data, chars), chars)


@jit
def split(data, sep=None, maxsplit=-1):
    parts = []
    most = maxsplit if maxsplit >= 0 else len(data)
    begin = 0
    if sep is None:
        while begin < len(data):
            while begin < len(data) and is_stripped(data[begin], None):
                begin += 1
            end = begin
            while end < len(data) and not is_stripped(data[end], None):
                end += 1
            if len(parts) == most and begin < len(data):
                parts.append(bytes(data[begin:]))
                break
            if end > begin:
                parts.append(bytes(data[begin:end]))
            begin = end
    else:
        if len(sep) == 0:
            raise ValueError("empty separator")
        place = begin
        while len(parts) < most and place + len(sep) <= len(data):
            if stands_at(data, place, sep):
                parts.append(bytes(data[begin:place]))
                place += len(sep)
                begin = place
            else:
                place += 1
        parts.append(bytes(data[begin:]))
    return parts


@jit
def join(separator, parts):
    made = bytearray()
    for k in range(len(parts)):
        if k > 0:
            made += separator
        made += parts[k]
    return bytes(made)


# Those of the same name in method_library.py ask for bytes themselves.
searches = (
    endswith, find, join, lower, lstrip, replace, rfind, rstrip, split, startswith, strip, upper,
)  # fmt: skip
