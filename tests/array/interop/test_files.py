"""Files and printing: what we write NumPy reads, and the other way round; texts as NumPy's."""

import io

import numpy as np
import pytest
import unisono as un

X = np.array([[1.5, -2.0, 3.25], [0.0, 1e-9, 12345.678]])


def test_npy_and_npz(tmp_path):
    a = un.array(X)
    un.save(tmp_path / "a", a)
    assert np.load(tmp_path / "a.npy").tolist() == X.tolist()
    np.save(tmp_path / "b.npy", X.T)
    b = un.load(tmp_path / "b.npy")
    assert isinstance(b, un.ndarray) and b.tolist() == X.T.tolist()
    un.savez(tmp_path / "c", a, k=a[0])
    un.savez_compressed(tmp_path / "d.npz", a, k=a[0])
    for name in ("c.npz", "d.npz"):
        with un.load(tmp_path / name) as archive:
            assert sorted(archive) == ["arr_0", "k"] and "k" in archive and len(archive) == 2
            assert archive["k"].tolist() == X[0].tolist() and isinstance(
                archive["arr_0"], un.ndarray
            )
        assert sorted(np.load(tmp_path / name).files) == ["arr_0", "k"]
    mapped = un.load(tmp_path / "a.npy", mmap_mode="r+")
    mapped[0, 0] = 9
    del mapped
    assert np.load(tmp_path / "a.npy")[0, 0] == 9
    with pytest.raises(FileNotFoundError):
        un.load(tmp_path / "nothing.npy")
    (tmp_path / "bad.npy").write_bytes(
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }"
    )
    with pytest.raises((ValueError, EOFError)):
        un.load(tmp_path / "bad.npy")


def test_bytes_and_text(tmp_path):
    X.tofile(tmp_path / "raw")
    assert un.fromfile(tmp_path / "raw").tolist() == X.ravel().tolist()
    assert un.fromfile(tmp_path / "raw", count=2, offset=8).tolist() == [-2, 3.25]
    (tmp_path / "t").write_text("1, 2,3 ,4")
    assert un.fromfile(tmp_path / "t", "int64", sep=",").tolist() == [1, 2, 3, 4]
    for options in (
        {},
        {"fmt": "%.3f", "delimiter": ",", "header": "a\nb", "footer": "end"},
        {"fmt": ["%d", "%g", "%.1e"]},
    ):
        ours, theirs = io.BytesIO(), io.BytesIO()
        un.savetxt(ours, un.array(X), **options)
        np.savetxt(theirs, X, **options)
        assert ours.getvalue() == theirs.getvalue()
    un.savetxt(tmp_path / "x.txt.gz", un.array(X))
    assert un.loadtxt(tmp_path / "x.txt.gz").tolist() == X.tolist()
    got = un.loadtxt(io.StringIO("1 2 # c\n3 4"), dtype="int64", unpack=True)
    assert got.tolist() == [[1, 3], [2, 4]] and str(got.dtype) == "int64"
    assert un.genfromtxt(io.StringIO("1,,3"), delimiter=",", filling_values=7).tolist() == [1, 7, 3]
    assert un.fromregex(io.StringIO("x=1 y=2\nx=3 y=4"), r"x=(\d) y=(\d)", "int64").tolist() == [
        [1, 2],
        [3, 4],
    ]
    with pytest.raises(ValueError, match="Expected 1D or 2D array"):
        un.savetxt(io.BytesIO(), un.zeros((1, 1, 1)))


def test_printing():
    a, big = un.array(X), un.arange(2000)
    assert repr(a) == repr(X) and str(a) == str(X) and repr(big) == repr(np.arange(2000))
    with un.printoptions(precision=2, suppress=True), np.printoptions(precision=2, suppress=True):
        assert str(a) == str(X) and un.get_printoptions()["precision"] == 2
    assert un.get_printoptions()["precision"] == 8
    assert un.array2string(a, separator=", ", precision=3) == np.array2string(
        X, separator=", ", precision=3
    )
    assert un.array_str(a, precision=1) == np.array_str(X, precision=1)
    assert un.array_repr(big[:3]) == "array([0, 1, 2])"
    assert repr(a[0, 0]) == "un.float64(1.5)" and str(a[0, 0]) == "1.5"
    assert str(un.full((), 0.1, "float32")) == "0.1"
    un.set_printoptions(threshold=5)
    try:
        assert "..." in str(un.arange(10))
        assert "..." in str(np.arange(10))  # of libraries, too
    finally:
        un.set_printoptions(threshold=1000)
    with pytest.raises(ValueError, match="floatmode"):
        un.set_printoptions(floatmode="other")


@pytest.mark.parametrize("n", [0, 1, 5, -1, -3, 255])
def test_digits_of_integers(n):
    assert un.binary_repr(n) == np.binary_repr(n)
    assert un.binary_repr(n, 9) == np.binary_repr(n, 9)
    assert un.base_repr(n, 7) == np.base_repr(n, 7) and un.base_repr(n, 16, 2) == np.base_repr(
        n, 16, 2
    )
    with pytest.raises(ValueError):
        un.base_repr(n, 37)


def test_texts_of_floats():
    assert un.format_float_positional(16.0, trim="-") == np.format_float_positional(16.0, trim="-")
    assert un.format_float_scientific(123456.0, precision=2) == np.format_float_scientific(
        123456.0, precision=2
    )
