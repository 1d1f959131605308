"""Statements of C text as Python's: ``statement_<kind>(body, place, ...)`` writes one."""

from __future__ import annotations

import ast
from typing import NamedTuple

import numpy as np

from ..._jit.desugar import Known
from ..syntax.nodes import CType
from . import declarations, expressions, records, warps
from .numbers import RANK, Pointer, Variable, common, is_float, promoted
from .trees import assigned, at, flat, is_simple, mentions


def statement_block(body, place, statements):
    body.block(statements)


def statement_evaluate(body, place, e):
    body.evaluate(e, is_used=False)


def statement_initialise(body, place, name, value):
    """A member's first value, in a constructor."""
    this = expressions.place_of(body, ("name", place, "this", None))
    target = records.member_place(body, this, name, place)
    made = CType(
        target.dtype if target.record is None else target.record.name, record=target.record
    )
    if isinstance(target, Pointer) and target.is_array:
        p = target._replace(is_array=False)
        member = this.record.members[name].type
        declarations.fill(body, p.array, value, member, member.extents, place, p)
    elif made.record:
        expressions.put(body, target, declarations.initial(body, made, value, place), place)
    else:
        v = value[2][0] if value[2] else ("number", place, 0, "int32")
        expressions.put(body, target, body.number(v), place)


def statement_return(body, place, value):
    if value is None:
        body.emit(ast.Return(value=None), place)
        return
    result = body.f.result
    if body.base_predicate and not result.record:
        warps.returned(body, place, body.number(value), result.base)
        return
    if result.record:
        if value[0] == "list":
            value = ("cast", place, result, value)
        made = records.fitting(body, body.evaluate(value), result.record, place)
        pairs = zip(made.parts, result.record.leaves, strict=True)
        nodes = [body.converted(v, d, place) for v, (d, _) in pairs]
        made = nodes[0] if len(nodes) == 1 else at(ast.Tuple(elts=nodes, ctx=ast.Load()), place)
    else:
        made = body.converted(body.number(value), result.base, place)
    body.emit(ast.Return(value=made), place)


def statement_break(body, place):
    body.emit(ast.Break(), place)


def statement_continue(body, place):
    if not body.steps:
        raise body.error(place, "continue outside of a loop", "leave it out")
    if isinstance(body.steps[-1], Switch):
        body.steps[-1].goes_on.append(True)
        body.assign(body.steps[-1].name, ast.Constant(value=True), place)
        body.emit(ast.Break(), place)
        return
    if body.steps[-1] is not None:
        body.steps[-1]()
    body.emit(ast.Continue(), place)


def statement_if(body, place, test, yes, no):
    if any(warps.uses(body.t, one) for one in (test, yes, no)):
        warps.branch(body, place, test, yes, no)
        return
    condition = body.condition(test)
    content, orelse = body.inside([yes]), body.inside([no]) if no else []
    body.emit(ast.If(test=condition, body=content, orelse=orelse), place)


def loop(body, place, test, content, step):
    """``while test`` around a content that ends with a step."""
    before, body.out = body.out, []
    condition = body.condition(test) if test else at(ast.Constant(value=True), place)
    pre, body.out = body.out, []
    if pre:
        leave = ast.If(
            test=ast.UnaryOp(op=ast.Not(), operand=condition), body=[ast.Break()], orelse=[]
        )
        body.out = [*pre, at(leave, place)]
        condition = at(ast.Constant(value=True), place)
    body.steps.append(step)
    content_of(body, content)
    body.steps.pop()
    if step:
        step()
    made, body.out = body.out or [ast.Pass()], before
    body.emit(ast.While(test=condition, body=made, orelse=[]), place)


def statement_while(body, place, test, content):
    if body.predicate and warps.uses(body.t, content):
        uniform(body, loop, body, place, test, content, None)
        return
    loop(body, place, test, content, None)


