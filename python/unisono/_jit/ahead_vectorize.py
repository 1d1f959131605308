"""Functions of ``vectorize`` in modules that are built ahead of time: a loop compiled for each signature."""

from __future__ import annotations

from . import jit
from .text import compile_text
from .vectorize import Vectorized, _shape


def loops_of(function):
    """Loops over packed arrays, a function made by `jit` with a signature for each signature of `function`."""
    made = []
    for types, result in function._eager:
        names = [f"x{k}" for k in range(function.nin)]
        text = (
            f"def elements({', '.join(names)}, out):\n"
            f"    for i in {'range' if function._has_state else 'prange'}(out.shape[0]):\n"
            f"        out[i] = f({', '.join(f'{n}[i]' for n in names)})\n"
        )
        from . import prange

        plain = compile_text(text, "elements", {"f": function._compiled, "prange": prange})
        arrays = ", ".join(f"{t}[::1]" for t in (*types, result))
        made.append(jit(f"void({arrays})")(plain.py_func))
        made[-1]._text_of = plain  # its source lives as long
    return made


def state_of(function):
    """What `BuiltVectorized` takes beside the function and its loops."""
    return {
        "name": function.__name__,
        "doc": function.__doc__,
        "names": function._names,
        "defaults": function._defaults,
        "identity": function.identity,
        "reorderable": function.reorderable,
        "eager": function._eager,
        "has_state": function._has_state,
    }


class BuiltVectorized(Vectorized):
    """An elementwise function whose loops are compiled already; it does not fuse with its neighbours."""

    def __init__(self, state, module, compiled, loops):
        self._compiled = compiled
        self.__name__ = self.__qualname__ = state["name"]
        self.__module__, self.__doc__ = module, state["doc"]
        self.__wrapped__ = compiled.py_func
        self._names, self._defaults = state["names"], state["defaults"]
        self.nin = len(self._names)
        self.nargs = self.nin + 1
        self.identity, self.reorderable = state["identity"], state["reorderable"]
        self._strict, self._interpreted, self._has_state = True, None, state["has_state"]
        self._loops, self._seen, self._choices = {}, {}, {}
        self._eager = state["eager"]
        self._built = dict(zip((t for t, _ in self._eager), loops, strict=True))

    def _add_short_loop(self, args):
        return False

    def _apply(self, args, dtype=None):
        import unisono as un

        from .._arrays import ufunc as _ufunc

        operands = [x if isinstance(x, (bool, int, float)) else _ufunc.as_array(x) for x in args]
        types, result = self._choose(operands, dtype, "safe" if dtype is None else "same_kind")
        shape = un.broadcast_shapes(*map(_shape, operands))
        packed = [_packed(x, t, shape) for x, t in zip(operands, types, strict=True)]
        out = un.empty(shape, result)
        self._built[types](*packed, out.reshape(-1))
        return out if shape else out[()]


def _packed(x, dtype, shape):
    """The operand as a loop takes it: elements side by side, in memory that may be written."""
    import unisono as un

    x = un.ascontiguousarray(un.broadcast_to(un.asarray(x, dtype=dtype), shape))
    return (x if x.flags.writeable else x.copy()).reshape(-1)
