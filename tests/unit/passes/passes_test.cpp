// Each pass by itself: what it makes of a small function, in the printed form.
#include <gtest/gtest.h>

#include "passes/cleanup/copy_propagation.h"
#include "passes/cleanup/full_unrolling.h"
#include "passes/cleanup/licm.h"
#include "passes/cleanup/simplify.h"
#include "passes/cleanup/stack_promotion.h"
#include "passes/kernels/wrap_work_items.h"
#include "passes/loops/points_in_lanes.h"
#include "passes/loops/sums_in_lanes.h"
#include "passes/lowering/lower_access.h"
#include "passes/lowering/reductions.h"
#include "passes/lowering/split_complex.h"
#include "unit/passes/pass_sample.h"

using namespace unisono;
using namespace unisono::ir;

TEST(LowerAccess, WrappedIndicesAreTestedValueFirst) {
    Sample s;
    Builder& b = s.b;
    b.line = {0, 0, 3};
    E at[] = {b.load(s.r, {b.param(s.n)}, Access::Wrapped), b.i64(-1)};
    S body =
        b.store(s.a, at, b.load(s.a, {b.param(s.n), b.i64(0)}, Access::Checked), Access::Wrapped);
    EXPECT_EQ(
        s.after(body, [](Module& m) { passes::lower_access(m); }),
        R"(  fault 0: IndexError "index {0} is out of bounds for axis 0 with size {1}"  # line 3
  fault 1: IndexError "index {0} is out of bounds for axis 1 with size {1}"  # line 3
  if (n < 0) | (n >= a.shape[0]):  # line 3
    raise 0 n, a.shape[0]  # line 3
  if 0 >= a.shape[1]:  # line 3
    raise 1 0, a.shape[1]  # line 3
  var index: int64 = select(n < 0, n + r.shape[0], n)  # line 3
  if (index < 0) | (index >= r.shape[0]):  # line 3
    raise 0 n, r.shape[0]  # line 3
  var index.2: int64 = r.linear[index * r.stride[0]]  # line 3
  var index.3: int64 = select(index.2 < 0, index.2 + a.shape[0], index.2)  # line 3
  if (index.3 < 0) | (index.3 >= a.shape[0]):  # line 3
    raise 0 index.2, a.shape[0]  # line 3
  var index.4: int64 = a.shape[1] - 1  # line 3
  if (index.4 < 0) | (index.4 >= a.shape[1]):  # line 3
    raise 1 -1, a.shape[1]  # line 3
  a.linear[(index.3 * a.stride[0]) + index.4] = a.linear[n * a.stride[0]]  # line 3
)");
}

TEST(LowerAccess, ConditionsOfWhileAreTestedEachTime) {
    Sample s;
    Builder& b = s.b;
    auto i = b.var("i", DType::Int64);
    E more = b.binary(Op::Lt, b.load(s.r, {b.read(i)}, Access::Checked), b.i64(5));
    S body = b.block(
        {b.declare(i, b.i64(0)), b.loop_while(more, b.assign(i, b.add(b.read(i), b.i64(1))))});
    EXPECT_EQ(s.after(body, [](Module& m) { passes::lower_access(m); }),
              R"(  fault 0: IndexError "index {0} is out of bounds for axis 0 with size {1}"
  var i: int64 = 0
  while true:
    if (i < 0) | (i >= r.shape[0]):
      raise 0 i, r.shape[0]
    if not(r.linear[i * r.stride[0]] < 5):
      break
    i = i + 1
)");
}

