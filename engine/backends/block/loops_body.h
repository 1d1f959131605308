// The loops themselves as templates; each file that includes this one builds a part of them
// (UNISONO_LOOPS_PART) for an instruction set, under names of its own (an unnamed namespace).
//
// Loops are written so that g++ -O3 and clang turn them into vector code without changing a bit:
// nothing traps, selections are arithmetic, and the pragma says that iterations are independent
// (the output is an operand's own address or overlaps none).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/block/loops.h"
#include "core/vectors.h"
#include "ops/math.h"
#include "ops/reduction_tree.h"
#include "ops/scalar_rules.h"

#if defined(__clang__)
// Some loops (calls of fmod, integer division) have no vector form.
#pragma clang diagnostic ignored "-Wpass-failed"
#define UNISONO_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define UNISONO_INDEPENDENT _Pragma("GCC ivdep")
#endif

#if defined(UNISONO_LOOPS_AVX512) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))), \
                             apply_to = function)
#elif defined(UNISONO_LOOPS_AVX512)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512")
#endif

#include "backends/block/integer_division.h"

namespace unisono::block {
namespace {

#if defined(UNISONO_LOOPS_AVX512)
constexpr int vector_bytes = 64;
#else
constexpr int vector_bytes = 32;
#endif

/// What a loop reads and writes: bool is a byte that holds 0 or 1.
template <DType D>
using Element = std::conditional_t<D == DType::Bool, std::uint8_t, ctype_of<D>>;
template <DType D>
constexpr bool real = is_float(D);
/// Integer arithmetic wraps: it is done on unsigned types that are not promoted to int.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <Op O>
constexpr bool defined_on(DType t) {
    if (is_half(t)) return false;  // groups compute it in float32
    switch (info(O).rule) {
        case OpRule::Arith: return !is_bool(t);
        case OpRule::Any: return true;
        case OpRule::Float:
        case OpRule::Math:
        case OpRule::Test: return is_float(t);
        case OpRule::Bits: return !is_float(t);
        case OpRule::Logic: return is_bool(t);
        case OpRule::Compare: return true;
        case OpRule::Whole:
        case OpRule::Count: return is_integer(t);
    }
    return false;
}

// ---- Scalar rules (docs/ir.md) --------------------------------------------------------------

template <class T>
T integer_floordiv(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (b == -1) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
        T q = static_cast<T>(a / b);
        return static_cast<T>(q - ((a % b != 0) & ((a < 0) != (b < 0))));
    }
    return static_cast<T>(a / b);
}

template <class T>
T integer_mod(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
        T r = static_cast<T>(a % b);
        return static_cast<T>(r + (((r != 0) & ((r < 0) != (b < 0))) ? b : 0));
    }
    return static_cast<T>(a % b);
}

template <class T>
T real_floordiv(T a, T b) {
    if (b == 0) return a / b;
    T mod = std::fmod(a, b);
    T div = (a - mod) / b;
    if (mod != 0 && (b < 0) != (mod < 0)) div -= 1;
    if (div == 0) return std::copysign(T{0}, a / b);
    T floored = std::floor(div);
    return div - floored > T(0.5) ? floored + 1 : floored;
}

template <class T>
T real_mod(T a, T b) {
    T mod = std::fmod(a, b);
    if (b == 0) return mod;
    if (mod == 0) return std::copysign(T{0}, b);
    return (b < 0) != (mod < 0) ? mod + b : mod;
}

template <class T>
T shifted_left(T a, T b) {
    constexpr auto width = static_cast<Wrapping<T>>(8 * sizeof(T));
    auto count = static_cast<Wrapping<T>>(b);
    auto shifted = static_cast<T>(static_cast<Wrapping<T>>(a) << (count & (width - 1)));
    return count < width ? shifted : T{0};
}

template <class T>
T shifted_right(T a, T b) {
    constexpr auto width = static_cast<Wrapping<T>>(8 * sizeof(T));
    auto count = static_cast<Wrapping<T>>(b);
    auto shifted = static_cast<T>(a >> (count & (width - 1)));
    return count < width ? shifted : static_cast<T>(a < 0 ? -1 : 0);
}

