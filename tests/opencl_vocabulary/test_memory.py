"""Buffers, copies, fills, maps, sub-buffers, images and shared virtual memory."""

import numpy as np
import pytest
import unisono as un
import unisono.opencl as cl

mf = cl.mem_flags


def test_sizes_and_flags(ctx):
    data = np.arange(5, dtype=np.int16)
    buffer = cl.Buffer(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=data)
    assert buffer.size == 10 and buffer.flags == mf.READ_ONLY | mf.COPY_HOST_PTR
    assert buffer.context == ctx and buffer.type == cl.mem_object_type.BUFFER and buffer.offset == 0
    assert cl.Buffer(ctx, mf.WRITE_ONLY, 3).size == 3
    assert cl.Buffer(ctx, mf.COPY_HOST_PTR, 4, data).size == 4


def test_what_cannot_be_a_buffer(ctx):
    data = np.zeros(4, np.int32)
    for arguments, said in (
        ((mf.READ_WRITE, 0), "a buffer has at least one byte; got size=0"),
        ((mf.READ_WRITE, -1), "got size=-1"),
        ((mf.COPY_HOST_PTR, 8), "COPY_HOST_PTR and USE_HOST_PTR need hostbuf"),
        ((mf.COPY_HOST_PTR, 99, data), "hostbuf has 16 bytes; got size=99"),
        ((mf.READ_ONLY | mf.WRITE_ONLY, 8), "INVALID_VALUE"),
    ):
        with pytest.raises(cl.LogicError, match=said):
            cl.Buffer(ctx, *arguments)
    with pytest.raises(ValueError, match="the array is not contiguous"):
        cl.Buffer(ctx, mf.COPY_HOST_PTR, hostbuf=data[::2])
    with pytest.raises(cl.MemoryError):
        cl.Buffer(ctx, mf.READ_WRITE, 1 << 60)
    with pytest.warns(UserWarning, match="neither COPY_HOST_PTR nor USE_HOST_PTR"):
        cl.Buffer(ctx, mf.READ_WRITE, hostbuf=data)


def test_the_engine_counts_buffers(ctx):
    un.synchronize()
    # A block that others gave back may serve, and be somewhat larger.
    un.memory.trim(ctx._engine_name)
    before = un.memory.stats(ctx._engine_name)["in_use"]
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 1 << 20)
    assert un.memory.stats(ctx._engine_name)["in_use"] == before + (1 << 20)
    buffer.release()
    assert un.memory.stats(ctx._engine_name)["in_use"] == before


def test_copies_and_their_ends(ctx, queue, to_buffer):
    data = np.arange(8, dtype=np.int32)
    a, b = to_buffer(data), cl.Buffer(ctx, 0, 32)
    cl.enqueue_copy(queue, b, a)
    cl.enqueue_copy(queue, b, a, src_offset=16, dst_offset=4, byte_count=8)
    back = np.zeros(8, np.int32)
    cl.enqueue_copy(queue, back, b, is_blocking=False).wait()
    assert back.tolist() == [0, 4, 5, 3, 4, 5, 6, 7]
    cl.enqueue_copy(queue, b, np.int32([9, 8]), dst_offset=24)
    part = np.zeros(3, np.int32)
    cl.enqueue_copy(queue, part, b, src_offset=20)
    assert part.tolist() == [5, 9, 8]
    for dest, src, options in (
        (np.zeros(9, np.int32), b, {}),
        (b, np.zeros(9, np.int32), {}),
        (part, b, {"src_offset": 24}),
        (b, a, {"byte_count": 40}),
    ):
        with pytest.raises(cl.LogicError, match="the buffer has 32 bytes; got .* bytes at offset"):
            cl.enqueue_copy(queue, dest, src, **options)
    with pytest.raises(
        TypeError, match="expected memory of a device on one side at least; got ndarray and ndarray"
    ):
        cl.enqueue_copy(queue, back, data)
    with pytest.raises(TypeError, match="unknown arguments for these operands: sideways"):
        cl.enqueue_copy(queue, back, a, sideways=1)
    data.flags.writeable = False
    with pytest.raises(ValueError, match="the memory of the host cannot be written"):
        cl.enqueue_copy(queue, data, a)


