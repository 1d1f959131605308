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
