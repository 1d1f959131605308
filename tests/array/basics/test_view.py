"""``view``: the same memory as another dtype, also with work pending, and what is refused."""

import itertools

import numpy as np
import pytest
import unisono as un

DTYPES = "bool int8 uint16 int32 uint64 float32 float64 complex64 complex128".split()


def layouts(a):
    """Views of a matrix of one dtype."""
    return [a, a.T, a[::2], a[:, ::-1], a[1:, 2:], a[:, :1], a[:0], a[0]]


@pytest.mark.parametrize("source, target", itertools.product(DTYPES, DTYPES))
def test_views_are_numpys(source, target):
    bits = np.arange(4 * 16 * 8).reshape(4, -1) % (2 if "bool" in (source, target) else 256)
    bits = bits.astype("uint8")
    for k in range(8):
        a = layouts(bits.view(source))[k]
        x = layouts(un.asarray(bits.view(source), copy=False))[k]
        try:
            expected = a.view(target)
        except ValueError:
            with pytest.raises(ValueError, match="view: "):
                x.view(target)
            continue
        try:
            got = x.view(target)
        except ValueError as error:  # NumPy's elements may lie anywhere
            assert "not be aligned" in str(error) and np.dtype(target).itemsize > a.itemsize
            continue
        assert got.shape == expected.shape and got.dtype.name == target
        assert got.tobytes() == expected.tobytes()
        if expected.size:
            assert np.shares_memory(np.asarray(got), bits)


def test_a_view_of_pending_work_sees_it_and_writes_show():
    x = un.arange(4) * 1.5
    bits = x.view("uint64")
    assert bits.tolist() == np.array([0, 1.5, 3, 4.5]).view("uint64").tolist()
    x += 1
    bits += 1
    x[0] = -1
    expected = np.array([0, 1.5, 3, 4.5]) + 1
    expected.view("uint64")[:] += 1
    expected[0] = -1
    assert x.tolist() == expected.tolist()
    x.view("float32")[1::2] = 2.0
    expected.view("float32")[1::2] = 2.0
    assert x.tolist() == expected.tolist()


def test_random_programs_over_views():
    rng = np.random.default_rng(5)
    for _ in range(60):
        a = rng.integers(0, 200, 32).astype("uint8").view("float64").copy()
        a[:] = rng.integers(-9, 9, 4)
        x = un.array(a) * 1
        for _ in range(6):
            name = ["uint8", "int32", "float32", "float64", "int64"][rng.integers(5)]
            k, step = int(rng.integers(3)), int(rng.integers(1, 3))
            va, vx = a.view(name)[k::step], x.view(name)[k::step]
            match rng.integers(3):
                case 0:
                    va += 1
                    vx += 1
                case 1:
                    va[...] = va[::-1].copy()
                    vx[...] = vx[::-1]
                case _:
                    va[: len(va) // 2] = 3
                    vx[: len(va) // 2] = 3
        assert x.tobytes() == a.tobytes()


def test_values():
    v = un.asarray([1.5], dtype="float32")[0]
    assert v.view("int32") == np.float32(1.5).view("int32") and v.view("int32").dtype == "int32"
    with pytest.raises(
        ValueError, match="a 0-d array can only be seen as a dtype of the same size"
    ):
        v.view("int64")


def test_what_cannot_be_written_stays_so():
    x = un.broadcast_to(un.asarray([1.0]), (3,)).view("int64")
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1


def test_memory_that_is_not_aligned():
    memory = np.frombuffer(bytes(17), "uint8")[1:]
    x = un.asarray(memory, copy=False)
    view = x.view("float64")
    assert type(view) is np.ndarray and np.shares_memory(view, memory)
    assert x.copy().view("float64").tolist() == [0, 0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count, offset", [(-1, 0), (2, 0), (1, 16), (0, 0), (-1, 64)])
def test_frombuffer(dtype, count, offset):
    data = bytearray(np.arange(64, dtype="uint8") % 2)
    expected = (
        np.frombuffer(data, dtype, count, offset) if offset < 64 and count else np.empty(0, dtype)
    )
    got = un.frombuffer(data, dtype, count, offset)
    assert got.dtype.name == dtype and got.tobytes() == expected.tobytes()
    if len(expected):
        got[0] = 0
        assert bytes(data)[offset : offset + got.itemsize] == bytes(got.itemsize)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((b"abc", "float64"), "a multiple of element size; got 3 bytes for float64 of 8"),
        ((b"abc", "int8", 9), "smaller than requested size; got 3 bytes, expected 9"),
        ((b"abc", "int8", -1, 9), "offset must lie in the buffer; got 9 for 3 bytes"),
    ],
)
def test_frombuffer_refuses(arguments, message):
    for xp in (np, un):
        with pytest.raises(ValueError) as caught:
            xp.frombuffer(*arguments)
    assert message in str(caught.value)


def test_orders_of_copies():
    a = np.arange(6.0).reshape(2, 3)
    x = un.array(a)
    for order in "CFAK":
        for b, y in ((a, x), (a.T, x.T)):
            assert y.copy(order).strides == b.copy(order).strides
            assert (
                y.astype("float32", order=order).strides == b.astype("float32", order=order).strides
            )
            assert y.tobytes("C" if order == "K" else order) == b.tobytes(
                "C" if order == "K" else order
            )
    with pytest.raises(ValueError, match="order must be one of"):
        x.copy("X")


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize(
    "source, target", itertools.product(["int32", "float32", "float64"], repeat=2)
)
def test_rules_of_casts(casting, source, target):
    a, x = np.ones(2, source), un.ones(2, source)
    try:
        expected = a.astype(target, casting=casting)
    except TypeError as error:
        with pytest.raises(TypeError) as caught:
            x.astype(target, casting=casting)
        assert str(caught.value) == str(error)
    else:
        assert x.astype(target, casting=casting).dtype.name == expected.dtype.name
