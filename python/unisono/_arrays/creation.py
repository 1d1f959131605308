"""Functions that make arrays."""

import builtins
import math

from .. import _engine
from .._dtype.objects import DType, _table
from .axes import as_operand, byte_strides, several
from .axes import of_class_of as _of_class_of

_float64 = _table["float64"]
_int64 = _table["int64"]


def _mesh_of(device, mesh):
    """Return the mesh that either argument names, or an array on it: a mesh is a device too."""
    if mesh is None:
        if device is None or type(device) is _engine.Device:
            return None
        if isinstance(device, _engine._Array):
            device = device.device
        if not isinstance(device, _engine.Mesh) and not hasattr(device, "_own"):
            return None
        mesh = device
    # A virtual mesh stands for that of the rank.
    return mesh._own() if hasattr(mesh, "_own") else mesh


def _place_of(device, mesh):
    """What functions of the engine take as a device: the mesh where either argument names one, else the device."""
    found = _mesh_of(device, mesh)
    return device if found is None else found


def _beside(place):
    """Where numbers are made that combine with the columns of arrays of a place: each rank of a mesh makes its own."""
    return "cpu" if isinstance(place, _engine.Mesh) else place


def _in_columns(order, like=None):
    """Whether that order puts columns together (Fortran's), for an array made like another one."""
    if order in ("C", None):
        return False
    if order == "F":
        return True
    if order not in ("A", "K"):
        if isinstance(order, str) and order in ("c", "f", "a", "k"):
            return _in_columns(order.upper(), like)
        raise ValueError(f"order: expected 'C', 'F', 'A' or 'K'; got {order!r}")
    if like is None or like.ndim < 2:
        return False
    strides = byte_strides(like)
    return builtins.all(near <= far for near, far in zip(strides, strides[1:], strict=False))


def refuse_like(name, like):
    """Raise where ``like=`` names another library, which makes its arrays itself."""
    if like is not None and not isinstance(like, _engine._Array):
        raise TypeError(
            f"{name}: like= names the library of the result; got {type(like).__name__}; call that library"
        )


def _has_fields(dtype):
    """Whether `dtype` describes a structured dtype; unisono's own dtypes are recognised first."""
    if isinstance(dtype, (DType, type)):
        return False
    from .._records import is_structured

    return is_structured(dtype)


def _dtype_with_fields(value):
    """The structured dtype of a record, or None."""
    dtype = getattr(value, "dtype", None)
    return dtype if dtype is not None and _has_fields(dtype) else None


def _records(shape, value, dtype, order, device, mesh, like, name):
    from .._records.records import full_records

    refuse_like(name, like)
    return full_records(shape, value, dtype, order, device, _mesh_of(device, mesh))


def _columns(make, shape):
    """An array whose columns lie together: the transposed of one of the reversed shape."""
    shape = several(shape)
    return make(shape[::-1]).T


def _empty_of_kind(memory, shape, dtype, order, device, mesh=None):
    """Array in memory of that kind."""
    if mesh is not None or _has_fields(dtype):
        what = "distributed arrays" if mesh is not None else "records"
        raise TypeError(
            f"memory: {what} have no memory of kinds; got memory={memory!r}; leave it out"
        )
    if _in_columns(order):
        return _columns(lambda s: _engine._empty_of_kind(memory, s, dtype, device), shape)
    return _engine._empty_of_kind(memory, shape, dtype, device)


def _filled(made, values):
    made[...] = values.to_device(made.device) if isinstance(values, _engine._Array) else values
    return made


def _in_memory(made, memory, device, copy):
    """The array in memory of that kind."""
    device = made.device if device is None else _engine._find_device(str(device))
    if made.memory == memory and made.device == device and not copy:
        return made
    if copy is False:
        raise ValueError(
            f"array: an array in memory of kind {made.memory!r} needs a copy to be in {memory!r}; got copy=False"
        )
    return _filled(_empty_of_kind(memory, made.shape, made.dtype, "C", device), made)


