"""``vectorize``: scalar functions of the compiler as elementwise functions of arrays.

A function that cannot fail is a node of array operations: the engine inlines it in the kernels that it fuses
(engine/tape/record/element_function.h). One that can (it raises, indexes, takes memory), or that has more than three
operands or complex ones, runs at once in a compiled loop written here, so that its error comes from the call.
"""

from __future__ import annotations

import inspect
import textwrap

from .. import _engine
from .._arrays import ufunc as _ufunc
from .._arrays.axes import as_array_beside
from .._arrays.exchange.numpys_elements import is_numpys
from .._dtype import objects as _dtypes
from .._dtype import spelling
from .._engine import CompileError
from .._loaded import loaded
from . import JitFunction, always_jit, prange, targets
from .text import compile_text
from .vectorize_methods import Folds, Methods, Probe, as_type, most_short

_weak = {bool: "weak bool", int: "weak int", float: "weak float"}
_defaults = {"weak bool": "bool", "weak int": "int64", "weak float": "float64"}


def vectorize(pyfunc=None, /, *args, **options):
    """Make an elementwise function of arrays of a function of numbers, compiled.

    Takes Numba's arguments and NumPy's. With signatures or `target` the function is compiled, or refused. Without,
    one that cannot be compiled is called for each element by the interpreter, as `numpy.vectorize` does, with a
    `RuntimeWarning`; so is one with NumPy's `otypes`, `doc`, `excluded`, `cache` or `signature`.

    Parameters
    ----------
    pyfunc : function, str, tuple or list, optional
        The function, or its signatures: ``"float64(float64, float64)"``, a list of them, or types called like
        functions (``un.float32(un.float32)``). Of several signatures a call takes the first to which its operands
        can be cast safely. Without signatures each combination of dtypes is compiled when it is first met.
    target : str or Device
        ``"cpu"`` and ``"parallel"`` are the same: large arrays are shared among threads in any case. Or a device, as
        ``"opencl"`` or ``"gpu,cpu"``: arrays of the host are copied there at each call, and results back. ``"cuda"`` is the
        current device of `unisono.cuda`, on which its kernels run, too: the CPU where there is no GPU. Arrays that lie on a
        device are computed there with any target.
    identity : int, float, "reorderable" or None
        What reductions start from.

    Returns
    -------
    Vectorized
        Called with arrays, sequences or numbers, and `out`, `where`, `dtype`, `casting`; with the methods `reduce`,
        `accumulate`, `outer` and `at` of NumPy's ufuncs. Results are arrays of this library.

    Raises
    ------
    CompileError
        Where the function cannot be compiled for the dtypes.
    TypeError
        Where no signature takes the operands.

    Notes
    -----
    An element is a NumPy scalar to the function: it computes with NumPy's rules and bits. Applied to arrays of this
    library it is recorded like any operation, and fuses with its neighbours.

    Examples
    --------
    >>> import unisono as un
    >>> @un.vectorize(["float64(float64, float64)"])
    ... def larger(a, b):
    ...     return a if a > b else b
    >>> larger([1.0, 5.0], [4.0, 2.0])
    array([4., 5.])
    >>> larger.reduce([1.0, 3.0, 2.0]).item()
    3.0
    """
    numpys = {"otypes", "doc", "excluded", "cache", "signature"} & options.keys()
    if not (callable(pyfunc) or pyfunc is None):
        numpys = set()  # signatures: Numba's `cache` is meant
    elif {"nopython", "fastmath", "forceobj", "target", "identity"} & options.keys():
        numpys.discard("cache")  # Numba's, too
    if (
        numpys
        or (callable(pyfunc) and args)
        or (pyfunc is None and not options.keys() - numpys and not args)
    ):
        from .._numpy.apply import vectorize as interpreted

        return interpreted(pyfunc, *args, **options)
    strict = bool(options)
    target = options.pop("target", "cpu")
    identity = options.pop("identity", None)
    for known in ("nopython", "cache", "fastmath", "forceobj"):
        options.pop(known, None)
    if options:
        raise TypeError(
            f"vectorize: unknown argument; got {next(iter(options))}=; expected target=, identity=, or NumPy's otypes=, "
            f"doc=, excluded=, cache=, signature="
        )
    device = targets.device_of(target, "vectorize")
    if callable(pyfunc) and not isinstance(pyfunc, _dtypes.dtype):
        return _make(pyfunc, [], identity, strict, device)
    signatures = [] if pyfunc is None else spelling.parse_signatures(pyfunc, "vectorize")
    for result, arguments in signatures:
        for t in (*arguments, result):
            if t is not None and t[0] != "scalar":
                raise TypeError(
                    f"vectorize: a signature takes and gives numbers; got {spelling.spell(t)}; write the types of "
                    f"elements, or use guvectorize"
                )
    return lambda function: _make(function, signatures, identity, True, device)


