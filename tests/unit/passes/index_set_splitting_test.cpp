// The ends of loops become loops of their own where conditions change there, and only there.
#include "passes/loops/index_set_splitting.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "passes/cleanup/simplify.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// A loop over float64 arrays u, v of one axis: `v[i] = u[index]`.
struct Row {
    Row() {
        u = b.array_param("u", DType::Float64, 1, true, {StrideClass::One});
        v = b.array_param("v", DType::Float64, 1, true, {StrideClass::One});
        i = b.var("i", DType::Int64);
    }
    Module module;
    Builder b{module.functions.emplace_back("f")};
    std::int32_t u, v, i;

    E plus(std::int64_t k) { return b.add(b.read(i), b.i64(k)); }

    std::string split(E begin, E end, E index, LoopKind kind = LoopKind::Serial) {
        const E at[] = {b.read(i)};
        S body = b.store(v, at, b.load(u, {index}, Access::Linear), Access::Linear);
        b.function().body = b.block({b.loop(kind, i, begin, end, b.i64(1), body)});
        passes::simplify(module);
        passes::index_set_splitting(module);
        passes::simplify(module);
        verify(module);
        std::string text = print(module);
        return text.substr(text.find('\n') + 1);
    }
};

}  // namespace

TEST(IndexSetSplitting, BothEnds) {
    Row r;
    Builder& b = r.b;
    E n = b.extent(r.u, 0);
    E before = b.select(b.binary(Op::Lt, r.plus(-1), b.i64(0)), b.add(n, r.plus(-1)), r.plus(-1));
    E index = b.binary(Op::Min, b.add(before, b.i64(0)), b.sub(n, b.i64(1)));
    index = b.select(b.binary(Op::Ge, r.plus(1), n), b.i64(0), index);
    EXPECT_EQ(r.split(b.i64(0), n, index, LoopKind::Vector),
              R"(  var from: int64 = min(1, u.shape[0])
  unroll i in 0 to from:
    v.linear[i] = u.linear[select((i + 1) >= u.shape[0], 0, min(select((i - 1) < 0, u.shape[0] + (i - 1), i - 1), u.shape[0] - 1))]
  var to: int64 = max(u.shape[0] - 1, from)
  vector i in from to to:
    v.linear[i] = u.linear[min(i - 1, u.shape[0] - 1)]
  unroll i in to to u.shape[0]:
    v.linear[i] = u.linear[select((i + 1) >= u.shape[0], 0, min(select((i - 1) < 0, u.shape[0] + (i - 1), i - 1), u.shape[0] - 1))]
)");
}

TEST(IndexSetSplitting, ConditionsInTheMiddleStay) {
    Row r;
    Builder& b = r.b;
    std::int32_t k = b.scalar_param("k", DType::Int64);
    E index = b.select(b.binary(Op::Lt, b.read(r.i), b.param(k)), b.i64(0), b.read(r.i));
    std::string text = r.split(b.i64(0), b.extent(r.u, 0), index);
    EXPECT_EQ(text.find("unroll"), std::string::npos) << text;
    Row far;
    E later = far.b.binary(Op::Max, far.plus(-9), far.b.i64(0));
    text = far.split(far.b.i64(0), far.b.extent(far.u, 0), later);
    EXPECT_EQ(text.find("unroll"), std::string::npos) << text;
}
