"""Statements and declarations of C, each ``(kind, place, ...)``."""

from __future__ import annotations

from . import definitions, expressions, in_step, types
from .types import QUALIFIERS, TAGGED, WORDS


def block(p):
    place = p.place
    p.expect("{")
    made = []
    while not p.take("}"):
        if p.token.kind == "end":
            raise p.error("a block does not end", "add }", place)
        made.append(statement(p))
    return ("block", place, made)


def statement(p):
    place, word = p.place, p.token.text
    if word == "{":
        return block(p)
    if p.take(";"):
        return ("block", place, [])
    if word in ("if", "while", "for", "do", "return", "break", "continue", "switch", "goto"):
        p.at += 1
        return globals()[f"statement_{word}"](p, place)
    if word in ("typedef", "using") and (word == "typedef" or p.peek(2) == "="):
        definitions.typedef(p) if word == "typedef" else definitions.using(p)
        return ("block", place, [])
    if word in ("namespace", "using"):  # another name of one, or all names of one
        p.skip_to(";")
        return ("block", place, [])
    if types.is_type(p) and not (p.peek() in "({" and p.token.text in WORDS):
        return declaration(p)
    first = p.at
    made = expressions.expression(p)
    p.expect(";")
    return in_step.exchange(p, made, first) or ("evaluate", place, made)


def statement_if(p, place):
    p.expect("(")
    test = expressions.expression(p)
    p.expect(")")
    yes = statement(p)
    no = statement(p) if p.take("else") else None
    return ("if", place, test, yes, no)


def statement_while(p, place):
    p.expect("(")
    test = expressions.expression(p)
    p.expect(")")
    return ("while", place, test, statement(p))


def statement_do(p, place):
    body = statement(p)
    p.expect("while")
    p.expect("(")
    test = expressions.expression(p)
    p.expect(")")
    p.expect(";")
    return ("do", place, test, body)


def statement_for(p, place):
    p.expect("(")
    first = None
    if not p.take(";"):
        if types.is_type(p):
            first = declaration(p)
        else:
            first = ("evaluate", p.place, expressions.expression(p))
            p.expect(";")
    test = None if p.token.text == ";" else expressions.expression(p)
    p.expect(";")
    step = None if p.token.text == ")" else expressions.expression(p)
    p.expect(")")
    return ("for", place, first, test, step, statement(p))


def statement_return(p, place):
    value = None
    if p.token.text != ";":
        value = initializer(p) if p.token.text == "{" else expressions.expression(p)
    p.expect(";")
    return ("return", place, value)


def statement_break(p, place):
    p.expect(";")
    return ("break", place)


def statement_continue(p, place):
    p.expect(";")
    return ("continue", place)


def statement_goto(p, place):
    raise p.error("goto is not translated", "write a loop", place)


def statement_switch(p, place):
    p.expect("(")
    value = expressions.expression(p)
    p.expect(")")
    p.expect("{")
    cases = []
    while not p.take("}"):
        here = p.place
        if p.take("case"):
            label = expressions.conditional(p)
        elif p.take("default"):
            label = None
        elif cases:
            cases[-1][2].append(statement(p))
            continue
        else:
            raise p.error("a switch begins with a case", "write case or default")
        p.expect(":")
        cases.append((here, label, []))
    return ("switch", place, value, cases)


def declaration(p):
    place = p.place
    base, words = types.named_type(p, may_be_auto=True)
    made = []
    if words & TAGGED and p.take(";"):
        return ("block", place, [])
    while True:
        one = base
        while p.take("*"):
            if one.is_pointer:
                raise p.error("a pointer to pointers", "use one array, and offsets into it")
            one = one._replace(is_pointer=True)
            while p.take(*QUALIFIERS):
                pass
        if p.take("&", "&&"):
            one = one._replace(is_reference=True)
        here = p.place
        name = p.name()
        one = one._replace(extents=types.extents(p))
        value = None
        if p.take("="):
            value = initializer(p)
        elif p.token.text == "(":
            p.at += 1
            value = expressions.assignment(p)
            if one.base.startswith("complex") and p.take(","):
                value = ("complex", here, one.base, value, expressions.assignment(p))
            if one.record:  # dim3 at(x, y)
                value = ("list", here, [value])
                while p.take(","):
                    value[2].append(expressions.assignment(p))
                ones(p, "dim3" in words, value[2])
            p.expect(")")
        elif p.token.text == "{":
            value = initializer(p)
        made.append((one, name, value, here))
        if "volatile" in words:
            p.volatile.add(name)
        if not p.take(","):
            break
    p.expect(";")
    return ("declare", place, made, "extern" in words)


def ones(p, is_dim3, items):
    """What a dim3 is not given is 1."""
    while is_dim3 and len(items) < 3:
        items.append(("number", p.place, 1, "uint32"))


def initializer(p):
    place = p.place
    if not p.take("{"):
        return expressions.assignment(p)
    items = []
    while not p.take("}"):
        if p.take("."):
            here, name = p.place, p.name()
            p.expect("=")
            items.append(("named", here, name, initializer(p)))
        else:
            items.append(initializer(p))
        if p.token.text != "}":
            p.expect(",")
    return ("list", place, items)