// clang-format off
template <Op O, DType D, class T = Element<D>> auto apply(T a, [[maybe_unused]] T b) {
    using U = Wrapping<T>;
    [[maybe_unused]] constexpr bool is_real = real<D>;
    constexpr bool is_flag = D == DType::Bool;
    if constexpr (O == Op::Lt) return std::uint8_t(a < b);
    else if constexpr (O == Op::Le) return std::uint8_t(a <= b);
    else if constexpr (O == Op::Gt) return std::uint8_t(a > b);
    else if constexpr (O == Op::Ge) return std::uint8_t(a >= b);
    else if constexpr (O == Op::Eq) return std::uint8_t(a == b);
    else if constexpr (O == Op::Ne) return std::uint8_t(a != b);
    else if constexpr (O == Op::Neg) {
        if constexpr (is_real) return -a;
        else return T(U{0} - U(a));
    }
    else if constexpr (O == Op::Abs) {
        if constexpr (is_real) return std::fabs(a);
        else if constexpr (std::is_signed_v<T>) return a < 0 ? T(U{0} - U(a)) : a;
        else return a;
    }
    else if constexpr (O == Op::Sqrt) return std::sqrt(a);
    else if constexpr (O == Op::Floor) return std::floor(a);
    else if constexpr (O == Op::Ceil) return std::ceil(a);
    else if constexpr (O == Op::Trunc) return std::trunc(a);
    else if constexpr (O == Op::Not) return T(a ^ 1);
    else if constexpr (O == Op::Invert) return T(is_flag ? a ^ 1 : ~a);
    else if constexpr (O == Op::Add) {
        if constexpr (is_real) return a + b;
        else return T(U(a) + U(b));
    }
    else if constexpr (O == Op::Sub) {
        if constexpr (is_real) return a - b;
        else return T(U(a) - U(b));
    }
    else if constexpr (O == Op::Mul) {
        if constexpr (is_real) return a * b;
        else return T(U(a) * U(b));
    }
    else if constexpr (O == Op::Div) return a / b;
    else if constexpr (O == Op::FloorDiv) {
        if constexpr (is_real) return real_floordiv(a, b);
        else return integer_floordiv(a, b);
    }
    else if constexpr (O == Op::Mod) {
        if constexpr (is_real) return real_mod(a, b);
        else return integer_mod(a, b);
    }
    else if constexpr (O == Op::Min) {
        T r = a <= b ? a : b;
        if constexpr (is_real) { r = b != b ? b : r; r = a != a ? a : r; }
        return r;
    }
    else if constexpr (O == Op::Max) {
        T r = a >= b ? a : b;
        if constexpr (is_real) { r = b != b ? b : r; r = a != a ? a : r; }
        return r;
    }
    else if constexpr (O == Op::And) return T(a & b);
    else if constexpr (O == Op::Or) return T(a | b);
    else if constexpr (O == Op::Xor) return T(a ^ b);
    else if constexpr (O == Op::Shl) return shifted_left(a, b);
    else if constexpr (O == Op::Shr) return shifted_right(a, b);
    else if constexpr (O == Op::Power) {
        return rules::integer_power(a, b);
    }
    else if constexpr (O == Op::Rint) return std::rint(a);
    else if constexpr (O == Op::Sign) return rules::sign(a);
    else if constexpr (O == Op::IsNan) return std::uint8_t(rules::is_nan(a));
    else if constexpr (O == Op::IsInf) return std::uint8_t(rules::is_inf(a));
    else if constexpr (O == Op::IsFinite) return std::uint8_t(rules::is_finite(a));
    else if constexpr (O == Op::SignBit) return std::uint8_t(std::signbit(a));
    else if constexpr (O == Op::Fmod) {
        if constexpr (is_real) return std::fmod(a, b);
        else return rules::integer_fmod(a, b);
    }
    else if constexpr (O == Op::Fmin) return rules::fmin(a, b);
    else if constexpr (O == Op::Fmax) return rules::fmax(a, b);
    else if constexpr (O == Op::CopySign) return std::copysign(a, b);
    else if constexpr (O == Op::NextAfter) return std::nextafter(a, b);
    else if constexpr (O == Op::Ldexp) return a;  // a function of ours: binary_loop
    else if constexpr (O == Op::Exponent) return rules::exponent(a);
    else if constexpr (O == Op::Gcd) return rules::gcd(a, b);
    else if constexpr (O == Op::Lcm) return rules::lcm(a, b);
    else if constexpr (O == Op::BitCount) return static_cast<std::uint8_t>(rules::bit_count(a));
    // A row of ops.def without a rule here does not compile.
}
// clang-format on

