"""CUDA devices: long ranges, driver calls, lost devices, other users of the context, code on disk.

Most need the driver of tests (tests/cuda_driver/), which counts calls and fails on demand.
"""

import os
import subprocess
import sys

import driver_of_tests
import numpy as np
import pytest
import unisono as un

NAMES = [d.name for d in un.devices("cuda")]

pytestmark = pytest.mark.skipif(not NAMES, reason="no CUDA device")
needs_driver_of_tests = pytest.mark.skipif(
    driver_of_tests.find() is None, reason="not the CUDA driver of tests"
)
SAFETY_NET = 300


def host(x):
    return np.asarray(x.to_device("cpu"))


def run(program, folder=None, devices=1):
    environment = {**os.environ, "UNISONO_TEST_CUDA_DEVICES": str(devices)}
    if folder:
        environment["UNISONO_CACHE_DIR"] = str(folder)
    tests = os.path.dirname(driver_of_tests.__file__)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {tests!r})\n" + program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@un.kernel
def places(out, groups):
    x = un.global_id(0)
    y = un.global_id(1)
    out[y, x] = y * un.global_size(0) + x
    if un.local_id(0) == 0 and un.local_id(1) == 0:
        groups[0] = un.num_groups(1)


@un.kernel
def rows_of_depth(out):
    z = un.global_id(2)
    out[z, un.global_id(1), un.global_id(0)] = z


def test_statements_of_more_rows_than_a_grid_has():
    for rows in (70_000, 10**6):
        x = un.asarray(np.arange(rows * 3.0).reshape(rows, 3), device=NAMES[0])
        y = x[:, :2] + x[:, 1:]
        a = np.arange(rows * 3.0).reshape(rows, 3)
        np.testing.assert_array_equal(host(y), a[:, :2] + a[:, 1:])


@pytest.mark.slow
def test_ten_million_rows():
    x = un.ones((10**7, 2), device=NAMES[0])
    y = x[:, :1] + x[:, 1:]
    assert int((y == 2).sum()) == 10**7


def test_kernels_of_more_groups_than_a_grid_has():
    out = un.zeros((70_000, 4), dtype="int64", device=NAMES[0])
    groups = un.zeros(1, dtype="int64", device=NAMES[0])
    places[(4, 70_000), (4, 1)](out, groups)
    np.testing.assert_array_equal(host(out).ravel(), np.arange(4 * 70_000))
    assert int(groups[0]) == 70_000
    deep = un.zeros((70_000, 2, 1), dtype="int64", device=NAMES[0])
    rows_of_depth[(1, 2, 70_000), (1, 1, 1)](deep)
    np.testing.assert_array_equal(host(deep)[:, 1, 0], np.arange(70_000))


def test_a_fault_in_a_late_slice_tells_its_place():
    @un.kernel
    def at(a, k, out):
        out[un.global_id(1), un.global_id(0)] = a[k[un.global_id(1)]]

    k = np.zeros(70_000, dtype=int)
    k[69_999] = 77
    out = un.zeros((70_000, 2), device=NAMES[0])
    at[(2, 70_000), (2, 1)](un.ones(5, device=NAMES[0]), un.asarray(k, device=NAMES[0]), out)
    with pytest.raises(IndexError, match="index 77 is out of bounds for axis 0 with size 5"):
        host(out)


def test_groups_that_no_device_has_are_refused():
    out = un.zeros((64, 64), dtype="int64", device=NAMES[0])
    with pytest.raises(ValueError, match="too many work-items; got 4096; expected at most"):
        places[(64, 64), (64, 64)](out, un.zeros(1, dtype="int64", device=NAMES[0]))


def test_properties():
    (d,) = un.devices(NAMES[0])
    told = d.properties
    assert told["multiprocessor_count"] == d.compute_units
    assert told["warp_size"] == 32 and told["platform"] == "NVIDIA CUDA"
    assert {"queue_profiling", "out_of_order_queue", "fp64"} <= set(d.aspects)


@needs_driver_of_tests
def test_a_statement_of_a_loop_costs_few_calls(cuda_driver):
    queue = un.Queue(NAMES[0])
    x = un.ones(1000, device=NAMES[0])
    y = un.zeros(1000, device=NAMES[0])

    def step():
        with un.device(queue=queue):
            y[...] = x * 0.5 + y
        queue.record()  # nothing waits

    for _ in range(10):
        step()
    un.synchronize()
    before, launches = cuda_driver.count("calls"), cuda_driver.count("launches")
    for _ in range(300):
        step()
    calls = cuda_driver.count("calls") - before
    assert cuda_driver.count("launches") - launches == 300
    un.synchronize()
    assert calls <= 3 * 300, calls / 300