def test_boxes(ctx, queue, to_buffer):
    data = np.arange(24, dtype=np.uint8).reshape(4, 6)
    a = to_buffer(data)
    part = np.zeros((2, 3), np.uint8)
    cl.enqueue_copy(
        queue,
        part,
        a,
        buffer_origin=(1, 2),
        host_origin=(0, 0),
        region=(3, 2),
        buffer_pitches=(6,),
        host_pitches=(3,),
    )
    assert (part == data[2:4, 1:4]).all()
    b = cl.Buffer(ctx, 0, 24)
    cl.enqueue_fill_buffer(queue, b, np.uint8(0), 0, 24)
    cl.enqueue_copy(
        queue,
        b,
        a,
        src_origin=(1, 2),
        dst_origin=(0, 0),
        region=(3, 2),
        src_pitches=(6,),
        dst_pitches=(6,),
    )
    cl.enqueue_copy(
        queue,
        b,
        part,
        buffer_origin=(3, 2),
        host_origin=(0, 0),
        region=(3, 2),
        buffer_pitches=(6,),
        host_pitches=(3,),
    )
    back = np.empty_like(data)
    cl.enqueue_copy(queue, back, b)
    expected = np.zeros_like(data)
    expected[:2, :3] = expected[2:, 3:] = part
    assert (back == expected).all()


def test_fills(ctx, queue):
    buffer = cl.Buffer(ctx, 0, 32)
    cl.enqueue_fill(queue, buffer, np.int32(7))
    cl.enqueue_fill_buffer(queue, buffer, np.float64(0), 8, 16)
    back = np.empty(8, np.int32)
    cl.enqueue_copy(queue, back, buffer)
    assert back.tolist() == [7, 7, 0, 0, 0, 0, 7, 7]
    for pattern, offset, size, said in (
        (np.zeros(3, np.uint8), 0, 3, "a pattern has 1, 2, 4, ... or 128 bytes; got 3"),
        (np.int32(0), 2, 4, "multiples of the pattern's 4 bytes; got offset=2, size=4"),
        (np.int32(0), 0, 40, "the buffer has 32 bytes"),
    ):
        with pytest.raises(cl.LogicError, match=said):
            cl.enqueue_fill_buffer(queue, buffer, pattern, offset, size)


def test_the_hosts_memory_is_used(ctx, queue, build):
    data = np.arange(1024, dtype=np.int32)
    buffer = cl.Buffer(ctx, mf.READ_WRITE | mf.USE_HOST_PTR, hostbuf=data)
    build("kernel void up(global int *x) { x[get_global_id(0)] += 1; }").up(
        queue, data.shape, None, buffer
    )
    view, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 0, data.shape, data.dtype)
    assert view[5] == 6 and data[5] == 6
    assert buffer.hostbuf is data and buffer.get_host_array((4,), np.int32).tolist() == [1, 2, 3, 4]
    with pytest.raises(
        cl.LogicError, match=r"the buffer has 4096 bytes; got shape \(1025,\) of int32"
    ):
        buffer.get_host_array(1025, np.int32)


def test_maps(ctx, queue):
    buffer = cl.Buffer(ctx, 0, 64)
    view, event = cl.enqueue_map_buffer(
        queue, buffer, cl.map_flags.WRITE, 16, (3, 2), np.float32, order="F"
    )
    event.wait()
    assert view.shape == (3, 2) and view.flags.f_contiguous
    view[...] = [[1, 2], [3, 4], [5, 6]]
    del view
    back = np.empty(6, np.float32)
    cl.enqueue_copy(queue, back, buffer, src_offset=16)
    assert back.tolist() == [1, 3, 5, 2, 4, 6]
    with pytest.raises(cl.LogicError, match="the buffer has 64 bytes; got 40 bytes at offset 32"):
        cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ, 32, 10, np.float32)


def test_parts_of_a_buffer(ctx, queue):
    step = ctx.devices[0].mem_base_addr_align // 8
    whole = cl.Buffer(ctx, 0, 2 * step)
    cl.enqueue_fill_buffer(queue, whole, np.uint8(1), 0, 2 * step)
    for part in (whole.get_sub_region(step, step), whole[step : 2 * step]):
        assert part.size == step and part.offset == step and part.associated_memobject == whole
        cl.enqueue_fill_buffer(queue, part, np.uint8(2), 0, step)
    back = np.empty(2 * step, np.uint8)
    cl.enqueue_copy(queue, back, whole)
    assert back.sum() == 3 * step
    with pytest.raises(
        cl.LogicError, match=f"the buffer has {2 * step} bytes; got origin={step}, size={2 * step}"
    ):
        whole.get_sub_region(step, 2 * step)
    with pytest.raises(cl.LogicError, match="parts of buffers have step 1"):
        whole[::2]


