"""Matrices without symmetry to Hessenberg form by Householder's reflections, panels of them at a time.

Rows of a matrix lie `row` elements apart. Reflections of a panel change the rest of the matrix together (LAPACK's dlahr2): Q is
I - V T V^H, and A becomes Q^H (A - Y V^H) with Y = A V T. V and Y lie in memory twice, by rows of 32 elements and by columns of
n. A reflection is two launches: a work-item for each matrix brings the column up to date and finds it, then pieces multiply the
matrix as it was before the panel by it. Reflector r has a one in row r of column r of `v`, as in factoring.py; it belongs to
column r - 1 of the matrix, and number 0 is nothing.
"""

import numpy as np
import unisono as un


@un.kernel
def isolate(a, order, counts, lane, lanes, meet, n):
    """Rows in an order in which those that stand alone come last, and columns that do first: zeros left of the diagonal and below.

    `counts` is room for 2 n numbers: of what is left, elements beside the diagonal that are not zero; negative of what went.
    """
    matrix = un.group_id(0)
    base = matrix * n * n
    line = matrix * n
    across = matrix * n * 2
    down = across + n
    for i in range(lane(), n, lanes()):
        in_row = 0
        in_column = 0
        for j in range(n):
            if j != i:
                if a[base + i * n + j] != 0:
                    in_row += 1
                if a[base + j * n + i] != 0:
                    in_column += 1
        counts[across + i] = in_row
        counts[down + i] = in_column
    meet()
    first = 0
    last = n
    found = 0
    while found >= 0:
        found = -1
        is_row = False
        for i in range(n):
            if counts[across + i] == 0:
                found = i
                is_row = True
        if found < 0:
            for i in range(n):
                if counts[down + n - 1 - i] == 0:
                    found = n - 1 - i
        meet()
        if found >= 0:
            for i in range(lane(), n, lanes()):
                if a[base + i * n + found] != 0 or i == found:
                    counts[across + i] -= 1
                if a[base + found * n + i] != 0 or i == found:
                    counts[down + i] -= 1
            if is_row:
                last -= 1
            else:
                first += 1
            if lane() == 0:
                counts[across + found] = -n
                counts[down + found] = -n
                order[line + (last if is_row else first - 1)] = found
        meet()
    if lane() == 0:
        for i in range(n):
            if counts[across + i] > 0:
                order[line + first] = i
                first += 1


@un.kernel
def reorder(a, out, order, n):
    """Rows and columns of matrices in that order."""
    i = un.global_id(0)
    row = i // n
    line = row // n * n
    out[i] = a[(line + order[row]) * n + order[line + i - row * n]]


@un.kernel
def balance(a, scales, sizes, lane, lanes, meet, n, row, least):
    """Divide rows and multiply columns by powers of two until they are of like length; `sizes` is room for n numbers.

    The length is that in the 2-norm: sums of sizes lead to vectors with large residuals (James, Langou and Lowery 2014).
    """
    matrix = un.group_id(0)
    base = matrix * n * row
    line = matrix * n
    room = matrix * n
    for i in range(lane(), n, lanes()):
        scales[line + i] = 1
    count = 0
    while count < 32:
        for i in range(lane(), n, lanes()):
            across = least - least
            for j in range(n):
                if j != i:
                    size = abs(a[base + i * row + j])
                    across = across + size * size
            down = least - least
            for j in range(n):
                if j != i:
                    size = abs(a[base + j * row + i])
                    down = down + size * size
            f = least / least
            if across > least and down > least:
                # Half of what would make one row and its column alike: the others move, too.
                f = np.exp2(np.rint(np.log2(across / down) / 8))
                to = scales[line + i] * f
                if to * least > 1 or to < least:
                    f = least / least
            sizes[room + i] = f
        meet()
        changed = False
        for i in range(n):
            if sizes[room + i] != 1:
                changed = True
        if changed:
            for i in range(lane(), n, lanes()):
                f = sizes[room + i]
                scales[line + i] = scales[line + i] * f
                for j in range(n):
                    a[base + i * row + j] = a[base + i * row + j] * (sizes[room + j] / f)
            count += 1
        else:
            count = 32
        meet()


@un.jit
def sum_of_pieces(sums, first, pieces):
    total = sums[first]
    for k in range(1, pieces):
        total = total + sums[first + k * 32]
    return total


@un.jit
def finish_product(columns, rows, y, sums, w, t, matrix, n, k, count, factor, pieces):
    """Column k of Y, of which y is A v, and of T; `sums` are V^H v."""
    line = matrix * n
    across = matrix * n * 32
    top = matrix * count * count
    room = matrix * 32
    for p in range(k):
        s = sum_of_pieces(sums, matrix * pieces * 32 + p, pieces)
        w[room + p] = s
        at = across + p * n
        for i in range(n):
            y[line + i] = y[line + i] - columns[at + i] * s
    for i in range(n):
        v = y[line + i] * factor
        columns[across + k * n + i] = v
        rows[across + i * 32 + k] = v
    for p in range(k):
        v = factor * 0
        for q in range(p, k):
            v = v + t[top + p * count + q] * w[room + q]
        t[top + p * count + k] = -factor * v
    t[top + k * count + k] = factor


