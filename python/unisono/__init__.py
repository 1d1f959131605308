"""One array program, every processor: NumPy's names on a lazy engine for CPUs, devices and clusters."""

from ._engine import __version__ as __version__
