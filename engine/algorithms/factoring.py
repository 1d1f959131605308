"""Factors of matrices and what is solved by them, for stacks of packed matrices.

A panel is a block of columns that one work-item factors for each matrix; what lies right of it is then
updated by many. Small matrices are one panel.
"""

import numpy as np
import unisono as un


@un.jit
def magnitude(v):
    return abs(v)


@un.jit
def magnitude_complex(v):
    """The sum of both parts, by which LAPACK compares pivots."""
    return abs(v.real) + abs(v.imag)


@un.jit
def same_number(v):
    return v


@un.jit
def conjugate(v):
    return np.conj(v)


@un.kernel
def lu_panel(a, pivots, failed, size, n, first, width):
    """Columns of a panel with their pivots; `failed` becomes the first matrix that is singular."""
    matrix = un.global_id(0)
    base = matrix * n * n
    last = min(first + width, n)
    for k in range(first, last):
        best = size(a[base + k * n + k])
        place = k
        for i in range(k + 1, n):
            v = size(a[base + i * n + k])
            if v > best:
                best = v
                place = i
        pivots[matrix * n + k] = place
        row = base + k * n
        if place != k:
            other = base + place * n
            for j in range(first, last):
                x = a[row + j]
                a[row + j] = a[other + j]
                a[other + j] = x
        if best == 0:
            un.atomic.min(failed, 0, matrix)
        else:
            pivot = a[row + k]
            for i in range(k + 1, n):
                at = base + i * n
                f = a[at + k] / pivot
                a[at + k] = f
                for j in range(k + 1, last):
                    a[at + j] = a[at + j] - f * a[row + j]


@un.kernel
def lu_rows(a, pivots, u, n, first, width, pieces, size):
    """Swap the rows of columns beside a panel; those right of it become rows of U, with a copy in u."""
    item = un.global_id(0)
    matrix = item // pieces
    begin = (item - matrix * pieces) * size
    end = min(begin + size, n)
    base = matrix * n * n
    last = min(first + width, n)
    right = max(begin, last)
    for k in range(first, last):
        place = pivots[matrix * n + k]
        if place != k:
            row = base + k * n
            other = base + place * n
            for j in range(begin, min(end, first)):
                x = a[row + j]
                a[row + j] = a[other + j]
                a[other + j] = x
            for j in range(right, end):
                x = a[row + j]
                a[row + j] = a[other + j]
                a[other + j] = x
    for k in range(first, last):
        row = matrix * width * n + (k - first) * n
        for j in range(right, end):
            u[row + j] = a[base + k * n + j]
        for i in range(first, k):
            f = a[base + k * n + i]
            above = matrix * width * n + (i - first) * n
            for j in range(right, end):
                u[row + j] = u[row + j] - f * u[above + j]
        for j in range(right, end):
            a[base + k * n + j] = u[row + j]


@un.kernel
def subtract_products(
    a, b, c, a_first, a_row, a_matrix, b_first, b_row, b_matrix, c_first, c_row, c_matrix,
    m, count, n, rows, tiles, width, lower,
):  # fmt: skip
    """c -= a @ b, four rows of a tile for each work-item; with `lower` up to the diagonal only."""
    item = un.global_id(0)
    matrix = item // (rows * tiles)
    item -= matrix * rows * tiles
    tile = item // rows
    row = (item - tile * rows) * 4
    first = tile * width
    last = min(first + width, n)
    if lower != 0:
        last = min(last, row + 4)
    b0 = b_first + matrix * b_matrix
    if row + 4 <= m:
        a0 = a_first + matrix * a_matrix + row * a_row
        a1 = a0 + a_row
        a2 = a1 + a_row
        a3 = a2 + a_row
        c0 = c_first + matrix * c_matrix + row * c_row
        c1 = c0 + c_row
        c2 = c1 + c_row
        c3 = c2 + c_row
        k = 0
        while k + 4 <= count:
            p0, p1, p2, p3 = a[a0 + k], a[a0 + k + 1], a[a0 + k + 2], a[a0 + k + 3]
            q0, q1, q2, q3 = a[a1 + k], a[a1 + k + 1], a[a1 + k + 2], a[a1 + k + 3]
            r0, r1, r2, r3 = a[a2 + k], a[a2 + k + 1], a[a2 + k + 2], a[a2 + k + 3]
            s0, s1, s2, s3 = a[a3 + k], a[a3 + k + 1], a[a3 + k + 2], a[a3 + k + 3]
            at = b0 + k * b_row
            for j in range(first, last):
                v0 = b[at + j]
                v1 = b[at + b_row + j]
                v2 = b[at + 2 * b_row + j]
                v3 = b[at + 3 * b_row + j]
                c[c0 + j] = c[c0 + j] - p0 * v0 - p1 * v1 - p2 * v2 - p3 * v3
                c[c1 + j] = c[c1 + j] - q0 * v0 - q1 * v1 - q2 * v2 - q3 * v3
                c[c2 + j] = c[c2 + j] - r0 * v0 - r1 * v1 - r2 * v2 - r3 * v3
                c[c3 + j] = c[c3 + j] - s0 * v0 - s1 * v1 - s2 * v2 - s3 * v3
            k += 4
        while k < count:
            p, q, r, s = a[a0 + k], a[a1 + k], a[a2 + k], a[a3 + k]
            at = b0 + k * b_row
            for j in range(first, last):
                v = b[at + j]
                c[c0 + j] = c[c0 + j] - p * v
                c[c1 + j] = c[c1 + j] - q * v
                c[c2 + j] = c[c2 + j] - r * v
                c[c3 + j] = c[c3 + j] - s * v
            k += 1
    else:
        for i in range(row, m):
            a0 = a_first + matrix * a_matrix + i * a_row
            c0 = c_first + matrix * c_matrix + i * c_row
            for k in range(count):
                p = a[a0 + k]
                at = b0 + k * b_row
                for j in range(first, last):
                    c[c0 + j] = c[c0 + j] - p * b[at + j]


