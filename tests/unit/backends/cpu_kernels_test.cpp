// Whole kernels, compiled for the host: the interpreter's results and faults, for any number of
// threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "backends/backend.h"
#include "core/error.h"
#include "ir/build.h"
#include "unit/backends/opencl_samples.h"
#include "unit/tape/any_arguments.h"
#include "unit/tape/host_arrays.h"

using namespace unisono;
using namespace unisono::ir;
using unisono::testing::AnyArguments;
using unisono::testing::HostArrays;

namespace {

/// out[i] = 1 for i < n, but iterations `a` and `b` raise.
Module faults_at(std::int64_t a, std::int64_t b) {
    Module m;
    Builder builder(m.functions.emplace_back("faults"));
    auto out = builder.array_param("out", DType::Float64, 1, true);
    auto i = builder.var("i", DType::Int64);
    auto site = builder.site(ErrorKind::Value, "iteration {0}");
    E at[] = {builder.read(i)};
    E values[] = {builder.read(i)};
    E wrong = builder.binary(Op::Or, builder.binary(Op::Eq, at[0], builder.i64(a)),
                             builder.binary(Op::Eq, at[0], builder.i64(b)));
    S body =
        builder.block({builder.branch(wrong, builder.raise(site, values)),
                       builder.store(out, at, builder.constant(Scalar::of(DType::Float64, 1.0)))});
    builder.function().body = builder.block({builder.loop(
        LoopKind::Parallel, i, builder.i64(0), builder.extent(out, 0), builder.i64(1), body)});
    return m;
}

}  // namespace

TEST(CpuParallel, SamplesAgreeWithTheInterpreter) {
    for (const auto& sample : unisono::testing::sample_modules()) {
        SCOPED_TRACE(sample.name);
        Module module = sample.make();
        AnyArguments want(module.entry()), got(module.entry());
        Fault expected = want.run(find_device("interp"), sample.make(), 1);
        for (int threads : {1, 2, 3}) {
            AnyArguments again(module.entry());
            Fault fault = again.run(find_device("cpu"), sample.make(), threads);
            EXPECT_EQ(fault.site, expected.site);
            if (expected.site < 0) {
                EXPECT_EQ(again.data, want.data);
                EXPECT_EQ(again.results, want.results);
            } else {
                EXPECT_EQ(fault.iteration, expected.iteration);
                EXPECT_TRUE(std::equal(fault.values, fault.values + 4, expected.values));
            }
        }
    }
}

