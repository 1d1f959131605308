"""Makes statements of the graph of blocks: conditions, loops, and what stands behind them."""

from __future__ import annotations

import ast
import sys

from .blocks import Unreadable, reached
from .evaluate import Item


def evaluate(first, evaluation, joins_negated):
    """Evaluate all blocks; tests that belong together become one, and values that two roads bring one expression."""
    _run(first, [], evaluation)
    while True:
        blocks = reached(first)
        before = _ways_in(blocks)
        block = next((b for b in blocks if not b.is_done and _can_run(b, before)), None)
        if block is None:
            if all(b.is_done for b in blocks):
                return
            raise Unreadable("values that two roads bring")
        _run(block, _stack_before(block, before[block]), evaluation)
        _reduce(first, joins_negated)


def _run(block, stack, evaluation):
    evaluation.run(block, stack)


def _ways_in(blocks):
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
    return stack


def _reduce(first, joins_negated):
    is_changed = True
    while is_changed:
        is_changed = False
        blocks = reached(first)
        before = _ways_in(blocks)
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


class _Inside:
    """The loop that statements stand in."""

    def __init__(self, head, behind, blocks):
        self.head, self.behind, self.blocks = head, behind, blocks


class Structure:
    """Statements of the evaluated graph."""

    def __init__(self, first, says_continue):
        self.first, self.says_continue = first, says_continue
        self.blocks = reached(first)
        self.place = {b: k for k, b in enumerate(self.blocks)}
        self.before = {b: [a for a, _ in ways] for b, ways in _ways_in(self.blocks).items()}
        self.above = self._dominators()
        self.loops = self._loops()
        self.written = set()

    def run(self):
        return self._from(self.first, None, None)

    def _dominators(self):
        above = {self.first: self.first}
        is_changed = True
        while is_changed:
            is_changed = False
            for block in self.blocks[1:]:
                new = None
                for b in self.before[block]:
                    if b in above:
                        new = b if new is None else self._common(above, b, new)
                if above.get(block) is not new:
                    above[block] = new
                    is_changed = True
        return above

    def _common(self, above, a, b):
        while a is not b:
            while self.place[a] > self.place[b]:
                a = above[a]
            while self.place[b] > self.place[a]:
                b = above[b]
        return a

    def _dominates(self, a, b):
        while b is not a and b is not self.first:
            b = self.above[b]
        return a is b

    def _loops(self):
        """By the first block of each loop, its blocks."""
        loops = {}
        for block in self.blocks:
            for head in block.targets:
                if self._dominates(head, block):
                    inside = loops.setdefault(head, {head})
                    work = [block]
                    while work:
                        b = work.pop()
                        if b not in inside:
                            inside.add(b)
                            work += self.before[b]
        return loops

    def _from(self, block, follow, inside):
        """Statements from a block on, to where `follow` comes next."""
        if block in self.written:
            raise Unreadable("code that two roads reach")
        self.written.add(block)
        if block in self.loops:
            return self._loop(block, follow, inside)
        return self._plain(block, follow, inside)

    def _meeting(self, block, inside):
        """Blocks that several ways under this one reach, in order."""
        found = [
            b
            for b in self.blocks
            if b is not block
            and self.above[b] is block
            and sum(not self._dominates(b, a) for a in self.before[b]) > 1
        ]
        if inside is not None:
            found = [b for b in found if b is not inside.behind and not self._is_behind(b, inside)]
        return found

    def _is_behind(self, block, inside):
        return inside.behind is not None and self._dominates(inside.behind, block)

    def _plain(self, block, follow, inside):
        meeting = self._meeting(block, inside)
        ends = [*meeting, follow]
        statements = block.statements + self._end(block, ends[0], inside)
        for k, b in enumerate(meeting):
            statements += self._from(b, ends[k + 1], inside)
        return statements

    def _end(self, block, follow, inside):
        if block.kind == "end":
            return []
        if block.kind in ("jump", "break"):
            place = block.offset if block.jumps and self.says_continue else None
            return self._go(block.targets[0], follow, inside, place)
        if block.kind != "test" or block.is_chained:
            raise Unreadable(block.kind)
        fallen, places = block.fallen, [None, None]
        if (
            block.through[fallen] is not None
            and inside is not None
            and block.targets[fallen] is inside.head
        ):
            # `continue`; or, since 3.12, a jump back under a condition, which becomes two.
            if self.says_continue or sys.version_info < (3, 12):
                places[fallen] = block.through[fallen]
            else:
                fallen = 1 - fallen
        yes, no = (
            self._go(t, follow, inside, p) for t, p in zip(block.targets, places, strict=True)
        )
        test = block.value
        if fallen == 1:
            test, yes, no = negated(test), no, yes
        return choice(test, yes, no, block.line)

    def _go(self, target, follow, inside, through=None):
        if target is follow:
            is_written = through is not None and inside is not None and target is inside.head
            return [ast.Continue()] if is_written and through < target.last_turn else []
        if inside is not None and target is inside.head:
            return [ast.Continue()]
        if inside is not None and target is inside.behind:
            return [ast.Break()]
        return self._from(target, follow, inside)

    def _loop(self, head, follow, inside):
        blocks = self.loops[head]
        end = max(head.last_turn, *(b.offset for b in blocks))
        is_for = head.kind == "for"
        is_tested = (
            head.kind == "test"
            and not head.statements
            and not head.is_chained
            and (head.targets[0] in blocks) != (head.targets[1] in blocks)
        )
        if is_for:
            body, exhausted = head.targets
        elif is_tested:
            body, exhausted = head.targets if head.targets[0] in blocks else head.targets[::-1]
        else:
            body = exhausted = None
        behind = self._behind(head, blocks, end, exhausted)
        own = _Inside(head, behind if behind is not None else exhausted, blocks)
        if is_for:
            turns = self._go(body, head, own)
            target = head.value.target
            if target is None:
                raise Unreadable("a loop without a name")
            made = ast.For(target, head.value.iterable, turns or [ast.Pass()], [])
        elif is_tested:
            test = head.value if body is head.targets[0] else negated(head.value)
            made = ast.While(test, self._go(body, head, own) or [ast.Pass()], [])
        else:
            made = ast.While(ast.Constant(True), self._plain(head, head, own) or [ast.Pass()], [])
        made.lineno = head.line
        outside = [b for b in self._meeting(head, None) if b not in blocks and b is not own.behind]
        outside = [] if not is_for and not is_tested else outside
        ends = [*outside, follow]
        statements = [made]
        if exhausted is not None and behind is not None and behind is not exhausted:
            made.orelse = self._go(exhausted, behind, inside)
        if own.behind is not None:
            statements += self._go(own.behind, ends[0], inside)
        for k, b in enumerate(outside):
            if b not in self.written:
                statements += self._from(b, ends[k + 1], inside)
        return statements

    def _behind(self, head, blocks, end, exhausted):
        """Where ``break`` goes, or None without one."""
        found = []
        for block in self.blocks:
            if not head.offset <= block.offset <= end and block not in blocks:
                continue
            if head.kind == "for" and block.kind != "break":
                continue
            if block.kind == "break" and block.value.header is not head:
                continue
            if head.kind != "for" and not self._dominates(head, block):
                continue
            for target in block.targets:
                is_own = block is head and target is exhausted
                if is_own or target in blocks or (head.offset <= target.offset <= end):
                    continue
                if target not in found and not (_only_ends(target) and target is not exhausted):
                    found.append(target)
        if len(found) > 1:
            raise Unreadable("a loop that ends in several places")
        return found[0] if found else None


def _only_ends(block):
    """Whether a block is the ``return`` of a constant, before which the iterators are dropped as by ``break``."""
    while block.kind in ("break", "jump") and not block.statements:
        block = block.targets[0]
    alone = block.statements[0] if block.kind == "end" and len(block.statements) == 1 else None
    return isinstance(alone, ast.Return) and _is_constant(alone.value)


def _is_constant(value):
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    return isinstance(value, ast.Constant) or (
        isinstance(value, ast.Tuple) and all(map(_is_constant, value.elts))
    )


def choice(test, yes, no, line):
    made = ast.If(test, yes or [ast.Pass()], no)
    if not yes and no:
        made = ast.If(negated(test), no, [])
    made.lineno = line
    alone = made.body[0] if len(made.body) == 1 else None
    raised = alone.exc if isinstance(alone, ast.Raise) else None
    message = None
    if isinstance(raised, ast.Call) and getattr(raised.func, "is_assertion", False):
        message, raised = raised.args[0], raised.func
    if raised is not None and getattr(raised, "is_assertion", False):
        check = ast.Assert(negated(made.test), message)
        check.lineno = line
        return [check, *made.orelse]
    return [made]
