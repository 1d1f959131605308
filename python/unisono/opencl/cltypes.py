"""OpenCL's scalar and vector types as dtypes of NumPy: `float4`, `make_float4`, `filled_float4`..."""

import numpy as np

char, uchar, short, ushort = np.int8, np.uint8, np.int16, np.uint16
int, uint, long, ulong = np.int32, np.uint32, np.int64, np.uint64
half, float, double = np.float16, np.float32, np.float64

_scalars = {
    "char": char, "uchar": uchar, "short": short, "ushort": ushort, "int": int, "uint": uint, "long": long,
    "ulong": ulong, "float": float, "double": double,
}  # fmt: skip
vec_types = {}  # by (scalar dtype, number of elements)
vec_type_to_scalar_and_count = {}
vec_names = {}


def _make(name, scalar, count):
    """The vector type and its makers; three elements take the room of four."""
    room = 4 if count == 3 else count
    names = [f"s{k}" for k in range(count)] + ["padding0"] * (room - count)
    titles = list("xyzw"[:count]) if count <= 4 else names
    titles += ["padding0"] * (room - len(titles))
    if count > 4:
        dtype = np.dtype({"names": names, "formats": [scalar] * room})
    else:
        titles = [None if t == n else t for t, n in zip(titles, names, strict=True)]
        dtype = np.dtype([((t, n) if t else n, scalar) for t, n in zip(titles, names, strict=True)])

    def make(*values):
        if len(values) > count:
            raise ValueError(f"make_{name}: expected {count} numbers; got {len(values)}")
        return np.array(tuple(values) + (0,) * (room - len(values)), dtype)

    def filled(value):
        return make(*[value] * count)

    def zeros():
        return np.zeros((), dtype)

    def ones():
        return filled(1)

    made = {
        name: dtype,
        f"make_{name}": make,
        f"filled_{name}": filled,
        f"zeros_{name}": zeros,
        f"ones_{name}": ones,
    }
    for key, value in made.items():
        if callable(value) and not isinstance(value, np.dtype):
            value.__name__ = value.__qualname__ = key
            value.__doc__ = f"A {name} {dict(m='of numbers', f='of one number', z='of zeros', o='of ones')[key[0]]}."
    globals().update(made)
    vec_types[np.dtype(scalar), count] = dtype
    vec_type_to_scalar_and_count[dtype] = np.dtype(scalar), count
    vec_names[name] = dtype


for _name, _scalar in _scalars.items():
    for _count in (2, 3, 4, 8, 16):
        _make(f"{_name}{_count}", _scalar, _count)
