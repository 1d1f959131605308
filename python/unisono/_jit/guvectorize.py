"""``guvectorize``: functions of small arrays, applied over all other axes."""

from __future__ import annotations

import re

from .. import _engine
from .._arrays import ufunc as _ufunc
from .._arrays.axes import as_array_beside
from .._dtype import objects as _dtypes
from .._dtype import spelling
from .._loaded import loaded
from . import always_jit, prange, targets
from .text import compile_text
from .vectorize import casts, most_loops, operand_type


def guvectorize(*args, target="cpu", writable_args=(), **options):
    """Make a function of arrays of one that handles a single item of a layout, such as a row.

    Parameters
    ----------
    *args : signatures, layout
        Signatures in Numba's spelling (``"void(float64[:], float64, float64[:])"``, one or a list) and the layout
        ``"(n),()->(n)"``; or the layout alone, and each combination of dtypes is compiled when it is met.
        Where the layout names no results (``"(n),(k)"``), the function writes into its arguments.
    target : str or Device
        ``"cpu"`` and ``"parallel"`` are the same: many items are shared among threads in any case. Or a device, as
        ``"opencl"``: arrays of the host are copied there at each call, and what is written comes back; ``"cuda"`` as in
        `vectorize`. Arrays that lie on a device are computed there with any target.
    writable_args : tuple of int or str
        Operands that the function writes into, by position or by name: what it writes reaches the caller's arrays.

    Returns
    -------
    decorator
        Makes a `GeneralizedFunction` of a function that writes its results into its last arguments. A result of
        layout ``()`` is an array of one element; so is an operand of that layout whose type is an array.

    Raises
    ------
    ValueError
        Where the layout cannot be read, a size of a result is named by no operand, or there is no such target.
    CompileError
        Where the function cannot be compiled for a signature.

    Examples
    --------
    >>> import unisono as un
    >>> @un.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
    ... def add_to_row(row, number, result):
    ...     for i in range(row.shape[0]):
    ...         result[i] = row[i] + number
    >>> add_to_row([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]).tolist()
    [[11.0, 12.0], [23.0, 24.0]]
    >>> @un.guvectorize(["void(float64[:], float64[:])"], "(n),(k)")
    ... def differences(x, d):
    ...     for i in range(d.shape[0]):
    ...         d[i] = x[i + 1] - x[i]
    >>> d = un.zeros(2)
    >>> differences([1.0, 4.0, 9.0], d)
    >>> d.tolist()
    [3.0, 5.0]
    """
    for name in options:
        if name not in ("nopython", "cache", "identity", "fastmath"):
            raise TypeError(f"guvectorize: unknown argument; got {name}=; expected target=")
    device = targets.device_of(target, "guvectorize")
    if not args or len(args) > 2 or not isinstance(args[-1], str) or "(" not in args[-1]:
        raise TypeError(
            f"guvectorize: takes signatures and a layout; got {args!r}; write the layout as '(n),()->(n)'"
        )
    inputs, outputs = _layout(args[-1])
    signatures = spelling.parse_signatures(args[0], "guvectorize") if len(args) == 2 else []
    for _, types in signatures:
        if len(types) != len(inputs) + len(outputs):
            raise TypeError(
                f"guvectorize: the signature has {len(types)} arguments; got "
                f"({', '.join(map(spelling.spell, types))}); the layout {args[-1]} names {len(inputs) + len(outputs)}"
            )
        for t, names in zip(types, inputs + outputs, strict=True):
            rank = t[2] if t[0] == "array" else 0
            if t[0] not in ("scalar", "array") or rank != max(len(names), int(t[0] == "array")):
                raise TypeError(
                    f"guvectorize: {spelling.spell(t)} does not fit the layout; got the axes "
                    f"({','.join(names)}); write an array of {max(1, len(names))} axes"
                )
        for t in types[len(inputs) :]:
            if t[0] != "array":
                raise TypeError(
                    f"guvectorize: a result is written through an array; got {spelling.spell(t)}; "
                    f"write {t[1]}[:]"
                )
    return lambda function: GeneralizedFunction(
        function, signatures, args[-1], inputs, outputs, writable_args, device
    )


