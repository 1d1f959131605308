"""``jit(interpret=True)``: the Python function itself, under pdb if one likes, with its accesses checked.

Array arguments become `Watched` views of the same memory, whose indices NumPy checks. Around the outermost loop over
`prange` each access is noted by its address: two iterations that meet at an element, one of them writing, raise.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import threading

import numpy as np

from . import unfiled
from .source import read_function

_here = threading.local()


def is_active():
    """Whether this thread runs a function with ``interpret=True``."""
    return getattr(_here, "depth", 0) > 0


class _Loop:
    """A run of a loop over prange: who touched what."""

    def __init__(self, line, combined):
        self.line, self.combined = line, combined
        self.iteration = None
        self.written, self.read = {}, {}  # by address: iteration and line

    def note_read(self, address, place, name):
        other = self.written.get(address)
        if other is not None and other[0] != self.iteration:
            self._refuse(other, place, name, "written", "read")
        seen = self.read.setdefault(address, (self.iteration, place))
        if seen[0] != self.iteration:
            self.read[address] = (None, seen[1])  # by several

    def note_write(self, address, place, name):
        for other, done in (
            (self.written.get(address), "written"),
            (self.read.get(address), "read"),
        ):
            if other is not None and other[0] != self.iteration:
                self._refuse(other, place, name, done, "written")
        self.written[address] = (self.iteration, place)

    def _refuse(self, other, place, name, did, does):
        who = "another iteration" if other[0] is None else f"iteration {other[0]}"
        raise ValueError(
            f"interpret: iterations of the prange at line {self.line} meet at an element of '{name}'; got one that is "
            f"{did} at line {other[1]} by {who} and {does} at line {place} by iteration {self.iteration}; "
            f"expected independent iterations; use range for this loop, or un.atomic"
        )


def iterations(numbers):
    """What `prange` gives in such a function."""
    frame = sys._getframe(1)  # the loop, which asks for the first number
    if getattr(_here, "loop", None) is not None:  # one inside of another runs in order
        yield from numbers
        return
    line = frame.f_lineno
    loop = _Loop(line, _here.combined.get((frame.f_code.co_filename, line), ()))
    _here.loop = loop
    try:
        for i in numbers:
            loop.iteration = i
            yield i
    finally:
        _here.loop = None


class Watched(np.ndarray):
    """An array that notes which elements are read and written."""

    _addresses = None
    _name = ""

    @classmethod
    def of(cls, array, name):
        made = array.view(cls)
        at = np.full(array.shape, array.__array_interface__["data"][0], np.int64)
        for axis, stride in enumerate(array.strides):
            steps = np.arange(array.shape[axis], dtype=np.int64) * stride
            at += steps.reshape([-1] + [1] * (array.ndim - axis - 1))
        made._addresses, made._name = at, name
        return made

    def _note(self, index, writes):
        loop = getattr(_here, "loop", None)
        if loop is None or self._addresses is None or self._name in loop.combined:
            return
        frame = sys._getframe(2)
        while frame.f_code.co_filename == __file__:
            frame = frame.f_back
        if frame.f_globals.get("__name__") == "unisono.atomic":
            return
        note = loop.note_write if writes else loop.note_read
        touched = self._addresses if index is None else self._addresses[index]
        for address in np.ravel(touched).tolist():
            note(address, frame.f_lineno, self._name)

    def __getitem__(self, index):
        index = _plain(index)
        whole = self.view(np.ndarray)
        found = whole[index]
        if not isinstance(found, np.ndarray) or found.ndim == 0 or found.base is None:
            self._note(index, False)
            return found
        if self._addresses is None or not np.may_share_memory(found, whole):
            self._note(index, False)
            return found
        made = found.view(Watched)
        made._addresses, made._name = self._addresses[index], self._name
        return made

    def __setitem__(self, index, value):
        index, value = _plain(index), _plain(value)
        self.view(np.ndarray)[index] = value
        self._note(index, True)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    @property
    def T(self):
        made = self.view(np.ndarray).T.view(Watched)
        made._addresses = None if self._addresses is None else self._addresses.T
        made._name = self._name
        return made

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if out is not None:
            kwargs["out"] = tuple(_plain(o, reads=False) for o in out)
        if method == "at":
            inputs[0]._note(None, True)
        result = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        if out is None:
            return result
        for o in out:
            if isinstance(o, Watched):
                o._note(None, True)
        return out[0] if len(out) == 1 else out

    def __array_function__(self, function, types, args, kwargs):
        return function(*_plain(tuple(args)), **{k: _plain(v) for k, v in kwargs.items()})


def _plain(value, reads=True):
    """The value with ordinary arrays; whoever takes it whole reads all of it."""
    if isinstance(value, Watched):
        if reads:
            value._note(None, False)
        return value.view(np.ndarray)
    if isinstance(value, (tuple, list)):
        return type(value)(_plain(v, reads) for v in value)
    return value


class Interpreted:
    """A function marked ``jit(interpret=True)``."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function
        unfiled.note(function)
        self._combined = None

    @property
    def py_func(self):
        """The Python function that was decorated."""
        return self._function

    def __call__(self, *args, **kwargs):
        """Run the Python function with watched arrays."""
        if self._combined is None:
            self._combined = _combined_in(self._function)
        bound = inspect.signature(self._function).bind(*args, **kwargs)
        given = {}  # by id of what the function gets: what the caller gave
        for name, value in bound.arguments.items():
            bound.arguments[name] = _watched(value, name, given)
        before = getattr(_here, "combined", {})
        _here.depth = getattr(_here, "depth", 0) + 1
        _here.combined = {**before, **self._combined}
        try:
            result = self._function(*bound.args, **bound.kwargs)
        finally:
            _here.depth -= 1
            _here.combined = before
        return _given_back(result, given) if _here.depth == 0 else result

    def __repr__(self):
        return f"<unisono.jit {self.__module__}.{self.__qualname__}, interpreted>"


def _watched(value, name, given):
    if isinstance(value, tuple):
        return tuple(_watched(v, name, given) for v in value)
    is_array = isinstance(value, np.ndarray) or hasattr(value, "__dlpack_device__")
    if isinstance(value, Watched) or not is_array:
        return value
    array = np.asarray(value)
    made = Watched.of(array, name)
    given[id(made)] = (value, made)  # made lives as long as its number is used
    return made


def _given_back(result, given):
    import unisono as un

    if isinstance(result, tuple):
        return tuple(_given_back(r, given) for r in result)
    if id(result) in given:
        return given[id(result)][0]
    if isinstance(result, np.ndarray):
        return un.asarray(result.view(np.ndarray))
    return result.item() if isinstance(result, np.generic) else result


def _combined_in(function):
    """Arrays that loops over prange only add to (``count[k] += 1``), by file and line of the loop."""
    file, found = function.__code__.co_filename, {}
    for loop in ast.walk(read_function(function)[0]):
        if not (isinstance(loop, ast.For) and "prange" in ast.dump(loop.iter)):
            continue
        targets = [
            n.target.value.id
            for n in ast.walk(loop)
            if isinstance(n, ast.AugAssign)
            and isinstance(n.target, ast.Subscript)
            and isinstance(n.target.value, ast.Name)
        ]
        uses = [n.id for n in ast.walk(loop) if isinstance(n, ast.Name)]
        names = {t for t in targets if uses.count(t) == targets.count(t)}
        found[file, loop.lineno] = names
    return found
