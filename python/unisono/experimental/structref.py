"""Structures whose fields have the types of what they are made with, by the names of Numba's ``experimental.structref``."""

from .._jit.structref import (
    StructRefProxy,
    define_attributes,
    define_boxing,
    define_constructor,
    define_proxy,
    register,
)

__all__ = [
    "StructRefProxy",
    "define_attributes",
    "define_boxing",
    "define_constructor",
    "define_proxy",
    "register",
]