TEST(LowerAccess, AllocatedArraysAreRowMajor) {
    Sample s;
    Builder& b = s.b;
    auto t = b.local_array("t", DType::Float64, 2, Space::Local);
    E extents[] = {b.i64(4), b.add(b.param(s.n), b.i64(1))};
    E at[] = {b.param(s.n), b.i64(2)};
    S body = b.block({b.allocate(t, extents), b.store(t, at, s.zero, Access::Checked)});
    EXPECT_EQ(s.after(body, [](Module& m) { passes::lower_access(m); }),
              R"(  fault 0: IndexError "index {0} is out of bounds for axis 0 with size {1}"
  fault 1: IndexError "index {0} is out of bounds for axis 1 with size {1}"
  var extent: int64 = n + 1
  allocate t: float64[4, extent] local
  if (n < 0) | (n >= 4):
    raise 0 n, 4
  if 2 >= extent:
    raise 1 2, extent
  t.linear[(n * extent) + 2] = 0.0
)");
}

TEST(Reductions, ChunksFollowFromTheTripCount) {
    Sample s;
    Builder& b = s.b;
    auto i = b.var("i", DType::Int64);
    auto total = b.var("total", DType::Float64);
    Reduction sum[] = {{total, Op::Add}};
    S add = b.assign(total, b.add(b.read(total), b.load(s.a, {b.read(i), b.i64(0)})));
    S body = b.block({b.declare(total, s.zero),
                      b.loop(LoopKind::Parallel, i, b.i64(1), b.param(s.n), b.i64(1), add, sum)});
    EXPECT_EQ(s.after(body,
                      [](Module& m) {
                          passes::reductions(m);
                          passes::simplify(m);
                      }),
              R"(  var total: float64 = 0.0
  var count: int64 = max(n - 1, 0)
  var chunk_size: int64 = (count + 255) // 256
  var chunks: int64 = int64(uint64((count + chunk_size) - 1) // uint64(chunk_size))
  allocate total.partials: float64[256] global
  parallel chunk in 0 to chunks:
    var total.chunk: float64 = -0.0
    for i in (chunk * chunk_size) + 1 to min((chunk * chunk_size) + chunk_size, count) + 1:
      total.chunk = total.chunk + a[i, 0]
    total.partials[chunk] = total.chunk
  for chunk.2 in 0 to min(chunks, 256):
    total = total + total.partials[chunk.2]
)");
}

TEST(Simplify, KeepsBits) {
    Sample s;
    Builder& b = s.b;
    auto text = [&](E e) { return print(b.function(), passes::simplified(b, e)); };
    E n = b.param(s.n);
    E x = b.load(s.a, {n, n});
    EXPECT_EQ(text(b.add(n, b.i64(0))), "n");
    EXPECT_EQ(text(b.mul(b.i64(1), n)), "n");
    EXPECT_EQ(text(b.mul(n, b.i64(0))), "0");
    EXPECT_EQ(text(b.sub(b.add(n, b.i64(1)), b.i64(3))), "n - 2");
    EXPECT_EQ(text(b.add(b.sub(n, b.i64(1)), b.i64(1))), "n");
    EXPECT_EQ(text(b.add(b.i64(INT64_MAX), b.i64(1))), "-9223372036854775808");
    EXPECT_EQ(text(b.add(x, s.zero)), "a[n, n] + 0.0");
    EXPECT_EQ(text(b.mul(x, s.zero)), "a[n, n] * 0.0");
    EXPECT_EQ(text(b.unary(Op::Exp, s.zero)), "exp(0.0)");
    EXPECT_EQ(text(b.binary(Op::Div, b.constant(Scalar::of(DType::Float32, 1.0)),
                            b.constant(Scalar::of(DType::Float32, 3.0)))),
              "0.33333334f");
    EXPECT_EQ(text(b.mul(b.load(s.r, {n}, Access::Checked), b.i64(0))), "r.checked[n] * 0");
    EXPECT_EQ(text(b.binary(Op::And, b.boolean(true), b.binary(Op::Lt, n, b.i64(3)))), "n < 3");
    EXPECT_EQ(text(b.cast(b.constant(Scalar::of(DType::Float64, -1.5)), DType::Int32)), "-1i32");
}

namespace {

/// A kernel over arrays x and y (float64, contiguous).
struct Kernel {
    explicit Kernel(int dimensions) {
        b.function().is_kernel = true;
        b.function().dimensions = dimensions;
    }
    Module module;
    Builder b{module.functions.emplace_back("k")};
    std::int32_t x = b.array_param("x", DType::Float64, 1, false, {StrideClass::One});
    std::int32_t y = b.array_param("y", DType::Float64, 1, true, {StrideClass::One});

    std::string wrapped(S body) {
        b.function().body = body;
        verify(module);
        passes::wrap_work_items(module);
        passes::simplify(module);
        verify(module);
        return print(module);
    }
    S put(E index, E value) {
        E at[] = {index};
        return b.store(y, at, value);
    }
};

}  // namespace

TEST(WrapWorkItems, KernelsLoopOverGroupsAndItems) {
    Kernel k(1);
    Builder& b = k.b;
    auto i = b.var("i", DType::Int64);
    S early = b.branch(b.binary(Op::Ge, b.read(i), b.i64(100)), b.ret({}));
    S body = b.block({b.declare(i, b.work_item(WorkItemQuery::GlobalId, 0)), early,
                      k.put(b.read(i), b.load(k.x, {b.read(i)}))});
    EXPECT_EQ(
        k.wrapped(body),
        R"(function k(x: float64[1] readonly, y: float64[1], global_size.0: int64, local_size.0: int64, global_offset.0: int64)
  var group_count.0: int64 = ((global_size.0 + local_size.0) - 1) // local_size.0
  group group in 0 to group_count.0 axis 0:
    var group_id.0: int64 = group
    var first.0: int64 = group_id.0 * local_size.0
    var size.0: int64 = min(local_size.0, global_size.0 - first.0)
    item item.0 in 0 to size.0 axis 0:
      var global_id.0: int64 = (first.0 + item.0) + global_offset.0
      var i: int64 = global_id.0
      if i >= 100:
        continue
      y[i] = x[i]
)");
}

TEST(WrapWorkItems, BarriersCutTheBody) {
    Kernel k(1);
    Builder& b = k.b;
    auto t = b.local_array("t", DType::Float64, 1, Space::Local);
    auto lid = b.var("lid", DType::Int64);
    auto v = b.var("v", DType::Float64);
    auto h = b.var("h", DType::Int64);
    E extent[] = {b.i64(64)};
    E at[] = {b.read(lid)};
    S sum = b.branch(b.binary(Op::Lt, b.read(lid), b.read(h)),
                     b.assign(v, b.add(b.read(v), b.load(t, {b.add(b.read(lid), b.read(h))}))));
    S body = b.block({b.allocate(t, extent), b.declare(lid, b.work_item(WorkItemQuery::LocalId, 0)),
                      b.declare(v, b.load(k.x, {b.work_item(WorkItemQuery::GlobalId, 0)})),
                      b.loop(LoopKind::Serial, h, b.i64(1), b.i64(3), b.i64(1),
                             b.block({b.store(t, at, b.read(v)), b.barrier(), sum, b.barrier()})),
                      k.put(b.work_item(WorkItemQuery::GlobalId, 0), b.read(v))});
    EXPECT_EQ(
        k.wrapped(body),
        R"(function k(x: float64[1] readonly, y: float64[1], global_size.0: int64, local_size.0: int64, global_offset.0: int64)
  var group_count.0: int64 = ((global_size.0 + local_size.0) - 1) // local_size.0
  group group in 0 to group_count.0 axis 0:
    var group_id.0: int64 = group
    var first.0: int64 = group_id.0 * local_size.0
    var size.0: int64 = min(local_size.0, global_size.0 - first.0)
    allocate v.items: float64[local_size.0] local
    allocate t: float64[64] local
    item item.0 in 0 to size.0 axis 0:
      var global_id.0: int64 = (first.0 + item.0) + global_offset.0
      var lid: int64 = item.0
      v.items[item.0] = x[global_id.0]
    for h in 1 to 3:
      item item.0 in 0 to size.0 axis 0:
        var lid: int64 = item.0
        t[lid] = v.items[item.0]
      item item.0 in 0 to size.0 axis 0:
        var lid: int64 = item.0
        if lid < h:
          v.items[item.0] = v.items[item.0] + t[lid + h]
    item item.0 in 0 to size.0 axis 0:
      var global_id.0.2: int64 = (first.0 + item.0) + global_offset.0
      y[global_id.0.2] = v.items[item.0]
)");
}

TEST(SplitComplex, PartsBecomeVariablesAndAccessesNameThem) {
    Sample s;
    Builder& b = s.b;
    std::int32_t z = b.array_param("z", DType::Complex128, 1, true, {StrideClass::One});
    std::int32_t v = b.var("v", DType::Complex128), i = b.var("i", DType::Int64);
    E at[] = {b.read(i)};
    E product = b.mul(b.load(z, at), b.read(v));
    S body = b.block(
        {b.declare(v, b.number(DType::Complex128, 2)),
         b.loop(LoopKind::Serial, i, b.i64(0), b.extent(z, 0), b.i64(1),
                b.block({b.store(z, at, product),
                         b.assign(v, b.pair(b.part(b.read(v), 1), b.part(b.read(v), 0)))}))});
    EXPECT_EQ(s.after(body, [](ir::Module& m) { passes::split_complex(m, true); }),
              R"(  var v.real: float64 = 2.0
  var v.imag: float64 = 0.0
  for i in 0 to z.shape[0]:
    var t: float64 = z[i].real
    var t.2: float64 = z[i].imag
    var t.3: float64 = (t * v.real) - (t.2 * v.imag)
    var t.4: float64 = (t * v.imag) + (t.2 * v.real)
    z[i].real = t.3
    z[i].imag = t.4
    var t.5: float64 = v.real
    v.real = v.imag
    v.imag = t.5
)");
}

TEST(SplitComplex, ComparesAndSelectsByParts) {
    Sample s;
    Builder& b = s.b;
    std::int32_t z = b.array_param("z", DType::Complex64, 1, true, {StrideClass::One});
    E at[] = {b.param(s.n)};
    E x = b.load(z, at, Access::Wrapped), zero = b.zero(DType::Complex64);
    S body =
        b.store(z, at, b.select(b.binary(Op::Eq, x, zero), b.cast(b.i64(3), DType::Complex64), x),
                Access::Wrapped);
    EXPECT_EQ(s.after(body, [](ir::Module& m) { passes::split_complex(m, true); }),
              R"(  var t: float32 = z.wrapped[n].real
  var t.2: float32 = z.wrapped[n].imag
  var t.3: bool = (t == 0.0f) & (t.2 == 0.0f)
  var t.4: float32 = float32(3)
  var t.5: float32 = select(t.3, t.4, t)
  var t.6: float32 = select(t.3, 0.0f, t.2)
  z.wrapped[n].real = t.5
  z.wrapped[n].imag = t.6
)");
}

TEST(SumsInLanes, UpdatesOfColumnsGoRowByRow) {
    Sample s;
    Builder& b = s.b;
    std::int32_t i = b.var("i", DType::Int64);
    std::int32_t j = b.var("j", DType::Int64);
    E at[] = {b.add(b.mul(b.read(i), b.stride(s.a, 0)), b.read(j))};
    E half = b.mul(b.load(s.a, at, Access::Linear), b.number(DType::Float64, 0.5));
    S update = b.store(s.a, at, half, Access::Linear);
    S column = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(s.a, 0), b.i64(1), update);
    S body = b.loop(LoopKind::Serial, j, b.i64(0), b.extent(s.a, 1), b.i64(1), column);
    EXPECT_EQ(s.after(body, passes::sums_in_lanes), R"(  var first: int64 = 0
  if (a.shape[1] >= 8) & ((true & ((a.stride[0] >= a.shape[1]) | (a.stride[0] <= (a.shape[1] * -1)))) & ((a.stride[0] >= a.shape[1]) | (a.stride[0] <= (a.shape[1] * -1)))):
    for strip in 0 to (a.shape[1] - first) >> 6:
      var at: int64 = first + (strip * 64)
      for i in 0 to a.shape[0]:
        vector lane in 0 to 64:
          a.linear[(i * a.stride[0]) + (at + lane)] = a.linear[(i * a.stride[0]) + (at + lane)] * 0.5
    first = first + (((a.shape[1] - first) >> 6) << 6)
    for strip.2 in 0 to (a.shape[1] - first) >> 5:
      var at.2: int64 = first + (strip.2 * 32)
      for i in 0 to a.shape[0]:
        vector lane.2 in 0 to 32:
          a.linear[(i * a.stride[0]) + (at.2 + lane.2)] = a.linear[(i * a.stride[0]) + (at.2 + lane.2)] * 0.5
    first = first + (((a.shape[1] - first) >> 5) << 5)
    for strip.3 in 0 to (a.shape[1] - first) >> 3:
      var at.3: int64 = first + (strip.3 * 8)
      for i in 0 to a.shape[0]:
        vector lane.3 in 0 to 8:
          a.linear[(i * a.stride[0]) + (at.3 + lane.3)] = a.linear[(i * a.stride[0]) + (at.3 + lane.3)] * 0.5
    first = first + (((a.shape[1] - first) >> 3) << 3)
  for j in first to a.shape[1]:
    parallel i in 0 to a.shape[0]:
      a.linear[(i * a.stride[0]) + j] = a.linear[(i * a.stride[0]) + j] * 0.5
)");
}

