"""Protocols between our arrays and NumPy, Python and the array API standard."""

import pickle

import numpy as np
import pytest
import unisono as un


def test_numpys_functions_on_our_arrays_are_ours():
    a = un.arange(12.0).reshape(3, 4)
    x = np.arange(12.0).reshape(3, 4)
    for call in (
        lambda v: np.sum(v, axis=1),
        lambda v: np.clip(v, 2, 5),
        lambda v: np.flip(v, 0),
        lambda v: np.moveaxis(v, 0, 1),
        lambda v: np.expand_dims(v, 0),
        lambda v: np.zeros_like(v),
        lambda v: np.tril(v),
        lambda v: np.where(v > 3, v, 0),
        lambda v: np.split(v, 2, axis=1)[1],
        lambda v: np.diff(v),
        lambda v: np.maximum.accumulate(v),
        lambda v: np.round(np.sqrt(v * v)),
    ):
        got, expected = call(a), call(x)
        assert isinstance(got, un.ndarray)
        np.testing.assert_array_equal(np.asarray(got), expected)
    assert np.shape(a) == (3, 4) and np.ndim(a) == 2 and np.array_equal(a, x) is True


def test_numpys_functions_that_are_missing_give_ours(monkeypatch):
    a = un.arange(3.0)
    monkeypatch.setattr(un, "flip", None, raising=False)
    made = np.flip(a)
    assert type(made) is un.ndarray and made.tolist() == [2, 1, 0]
    made[0] = 7  # a view of the same memory
    assert a.tolist() == [0, 1, 7]


def test_array_interface_is_zero_copy_and_never_stale():
    a = un.arange(6.0).reshape(2, 3)

    class Only:
        __array_interface__ = a.T.__array_interface__

    x = np.asarray(Only())
    assert x.shape == (3, 2) and x.dtype == "float64" and x[2, 1] == 5
    a += 1
    assert x[2, 1] == 6
    x[0, 0] = 9
    assert a[0, 0] == 9
    interface = a.__array_interface__
    assert (
        interface["version"] == 3 and interface["typestr"] == "<f8" and interface["strides"] is None
    )
    assert un.ones(2, "bool").__array_interface__["typestr"] == "|b1"


def test_array_namespace():
    a = un.zeros(3)
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert a.__array_namespace__(api_version=version) is un.array_api
    with pytest.raises(ValueError, match="unknown version of the array API; got '2020.01'"):
        a.__array_namespace__(api_version="2020.01")
    info = un.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    a[un.asarray([True, False, True])] = 1
    assert un.nonzero(a)[0].tolist() == [0, 2]
    assert un.zeros((1,) * 64).ndim == 64
    with pytest.raises(ValueError, match="64"):
        un.zeros((1,) * 65)
    assert info.default_device() == un.zeros(1).device and info.default_device() in info.devices()
    assert isinstance(info.devices(), tuple)  # as the standard says
    assert info.devices() + [None] == [*info.devices(), None]  # older versions had a list
    for name, dtype in info.dtypes(kind="real floating").items():
        assert un.ones(1, dtype).dtype == name
    assert info.default_dtypes()["integral"] == un.asarray(1).dtype
    assert un.arange(3).dtype == info.default_dtypes()["indexing"]
    with pytest.raises(ValueError, match="unsupported kind"):
        info.dtypes(kind="text")


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
def test_methods_and_attributes(xp):
    a = xp.arange(6.0).reshape(2, 3)
    assert a.clip(1, 3).tolist() == [[1, 1, 2], [3, 3, 3]] and a.clip(max=2).max() == 2
    assert a.mT.shape == (3, 2) and a.real.tolist() == a.tolist() and a.imag.sum() == 0
    assert a.squeeze().shape == (2, 3) and a.swapaxes(0, 1).shape == (3, 2)
    assert a.conj().tolist() == a.tolist()
    assert (
        a.flags.c_contiguous and not a.T.flags.c_contiguous and a.T.flags["F"] and a.flags.writeable
    )
    assert not xp.broadcast_to(a, (2, 2, 3)).flags.writeable
    assert [float(v) for v in a.flat] == [0, 1, 2, 3, 4, 5] and len(a.flat) == 6
    a.flat[4] = 9
    a.T.flat[1] = 8
    a.flat[[0, 2]] = 7
    assert a.tolist() == [[7, 1, 7], [8, 9, 5]] and a.flat[1:3].tolist() == [1, 7]
    a.flat = 2
    a.real = 3
    assert a.tolist() == [[3] * 3] * 2
    q, r = divmod(a, 2)
    assert q.tolist() == [[1] * 3] * 2 and r.tolist() == [[1] * 3] * 2
    assert divmod(7, xp.asarray([2, 4]))[1].tolist() == [1, 3]
    assert a.view("int64").shape == (2, 3) and memoryview(a.data).shape == (2, 3)
    a.view()[0, 0] = 5
    assert a[0, 0] == 5
    assert pickle.loads(a.dumps()).tolist() == a.tolist()
    with pytest.raises((TypeError, ValueError), match="imag|axes|matrix"):
        a[0].mT  # noqa: B018
    with pytest.raises(TypeError, match="imag"):
        a.imag = 1


