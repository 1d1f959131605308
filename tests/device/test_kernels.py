"""Compiled loops and kernels on every device, with arrays that live there."""

import numpy as np
import pytest
import unisono as un


def host(x):
    return np.asarray(x.to_device("cpu"))


def there(device, *arrays):
    """Copies of the arrays on the device: on the CPU, too, the originals stay as they are."""
    return [un.asarray(a.copy(), device=device) for a in arrays]


def test_prange(device):
    @un.jit
    def sweep(u, v):
        for y in un.prange(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                v[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4

    n = np.random.default_rng(0).random((50, 60))
    want = n.copy()
    want[1:-1, 1:-1] = ((n[:-2, 1:-1] + n[2:, 1:-1]) + (n[1:-1, :-2] + n[1:-1, 2:])) / 4
    u, v = there(device, n, n)
    sweep(u, v)
    np.testing.assert_array_equal(host(v), want)


def test_a_reduction_used_by_a_second_loop(device):
    @un.jit
    def normalise(a):
        total = 0.0
        for i in un.prange(a.shape[0]):
            total += a[i]
        for i in un.prange(a.shape[0]):
            a[i] = a[i] / total
        return total

    x = np.arange(100.0)
    (a,) = there(device, x)
    assert normalise(a) == 4950
    np.testing.assert_array_equal(host(a), x / 4950)


def test_an_index_out_of_range_names_its_iteration(device):
    @un.jit
    def gather(a, k, out):
        for i in un.prange(out.shape[0]):
            out[i] = a[k[i]]

    k = np.zeros(1000, dtype=np.int64)
    k[[300, 700, 999]] = [5, 6, 7]
    a, index, out = there(device, np.arange(4.0), k, np.zeros(1000))
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 4"):
        gather(a, index, out)
        float(out[0])
    k[:] = -1
    a, index, out = there(device, np.arange(4.0), k, np.zeros(1000))
    gather(a, index, out)
    assert (host(out) == 3).all()


def test_kernel_with_local_memory(device):
    @un.kernel
    def reverse(a, out):
        tile = un.local_array(16, un.float64)
        l = un.local_id(0)  # noqa: E741
        i = un.global_id(0)
        tile[l] = a[i]
        un.barrier()
        out[i] = tile[15 - l]

    x = np.arange(64.0)
    a, out = there(device, x, np.zeros(64))
    reverse[64, 16](a, out)
    np.testing.assert_array_equal(host(out), x.reshape(4, 16)[:, ::-1].ravel())
    with pytest.raises(IndexError, match="index 16 is out of bounds for axis 0 with size 16"):
        reverse[64, 32](a, out)
        float(out[0])
    with pytest.raises(ValueError, match="multiple of the local size; got 60 and 16"):
        reverse[60, 16](a, out)


@pytest.mark.parametrize("size", [1, 7, 256, 1009])
def test_kernel_over_any_size(device, size):
    @un.kernel
    def vadd(a, b, c):
        i = un.global_id(0)
        c[i] = a[i] + b[i]

    x = np.arange(2000.0)
    a, b, c = there(device, x, x, np.zeros(2000))
    vadd[size](a, b, c)
    want = np.where(np.arange(2000) < size, 2 * x, 0)
    np.testing.assert_array_equal(host(c), want)


def test_views_are_passed_as_they_are(device):
    @un.jit
    def double(a, out):
        for i in un.prange(out.shape[0]):
            out[i] = 2 * a[i]

    a, out = there(device, np.arange(40.0), np.zeros(40))
    double(a[35:5:-3], out[5:25:2])
    want = np.zeros(40)
    want[5:25:2] = 2 * np.arange(40.0)[35:5:-3]
    np.testing.assert_array_equal(host(out), want)
