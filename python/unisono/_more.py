"""Small things of NumPy's main namespace: index helpers, iterators, memory questions, bits, error states."""

import unisono as un

from . import _engine
from ._ufunc import as_array, resolve
from ._views import _axis


class _Kind(type):
    """So that ``isinstance(x, un.integer)`` holds of values of such a dtype."""

    def __instancecheck__(cls, x):
        return isinstance(x, _engine.ndarray) and x._is_value() and un.issubdtype(x.dtype, cls)


class generic(metaclass=_Kind):
    """Abstract kind of all dtypes, for `issubdtype`; arrays of ours have dtypes, values no classes of their own.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype("int8", un.generic)
    True
    """


class number(generic):
    """Abstract kind of all numbers.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype(bool, un.number)
    False
    """


class integer(number):
    """Abstract kind of integers.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype("uint8", un.integer)
    True
    """


class signedinteger(integer):
    """Abstract kind of integers with a sign.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype("uint8", un.signedinteger)
    False
    """


class unsignedinteger(integer):
    """Abstract kind of integers without a sign.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype("uint8", un.unsignedinteger)
    True
    """


class inexact(number):
    """Abstract kind of floating-point numbers, real and complex.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype("complex64", un.inexact)
    True
    """


class floating(inexact):
    """Abstract kind of real floating-point numbers.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype("complex64", un.floating)
    False
    """


class complexfloating(inexact):
    """Abstract kind of complex numbers.

    Examples
    --------
    >>> import unisono as un
    >>> un.issubdtype("complex64", un.complexfloating)
    True
    """


True_ = _engine._truth(True)
False_ = _engine._truth(False)


class _Index:
    """What is written between brackets: ``s_[1:3, ...]``; `index_exp` always gives a tuple."""

    def __init__(self, always_tuple):
        self._always_tuple = always_tuple

    def __getitem__(self, key):
        return (key,) if self._always_tuple and not isinstance(key, tuple) else key


s_ = _Index(False)
index_exp = _Index(True)


class _Joiner:
    """Arrays and ranges joined by indexing: ``r_[1:4, 0, [5, 6]]``, ``c_[a, b]``."""

    def __init__(self, name, axis, ndmin, start):
        self._name, self._default = name, (axis, ndmin, start)

    def __repr__(self):
        return f"unisono.{self._name}"

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        axis, ndmin, start = self._default
        if parts and isinstance(parts[0], str):
            numbers = parts[0].split(",")
            try:
                axis, ndmin, start = (
                    int(n) for n in (*numbers, *map(str, self._default[len(numbers) :]))
                )
            except ValueError:
                raise ValueError(
                    f"{self._name}_: unknown special directive {parts[0]!r}; expected up to three integers"
                ) from None
            parts = parts[1:]
        arrays = [self._grown(self._array(p), ndmin, start) for p in parts]
        # Python numbers adapt to the arrays beside them.
        typed = [
            a.dtype
            for a, p in zip(arrays, parts, strict=True)
            if not isinstance(p, (bool, int, float, complex))
        ]
        weak = [p for p in parts if isinstance(p, (bool, int, float, complex))]
        return un.concatenate(arrays, axis=axis, dtype=un.result_type(*typed, *weak))

    @staticmethod
    def _array(part):
        if not isinstance(part, slice):
            return as_array(part)
        start = 0 if part.start is None else part.start
        step = 1 if part.step is None else part.step
        if isinstance(step, complex):
            return un.linspace(start, part.stop, int(abs(step)))
        return un.arange(start, part.stop, step)

    @staticmethod
    def _grown(x, ndmin, start):
        more = ndmin - x.ndim
        if more <= 0:
            return x
        # Where the array's own axes begin among the new ones; -1: after all of them.
        before = more if start == -1 else start + more + 1 if start < 0 else start
        before = min(max(before, 0), more)
        return x.reshape((1,) * before + tuple(x.shape) + (1,) * (more - before))


class ndindex:
    """Iterator over the indices of a shape.

    Examples
    --------
    >>> import unisono as un
    >>> list(un.ndindex(2, 2))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """

    def __init__(self, *shape):
        import itertools

        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        if any(n < 0 for n in shape):
            raise ValueError("negative dimensions are not allowed")
        self._places = itertools.product(*map(range, shape))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._places)


class ndenumerate:
    """Iterator over pairs of index and value.

    Parameters
    ----------
    arr : array_like

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> [(index, value.item()) for index, value in un.ndenumerate([[1, 2]])]
    [((0, 0), 1), ((0, 1), 2)]
    """

    def __init__(self, arr):
        x = as_array(arr)
        self._pairs = zip(ndindex(tuple(x.shape)), x.reshape(-1), strict=True)
        self.iter = x.flat

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._pairs)


def _span(x):
    """First and end address of an array's elements on the host, or None if it has none."""
    if x.size == 0 or x.device != "cpu":
        return None
    import numpy
    from numpy.lib.array_utils import byte_bounds

    return byte_bounds(numpy.asarray(x))


