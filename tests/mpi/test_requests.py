"""Several requests at once, persistent ones, matched messages, types of elements and what a status tells."""

import pickle
import threading

import numpy as np
import pytest
import unisono as un
from unisono import mpi

comm = mpi.COMM_WORLD
rank, size = comm.rank, comm.size
right, left = (rank + 1) % size, (rank - 1) % size


def started(count):
    outs = [un.zeros(3) for _ in range(count)]
    receives = [comm.Irecv(out, left, tag) for tag, out in enumerate(outs)]
    return outs, receives


def test_some_of_several_requests():
    outs, receives = started(4)
    assert mpi.Request.Testsome(receives) == []
    assert mpi.Request.Testany(receives) == (mpi.UNDEFINED, False)
    comm.Barrier()
    sends = [comm.Isend(un.full(3, 10.0 * rank + tag), right, tag) for tag in (2, 0)]
    met, statuses = [], []
    while len(met) < 2:
        met += mpi.Request.Waitsome(receives, statuses)
        assert all(s.source == left and s.Get_count("f8") == 3 for s in statuses)
    assert sorted(met) == [0, 2] and not receives[0] and receives[1]
    comm.Barrier()
    sends += [comm.Isend(un.full(3, 10.0 * rank + tag), right, tag) for tag in (1, 3)]
    status, one = mpi.Status(), mpi.UNDEFINED
    while one == mpi.UNDEFINED:
        one, flag = mpi.Request.Testany(receives, status)
    assert flag and status.tag == one and one in (1, 3)
    while not mpi.Request.Testall(receives, statuses):
        pass
    assert [out[0].item() for out in outs] == [10.0 * left + tag for tag in range(4)]
    assert mpi.Request.Waitall(sends) is True
    assert mpi.Request.Waitsome(sends) is None and mpi.Request.Testsome(sends) is None
    assert mpi.Request.Testany(sends) == (mpi.UNDEFINED, True)
    with pytest.raises(TypeError, match="Waitsome: element 0 is 'int'; expected a Request"):
        mpi.Request.Waitsome([3])


def test_objects_of_several_requests():
    receives = [comm.irecv(source=left, tag=tag) for tag in range(3)]
    sends = [comm.isend({"tag": tag, "of": rank}, right, tag) for tag in range(3)]
    index, first = mpi.Request.waitany(receives)
    assert first == {"tag": index, "of": left}
    indices, objects = mpi.Request.waitsome(receives)
    assert [o["tag"] for o in objects] == indices
    flag, rest = False, None
    while not flag:
        flag, rest = mpi.Request.testall(receives)
    assert rest is not None
    assert mpi.Request.testany(receives) == (mpi.UNDEFINED, True, None)
    assert mpi.Request.testsome(receives) == (None, None)
    assert mpi.Request.waitall(sends) == [None] * 3


def test_the_same_in_compiled_code():
    @un.jit
    def f(x, y):
        incoming = [comm.Irecv(y[k], left, k) for k in range(4)]
        nothing = mpi.Request.Testany(incoming)
        comm.Barrier()
        outgoing = [comm.Isend(x[k], right, k) for k in range(4)]
        met = 0
        while met < 3:
            some = mpi.Request.Waitsome(incoming) if met == 0 else mpi.Request.Testsome(incoming)
            if some is not None:
                met += len(some)
            else:
                break
        one, flag = mpi.Request.Testany(incoming)
        mpi.Request.Waitall(incoming)
        mpi.Request.Waitall(outgoing)
        left_over = mpi.Request.Waitsome(incoming)
        return nothing, met, flag or one == mpi.UNDEFINED, left_over is None

    x, y = np.arange(8.0).reshape(4, 2) + rank, np.zeros((4, 2))
    nothing, met, flag, none = f(x, y)
    assert tuple(nothing) == (mpi.UNDEFINED, False) and met >= 3 and flag and none
    assert np.array_equal(y, np.arange(8.0).reshape(4, 2) + left)


def test_persistent_requests():
    x, y = np.zeros(3), np.zeros(3)
    both = [comm.Recv_init(y, left, 4), comm.Send_init(x, right, 4)]
    assert all(isinstance(r, mpi.Request) for r in both)
    for turn in range(3):
        x[:] = 10 * turn + rank
        mpi.Prequest.Startall(both)
        mpi.Request.Waitall(both)
        assert y.tolist() == [10 * turn + left] * 3
        assert both[0] and both[1].Test()
    both[0].Free()
    assert not both[0]


