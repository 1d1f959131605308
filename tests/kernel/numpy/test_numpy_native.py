"""Functions of NumPy that compiled loops call without the interpreter: NumPy's results and errors."""

import warnings

import numpy as np
import pytest
import unisono as un
from functions_of_text import function_of

nan = np.nan
rng = np.random.default_rng(7)
given = {
    "x": rng.standard_normal(9),
    "g": np.array([1.0, nan, 3.0, -2.0, nan, 7.0, 2.5, 0.0, -1.0]),
    "h": np.array([1.0, nan, 3.0, -2.0], np.float32),
    "n": np.full(4, nan),
    "i": np.array([3, 1, 2, 3, 0, 5, 5, 1, 9]),
    "j": np.array([3, 4, 9]),
    "m": rng.random((4, 6)),
    "q": np.array([0.1, 0.5, 0.9]),
    "z": np.array([0, 0, 1.5, 0, 2, 0]),
    "c": rng.random(4) + 1j * np.array([0, 1, 0, 2.0]),
}
calls = """
nanstd(g) nanstd(h) nanvar(g) nanvar(g,ddof=1) nanvar(n) nanprod(g) nanprod(i) nancumsum(g) nancumsum(i)
nancumprod(h) nanargmax(g) nanargmin(g) nanargmin(i) nanargmax(n) nanmedian(g) nanmedian(h) nanmedian(n)
nanmedian(i) nanpercentile(g,30) nanpercentile(g,[10,90]) nanquantile(g,.3) nanquantile(g,q)
nanquantile(g,1.5) nan_to_num(g) nan_to_num(h,nan=2.0) nan_to_num(g,posinf=9.0)
setdiff1d(i,j) setxor1d(i,j) union1d(i,j) intersect1d(i,j) lexsort((i,x)) lexsort((x,i)) trim_zeros(z)
trim_zeros(z,'f') unwrap(x*4) gradient(x) gradient(x,0.5) gradient(q[:1]) cumulative_sum(x) polyadd(x,q)
polysub(q,x) polymul(z,q) hamming(7) hanning(8) hanning(1) blackman(7) bartlett(6) bartlett(0)
tri(3,5,1) tri(4,3,-1) tril_indices(4,-1) triu_indices(3,0,5) tril_indices_from(m) triu_indices_from(m,2)
vander(q) vander(q,4,True) vander(j,3) meshgrid(x,q) meshgrid(i,q,indexing='ij')
take_along_axis(m,np.argsort(m,axis=1),1) take_along_axis(m,np.argsort(m,axis=0),0)
resize(x,4) resize(q,(2,7)) compress(x>0,x) select([x>0.5,x>0],[x,x*2],-1.0) insert(x,1,2.0)
insert(x,99,2.0) sinc(x) sinc(z) extract(m>.5,m) logspace(0,2,5) geomspace(1,1000,4) geomspace(-1,-8.0,4)
unravel_index(7,(3,4)) unravel_index(17,(3,4,5)) unravel_index(70,(3,4)) convolve(x,q,'same')
correlate(x,q) correlate(q,x) correlate(x,q,'full') corrcoef(m) corrcoef(x,x*x) cross(m[:,:3],m[:,3:])
diff(m,axis=0) diff(m,2,1) around(x,2) iscomplex(c) isreal(c) diag_indices_from(m[:,:4])
linalg.matrix_power(m[:,:4],5) linalg.matrix_power(m[:,:4],-2) linalg.matrix_power(m,2)
sort(np.partition(x,3)[:3]) partition(x,20)
fix(x*3) divmod(x,0.4) divmod(i,2) modf(x) modf(-g) modf(h) modf(z[0]-np.inf) frexp(x) frexp(h) frexp(z) heaviside(x,0.5)
heaviside(z,x) logaddexp(x,q[1]) logaddexp(z,z) logaddexp2(x,x*2) spacing(x) spacing(h) spacing(z) ldexp(x,i) ldexp(q,7)
ldexp(q,-1100) iscomplexobj(c) iscomplexobj(x) isrealobj(c) isrealobj(i) diagflat(q) diagflat(j,-1) asarray_chkfinite(x)
asarray_chkfinite(g) i0(x) i0(x*20) kaiser(7,14.0) kaiser(1,2.0) roots(j-3.5) roots(np.array([0.0,1,-3,2,0,0]))
roots(np.array([1,0,1+0j])) roots(n[:0]) isclose(g,g*(1+1e-9),equal_nan=True) allclose(g,g,1e-5,1e-8,True) allclose(g,g)
array_equal(g,g,equal_nan=True) array_equal(g,g) ediff1d(m) ediff1d(i,99) ediff1d(x,q,-1.5) ediff1d(i,to_begin=j) corrcoef(m,rowvar=False)
corrcoef(m,None,True) corrcoef(m,m*m,False) corrcoef(x,x*x,False) intersect1d(j,j[:2],True) sort(np.partition(m,3)[:,:4])
""".split()
# Sums and products of other orders.
rounded = ("nanvar", "nanstd", "corr", "conv", "linalg", "cross", "sinc", "logspace", "geomspace",
           "blackman", "ham", "han", "kaiser", "i0", "roots", "logaddexp")  # fmt: skip


