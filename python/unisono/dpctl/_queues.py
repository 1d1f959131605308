"""Queues and events with dpctl's names, over `unisono.Queue` and `unisono.Event`."""

from __future__ import annotations

import contextlib
import time

import numpy as np

from .._engine import DeviceError
from .._runtime import queues
from ._devices import SyclContext, SyclDevice
from .enum_types import event_status_type

__all__ = [
    "LocalAccessor", "SyclEvent", "SyclKernelInvalidRangeError", "SyclKernelSubmitError", "SyclQueue",
    "SyclQueueCreationError", "SyclTimer", "device_context", "get_current_queue", "get_device_cached_queue",
]  # fmt: skip


class SyclQueueCreationError(DeviceError):
    """There is no such queue."""


class SyclKernelSubmitError(DeviceError):
    """A kernel cannot be submitted."""


class SyclKernelInvalidRangeError(ValueError):
    """A range that no kernel has."""


class SyclEvent:
    """The end of something that a queue was given; without a queue it has happened."""

    def __init__(self, arg=None):
        if arg is not None and not isinstance(arg, SyclEvent):
            raise TypeError(f"SyclEvent: expected a SyclEvent; got {type(arg).__name__}")
        self._event = getattr(arg, "_event", None)
        self._fills = list(getattr(arg, "_fills", ()))
        self._before = ()

    @classmethod
    def _of(cls, queue, fills=(), before=()):
        self = cls()
        self._event = None if queue is None else queue.record()
        self._fills, self._before = list(fills), tuple(before)
        return self

    def wait(self):
        """Wait until it has happened; arrays of the host that it copies to are filled then."""
        if self._event is not None:
            self._event.wait()
        fills, self._fills = self._fills, []
        for filled, memory in fills:
            filled[...] = memory

    @staticmethod
    def wait_for(event):
        """Wait for an event, or for each of a list."""
        for e in event if isinstance(event, (list, tuple)) else [event]:
            if not isinstance(e, SyclEvent):
                raise TypeError(f"wait_for: expected a SyclEvent; got {type(e).__name__}")
            e.wait()

    @property
    def execution_status(self):
        """An `event_status_type`."""
        done = self._event is None or self._event.done
        return event_status_type.complete if done else event_status_type.submitted

    def get_wait_list(self):
        """Events that it waits for."""
        return list(self._before)

    def _profile(self, what):
        return 0 if self._event is None else getattr(self._event.profile, what)

    profiling_info_submit = property(
        lambda self: self._profile("submit"), doc="Nanoseconds of the device's clock."
    )
    profiling_info_start = property(
        lambda self: self._profile("start"), doc="Nanoseconds of the device's clock."
    )
    profiling_info_end = property(
        lambda self: self._profile("end"), doc="Nanoseconds of the device's clock."
    )

    def __repr__(self):
        return f"<unisono.dpctl.SyclEvent {self.execution_status.name}>"


class LocalAccessor:
    """Local memory of a work-group, as an argument of a kernel.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
    """

    def __init__(self, shape, dtype):
        if isinstance(shape, (str, type, np.dtype)):  # dpctl's order in older programs
            shape, dtype = dtype, shape
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),)
        self.dtype = np.dtype(dtype)


_COPIED = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


