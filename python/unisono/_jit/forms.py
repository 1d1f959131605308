"""Rewrites calls and operators of Python that others express: formats, ranges as values, rounding."""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
import string
import sys

from .attributes import attribute_call
from .desugar import (
    Known,
    Let,
    Value,
    _assign,
    _at,
    _call,
    _call_of,
    _constant,
    _integer,
    _name,
)

_SPEC = re.compile(
    r"%(?:%|(?P<flags>[-+ 0#]*)(?P<width>\d*)(?:\.(?P<digits>\d+))?(?P<kind>[diueEfFgGxXosrc]))"
)
_ITERATORS = ("range", "enumerate", "zip", "reversed")
_TAKE_ALL = ("list", "sum", "min", "max", "any", "all", "sorted")
_EMPTY = {
    "list": lambda: ast.List(elts=[], ctx=ast.Load()),
    "tuple": lambda: ast.Tuple(elts=[], ctx=ast.Load()),
    "str": lambda: ast.Constant(value=""),
    "int": lambda: ast.Constant(value=0),
    "float": lambda: ast.Constant(value=0.0),
    "bool": lambda: ast.Constant(value=False),
}


class Forms:
    """``builtin``, ``fresh`` and ``expression`` are the flattener's."""

    # ---- formats
    def percent_format(self, e):
        """``"%d of %s" % (n, name)`` as an f-string, or None."""
        left = e.left
        if not isinstance(e.op, ast.Mod) or not isinstance(left, ast.Constant):
            return None
        if hasattr(e, "takes_apart"):
            return None
        if not isinstance(left.value, str):
            return None
        is_many = isinstance(e.right, ast.Tuple)
        values = list(e.right.elts) if is_many else [e.right]
        parts, at = [], 0
        for found in re.finditer(r"%", left.value):
            if found.start() < at:
                continue
            spec = _SPEC.match(left.value, found.start())
            if spec is None:
                return None
            parts.append(left.value[at : found.start()])
            at = spec.end()
            if spec.group() == "%%":
                parts.append("%")
                continue
            if not values:
                return None
            parts.append(_formatted(e, values.pop(0), spec))
        if values:
            return None
        made = _joined(e, [*parts, left.value[at:]])
        if is_many or not isinstance(e.right, ast.Name):
            return made
        # A name may stand for a tuple, which % takes apart.
        raw = _at(ast.BinOp(left=left, op=e.op, right=e.right), e)
        raw.takes_apart = True
        kind = _at(Known(id="tuple", ctx=ast.Load()), e)
        test = _call("isinstance", e, e.right, kind)
        return _at(ast.IfExp(test=test, body=raw, orelse=made), e)

    def text_format(self, e):
        """``"{} {:.3f}".format(...)`` as an f-string, or None."""
        function = e.func
        if not isinstance(function, ast.Attribute) or function.attr != "format":
            return None
        text = function.value
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            return None
        named = {k.arg: k.value for k in e.keywords}
        parts, number = [], 0
        try:
            pieces = list(string.Formatter().parse(text.value))
        except ValueError:
            return None
        for before, name, spec, conversion in pieces:
            parts.append(before)
            if name is None:
                continue
            if name == "":
                name, number = str(number), number + 1
            value = named.get(name)
            if name.isdigit() and int(name) < len(e.args):
                value = e.args[int(name)]
            if value is None or "{" in spec or isinstance(value, ast.Starred):
                return None
            spec = _at(ast.JoinedStr(values=[_constant(spec, e)]), e) if spec else None
            shown = ord(conversion) if conversion else -1
            parts.append(
                _at(ast.FormattedValue(value=value, conversion=shown, format_spec=spec), e)
            )
        return _joined(e, parts)

    # ---- ranges as values
    def range_call(self, e):
        is_range = self.builtin(e) == "range" and not e.keywords and 1 <= len(e.args) <= 3
        return is_range and not any(isinstance(a, ast.Starred) for a in e.args)

    def range_value(self, e):
        """range(...) as an object that is a value of its bounds and step."""
        from .slice_library import whole_step

        begin, end, step = self.parts_of_range(e)
        if not isinstance(step, ast.Constant) or step.value == 0:
            step = _call_of(whole_step, e, step)
        parts = [self.expression(p) for p in (begin, end, step)]
        return self.node(e, "Call", [self.class_node(e, "range", range), *parts])

    def in_range(self, e):
        """``i in range(...)`` as comparisons, or None."""
        if len(e.ops) != 1 or not isinstance(e.ops[0], (ast.In, ast.NotIn)):
            return None
        given = e.comparators[0]
        if not self.range_call(given):
            return None
        from .library import in_range

        begin, *others = given.args if len(given.args) > 1 else [_constant(0, e), *given.args]
        function = _at(Value(value=in_range, ctx=ast.Load()), e)
        test = ast.Call(func=function, args=[e.left, begin, *others], keywords=[])
        if isinstance(e.ops[0], ast.NotIn):
            test = ast.UnaryOp(op=ast.Not(), operand=_at(test, e))
        return _at(test, e)

    # ---- calls
    def formed_call(self, e):
        """Calls that others express, or None."""
        plain = (
            self.text_format(e)
            or self.typed_container(e)
            or self.getter(e)
            or self.first_item(e)
            or self.library_call(e)
            or self.numba_call(e)
            or self.numpy_call(e)
            or attribute_call(self, e)
            or self.sum_of_lists(e)
        )
        if plain is not None:
            return plain
        name = self.builtin(e)
        if name == "sum" and len(e.args) == 1 and [k.arg for k in e.keywords] == ["start"]:
            given = [e.args[0], e.keywords[0].value]
            return _at(ast.Call(func=e.func, args=given, keywords=[]), e)
        if name in _EMPTY and not e.args and not e.keywords:
            return _at(_EMPTY[name](), e)
        if name in ("bytes", "bytearray") and not e.keywords:
            plain = self.made_bytes(e, name)
            if plain is not None:
                return plain
        plain_argument = len(e.args) == 1 and not isinstance(e.args[0], ast.Starred)
        if name == "repr" and plain_argument and not e.keywords:
            shown = ast.FormattedValue(value=e.args[0], conversion=ord("r"), format_spec=None)
            return _joined(e, [_at(shown, e)])
        if name == "format" and len(e.args) == 2 and not e.keywords:
            spec = ast.FormattedValue(value=e.args[1], conversion=-1, format_spec=None)
            if isinstance(e.args[1], ast.Constant):
                spec = e.args[1]
            held = _at(ast.JoinedStr(values=[_at(spec, e)]), e)
            return _joined(
                e, [_at(ast.FormattedValue(value=e.args[0], conversion=-1, format_spec=held), e)]
            )
        if name == "isinstance" and len(e.args) == 2 and isinstance(e.args[1], ast.BinOp):
            types = _at(ast.Tuple(elts=_joined_types(e.args[1]), ctx=ast.Load()), e)
            return _at(ast.Call(func=e.func, args=[e.args[0], types], keywords=[]), e)
        if name == "tuple" and len(e.args) == 1 and isinstance(e.args[0], ast.List):
            return _at(ast.Tuple(elts=e.args[0].elts, ctx=ast.Load()), e)
        if name in ("tuple", "frozenset") and len(e.args) == 1 and not e.keywords:
            made = self.made_to_be_read(e, name)
            if made is None and name == "tuple":
                made = self.grown_tuple(e)
            if made is not None:
                return made
        plain = self.method_of_class(e) or self.sorted_in_place(e)
        if plain is not None:
            return plain
        if name == "print" and any(isinstance(a, ast.Starred) for a in e.args):
            return self.starred_print(e)
        named = [k.arg for k in e.keywords]
        if name == "round" and (len(e.args), named) in ((2, []), (1, ["ndigits"])):
            return self.rounded(e)
        if name == "len" and len(e.args) == 1 and self.range_call(e.args[0]):
            before = []
            length, _ = self.iteration_of_range(e.args[0], before)
            return _at(Let(body=before, value=length), e) if before else length
        takes = name in ("len", *_TAKE_ALL) and len(e.args) == 1
        flat = e.args[0] if takes and isinstance(e.args[0], ast.Attribute) else None
        if flat is not None and flat.attr == "flat" and not self.resolve(flat)[0]:
            whole = _at(ast.Attribute(value=flat.value, attr="ravel", ctx=ast.Load()), e)
            whole = _at(ast.Call(func=whole, args=[], keywords=[]), e)
            return _at(ast.Call(func=e.func, args=[whole], keywords=e.keywords), e)
        takes = name in (*_TAKE_ALL, "tuple") and e.args
        if takes and len(e.args) == 1 and name != "tuple" and self.is_lazy(e.args[0]):
            made = self.as_list(e.args[0])
            if name == "list":
                return made
            return _at(ast.Call(func=e.func, args=[made], keywords=e.keywords), e)
        if name in ("max", "min") and len(e.args) == 1 and not e.keywords:
            plain = self.extreme_of_objects(e, name)
            if plain is not None:
                return plain
        default = next((k.value for k in e.keywords if k.arg == "default"), None)
        if name in ("min", "max") and default is not None and len(e.args) == 1:
            return self.extreme_or(e, name, default)
        if name in ("min", "max") and e.keywords:
            return self.extreme_by(e, name)
        return None

    def made_to_be_read(self, e, name):
        """A list for a tuple and a set for a frozenset, of which nothing but the items is read, or None."""
        given = e.args[0]
        is_tuple = name == "tuple" and isinstance(given, ast.Tuple)
        if not self.gives_items(e) or is_tuple or isinstance(given, ast.Starred):
            return None
        if isinstance(given, ast.GeneratorExp) or self.is_lazy(given):
            given = self.as_list(given)
        return _call("set" if name == "frozenset" else "tuple_items", e, given)

    def grown_tuple(self, e):
        """tuple(x for x in items) as a tuple that a loop, which runs once for each item, adds to; or None."""
        given = e.args[0]
        if self.builtin(given) == "map" or self.is_lazy(given):
            given = self.mapped(given) or self.as_list(given)
        is_made = isinstance(given, (ast.GeneratorExp, ast.ListComp))
        if not is_made or len(given.generators) != 1 or given.generators[0].ifs:
            return None
        result = self.fresh("tuple")
        store = lambda: _name(result, e, ast.Store())  # noqa: E731
        grown = _assign(store(), _call("tuple_grown", e, _name(result, e), given.elt))
        loop = self.generated(e, given.generators, [grown])
        empty = _at(ast.Tuple(elts=[], ctx=ast.Load()), e)
        return _at(Let(body=[_assign(store(), empty), *loop], value=_name(result, e)), e)

    def as_list(self, e):
        """Its items, as a list comprehension."""
        item = self.fresh("x")
        loop = ast.comprehension(target=_name(item, e, ast.Store()), iter=e, ifs=[], is_async=0)
        return _at(ast.ListComp(elt=_name(item, e), generators=[loop]), e)

    def with_listed(self, s):
        """``a[i:] = reversed(a[i:])`` with a list of the items."""
        target = s.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            s = _at(ast.Assign(targets=s.targets, value=self.as_list(s.value)), s)
        return s

    def is_lazy(self, e):
        """Whether it gives items one by one: range(n), enumerate(x), a call of a generator, product(x, y)."""
        if self.builtin(e) in _ITERATORS or self.generator_of(e) is not None:
            return True
        found, value = self.resolve(e.func) if isinstance(e, ast.Call) else (False, None)
        return found and getattr(itertools, getattr(value, "__name__", ""), None) is value

    def made_bytes(self, e, name):
        """bytes() and bytearray() of nothing, of what gives items one by one, of a text; else None."""
        known = _name(name, e)
        if not e.args:
            empty = _at(ast.Tuple(elts=[], ctx=ast.Load()), e)
            return _at(ast.Call(func=known, args=[empty], keywords=[]), e)
        given = e.args[0]
        if len(e.args) == 2:
            from .bytes_library import encode

            made = _call_of(encode, e, *e.args)
            return _at(ast.Call(func=known, args=[made], keywords=[]), e)
        if isinstance(given, ast.GeneratorExp) or self.is_lazy(given):
            return _at(ast.Call(func=known, args=[self.as_list(given)], keywords=[]), e)
        return None

    def method_of_class(self, e):
        """dict.fromkeys(keys, value) as a dict that is written, int.from_bytes by the library; or None."""
        f = e.func
        if isinstance(f, ast.Attribute) and f.attr == "from_bytes":
            found, value = self.resolve(f.value)
            if found and value is int:
                from .bytes_library import from_bytes

                call = _call_of(from_bytes, e, *e.args)
                call.keywords = e.keywords
                return call
        if not isinstance(f, ast.Attribute) or f.attr != "fromkeys" or len(e.args) != 2:
            return None
        found, value = self.resolve(f.value)
        if not found or value is not dict or e.keywords:
            return None
        key, held = self.fresh("v"), self.fresh("v")
        loop = ast.comprehension(
            target=_name(key, e, ast.Store()), iter=e.args[0], ifs=[], is_async=0
        )
        made = ast.DictComp(key=_name(key, e), value=_name(held, e), generators=[loop])
        given = _assign(_name(held, e, ast.Store()), e.args[1])
        return _at(Let(body=[given], value=_at(made, e)), e)

    def sorted_in_place(self, e):
        """items.sort(key=f) as a call of the library, or None."""
        is_sort = isinstance(e.func, ast.Attribute) and e.func.attr == "sort" and not e.args
        names = {k.arg for k in e.keywords}
        if not is_sort or not names <= {"key", "reverse"} or hasattr(e, "is_plain"):
            return None
        if "key" not in names:
            return self.sorted_objects(e)
        from .library import sort_by

        function = _at(Value(value=sort_by, ctx=ast.Load()), e)
        return _at(ast.Call(func=function, args=[e.func.value], keywords=e.keywords), e)

    def sorted_objects(self, e):
        """items.sort() by the library where the items may be objects with an order of their own, or None."""
        owner = e.func.value
        classes = [c for c in self.function.__globals__.values() if isinstance(c, type)]
        if not isinstance(owner, ast.Name) or not any("__lt__" in vars(c) for c in classes):
            return None
        from .library import sort_objects

        function = _at(Value(value=sort_objects, ctx=ast.Load()), e)
        other = _at(ast.Call(func=function, args=[owner], keywords=e.keywords), e)
        e.is_plain = True
        test = _call("holds_instances", e, owner)
        return _at(ast.IfExp(test=test, body=other, orelse=e), e)

    def getter(self, e):
        """operator.itemgetter and attrgetter of constants as lambdas, or None."""
        found, value = self.resolve(e.func)
        getters = (operator.itemgetter, operator.attrgetter)
        if not found or not e.args or not any(value is g for g in getters):
            return None
        keys = [a for a in e.args if isinstance(a, ast.Constant) or _integer(a) is not None]
        if e.keywords or len(keys) != len(e.args):
            return None
        item = self.fresh("x")
        read = lambda: _name(item, e)  # noqa: E731
        if value is operator.itemgetter:
            parts = [ast.Subscript(value=read(), slice=k, ctx=ast.Load()) for k in keys]
        else:
            if not all(isinstance(k.value, str) and k.value.isidentifier() for k in keys):
                return None
            parts = [ast.Attribute(value=read(), attr=k.value, ctx=ast.Load()) for k in keys]
        parts = [_at(p, e) for p in parts]
        body = parts[0] if len(parts) == 1 else _at(ast.Tuple(elts=parts, ctx=ast.Load()), e)
        given = ast.arguments(
            posonlyargs=[], args=[ast.arg(arg=item)], kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        return _at(ast.Lambda(args=given, body=body), e)

    def typed_container(self, e):
        """List(x), Dict.empty(...) of unisono.typed as a list, dict or set that is written, or None."""
        if "unisono.typed" not in sys.modules:
            return None
        from ..typed import Dict, List, Set

        made = isinstance(e.func, ast.Attribute) and e.func.attr in ("empty", "empty_list")
        found, value = self.resolve(e.func.value if made else e.func)
        if not found or not any(value is kind for kind in (Dict, List, Set)):
            return None
        if made or not e.args:
            if value is Set:
                return _at(ast.Set(elts=[]), e)
            empty = (
                ast.Dict(keys=[], values=[]) if value is Dict else ast.List(elts=[], ctx=ast.Load())
            )
            return _at(empty, e)
        builtin = _name({Dict: "dict", List: "list", Set: "set"}[value], e)
        return _at(ast.Call(func=builtin, args=e.args, keywords=[]), e)

    def rounded(self, e):
        """round(x, digits) by the library."""
        digits = e.args[1] if len(e.args) == 2 else e.keywords[0].value
        if isinstance(digits, ast.Constant) and digits.value is None:
            return _call("round", e, e.args[0])
        from .math_library import rounded

        function = _at(Value(value=rounded, ctx=ast.Load()), e)
        return _at(ast.Call(func=function, args=[e.args[0], digits], keywords=[]), e)

    def library_call(self, e):
        """str.maketrans, pow of three numbers and int of a text in a base by the library, or None."""
        name = self.builtin(e)
        if name == "int" and len(e.args) == 2 and not e.keywords:
            return _call("int_of_text", e, *e.args)
        if name == "pow" and len(e.args) == 3 and not e.keywords:
            from .math_library import modular_power

            function = modular_power
        elif self.resolve(e.func)[1] is math.hypot and self.is_norm(e):
            from .math_library import hypot as function
        elif len(e.args) == 1 and isinstance(e.args[0], ast.Starred) and not e.keywords:
            value = self.resolve(e.func)[1]  # as many integers as there are
            if value is not math.gcd and value is not math.lcm:
                return None
            from .math_library import gcd_of, lcm_of

            function = gcd_of if value is math.gcd else lcm_of
            e = _at(ast.Call(func=e.func, args=[e.args[0].value], keywords=[]), e)
        elif isinstance(e.func, ast.Attribute) and e.func.attr == "maketrans":
            found, value = self.resolve(e.func.value)
            if not found or value is not str:
                return None
            from .method_library import maketrans as function
        else:
            return None
        return _at(
            ast.Call(
                func=_at(Value(value=function, ctx=ast.Load()), e), args=e.args, keywords=e.keywords
            ),
            e,
        )

    @staticmethod
    def is_norm(e):
        """Whether a call of hypot gives another number of coordinates than two."""
        return len(e.args) != 2 or any(isinstance(a, ast.Starred) for a in e.args)

    def extreme_or(self, e, name, default):
        """min and max with default=: of a list, whose length is asked."""
        kept, others = self.fresh("x"), [k for k in e.keywords if k.arg != "default"]
        items = self.as_list(e.args[0])
        read = _name(kept, e)
        call = _at(ast.Call(func=e.func, args=[read], keywords=others), e)
        choice = _at(ast.IfExp(test=_call("len", e, read), body=call, orelse=default), e)
        return _at(Let(body=[_assign(_name(kept, e, ast.Store()), items)], value=choice), e)

    def compared_types(self, e):
        """``type(x) is T`` and the like, decided when types are; None for other comparisons."""
        if len(e.ops) != 1 or self.builtin(e.left) != "type" or len(e.left.args) != 1:
            return None
        op, other = e.ops[0], e.comparators[0]
        is_choice = isinstance(op, (ast.In, ast.NotIn))
        if not is_choice and not isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            return None
        if is_choice and not isinstance(other, ast.Tuple):
            return None
        kinds = other.elts if is_choice else [other]
        tests = []
        for kind in kinds:
            if self.builtin(kind) == "type" and len(kind.args) == 1:
                kind = kind.args[0]
                nodes = [self.expression(x) for x in (e.left.args[0], kind)]
                text = "same_type"
            else:
                if not self.resolve(kind)[0]:
                    return None
                nodes = [self.expression(e.left.args[0]), self.expression(kind)]
                text = "type_is"
            tests.append(self.node(e, "Call", [self.node(e, "Builtin", text=text), *nodes]))
        test = tests[0] if len(tests) == 1 else self.node(e, "BoolOp", tests, "or")
        is_negated = isinstance(op, (ast.IsNot, ast.NotEq, ast.NotIn))
        return self.node(e, "UnaryOp", [test], "not") if is_negated else test

    def extreme_by(self, e, name):
        """min and max with key=."""
        from .library import max_by, min_by

        if not e.args or [k.arg for k in e.keywords] != ["key"]:
            return None
        function = Value(value=max_by if name == "max" else min_by, ctx=ast.Load())
        items = e.args[0]
        if len(e.args) > 1:
            items = _at(ast.List(elts=e.args, ctx=ast.Load()), e)
        method = items.func if isinstance(items, ast.Call) and not items.args else None
        if isinstance(method, ast.Attribute) and method.attr in ("items", "keys", "values"):
            items = self.as_list(items)
        return _at(
            ast.Call(func=_at(function, e), args=[items, e.keywords[0].value], keywords=[]), e
        )

    def expression_Value(self, e):
        return self.captured(e, getattr(e.value, "__name__", repr(e.value)), e.value)


def _joined_types(e):
    """int | float as [int, float]"""
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.BitOr):
        return [*_joined_types(e.left), *_joined_types(e.right)]
    return [e]


