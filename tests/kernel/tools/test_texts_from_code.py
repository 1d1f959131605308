"""Functions whose text is lost are read back from their bytecode: the text compiles to the same code again."""

import ast
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import unisono as un
from unisono._jit import source
from unisono._jit.decompile import texts_of

# Forms, by what they show; each is the body of a function of a, b and n.
FORMS = {
    "operators": "x = a + b * n ** 2 - a // b % 3\nx += -a @ b\nreturn ~x << 2 | n >> 1 & 3 ^ x",
    "comparisons": "return a < b, a is not None, n in (1, 2), a not in b, 0 <= a < b <= n",
    "chains in a test": "if 0 < a < b < n and not 1 < n <= 3:\n    return 1\nreturn 2",
    "a chain at the end": "if 0 < a < 9:\n    b[0] = 1",
    "conditions": "if a > 0 and (b > 0 or n > 0) and not (a > 9 or b > 9):\n    n = 1\nreturn n",
    "values of conditions": "x = a and b or n\ny = a or (b and n) or 3\nreturn x, y, (a if b else n) + 1",
    "choices": "return 1.0 if a > b else (b if n else a + n)",
    "branches": "if a:\n    n = 1\nelif b:\n    n = 2\nelif n > 3:\n    return 7\nelse:\n    n = 4\nreturn n",
    "branches that end": "if a:\n    return 1\nif b is None:\n    raise ValueError('b is None')\nreturn n",
    "nothing at the end": "if a:\n    b[0] = 1\nelse:\n    b[1] = 2",
    "assertions": "assert a > 0 or b > 0, 'none'\nassert n\nreturn a",
    "for": "s = 0\nfor i in range(n):\n    if i == 3:\n        continue\n    s += a[i]\n    if s > b:\n        break\nelse:\n    s = -1\nreturn s",
    "on one line": "s = 0\nfor i in range(n): s += a[i]; b[i] = s\nif s: return s\nreturn n",
    "for in for": "for i in range(n):\n    for j in range(i):\n        if a[i, j] < 0:\n            return i, j\n        if j > b:\n            break\nreturn None",
    "for over several": "s = 0\nfor k, (x, y) in enumerate(zip(a, b)):\n    s += k * x[0] - y\nreturn s",
    "while": "while n > 0 and a[n] != b:\n    n -= 1\n    if n == 5:\n        continue\n    a[n] *= 2\nreturn n",
    "while with else": "while n:\n    n -= 1\n    if a[n]:\n        break\nelse:\n    n = -1\nreturn n",
    "while without end": "while True:\n    n += 1\n    if n > a:\n        break\n    if n == b:\n        return 0\nreturn n",
    "while in for": "for i in range(n):\n    k = i\n    while k > 0 and a[k - 1] > a[k]:\n        a[k - 1], a[k] = a[k], a[k - 1]\n        k -= 1\nreturn a",
    "assignments": "x = y = a[0] = n\nx, (y, *z) = b\na.real[1:n, ::2], n = x, y\nx, y = y, x\nx, y, n = n, x, y\nreturn x, y, z",
    "in place": "a[n] += 1\na[1:] -= b\na.x *= 2\nb[n, -1] **= 2\nn //= 3\nreturn n",
    "slices": "return a[1:], a[:-1], a[::2], a[n:b:3], a[..., None], a[:, 1:2], a[-1]",
    "displays": "return [1, 2, 3, 4], [a, *b], (a, *b), {a, 1}, {1: a, **b}, {'x': 1, 'y': b}, (1, 2), ()",
    "calls": "return f(a, *b, k=n, **b), a.sum(axis=0).mean(), f(n)(1), g(*a), a.f(x=1, y=2)",
    "text": "return f'{a:.3f} and {b!r} of {n}', 'x' 'y', '%d' % n",
    "numbers": "return 1.5, -2, 1 + 2j, -0.5j, 10 ** 20, True, None, -0.0, 'text', b'bytes', ...",
    "lambdas": "f = lambda x, y=2, *z: x + y * n\nreturn f(a), (lambda: b)()",
    "functions inside": "def f(x, y=1, *, z: int = 3) -> float:\n    nonlocal n\n    n += 1\n    return x + y + z + a\nreturn f(b) + n",
    "generators": "for i in range(n):\n    yield a[i] + b",
    "walrus": "if (x := a + b) > n:\n    return x\nreturn n",
    "names": "global counted\ncounted = a\ndel b[0]\nimport math as m\nfrom os import path, sep as s\nreturn m.pi",
    "doc": "'''Says what it does.'''\npass",
    "comprehensions": "return [x * n for x in a if x > 0 and x < 9], {x: y for x, y in b}, "
    "{i for r in a for i in r}, sum(x for x in a if not x if n), f([x for x in a], n)",
    "try": "try:\n    n = a[b]\n    if n > 3:\n        return n\nexcept IndexError:\n    n = -1\n"
    "except (ValueError, TypeError) as e:\n    print(e)\n    return 5\nreturn n",
    "try in a loop": "for i in range(n):\n    try:\n        b = a[i]\n    except:\n        continue\n    else:\n        b += 1\nreturn b",
    "try in try": "try:\n    try:\n        b = a[n]\n    except IndexError:\n        raise ValueError(n)\nexcept ValueError as e:\n    b = e\nreturn b",
    "with": "with a(y='f') as x:\n    b = x\nfor i in range(n):\n    with b:\n        n += 1\n        if n > 5:\n            b = 0\nreturn b, n",
}


