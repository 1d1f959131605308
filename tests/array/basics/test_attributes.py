"""Attributes, methods and options that old NumPy programs use: one body for both."""

import ctypes
import operator

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


@pytest.fixture(params=[np, un], ids=["numpy", "unisono"])
def xp(request):
    return request.param


def test_a_value_repeats_lists(xp):
    n = xp.asarray([2, 3]).max()
    assert [0] * n == n * [0] == [0, 0, 0]
    assert (1, 2) * n == (1, 2) * 3
    assert "ab" * n == "ababab"
    with pytest.raises(TypeError):
        operator.mul([1], xp.float64(3))
    made = [1] * xp.asarray([2, 3])
    assert made.tolist() == [2, 3]
    made = [1]
    made *= n
    assert made == [1, 1, 1]


def test_halves_are_converted_at_any_address(xp):
    x = xp.arange(60, dtype="float16").reshape(6, 5, 2)
    for n in range(1, 7):
        y = x[:n].T.reshape(10, n).astype("float32")
        assert y.sum() == sum(range(10 * n))
    out = xp.zeros(32, dtype="float32")
    for k in range(1, 9):
        out[k : k + 20] = x.reshape(-1)[k : k + 20]
        assert out[k : k + 20].tolist() == list(range(k, k + 20))
        half = xp.zeros(32, dtype="float16")
        half[k : k + 20] = out[k : k + 20]
        assert half[k : k + 20].tolist() == list(range(k, k + 20))


@pytest.mark.host_only("shares memory with the host")
def test_a_copy_that_is_forbidden_is_refused(xp):
    a = xp.arange(3)
    for x, options in (
        (5, {}),
        ([5], {}),
        (a, {"dtype": "float32"}),
        (xp.ones((3, 2)), {"order": "F"}),
        (a[1], {}),
        (a.sum(), {}),
    ):
        with pytest.raises(ValueError, match="copy"):
            xp.array(x, copy=False, **options)
        with pytest.raises(ValueError, match="copy"):
            xp.asarray(x, copy=False, **options)
    for made in (xp.array(a, copy=False), xp.asarray(a, dtype="int64", copy=False)):
        made[0] = 7
        assert a[0] == 7
        made[0] = 0
    foreign = np.arange(4)
    xp.asarray(foreign, copy=False)[1] = 9
    assert foreign[1] == 9


def test_resize_in_place(xp):
    a = xp.arange(6)
    a.resize(8, refcheck=False)
    assert a.tolist() == [0, 1, 2, 3, 4, 5, 0, 0]
    a.resize((2, 2), refcheck=False)
    assert a.tolist() == [[0, 1], [2, 3]]
    a.resize(1, 3, refcheck=False)
    assert a.tolist() == [[0, 1, 2]]
    a.resize(None)
    a.resize()
    assert a.shape == (1, 3)
    with pytest.raises(ValueError, match="negative"):
        a.resize(-1)
    with pytest.raises(TypeError):
        a.resize("x")


def test_byteswap(xp):
    for dtype in ("int8", "uint16", "int32", "float64", "complex64"):
        a = xp.asarray([[1, 2], [3, 4]]).astype(dtype)
        expected = np.asarray(a.tolist(), dtype).byteswap().tobytes()
        assert a.byteswap().tobytes() == expected
        assert a.T.byteswap().shape == (2, 2)
        assert a.byteswap(inplace=True) is a
        assert a.tobytes() == expected


@pytest.mark.host_only("shares memory with the host")
def test_addresses_for_ctypes(xp):
    a = xp.arange(6.0).reshape(2, 3)
    a += 1
    pointer = a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    assert [pointer[k] for k in range(6)] == [1, 2, 3, 4, 5, 6]
    pointer[1] = 20
    assert a[0, 1] == 20
    a[0, 2] = 30
    assert pointer[2] == 30
    assert list(a.T.ctypes.shape) == [3, 2] and list(a.T.ctypes.strides) == [8, 24]
    assert a[1:].ctypes.data == a.ctypes.data + 24
    address = a.ctypes
    ctypes.memset(address, 0, 8)
    assert a[0, 0] == 0


