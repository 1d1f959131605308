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


TILES = (
    HEADER
    + r"""
#include <cooperative_groups/reduce.h>
extern "C" __global__ void sums(const int* x, int* y, int n) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<WIDTH>(block);
    int k = blockIdx.x * blockDim.x + block.thread_rank(), v = k < n ? x[k] : 0;
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) y[blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()] = v;
}
extern "C" __global__ void words(const int* x, int* y) {
    cg::thread_block_tile<WIDTH> t = cg::tiled_partition<WIDTH>(cg::this_thread_block());
    int k = threadIdx.x, v = x[k];
    y[0 * 64 + k] = cg::reduce(t, v, cg::plus<int>());
    y[1 * 64 + k] = cg::reduce(t, v, cg::greater<int>());
    y[2 * 64 + k] = cg::inclusive_scan(t, v);
    y[3 * 64 + k] = cg::exclusive_scan(t, v, cg::bit_xor<int>());
    y[4 * 64 + k] = t.shfl(v, 1) + t.shfl_xor(v, 1);
    y[5 * 64 + k] = t.ballot(v % 2);
    y[6 * 64 + k] = t.any(v == 5) + 2 * t.all(v > 5);
    t.sync();
    auto half = cg::tiled_partition(t, WIDTH / 2);
    y[7 * 64 + k] = 0;
    if (k >= WIDTH) y[7 * 64 + k] = half.shfl(v, 0) + (int)half.num_threads();
}"""
)


@pytest.mark.parametrize("width", [2, 8, 32])
def test_tiles_of_blocks(chosen, width):
    rng = np.random.default_rng(width)
    a = rng.integers(0, 40, 128).astype(np.int32)
    module = un.RawModule(code=TILES.replace("WIDTH", str(width)))
    y = un.zeros(128 // width, np.int32, device=chosen)
    module.get_function("sums")((2,), (64,), (un.asarray(a, device=chosen), y, 120))
    padded = np.where(np.arange(128) < 120, a, 0)
    assert y.tolist() == padded.reshape(-1, width).sum(1).tolist()

    got = un.zeros((8, 64), np.int32, device=chosen)
    module.get_function("words")((1,), (64,), (un.asarray(a[:64], device=chosen), got))
    t = a[:64].reshape(-1, width)
    same = lambda values: np.repeat(values, width).reshape(t.shape)  # noqa: E731
    before = np.bitwise_xor.accumulate(np.c_[np.zeros(len(t), int), t[:, :-1]], 1)
    bits = (t % 2 * (1 << np.arange(width, dtype=np.int64))).sum(1).astype(np.uint32).view(np.int32)
    halves = t.reshape(-1, width // 2)
    first = np.repeat(halves[:, 0], width // 2) + width // 2
    wanted = [
        same(t.sum(1)), same(t.max(1)), t.cumsum(1), before, same(t[:, 1]) + t[:, np.arange(width) ^ 1],
        same(bits), same((t == 5).any(1) + 2 * (t > 5).all(1)), np.where(np.arange(64) >= width, first, 0),
    ]  # fmt: skip
    assert got.tolist() == [w.ravel().tolist() for w in wanted]


def test_tiles_that_are_none():
    text = HEADER + 'extern "C" __global__ void k(int* y) {{ auto t = {}; y[0] = t.{}; }}'
    for made, method, message in (
        ("cg::tiled_partition<24>(cg::this_thread_block())", "size()", "tiles are of 1, 2, 4, 8, 16 or 32"),
        ("cg::tiled_partition<32>(cg::this_grid())", "size()", "tiles are of 1, 2, 4, 8, 16 or 32"),
        ("cg::tiled_partition<8>(cg::this_thread_block())", "shfl(1)", "'shfl' of a tile is not translated"),
    ):  # fmt: skip
        with pytest.raises(un.CompileError, match=message):
            un.RawKernel(text.format(made, method), "k")((1,), (32,), (un.zeros(1, np.int32),))
    passing = (
        HEADER
        + """template <typename G> __device__ int f(G g) { return 1; }
        extern "C" __global__ void k(int* y) { y[0] = f(cg::tiled_partition<4>(cg::this_thread_block())); }"""
    )
    with pytest.raises(un.CompileError, match="a group is passed to 'f'"):
        un.RawKernel(passing, "k")((1,), (32,), (un.zeros(1, np.int32),))
