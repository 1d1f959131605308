"""Array programs give NumPy's values on every device: one body, both namespaces."""

import numpy as np
import pytest
import unisono as un

DTYPES = [np.bool_, np.uint8, np.int32, np.int64, np.float32, np.float64]


def host(x):
    return np.asarray(x.to_device("cpu"))


def same(got, want):
    got = host(got)
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def numbers(shape, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(-50 if np.dtype(dtype).kind != "u" else 0, 50, shape).astype(dtype)


def test_listing_3_2(device):
    u = np.zeros((64, 70))
    u[0, :], u[:, 0], u[:, -1] = 100, 75, 50
    v = un.asarray(u, device=device)
    for _ in range(5):
        for a in (u, v):
            a[1:-1, 1:-1] = ((a[0:-2, 1:-1] + a[2:, 1:-1]) + (a[1:-1, 0:-2] + a[1:-1, 2:])) / 4
    same(v, u)


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip_and_casts(device, dtype):
    x = numbers((3, 5), dtype)
    a = un.asarray(x, device=device)
    same(a, x)
    for to in DTYPES:
        same(a.astype(np.dtype(to).name), x.astype(to))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_arithmetic_and_comparison(device, dtype):
    x, y = numbers((4, 7), dtype), numbers((7,), dtype, seed=1)
    y[y == 0] = 3
    a, b = un.asarray(x, device=device), un.asarray(y, device=device)
    same(a + b * 2 - a, x + y * 2 - x)
    same(a / b, x / y)
    same(a // b, x // y)
    same(a % b, x % y)
    same(-a, -x)
    same(abs(a), abs(x))
    for compare in ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"):
        same(getattr(a, compare)(b), getattr(x, compare)(y))
    same(un.where(a < b, a, b), np.where(x < y, x, y))
    same(un.sqrt(abs(a)), np.sqrt(abs(x)))


def test_views(device):
    x = numbers((8, 9, 10))
    a = un.asarray(x, device=device)
    same(a[::-1, 1::3, 4] + 1, x[::-1, 1::3, 4] + 1)
    same(a[2:6][1:3, ::-2], x[2:6][1:3, ::-2])
    for v in (a, x):
        v[1:, :, 3] = v[:-1, :, 4]
        v[::2, 0] += v[1::2, 1]
    same(a, x)


@pytest.mark.parametrize("shift", [1, 2, -1])
def test_overlapping_in_place(device, shift):
    x = numbers(100)
    a = un.asarray(x, device=device)
    for v in (a, x):
        if shift > 0:
            v[shift:] += v[:-shift]
        else:
            v[:shift] += v[-shift:]
    same(a, x)


@pytest.mark.parametrize("shape", [(0,), (1,), (5, 0), (513,), (7, 1300), (1300, 7), (3, 4, 5)])
def test_reductions(device, shape):
    x = numbers(shape)
    a = un.asarray(x, device=device)
    assert float(a.sum()) == x.sum()
    for axis in range(x.ndim):
        same(a.sum(axis=axis), x.sum(axis=axis))
        if x.shape[axis]:
            same(a.max(axis=axis), x.max(axis=axis))
            same(a.min(axis=axis), x.min(axis=axis))


def test_sums_have_the_bits_of_the_cpu(device):
    x = np.random.default_rng(1).standard_normal((37, 1111))
    on_cpu = un.asarray(x)
    there = un.asarray(x, device=device)
    assert float(there.sum()) == float(on_cpu.sum())
    for axis in (0, 1):
        same(there.sum(axis=axis), np.asarray(on_cpu.sum(axis=axis)))
    same((there * 3 - 1).sum(axis=1), np.asarray((on_cpu * 3 - 1).sum(axis=1)))


def test_leaves_of_sums_have_the_bits_of_the_cpu(device):
    """Those of 512 elements have code of their own, with what is stored beside them."""
    x = np.random.default_rng(1).standard_normal((3, 1537))
    for length in (511, 512, 1537):
        parts = [un.asarray(x[:, :length], device=where) for where in ("cpu", device)]
        results = []
        for a in parts:
            doubled = a * 2
            results.append([doubled.sum(axis=1), doubled, a.max(axis=1), (a * a).sum(axis=1)])
        for want, got in zip(*results, strict=True):
            same(got, host(want))
    if device != "cpu":
        text = un.explain(un.asarray(x, device=device).sum(axis=1), code=True)
        assert text.count(" = in0[") > 2 * 32  # its lanes are variables


def test_nothing_contracts(device):
    for dtype in (np.float32, np.float64):
        e = np.finfo(dtype).eps
        k = np.arange(1, 200).astype(dtype)
        x, y = (1 + k * e).astype(dtype), (1 - k * e).astype(dtype)
        one = np.ones_like(x)
        a, b, c = (un.asarray(v, device=device) for v in (x, y, one))
        same(a * b - c, x * y - one)


def test_devices_do_not_mix(device):
    a = un.ones(3, device=device)
    others = [d for d in un.devices() if d != device]
    if not others:
        pytest.skip("one device only")
    with pytest.raises(un.DeviceError, match=r"operands live on different devices"):
        a + un.ones(3, device=others[0])


def test_an_array_beyond_the_memory(device):
    with pytest.raises(MemoryError, match="does not fit"):
        un.zeros((10**7, 10**7), device=device)


def test_synchronize_waits_for_devices(device):
    """What a device computes is there for those who look at its memory without the engine."""
    x = un.zeros(1000, device=device) + 1
    un.synchronize()
    assert un.stats()["pending_operations"] == 0
    assert float(x.sum()) == 1000


@pytest.mark.parametrize("exponent", [3.0, -7.0, 64.0, 65.0, 1.7])
def test_powers_have_the_bits_of_the_cpu(device, exponent):
    """Products up to the 64th power, logarithms beyond, however the exponent is given."""
    for dtype in (np.float32, np.float64):
        x = (np.random.default_rng(2).uniform(0.1, 8, 500)).astype(dtype)
        want = np.asarray(un.array(x) ** exponent)
        there = un.asarray(x, device=device)
        same(there**exponent, want)
        same(there ** un.asarray(np.full(500, exponent, dtype), device=device), want)
        mixed = np.where(np.arange(500) % 2, exponent, 2.5).astype(dtype)
        same(there ** un.asarray(mixed, device=device), np.asarray(un.array(x) ** un.array(mixed)))


@pytest.mark.parametrize(
    "beside", [[1, 2, 3], (1.5, 2.5, 3.5), np.arange(3.0), np.ones((2, 1), "int16")]
)
def test_what_is_no_array_of_ours_goes_to_the_device(device, beside):
    a = np.array([3.0, 1.0, 2.0])
    x = un.asarray(a, device=device)
    for f in (
        lambda v: v + beside,
        lambda v: beside - v,
        lambda v: v < beside,
        lambda v: un.minimum(v, beside),
        lambda v: un.where(v > 1, v, beside),
        lambda v: un.clip(v, 0, beside),
    ):
        y = f(x)
        assert y.device == device
        same(y, f(un.asarray(a)))
    if np.ndim(beside) == 1:
        same(x @ beside, a @ np.asarray(beside))
        x *= beside
        same(x, a * np.asarray(beside))


def test_extremes_of_complex_numbers(device):
    z = np.array([[1 + 2j, 3 - 1j, 3 + 4j], [3 + 5j, 0, -1j]])
    x = un.asarray(z, device=device)
    for name in ("max", "min"):
        for axis in (None, 0, 1):
            same(getattr(un, name)(x, axis=axis), getattr(np, name)(z, axis=axis))


def test_complex_numbers_and_their_parts_are_views_of_each_other(device):
    x = un.arange(6.0, device=device)
    z = x.view("complex128")
    z += 1j
    same(x, np.array([0.0, 2, 2, 4, 4, 6]))
    same(z.view("float64"), np.asarray(x))


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_bytes_in_an_order(device, order):
    a = np.arange(6.0).reshape(2, 3)
    x = un.asarray(a, device=device)
    assert x.tobytes(order) == a.tobytes(order) and x.T.tobytes(order) == a.T.tobytes(order)


def test_lists_in_products_and_joins(device):
    a = np.arange(6.0).reshape(2, 3)
    x = un.asarray(a, device=device)
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    for f in (
        lambda xp, v: xp.dot(v, rows),
        lambda xp, v: xp.inner([1.0, 2.0, 3.0], v),
        lambda xp, v: xp.vdot(v, np.ones(6)),
        lambda xp, v: xp.outer([1, 2], v),
        lambda xp, v: xp.tensordot(v, rows, 1),
        lambda xp, v: xp.einsum("ij,jk->k", v, rows),
        lambda xp, v: xp.concatenate([v, [[7, 8, 9]]]),
        lambda xp, v: xp.stack([rows, v.T]),
        lambda xp, v: xp.hstack([[[1], [2]], v]),
    ):
        y = f(un, x)
        assert np.isscalar(y) or y.device == device
        same(un.asarray(y), f(np, a))
    same(un.asarray([x[0], [7, 8, 9], x[1]]), [a[0], [7.0, 8, 9], a[1]])


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_sums_of_any_number_of_leaves_have_the_hosts_bits(device, dtype):
    """Leaves of eight rows, or 512 elements, and nodes of 32: whole ones, and what is left of one."""
    for rows in (7, 8, 255, 256, 257, 8 * 32 * 32 + 13):
        n = np.random.default_rng(rows).standard_normal((rows, 5)).astype(dtype)
        x, there = un.array(n), un.array(n, device=device)
        for axis in (0, None):
            assert host(un.sum(there, axis=axis)).tobytes() == host(un.sum(x, axis=axis)).tobytes()
            assert (
                host(un.sum(there.T, axis=axis)).tobytes() == host(un.sum(x.T, axis=axis)).tobytes()
            )
