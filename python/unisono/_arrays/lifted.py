"""Subclasses of the array whose statements give the subclass again."""

import operator

from .. import _engine

OPERATORS = [
    f"__{kind}{name}__"
    for name in "add sub mul truediv floordiv mod pow lshift rshift and or xor matmul".split()
    for kind in ("", "r")
]
# Names of reflected operators behind "__r", and of their functions in `operator`.
_FORWARD = {
    f"{name}__": f"{name}_" if name in ("and", "or") else name
    for name in "add sub mul truediv floordiv mod pow lshift rshift and or xor matmul".split()
}
OTHERS = "__lt__ __le__ __gt__ __ge__ __eq__ __ne__ __neg__ __pos__ __abs__ __invert__".split()


def lift(cls, names, lifted):
    """Let methods and attributes of the array by these names give what `lifted(result, array)` makes of their result."""
    for name in names:
        setattr(cls, name, _made(name, lifted))


def _made(name, lifted):
    of_array = getattr(_engine.ndarray, name)
    if not callable(of_array):
        return property(lambda self: lifted(of_array.__get__(self), self), doc=of_array.__doc__)

    if name.startswith("__r") and name[3:] in _FORWARD:
        forward = getattr(operator, _FORWARD[name[3:]])

        def method(self, other):
            result = of_array(self, other)
            if result is NotImplemented and type(other) in (*_engine._values, *_engine._scalars):
                # a number of ours left the statement to the class, whose reflected operator is the same function
                result = forward(other, self._as_type(_engine.ndarray))
            return lifted(result, self)

    else:

        def method(self, *args, **options):
            return lifted(of_array(self, *args, **options), self)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = getattr(of_array, "__doc__", None)
    return method


of_class = _engine._of_class
plain = _engine._plain
