"""Hermitian matrices to tridiagonal and others to bidiagonal form by Householder's reflections, panels of 32 columns at a time.

Reflections of a panel change the rest of the matrix together (Dongarra, Hammarling and Sorensen 1989): A becomes
A - left @ right. Row i of `left` has 64 elements, of which those of the second sort begin at 32; row p of `right` has n.
A column of a panel is two launches, or four: a work-item for each matrix finds the reflection; then pieces
multiply it with what the matrix was before the panel, and with `left` and `right`, whose products lie in `sums`, a row
of 64 for each piece. Small matrices are one piece, and a panel one launch. Reflector k has a one in row k of column k of `v` and zeros above, as in factoring.py.
"""

import numpy as np
import unisono as un


@un.kernel
def largest_of_rows(a, sizes, columns, first_only):
    """The largest size in each row, NaN where there is one; with `first_only` up to the diagonal of square matrices."""
    i = un.global_id(0)
    end = columns
    begin = 0
    if first_only == 1:
        end = i % columns + 1
    if first_only == 2:
        begin = i % columns
    most = abs(a[i * columns + begin])
    for j in range(begin + 1, end):
        size = abs(a[i * columns + j])
        if not size <= most and most == most:
            most = size
    sizes[i] = most


@un.kernel
def scales_of_matrices(sizes, scales, failed, rows, least, most, smallest):
    """What matrices are divided by so that squares stay in range: 1 for most. Those that are not finite have failed.

    `smallest` is the least number whose inverse is finite and of full precision: complex quotients are computed by that.
    """
    matrix = un.global_id(0)
    size = sizes[matrix * rows]
    for i in range(1, rows):
        other = sizes[matrix * rows + i]
        if not other <= size and size == size:
            size = other
    if not size - size == 0:
        un.atomic.min(failed, 0, matrix)
        size = least - least
    if size == 0 or (size >= least and size <= most):
        size = least / least
    scales[matrix] = min(max(size, smallest), 1 / smallest)


@un.kernel
def take_hermitian(a, out, scales, conj, n, upper):
    """Whole Hermitian matrices from a triangle."""
    i = un.global_id(0)
    matrix = i // (n * n)
    within = i - matrix * n * n
    row = within // n
    column = within - row * n
    at = i
    is_other = row < column
    if upper != 0:
        is_other = row > column
    if is_other:
        at = matrix * n * n + column * n + row
    v = a[at] / scales[matrix]
    if is_other:
        v = conj(v)
    if row == column:
        out[i] = v.real
    else:
        out[i] = v


@un.kernel
def take_scaled(a, out, scales, conj, rows, columns, turned):
    """Matrices, or their adjoints; rows and columns are those of the result."""
    i = un.global_id(0)
    matrix = i // (rows * columns)
    within = i - matrix * rows * columns
    at = i
    if turned != 0:
        at = i - within + within % columns * rows + within // columns
    v = a[at] / scales[matrix]
    if turned != 0:
        v = conj(v)
    out[i] = v


@un.jit
def make_reflector(x, first, end, conj, least, beta, at):
    """x[first:end] becomes a reflector; writes what remains of x, which is real, and returns the factor.

    Sums of squares up to `least` are of nothing but rounding: matrices are scaled.
    """
    alpha = x[first]
    rest = alpha.imag * alpha.imag
    for i in range(first + 1, end):
        rest = rest + (x[i] * conj(x[i])).real
    factor = alpha * 0
    beta[at] = alpha.real
    x[first] = 1
    if rest > least:
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


@un.jit
def sum_of_pieces(sums, first, pieces):
    total = sums[first]
    for k in range(1, pieces):
        total = total + sums[first + k * 64]
    return total


