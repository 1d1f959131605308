"""Variables, results, arguments and items that are None or a value, against the Python functions."""

import dataclasses

import numpy as np
import pytest
import unisono as un
from jit_devices import host_devices

pytestmark = pytest.mark.parametrize("on", host_devices())

A = np.array([1.5, -2, 3, 0.25])
B = np.arange(12.0).reshape(3, 4)


def plain(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


def outcome(function, args):
    args = [a.copy() if isinstance(a, (np.ndarray, list)) else a for a in args]
    try:
        value = function(*args)
    except Exception as error:
        return type(error), str(error)
    return plain(value), plain(args)


def least(a, low):
    best = None
    for x in a:
        if x > low and (best is None or x < best):
            best = x
    return best


def least_and_place(a, low):
    best = None
    at = None
    for i in range(len(a)):
        x = a[i]
        if x <= low:
            continue
        if best is None:
            best = x
            at = i
        elif x < best:
            best, at = x, i
    if at is None:
        return -1.0, -1
    return float(best), at


def last_pair(a, low):
    found = None
    for i in range(len(a)):
        if a[i] > low:
            found = (i, float(a[i]))
    if found is not None:
        i, x = found
        return i + x
    return found


def rebound_default(a, scale=None):
    if scale is None:
        scale = 2.0
    return float(a.sum() * scale)


def result_or_none(n):
    if n > 2:
        return n
    if n < 0:
        return None


def or_default(n):
    return (result_or_none(n) or 10) + (result_or_none(n + 3) or 20)


def in_conditional(n):
    x = result_or_none(n)
    y = x if x is not None else -1
    z = None if n == 5 else 1.5
    w = z + 1 if z is not None and z > 1 else 0.0
    return y, z, w


def compared(n):
    x = result_or_none(n)
    y = result_or_none(n - 1)
    return x == 3, x != 3, x == None, x != y, x == x, 3 == x, bool(x), not x  # noqa: E711


def missing_in_sum(n):
    x = result_or_none(n)
    return x + 1


def missing_on_the_right(n):
    x = result_or_none(n)
    return 2.5 * x


def missing_on_both_sides(n):
    x = result_or_none(n)
    return x - x


def missing_in_order(n):
    return result_or_none(n) < 4


def missing_in_augmented(n):
    x = result_or_none(n)
    x += 2
    return x


def missing_negated(n):
    return -result_or_none(n)


def found_row(a, n):
    row = None
    for i in range(a.shape[0]):
        if a[i, 0] == n:
            row = a[i]
            break
    return row


def row_or_zeros(a, n):
    row = found_row(a, n)
    if row is None:
        row = np.zeros(a.shape[1])
    row[0] += 1
    return row.sum()


def item_of_missing_row(a, n):
    row = found_row(a, n)
    return row[1]


def length_of_missing_row(a, n):
    return len(found_row(a, n))


def shape_of_missing_row(a, n):
    return found_row(a, n).shape


def sum_of_missing_row(a, n):
    s = 0.0
    for x in found_row(a, n):
        s += x
    return s


def unpacked_missing(n):
    pair = None
    if n > 1:
        pair = (n, 2 * n)
    a, b = pair
    return a + b


def text_or_none(n):
    name = None
    if n > 2:
        name = "more"
    elif n > 0:
        name = "some" + str(n)
    return name, f"{name}!", str(name), name == "more"


def shown(n):
    x = result_or_none(n)
    y = None if n < 4 else 2.5
    return f"{x} {y!r} {(x, y)}", str(x)


def passed_on(x):
    if x is None:
        return 0
    return x * 2


def passes_on(n):
    return passed_on(result_or_none(n)) + passed_on(None) + passed_on(4)


def early_return(n):
    x = result_or_none(n)
    if x is None:
        return -1
    s = 0
    for i in range(x):
        s += x * i
    return s


def walrus(n):
    total = 0
    while (x := result_or_none(n)) is not None:
        total += x
        n -= 1
    return total, n


def asserted(n):
    x = result_or_none(n)
    assert x is not None
    return x + 1


def not_none(n):
    x = result_or_none(n)
    if not (x is None or x > 5):
        return x
    return 100


def set_and_unset(a):
    start = None
    runs = 0
    longest = 0
    for i in range(len(a)):
        if a[i] > 0:
            if start is None:
                start = i
        elif start is not None:
            runs += 1
            longest = max(longest, i - start)
            start = None
    if start is not None:
        runs += 1
        longest = max(longest, len(a) - start)
    return runs, longest, start


def dict_get(d, k):
    x = d.get(k)
    if x is None:
        return -1.0, d.get(k) is None
    return x, False


def items_or_none(n):
    slots = [None] * n
    for i in range(0, n, 2):
        slots[i] = i * 1.5
    found = 0.0
    empty = 0
    for s in slots:
        if s is None:
            empty += 1
        else:
            found += s
    return slots, found, empty


def literal_with_none(n):
    a = [None, 1.5, n]
    a.append(None)
    a.append(2)
    d = {"a": None, "b": n}
    d["c"] = None
    return a, d, 1.5 in a, None in a


def given_list(items):
    s = 0.0
    for x in items:
        if x is not None:
            s += x
    items[0] = None
    return s, items


def list_or_none(n):
    out = None
    for i in range(n):
        if out is None:
            out = []
        out.append(i * 2.0)
    return out


def items_above(n):
    if n > 2:
        return [k * 1.5 for k in range(n)]


def sum_of_items(n):
    items = items_above(n)
    return 0.0 if items is None else sum(items)


def bounds(a, n):
    low = None
    high = None
    if n > 0:
        low = n
    if n > 1:
        high = -1
    return a[low:high].sum(), a[:high].sum()


def choice_of_arrays(a, n):
    b = a if n > 2 else None
    if b is None:
        return 0.0
    b[0] = 7
    return b.sum()


def in_try(n):
    x = None
    try:
        x = 10 // n
    except ZeroDivisionError:
        pass
    return x


def in_closure(n):
    x = result_or_none(n)

    def show():
        return -1 if x is None else x + 1

    return show()


def isinstance_of(n):
    x = result_or_none(n)
    return isinstance(x, int), isinstance(x, float)


@dataclasses.dataclass(frozen=True)
class Span:
    low: float
    high: "float | None"

    def width(self):
        return -1.0 if self.high is None else self.high - self.low


def span(n):
    high = None
    if n > 1:
        high = n * 2.0
    s = Span(1.0, high)
    return s.width(), s.high


CASES = [
    (least, [(A, -5.0), (A, 0.0), (A, 9.0), (A[:0], 0.0)]),
    (least_and_place, [(A, 0.0), (A, 9.0)]),
    (last_pair, [(A, 0.0), (A, 9.0)]),
    (rebound_default, [(A,), (A, 3.0), (A, None)]),
    (result_or_none, [(3,), (1,), (-1,)]),
    (or_default, [(1,), (4,), (0,), (-9,)]),
    (in_conditional, [(1,), (5,), (7,)]),
    (compared, [(1,), (3,), (4,)]),
    (missing_in_sum, [(1,), (3,)]),
    (missing_on_the_right, [(1,), (3,)]),
    (missing_on_both_sides, [(1,), (3,)]),
    (missing_in_order, [(1,), (3,)]),
    (missing_in_augmented, [(1,), (3,)]),
    (missing_negated, [(1,), (3,)]),
    (found_row, [(B, 4.0), (B, 5.0)]),
    (row_or_zeros, [(B, 4.0), (B, 5.0)]),
    (item_of_missing_row, [(B, 4.0), (B, 5.0)]),
    (length_of_missing_row, [(B, 4.0), (B, 5.0)]),
    (shape_of_missing_row, [(B, 4.0), (B, 5.0)]),
    (sum_of_missing_row, [(B, 4.0), (B, 5.0)]),
    (unpacked_missing, [(1,), (3,)]),
    (text_or_none, [(0,), (1,), (3,)]),
    (shown, [(1,), (3,), (4,)]),
    (passes_on, [(1,), (3,)]),
    (early_return, [(1,), (5,)]),
    (walrus, [(6,), (0,)]),
    (asserted, [(3,)]),
    (not_none, [(1,), (3,), (6,)]),
    (set_and_unset, [(A,), (-A,), (A[:0],), (np.array([1, 1, 0, 1, 1, 1]),)]),
    (dict_get, [({1: 2.5}, 1), ({1: 2.5}, 2)]),
    (items_or_none, [(0,), (5,)]),
    (literal_with_none, [(3,)]),
    (given_list, [([None, 1.5],), ([1.0, None, 2.0],)]),
    (list_or_none, [(0,), (3,)]),
    (items_above, [(0,), (3,)]),
    (sum_of_items, [(0,), (3,)]),
    (bounds, [(A, 0), (A, 1), (A, 2)]),
    (choice_of_arrays, [(A, 1), (A, 3)]),
    (in_try, [(0,), (3,)]),
    (in_closure, [(0,), (3,)]),
    (isinstance_of, [(0,), (3,)]),
    (span, [(0,), (3,)]),
]

CALLED = {f.__name__: f for f in (result_or_none, passed_on, found_row, items_above)}


@pytest.mark.parametrize("function, calls", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_as_python(function, calls, on, monkeypatch):
    expected = [outcome(function, args) for args in calls]
    for name, called in CALLED.items():
        monkeypatch.setitem(globals(), name, un.jit(called, device=on))
    compiled = un.jit(function, device=on)
    for args, value in zip(calls, expected, strict=True):
        assert outcome(compiled, args) == value, args


def test_the_place_of_a_missing_value_is_told(on):
    @un.jit(device=on)
    def f(n):
        x = None
        if n > 1:
            x = 2.5
        return 1 + x

    assert f(2) == 3.5
    with pytest.raises(TypeError, match="unsupported operand") as raised:
        f(1)
    line = f.py_func.__code__.co_firstlineno + 5
    assert any(f":{k}" in str(raised.value.__notes__) for k in (line, line + 1))


@dataclasses.dataclass
class Tracker:
    best: "float | None" = None
    name: "str | None" = None
    at: int = -1

    def see(self, i, x):
        if self.best is None or x < self.best:
            self.best = x
            self.at = i
            if self.name is None:
                self.name = f"first {i}"


def test_fields_that_may_be_none(on):
    def given(t, a):
        for i in range(len(a)):
            t.see(i, float(a[i]))
        return t.best

    def made(a):
        t = Tracker()
        for i in range(len(a)):
            t.see(i, float(a[i]))
        return t

    f, g = un.jit(given, device=on), un.jit(made, device=on)
    for a in (A, A[:0]):
        ours, theirs = Tracker(), Tracker()
        assert f(ours, a) == given(theirs, a)
        assert ours == theirs
        assert g(a) == made(a)
    ours = Tracker(best=-9, name="given")
    assert f(ours, A) == -9
    assert ours == Tracker(best=-9, name="given")


def test_blocks_of_python_see_and_give_none(on):
    @un.jit(device=on)
    def f(n):
        x = None
        if n > 1:
            x = 2.5
        with un.python():
            y: str = repr(x)
        return y

    assert (f(1), f(2)) == ("None", "2.5")


def test_prange_reads_and_assigns_what_may_be_none(on):
    @un.jit(device=on)
    def f(a, low, out):
        scale = None
        if low > 0:
            scale = low
        for i in un.prange(len(a)):
            found = None
            for j in range(i):
                if a[j] > low:
                    found = j
            out[i] = -1 if found is None else found
            if scale is not None:
                out[i] *= scale

    a = np.arange(8.0)
    for low in (0.0, 3.0, 9.0):
        ours, theirs = np.zeros(8), np.zeros(8)
        f(a, low, ours)
        f.py_func(a, low, theirs)
        assert (ours == theirs).all()


def test_no_type_check_stays_in_what_is_tested(on):
    @un.jit(device=on)
    def f(a):
        best = None
        for i in range(len(a)):
            x = a[i]
            if best is None or x < best:
                best = x
        return best

    assert f(A) == -2
    assert "NoneType" not in f.inspect_ir()


def looked_up(n):
    d = {1: 10}
    out = []
    for i in range(n):
        out.append(d.get(i))
    more = [None if i % 2 else i for i in range(n)]
    more.append(None)
    return out, more, [d.get(i) for i in range(n)], [d.get(i, 0) for i in range(n)]


@pytest.mark.parametrize("n", [1, 3])
def test_lists_take_what_may_be_none(on, n):
    assert un.jit(looked_up, device=on)(n) == looked_up(n)
