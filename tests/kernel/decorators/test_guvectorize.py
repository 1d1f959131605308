"""guvectorize: items of layouts over broadcast axes, signatures, errors."""

import numpy as np
import pytest
import unisono as un


def add_to_row(row, number, result):
    for i in range(row.shape[0]):
        result[i] = row[i] + number


def product(a, b, c):
    m, n = a.shape
    for i in range(m):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]


def test_broadcasting():
    f = un.guvectorize(
        ["void(int64[:], int64, int64[:])", "void(float64[:], float64, float64[:])"], "(n),()->(n)"
    )(add_to_row)
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(np.asarray(f(x, 1)), x + 1)
    np.testing.assert_array_equal(np.asarray(f(x, [1, 2, 3])), x + np.array([[1], [2], [3]]))
    np.testing.assert_array_equal(
        np.asarray(f(x[0], np.ones((2, 3)))), np.broadcast_to(x[0] + 1, (2, 3, 4))
    )
    assert f(np.arange(3), 1).dtype == "int64"
    assert f(x[::2, ::-1], 1).tolist() == (x[::2, ::-1] + 1).tolist()
    assert f(np.zeros((0, 4)), 1.0).shape == (0, 4)
    assert (f.nin, f.nout, f.nargs, f.types) == (2, 1, 3, ["ll->l", "dd->d"])


def test_matrices():
    f = un.guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")(
        product
    )
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 9, (5, 2, 3)).astype(float), rng.integers(0, 9, (3, 4)).astype(float)
    np.testing.assert_array_equal(np.asarray(f(a, b)), a @ b)


def test_scalar_results_and_several():
    @un.guvectorize("void(float64[:], float64[:], float64[:])", "(n)->(),()", target="parallel")
    def ends(x, low, high):
        low[0] = x[0]
        high[0] = x[x.shape[0] - 1]

    low, high = ends(np.arange(6.0).reshape(2, 3))
    assert low.tolist() == [0.0, 3.0]
    assert high.tolist() == [2.0, 5.0]
    low, high = ends([1.0, 2.0])
    assert (float(low), float(high)) == (1.0, 2.0)


def test_operands_of_one_element_as_arrays():
    @un.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),()->(n)")
    def scale(x, factor, out):
        for i in range(x.shape[0]):
            out[i] = x[i] * factor[0]

    assert scale([[1.0, 2.0], [3.0, 4.0]], [2.0, 10.0]).tolist() == [[2.0, 4.0], [30.0, 40.0]]


def test_out_and_dynamic():
    f = un.guvectorize("(n),()->(n)")(add_to_row)
    x = np.arange(6, dtype="float32").reshape(2, 3)
    out = np.zeros((2, 3), "float32")
    assert f(x, np.float32(1), out) is out
    np.testing.assert_array_equal(out, x + 1)
    g = un.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")(add_to_row)
    u = un.asarray(x.astype(float)).copy()
    assert g(u, 1.0, out=u) is u
    np.testing.assert_array_equal(np.asarray(u), x + 1)
    with pytest.raises(TypeError, match="the dtypes of results are not known"):
        f(x, 1.0)


