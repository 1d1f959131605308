"""Warp and sub-group functions in kernels of C text: 32 work-items that follow each other, on every place."""

import numpy as np
import pytest
import unisono as un

REDUCTION = r"""
__inline__ __device__ float warp_sum(float val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}
__inline__ __device__ float block_sum(float val) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % warpSize;
    int wid = threadIdx.x / warpSize;
    val = warp_sum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
    if (wid == 0) val = warp_sum(val);
    return val;
}
extern "C" __global__ void sum(const float *in, float *out, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += in[i];
    s = block_sum(s);
    if (threadIdx.x == 0) atomicAdd(out, s);
}"""


def test_a_reduction_by_warps_and_blocks(device):
    x, out = un.arange(1000, dtype="f4", device=device), un.zeros(1, "f4", device=device)
    un.RawKernel(REDUCTION, "sum")((2,), (128,), (x, out, 1000))
    assert out.tolist() == [499500.0]


def of_each(statements, n, device, block=None, ctype="int"):
    """w[i] after the statements in a block of n threads, where i is the linear index and x[i] is 3 * i."""
    code = f"""extern "C" __global__ void k(const int *x, {ctype} *w) {{
        int i = threadIdx.x + blockDim.x * threadIdx.y; {statements} }}"""
    dtype = {"int": "i4", "unsigned": "u4", "double": "f8"}[ctype]
    x = un.array(3 * np.arange(n, dtype="i4"), device=device)
    w = un.zeros(n, dtype, device=device)
    un.RawKernel(code, "k")((1,), block or (n,), (x, w))
    return np.asarray(w)


def test_shuffles_and_votes(device):
    got = of_each(
        """w[i] = (__any_sync(~0u, x[i] > 180) ? 1 : 0) + (__all_sync(~0u, x[i] < 180) ? 2 : 0);
           w[i] += 10 * __shfl_xor_sync(~0u, i, 1) + 1000 * __shfl_up_sync(~0u, i, 2);
           w[i] += 100000 * __shfl_sync(~0u, i, 3, 8);""",
        64,
        device,
    )
    i = np.arange(64)
    votes = (i >= 32) * 1 + (i < 32) * 2
    up = np.where(i % 32 >= 2, i - 2, i)
    np.testing.assert_array_equal(got, votes + 10 * (i ^ 1) + 1000 * up + 100000 * (i // 8 * 8 + 3))


def test_a_warp_that_is_not_whole(device):
    got = of_each("w[i] = __ballot_sync(~0u, x[i] % 2 == 0);", 40, device, (8, 5), "unsigned")
    assert got.tolist() == [0x55555555] * 32 + [0x55] * 8
    got = of_each("w[i] = __shfl_down_sync(~0u, 0.5 * i, 4);", 40, device, ctype="double")
    i = np.arange(40)
    np.testing.assert_array_equal(got, np.where((i % 32 + 4 < 32) & (i + 4 < 40), i + 4, i) / 2)


def test_who_takes_part_is_who_goes_there(device):
    got = of_each(
        """if (i % 2) {
               int v = x[i];
               for (int k = 0; k < 3; k++) v += __reduce_add_sync(0xaaaaaaaau, 1);
               if (i > 16) { w[i] = __ballot_sync(0xaaaa8000u, 1); } else { w[i] = v; }
           } else w[i] = -1;""",
        32,
        device,
    )
    i = np.arange(32)
    bits = np.uint32(sum(1 << k for k in range(17, 32, 2))).astype("i4")
    odd = np.where(i > 16, bits, 3 * i + 48)
    np.testing.assert_array_equal(got, np.where(i % 2, odd, -1))


def test_matches(device):
    got = of_each("w[i] = __match_any_sync(~0u, i % 4);", 32, device, ctype="unsigned")
    np.testing.assert_array_equal(got, 0x11111111 << (np.arange(32) % 4))


OF_OPENCL = {
    "sub_group_reduce_add(i)": lambda i: np.where(i < 32, 496, 32 * 8 + 28),
    "sub_group_reduce_max(-i)": lambda i: -(i // 32 * 32),
    "sub_group_scan_inclusive_add(1)": lambda i: i % 32 + 1,
    "sub_group_scan_exclusive_add(i)": lambda i: (k := i % 32) * (k - 1) // 2 + i // 32 * 32 * k,
    "sub_group_broadcast(i, 3)": lambda i: i // 32 * 32 + 3,
    "sub_group_any(i == 35)": lambda i: i // 32,
    "sub_group_all(i < 35)": lambda i: 1 - i // 32,
    "work_group_reduce_add(i)": lambda i: 0 * i + 780,
    "work_group_scan_inclusive_min(40 - i)": lambda i: 40 - i,
    "work_group_any(i == 39)": lambda i: 0 * i + 1,
    "get_sub_group_id() * 100 + get_sub_group_local_id()": lambda i: i // 32 * 100 + i % 32,
    "get_sub_group_size() + 100 * get_num_sub_groups()": lambda i: 200 + np.where(i < 32, 32, 8),
}


def test_sub_groups(device):
    stores = "".join(
        f"o[{k} * 40 + i] = {e}; sub_group_barrier(1);" for k, e in enumerate(OF_OPENCL)
    )
    o = un.zeros(40 * len(OF_OPENCL), "i4", device=device)
    code = f"__kernel void k(__global int *o) {{ int i = get_global_id(0); {stores} }}"
    un.RawKernel(code, "k")((1,), (40,), (o,))
    for got, (expression, wanted) in zip(
        np.asarray(o).reshape(-1, 40), OF_OPENCL.items(), strict=True
    ):
        np.testing.assert_array_equal(got, wanted(np.arange(40)), err_msg=expression)


@pytest.mark.parametrize(
    "statements, what",
    [
        ("w[i] = __shfl_sync(~0u, x[i], 0, 5);", "the width is a constant power of 2"),
        ("for (int k = 0; k < i; k++) w[i] += __shfl_sync(~0u, k, 0);", "barrier"),
        ("if (i > 3) return; w[i] = __ballot_sync(~0u, 1);", "barrier"),
    ],
)
def test_errors(statements, what):
    with pytest.raises(un.CompileError, match=what) as caught:
        of_each(statements, 32, "cpu")
    assert ".cu:2" in str(caught.value)
