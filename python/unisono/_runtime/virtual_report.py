"""What a run of virtual ranks cost each of them."""

_most_rows = 16


class Report:
    """Times, messages and bytes of each rank, and the time line behind them."""

    def __init__(self, size, latency, bandwidth, accounts):
        self.size, self.latency, self.bandwidth = size, latency, bandwidth
        columns = list(zip(*accounts, strict=True))
        self.rank, self.computing, self.waiting, self.messages, self.bytes = map(list, columns[:5])
        self.clock = [c + w for c, w in zip(self.computing, self.waiting, strict=True)]
        self.critical_path = max(self.clock)
        self._spans = columns[5]

    def __repr__(self):
        n = len(self.rank)
        shown = (
            range(n)
            if n <= _most_rows
            else [k * (n - 1) // (_most_rows - 1) for k in range(_most_rows)]
        )
        lines = [
            f"{'rank':>8} {'computing':>11} {'waiting':>11} {'clock':>11} {'messages':>9} {'bytes sent':>14}"
        ]

        def row(name, computing, waiting, clock, messages, sent):
            times = " ".join(f"{_seconds(t):>11}" for t in (computing, waiting, clock))
            lines.append(f"{name:>8} {times} {messages:>9} {sent:>14,}")

        columns = (self.computing, self.waiting, self.clock, self.messages, self.bytes)
        for k in shown:
            row(self.rank[k], *(column[k] for column in columns))
        row("most", *map(max, columns))
        row(
            "mean",
            *(sum(c) / n for c in columns[:3]),
            round(sum(columns[3]) / n),
            round(sum(columns[4]) / n),
        )
        if n > len(shown):
            lines.insert(1 + len(shown), f"{'':>8} ({len(shown)} of {n} ranks)")
        if n < self.size:
            lines.append(f"(ranks sampled of {self.size:,})")
        share = sum(self.computing) / (n * self.critical_path) if self.critical_path else 1.0
        lines.append(
            f"critical path {_seconds(self.critical_path)}, computing {share:.0%} of it; "
            f"latency {_seconds(self.latency)}, {self.bandwidth / 1e9:g} GB/s"
        )
        return "\n".join(lines)

    def plot(self, axes=None):
        """Draw what each rank did when: computing, or waiting for others.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            New ones by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            Where matplotlib is not installed.
        """
        if axes is None:
            import matplotlib.pyplot as plt

            height = min(12, 1.5 + 0.25 * len(self.rank))
            axes = plt.subplots(figsize=(10, height), layout="constrained")[1]
        for is_computing, color, label in (
            (True, "tab:blue", "computing"),
            (False, "tab:red", "waiting"),
        ):
            for k, spans in enumerate(self._spans):
                bars = [
                    (begin * 1e3, (end - begin) * 1e3)
                    for begin, end, computes in spans
                    if computes == is_computing
                ]
                axes.broken_barh(bars, (k - 0.4, 0.8), color=color, label=None if k else label)
        axes.set_yticks(range(len(self.rank)), [str(r) for r in self.rank])
        if len(self.rank) > 32:
            axes.yaxis.set_major_locator(
                type(axes.yaxis.get_major_locator())(range(0, len(self.rank), len(self.rank) // 16))
            )
        axes.set_ylim(len(self.rank) - 0.5, -0.5)
        axes.set_xlabel("milliseconds on the rank's clock")
        axes.set_ylabel("rank")
        axes.legend(loc="upper right")
        return axes


def _seconds(t):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if t >= scale:
            return f"{t / scale:.4g} {unit}"
    return f"{t / 1e-9:.4g} ns" if t else "0 s"
