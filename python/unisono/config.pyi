"""Types of ``unisono.config``, written by scripts/stubs.py."""

from typing import Any

def __getattr__(name: str) -> Any: ...
