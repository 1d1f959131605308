"""What unisono does not compute is NumPy's own object: text, dates, objects, masked arrays, classes of polynomials."""

import numpy as np
import pytest
import unisono as un
from unisono._lazy import numpys


@pytest.mark.parametrize("name", sorted(numpys))
def test_names_are_numpys(name):
    assert getattr(un, name) is getattr(np, name)


@pytest.mark.parametrize(
    "given",
    [
        ["a", "bc"],
        [["a"], ["b"]],
        [b"ab"],
        np.array(["x"]),
        np.array(["2020-01-01"], "M8[D]"),
        np.array([3], "m8[s]"),
        [np.datetime64("2020-01-01")],
        np.array([{}, None], object),
    ],
)
def test_arrays_of_text_dates_and_objects(given):
    for make in (un.asarray, un.array):
        made = make(given)
        assert type(made) is np.ndarray and made.dtype == np.asarray(given).dtype
        assert (made == np.asarray(given)).all()


@pytest.mark.parametrize("given", [object(), [object()], [None], None, {}])
def test_objects_are_refused_unless_asked_for(given):
    with pytest.raises(TypeError):
        un.asarray(given)


def test_functions_with_text_give_numpys_arrays():
    x = un.asarray([1.0, 2.0])
    made = np.where(x > 1, "x", "y")
    assert made.tolist() == ["y", "x"] and type(made) is np.ndarray
    assert np.concatenate([np.array(["a"]), np.array(["b"])]).tolist() == ["a", "b"]
    assert un.ma.masked_array(x, mask=[True, False]).sum() == 2
    assert un.polynomial.Polynomial(x)(2.0) == 5
    assert [float(v) for v in un.nditer(x)] == [1, 2]


def test_functions_of_numpys_sub_modules():
    x = un.arange(5.0)
    got = np.lib.stride_tricks.sliding_window_view(x, 3)
    assert type(got) is un.ndarray and got.shape == (3, 3)


def test_pictures_take_our_arrays():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    x, y = un.arange(3), un.asarray([1.0, 3.0, 2.0])
    bars = axes.bar(x, [1, 2, 3])
    assert [b.get_height() for b in bars] == [1, 2, 3]
    axes.bar(x, y, yerr=y / 10)
    axes.errorbar(x, y, yerr=y)
    axes.hist(y)
    axes.fill_between(x, y)
    axes.imshow(un.ones((3, 3)))
    line = axes.plot(x, y)[0]
    assert line.get_ydata().tolist() == [1, 3, 2]
    plt.close(figure)
