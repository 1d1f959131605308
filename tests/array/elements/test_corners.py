"""Corners where NumPy's behaviour is easily missed: one body for both."""

import pickle
import warnings

import numpy as np
import pytest
import unisono as un
from differential import compare

pytestmark = pytest.mark.everywhere


@pytest.fixture(params=[np, un], ids=["numpy", "unisono"])
def xp(request):
    return request.param


def test_ravel_copies_what_is_not_packed(xp):
    a = xp.arange(8)
    b = a[::-1].ravel()
    b[:] = 0
    assert a.tolist() == list(range(8))
    c = a[None, 2:4].ravel()
    c[:] = 9
    assert a.tolist() == [0, 1, 9, 9, 4, 5, 6, 7]
    d = xp.broadcast_to(a, (1, 8)).ravel()
    with pytest.raises(ValueError, match="read-only"):
        d[0] = 1


def test_out_decides_in_which_dtype_is_summed(xp):
    out = xp.zeros(2, "float64")
    xp.sum(xp.full((2, 3), 0.1, "float32"), axis=1, out=out)
    assert out.tolist() == [float(np.float32(0.1)) * 3] * 2
    flags = xp.zeros(2, bool)
    xp.sum(xp.ones((2, 3), bool), axis=1, out=flags)
    assert flags.tolist() == [True, True]
    xp.copyto(flags, False, where=xp.float64(2))
    assert flags.tolist() == [False, False]
    with pytest.warns(np.exceptions.ComplexWarning):
        made = xp.concatenate([xp.ones(1, complex), xp.ones(1)], dtype="float64", casting="unsafe")
    assert made.tolist() == [1, 1]


def test_order_of_memory_is_that_of_the_strides(xp):
    a = xp.arange(24).reshape(2, 3, 4)
    for b in (a, a.T, a.transpose(1, 2, 0), a.transpose(2, 0, 1), a[:, ::2].transpose(2, 0, 1)):
        assert xp.ravel(b, order="K").tolist() == sorted(b.ravel().tolist())
        assert b.copy(order="K").ravel(order="K").tolist() == sorted(b.ravel().tolist())
    b = a.transpose(1, 2, 0).copy(order="K")
    assert b.strides == a.transpose(1, 2, 0).strides
    c = xp.broadcast_to(xp.asfortranarray(a[:, :1, :3]), (2, 4, 3))
    assert c.ravel("K").tolist() == [0, 12, 1, 13, 2, 14] * 4
    assert xp.ones((2, 3), order="f").flags.f_contiguous
    f = xp.zeros((2, 3, 4), order="F")
    assert xp.copy(f).flags.f_contiguous and xp.copy(f, order="C").flags.c_contiguous
    assert xp.asanyarray(f, order="C").flags.c_contiguous
    assert xp.array(f, copy=False) is f and xp.array(f, copy=None) is f and xp.array(f) is not f
    assert xp.ascontiguousarray(a) is a and xp.asfortranarray(f) is f
    assert xp.gradient(a * 1.0, axis=1).flags.c_contiguous
    with pytest.raises(ValueError, match="order"):
        xp.ones(2, order="x")


@pytest.mark.host_only("shares memory with the host")
def test_axes_of_extent_1_keep_an_array_packed():
    a = un.arange(12).reshape(3, 4)
    for view in (a[None], a[:, None], a[1:2], a[1:2, 2:3], a[2:1], a.reshape(3, 1, 4)[:, ::-1]):
        assert memoryview(view).c_contiguous, view.shape


def test_a_cast_is_refused_before_a_shape(xp):
    a = xp.zeros(3, dtype="int64")
    with pytest.raises(TypeError, match="[Cc]annot cast"):
        a += xp.ones((2, 3))
    with pytest.raises(ValueError, match="broadcast"):
        a += xp.ones((2, 3), dtype="int64")


def test_a_sequence_is_no_element(xp):
    a = xp.zeros(3, dtype="uint8")
    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        a[1] = xp.ones(1)
    a[1:2] = xp.ones(1)
    assert a.tolist() == [0, 1, 0]
    b = xp.zeros(3, dtype=bool)
    b[1] = xp.ones(1)
    assert b.tolist() == [False, True, False]


