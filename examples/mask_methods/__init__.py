"""The methods of examples/mask.py: ways to mark the points inside a polygon."""

from ._method import Missing, make_vertices
from .arrays import NumPyStatements, UnisonoStatements
from .python_tuples import PythonTuples

__all__ = ["Missing", "make_vertices", "methods"]


def methods():
    """Yield every method, or a Missing that says why there is none."""
    yield PythonTuples()
    yield NumPyStatements()
    try:
        import unisono as un
    except ImportError as error:
        yield Missing("unisono", f"it cannot be imported: {error}")
        return
    devices = ["cpu", *(str(d) for d in un.devices() if not str(d).startswith("cpu"))]
    for device in devices:
        yield UnisonoStatements(device)
    for name in ("jit", "kernel"):
        if not hasattr(un, name):
            yield Missing(f"@un.{name}", f"this version of unisono has no un.{name}")
            return
    from .compiled import CompiledLoops, Kernel

    yield CompiledLoops()
    for device in devices:
        yield Kernel(device)
