"""What unisono does not compute is NumPy's own object: text, dates, objects, masked arrays, classes of polynomials."""

import importlib
from fractions import Fraction

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
        [None, None],
        [[None] * 3],
        [[object(), len]],
        [object(), 1],
        [1, None],
        [1, "a"],
        [[1.5, "a"], [2, "b"]],
        [un.float64(1.5), None],
    ],
)
def test_arrays_of_text_dates_and_objects(given):
    for make in (un.asarray, un.array):
        made = make(given)
        assert type(made) is np.ndarray and made.dtype == np.asarray(given).dtype
        assert (made == np.asarray(given)).all()


@pytest.mark.parametrize("given", [object(), [None, [1]], [[], None], None, {}])
def test_objects_are_refused_unless_asked_for(given):
    with pytest.raises((TypeError, ValueError)):
        un.asarray(given)


@pytest.mark.parametrize(
    "given", [[[1, 2], "a"], (np.zeros(3), "face"), [[1], None], [[[1]], [None]]]
)
def test_objects_beside_rows_are_ragged(given):
    for P in (np, un):
        for make in (P.array, P.asarray, P.atleast_1d):
            with pytest.raises(ValueError):
                make(given)


# Programs over `P`, a namespace, that NumPy's own kinds of elements take part in.
programs = """
P.array([1, "a", None], dtype=object)
P.array([[1, 2], [3]], dtype=object)
P.array(["ab", "c"], dtype="S3")
P.array([1.5, 2], dtype=P.longdouble) * 2
P.array(["2020-01-01", "2021-02-03"], dtype="datetime64[D]") + P.timedelta64(3, "D")
P.array(["a", "bb"], dtype=P.dtypes.StringDType())
P.empty(3, dtype=object)
P.zeros(3, "U5")
P.ones((2, 1), dtype=object)
P.full(3, "abc")
P.full((2, 2), None)
P.full(2, P.datetime64("2020-01-01"))
P.arange("2020-01-01", "2020-01-04", dtype="datetime64[D]")
P.arange(3, dtype=object)
P.zeros_like(P.array(["a"]))
P.zeros_like(P.asarray([1, 2]), dtype="U1")
P.full_like(P.asarray([1, 2]), "a", dtype="U1")
P.eye(2, dtype=object)
P.asarray([1.5, 2.5]).astype(str)
P.asarray([1, 2]).astype(object)
P.asarray([1, 2]).astype("M8[D]")
P.asarray([1, 2]).astype(P.bytes_)
P.where(P.asarray([True, False]), "a", "b")
P.where(P.asarray([True, False]), None, P.asarray([1, 2]))
P.unique(["b", "a", "b"], return_counts=True)
P.unique_inverse(P.array(["b", "a", "b"])).inverse_indices
P.sort(["b", "a"])
P.argsort(P.array(["b", "a"]))
P.lexsort((P.array(["b", "a"]), P.asarray([1, 1])))
P.searchsorted(P.array(["a", "c"]), "b")
P.isin(["a", "c"], ["a"])
P.setdiff1d(["a", "b"], ["a"])
P.concatenate([P.array(["a"]), P.array(["bcd"])])
P.stack([P.array(["a"]), P.array(["b"])])
P.append(P.array(["x"]), "y")
P.insert(P.array(["a", "b"]), 1, "c")
P.delete(P.array(["a", "b"]), 0)
P.repeat(P.array(["x", "y"]), P.asarray([2, 1]))
P.tile(P.array(["x", "y"]), 2)
P.roll(P.array(["a", "b"]), 1)
P.take(P.array(["x", "y"]), P.asarray([1, 0, 1]))
P.broadcast_to(P.array(["a", "b"]), (2, 2))
P.meshgrid(P.array(["a", "b"]), P.asarray([1, 2]))[1]
P.select([P.asarray([True, False])], [P.array(["a", "b"])], "z")
P.choose(P.asarray([0, 1]), [P.array(["a", "b"]), P.array(["c", "d"])])
P.diff(P.array(["2020-01-01", "2021-02-03"], dtype="M8[D]"))
P.isnat(P.array(["NaT"], dtype="M8[s]"))
P.nonzero(P.array(["", "a"]))[0]
P.asarray([1, 2, 3]) * P.timedelta64(2, "s")
P.datetime64("2020-01-01") + P.asarray([1, 2, 3])
P.asarray([1, 2]) + P.array([1, 2], dtype=object)
P.array([1, 2], dtype=object) - P.asarray([1, 2])
P.asarray([1, 2]) @ P.array([1, 2], dtype=object)
P.asarray([1, 2]) == P.array(["a", "b"])
P.asarray([1, 2]) != ["a", "b"]
P.add(P.array([1], dtype=object), 1)
P.equal(P.array(["a"]), "a")
P.multiply.reduce(P.array([3, 2], dtype=object))
P.sum(P.array([1, 2], dtype=object))
P.mean(P.array([1, 2], dtype=object))
P.iscomplex("a string")
P.iscomplex(["a", "b"])
P.isreal(P.array([1, 2j], dtype=object))
P.dot(P.array([1, 2], dtype=object), P.asarray([1, 2]))
P.any(P.array([None, 1], dtype=object))
P.cumsum(P.array([1, 2], dtype=object))
P.loadtxt(["a 1", "b 2"], dtype=str)
P.loadtxt(["1 2.5"], dtype=[("a", "i4"), ("b", "f8")])["b"]
P.genfromtxt(["a,1", "b,2"], delimiter=",", dtype=None, encoding=None)["f1"]
P.genfromtxt(["x y", "1 2", "3 4"], names=True)["y"]
P.fromiter(["a", "b"], dtype="U1")
P.frombuffer(b"abcd", dtype="S2")
""".strip().splitlines()


