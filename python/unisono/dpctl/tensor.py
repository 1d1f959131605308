"""``dpctl.tensor``: arrays with dpctl's names: those of the array API standard, and where they lie."""

from __future__ import annotations

import functools

import numpy as np

import unisono as un

from .. import _engine
from .._arrays.lifted import OPERATORS, OTHERS, lift
from ..array_api import finfo
from ._devices import SyclDevice
from ._queues import SyclQueue, get_current_queue, get_device_cached_queue

__all__ = [
    "arange", "asarray", "asnumpy", "empty", "empty_like", "eye", "finfo", "from_numpy", "full", "full_like", "linspace", "ones",
    "ones_like", "to_numpy", "usm_ndarray", "zeros", "zeros_like",
]  # fmt: skip


def _lifted(result, of=None):
    """The result with arrays, and numbers of rank 0, as arrays of this module; numbers on the device of the array `of`."""
    if isinstance(result, tuple):
        made = tuple(_lifted(r, of) for r in result)
        return type(result)(*made) if hasattr(result, "_fields") else made
    if isinstance(result, list):
        return [_lifted(r, of) for r in result]
    if isinstance(result, _engine._Array):
        return result._as_type(usm_ndarray)
    if (
        of is not None
        and type(result).__module__ == "unisono"
        and getattr(result, "shape", 0) == ()
    ):
        return un.asarray(result, device=of.device)._as_type(usm_ndarray)
    return result


class usm_ndarray(_engine.ndarray):
    """An array: a `unisono.ndarray` that tells its queue and kind of memory by dpctl's names.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
    strides : None
    buffer : {"device", "shared", "host"} or memory
        Kind of the memory, or memory of `unisono.dpctl.memory` that it lies in.
    offset : int
        Elements in front of it.
    order : {"C", "F"}
    buffer_ctor_kwargs : dict
        ``{"queue": SyclQueue}``.
    """

    _lifts_itself = True

    def __new__(
        cls, shape, dtype="float64", strides=None, buffer="device", offset=0, order="C", buffer_ctor_kwargs=None
    ):  # fmt: skip
        if strides is not None:
            raise ValueError(
                f"usm_ndarray: strides are not chosen; got {strides}; expected None; take a view"
            )
        if isinstance(buffer, str):
            queue = (buffer_ctor_kwargs or {}).get("queue")
            return empty(shape, dtype, order=order, usm_type=buffer, sycl_queue=queue)
        from .memory import as_usm_memory

        dtype = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        memory = as_usm_memory(buffer)._bytes
        first = offset * dtype.itemsize
        if first + count * dtype.itemsize > memory.size:
            raise ValueError(
                f"usm_ndarray: the memory is too small; got {memory.size} bytes; expected {first + count * dtype.itemsize}"
            )
        flat = memory[first : first + count * dtype.itemsize].view(dtype.name)
        return _lifted(_engine.ndarray.reshape(flat, shape, order=order))

    sycl_queue = property(lambda self: queue_of(self), doc="A SyclQueue of its device.")
    sycl_device = property(
        lambda self: SyclDevice(_engine._find_device(self.device.name)), doc="Its SyclDevice."
    )
    sycl_context = property(lambda self: queue_of(self).sycl_context, doc="Of its queue.")
    usm_type = property(
        lambda self: (
            "device" if self.memory == "host" and self.device.name == "cpu" else _usm[self.memory]
        ),
        doc='"device", "shared" or "host".',
    )

    @property
    def usm_data(self):
        """Its memory."""
        from .memory import as_usm_memory

        return as_usm_memory(self)

    def to_device(self, device, stream=None):
        """A copy on another device, or itself."""
        return _lifted(super().to_device(_place(device, None)))


# What dpctl's Device has beside the engine's names; arrays keep one kind of device.
_engine.Device.sycl_device = property(lambda self: SyclDevice(_engine._find_device(self.name)))
_engine.Device.sycl_queue = property(lambda self: get_device_cached_queue(self.sycl_device))
_engine.Device.sycl_context = property(lambda self: self.sycl_queue.sycl_context)
_engine.Device.print_device_info = lambda self: self.sycl_device.print_device_info()

_usm = {"device": "device", "shared": "shared", "host": "host", "pinned": "host"}
lift(
    usm_ndarray,
    [
        *OPERATORS, *OTHERS, "__getitem__",
        *"T mT real imag reshape ravel copy astype transpose sum prod max min mean std var any all cumsum take squeeze".split(),
    ],
    _lifted,
)  # fmt: skip


