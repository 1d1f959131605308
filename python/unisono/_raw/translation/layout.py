"""What types alone tell of a place: the sizes and offsets of members of what a null pointer would point to."""

from __future__ import annotations

import numpy as np

from ..syntax.nodes import CType
from . import expressions
from .records import count_of, missing
from .words import NUMPY


def record_of_null(body, e):
    """The struct to which a null pointer would point, or None."""
    if e[0] == "cast" and e[2].is_pointer and expressions.is_null(e):
        return e[2].record
    found = body.find(e[2]) if e[0] == "name" else None
    is_null = found is not None and found.kind == "pointer" and found.made is not None
    return found.made.record if is_null else None


def member(body, e):
    """(CType, bytes from the start) of ``p->a.b`` with a null pointer ``p``; None of all else."""
    if e[0] != "member":
        return None
    owner, name = e[2], e[3]
    record, offset = None, 0
    if owner[0] == "unary" and owner[2] == "*":
        record = record_of_null(body, owner[3])
    else:
        found = member(body, owner)
        if found is not None:
            record, offset = found[0].record, found[1]
    if record is None:
        return None
    made = record.members.get(name)
    if made is None:
        missing(body, e[1], record, name)
    return made.type, offset + made.offset


def bytes_of(made: CType):
    """What sizeof says."""
    if made.is_pointer:
        return 8 * count_of(made.extents)
    one = made.record.size if made.record else np.dtype(NUMPY.get(made.base, made.base)).itemsize
    return one * count_of(made.extents)


def offset_of(body, e):
    """The bytes that the address of a member of a null pointer counts; None of all else."""
    found = member(body, e[3]) if e[0] == "unary" and e[2] == "&" else None
    return None if found is None else found[1]
