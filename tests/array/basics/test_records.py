"""Structured dtypes: arrays of records whose fields are views, with the bodies run by NumPy and by us."""

import copy
import io
import pickle

import numpy as np
import pytest
import unisono as un

PACKED = np.dtype([("x", "f8"), ("id", "i4")])
ALIGNED = np.dtype([("x", "f8"), ("id", "i4")], align=True)
TIGHT = np.dtype([("flag", "?"), ("x", "f8"), ("id", "i4"), ("z", "c16"), ("h", "f2")])
LAYOUTS = pytest.mark.parametrize(
    "dtype", [PACKED, ALIGNED, TIGHT], ids=["packed", "aligned", "tight"]
)
NESTED = np.dtype(
    [("k", "u1"), ("p", [("x", "f4"), ("y", "f4")]), ("v", "f8", (3,)), ("m", "i2", (2, 2))]
)


def filled(dtype, n=6):
    a = np.zeros(n, dtype)
    a["x"] = np.arange(n) * 1.5 - 2
    a["id"] = [4, 1, 3, 1, 0, 9][:n]
    return a


def both(body, make):
    """What the body gives for NumPy's array and ours, and the arrays after it, agree."""
    theirs = make()
    mine = un.asarray(make())
    expected, found = body(np, theirs), body(un, mine)
    check(found, expected)
    check(mine, theirs)
    assert isinstance(mine, un.ndarray)
    return found


def check(found, expected):
    if isinstance(expected, (tuple, list)) and not isinstance(found, (np.ndarray, un.ndarray)):
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            check(f, e)
        return
    if isinstance(expected, np.ndarray):
        assert (
            np.asarray(found).shape == tuple(found.shape) == expected.shape
            and found.dtype == expected.dtype
        )
        if expected.dtype.names:  # but for what lies between fields
            for name in expected.dtype.names:
                check(np.asarray(found)[name], expected[name])
        else:
            np.testing.assert_array_equal(np.asarray(found), expected)
        return
    assert found == expected


@pytest.mark.parametrize(
    "spec",
    [
        [("x", "f8"), ("id", "i4")],
        [("x", un.float64), ("id", un.int32)],
        {"names": ["x", "id"], "formats": ["f8", "i4"]},
        "f8, i4",
        ALIGNED,
        NESTED,
        [("when", "M8[s]"), ("name", "U5"), ("n", "i8")],
    ],
)
def test_creation(spec):
    dtype = un.dtype(spec)
    assert isinstance(dtype, np.dtype) and dtype.names
    for name in ("zeros", "ones", "empty"):
        if name == "ones" and "when" in dtype.names:
            continue
        found, expected = getattr(un, name)((2, 3), dtype=spec), getattr(np, name)((2, 3), dtype)
        assert isinstance(found, un.ndarray) and found.dtype == expected.dtype
        assert (found.shape, found.strides) == (expected.shape, expected.strides)
        assert (found.itemsize, found.nbytes, found.size) == (expected.itemsize, expected.nbytes, 6)
        if name != "empty":
            check(found, expected)


def test_creation_from_values():
    rows = [(1.5, 2), (3, 4)]
    expected = np.array(rows, PACKED)
    check(un.array(rows, dtype=PACKED), expected)
    check(un.asarray(rows, dtype=[("x", "f8"), ("id", "i4")]), expected)
    check(un.full(2, (7.0, 1), dtype=PACKED), np.full(2, np.array((7.0, 1), PACKED)))
    check(un.array((1.0, 2), dtype=PACKED), np.array((1.0, 2), PACKED))
    check(un.zeros_like(expected), np.zeros_like(expected))
    check(un.empty_like(un.asarray(expected)).copy()["id"][:0], expected["id"][:0])
    check(un.array([expected[0], expected[1]]), expected)
    check(un.asarray(np.rec.array(expected)), expected)
    check(un.frombuffer(expected.tobytes(), dtype=PACKED), expected)
    check(un.fromiter(iter(rows), dtype=PACKED), expected)


def test_records_of_objects_are_numpys():
    for spec in ([("x", object)], "f8, O"):
        made = un.zeros(2, dtype=spec)
        assert type(made) is np.ndarray and made.dtype == np.dtype(spec)


