"""Functions that pick, join and move elements: the same expression on NumPy and on unisono."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

INPUTS = {
    "v": np.arange(6) * 3 % 7,
    "w": np.array([4.0, -1.5, 0.0, 2.5]),
    "m": np.arange(12.0).reshape(3, 4),
    "t": np.arange(24, dtype="int32").reshape(2, 3, 4)[:, ::-1].transpose(2, 0, 1),
    "s": np.array(5, dtype="int32"),
    "e": np.zeros((0, 3), dtype="float32"),
    "b": np.array([[True, False, True, True]] * 3),
    "f": np.array([[1.5, 2.5], [3.5, 4.5]], dtype="float32"),
    "i": np.array([[2, 0, 1, -1], [0, 0, -3, 2], [1, 1, 1, 0]]),
    "u": np.array([3, 250, 7], dtype="uint8"),
}

INDEXING = """
xp.take(v, [0, -1, 3])
xp.take(m, i)
xp.take(m, [[0, 1], [2, -1]], axis=1)
xp.take(m, 2, axis=0)
xp.take(m, [], axis=0)
xp.take(v, [7, -9, 2], mode='wrap')
xp.take(v, [7, -9, 2], mode='clip')
xp.take(v, [7])
xp.take(m, [0], axis=2)
xp.take(v, xp.asarray([0.5]))
xp.take(e, [0], axis=0)
xp.take(xp.zeros((0, 0)), [0, 0], axis=1)
xp.take_along_axis(m, i, axis=1)
xp.take_along_axis(m, i[:1], axis=0)
xp.take_along_axis(t, t[..., :1] % 2, axis=-1)
xp.take_along_axis(m, v, axis=None)
xp.take_along_axis(m, v, axis=0)
xp.nonzero(v)
xp.nonzero(t)
xp.nonzero(b)
xp.nonzero(e)
xp.nonzero(s)
xp.where(m > 5)
xp.where(b, m, -1)
xp.flatnonzero(m)
xp.argwhere(b)
xp.argwhere(t > 20)
xp.argwhere(s)
xp.compress([True, False, True], m, axis=0)
xp.compress([0, 1, 1, 0], m, axis=1)
xp.compress([1, 0, 1, 1], m)
xp.compress([[1, 0]], m)
xp.compress([1, 0, 1, 1], m, axis=0)
xp.extract(b, m)
xp.extract(m % 3 == 0, m)
xp.choose([2, 0, 1, 0], [w, -w, w * 2])
xp.choose(xp.asarray([[0], [1], [1]]), [m, 5])
xp.choose([5, -1], [w[:2], w[2:]], mode='wrap')
xp.choose([5, -1], [w[:2], w[2:]], mode='clip')
xp.choose([5, 0], [w[:2], w[2:]])
xp.select([v < 2, v > 4], [v, v * v], 42)
xp.select([m < 2, m > 9], [m, 1.5])
xp.select([m < 2], [u[:1]], u[0])
xp.select([v], [v])
xp.ix_([0, 2], [1, 3])
m[xp.ix_([0, 2], [1, 3])]
m[xp.ix_([True, False, True], [1, 3])]
xp.diagonal(m)
xp.diagonal(m, 1)
xp.diagonal(m, -2)
xp.diagonal(m, 9)
xp.diagonal(t, 1, 2, 0)
xp.diagonal(t, 0, -1, -2)
xp.diagonal(v)
xp.diagonal(m, 0, 1, 1)
xp.diag(v)
xp.diag(w, 2)
xp.diag(w, -1)
xp.diag(m, 1)
xp.diag(t)
xp.diagflat(f, 1)
xp.tri(3)
xp.tri(3, 5, -1, dtype='int32')
xp.tril(m)
xp.tril(t, -1)
xp.triu(m, 1)
xp.triu(t)
xp.triu(w)
xp.tril(b)
xp.tril_indices(3)
xp.tril_indices(4, 1, 3)
xp.triu_indices(3, -1)
xp.triu_indices(3, 1, 5)
xp.tril_indices_from(m)
xp.triu_indices_from(m, 2)
xp.mask_indices(3, xp.triu)
xp.diag_indices(3)
xp.diag_indices_from(f)
xp.diag_indices_from(m)
xp.indices((2, 3))
xp.indices((2, 3), dtype='float32')
xp.indices((2, 3), sparse=True)
xp.indices(())
xp.unravel_index([22, 41, 37], (7, 6))
xp.unravel_index([31, 41, 13], (7, 6), order='F')
xp.unravel_index(1621, (6, 7, 8, 9))
xp.unravel_index([42], (7, 6))
xp.unravel_index([-1], (7, 6))
xp.unravel_index([1.5], (7, 6))
xp.ravel_multi_index(xp.asarray([[3, 6, 6], [4, 5, 1]]), (7, 6))
xp.ravel_multi_index(([3, 6, 6], [4, 5, 1]), (7, 6), order='F')
xp.ravel_multi_index(([3, 9], [4, -2]), (4, 6), mode=('clip', 'wrap'))
xp.ravel_multi_index(([3, 9], [4, 2]), (4, 6))
xp.ravel_multi_index((3, 1), (4, 6))
""".strip().splitlines()

MOVING = """
xp.concatenate((m, m))
xp.concatenate((m, m[:, :1]), axis=1)
xp.concatenate((m, m[:, :1]), axis=-1)
xp.concatenate((m, t), axis=None)
xp.concatenate(([1, 2], [3.5], u))
xp.concatenate((u, v[:2].astype('int32')))
xp.concatenate((u, v), dtype='float32')
xp.concatenate((w, v), dtype='int32')
xp.concatenate((w, v), dtype='int32', casting='unsafe')
xp.concatenate((m, m[:, :1]))
xp.concatenate((m, v))
xp.concatenate((s, s))
xp.concatenate(())
xp.concatenate((m,), axis=2)
xp.concatenate([v[k:k + 1] for k in range(6)] * 10)
xp.concatenate([m[:, k:k + 1] for k in range(4)] * 10, axis=1)
xp.concatenate([m.T[k:k + 1] for k in range(4)] * 10, axis=0)
xp.concatenate((e, e[:, :1]), axis=1)
xp.stack((m, m * 2))
xp.stack((m, m * 2), axis=1)
xp.stack((m, m * 2), axis=-1)
xp.stack((m, m * 2), axis=3)
xp.stack([s, s * 2])
xp.stack((m, v))
xp.stack([])
xp.stack([u, u], dtype='float32')
xp.vstack((v, v))
xp.vstack((m, m[0]))
xp.vstack((1, 2))
xp.hstack((v, w))
xp.hstack((m, m[:, :1]))
xp.hstack((1, [2, 3]))
xp.dstack((v, v))
xp.dstack((m, m))
xp.dstack((t, t))
xp.column_stack((v, v))
xp.column_stack((m, m[:, 0]))
xp.append(v, [9, 8])
xp.append(m, m[:1], axis=0)
xp.append(m, 3)
xp.append(m, [1], axis=0)
xp.block([[m, m[:, :1]], [m[:1], xp.ones((1, 1))]])
xp.block([1, 2, v])
xp.block([[1], [2]])
xp.block(v)
xp.block([[m], [xp.ones((1, 4))]])
xp.block([[m], m])
xp.block([])
xp.tile(v, 2)
xp.tile(m, (2, 1))
xp.tile(m, (2, 3, 1))
xp.tile(v, (2, 2))
xp.tile(s, 3)
xp.tile(m, 0)
xp.tile(m, ())
xp.repeat(v, 3)
xp.repeat(m, 2, axis=1)
xp.repeat(m, [1, 0, 2], axis=0)
xp.repeat(t, [2, 0, 1, 3], axis=-3)
xp.repeat(m, 0)
xp.repeat(s, 3)
xp.repeat(m, [1, 2], axis=0)
xp.repeat(m, -1)
xp.repeat(m, [1, -1, 2], axis=0)
xp.repeat(v, [0, 1, 2, 0, 0, 1])
xp.roll(v, 2)
xp.roll(v, -9)
xp.roll(m, 5)
xp.roll(m, 1, axis=1)
xp.roll(m, (1, 2), axis=(0, 1))
xp.roll(m, 1, axis=(0, 1))
xp.roll(m, (1, 2), axis=0)
xp.roll(t, (1, -1, 2), axis=(0, 1, -1))
xp.roll(e, 1, axis=0)
xp.roll(m, 1, axis=2)
xp.resize(v, (3, 4))
xp.resize(m, 5)
xp.resize(m, (0, 2))
xp.resize(e, (2, 2))
xp.resize(m, -1)
xp.trim_zeros(xp.asarray([0, 0, 1, 2, 0, 3, 0]))
xp.trim_zeros(xp.asarray([0, 0, 1, 2, 0, 3, 0]), 'f')
xp.trim_zeros(xp.asarray([0, 0]))
xp.delete(v, 1)
xp.delete(v, -1)
xp.delete(v, [0, 2, -1])
xp.delete(v, [])
xp.delete(m, 1, axis=1)
xp.delete(m, [0, 2], axis=1)
xp.delete(m, slice(None, None, 2), axis=0)
xp.delete(m, [True, False, True], axis=0)
xp.delete(m, [1, 5])
xp.delete(m, 7, axis=0)
xp.delete(m, [7, 8], axis=0)
xp.delete(m, [True, False], axis=0)
xp.insert(v, 1, 9)
xp.insert(v, 1, [9, 8])
xp.insert(v, [1, 3], [9, 8])
xp.insert(v, [3, 1, 1], [9, 8, 7])
xp.insert(v, -2, [9, 8])
xp.insert(v, 6, 5)
xp.insert(v, 7, 5)
xp.insert(v, slice(1, 4), [7, 8, 9])
xp.insert(m, 1, 5, axis=1)
xp.insert(m, 1, [7, 8, 9], axis=1)
xp.insert(m, [1], [[7], [8], [9]], axis=1)
xp.insert(m, [1, 2], 0.5, axis=0)
xp.insert(m, 2, v[:4], axis=0)
xp.insert(u, 1, 3.9)
xp.insert(m, 1, 9)
xp.meshgrid(v, w)
xp.meshgrid(v, w, indexing='ij')
xp.meshgrid(v, w, sparse=True)
xp.meshgrid(v, w, u)
xp.meshgrid(v)
xp.meshgrid(v, w, indexing='xx')
xp.mgrid[0:3, 0:2]
xp.mgrid[0:5]
xp.mgrid[[slice(0, 3), slice(0, 2)]]
xp.ogrid[[slice(0, 4)]][0]
xp.mgrid[xp.zeros(3)[:, None]:xp.ones(3)[:, None]:4j]
xp.mgrid[xp.zeros(3)[:, None]:xp.ones(3)[:, None]:3j, 0:1:3j]
xp.ogrid[xp.zeros(3)[:, None]:xp.ones(3)[:, None]:3j, 0:2:3j]
xp.mgrid[-1:1:5j]
xp.mgrid[0:3, 0:1:5j]
xp.mgrid[0:1:0.25, 1:3]
xp.ogrid[0:3, 0:2]
xp.ogrid[0:3, 0:1:5j]
""".strip().splitlines()

METHODS = """
m.take([0, -1], axis=1)
m.take(3)
v.repeat(2)
m.repeat([1, 0, 2], axis=0)
m.nonzero()
m.diagonal(1)
m.compress([1, 0, 1], axis=0)
xp.asarray([0, 1]).choose([[1, 2], [3, 4]])
m.squeeze()
m.swapaxes(0, 1)
t.ravel()
t.ravel('F')
t.ravel(order='K')
t.ravel('A')
m.T.ravel('K')
m.T.ravel('A')
m.ravel('X')
t.flatten('F')
m.T.flatten('K')
m.flatten(order='A')
t.reshape(4, 6)
t.reshape((4, 6), order='F')
m.T.reshape(2, -1, order='A')
m.reshape((2, 6), order='X')
m.reshape()
m.T.reshape(12, copy=False)
m.reshape(12, copy=False)
m.reshape((2, 6), copy=True)
xp.reshape(m, (2, 6), order='F')
xp.reshape(m, -1)
xp.reshape(m.T, -1, copy=False)
xp.reshape(m.T, -1, 'F', copy=False)
xp.reshape(m, (5, 2))
""".strip().splitlines()

PADDING = [
    f"xp.pad({a}, {width}, {options})"
    for a in ("v", "m", "f", "t", "u")
    for width in ("2", "(3, 1)", "0", "9")
    for options in (
        "'constant'", "'constant', constant_values=3", "'constant', constant_values=(1, 2)", "'edge'", "'linear_ramp'",
        "'linear_ramp', end_values=(5, 200)", "'maximum'", "'minimum', stat_length=2", "'mean'",
        "'reflect'", "'symmetric'", "'wrap'", "'reflect', reflect_type='odd'", "'symmetric', reflect_type='odd'",
    )
] + [
    "xp.pad(m, ((1, 2), (0, 3)))",
    "xp.pad(m, ((1, 2), (0, 3)), 'wrap')",
    "xp.pad(m, {1: (1, 2)})",
    "xp.pad(m, ((1,), (2,)), 'reflect')",
    "xp.pad(m, -1)",
    "xp.pad(m, 1.5)",
    "xp.pad(m, (1, 2, 3))",
    "xp.pad(m, 1, 'unknown')",
    "xp.pad(m, 1, 'edge', constant_values=3)",
    "xp.pad(e, 1, 'edge')",
    "xp.pad(e, 1)",
    "xp.pad(e, ((0, 0), (1, 1)), 'edge')",
    "xp.pad(v[:1], 3, 'reflect')",
    "xp.pad(v[:1], 3, 'symmetric')",
    "xp.pad(v[:1], 3, 'reflect', reflect_type='odd')",
]  # fmt: skip


def evaluate(text, xp):
    space = {"xp": xp, **{k: xp.asarray(x.copy()) for k, x in INPUTS.items()}}
    try:
        return eval(text, space)
    except Exception as e:
        return e


def check(ours, theirs, text):
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{text}: NumPy raised {theirs!r}"
        known = (IndexError, ValueError, TypeError)
        assert [isinstance(ours, c) for c in known] == [isinstance(theirs, c) for c in known], (
            f"{text}: {ours!r}, NumPy {theirs!r}"
        )
        return
    if isinstance(ours, Exception):
        raise ours
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            check(a, b, text)
        return
    got = np.asarray(ours)
    assert got.shape == np.shape(theirs)
    assert got.dtype == np.asarray(theirs).dtype
    np.testing.assert_array_equal(got, theirs)


@pytest.mark.parametrize("text", INDEXING + MOVING + PADDING + METHODS)
def test_as_numpy(text):
    check(evaluate(text, un), evaluate(text, np), text)


STATEMENTS = """
m.put([0, -1], 9)
m.fill(3)
m.flat[5] = 8
m.T.flat[[1, 2]] = [5, 6]
m.ravel()[0] = 5
m.ravel('F')[0] = 5
m.T.ravel('F')[0] = 5
m.reshape((2, 6), order='F')[0, 1] = 5
m.T.reshape((2, 6), order='F')[0, 1] = 5
m.reshape((2, 6), copy=True)[0, 1] = 5
xp.put(v, [0, -1], [44, 55])
xp.put(m, [22, 4], -5, mode='clip')
xp.put(m, [22, 4], -5)
xp.put(m.T, [1, 2, 3], [7, 8])
xp.put(m[:, ::2], [1, -1], 9)
xp.put(v, [[1, 2], [3, 4]], [9, 8, 7])
xp.put(v, [1], [])
xp.put_along_axis(m, i[:, :1], 99, axis=1)
xp.put_along_axis(m, i, m * 2, axis=1)
xp.put_along_axis(m, xp.asarray([0, 5]), 99, axis=None)
xp.place(m, m > 5, [1, 2])
xp.place(m, m > 50, [])
xp.place(m, m > 5, [])
xp.place(v, [1, 0, 1], 3)
xp.putmask(v, v > 2, [10, 20, 30])
xp.putmask(m, m > 2, m ** 2)
xp.putmask(m, [1, 0], 3)
xp.copyto(m, 5)
xp.copyto(m, [1, 2, 3, 4])
xp.copyto(m, m[:, :1], where=b)
xp.copyto(v, 2.5)
xp.copyto(v, w)
xp.copyto(v[:4], w, casting='unsafe')
xp.copyto(m, 7, where=[True, False, False, True])
xp.copyto(m[1:], m[:-1], where=b[1:])
xp.fill_diagonal(m, 7)
xp.fill_diagonal(m.T, [1, 2])
xp.fill_diagonal(f, f)
xp.fill_diagonal(t, 1)
xp.fill_diagonal(v, 1)
m[xp.tril_indices(3)] = 5
m[xp.nonzero(m > 3)] += 1
""".strip().splitlines()


@pytest.mark.parametrize("text", STATEMENTS)
def test_in_place_as_numpy(text):
    raised, spaces = [], []
    for xp in (un, np):
        space = {"xp": xp, **{k: xp.asarray(x.copy()) for k, x in INPUTS.items()}}
        try:
            exec(text, space)
            raised.append(None)
        except Exception as e:
            raised.append(e)
        spaces.append(space)
    if raised[1] is not None or raised[0] is not None:
        assert raised[0] is not None, f"NumPy raised {raised[1]!r}"
        if raised[1] is None:
            raise raised[0]
        check(*raised, text)
    for name in INPUTS:
        check(spaces[0][name], spaces[1][name], f"{text}: {name}")


def test_fill_diagonal_wraps():
    for shape in ((5, 2), (7, 3), (2, 5), (3, 3)):
        theirs, ours = np.zeros(shape), un.zeros(shape)
        np.fill_diagonal(theirs, [1, 2, 3], wrap=True)
        un.fill_diagonal(ours, [1, 2, 3], wrap=True)
        np.testing.assert_array_equal(ours, theirs)


def test_out():
    out = un.zeros((2, 2))
    assert un.concatenate(([[1.0, 2.0]], [[3.0, 4.0]]), out=out) is out
    assert un.stack(([1.0, 2.0], [3.0, 4.0]), out=out) is out
    assert out.tolist() == [[1, 2], [3, 4]]
    assert un.take(out, [[0, 1], [1, 0]], axis=1, out=un.zeros((2, 2, 2))).shape == (2, 2, 2)
    with pytest.raises(ValueError, match="out= has the wrong shape"):
        un.concatenate(([1.0], [2.0]), out=out)
    with pytest.raises(TypeError, match="only one of out= and dtype="):
        un.concatenate(([1.0], [2.0]), out=out, dtype=float)
    un.concatenate((out[1:], out[:1]), out=out)
    assert out.tolist() == [[3, 4], [1, 2]]


def test_a_diagonal_is_a_readonly_view():
    m = un.zeros((3, 3))
    d = un.diagonal(m)
    m[1, 1] = 5
    assert d.tolist() == [0, 5, 0]
    with pytest.raises(ValueError, match="read-only"):
        d[0] = 1


def test_pad_by_function():
    def ends(vector, width, axis, options):
        value = options.get("padder", 10)
        vector[: width[0]] = value
        if width[1]:
            vector[-width[1] :] = value

    theirs = np.pad(np.arange(6).reshape(2, 3), ((1, 0), (2, 1)), ends, padder=100)
    ours = un.pad(un.arange(6).reshape(2, 3), ((1, 0), (2, 1)), ends, padder=100)
    np.testing.assert_array_equal(ours, theirs)


def test_joins_fuse_with_what_made_their_parts():
    a = un.arange(1000.0)
    un.eval(a)
    before = un.stats()["kernels_launched"]
    joined = un.concatenate((a + 1, a * 2))
    un.eval(joined)
    assert un.stats()["kernels_launched"] - before == 1


def test_many_parts_of_several_sizes():
    rng = np.random.default_rng(3)
    parts = [rng.random((3, n)) for n in rng.integers(0, 9, 200)]
    ours = un.concatenate([un.asarray(p.copy())[:, ::-1] for p in parts], axis=1)
    np.testing.assert_array_equal(ours, np.concatenate([p[:, ::-1] for p in parts], axis=1))


@pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])
def test_setting_the_shape_makes_a_view(xp):
    a = xp.arange(12)
    whole = a
    a.shape = 3, -1
    assert a.shape == (3, 4) and whole is a
    rows = a[1:]
    rows.shape = 8
    rows[0] = 100
    assert a[1, 0] == 100
    columns = a[:, :2]
    with pytest.raises(AttributeError):
        columns.shape = 6
    columns.shape = 3, 2, 1
    assert columns.shape == (3, 2, 1)
    with pytest.raises(ValueError, match="cannot reshape"):
        a.shape = 5
    with pytest.raises(AttributeError):
        del a.shape
    with pytest.raises(AttributeError):
        a[0, 0].shape = (1,)
