"""Structs and vectors as arguments of raw kernels: structured arrays, arrays of their numbers, and values."""

from __future__ import annotations

import numpy as np

from .._arrays.exchange.memory_pointer import MemoryPointer
from .._engine import _Array
from .translation.records import has_union

_checked = {}  # (dtype, record): whether they lie alike


def memory(kernel, d, a, device, back):
    """What is passed for a pointer to a record: the memory as a packed array of each of its dtypes."""
    record = d.record
    if isinstance(a, MemoryPointer):
        a = (a + 0)._array
    is_array = hasattr(a, "dtype") and hasattr(a, "shape") and (a.ndim or isinstance(a, _Array))
    if not is_array:
        raise TypeError(
            f"{kernel}: '{d.name}' is a pointer to '{d.base}'; got {type(a).__name__}; give an array, structured or of "
            f"its numbers"
        )
    is_structured = a.dtype.names is not None if hasattr(a.dtype, "names") else False
    if is_structured:
        same_layout(kernel, d, np.dtype(a.dtype))
    elif not _are_numbers(record, a.dtype.name):
        raise TypeError(
            f"{kernel}: '{d.name}' is a pointer to '{d.base}'; got an array of {a.dtype.name}; give a structured array of "
            f"its members, of {_numbers(record)}, or its bytes as uint8"
        )
    from .arguments import in_memory_order, is_packed

    a = in_memory_order(a)
    if not is_packed(a):
        raise ValueError(
            f"{kernel}: '{d.name}' is a pointer; got an array whose elements do not follow each other; give a copy of it"
        )
    if a.size * a.dtype.itemsize % record.size:
        raise ValueError(
            f"{kernel}: '{d.name}' points to '{d.base}' of {record.size} bytes; got {a.size * a.dtype.itemsize} bytes; "
            f"give whole ones"
        )
    return _views(record, a, is_structured, device, None if d.is_const else back)


def _views(record, a, is_structured, device, back):
    if isinstance(a, _Array) and is_structured and a.device.name != "cpu":
        flat = (a.data + 0)._array[: a.nbytes]
    elif isinstance(a, _Array) and not is_structured:
        flat = a if a.ndim == 1 else a.reshape(-1)
        if len(record.dtypes) > 1 and device != "cpu" and a.device.name == "cpu":
            flat = _copied(flat, device, back)  # once, and not as each dtype
    else:  # memory of the host
        plain = np.asarray(a).reshape(-1).view(np.uint8)
        flat = plain
        if device != "cpu":
            flat = _copied(plain, device, back)
    return [flat if flat.dtype.name == t else flat.view(t) for t in record.dtypes]


def _copied(plain, device, back):
    import unisono as un

    made = un.array(plain, device=device)
    if back is not None:
        back.append((made, plain))
    return made


def _numbers(record):
    return record.dtypes[0] if len(record.dtypes) == 1 else "no dtype alone"


def _are_numbers(record, dtype):
    """Whether arrays of a plain dtype can hold records: of their only dtype, of pairs of it, or bytes."""
    if dtype == "uint8" or (record.stored and np.dtype(dtype).itemsize == record.unit):
        return True
    known = {"float32": ("float32", "complex64"), "float64": ("float64", "complex128")}
    alone = record.dtypes[0] if len(record.dtypes) == 1 else ""
    return dtype in known.get(alone, (alone,))


def same_layout(kernel, d, dtype):
    """Checks that a structured dtype has the record's numbers where the record has them.

    Raises
    ------
    TypeError
        Where it has not.
    """
    key = dtype, d.record
    if key not in _checked:
        found = sorted(_leaves(dtype, 0), key=lambda p: p[1])
        wanted = list(d.record.leaves)
        is_alike = dtype.itemsize == d.record.size
        is_alike = is_alike and (has_union(d.record) or [p for p in found if p in wanted] == wanted)
        if len(_checked) > 1000:
            _checked.clear()
        _checked[key] = is_alike
    if not _checked[key]:
        wanted = ", ".join(f"{t} at {o}" for t, o in d.record.leaves[:8])
        raise TypeError(
            f"{kernel}: '{d.name}' is a '{d.base}' of {d.record.size} bytes ({wanted}); got elements of {dtype.itemsize} "
            f"bytes, {dtype}; make its dtype with align=True and members in the same order"
        )


def _leaves(dtype, offset):
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        for k in range(int(np.prod(shape, dtype=np.int64))):
            yield from _leaves(inner, offset + k * inner.itemsize)
    elif dtype.names is not None:
        for name in dtype.names:
            inner, at = dtype.fields[name][:2]
            yield from _leaves(inner, offset + at)
    else:
        yield dtype.name if dtype.isnative else dtype.str, offset


def value(kernel, d, a):
    """The numbers of a record that is passed by value."""
    from .arguments import number_of

    record = d.record
    dtype = getattr(a, "dtype", None)
    if dtype is not None and getattr(dtype, "names", None) and not a.ndim:
        same_layout(kernel, d, np.dtype(dtype))
        raw = np.frombuffer(np.asarray(a).tobytes(), np.uint8)
        return [raw[o : o + np.dtype(t).itemsize].copy().view(t)[0] for t, o in record.leaves]
    parts = _flat(a)
    if parts is None or len(parts) != len(record.leaves):
        raise TypeError(
            f"{kernel}: '{d.name}' is a '{d.base}' of {len(record.leaves)} numbers; got "
            f"{type(a).__name__ if parts is None else f'{len(parts)} numbers'}; give an element of a structured array, or "
            f"a tuple"
        )
    return [
        number_of(kernel, f"{d.name}[{k}]", t, v)
        for k, (v, (t, _)) in enumerate(zip(parts, record.leaves, strict=True))
    ]


def _flat(a):
    if isinstance(a, (tuple, list)):
        made = []
        for v in a:
            inner = _flat(v)
            made += [v] if inner is None else inner
        return made
    if getattr(a, "ndim", 0) and hasattr(a, "tolist"):
        return _flat(a.tolist())
    return None