def may_share_memory(a, b, /, max_work=0):
    """Whether the memory between the first and the last element of both overlaps.

    Parameters
    ----------
    a, b : array_like
    max_work : int, optional
        How far to search.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.arange(4)
    >>> un.may_share_memory(x, x[1:])
    True
    """
    one, two = _span(as_array(a)), _span(as_array(b))
    return one is not None and two is not None and one[0] < two[1] and two[0] < one[1]


def shares_memory(a, b, /, max_work=-1):
    """Whether the arrays have an element in common.

    Parameters
    ----------
    a, b : array_like
    max_work : int, optional
        How far to search.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> x = un.arange(4)
    >>> un.shares_memory(x[::2], x[1::2])
    False
    """
    a, b = as_array(a), as_array(b)
    if not may_share_memory(a, b):
        return False
    import numpy

    return numpy.shares_memory(numpy.asarray(a), numpy.asarray(b), max_work)


def min_scalar_type(a, /):
    """Smallest dtype that holds a number; of an array its own.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        What is given is no array of numbers, nor makes one.

    Examples
    --------
    >>> import unisono as un
    >>> un.min_scalar_type(300)
    dtype('uint16')
    """
    if isinstance(a, bool):
        return resolve("bool")
    x = None if isinstance(a, (int, float, complex)) else as_array(a)
    if x is not None and x.ndim:
        return x.dtype
    value = a if x is None else x.item()
    if isinstance(value, bool):
        return resolve("bool")
    if isinstance(value, int):
        kinds = (
            ("uint8", "uint16", "uint32", "uint64")
            if value >= 0
            else ("int8", "int16", "int32", "int64")
        )
        return next(resolve(k) for k in kinds if un.iinfo(k).min <= value <= un.iinfo(k).max)
    import numpy

    return resolve(numpy.min_scalar_type(value).name)


def common_type(*arrays):
    """Floating-point dtype that holds all arrays; integers count as float64.

    Parameters
    ----------
    *arrays : sequence of array_like

    Returns
    -------
    dtype

    Raises
    ------
    TypeError
        An array of bool.

    Examples
    --------
    >>> import unisono as un
    >>> un.common_type([1], un.ones(1, dtype="float32"))
    dtype('float64')
    """
    made = resolve("float16") if hasattr(un, "float16") else resolve("float32")
    for a in arrays:
        dtype = as_array(a).dtype
        if dtype.kind == "b":
            raise TypeError("can't get common type for non-numeric array")
        made = un.result_type(made, resolve("float64") if dtype.kind in "iu" else dtype)
    return made


def packbits(a, /, axis=None, bitorder="big"):
    """Bits of booleans packed into uint8, filled up with zeros.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes where it is None.
    bitorder : {'big', 'little'}

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError
        An array of floating-point numbers.
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.packbits([1, 0, 1]).tolist()
    [160]
    """
    x = as_array(a)
    if x.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    weights = _bit_weights(bitorder)
    x = (x != 0).astype("uint8")
    x, k = (x.reshape(-1), 0) if axis is None else (x, _axis(axis, x.ndim, "packbits"))
    x = un.moveaxis(x, k, -1)
    n = x.shape[-1]
    padded = un.zeros((*x.shape[:-1], -(-n // 8) * 8), "uint8")
    padded[..., :n] = x
    made = (padded.reshape((*x.shape[:-1], -(-n // 8), 8)) * weights).sum(axis=-1, dtype="uint8")
    return un.moveaxis(made, -1, k)


def _bit_weights(bitorder):
    if bitorder[:1] not in ("b", "l"):
        raise ValueError("'order' must be either 'little' or 'big'")
    weights = un.asarray([128, 64, 32, 16, 8, 4, 2, 1], dtype="uint8")
    return weights if bitorder[0] == "b" else weights[::-1]


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """Bits of uint8 as an array of zeros and ones.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes where it is None.
    count : int
        How many; -1 for all.
    bitorder : {'big', 'little'}

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    TypeError
        Another dtype than uint8.
    AxisError
        The array has no such axis.

    Examples
    --------
    >>> import unisono as un
    >>> un.unpackbits(un.asarray([5], dtype="uint8")).tolist()
    [0, 0, 0, 0, 0, 1, 0, 1]
    """
    x = as_array(a)
    if x.dtype != "uint8":
        raise TypeError("Expected an input array of unsigned byte data type")
    x, k = (x.reshape(-1), 0) if axis is None else (x, _axis(axis, x.ndim, "unpackbits"))
    x = un.moveaxis(x, k, -1)
    bits = ((x[..., None] & _bit_weights(bitorder)) != 0).astype("uint8")
    bits = bits.reshape((*x.shape[:-1], 8 * x.shape[-1]))
    if count is not None:
        n = bits.shape[-1]
        if count < 0:
            count += n
        if count > n:
            more = un.zeros((*bits.shape[:-1], count - n), "uint8")
            bits = un.concatenate([bits, more], axis=-1)
        bits = bits[..., :count]
    return un.moveaxis(bits, -1, k)


r_ = _Joiner("r_", 0, 1, -1)
c_ = _Joiner("c_", -1, 2, 0)
