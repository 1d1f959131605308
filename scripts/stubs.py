"""Writes the types that checkers and editors see, from the signatures and docstrings that are there: scripts/stubs.py [--check].

`python/unisono/_engine.pyi` holds the extension's, `__init__.pyi` the namespace, which is loaded piece by piece and so
cannot be read from its source, and `linalg/__init__.pyi` and the like the sub-packages.
"""

import builtins
import importlib
import inspect
import re
import subprocess
import sys
import types
from pathlib import Path

import opencl_stubs
import stub_types
import unisono as un
from unisono import _engine

HOME = Path(__file__).resolve().parents[1] / "python/unisono"
ENGINE_HEAD = '''"""Types of the extension, written by scripts/stubs.py."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Self, TypeAlias
from typing import overload as _overload

class HasArray(Protocol):
    """Arrays of other libraries."""

    def __array__(self) -> Any: ...

ArrayLike: TypeAlias = "ndarray | HasArray | complex | bytes | bytearray | memoryview | Sequence[Any]"
DTypeLike: TypeAlias = Any
DeviceLike: TypeAlias = "str | Device | None"
Axis: TypeAlias = int | Sequence[int] | None

__version__: str
'''
HEAD = '''"""Types of {what}, written by scripts/stubs.py."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Concatenate, Generic, Literal, NamedTuple, ParamSpec, Self, TypeVar
from typing import overload as _overload

from {engine} import ArrayLike, Axis, DeviceLike, DTypeLike
'''

ARRAY_API = '''"""Types of ``unisono.array_api``, written by scripts/stubs.py."""

from typing import Any

from .._engine import ndarray

class Array(ndarray): ...

def standard(result: Any) -> Any: ...
def __getattr__(name: str) -> Any: ...
'''

# Types of parameters by their names, and else by their defaults.
PARAMETERS = {
    **dict.fromkeys(
        "x x1 x2 a b A B arr ary m array y v condition element test_elements fill_value values".split(),
        "ArrayLike",
    ),
    **dict.fromkeys("arrays tup".split(), "Sequence[ArrayLike]"),
    "axis": "Axis",
    "dtype": "DTypeLike",
    "out": "ndarray | None",
    "shape": "int | Sequence[int]",
    "device": "DeviceLike",
    "mesh": "Mesh | None",
    "where": "ArrayLike",
    "order": "str | None",
    "copy": "bool | None",
    "size": "int | Sequence[int] | None",
    "n": "int | None",
}
BY_DEFAULT = {bool: "bool", str: "str", float: "float"}
# What a docstring says is returned, by its beginning.
RETURNS = (
    (r"tuple of (ndarray|arrays)", "tuple[ndarray, ...]"),
    (r"list of (ndarray|arrays)", "list[ndarray]"),
    (r"list", "list[Any]"),
    (r"tuple", "tuple[Any, ...]"),
    (r"dict of int", "dict[str, int]"),
    (r"dict", "dict[str, Any]"),
    (r"(bool|int|str|float|bytes)$", r"\1"),
    (r"ndarray", "ndarray"),
    (r"(Generator)$", r"\1"),
)
ATTRIBUTES = {
    "shape": "tuple[int, ...]",
    "strides": "tuple[int, ...]",
    **dict.fromkeys("ndim size itemsize nbytes".split(), "int"),
    "dtype": "Any",
    "device": "Device",
    **dict.fromkeys("T mT real imag".split(), "ndarray"),
    **dict.fromkeys("flags flat".split(), "Any"),
    "data": "memoryview",
}
# Results of the array's methods that are no arrays.
RESULTS = {
    "fill": "None", "item": "Any", "tolist": "Any", "tobytes": "bytes", "__array__": "Any", "__dlpack__": "Any",
    "__dlpack_device__": "tuple[int, int]", "__complex__": "complex", "__format__": "str", "__copy__": "Self",
    "__deepcopy__": "Self", "__reduce__": "tuple[Any, ...]", "__array_ufunc__": "Any", "__array_function__": "Any",
    "__array_namespace__": "Any", "sort": "None", "partition": "None", "put": "None", "setfield": "None", "dump": "None", "dumps": "bytes",
    "tofile": "None", "nonzero": "tuple[ndarray, ...]", "_repr_html_": "str", "__round__": "Any",
}  # fmt: skip
SLOTS = {
    "__bool__": ("self", "bool"),
    "__int__": ("self", "int"),
    "__float__": ("self", "float"),
    "__index__": ("self", "int"),
    "__len__": ("self", "int"),
    "__iter__": ("self", "Iterator[ndarray]"),
    "__hash__": ("self", "int"),
    "__contains__": ("self, value: object, /", "bool"),
    "__getitem__": ("self, key: Any, /", "ndarray"),
    "__setitem__": ("self, key: Any, value: ArrayLike, /", "None"),
    **dict.fromkeys(("__neg__", "__pos__", "__abs__", "__invert__"), ("self", "ndarray")),
}
BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
COMPARE = "lt le gt ge eq ne"


