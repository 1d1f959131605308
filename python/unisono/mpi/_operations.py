"""Operations of reductions: on buffers by MPI, on objects by Python."""

import operator


class Op:
    """An operation of reductions; calling it combines two objects.

    Examples
    --------
    >>> import unisono as un
    >>> un.mpi.SUM(2, 3), un.mpi.MAX(2, 3)
    (5, 3)
    """

    def __init__(self, name, code, function, on_memory=None):
        self.name = name
        self._code = code
        self._function = function
        self._on_memory = (
            on_memory  # of a user: function(earlier, own, type) leaves its result in `own`
        )

    @classmethod
    def Create(cls, function, commute=False):
        """An operation that calls ``function(earlier, own, datatype)``, which leaves its result in the memory `own`.

        Of objects it returns the result, and `datatype` is None.
        """

        def combine(x, y):
            made = function(x, y, None)
            return y if made is None else made

        return cls("user's operation", None, combine, function)

    def Free(self):
        """Forget the operation: nothing is to be done."""

    def Is_commutative(self):
        """Whether the order of operands does not matter."""
        return self._on_memory is None and self.name not in ("REPLACE", "NO_OP")

    def Reduce_local(self, inbuf, inoutbuf):
        """Combine a buffer with another, where the result is left."""
        from ._buffers.datatypes import specified

        parts = [
            specified(b, True) if isinstance(b, list | tuple) else b for b in (inbuf, inoutbuf)
        ]
        made = combined(self, parts)
        if hasattr(parts[1], "dtype"):
            parts[1][...] = made
        else:
            memoryview(parts[1]).cast("B")[:] = memoryview(made).cast("B")

    is_commutative = property(Is_commutative, doc="Whether the order of operands does not matter.")
    is_predefined = property(
        lambda self: self._on_memory is None, doc="Whether it is one of MPI's."
    )

    def __call__(self, x, y):
        return self._function(x, y)

    def __repr__(self):
        return f"unisono.mpi.{self.name}"

    def __reduce__(self):
        if self._on_memory is None:
            return _of_name, (self.name,)
        return Op.Create, (self._on_memory,)

    @property
    def _in_compiled_code(self):
        from .._jit.mpi_library import operations

        return operations.get(self.name)


def _of_name(name):
    return globals()[name]


def _choice(arrays, objects):
    def choose(x, y):
        if getattr(x, "ndim", 0) or getattr(y, "ndim", 0):
            import unisono

            return getattr(unisono, arrays)(x, y)
        return objects(x, y)

    return choose


def _located(better):
    """On pairs (value, place): of equal values the lower place."""

    def choose(x, y):
        if x[0] == y[0]:
            return (x[0], min(x[1], y[1]))
        return x if better(x[0], y[0]) else y

    return choose


# The codes are those of engine/comm/messages.h.
SUM = Op("SUM", 0, operator.add)
PROD = Op("PROD", 1, operator.mul)
MAX = Op("MAX", 2, _choice("maximum", max))
MIN = Op("MIN", 3, _choice("minimum", min))
LAND = Op("LAND", 4, _choice("logical_and", lambda x, y: bool(x) and bool(y)))
BAND = Op("BAND", 4, operator.and_)
LOR = Op("LOR", 5, _choice("logical_or", lambda x, y: bool(x) or bool(y)))
BOR = Op("BOR", 5, operator.or_)
LXOR = Op("LXOR", 6, _choice("logical_xor", lambda x, y: bool(x) != bool(y)))
BXOR = Op("BXOR", 6, operator.xor)
REPLACE = Op("REPLACE", 7, lambda x, y: y)
NO_OP = Op("NO_OP", 8, lambda x, y: x)
MAXLOC = Op("MAXLOC", None, _located(operator.gt))
MINLOC = Op("MINLOC", None, _located(operator.lt))


def combined(op, parts):
    """Arrays of equal length, combined in their order element by element, for operations that MPI has no number for."""
    import numpy

    from ._buffers.datatypes import Datatype

    made = numpy.array(parts[0])
    for part in parts[1:]:
        own = numpy.array(part)
        if op._on_memory is not None:
            op._on_memory(
                memoryview(made).cast("B"), memoryview(own).cast("B"), Datatype.fromcode(own.dtype)
            )
            made = own
        elif op in (MAXLOC, MINLOC):
            made = numpy.array(
                [op(tuple(a), tuple(b)) for a, b in zip(made, own, strict=True)], own.dtype
            )
        else:
            made = numpy.asarray(op(made, own)).astype(own.dtype)
    return made


def is_of_mpi(op, dtype):
    """Whether it is for MPI, on elements of that dtype, to compute or refuse."""
    if op in (LAND, LOR, LXOR):
        return not dtype.startswith(("int", "uint"))
    if op in (MAXLOC, MINLOC):
        return not dtype.startswith(("[", "{"))  # records (value, place)
    return op._code is not None and dtype not in ("float128", "complex256")


def code_of(op, call, dtype=None):
    """The engine's number of an operation on buffers."""
    if not isinstance(op, Op) or op._code is None:
        raise TypeError(
            f"{call}: no operation on buffers; got {op!r}; expected SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR or "
            "BXOR; lower-case functions take any function of two objects"
        )
    if op in (LAND, LOR, LXOR) and dtype is not None and dtype != "bool":
        raise TypeError(
            f"{call}: {op.name} takes elements of bool; got {dtype}; convert them with .astype(bool)"
        )
    return op._code
