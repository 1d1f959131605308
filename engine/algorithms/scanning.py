"""Running sums and the like: blocks of 512 elements, combined in the order of the host's scans."""

import numpy as np
import unisono as un


@un.kernel
def scan_totals(x, totals, combine, n, blocks):
    """The total of each whole block of each lane of n elements, which has `blocks` blocks."""
    item = un.global_id(0)
    lane = item // blocks
    block = item - lane * blocks
    first = lane * n + block * 512
    last = min(first + 512, (lane + 1) * n)
    total = x[first]
    for k in range(first + 1, last):
        total = combine(total, x[k])
    totals[item] = total


@un.kernel
def scan_carries(totals, combine, blocks):
    """Of each lane what comes before the block after each block."""
    first = un.global_id(0) * blocks
    carry = totals[first]
    for k in range(first + 1, first + blocks):
        carry = combine(carry, totals[k])
        totals[k] = carry


@un.kernel
def scan_blocks(x, carries, out, combine, n, blocks):
    item = un.global_id(0)
    lane = item // blocks
    block = item - lane * blocks
    first = lane * n + block * 512
    last = min(first + 512, (lane + 1) * n)
    value = x[first]
    if block == 0:
        out[first] = value
        for k in range(first + 1, last):
            value = combine(value, x[k])
            out[k] = value
    else:
        carry = carries[item - 1]
        out[first] = combine(carry, value)
        for k in range(first + 1, last):
            value = combine(value, x[k])
            out[k] = combine(carry, value)


@un.jit
def load_rows(x, tile, firsts, counts, begin, own):
    """Elements `begin` to `begin + 32` of 32 blocks into the rows of a tile: a work-item of 128 takes a column of 8 rows.

    Rows that end before give any of their elements, which nobody reads: all loads are under way at once.
    """
    column = own % 32
    row = own // 32 * 8
    at = begin + column
    p = x[firsts[row] + max(min(at, counts[row] - 1), 0)]
    q = x[firsts[row + 1] + max(min(at, counts[row + 1] - 1), 0)]
    r = x[firsts[row + 2] + max(min(at, counts[row + 2] - 1), 0)]
    s = x[firsts[row + 3] + max(min(at, counts[row + 3] - 1), 0)]
    t = x[firsts[row + 4] + max(min(at, counts[row + 4] - 1), 0)]
    u = x[firsts[row + 5] + max(min(at, counts[row + 5] - 1), 0)]
    v = x[firsts[row + 6] + max(min(at, counts[row + 6] - 1), 0)]
    w = x[firsts[row + 7] + max(min(at, counts[row + 7] - 1), 0)]
    to = row * 33 + column
    tile[to] = p
    tile[to + 33] = q
    tile[to + 66] = r
    tile[to + 99] = s
    tile[to + 132] = t
    tile[to + 165] = u
    tile[to + 198] = v
    tile[to + 231] = w


@un.kernel
def scan_totals_by_tiles(x, totals, combine, n, blocks, items):
    """As scan_totals, for `items` blocks: a group of 128 work-items takes 32 of them.

    All read neighbours into a tile of 32 elements of each block, of which 32 work-items combine a row each.
    """
    tile = un.local_array(32 * 33, x.dtype)
    firsts = un.local_array(32, np.int64)
    counts = un.local_array(32, np.int64)
    own = un.local_id(0)
    item = un.group_id(0) * 32 + own
    lane = item // blocks
    block = item - lane * blocks
    first = 0
    count = 0
    if own < 32 and item < items:
        first = lane * n + block * 512
        count = min(512, (lane + 1) * n - first)
    if own < 32:
        firsts[own] = first
        counts[own] = count
    total = x[0]
    un.barrier()
    for begin in range(0, min(n, 512), 32):
        load_rows(x, tile, firsts, counts, begin, own)
        un.barrier()
        for j in range(min(32, count - begin)):
            z = tile[own * 33 + j]
            total = combine(total, z) if begin + j > 0 else z
        un.barrier()
    if count > 0:
        totals[item] = total


