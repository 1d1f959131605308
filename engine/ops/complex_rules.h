// Rules of scalar operations on complex numbers: NumPy's formulas where they are simple, the C
// library's functions elsewhere.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ops/ops.h"

namespace unisono::rules {

template <class R>
using Complex = std::complex<R>;

/// Whether an operation is arithmetic of parts, which compiled code repeats bit for bit
/// (passes/lowering/split_complex.h).
constexpr bool is_plain(Op op) { return !is_math(op) && op != Op::Sqrt; }

template <class R>
bool is_nan(Complex<R> a) {
    return a.real() != a.real() || a.imag() != a.imag();
}
template <class R>
bool is_inf(Complex<R> a) {
    return std::isinf(a.real()) || std::isinf(a.imag());
}
template <class R>
bool is_finite(Complex<R> a) {
    return std::isfinite(a.real()) && std::isfinite(a.imag());
}

// Lexicographic order; a NaN in a part that decides makes every comparison but != false.
template <class R>
bool less(Complex<R> a, Complex<R> b) {
    return (a.real() < b.real() && a.imag() == a.imag() && b.imag() == b.imag()) ||
           (a.real() == b.real() && a.imag() < b.imag());
}
template <class R>
bool less_equal(Complex<R> a, Complex<R> b) {
    return (a.real() < b.real() && a.imag() == a.imag() && b.imag() == b.imag()) ||
           (a.real() == b.real() && a.imag() <= b.imag());
}
template <class R>
bool equal(Complex<R> a, Complex<R> b) {
    return a.real() == b.real() && a.imag() == b.imag();
}

template <class R>
Complex<R> minimum(Complex<R> a, Complex<R> b) {
    return is_nan(a) || less_equal(a, b) ? a : b;
}
template <class R>
Complex<R> maximum(Complex<R> a, Complex<R> b) {
    return is_nan(a) || less_equal(b, a) ? a : b;
}
template <class R>
Complex<R> fmin(Complex<R> a, Complex<R> b) {
    return is_nan(b) || less_equal(a, b) ? a : b;
}
template <class R>
Complex<R> fmax(Complex<R> a, Complex<R> b) {
    return is_nan(b) || less_equal(b, a) ? a : b;
}

/// -a by its bits. g++ 12 makes one contracted instruction of a product's sum and difference side
/// by side, whatever -ffp-contract says; sums alone it leaves as they are.
template <class R>
R negative(R a) {
    using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits sign = Bits{1} << (sizeof(R) * 8 - 1);
    return std::bit_cast<R>(std::bit_cast<Bits>(a) ^ sign);
}

template <class R>
Complex<R> product(Complex<R> a, Complex<R> b) {
    return {a.real() * b.real() + negative(a.imag() * b.imag()),
            a.real() * b.imag() + a.imag() * b.real()};
}

/// Smith's algorithm, as NumPy writes it.
template <class R>
Complex<R> quotient(Complex<R> a, Complex<R> b) {
    R size_r = std::fabs(b.real()), size_i = std::fabs(b.imag());
    if (size_r >= size_i) {
        if (size_r == 0 && size_i == 0) return {a.real() / size_r, a.imag() / size_r};
        R ratio = b.imag() / b.real(), scale = R(1) / (b.real() + b.imag() * ratio);
        return {(a.real() + a.imag() * ratio) * scale,
                (a.imag() + negative(a.real() * ratio)) * scale};
    }
    R ratio = b.real() / b.imag(), scale = R(1) / (b.imag() + b.real() * ratio);
    return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio + negative(a.real())) * scale};
}

