"""Functions of NumPy's main namespace: one call for both, results compared in value, dtype and shape."""

import copy
import inspect
import pickle

import numpy as np
import pytest
import unisono as un
from unisono import _engine

pytestmark = pytest.mark.everywhere

A = np.arange(12.0).reshape(3, 4)
N = np.arange(12).reshape(3, 4)
B = np.array([[True, False], [False, True]])
V = np.array([3.0, 1.0, 2.5, -4.0])
C = np.zeros((2, 1, 3))

# (function, arguments, keywords), called with NumPy's arrays turned into ours.
CALLS = [
    ("clip", (A, 2, 5), {}), ("clip", (N, None, 4), {}), ("clip", (A,), {"min": 3.0}), ("clip", (N, 1, [1, 5, 6, 9]), {}),
    ("clip", (N.astype("uint8"), -5, 300), {}), ("clip", (A, 2, 5), {"out": np.zeros((3, 4))}),
    ("round", (A / 7, 2), {}), ("round", (A / 7,), {}), ("round", (N * 37, -1), {}), ("around", (A * 5, -1), {}),
    ("fix", (V / 2,), {}), ("nan_to_num", ([1, np.nan, np.inf, -np.inf],), {}),
    ("nan_to_num", ([1, np.nan, np.inf, -np.inf],), {"nan": 7, "posinf": 8, "neginf": 9}), ("nan_to_num", (N,), {}),
    ("isclose", ([1, 2, np.nan, np.inf], [1 + 1e-9, 2.1, np.nan, np.inf]), {}),
    ("isclose", ([1, np.nan], [1, np.nan]), {"equal_nan": True}), ("isclose", (N, N + 1), {"atol": 1}),
    ("real", (A,), {}), ("imag", (A,), {}), ("isreal", (A,), {}), ("iscomplex", (A,), {}), ("angle", (V,), {}),
    ("isposinf", ([1, np.inf],), {}), ("isneginf", ([1, -np.inf],), {}), ("diff", (A,), {}), ("diff", (N, 2, 0), {}),
    ("diff", (V,), {"prepend": 0, "append": [1.0, 2.0]}), ("diff", (B,), {}), ("ediff1d", (V,), {}),
    ("ediff1d", (V,), {"to_begin": 9.0, "to_end": [1.0, 2.0]}), ("gradient", (V,), {}), ("gradient", (V, 0.5), {}),
    ("gradient", (V, [0.0, 1.0, 3.0, 7.0]), {}), ("gradient", (V,), {"edge_order": 2}), ("gradient", (A,), {"axis": 0}),
    ("gradient", (V, [0.0, 1.0, 3.0, 7.0]), {"edge_order": 2}), ("trapezoid", (A,), {}), ("trapezoid", (A, [0, 1, 3, 4]), {}),
    ("trapezoid", (A,), {"dx": 0.5, "axis": 0}), ("convolve", ([1, 2, 3], [0, 1, 0.5]), {}),
    ("convolve", ([1, 2, 3, 4], [0, 1]), {"mode": "same"}), ("convolve", (V, [1, 2]), {"mode": "valid"}),
    ("correlate", ([1, 2, 3], [0, 1, 0.5]), {}), ("correlate", ([1, 2], [4, 0, 1, 0.5]), {"mode": "same"}),
    ("correlate", ([1, 2], [4, 0, 1, 0.5]), {"mode": "full"}),
    ("interp", ([-1, 0, 0.5, 1.25, 9], [0, 1, 2], [3.0, 5, 4]), {}),
    ("interp", ([-1, 0, 0.5, 9], [0, 1, 2], [3.0, 5, 4]), {"left": -7, "right": 7}),
    ("interp", ([-180, 170, 185, 10], [190, -190, 350, -350], [5, 10, 3, 4]), {"period": 360}),
    ("bartlett", (7,), {}), ("eye", (3,), {}), ("eye", (3, 4, 1), {"dtype": "int32"}), ("eye", (2, 5, -1), {"order": "F"}),
    ("identity", (3,), {}), ("tri", (3, 4, 1), {}), ("tril", (A,), {}), ("triu", (A, 1), {}), ("triu", (V,), {}),
    ("tril", (np.ones((2, 3, 3)), -1), {}), ("vander", (V,), {}), ("vander", ([1, 2, 3], 4, True), {}), ("diag", (V,), {}),
    ("diag", (V, -2), {}), ("diag", (A, 1), {}), ("diagflat", ([[1, 2], [3, 4]], 1), {}), ("diagonal", (A,), {}),
    ("diagonal", (np.arange(24).reshape(2, 3, 4), 1, 0, 2), {}), ("diagonal", (A, -1), {}), ("trace", (A,), {}),
    ("trace", (np.arange(24).reshape(2, 3, 4), 0, 1, 2), {}), ("meshgrid", ([1, 2, 3], [4, 5]), {}),
    ("meshgrid", ([1, 2, 3], [4, 5], [6]), {"indexing": "ij", "sparse": True}), ("indices", ((2, 3),), {}),
    ("indices", ((2, 3),), {"sparse": True}), ("linspace", (0, 1, 7), {}), ("linspace", (2, 3), {"endpoint": False, "num": 5}),
    ("linspace", (0, 10, 4), {"dtype": "int64"}), ("linspace", ([1, 2], [3, 5], 4), {}), ("linspace", (5, 5, 3), {}),
    ("linspace", ([1, 2], [3, 5], 4), {"axis": 1}), ("linspace", (1, 2, 1), {}), ("linspace", (1, 2, 0), {}),
    ("fromiter", (range(5),), {"dtype": "int32"}), ("fromstring", ("1 2 3",), {"sep": " "}),
    ("fromstring", ("1,2,3",), {"sep": ",", "dtype": "int64", "count": 2}), ("frombuffer", (b"abcd",), {"dtype": "uint8"}),
    ("frombuffer", (bytes(16),), {"dtype": "float64", "offset": 8}), ("asanyarray", ([1, 2],), {}),
    ("ascontiguousarray", (A.T,), {}), ("ascontiguousarray", (3.0,), {}), ("asfortranarray", (A,), {}),
    ("asarray_chkfinite", (A,), {}), ("require", (A, "float32", ["F"]), {}),
    ("expand_dims", (A, (0, -1)), {}), ("squeeze", (C,), {}), ("squeeze", (C, 1), {}), ("moveaxis", (C, 0, -1), {}),
    ("moveaxis", (C, [0, 1], [-1, 0]), {}), ("rollaxis", (C, 2), {}), ("rollaxis", (C, 0, 3), {}), ("swapaxes", (C, 0, -1), {}),
    ("permute_dims", (C, (2, 0, 1)), {}), ("matrix_transpose", (C,), {}), ("flip", (A,), {}), ("flip", (A, 1), {}),
    ("fliplr", (A,), {}), ("flipud", (A,), {}), ("rot90", (A,), {}), ("rot90", (A, 2), {}), ("rot90", (A, -1), {}),
    ("rot90", (C, 1, (1, 2)), {}), ("broadcast_arrays", (A, V, 1), {}), ("atleast_1d", (3, V), {}), ("atleast_2d", (V,), {}),
    ("atleast_3d", (V, A, 1.0), {}), ("array_split", (np.arange(7), 3), {}), ("array_split", (A, [1, 3], 1), {}),
    ("split", (A, 2, 1), {}), ("hsplit", (A, 2), {}), ("vsplit", (A, 3), {}), ("dsplit", (C, 3), {}), ("unstack", (A,), {"axis": 1}),
    ("ravel", (A.T,), {}), ("ravel", (A,), {"order": "F"}), ("apply_along_axis", (np.sum, 1, A), {}),
    ("apply_along_axis", (lambda v: v[:2] * 2, 0, A), {}), ("apply_over_axes", (np.sum, A, [0, 1]), {}),
    ("fromfunction", (lambda i, j: i - j, (2, 3)), {}), ("polyval", ([1, 2, 3], V), {}), ("polyadd", ([1, 2], [1, 2, 3]), {}),
    ("polysub", ([1, 2], [1, 2, 3]), {}), ("polymul", ([1, 2], [1, 2, 3]), {}), ("polydiv", ([1.0, 5, 6, 1], [1.0, 2]), {}),
    ("polymul", ([0, 0, 2], [0.0, 1, 3]), {}), ("polymul", ([0, 0], [0, 1, 3]), {}), ("polydiv", ([1, 2, 3], 2), {}),
    ("polydiv", (np.array([1, 3, 2], np.int32), np.array([3, 1], np.float32)), {}), ("polydiv", ([1.0, 2, 1 + 1e-9], [1, 1]), {}),
    ("polyder", ([3, 2, 1, 5], 2), {}), ("polyint", ([3.0, 2, 1],), {}), ("polyint", ([3.0, 2, 1], 2, [4, 5]), {}),
]  # fmt: skip
# Where the last bit may differ: functions of their own.
CLOSE = [
    ("sinc", (V,), {}), ("i0", ([0, 0.5, 7, 9, 30.0, -2],), {}), ("unwrap", ([0, 3, 6.5, -3, 0.1],), {}),
    ("unwrap", ([0, 3, 1, 2],), {"period": 4}), ("blackman", (6,), {}), ("hamming", (6,), {}), ("hanning", (6,), {}),
    ("kaiser", (6, 14.0), {}), ("logspace", (0, 2, 5), {}), ("logspace", (0, 3, 4), {"base": 2.0}), ("geomspace", (1, 256, 9), {}),
    ("geomspace", (-1, -100, 3), {}),
]  # fmt: skip


