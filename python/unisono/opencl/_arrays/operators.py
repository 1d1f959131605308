"""The operators of PyOpenCL's arrays, which record statements of the engine."""

import operator

import numpy as np

from ... import _engine
from .array_class import Array
from .memory import on_queue


def operand(x):
    """What the engine takes for an operand, or None for what is none of ours."""
    if isinstance(x, Array):
        return x._value()
    if isinstance(x, (int, float, complex, np.number, np.bool_, _engine._Array)):
        return x
    if isinstance(x, np.ndarray) and not x.shape:
        return x[()]
    return None


def _binary(function, comparison=False):
    def method(self, other):
        value = operand(other)
        if value is None:
            return NotImplemented
        queue = self.queue or getattr(other, "queue", None)
        made = on_queue(queue, function, self._value(), value)
        return self._like(made.astype("int8") if comparison else made, queue)

    return method


def _reflected(function):
    def method(self, other):
        value = operand(other)
        if value is None:
            return NotImplemented
        return self._like(on_queue(self.queue, function, value, self._value()))

    return method


def _in_place(function):
    def method(self, other):
        value = operand(other)
        if value is None:
            return NotImplemented
        x = self._value()
        if (
            isinstance(value, (np.integer, np.floating))
            and self.dtype.kind in "iuf"
            and value.dtype.kind == self.dtype.kind
        ):
            value = self.dtype.type(value)
        made = on_queue(self.queue or getattr(other, "queue", None), function, x, value)
        if made is not x:
            self._x = made
        return self

    return method


for _name in "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split():
    _function = getattr(operator, _name)
    _plain = _name.rstrip("_")
    setattr(Array, f"__{_plain}__", _binary(_function))
    setattr(Array, f"__r{_plain}__", _reflected(_function))
    setattr(Array, f"__i{_plain}__", _in_place(getattr(operator, "i" + _plain)))
for _name in "lt le eq ne ge gt".split():
    setattr(Array, f"__{_name}__", _binary(getattr(operator, _name), comparison=True))
