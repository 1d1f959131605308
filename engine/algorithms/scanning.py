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
def find_blocks(firsts, counts, begin, present, n, blocks, own):
    """How far the blocks from number `begin` on lie behind the first of them, and how long they are.

    Returns where the first one begins, and the number in its lane of the work-item's own one.
    """
    lane = begin // blocks
    base = lane * n + (begin - lane * blocks) * 512
    lane = (begin + own) // blocks
    block = begin + own - lane * blocks
    if own < present:
        firsts[own] = np.int32(lane * n + block * 512 - base)
        counts[own] = np.int32(min(512, n - block * 512))
    return base, block


@un.jit
def load_blocks(x, base, tile, firsts, counts, rows, length, pitch, own):
    """Blocks of up to `length` elements into the rows of a tile, by the 128 work-items of a group.

    A warp takes 128 columns of two rows, or 64 of short ones. Columns behind the last element of a row give that one
    again, so that all loads are under way at once.
    """
    width = 128 if length > 64 else 64
    across = (length + width - 1) // width
    column = own % 32
    for part in range(own // 32, (rows + 1) // 2 * across, 4):
        row = part // across
        at = (part - row * across) * width + column
        row = row * 2
        next_row = min(row + 1, rows - 1)
        first = base + firsts[row]
        second = base + firsts[next_row]
        last = counts[row] - 1
        end = counts[next_row] - 1
        to = row * pitch + at
        under = next_row * pitch + at
        if width == 128:
            p = x[first + min(at, last)]
            q = x[first + min(at + 32, last)]
            r = x[first + min(at + 64, last)]
            s = x[first + min(at + 96, last)]
            t = x[second + min(at, end)]
            u = x[second + min(at + 32, end)]
            v = x[second + min(at + 64, end)]
            w = x[second + min(at + 96, end)]
            if at <= last:
                tile[to] = p
            if at + 32 <= last:
                tile[to + 32] = q
            if at + 64 <= last:
                tile[to + 64] = r
            if at + 96 <= last:
                tile[to + 96] = s
            if row < next_row:
                if at <= end:
                    tile[under] = t
                if at + 32 <= end:
                    tile[under + 32] = u
                if at + 64 <= end:
                    tile[under + 64] = v
                if at + 96 <= end:
                    tile[under + 96] = w
        else:
            p = x[first + min(at, last)]
            q = x[first + min(at + 32, last)]
            t = x[second + min(at, end)]
            u = x[second + min(at + 32, end)]
            if at <= last:
                tile[to] = p
            if at + 32 <= last:
                tile[to + 32] = q
            if row < next_row:
                if at <= end:
                    tile[under] = t
                if at + 32 <= end:
                    tile[under + 32] = u


@un.jit
def combine_row(tile, at, count, combine):
    """Combines `count` elements of a tile in order and returns the last result.

    The next eight are loaded before eight results are stored: a load behind a store waits for it.
    """
    value = tile[at]
    whole = (count - 1) // 8 * 8
    if whole > 0:
        p, q, r, s = tile[at + 1], tile[at + 2], tile[at + 3], tile[at + 4]
        t, u, v, w = tile[at + 5], tile[at + 6], tile[at + 7], tile[at + 8]
        for k in range(at + 1, at + 1 + whole, 8):
            p = combine(value, p)
            q = combine(p, q)
            r = combine(q, r)
            s = combine(r, s)
            t = combine(s, t)
            u = combine(t, u)
            v = combine(u, v)
            value = combine(v, w)
            a, b, c, d, e, f, g = p, q, r, s, t, u, v
            after = min(k + 8, at + whole - 7)
            p, q, r, s = tile[after], tile[after + 1], tile[after + 2], tile[after + 3]
            t, u, v, w = tile[after + 4], tile[after + 5], tile[after + 6], tile[after + 7]
            tile[k], tile[k + 1], tile[k + 2], tile[k + 3] = a, b, c, d
            tile[k + 4], tile[k + 5], tile[k + 6], tile[k + 7] = e, f, g, value
    for k in range(at + 1 + whole, at + count):
        value = combine(value, tile[k])
        tile[k] = value
    return value


@un.kernel
def scan_totals_by_tiles(x, totals, combine, n, blocks, items, rows):
    """As scan_totals, for `items` blocks: a group of 128 work-items takes `rows` of them.

    All load neighbours into the rows of a tile, of odd lengths: work-items that take a row each meet different banks.
    """
    tile = un.local_array(16416 // x.dtype.itemsize, x.dtype)
    firsts = un.local_array(128, np.int32)
    counts = un.local_array(128, np.int32)
    own = un.local_id(0)
    length = min(n, 512)
    pitch = length | 1
    begin = un.group_id(0) * rows
    present = min(rows, items - begin)
    base, _ = find_blocks(firsts, counts, begin, present, n, blocks, own)
    un.barrier()
    load_blocks(x, base, tile, firsts, counts, present, length, pitch, own)
    un.barrier()
    if own < present:
        totals[begin + own] = combine_row(tile, own * pitch, np.int64(counts[own]), combine)


@un.kernel
def scan_carries_by_tiles(totals, combine, blocks):
    """As scan_carries: of 128 work-items, 32 combine what the others load meanwhile.

    Each of the 32 has all values, and keeps the one that it stores: no step waits for memory.
    """
    tile = un.local_array(1024, totals.dtype)
    own = un.local_id(0)
    first = un.group_id(0) * blocks
    lane = np.int32(own)
    for k in range(own, min(512, blocks), 128):
        tile[k] = totals[first + k]
    carry = totals[first]
    un.barrier()
    for begin in range(0, blocks, 512):
        count = min(512, blocks - begin)
        here = begin % 1024
        there = 512 - here
        if own >= 32:
            for k in range(own - 32, min(512, blocks - begin - 512), 96):
                tile[there + k] = totals[first + begin + 512 + k]
        else:
            for k in range(0, count, 32):
                mine = carry
                if begin + k > 0 and k + 32 <= count:
                    for j in range(0, 32, 8):
                        at = here + k + j
                        p, q, r, s = tile[at], tile[at + 1], tile[at + 2], tile[at + 3]
                        t, u, v, w = tile[at + 4], tile[at + 5], tile[at + 6], tile[at + 7]
                        p = combine(carry, p)
                        q = combine(p, q)
                        r = combine(q, r)
                        s = combine(r, s)
                        t = combine(s, t)
                        u = combine(t, u)
                        v = combine(u, v)
                        carry = combine(v, w)
                        step = lane - np.int32(j)
                        mine = p if step == 0 else mine
                        mine = q if step == 1 else mine
                        mine = r if step == 2 else mine
                        mine = s if step == 3 else mine
                        mine = t if step == 4 else mine
                        mine = u if step == 5 else mine
                        mine = v if step == 6 else mine
                        mine = carry if step == 7 else mine
                else:
                    for j in range(min(32, count - k)):
                        if begin + k + j > 0:
                            carry = combine(carry, tile[here + k + j])
                        mine = carry if own == j else mine
                if k + own < count:
                    totals[first + begin + k + own] = mine
        un.barrier()


@un.kernel
def scan_blocks_by_tiles(x, carries, out, combine, n, blocks, items, share, rows, finds):
    """As scan_blocks, by tiles as in scan_totals_by_tiles: a group takes `share` blocks, `rows` at a time.

    Where `finds` is not 0 it takes whole lanes, and carries what comes before a block by itself.
    """
    tile = un.local_array(16416 // x.dtype.itemsize, x.dtype)
    befores = un.local_array(128, x.dtype)
    firsts = un.local_array(128, np.int32)
    counts = un.local_array(128, np.int32)
    heads = un.local_array(128, np.int32)
    own = un.local_id(0)
    length = min(n, 512)
    pitch = length | 1
    end = min(items, (un.group_id(0) + 1) * share)
    carry = x[0]
    for begin in range(un.group_id(0) * share, end, rows):
        present = min(rows, end - begin)
        base, block = find_blocks(firsts, counts, begin, present, n, blocks, own)
        if own < present:
            heads[own] = np.int32(block == 0)
            if finds == 0 and block > 0:
                befores[own] = carries[begin + own - 1]
        un.barrier()
        load_blocks(x, base, tile, firsts, counts, present, length, pitch, own)
        un.barrier()
        if own < present:
            combine_row(tile, own * pitch, np.int64(counts[own]), combine)
        un.barrier()
        if finds != 0:
            if own == 0:
                for row in range(present):
                    total = tile[row * pitch + counts[row] - 1]
                    if heads[row] != 0:
                        carry = total
                    else:
                        befores[row] = carry
                        carry = combine(carry, total)
            un.barrier()
        for row in range(own // 32, present, 4):
            first = base + firsts[row]
            from_row = row * pitch
            if heads[row] != 0:
                for k in range(own % 32, counts[row], 32):
                    out[first + k] = tile[from_row + k]
            else:
                before = befores[row]
                for k in range(own % 32, counts[row], 32):
                    out[first + k] = combine(before, tile[from_row + k])
        un.barrier()


@un.jit
def scan_column(x, out, at, below, count, combine, before, follows):
    """Scans `count` elements from number `at` on, each `below` elements behind the last one; returns the last result.

    Where `follows` is true, `before` comes before them. Eight loads are under way at once.
    """
    value = x[at]
    result = value
    if follows:
        result = combine(before, value)
    out[at] = result
    at += below
    for _ in range((count - 1) // 8):
        p, q, r, s = x[at], x[at + below], x[at + 2 * below], x[at + 3 * below]
        t, u, v, w = x[at + 4 * below], x[at + 5 * below], x[at + 6 * below], x[at + 7 * below]
        p = combine(value, p)
        q = combine(p, q)
        r = combine(q, r)
        s = combine(r, s)
        t = combine(s, t)
        u = combine(t, u)
        v = combine(u, v)
        value = combine(v, w)
        result = value
        if follows:
            p, q, r, s = (
                combine(before, p),
                combine(before, q),
                combine(before, r),
                combine(before, s),
            )
            t, u, v = combine(before, t), combine(before, u), combine(before, v)
            result = combine(before, value)
        out[at], out[at + below], out[at + 2 * below], out[at + 3 * below] = p, q, r, s
        out[at + 4 * below], out[at + 5 * below], out[at + 6 * below], out[at + 7 * below] = (
            t,
            u,
            v,
            result,
        )
        at += 8 * below
    for _ in range((count - 1) % 8):
        value = combine(value, x[at])
        result = value
        if follows:
            result = combine(before, value)
        out[at] = result
        at += below
    return result


@un.kernel
def scan_columns(x, out, combine, n, below):
    """Scans columns of n elements, of which `below` lie side by side: neighbours take neighbours."""
    item = un.global_id(0)
    lane = item // below
    at = lane * n * below + (item - lane * below)
    carry = scan_column(x, out, at, below, min(512, n), combine, x[at], False)
    for begin in range(512, n, 512):
        count = min(512, n - begin)
        carry = scan_column(x, out, at + begin * below, below, count, combine, carry, True)


@un.kernel
def scan_column_totals(x, totals, combine, n, below, whole):
    """The totals of the first `whole` blocks of each column. Those of a block lie side by side."""
    item = un.global_id(0)
    row = item // below
    lane = row // whole
    at = (lane * n + (row - lane * whole) * 512) * below + (item - row * below)
    value = x[at]
    for k in range(at + below, at + 8 * below, below):
        value = combine(value, x[k])
    for _ in range(63):
        at += 8 * below
        p, q, r, s = x[at], x[at + below], x[at + 2 * below], x[at + 3 * below]
        t, u, v, w = x[at + 4 * below], x[at + 5 * below], x[at + 6 * below], x[at + 7 * below]
        value = combine(combine(combine(combine(value, p), q), r), s)
        value = combine(combine(combine(combine(value, t), u), v), w)
    totals[item] = value


@un.kernel
def scan_column_carries(totals, carries, combine, below, whole):
    """Of each column what comes before the block after each block."""
    item = un.global_id(0)
    lane = item // below
    at = lane * whole * below + (item - lane * below)
    scan_column(totals, carries, at, below, whole, combine, totals[at], False)


@un.kernel
def scan_column_blocks(x, carries, out, combine, n, below, blocks):
    """As scan_columns, by a work-item for each block of each column."""
    item = un.global_id(0)
    row = item // below
    column = item - row * below
    lane = row // blocks
    block = row - lane * blocks
    at = (lane * n + block * 512) * below + column
    count = min(512, n - block * 512)
    if block == 0:
        scan_column(x, out, at, below, count, combine, x[at], False)
    else:
        carry = carries[(row - lane - 1) * below + column]
        scan_column(x, out, at, below, count, combine, carry, True)


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


@un.jit
def better_of(kept, v, better):
    """The better of two elements, the first of equal ones and of NaNs."""
    takes = better(v, kept)
    is_last = kept != kept
    return v if takes and not is_last else kept


@un.kernel
def first_extremes_in_lanes(x, places, values, better, n, pieces, size):
    """The same, by a work-item for itself: blocks with a better element are reduced by 32 lanes, then searched."""
    lanes = un.local_array(32, x.dtype)
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
            rows = (end - begin) >> 5
            if rows == 16:  # compilers unroll the inner loop, and make vectors of the outer one
                for j in range(32):
                    kept = best
                    for row in range(16):
                        kept = better_of(kept, x[begin + row * 32 + j], better)
                    lanes[j] = kept
            else:
                for j in range(32):
                    lanes[j] = best
                for row in range(rows):
                    for j in range(32):
                        lanes[j] = better_of(lanes[j], x[begin + row * 32 + j], better)
            for j in range(32):
                v = lanes[j]
                if best == best and better(v, best):
                    best = v
            for k in range(begin + rows * 32, end):
                v = x[k]
                if best == best and better(v, best):
                    best = v
            place = begin
            if best == best:
                while x[place] != best:
                    place += 1
            else:
                while x[place] == x[place]:
                    place += 1
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
def goes_first(v, place, best, best_place, better):
    """Whether an element is the one of two that extremes give: the better one, the first of equal ones."""
    if best != best:
        return v != v and place < best_place
    return better(v, best) or (place < best_place and not better(best, v))


@un.jit
def first_of_items(bests, found, best, place, better, own, column, width):
    """Leaves in group memory, for each `width` work-items of a group, the first best of their elements at column 0."""
    bests[own] = best
    found[own] = place
    un.barrier()
    half = width >> 1
    while half > 0:
        if column < half:
            other = bests[own + half]
            other_place = found[own + half]
            if goes_first(other, other_place, best, place, better):
                best = other
                place = other_place
                bests[own] = best
                found[own] = place
        un.barrier()
        half = half >> 1


@un.kernel
def first_extremes_by_groups(x, places, values, better, n, pieces, size, width, items):
    """As first_extremes, for `items` pieces: `width` work-items of a group of 256 take one, each every width-th element."""
    bests = un.local_array(256, x.dtype)
    found = un.local_array(256, np.int64)
    own = un.local_id(0)
    row = own // width
    column = own - row * width
    item = un.group_id(0) * (256 // width) + row
    here = min(item, items - 1)
    lane = here // pieces
    first = lane * n + (here - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    place = first + column if first + column < last else first
    best = x[place]
    at = first + column + width
    whole = (last - at + width - 1) // width // 8 if at < last else 0
    for _ in range(whole):  # eight loads are under way at once
        p, q, r, s = x[at], x[at + width], x[at + 2 * width], x[at + 3 * width]
        t, u, v, w = x[at + 4 * width], x[at + 5 * width], x[at + 6 * width], x[at + 7 * width]
        if best == best and better(p, best):
            best, place = p, at
        if best == best and better(q, best):
            best, place = q, at + width
        if best == best and better(r, best):
            best, place = r, at + 2 * width
        if best == best and better(s, best):
            best, place = s, at + 3 * width
        if best == best and better(t, best):
            best, place = t, at + 4 * width
        if best == best and better(u, best):
            best, place = u, at + 5 * width
        if best == best and better(v, best):
            best, place = v, at + 6 * width
        if best == best and better(w, best):
            best, place = w, at + 7 * width
        at += 8 * width
    for k in range(at, last, width):
        v = x[k]
        if best == best and better(v, best):
            best, place = v, k
    first_of_items(bests, found, best, place, better, own, column, width)
    if column == 0 and item < items:
        places[item] = found[own] - lane * n
        values[item] = bests[own]


@un.kernel
def first_of_pieces_by_groups(places, values, out, better, pieces):
    """As first_of_pieces, by a group of 256 work-items for each lane."""
    bests = un.local_array(256, values.dtype)
    found = un.local_array(256, np.int64)
    own = un.local_id(0)
    lane = un.group_id(0)
    first = lane * pieces
    start = first + own if own < pieces else first
    best = values[start]
    place = places[start]
    for k in range(first + own + 256, first + pieces, 256):
        v = values[k]
        if best == best and better(v, best):
            best = v
            place = places[k]
    first_of_items(bests, found, best, place, better, own, own, 256)
    if own == 0:
        out[lane] = found[0]


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
