"""NumPy's ufunc protocol for the array type, and pickling."""

import unisono

from . import _engine


def _function(name):
    found = getattr(unisono, name, None)
    return found if callable(found) else None


def array_ufunc(self, ufunc, method, *inputs, out=None, **options):
    """Run NumPy's ufunc as ours of the same name; one with an `out` of NumPy writes into its memory."""
    ours = _function(ufunc.__name__) or _method(ufunc.__name__)
    if method != "__call__" or ours is None or options:
        what = f"{ufunc.__name__}.{method}" if method != "__call__" else ufunc.__name__
        raise TypeError(
            f"{what}: not there for arrays of unisono{_with(options)}; "
            "convert with np.asarray, or use a function of unisono"
        )
    if out is None:
        return ours(*inputs)
    (target,) = out
    unisono.asarray(target)[...] = _checked(ufunc.__name__, ours(*inputs), target)
    return target


def reduce_array(self):
    """Shape, dtype name and bytes."""
    host = self.to_device("cpu")
    return _rebuild, (host.shape, host.dtype.name, host.tobytes())


def _rebuild(shape, dtype, data):
    if not data:
        return unisono.empty(shape, dtype)
    flat = unisono.asarray(memoryview(data).cast("B").cast(_formats[dtype]))
    return unisono.array(flat).reshape(shape)


_formats = {
    name: code for name, code in zip([row[0] for row in _engine._dtypes], "?Bilfd", strict=True)
}


def _method(name):
    return (lambda a, b: a**b) if name == "power" else None


def _with(options):
    return f" with {', '.join(options)}=" if options else ""


def _checked(name, result, target):
    """`result`, if NumPy's rule for in-place results lets it into `target`."""
    order = {"b": 0, "u": 1, "i": 2, "f": 3}
    if order[result.dtype.kind] > order.get(target.dtype.kind, 3):
        raise TypeError(
            f"{name}: cannot cast the result from {result.dtype} to {target.dtype} in place"
        )
    if tuple(result.shape) != tuple(target.shape):
        raise ValueError(
            f"{name}: non-broadcastable output; got an output of shape {target.shape}, expected {result.shape}"
        )
    return result
