"""The QR algorithm for Hessenberg matrices with several bulges at a time (Braman, Byers and Mathias 2002).

Of each matrix rows first, ..., last are active: what is below is quasi-triangular, and what is above is apart. A small active
block is solved at once. A sweep on a larger one takes double shifts, the eigenvalues of its last rows, along the diagonal in a
chain of bulges, three rows from each other: at time k the bulge b of a sweep is in rows first + k - 3 b and the two below. A
launch moves the chain on inside a window of at most `room` rows, and keeps the product of the reflections; pieces then multiply the
rows right of the window, the columns above it, and the vectors. A group is one work-item, or many whose lanes take turns on
elements: lane() is the number of the own one of lanes(), and they meet() where others have to be done.

state[8 * m] is the last active row of matrix m, -1 at the end; then come the first one, the time of the sweep, -1 outside of
sweeps, the sweeps since the last row moved, the first row of the window and the one behind its last, and the first row and the
last column, plus one, that others still need. Shifts x, y, w of a bulge are the roots z of (x - z) (y - z) = w.
"""

import numpy as np
import unisono as un


@un.jit
def lane_alone():
    return 0


@un.jit
def lanes_alone():
    return 1


@un.jit
def meet_alone():
    pass


@un.jit
def lane_of_group():
    return un.local_id(0)


@un.jit
def lanes_of_group():
    return un.local_size(0)


@un.jit
def meet_group():
    un.barrier()


@un.jit
def reflector(x, y, z, conj):
    """Factor and second and third element of the reflector that makes (x, y, z) zero but for its first element, and that one."""
    factor = x * 0
    second = x * 0
    third = x * 0
    made = x
    size = abs(x) + abs(y) + abs(z)
    if size > 0:
        x = x / size
        y = y / size
        z = z / size
        rest = (y * conj(y)).real + (z * conj(z)).real
        if rest > 0:
            length = np.sqrt((x * conj(x)).real + rest)
            b = -length if x.real >= 0 else length
            factor = (b - x) / b
            inverse = 1 / (x - b)
            second = y * inverse
            third = z * inverse
            made = x * 0 + b * size
    return factor, second, third, made


@un.jit
def reflect_rows_at(h, at, row, begin, end, lane, lanes, factor, second, third, conj, is_last):
    """Elements begin, ..., end - 1 of the row at `at` and the two below, or the one."""
    f = conj(factor)
    p = conj(second)
    q = conj(third)
    one = at + row
    if is_last:
        for j in range(begin + lane(), end, lanes()):
            s = (h[at + j] + p * h[one + j]) * f
            h[at + j] = h[at + j] - s
            h[one + j] = h[one + j] - s * second
    else:
        two = one + row
        for j in range(begin + lane(), end, lanes()):
            s = (h[at + j] + p * h[one + j] + q * h[two + j]) * f
            h[at + j] = h[at + j] - s
            h[one + j] = h[one + j] - s * second
            h[two + j] = h[two + j] - s * third


@un.jit
def reflect_columns_at(h, at, row, begin, end, lane, lanes, factor, second, third, conj, is_last):
    """Rows begin, ..., end - 1 of the column at `at` and the two behind, or the one."""
    p = conj(second)
    q = conj(third)
    if is_last:
        for i in range(begin + lane(), end, lanes()):
            k = at + i * row
            s = (h[k] + h[k + 1] * second) * factor
            h[k] = h[k] - s
            h[k + 1] = h[k + 1] - s * p
    else:
        for i in range(begin + lane(), end, lanes()):
            k = at + i * row
            s = (h[k] + h[k + 1] * second + h[k + 2] * third) * factor
            h[k] = h[k] - s
            h[k + 1] = h[k + 1] - s * p
            h[k + 2] = h[k + 2] - s * q


