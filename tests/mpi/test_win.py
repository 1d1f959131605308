"""Windows with mpi4py's names: making, moving, atomic steps, epochs, and what is refused."""

import array

import numpy as np
import pytest
import unisono as un

MPI = un.mpi
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size
MAKERS = ["array", "numpy", "allocate", "shared"]


@pytest.fixture(params=MAKERS)
def make(request):
    """Makes a window of so many elements, and gives it with an array on this rank's memory."""
    made = []

    def window(n, dtype="float64"):
        nbytes, item = n * np.dtype(dtype).itemsize, np.dtype(dtype).itemsize
        if request.param in ("array", "numpy"):
            local = (un if request.param == "array" else np).zeros(n, dtype)
            win = MPI.Win.Create(local, item, comm=comm)
        else:
            call = MPI.Win.Allocate if request.param == "allocate" else MPI.Win.Allocate_shared
            win = call(nbytes, item, comm=comm)
            local = un.frombuffer(win.tomemory(), dtype) if n else un.zeros(0, dtype)
        made.append(win)
        return win, local

    yield window
    for win in made:
        win.Free()


@pytest.mark.parametrize("xp", [un, np], ids=["ours", "numpy"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32", "float64", "complex128"])
def test_put_and_get(make, xp, dtype):
    win, local = make(12, dtype)
    values = (xp.arange(12) + 1).astype(dtype)
    win.Fence()
    win.Put(values, right)
    win.Fence()
    assert np.array_equal(np.asarray(local), np.asarray(values))
    out = xp.zeros(4, dtype)
    win.Get(out, right, 3)
    assert out.tolist() == values[3:7].tolist()
    win.Get([out, 2, MPI.BYTE if dtype == "uint8" else dtype], right, (8, 2))
    assert out.tolist()[:2] == values[8:10].tolist()
    win.Fence()


def test_what_was_recorded_before_an_epoch_keeps_the_old_elements(make):
    win, local = make(200_000)
    before = un.asarray(local, copy=False) + 1.0
    win.Fence()
    win.Put(np.full(200_000, 5.0), right)
    win.Fence()
    assert before[:2].tolist() == [1.0, 1.0] and float(local[-1]) == 5.0


def test_types_whose_elements_lie_apart(make):
    win, local = make(24)
    column = MPI.DOUBLE.Create_vector(4, 1, 6).Commit()
    win.Fence()
    win.Put(np.arange(4.0) + 1, right, (2, 1, column))
    win.Fence()
    expected = np.zeros((4, 6))
    expected[:, 2] = np.arange(4) + 1
    assert np.array_equal(np.asarray(local).reshape(4, 6), expected)
    block = MPI.DOUBLE.Create_subarray([2, 3, 4], [2, 2, 2], [0, 1, 1])
    win.Fence()
    win.Put(np.arange(8.0), right, (0, 1, block))
    win.Fence()
    expected = expected.reshape(2, 3, 4)
    expected[:, 1:, 1:3] = np.arange(8.0).reshape(2, 2, 2)
    assert np.array_equal(np.asarray(local).reshape(2, 3, 4), expected)
    got = un.zeros(8)
    win.Get(got, right, (0, 1, block))
    assert got.tolist() == list(range(8))
    win.Fence()
    win.Accumulate(np.ones(4), right, (2, 1, column))
    win.Fence()
    expected = expected.reshape(4, 6)
    expected[:, 2] += 1
    assert np.array_equal(np.asarray(local).reshape(4, 6), expected)


def test_atomic_steps(make):
    win, local = make(3, "int32")
    for target in range(size):
        for _ in range(20):
            win.Accumulate(np.array([1, 2, 3], "i"), target)
    win.Fence()
    assert local.tolist() == [20 * size, 40 * size, 60 * size]
    win.Fence()
    before = un.zeros(3, "int32")
    win.Get_accumulate(un.asarray([5, 5, 5], dtype="int32"), before, rank, op=MPI.REPLACE)
    assert before.tolist() == [20 * size, 40 * size, 60 * size]
    win.Get_accumulate(None, before, rank, op=MPI.NO_OP)
    assert before.tolist() == [5, 5, 5]
    win.Fence()
    one, got = np.ones(1, "i"), np.zeros(1, "i")
    mine = []
    for _ in range(10):
        win.Fetch_and_op(one, got, 0, 1)
        mine.append(int(got[0]))
    assert sorted(sum(comm.allgather(mine), [])) == list(range(5, 5 + 10 * size))
    win.Compare_and_swap(np.array([rank + 100], "i"), np.array([5], "i"), got, 0, 2)
    assert sum(comm.allgather(int(got[0]) == 5)) == 1
    win.Fence()


def test_requests(make):
    win, local = make(10)
    values, out = np.arange(10.0), un.zeros(10)
    win.Rput(values, right).Wait()
    win.Fence()
    win.Rget(out, right).Wait()
    assert out.tolist() == values.tolist()
    win.Fence()
    win.Raccumulate(values, right).Wait()
    win.Fence()
    MPI.Request.Waitall([win.Rget_accumulate(values, out, right, op=MPI.SUM)])
    assert out.tolist() == (2 * values).tolist()
    win.Fence()
    assert local.tolist() == (3 * values).tolist()
    win.Fence()


def test_locks_exclude_others_and_are_shared(make):
    win, local = make(1, "int64")
    got = np.zeros(1, "int64")
    for _ in range(20):
        win.Lock(0)
        win.Get(got, 0)
        win.Put(got + 1, 0)
        win.Unlock(0)
    comm.Barrier()
    win.Lock(0, MPI.LOCK_SHARED)
    win.Get(got, 0)
    comm.Barrier()  # all ranks hold it at once
    win.Unlock(0)
    assert got.tolist() == [20 * size]
    win.Lock_all()
    win.Flush(0)
    win.Flush_local_all()
    win.Unlock_all()
    with pytest.raises(un.CommError, match="does not hold the lock of rank 0"):
        win.Unlock(0)
    comm.Barrier()


def test_post_start_complete_wait(make):
    win, local = make(size)
    others = win.Get_group().Excl([rank])
    for turn in range(3):
        win.Post(others)
        win.Start(others)
        for target in range(size):
            if target != rank:
                win.Put(np.array([rank + turn + 1.0]), target, rank)
        win.Complete()
        win.Wait()
        expected = [0.0 if r == rank else r + turn + 1.0 for r in range(size)]
        assert local.tolist() == expected
    win.Post(others)
    win.Start(others)
    win.Complete()
    while not win.Test():
        pass


def test_shared_memory_is_one_run_of_bytes():
    nbytes = 80 * size if rank == 0 else 0
    win = MPI.Win.Allocate_shared(nbytes, 8, comm=comm.Split_type(MPI.COMM_TYPE_SHARED))
    memory, unit = win.Shared_query(0)
    x = np.ndarray(buffer=memory, dtype="d", shape=(size, 10))
    assert unit == 8
    x[rank] = rank
    win.Fence()
    assert x.sum(1).tolist() == [10.0 * r for r in range(size)]
    win.Fence()
    win.Free()
    win = MPI.Win.Allocate_shared(16, 8, comm=comm)
    own = un.frombuffer(win.tomemory(), "f8")
    own[...] = rank
    win.Fence()
    first = MPI.Get_address(win.Shared_query(0)[0])
    assert MPI.Get_address(win.tomemory()) == first + 16 * rank
    win.Fence()
    win.Free()


def test_what_is_known_of_a_window(make):
    win, local = make(4 + rank, "int32")
    assert win.attrs == (MPI.Get_address(win.tomemory()), 16 + 4 * rank, 4)
    assert len(win.tomemory()) == 16 + 4 * rank
    assert win.tomemory() and not MPI.Alloc_mem(0)
    assert MPI.Group.Compare(win.group, comm.group) == MPI.IDENT
    assert (win.group_rank, win.group_size) == (rank, size)
    assert win.Get_attr(MPI.WIN_MODEL) == MPI.WIN_UNIFIED
    win.name = "counts"
    assert win.Get_name() == "counts" and win and win != MPI.WIN_NULL
    win.Fence()
    win.Put(np.zeros(1, "i"), MPI.PROC_NULL)
    comm.Barrier()


def test_wrong_calls_say_what_is_wrong(make):
    win, _ = make(4)
    with pytest.raises(ValueError, match=rf"Win.Put: no such rank; got {size}; expected 0 to"):
        win.Put(np.zeros(1), size)
    with pytest.raises(
        IndexError, match=r"outside of the window of rank 0.*got bytes 24 to 40; expected 0 to 32"
    ):
        win.Get(np.zeros(2), 0, 3)
    with pytest.raises(IndexError, match="outside of the window of rank 0"):
        win.Accumulate(np.zeros(2), 0, -1)
    with pytest.raises(TypeError, match=r"Win.Put: a place in a window; got '3'"):
        win.Put(np.zeros(1), 0, "3")
    with pytest.raises(ValueError, match=r"got a buffer of 16 bytes; expected 24"):
        win.Put(np.zeros(2), 0, (0, 3))
    with pytest.raises(TypeError, match="no memory to send"):
        win.Put(3.0, 0)
    comm.Barrier()


def test_freed_windows_and_memory_that_cannot_be_opened():
    win = MPI.Win.Allocate(8, comm=comm)
    win.Free()
    assert not win and win == MPI.WIN_NULL
    with pytest.raises(
        ValueError, match=r"Win.Put: the window was freed, or never made; got WIN_NULL"
    ):
        win.Put(np.zeros(1), 0)
    with pytest.raises(ValueError, match=r"Win.Fence: the window was freed"):
        win.Fence()
    with pytest.raises(ValueError, match="not packed memory of the host"):
        MPI.Win.Create(un.zeros((4, 4))[:, 1], comm=MPI.COMM_SELF)
    with pytest.raises(ValueError, match=r"got -8 bytes and disp_unit=1"):
        MPI.Win.Allocate(-8, comm=MPI.COMM_SELF)
    win = MPI.Win.Allocate(8, comm=MPI.COMM_SELF)
    with pytest.raises(ValueError, match="make one by Win.Create_dynamic"):
        win.Attach(np.zeros(1))
    win.Free()
    comm.Barrier()


def test_own_memory_is_made_with_the_window():
    """Not at the first look at it, during which other ranks would write there before what is stored at once."""
    win = MPI.Win.Allocate(8, comm=comm)
    memory = win.tomemory()
    assert win.tomemory() is memory
    memory[:4] = b"word"
    memory[4:] = array.array("i", [7])
    assert memory.tobytes() == b"word" + array.array("i", [7]).tobytes()
    with pytest.raises(ValueError):
        memory[:4] = b"words"
    win.Free()


@pytest.mark.parametrize("xp", [un, np], ids=["ours", "numpy"])
def test_memory_is_attached_later(xp):
    win = MPI.Win.Create_dynamic(comm=comm)
    assert win.flavor == MPI.WIN_FLAVOR_DYNAMIC and win.attrs == (0, 0, 1)
    one, other = xp.zeros(5), xp.zeros(3 + rank, "int32")
    for memory in (one, other):
        win.Attach(memory)
    ours = [MPI.Get_address(one), MPI.Get_address(other)]
    there, counted = comm.sendrecv(ours, left, source=right)
    win.Fence()
    win.Put(np.arange(3.0) + 10 * rank, right, there + 8)
    win.Accumulate(np.full(2, 7, "i"), right, counted)
    win.Fence()
    assert one.tolist() == [0.0, *(10.0 * left + k for k in range(3)), 0.0]
    assert other.tolist()[:3] == [7, 7, 0]
    got, before = un.zeros(2), np.zeros(1, "i")
    win.Get(got, right, (there + 16, 2))
    assert got.tolist() == [10.0 * rank + 1, 10.0 * rank + 2]
    win.Fence()
    win.Lock(right)
    win.Fetch_and_op(np.ones(1, "i"), before, right, counted + 4)
    win.Unlock(right)
    win.Fence()
    assert before.tolist() == [7] and other.tolist()[1] == 8
    win.Detach(one)
    with pytest.raises(IndexError, match="not attached"):
        win.Get(got, rank, ours[0])
    with pytest.raises(ValueError, match="attached already"):
        win.Attach(other)
    with pytest.raises(ValueError, match="not attached"):
        win.Detach(one)
    with pytest.raises(ValueError, match="not packed memory of the host"):
        win.Attach(un.zeros((4, 4))[:, 1])
    comm.Barrier()
    win.Free()


def test_memory_stays_as_long_as_it_is_attached():
    win = MPI.Win.Create_dynamic(comm=comm)
    memory = un.arange(4.0) + rank  # computed when its address is wanted
    win.Attach(memory)
    addresses = comm.allgather(MPI.Get_address(memory))
    del memory
    others = [un.full(4, -1.0) for _ in range(8)]
    un.eval(*others)
    win.Fence()
    got = np.zeros(4)
    win.Get(got, right, addresses[right])
    assert got.tolist() == [right + k for k in range(4)]
    win.Fence()
    win.Free()


def test_who_waits_for_a_lock_answers_for_memory_that_was_given():
    """Combining elements there may need the rank whose memory it is, which is not in any call of MPI."""
    memory = np.zeros(size if comm.rank == 0 else 0, "int32")
    win = MPI.Win.Create(memory, 4, comm=comm)
    for _ in range(50):
        win.Lock(0)
        win.Accumulate([np.ones(1, "int32"), MPI.INT], 0, comm.rank)
        win.Unlock(0)
    comm.Barrier()
    if comm.rank == 0:
        assert memory.tolist() == [50] * size
    win.Free()
