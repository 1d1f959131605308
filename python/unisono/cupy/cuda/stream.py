"""``cupy.cuda.Stream`` and ``Event``: work beside that of other streams, and moments in it."""

from __future__ import annotations

import threading
from typing import NamedTuple

from ..._runtime import queues
from ...cuda import devices as _devices
from .device import Device

__all__ = ["Event", "ExternalStream", "Stream", "get_current_stream", "get_elapsed_time"]

_mine = threading.local()


class Stream(_devices.Stream):
    """Work in order beside that of other streams; ``with stream:`` sends the statements of a block there.

    Parameters
    ----------
    null, non_blocking, ptds : bool, optional
        CuPy's; a null stream is the device's own.
    """

    def __init__(self, null=False, non_blocking=False, ptds=False):
        super().__init__()
        self._is_null = bool(null)
        if null:
            self._queue = None
        self._blocks = []

    @property
    def done(self):
        """Whether all that it was given is done."""
        return self._queue is None or self._queue.record().done

    def record(self, event=None):
        """Record an event here, by default a new one."""
        return super().record(event or Event())

    def statements(self):
        """A context whose statements go to the stream; those of the null stream to the device's own queue."""
        device = _devices.current_device()
        if self._queue is not None or device.name == "cpu":
            return super().statements()
        return queues.device(device.name)

    def use(self):
        """Make it the current stream of the thread, until the end of the block around, if there is one.

        Returns
        -------
        Stream
            Itself.
        """
        levels = _levels()
        top = levels.pop() if levels else _Level(self, queues.place(), False)
        if self._queue is not None:
            self.statements()._stay()
        elif self._is_null:
            queues.set_place(top.before)
        if top.is_block or not self._is_null:
            levels.append(top._replace(stream=self))
        return self

    @staticmethod
    def from_external(stream):
        """The stream of another library's object that has the protocol of CUDA's streams, as `ExternalStream`.

        Parameters
        ----------
        stream : object
            Its ``__cuda_stream__`` gives 0 and the handle.

        Returns
        -------
        ExternalStream
        """
        if not hasattr(stream, "__cuda_stream__"):
            raise TypeError(
                f"Stream.from_external: expected an object that has __cuda_stream__; got {type(stream).__name__}"
            )
        return ExternalStream(stream.__cuda_stream__()[1])

    @property
    def ptr(self):
        """Handle of the CUDA stream, for other libraries; 0 for the null stream, and on other devices."""
        on_cuda = self._queue is not None and self._queue.device.name.startswith("cuda")
        return self.handle if on_cuda else 0

    def __cuda_stream__(self):
        """The protocol of CUDA's streams: its version, 0, and the handle."""
        return 0, self.ptr

    @property
    def device_id(self):
        """Number of its device among those of its kind."""
        return _devices._Current(self._device or _devices.current_device()).id

    def __enter__(self):
        block = self.statements()
        levels = _levels()
        levels.append(_Level(self, levels[-1].before if levels else queues.place(), True))
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(self, *error):
        _levels().pop()
        self._blocks.pop().__exit__(*error)

    def __eq__(self, other):
        return self is other or (isinstance(other, Stream) and self._is_null and other._is_null)

    def __hash__(self):
        return 0 if self._is_null else id(self)

    def __repr__(self):
        return "<CUDA null stream>" if self._is_null else super().__repr__()


class ExternalStream(Stream):
    """A CUDA stream that another library made: what both give it is done in the order in which it was given.

    Parameters
    ----------
    ptr : int
        As of `unisono.Queue.from_handle`.
    device_id : int, optional
        Number of its device; by default of the current one.

    Raises
    ------
    DeviceError
        If the device is not a CUDA device.
    ValueError
        If the stream does not belong to the device.
    """

    def __init__(self, ptr, device_id=-1):
        device = Device(None if device_id < 0 else device_id)._device
        self._device, self._queue = device, queues.Queue.from_handle(ptr, device)
        self._is_null, self._blocks = False, []


Stream.null = Stream.__new__(Stream)
Stream.null._device, Stream.null._queue, Stream.null._blocks = None, None, []
Stream.null._is_null = True
Stream.ptds = Stream.null  # the threads of a program share the device's own queue


class _Level(NamedTuple):
    """A stream that is current, by a block or by `use`, and the choice of `unisono.device` around all of them."""

    stream: Stream
    before: object
    is_block: bool


def _levels():
    """The blocks that this thread is in, the innermost last; in front of them what `use` chose outside of blocks."""
    if not hasattr(_mine, "levels"):
        _mine.levels = []
    return _mine.levels


def get_current_stream(device_id=None):
    """The stream of the innermost ``with stream:`` or of `Stream.use`, else the null stream."""
    return _levels()[-1].stream if _levels() else Stream.null


class Event(_devices.Event):
    """A moment in the work of a device.

    Parameters
    ----------
    block, disable_timing, interprocess : bool, optional
        CuPy's, without effect.
    """

    def __init__(self, block=False, disable_timing=False, interprocess=False):
        super().__init__()

    ptr = 0

    @property
    def done(self):
        """Whether it has happened."""
        return self.query()


def get_elapsed_time(start_event, end_event):
    """Milliseconds between two events."""
    return start_event.elapsed_time(end_event)