def ours(x):
    return un.array(x) if isinstance(x, np.ndarray) else x


def compare(got, expected, close):
    if isinstance(expected, (tuple, list)):
        assert type(got) is type(expected) and len(got) == len(expected)
        for g, e in zip(got, expected, strict=True):
            compare(g, e, close)
        return
    assert isinstance(got, (un._engine._Array, *un._engine._values)), type(got)
    assert str(got.dtype) == str(expected.dtype)
    assert tuple(got.shape) == np.shape(expected)
    if close:
        np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-13, atol=1e-14)
    else:
        np.testing.assert_array_equal(np.asarray(got), expected)


@pytest.mark.parametrize(
    "name, args, options", CALLS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_same_as_numpy(name, args, options):
    kept = {k: ours(v) for k, v in options.items()}
    got = getattr(un, name)(*map(ours, args), **kept)
    compare(got, getattr(np, name)(*args, **options), close=False)


@pytest.mark.parametrize(
    "name, args, options", CLOSE, ids=lambda v: v if isinstance(v, str) else ""
)
def test_close_to_numpy(name, args, options):
    compare(
        getattr(un, name)(*map(ours, args), **options),
        getattr(np, name)(*args, **options),
        close=True,
    )


def test_answers_that_are_no_arrays():
    a = un.asarray(A)
    assert un.allclose(a, A) is True and un.allclose(a, A + 1) is False
    assert un.array_equal(a, A) is True and un.array_equal(a, A[:2]) is False
    assert un.array_equal([1, np.nan], [1, np.nan], equal_nan=True) is True
    assert un.array_equiv([1, 1], 1) is True
    assert un.isrealobj(a) is True and un.iscomplexobj(a) is False
    assert (
        un.ndim(A) == 2
        and un.shape([[1, 2]]) == (1, 2)
        and un.size(A, 1) == 4
        and un.size(A, (0, 1)) == 12
    )
    assert un.broadcast_shapes((2, 1), 3) == (2, 3)
    assert un.isscalar(3.0) and un.isscalar("a") and un.isscalar(a[0, 0]) and not un.isscalar(a)
    assert un.iterable(a) and not un.iterable(3)
    assert un.linspace(0, 1, 3, retstep=True)[1] == 0.5


def test_grids():
    compare(un.mgrid[0:3, 1:2:4j], np.mgrid[0:3, 1:2:4j], False)
    compare(un.ogrid[0:3, 5:1:-2], np.ogrid[0:3, 5:1:-2], False)
    compare(un.mgrid[0:5:2], np.mgrid[0:5:2], False)


def test_views_share_memory():
    a = un.zeros((3, 3))
    un.flip(a)[0, 0] = 7
    un.moveaxis(a, 0, 1)[0, 2] = 8
    assert a[2, 2] == 7 and a[2, 0] == 8
    x = un.zeros((3, 4))
    un.fill_diagonal(x, 4)
    y = np.zeros((3, 4))
    np.fill_diagonal(y, 4)
    assert x.tolist() == y.tolist()


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
def test_piecewise_and_vectorize(xp):
    x = xp.asarray([-2.0, -1.0, 0.5, 3.0])
    assert xp.piecewise(x, [x < 0, x > 1], [lambda v: -v, 10.0]).tolist() == [2, 1, 0, 10]
    assert xp.piecewise(x, [x < 0], [lambda v, k: v * k, 7.0], 3).tolist() == [-6, -3, 7, 7]
    f = xp.vectorize(lambda a, b=1: a + b if a > b else a - b)
    assert f([1, 5, 3], 2).tolist() == [-1, 7, 5]
    assert f([1, 5], b=2).tolist() == [-1, 7]
    assert str(xp.vectorize(lambda a: a, otypes=["float32"])([1, 2]).dtype) == "float32"
    two = xp.vectorize(lambda a: (a, a * 0.5))([2, 4])
    assert two[0].tolist() == [2, 4] and two[1].tolist() == [1, 2]
    g = xp.vectorize(lambda m, v: xp.sum(m * v), signature="(n),(n)->()")
    assert g(xp.ones((2, 3)), xp.arange(3.0)).tolist() == [3, 3]
    if xp is np:
        with pytest.raises(ValueError, match="size 0 inputs unless `otypes` is set"):
            f([])
    else:  # compiled: the dtype is known without a call
        assert f(xp.zeros(0)).shape == (0,)
    with pytest.raises(ValueError, match="not a valid gufunc signature"):
        xp.vectorize(lambda a: a, signature="(n->()")

    @xp.vectorize
    def h(a):
        """Doc."""
        return a + 1

    assert h([1]).tolist() == [2] and h.__doc__ == "Doc."


@pytest.mark.parametrize("xp", [np, un])
def test_results_of_vectorized_functions_with_a_signature(xp):
    with pytest.raises(ValueError, match="wrong number of outputs from pyfunc: expected 2, got 1"):
        xp.vectorize(lambda a: (a,), signature="(n)->(n),(n)")(xp.ones(3))
    with pytest.raises(ValueError, match="wrong number of outputs from pyfunc: expected 1, got 2"):
        xp.vectorize(lambda a: (a, a), signature="(n)->(n)")(xp.ones(3))
    with pytest.raises(ValueError, match="on size 0 inputs unless `otypes` is set"):
        xp.vectorize(lambda a: a, signature="(n)->(n)")(xp.ones((0, 3)))
    with pytest.raises(ValueError, match="new output dimensions on size 0 inputs"):
        xp.vectorize(lambda a: a, signature="(n)->(m)", otypes=["f4"])(xp.ones((0, 3)))
    none = xp.vectorize(lambda a: a, signature="(n)->(n),()", otypes=["f4", "i8"])(xp.ones((0, 3)))
    assert [(x.shape, str(x.dtype)) for x in none] == [((0, 3), "float32"), ((0,), "int64")]


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
def test_refused(xp):
    a = xp.zeros((2, 3))
    for call in (
        lambda: xp.squeeze(a, 0),
        lambda: xp.split(a, 2, 1),
        lambda: xp.moveaxis(a, 0, 5),
        lambda: xp.expand_dims(a, 4),
        lambda: xp.diff(xp.asarray(3.0)),
        lambda: xp.broadcast_shapes((2,), (3,)),
        lambda: xp.linspace(0, 1, -1),
        lambda: xp.clip(a, 1, a_min=3) if xp is un else xp.clip(a, 1, 2, min=3),
        lambda: xp.unstack(xp.asarray(1.0)),
        lambda: xp.asarray_chkfinite([xp.nan]),
        lambda: xp.convolve([], [1]),
        lambda: xp.gradient(xp.zeros(1)),
        lambda: xp.tril(xp.asarray(1.0)) if xp is un else xp.diag(a[0, 0]),
        lambda: xp.rot90(a, 1, (0, 0)),
        lambda: xp.diagonal(a[0]),
    ):
        with pytest.raises(ValueError):
            call()
    for call in (lambda: xp.round(a, decimals=1, nothing=2), lambda: xp.eye(2, like=3)):
        with pytest.raises(TypeError):
            call()


def test_polynomials_are_objects():
    for xp in (np, un):
        p = xp.poly1d([0, 1, 2, 3])
        assert p.order == 2 and float(p(2)) == 11 and (p * p).order == 4
        assert (p + 1).coeffs.tolist() == [1, 2, 4] and (1 - p).coeffs.tolist() == [-1, -2, -2]
        assert p.deriv().coeffs.tolist() == [2, 2] and (p**2 == p * p) and p[0] == 3
        assert xp.polyval([1, 0], p).coeffs.tolist() == [1, 2, 3]


def test_every_listed_name_is_there():
    missing = [name for name in dir(un) if not hasattr(un, name)]
    assert missing == []


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_rounding_of_integers_is_the_integers(xp, name):
    f = getattr(xp, name)
    for dtype in ("bool", "uint8", "int64"):
        x = xp.asarray([0, 1], dtype=dtype)
        assert str(f(x).dtype) == dtype and f(x).tolist() == x.tolist() and f(x) is not x
    big = xp.asarray([2**62 + 1])
    out = xp.zeros(1, dtype="int64")
    assert f(big, out=out) is out and out[0] == 2**62 + 1 and f(big)[0] == 2**62 + 1
    with pytest.raises(TypeError, match="cast"):
        f(big, out=xp.zeros(1, dtype="uint8"))


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
def test_small_things(xp):
    a, b = xp.arange(3), xp.asarray([4.5, 5, 6])
    assert (
        xp.r_[a, 0, 7:9, [1.5]].tolist() == [0, 1, 2, 0, 7, 8, 1.5]
        and str(xp.r_[a, 0].dtype) == "int64"
    )
    assert xp.c_[a, b].tolist() == [[0, 4.5], [1, 5], [2, 6]] and xp.r_[0:1:3j].tolist() == [
        0,
        0.5,
        1,
    ]
    assert (
        xp.r_["0,2", a, a].shape == (2, 3)
        and xp.r_["0,2,0", a, a].shape == (6, 1)
        and xp.r_["1,2", a, a].shape == (1, 6)
    )
    assert str(xp.r_[xp.asarray([1], dtype="float32"), 2].dtype) == "float32"
    assert xp.s_[1:2] == slice(1, 2) and xp.index_exp[3] == (3,)
    assert list(xp.ndindex(2, 1)) == [(0, 0), (1, 0)] and list(xp.ndindex(())) == [()]
    assert [(k, float(v)) for k, v in xp.ndenumerate(b)] == [((0,), 4.5), ((1,), 5), ((2,), 6)]
    assert (
        xp.shares_memory(a[::2], a)
        and not xp.shares_memory(a[::2], a[1::2])
        and xp.may_share_memory(a[::2], a[1::2])
    )
    assert not xp.may_share_memory(a, b)
    for value, name in (
        (10, "uint8"),
        (-300, "int16"),
        (2**40, "uint64"),
        (True, "bool"),
        (b, "float64"),
        (b[0], "float16"),
    ):
        assert xp.min_scalar_type(value) == name == np.min_scalar_type(value)
    assert np.finfo(b[0]).eps == xp.finfo(b[0]).eps and xp.dtype(b[0]) == "float64" == np.dtype(
        b[0]
    )
    for x, name in ((a, "float64"), (xp.asarray([1], dtype="float32"), "float32")):
        assert xp.dtype(xp.common_type(x)) == name
    bits = xp.asarray([[1, 0, 1], [0, 0, 1]], dtype="uint8")
    assert xp.packbits(bits).tolist() == [164] and xp.packbits(bits, axis=1).tolist() == [
        [160],
        [32],
    ]
    assert xp.packbits(bits, bitorder="little").tolist() == [37]
    assert xp.unpackbits(xp.packbits(bits), count=6).tolist() == [1, 0, 1, 0, 0, 1]
    assert xp.unpackbits(xp.packbits(bits, axis=1), axis=1, count=-5).tolist() == bits.tolist()
    assert xp.issubdtype(a.dtype, xp.integer) and not xp.issubdtype(b.dtype, xp.signedinteger)
    assert xp.bool_ == xp.bool and bool(xp.True_) and xp.dtype(xp.intp) == "int64"
    with xp.errstate(all="ignore"):
        assert (b / 0).tolist() == [xp.inf] * 3
    with pytest.raises(ValueError):
        xp.seterr(all="nothing")


def test_reshape_and_astype_of_the_standard():
    a = un.arange(6).reshape(2, 3)
    shared, copied = un.reshape(a, (3, 2), copy=False), un.reshape(a, 6, copy=True)
    a[0, 0] = 9
    assert shared[0, 0] == 9 and copied[0] == 0
    with pytest.raises(ValueError, match="need a copy"):
        un.reshape(a.T, 6, copy=False)
    assert un.reshape(un.arange(8)[::2], (2, 2), copy=False).tolist() == [[0, 2], [4, 6]]
    x = np.arange(6).reshape(2, 3)
    for order in "CFA":
        assert (
            un.reshape(un.array(x), (3, 2), order=order).tolist()
            == np.reshape(x, (3, 2), order=order).tolist()
        )
    assert (
        un.astype(a, "float32", copy=False).dtype == "float32"
        and un.astype(a, a.dtype, copy=False) is a
    )
    assert (
        un.astype(a, float, device=un.devices()[-1]).device == un.devices()[-1]
        or not un.devices()[-1].has_float64
    )
    assert un.copy(a, order="F").flags.f_contiguous and un.broadcast_to(
        array=a, shape=(4, 2, 3)
    ).shape == (4, 2, 3)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="dir\\(un\\) lists"):
        un.nothing_of_that_name  # noqa: B018