def type_of_parameter(p):
    """Its annotation in the stub."""
    if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
        return "Any"
    kind = PARAMETERS.get(p.name)
    if kind is None and p.default is not p.empty:
        kind = BY_DEFAULT.get(type(p.default))
    kind = kind or "Any"
    if (
        p.default is None
        and kind not in ("Any", "Axis", "DTypeLike", "DeviceLike")
        and "None" not in kind
    ):
        kind += " | None"
    return kind


def parameters_of(signature, bound=False):
    """Text of the parameters; `bound`: the first is self."""
    parts, seen_slash, seen_star = [], False, False
    # What is called _more is there for a message: nobody may give it.
    found = [p for p in signature.parameters.values() if p.name != "_more"]
    if bound and (not found or found[0].name not in ("self", "cls")):
        parts.append("self")  # the extension's own text has left it out
        bound = False
    for k, p in enumerate(found):
        if seen_slash and p.kind is not p.POSITIONAL_ONLY:
            parts.append("/")
            seen_slash = False
        if p.kind is p.POSITIONAL_ONLY:
            seen_slash = True
        if p.kind is p.KEYWORD_ONLY and not seen_star:
            parts.append("*")
            seen_star = True
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        seen_star = seen_star or p.kind is p.VAR_POSITIONAL
        if bound and k == 0:
            parts.append(p.name)
            continue
        default = "" if p.default is p.empty else " = ..."
        parts.append(f"{stars}{p.name}: {type_of_parameter(p)}{default}")
    return ", ".join(parts + (["/"] if seen_slash else []))


def result_of(function):
    """The type that the docstring's Returns names, or Any."""
    found = re.search(r"Returns\n-+\n(.*)", inspect.getdoc(function) or "")
    if not found:
        return "Any"
    text = found[1].partition(":")[2].strip() or found[1].strip()
    if re.search(r"\bor\b(?! (a )?values?)", text):
        return "Any"
    for pattern, kind in RETURNS:
        if re.match(pattern, text):
            return re.match(pattern, text).expand(kind)
    return "Any"


def signature_of(function):
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        return None


def function_lines(name, function, indent="", bound=False):
    """A definition; of what cannot be inspected with any arguments."""
    if not indent and name in stub_types.DEFINITIONS:
        return stub_types.DEFINITIONS[name]
    signature = signature_of(function)
    text = (
        parameters_of(signature, bound)
        if signature
        else "self, *args: Any, **options: Any"
        if bound
        else "*args: Any, **options: Any"
    )
    result = (not indent and stub_types.RESULTS.get(name)) or result_of(function)
    return [f"{indent}def {name}({text}) -> {result}: ..."]


def array_lines():
    """The array's class: its signatures are the extension's own."""
    lines = ["class ndarray:"]
    own = dir(_engine.ndarray)
    lines.append(
        "    def __new__(cls, shape: int | Sequence[int], dtype: DTypeLike = ...) -> Self: ..."
    )
    for name in own:
        value = getattr(_engine.ndarray, name)
        if name in ATTRIBUTES:
            lines += ["    @property", f"    def {name}(self) -> {ATTRIBUTES[name]}: ..."]
        elif name in SLOTS:
            lines.append(f"    def {name}({SLOTS[name][0]}) -> {SLOTS[name][1]}: ...")
        elif (
            isinstance(value, types.MethodDescriptorType)
            and name not in dir(object)
            or name in RESULTS
        ):
            if name in ("__array_interface__",):
                continue
            parameters = parameters_of(inspect.signature(value), bound=True)
            lines.append(f"    def {name}({parameters}) -> {RESULTS.get(name, 'ndarray')}: ...")
    for op in BINARY.split():
        for prefix, result in (("", "ndarray"), ("r", "ndarray"), ("i", "Self")):
            if f"__{prefix}{op}__" in own:
                lines.append(
                    f"    def __{prefix}{op}__(self, other: ArrayLike, /) -> {result}: ..."
                )
    for op in COMPARE.split():
        ignore = "  # type: ignore[override]" if op in ("eq", "ne") else ""
        lines.append(f"    def __{op}__(self, other: ArrayLike, /) -> ndarray: ...{ignore}")
    return lines


