"""How types of elements are made of others, as programs ask again: `Get_envelope`, `Get_contents` and `decode`."""

import functools
import inspect

_names = """
NAMED DUP CONTIGUOUS VECTOR HVECTOR_INTEGER HVECTOR INDEXED HINDEXED_INTEGER HINDEXED INDEXED_BLOCK STRUCT_INTEGER
STRUCT SUBARRAY DARRAY F90_REAL F90_COMPLEX F90_INTEGER RESIZED HINDEXED_BLOCK
"""
combiners = {name: number for number, name in enumerate(_names.split())}  # Open MPI's numbers
# What a type was made from, by name, as numbers and as addresses; `n` is the count of blocks.
_integers = {
    "CONTIGUOUS": "count", "VECTOR": "count blocklength stride", "HVECTOR": "count blocklength",
    "INDEXED": "n blocklengths displacements", "HINDEXED": "n blocklengths", "INDEXED_BLOCK": "n blocklength displacements",
    "HINDEXED_BLOCK": "n blocklength", "STRUCT": "n blocklengths", "SUBARRAY": "n sizes subsizes starts order",
    "DARRAY": "size rank n gsizes distribs dargs psizes order",
}  # fmt: skip
_addresses = {
    "HVECTOR": "stride", "HINDEXED": "displacements", "HINDEXED_BLOCK": "displacements", "STRUCT": "displacements",
    "RESIZED": "lb extent",
}  # fmt: skip


class Recipe:
    """The call that made a type: its name in MPI, the types and the other arguments."""

    def __init__(self, name, types, arguments):
        self.name, self.types, self.arguments = name, types, arguments

    def flat(self, names):
        """The arguments of these names as one list of numbers."""
        made = []
        for name in names.split():
            value = self._blocks() if name == "n" else self.arguments[name]
            made += value if isinstance(value, list) else [value]
        return made

    def _blocks(self):
        lists = ("displacements", "sizes", "gsizes")
        return len(next(self.arguments[name] for name in lists if name in self.arguments))

    def contents(self):
        """Numbers, addresses, counts, and types."""
        integers = self.flat(_integers.get(self.name, ""))
        return integers, self.flat(_addresses.get(self.name, "")), [], list(self.types)


def remembered(create):
    """A constructor of types whose results know how they were made."""
    name = create.__name__.removeprefix("Create_").upper()
    signature = inspect.signature(create)

    @functools.wraps(create)
    def made(self, *args, **kwargs):
        result = create(self, *args, **kwargs)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        arguments = {k: _plain(v) for k, v in list(bound.arguments.items())[1:]}
        types = arguments.get("datatypes", [self])
        result._recipe = Recipe(name, types, arguments)
        return result

    return made


def _plain(value):
    if value is None or isinstance(value, int):
        return value
    return list(value) if hasattr(value, "__iter__") else value.__index__()
