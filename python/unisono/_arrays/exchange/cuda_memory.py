"""Arrays in memory of CUDA devices, shared with other libraries by ``__cuda_array_interface__`` (version 3)."""

from ... import _engine
from ..._dtype.objects import DType
from ..._records.strided_memory import Memory, packed_strides, reach
from ..axes import byte_strides


def interface(x):
    """What the protocol tells of an array of ours.

    From then on statements on the array are submitted at once, in the order of the program. Who uses the memory
    synchronises with ``"stream"`` first, and lets our later work wait for its own (`Queue.from_handle`).
    """
    if not getattr(x.device, "name", "").startswith("cuda"):
        raise AttributeError(
            f"__cuda_array_interface__: arrays on CUDA devices have it; got one on {x.device}"
        )
    plain, offset = x.data._plain()
    address, stream = _engine._lend_on_stream(plain)
    typestr, descr = _described(x.dtype)
    return {
        "shape": tuple(x.shape),
        "typestr": typestr,
        "descr": descr,
        "data": (address + offset, not x.flags.writeable),
        "strides": None if x.flags.c_contiguous else byte_strides(x),
        "stream": stream,
        "version": 3,
    }


def _described(dtype):
    """(typestr, descr) of the protocol; those of records and dates are NumPy's."""
    if not isinstance(dtype, DType):
        return dtype.str, dtype.descr
    typestr = f"{'|' if dtype.itemsize == 1 else '<'}{dtype.kind}{dtype.itemsize}"
    return typestr, [("", typestr)]


def shared(obj):
    """An array of ours over the memory that an object of another library describes; it keeps the object.

    The device's own queue waits for what the object's stream was given so far. Where there is no CUDA device, the
    memory is the host's: programs for CuPy run there, too.
    """
    described = obj.__cuda_array_interface__
    if described.get("mask") is not None:
        raise ValueError(
            "asarray: does not support masks; __cuda_array_interface__ has a mask; expected none; fill the masked"
            " elements first"
        )
    stream = described.get("stream")
    if stream == 0:
        raise ValueError(
            "asarray: __cuda_array_interface__ names the stream 0, which may be either default one; expected 1 (the"
            " legacy one), 2 (the thread's), a stream's address or None"
        )
    kind = described["typestr"]
    has_cuda = any(d.name.startswith("cuda:") for d in _engine._devices())
    if kind[0] == ">" or (kind[1] not in "biufcVmM" and has_cuda):
        raise (ValueError if kind[0] == ">" else TypeError)(
            f"asarray: the elements of __cuda_array_interface__ are of no dtype here; got {kind!r}; expected numbers,"
            " bools, records or dates in the machine's order of bytes"
        )
    shape = tuple(described["shape"])
    if not has_cuda:
        return _shared_on_host(obj, kind, shape, described)
    address, readonly = described["data"]
    if kind[1] in "VmM":
        return _shared_records(obj, _dtype(kind, described), shape, described)
    names = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
    width = int(kind[2:])
    dtype = names[kind[1]] + ("" if kind[1] == "b" else str(8 * width))
    if 0 in shape:
        return _engine._empty_of_kind("device", shape, dtype, "cuda")
    strides = described.get("strides") or packed_strides(shape, width)
    low, high = reach(shape, strides, width)
    made = _adopted(obj, described, low, high, -low, dtype, shape, tuple(strides))
    if readonly:
        made.flags.writeable = False
    return made


def _adopted(obj, described, low, high, first, dtype, shape, strides):
    """An array over the bytes from `low` to `high` around the address; `first` of them lie before its first element."""
    address = described["data"][0]
    device = _engine._device_of_address(address)
    if device is None:
        raise _engine.DeviceError(
            f"asarray: __cuda_array_interface__ tells of memory that no CUDA device here has; got {address:#x}"
        )
    stream = described.get("stream") or 0
    return _engine._adopt_buffer(
        device, 0, address + low, high - low, stream, obj, dtype, shape, strides, first
    )


def _shared_records(obj, dtype, shape, described):
    """Records, or dates, over the bytes among which they lie."""
    from ..._records.records import RecordArray

    address, readonly = described["data"]
    if dtype.hasobject:
        raise ValueError(
            f"asarray: __cuda_array_interface__ tells of Python objects; got {dtype}; expected records of numbers"
        )
    strides = described.get("strides") or packed_strides(shape, dtype.itemsize)
    low, high = reach(shape, strides, dtype.itemsize)
    if low == high:
        memory = Memory.of_size(0).on_device("cuda:0")
    else:
        held = _adopted(obj, described, low, high, 0, "uint8", (high - low,), (1,))
        memory = Memory(held, min((address + low) & -(address + low), 16))
    return RecordArray(memory, dtype, shape, strides, -low, readonly)


def _dtype(typestr, described):
    """NumPy's dtype of the elements; the padding of records has no names."""
    import numpy as np

    dtype = np.dtype(typestr)
    if dtype.kind != "V" or not described.get("descr"):
        return dtype
    records = np.lib.format.descr_to_dtype(described["descr"])
    return records if records.names else dtype


class _Described:
    """What NumPy's protocol tells of memory of the host, which another object keeps."""

    def __init__(self, owner, described):
        self._owner = owner
        self.__array_interface__ = described


def _shared_on_host(obj, typestr, shape, described):
    import numpy as np

    dtype = _dtype(typestr, described)
    if 0 in shape:
        return _engine._asarray(np.empty(shape, dtype), None, None, False)
    described = {
        "typestr": typestr,
        "shape": shape,
        "data": described["data"],
        "strides": described.get("strides"),
        "version": 3,
    }
    made = np.asarray(_Described(obj, described))
    made = made.view(dtype) if dtype.names else made
    if not shape:  # what has no axes is copied, as a number is
        return _engine._asarray(made.reshape(1), None, None, False).reshape(())
    return _engine._asarray(made, None, None, False)
