"""Calls of ElementwiseKernel and ReductionKernel that repeat one before, and those that only look alike."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
import unisono as un
from unisono import cuda


@pytest.fixture(autouse=True)
def chosen(device):
    """Kernels on arrays of the host run there, too."""
    cuda.select_device(device.name)
    yield
    cuda.close()


@pytest.fixture
def axpy():
    return un.ElementwiseKernel("T x, T a", "T y", "y = a * x + 1", "axpy")


@pytest.fixture
def total():
    return un.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")


@pytest.mark.parametrize("shape", [(8,), (2, 4), (1, 8, 1), ()])
def test_shapes_of_results(device, axpy, shape):
    x = un.array(np.arange(np.prod(shape), dtype="f4").reshape(shape), device=device)
    expected = 2 * np.asarray(x) + 1
    for _ in range(3):
        made = axpy(x, 2.0)
        assert made.shape == shape and made.dtype == "f4" and made.device == device
        np.testing.assert_array_equal(np.asarray(made), expected)
        given = un.zeros(shape, "f4", device=device)
        assert axpy(x, 2.0, given) is given
        np.testing.assert_array_equal(np.asarray(given), expected)


def test_arguments_that_only_look_alike(device, axpy):
    x = un.arange(8, dtype="f4", device=device)
    for _ in range(2):
        axpy(x, 2.0)
    others = [
        (x[::2], 2.0), (x[::-1], 2.0), (x[1:], 2.0), (x.reshape(2, 4).T, 2.0), (x, np.float32(3)), (x, 3),
        (x.astype("f8"), 2.0), (x, un.full(8, 2, dtype="f4", device=device)), (x[:1], x),
    ]  # fmt: skip
    for a, b in others * 2:
        expected = np.asarray(b) * np.asarray(a) + 1
        np.testing.assert_array_equal(np.asarray(axpy(a, b)), expected.astype(a.dtype))
    y = un.zeros((4, 4), "f4", device=device)
    for _ in range(2):
        axpy(x[:4], 2.0, y[1])
        axpy(x[:4], 2.0, y[:, 0])
    assert y[1].tolist() == [3, 3, 5, 7] and y[:, 0].tolist() == [1, 3, 5, 7]
    for wrong in ((x, 2.0, y), (x, 2.0, un.zeros(8, "f8", device=device)), (x,), (x, 1.0, y, y)):
        with pytest.raises((TypeError, ValueError)):
            axpy(*wrong)
    with pytest.raises(TypeError):
        axpy(x, 2.0, out=un.zeros(8, "f4", device=device))


def test_results_where_arguments_lie(device, axpy, total):
    x = un.arange(8, dtype="f4", device=device)
    for k in range(3):
        assert axpy(x, 1.0, x) is x
        assert x.tolist() == [n + k + 1 for n in range(8)]
    y = un.ones(4, "f4", device=device)
    for expected in (4, 7, 10):
        total(y, y[1:2].reshape(()))
        assert y.tolist() == [1, expected, 1, 1]


def test_results_that_cannot_be_written(device, axpy):
    x, y = un.ones(8, "f4", device=device), un.zeros(8, "f4", device=device)
    axpy(x, 2.0, y)
    y.flags.writeable = False
    with pytest.raises(ValueError):
        axpy(x, 2.0, y)
    assert y.tolist() == [3] * 8


def test_what_is_given_back(device):
    x = un.arange(4, dtype="f4", device=device)
    both = un.ElementwiseKernel("T x", "T y, int32 z", "y = -x; z = 2 * x", "both")
    nothing = un.ElementwiseKernel("T x", "T y", "y = x", "nothing", no_return=True)
    one = un.ElementwiseKernel("T x", "T y", "y = x + 1", "one", return_tuple=True)
    for _ in range(3):
        y, z = both(x)
        assert y.tolist() == [0, -1, -2, -3] and z.tolist() == [0, 2, 4, 6] and z.dtype == "i4"
        assert nothing(x, y) is None and y.tolist() == x.tolist()
        assert type(one(x)) is tuple and one(x)[0].tolist() == [1, 2, 3, 4]


def test_reductions(device, total):
    x = un.arange(100, dtype="f4", device=device)
    out, row = un.zeros((), "f4", device=device), un.zeros(1, "f4", device=device)
    for k in range(3):
        x += 1
        expected = 4950 + 100 * (k + 1)
        made = total(x)
        assert made.shape == () and made.dtype == "f4" and float(made) == expected
        assert total(x, out) is out and float(out) == expected
        out[...] = 0
        assert total(x, out=out) is out and float(out) == expected
        assert float(total(x.reshape(4, 25))) == expected
        assert total(x.reshape(4, 25), axis=1).shape == (4,)
        assert float(total(x[::2])) == float(np.asarray(x)[::2].sum())
        with pytest.raises((TypeError, ValueError)):
            total(x, out=un.zeros(3, "f8", device=device))
        with pytest.raises(TypeError):
            total(x, out, x)
    assert row.tolist() == [0]


def test_long_reductions(device, total):
    x = un.ones(100_000, "i4", device=device)
    for _ in range(3):
        assert int(total(x)) == 100_000


@pytest.mark.parametrize(
    "form", [lambda k: pickle.loads(pickle.dumps(k)), copy.copy, copy.deepcopy]
)
def test_kernels_are_copied(device, axpy, total, form):
    x = un.arange(4, dtype="f4", device=device)
    for _ in range(2):
        axpy(x, 2.0), total(x)
    again = form(axpy)
    assert again.name == "axpy" and again(x, 2.0).tolist() == [1, 3, 5, 7]
    assert float(form(total)(x)) == 6


def test_kernels_end(device):
    kernel = un.ElementwiseKernel("T x", "T y", "y = x", "ending")
    for _ in range(3):
        kernel(un.ones(4, "f4", device=device))
    kernel.itself = kernel
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None
