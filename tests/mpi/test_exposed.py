"""One-sided access to distributed arrays, by indices in the whole."""

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
p, rank = mesh.size, mesh.rank
right = (rank + 1) % p
layouts = [
    "block", (None, "block"), ("block", "block"), "cyclic", ("cyclic", ("cyclic", 2)),
    ((*(0,) * (p - 1), 2 * p + 3), None),
]  # fmt: skip
keys = [
    ..., (slice(1, None, 2),), (slice(None), 2), (slice(None, None, -2), slice(4, 0, -1)), (-1,), (0, 0),
    (slice(2, 2),), (slice(p, None, 3), slice(1, None, 2)),
]  # fmt: skip


def values(*shape):
    return np.arange(1.0, 1 + np.prod(shape)).reshape(shape)


@pytest.mark.parametrize("layout", layouts, ids=str)
def test_get_and_put(layout):
    want = values(2 * p + 3, 5)
    x = un.asarray(want, mesh=mesh).to_layout(layout)
    gathered = un.stats()["bytes_gathered"]
    with un.mpi.expose(x) as g:
        for n, key in enumerate(keys):
            np.testing.assert_array_equal(np.asarray(g.get(key)), want[key])
            np.testing.assert_array_equal(np.asarray(g.iget(key).wait()), want[key])
            g.fence()
            if rank == n % p:
                g.put(key, -want[key] - n)
                g.iput(key, want[key] + n).wait()
            want[key] += n
            g.fence()
            g.accumulate(key, 2)
            g.iaccumulate(key, np.full(want[key].shape, 3.0)).wait()
            want[key] += 5 * p
            g.fence()
    np.testing.assert_array_equal(np.asarray(x + 0), want)
    assert p == 1 or un.stats()["bytes_gathered"] == gathered + want.nbytes - x.local.nbytes


@pytest.mark.parametrize("n", sorted({0, 1, max(p - 1, 0), p + 1, 13}))
def test_any_extent_and_views(n):
    want = np.arange(n)
    x = un.asarray(want, mesh=mesh)
    with un.mpi.expose(x) as g:
        assert g.get().tolist() == want.tolist()
        g.fence()
        if n and rank == p - 1:
            g.put(slice(None), 7)
    assert x.tolist() == [7] * n
    y = un.asarray(np.arange(2 * n), mesh=mesh)
    with un.mpi.expose(y[::-2]) as g:
        assert g.get().tolist() == np.arange(2 * n)[::-2].tolist()
        g.fence()
        if n and rank == 0:
            g.put(0, -1)
    want = np.arange(2 * n)
    want[::-2][:1] = -1
    assert y.tolist() == want.tolist()


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "complex128"])
def test_dtypes_and_halos(dtype):
    want = np.arange(2 * p + 2).astype(dtype)
    x = un.asarray(want, mesh=mesh)
    (x[1:] == x[:-1]).any().item()  # now there are halos, which go stale
    with un.mpi.expose(x) as g:
        if rank == 0:
            g.put(slice(1, None, 2), np.ones(p + 1, dtype))
    want[1::2] = 1
    assert (x[1:] == x[:-1]).tolist() == (want[1:] == want[:-1]).tolist()
    assert np.asarray(x).dtype == want.dtype and x.tolist() == want.tolist()


def test_read_inc_and_locks():
    x = un.zeros((p, 2), dtype="int64", mesh=mesh)
    with un.mpi.expose(x) as g:
        mine = [g.read_inc((right, 1)) for _ in range(20)]
        assert mine == list(range(20)) and g.owner((right, 1)) == right
        for _ in range(10):
            with g.locked(g.owner((-1, 0))):
                g.put((-1, 0), g.get((-1, 0)) + 1)  # read and written apart
                g.flush()
    assert x.tolist() == [[10 * p * (r == p - 1), 20] for r in range(p)]


def test_errors_say_what_to_do():
    x = un.zeros((p + 1, 2), mesh=mesh)
    with pytest.raises(
        TypeError,
        match=r"no array of an MPI job's ranks; got .*ndarray on .*; expected one made with",
    ):
        un.mpi.expose(un.zeros(3))
    if p > 1:
        with pytest.raises(
            ValueError, match=r"every rank has all of the array; .*expose x.to_layout\('block'\)"
        ):
            un.mpi.expose(x.to_layout("replicated"))
    g = un.mpi.expose(x)
    with pytest.raises(IndexError, match=f"get: index {p + 1} is outside of an axis of {p + 1}"):
        g.get(p + 1)
    with pytest.raises(IndexError, match="put: too many indices; got 3; expected 2"):
        g.put((0, 0, 0), 1)
    with pytest.raises(
        TypeError,
        match="get: an index of another kind; got list; expected integers, slices and ...",
    ):
        g.get([0, 1])
    with pytest.raises(TypeError, match=r"put: the values are distributed, .*give values.local"):
        g.put(slice(None), x)
    with pytest.raises(
        IndexError, match="read_inc: not one element; got 1 slices; expected 2 integers"
    ):
        g.read_inc(0)
    with pytest.raises(ValueError, match="broadcast"):
        g.put(slice(None), np.ones(3))
    g.close()
    with pytest.raises(
        ValueError, match="get: the array is not exposed any more; call un.mpi.expose again"
    ):
        g.get()
