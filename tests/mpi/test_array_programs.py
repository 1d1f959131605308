"""Random array programs over the ranks of the job, with one-sided access on the way.

UNISONO_FUZZ_PROGRAMS sets how many programs run, UNISONO_FUZZ_SEED the first seed.
"""

import os

import pytest
import unisono as un
from mesh.distributed_programs import DistributedProgram

COUNT = int(os.environ.get("UNISONO_FUZZ_PROGRAMS", 40))
FIRST = int(os.environ.get("UNISONO_FUZZ_SEED", 1))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_programs_are_numpys(seed):
    DistributedProgram(seed, un.mesh("mpi"), exposes=True).run()
