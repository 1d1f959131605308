"""How array statements of compiled functions become loops: bits of NumPy for any layout and overlap."""

import re

import numpy as np
import pytest
import unisono as un


@pytest.fixture(params=[1, 2, 3, 7])
def threads(request):
    before = un.get_num_threads()
    un.set_num_threads(request.param)
    yield request.param
    un.set_num_threads(before)


def layouts(rows, columns):
    """The same matrix in memory of several orders, steps and directions; each call makes new ones."""
    values = np.cos(np.arange(rows * columns, dtype=float)).reshape(rows, columns)
    wide = np.zeros((rows, 2 * columns + 3))
    tall = np.zeros((2 * rows, columns + 1))
    made = [
        values.copy(),
        np.asfortranarray(values),
        wide[:, 3::2],
        tall[::-2, columns - 1 :: -1],
        np.zeros((columns, rows))[::-1].T,
    ]
    for m in made:
        m[...] = values
    return made


def compare(function, make):
    """Runs NumPy's and ours on arguments of the same layout; results and arguments have equal bytes."""
    compiled = un.jit(function)
    for k in range(len(make())):
        theirs, ours = make()[k], make()[k]
        with np.errstate(all="ignore"):
            want = function(*theirs)
        got = compiled(*ours)
        for x, y in zip(ours, theirs, strict=True):
            if isinstance(x, np.ndarray):
                assert x.tobytes() == y.tobytes(), k
        if want is not None:
            assert np.asarray(got).tobytes() == want.tobytes(), k
    return compiled


def columns(p):
    for j in range(1, p.shape[1]):
        p[:, j] = p[:, j - 1] * 0.5 + p[:, j]


def columns_apart(p):
    p[:, 0] = p[:, 2] - p[:, 1]
    p[1:, 0] = p[:-1, 0] + p[1:, 1]
    p[:-1, 1] = p[1:, 1] + p[:-1, 0]
    p[::2, 3] = p[: (p.shape[0] + 1) // 2, 3] + 0.5
    p[:, ::-1] = p + 1.0


def blocks(p):
    p[1:, ::2] = p[:-1, ::2] + 1.0
    p[:, 1::4] = p[:, 3::4][:, : p[:, 1::4].shape[1]]
    p[1:-1, 2::2] = p[:-2, 1:-1:2][:, : p[:, 2::2].shape[1]] * p[1:-1, 2::2]


@pytest.mark.parametrize("function", [columns, columns_apart, blocks], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(1, 4), (2, 4), (9, 8), (40, 24), (300, 64)], ids=str)
def test_interleaved_views(function, shape, threads):
    compare(function, lambda: [(m,) for m in layouts(*shape)])


def test_columns_need_no_temporary():
    compiled = compare(columns, lambda: [(m,) for m in layouts(40, 24)])
    p = np.ones((50, 70))
    before = un.stats()["bytes_allocated"]
    compiled(p)
    assert un.stats()["bytes_allocated"] == before


def test_rows_of_twenty_run_on_vectors_to_their_end():
    @un.jit
    def add(x, y):
        x[1:-1, 1:-1] = y[1:-1, 2:] + y[1:-1, :-2]

    x, y = np.zeros((9, 25)), np.arange(225.0).reshape(9, 25)
    add(x, y)
    np.testing.assert_array_equal(x[1:-1, 1:-1], y[1:-1, 2:] + y[1:-1, :-2])
    if "<8 x double>" in add.inspect_llvm():
        assert "vec.epilog" in add.inspect_llvm()


def test_a_value_that_the_next_iteration_needs_stays_in_a_register():
    @un.jit
    def chain(a):
        for j in range(1, a.shape[0]):
            a[j] += a[j - 1]
            a[j] /= 9.0

    a = np.arange(50.0)
    want = a.copy()
    chain.py_func(want)
    chain(a)
    assert a.tobytes() == want.tobytes()
    assert re.search(r"store_forwarded", chain.inspect_llvm())


# Expressions that names hold without memory


