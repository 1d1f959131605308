"""Arrays of up to 64 axes, NumPy's limit: the same values, shapes and errors."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

RANKS = [27, 28, 29, 32, 33, 48, 64]


def ladder(rank):
    """An array whose long axes lie at the first, a middle and the last place."""
    shape = [1] * rank
    shape[0], shape[rank // 2], shape[-1] = 2, 3, 4
    return np.arange(24.0).reshape(shape)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize(
    "f",
    [
        lambda xp, a: a * 2 + a.T.T,
        lambda xp, a: a.T - 1,
        lambda xp, a: a[..., ::-1],
        lambda xp, a: xp.sum(a, axis=a.ndim // 2),
        lambda xp, a: xp.sum(a, axis=(0, a.ndim // 2)),
        lambda xp, a: xp.max(a, axis=a.ndim - 1, keepdims=True),
        lambda xp, a: xp.cumsum(a, axis=a.ndim // 2),
        lambda xp, a: xp.moveaxis(a, -1, 0) + 1,
        lambda xp, a: xp.concatenate([a, a], axis=a.ndim // 2),
        lambda xp, a: a[a > 5],
        lambda xp, a: a.reshape(2, 12),
        lambda xp, a: xp.broadcast_to(a, (2, *a.shape[1:])) * a,
    ],
)
def test_many_axes_are_numpys(rank, f):
    host = ladder(rank)
    mine, theirs = np.asarray(f(un, un.asarray(host))), f(np, host)
    assert mine.shape == theirs.shape and mine.tobytes() == np.ascontiguousarray(theirs).tobytes()


def test_layouts_of_many_axes_have_plans_of_their_own():
    # Stride classes differ in an early axis only.
    for rank in (40, 64):
        host = np.arange(6.0).reshape((2, 3) + (1,) * (rank - 2))
        for turn in range(3):
            for view in (host, host[::-1], host[:, ::-1], np.broadcast_to(host[:1], host.shape)):
                got = un.asarray(view[...]) if turn else un.asarray(host)[...]
                expected = view if turn else host
                assert np.array_equal(np.asarray(got + 1), expected + 1)


def test_more_axes_are_refused():
    with pytest.raises(ValueError, match="at most 64 axes; got 65"):
        un.zeros((1,) * 65)
    with pytest.raises(ValueError, match="64"):
        un.zeros((1,) * 64)[None]
    deep = 1.0
    for _ in range(65):
        deep = [deep]
    with pytest.raises(ValueError, match="more than 64 nested levels"):
        un.array(deep)
