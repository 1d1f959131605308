"""Functions of parts: map_blocks, stencils and compiled functions; scatter and gather by rank."""

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
p, rank = mesh.size, mesh.rank
lengths = sorted({0, 1, max(p - 1, 0), p, p + 1, 13, 37})


def values(*shape):
    return np.random.default_rng(5).integers(-9, 9, shape).astype(float)


@pytest.mark.parametrize("n", lengths)
def test_map_blocks(n):
    x = values(n, 3)
    g = un.asarray(x, mesh=mesh)
    np.testing.assert_array_equal(np.asarray(un.map_blocks(np.sort, g)), np.sort(x))
    columns = g.to_layout((None, "block"))
    np.testing.assert_array_equal(
        np.asarray(un.map_blocks(np.sort, columns, axis=0)), np.sort(x, 0)
    )
    y = values(n)
    scaled = un.map_blocks(
        lambda a, b, c: a * np.asarray(b)[:, None] + c, g, un.asarray(y, mesh=mesh), 2
    )
    np.testing.assert_array_equal(np.asarray(scaled), x * y[:, None] + 2)
    assert scaled.mesh == mesh

    @un.jit
    def positive(a):
        return a[a[:, 0] > 0]

    np.testing.assert_array_equal(np.asarray(un.map_blocks(positive, g)), x[x[:, 0] > 0])
    sums = un.map_blocks(lambda a: float(np.sum(a)), g)
    assert sums.shape == (p,) and float(sums.sum()) == x.sum()
    whole = g.to_layout("replicated")
    np.testing.assert_array_equal(np.asarray(un.map_blocks(np.cumsum, whole)), np.cumsum(x))
    assert un.map_blocks(np.add, 1, 2) == 3


