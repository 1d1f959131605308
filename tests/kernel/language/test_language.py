"""Python's richer forms in compiled functions, against the Python functions."""

import bisect
import math

import numpy as np
import pytest
import unisono as un
from differential import result_or_error
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

A = np.array([1.5, -2, 3, 0.25])
B = np.arange(3.0)
EMPTY = np.empty(0)


def same(got, want):
    assert isinstance(got, tuple) == isinstance(want, tuple)
    if isinstance(want, tuple):
        for g, w in zip(got, want, strict=True):
            same(g, w)
    else:
        assert got == want or (got != got and want != want)
        assert isinstance(got, bool) == isinstance(want, (bool, np.bool_))


def for_else(n, k):
    for i in range(n):
        if i == k:
            r = i * 10
            break
    else:
        r = -1
    return r


def for_else_target(n, k):
    for i in range(n):
        if i == k:
            break
    else:
        i = -1
    return i


def for_else_item(a, k):
    for i, x in enumerate(a):
        if x * i == k:
            break
    else:
        return -1, 0.0
    return i, x


def for_else_without_break(n):
    s = 0
    for i in range(n):
        s += i
    else:
        s += 100
    return s


def while_else(n):
    x = 0
    while x < n:
        x += 3
        if x == 9:
            break
    else:
        x = 100
    return x


def nested_else(n, k):
    found = 0
    for i in range(n):
        for j in range(i):
            if i * j == k:
                break
        else:
            continue
        found = i
        break
    return found


def enumerated(a):
    s = 0.0
    for i, x in enumerate(a, 2):
        s += i * x
    return s


def zipped(a, b):
    s = 0.0
    for i, (x, y) in enumerate(zip(a, b)):  # noqa: B905
        if i == 1:
            continue
        s += x * y
    return s


def backwards(a, n):
    s = 0.0
    w = 1
    for x in reversed(a):
        s = s * 0.5 + x
    for i in reversed(range(2, n, 3)):
        w = w * 7 % 1000 + i
    for i in reversed(range(n, 2, -2)):
        w = w * 7 % 1000 + i
    for i, j in zip(range(n), range(n, -n, -3)):  # noqa: B905
        w = w * 7 % 1000 + i * j
    return s, w


def elements(a):
    s = 0.0
    for x in a:
        s += x
    return s


def generators(a, n):
    return (
        sum(x * x for x in a),
        any(x > 2 for x in a),
        all(x < 2 for x in a),
        sum(i * j for i in range(n) for j in range(i) if (i + j) % 3 == 0),
        any(i * j == 6 for i in range(n) for j in range(i)),
        sum((float(x) for x in a), 0.5),
    )


def folds(a):
    return sum(a), min(a), max(a), any(a), all(a), sum((1, 2, 3)), min((3, 1)), max(2, 5, 1)


def matched(x):
    match x:
        case 1:
            return 10
        case 2 | 3:
            return 20
        case y if y > 100:
            return y
        case -1 if x < 0:
            return 7
        case _:
            return 0


def powers(x, n):
    return x**n, pow(x, n), x**3


def constant_powers(x):
    return x**2, x**-1, x**0.5


def rounding(x):
    return math.floor(x), math.ceil(x), math.trunc(x), divmod(x, 2)


def functions(x):
    return math.sqrt(x), math.exp(x), math.sin(x), math.fabs(x)


def quotients(a, b):
    return divmod(a, b)


