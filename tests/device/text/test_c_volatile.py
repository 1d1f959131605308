"""C text whose warps exchange values through volatile shared memory, statement by statement without a barrier."""

import numpy as np
import pytest
import unisono as un

TEXT = r"""
__device__ void last_sums(volatile int *s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}
extern "C" __global__ void sums(const int *x, int *out, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    s[t] = (i < n ? x[i] : 0) + (i + blockDim.x < n ? x[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned int k = blockDim.x / 2; k > 32; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t < 32) last_sums(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void in_loop(const int *x, int *out) {
    __shared__ int s[64];
    volatile int *v = s;
    int t = threadIdx.x, sum = x[blockIdx.x * 64 + t];
    v[t] = sum;
    __syncthreads();
    if (t < 32) {
        for (int k = 32; k > 0; k >>= 1) v[t] = sum = sum + v[t + k];
    }
    if (t == 0) out[blockIdx.x] = v[0];
}
template <unsigned int B> __device__ void last_most(volatile int *s, unsigned int t) {
    if (B >= 64) s[t] = max(s[t], s[t + 32]);
    if (B >= 32) s[t] = max(s[t], s[t + 16]);
    s[t] = max(s[t], s[t + 8]); s[t] = max(s[t], s[t + 4]);
    s[t] = max(s[t], s[t + 2]); s[t] = max(s[t], s[t + 1]);
}
extern "C" __global__ void most(const int *x, int *out) {
    __shared__ int s[64];
    unsigned int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) last_most<64>(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}
extern "C" __global__ void running_sums(const int *x, int *out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x, k = t + 32;
    s[t] = 0;
    s[k] = x[t];
    s[k] += s[k - 1]; s[k] += s[k - 2]; s[k] += s[k - 4]; s[k] += s[k - 8]; s[k] += s[k - 16];
    out[t] = s[k];
}
extern "C" __global__ void own(volatile int *x, volatile int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < i % 3; ++k) x[i] = x[i] + y[0]; // no other element of x: no work-item waits
}"""
X = (np.arange(1000) * 7919 % 1009).astype("i4")


@pytest.fixture(scope="module")
def module():
    return un.RawModule(code=TEXT)


def run(module, name, blocks, threads, device, size, n=1000, **options):
    out = un.zeros(size, "i4", device=device)
    extra = (n,) if name == "sums" else ()
    module.get_function(name)(
        (blocks,), (threads,), (un.array(X, device=device), out, *extra), **options
    )
    return out.tolist()


def test_the_last_sums_of_a_group(module, device):
    found = run(module, "sums", 4, 128, device, 4, shared_mem=512)
    assert found == [int(X[k : k + 256].sum()) for k in range(0, 1000, 256)]


def test_sums_in_a_loop(module, device):
    found = run(module, "in_loop", 4, 64, device, 4)
    assert found == [int(X[k : k + 64].sum()) for k in range(0, 256, 64)]


def test_under_conditions_of_a_template(module, device):
    found = run(module, "most", 4, 64, device, 4)
    assert found == [int(X[k : k + 64].max()) for k in range(0, 256, 64)]


def test_running_sums_of_a_warp(module, device):
    assert run(module, "running_sums", 1, 32, device, 32) == np.cumsum(X[:32]).tolist()


def test_statements_on_own_elements_meet_nobody(module, device):
    x, y = un.zeros(48, "i4", device=device), un.ones(1, "i4", device=device)
    module.get_function("own")((3,), (16,), (x, y))
    assert x.tolist() == [i % 3 for i in range(48)]