@needs_driver_of_tests
def test_machine_code_is_kept_for_later_processes(tmp_path):
    program = """
import driver_of_tests
import numpy as np
import unisono as un
x = un.asarray(np.arange(1000.0), device="cuda")
np.testing.assert_array_equal(np.asarray((x * 3 + 1).to_device("cpu")), np.arange(1000.0) * 3 + 1)
print(driver_of_tests.find().count("cuLinkComplete"))
"""
    assert run(program, tmp_path) == "1\n"
    assert run(program, tmp_path) == "0\n"


@needs_driver_of_tests
@pytest.mark.parametrize(
    "how", ['set("launch", 700)', 'set("launch", 719)', 'set("destroy", 0)'], ids=str
)
def test_a_lost_device_says_so_and_the_rest_goes_on(how):
    program = f"""
import driver_of_tests
import numpy as np
import unisono as un
x = un.ones(1000, device="cuda:0") + 1
un.eval(x)
un.synchronize()
other = un.ones(3, device="cuda:1") + 1
driver_of_tests.find().{how}
y = x * 2
for _ in range(2):
    try:
        np.asarray((y + x).to_device("cpu"))
    except un.DeviceError as error:
        print("lost" if "'cuda:0'" in str(error) and "the device is lost" in str(error) else error)
assert float(other[0]) == 2 and float((un.ones(3) + 1)[0]) == 2
del x, y
try:
    un.ones(3, device="cuda:0") + 1
    un.eval(un.ones(3, device="cuda:0") + 1)
except un.DeviceError as error:
    print("lost" if "the device is lost" in str(error) else error)
"""
    assert run(program, devices=2) == "lost\nlost\nlost\n"


@needs_driver_of_tests
def test_memory_of_the_device_ends():
    program = """
import driver_of_tests
import numpy as np
import unisono as un
driver_of_tests.find().set("memory", 20_000_000)
kept = un.ones(10**6, device="cuda") + 1
un.eval(kept)
try:
    un.eval(un.ones(2 * 10**6, device="cuda") + 1)
except MemoryError as error:
    print(error)
for _ in range(20):
    more = kept * 2
    un.eval(more)
assert float(more[0]) == 4
"""
    text = run(program)
    assert "cuda:0" in text and "written at" in text


@needs_driver_of_tests
def test_children_of_fork_leave_the_driver_alone():
    program = """
import os
import driver_of_tests
import numpy as np
import unisono as un
x = un.ones(1000, device="cuda") + 1
un.eval(x)
if os.fork() == 0:
    before = driver_of_tests.find().count("violations")
    assert float((un.ones(3) + 1)[0]) == 2
    try:
        np.asarray(x.to_device("cpu"))
    except un.DeviceError as error:
        assert "child of fork" in str(error), error
    else:
        os._exit(3)
    del x
    os._exit(0 if driver_of_tests.find().count("violations") == before else 4)
print(os.wait()[1], float(x[0]))
"""
    assert run(program) == "0 2.0\n"


@needs_driver_of_tests
def test_children_of_fork_find_the_driver_of_tests_unlocked():
    program = """
import os
import signal
import driver_of_tests
import unisono as un
driver = driver_of_tests.find()
x = un.ones(1000, device="cuda")
ends = []
for _ in range(100):
    for _ in range(20):
        un.eval(x * 2)
    if os.fork() == 0:
        signal.alarm(100)  # a child that waits for a lock ends
        os._exit(driver.count("violations"))
    ends.append(os.wait()[1])
print(set(ends))
"""
    assert run(program) == "{0}\n"


@needs_driver_of_tests
def test_a_process_ends_with_work_in_flight():
    program = """
import unisono as un
queues = [un.Queue("cuda", order=order) for order in ("in", "out")]
for k in range(50):
    with un.device(queue=queues[k % 2]):
        x = un.ones((300, 300)) + k
        un.eval(x * 2)
y = x * 3  # recorded, never evaluated
print("end")
"""
    assert run(program) == "end\n"


@needs_driver_of_tests
def test_other_contexts_of_a_thread_stay_current(cuda_driver):
    import ctypes

    library = cuda_driver.library
    first, now = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.cuDevicePrimaryCtxRetain(ctypes.byref(first), 0) == 0
    assert library.cuCtxPushCurrent_v2(first) == 0
    for name in NAMES:
        x = un.ones(100, device=name) + 1
        assert float(x[0]) == 2
        library.cuCtxGetCurrent(ctypes.byref(now))
        assert now.value == first.value
    assert library.cuCtxPopCurrent_v2(None) == 0