/// sqrt(x^2 + y^2) within 1 ULP, without branches, so that loops of it become vectors: one rounding
/// of the sum of squares (of which the smaller number's is taken apart where it counts much),
/// scaled by powers of two where squares would overflow or vanish.
inline double magnitude(double x, double y) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    x = std::fabs(x);
    y = std::fabs(y);
    double high = x < y ? y : x, low = x < y ? x : y;
    bool huge = high > 0x1p500, tiny = high < 0x1p-400;
    double scale = huge ? 0x1p-600 : tiny ? 0x1p600 : 1.0;
    double back = huge ? 0x1p600 : tiny ? 0x1p-600 : 1.0;
    high *= scale;
    low *= scale;
    double twice = low + low;
    bool near = twice >= high;
    double factor = near ? twice : high, rest = near ? high - low : low;
    double root = std::sqrt(std::fma(factor, high, rest * rest)) * back;
    return x == infinity || y == infinity ? infinity : root;
}

template <class R>
R absolute(Complex<R> a) {
    if constexpr (sizeof(R) == 4) {
        // Squares of float32 numbers are exact in float64 and stay in its range.
        constexpr R infinity = std::numeric_limits<R>::infinity();
        double x = a.real(), y = a.imag();
        auto root = static_cast<R>(std::sqrt(x * x + y * y));
        return std::fabs(a.real()) == infinity || std::fabs(a.imag()) == infinity ? infinity : root;
    } else {
        return magnitude(a.real(), a.imag());
    }
}

/// a / |a|, 0 for 0, NaN for NaN.
template <class R>
Complex<R> sign(Complex<R> a) {
    R size = absolute(a);
    if (std::isnan(size)) return {size, size};
    if (std::isinf(size)) {
        bool both = std::isinf(a.real()) && std::isinf(a.imag());
        if (both) return {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::quiet_NaN()};
        if (std::isinf(a.real())) return {std::copysign(R(1), a.real()), 0};
        return {0, std::copysign(R(1), a.imag())};
    }
    return size == 0 ? Complex<R>{} : Complex<R>{a.real() / size, a.imag() / size};
}

/// Whole exponents below 100 by products, as NumPy does.
template <class R>
Complex<R> power(Complex<R> a, Complex<R> b) {
    constexpr R nan = std::numeric_limits<R>::quiet_NaN();
    if (equal(b, {})) return {1, 0};
    if (equal(a, {})) {
        if (b.real() > 0) return {};
        return {nan, nan};
    }
    bool whole = b.imag() == 0 && std::fabs(b.real()) < 100 && b.real() == std::trunc(b.real());
    if (!whole) return std::pow(a, b);
    auto n = static_cast<int>(std::fabs(b.real()));
    Complex<R> result{1, 0};
    bool any = false;
    for (Complex<R> factor = a; n != 0; n >>= 1, factor = product(factor, factor)) {
        if (n & 1) result = any ? product(result, factor) : factor;
        any = any || (n & 1);
    }
    return b.real() < 0 ? quotient(Complex<R>{1, 0}, result) : result;
}

template <class R>
Complex<R> expm1(Complex<R> a) {
    if (!std::isfinite(a.real()) || !std::isfinite(a.imag())) return std::exp(a) - R(1);
    R half = std::sin(a.imag() / 2);
    R real = std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half;
    return {real + R(0),  // the array API's: no negative zero
            std::exp(a.real()) * std::sin(a.imag())};
}
/// The array API's: beyond the real infinity the imaginary part is 0 with that of the operand's
/// sign, where C takes the sign of sin(2 y).
template <class R>
Complex<R> tanh(Complex<R> a) {
    if (std::isinf(a.real()) && std::isfinite(a.imag()))
        return {std::copysign(R(1), a.real()), std::copysign(R(0), a.imag())};
    return std::tanh(a);
}
template <class R>
Complex<R> log1p(Complex<R> a) {
    return {std::log(std::hypot(a.real() + 1, a.imag())), std::atan2(a.imag(), a.real() + 1)};
}
template <class R>
Complex<R> log2(Complex<R> a) {
    return std::log(a) * R(1.442695040888963407359924681001892137);
}
template <class R>
Complex<R> exp2(Complex<R> a) {
    return std::exp(a * R(0.693147180559945309417232121458176568));
}

}  // namespace unisono::rules
