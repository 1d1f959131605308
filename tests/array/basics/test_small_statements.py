"""Small statements of places that repeat run at once: NumPy's values, whatever was pending before."""

import itertools

import numpy as np
import pytest
import unisono as un

ROUNDS = 40  # more than a place makes before its statements run at once


def both(body, *inputs):
    """Run the body with NumPy's and with our arrays; all inputs and the result must be equal."""
    theirs = [np.array(x) for x in inputs]
    ours = [un.array(x) for x in inputs]
    wanted, made = body(np, *theirs), body(un, *ours)
    for a, b in zip([wanted, *theirs], [made, *ours], strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_array_equal(b, a)


def whole(seed, *shape, dtype="float64"):
    """Small whole numbers: sums of them are exact in any order."""
    return np.random.default_rng(seed).integers(1, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 10, 33, 300, 1023, 1024, 1025])
def test_elementwise_chains(dtype, n):
    def body(xp, a, b, c):
        total = []
        for k in range(ROUNDS):
            t = (a * b + c) * 2 - a
            a[k % n] = t[(k * 7) % n]
            total.append(t[k % n] + 0)
        return xp.asarray([complex(v) for v in total])

    both(body, *(whole(k, n, dtype=dtype) for k in range(3)))


@pytest.mark.parametrize(
    "from_dtype, to_dtype",
    list(itertools.product(["float64", "float32", "int64", "int8", "bool"], repeat=2)),
)
def test_mixed_dtypes(from_dtype, to_dtype):
    def body(xp, a, b):
        for k in range(ROUNDS):
            t = a + b
            u = xp.where(a > b, a, b)
            a[:] = b  # a cast
            a[k % 5] = k % 2
        return t + u

    both(body, whole(0, 12).astype(from_dtype), whole(1, 12).astype(to_dtype))


@pytest.mark.parametrize("step", [1, 2, -1])
def test_overlapping_views(step):
    def body(xp, a, m):
        for _ in range(ROUNDS):
            a[1:] += a[:-1]
            a[:-1] = a[1:] * 0.5
            a[::step] -= a[::-1][:: abs(step)]
            a[2:] = a[:-2]
            a[:3] *= a[1:2]
            a %= 64.0
            m[1:, :] += m[:-1, ::-1]
            m[:, 0] = m[0, :] - m[:, 1]
            m[:] = m.T
            m %= 32.0
        return a[0] + m[0, 0]

    both(body, whole(0, 24), whole(1, 5, 5))


def test_rows_and_columns():
    def body(xp, a, b, x):
        n = a.shape[0]
        for i in range(1, n):
            a[i, :i] -= 2.0 * b[i - 1, :i]
            a[i, i] = a[i, i - 1] + 1.0
            x[i] = a[i, :] @ b[:, i]
            x[i] += a[i, :i] @ b[:i, i]
            x[i] -= xp.dot(a[i, :i], b[i, :i])
            a[:, i] = b[:, i - 1] * x[:n]
            x[i] = x[i - 1] + b[i].sum()
            a[i - 1, None, :] = b[None, i, :]
        x[:] = a @ x
        return x @ b

    n = 30
    both(body, whole(0, n, n), whole(1, n, n), whole(2, n))


@pytest.mark.parametrize(
    "shape", [(7,), (3, 3), (5, 1), (1, 6), (2, 3, 4), (20, 3), (17, 30), (1, 1)]
)
def test_reductions(shape):
    def body(xp, a):
        made = []
        for _ in range(ROUNDS):
            made = [a.sum(), a.max(), a.min(), a.T.sum()]
            for axis in range(a.ndim):
                made += [a.sum(axis=axis), a.max(axis), a.T.sum(axis), a[::-1].min(axis=axis)]
            made.append((a > 2).all() + 0)
        return xp.concatenate([xp.asarray(m).reshape(-1) * 1.0 for m in made])

    both(body, whole(0, *shape))


def test_the_bits_of_reductions_do_not_depend_on_how_they_run():
    x = np.random.default_rng(0).standard_normal((9, 111))
    recorded = [
        un.array(x).sum(axis=0).tolist(),
        un.array(x).sum(axis=1).tolist(),
        float(un.array(x).sum()),
    ]
    a = un.array(x)
    un.eval(a)
    for _ in range(ROUNDS):
        at_once = [a.sum(axis=0).tolist(), a.sum(axis=1).tolist(), float(a.sum())]
    assert at_once == recorded


