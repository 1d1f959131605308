"""Classes that derive from the array, whose views, copies and results are of the class, and other libraries' arrays.

The hooks are NumPy's: ``__array_finalize__`` sees each new array, ``__array_wrap__`` each result of an elementwise
function, ``__array_ufunc__`` takes the place of the function, ``__array_priority__`` decides between two classes.
https://numpy.org/doc/stable/user/basics.subclassing.html
"""

from __future__ import annotations

import builtins
import functools

import unisono as un

from .. import _engine
from . import overrides, ufunc
from .exchange.numpys_elements import as_numpys_number, by_numpy, has_functions
from .lifted import lift, of_class, plain

_operators = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "divmod": "divmod", "pow": "power", "lshift": "left_shift", "rshift": "right_shift",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "matmul": "matmul",
}  # fmt: skip
_comparisons = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
_unary = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_views = (
    "T mT imag real __getitem__ __copy__ __deepcopy__ argsort astype byteswap clip compress conj conjugate copy cumprod "
    "cumsum diagonal dot flatten ravel repeat reshape round squeeze swapaxes take transpose"
).split()
# Functions of the package, beside those of methods, whose results are of the class of their first argument.
_of_the_class = frozenset(
    "apply_along_axis apply_over_axes argmax argmin argpartition argsort atleast_1d atleast_2d atleast_3d cholesky cumprod "
    "cumsum delete diag diagflat dot gradient i0 inner insert inv median meshgrid nan_to_num nanmax nanmean nanmedian "
    "nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar partition percentile piecewise pinv qr quantile repeat "
    "require roll sort tile unique vecdot".split()
)
# Functions that compute with the arrays themselves, where ours are made of elementwise functions, which classes see.
_of_arrays = frozenset("array_equal cond dot einsum inner norm tensordot tile vdot".split())
# Functions that are methods of their argument where its class has them: a pandas column's `cumsum` is a column.
_methods = frozenset(
    "all amax amin any around argmax argmin argsort clip cumprod cumsum dot max mean min prod repeat round std sum take "
    "transpose var".split()
)
# Functions that make arrays of ours whatever they are given.
_converts = frozenset("array asarray ascontiguousarray asfortranarray from_dlpack".split())
reductions = "all any argmax argmin max mean min prod std sum trace var".split()


def init_subclass(cls, **options):
    """Put the class whose methods give results of their array's class between `cls` and the array."""
    super(_engine.ndarray, cls).__init_subclass__(**options)
    if "_lifts_itself" in cls.__dict__ or _engine.ndarray not in cls.__bases__:
        return  # a class of ours with rules of its own, or one that derives from such a class
    cls.__bases__ = tuple(_base() if b is _engine.ndarray else b for b in cls.__bases__)


