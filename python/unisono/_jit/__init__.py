"""Compiled Python functions: the decorators ``jit`` and ``kernel``; the words that they know are in words.py."""

from __future__ import annotations

import gc
import sys
import types

from .. import _engine
from .words import (
    barrier,
    global_id,
    global_size,
    group_id,
    local_array,
    local_id,
    local_linear_id,
    local_linear_size,
    local_size,
    lock,
    mem_fence,
    num_groups,
    parallel,
    prange,
    python,
    task,
    tasks,
    team_size,
    thread_id,
)

__all__ = [
    "barrier",
    "global_id",
    "global_size",
    "group_id",
    "jit",
    "kernel",
    "local_array",
    "local_id",
    "local_linear_id",
    "local_linear_size",
    "local_size",
    "mem_fence",
    "lock",
    "njit",
    "num_groups",
    "parallel",
    "python",
    "prange",
    "task",
    "tasks",
    "team_size",
    "thread_id",
]


_GENERATOR = 0x20  # inspect.CO_GENERATOR
_TAKES_ANY = 0x08  # inspect.CO_VARKEYWORDS


def _prepare(function, is_kernel, options):
    """Read, check and flatten the source; called by the engine when it is first needed."""
    from .flatten import flatten_function

    # The tree of a long function is many objects without a cycle, dropped when this returns:
    # collections would walk them again and again.
    collects = gc.isenabled()
    gc.disable()
    try:
        return flatten_function(function, is_kernel, options)
    finally:
        if collects:
            gc.enable()


class _Compiled(_engine.Dispatcher):
    """What ``jit`` and ``kernel`` have in common: names, inspection."""

    def __init__(
        self, function, is_kernel, device=None, options=None, has_lines=False, flatten=None
    ):
        if not callable(function) or not hasattr(function, "__code__"):
            what = "kernel" if is_kernel else "jit"
            raise TypeError(
                f"{what}: only Python functions can be compiled; got {type(function).__name__}; "
                f"decorate a function made by def"
            )
        if function.__code__.co_filename[:1] == "<":
            from .unfiled import note

            note(function)
        prepare = flatten or (lambda: _prepare(function, is_kernel, options))
        device = getattr(device, "name", device)
        if device is not None and not isinstance(device, str):
            raise TypeError(
                f"{function.__name__}: device is a name or a device; got {device!r}; see un.devices()"
            )
        super().__init__(function, prepare, is_kernel, device, has_lines)
        self._flatten, self._options_given, self._device_given = prepare, options or {}, device
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function
        self._recorded_as = None

    def __reduce__(self):
        """By name, as Python pickles its functions."""
        return self.__qualname__

    @property
    def _recorded(self):
        """What the engine calls instead of us while a profiler watches."""
        if self._recorded_as is None:
            from .recording import recorded

            self._recorded_as = recorded(self, self.__wrapped__)
        return self._recorded_as

    @property
    def py_func(self):
        """The Python function that was decorated."""
        return self.__wrapped__

    def annotate(self, path=None, profile=None):
        """The source with what became of each line, as a page of HTML.

        Each line has its class of cost; opened, it shows its loops (parallel, vectorised, or why
        not), what was fused, hoisted, inlined, which index tests stay and why, the types of its
        names, its kernel IR, LLVM IR and machine code.

        Parameters
        ----------
        path : str or path, optional
            Where to write the page, which needs no other file.
        profile : tuple, optional
            Arguments: the function is called with copies of their arrays, again and again for a second, and the page
            tells the share of each line in the time. Short calls are measured best by large arrays.

        Returns
        -------
        Annotation
            The page as text; a notebook shows it.

        Raises
        ------
        ValueError
            If nothing has been compiled yet.

        Examples
        --------
        >>> import unisono as un
        >>> @un.jit("float64(float64)")
        ... def half(x):
        ...     return x / 2
        >>> "<html" in half.annotate()
        True
        """
        from .annotate import annotated

        return annotated(self, path, profile)

    def explain(self):
        """What became of each line, as text: what ran parallel, vectorised, fused, hoisted, or why not.

        Returns
        -------
        Report
            Text; a notebook shows the annotated source.

        Raises
        ------
        ValueError
            If nothing has been compiled yet.

        Examples
        --------
        >>> import numpy as np, unisono as un
        >>> @un.jit
        ... def double(a):
        ...     for i in range(len(a)):
        ...         a[i] *= 2
        >>> double(np.ones(3))
        >>> "vectorised" in double.explain()
        True
        """
        from .annotate import explained

        return explained(self)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise TypeError(
            f"kernel: '{self.__name__}' is compiled and cannot be a method; got a call through an "
            f"instance; define it outside of the class, or mark it with staticmethod"
        )


