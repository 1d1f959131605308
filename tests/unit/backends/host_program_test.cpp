// Functions whose control runs on the host and whose loops run on a device: serial loops around
// parallel ones, bounds and conditions from the device, arrays made inside, faults.
#include <cmath>
#include <functional>

#include "unit/backends/opencl_harness.h"

using namespace unisono;
using namespace unisono::ir;
using unisono::testing::DeviceArray;
using unisono::testing::OpenCL;
using unisono::testing::run;

namespace {

/// f(a), of float64, as `make` writes it.
struct Sample {
    explicit Sample(const std::function<S(Builder&, std::int32_t a)>& make) {
        Builder b(module.functions.emplace_back("f"));
        const auto a = b.array_param("a", DType::Float64, 1, true, {StrideClass::One});
        b.line = {0, 0, 1};
        b.function().body = make(b, a);
        verify(module);
    }
    Module module;
};

E number(Builder& b, double value) { return b.constant(Scalar::of(DType::Float64, value)); }

/// for parallel i in range(count): a[i] = value(i)
S fill(Builder& b, std::int32_t array, E count, const std::function<E(E)>& value,
       Access access = Access::Inside) {
    const auto i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    return b.loop(LoopKind::Parallel, i, b.i64(0), count, b.i64(1),
                  b.store(array, at, value(b.read(i)), access));
}

S block(Builder& b, const std::vector<S>& list) { return b.block(std::span<const S>(list)); }

std::vector<double> ones(std::size_t n) { return std::vector<double>(n, 1.0); }

}  // namespace

TEST_F(OpenCL, RunsAParallelLoopInsideASerialOne) {
    Sample sample([](Builder& b, std::int32_t a) {
        const auto step = b.var("step", DType::Int64);
        S inner = fill(b, a, b.extent(a, 0), [&](E i) {
            E add = b.cast(b.read(step), DType::Float64);
            return b.add(b.mul(b.load(a, {i}), number(b, 2)), add);
        });
        return b.loop(LoopKind::Serial, step, b.i64(0), b.i64(5), b.i64(1), inner);
    });
    auto a = DeviceArray::of(ones(300));
    EXPECT_EQ(run(*device, std::move(sample.module), {&a}).site, -1);
    double expected = 1;
    for (int k = 0; k < 5; ++k) expected = expected * 2 + k;
    EXPECT_EQ(a.get<double>(), std::vector<double>(300, expected));
}

TEST_F(OpenCL, ReadsABoundThatOnlyTheDeviceKnows) {
    Sample sample([](Builder& b, std::int32_t a) {
        E bound = b.cast(b.load(a, {b.i64(0)}), DType::Int64);
        return fill(b, a, bound, [&](E) { return number(b, 7); });
    });
    auto a = DeviceArray::of(std::vector<double>{3, 1, 1, 1, 1});
    run(*device, std::move(sample.module), {&a});
    EXPECT_EQ(a.get<double>(), (std::vector<double>{7, 7, 7, 1, 1}));
}

TEST_F(OpenCL, RepeatsUntilAReductionIsSmall) {
    // while r > 1: r = sum of a; a[i] = a[i] / 2; n += 1
    Sample sample([](Builder& b, std::int32_t a) {
        const auto r = b.var("r", DType::Float64), n = b.var("n", DType::Int64),
                   i = b.var("i", DType::Int64);
        Reduction reduction[] = {{r, Op::Add}};
        S sum = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(a, 0), b.i64(1),
                       b.assign(r, b.add(b.read(r), b.load(a, {b.read(i)}))), reduction);
        S halve = fill(b, a, b.extent(a, 0),
                       [&](E at) { return b.mul(b.load(a, {at}), number(b, 0.5)); });
        S body = block(
            b, {b.assign(r, number(b, 0)), sum, halve, b.assign(n, b.add(b.read(n), b.i64(1)))});
        b.function().results = {DType::Int64, DType::Float64};
        E results[] = {b.read(n), b.read(r)};
        return block(
            b, {b.declare(r, number(b, 100)), b.declare(n, b.i64(0)),
                b.loop_while(b.binary(Op::Gt, b.read(r), number(b, 1)), body), b.ret(results)});
    });
    auto a = DeviceArray::of(ones(1000));
    std::uint64_t results[2] = {};
    run(*device, std::move(sample.module), {&a}, {}, {}, results);
    EXPECT_EQ(results[0], 11u);
    EXPECT_EQ((Scalar{results[1], DType::Float64}).as<double>(), 1000.0 / 1024);
    EXPECT_EQ(a.get<double>(), std::vector<double>(1000, std::ldexp(1.0, -11)));
}

