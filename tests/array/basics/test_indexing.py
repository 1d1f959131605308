"""Every form of indexing against NumPy: random expressions, read, assigned and updated in place."""

import numpy as np
import pytest
import unisono as un

pytestmark = pytest.mark.everywhere

SHAPES = [(), (0,), (1,), (5,), (3, 4), (4, 1), (0, 3), (2, 3, 4), (3, 0, 2), (2, 1, 3, 2)]
DTYPES = ["bool", "uint8", "int32", "int64", "float32", "float64"]


def numbers(shape, dtype):
    flat = np.arange(int(np.prod(shape))) * 7 % 101
    return (flat % 2 if dtype == "bool" else flat).reshape(shape).astype(dtype)


def both(call, theirs, ours):
    """Results of a call on either side, or the classes of what it raised."""
    results = []
    for side in (theirs, ours):
        try:
            results.append(call(side))
        except Exception as e:
            results.append(e)
    return results


def same(theirs, ours, text):
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{text}: NumPy raised {theirs!r}; got {ours}"
        known = (IndexError, ValueError, TypeError)
        assert [isinstance(ours, c) for c in known] == [isinstance(theirs, c) for c in known], (
            f"{text}: NumPy raised {theirs!r}; got {ours!r}"
        )
        return
    assert not isinstance(ours, Exception), f"{text}: raised {ours!r}"
    got = np.asarray(ours)
    assert got.shape == np.shape(theirs), f"{text}: shape {got.shape}, NumPy {np.shape(theirs)}"
    assert got.dtype == theirs.dtype, text
    np.testing.assert_array_equal(got, theirs, err_msg=text)


class Index:
    """Random index expressions over a shape: text that both sides evaluate, `ix` wraps index arrays."""

    def __init__(self, rng):
        self.rng = rng

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def slice(self, extent):
        bounds = [
            "" if self.rng.random() < 0.4 else str(int(self.rng.integers(-extent - 1, extent + 2)))
            for _ in range(2)
        ]
        return ":".join(bounds) + self.pick(["", "", ":2", ":-1", ":-2"])

    def integers(self, extent, shape):
        beyond = 1 if self.rng.random() < 0.04 else 0
        low, high = -extent - beyond, extent + beyond
        if high <= low:
            shape = (0,) if self.rng.random() < 0.8 else shape
            low, high = 0, 1
        values = self.rng.integers(low, high, shape).tolist()
        dtype = self.pick(["int64", "int64", "int32"])
        if self.rng.random() < 0.3 and np.size(values):
            return repr(values)
        return f"ix(np.array({values!r}, dtype='{dtype}').reshape({shape}))"

    def mask(self, shape):
        if self.rng.random() < 0.04 and shape:
            shape = (shape[0] + 1, *shape[1:])
        share = self.pick([0, 0.3, 0.5, 1])
        values = (self.rng.random(shape) < share).tolist()
        return f"ix(np.array({values!r}, dtype=bool).reshape({shape}))"

    def key(self, shape):
        common = self.pick([(), (2,), (3,), (2, 3), (1,), (2, 1), (0,)])
        items, axis = [], 0
        used = int(self.rng.integers(0, len(shape) + 1))
        while axis < used:
            kind = self.pick(["slice", "int", "array", "array", "array", "mask", "none", "bool"])
            extent = shape[axis]
            if kind == "slice":
                items.append(self.slice(extent))
            elif kind == "int":
                items.append(str(int(self.rng.integers(-extent, max(extent, 1)))))
            elif kind == "array":
                cut = int(self.rng.integers(len(common) + 1))
                own = tuple(e if self.rng.random() < 0.8 else 1 for e in common[cut:])
                items.append(self.integers(extent, own))
            elif kind == "mask":
                n = int(self.rng.integers(1, len(shape) - axis + 1))
                items.append(self.mask(shape[axis : axis + n]))
                axis += n - 1
            else:
                if self.rng.random() < 0.6:
                    items.append("None" if kind == "none" else self.pick(["True", "False"]))
                continue
            axis += 1
        if self.rng.random() < 0.25:
            at = int(self.rng.integers(len(items) + 1))
            if at == len(items) or axis == len(shape):
                items.insert(at, "...")
        if not items:
            return self.pick(["...", "()", "None", "True", "False", "ix(np.array(True))"])
        return ", ".join(items) + ("," if len(items) == 1 and self.rng.random() < 0.5 else "")


