"""Modules built ahead of time: compiled functions that run where no compiler is loaded."""

from __future__ import annotations

import pickle
import sys
import zlib
from pathlib import Path

from .. import _engine
from . import JitFunction
from .c_module import CFunctionOfText

__all__ = ["compile_module"]
_guvectorize = "unisono._jit.guvectorize"

_LOADER = """{doc!r}

from unisono._jit.ahead import load as _load

__all__ = {names!r}
{constants}globals().update(_load(__file__, __name__))
"""


def compile_module(name, functions=None, folder="."):
    """Write a package of compiled functions, which imports and runs without a compiler.

    Parameters
    ----------
    name : str
        Of the package; a folder of that name is written.
    functions : dict, list, or module, optional
        Functions that `jit`, `vectorize` or `guvectorize` made with signatures, by name or under their own names;
        of a module all of them, with its doc string and its public constants (numbers, text, tuples of these). By
        default those of the caller's module.
    folder : str or path, optional
        Where the package goes.

    Returns
    -------
    pathlib.Path
        The package's folder.

    Raises
    ------
    TypeError
        A function has no signatures, or was not made by `jit`.
    ValueError
        There is no function, or the name is none that can be imported.

    Notes
    -----
    The package holds machine code for this processor and needs the same build of unisono; where it
    is imported elsewhere, ImportError says what is missing. Values that the functions captured are
    those of now.

    Examples
    --------
    >>> import importlib, sys, tempfile, unisono as un
    >>> @un.jit("float64(float64)")
    ... def half(x):
    ...     return x / 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = un.compile_module("halves", [half], folder)
    ...     sys.path.insert(0, folder)
    ...     halves = importlib.import_module("halves")
    ...     sys.path.remove(folder)
    >>> halves.half(3)
    1.5
    """
    if not name.isidentifier():
        raise ValueError(
            f"compile_module: the name must be an identifier; got {name!r}; choose another one"
        )
    names = {}
    if functions is None:
        names = sys._getframe(1).f_globals
        functions = {k: f for k, f in names.items() if _is_ready(f)}
    elif hasattr(functions, "__dict__") and not callable(functions):
        names = vars(functions)
        functions = {k: f for k, f in names.items() if _is_ready(f)}
    elif not isinstance(functions, dict):
        functions = {getattr(f, "__name__", repr(f)): f for f in functions}
    if not functions:
        raise ValueError(
            f"compile_module: '{name}' has no functions; got none; give functions that un.jit made "
            f"with signatures"
        )
    store = {"functions": {}, "callees": []}
    known = {}
    for key, function in functions.items():
        _check(key, function)
        store["functions"][key] = _stored(function, store["callees"], known)
    loops = [f for s in store["functions"].values() for f in s.pop("made", ())]
    plain = [f for f in functions.values() if isinstance(f, JitFunction)]
    code = _engine._record_code(lambda: [f.recompile() for f in plain + loops])
    build, features = _engine._built_for()
    store |= {"build": build, "features": features, "code": code, "name": name}
    path = Path(folder) / name
    path.mkdir(parents=True, exist_ok=True)
    (path / "code.bin").write_bytes(zlib.compress(pickle.dumps(store, protocol=5)))
    doc = names.get("__doc__")
    doc = doc or f"Compiled functions: {', '.join(functions)}. Written by unisono.compile_module."
    kept = {k: v for k, v in names.items() if not k.startswith("_") and _is_constant(v)}
    constants = "".join(f"{k} = {v!r}\n" for k, v in kept.items())
    loader = _LOADER.format(doc=doc, names=list(functions), constants=constants)
    (path / "__init__.py").write_text(loader, encoding="utf-8")
    return path


def _is_constant(value):
    """Whether its repr, as source, gives the value again."""
    if type(value) is tuple:
        return all(map(_is_constant, value))
    if type(value) is float:
        return value - value == 0  # inf and nan are no literals
    return type(value) in (int, bool, str, bytes)


