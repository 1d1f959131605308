"""Calls on a few elements, which run a compiled loop at once, beside those that take the general way."""

import numpy as np
import pytest
import unisono as un


@un.vectorize(["int64(int64, int64)", "float64(float64, float64)"])
def scaled(a, b):
    return a * 2 + b


@un.guvectorize(
    ["void(float64[:], float64[:], float64[:])"],
    "(n),(n)->(n)",
)
def running(a, b, c):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
        c[i] = s


@un.guvectorize(["void(float64[:], int64[:], float64[:], int64[:])"], "(n),(k)->(),(k)")
def sums(a, b, total, doubled):
    total[0] = a.sum()
    for i in range(b.shape[0]):
        doubled[i] = 2 * b[i]


def both(f, *args, **options):
    """The result, or the kind of error, of the first call and of a later one."""
    made = []
    for _ in range(2):
        try:
            made.append(np.asarray(f(*args, **options)).copy())
        except Exception as error:
            made.append(type(error))
    return made


A = np.arange(10.0)
B = A[::-1] + 0.5
layouts = {
    "packed": (A, B),
    "strided": (np.repeat(A, 2)[::2], B[::-1]),
    "whole": (np.arange(10), np.arange(10) * 3),
    "mixed": (A, np.arange(10)),
    "narrow": (A.astype(np.float32), B.astype(np.float32)),
    "unaligned": (np.frombuffer(b"x" + A.tobytes(), np.uint8)[1:].view(np.float64), B),
    "empty": (A[:0], B[:0]),
    "long": (np.ones(5000), np.ones(5000)),
}


@pytest.mark.parametrize("layout", layouts)
def test_layouts_of_operands(layout):
    a, b = layouts[layout]
    wanted = scaled.py_func(a, b)
    for made in both(scaled, a, b):
        assert made.dtype == (np.int64 if layout == "whole" else np.float64)
        np.testing.assert_array_equal(made, wanted)
    for made in both(running, a, b):
        np.testing.assert_array_equal(made, np.cumsum(a.astype(float) * b))


def test_shapes_that_do_not_fit_are_refused():
    for f in (scaled, running):
        f(A, B)
        with pytest.raises(ValueError):
            f(A, B[:3])


@pytest.mark.parametrize("f", [scaled, running])
def test_results_that_are_given(f):
    wanted = np.asarray(f(A, B))
    for out in (np.zeros(10), un.zeros(10), np.zeros((10, 2))[:, 0]):
        assert f(A, B, out) is out
        np.testing.assert_array_equal(np.asarray(out), wanted)
        out[...] = 0
        assert f(A, B, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), wanted)
    fixed = np.zeros(10)
    fixed.flags.writeable = False
    with pytest.raises(ValueError):
        f(A, B, fixed)
    assert not fixed.any()
    with pytest.raises(ValueError):
        f(A, B, np.zeros(9))


def test_results_that_overlap_operands():
    @un.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def backwards(a, b):
        for i in range(a.shape[0]):
            b[i] = a[a.shape[0] - 1 - i]

    a = A.copy()
    backwards(a, a)
    np.testing.assert_array_equal(a, A[::-1])
    room = np.zeros(11)
    room[:-1] = A
    running(room[:-1], B, room[1:])
    np.testing.assert_array_equal(room[1:], np.cumsum(A * B))


def test_numbers_and_several_results():
    for a in (A, un.asarray(A)):
        for _ in range(2):
            total, doubled = sums(a, np.arange(3))
            assert float(total) == 45.0
            assert np.shape(total) == ()
            assert doubled.tolist() == [0, 2, 4]


def test_arrays_of_ours_stay_recorded():
    scaled(A, B)
    a, b = un.asarray(A), un.asarray(B)
    np.testing.assert_array_equal(np.asarray(scaled(a, b) + 1), A * 2 + B + 1)


def test_a_function_that_is_given_up_stays_interpreted():
    @un.vectorize
    def described(x):
        return x + 1 if type(x) is not np.complex64 else str(x)

    first = described(np.arange(4))
    assert np.asarray(first).tolist() == [1, 2, 3, 4]
    assert np.asarray(described(np.arange(4))).tolist() == [1, 2, 3, 4]


@un.vectorize
def mixed(a, b):
    return a * 2 + b


@un.vectorize(["complex128(float64)"])
def turned(a):
    return a * 1j


M = np.arange(24.0).reshape(3, 8)
few = {
    "number": (A, 0.5),
    "numbers": (1.5, 0.5),
    "integer": (A, 3),
    "two axes": (M, M[::-1].copy()),
    "row": (M, M[0]),
    "row first": (M[1], M),
    "column": (M, M[:, :1].copy()),
    "no axes": (np.array(2.5), M),
    "both without axes": (np.array(2.5), np.array(1.0)),
    "long": (np.ones((3, 5000)), 0.5),
    "narrow": (A.astype(np.float32), 0.25),
}


