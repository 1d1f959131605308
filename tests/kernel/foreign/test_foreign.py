"""Functions of ctypes and cffi objects, called by compiled functions."""

import ctypes

import numpy as np
import pytest
import unisono as un

libm = ctypes.CDLL("libm.so.6")
libm.cosh.argtypes, libm.cosh.restype = [ctypes.c_double], ctypes.c_double
cosh = libm.cosh


def test_functions_of_ctypes():
    @un.jit
    def f(x):
        return cosh(x) + libm.cosh(0.0)

    assert f(1.0) == cosh(1.0) + 1.0

    @un.jit
    def g(a):
        for i in un.prange(len(a)):
            a[i] = cosh(a[i])

    a = np.linspace(0, 1, 100)
    expected = [cosh(x) for x in a]
    g(a)
    assert a.tolist() == expected


def test_pointers_and_functions_without_result():
    libc = ctypes.CDLL(None)
    libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    libc.memset.restype = None
    bounds = libm.modf
    bounds.argtypes, bounds.restype = (
        [ctypes.c_double, ctypes.POINTER(ctypes.c_double)],
        ctypes.c_double,
    )

    @un.jit
    def f(bytes_, whole):
        libc.memset(bytes_, 7, len(bytes_))
        return bounds(2.5, whole)

    data, whole = np.zeros(3, np.uint8), np.zeros(1)
    assert f(data, whole) == 0.5
    assert data.tolist() == [7, 7, 7] and whole[0] == 2.0


def test_a_function_pointer_with_a_prototype():
    plain = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x + 10)
    address = ctypes.cast(libm.sinh, ctypes.c_void_p).value
    sinh = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)

    @un.jit
    def f(x):
        return plain(x) + sinh(0.0)

    assert f(1.0) == 11.0


def test_function_pointers_of_different_types():
    """They have no names to tell them apart."""
    one = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x + 10)
    two = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(lambda x, y: x - y)
    three = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda n: 3 * n)
    assert un.jit(lambda x: one(x))(1.0) == 11.0
    assert un.jit(lambda x: two(x, 1.0))(1.0) == 0.0
    assert un.jit(lambda x: (one(x), two(x, x), three(2)))(1.0) == (11.0, 0.0, 6)


def test_what_cannot_be_called_says_why():
    tanh = ctypes.CDLL("libm.so.6").tanh

    @un.jit
    def f(x):
        return tanh(x)

    with pytest.raises(un.CompileError, match="set tanh.argtypes and tanh.restype"):
        f(1.0)

    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_int),)

    odd = ctypes.CDLL(None).abs
    odd.argtypes = [Pair]

    @un.jit
    def g(x):
        return odd(x)

    with pytest.raises(un.CompileError, match="whose type Pair is neither a number nor a pointer"):
        g(1)


def test_functions_of_cffi():
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double cosh(double); int abs(int);")
    lib = ffi.dlopen("libm.so.6")
    one = lib.cosh

    @un.jit
    def f(x):
        return one(x) + lib.cosh(x)

    assert f(1.0) == 2 * cosh(1.0)


def test_they_are_not_built_ahead(tmp_path):
    @un.jit("float64(float64)")
    def f(x):
        return cosh(x)

    with pytest.raises(TypeError, match="is a function of ctypes or cffi"):
        un.compile_module("foreign", [f], tmp_path)


def test_functions_at_addresses():
    """Objects of Numba's protocol, and functions that Cython modules export."""
    scipy_special = pytest.importorskip("scipy.special")
    from unisono.extending import get_cython_function_address

    address = get_cython_function_address("scipy.special.cython_special", "gammaincc")

    class Upper(un.types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return address

        def signature(self):
            return un.float64(un.float64, un.float64)

    upper = Upper()
    by_prototype = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(address)

    @un.jit
    def both(a, x):
        return upper(a, x), by_prototype(a, x)

    expected = scipy_special.gammaincc(1.5, 2.0)
    assert both(1.5, 2.0) == (expected, expected) and upper(1.5, 2.0) == expected
    with pytest.raises(ValueError, match="exports no function 'nothing'"):
        get_cython_function_address("scipy.special.cython_special", "nothing")

    class Text(Upper):
        def signature(self):
            return un.types.unicode_type(un.float64)

    text = Text()
    with pytest.raises(un.CompileError, match="whose type unicode_type is not a number"):
        un.jit(lambda: text(1.0))()
    with pytest.raises(NotImplementedError, match="define signature"):
        un.types.WrapperAddressProtocol().signature()
