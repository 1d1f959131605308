"""Stable sorts of unsigned keys on devices of many lanes: groups of 128 work-items sort tiles of 2048 elements.

A lane of n elements is cut into pieces, whose tiles a group takes one after the other. A tile lies in the group's memory,
where it is sorted by four bits at a time; then what has one digit of eight bits lies side by side, and neighbours go to
neighbouring places of the lane. counts[(lane * 256 + digit) * pieces + piece] says first how many elements of the piece
have the digit, then how many of the lane's pieces before it. Rows of a tile have room between them, so that work-items that
read a row each meet different banks.

The first pass over the digits may read elements, of which `to_key` makes keys, and the last one write elements, which `from_key`
makes of them (sorting.py). Where `paired` is 1 the numbers of the elements move with their keys; where it is 2 they are their
places in the lane so far. `keeps_keys` is 0 where nobody needs the keys any more.
"""

import numpy as np
import unisono as un
from unisono import cuda
from unisono._jit.words import warp_ballot, warp_barrier


@un.jit
def sum_before(value, sums, own):
    """What the 128 work-items of a group before this one have; the sum of all is sums[255] then."""
    here = 0
    total = value
    sums[own] = total
    un.barrier()
    for level in range(7):
        if own >= 1 << level:
            total += sums[here + own - (1 << level)]
        here = 128 - here
        sums[here + own] = total
        un.barrier()
    return total - value


@un.jit
def load_tile(x, tile, first, count, own, rest):
    """Elements from `first` on, and behind the last of them `rest`: all loads are under way at once."""
    held = np.empty(16, x.dtype)
    for i in range(16):
        held[i] = x[first + min(own + 128 * i, count - 1)]
    for i in range(16):
        k = own + 128 * i
        tile[k + (k >> 4)] = held[i] if k < count else rest


@un.jit
def sort_by_four_bits(tile, numbers, paired, words, sums, own, shift):
    """Sorts a tile by four bits of its keys; each work-item holds 16 elements that lie side by side.

    The word of a work-item counts its elements with two digits: with d in its lower half, with d + 8 in its upper one.
    """
    held = cuda.local.array(16, tile.dtype)
    held_numbers = cuda.local.array(16, np.int32)
    column = own + (own >> 3)
    for w in range(8):
        words[w * 144 + column] = np.int32(0)
    for i in range(16):
        key = tile[own * 17 + i]
        held[i] = key
        if paired != 0:
            held_numbers[i] = numbers[own * 17 + i]
        d = np.int32((key >> shift) & 15)
        words[(d & 7) * 144 + column] += np.int32(1) << ((d >> 3) << 4)
    un.barrier()
    total = np.int32(0)
    for w in range(8):
        total += words[own * 9 + w]
    before = sum_before(total, sums, own)
    before += sums[255] << 16
    for w in range(8):
        count = words[own * 9 + w]
        words[own * 9 + w] = before
        before += count
    un.barrier()
    for i in range(16):
        key = held[i]
        d = np.int32((key >> shift) & 15)
        half = (d >> 3) << 4
        word = (d & 7) * 144 + column
        at = words[word]
        words[word] = at + (np.int32(1) << half)
        at = (at >> half) & 0xFFFF
        at += at >> 4
        tile[at] = key
        if paired != 0:
            numbers[at] = held_numbers[i]
    un.barrier()


@un.jit
def count_eight(keys, found, first, to_key, shift, flip, sign, infinity, apart):
    """Adds to the counts of digits those of elements 128 from each other, from `first` on."""
    held = np.empty(8, keys.dtype)
    for i in range(8):
        held[i] = keys[first + 128 * i]
    for i in range(8):
        key = to_key(held[i], flip, sign, infinity, apart)
        un.atomic.add(found, np.int64((key >> shift) & 255), 1)


@un.kernel
def counts_of_digits(keys, counts, to_key, shift, n, pieces, size, flip, sign, infinity, apart):
    """How many elements of each piece have each digit."""
    found = un.local_array(256, np.int32)
    own = un.local_id(0)
    lane = un.group_id(0) // pieces
    piece = un.group_id(0) - lane * pieces
    first = lane * n + piece * size
    last = min(first + size, (lane + 1) * n)
    found[own] = 0
    found[own + 128] = 0
    un.barrier()
    whole = first + (last - first) // 1024 * 1024
    for begin in range(first + own, whole, 1024):
        count_eight(keys, found, begin, to_key, shift, flip, sign, infinity, apart)
    for k in range(whole + own, last, 128):
        key = to_key(keys[k], flip, sign, infinity, apart)
        un.atomic.add(found, np.int64((key >> shift) & 255), 1)
    un.barrier()
    row = (lane * 256 + own) * pieces + piece
    counts[row] = found[own]
    counts[row + 128 * pieces] = found[own + 128]


