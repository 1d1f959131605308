"""Compiled functions and kernels take our arrays where they live: pending work first, views, no copies."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


@un.kernel
def double(a, b):
    i = un.global_id(0)
    b[i] = a[i] * 2


@un.jit
def double_all(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


def test_kernel_runs_where_its_arrays_live(device):
    a = un.arange(10, device=device) * 1.0  # pending
    b = un.zeros(12, device=device)
    before = b + 1  # reads b as it was
    double[5](a[::2], b[6:11])
    after = b + 1
    wanted = np.zeros(12)
    assert np.array_equal(np.asarray(before.to_device("cpu")), wanted + 1)
    wanted[6:11] = np.arange(10.0)[::2] * 2
    assert np.array_equal(np.asarray(after.to_device("cpu")), wanted + 1)


def test_compiled_function_takes_arrays_without_copies():
    a, b = un.arange(1000) * 1.0, un.zeros(1000)
    un.eval()
    before = un.stats()["bytes_copied"]
    double_all(a, b)
    assert un.stats()["bytes_copied"] == before
    assert float(b[999]) == 1998


def test_our_arrays_and_numpys_mix_on_the_host():
    b = un.zeros(3)
    double_all(np.arange(3.0), b)
    assert b.tolist() == [0.0, 2.0, 4.0]


def test_read_only_arrays_are_not_written():
    with pytest.raises((ValueError, TypeError, un.CompileError), match="read-only|readonly"):
        double_all(un.zeros(3), un.broadcast_to(un.zeros(1), (3,)))
