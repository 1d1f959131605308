"""CuPy's names over arrays of ours: memory, devices, streams, protocols, NumPy's scalar types."""

import ctypes
import functools
import pickle

import numpy as np
import pytest
import unisono as un
import unisono.cupy as cp


@pytest.fixture(autouse=True)
def chosen(device):
    with cp.cuda.Device(device.name):
        yield device


def test_memory_of_an_array(chosen):
    a = cp.arange(6, dtype=cp.float32).reshape(2, 3)
    assert a.data.ptr and a.data.size == 24 and a.data.mem.ptr == a.data.ptr
    assert a.data.device == chosen and int(a.data) == a.data.ptr
    if chosen.name != "cpu":
        return
    assert a.data.ptr == np.asarray(a).ctypes.data and a[1].data.ptr == a.data.ptr + 12
    assert memoryview(a.data).shape == (2, 3) == a.data.shape and bytes(a.data) == a.tobytes()
    assert np.asarray(a.data)[1, 2] == 5 and a.data[1, 2] == 5 and len(a.data) == 2
    a.data[1, 2] = 7
    assert a[1, 2] == 7 and a.data == memoryview(a)
    assert cp.byte_bounds(a) == (a.data.ptr, a.data.ptr + 24)
    assert cp.byte_bounds(a[::-1, 1:]) == (a.data.ptr + 4, a.data.ptr + 24)
    with pytest.raises(AttributeError):
        a.data.wrong  # noqa: B018


def test_pointers_into_pools():
    pool = cp.get_default_memory_pool()
    p = pool.malloc(64)
    p.memset(3, 64)
    q = cp.cuda.alloc(64)
    q.copy_from(p, 32)
    host = (ctypes.c_ubyte * 64)()
    q.copy_to_host(ctypes.addressof(host), 32)
    assert list(host)[:33] == [3] * 32 + [0]
    host[0] = 5
    (p + 8).copy_from_host(ctypes.addressof(host), 4)
    kernel = cp.RawKernel('extern "C" __global__ void f(unsigned char* x) { x[1] += x[8]; }', "f")
    kernel((1,), (1,), (p,))
    p.copy_to_host(ctypes.addressof(host), 9)
    assert list(host)[:9] == [3, 8, 3, 3, 3, 3, 3, 3, 5]
    assert pool.used_bytes() + pool.free_bytes() >= 0 and pool.n_free_blocks() in (0, 1)
    cp.cuda.set_allocator(cp.cuda.MemoryPool().malloc)
    with cp.cuda.using_allocator(pool.malloc):
        assert cp.ones(3).sum() == 3
    with pytest.raises(TypeError, match="set_allocator: memory comes from the device's pool"):
        cp.cuda.set_allocator(lambda size: None)
    with pytest.raises(ValueError, match="give either size or fraction"):
        pool.set_limit()
    with pytest.raises(ValueError, match="fraction lies between 0 and 1; got 2"):
        pool.set_limit(fraction=2)


def test_devices_streams_and_the_runtime(chosen):
    runtime = cp.cuda.runtime
    assert runtime.is_hip is False and runtime.deviceCanAccessPeer(0, 1) == 0
    assert runtime.getDeviceProperties(cp.cuda.Device().id)["name"]
    assert cp.cuda.get_device_id() == runtime.getDevice() == cp.cuda.Device().id
    free, total = runtime.memGetInfo()
    assert 0 <= free <= total
    stream = cp.cuda.Stream()
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null != stream
    assert cp.cuda.Stream.ptds == cp.cuda.Stream(null=True)
    with stream:
        assert cp.cuda.get_current_stream() is stream
        with cp.cuda.Stream() as inner:
            assert cp.cuda.get_current_stream() is inner
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    assert stream.use() is stream is cp.cuda.get_current_stream()
    with cp.cuda.Stream.null:
        assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
        inner.use()
    assert cp.cuda.get_current_stream() is stream
    assert (cp.arange(3) + 1).tolist() == [1, 2, 3]
    before = un._runtime.queues.place()
    cp.cuda.Stream.null.use()
    assert un._runtime.queues.place() is None and (chosen.name == "cpu") == (before is None)
    assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
    with pytest.raises(cp.cuda.compiler.CompileException, match="expected"):
        cp.RawModule(code='extern "C" __global__ void f( {}').compile()


