"""Arrays that pyopencl and unisono both use."""

import numpy as np
import pytest
import unisono as un

cl = pytest.importorskip("pyopencl")

OPENCL = [d.name for d in un.devices("opencl")]

pytestmark = pytest.mark.skipif(not OPENCL, reason="no OpenCL device")
N = 1_000_000


@pytest.fixture(params=OPENCL)
def name(request):
    return request.param


@pytest.fixture
def theirs(name):
    """A queue of pyopencl's own."""
    return cl.CommandQueue(un.opencl.context(name))


def test_contexts_and_queues_are_those_of_devices(name):
    context, queue = un.opencl.context(name), un.opencl.queue(name)
    assert context == un.opencl.context(name) == queue.context
    q = un.Queue(name)
    assert un.opencl.queue(q) not in (queue, un.opencl.queue(un.Queue(name)))
    assert un.opencl.queue(q) == un.opencl.queue(q) and un.opencl.queue(q).context == context


def test_arrays_of_pyopencl_are_shared(name, theirs):
    a = cl.array.arange(theirs, N, dtype=np.float64)
    before = un.stats()["bytes_copied"]
    x = un.asarray(a)
    assert x.device == name and x.shape == (N,) and x.dtype == "float64" and x.memory == "device"
    for _ in range(5):  # in turns, each on its queue
        a += 1
        x *= 2
    assert un.stats()["bytes_copied"] == before
    want = np.arange(N, dtype=float)
    for _ in range(5):
        want = (want + 1) * 2
    np.testing.assert_array_equal(a.get(), want)
    np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), want)


def test_parts_of_arrays_of_pyopencl(name, theirs):
    a = cl.array.to_device(theirs, np.arange(24, dtype="int32").reshape(4, 6))
    x = un.opencl.from_pyopencl(a[1:3])
    x[...] = -x
    want = np.arange(24).reshape(4, 6)
    want[1:3] *= -1
    np.testing.assert_array_equal(a.get(), want)
    f = cl.array.to_device(theirs, np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    assert un.asarray(f).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_functions_take_arrays_of_pyopencl(name, theirs):
    a = cl.array.arange(theirs, 10, dtype=np.float64)
    np.testing.assert_array_equal(
        np.asarray(un.add(a, un.asarray(a)).to_device("cpu")), np.arange(10) * 2
    )
    assert un.sum(a) == 45 and un.sqrt(a).device == name
    c = un.asarray(a, copy=True)
    c += 1
    assert a.get()[0] == 0
    assert un.asarray(a, device="cpu").device == "cpu"
    assert un.asarray(a, dtype="int32").tolist() == list(range(10))


def test_pyopencl_uses_our_memory(name):
    x = un.arange(N, dtype="float64", device=name).reshape(1000, -1)[10:20]
    a = un.opencl.to_pyopencl(x)
    assert a.shape == x.shape and a.strides == x.strides and a.dtype == np.float64
    for _ in range(5):  # in turns, on one queue, without a wait
        x += 1
        a *= 2
    want = np.arange(N, dtype=float).reshape(1000, -1)[10:20]
    for _ in range(5):
        want = (want + 1) * 2
    np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), want)
    np.testing.assert_array_equal(a.get(), want)
    del x
    np.testing.assert_array_equal(a.get(), want)


def test_kernels_of_pyopencl_run_on_our_buffers(name):
    context, queue = un.opencl.context(name), un.opencl.queue(name)
    program = cl.Program(
        context,
        "kernel void twice(global double* x, long first) { x[first + get_global_id(0)] *= 2; }",
    ).build()
    x = un.ones(100, device=name)[50:]
    a = un.opencl.to_pyopencl(x)
    program.twice(queue, (50,), None, a.base_data, np.int64(a.offset // 8))
    assert float(x.sum()) == 100


def test_shared_memory_is_their_svm(name):
    device = un.opencl.queue(name).device
    if not device.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_BUFFER:
        pytest.skip("no fine-grained shared virtual memory")
    context, queue = un.opencl.context(name), un.opencl.queue(name)
    program = cl.Program(
        context, "kernel void twice(global double* x) { x[get_global_id(0)] *= 2; }"
    ).build()
    x = un.ones(1000, device=name, memory="shared")
    program.twice(queue, (1000,), None, cl.SVM(np.asarray(x)))
    queue.finish()
    assert float(x.sum()) == 2000


def test_arrays_in_svm_are_shared(name, theirs):
    allocator = cl.tools.SVMAllocator(
        un.opencl.context(name), flags=cl.svm_mem_flags.READ_WRITE, queue=theirs
    )
    a = cl.array.zeros(theirs, 1000, np.float64, allocator=allocator)
    x = un.opencl.from_pyopencl(a)
    x += 1
    a *= 3
    assert float(x.sum()) == 3000
    x += 1
    assert (a.get() == 4).all()
    del a
    assert float(x.sum()) == 4000


def test_other_contexts_need_copies(name):
    context = cl.Context(un.opencl.context(name).devices)
    a = cl.array.arange(cl.CommandQueue(context), 10, dtype=np.float32)
    with pytest.raises(un.DeviceError, match=r"make it in unisono.opencl.context\(device\)"):
        un.opencl.from_pyopencl(a)
    x = un.asarray(a)
    assert x.device == "cpu" and x.tolist() == list(range(10))


def test_other_objects_are_refused(name):
    with pytest.raises(TypeError, match="expected an array of pyopencl; got list"):
        un.opencl.from_pyopencl([1])
    with pytest.raises(
        TypeError, match="expected an array of unisono on an OpenCL device; got ndarray"
    ):
        un.opencl.to_pyopencl(np.ones(3))
    with pytest.raises(un.DeviceError, match="the array is in memory of the host"):
        un.opencl.to_pyopencl(un.ones(3))
    with pytest.raises(un.DeviceError, match="has no objects of a driver"):
        un.opencl.context("cpu")
