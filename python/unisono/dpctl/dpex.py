"""The words of numba-dpex's kernels: ``@dpex.kernel``, ranges, items, local and private arrays, atomics.

``from unisono.dpctl import dpex`` stands for ``import numba_dpex as dpex`` and for its `kernel_api`. Both ways of writing
kernels are read: ``i = dpex.get_global_id(0)``, and ``def f(item, a): i = item.get_id(0)``. Kernels run where their arrays
lie; arrays of the host are copied to the current device (`dpctl.device_context`) and back.
"""

from __future__ import annotations

import ast
import sys
import types

from .. import _engine, _jit
from .._engine import CompileError
from .._jit.desugar import Value, _at, _call, _constant
from ..cuda import launches
from ._queues import LocalAccessor, SyclEvent, get_current_queue, get_device_cached_queue

__all__ = [
    "AtomicRef", "GLOBAL_MEM_FENCE", "Group", "Item", "LOCAL_MEM_FENCE", "LocalAccessor", "MemoryOrder", "MemoryScope",
    "NdItem", "NdRange", "PrivateArray", "Range", "atomic", "barrier", "call_kernel", "call_kernel_async", "device_func",
    "dpjit", "func", "get_global_id", "get_global_size", "get_group_id", "get_local_id", "get_local_size",
    "get_num_groups", "group_barrier", "kernel", "local", "prange", "private",
]  # fmt: skip

LOCAL_MEM_FENCE, GLOBAL_MEM_FENCE = 1, 2
prange = _jit.prange


class Range(tuple):
    """Sizes of a range of work-items, of one to three axes.

    Examples
    --------
    >>> from unisono.dpctl import dpex
    >>> dpex.Range(4, 2).size
    8
    """

    __slots__ = ()

    def __new__(cls, *sizes):
        if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
            sizes = tuple(sizes[0])
        if not 1 <= len(sizes) <= 3 or any(int(n) != n or n < 0 for n in sizes):
            raise ValueError(f"Range: a range has one to three axes; got {sizes!r}; give sizes")
        return tuple.__new__(cls, map(int, sizes))

    ndim = property(len)

    @property
    def size(self):
        """Number of work-items."""
        made = 1
        for n in self:
            made *= n
        return made


class NdRange:
    """A global range that is divided into work-groups of a local range.

    Parameters
    ----------
    global_size, local_size : Range or sequence of int
    """

    def __init__(self, global_size, local_size):
        self.global_range = Range(*_axes(global_size))
        self.local_range = Range(*_axes(local_size))
        pairs = list(zip(self.global_range, self.local_range, strict=False))
        if len(self.global_range) != len(self.local_range) or any(n < 1 or g % n for g, n in pairs):
            raise ValueError(
                f"NdRange: work-groups do not divide the range; got {tuple(self.global_range)} by "
                f"{tuple(self.local_range)}; round the range up"
            )


def _axes(sizes):
    return tuple(sizes) if isinstance(sizes, (tuple, list)) else (sizes,)


