"""Kernels on devices that share the host's caches take turns on bands of rows, as those of the host do."""

import numpy as np
import pytest
import unisono as un

SIDE = 1301  # such a field is too large for the caches that two threads have
SHARING = [d.name for d in un.devices("opencl") if d.kind == "cpu"][:1]
sharing = pytest.mark.parametrize("name", SHARING)


@pytest.fixture(autouse=True)
def threads():
    previous = un.get_num_threads()
    un.set_num_threads(2)
    un.synchronize()  # what others recorded would be cut with these statements
    yield
    un.set_num_threads(previous)


def field(seed, shape=(SIDE, SIDE + 2)):
    return np.random.default_rng(seed).random(shape)


def sweep(u):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])


def turns(program, *arrays, device, capfd):
    """Checks the bits of every array; what the log says of turns."""
    theirs = [x.copy() for x in arrays]
    ours = [un.asarray(x, device=device) for x in arrays]
    program(*theirs)
    un._engine._set_setting("debug", "1")
    try:
        program(*ours)
        got = [np.asarray(x.to_device("cpu")) for x in ours]
    finally:
        un._engine._set_setting("debug", "0")
    for g, t in zip(got, theirs, strict=True):
        assert g.tobytes() == t.tobytes()
    return [line for line in capfd.readouterr().err.splitlines() if "take turns" in line]


@pytest.mark.parametrize("sweeps", [2, 3, 11])
def test_sweeps_in_place(device, sweeps, capfd):
    """Of any number: the results end up in either of two memories."""

    def program(u, v):
        for _ in range(sweeps):
            sweep(u)
        v -= u

    found = turns(program, field(1), field(2), device=device, capfd=capfd)
    if device.name.startswith("cuda"):  # it has caches of its own
        assert not found
    elif device.name in SHARING:
        assert f"these {min(sweeps, 8)} kernels take turns on " in found[0]


def wave(u, v):
    v[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
    u[1:-1, 1:-1] += 0.1 * v[1:-1, 1:-1]


def one_sided(u, v):
    """Reads four rows below and none above, so that tiles of one kind are slanted."""
    v[:-4] = u[4:] * 0.5 + u[:-4]
    u[:-4] = v[4:] * 0.25 + v[:-4]


def of_three(u, v):
    """Kernels of which none repeats another one's operands."""
    sweep(u)
    v[2:-2, 1:-1] = u[4:, 2:] + u[:-4, :-2]
    u[1:-1] -= 0.125 * v[:-2]


def with_steps(u, v):
    for k in range(6):
        sweep(u)
        v += u * (k * 0.5)


@sharing
@pytest.mark.parametrize(
    ("step", "times"),
    [
        (lambda u, v: sweep(u), 8),
        (lambda u, v: sweep(u), 3),
        (lambda u, v: sweep(u[100:-100, 3:]), 5),
        (wave, 4),
        (one_sided, 3),
        (of_three, 2),
        (with_steps, 1),
    ],
)
def test_tiles(name, step, times, capfd):
    """Kernels that took turns often are compiled as one, of which a work-item takes a tile of rows."""
    cores = next(d for d in un.devices("opencl") if d.name == name).compute_units
    columns = SIDE // 4  # the smallest second-level caches hold many rows of both fields
    most_cache = 2 << 20  # and of the largest ones the fields have tiles for each core
    rows = max(4 * SIDE, 5 * cores * most_cache // (2 * 8 * columns))

    def program(u, v):
        for _ in range(times):
            step(u, v)

    others = [un.asarray(field(k, (rows, columns)), device=name) for k in range(2)]
    for _ in range(1_500_000_000 // (times * 4 * rows * columns)):
        program(*others)
        un.eval(*others)
    fields = [field(k, (rows, columns)) for k in (8, 9)]
    found = turns(program, *fields, device=name, capfd=capfd)
    assert any(" tiles of " in line for line in found)


@sharing
def test_memory(name):
    """Sweeps in place take one more field, and give it back."""
    u = un.asarray(field(3), device=name)
    un.synchronize()  # what others recorded holds memory
    un.memory.trim(name)
    before = un.memory.stats(name)
    for _ in range(20):
        sweep(u)
    un.eval(u)
    un.synchronize()
    after = un.memory.stats(name)
    assert after["in_use"] == before["in_use"]
    assert after["total_allocated"] - before["total_allocated"] <= 1.1 * u.nbytes


@sharing
@pytest.mark.parametrize("order", ["in", "out"])
def test_on_queues(name, order, capfd):
    """Turns are of statements that were given to one queue."""
    queues = [un.Queue(name, order=order) for _ in range(2)]

    def one(u):
        if isinstance(u, np.ndarray):
            return [sweep(u) for _ in range(6)]
        with un.device(name, queue=queues[0]):
            for _ in range(6):
                sweep(u)

    def several(u):
        for k in range(6):
            if isinstance(u, np.ndarray):
                sweep(u)
                continue
            with un.device(name, queue=queues[k % 2]):
                sweep(u)

    assert turns(one, field(4), device=name, capfd=capfd)
    assert not turns(several, field(5), device=name, capfd=capfd)


@sharing
def test_borders(name, capfd):
    """Each sweep reads what other statements stored, in both memories, beside what it stores itself."""

    def program(u):
        for k in range(6):
            sweep(u)
            u[0] = u[1] * 0.5 + k
            u[:, -1] = u[:, -2]

    assert turns(program, field(6), device=name, capfd=capfd)


@sharing
def test_not_where_much_would_be_stored_in_both_memories(name, capfd):
    def program(u):
        for k in range(6):
            sweep(u)
            u[5:] = u[4:-1] * 0.5 + k

    assert not turns(program, field(6), device=name, capfd=capfd)


@sharing
def test_not_where_caches_hold_all(name, capfd):
    def program(u):
        for _ in range(12):
            sweep(u)

    assert not turns(program, field(7)[:300], device=name, capfd=capfd)


def random_program(rng):
    """A loop over statements that store windows of three fields, some rows and columns apart."""
    names, lines = ["a", "b", "c"], []
    corners = {n: tuple(int(x) for x in rng.integers(1, 4, 2)) for n in names}
    for _ in range(int(rng.integers(3, 7))):
        target = str(rng.choice(names))
        row, column = corners[target]
        terms = []
        for n in rng.choice(names, int(rng.integers(1, 4))):
            r, c = (int(x) for x in (row, column) + rng.integers(-1, 3, 2))
            terms.append(f"{n}[{r} : {SIDE - 6 + r - row}, {c} : {SIDE - 6 + c - column}] / 4")
        lines.append(f"{target}[{row} : {SIDE - 6}, {column} : {SIDE - 6}] = {' + '.join(terms)}")
        if rng.integers(0, 6) == 0:
            lines.append(f"{target}[{int(rng.integers(0, SIDE))}] = {names[0]}[7] * 0.5")
    return "for _ in range(3):\n    " + "\n    ".join(lines)


@sharing
@pytest.mark.parametrize("seed", range(4))
def test_random_programs(name, seed, capfd):
    text = random_program(np.random.default_rng(seed))

    def program(a, b, c):
        exec(text, {"a": a, "b": b, "c": c})

    others = [un.asarray(field(k), device=name) for k in range(3)]
    for _ in range(seed % 2 * 20):  # with tiles
        program(*others)
        un.eval(*others)
    try:
        turns(program, *(field(seed + k) for k in range(3)), device=name, capfd=capfd)
    except AssertionError:
        print(text)
        raise
