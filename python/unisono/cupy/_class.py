"""``cupy.ndarray``: the class of arrays, and of numbers that were computed, which are arrays without axes in CuPy."""

from __future__ import annotations

from .. import _engine
from .._runtime import queues
from ..cuda import devices

_CLASSES = (_engine._Array, *_engine._values)


class _ArrayType(type):
    """Of a class that stands for `unisono.ndarray` and the classes of computed numbers."""

    def __new__(cls, name, bases, names):
        if bases:  # a class derived from it
            bases = tuple(_engine.ndarray if isinstance(b, _ArrayType) else b for b in bases)
            return type(_engine.ndarray)(name, bases, names)
        return super().__new__(cls, name, bases, names)

    def __instancecheck__(cls, x):
        return isinstance(x, _CLASSES)

    def __subclasscheck__(cls, subclass):
        return subclass is cls or issubclass(subclass, _CLASSES)

    def __getattr__(cls, name):
        return getattr(_engine.ndarray, name)

    def __dir__(cls):
        return dir(_engine.ndarray)

    def __eq__(cls, other):
        return other is cls or other is _engine.ndarray

    def __hash__(cls):
        return hash(_engine.ndarray)


class ndarray(metaclass=_ArrayType):
    """An array of undefined elements: ``cupy.ndarray(shape, dtype=float, memptr=None, strides=None, order="C")``.

    Arrays are of the class `unisono.ndarray`. They and numbers that were computed, as ``x.sum()``, are instances of this
    one; NumPy's arrays are not.

    Examples
    --------
    >>> import unisono.cupy as cp
    >>> x = cp.ones(3)
    >>> isinstance(x, cp.ndarray), isinstance(x.sum(), cp.ndarray), isinstance(3.0, cp.ndarray)
    (True, True, False)
    """

    def __new__(cls, *args, **options):
        with queues.device(devices.current_device()):
            return _engine.ndarray(*args, **options)
