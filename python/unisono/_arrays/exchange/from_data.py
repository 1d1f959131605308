"""Arrays from formulas, iterators, buffers and text, and conversions to a memory layout."""

import unisono as un

from ... import _engine
from ..axes import of_class_of as _of_class_of
from ..creation import _ordered, array, asarray, refuse_like
from ..ufunc import resolve
from .numpys_elements import by_numpy, is_numpys


def _is_numpys_alone(dtype):
    """Whether NumPy knows the dtype and this package does not; a misspelt one is neither's."""
    if not is_numpys(dtype):
        return False
    import numpy

    try:
        return numpy.dtype(dtype) is not None
    except (TypeError, ValueError):
        return False


def fromfunction(function, shape, *, dtype=float, mesh=None, like=None, **kwargs):
    """Array made by calling a function with the index arrays of a grid.

    Parameters
    ----------
    function : callable
    shape : int or tuple of int
    dtype : dtype, optional
    mesh : Mesh, optional
        Ranks over which the index arrays are distributed.
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.
    **kwargs
        Passed on.

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
    >>> un.fromfunction(lambda i, j: i + 10 * j, (2, 2)).tolist()
    [[0.0, 10.0], [1.0, 11.0]]
    """
    refuse_like("fromfunction", like)
    if mesh is None and _is_numpys_alone(dtype):
        return by_numpy("fromfunction", function, shape, dtype=dtype, **kwargs)
    return function(*un.indices(shape, dtype, mesh=mesh), **kwargs)


@_engine._FastPath
def fromiter(iter, dtype, count=-1, *, mesh=None, like=None):
    """One-dimensional array of the elements of an iterable.

    Parameters
    ----------
    iter : iterable
    dtype : dtype, optional
    count : int
        Number of elements; -1 means all.
    mesh : Mesh, optional
        Ranks over which it is distributed; the iterable gives the same on all of them.
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    ValueError
        If the iterable gives fewer than `count` elements.

    Examples
    --------
    >>> import unisono as un
    >>> un.fromiter((k * k for k in range(3)), dtype="int64").tolist()
    [0, 1, 4]
    """
    refuse_like("fromiter", like)
    if mesh is None and _is_numpys_alone(dtype):  # asked first: what was read of `iter` is gone
        return by_numpy("fromiter", iter, dtype, count)
    import itertools

    values = list(iter if count < 0 else itertools.islice(iter, count))
    if len(values) < count:
        raise ValueError(
            f"iterator too short: Expected {count} but iterator had only {len(values)} items."
        )
    return array(values, dtype=dtype, mesh=mesh) if values else un.empty(0, dtype, mesh=mesh)


def _byte_order(dtype):
    """The dtype in the machine's byte order, and whether `dtype` is of the other one."""
    if isinstance(dtype, str) and dtype[:1] == ">":
        t = resolve(dtype[1:])
        return t, t.itemsize > 1
    if getattr(dtype, "byteorder", "=") == ">":
        return resolve(dtype.newbyteorder("=")), True
    return resolve(dtype), False


@_engine._FastPath
def frombuffer(buffer, dtype=float, count=-1, offset=0, *, mesh=None, like=None):
    """One-dimensional array over the memory of a buffer, which is shared.

    Parameters
    ----------
    buffer : object with the buffer protocol
    dtype : dtype, optional
        Of the other byte order (``">f8"``) too; the elements are a copy in the machine's then.
    count : int
        Number of elements; -1 means all.
    offset : int
    mesh : Mesh, optional
        Ranks over which it is distributed; the buffer has the same elements on all of them. These are copied.
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray of one axis, over the same memory where it is not distributed

    Raises
    ------
    ValueError
        If the buffer is too small, or does not hold a whole number of elements.

    Examples
    --------
    >>> import unisono as un
    >>> un.frombuffer(b"\\x01\\x02", dtype="uint8").tolist()
    [1, 2]
    """
    refuse_like("frombuffer", like)
    made = from_bytes(buffer, dtype, count, offset, "cpu")
    return made if mesh is None else asarray(made, mesh=mesh)


def from_bytes(buffer, dtype, count=-1, offset=0, device=None):
    """As `frombuffer`, where `un.zeros` makes its arrays: memory of the host is shared on the host only."""
    t, swapped = _byte_order(dtype)
    if swapped:
        return from_bytes(buffer, t, count, offset, device).byteswap()
    if t.names is not None:
        import numpy

        from ..._records.records import shared

        return shared(numpy.frombuffer(buffer, t, count, offset))
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
        return un.empty(0, t, device=device)
    part = t.itemsize // 2 if t.kind == "c" else t.itemsize
    letter = {1: "B", 2: "H", 4: "I", 8: "Q"}[part]
    elements = held[offset : offset + n * t.itemsize].cast(letter)
    return _engine._array(elements, None, device, None).view(t)