class SyclQueue:
    """A queue of a device, in which work is done while the program goes on.

    On the CPU, which has no queues, work is done before the call returns.

    Parameters
    ----------
    *args : str, SyclDevice, or SyclContext and SyclDevice
        By default the device of `select_default_device`.
    property : str or sequence of str, optional
        ``"in_order"``, ``"enable_profiling"``. Without the first, work that does not depend on other work may run beside it.

    Raises
    ------
    SyclQueueCreationError
        For a device that there is not, or a property that is not known.

    Examples
    --------
    >>> from unisono import dpctl
    >>> q = dpctl.SyclQueue("cpu", property="in_order")
    >>> q.is_in_order
    True
    """

    def __init__(self, *args, property=None):
        context = None
        if len(args) == 2 and isinstance(args[0], SyclContext):
            context, args = args[0], args[1:]
        if len(args) > 1:
            raise TypeError(
                f"SyclQueue: expected a device, or a context and a device; got {len(args)} arguments"
            )
        if not isinstance(property, (str, tuple, list, type(None))):
            raise ValueError(
                f"SyclQueue: property is a text or several; got {property!r}; expected 'in_order', 'enable_profiling'"
            )
        words = [property] if isinstance(property, str) else list(property or ())
        unknown = [w for w in words if w not in ("in_order", "enable_profiling", "default")]
        if unknown:
            raise SyclQueueCreationError(
                f"SyclQueue: the property is not known; got {unknown}; expected 'in_order', 'enable_profiling'"
            )
        try:
            given = args[0] if args else None
            given = given.get_devices()[0] if isinstance(given, SyclContext) else given
            self.sycl_device = SyclDevice(given)
        except DeviceError as error:
            raise SyclQueueCreationError(f"SyclQueue: {error}") from None
        if context is not None and self.sycl_device not in context.get_devices():
            raise SyclQueueCreationError(
                f"SyclQueue: the device does not belong to the context; got {self.sycl_device!r} and {context!r}"
            )
        self.sycl_context = context or SyclContext([self.sycl_device])
        self.is_in_order, self.has_enable_profiling = (
            "in_order" in words,
            "enable_profiling" in words,
        )
        self._queue, self._fills = None, []
        if self._device.name.startswith(("opencl", "cuda")):
            self._queue = queues.Queue(
                self._device, "in" if self.is_in_order else "out", self.has_enable_profiling
            )

    _device = property(lambda self: self.sycl_device._device)
    backend = property(lambda self: self.sycl_device.backend, doc="A `backend_type`.")
    name = property(lambda self: self.sycl_device.name, doc="Of its device.")
    driver_version = property(lambda self: self.sycl_device.driver_version, doc="Of its device.")

    def statements(self):
        """A context whose statements go to the queue."""
        if self._queue is not None:
            return queues.device(queue=self._queue)
        return queues.device(self._device)

    def _after(self, events):
        for e in events or ():
            if not isinstance(e, SyclEvent):
                raise TypeError(
                    f"SyclQueue: expected a list of SyclEvent; got {type(e).__name__} in it"
                )
            if e._fills:  # what reads the host's array needs it filled
                e.wait()
            elif e._event is not None and self._queue is not None:
                self._queue.wait_for(e._event)
            else:
                e.wait()

    def _event(self, fills=(), before=()):
        if self._queue is None:
            for filled, memory in fills:
                filled[...] = memory
            fills = ()
        made = SyclEvent._of(self._queue, fills, before or ())
        if fills:
            self._fills = [e for e in self._fills if e._fills] + [made]
        return made

    def wait(self):
        """Wait until its work is done."""
        if self._queue is not None:
            self._queue.synchronize()
        fills, self._fills = self._fills, []
        for e in fills:
            e.wait()

    def memcpy(self, dest, src, count):
        """Copy bytes between host and device, or on the device, and wait.

        Parameters
        ----------
        dest, src : MemoryUSMDevice, MemoryUSMShared, MemoryUSMHost, array or buffer
        count : int
        """
        self.memcpy_async(dest, src, count).wait()

    def memcpy_async(self, dest, src, count, dEvents=None):
        """`memcpy` behind events; gives the SyclEvent of its end. An array of the host is filled when that is waited for.

        Raises
        ------
        TypeError
            For what is no memory.
        ValueError
            For more bytes than there are.
        """
        from .memory import part_of

        self._after(dEvents)
        count = int(count)
        target, source = part_of(dest, count, "dest", writes=True), part_of(src, count, "src")
        with self.statements():
            if isinstance(target, np.ndarray):
                if isinstance(source, np.ndarray):
                    target[...] = source
                    return self._event(before=dEvents)
                return self._event([(target, source.to_device("cpu"))], dEvents)
            if not isinstance(source, np.ndarray) and source.device != target.device:
                source = source.to_device(target.device)
            target[...] = source
        return self._event(before=dEvents)

    def copy(self, dest, src, count, dtype="u1"):
        """`memcpy` of `count` elements of a dtype.

        Raises
        ------
        ValueError
            For a dtype that is no integer or float of up to 8 bytes.
        """
        self.copy_async(dest, src, count, dtype=dtype).wait()

    def copy_async(self, dest, src, count, dEvents=None, dtype="u1"):
        """`memcpy_async` of `count` elements of a dtype, as `copy`."""
        if dtype not in _COPIED:
            raise ValueError(
                f"copy: the dtype is not known; got {dtype!r}; expected one of {', '.join(_COPIED)}"
            )
        return self.memcpy_async(dest, src, int(count) * int(dtype[1]), dEvents)

    def memset(self, mem, val, count=0):
        """Set the first `count` bytes, and wait; 0 sets all, as more than there are do."""
        self.memset_async(mem, val, count).wait()

    def memset_async(self, mem, val, count=0, dEvents=None):
        """`memset` behind events; gives the SyclEvent of its end."""
        from .memory import as_usm_memory

        self._after(dEvents)
        count = int(count)
        if count < 0:
            raise OverflowError(f"memset: count is not negative; got {count}")
        with self.statements():
            as_usm_memory(mem)._bytes[: count or None] = int(val) & 255
        return self._event(before=dEvents)

    def submit(self, kernel, args, gS, lS=None, dEvents=None):
        """`submit_async`; what it is given may be changed once that returns."""
        return self.submit_async(kernel, args, gS, lS, dEvents)

    def submit_async(self, kernel, args, gS, lS=None, dEvents=None):
        """Launch a kernel of `unisono.dpctl.program` behind events.

        Parameters
        ----------
        kernel : SyclKernel
        args : list
            Memory, arrays, and numbers of NumPy's or ctypes' types.
        gS, lS : sequence of int
            Global and local sizes, of up to three axes.
        dEvents : list of SyclEvent, optional

        Returns
        -------
        SyclEvent
        """
        self._after(dEvents)
        kernel._launch(self, list(args), list(gS), None if lS is None else list(lS))
        return self._event(before=dEvents)

    def submit_barrier(self, dependent_events=()):
        """The SyclEvent of the end of all that it was given, and of events."""
        self._after(dependent_events)
        return self._event(before=dependent_events)

    def prefetch(self, mem, count=0):
        """Nothing: memory is where its kind says."""
        from .memory import as_usm_memory

        as_usm_memory(mem)

    def mem_advise(self, mem, count, advice):
        """Nothing, as `prefetch`."""
        self.prefetch(mem, count)

    def print_device_info(self):
        """Print what is known of its device."""
        self.sycl_device.print_device_info()

    def get_sycl_device(self):
        """Its SyclDevice."""
        return self.sycl_device

    def get_sycl_context(self):
        """Its SyclContext."""
        return self.sycl_context

    def __repr__(self):
        order = "in order" if self.is_in_order else "out of order"
        return f"<unisono.dpctl.SyclQueue of {self.sycl_device.filter_string}, {order}>"