def flux(u, c, out):
    lap = 4.0 * u[1:-1, 1:-1] - (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    res = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flx = np.where(res * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0, 0, res)
    res = lap[1:-1, 1:] - lap[1:-1, :-1]
    fly = np.where(res * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0, 0, res)
    out[:, :] = u[2:-2, 2:-2] - c * (flx[1:, :] - flx[:-1, :] + fly[:, 1:] - fly[:, :-1])


def chain(u, c, out):
    t = u[2:-2, 2:-2] * 2.0
    t = t - c
    t = t[::-1, ::-1] + t
    out[...] = t
    out += u[2:-2, 2:-2] - out
    k = 3.0
    s = c * k
    k = 4.0
    out *= s + k


def writes_what_is_read(u, c, out):
    t = u[2:-2, 2:-2] + 1.0
    u[2:-2, 2:-2] = 7.0
    out[:, :] = t
    t = out + c
    out[:, :] = t[::-1, ::-1]
    same = out
    t = out * 2.0
    same[:, :] = 1.0
    out[:, :] = t + same
    t = c - 1.0
    view = c[:, ::-1]
    view[:, :] = 2.0
    out[:, :] += t


def holds_new_arrays(u, c, out):
    x = np.zeros(c.shape)
    y = z = np.ones(c.shape)
    t = x + c
    x[:, 1:] = 3.0
    out[:, :] = t + x
    t = y + c
    z[1:, :] = 5.0
    out[:, :] = out + t
    for k in range(3):
        t = x * k
        x = t + y
        t = x + 1.0
        w = x
        w[:, :1] = t[:, -1:]
        y = t - w
        out += t * y
    return y


def chooses(u, c, out):
    x = np.zeros(c.shape)
    if u.shape[0] > 20:
        x = c
    t = x + 1.0
    x[:, :] = 2.0
    out[:, :] = t
    return x + 0.0


def spreads(u, c, out):
    row = c[0] * 2.0
    column = c[:, :1] + 1.0
    out[:, :] = row * column
    t = c[:1] - row
    out += t
    total = 0.0
    t = c * c
    for i in range(c.shape[0]):
        total += t[i, 0]
    out += total
    made = c
    made[:, 1:] = c[:, :-1]


def in_loops(u, c, out):
    t = c + 0.0
    for k in range(4):
        s = t * 0.5
        out[:, :] = s + k
        s = out * out
        t = s - c
    out[:, :] = t


def blocks_of_their_own(u, c, out):
    for k in range(2):
        t = c * k
        s = t + 1.0
        out[:, :] = out + s
    for k in range(2):
        t = out - k
        s = t * c
        out[:, :] = s
    if u.shape[0] > 20:
        s = c + 5.0
        out[:, :] = out * s
    last = c * 0.5
    for k in range(3):
        if k == 2:
            out[:, :] = out + last
        last = c * k
        out[:, :] = last - out
    out += last


@un.jit
def twice(x):
    return x + x


@un.jit
def wave(x, k=2):
    return np.where(x > 0.25, x * k, -x)


def reduces(u, c, out):
    t = c - 0.5
    high = np.max(t, axis=1)
    out[:, :] = t
    d = u[1:-1, 1:-1] * 0.5
    e = d[1:-1, 1:-1] + c
    out += np.min(e, axis=0)
    t = c * 2.0
    low = (t + out).min()
    some = np.any(t > low)
    out += low + high[0] + some
    t = out + 1.0
    out[:1] = np.max(t)
    out[:1] += np.max(out + 1.0)


def calls_formulas(u, c, out):
    t = twice(c)
    c[0, 0] = 7.0
    out[:, :] = t + twice(twice(u[2:-2, 2:-2]))
    out += wave(out) + wave(k=3, x=c[::-1])
    out[:, 0] = twice(0.5) + wave(out[:, 0], 2.0)
    same = twice(out)
    same[:, :] = 1.0
    out += np.square(same) + np.deg2rad(c)


PROGRAMS = [
    flux,
    reduces,
    calls_formulas,
    blocks_of_their_own,
    chain,
    writes_what_is_read,
    holds_new_arrays,
    chooses,
    spreads,
    in_loops,
]


def grids(rows, columns):
    made = []
    for u in layouts(rows, columns):
        for c in layouts(rows - 4, columns - 4):
            made.append((u, c, np.zeros((columns - 4, rows - 4)).T))
    whole = np.cos(np.arange(2.0 * rows * columns)).reshape(2 * rows, columns)
    made.append((whole[:rows], whole[2 : rows - 2, 4:], whole[rows + 2 : -2, 4:]))
    made.append((whole[:rows].copy(), whole[rows + 2 : -2, 4:], whole[rows + 3 : -1, :-4]))
    return made


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(5, 5), (6, 9), (30, 21), (120, 140)], ids=str)
def test_expressions_that_wait(function, shape, threads):
    compare(function, lambda: grids(*shape))


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_expressions_that_wait_in_the_interpreter(function):
    for k in range(len(grids(6, 9))):
        theirs, ours = grids(6, 9)[k], grids(6, 9)[k]
        want = function(*theirs)
        got = un.jit(function, device="interp")(*ours)
        for x, y in zip(ours, theirs, strict=True):
            assert x.tobytes() == y.tobytes(), k
        assert want is None or np.asarray(got).tobytes() == want.tobytes(), k


