"""``device=`` and ``target=``: calls with arrays of the host run on the device that a decorator names."""

import warnings

import numpy as np
import pytest
import unisono as un

N = 500


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_arrays_of_the_host_are_copied_to_the_device(device, rng):
    @un.jit(device=device)
    def work(a, b, k):
        s = 0.0
        for i in un.prange(a.shape[0]):
            b[i] = a[i] * k
            s += a[i]
        return s, b, a[:2] + 1, a[1:3]

    for convert in (np.array, un.array):
        a = rng.random(N)
        x, y = convert(a), convert(np.zeros(N))
        if convert is np.array:
            x.flags.writeable = False  # it is only read
        s, same, made, view = work(x, y, k=3.0)
        np.testing.assert_array_equal(np.asarray(y), a * 3)
        np.testing.assert_array_equal(np.asarray(made), a[:2] + 1)
        np.testing.assert_array_equal(np.asarray(view), a[1:3])
        assert same is y and made.device == "cpu"
        np.testing.assert_allclose(s, a.sum(), rtol=1e-13)


def test_views_that_overlap_see_each_other(device):
    @un.jit(device=str(device))
    def shift(a, b, rows):
        for _ in range(rows):
            for i in un.prange(a.shape[0]):
                b[i] = a[i] + 1

    def results(f):
        x = np.arange(40, dtype=np.int32)
        f(x[:10], x[10:20], 3)
        f(x[20::2][::-1], x[21::2], 1)
        f(x[:0], x[3:3], 2)
        y = np.zeros((4, 5), np.int16)[1:3, ::-2]
        return x, y

    got, wanted = results(shift), results(shift.py_func)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_overlapping_arguments(device):
    @un.jit
    def masked(x, y, m):
        x[m] = y[m] + x[m]

    def results(f, device):
        a = un.asarray(np.arange(40.0), device=device)
        f(a[2:], a[:-2], un.asarray(np.arange(38) % 3 != 0, device=device))
        return np.asarray(a.to_device("cpu"))

    np.testing.assert_array_equal(results(masked, device), results(masked, "cpu"))


TABLE = np.arange(10.0)


def test_lists_captured_arrays_and_records_are_copied(device):
    @un.jit(device=str(device))
    def look(xs, out):
        for i in un.prange(len(out)):
            out[i] = xs[i] + TABLE[i]
            TABLE[i] = 0.0

    @un.jit(device=str(device))
    def move(points, step):
        for i in un.prange(len(points)):
            points[i]["x"] += step
            points["n"][i] = i

    out = np.zeros(10)
    look([float(k) for k in range(10)], out)
    assert out.tolist() == [2.0 * k for k in range(10)] and not TABLE.any()
    TABLE[:] = np.arange(10.0)
    points = np.zeros(5, np.dtype([("x", np.float64), ("n", np.int64)]))
    move(points, 0.5)
    assert points["x"].tolist() == [0.5] * 5 and points["n"].tolist() == list(range(5))


def test_captured_arrays_go_to_the_arguments(device):
    @un.jit
    def add(out):
        for i in un.prange(len(out)):
            out[i] += TABLE[i]

    out = un.ones(10, device=device)
    add(out)
    assert np.asarray(out.to_device("cpu")).tolist() == [1.0 + k for k in range(10)]


def test_a_call_without_arrays(device):
    @un.jit(device=str(device))
    def squares(n):
        a = np.empty(n)
        for i in un.prange(n):
            a[i] = i * i
        return a, a.sum()

    made, total = squares(5)
    assert made.device == "cpu" and made.tolist() == [0, 1, 4, 9, 16] and total == 30


def test_signatures_compile_for_the_device(device, rng):
    @un.jit("float64(float64[:], float64)", device=str(device))
    def scale(a, k):
        s = 0.0
        for i in un.prange(a.shape[0]):
            a[i] *= k
            s += a[i]
        return s

    assert len(scale.signatures) == 1
    if str(device) != "cpu":
        word = ".entry" if str(device).startswith("cuda") else "__kernel"
        assert word in scale.inspect_llvm(scale.signatures[0])
    x = rng.random(N)
    y = x.copy()
    np.testing.assert_allclose(scale(y, 2.0), 2 * x.sum(), rtol=1e-13)
    np.testing.assert_array_equal(y, 2 * x)
    with pytest.raises(TypeError):
        scale(x.astype(np.int32), 2.0)


def clamp(x, low, high):
    return low if x < low else high if x > high else x


