"""What ``<type_traits>`` asks of types, and the types that it makes: ``std::is_integral<T>::value``, ``std::enable_if_t<...>``."""

from __future__ import annotations

from . import expressions
from .nodes import CType

_INTEGERS = {f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)} | {"bool"}
_FLOATS = {"float16", "float32", "float64"}


def _plain(c):
    return "" if c.is_pointer or c.is_reference or c.record else c.base


_TESTS = {
    "is_integral": lambda c: _plain(c) in _INTEGERS,
    "is_floating_point": lambda c: _plain(c) in _FLOATS,
    "is_arithmetic": lambda c: _plain(c) in _INTEGERS | _FLOATS,
    "is_signed": lambda c: _plain(c) in _FLOATS or _plain(c).startswith("int"),
    "is_unsigned": lambda c: _plain(c) == "bool" or _plain(c).startswith("uint"),
    "is_void": lambda c: _plain(c) == "void",
    "is_pointer": lambda c: c.is_pointer,
    "is_const": lambda c: c.is_const,
    "is_class": lambda c: c.record is not None and not c.is_pointer,
    "is_same": lambda a, b: (a.base, a.is_pointer, a.is_reference) == (b.base, b.is_pointer, b.is_reference),
}  # fmt: skip
_MADE = {
    "remove_const": lambda c: c._replace(is_const=False),
    "remove_cv": lambda c: c._replace(is_const=False),
    "remove_reference": lambda c: c._replace(is_reference=False),
    "decay": lambda c: c._replace(is_const=False, is_reference=False),
    "remove_pointer": lambda c: c._replace(is_pointer=False),
    "add_pointer": lambda c: c._replace(is_pointer=True),
    "make_signed": lambda c: c._replace(base=c.base.removeprefix("u")),
    "make_unsigned": lambda c: c._replace(base="u" + c.base.removeprefix("u")),
}
_CHOSEN = ("enable_if", "conditional")


def is_test(p):
    """Whether a name in front of ``<`` is a test, as ``is_integral<T>::value`` or ``is_integral_v<T>``."""
    return p.token.kind == "name" and p.peek() == "<" and p.token.text.removesuffix("_v") in _TESTS


def is_made(p, k=0):
    """Whether a name in front of ``<`` is a type of these, as ``enable_if<...>::type`` or ``enable_if_t<...>``."""
    t = p.tokens[min(p.at + k, len(p.tokens) - 1)]
    name = t.text.removesuffix("_t")
    return t.kind == "name" and p.peek(k + 1) == "<" and (name in _MADE or name in _CHOSEN)


def test(p):
    """The number that a test is, at whose name the parser is."""
    place, name = p.place, p.name()
    given = expressions.template_arguments(p)
    test_name = name.removesuffix("_v")
    if any(not isinstance(c, CType) for c in given) or len(given) != 1 + (test_name == "is_same"):
        raise p.error(f"'{name}' is of types", f"write {name}<T>", place)
    if name == test_name:
        p.expect("::")
        p.expect_name("value")
    return ("number", place, int(_TESTS[test_name](*given)), "bool")


def made(p):
    """The type that one of these names makes, at which the parser is."""
    from . import tags

    place, name = p.place, p.name()
    short = name.removesuffix("_t")
    given = expressions.template_arguments(p)
    if name == short:
        p.expect("::")
        p.expect_name("type")
    if short in _MADE:
        return _MADE[short](given[0])
    holds = bool(tags.whole(p, given[0]))
    if short == "conditional":
        return given[1 if holds else 2]
    if not holds:
        raise p.error(
            "no such instance: the condition of enable_if does not hold for these types",
            "name an instance for which it does", place,
        )  # fmt: skip
    return given[1] if len(given) > 1 else CType("void")


def past_default(p):
    """Takes the tokens of a template parameter's default, which its instances read."""
    depth = 0
    while p.token.kind != "end":
        text = p.token.text
        if depth == 0 and text in (",", ">"):
            return
        if text == ">>" and depth < 2:  # ends the default and the list of parameters
            p.tokens[p.at : p.at + 1] = [p.token._replace(text=">"), p.token._replace(text=">")]
            text = ">"
        depth += {"<": 1, "(": 1, ")": -1, ">": -1, ">>": -2}.get(text, 0)
        p.at += 1


def defaults(p, parameters, count):
    """Adds the values of parameters behind the first `count`, which are bound, to what is bound; reads them in order."""
    from . import tags

    before = p.at
    for name, _, at in parameters[count:]:
        if at is not None:
            p.at = at
            value = expressions.template_argument(p)
            p.bound[name] = value if isinstance(value, CType) else tags.whole(p, value)
    p.at = before
