"""C text that LLVM would end the process for, or that is too large for the compiler, is a CompileError."""

import subprocess
import sys

import numpy as np
import pytest
import unisono as un


def alone(text, then):
    """Run in a process of its own, which the fault under test would end."""
    program = (
        f"import unisono as un\ntry:\n    c = un.c_module({text!r})\n    print({then})\n"
        "except un.CompileError as error:\n    print('refused:', error)\n"
    )
    done = subprocess.run([sys.executable, "-"], input=program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('int f(int x) {\n  __asm__("foo bar");\n  return x;\n}', ":2:"),
        ('int f(int x) {\n\n  __asm__("addl %1, %0" : "+r"(x) : "r"(x));\n  return x;\n}', ":3:"),
        ('__asm__(".globl nothing");\nint f(int x) { return x; }', ":1:"),
    ],
)
def test_inline_assembly_is_refused_at_its_line(text, place):
    said = alone(text, "c.f(1)")
    assert said.startswith("refused: c_module: the C text does not compile")
    assert place in said
    assert "error: inline assembly cannot be compiled; write it in C" in said


def test_barriers_and_unused_assembly_are_no_assembly():
    c = un.c_module(
        'static inline int unused(int x) { __asm__("foo bar"); return x; }\n'
        'int f(int x) { __asm__ volatile("" ::: "memory"); return x + 1; }'
    )
    assert c.f(1) == 2


def test_constraints_that_cannot_be_met():
    said = alone('int f(int x) { __asm__("" :: "i"(x)); return x; }', "c.f(1)")
    assert said.startswith("refused: ") and "constraint 'i'" in said


def doubled(levels, last):
    names = "ABCDEFGH"[:levels] + "Z"
    lines = [f"#define {a} {(b + ' ') * 8}\n" for a, b in zip(names[:-1], names[1:], strict=True)]
    return "".join(lines) + f"#define Z {last}\n"


@pytest.mark.parametrize("levels", [5, 6])
def test_expressions_of_100_000_terms(levels):
    said = alone(doubled(levels, "1+1+1+") + "int f(int x) { return A 1; }", "c.f(1)")
    assert said.startswith("refused: c_module: the C text does not compile")
    assert f":{levels + 2}:" in said
    assert "error: a statement of more than 50000 tokens (macros expanded)" in said


@pytest.mark.parametrize("last", ["x+", "x*3+", "- -x+", "(x>0?x:1)+"])
def test_expressions_of_thousands_of_terms(last):
    text = doubled(4, last) + "unsigned f(unsigned x) { return A 0u; }"
    each = {"x+": 2, "x*3+": 6, "- -x+": 2, "(x>0?x:1)+": 2}[last]
    assert alone(text, "c.f(2)") == f"{4096 * each}\n"


def test_deep_nesting_is_refused():
    said = alone("int f(int x) { return " + "(" * 5000 + "x" + ")" * 5000 + "; }", "c.f(1)")
    assert said.startswith("refused: ") and "bracket nesting level exceeded" in said
    chain = "".join(f"if (x == {k}) return {k};\n else " for k in range(8000))
    said = alone("int f(int x) {" + chain + "return 0; }", "c.f(1)")
    assert "error: a chain of more than 5000 `else if`" in said
    said = alone("int f(int x) { " + "if (x) " * 20000 + "return 1; return 0; }", "c.f(1)")
    assert "error: a statement of more than 50000 tokens" in said


def test_large_tables_are_no_long_statements():
    table = np.arange(60_000)
    text = (
        "static const int t[] = {" + ",".join(map(str, table)) + "};\nint f(int k) { return t[k]; }"
    )
    assert un.c_module(text).f(59_999) == 59_999


@pytest.mark.parametrize("text", [
    "static double a[1L<<40]; double f(int k) { return a[k]; }",
    "double f(int k) {\n static double a[1L<<40]; return a[k]++; }",
    "static const double a[1L<<40] = {1}; double f(int k) { return a[k]; }",
])  # fmt: skip
def test_variables_that_are_too_large(text):
    said = alone(text, "c.f(1)")
    assert said.startswith("refused: c_module: the C text does not compile")
    assert "got 8796093022208 bytes; expected at most 2147483648 for all together" in said
    assert "pass the memory as an argument, or call malloc" in said


def test_large_variables_work():
    c = un.c_module("static double a[1 << 22]; double f(long k) { a[k] += 1; return a[k]; }")
    assert [c.f((1 << 22) - 1), c.f((1 << 22) - 1), c.f(0)] == [1.0, 2.0, 1.0]
