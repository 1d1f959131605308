"""Launches on a device's queue: recorded, in order with array statements, run when a result is wanted."""

import gc
import re

import numpy as np
import pytest
import unisono as un

N = 2000


@pytest.fixture(
    params=[d for d in un.devices() if d.name.startswith(("opencl", "cuda"))] or [None], ids=str
)
def queue(request):
    """A device whose launches wait; nothing is pending."""
    if request.param is None:
        pytest.skip("no device with a queue")
    un.synchronize()
    yield request.param
    un.synchronize()


@un.kernel
def saxpy(a, x, y):
    i = un.global_id(0)
    y[i] = a * x[i] + y[i]


@un.kernel
def gather(a, k, out):
    i = un.global_id(0)
    out[i] = a[k[i]]


@un.jit
def total(a):
    s = 0.0
    for i in un.prange(a.shape[0]):
        s += a[i]
    return s


def pending():
    return un.stats()["pending_operations"]


def there(queue, *arrays):
    made = [un.asarray(np.array(a), device=queue) for a in arrays]
    un.synchronize()
    return made


def host(x):
    return np.asarray(x.to_device("cpu"))


def test_a_launch_behind_statements_waits_until_its_result_is_wanted(queue):
    x, y, z = there(queue, np.arange(float(N)), np.zeros(N), np.zeros(N))
    y += 1
    saxpy[N](2.0, x, y)
    assert pending() == 2
    z += 1
    assert pending() == 3
    np.testing.assert_array_equal(host(z), np.ones(N))
    assert pending() == 2, "z does not need the launch"
    np.testing.assert_array_equal(host(y), np.arange(N) * 2.0 + 1)
    assert pending() == 0


def test_a_launch_on_arrays_that_are_ready_starts_at_once(queue):
    """But where queues take segments of work for less."""
    x, y, z = there(queue, np.arange(float(N)), np.ones(N), np.zeros(N))
    waiting = int(queue.name.startswith("cuda"))
    z += 1
    for k in range(1, 4):
        saxpy[N](2.0, x, y)
        assert pending() == 1 + waiting * k, "z has nothing to do with it"
    with un.device(queue, queue=un.Queue(queue)):
        saxpy[N](1.0, x, y[::-1])
    y *= 2
    np.testing.assert_array_equal(host(y), (6.0 * np.arange(N) + 1 + np.arange(float(N))[::-1]) * 2)
    np.testing.assert_array_equal(host(z), np.ones(N))


