"""Functions of NumPy that compiled code leaves to the interpreter, against NumPy: values, dtypes, shapes."""

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())

A = (np.arange(16.0) ** 1.5 % 7).reshape(4, 4) + np.eye(4)
S = A @ A.T
V = np.arange(9.0) ** 1.5 - 3
N = np.array([3, 1, 2, 2, 7])

FUNCTIONS = {
    "fft": lambda a, s, v, n: (np.fft.fft(v), np.fft.rfft(v), np.fft.fft2(a), np.fft.fftfreq(8)),
    "linalg": lambda a, s, v, n: (
        np.linalg.eigh(s)[0],
        np.linalg.svd(a)[1],
        np.linalg.qr(a)[1],
        np.linalg.norm(a, 1),
        np.linalg.matrix_rank(a),
        np.linalg.lstsq(a, v[:4])[0],
    ),
    "axes": lambda a, s, v, n: (
        np.median(a, axis=0),
        np.percentile(a, 30, axis=1),
        np.trapezoid(a, axis=0),
        np.nanmean(a, axis=0),
        np.diff(a),
        np.diff(a, axis=0),
        np.cross(a[:, :3], s[:, :3]),
    ),
    "rounding": lambda a, s, v, n: (np.round(a, 1), np.round(n), np.around(v), np.round(n, -1)),
    "shapes": lambda a, s, v, n: (
        np.rot90(a),
        np.meshgrid(v, n),
        np.atleast_2d(v),
        np.roll(a, (1, 2), axis=(0, 1)),
        np.pad(v, 2),
        np.insert(v, 2, 5.0),
        np.array((v, v, v)),
        np.array([n, n], dtype=np.float32),
    ),
    "sets": lambda a, s, v, n: (np.unique(n, return_counts=True), np.setdiff1d(n, n[:2])),
    "by values": lambda a, s, v, n: (
        np.mean(a, dtype=np.int64),
        np.corrcoef(a),
        np.unravel_index(5, (3, 4)),
    ),
    "ufuncs": lambda a, s, v, n: (np.add.accumulate(v), np.maximum.accumulate(n)),
    "others": lambda a, s, v, n: (
        np.vander(v, 3),
        np.average(v, weights=v),
        np.select((v > 2, v > 0), (v, -v)),
        np.where([[1, 0], [0, 1]], a[:2, :2], 0.0),
        np.convolve(v, v[:3], mode="valid"),
        np.argsort(v[::-1] * 1j),
        np.einsum("ij,jk->ik", a, a),
    ),
    "methods": lambda a, s, v, n: (v.item(2), np.sort(v, kind="stable"), a.take(n[1:4], axis=1)),
    "orders": lambda a, s, v, n: (
        np.zeros((2, 3), order="F"),
        np.full((2, 2), 1.5, order="C"),
        np.ones_like(a, order="K"),
        np.array(a.T, order="F", copy=True),
        a.T.copy(order="C"),
        a.flatten(order="F"),
        np.sort(n, kind="mergesort"),
    ),
    "lists": lambda a, s, v, n: (np.array_split(v, 4), np.split(v, 3)),
}