def queue_of(array):
    """A SyclQueue of an array's device."""
    current = get_current_queue() if array.device.name != "cpu" else None
    if current is not None and current._device == array.device:
        return current
    return get_device_cached_queue(SyclDevice(_engine._find_device(array.device.name)))


def _place(device, queue):
    """The engine's device that the arguments of a creation mean."""
    if queue is not None:
        if not isinstance(queue, SyclQueue):
            raise TypeError(f"sycl_queue: expected a SyclQueue; got {type(queue).__name__}")
        return queue._device
    if device is None:
        return None
    if isinstance(device, SyclQueue):
        return device._device
    if isinstance(device, (SyclDevice, str)):
        return SyclDevice(device)._device
    return device


def _creation(name):
    function = getattr(un, name)

    @functools.wraps(function)
    def made(*args, device=None, usm_type="device", sycl_queue=None, **options):
        if usm_type not in ("device", "shared", "host"):
            raise ValueError(
                f"{name}: the kind of memory is 'device', 'shared' or 'host'; got {usm_type!r}"
            )
        given = args[0] if args and isinstance(args[0], _engine._Array) else None
        place = _place(device, sycl_queue)
        if place is None:
            place = given.device if given is not None else get_current_queue()._device
        options.pop("order", None) if options.get("order") in (
            "K",
            "A",
        ) and name != "asarray" else None
        result = function(*args, device=place, **options)
        if usm_type != "device" and str(place) != "cpu":
            result = un.asarray(result, device=place, memory=usm_type)
        return _lifted(result)

    made.__doc__ = f"`unisono.{name}` of a device or `sycl_queue`, in memory of a `usm_type`; gives a usm_ndarray."
    return made


arange = _creation("arange")
asarray = _creation("asarray")
empty = _creation("empty")
empty_like = _creation("empty_like")
eye = _creation("eye")
full = _creation("full")
full_like = _creation("full_like")
linspace = _creation("linspace")
ones = _creation("ones")
ones_like = _creation("ones_like")
zeros = _creation("zeros")
zeros_like = _creation("zeros_like")


def from_numpy(np_ary, /, *, device=None, usm_type="device", sycl_queue=None):
    """A usm_ndarray with a copy of an array.

    Examples
    --------
    >>> import numpy as np
    >>> import unisono.dpctl.tensor as dpt
    >>> dpt.asnumpy(dpt.from_numpy(np.arange(3)) + 1)
    array([1, 2, 3])
    """
    return asarray(np_ary, device=device, usm_type=usm_type, sycl_queue=sycl_queue)


def to_numpy(usm_ary, /):
    """A NumPy array with a copy of the elements."""
    if not isinstance(usm_ary, _engine._Array):
        raise TypeError(f"to_numpy: expected an array; got {type(usm_ary).__name__}")
    return usm_ary.get()


asnumpy = to_numpy


def rsqrt(x, /, out=None, order="K"):
    """One over the square root of each element."""
    return _given(1 / un.sqrt(x), out, order)


def proj(x, /, out=None, order="K"):
    """Complex numbers, infinite ones as (inf, 0) with the sign of the imaginary part."""
    x = (
        x
        if x.dtype.kind == "c"
        else x.astype("complex64" if x.dtype.itemsize < 8 else "complex128")
    )
    infinite, result = un.isinf(x), un.empty_like(x)
    result.real[...] = un.where(infinite, un.inf, x.real)
    result.imag[...] = un.where(infinite, un.copysign(0.0, x.imag), x.imag)
    return _given(result, out, order)


def _given(result, out, order):
    if out is None:
        return _lifted(result if order in "KA" else un.asarray(result, order=order))
    out[...] = result
    return out


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(un, name)
    if not callable(value) or isinstance(value, (type, un.dtype)):
        return value

    @functools.wraps(value)
    def function(*args, **options):
        of = next((a for a in args if isinstance(a, _engine._Array)), None)
        result = value(*args, **options)
        out = options.get("out")
        return out if out is not None and result is out else _lifted(result, of)

    if isinstance(value, un.ufunc):
        function.types = function.types_ = list(value.types)
        function.nin, function.nout, function.name_ = value.nin, value.nout, value.__name__

    globals()[name] = function
    return function


def __dir__():
    return sorted({*globals(), *dir(un)})
