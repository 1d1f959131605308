"""Queues of devices, events, and the device that a block of a program uses."""

import contextvars
import threading

from .. import _engine
from .._engine import DeviceError
from .mesh import own_mesh

_engine._define_queues(_engine)
_place = contextvars.ContextVar("unisono_place", default=None)


class Queue:
    """Work of a device, done while the program goes on.

    A device has one queue of its own. Work of others waits only for what it depends on: for what writes the
    memory that it reads, and for what uses the memory that it writes.

    Parameters
    ----------
    device : Device or str, optional
        By default the device of ``with un.device(...)``, else that of the setting.
    order : {"in", "out"}
        "in": work is done in the order in which it was given. "out": work that does not depend on other work may run
        beside it.
    profiling : bool
        Whether the device notes times, for `Event.profile`.

    Raises
    ------
    DeviceError
        If the device has no queues, as the CPU, which computes before a statement returns.
    ValueError
        If `order` is another word.

    See Also
    --------
    unisono.device : Give a queue the statements of a block.

    Examples
    --------
    >>> import unisono as un
    >>> for d in un.devices("opencl")[:1]:
    ...     with un.device(d, queue=un.Queue(d)) as q:
    ...         x = un.ones(1000) + 1
    ...     q.synchronize()
    """

    def __init__(self, device=None, order="in", profiling=False):
        if order not in ("in", "out"):
            raise ValueError(
                f'Queue: order is an unknown word; got {order!r}; expected "in" or "out"'
            )
        self._handle = _engine._Queue(device, order == "in", bool(profiling))

    @classmethod
    def from_handle(cls, handle, device=None):
        """The queue of a CUDA stream that another library made.

        What both give the stream is done in the order in which it was given.

        Parameters
        ----------
        handle : int
            Address of the stream (``cupy.cuda.Stream.ptr``, ``torch.cuda.Stream.cuda_stream``), 1 for the legacy
            default stream, or 2 for the thread's. It must live as long as it has work of ours.
        device : Device or str, optional
            Whose stream it is; by default that of a new Queue.

        Returns
        -------
        Queue

        Raises
        ------
        DeviceError
            If the device is not a CUDA device.
        ValueError
            If the stream does not belong to the device.

        Examples
        --------
        >>> import unisono as un
        >>> for d in un.devices("cuda")[:1]:
        ...     legacy = un.Queue.from_handle(1, d)
        ...     with un.device(d, queue=legacy):
        ...         x = un.ones(1000) + 1
        """
        self = object.__new__(cls)
        self._handle = _engine._Queue.of_handle(device, handle)
        return self

    @property
    def handle(self):
        """Address of the driver's object: a CUDA stream, or a ``cl_command_queue``."""
        return self._handle.address

    @property
    def device(self):
        """The Device that works on it."""
        return _engine._find_device(self._handle.device)

    @property
    def order(self):
        """Order of the work, "in" or "out"."""
        return "in" if self._handle.in_order else "out"

    @property
    def profiling(self):
        """Whether the device notes times."""
        return self._handle.profiling

    def record(self):
        """An event that has happened once the work that the queue was given so far is done.

        Statements that were recorded for the queue are submitted; nothing is waited for.

        Returns
        -------
        Event
        """
        return Event._of(self)

    def wait_for(self, event):
        """Let the queue's later work wait for an event, of this or another queue.

        Parameters
        ----------
        event : Event
            Of a queue of another device, it is the program that waits.

        Raises
        ------
        TypeError
            If `event` is not an event.
        """
        if not isinstance(event, Event):
            raise TypeError(
                f"wait_for: expected an Event, as record() returns; got {type(event).__name__}"
            )
        self._handle.wait_on(event._queue._handle, event._number)

    def synchronize(self):
        """Wait until the queue's work is done.

        Raises
        ------
        Exception
            What went wrong with work on the queue, if nobody has met that so far.
        """
        self._handle.synchronize()

    def __repr__(self):
        return f"<Queue of {self._handle.device}, order {self.order!r}>"