@functools.cache
def _base():
    """The class between."""
    cls = _engine._subclass_base()
    array = _engine.ndarray

    def __new__(kind, *args, **options):
        made = array.__new__(kind, *args, **options)
        made.__array_finalize__(None)
        return made

    def __array_finalize__(self, obj, /):
        """Called with each new array of the class, and with what it was made from; None where it was made directly."""

    def __array_wrap__(self, array, context=None, return_scalar=False, /):
        """Return the result of an elementwise function as an array of this class."""
        return _reduced(array, self)

    def __array_ufunc__(self, function, method, *inputs, **options):
        """Call the function, or its method; NotImplemented where an operand's class does so itself."""
        if computing(_with_outputs(inputs, options)):
            return NotImplemented
        return array.__array_ufunc__.__get__(self)(function, method, *inputs, **options)

    def __iter__(self):
        return (of_class(row, self) for row in array.__iter__(self))

    def view(self, dtype=None, type=None):
        made = array.view(self, dtype, type)
        is_plain = builtins.type(made) is array and array not in (dtype, type)
        return of_class(made, self) if is_plain else made

    def __reduce__(self):
        return _new_of, (builtins.type(self),), (plain(self),)

    def __setstate__(self, state, /):
        """Take the array over that `__reduce__` gave."""
        self._become(state[0])

    for function in (
        __new__, __array_finalize__, __array_wrap__, __array_ufunc__, __iter__, __reduce__, __setstate__, view,
    ):  # fmt: skip
        setattr(cls, function.__name__, staticmethod(function) if function is __new__ else function)
    view.__doc__ = array.view.__doc__
    cls.__array_priority__ = 0.0
    lift(cls, _views, of_class)
    lift(cls, reductions, _reduced)
    for name in overrides.reducing:
        setattr(cls, name, overrides.reduction(name, getattr(cls, name), _computes))
    for short, name in {**_operators, **_comparisons, **_unary}.items():
        setattr(cls, f"__{short}__", _operator(f"__{short}__", name))
        if short in _operators:
            setattr(cls, f"__r{short}__", _operator(f"__r{short}__", name, reflected=True))
            if hasattr(array, f"__i{short}__"):
                setattr(cls, f"__i{short}__", _operator(f"__i{short}__", name, in_place=True))
    return cls


def _new_of(cls):
    """An array of a class, which ``__setstate__`` fills."""
    return un.empty(0)._as_type(cls)


def _reduced(made, source):
    """As `of_class`; a value becomes an array without axes, as NumPy's reductions of subclasses give."""
    return of_class(made, source, True)


def computing(operands):
    """The operands whose classes compute elementwise functions themselves."""
    return [x for x in operands if _overrides(x)]


def _overrides(x):
    """Whether the class of an operand computes elementwise functions itself."""
    return _computes(builtins.type(x)) and not hasattr(
        x, "base_data"
    )  # arrays of pyopencl are shared


@functools.lru_cache(256)
def _computes(kind):
    own = getattr(kind, "__array_ufunc__", _by_operators(kind) or None)
    return (own is not None and own not in _ordinary(kind.__module__)) or _engine._is_of_numpys(
        kind
    )


@functools.lru_cache(256)
def _wraps(kind):
    """Whether a class makes something else of results."""
    return kind.__array_wrap__ is not _engine._subclass_base().__array_wrap__


def _by_operators(kind):
    """Whether NumPy's functions take an instance for one object, as SciPy's sparse matrices, and use its operators."""
    is_own = hasattr(kind, "__array_priority__") and not hasattr(kind, "__array_ufunc__")
    return is_own and not hasattr(kind, "__array__")


@functools.cache
def _ordinary(module):
    """What computes as the arrays do: theirs, ours, and for classes of ours all."""
    import numpy

    if module.partition(".")[0] == "unisono":
        return _Everything()
    return (
        numpy.ndarray.__array_ufunc__, getattr(numpy.generic, "__array_ufunc__", None),
        _engine.ndarray.__array_ufunc__, _engine._subclass_base().__array_ufunc__,
    )  # fmt: skip


class _Everything:
    def __contains__(self, x):
        return True


def _operator(special, name, *, reflected=False, in_place=False):
    of_array = getattr(_engine.ndarray, special, None)

    def method(self, *other):
        if _computes(type(self)) or (other and _computes(type(other[0]))):
            return _by_function(self, other)
        if in_place:
            return of_array(self, *map(plain, other))
        if other:
            other = other[0]
            made = of_array(plain(self), plain(other))
            operands = (other, self) if reflected else (self, other)
        else:
            made, operands = of_array(plain(self)), (self,)
        return _wrapped(made, operands, name, ())

    def _by_function(self, other):
        if any(getattr(type(x), "__array_ufunc__", 0) is None for x in other):
            return NotImplemented
        operands = (*other, self) if reflected else (self, *other)
        return getattr(un, name)(*operands, **({"out": (self,)} if in_place else {}))

    method.__name__ = method.__qualname__ = special
    method.__doc__ = getattr(of_array, "__doc__", None)
    return method


