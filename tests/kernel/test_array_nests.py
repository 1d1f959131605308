"""How array statements of compiled functions become loops: bits of NumPy for any layout and overlap."""

import re

import numpy as np
import pytest
import unisono as un


@pytest.fixture(params=[1, 2, 3, 7])
def threads(request):
    before = un.get_num_threads()
    un.set_num_threads(request.param)
    yield request.param
    un.set_num_threads(before)


def layouts(rows, columns):
    """The same matrix in memory of several orders, steps and directions; each call makes new ones."""
    values = np.cos(np.arange(rows * columns, dtype=float)).reshape(rows, columns)
    wide = np.zeros((rows, 2 * columns + 3))
    tall = np.zeros((2 * rows, columns + 1))
    made = [
        values.copy(),
        np.asfortranarray(values),
        wide[:, 3::2],
        tall[::-2, columns - 1 :: -1],
        np.zeros((columns, rows))[::-1].T,
    ]
    for m in made:
        m[...] = values
    return made


def compare(function, make):
    """Runs NumPy's and ours on arguments of the same layout; results and arguments have equal bytes."""
    compiled = un.jit(function)
    for k in range(len(make())):
        theirs, ours = make()[k], make()[k]
        with np.errstate(all="ignore"):
            want = function(*theirs)
        got = compiled(*ours)
        for x, y in zip(ours, theirs, strict=True):
            if isinstance(x, np.ndarray):
                assert x.tobytes() == y.tobytes(), k
        if want is not None:
            assert np.asarray(got).tobytes() == want.tobytes(), k
    return compiled


def columns(p):
    for j in range(1, p.shape[1]):
        p[:, j] = p[:, j - 1] * 0.5 + p[:, j]


def columns_apart(p):
    p[:, 0] = p[:, 2] - p[:, 1]
    p[1:, 0] = p[:-1, 0] + p[1:, 1]
    p[:-1, 1] = p[1:, 1] + p[:-1, 0]
    p[::2, 3] = p[: (p.shape[0] + 1) // 2, 3] + 0.5
    p[:, ::-1] = p + 1.0


def blocks(p):
    p[1:, ::2] = p[:-1, ::2] + 1.0
    p[:, 1::4] = p[:, 3::4][:, : p[:, 1::4].shape[1]]
    p[1:-1, 2::2] = p[:-2, 1:-1:2][:, : p[:, 2::2].shape[1]] * p[1:-1, 2::2]


@pytest.mark.parametrize("function", [columns, columns_apart, blocks], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(1, 4), (2, 4), (9, 8), (40, 24), (300, 64)], ids=str)
def test_interleaved_views(function, shape, threads):
    compare(function, lambda: [(m,) for m in layouts(*shape)])


def test_columns_need_no_temporary():
    compiled = compare(columns, lambda: [(m,) for m in layouts(40, 24)])
    p = np.ones((50, 70))
    before = un.stats()["bytes_allocated"]
    compiled(p)
    assert un.stats()["bytes_allocated"] == before


def test_rows_of_twenty_run_on_vectors_to_their_end():
    @un.jit
    def add(x, y):
        x[1:-1, 1:-1] = y[1:-1, 2:] + y[1:-1, :-2]

    x, y = np.zeros((9, 25)), np.arange(225.0).reshape(9, 25)
    add(x, y)
    np.testing.assert_array_equal(x[1:-1, 1:-1], y[1:-1, 2:] + y[1:-1, :-2])
    if "<8 x double>" in add.inspect_llvm():
        assert "vec.epilog" in add.inspect_llvm()


def test_a_value_that_the_next_iteration_needs_stays_in_a_register():
    @un.jit
    def chain(a):
        for j in range(1, a.shape[0]):
            a[j] += a[j - 1]
            a[j] /= 9.0

    a = np.arange(50.0)
    want = a.copy()
    chain.py_func(want)
    chain(a)
    assert a.tobytes() == want.tobytes()
    assert re.search(r"store_forwarded", chain.inspect_llvm())
