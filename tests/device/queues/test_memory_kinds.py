"""Kinds of memory: of the device, shared with the host, pinned."""

import gc

import numpy as np
import pytest
import unisono as un

OPENCL = [d.name for d in un.devices("opencl")]

pytestmark = pytest.mark.skipif(not OPENCL, reason="no OpenCL device")
N = 3_000_000


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture(params=OPENCL)
def name(request):
    return request.param


def test_arrays_tell_their_kind(name):
    for kind in ("device", "shared"):
        x = un.zeros((3, 4), device=name, memory=kind)
        assert (x.memory, x.device, x.shape) == (kind, name, (3, 4))
        assert x[1:].memory == x.T.memory == kind
    for kind in ("pinned", "host"):
        x = un.ones(5, device=name, memory=kind)
        assert (x.memory, x.device) == (kind, "cpu")
        assert (x + 1).tolist() == [2] * 5
    assert un.ones(3, device=name).memory == "device"
    assert un.ones(3).memory == un.float64(1).memory == "host"
    assert un.ones(3, memory="shared").memory == "host", "the host shares its memory with itself"


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["device", "shared", "pinned", "host"])
def test_every_creation_function_takes_the_kind(name, kind, order):
    options = {"device": name, "memory": kind}
    a = np.arange(12.0).reshape(3, 4)
    made = [
        un.empty((3, 4), order=order, **options),
        un.zeros((3, 4), order=order, **options),
        un.ones((3, 4), "int32", order=order, **options),
        un.full((3, 4), 7, order=order, **options),
        un.array(a, **options),
        un.asarray(a, **options),
        un.asarray(un.asarray(a), **options),
        un.asarray(un.asarray(a, device=name), **options),
    ]
    assert [x.memory for x in made] == [kind] * len(made)
    made[0][...] = a
    for x, want in zip(
        made, [a, a * 0, np.ones((3, 4), "int32"), np.full((3, 4), 7), *[a] * 4], strict=True
    ):
        got = np.asarray(x)
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype
    assert made[0].flags["F_CONTIGUOUS" if order == "F" else "C_CONTIGUOUS"]
    if kind == "shared":
        assert np.shares_memory(np.asarray(un.asarray(made[1], **options)), np.asarray(made[1]))


def test_the_host_sees_shared_memory_without_a_copy(name):
    x = un.ones(N, device=name, memory="shared") * 3
    assert x.memory == "device", "results are in the device's own"
    x = un.asarray(x, memory="shared")
    x += 1
    before = un.stats()["bytes_copied"]
    seen = np.asarray(x)
    again = np.asarray(x[10:])
    assert un.stats()["bytes_copied"] == before
    assert seen[0] == seen[-1] == 4 and np.shares_memory(seen, again)
    # Written by the host, seen by the device, and the other way round.
    seen[5] = 100
    assert float(x.sum()) == 4 * N + 96
    x *= 2
    assert seen[5] == 200 and again[-1] == 8
    assert un.stats()["bytes_copied"] < before + 8 * N / 2, "partial sums alone"


def test_every_statement_on_memory_that_the_host_sees_is_complete(name):
    x = un.zeros(N, device=name, memory="shared")
    seen = np.asarray(x)

    @un.jit
    def add(x, k):
        for i in un.prange(x.shape[0]):
            x[i] += k

    total = 0
    for k in range(1, 6):
        add(x, float(k))
        total += k
        assert seen[0] == seen[-1] == total
        y = x * 2  # reads before the host writes
        seen[:] = total
        assert float(y[0]) == float(y[-1]) == 2 * total
    with un.device(name, queue=un.Queue(name, order="out")):
        x += 1
    assert seen[0] == seen[-1] == total + 1


def test_statements_wait_again_once_the_host_has_let_go(name):
    x = un.zeros(100, device=name, memory="shared")
    seen = np.asarray(x)
    x += 1
    assert seen[0] == 1
    del seen
    gc.collect()
    x += 1
    assert un.stats()["pending_operations"] > 0
    assert x.tolist() == [2] * 100


def test_views_of_the_host_lead_back_to_the_array(name):
    x = un.zeros(10, device=name, memory="shared")
    back = un.asarray(np.asarray(x)[2:5], device=name)
    back[...] = 7
    assert x.tolist() == [0, 0, 7, 7, 7, 0, 0, 0, 0, 0]


def test_memory_lives_as_long_as_someone_uses_it(name):
    x = un.arange(N, device=name)
    shared = un.asarray(x, memory="shared")
    seen = np.asarray(shared[1:])
    del shared, x
    gc.collect()
    assert seen[0] == 1 and seen[-1] == N - 1
    y = un.zeros(N, device=name, memory="shared") + 1  # the operand dies while the device works
    assert float(y.sum()) == N


def test_statistics_by_kind(name):
    gc.collect()
    un.synchronize()  # what others recorded holds memory
    un.memory.trim(name)  # a block that is kept may be larger than what is asked for
    before = un.memory.stats(name)["kinds"]
    held = [un.zeros(10**6, device=name, memory=kind) for kind in ("shared", "pinned", "device")]
    un.eval(*held)
    during = un.memory.stats(name)["kinds"]
    assert during == {kind: before[kind] + 8 * 10**6 for kind in ("device", "pinned", "shared")}
    del held
    gc.collect()
    un.synchronize()
    assert un.memory.stats(name)["kinds"] == before


def test_other_words_are_refused(name):
    with pytest.raises(
        ValueError, match="expected 'device', 'shared', 'pinned' or 'host'; got 'fast'"
    ):
        un.zeros(3, device=name, memory="fast")
    with pytest.raises(TypeError, match="records have no memory of kinds"):
        un.zeros(3, [("a", "f8")], device=name, memory="shared")
    with pytest.raises(ValueError, match="needs a copy to be in 'shared'; got copy=False"):
        un.asarray(un.ones(3, device=name), memory="shared", copy=False)


def test_shared_arrays_work_like_others(name, rng):
    a = rng.random((40, 50))
    x = un.asarray(a, device=name, memory="shared")
    np.testing.assert_array_equal(np.asarray(un.sort(x, axis=0)), np.sort(a, axis=0))
    np.testing.assert_allclose(np.asarray(x @ x.T), a @ a.T, rtol=1e-12)
    x.sort(axis=1)
    np.testing.assert_array_equal(np.asarray(x), np.sort(a, axis=1))
    assert float(x[3, 4]) == np.sort(a, axis=1)[3, 4]
    x[x > 0.5] = 0
    assert float(np.asarray(x).max()) <= 0.5
    assert x.tolist() == np.asarray(x).tolist() and x.to_device("cpu").memory == "host"