TEST(SettleNames, AVariableAssignedOnceIsWhatItIsAssigned) {
    Sample s;
    Builder& b = s.b;
    std::int32_t rows = b.var("rows", DType::Int64);
    std::int32_t again = b.var("again", DType::Int64);
    std::int32_t later = b.var("later", DType::Int64);
    std::int32_t i = b.var("i", DType::Int64);
    E is_same = b.binary(Op::Eq, b.read(rows), b.extent(s.a, 0));
    E at[] = {b.read(i), b.read(again)};
    S store = b.store(s.a, at, s.zero);
    S inside = b.block({b.declare(later, b.read(again)), b.assign(again, b.read(i)), store});
    S body = b.block(
        {b.declare(rows, nullptr), b.declare(again, b.i64(0)), b.assign(rows, b.extent(s.a, 0)),
         b.branch(is_same, b.loop(LoopKind::Serial, i, b.i64(0), b.read(rows), b.i64(1), inside))});
    EXPECT_EQ(s.after(body, passes::copy_propagation), R"(  var again: int64 = 0
  if true:
    for i in 0 to a.shape[0]:
      var later: int64 = again
      again = i
      a[i, again] = 0.0
)");
}

namespace {

/// for i: begin = i - 1; for x in begin to i + 2: a[x] = 0, and begin = 0 where that is written.
std::string loop_around(bool writes) {
    Sample s;
    Builder& b = s.b;
    std::int32_t i = b.var("i", DType::Int64), x = b.var("x", DType::Int64),
                 begin = b.var("begin", DType::Int64);
    E at[] = {b.read(x), b.i64(0)};
    std::vector<S> inside{b.store(s.a, at, s.zero)};
    if (writes) inside.push_back(b.assign(begin, b.i64(0)));
    S inner = b.loop(LoopKind::Serial, x, b.read(begin), b.add(b.read(i), b.i64(2)), b.i64(1),
                     b.block(std::span<const S>(inside)));
    S body = b.block({b.declare(begin, b.sub(b.read(i), b.i64(1))), inner});
    S loop = b.loop(LoopKind::Serial, i, b.i64(1), b.param(s.n), b.i64(1), body);
    return s.after(loop, [](Module& m) { passes::full_unrolling(m); });
}

}  // namespace

