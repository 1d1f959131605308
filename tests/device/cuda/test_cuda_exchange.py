"""Memory and streams that are shared with another library on CUDA devices (tests/foreign_cuda.py)."""

import driver_of_tests
import numpy as np
import pytest
import unisono as un
from unisono import cuda

driver = driver_of_tests.find()
pytestmark = pytest.mark.skipif(driver is None, reason="not the CUDA driver of tests")
if driver is not None:
    import foreign_cuda as foreign
NAMES = [d.name for d in un.devices("cuda")]


@pytest.fixture(params=range(len(NAMES)), ids=NAMES)
def number(request):
    before = driver.count("violations")
    yield request.param
    un.synchronize()
    assert driver.count("violations") == before, driver.last_violation()


def host(x):
    return np.asarray(x.to_device("cpu"))


A = np.arange(6000.0).reshape(60, 100)


def test_theirs_by_interface(number):
    """Our work comes behind that of their stream; both see what either writes."""
    theirs = foreign.ByInterface(A, foreign.Stream(number))
    before = un.stats()["bytes_copied"]
    x = un.asarray(theirs)
    assert un.stats()["bytes_copied"] == before
    assert x.device == NAMES[number] and x.shape == A.shape and x.dtype == "float64"
    y = x[1:] + x[:-1]
    np.testing.assert_array_equal(host(y), A[1:] + A[:-1])
    x[0] = -1.0
    assert theirs.values()[0].tolist() == [-1.0] * 100
    z = un.array(theirs)
    x[1] = -2.0
    assert host(z)[1, 0] == 100.0


def test_read_only_and_empty_memory(number):
    theirs = foreign.ByInterface(A, foreign.Stream(number))
    theirs.readonly = True
    x = un.asarray(theirs)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1

    class Empty:
        __cuda_array_interface__ = {
            "shape": (0, 3), "typestr": "<i4", "data": (0, False), "version": 3,
        }  # fmt: skip

    assert un.asarray(Empty()).shape == (0, 3) and un.asarray(Empty()).dtype == "int32"


@pytest.mark.parametrize("spec", ["M8[s]", "m8[us]", "i4,f8", "V10"])
def test_theirs_of_records_and_dates(number, spec):
    b = np.arange(36, dtype="u1").repeat(40).view(spec)
    theirs = foreign.ByInterface(b, foreign.Stream(number))
    described = {**theirs.__cuda_array_interface__, "descr": b.dtype.descr}

    class Described:
        def __init__(self, held, described):
            self.held, self.__cuda_array_interface__ = held, described

    x = un.asarray(Described(theirs, described))
    assert x.device == NAMES[number] and x.dtype == b.dtype and x.shape == b.shape
    assert (np.asarray(x) == b).all()
    x[2] = b[1]
    assert theirs.values()[2] == b[1]
    x[4:].view("u1")[:] = 7
    assert (theirs.values()[4:].view("u1") == 7).all()
    again = un.asarray(Described(x, x[1:].__cuda_array_interface__))
    again.view("u1")[:] = 3
    assert (theirs.values()[1:].view("u1") == 3).all() and un.asarray(x) is x


@pytest.mark.parametrize(
    "key, value, error, message",
    [
        ("stream", 0, ValueError, "names the stream 0"),
        ("mask", A, ValueError, "has a mask"),
        ("typestr", ">f8", ValueError, "no dtype here"),
        ("typestr", "|O8", TypeError, "no dtype here"),
        ("data", (4096, False), un.DeviceError, "no CUDA device here has"),
    ],
)
def test_what_cannot_be_taken(key, value, error, message):
    class Other(foreign.ByInterface):
        @property
        def __cuda_array_interface__(self):
            return {**super().__cuda_array_interface__, key: value}

    with pytest.raises(error, match=message):
        un.asarray(Other(A, foreign.Stream(0)))


