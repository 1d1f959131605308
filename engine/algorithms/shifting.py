"""Eigenvalues of tridiagonal and singular values of bidiagonal matrices by QR steps with shifts.

One work-item takes the steps of a matrix, as many as there is room for their rotations; then work-items apply these to
columns of the matrices whose rows are the vectors. Step k of matrix m turns rows bounds[2 * (m * steps + k)] to
bounds[2 * (m * steps + k) + 1]; the rotation of rows i and i + 1 is at 2 * ((m * steps + k) * n + i) of `turns`, first the
cosine. state[3 * m] is the last row that is not done, behind it are the steps taken now and before. `left` counts
the matrices that are not done; `failed` is the first one that does not end, as where it contains NaN.
"""

import numpy as np
import unisono as un


@un.jit
def rotation(x, y, turns, at):
    """Writes cosine and sine of what turns (x, y) to (r, 0), and returns r."""
    one = abs(x)
    two = abs(y)
    most = max(one, two)
    r = most
    c = most - most + 1
    s = most - most
    if most > 0:
        x = x / most
        y = y / most
        r = np.sqrt(x * x + y * y)
        c = x / r
        s = y / r
        r = r * most
    turns[at] = c
    turns[at + 1] = s
    return r


@un.kernel
def begin_steps(state, n):
    matrix = un.global_id(0)
    state[matrix * 3] = n - 1
    state[matrix * 3 + 1] = 0
    state[matrix * 3 + 2] = 0


@un.jit
def is_small(e, d, i, eps):
    """Whether e[i] is nothing beside the diagonal."""
    return abs(e[i]) <= eps * (abs(d[i]) + abs(d[i + 1])) / 2


@un.kernel
def turn_tridiagonal(d, e, turns, bounds, state, left, failed, n, steps, room, eps):
    """Steps of the implicit QR algorithm with Wilkinson's shift, bottom first; `room` is 1, or 0 where nobody asks for vectors."""
    matrix = un.global_id(0)
    line = matrix * n
    low = matrix * n
    high = matrix * n + state[matrix * 3]
    k = 0
    while k < steps and high > low:
        while high > low and is_small(e, d, high - 1, eps):
            high -= 1
        if high > low:
            begin = high - 1
            while begin > low and not is_small(e, d, begin - 1, eps):
                begin -= 1
            delta = (d[high - 1] - d[high]) / 2
            t = e[high - 1]
            most = max(abs(delta), abs(t))
            root = most * np.sqrt(delta / most * (delta / most) + t / most * (t / most))
            if delta < 0:
                root = -root
            x = d[begin] - (d[high] - t * (t / (delta + root)))
            z = e[begin]
            row = (matrix * steps + k) * n - line
            for i in range(begin, high):
                at = 2 * (row + i)
                if room == 0:
                    at = 2 * matrix
                r = rotation(x, z, turns, at)
                c = turns[at]
                s = turns[at + 1]
                if i > begin:
                    e[i - 1] = r
                p = d[i]
                q = d[i + 1]
                t = e[i]
                u = c * p + s * t
                w = c * t + s * q
                d[i] = c * u + s * w
                x = c * w - s * u
                e[i] = x
                d[i + 1] = c * (c * q - s * t) - s * (c * t - s * p)
                if i + 1 < high:
                    z = s * e[i + 1]
                    e[i + 1] = c * e[i + 1]
            if room != 0:
                bounds[2 * (matrix * steps + k)] = begin - line
                bounds[2 * (matrix * steps + k) + 1] = high - line
            k += 1
    state[matrix * 3] = high - line
    state[matrix * 3 + 1] = k
    state[matrix * 3 + 2] += k
    if high > low:
        if state[matrix * 3 + 2] > 30 * n:
            un.atomic.min(failed, 0, matrix)
            state[matrix * 3] = 0
        else:
            un.atomic.add(left, 0, 1)