class JitFunction(_Compiled):
    """A function compiled by :func:`jit`, called like the Python function.

    Attributes
    ----------
    py_func : function
        The Python function.
    signatures : list of str
        The argument types compiled so far.
    """

    def inspect_types(self, file=None):
        """Print the source and, for each combination of argument types, the types of the names.

        Parameters
        ----------
        file : text file, optional
            Where to print; standard output by default.
        """
        from .source import read_function

        print("\n".join(read_function(self.py_func)[3]).rstrip(), file=file)
        print(self._types().rstrip(), file=file)

    @property
    def nopython_signatures(self):
        """`signatures` by another name of Numba's."""
        return self.signatures

    def parallel_diagnostics(self, signature=None, level=1):
        """Print what ran parallel, was fused, hoisted and vectorised, or why not.

        Parameters
        ----------
        signature, level : optional
            Numba's; all that is known is printed, for all combinations of types.
        """
        print(self.parallel_report())
        if level > 1:
            print(self.explain())

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<unisono.jit {self.__module__}.{self.__qualname__}>"


class JitGenerator(JitFunction):
    """A generator function compiled by :func:`jit` where compiled functions loop over it.

    Called from Python it runs in the interpreter, item by item.
    """

    def __call__(self, *args, **kwargs):
        return self.py_func(*args, **kwargs)


class JitKeywords(JitFunction):
    """A function compiled by :func:`jit` that has ``**names``: one version for each set of names."""

    _variants = None

    def _with_keywords(self, names):
        """The version that takes keyword arguments of these names, under names of its own."""
        self._variants = self._variants or {}
        if names not in self._variants:
            options = {**self._options_given, "keywords": names}
            self._variants[names] = JitFunction(self.py_func, False, self._device_given, options)
        return self._variants[names]

    def __call__(self, *args, **kwargs):
        from .keywords import extra_names, own_name

        names = extra_names(self.py_func, kwargs)
        if not names:
            return super().__call__(*args, **kwargs)
        given = {own_name(k) if k in names else k: v for k, v in kwargs.items()}
        return self._with_keywords(names)(*args, **given)


class Kernel(_Compiled):
    """A work-item function compiled by :func:`kernel`, launched as ``f[global_size](...)``."""

    def __getitem__(self, size):
        axes, uses_group = self._kernel_axes()
        global_size, local_size = size, None
        if isinstance(size, tuple) and len(size) == 2:
            # Two ints are a size of two axes where the kernel names two, else the two sizes of one.
            if axes < 2 or any(isinstance(s, (tuple, list)) or s is None for s in size):
                global_size, local_size = size
        if uses_group and local_size is None:
            raise ValueError(
                f"{self.__name__}: a kernel with local_array or barrier needs its local size; "
                f"got f[{global_size}]; launch it as f[global_size, local_size](...)"
            )
        sizes = self._sizes(global_size, "global")
        groups = self._sizes(local_size, "local") if local_size is not None else ()
        if groups and len(groups) != len(sizes):
            raise ValueError(
                f"{self.__name__}: global and local size must have as many axes; got "
                f"{sizes} and {groups}; give one local size per axis"
            )
        return _Launch(self, sizes, groups)

    def _sizes(self, size, name):
        sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
        if not 1 <= len(sizes) <= 3:
            raise ValueError(
                f"{self.__name__}: a {name} size has 1 to 3 axes; got {len(sizes)}; give an int or "
                f"a tuple of up to three"
            )
        import operator

        try:
            sizes = tuple(operator.index(s) for s in sizes)
        except TypeError:
            raise TypeError(
                f"{self.__name__}: a {name} size consists of integers; got {size!r}; "
                f"use // to divide sizes"
            ) from None
        least = 0 if name == "global" else 1
        if min(sizes) < least:
            raise ValueError(
                f"{self.__name__}: a {name} size is at least {least}; got {sizes}; "
                f"give a size for each axis"
            )
        return sizes

    def __repr__(self):
        return f"<unisono.kernel {self.__module__}.{self.__qualname__}>"


