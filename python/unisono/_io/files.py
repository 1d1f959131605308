"""Files of arrays: NumPy's .npy and .npz, raw bytes, and text."""

import contextlib
import math
import os

import unisono as un

from .. import _engine
from .._arrays.creation import refuse_like
from .._arrays.exchange.from_data import _byte_order, _parse, from_bytes
from .._arrays.exchange.numpys_elements import results
from .._arrays.ufunc import as_array


@contextlib.contextmanager
def _opened(file, mode):
    """The file that a path names, or the file itself; compressed ones by their names' ends."""
    if hasattr(file, "read") or hasattr(file, "write"):
        yield file
        return
    path = os.fspath(file)
    if path.endswith(".gz"):
        import gzip

        opener = gzip.open
    elif path.endswith(".bz2"):
        import bz2

        opener = bz2.open
    elif path.endswith(".xz"):
        import lzma

        opener = lzma.open
    else:
        opener = open
    with opener(path, mode) as opened:
        yield opened


def _numpy(x):
    import numpy

    return numpy.asarray(as_array(x).to_device("cpu"))


def save(file, arr, allow_pickle=True):
    """Write one array in NumPy's .npy format.

    Parameters
    ----------
    file : str, path or file object
        ``.npy`` is added to a name that lacks it.
    arr : array_like
        Of a distributed array each rank writes its part.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import unisono as un
    >>> import io
    >>> f = io.BytesIO()
    >>> un.save(f, [1, 2])
    >>> f.getvalue()[1:6]
    b'NUMPY'
    """
    import numpy

    # Arrays of records have no mesh.
    if getattr(arr, "mesh", None) is not None and isinstance(file, (str, os.PathLike)):
        from .distributed import save as save_parts

        save_parts(file, arr)
    else:
        numpy.save(file, _numpy(arr), allow_pickle=allow_pickle)


def savez(file, *args, allow_pickle=True, **kwds):
    """Write several arrays into one .npz archive, under their keywords or ``arr_0``, ``arr_1``...

    Parameters
    ----------
    file : str, path or file object
    *args
        Passed on.
    allow_pickle : bool
        Accepted for compatibility; arrays hold numbers only.
    **kwds : array_like
        Arrays under their names.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import unisono as un
    >>> import io
    >>> f = io.BytesIO()
    >>> un.savez(f, x=[1, 2])
    >>> _ = f.seek(0)
    >>> un.load(f)["x"].tolist()
    [1, 2]
    """
    import numpy

    numpy.savez(
        file,
        *map(_numpy, args),
        allow_pickle=allow_pickle,
        **{k: _numpy(v) for k, v in kwds.items()},
    )


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    """Write several arrays into one compressed .npz archive, see `savez`.

    Parameters
    ----------
    file : str, path or file object
    *args
        Passed on.
    allow_pickle : bool
        Accepted for compatibility; arrays hold numbers only.
    **kwds : array_like
        Arrays under their names.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import unisono as un
    >>> import io
    >>> f = io.BytesIO()
    >>> un.savez_compressed(f, x=[1, 2])
    >>> _ = f.seek(0)
    >>> un.load(f)["x"].tolist()
    [1, 2]
    """
    import numpy

    kept = {k: _numpy(v) for k, v in kwds.items()}
    numpy.savez_compressed(file, *map(_numpy, args), allow_pickle=allow_pickle, **kept)


