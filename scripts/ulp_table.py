#!/usr/bin/env python3
"""Writes docs/ulp.md: the largest errors of mathematical functions, per dtype and executor, and where they were seen.

    scripts/ulp_table.py [--count N] [--exhaustive [NAME ...]]

Needs the package on PYTHONPATH and NumPy with an 80-bit long double, which is the reference (its own error is below
0.001 units of the last place of float64). --exhaustive writes the errors over all 2^32 float32 values instead, into
the last section of that page, which is kept otherwise.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt"
).split()
BINARY = ["power", "arctan2", "hypot"]
KNOWN_POWERS = [
    "x ** -0.5",
    "x ** 1.5",
    "x ** -1.5",
    "x ** 3",
    "x ** 12",
    "x ** 64",
    "x ** -2",
    "x ** -7",
]


def arguments(dtype, count, second):
    """Numbers of all magnitudes, around 0 and 1, and in the ranges where functions neither vanish nor overflow."""
    rng = np.random.default_rng(5 + second)
    exponents = (-1074, 1024) if dtype == "float64" else (-149, 128)
    parts = [
        rng.uniform(-2, 2, count),
        rng.uniform(-745, 710, count) if dtype == "float64" else rng.uniform(-103, 89, count),
        np.ldexp(rng.uniform(1, 2, count), rng.integers(*exponents, count))
        * rng.choice([-1, 1], count),
        1 + np.ldexp(rng.uniform(-1, 1, count), -rng.integers(0, 50, count)),
        np.ldexp(rng.uniform(-1, 1, count), -rng.integers(0, 60, count)),
        np.rint(np.ldexp(rng.uniform(1, 2, count), rng.integers(0, 40, count))) * (np.pi / 2),
        rng.uniform(-1000, 1000, count),
    ]
    x = np.concatenate(parts).astype(dtype)
    return rng.permutation(x) if second else x


def value(module, name, args):
    if name in KNOWN_POWERS:
        return args[0] ** float(name.split()[-1])
    return getattr(module, name)(*args)


def errors(got, exact):
    """Distance in units of the last place of the nearest number; infinite where one is not a number or infinite."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        nearest = exact.astype(got.dtype)
        size = np.abs(nearest).astype(np.longdouble)
        exponent = np.where(size > 0, np.frexp(size)[1] - 1, info.minexp)
        ulp = np.ldexp(np.longdouble(1), np.maximum(exponent, info.minexp) - info.nmant)
        e = (np.abs(got.astype(np.longdouble) - exact) / ulp).astype(np.float64)
        same = (got == nearest) | (np.isnan(got) & np.isnan(nearest))
        e = np.where(
            np.isinf(got) & np.isinf(nearest) & same | (np.isnan(nearest) & np.isnan(got)), 0, e
        )
        return np.where(np.isnan(e), np.inf, e)


def worst(name, dtype, device, count):
    import unisono as un

    x = arguments(dtype, count, 0)
    args = [x] if name not in BINARY else [x, arguments(dtype, count, 1)]
    ours = [un.array(a, device=device) if device else un.array(a) for a in args]
    for _ in range(3):  # the compiler takes over what returns
        made = value(un, name, ours)
        un.eval(made)
    got = np.asarray(made.to_device("cpu") if device else made)
    with np.errstate(all="ignore"):
        exact = value(np, name, [a.astype(np.longdouble) for a in args])
    e = errors(got, exact)
    at = int(np.argmax(e))
    return float(e[at]), ", ".join(float(a[at]).hex() for a in args)


def rows(count):
    """Run in a process of its own per executor: print name, dtype, error, arguments."""
    device = os.environ.get("ULP_DEVICE", "")
    for name in UNARY + BINARY + KNOWN_POWERS:
        for dtype in ("float32", "float64"):
            try:
                print(name, dtype, *worst(name, dtype, device, count), sep="\t")
            except RuntimeError as error:
                print(name, dtype, "-", str(error).split(";")[0], sep="\t")


