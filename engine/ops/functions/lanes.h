// Vectors of float64 as a number type of ops/functions, for the vector registers of x86-64.
//
// Each file that includes this builds its own copy (an unnamed namespace), for the instruction set
// that it is compiled for: UNISONO_LANES is 4 (AVX2, or none) or 8 (AVX-512).
#pragma once

#include <immintrin.h>

#include "ops/functions/number.h"

namespace unisono::functions {
namespace {

constexpr int lanes = UNISONO_LANES;
constexpr int lane_bytes = lanes * 8;

struct Flags {
    typedef std::int64_t Vector __attribute__((vector_size(lane_bytes)));
    Vector v;
};
struct Wholes {
    Flags::Vector v;
    explicit Wholes(Flags::Vector vector) : v(vector) {}
    explicit Wholes(std::int64_t c) : v(c - Flags::Vector{}) {}
};
struct Reals {
    typedef double Vector __attribute__((vector_size(lane_bytes)));
    Vector v;
    explicit Reals(Vector vector) : v(vector) {}
    explicit Reals(double c) : v(c - Vector{}) {}
};

inline Reals operator+(Reals a, Reals b) { return Reals(a.v + b.v); }
inline Reals operator-(Reals a, Reals b) { return Reals(a.v - b.v); }
inline Reals operator*(Reals a, Reals b) { return Reals(a.v * b.v); }
inline Reals operator/(Reals a, Reals b) { return Reals(a.v / b.v); }
inline Reals operator-(Reals a) { return Reals(-a.v); }
inline Flags operator<(Reals a, Reals b) { return {a.v < b.v}; }
inline Flags operator>(Reals a, Reals b) { return {a.v > b.v}; }
inline Flags operator<=(Reals a, Reals b) { return {a.v <= b.v}; }
inline Flags operator>=(Reals a, Reals b) { return {a.v >= b.v}; }
inline Flags operator==(Reals a, Reals b) { return {a.v == b.v}; }
inline Flags operator!=(Reals a, Reals b) { return {a.v != b.v}; }
inline Flags operator==(Wholes a, Wholes b) { return {a.v == b.v}; }
inline Flags operator<(Wholes a, Wholes b) { return {a.v < b.v}; }
inline Flags operator>(Wholes a, Wholes b) { return {a.v > b.v}; }
inline Flags operator&(Flags a, Flags b) { return {a.v & b.v}; }
inline Flags operator|(Flags a, Flags b) { return {a.v | b.v}; }
inline Flags operator!(Flags a) { return {~a.v}; }
inline Wholes operator&(Wholes a, Wholes b) { return Wholes(a.v & b.v); }
inline Wholes operator|(Wholes a, Wholes b) { return Wholes(a.v | b.v); }
inline Wholes operator^(Wholes a, Wholes b) { return Wholes(a.v ^ b.v); }
// Numbers stay far from the limits where these are used on signed vectors; they wrap in hardware.
inline Wholes plus(Wholes a, Wholes b) {
    typedef std::uint64_t U __attribute__((vector_size(lane_bytes)));
    return Wholes((Flags::Vector)((U)a.v + (U)b.v));
}
inline Wholes minus(Wholes a, Wholes b) {
    typedef std::uint64_t U __attribute__((vector_size(lane_bytes)));
    return Wholes((Flags::Vector)((U)a.v - (U)b.v));
}
inline Wholes shift_left(Wholes a, int n) {
    typedef std::uint64_t U __attribute__((vector_size(lane_bytes)));
    return Wholes((Flags::Vector)((U)a.v << n));
}
inline Wholes shift_right(Wholes a, int n) {
    typedef std::uint64_t U __attribute__((vector_size(lane_bytes)));
    return Wholes((Flags::Vector)((U)a.v >> n));
}
inline Reals select(Flags c, Reals a, Reals b) { return Reals(c.v ? a.v : b.v); }
inline Wholes select(Flags c, Wholes a, Wholes b) { return Wholes(c.v ? a.v : b.v); }
inline Wholes bits_of(Reals a) { return Wholes((Flags::Vector)a.v); }
inline Reals number_of(Wholes a) { return Reals((Reals::Vector)a.v); }
inline Reals magnitude(Reals a) {
    return number_of(bits_of(a) & Wholes(std::numeric_limits<std::int64_t>::max()));
}
inline Reals with_sign(Reals size, Reals sign) {
    Wholes bit(std::numeric_limits<std::int64_t>::min());
    return number_of(bits_of(magnitude(size)) | (bits_of(sign) & bit));
}

#if UNISONO_LANES == 8
inline Reals fma(Reals a, Reals b, Reals c) { return Reals(_mm512_fmadd_pd(a.v, b.v, c.v)); }
// The form with a mask: g++ 12 warns of the other's undefined operand.
inline Reals square_root(Reals a) { return Reals(_mm512_maskz_sqrt_pd(0xFF, a.v)); }
inline Reals load_lanes(const double* p) { return Reals(_mm512_loadu_pd(p)); }
inline Reals load_lanes(const float* p) { return Reals(_mm512_cvtps_pd(_mm256_loadu_ps(p))); }
inline void store_lanes(double* p, Reals a) { _mm512_storeu_pd(p, a.v); }
inline void store_lanes(float* p, Reals a) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(a.v)); }
inline bool any_above(Reals a, double limit) {
    return _mm512_cmp_pd_mask(a.v, _mm512_set1_pd(limit), _CMP_GT_OQ) != 0;
}
inline bool any(Flags c) { return _mm512_test_epi64_mask((__m512i)c.v, (__m512i)c.v) != 0; }
#elif defined(__AVX2__)
inline Reals fma(Reals a, Reals b, Reals c) { return Reals(_mm256_fmadd_pd(a.v, b.v, c.v)); }
inline Reals square_root(Reals a) { return Reals(_mm256_sqrt_pd(a.v)); }
inline Reals load_lanes(const double* p) { return Reals(_mm256_loadu_pd(p)); }
inline Reals load_lanes(const float* p) { return Reals(_mm256_cvtps_pd(_mm_loadu_ps(p))); }
inline void store_lanes(double* p, Reals a) { _mm256_storeu_pd(p, a.v); }
inline void store_lanes(float* p, Reals a) { _mm_storeu_ps(p, _mm256_cvtpd_ps(a.v)); }
inline bool any_above(Reals a, double limit) {
    return _mm256_movemask_pd(_mm256_cmp_pd(a.v, _mm256_set1_pd(limit), _CMP_GT_OQ)) != 0;
}
inline bool any(Flags c) { return _mm256_movemask_pd((__m256d)c.v) != 0; }
#else
// Processors without AVX2: the same bits, element by element.
inline Reals fma(Reals a, Reals b, Reals c) {
    Reals r(0.0);
    for (int l = 0; l < lanes; ++l) r.v[l] = std::fma(a.v[l], b.v[l], c.v[l]);
    return r;
}
inline Reals square_root(Reals a) {
    for (int l = 0; l < lanes; ++l) a.v[l] = std::sqrt(a.v[l]);
    return a;
}
template <class T>
inline Reals load_lanes(const T* p) {
    Reals r(0.0);
    for (int l = 0; l < lanes; ++l) r.v[l] = p[l];
    return r;
}
template <class T>
inline void store_lanes(T* p, Reals a) {
    for (int l = 0; l < lanes; ++l) p[l] = static_cast<T>(a.v[l]);
}
inline bool any_above(Reals a, double limit) {
    bool any = false;
    for (int l = 0; l < lanes; ++l) any |= a.v[l] > limit;
    return any;
}
inline bool any(Flags c) {
    std::int64_t found = 0;
    for (int l = 0; l < lanes; ++l) found |= c.v[l];
    return found != 0;
}
#endif

/// Whether all lanes are one number, which is then `number`.
inline bool is_one_number(Reals a, double& number) {
    number = a.v[0];
    return !any(a != Reals(number));
}

}  // namespace

template <>
struct WholeOf<Reals> {
    using type = Wholes;
};

}  // namespace unisono::functions