@_engine._FastPath
def fromstring(string, dtype=float, count=-1, *, sep, like=None):
    """One-dimensional array of the numbers in a text, with `sep` between them.

    Parameters
    ----------
    string : str
    dtype : dtype, optional
    count : int
        Number of elements; -1 means all.
    sep : str
        Separator of the numbers in a text file; empty for a binary file.
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    ValueError
        If the text holds something other than numbers, or no separator is given.

    Examples
    --------
    >>> import unisono as un
    >>> un.fromstring("1, 2", sep=",").tolist()
    [1.0, 2.0]
    """
    refuse_like("fromstring", like)
    if sep == "":
        raise ValueError("The binary mode of fromstring is removed, use frombuffer instead")
    text = string.decode() if isinstance(string, (bytes, bytearray)) else string
    parts = text.split() if sep.isspace() else text.split(sep.strip())
    return _parse(parts, dtype, count)


def _parse(parts, dtype, count=-1):
    """Array of the numbers in the texts."""
    kind = resolve(dtype).kind
    read = {"i": int, "u": int, "b": lambda t: bool(float(t)), "c": complex}.get(kind, float)
    parts = [p for p in (p.strip() for p in parts) if p]
    if count >= 0:
        if len(parts) < count:
            raise ValueError(
                f"string is smaller than requested size; got {len(parts)} numbers, expected {count}"
            )
        parts = parts[:count]
    return array([read(p) for p in parts], dtype=dtype) if parts else un.empty(0, dtype)


@_engine._FastPath
def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """Convert the input to an array, see `asarray`; of a class that derives from the array, to one of that class.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.
    device : str or Device, optional
    copy : bool, optional
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.asanyarray([1, 2]).tolist()
    [1, 2]
    """
    refuse_like("asanyarray", like)
    is_of_class = isinstance(a, _engine._Array) and type(a) is not _engine.ndarray
    is_of_class = is_of_class and type(a) not in _engine._scalars
    if is_of_class and not copy and order is dtype is device is None:
        return a
    return _of_class_of(a, _ordered(asarray(a, dtype, device=device, copy=copy), order))


@_engine._FastPath
def ascontiguousarray(a, dtype=None, *, like=None):
    """Array of at least one axis, packed in row-major order.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray of one axis or more

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.ascontiguousarray([1, 2]).tolist()
    [1, 2]
    """
    refuse_like("ascontiguousarray", like)
    x = asarray(a, dtype)
    x = x if x.ndim else x.reshape(1)
    return x if x.flags.c_contiguous else x.copy()


@_engine._FastPath
def asfortranarray(a, dtype=None, *, like=None):
    """Array packed in column-major order.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.asfortranarray([[1, 2], [3, 4]]).flags.f_contiguous
    True
    """
    refuse_like("asfortranarray", like)
    x = asarray(a, dtype)
    if x.ndim == 0:
        return x.reshape(1)
    return x if x.flags.f_contiguous else _ordered(x, "F")


def asarray_chkfinite(a, dtype=None, order=None):
    """Convert the input to an array; NaN and infinities raise ValueError.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : {'C', 'F', 'A', 'K'}
        Memory layout of the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an element is infinite or NaN.

    Examples
    --------
    >>> import unisono as un
    >>> un.asarray_chkfinite([1, 2]).tolist()
    [1, 2]
    """
    x = _ordered(asarray(a, dtype), order)
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
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If a requirement is unknown, or two requirements exclude each other.

    Examples
    --------
    >>> import unisono as un
    >>> un.require([1, 2], "float32", "C").dtype.name
    'float32'
    """
    refuse_like("require", like)
    wanted = {str(r).upper()[0] for r in (requirements or ())}
    if not wanted <= set("CFAWOE"):
        raise KeyError(sorted(wanted - set("CFAWOE"))[0])
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    x = asarray(a, dtype)
    if "F" in wanted and not x.flags.f_contiguous:
        return _ordered(x, "F")
    if ("C" in wanted and not x.flags.c_contiguous) or ("W" in wanted and not x.flags.writeable):
        return x.copy()
    return x


def from_dlpack(x, /, *, device=None, copy=None):
    """Array that shares the memory of an object with ``__dlpack__``.

    Parameters
    ----------
    x : object
        On the CPU or a CUDA device, or an array of ours on any device; tensors of other libraries on other devices are
        copied to the CPU through their own library first.
    device : str or Device, optional
        Device of the result; a different device means a copy.
    copy : bool, optional
        True always copies; False raises if a copy is needed.

    Returns
    -------
    ndarray

    Raises
    ------
    AttributeError
        If `x` does not have the method ``__dlpack__``.

    Examples
    --------
    >>> import unisono as un
    >>> un.from_dlpack(un.arange(3)).tolist()
    [0, 1, 2]
    """
    is_spread = isinstance(x, _engine._Array) and x.mesh is not None
    made = x[...] if is_spread else _engine._from_dlpack(x)  # a tensor is of one rank's memory
    if device is not None and made.device != device:
        if copy is False:
            raise ValueError(
                f"from_dlpack: an array on {made.device} cannot be seen on {device} without a copy; use copy=None"
            )
        return made.to_device(device)
    return made.copy() if copy else made