def _make(function, signatures, identity, strict, device):
    if not isinstance(function, _engine.Dispatcher) and not _has_plain_parameters(function):
        if strict:
            always_jit(function)  # says what is wrong
        from .._numpy.apply import vectorize as interpreted

        return interpreted(function)
    return Vectorized(function, signatures, identity, strict, device)


def _has_plain_parameters(function):
    """Whether it is a function of a fixed number of operands: no method, no ``*args``."""
    code = getattr(function, "__code__", None)
    starred = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return (
        code is not None
        and not hasattr(function, "__self__")
        and code.co_argcount > 0
        and code.co_kwonlyargcount == 0
        and not code.co_flags & starred
    )


class Vectorized(Methods, _engine._ItemLoops):
    """An elementwise function made by :func:`vectorize`; called with arrays like NumPy's ufuncs.

    Attributes
    ----------
    py_func : function
        The Python function.
    nin, nout, nargs : int
        Numbers of operands and results.
    types : list of str
        The loops compiled so far, as ``"dd->d"``.
    identity : number or None
        What reductions start from.
    """

    nout = 1
    signature = None
    _op = -1
    _by_elements = None
    _device = None  # where calls with arrays of the host run; None: the host

    def __init__(self, function, signatures, identity, strict, device=None):
        self._compiled = (
            function if isinstance(function, _engine.Dispatcher) else always_jit(function)
        )
        python = self.py_func
        self.__name__, self.__qualname__ = python.__name__, python.__qualname__
        self.__module__, self.__doc__ = python.__module__, python.__doc__
        self.__wrapped__ = python
        code = getattr(python, "__code__", None)
        self._names = code.co_varnames[: code.co_argcount] if code else python.parameters
        self.nin = len(self._names)
        self._defaults = getattr(python, "__defaults__", None) or ()
        self.nargs = self.nin + 1
        if isinstance(identity, str) and identity != "reorderable":
            raise ValueError(
                f"vectorize: identity is a number, 'reorderable' or None; got {identity!r}; give what changes nothing"
            )
        self.reorderable = identity is not None
        self.identity = None if isinstance(identity, str) else identity
        self._strict = strict
        self._device = device
        self._interpreted = None
        self._loops = {}  # generated loops by what they do
        self._eager = []  # (names of operand types, name of the result's)
        self._seen = {}
        self._choices = {}  # what _choose gave, by the operands' types
        self._folds = Folds(self)
        self._short = set()  # dtypes of short vectors that were met
        for result, arguments in signatures:
            if len(arguments) != self.nin:
                raise TypeError(
                    f"{self.__name__}: the signature has {len(arguments)} arguments; got "
                    f"({', '.join(map(spelling.spell, arguments))}); expected {self.nin}, as the function takes"
                )
            types = tuple(t[1] for t in arguments)
            self._eager.append((types, self._result(types, result and result[1])))

    @property
    def py_func(self):
        """The Python function that was decorated."""
        return self._compiled.py_func

    @property
    def _in_compiled_code(self):
        """What compiled functions call when they name this object: given arrays, for each element."""
        if self._by_elements is None:
            python = self.py_func
            is_python = hasattr(python, "__code__")
            options = {**self._compiled._options_given, "by_elements": True} if is_python else {}
            self._by_elements = (
                JitFunction(python, False, None, options) if is_python else self._compiled
            )
        return self._by_elements

    def __repr__(self):
        return f"<unisono.vectorize {self.__module__}.{self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__

    _has_state = False  # C functions that it calls have variables: one call after the other

    # ---- types
    def _result(self, types, declared=None):
        """Name of the result's dtype; compiles where that is needed to know."""
        result, _, self._has_state = self._compiled._element(types)
        return declared or result.name

    @property
    def types(self):
        """Loops as NumPy spells them; Python's numbers count as arrays of theirs."""
        made = []
        for types, result in self._eager or self._seen.items():
            if len({t in _defaults for t in types}) > 1:
                continue  # numbers that take their dtype from arrays: of no loop's own
            chars = (_ufunc._chars[_defaults.get(t, t)] for t in types)
            made.append("".join(chars) + "->" + _ufunc._chars[result])
        return list(dict.fromkeys(made))

    @property
    def ntypes(self):
        """Number of loops compiled so far."""
        return len(self.types)

    def _choose(self, operands, dtype=None, casting="safe"):
        """(types of the loop, name of the result) for operands."""
        given = [operand_type(x) for x in operands]
        if not self._eager:
            if dtype is not None:
                given = [dtype.name] * len(given)
            types = tuple(given)
            if types not in self._seen:
                self._seen[types] = self._result(types)
            return types, self._seen[types]
        kinds = [given]
        if all(
            g in _defaults for g in given
        ):  # of Python's numbers alone: their own dtypes first, as in NumPy
            kinds.insert(0, [_defaults[g] for g in given])
        for taken in kinds:
            for types, result in self._eager:
                if dtype is not None and result != dtype.name:
                    continue
                bound = zip(operands, taken, types, strict=True)
                if all(casts(x, g, t, casting) for x, g, t in bound):
                    return types, result
        kinds = ", ".join(g.removeprefix("weak ") for g in given)
        loops = "; ".join(f"{r}({', '.join(t)})" for t, r in self._eager)
        wanted = "" if dtype is None else f" and dtype={dtype.name}"
        raise TypeError(
            f"{self.__name__}: no signature takes the operands; got ({kinds}){wanted}; expected one of {loops}; "
            f"convert them with .astype, or add a signature"
        )

    # ---- calls
    def _call(self, *args, **options):
        """What no loop over short vectors has taken."""
        if self._device is not None:
            operands = (*args, *(options.get(n) for n in self._names))
            if targets.needs_copies(self, operands, options.get("out")):
                return targets.call(self, self._call, args, options, self.nin)
        if list in map(type, args) and not options:
            rows = _rows_of_lists(args)
            if rows is not None:
                return self(*rows)
        if len(args) >= self.nin and self._add_short_loop(args[: self.nin]):
            return self(*args, **options)
        if len(options) == ("out" in options) and len(args) + len(options) == self.nargs:
            out = options["out"] if options else args[-1]
            if type(out) is _engine.ndarray:
                made = self._apply(args[: self.nin])
                if made.dtype is out.dtype and made.shape == out.shape:
                    out[...] = made
                    return out
        if any(key in self._names for key in options):
            bound = inspect.signature(self.py_func).bind_partial(
                *args, **{k: v for k, v in options.items() if k in self._names}
            )
            args = bound.args
            options = {k: v for k, v in options.items() if k not in self._names}
        missing = self.nin - len(args)
        if 0 < missing <= len(self._defaults):
            args = (*args, *self._defaults[-missing:])
        if not self.nin <= len(args) <= self.nin + 1:
            raise TypeError(
                f"{self.__name__}: takes from {self.nin} to {self.nin + 1} positional arguments; got {len(args)}"
            )
        if len(args) == self.nin and not options:
            return self._apply(args)
        return self._call_with(args, options)

    def _add_short_loop(self, args):
        """Compile a loop for few elements of NumPy arrays, and numbers, of types that are new; whether there is one now.

        Axes match by position from the last one; lengths of 1 are not repeated here.
        """
        numpy = loaded("numpy")
        if numpy is None or self._interpreted is not None:
            return False
        kinds, shape = [], ()
        for x in args:
            if type(x) is numpy.ndarray:
                if x.size > most_short or 1 in x.shape:
                    return False
                kinds.append((x.dtype, x.ndim))
                shape = max(shape, x.shape, key=len)
            elif type(x) in _short_numbers or isinstance(x, numpy.generic):
                kinds.append((type(x), -1))
            else:
                return False
        kinds = tuple(kinds)
        if kinds in self._short or len(self._short) == most_loops:
            return False
        sizes = [x.shape for x, (_, rank) in zip(args, kinds, strict=True) if rank >= 0]
        if any(n != shape[len(shape) - len(n) :] for n in sizes):
            return False
        self._short.add(kinds)
        names = [(t.name if rank >= 0 else t, rank) for t, rank in kinds]
        typed = [x.dtype.name for x in args if type(x) not in _short_numbers]
        if any(n not in _dtypes._table or n == "float16" for n in typed):
            return False
        try:
            operands = [x if type(x) in _short_numbers else as_array_beside(x, *args) for x in args]
            if int in map(type, args) and self._looks_at_values(operands):
                return False
            types, result = self._choose(tuple(operands))
        except (CompileError, TypeError):
            return False  # refused there
        # NumPy's numbers are Python's to compiled functions: they are converted.
        given = [
            t if r >= 0 else operand_type(x) if t in _short_numbers else None
            for x, (t, r) in zip(args, names, strict=True)
        ]
        return self._add_few(names, given, types, result, len(shape))

    def _looks_at_values(self, operands):
        """Whether the value of one of Python's ints chooses among the signatures."""
        given = [operand_type(x) for x in operands]
        own = [_defaults.get(g) for g in given]
        if None not in own:  # tried first, and by their types alone
            for types, _ in self._eager:
                bound = zip(operands, own, types, strict=True)
                if all(casts(x, g, t, "safe") for x, g, t in bound):
                    return False
        return any(
            g == "weak int" and _dtypes._table[t].kind in "iu"
            for types, _ in self._eager
            for g, t in zip(given, types, strict=True)
        )

    def _add_few(self, names, given, types, result, rank):
        """A loop over all axes of the largest operand."""
        index = [f"i{k}" for k in range(rank)]
        operands, items = [], []
        for k, ((kind, own), was, t) in enumerate(zip(names, given, types, strict=True)):
            x = f"x{k}"
            if own > 0:
                x += f"[{', '.join(index[rank - own :])}]"
            elif own == 0:
                x += "[()]"
            operands.append(x if was == t else f"{t}({x})")
            items.append(kind if own < 0 else (kind, tuple(range(rank - own, rank))))
        lines = [f"def few({', '.join(f'x{k}' for k in range(self.nin))}, out):"]
        for k, i in enumerate(index):
            lines.append(f"{'    ' * (k + 1)}for {i} in range(out.shape[{k}]):")
        lines.append(
            f"{'    ' * (rank + 1)}out[{', '.join(index) or 0}] = f({', '.join(operands)})"
        )
        used = {t: getattr(_dtypes, t) for t in {*types} if not t.startswith("weak")}
        loop = compile_text("\n".join(lines) + "\n", "few", {"f": self._compiled, **used})
        return self._add_loop(loop, items, [(result, tuple(range(rank)))], most_short, False)

    def _call_with(self, args, options):
        """Call with outputs and NumPy's options."""
        for key in options:
            if key not in _ufunc._options:
                raise TypeError(f"{self.__name__}() got an unexpected keyword argument '{key}'")
        (out,) = _ufunc._outputs(self, args[self.nin :], options)
        dtype = _ufunc._wanted(self, options)
        casting = options.get("casting", "same_kind")
        where = options.get("where", True)
        result = self._apply(args[: self.nin], dtype)
        if where is not True:
            where = _ufunc._mask(self.__name__, where)
        return _ufunc._deliver(self.__name__, result, out, where, casting, options.get("order"))

    def _apply(self, args, dtype=None):
        if self._interpreted is not None:
            return self._interpreted(*args)
        if not self._strict and any(type(x) not in _plain and is_numpys(x) for x in args):
            return self._interpreted_for(*args)
        operands = tuple(x if type(x) in _plain else as_array_beside(x, *args) for x in args)
        if not self._strict and any(getattr(x, "dtype", None) is _half for x in operands):
            return self._interpreted_for(*args)
        if not self._eager and dtype is None:
            try:
                made = self._compiled._elementwise(None, operands)
            except CompileError as error:
                if self._strict:
                    raise
                return self._give_up(error)(*args)
            if made is not None:
                if len(self._seen) < 64:
                    self._note(operands)
                return made
        kinds = tuple(map(operand_type, operands))
        chosen = self._choices.get(kinds) if dtype is None else None
        if chosen is None:
            try:
                chosen = self._choose(operands, dtype, "safe" if dtype is None else "same_kind")
            except CompileError as error:
                if self._strict:
                    raise
                return self._give_up(error)(*args)
            if dtype is None and "weak int" not in kinds:  # whose value counts too
                self._choices[kinds] = chosen
        types, result = chosen
        made = self._compiled._elementwise(types, operands)
        if made is None:
            made = self._run_loop(operands, types, result)
        if dtype is not None and not self._eager:
            result = dtype.name
        return made if made.dtype.name == result else made.astype(result)

    def _note(self, operands):
        types = tuple(map(operand_type, operands))
        if types not in self._seen:
            self._seen[types] = self._result(types)

    def _interpreted_for(self, *args):
        """Call the function for each element where operands are of a dtype that the compiler has not."""
        from .._numpy.apply import vectorize as interpreted

        return interpreted(self.py_func)(*args)

    def _give_up(self, error):
        """Call the function for each element, as NumPy does."""
        import warnings

        from .._numpy.apply import vectorize as interpreted

        reason = str(error).strip().splitlines()
        self._interpreted = interpreted(self.py_func)
        self._clear_loops()
        if self.__name__ == "<lambda>":  # a way of writing NumPy's vectorize, not a slip
            return self._interpreted
        warnings.warn(
            f"vectorize: {self.__name__} runs in the interpreter, element by element: it cannot be compiled "
            f"({reason[-1].strip() if reason else 'no reason'}); give signatures to have this refused",
            RuntimeWarning,
            stacklevel=4,
        )
        return self._interpreted

    # ---- loops that run at once
    def _loop(self, what, text):
        if what not in self._loops:
            text = textwrap.dedent(text).lstrip("\n")
            self._loops[what] = compile_text(text, what[0], {"f": self._compiled, "prange": prange})
        return self._loops[what]

    def _run_loop(self, operands, types, result):
        """Results of a function that array operations cannot take in, element by element."""
        import unisono as un

        shape = un.broadcast_shapes(*(_shape(x) for x in operands))
        place = targets.place_of(operands)
        names, values = [], []
        for k, (x, t) in enumerate(zip(operands, types, strict=True)):
            x = as_type(x, t, place)
            if isinstance(x, (bool, int, float, complex)):
                names.append(f"x{k}")
            else:
                x = un.broadcast_to(x, shape).reshape(-1)
                names.append(f"x{k}[i]")
            values.append(x)
        out = un.empty(shape, result, device=place)
        loop = self._loop(
            ("elements", *names),
            f"""
            def elements({", ".join(f"x{k}" for k in range(self.nin))}, out):
                for i in {"range" if self._has_state else "prange"}(out.shape[0]):
                    out[i] = f({", ".join(names)})
            """,
        )
        loop(*values, out.reshape(-1))
        return out if shape else out[()]


