"""What stands outermost in a C text: functions and their parameters, templates, typedefs, variables of the module."""

from __future__ import annotations

from ..translation import records
from . import classes, expressions, statements, tags, traits, types
from .lexer import Place
from .nodes import CType, Function, Reference, Template
from .types import KERNEL, QUALIFIERS, TAGGED

TEXELS = ("float32", "int8", "uint8", "int16", "uint16")  # what float32 has room for


def template(p):
    p.at += 1
    if p.token.text != "<":  # template void k<float>(...); makes an instance, which calls make, too
        p.skip_to(";")
        return
    p.expect("<")
    parameters = []
    while not p.take(">"):
        kind = p.take("typename", "class") or str(types.named_type(p)[0])
        name = p.name() if p.token.kind == "name" else f"unnamed{p.at}"
        given = None
        if p.take("="):
            given = p.at
            traits.past_default(p)
        parameters.append((name, kind, given))
        p.take(",")
    first = p.at
    if p.token.text in ("struct", "class"):
        classes.template(p, parameters, first)
        return
    while p.token.text not in ("(", ";") and p.token.kind != "end":
        p.at += 1
    name = p.tokens[p.at - 1].text
    p.unit.templates[name] = Template(parameters, first)
    while p.token.text not in ("{", ";") and p.token.kind != "end":
        p.at += 1
    depth = 0
    while p.token.kind != "end":
        depth += {"{": 1, "}": -1}.get(p.token.text, 0)
        p.at += 1
        if depth == 0:
            break


def texture(p):
    """``texture<float, 2, cudaReadModeElementType> name;``"""
    place = p.place
    p.at += 1
    element, *others = expressions.template_arguments(p)
    words = [str(e[2]) for e in others]
    numbers = [w.removeprefix("cudaTextureType").removesuffix("D") for w in words]
    axes = next((int(n) for n in numbers if n.isdigit()), 1)
    if element.base not in TEXELS or element.record or element.is_pointer or axes not in (1, 2, 3):
        raise p.error(
            f"a texture of {element} along {axes} axes",
            "let it have numbers of at most 16 bits or float, along one to three axes",
            place,
        )
    value = CType("float32") if "cudaReadModeNormalizedFloat" in words else element
    while True:
        name = p.name()
        # For kernels it is memory: numbers that say how it is read, and the elements.
        extents = (("number", place, 1, "int32"),)
        memory = CType("float32", space="constant", extents=extents)
        p.unit.variables[name] = (memory, None, place)
        p.unit.textures[name] = Reference(element, axes, value)
        if not p.take(","):
            break
    p.expect(";")


def typedef(p):
    p.at += 1
    made, _ = types.named_type(p)
    while True:
        one = made._replace(is_pointer=bool(p.take("*")) or made.is_pointer)
        name = p.name()
        if one.record and one.base.startswith(("struct ", "union ")) and not one.is_pointer:
            one.record.name, one = name, one._replace(base=name)
        p.unit.types[name] = one
        tags.attributes(p)
        if not p.take(","):
            break
    p.expect(";")


def using(p):
    """``using name = type;``"""
    p.at += 1
    name = p.name()
    p.expect("=")
    p.unit.types[name] = types.cast_type(p)
    p.expect(";")


def declared_name(p, made):
    """(the type with what stands between it and the name, the name) of a function or variable."""
    while p.take("*"):
        made = made._replace(is_pointer=True)
    if p.take("&"):
        made = made._replace(is_reference=True)
    name = p.name()
    if name == "operator":
        while p.token.text != "(" or p.peek() == ")" and name == "operator":
            name += p.token.text
            p.at += 1
    return made, name


def parameters_of(p):
    """What stands in the parentheses of a function."""
    p.expect("(")
    parameters = []
    if p.token.text == "void" and p.peek() == ")":
        p.at += 1
    while not p.take(")"):
        parameters.append(parameter(p))
        if p.token.text != ")":
            p.expect(",")
    return parameters


def with_reference(p, f):
    """The Function in the form that says which reference it returns, where it returns one."""
    if f.body is None or not f.result.is_reference:
        return f
    first = f.parameters[0] if f.parameters else None
    returned = returns(f.body, [])
    is_first = first is not None and (first[0].is_reference or first[1] == "this")
    if (
        is_first
        and returned
        and all(r is not None and r[0] == "name" and r[2] == first[1] for r in returned)
    ):
        body = without_values(f.body)
        return f._replace(result=CType("void"), body=body, form="itself")
    if len(f.body[2]) == 1 and len(returned) == 1:
        return f._replace(form="place")
    raise p.error(
        f"'{f.name}' returns a reference",
        "return a value, or let one return statement be its body",
        f.place,
    )