def test_flags_of_fortran_order(xp):
    a = xp.ones((3, 2))
    assert (a.flags.fortran, a.flags.carray, a.flags.farray, a.flags.behaved) == (
        False,
        True,
        False,
        True,
    )
    assert (a.T.flags.fortran, a.T.flags.carray, a.T.flags.farray) == (True, False, True)
    assert xp.arange(3).flags.fortran and not xp.arange(3).flags.farray


def test_formats_of_arrays(xp):
    with pytest.raises(TypeError):
        format(xp.ones(1), ".2f")
    assert f"{xp.ones(2)}" == "[1. 1.]"
    assert f"{xp.ones(1)[0]:.2f}" == "1.00"


def test_item_of_several_elements_is_a_value_error(xp):
    with pytest.raises(ValueError, match="size 1"):
        xp.ones(2).item()
    with pytest.raises(TypeError):
        float(xp.ones(2))


def test_lists_of_other_things_are_no_index(xp):
    for key in ([slice(None)], [1, None], ["a"]):
        with pytest.raises(IndexError, match="only integers"):
            xp.arange(3)[key]


def test_too_many_elements_are_a_value_error(xp):
    with pytest.raises(ValueError):
        xp.zeros((2**40, 2**40))
    with pytest.raises(ValueError):
        xp.ones(4).reshape((2**40, 2**40))


def test_choose(xp):
    which = xp.asarray([0, 1, 2])
    assert which.choose([1, 2, 3], [4, 5, 6], [7, 8, 9]).tolist() == [1, 5, 9]
    assert which.choose([[1, 2, 3], [4, 5, 6], [7, 8, 9]]).tolist() == [1, 5, 9]
    assert which.choose(1, 2, 3, mode="clip").tolist() == [1, 2, 3]
    small = xp.asarray([1, 2, 3], dtype="uint8")
    assert xp.choose([0, 1, 1], (1, small)).dtype == "uint8"
    assert xp.choose([0, 1, 1], (1.5, xp.ones(3, dtype="float32"))).dtype == "float32"


def test_conj_into_an_array(xp):
    a, out = xp.asarray([1 + 2j, 2]), xp.zeros(2, dtype="complex128")
    assert a.conj(out) is out and out[0] == 1 - 2j
    assert a.conjugate(out) is out


def test_closeness_takes_the_dtype_of_the_array(xp):
    third = xp.asarray([1 / 3], dtype="float32")
    assert xp.isclose(third, 1 / 3, rtol=0, atol=0).tolist() == [True]
    assert bool(xp.isclose(xp.float32(1), 1 - 2e-16, rtol=0, atol=0))
    assert not xp.isclose(1.0, 1 - 1e-15, rtol=0, atol=0)
    assert xp.isclose([1, 2], 1).tolist() == [True, False]
    assert xp.isclose(float("nan"), xp.asarray([float("nan")]), equal_nan=True).tolist() == [True]
    assert bool(xp.isclose(1, 1)) and xp.allclose(2, 2.0)


def test_reductions_of_nothing_start_where_they_are_told(xp):
    assert xp.minimum.reduce([], initial=xp.inf) == xp.inf
    assert xp.maximum.reduce(xp.zeros((0, 2)), initial=-3).tolist() == [-3, -3]
    assert xp.minimum.reduce([5, 3], initial=4) == 3
    assert xp.add.reduce([], initial=5.0) == 5
    assert xp.subtract.reduce(xp.zeros((0, 2)), initial=7.0).tolist() == [7, 7]
    with pytest.raises(ValueError, match="identity"):
        xp.minimum.reduce([])
    with pytest.raises(TypeError):
        xp.add.reduce(xp.ones((2, 2)), "rows")


