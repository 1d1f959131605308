"""Limits, threads, forks and signals: programs go on, arrays stay consistent."""

import os
import signal
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


def test_a_signal_during_a_long_sweep_leaves_arrays_consistent():
    def interrupt(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    a = un.zeros(400_000)
    steps = 0
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            while True:
                for _ in range(20):
                    a += 1
                un.eval(a)
                steps += 20
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    values = np.asarray(a)
    assert values.min() == values.max() and values[0] >= steps
