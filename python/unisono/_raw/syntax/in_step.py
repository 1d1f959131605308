"""Statements by which work-items of a warp exchange values through volatile memory without a barrier.

Texts from before Volta sum the last 32 values of a group so: ``volatile`` makes each access one of memory, and a warp is
known to execute a statement in step, all reads before all writes. Here, and on later devices, work-items meet in between.
"""

from __future__ import annotations

from .nodes import CType, Place


def exchange(p, e, first):
    """The block that an assignment is where it reads other elements of the volatile memory it writes; else None.

    `first` is the position of its first token.
    """
    if e[0] != "assign":
        return None
    _, place, op, target, value = e
    is_element = target[0] == "index" and target[2][:1] == ("name",)
    if not is_element or target[2][2] not in p.volatile or not _reads_others(value, _bare(target)):
        return None
    name = f"in_step_{p.at}"
    made = value if op == "=" else ("binary", place, op[:-1], target, value)
    meet = ("evaluate", place, ("call", place, ("name", place, "__syncwarp", None), []))
    put = ("assign", place, "=", target, ("name", place, name, None))
    read = ("declare", place, [(CType("auto"), name, made, place)], False)
    before = [] if p.met == first else [meet]
    p.met = p.at
    return ("block", place, [*before, read, meet, ("evaluate", place, put), meet])


def _reads_others(tree, target):
    """Whether the expression has another element of the target's memory."""
    if not isinstance(tree, (tuple, list)):
        return False
    if tree[:1] == ("index",) and _bare(tree[2]) == target[2] and _bare(tree) != target:
        return True
    return any(_reads_others(one, target) for one in tree)


def _bare(tree):
    """The tree without places."""
    if isinstance(tree, Place):
        return None
    return tuple(map(_bare, tree)) if isinstance(tree, (tuple, list)) else tree
