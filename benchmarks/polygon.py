"""The points inside a polygon by a parallel loop, ours and gcc's."""

import sys
from pathlib import Path

import compiled
import numpy as np
from timing import best_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from mask_methods import make_vertices


def measure(name, who):
    vertices, mask = make_vertices(), np.zeros((1024, 1024), np.uint8)
    if who == "gcc":
        mark = compiled.mask()
    else:
        from mask_methods.compiled import mark_all as mark
    mark(vertices, mask)
    expected = np.zeros_like(mask)
    compiled.mask()(vertices, expected)
    assert np.array_equal(mask, expected)
    return best_of(lambda: mark(vertices, mask), 1, 15)
