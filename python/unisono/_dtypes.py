"""Dtype objects: equal to NumPy's dtypes and to their names, without importing NumPy."""

from . import _engine


class DType:
    """An element type.

    Compares equal to its name, to NumPy's dtype and to NumPy's scalar type of that name.

    Examples
    --------
    >>> import unisono as un
    >>> un.float32.itemsize, un.float32 == "float32"
    (4, True)
    """

    __slots__ = ("_order", "itemsize", "kind", "name")

    def __init__(self, name, kind, itemsize, order):
        self.name = name
        self.kind = kind
        self.itemsize = itemsize
        self._order = order

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __str__(self):
        return self.name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str):
            return other == self.name
        python_types = {bool: "bool", int: "int64", float: "float64"}
        if isinstance(other, type):
            return python_types.get(other, other.__name__.rstrip("_")) == self.name
        name = getattr(other, "name", None)
        return isinstance(name, str) and name == self.name

    def __reduce__(self):
        return (_by_name, (self.name,))

    @property
    def dtype(self):
        """NumPy's dtype of the same name (imports NumPy)."""
        import numpy

        return numpy.dtype(self.name)

    def type(self, value):
        """Convert a number to a 0-d array of this dtype."""
        return _engine._full((), value, self, None)

    __call__ = type


def _by_name(name):
    return _table[name]


_table = {
    name: DType(name, kind, itemsize, order)
    for order, (name, kind, itemsize) in enumerate(_engine._dtypes)
}
_engine._set_dtypes(list(_table.values()))
globals().update(_table)
