"""Arrays whose memory is a file."""

import math
import mmap
import os
import pathlib

import unisono as un

from .. import _engine
from .._arrays.axes import several
from .._arrays.lifted import lift, of_class
from .._arrays.subclasses import reductions
from .._arrays.ufunc import resolve
from .files import _opened

_ATTRIBUTES = "_mmap", "filename", "offset", "mode"
_MODES = {
    "readonly": "r", "copyonwrite": "c", "readwrite": "r+", "write": "w+",
    "r": "r", "c": "c", "r+": "r+", "w+": "w+",
}  # fmt: skip


class memmap(un.ndarray):
    """Array over a file: its memory is the file's, read and written as it is touched.

    Parameters
    ----------
    filename : str, path or file object
    dtype : dtype
    mode : {'r+', 'r', 'w+', 'c'}
        Read and write; read only; make the file anew; write to memory only.
    offset : int
        Bytes before the first element.
    shape : int or tuple of int, optional
        All that the file holds, in one axis, if not given.
    order : {'C', 'F'}

    Attributes
    ----------
    filename : str or pathlib.Path, or None
        Absolute, of a file that has a name.
    offset : int
    mode : str

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If the mode is unknown, no shape is given for a new file, or a file that is only read is too short.

    Notes
    -----
    Views are of the class, too; what functions compute is an array. Elements that are not ours, as of the other byte
    order, or that do not lie at multiples of their size, are NumPy's own `memmap`.

    Examples
    --------
    >>> import tempfile
    >>> import unisono as un
    >>> file = tempfile.NamedTemporaryFile()
    >>> x = un.memmap(file.name, "float64", "w+", shape=(2, 2))
    >>> x[0] = 3
    >>> x.flush()
    >>> un.fromfile(file.name).tolist()
    [3.0, 3.0, 0.0, 0.0]
    """

    __array_priority__ = -100.0
    _mmap = filename = offset = mode = None

    def __new__(cls, filename, dtype="uint8", mode="r+", offset=0, shape=None, order="C"):
        if mode not in _MODES:
            raise ValueError(f"memmap: mode must be one of 'r', 'r+', 'w+', 'c'; got {mode!r}")
        mode = _MODES[mode]
        if mode == "w+" and shape is None:
            raise ValueError("memmap: a new file needs a shape; got shape=None with mode='w+'")
        t = resolve(dtype)
        if type(t) is not un.dtype or offset % t.itemsize:
            import numpy

            return numpy.memmap(filename, getattr(t, "dtype", t), mode, offset, shape, order)
        if shape is not None:
            shape = several(shape)
        with _opened(filename, {"r": "rb", "c": "rb", "r+": "r+b", "w+": "w+b"}[mode]) as opened:
            name = getattr(opened, "name", None)
            held = opened.seek(0, os.SEEK_END)
            if shape is None:
                if (held - offset) % t.itemsize:
                    raise ValueError(
                        f"memmap: the bytes after the offset are not a whole number of elements; got {held - offset} "
                        f"bytes of {t.itemsize} each; give shape="
                    )
                shape = ((held - offset) // t.itemsize,)
            end = offset + math.prod(shape) * t.itemsize
            if mode == "w+" or (mode == "r+" and held < end):
                opened.truncate(end)
            elif held < end:
                raise ValueError(
                    f"memmap: the file is too short; got {held} bytes, expected at least {end} for shape {shape}"
                )
            opened.flush()
            access = {"r": mmap.ACCESS_READ, "c": mmap.ACCESS_COPY}.get(mode, mmap.ACCESS_WRITE)
            # Mappings begin at multiples of the system's unit, and none is empty.
            start = offset - offset % mmap.ALLOCATIONGRANULARITY
            mapped = None
            if end > offset:
                mapped = mmap.mmap(opened.fileno(), end - start, access=access, offset=start)
        count = math.prod(shape)
        flat = (
            un.frombuffer(mapped, t, count, offset - start)
            if count
            else un.empty(0, t, device="cpu")
        )
        made = flat.reshape(shape[::-1]).T if order == "F" else flat.reshape(shape)
        made = made.view(cls)
        if isinstance(filename, pathlib.PurePath):
            name = filename.resolve()
        else:
            name = os.path.abspath(name) if isinstance(name, str) else None
        made._mmap, made.filename, made.offset, made.mode = mapped, name, offset, mode
        return made

    def __array_finalize__(self, obj, /):
        """Views know their file; copies have none."""
        mapped = getattr(obj, "_mmap", None) is not None and un.may_share_memory(self, obj)
        for name in _ATTRIBUTES:
            setattr(self, name, getattr(obj, name) if mapped else None)

    def __array_wrap__(self, array, context=None, return_scalar=False, /):
        """Results are arrays, as nothing of the file is in them."""
        if self is array or type(self) is not memmap:
            return super().__array_wrap__(array, context)
        made = _engine._plain(array)
        return made[()] if return_scalar else made

    def __getitem__(self, index, /):
        got = super().__getitem__(index)
        if type(got) is memmap and got._mmap is None:
            return _engine._plain(got)
        return got

    def flush(self):
        """Write all changes to the file; what was recorded before has been computed then."""
        _engine.eval(_engine._plain(self))
        if self._mmap is not None:
            self._mmap.flush()


def _reduced(made, source):
    """A number, or an array of the class of `source` where that derives from `memmap`."""
    return _engine._plain(made)[()] if type(source) is memmap else of_class(made, source, True)


lift(memmap, reductions, _reduced)
