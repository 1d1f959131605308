"""Functions whose plain calls the engine answers without Python: the same results as from Python, and as NumPy's."""

import inspect
import pickle

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

NAN, INF = float("nan"), float("inf")


def same(ours, theirs):
    a, b = np.asarray(ours), np.asarray(theirs)
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(a, b)


def quick_functions():
    kind = type(un.zeros)
    return sorted(n for n in dir(un) if type(getattr(un, n)) is kind)


def calls(m):
    """Names and arguments, some that the engine answers and some that it leaves to Python."""
    v, a = m.asarray([3.0, 1.0, 2.0]), m.arange(6).reshape(2, 3)
    line, heights = m.asarray([1.0, 2.0, 4.0]), m.asarray([10.0, 30.0, -10.0])
    for name in ("zeros", "ones"):
        for arguments in ((3,), ((2, 3),), ([2, 0],), ((),), (3, "int8"), (m.int64(2),)):
            yield name, arguments, {}
        yield name, (3,), {"dtype": "complex64"}
        yield name, ((2, 3),), {"order": "F"}
        yield name, (), {"shape": 4}
    for name in ("zeros_like", "ones_like"):
        for x in (v, a, a.T, a[:, ::2], 3.0, [1, 2], a[0, 0]):
            yield name, (x,), {}
            yield name, (x,), {"dtype": "float32"}
        yield name, (a,), {"shape": (4,)}
    for name in ("array", "asarray"):
        for x in (v, a.T, [1, 2], (1.5, 2), 3, a[0, 1], [v, v], [a[0, 0], a[0, 1]]):
            yield name, (x,), {}
            yield name, (x, "float32"), {}
            yield name, (x,), {"dtype": "complex128"}
        yield name, (a.T,), {"order": "C"}
    for n in (0, 1, 3):
        for name in ("eye", "identity"):
            yield name, (n,), {}
            yield name, (n,), {"dtype": "int8"}
        yield "eye", (n, 2), {}
        yield "eye", (n,), {"k": 1}
        yield "identity", (n, "bool"), {}
    for x in (v, v[::-2], a, a.T, a[:, :0], [1, 2], v.astype("int8")):
        yield "diag", (x,), {}
        yield "diag", (x, 1), {}
        yield "repeat", (x, 2), {}
        yield "repeat", (x, 0), {}
        yield "count_nonzero", (x,), {}
    for x in (a, a.T, a > 2, m.zeros((0, 3)), a.reshape(1, 2, 3), a.astype("uint8")):
        yield "trace", (x,), {}
        yield "trace", (x,), {"offset": 1}
        yield "count_nonzero", (x > 1,), {}
        yield "count_nonzero", (x > 1,), {"axis": 0}
    for parts in ((v, v), [v, v[:1]], (a, a), (a, a.astype("float32")), [[1], [2]], (v, [1])):
        yield "concatenate", (parts,), {}
        yield "concatenate", (parts,), {"axis": -1}
        yield "concatenate", (parts, 0), {}
        yield "concatenate", (parts, None), {}
        yield "concatenate", (parts,), {"dtype": "float64"}
    for name in ("argmax", "argmin"):
        for x in (v, v[::-1], a, [1, 5, 2], m.asarray([1.0, NAN, 3.0]), v > 1):
            yield name, (x,), {}
            yield name, (x,), {"keepdims": True}
        yield name, (a, 1), {}
    for x in (
        m.asarray([0, 2, 1, 2]),
        m.asarray([5, 1, 5])[::2],
        [1, 1],
        m.asarray([3], dtype="uint8"),
    ):
        yield "bincount", (x,), {}
        yield "bincount", (x,), {"minlength": 7}
    for x in (
        1.0,
        2,
        3.5,
        -5.0,
        NAN,
        INF,
        line[1],
        m.asarray([1.0, 9.0]),
        [2, 3],
        10**400 // 10**395,
    ):
        for side in ({}, {"side": "right"}, {"side": "left"}):
            yield "searchsorted", (line, x), side
            yield "searchsorted", (m.asarray([1.0, NAN, NAN]), x), side
            yield "searchsorted", (m.asarray([1, 2, 4]), x), side
        yield "interp", (x, line, heights), {}
        yield "interp", (x, line[::2], heights[::2]), {}
        yield "interp", (x, line[:1], heights[:1]), {}
        yield "interp", (x, line, heights), {"left": 0.5, "right": -0.5}
    yield "interp", (0.5, m.asarray([0.0, 1.0]), m.asarray([INF, INF])), {}
    yield "interp", (0.5, m.asarray([-INF, INF]), m.asarray([1.0, 1.0])), {}
    yield "interp", (0.5, m.asarray([0.0, INF]), m.asarray([1.0, 2.0])), {}


