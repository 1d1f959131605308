"""Virtual ranks: programs on many ranks of one process, their errors, and what a run reports."""

import gc
import signal
import threading

import numpy as np
import pytest
import unisono as un


def laplace(mesh, n, sweeps):
    """The field after so many sweeps, by slices; with NumPy where there is no mesh."""
    xp, place = (np, {}) if mesh is None else (un, {"mesh": mesh})
    u = xp.zeros((n, n), **place)
    v = u.copy()
    u[0, :] = v[0, :] = 100
    for _ in range(sweeps):
        v[1:-1, 1:-1] = ((u[0:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, 0:-2] + u[1:-1, 2:])) / 4
        u, v = v, u
    return np.asarray(u)


@pytest.mark.parametrize("ranks", [1, 2, 4, 7, 64])
def test_laplace_has_numpys_bits(ranks):
    m = un.mesh("virtual", ranks)
    expected = laplace(None, 31, 9)
    for ours in m.run(laplace, m, 31, 9):
        assert np.array_equal(ours, expected)


def test_a_mesh_captured_from_outside_stands_for_the_ranks_own():
    m = un.mesh("virtual", 3)

    def program():
        x = un.arange(10, mesh=m)
        assert x.device == un.mesh() == un.mesh("virtual") == un.mesh("mpi")
        m.barrier()
        with un.device(un.mesh()):
            assert un.zeros(4).device == un.mesh()
        return m.rank, un.zeros(5, device=m).local.shape, float(x.sum())

    assert m.run(program) == [(0, (1,), 45.0), (1, (2,), 45.0), (2, (2,), 45.0)]


def test_arguments_and_results_are_copies():
    m = un.mesh("virtual", 2)
    x = un.arange(4.0)

    def program(a, *, scale):
        a *= scale + un.mesh().rank
        return {"a": a, "b": [a[1:], a.sum()], "c": "text"}

    first, second = m.run(program, x, scale=1.0)
    assert x.tolist() == [0, 1, 2, 3]
    assert isinstance(first["a"], un.ndarray) and (first["a"] + 1).tolist() == [1, 2, 3, 4]
    assert second["b"][0].tolist() == [2, 4, 6] and second["b"][1] == 12.0


