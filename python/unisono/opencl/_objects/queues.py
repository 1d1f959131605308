"""Command queues and events.

The first queue of a device without properties is the one to which the engine gives statements; further ones and those
with properties are queues of the engine (`unisono.Queue`) beside it.
"""

import ctypes
import sys
import threading
import warnings
import weakref

from ... import _engine
from . import driver
from .constants import (
    command_queue_info,
    command_queue_properties,
    event_info,
    profiling_info,
    queue_properties,
)
from .driver import call, create, wrong
from .handles import Holder, address_array, decode, expected
from .platforms import Context, Device, engine_device
from .tables import add_attributes

_own_queues = weakref.WeakValueDictionary()  # the CommandQueue that is a device's own, by its name


class CommandQueueUsedAfterExit(UserWarning):
    """A queue was used after the block that it was made for."""


class CommandQueue(_engine._DriverQueue, Holder):
    """What a device is to do, in order.

    Parameters
    ----------
    context : Context
    device : Device, optional
        By default the context's first.
    properties : int, optional
        Of `command_queue_properties`: ``PROFILING_ENABLE``, ``OUT_OF_ORDER_EXEC_MODE_ENABLE``.

    Examples
    --------
    >>> import unisono.opencl as cl
    >>> try:
    ...     with cl.CommandQueue(cl.create_some_context(interactive=False)) as queue:
    ...         pass
    ... except cl.Error:
    ...     pass
    """

    _retain, _release = "clRetainCommandQueue", "clReleaseCommandQueue"
    _queries = "clGetCommandQueueInfo", {}
    _queue = None  # the engine's
    is_own = False  # whether it is the one to which the engine gives statements

    def __init__(self, context, device=None, properties=None):
        if not isinstance(context, Context):
            raise TypeError(f"CommandQueue: expected a Context; got {type(context).__name__}")
        devices = context.devices
        if device is None:
            device = devices[0]
        elif device not in devices:
            raise wrong("CommandQueue", "INVALID_DEVICE", f"{device!r} is not in {context!r}")
        flags, others = _split_properties(properties)
        self._context, self._device = context, device
        name = context._engine_name
        plain = flags & ~(
            command_queue_properties.PROFILING_ENABLE
            | command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        )
        if name is None or plain or others:
            self._address = _make_queue(context, device, flags, others)
            return
        if not flags and name not in _own_queues:
            self._address = engine_device(device.int_ptr)[1]
            _own_queues[name] = self
            self.is_own = True
        else:
            from ..._runtime.queues import Queue

            ordered = not flags & command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
            self._queue = Queue(
                name,
                "in" if ordered else "out",
                profiling=bool(flags & command_queue_properties.PROFILING_ENABLE),
            )
            self._address = self._queue._handle.address
        call("clRetainCommandQueue", self._address)

    @property
    def int_ptr(self):
        """Address of the driver's object."""
        if self._finalized:
            warnings.warn(
                "CommandQueue: the queue was used after its block ended",
                CommandQueueUsedAfterExit,
                stacklevel=3,
            )
        return self._address

    @property
    def context(self):
        """The Context that it belongs to."""
        if "_context" not in self.__dict__:
            self._context = self.get_info(command_queue_info.CONTEXT)
        return self._context

    @property
    def device(self):
        """The Device that works on it."""
        try:
            return self._device
        except AttributeError:
            self._device = self.get_info(command_queue_info.DEVICE)
        return self._device

    def get_info(self, param):
        """What the driver answers to a query, one of `command_queue_info`."""
        kinds = {
            command_queue_info.CONTEXT: Context,
            command_queue_info.DEVICE: Device,
            command_queue_info.PROPERTIES: "U",
        }
        if param == command_queue_info.PROPERTIES_ARRAY:
            return decode(driver.answer("clGetCommandQueueInfo", self.int_ptr, param), "*U")
        return decode(
            driver.answer("clGetCommandQueueInfo", self.int_ptr, param), kinds.get(param, "u")
        )

    def flush(self):
        """Give the device what was enqueued; nothing is waited for."""
        self._submit()
        call("clFlush", self.int_ptr)

    def finish(self):
        """Wait until everything that was enqueued is done."""
        self._submit()
        call("clFinish", self.int_ptr)

    def _submit(self):
        """Statements on arrays of this queue that are only recorded so far go to the device."""
        if self._queue is not None:
            self._queue._handle.record()
        elif "unisono.opencl.array" in sys.modules:
            _engine._synchronize()

    def _finalize(self):
        self._finalized = True

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.finish()
        self._finalize()

    def _get_cl_version(self):
        return self.device._get_cl_version()


add_attributes(CommandQueue, command_queue_info)


def _split_properties(properties):
    """Flags and what else a list of properties has."""
    if properties is None:
        return 0, []
    if isinstance(properties, int):
        return int(properties), []
    flags, others = 0, []
    values = list(properties)
    for key, value in zip(values[::2], values[1::2], strict=False):
        if key == queue_properties.PROPERTIES:
            flags = value
        elif key:
            others += [key, value]
    return flags, others


