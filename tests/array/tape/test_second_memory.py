"""Sweeps of a stencil in place: kernels that take turns read one memory of the array and write another."""

import threading

import numpy as np
import pytest
import unisono as un

SIDE = 1009  # two such fields are too large for the caches that two threads have


@pytest.fixture(autouse=True)
def compiled():
    """Bands are of compiled kernels: compile at once."""
    previous = un.get_num_threads()
    un.set_num_threads(2)
    un._engine._set_setting("executor", "cpu")
    yield
    un._engine._set_setting("executor", "auto")
    un.set_num_threads(previous)


def field(seed, dtype=np.float64):
    return np.random.default_rng(seed).random((SIDE, SIDE + 2)).astype(dtype)


def sweep(u):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])


def turns(program, *arrays, capfd, make=un.array):
    """Checks the bits of every array; what the log says of kernels that took turns."""
    theirs = [x.copy() for x in arrays]
    program(*theirs)
    ours = [make(x) for x in arrays]
    un.synchronize()
    un._engine._set_setting("debug", "1")
    try:
        program(*ours)
        un.synchronize()
    finally:
        un._engine._set_setting("debug", "0")
    for ours_now, theirs_now in zip(ours, theirs, strict=True):
        assert np.asarray(ours_now).tobytes() == theirs_now.tobytes()
    return [line for line in capfd.readouterr().err.splitlines() if "take turns" in line]


@pytest.mark.parametrize("sweeps", [2, 3, 7, 8, 9, 17])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_any_number_of_sweeps(sweeps, dtype, capfd):
    """The array is where it was at the end, after an odd number, too."""

    def program(u):
        for _ in range(sweeps):
            sweep(u)

    found = turns(program, field(1, dtype), capfd=capfd)
    assert f"these {min(sweeps, 8) // 2 * 2} kernels take turns" in found[0]
    assert "1 arrays have a second memory" in found[0]
    assert "temporary" not in found[0]


@pytest.mark.parametrize("sweeps", [2, 3, 8])
def test_adopted_memory_stays(sweeps, capfd):
    """Of a NumPy array that was taken over."""

    def program(u):
        for _ in range(sweeps):
            sweep(u)

    found = turns(program, field(2), capfd=capfd, make=lambda x: un.asarray(x.copy()))
    assert "second memory" in found[0]


class Held:
    """Knows where its array is."""

    a: un.float64[:, ::1]

    def __init__(self, a):
        self.a = a

    def corner(self):
        return self.a[1, 1]


def test_compiled_objects_hold_addresses():
    u, expected = un.array(field(4)[:, :SIDE].copy()), field(4)[:, :SIDE].copy()
    held = un.jitclass(Held)(u)
    listed = un.jit(lambda arrays: arrays[0][1, 1])
    for sweeps in (3, 7, 8):
        for _ in range(sweeps):
            sweep(u)
            sweep(expected)
        assert held.corner() == expected[1, 1]
        assert listed([u]) == expected[1, 1]


def test_memory_that_others_see_stays():
    """The results are where NumPy and C find them."""
    theirs, expected = field(3), field(3)
    shared = un.asarray(theirs, copy=False)
    u = un.array(expected)
    seen, pointer, before = np.asarray(u), u.ctypes, u.ctypes.data
    for _ in range(9):
        sweep(u)
        sweep(shared)
        sweep(expected)
    assert np.array_equal(theirs, expected)
    assert np.array_equal(seen, expected)
    assert pointer.data == before == u.ctypes.data == seen.ctypes.data


def test_memory_that_was_seen():
    """Between sweeps that wait: each time the address is what it was while the view lives."""
    u, expected = un.array(field(4)), field(4)
    for _ in range(4):
        for _ in range(5):
            sweep(u)
            sweep(expected)
        seen = np.asarray(u)
        address = seen.ctypes.data
        sweep(u)
        sweep(expected)
        assert np.array_equal(seen, expected)
        assert u.ctypes.data == address
        del seen


def test_views_see_the_results(capfd):
    def program(u):
        part, turned = u[3:17, ::2], u.T
        for _ in range(5):
            sweep(u)
        turned[5] = part[1, 7] + part[2].sum()
        part[:, 4:9] += 1
        for _ in range(3):
            sweep(turned)

    assert turns(program, field(5), capfd=capfd)


def test_memory_is_given_back():
    u = un.array(field(6))
    un.synchronize()
    un.memory.trim()
    before = un.memory.stats()
    for _ in range(40):
        sweep(u)
    un.eval(u)
    after = un.memory.stats()
    assert after["in_use"] == before["in_use"]
    assert after["peak"] <= max(before["peak"], before["in_use"] + 1.1 * u.nbytes)


