"""What docs/libraries.md says of NumPy, pandas, matplotlib and SciPy."""

import gc
import math
import operator

import numpy as np
import pytest
import unisono as un


def copied(function):
    before = un.stats()["bytes_copied"]
    made = function()
    return made, un.stats()["bytes_copied"] - before


@pytest.mark.parametrize("see", [lambda x: x, lambda x: x.T, lambda x: x[::-1, ::2]])
def test_numpy_sees_the_same_memory(see):
    x = un.arange(12.0).reshape(3, 4) * 1
    whole, none = copied(lambda: np.asarray(x))
    a, also_none = copied(lambda: np.asarray(see(x)))
    assert none == also_none == 0 and np.shares_memory(a, whole)
    a[0] = -5
    assert np.array_equal(np.asarray(see(x)), a) and float(x.min()) == -5
    x[...] = 3
    assert (a == 3).all()


def test_copies():
    x = un.arange(4.0) * 1
    assert not np.shares_memory(np.array(x), np.asarray(x))
    assert np.asarray(x, dtype="int8").tolist() == [0, 1, 2, 3]
    value = np.asarray(x.astype("float32")[2])
    assert value.shape == () and not value.flags.writeable
    assert np.asarray(x[2]).shape == () and np.asarray(x.sum()).dtype == "float64"


def test_a_device_whose_memory_the_host_cannot_see(device):
    x = un.ones(3, dtype="float32", device=device)
    assert np.asarray(x).tolist() == [1, 1, 1]
    if device == "cpu":
        assert np.asarray(x, copy=False).tolist() == [1, 1, 1]


def test_ours_over_numpys_memory():
    a = np.zeros((3, 4))
    for view in (a, a.T, a[::-1, ::2]):
        x, none = copied(lambda view=view: un.asarray(view, copy=False))
        x += 1
        assert none == 0 and (view == np.asarray(x)).all()
    assert a.max() == 3
    x = un.array(a)
    x[...] = 9
    assert a.max() == 3
    odd = np.frombuffer(bytes(17), "uint8")[1:].view("float64")
    made, some = copied(lambda: un.asarray(odd))
    assert some == 16 and made.shape == (2,)
    assert un.asarray(np.array(["text"])).dtype == "U4"  # NumPy's own


def test_memoryview_and_dlpack_share():
    x = un.arange(4.0) * 1
    np.from_dlpack(x)
    memoryview(x)[1] = 8.0
    y = un.from_dlpack(np.asarray(x))
    y[0] = 5
    assert x.tolist() == [5, 8, 2, 3]


def test_shared_memory_is_never_behind_and_lazy_again_afterwards():
    x = un.ones(1000)
    view = np.asarray(x)
    un.eval()
    y = x + 1
    assert un.stats()["pending_operations"] == 0 and float(y[0]) == 2
    del view
    gc.collect()
    y = x + 1
    assert un.stats()["pending_operations"] == 1
    un.eval(y)


def test_memory_outlives_the_array():
    x = un.ones(1000) * 3
    view = np.asarray(x)
    del x
    gc.collect()
    junk = [un.ones(1000) * k for k in range(20)]
    un.eval(*junk)
    assert (view == 3).all()


@pytest.mark.slow
def test_pandas():
    pd = pytest.importorskip("pandas")
    x = un.arange(6.0).reshape(2, 3) * 1
    frame = pd.DataFrame(x)
    assert frame.to_numpy().tolist() == x.tolist()
    assert not np.shares_memory(frame.to_numpy(), np.asarray(x))
    v = un.arange(3) * 2
    frame = pd.DataFrame({"a": v, "b": v * 2.5})
    assert frame["b"].sum() == 15 and pd.Series(v).tolist() == [0, 2, 4]
    for column in (frame["b"], frame["b"].to_numpy()):
        assert np.shares_memory(np.asarray(un.asarray(column, copy=False)), np.asarray(column))
    assert un.asarray(frame[["b"]]).shape == (3, 1)
    assert type(un.asarray(pd.Series(["x", "y"]))) is np.ndarray


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plot", "scatter", "imshow", "hist", "contour"])
def test_matplotlib(name, device):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    v = un.arange(4, dtype="float32", device=device) * 1
    grid = v.reshape(4, 1) * v
    figure, axes = pyplot.subplots()
    arguments = {"imshow": (grid,), "contour": (grid,), "hist": (v,)}.get(name, (v, v * v))
    drawn = getattr(axes, name)(*arguments)
    figure.canvas.draw()
    if name == "plot":
        assert drawn[0].get_ydata().tolist() == [0, 1, 4, 9]
    pyplot.close(figure)


