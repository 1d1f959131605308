"""Loop nests that run in another order than they are written in: the bits, stores and faults of the order written."""

import numpy as np
import pytest
import unisono as un
from layouts import layouts, numbers


def in_order(x, y):
    total = 0.0
    for p, q in zip(x.tolist(), y.tolist(), strict=True):
        total += p * q
    return total


def triangle(a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])


def triangle_in_order(a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += in_order(a[i + 1 :, i], b[i + 1 :, j])


def product(a, b, c):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = c[i, j]
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return s


def scaled(a, b, w, c):
    for j in range(c.shape[0]):
        low = 0.5
        for k in range(b.shape[0]):
            t = b[k, j]
            low += a[k] * (t * t + w[j])
        c[j] = low / 3.0
        w[j] = low


def updated(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def largest(t, n):
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(i, j):
                t[i, j] = max(t[i, j], t[i, k] + t[k + 1, j])
                t[i, j] += k


def itself(c, n):
    for k in range(n):
        c[n] += c[k] * 0.5
    for k in range(n + 3):
        c[n] += c[k] * 0.25


@pytest.mark.parametrize(
    "shape", [(1, 1), (5, 7), (3, 8), (9, 31), (33, 110), (400, 13), (40, 201)]
)
def test_products_of_columns_add_in_the_order_of_the_rows(shape):
    compiled = un.jit(triangle)
    for layout, b in enumerate(layouts(shape, 1)):
        a = numbers((shape[0], shape[0]), 2)
        want = b.copy()
        triangle_in_order(a, want)
        compiled(a, b)
        # Columns that do not lie side by side are summed in the order of processor and length.
        if layout in (0, 3):
            assert b.tobytes() == want.tobytes(), layout
        else:
            np.testing.assert_allclose(b, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [1, 15, 16, 17, 100, 161])
def test_loops_over_columns_keep_the_order_of_terms(columns, dtype):
    compiled = un.jit(product)
    a, b, c = (numbers(s, 3).astype(dtype) for s in [(3, 11), (11, columns), (3, columns)])
    want = c.copy()
    expected = product(a, b, want)
    assert compiled(a, b, c) == expected
    assert c.tobytes() == want.tobytes()


@pytest.mark.parametrize("function", [product, updated])
@pytest.mark.parametrize("terms", [0, 1, 9])
def test_elements_that_are_updated_where_they_lie(function, terms):
    for layout in range(5):
        a, b = numbers((4, terms), 12), layouts((terms, 90), 13)[layout]
        c = layouts((4, 90), 14)[layout]
        want = c.copy()
        function(a, b, want)
        un.jit(function)(a, b, c)
        assert c.tobytes() == want.tobytes(), layout


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float32, np.float64])
def test_an_element_that_a_loop_reads_too(dtype):
    t = (numbers((12, 12), 15) * 20).astype(dtype)
    want = t.copy()
    with np.errstate(over="ignore"):
        largest(want, 12)
    un.jit(largest)(t, 12)
    assert t.tobytes() == want.tobytes()
    c = numbers(40, 16)
    want = c.copy()
    itself(want, 20)
    un.jit(itself)(c, 20)
    assert c.tobytes() == want.tobytes()


def test_what_is_stored_on_the_way_is_seen_where_arrays_overlap():
    for python in (product, updated):
        compiled = un.jit(python)
        for shift in range(-60, 135, 5):
            results = []
            for function in (python, compiled):
                memory = numbers(400, 4)
                b = memory[100:230].reshape(5, 26)
                c = memory[100 + shift : 152 + shift].reshape(2, 26)
                function(numbers((2, 5), 5), b, c)
                results.append(memory.tobytes())
            assert results[0] == results[1], shift


def test_several_stores_and_declared_terms():
    compiled = un.jit(scaled)
    for columns in (4, 8, 77):
        a, b, w, c = (
            numbers(30, 6),
            numbers((30, columns), 7),
            numbers(columns, 8),
            np.zeros(columns),
        )
        others = a.copy(), b.copy(), w.copy(), c.copy()
        scaled(*others)
        compiled(a, b, w, c)
        assert w.tobytes() == others[2].tobytes()
        assert c.tobytes() == others[3].tobytes()