def arrays(value):
    if isinstance(value, (tuple, list)):
        return [a for item in value for a in arrays(item)]
    return [np.asarray(value)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(on, name):
    function = FUNCTIONS[name]
    want = arrays(function(A, S, V, N))
    got = arrays(un.jit(function, device=on)(A, S, V, N))
    assert len(got) == len(want)
    for x, y in zip(got, want, strict=True):
        assert x.dtype == y.dtype and x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def stores(a, v):
    np.copyto(a, 3.0)
    np.put(a, 1, v[0])
    np.fill_diagonal(a[1:], 7.0)
    return a.sum()


def test_stores(on):
    a, b = np.ones((3, 3)), np.ones((3, 3))
    assert un.jit(stores, device=on)(a, V) == stores(b, V)
    assert np.array_equal(a, b)


def in_a_loop(a, n):
    s = 0.0
    for i in range(n):
        w = np.histogram_bin_edges(a * (i + 1.0))
        s += w[0]
    return s


@pytest.mark.filterwarnings("ignore:.*interpreter")
def test_in_a_loop(on):
    assert np.isclose(un.jit(in_a_loop, device=on)(S, 3), in_a_loop(S, 3), rtol=1e-9)


def rolled(a):
    b = np.rollaxis(a, 1)
    b[0, 0] = 5.0
    return b


def in_prange(a, out):
    for i in un.prange(len(out)):
        out[i] = np.histogram_bin_edges(a)[0]


def values_decide(a):
    return np.real_if_close(a)


def test_refusals(on):
    with pytest.raises(ValueError, match="'b' is written, but it is a read-only copy"):
        un.jit(rolled, device=on)(A)  # NumPy's is a view, this would be a copy
    with pytest.raises(un.CompileError, match="histogram_bin_edges is not supported"):
        un.jit(in_prange, device=on)(S, np.zeros(4))
    with pytest.raises(TypeError, match="np.real_if_close gave .* here where the compiled"):
        un.jit(values_decide, device=on)(V * 1j)


def test_it_is_said(on):
    f = un.jit(in_a_loop, device=on)
    with pytest.warns(
        RuntimeWarning, match="runs np.histogram_bin_edges in a loop(.|\n)*what to do"
    ):
        f(S, 3)
    assert "interpreter: np.histogram_bin_edges" in f.parallel_report()
    if on == "cpu":
        assert "the interpreter runs this" in f.explain()


def outside_of_loops(a):
    return np.histogram_bin_edges(a)


def test_it_is_said_wherever_it_stands(on):
    f = un.jit(outside_of_loops, device=on)
    with pytest.warns(RuntimeWarning) as told:
        f(S)
        f(S)
        f(S.astype("float32"))
    texts = [str(w.message) for w in told]
    assert len(texts) == 2  # one for each version
    line = outside_of_loops.__code__.co_firstlineno + 1
    for text in texts:
        assert "outside_of_loops: the interpreter runs np.histogram_bin_edges" in text
        assert "microseconds a call" in text and f"{__file__}:{line}: " in text


def of_one_that_asks(a):
    return asks(a) + 1


def asks(a):
    return np.histogram_bin_edges(a)[0]


@pytest.mark.parametrize("function", [outside_of_loops, in_a_loop, of_one_that_asks])
def test_it_is_refused_on_demand(on, function, monkeypatch):
    args = (S, 2) if function is in_a_loop else (S,)
    refusal = r"only the interpreter can run np.histogram_bin_edges(.|\n)*leave out nopython=True"
    with pytest.raises(un.CompileError, match=refusal):
        un.jit(function, nopython=True, device=on)(*args)
    before = un._engine._setting("nopython")
    un._engine._set_setting("nopython", "1")
    try:
        with pytest.raises(un.CompileError, match=refusal):
            un.jit(function, device=on)(*args)
    finally:
        un._engine._set_setting("nopython", before)


def test_what_compiles_is_not_refused(on):
    @un.jit(nopython=True, device=on)
    def f(a):
        return np.sort(a)[0] + a.sum()

    assert f(np.array([2.0, 1.0])) == 4.0


def saving(a, path):
    np.save(path, a)


def test_only_what_changes_nothing_else(on, tmp_path):
    """Types are found by calls while compiling: functions that write files are refused."""
    with pytest.raises(un.CompileError, match="save"):
        un.jit(saving, device=on)(V, str(tmp_path / "a.npy"))
    assert not list(tmp_path.iterdir())


@un.jit
def smallest(a):
    return np.histogram_bin_edges(a)[0]


def of_calls(a, xs):
    b = a * 2 + 1
    s = smallest(b) + smallest(a) + smallest(b[1:, 1:])
    for x in [a * 1.0, b.T]:
        s += smallest(x)

    def inner(y):
        np.copyto(y, a)
        return np.median(y, axis=0)

    c = np.zeros((4, 4))
    return s, inner(c), c, np.union1d(xs, [1, 2, 2]), np.median(a[:, ::-1], axis=0)


@pytest.mark.filterwarnings("ignore:.*interpreter")
def test_arrays_are_lent(on):
    """To whom they belong need not be known where the call stands."""
    f = un.jit(of_calls, device=on)
    for xs in ([3, 4, 4], N):
        for x, y in zip(f(S, xs), of_calls(S, xs), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)