@un.jit
def keep_product(u, at, size, lane, lanes, factor, second, third, conj, is_last):
    """The columns of a product of reflections lie in rows of `size` elements, that at `at` and the ones below."""
    p = conj(second)
    q = conj(third)
    one = at + size
    if is_last:
        for i in range(lane(), size, lanes()):
            s = (u[at + i] + u[one + i] * second) * factor
            u[at + i] = u[at + i] - s
            u[one + i] = u[one + i] - s * p
    else:
        two = one + size
        for i in range(lane(), size, lanes()):
            s = (u[at + i] + u[one + i] * second + u[two + i] * third) * factor
            u[at + i] = u[at + i] - s
            u[one + i] = u[one + i] - s * p
            u[two + i] = u[two + i] - s * q


@un.jit
def first_column(h, at, row, x, y, w):
    """That of a double step with its shifts, but for a factor, at the element `at` of the diagonal."""
    z = h[at]
    r = x - z
    s = y - z
    return (r * s - w) / h[at + row] + h[at + 1], h[at + row + 1] - z - r - s, h[at + 2 * row + 1]


@un.jit
def is_negligible(h, at, row, norm, eps):
    """Whether the element left of `at`, which is on the diagonal, is nothing beside this one and that before."""
    size = abs(h[at - row - 1]) + abs(h[at])
    if size == 0:
        size = norm
    return abs(h[at - 1]) <= eps * max(size, eps * norm)


@un.jit
def solve_block(
    h, base, row, top, end, u, corner, size, keeps, lane, lanes, meet, conj, is_real, norm, eps
):  # fmt: skip
    """Rows top, ..., end - 1 become quasi-triangular by double steps; `keeps` says whether u is their product. Returns success."""
    last = end - 1
    count = 0
    good = True
    while last > top and good:
        low = last
        while low > top and not is_negligible(h, base + low * row + low, row, norm, eps):
            low -= 1
        at = base + last * row + last
        meet()
        if low > top and lane() == 0:
            h[base + low * row + low - 1] = 0
        meet()
        if low == last:
            last -= 1
            count = 0
        elif low == last - 1:
            before = h[at - row - 1]
            d = h[at]
            c = h[at - 1]
            p = (before - d) / 2
            inside = p * p + c * h[at - row]
            meet()
            if is_real == 0 or inside.real >= 0:
                root = np.sqrt(inside)
                if (conj(p) * root).real < 0:
                    root = -root
                factor, second, third, made = reflector(p + root, c, c * 0, conj)
                reflect_rows_at(
                    h, base + low * row, row, low, end, lane, lanes, factor, second, third, conj, True
                )  # fmt: skip
                meet()
                reflect_columns_at(
                    h, base + low, row, top, last + 1, lane, lanes, factor, second, third, conj, True
                )  # fmt: skip
                if keeps != 0:
                    keep_product(
                        u, corner + (low - top) * size, size, lane, lanes, factor, second, third, conj, True
                    )  # fmt: skip
                meet()
                if lane() == 0:
                    h[at - 1] = 0
                meet()
            last -= 2
            count = 0
        else:
            x = h[at]
            y = h[at - row - 1]
            w = h[at - 1] * h[at - row]
            if count % 20 == 10:
                x = h[at] + (abs(h[at - 1]) + abs(h[at - row - 2])) * 3 / 4
                s = abs(h[at - 1]) + abs(h[at - row - 2])
                y = x
                w = x * 0 - s * s * 7 / 16
            elif count % 20 == 19:
                k = base + low * row + low
                s = abs(h[k + row]) + abs(h[k + 2 * row + 1])
                x = h[k] + s * 3 / 4
                y = x
                w = x * 0 - s * s * 7 / 16
            count += 1
            m = last - 2
            p, q, r = first_column(h, base + m * row + m, row, x, y, w)
            looking = m > low
            while looking:
                k = base + m * row + m
                size_of = abs(p) + abs(q) + abs(r)
                if (
                    abs(h[k - 1]) * (abs(q) + abs(r))
                    <= eps * (abs(p) * (abs(h[k - row - 1]) + abs(h[k]) + abs(h[k + row + 1])))
                    or not size_of > 0
                ):
                    looking = False
                else:
                    m -= 1
                    p, q, r = first_column(h, base + m * row + m, row, x, y, w)
                    looking = m > low
            meet()
            for k in range(m, last):
                is_last = k == last - 1
                at = base + k * row + k
                if k > m:
                    p = h[at - 1]
                    q = h[at + row - 1]
                    r = p * 0
                    if not is_last:
                        r = h[at + 2 * row - 1]
                factor, second, third, made = reflector(p, q, r, conj)
                reflect_rows_at(
                    h, base + k * row, row, k, end, lane, lanes, factor, second, third, conj, is_last
                )  # fmt: skip
                meet()
                reflect_columns_at(
                    h, base + k, row, top, min(k + 3, last) + 1, lane, lanes, factor, second, third, conj, is_last
                )  # fmt: skip
                if keeps != 0:
                    keep_product(
                        u, corner + (k - top) * size, size, lane, lanes, factor, second, third, conj, is_last
                    )  # fmt: skip
                if lane() == 0:
                    if k > m:
                        h[at - 1] = made
                        h[at + row - 1] = 0
                        if not is_last:
                            h[at + 2 * row - 1] = 0
                    elif m > low:
                        h[at - 1] = h[at - 1] - h[at - 1] * conj(factor)
                meet()
            good = count < 300
    return good


