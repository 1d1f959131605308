"""Kernels with numba-dpex's words."""

import numpy as np
import pytest
import unisono as un
from unisono import dpctl
from unisono.dpctl import dpex
from unisono.dpctl import dpex as kapi
from unisono.dpctl import tensor as dpt

SIDE = 2


@dpex.device_func
def increment(a):
    return a + 1


@dpex.kernel
def add(item: kapi.Item, a, b, c):
    i = item.get_id(0)
    c[i] = increment(a[i]) + b[i]


@dpex.kernel
def add_by_words(a, b, c):
    i = dpex.get_global_id(0)
    c[i] = a[i] + b[i] + dpex.get_group_id(0) * dpex.get_local_size(0) + dpex.get_local_id(0)


@dpex.kernel
def sums_of_groups(nditem: kapi.NdItem, values, n, sums, slm):
    own = nditem.get_local_id(0)
    gr = nditem.get_group()
    slm[own] = 0
    if nditem.get_global_id(0) < n:
        slm[own] = values[nditem.get_global_id(0)]
    stride = nditem.get_local_range(0) // 2
    while stride > 0:
        kapi.group_barrier(gr, kapi.MemoryScope.WORK_GROUP)
        if own < stride:
            slm[own] += slm[own + stride]
        stride >>= 1
    if own == 0:
        sums[gr.get_group_id(0)] = slm[0]


@dpex.kernel
def product(nditem: kapi.NdItem, X, Y, X_slm, Y_slm, result):
    row, column = nditem.get_global_id(0), nditem.get_global_id(1)
    i, j = nditem.get_local_id(0), nditem.get_local_id(1)
    gr = nditem.get_group()
    total = np.float32(0)
    for k in range(X.shape[1] // SIDE):
        X_slm[i, j] = X[row, j + SIDE * k]
        Y_slm[i, j] = Y[i + SIDE * k, column]
        kapi.group_barrier(gr)
        for m in range(SIDE):
            total += X_slm[i, m] * Y_slm[m, j]
        kapi.group_barrier(gr)
    result[row, column] = total


@dpex.kernel
def counted(item: kapi.Item, values, total, least, order):
    i = item.get_linear_id()
    sum_ = kapi.AtomicRef(total, 0)
    sum_.fetch_add(values[i])
    smallest = kapi.AtomicRef(least, index=0)
    smallest.fetch_min(values[i])
    place = kapi.AtomicRef(total, 1)
    order[place.fetch_add(1)] = i


@dpex.kernel
def private(nditem: kapi.NdItem, a):
    own = kapi.PrivateArray(shape=2, dtype=np.float32)
    own[0] = nditem.get_global_id(0)
    own[1] = own[0] + 1
    dpex.barrier(dpex.LOCAL_MEM_FENCE)
    a[nditem.get_global_linear_id()] = own[0] * own[1]


@dpex.kernel
def older_words(a, total):
    part = dpex.local.array(shape=4, dtype=np.int64)
    own = dpex.get_local_id(0)
    part[own] = a[dpex.get_global_id(0)]
    dpex.barrier(dpex.LOCAL_MEM_FENCE)
    if own == 0:
        for k in range(4):
            dpex.atomic.add(total, 0, part[k])


def test_arrays_of_both_kinds(chosen):
    a = np.arange(10.0)
    here = np.zeros(10)
    dpex.call_kernel(add, dpex.Range(10), a, a, here)
    np.testing.assert_array_equal(here, 2 * a + 1)
    x, there = dpt.asarray(a), dpt.zeros(10)
    dpex.call_kernel(add, dpex.Range(10), x, x, there)
    assert there.sycl_device.filter_string == chosen
    np.testing.assert_array_equal(dpt.asnumpy(there), here)
    add_by_words[10, 5](x, x, there)
    np.testing.assert_array_equal(dpt.asnumpy(there), 3 * a)
    add_by_words[dpex.Range(10), dpex.Range(2)](a, a, here)
    np.testing.assert_array_equal(here, 3 * a)


def test_local_memory(chosen):
    values, sums = dpt.arange(100), dpt.zeros(2, dtype=dpt.int64)
    space = dpex.NdRange((128,), (64,))
    dpex.call_kernel(sums_of_groups, space, values, 100, sums, kapi.LocalAccessor(64, np.int64))
    assert sums.tolist() == [2016, 4950 - 2016]
    total = dpt.zeros(1, dtype=dpt.int64)
    older_words[8, 4](values, total)
    assert int(total[0]) == 28
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 9, (6, 6)).astype(np.float32) for _ in range(2))
    x, y, z = dpt.asarray(a), dpt.asarray(b), dpt.zeros((6, 6), dtype=dpt.float32)
    slm = [kapi.LocalAccessor((SIDE, SIDE), np.float32) for _ in range(2)]
    dpex.call_kernel(product, dpex.NdRange((6, 6), (SIDE, SIDE)), x, y, *slm, z)
    np.testing.assert_array_equal(dpt.asnumpy(z), a @ b)


