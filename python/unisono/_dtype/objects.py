"""Dtype objects: equal to NumPy's dtypes and to their names, without importing NumPy."""

import sys as _sys

from .. import _engine

_GenericAlias = type(list[int])  # of the module types, which takes long to import


class dtype:
    """An element type: ``dtype("float32")`` is ``un.float32``.

    There is one object per element type. It compares equal to its names, to NumPy's dtype and to
    NumPy's scalar type of that name; calling it makes a value.

    Parameters
    ----------
    spec : object
        A name (``"int16"``, ``"i2"``, ``"h"``), a dtype or scalar type of NumPy, or one of Python's
        number types.
    align : bool
        Whether fields lie as a C compiler puts them.
    copy : bool
        Taken as NumPy's; dtypes never change.
    metadata : dict, optional
        With it the dtype is NumPy's own.

    Examples
    --------
    >>> import unisono as un
    >>> un.float32.itemsize, un.float32 == "float32", un.dtype("f4") is un.float32
    (4, True, True)
    >>> un.int16(3)
    un.int16(3)
    """

    __slots__ = ("_hash", "_order", "char", "itemsize", "kind", "name")
    byteorder = "="
    isbuiltin = 1
    isnative = True
    hasobject = False
    names = fields = subdtype = metadata = None
    shape = ()
    ndim = 0

    def __new__(cls, spec=None, align=False, copy=False, *, metadata=None):
        """Return the one object of that element type; float64 for None; NumPy's dtype of fields, text and the like."""
        if spec is None:
            return _table["float64"]
        if not isinstance(spec, (dtype, type)) or metadata is not None:
            from .._records import is_structured

            # A tuple is a dtype and the shape, or the fields, of an element.
            if isinstance(spec, tuple) or metadata is not None or is_structured(spec):
                from .._records.records import numpys_dtype

                made = numpys_dtype(spec, align, metadata)
                is_plain = isinstance(spec, tuple) and not (made.subdtype or made.names)
                return dtype(made) if is_plain else made
        try:
            return _engine._dtype_of(spec)
        except TypeError:
            if isinstance(spec, (_engine._Array, *_engine._values)) and spec._is_value():
                return spec.dtype
            if made := _numpys_own(spec):
                return made
            raise

    @property
    def underlying_float(self):
        """Of a complex type that of its parts, by Numba's name."""
        if self.kind != "c":
            raise AttributeError(
                f"{self.name} has no attribute 'underlying_float'; complex types have it"
            )
        return _table[f"float{4 * self.itemsize}"]

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __str__(self):
        return self.name

    @property
    def __name__(self):
        """The name, as NumPy's ``numpy.float32`` has it, which is a class."""
        return self.name

    def __mro_entries__(self, bases):
        raise TypeError(
            f"un.{self.name}: no class derives from it; derive from Python's number, or from numpy.{self.name}"
        )

    def __hash__(self):
        """Of NumPy's class (imports NumPy): tables are made with ``np.uint8`` and asked with ``x.dtype.type``."""
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(self.dtype.type)
            return self._hash

    def __eq__(self, other):
        if isinstance(other, dtype) or other is None:
            return self is other
        if other is object:  # asked often, and an exception takes long
            return False
        try:
            return _engine._dtype_of(other) is self
        except Exception:  # any object may stand on the other side
            return False

    def _casts(self, other, swapped, strictly):
        """Whether the values of one dtype are values of the other, which is how NumPy orders dtypes."""
        try:
            other = _engine._dtype_of(other)
        except TypeError:
            other = _numpys_own(other)  # dates, text and the like
            if other is None:
                return NotImplemented
            one, two = (other, self.dtype) if swapped else (self.dtype, other)
            return one < two if strictly else one <= two
        wide = self if swapped else other
        return _engine._promote(self, other) is wide and not (strictly and self is other)

    def __lt__(self, other):
        return self._casts(other, False, True)

    def __le__(self, other):
        return self._casts(other, False, False)

    def __gt__(self, other):
        return self._casts(other, True, True)

    def __ge__(self, other):
        return self._casts(other, True, False)

    @property
    def __class__(self):
        """NumPy's class of dtypes where NumPy is loaded: libraries ask ``isinstance(x.dtype, numpy.dtype)``."""
        numpy = _sys.modules.get("numpy")  # may still be half imported
        return getattr(numpy, "dtype", dtype)

    def __reduce__(self):
        return (_by_name, (self.name,))

    @property
    def str(self):
        """Byte order, kind and bytes, as in ``"<f8"``."""
        return f"{'|' if self.itemsize == 1 else '<'}{self.kind}{self.itemsize}"

    @property
    def descr(self):
        """The one field of the array interface's description."""
        return [("", self.str)]

    @property
    def alignment(self):
        """Bytes to whose multiples elements are aligned."""
        return self.itemsize

    @property
    def num(self):
        """NumPy's number of the type."""
        return "?bBhHiIlLqQfdgFDGOSUVMme".index(self.char)

    @property
    def dtype(self):
        """NumPy's dtype of the same name (imports NumPy)."""
        import numpy

        return numpy.dtype(self.name)

    @property
    def base(self):
        """The dtype itself."""
        return self

    def newbyteorder(self, new_order="S"):
        """Return the dtype itself where the order is the machine's, else NumPy's (imports NumPy)."""
        if self.itemsize > 1 and str(new_order)[:1] in "SsBb>":
            return self.dtype.newbyteorder(new_order)
        return self

    @property
    def type(self):
        """The dtype itself, as ``x.dtype.type is np.uint8`` has it; makes values when called."""
        return self

    @property
    def __bases__(self):
        """NumPy's class (imports NumPy), for ``issubclass(x.dtype.type, numpy.floating)``."""
        return (self.dtype.type,)

    def construct_array_type(self):
        """Class whose ``_from_sequence`` makes NumPy's arrays, as pandas asks of dtypes that are not NumPy's."""
        from .._arrays.exchange.interoperation import OfNumpy

        return OfNumpy

    def __call__(self, *values):
        """Convert a number to a value of this dtype; of dtypes, write the signature ``result(argument, ...)``."""
        if values and all(isinstance(v, dtype) or hasattr(v, "_parsed") for v in values):
            from ..types import Signature

            return Signature(self, values)
        if self.kind == "c" and len(values) == 2:
            values = (complex(*values),)
        (value,) = values or (0,)
        return _engine._array(value, self, None, True)[()]

    def __getitem__(self, axes):
        """Write the type of arrays in a signature: ``un.float64[:, ::1]``."""
        axes = axes if isinstance(axes, tuple) else (axes,)
        if not all(
            isinstance(a, slice) and a.start is a.stop is None and a.step in (None, 1) for a in axes
        ):
            raise TypeError(f"{self.name}[...]: axes of a type are ':' or '::1'; got {axes!r}")
        from ..types import Type

        layout = "C" if axes[-1].step == 1 else "F" if axes[0].step == 1 else "A"
        return Type(("array", self.name, len(axes), layout, False))

    # What can be indexed would be iterable too, and libraries take what is iterable for a list of numbers.
    __iter__ = None

    # Annotations: NumPy's names of dtypes are classes, which stand on either side of "|" and within dtype[...].
    __class_getitem__ = classmethod(_GenericAlias)

    def __or__(self, other):
        """For annotations: ``un.float32 | un.float64``, ``un.int64 | None``."""
        from typing import Union

        return Union[self, other]  # noqa: UP007

    __ror__ = __or__

    def __instancecheck__(self, x):
        """Whether `x` is a value of this dtype: ``isinstance(a[0], un.float64)``; NumPy's scalars are values, too."""
        if isinstance(x, (_engine._Array, *_engine._values)):
            return x.dtype is self and x._is_value()
        return "numpy" in _sys.modules and isinstance(x, self.dtype.type)

    def __subclasscheck__(self, kind):
        """Whether a class is that of values of this dtype: ``issubclass(a.dtype.type, un.float64)``."""
        if kind in _engine._values or kind in _engine._scalars:
            return kind.__name__ == self.name
        return kind is self or issubclass(kind, self.dtype.type)


DType = dtype


def _numpys_own(spec):
    """NumPy's dtype of text, dates, objects, extended precision or the other byte order, or None."""
    import numpy

    try:
        made = numpy.dtype(spec)
    except TypeError:
        return None
    return made if made.kind in "OSUMmVT" or made.char in "gG" or not made.isnative else None


def _make(name, kind, itemsize, char, order):
    made = object.__new__(dtype)
    made.name, made.kind, made.itemsize, made.char, made._order = name, kind, itemsize, char, order
    return made


def _by_name(name):
    return _table[name]


_table = {row[0]: _make(*row, order) for order, row in enumerate(_engine._dtypes)}
_engine._set_dtypes(list(_table.values()))
globals().update(_table)
