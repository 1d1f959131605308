"""Eigenvalues of Hermitian matrices and singular values of small matrices by Jacobi's rotations.

One work-item takes a matrix. Vectors lie one behind the other in scratch memory: element i of vector j of
length n at ``j * n + i``. Matrices are scaled by their largest element first, so that squares stay in
range; `smallest` is the least number whose inverse is finite and of full precision, by which complex quotients
are computed. `failed` becomes the first matrix whose rotations do not end, as where it contains NaN.
"""

import numpy as np
import unisono as un


@un.jit
def rotate(x, base, n, p, q, c, s, phase, conj):
    """Vectors p and q become c p - s conj(phase) q and s phase p + c q."""
    first = base + p * n
    second = base + q * n
    back = conj(phase)
    for i in range(n):
        u = x[first + i]
        v = x[second + i]
        x[first + i] = c * u - s * (back * v)
        x[second + i] = s * (phase * u) + c * v


@un.jit
def swap_vectors(x, base, n, p, q):
    for i in range(n):
        v = x[base + p * n + i]
        x[base + p * n + i] = x[base + q * n + i]
        x[base + q * n + i] = v


@un.jit
def tangent(difference, product):
    """Of the angle that makes `product` zero, from the difference of the diagonal."""
    theta = difference / (product + product)
    t = 1 / (abs(theta) + np.hypot(theta, theta * 0 + 1))
    if theta < 0:
        t = -t
    return t


@un.kernel
def rotate_hermitian(a, w, vectors, m, v, failed, conj, n, upper, wanted, eps, smallest):
    """Eigenvalues in rising order in w, and vectors; m and v are scratch memory."""
    matrix = un.global_id(0)
    base = matrix * n * n
    largest = eps - eps
    for i in range(n):
        for j in range(i + 1):
            x = a[base + i * n + j]
            if upper != 0:
                x = conj(a[base + j * n + i])
            if not abs(x) <= largest:
                largest = abs(x)
            m[base + i * n + j] = x
    scale = largest
    if largest - largest == 0:
        scale = min(max(largest, smallest), 1 / smallest)
    if not largest > 0:
        scale = largest * 0 + 1
    for i in range(n):
        for j in range(n):
            v[base + i * n + j] = 1 if i == j else 0
        for j in range(i):
            x = m[base + i * n + j] / scale
            m[base + i * n + j] = x
            m[base + j * n + i] = conj(x)
        m[base + i * n + i] = m[base + i * n + i].real / scale
    turning = not largest == 0
    sweeps = 0
    while turning and sweeps < 60:
        turning = False
        sweeps += 1
        for p in range(n):
            if not m[base + p * n + p].real == m[base + p * n + p].real:
                turning = True
            for q in range(p + 1, n):
                x = m[base + p * n + q]
                size = abs(x)
                if not size <= eps * eps:
                    if not size <= eps * 0.125 * np.sqrt(
                        abs(m[base + p * n + p].real) * abs(m[base + q * n + q].real)
                    ):
                        turning = True
                    phase = x / size
                    t = tangent(m[base + q * n + q].real - m[base + p * n + p].real, size)
                    c = 1 / np.sqrt(t * t + 1)
                    s = t * c
                    # Rows are the vectors here: the conjugate rotation, then that of columns.
                    rotate(m, base, n, p, q, c, s, conj(phase), conj)
                    for i in range(n):
                        at = base + i * n
                        y = m[at + p]
                        z = m[at + q]
                        m[at + p] = c * y - s * (conj(phase) * z)
                        m[at + q] = s * (phase * y) + c * z
                    m[base + p * n + q] = 0
                    m[base + q * n + p] = 0
                    rotate(v, base, n, p, q, c, s, phase, conj)
    if turning:
        un.atomic.min(failed, 0, matrix)
    for p in range(n):
        least = p
        for q in range(p + 1, n):
            if m[base + q * n + q].real < m[base + least * n + least].real:
                least = q
        if least != p:
            x = m[base + p * n + p]
            m[base + p * n + p] = m[base + least * n + least]
            m[base + least * n + least] = x
            swap_vectors(v, base, n, p, least)
        w[matrix * n + p] = m[base + p * n + p].real * scale
    if wanted != 0:
        for i in range(n):
            for j in range(n):
                vectors[base + i * n + j] = v[base + j * n + i]


