"""Stable sorts by unsigned keys, and what is made of them.

A lane of n elements is cut into pieces, each of which one work-item reads in order. Elements go to
the places of their digits: eight bits of the keys at a time from the lowest on, or, on devices with
few cores and caches, the number of the bucket between sampled keys, each of which then is sorted in
the cache. counts[(lane * pieces + piece) * digits + digit] says first how many elements of the piece
have the digit, then where in the lane they go. Where `paired` is not 0 the numbers of the elements
move with their keys.
"""

import numpy as np
import unisono as un


@un.jit
def key_itself(v, flip, sign, infinity, apart):
    return v


@un.jit
def key_of_integer(v, flip, sign, infinity, apart):
    """The key of the bits of an integer, and the bits of a key."""
    return v ^ flip


@un.jit
def key_of_float(v, flip, sign, infinity, apart):
    """Of the bits of a float: NaN has the largest key; zeros of both signs are equal unless `apart`."""
    key = v ^ sign
    if v >= sign:
        key = ~v
    if apart == 0 and v == sign:
        key = sign
    if (v & ~sign) > infinity:
        key = ~(v ^ v)
    return key ^ flip


@un.jit
def float_of_key(key, flip, sign, infinity, apart):
    own = key ^ flip
    v = ~own
    if own >= sign:
        v = own ^ sign
    return v


@un.kernel
def convert_keys(x, out, convert, flip, sign, infinity, apart):
    i = un.global_id(0)
    out[i] = convert(x[i], flip, sign, infinity, apart)


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
def radix_prefixes(counts, totals, pieces, digits):
    """Work-item (lane, digit): how many elements with the digit lie in pieces before each."""
    lane = un.global_id(0)
    d = un.global_id(1)
    total = 0
    for k in range(lane * pieces, (lane + 1) * pieces):
        c = counts[k * digits + d]
        counts[k * digits + d] = total
        total += c
    totals[lane * digits + d] = total


@un.kernel
def radix_starts(totals, digits):
    """Where the elements with each digit begin in a lane."""
    base = un.global_id(0) * digits
    total = 0
    for d in range(digits):
        c = totals[base + d]
        totals[base + d] = total
        total += c


@un.kernel
def radix_scatter(keys, order, out, out_order, counts, starts, paired, shift, n, pieces, size):
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
        if paired != 0:
            out_order[lane * n + at] = order[k]


@un.kernel
def fill_digits(starts, out, n):
    """Work-item (lane, digit): all keys of eight bits that are the digit, where they go in the lane."""
    lane = un.global_id(0)
    d = un.global_id(1)
    end = n
    if d < 255:
        end = np.int64(starts[lane * 256 + d + 1])
    for k in range(np.int64(starts[lane * 256 + d]), end):
        out[lane * n + k] = np.uint8(d)


@un.kernel
def sample_keys(keys, samples, n, count):
    """Some keys of each lane, at places that look drawn but follow from n and `count`."""
    item = un.global_id(0)
    lane = item // count
    samples[item] = keys[lane * n + (item - lane * count) * 2654435761 % n]


@un.kernel
def splitter_tree(samples, tree, count, begin, window, buckets):
    """The search tree of the sorted samples that part the buckets; node k has children 2k, 2k + 1.

    They part `window` of the `count` samples of each lane, from `begin` on, evenly.
    """
    lane = un.global_id(0)
    first = lane * count + begin
    width = window
    level = 1
    while level < buckets:
        for k in range(level):
            tree[lane * buckets + level + k] = samples[first + k * width + (width >> 1) - 1]
        width = width >> 1
        level = level << 1


