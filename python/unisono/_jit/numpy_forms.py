"""Flattens forms of NumPy that others express: np.r_, dtypes of values, addresses, arrays of sequences."""

from __future__ import annotations

import ast

from .captured import known_name
from .desugar import Let, Value, _assign, _at, _call, _constant, _name, _tuple
from .fortran_orders import FortranOrders
from .namespaces import numpy_path

_MAKES = ("array", "asarray")
_JOINS = ("column_stack", "concatenate", "hstack", "stack", "vstack")
_REDUCES = frozenset("all any argmax argmin max mean median min prod std sum var".split())
_OF_ROWS = frozenset((*_MAKES, *_JOINS)) | _REDUCES


class NumpyForms(FortranOrders):
    """``resolve``, ``fresh``, ``builtin`` and ``range_call`` are the flattener's."""

    names_of_made_lists = None

    def numpy_call(self, e):
        """A call in simpler ones, or None."""
        found, value = self.resolve(e.func)
        path = numpy_path(value) if found else None
        if self.is_type_of_dtype(e.func) and len(e.args) == 1 and not e.keywords:
            made = _call("np.full", e, _constant(1, e), e.args[0], e.func.value)
            return _at(ast.Subscript(value=made, slice=_constant(0, e), ctx=ast.Load()), e)
        ordered = self.ordered_call(e, found, path)
        if ordered is not None:
            return ordered
        if path is None or not e.args:
            return self.numbers_of_dtype(e, value) if found else None
        if path == "block":
            return self.blocks(e)
        first = e.args[0]
        if path in _MAKES and self.range_call(first) and len(e.args) == 1:
            function = _call("np.arange", e).func
            return _at(ast.Call(func=function, args=first.args, keywords=e.keywords), e)
        if path in _OF_ROWS:
            return self.array_of_rows(e, path)
        if path == "dtype" and len(e.args) == 1 and not e.keywords:
            known, dtype = self.limits(e)
            if known:
                return _at(Value(value=dtype, ctx=ast.Load()), e)
            return first if isinstance(first, ast.Attribute) and first.attr == "dtype" else None
        if path == "delete" and len(e.args) >= 2 and self.builtin(e.args[1]) == "slice":
            return self.without_slice(e)
        if path == "fromiter":
            return self.array_of_items(e)
        if path in ("linalg.norm", "linalg.svd"):
            return self.of_matrix(e, path)
        return self.numbers_of_dtype(e, value)

    def of_matrix(self, e, path):
        """A norm of an order, or singular values without vectors: functions of their own; else None."""
        from .numpy_linalg import implementations

        given = {k.arg: k.value for k in e.keywords} | dict(zip(("x", "ord"), e.args, strict=False))
        if path == "linalg.norm":
            is_default = isinstance(given.get("ord"), ast.Constant) and given["ord"].value is None
            if set(given) != {"x", "ord"} or len(e.args) > 2 or is_default:
                return None
            return _called(implementations["norm"], e, given["x"], given["ord"])
        wants_vectors = given.get("compute_uv")
        if not isinstance(wants_vectors, ast.Constant) or wants_vectors.value:
            return None
        return _called(implementations["svdvals"], e, given["x"])

    def numbers_of_dtype(self, e, value):
        """np.float32([x, y]) as an array that is converted, or None."""
        first = e.args[0] if len(e.args) == 1 and not e.keywords else None
        is_dtype = isinstance(first, ast.List) and (known_name(value) or "").startswith("dtype:")
        if not is_dtype:
            return None
        return self.converted(_call("np.array", e, first), e.func, e)

    def array_of_rows(self, e, name):
        """np.array(rows), np.vstack(rows)... by the library where the rows are a list of lists or arrays, or None."""
        rows, rest = e.args[0], e.args[1:]
        named = {k.arg: k.value for k in e.keywords}
        dtype = None
        if name in _MAKES:
            dtype = rest[0] if len(rest) == 1 else named.pop("dtype", None)
        if name in _JOINS:
            axis = named.pop("axis", None)
            if axis is not None and getattr(axis, "value", None) != 0:
                return None
        is_odd = name not in _REDUCES and (named or len(rest) > (name in _MAKES))
        is_list = _is_list(rows) or (isinstance(rows, ast.Name) and self.may_be_list(rows, name))
        if hasattr(e, "is_plain") or self.is_kernel or is_odd or not is_list:
            return None
        from .rows_library import of_lists, rows_of

        before = []
        if not isinstance(rows, ast.Name):
            held = self.fresh("rows")
            before = [_assign(_name(held, e, ast.Store()), rows)]
            rows = _name(held, e)
        other = _called(of_lists.get(name, rows_of), e, rows)
        if name in _REDUCES:
            other = _at(ast.Call(func=e.func, args=[other, *rest], keywords=e.keywords), e)
        if dtype is not None:
            other = self.converted(other, dtype, e)
        plain = _at(ast.Call(func=e.func, args=[rows, *rest], keywords=e.keywords), e)
        plain.is_plain = True
        chosen = _at(ast.IfExp(test=_call("holds_objects", e, rows), body=other, orelse=plain), e)
        return _at(Let(body=before, value=chosen), e) if before else chosen

    def may_be_list(self, e, function):
        """Whether the function makes a list of that name, or takes one to make an array of it."""
        if function in _MAKES and any(a.arg == e.id for a in self.definition.args.args):
            return True
        if self.names_of_made_lists is None:
            self.names_of_made_lists = {
                t.id
                for s in ast.walk(self.definition)
                if isinstance(s, ast.Assign)
                and (_is_list(s.value) or isinstance(s.value, ast.List))
                for t in s.targets
                if isinstance(t, ast.Name)
            }
        return e.id in self.names_of_made_lists

    def is_type_of_dtype(self, f):
        """Whether it is ``x.dtype.type`` of a value."""
        inner = f.value if isinstance(f, ast.Attribute) and f.attr == "type" else None
        return isinstance(inner, ast.Attribute) and inner.attr == "dtype" and not self.resolve(f)[0]

    def converted(self, array, dtype, e):
        function = _at(ast.Attribute(value=array, attr="astype", ctx=ast.Load()), e)
        return _at(ast.Call(func=function, args=[dtype], keywords=[]), e)

    def without_slice(self, e):
        """np.delete(a, slice(i, j)) by the indices of the slice."""
        axis = next((k.value for k in e.keywords if k.arg == "axis"), (*e.args, None, None)[2])
        name = self.fresh("array")
        read = lambda attr: _at(  # noqa: E731
            ast.Attribute(value=_name(name, e), attr=attr, ctx=ast.Load()), e
        )
        length = read("size")
        if axis is not None:
            length = _at(ast.Subscript(value=read("shape"), slice=axis, ctx=ast.Load()), e)
        places = _call("np.arange", e, length)
        places = _at(
            ast.Subscript(value=places, slice=self.written_slice(e.args[1]), ctx=ast.Load()), e
        )
        args = [_name(name, e), places, *e.args[2:]]
        call = _at(ast.Call(func=e.func, args=args, keywords=e.keywords), e)
        return _at(Let(body=[_assign(_name(name, e, ast.Store()), e.args[0])], value=call), e)

    def array_of_items(self, e):
        """np.fromiter(items, dtype) as an array of a list."""
        given = dict(zip(("iter", "dtype", "count"), e.args, strict=False))
        given |= {k.arg: k.value for k in e.keywords}
        if not {"iter", "dtype"} <= set(given) <= {"iter", "dtype", "count"}:
            return None
        name, items = self.fresh("x"), given["iter"]
        if not isinstance(items, (ast.GeneratorExp, ast.ListComp)):
            loop = ast.comprehension(
                target=_name(name, e, ast.Store()), iter=items, ifs=[], is_async=0
            )
            items = _at(ast.ListComp(elt=_name(name, e), generators=[loop]), e)
        listed = _at(ast.ListComp(elt=items.elt, generators=items.generators), e)
        if "count" in given:
            first = _at(ast.Slice(lower=None, upper=given["count"], step=None), e)
            listed = _at(ast.Subscript(value=listed, slice=first, ctx=ast.Load()), e)
        return self.converted(_call("np.array", e, listed), given["dtype"], e)

    def joined(self, e):
        """np.r_[...] and np.c_[...] as calls of functions, or None."""
        found, value = self.resolve(e.value)
        path = numpy_path(value) if found else None
        if path not in ("r_", "c_"):
            return None
        import numpy

        kind = numpy.concatenate if path == "r_" else numpy.column_stack
        parts = []
        for item in e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]:
            if isinstance(item, ast.Slice):
                zero, one = _constant(0, e), _constant(1, e)
                step = item.step or one
                if item.upper is None or isinstance(getattr(step, "value", 0), complex):
                    return None
                item = _call("np.arange", e, item.lower or zero, item.upper, step)
            else:
                item = _called(numpy.atleast_1d, e, item)
            parts.append(item)
        return _called(kind, e, _tuple(e, *parts))

    def flag_item(self, e):
        """a.flags["C_CONTIGUOUS"] as the attribute, or None."""
        key = e.slice.value if isinstance(e.slice, ast.Constant) else None
        is_flags = isinstance(e.value, ast.Attribute) and e.value.attr == "flags"
        if not is_flags or not isinstance(key, str) or self.resolve(e.value)[0]:
            return None
        return _at(ast.Attribute(value=e.value, attr=key.lower(), ctx=ast.Load()), e)


def _is_list(e):
    """An expression that makes a list that is not written item by item."""
    if isinstance(e, ast.BinOp):
        return isinstance(e.left, ast.List) or isinstance(e.right, ast.List)
    return isinstance(e, ast.ListComp)


def _called(function, e, *args):
    value = _at(Value(value=function, ctx=ast.Load()), e)
    return _at(ast.Call(func=value, args=list(args), keywords=[]), e)


def _called(function, e, *arguments):
    named = _at(Value(value=function, ctx=ast.Load()), e)
    return _at(ast.Call(func=named, args=[*arguments], keywords=[]), e)
