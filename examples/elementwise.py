"""Scalar functions over arrays: vmult, vec_saxpy and the loops f1 and add.

Run: python examples/elementwise.py
"""

import numpy as np
import unisono as un
from unisono import complex64, float32


@un.vectorize([complex64(complex64, complex64)], target="parallel")
def vmult(a, b):
    """Element complex64 multiplication"""
    return a * b


@un.vectorize([float32(float32, float32, float32)], target="parallel")
def vec_saxpy(a, x, y):
    return a * x + y


@un.jit
def f1(a, b, c, N):
    for i in range(N):
        c[i] = a[i] + b[i]


@un.jit
def add(a, b, c, N):
    for i in un.prange(N):
        c[i] = a[i] + b[i]


def main():
    rng = np.random.default_rng(0)
    image = rng.normal(size=1000) + 1j * rng.normal(size=1000)
    spectrum = un.fft.fft(un.asarray(image)).astype("complex64")
    response = un.ones(1000, dtype="complex64")
    vmult(spectrum, response, out=spectrum)
    print(
        "the filter changed nothing:",
        np.allclose(np.asarray(un.fft.ifft(spectrum)), image, atol=1e-3),
    )

    x, y = un.arange(5.0, dtype="float32"), un.ones(5, dtype="float32")
    z = un.sqrt(vec_saxpy(2.0, x, y)) + 1  # one kernel: saxpy, root and sum
    print(z)

    n = 100_000
    a, b = rng.random(n), rng.random(n)
    c, d = np.empty(n), np.empty(n)
    f1(a, b, c, n)
    add(a, b, d, n)
    print("serial and parallel loops agree:", (c == d).all())


if __name__ == "__main__":
    main()
