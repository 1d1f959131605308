"""Devices, streams, events and arrays with the names of Numba's CUDA."""

from __future__ import annotations

import collections
import contextlib
import functools
import threading
import time

from .. import _engine
from .._engine import DeviceError as CudaError
from .._runtime import queues, waits

_mine = threading.local()
MemoryInfo = collections.namedtuple("MemoryInfo", "free total")  # in bytes


def _cuda_devices():
    return [d for d in _engine._devices() if d.name.startswith("cuda:")]


def current_device():
    """The Device of kernels whose arrays are the host's, and of new arrays; see the package's docstring."""
    chosen = getattr(_mine, "device", None)
    if chosen is not None:
        return chosen
    if queues._place.get() is not None or _engine._setting("device") not in ("", "cpu"):
        import unisono as un

        return un.empty(0).device
    return _first_device()


def enter(device):
    """Choose a Device for new arrays and for kernels, until `leave`: for ``with x.device:``."""
    if not hasattr(_mine, "entered"):
        _mine.entered = []
    block = queues.device(device)
    block.__enter__()
    _mine.entered.append((block, getattr(_mine, "device", None)))
    _mine.device = device


def leave():
    """Choose again what was chosen before the last `enter`."""
    block, _mine.device = _mine.entered.pop()
    block.__exit__()


@functools.cache
def _first_device():
    found = _cuda_devices()
    return found[0] if found else _engine._find_device("cpu")


class _Current:
    """The current device with the attributes of Numba's."""

    def __init__(self, device):
        self._device = device

    WARP_SIZE = 32  # of the warp functions, on every device

    def __getattr__(self, name):
        if name.isupper():
            from ._contexts import Device

            return getattr(Device(self._device.name), name)
        return getattr(self._device, name)

    @property
    def name(self):
        """What the driver calls it, as bytes."""
        return (self._device.description or self._device.name).encode()

    @property
    def id(self):
        """Number of the device among those of its kind."""
        last = self._device.name.rpartition(":")[2]
        return int(last) if last.isdigit() else 0

    @property
    def compute_capability(self):
        """Of a CUDA device, as a pair; (0, 0) of others."""
        found = self._device.properties
        return (
            int(found.get("compute_capability_major", 0)),
            int(found.get("compute_capability_minor", 0)),
        )

    def can_access_peer(self, peer_device):
        """False: kernels take memory of their own device; copies between devices need no access."""
        return False

    MAX_THREADS_PER_BLOCK = property(lambda self: self._device.max_work_group_size)
    MULTIPROCESSOR_COUNT = property(lambda self: self._device.compute_units)

    def reset(self):
        """Wait for what is submitted; memory stays."""
        synchronize()

    def __enter__(self):
        self._before = getattr(_mine, "device", None)
        _mine.device = self._device
        return self

    def __exit__(self, *error):
        _mine.device = self._before

    def __repr__(self):
        return f"<CUDA device {self.id} '{self._device.name}'>"


def get_current_device():
    """The current device.

    Returns
    -------
    device
        With `name`, `id`, `compute_capability` and what a `unisono.Device` has.
    """
    return _Current(current_device())


def select_device(device_id):
    """Make a device the current one of this thread.

    Parameters
    ----------
    device_id : int, str or Device
        A number counts the CUDA devices, or all devices where there are none; or a name of `unisono.devices`.

    Returns
    -------
    device
        As of `get_current_device`.

    Raises
    ------
    DeviceError
        If there is no such device.

    Examples
    --------
    >>> from unisono import cuda
    >>> cuda.select_device("cpu")
    <CUDA device 0 'cpu'>
    >>> cuda.close()
    """
    if isinstance(device_id, int):
        found = _cuda_devices() or list(_engine._devices())
        if not 0 <= device_id < len(found):
            raise CudaError(
                f"select_device: there is no device {device_id}; got {len(found)} devices; expected a number "
                f"below that, or a name of unisono.devices()"
            )
        _mine.device = found[device_id]
    else:
        _mine.device = _engine._find_device(str(device_id))
    return get_current_device()


def close():
    """Undo `select_device` of this thread, behind what was submitted."""
    synchronize()
    _mine.device = None


def list_devices():
    """The CUDA devices, as of `get_current_device`; where there are none, the current device."""
    return [_Current(d) for d in _cuda_devices() or [current_device()]]


class _Gpus:
    """The list of `list_devices`, asked each time."""

    def __getitem__(self, k):
        return list_devices()[k]

    def __len__(self):
        return len(list_devices())

    def __iter__(self):
        return iter(list_devices())

    def __repr__(self):
        return repr(list_devices())

    @property
    def lst(self):
        """The list itself."""
        return list_devices()

    @property
    def current(self):
        """The current device."""
        return get_current_device()