TEST(FullUnrolling, BoundsNeedToDifferByANumberOnly) {
    EXPECT_EQ(loop_around(false), R"(  for i in 1 to n:
    var begin: int64 = i - 1
    a[i + -1, 0] = 0.0
    a[i, 0] = 0.0
    a[i + 1, 0] = 0.0
)");
    EXPECT_NE(loop_around(true).find("for x in begin to i + 2"), std::string::npos);
}

namespace {

/// for i: make[3]; make[0] = 0; point d to make; a[0] = d[0]; what is told besides.
std::string temporary(bool is_kept, bool is_read_before, bool in_threads = false) {
    Sample s;
    Builder& b = s.b;
    std::int32_t i = b.var("i", DType::Int64), made = b.slot("made", DType::Float64, true),
                 d = b.slot("d", DType::Float64, true);
    E first[] = {b.i64(0)};
    S read = b.store(s.a, first, b.load(d, first, Access::Linear), Access::Linear);
    std::vector<S> list;
    if (is_read_before) list.push_back(read);
    list.push_back(b.make(made, b.i64(3)));
    list.push_back(b.store(made, first, s.zero, Access::Linear));
    list.push_back(b.point(d, made));
    if (in_threads) {
        std::int32_t k = b.var("k", DType::Int64);
        list.push_back(b.loop(LoopKind::Parallel, k, b.i64(0), b.i64(9), b.i64(1), read));
    } else {
        list.push_back(read);
    }
    if (is_kept) list.push_back(b.retain(d));
    S body = b.block(std::span<const S>(list));
    return s.after(b.loop(LoopKind::Serial, i, b.i64(0), b.param(s.n), b.i64(1), body),
                   passes::stack_promotion);
}

}  // namespace

