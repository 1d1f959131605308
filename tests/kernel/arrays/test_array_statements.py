"""Views, array statements and new arrays in compiled functions, against NumPy."""

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())

a = np.arange(8.0) ** 2
b = np.linspace(0, 1, 8)
M = np.arange(12.0).reshape(3, 4)
MM = M + 1


def swap(u, v, n):
    for _t in range(n):
        for i in range(1, len(u) - 1):
            v[i] = (u[i - 1] + u[i + 1]) / 2
        u, v = (v, u)
    return u


def swaps(u, v, n):
    for _t in range(n):
        v[1:-1] = (u[:-2] + u[2:]) / 2
        u, v = (v, u)
    return (u[0], v[1], u)


def rows(a):
    s = 0.0
    for i in range(a.shape[0]):
        row = a[i]
        for j in range(len(row)):
            s += row[j] * i
    return s


def rowneg(a, k):
    r = a[k]
    r[0] = 5.0
    return (r, a[:, k], a[-1])


def sl(a):
    return (
        a[1:-1],
        a[::-1],
        a[::2],
        a[-3:],
        a[:-2],
        a[3:1],
        a[5:2:-1],
        a[-1:0:-2],
        a[100:],
        a[:100],
    )


def sl2(a, i, j):
    return (a[i:j], a[i:], a[:j], a[i:j:2], a[i:j:-1])


def m2(a):
    return (a[1:, ::2], a[..., 0], a[None, :, 1], a[:, None], a[0, ...], a.T, a[::-1, ::-1])


def expr(a, b):
    return (a + b * 2 - 1, -a, a > b, abs(a - b), a / 3, (a + b)[1:], a**2)


def bc(a, r, c):
    return (a + r, a * c, r + c, a + r[None, :])


def inplace(a):
    a[1:] += a[:-1]
    a *= 2
    a[::2] = 7
    a[1:-1] = a[2:]
    a += 1.5


def fill(n, m):
    z = np.zeros((n, m))
    o = np.ones(n, dtype=np.int64)
    f = np.full((m,), 3.5)
    e = np.empty_like(z)
    e[:] = 2
    z[0] = f
    z[:, 1] += 1
    return (z, o, f, e, np.zeros_like(f), len(z), z.shape, z.size, z.ndim)


def loopalloc(n):
    x = np.zeros(4)
    for i in range(n):
        y = x + i
        x = y * 0.5
    return x


def branch(a, b, c):
    if c:
        u = a
    else:
        u = b
    u[0] = 9.0
    return u


def retmix(a, c):
    if c:
        return a
    return a + 1


def local(a):
    x = a[1:]
    x = x[1:]
    x = x[::-1]
    return (x, x[0])


def whr(a):
    return (np.where(a > 2, a, 0.0), np.sqrt(a), np.maximum(a, 2.0), np.minimum(1.0, a))


