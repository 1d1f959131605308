"""What buffers, counts, places and types mean to calls that move memory, and what communicators keep."""

import array
import ctypes
import json
import pickle
import weakref

import numpy as np
import pytest
import unisono as un
from mpi_jobs import job

MPI = un.mpi
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size
alone = pytest.mark.skipif(size > 1, reason="starts MPI jobs of its own: from one rank only")


def test_one_count_is_that_of_each_rank():
    own, all_ = bytearray([rank] * 3), bytearray(3 * size)
    comm.Allgather([own, 2, MPI.BYTE], [all_, 2, MPI.BYTE])
    assert all_[: 2 * size] == bytes(k for k in range(size) for _ in range(2))
    assert all_[2 * size :] == bytes(size)
    sent, got = bytearray(range(size)), bytearray(size)
    comm.Alltoall([sent, 1, MPI.BYTE], [got, 1, MPI.BYTE])
    assert got == bytes([rank]) * size
    whole = bytearray(range(2 * size)) if rank == 0 else None
    part = bytearray(2)
    comm.Scatter([whole, 2, MPI.BYTE] if rank == 0 else None, [part, 2, MPI.BYTE])
    assert part == bytes([2 * rank, 2 * rank + 1])
    back = bytearray(2 * size) if rank == 0 else None
    comm.Gather([part, 2, MPI.BYTE], [back, 2, MPI.BYTE] if rank == 0 else None)
    assert back == whole


def test_one_count_and_one_distance_for_all_ranks():
    rows = np.full((size, 3), -1.0)
    comm.Allgatherv(np.full(2, float(rank)), [rows, (2, 3), MPI.DOUBLE])
    assert rows[:, :2].tolist() == [[k, k] for k in range(size)] and (rows[:, 2] == -1).all()
    packed = np.zeros(2 * size)
    comm.Allgatherv([np.full(3, float(rank)), 2], [packed, (None, None), MPI.DOUBLE])
    assert packed.tolist() == [k for k in range(size) for _ in range(2)]
    got = np.zeros(2)
    comm.Scatterv([rows, (2, 3), MPI.DOUBLE] if rank == 0 else None, got)
    assert got.tolist() == [rank, rank]


def test_columns_are_shared_out():
    x = np.arange(12.0 * size).reshape(4, 3 * size)
    column = MPI.DOUBLE.Create_vector(4, 1, 3 * size).Create_resized(0, 8).Commit()
    got = np.zeros((3, 4))
    counts, starts = [3] * size, [3 * k for k in range(size)]
    comm.Scatterv([x, (counts, starts), column] if rank == 0 else None, got)
    assert np.array_equal(got, x.T[3 * rank : 3 * rank + 3])
    back = np.zeros_like(x) if rank == 0 else None
    comm.Gatherv(got, [back, (counts, starts), column] if rank == 0 else None)
    if rank == 0:
        assert np.array_equal(back, x)


def test_memory_in_the_order_of_fortran():
    x, got = np.asfortranarray(np.arange(6.0).reshape(2, 3) + rank), np.zeros((2, 3), order="F")
    comm.Sendrecv(x, right, 0, got, left, 0)
    assert np.array_equal(got, np.arange(6.0).reshape(2, 3) + left)
    comm.Sendrecv([x, (2, 2), MPI.DOUBLE], right, 0, got[:, :1], left, 0)
    assert got[:, 0].tolist() == [left + 1, left + 4]
    every_other = MPI.DOUBLE.Create_vector(3, 1, 2)
    row = np.zeros(3)
    comm.Sendrecv([x, 1, every_other], right, 0, row, left, 0)
    assert row.tolist() == [left, left + 1, left + 2]


@pytest.mark.parametrize("make", [np.array, lambda x: array.array("d", x)])
def test_reductions_that_are_shared_out_in_place(make):
    x = make([1.0 * k for k in range(2 * size)])
    comm.Reduce_scatter(MPI.IN_PLACE, x, [2] * size)
    assert list(x[:2]) == [size * 2 * rank, size * (2 * rank + 1)]
    x, got = make([1.0 * k for k in range(2 * size)]), make([0.0] * 2)
    comm.Reduce_scatter_block(x, got)
    assert list(got) == [size * 2 * rank, size * (2 * rank + 1)]
    comm.Reduce_scatter_block(MPI.IN_PLACE, x)
    assert list(x[:2]) == list(got)


