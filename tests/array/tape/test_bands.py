"""Kernels that take turns on bands of rows: recurrences along strided axes, sweeps of stencils, long programs."""

import re
import subprocess

import numpy as np
import pytest
import unisono as un

ROWS, COLUMNS, LEVELS = 61, 67, 24  # rows that no band divides


@pytest.fixture(autouse=True)
def compiled():
    """Bands are of compiled kernels: compile at once."""
    un._engine._set_setting("executor", "cpu")
    yield
    un._engine._set_setting("executor", "auto")


def run(function, module, *arrays):
    results = function(module, *(module.array(x) for x in arrays))
    return [np.asarray(x) for x in (results if isinstance(results, tuple) else (results,))]


def bands_of(function, *arrays, capfd):
    """Checks the bits of every result; how many times kernels took turns."""
    with np.errstate(all="ignore"):
        wanted = run(function, np, *arrays)
    un._engine._set_setting("debug", "1")
    try:
        got = run(function, un, *arrays)
    finally:
        un._engine._set_setting("debug", "0")
    for g, w in zip(got, wanted, strict=True):
        assert g.dtype == w.dtype
        assert g.tobytes() == w.tobytes()
    return capfd.readouterr().err.count("take turns")


def cube(seed, dtype=np.float64):
    return np.random.default_rng(seed).random((ROWS, COLUMNS, LEVELS)).astype(dtype) + dtype(1)


def forward(module, a, b, c):
    """Thomas' forward sweep along the last axis."""
    for k in range(1, LEVELS):
        divided = 1.0 / (b[:, :, k] - c[:, :, k - 1] * a[:, :, k])
        c[:, :, k] = c[:, :, k] * divided
        b[:, :, k] = (b[:, :, k] - b[:, :, k - 1] * a[:, :, k]) * divided
    return b, c


def backward(module, a, b, c):
    """With a row of another array, a value for all rows, and a level written whole."""
    last = module.zeros((ROWS, COLUMNS))
    for k in range(LEVELS - 2, -1, -1):
        level = a[:, :, k] - b[:, :, k] * last + c[0, :, k]
        last[:] = level * a[3, 4, k]
        b[:, :, k] = level
    return b, last


def turned(module, a, b, c):
    """Views whose rows go the other way, and results that nobody sees."""
    for k in range(1, LEVELS):
        t = a[::-1, :, k] * b[:, ::-1, k - 1]
        c[:, :, k] = t + c[:, :, k - 1] * 0.5
        a[:, :, 0] = t - a[:, :, k]
    return a, c


def neighbours(module, a, b, c):
    """Reads of other rows of what is written: no turns across them."""
    for k in range(1, LEVELS):
        a[1:, :, k] = a[:-1, :, k - 1] + b[1:, :, k]
        b[:-1, :, k] = a[1:, :, k] * c[:-1, :, k]
    return a, b


def integers(module, a, b, c):
    for k in range(1, LEVELS):
        a[:, :, k] = a[:, :, k - 1] * 3 + b[:, :, k]
        b[:, :, k] = a[:, :, k] // 5 - c[:, :, k]
    return a, b


@pytest.mark.parametrize("function", [forward, turned])
def test_recurrences_take_turns(function, capfd):
    assert bands_of(function, cube(1), cube(2), cube(3), capfd=capfd) > 0


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex64])
def test_other_dtypes(dtype, capfd):
    function = integers if dtype is np.int64 else turned
    bands_of(function, *(cube(k, dtype) for k in range(3)), capfd=capfd)


@pytest.mark.parametrize("function", [backward, neighbours])
def test_other_programs(function, capfd):
    """Little to share, or rows that others have written."""
    bands_of(function, cube(1), cube(2), cube(3), capfd=capfd)


def test_threads_share_bands(capfd):
    previous = un.get_num_threads()
    try:
        for threads in (1, 2, 3, 7):
            un.set_num_threads(threads)
            assert bands_of(forward, cube(1), cube(2), cube(3), capfd=capfd) > 0
    finally:
        un.set_num_threads(previous)


