"""Python functions applied to arrays: vectorize, frompyfunc, along axes, by pieces."""

import functools
import inspect

import unisono as un

from .. import _engine
from .._arrays.axes import as_array, as_array_beside, several
from .._arrays.exchange import numpys_elements
from .._arrays.exchange.numpys_elements import by_numpy, is_numpys, is_object
from .._arrays.transposes import moveaxis
from .._arrays.ufunc import is_python_number, resolve
from .._arrays.views import _axis


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """Apply a function to the one-dimensional slices along an axis.

    Parameters
    ----------
    func1d : callable
        Takes a one-dimensional array (and `args`, `kwargs`), gives a number or an array of one shape.
    axis : int
    arr : array_like

    Returns
    -------
    ndarray
        The results, in place of the axis.

    Raises
    ------
    AxisError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import unisono as un
    >>> un.apply_along_axis(lambda v: v[-1] - v[0], 1, [[1, 2, 4], [0, 5, 9]]).tolist()
    [3, 9]
    """
    if is_numpys(arr):
        return by_numpy("apply_along_axis", func1d, axis, arr, *args, **kwargs)
    x = as_array(arr)
    k = _axis(axis, x.ndim, "apply_along_axis")
    moved = moveaxis(x, k, -1)
    lead = tuple(moved.shape[:-1])
    count = 1
    for n in lead:
        count *= n
    if count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = moved.reshape((count, moved.shape[-1]))
    results = [as_array(func1d(rows[r], *args, **kwargs)) for r in range(count)]
    made = un.stack(results).reshape(lead + tuple(results[0].shape))
    inner = results[0].ndim
    order = [*range(k), *range(len(lead), len(lead) + inner), *range(k, len(lead))]
    return made.transpose(order) if made.ndim else made


def apply_over_axes(func, a, axes):
    """Apply ``func(a, axis)`` over axes one after another, keeping them with extent 1.

    Parameters
    ----------
    func : callable
    a : array_like
    axes : tuple of int, optional

    Returns
    -------
    ndarray of as many axes

    Raises
    ------
    ValueError
        If the function returns an array with a different number of axes.

    Examples
    --------
    >>> import unisono as un
    >>> un.apply_over_axes(un.sum, [[1, 2], [3, 4]], (0, 1)).tolist()
    [[10]]
    """
    if is_numpys(a):
        return by_numpy("apply_over_axes", func, a, axes)
    x = as_array(a)
    n = x.ndim
    for axis in several(axes):
        axis = axis + n if axis < 0 else axis
        result = as_array(func(x, axis))
        if result.ndim != x.ndim:
            result = un.expand_dims(result, axis)
            if result.ndim != x.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        x = result
    return x


def piecewise(x, condlist, funclist, *args, **kw):
    """Evaluate one function (or take one value) for each condition, on the elements that meet it.

    Parameters
    ----------
    x : array_like
    condlist : sequence of array_like of bool
    funclist : sequence of callables or numbers
    *args, **kw
        Passed on.

    Returns
    -------
    ndarray of the shape and dtype of `x`

    Raises
    ------
    ValueError
        If the number of functions is neither the number of conditions nor one more.

    Examples
    --------
    >>> import unisono as un
    >>> un.piecewise([-2.0, 3.0], [un.asarray([True, False])], [0, 9]).tolist()
    [0.0, 9.0]
    """
    x = as_array(x)
    if not isinstance(condlist, (list, tuple)) or (
        x.ndim
        and condlist
        and not hasattr(condlist[0], "__len__")
        and not hasattr(condlist[0], "shape")
    ):
        condlist = [condlist]
    conditions = [as_array_beside(c, x).astype("bool") for c in condlist]
    n = len(conditions)
    if len(funclist) == n + 1:
        rest = conditions[0]
        for c in conditions[1:]:
            rest = rest | c
        conditions.append(~rest)
    elif len(funclist) != n:
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    made = un.zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            if is_python_number(function):  # which the dtype has to hold
                value = un.full((), function, x.dtype, device=x.device)
            else:
                value = as_array_beside(function, x).astype(x.dtype)
            made = un.where(condition, value, made)
            continue
        if x.ndim == 0:
            if bool(condition):
                made = as_array(function(x, *args, **kw)).astype(x.dtype)
            continue
        chosen = x[condition]
        if chosen.size:
            made[condition] = function(chosen, *args, **kw)
    return made


