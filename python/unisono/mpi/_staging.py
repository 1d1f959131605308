"""Copies of arrays that are not packed memory of the host, for messages."""

from .._arrays.creation import empty


def stage(array, writable):
    """A packed host array: of the elements, or for what will arrive."""
    if writable:
        return empty(array.shape, array.dtype, device="cpu")
    return array.to_device("cpu").copy()


def assign(array, staged):
    """Put what arrived where the array's elements are."""
    array[...] = staged.to_device(array.device)
