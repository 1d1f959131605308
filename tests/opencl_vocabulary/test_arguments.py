"""Arguments of kernels: converted to the declared C type, or refused by name."""

import ctypes

import numpy as np
import pytest
import unisono as un
import unisono.opencl as cl

TYPES = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "float": np.float32,
}  # fmt: skip


@pytest.fixture
def put(queue, build, to_buffer):
    """Runs a kernel that stores its second argument of a C type; what it stored."""

    def run(c_type, value, dtype):
        kernel = build(f"kernel void put(global {c_type} *x, {c_type} value) {{ *x = value; }}").put
        x = np.zeros(1, dtype)
        memory = to_buffer(x)
        kernel(queue, (1,), None, memory, value)
        cl.enqueue_copy(queue, x, memory)
        return x[0]

    return run


@pytest.mark.parametrize("c_type", TYPES)
def test_numbers_of_python_and_numpy_become_the_declared_type(put, c_type):
    dtype = TYPES[c_type]
    ours = un.dtype(dtype).type(7)
    for value in (7, np.int8(7), np.uint32(7), np.int64(7), dtype(7), True, np.array(7), ours):
        assert put(c_type, value, dtype) == int(value)
    if np.dtype(dtype).kind == "f":
        assert put(c_type, 2.5, dtype) == put(c_type, np.float64(2.5), dtype) == 2.5
        assert put(c_type, 1e300, dtype) == np.inf
        return
    limits = np.iinfo(dtype)
    assert (
        put(c_type, limits.max, dtype) == limits.max
        and put(c_type, limits.min, dtype) == limits.min
    )
    for value in (limits.max + 1, limits.min - 1):
        with pytest.raises(
            cl.LogicError,
            match=rf"argument 2 \('{c_type} value'\) got .*; expected an integer from",
        ):
            put(c_type, value, dtype)
    with pytest.raises(
        cl.LogicError,
        match=f"got 2.5 of type float; expected an integer; use numpy.{np.dtype(dtype)}",
    ):
        put(c_type, 2.5, dtype)


def test_what_is_no_number_is_refused(put, to_buffer):
    for value, said in (
        ("7", "'7' of type str"),
        (None, "None of type NoneType"),
        (to_buffer(np.zeros(1)), "Buffer"),
    ):
        with pytest.raises(
            cl.LogicError, match=rf"argument 2 \('int value'\) got .*{said}.*; expected a number"
        ):
            put("int", value, np.int32)


def test_vectors_and_structs(queue, build, to_buffer):
    kernel = build("""typedef struct { int a; float b; } pair;
        kernel void f(global float *x, float4 v, pair p) { x[0] = v.y; x[1] = p.a; x[2] = p.b; }""").f
    pair = np.zeros((), [("a", "i4"), ("b", "f4")])
    pair["a"], pair["b"] = 3, 0.5
    x = to_buffer(np.zeros(3, np.float32))
    kernel(queue, (1,), None, x, np.array([1, 2, 3, 4], np.float32), pair)
    back = np.empty(3, np.float32)
    cl.enqueue_copy(queue, back, x)
    assert back.tolist() == [2, 3, 0.5]
    with pytest.raises(
        cl.LogicError, match=r"'float4 v'\) got .*; expected 16 bytes; its value has 12"
    ):
        kernel(queue, (1,), None, x, np.zeros(3, np.float32), pair)
    with pytest.raises(cl.LogicError, match="expected an object whose bytes are the value"):
        kernel(queue, (1,), None, x, 3, pair)


TWO = "kernel void two(global const float *a, global float *b, int n) { b[0] = a ? a[n] : -1; }"


