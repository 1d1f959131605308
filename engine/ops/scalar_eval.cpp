// The reference semantics of scalar operations: one C++ function per operation, then tables over
// dtypes.
#include "ops/scalar_eval.h"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/error.h"
#include "ops/math.h"
#include "ops/scalar_rules.h"

namespace unisono {
namespace {

template <class T>
constexpr bool is_real = std::is_floating_point_v<T> || std::is_same_v<T, Half>;
template <class T>
constexpr bool is_flag = std::is_same_v<T, bool>;
template <class T>
constexpr bool is_whole = std::is_integral_v<T> && !is_flag<T>;

/// Integer arithmetic wraps: it is done on the unsigned type of at least 32 bits.
template <class T, class F>
T wrapped(F f, T a, T b) {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
}

template <class T>
struct Divided {
    T quotient, remainder;
};

/// Python's and NumPy's integer division; a zero divisor gives zeros.
template <class T>
requires is_whole<T> Divided<T> divided(T a, T b) {
    if (b == 0) return {0, 0};
    if constexpr (std::is_signed_v<T>) {
        if (b == -1) return {wrapped([](auto x, auto y) { return y - x; }, a, T{0}), 0};
    }
    T q = static_cast<T>(a / b);
    T r = static_cast<T>(a % b);
    if (r != 0 && ((r < 0) != (b < 0))) {
        q = static_cast<T>(q - 1);
        r = static_cast<T>(r + b);
    }
    return {q, r};
}

/// NumPy's npy_divmod.
template <class T>
requires is_real<T> Divided<T> divided(T a, T b) {
    T mod = std::fmod(a, b);
    if (b == 0) return {a / b, mod};
    T div = (a - mod) / b;
    if (mod != 0) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1;
        }
    } else {
        mod = std::copysign(T{0}, b);
    }
    T floored;
    if (div != 0) {
        floored = std::floor(div);
        if (div - floored > T(0.5)) floored += 1;
    } else {
        floored = std::copysign(T{0}, a / b);
    }
    return {floored, mod};
}

template <class T>
constexpr int width = static_cast<int>(sizeof(T)) * 8;
template <class T>
bool is_wide_shift(T count) {
    if constexpr (std::is_signed_v<T>) {
        if (count < 0) return true;
    }
    return count >= width<T>;
}

template <class T>
T minimum(T a, T b) {
    if constexpr (is_real<T>) {
        if (a != a) return a;
        if (b != b) return b;
    }
    return a <= b ? a : b;
}
template <class T>
T maximum(T a, T b) {
    if constexpr (is_real<T>) {
        if (a != a) return a;
        if (b != b) return b;
    }
    return a >= b ? a : b;
}

template <class T>
T absolute(T a) {
    if constexpr (is_real<T>) return std::fabs(a);
    if constexpr (is_whole<T> && std::is_signed_v<T>) {
        return a < 0 ? wrapped([](auto x, auto y) { return y - x; }, a, T{0}) : a;
    }
    return a;
}

template <class T>
T shifted_left(T a, T b) {
    return is_wide_shift(b) ? T{0} : wrapped([](auto x, auto n) { return x << n; }, a, b);
}
template <class T>
T shifted_right(T a, T b) {
    if (is_wide_shift(b)) return a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> b);
}

/// The rule of an operation as a C++ condition on T: what result_dtype says, at compile time.
template <Op O, class T>
constexpr bool defined_on() {
    switch (info(O).rule) {
        case OpRule::Arith: return !is_flag<T>;
        case OpRule::Any: return true;
        case OpRule::Float:
        case OpRule::Math:
        case OpRule::Test: return is_real<T>;
        case OpRule::Bits: return !is_real<T>;
        case OpRule::Logic: return is_flag<T>;
        case OpRule::Compare: return true;
        case OpRule::Whole:
        case OpRule::Count: return is_whole<T>;
    }
    return false;
}

