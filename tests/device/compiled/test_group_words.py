"""Functions of sub-groups (warps) and work-groups in Python kernels, bit functions and fences, on every place."""

import numpy as np
import pytest
import unisono as un
from unisono import cuda

N = 80  # two sub-groups of 32 work-items and one of 16


def of_each(kernel, device, dtype="i4", size=(N,), local=(N,), x=None):
    """w[i] after a kernel (x, w) in one group, where i is the linear index and x[i] is 3 * i."""
    n = int(np.prod(size))
    x = un.array(3 * np.arange(n, dtype="i4") if x is None else x, device=device)
    w = un.zeros(n, dtype, device=device)
    kernel[size, local](x, w)
    return np.asarray(w)


def lanes(n=N):
    """The values 3 * i by sub-group."""
    x = 3 * np.arange(n)
    return [x[k : k + 32] for k in range(0, n, 32)]


@un.kernel
def shuffles(x, w):
    i = un.local_linear_id()
    w[i] = un.sub_group_shuffle(x[i], i + 1)
    w[i] += 1000 * un.sub_group_shuffle_up(x[i], 2)
    w[i] += 1000000 * un.sub_group_shuffle_xor(x[i] // 3 % 32, 1)


def test_shuffles(device):
    rows = []
    for row in lanes():
        k = np.arange(len(row))
        # A lane that the last sub-group has not gives the own value.
        after = np.where(
            k + 1 < len(row), row[(k + 1) % len(row)], row[0] if len(row) == 32 else row
        )
        up = np.where(k >= 2, row[k - 2], row)
        rows.append(after + 1000 * up + 1000000 * (k ^ 1))
    assert of_each(shuffles, device).tolist() == np.concatenate(rows).tolist()


@un.kernel
def ids(x, w):
    i = un.local_linear_id()
    w[i] = un.sub_group_local_id() + 100 * un.sub_group_id() + 1000 * un.sub_group_size()
    w[i] += 100000 * un.num_sub_groups() + 1000000 * (un.local_linear_size() // 10)


def test_indices_over_two_axes(device):
    i = np.arange(N)
    expected = i % 32 + 100 * (i // 32) + 1000 * np.where(i < 64, 32, 16) + 8300000
    assert of_each(ids, device).tolist() == expected.tolist()
    assert of_each(ids, device, size=(8, 10), local=(8, 10)).tolist() == expected.tolist()


@un.kernel
def votes(x, w):
    i = un.local_linear_id()
    w[i] = un.sub_group_ballot(x[i] % 2 == 0)
    if un.sub_group_any(x[i] == 9):
        w[i] += 1
    if un.sub_group_all(x[i] < 200):
        w[i] += 2
    is_there = un.work_group_any(x[i] == 30)
    are_all = un.work_group_all(x[i] >= 0)
    if is_there and are_all:
        w[i] += 4


def test_votes(device):
    even = int("01" * 16, 2)
    first, others = even + 1 + 2 + 4, even + 4
    expected = [first] * 32 + [others + 2] * 32 + [(even & 0xFFFF) + 4] * 16
    got = of_each(votes, device, "i8")
    expected[32:64] = [even + 4 + (2 if 63 * 3 < 200 else 0)] * 32
    assert got.tolist() == expected


@un.kernel
def reductions(x, w):
    i = un.local_linear_id()
    w[i] = un.sub_group_reduce_add(x[i])
    w[i] += 10000 * un.sub_group_scan_inclusive_max(x[i] % 7)
    w[i] += 100000 * un.sub_group_broadcast(x[i] % 7, 1)


@un.kernel
def group_reductions(x, w):
    i = un.local_linear_id()
    w[i] = un.work_group_scan_exclusive_add(x[i]) - un.work_group_reduce_min(x[i])
    w[i] += un.work_group_broadcast(x[i], 7) - un.work_group_reduce_max(x[i])


def test_reductions_and_scans(device):
    x = 3 * np.arange(N)
    rows = [
        row.sum() + 10000 * np.maximum.accumulate(row % 7) + 100000 * (row[1] % 7)
        for row in lanes()
    ]
    assert of_each(reductions, device).tolist() == np.concatenate(rows).tolist()
    expected = np.concatenate([[0], np.cumsum(x)[:-1]]) + 21 - x[-1]
    assert of_each(group_reductions, device).tolist() == expected.tolist()


@un.kernel
def of_python_numbers(x, w):
    i = un.local_linear_id()
    w[i] = un.sub_group_shuffle(i, i + 1) + 100 * un.work_group_reduce_max(0.5 * i)
    w[i] += 10000 * un.sub_group_shuffle(x[i] > 2, 1)


def test_numbers_of_python_are_given_on(device):
    w = of_each(of_python_numbers, device, "f8", (8,), (8,))
    assert w.tolist() == [min(i + 1, 7) + 350 + 10000 for i in range(8)]


@un.kernel
def in_a_large_group(x, w):
    w[un.local_linear_id()] = un.work_group_reduce_add(x[un.local_linear_id()])


def test_groups_of_more_than_1024_are_refused():
    for kernel in (in_a_large_group, shuffles):
        with pytest.raises(ValueError, match="at most 1024 work-items"):
            of_each(kernel, "cpu", size=(2048,), local=(2048,))


@un.kernel
def barriers_in_a_loop(a, count):
    i, me = un.global_id(0), un.local_id(0)
    t = un.local_array(64, np.float32)
    x = a[i]
    for _ in range(5):
        t[me] = x
        un.barrier()
        x += t[63 - me]
        un.barrier()
    a[i] = x
    if me == 0:
        un.atomic.add(count, 0, 1)


def test_what_stands_behind_a_loop_of_barriers_runs_once(device):
    a, count = un.ones(128, "f4", device=device), un.zeros(1, "i4", device=device)
    barriers_in_a_loop[128, 64](a, count)
    assert (a.tolist(), count.tolist()) == ([32.0] * 128, [2])


@un.kernel
def extremes(x, w):
    i = un.local_linear_id()
    w[i] = un.sub_group_scan_exclusive_min(x[i])
    w[i + x.shape[0]] = un.sub_group_scan_exclusive_max(x[i])


@pytest.mark.parametrize("dtype", ["i4", "u8", "i8", "u1", "f4", "f8"])
def test_exclusive_extremes_begin_at_the_ends_of_the_type(device, dtype):
    x = un.array(np.array([3, 1, 2], dtype), device=device)
    w = un.zeros(6, dtype, device=device)
    extremes[3, 3](x, w)
    if dtype.startswith("f"):
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    assert w.tolist() == [high, 3, 1, low, 3, 3]


@cuda.jit
def warp_total(a, out):
    i = cuda.grid(1)
    x = a[i]
    for k in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(0xFFFFFFFF, x, k)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, x)


@cuda.jit
def warp_words(a, out):
    i = cuda.grid(1)
    x = a[i]
    out[i, 0] = cuda.ballot_sync(0xFFFFFFFF, x > 2)
    out[i, 1] = cuda.match_any_sync(0xFFFFFFFF, x)
    out[i, 2], _ = cuda.match_all_sync(0xFFFFFFFF, x // 8)


@cuda.jit
def more_warp_words(a, out):
    i = cuda.grid(1)
    x = a[i]
    cuda.syncwarp()
    out[i, 3] = cuda.shfl_xor_sync(0xFFFFFFFF, x, 1)
    out[i, 4] = cuda.shfl_up_sync(0xFFFFFFFF, x, 1)
    out[i, 5] = cuda.shfl_sync(0xFFFFFFFF, x, 2)
    out[i, 6] = cuda.lanemask_lt()
    out[i, 7] = cuda.syncthreads_count(x > 2) + cuda.warpsize
    one = cuda.any_sync(0xFFFFFFFF, x == 1)
    ones = cuda.all_sync(0xFFFFFFFF, x == 1)
    if one and not ones:
        out[i, 7] += 100
    if cuda.eq_sync(0xFFFFFFFF, x >= 0):
        out[i, 7] += 1000


@pytest.fixture(params=[*map(str, un.devices()), "interp"])
def chosen(request):
    cuda.select_device(request.param)
    yield request.param
    cuda.close()


def test_a_reduction_as_it_was_written_for_numba(chosen):
    a, out = np.arange(128, dtype=np.float32), np.zeros(1, np.float32)
    warp_total[2, 64](a, out)
    assert out.tolist() == [a.sum()]


def test_warp_functions_with_numbas_names(chosen):
    a, out = np.arange(8, dtype=np.int32) % 4, np.zeros((8, 8), np.int64)
    warp_words[1, 8](a, out)
    more_warp_words[1, 8](a, out)
    i = np.arange(8)
    assert out[:, 0].tolist() == [0b10001000] * 8
    assert out[:, 1].tolist() == (0b10001 << i % 4).tolist()
    assert out[:, 2].tolist() == [0xFF] * 8
    assert out[:, 3].tolist() == a[i ^ 1].tolist()
    assert out[:, 4].tolist() == [0, *a[:-1]]
    assert out[:, 5].tolist() == [2] * 8
    assert out[:, 6].tolist() == ((1 << i) - 1).tolist()
    assert out[:, 7].tolist() == [2 + 32 + 100 + 1000] * 8


@cuda.jit
def bits(a, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.popc(a[i])
    out[i, 1] = cuda.clz(a[i])
    out[i, 2] = cuda.ffs(a[i])
    out[i, 3] = cuda.brev(a[i])


@cuda.jit
def roots(a, out):
    i = cuda.grid(1)
    out[i] = cuda.fma(cuda.cbrt(a[i]), 2.0, 1.0)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_fma_and_cbrt(chosen, dtype):
    a, out = np.array([1, 8, 27], dtype), np.zeros(3)
    roots[1, 3](a, out)
    np.testing.assert_allclose(out, [3, 5, 7], rtol=1e-6 if dtype == "f4" else 1e-15)


@cuda.jit
def whole_fma(a, out):
    i = cuda.grid(1)
    out[i] = cuda.fma(a[i], 2, 1)


@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_fma_of_several_types(chosen, dtype):
    a, out = np.array([1, 8, 27], dtype), np.zeros(3)
    whole_fma[1, 3](a, out)
    assert out.tolist() == [3, 17, 55]


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
def test_bit_functions(chosen, dtype):
    a = np.array([0, 1, 6, np.iinfo(dtype).max, np.iinfo(dtype).max // 3 * 2], dtype)
    out = np.zeros((5, 4), dtype)
    bits[1, 5](a, out)
    width = 8 * a.itemsize
    for x, (ones, zeros, first, turned) in zip(a.tolist(), out.tolist(), strict=True):
        text = f"{x:0{width}b}"
        assert (ones, zeros) == (text.count("1"), (text + "1").index("1"))
        assert first == (width - text.rindex("1") if x else 0)
        assert turned % 2**width == int(text[::-1], 2)


@cuda.jit
def total_by_last_block(a, parts, count, out):
    tile = cuda.shared.array(1, np.int32)
    i = cuda.grid(1)
    cuda.atomic.add(parts, cuda.blockIdx.x, a[i])
    cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        tile[0] = cuda.atomic.inc(count, 0, cuda.gridDim.x - 1)
    cuda.syncthreads()
    if tile[0] == cuda.gridDim.x - 1 and cuda.threadIdx.x == 0:
        for k in range(cuda.gridDim.x):
            out[0] += parts[k]


def test_the_last_block_sees_what_others_wrote_before_their_fences(chosen):
    if chosen == "interp":
        pytest.skip("takes what blocks pass to each other within a kernel for a race")
    a, out = np.arange(64, dtype=np.int32), np.zeros(1, np.int32)
    total_by_last_block[8, 8](a, np.zeros(8, np.int32), np.zeros(1, np.uint32), out)
    assert out.tolist() == [a.sum()]


@cuda.jit
def without_barrier(a, out):
    tile = cuda.shared.array(8, dtype=np.int32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    out[i] = tile[7 - i]


def test_the_interpreter_tells_of_a_barrier_that_is_missing():
    cuda.select_device("interp")
    try:
        with pytest.raises(ValueError, match=r"\[7\] of array .* is read before .*barrier"):
            without_barrier[1, 8](np.arange(8, dtype=np.int32), np.zeros(8, np.int32))
    finally:
        cuda.close()


@un.kernel
def fenced(x, w):
    i = un.global_id(0)
    w[i] = x[i]
    un.mem_fence(2)
    w[i] += x[i]


def test_a_fence_is_one_in_the_generated_code(device):
    assert of_each(fenced, device, local=(N,)).tolist() == (6 * np.arange(N)).tolist()
    if device.name.startswith("opencl"):
        assert "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);" in str(
            fenced.inspect_llvm()
        )
    elif device.name == "cpu":
        assert "fence seq_cst" in str(fenced.inspect_llvm())


def test_kernels_that_call_group_functions_need_a_local_size():
    with pytest.raises(ValueError, match="needs its local size"):
        shuffles[N](np.arange(N), np.zeros(N))


@un.kernel
def under_a_condition(x, w):
    i = un.global_id(0)
    if x[i] > 3:
        w[i] = un.sub_group_reduce_add(x[i])


@un.kernel
def in_a_choice(x, w):
    i = un.global_id(0)
    w[i] = un.sub_group_shuffle(x[i], 0) if x[i] > 3 else 0


@un.kernel
def in_a_loop(x, w):
    i = un.global_id(0)
    for k in range(i):
        w[i] += un.sub_group_shuffle(x[i], k)


@pytest.mark.parametrize(
    "kernel, name",
    [
        (under_a_condition, "sub_group_reduce_add"),
        (in_a_choice, "sub_group_shuffle"),
        (in_a_loop, "sub_group_shuffle"),
    ],
)
def test_calls_that_not_all_work_items_reach_are_refused(kernel, name):
    what = f"a call of {name}, which has a barrier, that not every work-item of the group may reach"
    with pytest.raises(un.CompileError, match=what):
        kernel[4, 4](np.arange(4), np.zeros(4, int))


@un.kernel
def while_any(x, w):
    i = un.global_id(0)
    while un.work_group_any(w[i] < x[i]):
        w[i] += 1


def test_loops_repeated_while_the_group_says_so_are_refused_on_the_cpu():
    what = (
        "also those in functions of the group such as work_group_any; got a condition that depends"
    )
    with pytest.raises(un.CompileError, match=what):
        while_any[4, 4](np.arange(4), np.zeros(4, int))


@pytest.mark.parametrize("word", ["sub_group_shuffle", "work_group_reduce_add", "mem_fence"])
def test_words_called_from_python(word):
    with pytest.raises(RuntimeError, match=f"{word}: only defined inside of a kernel"):
        getattr(un, word)(*([1] * getattr(un, word).__code__.co_argcount))


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint16"])
def test_atomics_on_numbers_of_less_than_four_bytes(device, dtype):
    @un.kernel
    def counted(sums, largest, before):
        k = un.global_id(0)
        before[k] = un.atomic.add(sums, k % 3, 2)
        un.atomic.max(largest, k % 3, k)

    sums, largest = (un.zeros(3, dtype, device=device) for _ in range(2))
    before = un.zeros(32, dtype, device=device)
    counted[32](sums, largest, before)
    assert sums.tolist() == [22, 22, 20] and largest.tolist() == [30, 31, 29]
    assert sorted(before.tolist()[::3]) == list(range(0, 22, 2))
