"""Random numbers by Philox4x32-10: the draws of an element follow from key, stream and its index.

Draw 0 of an element is half of a block that it shares with its neighbour; later ones have blocks of their
own (engine/library/random/philox.h). A sampler is given the tables of the ziggurats, the element's `id`
(key, stream, index), how many draws were taken, and three parameters; it returns a number and how many
draws are taken then. The samplers are those of engine/library/random/samplers.h, where their sources are.
"""

import numpy as np
import unisono as un


@un.jit
def philox(key, stream, index, draw):
    """Both halves of a block, 64 bits each."""
    c0 = index
    c1 = index >> 32
    c2 = draw
    c3 = stream
    k0 = key & 0xFFFFFFFF
    k1 = key >> 32
    for _ in range(10):
        p0 = (c0 & 0xFFFFFFFF) * 0xD2511F53
        p1 = (c2 & 0xFFFFFFFF) * 0xCD9E8D57
        c0 = (p1 >> 32) ^ c1 ^ k0
        c2 = (p0 >> 32) ^ c3 ^ k1
        c1 = p1 & 0xFFFFFFFF
        c3 = p0 & 0xFFFFFFFF
        k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
        k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0 | (c1 << 32), c2 | (c3 << 32)


@un.jit
def draw_bits(id, taken):
    key, stream, index = id
    half = 1 - (taken & 1)
    if taken == 0:
        half = np.int64(index & 1)
        index = index >> 1
    even, odd = philox(key, stream, index, np.uint64((taken + 1) >> 1))
    return even if half == 0 else odd


@un.jit
def draw_unit(id, taken):
    """In [0, 1), 53 bits."""
    return np.float64(draw_bits(id, taken) >> 11) * 1.1102230246251565e-16


@un.jit
def product_above(a, b):
    """The upper half of the product of two numbers of 64 bits."""
    a0, a1 = a & 0xFFFFFFFF, a >> 32
    b0, b1 = b & 0xFFFFFFFF, b >> 32
    t = a1 * b0 + ((a0 * b0) >> 32)
    u = a0 * b1 + (t & 0xFFFFFFFF)
    return a1 * b1 + (t >> 32) + (u >> 32)


@un.jit
def draw_below(id, bits, span):
    """In 0, ..., span: Lemire's multiplication (2019), which rejects what would bias; bits is draw 0."""
    n = span + 1
    if n == 0:
        return bits
    if bits * n < n:
        taken = 1
        threshold = (~n + 1) % n
        while bits * n < threshold:
            bits = draw_bits(id, taken)
            taken += 1
    return product_above(bits, n)


@un.jit
def to_single(bits):
    return np.float32(bits)


@un.jit
def to_double(bits):
    return np.float64(bits)


@un.jit
def uniform_of(bits, real, shift, scale, low, width):
    return low + width * (real(bits >> shift) * scale)


@un.kernel
def fill_uniform(out, real, key, stream, next, n, blocks, size, shift, scale, low, width):
    """Work-item p takes `size` blocks, from the first element's on; the ends may need half of one."""
    first = un.global_id(0) * size
    last = min(first + size, blocks)
    base = next >> 1
    zero = base ^ base
    skipped = np.int64(next & 1)
    begin = first
    end = last
    if first == 0 and skipped == 1:
        even, odd = philox(key, stream, base, zero)
        out[0] = uniform_of(odd, real, shift, scale, low, width)
        begin += 1
    if last == blocks and 2 * blocks - skipped > n:
        end -= 1
        even, odd = philox(key, stream, base + np.uint64(end), zero)
        out[n - 1] = uniform_of(even, real, shift, scale, low, width)
    for p in range(begin, end):
        even, odd = philox(key, stream, base + np.uint64(p), zero)
        out[2 * p - skipped] = uniform_of(even, real, shift, scale, low, width)
        out[2 * p - skipped + 1] = uniform_of(odd, real, shift, scale, low, width)


@un.jit
def unit_double(upper, lower):
    """The 53 leading bits of two halves of 32."""
    return np.float64(upper) * 2097152.0 + np.float64(lower >> np.uint32(11))


