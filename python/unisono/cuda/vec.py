"""``pycuda.gpuarray.vec``: the dtypes of CUDA's vector types, as ``vec.float3``, and functions that make them.

Examples
--------
>>> from unisono.cuda.gpuarray import vec
>>> v = vec.make_float3(1, 2, 3)
>>> float(v["z"]), vec.float4.names, vec.int2.itemsize
(3.0, ('x', 'y', 'z', 'w'), 8)
"""

from __future__ import annotations

import numpy as np

types = {}  # by name

_BASES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "long": "i8", "ulong": "u8",
    "longlong": "i8", "ulonglong": "u8", "float": "f4", "double": "f8",
}  # fmt: skip


def _maker(name, made):
    def make(*numbers):
        if len(numbers) != len(made.names):
            raise TypeError(
                f"make_{name}: expected {len(made.names)} numbers; got {len(numbers)}; give one for each of "
                f"{', '.join(made.names)}"
            )
        return np.array(tuple(numbers), made)

    make.__name__ = make.__qualname__ = f"make_{name}"
    make.__doc__ = f"An array without axes of dtype `{name}`, of the numbers given."
    return make


for _base, _letters in _BASES.items():
    for _count in (1, 2) if _letters in ("i8", "u8", "f8") else (1, 2, 3, 4):
        _name = f"{_base}{_count}"
        types[_name] = np.dtype([(axis, _letters) for axis in "xyzw"[:_count]])
        globals()[_name] = types[_name]
        globals()[f"make_{_name}"] = _maker(_name, types[_name])
