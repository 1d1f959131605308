"""PyOpenCL's arrays: their class, its memory and its operators."""

from .array_class import Array, ArrayHasOffsetError
from .memory import InconsistentOpenCLQueueWarning, is_computed, on_queue, to_shape
from .operators import operand

__all__ = [
    "Array",
    "ArrayHasOffsetError",
    "InconsistentOpenCLQueueWarning",
    "is_computed",
    "on_queue",
    "operand",
    "to_shape",
]
