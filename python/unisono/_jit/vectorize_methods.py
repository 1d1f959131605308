"""Methods of vectorised functions, as compiled loops: reduce, accumulate, outer, at."""

from __future__ import annotations

from .. import _engine
from .._arrays import ufunc as _ufunc
from .._arrays.axes import as_array_beside
from .._engine import CompileError
from .._loaded import loaded
from . import targets
from .text import compile_text

_no_value = object()


class Probe:
    """Stands for an array of some dtype where only types are asked for."""

    def __init__(self, dtype):
        self.dtype = dtype


def as_type(x, name, place=None):
    """The operand as the function's parameter takes it: an array of its dtype, or a plain number."""
    if name.startswith("weak"):
        return x
    if isinstance(x, (bool, int, float, complex)):
        import unisono as un

        return un.full((), x, name, device=place)
    return x.astype(name, copy=False)


def _packed(x, axes, kept, dtype):
    """Two axes: those that are combined, in order, and the others."""
    n = m = 1
    for k in axes:
        n *= x.shape[k]
    for k in kept:
        m *= x.shape[k]
    return x.transpose((*axes, *kept)).reshape((n, m)).astype(dtype, copy=False)


class Folds(_engine._ItemLoops):
    """Reductions of NumPy's rows of few elements, by loops that run at once."""

    def __init__(self, function):
        self._function = function
        self._met = set()  # dtypes

    def _call(self, x):
        """Compile a loop for a dtype that is new; None where there is none."""
        if x.dtype.name in self._met:
            return None
        self._met.add(x.dtype.name)
        try:
            _, result = self._function._binary("reduce", x)
        except (CompileError, TypeError):
            return None  # refused there
        if result != x.dtype.name or result == "float16":
            return None
        lines = [
            "def fold(x, out):",
            "    out[0] = x[0]",
            "    for i in range(1, x.shape[0]):",
            "        out[0] = f(out[0], x[i])",
        ]
        loop = compile_text("\n".join(lines) + "\n", "fold", {"f": self._function._compiled})
        self._add_loop(loop, [(result, (0,))], [(result, ())], most_short, False)
        return self(x)


most_short = 1024  # elements that a loop at once takes in the time of recording a statement


