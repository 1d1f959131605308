"""`enqueue_copy` and `enqueue_fill` for whatever they are given."""

import numpy as np

from ... import _engine
from . import driver
from .constants import mem_object_type
from .handles import expected
from .images import Image, copy_image
from .memory import (
    Buffer,
    MemoryObjectHolder,
    copy_buffers,
    copy_rectangle,
    enqueue_fill_buffer,
    read,
    write,
)
from .queues import CommandQueue, Event
from .svm import SVMPointer, enqueue_svm_memfill, svm_copy


def _memory(x):
    """The buffer of an array, or what was given."""
    return (
        x.base_data
        if hasattr(x, "base_data") and not hasattr(x, "int_ptr") and not getattr(x, "offset", 0)
        else x
    )


def _copy_all(queue, dest, src):
    """The event of a copy of all of a buffer, or to or from its begin of a NumPy array; None for others."""
    if type(dest) is np.ndarray and isinstance(src, Buffer):
        made = _engine._transfer(Event, queue, src, src.size, dest, True)
    elif type(src) is np.ndarray and isinstance(dest, Buffer):
        made = _engine._transfer(Event, queue, dest, dest.size, src, False)
    elif isinstance(src, Buffer) and isinstance(dest, Buffer):
        made = _engine._copy_buffer(Event, queue, dest, dest.size, src, src.size)
    else:
        return None
    if type(made) is int:
        way = "Read" if type(dest) is np.ndarray else "Write" if type(src) is np.ndarray else "Copy"
        raise driver.error_of(made, f"clEnqueue{way}Buffer")
    return made


def enqueue_copy(queue, dest, src, **kwargs):
    """Copy between the host, buffers, images and shared virtual memory.

    Parameters
    ----------
    queue : CommandQueue
    dest, src : Buffer, Image, SVM, or an object of the host with a buffer
    wait_for : list of Event, optional
    is_blocking : bool
        Whether to wait for a copy from or to the host; by default yes.
    src_offset, dst_offset, byte_count : int
        Of buffers, in bytes; of a copy with the host, the offset belongs to the buffer.
    buffer_origin, host_origin, region, buffer_pitches, host_pitches
        A box, of a buffer and the host: width in bytes first.
    src_origin, dst_origin, region, src_pitches, dst_pitches
        A box, of two buffers.
    origin, region, pitches, src_origin, dest_origin, offset
        A box, of images.

    Returns
    -------
    Event

    Raises
    ------
    LogicError
        If it reaches beyond the memory of one side.

    Examples
    --------
    >>> import numpy, unisono.opencl as cl
    >>> try:
    ...     context = cl.create_some_context(interactive=False)
    ...     queue, buffer = cl.CommandQueue(context), cl.Buffer(context, 0, 16)
    ...     event = cl.enqueue_copy(queue, buffer, numpy.arange(4, dtype=numpy.int32))
    ...     back = numpy.empty(2, numpy.int32)
    ...     event = cl.enqueue_copy(queue, back, buffer, src_offset=8)
    ...     assert back.tolist() == [2, 3]
    ... except cl.Error:
    ...     pass
    """
    if not kwargs:
        event = _copy_all(queue, dest, src)
        if event is not None:
            return event
    expected(queue, CommandQueue, "enqueue_copy")
    dest, src = _memory(dest), _memory(src)
    device_offset = kwargs.pop("device_offset", None)
    if isinstance(dest, Image) or isinstance(src, Image):
        return copy_image(queue, dest, src, **kwargs)
    is_dest, is_src = isinstance(dest, MemoryObjectHolder), isinstance(src, MemoryObjectHolder)
    if isinstance(dest, SVMPointer) or isinstance(src, SVMPointer):
        if is_dest or is_src:
            raise TypeError(
                "enqueue_copy: shared virtual memory is copied from and to the host; got a buffer"
            )
        return svm_copy(queue, dest, src, **kwargs)
    if "region" in kwargs and (is_dest or is_src):
        return copy_rectangle(queue, dest, src, **kwargs)
    if is_dest and is_src:
        kwargs.pop("is_blocking", None)
        if "dest_offset" in kwargs:
            kwargs["dst_offset"] = kwargs.pop("dest_offset")
        return copy_buffers(queue, dest, src, **kwargs)
    wait_for, is_blocking = kwargs.pop("wait_for", None), bool(kwargs.pop("is_blocking", True))
    count = kwargs.pop("byte_count", None)
    if is_dest:
        offset = kwargs.pop("dst_offset", kwargs.pop("dest_offset", device_offset or 0))
        copy = write
    elif is_src:
        offset, copy = kwargs.pop("src_offset", device_offset or 0), read
    else:
        raise TypeError(
            "enqueue_copy: expected memory of a device on one side at least; got "
            f"{type(dest).__name__} and {type(src).__name__}"
        )
    if kwargs:
        raise TypeError(f"enqueue_copy: unknown arguments for these operands: {', '.join(kwargs)}")
    return copy(queue, dest, src, offset, wait_for, is_blocking, count)


def enqueue_fill(queue, dest, pattern, size=None, *, offset=0, wait_for=None):
    """Fill a buffer or shared virtual memory with copies of a pattern.

    Parameters
    ----------
    queue : CommandQueue
    dest : Buffer or SVM
    pattern : NumPy scalar
    size : int, optional
        In bytes; by default up to the end.
    offset : int
        In bytes; of buffers only.
    wait_for : list of Event, optional

    Returns
    -------
    Event
    """
    if isinstance(dest, MemoryObjectHolder) and dest.type == mem_object_type.BUFFER:
        size = dest.size - offset if size is None else size
        return enqueue_fill_buffer(queue, dest, pattern, offset, size, wait_for)
    if isinstance(dest, SVMPointer):
        if offset:
            raise NotImplementedError(
                "enqueue_fill: offset is for buffers; got shared virtual memory"
            )
        return enqueue_svm_memfill(queue, dest, pattern, size, wait_for)
    raise TypeError(f"enqueue_fill: expected a Buffer or SVM; got {type(dest).__name__}")
