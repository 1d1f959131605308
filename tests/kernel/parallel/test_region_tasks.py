"""Tasks in parallel regions."""

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def test_threads_take_tasks_in_turn(on):
    @un.jit(device=on)
    def f(a, out, who):
        with un.parallel(3):
            scale = un.thread_id() + 1.0
            with un.tasks():
                k = 0
                while k < len(a):
                    if a[k] > 0:
                        with un.task():
                            out[k] = a[k] * 2
                            who[k] = scale
                    k += 1
            who[len(a) + un.thread_id()] = out.sum()

    a = np.array([1.0, -1.0, 2.0, 3.0, -1.0, 4.0, 5.0])
    out, who = np.zeros(7), np.zeros(10)
    f(a, out, who)
    assert out.tolist() == [2.0, 0.0, 4.0, 6.0, 0.0, 8.0, 10.0]
    assert who.tolist() == [1.0, 0.0, 2.0, 3.0, 0.0, 1.0, 2.0, 30.0, 30.0, 30.0]


def test_tasks_under_a_serial_loop(on):
    @un.jit(device=on)
    def f(u, made, steps):
        with un.parallel(4):
            for step in range(steps):
                with un.tasks():
                    for k in range(len(u)):
                        made[0] += 1
                        with un.task():
                            u[k] = u[k] * 2 + step
                for i in un.prange(len(u)):
                    u[i] += 1

    u, want = np.arange(5.0), np.arange(5.0)
    for step in range(3):
        want = want * 2 + step + 1
    made = np.zeros(1)
    f(u, made, 3)
    assert made[0] == 15
    assert u.tolist() == want.tolist()


def test_two_kinds_of_tasks_and_reductions(on):
    @un.jit(device=on)
    def f(a, out):
        total = 0.0
        with un.parallel(2):
            total += 1.0
            with un.tasks():
                with un.task():
                    out[0] = a.min()
                with un.task():
                    out[1] = a.max()
        return total

    out = np.zeros(2)
    assert f(np.arange(5.0), out) == 2.0
    assert out.tolist() == [0.0, 4.0]


def test_the_lowest_of_a_threads_tasks_fails(on):
    @un.jit(device=on)
    def f(out):
        with un.parallel(1):
            with un.tasks():
                for k in range(len(out)):
                    with un.task():
                        if k >= 3:
                            raise ValueError(f"task {k}")
                        out[k] = 1.0

    out = np.zeros(6)
    with pytest.raises(ValueError, match="task 3"):
        f(out)
    assert out.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


WRONG = {
    "for all threads|the same for all": """
def f(a):
    with un.parallel(2):
        if un.thread_id() == 0:
            with un.tasks():
                with un.task():
                    a[0] = 1.0
""",
    "each thread of the region and by a block of tasks": """
def f(a):
    with un.parallel(2):
        k = 1
        with un.tasks():
            k = 2
            with un.task():
                a[0] = k
""",
    "is assigned by a block of tasks.. in a loop": """
def f(a):
    made = 0
    with un.parallel(2):
        for step in range(3):
            with un.tasks():
                made += 1
                with un.task():
                    a[0] = 1.0
    return made
""",
    "not every thread of the region may reach": """
def f(a):
    with un.parallel(2):
        while a[0] < 1:
            with un.tasks():
                with un.task():
                    a[0] = 1.0
""",
    "prange among the statements of tasks": """
def f(a):
    with un.parallel(2):
        with un.tasks():
            for i in un.prange(2):
                a[i] = i
            with un.task():
                a[0] = 1.0
""",
    "is private to each thread of the region|each thread of the region has its own": """
def f(a):
    with un.parallel(2):
        n = un.thread_id()
        with un.tasks():
            for k in range(n):
                with un.task():
                    a[k] = 1.0
""",
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_tasks_in_regions(message, on, tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text("import unisono as un\n" + WRONG[message])
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    with pytest.raises(un.CompileError, match=message):
        un.jit(scope["f"], device=on)(np.zeros(3))
