"""Flattens arrays in Fortran's order: as transposed arrays in C's order; and np.block, as concatenations."""

from __future__ import annotations

import ast

from .desugar import Value, _at, _call, _constant, _tuple

_SHAPED = ("empty", "full", "ones", "zeros")
_CONVERT = ("array", "asarray", "asfortranarray", "copy")
_LIKE = tuple(f"{name}_like" for name in _SHAPED)
_FLAT = ("flatten", "ravel", "reshape")
_FUNCTIONS = frozenset((*_SHAPED, *_CONVERT, *_LIKE, "ravel", "reshape"))
_METHODS = frozenset(("astype", "copy", *_FLAT))


class FortranOrders:
    """``resolve`` is the flattener's."""

    def ordered_call(self, e, found, path):
        """A call that asks for Fortran's order, or None."""
        name = e.func.attr if isinstance(e.func, ast.Attribute) else ""
        if found:
            name = path
            if name not in _FUNCTIONS:
                return None
        elif name not in _METHODS:
            return None
        args, is_wanted = self.without_order(e, name, found)
        keywords = [k for k in e.keywords if k.arg != "order"]
        if name == "asfortranarray" and found:
            is_wanted = True
        if not is_wanted:
            return None
        if found and not args and name not in _SHAPED:
            return None
        if name in _FLAT:
            owner, args = (args[0], args[1:]) if found else (e.func.value, args)
            if name == "reshape" and not args or keywords:
                return None
            return self.as_transposed(e, name, owner, args)
        if not found:
            call = _at(ast.Call(func=e.func, args=args, keywords=keywords), e)
            return self.of_numpy_library(e, "in_fortran_order", call)
        if name in _CONVERT:
            convert = _call("np.asarray", e, *args)
            convert.keywords = [k for k in keywords if k.arg != "copy"]
            is_new = name in ("array", "copy")
            return self.of_numpy_library(
                e, "fortran_copy" if is_new else "in_fortran_order", convert
            )
        if name in _SHAPED and args and isinstance(args[0], (ast.Tuple, ast.List)):
            made = _at(
                ast.Call(func=e.func, args=[_reversed(args[0]), *args[1:]], keywords=keywords), e
            )
            return _transposed(made, e)
        if name in _SHAPED or name in _LIKE:
            made = _at(ast.Call(func=e.func, args=args, keywords=keywords), e)
            return self.of_numpy_library(e, "in_fortran_order", made)
        return None

    def without_order(self, e, name, found):
        """The arguments by position without an order, and whether Fortran's is asked for."""
        order = next((k.value for k in e.keywords if k.arg == "order"), None)
        args, places = list(e.args), {"copy": 0, "flatten": 0, "ravel": 0}
        at = places.get(name, 9) + found
        if order is None and len(args) == at + 1:
            order = args.pop()
        return args, isinstance(order, ast.Constant) and order.value == "F"

    def as_transposed(self, e, name, owner, args):
        """ravel, flatten and reshape in Fortran's order by those in C's of the transposed array."""
        turned = _at(ast.Attribute(value=_transposed(owner, e), attr=name, ctx=ast.Load()), e)
        if name == "reshape":
            shape = args[0] if len(args) == 1 else _tuple(e, *args)
            if not isinstance(shape, (ast.Tuple, ast.List)):
                return None
            args = [_reversed(shape)]
        made = _at(ast.Call(func=turned, args=args, keywords=[]), e)
        return _transposed(made, e) if name == "reshape" else made

    def blocks(self, e):
        """np.block of lists that are written out, or None."""
        depth, inner = 0, e.args[0]
        while isinstance(inner, ast.List) and inner.elts:
            depth, inner = depth + 1, inner.elts[0]
        if len(e.args) != 1 or e.keywords or not 1 <= depth <= 2:
            return None

        def join(items, axis, place):
            return _call("np.concatenate", place, _tuple(place, *items), _constant(axis, place))

        rows = e.args[0].elts if depth == 2 else e.args
        if not all(isinstance(r, ast.List) for r in rows):
            return None
        if any(isinstance(x, (ast.List, ast.Starred)) for r in rows for x in r.elts):
            return None
        least = "with_two_axes" if depth == 2 else "with_one_axis"
        joined = [join([self.of_numpy_library(x, least, x) for x in r.elts], -1, r) for r in rows]
        return join(joined, -2, e) if depth == 2 else joined[0]

    def of_numpy_library(self, e, name, *args):
        from . import numpy_library

        function = _at(Value(value=getattr(numpy_library, name), ctx=ast.Load()), e)
        return _at(ast.Call(func=function, args=list(args), keywords=[]), e)


def _transposed(array, e):
    return _at(ast.Attribute(value=array, attr="T", ctx=ast.Load()), e)


def _reversed(shape):
    return _at(ast.Tuple(elts=shape.elts[::-1], ctx=ast.Load()), shape)
