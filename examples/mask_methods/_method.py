"""What the methods share: the polygon, and what a missing method says."""

from dataclasses import dataclass

import numpy as np


def make_vertices():
    """Return the polygon: 24 random corners, float32, shape (24, 2)."""
    return np.random.RandomState(0).randint(0, 1024, 48).reshape(24, 2).astype(np.float32)


class Method:
    """One way to compute a mask."""

    name = ""
    repeats = 5

    def mask(self, vertices, shape):
        """Return a NumPy array of `shape`: 1 where the point (row, column) is inside, else 0."""
        raise NotImplementedError


@dataclass
class Missing:
    """A method that does not exist here."""

    name: str
    reason: str
