"""How compiled functions call C functions that take structs or functions.

C text around such a function takes numbers alone: those of a struct one by one, addresses as integers. Its forms say
how the front end makes these of what the program passes. A struct that comes back is a named tuple.
"""

from __future__ import annotations

import ast
import collections
import functools

from .c_bits import units
from .c_types import _memory, _signature

prefix = "unisono_flat_"
c_names = {
    "float64": "double", "float32": "float", "bool": "_Bool", "int8": "signed char", "int16": "short", "int32": "int",
    "int64": "long", "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
    "uint64": "unsigned long",
}  # fmt: skip
_most_leaves = 64  # numbers of a struct by value


class _Refused(Exception):
    """Why compiled functions cannot pass such a struct by value."""


def flat(name, parameters, types, structs):
    """C text around a function (None where compiled functions cannot call it), and its forms as text.

    Parameters
    ----------
    types : tuple
        Of the result, and those of the parameters: (as C writes it, form, struct, whether what it points to is const).
    structs : dict
        By name (bytes, fields or None); see `struct_row` of bindings/c/text.cpp.
    """
    result, params = types
    heads, lines, given, forms = [], [], [], []
    try:
        for k, (spelling, form, record, is_const) in enumerate(params):
            if form == "record":
                leaves = []
                forms.append(_struct(parameters[k], spelling, record, structs, "", leaves))
                lines.append(
                    f"__typeof__({spelling}) a{k}_; __builtin_memset(&a{k}_, 0, sizeof a{k}_);"
                )
                for i, (path, dtype) in enumerate(leaves):
                    heads.append(f"{c_names[dtype or 'uint64']} p{k}_{i}_")
                    lines.append(f"a{k}_{path} = {'' if dtype else '(void*) '}p{k}_{i}_;")
                given.append(f"a{k}_")
            elif form == "complex":
                heads += [f"double p{k}_0_", f"double p{k}_1_"]
                given.append(f"__builtin_complex(p{k}_0_, p{k}_1_)")
                forms.append(_parts(parameters[k], spelling))
            elif form == "long double":
                heads.append(f"double p{k}_")
                given.append(f"p{k}_")
                forms.append(("plain", parameters[k], spelling, None))
            elif form in ("record*", "function") or spelling in _memory:
                heads.append(f"unsigned long long p{k}_")
                given.append(f"({spelling}) p{k}_")
                forms.append(_address(parameters[k], spelling, form, record, is_const, structs))
            else:
                heads.append(f"__typeof__({spelling}) p{k}_")
                given.append(f"p{k}_")
                forms.append(("plain", parameters[k], spelling, None))
        call, gives, back = f"{name}({', '.join(given)})", "void", None
        if result[1] == "record":
            leaves = []
            back = _struct("result", result[0], result[2], structs, "", leaves)
            heads += [f"{c_names[dtype or 'uint64']} *r{i}_" for i, (_, dtype) in enumerate(leaves)]
            lines.append(f"__typeof__({result[0]}) r_ = {call};")
            for i, (path, dtype) in enumerate(leaves):
                lines.append(f"*r{i}_ = {'' if dtype else '(unsigned long) '}r_{path};")
        elif result[1] == "complex":
            back = _parts("result", result[0])
            heads += ["double *r0_", "double *r1_"]
            lines.append(f"{result[0]} r_ = {call}; *r0_ = __real__ r_; *r1_ = __imag__ r_;")
        elif result[1] in ("pointer", "record*", "function"):
            gives = "unsigned long long"
            lines.append(f"return (unsigned long long) {call};")
        else:
            is_void = result[1] == "void"
            gives = "double" if result[1] == "long double" else f"__typeof__({result[0]})"
            gives = "void" if is_void else gives
            lines.append(f"{call};" if is_void else f"return {call};")
    except _Refused as why:
        refused = tuple(("refused", p, str(why)) for p in parameters)
        return None, repr((refused, None, False))
    text = f"{gives} {prefix}{name}({', '.join(heads) or 'void'}) {{ {' '.join(lines)} }}\n"
    return text, repr((tuple(forms), back, False))


def _parts(name, spelling):
    """The form of a complex number."""
    parts = (("plain", f"{name}.{p}", spelling, "float64") for p in ("real", "imag"))
    return ("complex", name, spelling, tuple(parts))


def _struct(name, spelling, record, structs, path, leaves):
    """The form of a struct by value; adds the numbers in it to `leaves`, as (path in C, dtype or None of an address)."""
    _, fields = structs.get(record, (0, None))
    if not fields:
        raise _Refused(f"{spelling} is or has a union, or has no fields")
    items = []
    for field, dtype, inner, extents, _, _, is_pointer, *_ in fields:
        own, here = f"{name}.{field}", f"{path}.{field}"
        if not (dtype or inner or is_pointer):
            raise _Refused(f"its field '{field}' is not a number, struct or pointer")
        items.append(_field(own, here, dtype, inner, extents, spelling, structs, leaves))
    names = tuple(f[0] for f in fields)
    return ("struct", name, spelling, record, names, tuple(items))


def _field(name, path, dtype, inner, extents, spelling, structs, leaves):
    if extents:
        items = [
            _field(name, f"{path}[{i}]", dtype, inner, extents[1:], spelling, structs, leaves)
            for i in range(extents[0])
        ]
        return ("items", name, spelling, tuple(items))
    if inner:
        return _struct(name, inner, inner, structs, path, leaves)
    if len(leaves) >= _most_leaves:
        raise _Refused(f"{spelling} has more than {_most_leaves} numbers")
    leaves.append((path, dtype))
    return ("plain", name, dtype or "an address", dtype or "uint64")


def _address(name, spelling, form, record, is_const, structs):
    signature = _signature(spelling) if form == "function" else None
    if signature:
        result, _, rest = signature.partition("(")
        args = tuple(a for a in rest[:-1].split(",") if a)
        return ("callback", name, spelling, args, "" if result == "void" else result)
    size, fields = structs.get(record, (0, None)) if form != "function" else (0, None)
    found = []
    _leaves(fields or (), structs, "", 0, found)
    return ("address", name, spelling, is_const, size if fields else 0, tuple(found))


def _leaves(fields, structs, path, start, found):
    """Where the numbers of a struct lie, as compiled functions read structured arrays."""
    for name, dtype, inner, _, offset, _, is_pointer, bits, _ in fields:
        if inner:
            _leaves(
                structs.get(inner, (0, None))[1] or (),
                structs,
                f"{path}{name}.",
                start + offset,
                found,
            )
        elif not bits and (dtype or is_pointer):
            found.append((f"{path}{name}", start + offset, dtype or "uint64"))
    for name, offset, size in units(fields):
        number = f"uint{8 * size}" if size in (1, 2, 4, 8) else "uint8"
        found.append((f"{path}{name}", start + offset, number))


def read(text):
    """The forms that `flat` wrote, with a class of named tuples in place of each struct's name and fields."""

    def classes(form):
        if form is not None and form[0] == "struct":
            _, name, spelling, record, names, items = form
            return (
                "struct",
                name,
                spelling,
                tuple_class(record, names),
                tuple(map(classes, items)),
            )
        if form is not None and form[0] == "items":
            return (*form[:3], tuple(map(classes, form[3])))
        return form

    params, result, may_throw, *more = ast.literal_eval(text)
    return tuple(map(classes, params)), classes(result), may_throw, bool(more)


@functools.cache
def tuple_class(name, fields):
    """The named tuple that compiled functions get of a C struct."""
    made = collections.namedtuple(name.replace(".", "_"), fields, rename=True)
    made.__doc__ = f"A C struct {name}."
    return made
