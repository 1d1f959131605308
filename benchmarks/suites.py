"""Loops and calls of the shapes that benchmark suites bring, compiled by @njit here and by Numba."""

import math
import random

import numpy as np
from timing import best_of

SIZE = 100_000


def sum_of_cubes(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 3
    return s


def sum_of_sixth_powers(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 6
    return s


def inverse_cubes(x, out):
    for i in range(x.shape[0]):
        out[i] = 1 / x[i] ** 3


def sum_of_fractional_powers(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 1.7
    return s


def around(x, out):
    for i in range(1, x.shape[0] - 1):
        s = 0.0
        for k in range(i - 1, i + 2):
            s += x[k]
        out[i] = s


def life(board, out):
    rows, columns = board.shape
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            count = 0
            for y in range(i - 1, i + 2):
                for x in range(j - 1, j + 2):
                    count += board[y, x]
            count -= board[i, j]
            out[i, j] = 1 if count == 3 or (count == 2 and board[i, j] == 1) else 0


def by_indices(a, out):
    for i, j in np.ndindex(a.shape):
        out[i, j] = a[i, j] * 2.0


def by_elements(a):
    s = 0.0
    for v in np.nditer(a):
        s += v.item()
    return s


def by_pairs(a, b):
    s = 0.0
    for u, v in np.nditer((a, b)):
        s += u.item() * v.item()
    return s


def count_in_set(a):
    seen = set()
    for i in range(a.shape[0]):
        seen.add(a[i])
    n = 0
    for i in range(a.shape[0]):
        if a[i] + 1 in seen:
            n += 1
    return n + len(seen)


def draw_bits(n):
    s = 0
    for _ in range(n):
        s += random.getrandbits(16)
    return s


def kernel_density(x):
    width = 0.5
    points = np.array([-1.0, 2.0, 5.0])
    total = 0.0
    for i in range(x.shape[0]):
        d = (-((x[i] - points) ** 2)) / (2 * width**2)
        m = np.min(d)
        total += m - np.log(width * points.shape[0]) + np.log(np.sum(np.exp(d - m)))
    return total


def sum_of_tanh(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += math.tanh(x[i])
    return s


def normal_distribution(d):
    k = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    tail = k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))
    p = 0.3989422804014327 * math.exp(-0.5 * d * d) * (k * (0.31938153 + k * (-0.356563782 + tail)))
    if d > 0:
        p = 1.0 - p
    return p


def options(call, put, stock, strike, years, rate, volatility, distribution):
    for i in range(len(stock)):
        root = math.sqrt(years[i])
        d1 = math.log(stock[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]
        d1 /= volatility * root
        d2 = d1 - volatility * root
        p1, p2 = distribution(d1), distribution(d2)
        discount = math.exp((-1.0 * rate) * years[i])
        call[i] = stock[i] * p1 - strike[i] * discount * p2
        put[i] = strike[i] * discount * (1.0 - p2) - stock[i] * (1.0 - p1)


def potentials(positions, weights):
    n = weights.shape[0]
    out = np.zeros(n)
    for i in range(n):
        d = 0.0
        for j in range(n):
            if i != j:
                dx = positions[0, i] - positions[0, j]
                dy = positions[1, i] - positions[1, j]
                d += weights[j] / math.sqrt(dx * dx + dy * dy)
        out[i] = d * weights[i]
    return out


def slopes(heat, salt, mask, depth, mixing, slope, strength):
    """Slopes of surfaces of equal density in an ocean, tapered where they are steep, by array statements."""
    rows, columns, layers = heat.shape
    by_heat = -mask * (1e-5 * (heat - 9.85) + 1.67e-4 * (1 - 1e-4 * np.abs(depth))) * 1024.0
    by_salt = mask * 0.78
    heat_across, salt_across = np.zeros_like(heat), np.zeros_like(heat)
    heat_down, salt_down = np.zeros_like(heat), np.zeros_like(heat)
    heat_across[:-1] = mask[:-1] * (heat[1:] - heat[:-1])
    salt_across[:-1] = mask[:-1] * (salt[1:] - salt[:-1])
    heat_down[:, :, :-1] = mask[:, :, :-1] * (heat[:, :, 1:] - heat[:, :, :-1]) / depth[:-1]
    salt_down[:, :, :-1] = mask[:, :, :-1] * (salt[:, :, 1:] - salt[:, :, :-1]) / depth[:-1]
    total = np.zeros_like(heat)
    for below in range(2):
        for side in range(2):
            i, j, k, m = side, rows - 1 + side, below, layers - 1 + below
            a, b = by_heat[i:j, :, 1:], by_salt[i:j, :, 1:]
            across = a * heat_across[:-1, :, 1:] + b * salt_across[:-1, :, 1:]
            down = a * heat_down[i:j, :, k:m] + b * salt_down[i:j, :, k:m]
            s = -across / (np.minimum(0.0, down) - 1e-20)
            taper = 0.5 * (1.0 + np.tanh((-np.abs(s) + 1e-3) / 1e-3))
            total[:-1, :, 1:] += depth[1:] * np.maximum(50.0, mixing[:-1, :, 1:] * taper)
            slope[:-1, :, 1:, side, below] = taper * s * mask[:-1, :, 1:]
    strength[:, :, :] = total / (4.0 * depth)


def scale_and_add(a, b):
    return a * 2.0 + b


def add_items(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


def cases():
    """By name: the function, and its arguments."""
    rng = np.random.default_rng(0)
    x = rng.random(SIZE) + 0.5
    square = rng.random((250, 400))
    board = (rng.random((300, 300)) < 0.4).astype(np.uint8)
    columns = np.asfortranarray(square)
    ocean = [rng.random((64, 64, 16)) for _ in range(4)]
    prices = [rng.uniform(5, 30, SIZE), rng.uniform(1, 100, SIZE), rng.uniform(0.25, 10, SIZE)]
    return {
        "suite-cubes": (sum_of_cubes, x),
        "suite-sixth-powers": (sum_of_sixth_powers, x),
        "suite-inverse-cubes": (inverse_cubes, x, x.copy()),
        "suite-fractional-powers": (sum_of_fractional_powers, x),
        "suite-around": (around, x, x.copy()),
        "suite-life": (life, board, board.copy()),
        "suite-ndindex": (by_indices, square, square.copy()),
        "suite-nditer": (by_elements, square),
        "suite-nditer-columns": (by_elements, columns),
        "suite-nditer-pairs": (by_pairs, square, square.copy()),
        "suite-sets": (count_in_set, rng.integers(0, 20_000, SIZE)),
        "suite-getrandbits": (draw_bits, SIZE),
        "suite-kernel-density": (kernel_density, rng.standard_normal(SIZE)),
        "suite-tanh": (sum_of_tanh, 50 * rng.standard_normal(SIZE)),
        "suite-options": (options, x.copy(), x.copy(), *prices, 0.02, 0.3),
        "suite-slopes": (
            slopes,
            *ocean[:3],
            rng.random(16) + 0.5,
            ocean[3],
            np.zeros((64, 64, 16, 2, 2)),
            np.zeros((64, 64, 16)),
        ),
        "suite-potentials": (potentials, rng.random((2, 1000)), rng.random(1000)),
    }


def small_call(who, name):
    """One call on ten elements."""
    a, b = np.random.default_rng(1).random((2, 10))
    if who == "numba":
        import numba as module
    else:
        import unisono as module
    if name == "suite-small-vectorize":
        f = module.vectorize(["float64(float64, float64)"])(scale_and_add)
    else:
        layout = "(n),(n)->(n)"
        signature = ["void(float64[:], float64[:], float64[:])"]
        f = module.guvectorize(signature, layout)(add_items)

    def run():
        for _ in range(1000):
            f(a, b)

    run()
    want = a * 2.0 + b if name == "suite-small-vectorize" else a + b
    assert np.array_equal(np.asarray(f(a, b)), want)
    return best_of(run, 1000, 15)


def measure_array_power(who):
    x = np.random.default_rng(0).random(SIZE) + 0.5
    if who == "numba":
        import numba

        f = numba.njit(lambda a: a**3)
        f(x)
        return best_of(lambda: f(x), 1, 200)
    import unisono as un

    a = un.asarray(x)

    def run():
        un.eval(a**3)

    for _ in range(20):
        run()
    assert np.allclose(np.asarray(a**3), x**3, rtol=3e-16)
    return best_of(run, 1, 200)


def measure(name, who):
    if name == "suite-array-cubes":
        return measure_array_power(who)
    if name.startswith("suite-small"):
        return small_call(who, name)
    if who == "numba":
        import numba as module
    else:
        import unisono as module
    python, *args = cases()[name]
    if python is options:
        args.append(module.njit(normal_distribution))
    f = module.njit(python)
    got = f(*args)
    if who == "unisono" and python is not draw_bits:
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        if python is options:
            copies[-1] = normal_distribution
        want = python(*copies)
        for g, w in zip([got, *args], [want, *copies], strict=True):
            if isinstance(w, (float, int, np.ndarray)):
                assert np.allclose(g, w, rtol=1e-12)
    return best_of(lambda: f(*args), 1, 30)