def outcome(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message=".*the interpreter runs")
        try:
            made = call(*(v.copy() for v in given.values()))
        except Exception as error:
            return type(error), str(error)
    return [np.asarray(x) for x in (made if isinstance(made, tuple | list) else (made,))]


@pytest.mark.parametrize("call", calls)
def test_results_are_those_of_numpy(call):
    text = f"def f({', '.join(given)}):\n    while True:\n        return np.{call}\n"
    function = function_of(text, "f", f"<np.{call}>", np=np)
    want, got = outcome(function), outcome(un.jit(function))
    if isinstance(want, tuple):
        assert got[0] is want[0]
        return
    assert len(got) == len(want)
    for w, g in zip(want, got, strict=True):
        assert g.shape == w.shape
        assert g.dtype == w.dtype or (w.dtype == np.float32 and w.shape == ())  # a Python float
        if call.startswith(rounded):
            np.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-15)
        else:
            np.testing.assert_array_equal(g, w.astype(g.dtype))


def test_they_run_in_parallel_loops():
    """Where the interpreter could not."""

    @un.jit(parallel=True)
    def spread(a, w):
        out = np.empty((len(a) - w + 1, 3))
        for i in un.prange(len(out)):
            part = a[i : i + w]
            out[i, 0] = np.nanstd(part)
            out[i, 1] = np.nanmedian(part)
            out[i, 2] = len(np.union1d(part, a[:2]))
        return out

    a = np.random.default_rng(1).random(300)
    a[::7] = nan
    want = [(np.nanstd(p), np.nanmedian(p), len(np.union1d(p, a[:2])))
            for p in np.lib.stride_tricks.sliding_window_view(a, 20)]  # fmt: skip
    np.testing.assert_allclose(spread(a, 20), want, rtol=1e-13)


def test_shapes_and_arrays_that_broadcast():
    def shapes(n):
        return (
            np.broadcast_shapes((3, 1), (1, n)),
            np.broadcast_shapes((2,), (5, 2), (1,)),
            np.broadcast_shapes(n, (5, 1)),
            np.broadcast_shapes(),
            np.broadcast_shapes((10**8, 1), (10**8,)),
        )

    def arrays(a, b):
        x, y = np.broadcast_arrays(a, b)
        z, w = np.broadcast_arrays(2.5, a)
        return x + y, x.shape, y[0, 1], z, w

    assert un.jit(nopython=True)(shapes)(4) == shapes(4)
    given = np.arange(3), np.ones((2, 1))
    for got, wanted in zip(un.jit(nopython=True)(arrays)(*given), arrays(*given), strict=True):
        np.testing.assert_array_equal(np.asarray(got), wanted)
    with pytest.raises(ValueError, match="cannot be broadcast to a single shape"):
        un.jit(nopython=True)(lambda a, b: np.broadcast_arrays(a, b))(np.ones(3), np.ones(4))
