"""The memory of arrays: where elements lie, and arrays of the engine over buffers, and buffers over them."""

import operator
import warnings

import numpy as np

from ... import _engine
from ...lib.stride_tricks import as_strided as _as_strided
from .._objects.constants import mem_info, mem_object_type
from .._objects.memory import Buffer
from .._objects.svm import SVMPointer


class InconsistentOpenCLQueueWarning(UserWarning):
    """Never issued: the engine orders what queues of one device do. Defined so that filters may name it."""


_computed = frozenset(np.dtype(t) for t in "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split())


def is_computed(dtype):
    """Whether the engine computes with elements of the dtype."""
    return dtype in _computed


_known_dtypes = {}


def numpy_dtype(dtype):
    """NumPy's dtype of one of the engine's, made once."""
    found = _known_dtypes.get(dtype.name)
    if found is None:
        found = _known_dtypes[dtype.name] = np.dtype(dtype.name)
    return found


def on_queue(queue, function, *args, **options):
    """Calls a function whose statements go to a queue."""
    if queue is None or queue._queue is None:
        return function(*args, **options)
    from ..._runtime.queues import device

    with device(queue=queue._queue):
        return function(*args, **options)


def to_shape(shape):
    """A tuple of sizes; a ValueError for what is none."""
    values = shape if isinstance(shape, (tuple, list)) else (shape,)
    try:
        made = tuple(operator.index(n) for n in values)
    except TypeError:
        raise ValueError(f"Array: a shape has integers; got {shape!r}") from None
    if any(n < 0 for n in made):
        raise ValueError(f"Array: a shape has no negative sizes; got {shape!r}")
    return made


def strides_of(shape, itemsize, order):
    sizes = shape if order == "F" else shape[::-1]
    made = [itemsize]
    for n in sizes[:-1]:
        made.append(made[-1] * max(n, 1))
    made = made[: len(shape)]
    return tuple(made if order == "F" else made[::-1])


def _engine_bytes(data):
    """(array of bytes of the engine, offset) that a buffer is, or None."""
    offset = 0
    while data is not None:
        array = data.__dict__.get("_array") if hasattr(data, "__dict__") else None
        if array is not None:
            return array, offset
        whole = data.__dict__.get("_whole") if hasattr(data, "__dict__") else None
        if whole is not None:
            offset += data.offset
        data = whole
    return None


def over_buffer(context, queue, data, dtype, shape, strides, offset):
    """Array of the engine over memory that somebody else has, or None."""
    name = context._engine_name
    if name is None or not is_computed(dtype) or 0 in shape:
        return None
    own = None if isinstance(data, SVMPointer) else _engine_bytes(data)
    if own is not None:
        array, start = own
        span = dtype.itemsize + sum((n - 1) * abs(s) for n, s in zip(shape, strides, strict=True))
        if (start + offset) % dtype.itemsize or (array.ndim != 1 or array.dtype != "uint8"):
            return None
        flat = array[start + offset : start + offset + span].view(str(dtype))
        return _as_strided(flat, shape, strides)
    address = 0 if queue is None else queue.int_ptr
    if isinstance(data, SVMPointer):
        from .._objects.svm import has_capability

        if not has_capability(context.devices[0], "FINE_GRAIN_BUFFER") or data.size is None:
            return None
        memory = (0, data.svm_ptr, data.size)
    else:
        memory = (data.int_ptr, 0, 0)
    try:
        return _engine._adopt_buffer(
            name, *memory, address, data, str(dtype), shape, strides, offset
        )
    except ValueError:
        return None


def compare_queues(where, memory, queue):
    """Warns where memory is given back behind the commands of another queue than the array's."""
    bound = getattr(memory, "_queue", None)
    if queue is not None and bound is not None and bound != queue:
        warnings.warn(
            f"{where}: the memory is bound to another queue, behind whose commands it is given back; bind it to the "
            "array's queue, or wait for what uses it",
            InconsistentOpenCLQueueWarning,
            stacklevel=3,
        )


class Flags:
    """How elements lie."""

    def __init__(self, array):
        a = array
        self.c_contiguous = not a.size or _lies(a.shape, a.strides, a.dtype.itemsize, "C")
        self.f_contiguous = not a.size or _lies(a.shape, a.strides, a.dtype.itemsize, "F")
        self.forc = self.c_contiguous or self.f_contiguous


def _lies(shape, strides, itemsize, order):
    expected = strides_of(shape, itemsize, order)
    return all(n == 1 or s == e for n, s, e in zip(shape, strides, expected, strict=True))


class _Lent(Buffer):
    """The buffer of an array of the engine."""


def lent(x, address, size, context):
    """The buffer of an array, which it keeps."""
    made = _Lent.from_int_ptr(address)
    made._keeps = x
    made._known = {
        mem_info.SIZE: size,
        mem_info.CONTEXT: context,
        mem_info.TYPE: mem_object_type.BUFFER,
        mem_info.FLAGS: 1,
    }
    return made


def to_host(x):
    """A copy of an array of the engine, in the order of its memory."""
    return np.array(memoryview(x.to_device("cpu")))
