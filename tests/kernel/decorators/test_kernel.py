"""Work-item functions: indices, local memory, barriers, launches."""

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())


def test_one_axis(on):
    @un.kernel(device=on)
    def vadd(a, b, c):
        i = un.global_id(0)
        c[i] = a[i] + b[i]

    a, c = np.arange(10.0), np.zeros(10)
    vadd[10](a, a, c)
    assert np.array_equal(c, 2 * a)
    c[:] = 0
    vadd[8, 4](a, a, c)
    assert np.array_equal(c[:8], 2 * a[:8]) and not c[8:].any()


def test_two_axes(on):
    @un.kernel(device=on)
    def f(a):
        y = un.global_id(0)
        x = un.global_id(1)
        a[y, x] = 100 * y + x + 0.5 * un.global_size(1)

    a = np.zeros((3, 4))
    f[3, 4](a)
    y, x = np.mgrid[:3, :4]
    assert np.array_equal(a, 100 * y + x + 2)
    a[:] = 0
    f[(3, 4), (1, 2)](a)
    assert np.array_equal(a, 100 * y + x + 2)


def test_local_memory_and_barrier(on):
    @un.kernel(device=on)
    def reverse(a, c):
        tile = un.local_array(4, np.float64)
        i = un.local_id(0)
        tile[i] = a[un.global_id(0)]
        un.barrier()
        c[un.global_id(0)] = tile[un.local_size(0) - 1 - i]

    a, c = np.arange(8.0), np.zeros(8)
    reverse[8, 4](a, c)
    assert c.tolist() == [3, 2, 1, 0, 7, 6, 5, 4]
    with pytest.raises(ValueError, match="needs its local size"):
        reverse[8](a, c)


