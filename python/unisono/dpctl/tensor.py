"""``dpctl.tensor``: arrays with dpctl's names: those of the array API standard, and where they lie."""

from __future__ import annotations

import builtins  # functions of the same names become names of this module
import functools
import math
import operator

import numpy as np

import unisono as un

from .. import _engine
from .._arrays.axes import byte_strides, several
from .._arrays.lifted import OPERATORS, OTHERS, lift
from ..array_api import finfo
from . import _functions
from ._devices import SyclDevice
from ._queues import SyclQueue, get_current_queue, get_device_cached_queue

__all__ = [
    "arange", "asarray", "asnumpy", "clip", "cumulative_logsumexp", "empty", "empty_like", "eye", "finfo", "from_numpy", "full",
    "full_like", "get_print_options", "linspace", "logsumexp", "ones", "ones_like", "print_options", "put", "reduce_hypot",
    "set_print_options", "take", "to_numpy", "top_k", "usm_ndarray", "zeros", "zeros_like",
]  # fmt: skip


def _lifted(result, of=None, on=None):
    """The result with arrays, and numbers of rank 0, as arrays of this module; numbers on the device of the array `of`.

    `on` is the queue and the kind of memory that they tell, by default those of the array `of`.
    """
    if on is None and of is not None:
        on = getattr(of, "_on", None)
    if isinstance(result, tuple):
        made = tuple(_lifted(r, of, on) for r in result)
        return type(result)(*made) if hasattr(result, "_fields") else made
    if isinstance(result, list):
        return [_lifted(r, of, on) for r in result]
    if isinstance(result, _engine._Array):
        made = result._as_type(usm_ndarray)
    elif (
        of is not None
        and type(result).__module__ == "unisono"
        and getattr(result, "shape", 0) == ()
    ):
        made = un.asarray(result, device=of.device)._as_type(usm_ndarray)
    else:
        return result
    if on is not None:
        made._on = on
    return made


def _together(arrays):
    """The queue and the kind of memory of what is computed of arrays, or None for those of the device.

    Raises
    ------
    ExecutionPlacementError
        If they tell several queues.
    """
    told = [a for a in arrays if isinstance(a, usm_ndarray)]
    if not builtins.any("_on" in a.__dict__ for a in told):
        return None
    from .utils import ExecutionPlacementError, get_coerced_usm_type

    queue = told[0].sycl_queue
    if builtins.any(a.sycl_queue != queue for a in told[1:]):
        raise ExecutionPlacementError(
            "Execution placement can not be unambiguously inferred from input arguments; got arrays of several queues"
        )
    return queue, get_coerced_usm_type([a.usm_type for a in told])


def _reach(shape, strides):
    """(lowest element, number of elements, strides) of an array that is not packed, from its first element."""
    try:
        steps = tuple(operator.index(n) for n in strides)
    except TypeError:
        steps = ()
    if len(steps) != len(shape):
        raise ValueError(
            f"usm_ndarray: strides are integers, one for each axis; got {strides}; expected {len(shape)} of them"
        )
    ends = [(n - 1) * step for n, step in zip(shape, steps, strict=True)]
    if 0 in shape:
        return 0, 0, steps
    low = builtins.sum(builtins.min(0, e) for e in ends)
    return low, builtins.sum(builtins.max(0, e) for e in ends) - low + 1, steps