def test_a_long_program_on_large_arrays(capfd):
    """More operations than a kernel holds: the kernels after the first read what it wrote."""
    x = np.random.default_rng(1).random(300_001)

    def program(module, x):
        y, z = x, x + 1
        for k in range(1, 40):
            y, z = y * z - k, y - z / k
        return y, z

    assert bands_of(program, x, capfd=capfd) > 0


def test_small_arrays_do_not(capfd):
    assert bands_of(forward, *(cube(k)[:9, :9] for k in range(3)), capfd=capfd) == 0


# --- Rows behind one another: what a kernel reads beside its rows, an earlier one has to have written ---

SIDE = 1009  # two such fields are too large for the caches that two threads have


def field(seed, dtype=np.float64, shape=(SIDE, SIDE + 2)):
    return np.random.default_rng(seed).random(shape).astype(dtype)


def jacobi(module, u, v):
    for _ in range(11):
        v[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25
        u, v = v, u
    return u, v


def laplace(module, u, v):
    """In place: a temporary array holds the results until the rows around are read."""
    for _ in range(5):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25
    return u, v


def wide(module, u, v):
    """Three rows up, one down, and columns of other numbers."""
    for k in range(6):
        v[3:-1] = u[:-4] - u[4:] * 0.5 + v[3:-1]
        u[3:-1, k:] = v[2:-2, k:] - 0.25
    return u, v


def waves(module, u, v):
    """Three levels of time, and borders of one row and one column."""
    w = v * 0.5
    for _ in range(7):
        inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        w[1:-1, 1:-1] = 2 * u[1:-1, 1:-1] - v[1:-1, 1:-1] + 0.1 * inner
        w[0] = w[1]
        w[:, 0] = w[:, 1]
        w[-1] = w[-2] * 0.5
        u, v, w = w, u, v
    return u, v, w


def borders(module, u, v):
    """The same number on all borders of two fields, by statements that could be one kernel."""
    for k in range(6):
        a, b = u.copy(), v.copy()
        u[1:-1, 1:-1] = a[1:-1, 1:-1] - 0.25 * b[1:-1, 1:-1] * (a[1:-1, 1:-1] - a[:-2, 1:-1])
        v[1:-1, 1:-1] = b[1:-1, 1:-1] - 0.25 * a[1:-1, 1:-1] * (b[2:, 1:-1] - b[1:-1, 1:-1])
        u[0], u[-1], v[0], v[-1] = k, k, k, k
        u[:, 0], u[:, -1], v[:, 0], v[:, -1] = 1, 2, 1, 2
    return u, v


def staggered(module, u, v):
    """Fields of other shapes, as finite differences in time have them."""
    x, y = v[:-1] * 1.5, v[:, :-1] * 0.5
    for _ in range(6):
        x[:, 1:] += 0.5 * (u[1:, 1:] - u[:-1, 1:])
        y[:] -= 0.5 * (u[:, 1:] - u[:, :-1])
        u[1:-1, 1:-1] += 0.25 * (x[1:, 1:-1] - x[:-1, 1:-1] + y[1:-1, 1:] - y[1:-1, :-1])
    return u, x, y


def fluxes(module, u, v):
    """Temporary arrays that are read at other rows than those of the result."""
    for _ in range(4):
        flux = (u[1:] - u[:-1]) * v[1:]
        change = flux[1:] - flux[:-1]
        u[1:-1] += 0.125 * change
        v[2:-2] -= 0.25 * (change[2:] + change[:-2])
    return u, v


def fresh(module, u, v):
    """A new array in each step, as programs make that do not write in place."""
    for _ in range(6):
        w = u.copy()
        w[1:-1] += 0.125 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u, v = w, u
    return u, v


def kept(module, u, v):
    """A temporary array that somebody still has."""
    all_of_them = []
    for _ in range(3):
        flux = u[1:] * 2 - u[:-1]
        u[1:] -= 0.125 * flux
        v[:-1] += flux[:]
        all_of_them.append(flux)
    return u, v, *all_of_them


def periodic(module, u, v):
    """The last row needs the first one: no turns across that."""
    for _ in range(4):
        v[1:-1] = u[:-2] + u[2:]
        v[0] = v[-2]
        v[-1] = v[1]
        u[:] = v * 0.5
    return u, v


def upwards(module, u, v):
    """Each sweep reads rows above alone: bands must come in order even so."""
    for _ in range(6):
        v[1:] = u[:-1] * 0.5
        u[2:] = v[:-2] + 1
    return u, v


def reversed_rows(module, u, v):
    for _ in range(4):
        v[1:-1] = u[::-1][2:] + u[:-2]
        u[:] = v[:, ::-1] * 0.5
    return u, v


def transposed(module, u, v):
    a, b = u.T, v.T
    for _ in range(4):
        b[1:-1] = a[2:] * 0.5 + a[:-2]
        a[:] = b * 0.25
    return u, v


def one_value_for_all(module, u, v):
    for k in range(5):
        v[1:-1] = u[:-2] * u[k, k] + u[2:] - u[k]
        u[1:-1] = v[2:] * 0.5 + v[7]
    return u, v


STENCILS = [jacobi, laplace, wide, waves, staggered, fluxes, fresh, kept, upwards, borders]
OTHERS = [periodic, reversed_rows, transposed, one_value_for_all]


@pytest.mark.everywhere
@pytest.mark.parametrize("function", STENCILS)
def test_stencils_take_turns(function, capfd):
    previous = un.get_num_threads()
    un.set_num_threads(1 if function is laplace else 2)
    try:
        assert bands_of(function, field(1), field(2), capfd=capfd) > 0
    finally:
        un.set_num_threads(previous)


@pytest.mark.everywhere
@pytest.mark.parametrize("function", OTHERS)
def test_other_distances(function, capfd):
    bands_of(function, field(1), field(2), capfd=capfd)


@pytest.mark.parametrize("function", STENCILS + OTHERS)
@pytest.mark.parametrize("threads", [1, 3])
def test_stencils_on_threads(function, threads, capfd):
    previous = un.get_num_threads()
    un.set_num_threads(threads)
    try:
        bands_of(function, field(3), field(4), capfd=capfd)
    finally:
        un.set_num_threads(previous)


@pytest.mark.parametrize("shape", [(1_200_007,), (91, 97, 101), (90_001, 13), (5, 300_000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_stencils_of_other_shapes(shape, dtype, capfd):
    def program(module, u, v):
        for _ in range(4):
            v[1:-1] = u[2:] * dtype(0.5) - u[:-2]
            u[1:] -= v[:-1]
        return u, v

    bands_of(program, field(5, dtype, shape), field(6, dtype, shape), capfd=capfd)


def test_other_elements_of_one_memory(capfd):
    """Real parts beside the numbers that they are parts of."""

    def program(module, u, v):
        for _ in range(4):
            v[1:-1] = u[2:] - u[:-2]
            u.real[1:-1] = v.imag[2:] * np.float32(0.5)
        return u, v

    bands_of(program, field(7, np.complex64), field(8, np.complex64), capfd=capfd)


def test_temporary_arrays_keep_some_rows():
    """Sweeps in place need no memory for the results of a whole sweep."""
    u = un.array(field(9, shape=(2 * SIDE, SIDE)))
    before = un.memory.stats()["total_allocated"]
    laplace(un, u, u)
    un.eval(u)
    assert un.memory.stats()["total_allocated"] - before < 2 * u.nbytes


def random_program(rng):
    """Statements on windows of fields and of temporary arrays, some rows and columns apart."""
    fields, lines = ["a", "b", "c"], []

    def window(rows=5):
        r, c = int(rng.integers(0, rows)), int(rng.integers(0, 4))
        return f"[{r} : {SIDE - 4 + r}, {c} : {SIDE - 2 + c}]"

    for k in range(int(rng.integers(4, 14))):
        terms = [
            f"{rng.choice(fields)}{window()} * {rng.integers(1, 9) / 8}"
            for _ in range(rng.integers(1, 4))
        ]
        value = " + ".join(terms)
        match int(rng.integers(0, 6)):
            case 0:
                lines += [f"t{k} = {rng.choice(fields)} * 0.5", f"t{k}{window()} = {value}"]
                fields.append(f"t{k}")
            case 1:
                row = int(rng.integers(0, SIDE - 3))
                near = row + int(rng.integers(0, 3))
                lines.append(f"{rng.choice(fields)}[{row}] = {rng.choice(fields)}[{near}] * 0.5")
            case 2:
                lines.append(f"{rng.choice(fields)}{window()} -= ({value}) * 0.125")
            case 3 if len(fields) > 3:
                lines.append(f"{fields.pop()} = None")
            case _:
                lines.append(f"{rng.choice(fields)}{window(3)} = {value}")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed, capfd):
    rng = np.random.default_rng(seed)
    text = random_program(rng)

    def program(module, a, b, c):
        names = {"a": a, "b": b, "c": c}
        exec(text, names)
        return names["a"], names["b"], names["c"]

    previous = un.get_num_threads()
    un.set_num_threads(1 + seed % 3)
    try:
        bands_of(program, *(field(seed + k) for k in range(3)), capfd=capfd)
    except AssertionError:
        print(text)
        raise
    finally:
        un.set_num_threads(previous)


def test_memory_that_nobody_else_holds_is_not_kept():
    """Statements that read arrays which the program has let go of do not wait for many more."""
    u = un.array(field(10))
    un.synchronize()
    before = un.memory.stats()["in_use"]
    for k in range(24):
        u += un.array(field(k))
        assert un.memory.stats()["in_use"] - before < 6 * u.nbytes
    un.synchronize()


@pytest.mark.everywhere
def test_explained():
    un.synchronize()  # what others left would be cut with it
    u, v = un.array(field(1)), un.array(field(2))
    for _ in range(2):
        v[1:-1] = u[:-2] + u[2:]
        u[1:-1] = v[:-2] * 0.5
    assert "may take turns on bands of rows with the next kernels, 4 in all" in str(un.explain(u))


def test_few_temporary_arrays_are_whole_at_once():
    """A long program of kernels in step needs no more memory than a few arrays."""
    x = un.array(np.random.default_rng(1).random(1_000_003))
    y, z = x, x + 1
    for k in range(1, 160):
        y, z = y * z - k, y - z / k
    before = un.memory.stats()
    limit = un.memory.stats()["limit"]
    un.memory.set_limit(before["in_use"] + 16 * x.nbytes)
    try:
        un.eval(y, z)
    finally:
        un.memory.set_limit(limit)


def test_bands_of_one_thread_stay_in_its_core(capfd):
    rows, columns = 1200, 2000
    un.synchronize()  # what other tests recorded
    before = un.get_num_threads()
    un._engine._set_setting("debug", "1")
    un.set_num_threads(1)
    try:
        u, v = un.zeros((rows, columns)), un.ones((rows, columns))
        for _ in range(8):
            v[1:-1] = (u[:-2] + u[2:]) * 0.5
            u, v = v, u
        un.synchronize()
    finally:
        un.set_num_threads(before)
        un._engine._set_setting("debug", "0")
    found = re.findall(r"on \d+ bands of (\d+) rows", capfd.readouterr().err)
    told = subprocess.run(["getconf", "LEVEL2_CACHE_SIZE"], capture_output=True, text=True).stdout
    cache = int(told.strip() or 0) or 1 << 20
    assert found
    # Of two fields; at least as many rows as the last kernel is behind the first.
    assert max(map(int, found)) <= max(cache // 2 // (2 * 8 * columns), 8)
