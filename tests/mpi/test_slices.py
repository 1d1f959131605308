"""Slices of distributed arrays against NumPy, on however many ranks the job has."""

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
p = mesh.size
lengths = sorted({0, 1, max(p - 1, 0), p, p + 1, 13, 31})


def pair(shape, dtype="float64", seed=0):
    """The same random array for NumPy and distributed."""
    x = np.random.default_rng(seed).integers(-50, 50, shape).astype(dtype)
    return x, un.asarray(x, mesh=mesh)


def same(ours, theirs):
    ours = np.asarray(ours)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


def sweep(u, u_new):
    u_new[1:-1, 1:-1] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4


def boundaries(u):
    u[0, :] = 100
    u[:, 0] = 75
    u[:, -1] = 75
    u[-1, :] = 50


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 12, 37])
def test_laplace_has_numpys_bits(n, dtype):
    x, y = np.zeros((n, n + 2), dtype), np.zeros((n, n + 2), dtype)
    u, v = (un.zeros((n, n + 2), dtype=dtype, mesh=mesh) for _ in range(2))
    for a in (x, y, u, v):
        boundaries(a)
    for _ in range(15):
        sweep(u, v)
        sweep(x, y)
        u, v, x, y = v, u, y, x
    same(u, x)


def test_a_sweep_is_one_kernel_and_one_exchange():
    n = 50 * p  # more elements than what runs at once
    u, v = (un.zeros((n, 30), mesh=mesh) for _ in range(2))
    boundaries(u)
    boundaries(v)
    sweep(u, v)  # both blocks get their halos
    sweep(v, u)
    un.eval()
    before = un.stats()
    for _ in range(10):
        sweep(u, v)
        un.eval()
        u, v = v, u
    after = un.stats()
    neighbours = (mesh.rank > 0) + (mesh.rank < p - 1)
    assert after["kernels_launched"] - before["kernels_launched"] == 10
    assert after["messages_sent"] - before["messages_sent"] == 10 * neighbours
    assert after["bytes_allocated"] == before["bytes_allocated"]


def test_no_rank_holds_the_whole():
    before = un.stats()["bytes_allocated"]
    u = un.zeros((64 * p, 1000), mesh=mesh)
    v = u.copy()
    sweep(u, v)
    assert float((v - u).sum()) == 0.0
    # Blocks, halos and temporaries, and the same again for the growth of a halo.
    assert un.stats()["bytes_allocated"] - before < 7 * u.nbytes / p


def test_halos_are_exchanged_only_when_stale():
    u = un.ones((8 * p, 3), mesh=mesh)
    v = un.zeros((8 * p, 3), mesh=mesh)
    v[1:-1] = u[:-2] + u[2:]
    un.eval()
    before = un.stats()["messages_sent"]
    v[1:-1] = u[:-2] * u[2:]
    un.eval()
    assert un.stats()["messages_sent"] == before
    u[3, 0] = 2
    v[1:-1] = u[:-2] * u[2:]
    un.eval()
    assert (un.stats()["messages_sent"] > before) == (p > 1)


@pytest.mark.parametrize("n", lengths)
def test_shifts(n):
    x, a = pair((n, 3))
    for s in (1, 2, 5, 9):
        if s <= n:
            same(a[s:] - a[: n - s], x[s:] - x[: n - s])
            b, y = a.copy(), x.copy()
            b[s:] += b[: n - s]
            y[s:] += y[: n - s]
            same(b, y)
            b[: n - s] = b[s:]
            y[: n - s] = y[s:]
            same(b, y)


