"""Writes python/unisono/_engine.pyi, the extension's types for checkers and editors: scripts/stubs.py [--check]."""

import inspect
import sys
from pathlib import Path

from unisono import _engine

HEAD = '''"""Types of the extension, written by scripts/stubs.py."""

from collections.abc import Iterator, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

Operand: TypeAlias = "ndarray | npt.ArrayLike"
DTypeLike: TypeAlias = Any
DeviceLike: TypeAlias = "str | Device | None"
Axis: TypeAlias = int | tuple[int, ...] | None

__version__: str
'''
BINARY = "add sub mul truediv floordiv mod pow and or xor lshift rshift"
COMPARE = "lt le gt ge eq ne"
ATTRIBUTES = {
    "shape": "tuple[int, ...]",
    "strides": "tuple[int, ...]",
    "ndim": "int",
    "size": "int",
    "itemsize": "int",
    "nbytes": "int",
    "dtype": "Any",
    "device": "Device",
    "T": "Self",
}
REDUCTION = "self, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False"
METHODS = {
    **dict.fromkeys("sum prod max min any all".split(), (REDUCTION, "ndarray")),
    "astype": ("self, dtype: DTypeLike, *, copy: bool = True", "ndarray"),
    "copy": ("self", "ndarray"),
    "reshape": (
        "self, *shape: int | Sequence[int], order: str = 'C', copy: bool | None = None",
        "ndarray",
    ),
    "transpose": ("self, *axes: int | Sequence[int] | None", "ndarray"),
    "ravel": ("self, order: str = 'C'", "ndarray"),
    "flatten": ("self, order: str = 'C'", "ndarray"),
    "fill": ("self, value: Operand, /", "None"),
    "to_device": ("self, device: DeviceLike, *, stream: None = None", "ndarray"),
    "item": ("self, *index: int", "bool | int | float"),
    "tolist": ("self", "Any"),
    "tobytes": ("self", "bytes"),
    "__array__": ("self, dtype: DTypeLike = None, copy: bool | None = None", "np.ndarray"),
    "__dlpack_device__": ("self", "tuple[int, int]"),
    "__dlpack__": ("self, **options: Any", "Any"),
    "__bool__": ("self", "bool"),
    "__int__": ("self", "int"),
    "__float__": ("self", "float"),
    "__index__": ("self", "int"),
    "__len__": ("self", "int"),
    "__iter__": ("self", "Iterator[ndarray]"),
    "__hash__": ("self", "int"),
    "__getitem__": ("self, key: Any, /", "ndarray"),
    "__setitem__": ("self, key: Any, value: Operand, /", "None"),
    **dict.fromkeys(("__neg__", "__pos__", "__abs__", "__invert__"), ("self", "ndarray")),
}
FUNCTIONS = {
    "where": ("condition: Operand, x: Operand, y: Operand, /", "ndarray"),
    "broadcast_to": ("x: Operand, shape: int | Sequence[int], /", "ndarray"),
    "eval": ("*arrays: Any", "None"),
    "stats": ("", "dict[str, int]"),
    "flush_log": ("", "list[dict[str, Any]]"),
    "set_num_threads": ("n: int", "None"),
    "get_num_threads": ("", "int"),
}
UFUNC = """
class ufunc:
    __name__: str
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def ntypes(self) -> int: ...
    @property
    def types(self) -> list[str]: ...
    @property
    def identity(self) -> Any: ...
    @property
    def signature(self) -> None: ...
    def __call__(self, *x: Operand, out: Any = None, where: Any = True, casting: str = "same_kind",
        order: str = "K", dtype: DTypeLike = None, subok: bool = True, signature: Any = None) -> Any: ...
    def reduce(self, array: Operand, axis: Axis = 0, dtype: DTypeLike = None, out: Any = None,
        keepdims: bool = False, initial: Any = ..., where: Any = True) -> ndarray: ...
    def accumulate(self, array: Operand, axis: int = 0, dtype: DTypeLike = None, out: Any = None) -> ndarray: ...
    def outer(self, A: Operand, B: Operand, /, **options: Any) -> Any: ...
    def at(self, a: ndarray, indices: Any, b: Operand | None = None, /) -> None: ...
    def reduceat(self, array: Operand, indices: Any, axis: int = 0, dtype: DTypeLike = None, out: Any = None) -> ndarray: ...
    def resolve_dtypes(self, dtypes: Sequence[DTypeLike]) -> tuple[Any, ...]: ...
""".strip().splitlines()


def array_class():
    """Lines of the array's class; what the type lacks is left out."""
    has = set(dir(_engine.ndarray))
    lines = ["class ndarray:"]
    for name, kind in ATTRIBUTES.items():
        if name in has:
            lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    for name, (parameters, result) in METHODS.items():
        if name in has:
            lines.append(f"    def {name}({parameters}) -> {result}: ...")
    for op in BINARY.split():
        for prefix, result in (("", "ndarray"), ("r", "ndarray"), ("i", "Self")):
            if f"__{prefix}{op}__" in has:
                lines.append(f"    def __{prefix}{op}__(self, other: Operand, /) -> {result}: ...")
    for op in COMPARE.split():
        ignore = "  # type: ignore[override]" if op in ("eq", "ne") else ""
        lines.append(f"    def __{op}__(self, other: Operand, /) -> ndarray: ...{ignore}")
    return lines


def other_class(name, kind):
    """Lines of an exception or of a class whose members are not spelled out."""
    if issubclass(kind, BaseException):
        bases = ", ".join(b.__name__ for b in kind.__bases__)
        return [f"class {name}({bases}): ..."]
    lines = [f"class {name}:"]
    for member, value in sorted(vars(kind).items()):
        if member.startswith("_"):
            continue
        if callable(value):
            lines.append(f"    def {member}(self, *args: Any, **options: Any) -> Any: ...")
        else:
            lines += ["    @property", f"    def {member}(self) -> Any: ..."]
    if name == "Device":
        lines += [
            "    def __hash__(self) -> int: ...",
            "    def __eq__(self, other: object, /) -> bool: ...",
        ]
    if len(lines) == 1:
        lines.append("    def __getattr__(self, name: str, /) -> Any: ...")
    return lines


def page():
    """Return the text of the stub file."""
    lines = [HEAD]
    for name in sorted(n for n in vars(_engine) if not n.startswith("_")):
        value = getattr(_engine, name)
        if value is _engine.ndarray:
            lines += array_class()
        elif value is _engine.ufunc:
            lines += UFUNC
        elif inspect.isclass(value):
            lines += other_class(name, value)
        elif name in FUNCTIONS:
            parameters, result = FUNCTIONS[name]
            lines.append(f"def {name}({parameters}) -> {result}: ...")
        elif isinstance(value, _engine.ufunc):
            lines.append(f"{name}: ufunc")
        else:
            lines.append(f"def {name}(*args: Any, **options: Any) -> Any: ...")
    lines.append("\ndef __getattr__(name: str) -> Any: ...  # names of the package's own use")
    return "\n".join(lines) + "\n"


def main():
    import subprocess

    path = Path(__file__).resolve().parents[1] / "python/unisono/_engine.pyi"
    command = [sys.executable, "-m", "ruff", "format", "-q", "--stdin-filename", str(path), "-"]
    done = subprocess.run(command, input=page(), capture_output=True, text=True, check=True)
    if "--check" not in sys.argv:
        path.write_text(done.stdout)
    elif not path.exists() or path.read_text() != done.stdout:
        print("python/unisono/_engine.pyi is stale: run scripts/stubs.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
