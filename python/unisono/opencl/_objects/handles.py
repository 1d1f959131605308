"""What all of OpenCL's objects have in common, and how answers of queries become Python's values."""

import ctypes
import operator
import struct
import sys

from ... import _engine
from . import driver
from .driver import wrong

_plain = {"u": "I", "U": "Q", "z": "N", "i": "i"}


class NameVersion:
    """Name and version of an extension, a language or a kernel."""

    def __init__(self, version=0, name=""):
        self.version, self.name = version, name

    def __repr__(self):
        return f"NameVersion({self.version >> 22}.{self.version >> 12 & 0x3FF}.{self.version & 0xFFF}, {self.name!r})"


def decode(data, kind):
    """Value of an answer: kind is a letter of ctypes' tables, "b" bool, "t" text, "*" and a letter for a list, "v" a
    list of names with versions, or a class of objects."""
    if isinstance(kind, type):
        address = int.from_bytes(data[:8], sys.byteorder)
        return kind.from_int_ptr(address) if address else None
    if isinstance(kind, list):
        count = len(data) // 8
        return [kind[0].from_int_ptr(a) for a in struct.unpack(f"{count}Q", data)]
    if kind == "t":
        return data.rstrip(b"\0").decode("utf-8", "replace")
    if kind == "b":
        return bool(int.from_bytes(data[:4], sys.byteorder))
    if kind == "v":
        return [
            NameVersion(
                struct.unpack_from("I", data, at)[0],
                data[at + 4 : at + 68].split(b"\0")[0].decode(),
            )
            for at in range(0, len(data), 68)
        ]
    if kind == "raw":
        return data
    if kind[0] == "*":
        letter = _plain[kind[1]]
        return list(struct.unpack(f"{len(data) // struct.calcsize(letter)}{letter}", data))
    # Drivers may answer with more or fewer bytes than the standard says.
    return int.from_bytes(data, sys.byteorder, signed=kind == "i")


def expected(value, kind, where):
    """The value; a TypeError if it is of no such class: drivers take the address of any object for the right one's."""
    if not isinstance(value, kind):
        raise TypeError(f"{where}: expected a {kind.__name__}; got {type(value).__name__}")
    return value


class Holder(_engine._DriverObject):
    """An object of OpenCL: its address, counted.

    Two are equal if they are of one class and stand for the same object.
    """

    _retain = _release = None
    _queries = None  # name of the function, kinds of the answers that are not uint32

    @classmethod
    def _of(cls, address):
        """Takes over a reference."""
        self = object.__new__(cls)
        self._address = address
        return self

    @classmethod
    def from_int_ptr(cls, int_ptr_value, retain=True):
        """The object at an address, as `int_ptr` gives it; unless `retain`, a reference is taken over."""
        address = operator.index(int_ptr_value)
        if not address:  # which drivers look behind
            raise wrong(f"{cls.__name__}.from_int_ptr", "INVALID_VALUE", "the address is null")
        if retain and cls._retain:
            driver.call(cls._retain, address)
        return cls._of(address)

    @property
    def int_ptr(self):
        """Address of the driver's object."""
        address = self._address
        if not address:
            raise wrong(
                type(self).__name__, "INVALID_VALUE", "it was released and cannot be used any more"
            )
        return address

    def __del__(self):
        address = getattr(self, "_address", None)
        if address and self._release and driver is not None and driver._functions:
            self._address = None
            driver._functions[self._release](address)

    def get_info(self, param):
        """What the driver answers to a query, one of the constants of the class's ``..._info``."""
        name, kinds = self._queries
        return decode(driver.answer(name, self.int_ptr, param), kinds.get(param, "u"))

    def __eq__(self, other):
        if isinstance(other, Holder):
            return type(self) is type(other) and self._address == other._address
        return NotImplemented

    def __hash__(self):
        return hash((type(self), self._address))


def texts_of(cls, table):
    """Kinds of answers: a table "letter NAME NAME ..., letter NAME ..." of a class of constants."""
    kinds = {}
    for row in table.split(","):
        kind, *names = row.split()
        for name in names:
            kinds[getattr(cls, name)] = kind
    return kinds


def address_array(objects):
    """C array of the addresses of objects."""
    for o in objects:
        if not isinstance(o, Holder):
            raise TypeError(f"expected a list of OpenCL's objects; got {type(o).__name__} in it")
    return (ctypes.c_void_p * len(objects))(*[o.int_ptr for o in objects])