@pytest.mark.parametrize("wrong", ["a", "b", "c"])
def test_a_fault_leaves_what_was_stored_before_it(wrong):
    compiled = un.jit(product)
    shapes = {"a": (3, 11), "b": (11, 50), "c": (3, 50)}
    shapes[wrong] = {"a": (3, 12), "b": (10, 50), "c": (2, 40)}[wrong]
    stored = []
    for function in (product, compiled):
        a, b, c = (numbers(s, 9) for s in shapes.values())
        with pytest.raises(IndexError) as caught:
            function(a, b, c)
        stored.append((c.tobytes(), str(caught.value)))
    assert stored[0] == stored[1]


def orthogonal(a, q, r):
    for k in range(a.shape[1]):
        q[:, k] = a[:, k] / (1.0 + np.abs(a[0, k]))
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]


def orthogonal_in_order(a, q, r):
    for k in range(a.shape[1]):
        q[:, k] = a[:, k] / (1.0 + np.abs(a[0, k]))
        for j in range(k + 1, a.shape[1]):
            r[k, j] = in_order(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]


def old_values(a, x, w):
    for j in range(a.shape[1]):
        s = np.dot(a[:, j], x)
        was = w[j]
        w[j] = s
        a[:, j] = a[:, j] * was + s


def old_values_in_order(a, x, w):
    for j in range(a.shape[1]):
        s = in_order(a[:, j], x)
        was = w[j]
        w[j] = s
        a[:, j] = a[:, j] * was + s


def older_values(a, x, w):
    for j in range(a.shape[1]):
        was = w[j]
        s = np.dot(a[:, j], x)
        w[j] = s
        a[:, j] = a[:, j] * was + s


def one_row_for_all(a, q, r):
    for j in range(a.shape[1]):
        r[j] = np.dot(q[:1], a[:1, j])
        a[:, j] -= q[:1] * r[j]


@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (3, 40), (31, 33), (70, 60), (12, 200)])
def test_columns_that_are_updated_behind_their_products(shape):
    rows, columns = shape
    for layout in (0, 3):  # columns side by side
        a = layouts(shape, 30)[layout]
        got = a, layouts(shape, 31)[layout], np.zeros((columns, columns))
        want = a.copy(), got[1].copy(), got[2].copy()
        orthogonal_in_order(*want)
        un.jit(orthogonal)(*got)
        assert [x.tobytes() for x in got] == [x.tobytes() for x in want], layout
        got = layouts(shape, 32)[layout], numbers(rows, 33), numbers(columns, 34)
        want = tuple(x.copy() for x in got)
        others = tuple(x.copy() for x in got)
        old_values_in_order(*want)
        un.jit(old_values)(*got)
        assert [x.tobytes() for x in got] == [x.tobytes() for x in want], layout
        un.jit(older_values)(*others)
        assert [x.tobytes() for x in others] == [x.tobytes() for x in want], layout
        got = layouts(shape, 35)[layout], numbers(rows, 36), np.zeros(columns)
        want = tuple(x.copy() for x in got)
        one_row_for_all(*want)
        un.jit(one_row_for_all)(*got)
        assert [x.tobytes() for x in got] == [x.tobytes() for x in want], layout


def test_columns_that_share_memory_are_updated_in_order():
    stride_tricks = np.lib.stride_tricks.as_strided
    for step in (8, 24, 80, 160, 320):  # bytes from row to row of 40 columns
        results = []
        for function in (old_values_in_order, un.jit(old_values)):
            memory = numbers(400, 37) / 8
            a = stride_tricks(memory, (6, 40), (step, 8))
            w = memory[20:60] if step == 80 else numbers(40, 38)
            function(a, numbers(6, 39), w)
            results.append((memory.tobytes(), w.tobytes()))
        assert results[0] == results[1], step


def test_columns_of_different_lengths_raise_as_they_did():
    a, b = numbers((6, 6), 10), numbers((5, 40), 11)
    others = b.copy()
    with pytest.raises(ValueError, match="not aligned"):
        un.jit(triangle)(a, b)
    assert b.tobytes() == others.tobytes()


def from_above(a, b, c):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] = np.dot(a[i, :i], b[:i, j]) + b[i, j]


def from_beside(a, b, c):
    for i in range(1, b.shape[0]):
        for j in range(b.shape[1] - 1):
            b[i, j] = np.dot(a[i, :i], b[:i, j + 1]) + b[i, j]


def into_one_row(a, b, c):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            c[0, j] += np.dot(a[i], b[:, j])


def with_the_first_of_the_row(a, b, c):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = np.dot(a[i], b[:, j]) + c[i, 0]


