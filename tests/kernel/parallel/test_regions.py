"""Parallel regions: threads with variables of their own, shared loops, barriers."""

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())


def test_thread_local_sums(on):
    @un.jit(device=on)
    def f(a, out):
        with un.parallel(num_threads=4):
            mine = 0.0
            t = un.thread_id()
            for i in un.prange(a.shape[0]):
                mine += a[i]
            out[t] = mine
            if t == 0:
                out[4] = un.team_size()

    a = np.arange(103.0)
    out = np.zeros(5)
    f(a, out)
    shares = [a[k * 26 : (k + 1) * 26].sum() for k in range(4)]
    assert out.tolist() == [*shares, 4]


def test_two_loops_of_which_one_needs_the_other(on):
    @un.jit(device=on)
    def f(a, b, c):
        with un.parallel(3):
            scale = un.thread_id() * 0 + 2
            for i in un.prange(a.shape[0]):
                b[i] = a[i] * scale
            shift = 1
            for i in un.prange(a.shape[0]):
                c[i] = b[a.shape[0] - 1 - i] + shift + scale

    a = np.arange(20.0)
    b, c = np.zeros(20), np.zeros(20)
    f(a, b, c)
    assert np.array_equal(b, 2 * a) and np.array_equal(c, b[::-1] + 3)
    loops = f.inspect_ir().count("parallel thread")
    assert loops == 2


def test_loops_without_a_connection_share_a_piece(on):
    @un.jit(device=on)
    def f(a, b):
        with un.parallel(3):
            for i in un.prange(a.shape[0]):
                a[i] = i
            for i in un.prange(b.shape[0]):
                b[i] = 2 * i

    a, b = np.zeros(9), np.zeros(5)
    f(a, b)
    assert np.array_equal(a, np.arange(9)) and np.array_equal(b, 2 * np.arange(5))
    assert f.inspect_ir().count("parallel thread") == 1


def test_barriers_keep_what_threads_hold(on):
    @un.jit(device=on)
    def f(out):
        with un.parallel(5):
            t = un.thread_id()
            x = t * 1.5
            flag = t % 2 == 0
            out[0, t] = x
            un.barrier()
            y = out[0, (t + 1) % 5]
            if flag:
                y = -y
            un.barrier()
            out[1, t] = x + y

    out = np.zeros((2, 5))
    f(out)
    t = np.arange(5)
    y = 1.5 * ((t + 1) % 5) * np.where(t % 2 == 0, -1, 1)
    assert np.array_equal(out, [1.5 * t, 1.5 * t + y])


def test_an_inner_loop_under_a_serial_outer_one(on):
    @un.jit(device=on)
    def f(u, v, counts, steps):
        with un.parallel(4):
            moved = 0
            for _ in range(steps):
                for i in un.prange(1, u.shape[0] - 1):
                    v[i] = (u[i - 1] + u[i + 1]) / 2
                    moved += 1
                for i in un.prange(1, u.shape[0] - 1):
                    u[i] = v[i]
            un.atomic.add(counts, 0, moved)

    u = np.linspace(0, 1, 30) ** 2
    want = u.copy()
    for _ in range(6):
        want[1:-1] = (want[:-2] + want[2:]) / 2
    counts = np.zeros(1, np.int64)
    f(u, np.zeros(30), counts, 6)
    assert np.array_equal(u, want) and counts[0] == 6 * 28


def test_reductions_of_a_region(on):
    @un.jit(device=on)
    def f(a):
        total = 0.0
        threads = 0
        with un.parallel(3):
            threads += 1
            for i in un.prange(a.shape[0], schedule="dynamic", chunk=4):
                total += a[i]
        return total, threads

    assert f(np.arange(50.0)) == (1225.0, 3)


def test_threads_from_a_value(on):
    @un.jit(device=on)
    def f(n, out):
        with un.parallel(num_threads=n):
            un.atomic.add(out, 0, 1)

    out = np.zeros(1, np.int64)
    f(7, out)
    assert out[0] == 7
    with pytest.raises(ValueError, match="num_threads must be at least 1; got 0"):
        f(0, out)


def test_the_default_is_the_number_of_threads(on):
    @un.jit(device=on)
    def f(out):
        with un.parallel():
            if un.thread_id() == 0:
                out[0] = un.team_size()

    out = np.zeros(1)
    f(out)
    assert out[0] == un.get_num_threads()


def test_regions_without_parallel_loops_elsewhere(on):
    @un.jit(device=on, parallel=False)
    def f(a):
        with un.parallel(3):
            for i in un.prange(a.shape[0]):
                a[i] += i

    a = np.zeros(10)
    f(a)
    assert np.array_equal(a, np.arange(10))


def test_outside_of_compiled_functions(on):
    with un.parallel(3):
        assert (un.thread_id(), un.team_size()) == (0, 1)


WRONG = {
    "the array's own end": """
def f(out):
    with un.parallel(2):
        buffer = np.zeros(3)
        un.barrier()
        out[0] = buffer[0]
""",
    "read after": """
def f(out):
    with un.parallel(2):
        x = 1
        out[0] = x
    return x
""",
    "only defined in a parallel region": """
def f(out):
    return un.thread_id()
""",
    "inside of a parallel loop or region": """
def f(out):
    with un.parallel(2):
        with un.parallel(2):
            out[0] = 1
""",
    "a barrier or tasks.. that not every thread": """
def f(out):
    with un.parallel(2):
        while out[0] < 3:
            un.barrier()
            out[0] += 1
""",
    "return inside": """
def f(out):
    with un.parallel(2):
        return 1
""",
}
TEXTS = {
    "the array's own end": "private to each",
    "read after": "private to each",
    "return inside": "return inside prange",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_regions(name, on, tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text("import numpy as np\nimport unisono as un\n" + WRONG[name])
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    with pytest.raises(un.CompileError, match=TEXTS.get(name, name)):
        un.jit(scope["f"], device=on)(np.zeros(3))
