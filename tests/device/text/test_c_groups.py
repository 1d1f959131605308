"""Cooperative groups and ``auto`` in C text, on every device."""

import numpy as np
import pytest
import unisono as un
from unisono import cuda

HEADER = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
TEXT = (
    HEADER
    + r"""
__device__ int block_of(int nothing) { return (int)blockIdx.x + nothing; }
extern "C" __global__ void reversed(const float* x, float* y, int n) {
    auto grid = cg::this_grid();
    int k = blockDim.x * blockIdx.x + threadIdx.x;
    if (k < n) y[k] = x[k];
    grid.sync();
    float v = k < n ? y[n - 1 - k] : 0;
    cg::sync(grid);
    if (k < n) y[k] = v + (grid.thread_rank() - k) + (grid.size() - gridDim.x * blockDim.x) + block_of(0) - k / blockDim.x;
}
extern "C" __global__ void ranks(int* y) {
    namespace c = cooperative_groups;
    c::thread_block b = c::this_thread_block();
    __shared__ int s[64];
    s[b.thread_rank()] = b.size();
    b.sync();
    auto p = y + blockIdx.x * b.num_threads();
    p[b.thread_rank()] = s[b.size() - 1 - b.thread_rank()] + (int)b.thread_rank();
}"""
)


@pytest.fixture(params=[*map(str, un.devices()), "interp"])
def chosen(request):
    cuda.select_device(request.param)
    yield request.param
    cuda.close()


def test_the_grid_meets(chosen):
    kernel = un.RawKernel(TEXT, "reversed", enable_cooperative_groups=True)
    for n, block in ((10, 4), (100, 32)):
        x = un.arange(n, dtype=un.float32, device=chosen)
        y = un.zeros_like(x)
        kernel((-(-n // block),), (block,), (x, y, n))
        assert y.tolist() == list(range(n))[::-1]


def test_many_blocks_meet(chosen):
    """More work-items than a group of any device has."""
    x = un.arange(20000, dtype=un.float32, device=chosen)
    y = un.zeros_like(x)
    un.RawKernel(TEXT, "reversed")((79,), (256,), (x, y, 20000))
    np.testing.assert_array_equal(y.tolist(), np.arange(20000)[::-1])


KEPT = (
    HEADER
    + r"""
extern "C" __global__ void kept(const float* x, float* y, float* z, int n, int steps) {
    auto grid = cg::this_grid();
    int k = blockDim.x * blockIdx.x + threadIdx.x, from = (k * 7 + 1) % n;
    float sum = x[0], parts[2] = {1, 2};
    for (int s = 0; s < steps; s++) {
        if (k < n) y[k] = sum + s;
        grid.sync();
        sum += y[from] + parts[s % 2];
        parts[s % 2] += k;
        grid.sync();
    }
    if (k < n) z[k] = sum;
}"""
)


@pytest.mark.parametrize(("n", "steps"), [(50, 3), (9000, 3), (9000, 0)])
def test_values_live_across_barriers_of_the_grid(n, steps, chosen):
    """In loops that all work-items run alike."""
    x, y, z = (un.full(n, fill, un.float32, device=chosen) for fill in (3, 0, 0))
    un.RawKernel(KEPT, "kept")((-(-n // 32),), (32,), (x, y, z, n, steps))
    k = np.arange(n)
    sums, parts = np.full(n, 3, "f4"), np.array([[1], [2]], "f4") + np.zeros(n, "f4")
    for s in range(steps):
        seen = sums + s
        sums = sums + (seen[(k * 7 + 1) % n] + parts[s % 2])
        parts[s % 2] += k
    np.testing.assert_array_equal(z.tolist(), sums)


def test_blocks_count_and_meet(chosen):
    y = un.zeros(24, un.int32, device=chosen)
    un.RawKernel(TEXT, "ranks")((2,), (4, 3), (y,))
    assert y.tolist() == [*range(12, 24)] * 2


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("auto g = cg::this_grid(); __shared__ int s[3]; g.sync();", "'s' is shared by a block"),
        ("auto g = cg::this_grid(); __syncwarp();", "warp functions in a kernel that synchron"),
        ("cg::grid_group g = cg::this_thread_block();", "'g' is a grid_group"),
        ("auto g = cg::this_grid(); g.shfl(3);", "'shfl' of a group is not translated"),
        ("auto g;", "'g' is auto, and has no value"),
        ("auto g = {1};", "'g' is auto, and has no value"),
    ],
)
def test_errors_of_groups(body, what):
    text = f'{HEADER}extern "C" __global__ void f(int* y) {{ {body} }}'
    with pytest.raises(un.CompileError, match=what):
        un.RawKernel(text, "f")(1, 4, (un.zeros(4, un.int32),))


def test_types_of_auto_are_those_of_values():
    text = """struct Pair { int a; float b; };
    __device__ Pair pair(int a) { Pair p = {a, 2.f}; return p; }
    extern "C" __global__ void f(int* y) {
        auto first = y[0]; auto rest = &y[1]; const auto half = 2.5; auto p = pair(3);
        for (auto i = 0; i < 2; ++i) rest[i] = first + half * 2 + p.a + p.b;
        int thread_block = 7;  // a name as any other, where no groups are
        rest[2] = thread_block;
    }"""
    y = un.asarray([1, 0, 0, 0], un.int32)
    un.RawKernel(text, "f")(1, 1, (y,))
    assert y.tolist() == [1, 11, 11, 7]


def test_names_of_headers_are_types_in_texts_that_include_them_only():
    plain = 'extern "C" __global__ void f(int* y) { int thread_block = 2, half = 1; y[0] = thread_block + half; }'
    y = un.zeros(1, un.int32)
    un.RawKernel(plain, "f")(1, 1, (y,))
    assert y.tolist() == [3]
    typed = """#include <cooperative_groups.h>
    #include <cuda_fp16.h>
    extern "C" __global__ void f(int* y) {
        cooperative_groups::thread_block b = cooperative_groups::this_thread_block();
        half h = 0.5f;
        y[0] = b.size() + (h + h);
    }"""
    un.RawKernel(typed, "f")(1, 1, (y,))
    assert y.tolist() == [2]
