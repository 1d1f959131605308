"""Objects that are indexed to make arrays or indices, and iterators over indices."""

import unisono as un

from .exchange.numpys_elements import _converted_one, is_numpys, results
from .ufunc import as_array, is_python_number


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
        try:
            return self._joined(key)
        except TypeError:
            parts = key if isinstance(key, tuple) else (key,)
            if not is_numpys([p for p in parts if not isinstance(p, (slice, str))]):
                raise
        return self._numpys(key)

    def _joined(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        axis, ndmin, start = self._default
        if parts and isinstance(parts[0], str):
            if parts[0] in ("r", "c"):
                return self._numpys(key)
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
        arrays = [p if is_python_number(p) else self._array(p) for p in parts]
        # Python numbers adapt to the arrays beside them.
        dtype = un.result_type(*(a if is_python_number(a) else a.dtype for a in arrays))
        arrays = [un.asarray(a, dtype) if is_python_number(a) else a for a in arrays]
        return un.concatenate(
            [self._grown(a, ndmin, start) for a in arrays], axis=axis, dtype=dtype
        )

    def _numpys(self, key):
        """NumPy's result: of objects, text and other elements that are its own, and its matrices."""
        import numpy

        return results(getattr(numpy, self._name)[_converted_one(key)])

    @staticmethod
    def _array(part):
        if not isinstance(part, slice):
            return as_array(part)
        start = 0 if part.start is None else part.start
        step = 1 if part.step is None else part.step
        if un.iscomplexobj(step):
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
        If `arr` cannot be converted to a numeric array.

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


r_ = _Joiner("r_", 0, 1, -1)


c_ = _Joiner("c_", -1, 2, 0)
