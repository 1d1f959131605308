"""Elements under masks, in blocks of 2**14 elements of the mask as on the host.

counts[b] says how many elements are set before block b. On few cores a work-item takes one block, 64
elements at a time: none or all of them are set, or each is moved to where the next set one belongs. That
loop ends with the last set element, so that nothing is written beyond it.

Elsewhere a group of 256 work-items takes one block, 4096 elements at a time. Each reads two words of eight
elements of the mask, and puts the places of those that are set into group memory. Then neighbours move
what belongs to neighbouring places.
"""

import numpy as np
import unisono as un


@un.jit
def count_set(mask, begin, end):
    """How many elements are set, of 64 at most."""
    found = np.uint8(0)
    for k in range(begin, end):
        found += np.uint8(mask[k] != 0)
    return np.int64(found)


@un.kernel
def count_blocks(mask, counts, n):
    b = un.global_id(0)
    found = 0
    last = min(n, (b + 1) * 16384)
    for begin in range(b * 16384, last, 64):
        found += count_set(mask, begin, min(begin + 64, last))
    counts[b] = found


@un.kernel
def select_masked(x, mask, counts, out, n):
    b = un.global_id(0)
    at = counts[b]
    last = min(n, (b + 1) * 16384)
    for begin in range(b * 16384, last, 64):
        end = min(begin + 64, last)
        found = count_set(mask, begin, end)
        if found == end - begin:
            for k in range(found):
                out[at + k] = x[begin + k]
            at += found
        else:
            k = begin
            stop = at + found
            while at < stop:
                out[at] = x[k]
                at += np.int64(mask[k] != 0)
                k += 1


@un.kernel
def fill_masked(values, mask, counts, out, n):
    b = un.global_id(0)
    at = counts[b]
    last = min(n, (b + 1) * 16384)
    for begin in range(b * 16384, last, 64):
        end = min(begin + 64, last)
        found = count_set(mask, begin, end)
        if found == end - begin:
            for k in range(found):
                out[begin + k] = values[at + k]
            at += found
        else:
            k = begin
            stop = at + found
            while at < stop:
                out[k] = values[at] if mask[k] != 0 else out[k]
                at += np.int64(mask[k] != 0)
                k += 1


@un.kernel
def places_of_set(mask, counts, out, n):
    b = un.global_id(0)
    at = counts[b]
    last = min(n, (b + 1) * 16384)
    for begin in range(b * 16384, last, 64):
        found = count_set(mask, begin, min(begin + 64, last))
        k = begin
        stop = at + found
        while at < stop:
            out[at] = k
            at += np.int64(mask[k] != 0)
            k += 1


@un.jit
def whole_or_rest(mask, words, at, n):
    """The word of eight elements of the mask from number `at` on, of which there may be fewer."""
    word = np.uint64(0)
    if at + 8 <= n:
        word = words[at >> 3]
    else:
        for k in range(at, n):
            word |= np.uint64(mask[k]) << np.uint64(8 * (k - at))
    return word


@un.jit
def set_bytes(word):
    """Ones in the bytes of a word that are not zero."""
    low = np.uint64(0x7F7F7F7F7F7F7F7F)
    return ((((word & low) + low) | word) >> np.uint64(7)) & np.uint64(0x0101010101010101)


@un.jit
def number_set(word):
    return np.int32(np.bitwise_count(set_bytes(word)))


@un.jit
def set_bits(word):
    """A bit for each byte of a word that is not zero."""
    return np.uint32((set_bytes(word) * np.uint64(0x0102040810204080)) >> np.uint64(56))


@un.jit
def counts_before(sums, own, count):
    """The counts of work-items of a group of 256 before this one; sums[255] is that of all.

    sums has 512 elements of group memory.
    """
    sums[own] = count
    un.barrier()
    here = 0
    total = count
    for level in range(8):
        if own >= 1 << level:
            total += sums[here + own - (1 << level)]
        here = 256 - here
        sums[here + own] = total
        un.barrier()
    return total - count


@un.jit
def find_places(mask, words, places, sums, begin, n, own):
    """The places in a tile of 4096 elements from `begin` on of those that are set; returns their number.

    They lie in order, with a gap behind each 16: work-items that write runs of 16 write to different banks.
    """
    at = begin + own * 16
    low = np.uint64(0)
    high = np.uint64(0)
    if begin + 4096 <= n:
        low = words[at >> 3]
        high = words[(at >> 3) + 1]
    else:
        low = whole_or_rest(mask, words, at, n)
        high = whole_or_rest(mask, words, at + 8, n)
    bits = set_bits(low) | (set_bits(high) << np.uint32(8))
    to = counts_before(sums, own, np.int32(np.bitwise_count(bits)))
    total = sums[255]
    while bits != 0:
        rest = bits & (bits - np.uint32(1))
        below = np.int64(np.bitwise_count((bits ^ rest) - np.uint32(1)))
        places[to + (to >> 4) * 2] = np.uint16(own * 16 + below)
        to += np.int32(1)
        bits = rest
    un.barrier()
    return total


@un.jit
def place_of(places, k):
    near = np.int32(k)
    return np.int64(places[near + (near >> np.int32(4)) * np.int32(2)])