@un.jit
def find_shifts(
    h, base, row, last, bulges, block, place, shifts, at, u, lane, lanes, meet, conj, is_real, norm, eps
):  # fmt: skip
    """The eigenvalues of the last rows, two for each bulge: conjugate ones, and others as they come."""
    n = 2 * bulges
    first = last + 1 - n
    for i in range(n):
        for j in range(lane(), n, lanes()):
            block[place + i * n + j] = h[base + (first + i) * row + first + j]
    meet()
    solve_block(block, place, n, 0, n, u, 0, n, 0, lane, lanes, meet, conj, is_real, norm, eps)
    if lane() == 0:
        left = h[base] * 0
        has_left = False
        i = 0
        while i < n:
            k = place + i * n + i
            v = block[k]
            is_pair = False
            if i + 1 < n and is_real != 0:
                is_pair = block[k + n] != 0
            if is_pair:
                p = (v - block[k + n + 1]) / 2
                shifts[at] = v - p
                shifts[at + 1] = v - p
                shifts[at + 2] = p * p + block[k + 1] * block[k + n]
                at += 3
                i += 1
            elif has_left:
                shifts[at] = left
                shifts[at + 1] = v
                shifts[at + 2] = 0
                at += 3
                has_left = False
            else:
                left = v
                has_left = True
            i += 1
    meet()


@un.jit
def other_shifts(h, base, row, last, bulges, shifts, at, lane):
    """Some that lead away where those of find_shifts lead nowhere."""
    if lane() == 0:
        for b in range(bulges):
            k = base + (last - 2 * b) * row + last - 2 * b
            s = abs(h[k - 1]) + abs(h[k - row - 2])
            shifts[at] = h[k] + s * 3 / 4
            shifts[at + 1] = h[k] + s * 3 / 4
            shifts[at + 2] = h[k] * 0 - s * s * 7 / 16
            at += 3


@un.jit
def begin_product(u, corner, room, size, lane, lanes):
    for i in range(size):
        for j in range(lane(), size, lanes()):
            u[corner + i * size + j] = 1 if i == j else 0