@un.jit
def unit_single(upper, lower):
    return np.float32(upper >> np.uint32(8))


@un.kernel
def fill_uniform_in_lanes(out, unit, key, stream, next, n, blocks, size, scale, low, width):
    """As fill_uniform, 64 blocks at a time, whose rounds are loops that become vectors."""
    c0 = un.local_array(64, np.uint32)
    c1 = un.local_array(64, np.uint32)
    c2 = un.local_array(64, np.uint32)
    c3 = un.local_array(64, np.uint32)
    upper = un.local_array(128, np.uint32)
    lower = un.local_array(128, np.uint32)
    first = un.global_id(0) * size
    last = min(first + size, blocks)
    skipped = np.int64(next & 1)
    for p in range(first, last, 64):
        base = (next >> 1) + np.uint64(p)
        for lane in range(64):
            index = base + np.uint64(lane)
            c0[lane] = np.uint32(index & 0xFFFFFFFF)
            c1[lane] = np.uint32(index >> 32)
            c2[lane] = np.uint32(0)
            c3[lane] = np.uint32(stream & 0xFFFFFFFF)
        k0 = key & 0xFFFFFFFF
        k1 = key >> 32
        for _ in range(10):
            for lane in range(64):
                p0 = np.uint64(c0[lane]) * 0xD2511F53
                p1 = np.uint64(c2[lane]) * 0xCD9E8D57
                c0[lane] = np.uint32(p1 >> 32) ^ c1[lane] ^ np.uint32(k0)
                c2[lane] = np.uint32(p0 >> 32) ^ c3[lane] ^ np.uint32(k1)
                c1[lane] = np.uint32(p1 & 0xFFFFFFFF)
                c3[lane] = np.uint32(p0 & 0xFFFFFFFF)
            k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
            k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
        for lane in range(64):
            upper[2 * lane] = c1[lane]
            upper[2 * lane + 1] = c3[lane]
            lower[2 * lane] = c0[lane]
            lower[2 * lane + 1] = c2[lane]
        # The first element may be the second half of a block, and the last one the first half.
        at = 2 * p - skipped
        begin = max(0, -at)
        end = min(2 * min(64, last - p), n - at)
        for k in range(begin, end):
            out[at + k] = low + width * (unit(upper[k], lower[k]) * scale)


@un.kernel
def draw_integers(out, key, stream, next, n, low, span):
    """Work-item p makes the numbers of the elements that share block p behind the first one's."""
    p = un.global_id(0)
    block = (next >> 1) + np.uint64(p)
    k = 2 * p - np.int64(next & 1)
    even, odd = philox(key, stream, block, block ^ block)
    if k >= 0:
        out[k] = low + draw_below((key, stream, 2 * block), even, span)
    if k + 1 < n:
        out[k + 1] = low + draw_below((key, stream, 2 * block + 1), odd, span)


@un.kernel
def draw_swaps(out, key, stream, next, n):
    """With which place at most k each place k of a row is swapped; n - 1 - k numbers the draws."""
    row = un.global_id(0)
    k = un.global_id(1)
    id = (key, stream, next + np.uint64(row * n + n - 1 - k))
    out[row * n + k] = np.int64(draw_below(id, draw_bits(id, 0), np.uint64(k)))


@un.kernel
def swap_in_rows(swaps, out, n):
    first = un.global_id(0) * n
    for k in range(n):
        out[first + k] = k
    for j in range(1, n):
        k = n - j
        other = swaps[first + k]
        v = out[first + k]
        out[first + k] = out[first + other]
        out[first + other] = v


@un.kernel
def draw_numbers(out, sampler, z, v0, v1, v2, from0, from1, from2, p0, p1, p2, key, stream, next):
    """Parameters are numbers, or elements of vectors where from0, from1, from2 say so."""
    i = un.global_id(0)
    a, b, c = p0, p1, p2
    if from0 != 0:
        a = v0[i]
    if from1 != 0:
        b = v1[i]
    if from2 != 0:
        c = v2[i]
    x, _ = sampler(z, (key, stream, next + np.uint64(i)), 0, a, b, c)
    out[i] = x


