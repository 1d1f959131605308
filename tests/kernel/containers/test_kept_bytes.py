"""Bytes that lists, dicts, tuples and results keep, their parts, and complex numbers as keys, against CPython."""

import pytest
import unisono as un


def unpacked(data):
    a, b = data[1:], data[:2]
    return a, b, data[::2], a[0], (data, len(b))


def listed(data):
    xs = [data[1:], data[2:]]
    xs.append(b"new" + data)
    return xs, xs[0], len(xs), xs[0] == data[1:], isinstance(xs[1], bytes)


def cut(data):
    parts = []
    start = 0
    for i in range(len(data)):
        if data[i] == 44:
            parts.append(data[start:i])
            start = i + 1
    parts.append(data[start:])
    return parts


def split(data):
    return (
        data.split(b","),
        data.split(),
        data.split(b",", 1),
        data.split(maxsplit=1),
        data.split(b"zz"),
        b"".split(),
        b" a  b ".split(),
        b",a,".split(b","),
        b"a b c ".split(None, 1),
    )


def partitioned(data):
    head, separator, rest = data.partition(b",")
    return (
        head,
        separator,
        rest,
        data.rpartition(b","),
        data.partition(b"no"),
        data.rpartition(b"no"),
    )


def joined(data):
    d = {1: data}
    d[2] = data[1:]
    return d, b", ".join([data, b"x"]), b"".join(data.split(b","))


def given(xs):
    return xs[0], len(xs[1]), xs[-1][0], b"-".join(xs)


def complex_keys(z):
    d = {1j: 2, 2 + 3j: 4}
    d[1 + z] = 7
    total = 0.0
    for k, v in d.items():
        total += k.real * v
    s = {1j, 2j, z}
    s.add(3 + 0j)
    return d, d[1j], d[1 + z], 1 + z in d, 5j in d, total, len(s), 2j in s, d.get(9j, -1)


def of_bytearray(data):
    part = data[1:]
    return part, (data[::2], 1), data


CALLS = [
    (of_bytearray, bytearray(b"abcd")),
    (unpacked, b"ab,cdef g,h"),
    (listed, b"ab,cdef g,h"),
    (cut, b"ab,cdef g,h"),
    (split, b"ab,cdef g,h"),
    (split, b""),
    (partitioned, b"ab,cdef g,h"),
    (joined, b"ab,cdef g,h"),
    (given, [b"ab", b"c", b"def"]),
    (complex_keys, 1j),
]


@pytest.mark.parametrize(
    ("function", "arg"), CALLS, ids=[f"{f.__name__}{i}" for i, (f, _) in enumerate(CALLS)]
)
def test_as_in_python(function, arg):
    assert repr(un.jit(nopython=True)(function)(arg)) == repr(function(arg))
