"""Small rules of NumPy that its own tests ask for: the same results, warnings and classes of exceptions."""

import sys
import typing
import warnings

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


class Copies:
    """An object whose ``__array__`` can copy only."""

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("must copy")
        return np.arange(3)


class Old:
    """An object whose ``__array__`` takes no ``copy``."""

    def __array__(self):
        return np.arange(3)


FAILURES = {
    "arange of step 0": lambda xp: xp.arange(0, 10, 0),
    "insert at floats": lambda xp: xp.insert([0, 1, 2], xp.asarray([1.0, 2.0]), [10, 20]),
    "insert at a float": lambda xp: xp.insert([0, 1, 2], 1.0, 5),
    "delete at floats": lambda xp: xp.delete([0, 1, 2], xp.asarray([1.0])),
    "delete at no floats": lambda xp: xp.delete([0, 1, 2], xp.asarray([])),
    "insert at no floats": lambda xp: xp.insert([0, 1, 2], xp.asarray([]), []),
    "sort kind": lambda xp: xp.sort([2, 1], kind=1),
    "select kind": lambda xp: xp.partition([2, 1], 1, kind=1),
    "putmask by keyword": lambda xp: xp.putmask(a=xp.zeros(2), mask=[1, 0], values=[1]),
    "delete real": lambda xp: delattr(xp.zeros(2), "real"),
    "delete imag": lambda xp: delattr(xp.zeros(2), "imag"),
    "delete a flag": lambda xp: delattr(xp.zeros(2).flags, "owndata"),
    "set a flag": lambda xp: setattr(xp.zeros(2).flags, "owndata", False),
    "set a place": lambda xp: setattr(xp.zeros(2).flat, "index", 1),
    "a new axis of flat": lambda xp: xp.zeros((2, 2)).flat[None],
    "an array that must copy": lambda xp: xp.array(Copies(), copy=False),
    "an array that may copy": lambda xp: xp.array(Old(), copy=False),
    "signature of two arrows": lambda xp: xp.add(1, 2, signature="ii->ii->i"),
    "signature of nothing": lambda xp: xp.add(1, 2, signature=""),
    "signature of one dtype": lambda xp: xp.add(1, 2, signature=("d",)),
    "signature of a number": lambda xp: xp.add(1, 2, signature=1.0),
    "signature of bytes": lambda xp: xp.add(1, 2, signature=b"ii-i"),
    "signature of two entries": lambda xp: xp.add(1, 2, signature=(None, "f8")),
    "two signatures": lambda xp: xp.add(1, 2, sig="ii->i", signature="ii->i"),
    "signature of one letter": lambda xp: xp.negative(2, sig="d"),
    "dtypes of no reduction": lambda xp: xp.negative.resolve_dtypes(
        (None, xp.dtype("i2")), reduction=True
    ),
    "where of one value": lambda xp: xp.where([1, 0], [2, 3]),
    "where of three values": lambda xp: xp.where([1, 0], 1, 2, 3),
    "dtypes of too few": lambda xp: xp.add.resolve_dtypes((xp.dtype("i2"),)),
}


@pytest.mark.parametrize("case", FAILURES)
def test_errors_are_of_numpys_classes(case):
    with pytest.raises(Exception) as expected:
        FAILURES[case](np)
    with pytest.raises(Exception) as got:
        FAILURES[case](un)
    builtin = next(c for c in type(expected.value).__mro__ if c.__module__ == "builtins")
    assert isinstance(got.value, builtin)


def test_integers_that_no_dtype_holds():
    assert un.min_scalar_type(2**64) == np.min_scalar_type(2**64) == np.dtype(object)


def same_zero(got, expected):
    assert np.array_equal(np.signbit(np.asarray(got)), np.signbit(expected))