@un.kernel
def close_hessenberg(columns, rows, y, sums, w, t, tau, n, first, k, count, pieces):
    matrix = un.global_id(0)
    factor = tau[matrix * n + first + k]
    finish_product(columns, rows, y, sums, w, t, matrix, n, k, count, factor, pieces)


@un.jit
def make_reflector(x, first, end, conj, least, beta, at):
    """x[first:end] becomes a reflector; writes what remains of x, which is real, and returns the factor.

    Sums of squares up to `least` are of nothing but rounding: matrices are scaled.
    """
    alpha = x[first]
    rest = alpha.imag * alpha.imag
    others = rest * 0
    for i in range(first + 1, end):
        others = others + (x[i] * conj(x[i])).real
    factor = alpha * 0
    beta[at] = alpha
    x[first] = 1
    if others > least:
        rest = rest + others
        length = np.sqrt(alpha.real * alpha.real + rest)
        b = -length if alpha.real >= 0 else length
        factor = (b - alpha) / b
        inverse = 1 / (alpha - b)
        for i in range(first + 1, end):
            x[i] = x[i] * inverse
        beta[at] = b
    else:
        for i in range(first + 1, end):
            x[i] = 0
    return factor


@un.kernel
def hessenberg_column(
    a, v_columns, v_rows, y_columns, y_rows, x, y, sums, w, t, tau, v, conj, n, row, first, r, count, pieces, least
):  # fmt: skip
    """The reflection of column r - 1, and what is above it; v_columns are conjugate."""
    matrix = un.global_id(0)
    k = r - first
    line = matrix * n
    across = matrix * n * 32
    if k > 0 and r > 1:
        finish_product(
            y_columns, y_rows, y, sums, w, t, matrix, n, k - 1, count, tau[line + r - 1], pieces
        )
    base = matrix * n * row + r - 1
    room = matrix * 32
    top = matrix * count * count
    for i in range(n):
        x[line + i] = a[base + i * row]
    for p in range(k):
        at = across + p * n
        f = v_columns[at + r - 1]
        for i in range(n):
            x[line + i] = x[line + i] - y_columns[at + i] * f
    for p in range(k):
        w[room + p] = 0
    for i in range(first, n):
        f = x[line + i]
        at = across + i * 32
        for p in range(k):
            w[room + p] = w[room + p] + conj(v_rows[at + p]) * f
    for step in range(k):
        p = k - 1 - step
        f = conj(t[top + p * count + p]) * w[room + p]
        for q in range(p):
            f = f + conj(t[top + q * count + p]) * w[room + q]
        w[room + p] = f
    for p in range(k):
        at = across + p * n
        f = w[room + p]
        for i in range(first, n):
            x[line + i] = x[line + i] - conj(v_columns[at + i]) * f
    for i in range(r):
        a[base + i * row] = x[line + i]
    factor = make_reflector(x, line + r, line + n, conj, least, a, base + r * row)
    tau[line + r] = factor
    for i in range(r + 1, n):
        a[base + i * row] = 0
    for i in range(first, r):
        v_rows[across + i * 32 + k] = 0
        v_columns[across + k * n + i] = 0
    for i in range(r, n):
        u = x[line + i]
        v_rows[across + i * 32 + k] = u
        v_columns[across + k * n + i] = conj(u)
        v[(line + i) * n + r] = u


@un.kernel
def hessenberg_products(a, v_rows, x, y, sums, conj, n, row, r, k, pieces, size):
    """y = a x for pieces of rows, and V^H x, `k` of them."""
    item = un.global_id(0)
    matrix = item // pieces
    begin = (item - matrix * pieces) * size
    end = min(begin + size, n)
    line = matrix * n
    base = matrix * n * row
    zero = x[line + r] * 0
    i = begin
    while i + 4 <= end:
        a0 = base + i * row
        a1 = a0 + row
        a2 = a1 + row
        a3 = a2 + row
        p, q, s, t = zero, zero, zero, zero
        for j in range(r, n):
            f = x[line + j]
            p = p + a[a0 + j] * f
            q = q + a[a1 + j] * f
            s = s + a[a2 + j] * f
            t = t + a[a3 + j] * f
        at = line + i
        y[at] = p
        y[at + 1] = q
        y[at + 2] = s
        y[at + 3] = t
        i += 4
    while i < end:
        p = zero
        for j in range(r, n):
            p = p + a[base + i * row + j] * x[line + j]
        y[line + i] = p
        i += 1
    for p in range(k):
        sums[item * 32 + p] = 0
    for i in range(max(begin, r), end):
        f = x[line + i]
        at = (line + i) * 32
        for p in range(k):
            sums[item * 32 + p] = sums[item * 32 + p] + conj(v_rows[at + p]) * f