TEST(StackPromotion, MemoryThatOnlyTheStatementsBehindSee) {
    EXPECT_EQ(temporary(false, false), R"(  for i in 0 to n:
    allocate made.2: float64[3] private
    made.2.linear[0] = 0.0
    a.linear[0] = made.2.linear[0]
)");
}

TEST(StackPromotion, NotWhatOthersKeepOrSeeEarlierOrInOtherThreads) {
    for (const std::string& text :
         {temporary(true, false), temporary(false, true), temporary(false, false, true)}) {
        EXPECT_NE(text.find("make made[3]"), std::string::npos) << text;
        EXPECT_NE(text.find("point d to made"), std::string::npos) << text;
    }
}

TEST(FullUnrolling, FewParallelIterationsStayInTheirThread) {
    Sample s;
    Builder& b = s.b;
    std::int32_t i = b.var("i", DType::Int64), k = b.var("k", DType::Int64),
                 m = b.var("m", DType::Int64);
    E first[] = {b.read(k), b.i64(0)}, second[] = {b.read(m), b.i64(1)};
    S few =
        b.loop(LoopKind::Parallel, k, b.i64(0), b.i64(2), b.i64(1), b.store(s.a, first, s.zero));
    S more =
        b.loop(LoopKind::Parallel, m, b.i64(0), b.i64(9), b.i64(1), b.store(s.a, second, s.zero));
    S loop = b.loop(LoopKind::Serial, i, b.i64(0), b.param(s.n), b.i64(1), b.block({few, more}));
    EXPECT_EQ(s.after(loop, [](Module& module) { passes::full_unrolling(module); }),
              R"(  for i in 0 to n:
    a[0, 0] = 0.0
    a[1, 0] = 0.0
    vector m in 0 to 9:
      a[m, 1] = 0.0
)");
}