@pytest.mark.parametrize("f", [scaled, mixed], ids=["signatures", "none"])
@pytest.mark.parametrize("operands", few)
def test_numbers_and_axes_that_repeat(f, operands):
    a, b = few[operands]
    wanted = f.py_func(a, b)
    for made in both(f, a, b):
        np.testing.assert_array_equal(made, wanted)
        assert made.shape == np.shape(wanted)
        if f is mixed:
            assert made.dtype == np.asarray(wanted).dtype
    for _ in range(2):
        assert turned(0.5) == 0.5j and turned(M)[1, 2] == M[1, 2] * 1j


@un.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def plus(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + b


@un.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def dot(a, b, c):
    c[0] = np.sum(a * b)


def test_items_along_an_axis():
    rows = np.arange(3.0)
    for b in (0.5, rows, 2, np.float64(1.5), np.array(2.5)):
        for made in both(plus, M, b):
            np.testing.assert_array_equal(made, M + np.reshape(b, (-1, 1)))
    for made in both(plus, M[0], 0.5) + both(plus, un.asarray(M[0]), 0.5):
        np.testing.assert_array_equal(made, M[0] + 0.5)
    for made in both(dot, M, M[0]):
        np.testing.assert_array_equal(made, (M * M[0]).sum(axis=1))
    for made in both(dot, M[:0], M[0]):
        assert made.shape == (0,)
    out = np.zeros(3)
    assert dot(M, M, out) is out and out[2] == (M[2] ** 2).sum()
    assert both(plus, M, rows[:2]) == [ValueError, ValueError]


numbers = {
    "float64": np.float64(1.5),
    "float32": np.float32(1.5),
    "int64": np.int64(3),
    "int8": np.int8(-3),
    "bool": np.bool_(True),
    "float16": np.float16(1.5),
    "float": 2.5,
    "int": 7,
    "long": (1 << 53) + 1,
    "longer": 1 << 70,
}


@pytest.mark.parametrize("right", numbers)
@pytest.mark.parametrize("left", numbers)
@pytest.mark.parametrize("f", [scaled, mixed])
def test_numbers_of_numpy_and_python(f, left, right):
    a, b = numbers[left], numbers[right]
    first, second = both(f, a, b)
    if isinstance(first, type):
        assert first is second
        return
    assert first.dtype == second.dtype
    assert first.shape == second.shape == ()
    assert first == second
    general = f._apply((a, b))
    assert type(f(a, b)) is type(general)
    assert np.asarray(general).dtype == first.dtype
    np.testing.assert_array_equal(np.asarray(general), first)


def test_the_value_of_an_int_chooses_the_loop():
    @un.vectorize(["int8(int8, int8)", "int32(int32, int32)", "float64(float64, float64)"])
    def added(a, b):
        return a + b

    x = np.arange(3, dtype=np.int8)
    for _ in range(2):
        for b, dtype in ((3, np.int8), (300, np.int32), (-5, np.int8), (1 << 40, np.float64)):
            assert np.asarray(added(x, b)).dtype == dtype


@un.vectorize
def less(a, b):
    return a - b / 2


rows = {
    "short": A,
    "one": A[:1],
    "strided": np.repeat(A, 2)[::2],
    "long": np.arange(3000.0),
    "float32": A.astype(np.float32),
    "int64": np.arange(10),
    "empty": A[:0],
    "matrix": np.arange(12.0).reshape(3, 4),
}


@pytest.mark.parametrize("row", rows)
@pytest.mark.parametrize("f", [scaled, less])
def test_reductions_of_few_elements(f, row):
    x = rows[row]
    first, second = both(f.reduce, x)
    general = both(f.reduce, un.asarray(x))[0]
    if isinstance(first, type):
        assert first is second is general is ValueError
        return
    assert first.dtype == second.dtype == general.dtype
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, general)
    assert type(f.reduce(x)) is type(f.reduce(un.asarray(x)))


lists = {
    "floats": [1.0, 2.5, -3.0],
    "ints": [1, 2, 3],
    "mixed": [1, 2.5, 3],
    "bools": [True, False, True],
    "with a bool": [1, True, 3],
    "one": [2.5],
    "none": [],
    "long": [1 << 63, 1, 2],
    "longer": [1 << 70, 1, 2],
    "rows": [[1.0, 2.0, 3.0]],
    "complex": [1.0, 2j, 3.0],
    "texts": ["a", "b", "c"],
}


@pytest.mark.parametrize("values", lists)
@pytest.mark.parametrize("f", [scaled, mixed])
def test_lists_of_numbers(f, values):
    given = lists[values]
    for left, right in ((given, given), (given, 2.0), (2, given), (A[:3], given)):
        first, second = both(f, left, right)
        general = both(lambda a, b: f._apply((a, b)), left, right)[0]
        if isinstance(first, type):
            assert first is second is general
            continue
        assert first.dtype == second.dtype == general.dtype
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(first, general)