@un.jit
def normal(z, id, n):
    """By the ziggurat; z holds its limits, widths and heights of 256 layers, and at 1536 its edge."""
    while True:
        bits = draw_bits(id, n)
        n += 1
        layer = np.int64(bits & 255)
        negative = (bits >> 8) & 1
        fraction = (bits >> 9) & 0x000FFFFFFFFFFFFF
        x = np.float64(fraction) * z[256 + layer]
        if negative != 0:
            x = -x
        if np.float64(fraction) < z[layer]:
            return x, n
        if layer == 0:
            while True:
                a = -0.27366123732975827203338247596 * np.log1p(-draw_unit(id, n))
                b = -np.log1p(-draw_unit(id, n + 1))
                n += 2
                if b + b > a * a:
                    edge = z[1536] + a
                    if ((fraction >> 8) & 1) != 0:
                        edge = -edge
                    return edge, n
        between = (z[512 + layer - 1] - z[512 + layer]) * draw_unit(id, n)
        n += 1
        if between + z[512 + layer] < np.exp(-0.5 * x * x):
            return x, n


@un.jit
def exponential(z, id, n):
    """The same, with tables from 768 on and the edge at 1537."""
    while True:
        bits = draw_bits(id, n) >> 3
        n += 1
        layer = np.int64(bits & 255)
        bits = bits >> 8
        x = np.float64(bits) * z[1024 + layer]
        if np.float64(bits) < z[768 + layer]:
            return x, n
        if layer == 0:
            return z[1537] - np.log1p(-draw_unit(id, n)), n + 1
        between = (z[1280 + layer - 1] - z[1280 + layer]) * draw_unit(id, n)
        n += 1
        if between + z[1280 + layer] < np.exp(-x):
            return x, n


@un.jit
def gamma(z, id, n, shape):
    if shape == 0.0:
        return 0.0, n
    if shape == 1.0:
        x, n = exponential(z, id, n)
        return x, n
    boost = 1.0
    if shape < 1.0:
        boost = np.power(1.0 - draw_unit(id, n), 1 / shape)
        n += 1
        shape += 1.0
    third = shape - 1.0 / 3
    c = 1 / np.sqrt(9 * third)
    while True:
        x, n = normal(z, id, n)
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        u = 1.0 - draw_unit(id, n)
        n += 1
        if u < 1 - 0.0331 * (x * x) * (x * x) or (
            np.log(u) < 0.5 * x * x + third * (1 - v + np.log(v))
        ):
            return third * v * boost, n


@un.jit
def log_gamma(x):
    """Of x >= 1: the product up to 15, then Stirling's series."""
    product = 1.0
    while x < 15:
        product *= x
        x += 1.0
    y = 1 / (x * x)
    series = 1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188))))
    return (x - 0.5) * np.log(x) - x + 0.9189385332046727418 + series / x - np.log(product)


@un.jit
def poisson(id, n, mean):
    if mean == 0:
        return 0.0, n
    if mean < 10:
        limit = np.exp(-mean)
        product = draw_unit(id, n)
        n += 1
        k = 0.0
        while product > limit:
            product *= draw_unit(id, n)
            n += 1
            k += 1.0
        return k, n
    root, log_mean = np.sqrt(mean), np.log(mean)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = draw_unit(id, n) - 0.5
        v = 1.0 - draw_unit(id, n + 1)
        n += 2
        us = 0.5 - abs(u)
        k = np.floor((2 * a / us + b) * u + mean + 0.43)
        if us >= 0.07 and v <= v_r:
            return k, n
        if k < 0 or (us < 0.013 and v > us):
            continue
        if np.log(v) + np.log(inverse_alpha) - np.log(
            a / (us * us) + b
        ) <= k * log_mean - mean - log_gamma(k + 1):
            return k, n