@un.jit
def chase(
    h, base, row, first, last, begin, end, bulges, shifts, at, turns, place, u, corner, left, right, lane, lanes, meet, conj
):  # fmt: skip
    """The chain of bulges at times begin, ..., end - 1, inside of rows and columns left, ..., right - 1."""
    size = right - left
    for time in range(begin, end):
        for b in range(lane(), bulges, lanes()):
            k = first + time - 3 * b
            if k >= first and k < last:
                i = base + k * row + k
                p, q, r = h[i], h[i], h[i]
                if k == first:
                    p, q, r = first_column(
                        h, i, row, shifts[at + 3 * b], shifts[at + 3 * b + 1], shifts[at + 3 * b + 2]
                    )  # fmt: skip
                else:
                    p = h[i - 1]
                    q = h[i + row - 1]
                    r = p * 0
                    if k < last - 1:
                        r = h[i + 2 * row - 1]
                factor, second, third, made = reflector(p, q, r, conj)
                turns[place + 3 * b] = factor
                turns[place + 3 * b + 1] = second
                turns[place + 3 * b + 2] = third
                if k > first:
                    h[i - 1] = made
                    h[i + row - 1] = 0
                    if k < last - 1:
                        h[i + 2 * row - 1] = 0
        meet()
        for b in range(bulges):
            k = first + time - 3 * b
            if k >= first and k < last:
                i = place + 3 * b
                reflect_rows_at(
                    h, base + k * row, row, k, right, lane, lanes, turns[i], turns[i + 1], turns[i + 2], conj, k == last - 1
                )  # fmt: skip
        meet()
        for b in range(bulges):
            k = first + time - 3 * b
            if k >= first and k < last:
                i = place + 3 * b
                reflect_columns_at(
                    h, base + k, row, left, min(k + 3, last) + 1, lane, lanes, turns[i], turns[i + 1], turns[i + 2], conj, k == last - 1
                )  # fmt: skip
                keep_product(
                    u, corner + (k - left) * size, size, lane, lanes, turns[i], turns[i + 1], turns[i + 2], conj, k == last - 1
                )  # fmt: skip
        meet()


@un.kernel
def begin_sweeps(h, norms, state, n, row):
    matrix = un.global_id(0)
    base = matrix * n * row
    norm = abs(h[base]) * 0
    for i in range(n):
        for j in range(max(i - 1, 0), n):
            norm = norm + abs(h[base + i * row + j])
    norms[matrix] = norm
    state[matrix * 8] = n - 1
    state[matrix * 8 + 2] = -1
    state[matrix * 8 + 3] = 0


