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

    with pytest.raises(un.CompileError, match="whose type Pair is no number or pointer"):
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
