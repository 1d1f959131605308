"""cfunc: compiled functions called by C: libc's qsort, ctypes, CFFI; errors that C cannot take."""

import ctypes
import gc
import math
import sys
import threading

import cffi
import numpy as np
import pytest
import unisono as un


@un.cfunc("int32(CPointer(int32), CPointer(int32))")
def ascending(a, b):
    return a[0] - b[0]


@un.cfunc("float64(float64, int32)")
def power(x, n):
    made = 1.0
    for _ in range(n):
        made *= x
    return made


def test_qsort_calls_it():
    libc = ctypes.CDLL(None)
    x = np.random.default_rng(0).integers(-1000, 1000, 501).astype("int32")
    wanted = np.sort(x)
    libc.qsort(
        x.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_size_t(x.size),
        ctypes.c_size_t(4),
        ascending.ctypes,
    )
    np.testing.assert_array_equal(x, wanted)


def test_address_ctypes_and_python():
    assert power.ctypes(1.5, 3) == 3.375
    assert power(1.5, 3) == 3.375
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int32)
    assert kind(power.address)(2.0, 10) == 1024.0
    assert power.signature == "float64(float64, int32)"
    assert power.py_func.__name__ == power.__name__ == "power"
    assert power.ctypes is power.ctypes


def test_cffi_calls_it():
    ffi = cffi.FFI()
    f = ffi.cast("double(*)(double, int)", power.address)
    assert f(3.0, 2) == 9.0


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [
        ("int8", ctypes.c_int8, [-128, -1, 127]),
        ("uint8", ctypes.c_uint8, [0, 200, 255]),
        ("int16", ctypes.c_int16, [-32768, 7]),
        ("uint16", ctypes.c_uint16, [65535]),
        ("uint32", ctypes.c_uint32, [2**32 - 1]),
        ("int64", ctypes.c_int64, [-(2**63), 2**63 - 1]),
        ("uint64", ctypes.c_uint64, [2**64 - 1]),
        ("float32", ctypes.c_float, [0.5]),
        ("bool", ctypes.c_bool, [True, False]),
    ],
)
def test_types_pass_as_c_passes_them(name, kind, values):
    @un.cfunc(f"{name}({name}, {name})")
    def second(a, b):
        return b

    f = ctypes.CFUNCTYPE(kind, kind, kind)(second.address)
    for v in values:
        assert f(values[0], v) == v


def test_arrays_behind_pointers():
    @un.cfunc("void(CPointer(float64), CPointer(float64), int64, int64)")
    def row_sums(data, out, m, n):
        rows = un.carray(data, (m, n))
        columns = un.farray(data, (n, m))
        for i in range(m):
            out[i] = 0.0
            for j in range(n):
                out[i] += rows[i, j] * 2 - columns[j, i]

    x = np.arange(12.0).reshape(3, 4)
    out = np.zeros(3)
    pointer = ctypes.POINTER(ctypes.c_double)
    row_sums.ctypes(x.ctypes.data_as(pointer), out.ctypes.data_as(pointer), 3, 4)
    np.testing.assert_array_equal(out, x.sum(1))
    view = un.carray(x.ctypes.data_as(pointer), (3, 4))
    view[0, 0] = 9
    assert x[0, 0] == 9
    assert un.farray(x.ctypes.data_as(pointer), (4, 3)).tolist() == x.T.tolist()


@un.cfunc("float64(float64)", error=-1.0)
def root(x):
    if x < 0:
        raise ValueError("negative")
    return math.sqrt(x)


def test_errors_do_not_cross_c(monkeypatch):
    seen = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda u: seen.append((type(u.exc_value), str(u.exc_value)))
    )
    assert root.ctypes(4.0) == 2.0
    assert root.ctypes(-4.0) == -1.0
    assert seen == [(ValueError, "negative")]
    with pytest.raises(ValueError, match="negative"):
        root(-4.0)


