// The loops on complex elements, one table for all processors: plain C++ over
// ops/complex_rules.h.
#include <array>
#include <cstring>

#include "backends/block/loops.h"
#include "ops/complex_rules.h"
#include "ops/reduction_tree.h"
#include "ops/scalar_eval.h"

namespace unisono::block {
namespace {

using rules::Complex;

// clang-format off
template <Op O, class R> auto apply(Complex<R> a, [[maybe_unused]] Complex<R> b) {
    if constexpr (O == Op::Neg) return -a;
    else if constexpr (O == Op::Abs) return rules::absolute(a);
    else if constexpr (O == Op::Sign) return rules::sign(a);
    else if constexpr (O == Op::Rint) return Complex<R>(std::rint(a.real()), std::rint(a.imag()));
    else if constexpr (O == Op::Sqrt) return std::sqrt(a);
    else if constexpr (O == Op::Exp) return std::exp(a);
    else if constexpr (O == Op::Exp2) return rules::exp2(a);
    else if constexpr (O == Op::Expm1) return rules::expm1(a);
    else if constexpr (O == Op::Log) return std::log(a);
    else if constexpr (O == Op::Log2) return rules::log2(a);
    else if constexpr (O == Op::Log10) return std::log10(a);
    else if constexpr (O == Op::Log1p) return rules::log1p(a);
    else if constexpr (O == Op::Sin) return std::sin(a);
    else if constexpr (O == Op::Cos) return std::cos(a);
    else if constexpr (O == Op::Tan) return std::tan(a);
    else if constexpr (O == Op::Asin) return std::asin(a);
    else if constexpr (O == Op::Acos) return std::acos(a);
    else if constexpr (O == Op::Atan) return std::atan(a);
    else if constexpr (O == Op::Sinh) return std::sinh(a);
    else if constexpr (O == Op::Cosh) return std::cosh(a);
    else if constexpr (O == Op::Tanh) return rules::tanh(a);
    else if constexpr (O == Op::Asinh) return std::asinh(a);
    else if constexpr (O == Op::Acosh) return std::acosh(a);
    else if constexpr (O == Op::Atanh) return std::atanh(a);
    else if constexpr (O == Op::Add) return a + b;
    else if constexpr (O == Op::Sub) return a - b;
    else if constexpr (O == Op::Mul) return rules::product(a, b);
    else if constexpr (O == Op::Div) return rules::quotient(a, b);
    else if constexpr (O == Op::Power) return rules::power(a, b);
    else if constexpr (O == Op::Min) return rules::minimum(a, b);
    else if constexpr (O == Op::Max) return rules::maximum(a, b);
    else if constexpr (O == Op::Fmin) return rules::fmin(a, b);
    else if constexpr (O == Op::Fmax) return rules::fmax(a, b);
    else if constexpr (O == Op::Lt) return rules::less(a, b);
    else if constexpr (O == Op::Le) return rules::less_equal(a, b);
    else if constexpr (O == Op::Gt) return rules::less(b, a);
    else if constexpr (O == Op::Ge) return rules::less_equal(b, a);
    else if constexpr (O == Op::Eq) return rules::equal(a, b);
    else if constexpr (O == Op::Ne) return !rules::equal(a, b);
    else if constexpr (O == Op::IsNan) return rules::is_nan(a);
    else if constexpr (O == Op::IsInf) return rules::is_inf(a);
    else if constexpr (O == Op::IsFinite) return rules::is_finite(a);
    // An operation that ops.h defines on complex dtypes without a rule here does not compile.
}
// clang-format on

template <Op O, class R, bool OneA, bool OneB>
void operation_loop(char* out, const char* a, const char* b, const char*, std::int64_t count) {
    const auto* x = reinterpret_cast<const Complex<R>*>(a);
    const auto* y = reinterpret_cast<const Complex<R>*>(b);
    auto* r = reinterpret_cast<decltype(apply<O, R>(*x, *y))*>(out);
    const Complex<R> x0 = *x;
    const Complex<R> y0 = *y;
    for (std::int64_t i = 0; i < count; ++i) r[i] = apply<O, R>(OneA ? x0 : x[i], OneB ? y0 : y[i]);
}

template <class R, class To>
void cast_loop(char* out, const char* a, const char*, const char*, std::int64_t count) {
    const auto* x = reinterpret_cast<const Complex<R>*>(a);
    auto* r = reinterpret_cast<To*>(out);
    constexpr DType part = sizeof(R) == 4 ? DType::Float32 : DType::Float64;
    if constexpr (std::is_same_v<To, bool>) {
        for (std::int64_t i = 0; i < count; ++i) r[i] = x[i].real() != 0 || x[i].imag() != 0;
    } else if constexpr (std::is_integral_v<To>) {
        constexpr DType to = dtype_of(std::is_signed_v<To> ? 'i' : 'u', sizeof(To));
        const CastFunction convert = cast_function(part, to);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::uint64_t bits = convert(Scalar::of(part, x[i].real()).bits);
            std::memcpy(&r[i], &bits, sizeof(To));
        }
    } else if constexpr (std::is_floating_point_v<To>) {
        for (std::int64_t i = 0; i < count; ++i) r[i] = static_cast<To>(x[i].real());
    } else {
        using P = typename To::value_type;
        for (std::int64_t i = 0; i < count; ++i)
            r[i] = {static_cast<P>(x[i].real()), static_cast<P>(x[i].imag())};
    }
}

template <class From, class R>
void widen_loop(char* out, const char* a, const char*, const char*, std::int64_t count) {
    const auto* x = reinterpret_cast<const From*>(a);
    auto* r = reinterpret_cast<Complex<R>*>(out);
    for (std::int64_t i = 0; i < count; ++i) r[i] = {static_cast<R>(x[i]), R(0)};
}

template <int Form>
void select_loop(char* out, const char* a, const char* b, const char* c, std::int64_t count) {
    const auto* condition = reinterpret_cast<const std::uint8_t*>(a);
    const auto* x = reinterpret_cast<const Complex<double>*>(b);
    const auto* y = reinterpret_cast<const Complex<double>*>(c);
    auto* r = reinterpret_cast<Complex<double>*>(out);
    const std::uint8_t condition0 = *condition;
    const Complex<double> x0 = *x, y0 = *y;
    for (std::int64_t i = 0; i < count; ++i) {
        const Complex<double> yes = Form & 2 ? x0 : x[i], no = Form & 4 ? y0 : y[i];
        r[i] = (Form & 1 ? condition0 : condition[i]) ? yes : no;
    }
}

template <Op O, class R>
void leaf_loop(char* out, const char* x, std::int64_t count) {
    Complex<R> result = reduction::combine_leaf(reinterpret_cast<const Complex<R>*>(x), count,
                                                [](auto a, auto b) { return apply<O, R>(a, b); });
    std::memcpy(out, &result, sizeof result);
}

template <Op O, class R>
void leaves_loop(char* out, const char* x, std::int64_t count, std::int64_t rows) {
    constexpr std::int64_t bytes = sizeof(Complex<R>);
    for (; rows > 0; --rows, out += bytes, x += count * bytes) leaf_loop<O, R>(out, x, count);
}

using Forms = std::array<Loop, 8>;

template <Op O, class R>
constexpr Forms forms_of() {
    if constexpr (!defined_on_complex(O)) {
        return {};
    } else if constexpr (info(O).arity == 1) {
        return {&operation_loop<O, R, false, false>};
    } else {
        return {&operation_loop<O, R, false, false>, &operation_loop<O, R, true, false>,
                &operation_loop<O, R, false, true>};
    }
}

template <class R>
constexpr Forms operations[] = {
#define UNISONO_OP(Name, ...) forms_of<Op::Name, R>(),
#include "ops/ops.def"
};

template <class R>
constexpr Forms casts_to[] = {
#define UNISONO_DTYPE(Name, ctype, ...) Forms{&cast_loop<R, ctype>},
#define UNISONO_HALF_DTYPE(...) Forms{},
#include "core/dtype.def"
};

template <class R>
constexpr Forms casts_from[] = {
#define UNISONO_DTYPE(Name, ctype, ...) Forms{&widen_loop<ctype, R>},
#define UNISONO_HALF_DTYPE(...) Forms{},
#define UNISONO_COMPLEX_DTYPE(...) Forms{},
#include "core/dtype.def"
};

constexpr Forms selects = {&select_loop<0>, &select_loop<1>, &select_loop<2>, &select_loop<3>,
                           &select_loop<4>, &select_loop<5>, &select_loop<6>, nullptr};

struct Leaves {
    LeafLoop one = nullptr;
    LeavesLoop rows = nullptr;
};
template <Op O, class R>
constexpr Leaves leaves_of() {
    if constexpr (info(O).identity != "none" && defined_on_complex(O)) {
        return {&leaf_loop<O, R>, &leaves_loop<O, R>};
    } else {
        return {};
    }
}
template <class R>
constexpr Leaves leaves[] = {
#define UNISONO_OP(Name, ...) leaves_of<Op::Name, R>(),
#include "ops/ops.def"
};

constexpr std::size_t at(Op op) { return static_cast<std::size_t>(op); }
constexpr std::size_t at(DType t) { return static_cast<std::size_t>(t); }
constexpr bool is_single(DType t) { return t == DType::Complex64; }

LoopForms found(const Forms& forms) { return forms[0] ? forms.data() : nullptr; }

}  // namespace

LoopTable loops_complex() {
    return {
        [](Op op, DType t) {
            return found(is_single(t) ? operations<float>[at(op)] : operations<double>[at(op)]);
        },
        [](DType from, DType to) {
            if (is_complex(from))
                return found(is_single(from) ? casts_to<float>[at(to)] : casts_to<double>[at(to)]);
            return found(is_single(to) ? casts_from<float>[at(from)]
                                       : casts_from<double>[at(from)]);
        },
        [](DType) { return selects.data(); },
        [](Op op, DType t) { return (is_single(t) ? leaves<float> : leaves<double>)[at(op)].one; },
        [](Op op, DType t) { return (is_single(t) ? leaves<float> : leaves<double>)[at(op)].rows; },
    };
}

}  // namespace unisono::block