def test_ours_by_interface(number):
    x = un.asarray(A, device=NAMES[number]) * 2
    view = x[10:, ::2]
    told = view.__cuda_array_interface__
    assert told["shape"] == (50, 50) and told["typestr"] == "<f8" and told["version"] == 3
    assert told["descr"] == np.dtype(float).descr
    assert told["strides"] == (800, 16) and told["data"][1] is False
    whole = x.__cuda_array_interface__
    assert whole["strides"] is None and told["data"][0] == whole["data"][0] + 8000
    stream = foreign.Stream(number)
    theirs = foreign.Array(np.zeros_like(A), stream)
    stream.wait_for(whole["stream"])
    theirs.take(whole["data"][0])
    np.testing.assert_array_equal(theirs.values(), A * 2)
    x += 1  # submitted at once
    stream.wait_for(x.__cuda_array_interface__["stream"])
    theirs.take(whole["data"][0])
    np.testing.assert_array_equal(theirs.values(), A * 2 + 1)


def test_only_arrays_on_cuda_devices_have_the_interface():
    assert not hasattr(un.ones(3), "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="arrays on CUDA devices have it; got one on"):
        _ = un.ones(3).__cuda_array_interface__


def test_theirs_by_dlpack(number):
    theirs = foreign.ByDLPack(A, foreign.Stream(number))
    x = un.from_dlpack(theirs)
    assert theirs.asked > 2 and x.device == NAMES[number]
    np.testing.assert_array_equal(host(x * 2), A * 2)
    x[3] = 7.0
    un.eval(x)
    assert theirs.values()[3].tolist() == [7.0] * 100
    assert not theirs.has_died
    del x
    assert theirs.has_died


def test_tensors_of_devices_that_are_not_here():
    theirs = foreign.ByDLPack(A, foreign.Stream(0))
    theirs.stream.device = 9  # what the tensor says
    with pytest.raises(un.DeviceError, match=r"DLPack's device \(2, 9\)"):
        un.from_dlpack(Elsewhere(theirs))


class Elsewhere:
    """Of a tensor that says that it is on a device that does not exist."""

    def __init__(self, tensor):
        self._tensor = tensor

    def __dlpack_device__(self):
        return (2, 9)

    def __dlpack__(self, **options):
        return self._tensor.__dlpack__(stream=-1)


def test_ours_by_dlpack(number):
    x = un.asarray(A, device=NAMES[number]) + 1
    assert x.__dlpack_device__() == (2, number)
    stream = foreign.Stream(number)
    theirs = foreign.Array(np.zeros_like(A), stream)
    address, give_back, device = foreign.tensor_of(x.__dlpack__(stream=stream.handle))
    assert device == (2, number)
    theirs.take(address)
    np.testing.assert_array_equal(theirs.values(), A + 1)
    stream.synchronize()
    give_back()
    np.testing.assert_array_equal(host(x), A + 1)


def test_streams_of_dlpack_are_checked():
    x = un.ones(3, device=NAMES[0])
    for stream in (None, 1, 2, -1):
        x.__dlpack__(stream=stream)
    for stream in (0, -2):
        with pytest.raises(ValueError, match="there is no such stream"):
            x.__dlpack__(stream=stream)
    for stream in (1.5, True, "1"):
        with pytest.raises(TypeError, match="must be an integer or None"):
            x.__dlpack__(stream=stream)
    un.ones(3).__dlpack__(stream=None)
    with pytest.raises(ValueError, match="stream belongs to CUDA devices"):
        un.ones(3).__dlpack__(stream=1)


def test_a_stream_of_theirs_as_queue(number):
    """Both give the stream work, in the order of the program, without waiting."""
    stream = foreign.Stream(number)
    theirs = foreign.ByInterface(A, stream)
    result = foreign.Array(np.zeros_like(A), stream)
    queue = un.Queue.from_handle(stream.handle, NAMES[number])
    assert queue.handle == stream.handle and queue.device == NAMES[number]
    x = un.asarray(A, device=NAMES[number])
    for _ in range(5):
        with un.device(NAMES[number], queue=queue):
            y = x * 3
            un.eval(y)
        address = y.__cuda_array_interface__["data"][0]
        result.take(address)
        np.testing.assert_array_equal(result.values(), A * 3)
    queue.record().wait()
    del theirs
    again = un.Queue.from_handle(stream.handle, NAMES[number])
    again.synchronize()


def test_an_event_knows_at_once_that_it_is_done(number):
    queue = un.Queue(NAMES[number])
    with un.device(NAMES[number], queue=queue):
        un.eval(un.ones(1000) * 3)
    event = queue.record()
    foreign.synchronize(number, queue.handle)  # nobody of ours waits
    assert event.done


def test_external_stream(number):
    stream = foreign.Stream(number)
    with un.device(NAMES[number]):
        made = cuda.external_stream(stream.handle)
        assert made.handle == stream.handle
        with made.statements():
            x = un.asarray(A) + 1
        made.synchronize()
        made.record().synchronize()
    np.testing.assert_array_equal(host(x), A + 1)


def test_external_streams_by_cupys_names(number):
    import unisono.cupy as cp

    stream = foreign.Stream(number)
    with cp.cuda.Device(number):
        made = cp.cuda.ExternalStream(stream.handle)
        assert made.ptr == stream.handle and made.device_id == number
        again = cp.cuda.Stream.from_external(made)
        with again:
            assert cp.cuda.get_current_stream() is again
            x = cp.asarray(A) + 1
        event = again.record()
        again.synchronize()
        assert event.done
        assert cp.cuda.Stream().ptr not in (0, stream.handle)
    np.testing.assert_array_equal(host(x), A + 1)
    with pytest.raises(TypeError, match="has __cuda_stream__; got int"):
        cp.cuda.Stream.from_external(stream.handle)


def test_streams_that_cannot_be_taken():
    with pytest.raises(ValueError, match="does not belong to 'cuda:0'"):
        un.Queue.from_handle(123456, NAMES[0])
    if len(NAMES) > 1:
        with pytest.raises(ValueError, match="does not belong to 'cuda:0'"):
            un.Queue.from_handle(foreign.Stream(1).handle, NAMES[0])
    with un.device("cpu"), pytest.raises(cuda.CudaError, match="has no streams of other libraries"):
        cuda.external_stream(1)
    with pytest.raises(un.DeviceError, match="has no queues"):
        un.Queue.from_handle(1, "cpu")


@pytest.mark.skipif(len(NAMES) < 2, reason="two devices are needed")
def test_copies_between_devices_without_the_host():
    copies = ("cuMemcpyPeerAsync", "cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync")
    before = driver.count("violations")
    x, kept = un.asarray(A, device=NAMES[0]), []
    un.synchronize()
    calls, bytes_before = {name: driver.count(name) for name in copies}, un.stats()["bytes_copied"]
    for _ in range(10):
        x = x * 2  # behind the copy that is under way
        y = x[10:].to_device(NAMES[1])
        x[10:] = 1.0
        y += 1
        z = (y * 3).to_device(NAMES[0])
        kept.append((x, y, z))
    del x, y, z
    un.eval()
    assert {name: driver.count(name) - calls[name] for name in copies} == {
        "cuMemcpyPeerAsync": 20, "cuMemcpyDtoHAsync": 0, "cuMemcpyHtoDAsync": 0,
    }  # fmt: skip
    assert un.stats()["bytes_copied"] - bytes_before == 20 * A[10:].nbytes
    a = A.copy()
    for _, y, z in kept:
        a = a * 2
        b = a[10:] + 1
        a[10:] = 1.0
        for ours, theirs in ((y, b), (z, b * 3)):
            np.testing.assert_array_equal(host(ours), theirs)
    np.testing.assert_array_equal(host(kept[-1][0]), a)
    del kept, ours, y, z
    un.memory.trim()
    un.synchronize()
    assert driver.count("violations") == before, driver.last_violation()


@pytest.mark.parametrize("told", ["address", "interface"])
def test_reads_of_exported_memory_come_behind_the_queues_of_a_block(told):
    device = NAMES[0]
    x = un.asarray(np.zeros(8), device=device)
    y = un.asarray(np.zeros(8), device=device)
    if told == "address":
        assert x.data.ptr
    else:
        assert x.__cuda_array_interface__
    first, second = cuda.Stream(), cuda.Stream()
    with first.statements():
        x[...] = 65
        np.testing.assert_array_equal(x.get(), np.full(8, 65.0))
        x += 1
    with second.statements():
        y[...] = 2 * x
    np.testing.assert_array_equal(x.get(), np.full(8, 66.0))
    np.testing.assert_array_equal(y.get(), np.full(8, 132.0))
