"""C types of dtypes, structs among them, and arguments of generated kernels."""

import re

import numpy as np

from .. import cltypes

_names = {
    "char": np.int8, "unsigned char": np.uint8, "short": np.int16, "unsigned short": np.uint16, "int": np.int32,
    "unsigned int": np.uint32, "unsigned": np.uint32, "long": np.int64, "unsigned long": np.uint64,
    "float": np.float32, "double": np.float64, "half": np.float16, "cfloat_t": np.complex64,
    "cdouble_t": np.complex128, "bool": np.bool_, "signed char": np.int8,
}  # fmt: skip
NAME_TO_DTYPE = {
    **{name: np.dtype(t) for name, t in _names.items()},
    **{name: np.dtype(getattr(cltypes, name)) for name in ("uchar", "ushort", "uint", "ulong")},
    "size_t": np.dtype(np.uint64),
    "ptrdiff_t": np.dtype(np.int64),
    "intptr_t": np.dtype(np.int64),
    **cltypes.vec_names,
}
_DTYPE_TO_NAME = {}
for _name in (
    "char uchar short ushort int uint long ulong half float double cfloat_t cdouble_t bool".split()
):
    _DTYPE_TO_NAME[NAME_TO_DTYPE[_name]] = _name
_DTYPE_TO_NAME.update({dtype: name for name, dtype in cltypes.vec_names.items()})


def register_dtype(dtype, name, alias_ok=False):
    """Let a name stand for a dtype."""
    get_or_register_dtype(name, dtype)


def get_or_register_dtype(names, dtype=None):
    """The dtype of a name, which is registered for it if one is given."""
    names = [names] if isinstance(names, str) else list(names)
    if dtype is None:
        return NAME_TO_DTYPE[names[0]]
    dtype = np.dtype(dtype)
    for name in names:
        known = NAME_TO_DTYPE.setdefault(name, dtype)
        if known != dtype:
            raise RuntimeError(f"get_or_register_dtype: '{name}' stands for another dtype: {known}")
    known = _DTYPE_TO_NAME.setdefault(dtype, names[0])
    return NAME_TO_DTYPE.get(known, dtype)


def dtype_to_ctype(dtype):
    """Name of the C type of a dtype."""
    dtype = np.dtype(dtype)
    try:
        return _DTYPE_TO_NAME[dtype]
    except KeyError:
        raise ValueError(
            f"dtype_to_ctype: no C type is known for {dtype}; register one by get_or_register_dtype(name, dtype)"
        ) from None


