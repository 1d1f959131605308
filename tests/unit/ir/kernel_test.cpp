// Kernels on the host: loops over groups and items give what work-items with barriers would.
#include <gtest/gtest.h>

#include <numeric>

#include "ir/build.h"
#include "unit/tape/host_arrays.h"

using namespace unisono;
using namespace unisono::ir;
using unisono::testing::HostArrays;

namespace {

/// A kernel over float64 arrays x (read only) and y.
struct Kernel {
    explicit Kernel(int dimensions = 1, int rank = 1) {
        b.function().is_kernel = true;
        b.function().dimensions = dimensions;
        x = b.array_param("x", DType::Float64, rank, false);
        y = b.array_param("y", DType::Float64, rank, true);
    }
    Module module;
    Builder b{module.functions.emplace_back("k")};
    std::int32_t x = -1, y = -1;

    E id(WorkItemQuery q, int axis = 0) { return b.work_item(q, axis); }
    E gid(int axis = 0) { return id(WorkItemQuery::GlobalId, axis); }
    E lid(int axis = 0) { return id(WorkItemQuery::LocalId, axis); }
    S put(E index, E value, Access access = Access::Inside) {
        E at[] = {index};
        return b.store(y, at, value, access);
    }
    E real(double v) { return b.constant(Scalar::of(DType::Float64, v)); }

    void run(S body, std::vector<double>& in, std::vector<double>& out,
             std::vector<std::int64_t> shape, NDRange range) {
        b.function().body = body;
        auto executable = find_device("interp").compile(std::move(module), {});
        HostArrays arrays;
        arrays.add(in, shape).add(out, shape);
        LaunchArgs args;
        args.arrays = arrays.args();
        args.range = range;
        EXPECT_EQ(executable->launch(args).site, -1);
    }
};

NDRange range1(std::int64_t global, std::int64_t local, std::int64_t offset = 0) {
    NDRange r;
    r.dimensions = 1;
    r.global[0] = global;
    r.local[0] = local;
    r.offset[0] = offset;
    return r;
}

std::vector<double> counted(std::size_t n) {
    std::vector<double> v(n);
    std::iota(v.begin(), v.end(), 1.0);
    return v;
}

}  // namespace

TEST(Kernel, EveryItemRunsOnceForAnyGroupSize) {
    for (std::int64_t local : {0, 1, 3, 4, 7, 16}) {
        Kernel k;
        auto in = counted(12);
        std::vector<double> out(12, 0.0);
        E i = k.gid();
        S body = k.put(i, k.b.add(k.b.load(k.y, {i}), k.b.load(k.x, {i})));
        k.run(body, in, out, {12}, range1(10, local, 2));
        for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(out[j], j < 2 ? 0 : in[j]) << local;
    }
}

TEST(Kernel, QueriesTellTheGrid) {
    Kernel k;
    std::vector<double> in(10, 0.0), out(10, 0.0);
    E sum = k.b.i64(0);
    std::int64_t factor = 1;
    for (WorkItemQuery q :
         {WorkItemQuery::LocalId, WorkItemQuery::GroupId, WorkItemQuery::GroupCount,
          WorkItemQuery::GlobalSize, WorkItemQuery::LocalSize}) {
        sum = k.b.add(sum, k.b.mul(k.id(q), k.b.i64(factor)));
        factor *= 100;
    }
    k.run(k.put(k.gid(), k.b.cast(sum, DType::Float64)), in, out, {10}, range1(10, 4));
    EXPECT_EQ(out[6], 2 + 100 * 1 + 10000 * 3 + 1000000 * 10 + 100000000.0 * 4);
    EXPECT_EQ(out[9], 1 + 100 * 2 + 10000 * 3 + 1000000 * 10 + 100000000.0 * 2);
}

TEST(Kernel, TwoAxes) {
    Kernel k(2, 2);
    std::vector<double> in(12, 0.0), out(12, 0.0);
    E at[] = {k.gid(0), k.gid(1)};
    E value = k.b.cast(k.b.add(k.b.mul(k.gid(0), k.b.i64(10)), k.gid(1)), DType::Float64);
    NDRange r;
    r.dimensions = 2;
    r.global = {3, 4, 1};
    r.local = {2, 3, 0};
    k.run(k.b.store(k.y, at, value), in, out, {3, 4}, r);
    EXPECT_EQ(out, (std::vector<double>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));
}

