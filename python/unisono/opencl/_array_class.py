"""PyOpenCL's `Array`: an array of the engine on the queue's device, or elements of a struct or vector type in a buffer.

Operators record statements of the engine, which fuse; the memory becomes a buffer when somebody asks for it.
"""

import math
import operator
import warnings

import numpy as np

from .. import _engine
from .._arrays.views import ravel as _ravel
from ..lib.stride_tricks import as_strided as _as_strided
from ._constants import map_flags, mem_info, mem_object_type
from ._copies import enqueue_copy
from ._memory import Buffer, enqueue_fill_buffer, enqueue_map_buffer
from ._platforms import Context
from ._queues import CommandQueue, enqueue_barrier
from ._svm import SVMPointer


class ArrayHasOffsetError(ValueError):
    """The array does not begin where its buffer does: use `base_data` and `offset`."""

    def __init__(
        self, val="the array does not begin where its buffer does; use base_data and offset"
    ):
        super().__init__(val)


class InconsistentOpenCLQueueWarning(UserWarning):
    """Never issued: the engine orders what queues of one device do. Defined so that filters may name it."""


class _Keep:
    """Stands for an argument that was not given."""


_computed = frozenset(np.dtype(t) for t in "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split())


def is_computed(dtype):
    """Whether the engine computes with elements of the dtype."""
    return dtype in _computed


def on_queue(queue, function, *args, **options):
    """Calls a function whose statements go to a queue."""
    if queue is None or queue._queue is None:
        return function(*args, **options)
    from .._runtime.queues import device

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


def _strides_of(shape, itemsize, order):
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


def _over_buffer(context, queue, data, dtype, shape, strides, offset):
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
        from ._svm import has_capability

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


def _compare_queues(where, memory, queue):
    """Warns where memory is given back behind the commands of another queue than the array's."""
    bound = getattr(memory, "_queue", None)
    if queue is not None and bound is not None and bound != queue:
        warnings.warn(
            f"{where}: the memory is bound to another queue, behind whose commands it is given back; bind it to the "
            "array's queue, or wait for what uses it",
            InconsistentOpenCLQueueWarning,
            stacklevel=3,
        )


class Array:
    """Elements on a device, with NumPy's operators.

    Parameters
    ----------
    cq : CommandQueue or Context
        On which it computes.
    shape : int or tuple of int
    dtype : dtype
    order : {"C", "F"}
    allocator : callable, optional
        Gives a buffer for a number of bytes; by default the engine's memory.
    data : Buffer or SVM, optional
        The memory, in which the array begins `offset` bytes behind the begin.
    strides : tuple of int, optional
        In bytes.

    Examples
    --------
    >>> import numpy, unisono.opencl as cl, unisono.opencl.array
    >>> try:
    ...     queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    ...     x = cl.array.to_device(queue, numpy.arange(3, dtype=numpy.float32))
    ...     assert (2 * x + 1).get().tolist() == [1, 3, 5]
    ... except cl.Error:
    ...     pass
    """

    __array_priority__ = 100
    __array_ufunc__ = None  # NumPy's operators leave the work to this class

    def __init__(
        self,
        cq,
        shape,
        dtype,
        order="C",
        allocator=None,
        data=None,
        offset=0,
        strides=None,
        events=None,
        _context=None,
    ):
        self.queue = cq if isinstance(cq, CommandQueue) else None
        self.context = (
            cq.context if self.queue is not None else cq if isinstance(cq, Context) else _context
        )
        if self.context is None:
            raise TypeError(f"Array: expected a CommandQueue or a Context; got {type(cq).__name__}")
        self.shape, self.dtype = to_shape(shape), np.dtype(dtype)
        if self.dtype == np.dtype(object):
            raise ValueError(
                "Array: elements are numbers, vectors or structs; got Python's objects"
            )
        if order not in ("C", "F"):
            raise ValueError(f'Array: order is "C" or "F"; got {order!r}')
        self.strides = (
            tuple(strides)
            if strides is not None
            else _strides_of(self.shape, self.dtype.itemsize, order)
        )
        self.allocator, self.events = allocator, list(events or ())
        self._x, self._base, self._offset = None, data, offset
        if (
            data is None
            and allocator is None
            and is_computed(self.dtype)
            and self.context._engine_name
        ):
            self._x = self._new_memory(order)
            return
        if data is None:
            self._base = self._allocate(self.nbytes)
        if self._base is not None:
            _compare_queues("Array", self._base, self.queue)
            self._x = _over_buffer(
                self.context,
                self.queue,
                self._base,
                self.dtype,
                self.shape,
                self.strides,
                self._offset,
            )

    def _new_memory(self, order):
        name, dtype = self.context._engine_name, str(self.dtype)
        if order == "C" or len(self.shape) < 2:
            x = on_queue(self.queue, _engine._empty, self.shape, dtype, name)
            return (
                x if self.strides == tuple(x.strides) or 0 in self.shape else self._with_strides(x)
            )
        return on_queue(self.queue, _engine._empty, self.shape[::-1], dtype, name).T

    def _with_strides(self, x):
        return _as_strided(_ravel(x), self.shape, self.strides)

    def _allocate(self, count):
        if not count:
            return None
        return Buffer(self.context, 0, count) if self.allocator is None else self.allocator(count)

    @classmethod
    def _of(cls, x, queue, context, allocator=None):
        """The array on one of the engine's."""
        self = object.__new__(cls)
        self.queue, self.context, self.allocator, self.events = queue, context, allocator, []
        self._x, self._base, self._offset = x, None, None
        self.shape, self.dtype, self.strides = (
            tuple(x.shape),
            np.dtype(str(x.dtype)),
            tuple(x.strides),
        )
        return self

    def _like(self, x, queue=_Keep):
        """A result, in memory of the allocator where that gives shared virtual memory."""
        made = self._over(x, self.queue if queue is _Keep or queue is None else queue)
        if self.allocator is not None and isinstance(self._base, SVMPointer):
            home = type(self)(
                made.queue or made.context, made.shape, made.dtype, allocator=self.allocator
            )
            if home._x is not None and home.size:
                home.queue = made.queue
                on_queue(home.queue, operator.setitem, home._x, ..., x)
                return home
        return made

    def _over(self, x, queue):
        return type(self)._of(x, queue, self.context, self.allocator)

    # Memory

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self):
        """Bytes of the elements."""
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self):
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def flags(self):
        """Whether the elements lie in C's or Fortran's order: `c_contiguous`, `f_contiguous`, `forc`."""
        known = self.__dict__.get("_known_flags")
        if known is None or known[0] is not self.shape or known[1] is not self.strides:
            known = self._known_flags = (self.shape, self.strides, _Flags(self))
        return known[2]

    def _lend(self):
        if self._base is None and self.size:
            address, self._offset = _engine._lend_buffer(self._x)
            self._base = _lent(self._x, address, self._offset + self.nbytes, self.context)
        elif self._offset is None:
            self._offset = 0

    @property
    def _is_lent(self):
        """Whether `_base` and `_offset` are what kernels take."""
        return self._base is not None and self._offset is not None and not self.events

    @property
    def base_data(self):
        """The buffer; the array begins `offset` bytes behind its begin."""
        self._lend()
        return self._base

    @property
    def offset(self):
        """Where the array begins in `base_data`, in bytes."""
        if self._offset is None:
            self._lend()
        return self._offset

    @property
    def data(self):
        """The buffer of an array that begins where it does."""
        if self.offset:
            raise ArrayHasOffsetError
        return self.base_data

    def _value(self):
        """The engine's array, behind what others do with the memory."""
        if self.events and self.queue is not None:
            events, self.events = self.events, []
            enqueue_barrier(self.queue, wait_for=events)
        elif self.events:
            self.finish()
        if self._base is not None and self.queue is not None and not self.queue.is_own:
            self.queue.finish()  # the engine knows what others gave the device's own queue, and only that
        if self._x is None and self.size:
            raise NotImplementedError(
                f"Array: elements of {self.dtype} on {self.context!r} are moved, filled and passed to kernels, not "
                "computed with; use an ElementwiseKernel"
            )
        if self._x is None:
            self._x = _engine._empty(
                self.shape, str(self.dtype), self.context._engine_name or "cpu"
            )
        return self._x

    def add_event(self, evt):
        """Let what reads the array wait for an event."""
        self.events.append(evt)

    def finish(self):
        """Wait for the events of `add_event`."""
        events, self.events = self.events, []
        for event in events:
            event.wait()

    def with_queue(self, queue):
        """The same memory, on another queue (None: without one).

        Warns with `InconsistentOpenCLQueueWarning` where the memory is given back behind the commands of yet another.
        """
        _compare_queues("with_queue", self._base, queue)
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.queue = queue
        return made

    def _queue_for(self, queue=None):
        queue = queue or self.queue
        if queue is None:
            raise ValueError("Array: it has no queue; pass one, or use with_queue(queue)")
        return queue

    def set(self, ary, queue=None, async_=None):
        """Copy from an array of the host of the same shape and dtype."""
        ary = np.asarray(ary)
        if ary.size != self.size:
            raise ValueError(f"set: the array has {self.size} elements; got {ary.size}")
        if ary.dtype != self.dtype:
            raise TypeError(f"set: the array has elements of {self.dtype}; got {ary.dtype}")
        if not self.size:
            return
        queue = self._queue_for(queue)
        if self._x is not None:
            on_queue(queue, operator.setitem, self._value(), ..., ary.reshape(self.shape))
        else:
            data = np.ascontiguousarray(ary) if self.flags.c_contiguous else np.asfortranarray(ary)
            enqueue_copy(queue, self.base_data, data, dst_offset=self.offset)

    def get(self, queue=None, ary=None, async_=None):
        """Copy to the host.

        Parameters
        ----------
        queue : CommandQueue, optional
        ary : numpy.ndarray, optional
            Where to.

        Returns
        -------
        numpy.ndarray
        """
        if ary is not None and (ary.shape != self.shape or ary.dtype != self.dtype):
            raise TypeError(
                f"get: expected an array {self.shape} of {self.dtype}; got {ary.shape} of {ary.dtype}"
            )
        if self._x is not None or not self.size:
            if ary is None and not self.size:
                return np.empty(self.shape, self.dtype)
            if ary is None:
                return on_queue(queue or self.queue, _to_host, self._value())
            if self.size:
                ary[...] = on_queue(queue or self.queue, _to_host, self._value())
            return ary
        if not self.flags.forc:
            raise NotImplementedError(
                f"get: elements of {self.dtype} have to be contiguous; use copy()"
            )
        made = (
            np.empty(self.shape, self.dtype, "C" if self.flags.c_contiguous else "F")
            if ary is None
            else ary
        )
        self.finish()
        enqueue_copy(self._queue_for(queue), made, self.base_data, src_offset=self.offset)
        return made

    def get_async(self, queue=None, ary=None):
        """Copy to the host; the array and an event."""
        from ._queues import enqueue_marker

        made = self.get(queue, ary)
        return made, enqueue_marker(self._queue_for(queue))

    def map_to_host(self, queue=None, flags=None, is_blocking=True, wait_for=None):
        """Array of NumPy that sees the memory until ``array.base.release()``."""
        flags = map_flags.READ | map_flags.WRITE if flags is None else flags
        return enqueue_map_buffer(
            self._queue_for(queue), self.base_data, flags, self.offset, self.shape, self.dtype, strides=self.strides,
            wait_for=wait_for, is_blocking=is_blocking,
        )[0]  # fmt: skip

    def copy(self, queue=_Keep):
        """A copy, on the same queue or another one."""
        target = self.queue if queue is _Keep else queue
        if self._x is None and self.size:
            made = Array(
                target or self.queue,
                self.shape,
                self.dtype,
                "F" if self.flags.f_contiguous else "C",
            )
            enqueue_copy(
                target or self.queue,
                made.base_data,
                self.base_data,
                src_offset=self.offset,
                byte_count=self.nbytes,
            )
            return made.with_queue(target)
        made = self._like(on_queue(target or self.queue, self._value().copy))
        made.queue = target
        return made

    def astype(self, dtype, queue=None):
        """A copy of another dtype."""
        return self._like(
            on_queue(queue or self.queue, self._value().astype, str(np.dtype(dtype))), queue
        )

    def fill(self, value, queue=None, wait_for=None):
        """Set all elements."""
        if self.size and self._x is None:
            pattern = np.asarray(value, self.dtype)
            if pattern.nbytes in (1, 2, 4, 8, 16, 32, 64, 128):
                enqueue_fill_buffer(
                    self._queue_for(queue),
                    self.base_data,
                    pattern,
                    self.offset,
                    self.nbytes,
                    wait_for,
                )
            else:
                self.set(np.full(self.shape, pattern, self.dtype), queue)
        elif self.size:
            on_queue(queue or self.queue, operator.setitem, self._value(), ..., value)
        return self

    # Views

    def _view(self, made, **changes):
        if self._x is not None:
            view = self._over(made(), self.queue)
        else:
            view = object.__new__(type(self))
            view.__dict__.update(self.__dict__)
            view.__dict__.update(changes)
        view.events = self.events
        return view

    def reshape(self, *shape, **kwargs):
        """The same elements in another shape; `order` "C", "F" or "A"."""
        order = kwargs.pop("order", "C")
        if kwargs:
            raise TypeError(f"reshape: unknown arguments: {', '.join(kwargs)}")
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        shape = [operator.index(n) for n in shape]
        if shape.count(-1) > 1:
            raise ValueError(f"reshape: one size may be -1; got {tuple(shape)}")
        if -1 in shape:
            known = -math.prod(shape)
            shape[shape.index(-1)] = self.size // known if known else 0
        if math.prod(shape) != self.size:
            raise ValueError(f"reshape: {self.size} elements do not fit shape {tuple(shape)}")
        if order == "A":
            order = "F" if self.flags.f_contiguous and not self.flags.c_contiguous else "C"
        if self._x is None:
            return self._view(
                None, shape=tuple(shape), strides=_strides_of(tuple(shape), self.itemsize, order)
            )
        model = np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, self.strides)
        try:
            view = model.view()
            view.shape = tuple(shape)
            strides = view.strides
        except AttributeError:
            strides = None
        if order == "F":
            strides = (
                _strides_of(tuple(shape), self.itemsize, "F") if self.flags.f_contiguous else None
            )
        if strides is None:
            raise ValueError(
                "reshape: the elements do not lie so that the new shape is a view; use copy() first"
            )
        return self._view(lambda: self._x.reshape(tuple(shape), order=order))

    def ravel(self, order="C"):
        """The same elements along one axis."""
        return self.reshape(self.size, order=order)

    def view(self, dtype=None):
        """The same bytes as elements of another dtype."""
        if dtype is None:
            return self._view(lambda: self._x)
        dtype = np.dtype(dtype)
        model = np.lib.stride_tricks.as_strided(
            np.empty(1, self.dtype), self.shape, self.strides
        ).view(dtype)
        if self._x is not None and is_computed(dtype):
            return self._view(lambda: self._x.view(str(dtype)))
        self._lend()
        return Array(
            self.queue or self.context,
            model.shape,
            dtype,
            data=self._base,
            offset=self._offset,
            strides=model.strides,
        )

    def squeeze(self):
        """The same elements without axes of one element."""
        kept = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        return self._view(
            lambda: self._x.squeeze(),
            shape=tuple(n for n, _ in kept),
            strides=tuple(s for _, s in kept),
        )

    def transpose(self, axes=None):
        """The same elements with axes in another order, by default the reverse one."""
        axes = tuple(axes) if axes is not None else tuple(range(self.ndim))[::-1]
        return self._view(
            lambda: self._x.transpose(axes),
            shape=tuple(self.shape[k] for k in axes), strides=tuple(self.strides[k] for k in axes),
        )  # fmt: skip

    T = property(transpose, doc="The same elements with axes in the reverse order.")

    def _index(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        made = tuple(p._value() if isinstance(p, Array) else p for p in parts)
        return made if isinstance(index, tuple) else made[0]

    def __getitem__(self, index):
        if self._x is not None or not self.size:
            view = self._over(
                on_queue(self.queue, operator.getitem, self._value(), self._index(index)),
                self.queue,
            )
            view.events = self.events
            return view
        if isinstance(index, Array):
            from .array import take

            return take(self, index)
        origin = np.empty(1, self.dtype)
        whole = np.lib.stride_tricks.as_strided(origin, self.shape, self.strides)
        part = whole[index]
        moved = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        return self._view(None, shape=part.shape, strides=part.strides, _offset=self.offset + moved)

    def setitem(self, subscript, value, queue=None, wait_for=None):
        """As ``self[subscript] = value``, on a queue."""
        if wait_for:
            from ._queues import wait_for_events

            wait_for_events(wait_for)
        if self._x is None and self.size:
            part = self[subscript]
            if isinstance(value, Array):
                enqueue_copy(
                    self._queue_for(queue), part.base_data, value.base_data, src_offset=value.offset,
                    dst_offset=part.offset, byte_count=part.nbytes,
                )  # fmt: skip
            elif isinstance(value, np.ndarray) and value.shape:
                part.set(value, queue)
            else:
                part.fill(value, queue)
            return
        if isinstance(value, Array):
            if value.size and value.dtype != self.dtype and value.shape:
                raise ValueError(
                    f"setitem: the array has elements of {self.dtype}; got an array of {value.dtype}"
                )
            value = value._value()
        index = self._index(subscript)
        on_queue(queue or self.queue, operator.setitem, self._value(), index, value)

    __setitem__ = setitem

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __hash__(self):
        raise TypeError("Array: arrays change, and cannot be keys")

    def __bool__(self):
        if self.shape and self.size != 1:
            raise ValueError(
                "the truth of an array with several elements is not defined; use any() or all(), and get()"
            )
        return bool(self.get().reshape(()))

    def __str__(self):
        return (
            str(self.get())
            if self.queue is not None or self._x is not None
            else f"<cl.Array {self.shape} of {self.dtype}>"
        )

    def __repr__(self):
        text = repr(self.get())
        return "cl." + text.replace("array(", "Array(", 1)

    # Arithmetic

    def mul_add(self, selffac, other, otherfac, queue=None):
        """``selffac * self + otherfac * other``"""
        return (selffac * self + otherfac * other).with_queue(queue or self.queue)

    def reverse(self, queue=None):
        """The elements of an array of one axis in the reverse order."""
        return self._like(on_queue(queue or self.queue, self._value()[::-1].copy), queue)

    def any(self, queue=None, wait_for=None):
        """Whether an element is not zero, as an int8."""
        return self._truth("any", queue)

    def all(self, queue=None, wait_for=None):
        """Whether no element is zero, as an int8."""
        return self._truth("all", queue)

    def _truth(self, name, queue):
        return self._like(
            on_queue(queue or self.queue, lambda: getattr(self._value(), name)().astype("int8")),
            queue,
        )

    @property
    def real(self):
        """Real parts; of real numbers, the array itself."""
        return self if self.dtype.kind != "c" else self._like(self._value().real.copy())

    @property
    def imag(self):
        """Imaginary parts; of real numbers, zeros."""
        if self.dtype.kind == "c":
            return self._like(self._value().imag.copy())
        return self._like(_engine._full(self.shape, 0, str(self.dtype), self._value().device.name))

    def conj(self):
        """Conjugates; of real numbers, the array itself."""
        return self if self.dtype.kind != "c" else self._like(self._value().conj())

    conjugate = conj

    def __abs__(self):
        return self._like(on_queue(self.queue, abs, self._value()))

    def __neg__(self):
        return self._like(on_queue(self.queue, operator.neg, self._value()))

    def __pos__(self):
        return self

    def __invert__(self):
        if self.dtype.kind not in "iub":
            raise TypeError(f"~: expected integers; got {self.dtype}")
        return self._like(on_queue(self.queue, operator.invert, self._value()))


class _Flags:
    """How elements lie."""

    def __init__(self, array):
        a = array
        self.c_contiguous = not a.size or _lies(a.shape, a.strides, a.dtype.itemsize, "C")
        self.f_contiguous = not a.size or _lies(a.shape, a.strides, a.dtype.itemsize, "F")
        self.forc = self.c_contiguous or self.f_contiguous


def _lies(shape, strides, itemsize, order):
    expected = _strides_of(shape, itemsize, order)
    return all(n == 1 or s == e for n, s, e in zip(shape, strides, expected, strict=True))


class _Lent(Buffer):
    """The buffer of an array of the engine."""


def _lent(x, address, size, context):
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


def _to_host(x):
    host = np.asarray(x)
    return host if host.flags.writeable and host.flags.owndata else host.copy(order="K")


def operand(x):
    """What the engine takes for an operand, or None for what is none of ours."""
    if isinstance(x, Array):
        return x._value()
    if isinstance(x, (int, float, complex, np.number, np.bool_, _engine.ndarray)):
        return x
    if isinstance(x, np.ndarray) and not x.shape:
        return x[()]
    return None


def _binary(function, comparison=False):
    def method(self, other):
        value = operand(other)
        if value is None:
            return NotImplemented
        queue = self.queue or getattr(other, "queue", None)
        made = on_queue(queue, function, self._value(), value)
        return self._like(made.astype("int8") if comparison else made, queue)

    return method


def _reflected(function):
    def method(self, other):
        value = operand(other)
        if value is None:
            return NotImplemented
        return self._like(on_queue(self.queue, function, value, self._value()))

    return method


def _in_place(function):
    def method(self, other):
        value = operand(other)
        if value is None:
            return NotImplemented
        x = self._value()
        if (
            isinstance(value, (np.integer, np.floating))
            and self.dtype.kind in "iuf"
            and value.dtype.kind == self.dtype.kind
        ):
            value = self.dtype.type(value)
        made = on_queue(self.queue or getattr(other, "queue", None), function, x, value)
        if made is not x:
            self._x = made
        return self

    return method


for _name in "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split():
    _function = getattr(operator, _name)
    _plain = _name.rstrip("_")
    setattr(Array, f"__{_plain}__", _binary(_function))
    setattr(Array, f"__r{_plain}__", _reflected(_function))
    setattr(Array, f"__i{_plain}__", _in_place(getattr(operator, "i" + _plain)))
for _name in "lt le eq ne ge gt".split():
    setattr(Array, f"__{_name}__", _binary(getattr(operator, _name), comparison=True))
