"""Launches of compiled functions as entries of the tape: what runs before them, what stays pending, what explains them."""

import os
import re
import threading

import numpy as np
import pytest
import unisono as un
from launch_functions import compiled

N = 3000  # elements: statements on so many are recorded


@un.jit
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@un.jit
def scale(a, k):
    for i in range(a.shape[0]):
        a[i] *= k


@un.jit
def copy_into(a, out):
    for i in range(out.shape[0]):
        out[i] = a[i]


@un.jit
def length(a):
    return a.shape[0]


@un.jit
def doubled(a):
    return a * 2


@un.jit
def write_and_fail(a, k):
    for i in range(k):
        a[i] = -1.0
    raise ValueError("on purpose")


def pending():
    return un.stats()["pending_operations"]


@pytest.fixture(autouse=True)
def nothing_pending():
    un.synchronize()
    yield
    un.synchronize()


def ramp(scale=1.0):
    return un.asarray(np.arange(float(N)) * scale)


def test_a_launch_runs_only_what_its_operands_need():
    x, y = ramp() + 1, ramp(2) * 3
    before = pending()
    assert total(x) == N * (N + 1) / 2
    assert pending() == before - 1
    np.testing.assert_array_equal(np.asarray(y), np.arange(N) * 6.0)


def test_all_operands_take_one_flush():
    x, y = ramp() + 1, ramp() * 2
    un.eval(out := un.zeros(N))
    flushes = un.stats()["flushes"]

    @un.jit
    def add(a, b, out):
        for i in range(out.shape[0]):
            out[i] = a[i] + b[i]

    add(x, y, out)
    assert un.stats()["flushes"] == flushes + 1
    np.testing.assert_array_equal(np.asarray(out), np.arange(N) * 3.0 + 1)


def test_what_reads_an_operand_runs_first_only_where_it_is_written():
    x = ramp()
    later = x * 5
    before = pending()
    assert total(x) == N * (N - 1) / 2
    assert pending() == before, "a launch that only reads x leaves what reads x pending"
    scale(x, 2.0)
    assert pending() == 0
    np.testing.assert_array_equal(np.asarray(later), np.arange(N) * 5.0)
    np.testing.assert_array_equal(np.asarray(x), np.arange(N) * 2.0)


def test_an_operand_that_is_only_measured_stays_pending():
    x = ramp() + 1
    assert length(x) == N and pending() > 0


def test_a_written_operand_keeps_what_is_pending_on_it():
    """A launch may write a part only."""
    x = ramp()
    x[10:] = 7
    copy_into(ramp(3)[:5], x[:5])
    want = np.arange(float(N))
    want[10:] = 7
    want[:5] = np.arange(5) * 3
    np.testing.assert_array_equal(np.asarray(x), want)


def test_operands_that_share_memory():
    x = ramp()
    late = x[::-1] + 0
    copy_into(x[1:], x[:-1])
    np.testing.assert_array_equal(np.asarray(x), np.append(np.arange(1.0, N), N - 1))
    np.testing.assert_array_equal(np.asarray(late), np.arange(N)[::-1])


def test_the_same_operand_twice_while_it_is_pending():
    x = ramp() + 1
    for _ in range(3):
        copy_into(x, x)
        x = x + 1
    np.testing.assert_array_equal(np.asarray(x), np.arange(N) + 4.0)


def test_an_error_of_the_function_poisons_nothing():
    x = ramp() + 1
    other = x * 2
    with pytest.raises(ValueError, match="on purpose"):
        write_and_fail(x, 4)
    want = np.arange(N) + 1.0
    np.testing.assert_array_equal(np.asarray(other), want * 2)
    want[:4] = -1
    np.testing.assert_array_equal(np.asarray(x), want)
    scale(x, 1.0)


def test_a_poisoned_operand_is_refused_and_others_are_not():
    @un.vectorize
    def checked(v):
        if v > 100:
            raise ValueError("too large")
        return v

    x = ramp()
    with pytest.raises(ValueError, match="too large"):
        checked(x)
        un.synchronize()
    assert total(x) == N * (N - 1) / 2


def test_the_log_counts_launches():
    x = ramp() + 1
    total(x)
    row = un.flush_log()[-1]
    assert row["calls"] == ["launch total"] and row["kernels"] == 1, (
        "what it waits for shares its row"
    )
    assert row["operations"] == 2 and row["bytes"] == 3 * 8 * N and row["file"] == __file__
    assert row["reason"] == "a compiled function takes the array"
    ready = len(un.flush_log()), un.flush_log()[-1]
    total(x)
    assert (len(un.flush_log()), un.flush_log()[-1]) == ready, "nothing had to run before it"


def names(text):
    return re.sub(r"line \d+ of [^\s,;]+", "line L", re.sub(r"py:\d+", "py:L", text))


