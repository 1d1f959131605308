"""try, except, else, finally and raise in compiled functions, against the Python functions."""

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

A = np.array([1.5, -2, 3, 0.25])
K = np.array([0, 3, 2, 7, 1])


def plain(value):
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    return value.tolist() if hasattr(value, "tolist") else value


def outcome(function, args):
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        value = function(*args)
    except Exception as error:
        return type(error), str(error), error.args, plain(args)
    return plain(value), plain(args)


def handler_by_kind(n, d, i, a):
    try:
        x = a[i] / (n // d)
    except ZeroDivisionError:
        return -1.0
    except (IndexError, OverflowError):
        return -2.0
    return float(x)


def with_else(n, d):
    try:
        q = n // d
    except ZeroDivisionError:
        r = 0
    else:
        r = q * 10
    return r


def state_of_variables(n, k, a):
    i = -1
    s = 0.0
    t = 0
    try:
        for j in range(n):
            i = j
            s += a[k[j]]
            t = 2 * j
    except IndexError:
        s = s + 1000
    return i, s, t


def target_of_loop(n, k, a):
    i = -1
    s = 0.0
    try:
        for i in range(n):
            s += a[k[i]]
    except IndexError:
        return i, s
    return i, -s


def in_a_loop(n, k, a):
    good = bad = 0
    total = 0.0
    for i in range(n):
        try:
            if i == 3:
                continue
            if i == 8:
                break
            total += a[k[i]]
            good += 1
        except IndexError as e:
            bad += 1
            if bad > 2:
                raise ValueError(f"{bad} bad ones") from e
        else:
            total += 0.5
    return good, bad, total


def with_finally(n, a):
    count = 0
    for i in range(10):
        try:
            count += 1
            if i == n:
                break
            if i == n - 3:
                continue
            if n == 7 and i == 2:
                return count, 1.5
            a[i % 5] += 1
        finally:
            count += 100
    return count, 2.5


def finally_and_except(n, d, a):
    s = 0
    try:
        try:
            s += n // d
        except ZeroDivisionError:
            s -= 1
            a[0] = 7
            if n > 3:
                raise
        finally:
            s += 10
            a[1] = s
    except ZeroDivisionError as e:
        s += 100 + len(a)
        a[2] = s
        raise RuntimeError(f"<{e}> {s}") from None
    return s


def finally_overrides(n):
    try:
        return 1 // n
    finally:
        if n == 0 or n == 5:
            return -n  # noqa: B012


def finally_order(n, k):
    for i in range(3):  # noqa: B007 (read behind the loop)
        try:
            try:
                k[0] = k[0] * 10 + 1
                if n == 0:
                    return 5
                if n == 1:
                    break
                if n == 2:
                    continue
                if n == 3:
                    raise KeyError(n)
            finally:
                k[0] = k[0] * 10 + 2
        finally:
            k[0] = k[0] * 10 + 3
    return i


@un.jit
def checked(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    if x == 5:
        raise KeyError(x)
    if x == 6:
        raise NotImplementedError
    if x == 7:
        raise StopIteration("no more")
    return x * 2


def catches_of_callees(n):
    try:
        try:
            return checked(n)
        except ValueError:
            return -100
    except LookupError:
        return -200
    except RuntimeError:
        return -300


def raises_what_it_caught(n):
    try:
        y = checked(n)
    except (KeyError, ValueError) as error:
        if n == 5:
            raise
        raise error
    return y


def classes(n, a, i):
    try:
        if n == 0:
            raise TypeError("t")
        if n == 1:
            raise AssertionError
        if n == 2:
            assert n > 2, f"assert {n}"
        if n == 3:
            raise OSError("os")
        if n == 4:
            raise FloatingPointError(2.5)
        if n == 5:
            raise EOFError(n)
        if n == 6:
            return a[i]
        if n == 7:
            return float(n // i)
    except ArithmeticError:
        return 10.0
    except LookupError:
        return 20.0
    except AssertionError:
        return 30.0
    except Exception:
        return 40.0
    return 50.0


def bare(n, d):
    try:
        r = n // d
    except:  # noqa: E722
        r = -1
    return r


def widens(n, d):
    x = 0
    try:
        x = n // d
        x = x + 0.5
        x = n / (d - 1)
    except ZeroDivisionError:
        x = x + 1
    return x


def lists(n, k):
    xs = [0]
    ys = [1.5]
    try:
        for i in range(n):
            xs.append(k[i])
            if i == 2:
                ys = [2.5, 3.5]
            ys.append(float(xs[i * 2]))
    except IndexError:
        xs.append(-1)
    return xs, ys


def arrays(n, a, k):
    b = np.zeros(4)
    try:
        b = a * 2
        c = a + 1
        b[k[n]] = 9
        b = c
    except IndexError:
        b = b + 100
    return b


def nested_loops(n, a, k):
    seen = 0
    for i in range(4):
        try:
            for j in range(n):
                try:
                    seen += int(a[k[i] + j])
                    if j == 3:
                        break
                except IndexError:
                    seen += 1000
                    if j > 4:
                        raise
                finally:
                    seen += 1
        except IndexError:
            seen += 100000
            if i == 1:
                continue
            break
        else:
            seen += 7
    return seen


def recursion(n):
    if n == 0:
        raise ValueError("bottom")
    try:
        return recursive(n - 1)
    except ValueError:
        if n < 3:
            raise
        return n


@un.jit
def recursive(n):
    if n == 0:
        raise ValueError("bottom")
    return recursive(n - 1) if n < 100 else 0


def while_retry(n, d):
    tries = 0
    while True:
        tries += 1
        try:
            return tries, n // (d - tries)
        except ZeroDivisionError:
            if tries > 5:
                raise


CASES = [
    (
        handler_by_kind,
        [(n, d, i, A) for n, d in ((6, 2), (6, 0), (3, 7)) for i in (0, 3, -4, 4, 99)],
    ),
    (with_else, [(7, 2), (7, 0), (-7, 2)]),
    (state_of_variables, [(n, K, A) for n in range(6)]),
    (target_of_loop, [(n, K, A) for n in range(6)]),
    (in_a_loop, [(n, np.array(k), A) for n in (0, 4, 9) for k in ([0] * 9, [0, 9] * 5, [9] * 9)]),
    (with_finally, [(n, np.zeros(5)) for n in range(11)]),
    (finally_and_except, [(n, d, np.zeros(3)) for n in (1, 8) for d in (0, 2)]),
    (finally_overrides, [(n,) for n in (0, 1, 2, 5)]),
    (finally_order, [(n, np.array([0])) for n in range(5)]),
    (catches_of_callees, [(n,) for n in (-1, 2, 5, 6)]),
    (raises_what_it_caught, [(n,) for n in (-1, 2, 5, 6, 7)]),
    (classes, [(n, A, i) for n in range(10) for i in (0, 2, 9)]),
    (bare, [(7, 2), (7, 0)]),
    (widens, [(7, 2), (7, 0), (7, 1)]),
    (lists, [(n, K) for n in range(6)]),
    (arrays, [(n, A, K) for n in range(6)]),
    (nested_loops, [(n, A, K) for n in range(9)]),
    (recursion, [(n,) for n in (0, 1, 2, 3, 9)]),
    (while_retry, [(7, 1), (7, 3), (7, 10)]),
]


@pytest.mark.parametrize("function, inputs", CASES, ids=[f.__name__ for f, _ in CASES])
def test_as_python(on, function, inputs):
    f = un.jit(function, device=on)
    for args in inputs:
        got, want = outcome(f, args), outcome(function, args)
        assert got == want, args


def test_text_of_exceptions(on, capsys):
    def f(n, a):
        try:
            if n == 0:
                checked(-3)
            if n == 1:
                checked(5)
            if n == 2:
                checked(6)
            if n == 3:
                raise KeyError("key")
            if n == 4:
                raise ValueError(n)
            if n == 5:
                raise ValueError(0.5)
            n // (n - 6)
        except Exception as e:
            print(e, f"{e!r}", (n, e))

    g = un.jit(f, device=on)
    for n in range(7):
        f(n, A)
        want = capsys.readouterr().out
        g(n, A)
        assert capsys.readouterr().out == want


def test_inside_of_prange(on):
    @un.jit(device=on)
    def f(a, k, out):
        failed = 0
        for i in un.prange(k.shape[0]):
            try:
                out[i] = a[k[i]]
            except IndexError:
                out[i] = -1.0
                failed += 1
        return failed

    k = np.arange(1000) % 7
    out = np.empty(1000)
    assert f(A, k, out) == (k > 3).sum()
    assert out.tolist() == [A[i] if i < 4 else -1.0 for i in k]


def test_around_prange(on):
    @un.jit(device=on)
    def f(a, k):
        s = 0.0
        try:
            for i in un.prange(k.shape[0]):
                s += a[k[i]]
        except IndexError:
            return -1.0
        return s

    assert f(A, np.arange(1000) % 4) == 250 * A.sum()
    assert f(A, np.arange(1000) % 5) == -1


def test_depth_of_recursion_can_be_caught(on):
    @un.jit(device=on)
    def down(n):
        return down(n + 1) + 1 if n >= 0 else 0

    @un.jit(device="cpu")
    def f(n):
        try:
            return down(n)
        except RecursionError:
            return -1

    assert f(0) == -1


def test_a_loop_with_and_without_tests(on):
    @un.jit
    def f(a, n):
        s = 0.0
        try:
            for i in range(n):
                s += a[i]
        except IndexError:
            return -s
        return s

    a = np.arange(100.0)
    assert f(a, 100) == a.sum()
    assert f(a, 101) == -a.sum()