@LAYOUTS
class TestFields:
    def test_read(self, dtype):
        both(
            lambda xp, a: (xp.sqrt(a["x"] * a["x"]) + a["id"], a["x"].sum(), a["id"][2]),
            lambda: filled(dtype),
        )

    def test_write_in_place(self, dtype):
        def body(xp, a):
            a["x"] += 1
            a["x"] *= a["id"]
            a["id"] -= 1
            x = a["x"]
            x -= 0.5
            x[1] = 9
            x[2:4] = [5, 6]
            x[a["id"] > 2] = -1
            x[[0, 5]] += 2
            return x.copy()

        both(body, lambda: filled(dtype))

    def test_assign(self, dtype):
        def body(xp, a):
            a["x"] = 3
            a["id"] = xp.arange(6) * 2
            a["x"][::2] = a["id"][::2]
            a[1:3]["x"] = 7
            a["x"][...] += a["x"][::-1]

        both(body, lambda: filled(dtype))

    def test_a_view_sees_all_writes(self, dtype):
        def body(xp, a):
            x, again = a["x"], a[1:]["x"]
            a[2] = filled(dtype)[5]
            x += 10
            again[0] = -4
            host = np.asarray(a)
            x *= 2
            host["x"][3] = 77
            seen = [float(v) for v in x]
            a["x"][4] = -8
            return seen, host["x"].tolist(), xp.sum(x * 1), again.copy()

        both(body, lambda: filled(dtype))

    def test_pending_work_is_seen(self, dtype):
        a = un.asarray(filled(dtype))
        expected = filled(dtype)["x"]
        x = a["x"]
        for k in range(5):
            x += k
            x *= 2
            expected = (expected + k) * 2
        assert a[3]["x"] == expected[3]
        x += 1
        assert a.tolist()[2][dtype.names.index("x")] == expected[2] + 1
        x += 1
        assert (np.asarray(a)["x"] == expected + 2).all()
        b = a.copy()
        x += 1
        assert b["x"].tolist() == (expected + 2).tolist()

    def test_numpys_own_array_is_shared_where_asked(self, dtype):
        theirs = filled(dtype)
        mine = un.asarray(theirs, copy=False)
        mine["x"][0] = 99
        theirs["id"][1] = 55
        assert theirs["x"][0] == 99 and mine["id"][1] == 55
        apart = un.asarray(theirs)
        apart["x"] += 1
        assert theirs["x"][0] == 99
        back = un.asarray(np.asarray(apart))
        back["x"][0] = 1
        assert apart["x"][0] == 1

    def test_read_only(self, dtype):
        theirs = filled(dtype)
        theirs.flags.writeable = False
        mine = un.asarray(theirs, copy=False)
        for write in (
            lambda: mine.__setitem__("x", 1),
            lambda: mine["x"].__setitem__(0, 1),
            lambda: mine["id"].__iadd__(1),
            lambda: mine.__setitem__(0, mine[1]),
        ):
            with pytest.raises(ValueError, match="read-only"):
                write()

    def test_functions(self, dtype):
        both(
            lambda xp, a: (xp.sort(a["x"]), xp.where(a["id"] > 1, a["x"], 0), xp.exp(a["x"])),
            lambda: filled(dtype),
        )
        both(
            lambda xp, a: (xp.concatenate([a["x"], a["x"]]), a["x"].mean(), a["x"].max()),
            lambda: filled(dtype),
        )
        both(
            lambda xp, a: (3 - a["x"], a["x"] / 2, -a["x"], a["id"] // 2, a["x"] < 1),
            lambda: filled(dtype),
        )


@LAYOUTS
class TestRecords:
    def test_indexing(self, dtype):
        def body(xp, a):
            index = xp.asarray([5, 0, 0])
            made = [
                a[1:4],
                a[::-2],
                a[a["id"] > 1],
                a[[0, 3]],
                a[index],
                a[None, :2],
                a[..., 1:2],
                a[()],
            ]
            return made, a[3].item(), a[-1]["x"], a[["id", "x"]].tolist()

        both(body, lambda: filled(dtype))

    def test_assignment(self, dtype):
        def body(xp, a):
            a[0] = a[5]
            a[1:3] = a[3:5]
            a[a["id"] == 9] = a[2]
            a[[4, 5]] = a[[5, 4]]
            record = a[3]
            record["x"] = 40
            a[["x", "id"]] = (1, 2)

        both(body, lambda: filled(dtype))

    def test_moves(self, dtype):
        def body(xp, a):
            made = [
                a.copy(),
                a.reshape(2, 3),
                a.reshape(2, 3).T,
                a.ravel(),
                xp.concatenate([a, a[:2]]),
            ]
            made += [
                xp.stack([a, a]),
                xp.flip(a),
                xp.roll(a, 2),
                xp.take(a, [1, 1]),
                xp.repeat(a, 2),
                xp.tile(a, 2),
            ]
            made += [
                xp.sort(a, order=["id", "x"]),
                xp.argsort(a, order="id", kind="stable"),
                a.argsort(order="x"),
            ]
            return [
                *made,
                xp.unique(a),
                a == a[::-1],
                a != a[0],
                len(a),
                xp.array_equal(a, a.copy()),
            ]

        both(body, lambda: filled(dtype))

    def test_views_of_views(self, dtype):
        def body(xp, a):
            b = a.reshape(2, 3)
            b["x"][1] = 7
            b.T["id"][0] += 100
            b[:, 1]["x"] = [3, 4]
            a.sort(order="x")

        both(body, lambda: filled(dtype))

    def test_iteration(self, dtype):
        def body(xp, a):
            for record in a:
                record["x"] += 1
            for row in a.reshape(3, 2):
                row["id"] += 1
            return [r["id"] for r in a]

        both(body, lambda: filled(dtype))

    def test_text(self, dtype):
        a = filled(dtype)
        assert repr(un.asarray(a)) == repr(a) and str(un.asarray(a)) == str(a)

    def test_exchange(self, dtype):
        a = filled(dtype)
        mine = un.asarray(a)
        check(pickle.loads(pickle.dumps(mine)), a)
        check(copy.deepcopy(mine), a)
        assert len(mine.tobytes()) == a.nbytes and bytes(mine.data) == mine.tobytes()
        with pytest.raises(BufferError, match="use .data"):
            memoryview(mine)
        file = io.BytesIO()
        file.write(mine)
        assert file.getvalue() == mine.tobytes()
        file = io.BytesIO()
        un.save(file, mine)
        file.seek(0)
        check(un.load(file), a)
        file = io.BytesIO()
        un.savez(file, a=mine)
        file.seek(0)
        check(un.load(file)["a"], a)
        check(np.concatenate([mine, a]), np.concatenate([a, a]))
        wider = [(name, dtype[name] if name == "z" else "f4") for name in dtype.names]
        check(mine.astype(wider), a.astype(wider))

    @pytest.mark.parametrize(
        "operation",
        [
            lambda a: a + 1,
            lambda a: 1 - a,
            lambda a: un.ones(6) * a,
            lambda a: un.exp(a),
            lambda a: a.sum(),
            lambda a: un.mean(a),
            lambda a: a < a,
            lambda a: -a,
            lambda a: un.asarray(a, dtype="f8"),
            lambda a: np.add(a, 1),
            lambda a: un.cumsum(a),
            lambda a: a.__iadd__(1),
        ],
    )
    def test_no_arithmetic(self, dtype, operation):
        with pytest.raises(TypeError, match="take a field"):
            operation(un.asarray(filled(dtype)))

    def test_compiled(self, dtype):
        def body(a):
            s = 0.0
            for i in range(len(a)):
                s += a[i]["x"] * a["id"][i]
                a[i]["id"] = i
                a["x"][i] += 0.5
            return s

        for decorator in (un.jit, un.njit):
            theirs, mine = filled(dtype), un.asarray(filled(dtype))
            x = mine["x"]
            x += 1
            theirs["x"] += 1
            assert decorator(body)(mine) == body(theirs)
            check(mine, theirs)
        assert un.jit(lambda a: a)(mine) is mine


def test_nested_records_and_subarrays():
    def body(xp, a):
        a["v"][:, 1] = xp.arange(4.0)
        a["v"] *= 2
        a["p"]["x"] = 3
        a["p"]["y"] += a["v"].sum(axis=1)
        a["m"][2] += 5
        a[1]["v"][0] = -1
        a["p"][3] = (8, 9)
        return a["v"] + 1, a["m"].copy(), a["p"], a["v"].shape, a[["k", "m"]]["m"].copy()

    for dtype in (NESTED, np.dtype(NESTED.descr, align=True)):
        both(body, lambda dtype=dtype: np.zeros(4, dtype))


def test_fields_of_text_and_dates_are_numpys_views():
    a = un.zeros(2, dtype=[("name", "U4"), ("when", "M8[D]"), ("big", ">f8")])
    a["name"][0] = "ab"
    a["when"] = np.datetime64("2020-01-02")
    a["big"] += 2
    assert a[0].item()[0] == "ab" and a["big"].tolist() == [2, 2]
    assert type(a["name"]) is np.ndarray and str(a["when"][1]) == "2020-01-02"


def test_fields_of_aligned_records_are_our_arrays_and_lazy():
    a = un.zeros(1000, dtype=ALIGNED)
    x = a["x"]
    assert type(x) is un.ndarray and type(a["id"]) is un.ndarray and x.strides == (16,)
    x += 1
    x *= 3
    assert "pending" in un.explain(x)
    assert isinstance(un.zeros(3, dtype=PACKED), un.ndarray)


def test_unaligned_fields_alias_or_refuse_writes():
    a = un.zeros(4, dtype=PACKED)
    x = a["x"]
    x.fill(3)
    x[::-1].sort()
    x.T[0] = 1
    assert a["x"].tolist() == [1, 3, 3, 3]
    with pytest.raises(ValueError, match="read-only"):
        x.reshape(2, 2)[0, 0] = 5
    with pytest.raises(ValueError, match="not aligned"):
        un.asarray(x, copy=False)
    np.asarray(x)[1] = 7
    assert x[1] == 7 and pickle.loads(pickle.dumps(x)).tolist() == [1, 7, 3, 3]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: un.add.at(x, [0], 1),
        lambda x: un.nan_to_num(x, copy=False),
        lambda x: un.random.default_rng(0).shuffle(x),
        lambda x: un.lib.stride_tricks.as_strided(x, (2,), (16,)).__setitem__(0, 9),
        lambda x: un.put(x, [0], 9),
        lambda x: un.copyto(x, 9),
        lambda x: un.add(x, 1, out=x),
        lambda x: x.flat.__setitem__(0, 9),
        lambda x: x.ravel().__setitem__(0, 9),
        lambda x: setattr(x, "real", 9),
        lambda x: x.ctypes.data_as(
            __import__("ctypes").POINTER(__import__("ctypes").c_double)
        ).__setitem__(0, 9),
        lambda x: un.asarray(x, copy=None, order="C") is x or un.cumsum(x, out=x),
    ],
)
def test_no_write_to_an_unaligned_field_is_lost(write):
    """A function that writes into its argument does so, or refuses."""
    a = un.zeros(4, dtype=PACKED)
    a["x"] = [float("nan"), 3, 2, 1]
    before = a.tobytes()
    try:
        write(a["x"])
    except (TypeError, ValueError, AttributeError):
        assert a.tobytes() == before
    else:
        assert a.tobytes() != before