// clang-format off
template <Op O, class T> auto apply(T a, [[maybe_unused]] T b) {
    if constexpr (is_comparison(O)) {
        if constexpr (O == Op::Lt) return a < b;
        else if constexpr (O == Op::Le) return a <= b;
        else if constexpr (O == Op::Gt) return a > b;
        else if constexpr (O == Op::Ge) return a >= b;
        else if constexpr (O == Op::Eq) return a == b;
        else return a != b;
    }
    else if constexpr (O == Op::Neg) {
        if constexpr (is_real<T>) return -a;
        else return wrapped([](auto x, auto y) { return y - x; }, a, T{0});
    }
    else if constexpr (O == Op::Abs) return absolute(a);
    else if constexpr (O == Op::Sqrt) return std::sqrt(a);
    else if constexpr (info(O).rule == OpRule::Math) return math::call(O, a, b);
    else if constexpr (O == Op::Floor) return std::floor(a);
    else if constexpr (O == Op::Ceil) return std::ceil(a);
    else if constexpr (O == Op::Trunc) return std::trunc(a);
    else if constexpr (O == Op::Not) return !a;
    else if constexpr (O == Op::Invert) {
        if constexpr (is_flag<T>) return !a;
        else return static_cast<T>(~a);
    }
    else if constexpr (O == Op::Add) {
        if constexpr (is_real<T>) return a + b;
        else return wrapped([](auto x, auto y) { return x + y; }, a, b);
    }
    else if constexpr (O == Op::Sub) {
        if constexpr (is_real<T>) return a - b;
        else return wrapped([](auto x, auto y) { return x - y; }, a, b);
    }
    else if constexpr (O == Op::Mul) {
        if constexpr (is_real<T>) return a * b;
        else return wrapped([](auto x, auto y) { return x * y; }, a, b);
    }
    else if constexpr (O == Op::Div) return a / b;
    else if constexpr (O == Op::FloorDiv) return divided(a, b).quotient;
    else if constexpr (O == Op::Mod) return divided(a, b).remainder;
    else if constexpr (O == Op::Min) return minimum(a, b);
    else if constexpr (O == Op::Max) return maximum(a, b);
    else if constexpr (O == Op::And) return static_cast<T>(a & b);
    else if constexpr (O == Op::Or) return static_cast<T>(a | b);
    else if constexpr (O == Op::Xor) return static_cast<T>(a ^ b);
    else if constexpr (O == Op::Shl) return shifted_left(a, b);
    else if constexpr (O == Op::Shr) return shifted_right(a, b);
    else if constexpr (O == Op::Power) {
        if constexpr (is_real<T>) return math::call(O, a, b);
        else return rules::integer_power(a, b);
    }
    else if constexpr (O == Op::Rint) return std::rint(a);
    else if constexpr (O == Op::Sign) return rules::sign(a);
    else if constexpr (O == Op::IsNan) return (rules::is_nan(a));
    else if constexpr (O == Op::IsInf) return (rules::is_inf(a));
    else if constexpr (O == Op::IsFinite) return (rules::is_finite(a));
    else if constexpr (O == Op::SignBit) return (std::signbit(a));
    else if constexpr (O == Op::Fmod) {
        if constexpr (is_real<T>) return std::fmod(a, b);
        else return rules::integer_fmod(a, b);
    }
    else if constexpr (O == Op::Fmin) return rules::fmin(a, b);
    else if constexpr (O == Op::Fmax) return rules::fmax(a, b);
    else if constexpr (O == Op::CopySign) return std::copysign(a, b);
    else if constexpr (O == Op::NextAfter) return std::nextafter(a, b);
    else if constexpr (O == Op::Ldexp) return rules::ldexp(a, b);
    else if constexpr (O == Op::Exponent) return rules::exponent(a);
    else if constexpr (O == Op::Gcd) return rules::gcd(a, b);
    else if constexpr (O == Op::Lcm) return rules::lcm(a, b);
    else if constexpr (O == Op::BitCount) return static_cast<std::uint8_t>(rules::bit_count(a));
    // A row of ops.def without a rule here does not compile.
}
// clang-format on

