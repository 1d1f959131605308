"""pandas unpacks our arrays: each call gives what it gives of NumPy's, and its memory is NumPy's."""

import numpy as np
import pytest
import unisono as un

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.slow

floats = np.array([0.1, 0.7, 0.9, 0.7])
whole = np.array([3, 1, 3, 2])
chosen = np.array([True, False, True, True])


def frame():
    return pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [5, 6, 7, 8]})


def with_(key, value, place=lambda d: d.loc):
    made = frame()
    place(made)[key] = value
    return made


calls = {
    "df[v > c]": lambda v, k, m: frame()[v > 0.5],
    "df.loc[mask]": lambda v, k, m: frame().loc[m],
    "df.loc[mask, column] = number": lambda v, k, m: with_((m, "a"), 1),
    "df.loc[mask, column] = v": lambda v, k, m: with_((m, "a"), v[:3]),
    "df.loc[:, column] = v": lambda v, k, m: with_((slice(None), "a"), v),
    "df.loc[:, column] = integers": lambda v, k, m: with_((slice(None), "b"), k),
    "df.iloc[mask]": lambda v, k, m: frame().iloc[m],
    "df.iloc[k]": lambda v, k, m: frame().iloc[k],
    "df[column] = v": lambda v, k, m: with_("c", v, lambda d: d),
    "df[mask]": lambda v, k, m: frame()[m],
    "frame of a dict": lambda v, k, m: pd.DataFrame({"a": v, "b": k}, index=k),
    "assign": lambda v, k, m: frame().assign(z=v),
    "s[mask]": lambda v, k, m: pd.Series(floats)[m],
    "s + v": lambda v, k, m: pd.Series(v) + v,
    "v + s": lambda v, k, m: v + pd.Series(v),
    "isin": lambda v, k, m: pd.Series(floats).isin(v[:2]),
    "s.where": lambda v, k, m: pd.Series(floats).where(m, v * 2),
    "concat": lambda v, k, m: pd.concat([pd.Series(v), pd.Series(k)]),
    "map": lambda v, k, m: pd.Series(v).map(lambda x: x * 2),
    "groupby of a column": lambda v, k, m: frame().assign(k=k).groupby("k").mean(),
    "groupby": lambda v, k, m: frame().groupby(k).sum(),
    "groupby of two": lambda v, k, m: frame().groupby([k, v > 0.5])["b"].sum(),
    "groupby of a column and k": lambda v, k, m: frame().groupby(["a", k]).mean(),
    "groupby of a series": lambda v, k, m: frame()["a"].groupby(m).cumsum(),
    "groupby, each group": lambda v, k, m: pd.concat([g * n for n, g in frame().groupby(k)]),
    "set_index": lambda v, k, m: frame().set_index(k),
    "set_index of two": lambda v, k, m: frame().set_index(["a", k]),
    "df[mask] = number": lambda v, k, m: with_(m, 3, lambda d: d),
    "df.loc[mask] = number": lambda v, k, m: with_(m, 3),
    "df.iloc[k] = number": lambda v, k, m: with_(k, 3, lambda d: d.iloc),
    "pivot_table": lambda v, k, m: frame().pivot_table("a", index=k, columns="b"),
    "crosstab": lambda v, k, m: pd.crosstab(k, m),
    "replace": lambda v, k, m: pd.Series(whole).replace(k[:2], k[1:3]),
}