def test_where_memory_is_short(capfd):
    """A temporary array keeps some rows instead."""
    un.set_num_threads(1)  # for which the field alone is too large for the caches

    def program(u):
        limit = un.memory.stats()["limit"]
        if not isinstance(u, np.ndarray):
            un.memory.trim()
            un.memory.set_limit(un.memory.stats()["in_use"] + u.nbytes // 2)
        try:
            for _ in range(8):
                sweep(u)
            un.synchronize()
        finally:
            un.memory.set_limit(limit)

    (found,) = turns(program, field(7), capfd=capfd)
    assert "these 16 kernels take turns" in found
    assert "temporary" in found


def test_threads(capfd):
    """Sweeps on arrays of their own, and reads of a common one."""
    common, failures = un.array(field(8)), []
    expected = field(8)
    for _ in range(6):
        sweep(expected)

    def work(seed):
        u, own = un.array(field(seed)), field(seed)
        for k in range(11):
            sweep(u)
            sweep(own)
            if k == 6 and not np.array_equal(np.asarray(common[4:]), expected[4:]):
                failures.append("common")
        if not np.array_equal(np.asarray(u), own):
            failures.append(seed)

    for _ in range(6):
        sweep(common)
    threads = [threading.Thread(target=work, args=(20 + k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


# --- Statements that write what the sweeps leave alone ---


def borders_behind(u, k):
    sweep(u)
    u[0] = u[1]
    u[-1, :] = u[-2, :] * 0.5 + k
    u[:, 0] = u[:, 1]
    u[:, -1] = 1


def borders_before(u, k):
    u[0, 1:-1] = u[1, 1:-1] + k
    u[:, -1] = u[:, -2]
    sweep(u)


def now_and_then(u, k):
    """The second memory lacks a border for several sweeps."""
    if k % 3 == 1:
        u[0] = k
    sweep(u)


def corners(u, k):
    """Written in a part of what another statement wrote."""
    sweep(u)
    u[0] = u[1]
    if k == 4:
        u[0, :5] = u[2, 3:8]


def scaled(u, k):
    """Written over the sweep's results."""
    sweep(u)
    u[1:-1, 1:-1] *= 1.5
    if k % 2:
        u[3:9] = u[5:11] * 0.5


def masked(u, k):
    here = u[1:-1, 1:-1]
    around = u[2:, 1:-1] + u[:-2, 1:-1]
    module = np if isinstance(u, np.ndarray) else un
    u[1:-1, 1:-1] = module.where(here > 0.5, around * 0.5, here)


def updated(u, k):
    """The results are added to what was there."""
    here = u[1:-1, 1:-1]
    u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * here)
    here -= 0.1 * (2 * here - u[1:-1, 2:] - u[1:-1, :-2])


def red_and_black(u, k):
    for color in (0, 1):
        for row in (1, 2):
            column = 1 + (row + color) % 2
            here = (slice(row, -1, 2), slice(column, -1, 2))
            rows, columns = u[here].shape
            u[here] = 0.25 * (
                u[row - 1 :: 2, column::2][:rows, :columns]
                + u[row + 1 :: 2, column::2][:rows, :columns]
                + u[row::2, column - 1 :: 2][:rows, :columns]
                + u[row::2, column + 1 :: 2][:rows, :columns]
            )


TURNING = [borders_behind, borders_before, now_and_then, masked, updated]


@pytest.mark.parametrize("step", [*TURNING, corners, scaled, red_and_black])
@pytest.mark.parametrize("steps", [1, 4, 11])
def test_borders(step, steps, capfd):
    def program(u):
        for k in range(steps):
            step(u, k)

    found = turns(program, field(9), capfd=capfd)
    if steps > 1 and step in TURNING:
        assert any("second memory" in line for line in found)


def test_several_arrays(capfd):
    """Gray and Scott's reaction: results of one kernel for two arrays."""

    def program(u, v):
        for _ in range(9):
            a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
            lu = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * a
            lv = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * b
            uvv = a * b * b
            next_u = a + 0.125 * lu - uvv + 0.0625 * (1 - a)
            next_v = b + 0.0625 * lv + uvv - 0.125 * b
            u[1:-1, 1:-1], v[1:-1, 1:-1] = next_u, next_v

    assert turns(program, field(10), field(11), capfd=capfd)


def test_one_result_for_two_arrays(capfd):
    def program(u, v):
        for _ in range(6):
            u[1:-1, 1:-1] = v[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + v[:-2, 1:-1])

    turns(program, field(12), field(13), capfd=capfd)


def random_program(rng):
    """A loop over statements that store windows of three fields, some rows and columns apart."""
    names, lines = ["a", "b", "c"], []
    corners = {n: tuple(int(x) for x in rng.integers(1, 4, 2)) for n in names}
    for _ in range(int(rng.integers(2, 6))):
        target = str(rng.choice(names))
        row, column = corners[target]
        terms = []
        for n in rng.choice(names, int(rng.integers(1, 4))):
            r, c = (int(x) for x in (row, column) + rng.integers(-1, 3, 2))
            terms.append(f"{n}[{r} : {SIDE - 6 + r - row}, {c} : {SIDE - 6 + c - column}] / 4")
        lines.append(f"{target}[{row} : {SIDE - 6}, {column} : {SIDE - 6}] = {' + '.join(terms)}")
        edge = int(rng.choice([0, 0, -1, 5]))
        match int(rng.integers(0, 8)):
            case 0:
                lines.append(f"{target}[{edge}] = {names[0]}[7] * 0.5 + k")
            case 1:
                lines.append(f"{target}[:, {edge}] = {target}[:, 3] + k")
            case 2:
                lines.append(f"if k % 2: {target}[{edge}, 2:9] = {target}[4, 3:10]")
            case 3:
                lines.append(f"{target}[{row} : {SIDE - 6}, {column} : {SIDE - 6}] *= 0.5")
            case 4:
                lines.append(f"view = {target}[3:, ::2]; view[2] += view[1]")
    return f"for k in range({rng.integers(2, 9)}):\n    " + "\n    ".join(lines)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed, capfd):
    text = random_program(np.random.default_rng(seed))

    def program(a, b, c):
        exec(text, {"a": a, "b": b, "c": c})

    make = un.array if seed % 2 else lambda x: un.asarray(x.copy())
    try:
        turns(program, *(field(seed + k) for k in range(3)), capfd=capfd, make=make)
    except AssertionError:
        print(text)
        raise
