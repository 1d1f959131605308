"""Progress bars, the table and the picture."""

import math

from . import problem


class Progress:
    """A bar that fills as the change falls to EPS; quiet where standard error is no terminal."""

    def __init__(self, name):
        self.bar, self.first = None, 0.0
        try:
            from tqdm import tqdm
        except ImportError:
            return
        form = "{desc:<26} {percentage:3.0f}%|{bar:30}| {postfix} [{elapsed}]"
        self.bar = tqdm(total=100, desc=name, bar_format=form, disable=None, leave=False)

    def __call__(self, sweeps, change):
        if self.bar is None or self.bar.disable:
            return
        self.first = self.first or max(change, 2 * problem.EPS)
        done = math.log(self.first / max(change, problem.EPS)) / math.log(self.first / problem.EPS)
        self.bar.n = max(0, min(100, 100 * done))
        self.bar.set_postfix_str(f"{sweeps} sweeps, change {change:.1e}")

    def close(self):
        if self.bar is not None:
            self.bar.close()


def say(text=""):
    """Print a line that is seen at once, also through a pipe."""
    print(text, flush=True)


def seconds(t):
    """Format a time for the table."""
    if not t:
        return ""
    return f"{t * 1e6:.0f} us" if t < 1e-3 else f"{t * 1e3:.3g} ms" if t < 1 else f"{t:.3g} s"


def table(outcomes, size, large_size, itemsize, bandwidth):
    """Print a row per method."""
    rate = f"{bandwidth / 1e9:.0f}"
    head = (
        "method",
        f"sweep of {size}^2",
        f"sweep of {large_size}^2",
        f"GB/s (copy {rate})",
        "against NumPy",
        "bits",
    )
    rows = [head]
    for o in outcomes:
        if o.missing:
            continue
        per_sweep = o.seconds / o.sweeps if o.sweeps else 0
        traffic = 2 * (large_size - 2) ** 2 * itemsize / o.large / 1e9 if o.large else 0
        whose = "NumPy's" if o.order == "slices" else "CPython's"
        bits = {None: "", True: whose, False: f"NOT {whose}"}[o.same_bits]
        rows.append(
            (
                o.name,
                seconds(per_sweep),
                seconds(o.large),
                f"{traffic:.3g}" if traffic else "",
                f"{o.speed:.3g}x" if o.speed else "",
                bits,
            )
        )
    widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
    for n, row in enumerate(rows):
        cells = [
            row[0].ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(row[1:-1], widths[1:-1], strict=True)),
        ]
        say("  ".join([*cells, row[-1]]).rstrip())
        if n == 0:
            say("  ".join("-" * w for w in widths))
    missing = [o for o in outcomes if o.missing]
    if missing:
        say("\nmethods that do not exist here:")
        for o in missing:
            say(f"  {o.name}: {o.missing}")


def picture(field, path):
    """Write the field as a PNG; return what to tell the user."""
    try:
        import matplotlib
    except ImportError:
        return "no picture: matplotlib is not installed (pip install matplotlib)"
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"font.size": 14}):
        figure, axes = plt.subplots(figsize=(8.8, 7.6), dpi=120, layout="constrained")
        image = axes.imshow(field, cmap="inferno", interpolation="bilinear")
        axes.contour(field, levels=range(10, 100, 10), colors="white", linewidths=0.9)
        axes.set(xticks=[], yticks=[], xlabel="bottom edge at 0", ylabel="left edge at 75")
        axes.set_title("Temperature of a plate, top edge at 100, right edge at 50", pad=14)
        figure.colorbar(image, label="temperature", shrink=0.92)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)
    return f"picture: {path}"
