"""Discrete Fourier transforms of lines, four together: Stockham's autosorting passes.

Arrays hold real numbers; a complex number is a pair of them. A work-item transforms groups of four lines
in the scratch arrays s and t, in which the cell of each index holds four real parts, then four imaginary
parts. Lines are read from ``x[first + bases[line] + j * stride + re_at]`` (and im_at) for j below have_re
(have_im), zeros follow, and written likewise. Transforms are forward ones: backward ones swap the parts
on the way in and out. `w` holds the roots of unity exp(-2 pi i k / n).
"""

import numpy as np
import unisono as un


@un.kernel
def roots_of_unity(w, n, step, one):
    """exp(-2 pi i k step / n) for each k, from an angle in the first eighth of the circle."""
    k = un.global_id(0)
    e = 8 * k * step
    eighth = e // n
    r = e - eighth * n
    eighth = eighth & 7
    if (eighth & 1) != 0:
        r = n - r
    angle = 0.78539816339744830962 * (one * r / (one * n))
    c = np.cos(angle)
    s = np.sin(angle)
    if ((eighth + 1) & 2) != 0:
        c, s = s, c
    if ((eighth + 2) & 4) != 0:
        c = -c
    if eighth < 4:
        s = -s
    w[2 * k] = c
    w[2 * k + 1] = s


@un.jit
def pass_2(src, dst, base, w, l1, ido):
    for k in range(l1):
        for i in range(ido):
            a = base + (i + ido * 2 * k) * 8
            b = a + ido * 8
            c = base + (i + ido * k) * 8
            d = c + ido * l1 * 8
            j = 2 * i * l1
            wr, wi = w[j], w[j + 1]
            for lane in range(4):
                ar, ai, br, bi = src[a + lane], src[a + 4 + lane], src[b + lane], src[b + 4 + lane]
                dst[c + lane] = ar + br
                dst[c + 4 + lane] = ai + bi
                xr, xi = ar - br, ai - bi
                dst[d + lane] = xr * wr - xi * wi
                dst[d + 4 + lane] = xr * wi + xi * wr


@un.jit
def pass_4(src, dst, base, w, l1, ido):
    for k in range(l1):
        for i in range(ido):
            a0 = base + (i + ido * 4 * k) * 8
            a1 = a0 + ido * 8
            a2 = a1 + ido * 8
            a3 = a2 + ido * 8
            c0 = base + (i + ido * k) * 8
            c1 = c0 + ido * l1 * 8
            c2 = c1 + ido * l1 * 8
            c3 = c2 + ido * l1 * 8
            j = 2 * i * l1
            ur, ui = w[j], w[j + 1]
            vr, vi = w[2 * j], w[2 * j + 1]
            wr, wi = w[3 * j], w[3 * j + 1]
            for lane in range(4):
                pr, pi = src[a0 + lane], src[a0 + 4 + lane]
                qr, qi = src[a1 + lane], src[a1 + 4 + lane]
                rr, ri = src[a2 + lane], src[a2 + 4 + lane]
                tr, ti = src[a3 + lane], src[a3 + 4 + lane]
                sr, si = pr + rr, pi + ri
                dr, di = pr - rr, pi - ri
                mr, mi = qr + tr, qi + ti
                er, ei = qr - tr, qi - ti
                dst[c0 + lane] = sr + mr
                dst[c0 + 4 + lane] = si + mi
                xr, xi = dr + ei, di - er
                dst[c1 + lane] = xr * ur - xi * ui
                dst[c1 + 4 + lane] = xr * ui + xi * ur
                yr, yi = sr - mr, si - mi
                dst[c2 + lane] = yr * vr - yi * vi
                dst[c2 + 4 + lane] = yr * vi + yi * vr
                zr, zi = dr - ei, di + er
                dst[c3 + lane] = zr * wr - zi * wi
                dst[c3 + 4 + lane] = zr * wi + zi * wr