@un.kernel
def move_bulges(
    h, u, columns, shifts, turns, block, norms, state, left_over, failed, lane, lanes, meet, conj, n, row, room, bulges, keeps, is_real, eps
):  # fmt: skip
    """One window of each matrix: the product of its reflections is in u, whose rows are columns, and in `columns`."""
    matrix = un.group_id(0)
    base = matrix * n * row
    corner = matrix * room * room
    at = matrix * 3 * bulges
    s = matrix * 8
    norm = norms[matrix]
    last = state[s]
    first = state[s + 1]
    time = state[s + 2]
    sweeps = state[s + 3]
    good = True
    begin = last
    end = last
    before = last
    if time < 0:
        looking = last >= 0
        while looking and last >= 0:
            first = last
            while first > 0 and not is_negligible(h, base + first * row + first, row, norm, eps):
                first -= 1
            if first < last:
                looking = False
            else:
                last -= 1
        if last < before:
            sweeps = 0
    meet()
    if time < 0:
        # Elements that are nothing become zero, by which others see it.
        for i in range(last + 1 + lane(), before + 1, lanes()):
            if i > 0:
                h[base + i * row + i - 1] = 0
        if last >= 0 and first > 0 and lane() == 0:
            h[base + first * row + first - 1] = 0
    if last >= 0:
        begin = first
        end = last + 1
        size = end - begin
        top = 0
        right = n
        if keeps == 0:
            top = first
            right = last + 1
        meet()
        if time < 0 and size <= room:
            begin_product(u, corner, room, size, lane, lanes)
            meet()
            good = solve_block(
                h, base, row, first, end, u, corner, size, keeps, lane, lanes, meet, conj, is_real, norm, eps
            )  # fmt: skip
            last = first - 1
            sweeps = 0
        else:
            if time < 0:
                if sweeps % 6 == 5:
                    other_shifts(h, base, row, last, bulges, shifts, at, lane)
                else:
                    find_shifts(
                        h, base, row, last, bulges, block, matrix * 4 * bulges * bulges, shifts, at, u, lane, lanes, meet, conj, is_real, norm, eps
                    )  # fmt: skip
                time = 0
            meet()
            behind = 3 * (bulges - 1)
            times = last - first + behind
            until = min(time + room - behind - 3, times)
            begin = max(first, first + time - behind)
            end = min(last, first + until + 1) + 1
            size = end - begin
            begin_product(u, corner, room, size, lane, lanes)
            meet()
            chase(
                h, base, row, first, last, time, until, bulges, shifts, at, turns, at, u, corner, begin, end, lane, lanes, meet, conj
            )  # fmt: skip
            time = until
            if time == times:
                time = -1
                sweeps += 1
                good = sweeps < 60
        for i in range(size):
            for j in range(lane(), size, lanes()):
                columns[corner + j * size + i] = u[corner + i * size + j]
        if lane() == 0:
            state[s + 6] = top
            state[s + 7] = right
    else:
        begin = 0
        end = 0
    if not good:
        last = -1
    if lane() == 0:
        if not good:
            un.atomic.min(failed, 0, matrix)
        if last >= 0:
            un.atomic.add(left_over, 0, 1)
        state[s] = last
        state[s + 1] = first
        state[s + 2] = time
        state[s + 3] = sweeps
        state[s + 4] = begin
        state[s + 5] = end


@un.jit
def multiply_rows(a, a_first, a_row, b, b_first, b_row, c, c_first, c_row, m, count, width, conj):
    """c = conj(a) @ b, of m rows, four together."""
    for i in range(m):
        for j in range(width):
            c[c_first + i * c_row + j] = 0
    i = 0
    while i < m:
        if i + 4 <= m:
            a0 = a_first + i * a_row
            a1 = a0 + a_row
            a2 = a1 + a_row
            a3 = a2 + a_row
            c0 = c_first + i * c_row
            c1 = c0 + c_row
            c2 = c1 + c_row
            c3 = c2 + c_row
            k = 0
            while k + 4 <= count:
                p0, p1, p2, p3 = (
                    conj(a[a0 + k]),
                    conj(a[a0 + k + 1]),
                    conj(a[a0 + k + 2]),
                    conj(a[a0 + k + 3]),
                )
                q0, q1, q2, q3 = (
                    conj(a[a1 + k]),
                    conj(a[a1 + k + 1]),
                    conj(a[a1 + k + 2]),
                    conj(a[a1 + k + 3]),
                )
                r0, r1, r2, r3 = (
                    conj(a[a2 + k]),
                    conj(a[a2 + k + 1]),
                    conj(a[a2 + k + 2]),
                    conj(a[a2 + k + 3]),
                )
                s0, s1, s2, s3 = (
                    conj(a[a3 + k]),
                    conj(a[a3 + k + 1]),
                    conj(a[a3 + k + 2]),
                    conj(a[a3 + k + 3]),
                )
                at = b_first + k * b_row
                for j in range(width):
                    v0 = b[at + j]
                    v1 = b[at + b_row + j]
                    v2 = b[at + 2 * b_row + j]
                    v3 = b[at + 3 * b_row + j]
                    c[c0 + j] = c[c0 + j] + p0 * v0 + p1 * v1 + p2 * v2 + p3 * v3
                    c[c1 + j] = c[c1 + j] + q0 * v0 + q1 * v1 + q2 * v2 + q3 * v3
                    c[c2 + j] = c[c2 + j] + r0 * v0 + r1 * v1 + r2 * v2 + r3 * v3
                    c[c3 + j] = c[c3 + j] + s0 * v0 + s1 * v1 + s2 * v2 + s3 * v3
                k += 4
            while k < count:
                p, q, r, s = conj(a[a0 + k]), conj(a[a1 + k]), conj(a[a2 + k]), conj(a[a3 + k])
                at = b_first + k * b_row
                for j in range(width):
                    v = b[at + j]
                    c[c0 + j] = c[c0 + j] + p * v
                    c[c1 + j] = c[c1 + j] + q * v
                    c[c2 + j] = c[c2 + j] + r * v
                    c[c3 + j] = c[c3 + j] + s * v
                k += 1
            i += 4
        else:
            c0 = c_first + i * c_row
            for k in range(count):
                p = conj(a[a_first + i * a_row + k])
                at = b_first + k * b_row
                for j in range(width):
                    c[c0 + j] = c[c0 + j] + p * b[at + j]
            i += 1