template <DType From, DType To>
Element<To> converted(Element<From> a) {
    using F = Element<From>;
    using T = Element<To>;
    if constexpr (To == DType::Bool) {
        return a != F{0};
    } else if constexpr (!real<From> || real<To>) {
        return static_cast<T>(a);
    } else if constexpr (sizeof(T) < 4) {
        return static_cast<T>(converted<From, DType::Int32>(a));
    } else if constexpr (std::is_unsigned_v<T>) {
        // The upper half of the range as the lower one, with the top bit set.
        constexpr DType with_sign = To == DType::UInt32 ? DType::Int32 : DType::Int64;
        constexpr F half = sizeof(T) == 4 ? F(0x1p31) : F(0x1p63);
        bool upper = a >= half;
        T low = static_cast<T>(converted<From, with_sign>(upper ? a - half : a));
        return upper ? low ^ (T{1} << (8 * sizeof(T) - 1)) : low;
    } else {
        // -2^(width-1) and its negation are exact in both formats; only float64 has values between
        // the minimum of int32 and the next integer below it. Comparisons with NaN are false.
        constexpr T lowest = std::numeric_limits<T>::min();
        constexpr F limit = -static_cast<F>(lowest);
        constexpr bool has_fraction = sizeof(F) == 8 && sizeof(T) == 4;
        bool fits = (has_fraction ? a > -limit - F{1} : a >= -limit) & (a < limit);
        return fits ? static_cast<T>(a) : lowest;
    }
}

// ---- Loops ----------------------------------------------------------------------------------

template <class T>
const T* elements(const char* address) {
    return reinterpret_cast<const T*>(address);
}

template <Op O, DType D>
void unary_loop(char* out, const char* a, const char*, const char*, std::int64_t count) {
    using T = Element<D>;
    const T* x = elements<T>(a);
    if constexpr (info(O).rule == OpRule::Math) {
        math::run(O, {x}, {}, reinterpret_cast<T*>(out), count);
    } else {
        auto* r = reinterpret_cast<decltype(apply<O, D>(T{}, T{}))*>(out);
        UNISONO_INDEPENDENT
        for (std::int64_t i = 0; i < count; ++i) r[i] = apply<O, D>(x[i], T{});
    }
}

template <Op O, DType D, bool OneA, bool OneB>
void binary_loop(char* out, const char* a, const char* b, const char*, std::int64_t count) {
    using T = Element<D>;
    const T* x = elements<T>(a);
    const T* y = elements<T>(b);
    [[maybe_unused]] const T x0 = *x;
    [[maybe_unused]] const T y0 = *y;
    if constexpr ((is_math(O) || O == Op::Ldexp) && real<D>) {
        math::run(O, {x, OneA}, {y, OneB}, reinterpret_cast<T*>(out), count);
        return;
    } else {
        auto* r = reinterpret_cast<decltype(apply<O, D>(T{}, T{}))*>(out);
        if constexpr ((O == Op::FloorDiv || O == Op::Mod) && !real<D> && D != DType::Bool) {
            if (are_small(x, OneA ? 1 : count) && are_small(y, OneB ? 1 : count)) {
                divide_integers<O, T, OneA, OneB>(x, y, r, count);
                return;
            }
        }
        UNISONO_INDEPENDENT
        for (std::int64_t i = 0; i < count; ++i)
            r[i] = apply<O, D>(OneA ? x0 : x[i], OneB ? y0 : y[i]);
    }
}

#if defined(__F16C__)
typedef float Floats8 __attribute__((vector_size(32)));
typedef short Halves8 __attribute__((vector_size(16)));

/// Eight at a time by the processor, at any address; returns how many are done.
inline std::int64_t halves_from_floats(const float* x, Half* out, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        Floats8 floats;
        std::memcpy(&floats, x + i, sizeof floats);
        Halves8 halves = __builtin_ia32_vcvtps2ph256(floats, 0);
        std::memcpy(out + i, &halves, sizeof halves);
    }
    return i;
}
inline std::int64_t floats_from_halves(const Half* x, float* out, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        Halves8 halves;
        std::memcpy(&halves, x + i, sizeof halves);
        Floats8 floats = __builtin_ia32_vcvtph2ps256(halves);
        std::memcpy(out + i, &floats, sizeof floats);
    }
    return i;
}
#else
inline std::int64_t halves_from_floats(const float*, Half*, std::int64_t) { return 0; }
inline std::int64_t floats_from_halves(const Half*, float*, std::int64_t) { return 0; }
#endif

