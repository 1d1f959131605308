// The interpreting back end: results, faults, and what it refuses.
#include "backends/interp/interpreter.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "ir/build.h"
#include "passes/lower.h"
#include "unit/tape/host_arrays.h"

using namespace unisono;
using namespace unisono::ir;
using unisono::testing::HostArrays;

namespace {

/// A function over a float64 array `a` and an int64 scalar `n`, compiled for the device "interp".
struct Program {
    Module module;
    Builder b{module.functions.emplace_back("f")};
    std::int32_t a = b.array_param("a", DType::Float64, 1, true);
    std::int32_t n = b.scalar_param("n", DType::Int64);
    std::int32_t i = b.var("i", DType::Int64);
    std::unique_ptr<Executable> executable;

    S loop(LoopKind kind, S body, std::span<const Reduction> reductions = {}) {
        return b.loop(kind, i, b.i64(0), b.param(n), b.i64(1), body, reductions);
    }
    E at(E index, Access access = Access::Inside) { return b.load(a, {index}, access); }
    S put(E index, E value, Access access = Access::Inside) {
        E indices[] = {index};
        return b.store(a, indices, value, access);
    }
    E number(double v) { return b.constant(Scalar::of(DType::Float64, v)); }

    Fault run(S body, std::vector<double>& data, std::int64_t count,
              std::span<std::uint64_t> results = {}, NDRange range = {}) {
        b.function().body = body;
        executable = find_device("interp").compile(std::move(module), {});
        HostArrays arrays;
        arrays.add(data, {static_cast<std::int64_t>(data.size())});
        std::uint64_t scalars[] = {static_cast<std::uint64_t>(count)};
        LaunchArgs args;
        args.arrays = arrays.args();
        args.scalars = scalars;
        args.results = results;
        args.range = range;
        return executable->launch(args);
    }