def _is_ready(f):
    if _is_vectorized(f):
        return bool(f._eager) and type(f._compiled) is JitFunction
    if _is_generalized(f):
        return bool(f._signatures)
    return isinstance(f, JitFunction) and bool(f._options_given.get("signatures"))


def _is_generalized(f):
    return type(f).__name__ == "GeneralizedFunction" and type(f).__module__ == _guvectorize


def _is_vectorized(f):
    return type(f).__name__ == "Vectorized" and type(f).__module__ == "unisono._jit.vectorize"


def why_left_out(value):
    """Why a name of a module that compiles something is not in the package; None of all others."""
    kind = type(value)
    if isinstance(value, CFunctionOfText) or _is_ready(value):
        return None
    if isinstance(value, JitFunction):
        return "it has no signatures; write @un.jit(signature)"
    if _is_vectorized(value):
        return "it has no signatures; write @un.vectorize([signature])"
    if _is_generalized(value):
        return "it has no signatures; write @un.guvectorize([signature], layout)"
    by = None
    if kind.__name__ == "Stencil" and kind.__module__.startswith("unisono."):
        by = "un.stencil"
    if isinstance(value, type) and issubclass(value, _engine._Instance):
        by = "un.jitclass"
    if by is None:
        return None
    return f"it is made by {by}; call it from a function that un.jit made with a signature"


def _check(key, function):
    if _is_vectorized(function):
        if _is_ready(function):
            return
        raise TypeError(
            f"compile_module: '{key}' is made by un.vectorize of other than a Python function with signatures; "
            f'got {function!r}; write its types, as in @un.vectorize(["float64(float64)"])'
        )
    if _is_generalized(function):
        if function._signatures:
            return
        raise TypeError(
            f"compile_module: '{key}' is made by un.guvectorize without signatures; got {function!r}; "
            f'write its types, as in @un.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")'
        )
    if not isinstance(function, JitFunction):
        raise TypeError(
            f"compile_module: '{key}' is not made by un.jit; got {type(function).__name__}; "
            f"decorate it with @un.jit(signature)"
        )
    if not function._options_given.get("signatures"):
        raise TypeError(
            f"compile_module: '{key}' has no signatures; got @un.jit alone; write its types, as in "
            f'@un.jit("float64(float64[:])")'
        )


def _runs_python(node):
    """Whether a flattened function runs a block in the interpreter of the process that compiled it."""
    kind, text, children = node[0], node[5], node[7]
    return (kind == "Builtin" and text == "python_block") or any(map(_runs_python, children))


def _unguarded(flat):
    """Without what a later call must still find around the function, and those inside of it."""
    inside = [_unguarded(f) for f in flat.get("nested", ())]
    return dict(flat) | {"guards": []} | ({"nested": inside} if "nested" in flat else {})


