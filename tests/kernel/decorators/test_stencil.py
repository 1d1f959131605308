"""stencil: kernels of neighbours against loops in Python, borders, in compiled functions, errors."""

import numpy as np
import pytest
import unisono as un


def five(a):
    return 0.25 * (a[-1, 0] + a[1, 0] + (a[0, -1] + a[0, 1]))


def skewed(a):
    return a[0] + 2 * a[2] - a[-1]


def by_hand(kernel_at, a, low, high, cval=0.0, mode=None):
    """kernel_at(a, index) wherever all neighbours are there."""
    out = np.full(a.shape, cval, dtype=float)
    if mode:
        padded = np.pad(a, list(zip(low, high, strict=True)), mode)
        for i in np.ndindex(a.shape):
            out[i] = kernel_at(padded, tuple(k + p for k, p in zip(i, low, strict=True)))
        return out
    for i in np.ndindex(a.shape):
        if all(p <= k < n - q for k, n, p, q in zip(i, a.shape, low, high, strict=True)):
            out[i] = kernel_at(a, i)
    return out


def five_at(a, i):
    y, x = i
    return 0.25 * (a[y - 1, x] + a[y + 1, x] + (a[y, x - 1] + a[y, x + 1]))


def skewed_at(a, i):
    return a[i[0]] + 2 * a[i[0] + 2] - a[i[0] - 1]


@pytest.mark.parametrize("shape", [(6, 7), (3, 3), (2, 5), (1, 1), (0, 4)])
@pytest.mark.parametrize("cval", [0, 1.5])
def test_two_axes(shape, cval):
    a = np.random.default_rng(0).normal(size=shape)
    f = un.stencil(cval=cval)(five)
    assert f.neighborhood == ((-1, 1), (-1, 1))
    made = f(a)
    np.testing.assert_array_equal(np.asarray(made), by_hand(five_at, a, (1, 1), (1, 1), cval))
    np.testing.assert_array_equal(
        np.asarray(f(un.asarray(a).T)), by_hand(five_at, a.T, (1, 1), (1, 1), cval)
    )


@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect", "symmetric"])
def test_borders(mode):
    a = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_array_equal(
        np.asarray(un.stencil(mode)(five)(a)), by_hand(five_at, a, (1, 1), (1, 1), mode=mode)
    )
    b = a[:, 0].copy()
    np.testing.assert_array_equal(
        np.asarray(un.stencil(mode)(skewed)(b)), by_hand(skewed_at, b, (1,), (2,), mode=mode)
    )


def test_other_spellings_of_borders():
    a = np.arange(5.0)
    for ours, other in (("edge", "nearest"), ("reflect", "mirror")):
        assert un.stencil(ours)(skewed)(a).tolist() == un.stencil(other)(skewed)(a).tolist()


def test_dtypes_of_results():
    i = np.arange(6, dtype="int32")
    assert un.stencil(skewed)(i).dtype == "int32"
    assert un.stencil(skewed)(i.astype("float32")).dtype == "float32"
    same = un.stencil(larger)(i)
    assert same.dtype == "bool"
    assert same.tolist() == [False, True, True, True, True, True]


def larger(a):
    return a[0] > a[-1]


def test_several_arrays_scalars_and_statements():
    weights = 3.0

    @un.stencil(standard_indexing=("table",))
    def f(a, b, scale, table):
        left = a[-1] * scale
        if b[0] > 2:
            return left + b[1] * weights
        return left - table[0]

    a, b, table = np.arange(6.0), np.arange(6.0)[::-1].copy(), np.array([10.0])
    wanted = np.zeros(6)
    for i in range(1, 5):
        left = a[i - 1] * 0.5
        wanted[i] = left + b[i + 1] * 3 if b[i] > 2 else left - table[0]
    np.testing.assert_array_equal(np.asarray(f(a, b, 0.5, table)), wanted)


