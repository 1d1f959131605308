"""Writes CUDA's words in a function's syntax tree as those of `unisono.kernel`."""

from __future__ import annotations

import ast
import copy
import math

from .._engine import CompileError
from .._loaded import loaded
from .desugar import Value, _at, _call, _constant, _tuple
from .words import local_array

_AXES = {"x": 0, "y": 1, "z": 2}
_OF_THE_GRID = {"grid": "un.global_id", "gridsize": "un.global_size"}
_ARRAYS = {"shared": "un.local_array", "local": "un.private_array"}


def attribute(flattener, e):
    """``threadIdx.x`` and the like as a call, or None."""
    words = loaded("unisono.cuda.words")
    if words is None:
        return None
    found, value = flattener.resolve(e.value)
    if not found or not isinstance(value, words._Index) or e.attr not in _AXES:
        return None
    axis = _AXES[e.attr]
    block = flattener.options.get("block")
    if block is None:
        return _call(f"un.{value._word}", e, _constant(axis, e))
    # The launch is one group, of blocks that have no groups of their own.
    size = _constant(block[axis], e)
    if value is words.blockDim:
        return size
    of_all = "un.local_size" if value is words.gridDim else "un.local_id"
    operator = ast.Mod() if value is words.threadIdx else ast.FloorDiv()
    whole = _call(of_all, e, _constant(axis, e))
    return _at(ast.BinOp(left=whole, op=operator, right=size), e)


def is_lane(value):
    """Whether it is ``cuda.laneid``."""
    warps = loaded("unisono.cuda.warps")
    return warps is not None and value is warps.laneid


def lane(e):
    """``cuda.laneid`` as a call."""
    from .group_words import sub_group_local_id

    function = _at(Value(value=sub_group_local_id, ctx=ast.Load()), e)
    return _at(ast.Call(func=function, args=[], keywords=[]), e)


def call(flattener, e):
    """A call of one of CUDA's words in those of `unisono.kernel`, or None; so of arrays of records."""
    found, value = flattener.resolve(e.func)
    if found and value is local_array and len(e.args) == 2:
        fields = _fields(flattener, e.args[1])
        return fields and _call("un.local_array", e, e.args[0], fields)
    words = loaded("unisono.cuda.words")
    if words is None:
        return None
    if found and value is words.selp and len(e.args) == 3:
        return _at(ast.IfExp(*e.args), e)
    if found and value in (words.grid, words.gridsize):
        return _of_the_grid(flattener, e, _OF_THE_GRID[value.__name__])
    if found and value is words.syncthreads:
        return _call("un.barrier", e, *e.args)
    groups = loaded("unisono.cuda.cg")
    if found and groups is not None and value is groups.this_grid and not e.args:
        made = _at(Value(value=groups.GridGroup, ctx=ast.Load()), e)
        return _at(ast.Call(func=made, args=[], keywords=[]), e)
    if found and groups is not None and value is groups._grid_barrier:
        return _call("un.grid_barrier", e)
    if found and getattr(value, "__module__", "") == "unisono.cuda.atomic" and len(e.args) == 3:
        from .warp_library import number_or

        end = {"max": -math.inf, "min": math.inf}[value.__name__]
        function = _at(Value(value=number_or, ctx=ast.Load()), e)
        number = _at(ast.Call(func=function, args=[e.args[2], _constant(end, e)], keywords=[]), e)
        return _call(f"atomic.{value.__name__}", e, *e.args[:2], number)
    if found and getattr(value, "__module__", "") == "unisono.cuda.warps":
        if value.__name__.startswith("threadfence") and not e.args:
            return _call("un.mem_fence", e)
        if value.__name__ == "nanosleep" and len(e.args) == 1:
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
    if found and value is words.shared_memory and len(e.args) >= 2:
        extent = e.args[1]
        is_open = isinstance(extent, ast.Constant) and extent.value is None
        call = _at(ast.Call(e.func, [_constant(0, e) if is_open else extent, e.args[0]], []), e)
        return _array(flattener, call, "shared")
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