def test_counts_and_kinds_of_arguments(queue, build, to_buffer):
    kernel, x = build(TWO).two, to_buffer(np.ones(4, np.float32))
    for kind in (cl.LogicError, TypeError):  # PyOpenCL's is a TypeError
        with pytest.raises(
            kind, match=r"kernel two: expected 3 arguments: float\* a, float\* b, int n; got 2"
        ):
            kernel(queue, (1,), None, x, x)
        with pytest.raises(kind, match="kernel two: expected 3 types; got 1"):
            kernel.set_scalar_arg_dtypes([np.int32])
    for wrong in (np.ones(4, np.float32), 5, cl.LocalMemory(4)):
        with pytest.raises(
            cl.LogicError, match=r"argument 1 \('float\* a'\) got .*; expected memory of the device"
        ):
            kernel(queue, (1,), None, wrong, x, 0)
    kernel(queue, (1,), None, None, x, 0)
    back = np.empty(4, np.float32)
    cl.enqueue_copy(queue, back, x)
    assert back[0] == -1
    with pytest.raises(TypeError, match="expected a CommandQueue first; got Context"):
        kernel(queue.context, (1,), None, x, x, 0)


def test_more_local_memory_than_there_is(ctx, queue, build, to_buffer):
    kernel = build("kernel void f(global int *a, local int *b) { b[0] = 1; a[0] = b[0]; }").f
    most = ctx.devices[0].local_mem_size
    with pytest.raises(
        cl.RuntimeError, match=rf"expected {most} bytes at most, the device's local_mem_size"
    ):
        kernel(queue, (1,), (1,), to_buffer(np.zeros(1, np.int32)), cl.LocalMemory(most + 1))


def test_arguments_can_be_set_one_by_one(ctx, queue, build, to_buffer):
    kernel = cl.Kernel(build(TWO), "two")
    with pytest.raises(cl.LogicError, match="not all arguments are set"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    a, b = to_buffer(np.arange(4, dtype=np.float32)), to_buffer(np.zeros(4, np.float32))
    kernel.set_args(a, b, 2)
    kernel.set_arg(2, np.int32(3))
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    back = np.empty(4, np.float32)
    cl.enqueue_copy(queue, back, b)
    assert back[0] == 3
    with pytest.raises(cl.LogicError, match="it has 3 parameters; got index 3"):
        kernel.set_arg(3, 1)
    kernel.set_scalar_arg_dtypes([None, None, np.int32])
    kernel(queue, (1,), None, a, b, 1)
    cl.enqueue_copy(queue, back, b)
    assert back[0] == 1


def test_memory_that_was_released_is_refused(queue, build, to_buffer):
    kernel, a, b = (
        build(TWO).two,
        to_buffer(np.ones(4, np.float32)),
        to_buffer(np.ones(4, np.float32)),
    )
    kernel(queue, (1,), None, a, b, 0)
    a.release()
    for use in (lambda: kernel(queue, (1,), None, a, b, 0), lambda: a.size, a.release):
        with pytest.raises(cl.LogicError, match="it was released and cannot be used any more"):
            use()


def test_another_buffer_at_the_address_of_an_old_one_is_passed(queue, build, ctx, to_buffer):
    kernel, b = build(TWO).two, to_buffer(np.zeros(4, np.float32))
    back = np.empty(4, np.float32)
    for value in range(20):
        a = to_buffer(np.full(4, value, np.float32))
        kernel(queue, (1,), None, a, b, 0)
        del a
        cl.enqueue_copy(queue, back, b)
        assert back[0] == value


def test_arrays_of_unisono_are_arguments(ctx, queue, build):
    kernel = build("kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }").twice
    x = un.arange(5, dtype="float32", device=ctx._engine_name) + 1
    kernel(queue, (5,), None, x)
    assert (x + 0).tolist() == [2, 4, 6, 8, 10]
    x += 1
    kernel(queue, (5,), None, x)
    assert x.tolist() == [6, 10, 14, 18, 22]
    with pytest.raises(cl.LogicError, match="the array starts 4 bytes into its buffer"):
        kernel(queue, (4,), None, x[1:])


def test_objects_of_another_context_are_refused(ctx, queue, build, to_buffer):
    properties = [(cl.context_properties.PLATFORM, ctx.devices[0].platform)]
    other = cl.Context(ctx.devices, properties)
    kernel, mine, foreign = (
        build(TWO).two,
        to_buffer(np.zeros(4, np.float32)),
        cl.Buffer(other, 0, 16),
    )
    with pytest.raises(cl.LogicError, match="argument 2 .*expected memory of the kernel's context"):
        kernel(queue, (1,), None, mine, foreign, 0)
    for act in (
        lambda: kernel(cl.CommandQueue(other), (1,), None, mine, mine, 0),
        lambda: cl.enqueue_copy(queue, mine, foreign),
        lambda: cl.enqueue_copy(queue, np.zeros(4, np.float32), foreign),
        lambda: cl.enqueue_marker(queue, wait_for=[cl.UserEvent(other)]),
    ):
        with pytest.raises(cl.LogicError, match="INVALID_CONTEXT"):
            act()


def test_launches_set_only_the_arguments_that_changed(ctx, queue, build, to_buffer):
    from unisono.opencl._objects import driver

    seen, real = [], driver.function("clSetKernelArg")

    def set_argument(kernel, index, size, value):
        seen.append(index)
        return real(kernel, index, size, value)

    address = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_void_p]
    counting = ctypes.CFUNCTYPE(ctypes.c_int32, *address)(set_argument)
    kernel = build("kernel void put(global int *x, int at, int value) { x[at] = value; }").put
    x = np.zeros(4, np.int32)
    memory = to_buffer(x)
    kernel._known_parameters()
    kernel._setter = (ctypes.cast(counting, ctypes.c_void_p).value, *kernel._setter[1:])
    kernel(queue, (1,), None, memory, 0, np.int32(5))  # the memory is the parameter's own call
    assert seen == [1, 2]
    kernel(queue, (1,), None, memory, 1, 5)
    assert seen == [1, 2, 1]
    kernel(queue, (1,), None, memory, 1, np.int32(6))
    assert seen == [1, 2, 1, 2]
    kernel(queue, (1,), (1,), memory, 1, 6)
    assert seen == [1, 2, 1, 2]
    cl.enqueue_copy(queue, x, memory)
    assert x.tolist() == [5, 6, 0, 0]
    del kernel, memory  # another buffer may get the address
    kernel = build("kernel void put(global int *x) { *x = 1; }").put
    for _ in range(3):
        memory = to_buffer(np.zeros(1, np.int32))
        kernel(queue, (1,), None, memory)
        y = np.zeros(1, np.int32)
        cl.enqueue_copy(queue, y, memory)
        assert y[0] == 1