def collect(count):
    import unisono as un

    executors = {"block": {"UNISONO_EXECUTOR": "block"}, "compiled": {"UNISONO_EXECUTOR": "cpu"}}
    for name in (str(d) for d in un.devices()):
        if "opencl" in name:
            executors[name] = {"ULP_DEVICE": name}
            break
    table = {}
    for label, environment in executors.items():
        done = subprocess.run(
            [sys.executable, __file__, "--rows", "--count", str(count)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            sys.exit(done.stderr)
        for line in done.stdout.splitlines():
            name, dtype, error, at = line.split("\t")
            table.setdefault((name, dtype), {})[label] = (error, at)
    return list(executors), table


def text_of(error):
    return error if error == "-" else "beyond" if float(error) > 1e6 else f"{float(error):.3f}"


def write(count):
    labels, table = collect(count)
    lines = [
        "# Errors of mathematical functions",
        "",
        "Written by `scripts/ulp_table.py`. The largest error seen, in units of the last place, over "
        f"{7 * count} arguments per row: all magnitudes (subnormal numbers and the largest among them), around 0 and 1, near "
        "multiples of pi/2, and where the function neither vanishes nor overflows. 0.5 is correct rounding. The "
        "definitions are those of `engine/ops/functions/`, the same on every executor. *beyond*: infinite or not a "
        "number where the exact value is not, or the other way round.",
        "",
        "| function | dtype | " + " | ".join(labels) + " | seen at |",
        "|---|---|" + "---|" * len(labels) + "---|",
    ]
    for (name, dtype), found in table.items():
        cells = [text_of(found[label][0]) if label in found else "" for label in labels]
        lines.append(f"| {name} | {dtype} | {' | '.join(cells)} | {found[labels[0]][1]} |")
    page = ROOT / "docs/ulp.md"
    kept = page.read_text().partition(SECTION)
    page.write_text("\n".join(lines) + "\n" + "".join(kept[1:]))


SECTION = "\n## All float32 values\n"


def record(name, wrong, most, at):
    """One row of the page's last section."""
    page = ROOT / "docs/ulp.md"
    table, _, kept = page.read_text().partition(SECTION)
    rows = dict.fromkeys(UNARY)
    for line in kept.splitlines():
        if line.startswith("| ") and line.split()[1] in rows:
            rows[line.split()[1]] = line
    rows[name] = f"| {name} | {wrong} | {most:.6f} | {at} |"
    head = [
        "",
        "The functions of one argument at each of the 2^32 float32 values, against NumPy's float64 functions "
        "(`scripts/ulp_table.py --exhaustive`): how many results are not the nearest number, and the largest error.",
        "",
        "| function | not the nearest | largest error | at |",
        "|---|---|---|---|",
    ]
    found = [row for row in rows.values() if row]
    page.write_text(table + SECTION + "\n".join(head + found) + "\n")


def exhaustive(names):
    """All float32 values, against float64 functions of NumPy (whose error is below 2^-26 units of float32)."""
    import unisono as un

    for name in names or UNARY:
        wrong, most, at = 0, 0.5, "everywhere"
        for start in range(0, 1 << 32, 1 << 22):
            x = np.arange(start, start + (1 << 22), dtype=np.uint32).view(np.float32)
            got = np.asarray(getattr(un, name)(un.array(x)))
            with np.errstate(all="ignore"):
                exact = getattr(np, name)(x.astype(np.float64))
                nearest = exact.astype(np.float32)
            # The nearest number is at most half a unit away: only the others are measured.
            others = (got.view(np.uint32) != nearest.view(np.uint32)) & ~(
                np.isnan(got) & np.isnan(nearest)
            )
            where = np.flatnonzero(others)
            if where.size == 0:
                continue
            wrong += where.size
            e = errors(got[where], exact[where].astype(np.longdouble))
            k = int(np.argmax(e))
            if e[k] > most:
                most, at = float(e[k]), float(x[where[k]]).hex()
        print(f"{name}: {wrong} not the nearest, largest error {most:.6f} at {at}", flush=True)
        record(name, wrong, most, at)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=30_000, help="arguments of each kind")
    parser.add_argument(
        "--exhaustive", nargs="*", metavar="NAME", help="all float32 values, of these functions"
    )
    parser.add_argument("--rows", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows:
        rows(options.count)
    elif options.exhaustive is not None:
        exhaustive(options.exhaustive)
    else:
        write(options.count)


if __name__ == "__main__":
    main()
