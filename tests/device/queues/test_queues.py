"""Queues, events, and the device that a block uses."""

import asyncio
import concurrent.futures
import ctypes
import threading

import numpy as np
import pytest
import unisono as un
from device_arrays import with_queues

NAMES = with_queues()

pytestmark = pytest.mark.skipif(not NAMES, reason="no device with queues")


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@un.kernel
def gather(a, k, out):
    i = un.global_id(0)
    out[i] = a[k[i]]


@un.jit
def two_loops(a, k, first, second):
    for i in un.prange(first.shape[0]):
        first[i] = a[k[i]]
    for i in un.prange(second.shape[0]):
        second[i] = 1.0


@un.jit
def scaled(a, out, k):
    for i in un.prange(out.shape[0]):
        out[i] = a[i] * k + 1.0


def host(x):
    return np.asarray(x.to_device("cpu"))


@pytest.mark.parametrize("order", ["in", "out"])
def test_statements_of_a_block_go_to_its_queue_and_wait_for_others(name, order):
    first, second = un.Queue(name, order=order), un.Queue(name, order=order)
    x = un.asarray(np.arange(5000.0), device=name)
    expected = np.arange(5000.0)
    for step in range(20):
        with un.device(queue=(first, second)[step % 2]):
            y = x * 2 - 1
            x[::3] = y[::3] + 1
        e = expected * 2 - 1
        expected[::3] = e[::3] + 1
        if step % 5 == 0:
            first.record()
    np.testing.assert_array_equal(host(x), expected)
    np.testing.assert_array_equal(host(y), e)


def test_a_block_makes_arrays_on_its_device(name):
    with un.device(name) as q:
        assert q is None
        assert un.zeros(3).device == name
        with un.device("cpu"):
            assert un.zeros(3).device == "cpu"
        assert un.ones(3).device == name
    assert un.zeros(3).device == "cpu"


def test_threads_and_tasks_do_not_mix(name):
    seen = {}
    inside, checked = threading.Event(), threading.Event()

    def other():
        inside.wait()
        seen["thread"] = un.zeros(1).device
        checked.set()

    thread = threading.Thread(target=other)
    thread.start()
    with un.device(name):
        inside.set()
        checked.wait()
    thread.join()

    async def tasks():
        entered, left = asyncio.Event(), asyncio.Event()

        async def one():
            with un.device(name):
                entered.set()
                await left.wait()
                seen["one"] = un.zeros(1).device

        async def two():
            await entered.wait()
            seen["two"] = un.zeros(1).device
            left.set()

        await asyncio.gather(one(), two())

    asyncio.run(tasks())
    assert seen == {"thread": "cpu", "one": name, "two": "cpu"}


def test_events(name):
    q = un.Queue(name, profiling=True)
    x = un.asarray(np.arange(1000.0), device=name)
    with un.device(queue=q):
        y = x + 1
    first = q.record()
    with un.device(queue=q):
        z = y * 2
    second = q.record()
    called = threading.Event()
    second.add_callback(lambda event: called.set() if event is second and event.done else None)
    assert called.wait(60)
    second.wait()
    assert first.done and second.done
    p = second.profile
    assert 0 < p.queued <= p.submit <= p.start <= p.end
    assert first.elapsed(second) >= 0
    assert float(z[1]) == 4


