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

/// out[i] = in[n - 1 - i], for packed vectors of int64.
void reverse(const library::NoAttributes&, std::span<const View> in, const View& out) {
    auto n = out.layout->size();
    auto stride = in[0].layout->strides()[0];
    auto* from = reinterpret_cast<const std::int64_t*>(in[0].data());
    auto* to = reinterpret_cast<std::int64_t*>(out.data());
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[(n - 1 - i) * stride];
}

void give_up(const library::NoAttributes&, std::span<const View>, const View&) {
    fail(ErrorKind::Value, "fails: on purpose");
}
void give_up_wide(const library::NoAttributes&, std::span<const View>, std::span<const View>) {
    fail(ErrorKind::Value, "fails: on purpose");
}

constexpr Primitive reversing{"reverse", Primitive::Effect::New, "a vector from its end"};
constexpr Primitive reversing_into{"reverse", Primitive::Effect::Part, "into memory that exists"};
constexpr Primitive adding{"add_all", Primitive::Effect::New, "sums and counts of operands"};
constexpr Primitive failing{"fails", Primitive::Effect::New, "nothing"};

Array doubled(const Array& a) {
    Arg args[] = {a.arg(), a.arg()};
    return apply(Op::Add, args);
}

TEST(LibraryCall, RunsBetweenTheStatementsAroundIt) {
    Array a = iota(5, nullptr);
    Array twice = doubled(a);
    std::int64_t shape[] = {5};
    Array in[] = {twice};
    Array reversed =
        library::call<reverse>(reversing, in, shape, DType::Int64, library::NoAttributes{});
    assign(twice, Arg{scalar_operand(Scalar::of(DType::Int64, 7)), Weak::Int});
    EXPECT_EQ(values(doubled(reversed)), (std::vector<std::int64_t>{16, 12, 8, 4, 0}));
    EXPECT_EQ(values(twice), (std::vector<std::int64_t>{7, 7, 7, 7, 7}));
}

TEST(LibraryCall, OverlappingOutputSeesTheInputFromBefore) {
    Array a = doubled(iota(5, nullptr));
    Array in[] = {a};
    library::call_into<reverse>(reversing_into, in, a, library::NoAttributes{});
    EXPECT_EQ(values(a), (std::vector<std::int64_t>{8, 6, 4, 2, 0}));
}

TEST(LibraryCall, FailureSpoilsItsResultOnly) {
    Array a = doubled(iota(5, nullptr));
    Array in[] = {a};
    std::int64_t shape[] = {5};
    Array bad = library::call<give_up>(failing, in, shape, DType::Int64, library::NoAttributes{});
    EXPECT_THROW(values(bad), Error);
    EXPECT_THROW(values(doubled(bad)), Error);
    Array again[] = {bad};
    EXPECT_THROW(values(library::call<reverse>(reversing, again, shape, DType::Int64,
                                               library::NoAttributes{})),
                 Error);
    EXPECT_EQ(values(a), (std::vector<std::int64_t>{0, 2, 4, 6, 8}));
}

TEST(LibraryCall, TakesKnownScalarsAndRefusesReadOnlyOutput) {
    Array known = Array::known(Scalar::of(DType::Int64, 3));
    EXPECT_EQ(values(library::stored(known)), (std::vector<std::int64_t>{3}));
    Array a = iota(5, nullptr);
    a.set_readonly();
    Array in[] = {a};
    EXPECT_THROW(library::call_into<reverse>(reversing_into, in, a, library::NoAttributes{}),
                 Error);
}

/// sums[i] = a[i] + ... over all operands, and counts[i] = their number.
void add_all(const library::NoAttributes&, std::span<const View> in, std::span<const View> out) {
    auto* sums = reinterpret_cast<std::int64_t*>(out[0].data());
    auto* counts = reinterpret_cast<std::int64_t*>(out[1].data());
    for (std::int64_t i = 0; i < out[0].layout->size(); ++i) {
        sums[i] = 0;
        counts[i] = static_cast<std::int64_t>(in.size());
        for (const View& v : in)
            sums[i] += reinterpret_cast<const std::int64_t*>(v.data())[i * v.layout->strides()[0]];
    }
}

constexpr std::int64_t long_size = 5000;  // more than small calls take, which are not recorded

/// Five operands, pending ones among them, and two results.
std::vector<Array> call_of_five(const Array& a) {
    Array twice = doubled(a);
    const Array in[] = {a, twice, a, doubled(twice), a};
    const std::int64_t n = a.size();
    const library::Result results[] = {{{n}, DType::Int64}, {{n}, DType::Int64}};
    return library::call_wide<add_all>(adding, in, results, library::NoAttributes{});
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
    const library::Result results[] = {{{1}, DType::Int64}, {{long_size}, DType::Int64}};
    auto bad = library::call_wide<give_up_wide>(failing, {&a, 1}, results, library::NoAttributes{});
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

TEST(LibraryCall, OrdersStatementsByWhatItTouchesAlone) {
    // Statements around a call that share nothing with it are one kernel.
    Array a = iota(long_size, nullptr), b = iota(long_size, nullptr);
    Tape::current().flush_all(FlushReason::Eval);
    const std::int64_t before = Context::current().total(&Counters::kernels_launched);
    Array first = doubled(a);
    Array in[] = {b};
    const std::int64_t shape[] = {long_size};
    Array reversed =
        library::call<reverse>(reversing, in, shape, DType::Int64, library::NoAttributes{});
    Array second = doubled(first);
    Array from_call = doubled(reversed);
    Tape::current().flush_all(FlushReason::Eval);
    EXPECT_EQ(Context::current().total(&Counters::kernels_launched), before + 2);
    EXPECT_EQ(values(second)[5], 20);
    EXPECT_EQ(values(from_call)[0], 2 * (long_size - 1));
}

}  // namespace
}  // namespace unisono
