"""Type signatures in Numba's spellings."""

import copy
import pickle

import numpy as np
import pytest
import unisono as un
from unisono._dtype.spelling import parse_signature, parse_signatures, parse_type, spell

pytestmark = pytest.mark.everywhere


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("float64", ("scalar", "float64")),
        ("f4", ("scalar", "float32")),
        ("int64[:]", ("array", "int64", 1, "A", False)),
        ("f8[:, ::1]", ("array", "float64", 2, "C", False)),
        ("f8[::1,:]", ("array", "float64", 2, "F", False)),
        ("CPointer(int32)", ("pointer", "int32")),
        ("double*", ("pointer", "float64")),
        ("UniTuple(int64, 2)", ("tuple", (("scalar", "int64"),) * 2)),
        ("Tuple((i4, f4))", ("tuple", (("scalar", "int32"), ("scalar", "float32")))),
        ("(i4, f4)", ("tuple", (("scalar", "int32"), ("scalar", "float32")))),
        ("Array(uint8, 1, C)", ("array", "uint8", 1, "C", False)),
        ("void", ("void",)),
    ],
)
def test_types(text, wanted):
    assert parse_type(text) == wanted
    assert parse_type(spell(wanted)) == wanted


def test_signatures():
    f8, i8 = ("scalar", "float64"), ("scalar", "int64")
    assert parse_signature("float64(float64, int64)") == (f8, (f8, i8))
    assert parse_signature("(float64,)") == (None, (f8,))
    assert parse_signature("()") == (None, ())
    assert parse_signature((float, "int64")) == (None, (f8, i8))
    assert parse_signature("f8, i8") == (None, (f8, i8))
    assert parse_signatures("f8(f8)") == [(f8, (f8,))]
    assert parse_signatures(["f8(f8)", "(i8,)"]) == [(f8, (f8,)), (None, (i8,))]
    assert parse_signatures(("f8", "i8")) == [(None, (f8, i8))]
    assert parse_signatures(("f8(f8)", "i8(i8)")) == [(f8, (f8,)), (i8, (i8,))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("float65(int64)", "with 'float65' where the name of a type should be"),
        ("float64(int64", "with its end where"),
        ("float64(int64) x", "with 'x' where its end should be"),
        ("float64 int64", "with 'int64' where '\\(' should be"),
        ("float64(int64[0])", "with '0' where ':' or '::1' should be"),
        ("float64(%)", "with an odd character where"),
    ],
)
def test_errors(text, message):
    with pytest.raises(TypeError, match=message):
        parse_signature(text, "vectorize")


def test_dtypes_write_types():
    import unisono as un

    assert un.float64[:, ::1] == "float64[:, ::1]"
    assert un.float32(un.float32, un.int64[:]) == "float32(float32, int64[:])"
    assert un.float32(2).item() == 2.0
    with pytest.raises(TypeError, match="axes of a type are ':' or '::1'; got \\(0,\\)"):
        un.float64[0]


def total(a, k):
    return a.sum() * k


def counted(*args: int, k: float = 1.0) -> float:
    return len(args) * k


def test_layouts_and_rests():
    """Arrays in Fortran's order are taken where they are declared; what *args is declared as says nothing of the tuple."""
    f = un.jit("float64(float64[::1, :], int64)")(total)
    for a in (np.ones((2, 3), order="F"), np.ones((2, 3))):
        assert f(a, 2) == 12
    with pytest.raises(un.CompileError, match="no signature takes"):
        un.jit("float64(float64[:, ::1], int64)")(total)(np.ones((2, 3), order="F"), 2)
    assert un.jit(counted)(1, 2, 3, k=2) == 6.0


jitted = un.jit(total)
kernel = un.kernel(lambda a: None)
items = un.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")(lambda a, b: None)
callback = un.cfunc("float64(float64)")(lambda x: x)
neighbours = un.stencil(lambda a: a[-1] + a[1])


@pytest.mark.parametrize("name", ["jitted", "kernel", "items", "callback", "neighbours"])
def test_pickles_by_name(name):
    """As Python's own functions, so that other processes can be given them."""
    made = globals()[name]
    made.__name__ = made.__qualname__ = name
    made.__module__ = __name__
    assert pickle.loads(pickle.dumps(made)) is made and copy.deepcopy(made) is made
    local = un.jit(lambda x: x)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(local)


def test_annotations_that_are_no_types_say_nothing():
    """Type variables whose names are NumPy's codes of dtypes, and NumPy's own annotations."""
    import typing

    F = typing.TypeVar("F")
    Array = np.typing.NDArray[np.float64]

    @un.jit
    def total(x: F, y: "Array", z: "np.float64 | np.float32") -> F:
        return (x + y).sum() + z

    assert total(np.ones(3), np.ones(3), 1) == 7.0


def test_signatures_say_more_than_annotations():
    @un.jit(["float32[:](float32[:], float32)", "float64[:](float64[:], float64)"])
    def scaled(x: np.ndarray, by: float) -> np.ndarray:
        return np.log(by * x) * np.sqrt(by)

    @un.jit("float32(float32)")
    def root(x: float) -> float:
        return np.sqrt(x)

    assert scaled(np.ones(2, "float32"), 2).dtype == "float32"
    assert scaled(np.ones(2), 2).dtype == "float64"
    assert root(2.0) == np.sqrt(np.float32(2))
    with pytest.raises(TypeError, match="root: device is a name or a device; got True"):
        un.jit(root.py_func, device=True)


def test_arrays_of_compiled_code_fit_signatures_of_contiguous_ones():
    @un.njit(un.float64(un.float64[::1]))
    def total(x):
        return x.sum()

    @un.njit
    def columns(x):
        return total(x[:, 0]) + total(x[0])

    assert columns(np.arange(6.0).reshape(3, 2)) == 7
    with pytest.raises(TypeError, match="no signature takes|side by side"):
        total(np.arange(6.0)[::2])  # Python's arrays are known