def _wrapped(made, operands, name, outputs):
    """The results of a function as the operand with the highest priority wraps them."""
    if made is NotImplemented:
        return made
    if len(outputs) == 1 and isinstance(outputs[0], _engine._Array):
        return outputs[0]
    source = _first(operands)
    if source is None:
        return made
    if isinstance(made, tuple):
        return tuple(_wrap(m, k, source, operands, name, outputs) for k, m in enumerate(made))
    return _wrap(made, 0, source, operands, name, outputs)


def _first(operands):
    """The operand of a derived class with the highest priority, the first of equals; None where there is none."""
    base = _engine._subclass_base()
    found = None
    for x in operands:
        if isinstance(x, base) and (
            found is None or x.__array_priority__ > found.__array_priority__
        ):
            found = x
    return found


def _wrap(made, k, source, operands, name, outputs):
    if k < len(outputs) and isinstance(outputs[k], _engine._Array):
        return outputs[k]
    if not _wraps(type(source)):
        return of_class(made, source, True)
    return source.__array_wrap__(un.asarray(made), (getattr(un, name), operands, k), made.ndim == 0)


def _with_outputs(inputs, options):
    out = options.get("out")
    return (*inputs, *(out if isinstance(out, tuple) else (out,)))


def call(self, *args, **options):
    """Call of an elementwise function with operands, or an output, that are perhaps not the engine's to compute."""
    others = computing(_with_outputs(args, options))
    if others:
        return _by_others(self, others, args, options)
    if not options and len(args) == self.nin:
        return _wrapped(self._compute(*map(_operand, args)), args, self.__name__, ())
    given = args[self.nin :] or _with_outputs((), options)
    named = {k: plain(v) if k == "out" else _operand(v) for k, v in options.items()}
    made = ufunc.call(self, *map(_operand, args), **named)
    return _wrapped(made, args[: self.nin], self.__name__, given)


def _by_others(self, others, args, options):
    """What the first of the operands that has an answer gives; theirs is NumPy's function of the name."""
    import numpy

    inputs, outputs = args[: self.nin], args[self.nin :]
    if outputs:
        options = {**options, "out": (*outputs, *(None,) * (self.nout - len(outputs)))}
    elif options.get("out") is not None and not isinstance(options["out"], tuple):
        options = {**options, "out": (options["out"],)}
    for x in others:
        if _by_operators(builtins.type(x)):
            return getattr(numpy, self.__name__)(*map(_numpys, inputs), **options)
        if _engine._is_of_numpys(x) and hasattr(numpy, self.__name__):
            made = by_numpy(self.__name__, *inputs, **options)
            if made is not NotImplemented:
                return made
        function = self if isinstance(x, _engine._Array) else getattr(numpy, self.__name__, self)
        made = x.__array_ufunc__(function, "__call__", *inputs, **options)
        if made is not NotImplemented:
            return made
    out = options.get("out") or ()
    error = None
    if (
        hasattr(numpy, self.__name__)
        and any(_numpys(x) is not x for x in (*inputs, *out))
        and not any(isinstance(x, _engine._Array) for x in others)
        and all(x.device == "cpu" for x in out if isinstance(x, _engine._Array))
    ):
        written = tuple(map(_numpys, out))
        named = {**options, "out": written} if out else options
        try:  # they know NumPy's arrays and numbers alone, as pandas does
            made = getattr(numpy, self.__name__)(*map(_numpys, inputs), **named)
            return out[0] if out and made is written[0] else made
        except TypeError as refusal:
            error = refusal
    for x in others:  # a class may know functions by the names that its module imports from here
        if not isinstance(x, _engine._Array):
            made = x.__array_ufunc__(self, "__call__", *inputs, **options)
            if made is not NotImplemented:
                return made
    if error is not None:
        raise error
    kinds = ", ".join(dict.fromkeys(builtins.type(x).__name__ for x in args))
    raise TypeError(
        f"{self.__name__}: operand type(s) all returned NotImplemented from __array_ufunc__; got {kinds}"
    )


