"""Copies of arrays that are not packed memory of the host, for messages."""

from .._engine import Mesh, UnsupportedError


def stage(array):
    """A packed host array of the elements; what arrives may replace some of them."""
    if isinstance(array.device, Mesh):
        raise UnsupportedError(
            "mpi: the array is distributed over ranks; got one on "
            f"{array.device!r}; send this rank's part, x.local, or gather it with np.asarray(x)"
        )
    return array.to_device("cpu").copy()


def assign(array, staged):
    """Put what arrived where the array's elements are."""
    if hasattr(array, "room"):
        return array.put(staged)  # places of a type of elements that lie apart
    array[...] = staged.to_device(array.device)
