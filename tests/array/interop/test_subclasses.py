"""Classes that derive from the array: results are of the class, and NumPy's hooks are called as NumPy calls them."""

import copy
import pickle

import numpy as np
import pytest
import unisono as un

both = pytest.mark.parametrize("xp", [np, un], ids=["numpy", "unisono"])


def tagged(xp):
    """NumPy's example of an attribute that goes with the array."""

    class Tagged(xp.ndarray):
        def __new__(cls, data, tag=None):
            made = xp.asarray(data).view(cls)
            made.tag = tag
            return made

        def __array_finalize__(self, obj):
            if obj is not None:
                self.tag = getattr(obj, "tag", None)

    return Tagged


RESULTS = """
a + 1; 1 + a; a + b; plain + a; a + plain; -a; abs(a); a ** 2; 2 ** a; a % 2; a // 2; a > 1; a == b; ~(a > 1);
divmod(a, 2)[1]; a @ a.T; a[0]; a[:, 1:]; a[None]; a[[0, 1]]; a[a > 1]; next(iter(a)); a.T; a.reshape(3, 2); a.copy();
a.astype("f4"); a.ravel(); a.flatten(); a.view(); a.real; a.imag; a.swapaxes(0, 1); a.squeeze(); a.take([0]);
a.repeat(2); a.conj(); a.clip(0, 1); a.diagonal(); a.sum(); a.sum(axis=0); a.min(); a.mean(axis=0); a.std(axis=0);
a.cumsum(axis=0); a.argsort(); a.dot(b.T); xp.sqrt(a); xp.add(a, plain); xp.add(plain, a); xp.maximum(a, 0);
xp.modf(a)[0]; xp.add.reduce(a); xp.isnan(a); xp.asanyarray(a); xp.asanyarray(a, dtype="f4"); xp.array(a, subok=True);
xp.zeros_like(a); xp.ones_like(a); xp.empty_like(a); xp.full_like(a, 3.0); xp.transpose(a); xp.diff(a); xp.flip(a);
xp.expand_dims(a, 0); xp.moveaxis(a, 0, 1); xp.broadcast_to(a, (2, 2, 3), subok=True); xp.take(a, [0]);
xp.broadcast_arrays(a, 1.0, subok=True)[0]; copy.copy(a); copy.deepcopy(a); xp.roll(a, 1); xp.sort(a); xp.cumsum(a, axis=0); xp.repeat(a, 2); xp.tile(a, 2); xp.unique(a);
xp.gradient(a)[0]; xp.atleast_2d(a); xp.nan_to_num(a); xp.delete(a, 0, 0); xp.insert(a, 0, 0.0, 0); xp.dot(a, b.T);
xp.median(a, axis=0); xp.percentile(a, 50, axis=0); xp.argmax(a, axis=0); xp.diag(a); xp.nanmean(a, axis=0); xp.inner(a, b)
"""
PLAIN = """
xp.asarray(a); xp.array(a); xp.copy(a); a.view(xp.ndarray); xp.zeros_like(a, subok=False); xp.broadcast_to(a, (2, 2, 3));
xp.where(a > 1, a, b); xp.concatenate([a, b]); a.nonzero()[0]
"""


def statements(text):
    return [s.strip() for s in text.replace("\n", " ").split(";")]


@both
@pytest.mark.parametrize("statement", statements(RESULTS))
def test_results_are_of_the_class(xp, statement):
    names = variables(xp)
    made = eval(statement, names)
    assert type(made) is names["Tagged"] and made.tag == "a"
    plain = variables(xp)
    plain["a"], plain["b"] = (xp.asarray(plain[k]) for k in "ab")
    if "empty" not in statement:
        np.testing.assert_array_equal(np.asarray(made), np.asarray(eval(statement, plain)))


@both
@pytest.mark.parametrize("statement", statements(PLAIN))
def test_results_are_plain(xp, statement):
    assert type(eval(statement, variables(xp))) is xp.ndarray