def code_of(text):
    scope = {}
    exec(compile(text, "<lost>", "exec"), scope)
    return scope["made"].__code__


@pytest.mark.parametrize("form", FORMS)
def test_the_text_compiles_to_the_same_code(form):
    code = code_of("def made(a, b, n):\n" + textwrap.indent(FORMS[form], "    "))
    texts = list(texts_of(code))
    assert any(source._found_in(text, code) for text in texts), texts


def test_functions_of_these_tests_come_back():
    """All but a few."""
    total, found = 0, 0
    for file in sorted(pathlib.Path(__file__).parents[1].glob("*/*.py")):
        if file.parent.name not in ("loops", "parallel", "containers"):
            continue
        text = file.read_text()
        imports = [n for n in ast.parse(text).body if isinstance(n, (ast.Import, ast.ImportFrom))]
        names = {(a.asname or a.name) for n in imports for a in n.names}
        for code in source._codes(compile(text, str(file), "exec")):
            is_function = code.co_name[0] != "<" and not code.co_freevars and code.co_flags & 1
            if not is_function:
                continue
            used = sorted(names.intersection(source.names_of(code)))
            head = "".join(f"import {n}\n" for n in used)  # calls of modules' members differ
            total += 1
            found += any(source._found_in(head + t, code) for t in texts_of(code))
    assert total > 500 and found > 0.94 * total, (found, total)


def test_statements_stand_at_their_lines():
    text = "# one\n\ndef made(a):\n    x = a\n\n    # two\n    for i in a:\n\n        x += i\n    return x\n"
    lines = next(texts_of(code_of(text))).splitlines()
    wanted = [line.replace("    # two", "") for line in text.splitlines()[2:]]
    assert lines == wanted


_PROGRAM = """
import math
import numpy as np
import unisono as un

def half(x):
    return x / 2

@un.jit(
    boundscheck=True
)
def f(x):
    s = 0.0
    s += half(x)
    s += half(x)
    return s

g = un.jit(lambda v: v * 3)

def make(k):
    @un.jit
    def inner(v):
        return v + k
    return inner

@un.njit(parallel=True)
def quarter_of_a_circle(n):
    s = 0.0
    for i in un.prange(n):
        s += math.sqrt(1 - ((i + 0.5) / n) ** 2)
    return 4 * s / n

@un.njit
def primes(n):
    flags = np.ones(n, np.bool_)
    flags[:2] = False
    for i in range(n):
        if flags[i]:
            for j in range(i * i, n, i):
                flags[j] = False
    return int(flags.sum())

@un.vectorize
def between(x, low, high):
    return low if x < low else high if x > high else x

@un.kernel
def double(x, out):
    i = un.global_id(0)
    if i < len(x):
        out[i] = 2 * x[i]

@un.jit
def wrong(x):
    y = x + 1
    return y.foo(3)

x, out = un.arange(10.0), un.zeros(10)
double[10](x, out)
print(f(3), g(4.0), make(5)(1), int(f.explain().count("s += half(x)")))
print(round(float(quarter_of_a_circle(1000)), 3), primes(30), float(between(x, 2.0, 5.0).sum()), float(out[3]))
try:
    wrong(3)
except un.CompileError as error:
    print(error)
"""


@pytest.mark.parametrize("settings", [{"PYTHONUNBUFFERED": "1"}, {}])
def test_a_long_program_of_a_pipe(settings):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | settings
    program = _PROGRAM + "# " + "x" * 70000 + "\n"
    done = subprocess.run(
        [sys.executable, "-"],
        input=program,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second, *message = done.stdout.splitlines()
    assert first == "3.0 12.0 6 2" and second == "3.142 10 38.0 6.0"
    at = _PROGRAM.splitlines().index("    return y.foo(3)") + 1
    assert f"  <stdin>:{at}:12" in message and "    return y.foo(3)" in message


def lost(text, **scope):
    """The function `made` of a text that nobody keeps."""
    code = pickle.loads(pickle.dumps(text)).replace("#", "")
    exec(compile(code, "/nowhere/file.py", "exec"), scope)
    return scope["made"]


def test_functions_of_files_that_this_machine_has_not():
    """As functions arrive that other processes send by value."""
    made = un.jit(
        lost("def made(x, k=2):\n    s = 0.0\n    for v in x:\n        s += k * v\n    return s\n")
    )
    assert made(np.arange(4.0)) == 12 and made(np.arange(4.0), 3) == 18


@pytest.mark.parametrize("head", ["", "from __future__ import annotations\n"])
def test_annotations_of_parameters_say_the_types(head):
    text = "def made(x: un.float32, k: int = 2) -> un.float64:\n    return x * k\n"
    made = un.jit(lost(head + text, un=un))
    assert type(made(3)) is float and made(3) == 6.0
    with pytest.raises(un.CompileError, match="parameter 'k' is declared as int; got float"):
        made(3, 2.5)


def test_what_cannot_be_read_back_is_refused():
    made = un.jit(lost("def made(x):\n    class A:\n        pass\n    return x\n"))
    with pytest.raises(un.CompileError, match="made: its source cannot be found"):
        made(1)
