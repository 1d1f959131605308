"""NumPy's protocols for the array type, and pickling."""

import unisono


def _ours(name, where=unisono):
    """Our function of that name, or None."""
    found = getattr(where, name, None)
    return found if callable(found) else None


def counterpart(ufunc):
    """Our function for NumPy's, or None: other libraries have functions of the same names."""
    import numpy

    name = ufunc.__name__
    return _ours(name) if getattr(numpy, name, None) is ufunc else None


def array_ufunc(self, ufunc, method, *inputs, **options):
    """Run NumPy's ufunc, or a method of it, as ours of the same name."""
    name = ufunc.__name__
    ours = counterpart(ufunc)
    if ours is not None and method != "__call__":
        ours = getattr(ours, method, None)
        name = f"{name}.{method}"
    if ours is None:
        raise TypeError(
            f"{name}: not there for arrays of unisono; "
            "convert with np.asarray, or use a function of unisono"
        )
    out = options.get("out")
    if out is not None and len(out) == 1 and method != "__call__":
        options["out"] = out[0]
    return ours(*inputs, **options)


def array_function(self, function, types, args, options):
    """Run NumPy's function as ours of the same name, in the same sub-package."""
    module = (getattr(function, "__module__", None) or "numpy").split(".")
    where = unisono
    if len(module) > 1 and module[1] in ("linalg", "fft", "random"):
        where = getattr(unisono, module[1], None)
    ours = _ours(function.__name__, where)
    if ours is None:
        raise TypeError(
            f"numpy.{function.__name__}: not there for arrays of unisono; "
            "convert with np.asarray, or use a function of unisono"
        )
    return ours(*args, **options)


def reduce_array(self):
    """Shape, dtype name and bytes; no shape of a value."""
    host = self.to_device("cpu")
    shape = None if self._is_value() else host.shape
    return _rebuild, (shape, host.dtype.name, host.tobytes())


def _rebuild(shape, dtype, data):
    if not data:
        return unisono.empty(shape, dtype)
    flat = unisono.frombuffer(data, dtype)
    return flat[0] if shape is None else flat.copy().reshape(shape)
