"""float16 against NumPy: conversions bit by bit, arithmetic, functions, reductions, neighbours, exchange."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

EXECUTORS = ("block", "cpu", "interp")
ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def same(ours, theirs):
    """Equal dtypes and bits; NaN of any sign and payload equals NaN."""
    host, theirs = np.asarray(ours), np.asarray(theirs)
    assert host.dtype == theirs.dtype
    assert host.shape == theirs.shape
    np.testing.assert_array_equal(host, theirs)
    if host.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(host[host == 0]), np.signbit(theirs[theirs == 0]))


@pytest.fixture(params=EXECUTORS)
def executor(request):
    un._engine._set_setting("executor", request.param)
    yield request.param
    un._engine._set_setting("executor", "auto")


def test_every_number_becomes_a_wider_one(executor):
    for dtype in ("float32", "float64", "complex64", "bool"):
        same(un.asarray(ALL).astype(dtype), ALL.astype(dtype))


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding(executor, dtype):
    # Around every number and every tie: the neighbours in the wider format.
    wide = ALL[np.isfinite(ALL)].astype(dtype)
    between = (wide[:-1] + wide[1:]) / 2
    x = np.concatenate([wide, between])
    x = np.concatenate(
        [x, np.nextafter(x, x.dtype.type(np.inf)), np.nextafter(x, x.dtype.type(-np.inf))]
    )
    x = np.concatenate(
        [x, np.array([65519.999, 65520, 1e30, -1e30, 1e-30, np.inf, np.nan, -0.0], dtype)]
    )
    same(un.asarray(x).astype("float16"), x.astype("float16"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "op", ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "fmod"]
)
def test_arithmetic(executor, op):
    random = np.random.default_rng(3)
    a, b = random.choice(ALL, 5000), random.choice(ALL, 5000)
    if op == "floor_divide":  # infinity: as the array API has it
        a[np.isinf(a)], b[np.isinf(b)] = 1, 1
    expected = getattr(np, op)(a, b)
    same(getattr(un, op)(un.asarray(a), un.asarray(b)), expected)
    same(getattr(un, op)(un.asarray(a), 2.5), getattr(np, op)(a, 2.5))
    one = [getattr(un, op)(un.asarray(a)[k], un.asarray(b)[k]) for k in range(200)]
    same(un.stack(one), expected[:200])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    "sqrt exp log sin tanh arctan cbrt rint floor negative sign absolute isnan signbit".split(),
)
def test_functions(executor, name):
    expected = getattr(np, name)(ALL)
    got = np.asarray(getattr(un, name)(un.asarray(ALL)))
    assert got.dtype == expected.dtype
    if expected.dtype == bool or name in ("sqrt", "rint", "floor", "negative", "sign", "absolute"):
        return same(got, expected)
    # Both round a float32 result: one neighbour apart where that lies next to a tie.
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(got), finite)
    apart = np.abs(
        got[finite].view(np.int16).astype(int) - expected[finite].view(np.int16).astype(int)
    )
    assert apart.max() <= 1
    assert (apart > 0).mean() < 1e-3


@pytest.mark.parametrize("name", ["bool", "int8", "uint8"])
def test_functions_of_small_integers_are_float16(name):
    x = np.array([0, 1, 1], name)
    for f in ("sqrt", "exp", "arctan", "rint", "deg2rad"):
        same(getattr(un, f)(un.asarray(x)), getattr(np, f)(x))
    for f in ("hypot", "copysign", "nextafter", "logaddexp", "arctan2"):
        assert getattr(un, f)(un.asarray(x), un.asarray(x)).dtype == "float16"


def test_neighbours():
    pairs = np.array(np.meshgrid(ALL[::97], ALL[::53])).reshape(2, -1)
    with np.errstate(all="ignore"):
        expected = np.nextafter(*pairs)
    same(un.nextafter(*map(un.asarray, pairs)), expected)
    same(un.nextafter(un.float16(1), 2.0), np.nextafter(np.float16(1), np.float16(2)))
    x = un.asarray(pairs[0][:9])
    un.nextafter(x, un.asarray(pairs[1][:9]), out=x)
    same(x, expected[:9])


def test_sums_are_float32_inside():
    x = np.full(100_000, 0.1, np.float16)
    same(un.asarray(x).sum(), x.sum())
    same(un.asarray(x).mean(), x.mean())
    same(un.asarray(x.reshape(100, -1)).max(axis=0), x.reshape(100, -1).max(axis=0))
    assert un.asarray(x).sum(dtype="float64").dtype == "float64"
    big = np.full(3000, 30.0, np.float16)
    assert float(un.cumsum(un.asarray(big))[-1]) == np.inf
    assert float(un.cumsum(un.asarray(big))[1999]) == 60000.0


def test_products():
    random = np.random.default_rng(4)
    a, b = random.integers(-4, 5, (7, 33)).astype("e"), random.integers(-4, 5, (33, 5)).astype("e")
    same(un.asarray(a) @ un.asarray(b), a @ b)
    same(un.dot(un.asarray(a[0]), un.asarray(a[1])), np.dot(a[0], a[1]))
    out = un.empty((7, 5), "float16")
    un.matmul(un.asarray(a), un.asarray(b), out=out)
    same(out, a @ b)


def test_in_place_and_indexing(executor):
    a = np.linspace(-3, 3, 200).astype("e").reshape(10, 20)
    b = un.array(a)
    for x in (a, b):
        x[2:5, ::3] *= 1.1
        x += x[::-1]
        x[x > 2] = 0.1
        x[[1, 3]] = x[[3, 1]]
        x[0, 0] = 7
        x[0, 1] = np.float64(1 / 3)
        x[-1] = x[:, 4:5][:1] / 3
    same(b, a)
    same(un.where(b > 0, b, un.float16(9)), np.where(a > 0, a, np.float16(9)))


@pytest.mark.host_only("shares memory with the host")
def test_exchange(tmp_path):
    a = un.asarray(ALL[:100])
    assert memoryview(a).format == "e"
    same(un.asarray(memoryview(a)), ALL[:100])
    same(np.from_dlpack(a), ALL[:100])
    same(un.from_dlpack(ALL[:100]), ALL[:100])
    un.save(tmp_path / "x.npy", a)
    same(np.load(tmp_path / "x.npy"), ALL[:100])
    same(un.load(tmp_path / "x.npy"), ALL[:100])
    assert un.array([0.1, 2], "half").tolist() == np.array([0.1, 2], "half").tolist()
    assert str(un.array([0.1, 2, 1 / 3], "e")) == str(np.array([0.1, 2, 1 / 3], "e"))
    assert un.dtype("f2") is un.float16
    assert repr(un.float16(0.1)) == "un.float16(0.1)"


def test_limits():
    ours, theirs = un.finfo("float16"), np.finfo("float16")
    for name in "bits eps epsneg max min smallest_normal tiny smallest_subnormal precision nmant nexp minexp maxexp".split():
        assert float(getattr(ours, name)) == float(getattr(theirs, name)), name


def test_floor_division_beside_comparisons_of_float64(executor):
    """Processors that compute halves themselves took other masks for their signs."""
    v, c = np.array([1, -1, 3, -2] * 8, "float16"), np.full(32, 9.0)
    a, b = un.asarray(v).copy(), un.asarray(c).copy()
    same((a < b) // a, (v < c) // v)
    same((a < b) % a, (v < c) % v)