@un.kernel
def add_one(x):
    i = un.global_id(0)
    x[i] += 1


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("launches", [1, 2, 15, 16, 17, 40])
def test_any_launch_of_many_can_be_asked_and_waited_for(name, launches, waits):
    """Not each one has an event of the driver's."""
    first, second = un.Queue(name), un.Queue(name)
    x = un.zeros(100, device=name)
    un.synchronize()
    with un.device(queue=first):
        events = []
        for _ in range(launches):
            add_one[100](x)
            events.append(first.record())
    if waits:
        second.wait_for(events[-1])
        with un.device(queue=second):
            y = x * 2
        np.testing.assert_array_equal(host(y), np.full(100, 2.0 * launches))
    else:
        while not events[-1].done:
            pass
    assert all(event.done for event in events)
    events[launches // 2].wait()
    np.testing.assert_array_equal(host(x), np.full(100, 1.0 * launches))


def test_a_queue_waits_for_events_of_another_one_and_of_its_own(name):
    first, second = un.Queue(name), un.Queue(name, order="out")
    x = un.asarray(np.arange(10.0), device=name)
    for _ in range(3):
        with un.device(queue=first):
            x += 1
        second.wait_for(first.record())
        with un.device(queue=second):
            x += 1
        event = second.record()
        first.wait_for(event)
        second.wait_for(event)
    first.synchronize()
    second.synchronize()
    np.testing.assert_array_equal(host(x), np.arange(10.0) + 6)


@un.kernel
def slowly(x, rounds):
    i = un.global_id(0)
    s = x[i]
    for _ in range(rounds):
        s = s * 0.5 + 1.0
    x[i] = s


WITHOUT_ELEMENTS = {
    "part": lambda x: x.__setitem__(slice(0, 0), x[:0] + 1),
    "positions": lambda x: un.add.at(x, un.zeros(0, "int64", device=x.device), 1.0),
    "in place": lambda x: x[5:5].__iadd__(x[:0]),
    "function": lambda x: scaled(x[:0], x[3:3], 2.0),
}


@pytest.mark.parametrize("what", WITHOUT_ELEMENTS)
@pytest.mark.parametrize("orders", [("in", "in"), ("in", "out"), ("out", "in")])
def test_work_without_elements_hides_nothing_from_other_queues(name, orders, what):
    """A step between two queues that has nothing to do: what it came behind is still to be waited for."""
    first, last = (un.Queue(name, order=order) for order in orders)
    x = un.zeros(8, device=name)
    slowly[8](x, 1)
    un.synchronize()
    with un.device(queue=first):
        slowly[8](x, 2_000_000)
    WITHOUT_ELEMENTS[what](x)
    with un.device(queue=last):
        y = x + 1
    np.testing.assert_array_equal(host(y), np.full(8, 3.0))


def test_record_submits_what_was_recorded_for_the_queue_alone(name):
    q = un.Queue(name)
    x = un.asarray(np.arange(10.0), device=name)
    un.synchronize()
    other, on_host = x + 1, un.ones(10**4) + 1
    with un.device(queue=q):
        mine = x + 2
    before = un.stats()["pending_operations"]
    q.record()
    assert un.stats()["pending_operations"] == before - 1
    assert un.flush_log()[-1]["reason"] == "a queue is given its work"
    assert float(mine[0]) + float(other[0]) + float(on_host[0]) == 5


def faulty(name):
    a = un.asarray(np.arange(10.0), device=name)
    k = un.asarray(np.array([1, 2, 99]), device=name)
    return a, k, un.zeros(3, device=name)


def test_a_late_fault_reaches_what_depends_on_it_and_nothing_else(name):
    a, k, out = faulty(name)
    gather[3](a, k, out)
    y = out * 2
    z = un.ones(3, device=name) + 1
    un.Queue(name).record()
    np.testing.assert_array_equal(host(z), 2)
    for x in (y, out):
        with pytest.raises(IndexError, match=r"index 99 is out of bounds for axis 0 with size 10"):
            host(x)
    out[0] = 1.0  # a part
    with pytest.raises(IndexError, match="index 99"):
        float(out[0])
    out[...] = 3.0  # all of it
    np.testing.assert_array_equal(host(out + 1), 4)
    un.synchronize()  # the fault was met


@pytest.mark.parametrize("order", ["in", "out"])
def test_a_late_fault_stays_out_of_results_of_the_same_kernel(name, order):
    """Statements that fuse into one kernel fail each for itself."""
    a, bad, _ = faulty(name)
    good = un.asarray(np.array([0, 1, 2]), device=name)
    made = [un.zeros(3, device=name) for _ in range(9)]
    un.synchronize()
    queue = un.Queue(name, order=order)
    with un.device(queue=queue):
        for k, out in enumerate(made):
            gather[3](a, bad if k == 4 else good, out)
        doubled = [out * 2 for out in made]
        kernels = un.stats()["kernels_launched"]
        sums = doubled[0] + doubled[1], doubled[0] + doubled[4], doubled[3] * doubled[8]
        un.eval(made[0])
    queue.record()
    for k, x in enumerate(doubled):
        if k != 4:
            np.testing.assert_array_equal(host(x), [0, 2, 4])
    assert un.stats()["kernels_launched"] <= kernels + 9 + 2, "they did not fuse"
    np.testing.assert_array_equal(host(sums[0]), [0, 4, 8])
    np.testing.assert_array_equal(host(sums[2]), [0, 4, 16])
    for x in (doubled[4], sums[1]):
        with pytest.raises(IndexError, match="index 99"):
            host(x)


@un.jit
def total(x):
    s = 0.0
    for v in x:
        s += v
    return s


def test_a_late_fault_reaches_numbers_that_functions_return(name):
    a, k, out = faulty(name)
    with un.device(queue=un.Queue(name)):
        gather[3](a, k, out)
    with pytest.raises(IndexError, match="index 99"):
        total(out)
    assert total(a) == 45


def test_a_late_fault_reaches_other_queues(name):
    a, k, out = faulty(name)
    with un.device(queue=un.Queue(name)):
        gather[3](a, k, out)
    with un.device(queue=un.Queue(name, order="out")):
        y = out + 1
    with pytest.raises(IndexError, match="index 99"):
        host(y)


def test_a_fault_that_nobody_met_is_raised_once_at_synchronize(name):
    q = un.Queue(name)
    a, k, out = faulty(name)
    with un.device(queue=q):
        gather[3](a, k, out)
    with pytest.raises(IndexError, match=r"index 99(.|\n)*gather"):
        q.synchronize()
    q.synchronize()
    un.synchronize()


def test_after_a_fault_the_later_loops_of_a_function_do_nothing(name):
    a, k, first = faulty(name)
    second = un.zeros(3, device=name)
    two_loops(a, k, first, second)
    with pytest.raises(IndexError, match="index 99"):
        un.eval(first)
    second[...] = second * 0 + 5  # still wrong: it depends on what failed
    with pytest.raises(IndexError):
        host(second)
    k[...] = 1
    second[...] = 0.0
    two_loops(a, k, first, second)
    np.testing.assert_array_equal(host(second), 1)
    np.testing.assert_array_equal(host(first), 1)


def test_a_long_chain_behind_a_fault_stays_flat(name):
    a, k, out = faulty(name)
    gather[3](a, k, out)
    for _ in range(3000):
        out += 1
        un.Queue(name).record()
    with pytest.raises(IndexError, match="index 99"):
        host(out)


def test_two_queues_with_one_executable(name):
    queues = [un.Queue(name, order=order) for order in ("in", "out")]
    numbers = np.arange(5000.0)
    a, made = un.asarray(numbers, device=name), []
    for k in range(20):
        for n, queue in enumerate(queues):
            with un.device(queue=queue):
                out = un.empty(5000, device=name)
                scaled(a, out, k + 100.0 * n)
                made.append((out, k + 100.0 * n))
    for out, k in made:
        np.testing.assert_array_equal(host(out), numbers * k + 1.0)


def test_queues_that_wait_for_each_other(name):
    """Each event was recorded before somebody waits for it, so that nobody waits for ever."""
    queues = [un.Queue(name) for _ in range(2)]
    x = un.zeros(1000, device=name)
    events = [queue.record() for queue in queues]
    for _ in range(20):
        for queue, event in zip(queues, reversed(events), strict=True):
            queue.wait_for(event)
            with un.device(queue=queue):
                x += 1
        events = [queue.record() for queue in queues]
    for queue in queues:
        queue.synchronize()
    np.testing.assert_array_equal(host(x), np.full(1000, 40.0))


def test_a_queue_that_is_dropped_in_use(name):
    made = []
    for k in range(10):
        queue = un.Queue(name, order="out" if k % 2 else "in")
        with un.device(queue=queue):
            x = un.ones(50_000, device=name)
            for _ in range(5):
                x = x * 2 + k
            y = un.empty(50_000, device=name)
            scaled(x, y, 2.0)
        event = queue.record()
        del queue, x
        made.append((event, y))
    for k, (event, y) in enumerate(made):
        event.wait()
        np.testing.assert_array_equal(host(y), np.full(50_000, 2.0 * (32 + 31 * k) + 1))


def test_sixteen_threads_on_three_queues(name):
    queues = [un.Queue(name, order=order) for order in ("in", "out", "in")]

    def work(number):
        random = np.random.default_rng(number)
        with un.device(queue=queues[number % 3]):
            for _ in range(8):
                numbers = random.random(1000 + number)
                a, b = un.asarray(numbers, device=name), un.empty(len(numbers), device=name)
                scaled(a, b, number)
                a[10:20] = b[:10]
                expected = numbers * number + 1.0
                np.testing.assert_array_equal(host(un.sort(b)), np.sort(expected))
                numbers[10:20] = expected[:10]
                np.testing.assert_array_equal(host(a), numbers)

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        list(threads.map(work, range(16)))  # raises what one of them raised


@pytest.mark.parametrize("order", ["in", "out"])
def test_an_event_knows_at_once_that_it_is_done(name, order):
    if not name.startswith("opencl"):
        pytest.skip("tests/device/cuda/test_cuda_exchange.py")
    queue = un.Queue(name, order=order)
    with un.device(queue=queue):
        un.eval(un.ones(1000, device=name) * 3)
    event = queue.record()
    driver = ctypes.CDLL("libOpenCL.so.1")
    assert driver.clFinish(ctypes.c_void_p(queue.handle)) == 0  # nobody of ours waits
    assert event.done


@un.kernel
def chain(x, n):
    i = un.global_id(0)
    s = x[i]
    for _ in range(n):
        s = s * 1.0000001 + 0.5
    x[i] = s


@pytest.mark.parametrize("order", ["in", "out"])
def test_an_event_stands_for_all_work_before_it(name, order):
    """Also for what a queue out of order has not begun; on OpenCL it is no work itself."""
    queue = un.Queue(name, order=order)
    arrays = [un.ones(64, device=name) for _ in range(4)]
    un.eval(*arrays)
    un.synchronize()
    steps = [300_000, 1, 100_000, 1]
    with un.device(queue=queue):
        for x, n in zip(arrays, steps, strict=True):
            chain[64](x, n)
            x += 1
    event = queue.record()
    # CUDA's queues out of order have several streams, which meet there.
    if name.startswith("opencl"):
        assert queue.record()._number == event._number
    other = un.Queue(name, order="out")
    other.wait_for(event)
    queue.wait_for(event)
    with un.device(queue=other):
        more = [x * 2 for x in arrays]
    after = other.record()
    after.wait()
    assert event.done and after.done
    event.wait()
    for x, y in zip(arrays, more, strict=True):
        assert float(y[0]) == 2 * float(x[0]) > 2


def test_many_records_on_a_queue_out_of_order(name):
    queue = un.Queue(name, order="out")
    x = un.zeros(3, device=name)
    for _ in range(3000):
        with un.device(queue=queue):
            x += 1
        event = queue.record()
    event.wait()
    assert event.done and float(x[0]) == 3000


def test_a_queue_is_used_again(name):
    handles = {id(un.Queue(name)._handle) for _ in range(100)}
    assert handles
    queues = [un.Queue(name) for _ in range(3)]
    assert len({q._handle for q in queues}) == 3


def test_wrong_use(name):
    q = un.Queue(name)
    with pytest.raises(
        ValueError, match='order is an unknown word; got \'x\'; expected "in" or "out"'
    ):
        un.Queue(name, order="x")
    with pytest.raises(un.DeviceError, match="'cpu' has no queues"):
        un.Queue("cpu")
    with pytest.raises(un.DeviceError, match=r"use Queue\(profiling=True\)"):
        q.record().profile  # noqa: B018
    with pytest.raises(TypeError, match="expected an Event"):
        q.wait_for(3)
    with pytest.raises(TypeError, match="expected a function"):
        q.record().add_callback(3)
    with pytest.raises(TypeError, match="record"):
        un.Event()
    with pytest.raises(TypeError, match="expected the name of a device, or a queue"):
        un.device()
    with pytest.raises(TypeError, match="queue is not a Queue"):
        un.device(name, queue=3)
    with pytest.raises(ValueError, match="the queue belongs to another device"):
        un.device("cpu", queue=q)
