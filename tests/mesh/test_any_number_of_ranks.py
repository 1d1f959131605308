"""What arrays of a mesh take and refuse does not depend on the number of ranks."""

import numpy as np
import pytest
import unisono as un


def on_ranks(program):
    """What each rank of 1, 2, 3 and 5 has: results, or the error, which all have."""
    found = []
    for ranks in (1, 2, 3, 5):
        found += un.mesh("virtual", ranks).run(program)
    return found


def outcome(compute):
    try:
        return np.asarray(compute()).tolist()
    except Exception as error:
        return type(error).__name__, str(error)


def test_results_without_axes_are_values_as_on_the_host():
    def program(mesh):
        x = un.asarray(np.arange(12.0).reshape(3, 4), mesh=mesh)
        one = x[2:3, 1:2].reshape(())
        made = [one + 1, -one, un.sqrt(one), one // 2, one * one, un.where(one > 3, one, 0)]
        made += [un.linalg.cond(x[:, :2]), one.copy(), one > 3]
        return [(type(v), v.ndim, v.item()) for v in made]

    host = program(None)
    for found in on_ranks(lambda: program(un.mesh())):
        assert [v[:2] for v in found] == [v[:2] for v in host]
        assert [v[2] for v in found] == pytest.approx([v[2] for v in host])


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "f4", "u8", "f8", "c8", "c16"])
def test_bytes_are_swapped(dtype):
    def program():
        x = un.asarray(table_of(dtype), mesh=un.mesh())
        made = [np.asarray(a.byteswap()) for a in (x, x.T, x[1:, ::2], x[2:3, 1:2].reshape(()))]
        x.byteswap(inplace=True)
        return [a.tobytes() for a in (*made, np.asarray(x))]

    x = table_of(dtype)
    expected = [a.byteswap().tobytes() for a in (x, x.T.copy(), x[1:, ::2].copy(), x[2, 1], x)]
    assert all(found == expected for found in on_ranks(program))


def table_of(dtype):
    return (np.arange(28).reshape(7, 4) * (1.25 + 3j if dtype[0] == "c" else 1.25)).astype(dtype)


def complex_table():
    return un.asarray((np.arange(12.0) + 1j).reshape(4, 3), mesh=un.mesh())


def table():
    return un.asarray(np.arange(28.0).reshape(7, 4), mesh=un.mesh())


_sliding = un.lib.stride_tricks.sliding_window_view
_strided = un.lib.stride_tricks.as_strided


@pytest.mark.parametrize(
    "view",
    [
        lambda: complex_table().view("f8"),
        lambda: table().view("i4"),
        lambda: _strided(table(), (3, 5), (32, 8)),
    ],
)
@pytest.mark.parametrize("use", [lambda x: x * 2, lambda x: x + x, lambda x: x.sum(), lambda x: un.where(x > 1, x, x), np.asarray])  # fmt: skip
def test_views_are_refused_on_any_number_of_ranks(view, use):
    found = on_ranks(lambda: [outcome(lambda: use(view())) for _ in range(3)])
    assert all(f == found[0] for f in found), found
    kind, text = found[0][0]
    assert kind == "UnsupportedError" and "steps along no single axis" in text


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.real,
        lambda x: _sliding(x, 2, axis=0),
        lambda x: x.T.imag,
        lambda x: x[1:, ::-1].real,
        lambda x: x.diagonal().imag,
        lambda x: x[1:3],
        lambda x: x[1:3, :2].T,
    ],
)
def test_views_are_taken_on_any_number_of_ranks(view):
    want = np.asarray(view((np.arange(12.0) + 1j).reshape(4, 3)) * 2 + 1).tolist()
    found = on_ranks(lambda: [outcome(lambda: view(complex_table()) * 2 + 1) for _ in range(3)])
    assert all(f == [want] * 3 for f in found), found


def test_local_parts_keep_the_extents_of_other_axes():
    def program(p):
        m = un.mesh()
        x = un.asarray(np.arange(float(4 * p * 6)).reshape(2 * p, 2, 6), mesh=m)
        parts = [
            x[0].local.shape,
            x[3:4].local.shape,
            x[:1, 0].local.shape,
            x[0, ..., 0].local.shape,
        ]
        grid = un.asarray(np.arange(24.0).reshape(4, 6), mesh=m, layout=(p // 2, 2))
        parts += [grid[0].local.shape, grid[:1].local.shape, x[1, 1, 3:4].reshape(()).local.shape]
        return parts, [tuple(s.stop - s.start for s in v.global_index) for v in (x[0], grid[0])]

    for rank, (parts, indices) in enumerate(un.mesh("virtual", 4).run(program, 4)):
        first = rank == 0
        assert parts[0] == ((2, 6) if first else (0, 6)) == indices[0]
        assert parts[1] == ((1, 2, 6) if rank == 1 else (0, 2, 6))
        assert parts[2] == ((1, 6) if first else (0, 6))
        assert parts[3] == ((2,) if first else (0,))
        assert parts[4] == ((3,) if rank < 2 else (0,)) == indices[1]
        assert parts[5] == ((1, 3) if rank < 2 else (0, 3))
        assert parts[6] == (() if first else (0,))


def test_a_virtual_mesh_has_no_arrays_outside_of_run():
    m = un.mesh("virtual", 2)
    with pytest.raises(RuntimeError, match="functions that its run calls"):
        un.device(m)
    with pytest.raises(RuntimeError, match="functions that its run calls"):
        un.zeros(3, device=m)

    def program():
        with un.device(m):
            return un.zeros(3).device == un.mesh()

    assert m.run(program) == [True, True]


def test_resize_keeps_elements():
    def program():
        x = table()
        x.resize((5, 7))
        y = table()
        y.resize(9)
        return np.asarray(x).tolist(), np.asarray(y).tolist()

    x = np.arange(28.0)
    for wide, short in on_ranks(program):
        assert sum(wide, []) == [*x, *[0.0] * 7] and short == x[:9].tolist()


@pytest.mark.parametrize(
    "write",
    [
        lambda x, xp: xp.put(x, [1, 9, -2], [5.0, 6.0, 7.0]),
        lambda x, xp: x.put([1, 9], 5.0),
        lambda x, xp: xp.put_along_axis(x, xp.asarray([1, 9]), 5.0, axis=None),
        lambda x, xp: x.flat.__setitem__(9, 7),
        lambda x, xp: x.flat.__setitem__(slice(2, 20, 3), 7),
        lambda x, xp: x.T.flat.__setitem__(slice(2, 9), 7),
    ],
)
def test_writes_by_flat_positions_arrive(write):
    def program():
        x = table()
        write(x, un)
        return np.asarray(x).tolist()

    want = np.arange(28.0).reshape(7, 4)
    write(want, np)
    assert all(f == want.tolist() for f in on_ranks(program))


@pytest.mark.parametrize(
    "layout",
    [("cyclic", "block"), ("block", "cyclic"), (("cyclic", 2), "cyclic"), ("block", "block")],
)
def test_single_elements_of_arrays_on_grids(layout):
    """Of which no axis tells who has them."""

    def program():
        x = np.arange(20.0).reshape(4, 5)
        a = un.asarray(x, mesh=un.mesh(), layout=layout)
        assert [float(a[i, j]) for i in range(4) for j in range(5)] == x.ravel().tolist()
        a[1, 2] = a[3, 4] + a[0, 0]
        x[1, 2] = x[3, 4] + x[0, 0]
        assert np.asarray(a).tolist() == x.tolist()

    un.mesh("virtual", 4).run(program)
    un.mesh("virtual", 6).run(program)
