"""Arrays from ranges, formulas, buffers and text."""

import math
import operator

import unisono as un

from . import _engine
from ._creation import array, asarray
from ._transposes import moveaxis
from ._ufunc import as_array, resolve


def _refuse_like(what, like):
    if like is not None:
        raise TypeError(
            f"{what}: like= takes arrays of other libraries; call that library's function instead"
        )


def _order(what, made, order):
    """`made` in the memory order that NumPy's `order` asks for."""
    if order in ("C", "K", "A", None):
        return made
    if order != "F":
        raise ValueError(f"{what}: order must be 'C', 'F', 'A' or 'K'; got {order!r}")
    return made.T.copy().T


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` numbers evenly spaced from `start` to `stop`.

    Parameters
    ----------
    start, stop : array_like
    num : int
    endpoint : bool
        Whether `stop` is the last one.
    retstep : bool
        Return the spacing too.
    dtype : dtype, optional
        Integers are rounded down.
    axis : int
        Where the numbers lie, if `start` or `stop` are arrays.
    device : str or Device, optional

    Returns
    -------
    ndarray, shape (num,) and that of the limits

    Raises
    ------
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"linspace: Number of samples, {num}, must be non-negative.")
    gaps = num - 1 if endpoint else num
    scalars = all(isinstance(v, (bool, int, float)) for v in (start, stop))
    if scalars:
        start, stop = start * 1.0, stop * 1.0
        shape, kind = (), "float64"
    else:
        start, stop = (as_array(v) * 1.0 for v in (start, stop))
        shape = un.broadcast_shapes(start.shape, stop.shape)
        kind = (start + stop).dtype
    delta = stop - start
    y = _engine._iota(num, device).astype(kind if str(kind) != "complex64" else "float32")
    y = y.reshape((num,) + (1,) * len(shape))
    step = math.nan
    if gaps > 0:
        step = delta / gaps
        if scalars:
            y = y / gaps * delta if step == 0 else y * step
        else:
            y = un.where(step == 0, y / gaps * delta, y * step)
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


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Numbers evenly spaced on a logarithmic scale, from ``base**start`` to ``base**stop``.

    Parameters
    ----------
    start, stop : number
    num : int
        How many.
    endpoint : bool
        Whether `stop` is the last one.
    base : number
    dtype : dtype, optional
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        A negative `num`.
    AxisError
        The array has no such axis.

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
    y = linspace(start, stop, num, endpoint, axis=axis)
    made = un.power(base, y)
    return made if dtype is None else made.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers with a constant ratio from `start` to `stop`.

    Parameters
    ----------
    start, stop : number
    num : int
        How many.
    endpoint : bool
        Whether `stop` is the last one.
    dtype : dtype, optional
    axis : int or tuple of int, optional
        All axes where it is None.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        An end that is zero, or a negative `num`.
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.geomspace(1, 100, 3).round(6).tolist()
    [1.0, 10.0, 100.0]
    """
    start, stop = as_array(start), as_array(stop)
    if bool((start == 0).any()) or bool((stop == 0).any()):
        raise ValueError("Geometric sequence cannot include zero")
    kind = (start * 1.0 + stop * 1.0).dtype if dtype is None else resolve(dtype)
    if kind.kind == "c":
        start, stop = start.astype("complex128"), stop.astype("complex128")
    sign = un.sign(start * 1.0)
    one, two = start * 1.0 / sign, stop * 1.0 / sign
    made = logspace(un.log10(one), un.log10(two), num, endpoint)
    if num > 0:
        made[0] = one
        if num > 1 and endpoint:
            made[-1] = two
    made = made * sign
    return moveaxis(made, 0, axis).astype(kind) if axis else made.astype(kind)


@_engine._ShortWay
def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    """Ones on a diagonal, zeros elsewhere.

    Parameters
    ----------
    N, M : int
        Rows and columns (as many as rows by default).
    k : int
        Which diagonal: 0 is the main one, positive ones lie above.
    dtype : dtype
    order : {'C', 'F'}
    device : str or Device, optional

    Returns
    -------
    ndarray, shape (N, M)

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.eye(2, 3, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    _refuse_like("eye", like)
    N = operator.index(N)
    M = N if M is None else operator.index(M)
    if N < 0 or M < 0:
        raise ValueError(f"eye: negative dimensions are not allowed; got shape ({N}, {M})")
    dtype = float if dtype is None else dtype
    made = _engine._iota(M, device) - _engine._iota(N, device).reshape(N, 1) == operator.index(k)
    return _order("eye", made.astype(dtype), order)


@_engine._ShortWay
def identity(n, dtype=None, *, like=None):
    """Square array with ones on the main diagonal.

    Parameters
    ----------
    n : int, optional
    dtype : dtype, optional
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray, shape (n, n)

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    _refuse_like("identity", like)
    return eye(n, dtype=dtype)


def vander(x, N=None, increasing=False):
    """Matrix of powers of a vector: columns x**(N-1) to x**0.

    Parameters
    ----------
    x : array_like
    N : int
        Number of rows.
    increasing : bool

    Returns
    -------
    ndarray of two axes

    Raises
    ------
    ValueError
        `x` has not one axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.vander([1, 2, 3], 2).tolist()
    [[1, 1], [2, 1], [3, 1]]
    """
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    N = x.shape[0] if N is None else N
    made = un.empty((x.shape[0], N), un.result_type(x.dtype, int))
    columns = made if increasing else made[:, ::-1]
    if N > 0:
        columns[:, 0] = 1
    for k in range(1, N):
        columns[:, k] = columns[:, k - 1] * x
    return made


@_engine._ShortWay
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum of the diagonals of two axes.

    Parameters
    ----------
    a : array_like
    offset, axis1, axis2 : int
    dtype : dtype, optional
    out : ndarray, optional
        Written to and returned; of the shape of the result.

    Returns
    -------
    ndarray
        A value of a matrix.

    Raises
    ------
    ValueError
        Fewer than two axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.trace([[1, 2], [3, 4]]).item()
    5
    """
    made = un.diagonal(a, offset, axis1, axis2).sum(axis=-1, dtype=dtype)
    if out is None:
        return made
    out[...] = made
    return out


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    """What a function gives for the indices of a grid.

    Parameters
    ----------
    function : callable
    shape : int or tuple of int
    dtype : dtype, optional
    like : None
        Arrays of other libraries are refused.
    **kwargs
        Passed on.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        A negative extent.

    Examples
    --------
    >>> import unisono as un
    >>> un.fromfunction(lambda i, j: i + 10 * j, (2, 2)).tolist()
    [[0.0, 10.0], [1.0, 11.0]]
    """
    _refuse_like("fromfunction", like)
    return function(*un.indices(shape, dtype), **kwargs)


def fromiter(iter, dtype, count=-1, *, like=None):
    """One-dimensional array of what an iterable gives.

    Parameters
    ----------
    iter : iterable
    dtype : dtype, optional
    count : int
        How many; -1 for all.
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    ValueError
        Fewer elements than `count`.

    Examples
    --------
    >>> import unisono as un
    >>> un.fromiter((k * k for k in range(3)), dtype="int64").tolist()
    [0, 1, 4]
    """
    _refuse_like("fromiter", like)
    import itertools

    values = list(iter if count < 0 else itertools.islice(iter, count))
    if len(values) < count:
        raise ValueError(
            f"iterator too short: Expected {count} but iterator had only {len(values)} items."
        )
    return array(values, dtype=dtype) if values else un.empty(0, dtype)


def frombuffer(buffer, dtype=float, count=-1, offset=0, *, like=None):
    """One-dimensional array over the memory of a buffer, which is shared.

    Parameters
    ----------
    buffer : object with the buffer protocol
    dtype : dtype, optional
    count : int
        How many; -1 for all.
    offset : int
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray of one axis, over the same memory

    Raises
    ------
    ValueError
        Less memory than the elements need, or not a whole number of them.

    Examples
    --------
    >>> import unisono as un
    >>> un.frombuffer(b"\\x01\\x02", dtype="uint8").tolist()
    [1, 2]
    """
    _refuse_like("frombuffer", like)
    t = resolve(dtype)
    held = memoryview(buffer).cast("B")
    n = (len(held) - offset) // t.itemsize if count < 0 else count
    if not 0 <= offset <= len(held):
        raise ValueError(
            f"frombuffer: offset must lie in the buffer; got {offset} for {len(held)} bytes"
        )
    if count < 0 and (len(held) - offset) % t.itemsize:
        raise ValueError(
            f"frombuffer: buffer size must be a multiple of element size; got {len(held) - offset} bytes for {t} of "
            f"{t.itemsize}"
        )
    if offset + n * t.itemsize > len(held):
        raise ValueError(
            f"frombuffer: buffer is smaller than requested size; got {len(held) - offset} bytes, expected "
            f"{n * t.itemsize}"
        )
    if n == 0:
        return un.empty(0, t)
    part = t.itemsize // 2 if t.kind == "c" else t.itemsize
    letter = {1: "B", 2: "H", 4: "I", 8: "Q"}[part]
    return asarray(held[offset : offset + n * t.itemsize].cast(letter)).view(t)


def fromstring(string, dtype=float, count=-1, *, sep, like=None):
    """One-dimensional array of the numbers in a text, with `sep` between them.

    Parameters
    ----------
    string : str
    dtype : dtype, optional
    count : int
        How many; -1 for all.
    sep : str
        Between numbers in text; empty for bytes.
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    ValueError
        Text that is no number, or no separator.

    Examples
    --------
    >>> import unisono as un
    >>> un.fromstring("1, 2", sep=",").tolist()
    [1.0, 2.0]
    """
    _refuse_like("fromstring", like)
    if sep == "":
        raise ValueError("The binary mode of fromstring is removed, use frombuffer instead")
    text = string.decode() if isinstance(string, (bytes, bytearray)) else string
    parts = text.split() if sep.isspace() else text.split(sep.strip())
    return _parse(parts, dtype, count)


def _parse(parts, dtype, count=-1):
    """Array of the numbers in the texts."""
    kind = resolve(dtype).kind
    read = {"i": int, "u": int, "b": lambda t: bool(int(t)), "c": complex}.get(kind, float)
    parts = [p for p in (p.strip() for p in parts) if p]
    if count >= 0:
        if len(parts) < count:
            raise ValueError(
                f"string is smaller than requested size; got {len(parts)} numbers, expected {count}"
            )
        parts = parts[:count]
    return array([read(p) for p in parts], dtype=dtype) if parts else un.empty(0, dtype)


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """As `asarray`: arrays have one type.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Order of elements, or of memory.
    device : str or Device, optional
    copy : bool, optional
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.asanyarray([1, 2]).tolist()
    [1, 2]
    """
    _refuse_like("asanyarray", like)
    return _order("asanyarray", asarray(a, dtype, device=device, copy=copy), order)


def ascontiguousarray(a, dtype=None, *, like=None):
    """Array of at least one axis, packed in row-major order.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray of one axis or more

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.ascontiguousarray([1, 2]).tolist()
    [1, 2]
    """
    _refuse_like("ascontiguousarray", like)
    x = un.atleast_1d(asarray(a, dtype))
    return x if x.flags.c_contiguous else x.copy()


def asfortranarray(a, dtype=None, *, like=None):
    """Array packed in column-major order.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.asfortranarray([[1, 2], [3, 4]]).flags.f_contiguous
    True
    """
    _refuse_like("asfortranarray", like)
    x = asarray(a, dtype)
    return x if x.flags.f_contiguous else _order("asfortranarray", x, "F")


def asarray_chkfinite(a, dtype=None, order=None):
    """As `asarray`, but NaN and infinities are refused.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Order of elements, or of memory.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        An element is infinite or NaN.

    Examples
    --------
    >>> import unisono as un
    >>> un.asarray_chkfinite([1, 2]).tolist()
    [1, 2]
    """
    x = _order("asarray_chkfinite", asarray(a, dtype), order)
    if x.dtype.kind in "fc" and not bool(un.isfinite(x).all()):
        raise ValueError("array must not contain infs or NaNs")
    return x


def require(a, dtype=None, requirements=None, *, like=None):
    """Array that meets requirements: 'C', 'F', 'A' (aligned), 'W' (writeable), 'O' (owns its data), 'E' (this type).

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    requirements : str or sequence of str
        Letters of NumPy's flags.
    like : None
        Arrays of other libraries are refused.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        A requirement that is unknown, or two that exclude each other.

    Examples
    --------
    >>> import unisono as un
    >>> un.require([1, 2], "float32", "C").dtype.name
    'float32'
    """
    _refuse_like("require", like)
    wanted = {str(r).upper()[0] for r in (requirements or ())}
    if not wanted <= set("CFAWOE"):
        raise KeyError(sorted(wanted - set("CFAWOE"))[0])
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    x = asarray(a, dtype)
    if "F" in wanted and not x.flags.f_contiguous:
        return _order("require", x, "F")
    if ("C" in wanted and not x.flags.c_contiguous) or ("W" in wanted and not x.flags.writeable):
        return x.copy()
    return x
