"""Products in loops and in pairs that share a pass over the matrix: NumPy's values, the bits of one by one."""

import numpy as np
import pytest
import unisono as un


@pytest.fixture
def log(capfd):
    un._engine._set_setting("debug", "5")
    yield lambda: capfd.readouterr().err
    un._engine._set_setting("debug", "0")


def random(*shape, dtype="float64", order="C"):
    x = np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)
    return np.asarray(x, order=order)


def check(f, *args, rtol=1e-9):
    """The function on NumPy's arrays and compiled: results and what became of the arguments."""
    mine = [np.copy(a, order="K") if isinstance(a, np.ndarray) else a for a in args]
    expected, made = f(*args), un.jit(f)(*mine)
    if not isinstance(expected, tuple):
        expected, made = (expected,), (made,)
    for e, m in zip((*expected, *args), (*made, *mine), strict=True):
        if isinstance(e, np.ndarray):
            np.testing.assert_allclose(np.asarray(m), e, rtol=rtol, atol=rtol * 10)


def covariance(data):
    m = data.shape[1]
    made = np.zeros((m, m), dtype=data.dtype)
    for i in range(m):
        made[i:m, i] = made[i, i:m] = data[:, i] @ data[:, i:m] / (data.shape[0] - 1.0)
    return made


def correlation(data):
    m = data.shape[1]
    made = np.eye(m, dtype=data.dtype)
    for i in range(m - 1):
        made[i + 1 : m, i] = made[i, i + 1 : m] = data[:, i] @ data[:, i + 1 : m]
    return made


def of_rows(data, out):
    for i in range(data.shape[0]):
        out[i, i:] = data[i:] @ data[i]
    return out


def windows(data, out):
    m = data.shape[1]
    for i in range(m):
        out[i, : min(40, m - i)] = data[:, m - 1 - i] @ data[:, i : i + 40]
    return out


def fixed(data, out):
    for i in range(5, data.shape[0]):
        out[i] = data @ data[i]
    return out


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("f", [covariance, correlation])
def test_loops(log, f, dtype, order):
    data = random(260, 170, dtype=dtype, order=order)
    check(f, data, rtol=1e-9 if dtype == "float64" else 1e-3)
    assert "native matmul_ahead" in log()


@pytest.mark.parametrize("f", [of_rows, windows, fixed])
def test_loops_into_an_argument(log, f):
    data = random(210, 210) if f is not windows else random(300, 150)
    check(f, data, np.zeros((data.shape[1], data.shape[1])))
    assert "native matmul_ahead" in log()


def test_bits_are_those_of_arrays():
    data = random(700, 300)
    made = np.asarray(un.jit(covariance)(data))
    a = un.array(data)
    with un.eager():
        for i in range(0, 300, 7):
            row = np.asarray(a[:, i] @ a[:, i:] / (data.shape[0] - 1.0))
            assert made[i, i:].tobytes() == row.tobytes()
    before = un.get_num_threads()
    try:
        for threads in (1, 2, 3):
            un.set_num_threads(threads)
            assert np.asarray(un.jit(covariance)(data)).tobytes() == made.tobytes()
    finally:
        un.set_num_threads(before)


def changes_matrix(data, out):
    for i in range(data.shape[1] - 1):
        out[i] = data[:, i] @ data
        data[:, i + 1] = data[:, i + 1] * 0.5 + out[i, i] * 1e-3
    return out


def changes_name(a, b, out):
    data = a
    for i in range(a.shape[1]):
        out[i] = data[:, i] @ data
        if i == 20:
            data = b
    return out


def changes_through_another_name(a, out):
    other = a
    for i in range(a.shape[1]):
        out[i] = a[:, i] @ a
        other[0, i] = 5.0
    return out


def ends_early(data, out):
    for i in range(data.shape[1]):
        if i == 30:
            break
        out[i] = data[:, i] @ data
    return out


def nested(data, out):
    for k in range(3):
        for i in range(data.shape[1]):
            out[i] += data[:, i] @ data
        data[k] = 2.0 * k
    return out


@pytest.mark.parametrize("f", [changes_matrix, changes_through_another_name, ends_early, nested])
def test_what_changes(f):
    check(f, random(150, 120), np.zeros((120, 120)))


def test_a_name_that_changes():
    check(changes_name, random(150, 120), random(150, 120) + 1, np.zeros((120, 120)))


def test_arguments_that_overlap():
    def f(a, out):
        for i in range(a.shape[1] - 1):
            out[i] = (a[:, i] @ a) * 1e-3
        return out

    def run(f):
        both = random(400, 120)
        f(both[:150], both[100:250])
        return both

    np.testing.assert_allclose(run(un.jit(f)), run(f), rtol=1e-9)


def test_a_fault_on_the_way():
    def f(data, n, out):
        for i in range(n):
            out[i] = data[:, i] @ data

    data, out, expected = random(150, 120), np.zeros((130, 120)), np.zeros((130, 120))
    with pytest.raises(IndexError, match="index 120 is out of bounds"):
        un.jit(f)(data, 130, out)
    with pytest.raises(IndexError):
        f(data, 130, expected)
    np.testing.assert_allclose(out, expected, rtol=1e-9)


def both_sides(a, p, r):
    return r @ a, a @ p


def one_after_the_other(a, p, r):
    return (a @ p) @ a


def back_and_forth(a, p, r):
    return a @ (r @ a)


def into_arguments(a, p, r):
    p += r @ a
    r += a @ p
    return p


def in_a_loop(a, p, r):
    for _ in range(4):
        r = a @ p
        p = r @ a
        p /= np.sum(p * p) ** 0.5
    return p, r


def same_side(a, p, r):
    return a @ p, a @ (p + 1), a @ r[: a.shape[1]]


def changed_between(a, p, r):
    x = r @ a
    a[3] = 1.0
    y = a @ p
    p[3] = 5.0
    return x, y, r @ a, a @ p


PAIRS = [both_sides, one_after_the_other, back_and_forth, in_a_loop, same_side]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("f", [*PAIRS, into_arguments, changed_between])
def test_pairs(log, f, order, dtype):
    a = random(600, 500, dtype=dtype, order=order)
    check(
        f,
        a,
        random(500, dtype=dtype),
        random(600, 1, dtype=dtype)[:, 0],
        rtol=1e-3 if dtype == "float32" else 1e-9,
    )
    if f in PAIRS:
        assert "native matmul_pair" in log()


@pytest.mark.parametrize("f", [both_sides, one_after_the_other])
def test_bits_of_pairs(f):
    a, p, r = random(600, 500), random(500), random(600, 1)[:, 0]
    made = un.jit(f)(a, p, r)
    with un.eager():
        expected = f(un.array(a), un.array(p), un.array(r))
    if not isinstance(made, tuple):
        made, expected = (made,), (expected,)
    for m, e in zip(made, expected, strict=True):
        assert np.asarray(m).tobytes() == np.asarray(e).tobytes()


def test_shapes_that_do_not_fit():
    a = random(600, 500)
    with pytest.raises(ValueError, match="matmul"):
        un.jit(both_sides)(a, random(501), random(600, 1)[:, 0])