@pytest.mark.parametrize(
    "dtype, value, error",
    [
        ("int64", float("nan"), ValueError),
        ("int32", float("inf"), OverflowError),
        ("int32", 1e10, OverflowError),
        ("int64", 1e300, OverflowError),
        ("uint8", 300.0, OverflowError),
        ("uint8", -1.0, OverflowError),
        ("uint8", 256, OverflowError),
        ("int32", 2**31, OverflowError),
    ],
)
def test_numbers_that_integers_do_not_hold(xp, dtype, value, error):
    a = xp.zeros(2, dtype=dtype)
    with pytest.raises(error):
        a[0] = value
    with pytest.raises(error):
        a[:] = value
    assert a.tolist() == [0, 0]
    a[0] = 100.9
    assert a.tolist() == [100, 0]


def test_keepdims_of_0d_is_a_scalar(xp):
    total = xp.asarray(3.0).sum(keepdims=True)
    other = total
    total += 1
    assert float(other) == 3 and float(total) == 4


def test_reductions_beside_axes_of_extent_1(xp):
    x = np.arange(5.0).reshape(1, 5)
    x[0, 1] = np.nan
    a = xp.asarray(x)
    assert np.isnan(float(a.max()))
    assert a.sum(axis=0).shape == (5,) and np.isnan(float(a[:, :, None].min(axis=1)[0, 0]))


def test_the_type_makes_arrays_of_a_shape():
    a = un.ndarray((2, 3), dtype=un.float32)
    assert a.shape == (2, 3) and a.dtype == "float32" and un.ndarray(4).dtype == "float64"
    a[:] = 1
    assert float(a.sum()) == 6
    with pytest.raises(TypeError):
        un.ndarray()


class _Adder:
    def add(self, a):
        return a + 1


# What programs of others use, from NumPy's own tests.
USED = [
    lambda m: m.arange(3).dot(m.arange(3)),
    lambda m: m.arange(m.int64(5)),
    lambda m: m.arange(m.int32(1), m.array(7), m.uint8(2)),
    lambda m: m.arange(m.uint64(1), 5),
    lambda m: m.arange(m.float32(0.1), 2, m.float32(0.3)),
    lambda m: m.ones((2, 3)).dot(m.ones((3, 2))),
    lambda m: m.arange(9).reshape(3, 3).trace(1),
    lambda m: m.logical_and([True, False], [True, True], out=m.zeros(2, bool)),
    lambda m: m.ldexp(m.ones(2), m.ones(2, int), out=m.zeros(2)),
    lambda m: m.hanning(m.uint8(10)),
    lambda m: m.bartlett(m.array(10, dtype="uint64")),
    lambda m: m.interp(0.5, [-m.inf, m.inf], [10, 10]),
    lambda m: m.interp([0.5, -1], [-m.inf, 1], [0, 10]),
    lambda m: m.interp(0.5, [0, 1], [-m.inf, 10]),
    lambda m: m.interp([0.5, 0.2, m.nan], [0, 1], [1 + 1j, m.nan], left=2j),
    lambda m: m.percentile(m.arange(5, dtype="float32"), m.float32(50)),
    lambda m: m.percentile(m.arange(5, dtype="float32"), m.float64(50)),
    lambda m: m.vectorize(lambda *a: a[0] * a[1])([1, 2], [3, 4]),
    lambda m: m.vectorize(_Adder().add)(m.arange(3)),
    lambda m: m.vectorize(lambda x: x + x)(m.ones(3, "float16")),
    lambda m: m.einsum("ij,jk", m.eye(2), m.ones((2, 2)), casting="safe", order="C"),
    lambda m: isinstance(m.arange(3.0)[1], m.float64),
    lambda m: isinstance(m.arange(3)[1], (int, m.integer)),
    lambda m: isinstance(m.float32(1), (m.float64, m.integer)),
    lambda m: isinstance(m.arange(3), m.number),
    lambda m: m.zeros(m.array([2, 3])),
    lambda m: m.zeros((2, 3, 4)).transpose(m.array([2, 0, 1])),
    lambda m: m.arange(24).reshape(m.array([4, 6])),
    lambda m: m.moveaxis(m.zeros((2, 3, 4)), m.array([0]), m.array([1])),
    lambda m: m.ones(2).view(m.ndarray),
    lambda m: m.random.RandomState(5).rand(1001),
    lambda m: [m.random.RandomState(5).uniform(2, 3, n)[-1] for n in (1, 311, 312, 313, 624)],
]


def _hermitian(m, x):
    u, s, v = m.linalg.svd(m.array(x), hermitian=True)
    return s.round(12), (v @ v.T).round(12)