def lap(u, v):
    v[1:-1, 1:-1] = (u[0:-2, 1:-1] + u[2:, 1:-1] + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4


def lapself(u):
    u[1:-1, 1:-1] = (u[0:-2, 1:-1] + u[2:, 1:-1] + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4


def pr(a, out):
    for i in un.prange(a.shape[0]):
        r = a[i]
        t = r * 2.0
        out[i, :] = t + 1
        out[i] += r


def shapeerr(a, b):
    a[1:] = b


def shapeerr2(a, b):
    return a + b


def neg(n):
    return np.zeros(n)


def oob(a, i):
    return a[i]


def forrow(a):
    s = 0.0
    for r in a:
        s += r[0]
    return s


def cast32(a):
    return (a + 0.5, a * 2, a + a)


def same(a):
    a[:] = a + 1
    a[...] = a * a


def cond(n):
    x = np.zeros(3)
    y = x
    for i in range(n):
        if i % 2:
            x = y + 1
        else:
            y = x + 10
        x[0] = i
    return (x, y)


def tup(a):
    t = (a[1:], a[:2])
    p, q = t
    p, q = (q, p)
    return (p, q)


def types(a):
    return (a.astype(np.int64), a.copy(), np.float32(a), np.copy(a))


CASES = [
    (swap, a, b, 3),
    (swap, a, b, 4),
    (swaps, a, b, 3),
    (swaps, a, b, 0),
    (rows, M),
    (rows, M.T),
    (rowneg, M, 1),
    (rowneg, M, -1),
    (rowneg, M, 3),
    (sl, a),
    (sl, a[::-2]),
    (sl, np.zeros(1)),
    (m2, M),
    (expr, a, b),
    (bc, M, M[0], M[:, :1]),
    (inplace, a),
    (fill, 3, 4),
    (loopalloc, 5),
    (branch, a, b, True),
    (branch, a, b, False),
    (retmix, a, True),
    (retmix, a, False),
    (local, a),
    (whr, a),
    (lap, M, MM),
    (lapself, np.arange(30.0).reshape(5, 6) ** 2),
    (pr, M, MM),
    (shapeerr, a, b),
    (shapeerr2, a, b[1:]),
    (shapeerr2, a, b[:1]),
    (neg, -1),
    (neg, 3),
    (oob, M, 3),
    (oob, M, -4),
    (oob, M, -3),
    (forrow, M),
    (cast32, a.astype(np.float32)),
    (cast32, np.arange(4, dtype=np.int32)),
    (same, a),
    (cond, 5),
    (tup, a),
    (types, a),
    *((sl2, a, i, j) for i, j in ((1, 5), (-3, -1), (5, 1), (0, 0), (-100, 100), (7, -9))),
]


def run(function, args):
    args = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        with np.errstate(all="ignore"):
            result = function(*args)
    except Exception as error:
        result = type(error)
    return result, args


def same(got, want):
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    elif isinstance(want, type) or want is None:
        assert got is want
    else:
        got, want = np.asarray(got), np.asarray(want)
        assert got.dtype == want.dtype and got.shape == want.shape
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_like_numpy(on, case):
    function, *args = case
    want, theirs = run(function, args)
    got, ours = run(un.jit(function, device=on), args)
    same(got, want)
    for x, y in zip(ours, theirs, strict=True):
        same(x, y)


def test_results_are_arrays_of_ours_that_share_memory(on):
    @un.jit(device=on)
    def parts(x):
        y = x + 1
        return y, y[1:], x[2:]

    x = un.arange(6.0)
    y, tail, view = parts(x)
    assert type(y) is un.ndarray and type(view) is un.ndarray
    tail[0] = 50.0
    assert y[1] == 50.0
    view[0] = 7.0
    assert x[2] == 7.0
    y += 1
    assert y.tolist() == [2, 51, 4, 5, 6, 7] and tail.tolist() == [51, 4, 5, 6, 7]


def test_memory_of_temporaries_is_given_back(on):
    @un.jit(device=on)
    def work(n, fails):
        x = np.zeros(1000)
        for i in range(n):
            y = x + i
            x = y * 0.5
            if fails and i == n - 1:
                raise ValueError("stop")
        return x

    def held():
        return un.stats()["bytes_in_use"]

    work(3, False)
    before = held()
    for _ in range(20):
        result = work(5, False)
        with pytest.raises(ValueError, match="stop"):
            work(5, True)
    del result
    assert held() <= before


def test_too_large(on):
    @un.jit(device=on)
    def huge(n):
        return np.zeros((n, n))

    with pytest.raises(MemoryError):
        huge(1 << 30)


def test_calls_pass_views_and_return_arrays(on):
    @un.jit(device=on)
    def scaled(x, by):
        return x * by

    @un.jit(device=on)
    def first(x):
        return x[0], x

    @un.jit(device=on)
    def outer(x):
        y = scaled(x[1:], 2.0)
        z = scaled(scaled(y, 0.5)[::-1], 3.0)
        s, w = first(z)
        w[0] = 100.0
        return y, z, s

    x = np.arange(5.0)
    y, z, s = outer(x)
    assert y.tolist() == [2, 4, 6, 8] and s == 12.0
    assert z.tolist() == [100, 9, 6, 3]
