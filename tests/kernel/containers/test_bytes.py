"""bytes in compiled functions: items are Python's integers, as in CPython."""

import pytest
import unisono as un

DATA = b"\x01\x02\xff"


def checksum(data):
    crc = 0xFFFFFFFF
    for x in data:
        crc ^= x
        for _ in range(8):
            crc = (crc >> 1) ^ 0xEDB88320 if crc & 1 else crc >> 1
    return crc ^ 0xFFFFFFFF


def items(data):
    total = 0
    for x in data[1:]:
        total += x
    value = 0
    for x in reversed(data):
        value = (value * 256 + x) % 65521
    return total, value, data[0] + 255, data[-1] << 20, len(data), 97 in data


def reductions(data):
    return sum(data), max(data), min(data), sorted(data), list(data), [x * 300 for x in data]


def counts(data):
    table = [0] * 256
    for x in data:
        table[x] += 1
    return table


@pytest.mark.parametrize("f", [checksum, items, reductions, counts], ids=lambda f: f.__name__)
def test_arguments(f):
    compiled = un.jit(f)
    for data in (b"123456789", b"\xff\xff\xff\x00a"):
        assert compiled(data) == f(data)


def literals():
    h = 5381
    for x in b"hello\xff":
        h = h * 33 + x
    data = b"abc"
    return h, data[0] + 255, len(data), [x for x in data], sum(data), 98 in data, b"xy"[1]


def around():
    return sum(DATA), DATA[2] + 1, len(DATA)


@pytest.mark.parametrize("f", [literals, around], ids=lambda f: f.__name__)
def test_constants(f):
    assert un.jit(f)() == f()


def test_refused():
    long = bytes(2000)

    def given_back():
        return long

    with pytest.raises(un.CompileError, match="it is a bytes"):
        un.jit(given_back)()
