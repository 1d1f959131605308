"""The current device of CUDA's vocabulary, for each device present and the interpreter."""

import pytest
import unisono as un
from unisono import cuda


@pytest.fixture(params=[*map(str, un.devices()), "interp"])
def chosen(request):
    """Name of the current device."""
    cuda.select_device(request.param)
    yield request.param
    cuda.close()
