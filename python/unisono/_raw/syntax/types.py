"""Types of C: their words, qualifiers and address spaces, casts and extents."""

from __future__ import annotations

from ..translation import records
from . import classes, expressions, tags, traits
from .nodes import CType

WORDS = {
    "bool": "bool", "char": "int8", "short": "int16", "int": "int32", "long": "int64", "float": "float32",
    "double": "float64", "unsigned": "uint32", "signed": "int32", "half": "float16", "void": "void",
    "__half": "float16", "size_t": "uint64", "ptrdiff_t": "int64", "ssize_t": "int64",
    "uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "_Bool": "bool",
    "intptr_t": "int64", "uintptr_t": "uint64",
    "cuComplex": "complex64", "cuFloatComplex": "complex64", "cuDoubleComplex": "complex128",
    "grid_group": "grid_group", "thread_block": "thread_block", "thread_block_tile": "thread_block_tile",
    **{f"{u}int{b}_t": f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)},
}  # fmt: skip
_PLAIN = {"unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "void"}
QUALIFIERS = {
    "const", "volatile", "restrict", "__restrict__", "__restrict", "static", "inline", "__inline__",
    "__forceinline__", "__noinline__", "extern", "register", "constexpr", "__private", "private",
    "typename",
}  # fmt: skip
SPACES = {
    "__shared__": "local", "__local": "local", "local": "local", "__global": "global", "global": "global",
    "__constant__": "constant", "__constant": "constant", "constant": "constant", "__device__": "device",
}  # fmt: skip
KERNEL = {"__global__", "__kernel", "kernel"}
OF_OPENCL = frozenset(
    {"local", "global", "constant", "kernel", "private"}
)  # names like others in CUDA C
OF_GROUPS = frozenset({"grid_group", "thread_block", "thread_block_tile"})  # cooperative_groups.h
TAGGED = {"struct", "enum", "union", "class"}


def is_type(p, k=0):
    t = p.tokens[min(p.at + k, len(p.tokens) - 1)]
    while t.kind == "name" and p.peek(k + 1) == "::":  # thrust::complex
        k += 2
        t = p.tokens[min(p.at + k, len(p.tokens) - 1)]
    if t.text == "complex" and p.peek(k + 1) == "<" or traits.is_made(p, k):
        return True
    if t.kind != "name" or t.text in p.plain_names:
        return False
    known = t.text in WORDS or t.text in QUALIFIERS or t.text in SPACES or t.text in KERNEL
    bound = p.bound.get(t.text)
    if known or t.text in p.unit.types or isinstance(bound, CType):
        return True
    is_template = t.text in p.unit.class_templates and p.peek(k + 1) == "<"
    if t.text in TAGGED or t.text == "auto" or is_template:
        return True
    return records.vector_named(t.text, p.is_cuda) is not None


def named_type(p, may_be_auto=False):
    """(CType without pointers, the words that stood there)."""
    words, base, space, is_const = [], None, "", False
    all_words = set()
    place = p.place
    while p.token.kind == "name":
        w = p.token.text
        if w in p.plain_names and (base or words):
            break
        if w in QUALIFIERS or w in KERNEL or w == "__host__":
            is_const = is_const or w in ("const", "constexpr")
        elif w in SPACES:
            space = SPACES[w] if SPACES[w] != "device" or not space else space
        elif w == "__launch_bounds__":
            p.at += 1
            p.parentheses()
            continue
        elif w in ("__attribute__", "__align__"):
            tags.attributes(p)
            continue
        elif w in TAGGED and base is None and not words:
            all_words.add(w)
            base = tags.enumeration(p) if w == "enum" else tags.struct(p)
            continue
        elif w == "auto" and may_be_auto and base is None and not words:
            base = CType(w)
        elif w == "auto":
            raise p.error("'auto' is not translated", "write the type of each variable")
        elif base is None and not words and w in p.unit.class_templates and p.peek() == "<":
            base = classes.instance(p)
            continue
        elif base is None and not words and isinstance(p.bound.get(w), CType):
            base = p.bound[w]
        elif base is None and not words and w in p.unit.types:
            base = p.unit.types[w]
        elif w in _PLAIN and (base is None):
            words.append(w)
        elif base is None and not words and w in WORDS:
            base = CType(WORDS[w])
            if w == "thread_block_tile" and p.peek() == "<":
                p.at += 1
                expressions.template_arguments(p)
                continue
        elif base is None and not words and p.peek() == "::":
            p.at += 2
            continue
        elif base is None and not words and w == "complex" and p.peek() == "<":
            base = complex_type(p)
            continue
        elif base is None and not words and traits.is_made(p):
            base = traits.made(p)
            continue
        elif base is None and not words:
            vector = records.vector_named(w, p.is_cuda)
            if vector is None:
                raise p.error(
                    f"'{w}' is not a known type",
                    "use numbers, vectors and structs, and pointers to them",
                )
            base = CType(vector.name, record=vector)
        else:
            break
        all_words.add(w)
        p.at += 1
    if base is None and not words:
        raise p.error(f"expected a type; got '{p.token.text}'", "write a type", place)
    made = base or CType(_plain(words))
    return made._replace(is_const=is_const or made.is_const, space=space), all_words


def complex_type(p):
    """The type ``complex<T>``, at whose first token the parser is."""
    p.at += 2
    part, _ = named_type(p)
    if not ends_arguments(p):
        p.expect(">")
    if part.base not in ("float32", "float64"):
        raise p.error(
            f"complex numbers are of float or double; got {part.base}", "write complex<float>"
        )
    return CType("complex64" if part.base == "float32" else "complex128")


def ends_arguments(p):
    """Takes the ``>`` behind arguments of a template, if it is there."""
    if p.token.text == ">>":  # the end of two lists of arguments
        p.tokens[p.at] = p.token._replace(text=">")
        return True
    return bool(p.take(">"))


def cast_type(p):
    made, _ = named_type(p)
    while p.take("*"):
        made = made._replace(is_pointer=True)
    return made


def extents(p, first_may_be_open=False):
    made = []
    while p.take("["):
        if p.token.text == "]":
            made.append(None)
        else:
            made.append(expressions.conditional(p))
        p.expect("]")
    return tuple(made)


def _plain(words):
    is_unsigned = "unsigned" in words
    rest = [w for w in words if w not in ("unsigned", "signed")]
    if rest.count("long") and "double" not in rest:
        made = "int64"
    elif "short" in rest:
        made = "int16"
    elif not rest:
        made = "int32"
    else:
        made = WORDS[[w for w in rest if w != "long"][-1]]
    return "u" + made if is_unsigned else made
