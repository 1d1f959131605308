"""Arrays of lists of lists, tuples and arrays in compiled functions, and NumPy's functions that join them."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def table(n):
    return (
        np.array([[x * y for x in range(n)] for y in range(n)]),
        np.array([[[x * y * z for x in range(n)] for y in range(n)] for z in range(2)]),
        np.array([(i, 2.5 * i) for i in range(n)]),
        np.array([[i, 2] for i in range(n)], dtype=np.float32),
        np.array([i for i in range(n)], dtype=np.int32),
    )


def appended(n):
    rows = []
    for i in range(n):
        rows.append([i * 1.0, 2.0])
    return np.array(rows), np.asarray(rows).sum(), np.mean(rows, axis=0), np.max(rows)


def joined(n):
    rows = [np.arange(3.0) * i for i in range(n)]
    blocks = [np.ones((2, i + 1)) * i for i in range(n)]
    return (
        (np.array(rows), np.stack(rows), np.vstack(rows), np.hstack(rows), np.column_stack(rows))
        + (np.concatenate(rows), np.hstack(blocks), np.column_stack(blocks), np.sum(rows))
        + (np.vstack([b[:1, :1] for b in blocks]), np.array([np.ones(2)] * n))
    )


@pytest.mark.parametrize(
    "function",
    [table, appended, pytest.param(joined, marks=pytest.mark.host_only("joins on the host"))],
)
def test_like_numpy(function):
    compiled = un.jit(function)
    for got, wanted in zip(compiled(3), function(3), strict=True):
        got, wanted = np.asarray(got), np.asarray(wanted)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


def test_of_arguments():
    f = un.jit(lambda rows: np.array(rows))
    assert f([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert f([1.5, 2.5]).tolist() == [1.5, 2.5]
    with pytest.raises(ValueError, match="inhomogeneous shape"):
        f([[1, 2], [3]])
