"""Random small functions, compiled and run, against CPython: values, arrays and exceptions.

``UNISONO_FUZZ_SEEDS=first:count`` runs other seeds than the default.
"""

import importlib.util
import os
import random
import re
import warnings

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

FIRST, COUNT = map(int, os.environ.get("UNISONO_FUZZ_SEEDS", "0:25").split(":"))


class Writer:
    """Writes a function whose variables each keep one kind.

    Kinds: i Python int (kept small), f Python float, g NumPy float64, h NumPy float32, b bool.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.loops = 0
        self.fresh = 0
        self.loops_around = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def index(self, depth):
        if self.random.random() < 0.03:
            return self.integer(depth - 1)  # may be out of range
        return f"({self.integer(depth - 1)}) % {self.pick(5, 5, 5, 3)}"

    def integer(self, depth):
        if depth <= 0:
            return self.pick("i0", "i1", "n", str(self.random.randint(-5, 9)), "len(a)")
        x, y = self.integer(depth - 1), self.integer(depth - 1)
        return self.pick(
            f"({x} + {y})",
            f"({x} - {y})",
            f"({x}) * ({y}) % 1009",
            f"({x}) // ({self.pick(y, '3', '-4')})",
            f"({x}) % ({self.pick(y, '7', '-3')})",
            f"abs({x})",
            f"min({x}, {y})",
            f"max({x}, {y}, 2)",
            f"(({x}) & ({y}))",
            f"(({x}) ^ ({y}) | 1)",
            f"(~({x}))",
            f"(({x}) >> {self.random.randint(0, 5)})",
            f"({x} if {self.boolean(depth - 1)} else {y})",
            f"int({self.pick(f'k[{self.index(depth)}]', 'min(max(f0, -1e6), 1e6)')}) % 1000",
            f"g({x}, {y})",
            f"g({x})",
            f"(lambda p, q=3: p * 2 - q + i1)({x})",
            f"xs[({x}) % {self.pick('len(xs)', 'len(xs)', '3')}]",
            f"(n, {y}, 5)[({x}) % 3]",
            f"sum([v for v in xs if v > {y}]) % 1013",
            f"len(xs[{self.pick(x, '1')}:])",
            f"len({self.text(depth - 1)})",
            f"ord(({self.text(depth - 1)} + 'q')[{self.pick('0', '-1', y)}]) % 97",
        )

    def text(self, depth):
        if depth <= 0:
            return self.pick("t0", "t1", "'ab'", "'\u00fc1'", "''")
        x, y = self.text(depth - 1), self.text(depth - 1)
        i, j = self.integer(0), self.integer(0)
        return self.pick(
            f"({x} + {y})",
            f"{x}[{i}:{self.pick(j, '')}]",
            f"{x}[::{self.pick('-1', '2', '-3')}]",
            f"({x} * 2)",
            f"str({self.integer(depth - 1)})",
            f"str({self.floating(0)})",
            "f'{i0:3d}:{f0:.2f}:{t1}:{b0!r}'",
            f"{x}.replace('1', {y})",
            f"{x}.upper()",
            f"({x} if {self.boolean(depth - 1)} else {y})",
        )

    def floating(self, depth, kind="f"):
        element = {"f": "float(a[%s])", "g": "a[%s]", "h": "c[%s]"}[kind]
        if depth <= 0:
            plain = f"{kind}0", f"{kind}1"
            return self.pick(*plain, *plain, element % self.index(0))
        x, y = self.floating(depth - 1, kind), self.floating(depth - 1, kind)
        other = self.pick(y, y, "0.5", "3", self.integer(depth - 1))
        return self.pick(
            f"({x} + {other})",
            f"({x} - {other})",
            f"({x} * {other})",
            f"({x} / {other})",
            f"({x} // {self.pick(y, '2')})",
            f"({x} % {self.pick(y, '2.5')})",
            f"(-{x})",
            f"abs({x})",
            f"min({x}, {y})",
            f"max({x}, {y})",
            f"({x}) ** 2",
            f"({x} if {self.boolean(depth - 1)} else {y})",
            element % self.index(depth),
        )

    def number(self, depth):
        return self.pick(self.integer, self.floating)(depth)

    def boolean(self, depth):
        if depth <= 0:
            return self.pick(
                "b0", "i0 > n", "f0 < f1", "k[2] == i1", "True", "t0 < t1", "'1' in t0"
            )
        x, y = self.boolean(depth - 1), self.boolean(depth - 1)
        compare = self.pick("<", "<=", ">", ">=", "==", "!=")
        return self.pick(
            f"({self.number(depth - 1)} {compare} {self.number(depth - 1)})",
            f"({self.integer(depth - 1)} < {self.number(depth - 1)} <= {self.integer(depth - 1)})",
            f"bool({x} and {y})",
            f"bool({x} or {y})",
            f"(not {x})",
            f"({self.integer(depth - 1)} in xs)",
            f"({self.text(depth - 1)} {compare} {self.text(depth - 1)})",
            f"((n, {self.integer(0)}) {compare} ({self.integer(0)}, 2))",
        )

    def statement(self, indent, depth):
        put = lambda text: self.lines.append("    " * indent + text)  # noqa: E731
        kind = self.pick(*"ififgghbAKCTLLIIFWEESS" if depth > 0 else "ififggbhAKCTLLS")
        deep = 2
        if kind == "i":
            put(f"{self.pick('i0', 'i1')} = ({self.integer(deep)}) % 2003")
        elif kind in "fgh":
            name = self.pick(f"{kind}0", f"{kind}1")
            if self.random.random() < 0.3:
                put(f"{name} {self.pick('+=', '-=', '*=')} {self.floating(deep - 1, kind)}")
            else:
                put(f"{name} = {self.floating(deep, kind)}")
        elif kind == "b":
            put(f"b0 = {self.boolean(deep)}")
        elif kind == "A":
            put(
                f"a[{self.index(1)}] {self.pick('=', '+=')} {self.floating(deep, self.pick(*'fg'))}"
            )
        elif kind == "K":
            put(f"k[{self.index(1)}] = ({self.integer(deep)}) % 3001")
        elif kind == "C":
            put(f"c[{self.index(1)}] = {self.floating(1, 'h')}")
        elif kind == "S":
            put(f"{self.pick('t0', 't1')} = ({self.text(2)})[-12:]")
        elif kind == "T":
            put("i0, i1 = i1, i0")
        elif kind == "L":
            item = f"({self.integer(1)}) % 997"
            changes = (
                f"xs.append({item})",
                f"xs[-1] = {item}",
                "xs.reverse()",
                f"xs = [{item}, n]",
            )
            if self.loops_around == 0:
                changes += (f"xs += [{item}]", f"xs.insert(1, {item})", "xs = sorted(xs)")
            put(self.pick(*changes))
            put("xs = xs[-9:]")
        elif kind == "I":
            put(f"if {self.boolean(2)}:")
            self.block(indent + 1, depth - 1)
            if self.random.random() < 0.6:
                put("else:")
                self.block(indent + 1, depth - 1)
        elif kind == "E":
            self.protected(indent, depth)
        elif kind == "F":
            self.fresh += 1
            bounds = self.pick("n % 6", "1, 5", "4, -2, -2", "i0 % 4", "i1 % 3, 7, 2")
            put(f"for j{self.fresh} in range({bounds}):")
            put(f"    i1 = (i1 + j{self.fresh}) % 2003")
            self.block(indent + 1, depth - 1, in_loop=True)
        else:
            self.fresh += 1
            put(f"w{self.fresh} = 0")
            put(f"while w{self.fresh} < {self.random.randint(1, 4)} and {self.boolean(1)}:")
            put(f"    w{self.fresh} += 1")
            self.block(indent + 1, depth - 1, in_loop=True)

    def protected(self, indent, depth):
        put = lambda text: self.lines.append("    " * indent + text)  # noqa: E731
        form = self.random.random()
        put("try:")
        self.block(indent + 1, depth - 1)
        if self.loops_around and self.random.random() < 0.3:
            put(f"    if {self.boolean(1)}:")
            put(f"        {self.pick('break', 'continue')}")
        if self.random.random() < 0.2:
            put(f"    if {self.boolean(1)}:")
            put('        raise ValueError("raised")')
        if form < 0.8:
            several = "(IndexError, ZeroDivisionError)"
            names = ("ZeroDivisionError", several, "ArithmeticError", "Exception", "LookupError")
            put(f"except {self.pick(*names)}:")
            self.block(indent + 1, depth - 1)
            if self.random.random() < 0.2:
                put(f"    if {self.boolean(1)}:")
                put("        raise")
            if self.random.random() < 0.3:
                put("else:")
                self.block(indent + 1, depth - 1)
        if form > 0.6:
            put("finally:")
            self.block(indent + 1, depth - 1)

    def block(self, indent, depth, in_loop=False):
        self.loops_around += in_loop
        self.statements_of(indent, depth, in_loop)
        self.loops_around -= in_loop

    def statements_of(self, indent, depth, in_loop):
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, depth)
        if in_loop and self.random.random() < 0.4:
            self.lines.append("    " * indent + f"if {self.boolean(1)}:")
            self.lines.append("    " * (indent + 1) + self.pick("break", "continue"))

    def function(self):
        self.lines = [
            "def f(a, k, c, n, x):",
            "    i0, i1, f0, f1, b0 = n, 3, x, 1.5, n > 2",
            "    g0, g1, h0, h1 = a[0], a[1], c[0], c[1]",
            "    xs = [n, 1, 2]",
            "    t0, t1 = str(n), 'b1'",
            "    def g(p, q=2):",
            "        if p > q:",
            "            return (p * q + i0) % 1013",
            "        return p - q",
        ]
        for _ in range(self.random.randint(3, 7)):
            self.statement(1, 3)
        self.lines.append("    s = 0")
        self.lines.append("    for x in xs:")
        self.lines.append("        s = s * 3 + x")
        self.lines.append(
            "    return i0, i1, f0, f1, b0, g0, g1, h0, h1, s, len(xs), t0 + '|' + t1"
        )
        return "\n".join(self.lines) + "\n"


def outcome(function, n, x):
    """Return (results or exception class, arrays)."""
    a = np.array([0.5, -2.0, 3.25, 1e3, -0.0])
    k = np.array([1, -2, 7, 40, 0])
    c = np.array([1.5, -0.25, 1e-3, 7, 2], np.float32)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = function(a, k, c, n, x)
    except (ZeroDivisionError, IndexError, OverflowError, ValueError) as error:
        return type(error), None
    *result, text = result
    values = [text, *(float(v) if v == v else "nan" for v in result)]
    signs = [bool(np.signbit(v)) for v in result if v == v]
    arrays = [np.where(np.isnan(v), 0, v).tobytes() for v in (a, k, c)]
    return (values, signs), arrays


@pytest.mark.parametrize("on", host_devices())
@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_function(seed, on, tmp_path):
    path = tmp_path / f"random_{seed}.py"
    path.write_text(Writer(seed).function())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled = un.jit(module.f, device=on)
    for n, x in [(0, 0.0), (1, -2.5), (4, 3.0), (7, 1e6)]:
        want = outcome(module.f, n, x)
        assert outcome(compiled, n, x) == want, f"n={n}, x={x}\n{path.read_text()}"


NAMES = "i0 i1 f0 f1 g0 g1 h0 b0 a k c n x j1 len min int True a.shape (i0,f0) un.prange".split()


def spoil(text, seed):
    """Exchange some names: types clash, names are unassigned, functions are misused."""
    chance = random.Random(seed)
    words = re.split(r"(\b[a-z]\w*\b)", text)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(1, len(words), 2)
        # Counters of while loops stay: a program must end.
        if not re.fullmatch(
            r"def|f|for|in|if|else|while|return|and|or|not|try|except|finally|raise|w\d+", words[at]
        ):
            words[at] = chance.choice(NAMES)
    return "".join(words).replace("range(", chance.choice(["range(", "un.prange("]))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + 4 * COUNT))
def test_wrong_functions_are_refused_or_run(seed, tmp_path):
    """No internal error escapes, whatever the program."""
    source = "import unisono as un\n\n\n" + spoil(Writer(seed).function(), seed)
    path = tmp_path / f"spoilt_{seed}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spec.loader.exec_module(module)
    except SyntaxError:
        return
    compiled = un.jit(module.f, device="interp")
    a, k = np.ones(5), np.arange(5)
    try:
        compiled(a, k, a.astype(np.float32), 3, 2.5)
    except un.CompileError as error:
        assert "what to do:" in str(error), source
    except (ZeroDivisionError, IndexError, OverflowError, ValueError):
        pass
