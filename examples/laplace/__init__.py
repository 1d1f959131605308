"""The parts of examples/laplace_everywhere.py: the problem, the solver loop, and one file per method."""
