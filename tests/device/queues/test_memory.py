"""Memory of devices: reuse, limits, statistics, and what holds it."""

import gc
import inspect

import numpy as np
import pytest
import unisono as un
from device_arrays import with_queues

NAMES = with_queues()

pytestmark = pytest.mark.skipif(not NAMES, reason="no device with queues")
MB = 10**6


@pytest.fixture(params=NAMES)
def name(request):
    gc.collect()
    un.synchronize()
    un.memory.trim(request.param)
    yield request.param
    un.memory.set_limit(None, request.param)
    un.memory.trim(request.param)


def host(x):
    return np.asarray(x.to_device("cpu"))


def computed(x):
    un.eval(x)
    return x


def made(name, bytes):
    return computed(un.ones(bytes // 8, device=name))


def test_statistics_follow_arrays(name):
    before = un.memory.stats(name)
    x = made(name, 8 * MB)
    during = un.memory.stats(name)
    assert during["in_use"] == before["in_use"] + 8 * MB
    assert during["peak"] >= during["in_use"]
    assert during["total_allocated"] >= before["total_allocated"] + 8 * MB
    del x
    after = un.memory.stats(name)
    assert after["in_use"] == before["in_use"]
    assert after["cached"] == before["cached"] + 8 * MB
    un.memory.trim(name)
    assert un.memory.stats(name)["cached"] == 0


def test_freed_memory_is_taken_again(name):
    x = made(name, 8 * MB)
    before = un.memory.stats(name)["total_allocated"]
    for _ in range(20):
        x = computed(x * 0.5 + 1)
    assert un.memory.stats(name)["total_allocated"] - before <= 2 * 8 * MB
    assert (host(x)[:3] == host(x)[-3:]).all()


@pytest.mark.parametrize("order", ["in", "out"])
def test_memory_comes_back_behind_the_work_of_other_queues(name, order):
    queues = [un.Queue(name, order=order) for _ in range(3)]
    n = 300_000
    totals = []
    for step in range(60):
        with un.device(name, queue=queues[step % 3]):
            x = un.arange(n) + step
            y = x * 2
            for _ in range(3):
                y = y + 1
            totals.append(y)
            un.eval(y)
        if len(totals) > 4:
            got = host(totals.pop(0))
            k = step - 4
            assert got[0] == 2 * k + 3 and got[-1] == 2 * (n - 1 + k) + 3
    del x, y


def test_a_limit_names_what_holds_the_memory(name):
    un.memory.set_limit(un.memory.stats(name)["in_use"] + 20 * MB, name)
    line = inspect.currentframe().f_lineno + 1
    kept = computed(un.ones(MB, device=name) + 1)
    more = computed(un.zeros(MB, device=name))
    with pytest.raises(MemoryError) as caught:
        computed(un.ones(MB, device=name) * 3)
    text = str(caught.value)
    assert "an array of 7.6 MiB does not fit" in text and "; limit " not in text
    assert f"{__file__}:{line}" in text and "held by 7.6 MiB written at " in text
    # Nothing is lost, and there is room again.
    del more
    assert host(un.ones(MB, device=name) * 3)[0] == 3
    assert host(kept)[0] == 2
    rows = un.memory.holders(name)
    assert {"bytes": 8 * MB, "file": __file__, "line": line} in rows
    assert [r["bytes"] for r in rows] == sorted((r["bytes"] for r in rows), reverse=True)


def test_an_array_beyond_the_limit_is_refused_when_it_is_made(name):
    un.memory.set_limit(MB, name)
    with pytest.raises(MemoryError, match="does not fit in the limit of 1 MiB|limit of 0.9 MiB"):
        un.zeros(10**6, device=name)


def test_kept_memory_is_given_back_before_an_error(name):
    un.memory.set_limit(un.memory.stats(name)["in_use"] + 20 * MB, name)
    x = made(name, 4 * MB)
    del x
    assert un.memory.stats(name)["cached"] == 4 * MB
    y = made(name, 18 * MB)  # more than there is beside what is kept
    assert un.memory.stats(name)["cached"] == 0
    assert host(y)[-1] == 1


@pytest.mark.parametrize("function", [un.memory.stats, un.memory.trim, un.memory.holders])
def test_unknown_devices_are_named(function):
    with pytest.raises(un.DeviceError, match="there is no device 'nowhere'"):
        function("nowhere")


def test_limits_are_checked(name):
    with pytest.raises(ValueError, match="the limit is not positive; got -1"):
        un.memory.set_limit(-1, name)
    with pytest.raises(TypeError, match="the limit is not a whole number; got 1.5"):
        un.memory.set_limit(1.5, name)
    with pytest.raises(ValueError, match="the host's arrays do not tell"):
        un.memory.holders("cpu")


def test_a_hundred_thousand_temporaries_leave_memory_flat(name):
    x = made(name, 800)
    un.synchronize()
    before = un.memory.stats(name)
    for _ in range(100_000 // 4):
        y = x + 1
        y = y * 2
        z = y - x
        x = computed(z * 0.25)
    un.synchronize()
    after = un.memory.stats(name)
    assert after["in_use"] <= before["in_use"] + 3 * 800
    assert after["in_use"] + after["cached"] <= before["in_use"] + before["cached"] + MB


def test_holders_tell_what_arrays_need_whatever_their_block_has(name):
    x = made(name, 12_000)
    del x
    y = made(name, 8_000)  # takes the block of 12 000 bytes
    assert un.memory.stats(name)["cached"] == 0
    assert 8_000 in [row["bytes"] for row in un.memory.holders(name)]
    assert host(y)[-1] == 1