def test_attributes_of_devices(chosen):
    runtime = cp.cuda.runtime
    device = cp.cuda.Device()
    known, properties = device.attributes, runtime.getDeviceProperties(chosen.name)
    number = runtime.cudaDevAttrMultiProcessorCount
    assert number == 16
    assert runtime.deviceGetAttribute(number, chosen.name) == known["MultiProcessorCount"] > 0
    assert properties["multiProcessorCount"] == known["MultiProcessorCount"]
    assert properties["maxThreadsDim"][0] == known["MaxBlockDimX"]
    assert properties["totalGlobalMem"] == device.mem_info[1]
    assert f"{properties['major']}{properties['minor']}" == device.compute_capability
    with pytest.raises(runtime.CUDARuntimeError, match="expected a number"):
        runtime.deviceGetAttribute(10**6, chosen.name)


class Given:
    """What has CuPy's protocol."""

    def __cupy_get_ndarray__(self):
        return cp.arange(3)


def test_arrays_from_others(chosen):
    for make in (cp.array, cp.asarray, cp.asanyarray, cp.ascontiguousarray):
        made = make(Given())
        assert made.device == chosen and made.tolist() == [0, 1, 2]
        assert make([1.0, 2.0], blocking=True).tolist() == [1, 2]
    assert cp.get_array_module(made, 3) is cp and cp.get_array_module(np.ones(2)) is np


def test_memory_that_others_describe():
    class Described:
        def __init__(self, array):
            self.array = array
            self.mask = None

        @property
        def __cuda_array_interface__(self):
            a = self.array
            return {
                "shape": a.shape, "typestr": a.dtype.str, "descr": a.dtype.descr, "version": 3,
                "data": (a.data.ptr, False), "strides": a.strides, "mask": self.mask,
            }  # fmt: skip

    if any(d.name.startswith("cuda") for d in un.devices()):
        pytest.skip("addresses are those of CUDA devices")
    with cp.cuda.Device("cpu"):
        a = cp.arange(6, dtype=cp.float32).reshape(2, 3).T
        b = cp.asarray(Described(a))
        a += 1
        a[0] = 9.0  # what is on its way elsewhere is written when the statement returns
        assert b.strides == a.strides and b.tolist() == a.tolist() == [[9, 9], [2, 5], [3, 6]]
        b[1] = 0
        assert a[1].tolist() == [0, 0] and cp.asnumpy(Described(a)).tolist() == a.tolist()
        assert cp.asarray(Described(cp.zeros((0, 2)))).shape == (0, 2)
        other = Described(a)
        other.mask = a
        with pytest.raises(ValueError, match="asarray: does not support masks"):
            cp.asarray(other)


def test_orders_and_classes_of_new_arrays(chosen):
    columns = np.arange(6.0).reshape(3, 2).T
    for make in (cp.array, cp.asarray, cp.asanyarray):
        assert make(columns).strides == (8, 16) and make(columns, order="C").strides == (24, 8)
        assert make(columns).tolist() == columns.tolist() and make(columns).device == chosen
    with pytest.raises(TypeError, match="zeros_like: subok=True is not supported"):
        cp.zeros_like(cp.ones(3), subok=True)
    with pytest.raises(
        ValueError, match=r"ndarray\(\) with strides has elements outside of its 48"
    ):
        cp.ndarray((2, 3), strides=(-8, 8))


def test_types_and_exceptions_are_numpy_s():
    for name in ("float32", "int8", "complex128", "bool_", "intp"):
        assert getattr(cp, name) is getattr(np, name)
    assert cp.float_ is np.float64 and cp.zeros(2, cp.float32).dtype == cp.float32
    with pytest.raises(cp.exceptions.AxisError):
        cp.zeros(3).sum(axis=2)
    assert cp.AxisError is np.exceptions.AxisError
    with pytest.raises(AttributeError):
        cp.no_such_name  # noqa: B018


def test_records_are_copied_to_numpy():
    a = un.zeros(3, dtype=[("x", "f8"), ("id", "i4")])
    a["x"] += 1.5
    got = cp.asnumpy(a)
    assert type(got) is np.ndarray and got["x"].tolist() == [1.5] * 3
    a["x"] += 1
    assert got["x"].tolist() == [1.5] * 3
    assert a.get(out=got) is got and got["x"].tolist() == [2.5] * 3