@pytest.mark.slow
def test_scipys_compiled_code():
    pytest.importorskip("scipy")
    from scipy import integrate, interpolate, linalg, ndimage, optimize, signal, sparse, stats

    x, v = un.eye(3) * 2, un.arange(3.0) * 1
    results = [
        linalg.solve(x, v), linalg.lu_factor(x)[0], ndimage.gaussian_filter(x, 1), signal.medfilt(v, 3),
        interpolate.CubicSpline(v, v)(v), sparse.csr_matrix(x) @ v,
    ]  # fmt: skip
    assert all(type(r) is np.ndarray for r in results)
    assert results[0].tolist() == [0, 0.5, 1]
    back, none = copied(lambda: un.asarray(results[0], copy=False))
    assert none == 0 and isinstance(back, un.ndarray)
    assert stats.ttest_1samp(v, 1).pvalue == 1
    found = optimize.minimize(lambda p: float(((un.asarray(p) - 1) ** 2).sum()), np.zeros(2)).x
    assert np.allclose(found, 1, atol=1e-6)
    assert np.isclose(integrate.quad(lambda s: float(un.sin(s)), 0, 1)[0], 1 - np.cos(1))


def test_universal_functions_that_we_lack():
    special = pytest.importorskip("scipy.special")
    made = special.erf(un.zeros(3))
    assert type(made) is un.ndarray and made.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_universal_functions_of_others_take_numbers(dtype):
    special = pytest.importorskip("scipy.special")
    x = np.array([0.5, 1.5], dtype)
    made, expected = special.erf(un.asarray(x)[1]), special.erf(x[1])
    assert made == expected and made.dtype == expected.dtype
    assert special.stdtr(3, un.asarray(x).sum()) == special.stdtr(3, x.sum())
    assert np.array_equal(special.stdtr(un.asarray(x)[0], un.asarray(x)), special.stdtr(x[0], x))


def test_numpys_functions_give_ours():
    x = un.arange(4.0) * 1
    for made in (np.sum(x), np.linalg.norm(x), np.add(x, 1)):
        assert isinstance(made, (un._engine._Array, *un._engine._values))


writes = {
    "copyto": lambda a, v: np.copyto(a, v),
    "copyto, where": lambda a, v: np.copyto(a, 1, where=v > 1),
    "putmask": lambda a, v: np.putmask(a, v > 1, v),
    "place": lambda a, v: np.place(a, v > 1, v),
    "put": lambda a, v: np.put(a, (v > 1).astype(int), v),
    "sum": lambda a, v: np.sum(
        [v, v] if type(v) is np.ndarray else un.stack([v, v]), axis=0, out=a
    ),
    "cumsum": lambda a, v: np.cumsum(v, out=a),
    "take": lambda a, v: np.take(v, [2, 1, 0], out=a),
    "concatenate": lambda a, v: np.concatenate([v[:1], v[:2]], out=a),
    "add": lambda a, v: np.add(v, 1, out=a),
    "matmul": lambda a, v: np.matmul(v[:, None], v[:1], out=a),
}


@pytest.mark.parametrize("write", writes.values(), ids=writes)
def test_numpys_functions_write_into_numpys_arrays(write):
    h = np.array([1.0, 2.0, 3.0])
    mine, expected = np.zeros(3), np.zeros(3)
    write(expected, h)
    made = write(mine, un.asarray(h))
    assert mine.tolist() == expected.tolist() and mine.any()
    assert made is None or made is mine