TEST(Kernel, ReversalThroughLocalMemory) {
    Kernel k;
    auto in = counted(12);
    std::vector<double> out(12, 0.0);
    auto t = k.b.local_array("t", DType::Float64, 1, Space::Local);
    auto v = k.b.var("v", DType::Float64);
    E extent[] = {k.b.i64(4)};
    E at[] = {k.lid()};
    E other = k.b.sub(k.b.sub(k.id(WorkItemQuery::LocalSize), k.b.i64(1)), k.lid());
    S body = k.b.block(
        {k.b.allocate(t, extent), k.b.declare(v, k.b.load(k.x, {k.gid()})),
         k.b.store(t, at, k.b.read(v)), k.b.barrier(),
         k.put(k.gid(), k.b.add(k.b.mul(k.b.load(t, {other}), k.real(100)), k.b.read(v)))});
    k.run(body, in, out, {12}, range1(12, 4));
    for (std::size_t j = 0; j < 12; ++j) EXPECT_EQ(out[j], in[j / 4 * 4 + 3 - j % 4] * 100 + in[j]);
}

TEST(Kernel, TreeSumWithBarriersInALoop) {
    Kernel k;
    Builder& b = k.b;
    auto in = counted(16);
    std::vector<double> out(16, 0.0);
    auto t = b.local_array("t", DType::Float64, 1, Space::Local);
    auto l = b.var("l", DType::Int64);
    auto half = b.var("half", DType::Int64);
    E extent[] = {b.i64(8)};
    E at[] = {b.read(l)};
    E pair = b.add(b.load(t, {b.read(l)}), b.load(t, {b.add(b.read(l), b.read(half))}));
    S step = b.branch(b.binary(Op::Lt, b.read(l), b.read(half)), b.store(t, at, pair));
    S body = b.block(
        {b.allocate(t, extent), b.declare(l, k.lid()), b.store(t, at, b.load(k.x, {k.gid()})),
         b.barrier(), b.declare(half, b.i64(4)),
         b.loop_while(b.binary(Op::Gt, b.read(half), b.i64(0)),
                      b.block({step, b.barrier(),
                               b.assign(half, b.binary(Op::FloorDiv, b.read(half), b.i64(2)))})),
         b.branch(b.binary(Op::Eq, b.read(l), b.i64(0)),
                  k.put(k.id(WorkItemQuery::GroupId), b.load(t, {b.i64(0)})))});
    k.run(body, in, out, {16}, range1(16, 8));
    EXPECT_EQ(out[0], 36);
    EXPECT_EQ(out[1], 100);
}

TEST(Kernel, BreakOutOfALoopWithABarrier) {
    Kernel k;
    Builder& b = k.b;
    std::vector<double> in(4, 0.0), out(4, 0.0);
    auto s = b.var("s", DType::Int64);
    auto count = b.var("count", DType::Float64);
    S body = b.block({b.declare(count, k.real(0)),
                      b.loop(LoopKind::Serial, s, b.i64(0), b.i64(10), b.i64(1),
                             b.block({b.assign(count, b.add(b.read(count), k.real(1))), b.barrier(),
                                      b.branch(b.binary(Op::Eq, b.read(s), b.i64(3)), b.leave())})),
                      k.put(k.gid(), b.read(count))});
    k.run(body, in, out, {4}, range1(4, 2));
    EXPECT_EQ(out, std::vector<double>(4, 4.0));
}

TEST(Kernel, EarlyReturns) {
    for (bool with_barrier : {false, true}) {
        Kernel k;
        Builder& b = k.b;
        auto in = counted(8);
        std::vector<double> out(8, 0.0);
        auto s = b.var("s", DType::Int64);
        E i = k.gid();
        // Item 5 and beyond return at once; others return from inside a loop where s reaches their
        // id.
        S search =
            b.loop(LoopKind::Serial, s, b.i64(0), b.i64(3), b.i64(1),
                   b.branch(b.binary(Op::Eq, b.read(s), i),
                            b.block({k.put(i, b.cast(b.read(s), DType::Float64)), b.ret({})})));
        S middle = with_barrier ? b.barrier() : b.block({});
        S body = b.block({b.branch(b.binary(Op::Ge, i, b.i64(5)), b.ret({})), search, middle,
                          k.put(i, k.real(100))});
        k.run(body, in, out, {8}, range1(8, 4));
        EXPECT_EQ(out, (std::vector<double>{0, 1, 2, 100, 100, 0, 0, 0})) << with_barrier;
    }
}

