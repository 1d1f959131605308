// Samplers of distributions: each takes a source of bits and up to three parameters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "library/random/ziggurat.h"

namespace unisono::library::sample {

inline constexpr double pi = 3.14159265358979323846;

template <class Source>
double normal(Source& d) {
    return standard_normal(d, Ziggurat::normal());
}
template <class Source>
double exponential(Source& d) {
    return standard_exponential(d, Ziggurat::exponential());
}

/// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
template <class Source>
double gamma(Source& d, double shape) {
    if (shape == 0) return 0;
    if (shape == 1) return exponential(d);
    double boost = 1;
    if (shape < 1) {
        boost = std::pow(d.positive(), 1 / shape);
        shape += 1;
    }
    double third = shape - 1.0 / 3, c = 1 / std::sqrt(9 * third);
    for (;;) {
        double x = normal(d), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        double u = d.positive();
        if (u < 1 - 0.0331 * (x * x) * (x * x) ||
            std::log(u) < 0.5 * x * x + third * (1 - v + std::log(v)))
            return third * v * boost;
    }
}

/// By two gammas; for small parameters by Johnk's method in logarithms, which cannot give 0 / 0.
template <class Source>
double beta(Source& d, double a, double b) {
    if (a > 1 || b > 1) {
        double x = gamma(d, a), y = gamma(d, b);
        return x / (x + y);
    }
    for (;;) {
        double u = d.positive(), v = d.positive();
        double log_x = std::log(u) / a, log_y = std::log(v) / b;
        double most = std::fmax(log_x, log_y);
        double log_sum = most + std::log(std::exp(log_x - most) + std::exp(log_y - most));
        if (log_sum <= 0) return std::exp(log_x - log_sum);
    }
}

/// Knuth's product for small means, Hoermann's PTRS (1993) for others.
template <class Source>
double poisson(Source& d, double mean) {
    if (mean == 0) return 0;
    if (mean < 10) {
        double limit = std::exp(-mean), product = d.uniform();
        std::int64_t k = 0;
        while (product > limit) {
            product *= d.uniform();
            ++k;
        }
        return static_cast<double>(k);
    }
    double root = std::sqrt(mean), log_mean = std::log(mean);
    double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = d.uniform() - 0.5, v = d.positive(), us = 0.5 - std::fabs(u);
        double k = std::floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
            k * log_mean - mean - std::lgamma(k + 1))
            return k;
    }
}

/// Inversion for small means, Hoermann's BTRS (1993) for others.
template <class Source>
double binomial(Source& d, double n, double p) {
    if (n == 0 || p == 0) return 0;
    if (p > 0.5) return n - binomial(d, n, 1 - p);
    double q = 1 - p, odds = p / q;
    if (n * p < 10) {
        double first = std::exp(n * std::log1p(-p)), chance = first, u = d.uniform();
        double k = 0;
        while (u > chance) {
            u -= chance;
            k += 1;
            if (k > n) {  // rounding ate the tail
                k = 0;
                chance = first;
                u = d.uniform();
                continue;
            }
            chance *= (n - k + 1) / k * odds;
        }
        return k;
    }
    double spread = std::sqrt(n * p * q), b = 1.15 + 2.53 * spread,
           a = -0.0873 + 0.0248 * b + 0.01 * p;
    double c = n * p + 0.5, v_r = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
    double mode = std::floor((n + 1) * p), log_odds = std::log(odds);
    double h = std::lgamma(mode + 1) + std::lgamma(n - mode + 1);
    for (;;) {
        double u = d.uniform() - 0.5, v = d.positive(), us = 0.5 - std::fabs(u);
        double k = std::floor((2 * a / us + b) * u + c);
        if (k < 0 || k > n) continue;
        if (us >= 0.07 && v <= v_r) return k;
        v = std::log(v * alpha / (a / (us * us) + b));
        if (v <= h - std::lgamma(k + 1) - std::lgamma(n - k + 1) + (k - mode) * log_odds) return k;
    }
}

template <class Source>
double geometric(Source& d, double p) {
    if (p == 1) return 1;
    constexpr double most = 0x1.fffffffffffffp62;  // that int64 holds
    double k = std::ceil(std::log(d.positive()) / std::log1p(-p));
    return std::fmin(std::fmax(1, k), most);
}

template <class Source>
double negative_binomial(Source& d, double n, double p) {
    return p == 1 ? 0 : poisson(d, gamma(d, n) * (1 - p) / p);
}

/// How many of `drawn`, at most half of all, are among `few`, at most the other `many`. Stadlober,
/// "The ratio of uniforms approach for generating discrete random variates" (1990).
template <class Source>
double hypergeometric_by_ratio(Source& d, double few, double many, double drawn) {
    const double all = few + many, share = few / all;
    const double center = drawn * share + 0.5;
    const double variance = (all - drawn) * drawn * share * (1 - share) / (all - 1);
    const double scale = std::sqrt(variance + 0.5);
    const double width =
        1.7155277699214135 * scale + 0.8989161620588988;  // 2 sqrt(2/e), 3-2 sqrt(3/e)
    const double mode = std::floor((drawn + 1) * (few + 1) / (all + 2));
    const double end = std::fmin(std::fmin(drawn, few) + 1, std::floor(center + 16 * scale));
    auto weight = [=](double k) {
        return std::lgamma(k + 1) + std::lgamma(few - k + 1) + std::lgamma(drawn - k + 1) +
               std::lgamma(many - drawn + k + 1);
    };
    const double most = weight(mode);
    for (;;) {
        const double u = d.positive(), x = center + width * (d.uniform() - 0.5) / u;
        if (!(x >= 0 && x < end)) continue;
        const double k = std::floor(x), t = most - weight(k);
        if (u * (4 - u) - 3 <= t || (u * (u - t) < 1 && 2 * std::log(u) <= t)) return k;
    }
}