def test_libraries_of_the_standard_compute_with_ours():
    x = un.ones(3)
    assert x.__array_namespace__() is un.array_api
    compat = pytest.importorskip("array_api_compat")
    assert compat.array_namespace(x, un.zeros(2)) is un.array_api


def test_jax_takes_arrays_by_dlpack():
    jax = pytest.importorskip("jax")
    x = un.arange(4, dtype="float32") * 2
    assert jax.dlpack.from_dlpack(x).tolist() == [0, 2, 4, 6]
    assert un.from_dlpack(jax.numpy.arange(3.0)).tolist() == [0, 1, 2]


SPARSE = [
    f"{kind}_{form}" for kind in ("csr", "csc", "coo", "dia", "lil", "dok", "bsr") for form in ("array", "matrix")
]  # fmt: skip


@pytest.mark.parametrize("kind", SPARSE)
def test_operators_beside_sparse_matrices(kind):
    sparse = pytest.importorskip("scipy.sparse")
    s = getattr(sparse, kind)(np.eye(3) * 2)

    def given(op, a, b):
        try:
            made = op(a, b)
        except Exception as error:
            return type(error)
        return np.asarray(made.todense() if sparse.issparse(made) else made).tolist()

    for name in "add sub mul truediv matmul eq ne lt le gt ge".split():
        op = getattr(operator, name)
        for shape in ((3, 3), (3,), (2, 2)):
            dense = np.arange(1.0, 1 + math.prod(shape)).reshape(shape)
            ours = un.asarray(dense.copy())
            assert given(op, s, ours) == given(op, s, dense), (name, shape)
            assert given(op, ours, s) == given(op, dense, s), (name, shape)
    ours = un.ones((3, 3))
    assert isinstance(s + ours, un.ndarray) or "matrix" in kind
    ours -= s
    assert np.asarray(ours).tolist() == (np.ones((3, 3)) - np.eye(3) * 2).tolist()


def test_operators_of_classes_that_know_numpys_arrays():
    class Declines:  # all that is no array of NumPy's
        __array_priority__ = 10.0

        def __add__(self, other):
            return "added" if isinstance(other, np.ndarray) else NotImplemented

        def __radd__(self, other):
            return "added behind" if isinstance(other, np.ndarray) else NotImplemented

        def __lt__(self, other):
            return "less" if isinstance(other, np.ndarray) else NotImplemented

        __gt__ = __mul__ = __lt__

    class Takes(Declines):
        def __radd__(self, other):
            return type(other)

    ours = un.arange(3)
    assert Declines() + ours == "added" and ours + Declines() == "added behind"
    assert (Declines() < ours) == "less" and (ours < Declines()) == "less"
    assert ours + Takes() is un.ndarray
    with pytest.raises(TypeError):
        ours - Declines()
    with pytest.raises(TypeError):
        un.arange(3, device="null") + Declines()


def test_generators_are_numpys_to_scipy():
    stats = pytest.importorskip("scipy.stats")
    for ours, numpys in (
        (un.random.default_rng(3), np.random.default_rng(3)),
        (un.random.RandomState(3), np.random.RandomState(3)),
    ):
        for _ in range(2):
            drawn = stats.norm.rvs(size=4, random_state=ours)
            assert (
                np.asarray(drawn).tolist() == stats.norm.rvs(size=4, random_state=numpys).tolist()
            )
            assert stats.binom.rvs(9, 0.3, random_state=ours) == stats.binom.rvs(
                9, 0.3, random_state=numpys
            )
    sobol = [stats.qmc.Sobol(2, seed=P.random.default_rng(1)).random(4).tolist() for P in (un, np)]
    assert sobol[0] == sobol[1]


def gradient(x):
    slope = un.zeros(2)
    slope[0], slope[1] = 2 * x[0], 2 * x[1] + 1
    return x[0] ** 2 + x[1] ** 2 + x[1], slope


