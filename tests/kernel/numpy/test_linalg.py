"""numpy.linalg in compiled functions: NumPy's shapes, dtypes, values and errors, without the interpreter."""

import linecache

import numpy as np
import pytest
import unisono as un
from functions_of_text import function_of

rng = np.random.default_rng(3)
SHAPES = ((3, 3), (5, 3), (3, 5), (1, 1), (1, 4), (40, 40), (0, 3), (3, 0), (0, 0))
OF_ANY = (
    "qr(a) svd(a) svd(a,full_matrices=False) svd(a,compute_uv=False) svdvals(a) pinv(a) matrix_rank(a) "
    "norm(a,'fro')".split()
)
OF_SOME = "matrix_rank(a,0.1) cond(a) norm(a,1) norm(a,-1) norm(a,2) norm(a,-2) norm(a,np.inf) norm(a,ord=-np.inf) norm(a,'nuc')".split()
OF_SYMMETRIC = "eigh(a) eigh(a,'U') eigvalsh(a) eig(a) eigvals(a) slogdet(a) det(a)".split()
OF_SQUARE = ("slogdet(a)", "det(a)", "cond(a,1)")
SYSTEMS = ("lstsq(a,b)", "lstsq(a,b,rcond=None)", "lstsq(a,b,1e-10)")


def compiled(call, parameters="a"):
    text = f"def f({parameters}):\n    return np.linalg.{call}\n"
    function = function_of(text, "f", f"<np.linalg.{call}>", np=np)
    return function, un.jit(nopython=True)(function)


def assert_same(want, got, tolerance):
    """Vectors may have other signs or phases."""
    if isinstance(want, tuple):
        assert len(want) == len(got)
        if hasattr(want, "_fields"):
            assert got._fields == want._fields
    else:
        want, got = (want,), (got,)
    for w, g in zip(want, got, strict=True):
        w, is_number = np.asarray(w), np.isscalar(g)
        g = np.asarray(g)
        if w.dtype.kind == "c" and g.dtype.kind == "f":  # eigenvalues, in some versions of NumPy
            assert not w.imag.any()
            w = w.real
        assert g.shape == w.shape
        assert is_number or g.dtype == w.dtype
        np.testing.assert_allclose(abs(g), abs(w), rtol=tolerance, atol=tolerance)


def matrices(dtype, rng):
    for shape in SHAPES:
        a = rng.random(shape) * 5 + 6 * np.eye(*shape)  # far from singular
        yield (a + 1j * rng.random(shape) if np.dtype(dtype).kind == "c" else a).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_results_are_those_of_numpy(dtype):
    tolerance = 1e-4 if dtype == "float32" else 1e-9
    calls = {call: compiled(call) for call in (*OF_ANY, *OF_SOME, *OF_SYMMETRIC, *OF_SQUARE)} | {
        call: compiled(call, "a, b") for call in SYSTEMS
    }
    for a in matrices(dtype, np.random.default_rng(3)):
        m, n = a.shape
        some = (call for call in OF_ANY if a.size or not (call == "pinv(a)" and dtype == "int64"))
        work = [(call, (a,)) for call in (*some, *(OF_SOME if a.size else ()))]
        if m == n:
            # In what order eigenvalues of large matrices come is that of LAPACK's version.
            known = [c for c in OF_SYMMETRIC if n < 40 or c not in ("eig(a)", "eigvals(a)")]
            work += [(call, (a + a.conj().T,)) for call in known]
            work += [(call, (a,)) for call in (OF_SQUARE if a.size else OF_SQUARE[:2])]
        if a.size:
            sides = (rng.random(m).astype(dtype), rng.random((m, 2)).astype(dtype))
            work += [(call, (a, b)) for call in SYSTEMS for b in sides]
        for call, values in work:
            function, fast = calls[call]
            assert_same(function(*values), fast(*values), tolerance)


@pytest.mark.parametrize("call", ["qr(a)", "svd(a)", "eigvalsh(a)", "slogdet(a)", "pinv(a)"])
def test_matrices_that_are_not_packed(call):
    function, fast = compiled(call)
    a = rng.random((8, 8))
    for view in (a[::2, 1::2], np.asfortranarray(a), a.T, a[::-1]):
        kept = view.copy()
        assert_same(function(view), fast(view), 1e-9)
        np.testing.assert_array_equal(view, kept)


@pytest.mark.parametrize("order", ["1", "2", "3", "0.5", "0", "np.inf", "-np.inf", "ord=None"])
def test_norms_of_vectors(order):
    function, fast = compiled(f"norm(a,{order})")
    for dtype in ("float32", "float64", "complex128", "int64"):
        a = (rng.random(7) * 9 - 3).astype(dtype)
        assert_same(function(a), fast(a), 1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize(
    "call, a",
    [
        ("eigh(a)", np.ones((2, 3))),
        ("eigvals(a)", np.array([[np.nan, 1.0], [1.0, 1.0]])),
        ("svd(a)", np.array([[np.nan, 1.0], [1.0, 1.0]])),
        ("cond(a)", np.ones((0, 2))),
        ("norm(a,3)", np.ones((2, 2))),
        ("lstsq(a,np.ones(3))", np.ones((2, 2))),
        ("eigh(a,'x')", np.eye(2)),
    ],
)
def test_errors_are_those_of_numpy(call, a):
    function, fast = compiled(call)
    with pytest.raises(Exception) as theirs:
        function(a)
    with pytest.raises(theirs.type):
        fast(a)


def test_complex_eigenvalues_of_real_matrices_are_an_error():
    _, fast = compiled("eigvals(a)")
    turned = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(ValueError, match=r"domain change.*astype\(complex\)"):
        fast(turned)
    np.testing.assert_allclose(sorted(fast(turned + 0j).imag), [-1, 1], rtol=1e-14)


def test_singular_matrices():
    function, fast = compiled("cond(a)")
    for a in (np.zeros((2, 2)), np.zeros((2, 2), np.float32)):
        assert fast(a) == function(a) == np.inf


def test_they_run_in_parallel_loops():
    """Where the interpreter could not."""

    @un.jit(parallel=True)
    def largest(stack):
        out = np.empty(len(stack))
        for i in un.prange(len(stack)):
            out[i] = np.linalg.eigvalsh(stack[i])[-1] + np.linalg.svd(stack[i])[1][0]
        return out

    stack = rng.random((50, 6, 6))
    stack = stack + stack.transpose(0, 2, 1)
    want = [np.linalg.eigvalsh(a)[-1] + np.linalg.svd(a)[1][0] for a in stack]
    np.testing.assert_allclose(largest(stack), want, rtol=1e-12)


def test_names_of_unisono():
    @un.jit(nopython=True)
    def f(a):
        q, r = un.linalg.qr(a)
        return q @ r

    a = rng.random((4, 3))
    np.testing.assert_allclose(f(a), a, rtol=1e-12)


def test_texts_of_the_package_outlive_the_line_cache():
    linecache.clearcache()

    @un.jit(nopython=True)
    def drawn():
        np.random.seed(1)
        return np.random.wald(1.0, 2.0, 3)

    np.random.seed(1)
    np.testing.assert_array_equal(drawn(), np.random.wald(1.0, 2.0, 3))
