// Every scalar operation and cast, compiled for the host, gives ops/scalar_eval's bits, special
// values included.
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/backend.h"
#include "gtest/gtest.h"
#include "ir/build.h"
#include "ops/math.h"
#include "ops/scalar_eval.h"
#include "unit/tape/host_arrays.h"

using namespace unisono;
using namespace unisono::ir;
using unisono::testing::HostArrays;

namespace {

/// Values at which operations go wrong: zeros, ones, limits, halves, huge, infinite, not a number.
template <class T>
std::vector<T> special_values() {
    using L = std::numeric_limits<T>;
    std::vector<T> v;
    if constexpr (std::is_same_v<T, bool>) {
        return {false, true};
    } else if constexpr (L::has_infinity) {
        for (double x : {0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 7.0, 100.25, 255.5, 300.0, 2147483647.0,
                         2147483648.0, 2147483648.5, 4294967296.0, 9.2e18, 9.3e18, 1e-300, 0.1}) {
            v.push_back(static_cast<T>(x));
            v.push_back(static_cast<T>(-x));
        }
        for (T x : {L::infinity(), L::max(), L::min(), L::denorm_min(), L::epsilon()}) {
            v.push_back(x);
            v.push_back(static_cast<T>(-x));
        }
        v.push_back(L::quiet_NaN());
    } else {
        for (int x : {0, 1, 2, 3, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100}) {
            v.push_back(static_cast<T>(x));
            v.push_back(static_cast<T>(-x));
        }
        for (int d = 0; d < 3; ++d) {
            v.push_back(static_cast<T>(L::max() - d));
            v.push_back(static_cast<T>(L::min() + d));
        }
    }
    return v;
}

/// Equal bits; the sign and payload of NaN do not count.
template <class T>
bool same(T a, T b) {
    if constexpr (std::numeric_limits<T>::has_infinity) {
        if (a != a || b != b) return a != a && b != b;
    }
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// One byte per bool, as arrays hold them.
template <class T>
using Element = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

/// Runs out[i] = value(a[i], b[i]) over n elements in a parallel or a serial loop.
template <class MakeValue>
void run_loop(DType in, DType result, HostArrays& arrays, LoopKind kind, MakeValue value) {
    Module m;
    Builder b(m.functions.emplace_back("elementwise"));
    auto x = b.array_param("a", in, 1, false);
    auto y = b.array_param("b", in, 1, false);
    auto out = b.array_param("out", result, 1, true);
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    S body = b.store(out, at, value(b, b.load(x, at), b.load(y, at)));
    b.function().body = b.block({b.loop(kind, i, b.i64(0), b.extent(out, 0), b.i64(1), body)});
    auto executable = find_device("cpu").compile(std::move(m), {});
    LaunchArgs args;
    args.arrays = arrays.args();
    EXPECT_EQ(executable->launch(args).site, -1);
}

/// All pairs of special values of T.
template <class T>
void all_pairs(std::vector<Element<T>>& a, std::vector<Element<T>>& b) {
    auto values = special_values<T>();
    for (T x : values) {
        for (T y : values) {
            a.push_back(static_cast<Element<T>>(x));
            b.push_back(static_cast<Element<T>>(y));
        }
    }
}

template <class T>
void check_operation(Op op, DType t, LoopKind kind) {
    std::vector<Element<T>> a, b;
    all_pairs<T>(a, b);
    DType result = *result_dtype(op, t);
    dispatch(result, [&]<class R>() {
        std::vector<Element<R>> out(a.size());
        std::vector<std::int64_t> shape{static_cast<std::int64_t>(a.size())};
        HostArrays arrays;
        arrays.add(a, shape).add(b, shape).add(out, shape);
        run_loop(t, result, arrays, kind, [&](Builder& builder, E x, E y) {
            return info(op).arity == 1 ? builder.unary(op, x) : builder.binary(op, x, y);
        });
        for (std::size_t i = 0; i < a.size(); ++i) {
            Scalar want =
                eval(op, Scalar::of(t, static_cast<T>(a[i])), Scalar::of(t, static_cast<T>(b[i])));
            ASSERT_TRUE(same(static_cast<R>(out[i]), want.get<R>()))
                << name(op) << " of " << name(t) << ": " << +a[i] << ", " << +b[i] << " gave "
                << +out[i] << ", want " << +want.get<R>();
        }
    });
}

}  // namespace

class CpuOperation : public ::testing::TestWithParam<int> {};

TEST_P(CpuOperation, GivesTheReferenceBits) {
    Op op = static_cast<Op>(GetParam());
    for (int d = 0; d < real_dtype_count; ++d) {
        auto t = static_cast<DType>(d);
        if (!result_dtype(op, t)) continue;
        // Neighbours of float16 come from the array's bits (tape/record/record.cpp).
        if (op == Op::NextAfter && is_half(t)) continue;
        for (LoopKind kind : {LoopKind::Parallel, LoopKind::Serial})
            dispatch(t, [&]<class T>() { check_operation<T>(op, t, kind); });
    }
}

INSTANTIATE_TEST_SUITE_P(All, CpuOperation, ::testing::Range(0, op_count), [](const auto& tested) {
    return std::string(name(static_cast<Op>(tested.param)));
});

TEST(Cpu, CastsGiveTheReferenceBits) {
    for (int from = 0; from < real_dtype_count; ++from) {
        for (int to = 0; to < real_dtype_count; ++to) {
            auto f = static_cast<DType>(from), t = static_cast<DType>(to);
            dispatch(f, [&]<class F>() {
                dispatch(t, [&]<class T>() {
                    std::vector<Element<F>> a, b;
                    all_pairs<F>(a, b);
                    std::vector<Element<T>> out(a.size());
                    std::vector<std::int64_t> shape{static_cast<std::int64_t>(a.size())};
                    HostArrays arrays;
                    arrays.add(a, shape).add(b, shape).add(out, shape);
                    run_loop(f, t, arrays, LoopKind::Vector,
                             [&](Builder& builder, E x, E) { return builder.cast(x, t); });
                    for (std::size_t i = 0; i < a.size(); ++i) {
                        Scalar want = cast(Scalar::of(f, static_cast<F>(a[i])), t);
                        ASSERT_TRUE(same(static_cast<T>(out[i]), want.get<T>()))
                            << name(f) << " " << +a[i] << " to " << name(t) << " gave " << +out[i];
                    }
                });
            });
        }
    }
}

TEST(Cpu, NothingContracts) {
    // a * b - c where the exact product differs from the rounded one: fused, the result would not
    // be 0.
    std::vector<double> a(67, 1 + 0x1p-30), b(67, 1 - 0x1p-30), out(67, -1);
    std::vector<std::int64_t> shape{67};
    HostArrays arrays;
    arrays.add(a, shape).add(b, shape).add(out, shape);
    run_loop(DType::Float64, DType::Float64, arrays, LoopKind::Parallel,
             [](Builder& builder, E x, E y) {
                 return builder.sub(builder.mul(x, y),
                                    builder.constant(Scalar::of(DType::Float64, 1.0)));
             });
    for (double v : out) ASSERT_EQ(v, 0.0);
    run_loop(DType::Float64, DType::Float64, arrays, LoopKind::Parallel,
             [](Builder& builder, E x, E y) {
                 return builder.fma(x, y, builder.constant(Scalar::of(DType::Float64, -1.0)));
             });
    for (double v : out) ASSERT_EQ(v, -0x1p-60);
}

TEST(Cpu, FunctionsGiveTheSameBitsWhereverAVectorEnds) {
    for (int k = 0; k < op_count; ++k) {
        Op op = static_cast<Op>(k);
        if (info(op).rule != OpRule::Math || info(op).arity != 1) continue;
        for (std::int64_t n : {1, 2, 3, 7, 9, 16, 17, 31, 33, 70}) {
            std::vector<float> a(static_cast<std::size_t>(n)), out(a.size());
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i) * 0.37f - 9.1f;
            HostArrays arrays;
            arrays.add(a, {n}).add(a, {n}).add(out, {n});
            run_loop(DType::Float32, DType::Float32, arrays, LoopKind::Vector,
                     [&](Builder& builder, E x, E) { return builder.unary(op, x); });
            for (std::size_t i = 0; i < a.size(); ++i)
                ASSERT_TRUE(same(out[i], math::call(op, a[i])))
                    << name(op) << " " << i << " of " << n;
        }
    }
}
