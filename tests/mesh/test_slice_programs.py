"""A share of the random slice programs; all of them by slice_programs.py."""

import pytest

from .slice_programs import run_seeds


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
def test_programs_of_slices_are_numpys(ranks):
    run_seeds(ranks, range(1000 * ranks, 1000 * ranks + 4), 60)
