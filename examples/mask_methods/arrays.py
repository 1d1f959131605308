"""Array statements over all points at once, one pass for each edge: NumPy's, and ours on each device."""

import numpy as np

from ._method import Method


def mark_inside(xp, vertices, x, y):
    """Return whether each point is inside; x has shape (rows, 1), y (1, columns), `vertices` is nested lists."""
    odd = border = xp.zeros((x.shape[0], y.shape[1]), dtype=bool)
    for (x1, y1), (x2, y2) in zip(vertices, vertices[1:] + vertices[:1], strict=True):
        border = border | ((x == x1) & (y == y1))
        if y1 == y2:
            continue
        crosses = (y > min(y1, y2)) & (y <= max(y1, y2)) & (x <= max(x1, x2))
        if x1 != x2:
            crosses = crosses & (x <= (y - y1) * (x2 - x1) / (y2 - y1) + x1)
        odd = odd ^ crosses
    return (odd | border).astype("uint8")


class NumPyStatements(Method):
    """NumPy runs each operation by itself."""

    name = "NumPy statements"
    repeats = 3

    def mask(self, vertices, shape):
        x = np.arange(shape[0], dtype=np.float32)[:, None]
        y = np.arange(shape[1], dtype=np.float32)[None, :]
        return mark_inside(np, vertices.tolist(), x, y)


class UnisonoStatements(Method):
    """The same statements, fused."""

    def __init__(self, device):
        self.device = device
        self.name = f"statements on {device}"

    def mask(self, vertices, shape):
        import unisono as un

        x = un.arange(shape[0], dtype=un.float32, device=self.device)[:, None]
        y = un.arange(shape[1], dtype=un.float32, device=self.device)[None, :]

        class on_device:
            @staticmethod
            def zeros(shape, dtype):
                return un.zeros(shape, dtype=dtype, device=self.device)

        return np.array(mark_inside(on_device, vertices.tolist(), x, y))