@un.jit
def multiply_adjoint(a, base, row, x, x_first, y, y_first, first, m, begin, end, conj):
    """y = a^H x for columns begin, ..., end - 1, from row `first` on, four rows together."""
    for c in range(begin, end):
        y[y_first + c] = 0
    i = first
    while i + 4 <= m:
        p, q, r, s = x[x_first + i], x[x_first + i + 1], x[x_first + i + 2], x[x_first + i + 3]
        a0 = base + i * row
        a1 = a0 + row
        a2 = a1 + row
        a3 = a2 + row
        for c in range(begin, end):
            y[y_first + c] = (
                y[y_first + c]
                + conj(a[a0 + c]) * p
                + conj(a[a1 + c]) * q
                + conj(a[a2 + c]) * r
                + conj(a[a3 + c]) * s
            )
        i += 4
    while i < m:
        p = x[x_first + i]
        a0 = base + i * row
        for c in range(begin, end):
            y[y_first + c] = y[y_first + c] + conj(a[a0 + c]) * p
        i += 1


@un.jit
def sum_of_left(left, rows, x, x_first, sums, top, first, end, count, conj):
    """sums = left^H x of some rows: `count` columns of each sort."""
    for p in range(count):
        sums[top + p] = 0
        sums[top + 32 + p] = 0
    for i in range(first, end):
        f = x[x_first + i]
        at = rows + i * 64
        for p in range(count):
            sums[top + p] = sums[top + p] + conj(left[at + p]) * f
        for p in range(32, 32 + count):
            sums[top + p] = sums[top + p] + conj(left[at + p]) * f


@un.jit
def finish_hermitian(left, right, x, y, sums, tau, matrix, conj, n, k, column, pieces):
    """Column k - 1 of the second sort: y = a x less what the panel changed before, and its part along x."""
    line = matrix * n
    rows = matrix * n * 64
    top = matrix * pieces * 64
    for p in range(k - 1):
        one = sum_of_pieces(sums, top + 32 + p, pieces)
        two = sum_of_pieces(sums, top + p, pieces)
        v_at = rows + (32 + p) * n
        w_at = rows + p * n
        for i in range(column, n):
            y[line + i] = y[line + i] - conj(right[v_at + i]) * one - conj(right[w_at + i]) * two
    factor = tau[line + column]
    dot = factor * 0
    for i in range(column, n):
        v = y[line + i] * factor
        y[line + i] = v
        dot = dot + conj(v) * x[line + i]
    dot = factor * dot / 2
    for i in range(column, n):
        v = y[line + i] - dot * x[line + i]
        left[rows + i * 64 + 32 + k - 1] = v
        right[rows + (k - 1) * n + i] = conj(v)


@un.kernel
def close_hermitian(left, right, x, y, sums, tau, conj, n, k, column, pieces):
    finish_hermitian(left, right, x, y, sums, tau, un.global_id(0), conj, n, k, column, pieces)


@un.jit
def reduce_hermitian_column(
    a, left, right, x, y, sums, d, e, tau, v, matrix, conj, n, first, column, pieces, least
):  # fmt: skip
    """The reflection of a column: left = [v w] and right = [w v]^H, of which w follows from y of the products."""
    k = column - first
    if k > 0:
        finish_hermitian(left, right, x, y, sums, tau, matrix, conj, n, k, column, pieces)
    base = matrix * n * n
    line = matrix * n
    rows = matrix * n * 64
    for i in range(column, n):
        x[line + i] = conj(a[base + column * n + i])
    for p in range(k):
        v_at = rows + (32 + p) * n
        w_at = rows + p * n
        one = right[w_at + column]
        two = right[v_at + column]
        for i in range(column, n):
            x[line + i] = x[line + i] - conj(right[v_at + i]) * one - conj(right[w_at + i]) * two
    d[line + column] = x[line + column].real
    if column + 1 < n:
        factor = make_reflector(x, line + column + 1, line + n, conj, least, e, matrix * n + column)
        tau[line + column + 1] = factor
        for i in range(column + 1, n):
            u = x[line + i]
            left[rows + i * 64 + k] = u
            right[rows + (32 + k) * n + i] = conj(u)
            v[base + i * n + column + 1] = u


