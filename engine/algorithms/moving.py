"""Blocks of elements at positions, and elements under masks.

Work-item (o, i, p) moves point p of block i, for point o of the axes before the blocks. Block i of
the table begins at ``first + index[i] * stride``; where `extent` is not 0, negative indices count
from there.
"""

import numpy as np
import unisono as un


@un.kernel
def gather(
    table, index, rows, first, stride, extent, row, outer_table, outer_rows, point_table, point_rows
):
    o = un.global_id(0)
    i = un.global_id(1)
    p = un.global_id(2)
    at = index[i]
    if at < 0:
        at += extent
    at = first + at * stride + o * outer_table + p * point_table
    rows[i * row + o * outer_rows + p * point_rows] = table[at]


@un.jit
def is_inside(at, extent):
    return (at >= -extent) & (at < extent)


@un.jit
def take_four(table, index, rows, k, first, stride, extent):
    """Take elements at four positions, 256 from each other, whose loads are under way at once; returns whether all lie inside."""
    at = np.empty(4, np.int64)
    taken = np.empty(4, table.dtype)
    inside = True
    for i in range(4):
        at[i] = np.int64(index[k + 256 * i])
    for i in range(4):
        own = at[i]
        inside &= is_inside(own, extent)
        if own < 0:
            own += extent
        taken[i] = table[first + (own if is_inside(at[i], extent) else 0) * stride]
    for i in range(4):
        rows[k + 256 * i] = taken[i]
    return inside


@un.kernel
def gather_checked(table, index, rows, first, stride, extent, place, n):
    """Take elements at n positions, of which a group of 256 work-items has 1024, four each.

    `place` holds the first place of a position that lies outside, or the largest number.
    """
    k = un.group_id(0) * 1024 + un.local_id(0)
    is_taken = False
    if k + 768 < n and extent > 0:
        is_taken = take_four(table, index, rows, k, first, stride, extent)
    if not is_taken:
        for i in range(k, min(k + 1024, n), 256):
            at = np.int64(index[i])
            if is_inside(at, extent):
                if at < 0:
                    at += extent
                rows[i] = table[first + at * stride]
            else:
                un.atomic.min(place, 0, i)


@un.kernel
def gather_blocks(
    table, index, rows, first, stride, extent, row, outer_table, outer_rows, point_table, point_rows
):
    """The same with a list of offsets for the points of the axes before and in blocks."""
    o = un.global_id(0)
    i = un.global_id(1)
    p = un.global_id(2)
    at = index[i]
    if at < 0:
        at += extent
    at = first + at * stride + outer_table[o] + point_table[p]
    rows[i * row + outer_rows[o] + point_rows[p]] = table[at]


@un.kernel
def scatter_blocks(
    table,
    index,
    rows,
    last,
    lowest,
    table_first,
    stride,
    extent,
    row,
    rows_first,
    outer_table,
    outer_rows,
    point_table,
    point_rows,
):
    """Row i goes to block index[i] of the table, where i is the last row of that index."""
    o = un.global_id(0)
    i = un.global_id(1)
    p = un.global_id(2)
    at = index[i]
    if at < 0:
        at += extent
    if last[at - lowest] == i:
        at = table_first + at * stride + outer_table[o] + point_table[p]
        table[at] = rows[rows_first + i * row + outer_rows[o] + point_rows[p]]


@un.kernel
def last_rows(index, last, extent, lowest):
    """The last row of each index."""
    i = un.global_id(0)
    at = index[i]
    if at < 0:
        at += extent
    un.atomic.max(last, at - lowest, i)


@un.kernel
def add_axis(offsets, below, extent, stride):
    """Add to the offset of each point what an axis gives, inside of which `below` points lie."""
    k = un.global_id(0)
    offsets[k] += k // below % extent * stride


@un.kernel
def fill_with(x, value):
    x[un.global_id(0)] = value


@un.kernel
def first_outside(index, place, extent):
    """The first place of a position that lies outside of an axis; `place` holds the largest one."""
    i = un.global_id(0)
    at = index[i]
    if at < -extent or at >= extent:
        un.atomic.min(place, 0, i)
