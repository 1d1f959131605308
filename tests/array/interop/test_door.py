"""Which arrays of other libraries asarray copies, takes over or shares."""

import functools
import mmap

import numpy as np
import pytest
import unisono as un


def copied(call):
    """What the call gives, and how many bytes it wrote."""
    before = un.stats()["bytes_written"]
    made = call()
    return made, un.stats()["bytes_written"] - before


def shares(x, a):
    return np.shares_memory(np.asarray(x), a)


def test_an_array_is_copied_and_lazy():
    a = np.arange(5.0)
    x = un.asarray(a)
    assert not shares(x, a)
    a[0] = 7
    x -= 1
    assert a[0] == 7 and x.tolist() == [-1, 0, 1, 2, 3]
    y = un.asarray(np.arange(1e5) + 0) * 2 + 1
    assert un.stats()["pending_operations"] > 0
    assert y[1] == 3


@pytest.mark.parametrize(
    "view", [lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[1:], lambda a: a.astype("f4")]
)
def test_layouts_are_copied(view):
    a = np.arange(24.0).reshape(4, 6)
    x = un.asarray(view(a))
    assert np.array_equal(np.asarray(x), view(a)) and not shares(x, a)


def test_temporaries_are_taken_over():
    a, written = copied(lambda: un.asarray(np.ones(1000)))
    assert written == 0 and a.sum() == 1000
    # Nothing else may ever see the memory: each of these holds a reference of its own.
    x = np.ones(1000)
    held = [x]
    for call in (
        lambda: un.asarray(x),
        lambda: un.asarray(held[0]),
        lambda: un.asarray(*held),
        lambda: un.asarray(*(x,)),
        functools.partial(un.asarray, x),
        lambda: next(map(un.asarray, held)),
        lambda: un.asarray(np.ones(1001)[1:]),
    ):
        made = call()
        assert not shares(made, x)
        made += 1
    assert x.sum() == 1000


def test_the_only_reference_of_a_partial_object_is_no_temporary():
    call = functools.partial(un.asarray, np.ones(1000))
    first = call()
    first += 1
    assert call().sum() == 1000


def test_memory_of_ours_comes_back():
    x = un.arange(12.0).reshape(3, 4) * 1
    for view in (
        lambda a: a,
        lambda a: a.T,
        lambda a: a[1:, ::2],
        lambda a: a[::-1, ::-1],
    ):
        seen = view(np.asarray(x))
        back = un.asarray(seen)
        assert np.array_equal(np.asarray(back), seen)
        back[0, 0] = -1
        assert seen[0, 0] == -1
    assert (np.asarray(x) == -1).sum() >= 3


def test_read_only_views_of_ours_stay_so():
    x = un.arange(3.0) * 1
    seen = np.asarray(x)
    seen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        un.asarray(seen)[0] = 1


def test_memory_maps_are_shared(tmp_path):
    path = tmp_path / "numbers"
    np.arange(1000.0).tofile(path)
    mapped = np.memmap(path, "float64", "r+")
    for seen in (mapped, mapped[10:], np.asarray(mapped)[10:]):
        x, written = copied(lambda seen=seen: un.asarray(seen))
        assert written == 0 and shares(x, mapped)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        x = un.asarray(np.frombuffer(memory, "float64"))
        assert x[3] == 3
        del x


def test_copy_false_shares_and_copy_true_copies():
    a = np.zeros(3)
    assert shares(un.asarray(a, copy=False), a) and not shares(un.asarray(a, copy=True), a)


def test_objects_with_array_methods():
    class Gives:
        def __init__(self, a):
            self.a = a

        def __array__(self, dtype=None, copy=None):
            return self.a if self.a is not None else np.arange(4.0)

    a = np.arange(3.0)
    assert not shares(un.asarray(Gives(a)), a)
    assert un.asarray(Gives(None)).tolist() == [0, 1, 2, 3]


def test_operands_are_read_in_place():
    a = np.arange(1e4)
    _, written = copied(lambda: un.eval(un.sin(a)))
    assert written <= a.nbytes


@pytest.mark.parametrize("dtype", ["float64", float, np.float64, np.dtype("float64"), None])
def test_an_array_of_the_dtype_is_returned_as_it_is(dtype):
    for xp in (np, un):
        x = xp.ones((2, 3))
        assert xp.asarray(x, dtype) is x and xp.asarray(x, dtype=dtype, order="C") is x
        assert xp.array(x, dtype, copy=None) is x and xp.array(x, dtype, copy=False) is x
        assert xp.array(x, dtype) is not x and xp.asarray(x, dtype, copy=True) is not x
        assert xp.asarray(x, "float32") is not x and xp.asarray(x[0], dtype) is not x
    assert un.asarray(un.ones(3), un.float64, device="cpu").shape == (3,)
