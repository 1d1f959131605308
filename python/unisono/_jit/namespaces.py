"""Where NumPy keeps an object: compiled code knows the objects of NumPy and ours of the same name by one path."""

from __future__ import annotations

import sys
import types

_PARTS = ("", "random", "linalg", "fft")
_ROOTS = ("numpy", "unisono")


def held_by(module):
    """The dict of the names that a module holds; of the package those loaded so far: `vars` would load all of them."""
    if isinstance(module, types.ModuleType):
        return types.ModuleType.__dict__["__dict__"].__get__(module)
    return vars(module) if hasattr(module, "__dict__") else {}


def numpy_path(value):
    """The path below `numpy` of an object of NumPy or of ours: "array", "random.normal"; None of any other."""
    name = getattr(value, "__name__", None)
    if name is None:
        return _path_without_name(value)
    if not isinstance(name, str):
        return None
    for root in _ROOTS:
        for part in _PARTS:
            module = sys.modules.get(f"{root}.{part}" if part else root)
            if module is not None and _is_same(held_by(module).get(name), value):
                return f"{part}.{name}" if part else name
    return None


def _is_same(found, value):
    # NumPy's functions of random numbers are methods, which each look-up makes anew.
    is_method = getattr(value, "__self__", None) is not None and not isinstance(value, type)
    return found is value or (is_method and found == value)


def _path_without_name(value):
    """The same of objects that do not know their names: r_, mgrid."""
    root = (type(value).__module__ or "").partition(".")[0]
    module = sys.modules.get(root) if root in _ROOTS else None
    if module is None:
        return None
    return next((n for n, held in held_by(module).items() if held is value), None)