RANDOM = """
import gc
import sys
import numpy as np
import driver_of_tests
import unisono as un

steps, seed = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(seed)
names = [d.name for d in un.devices("cuda")][:2]
queues = [(name, un.Queue(name, order=order)) for name in names for order in ("in", "in", "out")]
driver = driver_of_tests.find()
counted = ("allocations", "memory", "pinned", "events", "streams")


@un.jit
def smoothed(x):
    y = np.empty(x.shape[0])
    for i in un.prange(x.shape[0]):
        y[i] = 0.5 * x[i] + 0.25
    return y


def part(steps):
    arrays = []
    for _ in range(6):
        a = random.integers(0, 100, 500).astype(float)
        arrays.append([un.asarray(a, device=names[random.integers(len(names))]), a])
    for _ in range(steps):
        name, queue = queues[random.integers(len(queues))]
        mine = [p for p in arrays if p[0].device == name]
        what = random.integers(9)
        if not mine or what == 0:
            p = arrays[random.integers(len(arrays))]
            p[0] = p[0].to_device(name)
            continue
        p, q = mine[random.integers(len(mine))], mine[random.integers(len(mine))]
        k = int(random.integers(1, 400))
        with un.device(queue=queue):
            if what == 1:
                p[0], p[1] = p[0] * 0.5 + q[0], p[1] * 0.5 + q[1]
            elif what == 2:
                p[0][:k] = q[0][-k:] + 1
                p[1][:k] = q[1][-k:] + 1
            elif what == 3:
                p[0] -= p[0].min()
                p[1] = p[1] - p[1].min()
            elif what == 4:
                p[0], p[1] = un.sort(q[0]), np.sort(q[1])
            elif what == 5:
                queue.record()
            elif what == 6:
                queue.wait_for(queues[random.integers(len(queues))][1].record())
            elif what == 7:
                p[0], p[1] = smoothed(q[0]), 0.5 * q[1] + 0.25
            else:
                p[0][1:] = p[0][:-1] * 1.0
                p[1][1:] = p[1][:-1].copy()
    for x, a in arrays:
        np.testing.assert_array_equal(np.asarray(x.to_device("cpu")), a)


def settled():
    gc.collect()
    un.synchronize()
    for name in names:
        un.memory.trim(name)
    un.synchronize()
    return {what: driver.count(what) for what in counted}


part(min(steps, 2000))
before = settled()
for _ in range(max(1, steps // 2000)):
    part(2000)
after = settled()
print("violations", driver.count("violations"), driver.last_violation())
print("memory in use:", before, "then", after, file=sys.stderr)
for what in counted:
    assert after[what] <= before[what] * 1.5 + 64, (what, before, after)
"""


@needs_driver_of_tests
@pytest.mark.parametrize("seed", range(2))
def test_random_operations_on_queues_and_devices(tmp_path, seed):
    steps = int(os.environ.get("UNISONO_TEST_CUDA_STEPS", "2000"))
    program = f"import sys\nsys.argv = ['', '{steps}', '{seed}']\n" + RANDOM
    file = tmp_path / "random_operations.py"
    file.write_text(program)
    text = run(f"exec(compile(open({str(file)!r}).read(), {str(file)!r}, 'exec'))", devices=2)
    assert text == "violations 0 \n"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nextafter(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    values = np.array([0, -0.0, tiny, -tiny, 1, -1, 2.5, np.inf, -np.inf, np.nan, 1e-30], dtype)
    values = np.append(values, np.finfo(dtype).max)
    x, y = (part.ravel() for part in np.meshgrid(values, values))
    got = un.nextafter(un.asarray(x, device=NAMES[0]), un.asarray(y, device=NAMES[0]))
    with np.errstate(over="ignore", under="ignore"):
        assert host(got).tobytes() == np.nextafter(x, y).tobytes()


def test_positions_of_32_bits():
    """Elements are taken by them as they are, and tested on the way."""
    a, where = np.arange(100.0), np.arange(-100, 100, 3, "int32").reshape(1, -1)
    x, at = (un.asarray(v, device=NAMES[0]) for v in (a, where))
    before = un.stats()["kernels_launched"]
    got = x[at]
    assert un.stats()["kernels_launched"] == before  # none makes them wider
    np.testing.assert_array_equal(np.asarray(got), a[where])
    np.testing.assert_array_equal(np.asarray(x[::-2][at[:, 40:50]]), a[::-2][where[:, 40:50]])
    np.testing.assert_array_equal(np.asarray((x + 1j)[at]), (a + 1j)[where])
    for wrong in (100, -101):
        where[0, 7] = where[0, 50] = wrong
        with pytest.raises(
            IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 100"
        ):
            un.eval(x[un.asarray(where, device=NAMES[0])])