def returns(tree, found):
    """The values of the return statements in a body."""
    if isinstance(tree, tuple) and tree[:1] == ("return",):
        found.append(tree[2])
    elif isinstance(tree, (tuple, list)) and tree[:1] != ("lambda",):
        for t in tree:
            returns(t, found)
    return found


def without_values(tree, value=None):
    """The body with return statements of the value in place of all."""
    if isinstance(tree, list):
        return [without_values(t, value) for t in tree]
    if not isinstance(tree, tuple) or isinstance(tree, (Place, CType)) or tree[:1] == ("lambda",):
        return tree
    if tree[:1] == ("return",):
        return ("return", tree[1], value)
    return tuple(without_values(t, value) for t in tree)


def definition(p, keep=True):
    start = p.place
    made, words = types.named_type(p)
    is_kernel = bool(words & KERNEL)
    if words & TAGGED and p.take(";"):  # defines a struct, and nothing of it
        return None
    place = p.place
    made, name = declared_name(p, made)
    if p.token.text != "(":
        return module_variable(p, made, words, name, place)
    parameters = parameters_of(p)
    p.take("noexcept")
    body = None if p.take(";") else statements.block(p)
    end = p.tokens[p.at - 1].line
    if is_kernel and (made.base != "void" or made.is_pointer):
        raise p.error(
            f"the kernel '{name}' returns {made}", "make it void, and store results", start
        )
    if is_kernel and body is not None:
        parameters = [(_typed_by_cast(c, n, body), n, at) for c, n, at in parameters]
    function = with_reference(p, Function(name, place, made, parameters, body, is_kernel, end))
    if function.form == "itself" and name.startswith("operator"):
        p.unit.mutating.add(name)
    if keep and (body is not None or name not in p.unit.functions):
        overload(p, name, function)
        p.unit.functions[name] = function
    return function


def overload(p, name, function):
    """Keep functions of one name apart by their parameters."""
    before = p.unit.functions.get(name)
    types = [c for c, _, _ in function.parameters]
    if before is None or (before.body is None and name not in p.unit.overloads):
        return
    known = p.unit.overloads.setdefault(name, [before])
    known[:] = [f for f in known if [c for c, _, _ in f.parameters] != types]
    known.append(function)


def module_variable(p, made, words, name, place):
    extents = types.extents(p)
    value = statements.initializer(p) if p.take("=") else None
    p.expect(";")
    if extents[:1] == (None,) and value is not None and value[0] == "list":
        extents = (("number", place, len(value[2]), "int32"), *extents[1:])
    is_known = made.is_const or "constexpr" in words
    if is_known and not extents and value is not None and value[0] != "list":
        p.unit.constants[name] = (made, value)
        return None
    if not made.space:
        raise p.error(
            f"'{name}' is a variable of the host",
            "write __device__ or __constant__ in front",
            place,
        )
    p.unit.variables[name] = (made._replace(extents=extents), value, place)
    return None


def parameter(p):
    made, words = types.named_type(p)
    while p.take("*"):
        if made.is_pointer:
            raise p.error("a pointer to pointers", "pass one array, and offsets into it")
        made = made._replace(is_pointer=True)
        while p.take(*QUALIFIERS):
            pass
    if p.take("&"):
        p.take(*QUALIFIERS)
        # What is not written is passed by value, but for arrays, which nobody copies.
        has_array = made.record is not None and records.has_array(made.record)
        made = made._replace(is_reference=not made.is_const or has_array)
    place = p.place
    name = p.name() if p.token.kind == "name" else f"unnamed{p.at}"
    if "volatile" in words:
        p.volatile.add(name)
    if p.token.text == "[":
        extents = types.extents(p, first_may_be_open=True)
        made = made._replace(is_pointer=True, extents=extents[1:])
    if p.take("="):
        made = made._replace(default=expressions.conditional(p))
    return made, name, place


def _typed_by_cast(made, name, body):
    """A parameter that points to void as the pointer that the function casts it to, where it is one only."""
    if made.base != "void" or not made.is_pointer:
        return made
    found = set()
    _casts(body, name, found)
    return made._replace(base=found.pop()) if len(found) == 1 else made


def _casts(tree, name, found):
    if isinstance(tree, (tuple, list)):
        is_cast = isinstance(tree, tuple) and len(tree) == 4 and tree[0] == "cast"
        if is_cast and tree[2].is_pointer and tree[3][:1] == ("name",) and tree[3][2] == name:
            found.add(tree[2].base)
        for t in tree:
            _casts(t, name, found)
