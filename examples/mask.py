"""The points inside a polygon, by every method that this machine has: a table and a picture."""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from laplace.show import say, seconds
from mask_methods import Missing, make_vertices, methods

INSIDE = 256368  # points of 1024 x 1024 that lie inside, by the program that the vertices come from
# What the slides that pose the problem measured in 2015 on eight cores at 2.27 GHz and a GPU, in seconds.
IN_2015 = {
    "Python with tuples": 36,
    "Python with NumPy": 450,
    "Cython with tuples": 9,
    "Cython with NumPy": 3.6,
    "Cython with a C library": 0.27,
    "Cython class": 0.118,
    "Cython with OpenMP": 0.020,
    "PyOpenCL on a GPU": 0.003,
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--shape", type=shape, default=(1024, 1024), help="rows and columns, as 1000x1023"
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the picture (out)")
    return parser.parse_args()


def shape(text):
    parts = text.split("x")
    if len(parts) != 2 or not all(p.isdecimal() and 0 < int(p) <= 16384 for p in parts):
        raise argparse.ArgumentTypeError(
            f"expected rows and columns from 1 to 16384, as 1000x1023; got {text!r}"
        )
    return int(parts[0]), int(parts[1])


def measure(method, vertices, size):
    """Return the mask and the median time, after a first run that may compile (unless it is the only one)."""
    begin = time.perf_counter()
    mask = method.mask(vertices, size)
    times = [time.perf_counter() - begin] if method.repeats == 0 else []
    for _ in range(method.repeats):
        begin = time.perf_counter()
        mask = method.mask(vertices, size)
        times.append(time.perf_counter() - begin)
    return mask, float(np.median(times))


def picture(mask, vertices, path):
    try:
        import matplotlib
    except ImportError:
        return "no picture: matplotlib is not installed (pip install matplotlib)"
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4, 4), dpi=100, layout="constrained")
    axes.imshow(mask.T, cmap="Blues", origin="lower", interpolation="nearest")
    closed = np.vstack((vertices, vertices[:1]))
    axes.plot(closed[:, 0], closed[:, 1], color="tab:red", linewidth=1)
    axes.set(xticks=[], yticks=[], title=f"{int(mask.sum())} of {mask.size} points inside")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)
    return f"picture: {path}"


def main():
    options = parse_arguments()
    vertices = make_vertices()
    rows, wrong, reference = [], 0, None
    say(f"which of {options.shape[0]} x {options.shape[1]} points lie inside a 24-edge polygon")
    for method in methods():
        if isinstance(method, Missing):
            rows.append((method.name, None, method.reason))
            continue
        try:
            mask, spent = measure(method, vertices, options.shape)
        except Exception as error:
            rows.append((method.name, None, f"{type(error).__name__}: {error}".splitlines()[0]))
            continue
        reference = mask if reference is None else reference
        same = np.array_equal(mask, reference)
        if options.shape == (1024, 1024):
            same = same and int(mask.sum()) == INSIDE
        wrong += not same
        rows.append((method.name, spent, f"{int(mask.sum())}{'' if same else '  WRONG'}"))
    first = next(spent for _, spent, _ in rows if spent)
    say(f"\n{'method':<34} {'time':>9} {'against Python':>15}  inside")
    for name, spent, text in rows:
        if spent:
            ratio = f"{first / spent:.3g}x"
            say(f"{name:<34} {seconds(spent):>9} {ratio:>15}  {text}")
    for name, spent, reason in rows:
        if not spent:
            say(f"{name}: not here: {reason}")
    say("\nthe slides' own table (1024 x 1024, 2015):")
    for name, spent in IN_2015.items():
        say(f"{name:<34} {seconds(spent):>9} {36 / spent:>14.3g}x")
    say()
    say(picture(reference, vertices, options.out / "mask.png"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
