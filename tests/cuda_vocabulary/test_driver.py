"""Memory, copies, kernels, streams and contexts with the names of PyCUDA's driver."""

import numpy as np
import pytest
import unisono as un
import unisono.cuda.driver as drv
from unisono import cuda
from unisono.cuda import gpuarray
from unisono.cuda.compiler import SourceModule

TEXT = """
__constant__ float factors[4];
__global__ void scaled(float *target, const float *source, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i] = factor * source[i];
}
__global__ void weighted(float *x) { x[threadIdx.x] *= factors[threadIdx.x]; }
__global__ void reversed(int *x)
{
    extern __shared__ int part[];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.fixture
def module(chosen):
    return SourceModule(TEXT)


def test_copies_to_the_device_and_back(chosen):
    a = np.arange(12, dtype=np.float64).reshape(3, 4)
    block = drv.mem_alloc(a.nbytes)
    drv.memcpy_htod(block, a)
    assert (drv.from_device(block, (3, 4), float) == a).all()
    assert (drv.from_device_like(int(block) + 32, a[1:]) == a[1:]).all()
    drv.memcpy_htod(int(block) + 8, np.float64(-1))
    drv.memcpy_htod(np.intp(block) + 16, b"\0" * 8)
    assert drv.from_device(block, 3, float).tolist() == [0, -1, 0]
    other = drv.to_device(np.asfortranarray(a))
    assert (drv.from_device(other, (3, 4), float, order="F") == a).all()
    drv.memcpy_dtod(other, int(block) + 8, 8)
    assert drv.from_device(other, 1, float) == -1
    drv.memset_d32(other, 7, 3)
    drv.memset_d8(int(other) + 12, 255, 4)
    assert drv.from_device(other, 4, np.int32).tolist() == [7, 7, 7, -1]
    free, total = drv.mem_get_info()
    assert 0 <= free <= total


def test_rectangles(chosen):
    a = np.arange(20, dtype=np.int32).reshape(4, 5)
    block, pitch = drv.mem_alloc_pitch(20, 4, 4)
    copy = drv.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(block)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 20, pitch, 20, 4
    copy(aligned=True)
    back = np.zeros((2, 3), np.int32)
    copy = drv.Memcpy2D()
    copy.set_src_device(block)
    copy.set_dst_host(back)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = pitch, 12, 12, 2
    copy.src_y, copy.src_x_in_bytes = 1, 4
    copy()
    assert (back == a[1:3, 1:4]).all()
    copy.src_y = 4
    with pytest.raises(drv.LogicError, match="ends beyond src"):
        copy()


def test_arguments_of_all_kinds(module):
    scaled = module.get_function("scaled")
    x = np.arange(10, dtype=np.float32)
    target = np.zeros_like(x)
    launch = {"block": (4, 1, 1), "grid": (3, 1)}
    scaled(drv.Out(target), drv.In(x), np.float32(2), np.int32(10), **launch)
    assert (target == 2 * x).all()
    block = drv.to_device(x)
    scaled(block, block, np.float32(3), np.int32(5), **launch)
    scaled(int(block) + 20, drv.to_device(x), np.float32(-1), np.int32(5), **launch)
    assert drv.from_device(block, 10, np.float32).tolist() == [0, 3, 6, 9, 12, 0, -1, -2, -3, -4]
    scaled(drv.InOut(x), gpuarray.to_gpu(x), np.float32(2), np.int32(3), **launch)
    assert x.tolist() == [0, 2, 4, *range(3, 10)]
    assert scaled(block, block, np.float32(1), np.int32(1), time_kernel=True, **launch) >= 0


def test_prepared_calls(module):
    scaled = module.get_function("scaled").prepare("PPfi")
    x = drv.to_device(np.arange(4, dtype=np.float32))
    scaled.prepared_call((1, 1), (4, 1, 1), x, x, 2, 4)
    stream = drv.Stream()
    scaled.prepared_async_call((1, 1), (4, 1, 1), stream, x, x, 2, 4)
    assert scaled.prepared_timed_call((1, 1), (4, 1, 1), int(x), x, 0.5, 4)() >= 0
    assert drv.from_device(x, 4, np.float32).tolist() == [0, 2, 4, 6]
    reversed_ = module.get_function("reversed").prepare("P")
    y = drv.to_device(np.arange(8, dtype=np.int32))
    reversed_.prepared_call((1, 1), (8, 1, 1), y, shared_size=32)
    assert drv.from_device(y, 8, np.int32).tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    with pytest.raises(drv.LogicError, match="not prepared"):
        module.get_function("weighted").prepared_call((1, 1), (4, 1, 1), x)
    with pytest.raises(TypeError, match="'factor' is float32; got the type P"):
        scaled.prepare("PPPi")


def test_variables_of_the_text(module):
    address, size = module.get_global("factors")
    assert size == 16
    drv.memcpy_htod(address, np.array([1, 2, 3, 4], np.float32))
    x = np.ones(4, np.float32)
    module.get_function("weighted")(drv.InOut(x), block=(4, 1, 1))
    assert x.tolist() == [1, 2, 3, 4]
    assert (drv.from_device(int(address) + 8, 2, np.float32) == [3, 4]).all()
    with pytest.raises(drv.LogicError, match="no variable 'absent'"):
        module.get_global("absent")


def test_streams_and_events(module):
    scaled = module.get_function("scaled")
    streams = [drv.Stream(), drv.Stream()]
    n = 1000
    sources = [drv.pagelocked_empty(n, np.float32) for _ in streams]
    results = [drv.pagelocked_zeros(n, np.float32) for _ in streams]
    blocks = [drv.mem_alloc(s.nbytes) for s in sources]
    begin, end = drv.Event().record(streams[0]), drv.Event()
    for k, (stream, source, block, result) in enumerate(
        zip(streams, sources, blocks, results, strict=True)
    ):
        source[:] = np.arange(n) + k
        drv.memcpy_htod_async(block, source, stream)
        scaled(
            block, block, np.float32(2), np.int32(n), block=(100, 1, 1), grid=(10, 1), stream=stream
        )
        drv.memcpy_dtoh_async(result, block, stream)
    end.record(streams[0])
    end.synchronize()
    assert end.query() and end.time_since(begin) >= 0 and begin.time_till(end) >= 0
    assert (results[0] == 2 * sources[0]).all()
    streams[1].wait_for_event(end)
    drv.Context.synchronize()
    assert streams[1].is_done()
    assert (results[1] == 2 * sources[1]).all()


def test_memory_that_host_and_device_share(module):
    x = drv.managed_empty(10, np.float32)
    x[:] = np.arange(10)
    y = drv.managed_zeros(10, np.float32)
    module.get_function("scaled")(y, x, np.float32(2), np.int32(10), block=(10, 1, 1))
    drv.Context.synchronize()
    assert (y == 2 * np.arange(10)).all()


def test_devices_and_contexts(chosen):
    drv.init()
    device = drv.Context.get_device()
    assert drv.Device(chosen) == device and device.name()
    assert drv.Device.count() >= 1 and len(device.compute_capability()) == 2
    assert device.get_attribute(drv.device_attribute.MAX_THREADS_PER_BLOCK) > 0
    assert device.max_block_dim_x == device.get_attributes()[drv.device_attribute.MAX_BLOCK_DIM_X]
    assert device.warp_size == cuda.warpsize == 32
    context = drv.Device("cpu").make_context()
    assert drv.Context.get_current() is context and drv.Context.get_device().name() == "cpu"
    context.detach()
    assert drv.Context.get_device() == device
    with pytest.raises(drv.LogicError, match="was detached"):
        context.push()
    with pytest.raises(drv.LogicError, match="no device 99"):
        drv.Device(99)


def test_what_is_wrong_is_told(module):
    scaled = module.get_function("scaled")
    x = drv.to_device(np.zeros(4, np.float32))
    launch = {"block": (4, 1, 1)}
    n, factor = np.int32(4), np.float32(1)
    for given, error, message in (
        ((x, x, factor), TypeError, "takes 4 arguments; got 3"),
        ((x, x, 1.0, n), TypeError, "'factor', is float32; got float; write np.float32"),
        ((x, x, np.float64(1), n), TypeError, "'factor', is float32; got float64"),
        ((x, x, factor, np.int64(4)), TypeError, "'n', is int32; got int64"),
        ((np.zeros(4, np.float32), x, factor, n), TypeError, r"got an array of the host; write In\(target\)"),
        ((drv.In(np.zeros(4)), x, factor, n), TypeError, "In of an array of float64"),
        ((un.zeros(4), x, factor, n), TypeError, "got an array of float64; convert it"),
        ((None, x, factor, n), TypeError, "got NoneType; copy it there"),
        ((5, x, factor, n), drv.LogicError, "no memory lies at this address; got 5"),
        ((int(x) + 16, x, factor, n), drv.LogicError, "no memory lies at this address"),
        ((int(x) + 2, x, factor, n), drv.LogicError, "begin at multiples of 4 bytes; got byte 2"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            scaled(*given, **launch)
    with pytest.raises(ValueError, match="size of a block is missing"):
        scaled(x, x, factor, n)
    with pytest.raises(ValueError, match="unknown options; got blocks"):
        scaled(x, x, factor, n, blocks=(1, 1, 1))
    with pytest.raises(IndexError):  # beyond the end
        scaled(int(x) + 8, x, factor, n, **launch)
        drv.Context.synchronize()
    for call, message in (
        (
            lambda: drv.memcpy_htod(x, np.zeros(5, np.float32)),
            "too small; got 20 bytes for a block of 16",
        ),
        (lambda: drv.memcpy_dtoh(np.zeros(5, np.float32), x), "too small"),
        (lambda: drv.mem_alloc(0), "a block has bytes; got 0"),
        (lambda: module.get_function("absent"), "no kernel 'absent'"),
        (lambda: module.get_texref("t"), "the text has no texture 't'"),
        (lambda: drv.module_from_buffer(b"ELF"), "compiled code is not loaded"),
    ):
        with pytest.raises(drv.LogicError, match=message):
            call()
    x.free()
    for use in (
        lambda: scaled(x, x, factor, n, **launch),
        lambda: drv.memcpy_htod(x, b"1"),
        x.free,
    ):
        with pytest.raises(drv.LogicError, match="was freed"):
            use()
    with pytest.raises(drv.CompileError, match="expected"):
        SourceModule("__global__ void f(float *a) { a[0] = ; }")
    for name in ("SurfaceReference", "Graph", "nothing"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; "):
            getattr(drv, name)


def test_an_address_ends_with_its_block(chosen):
    block = drv.mem_alloc(64)
    address = int(block)
    assert drv.from_device(address, 64, np.uint8).size == 64
    del block
    with pytest.raises(drv.LogicError, match="no memory lies at this address"):
        drv.from_device(address, 64, np.uint8)


def test_contexts_are_those_of_their_thread():
    import threading

    seen, here = [], drv.Context.get_current()

    def work():
        context = drv.Device("cpu").make_context()
        seen.append(drv.Context.get_current() is context)
        drv.to_device(np.arange(3))
        context.pop()
        seen.append(drv.Context.get_current())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True, None] and drv.Context.get_current() is here
    assert cuda.get_current_device().name


def test_structs_and_vectors_in_texts():
    pair = np.dtype([("a", "i4"), ("b", "f8")], align=True)
    function = SourceModule("""
        struct pair { int a; double b; };
        __global__ void f(pair *p, float4 *v, pair q) {
            int i = threadIdx.x;
            p[i].b += p[i].a + q.b;
            v[i].y = q.a;
        }""").get_function("f")
    pairs, given = np.zeros(3, pair), np.zeros((), pair)
    pairs["a"], given["a"], given["b"] = [1, 2, 3], 7, 0.5
    v = gpuarray.zeros((3, 4), np.float32)
    function(drv.InOut(pairs), v, given[()], block=(3, 1, 1))
    assert pairs.tolist() == [(1, 1.5), (2, 2.5), (3, 3.5)]
    assert v.get().tolist() == [[0, 7, 0, 0]] * 3


@pytest.mark.parametrize("grid, block", [((0, 1), (1, 1, 1)), ((1, 1), (0, 1, 1))])
def test_launches_of_nothing(module, grid, block):
    block_of_memory = drv.mem_alloc(4)
    with pytest.raises(drv.LogicError, match="are positive.*CUDA_ERROR_INVALID_VALUE"):
        module.get_function("weighted")(block_of_memory, grid=grid, block=block)