@un.jit
def subtract_rows(a, x, a_row, side, i, first, last, count, begin, end):
    """Row i of x less rows first, ..., last - 1 times the elements of a row of a, four together."""
    row = side + i * count
    k = first
    while k + 4 <= last:
        p, q, r, s = a[a_row + k], a[a_row + k + 1], a[a_row + k + 2], a[a_row + k + 3]
        x0 = side + k * count
        x1 = x0 + count
        x2 = x1 + count
        x3 = x2 + count
        for j in range(begin, end):
            x[row + j] = x[row + j] - p * x[x0 + j] - q * x[x1 + j] - r * x[x2 + j] - s * x[x3 + j]
        k += 4
    while k < last:
        p = a[a_row + k]
        x0 = side + k * count
        for j in range(begin, end):
            x[row + j] = x[row + j] - p * x[x0 + j]
        k += 1


@un.kernel
def solve_by_lu(a, pivots, x, n, count, pieces, size):
    """Right sides x of `count` columns, in pieces, become solutions."""
    item = un.global_id(0)
    matrix = item // pieces
    begin = (item - matrix * pieces) * size
    end = min(begin + size, count)
    base = matrix * n * n
    side = matrix * n * count
    for k in range(n):
        place = pivots[matrix * n + k]
        if place != k:
            for j in range(begin, end):
                v = x[side + k * count + j]
                x[side + k * count + j] = x[side + place * count + j]
                x[side + place * count + j] = v
    for i in range(n):
        subtract_rows(a, x, base + i * n, side, i, 0, i, count, begin, end)
    for step in range(n):
        i = n - 1 - step
        row = side + i * count
        subtract_rows(a, x, base + i * n, side, i, i + 1, n, count, begin, end)
        d = a[base + i * n + i]
        for j in range(begin, end):
            x[row + j] = x[row + j] / d


@un.kernel
def identities(x, rows, columns):
    i = un.global_id(0)
    within = i % (rows * columns)
    x[i] = 1 if within // columns == within % columns else 0


@un.kernel
def determinants(a, pivots, det, sign, logarithm, n, least, most):
    """From factors; where a product on the way leaves the range, from the logarithm."""
    matrix = un.global_id(0)
    base = matrix * n * n
    det[matrix] = 1
    sign[matrix] = 1
    product = det[matrix]
    phase = sign[matrix]
    total = least - least
    for k in range(n):
        d = a[base + k * n + k]
        if pivots[matrix * n + k] != k:
            product = -product
            phase = -phase
        product = product * d
        size = abs(d)
        if size == 0:
            phase = phase * d
            total = np.log(size)
        else:
            phase = phase * (d / size)
            total = total + np.log(size)
    size = abs(product)
    if not (size > least and size <= most):
        product = phase
        if phase != 0:
            product = phase * np.exp(total)
    det[matrix] = product
    sign[matrix] = phase
    logarithm[matrix] = total


@un.kernel
def count_from_zero(pivots, at):
    """Numbers of rows that LAPACK counts from 1 on."""
    i = un.global_id(0)
    at[i] = pivots[i] - 1


@un.kernel
def take_lower(a, low, conj, n, upper):
    """The lower triangle, or the adjoint of the upper one, with zeros above."""
    i = un.global_id(0)
    within = i % (n * n)
    row = within // n
    column = within % n
    at = i
    if upper != 0:
        at = i - within + column * n + row
    v = a[at]
    if upper != 0:
        v = conj(v)
    if column > row:
        v = v * 0
        low[i] = 0
    else:
        low[i] = v


