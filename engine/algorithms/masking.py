"""Elements under masks, in blocks of 2**14 elements of the mask as on the host.

counts[b] says how many elements are set before block b. A work-item takes one block, 64 elements at a
time: none or all of them are set, or each is moved to where the next set one belongs. That loop ends
with the last set element, so that nothing is written beyond it.
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
