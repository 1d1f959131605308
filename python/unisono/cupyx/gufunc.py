"""``cupyx.GeneralizedUFunc``: a Python function of arrays with core axes, over all their other axes."""

from __future__ import annotations

import re

import unisono as un

from .. import _engine
from .._jit.guvectorize_axes import with_axes
from .._numpy.apply import _parse_signature

__all__ = ["GeneralizedUFunc"]


class GeneralizedUFunc:
    """A function of arrays that is called for each item of a layout, as matrices of a stack.

    Parameters
    ----------
    func : callable
        Takes the core axes of each operand and returns an array, or a tuple of them.
    signature : str
        The layout, as NumPy's: ``"(m,n),(n)->(m)"``. ``n?`` names an axis that may be left out: the function sees it
        with extent 1. ``n|1`` names one that may have extent 1 where others have more.
    name, doc : str, optional
        By default those of `func`.
    supports_batched : bool
        Whether `func` takes all axes at once; else it is called for each item.
    supports_out : bool
        Whether `func` writes into its keyword ``out``.
    signatures : list of str or (str, callable), optional
        Dtypes for which operands are converted, as ``"dd->d"``, and functions instead of `func` for them.
    try_fastcall_func : callable, optional
        Called first, with the arguments of the call; its result counts unless it is NotImplemented.

    Raises
    ------
    ValueError
        If a signature cannot be read, or the numbers of operands differ.

    Examples
    --------
    >>> import unisono.cupy as cp, unisono.cupyx as cupyx
    >>> widest = cupyx.GeneralizedUFunc(lambda row: row.max() - row.min(), "(n)->()")
    >>> widest(cp.asarray([[1.0, 4.0], [2.0, 2.0]])).tolist()
    [3.0, 0.0]
    """

    def __init__(
        self,
        func,
        signature,
        *,
        name=None,
        doc=None,
        supports_batched=False,
        supports_out=False,
        signatures=None,
        try_fastcall_func=None,
    ):
        self._function, self.signature = func, signature
        self.__name__ = name or func.__name__
        self.__doc__ = doc or func.__doc__
        self._takes_all, self._takes_out = supports_batched, supports_out
        self._first = try_fastcall_func
        self._inputs, self._outputs = _layout(signature)
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self._loops = [self._loop(given) for given in signatures or ()]

    def _loop(self, given):
        """(dtypes of operands, of results, function) of an entry of ``signatures``."""
        import numpy

        text, function = given if isinstance(given, tuple) else (given, self._function)
        left, arrow, right = text.replace(" ", "").partition("->")
        if not arrow or len(left) != self.nin or len(right) != self.nout:
            raise ValueError(
                f"{self.__name__}: the signature of dtypes does not fit {self.signature}; got {text!r}; expected "
                f"{self.nin} characters, '->' and {self.nout}"
            )
        return tuple(map(numpy.dtype, left)), tuple(map(numpy.dtype, right)), function

    def __call__(
        self,
        *args,
        axes=None,
        axis=None,
        keepdims=False,
        casting="same_kind",
        dtype=None,
        signature=None,
        order="K",
        out=None,
    ):
        """Call the function for each item of the operands.

        Parameters
        ----------
        *args : ndarray
        axes : list of tuple of int, optional
            The core axes of each operand and result; by default the last ones.
        axis : int, optional
            The one core axis of all operands.
        keepdims : bool
            Whether core axes of operands stay in results without any, with extent 1.
        casting : str
            As of `can_cast`.
        dtype : dtype, optional
            Of the results.
        signature : str or tuple of dtype, optional
            Which of ``signatures`` to take: ``"dd->d"``, or the results' dtype.
        order : {'C', 'F', 'A', 'K'}
            Order of new results; ``'A'`` is Fortran's where all operands are in it.
        out : ndarray or tuple of ndarray, optional

        Returns
        -------
        ndarray or tuple of ndarray
        """
        if self._first is not None:
            made = self._first(
                *args,
                out=out,
                axes=axes,
                axis=axis,
                keepdims=keepdims,
                casting=casting,
                dtype=dtype,
                signature=signature,
                order=order,
            )
            if made is not NotImplemented:
                return made
        if len(args) != self.nin:
            raise ValueError(
                f"{self.__name__}: the layout {self.signature} has {self.nin} operands; got {len(args)}"
            )
        targets = out if isinstance(out, tuple) else (out,) * self.nout
        for t in targets:
            if t is not None and not isinstance(t, _engine._Array):
                raise TypeError(
                    f"{self.__name__}: out= must be an array or a tuple of arrays; got {type(t).__name__}"
                )
        self._check_axes(axes, axis, keepdims)
        operands = [un.asarray(x) for x in args]
        call = _Call(self, *self._choice(operands, dtype, signature, casting), casting, order)
        operands = call.converted(operands)
        if axes is None and axis is None and not keepdims:
            return call._over_items(operands, targets)
        return with_axes(call, operands, targets, axes, axis, keepdims)

    def _check_axes(self, axes, axis, keepdims):
        if axes is not None and axis is not None:
            raise ValueError(f"{self.__name__}: takes axes= or axis=; got both; leave one out")
        if axes is not None and not isinstance(axes, list):
            raise ValueError(
                f"{self.__name__}: axes= is a list with an entry for each operand and result; got {axes!r}"
            )
        if axis is not None and not isinstance(axis, int):
            raise ValueError(f"{self.__name__}: axis= is an integer; got {axis!r}; or give axes=")
        if axis is not None and len({a[0] for axes in self._inputs for a in axes}) != 1:
            raise ValueError(
                f"{self.__name__}: axis= is for layouts of one axis; got {self.signature}; give axes="
            )
        if keepdims and (any(self._outputs) or len({len(i) for i in self._inputs}) > 1):
            raise ValueError(
                f"{self.__name__}: keepdims= is for layouts whose results have no axes and whose operands have as many "
                f"each; got {self.signature}; leave it out"
            )

    def _choice(self, operands, dtype, signature, casting):
        """(function, dtypes of operands or None, dtypes of results) of a call."""
        import numpy

        given = [numpy.dtype(x.dtype.name) for x in operands]
        if signature is not None:
            for ins, outs, function in self._loops:
                if _names(ins, outs, signature):
                    return function, ins, outs
            raise TypeError(
                f"{self.__name__}: no loop for the signature; got {signature!r}; expected one of "
                f"{', '.join(_text(i) + '->' + _text(o) for i, o, _ in self._loops) or 'none: it has no signatures'}"
            )
        if dtype is not None:
            wanted = numpy.dtype(un.dtype(dtype).name)
            for ins, outs, function in self._loops:
                if all(o == wanted for o in outs):
                    return function, ins, outs
            return self._function, None, (wanted,) * self.nout
        for ins, outs, function in self._loops:
            if all(map(lambda a, b: numpy.can_cast(a, b, casting), given, ins)):
                return function, ins, outs
        return self._function, None, (numpy.result_type(*given),) * self.nout