@un.kernel
def take_adjoint(a, out, conj, rows, columns):
    i = un.global_id(0)
    within = i % (rows * columns)
    out[i] = conj(a[i - within + within % rows * columns + within // rows])


@un.kernel
def cholesky_panel(low, failed, conj, n, first, width):
    """The block of a panel on the diagonal; `failed` becomes the first matrix that is not positive."""
    matrix = un.global_id(0)
    base = matrix * n * n
    last = min(first + width, n)
    good = True
    for j in range(first, last):
        row = base + j * n
        d = low[row + j].real
        good = good and d > 0
        if good:
            d = np.sqrt(d)
            low[row + j] = d
            # Its adjoint lies above the diagonal, where elements of a column are neighbours, until all is done.
            for i in range(j + 1, last):
                v = low[base + i * n + j] / d
                low[base + i * n + j] = v
                low[row + i] = conj(v)
            for i in range(j + 1, last):
                at = base + i * n
                f = low[at + j]
                for k in range(j + 1, i + 1):
                    low[at + k] = low[at + k] - f * low[row + k]
    if first == 0 and last == n:
        for j in range(n):
            for k in range(j + 1, n):
                low[base + j * n + k] = 0
    if not good:
        un.atomic.min(failed, 0, matrix)


@un.kernel
def cholesky_rows(low, u, conj, n, first, width, rest):
    """Row by row what lies below the diagonal block; u is its adjoint."""
    item = un.global_id(0)
    matrix = item // rest
    i = item - matrix * rest + first + width
    base = matrix * n * n
    at = base + i * n
    for j in range(first, first + width):
        row = base + j * n
        v = low[at + j]
        d = low[row + j].real
        if d != 0:
            v = v / d
        low[at + j] = v
        u[matrix * width * n + (j - first) * n + i] = conj(v)
        for k in range(j + 1, first + width):
            low[at + k] = low[at + k] - v * low[row + k]


@un.kernel
def take_panel(a, x, n, first, count):
    """Columns first, ... of each matrix, side by side."""
    i = un.global_id(0)
    row = i // count
    x[i] = a[row * n + first + i - row * count]


@un.kernel
def put_panel(x, a, n, first, count):
    """What take_panel took."""
    i = un.global_id(0)
    row = i // count
    a[row * n + first + i - row * count] = x[i]


@un.kernel
def qr_panel(x, tau, t, w, conj, m, least, first, count):
    """Householder's reflectors of a panel as LAPACK has them, and the triangle t of their product; w is scratch memory.

    The product of I - tau[k] v[k] v[k]^H is I - V t V^H; reflector k has a one in row k and zeros above. Loops along rows are
    innermost: a row of the panel lies side by side, and each of its sums adds in the order of rows all the same.
    """
    matrix = un.global_id(0)
    base = matrix * m * count
    top = matrix * count * count
    room = matrix * count
    for q in range(count):
        k = first + q
        row = base + k * count
        alpha = x[row + q]
        largest = max(abs(alpha.real), abs(alpha.imag))
        for i in range(k + 1, m):
            v = x[base + i * count + q]
            largest = max(largest, max(abs(v.real), abs(v.imag)))
        rest = largest - largest
        if largest > 0:
            for i in range(k + 1, m):
                v = x[base + i * count + q] / largest
                rest = rest + (v * conj(v)).real
        factor = alpha * 0
        if rest != 0 or alpha.imag != 0:
            v = alpha / largest
            length = largest * np.sqrt((v * conj(v)).real + rest)
            beta = -length if alpha.real >= 0 else length
            factor = (beta - alpha) / beta
            for j in range(q + 1, count):
                w[room + j] = x[row + j]
            for i in range(k + 1, m):
                at = base + i * count
                f = x[at + q] / (alpha - beta)
                x[at + q] = f
                f = conj(f)
                for j in range(q + 1, count):
                    w[room + j] = w[room + j] + f * x[at + j]
            x[row + q] = beta
            f = conj(factor)
            for j in range(q + 1, count):
                w[room + j] = w[room + j] * f
                x[row + j] = x[row + j] - w[room + j]
            for i in range(k + 1, m):
                at = base + i * count
                f = x[at + q]
                for j in range(q + 1, count):
                    x[at + j] = x[at + j] - f * w[room + j]
        tau[matrix * least + k] = factor
        # Column k of t: -factor t (V^H v), from the products of v with those before.
        for p in range(q):
            w[room + p] = conj(x[row + p])
        for i in range(k + 1, m):
            at = base + i * count
            f = x[at + q]
            for p in range(q):
                w[room + p] = w[room + p] + conj(x[at + p]) * f
        for p in range(q):
            t[top + p * count + q] = -factor * w[room + p]
        for p in range(q):
            v = t[top + p * count + p] * t[top + p * count + q]
            for r in range(p + 1, q):
                v = v + t[top + p * count + r] * t[top + r * count + q]
            t[top + p * count + q] = v
        t[top + q * count + q] = factor


@un.jit
def add_products_of_rows(a, w, c, conj, m, n, base, first, count, side, row, room, size, width):
    """w += V^H c for what is below the reflectors' ones, four rows together."""
    i = first + count
    while i + 4 <= m:
        a0 = base + i * n + first
        a1 = a0 + n
        a2 = a1 + n
        a3 = a2 + n
        c0 = side + i * row
        c1 = c0 + row
        c2 = c1 + row
        c3 = c2 + row
        for k in range(count):
            p, q, r, s = conj(a[a0 + k]), conj(a[a1 + k]), conj(a[a2 + k]), conj(a[a3 + k])
            at = room + k * size
            for j in range(width):
                w[at + j] = (
                    w[at + j] + p * c[c0 + j] + q * c[c1 + j] + r * c[c2 + j] + s * c[c3 + j]
                )
        i += 4
    while i < m:
        c0 = side + i * row
        for k in range(count):
            p = conj(a[base + i * n + first + k])
            at = room + k * size
            for j in range(width):
                w[at + j] = w[at + j] + p * c[c0 + j]
        i += 1


@un.jit
def subtract_products_of_rows(a, w, c, m, n, base, first, count, side, row, room, size, width):
    """c -= V w for what is below the reflectors' ones, four reflectors together."""
    for i in range(first + count, m):
        a0 = base + i * n + first
        c0 = side + i * row
        k = 0
        while k + 4 <= count:
            p, q, r, s = a[a0 + k], a[a0 + k + 1], a[a0 + k + 2], a[a0 + k + 3]
            w0 = room + k * size
            w1 = w0 + size
            w2 = w1 + size
            w3 = w2 + size
            for j in range(width):
                c[c0 + j] = (
                    c[c0 + j] - p * w[w0 + j] - q * w[w1 + j] - r * w[w2 + j] - s * w[w3 + j]
                )
            k += 4
        while k < count:
            p = a[a0 + k]
            w0 = room + k * size
            for j in range(width):
                c[c0 + j] = c[c0 + j] - p * w[w0 + j]
            k += 1


@un.kernel
def reflect_rows(
    a, t, w, c, conj, m, n, first, count, c_columns, c_first, pieces, size, adjoint
):  # fmt: skip
    """c = (I - V t V^H) c, or its adjoint, in pieces of columns from c_first on."""
    item = un.global_id(0)
    matrix = item // pieces
    begin = c_first + (item - matrix * pieces) * size
    width = min(size, c_columns - begin)
    base = matrix * m * n
    top = matrix * count * count
    side = matrix * m * c_columns + begin
    room = item * count * size
    for k in range(count):
        for j in range(width):
            w[room + k * size + j] = c[side + (first + k) * c_columns + j]
    for i in range(first + 1, first + count):
        row = side + i * c_columns
        for k in range(i - first):
            f = conj(a[base + i * n + first + k])
            at = room + k * size
            for j in range(width):
                w[at + j] = w[at + j] + f * c[row + j]
    add_products_of_rows(
        a, w, c, conj, m, n, base, first, count, side, c_columns, room, size, width
    )
    if adjoint != 0:
        for step in range(count):
            k = count - 1 - step
            at = room + k * size
            f = conj(t[top + k * count + k])
            for j in range(width):
                w[at + j] = f * w[at + j]
            for p in range(k):
                f = conj(t[top + p * count + k])
                other = room + p * size
                for j in range(width):
                    w[at + j] = w[at + j] + f * w[other + j]
    else:
        for k in range(count):
            at = room + k * size
            f = t[top + k * count + k]
            for j in range(width):
                w[at + j] = f * w[at + j]
            for p in range(k + 1, count):
                f = t[top + k * count + p]
                other = room + p * size
                for j in range(width):
                    w[at + j] = w[at + j] + f * w[other + j]
    for i in range(first, first + count):
        row = side + i * c_columns
        for k in range(i - first):
            f = a[base + i * n + first + k]
            at = room + k * size
            for j in range(width):
                c[row + j] = c[row + j] - f * w[at + j]
        at = room + (i - first) * size
        for j in range(width):
            c[row + j] = c[row + j] - w[at + j]
    subtract_products_of_rows(a, w, c, m, n, base, first, count, side, c_columns, room, size, width)


@un.kernel
def take_upper(a, r, m, n, rows):
    """The upper triangles of `rows` rows."""
    i = un.global_id(0)
    matrix = i // (rows * n)
    within = i - matrix * rows * n
    row = within // n
    column = within % n
    if column < row:
        r[i] = 0
    else:
        r[i] = a[matrix * m * n + row * n + column]
