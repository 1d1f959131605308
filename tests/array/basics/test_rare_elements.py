"""Elements, files, constructors and pickles that programs meet rarely: NumPy's results, or its own objects."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere


def test_memmap_is_a_class_that_flushes_and_knows_its_file(tmp_path):
    path = tmp_path / "x.bin"
    results = []
    for P in (np, un):
        x = P.memmap(path, "int32", "w+", shape=(2, 3))
        x[1] = [4, 5, 6]
        x.flush()
        x[:] += 1
        row, total, computed = x[1], x.sum(), x + 1
        results.append(
            (
                path.read_bytes(), x.filename == path.resolve(), x.offset, x.mode, isinstance(x, P.memmap),
                isinstance(row, P.memmap), row.filename == x.filename, type(computed) is P.ndarray,
                computed.tolist(), int(total), isinstance(total, P.ndarray), type(x[[0, 1]]) is P.ndarray,
                x.T.sum(axis=0).tolist(), type(x.mean(axis=0)) is P.ndarray,
            )
        )  # fmt: skip
        row[0] = 9  # a view
        assert np.fromfile(path, "int32")[3] == 9
        grown = P.memmap(path, "int32", "r+", shape=(4, 3))
        assert grown.shape == (4, 3) and path.stat().st_size == 48
        far = P.memmap(path, "uint8", "r+", offset=5000, shape=7)
        far[:] = 3
        far.flush()
        assert path.stat().st_size == 5007 and path.read_bytes()[5000:] == b"\3" * 7
    assert results[0] == results[1]


def test_memmap_of_other_elements_is_numpys(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(range(18)))
    for options in ({"dtype": ">i2"}, {"dtype": "int32", "offset": 2}):
        x = un.memmap(path, mode="r+", **options)
        assert type(x) is np.memmap
        assert x.tolist() == np.memmap(path, mode="r", **options).tolist()


def test_masks_of_nothing_put_nothing():
    for P in (np, un):
        a = P.zeros(0)
        P.putmask(a, P.zeros(0, "bool"), [1.0, 2.0])
        assert a.shape == (0,)


@pytest.mark.parametrize(
    "statement",
    [
        "P.insert(a, 0, 300)", "P.put(a, 0, 300)", "P.place(a, a > 1, 300)", "P.putmask(a, a > 1, [300])",
        "P.max(a, initial=300)", "P.fill_diagonal(P.ones((2, 2), 'i1'), 300)", "P.arange(300, 302, dtype='i1')",
        "P.arange(-1, 2, dtype='u1')", "P.r_[a, 300]", "P.add.reduce(P.ones(3, 'u8'), initial=-1)",
    ],
)  # fmt: skip
def test_integers_that_do_not_fit_are_refused_as_by_numpy(statement):
    for P in (np, un):
        with pytest.raises(OverflowError, match="out of bounds for"):
            eval(statement, {"P": P, "a": P.array([1, 2, 3], "i1")})


def test_integers_that_fit_are_stored_as_by_numpy():
    results = []
    for P in (np, un):
        a = P.array([1, 2, 3], "i1")
        P.put(a, [0], [-100])
        P.place(a, a > 2, [100])
        results.append(
            [
                a, P.insert(a, 1, [4, 5]), P.r_[a, 100], P.r_[P.ones(2, "f4"), 2.0], P.c_[a, [1, 2, 3]],
                P.arange(0, 300, 100, dtype="i1"), P.arange(0, 1, 300, dtype="i1"),
                P.sum(a, initial=300), P.linspace(P.float32(0), 1, 3), P.linspace([0, 1], 2, 3),
                P.linspace(P.ones(2, "f2"), 3, 2),
            ]
        )  # fmt: skip
    for ours, numpys in zip(results[1], results[0], strict=True):
        assert ours.tolist() == numpys.tolist() and ours.dtype == numpys.dtype


def test_dtypes_of_objects_with_alignment_and_metadata_are_numpys():
    fields = [("a", "u1"), ("b", un.float64)]
    assert un.dtype(fields, align=True) == np.dtype([("a", "u1"), ("b", "f8")], align=True)
    assert un.dtype([("f", "<f8"), ("i", "O")]) == np.dtype([("f", "<f8"), ("i", "O")])
    assert un.dtype("f4", align=True) is un.float32
    assert un.dtype("f4", metadata={"unit": "m"}).metadata == {"unit": "m"}
    assert un.zeros(2, un.dtype("f4", metadata={"unit": "m"})).dtype is un.float32
    assert un.float32.__name__ == np.float32.__name__


def test_no_class_derives_from_a_dtype():
    with pytest.raises(
        TypeError, match="un.float64: no class derives from it; derive from Python's number"
    ):

        class Length(un.float64):
            pass


def test_astype_with_same_value():
    assert un.asarray([1.0, 2.0]).astype("int32", casting="same_value").tolist() == [1, 2]
    assert un.asarray([1.0, np.nan]).astype("float32", casting="same_value").dtype == "float32"
    for values, to in (
        ([1.5], "int32"),
        ([300], "uint8"),
        ([-1], "uint64"),
        ([1e300], "float32"),
        ([2**60 + 1], "f8"),
    ):
        with pytest.raises(ValueError, match="casting='same_value' found values of"):
            un.asarray(values).astype(to, casting="same_value")
        with pytest.raises(ValueError):
            np.asarray(values).astype(to, casting="same_value")


def test_views_of_unaligned_elements_are_numpys_and_share_memory(device):
    if device != "cpu":
        with pytest.raises(ValueError, match="would not be aligned"):
            un.arange(24, dtype="u1", device=device)[1:17].view("u8")
    results = []
    for P, place in ((np, {}), (un, {"device": "cpu"})):
        x = P.arange(24, dtype="u1", **place)
        v = x[1:17].view("u8")
        v[0] = 0
        results.append((v.tolist(), x.tolist()))
    assert results[0] == results[1]
    with pytest.raises(ValueError, match="view: "):
        un.arange(24, dtype="u1", device="cpu")[1:8].view("u2")


def test_copies_by_the_copy_module_keep_the_layout():
    import copy

    for P in (np, un):
        x = P.ones((2, 3), order="F")
        assert copy.copy(x).flags.f_contiguous and copy.deepcopy(x).flags.f_contiguous


def test_like_names_our_arrays():
    for make in (un.zeros, un.ones, un.empty, un.arange, un.identity):
        assert isinstance(make(3, like=un.ones(1)), un.ndarray)


def test_letters_of_dtypes_are_numpys():
    assert un.typecodes == np.typecodes


@pytest.mark.parametrize(
    "made",
    [
        "P.zeros(2, '(2,4)i4')", "P.ones((), '(2,)f4')", "P.full(2, 3, P.dtype((float, (3,))))", "P.ndarray(2, 'S3')[:0]",
        "P.ndarray(2, object)", "P.ndarray(4, float, np.arange(4.), 24, -8)", "P.ndarray((2, 2), float, np.arange(4.), 8, (16, -8))",
        "P.ndarray(3, float, np.arange(6.), 0, 16)", "P.ndarray((0, 2), float, np.arange(4.), 8, (-16, 8))",
        "P.sort(P.array([(2, 3), (1, 4)], [('a', 'i4'), ('b', 'i4')]), order='b')['a']",
        "P.partition(P.array([(2, 3), (1, 4)], [('a', 'i4'), ('b', 'i4')]), 0, order='b')['a']",
    ],
)  # fmt: skip
def test_constructors_of_rare_elements_are_numpys(made):
    numpys, ours = (eval(made, {"P": P, "np": np}) for P in (np, un))
    assert (
        ours.tolist() == numpys.tolist()
        and ours.shape == numpys.shape
        and ours.dtype == numpys.dtype
    )


def test_constructor_over_memory_that_ends_before():
    for strides, offset in ((-8, 16), (8, 8), (-16, 24)):
        for P in (np, un):
            with pytest.raises((ValueError, TypeError)):
                P.ndarray(4, float, np.arange(4.0), offset, strides)


def test_pickles_leave_the_memory_out():
    import pickle

    for source in (
        un.arange(1000.0),
        un.ones((20, 30), "f4").T,
        un.zeros((2, 3, 4), "c16")[:, ::2],
        un.empty(0),
    ):
        apart = []
        data = pickle.dumps(source, 5, buffer_callback=apart.append)
        assert len(apart) == (source.size > 0) and len(data) < 300
        made = pickle.loads(data, buffers=apart)
        assert (
            type(made) is un.ndarray
            and made.dtype == source.dtype
            and made.tolist() == source.tolist()
        )
        if source.flags.c_contiguous and source.device == "cpu" and source.size:
            made[0] = 5
            assert source[0] == 5
        within = pickle.loads(pickle.dumps(source, 5))
        within[...] = 7
        assert within.shape == source.shape and (within == 7).all()
    readonly = un.arange(3)
    readonly.flags.writeable = False
    assert pickle.loads(pickle.dumps(readonly, 5)).tolist() == [0, 1, 2]
    assert pickle.loads(pickle.dumps(un.float32(1.5), 5)) == 1.5


def test_load_gives_objects_where_that_is_allowed(tmp_path):
    objects = np.array([{"a": 1}, None], dtype=object)
    np.save(tmp_path / "objects.npy", objects)
    un.arange(3).dump(tmp_path / "pickled")
    assert un.load(tmp_path / "objects.npy", allow_pickle=True).tolist() == objects.tolist()
    assert un.load(tmp_path / "pickled", allow_pickle=True).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="objects with allow_pickle=True"):
        un.load(tmp_path / "objects.npy")


def test_fromfile_of_elements_with_axes(tmp_path):
    np.arange(25, dtype="i4").tofile(tmp_path / "x")
    for count in (-1, 1):
        expected = np.fromfile(tmp_path / "x", "(3,4)i4", count)
        assert un.fromfile(tmp_path / "x", "(3,4)i4", count).tolist() == expected.tolist()


def test_numpys_assertions_take_records():
    records = un.array([(1, 2.0)], [("a", "i4"), ("b", "f8")])
    np.testing.assert_equal(records, records)
    with pytest.raises(AssertionError):
        np.testing.assert_equal(records, un.array([(2, 2.0)], [("a", "i4"), ("b", "f8")]))


@pytest.mark.parametrize(
    "statement",
    [
        "P.add(v, 1, out=v)", "P.sqrt(v, v)", "P.add.at(v, [1, 2, 1], 3)", "P.clip(v, 2, 3, out=v)", "P.add.accumulate(v, out=v)",
        "P.multiply.reduce(v, out=v[:1].reshape(()))", "P.add(v, 1, out=v, where=v > 2)", "P.copyto(v, 9)", "P.cumsum(v, out=v)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [">f4", ">f8", "f8"])
def test_numpys_arrays_are_written_in_place_in_any_byte_order(statement, dtype):
    results = []
    for P in (np, un):
        v = np.array([1.0, 2, 3, 4], dtype)
        eval(statement, {"P": P, "v": v})
        results.append((v.tolist(), v.dtype))
    assert results[0] == results[1]


def test_products_of_objects_conjugate():
    v = np.array([1.0, 2j, 3], dtype=object)
    assert un.vecdot(v, v) == np.vecdot(v, v)
    assert un.vecmat(v, np.eye(3)).tolist() == np.vecmat(v, np.eye(3)).tolist()


def test_dtypes_of_a_dtype_and_a_shape():
    for spec in ((float, ()), ("i4", ()), ("f4", (2,)), ("i4", [("a", "<i2"), ("b", "<i2")])):
        assert un.dtype(spec) == np.dtype(spec)
    assert un.dtype((un.float64, ())) is un.float64 and un.zeros(3, (float, ())).dtype is un.float64