def test_other_threads_call_it():
    made = []
    f = power.ctypes
    threads = [threading.Thread(target=lambda: made.append(f(2.0, 3))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert made == [8.0] * 8


def test_code_lives_as_long_as_ctypes_sees_it():
    def make():
        @un.cfunc("int64(int64)")
        def twice(x):
            return 2 * x

        return twice.ctypes

    f = make()
    gc.collect()
    assert f(21) == 42


def test_compiled_functions_call_it():
    @un.jit
    def total(n):
        s = 0.0
        for i in range(n):
            s += power(2.0, i)
        return s

    assert total(4) == 15.0


def test_memory_without_a_type():
    @un.cfunc("float64(intc, CPointer(float64), voidptr)")
    def line(n, x, user):
        data = un.carray(user, 2, dtype=np.float64)
        return x[0] * data[0] + data[1]

    @un.cfunc("void(voidptr, intc)")
    def mirror(p, n):
        a = un.carray(p, (n, n), np.float32)
        b = un.farray(p, (n, n), dtype=np.float32)
        a[0, 1] = a[1, 0] + b[0, 0]

    x, data = (ctypes.c_double * 1)(5.0), np.array([2.0, 3.0])
    assert line.ctypes(1, x, data.ctypes.data) == 13.0
    square = np.arange(4, dtype=np.float32)
    mirror.ctypes(square.ctypes.data, 2)
    assert square.tolist() == [0.0, 2.0, 2.0, 3.0]


def test_refusals():
    with pytest.raises(TypeError, match="C needs to know the types"):
        un.cfunc(power.py_func)
    with pytest.raises(TypeError, match="gives no result type"):
        un.cfunc("(float64,)")
    with pytest.raises(TypeError, match="take numbers and pointers here; got float64\\[:\\]"):
        un.cfunc("float64(float64[:])")
    with pytest.raises(TypeError, match="has 1 arguments; expected 2"):
        un.cfunc("float64(float64)")(power.py_func)
    with pytest.raises(un.CompileError, match="the signature declares float64"):
        un.cfunc("float64(float64)")(nothing)
    with pytest.raises(un.CompileError, match="a dict"):
        un.cfunc("float64(float64)")(with_dict)


def nothing(x):
    pass


def with_dict(x):
    y = {1: x}
    return y[1]


STRUCT = np.dtype(
    [
        ("i1", "i4"),
        ("f2", "f4"),
        ("d3", "f8"),
        ("af", "f4", (7,)),
        ("b", "?"),
        ("p", np.dtype([("x", "i2"), ("y", "f8", (2, 2))], align=True)),
    ],
    align=True,
)


def records(n):
    made = np.zeros(n, STRUCT)
    for name in ("i1", "f2", "d3"):
        made[name] = np.arange(1, n + 1)
    made["af"] = np.arange(7 * n).reshape(n, 7)
    made["p"]["x"] = 3
    made["p"]["y"] = np.arange(4 * n).reshape(n, 2, 2)
    return made


def weighed(pointer, n):
    base = un.carray(pointer, n)
    total = 0.0
    for i in range(n):
        total += base[i].i1 * base[i].f2 / base[i].d3 + base[i].af.sum() + base[i].p.y[1, 0]
        base[i].p.x += i
        base[i].b = base[i].i1 > 1
        base[i]["d3"] = 0.5
    return total


def weighed_void(pointer, n):
    base = un.carray(pointer, (n,), STRUCT)
    base.i1[0] = 7
    return base[n - 1].d3 + base["f2"].sum()


def expected_of(a):
    total = float((a["i1"] * a["f2"] / a["d3"]).sum() + a["af"].sum() + a["p"]["y"][:, 1, 0].sum())
    a["p"]["x"] += np.arange(len(a), dtype="i2")
    a["b"] = a["i1"] > 1
    a["d3"] = 0.5
    return total


def test_pointers_to_structs():
    to_struct = un.types.CPointer(un.from_dtype(STRUCT))
    f = un.cfunc(un.types.float64(to_struct, un.types.intp))(weighed)
    given, wanted = records(5), records(5)
    assert f.ctypes(given.ctypes.data, 5) == expected_of(wanted)
    assert given.tobytes() == wanted.tobytes()
    assert "CPointer(Record" in f.signature


def test_pointers_to_void_with_a_structured_dtype():
    f = un.cfunc("float64(voidptr, int64)")(weighed_void)
    given = records(3)
    assert f.ctypes(given.ctypes.data, 3) == 3.0 + 6.0
    assert given["i1"].tolist() == [7, 2, 3]


def test_structs_that_are_not_aligned():
    dtype = np.dtype([("a", "i1"), ("x", "f8")])

    @un.cfunc(un.types.float64(un.types.CPointer(un.from_dtype(dtype))))
    def f(pointer):
        records = un.carray(pointer, 2)
        records[1].x += records[0].a
        return records[0].x

    given = np.array([(3, 1.5), (2, 4.5)], dtype)
    assert f.ctypes(given.ctypes.data) == 1.5
    assert given["x"].tolist() == [1.5, 7.5]
