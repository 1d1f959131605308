"""Products of arrays against NumPy: values, dtypes, shapes, errors, and bits for any thread count."""

import os

import numpy as np
import pytest
import unisono as un

RNG = np.random.default_rng(5)
SHAPES = [
    ((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)),
    ((7, 1, 3, 4), (2, 4, 5)), ((130, 70), (70, 90)), ((4, 0), (0, 3)), ((0, 4), (4, 3)),
    ((1, 1), (1, 1)), ((1, 9), (9, 1)), ((9, 1), (1, 9)), ((5000,), (5000,)), ((300, 400), (400,)),
]  # fmt: skip
FORMS = {
    "packed": lambda x: x,
    "columns": lambda x: np.asfortranarray(x),
    "reversed": lambda x: x[::-1],
    "every second": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
}


def made(shape, dtype):
    return (RNG.random(shape) * 4 - (0 if dtype in ("uint8", "bool") else 2)).astype(dtype)


def check(got, expected):
    got = np.asarray(got)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    tolerance = 1e-4 if expected.dtype == np.float32 else 1e-11
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def check_sums(got, a, b):
    """Within the bound of any order of additions (Higham, Accuracy and Stability, section 3.1)."""
    got, a, b = np.asarray(got), a.astype("longdouble"), b.astype("longdouble")
    bound = (b.shape[0] + 1) * np.finfo(got.dtype).eps * (abs(a) @ abs(b))
    assert (abs(got - a @ b) <= bound).all()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_matmul(dtype, form):
    for one, two in SHAPES:
        if form is FORMS["broadcast"] and 0 in one + two:
            continue
        a, b = form(made(one, dtype)), form(made(two, dtype))
        check(un.asarray(a) @ un.asarray(b), np.asarray(a @ b))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64", "uint8", "bool"])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
def test_stacks_of_small_matrices(dtype, columns):
    shapes = [((40, 3, 3), (40, 3, columns)), ((5, 1, 2, 4, 6), (3, 2, 6, columns))]
    for one, two in shapes:
        a, b = made(one, dtype), made(two, dtype)
        check(un.asarray(a) @ un.asarray(b), a @ b)
        a, b = np.swapaxes(made(one, dtype), -1, -2).copy(), made(two, dtype)[::-1]
        check(un.asarray(a).mT @ un.asarray(b), np.swapaxes(a, -1, -2) @ b)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_stack_of_inner_products_has_the_bits_of_each(dtype):
    for length in (4, 300, 1000, 40000):
        a, b = (un.asarray(made((7, length), dtype)) for _ in range(2))
        alone = [(a[k] @ b[k]).item() for k in range(7)]
        assert (a[:, None] @ b[:, :, None]).ravel().tolist() == alone
        assert un.einsum("ij,ij->i", a, b).tolist() == alone


@pytest.mark.parametrize("weights", [[np.inf, 1], [1, np.nan, 1], [np.nan] + [1] * 39])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_weights_that_are_not_finite_meet_no_elements_beyond_the_ends(weights, mode):
    for dtype in ("float64", "float32", "complex128", "int64"):
        a, v = np.arange(50).astype(dtype), np.array(weights)
        with np.errstate(all="ignore"):
            expected = np.convolve(a, v, mode), np.correlate(a, v, mode), np.correlate(v, a, mode)
        ours, theirs = un.asarray(a), un.asarray(v)
        check(un.convolve(ours, theirs, mode), expected[0])
        check(un.correlate(ours, theirs, mode), expected[1])
        check(un.correlate(theirs, ours, mode), expected[2])


def test_matmul_mixes_dtypes_and_fuses_what_feeds_it():
    a, b = made((20, 30), "int32"), made((30, 10), "float32")
    check((un.asarray(a) * 2 + 1) @ un.asarray(b), (a * 2 + 1) @ b)
    check(un.matmul(a, b), a @ b)
    check(un.asarray(a) @ b, a @ b)
    check([[1, 2], [3, 4]] @ un.asarray([1, 1]), np.array([3, 7]))


