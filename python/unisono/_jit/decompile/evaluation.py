"""Runs a block's instructions on a stack of syntax trees, and gives the statements that they are."""

from __future__ import annotations

import ast
import sys
import types

from .blocks import Block, Unreadable
from .markers import Caught, Entered, Function, Imported, Item, Loop, Part, Raised, Saved, Unpacked
from .trees import constant, fill, is_same_place, slice_of

_OPERATORS = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "@": ast.MatMult, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
_COMPARISONS = {
    "<": ast.Lt,
    "<=": ast.LtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
    ">": ast.Gt,
    ">=": ast.GtE,
}
_UNARY = {"UNARY_NEGATIVE": ast.USub, "UNARY_INVERT": ast.Invert, "UNARY_NOT": ast.Not}
_NULL = object()
_ENTERED = object()  # what a ``with`` gives to the name behind ``as``


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


class Evaluation:
    """Of one code object."""

    def __init__(self, code, read_function):
        self.code, self.read_function = code, read_function
        self.caught = set()  # names of handlers, which forget the exception at their end
        self.declared = {}  # names assigned in scopes around: "global" or "nonlocal"
        self.stack, self.statements, self.block = [], [], None
        self.pairs, self.is_swapped, self.keywords, self.line = [], False, (), None
        self.split = None  # the instructions behind the end of a loop

    def run(self, block, stack):
        """Evaluate a block; the stack of its end, in `block.stack`, is what those behind it find."""
        self.stack, self.statements, self.block = list(stack), [], block
        self.pairs, self.is_swapped = [], False
        instructions = block.instructions
        for k, instruction in enumerate(instructions):
            if instruction.positions and instruction.positions.lineno:
                self.line = instruction.positions.lineno
            self.split = None
            self._step(instruction)
            if self.split is not None:
                self._leave(block, instructions[k + 1 :])
                break
        if self.pairs:
            raise Unreadable("an assignment that ends in another block")
        if block.kind in ("test", "and", "or"):
            block.value = self._pop()
        elif block.kind == "for":
            loop = self.stack[-1]
            if not isinstance(loop, Loop):
                raise Unreadable("FOR_ITER")
            loop.header = block
            if isinstance(self.stack[-2] if len(self.stack) > 1 else None, _COMPREHENSIONS):
                loop.made = self.stack[-2]
            block.value = loop
        block.line = block.line or self.line
        block.statements, block.stack, block.is_done = self.statements, self.stack, True

    def _leave(self, block, rest):
        if self.split == "with":
            self._enter(block, rest)
            return
        behind = Block(block.offset + 0.5, rest)
        behind.kind, behind.targets, behind.line = block.kind, block.targets, block.line
        behind.fallen, behind.through, behind.is_chained = (
            block.fallen,
            block.through,
            block.is_chained,
        )
        behind.jumps = block.jumps
        if rest or block.kind != "jump":
            block.targets = [behind]
        kind = "leave" if isinstance(self.split, Entered) else "break"
        block.kind, block.value, block.instructions = kind, self.split, []

    def _enter(self, block, rest):
        behind = Block(block.offset + 0.5, rest)
        behind.kind, behind.targets, behind.line = block.kind, block.targets, block.line
        behind.fallen, behind.through, behind.is_chained = (
            block.fallen,
            block.through,
            block.is_chained,
        )
        behind.jumps = block.jumps
        block.kind, block.targets, block.value = "with", [behind], self.stack[-2]

    def _pop(self):
        if not self.stack:
            raise Unreadable("an empty stack")
        return self.stack.pop()

    def _expression(self):
        value = self._pop()
        if not isinstance(value, ast.expr):
            raise Unreadable(type(value).__name__)
        return value

    def _several(self, count):
        if count == 0:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        if len(values) < count or not all(isinstance(v, ast.expr) for v in values):
            raise Unreadable("operands")
        return values

    def _push(self, value):
        self.stack.append(value)

    def _emit(self, statement):
        statement.lineno = self.line
        self.statements.append(statement)

    def _step(self, instruction):
        name = instruction.opname
        method = getattr(self, "_do_" + name.lower(), None)
        if method is None:
            raise Unreadable(name)
        method(instruction)

    # What is read

    def _do_load_const(self, instruction):
        value = instruction.argval
        self._push(value if isinstance(value, types.CodeType) else constant(value))

    def _do_extended_arg(self, instruction):
        pass  # the next instruction has it

    def _do_load_fast(self, instruction):
        if instruction.argval == ".0":
            self._push(Loop(ast.Name(".0", ast.Load())))
            return
        self._push(ast.Name(instruction.argval, ast.Load()))

    _do_load_deref = _do_load_fast_check = _do_load_name = _do_load_fast
    _do_load_fast_borrow = _do_load_fast

    def _do_load_fast_load_fast(self, instruction):
        for name in instruction.argval:
            self._push(ast.Name(name, ast.Load()))

    _do_load_fast_borrow_load_fast_borrow = _do_load_fast_load_fast

    def _do_load_small_int(self, instruction):
        self._push(ast.Constant(instruction.arg))

    def _do_load_global(self, instruction):
        if instruction.arg & 1:
            self._push(_NULL)
        self._push(ast.Name(instruction.argval, ast.Load()))

    def _do_load_closure(self, instruction):
        self._push(ast.Name(instruction.argval, ast.Load()))

    def _do_load_attr(self, instruction):
        if sys.version_info >= (3, 12) and instruction.arg & 1:
            self._do_load_method(instruction)
            return
        value = self._expression()
        self._push(ast.Attribute(value, instruction.argval, ast.Load()))

    def _do_load_method(self, instruction):
        value = self._expression()
        self._push(_NULL)
        self._push(ast.Attribute(value, instruction.argval, ast.Load()))

    def _do_load_assertion_error(self, instruction):
        self._push(ast.Name("AssertionError", ast.Load()))
        self.stack[-1].is_assertion = True

    def _do_push_null(self, instruction):
        self._push(_NULL)

    # The stack itself

    def _do_pop_top(self, instruction):
        value = self._pop()
        if isinstance(value, Loop):
            if not (self.stack and isinstance(self.stack[-1], ast.expr)):  # else it returns that
                self.split = value
        elif isinstance(value, ast.Yield) and self.code.co_name == "<genexpr>":
            self._emit(ast.Expr(value.value))
            self.statements[-1].is_item = True
        elif isinstance(value, ast.expr):
            self._emit(ast.Expr(value))
        elif isinstance(value, Entered):
            self.split = value
        elif isinstance(value, Raised) or value is _ENTERED:
            pass
        elif isinstance(value, Imported):
            self._emit(ast.ImportFrom(value.name, value.names, value.level))
        elif value is not _NULL:
            raise Unreadable("POP_TOP")

    def _do_return_generator(self, instruction):
        self._push(_NULL)  # dropped by what follows

    def _do_yield_value(self, instruction):
        self._push(ast.Yield(self._expression()))

    def _do_copy(self, instruction):
        self._push(self.stack[-instruction.arg])

    def _do_swap(self, instruction):
        k = -instruction.arg
        self.stack[-1], self.stack[k] = self.stack[k], self.stack[-1]
        if (
            not self.pairs
            and isinstance(self.stack[-1], ast.expr)
            and isinstance(self.stack[k], ast.expr)
        ):
            self.is_swapped = True

    def _do_load_fast_and_clear(self, instruction):
        self._push(Saved())

    def _starts_comprehension(self, kind):
        """Since 3.12: what a comprehension fills is made between its iterator and what the name had before."""
        if len(self.stack) < 2 or not isinstance(self.stack[-1], Loop):
            return False
        if not isinstance(self.stack[-2], Saved):
            return False
        self._push(kind(generators=[]))
        return True

    # Operators

    def _do_binary_op(self, instruction):
        right, left = self._expression(), self._expression()
        sign = instruction.argrepr
        value = ast.BinOp(left, _OPERATORS[sign.removesuffix("=")](), right)
        value.in_place = sign.endswith("=")
        if sign == "[]":
            raise Unreadable(sign)
        self._push(value)

    def _do_binary_subscr(self, instruction):
        index, value = self._expression(), self._expression()
        self._push(ast.Subscript(value, index, ast.Load()))

    def _do_binary_slice(self, instruction):
        value, lower, upper = self._several(3)
        self._push(ast.Subscript(value, slice_of(lower, upper), ast.Load()))

    def _do_unary_negative(self, instruction):
        self._push(ast.UnaryOp(_UNARY[instruction.opname](), self._expression()))

    _do_unary_invert = _do_unary_not = _do_unary_negative

    def _do_unary_positive(self, instruction):
        self._push(ast.UnaryOp(ast.UAdd(), self._expression()))

    def _do_to_bool(self, instruction):
        pass

    def _do_compare_op(self, instruction):
        right, left = self._expression(), self._expression()
        sign = instruction.argval.removeprefix("bool(").removesuffix(")")
        self._push(ast.Compare(left, [_COMPARISONS[sign]()], [right]))

    def _do_is_op(self, instruction):
        right, left = self._expression(), self._expression()
        self._push(ast.Compare(left, [ast.IsNot() if instruction.arg else ast.Is()], [right]))

    def _do_contains_op(self, instruction):
        right, left = self._expression(), self._expression()
        self._push(ast.Compare(left, [ast.NotIn() if instruction.arg else ast.In()], [right]))

    def _do_pop_jump_forward_if_none(self, instruction):
        # The test of both forms is "is None": the block's targets know which way it jumps.
        self._push(ast.Compare(self._expression(), [ast.Is()], [ast.Constant(None)]))

    _do_pop_jump_forward_if_not_none = _do_pop_jump_forward_if_none
    _do_pop_jump_backward_if_none = _do_pop_jump_backward_if_not_none = _do_pop_jump_forward_if_none
    _do_pop_jump_if_none = _do_pop_jump_if_not_none = _do_pop_jump_forward_if_none

    def _do_build_slice(self, instruction):
        self._push(slice_of(*self._several(instruction.arg)))

    # Displays

    def _do_build_tuple(self, instruction):
        values = self.stack[len(self.stack) - instruction.arg :]
        self._push(ast.Tuple(self._several(len(values)), ast.Load()))

    def _do_build_list(self, instruction):
        if instruction.arg == 0 and self._starts_comprehension(ast.ListComp):
            return
        self._push(ast.List(self._several(instruction.arg), ast.Load()))

    def _do_build_set(self, instruction):
        if instruction.arg == 0 and self._starts_comprehension(ast.SetComp):
            return
        self._push(ast.Set(self._several(instruction.arg)))

    def _do_build_map(self, instruction):
        if instruction.arg == 0 and self._starts_comprehension(ast.DictComp):
            return
        values = self._several(2 * instruction.arg)
        self._push(ast.Dict(values[::2], values[1::2]))

    def _do_build_const_key_map(self, instruction):
        keys = self._expression().elts
        self._push(ast.Dict(keys, self._several(len(keys))))

    def _do_list_extend(self, instruction):
        more, into = self._expression(), self.stack[-instruction.arg]
        if isinstance(more, (ast.Tuple, ast.Set)) and not into.elts:
            into.elts.extend(more.elts)
        else:
            into.elts.append(ast.Starred(more, ast.Load()))

    _do_set_update = _do_list_extend

    def _do_list_append(self, instruction):
        value, into = self._expression(), self.stack[-instruction.arg]
        if isinstance(self.stack[-1], Loop):  # of a comprehension
            self._emit(ast.Expr(value))
            self.statements[-1].is_item = True
        else:
            into.elts.append(value)

    _do_set_add = _do_list_append

    def _do_list_to_tuple(self, instruction):
        self._push(ast.Tuple(self._expression().elts, ast.Load()))

    def _do_dict_update(self, instruction):
        more, into = self._expression(), self.stack[-instruction.arg]
        into.keys.append(None)
        into.values.append(more)

    _do_dict_merge = _do_dict_update

    def _do_map_add(self, instruction):
        value, key, into = self._expression(), self._expression(), self.stack[-instruction.arg]
        if isinstance(self.stack[-1], Loop):
            self._emit(ast.Expr(ast.Tuple([key, value], ast.Load())))
            self.statements[-1].is_item = True
        else:
            into.keys.append(key)
            into.values.append(value)

    def _do_format_value(self, instruction):
        spec = self._expression() if instruction.arg & 4 else None
        conversion = {0: -1, 1: ord("s"), 2: ord("r"), 3: ord("a")}[instruction.arg & 3]
        self._formatted(self._expression(), conversion, spec)

    def _formatted(self, value, conversion, spec):
        if spec is not None and not isinstance(spec, ast.JoinedStr):
            spec = ast.JoinedStr([spec])
        self._push(ast.JoinedStr([ast.FormattedValue(value, conversion, spec)]))

    def _do_format_simple(self, instruction):
        value = self._pop()
        conversion = -1
        if isinstance(value, tuple):
            value, conversion = value
        self._formatted(value, conversion, None)

    def _do_format_with_spec(self, instruction):
        spec, value = self._expression(), self._pop()
        conversion = -1
        if isinstance(value, tuple):
            value, conversion = value
        self._formatted(value, conversion, spec)

    def _do_convert_value(self, instruction):
        self._push((self._expression(), {1: ord("s"), 2: ord("r"), 3: ord("a")}[instruction.arg]))

    def _do_build_string(self, instruction):
        parts = []
        for value in self._several(instruction.arg):
            parts += value.values if isinstance(value, ast.JoinedStr) else [value]
        self._push(ast.JoinedStr(parts))

    # Calls

    def _do_kw_names(self, instruction):
        self.keywords = self.code.co_consts[instruction.arg]

    def _do_call(self, instruction):
        self._call(instruction.arg, self.keywords)
        self.keywords = ()

    def _do_call_kw(self, instruction):
        names = tuple(c.value for c in self._expression().elts)
        self._call(instruction.arg, names)

    def _call(self, count, names):
        values = self._several(count)
        split = len(values) - len(names)
        keywords = [ast.keyword(n, v) for n, v in zip(names, values[split:], strict=True)]
        self._push(self._of_called(values[:split], keywords))

    def _of_called(self, args, keywords):
        # A callable and NULL, in this order since 3.13, or a callable and its first argument.
        second, first = self._pop(), self._pop()
        if first is _NULL or second is _NULL:
            called = second if first is _NULL else first
        else:
            called, args = first, [second, *args]
        if isinstance(called, Function):
            return self._comprehension(called, args)
        if isinstance(called, Entered) and len(args) == 3:
            return called  # dropped, and the block ends
        if not isinstance(called, ast.expr):
            raise Unreadable("CALL")
        if len(args) == 1 and isinstance(args[0], Function) and not keywords:
            args[0].decorators.insert(0, called)
            return args[0]
        if not all(isinstance(a, ast.expr) for a in args):
            raise Unreadable("arguments")
        return ast.Call(called, args, keywords)

    def _do_call_function_ex(self, instruction):
        named = self._expression() if instruction.arg & 1 else ast.Dict([], [])
        args = self._expression()
        args = (
            args.elts
            if isinstance(args, (ast.Tuple, ast.List))
            else [ast.Starred(args, ast.Load())]
        )
        if not isinstance(named, ast.Dict):
            raise Unreadable("CALL_FUNCTION_EX")
        keywords = [
            ast.keyword(k.value if k else None, v)
            for k, v in zip(named.keys, named.values, strict=True)
        ]
        self._push(self._of_called(args, keywords))

    # Functions inside

    def _do_make_function(self, instruction):
        code, flags = self._pop(), instruction.arg or 0
        if not isinstance(code, types.CodeType):
            raise Unreadable("MAKE_FUNCTION")
        if flags & 8:
            self._pop()
        annotations = self._expression() if flags & 4 else None
        named = self._expression() if flags & 2 else None
        defaults = self._expression() if flags & 1 else None
        function = Function(code, defaults.elts if defaults else [], named, annotations)
        is_lambda = code.co_name == "<lambda>"
        self._push(self.read_function(function.code, function) if is_lambda else function)

    def _do_set_function_attribute(self, instruction):
        function, value = self._pop(), self._pop()
        flag = instruction.arg
        if isinstance(function, ast.Lambda):
            if flag != 8:
                raise Unreadable("a lambda with defaults")
        elif flag == 1:
            function.defaults = value.elts
        elif flag == 2:
            function.keyword_defaults = value
        elif flag == 4:
            function.annotations = value
        self._push(function)

    def _do_call_intrinsic_1(self, instruction):
        if instruction.arg == 5:
            self._do_unary_positive(instruction)
        elif instruction.arg == 6:
            self._do_list_to_tuple(instruction)
        else:
            raise Unreadable("CALL_INTRINSIC_1")

    def _comprehension(self, function, args):
        kinds = {"<listcomp>": ast.ListComp, "<setcomp>": ast.SetComp, "<dictcomp>": ast.DictComp}
        kinds["<genexpr>"] = ast.GeneratorExp
        kind = kinds.get(function.code.co_name)
        if kind is None or len(args) != 1 or not isinstance(args[0], Loop):
            raise Unreadable("a comprehension")
        made = kind(generators=[])
        fill(made, self.read_function(function.code, function).body[0], args[0].iterable)
        return made

    # What is written

    def _store(self, target):
        value = self._pop()
        is_kept = bool(self.stack) and self.stack[-1] is value and isinstance(value, ast.expr)
        if is_kept and not self.pairs:
            self.stack[-1] = ast.NamedExpr(target, value)
        else:
            self._assign(target, value)

    def _assign(self, target, value):
        if isinstance(value, Part):
            unpacked = value.unpacked
            unpacked.targets[value.index] = target
            if None in unpacked.targets:
                return
            if unpacked.starred is not None:
                k = unpacked.starred
                unpacked.targets[k] = ast.Starred(unpacked.targets[k], ast.Store())
            self._assign(ast.Tuple(unpacked.targets, ast.Store()), unpacked.value)
        elif isinstance(value, Item):
            value.loop.target = target
        elif isinstance(value, Saved):
            pass
        elif isinstance(value, Raised):
            self._emit(ast.Pass())
            self.statements[-1].caught_as = target.id
            self.caught.add(target.id)
        elif value is _ENTERED:
            self.stack[-1].target = target
        elif isinstance(value, Function):
            self._emit(self.read_function(value.code, value, target.id))
        elif isinstance(value, Imported):
            self._import(target.id, value)
        elif isinstance(value, ast.expr):
            self._pair(target, value)
        else:
            raise Unreadable("an assignment")

    def _pair(self, target, value):
        is_none = isinstance(value, ast.Constant) and value.value is None
        if is_none and not self.pairs and isinstance(target, ast.Name) and target.id in self.caught:
            self._emit(ast.Assign([target], value))
            return
        self.pairs.append((target, value))
        if self.stack and isinstance(self.stack[-1], ast.expr):
            return  # of several values: a, b = b, a
        pairs, self.pairs = self.pairs, []
        if len(pairs) > 1:
            pairs = pairs if self.is_swapped else pairs[::-1]
            target = ast.Tuple([t for t, _ in pairs], ast.Store())
            value = ast.Tuple([v for _, v in pairs], ast.Load())
        self.is_swapped = False
        operation = getattr(value, "in_place", False)
        if operation and is_same_place(target, value.left):
            self._emit(ast.AugAssign(target, value.op, value.right))
            return
        targets = [target]
        while isinstance(value, ast.NamedExpr):
            targets.insert(0, value.target)
            value = value.value
        self._emit(ast.Assign(targets, value))

    def _do_store_fast(self, instruction):
        self._store(ast.Name(instruction.argval, ast.Store()))

    def _do_store_fast_store_fast(self, instruction):
        for name in instruction.argval:
            self._store(ast.Name(name, ast.Store()))

    def _do_store_fast_load_fast(self, instruction):
        stored, loaded = instruction.argval
        self._store(ast.Name(stored, ast.Store()))
        self._push(ast.Name(loaded, ast.Load()))

    def _do_store_deref(self, instruction):
        if instruction.argval in self.code.co_freevars:
            self.declared[instruction.argval] = "nonlocal"
        self._do_store_fast(instruction)

    def _do_store_global(self, instruction):
        self.declared[instruction.argval] = "global"
        self._do_store_fast(instruction)

    def _do_store_subscr(self, instruction):
        index, value = self._expression(), self._expression()
        self._store(ast.Subscript(value, index, ast.Store()))

    def _do_store_slice(self, instruction):
        value, lower, upper = self._several(3)
        self._store(ast.Subscript(value, slice_of(lower, upper), ast.Store()))

    def _do_store_attr(self, instruction):
        self._store(ast.Attribute(self._expression(), instruction.argval, ast.Store()))

    def _do_unpack_sequence(self, instruction):
        unpacked = Unpacked(self._pop(), instruction.arg)
        self._push_parts(unpacked)

    def _do_unpack_ex(self, instruction):
        before, after = instruction.arg & 0xFF, instruction.arg >> 8
        self._push_parts(Unpacked(self._pop(), before + 1 + after, before))

    def _push_parts(self, unpacked):
        if not isinstance(unpacked.value, (ast.expr, Item, Part)):
            raise Unreadable("unpacking")
        self.stack += [Part(unpacked, k) for k in reversed(range(len(unpacked.targets)))]

    def _do_delete_fast(self, instruction):
        self._emit(ast.Delete([ast.Name(instruction.argval, ast.Del())]))

    def _do_delete_subscr(self, instruction):
        index, value = self._expression(), self._expression()
        self._emit(ast.Delete([ast.Subscript(value, index, ast.Del())]))

    def _import(self, name, value):
        if value.level is None:
            value.of.names.append(ast.alias(value.name, None if value.name == name else name))
            return
        top = value.name.split(".")[0]
        self._emit(ast.Import([ast.alias(value.name, None if top == name else name)]))

    # Loops and ends

    def _do_get_iter(self, instruction):
        self._push(Loop(self._expression()))

    def _do_for_iter(self, instruction):
        raise Unreadable("FOR_ITER")

    def _do_return_value(self, instruction):
        self._emit(ast.Return(self._expression()))

    def _do_return_const(self, instruction):
        self._emit(ast.Return(constant(instruction.argval)))

    def _do_raise_varargs(self, instruction):
        values = self._several(instruction.arg)
        self._emit(ast.Raise(*(values + [None, None])[:2]))

    # Handlers

    def _do_push_exc_info(self, instruction):
        raised = self._pop()
        self.stack += [Raised(False), raised]

    def _do_check_exc_match(self, instruction):
        self._push(Caught(self._expression()))

    def _do_pop_except(self, instruction):
        if not isinstance(self._pop(), Raised):
            raise Unreadable("POP_EXCEPT")

    def _do_reraise(self, instruction):
        self._emit(ast.Pass())
        self.statements[-1].is_again = True

    def _do_before_with(self, instruction):
        self.stack += [Entered(self._expression()), _ENTERED]
        self.split = "with"

    # Modules

    def _do_import_name(self, instruction):
        names, level = self._expression(), self._expression()
        self._push(Imported(instruction.argval, level.value, names))

    def _do_import_from(self, instruction):
        self._push(Imported(instruction.argval, None, self.stack[-1]))
