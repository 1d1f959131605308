"""Elements under masks, in blocks of 2**14 elements of the mask as on the host.

counts[b] says how many elements are set before block b. A work-item takes one block.
"""

import unisono as un


@un.kernel
def count_blocks(mask, counts, n):
    b = un.global_id(0)
    found = 0
    for k in range(b * 16384, min(n, (b + 1) * 16384)):
        if mask[k] != 0:
            found += 1
    counts[b] = found


@un.kernel
def select_masked(x, mask, counts, out, n):
    b = un.global_id(0)
    at = counts[b]
    for k in range(b * 16384, min(n, (b + 1) * 16384)):
        if mask[k] != 0:
            out[at] = x[k]
            at += 1


@un.kernel
def fill_masked(values, mask, counts, out, n):
    b = un.global_id(0)
    at = counts[b]
    for k in range(b * 16384, min(n, (b + 1) * 16384)):
        if mask[k] != 0:
            out[k] = values[at]
            at += 1


@un.kernel
def places_of_set(mask, counts, out, n):
    b = un.global_id(0)
    at = counts[b]
    for k in range(b * 16384, min(n, (b + 1) * 16384)):
        if mask[k] != 0:
            out[at] = k
            at += 1


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