@un.jit
def complete_vectors(g, base, n, first, count, conj, one):
    """Vectors first, ... of `count` become orthonormal to those before, which are."""
    start = 0
    for j in range(first, count):
        at = base + j * n
        found = False
        while not found:
            for i in range(n):
                g[at + i] = 0
            g[at + start] = 1
            for _ in range(2):
                for k in range(j):
                    other = base + k * n
                    dot = conj(g[other]) * g[at]
                    for i in range(1, n):
                        dot = dot + conj(g[other + i]) * g[at + i]
                    for i in range(n):
                        g[at + i] = g[at + i] - dot * g[other + i]
            norm = one - one
            for i in range(n):
                norm = norm + (g[at + i] * conj(g[at + i])).real
            start += 1
            if start == n:
                start = 0
                found = norm > 0
            if norm * (4 * n) > one:
                found = True
            if found:
                norm = np.sqrt(norm)
                for i in range(n):
                    g[at + i] = g[at + i] / norm


@un.kernel
def rotate_columns(
    a, u, s, vh, g, v, failed, conj, rows, columns, kept, wanted, eps, smallest
):  # fmt: skip
    """Singular values in falling order, and vectors: `kept` ones of the longer side.

    The columns of the matrix, or of its adjoint where that is longer, are rotated until they are orthogonal;
    g takes them, v the product of the rotations. Columns that rounding alone may have left count as zero.
    """
    matrix = un.global_id(0)
    long = max(rows, columns)
    short = min(rows, columns)
    base = matrix * long * kept
    side = matrix * short * short
    start = matrix * rows * columns
    largest = eps - eps
    for k in range(rows * columns):
        if not abs(a[start + k]) <= largest and largest == largest:
            largest = abs(a[start + k])
    scale = largest
    if largest - largest == 0:
        scale = min(max(largest, smallest), 1 / smallest)
    if not largest > 0:
        scale = largest * 0 + 1
    for j in range(short):
        for i in range(long):
            if rows >= columns:
                g[base + j * long + i] = a[start + i * columns + j] / scale
            else:
                g[base + j * long + i] = conj(a[start + j * columns + i]) / scale
        for i in range(short):
            v[side + j * short + i] = 1 if i == j else 0
    least = eps * long
    turning = True
    sweeps = 0
    while turning and sweeps < 60:
        turning = not largest - largest == 0
        sweeps += 1
        for p in range(short):
            for q in range(p + 1, short):
                x = conj(g[base + p * long]) * g[base + q * long]
                dot = x * 0
                one = eps - eps
                two = eps - eps
                for i in range(long):
                    y = g[base + p * long + i]
                    z = g[base + q * long + i]
                    dot = dot + conj(y) * z
                    one = one + (y * conj(y)).real
                    two = two + (z * conj(z)).real
                size = abs(dot)
                if min(one, two) > least * least and size > least * np.sqrt(one) * np.sqrt(two):
                    turning = True
                    t = tangent(two - one, size)
                    c = 1 / np.sqrt(t * t + 1)
                    phase = dot / size
                    rotate(g, base, long, p, q, c, t * c, phase, conj)
                    rotate(v, side, short, p, q, c, t * c, phase, conj)
    if turning:
        un.atomic.min(failed, 0, matrix)
    for j in range(short):
        norm = eps - eps
        for i in range(long):
            y = g[base + j * long + i]
            norm = norm + (y * conj(y)).real
        s[matrix * short + j] = np.sqrt(norm)
    rank = 0
    for p in range(short):
        most = p
        for q in range(p + 1, short):
            if s[matrix * short + q] > s[matrix * short + most]:
                most = q
        norm = s[matrix * short + most]
        if most != p:
            s[matrix * short + most] = s[matrix * short + p]
            swap_vectors(g, base, long, p, most)
            swap_vectors(v, side, short, p, most)
        s[matrix * short + p] = norm * scale
        if norm > least:
            rank = p + 1
            for i in range(long):
                g[base + p * long + i] = g[base + p * long + i] / norm
    if wanted != 0:
        complete_vectors(g, base, long, rank, kept, conj, eps / eps)
        for j in range(kept):
            for i in range(long):
                if rows >= columns:
                    u[matrix * rows * kept + i * kept + j] = g[base + j * long + i]
                else:
                    vh[matrix * kept * columns + j * columns + i] = conj(g[base + j * long + i])
        for j in range(short):
            for i in range(short):
                if rows >= columns:
                    vh[side + j * short + i] = conj(v[side + j * short + i])
                else:
                    u[side + i * short + j] = v[side + j * short + i]
