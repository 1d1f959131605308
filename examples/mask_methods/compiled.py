"""One compiled function for one point, called in a parallel loop and in a kernel."""

import numpy as np
import unisono as un

from ._method import Method


@un.jit
def is_inside(vertices, x, y):
    count = vertices.shape[0]
    odd = False
    for k in range(count):
        x1 = vertices[k, 0]
        y1 = vertices[k, 1]
        if x1 == x and y1 == y:
            return True
        x2 = vertices[(k + 1) % count, 0]
        y2 = vertices[(k + 1) % count, 1]
        if y > min(y1, y2) and y <= max(y1, y2) and x <= max(x1, x2):
            if y1 != y2 and (x1 == x2 or x <= (y - y1) * (x2 - x1) / (y2 - y1) + x1):
                odd = not odd
    return odd


@un.jit
def mark_all(vertices, mask):
    for i in un.prange(mask.shape[0]):
        for j in range(mask.shape[1]):
            mask[i, j] = is_inside(vertices, i, j)


@un.kernel
def mark_point(vertices, mask):
    i = un.global_id(0)
    j = un.global_id(1)
    mask[i, j] = is_inside(vertices, i, j)


class CompiledLoops(Method):
    """Loops under @un.jit; rows are shared among threads."""

    name = "@un.jit with un.prange"

    def mask(self, vertices, shape):
        mask = np.zeros(shape, np.uint8)
        mark_all(vertices, mask)
        return mask


class Kernel(Method):
    """A work-item for each point."""

    def __init__(self, device):
        self.device = device
        self.name = f"@un.kernel on {device}"

    def mask(self, vertices, shape):
        on_device = un.array(vertices, device=self.device)
        mask = un.zeros(shape, dtype=un.uint8, device=self.device)
        mark_point[shape, None](on_device, mask)
        return np.array(mask)
