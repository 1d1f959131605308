"""PyOpenCL's `Array`: an array of the engine on the queue's device, or elements of a struct or vector type in a buffer.

Operators record statements of the engine, which fuse; the memory becomes a buffer when somebody asks for it.
"""

import math
import operator

import numpy as np

from ... import _engine
from ..._arrays.views import ravel as _ravel
from ...lib.stride_tricks import as_strided as _as_strided
from .._objects.constants import map_flags
from .._objects.copies import enqueue_copy
from .._objects.memory import Buffer, enqueue_map_buffer
from .._objects.platforms import Context
from .._objects.queues import CommandQueue, enqueue_barrier
from .._objects.svm import SVMPointer
from . import transfers, views
from .memory import (
    Flags,
    compare_queues,
    is_computed,
    lent,
    numpy_dtype,
    on_queue,
    over_buffer,
    strides_of,
    to_shape,
)


class ArrayHasOffsetError(ValueError):
    """The array does not begin where its buffer does: use `base_data` and `offset`."""

    def __init__(
        self, val="the array does not begin where its buffer does; use base_data and offset"
    ):
        super().__init__(val)


class _Keep:
    """Stands for an argument that was not given."""


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
            else strides_of(self.shape, self.dtype.itemsize, order)
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
            compare_queues("Array", self._base, self.queue)
            self._x = over_buffer(
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
        self.shape, self.dtype, self.strides = x.shape, numpy_dtype(x.dtype), x.strides
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
            known = self._known_flags = (self.shape, self.strides, Flags(self))
        return known[2]

    def _lend(self):
        if self._base is None and self.size:
            address, self._offset = _engine._lend_buffer(self._x)
            self._base = lent(self._x, address, self._offset + self.nbytes, self.context)
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
        compare_queues("with_queue", self._base, queue)
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
        transfers.put(self, ary, queue)

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
        return transfers.get(self, queue, ary)

    def get_async(self, queue=None, ary=None):
        """Copy to the host; the array and an event."""
        from .._objects.queues import enqueue_marker

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
        return transfers.fill(self, value, queue, wait_for)

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
        return views.reshape(self, shape, order)

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
            from ..array import take

            return take(self, index)
        origin = np.empty(1, self.dtype)
        whole = np.lib.stride_tricks.as_strided(origin, self.shape, self.strides)
        part = whole[index]
        moved = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        return self._view(None, shape=part.shape, strides=part.strides, _offset=self.offset + moved)

    def setitem(self, subscript, value, queue=None, wait_for=None):
        """As ``self[subscript] = value``, on a queue."""
        transfers.put_part(self, subscript, value, queue, wait_for)

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
