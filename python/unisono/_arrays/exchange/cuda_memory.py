"""Arrays in memory of CUDA devices, shared with other libraries by ``__cuda_array_interface__`` (version 3)."""

from ... import _engine


def interface(x):
    """What the protocol tells of an array of ours.

    From then on statements on the array are submitted at once, in the order of the program. Who uses the memory
    synchronises with ``"stream"`` first, and lets our later work wait for its own (`Queue.from_handle`).
    """
    if not getattr(x.device, "name", "").startswith("cuda"):
        raise AttributeError(
            f"__cuda_array_interface__: arrays on CUDA devices have it; got one on {x.device}"
        )
    address, stream = _engine._lend_on_stream(x)
    typestr = f"{'|' if x.itemsize == 1 else '<'}{x.dtype.kind}{x.itemsize}"
    return {
        "shape": tuple(x.shape),
        "typestr": typestr,
        "descr": [("", typestr)],
        "data": (address, not x.flags.writeable),
        "strides": None if x.flags.c_contiguous else tuple(x.strides),
        "stream": stream,
        "version": 3,
    }


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
    if kind[0] == ">" or (kind[1] not in "biufc" and has_cuda):
        raise (ValueError if kind[0] == ">" else TypeError)(
            f"asarray: the elements of __cuda_array_interface__ are of no dtype here; got {kind!r}; expected numbers"
            " or bools in the machine's order of bytes"
        )
    shape = tuple(described["shape"])
    if not has_cuda:
        return _shared_on_host(obj, kind, shape, described)
    names = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
    width = int(kind[2:])
    dtype = names[kind[1]] + ("" if kind[1] == "b" else str(8 * width))
    address, readonly = described["data"]
    if 0 in shape:
        return _engine._empty_of_kind("device", shape, dtype, "cuda")
    strides = described.get("strides")
    if strides is None:
        strides, step = [], width
        for n in reversed(shape):
            strides.insert(0, step)
            step *= n
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    device = _engine._device_of_address(address)
    if device is None:
        raise _engine.DeviceError(
            f"asarray: __cuda_array_interface__ tells of memory that no CUDA device here has; got {address:#x}"
        )
    made = _engine._adopt_buffer(
        device,
        0,
        address + low,
        high - low + width,
        stream or 0,
        obj,
        dtype,
        shape,
        tuple(strides),
        -low,
    )
    if readonly:
        made.flags.writeable = False
    return made


class _Described:
    """What NumPy's protocol tells of memory of the host, which another object keeps."""

    def __init__(self, owner, described):
        self._owner = owner
        self.__array_interface__ = described


def _shared_on_host(obj, typestr, shape, described):
    import numpy as np

    dtype = np.dtype(typestr)
    if typestr[1] == "V" and described.get("descr"):  # whose padding has no names
        dtype = np.lib.format.descr_to_dtype(described["descr"])
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
