"""Names beside the main ones: emath, lib.stride_tricks, testing, memmap, broadcast, letters of dtypes."""

import re

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

VALUES = [[-4.0, 0.5, 1.0, 9.0], [0.25, 2.0, 4.0, 1.0], [1, 2, 3]]


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"])
def test_emath(name, values):
    with np.errstate(all="ignore"):
        expected = getattr(np.emath, name)(np.array(values))
    got = getattr(un.emath, name)(un.array(values))
    assert got.dtype.name == expected.dtype.name
    assert np.allclose(np.asarray(got), expected, equal_nan=True)


@pytest.mark.parametrize("x, p", [([2, 4], 2), ([2, 4], -2), ([-2, 4], 0.5), ([2.0], [1, -1])])
def test_emath_power(x, p):
    expected, got = np.emath.power(x, p), un.emath.power(x, p)
    assert got.dtype.name == expected.dtype.name and np.allclose(np.asarray(got), expected)
    assert np.allclose(np.asarray(un.emath.logn(2, [-4, 8])), np.emath.logn(2, [-4, 8]))


@pytest.mark.parametrize(
    "window, axis", [(2, 0), (3, -1), ((2, 2), None), ((2, 3), (1, 1)), ((1, 2), (0, 1))]
)
def test_sliding_windows(window, axis):
    a = np.arange(24).reshape(4, 6)
    expected = np.lib.stride_tricks.sliding_window_view(a, window, axis)
    got = un.lib.stride_tricks.sliding_window_view(un.array(a), window, axis)
    assert got.shape == expected.shape and np.array_equal(np.asarray(got), expected)


def test_windows_are_views():
    from unisono.lib.stride_tricks import sliding_window_view

    x = un.arange(5)
    windows = sliding_window_view(x, 2)
    x[1] = 7
    assert windows.tolist() == [[0, 7], [7, 2], [2, 3], [3, 4]]
    with pytest.raises(ValueError, match="read-only"):
        windows[0, 0] = 1
    un.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)[0, 0] = 9
    assert x[0] == 9


@pytest.mark.parametrize(
    "window, axis, message",
    [
        (7, 0, "longer than axis 0; got 7 for 5"),
        (-1, 0, "cannot be negative; got -1"),
        ((1, 2), None, "an extent for each axis; got 2 for 1"),
        (1, 3, "axis 3 is out of bounds"),
    ],
)
def test_wrong_windows(window, axis, message):
    for xp in (np, un):
        with pytest.raises(ValueError) as caught:
            xp.lib.stride_tricks.sliding_window_view(xp.arange(5), window, axis)
    assert message in str(caught.value)


def test_as_strided():
    a = np.arange(12.0).reshape(3, 4)
    for shape, strides in [((2, 2), (32, 8)), ((3,), (40,)), ((0, 3), (8, 8)), ((4, 2), (0, 8))]:
        expected = np.lib.stride_tricks.as_strided(a, shape, strides)
        got = un.lib.stride_tricks.as_strided(un.array(a), shape, strides)
        assert np.array_equal(np.asarray(got), expected)
    with pytest.raises(ValueError, match=r"reach outside the array's elements, from 0 to 11"):
        un.lib.stride_tricks.as_strided(un.array(a), (13,), (8,))
    with pytest.raises(ValueError, match="strides must be multiples of 8 bytes"):
        un.lib.stride_tricks.as_strided(un.array(a), (2,), (4,))


WINDOWS = """
v[m] = -1
v[m, :2] = -1
v[[1, 7]] = -1
v[m] *= 2
v[v > 8] = 0
v[w] = P.arange(8.0)
v[2:][~(a[5:] > 3)] = 50
P.copyto(v, -1.0, where=m[:, None])
P.copyto(v, P.arange(4.0), where=m[:, None])
P.add(v, 1.0, out=v, where=m[:, None])
v[1:3] = 5
""".strip().splitlines()


@pytest.mark.parametrize("statement", WINDOWS)
def test_windows_are_written_under_masks(statement):
    results = []
    for P in (np, un):
        a = P.arange(12.0)
        v = P.lib.stride_tricks.as_strided(a, (9, 4), (8, 8))
        m = P.asarray([0, 1, 0, 0, 0, 0, 0, 1, 0], dtype=bool)
        w = P.zeros((9, 4), dtype=bool)
        w[2], w[8] = True, True
        exec(statement, {"P": P, "a": a, "v": v, "m": m, "w": w})
        results.append(a.tolist())
    assert results[0] == results[1]


def test_memmap_reads_and_writes_the_file(tmp_path):
    path = tmp_path / "x.bin"
    x = un.memmap(path, "int32", "w+", shape=(2, 3))
    x[1] = [4, 5, 6]
    x += 1
    assert np.fromfile(path, "int32").tolist() == [1, 1, 1, 5, 6, 7]
    assert un.memmap(path, "int32", "r", 8, (2, 2), "F").tolist() == [[1, 6], [5, 7]]
    copied = un.memmap(path, "int32", "c")
    copied[0] = 100
    assert np.fromfile(path, "int32")[0] == 1 and copied[0] == 100
    with pytest.raises(ValueError, match="read-only"):
        un.memmap(path, "int32", "r")[0] = 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({"mode": "q"}, "mode must be one of 'r', 'r+', 'w+', 'c'; got 'q'"),
        ({"mode": "w+"}, "a new file needs a shape"),
        ({"mode": "r", "shape": 9}, "too short; got 16 bytes, expected at least 72"),
    ],
)
def test_memmap_refuses(tmp_path, options, message):
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(16))
    with pytest.raises(ValueError, match=re.escape(message)):
        un.memmap(path, "float64", **options)


