"""Numbers of NumPy's and unisono's as items of lists, keys and values: those of float64, int64 and bool are Python's."""

import numpy as np
import pytest
import unisono as un


@un.njit
def total(items):
    s = items[0]
    for k in range(1, len(items)):
        s = s + items[k]
    return s


values = {
    "float64 of ours": lambda: list(un.asarray([1.5, 2.0])),
    "float64 of NumPy's": lambda: [np.float64(1.5), np.float64(2)],
    "int64": lambda: list(un.asarray([3, 4])),
    "int64 of NumPy's": lambda: [np.int64(3), np.int64(4)],
    "float32": lambda: list(un.asarray([1.5, 2.0], dtype="float32")),
    "uint8 of NumPy's": lambda: [np.uint8(3), np.uint8(4)],
    "beside Python's": lambda: [un.asarray([1.5])[0], 2.5, np.float64(3)],
    "behind Python's": lambda: [2.5, un.asarray([1.5])[0]],
    "still to be computed": lambda: [(un.ones(1 << 17) * k).sum() for k in (1, 2)],
}


@pytest.mark.parametrize("make", values.values(), ids=values)
def test_lists(make):
    assert total(make()) == sum(float(v) for v in make())


def test_truth_values_tuples_and_tables():
    x, n = un.asarray([1.5, 2.5]), un.arange(3)
    some = un.njit(lambda items: 1 if items[0] and not items[1] else 0)
    assert some(list(x < 2)) == 1 and some([np.True_, np.False_]) == 1
    pairs = un.njit(lambda items: items[1][0] * items[1][1])
    assert pairs([(x[0], n[1]), (x[1], n[2])]) == 5
    assert un.njit(lambda d: d[1.5] + len(d))({x[0]: n[2], x[1]: n[1]}) == 4
    assert un.njit(lambda s: 2.5 in s)({x[0], x[1]})


def test_items_that_are_written_come_back():
    @un.njit
    def double(items):
        for k in range(len(items)):
            items[k] = items[k] * 2

    items = list(un.asarray([1.5, 2.0]))
    double(items)
    assert items == [3, 4]


def test_items_of_several_dtypes_are_refused():
    with pytest.raises(TypeError, match="entries of several types"):
        total([np.float32(1), np.float64(2)])