def test_a_part_begins_where_the_device_can_address(ctx):
    step = ctx.devices[0].mem_base_addr_align // 8
    buffer = cl.Buffer(ctx, mf.READ_WRITE, 4 * step)
    assert buffer.get_sub_region(step, 1).size == 1
    with pytest.raises(
        cl.Error, match=f"multiple of {step} bytes, the device's mem_base_addr_align"
    ):
        buffer.get_sub_region(step + 1, 1)


def test_sides_of_images_have_limits(ctx):
    device = ctx.devices[0]
    if not device.image_support:
        pytest.skip("no images")
    pixel = cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT)
    for shape in ((0,), (4, 0), (0, 4), (4, 4, 0)):
        with pytest.raises(cl.LogicError, match="at least one pixel along each axis") as error:
            cl.Image(ctx, mf.READ_WRITE, pixel, shape=shape)
        assert error.value.code == cl.status_code.INVALID_IMAGE_SIZE
    for limit, axis, rank in (
        ("image2d_max_width", 0, 1),
        ("image2d_max_width", 0, 2),
        ("image2d_max_height", 1, 2),
        ("image3d_max_depth", 2, 3),
    ):
        shape = [1] * rank
        shape[axis] = getattr(device, limit) + 1
        with pytest.raises(cl.LogicError, match=f"the device's {limit} is {shape[axis] - 1}"):
            cl.Image(ctx, mf.READ_WRITE, pixel, shape=tuple(shape))


def test_shared_virtual_memory(ctx, queue, build):
    if not ctx.devices[0].svm_capabilities:
        pytest.skip("the device has no shared virtual memory")
    x = cl.csvm_empty(ctx, (4, 3), np.float32)
    svm = cl.SVM(x)
    assert svm.size == 48 and isinstance(x.base, cl.SVMAllocation)
    with svm.map_rw(queue) as view:
        view[...] = 1
    build("kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }").twice(
        queue, (12,), None, svm
    )
    with svm.map_ro(queue) as view:
        assert (view == 2).all()
    cl.enqueue_fill(queue, svm, np.float32(5))
    back = np.empty_like(x)
    cl.enqueue_copy(queue, back, svm)
    assert (back == 5).all()
    allocation = cl.SVMAllocation(ctx, 16, 8)
    cl.enqueue_copy(queue, allocation, np.arange(4, dtype=np.int32))
    host = np.empty(4, np.int32)
    cl.enqueue_copy(queue, host, allocation)
    assert host.tolist() == [0, 1, 2, 3]
    with pytest.raises(cl.LogicError, match="got 48 bytes to copy from 48 to 16"):
        cl.enqueue_copy(queue, allocation, svm)
    allocation.release()
    with pytest.raises(cl.LogicError, match="it was released before"):
        allocation.release()


def test_images(ctx, queue, build):
    if not ctx.devices[0].image_support:
        pytest.skip("the device has no images")
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    image = cl.image_from_array(ctx, data, 1)
    assert image.shape == (4, 3) and image.format == cl.ImageFormat(
        cl.channel_order.R, cl.channel_type.FLOAT
    )
    assert image.width == 4 and image.element_size == 4
    sampler = cl.Sampler(ctx, False, cl.addressing_mode.CLAMP_TO_EDGE, cl.filter_mode.NEAREST)
    kernel = build("""kernel void take(global float *x, read_only image2d_t image, sampler_t s) {
        x[get_global_id(0)] = read_imagef(image, s, (int2)(get_global_id(0), 1)).x;
    }""").take
    x = cl.Buffer(ctx, 0, 16)
    kernel(queue, (4,), None, x, image, sampler)
    back = np.empty(4, np.float32)
    cl.enqueue_copy(queue, back, x)
    assert (back == data[1]).all()
    with pytest.raises(cl.LogicError, match="expected an Image"):
        kernel(queue, (4,), None, x, 3, sampler)
    pixels = np.empty_like(data)
    cl.enqueue_copy(queue, pixels, image, origin=(0, 0), region=(4, 3))
    assert (pixels == data).all()
    with pytest.raises(
        cl.LogicError, match="the region ends at byte 48 of the array, which has 16"
    ):
        cl.enqueue_copy(queue, back, image, origin=(0, 0), region=(4, 3))
    with pytest.raises(
        cl.LogicError, match="the region ends at byte 56 of the array, which has 48"
    ):
        cl.enqueue_copy(queue, pixels, image, origin=(0, 0), region=(4, 3), pitches=(20,))
    with pytest.raises(
        cl.LogicError, match="the region ends at byte 56 of the array, which has 48"
    ):
        cl.Image(ctx, mf.READ_ONLY | mf.COPY_HOST_PTR, image.format, (4, 3), (20,), data)


