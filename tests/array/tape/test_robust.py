"""Limits, threads, forks and signals: programs go on, arrays stay consistent."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import unisono as un


def test_program_goes_on_after_the_memory_limit():
    before = un._engine._memory_limit()
    a = un.ones(100_000)
    un.eval()
    un._engine._set_memory_limit(un.stats()["bytes_in_use"] + 1_000_000)
    try:
        with pytest.raises(MemoryError):
            un.eval(un.ones(1_000_000))
        b = a + 1
        assert float(b.sum()) == 200_000
    finally:
        un._engine._set_memory_limit(before)
    assert float((a * 3).sum()) == 300_000


def test_threads_record_and_read_at_once():
    shared = un.arange(100_000) * 1.0
    failures = []

    def work(number):
        try:
            for k in range(15):
                own = shared * number + k
                own[1:] += own[:-1]
                expected = np.arange(100_000.0) * number + k
                expected[1:] += expected[:-1].copy()
                assert np.array_equal(np.asarray(own), expected)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


def test_fork_after_use():
    a = un.arange(500_000) * 1.0
    assert float(a.sum()) > 0
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(60)
            code = 0 if float((a + 1).max()) == 500_000 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


PROGRAM_WITH_A_HANDLER = """
import signal, unisono as un
b, seen = un.ones(100_000), []
signal.signal(signal.SIGALRM, lambda *_: seen.append(float((b + 1).sum())))
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
a = un.zeros(400_000)
while len(seen) < 20:
    for _ in range(10):
        a[1:] += a[:-1]
        a += 1
    un.eval(a)
signal.setitimer(signal.ITIMER_REAL, 0)
assert set(seen) == {200_000.0}
"""


def test_signal_handlers_may_use_arrays():
    subprocess.run([sys.executable, "-c", PROGRAM_WITH_A_HANDLER], check=True, timeout=60)


PROGRAM_THAT_IS_INTERRUPTED = """
import os, signal, threading, numpy as np, unisono as un
a = un.zeros(400_000)
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        for _ in range(40):
            a[1:] += 1
            a[:-1] += 1
        un.eval(a)
except KeyboardInterrupt:
    pass
values = np.asarray(a)[1:-1]
assert values.min() == values.max()
"""


def test_ctrl_c_in_a_long_sweep_leaves_arrays_consistent():
    subprocess.run([sys.executable, "-c", PROGRAM_THAT_IS_INTERRUPTED], check=True, timeout=60)


PROGRAM_THAT_IS_INTERRUPTED_IN_A_CALL = """
import os, signal, threading, numpy as np, unisono as un
n = 4_000_000
while True:
    x = un.random.default_rng(1).random(n)
    un.eval(x)
    y = getattr(un, NAME)(x) if NAME != "fft" else un.fft.fft(x)
    before = un.stats()["pending_operations"]
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        un.eval(y)
        while True:
            pass
    except KeyboardInterrupt:
        if un.stats()["pending_operations"] == before:
            break  # the call gave up, and can begin again
    n *= 2  # it had ended before
host = np.asarray(x)
assert np.array_equal(un.sort(y), np.sort(host)) if NAME == "sort" else np.allclose(y, np.fft.fft(host))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fft", "sort"])
def test_ctrl_c_ends_a_long_library_call(name):
    program = f"NAME = {name!r}\n" + PROGRAM_THAT_IS_INTERRUPTED_IN_A_CALL
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


PROGRAM_THAT_IS_INTERRUPTED_IN_A_ROUTINE = """
import os, signal, sys, threading, numpy as np, unisono as un
routine(un, un.eye(4))  # finds the library
while True:
    host = np.random.default_rng(1).random((n, n))
    host = host @ host.T + n * np.eye(n)
    x = un.asarray(host.copy())
    in_use = un.memory.stats()["in_use"]
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        un.eval(routine(un, x))
        while True:
            pass
    except KeyboardInterrupt as error:
        if "the result of the routine is dropped" in str(error):
            break
    n += n // 2  # the routine had ended before
x[0, 0] += 1  # the abandoned routine reads its own copy
host[0, 0] += 1
assert np.allclose(routine(un, x), routine(np, host))
while un.memory.stats()["in_use"] > in_use:
    pass  # until the routine has ended
threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    un.eval(routine(un, x))
    while True:
        pass
except KeyboardInterrupt:
    sys.exit(3)  # beside the routine
"""

ROUTINES = {
    "svd": ("lambda xp, x: xp.linalg.svd(x, compute_uv=False)", 900),
    "eigh": ("lambda xp, x: xp.linalg.eigh(x)[0]", 900),
    "eigvals": ("lambda xp, x: xp.sort(xp.linalg.eigvals(x))", 900),
    "qr": ("lambda xp, x: abs(xp.linalg.qr(x)[1])", 1100),
    "lstsq": ("lambda xp, x: xp.linalg.lstsq(x, x[:, 0], rcond=None)[0]", 700),
    "solve": ("lambda xp, x: xp.linalg.solve(x, x[0])", 1700),
    "cholesky": ("lambda xp, x: xp.linalg.cholesky(x)", 1700),
    "inv": ("lambda xp, x: xp.linalg.inv(x)", 1200),
    "slogdet": ("lambda xp, x: xp.linalg.slogdet(x)[1]", 1700),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ROUTINES)
def test_ctrl_c_ends_one_routine_of_linear_algebra(name):
    routine, n = ROUTINES[name]
    program = f"n = {n}\nroutine = {routine}\n" + PROGRAM_THAT_IS_INTERRUPTED_IN_A_ROUTINE
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 3


def test_memory_limit_pool_and_counters():
    before = un.memory.stats()
    a = un.ones(1 << 18)
    un.eval(a)
    assert un.memory.stats()["in_use"] >= before["in_use"] + a.nbytes
    del a
    assert un.memory.stats()["cached"] > 0
    un.memory.trim()
    assert un.memory.stats()["cached"] == 0
    try:
        un.memory.set_limit(un.memory.stats()["in_use"] + 10**6)
        with pytest.raises(MemoryError, match="limit"):
            un.eval(un.ones(10**6))
    finally:
        un.memory.set_limit(None)
    assert un.memory.stats()["limit"] == before["limit"]
    for wrong, error in ((0, ValueError), (-5, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="set_limit"):
            un.memory.set_limit(wrong)