def test_sums_start_with_minus_zero():
    for xp in (un, np):
        a = xp.asarray([-0.0, -0.0])
        same_zero(xp.sum(a, initial=-0.0), np.float64(-0.0))
        same_zero(xp.sum(xp.asarray([]), initial=-0.0), np.float64(-0.0))
        same_zero(xp.sum(a, initial=-0.0, where=[True, False]), np.float64(-0.0))
        same_zero(xp.add.reduce(a, initial=-0.0, where=[True, False]), np.float64(-0.0))
        same_zero(xp.add.reduce(xp.zeros((2, 0)), axis=1, initial=-0.0), np.array([-0.0, -0.0]))
        same_zero(xp.sum(xp.asarray([1.0]), where=[False]), np.float64(0.0))
    assert un.sum(un.zeros((2, 0), "int8"), axis=1, initial=3).dtype == "int64"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_reciprocals_have_numpys_bits(dtype):
    ends = [-np.inf, -2.5, -0.0, 0.0, 1.5, np.inf, np.nan]
    z = np.array([complex(x, y) for x in ends for y in ends], dtype)
    z = np.concatenate(
        [z, np.random.default_rng(4).standard_normal(2000).view("c16").astype(dtype)]
    )
    with np.errstate(all="ignore"):
        expected, got = np.reciprocal(z), np.asarray(un.reciprocal(un.asarray(z)))
    for part in ("real", "imag"):
        wanted, ours = getattr(expected, part), getattr(got, part)
        assert np.array_equal(ours, wanted, equal_nan=True)
        number = ~np.isnan(wanted)
        assert np.array_equal(np.signbit(ours)[number], np.signbit(wanted)[number])


def test_dtypes_are_no_lists():
    with pytest.raises(TypeError, match="not iterable"):
        iter(un.float64)
    assert not np.iterable(un.dtype("int32"))


def test_complex_elements_stored_as_real_ones_warn():
    for xp in (un, np):
        kind = xp.exceptions.ComplexWarning
        x, y = xp.zeros(3), xp.asarray([1j, 2, 3])
        for store in (
            lambda x=x, y=y: x.__setitem__(slice(None), y),
            lambda x=x, y=y: x.__setitem__([0, 1, 2], y),
            lambda x=x, y=y: x.__setitem__(0, y[1]),
        ):
            with pytest.warns(kind, match="discards the imaginary part"):
                store()
        assert x.tolist() == [2, 2, 3]
        xp.zeros(3, complex)[:] = y
        xp.zeros(3, bool)[:] = y
        with pytest.warns(kind, match="discards the imaginary part"):
            xp.concatenate((y, y), dtype="int32", casting="unsafe")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert xp.concatenate((y, x), dtype=bool, casting="unsafe").all()


def test_flags_and_sizes():
    x = un.zeros((20, 30))
    assert x.flags.owndata and not x[1:].flags.owndata and not x.T.flags.owndata
    assert not x[1:].flags["O"] and x.flags == un.zeros((20, 30)).flags
    assert sys.getsizeof(x) >= x.nbytes > sys.getsizeof(x[1:])
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1


def test_dtypes_of_reductions():
    for xp in (un, np):
        for name in ("bool", "int16", "uint8", "float32"):
            made = xp.add.resolve_dtypes((None, xp.dtype(name), None), reduction=True)
            expected = np.add.reduce(np.ones(1, name)).dtype
            assert [str(d) for d in made] == [str(expected)] * 3


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint8", "float32", "complex64"])
def test_classes_of_elements_are_of_kinds(dtype):
    x, y = un.zeros(2, dtype), np.zeros(2, dtype)
    for kind in "generic number integer signedinteger unsignedinteger inexact floating complexfloating".split():
        expected = issubclass(y.dtype.type, getattr(np, kind))
        assert issubclass(x.dtype.type, getattr(un, kind)) == expected
        assert issubclass(x.dtype.type, getattr(np, kind)) == expected
    assert issubclass(un.floating, un.inexact) and not issubclass(un.floating, un.integer)
    assert not issubclass(int, un.integer)