@un.kernel
def tridiagonal_column(
    a, left, right, x, y, sums, d, e, tau, v, conj, n, first, column, pieces, least
):  # fmt: skip
    reduce_hermitian_column(
        a, left, right, x, y, sums, d, e, tau, v, un.global_id(0), conj, n, first, column, pieces, least
    )  # fmt: skip


@un.jit
def multiply_hermitian(a, left, x, y, sums, item, conj, n, column, count, pieces, size):
    """y = a x from row `column` on, and left^H x."""
    matrix = item // pieces
    begin = column + (item - matrix * pieces) * size
    end = min(begin + size, n)
    line = matrix * n
    multiply_adjoint(a, matrix * n * n, n, x, line, y, line, column, n, begin, end, conj)
    sum_of_left(left, matrix * n * 64, x, line, sums, item * 64, begin, end, count, conj)


@un.kernel
def tridiagonal_products(a, left, x, y, sums, conj, n, column, count, pieces, size):
    multiply_hermitian(a, left, x, y, sums, un.global_id(0), conj, n, column, count, pieces, size)


@un.kernel
def tridiagonal_panel(
    a, left, right, x, y, sums, d, e, tau, v, conj, n, first, last, least
):  # fmt: skip
    """All columns of a panel, in one piece."""
    matrix = un.global_id(0)
    for column in range(first, last):
        reduce_hermitian_column(
            a, left, right, x, y, sums, d, e, tau, v, matrix, conj, n, first, column, 1, least
        )  # fmt: skip
        if column + 1 < n:
            multiply_hermitian(
                a, left, x, y, sums, matrix, conj, n, column + 1, column - first, 1, n
            )


@un.jit
def finish_rows(left, turned, x, sums, tau, matrix, m, n, k, column, pieces):
    """Column k - 1 of the second sort in `left` and `turned`: x = a u less what the panel changed before."""
    line = matrix * m
    rows = matrix * m * 64
    top = matrix * pieces * 64
    for p in range(k):
        one = sum_of_pieces(sums, top + p, pieces)
        at = rows + p * m
        if p < k - 1:
            two = sum_of_pieces(sums, top + 32 + p, pieces)
            other = rows + (32 + p) * m
            for i in range(column, m):
                x[line + i] = x[line + i] - turned[at + i] * one - turned[other + i] * two
        else:
            for i in range(column, m):
                x[line + i] = x[line + i] - turned[at + i] * one
    factor = tau[matrix * n + column]
    for i in range(column, m):
        v = x[line + i] * factor
        left[rows + i * 64 + 32 + k - 1] = v
        turned[rows + (32 + k - 1) * m + i] = v


@un.kernel
def close_bidiagonal(left, turned, x, sums, tau, m, n, k, column, pieces):
    finish_rows(left, turned, x, sums, tau, un.global_id(0), m, n, k, column, pieces)


@un.jit
def reduce_column(
    a, left, turned, right, c, x, sums, d, tau, across, v, matrix, conj, m, n, first, column, pieces, least
):  # fmt: skip
    """The reflection of a column: left = [v x], `turned` its transpose, and right = [y u]^H; x is of the row before."""
    k = column - first
    if k > 0:
        finish_rows(left, turned, x, sums, across, matrix, m, n, k, column, pieces)
    line = matrix * m
    rows = matrix * m * 64
    base = matrix * m * n
    for i in range(column, m):
        c[line + i] = a[base + i * n + column]
    for p in range(k):
        at = rows + p * m
        other = rows + (32 + p) * m
        one = right[matrix * n * 64 + p * n + column]
        two = right[matrix * n * 64 + (32 + p) * n + column]
        for i in range(column, m):
            c[line + i] = c[line + i] - turned[at + i] * one - turned[other + i] * two
    factor = make_reflector(c, line + column, line + m, conj, least, d, matrix * n + column)
    tau[matrix * n + column] = factor
    for i in range(column, m):
        u = c[line + i]
        left[rows + i * 64 + k] = u
        turned[rows + k * m + i] = u
        v[base + i * n + column] = u


