// IEEE 754 binary16 as a storage type: numbers are computed in float32 and rounded back.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

namespace unisono {

/// Exact.
constexpr float half_to_float(std::uint16_t half) {
    const std::uint32_t word = static_cast<std::uint32_t>(half) << 16;
    const std::uint32_t sign = word & 0x80000000u, twice = word + word;
    // Normal numbers, infinity and NaN: the exponent is moved in two steps, so that 31 becomes 255.
    const float normal = std::bit_cast<float>((twice >> 4) + (0xE0u << 23)) * 0x1p-112F;
    const float subnormal = std::bit_cast<float>((twice >> 17) | (126u << 23)) - 0.5F;
    const std::uint32_t magnitude =
        std::bit_cast<std::uint32_t>(twice < (1u << 27) ? subnormal : normal);
    return std::bit_cast<float>(sign | magnitude);
}

/// Rounded to nearest even; too large becomes infinity.
constexpr std::uint16_t float_to_half(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t twice = word + word;
    const float magnitude = std::bit_cast<float>(word & 0x7FFFFFFFu);
    // Adding a power of two whose last bit is the one that stays rounds as the hardware does.
    const float scaled = (magnitude * 0x1p112F) * 0x1p-110F;
    const std::uint32_t exponent = twice & 0xFF000000u;
    const std::uint32_t bias = exponent < 0x71000000u ? 0x71000000u : exponent;
    const auto rounded =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>((bias >> 1) + 0x07800000u) + scaled);
    const std::uint32_t bits = ((rounded >> 13) & 0x7C00u) + (rounded & 0x0FFFu);
    return static_cast<std::uint16_t>((word & 0x80000000u) >> 16 |
                                      (twice > 0xFF000000u ? 0x7E00u : bits));
}

/// float32 with the last bit set where bits are lost: rounding that to float16 rounds once.
constexpr float round_to_odd(double value) {
    constexpr std::uint64_t lost = (std::uint64_t{1} << 29) - 1;
    const auto word = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t odd = (word & lost) != 0 ? lost + 1 : 0;
    return static_cast<float>(std::bit_cast<double>((word & ~lost) | odd));
}

/// An element of float16.
struct Half {
    std::uint16_t bits;

    Half() = default;
    constexpr explicit Half(float value) : bits(float_to_half(value)) {}
    constexpr explicit Half(double value) : bits(float_to_half(round_to_odd(value))) {}
    /// As NumPy: through float32, which holds every integer that does not overflow.
    template <std::integral I>
    constexpr explicit Half(I value) : Half(static_cast<float>(value)) {}
    // Implicit, so that comparisons and arithmetic are those of floats.
    constexpr operator float() const { return half_to_float(bits); }
    static constexpr Half of_bits(std::uint16_t b) {
        Half h;
        h.bits = b;
        return h;
    }
};

/// The neighbour of a towards b, as NumPy's npy_half_nextafter.
constexpr Half next_after(Half a, Half b) {
    const float x = a, y = b;
    if (x != x) return a;
    if (y != y || x == y) return b;
    const std::uint16_t sign_of_b = b.bits & 0x8000u;
    if (x == 0) return Half::of_bits(static_cast<std::uint16_t>(sign_of_b | 1));
    const bool away = (x > 0) == (y > x);
    return Half::of_bits(static_cast<std::uint16_t>(away ? a.bits + 1 : a.bits - 1));
}

}  // namespace unisono

template <>
class std::numeric_limits<unisono::Half> {
  public:
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                          has_infinity = true, has_quiet_NaN = true;
    static constexpr unisono::Half infinity() { return unisono::Half::of_bits(0x7C00); }
    static constexpr unisono::Half max() { return unisono::Half::of_bits(0x7BFF); }
    static constexpr unisono::Half lowest() { return unisono::Half::of_bits(0xFBFF); }
    static constexpr unisono::Half min() { return unisono::Half::of_bits(0x0400); }
    static constexpr unisono::Half denorm_min() { return unisono::Half::of_bits(1); }
    static constexpr unisono::Half epsilon() { return unisono::Half::of_bits(0x1400); }
    static constexpr unisono::Half quiet_NaN() { return unisono::Half::of_bits(0x7E00); }
};
