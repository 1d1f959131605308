// What seldom runs becomes a function of its own, with what it uses and what it assigns; the cpu
// compiles it when it is called.
#include "passes/cleanup/cold_splitting.h"

#include <gtest/gtest.h>

#include "backends/backend.h"
#include "passes/lowering/hoist_bounds.h"
#include "unit/tape/host_arrays.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// total = sum of u[i + first] * scale for i below n; last = the last index.
struct Sum {
    Sum() {
        b.function().results = {DType::Float64, DType::Int64};
        b.function().polls = true;
    }
    Module module;
    Builder b{module.functions.emplace_back("sum")};
    std::int32_t u = b.array_param("u", DType::Float64, 1, false, {StrideClass::One});
    std::int32_t n = b.scalar_param("n", DType::Int64);
    std::int32_t first = b.scalar_param("first", DType::Int64);
    std::int32_t scale = b.var("scale", DType::Float64), total = b.var("total", DType::Float64),
                 last = b.var("last", DType::Int64), i = b.var("i", DType::Int64);

    void build(bool returns_early = false) {
        E at = b.add(b.read(i), b.param(first));
        E value = b.mul(b.load(u, {at}, Access::Checked), b.read(scale));
        S add = b.block({b.assign(total, b.add(b.read(total), value)), b.assign(last, at)});
        E results[] = {b.read(total), b.read(last)};
        if (returns_early) {
            E is_large = b.binary(Op::Gt, b.read(total), b.constant(Scalar::of(DType::Float64, 9)));
            add = b.block({add, b.branch(is_large, b.ret(results))});
        }
        b.function().body = b.block(
            {b.declare(scale, b.constant(Scalar::of(DType::Float64, 2.0))),
             b.declare(total, b.constant(Scalar::of(DType::Float64, 0.0))),
             b.declare(last, b.i64(-1)),
             b.loop(LoopKind::Serial, i, b.i64(0), b.param(n), b.i64(1), add), b.ret(results)});
        verify(module);
    }
};

}  // namespace

TEST(DeferRare, TheCheckedVersionBecomesAFunction) {
    Sum sum;
    sum.build();
    passes::hoist_bounds(sum.module);
    passes::cold_splitting(sum.module, "checked");
    verify(sum.module);
    ASSERT_EQ(sum.module.functions.size(), 2u);
    EXPECT_TRUE(sum.module.functions[1].is_deferred);
    std::string text = print(sum.module);
    EXPECT_NE(text.find("  else rarely:\n    total, last = call sum.checked(u; n, first, scale, "
                        "total, last)\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("deferred function sum.checked(u: float64[1] readonly, n: int64, first: "
                        "int64, scale.before: float64, total.before: float64, last.before: int64) "
                        "-> float64, int64\n"),
              std::string::npos)
        << text;
}

TEST(DeferRare, WhatReturnsStays) {
    Sum sum;
    sum.build(true);
    passes::hoist_bounds(sum.module);
    passes::cold_splitting(sum.module, "checked");
    verify(sum.module);
    EXPECT_EQ(sum.module.functions.size(), 1u);
}

TEST(DeferRare, TheCpuCompilesItWhenItIsCalled) {
    if (!find_backend("cpu") || find_backend("cpu")->devices().empty())
        GTEST_SKIP() << "no compiler";
    Sum sum;
    sum.build();
    CompileOptions options;
    options.use_cache = false;
    auto executable = find_device("cpu").compile(std::move(sum.module), options);
    std::vector<double> data{1, 2, 3, 4};
    auto run = [&](std::int64_t n, std::int64_t first, std::uint64_t* results) {
        unisono::testing::HostArrays arrays;
        arrays.add(data, {4});
        std::uint64_t scalars[] = {static_cast<std::uint64_t>(n),
                                   static_cast<std::uint64_t>(first)};
        LaunchArgs args;
        args.arrays = arrays.args();
        args.scalars = scalars;
        args.results = {results, 2};
        return executable->launch(args);
    };
    std::uint64_t results[2] = {0, 0};
    EXPECT_EQ(run(3, 1, results).site, -1);
    EXPECT_EQ((Scalar{results[0], DType::Float64}).get<double>(), 18.0);
    EXPECT_EQ(results[1], 3u);
    for (int again = 0; again < 2; ++again) {
        Fault fault = run(4, 1, results);
        ASSERT_GE(fault.site, 0);
        EXPECT_EQ(executable->sites()[static_cast<std::size_t>(fault.site)].kind, ErrorKind::Index);
        EXPECT_EQ(fault.values[0], 4);
        EXPECT_EQ(fault.values[1], 4);
    }
}
