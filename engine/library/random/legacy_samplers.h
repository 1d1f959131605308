// Samplers of NumPy's old interface (RandomState, np.random.gamma): what they draw from a stream,
// and in which order, is NumPy's, so that the same seed gives the same numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "library/random/bit_stream.h"

namespace unisono::library {

/// The calling thread's stream of np.random in compiled code.
BitStream& compiled_stream();

namespace legacy {

inline constexpr double pi = 3.14159265358979323846;

inline double exponential(BitStream& s) { return -std::log(1.0 - s.next_double()); }

/// Ahrens and Dieter (1974) below 1, Marsaglia and Tsang (2000) above.
inline double gamma(BitStream& s, double shape) {
    if (shape == 1) return exponential(s);
    if (shape == 0) return 0;
    if (shape < 1) {
        for (;;) {
            double u = s.next_double(), v = exponential(s);
            if (u <= 1 - shape) {
                double x = std::pow(u, 1 / shape);
                if (x <= v) return x;
            } else {
                double y = -std::log((1 - u) / shape);
                double x = std::pow(1 - shape + shape * y, 1 / shape);
                if (x <= v + y) return x;
            }
        }
    }
    double b = shape - 1 / 3.0, c = 1 / std::sqrt(9 * b);
    for (;;) {
        double x = 0, v = 0;
        do {
            x = s.legacy_normal();
            v = 1 + c * x;
        } while (v <= 0);
        v = v * v * v;
        double u = s.next_double();
        if (u < 1 - 0.0331 * (x * x) * (x * x)) return b * v;
        if (std::log(u) < 0.5 * x * x + b * (1 - v + std::log(v))) return b * v;
    }
}

inline double chisquare(BitStream& s, double df) { return 2 * gamma(s, df / 2); }

/// Johnk's method for small parameters, two gammas for others.
inline double beta(BitStream& s, double a, double b) {
    if (a > 1 || b > 1) {
        double x = gamma(s, a);
        return x / (x + gamma(s, b));
    }
    for (;;) {
        double u = s.next_double(), v = s.next_double();
        double x = std::pow(u, 1 / a), y = std::pow(v, 1 / b);
        if (x + y > 1) continue;
        if (x + y > 0) return x / (x + y);
        double log_x = std::log(u) / a, log_y = std::log(v) / b;
        double most = std::max(log_x, log_y);
        log_x -= most;
        log_y -= most;
        return std::exp(log_x - std::log(std::exp(log_x) + std::exp(log_y)));
    }
}

inline double f(BitStream& s, double numerator, double denominator) {
    double above = chisquare(s, numerator) * denominator;
    return above / (chisquare(s, denominator) * numerator);
}

inline double cauchy(BitStream& s) {
    double above = s.legacy_normal();
    return above / s.legacy_normal();
}

inline double student(BitStream& s, double df) {
    double above = s.legacy_normal();
    return std::sqrt(df / 2) * above / std::sqrt(gamma(s, df / 2));
}

inline double wald(BitStream& s, double mean, double scale) {
    double half = mean / (2 * scale), y = s.legacy_normal();
    y = mean * y * y;
    double x = mean + half * (y - std::sqrt(4 * scale * y + y * y));
    return s.next_double() <= mean / (mean + x) ? x : mean * mean / x;
}

inline double triangular(BitStream& s, double left, double mode, double right) {
    double base = right - left, low = mode - left, u = s.next_double();
    if (u <= low / base) return left + std::sqrt(u * (low * base));
    return right - std::sqrt((1 - u) * ((right - mode) * base));
}

/// Best and Fisher (1979).
inline double von_mises(BitStream& s, double mu, double kappa) {
    if (kappa < 1e-8) return pi * (2 * s.next_double() - 1);
    double t = 1 / kappa + kappa;
    if (kappa >= 1e-5) {
        double r = 1 + std::sqrt(1 + 4 * kappa * kappa);
        double rho = (r - std::sqrt(2 * r)) / (2 * kappa);
        t = (1 + rho * rho) / (2 * rho);
    }
    double w = 0;
    for (;;) {
        double z = std::cos(pi * s.next_double());
        w = (1 + t * z) / (t + z);
        double y = kappa * (t - w), v = s.next_double();
        if (y * (2 - y) - v >= 0 || std::log(y / v) + 1 - y >= 0) break;
    }
    double angle = std::acos(w);
    if (s.next_double() < 0.5) angle = -angle;
    angle += mu;
    double turned = std::fmod(std::fabs(angle) + pi, 2 * pi) - pi;
    return angle < 0 ? -turned : turned;
}

/// A product of fractions for small means, Hoermann's PTRS (1993) for others.
inline std::int64_t poisson(BitStream& s, double mean) {
    if (mean == 0) return 0;
    if (mean < 10) {
        double limit = std::exp(-mean), product = 1;
        for (std::int64_t k = 0;; ++k) {
            product *= s.next_double();
            if (product <= limit) return k;
        }
    }
    double log_mean = std::log(mean), b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), most = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = s.next_double() - 0.5, v = s.next_double(), inside = 0.5 - std::fabs(u);
        double k = std::floor((2 * a / inside + b) * u + mean + 0.43);
        if (inside >= 0.07 && v <= most) return static_cast<std::int64_t>(k);
        if (k < 0 || (inside < 0.013 && v > inside)) continue;
        if (std::log(v) + std::log(inverse_alpha) - std::log(a / (inside * inside) + b) <=
            -mean + k * log_mean - std::lgamma(k + 1))
            return static_cast<std::int64_t>(k);
    }
}

