"""Compiled functions whose source lies in no file: of -c, standard input, the prompt and exec."""

import code
import gc
import linecache
import os
import pty
import subprocess
import sys
import textwrap
import types

import pytest
import unisono as un
from unisono._jit import rewritten, unfiled
from unisono._jit.text import compile_text

_PROGRAM = textwrap.dedent(
    """
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

    print(f(3), g(4.0), make(5)(1), int(f.explain().count("s += half(x)")))
    """
)
_PRINTED = "3.0 12.0 6 2"


# What C's library reads ahead from a pipe is kept in its buffer, which -u leaves out.
_BUFFERED = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}


def _run(*arguments, **how):
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=_BUFFERED,
        **how,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("before", [("-c",), ("-W", "ignore", "-c"), ("-uc",), ("-X", "dev", "-c")])
def test_program_of_the_command(before):
    assert _run(*before, _PROGRAM, "argument", "-c", "other") == _PRINTED


def test_program_of_the_command_in_one_word():
    assert _run("-c" + _PROGRAM) == _PRINTED


@pytest.mark.parametrize("arguments", [(), ("-",), ("-", "more")])
def test_program_of_a_pipe(arguments):
    assert _run(*arguments, input=_PROGRAM) == _PRINTED


def test_program_of_a_redirected_file(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("#" * 20000 + "\n" + _PROGRAM)
    with open(file) as given:
        assert _run(stdin=given) == _PRINTED


def test_functions_of_the_prompt():
    """In a terminal: lines that are typed, with the history that readline keeps."""
    lines = [
        "import unisono as un",
        "@un.jit",
        "def f(x):",
        "    s = 0.0",
        "    for i in range(3):",
        "        s += x",
        "    return s",
        "",
        "def f(x): return x",
        "",
        "f = un.jit(f)",
        "@un.jit",
        "def f(x):",
        "    return x * 7",
        "",
        "print('found', f(3), un.jit(lambda v: v + 1)(4))",
        "class A:",
        "    @staticmethod",
        "    @un.jit",
        "    def g(x):",
        "        return x + 40",
        "",
        "print('found', A.g(2))",
        "exit()",
    ]
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "dumb"
        os.environ["PYTHON_BASIC_REPL"] = "1"
        os.environ["HOME"] = "/nonexistent"
        os.execv(sys.executable, [sys.executable, "-q"])
    shown = b""
    os.write(terminal, ("\n".join(lines) + "\n").encode())
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.waitpid(pid, 0)
    os.close(terminal)
    text = shown.decode(errors="replace")
    assert "found 21 5" in text, text
    assert "found 42" in text, text


def test_functions_that_exec_defines():
    text = "import unisono as un\n@un.jit\ndef f(x):\n    return helper(x) + 1\ndef helper(x):\n    return x * 2\n"
    scope = {}
    exec(text, scope)
    assert scope["f"](3) == 7

    scope = {}
    exec("import unisono as un\n@un.jit\ndef f(x): return x - 1", scope)
    assert scope["f"](3) == 2


def test_a_shorter_text_of_the_same_name(monkeypatch):
    """Python 3.13 keeps the text of -c by the name that exec gives too."""
    monkeypatch.setitem(linecache.cache, "<string>", (1, None, ["x\n"], "<string>"))
    scope = {}
    exec("\n\nimport unisono as un\n@un.jit\ndef f(x):\n    return x + 4\n", scope)
    assert scope["f"](3) == 7


def test_functions_that_are_decorated_after_exec():
    text = "\n\ndef f(x):\n    return x * 5\n"
    scope = {}
    exec(compile(text, "<generated>", "exec"), scope)
    assert un.jit(scope["f"])(3) == 15


def test_texts_of_the_same_name_are_told_apart():
    made = []
    for k in range(4):
        text = f"def f(x):\n    return x * {k}\n"
        scope = {}
        exec(text, scope)
        made.append(un.jit(scope["f"]))
    assert [f(2) for f in made] == [0, 2, 4, 6]


def test_functions_of_an_interactive_console():
    console = code.InteractiveConsole({})
    for line in [
        "import unisono as un",
        "@un.jit",
        "def f(x):",
        "    return x + 4",
        "",
        "y = f(5)",
    ]:
        console.push(line)
    assert console.locals["y"] == 9


def test_a_text_of_exec_that_nothing_holds():
    """The engine keeps what Python compiled last."""
    scope = {}
    for k in range(3):
        exec(
            "".join(
                [f"def other{k}(x):\n    return x\n", "def f(x):\n", f"    return x * {k + 55}\n"]
            ),
            scope,
        )
        scope[f"f{k}"] = scope["f"]
    for k in range(3):
        scope[f"f{k}"].__name__ = f"called_{k}"
        assert un.jit(scope[f"f{k}"])(3) == 3 * (k + 55)


def test_a_text_that_exec_ran_before_anything_was_compiled(tmp_path):
    """Nothing holds the text, and no decorator was at hand when it was run."""
    (tmp_path / "program.py").write_text(
        "import unisono as un\n"
        "names = {}\n"
        "for k in range(3):\n"
        "    exec(f'def f(x): return x + {k}', names)\n"
        "print(un.jit(names['f'])(40))\n"
    )
    assert _run(str(tmp_path / "program.py")) == "42"


def test_texts_of_exec_that_are_many_are_not_kept():
    scope = {}
    exec("".join(["def f(x):\n", "    return x * 56\n"]), scope)
    for k in range(5):
        exec(f"def g(x):\n    return {k}\n" + "# \n" * 200_000, {})
    assert not any("56" in t for t in unfiled.texts_for(scope["f"]))
    assert un.jit(scope["f"])(3) == 168  # read back from the bytecode


def test_a_text_that_nothing_holds_is_an_error():
    scope = {}
    text = "".join(["def f(x):\n", "    class A: pass\n", "    return x * 55\n"])
    exec(compile(text, "<made>", "exec"), scope)
    del text
    with pytest.raises(un.errors.CompileError, match=r"its source cannot be found.*exec\(text\)"):
        un.jit(scope["f"])(3)


def test_errors_show_the_line():
    text = (
        "import unisono as un\n@un.jit\ndef f(x):\n    y = x\n    return nothing_of_that_name(y)\n"
    )
    scope = {}
    exec(text, scope)
    with pytest.raises(un.errors.CompileError, match=r"<string>:5:12\n    return nothing_of"):
        scope["f"](3)


# ---- modules that import hooks rewrite


class _Loader:
    """Stands for the loader of an import hook."""


def _rewritten(text, change):
    """A function of a module whose tree was changed while it was imported."""
    import ast
    import linecache

    file = "/nonexistent/rewritten_module.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    tree = change(ast.parse(text))
    scope = {"__name__": "rewritten_module", "__loader__": _Loader()}
    exec(compile(ast.fix_missing_locations(tree), file, "exec"), scope)
    return scope["f"]


def _with_statement(inserted):
    """Inserts a statement before the first one of the function."""
    import ast

    def change(tree):
        body = tree.body[0].body
        made = ast.parse(inserted).body[0]
        for node in ast.walk(made):
            if hasattr(node, "lineno"):
                ast.copy_location(node, body[0])
        body.insert(0, made)
        return tree

    return change


_CHECKED = "def f(x):\n    y = x * 2\n    assert y > 1\n    return y\n"


def test_functions_that_a_hook_rewrote_compile():
    function = _rewritten(_CHECKED, _with_statement("print('called')"))
    assert un.jit(function)(3) == 6


def test_other_source_than_the_rewritten_code_is_noticed():
    function = _rewritten(_CHECKED, lambda tree: tree)
    assert rewritten.is_made_of(function, _CHECKED)
    assert not rewritten.is_made_of(function, _CHECKED.replace("* 2", "* 3"))
    assert not rewritten.is_made_of(function, _CHECKED.replace("y", "z"))
    assert not rewritten.is_made_of(function, "\n" + _CHECKED)
    swapped = _CHECKED.replace("def f(x)", "def f(x, y)").replace("y = x", "x = y")
    assert not rewritten.is_made_of(function, swapped)


def test_only_modules_with_a_loader_of_their_own_are_rewritten():
    function = _rewritten(_CHECKED, _with_statement("print('called')"))
    plain = types.FunctionType(function.__code__, {"__loader__": None})
    assert not rewritten.is_made_of(plain, _CHECKED)


def test_asserts_of_this_file_compile():
    @un.jit
    def checked(x):
        assert x > 0, "positive"
        return x

    assert checked(2) == 2
    with pytest.raises(AssertionError, match="positive"):
        checked(-2)


def test_functions_of_one_name_are_told_apart():
    program = """if 1:
        import unisono as un

        def loop():
            @un.njit
            def f(x):
                return 7.0
            return f(1)

        def kernel():
            @un.kernel
            def f(x):
                x[un.global_id(0)] *= 2
            x = un.ones(8)
            f[8](x)
            return x.sum()

        print(kernel(), loop())
        """
    assert _run("-c", program) == "16.0 7.0"


def test_texts_of_collected_functions_stay_while_linecache_walks_over_them():
    def one():
        return compile_text("def one(x):\n    return x + 1\n", "one", {})

    made = one()
    file = made.py_func.__code__.co_filename
    del made
    gc.collect()
    assert linecache.cache[file]  # as `linecache.checkcache` looks for them
    made = one()
    assert file not in linecache.cache and linecache.cache[made.py_func.__code__.co_filename]
