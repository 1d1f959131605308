"""Kernels with the names of Numba's CUDA, on every device."""

import numpy as np
import pytest
import unisono as un
from unisono import cuda, float32, void


@pytest.fixture(params=[*map(str, un.devices()), "interp"])
def chosen(request):
    cuda.select_device(request.param)
    yield request.param
    cuda.close()


@cuda.jit(void(float32[:, :], float32[:, :], float32[:, :]))
def square_matrix_mult(A, B, C):
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    bx = cuda.blockIdx.x
    by = cuda.blockIdx.y
    bw = cuda.blockDim.x
    bh = cuda.blockDim.y
    x = tx + bx * bw
    y = ty + by * bh
    n = C.shape[0]
    if x >= n or y >= n:
        return
    cs = 0
    for i in range(n):
        cs += A[y, i] * B[i, x]
    C[y, x] = cs


def test_a_program_as_it_was_written_for_numba(chosen):
    rng = np.random.default_rng(1)
    a, b = (rng.random((37, 37)).astype(np.float32) for _ in range(2))
    here = np.zeros_like(a)
    square_matrix_mult[(3, 3), (16, 16)](a, b, here)
    np.testing.assert_allclose(here, a @ b, rtol=1e-5)
    there = cuda.device_array_like(a)
    square_matrix_mult[(3, 3), (16, 16)](cuda.to_device(a), cuda.to_device(b), there)
    assert there.device == chosen
    np.testing.assert_array_equal(there.copy_to_host(), here)


