"""The client's handle of a distributed array that lies on engines."""

_MOST = 8  # parts that are listed


def _span(part):
    return (
        "["
        + ", ".join(f"{s.start}:{s.stop}" if isinstance(s, slice) else str(s) for s in part)
        + "]"
    )


def text_of_part(shape, dtype, layout, part, rank, size):
    """How an engine shows a distributed array: what this rank knows without a message."""
    return f"distributed array: shape {shape}, {dtype}, layout {layout!r}; rank {rank} of {size} has {_span(part)}"


class RemoteArray:
    """A distributed array on the engines of a cluster, as `Cluster.pull` gives it; its elements stay where they are.

    `shape`, `dtype` and `layout` are the array's. ``local(rank)`` brings one rank's part, as an array of NumPy;
    ``np.asarray(handle)`` brings all of them, and nothing else does. The array lives as long as its handle.
    """

    def __init__(self, cluster, name, number, descriptions):
        self._cluster, self._name, self._number = cluster, name, number
        self.shape, self.dtype, self.layout, _ = descriptions[0]
        self._parts = [d[3] for d in descriptions]

    def __repr__(self):
        size = len(self._parts)
        head = f"{self._name}: distributed array, shape {self.shape}, {self.dtype}, layout {self.layout!r}, on {size} ranks"
        shown = [f"  rank {rank}: {_span(part)}" for rank, part in enumerate(self._parts)]
        if size > _MOST:
            shown[_MOST // 2 : -_MOST // 2] = ["  ..."]
        return "\n".join([head, *shown])

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(
            f"the handle of a distributed array has no {name!r}: its elements are on the engines; compute there, as in "
            f"c.execute('result = {self._name}.{name}...'), and pull the result"
        )

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.shape)

    def local(self, rank):
        """The part of one rank, as an array of NumPy."""
        return self._cluster._on_all("part", self._number)[self._cluster._rank(rank)]

    def __array__(self, dtype=None, copy=None):
        import numpy as np

        parts = self._cluster._on_all("part", self._number)
        out = np.empty(self.shape, self.dtype)
        for where, values in zip(self._parts, parts, strict=True):
            out[where] = values
        return out if dtype is None else out.astype(dtype)

    def __del__(self):
        # Sent with the next request: no message leaves from here.
        self._cluster._dropped.append(self._number)