/// The casts of float16: others go through float32.
template <DType From, DType To>
void half_cast_loop(char* out, const char* a, const char*, const char*, std::int64_t count) {
    using F = Element<From>;
    using T = Element<To>;
    const F* x = elements<F>(a);
    T* r = reinterpret_cast<T*>(out);
    std::int64_t i = 0;
    if constexpr (std::is_same_v<F, float>) i = halves_from_floats(x, r, count);
    if constexpr (std::is_same_v<T, float>) i = floats_from_halves(x, r, count);
    UNISONO_INDEPENDENT
    for (; i < count; ++i) r[i] = static_cast<T>(x[i]);
}

template <DType From, DType To>
void cast_loop(char* out, const char* a, const char*, const char*, std::int64_t count) {
    const auto* x = elements<Element<From>>(a);
    auto* r = reinterpret_cast<Element<To>*>(out);
    UNISONO_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) r[i] = converted<From, To>(x[i]);
}

template <class T, int Form>
void select_loop(char* out, const char* a, const char* b, const char* c, std::int64_t count) {
    const std::uint8_t* condition = elements<std::uint8_t>(a);
    const T* x = elements<T>(b);
    const T* y = elements<T>(c);
    T* r = reinterpret_cast<T*>(out);
    [[maybe_unused]] const std::uint8_t condition0 = *condition;
    const T x0 = *x;
    const T y0 = *y;
    UNISONO_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
        T yes = Form & 2 ? x0 : x[i];
        T no = Form & 4 ? y0 : y[i];
        r[i] = (Form & 1 ? condition0 : condition[i]) ? yes : no;
    }
}

// ---- Reduction leaves -----------------------------------------------------------------------

template <Op O, class V>
V combined(V a, V b) {
    if constexpr (O == Op::Add) return a + b;
    if constexpr (O == Op::Mul && std::is_integral_v<V> && sizeof(V) < 4) {
        return static_cast<V>(unsigned{a} * unsigned{b});  // int could overflow
    } else if constexpr (O == Op::Mul) {
        return a * b;
    }
    if constexpr (O == Op::And) return a & b;
    if constexpr (O == Op::Or) return a | b;
    if constexpr (O == Op::Xor) return a ^ b;
    if constexpr (O == Op::Min || O == Op::Max) {
        V r = O == Op::Min ? (a <= b ? a : b) : (a >= b ? a : b);
        r = b != b ? b : r;
        return a != a ? a : r;
    }
    if constexpr (O == Op::Fmin) return ((a <= b) | (b != b)) ? a : b;
    if constexpr (O == Op::Fmax) return ((a >= b) | (b != b)) ? a : b;
}

/// Sums and products of integers wrap: as for unsigned ones of the same size.
template <Op O, class T>
using Accumulated =
    typename std::conditional_t<(O == Op::Add || O == Op::Mul) && std::is_integral_v<T>,
                                std::make_unsigned<T>, std::type_identity<T>>::type;

/// combine_leaf of ops/reduction_tree.h with the 32 lanes held in vector registers.
template <Op O, DType D>
void leaf_loop(char* out, const char* x, std::int64_t count) {
    using T = Accumulated<O, Element<D>>;
    constexpr int lanes = reduction::lanes;
    constexpr int bytes =
        lanes * int{sizeof(T)} < vector_bytes ? lanes * int{sizeof(T)} : vector_bytes;
    constexpr int vectors = lanes * int{sizeof(T)} / bytes;
    constexpr int width = bytes / int{sizeof(T)};
    using V = typename UnalignedVectorOf<T, bytes>::type;
    const T* values = elements<T>(x);
    T lane[lanes];
    auto combine = [](T a, T b) { return static_cast<T>(combined<O>(a, b)); };
    if (count < lanes) {
        for (std::int64_t j = 0; j < count; ++j) lane[j] = values[j];
        T result = reduction::combine_lanes(lane, static_cast<int>(count), combine);
        std::memcpy(out, &result, sizeof(T));
        return;
    }
    V sum[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) sum[v] = *reinterpret_cast<const V*>(values + v * width);
    std::int64_t j = lanes;
    for (; j + lanes <= count; j += lanes) {
#pragma GCC unroll 16
        for (int v = 0; v < vectors; ++v)
            sum[v] = combined<O, V>(sum[v], *reinterpret_cast<const V*>(values + j + v * width));
    }
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<V*>(lane + v * width) = sum[v];
    for (int l = 0; j < count; ++j, ++l) lane[l] = combine(lane[l], values[j]);
    T result = reduction::combine_lanes(lane, lanes, combine);
    std::memcpy(out, &result, sizeof(T));
}