@un.kernel
def count_blocks_by_words(mask, words, counts, n):
    sums = un.local_array(512, np.int32)
    own = un.local_id(0)
    b = un.group_id(0)
    found = np.int32(0)
    first = b * 2048 + own
    if (b + 1) * 16384 <= n:
        for k in range(first, first + 2048, 1024):
            p, q, r, s = words[k], words[k + 256], words[k + 512], words[k + 768]
            found += number_set(p) + number_set(q) + number_set(r) + number_set(s)
    else:
        for k in range(first, first + 2048, 256):
            found += number_set(whole_or_rest(mask, words, k * 8, n))
    counts_before(sums, own, found)
    if own == 0:
        counts[b] = np.int64(sums[255])


@un.kernel
def select_masked_by_tiles(x, mask, words, counts, out, n):
    places = un.local_array(4608, np.uint16)
    sums = un.local_array(512, np.int32)
    own = un.local_id(0)
    b = un.group_id(0)
    at = counts[b]
    for begin in range(b * 16384, min(n, (b + 1) * 16384), 4096):
        total = find_places(mask, words, places, sums, begin, n, own)
        last = total - np.int32(1)
        for k in range(own, total, 1024):  # four loads are under way at once
            near = np.int32(k)
            p = x[begin + place_of(places, near)]
            q = x[begin + place_of(places, min(near + np.int32(256), last))]
            r = x[begin + place_of(places, min(near + np.int32(512), last))]
            s = x[begin + place_of(places, min(near + np.int32(768), last))]
            out[at + k] = p
            if near + np.int32(256) < total:
                out[at + k + 256] = q
            if near + np.int32(512) < total:
                out[at + k + 512] = r
            if near + np.int32(768) < total:
                out[at + k + 768] = s
        at += np.int64(total)


@un.kernel
def fill_masked_by_tiles(values, mask, words, counts, out, n):
    places = un.local_array(4608, np.uint16)
    sums = un.local_array(512, np.int32)
    own = un.local_id(0)
    b = un.group_id(0)
    at = counts[b]
    for begin in range(b * 16384, min(n, (b + 1) * 16384), 4096):
        total = find_places(mask, words, places, sums, begin, n, own)
        for k in range(own, total, 256):
            out[begin + place_of(places, k)] = values[at + k]
        at += np.int64(total)


@un.kernel
def places_of_set_by_tiles(mask, words, counts, out, n):
    places = un.local_array(4608, np.uint16)
    sums = un.local_array(512, np.int32)
    own = un.local_id(0)
    b = un.group_id(0)
    at = counts[b]
    for begin in range(b * 16384, min(n, (b + 1) * 16384), 4096):
        total = find_places(mask, words, places, sums, begin, n, own)
        for k in range(own, total, 256):
            out[at + k] = begin + place_of(places, k)
        at += np.int64(total)


@un.kernel
def split_places_of_set_by_tiles(mask, words, counts, rest, inner, n, extent):
    """As places_of_set_by_tiles, in two parts: the index along the last axis, and the place along those before it."""
    places = un.local_array(4608, np.uint16)
    sums = un.local_array(512, np.int32)
    own = un.local_id(0)
    b = un.group_id(0)
    at = counts[b]
    for begin in range(b * 16384, min(n, (b + 1) * 16384), 4096):
        total = find_places(mask, words, places, sums, begin, n, own)
        for k in range(own, total, 256):
            place = begin + place_of(places, k)
            row = place // extent
            rest[at + k] = row
            inner[at + k] = place - row * extent
        at += np.int64(total)


@un.kernel
def number_runs_by_tiles(mask, words, counts, order, inverse, n):
    """At order[k], which run of elements, of which the mask has the first ones, element k belongs to."""
    sums = un.local_array(512, np.int32)
    own = un.local_id(0)
    b = un.group_id(0)
    run = counts[b] - 1
    for begin in range(b * 16384, min(n, (b + 1) * 16384), 4096):
        at = begin + own * 16
        low = whole_or_rest(mask, words, at, n)
        high = whole_or_rest(mask, words, at + 8, n)
        bits = set_bits(low) | (set_bits(high) << np.uint32(8))
        here = run + np.int64(counts_before(sums, own, np.int32(np.bitwise_count(bits))))
        run += np.int64(sums[255])
        un.barrier()
        for k in range(at, min(n, at + 16)):
            here += np.int64(bits & np.uint32(1))
            bits = bits >> np.uint32(1)
            inverse[np.int64(order[k])] = here


@un.kernel
def index_of_axis(places, out, first, below, extent):
    """The index along an axis of places in an array, inside of which axis `below` elements lie."""
    i = un.global_id(0)
    out[first + i] = places[i] // below % extent


@un.kernel
def copy_piece(x, out, first, run, width):
    """Row r of x, of `run` elements, goes behind element `first` of row r of out."""
    i = un.global_id(0)
    row = i // run
    out[row * width + first + i - row * run] = x[i]


@un.kernel
def total_of_blocks(counts, blocks):
    """counts[b] becomes what comes before block b, and counts[blocks] all."""
    before = un.global_id(0)
    for b in range(blocks):
        c = counts[b]
        counts[b] = before
        before += c
    counts[blocks] = before


@un.kernel
def total_of_blocks_by_pieces(counts, blocks):
    """As total_of_blocks, by a group of 256 work-items, each of which takes a piece of the blocks."""
    sums = un.local_array(512, np.int64)
    own = un.local_id(0)
    size = (blocks + 255) // 256
    first = min(own * size, blocks)
    last = min(first + size, blocks)
    found = 0
    for b in range(first, last):
        found += counts[b]
    before = counts_before(sums, own, found)
    for b in range(first, last):
        c = counts[b]
        counts[b] = before
        before += c
    if own == 255:
        counts[blocks] = before