def test_refusals():
    decorate = un.guvectorize
    with pytest.raises(ValueError, match="the layout cannot be read; got '\\(n\\),\\(->\\(n\\)'"):
        decorate(["void(float64[:], float64[:])"], "(n),(->(n)")
    with pytest.raises(ValueError, match="the size 'm' of a result is named by no operand"):
        decorate("(n)->(m)")
    with pytest.raises(TypeError, match="the signature has 1 arguments.*names 2"):
        decorate(["void(float64[:])"], "(n)->(n)")
    with pytest.raises(TypeError, match="float64 does not fit the layout; got the axes \\(n\\)"):
        decorate(["void(float64, float64[:])"], "(n)->(n)")
    with pytest.raises(TypeError, match="a result is written through an array; got float64"):
        decorate(["void(float64, float64)"], "()->()")
    with pytest.raises(TypeError, match="takes signatures and a layout"):
        decorate(["void(float64[:], float64[:])"])
    with pytest.raises(TypeError, match="names 2 arguments; got a function of 3"):
        decorate("(n)->(n)")(add_to_row)
    f = decorate(["void(int64[:], int64, int64[:])"], "(n),()->(n)")(add_to_row)
    with pytest.raises(
        TypeError, match="no signature takes the operands; got \\(float64, int64\\)"
    ):
        f(np.zeros(3), 1)
    with pytest.raises(ValueError, match="operand 1 has too few axes"):
        f(1, 1)
    g = decorate(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")(product)
    with pytest.raises(ValueError, match="operand 2 does not match on axis 'n'; got 4; expected 3"):
        g(np.zeros((2, 3)), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="a result has another shape"):
        f(np.zeros(3, int), 1, np.zeros(4, int))
    with pytest.raises(un.CompileError, match="this import is not supported"):
        decorate(["void(float64[:], float64[:])"], "(n)->(n)")(importing)


def importing(x, out):
    import a_module_that_nobody_has as math

    out[0] = math.sqrt(x[0])


def test_axes_of_items():
    @un.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(x, result):
        result[0] = 0.0
        for v in x:
            result[0] += v

    @un.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def running(x, result):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
            result[i] = s

    a = np.arange(24.0).reshape(2, 3, 4)
    for axis in (0, 1, -1):
        assert np.array_equal(total(a, axis=axis), a.sum(axis))
        assert np.array_equal(total(a, axis=axis, keepdims=True), a.sum(axis, keepdims=True))
        assert np.array_equal(running(a, axis=axis), a.cumsum(axis))
    assert np.array_equal(total(a, axes=[1]), a.sum(1))
    assert np.array_equal(total(a, axes=[(1,), ()]), a.sum(1))
    assert np.array_equal(total(a, keepdims=True), a.sum(-1, keepdims=True))
    assert np.array_equal(running(a, axes=[0, 2]), np.moveaxis(a.cumsum(0), 0, 2))
    out = np.zeros((2, 3, 4))
    assert running(a, out, axis=1) is out and np.array_equal(out, a.cumsum(1))
    with pytest.raises(TypeError, match="axes= or axis="):
        total(a, axes=[1], axis=1)
    with pytest.raises(ValueError, match="entry 0 of axes= has 2 axes"):
        total(a, axes=[(0, 1), ()])
    with pytest.raises(TypeError, match="keepdims= is for layouts"):
        running(a, keepdims=True)


def test_items_in_compiled_functions():
    @un.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
    def more(x, y, result):
        for i in range(x.shape[0]):
            result[i] = x[i] + y

    @un.jit
    def f(x):
        result = np.empty_like(x)
        more(x, 2.0, result)
        return result

    assert np.asarray(f(np.arange(3.0))).tolist() == [2.0, 3.0, 4.0]
    with pytest.raises(TypeError):
        f(np.ones((2, 2)))


def test_layouts_without_results():
    def differences(x, d):
        x.sort()
        for i in range(d.shape[0]):
            d[i] = x[i + 1] - x[i]

    f = un.guvectorize(["(f8[:], f8[:])"], "(n), (k)", target="parallel")(differences)
    dynamic = un.guvectorize("(n),(k)->")(differences)
    start = np.random.default_rng(0).random((3, 5))
    expected = np.diff(np.sort(start))
    for g in (f, dynamic):
        for x in (start.copy(), np.asfortranarray(start), np.repeat(start, 2, 1)[:, ::2]):
            for d in (np.zeros((3, 4)), np.zeros((4, 3)).T, un.zeros((3, 4))):
                assert g(x, d) is None
                assert np.array_equal(d, expected) and np.array_equal(x, np.sort(start))
        d = np.zeros(4)
        g(start[1].copy(), d)
        assert np.array_equal(d, expected[1])
        d = np.zeros((4, 3))
        g(start.T.copy(), d, axes=[0, 0])
        assert np.array_equal(d, expected.T)
    d = np.zeros((3, 4), "f4")
    f(start.tolist(), d)
    assert np.array_equal(d, expected.astype("f4"))


def test_operands_that_are_written():
    def total(x, s):
        s[0] = 0.0
        for i in range(x.shape[0]):
            s[0] += x[i]
            x[i] = 0.0

    types = ["void(float64[:], float64[:])"]
    for named in ((0,), ("x",)):
        f = un.guvectorize(types, "(n)->()", writable_args=named)(total)
        for x in (np.ones((3, 4)), np.ones((4, 3)).T, np.ones((3, 4), "f4")):
            assert f(x).tolist() == [4.0, 4.0, 4.0] and not x.any()
    with pytest.raises(ValueError, match="writable_args names no operand; got 'y'"):
        un.guvectorize(types, "(n)->()", writable_args=("y",))(total)


def test_calls_for_one_item():
    """What such calls take and refuse is what calls over items do."""

    @un.guvectorize(["void(float64[:,:], float64[:], float64[:])"], "(m,n),(n)->(m)")
    def times(a, b, c):
        for i in range(a.shape[0]):
            c[i] = 0
            for j in range(a.shape[1]):
                c[i] += a[i, j] * b[j]

    @un.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(a, s):
        s[0] = 0
        for x in a:
            s[0] += x

    a, b = np.arange(6.0).reshape(2, 3), np.array([1.0, 2, 4])
    want = a @ b
    for x, y in ((a, b), (un.array(a), un.array(b)), (a.T.copy().T, b[::-1].copy()[::-1])):
        assert np.array_equal(np.asarray(times(x, y)), want)
    assert np.array_equal(np.asarray(times(np.stack([a, a]), b)), [want, want])
    assert np.array_equal(np.asarray(times(a.astype("float32"), b)), want)
    assert np.array_equal(np.asarray(times(a.astype("int32"), [1, 2, 4])), want)
    out = np.empty(2)
    assert times(a, b, out) is out and np.array_equal(out, want)
    square = np.arange(9.0).reshape(3, 3)
    want = square @ b
    assert times(square, b, b) is b  # what is read is not what is written
    assert np.array_equal(b, want)
    both = np.arange(6.0)
    times(np.eye(3), both[:3], out=both[1:4])
    assert np.array_equal(both, [0, 0, 1, 2, 4, 5])
    assert float(total(a[0])) == 3 and total(a[0]).shape == ()
    with pytest.raises(ValueError, match="operand 2 does not match on axis 'n'; got 2; expected 3"):
        times(a, np.ones(2))
    with pytest.raises(ValueError, match="a result has another shape"):
        times(a, b, np.empty(3))
    with pytest.raises(TypeError, match="no signature takes the operands"):
        times(a + 0j, b)


def test_numbers_take_the_dtype_of_the_signature():
    """Python's numbers are of no fixed dtype, as in NumPy's ufuncs: the array decides, with axis= as without."""

    @un.guvectorize(
        ["void(float32[:], int32, float32[:])", "void(float64[:], int64, float64[:])"], "(n),()->()"
    )
    def above(x, least, count):
        count[0] = 0
        for v in x:
            if v > least:
                count[0] += 1

    x = np.arange(6, dtype="float32").reshape(2, 3)
    for options in ({}, {"axis": -1}, {"axis": 0}):
        made = above(x, 2, **options)
        assert (
            made.dtype == "float32"
            and made.tolist() == (x > 2).sum(**options or {"axis": -1}).tolist()
        )
    assert above(x.astype("float64"), 2, axis=-1).dtype == "float64"
    assert above(x, 2**40, axis=-1).dtype == above(x, np.int64(2), axis=-1).dtype == "float64"


def test_without_signatures_in_compiled_functions():
    add = un.guvectorize("(n),()->(n)")(add_to_row)

    @un.njit
    def rows(x, out):
        for i in range(x.shape[0]):
            add(x[i], i, out[i])

    for dtype in ("float64", "int32"):
        x = np.arange(6, dtype=dtype).reshape(2, 3)
        out = np.zeros((2, 3), dtype)
        rows(x, out)
        np.testing.assert_array_equal(out, x + np.array([[0], [1]], dtype))

    @un.njit
    def whole(x, out):
        add(x, 1, out)

    with pytest.raises(
        ValueError, match=r"add_to_row: the layout \(n\),\(\)->\(n\) wants \(n\) of argument 1"
    ):
        whole(np.zeros((2, 3)), np.zeros((2, 3)))


def test_types_of_calls_without_signatures():
    add = un.guvectorize("(n),()->(n)")(add_to_row)
    assert add.types == []
    add(np.arange(3), 1, np.zeros(3, "int64"))
    add(np.arange(3), 1, np.zeros(3, "int64"))
    add(np.arange(3.0), 1.0, np.zeros(3))
    assert add.types == ["ll->l", "dd->d"]
