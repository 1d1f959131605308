"""Devices, platforms, contexts, queues and memory with dpctl's names."""

import numpy as np
import pytest
import unisono as un
from unisono import dpctl
from unisono.dpctl import memory, program
from unisono.dpctl import tensor as dpt

GEMV = """
kernel void gemv(global const double *matrix, global const double *vector, global double *result, int n, int m)
{
    int i = get_global_id(0);
    if (i >= n) return;
    double sum = 0;
    for (int j = 0; j < m; j++) sum += matrix[i * m + j] * vector[j];
    result[i] = sum;
}
"""


def test_filters_select_devices(chosen, monkeypatch):
    device = dpctl.SyclDevice(chosen)
    assert device.filter_string == chosen and dpctl.SyclDevice(device) == device
    backend, kind, number = chosen.split(":")
    assert dpctl.SyclDevice(f"custom,{chosen}") == device and device.backend.name == backend
    assert dpctl.SyclDevice(f"{kind}:{device.get_filter_string(False).split(':')[1]}") == device
    assert device in dpctl.get_devices(backend, kind) and device in dpctl.get_devices()
    assert dpctl.select_default_device() == device
    assert hash(device) == hash(dpctl.SyclDevice(chosen)) and device.device_type.name == kind
    assert (
        device.max_compute_units > 0
        and device.max_work_group_size > 0
        and device.name
        and device.vendor is not None
    )
    assert device.has_aspect_fp64 == device._device.has_float64
    with pytest.raises(dpctl.SyclDeviceCreationError, match="no device fits; got 'cpu:99'"):
        dpctl.SyclDevice("cpu:99")
    with pytest.raises(ValueError, match="got 'quantum' in 'quantum:0'"):
        dpctl.SyclDevice("quantum:0")
    with pytest.raises(TypeError, match="expected a filter"):
        dpctl.SyclDevice(3.5)
    with pytest.raises(AttributeError, match="no attribute 'has_aspect_magic'"):
        _ = device.has_aspect_magic


def test_selection(monkeypatch, capsys):
    assert dpctl.has_cpu_devices() and dpctl.select_cpu_device().is_cpu
    assert dpctl.SyclDevice() == dpctl.select_default_device()
    assert dpctl.select_device_with_aspects("cpu").is_cpu
    if not dpctl.has_gpu_devices():
        with pytest.raises(dpctl.SyclDeviceCreationError):
            dpctl.select_gpu_device()
        with pytest.raises(dpctl.SyclDeviceCreationError, match="no device fits"):
            dpctl.select_device_with_aspects(["gpu"], excluded_aspects=["cpu"])
    with pytest.raises(AttributeError, match="not known; got 'magic'"):
        dpctl.select_device_with_aspects("magic")
    last = dpctl.get_devices()[-1]
    monkeypatch.setenv("SYCL_DEVICE_FILTER", last.filter_string)
    assert dpctl.select_default_device() == last
    dpctl.lsplatform(2)
    last.print_device_info()
    shown = capsys.readouterr().out
    assert "Platform: Unisono" in shown and last.filter_string in shown
    assert (
        any(last in p.get_devices() for p in dpctl.get_platforms())
        and last.sycl_platform in dpctl.get_platforms()
    )


def test_contexts_and_queues(chosen):
    device = dpctl.SyclDevice(chosen)
    context = dpctl.SyclContext(device)
    q = dpctl.SyclQueue(context, device, property=("in_order", "enable_profiling"))
    assert (
        q.is_in_order
        and q.has_enable_profiling
        and q.sycl_context is context
        and q.sycl_device == device
    )
    assert dpctl.SyclContext([device]) == context and context.device_count == 1
    assert dpctl.get_device_cached_queue(device) is dpctl.get_device_cached_queue((context, device))
    with pytest.raises(dpctl.SyclQueueCreationError, match="got \\['fast'\\]"):
        dpctl.SyclQueue(device, property="fast")
    with pytest.raises(dpctl.SyclQueueCreationError, match="no device fits"):
        dpctl.SyclQueue("gpu:99")
    with pytest.raises(dpctl.SyclContextCreationError):
        dpctl.SyclContext([])
    others = [d for d in dpctl.get_devices() if d != device]
    if others:
        with pytest.raises(dpctl.SyclQueueCreationError, match="does not belong to the context"):
            dpctl.SyclQueue(context, others[0])
    event = q.submit_barrier()
    dpctl.SyclEvent.wait_for([event])
    assert event.execution_status is dpctl.event_status_type.complete
    assert event.profiling_info_end >= event.profiling_info_start
    timer = dpctl.SyclTimer()
    with timer(q):
        (dpt.ones(1000, sycl_queue=q) + 1).sum()
    assert timer.dt.host_dt > 0 and timer.dt.device_dt >= 0


