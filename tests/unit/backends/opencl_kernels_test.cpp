// Kernels from loops and work-item functions on an OpenCL device: ranges, views, faults, splits,
// local memory.
#include <algorithm>
#include <map>

#include "core/error.h"
#include "unit/backends/opencl_harness.h"
#include "unit/backends/opencl_samples.h"

using namespace unisono;
using namespace unisono::ir;
using unisono::testing::DeviceArray;
using unisono::testing::launch;
using unisono::testing::OpenCL;
using unisono::testing::run;

namespace {

template <class T>
std::vector<T> counting(std::size_t n, T first = 0) {
    std::vector<T> out(n);
    std::iota(out.begin(), out.end(), first);
    return out;
}

/// The message of the error that the call throws, with its kind checked.
template <class F>
std::string message_of(ErrorKind kind, F&& call) {
    try {
        call();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), kind) << e.what();
        return e.what();
    }
    return "no error";
}

/// A module with one array a (float64, rank 1), a var i, and a body made by `make`.
template <class F>
Module small_module(F make) {
    Module m;
    Builder b(m.functions.emplace_back("f"));
    auto a = b.array_param("a", DType::Float64, 1, true);
    auto i = b.var("i", DType::Int64);
    b.function().body = make(b, a, i);
    return m;
}

}  // namespace

TEST_F(OpenCL, RunsAParallelLoop) {
    for (std::size_t n : {0, 1, 2, 255, 256, 257, 1000}) {
        std::vector<double> a = counting<double>(n);
        auto da = DeviceArray::of(a), dout = DeviceArray::of(std::vector<double>(n, 1.0));
        Fault fault = run(*device, unisono::testing::saxpy(), {&da, &dout},
                          {Scalar::of(DType::Float64, 3.0)});
        EXPECT_EQ(fault.site, -1);
        std::vector<double> out = dout.get<double>();
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], a[i] * 3.0 + 1.0) << i << " of " << n;
    }
}

TEST_F(OpenCL, ReadsViewsWithOffsetsAndNegativeStrides) {
    auto da = DeviceArray::of(counting<double>(40));
    da.shape = {10};
    da.strides = {-3};  // elements 35, 32, ... 8
    da.offset = 35 * 8;
    auto dout = DeviceArray::of(std::vector<double>(40, 0.5));
    dout.shape = {10};
    dout.strides = {2};
    dout.offset = 5 * 8;
    run(*device, unisono::testing::saxpy(), {&da, &dout}, {Scalar::of(DType::Float64, 2.0)});
    std::vector<double> out = dout.get<double>();
    for (int i = 0; i < 40; ++i) {
        bool written = i >= 5 && i < 25 && (i - 5) % 2 == 0;
        EXPECT_EQ(out[static_cast<std::size_t>(i)],
                  written ? (35 - 3 * ((i - 5) / 2)) * 2.0 + 0.5 : 0.5)
            << i;
    }
}

TEST_F(OpenCL, RunsTwoAxes) {
    const std::size_t rows = 37, columns = 300;
    std::vector<double> u = counting<double>(rows * columns);
    for (double& v : u) v = v * v / 7;
    std::vector<double> expected = u;
    auto at = [&](std::size_t y, std::size_t x) { return u[y * columns + x]; };
    for (std::size_t y = 1; y + 1 < rows; ++y) {
        for (std::size_t x = 1; x + 1 < columns; ++x) {
            expected[y * columns + x] =
                (at(y - 1, x) + at(y + 1, x) + (at(y, x - 1) + at(y, x + 1))) / 4;
        }
    }
    auto du = DeviceArray::of(u, {rows, columns}), dnew = DeviceArray::of(u, {rows, columns});
    run(*device, unisono::testing::jacobi(), {&du, &dnew});
    EXPECT_EQ(dnew.get<double>(), expected);
}

