"""The words of CUDA C and OpenCL C: indices, barriers, atomics, mathematics."""

from __future__ import annotations

import ast
import math
import re

import numpy as np

from ..._jit import atomic_bits
from ..._jit.desugar import Known
from . import arithmetic, complex_words, groups, printing, warps
from .numbers import Number, common, is_complex, is_float, itemsize, promoted
from .trees import INDICES, at, known_value

UNKNOWN = object()
NUMPY = {"bool": "bool_"}
TAKEN = {"un", "np", "range", "int", "float", "bool", "complex"}
_OPENCL_INDICES = {
    "get_global_id": "global_id", "get_local_id": "local_id", "get_group_id": "group_id",
    "get_global_size": "global_size", "get_local_size": "local_size", "get_num_groups": "num_groups",
}  # fmt: skip
CONSTANTS = {
    "INFINITY": (math.inf, "float32"), "NAN": (math.nan, "float32"), "M_PI": (math.pi, "float64"),
    "M_PI_F": (math.pi, "float32"), "M_E": (math.e, "float64"), "M_SQRT2": (math.sqrt(2), "float64"),
    "M_LN2": (math.log(2), "float64"), "M_PI_2": (math.pi / 2, "float64"), "M_PI_4": (math.pi / 4, "float64"),
    "HUGE_VALF": (math.inf, "float32"), "HUGE_VAL": (math.inf, "float64"), "NULL": (0, "int32"),
    "FLT_MAX": (float(np.finfo(np.float32).max), "float32"), "DBL_MAX": (np.finfo(float).max, "float64"),
    "FLT_MIN": (float(np.finfo(np.float32).tiny), "float32"), "DBL_MIN": (np.finfo(float).tiny, "float64"),
    "FLT_EPSILON": (2.0**-23, "float32"), "DBL_EPSILON": (2.0**-52, "float64"),
    "INT_MAX": (2**31 - 1, "int32"), "INT_MIN": (-(2**31), "int32"), "UINT_MAX": (2**32 - 1, "uint32"),
    "LLONG_MAX": (2**63 - 1, "int64"), "nullptr": (0, "int32"), "CLK_LOCAL_MEM_FENCE": (1, "int32"),
    "CLK_GLOBAL_MEM_FENCE": (2, "int32"), "warpSize": (32, "int32"), "true": (1, "bool"), "false": (0, "bool"),
}  # fmt: skip
_BARRIERS = {"__syncthreads", "barrier", "work_group_barrier"}
_FENCES = {
    "__threadfence", "__threadfence_block", "__threadfence_system", "mem_fence", "read_mem_fence", "write_mem_fence",
    "atomic_work_item_fence",
}  # fmt: skip
TAKES_EXPRESSIONS = {"printf", "assert"}
_MATH = {
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin",
    "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "fabs",
    "rint": "rint", "nearbyint": "rint", "pow": "power", "powr": "power", "atan2": "arctan2", "fmod": "fmod",
    "hypot": "hypot", "fmax": "fmax", "fmin": "fmin", "copysign": "copysign", "nextafter": "nextafter",
}  # fmt: skip
_FAST = {f"__{n}f": n for n in ("sin", "cos", "tan", "exp", "log", "log2", "log10", "pow")}
_ATOMICS = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicMin": "min", "atomicMax": "max", "atomicExch": "exch",
    "atomicCAS": "cas", "atomicInc": "inc", "atomicDec": "dec", "atomicAnd": "and_", "atomicOr": "or_",
    "atomicXor": "xor", "atomic_add": "add", "atomic_sub": "sub", "atomic_min": "min", "atomic_max": "max",
    "atomic_xchg": "exch", "atomic_cmpxchg": "cas", "atomic_and": "and_", "atomic_or": "or_",
    "atomic_xor": "xor", "atom_add": "add", "atom_sub": "sub", "atom_min": "min", "atom_max": "max",
    "atom_xchg": "exch", "atom_cmpxchg": "cas", "atomic_inc": "add", "atomic_dec": "sub", "atom_inc": "add",
    "atom_dec": "sub",
}  # fmt: skip

_NAMES = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "half": "float16",
    "float": "float32", "double": "float64", "ll": "int64", "ull": "uint64",
}  # fmt: skip
_TYPE = "u?(?:char|short|int|long)|half|float|double"
_CONVERSION = re.compile(f"convert_(?P<type>{_TYPE})(?P<sat>_sat)?(?:_(?P<round>rt[ezpn]))?")
_BITS = re.compile(
    f"as_(?P<opencl>{_TYPE})|__(?P<given>int|uint|longlong|float|double)_as_(?P<cuda>int|uint|longlong|float|double)"
)
_ROUNDING = {"rte": np.rint, "rtp": np.ceil, "rtn": np.floor, "rtz": np.trunc}
_ROUNDING |= {"rn": np.rint, "ru": np.ceil, "rd": np.floor, "rz": np.trunc}
_CUDA_CONVERSION = re.compile(
    "__(?P<given>float|double|int|uint|ll|ull)2(?P<type>float|double|int|uint|ll|ull)_(?P<round>r[nudz])"
)