class _Word:
    """Something that is defined inside of kernels only; `dpex` translates it."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **options):
        raise RuntimeError(
            f"dpex.{self._name}: only defined inside of a kernel; got a call from Python; decorate the function with "
            f"@dpex.kernel and launch it"
        )

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _Word(f"{self._name}.{name}")

    def __repr__(self):
        return f"<dpex.{self._name}>"


get_global_id = _Word("get_global_id")
get_local_id = _Word("get_local_id")
get_group_id = _Word("get_group_id")
get_global_size = _Word("get_global_size")
get_local_size = _Word("get_local_size")
get_num_groups = _Word("get_num_groups")
barrier = _Word("barrier")
group_barrier = _Word("group_barrier")
AtomicRef = _Word("AtomicRef")
PrivateArray = _Word("PrivateArray")
atomic = _Word("atomic")
local = _Word("local")
private = _Word("private")
Item = _Word("Item")
NdItem = _Word("NdItem")
Group = _Word("Group")
MemoryOrder = _Word("MemoryOrder")
MemoryScope = _Word("MemoryScope")
AddressSpace = _Word("AddressSpace")
atomic_fence = _Word("atomic_fence")
mem_fence = _Word("mem_fence")

_INDICES = {
    "get_global_id": "global_id", "get_local_id": "local_id", "get_group_id": "group_id", "get_global_size": "global_size",
    "get_local_size": "local_size", "get_num_groups": "num_groups",
}  # fmt: skip
_OF_ITEMS = {
    "get_id": "global_id", "get_global_id": "global_id", "get_local_id": "local_id", "get_group_id": "group_id",
    "get_range": "global_size", "get_global_range": "global_size", "get_local_range": "local_size",
    "get_group_range": "num_groups",
}  # fmt: skip
_LINEAR = {
    "get_linear_id": ("global_id", "global_size"), "get_global_linear_id": ("global_id", "global_size"),
    "get_local_linear_id": ("local_id", "local_size"), "get_group_linear_id": ("group_id", "num_groups"),
}  # fmt: skip
_ATOMICS = {
    "fetch_add": "add", "fetch_sub": "sub", "fetch_min": "min", "fetch_max": "max", "fetch_and": "and_", "fetch_or": "or_",
    "fetch_xor": "xor", "exchange": "exch",
}  # fmt: skip


class _Translation(ast.NodeTransformer):
    """A kernel's tree with dpex's words as those of `unisono.kernel`."""

    def __init__(self, function, axes, accessors, file):
        self.function, self.axes, self.accessors, self.file = function, axes, accessors, file
        self.items, self.groups, self.references = set(), set(), {}
        self.scope = {**function.__globals__}
        cells = function.__closure__ or ()
        for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
            if cell != types.CellType():
                self.scope[name] = cell.cell_contents

    def error(self, node, text, advice):
        return CompileError(
            f"{self.function.__name__}: {text}; got {ast.unparse(node)} in {self.file}:{node.lineno}; {advice}"
        )

    def word(self, e):
        """Name of the word that an expression is, or None."""
        names = []
        while isinstance(e, ast.Attribute):
            names.append(e.attr)
            e = e.value
        if not isinstance(e, ast.Name) or e.id not in self.scope:
            return None
        value = self.scope[e.id]
        for name in reversed(names):
            value = getattr(value, name, None)
        if isinstance(value, _Word):
            return value._name
        module = getattr(value, "__module__", None)
        return f"atomic.{value.__name__}" if module == "unisono.atomic" else None

    def visit_FunctionDef(self, node):
        args = node.args.args
        kept = []
        for a in args:
            if self.items_of(a, args) and a is args[0]:
                self.items.add(a.arg)
            elif a.arg in self.accessors:
                continue
            else:
                a.annotation = None
                kept.append(a)
        first = [
            ast.Assign(
                targets=[_at(ast.Name(id=name, ctx=ast.Store()), node)],
                value=_call(
                    "un.local_array", node, self.shape(s.shape, node), self.dtype(s.dtype, node)
                ),
            )
            for name, s in self.accessors.items()
        ]
        body = [made for s in node.body for made in self.statements(s)]
        node.args.args, node.decorator_list, node.returns = kept, [], None
        node.body = [*(_at(s, node) for s in first), *body]
        return node

    def items_of(self, a, args):
        word = None if a.annotation is None else self.word(a.annotation)
        return word in ("Item", "NdItem") or a.arg in ("item", "nditem", "nd_item", "ndi")

    def statements(self, s):
        made = self.visit(s)
        return made if isinstance(made, list) else [] if made is None else [made]

    def shape(self, sizes, node):
        if len(sizes) == 1:
            return _constant(int(sizes[0]), node)
        return _at(ast.Tuple(elts=[_constant(int(n), node) for n in sizes], ctx=ast.Load()), node)

    def dtype(self, dtype, node):
        return _at(Value(value=dtype.type, ctx=ast.Load()), node)

    def visit_Assign(self, node):
        if (
            len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Call)
        ):
            name, call = node.targets[0].id, node.value
            f = call.func
            if (
                isinstance(f, ast.Attribute)
                and isinstance(f.value, ast.Name)
                and f.value.id in self.items
            ):
                if f.attr == "get_group":
                    self.groups.add(name)
                    return None
            if self.word(f) == "AtomicRef":
                index = [self.visit(e) for e in call.args[1:]] or [_constant(0, node)]
                options = {k.arg: k.value for k in call.keywords}
                if "index" in options:
                    index = [self.visit(options["index"])]
                held = f"index_of_{name}"
                value = (
                    index[0]
                    if len(index) == 1
                    else _at(ast.Tuple(elts=index, ctx=ast.Load()), node)
                )
                self.references[name] = call.args[0], held
                return _at(
                    ast.Assign(
                        targets=[_at(ast.Name(id=held, ctx=ast.Store()), node)], value=value
                    ),
                    node,
                )
        return self.generic_visit(node)

    def visit_Expr(self, node):
        self.generic_visit(node)
        return node if node.value is not None else None

    def axis(self, call):
        if len(call.args) == 1 and isinstance(call.args[0], ast.Constant):
            return call.args[0]
        raise self.error(call, "an axis is a constant", "write 0, 1 or 2")

    def linear(self, word, node):
        of, size = _LINEAR[word]
        made = _call(f"un.{of}", node, _constant(0, node))
        for k in range(1, self.axes):
            scaled = _at(
                ast.BinOp(made, ast.Mult(), _call(f"un.{size}", node, _constant(k, node))), node
            )
            made = _at(
                ast.BinOp(scaled, ast.Add(), _call(f"un.{of}", node, _constant(k, node))), node
            )
        return made

    def is_group(self, e):
        """Whether an expression is ``item.get_group()``."""
        f = e.func if isinstance(e, ast.Call) else None
        is_word = isinstance(f, ast.Attribute) and f.attr == "get_group"
        return is_word and isinstance(f.value, ast.Name) and f.value.id in self.items

    def visit_Call(self, node):
        f = node.func
        if isinstance(f, ast.Attribute) and (
            isinstance(f.value, ast.Name) or self.is_group(f.value)
        ):
            name, attr = getattr(f.value, "id", None), f.attr
            is_group = name is None or name in self.groups
            if name in self.items or is_group:
                if is_group and attr in ("get_local_linear_range",):
                    raise self.error(node, "the word is not known", "use get_local_range")
                if is_group and attr == "get_linear_id":
                    return self.linear("get_group_linear_id", node)
                if attr in _OF_ITEMS:
                    return _call(f"un.{_OF_ITEMS[attr]}", node, self.axis(node))
                if attr in _LINEAR:
                    return self.linear(attr, node)
                raise self.error(node, "the word is not known", "docs/dpctl.md lists the words")
            if name in self.references:
                return self.atomic(node, *self.references[name], attr)
        word = self.word(f)
        if word in _INDICES:
            return _call(f"un.{_INDICES[word]}", node, self.axis(node))
        if word in ("barrier", "group_barrier"):
            return _call("un.barrier", node)
        if word in ("local.array", "private.array", "PrivateArray"):
            given = dict(zip(("shape", "dtype"), node.args, strict=False)) | {
                k.arg: k.value for k in node.keywords
            }
            kind = "un.local_array" if word == "local.array" else "un.private_array"
            return _call(kind, node, given["shape"], given["dtype"])
        if word is not None and word.startswith("atomic."):
            return _call(word, node, *(self.visit(a) for a in node.args))
        if word in ("atomic_fence", "mem_fence"):
            return _call("un.mem_fence", node)
        if word == "AtomicRef":
            raise self.error(
                node,
                "a reference has a name",
                "write ref = AtomicRef(array, index) on a line of its own",
            )
        return self.generic_visit(node)

    def atomic(self, node, array, held, attr):
        index = _at(ast.Name(id=held, ctx=ast.Load()), node)
        values = [self.visit(a) for a in node.args]
        if attr in _ATOMICS and len(values) == 1:
            return _call(f"atomic.{_ATOMICS[attr]}", node, array, index, *values)
        if attr == "load" and not values:
            return _at(ast.Subscript(value=array, slice=index, ctx=ast.Load()), node)
        if attr == "store" and len(values) == 1:
            return _call("atomic.exch", node, array, index, *values)
        raise self.error(
            node,
            "the operation of AtomicRef is not known",
            f"use one of {', '.join(_ATOMICS)}, load, store",
        )


class Kernel:
    """A kernel, launched by `call_kernel` or as ``f[global_range, local_range](...)``; made by `kernel`."""

    def __init__(self, function):
        self.py_func = self.__wrapped__ = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._variants = {}

    def _variant(self, device, axes, args):
        accessors = {}
        names = self.py_func.__code__.co_varnames[: self.py_func.__code__.co_argcount]
        if self._takes_item():
            names = names[1:]
        for name, a in zip(names, args, strict=False):
            if isinstance(a, LocalAccessor):
                accessors[name] = a
        key = device, axes, tuple((n, a.shape, a.dtype) for n, a in accessors.items())
        made = self._variants.get(key)
        if made is None:
            made = self._variants[key] = self._compiled(device, axes, accessors)
        return made

    def _takes_item(self):
        tree = self._read()[0]
        first = tree.args.args[:1]
        translation = _Translation(self.py_func, 1, {}, "")
        return bool(first) and translation.items_of(first[0], first)

    def _read(self):
        from .._jit.source import read_function

        return read_function(self.py_func)

    def _compiled(self, device, axes, accessors):
        definition, file, first_line, lines = self._read()
        made = _Translation(self.py_func, axes, accessors, file).visit(definition)
        ast.fix_missing_locations(made)
        python = _stub(self.py_func, made)

        def flatten(options):
            def flat():
                from .._jit.flatten import _Flattener

                return _Flattener(python, made, file, first_line, lines, True, options).run()

            return flat

        return launches.kernel_of(python, device, {"captures": True}, flatten)

    def _run(self, queue, over, local, args):
        device = next(
            (
                a.device.name
                for a in args
                if isinstance(a, _engine._Array) and a.device.name != "cpu"
            ),
            None,
        )
        if device is None:
            device = queue._device.name
        elif device != queue._device.name:
            queue = get_device_cached_queue(device_of(device))
        made = self._variant(device, len(over), args)
        given = tuple(a for a in args if not isinstance(a, LocalAccessor))
        with queue.statements():
            made[tuple(over), None if local is None else tuple(local)](*given)
        return queue

    def __getitem__(self, launch):
        given = launch if type(launch) is tuple else (launch,)
        if len(given) == 1 and isinstance(given[0], NdRange):
            over, local = given[0].global_range, given[0].local_range
        else:
            over = Range(*_axes(given[0]))
            local = (
                Range(*_axes(given[1])) if len(given) > 1 and given[1] not in ((), None) else None
            )
            if local is not None:
                over, local = (lambda r: (r.global_range, r.local_range))(NdRange(over, local))
        return lambda *args: self._run(get_current_queue(), over, local, args) and None

    def __call__(self, *args):
        raise TypeError(
            f"{self.__name__}: a kernel is launched over a range; got a plain call; write "
            f"dpex.call_kernel({self.__name__}, dpex.Range(n), ...)"
        )

    def __repr__(self):
        return f"<dpex.kernel {self.__name__}>"


def device_of(name):
    """The SyclDevice of a name of the engine."""
    from ._devices import SyclDevice

    return SyclDevice(_engine._find_device(name))


def _stub(function, definition):
    """A function that stands for the translated one and is never run: its parameters are those that are left."""
    code = function.__code__
    names = [a.arg for a in definition.args.args]
    stored = {
        n.id
        for n in ast.walk(definition)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    others = [n for n in dict.fromkeys((*code.co_varnames, *sorted(stored))) if n not in names]
    code = code.replace(
        co_argcount=len(names), co_varnames=(*names, *others), co_nlocals=len(names) + len(others),
    )  # fmt: skip
    return types.FunctionType(
        code, function.__globals__, function.__name__, None, function.__closure__
    )


def kernel(function=None, **options):
    """Compile a kernel of dpex's words.

    Parameters
    ----------
    function : function
    **options
        Without effect.

    Returns
    -------
    Kernel

    Raises
    ------
    CompileError
        When it is launched: what cannot be compiled, with the line.

    Examples
    --------
    >>> import numpy as np
    >>> from unisono.dpctl import dpex
    >>> @dpex.kernel
    ... def add(item, a, b, c):
    ...     i = item.get_id(0)
    ...     c[i] = a[i] + b[i]
    >>> a, c = np.arange(4.0), np.zeros(4)
    >>> dpex.call_kernel(add, dpex.Range(4), a, a, c)
    >>> c.tolist()
    [0.0, 2.0, 4.0, 6.0]
    """
    if function is None or not callable(function):
        return kernel
    return Kernel(function)


def device_func(function=None, **options):
    """A function that kernels call; without items among its parameters."""
    if function is None or not callable(function):
        return device_func
    return _jit.jit(function)


func = device_func


def dpjit(function=None, **options):
    """`unisono.jit`: loops over ``prange`` run where the function's arrays lie."""
    if function is None or not callable(function):
        return dpjit
    return _jit.jit(function)


