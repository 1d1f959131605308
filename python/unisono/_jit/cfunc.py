"""``cfunc``: compiled functions that C calls; ``carray`` and ``farray``: arrays behind its pointers."""

from __future__ import annotations

from .._dtype import spelling
from . import always_jit


def cfunc(signature, *, error=0, **options):
    """Compile a function for C: for callbacks of libraries, through ctypes, CFFI or its address.

    Parameters
    ----------
    signature : str
        Result and arguments as C passes them: ``"float64(float64, int32)"``; pointers as ``"CPointer(int32)"`` or
        ``"int32*"``, ``void`` for no result.
    error : int or float
        What C gets where the function raises. The exception itself goes to `sys.unraisablehook`, as those of
        destructors do: C cannot take it.
    **options
        Numba's ``nopython`` and ``cache``, which are always on.

    Returns
    -------
    decorator
        Makes a `CFunction` of a function.

    Raises
    ------
    CompileError
        Where the function cannot be compiled for the signature.

    Notes
    -----
    A pointer is an array of one axis whose indices are not checked, as in C; `carray` gives it a shape, and one to a
    struct, ``CPointer(un.from_dtype(dtype))``, the struct's fields. The compiled
    code needs no lock of Python's and may be called from any thread, as long as the `CFunction` lives.

    Examples
    --------
    >>> import ctypes, unisono as un
    >>> @un.cfunc("float64(float64, float64)")
    ... def hypotenuse(a, b):
    ...     return (a * a + b * b) ** 0.5
    >>> hypotenuse.ctypes(3.0, 4.0)
    5.0
    """
    for name in options:
        if name not in ("nopython", "cache", "locals", "boundscheck"):
            raise TypeError(
                f"cfunc: unknown argument; got {name}=; expected error=, nopython= or cache="
            )
    if callable(signature):
        raise TypeError(
            f"cfunc: C needs to know the types; got {signature!r} without a signature; write "
            f'@un.cfunc("float64(float64)")'
        )
    result, arguments = spelling.parse_signature(signature, "cfunc")
    if result is None:
        raise TypeError(
            f"cfunc: the signature gives no result type; got {signature!r}; write it as 'void(...)' or 'float64(...)'"
        )
    for t in (result, *arguments):
        if t[0] not in ("scalar", "pointer", "void") or t[1:] in (
            ("float16",),
            ("complex64",),
            ("complex128",),
        ):
            raise TypeError(
                f"cfunc: C functions take numbers and pointers here; got {spelling.spell(t)}; pass arrays as "
                f"CPointer(float64) with their sizes"
            )
    if result[0] == "pointer":
        raise TypeError(
            "cfunc: a result is a number or void; got a pointer; write through a pointer argument"
        )
    return lambda function: CFunction(function, result, arguments, error)


class CFunction:
    """A compiled function with C's calling convention, made by :func:`cfunc`.

    Attributes
    ----------
    address : int
        Of the machine code, for CFFI's ``ffi.cast`` and C libraries.
    ctypes : ctypes function object
        For libraries that ctypes loaded; called from Python it runs the compiled code.
    py_func : function
        The Python function, which a plain call runs.
    """

    def __init__(self, function, result, arguments, error):
        names = function.__code__.co_varnames
        pointers = {n: t[2] for n, t in zip(names, arguments, strict=False) if len(t) > 2}
        self._compiled = always_jit(function, **({"pointers": pointers} if pointers else {}))
        self._result, self._arguments = result, arguments
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__
        self.__wrapped__ = function
        types = tuple(t[1] if t[0] == "scalar" else f"{t[1] or 'uint8'}*" for t in arguments)
        name = None if result[0] == "void" else result[1]
        if name is not None:
            error = float(error) if name.startswith("float") else int(error)
        self.address = self._compiled._callback(types, name, error)
        self._ctypes = None

    @property
    def py_func(self):
        """The Python function that was decorated."""
        return self.__wrapped__

    @property
    def native_name(self):
        """The function's name."""
        return self.__name__

    @property
    def signature(self):
        """The signature, as text."""
        return f"{spelling.spell(self._result)}({', '.join(map(spelling.spell, self._arguments))})"

    @property
    def ctypes(self):
        """The function as ctypes sees it."""
        if self._ctypes is None:
            import ctypes

            kind = ctypes.CFUNCTYPE(_ctype(self._result), *map(_ctype, self._arguments))
            self._ctypes = kind(self.address)
            self._ctypes._owner = self  # the code lives as long as either
        return self._ctypes

    @property
    def _in_compiled_code(self):
        """What compiled functions call when they name this object."""
        return self._compiled

    def __call__(self, *args, **kwargs):
        return self.__wrapped__(*args, **kwargs)

    def __reduce__(self):
        return self.__qualname__

    def __repr__(self):
        return f"<unisono.cfunc {self.__module__}.{self.__qualname__}: {self.signature}>"


def _ctype(t):
    import ctypes

    if t[0] == "void":
        return None
    if t[0] == "pointer" and t[1] is None:
        return ctypes.c_void_p
    name = {"bool": "c_bool", "float32": "c_float", "float64": "c_double"}.get(t[1], f"c_{t[1]}")
    plain = getattr(ctypes, name)
    return ctypes.POINTER(plain) if t[0] == "pointer" else plain


def carray(pointer, shape, dtype=None):
    """View the memory behind a C pointer as an array in C order.

    Parameters
    ----------
    pointer : pointer
        In a function compiled by `cfunc` a pointer argument, else a ctypes pointer.
    shape : int or tuple of int
    dtype : dtype, optional
        Of the elements behind a ``void*``; in a function compiled by `cfunc` it can be a structured one, which must lie
        as C's struct does (``align=True``).

    Returns
    -------
    array
        A view: writes reach the memory.

    Raises
    ------
    TypeError
        If the pointer is a ``void*`` and `dtype` is not given, or is not a ctypes pointer.

    Examples
    --------
    >>> import ctypes, unisono as un
    >>> memory = (ctypes.c_double * 4)(1, 2, 3, 4)
    >>> un.carray(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), (2, 2)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    import ctypes

    import numpy

    import unisono as un

    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if dtype is not None:
        kind = numpy.ctypeslib.as_ctypes_type(numpy.dtype(un.dtype(dtype).name))
        pointer = ctypes.cast(pointer, ctypes.POINTER(kind))
    return un.asarray(numpy.ctypeslib.as_array(pointer, shape), copy=False)


def farray(pointer, shape, dtype=None):
    """View the memory behind a C pointer as an array in Fortran order; see `carray`.

    Parameters
    ----------
    pointer : pointer
        In a function compiled by `cfunc` a pointer argument, else a ctypes pointer.
    shape : int or tuple of int
    dtype : dtype, optional
        Of the elements behind a ``void*``.

    Returns
    -------
    array
        A view: writes reach the memory.

    Raises
    ------
    TypeError
        If the pointer is a ``void*`` and `dtype` is not given, or is not a ctypes pointer.

    Examples
    --------
    >>> import ctypes, unisono as un
    >>> memory = (ctypes.c_double * 4)(1, 2, 3, 4)
    >>> un.farray(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), (2, 2)).tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return carray(pointer, shape[::-1], dtype).T