@un.jit
def find_eight_prefixes(counts, sums, first, last, own, carry):
    """Puts in place of eight counts of each work-item, from `first` on, what comes before each; returns what all have."""
    held = cuda.local.array(8, np.int32)
    for i in range(8):
        held[i] = counts[min(first + i, last - 1)]
    total = np.int32(0)
    for i in range(8):
        count = held[i] if first + i < last else np.int32(0)
        held[i] = total
        total += count
    before = carry + sum_before(total, sums, own)
    for i in range(8):
        if first + i < last:
            counts[first + i] = before + held[i]
    return sums[255]


@un.kernel
def prefixes_of_digits(counts, totals, pieces):
    """A group for each (lane, digit): how many elements with the digit lie in pieces before each."""
    sums = un.local_array(256, np.int32)
    own = un.local_id(0)
    row = un.group_id(0)
    last = (row + 1) * pieces
    carry = np.int32(0)
    for begin in range(row * pieces, last, 1024):
        carry += find_eight_prefixes(counts, sums, begin + 8 * own, last, own, carry)
        un.barrier()
    if own == 0:
        totals[row] = carry


@un.kernel
def prefixes_of_few(counts, totals, pieces):
    """As prefixes_of_digits, by one work-item each."""
    row = un.global_id(0)
    total = np.int32(0)
    for k in range(row * pieces, (row + 1) * pieces):
        c = counts[k]
        counts[k] = total
        total += c
    totals[row] = total


@un.jit
def find_first_places(counts, totals, places, sums, lane, piece, pieces, own):
    """Where in the lane the piece's first element with each digit goes."""
    row = lane * 256 + 2 * own
    of_first = totals[row]
    before = sum_before(of_first + totals[row + 1], sums, own)
    places[2 * own] = before + counts[row * pieces + piece]
    places[2 * own + 1] = before + of_first + counts[(row + 1) * pieces + piece]


@un.kernel
def scatter_digits(
    keys,
    order,
    out,
    out_order,
    counts,
    totals,
    to_key,
    from_key,
    paired,
    keeps_keys,
    shift,
    n,
    pieces,
    size,
    flip,
    sign,
    infinity,
    apart,
):
    tile = un.local_array(2176, keys.dtype)
    numbers = un.local_array(2176, np.int32)
    words = un.local_array(1152, np.int32)
    sums = un.local_array(256, np.int32)
    places = un.local_array(256, np.int32)
    begins = un.local_array(256, np.int32)
    ends = un.local_array(256, np.int32)
    own = un.local_id(0)
    lane = un.group_id(0) // pieces
    piece = un.group_id(0) - lane * pieces
    first = lane * n + piece * size
    last = min(first + size, (lane + 1) * n)
    find_first_places(counts, totals, places, sums, lane, piece, pieces, own)
    for begin in range(first, last, 2048):
        count = min(2048, last - begin)
        begins[own], begins[own + 128] = 0, 0
        ends[own], ends[own + 128] = 0, 0
        load_tile(keys, tile, begin, count, own, keys[begin])
        for i in range(16):
            k = own + 128 * i
            key = to_key(tile[k + (k >> 4)], flip, sign, infinity, apart)
            tile[k + (k >> 4)] = key if k < count else ~(key ^ key)
        if paired == 1:
            load_tile(order, numbers, begin, count, own, np.int32(0))
        elif paired == 2:
            for i in range(16):
                k = own + 128 * i
                numbers[k + (k >> 4)] = np.int32(begin - lane * n + k)
        un.barrier()
        sort_by_four_bits(tile, numbers, paired, words, sums, own, shift)
        sort_by_four_bits(tile, numbers, paired, words, sums, own, shift + 4)
        for i in range(16):
            k = own + 128 * i
            if k < count:
                d = np.int64((tile[k + (k >> 4)] >> shift) & 255)
                before_it = np.int64((tile[max(k - 1, 0) + (max(k - 1, 0) >> 4)] >> shift) & 255)
                if k == 0 or before_it != d:
                    begins[d] = k
                    if k > 0:
                        ends[before_it] = k
                if k == count - 1:
                    ends[d] = count
        un.barrier()
        for i in range(16):
            k = own + 128 * i
            if k < count:
                key = tile[k + (k >> 4)]
                d = np.int64((key >> shift) & 255)
                at = lane * n + places[d] + k - begins[d]
                if keeps_keys != 0:
                    out[at] = from_key(key, flip, sign, infinity, apart)
                if paired != 0:
                    out_order[at] = numbers[k + (k >> 4)]
        un.barrier()
        places[own] += ends[own] - begins[own]
        places[own + 128] += ends[own + 128] - begins[own + 128]


