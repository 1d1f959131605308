"""A context and a queue of each OpenCL device; without one the tests of this folder are skipped."""

import pytest
import unisono as un
import unisono.opencl as cl


def opencl_devices():
    """Names of the engine's OpenCL devices."""
    return [d.name for d in un.devices() if d.name.startswith("opencl")]


@pytest.fixture(scope="session", params=opencl_devices() or [None])
def ctx(request):
    """A context of one device."""
    if request.param is None:
        pytest.skip("no OpenCL device")
    address = un._engine._native_handles(request.param)[1]
    return cl.Context([cl.Device.from_int_ptr(address)])


@pytest.fixture
def queue(ctx):
    """A queue in order, without profiling."""
    return cl.CommandQueue(ctx)


@pytest.fixture
def build(ctx):
    """Builds a program of the context."""
    return lambda text, options=(): cl.Program(ctx, text).build(options)


@pytest.fixture
def to_buffer(ctx):
    """A buffer with a copy of an array."""
    mf = cl.mem_flags
    return lambda array: cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=array)