def test_memoize():
    calls = []

    @cp.memoize(for_each_device=True)
    def twice(x):
        calls.append(x)
        return 2 * x

    assert [twice(2), twice(2), twice(3)] == [4, 4, 6] and calls == [2, 3]
    cp.clear_memo()
    assert twice(2) == 4 and calls == [2, 3, 2]


def test_fused_functions_are_the_functions():
    @cp.fuse(kernel_name="f")
    def f(x, y):
        return (x - y) ** 2

    x = cp.arange(4.0)
    assert f(x, 1).tolist() == [1, 0, 1, 4] and cp.fuse(f) is f
    assert f.clear_cache() is None and cp.fuse(len) is len
    with pytest.raises(TypeError, match="fuse: unknown options; got"):
        cp.fuse(wrong=1)


def test_pools_count_what_is_used():
    pool = un.cupy.get_default_memory_pool()
    before = pool.used_bytes()
    x = cp.ones(100_000)
    assert pool.used_bytes() >= before + 800_000
    del x
    pool.free_all_blocks()
    assert cp.get_default_pinned_memory_pool().malloc(16).size == 16


def test_records_lie_at_an_address_and_are_described_by_their_fields():
    kind = np.dtype("i4,f8", align=True)
    a = un.zeros(3, dtype=kind)
    assert a[1:].data.ptr - a.data.ptr == kind.itemsize
    assert memoryview(a.data).shape == (3,) and a.data.nbytes == 3 * kind.itemsize

    if any(d.name.startswith("cuda") for d in un.devices()):
        pytest.skip("described addresses are those of CUDA devices")

    class Described:
        @property
        def __cuda_array_interface__(self):
            return {
                "shape": (3,),
                "typestr": kind.str,
                "descr": kind.descr,
                "data": (a.data.ptr, False),
                "version": 3,
            }

    b = un.asarray(Described())
    assert b.dtype == kind and b.shape == (3,)
    a["f1"] = 2.5
    assert b["f1"].tolist() == [2.5] * 3
    a.data.memset(0, 4)
    (a.data + 4).memset(0, 12)
    assert a[0].tolist() == (0, 0.0)


def test_aligned_dtypes():
    assert int(cp.max(cp.min(cp.arange(3)))) == 0  # whose names stand for Python's own then
    low, high = cp.byte_bounds(un.arange(3)[::-1])
    assert high - low == 24
    for given, size in [
        ("?,c8", 16),
        ("c8,?", 16),
        ("?,(3,)c8", 32),
        ("(3,)c8,?", 32),
        ("?,(4,)V3", 13),
    ]:
        made = cp.make_aligned_dtype(given)
        assert made.itemsize == size and made.names == ("f0", "f1")
    inner = cp.make_aligned_dtype(np.dtype([("a", "?"), ("b", "c8,?")]))
    assert inner.itemsize == 24 and inner.fields["b"][1] == 8
    with pytest.raises(ValueError, match="only supports structured dtypes; got complex128"):
        cp.make_aligned_dtype("c16")


def test_reductions_of_host_arrays_are_numpy_s():
    host = np.arange(6.0).reshape(2, 3)
    for name in ("sum", "max", "amin", "mean", "argmax"):
        made = getattr(cp, name)(host, axis=1)
        assert (
            type(made) is np.ndarray and type(getattr(cp, name)(cp.asarray(host), 1)) is un.ndarray
        )
        assert made.tolist() == getattr(np, name)(host, 1).tolist()


def test_kernels_take_what_describes_memory_and_what_holds_arrays():
    class Holds:
        def __init__(self, array):
            self.array = array

        def __cupy_get_ndarray__(self):
            return self.array

    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    x = cp.arange(5)
    assert int(total(Holds(x))) == 10
    assert cp.ndarray((2,), x.dtype, memptr=x[1:].data).tolist() == [1, 2]
    assert (x == object()).tolist() == [False] * 5 and (object() != x).all()


def test_assertions_about_arrays_of_any_device(chosen):
    x = cp.arange(3.0)
    cp.testing.assert_allclose(x, np.arange(3.0) * (1 + 1e-9), rtol=1e-7)
    cp.testing.assert_array_equal(np.arange(3.0), x)
    cp.testing.assert_array_list_equal([x, x], [np.arange(3.0), x])
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 3"):
        cp.testing.assert_array_equal(x, [0, 1, 5])
    with pytest.raises(AssertionError, match="the lists have 1 and 2 arrays"):
        cp.testing.assert_array_list_equal([x], [x, x])