@un.jit
def sort_by_votes(
    keys,
    order,
    tile,
    numbers,
    to_key,
    paired,
    words,
    sums,
    begin,
    place,
    count,
    own,
    shift,
    flip,
    sign,
    infinity,
    apart,
):
    """Brings `count` elements from `begin` on into a tile, sorted by a digit; sums[d] is where those with digit d begin.

    words[warp * 256 + d] counts those of each warp. The 16 elements of a lane stand 32 from each other. The first one of the
    tile has number `place` in its lane. Loads of whole tiles need no test, and are under way at once.
    """
    held = cuda.local.array(16, keys.dtype)
    held_numbers = cuda.local.array(16, np.int32)
    ranks = cuda.local.array(16, np.int32)
    own_lane = own & 31
    table = (own >> 5) << 8
    element = ((own >> 5) << 9) + own_lane
    lower = (np.uint32(1) << np.uint32(own_lane)) - np.uint32(1)
    first_of_own = begin + np.int64(element)
    is_whole = count == 2048
    if is_whole:
        for i in range(16):
            held[i] = keys[first_of_own + 32 * i]
    else:
        for i in range(16):
            held[i] = keys[begin + np.int64(min(element + 32 * i, count - 1))]
    for i in range(8):
        words[own + 128 * i] = 0
    un.barrier()
    for i in range(16):
        key = to_key(held[i], flip, sign, infinity, apart)
        if element + 32 * i >= count:
            key = ~(key ^ key)
        held[i] = key
        d = np.int32((key >> shift) & 255)
        same = np.uint32(0xFFFFFFFF)
        for b in range(8):
            is_clear = (d & np.int32(1 << b)) == 0  # R2P makes predicates of several bits
            votes = warp_ballot(is_clear)
            same &= votes ^ np.uint32((d << np.int32(31 - b)) >> np.int32(31))
        before = np.int32(np.bitwise_count(same & lower))
        of_all = np.int32(np.bitwise_count(same))
        if before == 0:
            words[table + d] += of_all
        warp_barrier()
        ranks[i] = words[table + d] - of_all + before
        warp_barrier()
    un.barrier()
    a, b, c, e = words[2 * own], words[256 + 2 * own], words[512 + 2 * own], words[768 + 2 * own]
    f, g, h, j = (
        words[2 * own + 1],
        words[257 + 2 * own],
        words[513 + 2 * own],
        words[769 + 2 * own],
    )
    first = a + b + c + e
    to = sum_before(first + f + g + h + j, sums, own)
    words[2 * own] = to
    words[256 + 2 * own] = to + a
    words[512 + 2 * own] = to + a + b
    words[768 + 2 * own] = to + a + b + c
    sums[2 * own] = to
    to += first
    words[2 * own + 1] = to
    words[257 + 2 * own] = to + f
    words[513 + 2 * own] = to + f + g
    words[769 + 2 * own] = to + f + g + h
    sums[2 * own + 1] = to
    un.barrier()
    for i in range(16):
        ranks[i] += words[table + np.int32((held[i] >> shift) & 255)]
        tile[ranks[i]] = held[i]
    if paired == 1:
        if is_whole:
            for i in range(16):
                held_numbers[i] = order[first_of_own + 32 * i]
        else:
            for i in range(16):
                held_numbers[i] = order[begin + np.int64(min(element + 32 * i, count - 1))]
    else:
        for i in range(16):
            held_numbers[i] = place + element + np.int32(32 * i)
    if paired != 0:
        for i in range(16):
            numbers[ranks[i]] = held_numbers[i]
    un.barrier()


