"""What kernels around an expression share: their parameters, the dtypes that a call gives them, and their arguments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._engine import _Array, ndarray
from .arguments import is_packed
from .textures import TextureObject

TEXTURE = "texture"
C_NAMES = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned int", "int64": "long long", "uint64": "unsigned long long",
    "float16": "__half", "float32": "float", "float64": "double", "complex64": "complex<float>",
    "complex128": "complex<double>", TEXTURE: "cudaTextureObject_t",
}  # fmt: skip
BLOCK = 256
MOST_PLANS = 1000  # of one kernel: they are forgotten together


class Parameter(NamedTuple):
    """One of the names that a kernel takes: a dtype or a letter that stands for one."""

    type: str
    name: str
    is_raw: bool


def parameters(text, where):
    """The Parameters of ``"T x, raw float32 y"``."""
    made = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        words = [w for w in part.split() if w not in ("const", "_non_atomic")]
        is_raw = words[0] == "raw"
        words = words[is_raw:]
        if len(words) != 2 or not words[1].isidentifier():
            raise ValueError(
                f"{where}: a parameter is a type and a name; got {part!r}; write 'T x' or 'raw float32 y'"
            )
        kind = words[0]
        if len(kind) > 1:
            try:
                kind = np.dtype(kind).name
            except TypeError:
                kind = ""
            if kind not in C_NAMES:
                raise ValueError(
                    f"{where}: the type of '{words[1]}' is unknown; got {words[0]!r}; expected a dtype or a letter"
                )
        made.append(Parameter(kind, words[1], is_raw))
    return made


def readable(a):
    """The argument itself where it is an array or a number, else an array of it."""
    if isinstance(a, (_Array, np.ndarray, np.generic, int, float, complex, TextureObject)):
        return a
    if hasattr(a, "__cupy_get_ndarray__"):
        return a.__cupy_get_ndarray__()
    import unisono as un

    return un.asarray(a)


def key_of(a):
    """What decides how an argument is passed: its type, and of an array all but the elements."""
    kind = type(a)
    if kind is ndarray:
        return a.dtype.name, a.shape, a.strides, a.device.name
    if isinstance(a, np.ndarray):
        return a.dtype.str, a.shape, a.strides, None
    return kind


def is_number(a):
    """Whether it is a number of Python or NumPy, which kernels take by value."""
    return not isinstance(a, (_Array, np.ndarray, TextureObject))


def typedefs(letters):
    """C text that names the types of the letters."""
    return "".join(f"typedef {C_NAMES[d]} {k};\n" for k, d in letters.items())


def laid_out(a, dtype, shape, device):
    """The argument as a packed array of that shape on the device."""
    import unisono as un

    if isinstance(a, _Array) and a.dtype.name == dtype and a.device.name == device:
        if (shape is None or tuple(a.shape) == shape) and is_packed(a):
            return a
    made = un.asarray(a, dtype=dtype, device=device)
    if shape is not None and tuple(made.shape) != tuple(shape):
        made = un.broadcast_to(made, shape)
    return made if is_packed(made) else made.copy()


class Typed:
    """What both kernels have in common: parameters, and a text for each combination of dtypes."""

    def _begin(self, in_params, out_params, name, preamble, options):
        if not name.isidentifier():
            raise ValueError(
                f"Invalid kernel name: {type(self).__name__} got {name!r}; expected an identifier; write letters, "
                f"digits and underscores"
            )
        self.name = self.__name__ = name
        self._in, self._out = parameters(in_params, name), parameters(out_params, name)
        names = [p.name for p in (*self._in, *self._out)]
        if len(set(names)) != len(names):
            raise ValueError(f"{name}: parameters have different names; got {names}; rename one")
        for n in names:
            if n == "i" or n.startswith("_"):
                raise ValueError(
                    f"{name}: i and names with an underscore in front are taken; got the parameter {n!r}; rename it"
                )
        self.preamble, self.options = preamble, tuple(options)
        self._texts, self._plans = (
            {},
            {},
        )  # by dtypes and kinds of arguments; by `key_of` all of them

    in_params = property(lambda self: tuple(self._in), doc="The Parameters of arguments.")
    out_params = property(lambda self: tuple(self._out), doc="The Parameters of results.")
    nin = property(lambda self: len(self._in), doc="How many arguments it takes.")
    nout = property(lambda self: len(self._out), doc="How many results it has.")
    nargs = property(lambda self: self.nin + self.nout, doc="Both together.")

    @property
    def cached_codes(self):
        """The C texts made so far, by dtypes and kinds of arguments."""
        return {key: kernel.code for key, kernel in self._texts.items()}

    @property
    def cached_code(self):
        """The one C text made so far."""
        codes = list(self.cached_codes.values())
        if len(codes) != 1:
            raise RuntimeError(
                f"{self.name}: cached_code is for one text; got {len(codes)}; read cached_codes"
            )
        return codes[0]

    def _bound(self, given):
        """dtypes by letter of a call's arguments."""
        letters, numbers = {}, []
        for p, a in zip((*self._in, *self._out), given, strict=False):
            if len(p.type) > 1:
                continue
            if isinstance(a, TextureObject):
                letters[p.type] = TEXTURE
                continue
            dtype = getattr(a, "dtype", None)
            if dtype is None:
                numbers.append((p, a))
            elif letters.setdefault(p.type, dtype.name) != dtype.name:
                raise TypeError(
                    f"{self.name}: {p.type} is {letters[p.type]} and {dtype.name}; got both in one call; convert one "
                    f"argument, or name its type by another letter"
                )
        for p, a in numbers:
            letters.setdefault(p.type, np.asarray(a).dtype.name)
        return letters

    def _types(self, letters):
        missing = [p.type for p in self._out if len(p.type) == 1 and p.type not in letters]
        if missing:
            raise TypeError(
                f"{self.name}: the type {missing[0]} of a result is not known; got no argument of it; pass the "
                f"result, or write its dtype"
            )
        types = tuple(letters.get(p.type, p.type) for p in (*self._in, *self._out))
        for t in types:
            if t not in C_NAMES:
                raise TypeError(
                    f"{self.name}: kernels have no {t}; got an array of it; convert it with astype"
                )
        return types

    def _wrong_count(self, given):
        raise TypeError(
            f"{self.name}: takes {len(self._in)} arguments, and {len(self._out)} results where they are given; got "
            f"{len(given)}; give {', '.join(p.name for p in self._in)}"
        )

    def __reduce__(self):
        return _kernel_of, (type(self), *self._made_of)

    def __repr__(self):
        return f"<{type(self).__name__} {self.name}>"


def _kernel_of(kind, given, options):
    return kind(*given, **options)