/// Draws without putting back, one after the other, where they are not many; the smaller of sample
/// and rest is drawn.
template <class Source>
double hypergeometric(Source& d, double good, double bad, double sample) {
    double total = good + bad;
    bool rest = sample > total / 2;
    double left = rest ? total - sample : sample, taken = 0, good_left = good, all = total;
    constexpr double many = 1000;
    if (left > many && std::fmin(good, bad) > 0) {
        const double k =
            hypergeometric_by_ratio(d, std::fmin(good, bad), std::fmax(good, bad), left);
        taken = good > bad ? left - k : k;
        return rest ? good - taken : taken;
    }
    for (; left > 0 && good_left > 0; --left, --all) {
        if (d.uniform() * all < good_left) {
            ++taken;
            --good_left;
        }
    }
    return rest ? good - taken : taken;
}

/// Kemp, "Efficient generation of logarithmically distributed pseudo-random variables" (1981).
template <class Source>
double logseries(Source& d, double p) {
    double r = std::log1p(-p);
    for (;;) {
        double v = d.uniform();
        if (v >= p) return 1;
        double u = d.uniform(), q = -std::expm1(r * u);
        if (v <= q * q) {
            double k = std::floor(1 + std::log(v) / std::log(q));
            if (k < 1 || v == 0) continue;
            return k;
        }
        return v >= q ? 1 : 2;
    }
}

/// Devroye, "Non-uniform random variate generation" (1986), X.6.1.
template <class Source>
double zipf(Source& d, double a) {
    if (a >= 1025) return 1;  // 2 to the a overflows; all others are as good as impossible
    double am1 = a - 1, b = std::pow(2.0, am1);
    for (;;) {
        double u = d.positive(), v = d.uniform();
        double x = std::floor(std::pow(u, -1 / am1));
        if (x > 9.2e18 || x < 1) continue;
        double t = std::pow(1 + 1 / x, am1);
        if (v * x * (t - 1) / (b - 1) <= t / b) return x;
    }
}

/// Best and Fisher, "Efficient simulation of the von Mises distribution" (1979).
template <class Source>
double von_mises(Source& d, double mu, double kappa) {
    if (kappa < 1e-8) return pi * (2 * d.uniform() - 1);
    double s;
    if (kappa < 1e-5) {
        s = 1 / kappa + kappa;  // the general form loses all digits
    } else {
        double r = 1 + std::sqrt(1 + 4 * kappa * kappa);
        double rho = (r - std::sqrt(2 * r)) / (2 * kappa);
        s = (1 + rho * rho) / (2 * rho);
    }
    for (;;) {
        double z = std::cos(pi * d.uniform()), w = (1 + s * z) / (s + z), y = kappa * (s - w);
        double v = d.positive();
        if (y * (2 - y) - v < 0 && std::log(y / v) + 1 - y < 0) continue;
        double angle = std::acos(w);
        if (d.uniform() < 0.5) angle = -angle;
        return std::remainder(angle + mu, 2 * pi);
    }
}

/// Michael, Schucany and Haas (1976).
template <class Source>
double wald(Source& d, double mean, double scale) {
    double y = normal(d);
    y = mean * y * y;
    double half = mean / (2 * scale);
    double x = std::max(0.0, mean + half * (y - std::sqrt(4 * scale * y + y * y)));
    return d.uniform() <= mean / (mean + x) ? x : mean * mean / x;
}

template <class Source>
double chisquare(Source& d, double df) {
    return 2 * gamma(d, df / 2);
}

template <class Source>
double noncentral_chisquare(Source& d, double df, double nonc) {
    if (nonc == 0) return chisquare(d, df);
    if (df > 1) {
        double shifted = normal(d) + std::sqrt(nonc);
        return chisquare(d, df - 1) + shifted * shifted;
    }
    return chisquare(d, df + 2 * poisson(d, nonc / 2));
}

template <class Source>
double triangular(Source& d, double left, double mode, double right) {
    double base = right - left, u = d.uniform();
    double low = (mode - left) / base;
    return u <= low ? left + std::sqrt(u * base * (mode - left))
                    : right - std::sqrt((1 - u) * base * (right - mode));
}

template <class Source>
double laplace(Source& d) {
    double u = d.uniform();
    while (u == 0) u = d.uniform();
    return u >= 0.5 ? -std::log(2 - u - u) : std::log(u + u);
}

template <class Source>
double logistic(Source& d) {
    double u = d.uniform();
    while (u == 0) u = d.uniform();
    return std::log(u / (1 - u));
}

}  // namespace unisono::library::sample
