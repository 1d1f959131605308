"""This rank's part of distributed arrays, and results that are split along other axes."""

import itertools

import numpy as np
import pytest
import unisono as un

mesh = un.mesh("mpi")
p = mesh.size
lengths = sorted({1, max(p - 1, 1), p, p + 1, 13})


def same(ours, theirs):
    ours = np.asarray(ours)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


@pytest.mark.parametrize("n", lengths)
def test_parts(n):
    x = np.arange(n * 3.0).reshape(n, 3)
    a = un.asarray(x, mesh=mesh)
    same(a.local, x[a.global_index])
    same(a[::-1, 1:].local, x[::-1, 1:][a[::-1, 1:].global_index])
    begin, end = n * mesh.rank // p, n * (mesh.rank + 1) // p
    assert a.global_index == (slice(begin, end), slice(0, 3)) or begin == end
    assert a.mesh == mesh and un.zeros(2).mesh is None and un.ones(2).local.tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        a.local[...] = 0


def test_parts_are_written_together():
    a = un.zeros((p + 2, 4), mesh=mesh)
    a[1:] = a[:-1] + 1  # halos are current
    rows = a.global_index[0]
    a.local = np.arange(4.0) + 10 * np.arange(rows.start, rows.stop)[:, None]
    x = np.arange(4.0) + 10 * np.arange(p + 2)[:, None]
    same(a, x)
    same(a[1:] - a[:-1], x[1:] - x[:-1])
    with pytest.raises(ValueError, match="this rank's part has another shape"):
        a.local = np.zeros((1, 7))


@pytest.mark.parametrize("n", lengths)
def test_transposed(n):
    x = np.random.default_rng(n).integers(-9, 9, (n, n + 1)).astype(float)
    a = un.asarray(x, mesh=mesh)
    same(a.T, x.T)
    same(a.T + 1, x.T + 1)
    same(a.T[:, 1:] - a.T[:, :-1], x.T[:, 1:] - x.T[:, :-1])
    same(a[:, :n] + a[:, :n].T, x[:, :n] + x[:, :n].T)
    b, y = a.copy(), x.copy()
    b.T[1:, ::-1] = 7
    y.T[1:, ::-1] = 7
    b[:, :n] += a[:, :n].T
    y[:, :n] += x[:, :n].T
    same(b, y)
    t, s = (a.T * 2), (x.T * 2)  # split along its last axis
    same(t.sum(axis=0), s.sum(axis=0))
    assert float(t.sum()) == s.sum()
    same(t.max(axis=1), s.max(axis=1))
    same(t[1:, 1:] + t[:-1, :-1], s[1:, 1:] + s[:-1, :-1])


@pytest.mark.parametrize("n", lengths)
def test_reshaped(n):
    x = np.arange(n * 12.0).reshape(n, 3, 4)
    a = un.asarray(x, mesh=mesh)
    same(a.reshape(-1), x.reshape(-1))
    same(a.reshape(12, n), x.reshape(12, n))
    same(a.reshape(n, 12) * 2, x.reshape(n, 12) * 2)
    same(a[:, None, 1], x[:, None, 1])
    same(a.ravel()[::5], x.ravel()[::5])
    same(a.transpose(2, 0, 1).reshape(4, -1), x.transpose(2, 0, 1).reshape(4, -1))
    same(a.sum(axis=0, keepdims=True), x.sum(axis=0, keepdims=True))


def test_outer_products_of_vectors():
    x, y = np.arange(2 * p + 1.0), np.arange(p + 2.0) * 3
    a, b = un.asarray(x, mesh=mesh), un.asarray(y, mesh=mesh)
    same(a[:, None] * b, x[:, None] * y)
    same(a[:, None] + a, x[:, None] + x)
    c, z = un.zeros((len(x), len(y)), mesh=mesh), np.zeros((len(x), len(y)))
    c[...] = b
    z[...] = y
    c += a[:, None]
    z += x[:, None]
    same(c, z)


def test_complex_numbers():
    x = np.arange(2 * p + 1) * (1 + 2j)
    a = un.asarray(x, mesh=mesh)
    same(a * 1j, x * 1j)
    same(a.real, x.real)
    same(a.imag[1:] + a.real[:-1], x.imag[1:] + x.real[:-1])
    a.imag[...] = 3
    x.imag[...] = 3
    same(a, x)
    assert complex(a.sum()) == x.sum()