gpus = _Gpus()


def is_available():
    """Whether there is a CUDA device; kernels run without one, too."""
    return bool(_cuda_devices())


def detect():
    """Print the devices.

    Returns
    -------
    bool
        Whether there is a CUDA device.
    """
    found = _cuda_devices()
    print(f"Found {len(found)} CUDA devices")
    for k, d in enumerate(_engine._devices()):
        print(f"id {k}    {d.name:>20}    {d.description}")
    return bool(found)


def synchronize():
    """Wait for all that was launched; raises what failed there."""
    waits.check("synchronize")
    from .. import synchronize as wait

    wait()


class Event:
    """A moment in the work of a device.

    Parameters
    ----------
    timing : bool
    """

    def __init__(self, timing=True):
        self._event, self._time = None, None

    def record(self, stream=None):
        """Stand behind what the stream, or the current device, was given so far."""
        queue = getattr(stream, "_queue", None)
        if queue is not None:
            self._event = queue.record()
            return
        synchronize()
        self._time = time.perf_counter_ns()

    def query(self):
        """Whether it has happened."""
        return self._event is None or self._event.done

    def synchronize(self):
        """Wait until it has happened."""
        waits.check("synchronize")
        if self._event is not None:
            self._event.wait()

    def wait(self, stream=None):
        """Let the later work of a stream wait for it."""
        queue = getattr(stream, "_queue", None)
        if queue is not None and self._event is not None:
            queue.wait_for(self._event)
        else:
            self.synchronize()

    def elapsed_time(self, end):
        """Milliseconds from here to another event."""
        for e in (self, end):
            if e._event is None and e._time is None:
                raise ValueError("Event: it was never recorded; got one of the two; call record()")
        if self._event is not None and end._event is not None:
            return self._event.elapsed(end._event) / 1e6
        if self._time is None or end._time is None:
            raise ValueError(
                "Event: one is of a stream, the other of none; record both with the same stream"
            )
        return (end._time - self._time) / 1e6


def event(timing=True):
    """An Event, not yet recorded."""
    return Event(timing)


def event_elapsed_time(start, end):
    """Milliseconds between two events."""
    return start.elapsed_time(end)


class Stream:
    """Work in order beside that of other streams; where the device has no queues it is done at once.

    Parameters
    ----------
    device : Device, optional
        By default the current one.
    """

    _callbacks = ()  # of `add_callback`: events that are set when they have run

    def __init__(self, device=None):
        self._device = device or current_device()
        has_queue = self._device.name.startswith(("cuda", "opencl"))
        self._queue = queues.Queue(self._device, profiling=True) if has_queue else None

    def synchronize(self):
        """Wait for what the stream was given."""
        if self._queue is None:
            return synchronize()
        waits.check("synchronize")
        self._queue.synchronize()
        while self._callbacks:
            self._callbacks.pop().wait()

    def add_callback(self, callback, arg=None):
        """Call a function once the work so far is done; `synchronize` waits for it.

        Parameters
        ----------
        callback : callable
            Takes the stream, a status, which is 0, and `arg`. It runs on a thread of its own.
        arg : optional

        Examples
        --------
        >>> from unisono import cuda
        >>> s, seen = cuda.stream(), []
        >>> s.add_callback(lambda stream, status, arg: seen.append((status, arg)), "first")
        >>> s.synchronize()
        >>> seen
        [(0, 'first')]
        """
        self._call_behind(lambda: callback(self, 0, arg))

    def launch_host_func(self, callback, arg=None):
        """As `add_callback`, of a function that takes `arg` alone."""
        self._call_behind(lambda: callback(arg))

    def _call_behind(self, work):
        if self._queue is None:
            self.synchronize()
            return work()
        done = threading.Event()

        def run(event):
            try:
                work()
            finally:
                done.set()

        self._callbacks = [*(c for c in self._callbacks if not c.is_set()), done]
        self._queue.record().add_callback(run)

    async def async_done(self):
        """Wait in a coroutine until the work so far is done; returns the stream."""
        import asyncio

        loop = asyncio.get_running_loop()
        found = loop.create_future()

        def resolve():
            if not found.done():
                found.set_result(self)

        self._call_behind(lambda: loop.call_soon_threadsafe(resolve))
        return await found

    @contextlib.contextmanager
    def auto_synchronize(self):
        """A block at whose end `synchronize` is called."""
        yield self
        self.synchronize()

    def record(self, event=None):
        """Record an event here, by default a new one."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event):
        """Let later work of the stream wait for an event."""
        event.wait(self)

    def statements(self):
        """A context whose statements go to the stream."""
        if self._queue is None:
            return contextlib.nullcontext()
        return queues.device(queue=self._queue)

    @property
    def handle(self):
        """Address of the driver's stream; 0 where the device has no queues."""
        return 0 if self._queue is None else self._queue.handle

    def __bool__(self):
        return True

    def __repr__(self):
        return f"<CUDA stream on {self._device.name}>"