def test_a_program_is_run_by_its_path(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text(
        "import sys\n"
        "import unisono as un\n"
        "if __name__ == '__main__':\n"
        "    m = un.mesh('mpi')\n"
        "    print(m.rank, int(un.ones(int(sys.argv[1]), mesh=m).sum()))\n"
    )
    un.mesh("virtual", 3).run(path, 7)
    # Each rank ends when it has met the others: the last one to come goes on first.
    assert capsys.readouterr().out == "2 7\n0 7\n1 7\n"


def test_runs_are_alike():
    m = un.mesh("virtual", 5)

    def program(order):
        x = un.arange(40, mesh=m)[::3] * 2
        order.append(("summed", m.rank, int(x.sum())))
        m.barrier()
        order.append(("left", m.rank))

    class List(list):  # not copied to each rank
        pass

    def once():
        order = List()
        m.run(program, order)
        report = m.report()
        return order, report.messages, report.bytes

    assert once() == once()


def test_an_exception_ends_all_ranks_and_names_its_own():
    m = un.mesh("virtual", 4)
    reached = []

    def program():
        x = un.ones(8, mesh=m)
        if m.rank == 2:
            raise KeyError("lost")
        try:
            x.sum().item()
        except un.CommError as error:
            reached.append(str(error))
            raise

    with pytest.raises(KeyError, match="lost") as caught:
        m.run(program)
    assert caught.value.__notes__ == ["on rank 2 of 4"]
    assert len(reached) == 2  # rank 3 had not begun
    line = program.__code__.co_firstlineno + 3
    assert all(
        f"rank 2 of 4 ended by KeyError ('lost') at test_virtual.py:{line}" in text
        for text in reached
    )
    assert m.run(lambda: un.ones(8, mesh=m).sum().item()) == [8.0] * 4  # another run begins anew


def test_ranks_that_run_different_programs_are_named():
    m = un.mesh("virtual", 4)

    def program():
        x = un.ones(8, mesh=m)
        if m.rank == 1:
            float(x.sum())
        else:
            float(x.max())

    with pytest.raises(un.CommError, match=r"different programs.*rank 0, 2, 3 but.*on rank 1"):
        m.run(program)
    first = program.__code__.co_firstlineno
    with pytest.raises(
        un.CommError,
        match=f"test_virtual.py:{first + 3}.*test_virtual.py:{first + 5}|{first + 5}.*{first + 3}",
    ):
        m.run(program)


def test_a_rank_that_ends_early_is_named():
    m = un.mesh("virtual", 3)

    def program():
        if m.rank != 1:
            m.barrier()

    with pytest.raises(
        un.CommError, match=r"barrier.*on rank 0, 2 but.*the end of the program.*on rank 1"
    ):
        m.run(program)


class Derived(un.ndarray):
    pass


def test_arrays_are_refused_elsewhere():
    m = un.mesh("virtual", 2)
    outside, kept = un.arange(5.0), []

    def program():
        kept.append((un.arange(3.0), un.ones(6, mesh=m), un.arange(3.0).view(Derived)))
        if m.rank == 1:
            misuse(*kept[0])
        m.barrier()

    def misuse(local, spread, derived):
        for use in (
            lambda: local + 1,
            lambda: local[1],
            lambda: local.sum(),
            lambda: un.sin(local),
            lambda: local.tolist(),
            lambda: np.asarray(local),
            lambda: un.sort(local),
            lambda: local @ local,
            lambda: np.from_dlpack(local),
            lambda: local.__setitem__(0, 3),
            lambda: local.__iadd__(1),
            lambda: local.view(Derived),
            lambda: derived.view(un.ndarray),
            lambda: un.asarray(derived),
            lambda: spread + 1,
            lambda: spread.local,
            lambda: spread.sum(),
        ):
            with pytest.raises(
                ValueError,
                match=r"belongs to virtual rank 0 of 2, and was used by virtual rank 1 of 2",
            ):
                use()
        with pytest.raises(
            ValueError,
            match="belongs to the program outside of run, and was used by virtual rank 1",
        ):
            outside + 1

    m.run(program)
    with pytest.raises(
        ValueError,
        match=r"belongs to virtual rank 1 of 2, and was used by the program outside of run",
    ):
        kept[1][0] + 1
    assert kept[1][0].shape == (3,)
    with pytest.raises(ValueError, match="send np.asarray"):
        repr(kept[1][1])
    with pytest.raises(ValueError, match="outside of run"):
        m.run(lambda: un.mesh())[0].barrier()


def test_arrays_are_released_where_they_belong():
    # What one rank made dies on the threads of others, and after the run on this one.
    m = un.mesh("virtual", 3)

    class Cycle:
        pass

    bins = [[], [], []]

    def program():
        for k in range(20):
            x = un.arange(1000.0, mesh=m) + k
            part = (x[1:] * 2).local + 1
            cycle = Cycle()
            cycle.me, cycle.arrays, cycle.capsule = cycle, (x, part), part.__dlpack__()
            bins[m.rank].append(part * 2)
            del cycle
            m.barrier()
            if m.rank == k % 3:
                gc.collect()
                bins[(m.rank + 1) % 3].clear()
                bins[(m.rank + 2) % 3].clear()
        return float(x.sum())

    before = un.stats()["bytes_in_use"]
    assert m.run(program) == [499500.0 + 19000] * 3
    for kept in bins:
        kept.clear()
    gc.collect()
    assert un.stats()["bytes_in_use"] <= before
    assert float(un.arange(10.0).sum()) == 45


def test_misuse_is_refused():
    for wrong, error, match in (
        (
            (),
            ValueError,
            r"needs the number of its ranks; got none; expected un.mesh\('virtual', 64\)",
        ),
        ((0,), ValueError, "at least one rank; got 0"),
        ((-3,), ValueError, "at least one rank; got -3"),
        (("4",), TypeError, "number of ranks is an int; got '4'"),
    ):
        with pytest.raises(error, match=match):
            un.mesh("virtual", *wrong)
    with pytest.raises(ValueError, match="latency is positive; got -1"):
        un.mesh("virtual", 2, latency=-1)
    with pytest.raises(ValueError, match="bandwidth is positive; got 0"):
        un.mesh("virtual", 2, bandwidth=0)
    with pytest.raises(ValueError, match=r"sample lists some of ranks 0 to 1; got \[2\]"):
        un.mesh("virtual", 2, sample=[2])
    with pytest.raises(ValueError, match="the launcher says how many"):
        un.mesh("mpi", 2)
    m = un.mesh("virtual", 2)
    with pytest.raises(RuntimeError, match="nothing ran on this mesh yet"):
        m.report()
    with pytest.raises(RuntimeError, match="outside of run"):
        un.zeros(3, mesh=m)
    with pytest.raises(RuntimeError, match="outside of run"):
        m.rank  # noqa: B018
    with pytest.raises(TypeError, match="expected a function or the path of a program; got int"):
        m.run(3)
    with pytest.raises(
        RuntimeError, match="a virtual rank cannot run others; got a call by rank 0 of 2"
    ):
        m.run(lambda: un.mesh("virtual", 3).run(print))


def test_a_report_tells_messages_and_times():
    m = un.mesh("virtual", 4, latency=0.5, bandwidth=1e3)
    m.run(lambda: un.arange(8.0, mesh=m).sum().item())
    report = m.report()
    assert report.rank == [0, 1, 2, 3] and report.messages == [3] * 4
    assert all(sent > 0 for sent in report.bytes)
    # The partial sums take half a second, and so does each level of the tree when all meet.
    assert all(1.5 <= waited < 4 for waited in report.waiting)
    assert report.critical_path == max(report.clock)
    assert report.clock == [c + w for c, w in zip(report.computing, report.waiting, strict=True)]
    lines = repr(report).splitlines()
    assert lines[0].split() == [
        "rank",
        "computing",
        "waiting",
        "clock",
        "messages",
        "bytes",
        "sent",
    ]
    assert len(lines) == 8 and lines[-1].startswith("critical path")


def test_sampled_ranks_send_what_they_would_and_wait_for_nobody():
    def program():
        u = un.zeros((100_000, 10), mesh=un.mesh())
        for _ in range(4):
            u[1:-1] = u[2:] + u[:-2]
        un.eval(u)
        return u.local.shape

    whole = un.mesh("virtual", 10)
    shapes = whole.run(program)
    few = un.mesh("virtual", 10, sample=[0, 5])
    assert few.run(program) == [shapes[0], shapes[5]]
    for k, r in enumerate([0, 5]):
        assert few.report().messages[k] == whole.report().messages[r]
        assert few.report().bytes[k] == whole.report().bytes[r]
    assert "ranks sampled of 10" in repr(few.report())


def test_a_plot_shows_each_rank():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    m = un.mesh("virtual", 3)
    m.run(lambda: un.ones(9, mesh=m).sum().item())
    axes = m.report().plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "2"]
    pyplot.close(axes.figure)


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises KeyboardInterrupt, also where who started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_run(ctrl_c):
    m = un.mesh("virtual", 2)

    def program():
        x = un.ones(4, mesh=m)
        if m.rank == 0:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        while True:
            x.sum().item()

    with pytest.raises(KeyboardInterrupt):
        m.run(program)

    def without_messages():
        if m.rank == 0:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        while True:
            pass

    with pytest.raises(KeyboardInterrupt):
        m.run(without_messages)
    assert m.run(lambda: m.rank) == [0, 1]