def with_shared_block(flattener, body):
    """Statements in which several arrays of the launch's shared memory are one, as they lie in one memory."""
    words = loaded("unisono.cuda.words")
    if words is None or flattener.text.count("shared.array") < 2:
        return body
    calls = [n for s in body for n in ast.walk(s) if _is_dynamic(flattener, words, n)]
    if len(calls) < 2:
        return body
    from .captured import known_name

    names = [known_name(flattener.resolve(_given(c)["dtype"])[1]) for c in calls]
    if None in names or len(set(names)) > 1:
        raise CompileError(
            f"{flattener.name}: the arrays of cuda.shared.array(0, ...) are one memory of one dtype; got "
            f"{' and '.join(dict.fromkeys(ast.unparse(_given(c)['dtype']) for c in calls))} in "
            f"{flattener.file}:{calls[1].lineno}; give those of other dtypes constant shapes"
        )
    name = "shared_memory"
    while name in flattener.locals:
        name += "_"
    flattener.locals.add(name)
    made = _at(ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=calls[0]), calls[0])
    spots = {(c.lineno, c.col_offset, c.end_col_offset) for c in calls}

    class _Named(ast.NodeTransformer):
        def visit_Call(self, node):
            if (node.lineno, node.col_offset, node.end_col_offset) in spots:
                return _at(ast.Name(id=name, ctx=ast.Load()), node)
            return self.generic_visit(node)

    return [ast.fix_missing_locations(made), *(_Named().visit(s) for s in copy.deepcopy(body))]


def _given(e):
    given = dict(zip(("shape", "dtype"), e.args, strict=False))
    given.update({k.arg: k.value for k in e.keywords if k.arg in ("shape", "dtype")})
    return given


def _is_dynamic(flattener, words, e):
    is_array = (
        isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr == "array"
    )
    if not is_array or flattener.resolve(e.func.value)[1] is not words.shared:
        return False
    given = _given(e)
    if given.keys() != {"shape", "dtype"}:
        return False
    found, extent = _known_value(flattener, given["shape"])
    return found and isinstance(extent, int) and extent == 0


def _array(flattener, e, name):
    given = _given(e)
    shape, dtype = given.get("shape"), given.get("dtype")
    if shape is None or dtype is None:
        return None
    if name == "shared" and flattener.options.get("block"):
        raise CompileError(
            f"{flattener.name}: cuda.shared.array in {flattener.file}:{e.lineno}: blocks share no memory in a kernel that "
            f"synchronises the grid; use memory of the grid, a part of it for each block"
        )
    found, extent = _known_value(flattener, shape)
    if found and name == "shared" and extent == 0 and isinstance(extent, int):
        shape = _constant(_dynamic_extent(flattener, e, dtype), e)
    if isinstance(shape, ast.List):
        shape = _tuple(shape, *shape.elts)
    return _call(_ARRAYS[name], e, shape, _fields(flattener, dtype) or dtype)


def structured(flattener, e):
    """NumPy's dtype of what names a structured one, or a type of vectors; None of others."""
    import numpy

    found, dtype = flattener.resolve(e)
    kind, *rest = getattr(dtype, "_parsed", None) or ("",)
    if kind:  # one of `unisono.types`
        dtype = rest[0] if kind == "record" else None
    elif found and not isinstance(dtype, numpy.dtype):
        dtype = getattr(dtype, "dtype", None)  # of a type of vectors
    is_structured = isinstance(dtype, numpy.dtype) and dtype.names is not None
    return dtype if is_structured else None


def _fields(flattener, e):
    """The fields of a structured dtype as ``(name, dtype, shape), ...``; None of others."""
    dtype = structured(flattener, e)
    if dtype is None:
        return None
    rows = []
    for name in dtype.names:
        base, shape = dtype.fields[name][0], ()
        if base.subdtype is not None:
            base, shape = base.subdtype
        if base.kind not in "biufc":
            raise CompileError(
                f"{flattener.name}: an array of a kernel in {flattener.file}:{e.lineno}: its records hold numbers and arrays of "
                f"them; got field '{name}' of {base}; make an array for each of its fields"
            )
        lengths = _tuple(e, *(_constant(n, e) for n in shape))
        scalar = _at(Value(value=base.type, ctx=ast.Load()), e)
        rows.append(_tuple(e, _constant(name, e), scalar, lengths))
    return _tuple(e, *rows)


def _dynamic_extent(flattener, e, dtype):
    import numpy

    from .captured import known_name

    where = f"{flattener.name}: cuda.shared.array(0, ...) in {flattener.file}:{e.lineno}"
    named = structured(flattener, dtype) or known_name(flattener.resolve(dtype)[1]) or "float64"
    total = flattener.options.get("shared_bytes", 0)
    size = numpy.dtype(named.removeprefix("dtype:") if isinstance(named, str) else named).itemsize
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