@pytest.mark.parametrize(
    "method", ["L-BFGS-B", "SLSQP", "BFGS", "TNC", "Newton-CG", "trust-constr"]
)
def test_minimizers_take_gradients_of_ours(method):
    optimize = pytest.importorskip("scipy.optimize")
    found = optimize.minimize(gradient, un.ones(2), jac=True, method=method)
    assert np.allclose(found.x, [0, -0.5], atol=1e-4)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_least_squares_takes_jacobians_of_ours(method):
    optimize = pytest.importorskip("scipy.optimize")
    bounds = {} if method == "lm" else {"bounds": ([-un.inf, 1.5], un.inf)}
    found = optimize.least_squares(
        lambda x: un.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]),
        un.array([2, 2]),
        lambda x: un.array([[-20 * x[0], 10], [-1, 0]]),
        method=method,
        **bounds,
    )
    assert np.allclose(found.x, [1, 1] if method == "lm" else [1.22437075, 1.5])


def test_what_converts_for_compiled_code_gives_numpys():
    for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
        made = function(un.arange(3))
        assert type(made) is np.ndarray and made.ndim >= 1
        assert isinstance(function(un.asarray(2.0)), np.ndarray)
    assert isinstance(un.atleast_2d(un.arange(3)), un.ndarray)


@pytest.mark.parametrize(
    "name", ["eigsh", "svds", "cg", "gmres", "lsqr", "lobpcg", "aslinearoperator"]
)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_linear_operators_are_made_of_matrices(name, dtype):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    rng = np.random.default_rng(1)
    m = rng.random((20, 20)) + (1j * rng.random((20, 20)) if dtype[0] == "c" else 0)
    m = m @ m.conj().T + 20 * np.eye(20)
    a, b = un.asarray(m), un.arange(20.0)

    def run(a, b):
        if name == "eigsh":
            return linalg.eigsh(a, k=2, v0=np.ones(20))[0]
        if name == "svds":
            return linalg.svds(a, k=2, v0=np.ones(20))[1]
        if name == "lobpcg":
            return linalg.lobpcg(a, np.eye(20, 2), maxiter=200, tol=1e-9)[0]
        if name == "aslinearoperator":
            made = linalg.aslinearoperator(a)
            assert made.shape == (20, 20) and made.dtype == dtype
            return np.concatenate([made @ b, made.H @ b, (made @ np.ones((20, 2)))[:, 0]])
        return getattr(linalg, name)(a, b)[0]

    assert np.allclose(run(a, b), run(m, np.arange(20.0)), rtol=1e-4)
    for other in (un.arange(3), un.ones((2, 2, 2)), un.asarray(1.0)):
        assert not hasattr(other, "matvec") and not hasattr(other, "rmatvec")


def test_numpy_draws_on_from_our_generators():
    ours, theirs = un.random.default_rng(3), np.random.default_rng(3)
    for _ in range(2):
        a, b = np.random.default_rng(ours), np.random.default_rng(theirs)
        assert a.random(5).tolist() == b.random(5).tolist()
        assert ours.random() == theirs.random()
        assert a.normal() == b.normal()
    stats = pytest.importorskip("scipy.stats")
    x, h = ours.normal(size=20), theirs.normal(size=20)
    assert x.tolist() == h.tolist()
    drawn = [
        stats.bootstrap((d,), s, rng=r).standard_error
        for d, s, r in ((x, un.std, ours), (h, np.std, theirs))
    ]
    assert np.isclose(*drawn)
    assert [g.random() for g in ours.spawn(2)] == [g.random() for g in theirs.spawn(2)]
    with pytest.raises(TypeError):
        np.random.default_rng(un.random.Generator(un.random.Philox(1)))


def test_the_shared_seed_is_numpys_too():
    stats = pytest.importorskip("scipy.stats")
    un.random.seed(5)
    drawn = stats.norm.rvs(size=3).tolist()
    un.random.seed(5)
    assert stats.norm.rvs(size=3).tolist() == drawn
    assert un.random.randn(3).tolist() == drawn  # streams of their own
    un.random.RandomState(7)
    np.random.seed(5)
    assert np.random.randn(3).tolist() == drawn