def view_of(x, how):
    if x.ndim == 0:
        return x
    return {"whole": x, "reversed": x[::-1], "transposed": x.T, "stepped": x[..., ::2]}[how]


def sides(shape, dtype, how):
    """A NumPy array and ours, with their namespaces for evaluation."""
    theirs = numbers(shape, dtype)
    ours = un.array(theirs.copy())
    return (
        {
            "a": view_of(theirs, how),
            "base": theirs,
            "np": np,
            "ix": lambda x: x,
            "new": lambda x: x,
        },
        {"a": view_of(ours, how), "base": ours, "np": np, "ix": un.asarray, "new": un.asarray},
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_reads(seed):
    rng = np.random.default_rng(seed)
    index = Index(rng)
    for _ in range(30):
        shape, dtype = index.pick(SHAPES), index.pick(DTYPES)
        how = index.pick(["whole", "reversed", "transposed", "stepped"])
        theirs, ours = sides(shape, dtype, how)
        if rng.random() < 0.5:
            ours["ix"] = lambda x: x
        text = f"a[{index.key(theirs['a'].shape)}]"
        expected, got = both(lambda side, text=text: eval(text, side), theirs, ours)
        same(expected, got, f"{shape} {dtype} {how}: {text}")


@pytest.mark.parametrize("seed", range(60))
def test_random_writes(seed):
    rng = np.random.default_rng(1000 + seed)
    index = Index(rng)
    for _ in range(30):
        shape, dtype = index.pick(SHAPES), index.pick(DTYPES)
        how = index.pick(["whole", "reversed", "transposed", "stepped"])
        theirs, ours = sides(shape, dtype, how)
        target = f"a[{index.key(theirs['a'].shape)}]"
        try:
            result = np.shape(eval(target, theirs))
        except IndexError:
            result = ()
        cut = int(rng.integers(len(result) + 1))
        value_shape = tuple(e if rng.random() < 0.8 else 1 for e in result[cut:])
        if rng.random() < 0.05:
            value_shape = (*value_shape, 7)
        if rng.random() < 0.1:
            value_shape = (1, *value_shape)
        value_dtype = index.pick(DTYPES[:-2] if dtype != "bool" else ["bool"])
        value = (np.arange(int(np.prod(value_shape))) % 50).reshape(value_shape).astype(value_dtype)
        text = index.pick(
            [f"{target} = 3", f"{target} = new(value)", f"{target} = new(value)", f"{target} += 1"]
        )
        if dtype == "bool":
            text = text.replace("+=", "|=").replace("= 3", "= True").replace("= 1", "= True")
        theirs["value"] = ours["value"] = value
        expected, got = both(lambda side, text=text: exec(text, side), theirs, ours)
        if expected is not None or got is not None:
            same(
                expected, got if got is not None else np.zeros(()), f"{shape} {dtype} {how}: {text}"
            )
        same(theirs["base"], ours["base"], f"{shape} {dtype} {how} {value_shape}: {text}")


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_large(threads, dtype):
    """Beyond one chunk of every parallel loop; equal places take the last value."""
    rng = np.random.default_rng(5)
    n = 300_001
    theirs = numbers((n,), dtype)
    index, mask = rng.integers(-n, n, n), rng.random(n) < 0.4
    values = numbers((n,), dtype)[::-1].copy()
    un.set_num_threads(threads)
    try:
        ours = un.array(theirs)
        same(theirs[index], ours[index], "a[index]")
        same(theirs[mask], ours[mask], "a[mask]")
        theirs[index] = values
        ours[index] = values
        same(theirs, ours, "a[index] = values")
        theirs[mask] = values[: mask.sum()]
        ours[mask] = values[: mask.sum()]
        same(theirs, ours, "a[mask] = values")
        rows, by_row = theirs[:-1].reshape(-1, 300), ours[:-1].reshape(-1, 300)
        few = rng.integers(0, rows.shape[1], 500)
        same(rows[:, few], by_row[:, few], "a[:, index]")
        many = rng.integers(0, rows.shape[0], 3000)
        same(rows[many], by_row[many], "a[index] of rows")
        rows[many], by_row[many] = rows[many - 1], by_row[many - 1]
        rows[:, few], by_row[:, few] = rows[:, few - 1], by_row[:, few - 1]
        same(rows, by_row, "rows assigned")
    finally:
        un.set_num_threads(2)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64", "complex128"])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.05, 0.3, 0.9, 0.999, 1.0])
def test_masks_of_any_density(dtype, share):
    rng = np.random.default_rng(8)
    for n in (1, 63, 64, 65, 200, 20_000):
        theirs, mask = numbers((n,), dtype), rng.random(n) < share
        mask[n // 3 : n // 3 + 70] = share > 0.4  # whole words
        ours = un.array(theirs)
        same(theirs[mask], ours[mask], f"{n}: a[mask]")
        same(np.nonzero(mask)[0], un.nonzero(un.asarray(mask))[0], f"{n}: nonzero")
        values = numbers((mask.sum(),), dtype)
        theirs[mask] = values
        ours[mask] = values
        same(theirs, ours, f"{n}: a[mask] = values")


def test_a_mask_and_a_number_fuse():
    u = un.arange(1000.0)
    un.eval(u)
    before = un.stats()["kernels_launched"]
    v = u * 2
    v[v > 500] = 500
    w = v + 1
    un.eval(w)
    assert un.stats()["kernels_launched"] - before == 1
    assert w[-1] == 501


def test_pending_work_is_seen():
    a = un.zeros(10)
    index = un.arange(10) // 2
    b = a + 1
    picked = b[index]
    b[index] = 7
    index += 1
    np.testing.assert_array_equal(picked, np.ones(10))
    np.testing.assert_array_equal(b, [7] * 5 + [1] * 5)


def test_indexing_by_itself():
    for dtype in (int, bool):
        theirs = (np.arange(8)[::-1] % 2 == 0) if dtype is bool else np.arange(8)[::-1].copy()
        ours = un.array(theirs)
        theirs[theirs] = theirs[theirs][::-1]
        ours[ours] = ours[ours][::-1]
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.host_only("shares memory with NumPy")
def test_shared_memory():
    x = np.arange(6.0)
    a = un.asarray(x, copy=False)
    a[a > 3] = 0
    a[[0, 0]] = [8, 9]
    np.testing.assert_array_equal(x, [9, 1, 2, 3, 0, 0])


def test_a_scalar_array_gives_a_copy():
    a = un.zeros((2, 3))
    row = a[np.array(0)]
    row[:] = 1
    assert a.sum() == 0


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (([0, 5],), "index 5 is out of bounds for axis 0 with size 3"),
        ((0, [0, -5]), "index -5 is out of bounds for axis 1 with size 4"),
        (([0, 1], [0, 1, 2]), r"shapes do not broadcast; got \(2,\) and \(3,\)"),
        (([[True, False]],), "boolean index did not match the indexed array along axis 0"),
        (([0.5],), "must be of integer or boolean dtype; got float64"),
        (([0], [0], [0]), r"too many indices; got 3 for an array of shape \(3, 4\)"),
        (("x",), "only integers, slices"),
    ],
)
def test_messages(key, message):
    a = un.zeros((3, 4))
    with pytest.raises(IndexError, match=message):
        a[key]
    with pytest.raises(IndexError, match=message):
        a[key] = 1
    assert not a.any()