def test_requests_that_are_under_way_start_no_second_time():
    request = comm.Recv_init(np.zeros(1), left, 98)
    request.Start()
    with pytest.raises(RuntimeError, match="the request is under way; wait for it first"):
        request.Start()
    comm.Send(np.ones(1), right, 98)
    request.Wait()


def test_matched_messages():
    request = comm.Isend(un.arange(4.0) + rank, right, 6)
    status, y = mpi.Status(), un.zeros(4)
    message = comm.Mprobe(left, 6, status)
    assert message and status.Get_elements(mpi.DOUBLE) == 4
    if size == 1:
        assert comm.Improbe(left, 6) is None and not comm.Iprobe(left, 6)
    with pytest.raises(un.CommError, match="has 32 bytes; got a buffer of 8"):
        message._matched.receive(np.zeros(1))
    message.Recv(y, status)
    assert not message and y.tolist() == (np.arange(4.0) + left).tolist() and status.tag == 6
    with pytest.raises(ValueError, match="it was received already"):
        message.Recv(y)
    request.Wait()
    request = comm.isend(("word", rank), right, 7)
    found = None
    while found is None:
        found = mpi.Message.iprobe(comm, left, 7)
    assert found.irecv().wait() == ("word", left)
    request.Wait()
    assert comm.mprobe(mpi.PROC_NULL).recv() is None
    assert pickle.loads(pickle.dumps(mpi.MESSAGE_NULL)) is mpi.MESSAGE_NULL
    assert mpi.MESSAGE_NO_PROC and mpi.Message() == mpi.MESSAGE_NULL


def test_counts_and_types():
    data = np.arange(10, dtype="i4") + rank
    got = np.zeros(10, "i4")
    comm.Sendrecv([data, 3, mpi.INT], right, 0, [got, (4, 2), mpi.INT], left, 0)
    assert got.tolist() == [0, 0, *(data[:3] - rank + left).tolist(), 0, 0, 0, 0, 0]
    comm.Sendrecv([data, mpi.INT], right, 0, [got, "i"], left, 0)
    assert np.array_equal(got, data - rank + left)
    comm.Send(None, mpi.PROC_NULL)
    with pytest.raises(ValueError, match="more elements than the buffer has; got 11 from 0 on"):
        comm.Send([data, 11, mpi.INT], right)
    with pytest.raises(TypeError, match="expected an array or another object"):
        comm.Send([1, 2, 3], right)
    total = np.zeros(2)
    comm.Allreduce([np.ones(4), 2, mpi.DOUBLE], [total, mpi.DOUBLE], op=mpi.SUM)
    assert total.tolist() == [size] * 2
    parts, counts = np.zeros(2 * size), [2] * size
    comm.Allgatherv([np.full(2, float(rank)), mpi.DOUBLE], [parts, counts, mpi.DOUBLE])
    assert parts.tolist() == np.repeat(np.arange(size), 2).tolist()
    comm.Allgatherv(np.full(2, float(rank)), [parts, (counts, range(0, 2 * size, 2)), mpi.DOUBLE])
    assert parts.tolist() == np.repeat(np.arange(size), 2).tolist()


@pytest.mark.parametrize("make", [np.asarray, un.asarray])
def test_types_of_elements_that_lie_apart(make):
    u = make(np.arange(12.0).reshape(3, 4) + rank)
    column = mpi.DOUBLE.Create_vector(3, 1, 4).Commit()
    assert (column.Get_size(), column.extent) == (24, 72)
    comm.Sendrecv([u, (1, 0), column.Create_resized(0, 8)], right, 0, [u, 1, column], left, 0)
    expected = np.arange(12.0).reshape(3, 4) + rank
    expected[:, 0] += left - rank
    assert np.array_equal(np.asarray(u), expected)
    block = mpi.DOUBLE.Create_subarray([3, 4], [2, 2], [1, 1])
    got = np.zeros(4)
    comm.Sendrecv([u, 1, block], right, 0, got, left, 0)
    whole = np.arange(12.0).reshape(3, 4) + left
    assert got.tolist() == whole[1:3, 1:3].reshape(-1).tolist()
    assert mpi.INT.Create_indexed([2, 1], [0, 4])._places == (0, 1, 4)
    assert mpi.INT.Create_contiguous(3).Create_vector(2, 1, 2)._places == (0, 1, 2, 6, 7, 8)
    with pytest.raises(ValueError, match="elements beyond the buffer"):
        comm.Send([np.zeros(3), 1, column], right)