@un.jit
def square_of_shift(d, e, begin, high):
    """The eigenvalue of the last two rows of B^T B next to its last element, where it is not negative."""
    before = e[high - 1] * 0
    if high - 1 > begin:
        before = e[high - 2]
    one = d[high - 1] * d[high - 1] + before * before
    two = d[high] * d[high] + e[high - 1] * e[high - 1]
    t = d[high - 1] * e[high - 1]
    delta = (one - two) / 2
    root = np.sqrt(delta * delta + t * t)
    if delta < 0:
        root = -root
    mu = two
    if delta + root != 0:
        mu = two - t * (t / (delta + root))
    return max(mu, mu - mu)


@un.kernel
def turn_bidiagonal(d, e, turns, others, bounds, state, left, failed, n, steps, room, eps):
    """Steps of Golub and Kahan, or of Demmel and Kahan without a shift where the diagonal has a zero.

    What is below some eps times the largest element is zero: steps end there. `turns` are the rotations of right vectors, `others` of left ones.
    """
    matrix = un.global_id(0)
    line = matrix * n
    low = matrix * n
    high = matrix * n + state[matrix * 3]
    most = abs(d[line])
    for i in range(line, line + n):
        most = max(most, abs(d[i]))
        if i + 1 < line + n:
            most = max(most, abs(e[i]))
    tiny = 4 * eps * most
    k = 0
    while k < steps and high > low:
        while high > low and abs(e[high - 1]) <= tiny:
            high -= 1
        if high > low:
            begin = high
            has_zero = False
            while begin > low and not (begin < high and abs(e[begin - 1]) <= tiny):
                if abs(d[begin]) <= tiny:
                    d[begin] = 0
                    has_zero = True
                begin -= 1
            if abs(d[begin]) <= tiny:
                d[begin] = 0
                has_zero = True
            row = (matrix * steps + k) * n - line
            if has_zero:
                c = most - most + 1
                old_c = c
                old_s = most - most
                for i in range(begin, high):
                    at = 2 * (row + i)
                    if room == 0:
                        at = 2 * matrix
                    r = rotation(d[i] * c, e[i], turns, at)
                    c = turns[at]
                    s = turns[at + 1]
                    if i > begin:
                        e[i - 1] = old_s * r
                    d[i] = rotation(old_c * r, d[i + 1] * s, others, at)
                    old_c = others[at]
                    old_s = others[at + 1]
                h = d[high] * c
                d[high] = h * old_c
                e[high - 1] = h * old_s
            else:
                shift = np.sqrt(square_of_shift(d, e, begin, high))
                f = d[begin]
                sign = f / abs(f)
                f = (abs(f) - shift) * (sign + shift / f)
                g = e[begin]
                for i in range(begin, high):
                    at = 2 * (row + i)
                    if room == 0:
                        at = 2 * matrix
                    r = rotation(f, g, turns, at)
                    c = turns[at]
                    s = turns[at + 1]
                    if i > begin:
                        e[i - 1] = r
                    f = c * d[i] + s * e[i]
                    e[i] = c * e[i] - s * d[i]
                    g = s * d[i + 1]
                    d[i + 1] = c * d[i + 1]
                    d[i] = rotation(f, g, others, at)
                    c = others[at]
                    s = others[at + 1]
                    f = c * e[i] + s * d[i + 1]
                    d[i + 1] = c * d[i + 1] - s * e[i]
                    if i + 1 < high:
                        g = s * e[i + 1]
                        e[i + 1] = c * e[i + 1]
                e[high - 1] = f
            if room != 0:
                bounds[2 * (matrix * steps + k)] = begin - line
                bounds[2 * (matrix * steps + k) + 1] = high - line
            k += 1
    state[matrix * 3] = high - line
    state[matrix * 3 + 1] = k
    state[matrix * 3 + 2] += k
    if high > low:
        if state[matrix * 3 + 2] > 30 * n:
            un.atomic.min(failed, 0, matrix)
            state[matrix * 3] = 0
        else:
            un.atomic.add(left, 0, 1)


