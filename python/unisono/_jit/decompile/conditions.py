"""Evaluates all blocks, and joins those that are one expression: ``a and b``, ``a if c else b``, ``a < b < c``."""

from __future__ import annotations

import ast

from .blocks import Unreadable, reached
from .markers import Item, Raised


def evaluate_blocks(first, evaluation, joins_negated):
    """Evaluate all blocks; tests that belong together become one, and values that two roads bring one expression."""
    _run(first, [], evaluation)
    while True:
        blocks = reached(first)
        before = ways_in(blocks)
        block = next((b for b in blocks if not b.is_done and _can_run(b, before)), None)
        if block is None:
            if all(b.is_done for b in blocks):
                return
            raise Unreadable("values that two roads bring")
        _run(block, _stack_before(block, before[block]), evaluation)
        _reduce(first, joins_negated)


def _run(block, stack, evaluation):
    evaluation.run(block, stack)


def ways_in(blocks):
    before = {b: [] for b in blocks}
    for block in blocks:
        for k, target in enumerate(block.targets):
            before[target].append((block, k))
    return before


def _can_run(block, before):
    """Whether the stack is known: all that come before are done (but for the ways back), and agree."""
    done = [(b, k) for b, k in before[block] if b.is_done]
    if not done:
        return False
    stacks = [_stack_along(b, k) for b, k in done]
    if any(stack is None for stack in stacks):
        return False
    first = stacks[0]
    return all(len(s) == len(first) and all(map(_is_one, s, first)) for s in stacks[1:])


def _is_one(a, b):
    return a is b


def _stack_before(block, ways):
    return next(_stack_along(b, k) for b, k in ways if b.is_done)


def _stack_along(block, k):
    """The stack behind a block on the way to its target k; None where a value is kept that others must join."""
    stack = block.stack
    if block.kind in ("and", "or"):
        return stack if k == 0 else None
    if block.kind == "for":
        return [*stack, Item(stack[-1])] if k == 0 else stack[:-1]
    if block.is_chained and k == 1:
        return stack[:-1]
    if block.kind == "try" and k == 1:
        return [*stack, Raised(True)]
    return stack


def _reduce(first, joins_negated):
    is_changed = True
    while is_changed:
        is_changed = False
        blocks = reached(first)
        before = ways_in(blocks)
        for block in blocks:
            if block.is_done and (
                _join_test(block, before, joins_negated) or _join_value(block, before)
            ):
                is_changed = True
                break


def _only_way(block, before):
    """The block that alone leads here, if one does."""
    ways = before[block]
    return ways[0] if len(ways) == 1 else (None, None)


def _join_test(block, before, joins_negated):
    """``a and b``: a test without statements that one other leads to, and that shares a target with it."""
    above, k = _only_way(block, before)
    if (
        above is None
        or not above.is_done
        or above.kind != "test"
        or block.kind not in ("test", "and", "or")
        or block.statements
    ):
        return False
    other = above.targets[1 - k]
    if above.is_chained:
        return k == 0 and _join_chain(above, block)
    if block.is_chained or not _is_same_stack(above.stack, block.stack):
        return False
    if block.kind == "test":
        if other not in block.targets or block.targets[0] is block.targets[1]:
            return False
        is_and = other is block.targets[1]
    elif other is block.targets[0]:
        is_and = block.kind == "or"
    else:
        return False
    is_true = (
        k == 0
    ) == is_and  # whether the first one goes on where it is true for "and", false for "or"
    if not is_true and not joins_negated:
        return False
    left = above.value if is_true else negated(above.value)
    _take(above, block, joined(ast.And if is_and else ast.Or, left, block.value))
    return True


def _join_chain(above, block):
    """``a < b`` and ``b < c``, with the same b."""
    if block.targets[1] is not above.targets[1] or block.kind not in ("test", "and"):
        return False
    value = _chain(above.value, block.value)
    if value is None:
        return False
    _take(above, block, value)
    return True


def _chain(left, right):
    if not (isinstance(left, ast.Compare) and isinstance(right, ast.Compare)):
        return None
    if left.comparators[-1] is not right.left:
        return None
    return ast.Compare(left.left, left.ops + right.ops, left.comparators + right.comparators)


def _take(above, block, value):
    above.value, above.kind, above.targets = value, block.kind, block.targets
    above.fallen, above.is_chained, above.stack = block.fallen, block.is_chained, block.stack
    above.through = block.through


def _is_same_stack(a, b):
    return len(a) == len(b) and all(map(_is_one, a, b))


def _join_value(block, before):
    """``a and b``, ``a if c else b`` as values: blocks without statements that push one value and meet."""
    if block.kind in ("and", "or"):
        after, end = block.targets
        if _pushes(after, end, block, before):
            operator = ast.And if block.kind == "and" else ast.Or
            last = after.stack[-1]
            value = (
                _chain(block.value, last)
                if block.is_chained
                else joined(operator, block.value, last)
            )
            if value is None:
                return False
            base = block.stack[:-1] if block.is_chained else block.stack
            _becomes(block, value, base, end)
            return True
    elif block.kind == "test" and not block.is_chained:
        yes, no = block.targets
        end = yes.targets[0] if yes.kind == "jump" and yes.targets else None
        if end is not None and _pushes(yes, end, block, before) and _pushes(no, end, block, before):
            test, first, second = block.value, yes.stack[-1], no.stack[-1]
            if block.fallen == 1:
                test, first, second = negated(test), second, first
            _becomes(block, ast.IfExp(test, first, second), block.stack, end)
            return True
    return False


def _pushes(block, end, above, before):
    base = above.stack[:-1] if above.is_chained else above.stack
    return (
        block.is_done
        and block.kind == "jump"
        and block.targets[0] is end
        and not block.statements
        and _only_way(block, before)[0] is above
        and len(block.stack) == len(base) + 1
        and _is_same_stack(block.stack[:-1], base)
        and isinstance(block.stack[-1], ast.expr)
    )


def _becomes(block, value, base, end):
    block.kind, block.targets, block.value, block.is_chained = "jump", [end], None, False
    block.stack, block.through = [*base, value], [None, None]


def joined(operator, left, right):
    values = []
    for value in (left, right):
        is_same = isinstance(value, ast.BoolOp) and isinstance(value.op, operator)
        values += value.values if is_same else [value]
    return ast.BoolOp(operator(), values)


def negated(value):
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return value.operand
    opposite = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}
    if isinstance(value, ast.Compare) and len(value.ops) == 1 and type(value.ops[0]) in opposite:
        return ast.Compare(value.left, [opposite[type(value.ops[0])]()], value.comparators)
    return ast.UnaryOp(ast.Not(), value)