def statement_do(body, place, test, content):
    first = body.fresh("first")
    body.assign(first, ast.Constant(value=True), place)
    before, body.out = body.out, []
    condition = body.condition(test)
    leave = ast.If(test=ast.UnaryOp(op=ast.Not(), operand=condition), body=[ast.Break()], orelse=[])
    check, body.out = [*body.out, at(leave, place)], []
    body.emit(
        ast.If(
            test=ast.UnaryOp(op=ast.Not(), operand=body.read(first, place)),
            body=check, orelse=[],
        ),
        place,
    )  # fmt: skip
    body.assign(first, ast.Constant(value=False), place)
    body.steps.append(None)
    body.block([content])
    body.steps.pop()
    made, body.out = body.out, before
    body.emit(ast.While(test=ast.Constant(value=True), body=made, orelse=[]), place)


def uniform(body, write, *args):
    """Write a loop whose control flow is for all work-items, and its content under the predicate."""
    predicate, body.predicate = body.predicate, None
    body.inner_predicate, before = predicate, body.inner_predicate
    first = len(body.out)
    write(*args)
    for s in body.out[first:]:
        warps.for_all(s)
    body.predicate, body.inner_predicate = predicate, before


def content_of(body, content):
    """Writes the content of a loop, under the predicate around it."""
    predicate, inner = body.predicate, body.inner_predicate
    body.predicate, body.inner_predicate = inner or predicate, None
    body.block([content])
    body.predicate, body.inner_predicate = predicate, inner


def statement_for(body, place, first, test, step, content):
    if body.predicate and warps.uses(body.t, content):
        uniform(body, statement_for, body, place, first, test, step, content)
        return
    body.scopes.append({})
    if not range_loop(body, place, first, test, step, content):
        if first:
            body.statement(first)
        do_step = (lambda: body.evaluate(step, is_used=False)) if step else None
        loop(body, place, test, content, do_step)
    body.scopes.pop()


def range_loop(body, place, first, test, step, content):
    """Write a loop that counts as one over a range; returns whether it is one."""
    if not first or first[0] != "declare" or len(first[2]) != 1 or not test or not step:
        return False
    made, name, start, _ = first[2][0]
    is_count = (
        not made.record and not made.is_pointer and not made.extents and made.base in RANK[:4]
    )
    if not is_count or start is None or test[0] != "binary" or test[2] not in "<=>=":
        return False
    if test[3][:1] != ("name",) or test[3][2] != name or not is_simple(test[4]):
        return False
    changed = assigned(content, set())
    names = mentions(test[4], set())
    if step[0] == "step" and step[3][:1] == ("name",) and step[3][2] == name:
        by, sign = ("number", place, 1, "int32"), step[2]
    elif step[0] == "assign" and step[2] in ("+=", "-=") and step[3][:1] == ("name",):
        if step[3][2] != name or not is_simple(step[4]):
            return False
        by, sign = step[4], step[2][0]
    else:
        return False
    names |= mentions(by, set())
    if name in changed or name in names or changed & names:
        return False
    if (sign == "+") != (test[2][0] == "<"):
        return False
    amount = body.number(by)
    if amount.value is None or amount.value <= 0:
        if by[0] == "number" or not (sign == "+" and amount.dtype.startswith("uint")):
            return False
    begin = body.converted(body.number(start), made.base, place)
    end = body.number(test[4])
    kind = common(made.base, end.dtype)
    if is_float(kind) or (
        kind != made.base and kind.startswith("u") and not made.base.startswith("u")
    ):
        return False
    if end.value is None and kind != common(end.dtype, end.dtype):
        if kind.startswith("u") and not end.dtype.startswith("u"):
            return False
    stop = end.plain if end.plain is not None else end.node
    stop = body.call_known(np.int64, [stop], place)
    begin = body.call_known(np.int64, [begin], place)
    jump = body.call_known(np.int64, [amount.node], place)
    if amount.value is not None:
        jump = at(ast.Constant(value=int(amount.value)), place)
    if test[2] in ("<=", ">="):
        one = ast.Constant(value=1)
        stop = ast.BinOp(left=stop, op=ast.Add() if sign == "+" else ast.Sub(), right=one)
    if sign == "-":
        jump = ast.UnaryOp(op=ast.USub(), operand=jump)
    py = body.new_name(name)
    body.scopes[-1][name] = Variable("number", py, made.base, is_plain=True)
    body.steps.append(None)
    before, body.out = body.out, []
    content_of(body, content)
    inner, body.out = body.out or [ast.Pass()], before
    body.steps.pop()
    over = ast.Call(func=Known(id="range", ctx=ast.Load()), args=[begin, stop, jump], keywords=[])
    target = ast.Name(id=py, ctx=ast.Store())
    body.emit(ast.For(target=target, iter=over, body=inner, orelse=[]), place)
    return True