inline double noncentral_chisquare(BitStream& s, double df, double nonc) {
    if (nonc == 0) return chisquare(s, df);
    if (df > 1) {
        double central = chisquare(s, df - 1), n = s.legacy_normal() + std::sqrt(nonc);
        return central + n * n;
    }
    return chisquare(s, df + 2 * static_cast<double>(poisson(s, nonc / 2)));
}

inline double noncentral_f(BitStream& s, double numerator, double denominator, double nonc) {
    double above = noncentral_chisquare(s, numerator, nonc) * denominator;
    return above / (chisquare(s, denominator) * numerator);
}

inline std::int64_t negative_binomial(BitStream& s, double n, double p) {
    return poisson(s, (1 - p) / p * gamma(s, n));
}

/// One fraction, compared with the sums of chances.
inline double binomial_by_inversion(BitStream& s, double n, double p) {
    double q = 1 - p, none = std::exp(n * std::log(q)), np = n * p;
    double bound = std::floor(std::min(n, np + 10 * std::sqrt(np * q + 1)));
    double k = 0, chance = none, u = s.next_double();
    while (u > chance) {
        k += 1;
        if (k > bound) {
            k = 0;
            chance = none;
            u = s.next_double();
        } else {
            u -= chance;
            chance = (n - k + 1) * p * chance / (k * q);
        }
    }
    return k;
}

/// Whether a candidate k of BTPE, at height v, lies below the distribution; p is at most one half.
inline bool is_binomial(double n, double p, double k, double v, double middle) {
    double q = 1 - p, npq = n * p * q, m = std::floor(n * p + p), off = std::fabs(k - m);
    if (off <= 20 || off >= npq / 2 - 1) {
        double odds = p / q, a = odds * (n + 1), height = 1;
        for (double i = m + 1; i <= k; ++i) height *= a / i - odds;
        for (double i = k + 1; i <= m; ++i) height /= a / i - odds;
        return v <= height;
    }
    double rho = off / npq * ((off * (off / 3 + 0.625) + 0.16666666666666666) / npq + 0.5);
    double t = -off * off / (2 * npq), log_v = std::log(v);
    if (log_v < t - rho) return true;
    if (log_v > t + rho) return false;
    double x1 = k + 1, f1 = m + 1, z = n + 1 - m, w = n - k + 1;
    auto stirling = [](double x) {
        double x2 = x * x;
        return (13680. - (462. - (132. - (99. - 140. / x2) / x2) / x2) / x2) / x / 166320.;
    };
    return log_v <= middle * std::log(f1 / x1) + (n - m + 0.5) * std::log(z / w) +
                        (k - m) * std::log(w * p / (x1 * q)) + stirling(f1) + stirling(z) +
                        stirling(x1) + stirling(w);
}