@_engine._FastPath
def empty(
    shape, dtype=None, order="C", *, device=None, mesh=None, like=None, memory=None, layout=None
):
    """Array of that shape whose elements are not set.

    Parameters
    ----------
    shape : int or tuple of ints
    dtype : dtype, optional
        float64 by default.
    order : {'C', 'F'}, optional
        Memory layout: row-major ('C') or column-major ('F').
    device : str, Device or Mesh, optional
        Device of the array; ``un.devices()`` lists the names.
    mesh : Mesh, optional
        Ranks over which it is distributed.
    layout : {'block', 'cyclic', 'replicated'} or tuple, optional
        Of a distributed array: 'block' (the default) splits the first axis evenly, 'cyclic' deals its indices out to one
        rank after the other; a tuple has an entry for each axis: None for one that is whole, else 'block', a number of
        parts, the sizes of the parts, 'cyclic', or ('cyclic', b) for blocks of b indices that are dealt out.
    memory : {'device', 'shared', 'pinned', 'host'}, optional
        Kind of memory: 'device' (the default) is the device's own; 'shared' is of the device, and ``np.asarray(x)``
        sees it without a copy; 'pinned' makes an array of the host, in memory that the device's driver copies from and
        to directly; 'host' one in the host's own memory. The attribute ``memory`` of an array tells its kind. On the
        CPU all are 'host'.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative, or `memory` is another word.
    DeviceError
        If the device has no memory of that kind.

    Examples
    --------
    >>> import unisono as un
    >>> un.empty((2, 3), order="F").strides
    (8, 16)
    >>> import numpy as np
    >>> for d in un.devices("opencl:cpu")[:1]:
    ...     x = un.empty(3, device=d, memory="shared")
    ...     x[...] = 1
    ...     assert x.memory == "shared" and np.asarray(x).tolist() == [1, 1, 1]
    """
    dtype = _float64 if dtype is None else dtype
    if memory is not None:
        return _empty_of_kind(memory, shape, dtype, order, device, _mesh_of(device, mesh))
    if _has_fields(dtype):
        return _records(shape, None, dtype, order, device, mesh, like, "empty")
    if device is None and mesh is None and like is None and order == "C":
        return _engine._empty(shape, dtype, None)
    mesh = _mesh_of(device, mesh)
    if mesh is not None:
        from .._runtime.mesh import empty as distributed_empty

        return distributed_empty(mesh, shape, dtype, layout)
    if order != "C" or like is not None:
        refuse_like("empty", like)
        if _in_columns(order):
            return _columns(lambda s: _engine._empty(s, dtype, device), shape)
    return _engine._empty(shape, dtype, device)


@_engine._FastPath
def full(
    shape,
    fill_value,
    dtype=None,
    order="C",
    *,
    device=None,
    mesh=None,
    like=None,
    memory=None,
    layout=None,
):
    """Array of that shape, all elements equal to `fill_value`.

    Parameters
    ----------
    shape : int or tuple of ints
    fill_value : number or array_like
        An array is broadcast to the shape.
    dtype : dtype, optional
        By default that of the value.
    order : {'C', 'F'}, optional
    device : str or Device, optional
    mesh : Mesh, optional
    memory : {'device', 'shared', 'pinned', 'host'}, optional
        Kind of memory, see `empty`.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.full(3, 7).tolist()
    [7, 7, 7]
    """
    if memory is not None:
        dtype = as_operand(fill_value).dtype if dtype is None else dtype
        made = _empty_of_kind(memory, shape, dtype, order, device, _mesh_of(device, mesh))
        return _filled(made, fill_value)
    if dtype is None:
        dtype = _dtype_with_fields(fill_value)
    if dtype is not None and _has_fields(dtype):
        return _records(shape, fill_value, dtype, order, device, mesh, like, "full")
    mesh = _mesh_of(device, mesh)
    if mesh is not None:
        from .._runtime.mesh import full as distributed_full

        return distributed_full(mesh, shape, fill_value, dtype, layout)
    if order != "C" or like is not None:
        refuse_like("full", like)
        if _in_columns(order):
            if dtype is None:
                dtype = asarray(fill_value).dtype
            made = _columns(lambda s: _engine._empty(s, dtype, device), shape)
            made[...] = fill_value
            return made
    return _engine._full(shape, fill_value, dtype, device)