CASES = [
    (for_else, 5, 2),
    (for_else, 5, 9),
    (for_else, 0, 0),
    (for_else_target, 5, 2),
    (for_else_target, 5, 9),
    (for_else_target, 0, 0),
    (for_else_item, np.arange(5.0), 9.0),
    (for_else_item, np.arange(5.0), 10.0),
    (for_else_without_break, 4),
    (while_else, 10),
    (while_else, 8),
    (nested_else, 9, 12),
    (nested_else, 9, 13),
    (enumerated, A),
    (zipped, A, B),
    (backwards, A, 11),
    (backwards, EMPTY, 2),
    (elements, A),
    (elements, EMPTY),
    (generators, A, 7),
    (folds, A),
    (folds, EMPTY),
    *((matched, x) for x in (-1, 1, 2, 3, 4, 101)),
    (powers, 3, 4),
    (powers, -2, 5),
    (powers, 7, 0),
    (constant_powers, 2.5),
    (constant_powers, 0.0),
    (rounding, -1.5),
    (rounding, math.nan),
    (functions, 0.5),
    (functions, -1.0),
    (functions, 1000.0),
    (functions, math.inf),
    (quotients, 7, 3),
    (quotients, 7, 0),
    (quotients, 7.5, -2),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_form(on, case):
    function, *args = case
    want = result_or_error(function, *args)
    got = result_or_error(un.jit(function, device=on), *args)
    if isinstance(want[0] if isinstance(want, tuple) else None, type):
        # CPython's words for min() and max() of nothing since 3.12.
        text = want[1].replace("iterable argument is empty", "arg is an empty sequence")
        assert got == (want[0], text)
        return
    same(got, want)


def test_negative_powers_of_integers(on):
    @un.jit(device=on)
    def power(x, n):
        return x**n

    assert power(2, 62) == 2**62 and power(3, 41) == (3**41 + 2**63) % 2**64 - 2**63
    with pytest.raises(ValueError, match="negative integer powers"):
        power(2, -1)


def test_powers_of_constants(on):
    @un.jit(device=on)
    def powers(n):
        return (-1) ** n, 2**n, 1**n, (-1.0) ** n

    for n in (0, 1, 2, 3, 61, 62):
        same(powers(n), ((-1) ** n, 2**n, 1, (-1.0) ** n))
    assert powers(63)[1] == -(2**63) and powers(64)[1] == powers(2**62 + 1)[1] == 0
    assert powers(2**53 + 1)[0] == -1 and powers(2**53 + 1)[3] == 1.0
    for dtype in (np.int8, np.int64):
        n = dtype(7)
        same(powers(n), ((-1) ** 7, 2**7 if dtype != np.int8 else -128, 1, -1.0))
    with pytest.raises(ValueError, match="negative integer powers"):
        powers(-1)

    @un.jit(device=on)
    def of_float(n):
        return (-1.0) ** n

    for n in (-1, -2, -(2**53), -(2**53) - 1, 2**63 - 1, np.uint64(2**64 - 1)):
        same(of_float(n), (-1.0) ** float(n))


def test_recursion(on):
    @un.jit(device=on)
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    @un.jit(device=on)
    def fibonacci(n):
        return fibonacci(n - 1) + fibonacci(n - 2) if n > 1 else n

    @un.jit(device=on)
    def halves(x, n):
        if n > 0:
            return 0.5 * halves(x, n - 1)
        return x

    assert factorial(15) == math.factorial(15)
    assert fibonacci(12) == 144
    assert halves(3, 4) == 3 / 16 and isinstance(halves(3, 0), float)
    if on == "cpu":  # the interpreter has a stack of its own
        with pytest.raises(RuntimeError, match="maximum recursion depth exceeded"):
            factorial(10**6)


@pytest.mark.parametrize("name", ["sqrt", "exp", "sin", "floor", "negative", "absolute", "maximum"])
def test_rows_of_the_table(on, name):
    ufunc, ours = getattr(np, name), getattr(un, name)

    if ufunc.nin == 1:

        def numpys(a, out):
            for i in range(len(a)):
                out[i] = ufunc(a[i])

        def unisonos(a, out):
            for i in range(len(a)):
                out[i] = ours(a[i])

    else:

        def numpys(a, out):
            for i in range(len(a)):
                out[i] = ufunc(a[i], 0.5)

        def unisonos(a, out):
            for i in range(len(a)):
                out[i] = ours(a[i], 0.5)

    a = np.array([0.0, 0.3, 1.7])
    want = np.array(
        [float(un.asarray(ours(un.array(x))) if ufunc.nin == 1 else max(x, 0.5)) for x in a]
    )
    for function in (numpys, unisonos):
        out = np.zeros(3)
        un.jit(function, device=on)(a, out)
        assert np.array_equal(out, want)


def test_dtypes_as_arguments(on):
    def inner(n, dt):
        return np.ones(n, dt)

    def f(a, dt):
        b = np.zeros(len(a), dt)
        for i in range(len(a)):
            b[i] = dt(a[i])
        return b + inner_jit(len(a), dt), b.dtype == dt, b.itemsize

    inner_jit = un.jit(inner, device=on)
    g = un.jit(f, device=on)
    a = np.array([1.5, 2.7])
    for dt in (np.float32, np.int64, np.dtype("float64"), np.uint8):
        theirs = f(a, dt if isinstance(dt, type) else dt.type)
        ours = g(a, dt)
        assert ours[0].dtype == theirs[0].dtype
        assert ours[0].tolist() == theirs[0].tolist()
        assert ours[1:] == theirs[1:]
    with pytest.raises(TypeError):
        g(a, np.str_)


def test_bit_length(on):
    def f(n):
        return n.bit_length(), (-n).bit_length(), (n >> 3).bit_length()

    g = un.jit(f, device=on)
    for n in (0, 1, 2, 3, 255, 256, 2**31, 2**62, 2**63 - 1, -7):
        assert g(n) == f(n)
    assert un.jit(digits_of_least, device=on)() == 64


def digits_of_least():
    n = -(2**62)
    return (n * 2).bit_length()


def test_places_in_sorted_sequences(on):
    def f(a, x):
        n = len(a)
        found = bisect.bisect_left(a, x), bisect.bisect_right(a, x), bisect.bisect(a, x, 1)
        return *found, bisect.bisect_left(a, x, lo=1, hi=n - 1), bisect.bisect_right(a, x, 0, None)

    def wrong(a):
        return bisect.bisect_left(a, 1, -1)

    g = un.jit(f, device=on)
    for x in (-1, 1, 2, 2.5, 9):
        for a in ([1, 2, 2, 2, 5], [1.5, 2.0], np.array([1, 2, 2, 4])):
            assert g(a, x) == f(a, x)
    assert g(["a", "b", "b", "d"], "b") == f(["a", "b", "b", "d"], "b")
    with pytest.raises(ValueError, match="lo must be non-negative"):
        un.jit(wrong, device=on)([1, 2])


def test_all_exceptions_of_python_without_arguments_of_their_own(on):
    def f(n):
        try:
            if n == 0:
                raise FileNotFoundError("file")
            if n == 1:
                raise UserWarning("careful")
            if n == 2:
                raise UnboundLocalError("name")
            raise TimeoutError("late")
        except NameError:
            return "name"
        except OSError as e:
            if n == 3:
                raise
            return f"{e}"

    g = un.jit(f, device=on)
    assert (g(0), g(2)) == (f(0), f(2)) == ("file", "name")
    with pytest.raises(UserWarning, match="careful"):
        g(1)
    with pytest.raises(TimeoutError, match="late"):
        g(3)


def test_characters_of_texts(on):
    def f(s):
        letters = list(s)
        letters.append("!")
        letters[0] = letters[0].upper()
        return letters, "".join(letters), len(list("")), sorted(list(s))

    g = un.jit(f, device=on)
    for s in ("hello", "ä€😀x", "a"):
        assert g(s) == f(s)


def test_repr(on):
    def f(n, x, s, d):
        y = None
        if n > 2:
            y = x
        shown = repr(n), repr(x), repr(s), repr((n, s)), repr(y), repr(n > 1), repr([x, x]), repr(d)
        return ", ".join(shown)

    g = un.jit(f, device=on)
    for n, s in ((1, "it's"), (3, 'a\n"b"')):
        d = {1: s, 2: "z"}
        assert g(n, 0.1 + n, s, d) == f(n, 0.1 + n, s, d)
