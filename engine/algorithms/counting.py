"""Counts, sums at positions, runs of equal elements and segments."""

import numpy as np
import unisono as un


@un.kernel
def count_pieces(numbers, tables, n, pieces, bins):
    """How often each number occurs in each piece; tables begin with zeros."""
    piece = un.global_id(0)
    first = piece * bins
    for k in range(piece * n // pieces, (piece + 1) * n // pieces):
        tables[first + numbers[k]] += 1


@un.kernel
def add_weights(numbers, weights, tables, n, pieces, bins):
    piece = un.global_id(0)
    first = piece * bins
    for k in range(piece * n // pieces, (piece + 1) * n // pieces):
        tables[first + numbers[k]] += weights[k]


@un.kernel
def add_tables(tables, out, pieces, bins):
    """The tables of all pieces, added in order."""
    b = un.global_id(0)
    total = tables[b]
    for piece in range(1, pieces):
        total += tables[piece * bins + b]
    out[b] = total


@un.kernel
def bins_of(x, edges, numbers, bins, uniform):
    """Between which rising edges a value lies; `bins` for those outside. The last bin is closed."""
    i = un.global_id(0)
    v = x[i]
    first = edges[0]
    last = edges[bins]
    found = bins
    if v >= first and v <= last:
        scale = bins / (last - first)
        if uniform != 0 and scale > 0 and scale < 1e300:
            found = min(np.int64((v - first) * scale), bins - 1)
            while found > 0 and v < edges[found]:
                found -= 1
            while found < bins - 1 and v >= edges[found + 1]:
                found += 1
        else:
            low = 0
            high = bins
            while low + 1 < high:
                middle = (low + high) >> 1
                if v < edges[middle]:
                    high = middle
                else:
                    low = middle
            found = low
    numbers[i] = found


@un.kernel
def position_keys(positions, keys, lowest):
    i = un.global_id(0)
    keys[i] = positions[i] - lowest


@un.kernel
def combine_runs(keys, order, values, table, combine, first, n):
    """Values of equal keys go into one element, one after the other, in the order of the values."""
    i = un.global_id(0)
    key = keys[i]
    if i == 0 or keys[i - 1] != key:
        at = first + np.int64(key)
        k = i
        while k < n and keys[k] == key:
            table[at] = combine(table[at], values[np.int64(order[k])])
            k += 1


@un.jit
def subtract(a, b):
    return a - b


@un.jit
def divide(a, b):
    return a / b


@un.kernel
def segment_sums(x, begins, out, lanes, stack, combine, n, count, done):
    """Each segment as a whole sum: leaves of 512 elements in 32 lanes, then a binary tree."""
    item = un.global_id(0)
    s = done + item
    first = begins[s]
    end = n
    if s + 1 < count:
        end = begins[s + 1]
    size = max(1, end - first)
    lane = item * 32
    top = item * 64
    depth = 0
    leaf = 0
    while leaf * 512 < size:
        begin = first + leaf * 512
        length = min(512, size - leaf * 512)
        present = min(32, length)
        for j in range(present):
            lanes[lane + j] = x[begin + j]
        for j in range(32, length):
            lanes[lane + j % 32] = combine(lanes[lane + j % 32], x[begin + j])
        half = 16
        while half > 0:
            for j in range(half):
                if j + half < present:
                    lanes[lane + j] = combine(lanes[lane + j], lanes[lane + j + half])
            half = half >> 1
        value = lanes[lane]
        number = leaf
        while number & 1:
            depth -= 1
            value = combine(stack[top + depth], value)
            number = number >> 1
        stack[top + depth] = value
        depth += 1
        leaf += 1
    value = stack[top + depth - 1]
    for d in range(2, depth + 1):
        value = combine(stack[top + depth - d], value)
    out[s] = value


@un.kernel
def count_firsts(x, counts, before, equal_nan, n, size):
    """How many runs of equal sorted elements begin in each piece."""
    piece = un.global_id(0)
    found = 0
    for k in range(piece * size, min(n, (piece + 1) * size)):
        starts = True
        if k > 0:
            a = x[k - 1]
            b = x[k]
            starts = before(a, b) or (equal_nan == 0 and a != a and b != b)
        if starts:
            found += 1
    counts[piece] = found


@un.kernel
def sum_counts(counts, total, pieces):
    """What comes before each piece, and all."""
    before = 0
    for k in range(pieces):
        c = counts[k]
        counts[k] = before
        before += c
    total[un.global_id(0)] = before


@un.kernel
def write_firsts(x, counts, values, before, equal_nan, n, size):
    piece = un.global_id(0)
    run = counts[piece]
    for k in range(piece * size, min(n, (piece + 1) * size)):
        starts = True
        b = x[k]
        if k > 0:
            a = x[k - 1]
            starts = before(a, b) or (equal_nan == 0 and a != a and b != b)
        if starts:
            values[run] = b
            run += 1


@un.kernel
def write_runs(x, order, counts, values, index, inverse, begins, before, equal_nan, n, size):
    """Also where the run of each element is, where it begins, and its first element."""
    piece = un.global_id(0)
    run = counts[piece]
    for k in range(piece * size, min(n, (piece + 1) * size)):
        starts = True
        b = x[k]
        if k > 0:
            a = x[k - 1]
            starts = before(a, b) or (equal_nan == 0 and a != a and b != b)
        if starts:
            values[run] = b
            index[run] = order[k]
            begins[run] = k
            run += 1
        inverse[np.int64(order[k])] = run - 1


@un.kernel
def lengths_of_runs(begins, lengths, total, n):
    run = un.global_id(0)
    if run < total[0]:
        end = n
        if run + 1 < total[0]:
            end = begins[run + 1]
        lengths[run] = end - begins[run]
