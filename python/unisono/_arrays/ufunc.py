"""What elementwise functions do beyond a plain call: where=, dtype=, reduce, accumulate, outer, at, reduceat.

The type itself (bindings/functions/ufunc.cpp) records calls with plain arguments; it comes here for everything else.
"""

import operator

import unisono as un

from .. import _engine, exceptions
from .axes import as_array, as_array_beside, as_array_within

_no_value = object()
_options = ("out", "where", "dtype", "casting", "order", "subok", "signature", "sig")

# Identities of reductions, as NumPy has them; None: nothing to start from.
_identities = {
    "add": 0, "multiply": 1, "logical_and": True, "logical_or": False, "logical_xor": False, "bitwise_and": -1,
    "bitwise_or": 0, "bitwise_xor": 0, "logaddexp": -un.inf, "logaddexp2": -un.inf, "hypot": 0, "gcd": 0,
}  # fmt: skip
# Functions whose reductions may combine neighbours first.
_associative = set(_identities) | {"maximum", "minimum", "fmax", "fmin", "lcm"}
# Those that the engine reduces itself, in the order of docs/numbers.md.
_engine_reduces = {"add", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"}  # fmt: skip
_chars = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "l",
    "uint64": "L", "float16": "e", "float32": "f", "float64": "d", "complex64": "F", "complex128": "D",
}  # fmt: skip


def is_python_number(x, kinds=(bool, int, float, complex)):
    """Whether `x` is a number without a dtype, which takes that of the arrays beside it."""
    return isinstance(x, kinds) and not hasattr(x, "dtype")


def resolve(dtype):
    """Dtype object of anything that names one."""
    return un.dtype(dtype)


def promoted(a, b):
    """Dtype that holds both."""
    return un.promote_types(a, b)


def can_cast(source, target, casting):
    """Whether a cast between dtypes follows the rule."""
    return un.can_cast(source, target, casting)


def broadcast_shapes(*shapes):
    """Shape that arrays of those shapes broadcast to."""
    made = []
    for k in range(max(map(len, shapes), default=0), 0, -1):
        extents = {s[-k] for s in shapes if len(s) >= k} - {1}
        if len(extents) > 1:
            text = " ".join(str(tuple(s)) for s in shapes)
            raise ValueError(f"operands could not be broadcast together with shapes {text}")
        made.append(extents.pop() if extents else 1)
    return tuple(made)


def move_axis(x, source, to):
    """View of `x` with one axis elsewhere."""
    axes = [k for k in range(x.ndim) if k != source]
    axes.insert(to, source)
    return x.transpose(axes)


# Calls.