def test_files_of_elements(tmp_path):
    a = un.arange(6.0).reshape(2, 3)
    a.T.tofile(tmp_path / "raw")
    assert np.fromfile(tmp_path / "raw").tolist() == [0, 3, 1, 4, 2, 5]
    a.tofile(tmp_path / "text", sep=", ", format="%.1f")
    assert (tmp_path / "text").read_text() == "0.0, 1.0, 2.0, 3.0, 4.0, 5.0"
    a.dump(tmp_path / "pickle")
    assert pickle.loads((tmp_path / "pickle").read_bytes()).tolist() == a.tolist()


def test_from_dlpack_takes_a_device_and_copy():
    a = un.arange(3.0)
    shared, copied = un.from_dlpack(a), un.from_dlpack(a, copy=True)
    a[0] = 7
    assert shared[0] == 7 and copied[0] == 0
    assert un.from_dlpack(np.arange(3), device="cpu").tolist() == [0, 1, 2]
    assert un.from_dlpack(a, device=un.devices()[0], copy=False)[0] == 7
    for device in un.devices()[1:]:
        if device.has_float64:
            assert un.from_dlpack(a, device=device).device == device
            with pytest.raises(ValueError, match="cannot be seen on .* without a copy"):
                un.from_dlpack(a, device=device, copy=False)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex64"])
def test_numpy_scalars_are_strong(dtype):
    """A float64 of NumPy's is no Python float: it widens, on either side."""
    host, scalar = np.ones(3).astype(dtype), np.float64(1.5)
    x = un.array(host)
    for f in (
        lambda a: a * scalar,
        lambda a: scalar * a,
        lambda a: a[0] * scalar,
        lambda a: scalar + a[0],
    ):
        expected, made = f(host), f(x)
        assert made.dtype == expected.dtype
        assert np.array_equal(made, expected)