def _joined(e, parts):
    values = [_constant(p, e) if isinstance(p, str) else p for p in parts]
    return _at(ast.JoinedStr(values=[v for v in values if getattr(v, "value", 1) != ""]), e)


def _formatted(e, value, spec):
    kind, flags = spec["kind"], spec["flags"]
    width, digits = spec["width"], spec["digits"]
    if kind in "sr":
        if kind == "r" or not width:
            shown = ast.FormattedValue(value=value, conversion=ord(kind), format_spec=None)
            return _at(shown, e)
        value = _call("str", e, value)
    if kind == "c" and isinstance(value, (ast.Name, ast.Constant, ast.Subscript)):
        # Of a text of one character, or of a number.
        is_text = _call("isinstance", e, value, _at(Known(id="str", ctx=ast.Load()), e))
        value, kind = _at(ast.IfExp(is_text, value, _call("chr", e, value)), e), "s"
    if kind in "diu":
        value, kind = _call("int", e, value), "d"
    side = "<" if "-" in flags else ">" if width and ("0" not in flags or kind in "sr") else ""
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and not side else ""
    letter = "" if kind in "sr" else kind
    text = f"{side}{sign}{zero}{width}{'.' + digits if digits else ''}{letter}"
    if kind == "s" and digits:
        text = f"{side}{width}.{digits}"
    held = _at(ast.JoinedStr(values=[_constant(text, e)]), e)
    return _at(ast.FormattedValue(value=value, conversion=-1, format_spec=held), e)
