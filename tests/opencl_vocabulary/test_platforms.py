"""Platforms, devices, contexts and queues, and what they tell."""

import numpy as np
import pytest
import unisono as un
import unisono.opencl as cl


def test_platforms_have_devices_that_tell_their_properties(ctx):
    device = ctx.devices[0]
    assert device in device.platform.get_devices()
    assert device.platform in cl.get_platforms()
    assert device.name and device.version.startswith("OpenCL ")
    assert device.max_work_group_size >= 1 and len(device.max_work_item_sizes) == 3
    assert isinstance(device.available, bool) and isinstance(device.extensions, str)
    assert device.type & (cl.device_type.CPU | cl.device_type.GPU | cl.device_type.ACCELERATOR)
    assert device.get_info(cl.device_info.NAME) == device.name
    assert device.platform.name in repr(device.platform)


def test_a_context_of_one_device_is_the_engines_own(ctx, queue):
    name = next(d.name for d in un.devices() if d.name == ctx._engine_name)
    context, device, own = un._engine._native_handles(name)
    assert (ctx.int_ptr, ctx.devices[0].int_ptr) == (context, device)
    assert queue.context == ctx and queue.device == ctx.devices[0]
    second = cl.CommandQueue(ctx)
    assert second != queue and {queue.int_ptr} == {own}


def test_queues_take_properties(ctx):
    flags = cl.command_queue_properties
    profiling = cl.CommandQueue(ctx, properties=flags.PROFILING_ENABLE)
    assert profiling.properties & flags.PROFILING_ENABLE
    unordered = cl.CommandQueue(ctx, ctx.devices[0], flags.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    assert unordered.properties == flags.OUT_OF_ORDER_EXEC_MODE_ENABLE
    both = cl.CommandQueue(ctx, properties=[cl.queue_properties.PROPERTIES, flags.PROFILING_ENABLE])
    assert both.properties == flags.PROFILING_ENABLE


def test_a_queue_is_finished_at_the_end_of_its_block(ctx):
    with cl.CommandQueue(ctx) as queue:
        cl.enqueue_marker(queue)
    with pytest.warns(cl.CommandQueueUsedAfterExit, match="used after its block"):
        cl.enqueue_marker(queue)


def test_choices_come_from_the_environment_and_from_answers(ctx, monkeypatch):
    platform = ctx.devices[0].platform
    names = [p.name for p in cl.get_platforms()]
    monkeypatch.setenv("PYOPENCL_CTX", platform.name[:5] + ":0")
    if names.count(platform.name) == 1:
        assert cl.create_some_context().devices == platform.get_devices()[:1]
    monkeypatch.delenv("PYOPENCL_CTX")
    found = cl.create_some_context(interactive=False, answers=["0"])
    assert found.devices[0].platform == cl.get_platforms()[0]
    with pytest.raises(
        cl.LogicError, match="there is no such platform; got 'nothing of that name'"
    ):
        cl.create_some_context(answers=["nothing of that name"])


def test_contexts_say_what_they_do_not_take(ctx):
    with pytest.raises(cl.LogicError, match="expected a list of devices, not empty"):
        cl.Context([])
    platform = ctx.devices[0].platform
    if not platform.get_devices(cl.device_type.CUSTOM):
        with pytest.raises(cl.RuntimeError, match="has no device of that type") as caught:
            cl.Context(
                dev_type=cl.device_type.CUSTOM,
                properties=[(cl.context_properties.PLATFORM, platform)],
            )
        assert caught.value.code == cl.status_code.DEVICE_NOT_FOUND
    assert cl.VERSION == cl.version.VERSION and cl.VERSION_TEXT.startswith(str(cl.VERSION[0]))
    with pytest.raises(cl.LogicError, match="expected devices or dev_type; got both"):
        cl.Context(ctx.devices, dev_type=cl.device_type.ALL)
    with pytest.raises(TypeError, match="expected a Context; got int"):
        cl.CommandQueue(3)


def test_objects_with_one_address_are_equal(ctx, queue):
    for made in (ctx.devices[0], ctx, queue, cl.enqueue_marker(queue), cl.Buffer(ctx, 0, 8)):
        again = type(made).from_int_ptr(made.int_ptr)
        assert again == made and hash(again) == hash(made)
    assert ctx != queue


def test_a_context_of_parts_of_a_device(ctx):
    device = ctx.devices[0]
    if device.partition_max_sub_devices < 2:
        pytest.skip("the device cannot be divided")
    parts = device.create_sub_devices([cl.device_partition_property.EQUALLY, 1])
    shared = cl.Context(parts)
    assert shared.devices == parts and shared._engine_name is None
    data = np.arange(8, dtype=np.int32)
    buffer = cl.Buffer(shared, cl.mem_flags.COPY_HOST_PTR, hostbuf=data)
    program = cl.Program(
        shared, "kernel void up(global int *x) { x[get_global_id(0)] += 1; }"
    ).build()
    for part in parts:
        queue = cl.CommandQueue(shared, part)
        program.up(queue, data.shape, None, buffer).wait()
    back = np.empty_like(data)
    cl.enqueue_copy(queue, back, buffer)
    assert (back == data + len(parts)).all()


def test_constants_have_names():
    assert cl.mem_flags.READ_WRITE == 1 and cl.device_type.to_string(4) == "GPU"
    assert cl.mem_flags.to_string(5) == "READ_WRITE | READ_ONLY"
    with pytest.raises(ValueError, match="there is no such constant; got 77"):
        cl.command_execution_status.to_string(77)
    assert cl.command_execution_status.to_string(77, "<%d>") == "<77>"
