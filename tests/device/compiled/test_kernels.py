"""Compiled loops and kernels on every device, with arrays that live there."""

import math

import numpy as np
import pytest
import unisono as un
from unisono import cuda


def host(x):
    return np.asarray(x.to_device("cpu"))


def there(device, *arrays):
    """Copies of the arrays on the device: on the CPU, too, the originals stay as they are."""
    return [un.asarray(a.copy(), device=device) for a in arrays]


def test_prange(device):
    @un.jit
    def sweep(u, v):
        for y in un.prange(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                v[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4

    n = np.random.default_rng(0).random((50, 60))
    want = n.copy()
    want[1:-1, 1:-1] = ((n[:-2, 1:-1] + n[2:, 1:-1]) + (n[1:-1, :-2] + n[1:-1, 2:])) / 4
    u, v = there(device, n, n)
    sweep(u, v)
    np.testing.assert_array_equal(host(v), want)


def test_a_reduction_used_by_a_second_loop(device):
    @un.jit
    def normalise(a):
        total = 0.0
        for i in un.prange(a.shape[0]):
            total += a[i]
        for i in un.prange(a.shape[0]):
            a[i] = a[i] / total
        return total

    x = np.arange(100.0)
    (a,) = there(device, x)
    assert normalise(a) == 4950
    np.testing.assert_array_equal(host(a), x / 4950)


def test_an_index_out_of_range_names_its_iteration(device):
    @un.jit
    def gather(a, k, out):
        for i in un.prange(out.shape[0]):
            out[i] = a[k[i]]

    k = np.zeros(1000, dtype=np.int64)
    k[[300, 700, 999]] = [5, 6, 7]
    a, index, out = there(device, np.arange(4.0), k, np.zeros(1000))
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 4"):
        gather(a, index, out)
        float(out[0])
    k[:] = -1
    a, index, out = there(device, np.arange(4.0), k, np.zeros(1000))
    gather(a, index, out)
    assert (host(out) == 3).all()


def test_kernel_with_local_memory(device):
    @un.kernel
    def reverse(a, out):
        tile = un.local_array(16, un.float64)
        l = un.local_id(0)  # noqa: E741
        i = un.global_id(0)
        tile[l] = a[i]
        un.barrier()
        out[i] = tile[15 - l]

    x = np.arange(64.0)
    a, out = there(device, x, np.zeros(64))
    reverse[64, 16](a, out)
    np.testing.assert_array_equal(host(out), x.reshape(4, 16)[:, ::-1].ravel())
    with pytest.raises(IndexError, match="index 16 is out of bounds for axis 0 with size 16"):
        reverse[64, 32](a, out)
        float(out[0])
    with pytest.raises(ValueError, match="multiple of the local size; got 60 and 16"):
        reverse[60, 16](a, out)


def test_work_items_leave_behind_the_last_barrier(device):
    """As those beyond the end of an array do that helped to load a tile."""

    @un.kernel
    def turn(a, b):
        tile = un.local_array(4, np.float64)
        i, k = un.global_id(0), un.local_id(0)
        tile[k] = a[i]
        un.barrier()
        if i >= b.shape[0]:
            return
        for n in range(2):
            b[i] += n * tile[3 - k]

    a, b = there(device, np.arange(12.0), np.zeros(10))
    turn[12, 4](a, b)
    assert host(b).tolist() == [3, 2, 1, 0, 7, 6, 5, 4, 11, 10]


@pytest.mark.parametrize("size", [1, 7, 256, 1009])
def test_kernel_over_any_size(device, size):
    @un.kernel
    def vadd(a, b, c):
        i = un.global_id(0)
        c[i] = a[i] + b[i]

    x = np.arange(2000.0)
    a, b, c = there(device, x, x, np.zeros(2000))
    vadd[size](a, b, c)
    want = np.where(np.arange(2000) < size, 2 * x, 0)
    np.testing.assert_array_equal(host(c), want)


def test_views_are_passed_as_they_are(device):
    @un.jit
    def double(a, out):
        for i in un.prange(out.shape[0]):
            out[i] = 2 * a[i]

    a, out = there(device, np.arange(40.0), np.zeros(40))
    double(a[35:5:-3], out[5:25:2])
    want = np.zeros(40)
    want[5:25:2] = 2 * np.arange(40.0)[35:5:-3]
    np.testing.assert_array_equal(host(out), want)


def test_what_one_work_item_does_behind_barriers_happens_once(device):
    @un.kernel
    def count(order, counter):
        tile = un.local_array(1, un.int64)
        lid = un.local_id(0)
        if lid == 0:
            tile[0] = 0
        un.barrier()
        un.atomic.add(tile, 0, 1)
        un.barrier()
        if lid == 0:
            at = un.atomic.add(counter, 0, 1)
            order[at] = tile[0]

    order, counter = there(device, np.zeros(4, np.int64), np.zeros(1, np.int64))
    count[256, 64](order, counter)
    np.testing.assert_array_equal(host(order), [64] * 4)
    np.testing.assert_array_equal(host(counter), [4])


@un.kernel
def phases(at, turns, bad, out):
    """Barriers in loops and a branch, and an index that may be wrong in each run between them."""
    tile = un.local_array(16, un.int64)
    lid = un.local_id(0)
    tile[lid] = at[bad[0] * lid]
    un.barrier()
    for k in range(turns + un.group_id(0)):
        tile[(lid + k) % 16] += at[bad[1] * k * lid]
        un.barrier()
        if k % 2 == 1:
            tile[lid] += at[bad[2] * lid]
            un.barrier()
            if lid == 3:
                tile[lid] += at[bad[3] * k]
            un.barrier()
    half = 8
    un.barrier()
    while half > 0:
        if lid < half:
            tile[lid] += tile[lid + half] + at[bad[4] * half]
        half = half // 2
        un.barrier()
    if lid == 0:
        out[un.group_id(0)] = tile[0]


@pytest.mark.parametrize("place", range(-1, 5))
def test_faults_between_barriers_end_their_group(device, place):
    bad = np.zeros(5, np.int64)
    if place >= 0:
        bad[place] = 1000
    at, bad, out = there(device, np.array([7]), bad, np.zeros(3, np.int64))
    if place < 0:
        phases[48, 16](at, 2, bad, out)
        np.testing.assert_array_equal(host(out), [560, 672, 903])
    else:
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 1"):
            phases[48, 16](at, 2, bad, out)
            host(out)


@un.jit
def sum_of_group(tile, x):
    lid = un.local_id(0)
    tile[lid] = x
    un.barrier()
    total = 0.0
    for k in range(tile.shape[0]):
        total += tile[k]
    un.barrier()
    return total


@un.jit
def twice(x):
    tile = un.local_array(8, un.float64)
    return 2 * sum_of_group(tile, x)


def test_called_functions_act_in_the_group(device):
    @un.kernel
    def f(a, out, n):
        tile = un.local_array(8, un.float64)
        total = 0.0
        for k in range(n):
            total += sum_of_group(tile, a[un.global_id(0)] + k)
        out[un.global_id(0)] = total + twice(a[un.global_id(0)])

    x = np.arange(24.0)
    a, out = there(device, x, np.zeros(24))
    f[24, 8](a, out, 3)
    sums = x.reshape(3, 8).sum(1)
    np.testing.assert_array_equal(host(out), np.repeat(5 * sums + 24, 8))


@un.jit
def small_array(a):
    r = np.zeros(2, np.int32)
    if a % 2:
        r[0] = a
    return r[0] + r[1]


@un.jit
def replaced_arrays(a):
    r = np.zeros(2, np.int32)
    for _ in range(3):
        n = np.zeros(2, np.int32)
        n[0] = r[0] + a
        r = n
    return r[0]


def test_functions_that_kernels_call_make_small_arrays(device):
    @un.kernel
    def at_the_top(x, out):
        i = un.global_id(0)
        out[i] = small_array(x[i])

    @un.kernel
    def in_a_loop(x, out):
        i = un.global_id(0)
        if i < x.size:
            for j in range(3):
                out[i] += small_array(x[i] + j)

    @un.kernel
    def one_after_another(x, out):
        i = un.global_id(0)
        out[i] = replaced_arrays(x[i])

    x = np.arange(4, dtype=np.int32)
    expected = {at_the_top: [0, 1, 0, 3], in_a_loop: [1, 4, 3, 8]}
    if device in ("cpu", "interp"):  # devices refuse an array that outlives its pass of a loop
        expected[one_after_another] = 3 * x
    for kernel, values in expected.items():
        out = un.zeros(4, np.int32, device=device)
        kernel[4](un.array(x, device=device), out)
        np.testing.assert_array_equal(np.asarray(out), values)


@un.jit
def around_a_barrier(a):
    r = np.zeros(2, np.int64)
    r[0] = a
    un.barrier()
    return r[0]


@un.jit
def last_of_a_loop(a):
    for k in range(3):
        t = np.zeros(2, np.int64)
        t[0] = a + k
    return t[0]


def test_arrays_of_functions_cross_barriers(device):
    @un.kernel
    def kernel(x, out):
        i = un.global_id(0)
        out[i] = around_a_barrier(x[i])

    x, out = un.array(np.arange(8), device=device), un.zeros(8, np.int64, device=device)
    kernel[8, 4](x, out)
    np.testing.assert_array_equal(np.asarray(out), np.arange(8))


@un.jit
def add_of_neighbour(held, shared, own, k):
    shared[own] = held[k & 3]
    un.barrier()
    other = shared[(own + 1) & 7]
    un.barrier()
    for i in range(4):
        held[i] += other


@un.jit
def turn(x, shared, own, k):
    held = np.empty(4)
    for i in range(4):
        held[i] = x[own * 4 + i]
    add_of_neighbour(held, shared, own, k)
    for i in range(4):
        x[own * 4 + i] = held[i]


def test_arrays_of_work_items_in_loops_with_barriers(device):
    """Made by a function that a loop calls, and by the loop itself."""

    @un.kernel
    def by_function(x, n):
        shared = un.local_array(8, un.f8)
        for k in range(n):
            turn(x, shared, un.local_id(0), k)

    @un.kernel
    def in_the_loop(x, n):
        shared = un.local_array(8, un.f8)
        own = un.local_id(0)
        for k in range(n):
            held = cuda.local.array(4, np.float64)
            for i in range(4):
                held[i] = x[own * 4 + i]
            add_of_neighbour(held, shared, own, k)
            for i in range(4):
                x[own * 4 + i] = held[i]

    start = np.arange(32.0)
    wanted = start.reshape(8, 4).copy()
    for k in range(5):
        wanted += np.roll(wanted[:, k & 3], -1)[:, None]
    for kernel in (by_function, in_the_loop):
        (x,) = there(device, start)
        kernel[8, 8](x, 5)
        np.testing.assert_array_equal(host(x), wanted.reshape(-1))


def test_an_array_of_an_inner_loop_is_used_behind_it(device):
    @un.kernel
    def kernel(x, out):
        i = un.global_id(0)
        out[i] = last_of_a_loop(x[i])

    x, out = un.array(np.arange(8), device=device), un.zeros(8, np.int64, device=device)
    kernel[8](x, out)
    np.testing.assert_array_equal(np.asarray(out), np.arange(8) + 2)


def test_numbers_are_taken_apart_and_scaled(device):
    @un.kernel
    def split(x, fraction, exponent, back):
        i = un.global_id(0)
        m, e = math.frexp(x[i])
        fraction[i] = m
        exponent[i] = e
        back[i] = math.ldexp(m, e)

    x = np.array([0.0, -0.0, 1.0, -0.75, 3e300, 2.0**-1022, 5e-324, -1.5e-310, np.inf, -np.inf])
    a, m, back, e = there(device, x, x, x, np.zeros(x.size, np.int64))
    split[x.size](a, m, e, back)
    want = [math.frexp(v) for v in x.tolist()]
    assert host(m).tobytes() == np.array([f for f, _ in want]).tobytes()
    assert host(e).tolist() == [n for _, n in want]
    assert host(back).tobytes() == x.tobytes()