def class_lines(name, kind):
    """A class by its public members, and the special ones that it defines itself."""
    if issubclass(kind, BaseException):
        return [f"class {name}({', '.join(b.__name__ for b in kind.__bases__)}): ..."]
    special = "__init__ __call__ __enter__ __exit__ __iter__ __next__ __len__ __getitem__ __setitem__ __contains__ __eq__ __hash__".split()
    is_array = issubclass(kind, un.ndarray)
    lines = [f"class {name}(ndarray):" if is_array else f"class {name}:"]
    own = (kind,) if is_array else kind.__mro__[:-1]
    members = {k: v for c in reversed(own) for k, v in vars(c).items()}
    members = {k: members[k] for k in sorted(members)}
    if is_array:  # what is there already, lifted, stays as it is
        members = {k: v for k, v in members.items() if not hasattr(un.ndarray, k) or k in special}
        if "__new__" in vars(kind):
            made = function_lines("__init__", kind.__new__, "    ", True)
            lines += [x.replace("cls,", "self,").replace("-> Any:", "-> None:") for x in made]
    for member, value in members.items():
        if member.startswith("_") and member not in special:
            continue
        value = inspect.getattr_static(kind, member)
        if isinstance(value, (classmethod, staticmethod)):
            word = type(value).__name__
            lines.append(f"    @{word}")
            lines += function_lines(member, value.__func__, "    ", word == "classmethod")
        elif member == "__init__":
            text = function_lines(member, value, "    ", True)[0]
            lines.append(re.sub(r"-> .*:", "-> None:", text))
        elif member == "__hash__":
            lines.append(
                "    def __hash__(self) -> int: ..."
                if value
                else "    __hash__ = None  # type: ignore[assignment]"
            )
        elif member == "__eq__":
            lines.append("    def __eq__(self, other: object, /) -> bool: ...")
        elif callable(value):
            lines += function_lines(member, value, "    ", True)
        elif member == "__iter__":  # None says that there is no iteration
            lines.append("    __iter__: None")
        else:
            lines += ["    @property", f"    def {member}(self) -> Any: ..."]
            if getattr(value, "fset", None) is not None:
                lines += [
                    f"    @{member}.setter",
                    f"    def {member}(self, value: Any) -> None: ...",
                ]
    if len(lines) == 1:
        lines.append(
            "    ..." if is_array else "    def __getattr__(self, name: str, /) -> Any: ..."
        )
    return lines


def engine_page():
    """Text of _engine.pyi."""
    lines = [ENGINE_HEAD]
    for name in sorted(n for n in vars(_engine) if not n.startswith("_")):
        value = getattr(_engine, name)
        if value is _engine.ndarray:
            lines += array_lines()
        elif value is _engine.ufunc:
            lines += stub_types.ufunc_lines()
        elif inspect.isclass(value):
            lines += class_lines(name, value)
        elif isinstance(value, _engine.ufunc):
            lines.append(f"{name}: {stub_types.ufunc_class(value)}")
        else:
            lines += function_lines(name, value)
    lines.append("\ndef __getattr__(name: str) -> Any: ...  # names of the package's own use")
    return "\n".join(lines) + "\n"


def stub_of(module):
    """Where the stub of a public module lies, relative to the package."""
    return str(Path(module.__file__).with_suffix(".pyi").relative_to(Path(un.__file__).parent))


def imported(name, value, package):
    """The line that takes a name from the extension's stub, or None; `package`: the dots that name the package."""
    home = getattr(_engine, name, None)
    if getattr(value, "__module__", "").startswith("concurrent.futures"):
        return f"from concurrent.futures import {name} as {name}"
    if inspect.isclass(value) and value is getattr(builtins, name, None):
        return f"from builtins import {name} as {name}" if issubclass(value, Exception) else None
    if inspect.isclass(value) and getattr(_engine, value.__name__, None) is value:
        return f"from {package}_engine import {value.__name__} as {name}"
    return (
        f"from {package}_engine import {name} as {name}"
        if home is value and home is not None
        else None
    )


def value_line(name, value):
    """A constant, or an object of a class."""
    if value is None or type(value) in (bool, int, float, str):
        return f"{name}: {'None' if value is None else type(value).__name__}"
    if isinstance(value, _engine.ufunc):
        return f"{name}: {stub_types.ufunc_class(value)}"
    if isinstance(value, un.dtype):
        return f"{name}: dtype"
    return f"{name}: Any"