def test_records_of_several_numbers_for_each_rank():
    kind = np.dtype([("name", "S3"), ("value", "f8")])
    own = np.array([(b"r%d" % rank, k) for k in range(rank + 1)], kind)
    counts = [k + 1 for k in range(size)]
    all_ = np.zeros(sum(counts), kind)
    comm.Allgatherv(own, [all_, counts])
    assert all_["name"].tolist() == [b"r%d" % k for k in range(size) for _ in range(k + 1)]
    assert all_["value"].tolist() == [j for k in range(size) for j in range(k + 1)]


def test_one_memory_to_send_and_to_receive_is_in_place():
    x = np.array([rank, 1.0])
    comm.Allreduce(x, x)
    assert x.tolist() == [sum(range(size)), size]


def test_operations_of_users_on_two_buffers():
    op = MPI.Op.Create(lambda a, b, kind: np.asarray(b).__iadd__(np.asarray(a)))
    x, y = np.array([1, 2]), np.array([10, 20])
    assert op(x, y) is y and y.tolist() == [11, 22]
    z = array.array("d", [1.0])
    MPI.SUM.Reduce_local([array.array("d", [2.0]), MPI.DOUBLE], z)
    assert z[0] == 3.0
    op.Free()


def test_operations_of_users_on_objects_return_the_result():
    def add(a, b, kind):
        assert kind is None
        return a + b

    op = MPI.Op.Create(add, commute=True)
    assert op(2, 3) == 5 and op(b"a", b"b") == b"ab"
    assert comm.allreduce(2, op) == 2 * size
    assert comm.allreduce((rank,), op) == tuple(range(size))
    assert comm.scan([rank], op) == list(range(rank + 1))


def test_pairs_of_a_value_and_its_place():
    pair = np.dtype([("value", "f8"), ("place", "i4")], align=True)
    own, best = np.array([(float(rank % 2), rank)], pair), np.zeros(1, pair)
    comm.Allreduce([own, 1, MPI.DOUBLE_INT], [best, 1, MPI.DOUBLE_INT], op=MPI.MAXLOC)
    assert best[0].tolist() == (min(size - 1, 1), min(size - 1, 1))
    assert (MPI.DOUBLE_INT.size, MPI.DOUBLE_INT.extent) == (12, 16)


