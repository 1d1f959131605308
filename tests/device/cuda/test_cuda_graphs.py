"""Segments that repeat are launched as one CUDA graph: driver calls, results, and what is kept."""

import driver_of_tests
import numpy as np
import pytest
import unisono as un

driver = driver_of_tests.find()
pytestmark = pytest.mark.skipif(driver is None, reason="not the CUDA driver of tests")
NAME = "cuda:0"
MAKES = ("cuGraphAddKernelNode", "cuGraphAddMemcpyNode", "cuGraphInstantiateWithFlags")
UPDATES = ("cuGraphExecKernelNodeSetParams", "cuGraphExecMemcpyNodeSetParams")
ALLOCATIONS = ("cuMemAllocAsync", "cuMemAlloc_v2")


QUEUES = []  # a queue that nobody holds is given to the next one, and what it knows of its driver


class Calls:
    """Of the driver, since it was made; but for questions whether it is done, as many as time allows."""

    def __init__(self):
        self._before = {}
        self._before = {
            name: self.of(name) for name in (*MAKES, *UPDATES, *ALLOCATIONS, "cuGraphLaunch")
        }
        self._all = self._total()

    def of(self, *names):
        return sum(driver.count(name) - self._before.get(name, 0) for name in names)

    def all(self):
        return self._total() - self._all

    @staticmethod
    def _total():
        return driver.count("calls") - driver.count("cuEventQuery") - driver.count("cuStreamQuery")


@pytest.fixture(params=[True, False], ids=["graphs", "without"])
def queue(request):
    """A queue whose driver has graphs, or none."""
    driver.set("graphs", request.param)
    before = driver.count("violations")
    queue = un.Queue(NAME)
    queue.has_graphs = request.param
    QUEUES.append(queue)
    yield queue
    driver.set("graphs", True)
    assert driver.count("violations") == before, driver.last_violation()


def relax(u):
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


@pytest.mark.parametrize(("statements", "times"), [(300, 100), (3000, 8)])
def test_driver_calls_of_a_loop_that_repeats(queue, statements, times):
    """Memory of statements before is used again, done or not: few addresses, each with its graph."""
    a = np.random.default_rng(1).random((40, 50))
    u = un.asarray(a, device=NAME)
    taken = 0
    for _ in range(times):
        calls = Calls()
        with un.device(NAME, queue=queue):
            for _ in range(statements):
                relax(u)
            un.eval(u)
        given = calls.all()
        taken += calls.of(*ALLOCATIONS)
        for _ in range(statements):
            relax(a)
        queue.synchronize()
    assert taken <= 4
    print(f"{given / statements:.3f} driver calls a statement")
    assert given <= (0.05 if queue.has_graphs else 3) * statements
    np.testing.assert_array_equal(np.asarray(u.to_device("cpu")), a)


def test_addresses_and_numbers_that_change(queue):
    """A graph is updated where its kernels come with others."""
    a = np.random.default_rng(2).random(1000)
    kept = []
    calls = Calls()
    for k in range(40):
        x = un.asarray(a, device=NAME) if k % 3 == 0 else x  # noqa: F821
        y = un.asarray(a, device=NAME)
        with un.device(NAME, queue=queue):
            for step in range(8):
                y[:] = y * (k + step) + x
                y[1:] = y[:-1] * 0.5
            un.eval(y)
        kept.append(y)
    queue.synchronize()
    assert (calls.of("cuGraphLaunch") > 30) is queue.has_graphs
    assert (calls.of(*UPDATES) > 0) is queue.has_graphs
    expected = []
    for k in range(40):
        b = a.copy()
        for step in range(8):
            b = b * (k + step) + a
            b[1:] = b[:-1] * 0.5
        expected.append(b)
    for y, b in zip(kept, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(y.to_device("cpu")), b)


def test_segments_with_faults(queue):
    """Records of faults are copied by nodes of the graph; a fault names the launch that has it."""
    a = np.arange(100.0)
    x, at = un.asarray(a, device=NAME), un.asarray(np.arange(100)[::-1].copy(), device=NAME)
    for k in range(12):
        with un.device(NAME, queue=queue):
            y = x[at] + k
            z = y[at] * 2
            un.eval(z)
        np.testing.assert_array_equal(np.asarray(z.to_device("cpu")), (a + k) * 2)
    at[7] = 100
    with pytest.raises(IndexError, match="100"):
        np.asarray((x[at] + 1)[at].to_device("cpu"))


@un.jit
def sweeps(u, v, n):
    for _ in range(n):
        for i in un.prange(1, u.shape[0] - 1):
            v[i] = 0.5 * (u[i - 1] + u[i + 1])
        for i in un.prange(1, u.shape[0] - 1):
            u[i] = v[i]


def test_kernels_of_compiled_loops(queue):
    a = np.random.default_rng(3).random(200)
    u, v = un.asarray(a, device=NAME), un.zeros(200, device=NAME)
    for _ in range(6):
        calls = Calls()
        with un.device(NAME, queue=queue):
            sweeps(u, v, 50)
        given = calls.all()
        queue.synchronize()
        for _ in range(50):
            a[1:-1] = 0.5 * (a[:-2] + a[2:])
    np.testing.assert_array_equal(np.asarray(u.to_device("cpu")), a)
    if queue.has_graphs:
        assert calls.of("cuGraphLaunch") >= 1 and calls.of(*MAKES) == 0
        assert given < 10


def test_what_others_wait_for_is_handed_over():
    """Queues, events and reads see what a segment holds back."""
    first, second = un.Queue(NAME), un.Queue(NAME)
    a = np.arange(5000.0)
    x = un.asarray(a, device=NAME)
    QUEUES.extend([first, second])
    for _ in range(10):
        with un.device(NAME, queue=first):
            y = x * 2
            y[:10] = 0
        event = first.record()
        second.wait_for(event)
        with un.device(NAME, queue=second):
            z = y + x
            z[:5] = y[5:10]
        x = z - y
        b = a * 2
        b[:10] = 0
        c = b + a
        c[:5] = 0
        a = c - b
        event.wait()
        assert event.done
    np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), a)
    assert driver.count("violations") == 0, driver.last_violation()


def test_few_graphs_are_kept():
    """Of many segments the oldest ones' graphs are dropped."""
    queue = un.Queue(NAME)  # it may have graphs of its own, of one who held it before
    x, y = (un.zeros(256 * 200, device=NAME) for _ in range(2))
    un.eval(x, y)
    before, calls = driver.count("graphs"), Calls()
    with un.device(NAME, queue=queue):
        for blocks in range(1, 200):  # each has its own grid, and always the same addresses
            for _ in range(4):
                x[: 256 * blocks] += 1
                y[: 128 * blocks] += 1
                un.eval(x, y)
        queue.synchronize()
    assert calls.of("cuGraphInstantiateWithFlags") >= 199
    assert driver.count("graphs") - before <= 2 * 32  # what the driver made of each counts, too
