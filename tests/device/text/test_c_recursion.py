"""Functions of C text that call themselves: the host runs them, devices refuse them."""

import numpy as np
import pytest
import unisono as un
from unisono import cuda


@pytest.fixture(params=[*map(str, un.devices()), "interp"])
def chosen(request):
    cuda.select_device(request.param)
    yield request.param
    cuda.close()


PROGRAMS = {
    "fib": "__device__ double f(int n) { return n > 1 ? f(n - 1) + f(n - 2) : n; }",
    "even": """__device__ int g(int n);
        __device__ int f(int n) { return n == 0 ? 1 : g(n - 1); }
        __device__ int g(int n) { return n == 0 ? 0 : f(n - 1); }""",
    "fill": """
        __device__ void fill(int *p, int n, int &count) {
            if (n == 0) return;
            p[n - 1] = n * blockDim.x;
            count++;
            fill(p, n - 1, count);
        }
        __device__ int f(int n) {
            int made[8], count = 0;
            fill(made, n, count);
            int sum = count;
            for (int k = 0; k < n; ++k) sum += made[k];
            return sum;
        }""",
    "template": """template <typename T> __device__ T power(T x, int n) {
            return n == 0 ? T(1) : n % 2 ? x * power(x, n - 1) : power(x * x, n / 2);
        }
        __device__ double f(int n) { return power(1.5, n) + power(3, n); }""",
}
EXPECTED = {
    "fib": [0, 1, 1, 2, 3, 5, 8, 13],
    "even": [1, 0] * 4,
    "fill": [n + 8 * n * (n + 1) / 2 for n in range(8)],
    "template": [1.5**n + 3**n for n in range(8)],
}
KERNEL = 'extern "C" __global__ void k(double *a) { int i = threadIdx.x; a[i] = f(i); }'


@pytest.mark.parametrize("name", PROGRAMS)
def test_recursion(chosen, name):
    kernel = un.RawKernel(PROGRAMS[name] + KERNEL, "k")
    a = cuda.to_device(np.zeros(8))
    if chosen in ("cpu", "interp"):
        kernel((1,), (8,), (a,))
        assert a.copy_to_host().tolist() == EXPECTED[name]
    else:
        with pytest.raises(
            un.UnsupportedError, match="a recursive function cannot run on this device"
        ):
            kernel((1,), (8,), (a,))


def test_recursion_without_end(chosen):
    text = "__device__ int f(int n) { return f(n - 1) + 1; }"
    error, message = RuntimeError, "maximum recursion depth exceeded"
    if chosen not in ("cpu", "interp"):
        error, message = un.UnsupportedError, "a recursive function cannot run on this device"
    with pytest.raises(error, match=message):
        un.RawKernel(text + KERNEL, "k")((1,), (8,), (cuda.to_device(np.zeros(8)),))