_cached = {}


def get_device_cached_queue(key):
    """A SyclQueue of a device or of a context and device, the same one each time."""
    device = key[1] if isinstance(key, tuple) else key
    device = SyclDevice(device)
    if device not in _cached:
        _cached[device] = SyclQueue(device)
    return _cached[device]


@contextlib.contextmanager
def device_context(arg):
    """A block whose statements and kernels run on a device or a queue.

    Parameters
    ----------
    arg : str, SyclDevice or SyclQueue

    Examples
    --------
    >>> from unisono import dpctl
    >>> with dpctl.device_context("cpu") as queue:
    ...     dpctl.select_default_device() == queue.sycl_device
    True
    """
    queue = arg if isinstance(arg, SyclQueue) else SyclQueue(arg, property="in_order")
    _current.append(queue)
    try:
        with queue.statements():
            yield queue
    finally:
        _current.remove(queue)


_current = []


def get_current_queue():
    """The SyclQueue of the block, else that of the default device."""
    return _current[-1] if _current else get_device_cached_queue(SyclDevice())


class SyclTimer:
    """Measures the time of a block: ``with timer(queue): ...``, then ``timer.dt``.

    Parameters
    ----------
    host_timer : callable
    device_timer : str, optional
        dpctl's "queue_barrier" or "order_manager", without effect: barriers are timed.
    time_scale : number
        Of the seconds given.

    Raises
    ------
    ValueError
        For another `device_timer`.
    """

    def __init__(self, host_timer=time.perf_counter, device_timer=None, time_scale=1):
        if device_timer not in (None, "queue_barrier", "order_manager"):
            raise ValueError(
                f"SyclTimer: device_timer is 'queue_barrier' or 'order_manager'; got {device_timer!r}"
            )
        self._timer, self._scale, self.queue = host_timer, time_scale, None
        self._host = self._device = 0.0

    def __call__(self, queue=None):
        if queue is not None and not isinstance(queue, SyclQueue):
            raise TypeError(f"SyclTimer: expected a SyclQueue; got {type(queue).__name__}")
        self.queue = queue
        return self

    def __enter__(self):
        self._has_profile = self.queue is not None and self.queue.has_enable_profiling
        self._is_timed = self._has_profile and self.queue._queue is not None
        self._first = self.queue._queue.record() if self._is_timed else None
        self._begin = self._timer()
        return self

    def __exit__(self, *error):
        if self.queue is not None:
            last = self.queue._queue.record() if self._is_timed else None
            self.queue.wait()
            if self._is_timed:
                self._device += self._first.elapsed(last) * 1e-9 * self._scale
        passed = (self._timer() - self._begin) * self._scale
        self._host += passed
        if self._has_profile and not self._is_timed:  # the host did the work
            self._device += passed

    @property
    def dt(self):
        """(host's, device's) seconds so far, with attributes `host_dt` and `device_dt`."""
        return _Times(self._host, self._device)


class _Times(tuple):
    __slots__ = ()

    def __new__(cls, host, device):
        return tuple.__new__(cls, (host, device))

    host_dt = property(lambda self: self[0])
    device_dt = property(lambda self: self[1])