def test_parts_of_devices():
    divided = [
        d
        for d in dpctl.get_devices()
        if d.max_compute_units > 1 and d.partition_max_sub_devices > 1
    ]
    for device in divided:
        parts = device.create_sub_devices(partition=1)
        assert all(p.parent_device == device and p.max_compute_units == 1 for p in parts)
        x = dpt.arange(10, sycl_queue=dpctl.SyclQueue(parts[0]))
        assert int(x.sum()) == 45
        with pytest.raises(dpctl.SyclSubDeviceCreationError):
            device.create_sub_devices(partition="numa")
        with pytest.raises(dpctl.SyclSubDeviceCreationError):
            device.create_sub_devices(partition=10**6)


@pytest.mark.parametrize(
    "kind", [memory.MemoryUSMDevice, memory.MemoryUSMShared, memory.MemoryUSMHost]
)
def test_memory(chosen, kind):
    q = dpctl.SyclQueue(chosen)
    if kind is memory.MemoryUSMShared and not q.sycl_device.has_aspect_usm_shared_allocations:
        with pytest.raises(memory.USMAllocationError):
            kind(6, queue=q)
        return
    m = kind(6, queue=q)
    m.memset(1)
    m.copy_from_host(b"abc")
    assert (
        m.tobytes() == b"abc\1\1\1" and len(m) == m.nbytes == 6 and m.sycl_device == q.sycl_device
    )
    other = kind(m)
    q.memset(other, 7, 2)
    q.memcpy(m, other, 3)
    assert bytes(m) == b"\7\7c\1\1\1"
    if kind is not memory.MemoryUSMDevice:
        assert np.asarray(m).tolist() == list(bytes(m))
    filled = bytearray(2)
    assert m.copy_to_host(filled) is filled and filled == b"\7\7"
    assert m.get_usm_type() == kind.__name__.removeprefix("MemoryUSM").lower()
    for call, error, message in (
        (lambda: kind(0), ValueError, "memory has bytes; got 0"),
        (lambda: kind(4, queue="cpu"), TypeError, "expected a SyclQueue; got str"),
        (
            lambda: m.copy_from_host(b"1234567"),
            ValueError,
            "is larger; got 7 bytes; expected up to 6",
        ),
        (lambda: m.copy_to_host(bytearray(9)), ValueError, "is larger; got 9"),
        (lambda: m.copy_to_host(b"12"), ValueError, "read-only"),
        (lambda: q.memcpy(m, other, 7), ValueError, "dest has 6 bytes; got 7"),
        (lambda: q.memcpy(m, 5, 2), TypeError, "expected an array or buffer of the host; got int"),
        (lambda: m.copy_from_device(b"1"), TypeError, "expected memory or an array; got bytes"),
        (lambda: q.memcpy_async(m, other, 1, [3]), TypeError, "list of SyclEvent; got int"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("order", [(), ("in_order",)])
def test_matrix_times_vector_behind_events(chosen, order):
    q = dpctl.SyclQueue(chosen, property=order)
    gemv = program.create_program_from_source(q, GEMV).get_sycl_kernel("gemv")
    rng = np.random.default_rng(1)
    a, x, y = rng.random((50, 30)), rng.random(30), np.zeros(50)
    matrix, vector, result = (memory.MemoryUSMDevice(v.nbytes, queue=q) for v in (a, x, y))
    first = q.memcpy_async(dest=matrix, src=a, count=a.nbytes)
    second = q.memcpy_async(dest=vector, src=x, count=x.nbytes)
    args = [matrix, vector, result, np.int32(50), np.int32(30)]
    third = q.submit_async(gemv, args, [64], [16], [first, second])
    last = q.memcpy_async(dest=y, src=result, count=y.nbytes, dEvents=[third])
    last.wait()
    np.testing.assert_allclose(y, a @ x, rtol=1e-12)
    assert third.get_wait_list() == [first, second]
    y[:] = 0
    q.memcpy_async(y, result, 80)
    q.wait()
    np.testing.assert_allclose(y[:10], (a @ x)[:10], rtol=1e-12)
    assert (y[10:] == 0).all()


def test_what_is_wrong_with_kernels(chosen):
    q = dpctl.SyclQueue(chosen)
    made = program.create_program_from_source(q, GEMV, "-DUNUSED=1")
    gemv = made.get_sycl_kernel("gemv")
    assert (
        made.has_sycl_kernel("gemv") and not made.has_sycl_kernel("absent") and gemv.num_args == 5
    )
    assert gemv.get_function_name() == "gemv"
    x = dpt.zeros(4, sycl_queue=q)
    for sizes, local in (([], None), ([1] * 4, None), ([5], [2]), ([4], [2, 2]), ([4], [0])):
        with pytest.raises(dpctl.SyclKernelInvalidRangeError):
            q.submit(gemv, [x, x, x, np.int32(2), np.int32(2)], sizes, local)
    with pytest.raises(TypeError, match="takes 5 arguments; got 1"):
        q.submit(gemv, [x], [4])
    with pytest.raises(
        TypeError, match="'result' is a pointer to float64; got ndarray; give memory"
    ):
        q.submit(gemv, [x, x, np.zeros(4), np.int32(2), np.int32(2)], [4])
    with pytest.raises(program.SyclProgramCompilationError, match="no kernel 'absent'"):
        made.get_sycl_kernel("absent")
    with pytest.raises(program.SyclProgramCompilationError):
        program.create_program_from_source(q, "kernel void f(")
    with pytest.raises(program.SyclProgramCompilationError, match="SPIR-V is not read"):
        program.create_program_from_spirv(q, b"\0" * 8)


def test_arrays(chosen):
    q = dpctl.SyclQueue(chosen)
    x = dpt.arange(6, dtype="float32", sycl_queue=q)
    y = dpt.reshape(x, (2, 3))
    assert type(x) is type(y) is type(2 * y + 1) is type(y[0]) is type(y.T) is dpt.usm_ndarray
    assert type(dpt.sqrt(y)) is type(dpt.concat([x, x])) is dpt.usm_ndarray
    assert x.sycl_device == q.sycl_device == y.sycl_queue.sycl_device and x.usm_type == "device"
    np.testing.assert_array_equal(dpt.asnumpy(dpt.sum(y, axis=0)), [3, 5, 7])
    a = np.arange(4.0)
    for made in (
        dpt.asarray(a),
        dpt.from_numpy(a, device=chosen),
        dpt.asarray(x[:4], dtype="float64"),
    ):
        np.testing.assert_array_equal(dpt.to_numpy(made), a)
        assert made.sycl_device == q.sycl_device
    shared = dpt.usm_ndarray(4, buffer=memory.MemoryUSMDevice(40, queue=q), offset=1)
    shared[...] = a
    np.testing.assert_array_equal(dpt.asnumpy(shared), a)
    assert x.usm_data.nbytes == 24 and dpt.zeros_like(x).dtype == un.float32
    assert x.to_device("cpu").sycl_device.is_cpu
    if q.sycl_device.has_aspect_usm_shared_allocations and chosen != "host:cpu:0":
        assert dpt.ones(3, usm_type="shared").usm_type == "shared"
    for call, error in (
        (lambda: dpt.zeros(3, usm_type="slow"), ValueError),
        (lambda: dpt.zeros(3, sycl_queue="cpu"), TypeError),
        (lambda: dpt.usm_ndarray(9, buffer=memory.MemoryUSMDevice(40, queue=q)), ValueError),
        (lambda: dpt.usm_ndarray(3, strides=(8, 1)), ValueError),
        (lambda: dpt.asnumpy([1]), TypeError),
    ):
        with pytest.raises(error):
            call()


def test_numbers_that_functions_give_are_arrays(chosen):
    x = dpt.arange(4, dtype="float32", device=chosen)
    for made in (dpt.sum(x), dpt.max(x), x.mean(), x[1], dpt.argmax(x), dpt.all(x >= 0)):
        assert type(made) is dpt.usm_ndarray and made.shape == ()
    assert dpt.sum(x).device == x.device and dpt.sum(x).sycl_queue.sycl_device == x.sycl_device
    assert float(dpt.sum(x)) == 6 and bool(dpt.all(x >= 0)) and int(dpt.argmax(x)) == 3
    assert dpt.asnumpy((x - dpt.mean(x)) * dpt.max(x)).tolist() == [-4.5, -1.5, 1.5, 4.5]
    assert (
        isinstance(dpt.finfo(x.dtype).max, float) and dpt.isdtype(x.dtype, "real floating") is True
    )


def test_functions_tell_their_types_and_give_out_itself(chosen):
    x = dpt.arange(-3, 3, device=chosen)
    assert dpt.abs(x, out=x) is x
    assert dpt.asnumpy(x).tolist() == [3, 2, 1, 0, 1, 2]
    assert dpt.add.types == dpt.add.types_ and "ff->f" in dpt.add.types
    assert dpt.add.nin == 2 and dpt.add.nout == 1 and dpt.add.name_ == "add"


def test_projections_and_inverse_roots(chosen):
    z = [1 + 2j, complex(np.inf, -1), complex(-np.inf, 3), complex(np.nan, -np.inf)]
    x = dpt.asarray(z, device=chosen)
    made = dpt.asnumpy(dpt.proj(x))
    assert made.tolist() == [1 + 2j, np.inf, np.inf, np.inf]
    assert np.signbit(made.imag).tolist() == [False, True, False, True]
    y = dpt.asarray([4, 16], dtype="float32", device=chosen)
    assert dpt.rsqrt(y, out=y) is y
    assert dpt.asnumpy(y).tolist() == [0.5, 0.25]
    assert dpt.proj(y).dtype == un.complex64
    assert dpt.rsqrt(dpt.ones((2, 3), device=chosen), order="F").flags.f_contiguous


def test_what_devices_tell_of_themselves(chosen):
    d = dpctl.SyclDevice(chosen)
    for precision, has_it in (
        ("half", d.has_aspect_fp16), ("single", True), ("double", d.has_aspect_fp64),
    ):  # fmt: skip
        told = getattr(d, f"{precision}_fp_config")
        assert all(type(c) is dpctl.fp_config for c in told)
        assert (dpctl.fp_config.round_to_nearest in told) == has_it
    assert type(d.global_mem_cache_type) is dpctl.global_mem_cache_type
    has_cache = d.global_mem_cache_size > 0
    assert (d.global_mem_cache_type is dpctl.global_mem_cache_type.read_write) == has_cache
    assert type(d.local_mem_type) is dpctl.local_mem_type
    assert 0 < d.max_mem_alloc_size <= d.global_mem_size
    assert d.version and isinstance(d.backend_version, str)
    assert isinstance(d.image_max_buffer_size, int)
    assert d.partition_type_property is dpctl.partition_property.no_partition
    for parts in (d.partition_properties, d.partition_affinity_domains):
        assert isinstance(parts, tuple)
    if dpctl.partition_property.partition_by_counts in d.partition_properties:
        part = d.create_sub_devices([1])[0]
        assert part.partition_type_property is dpctl.partition_property.partition_by_counts
    context = dpctl.SyclContext(d)
    for name in ("atomic_memory_order", "atomic_fence_order"):
        orders = getattr(context, f"{name}_capabilities")
        assert orders == getattr(d, f"{name}_capabilities")
        assert dpctl.memory_order.relaxed in orders
    for name in ("atomic_memory_scope", "atomic_fence_scope"):
        assert dpctl.memory_scope.device in getattr(context, f"{name}_capabilities")
    assert dpctl.get_composite_devices() == d.sycl_platform.get_composite_devices() == []
    q = dpctl.SyclQueue(d)
    assert q.driver_version == d.driver_version and not q.is_in_order


def test_copies_of_elements_and_bytes_that_are_set(chosen):
    q = dpctl.SyclQueue(chosen)
    a, b = (dpctl.memory.MemoryUSMDevice(64, queue=q) for _ in range(2))
    q.memset(a, 300)
    assert bytes(a) == bytes([44]) * 64
    q.memset(a, 7, 8)
    assert bytes(a) == bytes([7]) * 8 + bytes([44]) * 56
    q.memset_async(b, -1, 1000).wait()
    assert bytes(b) == bytes([255]) * 64
    q.copy(b, a, 2, dtype="f8")
    assert bytes(b) == bytes([7]) * 8 + bytes([44]) * 8 + bytes([255]) * 48
    host = bytearray(6)
    q.copy_async(host, a, 3, [], "u2").wait()
    assert host == bytes([7]) * 6
    with pytest.raises(ValueError, match=r"copy: the dtype is not known; got 'c8'"):
        q.copy(a, b, 1, dtype="c8")
    with pytest.raises(OverflowError, match=r"memset: count is not negative; got -1"):
        q.memset(a, 0, -1)
    q.prefetch(a, 64)
    q.mem_advise(a, 64, 0)
    for wrong in (
        lambda: q.prefetch([], 4),
        lambda: q.mem_advise([], 4, 0),
        lambda: q.memset(None, 1),
    ):
        with pytest.raises(TypeError, match="expected memory or an array"):
            wrong()


def test_arguments_that_are_refused(chosen):
    with pytest.raises(ValueError, match=r"SyclQueue: property is a text or several; got 4\.5"):
        dpctl.SyclQueue(chosen, property=4.5)
    with pytest.raises(TypeError, match="SyclEvent: expected a SyclEvent; got int"):
        dpctl.SyclEvent(3)
    with pytest.raises(ValueError, match="SyclTimer: device_timer is 'queue_barrier' or"):
        dpctl.SyclTimer(device_timer="clock")
    with pytest.raises(TypeError, match="SyclTimer: expected a SyclQueue; got ellipsis"):
        dpctl.SyclTimer()(...)


def test_shared_memory_has_a_buffer(chosen):
    for kind in (memory.MemoryUSMShared, memory.MemoryUSMHost):
        try:
            m = kind(8, queue=dpctl.SyclQueue(chosen))
        except memory.USMAllocationError:
            continue  # the device has no such memory
        view = memoryview(m)
        assert (view.nbytes, view.format, view.readonly) == (8, "B", False)
        view[:4] = b"abcd"
        np.frombuffer(m, np.uint32)[1] = 7
        assert m.tobytes() == b"abcd" + np.uint32(7).tobytes()
        target = memory.MemoryUSMDevice(8, queue=dpctl.SyclQueue(chosen))
        target.copy_from_host(m)
        assert target.tobytes() == m.tobytes()
    with pytest.raises(TypeError):
        memoryview(memory.MemoryUSMDevice(8, queue=dpctl.SyclQueue(chosen)))


def test_memory_is_shared_unless_a_copy_is_asked_for(chosen):
    queue = dpctl.SyclQueue(chosen)
    first = memory.MemoryUSMDevice(8, queue=queue)
    first.copy_from_host(b"abcdefgh")
    same, apart = memory.MemoryUSMDevice(first), memory.MemoryUSMDevice(first, copy=True)
    same.memset(65)
    assert first.tobytes() == b"A" * 8 and apart.tobytes() == b"abcdefgh"
    assert (first.get_usm_type(queue), first.get_usm_type_enum()) == ("device", 1)
    with pytest.raises(TypeError, match="expected a SyclQueue or SyclContext"):
        first.get_usm_type(syclobj=...)
    with pytest.raises(ValueError, match="expected copy=True"):
        memory.MemoryUSMHost(first)
    x = dpt.usm_ndarray((2,), "int32", buffer=first, offset=0)
    assert x.sycl_queue == queue and x._pointer == first._pointer


def test_memory_of_other_objects_is_taken_by_its_description():
    queue = dpctl.SyclQueue("host:cpu")
    held = memory.MemoryUSMShared(32, queue=queue)
    held.copy_from_host(np.arange(32, dtype="u1"))

    class View:
        def __init__(self, **changed):
            self.__sycl_usm_array_interface__ = {**held.__sycl_usm_array_interface__, **changed}

    part = memory.MemoryUSMShared(View(shape=(5,), strides=(2,), offset=8))
    assert part.tobytes() == bytes(range(8, 17)) and part.sycl_queue == queue
    part.memset(0)
    assert held.tobytes()[7:18] == bytes([7, *[0] * 9, 17])
    backwards = memory.MemoryUSMShared(View(shape=(3,), strides=(-1,), offset=20))
    assert backwards.tobytes() == bytes([18, 19, 20])
    for changed in ({"syclobj": None}, {"shape": (0,)}, {"typestr": 5}, {"data": None}):
        with pytest.raises(ValueError, match="as_usm_memory"):
            memory.MemoryUSMShared(View(**changed))
