"""The text of a function whose text is lost, from its bytecode.

Python drops the text of standard input, of `exec` and of functions that arrive from other processes. What this package
reads is taken only where it compiles to the same code again (`source.py`), so that a form that it does not know is
an error, never another program.
"""

from __future__ import annotations

import ast
import inspect
import itertools

from .blocks import Unreadable, read_blocks
from .conditions import evaluate_blocks
from .evaluation import Evaluation
from .structure import Structure
from .trees import parameters

__all__ = ["texts_of"]


def texts_of(code):
    """Yield texts that a function or lambda may have, each statement at its line where that can be, the likeliest first."""
    texts = set()
    options = itertools.product((False, True), (True, False), (False, True))
    for returns_choices, joins_negated, says_continue in options:
        try:
            definition = _Reader(joins_negated, says_continue).definition(code)
            text = _text(_Choices().visit(definition) if returns_choices else definition)
        except (Unreadable, RecursionError):
            return
        if text not in texts:
            texts.add(text)
            yield text


def _text(definition):
    """The text of a tree; blank lines bring each statement to its line, counted from that of the function."""
    text = ast.unparse(ast.fix_missing_locations(definition))
    if isinstance(definition, ast.Lambda):
        return text
    lines, more = text.split("\n"), 0
    pairs = sorted(
        zip(_statements(definition), _statements(ast.parse(text).body[0]), strict=True), key=_place
    )
    for node, found in pairs:
        missing = node.lineno - definition.lineno - (found.lineno - 1 + more)
        if missing > 0:
            lines[found.lineno - 1] = "\n" * missing + lines[found.lineno - 1]
            more += missing
    wanted = {found: node.lineno for node, found in pairs}
    for _, found in reversed(pairs):  # those inside first
        if _is_one_line(found, wanted):
            begin, end = found.lineno - 1, found.body[-1].end_lineno
            inside = "; ".join(line.strip() for line in lines[begin + 1 : end])
            lines[begin] += " " + inside
            lines[begin + 1 : end] = [None] * (end - begin - 1)
    return "\n".join(line for line in lines if line is not None)


def _is_one_line(statement, wanted):
    """Whether a loop or condition stood on one line with its statements: since 3.13 the code differs by that."""
    if not isinstance(statement, (ast.For, ast.While, ast.If, ast.With)):
        return False
    simple = [s for s in statement.body if not hasattr(s, "body") and s.lineno == s.end_lineno]
    return len(simple) == len(statement.body) and all(
        wanted[s] == wanted[statement] for s in simple
    )


def _statements(definition):
    return [n for n in ast.walk(definition) if isinstance(n, ast.stmt) and n is not definition]


def _place(pair):
    return pair[1].lineno


class _Choices(ast.NodeTransformer):
    """``if c: return a`` with ``else: return b`` may have been ``return a if c else b``."""

    def visit_If(self, node):
        self.generic_visit(node)
        sides = [*node.body, *node.orelse]
        if (
            len(sides) != 2
            or not all(isinstance(s, ast.Return) and s.value for s in sides)
            or not node.orelse
        ):
            return node
        made = ast.Return(ast.IfExp(node.test, sides[0].value, sides[1].value))
        made.lineno = node.lineno
        return made


class _Reader:
    """The choices between texts that compile to nearly the same."""

    def __init__(self, joins_negated, says_continue):
        self.joins_negated, self.says_continue = joins_negated, says_continue

    def definition(self, code, made=None, name=None):
        """`ast.FunctionDef` or, of a lambda, `ast.Lambda`; `made`: how another function makes it."""
        if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise Unreadable("async")
        evaluation = Evaluation(code, self.definition)
        first = read_blocks(code)
        evaluate_blocks(first, evaluation, self.joins_negated)
        body = Structure(first, self.says_continue).run()
        defaults = (made.defaults, made.keyword_defaults, made.annotations) if made else ()
        arguments, result = parameters(code, *defaults)
        if code.co_name == "<lambda>":
            return ast.Lambda(arguments, _value_of(body))
        body = _without_last_return(body) or [ast.Pass()]
        heads = [
            (ast.Global if word == "global" else ast.Nonlocal)([n])
            for n, word in evaluation.declared.items()
        ]
        if code.co_name[0] != "<" and code.co_consts and isinstance(code.co_consts[0], str):
            heads.insert(0, ast.Expr(ast.Constant(code.co_consts[0])))
        definition = ast.FunctionDef(name or code.co_name, arguments, heads + body, [], result)
        definition.decorator_list = made.decorators if made else []
        definition.lineno = code.co_firstlineno
        return definition


def _value_of(body):
    """The value of a lambda: its ways out are choices."""
    if len(body) == 1 and isinstance(body[0], ast.Return):
        return body[0].value
    if body and isinstance(body[0], ast.If):
        rest = body[0].orelse or body[1:]
        return ast.IfExp(body[0].test, _value_of(body[0].body), _value_of(rest))
    raise Unreadable("a lambda")


def _without_last_return(body):
    """Where a function ends without a ``return``, the compiler writes one into each way out."""
    if not body:
        return body
    last = body[-1]
    if (
        isinstance(last, ast.Return)
        and isinstance(last.value, ast.Constant)
        and last.value.value is None
    ):
        return body[:-1]
    if isinstance(last, ast.If):
        last.body = _without_last_return(last.body) or [ast.Pass()]
        last.orelse = _without_last_return(last.orelse)
    elif isinstance(last, (ast.With, ast.Try)):
        last.body = _without_last_return(last.body) or [ast.Pass()]
        for handler in getattr(last, "handlers", ()):
            handler.body = _without_last_return(handler.body) or [ast.Pass()]
    return body
