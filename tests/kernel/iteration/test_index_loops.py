"""np.ndindex, np.ndenumerate and np.nditer in compiled functions: NumPy's items in NumPy's order."""

import numpy as np
import pytest
import unisono as un


def by_sizes(a, out):
    n, m = a.shape
    k = 0
    for i, j in np.ndindex(n, m):
        n = -1
        out[i, j] = 10 * a[i, j] + k
        k += 1
    return k


def by_shape(a, out):
    k = 0
    for at in np.ndindex(a.shape):
        if a[at] < 3:
            continue
        out[at] = a[at] + k
        k += 1
    else:
        k += 100
    return k


def until(a, out):
    k = 0
    for i, j in np.ndindex(a.shape):
        if a[i, j] == 7:
            break
        out[i, j] = k
        k += 1
    else:
        k = -k
    return k


def last_index(a, out):
    i, j = -1, -2
    for i, j in np.ndindex(a.shape):
        i += 1
        out[i - 1, j] = i
    return 100 * i + j


def inside(a, out):
    k = 0
    for (i,) in np.ndindex((a.shape[0],)):
        for r, c in np.ndindex((2, a.shape[1])):
            while True:
                k += 1
                if k % 2:
                    break
            out[i, c] += a[i, c] * r + k
    return k


def enumerated(a, out):
    k = 0.0
    for (i, j), v in np.ndenumerate(a):
        out[i, j] = v * j - i + k
        k += v
    return k


def enumerated_whole(a, out):
    for at, v in np.ndenumerate(a):
        out[at] = v * 2 + len(at)
    return 0


ALL = [by_sizes, by_shape, until, last_index, inside, enumerated, enumerated_whole]


@pytest.mark.parametrize("program", ALL)
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (5, 0), (0, 3), (7, 2)])
def test_indices(program, shape):
    a = np.arange(float(np.prod(shape))).reshape(shape)
    want, got = np.zeros(shape), np.zeros(shape)
    assert un.jit(program)(a, got) == program(a, want)
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("shape", [(), (4,), (2, 3, 4), (2, 1, 2, 3)])
@pytest.mark.parametrize("program", [by_shape, enumerated_whole])
def test_any_number_of_axes(program, shape):
    a = np.arange(float(np.prod(shape))).reshape(shape)
    want, got = np.zeros(shape), np.zeros(shape)
    assert un.jit(program)(a, got) == program(a, want)
    assert got.tobytes() == want.tobytes()


def order(a, out):
    k = 0
    for v in np.nditer(a):
        out[k] = v
        k += 1
    return k


def order_of_two(a, b, out):
    k = 0
    for u, v in np.nditer((a, b)):
        out[k] = 100 * u + v
        k += 1
    return k


rows = np.arange(12.0).reshape(3, 4)
columns = np.asfortranarray(rows)
ARRAYS = [rows, columns, rows[:, :2], rows.T, rows[0], np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))]  # fmt: skip


@pytest.mark.parametrize("a", ARRAYS)
def test_elements_come_in_the_order_of_memory(a):
    want, got = np.zeros(24), np.zeros(24)
    assert un.jit(order)(a, got) == order(a, want)
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    "a, b",
    [(rows, rows), (columns, columns), (rows, columns), (columns, rows), (rows, rows[0]), (rows[:, :1], rows[0]), (rows[0], rows), (np.ones(()), rows), (np.ones((2, 1, 4)), rows[:, :1])],
)  # fmt: skip
def test_elements_of_two_arrays(a, b):
    want, got = np.zeros(24), np.zeros(24)
    assert un.jit(order_of_two)(a, b, got) == order_of_two(a, b, want)
    assert got.tobytes() == want.tobytes()


def test_arrays_of_several_shapes_need_no_interpreter():
    got = np.zeros(24)
    assert un.jit(nopython=True)(order_of_two)(rows, rows[0], got) == 12
    with pytest.raises(ValueError, match="nditer: the operands' shapes do not broadcast"):
        un.jit(order_of_two)(rows, rows[0, :3], got)
