"""Two products of one matrix with vectors share a pass over it: the bits of one after the other."""

import numpy as np
import pytest
import unisono as un

SHAPES = [(700, 501), (33, 9000), (5000, 65), (1001, 403)]


@pytest.fixture
def log(capfd):
    un._engine._set_setting("debug", "1")
    yield lambda: capfd.readouterr().err
    un._engine._set_setting("debug", "0")


def same(a, b):
    assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def operands(shape, dtype, order):
    random = np.random.default_rng(1)
    matrix = random.standard_normal(shape[:: 1 if order == "C" else -1]).astype(dtype)
    a = un.array(matrix) if order == "C" else un.array(matrix).T
    x, y = (un.array(random.standard_normal(n).astype(dtype)) for n in (shape[1], shape[0]))
    un.eval()
    return a, x, y


def alone(product):
    made = product()
    un.eval(made)
    return made


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_pairs(log, shape, dtype, order):
    a, x, y = operands(shape, dtype, order)
    forward, backward = alone(lambda: a @ x), alone(lambda: y @ a)
    assert "in the same pass" not in log()
    for pair in (
        lambda: (a @ x, y @ a),
        lambda: (a @ x, a.T @ y),
        lambda: (y @ a, a @ x)[::-1],
    ):
        f, b = pair()
        un.eval(f, b)
        assert "in the same pass" in log()
        same(f, forward)
        same(b, backward)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_second_reads_what_the_first_writes(log, order):
    a, _, y = operands((700, 501), "float64", order)
    products = {
        "joined": lambda p: p(lambda: a @ p(lambda: y @ a)),
        "all of it": lambda p: p(lambda: p(lambda: y @ a)[::-1] @ a.T),
        "after a change": lambda p: p(lambda: (p(lambda: y @ a) + 1) @ a.T),
    }
    for product in products.values():
        expected = product(alone)
        log()
        made = product(lambda step: step())
        un.eval(made)
        same(made, expected)
    # Rows are dense in one of the two orders only; there the second follows the first row by row.
    made = (a @ (y @ a)) if order == "F" else (a @ un.array(a.T @ y))
    un.eval(made)
    assert ("in the same pass" in log()) == (order == "F")


def test_statements_in_between(log):
    a, x, y = operands((700, 501), "float64", "C")
    one, two = un.zeros_like(y), un.zeros_like(x)
    forward, backward = alone(lambda: a @ x), alone(lambda: y @ a)
    log()
    one += a @ x
    two += y @ a
    un.eval()
    assert "in the same pass" in log()
    same(one, forward)
    same(two, backward)
    one[:] = y
    one += a @ x
    changed = one @ a
    un.eval(changed)
    assert "in the same pass" not in log()
    same(changed, alone(lambda: alone(lambda: y + forward) @ a))


def test_a_write_to_the_matrix_in_between(log):
    a, x, y = operands((700, 501), "float64", "C")
    expected = alone(lambda: y @ alone(lambda: a * 2))
    log()
    first = a @ x
    a *= 2
    second = y @ a
    un.eval(first, second)
    assert "in the same pass" not in log()
    same(second, expected)


def parts_of(a, vectors, side):
    """Products of each vector with its own columns (`side` "left") or rows of the matrix."""
    n = a.shape[1] if side == "left" else a.shape[0]
    cuts = [(k, n) for k in range(5)] + [(0, n - 3), (17, 90), (n - 40, n - 3), (3, 3 + n // 2)]
    if side == "left":
        return [lambda v=v, c=c: v @ a[:, slice(*c)] for v, c in zip(vectors, cuts, strict=True)]
    return [lambda v=v, c=c: a[slice(*c)] @ v for v, c in zip(vectors, cuts, strict=True)]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(700, 501), (61, 1203), (1500, 133)])
def test_several_of_overlapping_parts(log, shape, dtype, order, side):
    a, x, y = operands(shape, dtype, order)
    v = y if side == "left" else x
    step = un.array(np.repeat(np.asarray(v), 3))[::3]
    products = parts_of(a, [v, step, *(v + k for k in range(1, 8))], side)
    expected = [alone(p) for p in products]
    assert "in the same pass" not in log()
    made = [p() for p in products]
    un.eval(*made)
    assert log().count("in the same pass") == sum(p.size * v.size >= 8192 for p in made) - 1
    for m, e in zip(made, expected, strict=True):
        same(m, e)


@pytest.mark.parametrize("between", ["matrix", "vector", "nothing"])
def test_several_read_what_was_there(between):
    a, _, y = operands((300, 280), "float64", "C")
    numbers, vector = np.array(a), np.array(y)
    made, expected = [], []
    for k in range(6):
        made.append(y @ a[:, k:])
        expected.append(vector @ numbers[:, k:])
        if between == "matrix":
            a[k] *= 2
            numbers[k] *= 2
        elif between == "vector":
            y[k] = 3
            vector[k] = 3
    un.eval(*made)
    for m, e in zip(made, expected, strict=True):
        np.testing.assert_allclose(np.asarray(m), e, rtol=1e-10)


def covariance(np, data):
    n, m = data.shape
    made = np.zeros((m, m))
    for i in range(m):
        made[i:m, i] = made[i, i:m] = data[:, i] @ data[:, i:m] / (n - 1.0)
    return made


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_loop_over_columns(order):
    data = np.asarray(np.random.default_rng(2).standard_normal((260, 300)), order=order)
    made = covariance(un, un.array(data))
    np.testing.assert_allclose(np.asarray(made), covariance(np, data), rtol=1e-10, atol=1e-12)
    with un.eager():
        same(made, covariance(un, un.array(data)))


def test_threads_do_not_change_bits():
    data = un.array(np.random.default_rng(3).standard_normal((700, 500)))
    made = covariance(un, data)
    before = un.get_num_threads()
    try:
        for threads in (1, 2, 3):
            un.set_num_threads(threads)
            same(made, covariance(un, data))
    finally:
        un.set_num_threads(before)
