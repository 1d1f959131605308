"""Functions of ``guvectorize`` in modules that are built ahead of time: a loop compiled for each signature."""

from __future__ import annotations

from .._dtype import spelling
from . import jit, prange
from .guvectorize import GeneralizedFunction
from .text import compile_text


def loops_of(function):
    """Loops over packed items, a function made by `jit` with a signature for each signature of `function`."""
    made = []
    for types in function._signatures:
        arrays, arguments = [], []
        for k, (t, names) in enumerate(
            zip(types, function._inputs + function._outputs, strict=True)
        ):
            rank = len(names)
            arrays.append(f"{t[1]}[{':, ' * rank}::1]")
            at = "i" if rank or t[0] == "scalar" else "i:i+1"
            arguments.append(f"x{k}[{at}{', :' * rank}]")
        names = ", ".join(f"x{k}" for k in range(function.nargs))
        text = (
            f"def items({names}):\n"
            f"    for i in prange(x{function.nargs - 1}.shape[0]):\n"
            f"        f({', '.join(arguments)})\n"
        )
        plain = compile_text(text, "items", {"f": function._compiled, "prange": prange})
        made.append(jit(f"void({', '.join(arrays)})")(plain.py_func))
        made[-1]._text_of = plain  # its source lives as long
    return made


def state_of(function):
    """What `BuiltGeneralized` takes beside the function and its loops."""
    return {
        "name": function.__name__,
        "doc": function.__doc__,
        "layout": function.signature,
        "inputs": function._inputs,
        "outputs": function._outputs,
        "writable": function._writable,
        "signatures": function._signatures,
    }


class BuiltGeneralized(GeneralizedFunction):
    """A function over the items of arrays whose loops are compiled already."""

    def __init__(self, state, module, one, loops):
        self._one = one
        self.__name__ = self.__qualname__ = state["name"]
        self.__module__, self.__doc__ = module, state["doc"]
        self.__wrapped__ = one.py_func
        self.signature = state["layout"]
        self._inputs, self._outputs = state["inputs"], state["outputs"]
        self._writable = state["writable"]
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self.nargs = self.nin + self.nout
        self._signatures = state["signatures"]
        self._built = {
            tuple(map(spelling.spell, types)): loop
            for types, loop in zip(self._signatures, loops, strict=True)
        }

    def _add_single(self, args):
        return False

    def _run(self, arrays, types, shape):
        import unisono as un

        packed, count = [], 1
        for n in shape:
            count *= n
        for k, (x, names, t) in enumerate(
            zip(arrays, self._inputs + self._outputs, types, strict=True)
        ):
            core = tuple(x.shape)[x.ndim - len(names) :]
            if k < self.nin:
                x = un.ascontiguousarray(un.broadcast_to(x.astype(t[1], copy=False), shape + core))
                x = x if x.flags.writeable else x.copy()
            packed.append(x.reshape((count, *core)))
        self._built[tuple(map(spelling.spell, types))](*packed)
