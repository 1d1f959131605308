"""Stable sorts by unsigned keys, eight bits at a time, and what is made of them.

A lane of n elements is cut into pieces, each of which one work-item reads in order. counts[(lane *
pieces + piece) * 256 + digit] says first how many elements of the piece have the digit, then where in
the lane they go.
"""

import numpy as np
import unisono as un


@un.kernel
def keys_of_unsigned(x, keys, flip):
    i = un.global_id(0)
    keys[i] = x[i] ^ flip


@un.kernel
def keys_of_floats(x, keys, flip, sign, infinity, apart):
    """Of the bits of floats: NaN has the largest key; zeros of both signs are equal unless `apart`."""
    i = un.global_id(0)
    v = x[i]
    key = v ^ sign
    if v >= sign:
        key = ~v
    if apart == 0 and v == sign:
        key = sign
    if (v & ~sign) > infinity:
        key = ~(v ^ v)
    keys[i] = key ^ flip


@un.kernel
def floats_of_keys(keys, x, flip, sign):
    i = un.global_id(0)
    key = keys[i] ^ flip
    v = ~key
    if key >= sign:
        v = key ^ sign
    x[i] = v


@un.kernel
def radix_counts(keys, counts, shift, n, pieces, size):
    item = un.global_id(0)
    lane = item // pieces
    first = lane * n + (item - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    base = item * 256
    for d in range(256):
        counts[base + d] = 0
    for k in range(first, last):
        d = np.int64((keys[k] >> shift) & 255)
        counts[base + d] += 1


@un.kernel
def radix_prefixes(counts, totals, pieces):
    """Work-item (lane, digit): how many elements with the digit lie in pieces before each."""
    lane = un.global_id(0)
    d = un.global_id(1)
    total = 0
    for k in range(lane * pieces, (lane + 1) * pieces):
        c = counts[k * 256 + d]
        counts[k * 256 + d] = total
        total += c
    totals[lane * 256 + d] = total


@un.kernel
def radix_starts(totals):
    """Where the elements with each digit begin in a lane."""
    base = un.global_id(0) * 256
    total = 0
    for d in range(256):
        c = totals[base + d]
        totals[base + d] = total
        total += c


@un.kernel
def radix_scatter(keys, out, counts, starts, shift, n, pieces, size):
    item = un.global_id(0)
    lane = item // pieces
    first = lane * n + (item - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    base = item * 256
    for d in range(256):
        counts[base + d] += starts[lane * 256 + d]
    for k in range(first, last):
        key = keys[k]
        d = np.int64((key >> shift) & 255)
        at = np.int64(counts[base + d])
        counts[base + d] = np.int32(at + 1)
        out[lane * n + at] = key


@un.kernel
def radix_scatter_pairs(keys, order, out, out_order, counts, starts, shift, n, pieces, size):
    """The same for keys with the numbers of their elements."""
    item = un.global_id(0)
    lane = item // pieces
    first = lane * n + (item - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    base = item * 256
    for d in range(256):
        counts[base + d] += starts[lane * 256 + d]
    for k in range(first, last):
        key = keys[k]
        d = np.int64((key >> shift) & 255)
        at = np.int64(counts[base + d])
        counts[base + d] = np.int32(at + 1)
        out[lane * n + at] = key
        out_order[lane * n + at] = order[k]


@un.kernel
def sort_short_lanes(keys, order, n):
    """Sorts the lane of each work-item by insertion."""
    first = un.global_id(0) * n
    for k in range(first + 1, first + n):
        key = keys[k]
        number = order[k]
        j = k
        while j > first and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            order[j] = order[j - 1]
            j -= 1
        keys[j] = key
        order[j] = number


@un.kernel
def number_elements(order, n):
    i = un.global_id(0)
    order[i] = i % n


@un.kernel
def take_lanes(x, order, out, n, count):
    """out[lane, k] = x[lane, order[lane, k]] for the first `count` elements of each lane."""
    i = un.global_id(0)
    lane = i // count
    out[i] = x[lane * n + np.int64(order[lane * n + i - lane * count])]


@un.kernel
def take_orders(order, out, n, count):
    i = un.global_id(0)
    lane = i // count
    out[i] = order[lane * n + i - lane * count]


@un.kernel
def complex_classes(x, keys):
    """Which parts are NaN, as a key: none, the imaginary one, the real one, both."""
    i = un.global_id(0)
    v = x[i]
    a, b = v.real, v.imag
    keys[i] = np.uint8((2 if a != a else 0) + (1 if b != b else 0))


@un.kernel
def part_bits(x, out, part):
    i = un.global_id(0)
    out[i] = x[2 * i + part]


@un.kernel
def search_sorted(x, values, places, before, right, n):
    i = un.global_id(0)
    v = values[i]
    low = 0
    high = n
    while low < high:
        middle = (low + high) >> 1
        goes_on = not before(v, x[middle]) if right else before(x[middle], v)
        if goes_on:
            low = middle + 1
        else:
            high = middle
    places[i] = low


@un.jit
def before_number(a, b):
    return a < b or (b != b and a == a)
