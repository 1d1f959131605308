"""Launches of kernels on devices whose numbers show that no index is out of range run without tests."""

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import unisono as un

sys.path.insert(0, str(Path(__file__).parent))
from random_indices import Kernel

DEVICES = [d.name for d in un.devices() if d.name.startswith("opencl")]
pytestmark = pytest.mark.skipif(not DEVICES, reason="no OpenCL device")
AXPY = """__kernel void axpy(__global const float* x, __global float* y, float a) {
    int i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}"""


@pytest.fixture
def place():
    return DEVICES[0]


def proven(call):
    """How many of the launches that the call makes run without tests."""
    before = un.stats()["launches_proven"]
    call()
    un.synchronize()
    return un.stats()["launches_proven"] - before


def raised(call):
    with pytest.raises(IndexError) as error:
        call()
        un.synchronize()
    return "\n".join([str(error.value), *getattr(error.value, "__notes__", ())])


def arrays(place, *sizes):
    return [un.asarray(np.arange(n, dtype=np.float32)).to_device(place) for n in sizes]


def test_text_in_and_out_of_range(place):
    kernel = un.RawKernel(AXPY, "axpy")
    x, y = arrays(place, 256, 256)
    assert proven(lambda: kernel((4,), (64,), (x, y, 2.0))) == 1
    assert np.array_equal(np.asarray(y), 3 * np.arange(256, dtype=np.float32))
    text = raised(lambda: kernel((5,), (64,), (x, y, 2.0)))
    assert "index 256 is out of bounds for axis 0 with size 256" in text and ":3" in text
    (y,) = arrays(place, 256)
    assert proven(lambda: kernel((2,), (64,), (x, y, 1.0))) == 1


def test_function_in_and_out_of_range(place):
    @un.kernel
    def axpy(x, y, a):
        i = un.global_id(0)
        y[i] = a * x[i] + y[i]

    x, y = arrays(place, 100, 100)
    assert proven(lambda: axpy[100](x, y, 2.0)) == 1
    assert np.array_equal(np.asarray(y), 3 * np.arange(100, dtype=np.float32))
    text = raised(lambda: axpy[101](x, y, 2.0))
    assert "index 100 is out of bounds for axis 0 with size 100" in text
    assert re.search(r"test_proven_launches.py:\d+", text)
    (y,) = arrays(place, 100)
    assert proven(lambda: axpy[64, 64](x, y, 1.0)) == 1


def test_guards_and_two_axes(place):
    @un.kernel
    def stencil(u, v):
        y, x = un.global_id(0), un.global_id(1)
        if 0 < y and y < u.shape[0] - 1 and 0 < x and x < u.shape[1] - 1:
            v[y, x] = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1]

    u = un.asarray(np.arange(600.0).reshape(20, 30)).to_device(place)
    v = un.zeros((20, 30), un.float64, device=place)
    assert proven(lambda: stencil[(32, 32)](u, v)) == 1
    host = np.asarray(u)
    expected = host[:-2, 1:-1] + host[2:, 1:-1] + host[1:-1, :-2] + host[1:-1, 2:]
    assert np.array_equal(np.asarray(v)[1:-1, 1:-1], expected)
    small = un.zeros((10, 30), un.float64, device=place)
    assert "axis 0 with size 10" in raised(lambda: stencil[(32, 32)](u, small))


def test_flat_rows_and_columns(place):
    kernel = un.RawKernel(
        """__kernel void turn(__global const float* a, __global float* b, int h, int w) {
    int i = get_global_id(0);
    int row = i / w, col = i % w;
    if (row < h) b[col * h + row] = a[row * w + col];
}""",
        "turn",
    )
    a, b = arrays(place, 6 * 8, 6 * 8)
    assert proven(lambda: kernel((1,), (64,), (a, b, 6, 8))) == 1
    assert np.array_equal(np.asarray(b).reshape(8, 6), np.asarray(a).reshape(6, 8).T)
    assert "out of bounds" in raised(lambda: kernel((1,), (64,), (a, b, 7, 8)))


def test_loops_and_local_memory(place):
    kernel = un.RawKernel(
        """__kernel void sums(__global const float* x, __global float* y, int n) {
    __local float part[64];
    int l = get_local_id(0);
    float s = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = get_local_size(0) / 2; k > 0; k >>= 1) {
        if (l < k) part[l] += part[l + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) y[get_group_id(0)] = part[0];
}""",
        "sums",
    )
    x, y = arrays(place, 1000, 4)
    assert proven(lambda: kernel((4,), (64,), (x, y, 1000))) == 1
    assert np.asarray(y).sum() == np.arange(1000).sum()
    for size, groups, items, n in ((1000, 4, 64, 1001), (64, 2, 128, 1000), (4, 5, 64, 1000)):
        (y,) = arrays(place, 4)
        assert f"size {size}" in raised(lambda: kernel((groups,), (items,), (x, y, n)))  # noqa: B023