def test_layouts():
    x = np.arange((2 * p + 1) * (p + 3.0)).reshape(2 * p + 1, p + 3)
    n = len(x)
    sizes = (n,) + (0,) * (p - 1)
    a = un.asarray(x, mesh=mesh)
    assert a.layout == ("block", None) and un.ones(3).layout is None
    for layout in ("replicated", (None, "block"), (sizes, None), (sizes[::-1], None)):
        b = a.to_layout(layout)
        assert b.layout == layout or p == 1
        same(b, x)
        same(b.local, x[b.global_index])
        same(b + a, x + x)
        same(b[1:] - b[:-1], x[1:] - x[:-1])
        same(b.sum(axis=0), x.sum(axis=0))
        same(un.sort(b, axis=1), np.sort(x, axis=1))
        same(un.asarray(x, mesh=mesh, layout=layout) * 2, x * 2)
        assert b.to_layout(layout) is b
        c = un.zeros(x.shape, mesh=mesh, layout=layout)
        c[...] = a
        c[::2] += 1
        y = x.copy()
        y[::2] += 1
        same(c, y)
    r = un.full((2, 2), 3, mesh=mesh, layout="replicated")
    assert r.layout == "replicated" and r.local.tolist() == [[3, 3], [3, 3]]
    for wrong, message in [
        ("rows", "expected 'block', 'cyclic', 'replicated', or a tuple"),
        (("block",), "there is an entry for each axis"),
        ((p + 1, None), "parts are for .* ranks; got"),
        ((0, "block"), "at least one part"),
        (((1,) * p, None), "the sizes of"),
        (("blocks", None), "by 'block', 'cyclic', "),
    ]:
        with pytest.raises(ValueError, match=message):
            a.to_layout(wrong)
    with pytest.raises(ValueError, match="expected a distributed array"):
        un.ones(3).to_layout("block")


def grids(ndim):
    """Grids of all ranks over several axes."""
    found = set()
    for sides in itertools.product(range(1, p + 1), repeat=ndim):
        if np.prod(sides) == p:
            found.add(sides)
    return sorted(found)


@pytest.mark.parametrize("grid", grids(2), ids=str)
@pytest.mark.parametrize("shape", [(2 * p + 1, p + 3), (1, 13), (p - 1, 2)], ids=str)
def test_grids_of_ranks(grid, shape):
    x = np.random.default_rng(1).normal(size=shape)
    a = un.asarray(x, mesh=mesh, layout=grid)
    if min(grid) > 1:
        assert a.layout == grid
        assert a.local.shape == tuple(
            n * (r + 1) // k - n * r // k
            for n, k, r in zip(shape, grid, divmod(mesh.rank, grid[1]), strict=True)
        )
    same(a.local, x[a.global_index])
    everything_of(a, x, grid)


