"""Types of ``unisono.array_api``, written by scripts/stubs.py."""

from typing import Any

from .._engine import ndarray

class Array(ndarray): ...

def standard(result: Any) -> Any: ...
def __getattr__(name: str) -> Any: ...
