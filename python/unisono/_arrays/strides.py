"""Views by any strides: windows that slide along axes."""

import math

from .. import _engine
from .._loaded import loaded
from .axes import as_array, axes_tuple, byte_strides, several
from .axes import of_class_of as _of_class_of


def _over_buffer(shape, dtype, buffer, offset, strides, order):
    """What ``ndarray`` makes with a buffer or an order, as NumPy's constructor."""
    import unisono as un

    dtype = un.dtype("float64" if dtype is None else dtype)
    shape = several(shape)
    order = order.upper() if isinstance(order, str) else order
    if order not in (None, "C", "F"):
        raise ValueError(f"ndarray: order must be one of 'C' or 'F'; got {order!r}")
    rows = order != "F"
    size = dtype.itemsize
    strides = None if strides is None else several(strides)
    if strides is None:
        packed = [size]
        for n in shape[:0:-1] if rows else shape[:-1]:
            packed.append(packed[-1] * n)
        strides = tuple(reversed(packed) if rows else packed)[: len(shape)]
    if buffer is not None and min(strides, default=0) < 0 and 0 not in shape:
        # From the first byte of memory on, and turned around along axes of strides below 0.
        down = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s < 0)
        made = _over_buffer(
            shape, dtype, buffer, (offset or 0) + down, [abs(s) for s in strides], order
        )
        return made[tuple(slice(None, None, -1 if s < 0 else 1) for s in strides)]
    if buffer is None:
        flat = un.empty(math.prod(shape), dtype)
    else:
        from .exchange.memory_pointer import MemoryPointer

        if isinstance(buffer, _engine._Array) and buffer.device.name != "cpu":
            buffer = MemoryPointer(buffer)
        if isinstance(buffer, MemoryPointer):  # on any device
            held = (buffer + (offset or 0))._array
            flat = held[: held.size // size * size].view(dtype)
        else:
            flat = un.frombuffer(buffer, dtype, offset=offset or 0)
    last = sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if (
        buffer is None
        and 0 not in shape
        and (min(strides, default=0) < 0 or last >= flat.nbytes > 0)
    ):
        raise ValueError(
            f"ndarray() with strides has elements outside of its {flat.nbytes} bytes; got strides {tuple(strides)} of"
            f" shape {shape}; expected none below 0 and a reach within the memory"
        )
    if 0 not in shape and last + size > flat.nbytes:
        raise TypeError("ndarray: buffer is too small for requested array")
    return as_strided(flat, shape, strides)


def _is_strided(x):
    memory = loaded("unisono._records.strided_memory")
    return memory is not None and isinstance(x, memory.Strided)


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """View of an array's memory by other strides.

    Parameters
    ----------
    x : array_like
    shape : tuple of int, optional
        That of `x` if not given.
    strides : tuple of int, optional
        In bytes, each a multiple of the element's size; those of `x` if not given.
    subok : bool
        Whether the result is of the class of the argument where that derives from the array.
    writeable : bool
        False makes the view read-only.

    Returns
    -------
    ndarray, a view

    Raises
    ------
    ValueError
        If `shape` and `strides` have different lengths, a stride is not a multiple of the element
        size, or an element would lie outside the array's memory.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.arange(4)
    >>> un.lib.stride_tricks.as_strided(x, (3, 2), (8, 8)).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    if strides is not None and _is_strided(x):
        raise TypeError(
            f"as_strided: strides of records and of their unaligned fields are not supported; got {strides}; "
            "use np.asarray(x)"
        )
    source, x = x, as_array(x)
    shape = x.shape if shape is None else tuple(shape)
    strides = byte_strides(x) if strides is None else tuple(strides)
    if len(shape) != len(strides):
        raise ValueError(
            f"as_strided: shape and strides must have as many axes; got {shape} and {strides}"
        )
    if any(s % x.itemsize for s in strides):
        raise ValueError(
            f"as_strided: strides must be multiples of {x.itemsize} bytes; got {strides}"
        )
    steps = tuple(s // x.itemsize for s in strides)
    reach = [(n - 1) * s for n, s in zip(shape, steps, strict=True) if n > 0]
    own = [
        (n - 1) * s // x.itemsize for n, s in zip(x.shape, byte_strides(x), strict=True) if n > 0
    ]
    low, high = sum(min(r, 0) for r in own), sum(max(r, 0) for r in own)
    empty = 0 in shape
    if not empty and (
        x.size == 0 or sum(min(r, 0) for r in reach) < low or sum(max(r, 0) for r in reach) > high
    ):
        raise ValueError(
            f"as_strided: shape {shape} and strides {strides} reach outside the array's elements, from {low} to {high}"
        )
    made = _engine._strided(x, shape, steps, 0)
    return _of_class_of(source, made if writeable else _engine.broadcast_to(made, shape), subok)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Sliding windows of an array, one at each position: a view, which is read-only by default.

    Parameters
    ----------
    x : array_like
    window_shape : int or tuple of int
        Extents of the window.
    axis : int or tuple of int, optional
        Axes along which the window slides; all by default.
    subok : bool
        Whether the result is of the class of the argument where that derives from the array.
    writeable : bool
        True: writes show in `x`, and in all windows that share an element.

    Returns
    -------
    ndarray, a view
        The axes of `x`, shortened, and those of a window. Of a distributed array a copy, of which each rank has the
        windows that begin in its part.

    Raises
    ------
    ValueError
        If a window is longer than its axis, or `window_shape` and `axis` have different lengths.
    UnsupportedError
        If windows of a distributed array shall be writeable.

    Examples
    --------
    >>> import unisono as un
    >>> un.lib.stride_tricks.sliding_window_view([1, 2, 3, 4], 3).tolist()
    [[1, 2, 3], [2, 3, 4]]
    """
    source, x = x, as_array(x)
    window = several(window_shape)
    axes = tuple(range(x.ndim)) if axis is None else ()
    for k in () if axis is None else several(axis):
        axes += axes_tuple(k, x.ndim, "sliding_window_view")
    if len(window) != len(axes):
        raise ValueError(
            f"sliding_window_view: a window needs an extent for each axis; got {len(window)} for {len(axes)}"
        )
    shape = list(x.shape)
    for k, n in zip(axes, window, strict=True):
        if n < 0:
            raise ValueError(f"sliding_window_view: window_shape cannot be negative; got {n}")
        shape[k] -= n - 1
        if shape[k] < 0:
            raise ValueError(
                f"sliding_window_view: the window is longer than axis {k}; got {n} for {x.shape[k]}"
            )
    if x.mesh is not None:
        if writeable:
            raise _engine.UnsupportedError(
                f"sliding_window_view: windows of a distributed array are copies; got writeable=True on {x.mesh}"
            )
        from .._runtime.parts import windows

        return _of_class_of(source, windows(x, window, axes), subok)
    steps = byte_strides(x)
    strides = steps + tuple(steps[k] for k in axes)
    made = as_strided(x, (*shape, *window), strides, writeable=writeable)
    return _of_class_of(source, made, subok)