USED += [
    lambda m: tuple(m.linalg.svd(m.zeros((4, 0)))),
    lambda m: tuple(m.linalg.svd(m.zeros((2, 0, 3)))),
    lambda m: tuple(m.linalg.svd(m.zeros((0, 2, 3)))),
    lambda m: _hermitian(m, [[1.0, 1.0], [1.0, 1.0]]),
    lambda m: _hermitian(m, [[0.0, 0.0], [0.0, -2.0]]),
    lambda m: m.linalg.cond([[m.nan, 1.0], [1.0, 1.0]], 1),
    lambda m: m.linalg.cond([[1.0, 1.0], [1.0, 1.0]], 1),
    lambda m: m.linalg.lstsq(m.eye(4)[:, :2], m.zeros((4, 0)), rcond=None)[3],
]


@pytest.mark.parametrize("use", USED)
def test_use_of_others(use):
    compare(lambda: use(np), lambda: use(un))


def test_shape_of_random_numbers_given_by_an_array():
    assert un.random.default_rng(1).random(un.asarray([2, 3])).shape == (2, 3)


@pytest.mark.parametrize("m", [np, un])
def test_writes_are_forbidden_and_allowed(m):
    a = m.arange(5.0)
    a.setflags(write=False)
    for write in (lambda: a.__setitem__(0, 1), lambda: a.__iadd__(1), lambda: a[1:].fill(2)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    a.flags.writeable = True
    a[0] = 7
    assert a.tolist() == [7, 1, 2, 3, 4] and a.flags["W"]
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
        m.broadcast_to(m.frombuffer(b"12345678"), (2, 1)).setflags(write=True)


def test_waiting_times_are_not_negative():
    assert un.random.default_rng(1).wald(1e9, 2.25, 100_000).min() >= 0


def test_dirichlet_takes_zeros():
    drawn = un.random.default_rng(1).dirichlet([0, 1, 2.0], 4)
    assert (drawn[:, 0] == 0).all() and un.allclose(drawn.sum(axis=1), 1)


@pytest.mark.parametrize(
    "alpha", [[0.01, 0.02, 0.03], [1e-3, 1e-4], [1e-20, 1e-300], [5e-324, 0.0]]
)
def test_dirichlet_takes_small_parameters(alpha):
    drawn = un.random.default_rng(1).dirichlet(alpha, 1000)
    assert un.allclose(drawn.sum(axis=1), 1) and (drawn >= 0).all()
    if min(alpha) > 1e-4:
        expected = np.array(alpha) / sum(alpha)
        assert np.allclose(np.asarray(drawn).mean(axis=0), expected, atol=0.06)


def test_ranges_of_uniform_numbers_rise(xp):
    for low, high in ((2, 1), ([0.0, 2.0], 1), (0, [1.0, -1.0])):
        with pytest.raises(ValueError, match="high - low < 0"):
            xp.random.default_rng(1).uniform(low, high, 2)
    assert xp.random.RandomState(1).uniform(2, 1, 3).shape == (3,)


SIGNED = [-1, 0, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
UNSIGNED = [2**64 - 1, 1, 2**53 + 1, 2**53, 2**63, 2**63]


@pytest.mark.parametrize("name", "less less_equal greater greater_equal equal not_equal".split())
@pytest.mark.parametrize("dtype", ["int64", "int8"])
def test_integers_of_different_signs_compare_exactly(name, dtype):
    def use(xp):
        a = xp.asarray(SIGNED).astype(dtype)
        b = xp.asarray(UNSIGNED, dtype="uint64")
        compare_ = getattr(xp, name)
        out = xp.zeros((6, 6), dtype=bool)
        compare_(a[:, None], b, out=out)
        return [compare_(a, b), compare_(b, a), compare_(a[1], b), compare_(b[2], a[3]), out]

    for ours, expected in zip(use(un), use(np), strict=True):
        assert np.array_equal(ours, expected), (ours, expected)


def test_bins_of_narrow_integers(xp):
    x = xp.asarray([-128, -1, 0, 1, 127] * 10, dtype="int8")
    assert len(xp.histogram_bin_edges(x, "auto")) == 16


def test_variance_of_float16_is_float16(xp):
    x = xp.asarray([[1, 2], [3, 4]], dtype="float16")
    assert xp.var(x).dtype == xp.std(x, axis=0).dtype == xp.nanstd(x).dtype == "float16"


def _checked(function):
    def use(xp):
        with xp.errstate(all="raise"):
            return function(xp)

    return use


INF = float("inf")
SEVERAL = [
    _checked(
        lambda m: m.logaddexp(m.array([INF, -INF, INF, 1.0]), m.array([INF, -INF, -INF, 2.0]))
    ),
    _checked(
        lambda m: m.logaddexp2(m.array([INF, -INF, INF], "f4"), m.array([INF, -INF, -INF], "f4"))
    ),
    lambda m: m.bitwise_count(m.array([True, False])),
    lambda m: m.cov(m.array([[1.0, 2, 3]]), rowvar=False, ddof=0),
    lambda m: m.pad(m.zeros((3, 0)), 1, mode="linear_ramp"),
    lambda m: m.ndarray((2, 3), dtype="i4", buffer=bytearray(range(24))),
    lambda m: m.ndarray((2,), dtype="i4", buffer=bytearray(range(24)), offset=4, strides=(8,)),
    lambda m: m.ndarray((9,), dtype="i4", buffer=bytearray(24)),
    lambda m: m.array([0j, 0j, 1j]) ** m.array([1 + 1j, 2.5 - 3j, 2j]),
    lambda m: m.add.reduceat(m.arange(5), m.array([], dtype=int)),
    lambda m: m.zeros(3).flags == m.ones(3).flags,
    lambda m: m.zeros((3, 2)).flags == m.ones((3, 2)).T.flags,
    lambda m: m.choose(m.array([0, 1]), ([1.5, 2.5], [3.5, 4.5]), out=m.zeros(2, dtype="i4")),
    lambda m: m.random.RandomState(range(10)).rand(2),
    lambda m: pickle.loads(pickle.dumps(m.random.RandomState(3))).rand(2),
    lambda m: pickle.loads(pickle.dumps(m.random.Generator(m.random.PCG64(3)))).random(2),
    lambda m: m.random.default_rng(0).integers([2**64 - 2], [2**64 - 1], size=3, dtype="uint64"),
    lambda m: m.random.default_rng(0).integers([2**63 - 2], 2**63 - 1, size=3),
    lambda m: m.random.default_rng(0).integers([-1], 5, size=3, dtype="uint8"),
    lambda m: m.random.default_rng(0).integers([1], [500], size=3, dtype="uint8"),
    lambda m: m.random.default_rng(0).integers(0, -10, size=0),
    lambda m: m.random.default_rng(0).triangular([2] * 3, 1, 3),
    lambda m: m.random.default_rng(0).hypergeometric([1] * 3, 2, [9]),
    lambda m: m.random.default_rng(1).multivariate_hypergeometric([], 0),
]


@pytest.mark.parametrize("use", SEVERAL)
def test_several(use):
    compare(lambda: use(np), lambda: use(un))


@pytest.mark.host_only("names the device")
@pytest.mark.parametrize(
    "coefficients",
    [[1.0, 2, 3], [2, 0, -3], [0, 0, 0], [5], [-1, 1], [0, 1.5, -2.25e-7, 0], [1j, 2]],
)
def test_text_of_polynomials(coefficients):
    ours, expected = un.poly1d(coefficients, variable="y"), np.poly1d(coefficients, variable="y")
    assert str(ours) == str(expected)
    assert repr(ours) == repr(expected)


def test_long_polynomials_are_broken_into_lines():
    assert str(un.poly1d(range(1, 30))) == str(np.poly1d(range(1, 30)))


@pytest.mark.host_only("drawn one number after the other, on the host")
def test_integers_of_wide_ranges_given_by_arrays_are_uniform():
    low, high = un.array([-(2**62), 0]), un.array([2**62 + 2**61, 3])
    drawn = np.asarray(un.random.default_rng(4).integers(low, high, (40_000, 2)))
    assert (drawn >= np.asarray(low)).all() and (drawn < np.asarray(high)).all()
    share = (drawn[:, 0] < -(2**62) + 1.25 * 2**62).mean()
    assert abs(share - 0.5) < 0.02
    assert np.abs(np.bincount(drawn[:, 1]) / 40_000 - 1 / 3).max() < 0.02


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128", "int64"])
def test_products_that_start_from_0(xp, dtype):
    large = xp.asarray([[-3e4, 2e4, 1e4]], dtype=dtype) ** (1 if dtype == "float16" else 2)
    large = xp.concatenate([large] * 50, axis=1)
    for made in (large.prod(initial=0), xp.multiply.reduce(large, axis=1, initial=0)):
        assert made == 0
    if dtype != "int64":
        large[0, 1] = xp.inf
        assert xp.isnan(large.prod(initial=0))


@pytest.mark.parametrize(
    "name", ["nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanmedian", "nanpercentile"]
)
def test_nothing_but_nan_gets_a_warning(xp, name):
    x = xp.asarray([[xp.nan, xp.nan], [1.0, xp.nan]])
    more = (50,) if name == "nanpercentile" else ()
    with pytest.warns(RuntimeWarning, match="All-NaN|Mean of empty|Degrees of freedom") as caught:
        assert xp.isnan(getattr(xp, name)(x, *more, axis=1)).tolist() == [True, False]
    if xp is un:
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not xp.isnan(getattr(xp, name)(x, *more))
    for other in ("nanargmax", "nanargmin"):
        with pytest.raises(ValueError, match="All-NaN"):
            getattr(xp, other)(x, axis=1)


@pytest.mark.parametrize("lead", [(), (2,)])
def test_singular_systems_with_no_right_side(xp, lead):
    with pytest.raises(xp.linalg.LinAlgError, match="[Ss]ingular"):
        xp.linalg.solve(xp.zeros((*lead, 3, 3)), xp.zeros((*lead, 3, 0)))
    assert xp.linalg.solve(xp.ones((*lead, 1, 1)), xp.zeros((*lead, 1, 0))).shape == (*lead, 1, 0)
    assert xp.linalg.solve(xp.zeros((*lead, 0, 0)), xp.zeros((*lead, 0, 3))).shape == (*lead, 0, 3)


def test_negative_repetitions_of_nothing(xp):
    assert xp.tile(xp.zeros(0), -1).shape == (0,)
    assert xp.tile(xp.zeros((0, 3)), (-1, 2)).shape == (0, 6)
    for shape, reps in (((0, 3), -1), ((2, 0), (-1, 2)), ((3,), -1)):
        with pytest.raises(ValueError):
            xp.tile(xp.zeros(shape), reps)


@pytest.mark.parametrize("order", [None, 1, -1, 2, -2, np.inf, "fro"])
def test_conditions_of_singular_matrices(xp, order):
    assert xp.linalg.cond(xp.zeros((2, 2)), order) == xp.inf
    stack = xp.asarray([[[0.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 2.0]]])
    condition = 2.0 if order == "fro" else 1.0
    assert np.allclose(np.asarray(xp.linalg.cond(stack, order)), [np.inf, condition])


def test_bins_of_no_width(xp):
    with pytest.raises(ValueError, match="[Tt]oo many bins"):
        xp.histogram(xp.asarray([1, 1 + 2e-16] * 10), bins=10)


def test_types_of_dtypes(xp):
    a = xp.zeros(3, dtype="float32")
    assert a.dtype.type is xp.ones(2, dtype="float32").dtype.type
    assert a.dtype.type == xp.float32 and xp.issubdtype(a.dtype.type, xp.floating)
    assert a.dtype.type(3) == 3 and a.dtype.type(3).dtype == "float32"


def test_arguments_out_of_the_ordinary(xp):
    assert xp.ix_(xp.zeros(0, dtype="float32"))[0].dtype == "float32"
    assert xp.ix_([])[0].dtype == "int64"
    assert xp.trim_zeros(xp.asarray(1.0)).tolist() == 1.0
    with pytest.raises(ValueError, match="too (large|many)"):
        xp.unravel_index(3, (2**40, 2**40))
    with pytest.raises(TypeError):
        xp.digitize([1, 2], [1j, 2])


def test_norms_of_nothing(xp):
    for shape, order in (((0, 2), 2), ((2, 0), 1), ((0, 2), np.inf), ((0,), np.inf)):
        assert float(xp.linalg.norm(xp.zeros(shape), order)) == 0
    with pytest.raises(ValueError):
        xp.linalg.norm(xp.zeros((0, 2)), -2)
    assert xp.linalg.matrix_norm(xp.zeros((3, 0, 2)), ord=2).tolist() == [0, 0, 0]


def test_complex_values_of_parts(xp):
    assert complex(xp.complex64(1, 2)) == 1 + 2j


def test_arguments_of_generators(xp):
    rng = xp.random.default_rng(1)
    x = xp.zeros((2, 3))
    with pytest.raises(ValueError, match="same shape"):
        rng.permuted(x, out=xp.zeros((1, 2, 3)))
    with pytest.raises(TypeError, match="[Cc]annot cast"):
        rng.permuted(x, out=xp.zeros((2, 3), dtype="int32"))
    with pytest.raises(xp.exceptions.AxisError):
        rng.permuted(x, axis=3)
    with pytest.raises(ValueError, match="integer"):
        rng.choice(3.0, 3)
    assert rng.dirichlet([0.0, 0.0]).tolist() == [0, 0]
    most = 2**63 - 1
    assert rng.integers(xp.int64(most), xp.uint64(most + 1)) == most
    assert rng.integers(xp.int64(most - 1), xp.int64(most)) == most - 1