def by_method(self, method, /, *args, **options):
    """What a method of an elementwise function gives with operands of classes that compute it; else NotImplemented."""
    others = computing(_with_outputs(args, options))
    if not others or not all(isinstance(x, _engine._Array) for x in others):
        return NotImplemented
    return overrides.by_method(self, method, others, args, options)


def matmul(*args, **options):
    """What `matmul`, which is no `ufunc` here, gives with operands of classes that compute it; else NotImplemented."""
    import numpy

    others = computing(_with_outputs(args, options))
    if not others or not all(isinstance(x, _engine._Array) for x in others):
        return NotImplemented
    return _by_others(numpy.matmul, others, args, options)


def where(*args):
    """What `where` gives with operands of classes that compute it; else NotImplemented."""
    return overrides.by_function(un.where, implementation_of(un.where), args, {})


def implementation_of(function):
    """A function itself, without a question to the classes of its arguments, as of ``(args, options)``."""
    if function is un.where:
        return lambda args, options: un.where(*map(plain, args))
    return lambda args, options: _computed(function, args, options)


def _computed(function, args, options):
    given = map(plain, args) if function.__name__ in _of_arrays else args
    made = function.__wrapped__(*given, **options)
    source = args[0] if args else None
    is_of_class = isinstance(source, _engine._subclass_base())
    return (
        _each_of_class(made, source) if is_of_class and function.__name__ in _of_the_class else made
    )


def by_class(self, /, *args, **options):
    """What a function gives with an argument of a derived class, or another library's; else NotImplemented."""
    made = overrides.by_function(self, implementation_of(self), args, options)
    if made is not NotImplemented or not args:
        return made
    x, name = args[0], self.__name__
    if (name not in _converts or options.get("subok")) and any(map(_is_numpys_matter, args)):
        return by_numpy(self._numpys_name, *args, **options)
    if issubclass(builtins.type(x), _engine._subclass_base()):
        return _computed(self, args, options)
    if name not in _methods or not _overrides(x):
        return NotImplemented
    import numpy

    made = getattr(numpy, name)(*map(_numpys, args), **options)
    if not isinstance(made, (numpy.ndarray, numpy.generic)) or made.dtype.kind not in "biufc":
        return made
    return un.asarray(made) if type(made) is numpy.ndarray else un.asarray(made)[()]


def _is_numpys_matter(x):
    """Whether it is of a class that derives from NumPy's array or has NumPy's protocol for functions, or a sequence with such."""
    parts = x if isinstance(x, (list, tuple)) else (x,)
    return any(_engine._is_of_numpys(p) or has_functions(builtins.type(p)) for p in parts)


def _each_of_class(made, source):
    if isinstance(made, (tuple, list)):
        parts = [_each_of_class(m, source) for m in made]
        return (
            builtins.type(made)(*parts) if hasattr(made, "_fields") else builtins.type(made)(parts)
        )
    return of_class(made, source)


def _numpys(x):
    """NumPy's array over an array of ours, NumPy's number for one of ours."""
    import numpy

    if isinstance(x, _engine._Array) and not x._is_value():
        return numpy.asarray(x)
    return as_numpys_number(x)


def _operand(x):
    """What the function takes for an operand or an option: no array of a class that Python made."""
    if isinstance(x, tuple):
        return tuple(map(_operand, x))
    if isinstance(x, _engine._Array):
        return plain(x)
    is_theirs = not isinstance(x, builtins.type) and hasattr(builtins.type(x), "__array_ufunc__")
    return _engine._array(x, None, None, None) if is_theirs and not _is_scalar(x) else x


def _is_scalar(x):
    import numpy

    return isinstance(x, (numpy.generic, *_engine._values))