def variables(xp):
    kind = tagged(xp)
    a = kind(xp.arange(6.0).reshape(2, 3), "a")
    return {
        "xp": xp, "copy": copy, "Tagged": kind, "a": a, "b": kind(xp.ones((2, 3)), "b"), "plain": xp.ones((2, 3)),
    }  # fmt: skip


@both
def test_numbers_and_updates(xp):
    kind = tagged(xp)
    a = kind(xp.arange(3.0), "a")
    assert not isinstance(a[1], kind) and a[1] == 1
    before = a
    a += 1
    a[0] = 7
    assert a is before and a.tag == "a" and a.tolist() == [7, 2, 3]
    plain = xp.ones(3)
    plain += a
    assert type(plain) is xp.ndarray and plain.tolist() == [8, 3, 4]
    out = kind(xp.zeros(3), "out")
    assert xp.add(a, 1, out=out) is out and out.tag == "out" and out.tolist() == [8, 3, 4]
    assert xp.add(plain, 1, out) is out and xp.add(a, 1, out=plain) is plain


@both
def test_finalize_sees_where_an_array_comes_from(xp):
    seen = []

    class Watched(xp.ndarray):
        def __array_finalize__(self, obj):
            seen.append(type(obj))

    Watched((2,))
    a = xp.zeros(3).view(Watched)
    a[1:]
    assert seen == [type(None), xp.ndarray, Watched]


@both
def test_methods_of_the_parent_give_the_class(xp):
    class Checked(xp.ndarray):
        def __getitem__(self, key):
            made = super().__getitem__(key)
            if isinstance(made, Checked):
                made.key = key
            return made

        def mean(self, *args, **options):
            return super().mean(*args, **options) + 1

    a = xp.arange(6.0).reshape(2, 3).view(Checked)
    assert a[1].key == 1 and a[1, 2] == 5
    assert type(a.mean(axis=0)) is Checked and a.mean(axis=0).tolist() == [2.5, 3.5, 4.5]

    class Further(Checked):
        pass

    assert type(a.view(Further)[0] + 1) is Further


@both
def test_priority_decides_between_two_classes(xp):
    class Low(xp.ndarray):
        __array_priority__ = 1.0

    class High(xp.ndarray):
        __array_priority__ = 2.0

    low, high = xp.ones(2).view(Low), xp.ones(2).view(High)
    for made in (low + high, high + low, xp.multiply(low, high), xp.multiply(high, low)):
        assert type(made) is High


@both
def test_array_wrap_gets_results_of_functions(xp):
    calls = []

    class Wrapped(xp.ndarray):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            calls.append((context[0], len(context[1]), context[2]))
            return "wrapped"

    a = xp.arange(3.0).view(Wrapped)
    assert xp.sqrt(a) == "wrapped" and xp.add(a, 1) == "wrapped" and a * 2 == "wrapped"
    assert calls == [(xp.sqrt, 1, 0), (xp.add, 2, 0), (xp.multiply, 2, 0)]


def labelled(xp):
    """A class that computes some functions, and all methods of elementwise functions, itself."""
    known = {}

    class Labelled(xp.ndarray):
        calls = []

        def __new__(cls, data, label):
            made = xp.asarray(data).view(cls)
            made.label = label
            return made

        def __array_finalize__(self, obj):
            if obj is not None:
                self.label = getattr(obj, "label", None)

        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
            self.calls.append((ufunc.__name__, method, options.get("axis", "none")))
            inputs = [x.view(xp.ndarray) if isinstance(x, Labelled) else x for x in inputs]
            if out:
                options["out"] = tuple(x.view(xp.ndarray) for x in out)
            made = super().__array_ufunc__(ufunc, method, *inputs, **options)
            return None if method == "at" else Labelled(xp.asarray(made), "ufunc")

        def __array_function__(self, function, types, args, options):
            if function not in known:
                return super().__array_function__(function, types, args, options)
            assert types == (Labelled,) or types == (Labelled, xp.ndarray)
            return known[function](*args, **options)

    def of(function, label):
        def plain(x):
            return [xp.asarray(i) for i in x] if isinstance(x, list) else xp.asarray(x)

        known[function] = lambda a, *more, **options: Labelled(
            function(plain(a), *more, **options), label
        )

    of(xp.concatenate, "concatenate")
    of(xp.reshape, "reshape")
    of(xp.linalg.inv, "inv")
    of(xp.fft.fft, "fft")
    known[xp.where] = lambda *args: "where"
    known[xp.einsum] = lambda *args, **options: "einsum"
    return Labelled