def test_map_blocks_on_grids_of_ranks():
    x = np.random.default_rng(5).integers(0, 99, (2 * p + 1, p + 3)).astype(float)
    for layout in ((1, p), (p, 1), ("block", "block"), (1, (4, *(1,) * (p - 1)))):
        g = un.asarray(x, mesh=mesh).to_layout(layout)
        turned = un.asarray(x.T.copy(), mesh=mesh)
        gathered = un.stats()["bytes_gathered"]
        made = un.map_blocks(lambda a, b: np.negative(a) + b, g, turned.T)
        assert (p == 1 or made.layout == g.layout) and un.stats()["bytes_gathered"] == gathered
        np.testing.assert_array_equal(np.asarray(made), np.zeros_like(x))
        seen = un.map_blocks(lambda a: np.full(np.shape(a), rank, "int32"), g)
        want = np.empty(x.shape, "int32")
        for r, part in enumerate(un._runtime.parts.tell_all(mesh, g.global_index, "parts")):
            want[part] = r
        np.testing.assert_array_equal(np.asarray(seen), want)
        sums = np.asarray(un.map_blocks(lambda a: float(np.sum(a)), g))
        assert sums.size == p and sums.sum() == x.sum()
        heads = un.map_blocks(lambda a: np.asarray(a)[:1, :1], g)  # of other extents
        assert np.asarray(heads).size == p
        with pytest.raises(ValueError, match="extent along"):
            un.map_blocks(np.add, g, un.zeros((1, 1), mesh=mesh))
    if p == 4:
        g = un.asarray(x, mesh=mesh).to_layout((2, 2))
        with pytest.raises(ValueError, match="extents that make a grid"):
            un.map_blocks(lambda a: np.zeros((1 + rank, 1)), g)
        with pytest.raises(RuntimeError if rank != 1 else ZeroDivisionError):
            un.map_blocks(lambda a: np.asarray(a) * (1 // (rank - 1)), g)


def test_map_blocks_refuses():
    g = un.asarray(values(p + 3, 2), mesh=mesh)
    with pytest.raises(ValueError, match="one extent along axis 0"):
        un.map_blocks(np.add, g, un.zeros(2, mesh=mesh))
    with pytest.raises(
        (ZeroDivisionError, RuntimeError), match="1/0|rank 0 of .* raised ZeroDivisionError: 1/0"
    ):

        def fails(a):
            if rank == 0:
                raise ZeroDivisionError("1/0")
            return a

        un.map_blocks(fails, g)
    if p > 1:
        with pytest.raises(ValueError, match="results have one dtype"):
            un.map_blocks(lambda a: np.asarray(a, "f4" if rank else "f8"), g)
    assert float(g.sum()) == values(p + 3, 2).sum()


@un.stencil
def laplace(a):
    return (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 2]) / 4


@un.stencil(cval=7)
def far(a, b):
    return a[-3] * 2 + b[1]


grids = [(rows, p // rows) for rows in range(1, p + 1) if p % rows == 0]


@pytest.mark.parametrize("n", lengths)
def test_stencils(n):
    x, y = values(n, 5), values(n)
    for layout in (("block", None), (None, "block"), "replicated", *grids):
        g = un.asarray(x, mesh=mesh, layout=layout)
        got = laplace(g)
        assert got.mesh == mesh
        want = np.asarray(laplace(un.asarray(x)))
        np.testing.assert_array_equal(np.asarray(got), want)
        assert np.asarray(got).dtype == want.dtype
        np.testing.assert_array_equal(
            np.asarray(laplace(g[::-1])), np.asarray(laplace(un.asarray(x[::-1])))
        )
    out = un.zeros((n, 5), mesh=mesh)
    laplace(un.asarray(x, mesh=mesh), out=out)
    np.testing.assert_array_equal(np.asarray(out), np.asarray(laplace(un.asarray(x))))
    np.testing.assert_array_equal(
        np.asarray(far(un.asarray(y, mesh=mesh), y)), np.asarray(far(un.asarray(y), y))
    )


@pytest.mark.parametrize("border", ["edge", "wrap", "reflect", "symmetric"])
@pytest.mark.parametrize("n", [4, 13, 37])
def test_borders_of_stencils(border, n):
    @un.stencil(border)
    def mean(a):
        return (a[-3, 0] + a[0, 1] + a[2, 0]) / 3

    x = values(n, 4)
    want = np.asarray(mean(un.asarray(x)))
    for layout in (("block", None), (None, "block"), *grids):
        got = mean(un.asarray(x, mesh=mesh, layout=layout))
        np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("border", ["constant", "edge", "wrap", "reflect", "symmetric"])
@pytest.mark.parametrize("n", [3, 8, 17])
def test_stencils_keep_grids_and_read_corners(border, n):
    @un.stencil(border)
    def corners(a, b):
        return a[-1, -1] + 2 * a[1, 2] + 4 * b[2, -1] - a[0, 0]

    x = values(n, 2 * p + 1)
    want = np.asarray(corners(un.asarray(x), un.asarray(x * 3)))
    for layout in grids:
        g = un.asarray(x, mesh=mesh, layout=layout)
        before = un.stats()["bytes_gathered"]
        got = corners(g, g * 3)
        if border == "constant":
            assert un.stats()["bytes_gathered"] == before
        assert got.layout == g.layout
        np.testing.assert_array_equal(np.asarray(got), want)


def test_a_time_loop_of_stencils_gathers_nothing():
    g = un.asarray(values(40, 6), mesh=mesh)
    before = un.stats()["bytes_gathered"]
    for _ in range(3):
        g = laplace(g)
    float(g.sum())
    assert un.stats()["bytes_gathered"] == before


def test_compiled_functions_run_by_statements():
    @un.jit
    def step(u, c):
        v = u.copy()
        v[1:-1] = u[2:] * c + u[:-2]
        return v

    x = values(3 * p + 2)
    got = step(un.asarray(x, mesh=mesh), 2.0)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(step(x, 2.0)))

    @un.jit
    def total(u):
        s = 0.0
        for i in range(u.shape[0]):
            s += u[i]
        return s

    with pytest.warns(
        RuntimeWarning, match="total: its statements run one by one on mesh.*un.map_blocks"
    ):
        assert float(total(un.asarray(x, mesh=mesh))) == total(x)


@pytest.mark.parametrize("root", sorted({0, p - 1}))
def test_scatter_and_gather(root):
    for shape in [(), (0,), (1,), (p + 1,), (13, 3)]:
        x = values(*shape)
        before = un.stats()["bytes_gathered"]
        g = mesh.scatter(x if rank == root else None, root)
        assert g.mesh == mesh and g.shape == shape
        whole = mesh.gather(g, root)
        assert un.stats()["bytes_gathered"] == before
        np.testing.assert_array_equal(np.asarray(g), x)
        assert (whole is None) == (rank != root)
        if whole is not None:
            np.testing.assert_array_equal(np.asarray(whole), x)
    g = mesh.scatter(values(4, 6) if rank == root else None, root, layout=(None, "block"))
    assert g.layout == (None, "block")
    with pytest.raises(ValueError, match=f"root is a rank; got {p}"):
        mesh.scatter(values(3), root=p)
    with pytest.raises(TypeError, match="distributed over this mesh; got ndarray on"):
        mesh.gather(un.zeros(3))
    with pytest.raises((TypeError, RuntimeError), match="the root gives an array; got None"):
        mesh.scatter(None, root)