class Length:
    """A quantity over any array, which knows NumPy's functions."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return Length(getattr(ufunc, method)(*map(self.of, inputs), **options))

    def __array_function__(self, function, types, args, options):
        return Length(function(*map(self.of, args), **options))

    @classmethod
    def of(cls, x):
        if isinstance(x, (list, tuple)):
            return type(x)(map(cls.of, x))
        return x.value if isinstance(x, Length) else x


@pytest.mark.parametrize(
    "call",
    [
        lambda x: un.flip(x),
        lambda x: un.sum(x),
        lambda x: un.median(x, axis=0),
        lambda x: un.trapezoid(x),
        lambda x: un.linalg.norm(x),
        lambda x: un.concatenate([x, x]),
        lambda x: un.stack((x, x)),
        lambda x: un.dot([1.0, 2.0, 3.0], x),
        lambda x: un.clip(x, 1, 2),
        lambda x: un.sqrt(x),
        lambda x: un.where([True, False, True], x, 0),
        lambda x: un.where(un.asarray([True, False, True]), x, x),
    ],
)
def test_classes_with_numpys_functions_compute_them(call):
    made, expected = call(Length(un.asarray([1.0, 4.0, 2.0]))), call(Length(np.array([1.0, 4, 2])))
    assert type(made) is type(expected) is Length
    np.testing.assert_allclose(np.asarray(made), np.asarray(expected))
    assert type(un.asarray(made)) is un.ndarray


def test_assertions_of_numpys_take_classes_whose_arrays_are_ours():
    class Parameter:
        def __array__(self, dtype=None, copy=None):
            return un.array(1.5)

    np.testing.assert_allclose(Parameter(), 1.5)
    np.testing.assert_array_equal([1.5, 1.5], desired=Parameter())
    with pytest.raises(AssertionError):
        np.testing.assert_array_less(Parameter(), 1.5)


def test_assertions_of_numpys_take_arrays_without_axes():
    np.testing.assert_equal(un.asarray(6.0), 6.0)
    np.testing.assert_equal(6.0, un.asarray(6.0)[()])
    with pytest.raises(AssertionError):
        np.testing.assert_equal(un.asarray(6.0), 7.0)


def test_derivatives_of_dates_and_counts_of_averages_are_as_numpys():
    days = np.array(["2024-01-01", "2024-01-05", "2024-02-01"], dtype="datetime64[D]")
    made, expected = un.gradient(days), np.gradient(days)
    assert made.dtype == expected.dtype and made.tolist() == expected.tolist()
    x = un.asarray([1.0, 2.0, 6.0])
    for made, a in ((un.average(x, returned=True), [1.0, 2, 6]),):
        expected = np.average(a, returned=True)
        assert made == expected and isinstance(made[1], float)
    made = un.average(x, weights=[1.0, 1, 2], returned=True)
    assert made == np.average([1.0, 2, 6], weights=[1.0, 1, 2], returned=True)
    assert isinstance(made[1], float)


def test_assertions_of_numpys_take_arrays_of_records():
    fields = [("a", "f8"), ("b", "i4")]
    np.testing.assert_array_equal(un.zeros(3, dtype=fields), np.zeros(3, dtype=fields))
    np.testing.assert_equal(un.zeros(3, dtype=fields)["a"], np.zeros(3))


def test_numpys_functions_ask_other_classes_beside_our_arrays():
    x = un.asarray([1.0, 2.0, 3.0])
    made = np.where(x > 1, Length(x), Length(x))
    assert type(made) is Length and type(np.concatenate([x, Length(x)])) is Length


def test_isinstance_of_arrays():
    class Like:
        __class__ = un.ndarray

    class Registered:
        pass

    class Named(un.ndarray):
        pass

    x = un.ones(3)
    un.ndarray.register(Registered)
    arrays = (x, x[:1], x.view(Named), np.ones(3), np.ma.ones(3), Like(), Registered())
    assert all(isinstance(a, un.ndarray) for a in arrays)
    others = (x[0], un.float32(1), un.True_, 1, 2.5, [x], None, np.float64(1), un.float64, Named)
    assert not any(isinstance(a, un.ndarray) for a in others)
    assert isinstance(x.view(Named), Named) and not isinstance(x, Named)
    assert not isinstance(np.ones(3), Named) and not isinstance(1, Named)


def test_tensors_of_classes_with_functions_of_their_own_are_shared():
    class Theirs:  # as CuPy's arrays
        def __init__(self, values):
            self.values = values

        def __array_function__(self, function, types, args, options):
            raise AssertionError("NumPy's function was called")

        def __array_ufunc__(self, function, method, *args, **options):
            raise AssertionError("NumPy's function was called")

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    a = np.arange(6.0).reshape(2, 3)
    b = un.from_dlpack(Theirs(a.T))
    a[1, 2] = 50
    assert type(b) is un.ndarray and b.tolist() == a.T.tolist()