    /// The message of the error that running gives.
    std::string error(S body, std::vector<double>& data, std::int64_t count, NDRange range = {}) {
        try {
            run(body, data, count, {}, range);
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    }
};

std::vector<double> counted(std::size_t n) {
    std::vector<double> v(n);
    std::iota(v.begin(), v.end(), 0.0);
    return v;
}

void expect_in(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << "got: '" << text << "'";
}

}  // namespace

TEST(Interp, LoopsAndStores) {
    Program p;
    auto data = counted(5);
    E i = p.b.read(p.i);
    S body = p.loop(LoopKind::Parallel, p.put(i, p.b.mul(p.at(i), p.number(2))));
    EXPECT_EQ(p.run(body, data, 5).site, -1);
    EXPECT_EQ(data, (std::vector<double>{0, 2, 4, 6, 8}));
}

TEST(Interp, IndexFaultsKeepWhatWasStoredBefore) {
    Program p;
    auto data = counted(4);
    p.b.line = {0, 0, 12};
    E i = p.b.read(p.i);
    S body = p.loop(LoopKind::Serial, p.put(i, p.number(7), Access::Wrapped));
    Fault fault = p.run(body, data, 6);
    ASSERT_GE(fault.site, 0);
    const FaultSite& site = p.executable->sites()[static_cast<std::size_t>(fault.site)];
    EXPECT_EQ(site.kind, ErrorKind::Index);
    EXPECT_EQ(site.line.line, 12);
    EXPECT_EQ(site.message, "index {0} is out of bounds for axis 0 with size {1}");
    EXPECT_EQ(fault.values[0], 4);
    EXPECT_EQ(fault.values[1], 4);
    EXPECT_EQ(data, std::vector<double>(4, 7.0));
}

TEST(Interp, NegativeIndicesCountFromTheEnd) {
    Program p;
    auto data = counted(4);
    E from_end = p.b.sub(p.b.i64(-1), p.b.read(p.i));
    S body = p.loop(LoopKind::Serial, p.put(from_end, p.number(0.5), Access::Wrapped));
    Fault fault = p.run(body, data, 6);
    EXPECT_EQ(fault.values[0], -5);
    EXPECT_EQ(data, std::vector<double>(4, 0.5));
}

TEST(Interp, ReductionsAddInTheOrderOfChunks) {
    for (std::int64_t n : {0, 1, 5, 255, 256, 257, 1000, 4099}) {
        Program p;
        std::vector<double> data(static_cast<std::size_t>(n));
        for (std::size_t k = 0; k < data.size(); ++k) data[k] = 1.0 / static_cast<double>(k + 3);
        p.b.function().results = {DType::Float64};
        auto total = p.b.var("total", DType::Float64);
        Reduction sum[] = {{total, Op::Add}};
        S add = p.b.assign(total, p.b.add(p.b.read(total), p.at(p.b.read(p.i))));
        E out[] = {p.b.read(total)};
        S body = p.b.block(
            {p.b.declare(total, p.number(10)), p.loop(LoopKind::Parallel, add, sum), p.b.ret(out)});
        std::uint64_t result[1];
        EXPECT_EQ(p.run(body, data, n, result).site, -1);
        double want = 10;
        std::size_t size = (data.size() + 255) / 256;
        for (std::size_t first = 0; first < data.size(); first += size) {
            double partial = -0.0;
            for (std::size_t k = first; k < std::min(first + size, data.size()); ++k)
                partial += data[k];
            want += partial;
        }
        EXPECT_EQ(Scalar({result[0], DType::Float64}).as<double>(), want) << n;
    }
}

TEST(Interp, SumsOfNegativeZerosStayNegative) {
    Program p;
    std::vector<double> data(3, -0.0);
    p.b.function().results = {DType::Float64};
    auto total = p.b.var("total", DType::Float64);
    Reduction sum[] = {{total, Op::Add}};
    S add = p.b.assign(total, p.b.add(p.b.read(total), p.at(p.b.read(p.i))));
    E out[] = {p.b.read(total)};
    S body = p.b.block(
        {p.b.declare(total, p.number(-0.0)), p.loop(LoopKind::Parallel, add, sum), p.b.ret(out)});
    std::uint64_t result[1];
    p.run(body, data, 3, result);
    EXPECT_EQ(result[0], Scalar::of(DType::Float64, -0.0).bits);
}

TEST(Interp, RacesNameIterationsAndLines) {
    Program p;
    auto data = counted(5);
    p.b.line = {0, 0, 3};
    E i = p.b.read(p.i);
    p.b.line = {0, 0, 4};
    S shift = p.put(i, p.at(p.b.add(i, p.b.i64(1))));
    p.b.line = {0, 0, 3};
    std::string text = p.error(p.loop(LoopKind::Parallel, shift), data, 4);
    expect_in("iterations 0 and 1 of the loop at line 3 touch the same element of array a", text);
    expect_in("line 4", text);
}

TEST(Interp, OrderedAccessesAreNoRace) {
    Program p;
    auto data = counted(5);
    E i = p.b.read(p.i);
    S shift = p.loop(LoopKind::Serial, p.put(i, p.at(p.b.add(i, p.b.i64(1)))));
    EXPECT_EQ(p.run(shift, data, 4).site, -1);
    Program q;
    auto j = q.b.var("j", DType::Int64);
    E sum = q.b.add(q.at(q.b.i64(0)), q.number(1));
    S twice = q.b.loop(LoopKind::Serial, j, q.b.i64(0), q.b.i64(2), q.b.i64(1),
                       q.loop(LoopKind::Parallel, q.put(q.b.read(q.i), q.number(1))));
    S read = q.put(q.b.i64(0), sum);
    EXPECT_EQ(q.run(q.b.block({twice, read}), data, 5).site, -1);
}

TEST(Interp, ReadersOfAnElementConflictWithALaterWriter) {
    Program p;
    auto data = counted(5);
    E i = p.b.read(p.i);
    E last = p.b.binary(Op::Eq, i, p.b.i64(1));
    auto x = p.b.var("x", DType::Float64);
    // Iterations 0 and 1 read element 4, iteration 1 writes it: it races with iteration 0.
    S body = p.b.block(
        {p.b.declare(x, p.at(p.b.i64(4))), p.b.branch(last, p.put(p.b.i64(4), p.number(1)))});
    expect_in("iterations 0 and 1", p.error(p.loop(LoopKind::Parallel, body), data, 2));
}

TEST(Interp, AtomicsDoNotRaceAmongThemselves) {
    Program p;
    auto data = counted(2);
    E zero[] = {p.b.i64(0)};
    S body = p.loop(LoopKind::Parallel, p.b.atomic(p.a, Op::Add, zero, p.number(1.5)));
    EXPECT_EQ(p.run(body, data, 10).site, -1);
    EXPECT_EQ(data[0], 15);
    Program q;
    S mixed =
        q.b.block({q.b.atomic(q.a, Op::Add, zero, q.number(1)), q.put(q.b.i64(0), q.number(1))});
    expect_in("touch the same element", q.error(q.loop(LoopKind::Parallel, mixed), data, 2));
}

TEST(Interp, ChecksAccessesThatClaimToBeInside) {
    Program p;
    auto data = counted(3);
    p.b.line = {0, 0, 9};
    std::string text = p.error(p.put(p.b.i64(3), p.number(0)), data, 0);
    expect_in("index [3] of array a is out of range; got shape (3,) in f, line 9", text);
    Program q;
    expect_in("index [-1] of array a is out of range",
              q.error(q.put(q.b.i64(-1), q.number(0)), data, 0));
}

TEST(Interp, NamesWhatIsReadBeforeItIsWritten) {
    Program p;
    auto data = counted(3);
    auto x = p.b.var("x", DType::Float64);
    S body = p.b.block({p.b.declare(x, nullptr), p.put(p.b.i64(0), p.b.read(x))});
    expect_in("variable x is read before it is assigned", p.error(body, data, 0));
    Program q;
    auto t = q.b.local_array("t", DType::Float64, 1, Space::Private);
    E extent[] = {q.b.i64(4)};
    S load = q.put(q.b.i64(0), q.b.load(t, {q.b.i64(2)}));
    expect_in("element [2] of array t is read before it is written",
              q.error(q.b.block({q.b.allocate(t, extent), load}), data, 0));
}

TEST(Interp, CallsPassFaultsOn) {
    Program p;
    auto data = counted(3);
    p.b.site(ErrorKind::Value, "unused: sites of the entry come first");
    p.module.functions.emplace_back("g");
    Builder g(p.module.functions[1]);
    Builder f(p.module.functions[0]);
    auto k = g.scalar_param("k", DType::Int64);
    auto v = g.array_param("v", DType::Float64, 1, true);
    auto site = g.site(ErrorKind::Value, "bad {0}");
    E values[] = {g.param(k)};
    E where[] = {g.param(k)};
    p.module.functions[1].results = {DType::Int64};
    E out[] = {g.add(g.param(k), g.i64(1))};
    p.module.functions[1].body =
        g.block({g.branch(g.binary(Op::Gt, g.param(k), g.i64(1)), g.raise(site, values)),
                 g.store(v, where, g.constant(Scalar::of(DType::Float64, -1.0))), g.ret(out)});
    auto r = f.var("r", DType::Int64);
    E scalars[] = {f.read(r)};
    std::int32_t arrays[] = {0};
    std::int32_t outs[] = {r};
    S body = f.block(
        {f.declare(r, f.i64(0)), f.loop_while(f.boolean(true), f.call(1, scalars, arrays, outs))});
    p.module.functions[0].body = body;
    auto executable = find_device("interp").compile(std::move(p.module), {});
    HostArrays args;
    args.add(data, {3});
    LaunchArgs launch;
    std::uint64_t n[] = {0};
    launch.arrays = args.args();
    launch.scalars = n;
    Fault fault = executable->launch(launch);
    ASSERT_EQ(fault.site, 1);
    EXPECT_EQ(executable->sites()[1].message, "bad {0}");
    EXPECT_EQ(fault.values[0], 2);
    EXPECT_EQ(data, (std::vector<double>{-1, -1, 2}));
}

TEST(Interp, ParallelFaultsNameTheLowestIteration) {
    Program p;
    auto data = counted(3);
    S body = p.loop(LoopKind::Parallel, p.put(p.b.read(p.i), p.number(1), Access::Checked));
    Fault fault = p.run(body, data, 10);
    EXPECT_EQ(fault.iteration, 3);
}
