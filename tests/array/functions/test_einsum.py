"""``einsum``: views, extents of 0 and 1, and subscripts that NumPy refuses."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


@pytest.mark.parametrize("text", ["ij", "ij->ji", "ii->i", "...i->i...", "ij->ij"])
def test_what_sums_nothing_is_a_view_of_its_operand(text, device):
    for xp, options in ((np, {}), (un, {"device": device})):
        x = xp.zeros((3, 3), "int32", **options)
        view = xp.einsum(text, x, dtype="float64")
        assert view is not x and view.dtype == "int32"
        view[...] = 4
        assert x.sum() == 4 * view.size
        assert xp.einsum(text, x) is not x


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128", "int64"])
@pytest.mark.parametrize(
    ("text", "one", "two"),
    [
        ("ij,jk->ik", (2, 0), (0, 4)),
        ("ij,jk->ik", (1, 0), (1, 3)),
        ("ij...,ji...->i...", (1, 2, 0), (2, 1, 1)),
        ("i...ij,ji...->...j", (0, 2, 0, 1), (1, 0, 2)),
        ("ij,ij->i", (1, 2), (0, 1)),
    ],
)
def test_extents_of_zero_and_one(text, one, two, dtype, device):
    expected = np.einsum(text, np.ones(one, dtype), np.ones(two, dtype))
    a, b = un.ones(one, dtype, device=device), un.ones(two, dtype, device=device)
    made = un.einsum(text, a, b)
    assert made.shape == expected.shape and made.tolist() == expected.tolist()


@pytest.mark.parametrize("xp", [np, un])
def test_ellipses_that_are_not_in_the_output_or_stand_twice(xp):
    with pytest.raises(ValueError, match="ellipsis|'...'|broadcast"):
        xp.einsum("...->", xp.zeros((2, 2)))
    with pytest.raises(ValueError, match="ellipsis|'...'|broadcast"):
        xp.einsum(xp.arange(2), [Ellipsis, 0, Ellipsis])