@un.kernel
def turn_rows(x, turns, bounds, state, n, steps, rows, columns, pieces, size):
    """Applies rotations to pieces of the rows of real matrices."""
    item = un.global_id(0)
    matrix = item // pieces
    first = (item - matrix * pieces) * size
    width = min(size, columns - first)
    base = matrix * rows * columns + first
    for k in range(state[matrix * 3 + 1]):
        step = matrix * steps + k
        row = step * n
        for i in range(bounds[2 * step], bounds[2 * step + 1]):
            c = turns[2 * (row + i)]
            s = turns[2 * (row + i) + 1]
            one = base + i * columns
            two = one + columns
            for j in range(width):
                u = x[one + j]
                v = x[two + j]
                x[one + j] = c * u + s * v
                x[two + j] = c * v - s * u


@un.kernel
def places_of_values(d, places, n, falling):
    """Where each value goes so that they rise, or that their sizes fall; equal ones keep their order."""
    item = un.global_id(0)
    line = item // n * n
    v = d[item]
    count = 0
    for k in range(line, line + n):
        w = d[k]
        if falling != 0:
            if abs(w) > abs(v) or (abs(w) == abs(v) and k < item):
                count += 1
        elif w < v or (w == v and k < item):
            count += 1
    places[item] = count


@un.kernel
def place_values(d, places, scales, out, n, falling):
    item = un.global_id(0)
    v = d[item]
    if falling != 0:
        v = abs(v)
    matrix = item // n
    out[matrix * n + places[item]] = v * scales[matrix]


@un.kernel
def place_vectors(x, places, d, out, conj, n, count, length, in_rows, signed):
    """Vectors, which are the rows of x, to their columns, or rows; the first n have places, the others stay.

    With `signed`, those of negative d turn round.
    """
    i = un.global_id(0)
    matrix = i // (count * length)
    within = i - matrix * count * length
    k = within // length
    at = within - k * length
    v = conj(x[i])
    place = k
    if k < n:
        place = places[matrix * n + k]
        if signed != 0 and d[matrix * n + k] < 0:
            v = -v
    if in_rows != 0:
        out[i - within + place * length + at] = v
    else:
        out[i - within + at * count + place] = v


@un.kernel
def ranks_of_matrices(s, ranks, n, limit):
    """How many singular values are above `limit` times the first."""
    matrix = un.global_id(0)
    count = 0
    for k in range(n):
        if s[matrix * n + k] > limit * s[matrix * n]:
            count += 1
    ranks[matrix] = count


@un.kernel
def coefficients_of_vectors(u, s, b, out, conj, rows, n, count, limit):
    """u^H b over the singular values, of those above `limit` times the first."""
    i = un.global_id(0)
    k = i // count
    column = i - k * count
    total = conj(u[k]) * b[column]
    for j in range(1, rows):
        total = total + conj(u[j * n + k]) * b[j * count + column]
    if s[k] > limit * s[0]:
        out[i] = total / s[k]
    else:
        out[i] = total * 0


@un.kernel
def multiply_adjoints(a, b, out, conj, rows, n, count):
    """a^H b of one matrix with `rows` rows and n columns."""
    i = un.global_id(0)
    k = i // count
    column = i - k * count
    total = conj(a[k]) * b[column]
    for j in range(1, rows):
        total = total + conj(a[j * n + k]) * b[j * count + column]
    out[i] = total


@un.kernel
def sizes_of_residuals(a, x, b, m, n, count):
    """Row n of x becomes the length of each column of b - a x; what is below becomes zero."""
    column = un.global_id(0)
    total = b[column].real * 0
    for i in range(m):
        v = b[i * count + column]
        for k in range(n):
            v = v - a[i * n + k] * x[k * count + column]
        total = total + v.real * v.real + v.imag * v.imag
    x[n * count + column] = np.sqrt(total)
    for i in range(n + 1, m):
        x[i * count + column] = 0
