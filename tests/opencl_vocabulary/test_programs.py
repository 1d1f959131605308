"""Programs of OpenCL C: builds, logs, binaries, and launches with their limits."""

import io

import numpy as np
import pytest
import unisono as un
import unisono.opencl as cl

UP = "kernel void up(global int *x) { x[get_global_id(0)] += ONE; }"


def test_options_reach_the_compiler_and_kernels_run(queue, build, to_buffer):
    program = build(UP, ["-DONE=3"])
    x = to_buffer(np.arange(6, dtype=np.int32))
    event = program.up(queue, (6,), None, x)
    event.wait()
    assert event.command_execution_status == cl.command_execution_status.COMPLETE
    back = np.empty(6, np.int32)
    cl.enqueue_copy(queue, back, x)
    assert back.tolist() == [3, 4, 5, 6, 7, 8]
    assert build(UP, "-DONE=1").up.function_name == "up"


def test_the_log_of_a_failed_build_is_in_the_error(build):
    with pytest.raises(
        cl.RuntimeError, match="(?s)BUILD_PROGRAM_FAILURE.*Build on.*undeclared"
    ) as caught:
        build("kernel void f(global int *x) { *x = undeclared; }")
    assert caught.value.code == cl.status_code.BUILD_PROGRAM_FAILURE
    assert isinstance(caught.value, un.DeviceError) and isinstance(caught.value, cl.Error)


def test_a_kernel_that_is_not_there(build):
    with pytest.raises(
        AttributeError, match="'down' is neither an attribute nor a kernel; its kernels are: up"
    ):
        build(UP, "-DONE=1").down  # noqa: B018


def test_a_program_from_its_binaries(ctx, queue, build, to_buffer):
    first = build(UP, "-DONE=2")
    second = cl.Program(ctx, first.devices, first.binaries).build()
    assert second.kind() == cl.program_kind.BINARY
    x = to_buffer(np.zeros(4, np.int32))
    second.up(queue, (4,), None, x)
    back = np.empty(4, np.int32)
    cl.enqueue_copy(queue, back, x)
    assert back.tolist() == [2, 2, 2, 2]
    with pytest.raises(
        cl.LogicError, match="expected a binary for each device; got 1 devices and 0 binaries"
    ):
        cl.Program(ctx, first.devices, [])


def test_programs_and_kernels_tell_about_themselves(ctx, build):
    program = build(UP, "-DONE=2")
    device = ctx.devices[0]
    assert program.source == UP and program.context == ctx and program.devices == [device]
    assert [k.function_name for k in program.all_kernels()] == ["up"]
    info = cl.program_build_info
    assert program.get_build_info(device, info.STATUS) == 0
    assert "-DONE=2" in program.get_build_info(device, info.OPTIONS)
    kernel = program.up
    assert kernel.num_args == 1 and kernel.program == program and kernel.context == ctx
    assert kernel.get_arg_info(0, cl.kernel_arg_info.NAME) == "x"
    group = cl.kernel_work_group_info
    assert kernel.get_work_group_info(group.WORK_GROUP_SIZE, device) >= 1
    assert kernel.get_work_group_info(group.COMPILE_WORK_GROUP_SIZE, device) == [0, 0, 0]


def test_compile_and_link(ctx, queue, to_buffer):
    declared = "int one(void); kernel void up(global int *x) { x[get_global_id(0)] += one(); }"
    parts = [cl.Program(ctx, text).compile() for text in (declared, "int one(void) { return 5; }")]
    program = cl.link_program(ctx, parts)
    x = to_buffer(np.zeros(2, np.int32))
    program.up(queue, (2,), None, x)
    back = np.empty(2, np.int32)
    cl.enqueue_copy(queue, back, x)
    assert back.tolist() == [5, 5]


WHERE = """kernel void where(global int *x, int width) {
    size_t at = get_global_id(0) - get_global_offset(0) + (get_global_id(1) - get_global_offset(1)) * width;
    x[at] = 10000 * get_local_size(0) + 100 * get_global_id(0) + get_global_id(1);
}"""


def test_sizes_offsets_and_groups(ctx, queue, build, to_buffer):
    kernel = build(WHERE).where
    for local, arguments in (((2, 1), {}), ((2, 1), {"g_times_l": True})):
        x = to_buffer(np.zeros((3, 4), np.int32))
        shape = (2, 3) if arguments else (4, 3)
        kernel(queue, shape, local, x, np.int32(4), global_offset=(7, 5), **arguments)
        back = np.empty((3, 4), np.int32)
        cl.enqueue_copy(queue, back, x)
        row, column = np.mgrid[:3, :4]
        assert (back == 20000 + 100 * (column + 7) + row + 5).all()
    cl.enqueue_nd_range_kernel(queue, kernel, (4, 3), None)