@both
def test_classes_compute_functions(xp):
    kind = labelled(xp)
    a, b = kind(xp.eye(2), "a"), xp.ones((2, 2))
    for made, label in [
        (xp.concatenate([a, b]), "concatenate"),
        (xp.concatenate([b, a], axis=1), "concatenate"),
        (xp.stack([a, a]), "concatenate"),
        (xp.vstack([a, a]), "concatenate"),
        (xp.reshape(a, (4,)), "reshape"),
        (xp.reshape(a, shape=(4,)), "reshape"),
        (xp.linalg.inv(a), "inv"),
        (xp.fft.fft(a), "fft"),
        (xp.sum(a), "ufunc"),
        (xp.transpose(a), "a"),
        (xp.sort(a), "a"),
    ]:
        assert type(made) is kind and made.label == label
    assert xp.where(a > 0, a, b) == "where" and xp.einsum("ij->j", a) == "einsum"
    assert type(xp.asarray(a)) is xp.ndarray and xp.shape(a) == (2, 2)
    assert type(xp.concatenate([b, b])) is xp.ndarray


@both
def test_classes_that_decline_functions(xp):
    class Declines(xp.ndarray):
        def __array_function__(self, function, types, args, options):
            return NotImplemented

    class Answers(Declines):
        def __array_function__(self, function, types, args, options):
            return function.__name__

    a = xp.arange(3.0).view(Declines)
    with pytest.raises(TypeError, match="no implementation found for '.*reshape'"):
        xp.reshape(a, (3, 1))
    with pytest.raises(TypeError, match="concatenate"):
        xp.concatenate([a, a])
    assert xp.concatenate([a, a.view(Answers)]) == "concatenate"  # the subclass comes first
    assert xp.concatenate([a, xp.zeros(1)]).tolist() == [
        0,
        1,
        2,
        0,
    ]  # the array's own class is asked last


@both
def test_classes_compute_methods_of_functions(xp):
    kind = labelled(xp)
    a = kind(xp.asarray([[1.0, 2.0], [3.0, 4.0]]), "a")
    for call, expected, values in [
        (lambda: a.sum(axis=0), ("add", "reduce", 0), [4, 6]),
        (lambda: a.prod(), ("multiply", "reduce", None), 24),
        (lambda: a.max(1), ("maximum", "reduce", 1), [2, 4]),
        (lambda: a.min(axis=1, keepdims=True), ("minimum", "reduce", 1), [[1], [3]]),
        (lambda: a.any(), ("logical_or", "reduce", None), True),
        (lambda: a.all(axis=0), ("logical_and", "reduce", 0), [True, True]),
        (lambda: xp.add.reduce(a, 1), ("add", "reduce", 1), [3, 7]),
        (lambda: xp.add.accumulate(a, axis=1), ("add", "accumulate", 1), [[1, 3], [3, 7]]),
        (lambda: xp.add.reduceat(a, [0]), ("add", "reduceat", "none"), [[4, 6]]),
        (lambda: xp.multiply.outer(a[0], [2.0]), ("multiply", "outer", "none"), [[2], [4]]),
        (lambda: xp.matmul(a, a), ("matmul", "__call__", "none"), [[7, 10], [15, 22]]),
    ]:
        kind.calls.clear()
        made = call()
        assert kind.calls == [expected], expected
        assert type(made) is kind and made.label == "ufunc" and made.tolist() == values
    assert xp.add.at(a, ([0], [0]), 1.0) is None and a.tolist() == [[2, 2], [3, 4]]
    assert kind.calls[-1][:2] == ("add", "at")
    assert a.mean().label == "ufunc" and a.mean().tolist() == 2.75
    kind.calls.clear()
    assert xp.dot(a, a).label == a.dot(a).label == "a" and not kind.calls