def everything_of(a, x, layout):
    """Statements, reductions and algorithms on an array in some layout; the bits of one rank."""
    shape = x.shape
    same(a, x)
    before = un.stats()["bytes_gathered"]
    b = a * 2 + a
    assert b.layout == a.layout
    y = x * 2 + x
    c = un.zeros(shape, mesh=mesh, layout=layout)
    z = np.zeros(shape)
    for _ in range(3):
        c[1:-1, 1:-1] = (b[:-2, 1:-1] + b[2:, 1:-1]) + (b[1:-1, :-2] + b[1:-1, 2:]) - b[2:, 2:]
        b[1:-1, 1:-1] = c[1:-1, 1:-1] * 0.5
        z[1:-1, 1:-1] = (y[:-2, 1:-1] + y[2:, 1:-1]) + (y[1:-1, :-2] + y[1:-1, 2:]) - y[2:, 2:]
        y[1:-1, 1:-1] = z[1:-1, 1:-1] * 0.5
    total = b.sum()
    float(total)
    assert un.stats()["bytes_gathered"] == before
    same(b, y)
    # The bits of sums are those of one rank.
    host = un.asarray(y)
    for axis in (None, 0, 1, (0, 1)):
        same(b.sum(axis=axis), np.asarray(host.sum(axis=axis)))
        same(b[::-1, 1:].max(axis=axis, initial=-9), y[::-1, 1:].max(axis=axis, initial=-9))
    same(b.T + 1, y.T + 1)
    same(b[::-1, ::2], y[::-1, ::2])
    if shape[0] > 1:
        same(b[1] - b[0], y[1] - y[0])
        b[0] = b[1]
        y[0] = y[1]
        b[:, 1] = b[0, 0]
        y[:, 1] = y[0, 0]
        same(b, y)
        same(b[:, 0] + b[:, 1], y[:, 0] + y[:, 1])
        same(b[0, :2] + b[1, 1], y[0, :2] + y[1, 1])
    same(un.sort(b, axis=0), np.sort(y, axis=0))
    same(un.sort(b.ravel()), np.sort(y, axis=None))
    same(un.cumsum(b, axis=1), np.asarray(un.cumsum(un.asarray(y), axis=1)))
    same(b[b > 0], y[y > 0])
    b[b < 0] = -1
    y[y < 0] = -1
    same(b, y)
    index = np.arange(shape[0])[::-1]
    same(b[index], y[index])
    b[index] = b + 1
    y[index] = y + 1
    same(b, y)
    same(b.reshape(-1), y.reshape(-1))
    np.testing.assert_allclose(np.asarray(b @ b.T), y @ y.T, rtol=1e-12, atol=1e-12)
    same(b.to_layout("block"), y)
    same(b.to_layout((None, "block")).to_layout(layout), y)
    same(b + un.asarray(x, mesh=mesh), y + x)
    same(un.map_blocks(np.negative, b), -y)
    b.local = np.asarray(b.local) * 2
    same(b, y * 2)


CYCLIC = [
    "cyclic",
    ("cyclic", None),
    (None, "cyclic"),
    (("cyclic", 2), None),
    (None, ("cyclic", 3)),
    ("cyclic", "block"),
    (("cyclic", 2), "cyclic"),
    (("cyclic", 3), ("cyclic", 2)),
]


@pytest.mark.parametrize("layout", CYCLIC, ids=str)
@pytest.mark.parametrize("shape", [(4 * p + 3, 2 * p + 5), (1, 13), (p - 1, 2)], ids=str)
def test_indices_that_are_dealt_out(layout, shape):
    x = np.random.default_rng(1).normal(size=shape)
    a = un.asarray(x, mesh=mesh, layout=layout)
    same(
        a.local,
        x[
            np.ix_(
                *(
                    np.arange(n)[np.asarray(k) if not isinstance(k, slice) else k]
                    for n, k in zip(shape, a.global_index, strict=True)
                )
            )
        ],
    )
    everything_of(a, x, layout)
    # Slices that start anywhere stay where they are.
    b, y = un.asarray(x, mesh=mesh, layout=layout), x.copy()
    for k in range(1, min(shape)):
        b[k:, k:] -= b[k:, k - 1 : k] * b[k - 1 : k, k:]
        y[k:, k:] -= y[k:, k - 1 : k] * y[k - 1 : k, k:]
    assert b.layout == a.layout
    same(b, y)
    same(b[1:] + un.asarray(x[1:], mesh=mesh), y[1:] + x[1:])
    same(b + un.arange(shape[1], mesh=mesh), y + np.arange(shape[1]))
    if shape[0]:
        same(b * un.asarray(x[0], mesh=mesh, layout="replicated"), y * x[0])
    b[::-2] = 3
    y[::-2] = 3
    same(b, y)


