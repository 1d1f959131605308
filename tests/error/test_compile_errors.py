"""Wrong programs and what we say to them: each file of compile/ with its expected text.

``UNISONO_UPDATE_GOLDEN=1`` writes the texts anew; read the difference before committing it.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
import unisono as un
from unisono._jit import decompile

FOLDER = Path(__file__).parent / "compile"


@pytest.mark.parametrize("name", sorted(p.stem for p in FOLDER.glob("*.py")))
def test_message(name):
    path = FOLDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"compile_error_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module.f, "py_func", module.f)
    with pytest.raises(un.CompileError) as raised:
        if hasattr(module, "launch"):
            un.kernel(function, device="interp")[module.launch](*module.args)
        elif function is module.f:
            un.jit(function, device="interp")(*module.args)
        else:
            module.f(*module.args)
    text = str(raised.value).replace(str(path), path.name) + "\n"
    golden = path.with_suffix(".txt")
    exact = path.with_suffix(".py312.txt")  # before, parts of an f-string had the string's place
    if exact.exists() and sys.version_info >= (3, 12):
        golden = exact
    if os.environ.get("UNISONO_UPDATE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_a_stale_file_is_noticed(tmp_path):
    path = tmp_path / "stale.py"
    path.write_text("def f(x):\n    return x + 1\n")
    spec = importlib.util.spec_from_file_location("stale", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text("def f(x):\n    return x + 2\n")
    with pytest.raises(un.CompileError, match="the file has changed since the function was def"):
        un.jit(module.f, device="interp")(1)


def test_functions_without_source(monkeypatch):
    monkeypatch.setattr(decompile, "texts_of", lambda code: [])  # as if its form could not be read
    scope = {}
    exec(compile("".join(["def f(x): ", "return x"]), "<made>", "exec"), scope)
    with pytest.raises(un.CompileError, match="its source cannot be found"):
        un.jit(scope["f"], device="interp")(1)
    with pytest.raises(un.CompileError, match="the source of a lambda cannot be found"):
        un.jit(eval(compile(" ".join(["lambda", "x: x"]), "<made>", "eval")), device="interp")(1)
    with pytest.raises(TypeError, match="only Python functions can be compiled"):
        un.jit(3)