def _index(e):
    """(word, axis) of threadIdx.x and the like, else None."""
    if e[0] == "member" and e[2][0] == "name" and e[2][2] in INDICES and e[3] in ("x", "y", "z"):
        return e[2][2], "xyz".index(e[3])
    return None


def global_index(op, left, right):
    """The axis of ``blockIdx.x * blockDim.x + threadIdx.x`` in any order, else None."""
    if op != "+":
        return None
    for product, rest in ((left, right), (right, left)):
        last = _index(rest)
        if last is None or last[0] != "threadIdx" or product[0] != "binary" or product[2] != "*":
            continue
        pair = {_index(product[3]), _index(product[4])}
        if pair == {("blockIdx", last[1]), ("blockDim", last[1])}:
            return last[1]
    return None


def call(body, place, name, args, is_used):
    """The Number of a call of a word, None of one without a value, or UNKNOWN."""
    if name in _OPENCL_INDICES:
        return _opencl_index(body, place, name, args)
    if name in _BARRIERS:
        return groups.barrier(body, place)
    if name in _FENCES:
        node = ast.Call(func=Known(id="un.mem_fence", ctx=ast.Load()), args=[], keywords=[])
        body.emit(ast.Expr(value=node), place)
        return None
    made = warps.call(body, place, name, args)
    if made is not warps.UNKNOWN:
        return made
    if name in TAKES_EXPRESSIONS:
        return (printing.printf if name == "printf" else printing.asserted)(body, place, args)
    if name in _ATOMICS:
        return _atomic(body, place, name, args, is_used)
    if name.startswith(("convert_", "as_", "__")):
        made = _conversion(body, place, name, args)
        if made is not UNKNOWN:
            return made
    return _function(body, place, name, args)


def _conversion(body, place, name, args):
    """``convert_int_sat(x)``, ``as_float(x)``, ``__int_as_float(x)`` and their like, else UNKNOWN."""
    parts = _CONVERSION.fullmatch(name)
    if parts and len(args) == 1:
        v, dtype = _int_of_truth(body, place, body.number(args[0])), _NAMES[parts["type"]]
        if is_complex(v.dtype):
            return UNKNOWN
        is_whole = is_float(v.dtype) and not is_float(dtype)
        if is_whole and parts["round"] in _ROUNDING:
            node = body.call_known(_ROUNDING[parts["round"]], [v.node], place)
            v = Number(node, v.dtype)
        if parts["sat"] and not is_float(dtype):
            v = _saturated(body, place, v, dtype)
        return Number(body.converted(v, dtype, place), dtype)
    parts = _CUDA_CONVERSION.fullmatch(name)
    if parts and len(args) == 1:
        return _cuda_conversion(body, place, parts, args[0])
    parts = _BITS.fullmatch(name)
    found = _NAMES.get(parts["opencl"] or parts["cuda"]) if parts else None
    if found is None or len(args) != 1:
        return UNKNOWN
    v = _int_of_truth(body, place, body.number(args[0]))
    if parts["given"]:
        v = Number(
            body.converted(v, _NAMES[parts["given"]], place), _NAMES[parts["given"]], v.value
        )
    if np.dtype(v.dtype).itemsize != np.dtype(found).itemsize or is_complex(v.dtype):
        raise body.error(
            place, f"{name} reads the bits of a number of its size; got {v.dtype}", "cast it first"
        )
    return as_bits(body, place, v, found)


def _cuda_conversion(body, place, parts, e):
    """``__float2int_rn(x)`` and its like: rounded as it says, and to the nearest number that there is."""
    given, dtype = _NAMES[parts["given"]], _NAMES[parts["type"]]
    v = body.number(e)
    v = Number(body.converted(v, given, place), given)
    if is_float(dtype):
        return Number(body.converted(v, dtype, place), dtype) if parts["round"] == "rn" else UNKNOWN
    v = Number(body.call_known(_ROUNDING[parts["round"]], [v.node], place), given)
    return Number(body.converted(_saturated(body, place, v, dtype), dtype, place), dtype)


def as_bits(body, place, v, dtype):
    """The bits of a Number as one of another dtype of its size."""
    kept = body.fresh("bits")
    body.assign(kept, body.call_known(getattr(np, v.dtype), [v.node], place), place)
    view = ast.Attribute(value=body.read(kept, place), attr="view", ctx=ast.Load())
    call = ast.Call(func=view, args=[known_value(getattr(np, dtype), place)], keywords=[])
    return Number(at(call, place), dtype)