def test_functions_of_all_kinds_work():
    m = un.mesh("virtual", 5)
    rng = np.random.default_rng(3)
    x = rng.integers(-9, 9, (23, 4)).astype("float64")

    def program():
        a = un.asarray(x, mesh=m)
        return (
            np.asarray(un.sort(a[:, 0])),
            np.asarray(a.T + 1),
            np.asarray(a[a[:, 1] > 0]),
            np.asarray(a @ a.T),
            repr(a[:2]),
        )

    for ordered, transposed, masked, product, text in m.run(program):
        assert np.array_equal(ordered, np.sort(x[:, 0]))
        assert np.array_equal(transposed, x.T + 1)
        assert np.array_equal(masked, x[x[:, 1] > 0])
        assert np.array_equal(product, x @ x.T)
        assert "Mesh('virtual', rank" in text


def test_ranks_without_a_part_compute_between_the_steps_of_others():
    m = un.mesh("virtual", 7)

    def program():
        a = un.arange(6.0, mesh=m) + 1
        a[3:6:2] = a[2:5:2] * 2
        return np.asarray(a).tolist()

    assert m.run(program) == [[1, 2, 3, 6, 5, 10]] * 7


def test_what_every_rank_has_is_scanned_by_parts():
    m = un.mesh("virtual", 2)
    x = np.arange(18.0).reshape(2, 3, 3)

    def program():
        return np.asarray(un.cumsum(un.asarray(x, mesh=m, layout="replicated"), axis=1))

    assert np.array_equal(m.run(program)[0], np.cumsum(x, axis=1))


def test_a_diagonal_crosses_a_grid_of_ranks():
    """Its parts follow from both axes; a rank that has none of one must not answer for it."""
    x = np.arange(35.0).reshape(7, 5)

    def program():
        m, made = un.mesh(), []
        for layout in [(2, 3), ((7, 0), (0, 5, 0)), ((2, 5), (1, 3, 1))]:
            for columns in (slice(None), slice(-3, None)):
                a = un.asarray(x, mesh=m, layout=layout) + 1
                view = un.diagonal(a[:, columns])
                un.fill_diagonal(a, 0)
                made.append([np.asarray(v).tolist() for v in (view, view * 2, view.sum(), a)])
        return made

    expected = []
    for _ in range(3):
        for columns in (slice(None), slice(-3, None)):
            a = x + 1
            view = np.diagonal(a[:, columns])
            np.fill_diagonal(a, 0)
            expected.append([v.tolist() for v in (view, view * 2, view.sum(), a)])
    assert un.mesh("virtual", 6).run(program) == [expected] * 6
