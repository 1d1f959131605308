"""The kinds of dtypes as abstract classes, and the two truth values."""

import sys
from types import GenericAlias

import unisono as un

from .. import _engine


class _Kind(type):
    """So that ``isinstance(x, un.integer)`` holds of values of such a dtype, NumPy's scalars included."""

    def __instancecheck__(cls, x):
        if isinstance(x, (_engine._Array, *_engine._values)):
            return x._is_value() and un.issubdtype(x.dtype, cls)
        theirs = getattr(sys.modules.get("numpy"), cls.__name__, None)
        return theirs is not None and isinstance(x, theirs)

    def __subclasscheck__(cls, kind):
        """``issubclass(x.dtype.type, un.floating)``: the classes of NumPy's scalars are of these kinds, too, and dtypes."""
        if isinstance(kind, un.dtype):
            return un.issubdtype(kind, cls)
        if kind in _engine._values or kind in _engine._scalars:
            return un.issubdtype(kind.__name__, cls)
        if super().__subclasscheck__(kind):
            return True
        theirs = getattr(sys.modules.get("numpy"), cls.__name__, None)
        return theirs is not None and issubclass(kind, theirs)


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

    # Annotations: un.floating[Any], as NumPy's kinds take the precision of their numbers.
    __class_getitem__ = classmethod(GenericAlias)


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