@pytest.mark.parametrize("program", programs)
def test_programs_of_numpys_own_elements(program):
    """Values and dtypes are NumPy's; arrays of numbers are ours."""
    expected = eval(program, {"P": np})
    made = eval(program, {"P": un})
    for one, of_numpy in zip(
        *(v if type(v) is tuple else (v,) for v in (made, expected)), strict=True
    ):
        values = np.asarray(one)
        assert values.dtype == np.asarray(of_numpy).dtype and repr(values) == repr(
            np.asarray(of_numpy)
        )
        numbers = values.dtype.kind in "biufc" and values.dtype.char != "g" and values.ndim > 0
        assert (
            type(one) is un.ndarray or not numbers or "loadtxt" in program or "genfrom" in program
        )


@pytest.mark.parametrize("spec", ["U5", object, str, "M8[ns]", "O", np.dtype("S3"), np.longdouble])
def test_dtypes_of_numpys_own(spec):
    assert un.dtype(spec) == np.dtype(spec) and un.dtype(spec).kind == np.dtype(spec).kind


def test_functions_of_numpys_dtypes():
    assert un.issubdtype(un.array(["a"]).dtype, un.str_) and un.result_type("U3", "U5") == "U5"
    assert un.can_cast("i4", "O") and un.min_scalar_type("ab") == "U2"
    assert not un.issubdtype(un.float64, un.str_)