def test_matmul_writes_to_out_and_in_place():
    a, b = made((6, 6), "float64"), made((6, 6), "float64")
    x, y = un.array(a), un.array(b)
    out = un.zeros((6, 6))
    assert un.matmul(x, y, out=out) is out
    check(out, a @ b)
    wide = un.zeros((6, 12))
    un.matmul(x, y, out=wide[:, ::2])
    check(wide[:, ::2], a @ b)
    un.matmul(x, y, out=x)
    check(x, a @ b)
    y @= y.T
    check(y, b @ b.T)


@pytest.mark.parametrize(
    "one, two", [((2, 3), (4, 5)), ((), (3,)), ((3,), ()), ((2, 3, 4), (3, 4, 5))]
)
def test_matmul_refuses(one, two):
    for xp in (np, un):
        with pytest.raises(ValueError, match="matmul" if xp is un else None):
            xp.matmul(xp.ones(one), xp.ones(two))


def test_matmul_errors_name_the_shapes():
    with pytest.raises(
        ValueError, match=r"matmul: .*got shapes \(2, 3\) and \(4, 5\); expected 3, got 4"
    ):
        un.ones((2, 3)) @ un.ones((4, 5))
    with pytest.raises(
        ValueError, match=r"matmul: out= has the wrong shape; got \(2,\), expected \(2, 2\)"
    ):
        un.matmul(un.ones((2, 2)), un.ones((2, 2)), out=un.zeros(2))
    with pytest.raises(TypeError, match="matmul: cannot cast"):
        un.matmul(un.ones((2, 2)), un.ones((2, 2)), out=un.zeros((2, 2), dtype="int64"))


