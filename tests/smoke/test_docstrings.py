"""The examples in docstrings run and print what they say."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import textwrap
import types

import pytest
import unisono as un
from unisono._jit import group_words

# What starts MPI is left out: that belongs to the ranks of tests/mpi.
LEFT_OUT = ("__main__", "libunisono", "_runtime.mesh", "unisono.mpi", "unisono.ga")
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(un.__path__, "unisono.")
    if not any(text in m.name for text in LEFT_OUT)
)


@pytest.mark.parametrize("name", ["unisono", *MODULES])
def test_module(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module)
    assert failed == 0


def test_array_type_and_devices():
    finder = doctest.DocTestFinder(recurse=False)
    tried = 0
    for member in ("sum", "prod", "max", "min", "astype", "copy", "reshape", "to_device"):
        for test in finder.find(getattr(un.ndarray, member), f"ndarray.{member}", globs={}):
            runner = doctest.DocTestRunner()
            runner.run(test)
            tried += runner.tries
            assert runner.failures == 0, member
    assert tried > 0


# What belongs to compiled functions, what functions make, and classes described by their properties.
EXEMPT = set(
    "barrier global_id global_size group_id local_array local_id local_linear_id local_linear_size local_size mem_fence "
    "num_groups DType Device Dispatcher Mesh jit kernel prange".split()
)
EXEMPT |= set(vars(group_words))
SPACES = ("", "linalg", "fft", "random", "memory", "emath", "testing")


def public_names():
    for space in SPACES:
        module = importlib.import_module(f"unisono.{space}".rstrip("."))
        for name in dir(module):
            value = getattr(module, name)
            exempt = name in EXEMPT or name.startswith("_") or inspect.ismodule(value)
            if callable(value) and not exempt and not isinstance(value, (un.dtype, str)):
                if not (inspect.isclass(value) and issubclass(value, BaseException)):
                    yield pytest.param(value, id=f"{space}.{name}".lstrip("."))


def has_section(text, name):
    return re.search(rf"^{name}\n-+$", text, re.MULTILINE) is not None


@pytest.mark.parametrize("value", public_names())
def test_every_public_name_says_what_it_takes_and_shows_it(value):
    text = inspect.getdoc(value)
    assert ">>> " in text and has_section(text, "Examples")
    if inspect.isclass(value):
        return
    assert has_section(text, "Returns") or has_section(text, "Yields") or "None" in returned(value)
    if inspect.signature(value).parameters:
        assert has_section(text, "Parameters") and has_section(text, "Raises")


def returned(function):
    """What a function without a section on its result may give: nothing."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError):
        return "None"
    inner = {
        r
        for f in ast.walk(tree.body[0])
        if isinstance(f, ast.FunctionDef) and f is not tree.body[0]
        for r in ast.walk(f)
    }
    values = [n.value for n in ast.walk(tree) if isinstance(n, ast.Return) and n not in inner]
    return "None" if all(v is None or getattr(v, "value", 0) is None for v in values) else "a value"


@pytest.mark.parametrize(
    "name", sorted(n for n in vars(un) if isinstance(getattr(un, n), un.ufunc))
)
def test_examples_of_elementwise_functions(name):
    text = getattr(un, name).__doc__
    (test,) = doctest.DocTestFinder().find(types.SimpleNamespace(__doc__=text), name, globs={}) or [
        None
    ]
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries == 2 and runner.failures == 0


def test_examples_of_methods_and_of_the_extensions_functions():
    parts = [getattr(un.ndarray, name) for name in dir(un.ndarray) if name[0] != "_"]
    parts += [un.where, un.eval, un.matmul, un.ufunc]
    tried = 0
    for part in parts:
        text = getattr(part, "__doc__", None) or ""
        for test in doctest.DocTestParser().get_examples(text) and [
            doctest.DocTestParser().get_doctest(text, {}, getattr(part, "__name__", "?"), None, 0)
        ]:
            runner = doctest.DocTestRunner()
            runner.run(test)
            tried += runner.tries
            assert runner.failures == 0, part
    assert tried > 40


def test_random_functions_have_the_generators_signatures():
    assert str(inspect.signature(un.random.beta)) == "(a, b, size=None, *, device=None)"
    for name in un.random.__all__ if hasattr(un.random, "__all__") else ():
        text = getattr(un.random, name).__doc__ or ""
        if "Examples" in text:
            test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
            runner = doctest.DocTestRunner()
            runner.run(test)
            assert runner.failures == 0, name
