"""Files that all ranks read and write, with mpi4py's names."""

import numpy as np
import pytest
import unisono as un

MPI = un.mpi
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
NEW = MPI.MODE_CREATE | MPI.MODE_RDWR


@pytest.fixture
def path(tmp_path):
    return comm.bcast(str(tmp_path / "shared"))


@pytest.mark.parametrize("xp", [un, np], ids=["ours", "numpy"])
def test_parts_at_positions(path, xp):
    f = MPI.File.Open(comm, path, NEW)
    values = xp.arange(5.0) + 10 * rank
    f.Write_at_all(rank * 40, values)
    f.Sync()
    got, other = xp.zeros(5), (rank + 1) % size
    status = MPI.Status()
    f.Read_at(other * 40, got, status)
    assert (
        got.tolist() == (np.arange(5.0) + 10 * other).tolist() and status.Get_count(MPI.DOUBLE) == 5
    )
    f.Read_at((size - 1) * 40 + 24, got, status)  # beyond the end
    assert status.count == 16
    assert f.Get_size() == 40 * size
    f.Close()
    assert not f
    with pytest.raises(
        ValueError, match=r"File.Write: the file is closed, or was never opened; got FILE_NULL"
    ):
        f.Write(values)


def test_views(path):
    f = MPI.File.Open(comm, path, NEW)
    kind = MPI.INT.Create_vector(4, 1, size).Create_resized(0, 16 * size).Commit()
    f.Set_view(4 * rank, MPI.INT, kind)
    mine = np.arange(4, dtype="i") * 10 + rank
    f.Write_all(mine)
    f.Write_all(mine + 100)
    assert f.Get_position() == 8 and f.Get_byte_offset(1) == 4 * rank + 4 * size
    f.Sync()
    f.Seek(0)
    got = un.zeros(8, "int32")
    f.Read_all(got)
    assert got.tolist() == [*mine.tolist(), *(mine + 100).tolist()]
    f.Seek(5)
    f.Read([got, 2, MPI.INT])
    assert got[:2].tolist() == (mine[1:3] + 100).tolist()
    f.Close()
    if rank == 0:
        whole = np.fromfile(path, "i")[: 4 * size].reshape(4, size)
        assert whole.tolist() == [[10 * k + r for r in range(size)] for k in range(4)]
    comm.Barrier()


def test_the_position_that_all_ranks_share(path):
    f = MPI.File.Open(comm, path, NEW)
    f.Set_view(0, MPI.INT)
    f.Write_ordered(np.full(rank + 1, rank, "i"))
    total = size * (size + 1) // 2
    assert f.Get_position_shared() == total
    f.Sync()
    got = np.zeros(total, "i")
    f.Read_at(0, got)
    assert got.tolist() == [r for r in range(size) for _ in range(r + 1)]
    f.Write_shared(np.full(2, 50 + rank, "i"))
    f.Sync()
    got = np.zeros(2 * size, "i")
    f.Read_at(total, got)
    assert sorted(got.tolist()) == sorted(2 * [50 + r for r in range(size)])
    f.Seek_shared(0)
    one = np.zeros(1, "i")
    f.Read_ordered(one)
    assert one[0] == [r for r in range(size) for _ in range(r + 1)][rank]
    f.Sync()  # all have read what is overwritten
    f.Write_at_all_begin(0, one)
    f.Write_at_all_end(one)
    f.Iwrite_at(0, one).Wait()
    f.Close()


def test_modes_and_what_is_refused(path):
    with pytest.raises(FileNotFoundError):
        MPI.File.Open(comm, path)
    with pytest.raises(ValueError, match="File.Open: the mode; got 1; expected one of MODE_RDONLY"):
        MPI.File.Open(comm, path, MPI.MODE_CREATE)
    f = MPI.File.Open(comm, path, NEW | MPI.MODE_DELETE_ON_CLOSE)
    f.Set_size(16)
    f.Preallocate(8)
    assert f.size == 16 and f.group.size == size
    with pytest.raises(ValueError, match="the form of the data; got 'external32'"):
        f.Set_view(0, MPI.INT, MPI.INT, "external32")
    with pytest.raises(ValueError, match="got position -3"):
        f.Seek(-3)
    comm.Barrier()
    f.Close()
    with pytest.raises(FileNotFoundError):
        MPI.File.Open(comm, path, MPI.MODE_RDONLY)