/// Kachitvichyanukul and Schmeiser, "Binomial random variate generation" (1988): BTPE.
inline double binomial_by_btpe(BitStream& s, double n, double p) {
    double q = 1 - p, spread = n * p * q, fm = n * p + p, m = std::floor(fm);
    double p1 = std::floor(2.195 * std::sqrt(spread) - 4.6 * q) + 0.5;
    double middle = m + 0.5, left = middle - p1, right = middle + p1;
    double c = 0.134 + 20.5 / (15.3 + m);
    double a = (fm - left) / (fm - left * p), falls_left = a * (1 + a / 2);
    a = (right - fm) / (right * q);
    double falls_right = a * (1 + a / 2);
    double p2 = p1 * (1 + 2 * c), p3 = p2 + c / falls_left, p4 = p3 + c / falls_right;
    for (;;) {
        double u = s.next_double() * p4, v = s.next_double(), k = 0;
        if (u <= p1) return std::floor(middle - p1 * v + u);
        if (u <= p2) {
            double x = left + (u - p1) / c;
            v = v * c + 1 - std::fabs(m - x + 0.5) / p1;
            if (v > 1) continue;
            k = std::floor(x);
        } else if (u <= p3) {
            k = std::floor(left + std::log(v) / falls_left);
            if (k < 0 || v == 0) continue;
            v = v * (u - p2) * falls_left;
        } else {
            k = std::floor(right - std::log(v) / falls_right);
            if (k > n || v == 0) continue;
            v = v * (u - p3) * falls_right;
        }
        if (is_binomial(n, p, k, v, middle)) return k;
    }
}

inline std::int64_t binomial(BitStream& s, double n, double p) {
    if (n == 0 || p == 0) return 0;
    double rare = p <= 0.5 ? p : 1 - p;
    double k = rare * n <= 30 ? binomial_by_inversion(s, n, rare) : binomial_by_btpe(s, n, rare);
    return static_cast<std::int64_t>(p <= 0.5 ? k : n - k);
}

inline std::int64_t geometric(BitStream& s, double p) {
    if (p < 0.333333333333333333333333)
        return static_cast<std::int64_t>(
            std::ceil(std::log(1 - s.next_double()) / std::log(1 - p)));
    double sum = p, chance = p, u = s.next_double();
    std::int64_t k = 1;
    for (; u > sum; ++k) {
        chance *= 1 - p;
        sum += chance;
    }
    return k;
}

/// Kemp (1981).
inline std::int64_t logseries(BitStream& s, double p) {
    double r = std::log(1 - p);
    for (;;) {
        double v = s.next_double();
        if (v >= p) return 1;
        double q = 1 - std::exp(r * s.next_double());
        if (v <= q * q) {
            double k = std::floor(1 + std::log(v) / std::log(q));
            if (k < 1 || v == 0) continue;
            return static_cast<std::int64_t>(k);
        }
        return v >= q ? 1 : 2;
    }
}

/// Devroye (1986), X.6.1.
inline std::int64_t zipf(BitStream& s, double a) {
    double am1 = a - 1, b = std::pow(2.0, am1);
    for (;;) {
        double u = 1 - s.next_double(), v = s.next_double(), x = std::floor(std::pow(u, -1 / am1));
        if (x > 9.2e18 || x < 1) continue;
        double t = std::pow(1 + 1 / x, am1);
        if (v * x * (t - 1) / (b - 1) <= t / b) return static_cast<std::int64_t>(x);
    }
}

/// Draws without putting back, one after the other; by ratios of uniforms (Stadlober, 1990) where
/// they are many.
inline std::int64_t hypergeometric(BitStream& s, double good, double bad, double sample) {
    double few = std::min(good, bad), many = std::max(good, bad), all = good + bad;
    if (sample <= 10) {
        double y = few, left = sample, others = all - sample;
        while (y > 0) {
            y -= std::floor(s.next_double() + y / (others + left));
            if (--left == 0) break;
        }
        double k = few - y;
        return static_cast<std::int64_t>(good > bad ? sample - k : k);
    }
    double m = std::min(sample, all - sample), share = few / all;
    double center = m * share + 0.5;
    double scale = std::sqrt((all - m) * sample * share * (1 - share) / (all - 1) + 0.5);
    double width = 1.7155277699214135 * scale + 0.8989161620588988;
    double mode = std::floor((m + 1) * (few + 1) / (all + 2));
    auto weight = [&](double k) {
        return std::lgamma(k + 1) + std::lgamma(few - k + 1) + std::lgamma(m - k + 1) +
               std::lgamma(many - m + k + 1);
    };
    double most = weight(mode),
           end = std::min(std::min(m, few) + 1, std::floor(center + 16 * scale));
    double k = 0;
    for (;;) {
        double u = s.next_double(), w = center + width * (s.next_double() - 0.5) / u;
        if (w < 0 || w >= end) continue;
        k = std::floor(w);
        double t = most - weight(k);
        if (u * (4 - u) - 3 <= t) break;
        if (u * (u - t) < 1 && 2 * std::log(u) <= t) break;
    }
    if (good > bad) k = m - k;
    return static_cast<std::int64_t>(m < sample ? good - k : k);
}

}  // namespace legacy

}  // namespace unisono::library