_half = _dtypes.dtype("float16")
_short_numbers = frozenset((int, float))
most_loops = 16  # of a function, each for operands of other types
_plain = frozenset((bool, int, float, complex, _engine.ndarray))


def _rows_of_lists(args):
    """The arguments with lists as NumPy's arrays, which loops over few elements take; None where they do not."""
    numpy = loaded("numpy")
    if numpy is None or any(isinstance(x, _engine._Array) for x in args):
        return None
    rows = []
    for x in args:
        if type(x) is list:
            if not 1 < len(x) <= most_short or type(x[0]) not in _short_numbers:
                return None
            x = numpy.asarray(x)
            if x.dtype not in (numpy.float64, numpy.int64):
                return None
        rows.append(x)
    return rows


def _shape(x):
    return () if isinstance(x, (bool, int, float, complex)) else tuple(x.shape)


def operand_type(x):
    """Name of an operand's dtype, or that of one of Python's numbers: ``"weak int"``."""
    if isinstance(x, (_engine._Array, Probe)):
        return x.dtype.name
    if isinstance(x, complex):
        return "complex128"
    return _weak[type(x)]


def casts(x, given, wanted, casting):
    """Whether the operand can be cast to the parameter's dtype."""
    import unisono as un

    if not given.startswith("weak"):
        return un.can_cast(given, wanted, casting)
    kind = _dtypes._table[wanted].kind
    if given == "weak bool":
        return True
    if given == "weak float":
        return kind in "fc"
    if kind in "iu":
        info = un.iinfo(wanted)
        return info.min <= x <= info.max
    return kind in "fc"
