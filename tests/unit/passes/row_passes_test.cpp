// Passes that take a few rows through several nests, or steps: what they make of small functions.
#include <gtest/gtest.h>

#include "passes/loops/rows_together.h"
#include "passes/loops/steps_by_rows.h"
#include "unit/passes/pass_sample.h"

using namespace unisono;
using namespace unisono::ir;

namespace {

/// for i: for j: s[i] = s[i] + a[i, j]; for i: for j: a[i, j] = a[i, j] / s[row], of new memory.
std::string two_nests(bool own_row) {
    Sample s;
    Builder& b = s.b;
    std::int32_t slot = b.slot("made", DType::Float64, true);
    std::int32_t sums =
        b.view("sums", slot, b.i64(0), {b.extent(s.a, 0)}, {b.i64(1)}, {StrideClass::One}, true);
    auto nest = [&](LoopKind kind, auto&& element) {
        std::int32_t i = b.var("i", DType::Int64), j = b.var("j", DType::Int64);
        S inner =
            b.loop(kind, j, b.i64(0), b.extent(s.a, 1), b.i64(1), element(b.read(i), b.read(j)));
        return b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(s.a, 0), b.i64(1), inner);
    };
    S add = nest(LoopKind::Serial, [&](E i, E j) {
        E row[] = {i}, at[] = {i, j};
        return b.store(sums, row, b.add(b.load(sums, row), b.load(s.a, at)));
    });
    S divide = nest(LoopKind::Vector, [&](E i, E j) {
        E row[] = {own_row ? i : b.i64(0)}, at[] = {i, j};
        return b.store(s.a, at, b.binary(Op::Div, b.load(s.a, at), b.load(sums, row)));
    });
    return s.after(b.block({b.make(slot, b.extent(s.a, 0)), add, divide}), passes::rows_together);
}

}  // namespace

TEST(RowsTogether, ARowGoesThroughBothNests) {
    EXPECT_EQ(two_nests(true), R"(  make made[a.shape[0]]
  var shift: int64 = select(a.shape[1] <= 16, 3, select(a.shape[1] <= 128, 2, select(a.shape[1] <= 512, 1, 0)))
  var rows: int64 = 1 << shift
  parallel strip in 0 to ((a.shape[0] + rows) - 1) >> shift:
    var begin: int64 = strip << shift
    var end: int64 = min(begin + rows, a.shape[0])
    for i in begin to end:
      for j in 0 to a.shape[1]:
        sums[i] = sums[i] + a[i, j]
    for i in begin to end:
      vector j.2 in 0 to a.shape[1]:
        a[i, j.2] = a[i, j.2] / sums[i]
)");
    EXPECT_EQ(two_nests(false), R"(  make made[a.shape[0]]
  parallel i in 0 to a.shape[0]:
    for j in 0 to a.shape[1]:
      sums[i] = sums[i] + a[i, j]
  parallel i.2 in 0 to a.shape[0]:
    vector j.2 in 0 to a.shape[1]:
      a[i.2, j.2] = a[i.2, j.2] / sums[0]
)");
}

namespace {

/// for k in 1 to n: for i: y[i, k] = y[i, k - 1] * 0.5, or y[0, k - 1]: columns of new memory.
std::string columns(bool own_row) {
    Sample s;
    Builder& b = s.b;
    std::int32_t slot = b.slot("made", DType::Float64, true);
    std::int32_t k = b.var("k", DType::Int64), i = b.var("i", DType::Int64);
    auto column = [&](const char* name, E offset) {
        return b.view(name, slot, offset, {b.extent(s.a, 0)}, {b.extent(s.a, 1)},
                      {StrideClass::Other}, true);
    };
    std::int32_t now = column("now", b.read(k));
    std::int32_t before = column("before", b.sub(b.read(k), b.i64(1)));
    E here[] = {b.read(i)}, from[] = {own_row ? b.read(i) : b.i64(0)};
    S store = b.store(now, here, b.mul(b.load(before, from), b.number(DType::Float64, 0.5)));
    S nest = b.loop(LoopKind::Parallel, i, b.i64(0), b.extent(s.a, 0), b.i64(1), store);
    S loop = b.loop(LoopKind::Serial, k, b.i64(1), b.param(s.n), b.i64(1), nest);
    S make = b.make(slot, b.mul(b.extent(s.a, 0), b.extent(s.a, 1)));
    return s.after(b.block({make, loop}), passes::steps_by_rows);
}

}  // namespace

TEST(StepsByRows, AStripOfRowsGoesThroughAllSteps) {
    EXPECT_EQ(columns(true), R"(  make made[a.shape[0] * a.shape[1]]
  var apart: bool = false
  if ((a.shape[0] * 1) >= 64) & ((n - 1) >= 4):
    var first: int64 = 0
    apart = true
    for k in 1 to n:
      first = select(k == 1, (k // a.shape[1]) * a.shape[1], first)
      var behind: int64 = first + a.shape[1]
      apart = apart & (((((a.shape[1] > 0) & (k >= first)) & (k < behind)) & ((k - 1) >= first)) & ((k - 1) < behind))
  if apart:
    var shift: int64 = select(1 <= 8, 3, select(1 <= 16, 2, select(1 <= 32, 1, 0)))
    var rows: int64 = 1 << shift
    parallel strip in 0 to ((a.shape[0] + rows) - 1) >> shift:
      var begin: int64 = strip << shift
      var end: int64 = min(begin + rows, a.shape[0])
      for k in 1 to n:
        vector i in begin to end:
          now[i] = before[i] * 0.5
  else:
    for k in 1 to n:
      parallel i in 0 to a.shape[0]:
        now[i] = before[i] * 0.5
)");
    EXPECT_EQ(columns(false), R"(  make made[a.shape[0] * a.shape[1]]
  for k in 1 to n:
    parallel i in 0 to a.shape[0]:
      now[i] = before[0] * 0.5
)");
}
