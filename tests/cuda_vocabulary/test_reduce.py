"""Numba's decorator for reductions."""

import numpy as np
import pytest
from unisono import cuda


@cuda.reduce
def largest(a, b):
    return max(a, b)


@pytest.mark.parametrize("n", [1, 127, 129, 1000, 40001])
def test_reductions(chosen, n):
    total = cuda.reduce(lambda a, b: a + b)
    a = np.random.default_rng(n).integers(-1000, 1000, n)
    assert total(a) == a.sum()
    assert total(cuda.to_device(a), init=3) == a.sum() + 3
    assert total(a, size=1) == a[0]
    assert largest(a, init=-5000) == a.max()
    single = total(np.ones(n, np.float32))
    assert single == n
    assert single.dtype == np.float32


def test_results_in_arrays(chosen):
    stream = cuda.stream()
    result = cuda.device_array(1)
    assert largest(cuda.to_device(np.arange(1000.0)), res=result, stream=stream) is None
    stream.synchronize()
    assert result.copy_to_host()[0] == 999


def test_what_is_refused(chosen):
    assert largest(np.zeros(0), init=4) == 4
    with pytest.raises(TypeError, match="takes arrays of one axis; got one of 2"):
        largest(np.ones((2, 2)))


def test_attributes_of_the_device(chosen):
    device = cuda.get_current_device()
    assert device.WARP_SIZE == 32
    assert device.MAX_BLOCK_DIM_X >= device.MAX_BLOCK_DIM_Z > 0
    assert device.MAX_SHARED_MEMORY_PER_BLOCK > 0
    with pytest.raises(AttributeError, match="WRAP_SIZE"):
        _ = device.WRAP_SIZE
