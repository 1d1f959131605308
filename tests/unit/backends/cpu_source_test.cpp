// Properties of the LLVM IR made for loops of independent iterations: vectors, no calls, no
// run-time checks.
#include <gtest/gtest.h>

#include "backends/backend.h"
#include "ir/build.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// out[y, x] = (a[y, x] + b[y, x]) * a[y, x] over contiguous rows, parallel over y.
std::string source_of(bool streaming) {
    Module m;
    Builder b(m.functions.emplace_back("rows"));
    std::vector<StrideClass> rows{StrideClass::Other, StrideClass::One};
    auto x0 = b.array_param("a", DType::Float64, 2, false, rows);
    auto x1 = b.array_param("b", DType::Float64, 2, false, rows);
    auto out = b.array_param("out", DType::Float64, 2, true, rows);
    auto y = b.var("y", DType::Int64), x = b.var("x", DType::Int64);
    E at[] = {b.read(y), b.read(x)};
    E value = b.mul(b.add(b.load(x0, at), b.load(x1, at)), b.load(x0, at));
    S inner = b.loop(LoopKind::Vector, x, b.i64(0), b.extent(out, 1), b.i64(1),
                     b.store(out, at, value, Access::Inside, streaming));
    b.function().body =
        b.block({b.loop(LoopKind::Parallel, y, b.i64(0), b.extent(out, 0), b.i64(1), inner)});
    return find_device("cpu").compile(std::move(m), {})->source();
}

/// The body of the function whose name ends with .chunk.
std::string chunk_of(const std::string& text) {
    auto begin = text.find(".chunk(");
    return text.substr(begin, text.find("\n}", begin) - begin);
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(CpuSource, RowsAreVectorisedWithoutChecksOrCalls) {
    std::string body = chunk_of(source_of(false));
    EXPECT_TRUE(has(body, "x double>")) << body;
    EXPECT_FALSE(has(body, "memcheck")) << body;
    EXPECT_FALSE(has(body, "call")) << body;
    EXPECT_FALSE(has(body, "fma")) << body;
    EXPECT_FALSE(has(body, "fast")) << body;
    EXPECT_FALSE(has(body, "nontemporal")) << body;
}

TEST(CpuSource, StreamingStoresArePastTheCaches) {
    std::string body = chunk_of(source_of(true));
    EXPECT_TRUE(has(body, "!nontemporal")) << body;
    EXPECT_TRUE(has(body, "sfence")) << body;
    EXPECT_FALSE(has(body, "memcheck")) << body;
}
