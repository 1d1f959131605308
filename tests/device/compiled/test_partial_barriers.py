"""Barriers under conditions that differ between the work-items of a group: those without a part wait as well."""

import math

import numpy as np
import pytest
import unisono as un
from unisono import cuda

N = 37


def sums_of_groups(x, size):
    return [int(x[k : k + size].sum()) for k in range(0, len(x), size)]


@cuda.jit
def behind_return(x, sums):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    part = cuda.shared.array(16, np.int64)
    part[t] = 0
    if i >= x.size:
        return
    part[t] = x[i]
    cuda.syncthreads()
    if t == 0:
        total = 0
        for k in range(cuda.blockDim.x):
            total += part[k]
        sums[cuda.blockIdx.x] = total


@cuda.jit
def in_branch(x, sums):
    # The sum in shared memory of Numba's user guide.
    tid = cuda.threadIdx.x
    size = len(x)
    if tid < size:
        i = cuda.grid(1)
        part = cuda.shared.array(16, np.int64)
        part[tid] = x[i]
        cuda.syncthreads()
        s = 1
        while s < cuda.blockDim.x:
            if tid % (2 * s) == 0:
                part[tid] += part[tid + s]
            s *= 2
            cuda.syncthreads()
        if tid == 0:
            sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def in_both_branches(x, w):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    part = cuda.shared.array(16, np.int64)
    part[t] = 100
    if t < 10:
        if t % 2 == 0:
            part[t] = t
            cuda.syncthreads()
            w[i] = part[(t + 2) % 10]
        else:
            w[i] = -1
            cuda.syncthreads()
            w[i] += part[t - 1]
    else:
        for k in range(3):
            part[t] += k
            cuda.syncthreads()
        w[i] = part[25 - t]


@cuda.jit
def roots(x, y):
    i = cuda.grid(1)
    part = cuda.shared.array(16, np.float64)
    if i < x.size:
        root = math.sqrt(x.size - 1 - i)  # raises for those behind the end
        part[cuda.threadIdx.x] = root
        cuda.syncthreads()
        y[i] = part[0]


C = r"""
extern "C" __global__ void reduced(const int *x, int *sums, int n) {
    extern __shared__ int part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = 0;
    if (i >= n) return;
    part[threadIdx.x] = x[i];
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
extern "C" __global__ void neighbours(const int *x, int *y, int n) {
    __shared__ int tile[18];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 1;
    if (i < n) {
        tile[t] = x[i];
        if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : 0;
        if (threadIdx.x == blockDim.x - 1 || i == n - 1) tile[t + 1] = i + 1 < n ? x[i + 1] : 0;
        __syncthreads();
        y[i] = tile[t - 1] + tile[t] + tile[t + 1];
    }
}"""


def test_behind_a_return(device):
    x = np.arange(N) ** 2
    sums = un.zeros(3, "i8", device=device)
    behind_return[3, 16](un.array(x, device=device), sums)
    assert sums.tolist() == sums_of_groups(x, 16)


def test_in_a_branch_with_a_loop(device):
    x = np.arange(48) ** 2
    sums = un.zeros(3, "i8", device=device)
    in_branch[3, 16](un.array(x, device=device), sums)
    assert sums.tolist() == sums_of_groups(x, 16)


def test_in_nested_branches(device):
    w = un.zeros(16, "i8", device=device)
    in_both_branches[1, 16](un.zeros(16, device=device), w)
    expected = [(t + 2) % 10 if t % 2 == 0 else t - 2 if t < 10 else 0 for t in range(10)] + [
        103
    ] * 6
    assert w.tolist() == expected


def test_functions_that_raise_are_called_by_those_with_a_part(device):
    y = un.zeros(N, device=device)
    roots[3, 16](un.zeros(N, device=device), y)
    assert y.tolist() == [math.sqrt(N - 1 - i // 16 * 16) for i in range(N)]


@pytest.mark.parametrize("name", ["reduced", "neighbours"])
def test_in_c_text(device, name):
    x = (np.arange(N) ** 2).astype("i4")
    kernel = un.RawModule(code=C).get_function(name)
    made = un.zeros(3 if name == "reduced" else N, "i4", device=device)
    kernel((3,), (16,), (un.array(x, device=device), made, N), shared_mem=64)
    if name == "reduced":
        assert made.tolist() == sums_of_groups(x, 16)
    else:
        around = np.concatenate([[0], x, [0]])
        assert made.tolist() == (around[:-2] + x + around[2:]).tolist()
