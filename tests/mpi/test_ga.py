"""Global arrays: each function against NumPy, on blocks of every kind."""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest
import unisono as un
from unisono import ga

me, nproc = ga.nodeid(), ga.nnodes()
TYPES = ["C_INT", "C_LONG", "C_FLOAT", "C_DBL", "C_SCPL", "C_DCPL"]
KINDS = ["regular", "rows", "irregular", "ghosts", "cyclic", "grid"]


def made(kind, dims, gtype=ga.C_DBL):
    """An array of a kind of distribution."""
    if kind == "regular":
        return ga.create(gtype, dims, "regular")
    if kind == "rows":
        return ga.create(gtype, dims, "rows", chunk=(0, *dims[1:]))
    if kind == "irregular":
        starts = [0, *range(dims[0] - nproc + 1, dims[0])]
        return ga.create_irreg(
            gtype, dims, [nproc] + [1] * (len(dims) - 1), starts + [0] * (len(dims) - 1)
        )
    if kind == "ghosts":
        return ga.create_ghosts(gtype, dims, [1] * len(dims))
    g_a = ga.create_handle()
    ga.set_data(g_a, dims, gtype)
    ga.set_array_name(g_a, kind)
    if kind == "cyclic":
        ga.set_block_cyclic(g_a, [3] * len(dims))
    else:
        ga.set_block_cyclic_proc_grid(g_a, [2] * len(dims), [nproc] + [1] * (len(dims) - 1))
    assert ga.allocate(g_a)
    return g_a


def numbers(dims, gtype=ga.C_DBL, seed=0):
    values = np.random.default_rng(seed).integers(-9, 10, dims)
    dtype = ga.dtype(gtype)
    return (values + 1j * values.T if dtype.kind == "c" and len(set(dims)) == 1 else values).astype(
        dtype
    )


def filled(kind, values, gtype=ga.C_DBL):
    """A global array with those elements."""
    g_a = made(kind, values.shape, gtype)
    if me == 0:
        ga.put(g_a, values)
    ga.sync()
    return g_a


def whole(g_a):
    ga.sync()
    return np.asarray(ga.get(g_a))


@pytest.fixture(autouse=True)
def destroys_all():
    yield
    ga.sync()
    ga.terminate()


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.mark.parametrize("gtype", [getattr(ga, t) for t in TYPES], ids=TYPES)
def test_put_get_acc(kind, gtype):
    values = numbers((9, 9), gtype)
    g_a = filled(kind, values, gtype)
    assert np.array_equal(whole(g_a), values)
    got = ga.get(g_a, (2, 1), (7, 8))
    assert isinstance(got, un.ndarray) and np.array_equal(np.asarray(got), values[2:7, 1:8])
    buffer = np.zeros((9, 9), ga.dtype(gtype))
    assert ga.get(g_a, (0, 3), (9, 5), buffer[:, 3:5]) is not None
    assert np.array_equal(buffer[:, 3:5], values[:, 3:5]) and not buffer[:, 5:].any()
    ga.sync()
    ga.acc(g_a, np.ones((9, 9)), alpha=2)
    assert np.array_equal(whole(g_a), values + 2 * nproc)


def test_distributions_cover_everything_once(kind):
    g_a = made(kind, (10, 7))
    seen = np.zeros((10, 7), int)
    blocks = ga.total_blocks(g_a) if kind in ("cyclic", "grid") else nproc
    for proc in range(blocks):
        lo, hi = ga.distribution(g_a, proc)
        if lo[0] >= 0:
            seen[ga.zip(lo, hi)] += 1
    assert (seen == 1).all()
    parts, owners = ga.locate_region(g_a, (1, 1), (9, 6))
    assert len(owners) == ga.locate_nnodes(g_a, (1, 1), (9, 6))
    assert sum(np.prod(hi - lo) for lo, hi in parts) == 40
    for (lo, _), owner in zip(parts, owners, strict=True):
        assert ga.locate(g_a, lo) == owner
    assert ga.locate(g_a, (10, 0)) == -1