def test_local_arrays_know_their_shape(on):
    @un.kernel(device=on)
    def f(out):
        tile = un.local_array((3, 4), np.float64)
        i = un.local_id(0)
        if i < tile.size:
            tile[i // tile.shape[1] - len(tile), i % 4 - tile.shape[1]] = i
        un.barrier()
        if i == 0:
            out[0], out[1], out[2] = tile.shape[0], tile.shape[1], len(tile)
            out[3], out[4], out[5] = tile.size, tile.nbytes, tile.strides[0]
            out[6], out[7] = tile.strides[1], tile[2, 3] + 100 * tile[-2, -1]

    out = np.zeros(8)
    f[16, 16](out)
    assert out.tolist() == [3, 4, 3, 12, 96, 32, 8, 711]


def test_barrier_in_a_uniform_loop(on):
    @un.kernel(device=on)
    def total(a, out, n):
        part = un.local_array((8,), un.float64)
        i = un.local_id(0)
        part[i] = a[un.global_id(0)]
        step = n
        while step > 0:
            un.barrier()
            if i < step:
                part[i] += part[i + step]
            step //= 2
        if i == 0:
            out[un.group_id(0)] = part[0]

    a, out = np.arange(16.0), np.zeros(2)
    total[16, 8](a, out, 4)
    assert out.tolist() == [a[:8].sum(), a[8:].sum()]


def test_values_derived_from_ids_across_a_barrier(on):
    @un.kernel(device=on)
    def f(a, c):
        i = un.global_id(0)
        half = i // 2
        other = half + 1
        un.barrier()
        c[i] = a[other]

    a, c = np.arange(9.0), np.zeros(8)
    f[8, 4](a, c)
    assert c.tolist() == [1, 1, 2, 2, 3, 3, 4, 4]


def test_barrier_behind_a_loop_that_items_leave(on):
    @un.kernel(device=on)
    def f(a, c):
        i, k = un.global_id(0), un.local_id(0)
        held = un.local_array(4, un.float64)
        t = 0.0
        for n in range(6):
            if n > a[i]:
                break
            if n % 2:
                continue
            t += n
        held[k] = t
        un.barrier()
        c[i] = held[3 - k]

    a, c = np.arange(8.0), np.zeros(8)
    f[8, 4](a, c)
    sums = [sum(n for n in range(6) if n % 2 == 0 and n <= x) for x in range(8)]
    assert c.tolist() == sums[3::-1] + sums[:3:-1]


def test_bad_launches(on):
    @un.kernel(device=on)
    def f(a):
        a[un.global_id(0)] = 1

    a = np.zeros(6)
    with pytest.raises(TypeError, match="launched over a range"):
        f(a)
    with pytest.raises(ValueError, match="multiple of the local size"):
        f[6, 4](a)
    with pytest.raises(TypeError, match="consists of integers"):
        f[2.5](a)
    with pytest.raises(IndexError, match="index 6 is out of bounds"):
        f[7](a)


def test_barrier_in_a_loop_over_an_extent(on):
    @un.kernel(device=on)
    def f(x, out):
        i = un.local_id(0)
        part = un.local_array(4, np.float64)
        total = 0.0
        for k in range(x.shape[1] // 2):
            part[i] = x[i, 2 * k]
            un.barrier()
            total += part[3 - i]
            un.barrier()
        out[i] = total

    x, out = np.arange(16.0).reshape(4, 4), np.zeros(4)
    f[4, 4](x, out)
    assert np.array_equal(out, (x[:, 0] + x[:, 2])[::-1])


@un.jit
def place():
    return un.global_id(0)


@un.jit
def sum_of_group(x):
    tile = un.local_array(8, np.float64)
    lid = un.local_id(0)
    tile[lid] = x
    un.barrier()
    half = un.local_size(0) // 2
    while half > 0:
        if lid < half:
            tile[lid] += tile[lid + half]
        half = half // 2
        un.barrier()
    return tile[0]


@un.jit
def first_of(tile, x):
    if un.local_id(0) == 0:
        tile[0] = x * tile.shape[0]
    un.barrier()
    return tile[0]


def test_called_functions_act_in_the_group(on):
    @un.kernel(device=on)
    def f(a, sums, firsts, n):
        tile = un.local_array(8, np.float64)
        total = 0.0
        for k in range(n):
            total += sum_of_group(a[place()] + k)
        sums[place()] = total + sum_of_group(1.0)
        firsts[place()] = first_of(tile, a[place()])

    a, sums, firsts = np.arange(24.0), np.zeros(24), np.zeros(24)
    f[24, 8](a, sums, firsts, 3)
    groups = a.reshape(3, 8)
    assert np.array_equal(sums, np.repeat(3 * groups.sum(1) + 8 * 3 + 8, 8))
    assert np.array_equal(firsts, np.repeat(groups[:, 0] * 8, 8))


def test_words_of_kernels_in_functions_that_the_host_calls(on):
    with pytest.raises(un.CompileError, match="only defined in a kernel and what it calls"):
        place()


@un.jit
def even(n):
    if n < 2:
        return n
    return odd(n - 1) + odd(n - 2)


@un.jit
def odd(n):
    if n < 2:
        return n
    return even(n - 1) + even(n - 2)


@un.jit
def along(a, n):
    if n < 2:
        return a[n]
    return along(a, n - 1) + along(a, n - 2)


def test_kernels_call_what_calls_itself_twice(on):
    """Passes that follow calls look at each function once."""

    @un.kernel(device=on)
    def one(y):
        i = un.global_id(0)
        y[i] = even(i)

    @un.kernel(device=on)
    def through_the_group(y):
        i = un.global_id(0)
        s = un.local_array(8, un.int64)
        s[i] = even(i)
        un.barrier()
        y[i] = along(s, 7 - i)

    fibonacci = [0, 1, 1, 2, 3, 5, 8, 13]
    for kernel, expected in ((one, fibonacci), (through_the_group, fibonacci[::-1])):
        y = np.zeros(8, "int64")
        kernel[8, 8](y)
        assert y.tolist() == expected
