"""Views of fields whose numbers the engine cannot address: unaligned ones, as in packed structured dtypes.

Such a view holds no numbers. Reading takes a new array, lazily, and writing writes back, so that it aliases the
records as NumPy's view does; what would be a view of the new array is read-only.
"""

import operator

from .. import _engine
from .._dtype.objects import _table
from .strided_memory import Strided, basic_view, engine_dtype, packed_strides

_in_place = ("sort", "partition", "fill", "put")


class FieldView(Strided):
    """Numbers at any bytes of a `Memory`; operations read a new array, assignments write through."""

    __slots__ = ()
    # NumPy's operators leave the operation to those below.
    __array_priority__ = 1000

    dtype = property(lambda self: engine_dtype(self._dtype), doc="Element type, one of ours.")

    def _units(self):
        """The bytes as unsigned integers, the largest that are aligned, along one more axis."""
        places = [self._offset, self._dtype.itemsize, self._memory.alignment]
        places += [s for n, s in zip(self._shape, self._strides, strict=True) if n > 1]
        unit = 8
        while any(p % unit for p in places):
            unit //= 2
        shape = (*self._shape, self._dtype.itemsize // unit)
        strides = (*(s // unit for s in self._strides), 1)
        typed = self._memory.typed(_table[f"uint{8 * unit}"])
        made = _engine._strided(typed, shape, strides, self._offset // unit)
        if self._readonly:
            made._set_writeable(False)
        return made

    def _packed(self):
        return packed_strides(self._shape, self._dtype.itemsize)

    def _read(self):
        """A new array of the elements."""
        flat = self._units().copy().reshape(-1)
        return _engine._view_as(flat, self.dtype).reshape(self._shape)

    def _write(self, value):
        """Assign all elements, converted and broadcast as assignment does."""
        is_like = type(value) is _engine.ndarray and value.shape == self._shape
        if is_like and value.dtype is self.dtype and value.strides == self._packed():
            made = value
        else:
            made = _engine._empty(self._shape, self.dtype, self.device)
            made[...] = value
        units = self._units()
        units[...] = _engine._view_as(made.reshape(-1), units.dtype).reshape(units.shape)

    def _frozen(self):
        """A new array that refuses writes, which would be lost."""
        made = self._read()
        made._set_writeable(False)
        return made

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"a view of an unaligned field has no attribute {name!r}")
        if name in _in_place:

            def through(*args, **options):
                made = self._read()
                getattr(made, name)(*args, **options)
                self._write(made)

            return through
        return getattr(self._frozen(), name)

    def copy(self, order="C"):
        """A new array."""
        return self._read().copy(order)

    def __getitem__(self, key):
        view = basic_view(key, self._shape, self._strides)
        if view is None:
            return self._read()[key]
        shape, strides, offset, is_element = view
        made = self._with(shape, strides, offset)
        return made._read()[()] if is_element else made

    def __setitem__(self, key, value):
        if self._is_same_view(value):  # Python's a[...] += b ends so
            return
        value = value._read() if isinstance(value, FieldView) else value
        view = basic_view(key, self._shape, self._strides)
        if view is not None:
            shape, strides, offset, is_element = view
            target = self._with(shape, strides, offset)
            if isinstance(value, FieldView) and target._is_same_view(value):
                return
            if is_element:  # with the checks of elements of arrays
                made = _engine._empty((1,), self.dtype, self.device)
                made[0] = value
                value = made[0]
            return target._write(value)
        if self._readonly:
            raise ValueError("assignment: the destination is read-only; make a copy with .copy()")
        made = self._read()
        made[key] = value
        self._write(made)

    def __contains__(self, value):
        return value in self._read()

    def __reduce__(self):
        return self._read().__reduce__()

    def __repr__(self):
        return repr(self._read())

    def __str__(self):
        return str(self._read())

    def __format__(self, spec):
        return format(self._read(), spec)

    def __bool__(self):
        return bool(self._read())

    def __int__(self):
        return int(self._read())

    def __float__(self):
        return float(self._read())

    def __complex__(self):
        return complex(self._read())

    def __index__(self):
        return operator.index(self._read())

    def __copy__(self):
        return self._read()

    def __deepcopy__(self, memo):
        return self._read()

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        from .._arrays.exchange.interoperation import array_ufunc

        inputs = [_operand(x) for x in inputs]
        if out is None:
            return array_ufunc(self._read(), ufunc, method, *inputs, **options)
        made = array_ufunc(self._read(), ufunc, method, *inputs, **options)
        results = made if isinstance(made, tuple) else (made,)
        for target, result in zip(out, results, strict=True):
            if target is not None:
                target[...] = result
        return out[0] if len(out) == 1 else out

    def __array_function__(self, function, types, args, options):
        from .._arrays.exchange.interoperation import array_function

        given = [_operand(x) for x in args]
        return array_function(
            self._read(), function, types, given, {k: _operand(v) for k, v in options.items()}
        )

    __hash__ = None


def _operand(x):
    """Replace views of fields by arrays, in sequences too."""
    if type(x) in (list, tuple):
        return type(x)(map(_operand, x))
    return x._read() if isinstance(x, FieldView) else x


def _add_operators():
    """The operators of arrays: on new arrays; those in place write the result back."""
    arithmetic = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    for name in arithmetic:
        apply = getattr(operator, {"and": "and_", "or": "or_"}.get(name, name))
        update = getattr(operator, "i" + name)

        def forward(self, other, apply=apply):
            return apply(self._read(), _operand(other))

        def reflected(self, other, apply=apply):
            return apply(other, self._read())

        def in_place(self, other, update=update):
            made = update(self._read(), _operand(other))
            self._write(made)
            return self

        for prefix, made in (("", forward), ("r", reflected), ("i", in_place)):
            setattr(FieldView, f"__{prefix}{name}__", made)
    FieldView.__divmod__ = lambda self, other: divmod(self._read(), _operand(other))
    FieldView.__rdivmod__ = lambda self, other: divmod(other, self._read())
    for name in "lt le eq ne gt ge".split():
        apply = getattr(operator, name)
        setattr(
            FieldView,
            f"__{name}__",
            lambda self, other, apply=apply: apply(self._read(), _operand(other)),
        )
    for name in "neg pos abs invert".split():
        apply = getattr(operator, name)
        setattr(FieldView, f"__{name}__", lambda self, apply=apply: apply(self._read()))


_add_operators()
