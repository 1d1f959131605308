"""Eigenvalues and vectors of small matrices without symmetry: one work-item takes a matrix.

Reflections make a matrix zero below the diagonal beside its own, QR steps make it (nearly) triangular, substitution finds the
vectors of that; of real matrices by double steps in real numbers (EISPACK's orthes and hqr2), of complex ones by single
steps with rotations. Every tenth step for a value takes another shift. `failed` becomes the first matrix whose steps do not end.
"""

import numpy as np
import unisono as un


@un.jit
def turn_three(h, at, step, x, y, z, p, q, has_third):
    """Elements at `at`, and one and two steps behind: less x, y, z times their sum with 1, p, q; the third may be missing."""
    sum_of = h[at] + p * h[at + step]
    if has_third:
        sum_of = sum_of + q * h[at + 2 * step]
        h[at + 2 * step] = h[at + 2 * step] - sum_of * z
    h[at] = h[at] - sum_of * x
    h[at + step] = h[at + step] - sum_of * y


@un.jit
def turn_two(h, at, step, p, q):
    z = h[at]
    w = h[at + step]
    h[at] = q * z + p * w
    h[at + step] = q * w - p * z


@un.jit
def hessenberg(h, v, ort, base, line, n, eps):
    """Real matrices; v becomes the product of the reflections. What is nothing beside the matrix becomes zero."""
    least = abs(h[base]) * 0
    for i in range(n * n):
        least = least + abs(h[base + i])
    least = least * eps * eps
    for m in range(1, n - 1):
        scale = abs(h[base + m * n + m - 1])
        for i in range(m + 1, n):
            scale = scale + abs(h[base + i * n + m - 1])
        if scale <= least:
            for i in range(m, n):
                h[base + i * n + m - 1] = 0
        else:
            total = scale - scale
            for i in range(m, n):
                ort[line + i] = h[base + i * n + m - 1] / scale
                total = total + ort[line + i] * ort[line + i]
            g = np.sqrt(total)
            if ort[line + m] > 0:
                g = -g
            total = total - ort[line + m] * g
            ort[line + m] = ort[line + m] - g
            for j in range(m, n):
                f = total - total
                for i in range(m, n):
                    f = f + ort[line + i] * h[base + i * n + j]
                f = f / total
                for i in range(m, n):
                    h[base + i * n + j] = h[base + i * n + j] - f * ort[line + i]
            for i in range(n):
                f = total - total
                for j in range(m, n):
                    f = f + ort[line + j] * h[base + i * n + j]
                f = f / total
                for j in range(m, n):
                    h[base + i * n + j] = h[base + i * n + j] - f * ort[line + j]
            ort[line + m] = scale * ort[line + m]
            h[base + m * n + m - 1] = scale * g
    for i in range(n):
        for j in range(n):
            v[base + i * n + j] = 1 if i == j else 0
    for back in range(1, n - 1):
        m = n - 1 - back
        if h[base + m * n + m - 1] != 0:
            for i in range(m + 1, n):
                ort[line + i] = h[base + i * n + m - 1]
            for j in range(m, n):
                g = ort[line + m] * v[base + m * n + j]
                for i in range(m + 1, n):
                    g = g + ort[line + i] * v[base + i * n + j]
                g = g / ort[line + m] / h[base + m * n + m - 1]
                for i in range(m, n):
                    v[base + i * n + j] = v[base + i * n + j] + g * ort[line + i]
    for i in range(2, n):
        for j in range(i - 1):
            h[base + i * n + j] = 0