TEST(Kernel, PrivateArraysLiveAcrossBarriers) {
    Kernel k;
    Builder& b = k.b;
    auto in = counted(4);
    std::vector<double> out(4, 0.0);
    auto t = b.local_array("t", DType::Float64, 1, Space::Private);
    E extent[] = {b.i64(2)};
    E first[] = {b.i64(0)};
    E second[] = {b.i64(1)};
    E x = b.load(k.x, {k.gid()});
    S body =
        b.block({b.allocate(t, extent), b.store(t, first, x), b.store(t, second, b.mul(x, x)),
                 b.barrier(), k.put(k.gid(), b.add(b.load(t, {b.i64(0)}), b.load(t, {b.i64(1)})))});
    k.run(body, in, out, {4}, range1(4, 4));
    EXPECT_EQ(out, (std::vector<double>{2, 6, 12, 20}));
}

TEST(Kernel, VariablesKeepTheirValueFromOneRoundToTheNext) {
    Kernel k;
    Builder& b = k.b;
    auto in = counted(4);
    std::vector<double> out(4, 0.0);
    auto s = b.var("s", DType::Int64);
    auto last = b.var("last", DType::Float64);
    E i = k.gid();
    E grown = b.add(b.load(k.y, {i}), b.read(last));
    S body = b.block(
        {b.declare(last, nullptr),
         b.loop(
             LoopKind::Serial, s, b.i64(0), b.i64(3), b.i64(1),
             b.block(
                 {b.barrier(), b.branch(b.binary(Op::Gt, b.read(s), b.i64(0)), k.put(i, grown)),
                  b.assign(last, b.mul(b.load(k.x, {i}), b.cast(b.read(s), DType::Float64)))}))});
    k.run(body, in, out, {4}, range1(4, 2));
    EXPECT_EQ(out, in);
}

TEST(Kernel, BarriersUnderVaryingConditionsAreRefused) {
    Kernel k;
    std::vector<double> in(4, 0.0), out(4, 0.0);
    auto c = k.b.var("c", DType::Bool);
    k.b.line = {0, 0, 21};
    S body = k.b.block({k.b.declare(c, k.b.binary(Op::Lt, k.lid(), k.b.i64(2))),
                        k.b.branch(k.b.read(c), k.b.barrier())});
    try {
        k.run(body, in, out, {4}, range1(4, 2));
        FAIL() << "accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Compile);
        EXPECT_EQ(e.place().line, 21);
        EXPECT_NE(std::string(e.what()).find("depends on the work-item"), std::string::npos);
    }
}

TEST(Kernel, RacesInLocalMemoryAreFound) {
    Kernel k;
    auto in = counted(4);
    std::vector<double> out(4, 0.0);
    auto t = k.b.local_array("t", DType::Float64, 1, Space::Local);
    E extent[] = {k.b.i64(4)};
    E at[] = {k.lid()};
    // Without a barrier between the store and the load of the neighbour.
    E next = k.b.binary(Op::Mod, k.b.add(k.lid(), k.b.i64(3)), k.b.i64(4));
    S body = k.b.block({k.b.allocate(t, extent), k.b.store(t, at, k.real(0)), k.b.barrier(),
                        k.b.store(t, at, k.b.load(k.x, {k.gid()})),
                        k.put(k.gid(), k.b.load(t, {next}))});
    EXPECT_THROW(k.run(body, in, out, {4}, range1(4, 4)), Error);
}

TEST(NullBackend, CompilesForHostAndDeviceAndRefusesToRun) {
    for (const char* name : {"null:host", "null:device"}) {
        Module m;
        Builder b(m.functions.emplace_back("f"));
        m.functions[0].body = b.block({});
        auto executable = find_device(name).compile(std::move(m), {});
        EXPECT_NE(executable->source().find("function f"), std::string::npos);
        EXPECT_THROW(executable->launch({}), Error);
    }
}
