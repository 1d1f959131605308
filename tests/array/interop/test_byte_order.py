"""Elements in the other byte order: read into the machine's, NumPy's own where asked for; never taken for what they are not."""

import io

import numpy as np
import pytest
import unisono as un

dtypes = ["int16", "uint16", "int32", "int64", "uint64", "float16", "float32", "float64"]
dtypes += ["complex64", "complex128"]


def swapped(dtype):
    """NumPy's array of the other byte order, and the same in the machine's."""
    h = (np.arange(12) - 3).reshape(3, 4).astype(dtype)
    return h.astype(h.dtype.newbyteorder(">")), h


@pytest.mark.parametrize("dtype", dtypes)
def test_arrays_are_converted(dtype):
    theirs, h = swapped(dtype)
    for part in (..., (slice(None, None, 2), slice(None, None, -1)), (1, 2), slice(0, 0)):
        for x in (un.asarray(theirs[part]), un.array(theirs[part])):
            assert x.dtype == dtype and np.array_equal(np.asarray(x), h[part])
    assert np.array_equal(np.asarray(un.ones((3, 4), dtype) + theirs), 1 + h)
    assert np.array_equal(np.asarray(un.sum(theirs, axis=0)), h.sum(0))
    assert un.asarray(memoryview(theirs)).tolist() == h.tolist()
    with pytest.raises(ValueError, match="without a copy"):
        un.asarray(theirs, copy=False)


@pytest.mark.parametrize("dtype", dtypes)
def test_bytes_are_read_in_the_order_that_is_named(dtype, tmp_path):
    theirs, h = swapped(dtype)
    path = tmp_path / "numbers.bin"
    theirs.tofile(path)
    for order in (theirs.dtype, theirs.dtype.str):
        for x in (un.frombuffer(theirs.tobytes(), order), un.fromfile(path, order)):
            assert x.dtype == dtype and np.array_equal(np.asarray(x), h.ravel())
        some = un.frombuffer(theirs.tobytes(), order, count=3, offset=2 * h.itemsize)
        assert np.array_equal(np.asarray(some), h.ravel()[2:5])
    assert un.fromfile(io.BytesIO(theirs.tobytes()), theirs.dtype, count=2).tolist() == [
        -3,
        -2,
    ] or (dtype[0] == "u")
    assert un.frombuffer(b"\1\2", ">u1").tolist() == [1, 2]


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("spell", [lambda t: t, lambda t: t.str])
def test_arrays_of_the_other_order_are_numpys(dtype, spell):
    other = np.dtype(dtype).newbyteorder(">")
    x, h = un.arange(3).astype(dtype), np.arange(3).astype(dtype)
    given = spell(other)
    assert un.dtype(given) == other and un.dtype(dtype).newbyteorder(">") == other
    for made, theirs in (
        (un.zeros(2, given), np.zeros(2, other)),
        (un.ones((2, 1), dtype=given), np.ones((2, 1), other)),
        (un.array([1, 2], dtype=given), np.array([1, 2], other)),
        (un.full(2, 3, dtype=given), np.full(2, 3, other)),
        (x.astype(given), h.astype(other)),
        (x.view(given), h.view(other)),
    ):
        assert type(made) is np.ndarray and made.dtype == other
        assert made.tobytes() == theirs.tobytes()
    x.view(given)[0] = 2  # the memory is the array's
    h.view(other)[0] = 2
    assert x.tobytes() == h.tobytes()
    assert x.dtype != other


@pytest.mark.parametrize("dtype", ["S4", "V4", "M8[s]"])
def test_views_as_what_numpy_alone_has_share_memory(dtype):
    x, h = un.arange(4), np.arange(4)
    made = x.view(dtype)
    assert type(made) is np.ndarray and made.dtype == dtype and made.tobytes() == h.tobytes()
    assert np.shares_memory(made, np.asarray(x))
    with pytest.raises(TypeError, match="not a dtype"):
        x.view("float65")