class _Fields:
    """The arrays of an archive as attributes: ``archive.f.name``."""

    def __init__(self, archive):
        self._of = archive

    def __getattr__(self, name):
        try:
            return self._of[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return list(self._of.files)


class NpzFile:
    """An archive of arrays: a mapping from names to arrays, which are read on access."""

    def __init__(self, archive):
        self._archive = archive
        self.files = archive.files
        self.f = _Fields(self)

    def __repr__(self):
        return repr(self._archive)

    def __getitem__(self, key):
        return un.array(self._archive[key])

    def __contains__(self, key):
        return key in self._archive

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def keys(self):
        """Names of the arrays."""
        return list(self.files)

    def values(self):
        """The arrays."""
        return [self[k] for k in self.files]

    def items(self):
        """Names and arrays."""
        return [(k, self[k]) for k in self.files]

    def close(self):
        """Close the file."""
        self._archive.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def load(
    file,
    mmap_mode=None,
    allow_pickle=False,
    fix_imports=True,
    encoding="ASCII",
    *,
    max_header_size=10000,
    mesh=None,
    layout=None,
):
    """Read an array or an archive that `save` or `savez` (or NumPy) wrote.

    Parameters
    ----------
    file : str, path or file object
    mmap_mode : {None, 'r', 'r+', 'c'}
        Map the file into memory instead of reading it.
    allow_pickle : bool
        Whether files of Python objects are read, as NumPy's own arrays: only from sources that you trust.
    mesh : Mesh, optional
        Ranks of which each reads its part of a ``.npy`` file, whatever number of ranks wrote it.
    layout : optional
        How the array is distributed, see `empty`.

    Returns
    -------
    ndarray, or a mapping of them for an archive

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not of that format, or is truncated.

    Examples
    --------
    >>> import unisono as un
    >>> import io
    >>> f = io.BytesIO()
    >>> un.save(f, [1, 2])
    >>> _ = f.seek(0)
    >>> un.load(f).tolist()
    [1, 2]
    """
    import numpy

    if mesh is not None:
        from .distributed import load as load_parts

        return load_parts(file, mesh, layout)
    try:
        made = numpy.load(
            file, mmap_mode, allow_pickle, fix_imports, encoding, max_header_size=max_header_size
        )
    except ValueError as e:
        if "pickle" not in str(e):
            raise
        name = getattr(file, "name", None) or (file if isinstance(file, (str, os.PathLike)) else "")
        raise ValueError(
            f"load: {str(name) + ': ' if name else ''}not a .npy or .npz file, or one of Python objects; "
            "arrays hold numbers: read other files with un.fromfile or un.loadtxt, objects with allow_pickle=True"
        ) from None
    if isinstance(made, numpy.lib.npyio.NpzFile):
        return NpzFile(made)
    if not isinstance(made, numpy.ndarray) or made.dtype.hasobject:
        return made
    if not made.dtype.isnative and made.dtype.names is None:
        made = made.astype(made.dtype.newbyteorder("="))
    return un.asarray(made) if mmap_mode else un.array(made)


@_engine._FastPath
def fromfile(file, dtype=float, count=-1, sep="", offset=0, *, like=None):
    """One-dimensional array of the bytes of a file, or of the numbers in a text file.

    Parameters
    ----------
    file : str, path or file object
    dtype : dtype, optional
        Of bytes in the other order (``">f8"``) too.
    count : int
        Number of elements; -1 means all.
    sep : str
        Separator of the numbers in a text file; empty for a binary file.
    offset : int
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray of one axis

    Raises
    ------
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import unisono as un
    >>> import tempfile
    >>> f = tempfile.TemporaryFile()
    >>> _ = f.write(b"\\x01\\x02")
    >>> _ = f.seek(0)
    >>> un.fromfile(f, dtype="uint8").tolist()
    [1, 2]
    """
    refuse_like("fromfile", like)
    if sep != "":
        if offset:
            raise TypeError("'offset' argument only permitted for binary files")
        with _opened(file, "r") as opened:
            text = opened.read()
        text = text.decode() if isinstance(text, bytes) else text
        return _parse(text.split() if sep.isspace() else text.split(sep.strip()), dtype, count)
    t, swapped = _byte_order(dtype)
    if axes := getattr(t, "shape", ()):  # elements of some axes
        flat = fromfile(
            file, t.base, count * math.prod(axes) if count > 0 else count, offset=offset
        )
        return flat[: flat.size // math.prod(axes) * math.prod(axes)].reshape(-1, *axes)
    with _opened(file, "rb") as opened:
        if offset:
            opened.seek(offset, os.SEEK_CUR)
        # The count may be wrong: never allocate more than the file can hold.
        data = opened.read() if count < 0 else opened.read(_at_most(opened, count * t.itemsize))
    n = len(data) // t.itemsize
    if n == 0:
        return un.empty(0, t)
    made = un.array(from_bytes(data[: n * t.itemsize], t))
    return made.byteswap() if swapped else made


def _at_most(opened, wanted):
    """So many bytes, or as many as the file has where that is known."""
    import stat

    try:
        about = os.fstat(opened.fileno())
    except (AttributeError, OSError):
        return wanted
    return min(wanted, about.st_size) if stat.S_ISREG(about.st_mode) else wanted


def savetxt(
    fname,
    X,
    fmt="%.18e",
    delimiter=" ",
    newline="\n",
    header="",
    footer="",
    comments="# ",
    encoding=None,
):
    """Write a one- or two-dimensional array as text; see NumPy's ``savetxt``.

    Parameters
    ----------
    fname : str, path or file object
    X : array_like
    fmt : str or sequence of str
    delimiter : str, optional
    newline, header, footer, comments : str
    encoding : str, optional

    Raises
    ------
    OSError
        If the file cannot be written.
    ValueError
        If the array is not 1- or 2-dimensional.

    Examples
    --------
    >>> import unisono as un
    >>> import io
    >>> f = io.StringIO()
    >>> un.savetxt(f, [[1, 2]], fmt="%d")
    >>> f.getvalue()
    '1 2\\n'
    """
    x = as_array(X)
    if x.ndim not in (1, 2):
        raise ValueError(f"Expected 1D or 2D array, got {x.ndim}D array instead")
    rows = x.reshape((-1, 1)).tolist() if x.ndim == 1 else x.tolist()
    columns = len(rows[0]) if rows else 0
    if isinstance(fmt, (list, tuple)):
        if len(fmt) != columns:
            raise AttributeError(f"fmt has wrong shape.  {fmt!s}")
        line = delimiter.join(fmt)
    elif fmt.count("%") > 1:
        line = fmt
    elif x.dtype.kind == "c":
        line = delimiter.join([f" ({fmt}+{fmt}j)"] * columns)
    else:
        line = delimiter.join([fmt] * columns)
    if x.dtype.kind == "c":
        rows = [[part for v in row for part in (v.real, v.imag)] for row in rows]
    with _opened(fname, "wb") as opened:

        def put(text):
            text += newline
            try:
                opened.write(text.encode(encoding or "latin1"))
            except TypeError:
                opened.write(text)

        if header:
            put(comments + header.replace("\n", "\n" + comments))
        for row in rows:
            put((line % tuple(row)).replace("+-", "-"))
        if footer:
            put(comments + footer.replace("\n", "\n" + comments))


def _numpys_dtype(spec):
    """NumPy's dtype of that description, which may have fields."""
    import numpy

    made = un.dtype(spec)
    return numpy.dtype(made.name) if type(made) is type(un.float64) else made


def loadtxt(
    fname, dtype=float, comments="#", delimiter=None, converters=None, skiprows=0, usecols=None, unpack=False, ndmin=0,
    encoding=None, max_rows=None, *, quotechar=None, like=None,
):  # fmt: skip
    """Read numbers from text, one row a line; see NumPy's ``loadtxt``.

    Parameters
    ----------
    fname : str, path or file object
    dtype : dtype, optional
    comments : str
    delimiter : str, optional
    converters : dict or callable, optional
    skiprows : int
    usecols : int or sequence of int, optional
    unpack : bool
        Give columns.
    ndmin : int
    encoding : str, optional
    max_rows : int, optional
    quotechar : str, optional
    like : ndarray, optional
        An array of ours: as in NumPy it names the library that makes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If a text is not a number, or the rows have different lengths.

    Examples
    --------
    >>> import io
    >>> import unisono as un
    >>> un.loadtxt(io.StringIO("1 2\\n3 4")).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    import numpy

    refuse_like("loadtxt", like)
    made = numpy.loadtxt(
        fname, _numpys_dtype(dtype), comments, delimiter, converters, skiprows, usecols, unpack, ndmin, encoding, max_rows,
        quotechar=quotechar,
    )  # fmt: skip
    return results(made)


def genfromtxt(fname, dtype=float, **options):
    """Read numbers from text in which some are missing; the options are NumPy's.

    Parameters
    ----------
    fname : str, path or file object
    dtype : dtype, optional
        With fields for records; None for dtypes that follow from the text, one of each column.
    **options
        ``delimiter=``, ``names=``, ``missing_values=``, ``filling_values=`` and others, as in NumPy.

    Returns
    -------
    ndarray
        NumPy's own where the elements are text.

    Raises
    ------
    ValueError
        If the rows have different lengths.

    Examples
    --------
    >>> import unisono as un
    >>> import io
    >>> un.genfromtxt(io.StringIO("1,2\\n3,"), delimiter=",").tolist()
    [[1.0, 2.0], [3.0, nan]]
    """
    import numpy

    made = numpy.genfromtxt(fname, None if dtype is None else _numpys_dtype(dtype), **options)
    return results(made)


def fromregex(file, regexp, dtype, encoding=None):
    """Numbers that the groups of a regular expression match in a text file, one row a match.

    Parameters
    ----------
    file : str, path or file object
    regexp : str or compiled expression
    dtype : dtype
        Of numbers; or a structured one, with a field for each group, of numbers and texts.
    encoding : str, optional

    Returns
    -------
    ndarray

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If a match is not a number.

    Examples
    --------
    >>> import unisono as un
    >>> import io
    >>> un.fromregex(io.StringIO("a=1 b=2"), r"(\\d+)", "int64").tolist()
    [1, 2]
    """
    import re

    with _opened(file, "rb") as opened:
        text = opened.read()
    text = text.decode(encoding or "latin1") if isinstance(text, bytes) else text
    regexp = regexp if hasattr(regexp, "findall") else re.compile(regexp)
    if isinstance(dtype, list) or getattr(dtype, "names", None):
        import io

        import numpy

        return un.asarray(numpy.fromregex(io.StringIO(text), regexp, dtype))
    found = regexp.findall(text)
    rows = [[v] if isinstance(v, str) else list(v) for v in found]
    flat = _parse([v for row in rows for v in row], dtype)
    return flat.reshape((len(rows), -1)) if rows and len(rows[0]) > 1 else flat