@_engine._FastPath
def zeros(
    shape, dtype=None, order="C", *, device=None, mesh=None, like=None, memory=None, layout=None
):
    """Array of zeros; see `empty` for the parameters.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.
    device : str or Device, optional
    mesh : Mesh, optional
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.
    memory : {'device', 'shared', 'pinned', 'host'}, optional
        Kind of memory, see `empty`.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.zeros((2, 2)).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    dtype = _float64 if dtype is None else dtype
    if memory is None and _has_fields(dtype):
        return _records(shape, None, dtype, order, device, mesh, like, "zeros")
    if device is mesh is like is memory is None and order == "C":
        return _engine._full(shape, 0, dtype, None)
    return _full(
        shape, 0, dtype, order, device=device, mesh=mesh, like=like, memory=memory, layout=layout
    )


@_engine._FastPath
def ones(
    shape, dtype=None, order="C", *, device=None, mesh=None, like=None, memory=None, layout=None
):
    """Array of ones; see `empty` for the parameters.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.
    device : str or Device, optional
    mesh : Mesh, optional
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.
    memory : {'device', 'shared', 'pinned', 'host'}, optional
        Kind of memory, see `empty`.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent of the shape is negative.

    Examples
    --------
    >>> import unisono as un
    >>> un.ones((2, 2), dtype="int32").tolist()
    [[1, 1], [1, 1]]
    """
    dtype = _float64 if dtype is None else dtype
    return _full(
        shape, 1, dtype, order, device=device, mesh=mesh, like=like, memory=memory, layout=layout
    )


# Without NumPy behind it: its zero of text is no zero that was converted.
_full = full.__wrapped__


@_engine._FastPath
def arange(start=None, stop=None, step=1, dtype=None, *, device=None, mesh=None, like=None):
    """Numbers from `start` to `stop` (excluded) by `step`, as NumPy's arange.

    Parameters
    ----------
    start, stop, step : number
        With one argument, it is `stop` and `start` is 0.
    dtype : dtype, optional
        int64 if all are integers, else float64.
    device : str or Device, optional
    mesh : Mesh, optional
        Ranks over which the numbers are distributed.
    like : None
        An array of ours, or nothing: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray, shape (ceil((stop - start) / step),)

    Raises
    ------
    TypeError
        If `start`, `stop` or `step` is not a number.

    Examples
    --------
    >>> import unisono as un
    >>> un.arange(2, 8, 2).tolist()
    [2, 4, 6]
    """
    refuse_like("arange", like)
    if type(start) is int and stop is dtype is mesh is None and step == 1:
        if device is None or type(device) is _engine.Device:
            return _engine._iota(max(0, start), device)
    if stop is None:
        start, stop = 0, start
    start = 0 if start is None else start
    if stop is None:
        raise TypeError("arange: needs `stop`; write un.arange(n), or un.arange(start, stop)")
    if step == 0:
        raise ZeroDivisionError("arange: step must not be zero")
    whole = all(_is_whole(v) for v in (start, stop, step))
    if whole:
        from operator import index

        start, stop, step = map(index, (start, stop, step))
        is_wide = not all(-(2**63) <= v < 2**63 for v in (start, stop, step))
        whole = not is_wide or dtype is not None  # NumPy's int64 and uint64 make float64
    if whole:
        count = max(0, -((start - stop) // step))
    else:
        try:
            count = (stop - start) / step
        except TypeError:
            raise TypeError(
                f"arange: start, stop and step are numbers; got {start!r}, {stop!r} and {step!r}"
            ) from None
        if not abs(count) < 2**63:  # NaN too
            raise ValueError("arange: maximum allowed size exceeded, or no size at all")
        if count == 0 and stop != start:  # the step is infinite, or the range underflows
            count = math.copysign(1, count)
        count = max(0, math.ceil(count))
    if count > 2 and dtype is not None and _engine._dtype_of(dtype).kind == "b":
        raise TypeError(
            f"arange: no range of more than two bools; got {count} elements; expected a dtype of numbers"
        )
    mesh = _mesh_of(device, mesh)
    out = _engine._iota(count, device) if mesh is None else mesh._iota(count)
    if whole:
        if dtype is not None and count:  # the ends fit as Python's integers do
            as_operand([start, start + step][:count], dtype)
        if is_wide:
            out = out.astype(dtype)
        if abs(step) != 1:
            out = out * abs(step)
        if step < 0:
            out = start - out
        elif start != 0:
            out = out + start
        return out if dtype is None else out.astype(dtype, copy=False)
    # NumPy's order of operations: the step that it uses is the difference of the first two elements, in the
    # requested dtype if that holds integers.
    first, second = float(start), float(start + step)
    if dtype is not None and _engine._dtype_of(dtype).kind in "iu":
        first, second = int(first), int(second)
    elif not abs(second) < math.inf:  # there is the first element only
        second = first
    out = out * (second - first) + first
    return out if dtype is None else out.astype(dtype, copy=False)


def _is_whole(v):
    """Whether a range of it holds integers: as in NumPy not where it is an uint64."""
    dtype = getattr(v, "dtype", None)
    if dtype is None:
        return hasattr(v, "__index__")
    return v.ndim == 0 and dtype.kind in "biu" and dtype.name != "uint64"


def _ordered(made, order, copy=None):
    """The array, in column-major layout if the order requires it."""
    if made.ndim < 2 or order in (None, "K", "A", "k", "a"):
        return made
    columns = _in_columns(order)
    apart = made.T if columns else made
    if byte_strides(apart) == _engine._empty(apart.shape, apart.dtype, None).strides:
        return made
    if copy is False:
        raise ValueError(
            f"array: order {order!r} needs a copy; with copy=None it is copied only where it must be"
        )
    out = empty(made.shape, made.dtype, order, device=made.device)
    out[...] = made
    return out


@_engine._FastPath
def array(
    object,
    dtype=None,
    *,
    device=None,
    mesh=None,
    copy=True,
    order="K",
    subok=False,
    ndmin=0,
    like=None,
    memory=None,
):
    """Array of numbers, nested sequences, or of another library's array (copied by default).

    Parameters
    ----------
    object : array_like
    dtype : dtype, optional
    device : str or Device, optional
    mesh : Mesh, optional
        Ranks over which a copy is distributed; `object` is the same on all of them.
    copy : bool, optional
        None shares memory where possible, as `asarray` does; False raises ValueError if a copy is
        needed.
    order : {'K', 'A', 'C', 'F'}, optional
        Memory layout: row-major ('C') or column-major ('F').
    subok : bool, optional
        Whether the result is of the class of the argument where that derives from the array.
    ndmin : int, optional
        Minimum number of axes; axes of extent 1 are added in front.
    memory : {'device', 'shared', 'pinned', 'host'}, optional
        Kind of memory, see `empty`.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `object` cannot be converted to a numeric array.
    ValueError
        If rows have different lengths, or ``copy=False`` and a copy is needed.

    Examples
    --------
    >>> import unisono as un
    >>> un.array([[1, 2], [3, 4]]).shape
    (2, 2)
    >>> un.array(3.0, ndmin=2).shape
    (1, 1)
    """
    if mesh is not None:
        made = asarray(object, dtype, mesh=mesh)
    elif type(object) is _engine.ndarray and not copy and dtype is device is None:
        made = object
    else:
        made = _engine._array(object, dtype, device, copy)
    if order != "K" or ndmin or like is not None:
        refuse_like("array", like)
        made = _ordered(made, order, copy)
        if made.ndim < ndmin:
            made = made[(None,) * (ndmin - made.ndim)]
    if memory is not None:
        made = _in_memory(made, memory, device, False if copy is False else None)
    return _of_class_of(object, made, subok)


@_engine._FastPath
def asarray(
    a,
    dtype=None,
    order=None,
    *,
    device=None,
    copy=None,
    mesh=None,
    like=None,
    memory=None,
    layout=None,
):
    """Convert the input to an array; an array of this package is returned as it is.

    An array of another library is copied, once, so that operations on the result are lazy and fuse. It is
    taken over without a copy where nothing else refers to it (``un.asarray(np.ones(5))``), and shared where
    it is a view of an array of this package or of a memory map. ``copy=False`` shares the memory of any
    array: writes through one are then seen by the other, and each operation on it completes before it
    returns. An array of pyopencl on a device's context (`unisono.opencl`) is shared as it is. With ``mesh``, `a` is the same on all ranks, and the result is a copy whose rows are distributed.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.
    device : str or Device, optional
    copy : bool, optional
    mesh : Mesh, optional
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.
    memory : {'device', 'shared', 'pinned', 'host'}, optional
        Kind of memory, see `empty`.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If an element is not a number.
    ValueError
        If the rows have different lengths.

    Examples
    --------
    >>> import unisono as un
    >>> un.asarray([[1, 2], [3, 4]]).shape
    (2, 2)
    >>> import numpy as np
    >>> a = np.zeros(3)
    >>> copied, shared = un.asarray(a), un.asarray(a, copy=False)
    >>> a[0] = 1
    >>> copied.tolist(), shared.tolist()
    ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    """
    if device is not None or mesh is not None:
        mesh = _mesh_of(device, mesh)
        if mesh is not None:
            from .._runtime.mesh import spread

            return spread(mesh, a, dtype, layout)
    made = _engine._asarray(a, dtype, device, copy)
    if order is not None or like is not None:
        refuse_like("asarray", like)
        made = _ordered(made, order, copy)
    if memory is not None:
        made = _in_memory(made, memory, device, copy)
    return made


__all__ = [
    "DType",
    "arange",
    "array",
    "asarray",
    "empty",
    "full",
    "ones",
    "zeros",
]