class _Launch:
    """A kernel with its sizes: call it with the arguments."""

    __slots__ = ("_groups", "_kernel", "_sizes")

    def __init__(self, kernel, sizes, groups):
        self._kernel, self._sizes, self._groups = kernel, sizes, groups

    def __call__(self, *args, **kwargs):
        if sys.getprofile() is None:
            return self._kernel._launch(self._sizes, self._groups, args, kwargs)
        from .recording import recorded

        launch = recorded(self._kernel._launch, self._kernel.py_func)
        return launch(self._sizes, self._groups, args, kwargs)


def jit(signature_or_function=None, *, device=None, **options):
    """Compile a Python function when it is first called, once per combination of argument types.

    Parameters
    ----------
    signature_or_function : function, signature or list of signatures, optional
        Given signatures such as ``"float64(float64[:, :], int64)"`` or
        ``un.float64(un.float64[:])``, the function is compiled for them at once and for no other
        types; numbers are converted.
    device : str or Device, optional
        Where calls with arrays of the host, or without arrays, run: ``"cpu"`` (the default, but for arrays that lie on
        ``"interp"``); ``"interp"``, which checks every access; or another device (``"opencl"``, ``"gpu,cpu"``), to which
        each call copies what it needs and from which it brings back what the function wrote and returned. Signatures
        compile for it.
    parallel : bool, optional
        False runs ``prange`` as ``range``.
    schedule : str or tuple, optional
        Of each ``prange`` that names none: ``"dynamic"``, or ``("dynamic", 16)`` with a chunk size.
        ``UNISONO_SCHEDULE`` says so for all functions.
    num_threads : int, optional
        At most so many threads run the function's loops.
    boundscheck : bool, optional
        False leaves out tests of indices that depend on data. Others cost nothing. Of kernels, True tests on the CPU, too,
        that all work-items of a group reach each barrier (`kernel`).
    cdivision : bool, optional
        True gives ``//`` and ``%`` of numbers C's signs: quotients are cut towards zero.
    wraparound : bool, optional
        False promises, as in Cython, that no index is negative; nothing depends on it.
    fastmath : bool, optional
        True lets floats be re-associated and contracted; bits then depend on the machine.
    error_model : str, optional
        ``"python"`` (the default) raises ZeroDivisionError, ``"numpy"`` gives inf, NaN or 0.
    debug : bool, optional
        True tells gdb and perf the function's lines, as ``UNISONO_JIT_LINES=1`` does for all.
    link : str, path, CModule or list of them, optional
        C text or files that define the functions that `declare_device` declared.
    interpret : bool, optional
        True runs the Python function itself, so that pdb can step through it; its arrays are
        watched: indices are tested, and iterations of a `prange` that meet at an element raise
        ValueError.
    nopython : bool, optional
        True refuses calls that only the interpreter can run: functions of arrays that compiled code
        does not know, of which a RuntimeWarning tells otherwise. ``UNISONO_NOPYTHON=1`` does so for
        all functions.
    forceobj : bool, optional
        True leaves the function to the interpreter, as Numba's object mode does: the Python function
        itself is returned.
    cache, nogil, inline, looplift : optional
        Numba's. Functions are always compiled whole, kept on disk, run without Python's lock, and
        inlined where it pays.

    Returns
    -------
    JitFunction
        Called like the function. Results are Python scalars, tuples of them, or the arrays given.

    Raises
    ------
    TypeError
        For an option or a type that is not known.

    Notes
    -----
    Arithmetic is CPython's for Python scalars and NumPy's for array elements, but integers are
    64 bits wide and wrap. Indices are checked. Annotations of parameters, results and variables
    declare their types. With ``UNISONO_DISABLE_JIT=1`` the Python function itself is returned.

    Examples
    --------
    >>> import unisono as un
    >>> @un.jit
    ... def triangle(n):
    ...     s = 0
    ...     for i in range(n + 1):
    ...         s += i
    ...     return s
    >>> triangle(10)
    55
    >>> @un.jit("float64(float64)")
    ... def half(x):
    ...     return x / 2
    >>> half(3)
    1.5
    """
    from .options import checked

    if options.pop("interpret", None):
        from .interpret import Interpreted

        checked(options, "jit")
        is_function = callable(signature_or_function) and hasattr(signature_or_function, "__code__")
        return Interpreted(signature_or_function) if is_function else Interpreted
    given, settings = signature_or_function, checked(options, "jit")
    if settings.pop("forceobj", None):
        return given if hasattr(given, "__code__") else lambda function: function
    if given is not None:
        from .signatures import is_signature, signatures_of

        if not is_signature(given):
            return _compiled(given, device, settings)
        settings["signatures"] = signatures_of(given, "jit")
    return lambda function: _compiled(function, device, settings)


