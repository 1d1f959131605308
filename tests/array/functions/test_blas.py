"""The routines of BLAS and LAPACK under their own names, against NumPy."""

import numpy as np
import pytest
import unisono as un

RNG = np.random.default_rng(8)
TYPES = [("d", "float64", 1e-10), ("s", "float32", 1e-3)]


def made(*shape, dtype="float64"):
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("t, dtype, near", TYPES)
def test_blas(t, dtype, near):
    blas = un.linalg.blas
    a, b, c = made(4, 3, dtype=dtype), made(3, 5, dtype=dtype), made(4, 5, dtype=dtype)
    x, y = made(3, dtype=dtype), made(4, dtype=dtype)

    def check(got, expected):
        assert np.asarray(got).dtype == dtype
        np.testing.assert_allclose(np.asarray(got), expected, rtol=near, atol=near)

    check(getattr(blas, t + "gemm")(2.0, a, b), 2 * a @ b)
    check(getattr(blas, t + "gemm")(2.0, a, b, 0.5, c), 2 * a @ b + 0.5 * c)
    check(getattr(blas, t + "gemm")(1, a.T, b.T, trans_a=1, trans_b=1), a @ b)
    check(getattr(blas, t + "gemv")(2, a, x, 3, y), 2 * a @ x + 3 * y)
    check(getattr(blas, t + "gemv")(1, a, y, trans=1), a.T @ y)
    check(getattr(blas, t + "ger")(2, y, x, a), 2 * np.outer(y, x) + a)
    check(getattr(blas, t + "axpy")(x, x, a=3), 4 * x)
    check(getattr(blas, t + "scal")(3, x), 3 * x)
    np.testing.assert_allclose(getattr(blas, t + "dot")(x, x), x @ x, rtol=near)
    np.testing.assert_allclose(getattr(blas, t + "nrm2")(x), np.linalg.norm(x), rtol=near)
    np.testing.assert_allclose(getattr(blas, t + "asum")(x), abs(x).sum(), rtol=near)
    assert getattr(blas, f"i{t}amax")(x) == abs(x).argmax()
    check(np.triu(getattr(blas, t + "syrk")(1, a)), np.triu(a @ a.T))
    check(np.tril(getattr(blas, t + "syrk")(1, a, trans=1, lower=1)), np.tril(a.T @ a))
    s = a.T @ a
    check(getattr(blas, t + "symm")(1, s, b), s @ b)
    low = np.tril(s) + 3 * np.eye(3, dtype=dtype)
    check(low @ np.asarray(getattr(blas, t + "trsm")(2, low, b, lower=1)), 2 * b)
    check(getattr(blas, t + "trmm")(2, low, b, lower=1), 2 * low @ b)
    check(low @ np.asarray(getattr(blas, t + "trsv")(low, x, lower=1)), x)
    check(getattr(blas, t + "trmv")(low, x, lower=1), low @ x)
    with pytest.raises(ValueError, match=f"{t}gemm: extents differ; got 3 and 5"):
        getattr(blas, t + "gemm")(1, a, b.T)
    with pytest.raises(ValueError, match="trans must be"):
        getattr(blas, t + "gemv")(1, a, y, trans=5)


@pytest.mark.parametrize("t, dtype, near", TYPES)
def test_lapack(t, dtype, near):
    lapack = un.linalg.lapack
    a, b = made(4, 4, dtype=dtype), made(4, 2, dtype=dtype)

    def check(got, expected):
        np.testing.assert_allclose(np.asarray(got), expected, rtol=near, atol=near)

    lu, piv, x, info = getattr(lapack, t + "gesv")(a, b)
    check(a @ np.asarray(x), b)
    assert info == 0
    lu, piv, info = getattr(lapack, t + "getrf")(a)
    factors = np.asarray(lu)
    product = (np.tril(factors, -1) + np.eye(4, dtype=dtype)) @ np.triu(factors)
    for k, p in reversed(list(enumerate(piv.tolist()))):
        product[[k, p]] = product[[p, k]]
    check(product, a)
    check(a @ np.asarray(getattr(lapack, t + "getrs")(lu, piv, b)[0]), b)
    check(a @ np.asarray(getattr(lapack, t + "getrs")(lu, piv, b[:, 0])[0]), b[:, 0])
    check(a.T @ np.asarray(getattr(lapack, t + "getrs")(lu, piv, b, trans=1)[0]), b)
    check(a @ np.asarray(getattr(lapack, t + "getri")(lu, piv)[0]), np.eye(4))
    s = a @ a.T + np.eye(4, dtype=dtype)
    for lower in (0, 1):
        c, info = getattr(lapack, t + "potrf")(s, lower=lower)
        check(np.asarray(c), np.linalg.cholesky(s) if lower else np.linalg.cholesky(s).T)
        check(s @ np.asarray(getattr(lapack, t + "potrs")(c, b, lower=lower)[0]), b)
    assert getattr(lapack, t + "potrf")(-s)[1] == 1
    qr, tau, _, info = getattr(lapack, t + "geqrf")(a)
    check(abs(np.triu(qr)), abs(np.linalg.qr(a).R))
    w, v, info = getattr(lapack, t + "syev")(s)
    check(w, np.linalg.eigvalsh(s))
    check(s @ np.asarray(v), np.asarray(v) * np.asarray(w))
    assert getattr(lapack, t + "gesv")(np.zeros((2, 2)), np.ones(2))[3] == 1
