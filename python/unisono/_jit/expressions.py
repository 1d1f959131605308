"""Flattens expressions."""

from __future__ import annotations

import ast
import enum
import types

from .. import _engine
from . import kernel_words
from .captured import _name_of, is_plain_number, is_taken, known_name
from .desugar import Value, _call
from .walks import Visitors

_EXPRESSIONS = Visitors("expression_")

BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
_COMPARE = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


_SORTS = ("sort", "argsort")  # stable here, which is more than any kind asks for
_NEW = {
    f"{name}{like}" for name in ("zeros", "ones", "empty", "full") for like in ("", "_like")
} | {"array"}


# Those of method_library.py, which is loaded when one of them is first called.
_METHODS = frozenset(
    (
        "bit_count count decode difference encode endswith expandtabs find hex index intersection "
        "is_integer isdisjoint issubset issuperset join lower lstrip partition replace rfind rindex "
        "rpartition rstrip split startswith strip symmetric_difference to_bytes tolist translate "
        "union update upper"
    ).split()
)
_TAKE_ITEMS = {"extend", "update", "union", "intersection", "difference", "join"}


class Expressions:
    """``node``, ``captured`` and ``resolve`` are the flattener's."""

    def expression(self, e):
        method = getattr(self, _EXPRESSIONS[e.__class__], None)
        return method(e) if method else self.unsupported(e)

    def expression_Constant(self, e):
        value = e.value
        if is_plain_number(value):
            return self.node(e, "Const", value=value)
        return self.captured(e, repr(value), value)

    def expression_Name(self, e):
        if e.id in self.locals:
            if not self.has_functions_inside():
                return self.node(e, "Name", text=e.id)
            if self.generator_inside(e.id) is not None:
                return self.unsupported(
                    e,
                    "a generator in another place than a loop, or with a yield whose value is used,",
                    f"write `for x in {e.id}(...)`, or fill a list and return it",
                )
            names = self.names_written_by(e.id) if isinstance(e.ctx, ast.Load) else ()
            if names and not hasattr(e, "is_called"):
                return self.odd_writer(e, names, "as a value")
            # A function defined inside reads names of ours where it is called.
            names = self.names_read_by(e.id) if isinstance(e.ctx, ast.Load) else ()
            if e.id in self.expanding:
                return self.unsupported(
                    e,
                    f"functions inside that call each other in a circle, as '{e.id}' does,",
                    "make them one function with a flag, or write a loop",
                )
            is_inside = self.around is not None and isinstance(e.ctx, ast.Load)
            odd = self.odd_reader(e) if is_inside else None
            if odd is not None:
                return odd
            self.expanding = (*self.expanding, e.id) if names else self.expanding
            node = self.node(e, "Name", self.captured_values(names, e), e.id)
            self.expanding = self.expanding[:-1] if names else self.expanding
            return node
        if self.is_itself(e.id):
            if self.written and not hasattr(e, "is_called"):
                return self.odd_writer(e, self.written, "as a value")
            return self.node(e, "Function", text=e.id, value=-1)
        place = self.number_around(e.id)
        if place is not None:
            return self.name_of_array(e, _name_of(*place, self.function), place)
        found, value = self.resolve(e)
        if not found:
            advice = "use range" if e.id == "xrange" else "is it spelled right?"
            return self.node(e, "Opaque", text=e.id, value=f"it is not defined; {advice}")
        if is_taken(value) and self.takes_arrays:
            return self.captured_array(e, value)
        return self.captured(e, e.id, value)

    def expression_Attribute(self, e):
        found, value = self.resolve(e)
        if found and is_taken(value) and self.takes_arrays:
            return self.captured_array(e, value)
        if found:
            return self.captured(e, ast.unparse(e), value)
        plain = self.class_name(e)
        if plain is not None:
            return plain
        word = kernel_words.attribute(self, e)
        if word is not None:
            return self.expression(word)
        member = self.registered_member(e, e) or self.flag(e) or self.limit(e)
        if member is not None:
            return self.expression(member)
        named, owner = self.resolve(e.value)[1], e.value
        if isinstance(named, types.ModuleType):
            why = f"module '{named.__name__}' has no '{e.attr}'; is it spelled right?"
            return self.node(e, "Opaque", text=ast.unparse(e), value=why)
        if e.attr in getattr(named, "_variables", ()):
            return self.unsupported(
                e,
                f"the variable '{e.attr}' of C text",
                "read and write it in a C function of the text, and call that",
            )
        if hasattr(named, "_holds_compiled_functions"):
            why = f"{named!r} has no function '{e.attr}'; is it spelled right?"
            return self.node(e, "Opaque", text=ast.unparse(e), value=why)
        if e.attr == "data" and isinstance(owner, ast.Attribute) and owner.attr == "ctypes":
            return self.node(e, "Attribute", [self.expression(owner.value)], "ctypes.data")
        return self.node(e, "Attribute", [self.expression(e.value)], e.attr)

    def expression_BinOp(self, e):
        plain = self.percent_format(e)
        if plain is not None:
            return self.expression(plain)
        if self.options.get("cdivision") and isinstance(e.op, (ast.FloorDiv, ast.Mod)):
            from . import c_division

            made = c_division.quotient if isinstance(e.op, ast.FloorDiv) else c_division.remainder
            function = ast.copy_location(Value(value=made, ctx=ast.Load()), e)
            call = ast.Call(func=function, args=[e.left, e.right], keywords=[])
            return self.expression(ast.copy_location(call, e))
        children = [self.expression(e.left), self.expression(e.right)]
        return self.node(e, "BinOp", children, BINARY[type(e.op)])

    def expression_UnaryOp(self, e):
        value = getattr(e.operand, "value", None) if isinstance(e.op, ast.USub) else None
        if type(value) is int and value >= 2**63:
            return self.captured(e, repr(-value), -value)
        return self.node(e, "UnaryOp", [self.expression(e.operand)], _UNARY[type(e.op)])

    def expression_BoolOp(self, e):
        if any(map(self.may_assign, e.values[1:])):
            return self.chosen_in_branches(e)
        text = "and" if isinstance(e.op, ast.And) else "or"
        return self.node(e, "BoolOp", map(self.expression, e.values), text)

    def expression_Compare(self, e):
        known = [self.resolve(c)[1] for c in (e.left, *e.comparators)]
        equal = isinstance(e.ops[0], (ast.Eq, ast.Is))
        if len(known) == 2 and all(
            isinstance(v, enum.Enum) and not isinstance(v, int) for v in known
        ):
            if equal or isinstance(e.ops[0], (ast.NotEq, ast.IsNot)):
                return self.captured(e, "a comparison", (known[0] is known[1]) == equal)
        if any(isinstance(self.resolve(c)[1], enum.Enum) for c in e.comparators):
            equal = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}  # there is one object of each value
            e.ops = [equal.get(type(op), type(op))() for op in e.ops]
        plain = self.in_range(e) or self.compared_dtypes(e)
        if plain is not None:
            return self.expression(plain)
        plain = self.compared_types(e)
        if plain is not None:
            return plain
        if any(map(self.may_write, e.comparators[1:])):
            return self.odd_writer(e, (), "called in a chain of comparisons")
        text = " ".join(_COMPARE[type(op)] for op in e.ops)
        return self.node(e, "Compare", map(self.expression, [e.left, *e.comparators]), text)

    def compared_dtypes(self, e):
        """``x.dtype == "f4"`` with a dtype in place of its name, or None."""
        sides = [e.left, *e.comparators]
        names = [s.value for s in sides if isinstance(s, ast.Constant) and isinstance(s.value, str)]
        if len(names) != 1 or not any(getattr(s, "attr", "") == "dtype" for s in sides):
            return None
        import numpy as np

        try:
            known = np.dtype(names[0]).type
        except TypeError:
            return None
        value = ast.copy_location(Value(value=known, ctx=ast.Load()), e)
        e.left, *e.comparators = [value if isinstance(s, ast.Constant) else s for s in sides]
        return e

    def expression_IfExp(self, e):
        if self.may_assign(e.body) or self.may_assign(e.orelse):
            return self.chosen_in_branches(e)
        return self.node(e, "IfExp", map(self.expression, [e.test, e.body, e.orelse]))

    def expression_Known(self, e):
        return self.node(e, "Builtin", text=e.id)

    def expression_Let(self, e):
        return self.node(e, "Let", [self.block(e.body), self.expression(e.value)])

    def expression_Call(self, e):
        if isinstance(e.func, (ast.Name, ast.Attribute)):
            found, value = self.resolve(e.func)
            if found and isinstance(value, enum.EnumMeta):
                from .enum_library import member_of

                made = member_of(value) if len(e.args) == 1 and not e.keywords else None
                if made is not None:
                    call = ast.Call(func=self.library(e, made), args=e.args, keywords=[])
                    return self.expression(ast.copy_location(call, e))
                return self.unsupported(
                    e, "finding a member of an Enum", "name it, as in Color.RED"
                )
        word = kernel_words.call(self, e)
        if word is not None:
            return self.expression(word)
        self.write_key(e)
        node = self.is_exception(e)
        if node is not None:
            return node
        plain = (
            self.named_call(e)
            or self.reduced(e)
            or self.mapped(e)
            or self.folded(e)
            or self.table_call(e)
            or self.formed_call(e)
            or self.slice_call(e)
        )
        if plain is not None:
            return self.expression(plain)
        if self.range_call(e) and not hasattr(e, "is_counted") and not self.is_kernel:
            return self.range_value(e)
        writing = self.writing_call(e)
        if writing is not None:
            return writing
        reading = self.reading_call(e)
        if reading is not None:
            return reading
        odd = self.odd_iterator(e)
        if odd is not None:
            return odd
        takes_items = isinstance(e.func, ast.Attribute) and e.func.attr in _TAKE_ITEMS
        takes_items = takes_items or self.is_compiled(e.func)
        args = [
            ast.copy_location(ast.ListComp(elt=a.elt, generators=a.generators), a)
            if isinstance(a, ast.GeneratorExp)
            else self.as_list(a)
            if takes_items and self.is_lazy(a)
            else a
            for a in e.args
        ]
        if self.is_array_function(e.func):
            args = [self.as_tuple(a) for a in args]
        func = self.method(e.func) or self.expression(e.func)
        if self.builtin(e) == "sorted":
            from .library import sorted_by, sorted_list

            has_key = any(k.arg == "key" for k in e.keywords)
            func = self.captured(e.func, "sorted", sorted_by if has_key else sorted_list)
        children = [func, *map(self.expression, args)]
        for k in e.keywords:
            if k.arg is None:
                return self.unsupported(
                    k.value,
                    "** of names that are not known when compiling",
                    "name each argument, or write the dict in the call",
                )
            if self.says_nothing(e, k):
                continue
            children.append(self.node(k, "Keyword", [self.expression(k.value)], k.arg))
        return self.node(e, "Call", children)

    def is_compiled(self, f):
        """Whether a call of it goes to a compiled function, which takes iterators as lists."""
        found, value = (
            self.resolve(f) if isinstance(f, (ast.Name, ast.Attribute)) else (False, None)
        )
        return found and isinstance(self.compiled_form(value), _engine.Dispatcher)

    def method(self, f):
        """A method that the library has for types without one of their own; None for any other."""
        if not isinstance(f, ast.Attribute) or f.attr not in _METHODS or self.is_kernel:
            return None
        if self.resolve(f)[0]:
            return None
        from .method_library import methods

        children = [self.expression(f.value), self.captured(f, f.attr, methods[f.attr])]
        return self.node(f, "Attribute", children, f.attr)

    def says_nothing(self, e, k):
        """Whether compiled code does the same without the keyword: new arrays are in C order there."""
        value = k.value.value if isinstance(k.value, ast.Constant) else None
        found, function = self.resolve(e.func)
        if not found:  # a method
            name = e.func.attr if isinstance(e.func, ast.Attribute) else ""
            orders = {"astype", "copy", "flatten", "ravel", "reshape"}
            is_order = k.arg == "order" and value == "C" and name in orders
            return is_order or (k.arg == "kind" and name in _SORTS and value is not None)
        name = (known_name(function) or "") if k.arg in ("order", "kind", "copy") else ""
        if not name.startswith(("np.", "un.")):
            return False
        base = name[3:]
        if k.arg == "order":
            return base in _NEW and value in ("C", "F", "K", "A")
        return value is True and base == "array" if k.arg == "copy" else base in _SORTS

    def is_array_function(self, e):
        """Whether a call of it takes sequences as NumPy does: lists are tuples to it."""
        found, value = self.resolve(e)
        name = known_name(value) if found else None
        return name is not None and name.startswith(("np.", "un."))

    def as_tuple(self, e):
        if not isinstance(e, ast.List) or any(isinstance(i, ast.Starred) for i in e.elts):
            return e
        items = [self.as_tuple(i) for i in e.elts]
        return ast.copy_location(ast.Tuple(elts=items, ctx=ast.Load()), e)

    def expression_Subscript(self, e):
        item = self.captured_item(e)
        if item is not None:
            return item
        found, value = self.resolve(e.value)
        if found and isinstance(value, enum.EnumMeta):
            name = e.slice.value if isinstance(e.slice, ast.Constant) else None
            if name in value.__members__:  # known now: devices have no text
                member = ast.Attribute(value=e.value, attr=name, ctx=ast.Load())
                return self.expression(ast.copy_location(member, e))
            from .enum_library import member_named

            function = self.library(e, member_named(value))
            call = ast.Call(func=function, args=[e.slice], keywords=[])
            return self.expression(ast.copy_location(call, e))
        flat = self.flat_element(e) or self.ordered_subscript(e)
        flat = flat or self.joined(e) or self.flag_item(e)
        if flat is not None:
            return self.expression(flat)
        text = "iteration" if getattr(e, "is_iteration", False) else ""
        return self.node(e, "Subscript", [self.expression(e.value), *self.index(e.slice)], text)

    def library(self, at, function):
        """A name of a compiled function of ours."""
        return ast.copy_location(Value(value=function, ctx=ast.Load()), at)

    def index(self, e):
        e = self.constant_key(e)
        items = e.elts if isinstance(e, ast.Tuple) and e.elts else [e]
        return [
            self.node(item, "Builtin", text="Ellipsis")
            if isinstance(item, ast.Constant) and item.value is ...
            else self.expression(self.index_array(item))
            for item in items
        ]

    def index_array(self, e):
        """a[[0, 2]] as a[np.array([0, 2])]"""
        e = self.written_slice(e)
        if not isinstance(e, ast.List) or not e.elts or self.is_kernel:
            return e
        return _call("np.array", e, e)

    def expression_Slice(self, e):
        none = ast.copy_location(ast.Constant(value=None), e)
        parts = (e.lower or none, e.upper or none, e.step or none)
        return self.node(e, "Slice", map(self.expression, parts))

    def expression_List(self, e):
        if any(isinstance(i, ast.Starred) for i in e.elts) and not self.is_kernel:
            return self.expression(self.list_with_stars(e))
        return self.node(e, "List", map(self.expression, e.elts))

    def expression_ListComp(self, e):
        return self.expression(self.filled_list(e))

    def expression_NamedExpr(self, e):
        children = [self.expression(e.target), self.expression(e.value)]
        return self.node(e, "NamedExpr", children)

    def expression_JoinedStr(self, e):
        parts = []
        for v in e.values:
            if isinstance(v, ast.Constant):
                parts.append(self.node(v, "Text", text=v.value))
                continue
            spec, value, shown = v.format_spec, v.value, v.conversion
            if shown == ord("a"):
                return self.unsupported(v, "!a in a format", "write !r")
            if spec and shown != -1:  # the text is what the format is for
                value = _call("repr" if shown == ord("r") else "str", v, value)
                shown = -1
            children, text = [self.expression(value)], ""
            if spec and all(isinstance(s, ast.Constant) for s in spec.values):
                text = "".join(s.value for s in spec.values)
            elif spec:
                children.append(self.expression_JoinedStr(ast.copy_location(spec, v)))
            shown = {ord("r"): "r", ord("s"): "s"}.get(shown)
            parts.append(self.node(v, "FormattedValue", children, text, shown))
        return self.node(e, "Format", parts)

    def expression_Starred(self, e):
        return self.node(e, "Starred", [self.expression(e.value)])

    def expression_Tuple(self, e):
        return self.node(e, "Tuple", map(self.expression, e.elts))


def name_at(name, place):
    return ast.copy_location(ast.Name(id=name, ctx=ast.Load()), place)