def always_jit(function, signatures=None, **settings):
    """`jit` for what has no other form, also where UNISONO_DISABLE_JIT leaves its functions to Python."""
    from .signatures import signatures_of

    if signatures:
        settings["signatures"] = signatures_of(signatures, "jit")
    return _compiled(function, None, settings, True)


def _compiled(function, device, settings, always=False):
    from .options import is_disabled

    is_own = str(getattr(function, "__module__", "")).startswith(
        "unisono."
    )  # called by what is compiled
    if is_disabled() and not (always or is_own):
        return function
    if isinstance(function, JitFunction):
        function = function.py_func
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    kind = (
        JitGenerator if flags & _GENERATOR else JitKeywords if flags & _TAKES_ANY else JitFunction
    )
    made = kind(function, False, device, settings, bool(settings.pop("debug", False)))
    if settings.get("signatures") and not flags & _GENERATOR:
        made._compile_signatures()
    return made


def njit(signature_or_function=None, **options):
    """`jit` by Numba's other name.

    Parameters
    ----------
    signature_or_function : callable, str, type or list of these, optional
        As of `jit`.
    **options
        As of `jit`.

    Returns
    -------
    Dispatcher or decorator
        The compiled function; a decorator where no function is given.

    Raises
    ------
    TypeError
        An option that `jit` does not have, or a signature that cannot be read.

    Examples
    --------
    >>> import unisono as un
    >>> @un.njit(fastmath=True, cache=True)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    return jit(signature_or_function, **options)


def kernel(function=None, *, device=None, boundscheck=None):
    """Compile a work-item function, launched over a range as ``f[global_size](...)``.

    Parameters
    ----------
    function : function
        Runs once for each work-item; `global_id` and the like tell which one.
    device : str, optional
        Where launches with host arrays run; launches with device arrays run on their device.
    boundscheck : bool, optional
        True: on the CPU, too, a barrier that some work-items of a group reach and others do not is a RuntimeError, as it
        always is in the interpreter. Elsewhere, and without it, those others wait there as well. False: as of `jit`.

    Returns
    -------
    Kernel
        ``f[global_size](...)`` or ``f[global_size, local_size](...)``; sizes are ints, or tuples
        for two or three axes.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> @un.kernel
    ... def vadd(a, b, c):
    ...     i = un.global_id(0)
    ...     c[i] = a[i] + b[i]
    >>> a = np.arange(4.0)
    >>> c = np.zeros(4)
    >>> vadd[4](a, a, c)
    >>> c.tolist()
    [0.0, 2.0, 4.0, 6.0]
    """
    from .options import checked

    options = checked({"boundscheck": boundscheck}, "kernel")
    if function is None:
        return lambda f: Kernel(f, True, device, options)
    return Kernel(function, True, device, options)