def _layout(dtype):
    """(offsets, size, alignment) that C gives the fields of a struct."""
    offsets, at, most = [], 0, 1
    for name in dtype.names:
        field = dtype.fields[name][0]
        base, count = (
            (field.subdtype[0], int(np.prod(field.shape))) if field.subdtype else (field, 1)
        )
        if base.names and base not in cltypes.vec_type_to_scalar_and_count:
            align = _layout(base)[2]
        else:
            align = base.itemsize
        at = -(-at // align) * align
        offsets.append(at)
        at += base.itemsize * count
        most = max(most, align)
    return offsets, -(-at // most) * most, most


def match_dtype_to_c_struct(device, name, dtype, context=None):
    """The dtype with the places that C gives its fields, and the C text that declares it.

    Returns
    -------
    (dtype, str)
    """
    dtype = np.dtype(dtype)
    names = list(dtype.names)
    offsets, size, _ = _layout(dtype)
    made = np.dtype(
        {
            "names": names,
            "formats": [dtype.fields[n][0] for n in names],
            "offsets": offsets,
            "itemsize": size,
        }
    )
    return made, _declaration(name, made)


def _declaration(name, dtype):
    lines = []
    for field_name in dtype.names:
        field = dtype.fields[field_name][0]
        base, shape = field.subdtype if field.subdtype else (field, ())
        sizes = "".join(f"[{n}]" for n in shape)
        lines.append(f"  {dtype_to_ctype(base)} {field_name}{sizes};")
    return "typedef struct {\n" + "\n".join(lines) + f"\n}} {name};\n\n"


def dtype_to_c_struct(device, dtype):
    """C text that declares a registered struct."""
    return _declaration(dtype_to_ctype(dtype), np.dtype(dtype))


class DtypedArgument:
    """An argument of a generated kernel that has a dtype."""

    def __init__(self, dtype, name):
        self.dtype, self.name = np.dtype(dtype), name

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"

    def __eq__(self, other):
        return type(self) is type(other) and self.dtype == other.dtype and self.name == other.name

    def __hash__(self):
        return hash((type(self), self.dtype, self.name))


class VectorArg(DtypedArgument):
    """An array."""

    def __init__(self, dtype, name, with_offset=False):
        super().__init__(dtype, name)
        self.with_offset = with_offset

    def declarator(self):
        """The parameter, in C."""
        if self.with_offset:
            return f"__global {dtype_to_ctype(self.dtype)} *{self.name}__base, long {self.name}__offset"
        return f"__global {dtype_to_ctype(self.dtype)} *{self.name}"


class ScalarArg(DtypedArgument):
    """A number."""

    def declarator(self):
        """The parameter, in C."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"


class OtherArg:
    """Whatever a C declarator says."""

    def __init__(self, declarator, name):
        self._declarator, self.name = declarator, name

    def declarator(self):
        """The parameter, in C."""
        return self._declarator


Argument = DtypedArgument


def parse_c_arg(c_arg, with_offset=False):
    """The argument that a C declarator declares."""
    text = re.sub(
        r"\b(__global|global|__const|const|volatile|__restrict__|__restrict|restrict)\b", " ", c_arg
    )
    found = re.fullmatch(r"\s*([A-Za-z_][\w ]*?)\s*(\*?)\s*([A-Za-z_]\w*)\s*(\[\s*\])?\s*", text)
    if not found:
        raise ValueError(f"argument: expected a C declarator as 'float *x'; got {c_arg!r}")
    kind = " ".join(found[1].split())
    if kind not in NAME_TO_DTYPE:
        raise ValueError(
            f"argument: unknown C type '{kind}' in {c_arg!r}; register it by get_or_register_dtype"
        )
    if found[2] or found[4]:
        return VectorArg(NAME_TO_DTYPE[kind], found[3], with_offset)
    return ScalarArg(NAME_TO_DTYPE[kind], found[3])


def parse_arg_list(arguments, with_offset=False):
    """Arguments of a text with commas between declarators, or of a list."""
    if isinstance(arguments, str):
        arguments = arguments.split(",") if arguments.strip() else []
    made = []
    for a in arguments:
        if isinstance(a, str):
            a = parse_c_arg(a, with_offset)
        elif with_offset and isinstance(a, VectorArg):
            a = VectorArg(a.dtype, a.name, True)
        made.append(a)
    return made


def get_arg_offset_adjuster_code(arguments):
    """C statements that make arrays of bases and offsets."""
    lines = []
    for a in arguments:
        if isinstance(a, VectorArg) and a.with_offset:
            kind = dtype_to_ctype(a.dtype)
            lines.append(
                f"__global {kind} *{a.name} = (__global {kind} *) ((__global char *) {a.name}__base + {a.name}__offset);"
            )
    return "\n".join(lines)


def get_arg_list_scalar_arg_dtypes(arguments):
    """Types for `set_scalar_arg_dtypes`."""
    made = []
    for a in arguments:
        if isinstance(a, ScalarArg):
            made.append(a.dtype)
        else:
            made += [None, np.int64] if getattr(a, "with_offset", False) else [None]
    return made


def declarations(arguments):
    """C parameters."""
    return ", ".join(a.declarator() for a in arguments)


def preamble_of(arguments, dtypes=(), text=""):
    """What generated programs need before the user's preamble."""
    found = {a.dtype for a in arguments if isinstance(a, DtypedArgument)} | set(
        map(np.dtype, dtypes)
    )
    lines = []
    if np.dtype(np.float64) in found or np.dtype(np.complex128) in found:
        lines += ["#pragma OPENCL EXTENSION cl_khr_fp64: enable", "#define PYOPENCL_DEFINE_CDOUBLE"]
    if any(t.kind == "c" for t in found):
        lines.append("#include <pyopencl-complex.h>")
    return "\n".join([*lines, text, ""])


def _are_alike(first, second):
    """Whether they are integers of one size."""
    return first.itemsize == second.itemsize and first.kind in "iu" and second.kind in "iu"


def pass_arguments(arguments, values):
    """(arguments of the kernel, first array) for values."""
    if len(values) != len(arguments):
        names = ", ".join(a.declarator() for a in arguments)
        raise TypeError(f"kernel: expected {len(arguments)} arguments: {names}; got {len(values)}")
    made, first = [], None
    for a, value in zip(arguments, values, strict=True):
        if isinstance(a, VectorArg):
            if a.with_offset and getattr(value, "_is_lent", False) and value.dtype is a.dtype:
                first = value if first is None else first  # the short way of what follows
                made += (value._base, value._offset)
                continue
            if not hasattr(value, "base_data"):
                if value is None or not a.with_offset:
                    made += [value, 0] if a.with_offset else [value]
                    continue
                raise TypeError(
                    f"kernel: argument '{a.name}' is an array on the device; got {type(value).__name__}"
                )
            if value.dtype != a.dtype and not _are_alike(value.dtype, a.dtype):
                raise TypeError(
                    f"kernel: argument '{a.name}' has elements of {a.dtype}; got {value.dtype}"
                )
            if value.events:
                value.finish()
            first = value if first is None else first
            made += [value.base_data, value.offset] if a.with_offset else [value.data]
        elif isinstance(a, ScalarArg):
            if a.dtype.kind == "c" or a.dtype.names:
                made.append(np.asarray(value, a.dtype))
            else:
                made.append(value.get()[()] if hasattr(value, "base_data") else value)
        else:
            made.append(value)
    return made, first