@un.kernel
def bidiagonal_column(
    a, left, turned, right, c, x, sums, d, tau, across, v, conj, m, n, first, column, pieces, least
):  # fmt: skip
    reduce_column(
        a, left, turned, right, c, x, sums, d, tau, across, v, un.global_id(0), conj, m, n, first, column, pieces, least
    )  # fmt: skip


@un.jit
def multiply_column(
    a, left, c, y, sums, item, conj, m, n, column, count, pieces, size, rows_size
):  # fmt: skip
    """y = a^H c right of the column, and left^H c."""
    matrix = item // pieces
    piece = item - matrix * pieces
    begin = column + 1 + piece * size
    end = min(begin + size, n)
    line = matrix * m
    multiply_adjoint(a, matrix * m * n, n, c, line, y, matrix * n, column, m, begin, end, conj)
    begin = min(column + piece * rows_size, m)
    end = min(begin + rows_size, m)
    sum_of_left(left, matrix * m * 64, c, line, sums, item * 64, begin, end, count, conj)


@un.kernel
def products_of_column(
    a, left, c, y, sums, conj, m, n, column, count, pieces, size, rows_size
):  # fmt: skip
    multiply_column(
        a, left, c, y, sums, un.global_id(0), conj, m, n, column, count, pieces, size, rows_size
    )  # fmt: skip


@un.jit
def reduce_row(
    a, left, right, r, y, sums, e, tau, across, v, matrix, conj, m, n, first, column, pieces, least
):  # fmt: skip
    """The reflection of a row, right of the diagonal; y is of its column."""
    k = column - first
    line = matrix * n
    rows = matrix * n * 64
    top = matrix * pieces * 64
    begin = column + 1
    for p in range(k):
        one = sum_of_pieces(sums, top + p, pieces)
        two = sum_of_pieces(sums, top + 32 + p, pieces)
        at = rows + p * n
        other = rows + (32 + p) * n
        for i in range(begin, n):
            y[line + i] = y[line + i] - conj(right[at + i]) * one - conj(right[other + i]) * two
    factor = tau[line + column]
    at = rows + k * n
    for i in range(begin, n):
        right[at + i] = conj(y[line + i] * factor)
        r[line + i] = a[matrix * m * n + column * n + i]
    beside = matrix * m * 64 + column * 64
    for p in range(k + 1):
        one = left[beside + p]
        at = rows + p * n
        if p < k:
            two = left[beside + 32 + p]
            other = rows + (32 + p) * n
            for i in range(begin, n):
                r[line + i] = r[line + i] - one * right[at + i] - two * right[other + i]
        else:
            for i in range(begin, n):
                r[line + i] = r[line + i] - one * right[at + i]
    for i in range(begin, n):
        r[line + i] = conj(r[line + i])
    factor = make_reflector(r, line + begin, line + n, conj, least, e, line + column)
    across[line + begin] = factor
    at = rows + (32 + k) * n
    for i in range(begin, n):
        u = r[line + i]
        right[at + i] = conj(u)
        v[matrix * n * n + i * n + begin] = u


@un.kernel
def bidiagonal_row(
    a, left, right, r, y, sums, e, tau, across, v, conj, m, n, first, column, pieces, least
):  # fmt: skip
    reduce_row(
        a, left, right, r, y, sums, e, tau, across, v, un.global_id(0), conj, m, n, first, column, pieces, least
    )  # fmt: skip


