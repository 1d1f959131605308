"""cuBLAS, cuSOLVER and cuFFT in front of the portable algorithms, and cuRAND by its name, by libraries of tests that check each call.

UNISONO_DEVICE_LIBRARIES names their folder, build/release/cuda_driver/libraries.
"""

import os
import subprocess
import sys

import driver_of_tests
import numpy as np
import pytest
import unisono as un

DRIVER = driver_of_tests.find()
FOLDER = os.environ.get("UNISONO_DEVICE_LIBRARIES", "none")
pytestmark = pytest.mark.skipif(
    DRIVER is None or not os.path.isdir(FOLDER), reason="no CUDA libraries of tests"
)
SAFETY_NET = 120
DTYPES = ["float32", "float64", "complex64", "complex128"]


@pytest.fixture(autouse=True)
def nothing_forbidden():
    before = DRIVER.count("violations")
    yield
    un.eval()
    un.synchronize()
    assert DRIVER.count("violations") == before, DRIVER.last_violation()


class Calls:
    """How often a function of a library was called in a block."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.before = DRIVER.count(self.name)
        return self

    def __exit__(self, *_):
        self.count = DRIVER.count(self.name) - self.before


def letter(dtype):
    return dict(zip(DTYPES, "SDCZ", strict=True))[str(dtype)]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    return a.astype(dtype)


def close(got, expected):
    got = np.asarray(got.to_device("cpu"))
    assert got.dtype == expected.dtype and got.shape == expected.shape
    single = expected.dtype in (np.float32, np.complex64)
    scale = max(1.0, float(abs(expected).max()))
    assert abs(got - expected).max() <= (2e-4 if single else 1e-11) * scale


def on_device(a):
    return un.asarray(a, device="cuda:0")


# ---- Products

LAYOUTS = {
    "rows": (lambda a: a, 0),
    "columns": (lambda a: a, 1),
    "part of rows": (lambda a: a[1:-1, 2:-3], 0),
    "part of columns": (lambda a: a[1:-1, 2:-3], 1),
    "every second row": (lambda a: a[::2], 0),
    "every second of both": (lambda a: a[::2, ::2], 0),
    "backwards": (lambda a: a[::-1], 0),
    "one row": (lambda a: a[3:4], 0),
    "one column": (lambda a: a[:, 4:5], 0),
    "one row of columns": (lambda a: a[3:4], 1),
}


def laid(dtype, layout, seed):
    cut, is_turned = LAYOUTS[layout]
    a = numbers((11, 13), dtype, seed)
    near, far = (cut(a.T), cut(on_device(a).T)) if is_turned else (cut(a), cut(on_device(a)))
    return near, far


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_products_of_every_layout(first, second):
    for dtype in ("float32", "complex128"):
        (a, x), (b, y) = laid(dtype, first, 1), laid(dtype, second, 2)
        k = min(a.shape[1], b.shape[0])
        a, x, b, y = a[:, :k], x[:, :k], b[:k], y[:k]
        with Calls("calls") as calls:
            close(x @ y, a @ b)
        assert calls.count > 0
        vector = numbers(k, dtype, 3)
        close(x @ on_device(vector), a @ vector)
        close(on_device(vector) @ y, vector @ b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_which_routine_multiplies(dtype):
    a, b = numbers((6, 7), dtype), numbers((7, 5), dtype, 1)
    x, y = on_device(a), on_device(b)
    with Calls(f"cublas{letter(dtype)}gemm") as calls:
        close(x @ y, a @ b)
    assert calls.count == 1
    with Calls(f"cublas{letter(dtype)}gemv") as calls:
        close(x @ y[:, 0], a @ b[:, 0])
        close(x[2] @ y, a[2] @ b)
    assert calls.count == 2
    stack, other = numbers((3, 4, 6, 7), dtype, 2), numbers((4, 7, 5), dtype, 3)
    with Calls(f"cublas{letter(dtype)}gemmStridedBatched") as calls:
        close(on_device(stack) @ y, stack @ b)
        close(on_device(stack) @ on_device(other), stack @ other)
        close(on_device(stack).mT @ x, np.swapaxes(stack, -1, -2) @ a)
    assert calls.count == 3


def test_products_into_views():
    a, b = numbers((6, 7), "float64"), numbers((7, 5), "float64", 1)
    for made in (np.zeros((12, 10)), np.zeros((10, 12)).T):
        for cut in (np.s_[:6, :5], np.s_[::2, ::2], np.s_[5::-1, :5]):
            target, far = (
                made.copy(order="K"),
                on_device(made.T).T if made.flags.f_contiguous else on_device(made),
            )
            np.matmul(a, b, out=target[cut])
            un.matmul(on_device(a), on_device(b), out=far[cut])
            close(far, target)


def test_integers_stay_exact():
    a = np.arange(42).reshape(6, 7)
    got = on_device(a) @ on_device(a.T)
    assert (np.asarray(got.to_device("cpu")) == a @ a.T).all()


# ---- Factorisations

SHAPES = [(1, 1), (7, 7), (40, 40), (9, 5), (5, 9), (70, 41), (41, 70), (2, 66, 64)]


def squares():
    return [s for s in SHAPES if s[-1] == s[-2]] + [(2, 64, 64)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_factorisations_of_squares(dtype):
    upper = letter(dtype)
    for shape in squares():
        n = shape[-1]
        a = numbers(shape, dtype) + (3 * np.sqrt(n) * np.eye(n)).astype(dtype)
        b = numbers((*shape[:-1], 3), dtype, 1)
        positive = (a @ a.conj().swapaxes(-1, -2) / n).astype(dtype)
        x, y, p = on_device(a), on_device(b), on_device(positive)
        with (
            Calls(f"cusolverDn{upper}getrf") as factors,
            Calls(f"cusolverDn{upper}getrs") as solved,
        ):
            close(un.linalg.solve(x, y), np.linalg.solve(a, b))
            close(un.linalg.solve(x, y[..., :1]), np.linalg.solve(a, b[..., :1]))
            close(un.linalg.inv(x), np.linalg.inv(a))
            sign, logarithm = un.linalg.slogdet(x)
        assert factors.count >= 4 and solved.count >= 3
        expected = np.linalg.slogdet(a)
        close(sign, np.asarray(expected[0]))
        close(logarithm, np.asarray(expected[1]))
        with Calls(f"cusolverDn{upper}potrf") as factors:
            close(un.linalg.cholesky(p), np.linalg.cholesky(positive))
            close(
                un.linalg.cholesky(p, upper=True),
                np.linalg.cholesky(positive).conj().swapaxes(-1, -2),
            )
        assert factors.count >= 2
        for triangle in "LU":
            values, vectors = un.linalg.eigh(p, triangle)
            close(values, np.linalg.eigvalsh(positive))
            v = np.asarray(vectors.to_device("cpu"))
            again = (v * np.asarray(values.to_device("cpu"))[..., None, :]) @ v.conj().swapaxes(
                -1, -2
            )
            close(on_device(again.astype(dtype)), positive)
            close(un.linalg.eigvalsh(p, triangle), np.linalg.eigvalsh(positive))


def test_one_triangle_is_read():
    a = numbers((8, 8), "complex128") + 9 * np.eye(8)
    positive = a @ a.conj().T
    lower, upper = np.tril(positive), np.triu(positive)
    factor = np.linalg.cholesky(positive)
    close(un.linalg.cholesky(on_device(lower)), factor)
    close(un.linalg.cholesky(on_device(upper), upper=True), factor.conj().T)
    values = np.linalg.eigvalsh(positive)
    close(un.linalg.eigvalsh(on_device(lower), "L"), values)
    close(un.linalg.eigvalsh(on_device(upper), "U"), values)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_factorisations_of_rectangles(dtype, shape):
    a = numbers(shape, dtype)
    x = on_device(a)
    with Calls(f"cusolverDn{letter(dtype)}geqrf") as calls:
        for mode in ("reduced", "complete"):
            for got, expected in zip(un.linalg.qr(x, mode), np.linalg.qr(a, mode), strict=True):
                close(got, expected)
        close(un.linalg.qr(x, "r"), np.linalg.qr(a, "r"))
        for got, expected in zip(un.linalg.qr(x, "raw"), np.linalg.qr(a, "raw"), strict=True):
            close(got, expected)
    assert calls.count >= 4
    with Calls(f"cusolverDn{letter(dtype)}gesvd") as calls:
        for full in (True, False):
            u, s, vh = (
                np.asarray(v.to_device("cpu")) for v in un.linalg.svd(x, full_matrices=full)
            )
            expected = np.linalg.svd(a, full_matrices=full)
            assert u.shape == expected[0].shape and vh.shape == expected[2].shape
            k = s.shape[-1]
            close(on_device((u[..., :k] * s[..., None, :]) @ vh[..., :k, :]), a)
            for q in (u, vh.conj().swapaxes(-1, -2)):
                close(on_device(q.conj().swapaxes(-1, -2) @ q),
                      np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), (*q.shape[:-2], q.shape[-1], q.shape[-1])))  # fmt: skip
        close(un.linalg.svdvals(x), np.linalg.svd(a, compute_uv=False))
    assert calls.count >= 3


def test_small_stacks_stay_with_the_portable_algorithms():
    a = numbers((5, 8, 8), "float64") + 9 * np.eye(8)
    with Calls("cusolverDnDgetrf") as calls:
        close(un.linalg.inv(on_device(a)), np.linalg.inv(a))
    assert calls.count == 0


def test_matrices_that_have_no_factors():
    a = np.ones((4, 4))
    with pytest.raises(np.linalg.LinAlgError, match="solve: Singular matrix"):
        un.eval(un.linalg.solve(on_device(a), on_device(a)))
    with pytest.raises(np.linalg.LinAlgError, match="inv: Singular matrix"):
        un.eval(un.linalg.inv(on_device(a)))
    assert float(un.linalg.det(on_device(a))) == 0
    with pytest.raises(np.linalg.LinAlgError, match="cholesky: Matrix is not positive definite"):
        un.eval(un.linalg.cholesky(on_device(-np.eye(4))))


# ---- Transforms


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_transforms_along_each_axis(dtype):
    a = numbers((4, 6, 5), dtype)
    x = on_device(a)
    name = "cufftExecC2C" if dtype == "complex64" else "cufftExecZ2Z"
    for near, far in ((a, x), (a.transpose(2, 0, 1), x.transpose(2, 0, 1)), (a[::2, 1:], x[::2, 1:]),
                      (a[:, ::-1], x[:, ::-1])):  # fmt: skip
        for axis in (0, 1, 2):
            for n in (None, 3, 9):
                with Calls(name) as calls:
                    close(un.fft.fft(far, n, axis), np.fft.fft(near, n, axis).astype(dtype))
                    close(un.fft.ifft(far, n, axis), np.fft.ifft(near, n, axis).astype(dtype))
                assert calls.count >= 2
    close(un.fft.fftn(x), np.fft.fftn(a).astype(dtype))
    close(un.fft.ifft2(x, norm="forward"), np.fft.ifft2(a, norm="forward").astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transforms_of_reals(dtype):
    a = numbers((4, 6, 5), dtype)
    x, pairs = on_device(a), "complex64" if dtype == "float32" else "complex128"
    forward = "cufftExecR2C" if dtype == "float32" else "cufftExecD2Z"
    backward = "cufftExecC2R" if dtype == "float32" else "cufftExecZ2D"
    spectrum = numbers((4, 6, 5), pairs, 1)
    y = on_device(spectrum)
    for axis in (0, 1, 2):
        for n in (None, 3, 8, 9):
            with Calls(forward) as calls:
                close(un.fft.rfft(x, n, axis), np.fft.rfft(a, n, axis).astype(pairs))
            assert calls.count >= 1
            with Calls(backward) as calls:
                close(
                    un.fft.irfft(y, n, axis, norm="ortho"),
                    np.fft.irfft(spectrum, n, axis, norm="ortho").astype(dtype),
                )
            assert calls.count >= 1
            close(un.fft.fft(x, n, axis), np.fft.fft(a, n, axis).astype(pairs))
            close(un.fft.hfft(y, n, axis), np.fft.hfft(spectrum, n, axis).astype(dtype))
            close(un.fft.ihfft(x, n, axis), np.fft.ihfft(a, n, axis).astype(pairs))
    close(un.fft.rfftn(x), np.fft.rfftn(a).astype(pairs))
    close(un.fft.irfftn(y), np.fft.irfftn(spectrum).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_several_axes_are_one_plan(dtype):
    pairs = "complex64" if dtype == "float32" else "complex128"
    a = numbers((3, 4, 6, 5), dtype)
    layouts = [(a, on_device(a)), (a[:, 1:, ::2], on_device(a)[:, 1:, ::2]),
               (a.transpose(3, 1, 0, 2), on_device(a).transpose(3, 1, 0, 2)), (a[::-1], on_device(a)[::-1])]  # fmt: skip
    name = {"float32": "cufftExecR2C", "complex128": "cufftExecZ2Z"}[dtype]
    for near, far in layouts:
        for axes in ((2, 3), (0, 1), (1, 2), (1, 2, 3), (0, 1, 2)):
            outer = np.prod([near.shape[k] for k in range(4) if k not in axes])
            run = (np.fft.rfftn, un.fft.rfftn) if dtype[0] == "f" else (np.fft.fftn, un.fft.fftn)
            with Calls(name) as calls:
                close(run[1](far, None, axes), run[0](near, None, axes).astype(pairs))
            # Boxes that do not lie along one axis are several calls.
            assert 1 <= calls.count <= outer, axes
            if near is a and axes != (1, 2):
                assert calls.count == 1, axes
            for n in (2, 9):
                s = [near.shape[k] for k in axes[:-1]] + [n]
                close(run[1](far, s, axes, "ortho"), run[0](near, s, axes, "ortho").astype(pairs))
    if dtype == "complex128":
        with Calls(name) as calls:
            close(un.fft.ifft2(on_device(a)), np.fft.ifft2(a))
        assert calls.count == 1
        close(un.fft.fftn(on_device(a)), np.fft.fftn(a))  # four axes, one after the other
        close(un.fft.fftn(on_device(a.real)), np.fft.fftn(a.real))
        many = numbers((257, 2, 3, 258), dtype)  # more calls than pay: the portable steps
        with Calls(name) as calls:
            close(un.fft.fftn(on_device(many), None, (1, 2)), np.fft.fftn(many, None, (1, 2)))
        assert calls.count == 0


def test_more_plans_than_are_kept():
    for _ in range(2):
        for n in range(2, 40):
            a = numbers(n, "complex128", n)
            close(un.fft.fft(on_device(a)), np.fft.fft(a))


# ---- Random numbers


@pytest.mark.parametrize("kind", ["philox", "xorwow", "mrg32k3a"])
def test_random_numbers_by_name(kind):
    def fresh():
        return un.random.Generator(un.random.CuRand(7, kind))

    rng, again = fresh(), fresh()
    with Calls("curandGenerateUniformDouble") as calls:
        x, y = rng.random(1001, device="cuda:0"), rng.random((10, 20), device="cuda:0")
        a, b = (np.asarray(v.to_device("cpu")) for v in (x, y))
    assert calls.count == 2 and a.shape == (1001,) and b.shape == (10, 20)
    both = np.concatenate([a, b.ravel()])
    assert (both > 0).all() and (both <= 1).all() and len(set(both)) == both.size
    assert (np.asarray(again.random(1001, device="cuda:0").to_device("cpu")) == a).all()
    with Calls("curandGenerateUniform") as calls:
        single = rng.uniform(-2, 3, 500, device="cuda:0")
        assert single.dtype == "float64"
        single = np.asarray(rng.random(500, "float32", device="cuda:0").to_device("cpu"))
    assert calls.count == 1 and single.dtype == np.float32 and abs(single.mean() - 0.5) < 0.1
    for count in (1000, 1001):
        with Calls("curandGenerateNormalDouble") as calls:
            z = np.asarray(rng.normal(5, 2, count, device="cuda:0").to_device("cpu"))
        assert calls.count == 1 and abs(z.mean() - 5) < 0.4 and abs(z.std() - 2) < 0.3
    wide = np.asarray(rng.uniform(-2, 3, 5000, device="cuda:0").to_device("cpu"))
    assert wide.min() >= -2 and wide.max() <= 3 and abs(wide.mean() - 0.5) < 0.2
    state = rng.bit_generator.state
    first = np.asarray(rng.random(9, device="cuda:0").to_device("cpu"))
    rng.bit_generator.state = state
    assert (np.asarray(rng.random(9, device="cuda:0").to_device("cpu")) == first).all()
    child = rng.spawn(1)[0]
    assert (np.asarray(child.random(9, device="cuda:0").to_device("cpu")) != first).all()


def test_what_the_library_does_not_draw():
    rng = un.random.Generator(un.random.CuRand(7))
    with pytest.raises(un.UnsupportedError, match="uniform and normal numbers"):
        rng.gamma(2.0, size=5, device="cuda:0")
    with pytest.raises(un.UnsupportedError, match="uniform and normal numbers"):
        rng.integers(5, size=5, device="cuda:0")
    with pytest.raises(un.UnsupportedError, match="uniform and normal numbers"):
        rng.permutation(5)
    with pytest.raises(un.UnsupportedError, match="where cuRAND is installed; got device='cpu'"):
        rng.random(5)


# ---- Order, failures, choice


def test_queues_and_devices_have_handles_of_their_own():
    a = numbers((30, 30), "float64")
    expected = np.linalg.multi_dot([a] * 4)
    for device in ("cuda:0", "cuda:1"):
        far = un.asarray(a, device=device)
        queues = [un.Queue(device), un.Queue(device, order="out"), un.Queue(device, profiling=True)]
        for q in queues * 2:
            with un.device(device, queue=q):
                got = far @ far
            got = got @ far  # on the device's own queue, behind that
            with un.device(device, queue=queues[0]):
                got = un.fft.ifft(un.fft.fft((got @ far).astype("complex128"))).real
            np.testing.assert_allclose(np.asarray(got.to_device("cpu")), expected, rtol=1e-10)


def test_time_loops_with_products_and_statements():
    a, v = numbers((16, 16), "float64") / 16, numbers(16, "float64", 1)
    x, y = on_device(a), on_device(v)
    for _ in range(40):
        v = np.tanh(a @ v) + 0.5
        y = un.tanh(x @ y) + 0.5
    close(y, v)


def test_a_library_that_fails():
    x = on_device(numbers((5, 5), "float64"))
    un.eval(x)
    un.synchronize()
    DRIVER.set("launch", 2)
    with pytest.raises(
        un.DeviceError, match="cublasGemm failed; got status 13; .*DEVICE_LIBRARIES"
    ):
        un.eval(x @ x)
    close(x @ x, np.asarray(x.to_device("cpu")) @ np.asarray(x.to_device("cpu")))


PROGRAM = """
import numpy as np, unisono as un
import driver_of_tests
driver = driver_of_tests.find()
x = un.asarray(np.eye(40) * 2, device="cuda")
assert float((x @ x).sum()) == 160
assert float(un.linalg.inv(x).sum()) == 20
assert abs(un.fft.fft(x[0])).sum() == 80
print(sum(driver.count(n) for n in ("cublasDgemm", "cusolverDnDgetrf", "cufftExecZ2Z", "cufftExecD2Z")), driver.count("violations"))
"""


@pytest.mark.parametrize("chosen, calls", [("none", 0), ("/nonexistent", 0), (FOLDER, 3)])
def test_the_setting_chooses(chosen, calls):
    env = {
        **os.environ,
        "UNISONO_DEVICE_LIBRARIES": chosen,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True,
                         timeout=SAFETY_NET)  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == [str(calls), "0"]


def test_doctor_names_the_libraries():
    ran = subprocess.run([sys.executable, "-m", "unisono", "doctor"], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                         capture_output=True, text=True, timeout=SAFETY_NET)  # fmt: skip
    for name in ("cuBLAS: ", "cuSOLVER: ", "cuFFT: ", "cuRAND: "):
        assert name + FOLDER in ran.stdout, ran.stdout