class _Call:
    """A call with its function and dtypes chosen, as `with_axes` takes functions over items."""

    def __init__(self, made, function, ins, outs, casting, order):
        self.__name__, self.signature = made.__name__, made.signature
        self.nin, self.nout = made.nin, made.nout
        self._inputs, self._outputs = made._inputs, made._outputs
        self._takes_all, self._takes_out = made._takes_all, made._takes_out
        self._function, self._ins, self._outs = function, ins, outs
        self._casting, self._order = casting, order.upper()

    def converted(self, operands):
        """The operands in the loop's dtypes; sets the results' order by them."""
        if self._order == "A":
            in_columns = all(x.flags.fnc for x in operands)
            self._order = "F" if in_columns else "C"
        elif self._order == "K":
            self._order = "C"
        if self._ins is None:
            return operands
        return [
            x.astype(t.name, casting=self._casting, copy=False)
            for x, t in zip(operands, self._ins, strict=True)
        ]

    def _over_items(self, operands, targets):
        targets = targets or (None,) * self.nout
        sizes, shapes, items = {n: int(n) for n in self._fixed()}, [], []
        for k, (x, axes) in enumerate(zip(operands, self._inputs, strict=True)):
            shape, item = self._sized(k, x, axes, sizes)
            shapes.append(shape)
            items.append(item)
        shape = un.broadcast_shapes(*shapes)
        items = [
            un.broadcast_to(x, shape + x.shape[len(own) :]) if own != shape else x
            for x, own in zip(items, shapes, strict=True)
        ]
        results, views = [], []
        for k, (axes, target, t) in enumerate(zip(self._outputs, targets, self._outs, strict=True)):
            extents = [sizes.get(name, 1) for name, _, _ in axes]
            wanted = shape + tuple(n for n in extents if n is not None)
            if target is None:
                device = operands[0].device if operands else None
                target = un.empty(wanted, t.name, order=self._order, device=device)
            elif target.shape != wanted:
                raise ValueError(
                    f"{self.__name__}: result {k} has another shape; got {target.shape}; expected {wanted}"
                )
            elif not un.can_cast(t.name, target.dtype, self._casting):
                raise TypeError(
                    f"{self.__name__}: cannot cast result {k} from {t} to {target.dtype} according to the rule "
                    f"'{self._casting}'"
                )
            results.append(target)
            left_out = [len(shape) + i for i, n in enumerate(extents) if n is None]
            views.append(un.expand_dims(target, tuple(left_out)) if left_out else target)
        self._fill(items, views, shape)
        return results[0] if self.nout == 1 else tuple(results)

    def _fixed(self):
        """Names of axes that are their extents."""
        return {n for axes in self._inputs + self._outputs for n, _, _ in axes if n.isdigit()}

    def _sized(self, k, x, axes, sizes):
        """The shape of the axes over which an operand's items lie, and the operand with all its core axes.

        `sizes` gets the extents by the names of axes; None for axes that are left out.
        """
        missing = len(axes) - x.ndim
        if missing > sum(is_optional for _, is_optional, _ in axes):
            raise ValueError(
                f"{self.__name__}: operand {k} has {x.ndim} axes; expected at least "
                f"{sum(not is_optional for _, is_optional, _ in axes)}, by the layout {self.signature}"
            )
        first = max(0, -missing)
        extents, left_out = list(x.shape[first:]), []
        for place, (name, is_optional, spreads) in enumerate(axes):
            if is_optional and missing > 0:
                missing -= 1
                extent = None
                left_out.append(first + place)
            else:
                extent = extents.pop(0)
            if extent == 1 and spreads:
                continue
            known = sizes.setdefault(name, extent)
            if known != extent:
                raise ValueError(
                    f"{self.__name__}: operand {k} has another extent of the axis {name!r}; got "
                    f"{'none' if extent is None else extent}; expected {'none' if known is None else known}, as before "
                    f"in {self.signature}"
                )
        return x.shape[:first], un.expand_dims(x, tuple(left_out)) if left_out else x

    def _fill(self, items, views, shape):
        import numpy

        if self._takes_all:
            return self._fill_item(items, views)
        for index in numpy.ndindex(*shape):
            at = (*index, ...)
            self._fill_item([x[at] for x in items], [v[at] for v in views])

    def _fill_item(self, operands, views):
        if self._takes_out:
            self._function(*operands, out=views[0] if self.nout == 1 else tuple(views))
            return
        made = self._function(*operands)
        made = made if isinstance(made, tuple) else (made,)
        for view, value in zip(views, made, strict=True):
            value = un.asarray(value)
            view[...] = value.astype(view.dtype, casting="unsafe", copy=False)