def test_what_was_set_and_is_gone_is_named_by_the_launch(ctx, queue, build, to_buffer):
    kernel = build("kernel void put(global int *x, int n) { *x = n; }").put
    memory, other = to_buffer(np.zeros(1, np.int32)), to_buffer(np.zeros(1, np.int32))
    other.release()
    kernel.set_args(memory, np.int32(3))
    with pytest.raises(cl.LogicError, match="it was released"):
        kernel.set_arg(0, other)  # the driver keeps the first
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    queue.finish()
    memory.release()
    with pytest.raises(cl.LogicError, match="kernel put: what was set for x was released"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    kernel.set_args(to_buffer(np.zeros(1, np.int32)), np.int32(3))  # nobody keeps it
    with pytest.raises(cl.LogicError, match="kernel put: what was set for x was released"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    x = un.zeros(4, "int32", device=ctx._engine_name)
    kernel.set_arg(0, x)  # an array's memory lives on without the object for it
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    queue.finish()
    assert x.tolist() == [3, 0, 0, 0]


def test_objects_of_other_kinds_are_named(ctx, queue):
    for call in (cl.enqueue_marker, cl.enqueue_barrier):
        with pytest.raises(TypeError, match="expected a CommandQueue; got NoneType"):
            call(None)
    for call in (lambda: cl.wait_for_events(["x"]), lambda: cl.link_program(ctx, [None])):
        with pytest.raises(TypeError, match="expected a list of OpenCL's objects; got"):
            call()


def test_addresses_are_numbers_other_than_0():
    for kind in (cl.Buffer, cl.Event, cl.Program, cl.Context):
        with pytest.raises(cl.LogicError, match="the address is null"):
            kind.from_int_ptr(0)
        for address in (None, "x", 1.5):
            with pytest.raises(TypeError):
                kind.from_int_ptr(address)


def test_a_launch_with_memory_that_was_released_is_refused_although_it_was_set(
    queue, build, to_buffer
):
    kernel = build("kernel void put(global int *x) { *x = 1; }").put
    memory = to_buffer(np.zeros(1, np.int32))
    kernel(queue, (1,), None, memory)
    queue.finish()
    memory.release()
    with pytest.raises(cl.LogicError, match="released"):
        kernel(queue, (1,), None, memory)


def test_launches_like_one_before_are_the_engine_s(queue, build, to_buffer, monkeypatch):
    from unisono.opencl._objects import kernels

    kernel = build("kernel void add(global int *x, int n) { x[get_global_id(0)] += n; }").add
    x = np.zeros(4, np.int32)
    memory = to_buffer(x)
    kernel.set_args(memory, 1)
    first = cl.enqueue_nd_range_kernel(queue, kernel, (4,), (2,))

    def refuse(*args):
        raise AssertionError("it went through Python")

    monkeypatch.setattr(kernels, "_sizes", refuse)
    cl.enqueue_nd_range_kernel(queue, kernel, (4,), (2,))
    kernel.set_arg(1, 10)
    cl.enqueue_nd_range_kernel(queue, kernel, (2,), None)
    event = cl.enqueue_nd_range_kernel(queue, kernel, (1, 1), (1, 1), wait_for=[first])
    event = kernel(queue, (1,), None, memory, np.int32(100), wait_for=[event])
    assert type(event) is cl.Event and event.command_queue == queue
    cl.enqueue_copy(queue, x, memory)
    assert x.tolist() == [122, 12, 2, 2]
    with pytest.raises(cl.LogicError, match=r"got global size \(4,\) and local size \(3,\)"):
        cl.enqueue_nd_range_kernel(queue, kernel, (4,), (3,))
    with pytest.raises(AssertionError, match="through Python"):
        cl.enqueue_nd_range_kernel(queue, kernel, (0,), None)


def test_kernels_whose_arguments_were_set_elsewhere_are_launched(queue, build, to_buffer):
    kernel = build("kernel void add(global int *x, int n) { *x += n; }").add
    with pytest.raises(cl.LogicError, match="not all arguments are set"):
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    with pytest.raises(cl.LogicError, match="it has 2 parameters; got index 2"):
        kernel.set_arg(2, 1)
    x = np.zeros(1, np.int32)
    memory = to_buffer(x)
    kernel.set_arg(0, memory)
    with pytest.raises(cl.LogicError, match=r"argument 2 \('int n'\) got 1.5"):
        kernel.set_arg(1, 1.5)
    kernel.set_arg(1, np.int32(3))
    same = cl.Kernel.from_int_ptr(kernel.int_ptr)
    for _ in range(2):
        cl.enqueue_nd_range_kernel(queue, same, (1,), None)
    cl.enqueue_copy(queue, x, memory)
    assert x.tolist() == [6]
    nothing = build("kernel void nothing() {}").nothing
    for _ in range(2):
        cl.enqueue_nd_range_kernel(queue, nothing, (1,), None).wait()
        nothing(queue, (1,), None).wait()


def test_launches_on_a_queue_whose_block_ended_warn(ctx, build, to_buffer):
    kernel = build("kernel void put(global int *x) { *x = 1; }").put
    memory = to_buffer(np.zeros(1, np.int32))
    with cl.CommandQueue(ctx) as queue:
        kernel(queue, (1,), None, memory)
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    for launch in (
        lambda: kernel(queue, (1,), None, memory),
        lambda: cl.enqueue_nd_range_kernel(queue, kernel, (1,), None),
    ):
        with pytest.warns(cl.CommandQueueUsedAfterExit):
            launch().wait()