class InWordsOfCuda:
    """Memory that only CUDA's interface of arrays tells of."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        told = self.array.__array_interface__
        return {k: told[k] for k in ("shape", "typestr", "data", "strides")} | {"version": 3}


@pytest.mark.skipif(
    any(str(d).startswith("cuda") for d in un.devices()), reason="memory of the host here"
)
def test_memory_in_words_of_cuda():
    got = np.zeros(3)
    comm.Sendrecv(InWordsOfCuda(np.arange(3.0) + rank), right, 0, InWordsOfCuda(got), left, 0)
    assert got.tolist() == [left, left + 1, left + 2]
    comm.Sendrecv(
        [InWordsOfCuda(np.arange(3.0)), 1, MPI.DOUBLE], right, 0, [InWordsOfCuda(got), 1], left, 0
    )
    assert got.tolist() == [0, left + 1, left + 2]


def test_each_rank_has_a_type_of_its_own():
    sent = np.arange(2.0 * size) + 100 * rank
    counts, kinds = [1] * size, [MPI.DOUBLE.Create_contiguous(2)] * size
    got, places = np.zeros(2 * size), [16 * k for k in range(size)]
    comm.Alltoallw([sent, (counts, places), kinds], [got, (counts, places), kinds])
    assert got.tolist() == [100 * k + 2 * rank + j for k in range(size) for j in range(2)]
    cart = comm.Create_cart([size], [True])
    halo, edges = np.zeros(2), np.array([10.0 * rank, 10.0 * rank + 1])
    kinds = [MPI.DOUBLE] * 2
    request = cart.Neighbor_alltoallw_init(
        [edges, [1, 1], [0, 8], kinds], [halo, [1, 1], [0, 8], kinds]
    )
    request.Start()
    request.Wait()
    assert halo.tolist() == [10.0 * left + 1, 10.0 * right]
    with pytest.raises(ValueError, match="Alltoallw: a count, a place and a type for each of"):
        comm.Alltoallw([sent, [1], [0], kinds * size], [got, [1], [0], kinds * size])
    cart.Free()


def test_graphs_that_all_ranks_know():
    ring = [(k + d) % size for k in range(size) for d in (-1, 1)]
    graph = comm.Create_graph([2 * k + 2 for k in range(size)], ring)
    assert graph.Get_topology() == MPI.GRAPH and graph.Get_dims() == (size, 2 * size)
    assert graph.neighbors == [left, right] and graph.Get_neighbors_count(0) == 2
    assert graph.neighbor_allgather(rank) == [left, right]
    copy = graph.Dup()
    assert copy.topo == graph.topo
    copy.Free()
    graph.Free()
    none = comm.Create_graph([0], [])
    assert (rank == 0) == bool(none)
    assert comm.Cart_map([1]) == (0 if rank == 0 else MPI.UNDEFINED)
    with pytest.raises(TypeError, match="in no graph that all know; make one by Create_graph"):
        comm.Get_neighbors(0)


def test_values_that_communicators_keep():
    gone = []
    copied = MPI.Comm.Create_keyval(
        lambda comm, key, value: value + 1, lambda *a: gone.append(a[2])
    )
    alone_ = MPI.Comm.Create_keyval()
    made = comm.Dup()
    made.Set_attr(copied, 7)
    made.Set_attr(alone_, "here")
    again = made.Dup()
    assert (again.Get_attr(copied), again.Get_attr(alone_)) == (8, None)
    again.Free()
    assert gone == [8] and made.Get_attr(alone_) == "here"
    made.Delete_attr(copied)
    assert gone == [8, 7] and made.Get_attr(copied) is None
    made.Free()
    with pytest.raises(ValueError, match="Set_attr: no such key; got 5"):
        comm.Set_attr(5, 1)


def test_copies_of_grids_are_grids():
    cart = comm.Create_cart([size], [True])
    copy = cart.Dup()
    assert copy.coords == [rank] and copy.Shift(0, 1) == (left, right)
    copy.Free()
    cart.Free()


def test_objects_travel_as_the_program_says():
    MPI.pickle.__init__(lambda obj: json.dumps(obj).encode(), json.loads)
    try:
        assert comm.sendrecv((rank, "x"), right, source=left) == [left, "x"]
        request = comm.isend((1, 2), right)
        assert comm.recv(source=left) == [1, 2]
        request.wait()
        comm.send({"a": rank}, rank) if size == 1 else None
        assert size > 1 or comm.recv() == {"a": rank}
    finally:
        MPI.pickle.__init__()
    data, buffers = MPI.pickle.dumps_oob(np.arange(4.0))
    assert len(buffers) == 1 and MPI.pickle.loads_oob(data, buffers).tolist() == [0, 1, 2, 3]
    MPI.pickle.__init__(lambda obj: 3)
    try:
        with pytest.raises(TypeError, match=r"send: pickle.dumps must give bytes; got int"):
            comm.send(1, rank)
    finally:
        MPI.pickle.__init__()


def test_memory_as_bytes_takes_bytes():
    memory = MPI.buffer.allocate(8)
    memory[:] = b"\x01\x02\x03\x04\x05\x06\x07\x08"
    memory[2:4] = array.array("B", [0, 9])
    assert bytes(memory) == b"\x01\x02\x00\x09\x05\x06\x07\x08"
    memory[:] = 0
    memory.cast("i")[1] = 5
    assert memory.view("int32").tolist() == [0, 5]
    MPI.Attach_buffer(memory)
    assert MPI.Detach_buffer() is memory and MPI.Detach_buffer() is None


def test_numbers_of_errors_have_names():
    assert MPI.Get_error_string(MPI.ERR_RANK) == "MPI_ERR_RANK"
    assert MPI.Get_error_string(MPI.SUCCESS) == "MPI_SUCCESS"
    with pytest.raises(ValueError, match="Get_error_string: no number of an error; got -5"):
        MPI.Get_error_string(-5)


@alone
def test_the_first_use_may_be_in_several_threads(tmp_path):
    program = """
        import threading
        ready, ranks = threading.Barrier(4), []
        def run():
            ready.wait()
            ranks.append(un.mpi.COMM_WORLD.rank)
        threads = [threading.Thread(target=run) for _ in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        print("ranks", len(ranks), len(set(ranks)))
    """
    status, output = job(tmp_path, 2, program, UNISONO_COMM_TIMEOUT="8")
    assert status == 0 and output.count("ranks 4 1") == 2, output


def test_memory_of_long_double_by_dlpack():
    """NumPy gives no capsule of long double: other libraries do."""
    from unisono.mpi._buffers.dlpack import _Tensor

    class Managed(ctypes.Structure):
        _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))

    class Other:
        def __init__(self, array):
            lanes = 2 if array.dtype.kind == "c" else 1
            extents = (ctypes.c_int64 * array.ndim)(*array.shape)
            tensor = _Tensor(
                array.ctypes.data, 1, 0, array.ndim, 2, 128, lanes,
                ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64)),
            )  # fmt: skip
            self.array, self.extents, self.managed = array, extents, Managed(tensor)

        def __dlpack__(self, **given):
            make = ctypes.pythonapi.PyCapsule_New
            make.restype, make.argtypes = (
                ctypes.py_object,
                (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
            )
            return make(ctypes.addressof(self.managed), b"dltensor", None)

        def __dlpack_device__(self):
            return 1, 0

    for dtype in (np.longdouble, np.clongdouble):
        mine, all_of_them = np.full((2, 3), rank + 0.5, dtype), np.zeros((size, 2, 3), dtype)
        comm.Allgather(Other(mine), Other(all_of_them))
        assert all_of_them[:, 1, 2].tolist() == [k + 0.5 for k in range(size)]
        total = np.zeros((2, 3), dtype)
        comm.Allreduce([Other(mine), un.mpi.Datatype.fromcode(mine.dtype)], Other(total))
        given = Other(mine)
        gone = weakref.ref(given)
        comm.Allgather(given, all_of_them)
        del given
        assert gone() is None  # at once, not when cycles are collected
        assert total[0, 0] == sum(k + 0.5 for k in range(size))


def test_types_tell_how_they_were_made():
    """As mpi4py does: the envelope, the contents, and a call that makes the type again."""
    column = MPI.DOUBLE.Create_vector(4, 2, 5)
    assert column.Get_envelope() == (3, 0, 0, 1, MPI.COMBINER_VECTOR) == column.envelope
    assert column.Get_contents() == ([4, 2, 5], [], [], [MPI.DOUBLE])
    pair = MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.DOUBLE, column])
    assert pair.contents == ([2, 1, 2], [0, 8], [], [MPI.DOUBLE, column])
    block = MPI.INT.Create_subarray((4, 6), (2, 3), (1, 2), MPI.ORDER_F)
    assert block.Get_contents()[0] == [2, 4, 6, 2, 3, 1, 2, MPI.ORDER_F]
    made = [
        column,
        pair,
        block,
        column.Create_resized(0, 8),
        MPI.INT.Dup(),
        column.Create_hindexed_block(2, (0, 400)),
    ]
    made += [
        MPI.INT.Create_indexed((1, 2), (4, 0)),
        block.Create_contiguous(3),
        MPI.INT.Create_hvector(2, 1, 12),
    ]
    for kind in (*made, *pickle.loads(pickle.dumps(made))):
        of, how, arguments = kind.decode()
        again = getattr(of, f"Create_{how.lower()}")(**arguments)
        assert again == kind and again.decode() == kind.decode()
        assert not kind.is_named and kind.combiner == getattr(MPI, f"COMBINER_{how}")
    assert MPI.INT.decode() == (MPI.INT, "NAMED", {}) and MPI.INT.is_predefined
    assert pickle.loads(pickle.dumps([MPI.INT, MPI.SUM, MPI.MAXLOC])) == [
        MPI.INT,
        MPI.SUM,
        MPI.MAXLOC,
    ]
    with pytest.raises(TypeError, match="expected a Datatype"):
        MPI.Datatype((1, 2, 3))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "how, sizes, owned",
    [
        ("BLOCK", None, [[0, 1, 2], [3, 4, 5]]),
        ("CYCLIC", None, [[0, 2, 4], [1, 3, 5]]),
        ("CYCLIC", 2, [[0, 1, 4, 5], [2, 3]]),
    ],
)
def test_parts_of_arrays_that_are_dealt_out(order, how, sizes, owned):
    """Darrays: of a 6 x 7 array over a grid of 2 x 1 ranks."""
    whole = np.asarray(np.arange(42.0).reshape(6, 7), order=order)
    dargs = [MPI.DISTRIBUTE_DFLT_DARG if sizes is None else sizes, MPI.DISTRIBUTE_DFLT_DARG]
    for part in range(2):
        kind = MPI.DOUBLE.Create_darray(
            2, part, (6, 7), [getattr(MPI, f"DISTRIBUTE_{how}"), MPI.DISTRIBUTE_NONE], dargs, (2, 1),
            getattr(MPI, f"ORDER_{order}"),
        )  # fmt: skip
        got = np.zeros((len(owned[part]), 7), order=order)
        MPI.COMM_SELF.Sendrecv([whole, 1, kind], 0, 0, got, 0, 0)
        assert (got == whole[owned[part]]).all()
    assert kind.combiner == MPI.COMBINER_DARRAY and kind.extent == whole.nbytes


def test_errors_have_numbers():
    assert MPI.Exception(MPI.ERR_RANK).Get_error_class() == MPI.ERR_RANK
    request = MPI.COMM_SELF.Isend(np.arange(4.0), 0)
    with pytest.raises(MPI.Exception) as caught:
        MPI.COMM_SELF.Recv(np.zeros(2), 0)
    request.Wait()
    assert caught.value.Get_error_code() == MPI.ERR_TRUNCATE == caught.value.error_class
    assert caught.value.Get_error_string() == "MPI_ERR_TRUNCATE"


RECORD = np.dtype([("id", "i4"), ("x", "f8"), ("tag", "i1")], align=True)


def records(n, dtype=RECORD):
    made = un.zeros(n, dtype)
    made["id"], made["x"] = un.arange(n) + 10 * rank, un.arange(n) / 2 + rank
    return made


@pytest.mark.parametrize(
    "dtype",
    [RECORD, np.dtype([("id", "i4"), ("x", "f8"), ("tag", "i1")])],
    ids=["aligned", "packed"],
)
def test_arrays_of_records_travel(dtype):
    right, left = (rank + 1) % size, (rank - 1) % size
    x, y = records(4, dtype), un.zeros(4, dtype)
    before = y["x"] + 1  # reads what was there before the message
    comm.Sendrecv(x, right, 0, y, left, 0)
    assert y.tolist() == [(10 * left + k, left + k / 2, 0) for k in range(4)]
    assert before.tolist() == [1.0] * 4
    # Every second one, one field, and a part.
    apart, field, part = un.zeros(8, dtype), un.zeros(4), un.zeros(4, dtype)
    comm.Sendrecv(x[::2], right, 0, apart[::4], left, 0)
    comm.Sendrecv(x["x"], right, 0, field, left, 0)
    comm.Sendrecv([x, 2], right, 0, [part, (2, 1)], left, 0)
    assert apart["id"].tolist() == [10 * left, 0, 0, 0, 10 * left + 2, 0, 0, 0]
    assert field.tolist() == [left + k / 2 for k in range(4)]
    assert part["id"].tolist() == [0, 10 * left, 10 * left + 1, 0]
    request = comm.Irecv(apart[::2], left)
    comm.Isend(x, right).Wait()
    request.Wait()
    assert apart["id"].tolist() == [10 * left + k // 2 if k % 2 == 0 else 0 for k in range(8)]
    every = un.zeros((size, 4), dtype)
    comm.Allgather(x, every)
    assert every["id"][:, 1].tolist() == [10 * r + 1 for r in range(size)]
    comm.Bcast(x, root=size - 1)
    assert x["x"].tolist() == [size - 1 + k / 2 for k in range(4)]
    comm.Sendrecv_replace(every, right, 0, left, 0)
    assert every["id"][-1, 3] == 10 * (size - 1) + 3
    with pytest.raises(ValueError, match="more elements"):
        comm.Send([x, 5], right)
