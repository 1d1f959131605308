"""Values as arguments and constants of compiled code: numbers of their dtype, as NumPy's scalars are."""

import math

import numpy as np
import pytest
import unisono as un


class Float32(float):
    """What a library may have: a number of Python with a dtype."""

    dtype = np.dtype("float32")

    def item(self):
        return float(self)


class Int8(int):
    dtype = un.int8

    def item(self):
        return int(self)


@un.jit
def root(s):
    return math.sqrt(s)


@un.jit
def double(x):
    return x * 2


@un.jit
def count(n):
    s = 0
    for i in range(n):
        s += i
    return s


def test_lazy_values_are_numbers():
    x = un.asarray([1.0, 4.0, 2.5])
    assert root(x.max()) == 2.0
    assert root((x * 4).max()) == 4.0
    assert root(x[1]) == 2.0
    assert len(root.signatures) == 1


def test_ranges_to_values():
    assert count(un.int64(4)) == count(un.asarray([3, 4]).max()) == count(un.uint8(4)) == 6


@pytest.mark.parametrize(
    "name",
    "bool int8 uint8 int32 int64 uint64 float16 float32 float64 complex64 complex128".split(),
)
def test_values_have_their_dtype(name):
    for value in (
        un.asarray([1, 3], dtype=name)[1],
        (un.asarray([0, 3], dtype=name) | True).max()
        if name == "bool"
        else un.asarray([0, 3], dtype=name).sum(dtype=name),
    ):
        given = np.dtype(name).type(value.item())
        got, expected = double(value), double(given)
        assert type(got) is type(expected) and got == expected


def test_derived_numbers_have_their_dtype():
    assert double(Float32(0.1)) == double(np.float32(0.1)) != double(0.1)
    assert double(Int8(100)) == double(np.int8(100)) == -56


Z = un.float32(0)
COUNT = un.int64(4)
LARGEST = un.asarray([1.0, 3.0]).max()


def test_global_values_are_constants():
    @un.jit
    def total(x):
        s = Z
        for v in x:
            s += v
        return s

    @un.jit
    def plus(x):
        s = 0
        for i in range(COUNT):
            s += i
        return x * LARGEST + s

    assert total(np.ones(3, "float32")) == 3.0
    assert plus(2.0) == 12.0


def test_values_in_loops_over_elements():
    @un.jit
    def scaled(x, s):
        out = np.empty(len(x))
        for i in range(len(x)):
            out[i] = math.exp(x[i]) * s
        return out

    x = un.asarray([0.0, 1.0])
    np.testing.assert_array_equal(scaled(x, x.max()), scaled(x, 1.0))


def test_values_around_and_in_containers():
    @un.jit
    def apply(f, a):
        return f(a)

    def around(q):
        @un.jit
        def inner(v):
            return v * q

        return inner

    x = un.asarray([1.0, 4.0])
    assert around(x.max())(2.0) == 8.0
    for q in (un.float32(3), un.float64(2), x.max(), np.float32(1)):
        assert apply(lambda v: v * q, 2.0) == 2.0 * float(q)  # noqa: B023 - called at once

    @un.jit
    def both(p, default=LARGEST):
        return p[0] + p[1] + default

    assert both((x[0], x[1])) == 8.0


def test_values_in_kernels_and_functions_over_elements():
    @un.kernel
    def scale(a, s):
        i = un.global_id(0)
        a[i] *= s

    @un.vectorize
    def times(a, b):
        return a * b

    x = un.asarray([1.0, 4.0])
    y = un.ones(2)
    scale[2](y, x.max())
    assert y.tolist() == [4.0, 4.0]
    assert times(x, x.max()).tolist() == [4.0, 16.0]


def test_arrays_without_axes_stay_arrays():
    @un.jit
    def set_to(a, v):
        a[()] = v

    a = un.zeros(())
    set_to(a, 3.0)
    assert float(a) == 3.0