@un.kernel
def bucket_counts(keys, tree, bucket, counts, n, pieces, size, buckets):
    """The bucket of each key."""
    item = un.global_id(0)
    lane = item // pieces
    first = lane * n + (item - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    base = item * buckets
    root = lane * buckets
    for d in range(buckets):
        counts[base + d] = 0
    for k in range(first, last):
        key = keys[k]
        node = 1
        while node < buckets:
            node = 2 * node + np.int64(key > tree[root + node])
        d = node - buckets
        bucket[k] = np.uint16(d)
        counts[base + d] += 1


@un.kernel
def bucket_scatter(
    keys, order, bucket, out, out_order, counts, starts, paired, n, pieces, size, buckets
):
    item = un.global_id(0)
    lane = item // pieces
    first = lane * n + (item - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    base = item * buckets
    for d in range(buckets):
        counts[base + d] += starts[lane * buckets + d]
    for k in range(first, last):
        d = np.int64(bucket[k])
        at = np.int64(counts[base + d])
        counts[base + d] = np.int32(at + 1)
        out[lane * n + at] = keys[k]
        if paired != 0:
            out_order[lane * n + at] = order[k]


@un.jit
def insert(keys, order, paired, first, k):
    """Puts element k among those from `first` on, which are sorted; returns how far it moves."""
    key = keys[k]
    number = np.int32(0)
    if paired != 0:
        number = order[k]
    j = k
    while j > first and keys[j - 1] > key:
        keys[j] = keys[j - 1]
        if paired != 0:
            order[j] = order[j - 1]
        j -= 1
    keys[j] = key
    if paired != 0:
        order[j] = number
    return k - j


@un.kernel
def sort_buckets(keys, order, starts, paired, wanted, end, n, buckets, all):
    """Sorts each bucket of keys[:all] and of order[:all]; the elements behind `all` are scratch.

    Buckets without any of the places [wanted, end) of a lane stay as they are.

    Keys of a bucket often differ in their leading 16 bits already: those are sorted by digits and
    the rest by insertion, which gives up where it has to move much; then all bits are sorted.
    """
    part = un.global_id(0)
    lane = part // buckets
    first = lane * n + np.int64(starts[part])
    last = (lane + 1) * n
    if part + 1 < (lane + 1) * buckets:
        last = lane * n + np.int64(starts[part + 1])
    counts = un.local_array(256, np.int32)
    if last - first > 1 and first < lane * n + end and last > lane * n + wanted:
        low = keys[first]
        high = low
        for k in range(first + 1, last):
            low = min(low, keys[k])
            high = max(high, keys[k])
        span = high - low
        bits = 0
        while bits < 64 and (span >> bits) != 0:
            bits += 1
        begin = max(0, bits - 16)
        is_sorted = False
        while not is_sorted:
            here = 0
            for shift in range(begin, bits, 8):
                there = all - here
                for d in range(256):
                    counts[d] = 0
                for k in range(here + first, here + last):
                    counts[np.int64(((keys[k] - low) >> shift) & 255)] += 1
                at = first
                for d in range(256):
                    c = np.int64(counts[d])
                    counts[d] = np.int32(at - first)
                    at += c
                for k in range(here + first, here + last):
                    key = keys[k]
                    d = np.int64(((key - low) >> shift) & 255)
                    at = np.int64(counts[d])
                    counts[d] = np.int32(at + 1)
                    keys[there + first + at] = key
                    if paired != 0:
                        order[there + first + at] = order[k]
                here = there
            if here != 0:
                for k in range(first, last):
                    keys[k] = keys[all + k]
                    if paired != 0:
                        order[k] = order[all + k]
            is_sorted = True
            if begin > 0:
                moves = 8 * (last - first)
                k = first + 1
                while k < last and moves >= 0:
                    if keys[k - 1] > keys[k]:
                        moves -= insert(keys, order, paired, first, k)
                    k += 1
                is_sorted = moves >= 0
                begin = 0


@un.kernel
def sort_short_lanes(keys, order, paired, n):
    """Sorts the lane of each work-item by insertion."""
    first = un.global_id(0) * n
    for k in range(first + 1, first + n):
        insert(keys, order, paired, first, k)


@un.kernel
def copy_elements(x, out):
    i = un.global_id(0)
    out[i] = x[i]


@un.kernel
def number_elements(order, n):
    """Work-item (lane, k): k."""
    k = un.global_id(1)
    order[un.global_id(0) * n + k] = k


@un.kernel
def take_lanes(x, order, out, n, width, count):
    """out[lane, k] = x[lane, order[lane, k]] for the first `count` of `width` places of each lane."""
    lane = un.global_id(0)
    k = un.global_id(1)
    out[lane * count + k] = x[lane * n + np.int64(order[lane * width + k])]


@un.kernel
def take_orders(order, out, width, count):
    lane = un.global_id(0)
    k = un.global_id(1)
    out[lane * count + k] = order[lane * width + k]


@un.kernel
def least_of_pieces(keys, least, places, n, pieces, count):
    """The `count` first keys of each piece in their order, with their places in the lane.

    64 keys at a time are compared with the last of them. A piece has at least `count` elements.
    """
    item = un.global_id(0)
    lane = item // pieces
    piece = item - lane * pieces
    base = item * count
    last = lane * n + (piece + 1) * n // pieces
    held = 0
    for begin in range(lane * n + piece * n // pieces, last, 64):
        end = min(begin + 64, last)
        low = keys[begin]
        for k in range(begin + 1, end):
            low = min(low, keys[k])
        if held < count or low < least[base + count - 1]:
            for k in range(begin, end):
                key = keys[k]
                if held < count or key < least[base + count - 1]:
                    held = min(held + 1, count)
                    j = held - 1
                    while j > 0 and least[base + j - 1] > key:
                        least[base + j] = least[base + j - 1]
                        places[base + j] = places[base + j - 1]
                        j -= 1
                    least[base + j] = key
                    places[base + j] = k - lane * n


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
    return (a < b) | ((b != b) & (a == a))