@un.kernel
def real_schur(h, v, ort, parts, norms, failed, n, eps):
    """h becomes quasi-triangular, v the Schur vectors; parts are those of the eigenvalues."""
    matrix = un.global_id(0)
    base = matrix * n * n
    line = matrix * n
    hessenberg(h, v, ort, base, line, n, eps)
    norm = eps - eps
    for i in range(n):
        for j in range(max(i - 1, 0), n):
            norm = norm + abs(h[base + i * n + j])
    norms[matrix] = norm
    moved = eps - eps
    p, q, r, s, z = moved, moved, moved, moved, moved
    last = n - 1
    count = 0
    while last >= 0:
        low = last
        looking = True
        while looking and low > 0:
            s = abs(h[base + (low - 1) * n + low - 1]) + abs(h[base + low * n + low])
            if s == 0:
                s = norm
            if abs(h[base + low * n + low - 1]) <= eps * max(s, eps * norm):
                looking = False
            else:
                low -= 1
        corner = base + last * n + last
        if low == last:
            h[corner] = h[corner] + moved
            parts[2 * (line + last)] = h[corner]
            parts[2 * (line + last) + 1] = 0
            last -= 1
            count = 0
        elif low == last - 1:
            before = corner - n - 1
            w = h[corner - 1] * h[corner - n]
            p = (h[before] - h[corner]) / 2
            q = p * p + w
            z = np.sqrt(abs(q))
            h[corner] = h[corner] + moved
            h[before] = h[before] + moved
            x = h[corner]
            if q >= 0:
                z = p + z if p >= 0 else p - z
                parts[2 * (line + last - 1)] = x + z
                parts[2 * (line + last)] = x + z
                if z != 0:
                    parts[2 * (line + last)] = x - w / z
                parts[2 * (line + last - 1) + 1] = 0
                parts[2 * (line + last) + 1] = 0
                x = h[corner - 1]
                s = abs(x) + abs(z)
                p = x / s
                q = z / s
                r = np.sqrt(p * p + q * q)
                p = p / r
                q = q / r
                for j in range(last - 1, n):
                    turn_two(h, base + (last - 1) * n + j, n, p, q)
                for i in range(last + 1):
                    turn_two(h, base + i * n + last - 1, 1, p, q)
                for i in range(n):
                    turn_two(v, base + i * n + last - 1, 1, p, q)
                h[corner - 1] = 0
            else:
                parts[2 * (line + last - 1)] = x + p
                parts[2 * (line + last)] = x + p
                parts[2 * (line + last - 1) + 1] = z
                parts[2 * (line + last) + 1] = -z
            last -= 2
            count = 0
        else:
            x = h[corner]
            y = h[corner - n - 1]
            w = h[corner - 1] * h[corner - n]
            if count > 0 and count % 10 == 0:
                moved = moved + x
                for i in range(last + 1):
                    h[base + i * n + i] = h[base + i * n + i] - x
                s = abs(h[corner - 1]) + abs(h[corner - n - 2])
                x = s * 3 / 4
                y = x
                w = s * s * -7 / 16
            count += 1
            m = last - 2
            looking = True
            while looking:
                at = base + m * n + m
                z = h[at]
                r = x - z
                s = y - z
                p = (r * s - w) / h[at + n] + h[at + 1]
                q = h[at + n + 1] - z - r - s
                r = h[at + 2 * n + 1]
                s = abs(p) + abs(q) + abs(r)
                p = p / s
                q = q / s
                r = r / s
                if m == low:
                    looking = False
                elif abs(h[at - 1]) * (abs(q) + abs(r)) <= eps * (
                    abs(p) * (abs(h[at - n - 1]) + abs(z) + abs(h[at + n + 1]))
                ):
                    looking = False
                else:
                    m -= 1
            for i in range(m + 2, last + 1):
                h[base + i * n + i - 2] = 0
                if i > m + 2:
                    h[base + i * n + i - 3] = 0
            for k in range(m, last):
                at = base + k * n + k
                has_third = k != last - 1
                x = abs(p) + abs(q) + abs(r)
                if k != m:
                    p = h[at - 1]
                    q = h[at + n - 1]
                    r = moved - moved
                    if has_third:
                        r = h[at + 2 * n - 1]
                    x = abs(p) + abs(q) + abs(r)
                    if x != 0:
                        p = p / x
                        q = q / x
                        r = r / x
                s = np.sqrt(p * p + q * q + r * r)
                if p < 0:
                    s = -s
                if s != 0 and x != 0:
                    if k != m:
                        h[at - 1] = -s * x
                    elif low != m:
                        h[at - 1] = -h[at - 1]
                    p = p + s
                    x = p / s
                    y = q / s
                    z = r / s
                    q = q / p
                    r = r / p
                    for j in range(k, n):
                        turn_three(h, base + k * n + j, n, x, y, z, q, r, has_third)
                    for i in range(min(last, k + 3) + 1):
                        turn_columns(h, base + i * n + k, x, y, z, q, r, has_third)
                    for i in range(n):
                        turn_columns(v, base + i * n + k, x, y, z, q, r, has_third)
            if count > 300:
                un.atomic.min(failed, 0, matrix)
                last = -1


