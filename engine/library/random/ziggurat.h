// Normal and exponential numbers by ziggurats of 256 layers (Marsaglia and Tsang, 2000), whose
// tables are those of NumPy's Generator, computed at the first use.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/native/borrowed_draws.h"

namespace unisono::library {

struct Ziggurat : ZigguratLayers {
    double edge;  ///< where the tail begins
    double height[256];

    /// Layers of equal area under exp(-x^2 / 2), for 52-bit fractions.
    static const Ziggurat& normal() {
        static const Ziggurat table = make_normal();
        return table;
    }
    /// The same under exp(-x), for 53-bit fractions.
    static const Ziggurat& exponential() {
        static const Ziggurat table = make_exponential();
        return table;
    }

  private:
    // The layers follow from each other, from the outermost inwards, so rounding errors add up: the
    // tables are NumPy's to the bit only if they are computed as its tables were.
    __extension__ using Quad = __float128;

    static Quad exp(Quad x) {
        Quad part = x / 256, term = 1, sum = 1;
        for (int k = 1; k < 30; ++k) sum += term = term * part / k;
        for (int k = 0; k < 8; ++k) sum *= sum;
        return sum;
    }
    /// One step of Newton's method from the logarithm in double precision.
    static Quad log(Quad x) {
        Quad first = std::log(static_cast<double>(x));
        Quad rest = x * exp(-first) - 1;
        return first + rest - rest * rest / 2 + rest * rest * rest / 3;
    }

    /// In double precision throughout; the functions are correctly rounded.
    [[gnu::noinline]] static Ziggurat make_normal() {
        Ziggurat t;
        constexpr double r = 3.6541528853610087963519472518, area = 0.00492867323397465189;
        constexpr double scale = 0x1p52;
        auto curve = [](double x) { return static_cast<double>(exp(Quad{-0.5 * x * x})); };
        auto inverse = [](double y) { return std::sqrt(-2 * static_cast<double>(log(Quad{y}))); };
        double x = r, base = area / curve(r);
        t.edge = r;
        t.inside[0] = static_cast<std::uint64_t>(std::rint(r / base * scale));
        t.inside[1] = 0;
        t.width[0] = base / scale;
        t.width[255] = r / scale;
        t.height[0] = 1;
        t.height[255] = curve(r);
        for (int k = 254; k >= 1; --k) {
            double next = inverse(area / x + t.height[k + 1]);
            t.inside[k + 1] = static_cast<std::uint64_t>(std::rint(next / x * scale));
            t.width[k] = next / scale;
            t.height[k] = curve(next);
            // The one value of NumPy's table that is not the nearest number.
            if (k == 38) t.height[k] = std::nextafter(t.height[k], 1.0);
            x = next;
        }
        return t;
    }

    /// In quadruple precision, rounded at the end; the limits have 52 bits and a 0.
    [[gnu::noinline]] static Ziggurat make_exponential() {
        Ziggurat t;
        // 7.697117470131049714044628048114089523, as a sum of doubles.
        const Quad r = Quad{0x1.ec9d9297ebb83p+2} + Quad{-0x1.a1eb4a1d9ad4p-52} - Quad{0x1.3p-106};
        const Quad scale = 0x1p53, area = (r + 1) * exp(-r), base = area / exp(-r);
        auto limit = [](Quad ratio) {
            return std::uint64_t{2} * static_cast<std::uint64_t>(ratio * Quad{0x1p52});
        };
        Quad x = r;
        t.edge = static_cast<double>(r);
        t.inside[0] = limit(r / base);
        t.inside[1] = 0;
        t.width[0] = static_cast<double>(base / scale);
        t.width[255] = static_cast<double>(r / scale);
        t.height[0] = 1;
        t.height[255] = static_cast<double>(exp(-r));
        for (int k = 254; k >= 1; --k) {
            Quad next = -log(area / x + exp(-x));
            t.inside[k + 1] = limit(next / x);
            t.width[k] = static_cast<double>(next / scale);
            t.height[k] = static_cast<double>(exp(-next));
            x = next;
        }
        return t;
    }
};

/// A point of a layer: x, and whether it lies under the curve for certain.
struct ZigguratPoint {
    ZigguratPoint(const Ziggurat& z, int in_layer, std::uint64_t of_width)
        : layer(in_layer),
          fraction(of_width),
          x(static_cast<double>(static_cast<std::int64_t>(of_width)) * z.width[in_layer]),
          is_inside(of_width < z.inside[in_layer]) {}
    int layer;
    std::uint64_t fraction;
    double x;
    bool is_inside;
};

[[gnu::always_inline]] inline ZigguratPoint normal_point(const Ziggurat& z, std::uint64_t r) {
    ZigguratPoint p(z, static_cast<int>(r & 0xff), (r >> 9) & 0x000fffffffffffff);
    // The sign is put in without a branch, which would be missed half the time.
    std::uint64_t sign = r >> 8 << 63;
    p.x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(p.x) ^ sign);
    return p;
}
[[gnu::always_inline]] inline ZigguratPoint exponential_point(const Ziggurat& z, std::uint64_t r) {
    r >>= 3;
    return {z, static_cast<int>(r & 0xff), r >> 8};
}

/// What one draw in a hundred takes, from a point at the edge of its layer on.
template <class Source>
[[gnu::noinline]] double rest_of_normal(Source& source, const Ziggurat& z, ZigguratPoint p) {
    for (;; p = normal_point(z, source.bits())) {
        if (p.is_inside) return p.x;
        if (p.layer == 0) {
            for (;;) {
                double a = -0.27366123732975827203338247596 * std::log1p(-source.uniform());
                double b = -std::log1p(-source.uniform());
                if (b + b > a * a) return (p.fraction >> 8) & 1 ? -(z.edge + a) : z.edge + a;
            }
        }
        double between = (z.height[p.layer - 1] - z.height[p.layer]) * source.uniform();
        if (between + z.height[p.layer] < std::exp(-0.5 * p.x * p.x)) return p.x;
    }
}
template <class Source>
[[gnu::noinline]] double rest_of_exponential(Source& source, const Ziggurat& z, ZigguratPoint p) {
    for (;; p = exponential_point(z, source.bits())) {
        if (p.is_inside) return p.x;
        if (p.layer == 0) return z.edge - std::log1p(-source.uniform());
        double between = (z.height[p.layer - 1] - z.height[p.layer]) * source.uniform();
        if (between + z.height[p.layer] < std::exp(-p.x)) return p.x;
    }
}

/// A standard normal number from a source with bits() and uniform().
template <class Source>
[[gnu::always_inline]] inline double standard_normal(Source& source, const Ziggurat& z) {
    const ZigguratPoint p = normal_point(z, source.bits());
    if (p.is_inside) [[likely]]
        return p.x;
    return rest_of_normal(source, z, p);
}

/// A standard exponential number from such a source.
template <class Source>
[[gnu::always_inline]] inline double standard_exponential(Source& source, const Ziggurat& z) {
    const ZigguratPoint p = exponential_point(z, source.bits());
    if (p.is_inside) [[likely]]
        return p.x;
    return rest_of_exponential(source, z, p);
}

}  // namespace unisono::library