def module_page(module, what):
    """Text of a stub of Python modules."""
    package = "." * (stub_of(module).count("/") + 1)
    first, others = set(), []  # others: second names of classes, which come last
    rest = list(stub_types.CLASSES.get(module.__name__, ()))
    for name in sorted(n for n in dir(module) if not n.startswith("_")):
        value = getattr(module, name)
        if inspect.ismodule(value):
            if value.__name__ == f"{module.__name__}.{name}":
                first.add(f"from . import {name} as {name}")
        elif name == "ArrayLike":
            first.add(f"from {package}_engine import ArrayLike as ArrayLike")
        elif line := imported(name, value, package):
            first.add(line)
        elif module is not un and value is not None and getattr(un, name, None) is value:
            first.add(f"from {package} import {name} as {name}")
        elif inspect.isclass(value):
            if value.__name__ == name:
                rest += class_lines(name, value)
            else:
                others.append(f"{name} = {value.__name__}")
        elif (
            callable(value)
            and not isinstance(value, _engine.ufunc)
            and type(value) is not un._dtype.objects.dtype
            and hasattr(value, "__name__")
        ):
            rest += function_lines(name, value)
        else:
            rest.append(value_line(name, value))
    rest += others
    # What is made at its first use is known by its annotation alone.
    rest += [f"{name}: Any" for name in getattr(module, "__annotations__", {})]
    for used in ("ndarray", "ufunc", "Mesh", "Device", *stub_types.SHAPES.values()):
        if any(re.search(rf"\b{used}\b", line) for line in rest):
            first.add(
                f"from {package}_engine import {used}"
                + (f" as {used}" if hasattr(module, used) else "")
            )
    if module is un:
        first.add("from ._engine import __version__ as __version__")
        rest.append("__array_api_version__: str")
        rest += function_lines("__array_namespace_info__", un.__array_namespace_info__)
    for hidden in ("bool", "bytes"):  # built-in types whose names the module has for something else
        if hasattr(module, hidden):
            first.add(f"from builtins import {hidden} as _{hidden}")
            rest = [
                re.sub(rf"(: |-> ){hidden}\b", rf"\1_{hidden}", line)
                if "def " in line or line.endswith(f": {hidden}")
                else line
                for line in rest
            ]
    head = HEAD.format(what=what, engine=f"{package}_engine")
    if hasattr(module, "ArrayLike"):  # which is imported as a name of its own then
        head = head.replace("import ArrayLike, ", "import ")
    return "\n".join([head, *sorted(first), "", *rest]) + "\n"


def pages():
    """Files and their texts."""
    yield HOME / "_engine.pyi", engine_page()
    yield HOME / "__init__.pyi", module_page(un, "the package")
    for name in "linalg fft random lib lib.stride_tricks mpi mpi.futures ga memory emath testing extending experimental experimental.structref".split():
        module = importlib.import_module(f"unisono.{name}")
        yield HOME / stub_of(module), module_page(module, f"``unisono.{name}``")
    # Objects that make types, and the names of other packages: checkers need not know more of them.
    for name in ("types", "config", "profiler", "cuda", "cupy", "cupyx", "dpctl", "vectors"):
        path = f"{name}/__init__.pyi" if (HOME / name).is_dir() else f"{name}.pyi"
        head = f'"""Types of ``unisono.{name}``, written by scripts/stubs.py."""'
        yield (
            HOME / path,
            f"{head}\n\nfrom typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n",
        )
    yield from opencl_stubs.pages(HOME)
    yield HOME / "array_api/__init__.pyi", ARRAY_API
    classes = "\n".join(
        f"class {name}({', '.join(b.__name__ for b in bases)}): ..."
        for name, (_, bases) in importlib.import_module("unisono.exceptions")._made.items()
    )
    yield (
        HOME / "exceptions.pyi",
        f'"""Types of ``unisono.exceptions``, written by scripts/stubs.py."""\n\n{classes}\n',
    )


def formatted(path, text):
    for command in (["check", "-q", "--fix", "--select", "F401,I"], ["format", "-q"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"],
            input=text,
            capture_output=True,
            text=True,
        )
        if not done.stdout:
            raise RuntimeError(f"{path.name}: {done.stderr}")
        text = done.stdout
    return text


def main():
    stale = []
    for path, text in pages():
        text = formatted(path, text)
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        print(f"{', '.join(stale)} in python/unisono: stale, run scripts/stubs.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
