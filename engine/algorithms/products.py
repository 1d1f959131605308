"""Products of matrices and sliding dot products. Each element adds its products in the order of k."""

import unisono as un


@un.kernel
def multiply_tiles(a, b, c, m, k_count, n, c_row, c_column, c_matrix, rows, tiles, width):
    """A tile of `width` columns of four rows for each work-item; a and b are packed.

    Work-items whose tiles lie below each other come one after the other, so that they share b.
    """
    item = un.global_id(0)
    matrix = item // (rows * tiles)
    item -= matrix * rows * tiles
    tile = item // rows
    row = (item - tile * rows) * 4
    first = tile * width
    last = min(first + width, n)
    b_first = matrix * k_count * n
    c_first = matrix * c_matrix
    if row + 4 <= m:
        a0 = (matrix * m + row) * k_count
        a1 = a0 + k_count
        a2 = a1 + k_count
        a3 = a2 + k_count
        c0 = c_first + row * c_row
        c1 = c0 + c_row
        c2 = c1 + c_row
        c3 = c2 + c_row
        p, q, r, s = a[a0], a[a1], a[a2], a[a3]
        for j in range(first, last):
            v = b[b_first + j]
            c[c0 + j * c_column] = p * v
            c[c1 + j * c_column] = q * v
            c[c2 + j * c_column] = r * v
            c[c3 + j * c_column] = s * v
        k = 1
        while k + 4 <= k_count:
            b0 = b_first + k * n
            p0, p1, p2, p3 = a[a0 + k], a[a0 + k + 1], a[a0 + k + 2], a[a0 + k + 3]
            q0, q1, q2, q3 = a[a1 + k], a[a1 + k + 1], a[a1 + k + 2], a[a1 + k + 3]
            r0, r1, r2, r3 = a[a2 + k], a[a2 + k + 1], a[a2 + k + 2], a[a2 + k + 3]
            s0, s1, s2, s3 = a[a3 + k], a[a3 + k + 1], a[a3 + k + 2], a[a3 + k + 3]
            for j in range(first, last):
                v0 = b[b0 + j]
                v1 = b[b0 + n + j]
                v2 = b[b0 + 2 * n + j]
                v3 = b[b0 + 3 * n + j]
                at = j * c_column
                c[c0 + at] = c[c0 + at] + p0 * v0 + p1 * v1 + p2 * v2 + p3 * v3
                c[c1 + at] = c[c1 + at] + q0 * v0 + q1 * v1 + q2 * v2 + q3 * v3
                c[c2 + at] = c[c2 + at] + r0 * v0 + r1 * v1 + r2 * v2 + r3 * v3
                c[c3 + at] = c[c3 + at] + s0 * v0 + s1 * v1 + s2 * v2 + s3 * v3
            k += 4
        while k < k_count:
            b0 = b_first + k * n
            p, q, r, s = a[a0 + k], a[a1 + k], a[a2 + k], a[a3 + k]
            for j in range(first, last):
                v = b[b0 + j]
                at = j * c_column
                c[c0 + at] = c[c0 + at] + p * v
                c[c1 + at] = c[c1 + at] + q * v
                c[c2 + at] = c[c2 + at] + r * v
                c[c3 + at] = c[c3 + at] + s * v
            k += 1
    else:
        for i in range(row, m):
            a0 = (matrix * m + i) * k_count
            c0 = c_first + i * c_row
            p = a[a0]
            for j in range(first, last):
                c[c0 + j * c_column] = p * b[b_first + j]
            for k in range(1, k_count):
                p = a[a0 + k]
                b0 = b_first + k * n
                for j in range(first, last):
                    c[c0 + j * c_column] = c[c0 + j * c_column] + p * b[b0 + j]


@un.kernel
def slide_windows(x, weights, out, zero, lead, n, m):
    """out[i] is the sum of x[i + j - lead] * weights[j] over what lies in x."""
    i = un.global_id(0)
    begin = max(0, lead - i)
    end = min(m, n + lead - i)
    out[i] = zero
    total = out[i]  # of the dtype of the sums, which may be complex
    for j in range(begin, end):
        total += x[i + j - lead] * weights[j]
    out[i] = total


@un.kernel
def copy_at_offsets(x, offsets, out, first):
    i = un.global_id(0)
    out[i] = x[first + offsets[i]]


@un.kernel
def copy_to_offsets(x, offsets, out, first):
    i = un.global_id(0)
    out[first + offsets[i]] = x[i]