@un.jit
def pass_5(src, dst, base, w, l1, ido):
    for k in range(l1):
        for i in range(ido):
            a0 = base + (i + ido * 5 * k) * 8
            a1 = a0 + ido * 8
            a2 = a1 + ido * 8
            a3 = a2 + ido * 8
            a4 = a3 + ido * 8
            c0 = base + (i + ido * k) * 8
            c1 = c0 + ido * l1 * 8
            c2 = c1 + ido * l1 * 8
            c3 = c2 + ido * l1 * 8
            c4 = c3 + ido * l1 * 8
            j = 2 * i * l1
            w1r, w1i = w[j], w[j + 1]
            w2r, w2i = w[2 * j], w[2 * j + 1]
            w3r, w3i = w[3 * j], w[3 * j + 1]
            w4r, w4i = w[4 * j], w[4 * j + 1]
            for lane in range(4):
                xr, xi = src[a0 + lane], src[a0 + 4 + lane]
                pr, pi = src[a1 + lane] + src[a4 + lane], src[a1 + 4 + lane] + src[a4 + 4 + lane]
                dr, di = src[a1 + lane] - src[a4 + lane], src[a1 + 4 + lane] - src[a4 + 4 + lane]
                qr, qi = src[a2 + lane] + src[a3 + lane], src[a2 + 4 + lane] + src[a3 + 4 + lane]
                er, ei = src[a2 + lane] - src[a3 + lane], src[a2 + 4 + lane] - src[a3 + 4 + lane]
                dst[c0 + lane] = xr + pr + qr
                dst[c0 + 4 + lane] = xi + pi + qi
                fr = xr + 0.30901699437494742410 * pr - 0.80901699437494742410 * qr
                fi = xi + 0.30901699437494742410 * pi - 0.80901699437494742410 * qi
                gr = xr - 0.80901699437494742410 * pr + 0.30901699437494742410 * qr
                gi = xi - 0.80901699437494742410 * pi + 0.30901699437494742410 * qi
                hr = 0.95105651629515357212 * dr + 0.58778525229247312917 * er
                hi = 0.95105651629515357212 * di + 0.58778525229247312917 * ei
                mr = 0.58778525229247312917 * dr - 0.95105651629515357212 * er
                mi = 0.58778525229247312917 * di - 0.95105651629515357212 * ei
                y1r, y1i = fr + hi, fi - hr
                dst[c1 + lane] = y1r * w1r - y1i * w1i
                dst[c1 + 4 + lane] = y1r * w1i + y1i * w1r
                y2r, y2i = gr + mi, gi - mr
                dst[c2 + lane] = y2r * w2r - y2i * w2i
                dst[c2 + 4 + lane] = y2r * w2i + y2i * w2r
                y3r, y3i = gr - mi, gi + mr
                dst[c3 + lane] = y3r * w3r - y3i * w3i
                dst[c3 + 4 + lane] = y3r * w3i + y3i * w3r
                y4r, y4i = fr - hi, fi + hr
                dst[c4 + lane] = y4r * w4r - y4i * w4i
                dst[c4 + 4 + lane] = y4r * w4i + y4i * w4r