def test_pending_operands_and_readers():
    def body(xp, a, big):
        late = []
        for k in range(ROUNDS):
            pending = big * 2.0 + k  # too large to run at once
            a[:] = pending[:8] + a
            late.append(a + big[8:16])
            a[k % 8] = 1
            big[0] = k
        return xp.stack(late)

    both(body, whole(0, 8), whole(1, 5000))


def test_small_statements_leave_what_is_pending_alone():
    a, unrelated = un.ones(10), un.ones(2000) + 3
    un.eval(a)
    for _ in range(ROUNDS):
        a += 1.0
    assert un.stats()["pending_operations"] > 0
    assert a.tolist() == [1.0 + ROUNDS] * 10
    assert float(unrelated[5]) == 4.0


def test_places_that_do_not_repeat_are_recorded():
    a = un.ones(10)
    un.eval()
    before = un.stats()
    b = a * 2 + 1
    assert un.stats()["pending_operations"] > 0
    assert b.tolist() == [3.0] * 10
    after = un.stats()
    assert after["kernels_launched"] - before["kernels_launched"] == 1
    assert un.flush_log()[-1]["reason"] == "a value was read"


def test_counters_and_explanation():
    a = un.ones(10)
    un.eval(a)
    for _ in range(ROUNDS):
        before = un.stats()
        a *= 1.5
    after = un.stats()
    assert after["kernels_launched"] - before["kernels_launched"] == 1
    assert after["bytes_read"] - before["bytes_read"] == 80
    assert after["bytes_written"] - before["bytes_written"] == 80
    assert after["bytes_allocated"] == before["bytes_allocated"]
    assert "by eager execution" in un.explain(a)


def test_shared_memory_sees_small_statements():
    x = np.zeros(6)
    a = un.asarray(x, copy=False)
    b = un.asarray(x[1:], copy=False)
    for _ in range(ROUNDS):
        a += 1.0
        assert x[0] == a[0]
        b[:] = a[:-1]
        a[2:] = b[:-1] * 2.0
        want = [x[0], x[0], x[0] * 2, x[0] * 2, x[0] * 2, x[0] * 2]
        assert x[1] == want[1] and a.tolist() == x.tolist()


@pytest.mark.parametrize("value", [3, 2.5, True, -1, 300, np.float32(1.5), np.int16(7)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
def test_elements_take_what_numpy_takes(dtype, value):
    def run(xp):
        a = xp.zeros((4, 4), dtype=dtype)
        try:
            for k in range(ROUNDS):
                a[k % 4, 1] = value
                a[2][k % 4] = value
                a[3, :] = value
        except (OverflowError, TypeError, ValueError) as error:
            return type(error)
        return np.asarray(a).tolist()

    assert run(un) == run(np)


def test_errors_name_what_is_wrong_after_many_rounds():
    a, b = un.ones(4), un.ones(5)
    for k in range(ROUNDS):
        try:
            a[k % 4 :] += b[: 4 - k % 4] if k < ROUNDS - 1 else b
        except ValueError as error:
            assert k == ROUNDS - 1 and "(5,)" in str(error)
            break
    else:
        raise AssertionError("the last round must fail")
    with pytest.raises(IndexError, match="out of bounds"):
        for k in range(ROUNDS):
            a[k % 4] = a[k % 4 + (k == ROUNDS - 1) * 4]


def test_values_stay_snapshots():
    a = un.arange(3.0)
    un.eval(a)
    kept = []
    for _ in range(ROUNDS):
        kept.append((a[1], a.sum()))
        a += 1.0
    assert [float(v) for v, _ in kept] == [1.0 + k for k in range(ROUNDS)]
    assert [float(s) for _, s in kept] == [3.0 + 3 * k for k in range(ROUNDS)]


def test_much_pending_work_waits_for_what_is_wanted():
    """The value of a sum is small; what feeds the sum is not, and would be written where it is still seen."""
    x = un.ones(1_000_000)
    un.eval(x)

    def norm():
        square = x * x
        return un.sqrt(square.sum())

    for _ in range(100):
        before = un.stats()["bytes_written"]
        made = norm()
        assert float(made) == 1000
        assert un.stats()["bytes_written"] - before < 1000


def test_values_that_do_not_fit_are_refused_in_slices_too():
    values = un.array([1, 300, 1 << 40])
    x = un.zeros(4, dtype="int8")
    for value in (values[1], values.max(), (values * 2)[1]):
        with pytest.raises(OverflowError, match="out of bounds for int8"):
            x[1:3] = value
    x[1:3] = values[0]
    assert x.tolist() == [0, 1, 1, 0]