class usm_ndarray(_engine.ndarray):
    """An array: a `unisono.ndarray` that tells its queue and kind of memory by dpctl's names.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype
    strides : tuple of int, optional
        Elements from one to the next along each axis, where the array is not packed.
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
        shape = several(shape)
        if strides is None:
            low, count, steps = 0, math.prod(shape), None
        else:
            low, count, steps = _reach(shape, strides)
        if isinstance(buffer, str):
            queue = (buffer_ctor_kwargs or {}).get("queue")
            made = empty(
                shape if steps is None else count, dtype, order=order, usm_type=buffer, sycl_queue=queue
            )  # fmt: skip
            return (
                made if steps is None else _lifted(_engine._strided(made, shape, steps, -low), made)
            )
        from .memory import as_usm_memory

        dtype = np.dtype(dtype)
        held = as_usm_memory(buffer)
        memory = held._bytes
        first = (offset + low) * dtype.itemsize
        if first < 0 or first + count * dtype.itemsize > memory.size:
            raise ValueError(
                f"usm_ndarray: the memory is too small; got {memory.size} bytes; expected {first + count * dtype.itemsize}"
            )
        flat = memory[first : first + count * dtype.itemsize].view(dtype.name)
        if steps is None:
            made = _engine.ndarray.reshape(flat, shape, order=order)
        else:
            made = _engine._strided(flat, shape, steps, -low)
        return _lifted(made, None, (held.sycl_queue, held.get_usm_type()))

    strides = property(
        lambda self: tuple(n // self.itemsize for n in byte_strides(self)),
        doc="Elements from one to the next along each axis.",
    )
    sycl_queue = property(
        lambda self: self._on[0] if "_on" in self.__dict__ else queue_of(self),
        doc="The SyclQueue that it was made on, else one of its device.",
    )
    sycl_device = property(
        lambda self: SyclDevice(_engine._find_device(self.device.name)), doc="Its SyclDevice."
    )
    sycl_context = property(lambda self: self.sycl_queue.sycl_context, doc="Of its queue.")
    usm_type = property(
        lambda self: (
            self._on[1]
            if "_on" in self.__dict__
            else "device"
            if self.memory == "host" and self.device.name == "cpu"
            else _usm[self.memory]
        ),
        doc='"device", "shared" or "host".',
    )

    @property
    def usm_data(self):
        """Its memory."""
        from .memory import as_usm_memory

        return as_usm_memory(self)

    @property
    def _pointer(self):
        """Address of the first element."""
        return self.data.ptr

    @property
    def __sycl_usm_array_interface__(self):
        return {
            "data": (self._pointer, not self.flags.writeable),
            "shape": tuple(self.shape),
            "strides": None if self.flags.c_contiguous else self.strides,
            "typestr": np.dtype(self.dtype.name).str if self.itemsize else "",
            "version": 1,
            "syclobj": self.sycl_queue,
            "offset": 0,
        }

    def to_device(self, device, stream=None):
        """A copy on another device, or itself."""
        made = _lifted(super().to_device(_place(device, None)))
        if isinstance(device, SyclQueue):
            made._on = device, self.usm_type
        return made

    def _number(self, name):
        if self.size != 1:
            raise ValueError(
                f"only 0-dimensional arrays are converted to Python's numbers; got shape {self.shape}"
            )
        if self.ndim:
            raise TypeError(
                f"only 0-dimensional arrays are converted to Python's numbers; got shape {self.shape}"
            )
        return getattr(_engine.ndarray, name)(self)

    def __setitem__(self, key, value):
        """Stores a value; of a Python complex number its real part where elements are real, as dpctl does."""
        if type(value) is complex and self.dtype.kind != "c":
            value = value.real
        _engine.ndarray.__setitem__(self, key, value)

    def __bool__(self):
        return self._number("__bool__")

    def __int__(self):
        return self._number("__int__")

    def __float__(self):
        return self._number("__float__")

    def __complex__(self):
        return self._number("__complex__")

    def __index__(self):
        return self._number("__index__")


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


def _by_operands(name):
    """The operator, whose results tell the queue and the kind of memory of both operands."""
    of_one = getattr(usm_ndarray, name)

    @functools.wraps(of_one)
    def method(self, other):
        on = _together((self, other))
        made = of_one(self, other)
        if on is not None and isinstance(made, usm_ndarray):
            made._on = on
        return made

    return method


def _in_place(name):
    """The operator in place, of operands that can be cast within their kind."""
    of_array = getattr(_engine.ndarray, name)

    def method(self, other):
        if isinstance(other, _engine._Array):
            _together((self, other))
            if not un.can_cast(other.dtype, self.dtype, casting="same_kind"):
                raise ValueError(
                    f"{name}: {self.dtype} cannot hold values of {other.dtype}; convert with astype first"
                )
            other = other.astype(self.dtype, copy=False)
        try:
            return of_array(self, other)
        except TypeError as error:
            raise ValueError(str(error)) from None

    method.__name__ = method.__qualname__ = name
    return method


for _name in (*OPERATORS, "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(usm_ndarray, _name, _by_operands(_name))
usm_ndarray.__hash__ = None
for _name in "add sub mul truediv floordiv mod pow lshift rshift and or xor".split():
    setattr(usm_ndarray, f"__i{_name}__", _in_place(f"__i{_name}__"))


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
    follows = name.endswith("_like") or name == "asarray"  # the array that it is given

    @functools.wraps(function)
    def made(*args, device=None, usm_type=None, sycl_queue=None, **options):
        if usm_type not in (None, "device", "shared", "host"):
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
        moves = (
            usm_type is not None and isinstance(given, usm_ndarray) and given.usm_type != usm_type
        )
        if moves and name == "asarray" and options.get("copy") is False:
            raise ValueError(
                f"asarray: memory of the kind {usm_type!r} needs a copy of that of {given.usm_type!r}; leave copy out"
            )
        result = function(*args, device=place, **options)
        if usm_type not in (None, "device") and str(place) != "cpu":
            result = un.asarray(result, device=place, memory=usm_type)
        queue = sycl_queue or (device if isinstance(device, SyclQueue) else None)
        if follows and isinstance(given, usm_ndarray) and device is None:
            queue = queue or given.__dict__.get("_on", (None,))[0]
            usm_type = usm_type or given.usm_type
        usm_type = usm_type or "device"
        if name == "asarray" and isinstance(given, usm_ndarray):
            is_same = given.usm_type == usm_type and queue in (None, given.sycl_queue)
            if is_same and result.data.ptr == given.data.ptr and result.dtype == given.dtype:
                return given
            if given.usm_type != usm_type and result.data.ptr == given.data.ptr:
                result = result.copy()
        several = isinstance(result, tuple)
        made = _lifted(result)
        for one in (made if several else (made,)) if queue or usm_type != "device" else ():
            one._on = queue or queue_of(one), usm_type
        return made

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


def _wrapped(function):
    @functools.wraps(function)
    def made(*args, **options):
        on = _together(args)
        result = function(*args, **options)
        if result is None or result is options.get("out"):
            return result
        return _lifted(result, next((a for a in args if isinstance(a, _engine._Array)), None), on)

    return made


top_k = _wrapped(_functions.top_k)
logsumexp = _wrapped(_functions.logsumexp)
reduce_hypot = _wrapped(_functions.reduce_hypot)
cumulative_logsumexp = _wrapped(_functions.cumulative_logsumexp)
take = _wrapped(_functions.take)
put = _wrapped(_functions.put)
clip = _wrapped(_functions.clip)
sort = _wrapped(_functions.sort)
argsort = _wrapped(_functions.argsort)
set_print_options = _functions.set_print_options
get_print_options = _functions.get_print_options
print_options = _functions.print_options


def __array_namespace_info__():
    """What the namespace has, as the array API standard asks."""
    return un.__array_namespace_info__()


def rsqrt(x, /, out=None, order="K"):
    """One over the square root of each element."""
    return _given(1 / un.sqrt(x), x, out, order)


def reciprocal(x, /, out=None, order="K"):
    """One over each element, in floating point."""
    return _given(un.divide(1, x), x, out, order)


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
    return _given(result, x, out, order)


def _given(result, x, out, order):
    """The result in memory of that order, on the queue of `x`, or in `out`."""
    if out is None:
        in_order = result if order in "KA" else un.asarray(result, order=order)
        return _lifted(in_order, x, _together((x,)))
    out[...] = result
    return out


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(un, name)
    if not callable(value) or isinstance(value, (type, un.dtype)):
        return value

    is_elementwise = isinstance(value, un.ufunc) or name in ("real", "imag", "round")

    @functools.wraps(value)
    def function(*args, **options):
        of = next((a for a in args if isinstance(a, _engine._Array)), None)
        listed = args[0] if args and isinstance(args[0], (list, tuple)) else args
        on = _together(listed)
        out = options.get("out")
        if not is_elementwise:
            order = options.pop("order", "K") if name in ("where", "matmul") else "K"
            if options.get("kind") == "radixsort":
                options = {**options, "kind": "stable"}
            result = value(*args, **options)
            if out is not None and result is out:
                return out
            return _lifted(result if order in "KA" else _functions.in_order(result, order), of, on)
        order = options.pop("order", "K")
        options.pop("out", None)
        try:
            result = value(*args, **options)
        except TypeError as error:
            if builtins.any(
                isinstance(a, _engine._Array) for a in args
            ) and "not defined for" in str(error):
                raise ValueError(str(error)) from None
            raise
        if name in ("real", "imag"):  # of the engine they are views
            result = result.copy()
        if out is None:
            return _lifted(result if order in "KA" else _functions.in_order(result, order), of, on)
        return _functions.stored(_lifted(result, of, on), name, out)

    if isinstance(value, un.ufunc):
        function.types = function.types_ = list(value.types)
        function.nin, function.nout, function.name_ = value.nin, value.nout, value.__name__

    globals()[name] = function
    return function


def __dir__():
    return sorted({*globals(), *dir(un)})
