"""Runs a program on all ranks of a job, with modules that rank 0 alone reads: python -m unisono.mpi program.py."""

import sys

from ._launch import main

if __name__ == "__main__":
    main(sys.argv[1:])