def test_neighborhood():
    @un.stencil(neighborhood=((-2, 1),))
    def window(a):
        total = 0.0
        for k in range(-2, 2):
            total += a[k]
        return total

    a = np.arange(7.0) ** 2
    wanted = np.zeros(7)
    for i in range(2, 6):
        wanted[i] = a[i - 2] + a[i - 1] + a[i] + a[i + 1]
    np.testing.assert_array_equal(np.asarray(window(a)), wanted)


def test_out():
    a = np.random.default_rng(0).normal(size=(5, 5))
    inside = by_hand(five_at, a, (1, 1), (1, 1))[1:-1, 1:-1]
    for options, border in (({}, 9.0), ({"cval": 0}, 0.0), ({"cval": np.nan}, np.nan)):
        f = un.stencil(**options)(five)

        @un.jit
        def compiled(a, out):
            f(a, out=out)  # noqa: B023
            return out

        wanted = np.full((5, 5), border)
        wanted[1:-1, 1:-1] = inside
        out = np.full((5, 5), 9.0)
        assert f(a, out=out) is out
        np.testing.assert_array_equal(out, wanted)
        np.testing.assert_array_equal(compiled(a, np.full((5, 5), 9.0)), wanted)
        u = un.asarray(a).copy()
        f(u, out=u)
        wanted = a.copy() if not options else wanted
        wanted[1:-1, 1:-1] = inside
        np.testing.assert_array_equal(np.asarray(u), wanted)
        with pytest.raises(ValueError, match="out has another shape"):
            f(a, out=np.zeros(3))
        with pytest.raises(ValueError, match="out has another shape"):
            compiled(a, np.zeros((3, 3)))


def test_in_compiled_functions():
    f = un.stencil(five)

    @un.jit
    def twice(a):
        return f(f(a))

    a = np.random.default_rng(0).normal(size=(6, 5))
    once = by_hand(five_at, a, (1, 1), (1, 1))
    np.testing.assert_array_equal(np.asarray(twice(a)), by_hand(five_at, once, (1, 1), (1, 1)))


def test_refusals():
    with pytest.raises(ValueError, match="no such border; got 'mean'"):
        un.stencil("mean")
    with pytest.raises(un.CompileError, match="the offset k is not a constant"):
        un.stencil(unknown_offset)
    with pytest.raises(un.CompileError, match="a kernel does not write 'a'"):
        un.stencil(writes)
    with pytest.raises(un.CompileError, match="no array is indexed"):
        un.stencil(nothing)
    with pytest.raises(ValueError, match="names no parameter; got 'b'"):
        un.stencil(standard_indexing="b")(five)
    with pytest.raises(ValueError, match="'a' has another rank"):
        un.stencil(five)(np.zeros(3))
    with pytest.raises(TypeError, match="takes 1 arguments; got 2"):
        un.stencil(five)(np.zeros((3, 3)), 1)
    with pytest.raises(ValueError, match="have one shape; got \\(4,\\) and \\(3,\\)"):
        un.stencil(both)(np.zeros(4), np.zeros(3))


def unknown_offset(a):
    total = 0.0
    for k in range(2):
        total += a[k]
    return total


def writes(a):
    a[0] = 1.0
    return a[1]


def nothing(a):
    return 1.0


def both(a, b):
    return a[0] + b[0]


def test_lambdas():
    s = un.stencil(lambda a: a[-1] + a[1])
    assert s(np.arange(5.0)).tolist() == [0, 2, 4, 6, 0]


def test_truth_values_by_bits():
    """The kernel of peaks in signals: comparisons that `&` joins, also through a name."""

    @un.stencil
    def is_peak(x):
        return (x[0] > x[-1]) & (x[0] >= x[1])

    @un.stencil
    def is_no_peak(x):
        rises = x[0] > x[-1]
        return ~(rises & (x[0] >= x[1])) | False

    x = np.array([0.0, 2.0, 1.0, 3.0, 3.0, 0.0])
    assert is_peak(x).dtype == "bool" == is_no_peak(x).dtype
    assert is_peak(x).tolist() == [False, True, False, True, False, False]
    assert is_no_peak(x).tolist() == [False, False, True, False, True, False]
    assert is_peak(x[:2]).tolist() == [False, False]
