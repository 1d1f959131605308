"""str in compiled functions, against the Python functions."""

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())

TEXTS = ["", "a", "abc", "abcabc", "Zürich", "日本語", "😀!", "b\0c", "  x\t", "abd", "'\"\\\n"]


def outcome(function, args):
    try:
        value = function(*args)
    except Exception as error:
        return type(error), str(error), error.args
    return type(value), value


def constants(n):
    s = "one"
    if n > 1:
        s = "more"
    elif n < 0:
        s = "ü" * 3
    return s, len(s), s == "one", s + "!" + s


def compare(a, b):
    return (a == b, a != b, a < b, a <= b, a > b, a >= b, a in b, b not in a, bool(a), a == 3)


def parts(s, i, j, k):
    return s[i], s[-1], s[i:], s[:j], s[i:j], s[::k], s[j:i:-1], s[i:j:k]


def join(s, n):
    t = ""
    for i in range(n):
        t += s
        if i % 3 == 0:
            t = t + str(i)
        u = t + "-"
        v = t + "+"
        if len(t) > 40:
            t = t[1:] + u[:1] + v[-1]
    return t, s * n, n * s, ",".join((s, t, "x")), s.join((t,))


def each(s):
    count = 0
    last = "none"
    code = 0
    for c in s:
        if c == "b" or c > "z":
            count += 1
        last = c
        code = code * 7 + ord(c)
    for i, c in enumerate(reversed(s)):
        code += i * ord(c)
    return count, last, code, s[::-1] == s


def shown(n, x, b, s):
    f = f"<{n}|{x:.2f}|{b}|{s}|{s!r}|{s:>8}|{n:04d}|{{}}>"
    return f, str(n), str(x), str(b), str((n, x, s)), str(s), str(None), len(f)


def numbers(s):
    return int(s), float(s), int(s) + 1


def floats(s):
    return float(s)


def methods(s, t):
    return (
        s.upper(),
        s.lower(),
        s.strip(),
        s.replace("b", t),
        s.startswith(t),
        s.endswith("c"),
        s.find(t),
        s.count("a"),
        s.zfill(8),
        s.isdigit(),
        s.center(9, "*"),
        "  pad ".lstrip() + t.title(),
    )


def codes(n):
    return chr(n), ord(chr(n)) == n


def code_of(s):
    return ord(s)


@un.jit
def kind(s, n):
    if s == "double":
        return s + "d", n * 2
    if s == "half":
        return s, n // 2
    raise ValueError(f"unknown kind {s!r} for {n}")


def calls(s, n):
    try:
        name, m = kind(s, n)
    except ValueError:
        name, m = "none", -1
        if n > 5:
            raise
    return name + ":" + str(m)


def raises(s, n):
    if n == 0:
        raise ValueError(s)
    if n == 1:
        raise KeyError(s)
    if n == 2:
        raise TypeError(s + "!" + str(n))
    return s


def chosen(s, n):
    t = s if n > 0 else "other"
    u = "x" if n > 1 else "y"
    return t + u, (t, n)


def while_text(s):
    while len(s) > 2 and s[0] != "c":
        s = s[1:]
    return s


CASES = [
    (constants, [(n,) for n in (-1, 1, 2)]),
    (compare, [(a, b) for a in TEXTS for b in TEXTS]),
    (
        parts,
        [
            (s, i, j, k)
            for s in TEXTS
            for i in (0, 1, -2, 9)
            for j in (-1, 2, 50)
            for k in (2, -1, 0)
        ],
    ),
    (join, [(s, n) for s in TEXTS for n in (-1, 0, 1, 30)]),
    (each, [(s,) for s in TEXTS]),
    (shown, [(n, x, n > 0, s) for n in (0, -12345) for x in (0.1, 1e22) for s in TEXTS]),
    (numbers, [(s,) for s in ("12", " -7 ", "x1", "", "1_000", "٣", "1.5")]),
    (floats, [(s,) for s in ("12", "1e-3", "inf", "nanx", "", " .5 ")]),
    (methods, [(s, t) for s in TEXTS for t in ("a", "ab", "ß")]),
    (codes, [(n,) for n in (65, 0x20AC, 0x1F600, 0x10FFFF, 0xD800, 0x110000, -1)]),
    (code_of, [(s,) for s in TEXTS]),
    (calls, [(s, n) for s in ("double", "half", "no 'such'") for n in (3, 8)]),
    (raises, [(s, n) for s in TEXTS for n in range(4)]),
    (chosen, [(s, n) for s in TEXTS for n in (0, 1, 2)]),
    (while_text, [(s,) for s in TEXTS]),
]


@pytest.mark.parametrize("function, inputs", CASES, ids=[f.__name__ for f, _ in CASES])
def test_as_python(on, function, inputs):
    f = un.jit(function, device=on)
    for args in inputs:
        got, want = outcome(f, args), outcome(function, args)
        assert repr(got) == repr(want), args


def test_print_of_texts(on, capsys):
    def show(s, n):
        t = s + str(n)
        print(s, t, sep=t, end="|\n")
        print((s, t), f"{t!r}{t:>20}")

    f = un.jit(show, device=on)
    for s in TEXTS:
        show(s, 5)
        want = capsys.readouterr().out
        f(s, 5)
        assert capsys.readouterr().out == want


def test_a_text_that_chooses_in_prange(on):
    @un.jit(device=on)
    def f(a, how):
        s = 0.0
        for i in un.prange(a.shape[0]):
            if how == "sum":
                s += a[i]
            elif how[0] == "s":
                s += a[i] * a[i]
        return s

    a = np.arange(1000.0)
    assert f(a, "sum") == a.sum()
    assert f(a, "squares") == (a * a).sum()
    assert f(a, "other") == 0


def test_many_texts(on):
    @un.jit(device=on)
    def f(n):
        t = ""
        for _ in range(n):
            t += "xy"
        return t

    assert f(20000) == "xy" * 20000


def checked(x, is_low):
    if x < 0:
        raise ValueError("low" if is_low else "high")
    return x


def told(xs, names):
    found = [0, 0]
    for x in xs:
        kind = "small" if x < 2 else "large"
        for k in range(2):
            if names[k] == kind:
                found[k] += 1
    return found, "small" if found[0] > found[1] else "large"


def test_constants_are_made_where_they_are_used(on):
    f = un.jit(checked, device=on)
    for args in ((1.5, True), (-1.0, True), (-1.0, False)):
        assert outcome(f, args) == outcome(checked, args)
    text = f.inspect_ir()
    assert text.index("if x < 0.0") < text.index(
        "text_constant"
    )  # a call that raises nothing makes none
    g = un.jit(told, device=on)
    for xs in ([], [1, 2, 3], [1, 1, 5]):
        assert g(xs, ("small", "large")) == told(xs, ("small", "large"))