def test_mistakes_keep_their_messages():
    """A call that NumPy refuses as well, and what is an array of objects by mistake only."""
    x = un.asarray([1.0, 2.0])
    for call, text in [
        (lambda: x + "a", "unsupported operand"),
        (lambda: un.sqrt("a"), "array: an object of type str cannot be converted to an array"),
        (lambda: un.zeros(2, dtype="flot64"), "did you mean 'float64'"),
        (lambda: x.astype("flot64"), "did you mean 'float64'"),
        (lambda: un.sum({1, 2}), "of type set"),
        (lambda: un.sum([1, None]), "got NoneType; with dtype=object NumPy makes"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()


def test_functions_that_are_called_run_once():
    calls = []

    def fails(row):
        calls.append(len(calls))
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        un.apply_along_axis(fails, 0, np.array([["a"]]))
    assert calls == [0]


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


@pytest.mark.parametrize("name", ["nanmin", "nanmax", "min", "max", "sum", "prod"])
@pytest.mark.parametrize("axis", [None, 0])
def test_reductions_of_objects(name, axis):
    halves = np.array([[Fraction(1, 2), Fraction(2)], [Fraction(3, 4), Fraction(0)]], object)
    got, wanted = getattr(un, name)(halves, axis=axis), getattr(np, name)(halves, axis=axis)
    assert type(got) is type(wanted) and np.array_equal(got, wanted)


def test_einsum_of_objects():
    halves = np.array([Fraction(1, 2), Fraction(2)], object)
    assert un.einsum("i->", halves) == Fraction(5, 2)
    assert un.einsum("i,i->", halves, halves, order="k") == Fraction(17, 4)


@pytest.mark.parametrize("of", [np.longdouble, np.dtype(np.clongdouble), np.ones(2, np.longdouble)])
def test_limits_of_extended_precision(of):
    assert un.finfo(of) == np.finfo(of.dtype if isinstance(of, np.ndarray) else of)
    assert un.finfo(np.ones(2)).bits == 64


@pytest.mark.parametrize("name", ["mean", "var", "average", "nanmean"])
def test_means_of_objects_are_objects(name):
    halves = np.array([Fraction(1, 2), Fraction(2)], object)
    got, wanted = getattr(un, name)(halves), getattr(np, name)(halves)
    assert type(got) is type(wanted) is Fraction and got == wanted


def test_means_of_time_differences():
    spans = np.array([3, 5, 9], "m8[D]")
    assert un.mean(spans) == np.mean(spans) and isinstance(un.mean(spans), np.timedelta64)


def test_sequences_of_arrays_of_dates():
    days = np.array(["2020-02-01", "2020-01-01", "2020-01-01"], "M8[D]")
    assert un.lexsort([days, days[::-1]]).tolist() == np.lexsort([days, days[::-1]]).tolist()


def test_products_of_vectors_of_objects():
    a, b = (np.array([Fraction(k, 3) for k in v], object) for v in ((1, 2, 3), (3, 5, 4)))
    assert un.cross(a, b).tolist() == np.cross(a, b).tolist()


@pytest.mark.parametrize(
    "name",
    """char ctypeslib dtypes ma ma.extras polynomial polynomial.legendre rec strings typing lib.format lib.mixins
    lib.recfunctions lib.scimath""".split(),
)
def test_modules_are_imported(name):
    numpys = importlib.import_module("numpy." + name)
    before = numpys.__spec__
    assert importlib.import_module("unisono." + name) is numpys and numpys.__spec__ is before
    assert importlib.import_module("unisono." + name) is numpys


def test_modules_that_are_not_there():
    for name in ("unisono.nothing", "unisono.ma.nothing", "unisono.lib.nothing"):
        with pytest.raises(ModuleNotFoundError, match=name):
            importlib.import_module(name)
    with pytest.raises(AttributeError, match="unisono.lib"):
        un.lib.nothing  # noqa: B018
    assert un.lib.NumpyVersion is np.lib.NumpyVersion
    assert un.lib.stride_tricks.sliding_window_view is not np.lib.stride_tricks.sliding_window_view


def test_classes_of_values():
    names = "bool_ int8 uint16 int64 float16 float64 complex64".split()
    for a in names:
        x = un.zeros(1, dtype=getattr(un, a))
        for b in names:
            assert issubclass(x.dtype.type, getattr(un, b)) is (a == b)
            assert issubclass(getattr(np, a), getattr(un, b)) is (a == b)
    assert issubclass(type(un.ones(1)[0]), un.float64) and not issubclass(str, un.float64)
    with pytest.raises(TypeError):
        issubclass(1.0, un.float64)


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize(
    "value",
    [
        np.array([1, 2.5, 3], object),
        np.array(["1", "0", "3"]),
        ["1", "0", "3"],
        [1, None, 3],
        None,
        "1",
        b"0",
        np.str_("4"),
        np.array([1, 2], object),
        object(),
        "a",
        [1, "a", 2],
    ],
    ids=lambda v: type(v).__name__ if type(v) is object else repr(v),
)
def test_assignments_of_numpys_elements(value, dtype):
    given = []
    for P in (np, un):
        a = P.zeros(3, dtype=dtype)
        try:
            a[:] = value
            b = a.copy()
            b[1:2] = value if isinstance(value, (str, bytes)) else 1
            given.append((np.asarray(a).tolist(), np.asarray(b).tolist()))
        except Exception:
            given.append("refused")
    assert str(given[0]) == str(given[1])


@pytest.mark.parametrize(
    "dtype", ["U2", object, "M8[s]", ">f8", (int, 2), [("a", "i4"), ("b", "f8")]], ids=str
)
@pytest.mark.parametrize("count", [-1, 2])
def test_iterators_are_read_once(dtype, count):
    item = (lambda k: (k, 2 * k)) if isinstance(dtype, (tuple, list)) else lambda k: k
    made = (m.fromiter((item(k) for k in range(4)), dtype, count) for m in (un, np))
    ours, theirs = map(np.asarray, made)
    assert ours.shape == theirs.shape
    assert ours.tolist() == theirs.tolist()


def test_misspelt_dtypes_of_iterators_say_what_was_meant():
    with pytest.raises(TypeError, match="did you mean 'float64'"):
        un.fromiter(range(3), "flot64")


def test_functions_of_grids_of_objects():
    made = un.fromfunction(lambda k: k * (1 << 70), (3,), dtype=object)
    assert made.dtype == object
    assert made.tolist() == [0, 1 << 70, 1 << 71]


@pytest.mark.parametrize("function", [str, lambda k: b"x" * int(k), lambda k: (k, str(k))])
def test_vectorized_functions_that_give_text(function):
    def parts(m):
        made = m.vectorize(function)(m.arange(8, 12))
        made = made if isinstance(made, tuple) else (made,)
        return [(np.asarray(p).dtype.str, p.tolist()) for p in made]

    assert parts(un) == parts(np)


@pytest.mark.parametrize(
    "given",
    [1 << 70, [1 << 64], [1, -(1 << 64)], [[1 << 70, 1], [1, 2]], [1 << 70, 1.5]],
    ids=str,
)
def test_integers_beyond_64_bits_are_objects(given):
    for make in ("array", "asarray", "ascontiguousarray"):
        ours, theirs = (getattr(m, make)(given) for m in (un, np))
        assert np.asarray(ours).dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()
    assert un.sum(given) == np.sum(given)
    with pytest.raises(OverflowError):
        un.asarray(given, dtype="int64")