@un.jit
def turn_columns(h, at, x, y, z, q, r, has_third):
    sum_of = x * h[at] + y * h[at + 1]
    if has_third:
        sum_of = sum_of + z * h[at + 2]
        h[at + 2] = h[at + 2] - sum_of * r
    h[at] = h[at] - sum_of
    h[at + 1] = h[at + 1] - sum_of * q


@un.jit
def unitary_hessenberg(h, v, u, base, line, n, least):
    """Complex matrices; v becomes the product of the reflections, whose vectors lie in u one after the other."""
    for i in range(n):
        for j in range(n):
            v[base + i * n + j] = 1 if i == j else 0
    for m in range(1, n - 1):
        alpha = h[base + m * n + m - 1]
        size = abs(alpha)
        rest = least - least
        for i in range(m + 1, n):
            x = h[base + i * n + m - 1]
            rest = rest + x.real * x.real + x.imag * x.imag
        if rest > least:
            length = np.sqrt(size * size + rest)
            beta = alpha * 0 - length
            if size > 0:
                beta = alpha / size * -length
            half = length * (length + size)
            u[line + m] = alpha - beta
            h[base + m * n + m - 1] = beta
            for i in range(m + 1, n):
                u[line + i] = h[base + i * n + m - 1]
                h[base + i * n + m - 1] = 0
            for j in range(m, n):
                f = alpha * 0
                for i in range(m, n):
                    f = f + np.conj(u[line + i]) * h[base + i * n + j]
                f = f / half
                for i in range(m, n):
                    h[base + i * n + j] = h[base + i * n + j] - f * u[line + i]
            for i in range(n):
                reflect_row(h, base + i * n, u, line, m, n, half)
                reflect_row(v, base + i * n, u, line, m, n, half)
        else:
            for i in range(m + 1, n):
                h[base + i * n + m - 1] = 0


@un.jit
def reflect_row(h, row, u, line, m, n, half):
    f = h[row + m] * u[line + m]
    for j in range(m + 1, n):
        f = f + h[row + j] * u[line + j]
    f = f / half
    for j in range(m, n):
        h[row + j] = h[row + j] - f * np.conj(u[line + j])


@un.jit
def rotate_columns_of(h, at, c, s):
    x = h[at]
    y = h[at + 1]
    h[at] = c * x + np.conj(s) * y
    h[at + 1] = c * y - s * x


