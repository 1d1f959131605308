"""Registers our arrays with libraries that keep tables of array types, once such a library is imported (`_imports.py`).

einops and dask compute with what their tables name and ask arrays for no protocol; pandas, and NumPy's own testing and
ctypeslib, test what they are given for NumPy's class, and for nothing that an array could answer.
"""

import unisono as un


def register_with_numbers(numbers):
    """The types of scalars: ``isinstance(x, numbers.Real)``."""
    for base in un._engine._scalar_bases:
        getattr(numbers, base.__name__.lstrip("_")).register(base)


def register_with_einops(backends):
    """Add a backend that computes with the package's functions (the NumPy backend calls a namespace's)."""

    class Backend(backends.NumpyBackend):
        framework_name = "unisono"

        def __init__(self):
            self.np = un

        def from_numpy(self, x):
            return un.asarray(x)

        def to_numpy(self, x):
            return x.to_numpy()

    backends.UnisonoBackend = Backend  # einops finds the subclasses that are alive


def register_with_dask(backends):
    """Quantiles of chunks; dask's other functions ask NumPy's protocols."""
    backends.percentile_lookup.register(un.ndarray, backends._percentile)


def _unpacked(key):
    if isinstance(key, list):
        return _with_numpys_numbers(key)
    # By its type: the __class__ of arrays of records is ndarray.
    is_array = issubclass(type(key), un._engine._Array)
    return key.to_numpy() if is_array and key.ndim else key


_most_missing = 4  # objects in front of the first number that are looked at, as None among numbers


def _with_numpys_numbers(objects):
    """A list or an array of objects; as a list, and with NumPy's numbers for ours, where it begins with such."""
    from .numpys_elements import as_numpys_number

    if not any(isinstance(x, un._engine._Array) and not x.ndim for x in objects[:_most_missing]):
        return objects
    return list(map(as_numpys_number, objects))


def _replace(owner, name, make):
    """Put what `make` makes of an owner's function in its place, under its name."""
    from functools import wraps

    function = getattr(owner, name)
    setattr(owner, name, wraps(function)(make(function)))


def register_with_pandas(common):
    """Keys of ``frame[...]``, ``frame.loc`` and ``frame.iloc``."""
    _replace(
        common,
        "apply_if_callable",
        lambda f: lambda key, *args, **named: f(_unpacked(key), *args, **named),
    )


def register_with_columns(cast):
    """Columns made of objects, of a number, or of what a function of each element gives: there numbers of ours are of NumPy's classes."""
    from .numpys_elements import as_numpys_number

    lib = cast.lib

    def converting(convert):
        def replacement(objects, *args, **named):
            numbers = _with_numpys_numbers(objects) if objects.ndim == 1 else objects
            if numbers is not objects:
                objects = objects.copy()
                objects[:] = numbers
            return convert(objects, *args, **named)

        return replacement

    def mapping(mapped):
        def replacement(*args, convert=True, **named):
            made = mapped(*args, convert=convert, **named)
            has_ours = convert and made.dtype == object and _with_numpys_numbers(made) is not made
            return lib.maybe_convert_objects(made) if has_ours else made

        return replacement

    for name in ("maybe_convert_objects", "maybe_convert_numeric"):
        _replace(lib, name, converting)
    _replace(lib, "map_infer", mapping)
    for name in (
        "construct_1d_arraylike_from_scalar",
        "construct_2d_arraylike_from_scalar",
        "find_result_type",
        "infer_dtype_from",
        "infer_dtype_from_scalar",
        "maybe_promote",
        "np_can_hold_element",
    ):
        _replace(
            cast,
            name,
            lambda f: (
                lambda *args, **named: f(
                    *map(as_numpys_number, args),
                    **{key: as_numpys_number(value) for key, value in named.items()},
                )
            ),
        )


def register_with_missing(missing):
    """``pd.isna`` of a number."""
    from .numpys_elements import as_numpys_number

    _replace(
        missing.libmissing,
        "checknull",
        lambda f: lambda value, *args, **named: f(as_numpys_number(value), *args, **named),
    )


def register_with_groups(grouper):
    """Keys of ``groupby``, which pandas would look up in the index."""
    _replace(grouper, "_convert_grouper", lambda f: lambda axis, key: f(axis, _unpacked(key)))


def register_with_pivots(pivot):
    """``index=`` and ``columns=`` of ``pivot_table``."""
    _replace(pivot, "_convert_by", lambda f: lambda by: f(_unpacked(by)))


def register_with_frames(frame):
    """Keys of ``set_index``."""

    def unpacking(set_index):
        def replacement(self, keys, *args, **named):
            keys = list(map(_unpacked, keys)) if isinstance(keys, list) else _unpacked(keys)
            return set_index(self, keys, *args, **named)

        return replacement

    _replace(frame.DataFrame, "set_index", unpacking)


def _operand(x):
    """As `_unpacked`; of what has ``__array__`` that gives an array of ours, as a program's class may have, NumPy's array."""
    if issubclass(type(x), un._engine._Array):
        return x if x._is_value() else x.to_numpy()
    if not hasattr(type(x), "__array__"):
        return _unpacked(x)
    if type(x).__module__.partition(".")[0] in ("numpy", "pandas"):
        return x
    made = x.__array__()
    if isinstance(made, un._engine._Array):
        return made.to_numpy()
    return made if type(x).__module__.startswith("unisono.") else x  # records


def register_with_testing(testing):
    """Operands of NumPy's assertions, some of which ask for its class."""
    for name in (
        "assert_allclose",
        "assert_almost_equal",
        "assert_array_almost_equal",
        "assert_array_equal",
        "assert_array_less",
        "assert_equal",
    ):
        for module in (testing, testing._private.utils):  # one calls itself, of items
            _replace(
                module,
                name,
                lambda f: (
                    lambda *args, **named: f(
                        *map(_operand, args), **{k: _operand(v) for k, v in named.items()}
                    )
                ),
            )


def register_with_ctypeslib(ctypeslib):
    """Arguments of C functions whose ``argtypes`` are of ``ndpointer``, and of ``as_ctypes``."""
    _replace(ctypeslib, "as_ctypes", lambda f: lambda obj: f(_unpacked(obj)))
    convert = ctypeslib._ndptr.from_param.__func__
    ctypeslib._ndptr.from_param = classmethod(lambda cls, obj: convert(cls, _unpacked(obj)))


def register_with_distances(distance):
    """Distances that are written into an array."""
    for name in ("cdist", "pdist"):

        def writing(f):
            def replacement(*args, out=None, **named):
                made = f(*args, out=_unpacked(out), **named)
                return made if out is None else out

            return replacement

        _replace(distance, name, writing)


def register_with_superlu(superlu):
    """Right-hand sides of ``splu(a).solve``, ``spilu`` and ``factorized``, whose class SciPy writes in C."""

    class Factors:
        def __init__(self, factors):
            self._factors = factors

        def __getattr__(self, name):
            return getattr(self._factors, name)

        __class__ = property(lambda self: type(self._factors))

        def solve(self, rhs, trans="N"):
            return self._factors.solve(_unpacked(rhs), trans)

    _replace(superlu, "gstrf", lambda f: lambda *args, **named: Factors(f(*args, **named)))