/// combine_leaf for several rows side by side: a vector holds the same lane of some rows.
template <Op O, DType D>
void leaves_loop(char* out, const char* x, std::int64_t count, std::int64_t rows) {
    using T = Accumulated<O, Element<D>>;
    constexpr int width = 8;
    constexpr int lanes = reduction::lanes;
    const T* values = elements<T>(x);
    T* results = reinterpret_cast<T*>(out);
    T lane[lanes][width];
    for (; rows >= width; rows -= width, values += count * width, results += width) {
        const int present = count < lanes ? static_cast<int>(count) : lanes;
        for (int l = 0; l < present; ++l) {
            for (int w = 0; w < width; ++w) lane[l][w] = values[w * count + l];
        }
        for (std::int64_t j = lanes; j < count; ++j) {
            T* sum = lane[j % lanes];
            for (int w = 0; w < width; ++w) sum[w] = combined<O>(sum[w], values[w * count + j]);
        }
        for (int half = lanes / 2; half > 0; half /= 2) {
            for (int l = 0; l + half < present && l < half; ++l) {
                for (int w = 0; w < width; ++w)
                    lane[l][w] = combined<O>(lane[l][w], lane[l + half][w]);
            }
        }
        std::memcpy(results, lane[0], sizeof(lane[0]));
    }
    for (; rows > 0; --rows, values += count, ++results) {
        leaf_loop<O, D>(reinterpret_cast<char*>(results), reinterpret_cast<const char*>(values),
                        count);
    }
}

// ---- Tables ---------------------------------------------------------------------------------

constexpr int max_forms = 8;
using FormArray = std::array<Loop, max_forms>;

/// Operations whose bits do not depend on the sign share the loop of the signed dtype.
constexpr bool ignores_sign(Op op) {
    switch (op) {
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
        case Op::Neg:
        case Op::And:
        case Op::Or:
        case Op::Xor:
        case Op::Invert:
        case Op::Shl:
        case Op::Eq:
        case Op::Ne: return true;
        default: return false;
    }
}
constexpr DType shared_dtype(Op op, DType t) {
    return is_unsigned(t) && ignores_sign(op) ? dtype_of('i', size_of(t)) : t;
}

template <Op O, DType Given>
constexpr FormArray operation_forms() {
    constexpr DType D = shared_dtype(O, Given);
    FormArray forms{};
    if constexpr (defined_on<O>(D) && part_of(D) == Part::UNISONO_LOOPS_PART) {
        if constexpr (info(O).arity == 1) {
            forms[0] = &unary_loop<O, D>;
        } else {
            forms[0] = &binary_loop<O, D, false, false>;
            forms[1] = &binary_loop<O, D, true, false>;
            forms[2] = &binary_loop<O, D, false, true>;
        }
    }
    return forms;
}

template <class T>
constexpr FormArray select_forms = {
    &select_loop<T, 0>, &select_loop<T, 1>, &select_loop<T, 2>, &select_loop<T, 3>,
    &select_loop<T, 4>, &select_loop<T, 5>, &select_loop<T, 6>, nullptr};

struct Leaves {
    LeafLoop one = nullptr;
    LeavesLoop rows = nullptr;
};

template <Op O, DType Given>
constexpr Leaves leaves_on() {
    constexpr DType D = shared_dtype(O, Given);
    if constexpr (info(O).identity != "none" && defined_on<O>(D) &&
                  part_of(D) == Part::UNISONO_LOOPS_PART) {
        return {&leaf_loop<O, D>, &leaves_loop<O, D>};
    } else {
        return {};
    }
}