TEST_F(OpenCL, FoldsMoreThanThreeAxes) {
    auto dout = DeviceArray::of(std::vector<std::int64_t>(3 * 4 * 5 * 6), {3, 4, 5, 6});
    run(*device, unisono::testing::four_axes(), {&dout});
    std::vector<std::int64_t> out = dout.get<std::int64_t>(), expected;
    for (int p = 0; p < 3; ++p) {
        for (int q = 0; q < 4; ++q) {
            for (int r = 0; r < 5; ++r) {
                for (int x = 0; x < 6; ++x) expected.push_back(((p * 10 + q) * 10 + r) * 10 + x);
            }
        }
    }
    EXPECT_EQ(out, expected);
    // An empty outer axis: no work-item, although the other axes have some.
    auto empty = DeviceArray::of(std::vector<std::int64_t>{}, {0, 4, 5, 6});
    EXPECT_EQ(run(*device, unisono::testing::four_axes(), {&empty}).site, -1);
}

TEST_F(OpenCL, StepsDownAndUpByAnArgument) {
    for (std::int64_t step : {-1, -2, -3, -7, -100}) {
        std::vector<std::int64_t> a = counting<std::int64_t>(20), expected(20, -1);
        auto da = DeviceArray::of(a), dout = DeviceArray::of(expected);
        da.strides = {-1};
        da.offset = 19 * 8;
        for (std::int64_t i = 19; i > -1; i += step) expected[static_cast<std::size_t>(i)] = 19 - i;
        run(*device, unisono::testing::every_second(), {&da, &dout},
            {Scalar::of(DType::Int64, step)});
        EXPECT_EQ(dout.get<std::int64_t>(), expected) << step;
    }
    auto da = DeviceArray::of(counting<std::int64_t>(20)),
         dout = DeviceArray::of(std::vector<std::int64_t>(20, -1));
    da.strides = {-1};
    da.offset = 19 * 8;
    run(*device, unisono::testing::every_second(), {&da, &dout}, {Scalar::of(DType::Int64, 3)});
    EXPECT_EQ(dout.get<std::int64_t>(), std::vector<std::int64_t>(20, -1))
        << "range(19, -1, 3) is empty";
}

TEST_F(OpenCL, SplitsTheTopLevelIntoKernels) {
    for (bool twice : {false, true}) {
        auto da = DeviceArray::of(counting<double>(10)),
             dout = DeviceArray::of(std::vector<double>(10));
        run(*device, unisono::testing::two_steps(), {&da, &dout}, {Scalar::of(DType::Bool, twice)});
        std::vector<double> out{100, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5},
            back(out.rbegin(), out.rend());
        EXPECT_EQ(dout.get<double>(), out);
        EXPECT_EQ(da.get<double>(), twice ? back : counting<double>(10));
    }
}

TEST_F(OpenCL, ReducesAndGivesAResult) {
    for (std::size_t n : {0, 1, 255, 256, 257, 5000}) {
        auto da = DeviceArray::of(counting<double>(n));
        std::uint64_t result[1] = {0};
        run(*device, unisono::testing::sum_of_squares(), {&da}, {}, {}, result);
        double expected = 0;
        for (std::size_t i = 0; i < n; ++i) expected += double(i) * double(i);
        EXPECT_EQ((Scalar{result[0], DType::Float64}).as<double>(), expected) << n;
    }
}

TEST_F(OpenCL, TheLowestFailingIterationIsReported) {
    for (auto make : {unisono::testing::checked_gather, unisono::testing::checked_call}) {
        auto executable = device->compile(make(), {});
        std::vector<std::int64_t> index(3000, -1);
        auto da = DeviceArray::of(std::vector<float>{1, 2, 3}),
             dout = DeviceArray::of(std::vector<float>(3000));
        auto dindex = DeviceArray::of(index);
        EXPECT_EQ(launch(*device, *executable, {&da, &dindex, &dout}).site, -1);
        EXPECT_EQ(dout.get<float>(), std::vector<float>(3000, 3.0F));
        for (std::size_t bad : {2999, 2000, 1234, 700}) index[bad] = static_cast<std::int64_t>(bad);
        index[500] = -4;
        dindex = DeviceArray::of(index);
        Fault fault = launch(*device, *executable, {&da, &dindex, &dout});
        ASSERT_GE(fault.site, 0);
        EXPECT_EQ(fault.iteration, 500);
        EXPECT_EQ(fault.values[0], -4);
        EXPECT_EQ(fault.values[1], 3);
        const FaultSite& site = executable->sites()[static_cast<std::size_t>(fault.site)];
        EXPECT_EQ(site.kind, ErrorKind::Index);
        EXPECT_EQ(site.line.line, make == unisono::testing::checked_gather ? 3 : 2);
    }
}