def call_kernel(kernel_fn, index_space, *kernel_args):
    """Launch a kernel and wait.

    Parameters
    ----------
    kernel_fn : Kernel
    index_space : Range or NdRange
    *kernel_args
        Arrays, numbers, `LocalAccessor`.
    """
    queue = _launched(kernel_fn, index_space, kernel_args)
    if not any(isinstance(a, _engine._Array) for a in kernel_args):
        queue.wait()


def call_kernel_async(kernel_fn, index_space, dependent_events, *kernel_args):
    """Launch a kernel behind events.

    Returns
    -------
    (SyclEvent, SyclEvent)
        Of the host, which has happened, and of the kernel.
    """
    for e in dependent_events:
        e.wait() if e._event is None or e._fills else None
    queue = get_current_queue()
    queue._after([e for e in dependent_events if e._event is not None])
    queue = _launched(kernel_fn, index_space, kernel_args)
    return SyclEvent(), SyclEvent._of(queue._queue, (), dependent_events)


def _launched(kernel_fn, index_space, args):
    if not isinstance(kernel_fn, Kernel):
        raise TypeError(
            f"call_kernel: expected a kernel; got {type(kernel_fn).__name__}; decorate it with @dpex.kernel"
        )
    if isinstance(index_space, NdRange):
        over, local = index_space.global_range, index_space.local_range
    elif isinstance(index_space, Range):
        over, local = index_space, None
    else:
        raise TypeError(
            f"call_kernel: expected a Range or NdRange; got {type(index_space).__name__}"
        )
    return kernel_fn._run(get_current_queue(), over, local, args)


kernel_api = sys.modules[__name__]


def __getattr__(name):
    import unisono as un

    if name in (
        "float32",
        "float64",
        "int32",
        "int64",
        "uint32",
        "uint64",
        "int8",
        "uint8",
        "int16",
        "uint16",
    ):
        return getattr(un, name)
    raise AttributeError(
        f"module 'unisono.dpctl.dpex' has no attribute '{name}'; docs/dpctl.md lists what there is"
    )
