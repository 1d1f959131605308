"""Arrays, kernels made of C expressions and random numbers with PyCUDA's names."""

import numpy as np
import pytest
import unisono as un
from unisono.cuda import cumath, curandom, driver, gpuarray
from unisono.cuda.elementwise import ElementwiseKernel
from unisono.cuda.reduction import ReductionKernel
from unisono.cuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from unisono.cuda.tools import (
    DeviceMemoryPool,
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    parse_c_arg,
)


@pytest.fixture
def x(chosen):
    return np.arange(1, 13, dtype=np.float32).reshape(3, 4)


def test_statements_give_arrays_of_the_class(x):
    a = gpuarray.to_gpu(x)
    b = gpuarray.ones_like(a)
    rows = [
        (2 * a + 1, 2 * x + 1), (a - 3 * b, x - 3), (-a, -x), (abs(-a), x), (a**2, x**2), (2 / a, 2 / x),
        (a // 2, x // 2), (a[1], x[1]), (a[:, ::2], x[:, ::2]), (a.T, x.T), (a.reshape(4, 3), x.reshape(4, 3)),
        (a.astype(int), x.astype(int)), (a.copy(), x), (a.ravel(), x.ravel()), (a > 5, x > 5), (a.reverse(), x[::-1]),
        (a.mul_add(2, b, 3), 2 * x + 3), (a.view(np.int32), x.view(np.int32)), (gpuarray.maximum(a, 4), np.maximum(x, 4)),
        (gpuarray.sum(a), x.sum()), (gpuarray.dot(a, a), (x * x).sum()), (gpuarray.max(a), x.max()), (a[1, 2], x[1, 2]),
        (gpuarray.if_positive(a - 5, a, b), np.where(x > 5, x, 1)), (gpuarray.take(a.ravel(), [3, 1]), [4, 2]),
        (gpuarray.concatenate((a, b)), np.concatenate((x, x * 0 + 1))), (cumath.sqrt(a), np.sqrt(x)),
        (gpuarray.subset_sum([0, 5], a.ravel()), 7), (cumath.fmod(a, 3 * b), np.fmod(x, 3)),
    ]  # fmt: skip
    for k, (ours, numpys) in enumerate(rows):
        assert type(ours) is gpuarray.GPUArray, k
        np.testing.assert_allclose(ours.get(), numpys, rtol=1e-6, err_msg=str(k))
    a += 1
    assert type(a) is gpuarray.GPUArray and (a.get() == x + 1).all()
    with pytest.raises(TypeError, match="arrays have no hash"):
        hash(a)


def test_creation_and_copies(x, chosen):
    assert gpuarray.zeros((2, 3), np.int32).get().tolist() == [[0] * 3] * 2
    assert gpuarray.arange(2, 8, 2, dtype=np.float32).get().tolist() == [2, 4, 6]
    f = gpuarray.to_gpu(np.asfortranarray(x))
    assert f.flags.f_contiguous and gpuarray.empty_like(f).flags.f_contiguous
    assert f.get().flags.f_contiguous and (f.get() == x).all()
    a = gpuarray.empty(x.shape, x.dtype)
    a.set(x)
    filled = np.zeros_like(x)
    assert a.get(filled) is filled and (filled == x).all()
    assert a.mem_size == 12 and a.fill(3) is a and float(gpuarray.sum(a).get()) == 36
    with pytest.raises(ValueError, match="expected 12 of float32"):
        a.set(np.zeros(3))
    with pytest.raises(ValueError, match="the arrays differ"):
        a.get(np.zeros((3, 4)))
    stream = driver.Stream()
    b = gpuarray.to_gpu_async(x, stream=stream)
    b.set_async(x + 1, stream)
    stream.synchronize()
    assert (b.get() == x + 1).all()


def test_arrays_over_memory(x):
    block = driver.to_device(x)
    a = gpuarray.GPUArray(x.shape, x.dtype, gpudata=block)
    a *= 2
    assert (driver.from_device_like(block, x) == 2 * x).all()
    rows = gpuarray.GPUArray((2, 4), x.dtype, gpudata=int(block) + 16)
    assert (rows.get() == 2 * x[1:]).all()
    driver.memcpy_htod(a.gpudata, x)
    assert (a.get() == x).all() and (driver.from_device(a.ptr, 12, x.dtype) == x.ravel()).all()
    pool = DeviceMemoryPool()
    b = gpuarray.to_gpu(x, allocator=pool.allocate)
    assert pool.active_bytes == 48 and (b.get() == x).all()
    with pytest.raises(ValueError, match="do not follow each other"):
        _ = a[:, ::2].gpudata
    element = a[1, 2]
    element[...] = -1
    assert a.get()[1, 2] == -1


def test_a_statement_for_each_element(x):
    a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(x[::-1].copy())
    c = gpuarray.empty_like(a)
    combine = ElementwiseKernel(
        "float p, float *x, float q, float *y, float *z",
        "z[i] = product(p * x[i], q * y[i]) + shift",
        "combine",
        preamble="__device__ float product(float x, float y) { return x * y; }",
        loop_prep="float shift = 1",
    )
    combine(5, a, 6, b, c)
    assert (c.get() == 5 * x * (6 * x[::-1]) + 1).all()
    fill = ElementwiseKernel([VectorArg(np.float32, "x"), ScalarArg(np.float32, "v")], "x[i] = v")
    fill(a, 9, slice=slice(1, -1, 3))
    want = x.ravel().copy()
    want[1:-1:3] = 9
    assert (a.get().ravel() == want).all()
    fill(a, -1, range=slice(0, 4))
    assert (a.get()[0] == -1).all()
    with pytest.raises(TypeError, match="takes 2 arguments; got 1"):
        fill(a)
    with pytest.raises(TypeError, match="'v' is a number; got ndarray"):
        fill(a, x)
    with pytest.raises(TypeError, match="'x' is an array; got int"):
        fill(3, 3)
    with pytest.raises(ValueError, match="expected a type and a name"):
        parse_c_arg("float **x")


@pytest.mark.parametrize("n", [0, 1, 1000, 100_003])
def test_reductions(chosen, n):
    if chosen == "interp" and n > 1000:
        pytest.skip("the interpreter is slow")
    x = np.random.default_rng(1).integers(-100, 100, n).astype(np.int32)
    a = gpuarray.to_gpu(x)
    largest = ReductionKernel(np.int32, "-1000", "a > b ? a : b", "x[i] * k", "const int *x, int k")
    assert int(largest(a, 2).get()) == max([-1000, *(2 * x).tolist()])
    total = ReductionKernel(np.int32, "0", "a + b")
    out = gpuarray.zeros((), np.int32)
    assert total(a, out=out) is out and int(out.get()) == x.sum()


@pytest.mark.parametrize("n", [0, 1, 5, 3000, 100_003])
def test_scans(chosen, n):
    if chosen == "interp" and n > 3000:
        pytest.skip("the interpreter is slow")
    x = np.random.default_rng(2).integers(-100, 100, n).astype(np.int32)
    a = gpuarray.to_gpu(x)
    after = InclusiveScanKernel(np.int32, "a + b")(a, "new").get()
    assert (after == np.cumsum(x)).all()
    largest = InclusiveScanKernel(np.int32, "a > b ? a : b")(a, "new").get()
    assert (largest == np.maximum.accumulate(x)).all() if n else largest.size == 0
    before = ExclusiveScanKernel(np.int32, "a + b", "0")(a)
    assert before is a and (a.get() == np.cumsum(x) - x).all()
    with pytest.raises(TypeError, match="scans one axis of int32; got float64"):
        InclusiveScanKernel(np.int32, "a + b")(gpuarray.zeros(3))


def test_random_numbers(chosen):
    x = curandom.rand((10, 100)).get()
    assert x.dtype == np.float32 and (x >= 0).all() and (x < 1).all() and x.std() > 0.2
    seeds = lambda count: un.full(count, 7, "int32")  # noqa: E731
    first, second = (curandom.XORWOWRandomNumberGenerator(seeds) for _ in range(2))
    a, b = (g.gen_normal(1000, np.float64) for g in (first, second))
    assert (
        (a.get() == b.get()).all()
        and abs(a.get().mean()) < 0.2
        and a.device == chosen
        or chosen == "interp"
    )
    filled = gpuarray.empty(100, np.float32)
    first.fill_uniform(filled)
    assert 0 < float(gpuarray.max(filled).get()) < 1
    assert (first.gen_poisson(1000, np.uint32, 13.0).get() < 100).all()
    rates = gpuarray.to_gpu(np.full(1000, 40.0))
    first.fill_poisson(rates)
    assert abs(rates.get().mean() - 40) < 3 and (rates.get() % 1 == 0).all()


@pytest.mark.parametrize(("dtype", "part"), [("complex64", "float"), ("complex128", "double")])
def test_complex_numbers_in_kernels_of_elements(chosen, dtype, part):
    rng = np.random.default_rng(2)
    a, b = (rng.normal(size=(2, 50)) + 1j * rng.normal(size=(2, 50))).astype(dtype)
    name = dtype_to_ctype(dtype)
    assert name == f"pycuda::complex<{part}>"
    multiply = ElementwiseKernel(
        f"{name} s, {name} *x, {name} *y, {name} *z",
        f"z[i] = s * x[i] * conj(y[i]) + {name}(1, 2)",
        preamble="#include <pycuda-complex.hpp>",
    )
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    z = gpuarray.empty_like(x)
    multiply(2 + 1j, x, y, z)
    np.testing.assert_allclose(z.get(), (2 + 1j) * a * b.conj() + (1 + 2j), rtol=1e-4, atol=1e-5)
