"""Schedules, array reductions and atomic operations of prange: the same results however it is shared out."""

import warnings

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

on_hosts = pytest.mark.parametrize("on", all_devices())
pytestmark = pytest.mark.filterwarnings("ignore:.*cache lines")


def static(a, out, n):
    s = 0
    for i in un.prange(n, schedule="static"):
        out[i] = a[i] * 2 + i
        s += i
    return s


def static_chunk(a, out, n):
    s = 0
    for i in un.prange(n, schedule="static", chunk=3):
        out[i] = a[i] * 2 + i
        s += i
    return s


def dynamic(a, out, n):
    s = 0
    for i in un.prange(0, n, 1, schedule="dynamic"):
        out[i] = a[i] * 2 + i
        s += i
    return s


def dynamic_chunk(a, out, n):
    c = n // 5 + 1
    s = 0
    for i in un.prange(n, schedule="dynamic", chunksize=c):
        if i < 0:
            continue
        out[i] = a[i] * 2 + i
        s += i
    return s


def guided(a, out, n):
    s = 0
    for i in un.prange(n, schedule="guided", chunk=2):
        out[i] = a[i] * 2 + i
        s += i
    return s


def threads(a, out, n):
    s = 0
    for i in un.prange(n, num_threads=2):
        out[i] = a[i] * 2 + i
        s += i
    return s


def cyclic(a, out, n):
    s = 0
    for i in un.prange(n, schedule="static", chunk=1, num_threads=3):
        out[i] = a[i] * 2 + i
        s += i
    return s


def backwards(a, out, n):
    s = 0
    for i in un.prange(n - 1, -1, -1, schedule="dynamic", chunk=2, num_threads=2):
        out[i] = a[i] * 2 + i
        s += i
    return s


def strided(a, out, n):
    s = 0
    for i in un.prange(1, n, 3, schedule="guided"):
        out[i] = a[i] * 2 + i
        s += i
    return s


FORMS = [static, static_chunk, dynamic, dynamic_chunk, guided, threads, cyclic, backwards, strided]


@on_hosts
@pytest.mark.parametrize("n", [0, 1, 2, 7, 64, 1000])
@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_every_iteration_runs_once(function, n, on):
    a = np.linspace(0, 1, n)
    got, want = np.zeros(n), np.zeros(n)
    compiled = un.jit(function, device=on)
    assert compiled(a, got, n) == function(a, want, n)
    assert np.array_equal(got, want)


def test_sums_of_floats_do_not_depend_on_threads():
    @un.jit
    def f(a):
        s = 0.0
        for i in un.prange(a.shape[0], schedule="dynamic", chunk=7):
            s += a[i]
        return s

    a = np.random.default_rng(1).normal(size=100_000)
    held = un.get_num_threads()
    try:
        sums = set()
        for n in (1, 2, 3, 7):
            un.set_num_threads(n)
            sums.add(f(a))
    finally:
        un.set_num_threads(held)
    assert len(sums) == 1


def plain(a, out, n):
    s = 0
    for i in un.prange(n):
        out[i] = a[i] * 2 + i
        s += i
    return s


@pytest.mark.parametrize("schedule", ["static", "dynamic", "guided", "dynamic,4", ("static", 8)])
def test_schedules_of_functions(schedule):
    got, want = np.zeros(50), np.zeros(50)
    f = un.jit(schedule=schedule, num_threads=2)(plain)
    a = np.ones(50)
    assert f(a, got, 50) == plain(a, want, 50)
    assert np.array_equal(got, want)
    if schedule != "static":
        assert "chunk" in f.inspect_ir()


@pytest.mark.parametrize("schedule", ["cyclic", "dynamic,0", ("static", 1, 2), 3, "dynamic,x"])
def test_wrong_schedules(schedule):
    with pytest.raises(ValueError, match="schedule is 'static', 'dynamic' or 'guided'"):
        un.jit(schedule=schedule)(plain)


def test_wrong_number_of_threads():
    with pytest.raises(ValueError, match="num_threads is an int"):
        un.jit(num_threads=0)(plain)

    @un.jit
    def f(n, k):
        s = 0
        for i in un.prange(n, num_threads=k):
            s += i
        return s

    assert f(10, 3) == 45
    with pytest.raises(ValueError, match="num_threads must be at least 1; got 0"):
        f(10, 0)


def test_schedule_from_the_environment(tmp_path):
    import os
    import subprocess
    import sys

    program = tmp_path / "p.py"
    program.write_text(
        "import numpy as np, unisono as un\n"
        "@un.jit\n"
        "def f(a):\n"
        "    for i in un.prange(a.shape[0]):\n"
        "        a[i] = i\n"
        "a = np.zeros(100)\n"
        "f(a)\n"
        "assert a.sum() == 4950\n"
        "print('chunk' in f.inspect_ir())\n"
    )
    env = {**os.environ, "UNISONO_SCHEDULE": "dynamic,16"}
    made = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True)
    assert made.stdout == "True\n", made.stderr


