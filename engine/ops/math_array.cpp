// Mathematical functions over arrays, by SLEEF's vector functions of the widest kind that the
// processor has.
//
// Where fewer elements are left than a vector holds, the vector is filled up with zeros, so that
// there is one code path for all elements. The scalar functions give the same bits (a test says
// so).
#include "ops/functions/loops.h"
#include "ops/functions/table.h"
#include "ops/math.h"
#include "ops/math_library.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstring>

namespace unisono::math {
namespace {

template <class T>
void run_each(Op op, Operand<T> x, Operand<T> y, T* out, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        T b = y.at == nullptr ? T{0} : y.at[y.is_one ? 0 : i];
        out[i] = call(op, x.at[x.is_one ? 0 : i], b);
    }
}

#if defined(__x86_64__)

#define UNISONO_AVX512 __attribute__((target("avx512f")))

template <class T, int Bytes>
struct VectorOf;
template <>
struct VectorOf<double, 32> {
    using type = __m256d;
};
template <>
struct VectorOf<float, 32> {
    using type = __m256;
};
template <>
struct VectorOf<double, 64> {
    using type = __m512d;
};
template <>
struct VectorOf<float, 64> {
    using type = __m512;
};

/// The vector functions of one element type and vector size, by operation.
template <class T, int Bytes>
struct Vectors {
    using V = typename VectorOf<T, Bytes>::type;
    union Function {
        V (*unary)(V);
        V (*binary)(V, V);
    };
    Function of[op_count] = {};

    Vectors() {
        for (int k = 0; k < op_count; ++k) {
            Op op = static_cast<Op>(k);
            if (!is_math(op) || functions::is_own(op)) continue;
            require(op);
            std::string name =
                library_name(op, sizeof(T) == 8 ? 'd' : 'f', Bytes / static_cast<int>(sizeof(T)),
                             Bytes == 64 ? "avx512f" : "avx2");
            find_function(name.c_str(), of[k].unary);
        }
    }
};

template <class T, int Bytes>
const Vectors<T, Bytes>& vectors() {
    static const Vectors<T, Bytes> found;
    return found;
}

/// A vector's worth of elements from position i on, filled up with zeros behind the end.
template <class T, int Bytes>
struct Window {
    static constexpr std::int64_t width = Bytes / static_cast<std::int64_t>(sizeof(T));
    alignas(64) T held[width] = {};
    Operand<T> from;

    explicit Window(Operand<T> operand) : from(operand) {
        if (from.is_one) {
            for (T& h : held) h = *from.at;
        }
    }
    const T* at(std::int64_t i, std::int64_t count) {
        if (from.is_one || from.at == nullptr) return held;
        if (i + width <= count) return from.at + i;
        std::memcpy(held, from.at + i, static_cast<std::size_t>(count - i) * sizeof(T));
        return held;
    }
};

template <class T>
void finish(T* out, const T* values, std::int64_t left) {
    std::memcpy(out, values, static_cast<std::size_t>(left) * sizeof(T));
}

#define UNISONO_RUN_VECTORS(name, T, Bytes, attribute, load, store)                      \
    attribute void name(Op op, Operand<T> x, Operand<T> y, T* out, std::int64_t count) { \
        constexpr std::int64_t width = Window<T, Bytes>::width;                          \
        auto f = vectors<T, Bytes>().of[static_cast<std::size_t>(op)];                   \
        const bool is_unary = info(op).arity == 1;                                       \
        Window<T, Bytes> a(x), b(y);                                                     \
        alignas(64) T last[width];                                                       \
        for (std::int64_t i = 0; i < count; i += width) {                                \
            const bool whole = i + width <= count;                                       \
            auto v = load(a.at(i, count));                                               \
            v = is_unary ? f.unary(v) : f.binary(v, load(b.at(i, count)));               \
            store(whole ? out + i : last, v);                                            \
            if (!whole) finish(out + i, last, count - i);                                \
        }                                                                                \
    }

UNISONO_RUN_VECTORS(run_narrow, double, 32, , _mm256_loadu_pd, _mm256_storeu_pd)
UNISONO_RUN_VECTORS(run_narrow, float, 32, , _mm256_loadu_ps, _mm256_storeu_ps)
UNISONO_RUN_VECTORS(run_wide, double, 64, UNISONO_AVX512, _mm512_loadu_pd, _mm512_storeu_pd)
UNISONO_RUN_VECTORS(run_wide, float, 64, UNISONO_AVX512, _mm512_loadu_ps, _mm512_storeu_ps)

template <class T>
void run_any(Op op, Operand<T> x, Operand<T> y, T* out, std::int64_t count) {
    static const bool has_wide = __builtin_cpu_supports("avx512f");
    // Short arrays do not pay for starting the wide unit.
    if (has_wide && count > 64 / static_cast<std::int64_t>(sizeof(T)))
        run_wide(op, x, y, out, count);
    else
        run_narrow(op, x, y, out, count);
}

#else

template <class T>
void run_any(Op op, Operand<T> x, Operand<T> y, T* out, std::int64_t count) {
    run_each(op, x, y, out, count);
}

#endif

}  // namespace

void run(Op op, Operand<double> x, Operand<double> y, double* out, std::int64_t count) {
#if defined(__x86_64__)
    if (auto* own = functions::double_loop(op)) return own(x, y, out, count);
#endif
    if (functions::is_long_form(op)) return run_each(op, x, y, out, count);
    run_any(op, x, y, out, count);
}
void run(Op op, Operand<float> x, Operand<float> y, float* out, std::int64_t count) {
#if defined(__x86_64__)
    if (auto* own = functions::float_loop(op)) return own(x, y, out, count);
#endif
    if (functions::is_long_form(op)) return run_each(op, x, y, out, count);
    run_any(op, x, y, out, count);
}

}  // namespace unisono::math
