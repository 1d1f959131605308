"""``unisono.cupyx``: SciPy's functions for arrays of ours, scatter functions, profiler."""

import importlib

import numpy as np
import pytest
import unisono as un
import unisono.cupy as cp
import unisono.cupyx as cupyx
from unisono.cupyx import jit

scipy = pytest.importorskip("scipy")


def test_functions_of_scipy_give_arrays_of_ours():
    import scipy.ndimage
    import scipy.special
    from unisono.cupyx.scipy.special import erf

    x = un.linspace(0, 1, 8)
    a = np.asarray(x)
    assert type(erf(x)) is un.ndarray
    np.testing.assert_array_equal(np.asarray(erf(x)), scipy.special.erf(a))
    smooth = cupyx.scipy.ndimage.gaussian_filter(x, sigma=1.0)
    np.testing.assert_array_equal(np.asarray(smooth), scipy.ndimage.gaussian_filter(a, sigma=1.0))
    p, low, up = cupyx.scipy.linalg.lu(un.asarray([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_allclose(np.asarray(p @ low @ up), [[1, 2], [3, 4]])
    assert cupyx.scipy.signal.windows.hann(4).tolist() == scipy.signal.windows.hann(4).tolist()
    assert cupyx.scipy.get_array_module(x) is cupyx.scipy
    assert cupyx.scipy.get_array_module(a) is scipy
    assert "erf" in dir(cupyx.scipy.special)
    with pytest.raises(AttributeError):
        cupyx.scipy.special.no_such_name  # noqa: B018


def test_functions_of_ours_run_where_the_arrays_are(device):
    x = un.asarray(np.arange(8.0), device=device)
    made = cupyx.scipy.fft.fft(x, overwrite_x=True, workers=1)
    assert made.device == device
    np.testing.assert_allclose(made.get(), np.fft.fft(np.arange(8.0)), atol=1e-12)
    y = un.asarray(np.eye(2) * 4, device=device)
    assert cupyx.scipy.linalg.inv(y, check_finite=False).get().tolist() == [[0.25, 0], [0, 0.25]]


def test_functions_of_scipy_copy_arrays_of_devices(device):
    import contextlib

    import scipy.ndimage
    import scipy.special

    def copying(name):
        expected = rf"scipy.{name}: SciPy computes on the host; got an array on {device.name}"
        is_copied = device.name != "cpu"
        category = cupyx.scipy.PerformanceWarning
        return pytest.warns(category, match=expected) if is_copied else contextlib.nullcontext()

    a = np.arange(12.0).reshape(3, 4)
    x, y = un.asarray(a, device=device), un.zeros((3, 4), device=device)
    with copying("ndimage.gaussian_filter"):
        smooth = cupyx.scipy.ndimage.gaussian_filter(x, sigma=1.0)
    wanted = scipy.ndimage.gaussian_filter(a, sigma=1.0)
    assert smooth.device == device and smooth.get().tolist() == wanted.tolist()
    with copying("ndimage.gaussian_filter"):
        cupyx.scipy.ndimage.gaussian_filter(x, 1.0, output=y)
    assert y.get().tolist() == wanted.tolist()
    with copying("ndimage.label"):
        labels, count = cupyx.scipy.ndimage.label(x > 5)
    assert labels.device == device and count == 1
    with copying("special.erf"):
        cupyx.scipy.special.erf(x, y)
    assert y.get().tolist() == scipy.special.erf(a).tolist()
    with copying("special.erf"):
        assert cupyx.scipy.special.erf(x, out=y) is y or device.name == "cpu"


def test_scattering(device):
    with cp.cuda.Device(device.name):
        a, k = cp.zeros(3), cp.asarray([0, 2, 2])
        cupyx.scatter_add(a, k, cp.asarray([1.0, 2.0, 3.0]))
        assert a.tolist() == [1, 0, 5]
        cupyx.scatter_max(a, k, 4.0)
        assert a.tolist() == [4, 0, 5]
        cupyx.scatter_min(a, (k,), -1.0)
        assert a.tolist() == [-1, 0, -1]
        assert cupyx.rsqrt(cp.asarray([4.0, 16.0])).tolist() == [0.5, 0.25]


def test_pinned_arrays_and_the_profiler():
    a = cupyx.zeros_pinned((2, 3), np.float32)
    assert isinstance(a, np.ndarray) and a.sum() == 0
    b = cupyx.zeros_like_pinned(cp.ones((2, 2), cp.int8))
    assert b.dtype == np.int8 and b.shape == (2, 2) and cupyx.empty_like_pinned(a).shape == (2, 3)
    assert cupyx.empty_pinned(3).shape == (3,)
    with cupyx.profiler.time_range("part", sync=True), cupyx.profiler.profile():
        times = cupyx.profiler.benchmark(cp.sum, (cp.ones(8),), n_repeat=2)
    assert times.cpu_times.shape == (2,)
    assert "cpu:" in cupyx.get_runtime_info()
    with cupyx.errstate(divide="ignore"):
        assert cupyx.geterr()["divide"] == "ignore"


def test_blocks_that_forbid_to_wait(device):
    a = un.arange(3, device=device)
    stream, event = cp.cuda.Stream(), cp.cuda.Event()
    with cupyx.allow_synchronize(False):
        for waits in (
            a.get,
            lambda: cp.asnumpy(a),
            cp.cuda.Device().synchronize,
            stream.synchronize,
            event.synchronize,
            cp.cuda.Stream.null.synchronize,
        ):
            with pytest.raises(cupyx.DeviceSynchronized, match="waits for the device"):
                waits()
        with cupyx.allow_synchronize(True):
            assert a.get().tolist() == [0, 1, 2]
        with pytest.raises(RuntimeError):
            a.get()
    assert a.get().tolist() == [0, 1, 2]


@jit.rawkernel(device=True)
def squared(v):
    return v * v


@jit.rawkernel()
def sums_of_squares(x, y, n):
    """Each block's sum, through memory that it shares."""
    held = jit.shared_memory(cp.float32, 8)
    i = jit.threadIdx.x
    held[i] = cp.float32(0)
    for k in jit.range(jit.grid(1), n, jit.gridsize(1)):
        held[i] += squared(x[k])
    jit.syncthreads()
    if i == cp.uint32(0):
        for k in range(jit.blockDim.x):
            jit.atomic_add(y, 0, held[k])


@jit.rawkernel()
def reversed_block(x):
    held = jit.shared_memory(cp.int64, None)
    held[jit.threadIdx.x] = x[jit.threadIdx.x]
    jit.syncthreads()
    x[jit.threadIdx.x] = held[jit.blockDim.x - 1 - jit.threadIdx.x]


def test_kernels_in_python(device):
    with cp.cuda.Device(device.name):
        x = cp.arange(100, dtype=cp.float32)
        for launch in (lambda *a: sums_of_squares((2,), (8,), a), sums_of_squares[2, 8]):
            y = cp.zeros(1, dtype=cp.float32)
            launch(x, y, 100)
            assert float(y[0]) == 328350
        z = cp.arange(6)
        reversed_block((1,), (6,), (z,), shared_mem=48)
        assert z.tolist() == [5, 4, 3, 2, 1, 0]
        assert jit.warpsize == 32 and "sums_of_squares" in repr(sums_of_squares)
    with pytest.raises(ValueError, match="mode is 'cuda' or 'numpy'; got 'c'"):
        jit.rawkernel("c")
    with pytest.raises(RuntimeError, match="only defined inside of a kernel"):
        jit.shared_memory(cp.float32, 8)


@pytest.mark.parametrize(
    "name",
    [
        "scipy.sparse.linalg",
        "scipy.signal.windows",
        "scipy.linalg",
        "scipy.spatial.distance",
        "profiler",
    ],
)
def test_modules_are_imported_by_their_names(name):
    module = importlib.import_module(f"unisono.cupyx.{name}")
    assert module.__name__ == f"unisono.cupyx.{name}"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"unisono.cupyx.{name}.nothing")


def test_functions_of_modules_in_modules():
    from unisono.cupyx.scipy.signal.windows import hann
    from unisono.cupyx.scipy.spatial.distance import pdist

    x = np.random.default_rng(1).random((4, 3))
    np.testing.assert_array_equal(hann(8), scipy.signal.windows.hann(8))
    np.testing.assert_array_equal(pdist(un.asarray(x)), scipy.spatial.distance.pdist(x))
    from unisono.cupy.linalg import norm

    assert norm is un.linalg.norm
