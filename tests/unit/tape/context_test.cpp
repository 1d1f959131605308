// Contexts: several programs in one process, on threads of their own, that share plans and kernels.
#include "context/context.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "core/layout.h"
#include "core/pool.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono {
namespace {

Arg number(double v) { return {scalar_operand(Scalar::of(DType::Float64, v)), Weak::Float}; }

Array combine(Op op, const Arg& a, const Arg& b) {
    Arg args[] = {a, b};
    return apply(op, args);
}

Array part(const Array& a, std::int64_t first, std::int64_t count) {
    View v = a.view();
    const std::int64_t shape[] = {count}, strides[] = {1};
    v.layout = Layout::make(shape, strides);
    v.offset += first;
    return Array::of(v);
}

std::vector<double> values(const Array& a) {
    const auto* data = reinterpret_cast<const double*>(host_data(a, false));
    return {data, data + a.size()};
}

/// A program of `statements` statements on arrays of many sizes: slices, in-place writes,
/// reductions over one and two axes, temporaries that die. Other numbers for other seeds.
std::vector<double> run_program(unsigned seed, int statements) {
    const std::int64_t n = 1000 + seed;
    Array x = astype(iota(n, nullptr), DType::Float64, true);
    std::vector<double> found;
    std::uint64_t state = seed;
    for (int k = 0; k < statements; k += 4) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto offset = static_cast<std::int64_t>(state >> 60);
        Array left = part(x, offset, n - 17), right = part(x, 16 - offset, n - 17);
        Array sum = combine(Op::Add, left.arg(), right.arg());
        Array half = combine(Op::Mul, sum.arg(), number(.5));
        assign(part(x, 8, n - 17), half.arg());
        if (k % 400 == 0) {
            Array total = reduce(Op::Add, x, std::nullopt, false);
            found.push_back(item(total).as<double>());
        } else {
            combine(Op::Sub, half.arg(), number(static_cast<double>(k)));
        }
    }
    for (double v : values(x)) found.push_back(v);
    return found;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

constexpr int statements = 100'000;

TEST(ContextThreads, TwoContextsComputeTheBitsThatEachComputesAlone) {
    std::vector<double> alone[2], together[2];
    std::int64_t flushes[2];
    for (unsigned seed : {0u, 1u}) {
        Context context;
        Context::Scope inside(context);
        alone[seed] = run_program(seed, statements);
        flushes[seed] = counters().flushes;
    }
    std::int64_t flushes_together[2] = {};
    std::vector<std::thread> threads;
    for (unsigned seed : {0u, 1u}) {
        threads.emplace_back([&, seed] {
            Context context;
            Context::Scope inside(context);
            together[seed] = run_program(seed, statements);
            flushes_together[seed] = counters().flushes;
        });
    }
    for (std::thread& t : threads) t.join();
    for (unsigned seed : {0u, 1u}) {
        EXPECT_TRUE(same_bits(alone[seed], together[seed])) << seed;
        EXPECT_EQ(flushes[seed], flushes_together[seed]) << seed;
    }
}

TEST(ContextThreads, VariantsOfOneKernelAreCompiledOnceForAllThatWantThem) {
    // Large reductions of every kind: leaves, trees, pieces, axis by axis, all compiled at once.
    auto program = [] {
        const std::vector<std::int64_t> shape = {40, 50, 700};
        Array x = reshape(astype(iota(40 * 50 * 700, nullptr), DType::Float64, true), shape);
        std::vector<double> found;
        for (int axis : {0, 1, 2}) {
            Array y = combine(Op::Mul, x.arg(), number(3 + axis));
            for (double v : values(reduce(Op::Add, y, std::vector<int>{axis}, false)))
                found.push_back(v);
        }
        for (double v : values(reduce(Op::Add, x, std::vector<int>{0, 2}, false)))
            found.push_back(v);
        found.push_back(item(reduce(Op::Add, x, std::nullopt, false)).as<double>());
        return found;
    };
    auto repeated = [&] {
        Context context;
        Context::Scope inside(context);
        std::vector<double> found;
        for (int k = 0; k < 12; ++k) found = program();
        return found;
    };
    std::vector<double> results[4];
    std::vector<std::thread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = repeated(); });
    for (std::thread& t : threads) t.join();
    const std::vector<double> alone = repeated();
    for (const auto& result : results) EXPECT_TRUE(same_bits(result, alone));
}

TEST(Context, OwnsItsTapeItsCountersAndItsLayouts) {
    const std::int64_t before = Context::main().counters.kernels_launched;
    const std::size_t pending = Tape::current().length();
    Context context;
    {
        Context::Scope inside(context);
        EXPECT_EQ(&Context::current(), &context);
        Array x = astype(iota(10, nullptr), DType::Float64, true);
        Array y = combine(Op::Add, x.arg(), number(1));
        EXPECT_GT(Tape::current().length(), 0u);
        EXPECT_EQ(values(y).back(), 10.);
        EXPECT_GT(Context::current().total(&Counters::kernels_launched), 0);
        EXPECT_GT(Layout::interned(), 0u);
        EXPECT_EQ(Layout::scalar(), Layout::make({}, {}));
    }
    EXPECT_EQ(&Context::current(), &Context::main());
    EXPECT_EQ(Context::main().counters.kernels_launched, before);
    EXPECT_EQ(Tape::current().length(), pending);
}

TEST(Context, LeavesMemoryOfArraysThatOutliveIt) {
    const std::int64_t in_use = pool::usage().in_use;
    Array kept;
    Context other;  // where the array is released
    {
        Context context;
        Context::Scope inside(context);
        kept = astype(iota(1000, nullptr), DType::Float64, true);
        values(kept);
        combine(Op::Add, kept.arg(), number(1));  // pending when its context ends
    }
    EXPECT_EQ(reinterpret_cast<const double*>(kept.view().data())[999], 999.);
    {
        Context::Scope inside(other);
        kept = Array();
    }
    EXPECT_EQ(pool::usage().in_use, in_use);
}

}  // namespace
}  // namespace unisono