@cuda.jit(boundscheck=False)
def gather_shared(at, out):
    tile = cuda.shared.array((2, 4), np.float64)
    t = cuda.threadIdx.x
    tile[t // 4, t % 4] = 10 * t
    cuda.syncthreads()
    out[t] = tile[at[t] % 2 - 2, at[t] - 4] + tile.shape[1]


def test_negative_indices_of_shared_arrays_without_tests(chosen):
    at, out = np.array([3, 0, 1, 2, 1, 3, 3, 0]), np.zeros(8)
    gather_shared[1, 8](at, out)
    rows = np.arange(0, 80, 10.0).reshape(2, 4)
    assert out.tolist() == [rows[a % 2, a] + 4 for a in at]


weights = np.arange(4, dtype=np.float32)


@cuda.jit(device=True)
def weighted(x, w):
    return x * w


@cuda.jit
def sum_blocks(a, out):
    part = cuda.shared.array(shape=64, dtype=np.float32)
    own = cuda.local.array(2, np.float32)
    w = cuda.const.array_like(weights)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    own[0] = a[i] if i < a.size else np.float32(0)
    own[1] = w[t % 4]
    part[t] = weighted(own[0], own[1])
    cuda.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


def test_shared_local_and_constant_arrays(chosen):
    a = np.arange(200, dtype=np.float32)
    want = np.zeros(256, np.float32)
    want[:200] = a * weights[np.arange(200) % 4]
    out = np.zeros(4, np.float32)
    sum_blocks[4, 64](a, out)
    np.testing.assert_array_equal(out, want.reshape(4, 64).sum(1))


def test_what_atomics_give_is_what_was_there_before(chosen):
    @cuda.jit
    def many(place, seen, counts, floats):
        at = cuda.atomic.add(place, 0, 1)
        seen[at] = cuda.grid(1)
        cuda.atomic.inc(counts, 0, 7)
        cuda.atomic.dec(counts, 1, 5)
        before = cuda.atomic.cas(floats, 0, 0.5, 2.5)
        if before == 0.5:
            cuda.atomic.add(floats, 1, 1.0)
        floats[3 + at] = cuda.atomic.exch(floats, 2, 1.0 * cuda.grid(1))
        cuda.atomic.max(place, 1, cuda.grid(1))

    place, seen = np.zeros(2, np.int32), np.full(20, -1, np.int32)
    counts, floats = np.zeros(2, np.uint32), np.zeros(23)
    floats[0], floats[2] = 0.5, -1
    many[5, 4](place, seen, counts, floats)
    assert place.tolist() == [20, 19]
    assert sorted(seen.tolist()) == list(range(20))
    assert counts.tolist() == [20 % 8, 4]
    assert floats[0] == 2.5 and floats[1] == 1
    assert sorted([*floats[3:], floats[2]]) == list(range(-1, 20))


def test_a_launch_of_fewer_axes_has_one_thread_along_the_others(chosen):
    @cuda.jit
    def places(out):
        x, y = cuda.grid(2)
        out[x] = 100 * y + 10 * cuda.gridDim.y + cuda.blockDim.z + cuda.threadIdx.z

    out = np.zeros(6, np.int64)
    places[3, 2](out)
    assert out.tolist() == [11] * 6


def test_shared_memory_of_the_launch(chosen):
    @cuda.jit
    def reverse(a):
        kept = cuda.shared.array(0, np.int32)
        t = cuda.threadIdx.x
        kept[t] = a[t]
        cuda.syncthreads()
        a[t] = kept[cuda.blockDim.x - 1 - t]

    a = np.arange(8, dtype=np.int32)
    reverse[1, 8, 0, 32](a)
    assert a.tolist() == list(range(7, -1, -1))
    with pytest.raises(un.CompileError, match="fourth entry of the launch, in bytes; got 0"):
        reverse[1, 8](a)


def test_streams_events_and_forall(chosen):
    @cuda.jit
    def double(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= 2

    stream = cuda.stream()
    start, end = cuda.event(), cuda.event()
    a = cuda.to_device(np.arange(1000.0), stream=stream)
    start.record(stream)
    double[4, 256, stream](a)
    end.record(stream)
    stream.synchronize()
    assert cuda.event_elapsed_time(start, end) >= 0
    double.forall(0)(a)
    double.forall(a.size)(a)
    out = np.zeros(1000)
    assert a.copy_to_host(out) is out
    np.testing.assert_array_equal(out, 4 * np.arange(1000.0))


def decorated(body):
    """A kernel of a text that nothing refers to when it is launched."""
    text = f"def made(a):\n    {body}\n"
    space = {"cuda": cuda}
    exec(text, space)
    return cuda.jit(space["made"])


def test_kernels_of_texts_that_were_executed(chosen):
    a = np.zeros(4)
    decorated("a[cuda.grid(1)] = cuda.grid(1)")[2, 2](a)
    assert a.tolist() == [0, 1, 2, 3]


@cuda.jit
def index_too_far(a):
    a[cuda.grid(1)] = 1


@pytest.mark.parametrize(
    "launch, error, what",
    [
        (
            lambda a: index_too_far(a),
            ValueError,
            "launch configuration was not specified; got a plain call",
        ),
        (lambda a: index_too_far[4](a), ValueError, "a launch has 2 to 4 entries; got 1"),
        (lambda a: index_too_far[1, 0](a), ValueError, "threads are positive; got 0"),
        (lambda a: index_too_far[0, 1](a), ValueError, "blocks are positive; got 0"),
        (
            lambda a: index_too_far[(1, 0), 1](a),
            RuntimeError,
            "blocks are positive; got .1, 0.; give a number of at least 1 for each axis .CUDA_ERROR_INVALID_VALUE.",
        ),
        (
            lambda a: index_too_far[(1, 1, 1, 1), 4](a),
            ValueError,
            "griddim must be a sequence of 1, 2 or 3 integers, got .1, 1, 1, 1",
        ),
        (
            lambda a: index_too_far[1.5, 4](a),
            TypeError,
            "griddim must be a sequence of integers, got .1.5.",
        ),
        (lambda a: index_too_far[1, 4, 7](a), TypeError, "the stream is one of cuda.stream"),
        (lambda a: cuda.grid(1), RuntimeError, "cuda.grid: only defined inside of a kernel"),
        (lambda a: cuda.threadIdx.x, RuntimeError, "threadIdx.x: only defined inside"),
        (lambda a: cuda.shfl_sync(1, 2, 3), RuntimeError, "shfl_sync: only defined inside"),
        (lambda a: cuda.vote_sync_intrinsic, AttributeError, "use shfl_sync and its like"),
        (lambda a: cuda.select_device(77), un.DeviceError, "there is no device 77"),
    ],
)
def test_errors_say_what_to_do(launch, error, what):
    with pytest.raises(error, match=what):
        launch(np.zeros(4))


def test_an_index_out_of_range_is_found(chosen):
    a = cuda.to_device(np.zeros(4))
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        index_too_far[1, 8](a)
        cuda.synchronize()


@cuda.jit(device=True)
def turned(a, shape, dtype, n):
    tile = cuda.shared.array(shape, dtype)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[x, y] = a[x, y] + n
    cuda.syncthreads()
    a[x, y] = tile[shape[0] - 1 - x, shape[1] - 1 - y]


@cuda.jit(device=True)
def passed_on(a, shape, n):
    own = cuda.local.array(n, np.int32)
    own[n - 1] = n
    turned(a, shape, np.int32, n=own[n - 1])


ROWS = 4


def test_shapes_of_shared_arrays_are_constants_that_callers_give(chosen):
    a = np.arange(12, dtype=np.int32).reshape(4, 3)
    given = a.copy()
    first = cuda.to_device(given)

    @cuda.jit
    def one(x):
        passed_on(x, (4, 3), 2)

    one[1, (4, 3)](first)
    np.testing.assert_array_equal(first.copy_to_host(), a[::-1, ::-1] + 2)

    @cuda.jit
    def other(x):
        turned(x, (ROWS, 3), np.int32, 5)
        turned(x, (ROWS, 3), np.int32, 7)

    second = cuda.to_device(a.copy())
    other[1, (4, 3)](second)
    np.testing.assert_array_equal(second.copy_to_host(), a + 12)

    @cuda.jit
    def unknown(x, n):
        passed_on(x, (4, 3), n)

    with pytest.raises(un.CompileError, match="parameters that callers give constants for"):
        unknown[1, (4, 3)](second, 3)


@cuda.jit
def largest_and_least(x, found):
    i = cuda.grid(1)
    cuda.atomic.nanmax(found, 0, x[i])
    cuda.atomic.nanmin(found, 1, x[i])


@pytest.mark.parametrize("dtype", ["f4", "i4", "u8"])
def test_atomics_that_pass_over_nan(chosen, dtype):
    x = np.arange(20, 52).astype(dtype)
    found = np.array([0, 99], dtype)
    if dtype == "f4":
        x[::3] = np.nan
        found[:] = np.nan
    there = cuda.to_device(found)
    largest_and_least[1, 32](cuda.to_device(x), there)
    assert there.copy_to_host().tolist() == [np.nanmax(x), np.nanmin(x)]


@cuda.jit
def claim(res, ary, old):
    i = cuda.grid(1)
    old[i] = cuda.atomic.compare_and_swap(res[i:], -1, ary[i])


def test_compare_and_swap_of_the_rest_of_an_array(chosen):
    res = cuda.to_device(np.array([-1, 5, -1, 7], np.int32))
    old = cuda.to_device(np.zeros(4, np.int32))
    claim[1, 4](res, cuda.to_device(np.arange(4, dtype=np.int32)), old)
    assert res.copy_to_host().tolist() == [0, 5, 2, 7]
    assert old.copy_to_host().tolist() == [-1, 5, -1, 7]


@cuda.jit
def halves(x, y, out):
    i = cuda.grid(1)
    out[0, i] = cuda.fp16.hadd(x[i], y[i])
    out[1, i] = cuda.fp16.hfma(x[i], y[i], x[i])
    out[2, i] = cuda.fp16.hmax(x[i], y[i])
    out[3, i] = cuda.fp16.hdiv(x[i], y[i])
    out[4, i] = cuda.fp16.hrint(y[i])
    out[5, i] = cuda.fp16.hsin(x[i]) if cuda.fp16.hgt(x[i], y[i]) else cuda.fp16.hneg(x[i])


def test_float16_functions(chosen):
    x = np.array([0.5, 1.25, 3.0, -2.0], np.float16)
    y = np.array([1.5, 0.75, 2.5, np.nan], np.float16)
    out = cuda.to_device(np.zeros((6, 4), np.float16))
    halves[1, 4](cuda.to_device(x), cuda.to_device(y), out)
    fused = (x.astype("f8") * y.astype("f8") + x.astype("f8")).astype("f2")
    chosen_by = np.where(x > y, np.sin(x), -x)
    expected = np.array([x + y, fused, np.fmax(x, y), x / y, np.rint(y), chosen_by])
    np.testing.assert_array_equal(out.copy_to_host(), expected)
    assert cuda.fp16.hadd(x[0], y[0]) == np.float16(2)
