"""Builtins over lists and dicts whose items may be None, against CPython: a fault only where one is."""

import pytest
import unisono as un


def filled(n, given):
    items = [None] * n
    for i in range(given):
        items[i] = (i * 7) % 5
    return items


def sums(n, given):
    return sum(filled(n, given)), sum(filled(n, given), 0.5)


def sums_of_floats(n, given):
    items = [None] * n
    for i in range(given):
        items[n - 1 - i] = i * 0.5
    return sum(items)


def extremes(n, given):
    items = filled(n, given)
    return max(items), min(items), sorted(items), sorted(items, reverse=True)


def sorts(n, given):
    items = filled(n, given)
    items.sort()
    return items


def falls(n, given):
    items = filled(n, given)
    items.sort(reverse=True)
    return items


def truths(n, given):
    items = filled(n, given)
    return any(items), all(items)


def of_values(n, given):
    items = {}
    for i in range(n):
        items[i] = None
    for i in range(given):
        items[i] = -i
    return sum(items.values()), max(items.values()), min(items.values()), sorted(items.values())


def joined(n, given):
    items = filled(n, given)
    items.extend([1, 2])
    return items + [9]


def summed(n, given):
    items = filled(n, given)
    total = 0
    for i in range(n):
        total = total + items[i]
    return total


@pytest.mark.parametrize(
    "f",
    [sums, sums_of_floats, extremes, sorts, falls, truths, of_values, joined, summed],
    ids=lambda f: f.__name__,
)
def test_none_among_items(f):
    compiled = un.jit(f)
    for n, given in ((4, 4), (4, 3), (4, 1), (4, 0), (1, 1)):
        try:
            expected = f(n, given)
        except TypeError as error:
            with pytest.raises(TypeError) as e:
                compiled(n, given)
            assert str(e.value) == str(error)
        else:
            assert compiled(n, given) == expected


def total(items):
    return sum(items)


def test_a_list_that_is_passed():
    assert un.jit(total)([1, 2]) == 3
    with pytest.raises(TypeError, match="'int' and 'NoneType'") as e:
        un.jit(total)([1, None])
    assert "return sum(items)" in e.value.__notes__[0]