template <Op O>
constexpr std::array<FormArray, dtype_count> operations_of = {
#define UNISONO_DTYPE(Name, ...) operation_forms<O, DType::Name>(),
#define UNISONO_COMPLEX_DTYPE(...) FormArray{},
#include "core/dtype.def"
};
constexpr std::array<FormArray, dtype_count> operations[] = {
#define UNISONO_OP(Name, ...) operations_of<Op::Name>,
#include "ops/ops.def"
};

template <Op O>
constexpr std::array<Leaves, dtype_count> leaves_of = {
#define UNISONO_DTYPE(Name, ...) leaves_on<O, DType::Name>(),
#define UNISONO_COMPLEX_DTYPE(...) Leaves{},
#include "core/dtype.def"
};
constexpr std::array<Leaves, dtype_count> leaves[] = {
#define UNISONO_OP(Name, ...) leaves_of<Op::Name>,
#include "ops/ops.def"
};

/// Casts between integers take the low bits: their loops need no sign but the one that widens.
template <DType GivenFrom, DType GivenTo>
constexpr FormArray cast_forms() {
    if constexpr (part_of(GivenFrom) != Part::UNISONO_LOOPS_PART) {
        return FormArray{};
    } else if constexpr (is_half(GivenFrom) || is_half(GivenTo)) {
        if constexpr (is_float(GivenFrom) && is_float(GivenTo) &&
                      !(is_half(GivenFrom) && GivenTo != DType::Float32))
            return FormArray{&half_cast_loop<GivenFrom, GivenTo>};
        else
            return FormArray{};
    } else {
        constexpr bool keeps = size_of(GivenFrom) >= size_of(GivenTo);
        constexpr bool whole = is_integer(GivenFrom) && is_integer(GivenTo);
        constexpr DType From = whole && keeps ? dtype_of('u', size_of(GivenFrom)) : GivenFrom;
        constexpr DType To =
            whole || (is_float(GivenFrom) && is_integer(GivenTo) && size_of(GivenTo) < 4)
                ? dtype_of('u', size_of(GivenTo))
                : GivenTo;
        return FormArray{&cast_loop<From, To>};
    }
}
template <DType From>
constexpr std::array<FormArray, dtype_count> casts_of = {{
#define UNISONO_DTYPE(Name, ...) cast_forms<From, DType::Name>(),
#define UNISONO_COMPLEX_DTYPE(...) FormArray{},
#include "core/dtype.def"
}};
constexpr std::array<FormArray, dtype_count> casts[] = {
#define UNISONO_DTYPE(Name, ...) casts_of<DType::Name>,
#define UNISONO_COMPLEX_DTYPE(...) std::array<FormArray, dtype_count>{},
#include "core/dtype.def"
};

constexpr std::size_t at(Op op) { return static_cast<std::size_t>(op); }
constexpr std::size_t at(DType t) { return static_cast<std::size_t>(t); }

LoopForms operation_loops(Op op, DType t) {
    const FormArray& forms = operations[at(op)][at(t)];
    return forms[0] ? forms.data() : nullptr;
}

LoopForms cast_loops(DType from, DType to) {
    const FormArray& forms = casts[at(from)][at(to)];
    return forms[0] ? forms.data() : nullptr;
}

[[maybe_unused]] LoopForms select_loops(DType t) {
    if constexpr (constexpr Part here = Part::UNISONO_LOOPS_PART; here != Part::Float)
        return nullptr;
    switch (size_of(t)) {
        case 1: return select_forms<std::uint8_t>.data();
        case 2: return select_forms<std::uint16_t>.data();
        case 4: return select_forms<std::uint32_t>.data();
        case 8: return select_forms<std::uint64_t>.data();
        default: return nullptr;
    }
}

LeafLoop leaf_loops(Op op, DType t) { return leaves[at(op)][at(t)].one; }

LeavesLoop leaves_loops(Op op, DType t) { return leaves[at(op)][at(t)].rows; }

constexpr LoopTable table = {operation_loops, cast_loops, select_loops, leaf_loops, leaves_loops};

}  // namespace
}  // namespace unisono::block

#if defined(UNISONO_LOOPS_AVX512) && defined(__clang__)
#pragma clang attribute pop
#elif defined(UNISONO_LOOPS_AVX512)
#pragma GCC pop_options
#endif
