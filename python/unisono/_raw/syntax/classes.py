"""C++ structs and classes: their member functions, constructors and operators, and templates of them.

A member function is a `Function` whose first parameter is ``this``: a reference, or a value where it is const. A
constructor is one that returns a value, which it declares as ``this``. Members that a body names alone are written as
``this->name``, so that what is behind the parser knows no classes. Bodies are parsed when the struct is complete.
"""

from __future__ import annotations

from ..translation import records
from ..translation.trees import root
from . import definitions, expressions, statements, traits, types
from .lexer import Place
from .nodes import CType, Function, Template

_AHEAD = {
    "explicit",
    "inline",
    "__inline__",
    "__forceinline__",
    "__host__",
    "__device__",
    "constexpr",
    "friend",
}
_LABELS = {"public", "private", "protected"}
_BEHIND = {"noexcept", "override", "final", "const"}


def bases(p):
    """The members that stand for the structs from which one derives."""
    found = []
    while p.take(":", ","):
        while p.take("public", "private", "protected"):
            pass
        if p.token.text == "virtual":
            raise p.error("virtual inheritance", "derive from the struct itself")
        made, _ = types.named_type(p)
        if made.record is None:
            raise p.error(f"'{made}' is not a struct", "derive from a struct")
        found.append((f"<{made.base}>", made))
    return found


def element(p, tag, later, defaults):
    """The (name, CType) pairs of one part of a struct; functions and first values are kept for later."""
    from . import tags

    if p.token.text in _LABELS and p.peek() == ":":
        p.at += 2
        return []
    if p.take(";"):
        return []
    if p.token.text in ("typedef", "using"):
        definitions.typedef(p) if p.token.text == "typedef" else definitions.using(p)
        return []
    if p.token.text in ("template", "virtual"):
        raise p.error(
            f"a member of '{tag}' is {p.token.text}", "write a function that takes the struct"
        )
    if p.token.text == "static" and not is_function(p):
        constant(p, tag)
        return []
    if not is_function(p):
        return tags.members(p, defaults)
    later.append(p.at)
    skip_function(p)
    return []


def is_function(p):
    """Whether a function stands at the parser, and no variable."""
    k, depth = p.at, 0
    while p.tokens[k].kind != "end":
        text = p.tokens[k].text
        if text in ("__align__", "alignas", "__attribute__", "__launch_bounds__"):
            k = past_balanced(p, k + 1)
            continue
        if text == "operator" or (text == "(" and depth == 0):
            return True
        if text in (";", "=", "{", "["):
            return False
        depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
        k += 1
    return False


def past_balanced(p, k):
    """The position behind the bracket that closes the one at `k`."""
    depth = 0
    while p.tokens[k].kind != "end":
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(p.tokens[k].text, 0)
        k += 1
        if depth == 0:
            break
    return k


def skip_function(p):
    """Go past a function, its list of first values and its body included."""
    while p.token.text != "(" and p.token.kind != "end":
        p.at += 3 if p.token.text == "operator" and p.peek() == "(" else 1
    p.at = past_balanced(p, p.at)
    while p.token.text not in ("{", ";", ":") and p.token.kind != "end":
        p.at += 1
    if p.take(":"):
        while p.token.kind != "end":
            while p.token.text not in ("(", "{"):
                p.at += 1
            p.at = past_balanced(p, p.at)
            if not p.take(","):
                break
    if not p.take(";"):
        p.at = past_balanced(p, p.at)
        p.take(";")


def constant(p, tag):
    """A static member that is a constant of the struct."""
    place = p.place
    made, words = types.named_type(p)
    name = p.name()
    if not (made.is_const or "constexpr" in words) or not p.take("=", "{"):
        raise p.error(
            f"'{name}' is a variable of all '{tag}'",
            "make it static constexpr, with a value",
            place,
        )
    p.unit.constants[f"{tag}::{name}"] = (made, expressions.conditional(p))
    p.take("}")
    p.expect(";")


def complete(p, made, later, defaults):
    """Parse the member functions of a struct whose members are known."""
    record, end = made.record, p.at
    functions = []
    for first in later:
        p.at = first
        functions.append(member_function(p, made))
    p.at = end
    functions = [f for f in functions if f is not None]
    for f in functions:
        record.methods[f.name] = f"{made.base}::{f.name}"
        p.unit.method_names.add(f.name)
        if f.form == "static":
            p.unit.statics.add(record.methods[f.name])
    for name, value in defaults.items():
        record.defaults[name] = qualified(value, p, made, [set()])
    if "" not in record.methods and (defaults or made_by_functions(p, record)):
        place = p.place
        record.methods[""] = f"{made.base}::"
        nothing = ("block", place, [])
        functions.append(Function("", place, made, [], nothing, False, place.line, "constructor"))
    bodies = [qualified(f.body, p, made, [{n for _, n, _ in f.parameters}]) for f in functions]
    changing = changing_functions(p, functions, bodies)
    p.unit.mutating |= changing
    for f, body in zip(functions, bodies, strict=True):
        if f.form == "constructor":
            body = constructing(p, made, body)
        f = settled(made, f._replace(name=record.methods[f.name], body=body), f.name in changing)
        definitions.overload(p, f.name, f)
        p.unit.functions[f.name] = f


