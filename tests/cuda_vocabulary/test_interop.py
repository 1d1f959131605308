"""Names of Numba's CUDA beside kernels: arrays of others, mapped memory, arrays at odd addresses, what a kernel tells."""

import numpy as np
import pytest
from unisono import cuda


@cuda.jit
def double(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= 2


def test_mapped_arrays_come_back(chosen):
    a, b = np.arange(4.0), np.arange(3)
    with cuda.mapped(a) as x:
        double[1, 4](x)
        assert cuda.is_cuda_array(x)
    with cuda.mapped(a, b) as made:
        for x in made:
            double[1, 4](x)
    assert a.tolist() == [0, 4, 8, 12] and b.tolist() == [0, 2, 4]
    like = cuda.mapped_array_like(np.zeros((2, 3), "f4", order="F"))
    assert like.shape == (2, 3) and str(like.dtype) == "float32" and like.strides == (4, 8)


def test_arrays_of_devices_are_taken_as_they_are(chosen):
    x = cuda.to_device(np.arange(3))
    assert cuda.as_cuda_array(x) is x
    with pytest.raises(TypeError, match="use cuda.to_device"):
        cuda.as_cuda_array(np.arange(3))
    if x.device.name.startswith("cuda"):

        class Foreign:
            __cuda_array_interface__ = x.__cuda_array_interface__

        double[1, 4](Foreign())
        assert x.copy_to_host().tolist() == [0, 2, 4]
        assert cuda.as_cuda_array(Foreign()).copy_to_host().tolist() == [0, 2, 4]
        y = cuda.from_cuda_array_interface(x.__cuda_array_interface__, owner=x)
        double[1, 4](y)
        assert x.copy_to_host().tolist() == [0, 4, 8]


def test_arrays_at_odd_addresses_are_copied_there_and_back(chosen):
    held = np.zeros(9 * 8 + 1, np.uint8)
    odd = held[1:].view(np.float64)
    odd[...] = range(9)
    read = odd.copy()
    assert not odd.flags.aligned
    double[2, 8](odd)
    np.testing.assert_array_equal(odd, 2 * read)
    odd.flags.writeable = False
    sums = np.zeros(1)

    @cuda.jit
    def total(x, out):
        for k in range(x.size):
            out[0] += x[k]

    total[1, 1](odd, sums)
    assert sums[0] == 72


def test_kernels_tell_of_themselves(chosen):
    @cuda.jit
    def double(a):
        a[cuda.grid(1)] *= 2

    double[1, 4](cuda.to_device(np.arange(4.0)))
    (threads,) = double.get_max_threads_per_block().values()
    (signature,) = double.overloads
    assert threads == double.get_max_threads_per_block(signature) > 0
    for name in ("const_mem_size", "shared_mem_per_block", "local_mem_per_thread"):
        assert getattr(double, "get_" + name)(signature) == 0


def test_threads_sleep_and_streams_have_names(chosen):
    @cuda.jit
    def waits(a):
        cuda.nanosleep(10)
        a[cuda.grid(1)] = 1

    a = np.zeros(4)
    waits[1, 4, cuda.per_thread_default_stream()](a)
    assert a.tolist() == [1] * 4 and cuda.legacy_default_stream() == cuda.default_stream()
    with pytest.raises(RuntimeError, match="only defined inside of a kernel"):
        cuda.nanosleep(1)


def test_profiled_blocks_run(chosen):
    with cuda.profiling():
        a = np.arange(4.0)
        double[1, 4](a)
    assert a.tolist() == [0, 2, 4, 6]