@un.jit
def pass_odd(src, dst, base, w, l1, ido, p):
    """Any odd radix: sums and differences of opposite cells halve the products."""
    n = l1 * ido * p
    turn = n // p
    cells = ido * 8
    for k in range(l1):
        for i in range(ido):
            a = base + (i + ido * p * k) * 8
            c = base + (i + ido * k) * 8
            for lane in range(4):
                sr, si = src[a + lane], src[a + 4 + lane]
                for m in range(1, p):
                    sr += src[a + m * cells + lane]
                    si += src[a + m * cells + 4 + lane]
                dst[c + lane] = sr
                dst[c + 4 + lane] = si
            for q in range(1, (p + 1) // 2):
                u = 2 * q * l1 * i
                v = 2 * (p - q) * l1 * i
                for lane in range(4):
                    er, ei = src[a + lane], src[a + 4 + lane]
                    zr, zi = er - er, ei - ei
                    at = 0
                    for m in range(1, (p + 1) // 2):
                        at += q
                        if at >= p:
                            at -= p
                        cosine, sine = w[2 * at * turn], w[2 * at * turn + 1]
                        b = a + m * cells + lane
                        d = a + (p - m) * cells + lane
                        er += (src[b] + src[d]) * cosine
                        ei += (src[b + 4] + src[d + 4]) * cosine
                        zr += (src[b] - src[d]) * sine
                        zi += (src[b + 4] - src[d + 4]) * sine
                    xr, xi = er - zi, ei + zr
                    g = c + q * cells * l1 + lane
                    dst[g] = xr * w[u] - xi * w[u + 1]
                    dst[g + 4] = xr * w[u + 1] + xi * w[u]
                    xr, xi = er + zi, ei - zr
                    g = c + (p - q) * cells * l1 + lane
                    dst[g] = xr * w[v] - xi * w[v + 1]
                    dst[g + 4] = xr * w[v + 1] + xi * w[v]


@un.jit
def one_pass(src, dst, base, w, l1, ido, radix):
    if radix == 4:
        pass_4(src, dst, base, w, l1, ido)
    elif radix == 2:
        pass_2(src, dst, base, w, l1, ido)
    elif radix == 5:
        pass_5(src, dst, base, w, l1, ido)
    else:
        pass_odd(src, dst, base, w, l1, ido, radix)


@un.jit
def next_radix(rest):
    """A factor: 4, 2 or the smallest odd prime."""
    if rest % 4 == 0:
        return 4
    if rest % 2 == 0:
        return 2
    p = 3
    while p * p <= rest:
        if rest % p == 0:
            return p
        p += 2
    return rest


@un.jit
def turn_cells(s, base, fine, coarse, shift, n, line, lines, columns):
    """Multiply cell k of column j of a matrix of n rows by the root of unity k * j."""
    mask = (1 << shift) - 1
    for lane in range(4):
        j = min(line + lane, lines - 1) % columns
        for k in range(n):
            at = k * j
            f = 2 * (at & mask)
            g = 2 * (at >> shift)
            ar, ai, br, bi = fine[f], fine[f + 1], coarse[g], coarse[g + 1]
            wr, wi = ar * br - ai * bi, ar * bi + ai * br
            c = base + k * 8 + lane
            xr, xi = s[c], s[c + 4]
            s[c] = xr * wr - xi * wi
            s[c + 4] = xr * wi + xi * wr


@un.jit
def store_lines(
    s, base, out, bases, first, stride, re_at, im_at, have_re, have_im, line, lines, scale, scale_im
):
    if line + 4 <= lines:
        b0 = first + bases[line]
        b1 = first + bases[line + 1]
        b2 = first + bases[line + 2]
        b3 = first + bases[line + 3]
        for k in range(have_re):
            c = base + k * 8
            at = k * stride + re_at
            out[b0 + at] = s[c] * scale
            out[b1 + at] = s[c + 1] * scale
            out[b2 + at] = s[c + 2] * scale
            out[b3 + at] = s[c + 3] * scale
            if k < have_im:
                at = k * stride + im_at
                out[b0 + at] = s[c + 4] * scale_im
                out[b1 + at] = s[c + 5] * scale_im
                out[b2 + at] = s[c + 6] * scale_im
                out[b3 + at] = s[c + 7] * scale_im
    else:
        for lane in range(lines - line):
            b = first + bases[line + lane]
            for k in range(have_re):
                c = base + k * 8 + lane
                out[b + k * stride + re_at] = s[c] * scale
                if k < have_im:
                    out[b + k * stride + im_at] = s[c + 4] * scale_im


@un.kernel
def transform_lines(
    x, bases, first, stride, re_at, im_at, have_re, have_im,
    out, to_bases, to_first, to_stride, to_re, to_im, to_have_re, to_have_im,
    w, fine, coarse, shift, columns, s, t, n, lines, groups, scale, scale_im,
):  # fmt: skip
    """Work-item p transforms `groups` groups of lines; `columns` is 0, or of turn_cells."""
    item = un.global_id(0)
    base = item * n * 8
    for group in range(item * groups, min((item + 1) * groups, (lines + 3) // 4)):
        line = group * 4
        b0 = first + bases[line]
        b1 = first + bases[min(line + 1, lines - 1)]
        b2 = first + bases[min(line + 2, lines - 1)]
        b3 = first + bases[min(line + 3, lines - 1)]
        for j in range(have_re):
            c = base + j * 8
            at = j * stride + re_at
            v = x[b0 + at]
            s[c] = v
            s[c + 1] = x[b1 + at]
            s[c + 2] = x[b2 + at]
            s[c + 3] = x[b3 + at]
            if j < have_im:
                at = j * stride + im_at
                s[c + 4] = x[b0 + at]
                s[c + 5] = x[b1 + at]
                s[c + 6] = x[b2 + at]
                s[c + 7] = x[b3 + at]
            else:
                for lane in range(4, 8):
                    s[c + lane] = scale - scale
        for c in range(base + have_re * 8, base + n * 8):
            s[c] = scale - scale
        l1 = 1
        rest = n
        flips = 0
        while rest > 1:
            radix = next_radix(rest)
            rest = rest // radix
            if flips == 0:
                one_pass(s, t, base, w, l1, rest, radix)
            else:
                one_pass(t, s, base, w, l1, rest, radix)
            flips = 1 - flips
            l1 = l1 * radix
        if flips == 0:
            if columns > 0:
                turn_cells(s, base, fine, coarse, shift, n, line, lines, columns)
            store_lines(
                s, base, out, to_bases, to_first, to_stride, to_re, to_im, to_have_re, to_have_im,
                line, lines, scale, scale_im,
            )  # fmt: skip
        else:
            if columns > 0:
                turn_cells(t, base, fine, coarse, shift, n, line, lines, columns)
            store_lines(
                t, base, out, to_bases, to_first, to_stride, to_re, to_im, to_have_re, to_have_im,
                line, lines, scale, scale_im,
            )  # fmt: skip


@un.kernel
def join_halves(z, out, bases, first, stride, fine, coarse, shift, half, sign, scale):
    """The spectra of 2 * half real numbers from those of as many complex ones, of their pairs."""
    line = un.global_id(0)
    k = un.global_id(1)
    a = 2 * (line * half + (0 if k == half else k))
    b = 2 * (line * half + (0 if k == 0 else half - k))
    ar, ai, br, bi = z[a], z[a + 1], z[b], z[b + 1]
    er, ei = ar + br, ai - bi
    dr, di = ai + bi, br - ar
    f = 2 * (k & ((1 << shift) - 1))
    g = 2 * (k >> shift)
    wr = fine[f] * coarse[g] - fine[f + 1] * coarse[g + 1]
    wi = fine[f] * coarse[g + 1] + fine[f + 1] * coarse[g]
    at = first + bases[line] + k * stride
    out[at] = (er + (dr * wr - di * wi)) * scale
    out[at + 1] = (ei + (dr * wi + di * wr)) * (sign * scale)


@un.kernel
def part_spectrum(x, bases, first, stride, have_re, have_im, z, fine, coarse, shift, half, sign):
    """What join_halves is given, from half a spectrum, for a backward transform."""
    line = un.global_id(0)
    k = un.global_id(1)
    zero = sign - sign
    ar, ai, br, bi = zero, zero, zero, zero
    a = first + bases[line] + k * stride
    b = first + bases[line] + (half - k) * stride
    if k < have_re:
        ar = x[a]
    if k > 0 and k < have_im:
        ai = sign * x[a + 1]
    if half - k < have_re:
        br = x[b]
    if k > 0 and half - k < have_im:
        bi = sign * x[b + 1]
    f = 2 * (k & ((1 << shift) - 1))
    g = 2 * (k >> shift)
    wr = fine[f] * coarse[g] - fine[f + 1] * coarse[g + 1]
    wi = -(fine[f] * coarse[g + 1] + fine[f + 1] * coarse[g])
    er, ei = ar + br, ai - bi
    dr, di = ar - br, ai + bi
    tr, ti = dr * wr - di * wi, dr * wi + di * wr
    at = 2 * (line * half + k)
    z[at] = er - ti
    z[at + 1] = ei + tr


@un.kernel
def mirror_spectrum(x, bases, first, stride, have_re, have_im, z, n, sign):
    """The whole spectrum of an odd number n of real numbers from its first half."""
    line = un.global_id(0)
    k = un.global_id(1)
    zero = sign - sign
    re, im = zero, zero
    j = k
    turned = sign
    if k >= n // 2 + 1:
        j = n - k
        turned = -sign
    at = first + bases[line] + j * stride
    if j < have_re:
        re = x[at]
    if j > 0 and j < have_im:
        im = turned * x[at + 1]
    z[2 * (line * n + k)] = re
    z[2 * (line * n + k) + 1] = im


@un.jit
def chirp(k, n, one):
    """exp(-pi i k * k / n)"""
    at = k * k % (2 * n)
    e = 4 * at
    eighth = e // n
    r = e - eighth * n
    if (eighth & 1) != 0:
        r = n - r
    angle = 0.78539816339744830962 * (one * r / (one * n))
    c = np.cos(angle)
    s = np.sin(angle)
    if ((eighth + 1) & 2) != 0:
        c, s = s, c
    if ((eighth + 2) & 4) != 0:
        c = -c
    if eighth < 4:
        s = -s
    return c, s


@un.kernel
def chirp_filter(z, n, m, one):
    """The conjugate chirp of k and of m - k, zero between: Bluestein's convolution of length m."""
    k = un.global_id(0)
    j = k if k < n else m - k
    re, im = one - one, one - one
    if j < n:
        re, im = chirp(j, n, one)
    z[2 * k] = re
    z[2 * k + 1] = -im


@un.kernel
def scale_numbers(x, factor):
    i = un.global_id(0)
    x[i] = x[i] * factor


@un.kernel
def gather_lines(x, bases, first, stride, re_at, im_at, have_re, have_im, z, n, m, chirps, one):
    """Lines, times the chirp if `chirps`, continued by zeros up to m."""
    line = un.global_id(0)
    k = un.global_id(1)
    re, im = one - one, one - one
    at = first + bases[line] + k * stride
    if k < have_re:
        re = x[at + re_at]
        if k < have_im:
            im = x[at + im_at]
        if chirps != 0:
            wr, wi = chirp(k, n, one)
            re, im = re * wr - im * wi, re * wi + im * wr
    z[2 * (line * m + k)] = re
    z[2 * (line * m + k) + 1] = im


@un.kernel
def multiply_spectra(z, filter, m, scale):
    line = un.global_id(0)
    k = un.global_id(1)
    a = 2 * (line * m + k)
    zr, zi, fr, fi = z[a], z[a + 1], filter[2 * k] * scale, filter[2 * k + 1] * scale
    z[a] = zr * fr - zi * fi
    z[a + 1] = zr * fi + zi * fr


@un.kernel
def scatter_lines(
    z, out, bases, first, stride, re_at, im_at, have_im, n, m, chirps, one, scale, scale_im
):
    """The first cells of lines of m, times the chirp if `chirps`."""
    line = un.global_id(0)
    k = un.global_id(1)
    a = 2 * (line * m + k)
    re, im = z[a], z[a + 1]
    if chirps != 0:
        wr, wi = chirp(k, n, one)
        re, im = re * wr - im * wi, re * wi + im * wr
    at = first + bases[line] + k * stride
    out[at + re_at] = re * scale
    if k < have_im:
        out[at + im_at] = im * scale_im
