"""OpenCL beside pyopencl: its contexts and queues of unisono's devices, and arrays that both use without copies.

pyopencl must be installed. Arrays of pyopencl that were made in the context of a device are taken by `unisono.asarray`
and by every function that takes arrays.
"""

from ... import _engine

_devices = {}  # names by the address of their context


def _pyopencl():
    try:
        import pyopencl
        import pyopencl.array
    except ImportError as error:
        raise ImportError(
            "unisono.opencl: needs pyopencl, which is not installed; pip install pyopencl"
        ) from error
    return pyopencl


def _handles(device):
    """Addresses of the context, the device and the queue; the context is remembered."""
    name = _engine._find_device("opencl" if device is None else str(device)).name
    handles = _engine._native_handles(name)
    _devices[handles[0]] = name
    return handles


def context(device=None):
    """The context of a device, as pyopencl's.

    Parameters
    ----------
    device : Device or str, optional
        By default the first OpenCL device.

    Returns
    -------
    pyopencl.Context

    Raises
    ------
    DeviceError
        If it is no OpenCL device.
    ImportError
        If pyopencl is not installed.

    Examples
    --------
    >>> import unisono as un
    >>> for d in un.devices("opencl")[:1]:
    ...     try:
    ...         context = un.opencl.context(d)
    ...     except ImportError:
    ...         pass
    """
    handles = _handles(device)
    return _pyopencl().Context.from_int_ptr(handles[0], retain=True)


def queue(device=None):
    """The queue of a device on which statements run, as pyopencl's.

    What pyopencl gives it runs behind the statements before it and before those after it.

    Parameters
    ----------
    device : Device, str or Queue, optional
        By default the first OpenCL device. Of a `unisono.Queue` it is that queue.

    Returns
    -------
    pyopencl.CommandQueue

    Raises
    ------
    DeviceError
        If it is no OpenCL device.
    ImportError
        If pyopencl is not installed.

    Examples
    --------
    >>> import unisono as un
    >>> for d in un.devices("opencl")[:1]:
    ...     try:
    ...         queue = un.opencl.queue(d)
    ...     except ImportError:
    ...         pass
    """
    handle = getattr(device, "_handle", None)
    if handle is not None:
        _handles(handle.device)
        address = handle.address
    else:
        address = _handles(device)[2]
    return _pyopencl().CommandQueue.from_int_ptr(address, retain=True)


def to_pyopencl(x):
    """The array of pyopencl on the memory of `x`, without a copy.

    Commands on the device's own queue, which is the array's, run between the statements before and after them; the end
    of commands on another queue must be waited for before the next statement uses the memory. From then on statements
    on this memory are submitted as soon as they are recorded.

    Parameters
    ----------
    x : ndarray
        On an OpenCL device.

    Returns
    -------
    pyopencl.array.Array
        ``.base_data`` is the buffer and ``.offset`` where `x` begins in it, in bytes.

    Raises
    ------
    DeviceError
        If `x` is not on an OpenCL device.
    ImportError
        If pyopencl is not installed.

    Examples
    --------
    >>> import unisono as un
    >>> for d in un.devices("opencl")[:1]:
    ...     try:
    ...         y = un.opencl.to_pyopencl(un.arange(3, device=d))
    ...     except ImportError:
    ...         pass
    """
    cl = _pyopencl()
    if not isinstance(x, _engine._Array):
        raise TypeError(
            f"to_pyopencl: expected an array of unisono on an OpenCL device; got {type(x).__name__}"
        )
    address, offset = _engine._lend_buffer(x)
    import numpy

    return cl.array.Array(
        queue(x.device),
        x.shape,
        numpy.dtype(x.dtype.name),
        data=cl.MemoryObject.from_int_ptr(address, retain=True),
        offset=offset,
        strides=x.strides,
    )


def from_pyopencl(x):
    """Array on the memory of an array of pyopencl, without a copy.

    Statements on it wait for the array's queue, and complete before they return.

    Parameters
    ----------
    x : pyopencl.array.Array
        In the context of a device (`context`), in a buffer or in shared virtual memory.

    Returns
    -------
    ndarray

    Raises
    ------
    DeviceError
        If the array belongs to another context.
    TypeError
        If it is no array of pyopencl.

    Examples
    --------
    >>> import unisono as un
    >>> for d in un.devices("opencl")[:1]:
    ...     try:
    ...         x = un.opencl.to_pyopencl(un.arange(3, device=d))
    ...         assert un.opencl.from_pyopencl(x).tolist() == [0, 1, 2]
    ...     except ImportError:
    ...         pass
    """
    if not hasattr(x, "base_data"):
        raise TypeError(f"from_pyopencl: expected an array of pyopencl; got {type(x).__name__}")
    made = _shared(x)
    if made is None:
        raise _engine.DeviceError(
            "from_pyopencl: the array belongs to a context that is not of one of unisono's devices; make it in "
            "unisono.opencl.context(device), or copy it by unisono.asarray"
        )
    return made


def _device_of(context):
    """Name of the device whose context it is, or None."""
    if context is None:
        return None
    if context.int_ptr not in _devices:
        for d in _engine._devices():
            if d.name.startswith("opencl"):
                _handles(d.name)
    return _devices.get(context.int_ptr)


def _shared(x):
    """Array on its memory; None where that is of another context."""
    device = _device_of(x.context)
    if device is None or x.base_data is None:
        return None
    if x.queue is None:
        for event in x.events:
            event.wait()
    data, theirs = x.base_data, 0 if x.queue is None else x.queue.int_ptr
    if hasattr(data, "svm_ptr"):
        if not _has_fine_grains(x.context) or data.size is None:
            return None
        memory = (0, data.svm_ptr, data.size)
    else:
        memory = (data.int_ptr, 0, 0)
    return _engine._adopt_buffer(
        device, *memory, theirs, data, x.dtype, x.shape, x.strides, x.offset
    )


def _has_fine_grains(context):
    """Whether host and device may use all bytes of shared virtual memory without mapping it."""
    cl = _pyopencl()
    needed = cl.device_svm_capabilities.FINE_GRAIN_BUFFER
    return all(d.svm_capabilities & needed for d in context.devices)


def _of_pyopencl(x):
    """What an array of pyopencl is to functions that take arrays: shared, or a copy on the host."""
    made = _shared(x) if x.size else None
    return _engine._asarray(x.get(), None, "cpu", None) if made is None else made
