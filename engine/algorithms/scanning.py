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
