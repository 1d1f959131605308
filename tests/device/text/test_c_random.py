"""``curand_kernel.h`` in kernels of C text, on every device."""

import numpy as np
import pytest
import unisono as un

TEXT = r"""
#include <curand.h>
#include <curand_kernel.h>
#include "curand_kernel.h"
extern "C" {
__global__ void setup(curandState *states, unsigned long long seed) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    curand_init(seed, i, 0, &states[i]);
}
__global__ void draw(curandState *states, unsigned *bits, float *u, double *ud, float *n, double *nd, int count) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    curandState_t mine = states[i];
    for (int k = i * count; k < (i + 1) * count; k++) {
        bits[k] = curand(&mine);
        u[k] = curand_uniform(&mine);
        ud[k] = curand_uniform_double(&mine);
        n[k] = curand_normal(&mine);
        nd[k] = curand_normal_double(&mine);
    }
    states[i] = mine;
}
__global__ void further(unsigned *out) {
    curandState a, b;
    curand_init(3, 5, 0, &a);
    curand_init(3, 5, 7, &b);
    skipahead(7, &a);
    out[0] = curand(&a);
    out[1] = curand(&b);
    out[2] = sizeof(curandState);
}
}"""
COUNT, STATES = 200, 128


def drawn(device, times=1):
    module = un.RawModule(code=TEXT)
    states = un.zeros(48 * STATES, "u1", device=device)
    module.get_function("setup")((2,), (STATES // 2,), (states, 1234))
    for _ in range(times):
        out = [un.zeros(COUNT * STATES, t, device=device) for t in ("u4", "f4", "f8", "f4", "f8")]
        module.get_function("draw")((2,), (STATES // 2,), (states, *out, COUNT))
    return [np.asarray(x.to_device("cpu")) for x in out]


def test_random_numbers_are_as_they_should_be(device):
    bits, *uniform, n, nd = drawn(device)
    assert len(np.unique(bits)) > 0.999 * bits.size
    assert abs(np.unpackbits(bits.view("u1")).mean() - 0.5) < 0.005
    for u in uniform:
        assert u.min() > 0 and u.max() <= 1
        assert abs(u.mean() - 0.5) < 0.01 and abs(u.var() - 1 / 12) < 0.005
    for x in (n, nd):
        assert abs(x.mean()) < 0.03 and abs(x.std() - 1) < 0.03 and abs((x**3).mean()) < 0.1
    first = uniform[1].reshape(STATES, COUNT)[:, 0]  # of neighbouring sequences
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.3


def test_states_go_on_and_devices_agree(device):
    once, twice = drawn(device), drawn(device, 2)
    assert not np.array_equal(once[0], twice[0])
    for ours, theirs in zip(once[:3], drawn("cpu")[:3], strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_offset_skips(device):
    out = un.zeros(3, "u4", device=device)
    un.RawKernel(TEXT, "further")((1,), (1,), (out,))
    a, b, size = out.tolist()
    assert a == b and size == 48


def test_no_state_without_the_header():
    code = 'extern "C" __global__ void f(int* x) { curandState s; }'
    with pytest.raises(un.CompileError, match="got 's'"):
        un.RawKernel(code, "f")((1,), (1,), (un.zeros(1, "i4"),))