/// A launch that may fail is one command where device and host share virtual memory, as on PoCL,
/// and few bytes are read where they lie.
TEST_F(OpenCL, RecordsOfFaultsAndReadsAreNoCommandsOfTheirOwn) {
    if (device->info().kind != "cpu") GTEST_SKIP() << "device and host have memories of their own";
    auto executable = device->compile(unisono::testing::checked_gather(), {});
    auto da = DeviceArray::of(std::vector<float>{1, 2, 3}),
         dout = DeviceArray::of(std::vector<float>(30));
    for (std::int64_t place : {-1, 7, -1}) {  // a fault leaves nothing behind in the record
        auto dindex = DeviceArray::of(std::vector<std::int64_t>(30, place));
        const std::uint64_t before = device->queue()->submitted();
        const Fault fault = launch(*device, *executable, {&da, &dindex, &dout});
        EXPECT_EQ(device->queue()->submitted() - before, 3 + 1) << "copies in, kernel";
        EXPECT_EQ(fault.site >= 0, place == 7);
    }
}

TEST_F(OpenCL, WorkGroupsShareLocalMemory) {
    const std::size_t groups = 9;
    std::vector<float> a = counting<float>(64 * groups);
    auto da = DeviceArray::of(a), dsums = DeviceArray::of(std::vector<float>(groups));
    NDRange range{1, {64 * groups, 1, 1}, {64, 0, 0}, {0, 0, 0}};
    run(*device, unisono::testing::group_sums(), {&da, &dsums}, {}, range);
    for (std::size_t g = 0; g < groups; ++g) {
        float expected =
            std::accumulate(a.begin() + static_cast<std::ptrdiff_t>(64 * g),
                            a.begin() + static_cast<std::ptrdiff_t>(64 * g + 64), 0.0F);
        EXPECT_EQ(dsums.get<float>()[g], expected) << g;
    }
}

/// A work-item that faults never leaves the others of its group waiting at a barrier.
TEST_F(OpenCL, FaultsBetweenBarriersEndTheGroup) {
    const std::size_t groups = 9, n = 64 * groups;
    auto executable = device->compile(unisono::testing::checked_tiles(), {});
    std::vector<std::int64_t> index = counting<std::int64_t>(n);
    auto da = DeviceArray::of(counting<float>(n)),
         dsums = DeviceArray::of(std::vector<float>(groups));
    auto dindex = DeviceArray::of(index);
    NDRange range{1, {n, 1, 1}, {64, 0, 0}, {0, 0, 0}};
    EXPECT_EQ(launch(*device, *executable, {&da, &dsums, &dindex}, {}, range).site, -1);
    for (std::size_t g = 0; g < groups; ++g)
        EXPECT_EQ(dsums.get<float>()[g], 64 * (64 * g + 31.5F)) << g;
    for (std::size_t bad : {0U, 1U, 63U, 64U, 100U, 575U}) {
        std::vector<std::int64_t> wrong = index;
        wrong[bad] = static_cast<std::int64_t>(n);
        if (bad == 100) wrong[500] = wrong[101] = 1000000;
        dindex = DeviceArray::of(wrong);
        dsums = DeviceArray::of(std::vector<float>(groups, -1));
        Fault fault = launch(*device, *executable, {&da, &dsums, &dindex}, {}, range);
        ASSERT_GE(fault.site, 0) << bad;
        EXPECT_EQ(fault.iteration, static_cast<std::int64_t>(bad));
        EXPECT_EQ(fault.values[0], static_cast<std::int64_t>(n));
        EXPECT_EQ(dsums.get<float>()[bad / 64], -1) << "the group of the fault has gone on";
    }
    // The local array is shorter than the group: faults in the loop between barriers.
    range.local[0] = 96;
    dindex = DeviceArray::of(index);
    Fault fault = launch(*device, *executable, {&da, &dsums, &dindex}, {}, range);
    ASSERT_GE(fault.site, 0);
    EXPECT_EQ(fault.iteration, 64);
    EXPECT_EQ(fault.values[0], 64);
}

