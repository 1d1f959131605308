"""A share of the random array programs on virtual ranks.

UNISONO_FUZZ_PROGRAMS sets how many programs each test runs, UNISONO_FUZZ_SEED the first seed.
"""

import os

import pytest
import unisono as un

from .distributed_programs import run_seed

COUNT = int(os.environ.get("UNISONO_FUZZ_PROGRAMS", 12))
FIRST = int(os.environ.get("UNISONO_FUZZ_SEED", 1))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 7])
def test_programs_are_numpys(ranks):
    m = un.mesh("virtual", ranks)
    for seed in range(FIRST, FIRST + COUNT):
        m.run(run_seed, m, 1000 * ranks + seed)
