"""Products of vectors and matrices that are expressions: sums of what is computed on the way."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def rows(a, b, x):
    return (2 * a + b) @ x - abs(b) @ x


def columns(a, b, x):
    return x @ (a * b) + np.dot(x, b - a)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(0, 4), (5, 0), (1, 1), (3, 4), (70, 33), (300, 257)])
@pytest.mark.parametrize("function", [rows, columns])
def test_like_numpy(function, shape, dtype):
    rng = np.random.default_rng(3)
    a, b = rng.random(shape).astype(dtype), rng.random(shape).astype(dtype)
    for order in "CF":
        x = rng.random(2 * shape[function is rows]).astype(dtype)[::2]
        a = np.asarray(a, order=order)
        got, want = un.jit(function)(a, b, x), function(a, b, x)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(
            got,
            want,
            rtol=2e-5 if dtype == np.float32 else 1e-12,
            atol=1e-4 if dtype == np.float32 else 1e-11,
        )


def test_no_array_is_made():
    @un.jit
    def product(a, x):
        return (3 * a) @ x

    assert product(np.ones((3, 500)), np.ones(500)).tolist() == [1500, 1500, 1500]
    assert "matmul" not in product.inspect_llvm()


@pytest.mark.parametrize("is_row", [False, True])
def test_lengths_are_checked(is_row):
    @un.jit
    def product(a, x):
        return x @ (a + 1) if is_row else (a + 1) @ x

    with pytest.raises(ValueError, match="differ: 5 and 3" if is_row else "differ: 4 and 5"):
        product(np.ones((3, 4)), np.ones(5))
