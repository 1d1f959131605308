"""The statement of numpy_slices.py as it stands, on unisono's arrays: on the CPU, and on each device."""

import unisono as un

from .method import Method
from .numpy_slices import solve


class Slices(Method):
    """The statement of numpy_slices.py on arrays of one device."""

    step = staticmethod(solve)

    def __init__(self, device):
        self.device = device
        self.name = f"slices on {device}"

    def place(self, u):
        return un.array(u, device=self.device)

    def wait(self):
        un.synchronize()


def methods(devices):
    for device in devices:
        yield Slices(device)