def _layout(text):
    """Core axes of operands and of results, each as (name, whether it is optional, whether extent 1 spreads)."""
    if not isinstance(text, str):
        raise TypeError(f"signature: expected a text such as '(m,n),(n)->(m)'; got {text!r}")
    mark = re.compile(r"(\w)(\?|\|1)(?=[,)])")
    text = text.replace(" ", "")
    sides = _parse_signature(mark.sub(r"\1", text))
    marked = iter(re.findall(r"(\w+)(\?|\|1)?", text))
    inputs, outputs = (
        [tuple((n, m == "?", m == "|1") for n, m in (next(marked) for _ in axes)) for axes in side]
        for side in sides
    )
    if any(spreads for axes in outputs for _, _, spreads in axes):
        raise ValueError(
            f"signature: an axis of a result has no |1; got {text!r}; mark those of operands"
        )
    return inputs, outputs


def _text(dtypes):
    return "".join(t.char for t in dtypes)


def _names(ins, outs, signature):
    """Whether a signature means the loop: its text, the character of its results, or all its dtypes."""
    import numpy

    if isinstance(signature, str):
        alone = len(signature) == 1 and all(t.char == signature for t in outs)
        return alone or signature.replace(" ", "") == f"{_text(ins)}->{_text(outs)}"
    return tuple(map(numpy.dtype, signature)) == ins + outs