def test_status():
    status = mpi.Status()
    assert (status.source, status.tag, status.error, status.count) == (-1, -1, 0, 0)
    request = comm.Isend(np.zeros(3, "i2"), right, 3)
    comm.Probe(left, 3, status)
    assert (status.Get_count(), status.Get_count(mpi.SHORT), status.Get_elements("i2")) == (6, 3, 3)
    assert status.Get_count(mpi.INT) == mpi.UNDEFINED
    comm.Recv(np.zeros(3, "i2"), status=status)
    request.Wait()
    assert not status.Is_cancelled()
    waiting = comm.Irecv(np.zeros(1), left, 97)
    waiting.Cancel()
    waiting.Wait(status)
    assert not waiting and status.Is_cancelled()
    status.Set_elements(mpi.INT, 2)
    assert status.count == 8


def test_replaced_buffers_and_copies_that_are_sent():
    x = np.full(3, float(rank))
    comm.Sendrecv_replace(x, right, 0, left, 0)
    assert x.tolist() == [left] * 3
    data = np.full(2, float(rank))
    comm.Bsend(data, right, 1)
    data[:] = -1
    comm.Recv(data, left, 1)
    assert data.tolist() == [left] * 2
    comm.Isendrecv_replace(data, right, 2, left, 2).Wait()
    assert data.tolist() == [(left - 1) % size] * 2


def test_requests_that_the_program_completes():
    calls = []

    def query(status, source, *, tag):
        status.Set_source(source)
        status.Set_tag(tag)

    own = mpi.Grequest.Start(
        query,
        lambda *_, **__: calls.append("free"),
        lambda done, *_, **__: calls.append(done),
        (3,),
        {"tag": 7},
    )
    status = mpi.Status()
    assert own and not own.Test(status) and not own.Get_status() and own.test() == (False, None)
    own.Cancel()
    timer = threading.Timer(0.02, own.complete, [["an object"]])
    timer.start()
    other = comm.Irecv(np.zeros(1), rank, 55)
    assert mpi.Request.waitany([other, own], status) == (1, ["an object"])
    assert (status.source, status.tag) == (3, 7) and not own and calls == [False, "free"]
    own.Cancel()
    assert own.Wait() and own.test() == (True, None) and calls == [False, "free", True]
    comm.Send(np.ones(1), rank, 55)
    second = mpi.Grequest.Start()
    second.complete(5)
    assert mpi.Request.waitall([other, second]) == [None, 5]
    assert mpi.REQUEST_NULL != mpi.Grequest.Start()


def test_a_request_that_nobody_completes(monkeypatch):
    monkeypatch.setattr("unisono.mpi._requests._patience", lambda: 0.05)
    with pytest.raises(
        un.CommError,
        match="a Grequest, which nobody completed; call its Complete in another thread",
    ):
        mpi.Grequest.Start().wait()


def test_hints_are_equal_where_they_are_the_same():
    info = mpi.Info.Create({"a": "1"})
    assert info and info.items() == [("a", "1")] and info.keys() == ["a"] and info.values() == ["1"]
    copied = pickle.loads(pickle.dumps(info))
    assert copied != info and copied.items() == info.items() and mpi.Info(info) == info
    info.Free()
    assert not info and info == mpi.INFO_NULL and mpi.Info.Create() and mpi.INFO_ENV
    assert pickle.loads(pickle.dumps(mpi.INFO_NULL)) is mpi.INFO_NULL
    assert pickle.loads(pickle.dumps(mpi.Info(mpi.INFO_ENV))) == mpi.INFO_ENV
    with pytest.raises(KeyError, match="INFO_NULL has no hints; make some with Info.Create"):
        mpi.INFO_NULL["a"] = "1"
    assert mpi.Info.Create_env(["prog", "-v"]).items() == [("command", "prog"), ("argv", "-v")]
