"""Methods of sets and dicts given other items than those of a set or dict, written in Python themselves.

What goes in another set stays a set; of several arguments each is given to the result of the one before.
"""

from __future__ import annotations

from . import jit


@jit
def update(table, items):
    if isinstance(table, set):
        for x in items:
            table.add(x)
    else:
        for k, v in items:
            table[k] = v


@jit
def union(items, others):
    made = items.copy()
    for x in others:
        made.add(x)
    return made


@jit
def difference(items, others):
    made = items.copy()
    for x in others:
        made.discard(x)
    return made


@jit
def intersection(items, others):
    return items & set(others)


@jit
def symmetric_difference(items, others):
    return items ^ set(others)


@jit
def as_set(items):
    if isinstance(items, set):
        return items
    else:
        return set(items)


@jit
def issubset(items, others):
    return items <= set(others)


@jit
def issuperset(items, others):
    for x in others:
        if x not in items:
            return False
    return True


@jit
def isdisjoint(items, others):
    for x in others:
        if x in items:
            return False
    return True


methods = (
    update,
    union,
    difference,
    intersection,
    symmetric_difference,
    issubset,
    issuperset,
    isdisjoint,
)