def test_other_types_and_arrays_that_meet_are_compiled_anew(queue):
    """A launch like the one before goes another way than one that differs."""
    a = np.arange(float(N))
    x, y = there(queue, a, np.ones(N))
    saxpy[N](2.0, x, y)
    saxpy[N](2, x, y)
    saxpy[N](1.0, y, y)
    b = 2 * (4 * a + 1)
    saxpy[N // 2](1.0, x[::2], y[N // 2 :])
    b[N // 2 :] += a[::2]
    np.testing.assert_array_equal(host(y), b)
    (z,) = there(queue, np.ones(N, np.float32))
    saxpy[N](1.0, z, y)
    np.testing.assert_array_equal(host(y), b + 1)
    with pytest.raises(TypeError):
        saxpy[N](1.0, x)
    other = un.asarray(a)
    with pytest.raises(un.DeviceError, match="one device"):
        saxpy[N](1.0, other.to_device("cpu") + 0, y)
        host(y)


def test_launches_and_statements_are_in_order(queue):
    a, b = np.arange(float(N)), np.ones(N)
    x, y = there(queue, a, b)
    for k in range(5):
        saxpy[N](float(k), x, y)
        b = k * a + b
        late, want = y * 3, b * 3
        x -= 1
        a = a - 1
        saxpy[N](1.0, y[::-1], x)
        a = b[::-1] + a
    np.testing.assert_array_equal(host(late), want)
    np.testing.assert_array_equal(host(x), a)
    np.testing.assert_array_equal(host(y), b)


def test_operands_of_one_memory(queue):
    a = np.arange(float(N))
    (x,) = there(queue, a)
    saxpy[N // 2](1.0, x[N // 2 :], x[: N // 2])
    x *= 2
    a[: N // 2] += a[N // 2 :]
    np.testing.assert_array_equal(host(x), a * 2)


FACTOR = 2.0


def test_numbers_and_names_are_those_of_the_call(queue):
    global FACTOR

    @un.kernel
    def scale(k, x):
        i = un.global_id(0)
        x[i] = x[i] * k * FACTOR

    (x,) = there(queue, np.zeros(N))
    x += 1
    k = 3.0
    FACTOR = 2.0
    scale[N](k, x)
    k = FACTOR = 100.0
    assert pending() == 2 and k
    np.testing.assert_array_equal(host(x), np.full(N, 6.0))


def test_operands_live_until_the_launch_ran(queue):
    x, y = there(queue, np.arange(float(N)), np.ones(N))
    half = x[::2]
    saxpy[N // 2](1.0, half, y)
    del x, half
    gc.collect()
    filler = [un.zeros(N, device=queue) + 1 for _ in range(20)]
    un.eval(*filler)
    want = np.ones(N)
    want[: N // 2] += np.arange(0.0, N, 2)
    np.testing.assert_array_equal(host(y), want)


def test_a_kernel_that_is_gone_still_runs(queue):
    (x,) = there(queue, np.zeros(N))
    x += 1

    def launch():
        @un.kernel
        def add_one(x):
            i = un.global_id(0)
            x[i] = x[i] + 1

        add_one[N](x)

    launch()
    gc.collect()
    assert pending() == 2
    np.testing.assert_array_equal(host(x), np.full(N, 2.0))


def test_functions_with_results_complete(queue):
    x, y = there(queue, np.ones(N), np.ones(N))
    saxpy[N](1.0, x, y)
    other = x * 2
    assert total(y) == 2 * N
    assert pending() == 1
    np.testing.assert_array_equal(host(other), np.full(N, 2.0))


def faulty(queue):
    """Arrays that a launch reads, one that it should have written, and one that it does not touch."""
    a, k, out, w = there(queue, np.arange(4.0), np.array([0, 9, 1]), np.zeros(3), np.ones(3))
    gather[3](a, k, out)
    return out, w


MESSAGE = "index 9 is out of bounds for axis 0 with size 4"


def check_notes(error):
    notes = "\n".join(error.__notes__)
    assert "in compiled function gather: " in notes and "out[i] = a[k[i]]" in notes
    assert re.search(r"recorded at \S*test_launches.py:\d+", notes)


def test_a_fault_shows_where_its_result_is_read(queue):
    out, w = faulty(queue)
    later = out + 1
    w += 1
    np.testing.assert_array_equal(host(w), [2, 2, 2])
    for _ in range(2):
        with pytest.raises(IndexError, match=MESSAGE) as caught:
            host(out)
        check_notes(caught.value)
    with pytest.raises(IndexError, match=MESSAGE):
        host(later)
    with pytest.raises(IndexError, match=MESSAGE):
        saxpy[3](1.0, w, out)
        host(out)


def test_a_fault_shows_at_synchronize(queue):
    out, w = faulty(queue)
    with pytest.raises(IndexError, match=MESSAGE) as caught:
        un.synchronize()
    check_notes(caught.value)
    un.synchronize()
    with pytest.raises(IndexError, match=MESSAGE):
        host(out)
    np.testing.assert_array_equal(host(w), [1, 1, 1])


def test_a_fault_shows_whoever_uses_the_result(queue):
    out, w = faulty(queue)
    del out
    gc.collect()
    for _ in range(40):
        w = w + 1
    del w
    with pytest.raises(IndexError, match=MESSAGE):
        un.synchronize()


def test_exceptions_of_the_kernel_keep_their_class(queue):
    @un.kernel
    def check(x):
        i = un.global_id(0)
        if x[i] > 1:
            raise KeyError("large")
        x[i] = 0.0

    (x,) = there(queue, np.full(4, 2.0))
    check[4](x)
    with pytest.raises(KeyError, match="large"):
        host(x)


def test_what_is_wrong_with_a_call_is_raised_there(queue):
    x, y = there(queue, np.ones(N), np.ones(N))
    with pytest.raises(ValueError, match="multiple of the local size"):
        saxpy[60, 16](1.0, x, y)
    with pytest.raises(ValueError, match="got 1048576"):
        saxpy[2**20, 2**20](1.0, x, y)
    with pytest.raises(TypeError):
        saxpy[N]("text", x, y)
    with pytest.raises(un.DeviceError, match="one device"):
        saxpy[N](1.0, un.asarray(np.ones(N)), y)
    assert pending() == 0
    np.testing.assert_array_equal(host(y), np.ones(N))


def test_eager_mode_launches_at_once(queue):
    x, y = there(queue, np.ones(N), np.ones(N))
    with un.eager():
        saxpy[N](1.0, x, y)
        assert pending() == 0
        a, k, out = there(queue, np.arange(4.0), np.array([0, 9, 1]), np.zeros(3))
        with pytest.raises(IndexError, match=MESSAGE):
            gather[3](a, k, out)


def test_many_launches_are_cut(queue):
    x, y = there(queue, np.ones(N), np.zeros(N))
    most = 0
    for _ in range(1000):
        saxpy[N](1.0, x, y)
        most = max(most, pending())
    assert most <= 512
    np.testing.assert_array_equal(host(y), np.full(N, 1000.0))


def shown(x):
    """An explanation without places, code and what ran before."""
    text = re.sub(r"py:\d+", "py:L", un.explain(x)).partition("recent evaluations")[0]
    return [line for line in text.splitlines() if re.match(r"\w|  (lines|writes)", line)]


def test_explain_shows_launches_between_statements(queue):
    x, y = there(queue, np.ones(N), np.ones(N))
    y += 1
    saxpy[N](2.0, x, y)
    z = y * 3
    saxpy[N](1.0, z, x)
    x += 1
    assert shown(x) == [
        "5 pending operations",
        f"kernel 1 over ({N},): 1 operations fused, reads {8 * N} bytes in 1 views, writes {8 * N} bytes",
        "  lines: test_launches.py:L",
        "kernel 2: launch saxpy of array 2, kernel 1",
        "  writes: array 1",
        "  lines: test_launches.py:L",
        f"kernel 3 over ({N},): 1 operations fused, reads {8 * N} bytes in 1 views, writes {8 * N} bytes",
        "  lines: test_launches.py:L",
        "kernel 4: launch saxpy of kernel 3, array 2",
        "  writes: array 2",
        "  lines: test_launches.py:L",
        f"kernel 5 over ({N},): 1 operations fused, reads {8 * N} bytes in 1 views, writes {8 * N} bytes",
        "  lines: test_launches.py:L",
    ]
    un.eval(x)
    text = shown(x)
    assert (
        "kernel 2: launch saxpy of array 2, kernel 1" in text
        and "kernel 4: launch saxpy of kernel 3, array 2" in text
    )
    assert un.flush_log()[-1]["calls"] == ["launch saxpy", "launch saxpy"]
    assert ["kernel 2", "kernel 3"] in [
        list(e) for e in re.findall(r'"(\w+ \d+)" -> "(\w+ \d+)"', un.explain(x).to_dot())
    ]