TEST_F(OpenCL, AtomicsLoseNothing) {
    std::vector<std::int32_t> a(10000);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int32_t>(i * 7919 % 10007);
    std::vector<std::int32_t> bins(13);
    std::vector<std::uint8_t> seen(13);
    std::int64_t total = 0;
    for (std::int32_t v : a) {
        ++bins[static_cast<std::size_t>(v % 13)];
        ++seen[static_cast<std::size_t>(v % 13)];
        total += v;
    }
    auto dbins = DeviceArray::of(std::vector<std::int32_t>(13)),
         dtotal = DeviceArray::of(std::vector<std::int64_t>(1));
    auto dpeak = DeviceArray::of(std::vector<double>(1)), da = DeviceArray::of(a);
    // Not at a word's start: atomics on bytes must find the word around them.
    auto dseen = DeviceArray::of(std::vector<std::uint8_t>(16, 0));
    dseen.shape = {13};
    dseen.offset = 3;
    NDRange range{1, {10000, 1, 1}, {0, 0, 0}, {0, 0, 0}};
    run(*device, unisono::testing::histogram(), {&dbins, &dtotal, &dpeak, &dseen, &da}, {}, range);
    EXPECT_EQ(dbins.get<std::int32_t>(), bins);
    EXPECT_EQ(dtotal.get<std::int64_t>()[0], total);
    EXPECT_EQ(dpeak.get<double>()[0], *std::max_element(a.begin(), a.end()));
    std::vector<std::uint8_t> got = dseen.get<std::uint8_t>();
    EXPECT_EQ(std::vector<std::uint8_t>(got.begin() + 3, got.end()), seen);
    EXPECT_EQ(std::vector<std::uint8_t>(got.begin(), got.begin() + 3),
              std::vector<std::uint8_t>(3, 0));
}

TEST_F(OpenCL, RunsControlFlow) {
    auto dout = DeviceArray::of(std::vector<std::int32_t>(100));
    run(*device, unisono::testing::collatz(), {&dout});
    for (std::int64_t i = 0; i < 100; ++i) {
        std::int32_t steps = 0;
        for (std::int64_t n = i + 1; n != 1 && steps <= 100; ++steps)
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        EXPECT_EQ(dout.get<std::int32_t>()[static_cast<std::size_t>(i)], steps) << i;
    }
}

TEST_F(OpenCL, StoresBoolsAsBytes) {
    auto da = DeviceArray::of(std::vector<char>{0, 1, 0, 0, 1, 1}),
         db = DeviceArray::of(std::vector<char>{0});
    db.shape = {6};
    db.strides = {0};
    auto dout = DeviceArray::of(std::vector<char>(6, 9));
    run(*device, unisono::testing::flags(), {&da, &db, &dout});
    EXPECT_EQ(dout.get<char>(), (std::vector<char>{0, 1, 0, 1, 1, 1}));
}

TEST_F(OpenCL, CopiesOverlappingRanges) {
    std::vector<std::int64_t> a = counting<std::int64_t>(100);
    Memory m = device->allocate(800);
    device->copy_in(m, 0, a.data(), 800);
    device->copy(m, 80, m, 0, 720);
    std::vector<std::int64_t> got(100);
    device->copy_out(got.data(), m, 0, 800);
    device->free(m);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(got[i], i < 10 ? a[i] : a[i - 10]);
}

TEST_F(OpenCL, RefusesLocalSizesThatDoNotFit) {
    auto executable = device->compile(unisono::testing::group_sums(), {});
    auto da = DeviceArray::of(std::vector<float>(128)),
         dsums = DeviceArray::of(std::vector<float>(2));
    auto attempt = [&](NDRange range) {
        return message_of(ErrorKind::Value, [&] {
            launch(*device, *executable, {&da, &dsums}, {}, range);
        });
    };
    EXPECT_EQ(attempt({1, {100, 1, 1}, {64, 0, 0}, {0, 0, 0}}),
              "group_sums: the local size of axis 0 does not divide the global size; got 64 and "
              "100; round the global "
              "size up and test the id in the kernel, or give no local size");
    std::int64_t limit = device->info().max_work_item_sizes[0];
    EXPECT_EQ(attempt({1, {limit * 4, 1, 1}, {limit * 2, 0, 0}, {0, 0, 0}}),
              "group_sums: the local size of axis 0 is above the device's limit; got " +
                  std::to_string(limit * 2) + "; expected at most " + std::to_string(limit) +
                  " on '" + device->info().name + "'");
}