def test_elements_as_indices_keep_their_test(place):
    kernel = un.RawKernel(
        """__kernel void gather(__global const float* x, __global const int* at, __global float* y) {
    int i = get_global_id(0);
    y[i] = x[at[i]];
}""",
        "gather",
    )
    x, y = arrays(place, 100, 64)
    at = np.arange(64, dtype=np.int32)[::-1].copy()
    assert proven(lambda: kernel((1,), (64,), (x, un.asarray(at).to_device(place), y))) == 1
    assert np.array_equal(np.asarray(y), at.astype(np.float32))
    at[7] = 100
    bad = un.asarray(at).to_device(place)
    text = raised(lambda: kernel((1,), (64,), (x, bad, y)))
    assert "index 100 is out of bounds for axis 0 with size 100" in text and ":3" in text
    (y,) = arrays(place, 64)
    good = un.zeros(128, un.int32, device=place)
    assert "size 64" in raised(lambda: kernel((2,), (64,), (x, good, y)))


def test_bytes_as_indices_need_none(place):
    kernel = un.RawKernel(
        """__kernel void look(__global const uchar* keys, __global const float* table, __global float* y) {
    y[get_global_id(0)] = table[keys[get_global_id(0)]];
}""",
        "look",
    )
    keys = un.asarray(np.arange(64, dtype=np.uint8)).to_device(place)
    table, y = arrays(place, 256, 64)
    assert proven(lambda: kernel((1,), (64,), (keys, table, y))) == 1
    short, _ = arrays(place, 64, 1)
    assert proven(lambda: kernel((1,), (64,), (keys, short, y))) == 0


def test_numbers_that_wrap(place):
    kernel = un.RawKernel(
        """__kernel void far(__global float* y, int n) {
    int i = get_global_id(0);
    y[i * n + i] = 1;
}""",
        "far",
    )
    (y,) = arrays(place, 256)
    assert proven(lambda: kernel((1,), (16,), (y, 16))) == 1
    # 1 * (2^31 - 1) + 1 is the least int32: too low for an index from the end.
    text = raised(lambda: kernel((1,), (2,), (y, 2**31 - 1)))
    assert "index -2147483648" in text
    (y,) = arrays(place, 256)
    # 2 * (2^31 - 1) + 2 is 0 in 32 bits, but what comes before is not.
    unsigned = un.RawKernel(
        "__kernel void far(__global float* y, uint n) { uint i = get_global_id(0) * 2u; y[i * n + i] = i; }",
        "far",
    )
    assert proven(lambda: unsigned((1,), (4,), (y, 2**31 - 1))) == 0
    assert np.asarray(y)[0] in (0, 2, 4, 6)


@un.kernel
def last(y, k):
    i = un.global_id(0)
    y[i - k] = 7


def test_negative_indices_count_from_the_end(place):
    (y,) = arrays(place, 8)
    assert proven(lambda: last[3, 3](y, 3)) == 0
    assert list(np.asarray(y)) == [0, 1, 2, 3, 4, 7, 7, 7]


SEEDS = int(os.environ.get("UNISONO_TEST_PROGRAMS", "40"))


@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_random_programs(place, first):
    """An error is raised exactly where a work-item reads what is not there."""
    found = [0, 0]
    for seed in range(first, first + 10):
        kernel = Kernel(seed)
        code = un.RawKernel(kernel.text, "walk")
        draw = kernel.draw
        for _ in range(4):
            run(place, kernel, code, draw, found)
    assert found[1] > 10


def run(place, kernel, code, draw, found):
    n, m = draw.choice([1, 5, 16, 40, 100]), draw.choice([2, 8, 64])
    length_a, length_b = draw.choice([n, n, n + 3, 500]), draw.choice([m, m, m + 1, 500])
    groups, items = draw.choice([1, 2, 5]), draw.choice([1, 4, 16])
    a = np.arange(1, length_a + 1, dtype=np.float32)
    b = np.arange(1, length_b + 1, dtype=np.float32) * 1000
    out, fails = np.zeros(groups * items, np.float32), False
    for gid in range(groups * items):
        read = []
        kernel.item(gid, gid % items, gid // items, n, m, a, b, read)
        total = np.float32(0)
        for array, i in read:
            if not -len(array) <= i < len(array):
                fails = True
                break
            total += array[i]
        out[gid] = total
    given = [un.asarray(x).to_device(place) for x in (a, b, np.zeros_like(out))]

    def call():
        code((groups,), (items,), (*given, n, m))
        un.synchronize()

    if fails:
        with pytest.raises(IndexError):
            call()
        return
    count = proven(call)
    found[count] += 1
    assert np.array_equal(np.asarray(given[2]), out), kernel.text
