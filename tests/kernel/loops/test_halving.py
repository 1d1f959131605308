"""While loops that halve a number end before a user could want to stop them: they do not ask."""

import pytest
import unisono as un


def power(x, n):
    result = 1
    while n > 0:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result


def digits(x, n):
    count = 0
    while x < 1000 and 0 < n:
        n //= 10
        count += 1
    return count


def may_stay_below_zero(x, n):
    count = 0
    while n != 0 and count < 90:
        n >>= 1
        count += 1
    return count


def may_go_on(x, n):
    count = 0
    while n > 0:
        count += 1
        if count < x:
            continue
        n >>= 1
    return count


def grows_again(x, n):
    count = 0
    while n > 0:
        n //= 2
        if count < x:
            n += 2
        count += 1
    return count


def of_floats(x, n):
    count = 0
    value = float(n)
    while value > 0 and count < 9:
        value = value // 1.0
        count += 1
    return count


@pytest.mark.parametrize(
    ("function", "asks"),
    [
        (power, False),
        (digits, False),
        (may_stay_below_zero, True),
        (may_go_on, True),
        (grows_again, True),
        (of_floats, True),
    ],
)
def test_which_loops_ask(function, asks):
    f = un.njit(function)
    for args in [(3, 13), (0, 5), (7, 0), (2, 1 << 40), (5, -4)]:
        if function is power and args[1] > 1000:
            continue  # Python's number would have more bits
        assert f(*args) == function(*args)
    assert ("unisono_poll_interrupt" in f.inspect_llvm()) == asks
