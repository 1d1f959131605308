"""Copies of arrays that are not packed memory of the host, for messages."""

from ..._engine import Mesh, UnsupportedError
from ..._records.strided_memory import Strided


def stage(array):
    """A packed host array of the elements; what arrives may replace some of them."""
    if isinstance(array.device, Mesh):
        raise UnsupportedError(
            "mpi: the array is distributed over ranks; got one on "
            f"{array.device!r}; send this rank's part, x.local, or gather it with np.asarray(x)"
        )
    if isinstance(array, Strided):
        return array._host().copy()
    return array.to_device("cpu").copy()


def seen(records):
    """NumPy's view of an array of records that lies packed on the host, in which a message reads and writes; None of others."""
    if not records._memory.is_on_host:
        return None
    host = records._host()
    return host if host.flags.forc else None


def assign(array, staged):
    """Put what arrived where the array's elements are."""
    if hasattr(array, "room"):
        return array.put(staged)  # places of a type of elements that lie apart
    array[...] = staged if isinstance(array, Strided) else staged.to_device(array.device)
