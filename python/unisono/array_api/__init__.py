"""The namespace of the array API standard: the package's functions, with results that stay arrays.

NumPy gives numbers where the standard gives arrays without axes, and so does this package: ``un.sum(x)`` and
``x[0]`` are immutable, and those of float64 are Python's floats. Libraries that are written for the standard write
into such results and ask them for their namespace. ``x.__array_namespace__()`` is therefore this module: its
functions are the package's, but each array of a result is an :class:`Array`, whose operators and elements are
arrays, too.
"""

import functools
import types

import unisono as un

from .. import _engine


class Array(_engine.ndarray):
    """Array as the standard describes it: elements and results without axes are arrays, never numbers.

    Examples
    --------
    >>> import unisono as un
    >>> xp = un.arange(4.0).__array_namespace__()
    >>> total = xp.sum(xp.arange(4.0))
    >>> total[...] = 1
    >>> total * 2
    array(2.)
    """

    __slots__ = ()
    __hash__ = None
    _lifts_itself = True

    @property
    def T(self):
        """The transpose of a matrix."""
        return standard(_engine.ndarray.T.__get__(self))

    @property
    def mT(self):
        """View with the last two axes exchanged."""
        return standard(_engine.ndarray.mT.__get__(self))


def standard(result, operands=()):
    """Return a function's result with each array of it, also inside tuples and lists, as an Array.

    Numbers become arrays where the operands lie.
    """
    kind = type(result)
    if kind is _engine.ndarray and not result._is_value():
        return result._as_type(Array)
    if kind is _engine.ndarray or kind in _engine._values or kind in _engine._scalars:
        return un.asarray(result, device=_device_of(operands))._as_type(Array)
    if kind is list:
        return [standard(r, operands) for r in result]
    if isinstance(result, tuple):
        items = (standard(r, operands) for r in result)
        return kind(*items) if hasattr(kind, "_fields") else kind(items)
    return result


def _device_of(operands):
    """Device of the first array, None if there is none."""
    for x in operands:
        if isinstance(x, _engine._Array):
            return x.device
        if isinstance(x, (list, tuple)):
            device = _device_of(x)
            if device is not None:
                return device
    return None


def _wrapped(function):
    @functools.wraps(function)
    def call(*args, **options):
        return standard(function(*args, **options), args)

    return call


def _reflected(function):
    @functools.wraps(function)
    def call(self, other):
        # A value on the left left this operator to us: as an array it does not do so again.
        return standard(function(self, standard(other, (self,))), (self,))

    return call


_binary = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
_others = "lt le gt ge eq ne neg pos abs invert getitem".split()
for _name in [*(f"__{n}__" for n in _binary + _others), "to_device"]:
    setattr(Array, _name, _wrapped(getattr(_engine.ndarray, _name)))
for _name in (f"__r{n}__" for n in _binary):
    setattr(Array, _name, _reflected(getattr(_engine.ndarray, _name)))


class finfo(un.finfo):
    """Limits of a floating-point dtype as Python's floats; NumPy's are values of the dtype.

    Examples
    --------
    >>> import unisono as un
    >>> un.arange(4.0).__array_namespace__().finfo("float32").eps
    1.1920928955078125e-07
    """

    def __init__(self, dtype):
        super().__init__(dtype)
        values = {k: float(v) for k, v in vars(self).items() if not isinstance(v, (int, un.dtype))}
        vars(self).update(values)


def _complex_results(function):
    """A function of eigenvalues, which are complex in the standard, and in NumPy real where they can be."""

    def complex_of(x):
        return x if x.dtype.kind == "c" else x.astype(un.result_type(x.dtype, 1j))

    @functools.wraps(function)
    def call(*args, **options):
        made = function(*args, **options)
        return type(made)(*map(complex_of, made)) if isinstance(made, tuple) else complex_of(made)

    return call


class _Namespace(types.ModuleType):
    """A module of the package with its functions wrapped."""

    def __init__(self, module):
        super().__init__(f"{__name__}.{module.__name__.rpartition('.')[2]}", module.__doc__)
        self._module = module

    def __getattr__(self, name):
        value = getattr(self._module, name)
        if self._module is un.linalg and name in ("eig", "eigvals"):
            value = _complex_results(value)
        made = _member(value)
        setattr(self, name, made)
        return made

    def __dir__(self):
        return dir(self._module)


def _member(value):
    if isinstance(value, types.ModuleType):
        return _Namespace(value)
    return _wrapped(value) if callable(value) and not isinstance(value, (type, un.dtype)) else value


def __getattr__(name):
    made = _member(getattr(un, name))
    globals()[name] = made
    return made


def __dir__():
    return dir(un)