template <class From, class To>
To converted(From a);
/// float32 has no int32 next below -2^31, float64 has: -2^31 - 0.5 truncates to a value in range.
template <>
std::int32_t converted<double, std::int32_t>(double a) {
    return a > -2147483649.0 && a < 2147483648.0 ? static_cast<std::int32_t>(a)
                                                 : std::numeric_limits<std::int32_t>::min();
}
template <class From, class To>
To converted(From a) {
    if constexpr (std::is_same_v<From, To>) {
        return a;
    } else if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, std::uint32_t>) {
        return static_cast<To>(converted<float, std::int64_t>(a));
    } else if constexpr (std::is_same_v<From, Half>) {
        return converted<float, To>(a);
    } else if constexpr (std::is_same_v<To, Half>) {
        return Half(a);
    } else if constexpr (is_flag<To>) {
        return a != From{0};
    } else if constexpr (is_real<From> && is_whole<To> && sizeof(To) < 4) {
        return static_cast<To>(converted<From, std::int32_t>(a));
    } else if constexpr (is_real<From> && is_whole<To> && std::is_unsigned_v<To>) {
        // The upper half of the range as the lower one, with the top bit set.
        using Signed = std::make_signed_t<To>;
        const From half = std::ldexp(From{1}, width<To> - 1);
        if (!(a >= half)) return static_cast<To>(converted<From, Signed>(a));
        return static_cast<To>(static_cast<To>(converted<From, Signed>(a - half)) ^
                               (To{1} << (width<To> - 1)));
    } else if constexpr (is_real<From> && is_whole<To>) {
        // 2^(width-1) is exact in both float formats; the comparison is false for NaN.
        const From limit = std::ldexp(From{1}, width<To> - 1);
        return a >= -limit && a < limit ? static_cast<To>(a) : std::numeric_limits<To>::min();
    } else {
        return static_cast<To>(a);
    }
}

template <class T>
T from_bits(std::uint64_t bits) {
    return Scalar{bits, DType::Float64}.get<T>();
}
template <class T>
std::uint64_t to_bits(T value) {
    Scalar s;
    s.set(value);
    return s.bits;
}

template <Op O, class T>
std::uint64_t apply_bits(std::uint64_t a, std::uint64_t b) {
    if constexpr (std::is_same_v<T, Half>) {
        const auto x = from_bits<Half>(a), y = from_bits<Half>(b);
        if constexpr (O == Op::NextAfter) return to_bits(next_after(x, y));
        auto result = apply<O, float>(x, y);
        if constexpr (std::is_same_v<decltype(result), float>) return to_bits(Half(result));
        return to_bits(result);
    } else {
        return to_bits(apply<O>(from_bits<T>(a), from_bits<T>(b)));
    }
}
template <Op O, class T>
constexpr ScalarFunction function_of() {
    if constexpr (defined_on<O, T>()) {
        return &apply_bits<O, T>;
    } else {
        return nullptr;
    }
}
template <Op O>
constexpr std::array<ScalarFunction, dtype_count> functions_of = {
#define UNISONO_DTYPE(Name, ctype, ...) function_of<O, ctype>(),
#define UNISONO_COMPLEX_DTYPE(...) nullptr,
#include "core/dtype.def"
};
constexpr std::array<ScalarFunction, dtype_count> functions[] = {
#define UNISONO_OP(Name, ...) functions_of<Op::Name>,
#include "ops/ops.def"
};

template <class From, class To>
std::uint64_t convert_bits(std::uint64_t a) {
    return to_bits(converted<From, To>(from_bits<From>(a)));
}
template <class From>
constexpr std::array<CastFunction, dtype_count> casts_of = {
#define UNISONO_DTYPE(Name, ctype, ...) &convert_bits<From, ctype>,
#define UNISONO_COMPLEX_DTYPE(...) nullptr,
#include "core/dtype.def"
};
constexpr std::array<CastFunction, dtype_count> casts[] = {
#define UNISONO_DTYPE(Name, ctype, ...) casts_of<ctype>,
#define UNISONO_COMPLEX_DTYPE(...) {},
#include "core/dtype.def"
};

}  // namespace

ScalarFunction scalar_function(Op op, DType t) {
    return functions[static_cast<std::size_t>(op)][static_cast<std::size_t>(t)];
}

CastFunction cast_function(DType from, DType to) {
    return casts[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

Scalar eval(Op op, Scalar a, Scalar b) {
    ScalarFunction f = scalar_function(op, a.dtype);
    UNISONO_ASSERT(f != nullptr && (info(op).arity == 1 || a.dtype == b.dtype));
    return {f(a.bits, b.bits), *result_dtype(op, a.dtype)};
}

Scalar cast(Scalar a, DType t) { return {cast_function(a.dtype, t)(a.bits), t}; }

Scalar fused_multiply_add(Scalar a, Scalar b, Scalar c) {
    UNISONO_ASSERT(is_float(a.dtype) && a.dtype == b.dtype && b.dtype == c.dtype);
    if (a.dtype == DType::Float32)
        return Scalar::of(a.dtype, std::fma(a.get<float>(), b.get<float>(), c.get<float>()));
    return Scalar::of(a.dtype, std::fma(a.get<double>(), b.get<double>(), c.get<double>()));
}

}  // namespace unisono
