"""Windows: memory of every rank that the others read and write."""

import numpy as np
import pytest
import unisono as un

comm = un.mpi.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size


@pytest.fixture(params=[True, False], ids=["shared", "apart"])
def make(request):
    """Makes windows whose memory all ranks see, or that are reached through MPI alone."""
    made = []

    def window(*arguments):
        made.append(un.mpi.window(*arguments, share=request.param))
        return made[-1]

    yield window
    for w in made:
        w.free()


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int32", "int64", "float16", "float32", "float64", "complex128"]
)
def test_put_and_get(make, dtype):
    w = make((4, 5), dtype)
    assert w.local.shape == (4, 5) and not w.local.any().item()
    w.fence()
    values = un.arange(20).astype(dtype)
    w.put(values, right)
    w.fence()
    assert np.array_equal(np.asarray(w.local), np.arange(20).astype(dtype).reshape(4, 5))
    out = un.empty(3, dtype)
    w.get(out, right, 7)
    assert np.array_equal(np.asarray(out), np.arange(7, 10).astype(dtype))
    w.fence()


@pytest.mark.parametrize(
    "key",
    [
        (slice(1, 3), slice(None)), (slice(None), 2), (1, 3), slice(3, 0, -2), (Ellipsis, slice(1, 5, 2)), (slice(2, 2),),
        (slice(None, None, 2), slice(None, None, -1)),
    ],
)  # fmt: skip
def test_sections(make, key):
    w = make((4, 6))
    reference = np.arange(24.0).reshape(4, 6)
    w.local[...] = reference + rank
    w.fence()
    got = w[right][key]
    assert np.array_equal(np.asarray(got), (reference + right)[key])
    w.fence()
    w[right][key] = np.asarray(got) * 0 - rank
    w.fence()
    expected = reference + rank
    expected[key] = -left
    assert np.array_equal(np.asarray(w.local), expected)
    w.fence()
    w[left].accumulate(key, 2.0)
    w.fence()
    expected[key] += 2
    assert np.array_equal(np.asarray(w.local), expected)


def test_accumulate_is_atomic(make):
    w = make(3)
    for _ in range(50):
        for r in range(size):
            w.accumulate(un.asarray([1.0, 2.0, 3.0]), r)
    w.fence()
    assert w.local.tolist() == [50.0 * size, 100.0 * size, 150.0 * size]
    w.fence()
    w.accumulate(un.full(3, float(rank)), 0, 0, 2)  # the larger one
    w.fence()
    w[0].accumulate(1, -1.0 - rank, un.mpi.MIN)
    w.fence()
    if rank == 0:
        assert w.local.tolist()[1] == -size


def test_read_inc_gives_each_number_once(make):
    w = make(2, "int64")
    mine = [w.read_inc(0, 1) for _ in range(40)]
    everyones = sorted(sum(comm.allgather(mine), []))
    assert everyones == list(range(40 * size))
    w.fence()
    if rank == 0:
        assert w.local.tolist() == [0, 40 * size]
        assert w.fetch(5, 0) == 0 and w.local[0].item() == 5
    w.fence()


def test_compare_and_swap(make):
    w = make(1, "int32")
    won = w.compare_and_swap(0, rank + 1, 0) == 0
    winners = comm.allgather(won)
    w.fence()
    assert sum(winners) == 1
    assert w[0][0].item() == winners.index(True) + 1
    assert w.compare_and_swap(99, 5, 0) == w[0][0].item()
    w.fence()


def test_non_blocking_forms(make):
    w = make(100)
    values, out = un.arange(100.0) + rank, un.empty(50)
    w.iput(values, right).Wait()
    w.fence()
    request = w.iget(out, rank, 50)
    request.Wait()
    assert out.tolist() == (np.arange(50.0, 100.0) + left).tolist()
    w.fence()
    w.iaccumulate(values, right).Wait()
    w.fence()
    assert w.local.tolist() == ((np.arange(100.0) + left) * 2).tolist()


def test_locks_exclude(make):
    w = make(1, "int64")
    for _ in range(25):
        with w.locked(0) as part:
            part[0] = part[0] + 1  # read and written apart
    w.fence()
    if rank == 0:
        assert w.local.tolist() == [25 * size]
    w.fence()


def test_parts_of_other_sizes_and_empty_ones(make):
    w = make((rank, 3))
    assert w[size - 1].shape == (size - 1, 3)
    if size > 1:
        w[size - 1][size - 2, rank % 3] = rank + 1.0
    w.fence()
    assert w[0][...].shape == (0, 3)
    if size > 1 and rank == size - 1:
        assert w.local[-1].max().item() > 0
    w.fence()


def test_memory_of_others_is_seen_where_it_is_shared(make):
    w = make(3)
    w.local[...] = rank
    w.fence()
    if w.is_shared:
        assert w.view(right).tolist() == [right] * 3
    elif size > 1:
        with pytest.raises(ValueError, match="on another node, or not shared; use get"):
            w.view(right)
    w.fence()


def test_a_view_keeps_the_window(make):
    x = make(5).local
    x[...] = 3
    assert (x + 1).tolist() == [4] * 5


def test_errors_say_what_to_do(make):
    w = make(4)
    with pytest.raises(
        IndexError,
        match=r"outside of the window of rank 0 at test_one_sided.py:\d+; got bytes 16 to 40",
    ):
        w.put(un.ones(3), 0, 2)
    with pytest.raises(TypeError, match="the window has elements of float64; got int64"):
        w.put(un.ones(3, "int64"), 0)
    with pytest.raises(ValueError, match="no such rank; got 99"):
        w.put(un.ones(1), 99)
    with pytest.raises(IndexError, match="too many indices"):
        w[0][0, 0]
    with pytest.raises(IndexError, match="index 4 is outside of an axis of 4"):
        w[0][4]
    with pytest.raises(un.CommError, match="does not hold the lock"):
        w.unlock(0)
    if rank == 0:
        w.lock(0)
        with pytest.raises(un.CommError, match="holds the lock of rank 0 already"):
            w.lock(0)
        w.unlock(0)
    w.fence()
