"""Laplace's equation on a plate whose four edges are held at fixed temperatures."""

import numpy as np

EPS = 1e-4  # solved when no point grows by more in one sweep
CHECK_EVERY = 1000  # sweeps between two tests for convergence
TOP, LEFT, RIGHT = 100, 75, 50  # the bottom edge stays at 0


def make_field(size, dtype):
    """Return the field before the first sweep: zero but for its edges, shape (size, size)."""
    u = np.zeros((size, size), dtype)
    u[0, :] = TOP
    u[:, 0] = LEFT
    u[:, -1] = RIGHT
    return u


def sweep_in_loop_order(u, u_new):
    """One sweep by NumPy, adding the neighbours in the order of the loops in python_loops.py."""
    u_new[1:-1, 1:-1] = (u[2:, 1:-1] + u[0:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, 0:-2]) / 4


def same_bits(a, b):
    """Whether two fields agree in every bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
