"""Functions that make distributed arrays, against NumPy."""

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")

CALLS = {
    "eye": lambda p, m: p.eye(7, **m),
    "eye of a diagonal": lambda p, m: p.eye(5, 8, k=-2, dtype="f4", **m),
    "identity": lambda p, m: p.identity(6, **m),
    "tri": lambda p, m: p.tri(5, 8, k=1, dtype="i4", **m),
    "linspace": lambda p, m: p.linspace(-1, 2, 11, **m),
    "linspace without its end": lambda p, m: p.linspace(0, 1, 10, endpoint=False, **m),
    "linspace of arrays": lambda p, m: p.linspace(np.zeros(3), np.arange(3.0), 7, **m),
    "empty linspace": lambda p, m: p.linspace(0, 1, 0, **m),
    "indices": lambda p, m: p.indices((4, 5), **m),
    "indices of one axis": lambda p, m: p.indices((9,), dtype="f8", **m),
    "open indices": lambda p, m: p.indices((4, 5), sparse=True, **m),
    "fromfunction": lambda p, m: p.fromfunction(lambda i, j: i * 10 + j, (7, 6), **m),
    "fromiter": lambda p, m: p.fromiter((k * k for k in range(9)), "f8", **m),
    "fromiter of nothing": lambda p, m: p.fromiter([], int, **m),
    "frombuffer": lambda p, m: p.frombuffer(bytes(range(26)), "i2", 11, 4, **m),
    "zeros_like": lambda p, m: p.zeros_like(np.ones((5, 2), "f4"), **m),
    "ones_like": lambda p, m: p.ones_like(np.ones((5, 2), "f4"), **m),
    "full_like": lambda p, m: p.full_like(np.ones((5, 2)), 7, **m),
    "array": lambda p, m: p.array([[1, 2.5], [3, 4], [5, 6]], **m),
    "array of more axes": lambda p, m: p.array([1, 2, 3], ndmin=2, **m),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_made_on_a_mesh(call):
    before = un.stats()["bytes_gathered"]
    got, want = call(un, {"mesh": mesh}), call(np, {})
    if not isinstance(want, tuple | list):
        got, want = (got,), (want,)
    un.eval(*got)
    assert un.stats()["bytes_gathered"] == before
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert g.mesh is not None
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(np.asarray(g), w)


@pytest.mark.parametrize("points", [0, 1, 2, 9])
@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning", "kaiser"])
def test_windows(name, points):
    shape = (5.0,) if name == "kaiser" else ()
    got = getattr(un, name)(points, *shape, mesh=mesh)
    assert got.mesh is not None
    assert np.asarray(got).tobytes() == np.asarray(getattr(un, name)(points, *shape)).tobytes()


@pytest.mark.parametrize("make", [un.logspace, un.geomspace])
def test_logarithmic_scales(make):
    got = make(1, 3, 10, mesh=mesh)
    assert got.mesh is not None
    assert np.asarray(got).tobytes() == np.asarray(make(1, 3, 10)).tobytes()


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
def test_numbers_between_distributed_limits_are_made_where_these_are(name):
    first, last = np.arange(1.0, 91).reshape(30, 3), np.arange(90.0).reshape(30, 3) / 9 + 2
    ends = un.asarray(first, mesh=mesh), un.asarray(last, mesh=mesh)
    un.synchronize()
    before = un.stats()["bytes_gathered"]
    made = getattr(un, name)(*ends, 7)
    un.synchronize()
    assert un.stats()["bytes_gathered"] == before and made.mesh is not None
    np.testing.assert_allclose(np.asarray(made), getattr(np, name)(first, last, 7), rtol=1e-13)


def test_like_an_array_of_the_mesh_or_of_the_host():
    x = un.arange(11.0, mesh=mesh)
    assert un.zeros_like(x).mesh is not None
    assert un.zeros_like(un.arange(11.0)).mesh is None
    assert un.zeros_like(un.arange(11.0), device=mesh).mesh is not None


def test_grids_of_distributed_arrays():
    x, y = un.linspace(0, 1, 5, mesh=mesh), un.linspace(0, 1, 3, mesh=mesh)
    want = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 3))
    for g, w in zip(un.meshgrid(x, y), want, strict=True):
        assert g.mesh is not None
        np.testing.assert_array_equal(np.asarray(g), w)
