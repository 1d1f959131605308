"""Loops that only add in order are not made of vectors, whose elements would be added one by one."""

import numpy as np
import pytest
import unisono as un


def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    return s


def product(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s


def two(x, y):
    s = t = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        t = y[i] * y[i] + t
    return s - t


def in_chunks(x):
    s = 0.0
    for i in un.prange(x.shape[0]):
        s += x[i] * x[i]
    return s


def logarithms(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += np.log(x[i])
    return s


def has_vectors(compiled):
    """Whether the code of its only version has loops over vectors, without what is compiled when needed."""
    (code,) = compiled.inspect_llvm().values()
    return "vector.body" in code.split("; ModuleID")[1]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("function", [total, product, two], ids=lambda f: f.__name__)
def test_bits_are_those_of_additions_in_order(function, dtype):
    rng = np.random.default_rng(3)
    for n in (0, 1, 7, 1000):
        arguments = [
            rng.standard_normal(n).astype(dtype) for _ in range(function.__code__.co_argcount)
        ]
        compiled = un.jit(function)
        assert compiled(*arguments) == function(*arguments)
    assert not has_vectors(compiled)


def test_what_may_be_reordered_is_vectors():
    x = np.random.default_rng(4).random(1000)
    compiled = un.jit(fastmath=True)(total)
    np.testing.assert_allclose(compiled(x), x.sum(), rtol=1e-13)
    assert has_vectors(compiled)


def test_a_parallel_sum_adds_its_parts_in_order():
    x = np.random.default_rng(5).random(100_000)
    compiled = un.jit(in_chunks)
    np.testing.assert_allclose(compiled(x), (x * x).sum(), rtol=1e-13)
    assert not has_vectors(compiled)


def test_work_beside_the_additions_is_vectors():
    """Whose elements are added from memory: taking them out of a register delays the additions."""
    x = np.random.default_rng(6).random(1000) + 1.0
    compiled = un.jit(logarithms)
    expected = 0.0  # `sum` compensates from Python 3.12 on
    for v in un.log(x).tolist():
        expected += v
    assert compiled(x) == expected
    assert has_vectors(compiled)
    (code,) = compiled.inspect_llvm().values()
    assert "call double @llvm.vector.reduce.fadd" not in code


@pytest.mark.parametrize(
    ("body", "has_memory"),
    [
        ("s += v[i]", False),
        ("s += v[i] * v[i] / 3", True),
        ("double t = v[i]; v[i] = 0; s += t", True),
    ],
)
def test_sums_of_c_read_elements_where_they_lie(body, has_memory):
    """Clang's loops are made of vectors; terms that are computed go through memory of their own."""
    total = un.c_module(
        "double total(double* v, int n)"
        "{ double s = 0; for (int i = 0; i < n; i++) { " + body + "; } return s; }"
    ).total
    x = np.random.default_rng(4).standard_normal(1003)
    s = 0.0
    for value in (x * x / 3 if "/" in body else x).tolist():
        s += value
    assert total(x, 1003) == s
    (code,) = total.inspect_llvm().values()
    assert ("%terms" in code) == has_memory
