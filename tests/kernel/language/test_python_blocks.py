"""Blocks of Python in compiled functions, against the Python functions."""

import gc

import numpy as np
import pytest
import unisono as un
from jit_devices import all_devices

pytestmark = pytest.mark.parametrize("on", all_devices())

LOG = []


def reads(n, x, s, a):
    t = (n, s)
    with un.python():
        LOG.append((n, x, s, t, [float(v) for v in a], type(n).__name__))
    return n + 1


def assigns(n, x, s):
    y = 1.5
    for i in range(n):
        with un.python():
            y = x**2 + len(LOG)
            n = max([i, 3])
            s = "".join(sorted(s))
            words: str = " ".join(["a"] * n)
        s += "z" + words
    return n, y, s


def arrays(a):
    b = np.zeros(3)
    with un.python():
        a[0] = 7.0
        b = np.sort(np.asarray(a))[:3] * 2.0
        c: un.int64[:, :] = np.arange(6).reshape(2, 3).T
    return b + 1, c[2, 1], b[1] * c.shape[0]


def tuples(n):
    pair = (n, 0.5)
    with un.python():
        pair = tuple(v * 2 for v in pair)
    return pair


def compare(f, on, *args):
    def run(function):
        LOG.clear()
        copies = [np.array(v) if isinstance(v, np.ndarray) else v for v in args]
        result = function(*copies)
        items = result if isinstance(result, tuple) else (result,)
        plain = [np.asarray(v).tolist() if hasattr(v, "shape") else v for v in items]
        return plain, list(LOG), [str(c) for c in copies]

    want = run(f)
    assert run(un.jit(f, device=on)) == want


def test_names_are_read(on):
    compare(reads, on, 3, 2.5, "text", np.arange(3.0))


def test_names_come_back(on):
    compare(assigns, on, 2, 1.5, "hello")


def test_arrays_are_shared_and_come_back(on):
    compare(arrays, on, np.array([3.0, 9.0, 1.0, 4.0]))


def test_tuples(on):
    compare(tuples, on, 4)


def wrong(n):
    x = 0
    with un.python():
        x = "text" if n else 2.5
    return x


def test_another_type_says_what_to_annotate(on):
    text = "'x' is int in the compiled function; got str; annotate 'x'"
    with pytest.raises(TypeError, match=text):
        un.jit(wrong, device=on)(1)
    with pytest.raises(TypeError, match="got float"):
        un.jit(wrong, device=on)(0)


class Mine(Exception):
    pass


def fails(n):
    with un.python():
        if n > 2:
            raise Mine(n)
    return n


def test_exceptions_pass(on):
    f = un.jit(fails, device=on)
    assert f(1) == 1
    with pytest.raises(Mine) as raised:
        f(3)
    assert raised.value.args == (3,)


def keeps(n):
    total = 0.0
    for i in range(n):
        a = np.zeros(1000)
        with un.python():
            a = np.asarray(a) + i
        total += a[0]
    return total


def test_memory_is_given_back(on):
    f = un.jit(keeps, device=on)
    f(10)
    gc.collect()
    before = un.memory.stats()
    assert f(200) == sum(range(200))
    gc.collect()
    assert un.memory.stats()["in_use"] <= before["in_use"]