class Event:
    """The end of what a queue was given, made by `Queue.record`.

    Examples
    --------
    >>> import unisono as un
    >>> for d in un.devices("opencl")[:1]:
    ...     q = un.Queue(d, profiling=True)
    ...     with un.device(d, queue=q):
    ...         x = un.arange(1000) * 2
    ...     event = q.record()
    ...     event.wait()
    ...     assert event.done and event.profile.end >= event.profile.start
    """

    def __init__(self):
        raise TypeError("Event: events are made by the record() of a Queue")

    @classmethod
    def _of(cls, queue):
        self = object.__new__(cls)
        self._queue = queue
        self._number = queue._handle.record()
        return self

    def __del__(self):
        if hasattr(self, "_number"):
            self._queue._handle.forget_times(self._number)

    @property
    def done(self):
        """Whether it has happened; returns at once."""
        return self._queue._handle.has_passed(self._number)

    def wait(self):
        """Wait until it has happened; Ctrl-C ends the wait."""
        self._queue._handle.wait(self._number)

    def add_callback(self, function):
        """Call a function once the event has happened, on a thread of its own.

        Parameters
        ----------
        function : callable
            Takes the event.

        Raises
        ------
        TypeError
            If `function` cannot be called.
        """
        if not callable(function):
            raise TypeError(f"add_callback: expected a function; got {type(function).__name__}")

        def run():
            self.wait()
            function(self)

        threading.Thread(target=run, daemon=True, name="unisono event").start()

    @property
    def profile(self):
        """Times of the work since the queue's event before this one, in nanoseconds of the device's clock.

        Waits for the event. `queued`, `submit` and `start` are those of the first command, `end` is that of the last.

        Raises
        ------
        DeviceError
            If the queue was made without ``profiling=True``.
        """
        if not self._queue.profiling:
            raise DeviceError("profile: this queue notes no times; use Queue(profiling=True)")
        self.wait()
        return Profile(*self._queue._handle.times(self._number))

    def elapsed(self, other):
        """Nanoseconds from this event to another one, of queues with ``profiling=True`` of one device.

        Parameters
        ----------
        other : Event

        Returns
        -------
        int
        """
        if not isinstance(other, Event):
            raise TypeError(f"elapsed: expected an Event; got {type(other).__name__}")
        return other.profile.end - self.profile.end

    def __repr__(self):
        return f"<Event of {self._queue!r}, {'done' if self.done else 'not done'}>"


class Profile:
    """Times of work on a device, in nanoseconds of its clock: `queued`, `submit`, `start`, `end`."""

    __slots__ = ("queued", "submit", "start", "end")

    def __init__(self, queued, submit, start, end):
        self.queued, self.submit, self.start, self.end = queued, submit, start, end

    def __repr__(self):
        return f"Profile(queued={self.queued}, submit={self.submit}, start={self.start}, end={self.end})"


class device:
    """The device on which the statements of a block make arrays, and the queue that they go to.

    Statements compute where their operands lie, whatever the block says. The choice belongs to the thread or
    asyncio task.

    Parameters
    ----------
    name : Device or str, optional
        By default that of the queue.
    queue : Queue, optional
        What works on arrays of the device goes there; by default to the device's own queue. ``with ... as q`` gives
        the queue, or None.

    Raises
    ------
    DeviceError
        If there is no such device.
    ValueError
        If the queue belongs to another device.

    Examples
    --------
    >>> import unisono as un
    >>> with un.device("cpu"):
    ...     x = un.zeros(3)
    >>> x.device.name
    'cpu'
    """

    def __init__(self, name=None, queue=None):
        if queue is not None and not isinstance(queue, Queue):
            raise TypeError(
                f"device: queue is not a Queue; got {type(queue).__name__}; use un.Queue(device)"
            )
        if name is None and queue is None:
            raise TypeError(
                "device: expected the name of a device, or a queue; see unisono.devices()"
            )
        self._queue = queue
        self._place = _engine._Place(name, None if queue is None else queue._handle)
        self._tokens = []

    def __enter__(self):
        _ask()
        self._tokens.append(_place.set(self._place))
        return self._queue

    def __exit__(self, *exception):
        _place.reset(self._tokens.pop())

    def _stay(self):
        """Take the choice without a block: until another one, or the end of the block around."""
        _ask()
        _place.set(self._place)


def place():
    """What the thread's statements are for by `device`, or None."""
    return _place.get()


def set_place(kept):
    """Choose again what `place` gave."""
    _place.set(kept)


def _ask():
    """From the first block on the engine asks which device and queue a statement is for; virtual ranks each."""
    if not _asked or own_mesh() is not None:
        _engine._ask_for_places(_place)
        _asked[:] = [True]


_asked = []
