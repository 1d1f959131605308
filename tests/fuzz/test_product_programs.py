"""Random programs that scale matrices, write them in place and multiply them by vectors give NumPy's values.

The matrices are large enough for the library's products, which the array programs' are not.
UNISONO_FUZZ_PROGRAMS sets how many programs the test runs, UNISONO_FUZZ_SEED the first seed.
"""

import os

import numpy as np
import unisono as un

COUNT = int(os.environ.get("UNISONO_FUZZ_PROGRAMS", 60))
FIRST = int(os.environ.get("UNISONO_FUZZ_SEED", 1))
ROWS, COLUMNS = 23, 640

# {a}, {b}: matrices; {f}: a number.
STATEMENTS = [
    "{a} *= {f}",
    "{a} += 1",
    "{a} = {f} * {b}",
    "{a} = {b} * {f}",
    "{a}[:] = {f} * {b}",
    "{a}[3:] = {b}[:-3] * {f}",
    "np.multiply({b}, {f}, out={a})",
    "x *= 2",
    "made.append({a} @ x)",
    "made.append(({f} * {a}) @ x)",
    "made.append(({a}[::2] * {f}) @ x)",
    "made.append(x[:23] @ ({f} * {a}))",
    "t = {f} * {a}; {a} += 2; made.append(t @ x)",
    "t = {f} * {a}; made.append(t @ x); {a} *= 2; made.append(t @ x)",
    "t = {f} * {a}; x += 1; made.append(t @ x); t *= 3; made.append(t @ x)",
]


def program(rng):
    lines = []
    for _ in range(rng.integers(2, 10)):
        a, b = rng.choice(["A", "B", "C"], 2)
        lines.append(rng.choice(STATEMENTS).format(a=a, b=b, f=rng.integers(1, 9) / 4))
    return "\n".join(lines)


def run(xp, source, matrices, x):
    names = {"np": xp, "made": [], "x": xp.array(x)}
    names.update(zip("ABC", map(xp.array, matrices), strict=True))
    exec(source, names)
    return [np.asarray(v) for v in (*names["made"], names["A"], names["B"], names["C"])]


def test_programs_of_scaled_products():
    for seed in range(FIRST, FIRST + 5 * COUNT):
        rng = np.random.default_rng(seed)
        source, matrices, x = program(rng), rng.random((3, ROWS, COLUMNS)), rng.random(COLUMNS)
        got, want = (run(xp, source, matrices, x) for xp in (un, np))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, err_msg=f"seed {seed}:\n{source}")
