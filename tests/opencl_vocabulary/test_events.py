"""Events: order, times, callbacks, and those that the program sets."""

import gc
import threading
import weakref

import numpy as np
import pytest
import unisono.opencl as cl


@pytest.fixture
def up(build):
    return build("kernel void up(global int *x) { x[get_global_id(0)] += 1; }").up


def test_times_of_a_profiling_queue(ctx, up, to_buffer):
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    event = up(queue, (64,), None, to_buffer(np.zeros(64, np.int32)))
    event.wait()
    times = event.profile
    assert times.queued <= times.submit <= times.start <= times.end
    assert event.get_profiling_info(cl.profiling_info.END) == times.end
    assert event.command_queue == queue and event.context == ctx
    assert event.command_type == cl.command_type.NDRANGE_KERNEL
    with pytest.raises(AttributeError, match="profile has no attribute 'begin'"):
        times.begin  # noqa: B018


def test_a_queue_without_profiling_has_no_times(queue):
    event = cl.enqueue_marker(queue)
    event.wait()
    with pytest.raises(cl.Error, match="PROFILING_INFO_NOT_AVAILABLE"):
        event.profile.end  # noqa: B018


def test_commands_wait_for_events(ctx, up, to_buffer):
    flags = cl.command_queue_properties
    queue = cl.CommandQueue(ctx, properties=flags.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    other = cl.CommandQueue(ctx, properties=flags.PROFILING_ENABLE)
    x, gate = to_buffer(np.zeros(4, np.int32)), cl.UserEvent(ctx)
    first = up(queue, (4,), None, x, wait_for=[gate])
    second = up(other, (4,), None, x, wait_for=[first])
    assert gate.command_execution_status > cl.command_execution_status.COMPLETE
    assert second.command_execution_status > cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    back = np.empty(4, np.int32)
    cl.enqueue_copy(queue, back, x, wait_for=[second])
    assert back.tolist() == [2, 2, 2, 2]
    cl.wait_for_events([first, second])
    cl.enqueue_barrier(queue, wait_for=[second]).wait()
    with pytest.raises(TypeError, match="wait_for: expected a list of events; got int in it"):
        cl.enqueue_marker(queue, wait_for=[3])


def test_callbacks(ctx, queue):
    gate, called, seen = cl.UserEvent(ctx), threading.Event(), []
    event = cl.enqueue_marker(queue, wait_for=[gate])

    def note(status):
        seen.append(status)
        called.set()

    event.set_callback(cl.command_execution_status.COMPLETE, note)
    assert not seen
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert called.wait(60) and seen == [cl.command_execution_status.COMPLETE]


def test_threads_share_a_kernel(ctx, queue, build, to_buffer):
    kernel = build(
        "kernel void put(global int *x, int n) { for (int k = 0; k < 16; ++k) x[k] = n; }"
    ).put
    buffers = [to_buffer(np.zeros(16, np.int32)) for _ in range(4)]

    def work(n):
        for _ in range(50):
            kernel(queue, (1,), None, buffers[n], n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for n, buffer in enumerate(buffers):
        back = np.empty(16, np.int32)
        cl.enqueue_copy(queue, back, buffer)
        assert (back == n).all()


def test_launches_wait_for_events_of_their_list(ctx, build, to_buffer):
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    kernel = build("kernel void add(global int *x, int n) { *x = 2 * *x + n; }").add
    for properties in (0, out_of_order):
        queue, x = cl.CommandQueue(ctx, properties=properties), np.zeros(1, np.int32)
        memory, gate = to_buffer(x), cl.UserEvent(ctx)
        first = kernel(queue, (1,), None, memory, 1, wait_for=[gate])
        other = cl.Kernel(kernel.program, "add")
        other.set_args(memory, 5)
        last = cl.enqueue_nd_range_kernel(queue, other, (1,), (1,), wait_for=(first,))
        many = cl.enqueue_nd_range_kernel(queue, other, (1,), None, wait_for=[last] * 20)
        queue.flush()
        assert last.command_execution_status != cl.command_execution_status.COMPLETE
        gate.set_status(cl.command_execution_status.COMPLETE)
        many.wait()
        cl.enqueue_copy(queue, x, memory, wait_for=[many])
        assert x.tolist() == [(1 * 2 + 5) * 2 + 5]


def test_wait_lists_hold_events(queue, build, to_buffer):
    kernel = build("kernel void put(global int *x) { *x = 1; }").put
    memory = to_buffer(np.zeros(1, np.int32))
    kernel.set_args(memory)
    for act in (
        lambda events: kernel(queue, (1,), None, memory, wait_for=events),
        lambda events: cl.enqueue_nd_range_kernel(queue, kernel, (1,), None, wait_for=events),
    ):
        for events in ([memory], [None], (queue,)):
            with pytest.raises(TypeError, match="wait_for: expected a list of events; got"):
                act(events)
        released = act(None)
        released.wait()
        released.__del__()
        with pytest.raises(cl.LogicError, match="Event: it was released"):
            act([released])
        with pytest.raises(cl.LogicError, match="Event: it was released"):
            released.wait()
        assert isinstance(act(act(None)), cl.Event)  # one event, no list


def test_what_a_command_uses_is_kept_until_it_is_done(ctx, queue):
    class Host(np.ndarray):
        pass

    gate, ended = cl.UserEvent(ctx), []
    source = np.arange(4, dtype=np.int32).view(Host)
    weakref.finalize(source, ended.append, "source")
    buffer = cl.Buffer(ctx, 0, 16)
    event = cl.enqueue_copy(queue, buffer, source, is_blocking=False, wait_for=[gate])
    assert event.get_ward() is source
    event.itself = event  # the collector of cycles finds it
    threading.Timer(0, lambda: gate.set_status(cl.command_execution_status.COMPLETE)).start()
    del source
    assert not ended
    del event
    gc.collect()  # waits for the command
    assert ended == ["source"]
    back = np.zeros(4, np.int32)
    cl.enqueue_copy(queue, back, buffer)
    assert back.tolist() == [0, 1, 2, 3]
