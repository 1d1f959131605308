"""What the array API standard asks a namespace about itself."""

import unisono as un

from .._runtime.mesh import meshes

_kinds = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_kinds["integral"] = _kinds["signed integer"] + _kinds["unsigned integer"]
_kinds["numeric"] = _kinds["integral"] + _kinds["real floating"] + _kinds["complex floating"]


class _Devices(tuple):
    """All devices; libraries that know the list of the standard's versions before 2025.12 add a list."""

    __slots__ = ()

    def __add__(self, other):
        return [*self, *other] if isinstance(other, list) else (*self, *other)


class _Info:
    """Inspection functions of the standard."""

    def capabilities(self):
        """What arrays can do: boolean indexing, shapes that depend on data, the most axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """Device on which arrays are made."""
        return un.empty(0).device

    def devices(self):
        """All devices present, as a tuple."""
        return _Devices((*un.devices(), *meshes()))

    def default_dtypes(self, *, device=None):
        """Dtypes of Python's numbers, and of indices."""
        names = {
            "real floating": "float64",
            "complex floating": "complex128",
            "integral": "int64",
            "indexing": "int64",
        }
        return {kind: getattr(un, name) for kind, name in names.items() if hasattr(un, name)}

    def dtypes(self, *, device=None, kind=None):
        """Dtypes by name: all of the standard's, or those of a kind or of several."""
        missing = set()
        if device is not None and str(device) != "cpu":
            missing = {"complex64", "complex128"}  # no device has them
            if not _has_float64(device):
                missing.add("float64")
        kinds = (kind,) if isinstance(kind, str) else tuple(_kinds) if kind is None else kind
        made = {}
        for k in kinds:
            if k not in _kinds:
                raise ValueError(
                    f"dtypes: unsupported kind {k!r}; expected one of {', '.join(_kinds)}"
                )
            made.update(
                (name, getattr(un, name))
                for name in _kinds[k]
                if name not in missing and hasattr(un, name)
            )
        return made


def _has_float64(device):
    found = device in meshes() or un.devices(str(device))[0].has_float64
    return found is None or bool(found)


def __array_namespace_info__():
    """Return the inspection functions of the array API standard.

    Examples
    --------
    >>> import unisono as un
    >>> un.__array_namespace_info__().capabilities()["boolean indexing"]
    True
    """
    return _Info()