def test_vectorize(device, rng):
    f = un.vectorize(["float64(float64, float64, float64)"], target=str(device))(clamp)
    x = rng.random((4, 9))
    made = f(x, 0.2, [0.5] * 9)
    assert made.device == "cpu"
    np.testing.assert_array_equal(np.asarray(made), np.clip(x, 0.2, 0.5))
    out = np.zeros((4, 9))
    assert f(x, 0.2, 0.5, out=out) is out
    np.testing.assert_array_equal(out, np.clip(x, 0.2, 0.5))
    out[:] = 7
    f(x, 0.2, 0.5, out=out, where=x > 0.3)
    np.testing.assert_array_equal(out, np.where(x > 0.3, np.clip(x, 0.2, 0.5), 7))
    there = f(un.asarray(x, device=device), 0.2, 0.5)
    assert there.device == device
    assert f(3.0, 0.0, 1.0) == 1.0


def test_methods_of_vectorize(device, rng):
    @un.vectorize(["int64(int64, int64)"], target=str(device), identity="reorderable")
    def larger(a, b):
        return a if a > b else b

    x = rng.integers(-50, 50, (6, 7))
    there = un.asarray(x, device=device)
    for a in (x, there):
        for made, wanted in (
            (larger.reduce(a), x.max(0)),
            (larger.reduce(a, axis=(0, 1), initial=3), max(3, x.max())),
            (larger.reduce(a, axis=1, initial=-99, where=a > 0), np.maximum.reduce(x, 1, initial=-99, where=x > 0)),
            (larger.accumulate(a, axis=1), np.maximum.accumulate(x, 1)),
            (larger.outer(a[0], a[1]), np.maximum.outer(x[0], x[1])),
        ):  # fmt: skip
            if np.ndim(wanted):
                assert made.device == ("cpu" if a is x else device)
            np.testing.assert_array_equal(np.asarray(un.asarray(made, device="cpu")), wanted)
    y = x[0].copy()
    larger.at(y, [0, 0, 3], [60, 70, 80])
    assert y[0] == 70 and y[3] == 80


def test_functions_that_run_at_once(device):
    @un.vectorize(["float64(float64, float64, float64, float64)"], target=str(device))
    def dot(a, b, c, d):
        return a * b + c * d

    x = np.arange(5.0)
    np.testing.assert_array_equal(np.asarray(dot(x, 2.0, x, 3.0)), x * 5)
    there = un.asarray(x, device=device)
    made = dot(there, 2.0, there, 3.0)
    assert made.device == device
    np.testing.assert_array_equal(np.asarray(made.to_device("cpu")), x * 5)


def test_guvectorize(device, rng):
    @un.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)", target=str(device))
    def running(x, start, out):
        s = start
        for i in range(x.shape[0]):
            s += x[i]
            out[i] = s

    @un.guvectorize(["void(int64[:], int64[:])"], "(n),(n)", target=str(device))
    def exchange(a, b):
        for i in range(len(a)):
            t = a[i]
            a[i] = b[i]
            b[i] = t

    x = rng.random((3, 8))
    for operand in (x, x[0]):
        made = running(operand, 0.5)
        assert made.device == "cpu"
        np.testing.assert_allclose(np.asarray(made), 0.5 + np.cumsum(operand, axis=-1), rtol=1e-14)
    out = np.zeros((3, 8))
    assert running(x, 0.5, out) is out
    np.testing.assert_allclose(out, 0.5 + np.cumsum(x, axis=-1), rtol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a, b = np.arange(6).reshape(2, 3), np.zeros((2, 3), np.int64)
        exchange(a, b)
    assert not a.any() and b.ravel().tolist() == list(range(6))


def test_the_target_of_cuda_is_where_its_kernels_run(device):
    from unisono import cuda

    cuda.select_device(device.name)
    try:
        add = un.vectorize(["float32(float32, float32)"], target="cuda")(lambda a, b: a + b)

        @un.guvectorize(["void(float32[:], float32[:])"], "(n)->(n)", target="cuda")
        def twice(a, b):
            for i in range(a.shape[0]):
                b[i] = a[i] * 2
    finally:
        cuda.close()
    x = np.arange(3, dtype=np.float32)
    assert add(x, x).tolist() == twice(x).tolist() == [0, 2, 4]
    assert add._device == twice._device == (None if device.name == "cpu" else device.name)


def test_targets_that_there_are_not():
    for decorate in (
        lambda: un.vectorize(["float64(float64)"], target="tpu"),
        lambda: un.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="tpu"),
    ):
        with pytest.raises(ValueError, match="no such target; got 'tpu'; .*a device of 'cpu'"):
            decorate()
    with pytest.raises(un.DeviceError, match="tpu"):
        un.jit("float64(float64)", device="tpu")(abs_of)


def abs_of(x):
    return -x if x < 0 else x
