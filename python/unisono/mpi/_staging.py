"""Copies of arrays that are not packed memory of the host, for messages."""

from .._arrays.creation import empty
from .._engine import Mesh, UnsupportedError


def stage(array, writable):
    """A packed host array: of the elements, or for what will arrive."""
    if isinstance(array.device, Mesh):
        raise UnsupportedError(
            "mpi: the array is distributed over ranks; got one on "
            f"{array.device!r}; send this rank's part, x.local, or gather it with np.asarray(x)"
        )
    if writable:
        return empty(array.shape, array.dtype, device="cpu")
    return array.to_device("cpu").copy()


def assign(array, staged):
    """Put what arrived where the array's elements are."""
    array[...] = staged.to_device(array.device)