def test_strides_of_unaligned_fields_are_refused():
    a = un.zeros(4, dtype=PACKED)
    for x in (a, a["x"]):
        with pytest.raises(TypeError, match=r"use np\.asarray"):
            un.lib.stride_tricks.as_strided(x, (2,), (24,))


def test_one_record_is_shared_with_numpy():
    for shape in ((), (1,), (0,), (0, 3)):
        for dtype in (PACKED, ALIGNED, TIGHT, NESTED):
            a = un.zeros(shape, dtype=dtype)
            host = np.asarray(a)
            assert host.shape == shape and host.dtype == dtype
            assert host.dtype.isalignedstruct == dtype.isalignedstruct
            check(un.asarray(host.copy(), copy=False), host)
            if dtype is not NESTED:
                a["x"] += 3
                assert host["x"].tolist() == a["x"].tolist()


def test_packed_fields_in_compiled_functions_need_a_copy():
    a = un.zeros(3, dtype=PACKED)
    with pytest.raises(BufferError, match="np.asarray"):
        un.jit(lambda x: x[0])(a["x"])
    assert un.jit(lambda x: x[0])(a["x"].copy()) == 0


def test_errors():
    a = un.zeros(3, dtype=PACKED)
    with pytest.raises(ValueError, match="no field of name y; expected one of x, id"):
        a["y"]
    with pytest.raises(IndexError, match="out of bounds"):
        a[3]
    with pytest.raises(IndexError, match="too many indices"):
        a[0, 0]


@pytest.mark.parametrize("align", [True, False])
def test_views_of_a_field_are_new_and_follow_the_flag(align):
    a = un.zeros(5, dtype=np.dtype([("c", "i1"), ("x", "f8")], align=align))
    first, second = a["x"], a["x"]
    assert first is not second
    first[0] = 3.0
    assert second[0] == 3.0 and a["x"][0] == 3.0
    a.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        a["x"][1] = 1.0
    a.setflags(write=True)
    a["x"][1] = 1.0
    assert a["x"].tolist() == [3.0, 1.0, 0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="no field of name z; expected one of c, x"):
        a["z"]