@pytest.mark.parametrize("which", range(len(list(calls(np)))))
def test_the_same_as_numpy(which):
    name, arguments, options = list(calls(np))[which]
    theirs = getattr(np, name)(*arguments, **options)
    _, arguments, options = list(calls(un))[which]
    same(getattr(un, name)(*arguments, **options), theirs)
    same(getattr(un, name).__wrapped__(*arguments, **options), theirs)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("zeros", (-1,)),
        ("zeros", ("x",)),
        ("empty", (2.5,)),
        ("ones", ()),
        ("zeros", (3, "nothing")),
        ("eye", (-1,)),
        ("diag", (3,)),
        ("concatenate", ([],)),
        ("concatenate", ([1, 2],)),
        ("argmax", ([],)),
        ("bincount", ([-1, 2],)),
        ("repeat", ([1, 2], -1)),
        ("searchsorted", ([[1.0]], 2)),
        ("interp", (1.0, [], [])),
        ("interp", (1.0, [1.0, 2.0], [1.0])),
    ],
)
def test_the_errors_are_those_of_numpy(name, arguments):
    with pytest.raises(Exception) as theirs:
        getattr(np, name)(*arguments)
    with pytest.raises(theirs.type):
        getattr(un, name)(*arguments)


def test_they_look_like_functions():
    names = quick_functions()
    assert {"zeros", "array", "asarray", "concatenate", "interp"} <= set(names)
    for name in names:
        function = getattr(un, name)
        assert getattr(un, function.__name__) is function and "Examples" in function.__doc__
        assert inspect.signature(function).parameters or name.startswith("geterr")
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__name__ in repr(function) and callable(function)


def test_asarray_of_an_array_is_the_array():
    a = un.arange(3)
    assert un.asarray(a) is a and un.array(a) is not a
    value = a[1]
    made = un.asarray(value)
    made += 5
    assert value == 1 and made.shape == ()


def test_truth_values_are_shared():
    a = un.asarray([1.0, 2.0])
    assert (a[0] < a[1]) is un.True_ and (a[0] > 1.5) is un.False_
    b = un.True_
    b &= False
    assert bool(un.True_) and not b


def test_rows_are_picked_by_index_arrays():
    a, x = un.arange(24).reshape(4, 3, 2), np.arange(24).reshape(4, 3, 2)
    index = un.asarray([[3, 0], [-1, 2]])
    for k in range(8):
        same(a[index], x[np.asarray(index)])
        same(a[:, 1, 1][index], x[:, 1, 1][np.asarray(index)])
        same(a[:, :, ::2][index], x[:, :, ::2][np.asarray(index)])
        a[index] += k
        x[np.asarray(index)] += k
        wrong = un.asarray([0, 4])
        with pytest.raises(IndexError):
            a[wrong]
    same(a, x)


def test_planned_einsums():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for text, operands in (
        ("ij,jk->ik", (a, b)),
        ("ij,jk", (a, b)),
        ("ij->ji", (a,)),
        ("ij->", (a,)),
        ("ij->j", (a,)),
        ("ij,ij->", (a, a)),
        ("ij,j", (a, a[0])),
        ("i,j->ji", (a[0], b[0])),
        ("ij,jk,kl->il", (a, b, b.T)),
        ("...j,jk->...k", (a, b)),
        ("i,i,i->i", (a[0], a[0], a[0])),
        ("ij,kj->", (a > 2, a > 1)),
        ("ij,kj->ik", (a.astype("int32"), a.astype("int32"))),
        ("ii->i", (b[:3, :3],)),
        ("ij,ik", (a, a[:1])),
    ):
        for _ in range(3):
            same(un.einsum(text, *map(un.asarray, operands)), np.einsum(text, *operands))
            same(un.einsum(text, *operands), np.einsum(text, *operands))


@pytest.mark.slow
def test_large_arrays_of_short_rows():
    for shape in ((1_000_000, 9), (60_000, 130)):
        x = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
        a, column, row = un.asarray(x), un.asarray(x[:, :1].copy()), un.asarray(x[3].copy())
        for _ in range(4):
            same((a - column).sum(axis=0), (x - x[:, :1]).sum(axis=0))
            made = a * row - column
            un.eval(made)
        np.testing.assert_array_equal(np.asarray(made), x * x[3] - x[:, :1])


@pytest.mark.parametrize("name", ["hstack", "vstack"])
def test_arrays_side_by_side(name):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(4).reshape(2, 2)
    c, v, cube = (
        np.arange(3.0).reshape(1, 3),
        np.arange(3, dtype="float32"),
        np.arange(12).reshape(2, 2, 3),
    )
    cases = [
        (a, b),
        [a, a, a],
        (a, c),
        (v, v),
        [v, v.astype("int8")],
        (v, a),
        (cube, cube[:, :1]),
        (cube, a),
        (a,),
        (v,),
    ]
    cases += [(), (np.float64(1), v), (a.T, a.T), (a, [[1, 2, 3]])]
    for case in cases:
        ours = type(case)(un.array(x) if isinstance(x, np.ndarray) else x for x in case)
        try:
            wanted = getattr(np, name)(case)
        except ValueError:
            with pytest.raises(ValueError):
                getattr(un, name)(ours)
            continue
        made = getattr(un, name)(ours)
        assert made.dtype == wanted.dtype and made.shape == wanted.shape
        np.testing.assert_array_equal(np.asarray(made), wanted)
        assert getattr(un, name)(ours, dtype="complex64").dtype == "complex64"