# ---- arrays that loops reduce
def histogram(keys, out):
    for i in un.prange(keys.shape[0]):
        out[keys[i]] += 1


def rows(a, out):
    for i in un.prange(a.shape[0]):
        for j in range(a.shape[1]):
            out[j] += a[i, j]


def products(a, out):
    for i in un.prange(a.shape[0]):
        out[i % 3] *= a[i, 0]


def whole(a, out):
    for i in un.prange(a.shape[0]):
        out += a[i]


def two(a, out):
    n = 0
    for i in un.prange(a.shape[0]):
        out[i % 2] -= a[i, 0]
        n += 1
    out[0] += n


@on_hosts
@pytest.mark.parametrize("n", [0, 1, 5, 400])
def test_array_reductions(n, on):
    keys = (np.arange(n) * 7919) % 11
    got, want = np.ones(11, np.int64), np.ones(11, np.int64)
    un.jit(histogram, device=on)(keys, got)
    histogram(keys, want)
    assert np.array_equal(got, want)
    a = (np.arange(n * 3).reshape(n, 3) % 7 + 1.0) / 4
    for function in (rows, whole, two):
        got, want = np.full(3, 0.5), np.full(3, 0.5)
        f = un.jit(function, device=on)
        f(a, got)
        function(a, want)
        assert np.array_equal(got, want)
        assert "array out (+)" in f.parallel_report()
    ones = np.sign(a)
    got, want = np.full(3, 2.0), np.full(3, 2.0)
    un.jit(products, device=on)(ones, got)
    products(ones, want)
    assert np.array_equal(got, want)


def test_array_reductions_do_not_depend_on_threads():
    f = un.jit(rows)
    a = np.random.default_rng(2).normal(size=(5000, 4))
    held = un.get_num_threads()
    try:
        results = set()
        for n in (1, 2, 3, 7):
            un.set_num_threads(n)
            out = np.zeros(4)
            f(a, out)
            results.add(out.tobytes())
    finally:
        un.set_num_threads(held)
    assert len(results) == 1 and np.allclose(out, a.sum(0))


def test_a_read_of_a_reduced_array_is_no_reduction():
    @un.jit
    def f(keys, out):
        for i in un.prange(keys.shape[0]):
            out[keys[i]] += out[0]

    f(np.zeros(3, np.int64), np.zeros(3))
    assert "iterations may meet: out" in f.parallel_report()


# ---- atomics
def counts(keys, out):
    for i in un.prange(keys.shape[0]):
        un.atomic.add(out, keys[i], 1)


def extremes(keys, low, high):
    for i in un.prange(keys.shape[0]):
        un.atomic.min(low, 0, keys[i])
        un.atomic.max(high, (0, 1), keys[i])


def bits(keys, out):
    for i in un.prange(keys.shape[0]):
        un.atomic.or_(out, 0, 1 << keys[i])
        un.atomic.xor(out, 1, keys[i])
        un.atomic.and_(out, 2, ~keys[i])
        un.atomic.sub(out, -1, 2)


@on_hosts
def test_atomics(on):
    keys = (np.arange(3000) * 7919) % 13
    got, want = np.zeros(13, np.int64), np.zeros(13, np.int64)
    un.jit(counts, device=on)(keys, got)
    counts(keys, want)
    assert np.array_equal(got, want)
    low, high = np.full(1, 99), np.full((1, 2), -1)
    un.jit(extremes, device=on)(keys, low, high)
    assert (low[0], high[0, 1], high[0, 0]) == (0, 12, -1)
    got, want = np.full(4, 255), np.full(4, 255)
    un.jit(bits, device=on)(keys, got)
    bits(keys, want)
    assert np.array_equal(got, want)
    with pytest.raises(IndexError):
        un.jit(counts, device=on)(keys, np.zeros(5, np.int64))


# ---- false sharing
def test_short_chunks_draw_a_warning():
    def f(a):
        for i in un.prange(a.shape[0], schedule="static", chunk=1):
            a[i] = i * 0.5

    with pytest.warns(RuntimeWarning, match="(?s)same cache lines of 'a'.*chunk=8") as seen:
        un.jit(f)(np.zeros(100))
    assert len(seen) == 1
    g = un.jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        g(np.zeros(100))
    assert "false sharing: chunks of 1 write 'a'" in g.parallel_report()


def test_long_chunks_draw_none():
    def f(a, b):
        for i in un.prange(a.shape[0], schedule="dynamic", chunk=16):
            a[i] = i * 0.5
            b[i, 0] = i

    def g(a):
        for i in un.prange(a.shape[0]):
            a[i] = i * 0.5

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        un.jit(f)(np.zeros(100), np.zeros((100, 8)))
        un.jit(g)(np.zeros(100))