class Holder:
    """Has an array by CuPy's protocol."""

    def __init__(self, array):
        self._array = array

    def __cupy_get_ndarray__(self):
        return self._array


def test_what_holds_an_array_counts_as_it():
    a = cp.zeros(4)
    a[...] = Holder(cp.arange(4.0))
    assert a[Holder(cp.asarray([3, 1]))].tolist() == [3, 1]
    assert a[Holder(cp.asarray([True, False, True, False]))].tolist() == [0, 2]
    a.fill(Holder(cp.ones(())))
    assert a.tolist() == [1] * 4
    assert cp.min_scalar_type(Holder(cp.ones(2, np.int8))) == np.int8


def test_filling_and_summing_as_numpy(chosen):
    a = cp.zeros(3)
    with pytest.raises(ValueError, match="fill: expected a number; got an array with axes"):
        a.fill(cp.ones(1))
    with pytest.warns(np.exceptions.ComplexWarning):
        a.fill(cp.ones((), np.complex64))
    z = cp.asarray([1 + 2j, 3j])
    for reduce, whole in ((z.sum, 1), (z.prod, 0)):
        with pytest.warns(np.exceptions.ComplexWarning):
            assert float(reduce(dtype=np.float64)) == whole
    assert bool(z.sum(dtype=bool)) is True


def test_arrays_of_other_dtypes_are_no_indices():
    a = cp.zeros(3)
    for wrong in (np.array([1], object), np.array(["1"]), np.zeros(1, "i,i")):
        with pytest.raises(IndexError, match="arrays used as indices must be of integer"):
            a[wrong]


def test_converting_without_a_copy_gives_the_array_itself():
    a = cp.arange(6.0).reshape(2, 3)
    for order in "CAK":
        assert a.astype(np.float64, order=order, copy=False) is a
    assert a.astype(np.float64, copy=False) is a and a.astype(np.float64) is not a
    f = cp.asfortranarray(a)
    assert f.astype(np.float64, order="F", copy=False) is f
    c = f.astype(np.float64, order="C", copy=False)
    assert c is not f and c.flags.c_contiguous and c.tolist() == f.tolist()
    assert a.astype(np.float32, copy=False).dtype == np.float32


def test_orders_of_copies_on_the_host():
    f = cp.asfortranarray(cp.arange(6.0).reshape(2, 3))
    assert f.get().flags.c_contiguous and f.get(order="F").flags.f_contiguous
    assert f.get(order="A").flags.f_contiguous and f.get().tolist() == f.tolist()
    assert cp.ndarray((2, 3), order="f").flags.f_contiguous


def test_allocators_of_pinned_memory():
    given = []
    cp.cuda.set_pinned_memory_allocator(lambda size: given.append(size))
    assert cp.cuda.alloc_pinned_memory(8) is None and given == [8]
    cp.cuda.set_pinned_memory_allocator(None)
    assert memoryview(cp.cuda.alloc_pinned_memory(8)).nbytes == 8
    with pytest.raises(TypeError, match="expected a function of a number of bytes"):
        cp.cuda.set_pinned_memory_allocator(3)


def test_capsules_with_the_older_name(chosen):
    a = cp.arange(3.0)
    assert "dltensor" in str(a.toDlpack())
    if chosen.name.startswith("opencl"):
        return
    capsule = a.toDlpack()
    b = cp.fromDlpack(capsule)
    with pytest.raises(ValueError, match="cannot be consumed multiple times"):
        cp.fromDlpack(capsule)
    assert b.data.ptr == a.data.ptr and b.tolist() == [0, 1, 2]
    for wrong in ((1, 2**30), (9, 0)):
        with pytest.raises(BufferError, match="there is no device"):
            a.__dlpack__(dl_device=wrong)


@pytest.mark.parametrize("xp", [np, cp])
def test_casts_of_products_and_shapes_of_replacements(xp):
    out = xp.zeros((2, 2), bool)
    a = xp.asarray([[1.5, 0.0], [0.0, 2.0]])
    assert xp.matmul(a, a, out=out, casting="unsafe") is out
    assert out.tolist() == [[True, False], [False, True]]
    with pytest.raises(TypeError):
        xp.matmul(a, a, out=out)
    with pytest.raises(ValueError):
        xp.matmul(a, a, out=xp.zeros(3), casting="unsafe")
    x = xp.asarray([0, np.nan, np.inf])
    assert xp.nan_to_num(x, nan=xp.ones(3), posinf=2).tolist() == [0, 1, 2]
    for name in ("nan", "posinf", "neginf"):
        with pytest.raises(ValueError):
            xp.nan_to_num(x, **{name: xp.zeros((2, 3))})