@un.kernel
def scatter_by_votes(
    keys,
    order,
    out,
    out_order,
    counts,
    totals,
    to_key,
    from_key,
    paired,
    keeps_keys,
    shift,
    n,
    pieces,
    size,
    flip,
    sign,
    infinity,
    apart,
):
    """As scatter_digits, where a warp says at once who has which digit: each holds 512 elements of a tile, 16 a lane."""
    tile = un.local_array(2048, keys.dtype)
    numbers = un.local_array(2048, np.int32)
    words = un.local_array(1024, np.int32)
    sums = un.local_array(256, np.int32)
    places = un.local_array(256, np.int32)
    own = un.local_id(0)
    lane = un.group_id(0) // pieces
    piece = un.group_id(0) - lane * pieces
    first = lane * n + piece * size
    last = min(first + size, (lane + 1) * n)
    find_first_places(counts, totals, places, sums, lane, piece, pieces, own)
    for begin in range(first, last, 2048):
        count = np.int32(min(2048, last - begin))
        sort_by_votes(
            keys,
            order,
            tile,
            numbers,
            to_key,
            paired,
            words,
            sums,
            np.int64(begin),
            np.int32(begin - lane * n),
            count,
            np.int32(own),
            shift,
            flip,
            sign,
            infinity,
            apart,
        )
        # From here on places[d] is where element 0 of the tile would go, if it had the digit.
        places[2 * own] -= sums[2 * own]
        places[2 * own + 1] -= sums[2 * own + 1]
        un.barrier()
        for i in range(16):
            k = np.int32(own) + np.int32(128 * i)
            if k < count:
                key = tile[k]
                d = np.int32((key >> shift) & 255)
                at = lane * n + np.int64(places[d] + k)
                if keeps_keys != 0:
                    out[at] = from_key(key, flip, sign, infinity, apart)
                if paired != 0:
                    out_order[at] = numbers[k]
        un.barrier()
        places[2 * own] += sums[2 * own + 1]
        if own < 127:
            places[2 * own + 1] += sums[2 * own + 2]
        else:
            places[255] += count
        un.barrier()


@un.kernel
def sort_tiles(keys, order, paired, n, bits):
    """Sorts lanes of at most 2048 elements, a group each."""
    tile = un.local_array(2176, keys.dtype)
    numbers = un.local_array(2176, np.int32)
    words = un.local_array(1152, np.int32)
    sums = un.local_array(256, np.int32)
    own = un.local_id(0)
    first = un.group_id(0) * n
    load_tile(keys, tile, first, n, own, ~(keys[first] ^ keys[first]))
    if paired != 0:
        load_tile(order, numbers, first, n, own, np.int32(0))
    un.barrier()
    for shift in range(0, bits, 4):
        sort_by_four_bits(tile, numbers, paired, words, sums, own, shift)
    for i in range(16):
        k = own + 128 * i
        if k < n:
            keys[first + k] = tile[k + (k >> 4)]
            if paired != 0:
                order[first + k] = numbers[k + (k >> 4)]


@un.jit
def count_up_to(keys, first, step, last, limit):
    """How many of eight keys are no larger; those from `last` on do not count."""
    held = np.empty(8, keys.dtype)
    for i in range(8):
        held[i] = keys[min(first + step * i, last - 1)]
    found = np.int32(0)
    for i in range(8):
        found += np.int32((held[i] <= limit) & (first + step * i < last))
    return found


@un.kernel
def counts_up_to(keys, samples, counts, n, pieces, size, rank, width):
    """How many keys of each piece are no larger than sample `rank` of the `width` ones of its lane."""
    sums = un.local_array(256, np.int32)
    own = un.local_id(0)
    lane = un.group_id(0) // pieces
    first = lane * n + (un.group_id(0) - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    limit = samples[lane * width + rank]
    found = np.int32(0)
    for begin in range(first + own, last, 1024):
        found += count_up_to(keys, begin, 128, last, limit)
    sum_before(found, sums, own)
    if own == 0:
        counts[un.group_id(0)] = sums[255]


@un.kernel
def take_up_to(keys, samples, counts, out, order, n, pieces, size, rank, width, room):
    """Those keys and their places in the lane, in order, for `room` of them in each lane."""
    sums = un.local_array(256, np.int32)
    own = un.local_id(0)
    lane = un.group_id(0) // pieces
    first = lane * n + (un.group_id(0) - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    limit = samples[lane * width + rank]
    at = np.int64(counts[un.group_id(0)])
    for begin in range(first, last, 1024):
        k = begin + 8 * own
        found = np.int32(0)
        if k < last:
            found = count_up_to(keys, k, 1, last, limit)
        to = at + sum_before(found, sums, own)
        at += sums[255]
        if found > 0:
            for j in range(k, min(k + 8, last)):
                if keys[j] <= limit:
                    if to < room:
                        out[lane * room + to] = keys[j]
                        order[lane * room + to] = np.int32(j - lane * n)
                    to += 1
