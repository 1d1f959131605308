"""Elements at positions on every device: dtypes, strides, negative indices, errors, against NumPy."""

import numpy as np
import pytest
import unisono as un
from device_arrays import both

DTYPES = "bool int8 uint16 int32 uint64 float16 float32 float64 complex64 complex128".split()


def same(got, expected):
    got = np.asarray(got)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert got.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_index(device, dtype):
    a = (np.arange(40) % 7).astype(dtype)
    at = np.array([3, 0, -1, 39, -40, 3])
    x, i = both(device, a, at)
    same(x[i], a[at])
    same(x[::-3][i[:2]], a[::-3][at[:2]])
    same(x[i.reshape(2, 3)], a[at.reshape(2, 3)])
    same(un.take(x, i), np.take(a, at))


def test_results_lie_on_the_device(device):
    x, i = both(device, np.arange(5.0), np.array([1, 2]))
    assert x[i].device == x.device


def test_indices_of_other_dtypes(device):
    a = np.arange(20.0)
    for t in ("int8", "uint8", "int32", "uint64"):
        at = np.array([1, 19, 0], t)
        x, i = both(device, a, at)
        same(x[i], a[at])


def test_axes(device):
    a = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    at, other = np.array([1, 0, -1]), np.array([[0], [-2]])
    x, i, j = both(device, a, at, other)
    same(x[i % 2], a[at % 2])
    same(x[:, i], a[:, at])
    same(x[..., i], a[..., at])
    same(x[1, i], a[1, at])
    same(x[:, i, j], a[:, at, other])
    same(x[:, i, :, j], a[:, at, :, other])
    same(x.transpose(3, 1, 0, 2)[i, 1:], a.transpose(3, 1, 0, 2)[at, 1:])
    same(x[:, ::-1, ::2][:, :, i % 2], a[:, ::-1, ::2][:, :, at % 2])
    same(un.take(x, i, axis=2), np.take(a, at, axis=2))
    same(
        un.take_along_axis(x[0, 0], j % 4 + 0 * x[0, 0][:2], axis=0),
        np.take_along_axis(a[0, 0], other % 4 + 0 * a[0, 0][:2], axis=0),
    )


def test_empty_operands(device):
    a = np.arange(6.0).reshape(2, 3)
    x, none = both(device, a, np.array([], int))
    same(x[none], a[np.array([], int)])
    same(x[:, none], a[:, np.array([], int)])
    same(x[:0][:, none], a[:0][:, np.array([], int)])
    un.add.at(x, none, 1.0)
    un.maximum.at(x, slice(0, 0), 9.0)
    same(x, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_put(device, dtype):
    a = (np.arange(30) % 5).astype(dtype)
    at, values = np.array([4, -1, 0]), np.array([1, 0, 1]).astype(dtype)
    x, i, v = both(device, a.copy(), at, values)
    x[i] = v
    a[at] = values
    same(x, a)
    x[::2][i] = v[::-1]
    a[::2][at] = values[::-1]
    same(x, a)


def test_put_along_axes(device):
    a = np.zeros((3, 4, 5))
    at, other = np.array([1, 0, -1]), np.array([0, 3, -2])
    values = np.arange(60.0).reshape(3, 4, 5)
    x, i, j, v = both(device, a.copy(), at, other, values)
    for target, p, q, w in ((a, at, other, values), (x, i, j, v)):
        target[p] = w
        target[:, p] += 1
        target[:, p, q] = w[:, 0, :3]
        target[p, :, q] = w[:, :, 0] * 2
    same(x, a)


def test_of_equal_positions_the_last_counts(device):
    rng = np.random.default_rng(1)
    at, values = rng.integers(-50, 50, 5000), np.arange(5000.0)
    a = np.zeros(50)
    x, i, v = both(device, a.copy(), at, values)
    x[i] = v
    a[at] = values
    same(x, a)


def test_positions_out_of_range(device):
    x, i = both(device, np.arange(6.0).reshape(2, 3), np.array([0, 2, 5]))
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        x[i]
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 3"):
        x[:, i]
    with pytest.raises(IndexError, match="index -7 is out of bounds for axis 0 with size 6"):
        x.ravel()[i - 7]
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        x[i] = 1.0
    same(x, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("count", [1, 1023, 1024, 3000])
def test_the_first_of_many_positions_out_of_range(device, count):
    """Work-items take several positions each."""
    table = np.arange(7) * 3
    x = un.asarray(table, device=device)
    index = np.random.default_rng(count).integers(-7, 7, count)
    same(x[un.asarray(index, device=device)], table[index])
    for first in {0, count // 2, count - 1}:
        wrong = index.copy()
        wrong[-1] = -8
        wrong[first] = 7
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7"):
            un.eval(x[un.asarray(wrong, device=device)])
    with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
        un.eval(x[:0][un.asarray(np.zeros(count, int), device=device)])


def test_operands_of_several_devices(device):
    if device == "cpu":
        pytest.skip("all lie on the host")
    x, i = un.asarray(np.arange(5.0), device=device), un.asarray([1, 2])
    with pytest.raises(un.DeviceError, match="take: operands live on different devices"):
        x[i]


def assigned(x, key, value):
    x[key] = value
    return x


@pytest.mark.parametrize("key", [[1, 2, -1], np.array([3, 0, 5]), (slice(3), [1, 2, 0])], ids=str)
@pytest.mark.parametrize("value", [2.0, 3, [1.0, 2.0, 3.0], np.array([4, 5, 6])], ids=str)
def test_numbers_lists_and_foreign_arrays_go_where_the_array_is(device, key, value):
    here = np.arange(18.0).reshape(6, 3)
    there = un.asarray(here, device=device)
    same(there[key].to_device("cpu"), here[key])
    assert assigned(there, key, value).device == there.device
    same(there.to_device("cpu"), assigned(here, key, value))
    held = un.asarray(np.array([0, 1]), device=device)
    same(assigned(there, held, 7).to_device("cpu"), assigned(here, [0, 1], 7))