@un.kernel
def complex_schur(h, v, u, w, norms, failed, n, eps, least):
    """h becomes triangular, v the Schur vectors, w the eigenvalues."""
    matrix = un.global_id(0)
    base = matrix * n * n
    line = matrix * n
    unitary_hessenberg(h, v, u, base, line, n, least)
    norm = eps - eps
    for i in range(n):
        for j in range(max(i - 1, 0), n):
            norm = norm + abs(h[base + i * n + j])
    norms[matrix] = norm
    last = n - 1
    count = 0
    while last >= 0:
        low = last
        looking = True
        while looking and low > 0:
            size = abs(h[base + (low - 1) * n + low - 1]) + abs(h[base + low * n + low])
            if size == 0:
                size = norm
            if abs(h[base + low * n + low - 1]) <= eps * max(size, eps * norm):
                looking = False
            else:
                low -= 1
        corner = base + last * n + last
        if low == last:
            w[line + last] = h[corner]
            last -= 1
            count = 0
        else:
            shift = h[corner]
            product = h[corner - 1] * h[corner - n]
            t = (h[corner - n - 1] - shift) / 2
            root = np.sqrt(t * t + product)
            if (np.conj(t) * root).real < 0:
                root = -root
            if abs(t + root) > 0:
                shift = shift - product / (t + root)
            if count > 0 and count % 10 == 0:
                shift = h[corner] + abs(h[corner - 1])
            x = h[base + low * n + low] - shift
            y = h[base + (low + 1) * n + low]
            for k in range(low, last):
                begin = low
                if k > low:
                    begin = k - 1
                    x = h[base + k * n + k - 1]
                    y = h[base + (k + 1) * n + k - 1]
                c = abs(x)
                size = np.hypot(c, abs(y))
                s = x * 0 + 1
                if size > 0:
                    if c > 0:
                        s = x / c * np.conj(y) / size
                        c = c / size
                    for j in range(begin, n):
                        one = base + k * n + j
                        f = h[one]
                        g = h[one + n]
                        h[one] = c * f + s * g
                        h[one + n] = c * g - np.conj(s) * f
                    for i in range(min(k + 2, last) + 1):
                        rotate_columns_of(h, base + i * n + k, c, s)
                    for i in range(n):
                        rotate_columns_of(v, base + i * n + k, c, s)
                    if k > low:
                        h[base + (k + 1) * n + k - 1] = 0
            count += 1
            if count > 300:
                un.atomic.min(failed, 0, matrix)
                last = -1


@un.jit
def substitute(h, base, row, w, line, x, at, n, last, value, is_pair, is_real, least, eps):
    """The vector of the (quasi-)triangular matrix for the value that ends in row `last`."""
    for i in range(n):
        x[at + i] = 0
    x[at + last] = 1
    below = last - 1
    if is_pair:
        corner = base + last * row + last
        if abs(h[corner - 1]) > abs(h[corner - row]):
            x[at + last - 1] = (value - h[corner]) / h[corner - 1]
        else:
            x[at + last - 1] = 1
            x[at + last] = (value - h[corner - row - 1]) / h[corner - row]
        below -= 1
    i = below
    while i >= 0:
        right = value * 0
        for j in range(i + 1, last + 1):
            right = right - h[base + i * row + j] * x[at + j]
        d = h[base + i * row + i] - value
        step = 1
        if is_real != 0 and w[line + i].imag < 0:
            step = 2
            above = value * 0
            for j in range(i + 1, last + 1):
                above = above - h[base + (i - 1) * row + j] * x[at + j]
            corner = base + i * row + i
            a = h[corner - row - 1] - value
            b = h[corner - row] + value * 0
            c = h[corner - 1] + value * 0
            if abs(c) > abs(a):  # the larger one first: Cramer's rule leaves large residuals
                a, c = c, a
                b, d = d, b
                above, right = right, above
            f = c / a
            d = d - f * b
            if abs(d) < least:
                d = d * 0 + least
            x[at + i] = (right - f * above) / d
            x[at + i - 1] = (above - b * x[at + i]) / a
        else:
            if abs(d) < least:
                d = d * 0 + least
            x[at + i] = right / d
        size = abs(x[at + i])
        if step == 2:
            size = max(size, abs(x[at + i - 1]))
        if eps * size * size > 1:
            for j in range(i + 1 - step, last + 1):
                x[at + j] = x[at + j] / size
        i -= step