def test_the_documented_irregular_distribution():
    """The figure of ga4py's documentation needs 6 ranks; its rows need 3."""
    if nproc < 3:
        with pytest.raises(ValueError, match="more blocks than ranks; got 3"):
            ga.create_irreg(ga.C_DBL, [8, 10], [3, 1], [0, 2, 6, 0])
        return
    g_a = ga.create_irreg(ga.C_DBL, [8, 10], [3, 1], [0, 2, 6, 0])
    ranges = [tuple(map(tuple, ga.distribution(g_a, p))) for p in range(3)]
    assert ranges == [((0, 0), (2, 10)), ((2, 0), (6, 10)), ((6, 0), (8, 10))]
    assert ga.nblock(g_a).tolist() == [3, 1]
    assert ga.proc_topology(g_a, 2).tolist() == [2, 0]
    if nproc > 3:
        lo, hi = ga.distribution(g_a, 3)
        assert lo.tolist() == hi.tolist() == [-1, -1]


def test_inquiries():
    g_a = ga.create_ghosts(ga.C_FLOAT, (6, 8), (1, 2), "name", chunk=(6, 0))
    assert ga.inquire_name(g_a) == "name" and ga.ndim(g_a) == 2
    gtype, dims = ga.inquire(g_a)
    assert gtype == ga.inquire_type(g_a) == ga.C_FLOAT and dims.tolist() == [6, 8]
    assert ga.inquire_dtype(g_a) == np.float32 and ga.inquire_dims(g_a).tolist() == [6, 8]
    assert ga.has_ghosts(g_a) and not ga.is_mirrored(g_a)
    g_b = ga.duplicate(g_a, "other")
    assert ga.compare_distr(g_a, g_b) and ga.inquire_name(g_b) == "other"
    assert ga.nblock(g_a).tolist() == [1, nproc]
    assert ga.inquire_memory() > 0 and ga.memory_avail() == -1 and not ga.memory_limited()
    ga.set_memory_limit(ga.inquire_memory() + 8)
    assert ga.memory_limited() and ga.memory_avail() == 8
    assert ga.create(ga.C_DBL, (100, 100)) == 0
    ga.set_memory_limit(0)
    ga.check_handle(g_a, "there")
    assert ga.initialized() and not ga.uses_ma()
    ga.set_debug(True)
    assert ga.get_debug()
    with pytest.raises(ValueError, match="no such array; got handle 7"):
        ga.ndim(7)
    with pytest.raises(ValueError, match="a patch outside of the array"):
        ga.get(g_a, (0, 0), (7, 8))
    with pytest.raises(ValueError, match="buffer shape does not match request shape"):
        ga.put(g_a, np.zeros((2, 2)), (0, 0), (3, 3))


def test_restricted_arrays():
    g_a = ga.create_handle()
    ga.set_data(g_a, (8, 3), ga.C_INT)
    ga.set_restricted_range(g_a, nproc - 1, nproc - 1)
    ga.set_chunk(g_a, (0, 3))
    assert ga.allocate(g_a)
    assert ga.locate(g_a, (0, 0)) == nproc - 1
    ga.fill(g_a, 3)
    assert (whole(g_a) == 3).all()
    assert (ga.access(g_a) is None) == (me != nproc - 1)