@pytest.mark.parametrize("key", [[[1], slice(1, 2)], [slice(1), [[0]]]])
def test_lists_beside_other_elements_of_an_index(key):
    for xp in (np, un):
        a = xp.zeros((3, 4))
        with pytest.raises(ValueError, match="inhomogeneous shape after 1 dim"):
            a[key]
        with pytest.raises(ValueError, match="inhomogeneous shape after 1 dim"):
            a[key] = 1


def test_value_that_does_not_fit():
    a = un.zeros(4)
    with pytest.raises(
        ValueError, match=r"a value of shape \(3,\) could not be broadcast .* \(2,\)"
    ):
        a[[0, 1]] = [1, 2, 3]
    with pytest.raises(ValueError, match=r"could not be broadcast to .* \(4,\)"):
        a[a == 0] = [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        un.broadcast_to(a, (2, 4))[[0]] = 1
    with pytest.raises(ValueError, match="read-only"):
        un.broadcast_to(a, (2, 4))[5] = 1
    assert not a.any()


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float64"])
def test_rows_of_the_array_itself_are_put_into_it(dtype):
    a = np.arange(10).reshape(2, 5).astype(dtype)
    b = un.array(a)
    for x in (a, b):
        x.T[[1, 3, 2]] = x[1:, :3:2]
        x[:, [4, 0, 1]] = x[:1, 1:4]
    np.testing.assert_array_equal(np.asarray(b), a)