def test_atomics_and_private_memory(chosen):
    values = np.arange(5, 25).reshape(4, 5)
    total, least, order = (
        dpt.zeros(2, dtype=dpt.int64),
        dpt.full(1, 99),
        dpt.zeros(20, dtype=dpt.int64),
    )
    dpex.call_kernel(counted, dpex.Range(4, 5), dpt.asarray(values.ravel()), total, least, order)
    assert total.tolist() == [values.sum(), 20] and int(least[0]) == 5
    assert sorted(order.tolist()) == list(range(20))
    a = dpt.zeros(8, dtype=dpt.float32)
    dpex.call_kernel(private, dpex.NdRange(8, 4), a)
    assert a.tolist() == [k * (k + 1) for k in range(8)]


def test_kernels_behind_events(chosen):
    x, y = dpt.arange(10.0), dpt.zeros(10)
    host, first = dpex.call_kernel_async(add, dpex.Range(10), (), x, x, y)
    _, second = dpex.call_kernel_async(add, dpex.Range(10), (first,), y, x, y)
    dpctl.SyclEvent.wait_for([host, second])
    np.testing.assert_array_equal(dpt.asnumpy(y), 3 * np.arange(10.0) + 2)


def test_loops_over_arrays(chosen):
    @dpex.dpjit
    def scaled(a, b):
        for i in dpex.prange(a.size):
            b[i] = 2 * a[i]

    x, y = dpt.arange(10.0), dpt.zeros(10)
    scaled(x, y)
    assert y.tolist() == [2.0 * k for k in range(10)]


def test_what_is_wrong_is_told(chosen):
    a = dpt.zeros(4)

    @dpex.kernel
    def axis_of_data(item, a):
        a[0] = item.get_id(a.size)

    @dpex.kernel
    def unknown_word(item, a):
        a[0] = item.get_sub_group(0)

    @dpex.kernel
    def nameless(item, a):
        kapi.AtomicRef(a, 0).fetch_add(1.0)

    for kernel, message in (
        (axis_of_data, "an axis is a constant; got item.get_id"),
        (unknown_word, "the word is not known; got item.get_sub_group"),
        (nameless, "a reference has a name"),
    ):
        with pytest.raises(un.CompileError, match=message):
            dpex.call_kernel(kernel, dpex.Range(4), a)
    for call, error, message in (
        (lambda: add(a, a, a), TypeError, "launched over a range; got a plain call"),
        (
            lambda: dpex.call_kernel(add, 4, a, a, a),
            TypeError,
            "expected a Range or NdRange; got int",
        ),
        (
            lambda: dpex.call_kernel(increment, dpex.Range(4), a),
            TypeError,
            "decorate it with @dpex.kernel",
        ),
        (lambda: dpex.get_global_id(0), RuntimeError, "only defined inside of a kernel"),
        (lambda: dpex.NdRange((10,), (4,)), ValueError, "work-groups do not divide the range"),
        (lambda: dpex.Range(1, 2, 3, 4), ValueError, "one to three axes"),
        (
            lambda: dpex.call_kernel(older_words, dpex.Range(4), a, a),
            ValueError,
            "needs its local size",
        ),
    ):
        with pytest.raises(error, match=message):
            call()


@dpex.kernel
def groups_of_items(nditem: kapi.NdItem, out):
    out[nditem.get_global_id(0)] = nditem.get_group().get_group_id(0)


def test_the_group_of_an_item_without_a_name():
    out = dpt.zeros(6, dtype="int64")
    dpex.call_kernel(groups_of_items, dpex.NdRange((6,), (2,)), out)
    assert dpt.asnumpy(out).tolist() == [0, 0, 1, 1, 2, 2]


def test_the_device_of_an_array(capsys):
    device = dpt.zeros(2).device
    assert device.sycl_device == dpt.zeros(2).sycl_device == device.sycl_queue.sycl_device
    assert device.sycl_context == device.sycl_queue.sycl_context
    device.print_device_info()
    assert "Name" in capsys.readouterr().out