def _layout(text):
    """Names of the core axes, of operands and of results."""
    group = r"\((?:\w+(?:,\w+)*)?\)"
    plain = text.replace(" ", "")
    several = f"{group}(?:,{group})*"
    if not re.fullmatch(f"{several}(?:->(?:{several})?)?", plain):
        raise ValueError(
            f"guvectorize: the layout cannot be read; got {text!r}; write the axes of each operand in parentheses, as "
            f"in '(m,n),(n)->(m)'"
        )
    left, right = (
        [tuple(n for n in g[1:-1].split(",") if n) for g in re.findall(group, side)]
        for side in plain.partition("->")[::2]
    )
    known = {n for names in left for n in names}
    for names in right:
        for n in names:
            if n not in known and not n.isdigit():
                raise ValueError(
                    f"guvectorize: the size '{n}' of a result is named by no operand; got {text!r}; "
                    f"add an operand that has it"
                )
    return left, right


class GeneralizedFunction(_engine._ItemLoops):
    """A function over the items of arrays, made by :func:`guvectorize`.

    Attributes
    ----------
    py_func : function
        The Python function.
    signature : str
        The layout.
    nin, nout, nargs : int
        Numbers of operands and results.
    types : list of str
        The dtypes of its signatures; without any, of the calls so far.
    """

    _device = None  # where calls with arrays of the host run; None: the host

    def __init__(self, function, signatures, layout, inputs, outputs, writable=(), device=None):
        self._compiled = always_jit(function)
        self._device = device
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__
        self.__wrapped__ = function
        self.signature = layout
        self.nin, self.nout = len(inputs), len(outputs)
        self.nargs = self.nin + self.nout
        if function.__code__.co_argcount != self.nargs:
            raise TypeError(
                f"{self.__name__}: the layout {layout} names {self.nargs} arguments; got a function of "
                f"{function.__code__.co_argcount}; give it one for each operand and result"
            )
        self._inputs, self._outputs = inputs, outputs
        self._writable = self._written(writable)
        self._signatures = [types for _, types in signatures]
        self._loops, self._one = {}, None
        self._seen = {}  # without signatures: types of the calls so far
        self._single = set()  # dtypes and numbers of axes of operands that were a single item
        for types in self._signatures:
            self._check(types)

    def _written(self, writable):
        """Numbers of the operands whose changes reach the caller: all where there are no results."""
        names = self.__wrapped__.__code__.co_varnames[: self.nin]
        made = set(range(self.nin)) if not self.nout else set()
        for w in writable:
            if w not in names and w not in range(self.nin):
                raise ValueError(
                    f"guvectorize: writable_args names no operand; got {w!r}; expected one of {', '.join(names)}"
                )
            made.add(names.index(w) if w in names else w)
        return made

    @property
    def py_func(self):
        """The Python function that was decorated."""
        return self.__wrapped__

    @property
    def types(self):
        """Dtypes of the signatures, or of the calls so far where there are none, as NumPy spells loops."""
        made = []
        for types in self._signatures or self._seen:
            chars = [_ufunc._chars[t[1]] for t in types]
            made.append("".join(chars[: self.nin]) + "->" + "".join(chars[self.nin :]))
        return list(dict.fromkeys(made))

    def __reduce__(self):
        return self.__qualname__

    def __repr__(self):
        return f"<unisono.guvectorize {self.__module__}.{self.__qualname__}: {self.signature}>"

    def _check(self, types):
        """Compile for a signature: what cannot be compiled is refused where it is decorated."""
        import unisono as un

        items = []
        for k, (t, names) in enumerate(zip(types, self._inputs + self._outputs, strict=True)):
            items.append(
                (
                    un.zeros((0, *(1 for _ in names)), t[1], device=self._device),
                    True,
                    t[0] == "scalar" and k < self.nin,
                )
            )
        self._loop(items)(*(x for x, _, _ in items))

    # ---- calls
    @property
    def _in_compiled_code(self):
        """What compiled functions call, for one item and with arrays for the results."""
        if self._one is None and self._signatures:
            texts = (", ".join(map(spelling.spell, t)) for t in self._signatures)
            self._one = always_jit(self.__wrapped__, [f"void({t})" for t in texts])
        elif self._one is None:
            self._one = self._of_any_types()
        return self._one

    def _of_any_types(self):
        """The same without signatures: for any dtypes, of arrays that have an item's axes."""
        checks = []
        for k, names in enumerate(self._inputs + self._outputs):
            if names:
                wanted = (
                    f"the layout {self.signature} wants ({','.join(names)}) of argument {k + 1}"
                )
                checks.append(
                    f"    if x{k}.ndim != {len(names)}:\n"
                    f"        raise ValueError('{self.__name__}: {wanted} within a compiled function; loop over what "
                    f"lies in front of an item there')\n"
                )
        arguments = ", ".join(f"x{k}" for k in range(self.nargs))
        text = f"def item({arguments}):\n{''.join(checks)}    f({arguments})\n"
        return compile_text(text, "item", {"f": self._compiled})

    def _call(self, *args, out=None, axes=None, axis=None, keepdims=False):
        """What no loop over a single item has taken."""
        if targets.needs_copies(self, args, out):
            given = {"axes": axes, "axis": axis, "keepdims": keepdims}
            if out is not None:
                given["out"] = out
            return targets.call(self, self._call, args, given, self.nin, self._writable)
        if axes is None and axis is None and not keepdims:
            if self._add_single(args[: self.nin]):
                return self(*args) if out is None else self(*args, out=out)
            return self._over_items(args, out)
        from .guvectorize_axes import with_axes

        return with_axes(self, args, out, axes, axis, keepdims)

    def _add_single(self, args):
        """Let calls in the dtypes of a signature run a loop at once; whether they do now.

        For a single item, which the function takes itself, or items along one axis; an operand that is a number of
        Python's serves all items. A call of other operands takes more than a call of the function.
        """
        if not self.nout or self._writable or len(args) != self.nin or not self._signatures:
            return False
        if any(n.isdigit() for names in self._inputs + self._outputs for n in names):
            return False
        key = tuple([(x.dtype, x.ndim) if _is_array(x) else type(x) for x in args])
        if key in self._single or len(self._single) == most_loops:
            return False
        leads = [
            x.ndim - len(names) if _is_array(x) else -1
            for x, names in zip(args, self._inputs, strict=True)
        ]
        lead = max(leads)
        for x, names, own in zip(args, self._inputs, leads, strict=True):
            if own < 0 and (names or type(x) is not float):
                return False
            if own > 1 or (own == 0 and not names) or getattr(x, "device", "cpu") != "cpu":
                return False
        if lead < 0:
            return False
        self._single.add(key)
        types = self._types([_ufunc.as_array(x) for x in args], [None] * self.nout, args)
        if any(_is_array(x) and x.dtype.name != t[1] for x, t in zip(args, types, strict=False)):
            return False
        if any(own < 0 and t[0] != "scalar" for own, t in zip(leads, types, strict=False)):
            return False
        return self._add_items(types, leads, lead)

    def _add_items(self, types, leads, lead):
        """A loop for operands with so many axes in front of their items', -1 for numbers."""
        numbers = {}
        for names in self._inputs:
            for n in names:
                numbers.setdefault(n, len(numbers))
        items, passed = [], []
        leads = [*leads, *([lead] * self.nout)]
        for k, (t, names, own) in enumerate(
            zip(types, self._inputs + self._outputs, leads, strict=True)
        ):
            core = tuple(numbers[n] for n in names)
            items.append(float if own < 0 else (t[1], (len(numbers),) * own + core))
            is_number = t[0] == "scalar" or names
            at = "" if own < 1 else "[i]" if is_number else "[i:i+1]"
            passed.append(f"{t[1]}(x{k})" if own < 0 else f"x{k}{at}")
        function = self._compiled
        if lead or -1 in leads:
            calls = f"f({', '.join(passed)})"
            along = f"for i in prange(x{len(types) - 1}.shape[0]): " if lead else ""
            text = (
                f"def items({', '.join(f'x{k}' for k in range(len(types)))}):\n    {along}{calls}\n"
            )
            used = {t[1]: getattr(_dtypes, t[1]) for t in types}
            function = compile_text(text, "items", {"f": function, "prange": prange, **used})
        return self._add_loop(function, items[: self.nin], items[self.nin :], 2**63 - 1, True)

    def _over_items(self, args, out):
        import unisono as un

        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"{self.__name__}: takes {self.nin} operands and up to {self.nout} arrays for results; got {len(args)}"
            )
        operands = [as_array_beside(x, *args) for x in args[: self.nin]]
        place = next((x.device for x in operands if x.device != "cpu"), None)
        given = list(args[self.nin :]) or (
            list(out) if isinstance(out, tuple) else [out] if out is not None else []
        )
        given += [None] * (self.nout - len(given))
        sizes, shape = self._sizes(operands)
        types = self._types(operands, given, args)
        results = []
        for names, t, target in zip(self._outputs, types[self.nin :], given, strict=True):
            wanted = (*shape, *(sizes[n] if n in sizes else int(n) for n in names))
            if target is not None and tuple(target.shape) != wanted:
                raise ValueError(
                    f"{self.__name__}: a result has another shape; got {tuple(target.shape)}; expected {wanted}"
                )
            made = un.empty(wanted, t[1], device=place)
            if target is not None:  # functions may read their results before they write them
                made[...] = _ufunc.as_array(target)
            results.append(made)
        copies = self._copies(operands, types, shape)
        self._run([copies.get(k, x) for k, x in enumerate(operands)] + results, types, shape)
        for k, made in copies.items():
            operands[k][...] = made.astype(operands[k].dtype, copy=False)
        for k, target in enumerate(given):
            if target is not None:
                view = _ufunc.as_array(target)
                view[...] = results[k].astype(view.dtype, copy=False)
                results[k] = target
            elif results[k].ndim == 0:
                results[k] = results[k][()]
        if not self.nout:
            return None
        return results[0] if self.nout == 1 else tuple(results)

    def _copies(self, operands, types, shape):
        """By number, what stands for operands that are written but cannot be passed in place."""
        made = {}
        for k in self._writable:
            x, t = operands[k], types[k]
            lead = tuple(x.shape)[: x.ndim - len(self._inputs[k])]
            if t[0] == "array" and lead == shape and x.flags.writeable:
                if x.dtype.name != t[1] or not x.flags.c_contiguous:
                    made[k] = x.astype(t[1], order="C", copy=True)
        return made

    def _run(self, arrays, types, shape):
        """Call the function for each item; the last arrays take the results."""
        items = []
        for k, (x, names, t) in enumerate(
            zip(arrays, self._inputs + self._outputs, types, strict=True)
        ):
            items.append(self._item(x, names, t, shape, k >= self.nin))
        self._loop(items)(*(x for x, _, _ in items))

    def _sizes(self, operands):
        """Extents by the names of axes, and the shape of the axes over which items lie."""
        sizes, loops = {}, []
        for number, (x, names) in enumerate(zip(operands, self._inputs, strict=True), 1):
            n = len(names)
            if x.ndim < n:
                raise ValueError(
                    f"{self.__name__}: operand {number} has too few axes; got shape {tuple(x.shape)}; the layout "
                    f"{self.signature} wants ({','.join(names)})"
                )
            for name, extent in zip(names, tuple(x.shape)[x.ndim - n :], strict=True):
                wanted = int(name) if name.isdigit() else sizes.setdefault(name, extent)
                if wanted != extent:
                    raise ValueError(
                        f"{self.__name__}: operand {number} does not match on axis '{name}'; got {extent}; expected "
                        f"{wanted}, by the layout {self.signature}"
                    )
            loops.append(tuple(x.shape)[: x.ndim - n])
        return sizes, _ufunc.broadcast_shapes(*loops)

    def _types(self, operands, given, args):
        """The signature that takes the operands, of which those given as Python's numbers are of no fixed dtype."""
        if not self._signatures:
            if any(g is None for g in given):
                raise TypeError(
                    f"{self.__name__}: without signatures the dtypes of results are not known; got {len(operands)} "
                    f"operands alone; pass arrays for the results, or add a signature"
                )
            made = [("array", x.dtype.name, max(1, len(n))) if n else ("scalar", x.dtype.name)
                    for x, n in zip(operands, self._inputs, strict=True)]  # fmt: skip
            made += [("array", _ufunc.as_array(g).dtype.name) for g in given]
            if len(self._seen) < most_loops:
                self._seen[tuple(made)] = None
            return made
        numbers = (bool, int, float, complex)
        taken = [a if type(a) in numbers else x for a, x in zip(args, operands, strict=False)]
        kinds = [operand_type(x) for x in taken]
        for types in self._signatures:
            if all(casts(x, k, t[1], "safe") for x, k, t in zip(taken, kinds, types, strict=False)):
                return types
        loops = "; ".join(f"({', '.join(map(spelling.spell, t))})" for t in self._signatures)
        raise TypeError(
            f"{self.__name__}: no signature takes the operands; got ({', '.join(x.dtype.name for x in operands)}); "
            f"expected one of {loops}; convert them with .astype, or add a signature"
        )

    def _item(self, x, names, t, shape, is_result):
        """(array of items, whether each item has its own, whether an item is a number)."""
        import unisono as un

        x = x.astype(t[1], copy=False)
        core = tuple(x.shape)[x.ndim - len(names) :]
        lead = tuple(x.shape)[: x.ndim - len(names)]
        varies = is_result or any(n != 1 for n in lead)
        if varies and lead != shape:
            x = un.broadcast_to(x, shape + core)
        count = 1
        for n in shape:
            count *= n
        x = x.reshape((count, *core) if varies else (1, *core))
        return x, varies, t[0] == "scalar" and not is_result

    def _loop(self, items):
        """Compiled loop over items of these kinds."""
        kinds = tuple((x.ndim, varies, number) for x, varies, number in items)
        if kinds not in self._loops:
            arguments = []
            for k, (rank, varies, number) in enumerate(kinds):
                at = "i" if varies else "0"
                whole = f"x{k}[{at}{', :' * (rank - 1)}]"
                arguments.append(
                    f"x{k}[{at}]" if number else whole if rank > 1 else f"x{k}[{at}:{at}+1]"
                )
            names = ", ".join(f"x{k}" for k in range(len(kinds)))
            own = [k for k, (_, varies, _) in enumerate(kinds) if varies]
            count = f"x{own[-1]}.shape[0]" if own else "1"
            text = (
                f"def items({names}):\n"
                f"    for i in prange({count}):\n"
                f"        f({', '.join(arguments)})\n"
            )
            self._loops[kinds] = compile_text(
                text, "items", {"f": self._compiled, "prange": prange}
            )
        return self._loops[kinds]


def _is_array(x):
    """Whether compiled functions take x as it lies in memory."""
    numpy = loaded("numpy")
    return type(x) is _engine.ndarray or (numpy is not None and type(x) is numpy.ndarray)


__all__ = ["GeneralizedFunction", "guvectorize"]
