"""Distributed arrays in files: written by parts, read by parts, on any number of ranks."""

import os
import tempfile

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
p = mesh.size


@pytest.fixture
def folder():
    """One folder for all ranks."""
    name = tempfile.mkdtemp() if mesh.rank == 0 else ""
    letters = un.zeros((p, 200), dtype="uint8", mesh=mesh)
    row = np.zeros((letters.local.shape[0], 200), "uint8")
    if mesh.rank == 0:
        row[0, : len(name)] = list(name.encode())
    letters.local = row
    yield bytes(v for v in np.asarray(letters[0]).tolist() if v).decode()
    mesh.barrier()


@pytest.mark.parametrize("shape", [(), (1,), (p + 1, 3), (4, 2 * p, 2), (0, 3)])
@pytest.mark.parametrize("dtype", ["float32", "complex128", "bool"])
def test_written_and_read(folder, shape, dtype):
    x = np.random.default_rng(1).integers(0, 2, shape).astype(dtype)
    a = un.asarray(x, mesh=mesh)
    path = os.path.join(folder, "a.npy")
    un.save(path, a)
    read = np.load(path)
    assert read.dtype == x.dtype and read.shape == x.shape and read.tobytes() == x.tobytes()
    b = un.load(path, mesh=mesh)
    assert b.mesh == mesh and np.array_equal(np.asarray(b), x)
    if x.ndim > 1:
        un.save(path, a.T * 1)
        assert np.array_equal(np.load(path), x.T)
        c = un.load(path, mesh=mesh, layout=(None,) * (x.ndim - 1) + ("block",))
        assert np.array_equal(np.asarray(c), x.T)
    un.save(path, a.to_layout("replicated"))
    assert np.array_equal(un.load(path).tolist(), x.tolist())


def test_errors_reach_all_ranks(folder):
    with pytest.raises(OSError):
        un.save(os.path.join(folder, "absent", "a.npy"), un.ones(4, mesh=mesh))
    with pytest.raises(OSError):
        un.load(os.path.join(folder, "absent.npy"), mesh=mesh)
    assert float(un.ones(4, mesh=mesh).sum()) == 4


@pytest.mark.parametrize(
    "layout",
    [("cyclic", "cyclic", None), (("cyclic", 2), None, "cyclic"), (None, "cyclic", ("cyclic", 2))],
)
def test_parts_dealt_out_along_two_axes(folder, layout):
    x = np.arange(5.0 * 6 * 7).reshape(5, 6, 7)
    path = os.path.join(folder, "a.npy")
    un.save(path, un.asarray(x, mesh=mesh, layout=layout))
    assert np.array_equal(np.load(path), x)
    read = un.load(path, mesh=mesh, layout=layout)
    assert read.layout == un.asarray(x, mesh=mesh, layout=layout).layout
    assert np.array_equal(np.asarray(read), x)