@un.jit
def multiply_piece(u, corner, size, x, first, row, width, held, place, conj):
    """`size` rows of x by the conjugate product."""
    for k in range(size):
        for j in range(width):
            held[place + k * width + j] = x[first + k * row + j]
    multiply_rows(u, corner, size, held, place, width, x, first, row, size, size, width, conj)


@un.kernel
def apply_window(
    h, v, u, columns, held, state, conj, same, n, row, room, pieces, size, bands, height, keeps
):  # fmt: skip
    """Pieces of the rows right of the window and of the vectors, and bands of the columns above it."""
    item = un.global_id(0)
    all = pieces * (1 + keeps) + bands
    matrix = item // all
    k = item - matrix * all
    s = matrix * 8
    begin = state[s + 4]
    end = state[s + 5]
    rows = end - begin
    base = matrix * n * row
    corner = matrix * room * room
    place = item * room * max(size, height)
    if rows > 0:
        if k < pieces:
            first = max(end, k * size)
            width = min((k + 1) * size, state[s + 7]) - first
            if width > 0:
                multiply_piece(
                    u, corner, rows, h, base + begin * row + first, row, width, held, place, conj
                )  # fmt: skip
        elif k < pieces + bands:
            first = max((k - pieces) * height, state[s + 6])
            count = min((k - pieces + 1) * height, begin) - first
            if count > 0:
                at = base + first * row + begin
                for i in range(count):
                    for j in range(rows):
                        held[place + i * rows + j] = h[at + i * row + j]
                multiply_rows(
                    held, place, rows, columns, corner, rows, h, at, row, count, rows, rows, same
                )
        else:
            first = (k - pieces - bands) * size
            width = min(size, n - first)
            multiply_piece(
                u, corner, rows, v, (matrix * n + begin) * n + first, n, width, held, place, same
            )


@un.kernel
def take_rows(a, out, n, row):
    """Matrices to rows that lie apart, with zeros between."""
    i = un.global_id(0)
    line = i // row
    column = i - line * row
    if column < n:
        out[i] = a[line * n + column]
    else:
        out[i] = 0


@un.kernel
def values_of_schur(h, w, n, row, is_real, least):
    """Real and imaginary part of each eigenvalue, of two conjugate ones that above the axis first."""
    i = un.global_id(0)
    matrix = i // n
    k = i - matrix * n
    at = matrix * n * row + k * row + k
    v = h[at]
    w[2 * i] = v.real
    w[2 * i + 1] = v.imag
    if is_real != 0:
        is_second = False
        is_first = False
        if k > 0:
            is_second = h[at - 1] != 0
        if k + 1 < n:
            is_first = h[at + row] != 0
        if is_second:
            at -= row + 1
        if is_first or is_second:
            p = (h[at] - h[at + row + 1]) / 2
            inside = p * p + h[at + 1] * h[at + row]
            size = max(np.sqrt(abs(inside.real)), least)
            w[2 * i] = (h[at] - p).real
            w[2 * i + 1] = -size if is_second else size
