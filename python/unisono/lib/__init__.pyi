"""Types of ``unisono.lib``, written by scripts/stubs.py."""

from . import stride_tricks as stride_tricks
