"""The second call of the same types goes a shorter way, whose results are those of the first."""

import numpy as np
import pytest
import unisono as un


@un.jit
def shifted(x, y, k):
    total = 0.0
    for i in range(x.shape[0] - 1):
        y[i + 1] = x[i] * k
        total += y[i + 1]
    return total


def plain_shifted(x, y, k):
    total = 0.0
    for i in range(x.shape[0] - 1):
        y[i + 1] = x[i] * k
        total += y[i + 1]
    return total


def calls():
    """Arguments in an order that changes types, overlaps, strides and kinds between calls."""
    base = np.arange(12.0)
    apart = (base, np.zeros(12))
    same = (base, base)
    overlapping = (base[:8], base[2:10])
    empty = (base[3:3], base[:1])
    strided = (base[::2], np.zeros((6, 2))[:, 1])
    backwards = (base[::-1], np.zeros(12))
    single = (base.astype(np.float32), np.zeros(12, np.float32))
    big_endian = (base.astype(">f8"), np.zeros(12))
    for arrays in (apart, same, apart, overlapping, empty, strided, backwards, single, apart):
        for k in (0.5, 2, True, 3):
            yield (*arrays, k)
            yield (*arrays, k)
    assert big_endian[0].dtype != base.dtype


def test_any_order_of_types():
    for x, y, k in calls():
        memory = np.concatenate([np.ravel(x), np.ravel(y)])
        got = shifted(x, y, k)
        after = np.array(y)
        if np.may_share_memory(x, y):
            base = x.base if x.base is not None else x
            base[:] = np.arange(12.0)
        else:
            y[...] = 0
        expected = plain_shifted(x, y, k)
        assert got == expected and np.array_equal(after, y), (x, y, k, memory)
        if np.may_share_memory(x, y):
            base[:] = np.arange(12.0)
        else:
            y[...] = 0


@un.jit
def put(x, i, value):
    x[i] = value


def test_faults_and_readonly_arrays():
    x = np.zeros(3)
    for _ in range(3):
        put(x, 1, 2.5)
        with pytest.raises(IndexError, match="index 3 is out of bounds"):
            put(x, 3, 1.0)
    assert x.tolist() == [0.0, 2.5, 0.0]
    locked = x.copy()
    locked.flags.writeable = False
    for _ in range(2):
        with pytest.raises(Exception, match="read-only"):
            put(locked, 0, 1.0)
        put(x, 0, 4.0)
    assert locked.tolist() == [0.0, 2.5, 0.0] and x[0] == 4.0
    for wrong in (2**70, -(2**70)):
        with pytest.raises(OverflowError):
            put(x, wrong, 1.0)
    with pytest.raises(TypeError, match="missing"):
        put(x, 1)
    with pytest.raises(TypeError, match="too many"):
        put(x, 1, 2.0, 3)
    put(x, value=7.0, i=2)
    assert x[2] == 7.0


def test_pending_work_on_our_arrays():
    u = un.zeros(4)
    for k in range(4):
        put(u, k, 1.0)
        u += k
        put(u[1:], 0, float(k))
    expected = np.zeros(4)
    for k in range(4):
        expected[k] = 1.0
        expected += k
        expected[1] = k
    assert u.tolist() == expected.tolist()
    squares = un.arange(4.0) ** 2
    put(squares, 0, -1.0)
    assert squares.tolist() == [-1.0, 1.0, 4.0, 9.0]


scale = 2.0


@un.jit
def scaled(x):
    return x * scale


@un.jit
def by_scaled(x):
    return scaled(x) + 1


def test_captured_values_and_reading_anew():
    global scale
    assert [scaled(3.0), scaled(4.0), by_scaled(1.0), by_scaled(1.0)] == [6.0, 8.0, 3.0, 3.0]
    scale = 10.0
    assert [scaled(3.0), by_scaled(1.0), scaled(3), scaled(3)] == [30.0, 11.0, 30.0, 30.0]
    scaled.recompile()
    assert [scaled(3.0), scaled(3.0), scaled(True)] == [30.0, 30.0, 10.0]
    scale = 2.0


def test_misaligned_and_other_objects():
    @un.jit
    def first(x):
        return x[0]

    x = np.arange(3.0)
    raw = np.zeros(33, np.uint8)
    misaligned = raw[1:25].view(np.float64)
    assert [first(x), first(x), first([5.0]), first(x), first(memoryview(x))] == [0, 0, 5, 0, 0]
    with pytest.raises(TypeError, match="not aligned"):
        first(misaligned)
    assert first(x.astype(np.int8)) == 0 and first(x.astype(complex)) == 0
    with pytest.raises(TypeError):
        first(x.astype(">f8"))
    assert first(np.arange(4.0).reshape(2, 2)[1]) == 2.0 and first(x) == 0.0
