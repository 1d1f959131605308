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
    ASSERT_TRUE(unisono::math::available());
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

TYPED_TEST(BlockMath, ErrorIsAtMostOneUlp) {
    using T = TypeParam;
    auto check = [](T x, T got, long double exact) {
        if (std::isnan(x) || std::isinf(got) || std::fabs(got) < std::numeric_limits<T>::min())
            return;
        long double ulp = std::nextafter(std::fabs(got), std::numeric_limits<T>::infinity()) -
                          static_cast<long double>(std::fabs(got));
        ASSERT_LE(std::fabs(got - exact), ulp) << x;
    };
    for (T x : operands<T>()) {
        if (!(std::fabs(x) <= 1000)) continue;
        check(x, call(Op::Exp, x), std::exp(static_cast<long double>(x)));
        check(x, call(Op::Sin, x), std::sin(static_cast<long double>(x)));
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