@un.kernel
def scan_carries_by_tiles(totals, combine, blocks):
    """As scan_carries: 32 work-items move what the first of them combines."""
    tile = un.local_array(1024, totals.dtype)
    own = un.local_id(0)
    first = un.group_id(0) * blocks
    carry = totals[first]
    for begin in range(0, blocks, 1024):
        count = min(1024, blocks - begin)
        for k in range(own, count, 32):
            tile[k] = totals[first + begin + k]
        un.barrier()
        if own == 0:
            start = 0
            if begin == 0:
                start = 1
            whole = start + (count - start) // 4 * 4
            for k in range(start, whole, 4):
                p, q, r, s = tile[k], tile[k + 1], tile[k + 2], tile[k + 3]
                p = combine(carry, p)
                q = combine(p, q)
                r = combine(q, r)
                carry = combine(r, s)
                tile[k] = p
                tile[k + 1] = q
                tile[k + 2] = r
                tile[k + 3] = carry
            for k in range(whole, count):
                carry = combine(carry, tile[k])
                tile[k] = carry
        un.barrier()
        for k in range(own, count, 32):
            totals[first + begin + k] = tile[k]
        un.barrier()


@un.kernel
def scan_blocks_by_tiles(x, carries, out, combine, n, blocks, items):
    """As scan_blocks, by the tiles of scan_totals_by_tiles."""
    tile = un.local_array(32 * 33, x.dtype)
    firsts = un.local_array(32, np.int64)
    counts = un.local_array(32, np.int64)
    own = un.local_id(0)
    column = own % 32
    row = own // 32 * 8
    item = un.group_id(0) * 32 + own
    lane = item // blocks
    block = item - lane * blocks
    first = 0
    count = 0
    if own < 32 and item < items:
        first = lane * n + block * 512
        count = min(512, (lane + 1) * n - first)
    if own < 32:
        firsts[own] = first
        counts[own] = count
    value = x[0]
    carry = value
    if block > 0 and count > 0:
        carry = carries[item - 1]
    un.barrier()
    for begin in range(0, min(n, 512), 32):
        load_rows(x, tile, firsts, counts, begin, own)
        un.barrier()
        for j in range(min(32, count - begin)):
            z = tile[own * 33 + j]
            value = combine(value, z) if begin + j > 0 else z
            tile[own * 33 + j] = combine(carry, value) if block > 0 else value
        un.barrier()
        at = begin + column
        for b in range(row, row + 8):
            if at < counts[b]:
                out[firsts[b] + at] = tile[b * 33 + column]
        un.barrier()


@un.kernel
def first_extremes(x, places, values, better, n, pieces, size):
    """The place of the first best element of each piece of each lane; a NaN is the best.

    Blocks of 512 elements are first asked for any better one, which needs no branches.
    """
    item = un.global_id(0)
    lane = item // pieces
    first = lane * n + (item - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    best = x[first]
    place = first
    for begin in range(first, last, 512):
        end = min(begin + 512, last)
        found = 0
        for k in range(begin, end):
            found |= np.int64(better(x[k], best))
        if found != 0 and best == best:
            for k in range(begin, end):
                v = x[k]
                if best == best and better(v, best):
                    best = v
                    place = k
    places[item] = place - lane * n
    values[item] = best


@un.kernel
def first_of_pieces(places, values, out, better, pieces):
    lane = un.global_id(0)
    first = lane * pieces
    best = values[first]
    place = places[first]
    for k in range(first + 1, first + pieces):
        v = values[k]
        if best == best and better(v, best):
            best = v
            place = places[k]
    out[lane] = place


@un.jit
def is_smaller(a, b):
    """Whether a number is better than another, as a NaN is."""
    return not (a >= b)


@un.jit
def is_larger(a, b):
    return not (a <= b)


@un.jit
def is_smaller_complex(a, b):
    x, y, u, v = a.real, b.real, a.imag, b.imag
    return a != a or x < y or (x == y and u < v)


@un.jit
def is_larger_complex(a, b):
    x, y, u, v = a.real, b.real, a.imag, b.imag
    return a != a or x > y or (x == y and u > v)