def test_boxes_end_in_the_host_s_array(ctx, queue):
    block, host = cl.Buffer(ctx, 0, 64), np.zeros(64, np.uint8)
    box = {"buffer_origin": (0, 0), "host_origin": (4, 4), "region": (4, 5), "buffer_pitches": (8,)}
    with pytest.raises(
        cl.LogicError, match="the region ends at byte 72 of the array, which has 64"
    ):
        cl.enqueue_copy(queue, host, block, **box, host_pitches=(8,))
    with pytest.raises(cl.LogicError, match="of the array, which has 64"):
        cl.enqueue_copy(queue, block, host, **box, host_pitches=(2**40,))


def test_formats_and_descriptions(ctx):
    format = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNORM_INT8)
    assert (
        format.itemsize == 4
        and format.channel_count == 4
        and repr(format) == "ImageFormat(RGBA, UNORM_INT8)"
    )
    if ctx.devices[0].image_support:
        formats = cl.get_supported_image_formats(ctx, mf.READ_ONLY, cl.mem_object_type.IMAGE2D)
        assert format in formats
        description = cl.ImageDescriptor(shape=(8, 2))
        assert cl.Image(ctx, mf.READ_ONLY, format, desc=description).shape == (8, 2)


def test_plain_copies_and_fills_are_the_engine_s(ctx, queue, to_buffer, monkeypatch):
    from unisono.opencl._objects import memory

    a, b = to_buffer(np.arange(8, dtype=np.int32)), to_buffer(np.full(4, 7, np.int32))
    source, back = np.arange(10, 16, dtype=np.int32), np.zeros(8, np.int32)
    seen, enqueue = [], memory.enqueue

    def counted(name, *args, **options):
        seen.append(name)
        return enqueue(name, *args, **options)

    monkeypatch.setattr(memory, "enqueue", counted)
    assert cl.enqueue_copy(queue, a, source).command_queue == queue
    cl.enqueue_copy(queue, a, b)  # as much as both have
    cl.enqueue_fill_buffer(queue, a, np.int16(-1), 26, 6)
    cl.enqueue_copy(queue, back, a)
    assert back.tolist() == [7, 7, 7, 7, 14, 15, -65530, -1]
    assert seen == []
    with pytest.raises(cl.LogicError, match="the buffer has 16 bytes; got 32 bytes at offset 0"):
        cl.enqueue_copy(queue, back, b)
    with pytest.raises(cl.LogicError, match="multiples of the pattern's 4 bytes"):
        cl.enqueue_fill_buffer(queue, a, np.int32(1), 2, 4)
    with pytest.raises(cl.LogicError, match="the buffer has 32 bytes; got 8 bytes at offset 28"):
        cl.enqueue_fill_buffer(queue, a, np.int32(1), 28, 8)
    with pytest.raises(ValueError, match="the array is not contiguous"):
        cl.enqueue_copy(queue, back[::2], b)
    with pytest.raises(ValueError, match="the memory of the host cannot be written"):
        cl.enqueue_copy(queue, np.broadcast_to(np.int32(1), (1,)), b)
    with pytest.raises(TypeError, match="expected a CommandQueue; got NoneType"):
        cl.enqueue_copy(None, a, b)
    with pytest.raises(cl.RuntimeError, match="clEnqueueCopyBuffer failed: MEM_COPY_OVERLAP"):
        cl.enqueue_copy(queue, a, a)
    columns = np.asfortranarray(np.arange(8, dtype=np.int32).reshape(2, 4))
    cl.enqueue_copy(queue, a, columns)
    cl.enqueue_copy(queue, back, a)
    assert back.tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    cl.enqueue_copy(queue, a, np.zeros(0, np.int32))
    a.release()
    for act in (
        lambda: cl.enqueue_copy(queue, back, a),
        lambda: cl.enqueue_copy(queue, b, a),
        lambda: cl.enqueue_fill_buffer(queue, a, np.int32(1), 0, 4),
    ):
        with pytest.raises(cl.LogicError, match="it was released"):
            act()
