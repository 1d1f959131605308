"""Kernels: one function for each work-item, on the host and on every device, with groups and local memory."""

import numpy as np
import unisono as un


@un.kernel
def vadd(a, b, c):
    i = un.global_id(0)
    c[i] = a[i] + b[i]


@un.kernel
def group_sums(x, sums):
    part = un.local_array(8, un.float64)
    i = un.local_id(0)
    part[i] = x[un.global_id(0)]
    un.barrier()
    if i == 0:
        total = 0.0
        for k in range(8):
            total += part[k]
        sums[un.group_id(0)] = total


h_a = np.arange(1024, dtype=np.float32)
h_b = np.ones(1024, dtype=np.float32)
h_c = np.empty_like(h_a)
vadd[1024](h_a, h_b, h_c)  # NumPy's arrays: on the CPU
assert np.array_equal(h_a + h_b, h_c)

for device in un.devices():
    a, b = un.array(h_a, device=device), un.array(h_b, device=device)
    c = un.empty(1024, dtype=un.float32, device=device)
    vadd[1024](a, b, c)  # the device of the arrays
    assert np.array_equal(np.asarray(c.to_device("cpu")), h_c)

    x = un.arange(64, device=device) * 1.0
    sums = un.zeros(8, device=device)
    group_sums[64, 8](x, sums)  # 64 work-items in groups of 8
    print(f"{device}: sums of groups of eight: {sums}")
