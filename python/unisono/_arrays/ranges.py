"""Numbers at equal distances, on linear and logarithmic scales."""

import math
import operator

import unisono as un

from .. import _engine
from .axes import arrays_together, as_array_beside
from .creation import _place_of
from .transposes import moveaxis
from .ufunc import is_python_number, resolve


def linspace(
    start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None, mesh=None
):
    """Return `num` evenly spaced numbers from `start` to `stop`.

    Parameters
    ----------
    start, stop : array_like
    num : int
    endpoint : bool
        Whether `stop` is the last number.
    retstep : bool
        Also return the spacing.
    dtype : dtype, optional
        Integers are rounded down.
    axis : int
        Axis of the result that holds the numbers if `start` or `stop` is an array.
    device : str or Device, optional
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray, shape (num,) and that of the limits

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    device = _place_of(device, mesh)
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"linspace: Number of samples, {num}, must be non-negative.")
    if dtype is not None and _lacks_float64(device):
        made = linspace(start, stop, num, endpoint, retstep, dtype, axis, device="cpu")
        if retstep:
            return made[0].to_device(device), made[1]
        return made.to_device(device)
    gaps = num - 1 if endpoint else num
    scalars = all(isinstance(v, (bool, int, float)) for v in (start, stop))
    if scalars:
        start, stop = start * 1.0, stop * 1.0
        shape, kind = (), "float64"
    else:
        ends = as_array_beside(start, stop), as_array_beside(stop, start)
        # Python's numbers adapt to what is beside them.
        given = zip((start, stop), ends, strict=True)
        kind = un.result_type(*(v if is_python_number(v) else x.dtype for v, x in given), 1.0)
        start, stop = (x.astype(kind, copy=False) for x in ends)
        shape = un.broadcast_shapes(start.shape, stop.shape)
    delta = stop - start
    if not scalars and device is None:
        # The numbers that all ranks hold alike take the layout of limits which are distributed.
        held = isinstance(delta.device, _engine.Mesh) and num <= delta.size
        device = None if held else delta.device
    y = _engine._iota(num, device).astype(kind if str(kind) != "complex64" else "float32")
    y = y.reshape((num,) + (1,) * len(shape))
    step = math.nan
    if gaps > 0:
        step = delta / gaps
        if scalars:
            y = y / gaps * delta if step == 0 else y * step
        else:
            y = un.where((step == 0).any(), y / gaps * delta, y * step)  # all, as in NumPy
    else:
        y = y * delta
    y = y + start
    if y.ndim == 1 and shape:
        y = y.reshape((num, *shape))
    if endpoint and num > 1:
        y[-1] = stop
    if dtype is not None:
        target = resolve(dtype)
        y = (un.floor(y) if target.kind in "iu" else y).astype(target)
    elif not scalars:
        y = y.astype(kind, copy=False)
    if axis != 0:
        y = moveaxis(y, 0, axis)
    return (y, step) if retstep else y


def _lacks_float64(device):
    """Whether it is a device that does not compute in float64, as the numbers are before they are rounded."""
    if device is None or isinstance(device, _engine.Mesh):
        return False
    return not _engine._find_device(str(device)).has_float64


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, mesh=None):
    """Numbers evenly spaced on a logarithmic scale, from ``base**start`` to ``base**stop``.

    Parameters
    ----------
    start, stop : number
    num : int
        How many.
    endpoint : bool
        Whether `stop` is the last number.
    base : number
    dtype : dtype, optional
    axis : int, optional
        Axis of the result that holds the numbers if `start` or `stop` is an array; the first by
        default.
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `num` is negative.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    if not isinstance(
        base, (int, float, complex)
    ):  # of one shape with the limits, which gain an axis
        base, start, stop = un.broadcast_arrays(base, start, stop)
        base = un.expand_dims(base, axis)
    y = linspace(start, stop, num, endpoint, axis=axis, mesh=mesh)
    made = un.power(base, y)
    return made if dtype is None else made.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, mesh=None):
    """Numbers with a constant ratio from `start` to `stop`.

    Parameters
    ----------
    start, stop : number
    num : int
        How many.
    endpoint : bool
        Whether `stop` is the last number.
    dtype : dtype, optional
    axis : int, optional
        Axis of the result that holds the numbers if `start` or `stop` is an array; the first by
        default.
    mesh : Mesh, optional
        Ranks over which it is distributed.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `start` or `stop` is zero, or `num` is negative.
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.geomspace(1, 100, 3).round(6).tolist()
    [1.0, 10.0, 100.0]
    """
    start, stop = arrays_together(start, stop)
    if bool((start == 0).any()) or bool((stop == 0).any()):
        raise ValueError("Geometric sequence cannot include zero")
    kind = (start * 1.0 + stop * 1.0).dtype if dtype is None else resolve(dtype)
    # Not by products with 1.0: they lose the signs of zeros, which say which way round complex ones go.
    computed = "complex128" if kind.kind == "c" else un.result_type(start.dtype, stop.dtype, 1.0)
    start, stop = start.astype(computed), stop.astype(computed)
    sign = un.sign(start)
    one, two = start / sign, stop / sign
    made = logspace(un.log10(one), un.log10(two), num, endpoint, mesh=mesh)
    if num > 0:
        made[0] = one
        if num > 1 and endpoint:
            made[-1] = two
    made = made * sign
    return moveaxis(made, 0, axis).astype(kind) if axis else made.astype(kind)