@pytest.mark.parametrize("call", calls.values(), ids=calls)
def test_frames_and_series(call):
    expected = call(floats, whole, chosen)
    made = call(un.asarray(floats), un.asarray(whole), un.asarray(chosen))
    assert all(type(block.values) is np.ndarray for block in made._mgr.blocks)
    same = pd.testing.assert_frame_equal if made.ndim == 2 else pd.testing.assert_series_equal
    same(made, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool", "complex128"])
def test_functions_of_pandas(dtype):
    a = np.array([3, 0, 3, 1]).astype(dtype)
    v = un.asarray(a)
    made = pd.unique(v)
    assert type(made) is np.ndarray and made.dtype == a.dtype
    assert made.tolist() == pd.unique(a).tolist()
    for mine, numpys in zip(pd.factorize(v), pd.factorize(a), strict=True):
        assert type(mine) is np.ndarray and mine.dtype == numpys.dtype
        assert mine.tolist() == numpys.tolist()
    assert pd.Index(v).equals(pd.Index(a))
    assert pd.isna(v).tolist() == [False] * 4


def test_cut():
    made, expected = pd.cut(un.asarray(floats), 3), pd.cut(floats, 3)
    assert made.equals(expected)


def test_to_numpy():
    x = un.arange(6.0).reshape(2, 3) * 1
    assert np.shares_memory(x.to_numpy(), np.asarray(x))
    assert not np.shares_memory(x.to_numpy(copy=True), np.asarray(x))
    assert x.to_numpy("int8").dtype == "int8" and x.T.to_numpy().tolist() == x.T.tolist()


def test_numbers_are_not_arrays_to_pandas():
    for dtype in ("float64", "float32"):
        v = un.asarray(floats, dtype=dtype)
        assert not hasattr(v[0], "_typ") and not hasattr(v[0], "_hasna")
        assert (pd.Series(floats) + v[0]).dtype == "float64"


def with_column(number, place=lambda d: d):
    made = frame()
    place(made)["c"] = number
    return made


of_numbers = {
    "column of truth values": lambda v: pd.Series([v[0] > 1, v[1] > 1]),
    "column of numbers": lambda v: pd.Series([None, v[0], v[1] * 2]),
    "frame of dicts": lambda v: pd.DataFrame([{"a": v.max(), "b": (v > 1).any()}, {"a": v[1]}]),
    "frame of rows": lambda v: pd.DataFrame([[v[0], v[0] > 1], [v[1], v[1] > 1]]),
    "frame of tuples": lambda v: pd.DataFrame.from_records([(v[0], 1), (v[1], 2)]),
    "series of a dict": lambda v: pd.Series({"a": v[0], "b": v[1]}),
    "index": lambda v: pd.Series([1, 2], index=pd.Index([v[0], v[1]])),
    "column of one number": lambda v: with_column(v.max()),
    "column of one truth value": lambda v: with_column(v[0] > 1),
    "one place": lambda v: with_((0, "c"), v[0]),
    "one place, then more": lambda v: with_((1, "b"), v[0]),
    "apply": lambda v: frame()["a"].apply(lambda x: v[0] * x),
    "map to truth values": lambda v: frame()["a"].map(lambda x: v[0] > x),
    "groups": lambda v: frame().groupby("b")["a"].agg(lambda s: v[0] > s.iloc[0]),
    "where": lambda v: frame()["a"].where([True, False, True, False], v[0]),
    "a list of truth values": lambda v: frame()[[x > 1 for x in (v[0], v[1], v[0], v[1])]],
    "to_numeric": lambda v: pd.to_numeric(pd.Series([v[0], v[1]], dtype=object)),
    "infer_objects": lambda v: pd.Series([v[0], v[1]], dtype=object).infer_objects(),
}


@pytest.mark.parametrize("dtype", ["float32", "int16", "float64"])
@pytest.mark.parametrize("call", of_numbers.values(), ids=of_numbers)
def test_numbers_in_lists_are_numpys(call, dtype):
    a = np.array([3, -2], dtype=dtype)
    made, expected = call(un.array(a)), call(a)
    same = pd.testing.assert_frame_equal if made.ndim == 2 else pd.testing.assert_series_equal
    same(made, expected)


def test_ufuncs_of_columns_write_into_our_arrays():
    column = pd.Series(floats)
    for xp in (np, un):
        out, mask = xp.zeros(4, dtype=bool), xp.asarray(chosen)
        made = xp.logical_and(mask, column > 0.5, out)
        assert made.tolist() == out.tolist() == [False, False, True, True]
        total = xp.zeros(4)
        xp.add(column, xp.asarray(floats), out=total)
        assert total.tolist() == (2 * floats).tolist()


def test_a_missing_number_is_missing():
    assert pd.isna(un.float32("nan")) is True and pd.isna(un.float32(1)) is False
    assert pd.isna(un.complex64(complex("nan"))) is True and pd.notna(un.int8(1)) is True


def test_what_pandas_takes_of_numpys_type_only_is_refused():
    v = un.asarray(floats)
    with pytest.raises(ValueError):
        pd.DataFrame(np.ones((2, 2))) + v.reshape(2, 2)