@un.jit
def few_successes(id, n, trials, p):
    """Of a binomial distribution with p <= 0.5."""
    q = 1 - p
    odds = p / q
    if trials * p < 10:
        first = np.exp(trials * np.log1p(-p))
        chance = first
        u = draw_unit(id, n)
        n += 1
        k = 0.0
        while u > chance:
            u -= chance
            k += 1.0
            if k > trials:
                k = 0.0
                chance = first
                u = draw_unit(id, n)
                n += 1
                continue
            chance *= (trials - k + 1) / k * odds
        return k, n
    spread = np.sqrt(trials * p * q)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = trials * p + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    mode = np.floor((trials + 1) * p)
    log_odds = np.log(odds)
    h = log_gamma(mode + 1) + log_gamma(trials - mode + 1)
    while True:
        u = draw_unit(id, n) - 0.5
        v = 1.0 - draw_unit(id, n + 1)
        n += 2
        us = 0.5 - abs(u)
        k = np.floor((2 * a / us + b) * u + c)
        if k < 0 or k > trials:
            continue
        if us >= 0.07 and v <= v_r:
            return k, n
        v = np.log(v * alpha / (a / (us * us) + b))
        if v <= h - log_gamma(k + 1) - log_gamma(trials - k + 1) + (k - mode) * log_odds:
            return k, n


@un.jit
def hypergeometric_weight(k, few, many, drawn):
    return (
        log_gamma(k + 1)
        + log_gamma(few - k + 1)
        + log_gamma(drawn - k + 1)
        + log_gamma(many - drawn + k + 1)
    )


@un.jit
def hypergeometric_by_ratio(id, n, few, many, drawn):
    total = few + many
    share = few / total
    center = drawn * share + 0.5
    variance = (total - drawn) * drawn * share * (1 - share) / (total - 1)
    scale = np.sqrt(variance + 0.5)
    width = 1.7155277699214135 * scale + 0.8989161620588988
    mode = np.floor((drawn + 1) * (few + 1) / (total + 2))
    end = min(min(drawn, few) + 1, np.floor(center + 16 * scale))
    most = hypergeometric_weight(mode, few, many, drawn)
    while True:
        u = 1.0 - draw_unit(id, n)
        x = center + width * (draw_unit(id, n + 1) - 0.5) / u
        n += 2
        if not (x >= 0 and x < end):
            continue
        k = np.floor(x)
        t = most - hypergeometric_weight(k, few, many, drawn)
        if u * (4 - u) - 3 <= t or (u * (u - t) < 1 and 2 * np.log(u) <= t):
            return k, n


@un.jit
def draw_normal(z, id, n, p0, p1, p2):
    x, n = normal(z, id, n)
    return p0 + p1 * x, n


@un.jit
def draw_exponential(z, id, n, p0, p1, p2):
    x, n = exponential(z, id, n)
    return p0 * x, n


@un.jit
def draw_uniform(z, id, n, p0, p1, p2):
    return p0 + (p1 - p0) * draw_unit(id, n), n + 1


@un.jit
def draw_gamma(z, id, n, p0, p1, p2):
    x, n = gamma(z, id, n, p0)
    return p1 * x, n


@un.jit
def draw_beta(z, id, n, a, b, p2):
    if a > 1 or b > 1:
        x, n = gamma(z, id, n, a)
        y, n = gamma(z, id, n, b)
        return x / (x + y), n
    while True:
        u = 1.0 - draw_unit(id, n)
        v = 1.0 - draw_unit(id, n + 1)
        n += 2
        log_x, log_y = np.log(u) / a, np.log(v) / b
        most = max(log_x, log_y)
        log_sum = most + np.log(np.exp(log_x - most) + np.exp(log_y - most))
        if log_sum <= 0:
            return np.exp(log_x - log_sum), n


@un.jit
def chisquare(z, id, n, df):
    x, n = gamma(z, id, n, df / 2)
    return 2 * x, n