def test_reductions_check_the_shape_of_their_target(xp):
    x = xp.arange(12.0).reshape(4, 3)
    for shape, keepdims in (((1, 3), False), ((4, 3), False), ((3,), True), ((4, 3), True)):
        with pytest.raises(ValueError):
            xp.add.reduce(x, axis=0, keepdims=keepdims, out=xp.empty(shape))
        with pytest.raises(ValueError):
            xp.minimum.reduce(x, axis=0, keepdims=keepdims, out=xp.empty(shape))
    out = xp.empty((1, 3))
    assert xp.add.reduce(x, axis=0, keepdims=True, out=out) is out


def test_options_of_universal_functions(xp):
    out = xp.zeros(2, dtype="int64")
    assert xp.add([1, 2], [3, 4], out=out, where=[1, 0]).tolist() == [4, 0]
    assert xp.minimum.reduce([5, 3], initial=4, where=[True, 0]) == 4
    with pytest.raises(TypeError, match="[Cc]annot cast"):
        xp.add([1, 2], [3, 4], out=out, where=xp.asarray([1, 0]))
    assert xp.add([1], 2, out=...).tolist() == [3]
    for options in ({}, {"casting": "safe"}):
        with pytest.raises(TypeError, match="[Cc]annot cast"):
            xp.add(3.0, 4.0, dtype=int, **options)
    assert xp.add(3.0, 4.0, dtype=int, casting="unsafe") == 7
    assert xp.add(3, 4, dtype="float32").dtype == "float32"
    with pytest.raises(TypeError, match="loop"):
        xp.sin([3.0], dtype=int)
    with pytest.raises(TypeError, match="loop"):
        xp.true_divide([3.0], 4.0, dtype=int)


def test_products_write_into_arrays(xp):
    a, out = xp.arange(9.0).reshape(3, 3), xp.zeros(3)
    assert xp.matvec(a, xp.ones(3), out=out) is out and out.tolist() == [3, 12, 21]
    assert xp.vecmat(xp.ones(3), a, out=out) is out and out.tolist() == [9, 12, 15]
    assert xp.vecdot(a, a, out=out) is out and out.tolist() == [5, 50, 149]
    made = xp.zeros((3, 3))
    assert xp.matmul(a, a, out=(made,)) is made and made[0].tolist() == [15, 18, 21]


def test_archives_name_their_arrays(xp, tmp_path):
    path = str(tmp_path / "a.npz")
    xp.savez(path, one=xp.ones(2), two=xp.zeros(1))
    with xp.load(path) as archive:
        assert archive.f.one.tolist() == [1, 1] and sorted(dir(archive.f)) == ["one", "two"]
        assert repr(archive) == f"NpzFile {path!r} with keys: one, two"
        with pytest.raises(AttributeError):
            operator.attrgetter("three")(archive.f)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_of_flat_are_of_its_elements(name):
    compare = getattr(operator, name)
    for xp in (np, un):
        x = xp.arange(6).reshape(2, 3)
        results = [
            compare(x.flat, 2),
            compare(3, x.flat),
            compare(x.T.flat, xp.asarray([1] * 6)),
            compare(x.flat, x.T.flat),
        ]
        if xp is np:
            expected = [r.tolist() for r in results]
    assert [r.tolist() for r in results] == expected
    assert x[:, ::2].flat.index == 0 and [int(v) for v in x.T.flat] == [0, 3, 1, 4, 2, 5]
    with pytest.raises(TypeError, match="unhashable"):
        hash(x.flat)


@pytest.mark.parametrize("name", ["bool", "int64", "float32", "float64", "complex64", "complex128"])
def test_numbers_have_the_interface_of_arrays(name):
    value = un.ones(3, name)[1]
    assert (
        value.__array_interface__["typestr"] == np.ones(3, name)[1].__array_interface__["typestr"]
    )


def test_numbers_of_flags():
    for make in (
        lambda xp: xp.ones((2, 3)),
        lambda xp: xp.ones(3),
        lambda xp: xp.ones((2, 3)).T,
        lambda xp: xp.ones(4)[::2],
        lambda xp: xp.zeros((0, 3)),
    ):
        assert make(un).flags.num == make(np).flags.num
