"""Global arrays: arrays over the ranks of an MPI job that every rank reads and writes, with ga4py's names.

Ranges are half-open. Patches that are read come as the package's arrays; `access` gives this rank's part, an array
that shares its memory. Index vectors are NumPy's. Importing this module starts nothing.

Examples
--------
>>> import unisono as un
>>> from unisono import ga
>>> g_a = ga.create(ga.C_DBL, (4, 4))
>>> ga.fill(g_a, 2)
>>> ga.put(g_a, [1, 2, 3, 4], (0, 0), (1, 4))
>>> ga.sync()
>>> ga.get(g_a, (0, 1), (2, 3)).tolist()
[[2.0, 3.0], [2.0, 2.0]]
>>> ga.dot(g_a, g_a)
78.0
>>> ga.destroy(g_a)
"""

from . import _creation, _elementwise, _groups, _linear, _one_sided, _program, _scans
from ._handles import (
    TYPE_BASE as TYPE_BASE,
)
from ._handles import (
    deregister_type as deregister_type,
)
from ._handles import (
    register_dtype as register_dtype,
)
from ._handles import (
    register_type as register_type,
)
from ._handles import (
    types as _types,
)

WORLD_PROC_GROUP = -1
globals().update(_types)

_shared = {"compute", "group_of", "nodes", "update", "world"}  # of these modules for one another
for _module in (_creation, _elementwise, _groups, _linear, _one_sided, _program, _scans):
    for _name, _value in vars(_module).items():
        _own = getattr(_value, "__module__", None) == _module.__name__
        _public = _own and callable(_value) and not isinstance(_value, type)
        if _public and not _name.startswith("_") and _name not in _shared:
            globals()[_name] = _value
functions = sorted(
    name
    for name, value in globals().items()
    if callable(value) and not name.startswith("_") and not isinstance(value, type)
)
__all__ = [*functions, *_types, "TYPE_BASE", "WORLD_PROC_GROUP"]
