"""Flattens Numba's words: objmode, literal_unroll, chunk sizes, members that programs register."""

from __future__ import annotations

import ast
import sys

from .. import _engine
from .._loaded import loaded
from .._runtime import evaluation
from . import kernel_words, prange
from .desugar import (
    Known,
    Let,
    Value,
    _assign,
    _at,
    _call,
    _constant,
    _copied,
    _known,
    _name,
)  # fmt: skip
from .namespaces import numpy_path
from .signatures import spec_of


class NumbaForms:
    """``resolve``, ``fresh``, ``annotated`` and ``local_types`` are the flattener's."""

    def numba_call(self, e):
        """A call of such a word in simpler ones, or None."""
        member = self.registered_member(e.func, e)
        if member is not None:
            return member
        found, value = self.resolve(e.func)
        if not found:
            return None
        pointers = loaded("unisono._jit.cfunc")
        if pointers is not None and value in (pointers.carray, pointers.farray):
            return self.records_behind(e)
        words = loaded("unisono._jit.numba_words")
        if words is not None:
            if value in (words.literal_unroll, words.literally) and len(e.args) == 1:
                return e.args[0]
            if value in (words.get_parallel_chunksize, words.set_parallel_chunksize):
                return _constant(0, e)
        if value in (evaluation.get_num_threads, evaluation.set_num_threads) and not e.keywords:
            return self.asked_of_python(e, value)
        return self.instance_of_type(e, value)

    def records_behind(self, e):
        """carray of a pointer to records, or to void with the dtype of records; else None."""
        given = dict(zip(("pointer", "shape", "dtype"), e.args, strict=False))
        given.update({k.arg: k.value for k in e.keywords})
        if "pointer" not in given or "shape" not in given:
            return None
        if "dtype" in given:
            dtype = kernel_words.structured(self, given["dtype"])
        else:
            name = getattr(given["pointer"], "id", None)
            dtype = self.options.get("pointers", {}).get(name)
        if dtype is None:
            return None
        dtype = _at(Value(value=dtype, ctx=ast.Load()), e)
        return _call("un.pointed_records", e, given["pointer"], given["shape"], dtype)

    def asked_of_python(self, e, function):
        """A call that the interpreter makes, each time: the answer may change."""
        result = self.fresh("threads")
        args = [self.fresh("given") for _ in e.args]
        before = [_assign(_name(n, e, ast.Store()), a) for n, a in zip(args, e.args, strict=True)]

        def call(*given):
            return (function(*given) or 0,)

        number = _constant(_engine._python_block(call), e)
        asked = _call("python_block", e, number, _constant(result, e), *(_name(n, e) for n in args))
        target = _at(ast.Tuple(elts=[_name(result, e, ast.Store())], ctx=ast.Store()), e)
        self.local_types[result] = spec_of(int, "")
        return _at(Let(body=[*before, _assign(target, asked)], value=_name(result, e)), e)

    # ---- types
    def instance_of_type(self, e, value):
        """isinstance of a kind of un.types, of an argument or a variable, as one of Python's types; else None."""
        if value is not isinstance or len(e.args) != 2 or "unisono.types" not in sys.modules:
            return None
        asked = e.args[1].elts if isinstance(e.args[1], ast.Tuple) else [e.args[1]]
        kinds = [self.resolve(a)[1] for a in asked]
        if not any(hasattr(k, "python") and hasattr(k, "kinds") for k in kinds):
            return None
        tests, left = [], e.args[0]
        for given, kind in zip(asked, kinds, strict=True):
            names = getattr(kind, "python", None)
            plain = [given] if names is None else _type_nodes(names, e)
            if names == ("None",):
                none = _constant(None, e)
                tests.append(_at(ast.Compare(left=left, ops=[ast.Is()], comparators=[none]), e))
                continue
            test = _call("isinstance", e, left, _at(ast.Tuple(elts=plain, ctx=ast.Load()), e))
            if names and "int" in names:  # a bool is no integer of theirs
                is_bool = _call("isinstance", e, left, _at(Known(id="bool", ctx=ast.Load()), e))
                other = _at(ast.UnaryOp(op=ast.Not(), operand=is_bool), e)
                test = _at(ast.BoolOp(op=ast.And(), values=[other, test]), e)
            tests.append(test)
        return tests[0] if len(tests) == 1 else _at(ast.BoolOp(op=ast.Or(), values=tests), e)

    # ---- members
    def registered_member(self, f, e):
        """``x.name`` or ``x.name(...)`` of what overload_method or overload_attribute know; else None."""
        overloads = loaded("unisono._jit.overload")
        if not isinstance(f, ast.Attribute) or hasattr(f, "is_plain") or overloads is None:
            return None
        if not isinstance(f.ctx, ast.Load):  # what is assigned is a field of the object's own
            return None
        is_call = isinstance(e, ast.Call)
        known = overloads.members.get((f.attr, is_call))
        if not known or self.resolve(f)[0]:
            return None
        name = self.fresh("object")
        read = lambda: _name(name, e)  # noqa: E731
        plain = _at(ast.Attribute(value=read(), attr=f.attr, ctx=ast.Load()), e)
        plain.is_plain = True
        if is_call:
            plain = _at(ast.Call(func=plain, args=e.args, keywords=e.keywords), e)
        for kinds, made in known:
            names = _type_nodes(kinds, e)
            test = _call("isinstance", e, read(), _at(ast.Tuple(elts=names, ctx=ast.Load()), e))
            args, keywords = (e.args, e.keywords) if is_call else ([], [])
            function = _at(Value(value=made, ctx=ast.Load()), e)
            call = ast.Call(func=function, args=[read(), *args], keywords=keywords)
            plain = _at(ast.IfExp(test=test, body=_at(call, e), orelse=plain), e)
        return _at(Let(body=[_assign(_name(name, e, ast.Store()), f.value)], value=plain), e)

    def limit(self, e):
        """np.finfo(x.dtype).eps as a choice by the dtype, which is known when it compiles, or None."""
        call = e.value
        if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
            return None
        found, limits = self.resolve(call.func)
        path = numpy_path(limits) if found else None
        if path not in ("finfo", "iinfo"):
            return None
        import numpy

        names = ["float64", "float32"]
        if path == "iinfo":
            names = [f"{u}int{bits}" for u in ("", "u") for bits in (64, 32, 16, 8)]
        last = f"{path}.{e.attr}"  # no dtype has it
        chosen = _at(ast.Attribute(value=call.args[0], attr=last, ctx=e.ctx), e)
        for name in names:
            dtype = getattr(numpy, name)
            limit = getattr(getattr(numpy, path)(dtype), e.attr, None)
            if not isinstance(limit, (int, float, numpy.floating)):
                return None
            if limit <= 2**63 - 1 or isinstance(limit, (float, numpy.floating)):
                kind, value = (_at(Value(value=v, ctx=ast.Load()), e) for v in (dtype, limit))
                test = _at(ast.Compare(call.args[0], [ast.Eq()], [kind]), e)
                chosen = _at(ast.IfExp(test, value, chosen), e)
        return chosen

    # ---- flat, flags, slices
    def flag(self, e):
        """a.flags.c_contiguous as a test of strides, or None."""
        orders = {"contiguous": "C", "c_contiguous": "C", "f_contiguous": "F"}
        owner = e.value
        is_flags = isinstance(owner, ast.Attribute) and owner.attr == "flags" and e.attr in orders
        if not is_flags or self.resolve(owner)[0]:
            return None
        return _known(e, "is_contiguous", owner.value, _constant(orders[e.attr], e))

    def is_flat(self, e):
        owner = e.value
        is_named = isinstance(owner, ast.Attribute) and owner.attr == "flat"
        return is_named and not isinstance(e.slice, ast.Slice) and not self.resolve(owner)[0]

    def flat_element(self, e):
        """a.flat[k] as an element of `a`, or None."""
        if not self.is_flat(e):
            return None
        before = []
        element = self.flat_at(e, before)
        return _at(Let(body=before, value=element), e)

    def flat_at(self, e, before):
        index = self.fresh("i")
        shape = _at(ast.Attribute(value=e.value.value, attr="shape", ctx=ast.Load()), e)
        before.append(
            _assign(_name(index, e, ast.Store()), _known(e, "flat_index", e.slice, shape))
        )
        return _at(ast.Subscript(value=e.value.value, slice=_name(index, e), ctx=e.ctx), e)

    def stored_flat(self, s):
        """``a.flat[k] = x`` and ``+= x`` as statements of an element of `a`, or None."""
        target = s.targets[0] if isinstance(s, ast.Assign) and len(s.targets) == 1 else s
        target = getattr(target, "target", target)
        if not isinstance(target, ast.Subscript) or not self.is_flat(target):
            return None
        before = []
        made = _copied(s)
        element = self.flat_at(target, before)
        if isinstance(s, ast.Assign):
            made.targets = [element]
        else:
            made.target = element
        return [*before, made]

    def written_slice(self, e):
        """a[slice(1, 3)] as a[1:3]; anything else as it is."""
        if self.builtin(e) != "slice" or e.keywords or not 1 <= len(e.args) <= 3:
            return e
        lower, upper, step = ([None, *e.args] if len(e.args) == 1 else e.args)[:3] + [None] * (
            3 - max(len(e.args), 2)
        )
        return _at(ast.Slice(lower=lower, upper=upper, step=step), e)

    # ---- blocks
    def numba_with(self, s, call):
        """The node of a block of Numba's, or None."""
        words = loaded("unisono._jit.numba_words")
        found, value = self.resolve(call.func)
        if words is None or not found:
            return None
        if value is words.objmode and not call.args and all(k.arg for k in call.keywords):
            for k in call.keywords:
                known, type_ = self.annotated(k.value)
                if not known:
                    shown = ast.unparse(k.value)
                    return self.unsupported(
                        k.value, f"the type {shown}", 'write one as "float64[:]"'
                    )
                self.local_types[k.arg] = spec_of(type_, f"{self.name}: objmode({k.arg}=...)")
            return self.python_block(s)
        return None

    def in_chunks(self, s):
        """The statements of ``with parallel_chunksize(n):``, or None."""
        words = loaded("unisono._jit.numba_words")
        if words is None or not self.is_with(s, words.parallel_chunksize):
            return None
        size = s.items[0].context_expr.args
        return _Chunks(self, size[0]).visited(s.body) if len(size) == 1 else None


def _type_nodes(kinds, e):
    """Expressions that name types: by the words of compiled functions, or classes themselves."""
    nodes = [
        Known(id=k, ctx=ast.Load()) if isinstance(k, str) else Value(value=k, ctx=ast.Load())
        for k in kinds
    ]
    return [_at(n, e) for n in nodes]


class _Chunks(ast.NodeTransformer):
    """Loops over prange in chunks of a size."""

    def __init__(self, flattener, size):
        self.flattener, self.size = flattener, size

    def visited(self, body):
        return [self.visit(_copied(s)) for s in body]

    def visit_For(self, node):
        self.generic_visit(node)
        found, value = (
            self.flattener.resolve(node.iter.func) if isinstance(node.iter, ast.Call) else (0, 0)
        )
        if found and value is prange and not node.iter.keywords:
            known = isinstance(self.size, ast.Constant) and self.size.value
            if known:
                given = {"schedule": "dynamic", "chunk": known}.items()
                node.iter.keywords = [
                    _at(ast.keyword(arg=k, value=_constant(v, node)), node) for k, v in given
                ]
        return node