@pytest.mark.parametrize("number", [True, 2, 2.5, 1 + 2j])
def test_parts_of_numbers_are_arrays(number):
    for part, wanted in ((cp.real, np.real), (cp.imag, np.imag)):
        made = part(number)
        assert type(made) is un.ndarray and made.shape == () and made == wanted(number)
    assert un.real(number) == np.real(number) and type(un.real(2)) is int


@pytest.mark.parametrize("xp", [np, cp])
def test_rows_are_stacked_with_a_warning(xp):
    with pytest.warns(DeprecationWarning, match="`row_stack` alias is deprecated"):
        assert xp.row_stack((xp.ones(2), xp.zeros(2))).tolist() == [[1, 1], [0, 0]]


class _Holds:
    def __init__(self, array):
        self._array = array

    def __cupy_get_ndarray__(self):
        return self._array


class _Describes:
    def __init__(self, array):
        self._array = array

    @property
    def __cuda_array_interface__(self):
        a = self._array
        given = {"shape": a.shape, "typestr": a.dtype.str, "data": (a.data.ptr, False)}
        return {**given, "version": 3}


@pytest.mark.parametrize("holder", [_Holds, _Describes])
def test_lists_of_what_holds_arrays(chosen, holder):
    has_cuda = any(d.name.startswith("cuda") for d in un.devices())
    if holder is _Describes and (has_cuda or chosen.name != "cpu"):
        pytest.skip("addresses are those of CUDA devices, and of the host where there are none")
    index = cp.arange(3)
    held = holder(index)
    a = cp.arange(10.0) * 2
    assert cp.asarray([held, held]).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert cp.asarray([held, held]).device == chosen
    assert a[[held]].tolist() == [[0, 2, 4]] and a[held,].tolist() == [0, 2, 4]
    assert cp.min_scalar_type([held]) == index.dtype
    a.fill(holder(cp.ones(())))
    assert a.tolist() == [1] * 10


def test_random_numbers_of_a_dtype():
    draws = [
        cp.random.rand(2, 3, dtype="f4"),
        cp.random.RandomState(3).normal(size=4, dtype=cp.float32),
        cp.random.standard_normal(5, dtype="f4"),
    ]
    assert [(d.dtype, d.shape) for d in draws] == [("float32", s) for s in ((2, 3), (4,), (5,))]
    assert cp.random.random(3, dtype="f4").dtype == cp.float32
    assert cp.random.RandomState(3).rand(2).dtype == cp.float64


def test_the_class_of_arrays():
    x = cp.ones(3, cp.float32)
    for one in (x, x.sum(), x.sum() > 2, cp.arange(3).max(), cp.ones(3).sum(), cp.array(2.0) * 2):
        assert isinstance(one, cp.ndarray) and issubclass(type(one), cp.ndarray)
    for other in (np.ones(3), np.float32(1), 1.0, 2, [1]):
        assert not isinstance(other, cp.ndarray) and not issubclass(type(other), cp.ndarray)
    assert {cp.ndarray: 1}[type(x)] == 1  # by == and hash
    assert cp.ndarray.sum(x) == 3 and "sum" in dir(cp.ndarray)
    assert type(cp.ndarray((2, 3), cp.int8)) is un.ndarray

    class Named(cp.ndarray):
        name = "mine"

    made = x.view(Named)
    assert isinstance(made, cp.ndarray) and isinstance(made, Named) and made.name == "mine"
    assert not isinstance(x, Named)
    assert type(x.view(cp.ndarray)) is un.ndarray and type(made.view(cp.ndarray)) is un.ndarray

    @functools.singledispatch
    def kind(x):
        return "other"

    kind.register(cp.ndarray, lambda x: "array")
    assert [kind(x), kind(x.sum()), kind(np.ones(3))] == ["array", "array", "other"]
    assert pickle.loads(pickle.dumps(cp.ndarray)) is cp.ndarray