GOOD = [
    ("assert_allclose", [1.0, 2.0], [1.0, 2.0 + 1e-10]),
    ("assert_array_equal", [1, np.nan], [1, np.nan]),
    ("assert_array_less", [1, 2], 3),
    ("assert_almost_equal", 1.0, 1.00000001),
    ("assert_equal", {"a": [1, (2.0, "x")]}, {"a": [1, (2.0, "x")]}),
    ("assert_equal", float, float),
    ("assert_equal", [1.0, 2.0], np.array([1.0, 2.0])),
]
BAD = [
    ("assert_allclose", [1.0, 2.0], [1.0, 2.1]),
    ("assert_allclose", [1.0, np.nan], [1.0, 2.1]),
    ("assert_array_equal", [1, 2], [1, 2, 3]),
    ("assert_array_equal", [1, 2], [1, 3]),
    ("assert_array_less", [1, 3], 3),
    ("assert_almost_equal", 1.0, 1.1),
    ("assert_equal", {"a": 1}, {"b": 1}),
    ("assert_equal", [1, [2]], [1, [3]]),
    ("assert_equal", "a", "b"),
    ("assert_equal", None, 1.0),
    ("assert_equal", float, int),
    ("assert_equal", "a", 1),
    ("assert_equal", [1, 2], np.array([1.0, 3.0])),
]


def test_dtypes_are_compared_as_objects():
    un.testing.assert_equal(un.ones(2).dtype, un.float64)
    un.testing.assert_equal(un.ones(2).dtype, "float64")
    with pytest.raises(AssertionError):
        un.testing.assert_equal(un.float32, un.float64)


@pytest.mark.parametrize("xp", [np, un])
def test_less_holds_where_both_are_nan(xp):
    xp.testing.assert_array_less(xp.asarray([1.0, xp.nan]), xp.asarray([2.0, xp.nan]))
    for x, y in (
        ([1.0, xp.nan], [2.0, 3.0]),
        ([1.0, 3.0], [2.0, xp.nan]),
        ([1.0, 2.0], [2.0, 2.0]),
    ):
        with pytest.raises(AssertionError):
            xp.testing.assert_array_less(xp.asarray(x), xp.asarray(y))


@pytest.mark.parametrize("xp", [np, un])
def test_void_is_the_class_of_records(xp):
    record = np.zeros(1, [("a", "i4")])[0]
    assert isinstance(record, xp.void) and not isinstance(1.0, xp.void)
    assert issubclass(type(record), xp.void) and not issubclass(xp.floating, xp.void)
    assert xp.void(b"abcd") == np.void(b"abcd") and xp.void(3).itemsize == 3
    assert xp.void((3.5, 2), dtype="d,i4")["f0"] == 3.5


@pytest.mark.parametrize("order", [(), ("S",), (">",), ("big",)])
def test_dtypes_are_of_the_machines_order(order):
    assert un.float64.newbyteorder(*order) == np.dtype(">f8")
    assert un.int8.newbyteorder(*order) is un.int8
    assert un.float64.newbyteorder("=") is un.float64.newbyteorder("<") is un.float64


@pytest.mark.parametrize("xp", [np, un])
@pytest.mark.parametrize("name, x, y", GOOD)
def test_assertions_that_hold(xp, name, x, y):
    getattr(xp.testing, name)(x, y)


@pytest.mark.parametrize("xp", [np, un])
@pytest.mark.parametrize("name, x, y", BAD)
def test_assertions_that_fail(xp, name, x, y):
    with pytest.raises(AssertionError):
        getattr(xp.testing, name)(x, y)


@pytest.mark.host_only("names the device")
def test_a_failed_assertion_says_how_far():
    with pytest.raises(AssertionError) as caught:
        un.testing.assert_allclose(un.asarray([1.0, 2.0]), un.asarray([1.0, 2.5]), err_msg="here")
    text = str(caught.value)
    assert "Mismatched elements: 1 / 2 (50%)" in text and "here" in text
    assert "Max absolute difference among violations: 0.5" in text
    assert " ACTUAL: array([1., 2.])" in text


def test_broadcast_object():
    args = [[1], [2]], [3, 4, 5]
    expected, got = np.broadcast(*args), un.broadcast(*args)
    for name in ("shape", "nd", "ndim", "size", "numiter", "index"):
        assert getattr(got, name) == getattr(expected, name)
    assert [tuple(map(int, p)) for p in got] == [tuple(map(int, p)) for p in expected]
    assert got.index == 6
    got.reset()
    assert [int(v) for v in next(got)] == [1, 3]
    with pytest.raises(ValueError, match="broadcast"):
        un.broadcast([1, 2], [1, 2, 3])


@pytest.mark.parametrize("letters", ["d", "f", "fd", "Ff", "Fd", "i", "DF"])
def test_letters_of_dtypes(letters):
    assert un.mintypecode(letters) == np.mintypecode(letters)
    assert un.typename(letters[0]) == np.typename(letters[0])
    assert letters[0] in un.typecodes["All"]


def test_a_file_that_is_none_of_numpys(tmp_path):
    path = tmp_path / "x.npy"
    path.write_bytes(b"garbage" * 10)
    with pytest.raises(
        ValueError,
        match=r"load: .*x\.npy: not a \.npy or \.npz file.*read other files with un\.fromfile",
    ):
        un.load(path)


def test_a_count_that_lies(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(24))
    assert un.fromfile(path, count=10**12).shape == (3,)