@un.jit
def noncentral_chisquare(z, id, n, df, nonc):
    if nonc == 0:
        x, n = chisquare(z, id, n, df)
        return x, n
    if df > 1:
        x, n = normal(z, id, n)
        shifted = x + np.sqrt(nonc)
        x, n = chisquare(z, id, n, df - 1)
        return x + shifted * shifted, n
    k, n = poisson(id, n, nonc / 2)
    x, n = chisquare(z, id, n, df + 2 * k)
    return x, n


@un.jit
def draw_chisquare(z, id, n, p0, p1, p2):
    x, n = chisquare(z, id, n, p0)
    return x, n


@un.jit
def draw_noncentral_chisquare(z, id, n, p0, p1, p2):
    x, n = noncentral_chisquare(z, id, n, p0, p1)
    return x, n


@un.jit
def draw_f(z, id, n, p0, p1, p2):
    x, n = chisquare(z, id, n, p0)
    y, n = chisquare(z, id, n, p1)
    return x * p1 / (y * p0), n


@un.jit
def draw_noncentral_f(z, id, n, p0, p1, p2):
    x, n = noncentral_chisquare(z, id, n, p0, p2)
    y, n = chisquare(z, id, n, p1)
    return x * p1 / (y * p0), n


@un.jit
def draw_standard_t(z, id, n, p0, p1, p2):
    x, n = normal(z, id, n)
    y, n = gamma(z, id, n, p0 / 2)
    return np.sqrt(p0 / 2) * x / np.sqrt(y), n


@un.jit
def draw_standard_cauchy(z, id, n, p0, p1, p2):
    x, n = normal(z, id, n)
    y, n = normal(z, id, n)
    return x / y, n


@un.jit
def draw_laplace(z, id, n, p0, p1, p2):
    u = draw_unit(id, n)
    n += 1
    while u == 0:
        u = draw_unit(id, n)
        n += 1
    if u >= 0.5:
        return p0 + p1 * -np.log(2 - u - u), n
    return p0 + p1 * np.log(u + u), n


@un.jit
def draw_logistic(z, id, n, p0, p1, p2):
    u = draw_unit(id, n)
    n += 1
    while u == 0:
        u = draw_unit(id, n)
        n += 1
    return p0 + p1 * np.log(u / (1 - u)), n


@un.jit
def draw_gumbel(z, id, n, p0, p1, p2):
    return p0 - p1 * np.log(-np.log(1.0 - draw_unit(id, n))), n + 1


@un.jit
def draw_lognormal(z, id, n, p0, p1, p2):
    x, n = normal(z, id, n)
    return np.exp(p0 + p1 * x), n


@un.jit
def draw_rayleigh(z, id, n, p0, p1, p2):
    x, n = exponential(z, id, n)
    return p0 * np.sqrt(2 * x), n


@un.jit
def draw_weibull(z, id, n, p0, p1, p2):
    if p0 == 0:
        return 0.0, n
    x, n = exponential(z, id, n)
    return np.power(x, 1 / p0), n


@un.jit
def draw_pareto(z, id, n, p0, p1, p2):
    x, n = exponential(z, id, n)
    return np.expm1(x / p0), n


@un.jit
def draw_power(z, id, n, p0, p1, p2):
    x, n = exponential(z, id, n)
    return np.power(-np.expm1(-x), 1 / p0), n


@un.jit
def draw_triangular(z, id, n, left, mode, right):
    base = right - left
    u = draw_unit(id, n)
    if u <= (mode - left) / base:
        return left + np.sqrt(u * base * (mode - left)), n + 1
    return right - np.sqrt((1 - u) * base * (right - mode)), n + 1


