"""Items of lists and whole keys of dicts and sets, which compiled code reads and writes itself, against Python."""

import pytest
import unisono as un


def entered(seed, n, span, step):
    """Keys that come, go and come back, in a set and in a dict, with loops between."""
    s = set()
    d = {0: 0.5}
    x = seed
    seen = 0
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        k = ((x >> 8) % span - span // 2) * step
        if x % 5 == 0:
            s.discard(k)
            d.pop(k, 0.0)
        elif x % 5 == 1:
            seen += (k in s) + (k in d)
            seen += int(d.get(k, 1.0))
        else:
            s.add(k)
            d[k] = i * 0.5
            d[k] += 1.0
        if i % 97 == 0:
            for v in s:
                seen = (seen + v % 1009 * (v % 7)) % 1000003  # sets have no order
            for a, b in d.items():
                seen = (seen * 31 + a + int(b)) % 1000003
        if i % 401 == 400:
            s.clear()
            d.clear()
    return sorted(s), list(d.items()), seen, len(s), len(d)


def queued(seed, n):
    """Items that are added and taken at both ends and between."""
    rows = [(0, 0.5)]
    x = seed
    taken = 0.0
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        what = (x >> 8) % 9
        if what < 4 or len(rows) < 2:
            rows.append((i, i * 0.5))
        elif what == 4:
            rows.insert(0, (i, -0.5))
        elif what == 5:
            rows.insert((x >> 12) % len(rows), (i, 0.25))
        elif what == 6:
            a, b = rows.pop(0)
            taken += a * b
        elif what == 7:
            a, b = rows.pop((x >> 12) % len(rows))
            taken -= a + b
        else:
            a, b = rows.pop()
            taken += a - b
        if i % 150 == 149:
            rows[1:3] = [(7, 7.0), (8, 8.0), (9, 9.0)]
        if i % 200 == 199:
            del rows[::2]
        if i % 300 == 299:
            while rows:
                rows.pop()
            rows.extend([(1, 1.0)])
    return rows, taken


def nested(n):
    rows = [[1]]
    for i in range(1, n):
        row = [1]
        for j in range(i - 1):
            row.append(rows[-1][j] + rows[-1][j + 1])
        row.append(1)
        rows.append(row)
    last = rows.pop()
    return rows, last.pop(), len(rows), len(last)


@pytest.mark.parametrize("span", [3, 40, 5000])
@pytest.mark.parametrize("step", [1, 1 << 20, 1 << 40])
def test_keys(span, step):
    for seed in (1, 2, 3):
        assert un.jit(entered)(seed, 1500, span, step) == entered(seed, 1500, span, step)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_items(seed):
    assert un.jit(queued)(seed, 1200) == queued(seed, 1200)


def test_lists_of_lists():
    assert un.jit(nested)(25) == nested(25)


@un.jit
def kept(d, s, rows, n):
    for i in range(n):
        d[i % 7] = (i, i * 0.5, i)
        s.add((i, -i))
        rows.append((i, 0.5, i))
    rows.pop()
    return len(d), len(s), len(rows)


@un.jit
def kept_alone(d, s, rows, n):
    for i in range(n):
        d[i % 7] = i
        s.add(i % 5)
        rows.append(i * 0.5)
    rows.pop()
    return len(d), len(s), len(rows)


@pytest.mark.parametrize("f", [kept, kept_alone])
def test_what_came_empty(f):
    d, s, rows = {}, set(), []
    same = {}, set(), []
    for n in (3, 40):
        assert f(d, s, rows, n) == f.py_func(*same, n)
        assert (d, s, rows) == same


@un.jit
def halved(rows):
    for i in range(len(rows)):
        rows[i] = rows[i] / 2
    rows.append(-1.0)
    return sum(rows)


@un.jit
def added(rows, n):
    for i in range(n):
        rows.append(rows[i] + 1)
    return len(rows)


def test_lists_of_numbers_from_python():
    rows = [float(i) for i in range(50)]
    same = rows[:]
    assert halved(rows) == halved.py_func(same)
    assert rows == same
    whole, same = list(range(5)), list(range(5))
    assert added(whole, 20) == added.py_func(same, 20)
    assert whole == same
    assert all(type(v) is int for v in whole)


@pytest.mark.parametrize("odd", [1 << 70, "a", 2.5])
def test_an_odd_item_among_numbers(odd):
    rows = [1, 2, odd, 3, 3, 3]
    with pytest.raises((TypeError, OverflowError)):
        added(rows, 1)
    assert rows == [1, 2, odd, 3, 3, 3]


def test_entries_need_no_calls():
    @un.jit
    def counted(rows, n):
        total = 0
        for _ in range(n):
            total += rows[-1][0] + len(rows)
        return total

    @un.jit
    def found(s, n):
        total = 0
        for k in range(n):
            total += k in s
        return total

    assert counted([(3, 0.5)], 4) == 16
    assert found({1, 2, 9}, 5) == 2
    for f in (counted, found):
        text = "\n".join(f.inspect_llvm().values())
        assert "unisono_native_" not in text


@un.jit
def in_order(rows, falls):
    rows.sort(reverse=falls)
    return len(rows)


nan = float("nan")
tables = {
    "ints": [(k * 7919 % 11, k) for k in range(60)],
    "floats": [(k * 7919 % 11 / 2, -k) for k in range(60)],
    "zeros": [(0.0, 1), (-0.0, 2), (0.0, 0), (-1.0, 3)],
    "texts": [("ab"[k % 2] * (k % 5), k % 3) for k in range(40)],
    "bools": [(k % 3 == 0, -k) for k in range(9)],
    "lists": [[k * 7 % 5, k % 3] for k in range(30)],
}


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("rows", tables)
def test_sorted_in_place(rows, falls):
    mine, same = list(tables[rows]), list(tables[rows])
    in_order(mine, falls)
    same.sort(reverse=falls)
    assert mine == same
    assert str(mine) == str(same)  # -0.0 is not 0.0


def test_nan_among_floats_stays():
    rows = [(1.0, 0), (nan, 1), (0.5, 2)]
    in_order(rows, False)
    assert sorted(b for _, b in rows) == [0, 1, 2]


def risky(i):
    if i % 5 == 3:
        raise ValueError("odd")
    if i % 11 == 7:
        raise KeyError(i)
    return i * 2


compiled_risky = un.jit(risky)


def caught(n):
    total = 0
    kinds = 0
    for i in range(n):
        try:
            total += compiled_risky(i)
            kinds += 1
        except ValueError:
            total -= 1
        except KeyError:
            total -= 100
        else:
            kinds += i
        finally:
            total += 1
    return total, kinds


def test_raised_in_a_call_inside_of_try():
    assert un.jit(caught)(200) == caught(200)
