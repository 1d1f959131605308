// Array forms of mathematical functions give the bits of their scalar forms, wherever an array
// ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "ops/math.h"

namespace {

using unisono::Op;
using unisono::math::call;
using unisono::math::run;

template <class T>
class BlockMath : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlockMath, Floats);

template <class T>
std::vector<T> operands() {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    using L = std::numeric_limits<T>;
    std::vector<T> x = {
        0,        T(-0.0),   L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(),
        L::min(), -L::min(), L::max(),      L::lowest(),    T(88.5),        T(709.5),
        T(-745),  T(1e30)};
    std::mt19937_64 random(7);
    while (x.size() < 20011) {
        x.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
        x.push_back(std::uniform_real_distribution<T>(-30, 30)(random));
        x.push_back(std::uniform_real_distribution<T>(-1000, 1000)(random));
    }
    return x;
}

template <class T>
bool same(T a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class T, class ArrayForm, class ScalarForm>
void expect_same_bits(ArrayForm array_form, ScalarForm scalar_form) {
    std::vector<T> in = operands<T>();
    std::vector<T> out(in.size());
    for (std::size_t length : {in.size(), std::size_t{1}, std::size_t{3}, std::size_t{10},
                               std::size_t{17}, std::size_t{31}}) {
        for (std::size_t i = 0; i < in.size(); i += length) {
            std::size_t count = std::min(length, in.size() - i);
            array_form(in.data() + i, out.data() + i, static_cast<std::int64_t>(count));
        }
        for (std::size_t i = 0; i < in.size(); ++i)
            ASSERT_TRUE(same(out[i], scalar_form(in[i]))) << in[i] << " in arrays of " << length;
    }
}

TYPED_TEST(BlockMath, ArraysAndScalarsGiveTheSameBits) {
    using T = TypeParam;
    for (int k = 0; k < unisono::op_count; ++k) {
        Op op = static_cast<Op>(k);
        if (!unisono::is_math(op)) continue;
        SCOPED_TRACE(std::string(unisono::name(op)));
        const T second = T(1.25);
        expect_same_bits<T>(
            [&](const T* in, T* out, std::int64_t n) {
                run(op, {in}, {&second, true}, out, n);
            },
            [&](T x) { return call(op, x, second); });
        expect_same_bits<T>(
            [&](const T* in, T* out, std::int64_t n) { run(op, {in}, {in}, out, n); },
            [&](T x) { return call(op, x, x); });
        if (::testing::Test::HasFatalFailure()) return;
    }
}

/// Distance to the exact value in units of the last place; 0 where both are infinite or not
/// numbers.
template <class T>
double ulps(T got, long double exact) {
    using L = std::numeric_limits<T>;
    if (std::isnan(got)) return exact != exact ? 0 : HUGE_VAL;
    const auto nearest = static_cast<T>(exact);
    if (std::isinf(nearest) || std::isinf(got)) {
        // Where rounding overflows, the largest number is half an ulp or less away.
        return nearest == got || std::fabs(nearest) == L::max() || std::fabs(got) == L::max()
                   ? 0
                   : HUGE_VAL;
    }
    const int exponent = nearest == 0 ? -10000 : std::ilogb(nearest);
    const T ulp = std::max(std::ldexp(T(1), exponent - L::digits + 1), L::denorm_min());
    const long double error = got - exact;
    return static_cast<double>(std::fabs(error) / ulp);
}

/// Arguments over the whole range: all magnitudes, around 0 and 1, near multiples of pi/2.
template <class T>
std::vector<T> arguments() {
    std::vector<T> x = operands<T>();
    std::mt19937_64 random(11);
    for (int k = 0; k < 20000; ++k) {
        x.push_back(std::uniform_real_distribution<T>(-2, 2)(random));
        x.push_back(1 + std::ldexp(std::uniform_real_distribution<T>(-1, 1)(random), -k % 50));
        auto turns = static_cast<double>(random() >> (16 + k % 48));
        x.push_back(std::nextafter(static_cast<T>(turns * 1.5707963267948966),
                                   k % 2 ? std::numeric_limits<T>::max() : T(0)));
        x.push_back(std::uniform_real_distribution<T>(sizeof(T) == 8 ? -746 : -104,
                                                      sizeof(T) == 8 ? 710 : 89)(random));
    }
    x.push_back(static_cast<T>(6381956970095103.0 * 0x1p797));  // nearest to a multiple of pi/2
    return x;
}

TYPED_TEST(BlockMath, OurFunctionsAreWithinOneUlp) {
    using T = TypeParam;
    struct Function {
        Op op;
        long double (*exact)(long double);
        double limit;
    };
    for (const Function& f : {
             Function{Op::Exp, std::exp, 0.9},     Function{Op::Sin, std::sin, 0.9},
             Function{Op::Cos, std::cos, 0.9},     Function{Op::Tan, std::tan, 1},
             Function{Op::Exp2, std::exp2, 0.9},   Function{Op::Expm1, std::expm1, 1},
             Function{Op::Log, std::log, 0.6},     Function{Op::Log2, std::log2, 0.6},
             Function{Op::Log10, std::log10, 0.6}, Function{Op::Log1p, std::log1p, 0.9},
             Function{Op::Sinh, std::sinh, 1},     Function{Op::Cosh, std::cosh, 1},
             Function{Op::Tanh, std::tanh, 0.9},   Function{Op::Asin, std::asin, 0.7},
             Function{Op::Acos, std::acos, 0.7},   Function{Op::Atan, std::atan, 0.8},
             Function{Op::Asinh, std::asinh, 0.7}, Function{Op::Acosh, std::acosh, 0.7},
             Function{Op::Atanh, std::atanh, 0.7}, Function{Op::Cbrt, std::cbrt, 0.51},
         }) {
        double worst = 0;
        T at = 0;
        for (T x : arguments<T>()) {
            const double error = ulps(call(f.op, x), f.exact(x));
            if (error > worst) {
                worst = error;
                at = x;
            }
        }
        EXPECT_LE(worst, sizeof(T) == 8 ? f.limit : 0.51)
            << unisono::name(f.op) << " of " << std::hexfloat << at;
    }
}

TYPED_TEST(BlockMath, OurFunctionsOfTwoNumbersAreWithinOneUlp) {
    using T = TypeParam;
    struct Function {
        Op op;
        long double (*exact)(long double, long double);
        double limit;
    };
    const std::vector<T> x = arguments<T>();
    std::mt19937_64 random(13);
    for (const Function& f :
         {Function{Op::Power, std::pow, 0.9}, Function{Op::Atan2, std::atan2, 0.8},
          Function{Op::Hypot, std::hypot, 0.75}}) {
        double worst = 0;
        T at[2] = {};
        for (T a : x) {
            // Any other argument, or one of about the same size.
            T b = x[random() % x.size()];
            if (random() % 3 == 0) b = a * std::uniform_real_distribution<T>(-3, 3)(random);
            const double error = ulps(call(f.op, a, b), f.exact(a, b));
            if (error > worst) {
                worst = error;
                at[0] = a;
                at[1] = b;
            }
        }
        EXPECT_LE(worst, sizeof(T) == 8 ? f.limit : 0.51)
            << unisono::name(f.op) << " of " << std::hexfloat << at[0] << ", " << at[1];
    }
}

TYPED_TEST(BlockMath, PowersOfSpecialNumbersAreThoseOfTheStandard) {
    using T = TypeParam;
    const T infinity = std::numeric_limits<T>::infinity(), nan = std::nan("");
    const T numbers[] = {0,
                         T(-0.0),
                         1,
                         -1,
                         2,
                         -2,
                         3,
                         -3,
                         T(0.5),
                         T(-0.5),
                         infinity,
                         -infinity,
                         nan,
                         std::numeric_limits<T>::max(),
                         std::numeric_limits<T>::denorm_min()};
    for (T x : numbers) {
        for (T y : numbers) {
            for (auto [op, want] :
                 {std::pair{Op::Power, std::pow(x, y)}, std::pair{Op::Atan2, std::atan2(x, y)},
                  std::pair{Op::Hypot, std::hypot(x, y)}}) {
                const T got = call(op, x, y);
                const bool near = std::fabs(got - want) <= std::fabs(want) * T(1e-6);
                ASSERT_TRUE(same(got, want) || (want != 0 && near))
                    << unisono::name(op) << " of " << x << ", " << y << ": " << got;
            }
        }
    }
}

TYPED_TEST(BlockMath, WorksInPlace) {
    using T = TypeParam;
    std::vector<T> in = operands<T>();
    std::vector<T> x = in;
    run(Op::Exp, {x.data()}, {}, x.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_TRUE(same(x[i], call(Op::Exp, in[i])));
}

}  // namespace
