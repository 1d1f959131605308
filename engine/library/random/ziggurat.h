// Normal and exponential numbers by ziggurats of 256 layers (Marsaglia and Tsang, 2000).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace unisono::library {

struct Ziggurat {
    double edge;                ///< where the tail begins
    std::uint64_t inside[256];  ///< below it a point of a layer lies under the curve for certain
    double width[256], height[256];

    /// Layers of equal area under exp(-x^2 / 2), for 52-bit fractions.
    static const Ziggurat& normal() {
        static const Ziggurat table(
            3.6541528853610087963519472518L, 0.00492867323397465524494L, 0x1p52,
            [](Fine x) { return std::exp(-x * x / 2); },
            [](Fine y) { return std::sqrt(-2 * std::log(y)); });
        return table;
    }
    /// The same under exp(-x), for 53-bit fractions.
    static const Ziggurat& exponential() {
        static const Ziggurat table(
            7.6971174701310497140446280481L, 0.0039496598225815571993L, 0x1p53,
            [](Fine x) { return std::exp(-x); }, [](Fine y) { return -std::log(y); });
        return table;
    }

  private:
    using Fine = long double;
    template <class Curve, class Inverse>
    Ziggurat(Fine r, Fine area, Fine scale, Curve curve, Inverse inverse)
        : edge(static_cast<double>(r)) {
        Fine x = r, before = r, base = area / curve(r);
        inside[0] = static_cast<std::uint64_t>(r / base * scale);
        inside[1] = 0;
        width[0] = static_cast<double>(base / scale);
        width[255] = static_cast<double>(r / scale);
        height[0] = 1;
        height[255] = static_cast<double>(curve(r));
        for (int k = 254; k >= 1; --k) {
            x = inverse(area / x + curve(x));
            inside[k + 1] = static_cast<std::uint64_t>(x / before * scale);
            before = x;
            height[k] = static_cast<double>(curve(x));
            width[k] = static_cast<double>(x / scale);
        }
    }
};

/// A standard normal number from a source with bits() and uniform().
template <class Source>
double standard_normal(Source& source, const Ziggurat& z) {
    for (;;) {
        std::uint64_t r = source.bits();
        auto layer = static_cast<int>(r & 0xff);
        r >>= 8;
        std::uint64_t sign =
            r << 63;  // put in without a branch, which would be missed half the time
        std::uint64_t fraction = (r >> 1) & 0x000fffffffffffff;
        double x = static_cast<double>(static_cast<std::int64_t>(fraction)) * z.width[layer];
        x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ sign);
        if (fraction < z.inside[layer]) [[likely]]
            return x;
        if (layer == 0) {
            for (;;) {
                double a = -0.27366123732975827203338247596 * std::log1p(-source.uniform());
                double b = -std::log1p(-source.uniform());
                if (b + b > a * a) return (fraction >> 8) & 1 ? -(z.edge + a) : z.edge + a;
            }
        }
        double between = (z.height[layer - 1] - z.height[layer]) * source.uniform();
        if (between + z.height[layer] < std::exp(-0.5 * x * x)) return x;
    }
}

/// A standard exponential number from such a source.
template <class Source>
double standard_exponential(Source& source, const Ziggurat& z) {
    for (;;) {
        std::uint64_t r = source.bits() >> 3;
        auto layer = static_cast<int>(r & 0xff);
        r >>= 8;
        double x = static_cast<double>(static_cast<std::int64_t>(r)) * z.width[layer];
        if (r < z.inside[layer]) [[likely]]
            return x;
        if (layer == 0) return z.edge - std::log1p(-source.uniform());
        double between = (z.height[layer - 1] - z.height[layer]) * source.uniform();
        if (between + z.height[layer] < std::exp(-x)) return x;
    }
}

}  // namespace unisono::library