namespace {

/// for i: x = a[i]; while x < 100: x = x * x; a[i] = x, or a[behind] = x.
std::string steps_of_points(LoopKind kind, bool in_place = true) {
    Sample s;
    Builder& b = s.b;
    std::int32_t i = b.var("i", DType::Int64), x = b.var("x", DType::Float64);
    E at[] = {b.read(i)};
    E is_small = b.binary(Op::Lt, b.read(x), b.number(DType::Float64, 100));
    S square = b.assign(x, b.mul(b.read(x), b.read(x)));
    E behind[] = {b.add(b.read(i), b.i64(1))};
    S body = b.block({b.declare(x, b.load(s.a, at, Access::Linear)), b.loop_while(is_small, square),
                      b.store(s.a, in_place ? at : behind, b.read(x), Access::Linear)});
    S loop = b.loop(kind, i, b.i64(0), b.param(s.n), b.i64(1), body);
    return s.after(loop, passes::points_in_lanes);
}

}  // namespace

TEST(PointsInLanes, SixteenPointsStepTogether) {
    EXPECT_EQ(steps_of_points(LoopKind::Vector), R"(  var strips: int64 = max(n - 0, 0) >> 4
  for strip in 0 to strips:
    allocate x: float64[16] private
    allocate goes: int64[16] private
    var first: int64 = 0 + (strip * 16)
    vector lane in 0 to 16:
      var x.3: float64 = a.linear[first + lane]
      x.linear[lane] = x.3
    var any: int64 = 1
    while any != 0:
      vector lane.2 in 0 to 16:
        var x.4: float64 = x.linear[lane.2]
        var goes_on: bool = x.4 < 100.0
        x.4 = x.4 * x.4
        x.linear[lane.2] = select(goes_on, x.4, x.linear[lane.2])
        goes.linear[lane.2] = select(goes_on, 1, 0)
      vector lane.3 in 0 to 8:
        goes.linear[lane.3] = goes.linear[lane.3] | goes.linear[lane.3 + 8]
      vector lane.4 in 0 to 4:
        goes.linear[lane.4] = goes.linear[lane.4] | goes.linear[lane.4 + 4]
      vector lane.5 in 0 to 2:
        goes.linear[lane.5] = goes.linear[lane.5] | goes.linear[lane.5 + 2]
      vector lane.6 in 0 to 1:
        goes.linear[lane.6] = goes.linear[lane.6] | goes.linear[lane.6 + 1]
      any = goes.linear[0]
    vector lane.7 in 0 to 16:
      var x.5: float64 = x.linear[lane.7]
      a.linear[first + lane.7] = x.5
  vector i in 0 + (strips * 16) to n:
    var x.2: float64 = a.linear[i]
    while x.2 < 100.0:
      x.2 = x.2 * x.2
    a.linear[i] = x.2
)");
    // Iterations of a serial loop must not meet.
    EXPECT_NE(steps_of_points(LoopKind::Serial).find("while any != 0"), std::string::npos);
    EXPECT_EQ(steps_of_points(LoopKind::Serial, false).find("any"), std::string::npos);
}

TEST(SharedLoads, WhatARowSharesIsComputedOnce) {
    Sample s;
    Builder& b = s.b;
    std::int32_t j = b.var("j", DType::Int64);
    E first[] = {b.param(s.n)}, at[] = {b.add(b.param(s.n), b.read(j))};
    E root = b.unary(Op::Sqrt, b.load(s.a, first, Access::Linear));
    S store =
        b.store(s.a, at, b.binary(Op::Div, b.load(s.a, at, Access::Linear), root), Access::Linear);
    S loop = b.loop(LoopKind::Vector, j, b.i64(0), b.extent(s.a, 1), b.i64(1), store);
    EXPECT_EQ(s.after(loop, passes::licm), R"(  if 0 < a.shape[1]:
    var shared: float64 = sqrt(a.linear[n])
    vector j in 0 to a.shape[1]:
      a.linear[n + j] = a.linear[n + j] / shared
)");
}