def test_functions_with_a_short_way_are_functions():
    """Calls with arrays run in C, all others in Python; tools see one function."""
    for name in "dot flip sum prod max min any all".split():
        f = getattr(un, name)
        assert inspect.isfunction(f) and f.__name__ == name and f.__doc__
        assert next(iter(inspect.signature(f).parameters)) in "a m x"
        assert pickle.loads(pickle.dumps(f)) is f and copy.deepcopy(f) is f
    a = np.arange(6.0).reshape(2, 3)
    x = un.array(a)
    for call in (
        lambda xp, x: xp.flip(x),
        lambda xp, x: xp.flip(x, 1),
        lambda xp, x: xp.flip(m=x, axis=0),
        lambda xp, x: xp.dot(x, x.T),
        lambda xp, x: xp.dot(x[0], x[1]),
        lambda xp, x: xp.dot(x, 2.0),
        lambda xp, x: xp.dot(b=x[0], a=x),
        lambda xp, x: xp.sum(x),
        lambda xp, x: xp.sum(x, 1),
        lambda xp, x: xp.sum(x, axis=(0, 1)),
        lambda xp, x: xp.sum(x, axis=0, keepdims=True),
        lambda xp, x: xp.max(x, 0, initial=3),
        lambda xp, x: xp.prod(x.tolist(), axis=1),
        lambda xp, x: xp.any(x > 9, None),
        lambda xp, x: xp.min(x, axis=-1),
        lambda xp, x: xp.all(x > -1, 0),
    ):
        np.testing.assert_array_equal(np.asarray(call(un, x)), call(np, a), strict=True)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'"):
        un.dot(x)
    with pytest.raises(TypeError, match="keyword"):
        un.sum(x, shape=3)
    with pytest.raises(un.exceptions.AxisError):
        un.max(x, axis=2)

    @_engine._FastPath
    def other(x):
        return x

    assert other(3) == 3 and other.__name__ == "other"