@_engine._FastPath
def frompyfunc(func, /, nin, nout, *, identity=None):
    """Elementwise function that calls a Python function for each element; results are arrays of its numbers.

    Parameters
    ----------
    func : callable
    nin : int
        Operands.
    nout : int
        Results.
    identity : object, optional

    Returns
    -------
    callable
        Takes arrays, which broadcast, and gives arrays.

    Raises
    ------
    TypeError
        If `func` is not callable.

    Examples
    --------
    >>> import unisono as un
    >>> un.frompyfunc(lambda x, y: x + y, 2, 1)([1, 2], 10).tolist()
    [11, 12]
    """
    caller = vectorize(func)

    def call(*args):
        made = caller(*args)
        if nout > 1 and (not isinstance(made, tuple) or len(made) != nout):
            raise ValueError(f"frompyfunc: the function must return {nout} values")
        return made

    return _engine._make_ufunc(getattr(func, "__name__", "function"), nin, nout, call)


class vectorize:
    """Function of arrays that calls a Python function for each element, with broadcasting.

    For convenience, not for speed: `un.jit` compiles loops.

    Parameters
    ----------
    pyfunc : callable
    otypes : list of dtypes, optional
        Of the results; those of the first results by default.
    doc : str, optional
    excluded : set of str or int, optional
        Arguments that are passed on as they are.
    cache : bool
        Keep the first result instead of computing it again.
    signature : str, optional
        As ``"(m,n),(n)->(m)"``: the function takes and gives arrays of these axes.

    Examples
    --------
    >>> import unisono as un
    >>> f = un.vectorize(lambda a, b: a - b if a > b else a + b)
    >>> f([1, 2, 3, 4], 2).tolist()
    [3, 4, 1, 2]
    """

    def __init__(
        self, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False, signature=None
    ):
        self.excluded = set() if excluded is None else set(excluded)
        self.cache = cache
        self.signature = signature
        self.otypes = None if otypes is None else [resolve(t) for t in otypes]
        self._core = None if signature is None else _parse_signature(signature)
        self.pyfunc = None
        self._doc = doc
        if pyfunc is not None:
            self._set(pyfunc)

    def _set(self, pyfunc):
        self.pyfunc = pyfunc
        functools.update_wrapper(self, pyfunc, updated=())
        if self._doc is not None:
            self.__doc__ = self._doc

    def __call__(self, *args, **kwargs):
        if self.pyfunc is None:  # as a decorator with arguments
            self._set(args[0])
            return self
        if kwargs:
            names = list(inspect.signature(self.pyfunc).parameters)
            values = {**dict(zip(names, args, strict=False)), **kwargs}
            places = {n: k for k, n in enumerate(names)}
            varied = [
                n for n in values if n not in self.excluded and places.get(n) not in self.excluded
            ]
            fixed = {n: v for n, v in values.items() if n not in varied}
            return self._run(
                lambda *v: self.pyfunc(**fixed, **dict(zip(varied, v, strict=True))),
                [values[n] for n in varied],
            )
        varied = [k for k in range(len(args)) if k not in self.excluded]

        def call(*values):
            full = list(args)
            for k, value in zip(varied, values, strict=True):
                full[k] = value
            return self.pyfunc(*full)

        return self._run(call if self.excluded else self.pyfunc, [args[k] for k in varied])

    def _run(self, function, args):
        if any(map(is_numpys, args)):
            types = self.otypes and [getattr(t, "char", t) for t in self.otypes]
            made = by_numpy("vectorize", function, types, signature=self.signature)
            return numpys_elements.results(made(*args))
        arrays = [as_array(a) for a in args]
        if self._core is not None:
            return self._run_core(function, arrays)
        shape = un.broadcast_shapes(*(tuple(a.shape) for a in arrays))
        columns = [_elements(un.broadcast_to(a, shape).reshape(-1)) for a in arrays]
        rows = list(zip(*columns, strict=True)) if columns else [()]
        if not rows and self.otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        results = [function(*row) for row in rows]
        several = isinstance(results[0], tuple) if results else len(self.otypes) > 1
        parts = (
            list(zip(*results, strict=True))
            if several and results
            else [results] * (len(self.otypes) if several else 1)
        )
        made = []
        for k, part in enumerate(parts):
            wanted = self.otypes[k] if self.otypes else _dtype_of(part[0])
            is_known = self.otypes or not is_object(part[0])
            flat = (
                un.asarray(list(part), dtype=None if is_known else wanted)
                if part
                else un.empty(0, wanted)
            )
            made.append(flat.astype(wanted, copy=False).reshape(shape))
        return tuple(made) if several else made[0]

    def _run_core(self, function, arrays):
        inputs, outputs = self._core
        if len(arrays) != len(inputs):
            raise TypeError(
                f"wrong number of positional arguments: expected {len(inputs)}, got {len(arrays)}"
            )
        sizes, loops = {}, []
        for x, names in zip(arrays, inputs, strict=True):
            n = len(names)
            if x.ndim < n:
                raise ValueError(
                    f"{x.ndim}-dimensional argument does not have enough dimensions for all core dimensions {names}"
                )
            for name, extent in zip(names, tuple(x.shape)[x.ndim - n :], strict=True):
                if sizes.setdefault(name, extent) != extent:
                    raise ValueError(
                        f"inconsistent size for core dimension {name!r}: {sizes[name]} vs {extent}"
                    )
            loops.append(tuple(x.shape)[: x.ndim - n])
        shape = un.broadcast_shapes(*loops)
        rows = []
        for x, names in zip(arrays, inputs, strict=True):
            core = tuple(sizes[n] for n in names)
            rows.append(un.broadcast_to(x, shape + core).reshape((-1, *core)))
        count = rows[0].shape[0] if rows else 1
        if count == 0:
            return self._empty_core(shape, outputs, sizes)
        results = []
        for r in range(count):
            made = function(*(x[r] for x in rows))
            given = len(made) if isinstance(made, tuple) else 1
            if given != len(outputs):
                raise ValueError(
                    f"wrong number of outputs from pyfunc: expected {len(outputs)}, got {given}"
                )
            results.append(made if len(outputs) > 1 else (made,))
        parts = []
        for k in range(len(outputs)):
            flat = un.stack([as_array(row[k]) for row in results])
            if self.otypes:
                flat = flat.astype(self.otypes[k])
            parts.append(flat.reshape(shape + tuple(flat.shape[1:])))
        return tuple(parts) if len(parts) > 1 else parts[0]

    def _empty_core(self, shape, outputs, sizes):
        """Results where the function is never called."""
        if self.otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        if any(name not in sizes for names in outputs for name in names):
            raise ValueError(
                "cannot call `vectorize` with a signature including new output dimensions on size 0 inputs"
            )
        parts = [
            un.empty(shape + tuple(sizes[n] for n in names), dtype)
            for names, dtype in zip(outputs, self.otypes, strict=True)
        ]
        return tuple(parts) if len(parts) > 1 else parts[0]


def _elements(x):
    """The elements of an array, as Python numbers where these compute as NumPy's, else as values."""
    plain = ("int64", "float64", "bool", "complex128")
    return x.tolist() if x.dtype.name in plain else list(x)


def _parse_signature(text):
    """Names of the core axes: of inputs, of outputs."""
    import re

    group = r"\((?:\w+(?:,\w+)*)?\)"
    text = text.replace(" ", "")
    if not re.fullmatch(f"(?:{group}(?:,{group})*)?->{group}(?:,{group})*", text):
        raise ValueError(f"not a valid gufunc signature: {text}")
    return [
        [tuple(n for n in g[1:-1].split(",") if n) for g in re.findall(group, side)]
        for side in text.split("->")
    ]


def _dtype_of(value):
    if isinstance(value, (str, bytes)):
        return type(value)  # as wide as the longest
    return un.dtype(object) if is_object(value) else as_array(value).dtype
