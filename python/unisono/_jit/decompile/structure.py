"""Makes statements of the graph of blocks: conditions, loops, and what stands behind them."""

from __future__ import annotations

import ast
import sys

from .blocks import Unreadable, reached
from .conditions import negated, ways_in
from .markers import Caught
from .trees import fill


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
        self.before = {b: [a for a, _ in ways] for b, ways in ways_in(self.blocks).items()}
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
        if block.kind == "try":
            return self._try(block, follow, inside)
        if block.kind == "with":
            return self._with(block, follow, inside)
        if block.kind in ("jump", "break", "leave"):
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

    def _try(self, block, follow, inside):
        tried, handler = block.targets
        behind = self._left(block, inside)
        body = self._go(tried, behind if behind is not None else follow, inside)
        handlers = []
        while handler is not None:
            caught = (
                handler.value
                if handler.kind == "test" and isinstance(handler.value, Caught)
                else None
            )
            if caught is None and handler.kind == "end" and _is_raised_again(handler.statements):
                break
            if caught is None:
                handled = _without_name(self._from(handler, follow, inside))
                handlers.append(ast.ExceptHandler(None, *handled))
                break
            if handler.statements:
                raise Unreadable("a handler")
            handled = _without_name(self._go(handler.targets[0], follow, inside))
            handlers.append(ast.ExceptHandler(caught.kind, *handled))
            handler = handler.targets[1]
        rest = []
        if behind is not None and behind is not follow:
            rest = self._go(behind, follow, inside)
        made = ast.Try(body or [ast.Pass()], handlers, rest, [])
        made.lineno = block.line or (
            body[0].lineno - 1 if body and hasattr(body[0], "lineno") else None
        )
        return [made]

    def _left(self, block, inside):
        """Where what is tried goes on, if it ends."""
        known = () if inside is None else (inside.head, inside.behind)
        found = []
        for b in self.blocks:
            if b is block or not block.protects(b) or not self._dominates(block.targets[0], b):
                continue
            for target in b.targets:
                is_out = not block.protects(target) and target not in known
                if (
                    is_out
                    and target is not block.targets[1]
                    and target not in found
                    and b.kind != "try"
                ):
                    found.append(target)
        if len(found) > 1:
            raise Unreadable("a try that ends in several places")
        return found[0] if found else None

    def _with(self, block, follow, inside):
        entered = block.value
        ends = []
        for b in self.blocks:
            if b.kind == "leave" and b.value is entered and b.targets[0] not in ends:
                ends.append(b.targets[0])
        ends = [b for b in ends if not _only_ends(b)] or ends[:0]
        if len(ends) > 1:
            raise Unreadable("a with that ends in several places")
        behind = ends[0] if ends else follow
        body = self._go(block.targets[0], behind, inside)
        item = ast.withitem(entered.manager, entered.target)
        made = ast.With([item], body or [ast.Pass()])
        made.lineno = block.line
        return [made, *([] if behind is follow else self._go(behind, follow, inside))]

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
        if is_for and head.value.made is not None:
            fill(head.value.made, made, None)
            statements = []
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


def _is_raised_again(statements):
    return len(statements) == 1 and getattr(statements[0], "is_again", False)


def _without_name(body):
    """The name of a handler, and its statements without those that forget the exception."""
    name = getattr(body[0], "caught_as", None) if body else None
    if name is not None:
        body = _forget(body[1:], name)
    return name, body or [ast.Pass()]


def _forget(body, name):
    kept, k = [], 0
    while k < len(body):
        this, after = body[k], body[k + 1] if k + 1 < len(body) else None
        is_cleared = isinstance(this, ast.Assign) and isinstance(after, ast.Delete)
        if is_cleared and [getattr(n.targets[0], "id", None) for n in (this, after)] == [
            name,
            name,
        ]:
            k += 2
            continue
        for field in ("body", "orelse"):
            if getattr(this, field, None):
                setattr(this, field, _forget(getattr(this, field), name) or [ast.Pass()])
        kept.append(this)
        k += 1
    return kept


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