@un.kernel
def schur_vectors(h, v, w, x, order, vectors, norms, n, is_real, eps):
    """Vectors of length one, one for each work-item, by substitution; the largest element of complex ones is real.

    Blocks of two rows of real matrices belong to two conjugate values, the one above the axis first.
    """
    item = un.global_id(0)
    matrix = item // n
    last = item - matrix * n
    base = matrix * n * n
    line = matrix * n
    at = item * n
    value = w[item]
    is_second = is_real != 0 and value.imag < 0
    if is_second:
        value = np.conj(value)
    is_pair = is_real != 0 and value.imag != 0
    if is_pair and not is_second:
        last += 1
    least = eps * norms[matrix]
    if least == 0:
        least = eps
    substitute(h, base, n, w, line, x, at, n, last, value, is_pair, is_real, least, eps)
    total = eps - eps
    most = eps - eps
    phase = value * 0 + 1
    for i in range(n):
        sum_of = value * 0
        for j in range(last + 1):
            sum_of = sum_of + v[base + i * n + j] * x[at + j]
        if is_second:
            sum_of = np.conj(sum_of)
        size = sum_of.real * sum_of.real + sum_of.imag * sum_of.imag
        total = total + size
        if size > most:
            most = size
            phase = np.conj(sum_of) / np.sqrt(size)
        vectors[base + order[line + i] * n + item - line] = sum_of
    total = np.sqrt(total)
    for i in range(n):
        f = vectors[base + i * n + item - line] / total
        if is_real == 0 or is_pair:
            f = f * phase
        vectors[base + i * n + item - line] = f


@un.kernel
def triangular_vectors(h, w, x, norms, n, row, is_real, eps):
    """Vectors of (quasi-)triangular matrices whose rows lie `row` apart, as rows of x; of conjugate ones that above the axis."""
    item = un.global_id(0)
    matrix = item // n
    last = item - matrix * n
    value = w[item]
    is_pair = is_real != 0 and value.imag != 0
    if not (is_pair and value.imag < 0):
        if is_pair:
            last += 1
        least = eps * norms[matrix]
        if least == 0:
            least = eps
        base = matrix * n * row
        line = matrix * n
        substitute(h, base, row, w, line, x, item * n, n, last, value, is_pair, is_real, least, eps)


@un.kernel
def parts_of_vectors(x, w, out, n):
    """Rows of real numbers: real and imaginary part of two conjugate vectors."""
    i = un.global_id(0)
    item = i // n
    if w[item].imag < 0:
        out[i] = x[i - n].imag
    else:
        out[i] = x[i].real


@un.kernel
def finish_vectors(x, w, scales, order, vectors, n, is_real):
    """Columns of length one whose largest element is real, from rows, which are parts of real matrices' vectors."""
    item = un.global_id(0)
    matrix = item // n
    line = matrix * n
    value = w[item]
    sign = value.imag * 0
    row = item * n
    if is_real != 0 and value.imag != 0:
        sign = sign + 1
        if value.imag < 0:
            sign = -sign
            row -= n
    total = sign * 0
    most = sign * 0
    phase = value * 0 + 1
    for i in range(n):
        v = x[row + i] + value * 0
        if sign != 0:
            v = v.real + x[row + n + i].real * sign * 1j
        v = v * scales[line + i]
        size = v.real * v.real + v.imag * v.imag
        total = total + size
        if size > most:
            most = size
            phase = np.conj(v) / np.sqrt(size)
        vectors[(line + order[line + i]) * n + item - line] = v
    total = np.sqrt(total)
    for i in range(n):
        f = vectors[(line + i) * n + item - line] / total
        if is_real == 0 or sign != 0:
            f = f * phase
        vectors[(line + i) * n + item - line] = f


@un.kernel
def scale_values(w, scales, n):
    i = un.global_id(0)
    w[i] = w[i] * scales[i // n]
