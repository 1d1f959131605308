"""Where Numba has what lets programs extend compiled code."""

from ._jit import JitFunction
from ._jit.intrinsic import intrinsic
from ._jit.numba_words import register_jitable
from ._jit.overload import overload, overload_attribute, overload_method

__all__ = [
    "get_cython_function_address", "intrinsic", "is_jitted", "overload", "overload_attribute", "overload_method",
    "register_jitable",
]  # fmt: skip


def is_jitted(function):
    """Whether a function is compiled by `un.jit`.

    Parameters
    ----------
    function : object
        Anything.

    Returns
    -------
    bool

    Examples
    --------
    >>> import unisono as un
    >>> twice = un.jit(lambda x: 2 * x)
    >>> un.extending.is_jitted(twice), un.extending.is_jitted(twice.py_func)
    (True, False)
    """
    return isinstance(function, JitFunction)


def get_cython_function_address(module_name, function_name):
    """Address of a function that a Cython module exports to C.

    Parameters
    ----------
    module_name : str
        Full name of the module, which is imported.
    function_name : str
        Its name among the module's ``__pyx_capi__``.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the module exports no such function.

    Examples
    --------
    Compiled code calls it by a ctypes prototype:

    >>> import ctypes
    >>> import unisono as un
    >>> from unisono.extending import get_cython_function_address
    >>> address = get_cython_function_address("scipy.special.cython_special", "j0")
    >>> j0 = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
    >>> un.jit(lambda x: j0(x))(0.0)
    1.0
    """
    import ctypes
    import importlib

    exported = getattr(importlib.import_module(module_name), "__pyx_capi__", {})
    if function_name not in exported:
        raise ValueError(
            f"get_cython_function_address: {module_name} exports no function {function_name!r}; "
            f"expected a name in its __pyx_capi__"
        )
    capsule = exported[function_name]
    ctypes.pythonapi.PyCapsule_GetName.restype = ctypes.c_char_p
    ctypes.pythonapi.PyCapsule_GetName.argtypes = (ctypes.py_object,)
    ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    name = ctypes.pythonapi.PyCapsule_GetName(capsule)
    return ctypes.pythonapi.PyCapsule_GetPointer(capsule, name)