class Methods:
    """What NumPy's ufuncs have beside the call; `Vectorized` gives types and loops."""

    def _binary(self, method, x, dtype=None):
        """(types, result) of a loop whose result is its first operand's type again."""
        _ufunc._check_binary(self, method)
        dtype = x.dtype if dtype is None else dtype
        probe = Probe(dtype)
        types, result = self._choose((probe, probe))
        return types, result

    def _takes_short_row(self, x):
        numpy = loaded("numpy")
        return (
            numpy is not None
            and type(x) is numpy.ndarray
            and x.ndim == 1
            and 0 < x.size <= most_short
            and self._interpreted is None
            and self._device is None
        )

    def reduce(
        self, array, axis=0, dtype=None, out=None, keepdims=False, initial=_no_value, where=True
    ):
        """Combine the elements along axes, in their order; see NumPy's ``ufunc.reduce``.

        Parameters
        ----------
        array : array_like
        axis : int, tuple of int or None
            Several axes need an `identity` (or ``"reorderable"``).
        dtype, out, keepdims, initial, where
            As for NumPy's.

        Returns
        -------
        array
            Of the shape without the axes; the dtype is that of the function's result.
        """
        import unisono as un

        is_plain = axis == 0 and dtype is out is None and where is True and not keepdims
        if is_plain and initial is _no_value and self._takes_short_row(array):
            made = self._folds(array)
            if made is not None:
                return made
        if targets.needs_copies(self, (array,), out):
            options = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims,
                       "initial": initial, "where": where}  # fmt: skip
            return targets.call(self, self.reduce, (array,), options, 1)
        x = _ufunc.as_array(array)
        name = self.__name__
        _ufunc._check_binary(self, "reduce")
        axes = _ufunc._axes(f"{name}.reduce", axis, x.ndim)
        if len(axes) > 1 and not self.reorderable:
            raise ValueError(
                f"{name}.reduce: reduction operation '{name}' is not reorderable, so at most one axis may be specified"
            )
        _, result = self._binary("reduce", x, None if dtype is None else un.dtype(dtype))
        target = un.dtype(dtype) if dtype is not None else un.dtype(result)
        start = self.identity if initial is _no_value else initial
        if where is not True:
            if start is None:
                raise ValueError(
                    f"reduction operation '{name}' does not have an identity, so to use a where mask one has to "
                    f"specify 'initial'"
                )
            where = un.broadcast_to(_ufunc._mask(name, where, x), x.shape)
        kept = [k for k in range(x.ndim) if k not in axes]
        rows = _packed(x, axes, kept, target)
        if rows.shape[0] == 0 and start is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        made = un.empty(rows.shape[1], target, device=x.device)
        begin = initial if initial is not _no_value and initial is not None else None
        if begin is None and (rows.shape[0] == 0 or where is not True):
            begin = start
        lines = [
            "def fold(x, mask, start, out):",
            "    for j in prange(x.shape[1]):",
            f"        out[j] = {'start' if begin is not None else 'x[0, j]'}",
            f"        for i in range({0 if begin is not None else 1}, x.shape[0]):",
            f"            {'if mask[i, j]: ' if where is not True else ''}out[j] = f(out[j], x[i, j])",
        ]
        loop = self._loop(("fold", begin is not None, where is not True), "\n".join(lines))
        mask = _packed(where, axes, kept, un.dtype("bool")) if where is not True else rows
        loop(rows, mask, target.type(0 if begin is None else begin).item(), made)
        shape = (
            tuple(1 if k in axes else n for k, n in enumerate(x.shape))
            if keepdims
            else tuple(x.shape[k] for k in kept)
        )
        made = made.reshape(shape)
        if not shape:
            made = made[()]
        if out is None:
            return made
        return _ufunc._deliver(
            name, made, out[0] if isinstance(out, tuple) else out, True, "same_kind", None
        )

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """Combine the elements up to each one along an axis; see NumPy's ``ufunc.accumulate``."""
        import unisono as un

        if targets.needs_copies(self, (array,), out):
            options = {"axis": axis, "dtype": dtype, "out": out}
            return targets.call(self, self.accumulate, (array,), options, 1)
        x = _ufunc.as_array(array)
        name = self.__name__
        _ufunc._check_binary(self, "accumulate")
        if x.ndim == 0:
            raise TypeError(f"{name}.accumulate: cannot accumulate on a scalar")
        (axis,) = _ufunc._axes(f"{name}.accumulate", axis, x.ndim)
        _, result = self._binary("accumulate", x, None if dtype is None else un.dtype(dtype))
        target = un.dtype(dtype) if dtype is not None else un.dtype(result)
        kept = [k for k in range(x.ndim) if k != axis]
        rows = _packed(x, (axis,), kept, target)
        made = un.empty(rows.shape, target, device=x.device)
        loop = self._loop(
            ("scan",),
            """
            def scan(x, out):
                for j in prange(x.shape[1]):
                    if x.shape[0] > 0:
                        out[0, j] = x[0, j]
                    for i in range(1, x.shape[0]):
                        out[i, j] = f(out[i - 1, j], x[i, j])
            """,
        )
        loop(rows, made)
        made = made.reshape((x.shape[axis], *(x.shape[k] for k in kept)))
        made = un.moveaxis(made, 0, axis)
        if out is None:
            return made
        return _ufunc._deliver(
            name, made, out[0] if isinstance(out, tuple) else out, True, "same_kind", None
        )

    def outer(self, A, B, /, **options):
        """Apply to all pairs of elements; see NumPy's ``ufunc.outer``."""
        return _ufunc.outer(self, A, B, **options)

    def at(self, a, indices, b=None, /):
        """Apply in place at indices, repeated ones once each; see NumPy's ``ufunc.at``."""
        import unisono as un

        if self.nin > 2 or (b is None) != (self.nin == 1):
            what = (
                "second operand needed for ufunc" if self.nin == 2 else "takes one or two operands"
            )
            raise ValueError(f"{self.__name__}.at: {what}")
        if targets.needs_copies(self, (a,)):
            run = lambda there: self.at(there, indices, b)  # noqa: E731
            return targets.call(self, run, (a,), {}, 1, written=(0,))
        target = _ufunc.as_array(a)
        places = un.arange(target.size, device=target.device).reshape(target.shape)[indices]
        flat = target.reshape(-1)
        values = ()
        if b is not None:
            values = (un.broadcast_to(as_array_beside(b, target), places.shape).reshape(-1),)
        types, result = self._choose((flat, *values))
        if not un.can_cast(un.dtype(result), target.dtype, "same_kind"):
            raise TypeError(f"{self.__name__}.at: cannot cast the result to {target.dtype}")
        values = tuple(as_type(v, t) for v, t in zip(values, types[1:], strict=True))
        arguments = "x[place[i]]" + (", b[i]" if values else "")
        loop = self._loop(
            ("places", len(values)),
            f"""
            def places(x, place{", b" if values else ""}):
                for i in range(place.shape[0]):
                    x[place[i]] = f({arguments})
            """,
        )
        loop(flat, places.reshape(-1), *values)
        if not target.flags.c_contiguous:
            target[...] = flat.reshape(target.shape)
