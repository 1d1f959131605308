"""Extensions in C, C++ and Cython share arrays, devices, queues and exceptions with the package."""

import ctypes
import gc
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import unisono as un

ROOT = Path(__file__).resolve().parents[3]
CASES = Path(__file__).with_name("extensions")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("c++"), reason="needs a C++ compiler"),
]


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """The example's function that builds a module from a file."""
    spec = importlib.util.spec_from_file_location("extensions", ROOT / "examples/extensions.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    folder = tmp_path_factory.mktemp("extensions")
    return lambda source, into=folder: example.build(source, into)


@pytest.fixture(scope="module")
def cases(build):
    pytest.importorskip("pybind11")
    return build(CASES / "cases.cpp")


@pytest.fixture(scope="module")
def in_c(build):
    return build(ROOT / "examples/extensions/heat_c.c")


@pytest.fixture(scope="module")
def in_cython(build):
    pytest.importorskip("Cython")
    return build(ROOT / "examples/extensions/heat_cython.pyx")


DTYPES = [str(d) for d in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")]
DTYPES += ["uint64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_goes_through_with_its_dtype(cases, dtype):
    a = un.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)[:, ::2]
    same = cases.same(a)
    assert type(same) is un.ndarray and same.dtype == a.dtype
    np.testing.assert_array_equal(np.asarray(same), np.asarray(a))
    assert cases.describe(a) == ([2, 2], [3, 2], 4, False, "cpu")
    assert cases.dtype(dtype) == a.dtype


def test_the_memory_is_shared_both_ways(cases):
    a = un.arange(4.0)
    b = a + 1
    assert cases.doubled_float64(a) is not a
    assert a.tolist() == [0, 2, 4, 6] and b.tolist() == [1, 2, 3, 4]
    x = np.arange(3, dtype=np.int16)
    cases.doubled_int16(x)
    assert x.tolist() == [0, 2, 4]
    assert cases.same([1.5, 2]).tolist() == [1.5, 2]


def test_what_is_recorded_while_an_array_is_open_is_seen(cases):
    a = un.ones(100_000)

    def write():
        a[:] = a + 4

    assert cases.open_twice(a, write) == (1, 5)


def test_operations_follow_numpy(cases, device):
    x, y = np.array([1.0, 2.5, -3.0]), np.array([2.0, 0.5, 4.0])
    a, b = un.array(x, device=device), un.array(y, device=device)
    wanted = [x + y, x - 2, 2 * x, x / y, x % 3, -x, x < y, x == y, x**2, np.hypot(x, y)]
    wanted += [np.minimum(x, y), np.where(x < y, x, 0.5)]
    for made, right in zip(cases.arithmetic(a, b), wanted, strict=True):
        assert made.device == device
        np.testing.assert_allclose(np.asarray(made.to_device("cpu")), right, rtol=1e-15)
    b = un.abs(b) / 4
    for made, name in zip(
        cases.functions(b), "sqrt exp log sin arctan tanh floor isfinite".split(), strict=True
    ):
        right = getattr(un, name)(b).to_device("cpu")
        np.testing.assert_array_equal(np.asarray(made.to_device("cpu")), np.asarray(right))
    power = cases.by_name("copysign", a, b)
    assert power.to_device("cpu").tolist() == un.copysign(a, b).to_device("cpu").tolist()


def test_reductions_views_and_products(cases, device):
    x = np.arange(12.0).reshape(3, 4)
    a = un.array(x, device=device)
    wanted = [x.sum(), x.sum(0), x.max(1, keepdims=True), x.min(), x.prod(), x.max(1)]
    for made, right in zip(cases.reductions(a), wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(made.to_device("cpu")), right)
    views = [x[1], x[:, -1], x[::-1, 1:], x[..., None, 0], x.T, x.ravel(), x[[0, 0]]]
    for made, right in zip(cases.views(a), [*views, x.astype("f4")], strict=True):
        here = np.asarray(made.to_device("cpu"))
        assert here.dtype == right.dtype
        np.testing.assert_array_equal(here, right)
    x[0] = 7
    x[1] += x[0]
    x[2:] *= 3
    assert np.array_equal(np.asarray(cases.update(a).to_device("cpu")), x)


def test_products_of_matrices(cases):
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(np.asarray(cases.matmul(un.array(x), un.array(x.T))), x @ x.T)


def test_new_arrays(cases, device):
    made = cases.made(device)
    assert [m.device for m in made] == [device] * 4
    here = [np.asarray(m.to_device("cpu")) for m in made]
    assert [h.dtype.name for h in here] == ["float32", "int8", "bool", "int64"]
    assert [h.tolist() for h in here] == [[[0] * 3] * 2, [5, 5], True, [0, 1, 2, 3]]
    assert cases.from_vector([3, 4]).tolist() == [3, 4]


def test_memory_of_the_extension_is_given_back_once(cases):
    a, before = cases.borrowed(False), cases.released()
    assert a.tolist() == [4, 2, 0]
    a[0] = 9
    b = a[1:]
    del a
    gc.collect()
    assert cases.released() == before and b.tolist() == [2, 0]
    del b
    assert cases.released() == before + 1
    assert cases.borrowed(True).tolist() == [9, 2, 0]
    with pytest.raises(ValueError, match="read-only"):
        cases.borrowed(True)[0] = 1
    with pytest.raises(ValueError, match="open: the array is read-only"):
        cases.doubled_float64(cases.borrowed(True))


def test_values(cases):
    assert cases.value(un.array([2.5])) == 2.5
    assert cases.integer_value(un.array(-7)) == -7
    assert cases.natural_value(un.array(2**64 - 1, dtype="uint64")) == 2**64 - 1
    assert cases.complex_value(un.array(1 + 2j)) == 1 + 2j
    assert cases.value(un.float64(3)) == 3
    with pytest.raises(TypeError, match="only convert an array of size 1"):
        cases.value(un.ones(2))


def test_a_chain_over_both_sides_is_one_kernel(cases):
    a = un.ones(100_000) * 1.0
    un.eval(a)
    before = un.stats()["kernels_launched"]
    total = (cases.by_name("multiply", a + 1, a) - 1).sum()
    assert un.stats()["kernels_launched"] == before
    assert float(total) == 100_000
    assert un.stats()["kernels_launched"] == before + 1


ERRORS = [ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError, MemoryError]
ERRORS += [RuntimeError, AssertionError, un.CompileError, un.DeviceError, un.UnsupportedError]
ERRORS += [un.CommError, un.InternalError, KeyboardInterrupt]


@pytest.mark.parametrize("kind", range(len(ERRORS)))
def test_an_error_that_is_thrown_is_the_exception_of_python(cases, kind):
    with pytest.raises(ERRORS[kind], match="said so") as caught:
        cases.fail(kind, "said so")
    assert caught.type is ERRORS[kind]


def test_what_the_engine_refuses_reaches_python(cases, in_c):
    with pytest.raises(ValueError, match=re.escape("(2,)")):
        cases.by_name("add", un.ones(2), un.ones(3))
    with pytest.raises(ValueError, match="there is no 'plus'"):
        cases.by_name("plus", un.ones(2), un.ones(2))
    with pytest.raises(TypeError, match="expected 1 operands; got 2"):
        cases.by_name("exp", un.ones(2), un.ones(2))
    with pytest.raises(TypeError, match="'arctan2' does not combine elements"):
        cases.reduce_by("arctan2", un.ones(2))
    with pytest.raises(IndexError):
        cases.update(un.ones(1))
    with pytest.raises(TypeError, match="another dtype"):
        cases.doubled_float64(un.ones(2, dtype="float32"))
    with pytest.raises(ValueError, match="used before"):
        cases.unset()
    with pytest.raises(TypeError, match="elements must be numbers|cannot be converted to an array"):
        in_c.axpy(1, object(), un.ones(2))
    with pytest.raises(ValueError, match=re.escape("(3,)")):
        in_c.axpy(1, un.ones(2), un.ones(3))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        cases.same(object())


def test_an_error_names_the_line_that_called_the_extension(cases):
    with un.errstate(divide="raise"):
        with pytest.raises(FloatingPointError, match="divide by zero"):
            cases.by_name("divide", un.ones(2), un.zeros(2)).tolist()
    a, b = un.ones(100_000), un.ones(100_000)
    made = cases.by_name("add", a, b)
    line = sys._getframe().f_lineno - 1
    made.tolist()
    last = un.flush_log()[-1]
    assert (Path(last["file"]).name, last["line"]) == (Path(__file__).name, line)


def test_host_loops_ask_for_host_memory(cases, device):
    a = un.array([1.0, 2.0], device=device)
    if device.name == "cpu":
        assert cases.doubled_float64(a).tolist() == [2, 4]
        return
    with pytest.raises(un.DeviceError, match=re.escape(f"{device.name}; copy it with .to")):
        cases.doubled_float64(a)


def test_the_queue_and_memory_of_a_device_are_shared(cases, device):
    if not device.name.startswith("opencl"):
        pytest.skip("another vendor's queue")
    a = un.zeros(6, device=device)
    b = a + 1
    cases.fill_by_opencl(a[2:5], 4)
    assert a.to_device("cpu").tolist() == [0, 0, 4, 4, 4, 0]
    assert b.to_device("cpu").tolist() == [1] * 6
    cases.synchronize(device)


def test_devices(cases):
    assert cases.devices() == un.devices()
    with pytest.raises(TypeError, match="incompatible"):
        cases.made("gpu:99")


def test_cython(in_cython, device):
    x = np.arange(6.0)
    a = un.array(x, device=device)
    assert in_cython.energy(a) == np.mean(x * x)
    assert in_cython.smooth(a).to_device("cpu").tolist() == ((x[1:] + x[:-1]) / 2).tolist()
    with pytest.raises(TypeError):
        in_cython.energy(object())


def test_c(in_c, device):
    a = un.array([1.0, 2.0], device=device)
    assert in_c.axpy(3, a, un.ones_like(a)).to_device("cpu").tolist() == [4, 7]


def test_another_version_is_refused(build, monkeypatch, tmp_path):
    table = (ctypes.c_uint32 * 64)(99, 256)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
    )
    name = b"unisono._engine._c_interface"
    monkeypatch.setattr(un._engine, "_c_interface", new(ctypes.addressof(table), name, None))
    with pytest.raises(ImportError, match="built for another version of unisono; build it again"):
        build(ROOT / "examples/extensions/heat_c.c", tmp_path)


def test_the_command_names_the_folder():
    done = subprocess.run(
        [sys.executable, "-m", "unisono", "include"], capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip(), "unisono", "python.h").is_file()
    assert Path(un.get_include()) == Path(done.stdout.strip())