def test_sizes_that_the_device_refuses_name_the_limit(ctx, queue, build, to_buffer):
    kernel, x = build(WHERE).where, to_buffer(np.zeros(64, np.int32))
    most = ctx.devices[0].max_work_group_size
    for shape, local, said in (
        ((6, 2), (4, 1), "the global size has to be a multiple of the local size"),
        ((2 * most, 1), (2 * most, 1), f"the device's max_work_group_size is {most}"),
        ((4,), (2, 2), "global and local size have the same number of dimensions"),
        ((1, 1, 1, 1), None, r"the global size has one to three numbers; got \(1, 1, 1, 1\)"),
        ((0, 2), None, r"the global size has numbers from 1 on, below 2\*\*64; got \(0, 2\)"),
        ((-4, 2), None, r"the global size has numbers from 1 on, below 2\*\*64; got \(-4, 2\)"),
        ((4, 2), (0, 1), r"the local size has numbers from 1 on, below 2\*\*64; got \(0, 1\)"),
        ((4, 2), (2**64, 1), r"the local size has numbers from 1 on, below 2\*\*64; got"),
    ):
        with pytest.raises(cl.LogicError, match=said):
            kernel(queue, shape, local, x, np.int32(1))
    if ctx.devices[0].type & cl.device_type.CPU:  # where PoCL ends the process
        with pytest.raises(
            cl.LogicError, match="count work-groups up to 4294967295; got 1099511627776"
        ):
            kernel(queue, (2**40, 1), (1, 1), x, np.int32(1))
    with pytest.raises(
        cl.LogicError, match="global size and offset have the same number of dimensions"
    ):
        kernel(queue, (4,), None, x, np.int32(1), global_offset=(1, 1))
    event = kernel(queue, (0, 1), None, x, np.int32(1), allow_empty_ndrange=True)
    event.wait()


def test_a_fixed_group_size_is_named(queue, build, to_buffer):
    kernel = build(
        "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void f(global int *x) { *x = 1; }"
    ).f
    with pytest.raises(cl.LogicError, match=r"the kernel's reqd_work_group_size is \(4, 1, 1\)"):
        kernel(queue, (8,), (2,), to_buffer(np.zeros(1, np.int32)))
    kernel(queue, (8,), (4,), to_buffer(np.zeros(1, np.int32)))


def test_local_memory_and_barriers(queue, build, to_buffer):
    kernel = build("""kernel void turn(global float *x, local float *part) {
        size_t l = get_local_id(0), n = get_local_size(0);
        part[l] = x[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        x[get_global_id(0)] = part[n - 1 - l];
    }""").turn
    x = to_buffer(np.arange(8, dtype=np.float32))
    kernel(queue, (8,), (4,), x, cl.LocalMemory(16))
    back = np.empty(8, np.float32)
    cl.enqueue_copy(queue, back, x)
    assert back.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]


def test_a_captured_call_is_a_program(ctx, queue, build, to_buffer):
    text = "kernel void add(global const int *a, int b, global int *x, local int *t) { x[get_global_id(0)] = a[get_global_id(0)] + b + ADD; }"
    kernel = build(text, ["-DADD=4"]).add
    a = np.arange(3, dtype=np.int32)
    file = io.StringIO()
    kernel.capture_call(
        file, queue, (3,), None, to_buffer(a), 2, to_buffer(a * 0), cl.LocalMemory(16)
    )
    # What the program leaves in its buffer, seen before it ends.
    space = {}
    exec(
        file.getvalue().replace(
            "queue.finish()",
            "global x; x = np.empty(3, np.int32); cl.enqueue_copy(queue, x, argument_2)",
        ),
        space,
    )
    space["main"]()
    assert space["x"].tolist() == [6, 7, 8]


def test_a_call_that_cannot_be_captured_says_why(ctx, queue, build):
    kernel = build("kernel void f(global int *a) {}").f
    with pytest.raises(RuntimeError, match="argument 1 is a dict; expected a buffer"):
        kernel.capture_call(io.StringIO(), queue, (3,), None, {})
    other = cl.Kernel.from_int_ptr(kernel.int_ptr)
    with pytest.raises(RuntimeError, match="OpenCL C of kernel 'f' is not known"):
        other.capture_call(io.StringIO(), queue, (3,), None, None)