def test_access_shares_the_memory(kind):
    values = numbers((8, 8))
    g_a = filled(kind, values)
    if kind in ("cyclic", "grid"):
        for block in range(ga.total_blocks(g_a)):
            lo, hi = ga.distribution(g_a, block)
            if ga.locate(g_a, lo) == me:
                ga.access_block(g_a, block)[...] = block
                ga.release_update_block(g_a, block)
        ga.sync()
        lo, _ = ga.distribution(g_a, 1)
        assert ga.get(g_a, lo, lo + 1).item() == 1
        counts, extents = ga.get_block_info(g_a)
        assert (counts == -(-8 // extents)).all()
        assert ga.access_block_segment(g_a, me).size <= 64
        return
    part = ga.access(g_a)
    lo, hi = ga.distribution(g_a)
    if lo[0] < 0:
        assert part is None
    else:
        assert np.array_equal(np.asarray(part), values[ga.zip(lo, hi)])
        part[...] = part * 2
        ga.release_update(g_a)
        inner = ga.access(g_a, lo, lo + 1)
        assert inner.shape == (1, 1)
        with pytest.raises(ValueError, match="the patch is not on rank"):
            ga.access(g_a, lo, hi + 1)
    assert np.array_equal(whole(g_a), values * 2)


@pytest.mark.parametrize("gtype", [getattr(ga, t) for t in TYPES], ids=TYPES)
def test_elementwise(kind, gtype):
    x, y = numbers((7, 7), gtype, 1), numbers((7, 7), gtype, 2)
    g_a, g_b, g_c = filled(kind, x, gtype), filled("regular", y, gtype), made("rows", (7, 7), gtype)
    complex_ = x.dtype.kind == "c"
    ga.add(g_a, g_b, g_c, alpha=2, beta=-1)
    assert np.array_equal(whole(g_c), 2 * x - y)
    ga.elem_multiply(g_a, g_b, g_c)
    assert np.array_equal(whole(g_c), x * y)
    ga.elem_maximum(g_a, g_b, g_c)
    assert np.allclose(whole(g_c), np.maximum(abs(x), abs(y)) if complex_ else np.maximum(x, y))
    ga.elem_minimum(g_a, g_b, g_c)
    assert np.allclose(whole(g_c), np.minimum(abs(x), abs(y)) if complex_ else np.minimum(x, y))
    if not complex_:
        ga.median(g_a, g_b, g_c, g_c)
        assert np.array_equal(whole(g_c), np.median([x, y, np.minimum(x, y)], axis=0))
    ga.elem_divide(g_a, g_b, g_c)
    with np.errstate(all="ignore"):
        if x.dtype.kind == "i":
            expected = np.where(y == 0, 0, np.trunc(x / np.where(y == 0, 1, y))).astype(x.dtype)
        else:
            expected = x / y
    assert np.allclose(whole(g_c), expected, equal_nan=True, rtol=1e-5)
    ga.scale(g_a, 3)
    ga.add_constant(g_a, 1)
    ga.abs_value(g_a)
    assert np.allclose(whole(g_a), abs(3 * x + 1))
    ga.fill(g_a, 4, (1, 2), (5, 6))
    ga.zero(g_a, (2, 2), (3, 4))
    ga.recip(g_b)
    expected = abs(3 * x + 1).astype(x.dtype)
    expected[1:5, 2:6] = 4
    expected[2, 2:4] = 0
    assert np.allclose(whole(g_a), expected)


def test_division_by_zero_ends_nothing():
    g_a, g_b = (
        filled("regular", np.array([1.0, -1, 0, 2])),
        filled("regular", np.array([0.0, 0, 0, 2])),
    )
    ga.elem_divide(g_a, g_b, g_b)
    assert np.array_equal(whole(g_b), [np.inf, -np.inf, np.nan, 1], equal_nan=True)


def test_patches_of_other_shapes_and_transposed(kind):
    x = numbers((6, 8))
    g_a, g_b = filled(kind, x), made("regular", (8, 6))
    ga.zero(g_b)
    ga.copy(g_a, g_b, (1, 2), (4, 6), (2, 1), (5, 5))
    expected = np.zeros((8, 6))
    expected[2:5, 1:5] = x[1:4, 2:6]
    assert np.array_equal(whole(g_b), expected)
    ga.copy(g_a, g_b, (0, 0), (2, 6), (0, 0), (4, 3))  # 2 x 6 elements as 4 x 3
    expected[:4, :3] = x[:2, :6].reshape(4, 3)
    assert np.array_equal(whole(g_b), expected)
    ga.copy(g_a, g_b, (0, 0), (3, 5), (1, 1), (6, 4), trans=True)
    expected[1:6, 1:4] = x[:3, :5].T
    assert np.array_equal(whole(g_b), expected)
    ga.transpose(g_a, g_b)
    assert np.array_equal(whole(g_b), x.T)
    assert ga.dot(g_a, g_b, (0, 0), (6, 8), (0, 0), (8, 6), tb=True) == (x * x).sum()
    with pytest.raises(ValueError, match="patches differ in size"):
        ga.copy(g_a, g_b, (0, 0), (2, 2), (0, 0), (3, 3))


def test_reductions(kind):
    x, y = numbers((7, 9), seed=3), numbers((7, 9), seed=4)
    g_a, g_b = filled(kind, x), filled("regular", y)
    assert ga.dot(g_a, g_b) == (x * y).sum()
    value, index = ga.select_elem_max(g_a)
    assert value == x.max() and tuple(index) == np.unravel_index(x.argmax(), x.shape)
    value, index = ga.select_elem_min(g_a)
    assert value == x.min() and tuple(index) == np.unravel_index(x.argmin(), x.shape)
    assert ga.norm1(g_a) == abs(x).sum(axis=0).max()
    assert ga.norm_infinity(g_a) == abs(x).sum(axis=1).max()
    ga.abs_value(g_a)
    with np.errstate(all="ignore"):
        expected = np.where(y < 0, -abs(x) / y, np.inf).min()
    assert ga.step_max(g_a, g_b) == expected


def test_diagonals_rows_and_columns(kind):
    x, v = numbers((6, 6)), np.arange(1.0, 7)
    g_a, g_v = filled(kind, x), filled("regular", v)
    ga.add_diagonal(g_a, g_v)
    ga.shift_diagoal(g_a, 3)
    x += np.diag(v + 3)
    assert np.array_equal(whole(g_a), x)
    ga.scale_rows(g_a, g_v)
    ga.scale_cols(g_a, g_v)
    x = x * v[:, None] * v
    assert np.array_equal(whole(g_a), x)
    ga.get_diag(g_a, g_v)
    assert np.array_equal(whole(g_v), np.diag(x))
    ga.symmetrize(g_a)
    assert np.array_equal(whole(g_a), (x + x.T) / 2)
    ga.zero_diagonal(g_a)
    assert not np.diag(whole(g_a)).any()
    ga.set_diagonal(g_a, g_v)
    assert np.array_equal(np.diag(whole(g_a)), np.diag(x))


@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
def test_products(kind, ta, tb):
    x, y = numbers((5, 8), seed=1), numbers((8, 6), seed=2)
    g_a, g_b = filled(kind, x.T if ta else x), filled("rows", y.T if tb else y)
    g_c = filled("regular", np.ones((5, 6)))
    ga.gemm(ta, tb, 5, 6, 8, 2, g_a, g_b, 3, g_c)
    assert np.array_equal(whole(g_c), 2 * x @ y + 3)
    alo, ahi = ((1, 0), (8, 3)) if ta else ((0, 1), (3, 8))
    blo, bhi = ((0, 1), (2, 8)) if tb else ((1, 0), (8, 2))
    ga.matmul_patch(ta, tb, 1, 0, g_a, alo, ahi, g_b, blo, bhi, g_c, (2, 3), (5, 5))
    expected = 2 * x @ y + 3
    expected[2:5, 3:5] = x[:3, 1:] @ y[1:, :2]
    assert np.array_equal(whole(g_c), expected)


def test_linear_algebra(kind):
    rng = np.random.default_rng(5)
    x, b = rng.random((6, 6)), rng.random((6, 3))
    spd = x @ x.T + 6 * np.eye(6)
    g_a, g_b = filled(kind, spd), filled("regular", b)
    assert ga.llt_solve(g_a, g_b) == 0
    assert np.allclose(spd @ whole(g_b), b)
    g_x = filled(kind, x)
    ga.lu_solve(g_x, g_b, trans=True)
    assert np.allclose(spd @ (x.T @ whole(g_b)), b)
    indefinite = np.diag([1.0, 2, -1, 1, 1, 1])
    g_i, g_r = filled(kind, indefinite), filled("regular", b)
    assert ga.solve(g_i, g_r) == 3
    assert np.allclose(indefinite @ whole(g_r), b)
    assert ga.spd_invert(g_i) == 3
    g_v, g_s = made("regular", (6, 6)), filled("rows", spd)
    values = ga.diag_std(g_a, g_v)
    vectors = whole(g_v)
    assert np.allclose(spd @ vectors, vectors * values) and (np.diff(values) >= 0).all()
    symmetric = x + x.T
    g_m = filled(kind, symmetric)
    for found in (
        ga.diag(g_m, g_s, g_v),
        ga.diag_reuse(0, g_m, g_s, g_v),
        ga.diag_reuse(1, g_m, g_s, g_v),
    ):
        vectors = whole(g_v)
        assert np.allclose(symmetric @ vectors, spd @ vectors * found)
    ga.diag_reuse(-1, g_m, g_s, g_v)
    assert ga.spd_invert(g_a) == 0
    assert np.allclose(whole(g_a) @ spd, np.eye(6))


def test_scans():
    """The examples of ga4py's documentation."""
    mask = np.array([1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0], np.int32)
    source = np.arange(1, 18)
    g_m = filled("regular", mask, ga.C_INT)
    g_s, g_d = filled("regular", source, ga.C_LONG), made("regular", (17,), ga.C_LONG)
    ga.scan_add(g_s, g_d, g_m, 0, 17)
    assert whole(g_d).tolist() == [1, 3, 6, 10, 15, 21, 7, 15, 9, 19, 30, 12, 25, 39, 15, 16, 33]
    ga.scan_add(g_s, g_d, g_m, 0, 17, True)
    assert whole(g_d).tolist() == [0, 1, 3, 6, 10, 15, 0, 7, 0, 9, 19, 0, 12, 25, 0, 0, 16]
    ga.scan_copy(g_s, g_d, g_m, 0, 17)
    assert whole(g_d).tolist() == [1, 1, 1, 1, 1, 1, 7, 7, 9, 9, 9, 12, 12, 12, 15, 16, 16]
    ga.zero(g_d)
    assert ga.pack(g_s, g_d, g_m, 0, 17) == 6
    assert whole(g_d).tolist()[:7] == [1, 7, 9, 12, 15, 16, 0]
    g_u = made("regular", (17,), ga.C_LONG)
    ga.zero(g_u)
    assert ga.unpack(g_d, g_u, g_m, 0, 17) == 6
    assert whole(g_u).tolist() == (source * mask).tolist()
    ga.enum(g_u, 1, 17, 7, 2)
    assert whole(g_u).tolist() == [1, *range(7, 39, 2)]


def test_gather_scatter(kind):
    x = numbers((7, 8))
    g_a = filled(kind, x)
    at = np.random.default_rng(me).permutation([(i, j) for i in range(7) for j in range(8)])[:20]
    assert np.asarray(ga.gather(g_a, at)).tolist() == x[at[:, 0], at[:, 1]].tolist()
    assert (
        np.asarray(ga.gather(g_a, at.ravel(), np.zeros(20))).tolist()
        == x[at[:, 0], at[:, 1]].tolist()
    )
    ga.sync()
    ga.scatter_acc(g_a, np.ones(2), [(0, 1), (6, 7)], alpha=2)
    x[0, 1] += 2 * nproc
    x[6, 7] += 2 * nproc
    assert np.array_equal(whole(g_a), x)
    ga.sync()
    if me == 0:
        ga.scatter(g_a, [5, 6, 7], [0, 0, 3, 3, 6, 7])
    x[0, 0], x[3, 3], x[6, 7] = 5, 6, 7
    assert np.array_equal(whole(g_a), x)


def test_read_inc_and_mutexes():
    g_a = ga.create(ga.C_LONG, (5,))
    ga.zero(g_a)
    mine = [ga.read_inc(g_a, 3) for _ in range(20)]
    everyones = un.mpi.COMM_WORLD.allgather(mine)
    assert sorted(sum(everyones, [])) == list(range(20 * nproc))
    assert ga.create_mutexes(nproc + 1) and not ga.create_mutexes(1)
    for _ in range(5):
        ga.lock(nproc)
        value = ga.get(g_a, (0,), (1,))
        ga.init_fence()
        ga.put(g_a, np.asarray(value) + 1, (0,), (1,))
        ga.fence()
        ga.unlock(nproc)
    ga.sync()
    assert ga.get(g_a).tolist()[0] == 5 * nproc
    with pytest.raises(ValueError, match="does not hold mutex 0"):
        ga.unlock(0)
    assert ga.destroy_mutexes() and not ga.destroy_mutexes()
    with pytest.raises(TypeError, match="must be of integers"):
        ga.read_inc(ga.create(ga.C_DBL, (2,)), 0)


def test_without_waiting(kind):
    x = numbers((8, 8))
    g_a = made(kind, (8, 8))
    if me == 0:
        ga.nbwait(ga.nbput(g_a, x))
    ga.sync()
    out, handle = ga.nbget(g_a, (1, 2), (7, 5))
    ga.nbwait(handle)
    assert np.array_equal(np.asarray(out), x[1:7, 2:5])
    ga.sync()
    ga.nbwait(ga.nbacc(g_a, np.ones((8, 8)), alpha=3))
    assert np.array_equal(whole(g_a), x + 3 * nproc)


def test_strided_and_periodic(kind):
    x = numbers((9, 8))
    g_a = filled(kind, x)
    assert np.array_equal(np.asarray(ga.strided_get(g_a, (1, 0), (9, 7), (3, 2))), x[1:9:3, 0:7:2])
    wrapped = np.asarray(ga.periodic_get(g_a, (-2, 5), (12, 10)))
    assert np.array_equal(wrapped, x[np.arange(-2, 12) % 9][:, np.arange(5, 10) % 8])
    ga.sync()
    if me == 0:
        ga.strided_put(g_a, np.zeros((3, 4)), (0, 0), (9, 8), (3, 2))
        ga.strided_acc(g_a, np.ones((3, 4)), (1, 1), (9, 8), (3, 2), alpha=5)
        ga.periodic_put(g_a, [[7, 8], [9, 10]], (8, 7), (10, 9))
        ga.periodic_acc(g_a, [[1, 1], [1, 1]], (8, 7), (10, 9), alpha=2)
    x[0::3, 0::2] = 0
    x[1::3, 1::2] += 5
    x[8, 7], x[8, 0], x[0, 7], x[0, 0] = 9, 10, 11, 12
    assert np.array_equal(whole(g_a), x)


@pytest.mark.parametrize("by_side", [False, True])
def test_ghosts(by_side):
    x = numbers((8, 9))
    g_a = ga.create_ghosts(ga.C_DBL, (8, 9), (1, 2))
    if me == 0:
        ga.put(g_a, x)
    ga.sync()
    if by_side:
        for dimension, side, flag in ((0, -1, 1), (0, 1, 1), (1, -1, 0), (1, 1, 0)):
            ga.update_ghost_dir(g_a, dimension, side, flag)
    else:
        ga.update_ghosts(g_a)
    part = ga.access_ghosts(g_a)
    lo, hi = ga.distribution(g_a)
    if lo[0] >= 0:
        rows, columns = (np.arange(lo[k] - w, hi[k] + w) % x.shape[k] for k, w in ((0, 1), (1, 2)))
        assert np.array_equal(np.asarray(part), x[rows][:, columns])
        assert ga.access_ghost_element(g_a, (1, 2)).item() == x[lo[0], lo[1]]
    ga.release_ghosts(g_a)


def test_groups():
    half = ga.pgroup_split(ga.pgroup_get_world(), 2 if nproc > 1 else 1)
    ga.pgroup_set_default(half)
    g_a = ga.create(ga.C_INT, (6, 2))
    ga.fill(g_a, half)
    assert (np.asarray(ga.get(g_a)) == half).all()
    assert ga.nnodes() == ga.pgroup_nnodes() and ga.nodeid() == ga.pgroup_nodeid()
    total = ga.gop_add(np.ones(2))
    assert total.tolist() == [ga.nnodes()] * 2
    assert ga.pgroup_absolute_id(half, ga.nodeid()) == me
    ga.destroy(g_a)
    ga.pgroup_set_default()
    assert (ga.nnodes(), ga.nodeid()) == (nproc, me)
    last = ga.pgroup_create([nproc - 1])
    if me == nproc - 1:
        g_b = ga.create(ga.C_DBL, (3,), pgroup=last)
        ga.fill(g_b, 2)
        assert ga.get(g_b).tolist() == [2] * 3
        ga.pgroup_sync(last)
        ga.destroy(g_b)
    ga.sync()
    assert ga.pgroup_destroy(half) and not ga.pgroup_destroy(half)
    color = ga.pgroup_split_irreg(ga.pgroup_get_world(), me % 2)
    assert ga.pgroup_nnodes(color) == len(range(me % 2, nproc, 2))


def test_nodes_and_mirrored_arrays():
    assert ga.cluster_nnodes() == 1 and ga.cluster_nodeid() == ga.cluster_proc_nodeid(me) == 0
    assert ga.cluster_nprocs(0) == nproc and ga.cluster_procid(0, me) == me
    g_a = ga.create(ga.C_DBL, (4, 4), pgroup=ga.pgroup_get_mirror())
    assert ga.is_mirrored(g_a)
    ga.fill(g_a, 3)
    ga.merge_mirrored(g_a)
    g_b = ga.create(ga.C_DBL, (6, 6))
    ga.zero(g_b)
    ga.merge_distr_patch(g_a, (0, 0), (2, 3), g_b, (1, 1), (3, 4))
    expected = np.zeros((6, 6))
    expected[1:3, 1:4] = 3
    assert np.array_equal(whole(g_b), expected)


@pytest.mark.parametrize("op", ["+", "*", "max", "min", "absmax", "absmin"])
def test_global_operations(op):
    values = np.array([me + 1, -me - 1, 2])
    every = np.array([[r + 1, -r - 1, 2] for r in range(nproc)])
    reduce = {"+": np.sum, "*": np.prod, "max": np.max, "min": np.min}.get(op)
    expected = reduce(every, axis=0) if reduce else getattr(np, op[3:])(abs(every), axis=0)
    assert ga.gop(values, op).tolist() == expected.tolist()
    assert ga.gop((me, 1), "+").tolist() == [nproc * (nproc - 1) // 2, nproc]


def test_broadcast():
    got = ga.brdcst([me, 5], nproc - 1)
    assert got.tolist() == [nproc - 1, 5]
    assert int(ga.brdcst(me + 3)) == 3


def test_types_of_ones_own():
    pair = np.dtype([("a", "i4"), ("b", "f8")])
    gtype = ga.register_dtype(pair)
    g_a = ga.create(gtype, (6,))
    values = np.zeros(6, pair)
    values["a"], values["b"] = np.arange(6), 0.5
    if me == 0:
        ga.put(g_a, values)
    ga.sync()
    assert (ga.get(g_a) == values).all()
    ga.destroy(g_a)
    ga.deregister_type(gtype)
    with pytest.raises(ValueError, match="not a recognized GA type"):
        ga.create(gtype, (3,))


def test_printing(tmp_path):
    g_a = filled("regular", np.arange(6.0).reshape(2, 3))
    out = io.StringIO()
    with redirect_stdout(out):
        ga.print_stdout(g_a)
        ga.print_distribution(g_a)
        ga.print_patch(g_a, (0, 1), (1, 3), False)
        ga.print_stats()
        ga.summarize(True)
    text = out.getvalue()
    assert ("5.00000" in text) == (me == 0) and "arrays" in text
    ga.print_file(g_a, str(tmp_path / "array"))
    if me == 0:
        assert "4.00000" in (tmp_path / "array").read_text()


def test_random_values_and_the_clock():
    g_a = ga.create(ga.C_DBL, (20, 20))
    ga.randomize(g_a, 3)
    values = whole(g_a)
    assert 0 <= values.min() < 0.5 and 2.5 < values.max() < 3
    assert ga.wtime() <= ga.wtime()


def test_synchronisation_may_be_left_out():
    g_a = ga.create(ga.C_DBL, (4, 4))
    ga.mask_sync(False, False)
    ga.zero(g_a)
    ga.fill(g_a, 1)
    assert ga.dot(g_a, g_a) == 16


def test_names():
    """All of ga4py's functions."""
    assert len(ga.functions) == 187  # ga4py's 186, and the right spelling of shift_diagonal
    for name in ga.functions:
        assert getattr(ga, name).__doc__, name
