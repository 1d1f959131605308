"""Counts, sums at positions, runs of equal elements and segments."""

import numpy as np
import unisono as un


@un.kernel
def add_at_numbers(numbers, weights, step, tables, n, pieces, bins):
    """Adds the weight of each element at its number, for each piece into a table that begins with zeros.

    `step` is 1, or 0 where all have the first weight.
    """
    piece = un.global_id(0)
    first = piece * bins
    for k in range(piece * n // pieces, (piece + 1) * n // pieces):
        tables[first + numbers[k]] += weights[k * step]


@un.kernel
def add_tables(tables, out, pieces, bins):
    """The tables of all pieces, added in order."""
    b = un.global_id(0)
    total = tables[b]
    for piece in range(1, pieces):
        total += tables[piece * bins + b]
    out[b] = total


@un.kernel
def doubt_of_bins(edges, doubt, bins):
    """How far, in bins, a guess from evenly spaced edges may be from the truth; 1 where it tells nothing.

    By a group of 256 work-items.
    """
    found = un.local_array(256, np.float64)
    own = un.local_id(0)
    first = edges[0]
    width = edges[bins] - first
    most = 1.0
    if width > 0:
        scale = bins / width
        if scale > 0 and scale < 1e300:
            most = bins * 2.0**-50
            for b in range(own, bins + 1, 256):
                even = (edges[b] - first) * scale
                most = max(most, 2 * abs(even - b))
    found[own] = most
    un.barrier()
    half = 128
    while half > 0:
        if own < half:
            found[own] = max(found[own], found[own + half])
        un.barrier()
        half = half >> 1
    if own == 0:
        doubt[0] = found[0]


@un.kernel
def add_in_even_bins(x, edges, doubt, weights, step, numbers, tables, n, pieces, bins):
    """The same for numbers of bins between evenly spaced edges; number `bins` lies outside.

    Numbers of 64 elements are guessed without branches, and put right where one is in doubt.
    """
    piece = un.global_id(0)
    table = piece * (bins + 1)
    room = piece * 64
    first = edges[0]
    last = edges[bins]
    low = doubt[0]
    high = 1 - low
    scale = 0.0
    if low < 1:
        scale = bins / (last - first)
    end = (piece + 1) * n // pieces
    for begin in range(piece * n // pieces, end, 64):
        count = min(64, end - begin)
        doubtful = 0
        for j in range(count):
            v = x[begin + j]
            guess = (v - first) * scale
            is_inside = (v >= first) & (v <= last)
            guess = guess if is_inside else 0.5
            b = np.int32(guess)
            into = guess - b
            doubtful |= np.int64((into < low) | (into > high))
            b = min(b, np.int32(bins - 1))
            numbers[room + j] = b if is_inside else np.int32(bins)
        if doubtful != 0:
            for j in range(count):
                v = x[begin + j]
                b = np.int64(numbers[room + j])
                if b != bins:
                    while b > 0 and v < edges[b]:
                        b -= 1
                    while b < bins - 1 and v >= edges[b + 1]:
                        b += 1
                    numbers[room + j] = np.int32(b)
        for j in range(count):
            tables[table + numbers[room + j]] += weights[(begin + j) * step]


@un.jit
def bin_between(v, edges, first, last, bins):
    """The bin of a number between any rising edges, of which the last one is closed; `bins` for those outside."""
    low = bins
    if v >= first and v <= last:
        low = 0
        high = bins
        while low + 1 < high:
            middle = (low + high) >> 1
            if v < edges[middle]:
                high = middle
            else:
                low = middle
    return low


@un.kernel
def add_in_bins(x, edges, weights, step, tables, n, pieces, bins):
    """The same between any rising edges."""
    piece = un.global_id(0)
    table = piece * (bins + 1)
    first = edges[0]
    last = edges[bins]
    for k in range(piece * n // pieces, (piece + 1) * n // pieces):
        tables[table + bin_between(x[k], edges, first, last, bins)] += weights[k * step]


@un.jit
def even_bin(v, edges, first, last, scale, doubt, bins):
    """The same between evenly spaced edges: a guess, which is put right where it is in doubt."""
    b = bins
    if v >= first and v <= last:
        guess = (v - first) * scale
        into = guess - np.int64(guess)
        b = min(np.int64(guess), bins - 1)
        if into < doubt or into > 1 - doubt:
            while b > 0 and v < edges[b]:
                b -= 1
            while b < bins - 1 and v >= edges[b + 1]:
                b += 1
    return b


@un.jit
def count_one(table, out, first, b, copies):
    if copies > 0:
        un.atomic.add(table, first + b, np.int32(1))
    else:
        un.atomic.add(out, b, np.int64(1))


@un.jit
def clear_table(table, own):
    for k in range(own, 4096, 256):
        table[k] = np.int32(0)
    un.barrier()


@un.jit
def add_copies(table, out, bins, copies, own):
    """Adds the counts of all copies of a table in group memory."""
    un.barrier()
    if copies > 0:
        for b in range(own, bins, 256):
            total = np.int64(0)
            for copy in range(copies):
                total += np.int64(table[copy * bins + b])
            if total != 0:
                un.atomic.add(out, b, total)


@un.kernel
def count_numbers_by_groups(numbers, lowest, out, n, share, bins, copies):
    """Adds how often each number from `lowest` on occurs: a group of 256 work-items takes `share` of them.

    It has `copies` of a table in its memory, so that few work-items meet at a cell, or none where that is too large.
    """
    table = un.local_array(4096, np.int32)
    own = un.local_id(0)
    clear_table(table, own)
    first = 0
    if copies > 0:
        first = own % copies * bins
    begin = un.group_id(0) * share
    end = min(n, begin + share)
    whole = (end - begin) // 1024 * 1024
    for k in range(begin + own, begin + whole, 1024):
        p, q, r, s = numbers[k], numbers[k + 256], numbers[k + 512], numbers[k + 768]
        count_one(table, out, first, np.int64(p) - lowest, copies)
        count_one(table, out, first, np.int64(q) - lowest, copies)
        count_one(table, out, first, np.int64(r) - lowest, copies)
        count_one(table, out, first, np.int64(s) - lowest, copies)
    for k in range(begin + whole + own, end, 256):
        count_one(table, out, first, np.int64(numbers[k]) - lowest, copies)
    add_copies(table, out, bins, copies, own)


@un.kernel
def count_in_bins_by_groups(x, edges, doubt, out, n, share, bins, copies, is_even):
    """The same for the bins of numbers between edges, which are evenly spaced where `is_even` is not 0."""
    table = un.local_array(4096, np.int32)
    own = un.local_id(0)
    clear_table(table, own)
    place = 0
    if copies > 0:
        place = own % copies * bins
    first = edges[0]
    last = edges[bins]
    low = 1.0
    scale = 0.0
    if is_even != 0:
        low = doubt[0]
        if low < 1:
            scale = bins / (last - first)
    begin = un.group_id(0) * share
    end = min(n, begin + share)
    if begin + own < end:
        following = x[begin + own]
        for k in range(begin + own, end, 256):
            v = following
            following = x[min(k + 256, end - 1)]
            b = bins
            if is_even != 0:
                b = even_bin(v, edges, first, last, scale, low, bins)
            else:
                b = bin_between(v, edges, first, last, bins)
            if b < bins:
                count_one(table, out, place, b, copies)
    add_copies(table, out, bins, copies, own)


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
    first = piece * size
    found = 0
    if piece == 0:
        found = 1
    for k in range(max(1, first), min(n, first + size)):
        a = x[k - 1]
        b = x[k]
        nans = (a != a) & (b != b)
        found += np.int64((nans & (equal_nan == 0)) | (~nans & before(a, b)))
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
def write_firsts(x, counts, total, values, before, equal_nan, pieces, size):
    """Each element is written where the next run goes, up to the first one of the last run."""
    piece = un.global_id(0)
    run = counts[piece]
    last = total[0]
    if piece + 1 < pieces:
        last = counts[piece + 1]
    k = piece * size
    if piece == 0:
        values[0] = x[0]
        run = 1
        k = 1
    while run < last:
        a = x[k - 1]
        b = x[k]
        values[run] = b
        nans = (a != a) & (b != b)
        run += np.int64((nans & (equal_nan == 0)) | (~nans & before(a, b)))
        k += 1


@un.kernel
def write_runs(x, order, counts, values, index, inverse, begins, before, equal_nan, n, size):
    """Also where the run of each element is, where it begins, and its first element."""
    piece = un.global_id(0)
    run = counts[piece]
    for k in range(piece * size, min(n, (piece + 1) * size)):
        b = x[k]
        starts = True
        if k > 0:
            a = x[k - 1]
            nans = (a != a) & (b != b)
            starts = (nans & (equal_nan == 0)) | (~nans & before(a, b))
        if starts:
            values[run] = b
            index[run] = order[k]
            begins[run] = k
            run += 1
        inverse[np.int64(order[k])] = run - 1


@un.kernel
def mark_firsts(x, marks, before, equal_nan):
    """Which of sorted elements begin a run."""
    k = un.global_id(0)
    starts = True
    if k > 0:
        a = x[k - 1]
        b = x[k]
        nans = (a != a) & (b != b)
        starts = (nans & (equal_nan == 0)) | (~nans & before(a, b))
    marks[k] = np.uint8(starts)


@un.kernel
def index_runs(order, begins, total, index):
    run = un.global_id(0)
    if run < total[0]:
        index[run] = np.int64(order[begins[run]])


@un.kernel
def lengths_of_runs(begins, lengths, total, n):
    run = un.global_id(0)
    if run < total[0]:
        end = n
        if run + 1 < total[0]:
            end = begins[run + 1]
        lengths[run] = end - begins[run]


@un.kernel
def range_of_pieces(x, low, high, n, pieces):
    piece = un.global_id(0)
    least = x[piece * n // pieces]
    most = least
    for k in range(piece * n // pieces, (piece + 1) * n // pieces):
        least = min(least, x[k])
        most = max(most, x[k])
    low[piece] = least
    high[piece] = most


@un.kernel
def range_of_all(low, high, pieces):
    """The range of all pieces, in the first of them."""
    first = un.global_id(0)
    for piece in range(1, pieces):
        low[first] = min(low[first], low[piece])
        high[first] = max(high[first], high[piece])


@un.kernel
def range_by_groups(lows, highs, low, high, n, share):
    """The least of `lows` and the most of `highs`: a group of 256 work-items takes `share` of both."""
    leasts = un.local_array(256, lows.dtype)
    mosts = un.local_array(256, lows.dtype)
    own = un.local_id(0)
    begin = un.group_id(0) * share
    end = min(n, begin + share)
    least = lows[begin]
    most = highs[begin]
    for k in range(begin + own, end, 256):
        least = min(least, lows[k])
        most = max(most, highs[k])
    leasts[own] = least
    mosts[own] = most
    un.barrier()
    half = 128
    while half > 0:
        if own < half:
            leasts[own] = min(leasts[own], leasts[own + half])
            mosts[own] = max(mosts[own], mosts[own + half])
        un.barrier()
        half = half >> 1
    if own == 0:
        low[un.group_id(0)] = leasts[0]
        high[un.group_id(0)] = mosts[0]


@un.kernel
def mark_values(x, low, marks, n, pieces, bins):
    """Which values each piece has: marks, one for each value from the lowest on, begin with zeros."""
    piece = un.global_id(0)
    first = piece * bins
    for k in range(piece * n // pieces, (piece + 1) * n // pieces):
        marks[first + np.int64(x[k]) - np.int64(low[0])] = np.uint8(1)


@un.kernel
def mark_counted(counts, marks):
    b = un.global_id(0)
    marks[b] = np.uint8(counts[b] != 0)


@un.kernel
def merge_marks(marks, pieces, bins):
    b = un.global_id(0)
    mark = marks[b]
    for piece in range(1, pieces):
        mark = mark | marks[piece * bins + b]
    marks[b] = mark


@un.kernel
def write_marked(marks, low, counts, values, total, bins, blocks):
    """The marked values of each block, as engine/algorithms/masking.py counts them, and their number."""
    block = un.global_id(0)
    at = counts[block]
    for b in range(block * 16384, min(bins, (block + 1) * 16384)):
        if marks[b] != 0:
            values[at] = np.int64(low[0]) + b
            at += 1
    if block + 1 == blocks:
        total[0] = at


@un.kernel
def write_marked_places(places, low, counts, values, total, blocks):
    """As write_marked, from the places of the marks, of which counts[blocks] are there."""
    i = un.global_id(0)
    if i < counts[blocks]:
        values[i] = np.int64(low[0]) + places[i]
    if i == 0:
        total[0] = counts[blocks]