def _int_of_truth(body, place, v):
    """C's comparisons are of type int."""
    return Number(body.converted(v, "int32", place), "int32") if v.dtype == "bool" else v


def _saturated(body, place, v, dtype):
    """The number, or the nearest one that the integer dtype has."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if not is_float(v.dtype):
        info = np.iinfo(v.dtype)
        low, high = max(low, info.min), min(high, info.max)
        bounds = [body.constant(k, v.dtype, place).node for k in (low, high)]
        node = body.call_known(np.maximum, [v.node, bounds[0]], place)
        return Number(body.call_known(np.minimum, [node, bounds[1]], place), v.dtype)
    wide = Number(body.converted(v, "float64", place), "float64")
    kept = body.fresh("wide")
    body.assign(kept, wide.node, place)
    x = Number(body.read(kept, place), "float64")
    inside = body.converted(x, dtype, place)
    for bound, op in ((high, ">="), (low, "<=")):
        test = arithmetic.combined(
            body, op, x, body.constant(float(bound), "float64", place), place
        )
        limit = body.constant(bound, dtype, place).node
        inside = at(ast.IfExp(test=test.node, body=limit, orelse=inside), place)
    is_nan = arithmetic.combined(body, "!=", x, x, place)
    zero = body.constant(0, dtype, place).node
    return Number(at(ast.IfExp(test=is_nan.node, body=zero, orelse=inside), place), dtype)


def _opencl_index(body, place, name, args):
    axis = body.number(args[0]).value if len(args) == 1 else None
    if axis not in (0, 1, 2):
        raise body.error(place, f"{name} takes 0, 1 or 2", "write a constant axis")
    made = body.query(_OPENCL_INDICES[name], int(axis), place)
    wide = body.call_known(np.uint64, [made.plain], place)
    return made._replace(node=wide, dtype="uint64")


def _atomic(body, place, name, args, is_used):
    word = _ATOMICS[name]
    counts = name in ("atomic_inc", "atomic_dec", "atom_inc", "atom_dec")
    wanted = 3 if word == "cas" else 1 if counts else 2
    if len(args) != wanted:
        raise body.error(place, f"{name} takes {wanted} arguments; got {len(args)}", "give as many")
    p = body.pointer(args[0])
    if p.is_const:
        raise body.error(place, f"{name}: '{p.array}' is const", "leave const out")
    if p.stored and itemsize(p.stored) != itemsize(p.dtype):
        raise body.error(
            place,
            f"{name} of {p.dtype} in memory of {p.stored}",
            "declare the memory with its type",
        )
    values = [body.constant(1, p.dtype, place)] if counts else [body.number(a) for a in args[1:]]
    nodes = [body.converted(v, p.dtype, place) for v in values]
    given = [body.read(p.array, place), body.offset(p, place), *nodes]
    if p.stored:
        call = body.call_known(atomic_bits.function(word, p.stored, p.dtype), given, place)
    else:
        call = ast.Call(func=Known(id=f"atomic.{word}", ctx=ast.Load()), args=given, keywords=[])
    if not is_used:
        body.emit(ast.Expr(value=call), place)
        return None
    kept = body.fresh("before")
    body.assign(kept, call, place)
    return Number(body.read(kept, place), p.dtype)


def _special(body, place, name, args, values):
    """A call of ``erf``, ``tgamma`` and their like, computed in float64, or UNKNOWN."""
    from ..._jit.kernel_floats import of_cuda

    is_single = name not in of_cuda and name[-1:] == "f"
    function = of_cuda.get(name[:-1] if is_single else name)
    if function is None:
        return UNKNOWN
    wanted = 2 if name.startswith("remainder") else 1
    if len(values) != wanted:
        raise body.error(
            place, f"{name} takes {wanted} arguments; got {len(values)}", "give as many"
        )
    numbers = [body.number(a) for a in args]
    is_single = is_single or all(v.dtype in ("float32", "float16") for v in numbers)
    nodes = [body.converted(v, "float64", place) for v in numbers]
    made = Number(body.call_known(function, nodes, place), "float64")
    return Number(body.converted(made, "float32", place), "float32") if is_single else made


def _function(body, place, name, args):
    if name == "__ldg" and len(args) == 1:
        return body.load(body.pointer(args[0]), place)
    values = [body.evaluate(a) for a in args]
    if all(isinstance(v, Number) for v in values):
        made = complex_words.call(body, place, name, values)
        if made is not complex_words.UNKNOWN:
            return made
    made = _special(body, place, name, args, values)
    if made is not UNKNOWN:
        return made
    plain = _FAST.get(name) or name.removeprefix("native_").removeprefix("half_")
    is_single = (
        plain not in _MATH and plain[-1:] == "f" and plain[:-1] in (*_MATH, "rsqrt", "round")
    )
    plain = plain[:-1] if is_single else plain
    is_single = is_single or name in _FAST
    known = {
        "min": 2,
        "max": 2,
        "abs": 1,
        "labs": 1,
        "llabs": 1,
        "rsqrt": 1,
        "clamp": 3,
        "mad": 3,
        "mad24": 3,
        "fma": 3,
        "fmaf": 3,
        "__fmaf_rn": 3,
        "__fma_rn": 3,
        "isnan": 1,
    }
    known |= {"isinf": 1, "isfinite": 1, "mul24": 2, "__mul24": 2, "saturate": 1, "__saturatef": 1}
    known |= {"__fdividef": 2, "fdividef": 2, "signbit": 1, "round": 1}
    if plain in _MATH:
        two = ("pow", "powr", "atan2", "fmod", "hypot", "fmax", "fmin", "copysign", "nextafter")
        known[plain] = 2 if plain in two else 1
    if plain not in known:
        return UNKNOWN
    for a, v in zip(args, values, strict=True):
        if not isinstance(v, Number):
            body.number(a)  # says what is wrong
    if len(values) != known[plain]:
        raise body.error(
            place, f"{name} takes {known[plain]} arguments; got {len(values)}", "give as many"
        )
    dtype = values[0].dtype
    for v in values[1:]:
        dtype = common(dtype, v.dtype)
    if is_complex(dtype):
        raise body.error(place, f"{name} takes no complex numbers", "take their parts or abs(z)")
    dtype = promoted(dtype)
    if plain in _MATH or plain in (
        "rsqrt",
        "fma",
        "fmaf",
        "__fmaf_rn",
        "__fma_rn",
        "__fdividef",
        "fdividef",
        "round",
        "isnan",
        "isinf",
        "isfinite",
    ):
        is_single = is_single or name in ("fmaf", "__fmaf_rn") or name.startswith("__fd")
        dtype = "float32" if is_single else dtype if is_float(dtype) else "float64"
        if name == "__fma_rn":
            dtype = "float64"
    nodes = [body.converted(v, dtype, place) for v in values]
    if plain in _MATH:
        return Number(body.call_known(getattr(np, _MATH[plain]), nodes, place), dtype)
    if plain in ("min", "max") and is_float(dtype):
        made = np.fmin if plain == "min" else np.fmax
        return Number(body.call_known(made, nodes, place), dtype)
    if plain in ("min", "max"):
        made = np.minimum if plain == "min" else np.maximum
        return Number(body.call_known(made, nodes, place), dtype)
    if plain in ("abs", "labs", "llabs"):
        return Number(body.call_known(np.abs, nodes, place), dtype)
    if plain in ("isnan", "isinf", "isfinite", "signbit"):
        return Number(body.call_known(getattr(np, plain), nodes, place), "bool")
    if plain == "rsqrt":
        one, root = body.constant(1, dtype, place), body.call_known(np.sqrt, nodes, place)
        return arithmetic.combined(body, "/", one, Number(root, dtype), place)
    if plain in ("__fdividef", "fdividef", "mul24", "__mul24"):
        a, b = (Number(n, dtype) for n in nodes)
        return arithmetic.combined(body, "*" if "mul" in plain else "/", a, b, place)
    if plain == "clamp":
        low = body.call_known(np.maximum, nodes[:2], place)
        return Number(body.call_known(np.minimum, [low, nodes[2]], place), dtype)
    if plain == "round":  # halves away from zero
        size = body.fresh("size")
        body.assign(size, body.call_known(np.abs, nodes, place), place)
        whole = body.fresh("whole")
        body.assign(whole, body.call_known(np.trunc, [body.read(size, place)], place), place)
        kept, down = Number(body.read(size, place), dtype), Number(body.read(whole, place), dtype)
        half = body.constant(0.5, dtype, place)
        is_up = arithmetic.combined(
            body, ">=", arithmetic.combined(body, "-", kept, down, place), half, place
        )
        up = arithmetic.combined(
            body, "+", down, Number(body.converted(is_up, dtype, place), dtype), place
        )
        return Number(body.call_known(np.copysign, [up.node, nodes[0]], place), dtype)
    if plain in ("fma", "fmaf", "__fmaf_rn", "__fma_rn"):
        call = ast.Call(func=Known(id="un.fma", ctx=ast.Load()), args=nodes, keywords=[])
        return Number(at(call, place), dtype)
    if plain in ("mad", "mad24"):
        a, b, c = (Number(n, dtype) for n in nodes)
        return arithmetic.combined(body, "+", arithmetic.combined(body, "*", a, b, place), c, place)
    if plain in ("saturate", "__saturatef"):
        zero, one = body.constant(0, dtype, place).node, body.constant(1, dtype, place).node
        low = body.call_known(np.fmax, [nodes[0], zero], place)
        return Number(body.call_known(np.fmin, [low, one], place), dtype)
    return UNKNOWN