def test_dtypes_in_annotations():
    """Modules written for NumPy evaluate these when they are imported."""
    for xp in (un, np):
        either = xp.float64 | xp.float32
        assert either == xp.float32 | xp.float64 and set(typing.get_args(either)) == {
            xp.float32,
            xp.float64,
        }
        assert xp.float64 | None == None | xp.float64
        assert typing.get_args(int | xp.int64) != () != typing.get_args(xp.ndarray | xp.int64)
        assert typing.get_args(xp.dtype[xp.float64]) == (xp.float64,)
        shaped = xp.ndarray[tuple[int], xp.dtype[xp.float64]]
        assert typing.get_args(shaped) == (tuple[int], xp.dtype[xp.float64])
        assert typing.get_origin(shaped) is xp.ndarray
        alias = xp.floating[typing.Any]
        assert typing.get_origin(alias) is xp.floating and typing.get_args(alias) == (typing.Any,)
        assert issubclass(xp.float64, xp.floating) and not issubclass(xp.float64, xp.integer)


def test_dtypes_are_no_names_of_classes():
    """A class or type variable that is called like a dtype is none."""

    class float32:
        pass

    def float64():
        pass

    for xp in (un, np):
        assert xp.dtype(float32) == np.dtype("O")
        for other in (typing.TypeVar("F"), float64):
            with pytest.raises(TypeError):
                xp.dtype(other)


def test_text_as_copy_is_refused():
    for xp in (un, np):
        x = xp.zeros((2, 3))
        for call in (
            lambda x=x: x.reshape(3, 2, copy="no"),
            lambda xp=xp: xp.array([1], copy="no"),
        ):
            with pytest.raises(ValueError, match="strings are not allowed for"):
                call()
    with pytest.raises(ValueError, match="reshape: strings are not allowed for copy=; got 'no'"):
        un.reshape(un.zeros(3), 3, copy="no")


def test_rolls_by_what_int_reads():
    for xp in (un, np):
        x = xp.arange(5)
        for shift in ("2", 2.9, np.float64(2)):
            assert xp.roll(x, shift, axis=0).tolist() == [3, 4, 0, 1, 2]
        with pytest.raises(ValueError, match="invalid literal for int"):
            xp.roll(x, "a", axis=0)


def test_typenames_are_numpys():
    for char in [*"?bBhHiIlLqQfdgFDGSUVO", "S1"]:
        assert un.typename(char) == np.typename(char)


def test_numpys_bit_generators_take_seed_sequences_of_ours():
    for name in ("PCG64DXSM", "SFC64", "PCG64", "MT19937"):
        drawn = []
        for xp in (np, un):
            seeds = xp.random.SeedSequence(1234).spawn(3)
            made = [xp.random.Generator(getattr(xp.random, name)(s)) for s in seeds]
            drawn.append([int(g.integers(0, 2**40)) for g in made])
        assert drawn[0] == drawn[1]


def test_matches_of_expressions_with_texts():
    from io import StringIO

    text, expression = "1312 foo\n1534  bar\n444   qux", r"(\d+)\s+(...)"
    dtype = [("num", "int64"), ("key", "S3")]
    expected = np.fromregex(StringIO(text), expression, dtype)
    assert un.fromregex(StringIO(text), expression, dtype).tolist() == expected.tolist()
    numbers = un.fromregex(StringIO("a=1,2.5 a=3,4"), r"a=(\d+),(\S+)", [("i", "i4"), ("x", "f8")])
    assert numbers["x"].tolist() == [2.5, 4.0]


def test_records_as_numpys_record_arrays():
    x = un.array([(1.0, 2), (3.0, 4)], dtype=[("x", "f8"), ("y", "i8")])
    for made in (x.view(un.recarray), x.view(type=un.recarray), x.view(x.dtype, un.recarray)):
        assert type(made) is np.recarray and made.x.tolist() == [1.0, 3.0]
    made.y[0] = 7
    assert x["y"].tolist() == [7, 4]
