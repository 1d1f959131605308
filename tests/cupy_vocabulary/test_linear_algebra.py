"""``unisono.cupy.linalg`` and ``cupyx.errstate``: what CuPy gives beside NumPy's results."""

import numpy as np
import pytest
import unisono.cupy as cp
import unisono.cupyx as cupyx


def test_ranks_of_matrices_are_arrays():
    rank = cp.linalg.matrix_rank(cp.asarray([[1.0, 2.0], [2.0, 4.0]]))
    assert isinstance(rank, cp.ndarray) and rank.shape == () and int(rank) == 1
    rank = cp.linalg.matrix_rank(cp.ones(3))  # of a vector
    assert isinstance(rank, cp.ndarray) and rank.shape == () and int(rank) == 1
    assert cp.linalg.matrix_rank(cp.zeros((3, 2, 2))).tolist() == [0, 0, 0]
    assert int(cp.linalg.matrix_rank(cp.asarray([[1.0, 0.0], [0.0, 1e-9]]), tol=1e-6)) == 1
    assert "matrix_rank" in dir(cp.linalg) and "solve" in dir(cp.linalg)


def test_errors_of_linear_algebra_are_raised():
    with cupyx.errstate(linalg="raise", divide="raise"):
        with pytest.raises(np.linalg.LinAlgError):
            cp.linalg.solve(cp.zeros((2, 2)), cp.ones(2))
        with pytest.raises(FloatingPointError):
            cp.asarray([1.0]) / 0
    with pytest.raises(ValueError, match="expected 'raise'"):
        cupyx.errstate(linalg="ignore")
