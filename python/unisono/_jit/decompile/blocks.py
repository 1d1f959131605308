"""The graph of basic blocks of a code object, without what the compiler did only for speed.

Tests of ``while`` that stand twice become one, blocks that only jump vanish, and the two roads on which a chained
comparison leaves the stack clean become one.
"""

from __future__ import annotations

import dis
import math
import sys

_SILENT = {
    "NOP",
    "RESUME",
    "CACHE",
    "PRECALL",
    "MAKE_CELL",
    "COPY_FREE_VARS",
    "NOT_TAKEN",
    "END_FOR",
}
_JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
_UNWINDING = {
    "RETURN_VALUE",
    "SWAP",
    "POP_TOP",
    "STORE_FAST",
}  # a statement does not begin with these
_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}


class Unreadable(Exception):
    """What this reader of bytecode does not know."""


class Block:
    """Instructions that run one after another, and where control goes then.

    `kind` of the end: ``"jump"`` to `targets[0]`; ``"test"``, true to `targets[0]` and false to `targets[1]`; ``"and"``
    and ``"or"``, which keep a value that decides and go to `targets[1]`, or drop it and go to `targets[0]`; ``"for"``
    to the body `targets[0]` or, behind the last item, to `targets[1]`; ``"break"``, which leaves a ``for``; ``"try"`` to
    what is tried, `targets[0]`, or the handler `targets[1]`; ``"with"`` to its body, and ``"leave"`` from it; ``"end"``.
    """

    def __init__(self, offset, instructions):
        self.offset, self.instructions = offset, instructions
        self.kind, self.targets, self.line = "end", [], None
        self.through = [
            None,
            None,
        ]  # where a block that only jumps lay before the target, if one did
        self.last_turn = -1  # of the last jump back to here
        self.jumps = False  # by an instruction of its own
        self.ranges = []  # of a ``try``: where what it protects lies
        self.fallen = 0  # which of the two targets of a test comes next in the text
        self.is_chained = False  # a comparison whose right side the next one compares again
        # Of the evaluation: statements, the value that decides, the stack behind it.
        self.statements, self.value, self.stack, self.is_done = [], None, None, False

    def protects(self, other):
        """Whether another block is part of what this one, a ``try``, protects."""
        return any(a <= math.ceil(other.offset) < b for a, b in self.ranges)

    def __repr__(self):
        return f"<{self.offset} {self.kind} {[t.offset for t in self.targets]}>"


def read_blocks(code):
    """The first block of a function's code; from it all others are reached."""
    instructions = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
    tried, names = _tried(code, instructions), {i.offset: i.opname for i in instructions}
    begins = {instructions[0].offset}
    for handler, ranges in tried.items():
        begins |= {handler, *(a for a, _ in ranges)}
        begins |= {b for _, b in ranges if names.get(b) not in _UNWINDING}
    is_end = False
    for instruction in instructions:
        if is_end:
            begins.add(instruction.offset)
        is_jump = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
        is_end = is_jump or instruction.opname in _ENDS
        if is_jump:
            begins.add(instruction.argval)
    blocks, order = {}, []
    for instruction in instructions:
        if instruction.offset in begins:
            order.append(Block(instruction.offset, []))
            blocks[instruction.offset] = order[-1]
        order[-1].instructions.append(instruction)
    for k, block in enumerate(order):
        _end(block, blocks, order[k + 1] if k + 1 < len(order) else None)
    for block in order:
        block.instructions = [i for i in block.instructions if i.opname not in _SILENT]
    _add_tries(order, blocks, tried)
    for block in order:
        if block.kind == "for":
            _drop_iterator(block.targets[1])
        for target in block.targets:
            if target.offset <= block.offset:
                target.last_turn = max(target.last_turn, block.offset)
    _join_ends(order)
    _join_copies(order)
    _skip_jumps(order)
    _join_chains(order)
    _skip_jumps(order)
    _join_tests(order)
    return order[0]