@both
def test_arrays_decline_what_others_compute(xp):
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return "other"

    a, other = xp.arange(3.0), Other()
    assert a.__array_ufunc__(xp.add, "__call__", a, other) is NotImplemented
    assert xp.add(a, other) == "other"


@both
def test_text_names_the_class(xp):
    class Short(xp.ndarray):
        pass

    class AClassWithALongName(xp.ndarray):
        pass

    a = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert repr(a[0].view(Short)) == "Short([1., 2.])"
    indent = " " * len("AClassWithALongName(")
    assert (
        repr(a.view(AClassWithALongName)) == f"AClassWithALongName([[1., 2.],\n{indent} [3., 4.]])"
    )


@both
def test_array_ufunc_takes_the_place_of_functions(xp):
    class Logged(xp.ndarray):
        log = []

        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
            self.log.append((ufunc.__name__, method))
            inputs = [x.view(xp.ndarray) if isinstance(x, Logged) else x for x in inputs]
            if out is not None:
                options["out"] = tuple(
                    x.view(xp.ndarray) if isinstance(x, Logged) else x for x in out
                )
            made = super().__array_ufunc__(ufunc, method, *inputs, **options)
            return out[0] if out is not None else xp.asarray(made).view(Logged)

    a = xp.arange(3.0).view(Logged)
    made = xp.exp(a * 2 + 1)
    assert type(made) is Logged and Logged.log == [
        ("multiply", "__call__"),
        ("add", "__call__"),
        ("exp", "__call__"),
    ]
    a += 1
    assert type(a) is Logged and a.tolist() == [1, 2, 3] and Logged.log[-1] == ("add", "__call__")

    class Refusing(xp.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return NotImplemented

    with pytest.raises(TypeError, match="NotImplemented from|returned NotImplemented|unsupported"):
        xp.add(xp.ones(2).view(Refusing), 1)


class Kept(un.ndarray):
    """At the top of the module, for pickle; its attribute goes with it."""

    note = None

    def __reduce__(self):
        make, args, state = super().__reduce__()
        return make, args, (*state, self.note)

    def __setstate__(self, state):
        super().__setstate__(state[:-1])
        self.note = state[-1]


def test_pickles_and_kernels():
    a = un.arange(3.0).view(Kept)
    a.note = "mine"
    again = pickle.loads(pickle.dumps(a))
    assert type(again) is Kept and again.note == "mine" and again.tolist() == [0, 1, 2]

    @un.jit
    def total(x):
        s = 0.0
        for v in x:
            s += v
        return s

    assert total(a) == 3.0
    np.testing.assert_array_equal(np.sin(a), np.sin([0.0, 1.0, 2.0]))
    assert type(np.sin(a)) is Kept


def test_statements_of_a_class_fuse():
    a = un.arange(100000.0).view(Kept)
    a[0]
    before = un.stats()["kernels_launched"]
    made = (a * 2 + 1) ** 2
    assert type(made) is Kept and float(made[3]) == 49
    assert un.stats()["kernels_launched"] == before + 1


class Length:
    """As a library of units has: a class of its own with NumPy's protocol."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if ufunc not in (np.add, np.sqrt) or method != "__call__":
            return NotImplemented
        inputs = [x.values if isinstance(x, Length) else x for x in inputs]
        return Length(ufunc(*inputs, **options))

    def cumsum(self, axis=None, dtype=None, out=None):
        return Length(np.cumsum(self.values, axis))


def test_functions_of_other_libraries_arrays():
    length = Length(np.arange(3.0))
    for made in (
        un.add(length, 1),
        un.add(un.ones(3), length),
        un.add(1.0, length),
        un.sqrt(length),
        un.cumsum(length),
    ):
        assert type(made) is Length
    assert np.asarray(un.add(un.ones(3), length).values).tolist() == [1, 2, 3]
    with pytest.raises(
        TypeError,
        match="multiply: operand type.* NotImplemented from __array_ufunc__; got Length, int",
    ):
        un.multiply(length, 2)
    assert type(un.sum(un.ones(3))) is not Length


@pytest.mark.parametrize(
    "statement",
    """xp.sqrt(s); xp.log(s) + 1; xp.add(1, s); xp.maximum(s, 2); xp.exp(df); xp.isnan(s); xp.cumsum(s); xp.round(s, 1);
    xp.clip(s, 0, 2); xp.sum(df, axis=0); xp.multiply(xp.ones(3), s); xp.log1p(s).rolling(2).mean(); xp.hypot(s, s);
    xp.mean(s); xp.argmax(s); xp.transpose(df); xp.dot(df, xp.ones(2)); xp.logical_and(s > 1, s < 9)""".replace(
        "\n", " "
    ).split(";"),
)
def test_columns_of_pandas_stay_columns(statement):
    pd = pytest.importorskip("pandas")
    s = pd.Series([1.0, 4.0, 9.0], index=list("abc"), name="x")
    df = pd.DataFrame({"x": [1.0, 4.0], "y": [9.0, 16.0]})
    ours, theirs = (eval(statement.strip(), {"xp": xp, "s": s, "df": df}) for xp in (un, np))
    assert (
        un.shape(pd.DataFrame({"text": ["a", "b"]})) == (2, 1)
        and un.ndim(df) == 2
        and un.size(df, 0) == 2
    )
    if isinstance(theirs, (pd.Series, pd.DataFrame)):
        assert type(ours) is type(theirs) and ours.equals(theirs)
    else:
        np.testing.assert_array_equal(np.asarray(ours), theirs)
        assert isinstance(ours, (un.number, un.ndarray))


def test_memory_maps_and_masked_arrays_are_arrays_for_functions(tmp_path):
    mapped = np.memmap(tmp_path / "numbers", dtype="float64", mode="w+", shape=3)
    mapped[:] = [1, 4, 9]
    assert type(un.sqrt(mapped)) is un.ndarray and un.sqrt(mapped).tolist() == [1, 2, 3]
    un.sqrt(un.asarray([4.0, 16.0, 25.0]), out=mapped)
    assert mapped.tolist() == [2, 4, 5]
    un.add(mapped, 1, out=mapped)
    assert mapped.tolist() == [3, 5, 6]


@pytest.mark.parametrize(
    "statement",
    "sqrt(s); abs(s); dot(s, s); multiply(s, 2); add(s, s); sum(s); mean(s); max(s); power(s, 2)".split(
        "; "
    ),
)
def test_sparse_matrices_compute_themselves(statement):
    sparse = pytest.importorskip("scipy.sparse")
    s = sparse.csr_matrix(np.eye(3) * 4)
    ours, theirs = (eval("xp." + statement, {"xp": xp, "s": s}) for xp in (un, np))
    if sparse.issparse(theirs):
        assert type(ours) is type(theirs) and (ours != theirs).nnz == 0
    else:
        np.testing.assert_array_equal(np.asarray(ours), theirs)


class Stored:
    """As a data set of a file has: NumPy's protocol and no operators."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(3.0)


@both
def test_objects_with_the_array_protocol_are_operands(xp):
    a, stored = xp.ones(3), Stored()
    assert (a + stored).tolist() == (stored + a).tolist() == [1, 2, 3]
    assert (a < stored).tolist() == [False, False, True] and (2**a * stored).tolist() == [0, 2, 4]
    assert (a**stored).tolist() == [1, 1, 1]
    assert a @ stored == stored @ a == 3
    a += stored
    assert type(a) is xp.ndarray and a.tolist() == [1, 2, 3]

    class Own(Stored):
        __array_priority__ = 1.0

        def __radd__(self, other):
            return "own"

    assert a + Own() == "own"
    with pytest.raises(TypeError):
        a + object()
