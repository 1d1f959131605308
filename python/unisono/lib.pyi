"""Types of ``unisono.lib``, written by scripts/stubs.py."""

from typing import Any

stride_tricks: Any