TEST_F(OpenCL, NamesTheLineThatCannotRunOnADevice) {
    auto inside_try = small_module([](Builder& b, std::int32_t a, std::int32_t i) {
        E at[] = {b.read(i)};
        S loop = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(a, 0), b.i64(1),
                        b.store(a, at, b.zero(DType::Float64)));
        std::vector<S> list;
        std::vector<std::int32_t> outs;
        for (int k = 0; k < 7; ++k) {
            outs.push_back(b.var("out", DType::Int64));
            list.push_back(b.declare(outs.back(), b.i64(0)));
        }
        b.line = {0, 0, 7};
        list.push_back(b.attempt(loop, outs));
        return b.block(std::span<const S>(list));
    });
    EXPECT_EQ(
        message_of(ErrorKind::Unsupported, [&] { device->compile(std::move(inside_try), {}); }),
        "f (line 7): a parallel loop, a new array or a call of the host inside a try cannot "
        "run on a device; catch the exception where the function is called");
}

TEST_F(OpenCL, RefusesAnArrayLargerThanTheDeviceAllows) {
    std::int64_t bytes = std::int64_t(1) << 50;
    std::string message = message_of(ErrorKind::Memory, [&] { device->allocate(bytes); });
    EXPECT_NE(message.find("got 1125899906842624 bytes; expected at most "), std::string::npos)
        << message;
}

TEST_F(OpenCL, DescribesItself) {
    const DeviceInfo& info = device->info();
    EXPECT_EQ(info.name, "opencl:" + info.kind + ":0");
    EXPECT_GE(info.compute_units, 1);
    EXPECT_GE(info.max_work_group_size, 1);
    EXPECT_GT(info.memory_bytes, 0);
    EXPECT_GT(info.local_memory_bytes, 0);
    EXPECT_EQ(&find_device("opencl"), device);
    EXPECT_EQ(&find_device(info.name), device);
    EXPECT_FALSE(find_backend("opencl")->report().empty());
}

TEST_F(OpenCL, KernelsRunOverAnyGlobalSizeAndOffset) {
    Module m;
    Builder b(m.functions.emplace_back("step"));  // the name of a built-in function
    b.function().is_kernel = true;
    b.function().dimensions = 2;
    auto out = b.array_param("out", DType::Int64, 2, true);
    E id0 = b.work_item(WorkItemQuery::GlobalId, 0), id1 = b.work_item(WorkItemQuery::GlobalId, 1);
    E at[] = {id1, id0};
    b.function().body = b.store(out, at, b.add(b.mul(id1, b.i64(1000)), id0));
    auto executable = device->compile(std::move(m), {});
    for (std::int64_t n : {1, 13, 257, 1009}) {
        auto dout = DeviceArray::of(
            std::vector<std::int64_t>(static_cast<std::size_t>(7 * 1100), -1), {7, 1100});
        launch(*device, *executable, {&dout}, {}, {2, {n, 3, 1}, {0, 0, 0}, {5, 2, 0}});
        std::vector<std::int64_t> got = dout.get<std::int64_t>();
        for (std::int64_t y = 0; y < 7; ++y) {
            for (std::int64_t x = 0; x < 1100; ++x) {
                bool inside = y >= 2 && y < 5 && x >= 5 && x < 5 + n;
                ASSERT_EQ(got[static_cast<std::size_t>(y * 1100 + x)], inside ? y * 1000 + x : -1)
                    << y << " " << x << " " << n;
            }
        }
    }
}

