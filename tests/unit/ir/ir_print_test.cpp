// The printed form of IR: names, literals and every statement.
#include <gtest/gtest.h>

#include "ir/build.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// A function with an array `a` (float64, contiguous), an array `b` (read only) and a scalar `n`.
struct Sample {
    Function f{"sample"};
    Builder b{f};
    std::int32_t a =
        b.array_param("a", DType::Float64, 2, true, {StrideClass::Other, StrideClass::One});
    std::int32_t c = b.array_param("b", DType::Float64, 1, false);
    std::int32_t n = b.scalar_param("n", DType::Int64);
};

}  // namespace

TEST(IrPrint, LiteralsCarryTheirType) {
    Sample s;
    auto text = [&](Scalar v) { return print(s.f, s.b.constant(v)); };
    EXPECT_EQ(text(Scalar::of(DType::Int64, -3)), "-3");
    EXPECT_EQ(text(Scalar::of(DType::Int32, 3)), "3i32");
    EXPECT_EQ(text(Scalar::of(DType::UInt8, 3)), "3u8");
    EXPECT_EQ(text(Scalar::of(DType::Bool, true)), "true");
    EXPECT_EQ(text(Scalar::of(DType::Float64, 4.0)), "4.0");
    EXPECT_EQ(text(Scalar::of(DType::Float64, 0.1)), "0.1");
    EXPECT_EQ(text(Scalar::of(DType::Float64, 1e300)), "1e+300");
    EXPECT_EQ(text(Scalar::of(DType::Float32, -0.1F)), "-0.1f");
}

TEST(IrPrint, AmbiguousNamesGetASuffix) {
    Sample s;
    auto x = s.b.var("x", DType::Int64);
    auto y = s.b.var("x", DType::Int64);
    auto n = s.b.var("n", DType::Int64);
    auto taken = s.b.var("x.2", DType::Int64);
    EXPECT_EQ(print(s.f, s.b.read(x)), "x");
    EXPECT_EQ(print(s.f, s.b.read(y)), "x.2");
    EXPECT_EQ(print(s.f, s.b.read(n)), "n.2");
    EXPECT_EQ(print(s.f, s.b.read(taken)), "x.2.2");
}

TEST(IrPrint, Expressions) {
    Sample s;
    Builder& b = s.b;
    E n = b.param(s.n);
    E sum = b.add(n, b.mul(b.i64(2), n));
    EXPECT_EQ(print(s.f, sum), "n + (2 * n)");
    EXPECT_EQ(print(s.f, b.unary(Op::Neg, sum)), "-(n + (2 * n))");
    EXPECT_EQ(print(s.f, b.binary(Op::Min, sum, n)), "min(n + (2 * n), n)");
    EXPECT_EQ(print(s.f, b.extent(s.a, 1)), "a.shape[1]");
    EXPECT_EQ(print(s.f, b.stride(s.a, 0)), "a.stride[0]");
    EXPECT_EQ(print(s.f, b.stride(s.a, 1)), "1");
    EXPECT_EQ(print(s.f, b.load(s.a, {n, sum}, Access::Wrapped)), "a.wrapped[n, n + (2 * n)]");
    EXPECT_EQ(print(s.f, b.cast(n, DType::Float32)), "float32(n)");
    EXPECT_EQ(print(s.f, b.bitcast(n, DType::Float64)), "bits_as_float64(n)");
    EXPECT_EQ(print(s.f, b.select(b.binary(Op::Lt, n, b.i64(0)), n, sum)),
              "select(n < 0, n, n + (2 * n))");
    EXPECT_EQ(print(s.f, b.work_item(WorkItemQuery::GroupId, 2)), "group_id(2)");
}

TEST(IrPrint, Statements) {
    Sample s;
    Builder& b = s.b;
    s.f.results = {DType::Float64};
    b.line = {0, 4, 2};
    auto site = b.site(ErrorKind::Index, "index {0} is out of bounds");
    b.line = {};
    auto i = b.var("i", DType::Int64);
    auto total = b.var("total", DType::Float64);
    auto scratch = b.local_array("scratch", DType::Float64, 1, Space::Private);
    E zero = b.zero(DType::Float64);
    E size[] = {b.i64(8)};
    E at[] = {b.read(i)};
    E at2[] = {b.read(i), b.i64(0)};
    b.line = {0, 0, 5};
    S fill = b.store(s.a, at2, b.load(s.c, {at[0]}), Access::Checked, true);
    b.line = {};
    Reduction reductions[] = {{total, Op::Add}};
    S sum = b.assign(total, b.add(b.read(total), b.load(s.c, {at[0]})));
    E result[] = {b.read(total)};
    s.f.body = b.block({
        b.declare(total, zero),
        b.allocate(scratch, size),
        b.loop(LoopKind::Parallel, i, b.i64(0), b.param(s.n), b.i64(1), b.block({sum, b.next()}),
               reductions),
        b.loop(LoopKind::Serial, i, b.param(s.n), b.i64(0), b.i64(-1),
               b.block({fill, b.store(scratch, at, zero, Access::Linear),
                        b.atomic(s.a, Op::Max, at2, zero)})),
        b.loop_while(b.boolean(true), b.leave()),
        b.branch(b.binary(Op::Lt, b.param(s.n), b.i64(0)), b.raise(site, size), b.block({})),
        b.ret(result),
    });
    EXPECT_EQ(print(s.f),
              R"(function sample(a: float64[s, 1], b: float64[s] readonly, n: int64) -> float64
  fault 0: IndexError "index {0} is out of bounds"  # line 2
  var total: float64 = 0.0
  allocate scratch: float64[8] private
  parallel i in 0 to n reduce add total:
    total = total + b[i]
    continue
  for i in n to 0 step -1:
    a.checked[i, 0] = streaming b[i]  # line 5
    scratch.linear[i] = 0.0
    atomic max a[i, 0], 0.0
  while true:
    break
  if n < 0:
    raise 0 8
  else:
    pass
  return total
)");
}

TEST(IrPrint, ModulesAndKernels) {
    Module m;
    m.functions.emplace_back("entry");
    m.functions.emplace_back("helper");
    Builder h(m.functions[1]);
    auto v = h.array_param("v", DType::Float32, 1, true);
    auto k = h.scalar_param("k", DType::Int32);
    m.functions[1].results = {DType::Int32};
    E out[] = {h.param(k)};
    m.functions[1].body = h.ret(out);
    Builder b(m.functions[0]);
    auto w = b.array_param("w", DType::Float32, 1, true);
    auto r = b.var("r", DType::Int32);
    E scalars[] = {b.zero(DType::Int32)};
    std::int32_t arrays[] = {w};
    std::int32_t outs[] = {r};
    m.functions[0].is_kernel = true;
    m.functions[0].dimensions = 2;
    m.functions[0].body =
        b.block({b.barrier(), b.declare(r, nullptr), b.call(1, scalars, arrays, outs)});
    (void)v;
    EXPECT_EQ(print(m), R"(kernel entry(w: float32[s]) over 2
  barrier
  var r: int32
  r = call helper(w; 0i32)

function helper(v: float32[s], k: int32) -> int32
  return k
)");
}
