"""Random matrices in memory of several layouts."""

import numpy as np


def numbers(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape)


def layouts(shape, seed):
    """The same numbers in memory of several orders, steps and directions; each call makes new ones."""
    values = numbers(shape, seed)
    made = [
        values.copy(),
        np.asfortranarray(values),
        np.zeros((shape[0], 2 * shape[1] + 3))[:, 3::2],
        np.zeros((shape[0] * 2, shape[1] + 1))[::-2, :-1],
        np.zeros(shape)[:, ::-1],
    ]
    for m in made:
        m[...] = values
    return made