def _tried(code, instructions):
    """By where a handler of ``except`` begins: what it protects, as pairs of offsets."""
    if not code.co_exceptiontable:
        return {}
    at = {i.offset: k for k, i in enumerate(instructions)}
    tried, protected = {}, {}
    for entry in dis._parse_exception_table(code):
        protected.setdefault(entry.target, []).append((entry.start, entry.end))
        first, second = instructions[at[entry.target] :][:2]
        if first.opname != "PUSH_EXC_INFO" or second.opname == "WITH_EXCEPT_START":
            continue  # what cleans up behind a handler, and the end of ``with``
        tried.setdefault(entry.target, []).append((entry.start, entry.end))
    for spans in tried.values():
        # Of a try that is all that another one protects, the other one's entry names the handler alone.
        for begin, _ in spans:  # which grow meanwhile
            spans += [span for span in protected.get(begin, ()) if span not in spans]
    for handler in tried:
        for instruction in instructions[at[handler] + 1 :]:
            if instruction.opname in ("POP_TOP", "CHECK_EXC_MATCH"):
                break
            if not instruction.opname.startswith(("LOAD_", "BUILD_TUPLE")):
                raise Unreadable("finally")
    return tried


def _add_tries(order, blocks, tried):
    """A block for each handler, in front of what it protects; those inside first."""
    entries = {}
    for handler, ranges in sorted(tried.items(), key=lambda item: sum(b - a for a, b in item[1])):
        start = min(a for a, _ in ranges)
        inside = entries.get(start, blocks[start])
        block = Block(inside.offset - 0.125, [])
        block.kind, block.targets, block.ranges = "try", [inside, blocks[handler]], ranges
        for other in order:
            if not block.protects(other):
                other.targets = [block if t is inside else t for t in other.targets]
        order.insert(order.index(inside), block)
        entries[start] = block


def _join_copies(order):
    """What ends a function is copied, where it is short, in place of a jump to it."""
    ends = [b for b in order if b.kind == "end"]
    for k, first in enumerate(ends):
        for second in ends[k + 1 :]:
            count = _common_end(first, second)
            # The last one is where the text has it; a lone end of a branch stays there.
            if count and (count < len(first.instructions) or count == len(second.instructions)):
                end = _cut(second, count, order)
                first.kind, first.targets = "jump", [end]
                del first.instructions[-count:]
                break


def _drop_iterator(block):
    """Since 3.13 an instruction of its own drops the iterator behind the last item."""
    if sys.version_info >= (3, 13) and block.instructions:
        if block.instructions[0].opname in ("POP_TOP", "POP_ITER"):
            del block.instructions[0]


def _join_ends(order):
    """The return at the end of a function is copied, to behind it, for each way that leads there."""
    ends = []
    for block in reversed(order):
        returned = [
            i.argval for i in block.instructions if i.opname in ("LOAD_CONST", "RETURN_CONST")
        ]
        if block.kind != "end" or returned != [None] or len(block.instructions) > 2:
            break
        ends.append(block)
    for block in order:
        block.targets = [ends[-1] if t in ends else t for t in block.targets]


def _end(block, blocks, after):
    last = block.instructions[-1]
    name = last.opname
    block.line = last.positions.lineno if last.positions else None
    if name in _ENDS:
        return
    if name in _JUMPS:
        block.kind, block.targets, block.jumps = "jump", [blocks[last.argval]], True
    elif name == "FOR_ITER":
        block.kind, block.targets = "for", [after, blocks[last.argval]]
    elif name.startswith("JUMP_IF_"):
        block.kind = "and" if "FALSE" in name else "or"
        block.targets = [after, blocks[last.argval]]
    elif name.startswith("POP_JUMP_"):
        block.kind, taken = "test", blocks[last.argval]
        block.targets = [after, taken] if _jumps_if_false(name) else [taken, after]
        block.fallen = block.targets.index(after)
        if "NONE" in name:
            return  # the instruction stays: it is the comparison
        _keep_value(block, taken, after, "and" if _jumps_if_false(name) else "or")
    elif last.opcode in dis.hasjrel or last.opcode in dis.hasjabs:
        raise Unreadable(name)
    elif after is None:
        raise Unreadable("code without an end")
    else:
        block.kind, block.targets = "jump", [after]
        return
    block.instructions.pop()


def _jumps_if_false(name):
    return name.endswith(("_FALSE", "_NOT_NONE"))


def _keep_value(block, taken, after, kind):
    """Since 3.12 ``and`` and ``or`` copy the value, test the copy, and drop the value behind it."""
    body = block.instructions[:-1]
    while body and body[-1].opname in ("TO_BOOL", *_SILENT):
        body.pop()
    first = next((i for i in after.instructions if i.opname not in _SILENT), None)
    if (
        body
        and body[-1].opname == "COPY"
        and body[-1].arg == 1
        and first
        and first.opname == "POP_TOP"
    ):
        after.instructions.remove(first)
        block.kind, block.targets = kind, [after, taken]
        block.instructions = [*body[:-1], block.instructions[-1]]


