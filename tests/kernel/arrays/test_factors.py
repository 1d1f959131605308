"""Inverses, factors and solutions in compiled functions: what they raise."""

import numpy as np
import pytest
import unisono as un


def test_matrices_without_an_inverse_raise_numpys_error():
    @un.jit
    def inverse(a):
        return np.linalg.inv(a)

    @un.jit
    def inverse_or_zeros(a):
        try:
            return np.linalg.inv(a)
        except np.linalg.LinAlgError:
            return np.zeros_like(a)

    @un.jit
    def refuse(n):
        if n > 0:
            raise np.linalg.LinAlgError("of the program")
        return n

    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        inverse(np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        inverse(np.zeros((2, 3)))
    with pytest.raises(un.linalg.LinAlgError, match="of the program"):
        refuse(1)
    assert inverse_or_zeros(np.zeros((2, 2))).tolist() == [[0, 0], [0, 0]]
    assert inverse_or_zeros(2 * np.eye(2)).tolist() == [[0.5, 0], [0, 0.5]]