def statement_switch(body, place, value, cases):
    kept = body.fresh("switch")
    given = body.number(value)
    dtype = promoted(given.dtype)
    body.assign(kept, body.converted(given, dtype, place), place)
    chain, waiting = [], []
    pieces = [case_piece(content) for _, _, content in cases]
    for k, (here, label, content) in enumerate(cases):
        waiting.append(label)
        if not content and k + 1 < len(cases):
            continue
        own = []  # a case without an end goes on with the next one's statements
        for statements, ends in pieces[k:]:
            own += statements
            if ends:
                break
        chain.append((here, waiting, own))
        waiting = []
    chain.sort(key=lambda c: None in c[1])
    if any(b[0] == "break" for _, _, own in chain for b in flat(own)):
        breaking_switch(body, chain, kept, dtype, place)
    else:
        switch_chain(body, chain, kept, dtype, place)


class Switch(NamedTuple):
    """A switch that is written as a loop of one turn, which a break leaves."""

    name: str  # of the variable that says whether the loop around goes on
    goes_on: list  # not empty where it may


def breaking_switch(body, chain, kept, dtype, place):
    """Write a switch of which a branch leaves a case."""
    made = Switch(body.fresh("goes_on"), [])
    body.assign(made.name, ast.Constant(value=False), place)
    body.steps.append(made)
    before, body.out = body.out, []
    switch_chain(body, chain, kept, dtype, place)
    inner, body.out = body.out, before
    body.steps.pop()
    turns = ast.Call(
        func=Known(id="range", ctx=ast.Load()), args=[ast.Constant(value=1)], keywords=[]
    )
    turn = ast.Name(id=body.fresh("turn"), ctx=ast.Store())
    body.emit(ast.For(target=turn, iter=turns, body=inner, orelse=[]), place)
    if made.goes_on:
        before, body.out = body.out, []
        statement_continue(body, place)
        inner, body.out = body.out, before
        body.emit(ast.If(test=body.read(made.name, place), body=inner, orelse=[]), place)


def case_piece(content):
    """A case's statements without its break, and whether they end there."""
    is_block = len(content) == 1 and content[0][0] == "block"
    own = content[0][2] if is_block else content
    ends = bool(own) and own[-1][0] in ("break", "return", "continue")
    if ends and own[-1][0] == "break":
        own = own[:-1]
    if is_block:  # its names are not those of other cases
        own = [(*content[0][:2], own)]
    return own, ends


def switch_chain(body, chain, kept, dtype, place):
    if not chain:
        return
    here, labels, own = chain[0]
    if None in labels:
        body.block(own)
        return
    tests = []
    for label in labels:
        v = body.converted(body.number(label), dtype, here)
        tests.append(ast.Compare(left=body.read(kept, here), ops=[ast.Eq()], comparators=[v]))
    test = tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.Or(), values=tests)
    content = body.inside(own)
    before, body.out = body.out, []
    switch_chain(body, chain[1:], kept, dtype, place)
    orelse, body.out = body.out, before
    body.emit(ast.If(test=test, body=content, orelse=orelse), here)
