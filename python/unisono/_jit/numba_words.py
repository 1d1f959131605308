"""Words of Numba's that are said differently here, or need not be said; numba_forms.py compiles them."""

from __future__ import annotations

import sys
import threading
import types

from .words import thread_id

get_thread_id = thread_id
_mine = threading.local()


class objmode:
    """A block that the interpreter runs, as `un.python`, with the types of what it assigns.

    Parameters
    ----------
    **types
        Names that the block assigns, and their types: ``objmode(y="float64[:]", t=un.float64)``. Names whose
        type is known before the block need none.

    Examples
    --------
    >>> import time, unisono as un
    >>> @un.jit
    ... def seconds():
    ...     with un.objmode(t="float64"):
    ...         t = time.perf_counter()
    ...     return t
    >>> seconds() > 0
    True
    """

    def __init__(self, **types):
        self.types = types

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def register_jitable(function=None, **options):
    """Let compiled functions call a Python function, which stays one for Python.

    Parameters
    ----------
    function : function, optional
        What compiled functions call; without it, a decorator is returned.
    **options
        As of `jit`.

    Returns
    -------
    function
        The same.

    Raises
    ------
    TypeError
        It is no Python function, or an option is not known.

    Examples
    --------
    >>> import unisono as un
    >>> @un.register_jitable
    ... def half(x):
    ...     return x / 2
    >>> @un.jit
    ... def quarter(x):
    ...     return half(half(x))
    >>> quarter(2.0)
    0.5
    """
    from .overload import overload

    if function is None:
        return lambda f: register_jitable(f, **options)
    return overload(function, **options)(function)


def jit_module(**options):
    """Compile all functions that the calling module has defined so far.

    Parameters
    ----------
    **options
        As of `jit`.

    Raises
    ------
    TypeError
        An option that `jit` does not have.

    Notes
    -----
    Functions that the module imported, and those that are compiled already, stay what they are.

    Examples
    --------
    >>> import unisono as un
    >>> un.jit_module(error_model="numpy")
    """
    from . import jit

    scope = sys._getframe(1).f_globals
    for name, value in list(scope.items()):
        own = isinstance(value, types.FunctionType) and value.__module__ == scope.get("__name__")
        if own:
            scope[name] = jit(value, **options)


def literal_unroll(container):
    """A tuple whose items have several types, for a loop over it; compiled code needs no such word.

    Parameters
    ----------
    container : tuple

    Returns
    -------
    tuple
        The same.

    Raises
    ------
    CompileError
        In a compiled function, for what no loop can run over.

    Examples
    --------
    >>> import unisono as un
    >>> @un.jit
    ... def total():
    ...     s = 0.0
    ...     for x in un.literal_unroll((1, 2.5)):
    ...         s += x
    ...     return s
    >>> total()
    3.5
    """
    return container


def literally(value):
    """The value itself: compiled code needs no such word, since constants have no types of their own.

    Parameters
    ----------
    value : object

    Returns
    -------
    object
        The same.

    Raises
    ------
    CompileError
        In a compiled function, where the value has no type there.

    Examples
    --------
    >>> import unisono as un
    >>> @un.jit
    ... def shifted(x, n):
    ...     return x << un.literally(n)
    >>> shifted(3, 2)
    12
    """
    return value


def pndindex(*shape):
    """`ndindex` whose iterations may run in parallel in compiled functions, as those of `prange`.

    Parameters
    ----------
    *shape : int or tuple of int
        Extents.

    Returns
    -------
    iterator
        Of tuples of indices.

    Raises
    ------
    TypeError
        An extent is no integer.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> @un.jit
    ... def total(a):
    ...     s = 0.0
    ...     for i in un.pndindex(a.shape):
    ...         s += a[i]
    ...     return s
    >>> total(np.ones((2, 3)))
    6.0
    """
    from .. import ndindex

    return ndindex(*shape)


def threading_layer():
    """The name of the library that gives threads: ``"tbb"``.

    Returns
    -------
    str

    Examples
    --------
    >>> import unisono as un
    >>> un.threading_layer()
    'tbb'
    """
    return "tbb"


def get_parallel_chunksize():
    """What `set_parallel_chunksize` was given last by this thread, else 0.

    Returns
    -------
    int

    Examples
    --------
    >>> import unisono as un
    >>> un.get_parallel_chunksize()
    0
    """
    return getattr(_mine, "chunk", 0)


def set_parallel_chunksize(n):
    """Note a size of chunks of iterations, as in Numba.

    Parameters
    ----------
    n : int
        At least 0.

    Returns
    -------
    int
        The number before.

    Raises
    ------
    ValueError
        A negative number.

    Notes
    -----
    Nothing depends on it: chunks follow from the number of iterations. Where they should be others, say
    so in the loop, ``un.prange(n, schedule="dynamic", chunk=8)``, or put it into ``with un.parallel_chunksize(8):``
    inside of the compiled function.

    Examples
    --------
    >>> import unisono as un
    >>> un.set_parallel_chunksize(8), un.set_parallel_chunksize(0)
    (0, 8)
    """
    if n < 0:
        raise ValueError(f"set_parallel_chunksize: a size is at least 0; got {n}; give 0 for any")
    before = get_parallel_chunksize()
    _mine.chunk = n
    return before


class parallel_chunksize:
    """A block of a compiled function whose loops over `prange` share out chunks of that many iterations.

    Parameters
    ----------
    n : int
        Iterations that one thread runs in order; 0 leaves it open.

    Notes
    -----
    The loops have ``schedule="dynamic"``. Around calls of compiled functions nothing depends on it.

    Examples
    --------
    >>> import unisono as un
    >>> @un.jit
    ... def total(n):
    ...     s = 0
    ...     with un.parallel_chunksize(8):
    ...         for i in un.prange(n):
    ...             s += i
    ...     return s
    >>> total(100)
    4950
    """

    def __init__(self, n):
        self.n = n

    def __enter__(self):
        self.before = set_parallel_chunksize(self.n)
        return self

    def __exit__(self, *error):
        set_parallel_chunksize(self.before)