def _stored(function, callees, known):
    """What makes the function again: its flattened source, with callees by number."""
    if _is_vectorized(function):
        from .ahead_vectorize import loops_of, state_of

        made = loops_of(function)
        rows = [_stored(f, callees, known) for f in made]
        plain = _stored(function._compiled, callees, known)
        return {"vectorized": state_of(function), "plain": plain, "loops": rows, "made": made}
    if _is_generalized(function):
        from .ahead_guvectorize import loops_of, state_of

        made, one = loops_of(function), function._in_compiled_code
        rows = [_stored(f, callees, known) for f in made]
        plain = _stored(one, callees, known)
        state = state_of(function)
        return {"generalized": state, "plain": plain, "loops": rows, "made": [*made, one]}
    if isinstance(function, CFunctionOfText):
        if function._needs is None:
            raise TypeError(
                f"compile_module: '{function.__name__}' is a function of ctypes or cffi, or of C text whose variables "
                f"begin as addresses, which other processes do not have; call a library through un.c_module(libraries=)"
            )
        return {"native": _engine._native_state(function._native), "needs": function._needs}
    flat = dict(function._flatten())
    if not isinstance(flat, dict):
        raise TypeError(
            f"compile_module: '{function.__name__}' is a function of C text; got no Python source; "
            f"call it from a compiled function"
        )
    if flat["arrays"]:
        raise TypeError(
            f"compile_module: '{function.__name__}' reads '{flat['arrays'][0][1][1]}' around it, "
            f"which other processes do not have; pass it as an argument"
        )
    if _runs_python(flat["body"]):
        raise TypeError(
            f"compile_module: '{function.__name__}' runs a block of un.python(), which other processes "
            f"do not have; leave it out, or pass what it makes as an argument"
        )
    numbers = []
    for callee in flat["callees"]:
        if callee is function:
            numbers.append(-1)
            continue
        if id(callee) not in known:
            known[id(callee)] = None
            stored = _stored(callee, callees, known)
            known[id(callee)] = len(callees)
            callees.append(stored)
        numbers.append(known[id(callee)])
    flat = _unguarded(flat) | {"callees": numbers}
    plain = function.py_func
    return {
        "flat": flat,
        "doc": plain.__doc__,
        "defaults": plain.__defaults__,
        "named_defaults": plain.__kwdefaults__,
        "options": function._options_given,
    }


def load(file, module):
    """The functions of a package that compile_module wrote; called by its __init__."""
    path = Path(file).parent / "code.bin"
    store = pickle.loads(zlib.decompress(path.read_bytes()))
    build, features = _engine._built_for()
    if build != store["build"]:
        raise ImportError(
            f"{module}: built with another unisono than this one; got build {store['build']}; "
            f"expected {build}; build it again with un.compile_module"
        )
    missing = [f for f in store["features"] if f not in features]
    if missing:
        raise ImportError(
            f"{module}: built for a processor that has {', '.join(missing)}, which this one lacks; "
            f"got machine code for another processor; build it again on this machine"
        )
    for key, code in store["code"]:
        _engine._add_code(key, code)
    callees = []
    for stored in store["callees"]:
        callees.append(_made(stored, callees, module))
    functions = {}
    for name, stored in store["functions"].items():
        functions[name] = _made(stored, callees, module)
        if isinstance(functions[name], JitFunction):
            functions[name]._compile_signatures()
    return functions


def _made(stored, callees, module):
    if "native" in stored:
        return _native(stored)
    if "loops" in stored:
        loops = [_made(row, callees, module) for row in stored["loops"]]
        for loop in loops:
            loop._compile_signatures()
        plain = _made(stored["plain"], callees, module)
        if "generalized" in stored:
            from .ahead_guvectorize import BuiltGeneralized

            plain._compile_signatures()
            return BuiltGeneralized(stored["generalized"], module, plain, loops)
        from .ahead_vectorize import BuiltVectorized

        return BuiltVectorized(stored["vectorized"], module, plain, loops)
    flat = dict(stored["flat"])

    def stub(*args, **kwargs):
        raise TypeError(f"{flat['name']}: built ahead of time, it has no Python function")

    stub.__name__ = stub.__qualname__ = flat["name"]
    stub.__module__, stub.__doc__ = module, stored["doc"]
    stub.__defaults__, stub.__kwdefaults__ = stored["defaults"], stored["named_defaults"]
    numbers = flat["callees"]
    made = JitFunction(stub, False, None, stored["options"], flatten=lambda: flat)
    flat["callees"] = [made if n == -1 else callees[n] for n in numbers]
    return made


_memory = set()  # symbols of C's variables that were made


def _native(stored):
    """A function of C text, and what it needs."""
    symbols, libraries = stored["needs"]
    for path in libraries:
        _engine._open_library(path)
    for symbol, initial in symbols:
        if symbol not in _memory:
            _memory.add(symbol)
            _engine._add_variable(symbol, initial)
    name, declaration, parameters = stored["native"][:3]
    return CFunctionOfText(name, declaration, parameters, _engine._native_from(stored["native"]))
