"""Copies between devices are entries of the tape; devices compute while threads of the host go on."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import unisono as un

SAFETY_NET = 300  # seconds; what hangs would hang for ever


def host(x):
    return np.asarray(x.to_device("cpu"))


def test_transfers_are_recorded_in_the_order_of_their_effects(device):
    if device == "cpu":
        pytest.skip("copies nothing")
    un.synchronize()  # what earlier tests left pending would be evaluated at some statement
    x = un.arange(1000) * 1.0
    before = un.stats()
    there = x.to_device(device)
    x[:] = 7
    back = there.to_device("cpu")
    there += 1
    again = there.to_device("cpu")
    assert un.stats()["flushes"] == before["flushes"]
    assert un.stats()["bytes_copied"] == before["bytes_copied"]
    assert "transfer" in str(un.explain(back))
    np.testing.assert_array_equal(np.asarray(back), np.arange(1000.0))
    np.testing.assert_array_equal(np.asarray(again), np.arange(1000.0) + 1)
    np.testing.assert_array_equal(np.asarray(x), np.full(1000, 7.0))


def test_a_transfer_of_shared_memory_sees_it_as_it_was(device):
    if device == "cpu":
        pytest.skip("copies nothing")
    n = np.arange(1000.0)
    there = un.from_dlpack(n).to_device(device)
    n[:] = 7
    np.testing.assert_array_equal(host(there), np.arange(1000.0))


def test_threads_launch_one_function_at_the_same_time(device):
    @un.jit
    def gather(a, k, out):
        for i in un.prange(out.shape[0]):
            out[i] = a[k[i]]

    k = np.arange(2000) % 100
    a = un.asarray(np.arange(100.0), device=device)
    good = un.asarray(k, device=device)
    bad = un.asarray(np.where(np.arange(2000) == 1500, 100, k), device=device)
    failures = []

    def work(number):
        try:
            for _ in range(20):
                out = un.zeros(2000, device=device)
                if number % 2:
                    with pytest.raises(IndexError, match="index 100 is out of bounds"):
                        gather(a, bad, out)
                        un.eval(out)
                else:
                    gather(a, good, out)
                    np.testing.assert_array_equal(host(out), k)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


@un.jit
def scaled(a, b, out):
    for i in un.prange(a.shape[0]):
        out[i] = a[i] * 2 + b[i]


@un.kernel
def added(a, b, out):
    i = un.global_id(0)
    out[i] = a[i] + b[i]


@un.vectorize
def mixed(a, b):
    return a if a > b else b - a


@un.stencil
def smoothed(a):
    return 0.5 * (a[-1] + a[1])


CALLS_ON_RESIDENT_DATA = {
    "statements": lambda x, y, out: x[1:] * y[:-1] + 2,
    "jit": lambda x, y, out: scaled(x, y, out),
    "kernel": lambda x, y, out: added[x.size](x, y, out),
    "vectorize": lambda x, y, out: mixed(x, y),
    "stencil": lambda x, y, out: smoothed(x),
    "in place": lambda x, y, out: out.__setitem__(slice(None, None, 2), x[1::2] * y[::2]),
    "ordering": lambda x, y, out: (un.sort(x), un.argsort(y), un.cumsum(x)),
    "products": lambda x, y, out: x.reshape(50, -1) @ y.reshape(-1, 50),
    "reductions": lambda x, y, out: (x.reshape(50, -1).sum(axis=0), y.reshape(50, -1).max(axis=1)),
    "transforms": lambda x, y, out: un.fft.fft(x),
}


@pytest.mark.parametrize("name", CALLS_ON_RESIDENT_DATA)
def test_repeated_calls_on_resident_data_copy_nothing(device, name):
    call, rng = CALLS_ON_RESIDENT_DATA[name], np.random.default_rng(1)
    x, y, out = (un.asarray(rng.random(2000), device=device) for _ in range(3))

    def computed():
        made = call(x, y, out)
        un.eval(out, *(made if isinstance(made, tuple) else () if made is None else (made,)))
        un.synchronize()

    computed()  # compiles, and brings what it compiles from
    before = un.stats()["bytes_copied"]
    for _ in range(3):
        computed()
    assert un.stats()["bytes_copied"] == before


FORK = """
import os, signal, sys
import numpy as np
import unisono as un

device = sys.argv[1]
x = un.arange(1000).to_device(device) + 1
on_host = un.arange(1000) * 2
un.eval(x, on_host)
kept = x * 2

def child():
    signal.alarm(60)
    un.eval()
    un.synchronize()
    un.eval(un.arange(10) + 1)
    if int((on_host + 1).sum()) != 1000 * 999 + 1000:
        return 3
    for use in (lambda: np.asarray(x.to_device("cpu")), lambda: un.eval(kept), lambda: un.eval(x + 1),
                lambda: un.eval(un.ones(10, device=device))):
        try:
            use()
            return 4
        except un.DeviceError as error:
            if "child of fork" not in str(error):
                return 5
    return 0

pid = os.fork()
if pid == 0:
    code = 2
    try:
        code = child()
    finally:
        sys.stdout.flush()
        os._exit(code)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == 0, status
assert int(np.asarray(kept.to_device("cpu"))[-1]) == 2000
print("done")
"""


def test_a_child_of_fork_says_that_devices_do_not_work(device):
    if device == "cpu":
        pytest.skip("no driver")
    run = subprocess.run(
        [sys.executable, "-c", FORK, str(device)],
        capture_output=True,
        text=True,
        timeout=SAFETY_NET,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "done"
