"""The words of sub-groups (warps) and work-groups in kernels; warp_library.py has what compiled code runs for them.

A sub-group is 32 work-items of a group that follow each other (axis 0 the fastest), on every place. All work-items of the
group call such a function: it has a barrier.
"""

from __future__ import annotations

from .words import _only_in_kernels


def sub_group_local_id():
    """Index of this work-item in its sub-group (inside of a kernel)."""
    _only_in_kernels("sub_group_local_id")


def sub_group_id():
    """Index of this work-item's sub-group in its group (inside of a kernel)."""
    _only_in_kernels("sub_group_id")


def num_sub_groups():
    """Number of sub-groups of the group (inside of a kernel)."""
    _only_in_kernels("num_sub_groups")


def sub_group_size():
    """Number of work-items of this sub-group: 32, but for a group's last one (inside of a kernel)."""
    _only_in_kernels("sub_group_size")


def sub_group_barrier():
    """Wait until all work-items of the sub-group are here, their writes seen (inside of a kernel)."""
    _only_in_kernels("sub_group_barrier")


def sub_group_broadcast(value, index):
    """The value of the sub-group's work-item `index` (inside of a kernel)."""
    _only_in_kernels("sub_group_broadcast")


def sub_group_shuffle(value, index):
    """The value of another work-item of the sub-group (inside of a kernel).

    Parameters
    ----------
    value : number
        What others may get of this work-item.
    index : int
        Whose value this work-item gets.

    Returns
    -------
    number
        Of the type of `value`.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> @un.kernel
    ... def reverse(a):
    ...     i = un.global_id(0)
    ...     a[i] = un.sub_group_shuffle(a[i], 3 - i)
    >>> a = np.arange(4.0)
    >>> reverse[4, 4](a)
    >>> a.tolist()
    [3.0, 2.0, 1.0, 0.0]
    """
    _only_in_kernels("sub_group_shuffle")


def sub_group_shuffle_up(value, delta):
    """The value of the work-item `delta` before this one, or its own (inside of a kernel)."""
    _only_in_kernels("sub_group_shuffle_up")


def sub_group_shuffle_down(value, delta):
    """The value of the work-item `delta` behind this one, or its own (inside of a kernel)."""
    _only_in_kernels("sub_group_shuffle_down")


def sub_group_shuffle_xor(value, mask):
    """The value of the work-item whose index is this one's with the bits of `mask` flipped (inside of a kernel)."""
    _only_in_kernels("sub_group_shuffle_xor")


def sub_group_ballot(predicate):
    """A uint32 with a bit for each work-item of the sub-group that says yes (inside of a kernel)."""
    _only_in_kernels("sub_group_ballot")


def sub_group_any(predicate):
    """Whether a work-item of the sub-group says yes (inside of a kernel)."""
    _only_in_kernels("sub_group_any")


def sub_group_all(predicate):
    """Whether all work-items of the sub-group say yes (inside of a kernel)."""
    _only_in_kernels("sub_group_all")


def sub_group_reduce_add(value):
    """Sum of the values of the sub-group, in order (inside of a kernel)."""
    _only_in_kernels("sub_group_reduce_add")


def sub_group_scan_inclusive_add(value):
    """Sum of the values of the sub-group up to this work-item's (inside of a kernel)."""
    _only_in_kernels("sub_group_scan_inclusive_add")


def sub_group_scan_exclusive_add(value):
    """Sum of the values of the sub-group before this work-item's (inside of a kernel)."""
    _only_in_kernels("sub_group_scan_exclusive_add")


def sub_group_reduce_min(value):
    """Least of the values of the sub-group, in order (inside of a kernel)."""
    _only_in_kernels("sub_group_reduce_min")


def sub_group_scan_inclusive_min(value):
    """Least of the values of the sub-group up to this work-item's (inside of a kernel)."""
    _only_in_kernels("sub_group_scan_inclusive_min")


def sub_group_scan_exclusive_min(value):
    """Least of the values of the sub-group before this work-item's (inside of a kernel)."""
    _only_in_kernels("sub_group_scan_exclusive_min")


def sub_group_reduce_max(value):
    """Largest of the values of the sub-group, in order (inside of a kernel)."""
    _only_in_kernels("sub_group_reduce_max")


def sub_group_scan_inclusive_max(value):
    """Largest of the values of the sub-group up to this work-item's (inside of a kernel)."""
    _only_in_kernels("sub_group_scan_inclusive_max")


def sub_group_scan_exclusive_max(value):
    """Largest of the values of the sub-group before this work-item's (inside of a kernel)."""
    _only_in_kernels("sub_group_scan_exclusive_max")


def work_group_broadcast(value, index):
    """The value of the group's work-item `index`, by `local_linear_id` (inside of a kernel)."""
    _only_in_kernels("work_group_broadcast")


def work_group_any(predicate):
    """Whether a work-item of the work-group says yes (inside of a kernel)."""
    _only_in_kernels("work_group_any")


def work_group_all(predicate):
    """Whether all work-items of the work-group say yes (inside of a kernel)."""
    _only_in_kernels("work_group_all")


def work_group_reduce_add(value):
    """Sum of the values of the work-group, in order (inside of a kernel)."""
    _only_in_kernels("work_group_reduce_add")


def work_group_scan_inclusive_add(value):
    """Sum of the values of the work-group up to this work-item's (inside of a kernel)."""
    _only_in_kernels("work_group_scan_inclusive_add")


def work_group_scan_exclusive_add(value):
    """Sum of the values of the work-group before this work-item's (inside of a kernel)."""
    _only_in_kernels("work_group_scan_exclusive_add")


def work_group_reduce_min(value):
    """Least of the values of the work-group, in order (inside of a kernel)."""
    _only_in_kernels("work_group_reduce_min")


def work_group_scan_inclusive_min(value):
    """Least of the values of the work-group up to this work-item's (inside of a kernel)."""
    _only_in_kernels("work_group_scan_inclusive_min")


def work_group_scan_exclusive_min(value):
    """Least of the values of the work-group before this work-item's (inside of a kernel)."""
    _only_in_kernels("work_group_scan_exclusive_min")


def work_group_reduce_max(value):
    """Largest of the values of the work-group, in order (inside of a kernel)."""
    _only_in_kernels("work_group_reduce_max")


def work_group_scan_inclusive_max(value):
    """Largest of the values of the work-group up to this work-item's (inside of a kernel)."""
    _only_in_kernels("work_group_scan_inclusive_max")


def work_group_scan_exclusive_max(value):
    """Largest of the values of the work-group before this work-item's (inside of a kernel)."""
    _only_in_kernels("work_group_scan_exclusive_max")
