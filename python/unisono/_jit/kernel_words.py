"""Writes CUDA's words in a function's syntax tree as those of `unisono.kernel`."""

from __future__ import annotations

import ast
import sys

from .._engine import CompileError
from .desugar import Value, _at, _call, _constant, _tuple

_AXES = {"x": 0, "y": 1, "z": 2}
_OF_THE_GRID = {"grid": "un.global_id", "gridsize": "un.global_size"}
_ARRAYS = {"shared": "un.local_array", "local": "un.private_array"}


def attribute(flattener, e):
    """``threadIdx.x`` and the like as a call, or None."""
    words = sys.modules.get("unisono.cuda.words")
    if words is None:
        return None
    found, value = flattener.resolve(e.value)
    if not found or not isinstance(value, words._Index) or e.attr not in _AXES:
        return None
    return _call(f"un.{value._word}", e, _constant(_AXES[e.attr], e))


def is_lane(value):
    """Whether it is ``cuda.laneid``."""
    warps = sys.modules.get("unisono.cuda.warps")
    return warps is not None and value is warps.laneid


def lane(e):
    """``cuda.laneid`` as a call."""
    from .group_words import sub_group_local_id

    function = _at(Value(value=sub_group_local_id, ctx=ast.Load()), e)
    return _at(ast.Call(func=function, args=[], keywords=[]), e)


def call(flattener, e):
    """A call of one of CUDA's words in those of `unisono.kernel`, or None."""
    words = sys.modules.get("unisono.cuda.words")
    if words is None:
        return None
    found, value = flattener.resolve(e.func)
    if found and value is words.selp and len(e.args) == 3:
        return _at(ast.IfExp(*e.args), e)
    if found and value in (words.grid, words.gridsize):
        return _of_the_grid(flattener, e, _OF_THE_GRID[value.__name__])
    if found and value is words.syncthreads:
        return _call("un.barrier", e, *e.args)
    if found and getattr(value, "__module__", "") == "unisono.cuda.warps":
        if value.__name__.startswith("threadfence") and not e.args:
            return _call("un.mem_fence", e)
        if value.__name__ == "fma":
            return _call("un.fma", e, *e.args)
    if found and getattr(value, "__name__", "") == "compare_and_swap" and len(e.args) == 3:
        array, first = e.args[0], _constant(0, e)
        if isinstance(array, ast.Subscript) and isinstance(array.slice, ast.Slice):
            given = array.slice  # the first element from there on
            if given.upper is None and given.step is None:
                array, first = array.value, given.lower or first
        return _call("atomic.cas", e, array, first, *e.args[1:])
    if not isinstance(e.func, ast.Attribute):
        return None
    kind = flattener.resolve(e.func.value)[1]
    name = kind.__name__ if kind in (words.shared, words.local, words.const) else ""
    if name == "const" and e.func.attr == "array_like" and len(e.args) == 1:
        return e.args[0]
    if name in _ARRAYS and e.func.attr == "array":
        return _array(flattener, e, name)
    return None


def _of_the_grid(flattener, e, word):
    found, n = _known_value(flattener, e.args[0]) if len(e.args) == 1 else (False, None)
    if not found or n not in (1, 2, 3):
        raise CompileError(
            f"{flattener.name}: the number of axes is a constant, 1, 2 or 3; got {ast.unparse(e)} in "
            f"{flattener.file}:{e.lineno}; write cuda.grid(1)"
        )
    ids = [_call(word, e, _constant(k, e)) for k in range(n)]
    return ids[0] if n == 1 else _tuple(e, *ids)


def _known_value(flattener, e):
    if isinstance(e, ast.Constant):
        return True, e.value
    return flattener.resolve(e)


def _array(flattener, e, name):
    given = dict(zip(("shape", "dtype"), e.args, strict=False))
    given.update({k.arg: k.value for k in e.keywords if k.arg in ("shape", "dtype")})
    shape, dtype = given.get("shape"), given.get("dtype")
    if shape is None or dtype is None:
        return None
    found, extent = _known_value(flattener, shape)
    if found and name == "shared" and extent == 0 and isinstance(extent, int):
        shape = _constant(_dynamic_extent(flattener, e, dtype), e)
    if isinstance(shape, ast.List):
        shape = _tuple(shape, *shape.elts)
    return _call(_ARRAYS[name], e, shape, dtype)


def _dynamic_extent(flattener, e, dtype):
    import numpy

    from .captured import known_name

    where = f"{flattener.name}: cuda.shared.array(0, ...) in {flattener.file}:{e.lineno}"
    named = known_name(flattener.resolve(dtype)[1]) or ""
    total = flattener.options.get("shared_bytes", 0)
    size = numpy.dtype(named.removeprefix("dtype:") or "float64").itemsize
    if getattr(flattener, "shares", False):
        raise CompileError(
            f"{where}: one array takes the launch's shared memory; got a second one; give the others constant shapes"
        )
    flattener.shares = True
    if total < size:
        raise CompileError(
            f"{where}: its size is the fourth entry of the launch, in bytes; got {total}; write "
            f"{flattener.name}[blocks, threads, 0, bytes](...)"
        )
    return total // size
