"""print in kernels, which the host's devices run."""

import contextlib
import io

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices
from unisono import cuda


@pytest.mark.parametrize("on", host_devices())
def test_work_items_print(on):
    @un.kernel(device=on)
    def f(a):
        held = un.local_array(4, np.float64)
        i = un.global_id(0)
        held[un.local_id(0)] = a[i]
        un.barrier()
        if i % 3 == 2:
            print("item", i, held[3 - un.local_id(0)], f"{a[i]:.3f}")

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        f[8, 4](np.arange(8.0))
    assert sorted(out.getvalue().splitlines()) == ["item 2 1.0 2.000", "item 5 6.0 5.000"]


def test_threads_of_cuda_print_from_all_cores():
    @cuda.jit
    def f(a):
        i = cuda.grid(1)
        if i < a.size and a[i] % 1000 == 0:
            print(i)

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        f[400, 256](np.arange(100_000))
    assert sorted(map(int, out.getvalue().split())) == list(range(0, 100_000, 1000))