def test_dealt_indices_are_those_of_the_definition():
    n = 7 * p + 3
    for size in (1, 2, 5):
        a = un.arange(n, mesh=mesh).to_layout((("cyclic", size),))
        assert a.layout == ("cyclic",) if size == 1 else (("cyclic", size),)
        mine = [i for i in range(n) if i // size % p == mesh.rank]
        assert a.local.tolist() == mine
        assert a.global_index[0].tolist() == mine
        assert (a[2:] * 2).local.tolist() == [2 * i for i in mine if i >= 2]
    empty = un.zeros((3, 0), mesh=mesh, layout="cyclic")
    same(empty + 1, np.ones((3, 0)))
    same(empty.sum(axis=1), np.zeros(3))
    with pytest.raises(ValueError, match=r"\('cyclic', b\)"):
        un.zeros(4, mesh=mesh, layout=(("cyclic", 0),))
    with pytest.raises(ValueError, match="ranks"):
        un.zeros((4, 4), mesh=mesh, layout=("cyclic", p + 1))


def test_grids_of_three_axes_and_irregular_ones():
    x = np.arange(7 * 5 * 6.0).reshape(7, 5, 6)
    for grid in grids(3):
        a = un.asarray(x, mesh=mesh, layout=grid)
        same(a[1:, :-1] + a[:-1, 1:], x[1:, :-1] + x[:-1, 1:])
        same(a.sum(axis=1), x.sum(axis=1))
        same(a[:, 2].sum(axis=0), x[:, 2].sum(axis=0))
        same(a[3, 2] * a[2, :, 0][:, None], x[3, 2] * x[2, :, 0][:, None])
    if p == 4:
        layout = ((1, 6), None, (4, 2))
        a = un.asarray(x, mesh=mesh, layout=layout)
        assert a.layout == layout
        same(a.local, x[a.global_index])
        same(a * a[::-1], x * x[::-1])
        assert un.zeros((4, 4), mesh=mesh, layout=("block", "block")).layout == (2, 2)


def test_explanations_tell_what_is_sent():
    u = un.ones((4 * p, 3), mesh=mesh)
    v = un.zeros((4 * p, 3), mesh=mesh)
    un.eval()
    v[1:-1] = u[2:] - u[:-2]
    w = v + u[::-1]
    text = str(un.explain(w))
    if p == 1:
        # A rank alone records on its own tape at once.
        assert "3 pending operations" in text or "4 pending operations" in text
        return same(w, np.ones((4, 3)))
    assert "mesh: 3 recorded statements" in text or "mesh: 4 recorded statements" in text
    assert f"subtract ({4 * p - 2}, 3), split along axis 0, line " in text
    assert "a halo of 0 before and 1 after" in text and "a halo of 1 before and 0 after" in text
    assert f"; of ({4 * p}, 3), split along axis 0, what others have" in text
    same(w, np.ones((4 * p, 3)))
    assert "mesh: nothing is recorded" in str(un.explain(w))


def test_memory_that_is_used_again_keeps_nothing_of_what_it_was():
    mesh = un.mesh("mpi")
    shapes = [((7,), "f8"), ((3, 5), "i4"), ((7,), "bool"), ((4, 2, 3), "f4"), ((64,), "c16")]
    layouts = ["block", "cyclic", "replicated"]
    for turn in range(12):
        shape, dtype = shapes[turn % len(shapes)]
        layout = layouts[turn % len(layouts)]
        x = un.asarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype), mesh=mesh)
        x = x.to_layout(layout)
        made = [x + x, x.copy(), un.where(x == x, x, x), x * 2]
        for y in made:
            assert y.shape == shape and y.layout == x.layout and y.mesh == mesh
        del made, y
        z = x + x
        assert z.dtype == (x + x).dtype and np.array_equal(
            np.asarray(z), np.asarray(x) + np.asarray(x)
        )
        if x.ndim == 1 and dtype != "bool":
            assert x[2] == np.asarray(x)[2]


@pytest.mark.skipif(un.mesh("mpi").size > 1, reason="memory of a rank alone")
def test_small_statements_of_a_rank_alone_allocate_nothing():
    mesh = un.mesh("mpi")
    a, b = un.arange(500.0, mesh=mesh), un.ones(500, mesh=mesh)
    mask = a > 100

    def statements():
        for _ in range(50):
            a + b
            (a * 2.0 - b) / 3.0
            a.copy()
            un.where(mask, a, b)
            b[...] = a

    statements()
    before = un.stats()["bytes_allocated"]
    statements()
    assert un.stats()["bytes_allocated"] == before


def test_memory_that_is_seen_elsewhere_is_not_used_again():
    a = un.arange(500.0, mesh=un.mesh("mpi"))
    parts = []
    for k in range(40):
        x = a + k
        parts.append(x.local)
        assert float(x[0]) == k
        del x
        same(a * 2, np.arange(500.0) * 2)
    own = np.asarray(a.local)
    for k, part in enumerate(parts):
        same(part, own + k)