def test_what_waits_has_no_memory_and_is_explained():
    compiled = un.jit(flux)
    u, c, out = np.ones((40, 50)), np.ones((36, 46)), np.zeros((36, 46))
    compiled(u, c, out)
    before = un.stats()["bytes_allocated"]
    compiled(u, c, out)
    lap = 38 * 48 * 8
    assert lap <= un.stats()["bytes_allocated"] - before < 1.2 * lap
    report = compiled.parallel_report()
    assert "flux: array 'flx' at line" in report and "array 'lap'" not in report
    line = next(i for i, s in enumerate(compiled.explain().splitlines()) if "flx = " in s)
    assert "no array is made: computed where it is read" in "\n".join(
        compiled.explain().splitlines()[line : line + 4]
    )


def test_what_only_reductions_read_has_no_memory():
    def spread(x):
        t = (x[1:] - x[:-1]) ** 2
        s = (1 - x[:-1]) * 2
        return np.sum(t + s), (t * s).max(), np.mean(t)

    compiled = un.jit(spread)
    x = np.cos(np.arange(20000.0))
    compiled(x)
    before = un.stats()["bytes_allocated"]
    got = compiled(x)
    assert un.stats()["bytes_allocated"] - before < x.nbytes / 10
    t, s = (x[1:] - x[:-1]) ** 2, (1 - x[:-1]) * 2
    assert got == (float(un.sum(un.array(t + s))), (t * s).max(), float(un.mean(un.array(t))))


# Rows of a few elements


REDUCTIONS = [
    lambda x: np.sum(x, axis=-1),
    lambda x: np.sum(x * x),
    lambda x: np.prod(x, axis=-1),
    lambda x: x.mean(axis=-1),
    lambda x: x.sum(axis=(0, 1)),
    lambda x: np.max(x, axis=-1),
    lambda x: np.all(x > 0.5, axis=-1),
]


@pytest.mark.parametrize("width", [0, 1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("which", range(len(REDUCTIONS)))
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool", "complex128"])
def test_rows_of_few_elements(which, width, dtype):
    if dtype == "complex128" and which >= 5:
        pytest.skip("no order of complex numbers")
    if width == 0 and which == 5:
        pytest.skip("no extreme of nothing")
    reduction = REDUCTIONS[which]
    values = np.cos(np.arange(2 * 37 * 8 * 3.0)).reshape(2, 37, 24)
    values[0, 0, ::3], values[0, 1, 1], values[1, 3, :8] = -0.0, np.nan, np.inf
    with np.errstate(all="ignore"):
        x = (values * 3).astype(dtype) if dtype != "bool" else values > 0
    compiled = un.jit(reduction)
    for part in (x[:, :, :width].copy(), x[:, :, : 3 * width : 3], x[:, ::-1, :width]):
        with np.errstate(all="ignore"):
            got, want = np.asarray(compiled(part)), np.asarray(ours_of(reduction, part))
        assert got.shape == want.shape and (got.dtype == want.dtype or not got.shape)
        assert np.array_equal(got, want, equal_nan=want.dtype.kind in "fc")
        assert np.array_equal(np.signbit(got.real), np.signbit(want.real)) or np.isnan(want).any()


def ours_of(function, x):
    """By the arrays' own loops, which add in the same order."""
    import types

    own = types.FunctionType(function.__code__, {**globals(), "np": un})
    return own(un.array(x))


# Large results


def plus(a, b):
    return a + b


def clipped(a, b):
    return np.clip(a, 2, 10) * b - a


@pytest.mark.parametrize("function", [plus, clipped], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex128"])
def test_results_beyond_the_caches(function, dtype, threads):
    if dtype == "complex128" and function is clipped:
        pytest.skip("no order of complex numbers")
    compiled = un.jit(function)
    itemsize = np.dtype(dtype).itemsize
    for rows, columns in ((1, 17 << 20), (17 << 17, 7), (2051, (17 << 9) + 3)):
        columns = max(columns // itemsize, 1)
        a = np.arange(rows * columns).reshape(rows, columns).astype(dtype)
        b = a[:, ::-1]
        assert np.asarray(compiled(a, b)).tobytes() == function(a, b).tobytes()
    line = np.arange((17 << 20) // itemsize + 1).astype(dtype)
    assert np.asarray(compiled(line, line[0])).tobytes() == function(line, line[0]).tobytes()


def test_large_results_are_stored_past_the_caches():
    compiled = un.jit(plus)
    a = np.ones((3, 5))
    np.testing.assert_array_equal(compiled(a, a), a + a)
    if "x86" in compiled.inspect_llvm():
        assert "nontemporal" in compiled.inspect_llvm()