TEST_F(OpenCL, LeavesLoopsByBreakContinueAndReturn) {
    // for k in range(10): if k == 1: continue; if a[0] > limit: break or return; a[i] += 1
    for (const bool is_return : {false, true}) {
        Sample sample([&](Builder& b, std::int32_t a) {
            const auto k = b.var("k", DType::Int64);
            S skip = b.branch(b.binary(Op::Eq, b.read(k), b.i64(1)), b.next());
            E results[] = {b.i64(5)};
            S leave = b.branch(b.binary(Op::Gt, b.load(a, {b.i64(0)}), number(b, 4)),
                               is_return ? b.ret(results) : b.leave());
            S more = fill(b, a, b.extent(a, 0),
                          [&](E i) { return b.add(b.load(a, {i}), number(b, 1)); });
            S loop = b.loop(LoopKind::Serial, k, b.i64(0), b.i64(10), b.i64(1),
                            block(b, {skip, leave, more}));
            b.function().results = {DType::Int64};
            E last[] = {b.i64(6)};
            return block(b, {loop, b.ret(last)});
        });
        auto a = DeviceArray::of(ones(20));
        std::uint64_t results[1] = {};
        run(*device, std::move(sample.module), {&a}, {}, {}, results);
        EXPECT_EQ(a.get<double>(), std::vector<double>(20, 5.0));
        EXPECT_EQ(results[0], is_return ? 5u : 6u);
    }
}

TEST_F(OpenCL, ReturnsFromASerialLoopBeforeAParallelOne) {
    // for k in range(n): if a[k] == 0: return k;   a[i] = 9;   return -1
    auto make = [](Builder& b, std::int32_t a) {
        const auto k = b.var("k", DType::Int64);
        b.function().results = {DType::Int64};
        E found[] = {b.read(k)}, none[] = {b.i64(-1)};
        S test = b.branch(b.binary(Op::Eq, b.load(a, {b.read(k)}), number(b, 0)), b.ret(found));
        return block(b, {b.loop(LoopKind::Serial, k, b.i64(0), b.extent(a, 0), b.i64(1), test),
                         fill(b, a, b.extent(a, 0), [&](E) { return number(b, 9); }), b.ret(none)});
    };
    for (const bool has_zero : {false, true}) {
        Sample sample(make);
        std::vector<double> data = ones(8);
        if (has_zero) data[5] = 0;
        auto a = DeviceArray::of(data);
        std::uint64_t results[1] = {};
        run(*device, std::move(sample.module), {&a}, {}, {}, results);
        EXPECT_EQ(static_cast<std::int64_t>(results[0]), has_zero ? 5 : -1);
        EXPECT_EQ(a.get<double>(), has_zero ? data : std::vector<double>(8, 9.0));
    }
}

TEST_F(OpenCL, UsesAnArrayThatTheFunctionMakes) {
    // t = new memory, then another one, of the size that a[0] says
    Sample sample([](Builder& b, std::int32_t a) {
        const auto t = b.slot("t", DType::Float64, true);
        const auto n = b.var("n", DType::Int64);
        const auto view =
            b.view("t", t, b.i64(0), {b.read(n)}, {b.i64(1)}, {StrideClass::One}, true);
        S size = b.declare(n, b.cast(b.load(a, {b.i64(0)}), DType::Int64));
        S first = fill(b, view, b.read(n), [&](E i) { return b.cast(i, DType::Float64); });
        S second = fill(b, a, b.read(n), [&](E i) { return b.load(view, {i}); });
        return block(b, {size, b.make(t, b.i64(3)), b.make(t, b.read(n)), first, second});
    });
    auto a = DeviceArray::of(std::vector<double>{4, 5, 5, 5, 5});
    run(*device, std::move(sample.module), {&a});
    EXPECT_EQ(a.get<double>(), (std::vector<double>{0, 1, 2, 3, 5}));
}