def _skip_jumps(order):
    for block in order:
        for k, target in enumerate(block.targets):
            seen = set()
            while target.kind == "jump" and not target.instructions and target not in seen:
                seen.add(target)
                block.through[k] = target.offset
                target = target.targets[0]
            block.targets[k] = target


def _names(block):
    return [i.opname for i in block.instructions]


def _join_chains(order):
    """``a < b < c`` leaves b on the stack where ``a < b`` is false; a block of its own drops it."""
    for block in order:
        if block.kind not in ("test", "and", "or"):
            continue
        names = _names(block)
        if names[-3:-1] != ["SWAP", "COPY"] and names[-4:-2] != ["SWAP", "COPY"]:
            continue
        way = block.targets[1]
        if block.kind == "test" and _names(way)[:1] == ["POP_TOP"]:
            block.is_chained, block.targets[1] = True, _without_pop(way, order)
        elif block.kind == "and" and _names(way)[:2] == ["SWAP", "POP_TOP"]:
            block.is_chained = True
            rest = way.instructions[2:]
            if rest:
                _share_end(block, way, rest)
            elif way.kind == "jump":
                block.targets[1] = way.targets[0]


def _without_pop(way, order):
    """What follows where the stack is clean."""
    if len(way.instructions) == 1 and way.kind == "jump":
        return way.targets[0]
    rest = [(i.opname, i.argval) for i in way.instructions[1:]]
    for block in reversed(order):
        if (
            way.kind == block.kind == "end"
            and [(i.opname, i.argval) for i in block.instructions] == rest
        ):
            return block
    behind = Block(way.offset + 1, way.instructions[1:])
    behind.kind, behind.targets, behind.line, behind.fallen = (
        way.kind,
        way.targets,
        way.line,
        way.fallen,
    )
    order.append(behind)
    return behind


def _share_end(block, way, rest):
    """The chain's value ends the function on two roads: they become one."""
    last = block.targets[0]
    while last.is_chained or last.kind == "and":
        last = last.targets[0]
    if len(rest) != 1 or rest[0].opname != "RETURN_VALUE" or way.kind != "end":
        raise Unreadable("a chained comparison")
    if last.kind == "end" and _names(last)[-1:] == ["RETURN_VALUE"]:
        end = Block(way.offset, [last.instructions.pop()])
        end.line = last.line
        last.kind, last.targets = "jump", [end]
    elif last.kind != "jump":
        raise Unreadable("a chained comparison")
    block.targets[1] = last.targets[0]


def reached(first):
    """Blocks in an order in which each comes before those that only it leads to, but for the ways back."""
    order, seen = [], {first}
    stack = [(first, iter(first.targets))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(target.targets)))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def _join_tests(order):
    """A ``while`` tests before its first turn and behind each: the second test goes back to the first."""
    is_changed = True
    while is_changed:
        is_changed = False
        tests = [b for b in order if b.kind in ("test", "and", "or") and b.instructions]
        for k, first in enumerate(tests):
            for second in tests[k + 1 :]:
                count = _common_end(first, second)
                if count:
                    test = _cut(first, count, order)
                    test.last_turn = max(test.last_turn, first.last_turn, second.offset)
                    second.kind, second.targets, second.is_chained = "jump", [test], False
                    del second.instructions[-count:]
                    is_changed = True
                    break
            if is_changed:
                break
        _skip_jumps(order)


def _common_end(first, second):
    """How many instructions of two tests are the same text: where they stand in it tells."""
    if (first.kind, first.is_chained, first.targets) != (
        second.kind,
        second.is_chained,
        second.targets,
    ):
        return 0
    count = 0
    for a, b in zip(reversed(first.instructions), reversed(second.instructions), strict=False):
        is_same = (a.opcode, a.arg) == (b.opcode, b.arg) or (
            a.opname[-4:] == b.opname[-4:] == "NONE"
        )
        if not is_same or a.positions != b.positions or a.positions.lineno is None:
            break
        count += 1
    return count


def _cut(block, count, order):
    """The block of the last instructions of one."""
    if count == len(block.instructions):
        return block
    tail = Block(block.instructions[-count].offset, block.instructions[-count:])
    tail.kind, tail.targets, tail.through = block.kind, block.targets, block.through
    tail.fallen, tail.is_chained, tail.line = block.fallen, block.is_chained, block.line
    del block.instructions[-count:]
    block.kind, block.targets, block.through, block.is_chained = "jump", [tail], [None, None], False
    order.insert(order.index(block) + 1, tail)
    return tail
