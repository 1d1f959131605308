// Mathematical functions over arrays, by SLEEF's vector functions of the widest kind that the
// processor has.
//
// Where fewer elements are left than a vector holds, the vector is filled up with zeros, so that
// there is one code path for all elements. The scalar functions give the same bits (a test says
// so).
#include "ops/math.h"
#include "ops/math_library.h"

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <array>
#endif

#include <cstring>

namespace unisono::math {
namespace {

#if defined(__x86_64__)

#define UNISONO_AVX512 __attribute__((target("avx512f")))

template <class T>
struct Forms;
template <>
struct Forms<double> {
    using Narrow = __m256d (*)(__m256d);
    using Wide = __m512d (*)(__m512d);
};
template <>
struct Forms<float> {
    using Narrow = __m256 (*)(__m256);
    using Wide = __m512 (*)(__m512);
};

/// The vector functions of one mathematical function and element type.
template <class T>
struct Vectors {
    typename Forms<T>::Narrow narrow = nullptr;
    typename Forms<T>::Wide wide = nullptr;  ///< null where the processor has no AVX-512

    Vectors(const char* narrow_name, const char* wide_name) {
        require();
        find_function(narrow_name, narrow);
        if (__builtin_cpu_supports("avx512f")) find_function(wide_name, wide);
    }
};

void apply(Forms<double>::Narrow f, const double* in, double* out, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) _mm256_storeu_pd(out + i, f(_mm256_loadu_pd(in + i)));
    if (i == count) return;
    alignas(32) double rest[4] = {};
    std::memcpy(rest, in + i, static_cast<std::size_t>(count - i) * sizeof(double));
    _mm256_store_pd(rest, f(_mm256_load_pd(rest)));
    std::memcpy(out + i, rest, static_cast<std::size_t>(count - i) * sizeof(double));
}

void apply(Forms<float>::Narrow f, const float* in, float* out, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) _mm256_storeu_ps(out + i, f(_mm256_loadu_ps(in + i)));
    if (i == count) return;
    alignas(32) float rest[8] = {};
    std::memcpy(rest, in + i, static_cast<std::size_t>(count - i) * sizeof(float));
    _mm256_store_ps(rest, f(_mm256_load_ps(rest)));
    std::memcpy(out + i, rest, static_cast<std::size_t>(count - i) * sizeof(float));
}

UNISONO_AVX512 void apply(Forms<double>::Wide f, const double* in, double* out,
                          std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += 8) {
        std::int64_t left = count - i;
        auto mask = static_cast<__mmask8>(left >= 8 ? 0xff : (1U << left) - 1);
        _mm512_mask_storeu_pd(out + i, mask, f(_mm512_maskz_loadu_pd(mask, in + i)));
    }
}

UNISONO_AVX512 void apply(Forms<float>::Wide f, const float* in, float* out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += 16) {
        std::int64_t left = count - i;
        auto mask = static_cast<__mmask16>(left >= 16 ? 0xffff : (1U << left) - 1);
        _mm512_mask_storeu_ps(out + i, mask, f(_mm512_maskz_loadu_ps(mask, in + i)));
    }
}

template <class T>
void run(const Vectors<T>& f, const T* in, T* out, std::int64_t count) {
    // Short arrays do not pay for starting the wide unit.
    if (f.wide != nullptr && count > 64 / static_cast<std::int64_t>(sizeof(T)))
        apply(f.wide, in, out, count);
    else
        apply(f.narrow, in, out, count);
}

#define UNISONO_MATH_ARRAY(name, T, narrow, wide)        \
    void name(const T* in, T* out, std::int64_t count) { \
        static const Vectors<T> functions(narrow, wide); \
        run(functions, in, out, count);                  \
    }

#else

#define UNISONO_MATH_ARRAY(name, T, narrow, wide)                            \
    void name(const T* in, T* out, std::int64_t count) {                     \
        for (std::int64_t i = 0; i < count; ++i) out[i] = math::name(in[i]); \
    }

#endif

}  // namespace

UNISONO_MATH_ARRAY(exp, double, "Sleef_finz_expd4_u10avx2", "Sleef_finz_expd8_u10avx512f")
UNISONO_MATH_ARRAY(exp, float, "Sleef_finz_expf8_u10avx2", "Sleef_finz_expf16_u10avx512f")
UNISONO_MATH_ARRAY(sin, double, "Sleef_finz_sind4_u10avx2", "Sleef_finz_sind8_u10avx512f")
UNISONO_MATH_ARRAY(sin, float, "Sleef_finz_sinf8_u10avx2", "Sleef_finz_sinf16_u10avx512f")

}  // namespace unisono::math