def changing_functions(p, functions, bodies):
    """Names of the member functions that may change ``this``, themselves or by others that they call."""
    found, before = set(), -1
    own = [
        (f, body) for f, body in zip(functions, bodies, strict=True)
        if f.parameters and f.parameters[0][1] == "this" and f.form != "place" and not f.parameters[0][0].is_const
    ]  # fmt: skip
    while len(found) > before:
        before = len(found)
        found |= {f.name for f, body in own if changes(p, body, found)}
    return found


def settled(made, f, is_changing):
    """A member function as it takes ``this``: as a value where it changes nothing of it."""
    if not f.parameters or f.parameters[0][1] != "this" or f.form == "place" or is_changing:
        return f
    this = f.parameters[0][0]
    if not records.has_array(made.record) and f.form != "itself":
        this = this._replace(is_reference=False)
    return f._replace(parameters=[(this, *f.parameters[0][1:]), *f.parameters[1:]])


def changes(p, tree, changing):
    """Whether statements or expressions may change ``this``; `changing` names functions that do."""
    if isinstance(tree, tuple) and tree and isinstance(tree[0], str):
        kind = tree[0]
        if kind == "assign" and root(tree[3]) == "this":
            return True
        if kind == "step" and root(tree[3]) == "this":
            return True
        if kind == "unary" and tree[2] == "&" and root(tree[3]) == "this":
            return True
        if kind == "declare" and any(d[0].is_reference and not d[0].is_const for d in tree[2]):
            return True
        if kind == "call":
            callee = tree[2]
            is_own = callee[0] == "member" and root(callee[2]) == "this"
            if is_own and (callee[3] in changing or callee[3] in p.unit.mutating):
                return True
            name = callee[2] if callee[0] == "name" else ""
            functions = p.unit.overloads.get(name) or [p.unit.functions.get(name)]
            is_known = name and name not in p.unit.templates
            takes = [f for f in functions if f and any(c.is_reference for c, _, _ in f.parameters)]
            if (not is_known or takes) and any(root(e) == "this" for e in tree[3]):
                return True
    return isinstance(tree, (tuple, list)) and any(changes(p, t, changing) for t in tree)


def member_function(p, made):
    """The Function of a member, without the class in its name; a constructor has none. None where nothing is defined."""
    place, tag = p.place, made.base.split("<")[0]
    ahead = set()
    while p.token.text in _AHEAD or p.token.text == "static":
        ahead.add(p.token.text)
        p.at += 1
    if "friend" in ahead:
        definitions.definition(p)
        return None
    if p.token.text == "~":
        p.at += 1
        p.name()
        p.parentheses()
        if p.take(";") or (p.take("=") and p.skip_to(";")) or statements.block(p)[2] == []:
            return None
        raise p.error(
            f"'{tag}' has a destructor", "do its work where the variable is last used", place
        )
    if p.token.text == tag and p.peek() == "(":
        p.at += 1
        form, result, name = "constructor", made, ""
    else:
        form = "static" if "static" in ahead else "method"
        if p.token.text == "operator":
            raise p.error("an operator that converts", "write a member function", place)
        result, name = definitions.declared_name(p, types.named_type(p)[0])
    parameters = definitions.parameters_of(p)
    is_const = False
    while p.token.text in _BEHIND:
        is_const = p.token.text == "const" or is_const
        p.at += 1
    if p.take("="):
        word = p.token.text
        p.skip_to(";")
        if form == "constructor" and word == "default" and not parameters:
            return Function("", place, made, [], ("block", place, []), False, place.line, form)
        return None
    first_values = given_values(p) if form == "constructor" else []
    if p.take(";"):
        raise p.error(
            f"'{name or tag}' is declared in the struct and not defined",
            "write its body there",
            place,
        )
    body = statements.block(p)
    body = ("block", body[1], [*first_values, *body[2]])
    if form == "method":
        this = made._replace(is_reference=True, is_const=is_const)
        parameters = [(this, "this", place), *parameters]
    function = Function(name, place, result, parameters, body, False, p.tokens[p.at - 1].line, form)
    return definitions.with_reference(p, function)


