// Library calls keep their place among the statements of the tape.
#include "primitives/primitive.h"

#include <gtest/gtest.h>

#include "context/context.h"
#include "core/error.h"
#include "tape/record/record.h"
#include "tape/tape.h"

namespace unisono {
namespace {

std::vector<std::int64_t> values(const Array& a) {
    Array p = library::packed(a);
    auto* data = reinterpret_cast<std::int64_t*>(host_data(p, false));
    return {data, data + p.size()};
}

using primitives::NoAttributes;
using primitives::Operands;
using primitives::Results;

/// out[i] = in[n - 1 - i], for packed vectors of int64.
void reverse(const NoAttributes&, Views in, Views out) {
    auto n = out[0].layout->size();
    auto stride = in[0].layout->strides()[0];
    auto* from = reinterpret_cast<const std::int64_t*>(in[0].data());
    auto* to = reinterpret_cast<std::int64_t*>(out[0].data());
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[(n - 1 - i) * stride];
}

/// sums[i] = a[i] + ... over all operands, and counts[i] = their number.
void add_all(const NoAttributes&, Views in, Views out) {
    auto* sums = reinterpret_cast<std::int64_t*>(out[0].data());
    auto* counts = reinterpret_cast<std::int64_t*>(out[1].data());
    for (std::int64_t i = 0; i < out[0].layout->size(); ++i) {
        sums[i] = 0;
        counts[i] = static_cast<std::int64_t>(in.size());
        for (const View& v : in)
            sums[i] += reinterpret_cast<const std::int64_t*>(v.data())[i * v.layout->strides()[0]];
    }
}

void give_up(const NoAttributes&, Views, Views) { fail(ErrorKind::Value, "fails: on purpose"); }

void two_like_operand(const NoAttributes&, Operands operands, Results& results) {
    results.add(DType::Int64, operands[0].shape);
    results.add(DType::Int64, operands[0].shape);
}

constexpr Primitive facts(const char* name, Primitive::Effect effect,
                          Primitive::Peeks peeks = Primitive::Peeks::Never) {
    return {name, name, effect, peeks, Primitive::Work::Elements, "(n)->(n)", "for tests"};
}
using enum Primitive::Effect;
using primitives::rules::like_operand;
using primitives::rules::nothing;
constexpr Row<NoAttributes> reversing{facts("reverse", New), like_operand, reverse};
constexpr Row<NoAttributes> reversing_into{facts("reverse", Part), nothing, reverse};
constexpr Row<NoAttributes> adding{facts("add_all", New), two_like_operand, add_all};
constexpr Row<NoAttributes> failing{facts("fails", New), like_operand, give_up};
constexpr Row<NoAttributes> failing_wide{facts("fails", New), two_like_operand, give_up};
constexpr Row<NoAttributes> checking{facts("checks", New, Primitive::Peeks::Errors), like_operand,
                                     give_up};
constexpr Row<NoAttributes> reversing_now{facts("reverse", New, Primitive::Peeks::Errors),
                                          like_operand, reverse};

Array doubled(const Array& a) {
    Arg args[] = {a.arg(), a.arg()};
    return apply(Op::Add, args);
}

TEST(LibraryCall, RunsBetweenTheStatementsAroundIt) {
    Array a = iota(5, nullptr);
    Array twice = doubled(a);
    Array in[] = {twice};
    Array reversed = library::call(reversing, in, {});
    assign(twice, Arg{scalar_operand(Scalar::of(DType::Int64, 7)), Weak::Int});
    EXPECT_EQ(values(doubled(reversed)), (std::vector<std::int64_t>{16, 12, 8, 4, 0}));
    EXPECT_EQ(values(twice), (std::vector<std::int64_t>{7, 7, 7, 7, 7}));
}

TEST(LibraryCall, OverlappingOutputSeesTheInputFromBefore) {
    Array a = doubled(iota(5, nullptr));
    Array in[] = {a};
    library::call_into(reversing_into, in, a, {});
    EXPECT_EQ(values(a), (std::vector<std::int64_t>{8, 6, 4, 2, 0}));
}

TEST(LibraryCall, FailureSpoilsItsResultOnly) {
    Array a = doubled(iota(5, nullptr));
    Array in[] = {a};
    Array bad = library::call(failing, in, {});
    EXPECT_THROW(values(bad), Error);
    EXPECT_THROW(values(doubled(bad)), Error);
    Array again[] = {bad};
    EXPECT_THROW(values(library::call(reversing, again, {})), Error);
    EXPECT_EQ(values(a), (std::vector<std::int64_t>{0, 2, 4, 6, 8}));
}

TEST(LibraryCall, TakesKnownScalarsAndRefusesReadOnlyOutput) {
    Array known = Array::known(Scalar::of(DType::Int64, 3));
    EXPECT_EQ(values(materialised(known)), (std::vector<std::int64_t>{3}));
    Array a = iota(5, nullptr);
    a.set_readonly();
    Array in[] = {a};
    EXPECT_THROW(library::call_into(reversing_into, in, a, {}), Error);
}

constexpr std::int64_t long_size = 5000;  // more than small calls take, which are not recorded

/// Five operands, pending ones among them, and two results.
std::vector<Array> call_of_five(const Array& a) {
    Array twice = doubled(a);
    const Array in[] = {a, twice, a, doubled(twice), a};
    return library::call_wide(adding, in, {});
}

TEST(WideCall, TakesAnyNumberOfOperandsAndGivesSeveralResults) {
    const std::size_t before = Tape::current().length();
    Array a = iota(long_size, nullptr);
    auto made = call_of_five(a);
    EXPECT_EQ(Tape::current().length(), before + 4);  // iota, two sums, one call
    // What an operand becomes later does not count.
    assign(a, Arg{scalar_operand(Scalar::of(DType::Int64, -1)), Weak::Int});
    EXPECT_EQ(values(doubled(made[1]))[7], 10);
    EXPECT_EQ(values(made[0])[7], 7 * (1 + 2 + 1 + 4 + 1));
    EXPECT_EQ(values(a)[7], -1);
}

TEST(WideCall, RunsForAnyOfItsResultsAndNotWithoutOne) {
    const std::int64_t kernels = counters().flushes;
    {
        auto dropped = call_of_five(iota(long_size, nullptr));
        Tape::current().expect_dead();
    }
    Array second = call_of_five(iota(long_size, nullptr))[1];  // the first result dies
    EXPECT_EQ(values(second)[3], 5);
    EXPECT_EQ(counters().flushes, kernels + 1);
    EXPECT_EQ(Tape::current().length(), 0u);
}

TEST(WideCall, FailurePoisonsAllOfItsResults) {
    Array a = iota(long_size, nullptr), other = doubled(a);
    auto bad = library::call_wide(failing_wide, {&a, 1}, {});
    EXPECT_THROW(values(bad[1]), Error);
    EXPECT_THROW(values(bad[0]), Error);
    EXPECT_THROW(values(doubled(bad[1])), Error);
    EXPECT_EQ(values(other)[3], 6);
}

TEST(WideCall, InPlaceWritesOnItsResultsComeAfterIt) {
    auto made = call_of_five(iota(long_size, nullptr));
    Array both = doubled(made[1]);
    assign(made[1], Arg{scalar_operand(Scalar::of(DType::Int64, 3)), Weak::Int});
    Array after = doubled(made[1]);
    EXPECT_EQ(values(after)[0], 6);
    EXPECT_EQ(values(both)[0], 10);
    EXPECT_EQ(values(made[0])[2], 18);
}

TEST(LibraryCall, WhatPeeksAtDataRunsWithWhatItNeedsAndNothingElse) {
    Array a = iota(long_size, nullptr), other = iota(long_size, nullptr);
    Array twice = doubled(a), unrelated = doubled(other);
    const std::size_t pending = Tape::current().length();
    Array reversed = library::call(reversing_now, {&twice, 1}, {});
    EXPECT_EQ(Tape::current().log().back().reason, FlushReason::Check);
    EXPECT_EQ(Tape::current().length(), pending - 2);  // iota and doubled(a) ran
    EXPECT_EQ(values(reversed)[0], 2 * (long_size - 1));
    EXPECT_EQ(values(unrelated)[2], 4);
}

TEST(LibraryCall, WhatPeeksAtDataThrowsAtTheCallAndPoisonsNothing) {
    const std::size_t before = Tape::current().length();
    Array a = iota(long_size, nullptr);
    Array twice = doubled(a);
    EXPECT_THROW(library::call(checking, {&twice, 1}, {}), Error);
    EXPECT_EQ(Tape::current().length(), before);
    EXPECT_EQ(values(twice)[3], 6);
    EXPECT_EQ(values(doubled(twice))[3], 12);
}

TEST(LibraryCall, OrdersStatementsByWhatItTouchesAlone) {
    // Statements around a call that share nothing with it are one kernel.
    Array a = iota(long_size, nullptr), b = iota(long_size, nullptr);
    Tape::current().flush_all(FlushReason::Eval);
    const std::int64_t before = Context::current().total(&Counters::kernels_launched);
    Array first = doubled(a);
    Array in[] = {b};
    Array reversed = library::call(reversing, in, {});
    Array second = doubled(first);
    Array from_call = doubled(reversed);
    Tape::current().flush_all(FlushReason::Eval);
    EXPECT_EQ(Context::current().total(&Counters::kernels_launched), before + 2);
    EXPECT_EQ(values(second)[5], 20);
    EXPECT_EQ(values(from_call)[0], 2 * (long_size - 1));
}

}  // namespace
}  // namespace unisono
