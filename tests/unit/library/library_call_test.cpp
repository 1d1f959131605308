// Library calls keep their place among the statements of the tape.
#include "library/call.h"

#include <gtest/gtest.h>

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
void reverse(std::span<const View> in, const View& out) {
    auto n = out.layout->size();
    auto stride = in[0].layout->strides()[0];
    auto* from = reinterpret_cast<const std::int64_t*>(in[0].data());
    auto* to = reinterpret_cast<std::int64_t*>(out.data());
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[(n - 1 - i) * stride];
}

Array doubled(const Array& a) {
    Arg args[] = {a.arg(), a.arg()};
    return apply(Op::Add, args);
}

TEST(LibraryCall, RunsBetweenTheStatementsAroundIt) {
    Array a = iota(5, nullptr);
    Array twice = doubled(a);
    std::int64_t shape[] = {5};
    Array in[] = {twice};
    Array reversed = library::call("reverse", in, shape, DType::Int64, reverse);
    assign(twice, Arg{scalar_operand(Scalar::of(DType::Int64, 7)), Weak::Int});
    EXPECT_EQ(values(doubled(reversed)), (std::vector<std::int64_t>{16, 12, 8, 4, 0}));
    EXPECT_EQ(values(twice), (std::vector<std::int64_t>{7, 7, 7, 7, 7}));
}

TEST(LibraryCall, OverlappingOutputSeesTheInputFromBefore) {
    Array a = doubled(iota(5, nullptr));
    Array in[] = {a};
    library::call_into("reverse", in, a, reverse);
    EXPECT_EQ(values(a), (std::vector<std::int64_t>{8, 6, 4, 2, 0}));
}

TEST(LibraryCall, FailureSpoilsItsResultOnly) {
    Array a = doubled(iota(5, nullptr));
    Array in[] = {a};
    std::int64_t shape[] = {5};
    Array bad = library::call(
        "fails", in, shape, DType::Int64,
        [](std::span<const View>, const View&) { fail(ErrorKind::Value, "fails: on purpose"); });
    EXPECT_THROW(values(bad), Error);
    EXPECT_THROW(values(doubled(bad)), Error);
    Array again[] = {bad};
    EXPECT_THROW(values(library::call("reverse", again, shape, DType::Int64, reverse)), Error);
    EXPECT_EQ(values(a), (std::vector<std::int64_t>{0, 2, 4, 6, 8}));
}

TEST(LibraryCall, TakesKnownScalarsAndRefusesReadOnlyOutput) {
    Array known = Array::known(Scalar::of(DType::Int64, 3));
    EXPECT_EQ(values(library::stored(known)), (std::vector<std::int64_t>{3}));
    Array a = iota(5, nullptr);
    a.set_readonly();
    Array in[] = {a};
    EXPECT_THROW(library::call_into("reverse", in, a, reverse), Error);
}

}  // namespace
}  // namespace unisono