@un.jit
def draw_vonmises(z, id, n, mu, kappa, p2):
    if kappa < 1e-8:
        return 3.14159265358979323846 * (2 * draw_unit(id, n) - 1), n + 1
    s = 1 / kappa + kappa
    if kappa >= 1e-5:
        r = 1 + np.sqrt(1 + 4 * kappa * kappa)
        rho = (r - np.sqrt(2 * r)) / (2 * kappa)
        s = (1 + rho * rho) / (2 * rho)
    while True:
        turn = np.cos(3.14159265358979323846 * draw_unit(id, n))
        w = (1 + s * turn) / (s + turn)
        y = kappa * (s - w)
        v = 1.0 - draw_unit(id, n + 1)
        n += 2
        if y * (2 - y) - v < 0 and np.log(y / v) + 1 - y < 0:
            continue
        angle = np.arccos(w)
        if draw_unit(id, n) < 0.5:
            angle = -angle
        rest = np.fmod(angle + mu, 6.28318530717958647692)
        if rest > 3.14159265358979323846:
            rest -= 6.28318530717958647692
        if rest < -3.14159265358979323846:
            rest += 6.28318530717958647692
        return rest, n + 1


@un.jit
def draw_wald(z, id, n, mean, scale, p2):
    x, n = normal(z, id, n)
    y = mean * x * x
    half = mean / (2 * scale)
    v = max(0.0, mean + half * (y - np.sqrt(4 * scale * y + y * y)))
    if draw_unit(id, n) <= mean / (mean + v):
        return v, n + 1
    return mean * mean / v, n + 1


@un.jit
def draw_poisson(z, id, n, p0, p1, p2):
    k, n = poisson(id, n, p0)
    return k, n


@un.jit
def draw_binomial(z, id, n, p0, p1, p2):
    if p0 == 0 or p1 == 0:
        return 0.0, n
    if p1 > 0.5:
        if 1 - p1 == 0:
            return p0, n
        k, n = few_successes(id, n, p0, 1 - p1)
        return p0 - k, n
    k, n = few_successes(id, n, p0, p1)
    return k, n


@un.jit
def draw_negative_binomial(z, id, n, p0, p1, p2):
    if p1 == 1:
        return 0.0, n
    x, n = gamma(z, id, n, p0)
    k, n = poisson(id, n, x * (1 - p1) / p1)
    return k, n


@un.jit
def draw_geometric(z, id, n, p0, p1, p2):
    if p0 == 1:
        return 1.0, n
    k = np.ceil(np.log(1.0 - draw_unit(id, n)) / np.log1p(-p0))
    return min(max(1.0, k), 9223372036854774784.0), n + 1


@un.jit
def draw_hypergeometric(z, id, n, good, bad, sample):
    total = good + bad
    rest = sample > total / 2
    left = total - sample if rest else sample
    taken = 0.0
    if left > 1000 and min(good, bad) > 0:
        k, n = hypergeometric_by_ratio(id, n, min(good, bad), max(good, bad), left)
        taken = left - k if good > bad else k
    else:
        good_left = good
        while left > 0 and good_left > 0:
            if draw_unit(id, n) * total < good_left:
                taken += 1.0
                good_left -= 1.0
            n += 1
            left -= 1.0
            total -= 1.0
    if rest:
        taken = good - taken
    return taken, n


@un.jit
def draw_logseries(z, id, n, p, p1, p2):
    r = np.log1p(-p)
    while True:
        v = draw_unit(id, n)
        n += 1
        if v >= p:
            return 1.0, n
        u = draw_unit(id, n)
        n += 1
        q = -np.expm1(r * u)
        if v <= q * q:
            if v == 0:
                continue
            k = np.floor(1 + np.log(v) / np.log(q))
            if k < 1:
                continue
            return k, n
        if v >= q:
            return 1.0, n
        return 2.0, n


@un.jit
def draw_zipf(z, id, n, a, p1, p2):
    if a >= 1025:
        return 1.0, n
    less = a - 1
    b = np.power(2.0, less)
    while True:
        u = 1.0 - draw_unit(id, n)
        v = draw_unit(id, n + 1)
        n += 2
        x = np.floor(np.power(u, -1 / less))
        if x > 9.2e18 or x < 1:
            continue
        t = np.power(1 + 1 / x, less)
        if v * x * (t - 1) / (b - 1) <= t / b:
            return x, n


@un.kernel
def scale_and_shift(x, width, low):
    i = un.global_id(0)
    x[i] = low + x[i] * width