def given_values(p):
    """A constructor's list of first values, as assignments to members."""
    made = []
    if not p.take(":"):
        return made
    while True:
        place = p.place
        first = p.at
        name = p.name()
        base = p.unit.structs.get(name)
        if p.token.text == "<":
            p.at = first
            base, _ = types.named_type(p)
        end = {"(": ")", "{": "}"}.get(p.token.text)
        p.at += 1
        items = []
        while not p.take(end):
            items.append(expressions.assignment(p))
            p.take(",")
        if base is not None:
            name = f"<{base.base}>"
        made.append(("initialise", place, name, ("list", place, items)))
        if not p.take(","):
            return made


def made_by_functions(p, record):
    """Names of members that constructors make of nothing."""
    found = []
    for name, member in record.members.items():
        key = member.type.record.methods.get("") if member.type.record else None
        known = p.unit.overloads.get(key, [p.unit.functions.get(key)]) if key else ()
        if not member.type.extents and any(f is not None and not f.parameters for f in known):
            found.append(name)
    return found


def constructing(p, made, body):
    """A constructor's body: declares what it makes, sets first values, and returns it."""
    place = body[1]
    this = ("name", place, "this", None)
    given = {s[2] for s in body[2] if s[0] == "initialise"}
    values = {n: ("list", place, []) for n in made_by_functions(p, made.record)}
    values.update(made.record.defaults)
    first = [("initialise", place, n, v) for n, v in values.items() if n not in given]
    declared = ("declare", place, [(made, "this", ("bare", place), place)], False)
    content = definitions.without_values(body[2], this)
    return ("block", place, [declared, *first, *content, ("return", place, this)])


def _member(p, made, name):
    """Whether a struct or one from which it derives has a member or function of that name."""
    record = made.record
    if name in record.members or name in record.methods:
        return True
    return any(n.startswith("<") and _member(p, m.type, name) for n, m in record.members.items())


def qualified(tree, p, made, scopes):
    """The tree with ``this->`` in front of members that are named alone."""
    if isinstance(tree, list):
        return [qualified(t, p, made, scopes) for t in tree]
    if not isinstance(tree, tuple) or isinstance(tree, (CType, Place)) or not tree:
        return tree
    kind = tree[0]
    if kind == "name":
        name = tree[2]
        if any(name in s for s in scopes):
            return tree
        if f"{made.base}::{name}" in p.unit.constants:
            return (*tree[:2], f"{made.base}::{name}", None)
        if f"{made.base}::{name}" in p.unit.statics:
            return (*tree[:2], f"{made.base}::{name}", None)
        if name != "this" and _member(p, made, name):
            return ("member", tree[1], ("name", tree[1], "this", None), name)
        return tree
    if kind == "member":
        return (*tree[:2], qualified(tree[2], p, made, scopes), tree[3])
    if kind == "initialise":
        return (*tree[:3], qualified(tree[3], p, made, scopes))
    if kind in ("block", "for", "lambda"):
        inner = [*scopes, {n for _, n, _ in tree[2]} if kind == "lambda" else set()]
        return tuple(t if isinstance(t, str) else qualified(t, p, made, inner) for t in tree)
    if kind == "declare":
        items = []
        for one, name, value, here in tree[2]:
            one = one._replace(extents=tuple(qualified(e, p, made, scopes) for e in one.extents))
            items.append((one, name, qualified(value, p, made, scopes), here))
            scopes[-1].add(name)
        return (*tree[:2], items, *tree[3:])
    return tuple(t if isinstance(t, str) else qualified(t, p, made, scopes) for t in tree)


# ---- templates
def template(p, parameters, first):
    """Keep a template of a struct; the parser is at the word ``struct``."""
    p.at = first + 1
    name = p.name()
    if p.token.text == "<":
        raise p.error(f"a form of '{name}' for some parameters", "write one template, or a struct")
    p.unit.class_templates[name] = Template(parameters, first)
    while p.token.text not in ("{", ";") and p.token.kind != "end":
        p.at += 1
    if p.token.text == "{":
        p.at = past_balanced(p, p.at)
    p.expect(";")


def instance(p):
    """The CType of ``Name<...>`` at the parser."""
    from . import tags

    place, name = p.place, p.name()
    made = p.unit.class_templates[name]
    values = [
        v if isinstance(v, CType) else tags.whole(p, v) for v in expressions.template_arguments(p)
    ]
    names = [n for n, _, _ in made.parameters]
    if len(values) < len(names):
        outer, p.bound = p.bound, dict(zip(names, values, strict=False))
        traits.defaults(p, made.parameters, len(values))
        values, p.bound = list(p.bound.values()), outer
    if len(values) != len(made.parameters):
        raise p.error(
            f"'{name}' takes {len(made.parameters)} parameters; got {len(values)}",
            "give as many",
            place,
        )
    tag = f"{name}<{', '.join(map(str, values))}>"
    if tag not in p.unit.structs:
        before, bound = p.at, p.bound
        p.at = made.at
        p.bound = dict(zip(names, values, strict=True))
        tags.struct(p, tag)
        p.at, p.bound = before, bound
    return p.unit.structs[tag]
