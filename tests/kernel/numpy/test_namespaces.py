"""What compiled code knows by NumPy's name it knows by ours: each name is looked up in both namespaces."""

import importlib

import numpy as np
import pytest
import unisono as un
from unisono._jit.captured import known_name
from unisono._jit.namespaces import numpy_path
from unisono._jit.overload import implementation_of

_PARTS = ("", "random", "linalg", "fft")


def _named():
    """(part, name) of each public object of NumPy that the compiler can tell from others, and that we have."""
    for part in _PARTS:
        theirs = importlib.import_module(f"numpy.{part}" if part else "numpy")
        ours = importlib.import_module(f"unisono.{part}" if part else "unisono")
        for name in sorted(n for n in dir(theirs) if not n.startswith("_")):
            path = f"{part}.{name}" if part else name
            if numpy_path(getattr(theirs, name)) == path and hasattr(ours, name):
                yield pytest.param(getattr(theirs, name), getattr(ours, name), id=path)


_NAMED = list(_named())


def test_the_names_are_many():
    assert len(_NAMED) > 300
    assert {"array", "ndindex", "r_", "random.random", "linalg.norm"} <= {p.id for p in _NAMED}


# What both have and mean differently: ours compile functions, or make objects of our own.
_OWN = {"vectorize", "errstate", "dtype", "finfo", "iinfo", "ndarray", "ufunc"}


def _is_known(value):
    return implementation_of(value) is not None or known_name(value) is not None


@pytest.mark.parametrize("theirs, ours", _NAMED)
def test_ours_resolves_as_numpys(theirs, ours):
    path = numpy_path(theirs)
    if numpy_path(ours) != path:  # an alias, of which ours has the other name
        assert numpy_path(ours) is not None or not _is_known(theirs)
        assert _is_known(ours) >= _is_known(theirs)
        return
    assert implementation_of(ours) is implementation_of(theirs)
    if implementation_of(theirs) is None and path not in _OWN:
        plain = [(known_name(f) or "").replace("un.", "np.", 1) for f in (theirs, ours)]
        assert plain[0] in ("", plain[1])


@un.jit
def _draws():
    un.random.seed(3)
    a = un.random.random()
    return a, un.random.normal(0.0, 1.0, 2), un.random.randint(0, 5)


@un.jit
def _numpy_draws():
    np.random.seed(3)
    a = np.random.random()
    return a, np.random.normal(0.0, 1.0, 2), np.random.randint(0, 5)


def test_random_numbers_are_those_of_numpys_names():
    ours, theirs = _draws(), _numpy_draws()
    assert ours[0] == theirs[0] and ours[2] == theirs[2]
    np.testing.assert_array_equal(ours[1], theirs[1])


def _forms(xp):
    """Functions that use names which the compiler compares with NumPy's own objects."""

    def rows(a):
        held = [a, a + 1]
        return xp.array(held)

    def nested(a):
        return xp.array([[1.0, 2.0], [3.0, 4.0]])

    def joined(a):
        return xp.r_[a, 1.0, 2.0]

    def blocks(a):
        return xp.block([[a, a]])

    def grid(a):
        return xp.mgrid[0:2, 0:3][1]

    def indices(a):
        s = 0
        for i, j in xp.ndindex(len(a), 2):
            s += i * j
        return s

    def counted(a):
        return xp.asarray(range(len(a)))

    def columns(a):
        return xp.zeros((2, 3), order="F")

    def limits(a):
        return xp.finfo(a.dtype).eps + xp.finfo(xp.float32).eps

    def kinds(a):
        return isinstance(a[0], xp.floating), isinstance(a[0], xp.integer)

    def converted(a):
        return xp.float32([1, 2])

    def powers(a):
        return xp.linalg.matrix_power(xp.eye(2) * 2, 3)

    def norms(a):
        return xp.linalg.matrix_norm(xp.ones((2, 3)))

    def turned(a):
        return xp.linalg.matrix_transpose(xp.ones((2, 3)))

    def without(a):
        return xp.delete(a, slice(1, 2))

    return [v for v in locals().values() if callable(v) and v is not xp]


@pytest.mark.parametrize(
    "theirs, ours",
    [pytest.param(*p, id=p[0].__name__) for p in zip(_forms(np), _forms(un), strict=True)],
)
def test_forms_of_both_names_compile(theirs, ours):
    a = np.arange(3.0)
    expected, got = theirs(a), un.jit(ours)(a)
    compiled = un.jit(theirs)(a)
    for made in (got, compiled):
        if isinstance(expected, tuple):
            assert made == expected
        else:
            np.testing.assert_array_equal(np.asarray(made), expected)
            assert np.asarray(made).dtype == np.asarray(expected).dtype