/// total = 0; for i: total += a[i] (reduction); if total > 10: for i: a[i] = a[i] / total, else:
/// for i: a[i] = -1; then a[0] += c, where c is a[1] as it was at the start.
TEST_F(OpenCL, KeepsScalarsBetweenKernels) {
    auto make = [] {
        return small_module([](Builder& b, std::int32_t a, std::int32_t i) {
            auto total = b.var("total", DType::Float64), c = b.var("c", DType::Float64);
            auto j = b.var("j", DType::Int64), k = b.var("k", DType::Int64);
            E ai[] = {b.read(i)}, aj[] = {b.read(j)}, ak[] = {b.read(k)}, first[] = {b.i64(0)},
              second[] = {b.i64(1)};
            auto number = [&](double v) { return b.constant(Scalar::of(DType::Float64, v)); };
            auto each = [&](std::int32_t var, S body, std::span<const Reduction> r = {}) {
                return b.loop(LoopKind::Parallel, var, b.i64(0), b.extent(a, 0), b.i64(1), body, r);
            };
            Reduction sum[] = {{total, Op::Add}};
            S scale = each(j, b.store(a, aj, b.binary(Op::Div, b.load(a, aj), b.read(total))));
            S fill = each(k, b.store(a, ak, number(-1)));
            return b.block({b.declare(c, b.load(a, second)), b.declare(total, number(0)),
                            each(i, b.assign(total, b.add(b.read(total), b.load(a, ai))), sum),
                            b.branch(b.binary(Op::Gt, b.read(total), number(10)), scale, fill),
                            b.store(a, first, b.add(b.load(a, first), b.read(c)))});
        });
    };
    for (double factor : {1.0, 0.01}) {
        std::vector<double> a = counting<double>(20, 1);
        for (double& v : a) v *= factor;
        std::vector<double> expected = a;
        double total = 0;
        for (double v : a) total += v;
        for (double& v : expected) v = total > 10 ? v / total : -1;
        expected[0] += a[1];
        auto da = DeviceArray::of(a);
        run(*device, make(), {&da});
        std::vector<double> got = da.get<double>();
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_DOUBLE_EQ(got[i], expected[i]) << i;
    }
}

/// Axis 1 touches neighbours, so that it becomes the device's dimension 0; ids and sizes keep the
/// user's axes.
TEST_F(OpenCL, TheAxisOfNeighboursRunsFastest) {
    Module m;
    Builder b(m.functions.emplace_back("ids"));
    b.function().is_kernel = true;
    b.function().dimensions = 2;
    auto out = b.array_param("out", DType::Int64, 2, true, {StrideClass::Other, StrideClass::One});
    auto query = [&](WorkItemQuery q, int axis) { return b.work_item(q, axis); };
    E value = b.i64(0);
    for (WorkItemQuery q :
         {WorkItemQuery::LocalId, WorkItemQuery::GroupId, WorkItemQuery::LocalSize,
          WorkItemQuery::GroupCount, WorkItemQuery::GlobalSize}) {
        for (int axis : {0, 1}) value = b.add(b.mul(value, b.i64(20)), query(q, axis));
    }
    E at[] = {query(WorkItemQuery::GlobalId, 0), query(WorkItemQuery::GlobalId, 1)};
    b.function().body = b.store(out, at, value);
    auto executable = device->compile(std::move(m), {});
    EXPECT_NE(executable->source().find("out_stride0 + (long)get_global_id(0)]"), std::string::npos)
        << executable->source();
    auto dout = DeviceArray::of(std::vector<std::int64_t>(6 * 16), {6, 16});
    launch(*device, *executable, {&dout}, {}, {2, {6, 16, 1}, {3, 4, 0}, {0, 0, 0}});
    for (std::int64_t y = 0; y < 6; ++y) {
        for (std::int64_t x = 0; x < 16; ++x) {
            std::int64_t expected = 0;
            for (std::int64_t part :
                 {y % 3, x % 4, y / 3, x / 4, std::int64_t(3), std::int64_t(4), std::int64_t(2),
                  std::int64_t(4), std::int64_t(6), std::int64_t(16)}) {
                expected = expected * 20 + part;
            }
            EXPECT_EQ(dout.get<std::int64_t>()[static_cast<std::size_t>(y * 16 + x)], expected)
                << y << " " << x;
        }
    }
    std::string message = message_of(ErrorKind::Value, [&] {
        launch(*device, *executable, {&dout}, {}, {2, {6, 16, 1}, {3, 5, 0}, {0, 0, 0}});
    });
    EXPECT_NE(
        message.find("the local size of axis 1 does not divide the global size; got 5 and 16"),
        std::string::npos)
        << message;
}
