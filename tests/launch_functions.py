"""Functions of two vectors of float64 that write to one, both or none of them, each in its own way.

Tests of launches run them as Python over NumPy's arrays and compiled over ours.
"""

import numpy as np
import unisono as un


def add_elements(a, b):
    for i in range(a.shape[0]):
        a[i] += b[i]


def add_in_parallel(a, b):
    for i in un.prange(a.shape[0]):
        a[i] = a[i] + b[i]


def negate_the_second(a, b):
    for i in range(b.shape[0]):
        b[i] = -b[i]


def only_read(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


def only_sizes(a, b):
    return float(a.shape[0] + b.size)


def one_element(a, b):
    a[0] = b[b.shape[0] - 1] + 1


def through_a_slice(a, b):
    c = a[1:]
    c[0] = 5.0


def through_a_reversed_slice(a, b):
    c = a[::-1]
    d = c[2:]
    d[0] = b[0]


def through_another_name(a, b):
    c = b
    c[1] = 7.0


def through_either_name(a, b):
    c = a
    if a[0] > b[0]:
        c = b
    c[0] = 3.0


def names_that_swap(a, b):
    for i in range(3):
        a[i] = b[i] + 1
        a, b = b, a


def whole_slices(a, b):
    a[2:5] = b[1:4]
    b[:2] = 4.0


def augmented(a, b):
    a += b
    b *= 0.5


def a_ufunc_with_out(a, b):
    np.subtract(a, b, out=b)


def under_a_mask(a, b):
    a[b > 3] = 0.0


def at_positions(a, b):
    k = np.array([0, 2, 1])
    a[k] = b[k] * 2


def sort_in_place(a, b):
    b.sort()


def fill_it(a, b):
    a.fill(2.0)


def of_a_tuple(a, b):
    pair = (a, b)
    pair[1][0] = pair[0][1]


def of_a_list(a, b):
    for v in [a, b]:
        v[0] = v[0] + 1


def reshaped(a, b):
    m = a[:4].reshape(2, 2)
    m[1, 0] = 9.0


def a_fresh_array(a, b):
    c = a + b
    c[0] = 100.0
    return c.sum()


def a_copy(a, b):
    c = a.copy()
    c[:] = b
    return c[0]


def swap_ends(a, b):
    a[0], a[-1] = a[-1], a[0]


def raise_half_way(a, b):
    a[0] = 1.0
    if b[0] > 2:
        raise ValueError("large")
    a[1] = 1.0


def maximum_so_far(a, b):
    for i in range(1, a.shape[0]):
        a[i] = max(a[i - 1], a[i])


def _bump(v, k):
    v[k] += 1.0


def _pick(a, b, first):
    return a if first else b


def through_a_call(a, b):
    _bump(b, 1)


def through_calls_of_slices(a, b):
    _bump(a[1:], 0)
    _bump(b[::2], 1)


def through_what_a_call_returns(a, b):
    c = _pick(a, b, a[0] > b[0])
    c[1] = -1.0


def inner_function(a, b):
    def put(v):
        b[0] = v

    put(a[0])


ALL = [
    f
    for name, f in list(globals().items())
    if callable(f) and not name.startswith("_") and f.__module__ == __name__
]


def compiled():
    """The functions, each with its compiled form."""
    helpers = {name: un.jit(f) for name, f in globals().items() if name in ("_bump", "_pick")}
    made = []
    for f in ALL:
        names = {**globals(), **helpers}
        twin = type(f)(f.__code__, names, f.__name__, f.__defaults__, f.__closure__)
        made.append((f, un.jit(twin)))
    return made
