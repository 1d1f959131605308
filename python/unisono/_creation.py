"""Functions that make arrays."""

from . import _engine
from ._dtypes import DType, _table

_float64 = _table["float64"]
_int64 = _table["int64"]


def _mesh_of(device, mesh):
    """Return the mesh that either argument names: a mesh is a device too."""
    return device if mesh is None and isinstance(device, _engine.Mesh) else mesh


def empty(shape, dtype=None, *, device=None, mesh=None):
    """Array of that shape whose elements are not set.

    Parameters
    ----------
    shape : int or tuple of ints
    dtype : dtype, optional
        float64 by default.
    device : str, Device or Mesh, optional
        Where it lives; ``un.devices()`` lists the names.
    mesh : Mesh, optional
        Ranks over which its rows are distributed.

    Returns
    -------
    ndarray
    """
    mesh = _mesh_of(device, mesh)
    if mesh is not None:
        return mesh.empty(shape, _float64 if dtype is None else dtype)
    return _engine._empty(shape, _float64 if dtype is None else dtype, device)


def full(shape, fill_value, dtype=None, *, device=None, mesh=None):
    """Array of that shape, all elements equal to `fill_value`.

    Parameters
    ----------
    shape : int or tuple of ints
    fill_value : number
    dtype : dtype, optional
        That of the value by default.
    device : str or Device, optional
    mesh : Mesh, optional

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import unisono as un
    >>> un.full(3, 7).tolist()
    [7, 7, 7]
    """
    mesh = _mesh_of(device, mesh)
    if mesh is not None:
        from ._mesh import full as distributed_full

        return distributed_full(mesh, shape, fill_value, dtype)
    return _engine._full(shape, fill_value, dtype, device)


def zeros(shape, dtype=None, *, device=None, mesh=None):
    """Array of zeros; see `empty` for the parameters.

    Examples
    --------
    >>> import unisono as un
    >>> un.zeros((2, 2)).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return full(shape, 0, _float64 if dtype is None else dtype, device=device, mesh=mesh)


def ones(shape, dtype=None, *, device=None, mesh=None):
    """Array of ones; see `empty` for the parameters."""
    return full(shape, 1, _float64 if dtype is None else dtype, device=device, mesh=mesh)


def empty_like(x, dtype=None, *, device=None):
    """Array of the shape, dtype and device of `x`, elements not set."""
    return empty(x.shape, x.dtype if dtype is None else dtype, **_place_like(x, device))


def full_like(x, fill_value, dtype=None, *, device=None):
    """Array of the shape, dtype and device of `x`, all elements equal to `fill_value`."""
    dtype = x.dtype if dtype is None else dtype
    return full(x.shape, fill_value, dtype, **_place_like(x, device))


def zeros_like(x, dtype=None, *, device=None):
    """Array of zeros of the shape, dtype and device of `x`."""
    return full_like(x, 0, dtype, device=device)


def ones_like(x, dtype=None, *, device=None):
    """Array of ones of the shape, dtype and device of `x`."""
    return full_like(x, 1, dtype, device=device)


def _place_like(x, device):
    if device is None and isinstance(x, _engine.DistributedArray):
        return {"mesh": x.mesh}
    if device is None and isinstance(x, _engine.ndarray):
        device = x.device
    return {"device": device}


def arange(start, stop=None, step=1, dtype=None, *, device=None, mesh=None):
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

    Returns
    -------
    ndarray, shape (ceil((stop - start) / step),)

    Examples
    --------
    >>> import unisono as un
    >>> un.arange(2, 8, 2).tolist()
    [2, 4, 6]
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: step must not be zero")
    whole = all(isinstance(v, int) for v in (start, stop, step))
    if whole:
        count = max(0, -((start - stop) // step))
    else:
        import math

        count = max(0, math.ceil((stop - start) / step))
    mesh = _mesh_of(device, mesh)
    out = _engine._iota(count, device) if mesh is None else mesh._iota(count)
    if whole:
        if step != 1:
            out = out * step
        if start != 0:
            out = out + start
        return out if dtype is None else out.astype(dtype, copy=False)
    # NumPy's order of operations: the step that it uses is the difference of the first two elements.
    out = out * (float(start + step) - float(start)) + float(start)
    return out if dtype is None else out.astype(dtype, copy=False)


def array(x, dtype=None, *, device=None, copy=True):
    """Array of numbers, nested sequences, or of another library's array (copied by default).

    Parameters
    ----------
    x : array_like
    dtype : dtype, optional
    device : str or Device, optional
    copy : bool, optional
        None shares memory where it can, as `asarray`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import unisono as un
    >>> un.array([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    return _engine._array(x, dtype, device, copy)


def asarray(x, dtype=None, *, device=None, copy=None, mesh=None):
    """As `array`, sharing memory where it can: writes through one are seen by the other.

    Operations on shared memory complete before they return. With ``mesh``, `x` is the same on all
    ranks, and the result is a copy whose rows are distributed.
    """
    mesh = _mesh_of(device, mesh)
    if mesh is not None:
        from ._mesh import spread

        return spread(mesh, x, dtype)
    return _engine._array(x, dtype, device, copy)


def from_dlpack(x, /, *, device=None, copy=None):
    """Array that shares the memory of an object with ``__dlpack__``.

    Parameters
    ----------
    x : object
        On the CPU; other devices' tensors are copied there through their own library first.
    device : str or Device, optional
        Where the array shall live; another device means a copy.
    copy : bool, optional
        True copies; False never does, and raises where a copy is needed.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import unisono as un
    >>> un.from_dlpack(un.arange(3)).tolist()
    [0, 1, 2]
    """
    made = _engine._from_dlpack(x)
    if device is not None and made.device != device:
        if copy is False:
            raise ValueError(
                f"from_dlpack: an array on {made.device} cannot be seen on {device} without a copy; use copy=None"
            )
        return made.to_device(device)
    return made.copy() if copy else made


__all__ = [
    "DType",
    "arange",
    "array",
    "asarray",
    "empty",
    "empty_like",
    "from_dlpack",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]
