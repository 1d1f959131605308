"""bytes and bytearray that compiled functions make and change, against Python."""

import pytest
import unisono as un


def runs(data):
    out = bytearray()
    i = 0
    while i < len(data):
        j = i
        while j < len(data) and data[j] == data[i] and j - i < 255:
            j += 1
        out.append(j - i)
        out.append(data[i])
        i = j
    return bytes(out), out


def sieve(n):
    flags = bytearray([1]) * (n + 1)
    flags[0] = flags[1] = 0
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = bytes(len(range(i * i, n + 1, i)))
    return sum(flags), [i for i in range(n) if flags[i]]


def numbers(xs):
    out = bytearray()
    for x in xs:
        out += x.to_bytes(8, "little")
        out.extend((x % 256).to_bytes(2, byteorder="big"))
    total = 0
    for i in range(0, len(out), 10):
        total += int.from_bytes(out[i : i + 8], "little")
    return (
        total,
        len(out),
        int.from_bytes(b"\xff\xfe", "big", signed=True),
        (-2).to_bytes(4, "big", signed=True),
    )


def texts(s):
    data = s.encode()
    back = data.decode("utf-8")
    h = 2166136261
    for b in data:
        h = (h ^ b) * 16777619 % 2**32
    return data, back == s, h, s.encode("ascii", "replace").decode(), data.hex(), len(data)


def slices(b):
    out = bytearray(b)
    out[1:3] = b"xyz"
    out[0:0] = [1, 2]
    del out[-1:]
    del out[::2]
    out[::2] = bytes([7] * len(out[::2]))
    head = out[:2]
    head.reverse()
    return out, head, b[1:] + out[:1] + b"!", 3 * bytes(head), b"ab" * 2


def items(b):
    out = bytearray(range(5))
    out.insert(1, 200)
    out[0] += 9
    last = out.pop()
    out.remove(2)
    same = out == bytearray(b"\t\xc8\x01\x03"), b == b"abc", b[:2] != b"ab", b"" == b""
    return out, last, same, 200 in out, out.index(200), list(out), sorted(b), max(b), b[0] * 300


def joined(parts):
    out = b""
    for p in parts:
        out += p.encode()
        out = out + b", "
    return out, isinstance(out, bytes), isinstance(bytearray(3), bytes)


CASES = [
    (runs, (b"aaabbbccd" * 50,)),
    (sieve, (1000,)),
    (numbers, ([1, 255, 65536, 2**31],)),
    (texts, ("naïve — 𝄞 text",)),
    (slices, (b"hello world",)),
    (items, (b"abc",)),
    (joined, (["a", "bc", "def"],)),
]


@pytest.mark.parametrize(("f", "args"), CASES)
def test_like_python(f, args):
    wanted = f(*args)
    got = un.jit(f)(*args)
    assert got == wanted
    assert [type(x) for x in got] == [type(x) for x in wanted]


def put(b, k, x):
    b[k] = x
    b[0] += 1


def test_a_bytearray_that_is_passed_is_written():
    ours, theirs = bytearray(b"\x01\x02\x03"), bytearray(b"\x01\x02\x03")
    un.jit(put)(ours, 2, 250)
    put(theirs, 2, 250)
    assert ours == theirs


def stored(x):
    b = bytearray(2)
    b[0] = x
    return b


def appended(x):
    b = bytearray(2)
    b.append(x)
    return b


def assigned(x):
    b = bytearray(4)
    b[1:2] = [1, x]
    return b


def stepped(x):
    b = bytearray(9)
    b[::3] = bytes(x)
    return b


def made(x):
    return bytes(x)


def encoded(x):
    return ("a" + chr(x)).encode("ascii")


def decoded(x):
    return bytes([65, x]).decode()


def narrow(x):
    return x.to_bytes(1, "big")


@pytest.mark.parametrize("f", [stored, appended, assigned, stepped, made, encoded, decoded, narrow])
def test_errors_like_python(f):
    for x in (-1, 256, 300):
        try:
            wanted = f(x)
        except (ValueError, OverflowError) as error:
            with pytest.raises(
                OverflowError if type(error) is OverflowError else ValueError
            ) as ours:
                un.jit(f)(x)
            if "codec" not in str(error) and "chr" not in str(error):
                assert str(ours.value) == str(error).replace("bytes must", "byte must")
        else:
            assert un.jit(f)(x) == wanted


def test_bytes_do_not_change():
    def f(b):
        x = bytes(b)
        x[0] = 1
        return x

    with pytest.raises(un.CompileError, match="'bytes' object does not support item assignment"):
        un.jit(f)(b"abc")


def kept(b):
    rows = []
    rows.append(bytearray(b))
    return rows


def test_containers_of_bytes_are_refused():
    with pytest.raises(un.CompileError, match="not kept by lists, dicts and objects"):
        un.jit(kept)(b"abc")
