"""Where NumPy gives numbers: every function of the namespace, and methods, on arrays and numbers, compared by kind."""

import itertools
import warnings

import numpy as np
import pytest
import unisono as un

operands = [
    np.array([1.0, 2.0, 3.0]),
    np.array([[1.0, 2.0], [3.0, 5.0]]),
    np.array([1, 2, 3]),
    np.array([True, False, True]),
    np.array([1 + 2j, 3.0]),
    np.array(2.5),
    np.array(3),
    np.float64(2.5),
    np.int64(3),
    np.float32(2.5),
    np.complex128(1 + 2j),
]
# NumPy's arrays without axes that are numbers here (docs/differences.md), and what is no function of numbers.
not_alike = set("where select isin i0 cross real_if_close broadcast_arrays".split())
skipped = set("common_type fftn frompyfunc ifftn save savetxt savez savez_compressed".split())
skipped |= set(
    "get_include info set_printoptions seterr seterrcall show_config show_runtime".split()
)
# Their second result fills NumPy's array of the first one's shape, where that is given.
takes_one = set("divmod frexp modf".split())


def kind(result):
    """Number, array with its axes, or the class of something else."""
    if isinstance(result, (tuple, list)):
        return tuple(map(kind, result))
    if isinstance(result, (np.generic, *un._engine._values)):
        return "number"
    if isinstance(result, np.ndarray):
        return f"array of {result.ndim} axes"
    if isinstance(result, un._engine._Array):
        return "number" if result._is_value() else f"array of {result.ndim} axes"
    return "other"


def ours(x):
    if isinstance(x, np.generic):
        return un.asarray(x)[()]
    return un.asarray(x.copy()) if isinstance(x, np.ndarray) else x


def names(module, theirs):
    for name in sorted(dir(theirs)):
        function = getattr(theirs, name)
        if name.startswith("_") or name in skipped | not_alike or isinstance(function, type):
            continue
        if callable(function) and getattr(module, name, function) is not function:
            yield name


functions = [(np, un, n) for n in names(un, np)]
functions += [(np.linalg, un.linalg, n) for n in names(un.linalg, np.linalg)]
functions += [(np.fft, un.fft, n) for n in names(un.fft, np.fft)]


def differences(theirs, mine, name):
    for count in (1,) if name in takes_one else (1, 2):
        for given in itertools.product(operands, repeat=count):
            try:
                expected = getattr(theirs, name)(*[x.copy() for x in given])
                made = getattr(mine, name)(*map(ours, given))
            except Exception:  # which exceptions: other tests
                continue
            if kind(made) != kind(expected):
                yield given, kind(made), kind(expected)


@pytest.mark.parametrize(
    "theirs, mine, name", functions, ids=[f"{t.__name__}.{n}" for t, _, n in functions]
)
def test_functions_give_numbers_where_numpys_do(theirs, mine, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(differences(theirs, mine, name)) == []


methods = """
    T transpose squeeze argmax argmin byteswap clip round sum prod mean std var min max any all ptp dot conj conjugate
    real imag cumsum ravel flatten reshape item take trace searchsorted diagonal copy __pos__ __neg__ __abs__ __invert__
    __add__ __matmul__
"""


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("name", methods.split())
def test_methods_give_numbers_where_numpys_do(name):
    for x in operands:
        for given in ((), (x,)):
            try:
                expected = getattr(x.copy(), name)
                expected = expected(*given) if callable(expected) else expected
                made = getattr(ours(x), name)
                made = made(*map(ours, given)) if callable(made) else made
            except Exception:
                continue
            assert kind(made) == kind(expected), (x, given)


def test_elements_of_a_number_have_no_axes():
    assert un.squeeze(un.asarray(2.0), 0).shape == np.squeeze(np.array(2.0), 0).shape
    assert un.asfortranarray(un.asarray(2.0)).shape == np.asfortranarray(np.array(2.0)).shape
    assert un.broadcast_shapes(un.int64(3), (un.int64(2), 1)) == (2, 3)
    assert all(type(n) is int for n in un.broadcast_shapes(un.int64(3), (un.int64(2), 1)))
    assert type(un.linalg.matrix_rank(un.ones(3))) is int


@pytest.mark.parametrize("theirs, mine", [(np, un), (np.linalg, un.linalg), (np.random, un.random)])
def test_functions_that_numpy_has_in_c_are_not_bound_by_classes(theirs, mine):
    def binds(function):
        holder = type("Holder", (), {"function": function})
        return type(holder().function).__name__ == "method"

    for name in dir(theirs):
        a, b = getattr(theirs, name), getattr(mine, name, None)
        # NumPy's linalg.vecdot is bound, its vecdot is not: here they are one.
        if callable(b) and not isinstance(a, type) and not isinstance(b, type) and name != "vecdot":
            assert binds(a) or not binds(b), name