def stream():
    """A Stream of the current device."""
    return Stream()


def default_stream():
    """What launches that name no stream use: 0."""
    return 0


def external_stream(handle):
    """A Stream of one that another library made, by its address.

    Parameters
    ----------
    handle : int
        As of `unisono.Queue.from_handle`.
    """
    device = current_device()
    if not device.name.startswith("cuda"):
        raise CudaError(
            f"external_stream: {device.name} has no streams of other libraries; got {handle!r}; expected a CUDA"
            " device to be the current one; use cuda.stream()"
        )
    made = object.__new__(Stream)
    made._device, made._queue = device, queues.Queue.from_handle(handle, device)
    return made


@contextlib.contextmanager
def defer_cleanup():
    """A block in which no memory is given back to the driver: it is kept for later arrays, as always."""
    yield


def is_float16_supported():
    """Whether kernels of the current device compute with ``float16``: all do, where need be in float32."""
    return True


def current_context():
    """The current device, which has `synchronize` and the context's other names."""
    made = get_current_device()
    made.synchronize, made.device = synchronize, made
    made.get_memory_info = lambda: MemoryInfo(
        free=made._device.memory_bytes - _in_use(made._device), total=made._device.memory_bytes
    )
    return made


def _in_use(device):
    from .. import memory

    return memory.stats(device.name)["in_use"]


# ---- arrays
def to_device(obj, stream=None, copy=True, to=None):
    """Copy an array to the current device.

    Parameters
    ----------
    obj : array or sequence
    stream : Stream, optional
    copy : bool
        False leaves the elements undefined.
    to : array, optional
        Of the device, of that shape: it is filled and returned.

    Returns
    -------
    unisono.ndarray
        With `copy_to_host` and `copy_to_device`.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono import cuda
    >>> x = cuda.to_device(np.arange(3))
    >>> x.copy_to_host()
    array([0, 1, 2])
    """
    import unisono as un

    if to is not None:
        to.copy_to_device(obj)
        return to
    device = stream._device if isinstance(stream, Stream) else current_device()
    if not copy:
        return un.empty_like(obj, device=device)
    flags = getattr(obj, "flags", None)
    is_fortran = flags is not None and flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"]
    with stream.statements() if isinstance(stream, Stream) else contextlib.nullcontext():
        return un.array(obj, order="F" if is_fortran else "K", device=device)


def device_array(shape, dtype="float64", strides=None, order="C", stream=None):
    """A new array of the current device; its elements are undefined."""
    import unisono as un

    if strides is not None:
        raise ValueError(
            f"device_array: strides are not chosen; got {strides}; expected None; use order='F', or a view"
        )
    return un.empty(shape, dtype, order=order, device=current_device())


def device_array_like(ary, stream=None):
    """`device_array` of another array's shape, dtype and order of axes in memory."""
    import unisono as un

    return un.empty_like(ary, device=current_device())


def pinned_array(shape, dtype="float64", strides=None, order="C"):
    """A new array of the host, in memory from which the device copies directly; it is NumPy's."""
    import numpy

    return numpy.empty(shape, dtype, order)


def pinned_array_like(ary):
    """`pinned_array` of another array's shape, dtype and order of axes in memory."""
    import numpy

    one = numpy.empty(1, str(ary.dtype))
    return numpy.empty_like(numpy.lib.stride_tricks.as_strided(one, ary.shape, ary.strides))


def mapped_array(shape, dtype="float64", strides=None, order="C", stream=None, **options):
    """A new array that the host and the current device share, as far as the device can; else one of the device."""
    import unisono as un

    try:
        return un.empty(shape, dtype, order=order, device=current_device(), memory="shared")
    except _engine.DeviceError:  # the device has no such memory
        return un.empty(shape, dtype, order=order, device=current_device())


managed_array = mapped_array


@contextlib.contextmanager
def pinned(*arrays):
    """A block in which arrays of the host would be locked in memory; here they are copied as any other."""
    yield


def is_cuda_array(obj):
    """Whether it is an array of a device, which kernels take without a copy."""
    return isinstance(obj, _engine._Array) or hasattr(obj, "__cuda_array_interface__")