@pytest.mark.parametrize(
    "shapes", [((700, 300), (300, 900)), ((3000, 2000), (2000,)), ((400000,), (400000,))]
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_bits_do_not_depend_on_threads(shapes, dtype):
    a, b = (un.array(made(s, dtype)) for s in shapes)
    results = []
    for threads in (1, 2, 3):
        un.set_num_threads(threads)
        try:
            results.append(np.asarray(a @ b).tobytes())
        finally:
            un.set_num_threads(len(os.sched_getaffinity(0)))
    assert results[0] == results[1] == results[2]


PRODUCTS = {
    "dot": lambda xp, a: xp.dot(a((3, 4)), a((4, 2))),
    "dot scalar": lambda xp, a: xp.dot(3, a((4, 2))),
    "dot stacks": lambda xp, a: xp.dot(a((2, 3, 4)), a((5, 4, 2))),
    "dot stack by vector": lambda xp, a: xp.dot(a((2, 3, 4)), a((4,))),
    "vdot": lambda xp, a: xp.vdot(a((3, 4)), a((3, 4))),
    "vecdot": lambda xp, a: xp.vecdot(a((5, 3, 4)), a((3, 4))),
    "vecdot axis": lambda xp, a: xp.vecdot(a((3, 4)), a((3, 4)), axis=0),
    "matvec": lambda xp, a: xp.matvec(a((5, 3, 4)), a((5, 4))),
    "vecmat": lambda xp, a: xp.vecmat(a((5, 4)), a((5, 4, 3))),
    "inner": lambda xp, a: xp.inner(a((2, 3, 4)), a((5, 4))),
    "inner scalar": lambda xp, a: xp.inner(a((2, 3)), 2),
    "outer": lambda xp, a: xp.outer(a((2, 3)), a((4,))),
    "tensordot": lambda xp, a: xp.tensordot(a((2, 3, 4)), a((3, 4, 5))),
    "tensordot 0": lambda xp, a: xp.tensordot(a((2, 3)), a((4,)), 0),
    "tensordot axes": lambda xp, a: xp.tensordot(a((2, 3, 4)), a((4, 5, 2)), ([0, -1], [2, 0])),
    "tensordot axis": lambda xp, a: xp.tensordot(a((2, 3)), a((2, 4)), (0, 0)),
    "kron": lambda xp, a: xp.kron(a((2, 3)), a((4, 2))),
    "kron ranks": lambda xp, a: xp.kron(a((3,)), a((2, 2, 2))),
    "cross": lambda xp, a: xp.cross(a((5, 3)), a((3,))),
    "cross axes": lambda xp, a: xp.cross(a((3, 5)), a((5, 3)), axisa=0, axisc=0),
    "cross axis": lambda xp, a: xp.cross(a((3, 5)), a((3, 5)), axis=0),
}  # fmt: skip
SUMMATIONS = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("ij,jk", (3, 4), (4, 5)), ("ij,kj->ki", (3, 4), (5, 4)),
    ("ii", (4, 4)), ("ii->i", (4, 4)), ("iij->j", (3, 3, 2)), ("ij->", (3, 4)), ("ij->ji", (3, 4)),
    ("ji", (3, 4)), ("i,j->ij", (3,), (4,)), ("i,i", (3,), (3,)), ("i,i->i", (3,), (3,)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("...ij,...jk->...ik", (2, 3, 4), (4, 5)),
    ("i...,i...->...", (3, 4, 2), (3, 4, 2)), ("...", (3, 4)), ("ij,jk,kl->il", (3, 4), (4, 5), (5, 6)),
    ("ab,bc,cd,de->ae", (2, 9), (9, 3), (3, 8), (8, 2)), ("ijk,jil->kl", (3, 4, 5), (4, 3, 2)),
    ("ij,ij->i", (3, 4), (3, 4)), ("ij,k->k", (3, 4), (2,)), ("i,i,i->i", (3,), (3,), (3,)),
    ("i,ij,ij,j->", (3,), (3, 4), (3, 4), (4,)), ("ij,ij->ij", (1, 4), (3, 4)), (",ij->ij", (), (2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS.keys())
def test_products(product, dtype):
    results = []
    for xp in (np, un):
        rng = np.random.default_rng(1)
        results.append(
            product(xp, lambda s, rng=rng, xp=xp: xp.asarray((rng.random(s) * 9).astype(dtype)))
        )
    check(results[1], np.asarray(results[0]))


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize("case", SUMMATIONS, ids=[str(c[0]) for c in SUMMATIONS])
def test_einsum(case, dtype):
    arrays = [made(s, dtype) for s in case[1:]]
    expected = np.asarray(np.einsum(case[0], *arrays))
    check(un.einsum(case[0], *[un.asarray(x) for x in arrays]), expected)
    path = un.einsum_path(case[0], *arrays)[0]
    check(un.einsum(case[0], *arrays, optimize=path), expected)


@pytest.mark.parametrize("text", ["ii", "ii->i", "iij->ji", "iij,jj->i", "iij,ij"])
def test_einsum_of_diagonals_of_views(text):
    """What is kept for the next call with such operands says nothing of their strides."""
    r = np.random.default_rng(5)
    large = r.integers(0, 9, (8, 8, 8)).astype(float)
    for view in (
        lambda x: x[:4, :4, :4],
        lambda x: x[::2, 4:, ::-2],
        lambda x: x.T[1:5, ::2, 2:6],
        lambda x: x[:1, :1, :1],
    ):
        terms = text.split("->")[0].split(",")
        x, y = view(large), un.asarray(large)
        given = [x[(...,) + (0,) * (3 - len(t))] for t in terms]
        ours = [view(y)[(...,) + (0,) * (3 - len(t))] for t in terms]
        for _ in range(2):
            check(un.einsum(text, *ours), np.einsum(text, *given))


def test_einsum_takes_lists_out_and_dtype():
    a, b = made((3, 4), "float64"), made((4, 5), "float64")
    check(un.einsum(a, [0, 1], b, [1, 2], [2, 0]), np.einsum(a, [0, 1], b, [1, 2], [2, 0]))
    out = un.zeros((3, 5))
    assert un.einsum("ij,jk", a, b, out=out) is out
    check(out, a @ b)
    check(
        un.einsum("ij->i", a, dtype="float32"),
        np.einsum("ij->i", a, dtype="float32", casting="same_kind"),
    )


@pytest.mark.parametrize(
    "subscripts, shapes, message",
    [
        ("ij,jk", ((2, 3), (4, 5)), "'j' stands for axes of extents 3 and 4"),
        ("ij", ((2, 3), (4, 5)), "name 1 operands; got 2 arrays"),
        ("ijk", ((2, 3),), "operand 0 has 2 axes"),
        ("ij->k", ((2, 3),), "the subscript 'k', which no operand has"),
        ("ij->ii", ((2, 3),), "the subscript 'i' twice"),
        ("i%", ((2, 3),), "'%' is not a valid subscript"),
    ],
)
def test_einsum_refuses(subscripts, shapes, message):
    for xp in (np, un):
        with pytest.raises(ValueError, match=message if xp is un else None):
            xp.einsum(subscripts, *[xp.ones(s) for s in shapes])


@pytest.mark.parametrize(
    "call",
    [
        lambda xp: xp.tensordot(xp.ones((2, 3)), xp.ones((4, 5))),
        lambda xp: xp.inner(xp.ones((2, 3)), xp.ones((2, 4))),
        lambda xp: xp.vecdot(xp.ones(3), xp.ones(4)),
        lambda xp: xp.vecmat(xp.ones(3), xp.ones(3)),
        lambda xp: xp.matvec(xp.ones(3), xp.ones(3)),
        lambda xp: xp.matvec(xp.ones((2, 3)), 1.0),
        lambda xp: xp.cross(xp.ones(4), xp.ones(3)),
        lambda xp: xp.dot(xp.ones((2, 3)), xp.ones((2, 3))),
    ],
)
def test_products_refuse(call):
    for xp in (np, un):
        with pytest.raises(ValueError):
            call(xp)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("shape", [(3, 5), (200, 130), (515, 300), (301, 700)])
def test_a_matrix_times_its_transpose_is_symmetric(shape, dtype):
    x = np.random.default_rng(1).integers(-8, 9, shape).astype(dtype)
    a = un.array(x)
    for ours, numpys in ((a @ a.T, x @ x.T), (a.T @ a, x.T @ x)):
        result = np.asarray(ours)
        assert (result == numpys).all() and (result == result.T).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_with_vectors_at_every_length(dtype):
    """Ends of vectors, of groups of rows and of tiles; strides of both operands."""
    sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 257]
    for m in sizes + [4100]:
        for n in sizes + [4100] if m < 70 else [1, 33, 70]:
            a, x, y = made((m, n), dtype), made((n, 2), dtype)[:, 1], made((2 * m,), dtype)[::-2]
            for one in (a, np.asfortranarray(a), np.repeat(a, 2, axis=0)[::2]):
                u = un.asarray(one)
                check_sums(u @ un.asarray(x), one, x)
                check_sums(un.asarray(y) @ u, y, one)


def test_vector_products_have_the_same_bits_for_any_threads():
    a, x, y = made((1300, 900), "float64"), made(900, "float64"), made(1300, "float64")
    results = []
    for threads in (1, 2, 3):
        un.set_num_threads(threads)
        try:
            u = un.array(a)
            parts = [np.asarray(u @ un.array(x)), np.asarray(un.array(y) @ u), np.asarray(u.T @ u)]
            results.append([p.tobytes() for p in parts])
        finally:
            un.set_num_threads(len(os.sched_getaffinity(0)))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("shape", [(301, 200), (300, 17), (513, 640)])
def test_symmetric_products(shape):
    a = made(shape, "float64")
    for x in (a, a.T, np.repeat(a, 2, axis=0)[::2]):
        u = un.asarray(x)
        got = np.asarray(u @ u.T)
        check(got, x @ x.T)
        if x.shape[0] ** 2 * x.shape[1] > 4_000_000:  # one half is computed
            assert np.array_equal(got, got.T)


@pytest.mark.slow
def test_products_that_take_long_are_cut():
    """So that a user who interrupts them need not wait; whole numbers, of which all sums are exact."""
    x = np.random.default_rng(5).integers(-8, 9, (8204, 4104)).astype("float32")
    tall, square, narrow = un.array(x), un.array(x[:4104]), np.float64(x[:4104])
    for got, left, right in (
        (tall @ square, np.float64(x), narrow),
        (square @ square.T, narrow, narrow.T),
    ):
        got = np.asarray(got)
        assert np.array_equal(got.sum(axis=1, dtype="float64"), left @ right.sum(axis=1))
        assert np.array_equal(got.sum(axis=0, dtype="float64"), left.sum(axis=0) @ right)
        assert got[-1, -1] == left[-1] @ right[:, -1]


def test_stacks_of_products_with_one_matrix():
    a, b = made((5, 6, 1, 40), "float64"), made((40, 30), "float64")
    for x in (
        a,
        a[:, ::2],
        a[::-1],
        a[::-1, ::-1],
        a[:1, ::-1],
        a[..., ::2].repeat(2, -1),
        a.transpose(1, 0, 2, 3),
    ):
        check(un.asarray(x) @ un.asarray(b), x @ b)
    check(un.asarray(a[:, :, 0]) @ un.asarray(b), a[:, :, 0] @ b)
    check(
        un.broadcast_to(un.asarray(a[0, 0]), (4, 1, 40)) @ b,
        np.broadcast_to(a[0, 0], (4, 1, 40)) @ b,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 40, 63, 64])
def test_short_rows_are_summed_in_lanes(dtype, columns):
    """In the order of docs/numbers.md, whatever lies behind a row."""
    lanes = 8 if dtype == "float64" else 16
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((130, columns + 5)).astype(dtype)
    wide[:, columns:] = np.nan
    x = rng.standard_normal(columns).astype(dtype)
    expected = []
    for row in wide:
        sums = np.zeros(lanes, dtype)
        for j in range(columns):
            sums[j % lanes] += row[j] * x[j]
        half = lanes // 2
        while half:
            sums[:half] += sums[half : 2 * half]
            half //= 2
        expected.append(sums[0])
    for rows in (un.array(wide)[:, :columns], un.array(wide[:, :columns].copy())):
        assert np.array_equal(rows @ un.array(x), expected)


@pytest.mark.parametrize("dtype", "float32 float64 int64 int8 complex64 complex128".split())
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("n, m", [(1300, 900), (600, 2000), (700, 40), (1000, 1000)])
def test_long_correlations(dtype, mode, n, m):
    rng = np.random.default_rng(2)
    a, v = ((10 * rng.standard_normal(k)).astype(dtype) for k in (n, m))
    single = dtype in ("float32", "complex64")
    for name in ("correlate", "convolve"):
        expected = getattr(np, name)(a, v, mode)
        made = getattr(un, name)(un.array(a), un.array(v), mode)
        assert made.dtype == expected.dtype and made.shape == expected.shape
        assert np.allclose(made, expected, rtol=1e-4, atol=1e-1 if single else 1e-9)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_long_correlations_of_few_bits(mode):
    rng = np.random.default_rng(3)
    a, v = rng.random(300) < 0.02, rng.random(70) < 0.05
    np.testing.assert_array_equal(un.convolve(un.array(a), un.array(v), mode), np.convolve(a, v, mode), strict=True)  # fmt: skip
    a, v = rng.random(300).astype("float16"), rng.random(70).astype("float16")
    made, want = un.convolve(un.array(a), un.array(v), mode), np.convolve(a, v, mode)
    assert made.dtype == "float16" and np.allclose(made, want, rtol=4e-3)


@pytest.mark.parametrize("dtype", ["int32", "complex128", "float16"])
def test_long_correlations_store_no_windows(dtype):
    a, v = un.ones(100_000, dtype), un.ones(300, dtype)
    un.synchronize()
    before = un.stats()["bytes_allocated"]
    assert un.convolve(a, v)[500] == 300
    assert (
        un.stats()["bytes_allocated"] - before < 10_000_000
    )  # the windows are 30 million elements


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_scaled_matrix_is_not_stored_for_its_product(dtype):
    """One call reads the matrix itself, with the bits of the product with the scaled matrix."""
    rng = np.random.default_rng(3)
    a, x = rng.random((37, 700)).astype(dtype), rng.random(1400).astype(dtype)
    factor = np.dtype(dtype).type(0.3)
    for matrix in (lambda m: m, lambda m: m[::3, 1:], lambda m: m[:, ::-1], lambda m: m[:, :600]):
        for vector in (lambda v, n: v[:n], lambda v, n: v[: 2 * n : 2]):
            A, X = un.array(a), un.array(x)
            m = matrix(A)
            v = vector(X, m.shape[1])
            stored = un.eval(factor * m) or factor * m
            want = np.asarray(stored @ v)
            for scale in (lambda m: factor * m, lambda m: m * 0.3, lambda m: 0.3 * m):
                got = scale(m) @ v
                assert got.dtype == dtype
                np.testing.assert_array_equal(np.asarray(got), want, strict=True)
            kept = 0.3 * m
            made = kept @ v
            m *= 2  # after the product was recorded
            np.testing.assert_array_equal(np.asarray(made), want)
            np.testing.assert_array_equal(np.asarray(kept), np.asarray(stored))
            kept = 0.3 * m
            m /= 2  # in between
            np.testing.assert_allclose(np.asarray(kept @ v), 2 * want, rtol=1e-5)


def test_a_matrix_scaled_in_place_is_scaled_once():
    a, x = np.random.default_rng(4).random((37, 700)), np.ones(700)
    want = (a * 0.25) @ x
    for scale in (
        "m *= 0.25",
        "un.multiply(m, 0.25, out=m)",
        "m[:] = m * 0.25",
        "k[:] = m * 0.25; m = k",
    ):
        names = {"un": un, "m": un.array(a), "k": un.empty(a.shape)}
        un.eval(names["m"])
        exec(scale, names)
        np.testing.assert_allclose(np.asarray(names["m"] @ un.array(x)), want, rtol=1e-13)
        np.testing.assert_array_equal(np.asarray(names["m"]), a * 0.25)


def test_a_scaled_matrix_takes_no_memory():
    a, x = un.ones((300, 1000)), un.ones(1000)
    un.eval(a, x)
    before = un.stats()["bytes_allocated"]
    y = 0.5 * a @ x
    un.eval(y)
    assert un.stats()["bytes_allocated"] - before < a.nbytes / 2
    assert y.tolist() == [500.0] * 300


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [2, 3, 4])
def test_few_rows_times_a_matrix_that_no_cache_holds(dtype, rows):
    """One pass over the matrix, with the bits that each row has alone, for any threads."""
    k, n = 2117, (8 << 20) * 4 // np.dtype(dtype).itemsize // 2117 + 37
    rng = np.random.default_rng(rows)
    whole = rng.standard_normal((k, n + 3)).astype(dtype)
    x = rng.standard_normal((k, rows)).astype(dtype).T
    w, ours, left = whole[:, 1 : n + 1], un.array(whole)[:, 1 : n + 1], un.array(x.T).T
    tolerance = {"float32": 2e-3, "float64": 1e-11}[dtype]
    try:
        results = []
        for threads in (1, 2, 3):
            un.set_num_threads(threads)
            results.append(np.asarray(left @ ours))
    finally:
        un.set_num_threads(len(os.sched_getaffinity(0)))
    np.testing.assert_allclose(results[0], x @ w, rtol=tolerance, atol=tolerance)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    for row in range(rows):
        np.testing.assert_array_equal(results[0][row], np.asarray(left[row] @ ours))