@pytest.mark.parametrize("n", lengths)
def test_views_of_views_steps_and_reversal(n):
    x, a = pair((n, 5))
    same(a[1:][1:-1, ::2], x[1:][1:-1, ::2])
    same(a[::2] + 1, x[::2] + 1)
    same(a[::-1, ::-1], x[::-1, ::-1])
    same(a[::-1] - a, x[::-1] - x)
    same(a[::3] * a[: (n + 2) // 3], x[::3] * x[: (n + 2) // 3])
    b, y = a.copy(), x.copy()
    b[::2] = 7
    y[::2] = 7
    b[::-1, 1:3] += a[:, 2:4]
    y[::-1, 1:3] += x[:, 2:4]
    same(b, y)


@pytest.mark.parametrize("n", lengths)
def test_one_dimension(n):
    x, a = pair(n, "int64")
    same(a * 2 - 1, x * 2 - 1)
    same(a[1:] - a[:-1], x[1:] - x[:-1])
    same(un.where(a > 0, a, -a), np.where(x > 0, x, -x))
    for i in range(min(n, 4)):
        assert int(a[i]) == x[i]
    if n > 1:
        a[n - 1] = 5
        x[n - 1] = 5
        a[0] = a[n - 1] + 1
        x[0] = x[n - 1] + 1
        same(a, x)


def test_rows_and_columns():
    x, a = pair((2 * p + 1, 4))
    same(a[p], x[p])
    same(a[-1] + a[0], x[-1] + x[0])
    same(a - a[0:1], x - x[0:1])
    same(a * a[p], x * x[p])
    same(a[:, 1], x[:, 1])
    a[0] = a[-1]
    x[0] = x[-1]
    a[:, 2] = a[:, 0]
    x[:, 2] = x[:, 0]
    a[1, :] = x[0]
    x[1, :] = x[0]
    same(a, x)


def test_three_axes():
    x, a = pair((p + 3, 4, 5), "float32")
    same(
        (a[1:-1, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1]) / 3, (x[1:-1, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1]) / 3
    )
    same(a[:, 1], x[:, 1])
    same(a[2, :, 1], x[2, :, 1])


def test_expressions_keep_the_values_of_their_time():
    x, a = pair((3 * p, 2))
    e, f = a[1:] + a[:-1], x[1:] + x[:-1]
    b = a + 0
    a[:] = 0
    same(e, f)
    same(b, x)
    c = e * 2
    e[0] = 99
    same(c, f * 2)


def test_operands_that_all_ranks_hold():
    x, a = pair((2 * p + 1, 3))
    same(a + x, x + x)
    same(x - a, x - x)
    same(a * un.asarray(x[0]), x * x[0])
    y = un.array(x)
    e = a + y
    y[...] = 0
    same(e, x + x)


def test_long_expressions():
    x, a = pair((2 * p, 3))
    b, y = a, x
    for k in range(100):
        b, y = b * 0.5 + k, y * 0.5 + k
    same(b, y)
    for _ in range(40):
        b, y = b + b, y + y
    same(b, y)


def test_dtypes_and_functions():
    x, a = pair((p + 2, 3), "int32")
    same(a.astype("float32") / 3, x.astype("float32") / np.float32(3))
    same(a > 3, x > 3)
    same(un.sqrt(un.abs(a)), np.sqrt(np.abs(x)))
    same((a > 0) & (a < 9), (x > 0) & (x < 9))
    same(-a, -x)
    same(7 // (a * a + 1), 7 // (x * x + 1))
    same(a**2, x**2)
    assert a.dtype == "int32" and a.shape == x.shape and a.device == mesh and len(a) == len(x)


def test_creation():
    same(un.ones((p + 1, 2), dtype="int32", mesh=mesh), np.ones((p + 1, 2), "int32"))
    same(un.full(5, 3, mesh=mesh), np.full(5, 3))
    same(un.arange(2, 20, 3, mesh=mesh), np.arange(2, 20, 3))
    same(un.arange(7, mesh=mesh), np.arange(7))
    same(un.arange(0.5, 4, 0.25, mesh=mesh), np.arange(0.5, 4, 0.25))
    x, a = pair((p, 2))
    same(un.zeros_like(a), np.zeros_like(x))
    same(un.copy(a), x)
    assert un.ones_like(a).device == mesh
    assert un.empty((4, 4), mesh=mesh).shape == (4, 4)
    for b in (un.zeros(3, device=mesh), un.asarray(x, device=a.device), un.arange(3, device=mesh)):
        assert b.device == mesh


def test_errors_are_local_and_leave_all_usable():
    a = un.zeros((4, 3), mesh=mesh)
    with pytest.raises(
        ValueError, match=r"add: shapes do not broadcast; got \(4, 3\) and \(4, 2\)"
    ):
        a + un.zeros((4, 2), mesh=mesh)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        a[4]
    with pytest.raises(ValueError, match="assignment: shapes do not broadcast"):
        a[:2] = a
    with pytest.raises(TypeError, match="cannot cast the result from float64 to int64"):
        b = un.zeros(3, dtype="int64", mesh=mesh)
        b += 0.5
    with pytest.raises(ValueError, match="expected 'mpi'"):
        un.mesh("udp")
    same(a + 1, np.ones((4, 3)))


def test_printing_and_single_elements():
    x, a = pair((2, 2))
    assert str(a) == str(x)
    assert repr(a).startswith("array([[") and "mesh=Mesh('mpi'" in repr(a)
    assert a.tolist() == x.tolist()
    assert float(a[1, 1]) == x[1, 1] and a.item(0, 1) == x[0, 1]
    assert float(a[0:1, 0:1]) == x[0, 0]
    with pytest.raises(ValueError, match="bool"):
        bool(a)


def test_statements_make_new_memory_and_keep_what_they_must():
    x = un.asarray(np.arange(12).reshape(6, 2), mesh=mesh)
    y, z = un.floor(x), +x  # whole already, and the same numbers
    y[0], z[0] = 100, 200
    assert np.asarray(x)[0].tolist() == [0, 1]
    x += x[::-1]  # reads what it writes
    np.testing.assert_array_equal(np.asarray(x), np.full((6, 2), [10, 12]))
    x[1:] -= x[:-1]
    np.testing.assert_array_equal(np.asarray(x)[1:], np.zeros((5, 2)))
    total = x + np.arange(2) + x[:1]
    np.testing.assert_array_equal(np.asarray(total)[0], [20, 25])
    assert total.mesh == mesh and total.layout == x.layout
    with pytest.raises(ValueError, match="broadcast"):
        x[:2] = un.ones((3, 2), mesh=mesh)
    with pytest.raises(TypeError, match="cast"):
        x += 0.5


def test_sums_and_choices_are_on_the_mesh_too():
    x, a = pair((5, 7))
    rows, chosen = a.sum(axis=1), un.where(a > 0, a, -a)
    assert rows.mesh == mesh and chosen.mesh == mesh and (a > 0).mesh == mesh
    same(rows, x.sum(axis=1))
    same(chosen, np.where(x > 0, x, -x))
    same(a.sum(axis=0, keepdims=True), x.sum(axis=0, keepdims=True))
    total = a.sum()
    a += 1  # later than the sum was asked for
    assert float(total) == x.sum() and float(a.sum()) == x.sum() + x.size
    nothing = a.sum(axis=())
    nothing[0] = 0
    same(a, x + 1)


@pytest.mark.parametrize("layout", ["block", "cyclic"])
@pytest.mark.parametrize("n", [1, 2])
def test_parts_of_few_complex_numbers(layout, n):
    """Their elements are an axis that the array of complex numbers has not."""
    x, a = pair((9, 2))
    x, a = x[:, 0] + 1j * x[:, 1], (a[:, 0] + 1j * a[:, 1]).to_layout((layout,))
    for first in range(9 - n):
        y, b = pair(9)
        y[first : first + n] = (x[first : first + n] + 1).imag.astype("float32")
        b[first : first + n] = (a[first : first + n] + 1).imag.astype("float32")
        same(b, y)