def call(self, /, *args, **options):
    """Call with positional or keyword outputs and NumPy's options."""
    name = self.__name__
    for key in options:
        if key not in _options:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
    if not self.nin <= len(args) <= self.nin + self.nout:
        raise TypeError(
            f"{name}: takes from {self.nin} to {self.nin + self.nout} positional arguments; got {len(args)}"
        )
    inputs, outputs = args[: self.nin], args[self.nin :]
    out = _outputs(self, outputs, options)
    where = options.get("where", True)
    casting = options.get("casting", "same_kind")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(
            f"{name}: casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'; got {casting!r}"
        )
    dtype = _wanted(self, options)
    if dtype is not None:
        inputs = _convert(self, inputs, dtype, casting)
    plain = where is True and len(out) == 1 and isinstance(out[0], _engine._Array)
    if plain and casting == "same_kind" and self._op >= 0:
        return self(*inputs, out=out[0])
    if where is not True:
        where = _mask(name, where, *inputs)
        if any(o is None for o in out):
            inputs = [as_array_beside(x, *inputs) for x in inputs]
    results = self(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    made = tuple(
        _deliver(name, r, o, where, casting, options.get("order"))
        for r, o in zip(results, out, strict=True)
    )
    if options.get("out") is Ellipsis:  # arrays, also without axes
        made = tuple(map(un.asarray, made))
    return made[0] if self.nout == 1 else made


def _outputs(self, positional, options):
    """One target or None for each result."""
    out = options.get("out")
    if positional and out is not None:
        raise TypeError(
            f"{self.__name__}: cannot specify 'out' as both a positional and keyword argument"
        )
    if positional:
        out = positional + (None,) * (self.nout - len(positional))
    elif out is None or out is Ellipsis:
        out = (None,) * self.nout
    elif not isinstance(out, tuple):
        out = (out,)
    if len(out) != self.nout:
        raise ValueError(
            f"{self.__name__}: the 'out' tuple must have exactly one entry per ufunc output; got {len(out)}, "
            f"expected {self.nout}"
        )
    for o in out:
        if o is not None and not (
            isinstance(o, _engine._Array) or hasattr(o, "__array_interface__")
        ):
            raise TypeError(f"{self.__name__}: out= must be an array; got {type(o).__name__}")
    return out


def _check_type_string(self, text):
    """Raise if the text does not name a dtype for each operand and result, as in ``dd->d``."""
    if len(text) == 1 and "->" not in text:
        raise TypeError(f"{self.__name__}: signature of one dtype '{text}'; use dtype='{text}'")
    parts = text.split("->")
    if [len(p) for p in parts] != [self.nin, self.nout]:
        raise ValueError(
            f"{self.__name__}: signature must have {self.nin} dtypes before and {self.nout} behind '->'; "
            f"got '{text}'"
        )


def _wanted(self, options):
    dtype = options.get("dtype")
    signature = options.get("signature", options.get("sig"))
    if signature is not None:
        if dtype is not None:
            raise TypeError(f"{self.__name__}: cannot specify both 'signature' and 'dtype'")
        if "signature" in options and "sig" in options:
            raise TypeError(f"{self.__name__}: cannot specify both 'sig' and 'signature'")
        if isinstance(signature, bytes):
            signature = signature.decode("ascii")
        if not isinstance(signature, (str, tuple)):
            raise TypeError(
                f"{self.__name__}: signature must be a string or a tuple; got {type(signature).__name__}"
            )
        if isinstance(signature, str):
            _check_type_string(self, signature)
            return resolve(signature[-1])
        if len(signature) == 1 and self.nin + self.nout > 1:
            raise TypeError(
                f"{self.__name__}: signature: a tuple of one dtype; use dtype=, or name operands and results"
            )
        if len(signature) != self.nin + self.nout:
            raise ValueError(
                f"{self.__name__}: signature must have {self.nin + self.nout} entries; got {len(signature)}"
            )
        named = [s for s in signature if s is not None]
        if len({str(resolve(s)) for s in named}) > 1:
            raise TypeError(
                f"{self.__name__}: a signature of several dtypes is not supported; use dtype="
            )
        return resolve(named[-1]) if named else None
    return None if dtype is None else resolve(dtype)


def _convert(self, inputs, dtype, casting):
    """Inputs in the dtype whose loop gives results of `dtype`."""
    loop = self._loop(dtype) if self._op >= 0 else (dtype, dtype)
    if self.__name__ in ("floor", "ceil", "trunc") and dtype.kind in "iu":
        loop = dtype, dtype
    results = {t.split("->")[1][0] for t in types(self)}
    if results == {"?"}:  # comparisons and the like, whatever the operands
        loop = None if dtype != "bool" else loop
    elif self._op < 0 and _chars[dtype.name] not in results:
        loop = None
    if loop is None:
        raise TypeError(
            f"{self.__name__}: no loop gives dtype {dtype}; cast the result with .astype"
        )
    if self.__name__ == "bitwise_count" and dtype == "uint8":
        return inputs
    if results == {"?"}:
        return inputs
    if loop[1] != dtype:
        raise TypeError(
            f"{self.__name__}: no loop gives dtype {dtype}; cast the result with .astype"
        )
    made = []
    for k, x in enumerate(inputs):
        if self.__name__ == "ldexp" and k == 1:
            made.append(x)  # the exponents stay integers
            continue
        if is_python_number(x, (bool, int)) or (
            is_python_number(x, (float, complex))
            and (
                casting == "unsafe"
                or dtype.kind == "c"
                or (dtype.kind == "f" and isinstance(x, float))
            )
        ):
            made.append(un.full((), x, dtype, device=_device(inputs)))
            continue
        x = as_array_beside(x, *inputs)
        if not un.can_cast(x.dtype, loop[0], casting):
            raise TypeError(
                f"Cannot cast ufunc '{self.__name__}' input from {x.dtype} to {loop[0]} with casting rule '{casting}'"
            )
        made.append(x.astype(loop[0], copy=False))
    return made


def _device(inputs):
    """The device of the first array among the operands, None where there is none."""
    return next((x.device for x in inputs if hasattr(x, "device")), None)


def _mask(name, where, *others):
    mask = as_array_beside(where, *others)
    if not hasattr(where, "dtype"):  # lists and numbers are taken by their truth
        mask = mask.astype("bool", copy=False)
    if mask.dtype != "bool":
        raise TypeError(
            f"{name}: Cannot cast array data from {mask.dtype} to bool according to the rule 'safe'; where= takes bools"
        )
    return mask


def check_mask(name, mask, shape):
    """A mask may be repeated along axes of the array, never the array along those of the mask."""
    if broadcast_shapes(mask.shape, shape) != tuple(shape):
        raise ValueError(
            f"{name}: a mask must broadcast to the shape of the array; got {tuple(mask.shape)} "
            f"and {tuple(shape)}"
        )


def _deliver(name, result, out, where, casting, order):
    """Return the result, or write it into its target."""
    if out is None:
        if where is not True:
            shape = broadcast_shapes(result.shape, where.shape)
            result = un.where(where, result, un.zeros(shape, result.dtype, device=result.device))
        if order == "F" and result.ndim > 1:
            return result.T.copy().T
        return result
    if not un.can_cast(result.dtype, resolve(out.dtype), casting):
        raise TypeError(
            f"{name}: cannot cast the result from {result.dtype} to {out.dtype} in place (casting rule '{casting}')"
        )
    target = out
    if not isinstance(out, _engine._Array):  # an array of the host, whatever device is chosen
        target = _engine._array(out, None, "cpu", None)
        result = result.to_device("cpu")
        where = where if where is True else where.to_device("cpu")
    shape = result.shape if where is True else broadcast_shapes(result.shape, where.shape)
    if broadcast_shapes(shape, target.shape) != tuple(target.shape):
        raise ValueError(
            f"{name}: non-broadcastable output; got an output of shape {target.shape}, expected {shape}"
        )
    if where is not True:
        result = un.where(where, result.astype(target.dtype, copy=False), target)
    target[...] = result.astype(target.dtype, copy=False)
    _write_back(target, out)
    return out


def _write_back(made, given):
    """Write to NumPy's array what was made of it elsewhere, as of elements in the other byte order."""
    if isinstance(given, _engine._Array) or made.size == 0:
        return
    memory = getattr(given, "__array_interface__", None)
    if memory and memory["data"][0] != made.__array_interface__["data"][0]:
        given[...] = made.to_numpy()


# Methods.


def _target(self, out):
    """The array of ``out=`` of a method, or None; Ellipsis asks for an array where a value would be given."""
    if out is None:
        return None
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(
                f"{self.__name__}: the 'out' tuple must have exactly one entry; got {len(out)}"
            )
        (out,) = out
    return None if out is Ellipsis else _outputs(self, (), {"out": out})[0]


def _axes(name, axis, ndim):
    """Non-negative axes as a sorted tuple; None: all."""
    if axis is None:
        return tuple(range(ndim))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    made = []
    for a in axes:
        a = operator.index(a)
        if not -ndim <= a < ndim:
            raise exceptions.AxisError(
                f"{name}: axis {a} is out of bounds for array of dimension {ndim}"
            )
        made.append(a % ndim)
    if len(set(made)) != len(made):
        raise ValueError(f"{name}: duplicate value in 'axis'")
    return tuple(sorted(made))


def _check_binary(self, what):
    if self.nin != 2:
        raise ValueError(
            f"{what} only supported for binary functions; {self.__name__} takes {self.nin}"
        )
    if self.nout != 1:
        raise ValueError(f"{what} only supported for functions returning a single value")


def reduce(
    self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_no_value, where=True
):
    """Combine the elements along axes; see NumPy's ``ufunc.reduce``."""
    _check_binary(self, "reduce")
    name = self.__name__
    if _engine._is_of_numpys(array):
        options = {"dtype": dtype, "out": out, "keepdims": keepdims, "where": where}
        options |= {} if initial is _no_value else {"initial": initial}
        return _by_numpy(f"{name}.reduce", array, axis, **options)
    x = as_array(array)
    as_value, out = out is not Ellipsis, _target(self, out)
    if axis is not None and x.ndim == 0 and axis in (0, -1, ()):
        axes = ()
    else:
        axes = _axes(f"{name}.reduce", axis, x.ndim)
    if len(axes) > 1 and name not in _associative:
        raise ValueError(
            f"{name}.reduce: reduction operation is not reorderable, so at most one axis may be specified"
        )
    if dtype is None and out is not None and name in ("add", "multiply"):
        dtype = resolve(out.dtype.newbyteorder("="))
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    given = initial is not _no_value and initial is not None
    if initial is None and any(x.shape[k] == 0 for k in axes):
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    ordered = name not in _associative and (given or where is not True)
    if where is not True and not ordered:
        x = _masked(self, x, where, initial)
    if ordered:
        if not given:
            _masked(self, x, where, initial)  # says that initial= is needed
        result = _fold(self, x, axes, dtype, initial, where)
    elif given and any(x.shape[k] == 0 for k in axes):
        rest = tuple(n for k, n in enumerate(x.shape) if k not in axes)
        if name in _identities:
            made = _combine(self, x, axes, dtype).dtype
        else:
            made = x.dtype if dtype is None else resolve(dtype)
        result = un.full(rest, initial, made, device=x.device)
    else:
        if given and name == "multiply":
            from .._numpy.statistics import started

            x = started(x, initial, dtype)
        result = _combine(self, x, axes, dtype)
        if given:
            result = self(as_array_within(initial, result), result)
    if keepdims:
        result = result.reshape(kept)
    if out is None:
        return result if as_value else un.asarray(result)
    if tuple(out.shape) != tuple(result.shape):
        raise ValueError(
            f"{name}.reduce: out= has another shape; got {tuple(out.shape)}, expected {tuple(result.shape)}"
        )
    return _deliver(name, result, out, True, "same_kind", None)


def _masked(self, x, where, initial):
    """Elements that do not take part replaced by what changes nothing."""
    start = _identities.get(self.__name__)
    given = initial is not _no_value and initial is not None
    if start is None:
        if not given:
            raise ValueError(
                f"reduction operation '{self.__name__}' does not have an identity, so to use a where mask one has "
                "to specify 'initial'"
            )
        start = initial
    elif self.__name__ == "add" and x.dtype.kind == "f" and given:
        start = -0.0  # keeps the sign of an initial -0.0
    mask = _mask(self.__name__, where, x)
    check_mask(self.__name__, mask, x.shape)
    if self.__name__ in ("hypot", "logaddexp", "logaddexp2"):
        x = x.astype(_dtype_of_loop(self, x.dtype), copy=False)
    if self.__name__.startswith("logical"):
        return un.where(mask, x.astype("bool"), start)
    return un.where(mask, x, un.full((), start, device=x.device).astype(x.dtype))


def _dtype_of_loop(self, dtype):
    """The dtype of what the function makes of two operands of that dtype, which reductions go on with."""
    made = self(un.empty(0, dtype), un.empty(0, dtype)).dtype
    if made == "bool" and dtype != "bool" and not self.__name__.startswith("logical"):
        raise TypeError(
            f"{self.__name__}: its results are bools, which cannot be combined with the next {dtype}; "
            "convert with .astype('bool') first"
        )
    return made


def _fold(self, x, axes, dtype, initial, where):
    """Combine one element after the other, those under the mask, with what has come of `initial`."""
    if dtype is not None:
        x = x.astype(resolve(dtype), copy=False)
    made = un.full((), initial, _dtype_of_loop(self, x.dtype), device=x.device)
    mask = None if where is True else un.broadcast_to(_mask(self.__name__, where, x), x.shape)
    if axes:
        x = move_axis(x, axes[0], 0)
        mask = None if mask is None else move_axis(mask, axes[0], 0)
    else:
        x, mask = x[None], None if mask is None else mask[None]
    made = un.broadcast_to(made, x.shape[1:]).copy()
    for k in range(x.shape[0]):
        step = self(made, x[k])
        made = step if mask is None else un.where(mask[k], step, made)
    return made


def _combine(self, x, axes, dtype):
    name = self.__name__
    target = None if dtype is None else resolve(dtype)
    if name in ("logical_and", "logical_or"):
        done = (un.all if name == "logical_and" else un.any)(x, axis=axes)
        return done if target is None else done.astype(target)
    empty = any(x.shape[a] == 0 for a in axes)
    if (
        name in ("fmax", "fmin")
        and x.dtype.kind != "c"
        and not empty
        and isinstance(x, _engine._Array)
    ):
        return self._reduce(x, axes, False, target)
    if name in _engine_reduces and not (empty and name in ("maximum", "minimum")):
        if name == "add":
            return x.sum(axes, target)
        if name == "multiply":
            return x.prod(axes, target)
        return self._reduce(x, axes, False, target)
    if target is not None:
        x = x.astype(target, copy=False)
    if not axes:
        return x.astype(_dtype_of_loop(self, x.dtype))
    for a in reversed(axes):
        x = _along(self, x, a)
    return x


def _along(self, x, axis):
    """Reduce one axis: by halves where the order is free, else element after element."""
    name = self.__name__
    x = move_axis(x, axis, 0)
    dtype = _dtype_of_loop(self, x.dtype)
    if x.shape[0] == 0:
        start = _identities.get(name)
        if start is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        return un.full(x.shape[1:], start, dtype, device=x.device)
    if x.shape[0] == 1:
        return (abs(x[0]) if name in ("hypot", "gcd") else x[0]).astype(dtype)  # with 0
    if name in _associative:
        while x.shape[0] > 1:
            half = x.shape[0] // 2
            combined = self(x[0 : 2 * half : 2], x[1 : 2 * half : 2])
            if x.shape[0] % 2:
                combined[-1] = self(combined[-1], x[-1])
            x = combined
        return x[0]
    result = x[0].copy()
    for k in range(1, x.shape[0]):
        result = self(result, x[k])
    return result


def accumulate(self, array, axis=0, dtype=None, out=None):
    """Running combination along an axis; see NumPy's ``ufunc.accumulate``."""
    _check_binary(self, "accumulate")
    if _engine._is_of_numpys(array):
        return _by_numpy(f"{self.__name__}.accumulate", array, axis, dtype, out)
    x = as_array(array)
    if x.ndim == 0:
        raise TypeError(f"{self.__name__}.accumulate: cannot accumulate on a scalar")
    (axis,) = _axes(f"{self.__name__}.accumulate", axis, x.ndim)
    out = _target(self, out)
    if dtype is None and out is not None:
        dtype = resolve(out.dtype.newbyteorder("="))
    result = _scan(self, x, axis, None if dtype is None else resolve(dtype))
    return result if out is None else _deliver(self.__name__, result, out, True, "same_kind", None)


def _by_numpy(name, *args, **options):
    from .exchange.numpys_elements import by_numpy

    return by_numpy(name, *args, **options)


def _scan(self, x, axis, dtype):
    name = self.__name__
    if dtype is not None and dtype == "bool" and name in ("add", "multiply"):
        self = un.bitwise_or if name == "add" else un.bitwise_and
        return _scan(self, x.astype("bool", copy=False), axis, None)
    if name in _engine_reduces and isinstance(x, _engine._Array):
        return _engine._scan(name, x, axis, dtype)
    if name in ("add", "multiply"):
        dtype = un.empty(0, x.dtype).sum().dtype if dtype is None else dtype
    if dtype is not None:
        x = x.astype(dtype, copy=False)
    x = move_axis(x, axis, 0)
    n = x.shape[0]
    made = un.empty(x.shape, _dtype_of_loop(self, x.dtype), device=x.device)
    made[:1] = x[:1]
    exact = name in ("maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor",
                     "logical_and", "logical_or", "logical_xor", "gcd", "lcm")  # fmt: skip
    if exact and n > 2:  # doubling steps: any order gives the same
        made[...] = x
        step = 1
        while step < n:
            made[step:] = self(made[:-step], made[step:])
            step *= 2
    else:
        for k in range(1, n):
            made[k] = self(made[k - 1], x[k])
    return move_axis(made, 0, axis)


def outer(self, A, B, /, **options):
    """Apply the function to all pairs of elements; see NumPy's ``ufunc.outer``."""
    _check_binary(self, "outer product")
    a, b = as_array_beside(A, B), as_array_beside(B, A)
    return self(a.reshape(tuple(a.shape) + (1,) * b.ndim), b, **options)


def at(self, a, indices, b=None, /):
    """Write through indices, repeated ones once each; see NumPy's ``ufunc.at``."""
    if self.nout != 1:
        raise ValueError("Only single output ufuncs supported at this time")
    if (b is None) != (self.nin == 1):
        raise ValueError(
            f"{self.__name__}.at: "
            + ("second operand needed for ufunc" if self.nin == 2 else "takes no operand b")
        )
    target = as_array(a)
    where = _positions(target, indices)
    if b is not None:
        b = as_array_beside(b, target)
        b = (b if b.shape == where.shape else un.broadcast_to(b, where.shape)).reshape(-1)
    is_packed = target.flags.c_contiguous
    shares = is_packed and (target.ndim == 1 or target.mesh is None)
    flat = target.reshape(-1)
    if not is_packed and not flat.flags.c_contiguous:
        flat = flat.copy()
    where = where.reshape(-1)
    if b is not None and _engine._combine_at(self.__name__, flat, where, b):
        rounds = []
    else:
        rounds = _rounds(where)
    for positions, chosen in rounds:
        now = flat[positions]
        made = self(now) if b is None else self(now, b[chosen])
        flat[positions] = (made.real if target.dtype.kind != "c" else made).astype(target.dtype)
    if not shares:
        target[...] = flat.reshape(target.shape)
    _write_back(target, a)


def _positions(target, indices):
    """Places in the flattened array that indices choose."""
    given = indices if isinstance(indices, tuple) else (indices,)
    if len(given) == target.ndim and target.mesh is None:
        flat = _flat_positions(target, given)
        if flat is not None:
            return flat
    return un.arange(target.size, device=target.device).reshape(target.shape)[indices]


def _flat_positions(target, indices):
    """As above, of an index array for each axis, without a look at the target; None where that does not hold."""
    made = None
    for n, index in zip(target.shape, indices, strict=True):
        if not hasattr(index, "dtype") or index.dtype.kind not in "iu" or not index.size:
            return None
        index = as_array_beside(index, target).astype("int64", copy=False)
        lowest = int(index.min())
        if lowest < -n or int(index.max()) >= n:
            return None  # which indexing refuses
        if lowest < 0:
            index = un.where(index < 0, index + n, index)
        made = index if made is None else made * n + index
    return made


def _rounds(positions):
    """Positions in turns without repetition, those of one place in their order."""
    order = un.argsort(positions, stable=True)
    ordered = positions[order]
    n = ordered.size
    if n < 2:
        return [(positions, slice(None))]
    new = un.ones(n, "bool", device=ordered.device)
    new[1:] = ordered[1:] != ordered[:-1]
    places = un.arange(n, device=ordered.device)
    begins = un.maximum.accumulate(un.where(new, places, 0))
    turn = places - begins
    last = turn.max().item()
    if last == 0:
        return [(positions, slice(None))]
    made = []
    for k in range(last + 1):
        chosen = order[turn == k]
        made.append((positions[chosen], chosen))
    return made


def reduceat(self, array, indices, axis=0, dtype=None, out=None):
    """Reduce slices that begin at `indices`; see NumPy's ``ufunc.reduceat``."""
    _check_binary(self, "reduceat")
    x, out = as_array(array), _target(self, out)
    if x.ndim == 0:
        raise TypeError(f"{self.__name__}.reduceat: cannot reduceat on a scalar")
    (axis,) = _axes(f"{self.__name__}.reduceat", axis, x.ndim)
    indices = as_array_beside(indices, x)
    n = x.shape[axis]
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < n:
        wrong = next(k for k in indices.tolist() if not 0 <= k < n)
        raise IndexError(f"index {wrong} out-of-bounds in {self.__name__}.reduceat [0, {n})")
    name = self.__name__
    dtype = None if dtype is None else resolve(dtype)
    here = isinstance(x, _engine._Array)
    whole = name[:3] != "bit" or (x.dtype.kind in "biu" and dtype is None)
    if name in _engine_reduces and here and whole and x.ndim == indices.ndim == 1 and out is None:
        return _engine._reduce_segments(name, x, indices.astype("int64", copy=False), dtype)
    begins = indices.tolist()
    x = move_axis(x, axis, 0)
    ends = [*begins[1:], n] if begins else []
    shape = list(x.shape[1:])
    shape.insert(axis, len(begins))
    result = un.empty(shape, reduce(self, un.ones(1, x.dtype), 0, dtype).dtype, device=x.device)
    rows = move_axis(result, axis, 0)
    of_length = {}
    for k, (first, end) in enumerate(zip(begins, ends, strict=True)):
        of_length.setdefault(max(1, end - first), []).append(k)
    for length, segments in of_length.items():
        # Together, but in no more memory than x takes.
        step = max(1, n // length)
        for chosen in (segments[k : k + step] for k in range(0, len(segments), step)):
            if len(chosen) == 1:
                (k,) = chosen
                first = begins[k]
                rows[k] = (
                    reduce(self, x[first : first + length], 0, dtype) if length > 1 else x[first]
                )
                continue
            firsts = indices[chosen]
            if length == 1:
                rows[chosen] = x[firsts]
            else:
                places = firsts[:, None] + un.arange(length, device=x.device)
                rows[chosen] = reduce(self, x[places], 1, dtype)
    return result if out is None else _deliver(name, result, out, True, "same_kind", None)


# Attributes.


def types(self):
    """Loops as NumPy spells them: one for each dtype that computes in itself."""
    made = []
    for dtype in un._dtypes._table.values():
        char = _chars[dtype.name]
        if self._op >= 0:
            loop = self._loop(dtype)
            if loop is None or loop[0] != dtype:
                continue
            results = _chars[loop[1].name]
        else:
            try:
                got = self(*[un.ones((), dtype)] * self.nin)
            except (TypeError, ValueError):
                continue
            got = got if isinstance(got, tuple) else (got,)
            results = "".join(_chars[g.dtype.name] for g in got)
        made.append(char * self.nin + "->" + results)
    return made


def identity(self):
    """Start of reductions."""
    return _identities.get(self.__name__)


def resolve_dtypes(self, dtypes, **options):
    """Dtypes of operands and results of the loop that runs on operands of those dtypes."""
    if options.get("reduction"):
        if self.nin != 2 or self.nout != 1 or len(dtypes) != 3 or dtypes[1] is None:
            error = TypeError if self.nin == 2 else ValueError
            raise error(
                f"{self.__name__}: resolve_dtypes: a reduction has two operands and one result; "
                f"got dtypes {tuple(dtypes)}"
            )
        return (self.reduce(un.ones(1, resolve(dtypes[1]))).dtype,) * 3
    if len(dtypes) not in (self.nin, self.nin + self.nout):
        raise TypeError(
            f"{self.__name__}: resolve_dtypes: expected {self.nin + self.nout} dtypes; got {len(dtypes)}"
        )
    # Python's types stand for its numbers, which take the dtype of the arrays beside them.
    given = [d(1) if d in (int, float, complex) else resolve(d) for d in dtypes[: self.nin]]
    common = un.result_type(*given)
    loop = self._loop(common)
    if loop is None:
        raise TypeError(f"{self.__name__}: not defined for dtype {common}")
    return (loop[0],) * self.nin + (loop[1],) * self.nout


def _parameters(self):
    """Names of the operands, and the default of ``out=``."""
    names = "x" if self.nin == 1 else ", ".join(f"x{k + 1}" for k in range(self.nin))
    return names, "None" if self.nout == 1 else f"({', '.join(['None'] * self.nout)})"


def python_signature(self):
    """What `inspect.signature` gives."""
    from inspect import Parameter, Signature

    names, _ = _parameters(self)
    options = {
        "where": True,
        "casting": "same_kind",
        "order": "K",
        "dtype": None,
        "subok": True,
        "signature": None,
    }
    return Signature(
        [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names.split(", ")]
        + [
            Parameter(
                "out",
                Parameter.POSITIONAL_OR_KEYWORD,
                default=None if self.nout == 1 else (None,) * self.nout,
            )
        ]
        + [Parameter(k, Parameter.KEYWORD_ONLY, default=v) for k, v in options.items()]
    )


def doc(self):
    """Docstring: the signature, dtypes, and an example that was computed."""
    names, out = _parameters(self)
    example = _example(self)
    return (
        f"{self.__name__}({names}, /, out={out}, *, where=True, casting='same_kind', order='K', dtype=None)\n\n"
        f"Elementwise ``{self.__name__}``, as NumPy's function of that name.\n\n"
        f"Parameters\n----------\n{names} : array_like\n    Operands, which must broadcast; their dtypes convert to one of {_names_of(self)}.\n"
        "out : ndarray, optional\n    Array into which the result is written; it must have the shape of the result.\n"
        "where : array_like of bool\n    Elements to compute; the others keep the values of `out`.\n"
        "casting : str\n    Conversions to the dtype of `out` that are allowed.\n"
        "dtype : dtype, optional\n    Dtype of the computation.\n\n"
        "Returns\n-------\nndarray, or a scalar if all operands are scalars\n\n"
        "Raises\n------\nTypeError\n    If the function is not defined for a dtype, or a conversion is not allowed.\n"
        "ValueError\n    If the shapes cannot be broadcast together.\n\n"
        f"Examples\n--------\n>>> import unisono as un\n{example}\n"
    )


def _names_of(self):
    """Dtypes of the first operands of all loops."""
    letters = {letter: name for name, letter in _chars.items()}
    found = dict.fromkeys(letters[t[0]] for t in types(self) if t[0] in letters)
    return ", ".join(found)


def _example(self):
    """A call on numbers for which the function is defined, and its result."""
    for operands in ((0.5, 0.25), (6, 3)):
        text = ", ".join(map(repr, operands[: self.nin]))
        call = f"un.{self.__name__}({text})"
        try:
            made = self(*operands[: self.nin])
        except (TypeError, ValueError):
            continue
        if self.nout == 2:
            return f">>> [x.item() for x in {call}]\n{[x.item() for x in made]}"
        return f">>> {call}.item()\n{made.item()!r}"
    return f">>> un.{self.__name__}.nin\n{self.nin}"  # of dates, which there are not
