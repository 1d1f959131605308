"""``cupyx.GeneralizedUFunc``: functions over core axes, beside NumPy's on the same items."""

import numpy as np
import pytest
import unisono as un
import unisono.cupy as cp
import unisono.cupyx as cupyx

stack = np.arange(120.0).reshape(2, 3, 4, 5)


def made(function, layout, **options):
    return cupyx.GeneralizedUFunc(function, layout, **options)


def same(ours, wanted):
    assert type(ours) is un.ndarray and ours.dtype == wanted.dtype
    np.testing.assert_array_equal(ours.get(), wanted)


def test_a_function_runs_for_each_item(device):
    x = un.asarray(stack, device=device)
    shapes = []

    def total(matrix):
        shapes.append(matrix.shape)
        return matrix.sum()

    result = made(total, "(m,n)->()")(x)
    assert result.device == device and set(shapes) == {(4, 5)} and len(shapes) == 6
    same(result, stack.sum(axis=(2, 3)))
    shapes.clear()
    rows = made(lambda a, b: a * b.sum(), "(n),(n)->(n)", name="scaled", doc="By the sum.")
    same(rows(x, x[0, 0, 0]), stack * stack[0, 0, 0].sum())
    assert rows.__name__ == "scaled" and rows.__doc__ == "By the sum." and rows.nin == 2
    least, most = made(lambda a: (a.min(), a.max()), "(n)->(),()")(x)
    same(least, stack.min(axis=-1))
    same(most, stack.max(axis=-1))


@pytest.mark.parametrize("is_batched", [True, False])
def test_axes_stand_where_they_are_named(is_batched):
    x = un.asarray(stack)
    flipped = made(lambda m: m, "(i,j)->(i,j)", supports_batched=is_batched)
    same(flipped(x, axes=[(0, 1), (-1, -2)]), np.moveaxis(stack, (0, 1), (-1, -2)))
    total = made(lambda v: v.sum(axis=-1), "(i)->()", supports_batched=is_batched)
    for axis in range(4):
        same(total(x, axis=axis), stack.sum(axis=axis))
        same(total(x, axis=axis, keepdims=True), stack.sum(axis=axis, keepdims=True))
    same(total(x, axes=[(1,)]), stack.sum(axis=1))


def test_results_are_written_where_they_are_wanted():
    x, out = un.asarray(stack), un.zeros(stack.shape)
    twice = made(lambda m, out: np.multiply(m, 2, out=out), "(i,j)->(i,j)", supports_out=True)
    assert twice(x, out=out) is out
    same(out, stack * 2)
    plain = made(lambda m: m, "(i,j)->(i,j)")
    with pytest.raises(ValueError, match=r"result 0 has another shape; got \(3, 3, 4, 5\)"):
        plain(x, out=un.empty((3, 3, 4, 5)))
    with pytest.raises(TypeError, match="cannot cast result 0 from float64 to int16"):
        plain(x, out=un.empty(stack.shape, "int16"))
    with pytest.raises(TypeError, match="out= must be an array or a tuple of arrays; got list"):
        plain(x, out=[1])
    assert plain(x, order="F").flags.f_contiguous and plain(x, order="A").flags.c_contiguous


def test_dtypes_choose_the_function():
    called = []

    def of(name):
        return lambda a, b: called.append(name) or a + b

    f = made(of("any"), "(i),(i)->(i)", signatures=[("ii->i", of("int")), ("dd->d", of("double"))])
    for dtype in ("int32", "float64", "float32"):
        x = un.ones(3, dtype)
        f(x, x, casting="no")
    assert called == ["int", "double", "any"]
    called.clear()
    x = un.ones(3)
    for which in ("ii->i", "i", ("i", "i", "i")):
        assert f(x, x, casting="unsafe", signature=which).dtype == un.int32
    assert f(x, x, casting="unsafe", dtype="int32").dtype == un.int32 and called == ["int"] * 4
    assert made(lambda a: a, "()->()")(x, dtype="float32").dtype == un.float32
    for wrong in ("i->i", "id->i", ""):
        with pytest.raises(TypeError, match="no loop for the signature"):
            f(x, x, signature=wrong)
    for wrong in ("i", "", "iii->i", "ii->"):
        with pytest.raises(ValueError, match="the signature of dtypes does not fit"):
            made(of("any"), "(i),(i)->(i)", signatures=[wrong])


def test_axes_may_be_left_out_or_spread():
    f = made(lambda a, b: un.ones(b.shape[-1:] + a.shape), "(m?,n),(n,p?)->(p?,m?,n)")
    assert f(un.ones((2, 3)), un.ones((3, 4))).shape == (4, 2, 3)
    assert f(un.ones(3), un.ones((3, 4))).shape == (4, 3)
    assert f(un.ones(3), un.ones(3)).shape == (3,)
    with pytest.raises(ValueError, match="another extent of the axis 'm'; got none; expected 2"):
        made(lambda a, b: a, "(m?,n),(m?,n)->()")(un.ones((2, 3)), un.ones(3))
    g = made(lambda a, b: a + b, "(i|1,j|1),(i|1,j)->(i,j)")
    same(g(un.ones((2, 1)), un.ones((2, 3))), np.full((2, 3), 2.0))
    same(g(un.ones((2, 3)), un.ones((1, 3))), np.full((2, 3), 2.0))
    with pytest.raises(ValueError, match="another extent of the axis 'j'; got 1; expected 3"):
        g(un.ones((2, 3)), un.ones((2, 1)))
    assert made(lambda a: a, "(3)->(3)")(un.ones((2, 3))).shape == (2, 3)
    with pytest.raises(ValueError, match="another extent of the axis '3'; got 4; expected 3"):
        made(lambda a: a, "(3)->(3)")(un.ones(4))


def test_what_does_not_fit_is_refused():
    x = un.asarray(stack)
    f = made(lambda m: m, "(i,j)->(i,j)")
    for options, message in (
        ({"axis": ((0, 1), (0, 1))}, "axis= is an integer"),
        ({"axis": 0}, "axis= is for layouts of one axis"),
        ({"axis": 0, "axes": [(0,)]}, "takes axes= or axis=; got both"),
        ({"axes": (0, 1)}, "axes= is a list"),
        ({"keepdims": True}, "keepdims= is for layouts whose results have no axes"),
    ):
        with pytest.raises(ValueError, match=message):
            f(x, **options)
    with pytest.raises(ValueError, match="has 1 operands; got 2"):
        f(x, x)
    with pytest.raises(ValueError, match="operand 0 has 1 axes; expected at least 2"):
        f(x[0, 0, 0])
    with pytest.raises(ValueError, match=r"an axis of a result has no \|1"):
        made(f, "(i)->(i|1)", name="f")
    for wrong in ("(i,j)(i,j)", "(i,j)-(i,j)", "j->(i", "", "()->()->"):
        with pytest.raises(ValueError, match="not a valid gufunc signature"):
            made(f, wrong, name="f")
    with pytest.raises(TypeError, match="signature: expected a text"):
        made(f, 3, name="f")


def test_a_function_is_asked_first():
    f = made(
        lambda m: m,
        "(i)->(i)",
        try_fastcall_func=lambda x, **options: x if options["axis"] == 7 else NotImplemented,
    )
    x = cp.arange(3)
    assert f(x, axis=7) is x and f(x) is not x