def test_explain_names_the_launch_that_wrote_an_array():
    x = ramp() + 1
    scale(x, 2.0)
    text = names(un.explain(x))
    assert text.splitlines()[:2] == [
        "computed: nothing is pending",
        f"written last by a launch of scale (test_launches.py:L): read 1 array, wrote 1 array, {16 * N} bytes, at line L",
    ]
    assert text.partition("newest first:\n")[2].startswith(
        f"  launch of scale (test_launches.py:L): read 1 array, wrote 1 array, {16 * N} bytes, at line L; before it: "
        "a compiled function takes the array: 1 operations in 1 kernels, "
    )
    scale(x, 2.0)
    text = names(un.explain(x))
    assert text.splitlines()[1] == (
        "written last by a launch of scale (test_launches.py:L), for which nothing had to run"
    )
    total(x)
    assert names(un.explain(x)) == text, "it only read"
    x += 1
    un.eval(x)
    assert "launch of scale (" not in un.explain(x).partition("recent")[0]


def test_explain_names_the_launch_that_made_an_array():
    y = doubled(ramp() + 1)
    assert "written last by a launch of doubled (" in un.explain(y)
    z = doubled(y)
    assert "for which nothing had to run" in un.explain(z)


def test_explain_shows_launches_between_statements():
    x = ramp() + 1
    scale(x, 2.0)
    y = x * 3
    text = names(un.explain(y))
    assert text.startswith("1 pending operations\nkernel 1 over (3000,): 1 operations fused")
    assert (
        "\narray 1 was written last by a launch of scale (test_launches.py:L): read 1 array, wrote 1 array, "
        f"{16 * N} bytes, at line L\n" in text
    )


def test_a_finished_plan_names_its_calls():
    x = un.sort(ramp(-1) + 1)
    un.eval(x)
    assert re.search(r"(?m)^kernel \d+: sort of kernel 1$", un.explain(x))
    assert any("sort" in row["calls"] for row in un.flush_log())


def test_bound_calls_wait_for_what_is_pending():
    c = un.c_module("""
        double first(const double* x) { return x[0]; }
        void put(double* x, double v) { x[0] = v; }
    """)
    x = ramp()
    first, put = c.first.bind(x), c.put.bind(x)
    assert first() == 0 and first() == 0
    x += 5
    late = x * 2
    assert first() == 5
    put(7.0)
    put(8.0)
    assert float(late[0]) == 10 and float(x[0]) == 8
    x += 1
    late = x * 2
    put(3.0)
    assert float(late[0]) == 18 and first() == 3


def test_c_functions_that_write_come_in_order():
    c = un.c_module("double put(double* x, double v) { double old = x[0]; x[0] = v; return old; }")

    @un.jit
    def both(x):
        return x[0] + 10 * c.put(x, 5.0) + 100 * x[0]

    x = un.asarray(np.array([2.0, 0.0]))
    assert both(x) == 2 + 20 + 500
    y = ramp() + 1
    late = y * 2
    assert c.put(y, 9.0) == 1
    assert float(late[0]) == 2 and float(y[0]) == 9


def test_threads_that_launch_while_others_flush():
    errors = []

    def work(k):
        try:
            for i in range(30):
                x = un.ones(40000) * (k + 1)
                y = x + i
                scale(y, 2.0)
                late = y * 2
                assert total(y) == 40000 * 2 * (k + 1 + i)
                scale(y, 0.0)
                assert float(late[-1]) == 4 * (k + 1 + i)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_fork_launches_on_what_was_pending():
    x = ramp() + 1
    y = x * 2
    child = os.fork()
    if child == 0:
        try:
            scale(x, 2.0)
            ok = total(x) == N * (N + 1) and float(y[0]) == 2
            os._exit(0 if ok else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    scale(x, 3.0)
    assert float(y[0]) == 2 and float(x[0]) == 3


@pytest.mark.parametrize(
    "f, g", compiled(), ids=lambda f: f.__name__ if not isinstance(f, un.Dispatcher) else ""
)
@pytest.mark.parametrize("first_waits", [False, True])
def test_statements_before_and_after_are_in_order(f, g, first_waits):
    """Whatever way the function writes, what read its operands before has the old elements."""
    a, b = np.arange(10.0) % 7, np.arange(10.0)[::-1] % 4
    a, b = np.resize(a, N), np.resize(b, N)
    x, y = un.asarray(a.copy()), un.asarray(b.copy())
    if first_waits:
        x, y = x + 1, y + 2
        a, b = a + 1, b + 2
    late = x * 3, y * 5, x[::-1] + y
    want = a * 3, b * 5, a[::-1] + b
    result = error = None
    try:
        result = f(a, b)
    except ValueError as e:
        error = e
    if error:
        with pytest.raises(ValueError, match=str(error)):
            g(x, y)
    else:
        assert g(x, y) == (pytest.approx(result, rel=1e-12) if result is not None else None)
    for got, ref in zip((*late, x, y), (*want, a, b), strict=True):
        np.testing.assert_array_equal(np.asarray(got), ref)