@un.jit
def multiply_row(
    a, right, r, x, sums, item, m, n, column, count, pieces, size, columns_size
):  # fmt: skip
    """x = a r below the row, and right r: `count` rows of the first sort, one less of the second."""
    matrix = item // pieces
    piece = item - matrix * pieces
    begin = column + 1 + piece * size
    end = min(begin + size, m)
    line = matrix * n
    base = matrix * m * n
    first = column + 1
    zero = r[line + first] * 0
    i = begin
    while i + 4 <= end:
        a0 = base + i * n
        a1 = a0 + n
        a2 = a1 + n
        a3 = a2 + n
        p, q, s, t = zero, zero, zero, zero
        for j in range(first, n):
            f = r[line + j]
            p = p + a[a0 + j] * f
            q = q + a[a1 + j] * f
            s = s + a[a2 + j] * f
            t = t + a[a3 + j] * f
        at = matrix * m + i
        x[at] = p
        x[at + 1] = q
        x[at + 2] = s
        x[at + 3] = t
        i += 4
    while i < end:
        p = zero
        for j in range(first, n):
            p = p + a[base + i * n + j] * r[line + j]
        x[matrix * m + i] = p
        i += 1
    begin = min(first + piece * columns_size, n)
    end = min(begin + columns_size, n)
    for k in range(count):
        p, q = zero, zero
        at = matrix * n * 64 + k * n
        other = at + 32 * n
        if k + 1 < count:
            for j in range(begin, end):
                f = r[line + j]
                p = p + right[at + j] * f
                q = q + right[other + j] * f
        else:
            for j in range(begin, end):
                p = p + right[at + j] * r[line + j]
        sums[item * 64 + k] = p
        sums[item * 64 + 32 + k] = q


@un.kernel
def products_of_row(
    a, right, r, x, sums, m, n, column, count, pieces, size, columns_size
):  # fmt: skip
    multiply_row(
        a, right, r, x, sums, un.global_id(0), m, n, column, count, pieces, size, columns_size
    )  # fmt: skip


@un.kernel
def bidiagonal_panel(
    a, left, turned, right, c, x, r, y, sums, d, e, tau, across, v, u, conj, m, n, first, last, least
):  # fmt: skip
    """All columns and rows of a panel, in one piece."""
    matrix = un.global_id(0)
    for column in range(first, last):
        k = column - first
        reduce_column(
            a, left, turned, right, c, x, sums, d, tau, across, v, matrix, conj, m, n, first, column, 1, least
        )  # fmt: skip
        if column + 1 < n:
            multiply_column(a, left, c, y, sums, matrix, conj, m, n, column, k, 1, n, m)
            reduce_row(
                a, left, right, r, y, sums, e, tau, across, u, matrix, conj, m, n, first, column, 1, least
            )  # fmt: skip
            multiply_row(a, right, r, x, sums, matrix, m, n, column, k + 1, 1, m, n)


@un.kernel
def reflector_triangles(a, tau, t, conj, m, n, least, panels, matrices):
    """The triangles of the products of each panel's reflections (factoring.py); those of a panel lie side by side."""
    item = un.global_id(0)
    panel = item // matrices
    matrix = item - panel * matrices
    first = panel * 32
    count = min(32, least - first)
    top = panel * matrices * 1024 + matrix * count * count
    base = matrix * m * n + first
    for p in range(count):
        for q in range(count):
            t[top + p * count + q] = 0
    for i in range(first, m):
        at = base + i * n
        for p in range(min(count, i - first + 1)):
            f = conj(a[at + p])
            row = top + p * count
            # The one of reflector q is in row first + q, and what is above is zero.
            for q in range(p + 1, min(count, i - first + 1)):
                t[row + q] = t[row + q] + f * a[at + q]
    for q in range(count):
        factor = tau[matrix * least + first + q]
        for p in range(q):
            t[top + p * count + q] = -factor * t[top + p * count + q]
        for p in range(q):
            w = t[top + p * count + p] * t[top + p * count + q]
            for r in range(p + 1, q):
                w = w + t[top + p * count + r] * t[top + r * count + q]
            t[top + p * count + q] = w
        t[top + q * count + q] = factor
