"""``pycuda.characterize``: what devices can do."""

from .devices import current_device

__all__ = ["has_double_support", "platform_bits", "sizeof"]


def platform_bits():
    """Bits of a pointer."""
    return 64


def has_double_support():
    """Whether the current device computes with float64."""
    return current_device().has_float64


def sizeof(type_name, preamble=""):
    """Bytes of a type by its C name."""
    from .tools import parse_c_arg

    return parse_c_arg(f"{type_name} x").dtype.itemsize