TEST_F(OpenCL, AFaultEndsALoopAndKeepsItsPlace) {
    // while true: a[i + step] = 1, for i in range(n); step += 1: fails in the second step
    Sample sample([](Builder& b, std::int32_t a) {
        const auto step = b.var("step", DType::Int64), i = b.var("i", DType::Int64);
        E at[] = {b.add(b.read(i), b.read(step))};
        S inner = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(a, 0), b.i64(1),
                         b.store(a, at, number(b, 1), Access::Checked));
        E more = b.binary(Op::Ge, b.load(a, {b.i64(0)}), number(b, 0));
        S loop =
            b.loop_while(more, block(b, {inner, b.assign(step, b.add(b.read(step), b.i64(1)))}));
        return block(b, {b.declare(step, b.i64(0)), loop});
    });
    auto a = DeviceArray::of(std::vector<double>(1000));
    const Fault fault = run(*device, std::move(sample.module), {&a});
    EXPECT_GE(fault.site, 0);
    EXPECT_EQ(fault.iteration, 999);
    EXPECT_EQ(fault.values[0], 1000);
    EXPECT_EQ(fault.values[1], 1000);
    EXPECT_EQ(a.get<double>(), ones(1000));
}

TEST_F(OpenCL, AFaultOfTheHostsControlIsTold) {
    Sample sample([](Builder& b, std::int32_t a) {
        const auto site = b.site(ErrorKind::Value, "no elements");
        S raise = b.branch(b.binary(Op::Lt, b.extent(a, 0), b.i64(10)), b.raise(site, {}));
        S loop = fill(b, a, b.extent(a, 0), [&](E) { return number(b, 2); });
        return block(b, {raise, loop});
    });
    auto executable = device->compile(std::move(sample.module), {});
    auto few = DeviceArray::of(ones(5)), many = DeviceArray::of(ones(50));
    EXPECT_EQ(unisono::testing::launch(*device, *executable, {&few}).site, 0);
    EXPECT_EQ(few.get<double>(), ones(5));
    EXPECT_EQ(unisono::testing::launch(*device, *executable, {&many}).site, -1);
    EXPECT_EQ(many.get<double>(), std::vector<double>(50, 2.0));
}

TEST_F(OpenCL, RunsParallelLoopsOfCalledFunctions) {
    // g(x, limit): x[i] += 1 for all i; for k in range(3): if k == limit: return k;   return -1
    // f(a): for t in range(4): sum += g(a, t)
    Module module;
    module.functions.emplace_back("f");
    module.functions.emplace_back("g");
    {
        Builder b(module.functions[1]);
        const auto x = b.array_param("x", DType::Float64, 1, true, {StrideClass::One});
        const auto limit = b.scalar_param("limit", DType::Int64);
        const auto k = b.var("k", DType::Int64);
        b.function().results = {DType::Int64};
        E found[] = {b.read(k)}, none[] = {b.i64(-1)};
        S add =
            fill(b, x, b.extent(x, 0), [&](E i) { return b.add(b.load(x, {i}), number(b, 1)); });
        S test = b.branch(b.binary(Op::Eq, b.read(k), b.param(limit)), b.ret(found));
        S search = b.loop(LoopKind::Serial, k, b.i64(0), b.i64(3), b.i64(1), test);
        b.function().body = block(b, {add, search, b.ret(none)});
    }
    Builder b(module.functions[0]);
    const auto a = b.array_param("a", DType::Float64, 1, true, {StrideClass::One});
    const auto t = b.var("t", DType::Int64), one = b.var("one", DType::Int64),
               sum = b.var("sum", DType::Int64);
    b.function().results = {DType::Int64};
    E arguments[] = {b.read(t)}, results[] = {b.read(sum)};
    const std::int32_t arrays[] = {a}, outs[] = {one};
    S body = block(b, {b.declare(one, nullptr), b.call(1, arguments, arrays, outs),
                       b.assign(sum, b.add(b.read(sum), b.read(one)))});
    b.function().body =
        block(b, {b.declare(sum, b.i64(0)),
                  b.loop(LoopKind::Serial, t, b.i64(0), b.i64(4), b.i64(1), body), b.ret(results)});
    verify(module);
    auto data = DeviceArray::of(ones(200));
    std::uint64_t result[1] = {};
    run(*device, std::move(module), {&data}, {}, {}, result);
    EXPECT_EQ(static_cast<std::int64_t>(result[0]), 0 + 1 + 2 - 1);
    EXPECT_EQ(data.get<double>(), std::vector<double>(200, 5.0));
}
