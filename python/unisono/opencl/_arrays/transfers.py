"""Elements of arrays to and from the host, and into parts of arrays."""

import operator

import numpy as np

from .._objects.copies import enqueue_copy
from .._objects.memory import enqueue_fill_buffer
from .memory import on_queue, to_host


def put(a, ary, queue):
    """Copies from an array of the host."""
    ary = np.asarray(ary)
    if ary.size != a.size:
        raise ValueError(f"set: the array has {a.size} elements; got {ary.size}")
    if ary.dtype != a.dtype:
        raise TypeError(f"set: the array has elements of {a.dtype}; got {ary.dtype}")
    if not a.size:
        return
    queue = a._queue_for(queue)
    if a._x is not None:
        on_queue(queue, operator.setitem, a._value(), ..., ary.reshape(a.shape))
    else:
        data = np.ascontiguousarray(ary) if a.flags.c_contiguous else np.asfortranarray(ary)
        enqueue_copy(queue, a.base_data, data, dst_offset=a.offset)


def get(a, queue, ary):
    """The elements on the host."""
    if ary is not None and (ary.shape != a.shape or ary.dtype != a.dtype):
        raise TypeError(
            f"get: expected an array {a.shape} of {a.dtype}; got {ary.shape} of {ary.dtype}"
        )
    if a._x is not None or not a.size:
        if ary is None and not a.size:
            return np.empty(a.shape, a.dtype)
        if ary is None:
            made = on_queue(queue or a.queue, to_host, a._value())
            return made if a.flags.c_contiguous or not a.flags.forc else np.asfortranarray(made)
        if a.size:
            ary[...] = on_queue(queue or a.queue, to_host, a._value())
        return ary
    if not a.flags.forc:
        raise NotImplementedError(f"get: elements of {a.dtype} have to be contiguous; use copy()")
    made = np.empty(a.shape, a.dtype, "C" if a.flags.c_contiguous else "F") if ary is None else ary
    a.finish()
    enqueue_copy(a._queue_for(queue), made, a.base_data, src_offset=a.offset)
    return made


def fill(a, value, queue, wait_for):
    """Sets all elements; the array."""
    if a.size and a._x is None:
        pattern = np.asarray(value, a.dtype)
        if pattern.nbytes in (1, 2, 4, 8, 16, 32, 64, 128):
            enqueue_fill_buffer(
                a._queue_for(queue),
                a.base_data,
                pattern,
                a.offset,
                a.nbytes,
                wait_for,
            )
        else:
            a.set(np.full(a.shape, pattern, a.dtype), queue)
    elif a.size:
        on_queue(queue or a.queue, operator.setitem, a._value(), ..., value)
    return a


def put_part(a, subscript, value, queue, wait_for):
    """As ``a[subscript] = value``, on a queue."""
    from .array_class import Array

    if wait_for:
        from .._objects.queues import wait_for_events

        wait_for_events(wait_for)
    if a._x is None and a.size:
        part = a[subscript]
        if isinstance(value, Array):
            enqueue_copy(
                a._queue_for(queue), part.base_data, value.base_data, src_offset=value.offset,
                dst_offset=part.offset, byte_count=part.nbytes,
            )  # fmt: skip
        elif isinstance(value, np.ndarray) and value.shape:
            part.set(value, queue)
        else:
            part.fill(value, queue)
        return
    if isinstance(value, Array):
        if value.size and value.dtype != a.dtype and value.shape:
            raise ValueError(
                f"setitem: the array has elements of {a.dtype}; got an array of {value.dtype}"
            )
        value = value._value()
    index = a._index(subscript)
    on_queue(queue or a.queue, operator.setitem, a._value(), index, value)