TEST(CpuParallel, LowestFaultWinsAndAllBeforeItIsDone) {
    auto executable = find_device("cpu").compile(faults_at(70'000, 30'011), {});
    for (int threads : {1, 2, 3}) {
        std::vector<double> out(200'000, 0.0);
        HostArrays arrays;
        arrays.add(out, {200'000});
        LaunchArgs args;
        args.arrays = arrays.args();
        args.threads = threads;
        Fault fault = executable->launch(args);
        ASSERT_EQ(fault.site, 0);
        EXPECT_EQ(fault.iteration, 30'011);
        EXPECT_EQ(fault.values[0], 30'011);
        for (std::size_t i = 0; i < 30'011; ++i) ASSERT_EQ(out[i], 1.0) << i;
    }
    EXPECT_EQ(executable->sites().size(), 1u);
}

TEST(CpuParallel, AStripCountsAllItsElements) {
    // What one run of the loop costs is the last argument: from it follows who is called to help.
    Module m;
    Builder b(m.functions.emplace_back("strips"));
    auto out = b.array_param("out", DType::Float64, 1, true, {StrideClass::One});
    auto run = b.var("run", DType::Int64), end = b.var("end", DType::Int64);
    auto i = b.var("i", DType::Int64);
    E begin = b.mul(b.read(run), b.i64(4096));
    E at[] = {b.read(i)};
    S fill = b.store(out, at, b.constant(Scalar::of(DType::Float64, 2.0)));
    S body =
        b.block({b.declare(end, b.binary(Op::Min, b.add(begin, b.i64(4096)), b.extent(out, 0))),
                 b.loop(LoopKind::Vector, i, begin, b.read(end), b.i64(1), fill)});
    E strips = b.binary(Op::FloorDiv, b.add(b.extent(out, 0), b.i64(4095)), b.i64(4096));
    b.function().body =
        b.block({b.loop(LoopKind::Parallel, run, b.i64(0), strips, b.i64(1), body)});
    std::string ir = find_device("cpu").compile(std::move(m), {})->source();
    auto call = ir.find("call i64 @unisono_parallel_for(");
    ASSERT_NE(call, std::string::npos) << ir;
    std::string arguments = ir.substr(call, ir.find(')', call) - call);
    arguments.resize(arguments.rfind(','));  // the loop's line
    EXPECT_GT(std::stoll(arguments.substr(arguments.rfind(' '))), 1000) << arguments;
}

TEST(CpuStreaming, StoresEveryElementAndNoOther) {
    // Every alignment of the destination, lengths from none to many vectors.
    Module m;
    Builder b(m.functions.emplace_back("stream"));
    auto a = b.array_param("a", DType::Float64, 1, false, {StrideClass::One});
    auto out = b.array_param("out", DType::Float64, 1, true, {StrideClass::One});
    auto flags = b.array_param("flags", DType::Bool, 1, true, {StrideClass::One});
    auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    E two = b.constant(Scalar::of(DType::Float64, 2.0));
    S body =
        b.block({b.store(out, at, b.mul(b.load(a, at), two), Access::Inside, true),
                 b.store(flags, at, b.binary(Op::Gt, b.load(a, at), two), Access::Inside, true)});
    b.function().body =
        b.block({b.loop(LoopKind::Vector, i, b.i64(0), b.extent(out, 0), b.i64(1), body)});
    auto executable = find_device("cpu").compile(std::move(m), {});
    for (std::int64_t n : {0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1300}) {
        for (std::int64_t first = 0; first < 9; ++first) {
            auto size = static_cast<std::size_t>(n + 20);
            std::vector<double> in(size), result(size, -1);
            std::vector<std::uint8_t> big(size, 9);
            std::iota(in.begin(), in.end(), -3.0);
            HostArrays arrays;
            arrays.add(in, {n}, {1}).add(result, {n}, {1}, first).add(big, {n}, {1}, first);
            LaunchArgs args;
            args.arrays = arrays.args();
            executable->launch(args);
            for (std::int64_t k = 0; k < n + 20; ++k) {
                auto at_k = static_cast<std::size_t>(k);
                bool inside = k >= first && k < first + n;
                double x = inside ? in[static_cast<std::size_t>(k - first)] : 0;
                ASSERT_EQ(result[at_k], inside ? 2 * x : -1)
                    << k << " n " << n << " first " << first;
                ASSERT_EQ(big[at_k], inside ? (x > 2) : 9) << k << " n " << n << " first " << first;
            }
        }
    }
}

TEST(CpuMemory, AnArrayBeyondMemoryIsAnErrorAndTheProcessLives) {
    Module m;
    Builder b(m.functions.emplace_back("huge"));
    auto n = b.scalar_param("n", DType::Int64);
    auto out = b.array_param("out", DType::Float64, 1, true);
    auto scratch = b.local_array("scratch", DType::Float64, 1, Space::Private);
    E extent[] = {b.param(n)};
    E at[] = {b.i64(0)};
    b.function().body = b.block({b.allocate(scratch, extent),
                                 b.store(scratch, at, b.constant(Scalar::of(DType::Float64, 2.0))),
                                 b.store(out, at, b.load(scratch, at))});
    auto executable = find_device("cpu").compile(std::move(m), {});
    std::vector<double> result(1);
    HostArrays arrays;
    arrays.add(result, {1});
    LaunchArgs args;
    args.arrays = arrays.args();
    for (std::int64_t wanted : {std::int64_t{1} << 58, std::int64_t{100}, std::int64_t{1} << 62}) {
        std::uint64_t scalars[] = {static_cast<std::uint64_t>(wanted)};
        args.scalars = scalars;
        try {
            executable->launch(args);
            EXPECT_EQ(wanted, 100);
            EXPECT_EQ(result[0], 2.0);
        } catch (const Error& e) {
            EXPECT_NE(wanted, 100);
            EXPECT_EQ(e.kind(), ErrorKind::Memory) << e.what();
        }
    }
}

TEST(CpuConcurrent, SeveralThreadsCompileAndLaunch) {
    CompileOptions fresh;
    fresh.use_cache = false;
    std::vector<std::thread> threads;
    std::atomic<int> good{0};
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            for (int k = 0; k < 3; ++k) {
                auto executable =
                    find_device("cpu").compile(faults_at(100 + 10 * t + k, 5000), fresh);
                std::vector<double> out(300'000, 0.0);
                HostArrays arrays;
                arrays.add(out, {300'000});
                LaunchArgs args;
                args.arrays = arrays.args();
                args.threads = 2;
                good += executable->launch(args).iteration == 100 + 10 * t + k;
            }
        });
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(good, 9);
}