def _make_queue(context, device, flags, others):
    if others:
        wanted = [queue_properties.PROPERTIES, flags, *others, 0]
        wanted = (ctypes.c_uint64 * len(wanted))(*wanted)
        return create("clCreateCommandQueueWithProperties", context.int_ptr, device.int_ptr, wanted)
    return create("clCreateCommandQueue", context.int_ptr, device.int_ptr, flags)


class _Profile:
    """Times of a command in nanoseconds of the device's clock: queued, submit, start, end, complete."""

    def __init__(self, event):
        self._event = event

    def __getattr__(self, name):
        what = getattr(profiling_info, name.upper(), None)
        if what is None:
            raise AttributeError(
                f"profile has no attribute {name!r}; expected queued, submit, start, end or complete"
            )
        return self._event.get_profiling_info(what)


class Event(_engine._DriverEvent, Holder):
    """The end of a command."""

    _retain, _release = "clRetainEvent", "clReleaseEvent"
    _queries = (
        "clGetEventInfo",
        {
            event_info.COMMAND_QUEUE: CommandQueue,
            event_info.CONTEXT: Context,
            event_info.COMMAND_EXECUTION_STATUS: "i",
        },
    )

    def wait(self):
        """Wait until the command is done."""
        code = self._wait()
        if code is None:
            wait_for_events([self])  # which says what is wrong
        elif code:
            raise driver.error_of(code, "clWaitForEvents")

    @property
    def profile(self):
        """Times of the command, in nanoseconds: `queued`, `submit`, `start`, `end`.

        The queue has to be made with ``PROFILING_ENABLE``.
        """
        return _Profile(self)

    def get_profiling_info(self, param):
        """One time of the command, one of `profiling_info`, in nanoseconds."""
        return decode(driver.answer("clGetEventProfilingInfo", self.int_ptr, param), "U")

    def set_callback(self, command_exec_callback_type, pfn_event_notify):
        """Call a function with the status once the command has come so far, on a thread of its own."""
        event, wanted = type(self).from_int_ptr(self.int_ptr), command_exec_callback_type
        reached = threading.Event()

        def notify(_, status, __):
            state[0] = status
            reached.set()

        state = [0]
        event._notify = _notification(notify)
        call(
            "clSetEventCallback",
            event.int_ptr,
            wanted,
            ctypes.cast(event._notify, ctypes.c_void_p),
            None,
        )

        def run():
            reached.wait()
            pfn_event_notify(state[0])
            event._notify = None

        threading.Thread(target=run, daemon=True, name="unisono event").start()


_notification = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
add_attributes(Event, event_info)


class NannyEvent(Event):
    """The end of a command that uses memory of the host, which it keeps."""

    def get_ward(self):
        """The object whose memory the command uses."""
        return self._ward


class UserEvent(Event):
    """An event whose status the program sets.

    Parameters
    ----------
    context : Context
    """

    def __init__(self, context):
        self._address = create("clCreateUserEvent", expected(context, Context, "UserEvent").int_ptr)

    def set_status(self, status):
        """Set `command_execution_status.COMPLETE`, or a negative number for a failure."""
        call("clSetUserEventStatus", self.int_ptr, status)


def waits(wait_for):
    """Number and C array of the events to wait for."""
    if not wait_for:
        return 0, None
    if isinstance(wait_for, Event):
        wait_for = [wait_for]
    for event in wait_for:
        if not isinstance(event, Event):
            raise TypeError(
                f"wait_for: expected a list of events; got {type(event).__name__} in it"
            )
    return len(wait_for), address_array(wait_for)


def enqueue(name, queue, *args, wait_for=None, ward=None):
    """Calls a function that takes a queue, events to wait for and an event; the event."""
    if not isinstance(queue, CommandQueue):
        raise TypeError(f"{name}: expected a CommandQueue; got {type(queue).__name__}")
    made = ctypes.c_void_p()
    function = driver._functions.get(name) or driver.function(name)
    number, events = waits(wait_for) if wait_for else (0, None)
    try:
        code = function(queue.int_ptr, *args, number, events, ctypes.byref(made))
    except ctypes.ArgumentError as error:
        raise driver.no_type(name, error) from None
    if code:
        raise driver.error_of(code, name)
    if ward is None:
        return Event._of(made.value)
    event = NannyEvent._of(made.value)
    event._ward = ward
    return event


def wait_for_events(events):
    """Wait until all of some commands are done.

    Parameters
    ----------
    events : list of Event
    """
    if not events:
        return
    call("clWaitForEvents", len(events), address_array(events))
    for event in events:
        event._ward = None


def enqueue_marker(queue, wait_for=None):
    """An event that has happened once `wait_for`, by default everything before, is done."""
    expected(queue, CommandQueue, "enqueue_marker")._submit()
    return enqueue("clEnqueueMarkerWithWaitList", queue, wait_for=wait_for)


def enqueue_barrier(queue, wait_for=None):
    """Let what is enqueued later wait for `wait_for`, by default for everything before."""
    expected(queue, CommandQueue, "enqueue_barrier")._submit()
    return enqueue("clEnqueueBarrierWithWaitList", queue, wait_for=wait_for)
