"""Running sums and the like: blocks of 512 elements, combined in the order of the host's scans."""

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
def extreme_key_of_integer(v, flip, sign, infinity):
    """Of the bits of a number: the extreme ones, which `flip` chooses, have the largest key."""
    return v ^ flip


@un.jit
def extreme_key_of_float(v, flip, sign, infinity):
    """The same, zeros of both signs being equal; of NaN the key is the largest."""
    key = ~v if v > sign else v | sign
    key = key ^ flip
    return ~(v ^ v) if (v & ~sign) > infinity else key


@un.kernel
def first_extremes(x, places, keys, key_of, flip, sign, infinity, n, pieces, size):
    """The place of the first largest key of each piece of each lane, 512 elements at a time."""
    item = un.global_id(0)
    lane = item // pieces
    first = lane * n + (item - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    best = key_of(x[first], flip, sign, infinity)
    place = first
    for begin in range(first, last, 512):
        end = min(begin + 512, last)
        most = best
        for k in range(begin, end):
            most = max(most, key_of(x[k], flip, sign, infinity))
        if most > best:
            best = most
            place = begin
    while key_of(x[place], flip, sign, infinity) != best:
        place += 1
    places[item] = place - lane * n
    keys[item] = best


@un.kernel
def first_complex_extremes(x, places, values, better, n, pieces, size):
    """The same of complex numbers; a NaN is the best."""
    item = un.global_id(0)
    lane = item // pieces
    first = lane * n + (item - lane * pieces) * size
    last = min(first + size, (lane + 1) * n)
    best = x[first]
    place = first
    for k in range(first + 1, last):
        v = x[k]
        if best == best and (v != v or better(v, best)):
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
        if best == best and (v != v or better(v, best)):
            best = v
            place = places[k]
    out[lane] = place


@un.jit
def is_greater(a, b):
    return a > b


@un.jit
def is_less_complex(a, b):
    x, y, u, v = a.real, b.real, a.imag, b.imag
    return x < y or (x == y and u < v)


@un.jit
def is_greater_complex(a, b):
    x, y, u, v = a.real, b.real, a.imag, b.imag
    return x > y or (x == y and u > v)