def below_too_far(a, b, c):
    for i in range(b.shape[0] + 2):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])


@pytest.mark.parametrize("columns", [127, 128, 161, 250])
@pytest.mark.parametrize(
    "function",
    [from_above, from_beside, into_one_row, with_the_first_of_the_row, below_too_far],
    ids=lambda f: f.__name__,
)
def test_columns_through_all_rows(function, columns):
    n = 9
    made = un.jit(function)
    rng = np.random.default_rng(columns)
    a = rng.integers(-1, 2, (n, n)).astype(float)  # every sum is exact, in any order
    for change in (
        lambda x: x.copy(),
        lambda x: x.copy()[::-1],
        lambda x: np.concatenate([x, x], axis=1)[:, 5 : 5 + columns],
        np.asfortranarray,
    ):
        b, c = (change(rng.integers(-3, 4, (n, columns)).astype(float)) for _ in range(2))
        ours, theirs = (b.copy(order="K"), c.copy(order="K")), (b, c)
        for call, arrays in ((made, ours), (function, theirs)):
            if function is below_too_far:
                with pytest.raises(IndexError):
                    call(a, *arrays)
            else:
                call(a, *arrays)
        for x, y in zip(ours, theirs, strict=True):
            assert (x == y).all()
    if function is from_above:  # the matrix lies in what the sums change
        both = rng.integers(-1, 2, (5, columns)).astype(float)
        mine = both.copy()
        function(both[:, :5], both, c)
        made(mine[:, :5], mine, c)
        assert (both == mine).all()


def rank_updates(c, a, factor):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 0.5
        for k in range(a.shape[1]):
            c[i, : i + 1] += factor * a[i, k] * a[: i + 1, k]


def both_updates(c, a, b):
    for k in range(a.shape[1]):
        c[1:] = a[:, k] * b[0, k] + c[1:] + b[:, k] * a[0, k]


@pytest.mark.parametrize("shape", [(1, 9), (6, 7), (20, 8), (13, 41)])
def test_steps_that_update_rows_keep_their_order(shape):
    compiled = un.jit(rank_updates)
    for layout in range(5):
        a = layouts(shape, 17)[layout]
        c = layouts((shape[0], shape[0]), 18)[(layout + 2) % 5]
        want = c.copy()
        rank_updates(want, a, 1.5)
        compiled(c, a, 1.5)
        assert c.tobytes() == want.tobytes(), layout


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float64])
def test_steps_with_several_rows(dtype):
    compiled = un.jit(both_updates)
    for n, steps in [(1, 20), (5, 16), (40, 9), (3000, 17)]:
        a, b, c = ((numbers(s, 19) * 9).astype(dtype) for s in [(n, steps), (n, steps), n + 1])
        want = c.copy()
        both_updates(want, a, b)
        compiled(c, a, b)
        assert c.tobytes() == want.tobytes(), n


def test_steps_that_update_what_they_read():
    compiled = un.jit(both_updates)
    for start in range(0, 300, 7):
        results = []
        for function in (both_updates, compiled):
            memory = numbers(420, 20)
            a, b = memory[100:260].reshape(10, 16), memory[120:280].reshape(10, 16)
            function(memory[start : start + 11], a, b)
            results.append(memory.tobytes())
        assert results[0] == results[1], start


def test_a_step_that_fails_leaves_those_before_it():
    stored = []
    for function in (rank_updates, un.jit(rank_updates)):
        c = numbers((5, 5), 21)
        with pytest.raises(IndexError):
            function(c, numbers((7, 12), 22), 2.0)
        stored.append(c.tobytes())
    assert stored[0] == stored[1]
    with pytest.raises(ValueError, match="broadcast"):
        un.jit(both_updates)(numbers(9, 23), numbers((7, 12), 24), numbers((7, 12), 25))


def reversed_onto(p, n, m):
    p[:n] += 0.5 * p[:m][::-1]
    p[1 : n + 1] = p[:m] * p[n - m : n]


@pytest.mark.parametrize("n, m", [(1, 1), (7, 1), (7, 7), (100, 100), (3000, 3000), (3000, 1)])
def test_overlapping_statements_repeat_only_where_extents_say_so(n, m):
    p = numbers(n + 2, 26)
    want = p.copy()
    reversed_onto(want, n, m)
    compiled = un.jit(reversed_onto)
    compiled(p, n, m)
    assert p.tobytes() == want.tobytes()
