"""Loops over columns around several products and statements: bits, stores and faults of the order written."""

import numpy as np
import pytest
import unisono as un
from layouts import numbers


def in_order(x, y):
    total = 0.0
    for p, q in zip(x.tolist(), y.tolist(), strict=True):
        total += p * q
    return total


def symmetric(dot):
    def kernel(f, c, a, b, t):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[:i, j] += f * b[i, j] * a[i, :i]
                t[j] = dot(b[:i, j], a[i, :i])
            c[i, :] += f * b[i, :] * a[i, i] + f * t

    return kernel


def two_products(dot):
    def kernel(f, c, a, b, t):
        n = a.shape[0]
        for j in range(c.shape[1]):
            s = dot(a[0, :], c[:n, j])
            was = t[j]
            t[j] = s * f
            u = dot(a[:, 1], b[:n, j]) + s
            b[:n, j] = u * a[2, :] - was
            c[0, j] = u

    return kernel


def reads_what_it_updates(dot):
    def kernel(f, c, a, b, t):
        n = a.shape[0]
        for j in range(c.shape[1]):
            was = c[1, j]
            c[:n, j] = c[:n, j] * f + was
            t[j] += dot(c[:n, j], a[0, :])
            c[:n, j] -= was * t[j]

    return kernel


def lives_on(dot):
    def kernel(f, c, a, b, t):
        n = a.shape[0]
        s = u = 0.0
        for j in range(c.shape[1]):
            b[:n, j] += f * a[0, :]
            s = dot(b[:n, j], a[0, :])
            c[:n, j] *= s
            u = dot(c[:n, j], a[1, :])
            t[j] = u
        t[0] = s - u

    return kernel


KERNELS = [symmetric, two_products, reads_what_it_updates, lives_on]


def arguments(rows, columns):
    c, a, b = numbers((rows, columns), 1), numbers((rows, rows), 2), numbers((rows, columns), 3)
    return 1.5, c, a, b, numbers(columns, 4)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("columns", [1, 7, 8, 41, 150])
def test_products_add_in_the_order_of_the_rows(kernel, columns):
    compiled = un.jit(kernel(np.dot))
    for rows in (3, 20, 67):
        got, want = arguments(rows, columns), arguments(rows, columns)
        kernel(in_order)(*want)
        compiled(*got)
        for x, y in zip(got[1:], want[1:], strict=True):
            assert x.tobytes() == y.tobytes(), rows


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda f: f.__name__)
def test_columns_that_share_memory_go_in_order(kernel):
    compiled = un.jit(kernel(np.dot))
    for shift in (0, 1, 30, 41, 80, 200, 247):
        results = []
        for function in (kernel(in_order), compiled):
            memory = numbers(1000, 5) / 8
            c, b = memory[:246].reshape(6, 41), memory[shift : shift + 246].reshape(6, 41)
            function(0.5, c, numbers((6, 6), 6), b, memory[shift + 50 : shift + 91])
            results.append(memory.tobytes())
        assert results[0] == results[1], shift


@pytest.mark.parametrize(
    "shapes",
    [((6, 40), (6, 6), (5, 40)), ((6, 40), (6, 5), (6, 40)), ((6, 40), (6, 6), (6, 39))],
)
def test_a_fault_in_the_middle_leaves_what_was_stored_before_it(shapes):
    stored = []
    for function in (symmetric(np.dot), un.jit(symmetric(np.dot))):
        c, a, b = (np.round(numbers(s, 7)) for s in shapes)
        t = np.zeros(40)
        with pytest.raises((IndexError, ValueError)):
            function(2.0, c, a, b, t)
        stored.append((c.tobytes(), t.tobytes()))
    assert stored[0] == stored[1]
