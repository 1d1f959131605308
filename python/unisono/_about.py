"""What NumPy tells about itself and its dtypes, told of this package; the shape that arrays broadcast to."""

from pathlib import Path

from ._axes import as_array
from ._ufunc import broadcast_shapes

typecodes = {
    "Character": "", "Integer": "bhilq", "UnsignedInteger": "BHILQ", "Float": "fd", "Complex": "FD",
    "AllInteger": "bBhHiIlLqQ", "AllFloat": "fdFD", "Datetime": "", "All": "?bhilqBHILQfdFD",
}  # fmt: skip
_names = {
    "?": "bool", "b": "signed char", "B": "unsigned char", "h": "short", "H": "unsigned short", "i": "integer",
    "I": "unsigned integer", "l": "long integer", "L": "unsigned long integer", "q": "long long integer",
    "Q": "unsigned long long integer", "f": "single precision", "d": "double precision",
    "F": "complex single precision", "D": "complex double precision", "e": "half precision",
}  # fmt: skip


def typename(char):
    """What a letter of NumPy's stands for.

    Parameters
    ----------
    char : str

    Returns
    -------
    str

    Raises
    ------
    KeyError
        No dtype has that letter.

    Examples
    --------
    >>> import unisono as un
    >>> un.typename("d")
    'double precision'
    """
    return _names[char]


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    """Letter of the smallest of some dtypes to which those of other letters convert safely.

    Parameters
    ----------
    typechars : str, or sequence of letters or arrays
    typeset : str
        Letters to choose among.
    default : str
        Where none of them is in the set.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        Something that is neither a letter nor an array.

    Examples
    --------
    >>> import unisono as un
    >>> un.mintypecode("fd")
    'd'
    """
    given = [t if isinstance(t, str) else as_array(t).dtype.char for t in typechars]
    found = [t for t in given if t in typeset]
    if not found:
        return default
    if "F" in found and "d" in found:
        return "D"
    return min(found, key="GDFgdf".index)


def get_include():
    """The folder of the headers for extensions in C, C++ and Cython: ``unisono/python.h``, ``unisono/pybind11.hpp``...

    Returns
    -------
    str
        What a compiler takes after ``-I``; ``python -m unisono include`` prints it.

    Examples
    --------
    >>> import unisono as un
    >>> from pathlib import Path
    >>> Path(un.get_include(), "unisono", "unisono.h").is_file()
    True
    """
    return str(Path(__file__).parent / "include")


def show_config(mode="stdout"):
    """Print what was found on this machine, as ``python -m unisono doctor`` does.

    Parameters
    ----------
    mode : {'stdout', 'dicts'}
        ``"dicts"``: return devices and settings instead.

    Returns
    -------
    dict, or None

    Raises
    ------
    ValueError
        Another mode.

    Examples
    --------
    >>> import unisono as un
    >>> un.show_config("dicts")["devices"][0]
    'cpu'
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"show_config: mode must be 'stdout' or 'dicts'; got {mode!r}")
    if mode == "dicts":
        from . import _engine

        settings = {name: value for name, _, _, _, value in _engine._settings()}
        return {"devices": [d.name for d in _engine._devices()], "settings": settings}
    from .__main__ import doctor

    doctor()
    return None


def show_runtime():
    """Print what was found on this machine, as ``python -m unisono doctor`` does.

    Returns
    -------
    None

    Examples
    --------
    >>> import contextlib, io
    >>> import unisono as un
    >>> with contextlib.redirect_stdout(io.StringIO()) as text:
    ...     un.show_runtime()
    >>> "devices" in text.getvalue()
    True
    """
    show_config()


class broadcast:
    """The shape that arrays broadcast to, and their elements side by side.

    Parameters
    ----------
    *args : array_like

    Raises
    ------
    ValueError
        Shapes that do not broadcast.

    Examples
    --------
    >>> import unisono as un
    >>> b = un.broadcast([[1], [2]], [3, 4])
    >>> b.shape, [(int(x), int(y)) for x, y in b]
    ((2, 2), [(1, 3), (1, 4), (2, 3), (2, 4)])
    """

    def __init__(self, *args):
        self._arrays = [as_array(a) for a in args]
        self.shape = broadcast_shapes(*(x.shape for x in self._arrays))
        self.nd = self.ndim = len(self.shape)
        self.numiter = len(args)
        self.size = 1
        for n in self.shape:
            self.size *= n
        self.reset()

    @property
    def iters(self):
        """Iterators over the elements of each array, broadcast."""
        from ._functions import broadcast_to

        return tuple(broadcast_to(x, self.shape).flat for x in self._arrays)

    def reset(self):
        """Begin again."""
        self.index = 0
        self._iterators = None

    def __iter__(self):
        return self

    def __next__(self):
        if self._iterators is None:
            self._iterators = self.iters
        made = [next(i) for i in self._iterators]
        self.index += 1
        return tuple(made)
